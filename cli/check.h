/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h - what `clattn check` tries on a device, part by part, and the report
 * of what it found.
 */
#ifndef CLATTN_CLI_CHECK_H
#define CLATTN_CLI_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <clattn/clattn.h>

#include "attention_case.h"
#include "device_queues.h"
#include "failure.h"
#include "measure.h"
#include "kernel_facts.h"
#include "progress.h"

enum {
    CHECK_ROWS = 16,     /* of kernels */
    CHECK_FAILURES = 20, /* that are told in full; more are counted */
    CHECK_BUILDS = 6 * CHECK_ROWS,
    CHECK_TEXT = 1600,
    CHECK_ONNX = 3,
    CHECK_SPEED = 5
};

/* How much is tried. */
typedef struct check_extent {
    const char *name;
    size_t storages; /* of f32, f16, bf16, whose rows are built */
    size_t stride;   /* of each table every n-th case */
    bool all_rows;   /* on every case; else the planner's choice, and all rows
                          in turn where no program has to be built for it */
    size_t draws;    /* configurations, each with its own programs */
    size_t shapes;   /* of a configuration */
    size_t repeats;  /* of a shape that is prone to races */
    size_t tries;    /* at making a failing draw simpler */
    bench_effort effort;
} check_extent;

/* ---- The report ----------------------------------------------------------- */

/* A row's kernels in one storage. */
typedef struct check_build {
    const char *row, *operation, *storage;
    size_t count;
    kernel_facts kernel[PLAN_KERNELS];
    double plan_ms;    /* to decide and build */
    double first_ms;   /* of the first call, in which some drivers build on */
    char refused[504]; /* "" where it was built */
    bool failed;       /* refused by the compiler or the driver */
} check_build;

enum check_storage {
    CHECK_F32,
    CHECK_F16,
    CHECK_BF16,
    CHECK_MIXED,
    CHECK_STORAGES
};

enum check_table {
    CHECK_ATTENTION,
    CHECK_LINEAR,
    CHECK_LAYER,
    CHECK_DRAWS,
    CHECK_TABLES
};

/* What came of a table's cases on one row. */
typedef struct check_score {
    size_t right, wrong, refused;
    double share, error; /* the largest; see subject.h */
} check_score;

/* Of one row: shapes that are prone to races, again and again. */
typedef struct check_repeat {
    size_t shapes, runs, wrong, refused;
} check_repeat;

typedef struct check_onnx {
    const char *kernel; /* forced; NULL: none */
    size_t passed, failed, skipped;
} check_onnx;

typedef struct check_report {
    clattn_device device;
    const check_extent *extent;
    char day[16];
    uint64_t seed; /* of the draws */
    size_t cases[CHECK_TABLES];
    size_t n_builds;
    check_build build[CHECK_BUILDS];
    check_score score[CHECK_TABLES][CHECK_ROWS + 1][CHECK_STORAGES]; /* 0: the
                                  planner's choice; 1 + row as they are listed */
    check_repeat repeat[CHECK_ROWS];
    size_t n_onnx;
    check_onnx onnx[CHECK_ONNX];
    bench_case speed_case[CHECK_SPEED];
    bench_report speed;
    double bandwidth;   /* GB/s; 0: unknown */
    char no_speed[504]; /* why nothing was timed */
    size_t failed;      /* all of them */
    char failure[CHECK_FAILURES][CHECK_TEXT];
} check_report;

const char *check_storage_name(enum check_storage storage);
const char *check_table_name(enum check_table table);
/* "choice" for 0. */
const char *check_row_name(size_t row);
size_t check_rows(void); /* with the choice */

/* One thing is wrong: a sentence that is enough to look at it again. */
void check_fail(check_report *report, const char *format, ...) FAILURE_FORMAT;

/* Runs that were right, wrong and refused, over all parts. */
check_score check_total(const check_report *report);
/* The last sentence; returns whether nothing is wrong and something was tried. */
bool check_verdict(const check_report *report, char *text, size_t capacity);

void check_report_free(check_report *report);

/* ---- The parts ------------------------------------------------------------- */

typedef struct check_run {
    const device_queues *at;
    const check_extent *extent;
    const progress *shown;
    check_report *report;
} check_run;

/* Each goes on after what is wrong, which the report tells; false where memory
   is short or the device is gone. */
bool check_builds(const check_run *run, failure *f);
bool check_tables(const check_run *run, failure *f);
bool check_draws(const check_run *run, failure *f);
bool check_repeats(const check_run *run, failure *f);
bool check_onnx_cases(const check_run *run, const char *folder, failure *f);
void check_speed(const check_run *run);

/* One problem on a row, or, if that is "", on all: prints what comes of it;
   false if it is wrong. */
bool check_given(const device_queues *at, const attention_case *c,
    const char *row, failure *f);

/* ---- Printing ------------------------------------------------------------- */

bool check_print(
    FILE *to, bool markdown, const check_report *report, failure *f);
bool check_print_json(FILE *to, const check_report *report, failure *f);

#endif
