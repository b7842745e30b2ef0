/* SPDX-License-Identifier: Apache-2.0
 *
 * check_report.h - what `clattn check` tries on a device, part by part, and the
 * report of what it found.
 */
#ifndef CLATTN_CLI_CHECK_REPORT_H
#define CLATTN_CLI_CHECK_REPORT_H

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
    CHECK_ROWS = 32,     /* of kernels */
    CHECK_FAILURES = 20, /* that are told in full; more are counted */
    CHECK_BUILDS = 6 * CHECK_ROWS,
    CHECK_TEXT = 1600,
    CHECK_ONNX = 3,
    CHECK_TURN = 8,
    CHECK_REFUSALS = 60,
    CHECK_LIMITS = 400,
    CHECK_SPEED = 5
};

/* On which rows a case is run, beside the planner's choice. */
enum check_rows {
    CHECK_CHOICE,   /* on none */
    CHECK_ONE_MORE, /* one case in CHECK_TURN on the row whose turn it is, and
                       on all rows those that share programs */
    CHECK_ALL_ROWS
};

/* How much is tried.  A new program takes some drivers a second, so that is
   what most of this limits. */
typedef struct check_extent {
    const char *name;
    size_t all_builds;     /* all rows are built in so many storages ... */
    size_t storages;       /* ... and in so many the first of each family
                              that the device takes */
    enum check_rows rows;  /* of tables and draws */
    size_t stride;         /* of each table every n-th case */
    size_t configurations; /* of draws, each with its own programs */
    size_t shapes;         /* of a configuration */
    size_t races;          /* shapes that are prone to them */
    size_t repeats;        /* of each of these */
    size_t tries;          /* at making a failing draw simpler */
    double seconds;        /* after which a part leaves out what is left of it;
                              0: none */
    bench_effort effort;
} check_extent;

/* ---- The report --------------------------------------------------------- */

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

/* Parts that have so much time: the tables, and what comes after them. */
enum {
    CHECK_REPEATS = CHECK_TABLES,
    CHECK_ONNX_CASES,
    CHECK_PARTS
};

/* What came of a table's cases on one row. */
typedef struct check_score {
    size_t right, wrong, refused;
    double share, error; /* the largest; see subject.h */
} check_score;

/* Why a row did not take cases. */
typedef struct check_refusal {
    size_t row, times;
    char reason[200];
} check_refusal;

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
    uint64_t seed;             /* of the draws */
    char limits[CHECK_LIMITS]; /* "CLATTN_KERNEL=..."; "": none */
    size_t n_builds;
    check_build build[CHECK_BUILDS];
    /* Row 0 is the planner's choice, 1 + n the library's row n. */
    check_score score[CHECK_TABLES][CHECK_ROWS + 1][CHECK_STORAGES];
    check_repeat repeat[CHECK_ROWS];
    size_t left_out[CHECK_PARTS];      /* cases for which there was no time */
    size_t n_refusals, other_refusals; /* those beyond the list */
    check_refusal refusal[CHECK_REFUSALS];
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
const char *check_part_name(size_t part);
/* "choice" for 0. */
const char *check_row_name(size_t row);
size_t check_row_count(void); /* with the choice */

/* Whether this extent builds a row in a storage, beside what is built.  Of rows
   that are shaped for other devices, `foreign`, one of a family is enough unless
   cases are run on all rows: some drivers take seconds to build them. */
bool check_wants_row(const check_report *report, size_t row,
    enum check_storage storage, bool foreign);
/* Whether a row was built, in f32 and for attention. */
bool check_is_built(const check_report *report, size_t row);

/* What a refusal says, without what all say. */
const char *check_reason(const char *why);

/* One thing is wrong: a sentence that is enough to look at it again. */
void check_fail(check_report *report, const char *format, ...) FAILURE_FORMAT;

/* A row did not take a case. */
void check_refuse(check_report *report, size_t row, const char *why);

/* Runs that were right, wrong and refused, over all parts. */
check_score check_total(const check_report *report);
/* The last sentence; whether nothing is wrong and something was tried. */
bool check_verdict(const check_report *report, char *text, size_t capacity);

void check_report_free(check_report *report);

/* ---- The parts ---------------------------------------------------------- */

typedef struct check_run {
    const device_queues *at;
    const check_extent *extent;
    const progress *shown;
    check_report *report;
} check_run;

/* Whether a part that began at `begin_ms` has time for one more case; else that
   is left out. */
bool check_has_time(const check_run *run, size_t part, double begin_ms);

/* Which kernels the environment forces or keeps out, for the report; false if it
   names one that there is not. */
bool check_limits(check_report *report, clattn_context *ctx, failure *f);

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

/* ---- Printing ----------------------------------------------------------- */

bool check_print(
    FILE *to, bool markdown, const check_report *report, failure *f);
bool check_print_json(FILE *to, const check_report *report, failure *f);

#endif
