/* SPDX-License-Identifier: Apache-2.0
 *
 * test_devices.c - finding devices: none, broken drivers, several devices.  Each
 * case is a process of its own, since loader and driver read their environment
 * once.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "clattn/clattn.h"
#include "drivers.h"
#include "one_key.h"
#include "suite.h"

enum {
    LIMIT_SECONDS = 60
};

/* ---- What a child does --------------------------------------------------- */

/* A line "index|name|kind|is_default" for each device, then what was passed
   over. */
static int child_list(void)
{
    char passed[5000], cut[10];
    clattn_error error;
    size_t count = 0;
    const clattn_status status = clattn_device_count(&count, &error);
    printf("status %d, count %zu %s\n", (int)status, count, error.message);
    for (size_t i = 0; i < count; ++i) {
        clattn_device device = {.struct_size = sizeof device};
        if (clattn_device_get(&device, i, &error) != CLATTN_OK) {
            printf("device %zu: %s\n", i, error.message);
            return 1;
        }
        printf("%zu|%s|%s|%d\n", i, device.name, device.kind,
            (int)device.is_default);
    }
    clattn_device none = {.struct_size = sizeof none};
    if (clattn_device_get(&none, count, &error) != CLATTN_NO_DEVICE)
        return 1;
    printf("past the end: %s\n", error.message);
    const size_t bytes = clattn_devices_passed_over(passed, sizeof passed);
    printf("passed over: %s\n", passed);
    if (bytes != strlen(passed) + 1 ||
        clattn_devices_passed_over(cut, sizeof cut) != bytes ||
        strncmp(passed, cut, sizeof cut - 1) != 0 ||
        strlen(cut) != (bytes < sizeof cut ? bytes : sizeof cut) - 1)
        return 1;
    return status != CLATTN_OK;
}

/* Print where in the list a context's device is, and whether it works. */
static void print_device(clattn_context *ctx)
{
    size_t count = 0;
    clattn_device_count(&count, NULL);
    for (size_t i = 0; i < count; ++i) {
        clattn_device device = {.struct_size = sizeof device};
        clattn_device_get(&device, i, NULL);
        if (device.id == clattn_context_device(ctx))
            printf("index %zu, name %s, %s\n", i, device.name,
                one_key_works(ctx) ? "works" : "fails");
    }
}

/* A context by the spec in TEST_SPEC, or by none. */
static int child_create(void)
{
    clattn_error error;
    clattn_context *ctx = NULL;
    const clattn_status status =
        clattn_context_create(&ctx, getenv("TEST_SPEC"), &error);
    if (status != CLATTN_OK)
        printf("status %d: %s\n", (int)status, error.message);
    else
        print_device(ctx);
    if ((ctx != NULL) != (status == CLATTN_OK))
        printf("and a context without success, or none with it\n");
    clattn_context_destroy(ctx);
    return status;
}

/* ---- None ---------------------------------------------------------------- */

START_TEST(no_device_is_an_empty_list_and_an_error_with_a_hint)
{
    const no_device *machine = &NO_DEVICE[_i];
    char line[DRIVERS_LINE];
    const char *const environment[] = {
        drivers_line(line, machine->folder, machine->drivers), machine->devices,
        NULL};
    const child_result list = child_run("list", environment, LIMIT_SECONDS);
    ck_assert_msg(
        list.exit_code == 0 && strstr(list.output, "status 0, count 0") != NULL,
        "%s: exit %d: %s", machine->about, list.exit_code, list.output);
    const child_result create = child_run("create", environment, LIMIT_SECONDS);
    ck_assert_msg(create.exit_code == CLATTN_NO_DEVICE &&
                      strstr(create.output, "no OpenCL") != NULL &&
                      strstr(create.output, "install") != NULL,
        "%s: exit %d: %s", machine->about, create.exit_code, create.output);
    ck_assert_msg(
        strstr(list.output, "past the end: no OpenCL device found; install"),
        "%s: %s", machine->about, list.output);
    for (size_t i = 0; machine->words[i]; ++i) {
        ck_assert_msg(strstr(list.output, machine->words[i]) != NULL, "%s: %s",
            machine->about, list.output);
        ck_assert_msg(strstr(create.output, machine->words[i]) != NULL,
            "%s: %s", machine->about, create.output);
    }
}
END_TEST

/* What platforms without devices need and do not say themselves. */
START_TEST(a_platform_without_devices_is_known_by_its_name)
{
    static const char *const names[][2] = {
        {"HOLLOW_NAME=Portable Computing Language", "POCL_CACHE_DIR"},
        {"HOLLOW_NAME=rusticl", "RUSTICL_ENABLE"},
    };
    char line[DRIVERS_LINE];
    const char *const environment[] = {
        drivers_line(line, "named", DRIVER_HOLLOW), names[_i][0], NULL};
    const child_result list = child_run("list", environment, LIMIT_SECONDS);
    const child_result create = child_run("create", environment, LIMIT_SECONDS);
    ck_assert_msg(strstr(list.output, names[_i][1]) != NULL, "%s", list.output);
    ck_assert_msg(
        strstr(create.output, names[_i][1]) != NULL, "%s", create.output);
}
END_TEST

START_TEST(a_broken_driver_hides_no_working_one)
{
    char line[DRIVERS_LINE];
    const char *const environment[] = {
        drivers_line(line, "mixed",
            DRIVER_POCL | DRIVER_MISSING | DRIVER_HOLLOW | DRIVER_EMPTY),
        NULL};
    const child_result create = child_run("create", environment, LIMIT_SECONDS);
    ck_assert_msg(create.exit_code == 0 &&
                      strstr(create.output, "index 0, ") != NULL &&
                      strstr(create.output, "works") != NULL,
        "exit %d: %s", create.exit_code, create.output);
}
END_TEST

/* ---- Several ------------------------------------------------------------- */

static const struct {
    const char *spec;        /* NULL: none is given */
    const char *environment; /* CLATTN_DEVICE, or NULL */
    clattn_status want;
    const char *output;
} SPECS[] = {
    {"0", NULL, CLATTN_OK, "index 0, "},
    {"1", NULL, CLATTN_OK, "index 1, "},
    {"basic", NULL, CLATTN_OK, "name basic"},
    {"pthread", NULL, CLATTN_OK, "name pthread"},
    {"BaSiC", NULL, CLATTN_OK, "name basic"},
    {"portable computing", NULL, CLATTN_OK, "works"},
    {"::basic", NULL, CLATTN_OK, "name basic"},
    {":cpu:basic", NULL, CLATTN_OK, "name basic"},
    {"portable:cpu:pthread", NULL, CLATTN_OK, "name pthread"},
    {"portable::", NULL, CLATTN_OK, "works"},
    {":cpu", NULL, CLATTN_OK, "works"},
    {NULL, "1", CLATTN_OK, "index 1, "},
    {NULL, "basic", CLATTN_OK, "name basic"},
    {"0", "basic", CLATTN_OK, "index 0, "},
    {"2", NULL, CLATTN_NO_DEVICE, "2"},
    {"99999999999999999999999", NULL, CLATTN_NO_DEVICE, "9999"},
    {"-1", NULL, CLATTN_NO_DEVICE, "basic"},
    {"1 ", NULL, CLATTN_NO_DEVICE, "basic"},
    {"geforce", NULL, CLATTN_NO_DEVICE, "basic"},
    {":gpu:", NULL, CLATTN_NO_DEVICE, "basic"},
    {"portable:gpu:basic", NULL, CLATTN_NO_DEVICE, "basic"},
    {"other:cpu:basic", NULL, CLATTN_NO_DEVICE, "basic"},
    {NULL, "geforce", CLATTN_NO_DEVICE, "geforce"},
};

START_TEST(a_spec_chooses_the_device_it_names_or_none)
{
    char line[DRIVERS_LINE], spec[100], device[100];
    const char *const environment[] = {drivers_line(line, "two", DRIVER_POCL),
        "POCL_DEVICES=pthread basic",
        SPECS[_i].spec != NULL ? spec : "TEST_UNUSED=1",
        SPECS[_i].environment != NULL ? device : "CLATTN_DEVICE=", NULL};
    if (SPECS[_i].spec != NULL)
        snprintf(spec, sizeof spec, "TEST_SPEC=%s", SPECS[_i].spec);
    if (SPECS[_i].environment != NULL)
        snprintf(
            device, sizeof device, "CLATTN_DEVICE=%s", SPECS[_i].environment);
    const child_result create = child_run("create", environment, LIMIT_SECONDS);
    ck_assert_msg(create.exit_code == (int)SPECS[_i].want &&
                      strstr(create.output, SPECS[_i].output) != NULL,
        "spec '%s', CLATTN_DEVICE '%s': exit %d: %s",
        SPECS[_i].spec != NULL ? SPECS[_i].spec : "(none)",
        SPECS[_i].environment != NULL ? SPECS[_i].environment : "(none)",
        create.exit_code, create.output);
}
END_TEST

/* Whatever the order, the list marks one, and no spec chooses that one. */
START_TEST(the_list_marks_the_device_that_no_spec_chooses)
{
    static const char *const orders[] = {
        "POCL_DEVICES=pthread basic", "POCL_DEVICES=basic pthread"};
    char line[DRIVERS_LINE], marked[20] = "";
    const char *const environment[] = {
        drivers_line(line, "two", DRIVER_POCL), orders[_i], NULL};
    const child_result list = child_run("list", environment, LIMIT_SECONDS);
    const child_result create = child_run("create", environment, LIMIT_SECONDS);
    ck_assert_msg(strstr(list.output, "count 2") != NULL, "%s", list.output);
    int defaults = 0;
    const char *row = strchr(list.output, '\n');
    for (size_t i = 0; i < 2; ++i) {
        ck_assert_ptr_nonnull(row);
        const char *end = strchr(row + 1, '\n');
        ck_assert_ptr_nonnull(end);
        if (end[-1] == '1') {
            ++defaults;
            snprintf(marked, sizeof marked, "index %zu, ", i);
        }
        row = end;
    }
    ck_assert_msg(
        defaults == 1, "%d defaults in the list:\n%s", defaults, list.output);
    ck_assert_msg(strstr(create.output, marked) != NULL, "%s, but %s",
        list.output, create.output);
}
END_TEST

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "list") == 0)
        return child_list();
    if (strcmp(mode, "create") == 0)
        return child_create();

    TCase *t = tcase_create("devices");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_set_timeout(t, 2 * LIMIT_SECONDS);
    tcase_add_loop_test(t, no_device_is_an_empty_list_and_an_error_with_a_hint,
        0, (int)NO_DEVICE_COUNT);
    tcase_add_loop_test(
        t, a_platform_without_devices_is_known_by_its_name, 0, 2);
    tcase_add_test(t, a_broken_driver_hides_no_working_one);
    tcase_add_loop_test(
        t, a_spec_chooses_the_device_it_names_or_none, 0, (int)COUNT(SPECS));
    tcase_add_loop_test(
        t, the_list_marks_the_device_that_no_spec_chooses, 0, 2);

    Suite *suite = suite_create("devices");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
