/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_request.c - shapes and options into cases.
 */
#include "bench_request.h"

#include <string.h>

#include "speed_table.h"
#include "values.h"

/* ---- One option each ---------------------------------------------------- */

static bool read_shape(bench_case *c, const char *text, failure *f)
{
    integers list;
    failure ignored;
    bool fits = integers_parse(&list, OPTION_SHAPE, text, &ignored) &&
                !list.is_file && list.count == 4;
    for (size_t i = 0; fits && i < list.count; i++)
        fits = list.value[i] > 0;
    if (fits) {
        c->B = (size_t)list.value[0];
        c->H = (size_t)list.value[1];
        c->L = (size_t)list.value[2];
        c->D = (size_t)list.value[3];
    }
    integers_free(&list);
    return fits || fail(f,
                       "--shape %s is not B,H,L,D: items, heads, rows and "
                       "columns, each a whole number from 1 to 2147483647",
                       text);
}

static bool read_window(bench_case *c, const char *text, failure *f)
{
    integers list;
    failure ignored;
    if (!text)
        return true;
    c->has_window = integers_parse(&list, OPTION_WINDOW, text, &ignored) &&
                    !list.is_file && list.count == 2 && list.value[0] >= -1 &&
                    list.value[1] >= -1;
    if (c->has_window) {
        c->window_left = list.value[0];
        c->window_right = list.value[1];
    }
    integers_free(&list);
    return c->has_window ||
           fail(f,
               "--window %s is not L,R, the keys seen to the left and to the "
               "right: each a whole number from 0 to 2147483647, or -1 for "
               "all",
               text);
}

static bool read_word(int32_t *to, const options *given, option_id id,
    const value_word *table, failure *f)
{
    const char *text = given->value[id];
    return !text || value_one_of(to, id, text, table, f);
}

/* What is the same for all shapes. */
static bool read_common(bench_case *c, const options *given, failure *f)
{
    static const value_word DTYPES[] = {{"f32", CLATTN_F32},
        {"f16", CLATTN_F16}, {"bf16", CLATTN_BF16}, {NULL, 0}};
    static const value_word MASKS[] = {
        {"bool", CLATTN_BOOL}, {"f32", CLATTN_F32}, {NULL, 0}};
    const char *heads = given->value[OPTION_HEADS_KV];
    c->causal = given->value[OPTION_CAUSAL] != NULL;
    c->lengths_half = given->value[OPTION_LENGTHS_HALF] != NULL;
    c->kernel = given->value[OPTION_KERNEL];
    if (c->kernel && !value_kernel(OPTION_KERNEL, c->kernel, f))
        return false;
    if (!read_word(&c->dtype, given, OPTION_DTYPE, DTYPES, f) ||
        !value_precision(
            &c->precision, given->value[OPTION_PRECISION], c->dtype, f) ||
        !read_word(&c->mask, given, OPTION_MASK, MASKS, f) ||
        !read_window(c, given->value[OPTION_WINDOW], f))
        return false;
    return !heads ||
           value_size(&c->Hkv, OPTION_HEADS_KV, heads, 1, INT32_MAX, f);
}

/* ---- Cases -------------------------------------------------------------- */

/* The shape, and all that is given beside it. */
static void name_case(char *name, size_t capacity, const char *shape,
    const bench_case *c, const options *given)
{
    const char *const *value = given->value;
    const struct {
        bool given;
        const char *before, *text, *after;
    } parts[] = {
        {c->causal, " causal", "", ""},
        {value[OPTION_DTYPE], " ", value[OPTION_DTYPE], ""},
        {value[OPTION_PRECISION], " precision ", value[OPTION_PRECISION], ""},
        {value[OPTION_MASK], " ", value[OPTION_MASK], " mask"},
        {value[OPTION_WINDOW], " window ", value[OPTION_WINDOW], ""},
        {value[OPTION_HEADS_KV], " ", value[OPTION_HEADS_KV], " kv heads"},
        {c->lengths_half, " half lengths", "", ""},
        {c->kernel, " ", c->kernel, ""},
    };
    snprintf(name, capacity, "%s", shape);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const size_t used = strlen(name);
        if (parts[i].given)
            snprintf(name + used, capacity - used, "%s%s%s", parts[i].before,
                parts[i].text, parts[i].after);
    }
}

static bool read_shapes(bench_request *r, const options *given, failure *f)
{
    bench_case common = {0};
    if (!read_common(&common, given, f))
        return false;
    r->cases = r->own;
    r->count = given->repeats;
    for (size_t i = 0; i < r->count; i++) {
        bench_case *c = &r->own[i];
        const char *shape = given->repeated[i];
        *c = common;
        if (!read_shape(c, shape, f))
            return false;
        if (c->Hkv && c->H % c->Hkv)
            return fail(f,
                "--heads-kv %zu does not divide the %zu heads of --shape %s",
                c->Hkv, c->H, shape);
        name_case(r->name[i], sizeof r->name[i], shape, c, given);
        c->name = r->name[i];
    }
    return true;
}

/* The table says all about its cases itself. */
static bool read_suite(bench_request *r, const options *given, failure *f)
{
    static const option_id OTHERS[] = {OPTION_SHAPE, OPTION_CAUSAL,
        OPTION_DTYPE, OPTION_PRECISION, OPTION_MASK, OPTION_WINDOW,
        OPTION_HEADS_KV, OPTION_LENGTHS_HALF, OPTION_KERNEL};
    if (!options_exclude(given, OPTION_SUITE, OTHERS,
            sizeof OTHERS / sizeof OTHERS[0],
            "have no place together: the suite is a table of its own cases", f))
        return false;
    r->cases = SPEED_TABLE;
    r->count = N_SPEED_TABLE;
    return true;
}

bool bench_request_read(bench_request *r, const options *given, failure *f)
{
    *r = (bench_request){
        .device = given->value[OPTION_DEVICE],
        .suite = given->value[OPTION_SUITE] != NULL,
        .json = given->value[OPTION_JSON] != NULL,
    };
    if (r->suite)
        return read_suite(r, given, f);
    if (!given->repeats)
        return fail(f, "clattn bench needs --shape B,H,L,D or --suite");
    return read_shapes(r, given, f);
}
