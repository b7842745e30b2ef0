/* SPDX-License-Identifier: Apache-2.0
 *
 * test_matmul_lanes_plan.c - when the row "matmul_lanes" is taken, with what
 * workspace, and how it cuts a product.  Needs no device.
 */
#include <string.h>

#include "draw.h"
#include "plan.h"
#include "suite.h"

static matmul_job job_of(size_t M, size_t N, size_t K)
{
    return (matmul_job){
        .items = 1,
        .heads = 1,
        .group = 1,
        .M = M,
        .N = N,
        .K = K,
        .a = {.row = (wide)K},
        .b = {.row = (wide)N},
        .c = {.row = (wide)N},
        .a_dtype = CLATTN_F32,
        .b_dtype = CLATTN_F32,
        .c_dtype = CLATTN_F32,
    };
}

static const device_limits CPU = {
    .is_cpu = true,
    .max_group = 4096,
    .max_group_dim = {4096, 4096, 4096},
    .max_groups = {SIZE_MAX, SIZE_MAX, SIZE_MAX},
    .max_items = SIZE_MAX,
    .local_bytes = 1 << 16,
    .max_buffer_bytes = (size_t)1 << 32,
    .native_width = 16,
};

static const struct {
    const char *about;
    size_t items, heads, group, own_b; /* own_b: items each have their own */
    size_t M, N, K;
    size_t width, max_buffer, max_iterations; /* the latter two: 0 as CPU */
    bool other_device;
    const char *row, *says; /* what the declined rows' text must hold */
    size_t launches, workspace;
} DECISIONS[] = {
    {"few rows: each group packs", 1, 1, 1, 0, 256, 96, 64, 16, 0, 0, false,
        "matmul_lanes", "", 1, 0},
    {"many rows share panels of 32", 1, 1, 1, 0, 257, 96, 64, 16, 0, 0, false,
        "matmul_lanes", "", 2, 96 * 64 * 4},
    {"the last panel is whole", 1, 1, 1, 0, 257, 97, 64, 16, 0, 0, false,
        "matmul_lanes", "", 2, 128 * 64 * 4},
    {"panels of 16 on a narrower CPU", 1, 1, 1, 0, 257, 97, 64, 8, 0, 0, false,
        "matmul_lanes", "", 2, 112 * 64 * 4},
    {"panels of 8", 1, 1, 1, 0, 257, 97, 64, 4, 0, 0, false, "matmul_lanes", "",
        2, 104 * 64 * 4},
    {"wider than any known is 16", 1, 1, 1, 0, 257, 97, 64, 32, 0, 0, false,
        "matmul_lanes", "", 2, 128 * 64 * 4},
    {"a panel set for each head", 1, 6, 1, 0, 300, 32, 10, 16, 0, 0, false,
        "matmul_lanes", "", 2, 6 * 32 * 10 * 4},
    {"for each group of heads", 5, 6, 3, 0, 300, 32, 10, 16, 0, 0, false,
        "matmul_lanes", "", 2, 2 * 32 * 10 * 4},
    {"for each item too", 5, 6, 3, 1, 300, 32, 10, 16, 0, 0, false,
        "matmul_lanes", "", 2, 5 * 2 * 32 * 10 * 4},
    {"panels that fill a quarter of a buffer", 1, 1, 1, 0, 300, 32, 64, 16,
        4 * 32 * 64 * 4, 0, false, "matmul_lanes", "", 2, 32 * 64 * 4},
    {"panels that do not fit: each group packs", 1, 1, 1, 0, 300, 32, 64, 16,
        4 * 32 * 64 * 4 - 1, 0, false, "matmul_lanes", "", 1, 0},
    {"no rows", 1, 1, 1, 0, 0, 32, 64, 16, 0, 0, false, "matmul_lanes", "", 0,
        0},
    {"no items", 0, 1, 1, 0, 300, 32, 64, 16, 0, 0, false, "matmul_lanes", "",
        0, 0},
    {"a scalar CPU", 1, 1, 1, 0, 300, 32, 64, 1, 0, 0, false, "tiled16",
        "matmul_lanes: is for CPUs with vectors of 4 floats or more, this is "
        "one with 1",
        1, 0},
    {"a GPU", 1, 1, 1, 0, 300, 32, 64, 4, 0, 0, true, "matmul_simt128",
        "matmul_lanes: is for CPUs with vectors of 4 floats or more, this is "
        "another device with 4",
        1, 0},
    {"loops that end early", 1, 1, 1, 0, 300, 32, 6400, 16, 0, 65535, false,
        "tiled16", "the device ends loops after 65535", 1, 0},
};

static void propose(proposal *p, declined_rows *declined, const matmul_job *job,
    const device_limits *limits)
{
    const row_wishes none = {NULL, NULL, NULL, NULL};
    clattn_error error;
    memset(declined, 0, sizeof *declined);
    const clattn_status status =
        plan_matmul(p, job, limits, &none, declined, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
}

START_TEST(the_row_and_its_workspace_follow_the_sizes)
{
    const char *about = DECISIONS[_i].about;
    matmul_job job = job_of(DECISIONS[_i].M, DECISIONS[_i].N, DECISIONS[_i].K);
    device_limits limits = CPU;
    proposal p;
    declined_rows declined;
    job.items = DECISIONS[_i].items;
    job.heads = DECISIONS[_i].heads;
    job.group = DECISIONS[_i].group;
    job.b.batch = (wide)DECISIONS[_i].own_b;
    limits.is_cpu = !DECISIONS[_i].other_device;
    limits.native_width = DECISIONS[_i].width;
    limits.max_iterations = DECISIONS[_i].max_iterations;
    if (DECISIONS[_i].max_buffer > 0)
        limits.max_buffer_bytes = DECISIONS[_i].max_buffer;

    propose(&p, &declined, &job, &limits);
    ck_assert_msg(strcmp(p.row->name, DECISIONS[_i].row) == 0, "%s: row %s",
        about, p.row->name);
    ck_assert_msg(strstr(declined.text, DECISIONS[_i].says) != NULL, "%s: '%s'",
        about, declined.text);
    ck_assert_msg(p.launches == DECISIONS[_i].launches, "%s: %zu launches",
        about, p.launches);
    ck_assert_msg(p.workspace_bytes == DECISIONS[_i].workspace,
        "%s: workspace of %zu bytes", about, p.workspace_bytes);
}
END_TEST

/* The launch of blocks is the last: its parameters, and its groups. */
typedef struct seen {
    panels_params params;
    size_t groups[3];
} seen;

static clattn_status see(void *state, const launch *l)
{
    seen *s = state;
    ck_assert_uint_eq(l->params_bytes, sizeof s->params);
    memcpy(&s->params, l->params, sizeof s->params);
    memcpy(s->groups, l->groups, sizeof s->groups);
    return CLATTN_OK;
}

START_TEST(blocks_cover_the_product_and_none_is_empty)
{
    draw d = draw_start((uint64_t)_i);
    const size_t M = draw_between(&d, 1, 1000), N = draw_between(&d, 1, 1000);
    const matmul_job job = job_of(M, N, 1 + draw_below(&d, 100));
    device_limits limits = CPU;
    const matmul_regions nowhere = {.workspace = {NULL, 0}};
    proposal p;
    declined_rows declined;
    seen last;
    limits.native_width = 4u << draw_below(&d, 3);

    propose(&p, &declined, &job, &limits);
    ck_assert_int_eq(
        p.row->walk_matmul(&p, &job, &limits, &nowhere, see, &last), CLATTN_OK);
    const size_t rows = (size_t)last.params.block_rows;
    const size_t columns = (size_t)last.params.block_columns;
    const size_t x = last.groups[0], y = last.groups[1];
    ck_assert_msg(x * rows >= M && (x - 1) * rows < M,
        "draw %d: %zu blocks of %zu rows for %zu", _i, x, rows, M);
    ck_assert_msg(y * columns >= N && (y - 1) * columns < N,
        "draw %d: %zu blocks of %zu columns for %zu", _i, y, columns, N);
}
END_TEST

/* ---- Wishes ---------------------------------------------------------------- */

static const struct {
    const char *kernel, *disable, *row;
} WISHES[] = {
    {"matmul_lanes", "", "matmul_lanes"},
    {"materialised", "", "matmul_lanes"},
    {"fused", "", "matmul_lanes"}, /* no products in it: they are free */
    {"lanes", "", "matmul_lanes"},
    {"tiled16", "", "tiled16"},
    {"", "matmul_lanes", "tiled16"},
    {"", "lanes", "matmul_lanes"},
};

START_TEST(the_row_can_be_asked_for_and_switched_off)
{
    const row_wishes wishes = {
        WISHES[_i].kernel, WISHES[_i].disable, NULL, NULL};
    const matmul_job job = job_of(20, 30, 40);
    proposal p;
    declined_rows declined;
    clattn_error error;
    memset(&declined, 0, sizeof declined);
    const clattn_status status =
        plan_matmul(&p, &job, &CPU, &wishes, &declined, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
    ck_assert_msg(strcmp(p.row->name, WISHES[_i].row) == 0,
        "kernel '%s', disable '%s': row %s", WISHES[_i].kernel,
        WISHES[_i].disable, p.row->name);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("matmul_lanes");
    tcase_add_loop_test(t, the_row_and_its_workspace_follow_the_sizes, 0,
        (int)COUNT(DECISIONS));
    tcase_add_loop_test(t, blocks_cover_the_product_and_none_is_empty, 0, 200);
    tcase_add_loop_test(
        t, the_row_can_be_asked_for_and_switched_off, 0, (int)COUNT(WISHES));

    Suite *suite = suite_create("plans of matmul_lanes");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
