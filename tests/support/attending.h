/* SPDX-License-Identifier: Apache-2.0
 *
 * attending.h - small problems through `clattn attend`, in every way that it
 * can compute.
 */
#ifndef CLATTN_TESTS_ATTENDING_H
#define CLATTN_TESTS_ATTENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program.h"

enum attending_way {
    ATTENDING_REFERENCE,
    ATTENDING_AUTO,
    ATTENDING_MATERIALISED,
    ATTENDING_FUSED,
    ATTENDING_WAYS
};

const char *attending_name(enum attending_way way);

enum {
    ATTENDING_OPTIONS = 14
};

/* Numbers in the order of memory; what is NULL is not given or not looked at.
   Of a packed batch Lq and Lk are the rows of all items, and B is 1. */
typedef struct attending_case {
    const char *about;
    size_t B, Hq, Hkv, Lq, Lk, D, Dv;
    const char *layout;      /* NULL: bhld */
    const double *q, *k, *v; /* NULL: 0 */
    int32_t mask_dtype;      /* a clattn_dtype */
    size_t mask_rank, mask_size[4];
    const double *mask;
    const char *options[ATTENDING_OPTIONS];
    const double *out, *lse;
    const double *matrix; /* of --scores, or of --attention without --stage */
    size_t matrix_count;  /* 0: not asked for */
    double tolerance;     /* share of a number's size, of 1 for smaller ones */
} attending_case;

/* Write the inputs and run the program, which must succeed: q.npy, k.npy, v.npy
   and m.npy lie in the scratch folder, then o.npy, l.npy and s.npy too. */
void attending_do(const attending_case *c, enum attending_way way);
/* The same, and compare what is wanted; fused must refuse to give a matrix. */
void attending_check(const attending_case *c, enum attending_way way);

/* `name` holds `count` numbers, and each is what is wanted; NULL is fine. */
void attending_expect(const char *about, const char *name, const double *want,
    size_t count, double tolerance);

/* Give a result another name, so that the next does not replace it. */
void attending_keep(const char *name, const char *other);
/* Whether two files of the scratch folder have the same bytes. */
bool attending_same(const char *name, const char *other);

/* An .npy file of the scratch folder.  descr is as numpy has it; `data` are
   its elements. */
void attending_store(const char *name, const char *descr, size_t rank,
    const size_t *size, const void *data);
/* Numbers as a clattn_dtype: f64, f32, f16, bf16 (as u2) or bool. */
void attending_write(const char *name, int32_t dtype, size_t rank,
    const size_t *size, const double *values);

#endif
