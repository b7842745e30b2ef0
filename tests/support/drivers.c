/* SPDX-License-Identifier: Apache-2.0
 *
 * drivers.c - folders of drivers for a loader to look in.
 */
#define _XOPEN_SOURCE 700
#include "drivers.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char POCL_ICD[] = "/etc/OpenCL/vendors/pocl.icd";

static void write_entry(const char *folder, const char *entry, const char *text)
{
    char path[SCRATCH_PATH], name[200];
    snprintf(name, sizeof name, "%s/%s", folder, entry);
    scratch_write(path, name, text, strlen(text));
}

const char *drivers_line(char *line, const char *name, unsigned which)
{
    char folder[SCRATCH_PATH];
    mkdir(scratch_path(folder, name), 0700);
    if (which & DRIVER_MISSING)
        write_entry(name, "a_missing.icd", "libno_such_driver.so.1\n");
    if (which & DRIVER_HOLLOW)
        write_entry(name, "b_hollow.icd", CLATTN_HOLLOW_DRIVER "\n");
    if (which & DRIVER_EMPTY)
        write_entry(name, "c_empty.icd", "");
    if (which & DRIVER_POCL) {
        size_t bytes = 0;
        char *entry = scratch_read(POCL_ICD, &bytes);
        ck_assert_msg(entry != NULL, "%s: these tests need PoCL", POCL_ICD);
        write_entry(name, "pocl.icd", entry);
        free(entry);
    }
    snprintf(line, DRIVERS_LINE, "OCL_ICD_VENDORS=%s", folder);
    return line;
}

#define NOT_FOUND "HOLLOW_DEVICES=-1"

const no_device NO_DEVICE[] = {
    {"a folder without drivers", "empty", 0, NOT_FOUND,
        {"empty: no driver is registered there"}},
    {"a driver whose library is missing", "missing", DRIVER_MISSING, NOT_FOUND,
        {"a_missing.icd: libno_such_driver.so.1"}},
    {"a driver that is not named", "nameless", DRIVER_EMPTY, NOT_FOUND,
        {"c_empty.icd: it names no library"}},
    {"a platform that finds no device", "hollow", DRIVER_HOLLOW, NOT_FOUND,
        {"Hollow?Platform: clGetDeviceIDs failed: CL_DEVICE_NOT_FOUND (-1)"}},
    {"a platform with a list of none", "none", DRIVER_HOLLOW,
        "HOLLOW_DEVICES=0", {"Hollow?Platform: it has no devices"}},
    {"a platform that fails", "fails", DRIVER_HOLLOW, "HOLLOW_DEVICES=-6",
        {"Hollow?Platform: clGetDeviceIDs failed: CL_OUT_OF_HOST_MEMORY (-6)"}},
    {"two that are broken", "both", DRIVER_HOLLOW | DRIVER_MISSING, NOT_FOUND,
        {"Hollow?Platform: clGetDeviceIDs failed",
            "a_missing.icd: libno_such_driver.so.1"}},
};
const size_t NO_DEVICE_COUNT = sizeof NO_DEVICE / sizeof NO_DEVICE[0];
