/* SPDX-License-Identifier: Apache-2.0
 *
 * drivers.h - folders of drivers for a loader to look in, and the machines
 * without a device that can be made of them.
 */
#ifndef CLATTN_TESTS_DRIVERS_H
#define CLATTN_TESTS_DRIVERS_H

#include "scratch.h"

enum {
    DRIVER_POCL = 1,
    DRIVER_MISSING = 2, /* an entry whose library is not there */
    DRIVER_HOLLOW = 4,  /* a platform without devices, of tests/hollow */
    DRIVER_EMPTY = 8,   /* an entry that names no library */
    DRIVERS_LINE = SCRATCH_PATH + 30
};

/* "OCL_ICD_VENDORS=<folder of the scratch folder>", with entries for `which`.
   line holds DRIVERS_LINE bytes; returns it. */
const char *drivers_line(char *line, const char *name, unsigned which);

/* A machine that has none. */
typedef struct no_device {
    const char *about, *folder; /* a name of its own */
    unsigned drivers;
    const char *devices;  /* "HOLLOW_DEVICES=code" */
    const char *words[3]; /* what is said of it; ends with NULL */
} no_device;

extern const no_device NO_DEVICE[];
extern const size_t NO_DEVICE_COUNT;

#endif
