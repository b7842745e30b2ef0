/* SPDX-License-Identifier: Apache-2.0
 *
 * system.h - what the library asks of the operating system: environment,
 * process, locks, files, standard error.  The rest is in folder.h.
 */
#ifndef CLATTN_HOST_SYSTEM_H
#define CLATTN_HOST_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MOST_IGNORED = 8 /* variables, of those that may be */
};

/* The library's whole environment, read at once. */
typedef struct environment {
    char device[256];     /* CLATTN_DEVICE: a device spec */
    char kernel[64];      /* CLATTN_KERNEL: row or path to take */
    char disable[256];    /* CLATTN_DISABLE: rows or paths not to take */
    char kernel_dir[512]; /* CLATTN_KERNEL_DIR: sources instead of ours */
    char vendors[1024];   /* where the loader finds drivers; see below */
    char cache_dir[1024]; /* where built programs are kept; empty: nowhere */
    uint64_t cache_limit; /* CLATTN_CACHE_LIMIT, in bytes */
    bool verbose;         /* CLATTN_VERBOSE: set, and neither empty nor 0 */
    uint64_t launch_work; /* CLATTN_TUNING launch_work=N; 0: not given */
    bool emulates;        /* CLATTN_TUNING emulate_units=1: for tests */
    size_t ignored_count; /* variables whose value makes no sense: a sentence */
    char ignored[MOST_IGNORED][200]; /* with name, value and what is allowed */
} environment;

/*
 * What is unset, or too long for its field, is empty; nothing is read in a
 * set-user-id process.  A CLATTN_TUNING, CLATTN_CACHE or CLATTN_CACHE_LIMIT that
 * makes no sense is ignored, and so is what is too long.  Built programs are kept in $XDG_CACHE_HOME/clattn, or
 * $HOME/.cache/clattn if that is unset or empty; nowhere if it is no absolute
 * path, if CLATTN_CACHE is 0 or if the limit is.  Drivers are found by
 * OCL_ICD_VENDORS, else OPENCL_VENDOR_PATH, else in /etc/OpenCL/vendors: what the
 * loader reads, for messages.
 */
void environment_read(environment *env);

/* Whether this processor has an instruction for a b + c, and Intel's runtime is
   not told to compile for one that has none. */
bool system_has_fused_adds(void);

typedef struct system_lock system_lock;
system_lock *system_lock_create(void); /* NULL: no memory */
void system_lock_destroy(system_lock *lock);
void system_lock_take(system_lock *lock);
void system_lock_release(system_lock *lock);

/* The text of a file with a final 0; NULL, with errno, if it cannot be read.
   The caller frees it. */
char *system_read_file(const char *directory, const char *name);

/* One line on standard error. */
void system_print_line(const char *text);

#endif
