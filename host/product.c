/* SPDX-License-Identifier: Apache-2.0
 *
 * product.c - the launches of a product in tiles: parts of its sum, and of the
 * grid.
 */
#include "product.h"

#include "error.h"

matmul_params product_params(
    const matmul_job *job, const product_block *b, const matmul_regions *r)
{
    matmul_params params = {
        .a = job->a,
        .b = job->b,
        .c = job->c,
        .bias_offset = (wide)r->bias.offset,
        .bias_head = job->bias_head,
        .M = (whole)b->rows,
        .N = (whole)job->N,
        .first_row = (whole)b->row0,
        .heads = (whole)job->heads,
        .group = (whole)job->group,
    };
    params.a.offset = (wide)r->a.offset + (wide)b->row0 * job->a.row;
    params.b.offset = (wide)r->b.offset;
    params.c.offset = (wide)r->c.offset;
    return params;
}

clattn_status walk_product(const product_tile *t, const matmul_job *job,
    const product_block *b, const device_limits *limits, matmul_params *params,
    const matmul_regions *r, cl_mem items, launch_visitor *visit, void *state)
{
    clattn_status status = CLATTN_OK;
    grid g = {
        .groups = {tiles(job->N, t->columns), tiles(b->rows, t->rows),
            b->heads},
        .local = {t->items[0], t->items[1], 1},
        .origin_z = b->z0,
    };
    launch l = {
        .kernel = 0,
        .buffer = {r->c.mem, r->a.mem, r->b.mem, r->bias.mem, items},
        .n_buffers = t->takes_items ? 5 : 4,
        .params = params,
        .params_bytes = sizeof *params,
    };
    size_t k = 0;
    do { /* once also without terms: the sums are 0, or the bias */
        const size_t k_end = smaller(job->K, k + t->part);
        params->k_begin = (whole)k;
        params->k_end = (whole)k_end;
        params->has_bias = job->has_bias && k_end == job->K;
        g.group_work = (uint64_t)(t->rows * t->columns) * (k_end - k) + 1;
        TRY(grid_walk(&g, limits, &l, params->first, visit, state));
        k = k_end;
    } while (k < job->K);

cleanup:
    return status;
}

clattn_status walk_whole_product(const product_tile *t, const matmul_job *job,
    const device_limits *limits, const matmul_regions *r, launch_visitor *visit,
    void *state)
{
    const product_block all = {0, job->M, 0, job->items * job->heads};
    matmul_params params = product_params(job, &all, r);
    return walk_product(t, job, &all, limits, &params, r, NULL, visit, state);
}
