/* SPDX-License-Identifier: Apache-2.0
 *
 * matmul_simt.c - the rows of kernels/matmul_simt.cl: products in registers of
 * a group's items, for GPUs.
 */
#include <stdio.h>

#include "product.h"
#include "simt.h"

/* What is compiled in; see the kernel's table. */
typedef struct tile {
    size_t BM, BN, BK, WX, WY;
} tile;

/* By kernel_row.tile: 64 sums of an item; 16, for what has fewer registers; and
   for devices with small groups and 8 KiB of local memory. */
static const tile TILES[] = {
    {.BM = 128, .BN = 64, .BK = 16, .WX = 8, .WY = 16},
    {.BM = 64, .BN = 64, .BK = 16, .WX = 16, .WY = 16},
    {.BM = 32, .BN = 32, .BK = 16, .WX = 8, .WY = 8},
};

/* Either way that b lies: rows as in the kernel. */
static size_t local_bytes(const tile *t, bool rows_are_n)
{
    const size_t stride = simt_read_stride(t->BK);
    const size_t b = rows_are_n ? t->BN * stride : t->BK * t->BN;
    return sizeof(float) * (t->BM * stride + b);
}

/* Passes of a work-item's loops for BK of K, and for its sums before and after,
   rounded up, as if nothing were unrolled. */
static size_t step_passes(const tile *t)
{
    const size_t RM = t->BM / t->WY, RN = t->BN / t->WX;
    const size_t staged = (t->BM + t->BN) * t->BK / 4 / (t->WX * t->WY) + 2;
    return t->BK / 4 * (RM + RN + 4 * (1 + RN + RM * (1 + RN))) + staged + 1;
}

static size_t end_passes(const tile *t)
{
    return 2 * (t->BM / t->WY + 1) * (t->BN / t->WX + 1);
}

/* Terms of one launch, where one step fits. */
static size_t part_of(const tile *t, const device_limits *limits)
{
    if (limits->max_iterations == 0)
        return (size_t)0x7fffff00 / t->BK * t->BK;
    return (limits->max_iterations - end_passes(t)) / step_passes(t) * t->BK;
}

bool propose_matmul_simt(proposal *p, declined_rows *declined,
    const kernel_row *row, const matmul_job *job, const device_limits *limits)
{
    const tile *t = &TILES[row->tile];
    if (!is_for_device(declined, p, limits) ||
        !group_fits(declined, row, limits, t->WX * t->WY, 1,
            local_bytes(t, job->b_rows_are_n)) ||
        !loops_fit(declined, row, limits, step_passes(t) + end_passes(t)))
        return false;
    p->part = part_of(t, limits);
    if (!sum_fits(declined, row, p->part, job->K, job->c_dtype, "y"))
        return false;
    plan_need(p, "matmul_simt", t->WX * t->WY,
        "-DB_ROWS=%s -DAT=%d -DBT=%d -DCT=%d -DBM=%zu -DBN=%zu -DBK=%zu "
        "-DWX=%zu -DWY=%zu -DFMA=%d",
        job->b_rows_are_n ? "B_ROWS_N" : "B_ROWS_K", (int)job->a_dtype,
        (int)job->b_dtype, (int)job->c_dtype, t->BM, t->BN, t->BK, t->WX, t->WY,
        limits->fused_adds);
    p->private_bytes = p->asked ? 0 : SPILLED_BYTES;
    snprintf(p->note, sizeof p->note, "tiles of %zu x %zu", t->BM, t->BN);
    return true;
}

clattn_status walk_matmul_simt(const proposal *p, const matmul_job *job,
    const device_limits *limits, const matmul_regions *regions,
    launch_visitor *visit, void *state)
{
    const tile *t = &TILES[p->row->tile];
    const product_tile product = {.rows = t->BM,
        .columns = t->BN,
        .items = {t->WX * t->WY, 1},
        .part = p->part};
    return walk_whole_product(&product, job, limits, regions, visit, state);
}
