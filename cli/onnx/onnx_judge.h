/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_judge.h - decides whether an output is what a case expects.
 *
 * f32 is judged by the stored output.  The exact result, rounded once, is
 * within 2.4e-7 of that, so the case's own rtol of 1e-3 would pass anything;
 * ONNX_F32 is what f32 arithmetic needs at most.
 *
 * f16 and bf16 are judged by the exact result, since the stored one was rounded
 * after every step and is up to 1.4 ulp wrong: f32 arithmetic and one rounding,
 * which may go to the other neighbour.  The exact result itself must be within
 * the case's limit of the stored one: else it is the meaning that is wrong.
 */
#ifndef CLATTN_CLI_ONNX_JUDGE_H
#define CLATTN_CLI_ONNX_JUDGE_H

#include <stdint.h>

#include "failure.h"
#include "npy.h"

/* |got - want| <= atol + rtol |want| + ulps of want in its dtype */
typedef struct onnx_limit {
    double atol, rtol, ulps;
} onnx_limit;

/* The sum is at most 1e-5, absolute or relative. */
#define ONNX_F32 0.5e-5

typedef struct onnx_difference {
    double absolute, relative; /* the largest; relative where want is not 0 */
    double ulps;               /* the largest, in units of want's dtype */
    double share;              /* of the limit, the largest; > 1: refused */
    size_t worst;              /* the element with that share */
} onnx_difference;

/* Both have `count` elements of that dtype.  NaN equals NaN, and infinities
   equal themselves alone. */
onnx_difference onnx_compare(const void *got, const void *want, int32_t dtype,
    size_t count, onnx_limit limit);

enum {
    ONNX_REPORT = 256
};

/* Writes the errors to `report`, and how they were found.  `exact` is only
   looked at for f16 and bf16.  False with a sentence in *f if they are above
   the limits; `own` is the case's. */
bool onnx_judge(char report[ONNX_REPORT], const char *name,
    const npy_array *stored, const void *got, const void *exact, onnx_limit own,
    failure *f);

/* For copies: every bit the same. */
bool onnx_judge_copy(char report[ONNX_REPORT], const char *name,
    const npy_array *stored, const void *got, failure *f);

#endif
