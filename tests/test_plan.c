/* SPDX-License-Identifier: Apache-2.0
 *
 * test_plan.c - which row of kernels is proposed for which limits and wishes,
 * and why each better one is not.  Needs no device.
 */
#include "planning.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

/* ---- Limits ----------------------------------------------------------------- */

/* A field of the device that is not as planning_cpu has it. */
typedef struct limit {
    size_t width, max_group, group_x, group_y, local_bytes, buffer, iterations;
} limit;

static void set(size_t *field, size_t value)
{
    if (value > 0)
        *field = value;
}

static void apply_limit(device_limits *to, const limit *l)
{
    set(&to->native_width, l->width);
    set(&to->max_group, l->max_group);
    set(&to->max_group_dim[0], l->group_x);
    set(&to->max_group_dim[1], l->group_y);
    set(&to->local_bytes, l->local_bytes);
    set(&to->max_buffer_bytes, l->buffer);
    set(&to->max_iterations, l->iterations);
}

typedef struct row_case {
    const char *about, *only; /* rows whose names begin so; NULL: all */
    limit limit;
    clattn_attention problem; /* Lk, dtype, flags, scale: what is not 0 */
    clattn_status status;
    const char *row;      /* proposed; NULL: any */
    const char *words[3]; /* of what was declined, or of the refusal */
} row_case;

static const row_case LIMITS[] = {
    {"vectors of 16 floats", .row = "lanes"},
    {"vectors of 4 floats", .limit = {.width = 4}, .row = "lanes"},
    {"a CPU without vectors", .limit = {.width = 1},
        .words = {"lanes: ", "4 floats"}},
    {"a scale beyond f32 in units of ln 2",
        .problem = {.has_scale = 1, .scale = 3e38f}, .row = "tiled16",
        .words = {"lanes: scale 3e+38"}},
    {"loops that end after 1000 passes", .limit = {.iterations = 1000},
        .words = {"lanes: ", "1000"}},
    {"groups of 256", "tiled", {.max_group = 256}, .row = "tiled16"},
    {"groups of 255", "tiled", {.max_group = 255}, .row = "tiled8",
        .words = {"tiled16: needs 256 work-items, the device has 255"}},
    {"groups of 63", "tiled", {.max_group = 63}, .row = "tiled4",
        .words = {"tiled8: needs 64 work-items, the device has 63"}},
    {"groups of 15", "tiled", {.max_group = 15}, .row = "tiled1",
        .words = {"tiled4: needs 16 work-items, the device has 15"}},
    {"groups narrower than a tile", "tiled", {.group_x = 15}, .row = "tiled1",
        .words = {"tiled16: needs 16x16 work-items, the device has 15x4096",
            "tiled4: needs 16x1 work-items, the device has 15x4096"}},
    {"groups lower than a tile", "tiled", {.group_y = 7}, .row = "tiled4",
        .words = {"tiled16: needs 16x16", "tiled8: needs 8x8",
            "the device has 4096x7"}},
    {"2112 bytes of local memory", "tiled", {.local_bytes = 2112},
        .row = "tiled16"},
    {"2111 bytes of local memory", "tiled", {.local_bytes = 2111},
        .row = "tiled8",
        .words = {"tiled16: needs 2112 bytes of local memory, the device has "
                  "2111"}},
    {"100 bytes of local memory", "tiled", {.local_bytes = 100},
        .row = "tiled1",
        .words = {"tiled4: needs 144 bytes of local memory, the device has "
                  "100"}},
    {"more keys than the loops of softmax may pass", "tiled4",
        {.iterations = 65535}, {.Lk = 262128}, CLATTN_UNSUPPORTED,
        .words = {"no kernel", "Lk = 262128", "after 65535"}},
    {"as many as they may", "tiled4", {.iterations = 65535}, {.Lk = 262000},
        .row = "tiled4"},
    /* 100 / 17 tiles of 16 keys are one launch's. */
    {"16-bit sums that would be kept in parts", "tiled16", {.iterations = 100},
        {.dtype = CLATTN_F16}, CLATTN_UNSUPPORTED,
        .words = {"no kernel", "out is f16", "more than 80 terms"}},
    {"f32 sums that are kept in parts", "tiled16", {.iterations = 100},
        .row = "tiled16"},
    {"a row of scores larger than a buffer", "tiled", {.buffer = 359}, {0},
        CLATTN_UNSUPPORTED,
        .words = {"no kernel", "takes 360 bytes", "room for 359"}},
    {"a row of scores as large as a buffer", "tiled", {.buffer = 360},
        .row = "tiled16"},
};

static void check_row(planning *s, const char *about, clattn_status want,
    const char *row, const char *const words[3])
{
    const clattn_status status = planning_run(s);
    const char *said =
        status == CLATTN_OK ? s->declined.text : s->error.message;
    ck_assert_msg(status == want, "%s: got \"%s\" (%s)", about,
        clattn_status_text(status), s->error.message);
    ck_assert_msg(
        status != CLATTN_OK || row == NULL || strcmp(s->p.row->name, row) == 0,
        "%s: row %s, but must be %s; declined %s", about, s->p.row->name, row,
        s->declined.text);
    for (size_t n = 0; n < 3 && words[n]; ++n)
        ck_assert_msg(strstr(said, words[n]) != NULL, "%s: no '%s' in: %s",
            about, words[n], said);
}

START_TEST(the_best_row_that_fits_is_proposed_and_the_others_say_why_not)
{
    const row_case *c = &LIMITS[_i];
    planning s = planning_start();
    apply_limit(&s.limits, &c->limit);
    if (c->only)
        planning_only(&s, c->only);
    set(&s.given.Lk, c->problem.Lk);
    s.given.flags = c->problem.flags;
    s.given.has_scale = c->problem.has_scale;
    s.given.scale = c->problem.scale;
    if (c->problem.dtype)
        s.given.dtype = c->problem.dtype;
    check_row(&s, c->about, c->status, c->row, c->words);
}
END_TEST

START_TEST(a_gpu_gets_no_vectors_of_rows)
{
    planning s = planning_start();
    s.limits = planning_gpu();
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_msg(strncmp(s.p.row->name, "lanes", 5) != 0, "%s", s.p.row->name);
    ck_assert_msg(
        strstr(s.declined.text, "lanes: ") != NULL, "%s", s.declined.text);
}
END_TEST

/* Rows in registers of scalar items: by the columns of out, by what the device
   has, and on a CPU by name alone. */
static const struct {
    const char *about;
    size_t Dv, max_group, local_bytes;
    bool cpu;
    const char *kernel, *row, *words;
} REGISTERS[] = {
    {"a GPU", 64, 1024, 48 << 10, false, NULL, "simt64", ""},
    {"more columns", 65, 1024, 48 << 10, false, NULL, "simt64m",
        "simt64: keeps at most 64 columns of out in registers, not 65"},
    {"many columns", 129, 1024, 48 << 10, false, NULL, "simt64w",
        "simt64m: keeps at most 128 columns of out in registers, not 129"},
    {"columns that no tile keeps", 257, 1024, 48 << 10, false, NULL, "items16",
        "simt32: keeps at most 256"},
    {"many columns, groups of 255", 129, 255, 48 << 10, false, NULL, "simt32",
        "simt64w: needs 256 work-items, the device has 255"},
    {"groups of 127", 48, 127, 48 << 10, false, NULL, "simt32",
        "simt64: needs 128 work-items, the device has 127"},
    {"groups of 63", 48, 63, 48 << 10, false, NULL, "items16",
        "simt32: needs 64 work-items, the device has 63"},
    {"8 KiB of local memory", 64, 1024, 8 << 10, false, NULL, "simt32",
        "simt64: needs 20496 bytes of local memory, the device has 8192"},
    {"a CPU", 48, 1024, 48 << 10, true, "fused", "lanes", ""},
    {"a CPU, by name", 48, 1024, 48 << 10, true, "simt64w", "simt64w", ""},
};

START_TEST(a_gpu_gets_the_largest_tile_that_stays_in_registers)
{
    planning s = planning_start();
    s.limits = planning_gpu();
    s.limits.max_group = REGISTERS[_i].max_group;
    s.limits.local_bytes = REGISTERS[_i].local_bytes;
    s.limits.is_cpu = REGISTERS[_i].cpu;
    s.limits.native_width = REGISTERS[_i].cpu ? 8 : 1;
    s.given.Dv = REGISTERS[_i].Dv;
    s.wishes.kernel = REGISTERS[_i].kernel;
    const char *const words[3] = {REGISTERS[_i].words};
    check_row(&s, REGISTERS[_i].about, CLATTN_OK, REGISTERS[_i].row, words);
}
END_TEST

START_TEST(a_cpu_without_vectors_gets_no_tile_for_gpus_unasked)
{
    planning s = planning_start();
    s.limits.native_width = 1;
    const char *const words[3] = {"simt32: is for CPUs only where it is asked"};
    check_row(&s, "a scalar CPU", CLATTN_OK, "items64", words);
}
END_TEST

START_TEST(what_returns_a_matrix_is_no_fused_row)
{
    static const uint32_t STAGES[] = {CLATTN_RETURN_WEIGHTS,
        CLATTN_RETURN_SCORES, CLATTN_RETURN_SCALED, CLATTN_RETURN_CAPPED};
    planning s = planning_start();
    s.given.flags = STAGES[_i];
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_str_eq(s.p.row->path, "materialised");
}
END_TEST

START_TEST(sizes_that_kernels_cannot_count_are_refused)
{
    static const struct {
        size_t B, Hq, Lq, Lk;
        const char *words;
    } SIZES[] = {
        {1, 1, 0x7fffffff, 1, "Lq is 2147483647"},
        {1, 1, 1, 0x7ffffff0, "Lk is 2147483632"},
        {65536, 65536, 1, 1, "B * Hq is 4294967296"},
    };
    planning s = planning_start();
    s.given.B = SIZES[_i].B;
    s.given.Hq = s.given.Hkv = SIZES[_i].Hq;
    s.given.Lq = SIZES[_i].Lq;
    s.given.Lk = SIZES[_i].Lk;
    s.given.D = s.given.Dv = 1;
    ck_assert_int_eq(planning_run(&s), CLATTN_UNSUPPORTED);
    ck_assert_msg(strstr(s.error.message, SIZES[_i].words) != NULL, "%s",
        s.error.message);
}
END_TEST

/* ---- Wishes ------------------------------------------------------------------ */

static const struct {
    const char *about;
    row_wishes wishes; /* descriptor: kernel, disable; environment: the same */
    uint32_t flags;
    size_t max_group; /* 0: enough */
    clattn_status status;
    const char *row;
    const char *words[3];
} WISHES[] = {
    {"none", {NULL, NULL, NULL, NULL}, .row = "lanes"},
    {"empty ones", {"", "", "", ""}, .row = "lanes"},
    {"a row", {"tiled4", NULL, NULL, NULL}, .row = "tiled4"},
    {"a row by the environment", {NULL, NULL, "tiled8", NULL}, .row = "tiled8"},
    {"an empty one leaves it to the environment", {"", NULL, "tiled8", NULL},
        .row = "tiled8"},
    {"the descriptor's before the environment's",
        {"tiled4", NULL, "tiled8", NULL}, .row = "tiled4"},
    {"a path", {"fused", NULL, NULL, NULL}, .row = "lanes"},
    {"a row switched off", {NULL, "lanes", NULL, NULL},
        .words = {"lanes: switched off"}},
    {"a path and rows switched off, by both",
        {NULL, "fused,lanes_weights", NULL, "tiled16,tiled8"}, .row = "tiled4",
        .words = {"lanes, lanes_weights, ", "tiled16, tiled8: switched off"}},
    {"nothing between commas", {NULL, ",lanes,,", NULL, ","},
        .words = {"lanes: switched off"}},
    {"an unknown name to switch off", {NULL, "tiled4,lane,", NULL, NULL},
        .status = CLATTN_INVALID,
        .words = {"disable holds 'lane'", "fused", "tiled16"}},
    {"more than a name to switch off", {NULL, "lanes1", NULL, NULL},
        .status = CLATTN_INVALID, .words = {"disable holds 'lanes1'"}},
    {"an unknown name to switch off in the environment",
        {"tiled4", NULL, NULL, "Lanes"}, .status = CLATTN_INVALID,
        .words = {"CLATTN_DISABLE holds 'Lanes'", "materialised", "tiled1"}},
    {"everything switched off", {NULL, "materialised", NULL, "fused"},
        .status = CLATTN_UNSUPPORTED,
        .words = {"no kernel can run: lanes, ", ", tiled1: switched off"}},
    {"asked for and switched off", {"tiled4", NULL, NULL, "tiled4"},
        .status = CLATTN_UNSUPPORTED,
        .words = {"no kernel", "tiled4: switched off"}},
    {"a row that does not fit", {"tiled16", NULL, NULL, NULL}, .max_group = 64,
        .status = CLATTN_UNSUPPORTED,
        .words = {"no kernel",
            "tiled16: needs 256 work-items, the device has 64"}},
    {"a row that cannot return weights", {"lanes", NULL, NULL, NULL},
        CLATTN_RETURN_WEIGHTS, .status = CLATTN_UNSUPPORTED,
        .words = {"no kernel", "lanes: "}},
    {"an unknown row", {"tiled", NULL, NULL, NULL}, .status = CLATTN_INVALID,
        .words = {"kernel is 'tiled'", "fused", "tiled16"}},
    {"an unknown row in the environment", {NULL, NULL, "Lanes", NULL},
        .status = CLATTN_INVALID,
        .words = {"CLATTN_KERNEL is 'Lanes'", "lanes", "tiled1"}},
    {"two rows at once", {"tiled16,tiled8", NULL, NULL, NULL},
        .status = CLATTN_INVALID, .words = {"kernel is 'tiled16,tiled8'"}},
};

START_TEST(wishes_are_followed_or_refused)
{
    planning s = planning_start();
    s.wishes = WISHES[_i].wishes;
    s.given.flags = WISHES[_i].flags;
    set(&s.limits.max_group, WISHES[_i].max_group);
    check_row(&s, WISHES[_i].about, WISHES[_i].status, WISHES[_i].row,
        WISHES[_i].words);
}
END_TEST

START_TEST(every_row_can_be_asked_for_by_its_name)
{
    planning s = planning_start();
    s.wishes.kernel = clattn_kernel_name((size_t)_i);
    const clattn_status status = planning_run(&s);
    if (status == CLATTN_OK)
        ck_assert_str_eq(s.p.row->name, s.wishes.kernel);
    else
        ck_assert_msg(strstr(s.error.message, s.wishes.kernel) != NULL,
            "%s is not named: %s", s.wishes.kernel, s.error.message);
}
END_TEST

/* ---- Products -------------------------------------------------------------- */

static matmul_job job_of(int32_t dtype)
{
    return (matmul_job){.items = 1,
        .heads = 1,
        .group = 1,
        .M = 70,
        .N = 90,
        .K = 50,
        .a_dtype = dtype,
        .b_dtype = dtype,
        .c_dtype = dtype};
}

static const struct {
    const char *about;
    row_wishes wishes;
    size_t max_group, max_iterations;
    int32_t dtype;
    clattn_status status;
    const char *row, *words;
} PRODUCTS[] = {
    {"the best", {NULL, NULL, NULL, NULL}, 256, 0, CLATTN_F32, CLATTN_OK,
        "matmul_simt128", ""},
    {"a small device", {NULL, NULL, NULL, NULL}, 100, 0, CLATTN_F32, CLATTN_OK,
        "matmul_simt32", "matmul_simt64: needs 256"},
    {"a smaller one", {NULL, NULL, NULL, NULL}, 63, 0, CLATTN_F32, CLATTN_OK,
        "tiled4", "tiled8: needs 64"},
    {"a row asked for", {"tiled4", NULL, "tiled1", NULL}, 256, 0, CLATTN_F32,
        CLATTN_OK, "tiled4", ""},
    {"a row asked for that does attention alone", {"lanes", NULL, NULL, NULL},
        256, 0, CLATTN_F32, CLATTN_OK, "matmul_simt128", ""},
    {"a path that does attention alone", {NULL, NULL, "fused", NULL}, 256, 0,
        CLATTN_F32, CLATTN_OK, "matmul_simt128", ""},
    {"rows switched off",
        {NULL, "matmul_simt128,matmul_simt64,tiled16", NULL,
            "matmul_simt32,tiled8"},
        256, 0, CLATTN_F32, CLATTN_OK, "tiled4", "switched off"},
    {"all switched off", {NULL, "materialised", NULL, NULL}, 256, 0, CLATTN_F32,
        CLATTN_UNSUPPORTED, NULL, "no kernel"},
    {"a row that is not there", {"tiled5", NULL, NULL, NULL}, 256, 0,
        CLATTN_F32, CLATTN_INVALID, NULL, "tiled5"},
    {"loops that end early", {NULL, NULL, NULL, NULL}, 256, 34, CLATTN_F32,
        CLATTN_OK, "tiled16", ""},
    {"loops that end early, sums in bf16", {NULL, NULL, NULL, NULL}, 256, 34,
        CLATTN_BF16, CLATTN_UNSUPPORTED, NULL, "y is bf16"},
};

START_TEST(products_have_rows_of_their_own)
{
    device_limits limits = planning_cpu();
    proposal p;
    declined_rows declined = {.text = ""};
    clattn_error error;
    const matmul_job job = job_of(PRODUCTS[_i].dtype);
    limits.is_cpu = false;
    limits.max_group = PRODUCTS[_i].max_group;
    limits.max_iterations = PRODUCTS[_i].max_iterations;
    const clattn_status status =
        plan_matmul(&p, &job, &limits, &PRODUCTS[_i].wishes, &declined, &error);
    ck_assert_msg(status == PRODUCTS[_i].status, "%s: got \"%s\" (%s)",
        PRODUCTS[_i].about, clattn_status_text(status), error.message);
    const char *said = status == CLATTN_OK ? declined.text : error.message;
    ck_assert_msg(strstr(said, PRODUCTS[_i].words) != NULL, "%s: %s",
        PRODUCTS[_i].about, said);
    if (status == CLATTN_OK)
        ck_assert_str_eq(p.row->name, PRODUCTS[_i].row);
}
END_TEST

START_TEST(products_on_a_cpu_go_by_lanes_unless_they_are_not_wanted)
{
    const device_limits limits = planning_cpu();
    const matmul_job job = job_of(CLATTN_F32);
    const row_wishes none = {NULL, NULL, NULL, NULL};
    const row_wishes off = {NULL, "matmul_lanes", NULL, NULL};
    proposal p;
    declined_rows declined = {.text = ""};
    clattn_error error;
    ck_assert_int_eq(
        plan_matmul(&p, &job, &limits, &none, &declined, &error), CLATTN_OK);
    ck_assert_str_eq(p.row->name, "matmul_lanes");
    ck_assert_int_eq(
        plan_matmul(&p, &job, &limits, &off, &declined, &error), CLATTN_OK);
    ck_assert_str_eq(p.row->name, "tiled16");
}
END_TEST

/* Two thousand million heads of a row, one group at a time: visiting each would
   take minutes. */
static const struct {
    const char *row, *words;
} COUNTED[] = {
    {"lanes", "lanes: takes 2000000000 launches"},
    {"lanes_weights", "lanes_weights: takes 2000000000 launches"},
    {"tiled16", "tiled16: takes 6000000000 launches"},
};

START_TEST(launches_are_counted_without_making_them)
{
    planning s = planning_start();
    s.given.B = 500000000;
    s.given.Lq = s.given.Lk = 1;
    s.limits.max_groups[2] = 1;
    s.wishes.kernel = COUNTED[_i].row;
    ck_assert_int_eq(planning_run(&s), CLATTN_UNSUPPORTED);
    ck_assert_msg(strstr(s.error.message, COUNTED[_i].words) != NULL, "%s",
        s.error.message);
}
END_TEST

int main(void)
{
    TCase *rows = tcase_create("rows");
    tcase_add_loop_test(rows,
        the_best_row_that_fits_is_proposed_and_the_others_say_why_not, 0,
        (int)COUNT(LIMITS));
    tcase_add_test(rows, a_gpu_gets_no_vectors_of_rows);
    tcase_add_loop_test(rows,
        a_gpu_gets_the_largest_tile_that_stays_in_registers, 0,
        (int)COUNT(REGISTERS));
    tcase_add_test(rows, a_cpu_without_vectors_gets_no_tile_for_gpus_unasked);
    tcase_add_loop_test(rows, what_returns_a_matrix_is_no_fused_row, 0, 4);
    tcase_add_loop_test(
        rows, sizes_that_kernels_cannot_count_are_refused, 0, 3);
    tcase_add_loop_test(
        rows, launches_are_counted_without_making_them, 0, (int)COUNT(COUNTED));

    TCase *wishes = tcase_create("wishes");
    tcase_add_loop_test(
        wishes, wishes_are_followed_or_refused, 0, (int)COUNT(WISHES));
    tcase_add_loop_test(
        wishes, every_row_can_be_asked_for_by_its_name, 0, (int)N_KERNEL_ROWS);
    tcase_add_loop_test(
        wishes, products_have_rows_of_their_own, 0, (int)COUNT(PRODUCTS));
    tcase_add_test(
        wishes, products_on_a_cpu_go_by_lanes_unless_they_are_not_wanted);

    Suite *suite = suite_create("plan");
    suite_add_tcase(suite, rows);
    suite_add_tcase(suite, wishes);
    return suite_main(suite, 0);
}
