/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_visible.c - visible.clh alone: how many keys each row sees,
 * counted one by one, also where the arrays hold nonsense.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "kernel.h"
#include "opencl.h"
#include "source.h"
#include "suite.h"

enum {
    LENGTHS,
    DIAGONALS,
    ITEMS = 64, /* all pairs of eight lengths and eight diagonals */
    ROWS = 14
};

/* One work-item for each item and row. */
static const char PROBE[] =
    "__kernel void probe(__global int *ends, __global const int *lengths,\n"
    "    __global const int *diagonals, const visible_params p)\n"
    "{\n"
    "    const int i = (int)get_global_id(0), b = (int)get_global_id(1);\n"
    "    ends[b * (int)get_global_size(0) + i] =\n"
    "        visible_end(p, lengths, diagonals, b, i);\n"
    "}\n";

static const struct {
    const char *about;
    size_t Lk;
    enum kernel_diagonal diagonal;
    wide number;
    bool lengths;
} CASES[] = {
    {"all keys", 9, SEES_ALL, 0, false},
    {"one key", 1, SEES_ALL, 0, false},
    {"no keys", 0, SEES_ALL, 0, true},
    {"lengths", 9, SEES_ALL, 0, true},
    {"causal from the top left", 9, SEES_NUMBER, 0, false},
    {"causal from the top left, lengths", 9, SEES_NUMBER, 0, true},
    {"causal below 0", 9, SEES_NUMBER, -4, false},
    {"causal behind a past, lengths", 9, SEES_NUMBER, 3, true},
    {"causal, the least offset", 9, SEES_NUMBER, INT32_MIN, false},
    {"causal, the largest offset", 9, SEES_NUMBER, INT32_MAX, true},
    {"causal to the last key", 9, SEES_KEYS, -ROWS, false},
    {"causal to the last key, lengths", 9, SEES_KEYS, -ROWS, true},
    {"a diagonal for each item", 9, SEES_PER_ITEM, 5, false},
    {"a diagonal for each item, lengths", 9, SEES_PER_ITEM, 5, true},
    {"a diagonal for each item, no keys", 0, SEES_PER_ITEM, 5, true},
};

/* visible.clh uses params.h as the files that include it do. */
static char *probe_source(void)
{
    const char *directory = opencl_get()->ctx->env.kernel_dir;
    char *params = NULL, *visible = NULL;
    clattn_error error;
    ck_assert(
        source_assemble(&params, "params.h", directory, &error) == CLATTN_OK);
    ck_assert(source_assemble(&visible, "visible.clh", directory, &error) ==
              CLATTN_OK);
    const size_t bytes = strlen(params) + strlen(visible) + sizeof PROBE + 2;
    char *source = malloc(bytes);
    ck_assert_ptr_nonnull(source);
    snprintf(source, bytes, "%s\n%s\n%s", params, visible, PROBE);
    free(params);
    free(visible);
    return source;
}

static cl_kernel probe_kernel;

static void open_probe(void)
{
    opencl_open();
    char *source = probe_source();
    const char *text = source;
    cl_int code = CL_SUCCESS;
    cl_program program =
        clCreateProgramWithSource(opencl_get()->cl, 1, &text, NULL, &code);
    free(source);
    ck_assert_int_eq(code, CL_SUCCESS);
    ck_assert_msg(clBuildProgram(program, 1, &opencl_get()->device,
                      "-cl-std=CL1.2", NULL, NULL) == CL_SUCCESS,
        "the probe did not compile");
    probe_kernel = clCreateKernel(program, "probe", &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    clReleaseProgram(program);
}

static void close_probe(void)
{
    clReleaseKernel(probe_kernel);
    opencl_close();
}

static void probe(const visible_params *v, const cl_mem *arrays, cl_mem ends)
{
    const size_t global[2] = {ROWS, ITEMS};
    cl_kernel kernel = probe_kernel;
    clSetKernelArg(kernel, 0, sizeof ends, &ends);
    clSetKernelArg(kernel, 1, sizeof arrays[0], &arrays[LENGTHS]);
    clSetKernelArg(kernel, 2, sizeof arrays[0], &arrays[DIAGONALS]);
    clSetKernelArg(kernel, 3, sizeof *v, v);
    ck_assert_int_eq(clEnqueueNDRangeKernel(opencl_get()->in_order, kernel, 2,
                         NULL, global, NULL, 0, NULL, NULL),
        CL_SUCCESS);
}

static void check_case(size_t n, bool exact_ends)
{
    int32_t got[ITEMS * ROWS];
    arena a = {.memories = 0};
    cl_mem arrays[ARENA_TENSORS];
    kernel_place_visible(&a, LENGTHS, DIAGONALS, ITEMS);
    ck_assert(arena_allocate(&a));
    const visible_params v = kernel_fill_visible(&a, LENGTHS, DIAGONALS,
        CASES[n].Lk, CASES[n].diagonal, CASES[n].number, CASES[n].lengths);
    if (exact_ends)
        kernel_cut_guards(&a);

    cl_mem ends = opencl_blank(sizeof got);
    kernel_open(&a, arrays);
    probe(&v, arrays, ends);
    opencl_read(ends, got, sizeof got);
    clReleaseMemObject(ends);
    kernel_close(&a, arrays);

    for (size_t at = 0; at < ITEMS * ROWS; ++at) {
        const size_t b = at / ROWS, i = at % ROWS;
        const size_t want = kernel_seen(&a, LENGTHS, DIAGONALS, &v, b, i);
        ck_assert_msg(got[at] == (int32_t)want,
            "%s: row %zu of item %zu sees %d keys, but must see %zu",
            CASES[n].about, i, b, (int)got[at], want);
    }
    arena_free(&a);
}

START_TEST(rows_see_the_keys_that_the_rules_admit)
{
    check_case((size_t)_i, false);
}
END_TEST

/* Buffers without guard zones, for drivers that watch bounds. */
START_TEST(nothing_beyond_the_ends_is_touched)
{
    check_case((size_t)_i, true);
}
END_TEST

int main(void)
{
    TCase *rules = tcase_create("rules");
    tcase_add_unchecked_fixture(rules, open_probe, close_probe);
    tcase_set_timeout(rules, 300);
    tcase_add_loop_test(
        rules, rows_see_the_keys_that_the_rules_admit, 0, (int)COUNT(CASES));

    TCase *tiny = tcase_create("tiny");
    tcase_add_unchecked_fixture(tiny, open_probe, close_probe);
    tcase_set_timeout(tiny, 300);
    tcase_add_loop_test(
        tiny, nothing_beyond_the_ends_is_touched, 0, (int)COUNT(CASES));

    Suite *suite = suite_create("kernels_visible");
    suite_add_tcase(suite, rules);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
