/* SPDX-License-Identifier: Apache-2.0
 *
 * test_program_cache_driver.c - programs that are kept between processes, and a
 * driver, device or source that has changed in between, or a driver that gives
 * or takes no binaries: never an error, and never another result.
 *
 * Some calls are defined here, before the loader's, so that a child's
 * environment can make another driver of them.
 */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clattn/clattn.h"
#include "outcome.h"
#include "suite.h"

/* ---- A driver that was changed ------------------------------------------- */

/* POSIX's way to make a function of what dlsym returns. */
#define REAL(name, function) (*(void **)&(function) = dlsym(RTLD_NEXT, name))

/* The text that the child is to be told instead; NULL: the true one. */
static const char *lie(const char *variable, bool asked)
{
    const char *text = asked ? getenv(variable) : NULL;
    return text != NULL && *text != '\0' ? text : NULL;
}

static cl_int tell(const char *text, size_t room, void *value, size_t *bytes)
{
    if (bytes != NULL)
        *bytes = strlen(text) + 1;
    if (value != NULL && room >= strlen(text) + 1)
        strcpy(value, text);
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device,
    cl_device_info what, size_t room, void *value, size_t *bytes)
{
    cl_int (*real)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    const char *text = lie("TEST_DRIVER", what == CL_DRIVER_VERSION);
    if (text == NULL)
        text = lie("TEST_DEVICE", what == CL_DEVICE_NAME);
    if (text == NULL)
        text = lie("TEST_LANGUAGE", what == CL_DEVICE_OPENCL_C_VERSION);
    if (text != NULL)
        return tell(text, room, value, bytes);
    if (what == CL_DEVICE_EXTENSIONS && getenv("TEST_SILENT") != NULL)
        return CL_OUT_OF_RESOURCES;
    REAL("clGetDeviceInfo", real);
    return real(device, what, room, value, bytes);
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
    cl_platform_info what, size_t room, void *value, size_t *bytes)
{
    cl_int (*real)(cl_platform_id, cl_platform_info, size_t, void *, size_t *);
    const char *text = lie("TEST_PLATFORM", what == CL_PLATFORM_VERSION);
    if (text != NULL)
        return tell(text, room, value, bytes);
    REAL("clGetPlatformInfo", real);
    return real(platform, what, room, value, bytes);
}

/*
 * As the standard has it: a binary for each of two devices, of which PoCL gives
 * only that of the device that was built for, here the second.
 */
static const char WRONG[] = "the first device's";
typedef cl_int program_info(
    cl_program, cl_program_info, size_t, void *, size_t *);

static cl_int tell_sizes(
    cl_program program, size_t *sizes, size_t *bytes, program_info *real)
{
    if (bytes != NULL)
        *bytes = 2 * sizeof *sizes;
    if (sizes == NULL)
        return CL_SUCCESS;
    sizes[0] = sizeof WRONG;
    return real(
        program, CL_PROGRAM_BINARY_SIZES, sizeof *sizes, sizes + 1, NULL);
}

static cl_int give_binaries(
    cl_program program, unsigned char **slots, program_info *real)
{
    if (slots[0] != NULL)
        memcpy(slots[0], WRONG, sizeof WRONG);
    return real(program, CL_PROGRAM_BINARIES, sizeof *slots, slots + 1, NULL);
}

CL_API_ENTRY cl_int CL_API_CALL clGetProgramInfo(cl_program program,
    cl_program_info what, size_t room, void *value, size_t *bytes)
{
    program_info *real;
    const char *fails = getenv("TEST_INFO_FAILS");
    if (fails != NULL && what == strtoul(fails, NULL, 0))
        return CL_OUT_OF_HOST_MEMORY;
    REAL("clGetProgramInfo", real);
    if (getenv("TEST_SLOTS") != NULL && what == CL_PROGRAM_BINARY_SIZES)
        return tell_sizes(program, value, bytes, real);
    if (getenv("TEST_SLOTS") != NULL && what == CL_PROGRAM_BINARIES)
        return give_binaries(program, value, real);
    return real(program, what, room, value, bytes);
}

/* Fails, or succeeds with a status of the binary that says no. */
CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBinary(
    cl_context context, cl_uint count, const cl_device_id *devices,
    const size_t *bytes, const unsigned char **data, cl_int *status,
    cl_int *code)
{
    cl_program (*real)(cl_context, cl_uint, const cl_device_id *,
        const size_t *, const unsigned char **, cl_int *, cl_int *);
    const char *fails = getenv("TEST_BINARY_FAILS");
    if (fails != NULL && strcmp(fails, "create") == 0) {
        *code = CL_INVALID_BINARY;
        return NULL;
    }
    REAL("clCreateProgramWithBinary", real);
    cl_program program =
        real(context, count, devices, bytes, data, status, code);
    if (fails != NULL && strcmp(fails, "status") == 0)
        status[0] = CL_INVALID_BINARY;
    return program;
}

/* ---- Another driver ------------------------------------------------------- */

static const char *const CHANGES[] = {"TEST_DRIVER=3.2", "TEST_DEVICE=another",
    "TEST_LANGUAGE=OpenCL C 1.2 another", "TEST_PLATFORM=OpenCL 3.0 another",
    "POCL_MAX_WORK_GROUP_SIZE=64"};

START_TEST(another_driver_or_device_builds_its_own)
{
    char home[20];
    snprintf(home, sizeof home, "change%d", _i);
    const outcome before = outcome_first(home);
    const outcome changed = outcome_run(home, OUTCOME_PRODUCT, CHANGES[_i]);
    outcome_expect(&changed, CHANGES[_i], 1, 0, before.result);
    const outcome again = outcome_run(home, OUTCOME_PRODUCT, CHANGES[_i]);
    outcome_expect(&again, CHANGES[_i], 0, 1, before.result);
    const outcome back = outcome_run(home, OUTCOME_PRODUCT, NULL);
    outcome_expect(&back, "changed back", 0, 1, before.result);
}
END_TEST

/* Sources of one's own that differ in a comment. */
START_TEST(another_source_builds_its_own)
{
    char folder[SCRATCH_PATH], variable[SCRATCH_PATH + 30], command[2000];
    const outcome before = outcome_first("source");
    scratch_path(folder, "kernels");
    snprintf(command, sizeof command,
        "cp -r '%s/kernels' '%s' && echo '/* another */' >> "
        "'%s/matmul.cl'",
        CLATTN_SOURCE_DIR, folder, folder);
    ck_assert_int_eq(system(command), 0);
    snprintf(variable, sizeof variable, "CLATTN_KERNEL_DIR=%s", folder);
    const outcome changed = outcome_run("source", OUTCOME_PRODUCT, variable);
    outcome_expect(&changed, "another source", 1, 0, before.result);
    ck_assert_uint_eq(scratch_count("source/clattn"), 2);
}
END_TEST

START_TEST(a_device_that_does_not_tell_what_it_is_keeps_nothing)
{
    const outcome before = outcome_first("silent");
    const outcome silent =
        outcome_run("silent", OUTCOME_PRODUCT, "TEST_SILENT=1");
    outcome_expect(&silent, "no extensions told", 1, 0, before.result);
    ck_assert_msg(silent.noted == 1, "%s", silent.child.output);
    ck_assert_uint_eq(scratch_count("silent/clattn"), 1);
}
END_TEST

/* CL_PROGRAM_BINARY_SIZES and CL_PROGRAM_BINARIES. */
static const char *const INFOS[] = {
    "TEST_INFO_FAILS=0x1165", "TEST_INFO_FAILS=0x1166"};

START_TEST(a_driver_that_gives_no_binary_still_computes)
{
    char home[20];
    snprintf(home, sizeof home, "info%d", _i);
    const outcome o = outcome_run(home, OUTCOME_PRODUCT, INFOS[_i]);
    outcome_expect(&o, INFOS[_i], 1, 0, o.result);
    ck_assert_msg(o.noted == 1, "%s", o.child.output);
    const outcome later = outcome_run(home, OUTCOME_PRODUCT, NULL);
    outcome_expect(&later, "afterwards", 1, 0, o.result);
}
END_TEST

static const char *const REFUSALS[] = {
    "TEST_BINARY_FAILS=create", "TEST_BINARY_FAILS=status"};

START_TEST(a_driver_that_takes_no_binary_builds_again)
{
    char home[20];
    snprintf(home, sizeof home, "refused%d", _i);
    const outcome before = outcome_first(home);
    const outcome refused = outcome_run(home, OUTCOME_PRODUCT, REFUSALS[_i]);
    outcome_expect(&refused, REFUSALS[_i], 1, 0, before.result);
    ck_assert_msg(refused.noted == 1, "%s", refused.child.output);
    const outcome later = outcome_run(home, OUTCOME_PRODUCT, NULL);
    outcome_expect(&later, "afterwards", 0, 1, before.result);
}
END_TEST

/* Undamaged files whose data is not what the driver wants. */
START_TEST(a_binary_that_is_none_is_built_again)
{
    static const char text[] = "a binary that no driver has made";
    entry e;
    const outcome before = outcome_first("none");
    entry_read(&e, "none");
    for (size_t bytes = 0; bytes < sizeof text; bytes += sizeof text - 1) {
        entry_store(&e, text, bytes);
        const outcome o = outcome_run("none", OUTCOME_PRODUCT, NULL);
        outcome_expect(&o, "not a binary", 1, 0, before.result);
        ck_assert_msg(o.noted == 1, "%s", o.child.output);
        const outcome later = outcome_run("none", OUTCOME_PRODUCT, NULL);
        outcome_expect(&later, "afterwards", 0, 1, before.result);
    }
    entry_free(&e);
}
END_TEST

/* It loads and builds, but the kernel is not in it. */
START_TEST(a_binary_of_another_kernel_is_built_again)
{
    entry e, other;
    const outcome before = outcome_first("mixed");
    const outcome o = outcome_run("other", "tiled4", NULL);
    outcome_expect(&o, "attention", 3, 0, o.result);
    entry_read(&e, "mixed");
    entry_find(&other, "other", "kernel: scale_softmax\n");
    entry_store(&e, other.data, other.data_bytes);
    const outcome mixed = outcome_run("mixed", OUTCOME_PRODUCT, NULL);
    outcome_expect(&mixed, "another kernel", 1, 0, before.result);
    ck_assert_msg(mixed.noted == 1, "%s", mixed.child.output);
    const outcome later = outcome_run("mixed", OUTCOME_PRODUCT, NULL);
    outcome_expect(&later, "afterwards", 0, 1, before.result);
    entry_free(&e);
    entry_free(&other);
}
END_TEST

static const char *const SLOTS[] = {"TEST_SLOTS", "TEST_SLOTS=1"};

START_TEST(one_of_two_devices_of_a_context_keeps_its_own)
{
    char home[20];
    snprintf(home, sizeof home, "slots%d", _i);
    setenv("POCL_DEVICES", "pthread basic", 1);
    for (size_t i = 0; i < 2; ++i) {
        const outcome o = outcome_run(home, "two_devices", SLOTS[_i]);
        outcome_expect(&o, SLOTS[_i], 1 - i, i, o.result);
        ck_assert_msg(o.noted == 0, "%s", o.child.output);
    }
    unsetenv("POCL_DEVICES");
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1)
        return outcome_child(argv[1]);

    TCase *t = tcase_create("program_cache_driver");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(
        t, another_driver_or_device_builds_its_own, 0, (int)COUNT(CHANGES));
    tcase_add_test(t, another_source_builds_its_own);
    tcase_add_test(t, a_device_that_does_not_tell_what_it_is_keeps_nothing);
    tcase_add_loop_test(
        t, a_driver_that_gives_no_binary_still_computes, 0, (int)COUNT(INFOS));
    tcase_add_loop_test(
        t, a_driver_that_takes_no_binary_builds_again, 0, (int)COUNT(REFUSALS));
    tcase_add_test(t, a_binary_that_is_none_is_built_again);
    tcase_add_test(t, a_binary_of_another_kernel_is_built_again);
    tcase_add_loop_test(
        t, one_of_two_devices_of_a_context_keeps_its_own, 0, (int)COUNT(SLOTS));

    Suite *suite = suite_create("program_cache_driver");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
