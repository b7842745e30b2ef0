/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.c - small calls of the attention reference, in double precision unless
 * a test says otherwise.
 */
#include "judge.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "convert.h"

void judge_start(judge *j, size_t B, size_t Hq, size_t Hkv, size_t Lq,
    size_t Lk, size_t D, size_t Dv)
{
    memset(j, 0, sizeof *j);
    clattn_attention_init(&j->a, sizeof j->a);
    j->a.B = B;
    j->a.Hq = Hq;
    j->a.Hkv = Hkv;
    j->a.Lq = Lq;
    j->a.Lk = Lk;
    j->a.D = D;
    j->a.Dv = Dv;
    j->a.dtype = CLATTN_F64;
    j->a.flags = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS;
    j->a.lse.dtype = CLATTN_F64;
    j->args.struct_size = sizeof j->args;
    j->args.q.host = j->q;
    j->args.k.host = j->k;
    j->args.v.host = j->v;
    j->args.out.host = j->out;
    j->args.lse.host = j->lse;
    j->args.weights.host = j->weights;
    for (size_t i = 0; i < JUDGE_MOST; ++i)
        j->out[i] = j->lse[i] = j->weights[i] = (double)NAN;
}

void judge_mask(judge *j, int32_t dtype, size_t b, size_t h, size_t i, size_t k,
    const double *values)
{
    const size_t count = b * h * i * k;
    unsigned char *bools = (unsigned char *)j->mask;

    j->a.mask.dtype = dtype;
    j->a.mask.size[0] = b;
    j->a.mask.size[1] = h;
    j->a.mask.size[2] = i;
    j->a.mask.size[3] = k;
    j->args.mask.host = j->mask;
    if (dtype != CLATTN_BOOL)
        convert_store(j->mask, dtype, 0, values, count);
    for (size_t n = 0; dtype == CLATTN_BOOL && n < count; ++n)
        bools[n] = values[n] != 0.0;
}

void judge_array(judge *j, uint32_t flag, const int32_t *values, size_t count)
{
    const struct {
        uint32_t flag;
        clattn_input *input;
    } arrays[5] = {{CLATTN_QUERY_LENGTHS, &j->args.query_lengths},
        {CLATTN_KEY_LENGTHS, &j->args.key_lengths},
        {CLATTN_QUERY_STARTS, &j->args.query_starts},
        {CLATTN_KEY_STARTS, &j->args.key_starts},
        {CLATTN_DIAGONAL_OFFSETS, &j->args.diagonal_offsets}};

    j->a.flags |= flag;
    for (int n = 0; n < 5; ++n)
        if (arrays[n].flag == flag) {
            memcpy(j->arrays[n], values, count * sizeof *values);
            arrays[n].input->host = j->arrays[n];
        }
}

void judge_run(judge *j)
{
    clattn_error error;
    const clattn_status status =
        clattn_attention_reference(&j->a, &j->args, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
}

void judge_fill(double *to, size_t count, int a, int b, int m, int s)
{
    for (size_t i = 0; i < count; ++i)
        to[i] = (double)((a * (int)i + b) % m - m / 2) / s;
}

void judge_expect(const char *about, const double *got, const double *want,
    size_t count, double tolerance)
{
    for (size_t i = 0; i < count; ++i) {
        /* NaN only where it is wanted: a comparison with it is false. */
        const int same =
            isnan(want[i])
                ? isnan(got[i])
                : got[i] == want[i] || fabs(got[i] - want[i]) <= tolerance;
        ck_assert_msg(same, "%s: element %zu is %.17g, want %.17g", about, i,
            got[i], want[i]);
    }
}
