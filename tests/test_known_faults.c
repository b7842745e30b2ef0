/* SPDX-License-Identifier: Apache-2.0
 *
 * test_known_faults.c - faults of devices that no query tells: known by the
 * names of platform and device together, told to the user, and heeded.
 */
#include <string.h>

#include "context.h"
#include "fake_opencl.h"
#include "suite.h"

static const struct {
    const char *platform, *name;
    size_t max_iterations;
    bool user_events;
    const char *note;
} DEVICES[] = {
    {"rusticl", "llvmpipe (LLVM 15)", 65535, true, "65,535 passes"},
    {"Portable Computing Language", "basic-x86", 0, false,
        "clSetUserEventStatus does not return"},
    {"Portable Computing Language", "pthread-x86", 0, true, ""},
    {"another", "basic-x86", 0, true, ""},
    {"rusticl", "a GPU", 0, true, ""},
};

START_TEST(a_fault_is_known_by_platform_and_name)
{
    clattn_device device = {.struct_size = sizeof device};
    clattn_context *ctx = NULL;
    FAKE_DEVICE = fake_cpu();
    FAKE_DEVICE.platform = DEVICES[_i].platform;
    FAKE_DEVICE.name = DEVICES[_i].name;
    ck_assert_int_eq(clattn_device_get(&device, 0, NULL), CLATTN_OK);
    ck_assert_msg(strstr(device.note, DEVICES[_i].note) != NULL, "%s: %s",
        device.name, device.note);
    ck_assert_int_eq(device.note[0] == '\0', DEVICES[_i].note[0] == '\0');
    ck_assert_int_eq(clattn_context_create(&ctx, "0", NULL), CLATTN_OK);
    ck_assert_uint_eq(ctx->limits.max_iterations, DEVICES[_i].max_iterations);
    ck_assert_int_eq(ctx->limits.user_events, DEVICES[_i].user_events);
    clattn_context_destroy(ctx);
    ck_assert_uint_eq(fake_live(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("known faults");
    TCase *faults = tcase_create("faults");
    tcase_add_loop_test(
        faults, a_fault_is_known_by_platform_and_name, 0, (int)COUNT(DEVICES));
    suite_add_tcase(suite, faults);
    return suite_main(suite, 0);
}
