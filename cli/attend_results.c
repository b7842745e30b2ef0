/* SPDX-License-Identifier: Apache-2.0
 *
 * attend_results.c - room for the results of `clattn attend`, and their files.
 */
#include <math.h>
#include <string.h>

#include <clattn/clattn.h>

#include "arrays.h"
#include "attend_data.h"

/* As q, but with the columns of v; 16-bit elements fill half of the memory. */
static bool make_out(attend_data *d, const attend_request *r, failure *f)
{
    const npy_array *q = &d->input[ATTEND_Q];
    size_t size[4] = {0};
    memcpy(size, q->size, q->rank * sizeof size[0]);
    size[q->rank - 1] = d->size[ATTEND_V].D;
    if (!array_make(&d->out, q->rank, size, "the output", f))
        return false;
    d->out.dtype = r->dtype;
    if (r->layout == ATTEND_THD)
        memset(d->out.data, 0, d->out.count * sizeof(float));
    return true;
}

/* One axis less than q has: (Hq, T) of a packed batch. */
static bool make_lse(attend_data *d, const attend_request *r, failure *f)
{
    const attend_sizes *q = &d->size[ATTEND_Q];
    const size_t rank = d->input[ATTEND_Q].rank - 1;
    const size_t rows = r->layout == ATTEND_THD ? q->rows : q->L;
    const size_t size[3] = {q->B, q->H, rows};
    if (!array_make(&d->lse, rank, size + 3 - rank, "the LSE", f))
        return false;
    float *lse = d->lse.data;
    for (size_t i = 0; i < d->lse.count; i++)
        lse[i] = -INFINITY;
    return true;
}

bool attend_make_results(attend_data *d, const attend_request *r, failure *f)
{
    const attend_sizes *s = d->size;
    const size_t size[4] = {
        s[ATTEND_Q].B, s[ATTEND_Q].H, s[ATTEND_Q].L, s[ATTEND_K].L};
    const size_t rank = r->layout == ATTEND_THD ? 4 : d->input[ATTEND_Q].rank;
    if (!make_out(d, r, f))
        return false;
    if (r->matrix &&
        !array_make(&d->matrix, rank, size + 4 - rank,
            r->stage == CLATTN_RETURN_WEIGHTS ? "the attention" : "the scores",
            f))
        return false;
    return !r->lse || make_lse(d, r, f);
}

bool attend_write(
    outputs *to, attend_data *d, const attend_request *r, failure *f)
{
    if (r->output && d->out.dtype == CLATTN_BF16 &&
        !npy_to_f32(&d->out, r->output, f))
        return false;
    return array_write(to, r->output, &d->out, f) &&
           array_write(to, r->matrix, &d->matrix, f) &&
           array_write(to, r->lse, &d->lse, f);
}
