/* SPDX-License-Identifier: Apache-2.0
 *
 * test_shim.c - the shim itself: it sees the calls, fails the right one, counts
 * objects, and a shrunken device keeps to what it says.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"
#include "shim.h"
#include "shim_parts.h"
#include "suite.h"

/* ---- Failures ---------------------------------------------------------------- */

START_TEST(the_nth_call_fails_and_no_other)
{
    const opencl *cl = opencl_get();
    for (size_t n = 1; n <= 3; ++n) {
        shim_arm(SHIM_clCreateBuffer, n, CL_OUT_OF_RESOURCES);
        for (size_t call = 1; call <= 3; ++call) {
            cl_int code = CL_SUCCESS;
            cl_mem buffer =
                clCreateBuffer(cl->cl, CL_MEM_READ_ONLY, 64, NULL, &code);
            ck_assert_int_eq(
                code, call == n ? CL_OUT_OF_RESOURCES : CL_SUCCESS);
            ck_assert((buffer == NULL) == (call == n));
            if (buffer)
                clReleaseMemObject(buffer);
        }
        ck_assert(shim_disarm());
        ck_assert_uint_eq(shim_calls(SHIM_clCreateBuffer), 3);
        ck_assert_uint_eq(shim_calls(SHIM_clReleaseMemObject), 2);
    }
}
END_TEST

START_TEST(memory_of_the_program_runs_out_and_no_other)
{
    void *volatile kept = NULL;
    shim_arm(SHIM_malloc, 2, ENOMEM);
    kept = malloc(10);
    errno = 0;
    void *volatile none = malloc(10);
    const int code = errno;
    clFinish(opencl_get()->in_order); /* a driver may allocate as it likes */
    const bool struck = shim_disarm();
    free(kept);
    ck_assert(struck && kept && !none);
    ck_assert_int_eq(code, ENOMEM);
    ck_assert_uint_eq(shim_calls(SHIM_malloc), 2);
}
END_TEST

/* ---- Objects --------------------------------------------------------------- */

START_TEST(objects_are_counted_until_they_are_released)
{
    const opencl *cl = opencl_get();
    const size_t before = shim_objects();
    cl_int code = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(cl->cl, CL_MEM_READ_ONLY, 64, NULL, &code);
    cl_event event = NULL;
    ck_assert_uint_eq(shim_objects(), before + 1);
    clRetainContext(cl->cl);
    clEnqueueMarkerWithWaitList(cl->in_order, 0, NULL, &event);
    ck_assert_uint_eq(shim_objects(), before + 3);
    shim_arm(SHIM_clReleaseContext, 1, CL_OUT_OF_RESOURCES);
    ck_assert_int_eq(clReleaseContext(cl->cl), CL_OUT_OF_RESOURCES);
    shim_disarm();
    clReleaseEvent(event);
    clReleaseMemObject(buffer);
    ck_assert_uint_eq(shim_objects(), before);
    ck_assert_uint_eq(shim_strays(), 0);
}
END_TEST

/* ---- Smaller devices --------------------------------------------------------- */

static cl_ulong device_number(cl_device_info what, size_t bytes)
{
    cl_ulong value = 0;
    ck_assert_int_eq(
        clGetDeviceInfo(opencl_get()->device, what, bytes, &value, NULL),
        CL_SUCCESS);
    return value;
}

START_TEST(a_shrunken_device_says_so_and_keeps_to_it)
{
    const shim_device device = {.max_group = 64,
        .local_bytes = 1024,
        .max_buffer_bytes = 4096,
        .no_double = true,
        .only_1_2 = true};
    const char *options = "-cl-std=CL2.0";
    char version[200];
    cl_int code = CL_SUCCESS;
    shim_shrink(&device);
    ck_assert_uint_eq(
        device_number(CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)), 64);
    ck_assert_uint_eq(
        device_number(CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong)), 1024);
    ck_assert_uint_eq(
        device_number(CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong)), 4096);
    ck_assert_uint_eq(
        device_number(CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config)),
        0);
    clGetDeviceInfo(
        opencl_get()->device, CL_DEVICE_VERSION, sizeof version, version, NULL);
    ck_assert_msg(
        strncmp(version, "OpenCL 1.2 ", 11) == 0, "version %s", version);
    ck_assert_ptr_null(
        clCreateBuffer(opencl_get()->cl, CL_MEM_READ_ONLY, 4097, NULL, &code));
    ck_assert_int_eq(code, CL_INVALID_BUFFER_SIZE);
    ck_assert_int_eq(shim_refuse_options(options), CL_INVALID_BUILD_OPTIONS);
    ck_assert_int_eq(shim_refuse_options("-cl-std=CL1.2"), CL_SUCCESS);
    shim_shrink(NULL);
    ck_assert_int_eq(shim_refuse_options(options), CL_SUCCESS);
}
END_TEST

static const struct {
    const char *text;
    bool doubles;
} TEXTS[] = {
    {"float a = 1.0f; /* double */ // double 1.0", false},
    {"int double_is_part_of_it_at_the_front;", true},
    {"double a;", true},
    {"a = convert_float(b) * 0x9e3779b9u;", false},
    {"a = 1.0;", true},
    {"a = 1e-3;", true},
    {"a = 1e-3f + 0x1p-3f + 12 + v.s01;", false},
    {"a = 0x1p-3;", true},
    {"a = x1.y;", false},
};

START_TEST(doubles_in_a_kernel_are_found)
{
    ck_assert_msg(shim_uses_double(TEXTS[_i].text) == TEXTS[_i].doubles, "%s",
        TEXTS[_i].text);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("shim");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_test(t, the_nth_call_fails_and_no_other);
    tcase_add_test(t, memory_of_the_program_runs_out_and_no_other);
    tcase_add_test(t, objects_are_counted_until_they_are_released);
    tcase_add_test(t, a_shrunken_device_says_so_and_keeps_to_it);
    tcase_add_loop_test(t, doubles_in_a_kernel_are_found, 0, (int)COUNT(TEXTS));
    Suite *suite = suite_create("shim");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
