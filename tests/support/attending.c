/* SPDX-License-Identifier: Apache-2.0
 *
 * attending.c - small problems through `clattn attend`.
 */
#include "attending.h"

/* Before check.h, which has a macro of the name fail. */
#include "stored.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert.h"
#include "problem.h"
#include "rows.h"
#include "scratch.h"

static const struct way {
    const char *name;
    const char *options[2];
} WAYS[ATTENDING_WAYS] = {
    {"reference", {"--reference"}},
    {"device", {NULL}},
    {"materialised", {"--path", "materialised"}},
    {"fused", {"--path", "fused"}},
};

const char *attending_name(enum attending_way way)
{
    return WAYS[way].name;
}

/* ---- Files -------------------------------------------------------------- */

void attending_store(const char *name, const char *descr, size_t rank,
    const size_t *size, const void *data)
{
    char path[SCRATCH_PATH];
    char shape[200];
    size_t bytes = (size_t)(strchr("1248", descr[2]) ? descr[2] - '0' : 0);
    for (size_t i = 0; i < rank; i++)
        bytes *= size[i];
    char *file = malloc(128 + bytes);
    ck_assert_ptr_nonnull(file);
    memset(file, ' ', 128);
    memcpy(file, "\x93NUMPY\1\0\x76\0", 10);
    const int used = snprintf(file + 10, 117,
        "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr,
        npy_shape_text(shape, rank, size));
    file[10 + used] = ' ';
    file[127] = '\n';
    if (bytes)
        memcpy(file + 128, data, bytes);
    scratch_write(path, name, file, 128 + bytes);
    free(file);
}

static const char *descr_of(int32_t dtype)
{
    switch (dtype) {
    case CLATTN_F64:
        return "<f8";
    case CLATTN_F16:
        return "<f2";
    case CLATTN_BF16:
        return "<u2";
    case CLATTN_BOOL:
        return "|b1";
    default:
        return "<f4";
    }
}

void attending_write(const char *name, int32_t dtype, size_t rank,
    const size_t *size, const double *values)
{
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= size[i];
    unsigned char *data = calloc(count + 1, sizeof(double));
    ck_assert_ptr_nonnull(data);
    for (size_t i = 0; values && i < count; i++) {
        if (dtype == CLATTN_BOOL)
            data[i] = values[i] != 0.0;
        else
            convert_store(data, dtype, i, values + i, 1);
    }
    attending_store(name, descr_of(dtype), rank, size, data);
    free(data);
}

/* ---- A problem ---------------------------------------------------------- */

static void write_tensor(const attending_case *c, const char *name, size_t H,
    size_t L, size_t D, const double *values)
{
    const char *layout = c->layout ? c->layout : "bhld";
    const bool rows_first = strcmp(layout, "bhld") != 0;
    const size_t size[4] = {c->B, rows_first ? L : H, rows_first ? H : L, D};
    const size_t skip = strcmp(layout, "thd") == 0;
    attending_write(name, CLATTN_F64, 4 - skip, size + skip, values);
}

static void prepare(const attending_case *c)
{
    write_tensor(c, "q.npy", c->Hq, c->Lq, c->D, c->q);
    write_tensor(c, "k.npy", c->Hkv, c->Lk, c->D, c->k);
    write_tensor(c, "v.npy", c->Hkv, c->Lk, c->Dv, c->v);
    if (c->mask)
        attending_write(
            "m.npy", c->mask_dtype, c->mask_rank, c->mask_size, c->mask);
}

static bool names(const attending_case *c, const char *option)
{
    for (size_t i = 0; i < ATTENDING_OPTIONS && c->options[i]; i++)
        if (strcmp(c->options[i], option) == 0)
            return true;
    return false;
}

/* Rows of a path may be taken out of the library. */
static enum attending_way possible(enum attending_way way)
{
    return way == ATTENDING_FUSED && !rows_or_choice("fused") ? ATTENDING_AUTO
                                                              : way;
}

static void run(
    program_result *result, const attending_case *c, enum attending_way way)
{
    const char *arguments[PROGRAM_ARGUMENTS] = {"attend", "--query", "@q.npy",
        "--key", "@k.npy", "--value", "@v.npy", "--output", "@o.npy", "--lse",
        "@l.npy"};
    size_t count = 11;
    if (c->layout) {
        arguments[count++] = "--layout";
        arguments[count++] = c->layout;
    }
    if (c->mask) {
        arguments[count++] = "--mask";
        arguments[count++] = "@m.npy";
    }
    if (c->matrix_count) {
        arguments[count++] = names(c, "--stage") ? "--scores" : "--attention";
        arguments[count++] = "@s.npy";
    }
    for (size_t i = 0; i < ATTENDING_OPTIONS && c->options[i]; i++)
        arguments[count++] = c->options[i];
    for (size_t i = 0; i < 2 && WAYS[way].options[i]; i++)
        arguments[count++] = WAYS[way].options[i];
    program_run(result, arguments, NULL);
}

void attending_expect(const char *about, const char *name, const double *want,
    size_t count, double tolerance)
{
    npy_array got;
    if (!want)
        return;
    stored_read(&got, name);
    ck_assert_msg(got.count == count, "%s: %s has %zu elements, want %zu",
        about, name, got.count, count);
    for (size_t i = 0; i < count; i++) {
        const double value = (double)((const float *)got.data)[i];
        const double allowed = tolerance * fmax(1.0, fabs(want[i]));
        /* NaN and infinities only where they are wanted. */
        const bool same = isnan(want[i]) ? isnan(value)
                                         : value == want[i] ||
                                               fabs(value - want[i]) <= allowed;
        ck_assert_msg(same, "%s: element %zu of %s is %.9g, want %.9g", about,
            i, name, value, want[i]);
    }
    npy_free(&got);
}

void attending_do(const attending_case *c, enum attending_way way)
{
    static program_result result; /* large */
    way = possible(way);
    prepare(c);
    run(&result, c, way);
    ck_assert_msg(result.code == 0, "%s, %s: exit code %d, %s", c->about,
        attending_name(way), result.code, result.err);
}

/* The path without weights refuses to return any. */
static void refuse_matrix(const attending_case *c)
{
    static program_result result; /* large */
    prepare(c);
    run(&result, c, ATTENDING_FUSED);
    ck_assert_msg(
        result.code == 1 && strstr(result.err, "keeps no matrix of weights"),
        "%s, fused: exit code %d, %s", c->about, result.code, result.err);
}

void attending_check(const attending_case *c, enum attending_way way)
{
    char about[300];
    way = possible(way);
    if (way == ATTENDING_FUSED && c->matrix_count > 0) {
        refuse_matrix(c);
        return;
    }
    const size_t rows = c->B * c->Hq * c->Lq;
    snprintf(about, sizeof about, "%s, %s", c->about, attending_name(way));
    attending_do(c, way);
    attending_expect(about, "o.npy", c->out, rows * c->Dv, c->tolerance);
    attending_expect(about, "l.npy", c->lse, rows, c->tolerance);
    attending_expect(about, "s.npy", c->matrix, c->matrix_count, c->tolerance);
}

void attending_keep(const char *name, const char *other)
{
    char path[SCRATCH_PATH];
    char new_path[SCRATCH_PATH];
    scratch_path(path, name);
    ck_assert_int_eq(rename(path, scratch_path(new_path, other)), 0);
}

bool attending_same(const char *name, const char *other)
{
    char path[SCRATCH_PATH];
    size_t bytes;
    size_t other_bytes;
    char *one = scratch_read(scratch_path(path, name), &bytes);
    char *two = scratch_read(scratch_path(path, other), &other_bytes);
    ck_assert(one && two);
    const bool same = bytes == other_bytes && memcmp(one, two, bytes) == 0;
    free(one);
    free(two);
    return same;
}
