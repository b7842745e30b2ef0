/* SPDX-License-Identifier: Apache-2.0
 *
 * attend_request.c - the options of `clattn attend`, read.
 */
#include "attend_request.h"

#include <float.h>
#include <string.h>

#include <clattn/clattn.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const option_id WRITTEN[] = {
    OPTION_OUTPUT, OPTION_ATTENTION, OPTION_SCORES, OPTION_LSE};
static const option_id READ[] = {
    OPTION_QUERY, OPTION_KEY, OPTION_VALUE, OPTION_MASK};
static const option_id LISTED[] = {OPTION_ALIBI, OPTION_SINKS, OPTION_CAUSAL,
    OPTION_DIAGONAL, OPTION_LENGTHS, OPTION_QUERY_LENGTHS, OPTION_CU_QUERY,
    OPTION_CU_KEY};
const file_options ATTEND_FILES = {
    WRITTEN, READ, LISTED, COUNT(WRITTEN), COUNT(READ), COUNT(LISTED)};

/* ---- One option each ---------------------------------------------------- */

static bool read_word(int32_t *to, const options *given, option_id id,
    const value_word *table, failure *f)
{
    const char *text = given->value[id];
    return !text || value_one_of(to, id, text, table, f);
}

static bool read_words(attend_request *r, const options *given, failure *f)
{
    static const value_word LAYOUTS[] = {{"bhld", ATTEND_BHLD},
        {"blhd", ATTEND_BLHD}, {"thd", ATTEND_THD}, {NULL, 0}};
    static const value_word PATHS[] = {
        {"auto", 0}, {"materialised", 1}, {"fused", 1}, {NULL, 0}};
    static const value_word DTYPES[] = {{"f32", CLATTN_F32},
        {"f16", CLATTN_F16}, {"bf16", CLATTN_BF16}, {NULL, 0}};
    static const value_word STAGES[] = {{"scaled", CLATTN_RETURN_SCALED},
        {"capped", CLATTN_RETURN_CAPPED}, {"masked", CLATTN_RETURN_SCORES},
        {"weights", CLATTN_RETURN_WEIGHTS}, {NULL, 0}};
    int32_t layout = ATTEND_BHLD;
    int32_t named = 0;
    int32_t stage = CLATTN_RETURN_SCORES;
    r->dtype = CLATTN_F32;
    if (!read_word(&layout, given, OPTION_LAYOUT, LAYOUTS, f) ||
        !read_word(&named, given, OPTION_PATH, PATHS, f) ||
        !read_word(&r->dtype, given, OPTION_DTYPE, DTYPES, f) ||
        !value_precision(
            &r->precision, given->value[OPTION_PRECISION], r->dtype, f) ||
        !read_word(&stage, given, OPTION_STAGE, STAGES, f))
        return false;
    const char *kernel = given->value[OPTION_KERNEL];
    if (kernel && !value_kernel(OPTION_KERNEL, kernel, f))
        return false;
    r->layout = (enum attend_layout)layout;
    r->kernel = named ? given->value[OPTION_PATH] : kernel;
    r->stage = (uint32_t)stage;
    if (given->value[OPTION_ATTENTION])
        r->stage = CLATTN_RETURN_WEIGHTS;
    return true;
}

static bool read_diagonal(
    attend_request *r, option_id id, const char *text, failure *f)
{
    if (!text)
        return true;
    if (strcmp(text, "top-left") == 0) {
        r->diagonal = CLATTN_TOP_LEFT;
        return true;
    }
    if (strcmp(text, "bottom-right") == 0) {
        r->diagonal = CLATTN_BOTTOM_RIGHT;
        return true;
    }
    r->diagonal = CLATTN_OFFSET;
    return integers_parse(&r->offsets, id, text, f) ||
           fail(f,
               "%s %s is neither top-left nor bottom-right, nor an offset N "
               "from -2147483648 to 2147483647, nor one per item, N,N,... or "
               "a file that ends in .npy",
               option_name(id), text);
}

static bool read_window(attend_request *r, const char *text, failure *f)
{
    integers list;
    r->window_left = r->window_right = -1;
    if (!text)
        return true;
    const bool fits = integers_parse(&list, OPTION_WINDOW, text, f) &&
                      !list.is_file && list.count == 2 && list.value[0] >= -1 &&
                      list.value[1] >= -1;
    if (fits) {
        r->window_left = list.value[0];
        r->window_right = list.value[1];
    }
    integers_free(&list);
    return fits ||
           fail(f,
               "--window %s is not L,R, the keys seen to the left and to the "
               "right: each a whole number from 0 to 2147483647, or -1 for "
               "all",
               text);
}

static bool read_slopes(attend_request *r, const char *text, failure *f)
{
    r->usual_slopes = text && strcmp(text, "auto") == 0;
    if (r->usual_slopes) {
        r->slopes = (numbers){.id = OPTION_ALIBI, .text = text};
        return true;
    }
    return numbers_parse(&r->slopes, OPTION_ALIBI, text, f) ||
           fail(f,
               "--alibi %s is neither auto nor a comma list of finite numbers, "
               "one per query head, nor a file name that ends in .npy",
               text);
}

static bool read_numbers(attend_request *r, const options *given, failure *f)
{
    const char *const *value = given->value;
    const char *scale = value[OPTION_SCALE];
    const char *softcap = value[OPTION_SOFTCAP];
    const char *dropout = value[OPTION_DROPOUT];
    const char *seed = value[OPTION_SEED];
    const char *offset = value[OPTION_DROPOUT_OFFSET];
    r->has_scale = scale != NULL;
    if (scale && !value_float(&r->scale, OPTION_SCALE, scale, f))
        return false;
    if (softcap &&
        !value_float_in(&r->softcap, OPTION_SOFTCAP, softcap, 0.0f, FLT_MAX, f))
        return false;
    if (dropout &&
        !value_float_in(&r->dropout, OPTION_DROPOUT, dropout, 0.0f, 1.0f, f))
        return false;
    if (seed && !value_uint64(&r->seed, OPTION_SEED, seed, f))
        return false;
    return !offset ||
           value_uint64(&r->dropout_offset, OPTION_DROPOUT_OFFSET, offset, f);
}

static bool read_lists(attend_request *r, const options *given, failure *f)
{
    const struct {
        integers *list;
        option_id id;
    } lists[] = {
        {&r->lengths, OPTION_LENGTHS},
        {&r->query_lengths, OPTION_QUERY_LENGTHS},
        {&r->cu_query, OPTION_CU_QUERY},
        {&r->cu_key, OPTION_CU_KEY},
    };
    const char *const *value = given->value;
    for (size_t i = 0; i < COUNT(lists); i++)
        if (!integers_parse(lists[i].list, lists[i].id, value[lists[i].id], f))
            return false;
    return read_diagonal(r, OPTION_CAUSAL, value[OPTION_CAUSAL], f) &&
           read_diagonal(r, OPTION_DIAGONAL, value[OPTION_DIAGONAL], f) &&
           read_window(r, value[OPTION_WINDOW], f) &&
           read_slopes(r, value[OPTION_ALIBI], f) &&
           numbers_parse(&r->sinks, OPTION_SINKS, value[OPTION_SINKS], f);
}

/* ---- One against the other ---------------------------------------------- */

static bool check_pairs(const options *given, failure *f)
{
    static const struct {
        option_id id, other;
        const char *why;
    } CONTRARY[] = {
        {OPTION_DIAGONAL, OPTION_CAUSAL,
            "cannot both be given: the value of --causal is the diagonal"},
        {OPTION_SCORES, OPTION_ATTENTION,
            "cannot both be given: a call returns one stage"},
        {OPTION_KERNEL, OPTION_PATH,
            "cannot both be given: each says which kernels compute"},
        {OPTION_DEVICE, OPTION_REFERENCE,
            "cannot both be given: the reference needs no device"},
        {OPTION_KERNEL, OPTION_REFERENCE,
            "cannot both be given: the reference has no kernels"},
        {OPTION_PATH, OPTION_REFERENCE,
            "cannot both be given: the reference has no kernels"},
        {OPTION_EXPLAIN, OPTION_REFERENCE,
            "cannot both be given: the reference plans nothing"},
    };
    for (size_t i = 0; i < COUNT(CONTRARY); i++)
        if (!options_exclude(given, CONTRARY[i].id, &CONTRARY[i].other, 1,
                CONTRARY[i].why, f))
            return false;
    return true;
}

static bool check_needs(const options *given, failure *f)
{
    static const struct {
        option_id id, needs;
    } NEEDS[] = {
        {OPTION_STAGE, OPTION_SCORES},
        {OPTION_SEED, OPTION_DROPOUT},
        {OPTION_DROPOUT_OFFSET, OPTION_DROPOUT},
    };
    for (size_t i = 0; i < COUNT(NEEDS); i++)
        if (!options_need(given, NEEDS[i].id, &NEEDS[i].needs, 1, f))
            return false;
    return true;
}

/* The cumulative offsets are what makes a packed batch readable. */
static bool check_packed(
    const attend_request *r, const options *given, failure *f)
{
    static const option_id STARTS[] = {OPTION_CU_QUERY, OPTION_CU_KEY};
    for (size_t i = 0; i < COUNT(STARTS); i++) {
        const char *name = option_name(STARTS[i]);
        const char *text = given->value[STARTS[i]];
        if (text && r->layout != ATTEND_THD)
            return fail(f,
                "%s %s has no effect without --layout thd, a packed batch",
                name, text);
        if (!text && r->layout == ATTEND_THD)
            return fail(f,
                "--layout thd needs %s, which says where each item begins",
                name);
    }
    return true;
}

static bool check_diagonal(
    const attend_request *r, const options *given, failure *f)
{
    const char *window = given->value[OPTION_WINDOW];
    const char *alibi = given->value[OPTION_ALIBI];
    const char *diagonal = given->value[OPTION_DIAGONAL];
    const bool bounded = r->window_left >= 0 || r->window_right >= 0;
    if (diagonal && !alibi && !bounded)
        return fail(f,
            "--diagonal %s has no effect without --alibi or a bounded --window",
            diagonal);
    if (r->diagonal != CLATTN_DIAGONAL_UNSET || (!alibi && !bounded))
        return true;
    return fail(f,
        "%s %s needs --diagonal or --causal, which say on which key each "
        "query stands",
        option_name(alibi ? OPTION_ALIBI : OPTION_WINDOW),
        alibi ? alibi : window);
}

/* ---- All ---------------------------------------------------------------- */

static void take_texts(attend_request *r, const options *given)
{
    const char *const *value = given->value;
    r->given = given;
    r->input[ATTEND_Q] = value[OPTION_QUERY];
    r->input[ATTEND_K] = value[OPTION_KEY];
    r->input[ATTEND_V] = value[OPTION_VALUE];
    r->mask = value[OPTION_MASK];
    r->output = value[OPTION_OUTPUT];
    r->matrix = value[OPTION_ATTENTION] ? value[OPTION_ATTENTION]
                                        : value[OPTION_SCORES];
    r->lse = value[OPTION_LSE];
    r->device = value[OPTION_DEVICE];
    r->two_bytes = value[OPTION_READ_BF16] ? NPY_AS_BF16 : NPY_NO_BF16;
    r->causal = value[OPTION_CAUSAL] != NULL;
    r->reference = value[OPTION_REFERENCE] != NULL;
    r->explain = value[OPTION_EXPLAIN] != NULL;
    r->quiet = value[OPTION_QUIET] != NULL;
}

bool attend_request_read(attend_request *r, const options *given, failure *f)
{
    *r = (attend_request){0};
    take_texts(r, given);
    return check_pairs(given, f) && check_needs(given, f) &&
           read_words(r, given, f) && read_numbers(r, given, f) &&
           read_lists(r, given, f) && check_packed(r, given, f) &&
           check_diagonal(r, given, f) &&
           outputs_distinct(given, &ATTEND_FILES, f);
}

void attend_request_free(attend_request *r)
{
    integers_free(&r->offsets);
    integers_free(&r->lengths);
    integers_free(&r->query_lengths);
    integers_free(&r->cu_query);
    integers_free(&r->cu_key);
    numbers_free(&r->slopes);
    numbers_free(&r->sinks);
}

/* A file of one value is a list too. */
bool attend_offsets_listed(const attend_request *r)
{
    return r->offsets.text && (r->offsets.is_file || r->offsets.count > 1);
}
