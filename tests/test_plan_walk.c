/* SPDX-License-Identifier: Apache-2.0
 *
 * test_plan_walk.c - blocks, workspace, and the launches of a plan: each piece
 * of work is done once, in order, within what a device takes.  Needs no device.
 */
#include "planning.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

/* ---- Blocks and workspace ----------------------------------------------------- */

static const size_t BUFFERS[] = {
    400, 4096, 100000, (size_t)1 << 20, (size_t)64 << 20, (size_t)2 << 30};
static const size_t LENGTHS[] = {1, 70, 100, 4096};

START_TEST(a_workspace_fits_in_one_buffer_and_holds_a_block)
{
    planning s = planning_start();
    size_t n = (size_t)_i;
    s.limits.max_buffer_bytes = BUFFERS[n % COUNT(BUFFERS)];
    s.given.Lq = LENGTHS[(n /= COUNT(BUFFERS)) % COUNT(LENGTHS)];
    s.given.Lk = LENGTHS[(n /= COUNT(LENGTHS)) % COUNT(LENGTHS)];
    s.given.flags = n / COUNT(LENGTHS) ? CLATTN_KEY_LENGTHS : 0;
    planning_only(&s, "tiled");
    const clattn_status status = planning_run(&s);
    const size_t row_bytes = s.given.Lk * sizeof(float);
    ck_assert_msg(
        status == CLATTN_OK || row_bytes + 64 > s.limits.max_buffer_bytes, "%s",
        s.error.message);
    if (status != CLATTN_OK)
        return;
    ck_assert_msg(s.p.workspace_bytes <= s.limits.max_buffer_bytes,
        "Lq %zu, Lk %zu: a workspace of %zu bytes, but buffers end at %zu",
        s.given.Lq, s.given.Lk, s.p.workspace_bytes, s.limits.max_buffer_bytes);
    ck_assert_uint_ge(s.p.workspace_bytes, row_bytes);
}
END_TEST

/* Scores of few rows, above what a workspace is meant to take and within what a
   buffer holds. */
START_TEST(a_block_has_a_row_however_many_keys_there_are)
{
    planning s = planning_start();
    s.given.Lk = (size_t)1 << 22;
    s.wishes.kernel = "lanes_weights";
    s.given.flags = CLATTN_RETURN_WEIGHTS;
    ck_assert_msg(planning_run(&s) == CLATTN_OK, "%s", s.error.message);
    ck_assert_uint_ge(s.p.block_rows, 1);
    ck_assert_uint_ge(s.p.block_heads, 1);
    ck_assert_uint_gt(s.p.launches, 0);
}
END_TEST

/* As many as a count of the kernels reaches, and one more. */
START_TEST(heads_and_batches_go_as_far_as_they_can_be_counted)
{
    const size_t most = 0x7fffffff - 1024;
    planning s = planning_start();
    s.given.B = 1;
    s.given.Lq = 0;
    s.given.Hq = s.given.Hkv = most + (size_t)_i;
    ck_assert_msg(
        planning_run(&s) == (_i == 0 ? CLATTN_OK : CLATTN_UNSUPPORTED), "%s",
        s.error.message);
    if (_i > 0)
        ck_assert_msg(strstr(s.error.message, "B * Hq is 2147482624") != NULL,
            "%s", s.error.message);
}
END_TEST

START_TEST(length_16384_takes_at_most_256_mib)
{
    planning s = planning_start();
    s.given.B = 1;
    s.given.Lq = s.given.Lk = 16384;
    s.wishes.kernel = _i == 0 ? NULL : "materialised";
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_uint_le(s.p.workspace_bytes, (size_t)256 << 20);
}
END_TEST

START_TEST(a_problem_without_rows_launches_nothing)
{
    planning s = planning_start();
    *(_i % 3 == 0 ? &s.given.B : _i % 3 == 1 ? &s.given.Hq : &s.given.Lq) = 0;
    s.given.flags = CLATTN_KEY_LENGTHS;
    s.wishes.kernel = _i < 3 ? "fused" : "materialised";
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_uint_eq(s.p.launches, 0);
}
END_TEST

/* ---- Launches ------------------------------------------------------------------ */

enum {
    B = 2,
    HQ = 2,
    HEADS = B * HQ,
    LQ = 37,
    LK = 300,
    D = 130,
    DV = 23,
    Q_OFFSET = 5, /* of regions, in elements */
    WORKSPACE_OFFSET = 16
};

/* What has been done so far. */
typedef struct ledger {
    const planning *of;
    const char *about;
    size_t launches, tables;
    size_t products[HEADS][LQ][LK]; /* columns of q and k summed up */
    size_t softmax[HEADS][LQ];
    size_t sums[HEADS][LQ][DV]; /* keys summed up */
    size_t rows[HEADS][LQ];     /* whole rows of out */
    place scores;               /* where the products are */
} ledger;

/* Checked very often: Check notes each assertion in a file. */
#define CLAIM(claim, ...)              \
    do {                               \
        if (!(claim))                  \
            ck_abort_msg(__VA_ARGS__); \
    } while (0)

/* Groups, items and work within the limits, unless it is one group. */
static void check_limits(const ledger *d, const launch *l, size_t group_work)
{
    const device_limits *limits = &d->of->limits;
    const size_t groups = l->groups[0] * l->groups[1] * l->groups[2];
    const size_t items = l->local[0] * l->local[1] * l->local[2];
    for (int axis = 0; axis < 3; ++axis)
        CLAIM(l->groups[axis] <= limits->max_groups[axis],
            "%s: %zu groups in dimension %d", d->about, l->groups[axis], axis);
    CLAIM(items == d->of->p.group_items[l->kernel], "%s: groups of %zu items",
        d->about, items);
    CLAIM(groups == 1 || groups * items <= limits->max_items,
        "%s: %zu groups of %zu items", d->about, groups, items);
    CLAIM(groups == 1 || limits->launch_work == 0 ||
              groups * group_work <= limits->launch_work,
        "%s: %zu groups of %zu multiply-adds", d->about, groups, group_work);
}

/* A part of a sum, by tiles of T: not too many loop passes. */
static void check_passes(const ledger *d, size_t terms, size_t T)
{
    const size_t most = d->of->limits.max_iterations;
    const size_t passes = (terms + T - 1) / T * (T + 1);
    CLAIM(most == 0 || passes <= most, "%s: %zu passes", d->about, passes);
}

/* The block before is used up when the scores' memory is written again. */
static void check_no_block_is_open(const ledger *d)
{
    for (size_t at = 0; at < HEADS * LQ; ++at)
        CLAIM(d->softmax[at / LQ][at % LQ] == 0 ||
                  d->sums[at / LQ][at % LQ][DV - 1] == LK,
            "%s: row %zu is overwritten", d->about, at);
}

static void check_scores_place(const ledger *d, const matmul_params *p)
{
    const size_t table = items_bytes(&d->of->problem) / sizeof(float);
    const size_t end = WORKSPACE_OFFSET + d->of->p.workspace_bytes / 4;
    const wide z = p->first[2];
    const wide at = p->c.offset + z / HQ * p->c.batch + z % HQ * p->c.head;
    CLAIM(at >= (wide)(WORKSPACE_OFFSET + table) &&
              at + (p->M - 1) * p->c.row + LK <= (wide)end,
        "%s: scores of head %d from %lld on", d->about, (int)z, (long long)at);
    CLAIM(p->a.offset == Q_OFFSET + p->first_row * p->a.row,
        "%s: q of row %d at %lld", d->about, (int)p->first_row,
        (long long)p->a.offset);
}

static void do_matmul(ledger *d, const launch *l)
{
    const matmul_params *p = l->params;
    const size_t T = l->local[0], begin = (size_t)p->k_begin;
    check_limits(d, l, T * T * (size_t)(p->k_end - p->k_begin));
    check_passes(d, (size_t)(p->k_end - p->k_begin), T);
    check_scores_place(d, p);
    if (begin == 0)
        check_no_block_is_open(d);
    for (size_t z = 0; z < l->groups[2]; ++z)
        for (size_t y = 0; y < l->groups[1] * T; ++y)
            for (size_t x = 0; x < l->groups[0] * T; ++x) {
                const size_t row = (size_t)p->first[1] * T + y;
                const size_t n = (size_t)p->first[0] * T + x;
                if (row >= (size_t)p->M || n >= LK)
                    continue;
                size_t *at = &d->products[(size_t)p->first[2] + z]
                                         [(size_t)p->first_row + row][n];
                CLAIM(*at == begin, "%s: k from %zu after %zu", d->about, begin,
                    *at);
                *at = (size_t)p->k_end;
            }
    d->scores = p->c;
}

static void check_block(const ledger *d, const attention_params *p)
{
    CLAIM(memcmp(&d->scores, &p->scores, sizeof p->scores) == 0,
        "%s: the scores are not where they were written", d->about);
}

static void do_softmax(ledger *d, const launch *l)
{
    const attention_params *p = l->params;
    check_limits(d, l, 0);
    check_block(d, p);
    for (size_t z = 0; z < l->groups[2]; ++z)
        for (size_t x = 0; x < l->groups[0]; ++x) {
            const size_t head = (size_t)p->first[2] + z;
            const size_t i = (size_t)p->first_row + (size_t)p->first[0] + x;
            for (size_t n = 0; n < LK; ++n)
                CLAIM(d->products[head][i][n] == D,
                    "%s: softmax of row %zu before its products", d->about, i);
            ++d->softmax[head][i];
        }
}

static void do_weighted_sum(ledger *d, const launch *l)
{
    const attention_params *p = l->params;
    const size_t T = l->local[0], begin = (size_t)p->j_begin;
    check_limits(d, l, T * T * (size_t)(p->j_end - p->j_begin));
    check_passes(d, (size_t)(p->j_end - p->j_begin), T);
    check_block(d, p);
    for (size_t z = 0; z < l->groups[2]; ++z)
        for (size_t y = 0; y < l->groups[1] * T; ++y)
            for (size_t x = 0; x < l->groups[0] * T; ++x) {
                const size_t row = (size_t)p->first[1] * T + y;
                const size_t column = (size_t)p->first[0] * T + x;
                const size_t head = (size_t)p->first[2] + z;
                const size_t i = (size_t)p->first_row + row;
                if (row >= (size_t)p->rows || column >= DV)
                    continue;
                CLAIM(d->softmax[head][i] == 1 &&
                          d->sums[head][i][column] == begin,
                    "%s: keys of row %zu from %zu", d->about, i, begin);
                d->sums[head][i][column] = (size_t)p->j_end;
                d->rows[head][i] += column == 0 && p->j_end == LK;
            }
}

static void do_fused(ledger *d, const launch *l)
{
    const attention_params *p = l->params;
    const size_t rows = d->of->p.group_rows;
    check_limits(d, l, 0);
    for (size_t z = 0; z < l->groups[2]; ++z)
        for (size_t x = 0; x < l->groups[0] * rows; ++x) {
            const size_t i = (size_t)p->first[0] * rows + x;
            if (i < LQ)
                ++d->rows[(size_t)p->first[2] + z][i];
        }
}

static void do_items(ledger *d, const launch *l)
{
    CLAIM(d->launches == 0 && l->groups[0] * l->local[0] >= B,
        "%s: the table comes late or is short", d->about);
    ++d->tables;
}

static clattn_status write_down(void *state, const launch *l)
{
    static const struct {
        const char *name;
        void (*write)(ledger *d, const launch *l);
    } KERNELS[] = {{"matmul", do_matmul}, {"scale_softmax", do_softmax},
        {"weighted_sum", do_weighted_sum}, {"attention_lanes", do_fused},
        {"attention_simt", do_fused}, {"items", do_items}};
    ledger *d = state;
    const char *name = d->of->p.need[l->kernel].name;
    for (size_t i = 0; i < COUNT(KERNELS); ++i)
        if (strcmp(name, KERNELS[i].name) == 0)
            KERNELS[i].write(d, l);
    ++d->launches;
    return CLATTN_OK;
}

static const char *const ROWS[] = {
    "lanes", "tiled16", "tiled8", "tiled4", "tiled1", "simt32"};

static const struct {
    const char *about;
    uint64_t launch_work;
    size_t max_groups, max_items, max_iterations, max_buffer; /* 0: no limit */
} LIMITS[] = {
    {"no limits", 0, 0, 0, 0, 0},
    {"a launch is one group", 1, 0, 0, 0, 0},
    {"a launch is some groups", 1000000, 0, 0, 0, 0},
    {"a launch is three groups in each dimension", 0, 3, 0, 0, 0},
    {"a launch has 1000 work-items", 0, 0, 1000, 0, 0},
    {"loops end after 100 passes", 0, 0, 0, 100, 0},
    {"scores of a few rows at a time", 0, 0, 0, 0, 5 * 4 * LK + 64},
    {"scores of 17 rows at a time", 0, 0, 0, 0, 17 * 4 * LK + 64},
    {"scores of a head at a time", 0, 0, 0, 0, LQ * 4 * LK + 64},
    {"scores of three heads at a time", 0, 0, 0, 0, 3 * LQ * 4 * LK + 64},
    {"all limits at once", 40000, 2, 700, 200, 20 * 4 * LK + 64},
};

static void apply_limits(device_limits *to, size_t n)
{
    to->launch_work = LIMITS[n].launch_work;
    to->max_iterations = LIMITS[n].max_iterations;
    for (int axis = 0; LIMITS[n].max_groups && axis < 3; ++axis)
        to->max_groups[axis] = LIMITS[n].max_groups;
    if (LIMITS[n].max_items)
        to->max_items = LIMITS[n].max_items;
    if (LIMITS[n].max_buffer)
        to->max_buffer_bytes = LIMITS[n].max_buffer;
}

static planning plan_of(size_t row, size_t limit, uint32_t flags)
{
    planning s = planning_start();
    s.given.B = B;
    s.given.Hq = HQ;
    s.given.Hkv = 1;
    s.given.Lq = LQ;
    s.given.Lk = LK;
    s.given.D = D;
    s.given.Dv = DV;
    s.given.flags = flags;
    s.wishes.kernel = ROWS[row];
    apply_limits(&s.limits, limit);
    return s;
}

/* All rows, all limits, with and without a table of items. */
START_TEST(the_launches_do_each_row_of_each_head_once)
{
    const size_t row = (size_t)_i % COUNT(ROWS);
    const size_t limit = (size_t)_i / COUNT(ROWS) % COUNT(LIMITS);
    const bool table = (size_t)_i >= COUNT(ROWS) * COUNT(LIMITS);
    planning s = plan_of(row, limit, table ? CLATTN_KEY_LENGTHS : 0);
    const attention_regions regions = {
        .q = {NULL, Q_OFFSET}, .workspace = {NULL, WORKSPACE_OFFSET}};
    const clattn_status status = planning_run(&s);
    /* Loops that are too long for one item of lanes or simt32, or one of
       tiled1. */
    if (status != CLATTN_OK && LIMITS[limit].max_iterations)
        return;
    ck_assert_msg(status == CLATTN_OK, "%s", s.error.message);
    ledger *d = calloc(1, sizeof *d);
    ck_assert_ptr_nonnull(d);
    d->of = &s;
    d->about = LIMITS[limit].about;
    ck_assert_int_eq(plan_walk_attention(
                         &s.p, &s.problem, &s.limits, &regions, write_down, d),
        CLATTN_OK);
    ck_assert_uint_eq(d->launches, s.p.launches);
    ck_assert_uint_eq(d->tables, table);
    for (size_t at = 0; at < HEADS * LQ; ++at)
        CLAIM(d->rows[at / LQ][at % LQ] == 1,
            "%s, %s: row %zu of head %zu was done %zu times", ROWS[row],
            d->about, at % LQ, at / LQ, d->rows[at / LQ][at % LQ]);
    free(d);
}
END_TEST

/* Of scores of several heads, also where whole heads do not fit. */
START_TEST(blocks_are_as_large_as_memory_allows)
{
    static const size_t WANT[COUNT(LIMITS)][2] = {{LQ, HEADS}, {LQ, HEADS},
        {LQ, HEADS}, {LQ, HEADS}, {LQ, HEADS}, {LQ, HEADS}, {4, 1}, {16, 1},
        {LQ, 1}, {LQ, 3}, {20, 1}};
    planning s = plan_of(3, (size_t)_i, CLATTN_KEY_LENGTHS);
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    CLAIM(s.p.block_rows == WANT[_i][0] && s.p.block_heads == WANT[_i][1],
        "%s: %zu rows of %zu heads", LIMITS[_i].about, s.p.block_rows,
        s.p.block_heads);
}
END_TEST

/* The first visit ends the walk with its status. */
static clattn_status refuse(void *state, const launch *l)
{
    (void)l;
    ++*(size_t *)state;
    return CLATTN_DEVICE_ERROR;
}

START_TEST(a_failed_launch_ends_the_walk)
{
    planning s = plan_of((size_t)_i, 1, 0);
    const attention_regions nowhere = {.workspace = {NULL, 0}};
    size_t visits = 0;
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_int_eq(plan_walk_attention(&s.p, &s.problem, &s.limits, &nowhere,
                         refuse, &visits),
        CLATTN_DEVICE_ERROR);
    ck_assert_uint_eq(visits, 1);
}
END_TEST

int main(void)
{
    TCase *blocks = tcase_create("blocks");
    tcase_add_loop_test(blocks,
        a_workspace_fits_in_one_buffer_and_holds_a_block, 0,
        (int)(COUNT(BUFFERS) * COUNT(LENGTHS) * COUNT(LENGTHS) * 2));
    tcase_add_test(blocks, a_block_has_a_row_however_many_keys_there_are);
    tcase_add_loop_test(
        blocks, heads_and_batches_go_as_far_as_they_can_be_counted, 0, 2);
    tcase_add_loop_test(blocks, length_16384_takes_at_most_256_mib, 0, 2);
    tcase_add_loop_test(blocks, a_problem_without_rows_launches_nothing, 0, 6);
    tcase_add_loop_test(
        blocks, blocks_are_as_large_as_memory_allows, 0, (int)COUNT(LIMITS));

    TCase *launches = tcase_create("launches");
    tcase_set_timeout(launches, 60);
    tcase_add_loop_test(launches, the_launches_do_each_row_of_each_head_once, 0,
        (int)(2 * COUNT(ROWS) * COUNT(LIMITS)));
    tcase_add_loop_test(
        launches, a_failed_launch_ends_the_walk, 0, (int)COUNT(ROWS));

    Suite *suite = suite_create("plan_walk");
    suite_add_tcase(suite, blocks);
    suite_add_tcase(suite, launches);
    return suite_main(suite, 0);
}
