/* SPDX-License-Identifier: Apache-2.0
 *
 * planned.c - a kernel as the library would build it for a device that need not
 * exist: the planner's options, and the kernel's text with its includes put in.
 *
 *   planned KERNEL "PROBLEM" [group=ITEMS] [local=BYTES] [kernels=FOLDER]
 *
 *   PROBLEM  "attention B=1 Hq=8 ... kernel=items64", as attention_case_line
 *            writes it, or "linear rows=64 n_in=64 n_out=64 order=in-out
 *            kernel=tiled16"; the kernel names a row of the planner's table
 *   group    work-items of a group, at most
 *   local    bytes of local memory
 *   kernels  sources from there instead of the library's own
 *
 * Prints the work-items of a group and the options on the first line, and the
 * text from the second on.  Exit status 3, and the planner's sentence, where
 * the row does not take the problem there.
 */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_trial.h"
#include "linear_case.h"
#include "problem.h"
#include "source.h"
#include "subject.h"

enum {
    WRONG = 2,
    DECLINED = 3
};

/* A GPU of usual size, but for what the arguments say. */
typedef struct request {
    const char *kernel, *problem, *kernels;
    device_limits limits;
    char row[SUBJECT_ROW];
} request;

static int fail(int status, const char *sentence, const char *more)
{
    fprintf(stderr, "planned: %s%s\n", sentence, more);
    return status;
}

static void use_group(device_limits *limits, size_t items)
{
    limits->max_group = items;
    for (int i = 0; i < 3; ++i)
        limits->max_group_dim[i] = items;
}

static bool read_word(request *r, const char *word)
{
    size_t number;
    if (sscanf(word, "group=%zu", &number) == 1)
        use_group(&r->limits, number);
    else if (sscanf(word, "local=%zu", &number) == 1)
        r->limits.local_bytes = number;
    else if (strncmp(word, "kernels=", 8) == 0)
        r->kernels = word + 8;
    else
        return false;
    return true;
}

static bool read_request(request *r, int argc, char **argv)
{
    if (argc < 3)
        return false;
    *r = (request){.kernel = argv[1],
        .problem = argv[2],
        .kernels = "",
        .limits = {.max_groups = {0x7fffffff, 0xffff, 0xffff},
            .max_items = SIZE_MAX,
            .local_bytes = (size_t)48 << 10,
            .max_buffer_bytes = (size_t)2 << 30,
            .native_width = 1,
            .units = UNITS_IN_PTX | UNITS_IN_GCN | UNITS_IN_DPAS,
            .fused_adds = true}};
    use_group(&r->limits, 1024);
    for (int i = 3; i < argc; ++i)
        if (!read_word(r, argv[i]))
            return false;
    return true;
}

static int outcome(clattn_status status, const clattn_error *error)
{
    if (status == CLATTN_OK)
        return 0;
    return fail(
        status == CLATTN_UNSUPPORTED ? DECLINED : WRONG, error->message, "");
}

/* ---- Plans ---------------------------------------------------------------- */

/* Rows that nobody asks for by name are declined where they would spill; so a
   matrix unit's row is not asked for, all others are switched off. */
static void wish(
    row_wishes *wishes, char *disable, size_t room, const char *row)
{
    if (strncmp(row, "mma_", 4) != 0) {
        wishes->kernel = row;
        return;
    }
    size_t used = 0;
    for (size_t i = 0; i < N_KERNEL_ROWS && used < room; ++i)
        if (strcmp(KERNEL_ROWS[i].name, row) != 0)
            used += (size_t)snprintf(disable + used, room - used, "%s%s",
                used ? "," : "", KERNEL_ROWS[i].name);
    wishes->disable = disable;
}

static int plan_of_attention(proposal *p, request *r, const char *line)
{
    char disable[32 * MAX_ROWS];
    char why[ARENA_TEXT];
    attention_case c;
    attention_trial trial;
    clattn_attention problem;
    declined_rows declined = {.text = ""};
    clattn_error error = {0};
    if (!subject_parse(&c, r->row, line, why))
        return fail(WRONG, why, "");
    if (!attention_trial_create(&trial, &c))
        return fail(WRONG, "no memory for ", line);
    row_wishes wishes = {.kernel = NULL};
    wish(&wishes, disable, sizeof disable, r->row);
    clattn_status status =
        problem_attention(&problem, &trial.problem, false, false, &error);
    if (status == CLATTN_OK)
        status =
            plan_attention(p, &problem, &r->limits, &wishes, &declined, &error);
    attention_trial_destroy(&trial);
    return outcome(status, &error);
}

static int plan_of_linear(proposal *p, request *r, const char *line)
{
    char order[8];
    clattn_linear given, problem;
    declined_rows declined = {.text = ""};
    clattn_error error = {0};
    clattn_linear_init(&given, sizeof given);
    if (sscanf(line, "rows=%zu n_in=%zu n_out=%zu order=%7s kernel=%31s",
            &given.rows, &given.n_in, &given.n_out, order, r->row) != 5)
        return fail(WRONG, "this is no linear problem: ", line);
    given.dtype = CLATTN_F32;
    given.weight_order =
        strcmp(order, "in-out") == 0 ? CLATTN_IN_OUT : CLATTN_OUT_IN;
    clattn_status status = problem_linear(&problem, &given, false, &error);
    if (status == CLATTN_OK) {
        const matmul_job job = linear_job(&problem);
        const row_wishes wishes = {.kernel = r->row};
        status = plan_matmul(p, &job, &r->limits, &wishes, &declined, &error);
    }
    return outcome(status, &error);
}

static int plan_of(proposal *p, request *r)
{
    if (strncmp(r->problem, "attention ", 10) == 0)
        return plan_of_attention(p, r, r->problem + 10);
    if (strncmp(r->problem, "linear ", 7) == 0)
        return plan_of_linear(p, r, r->problem + 7);
    return fail(WRONG, "neither attention nor linear: ", r->problem);
}

/* ---- Printing ------------------------------------------------------------- */

static int print_kernel(const proposal *p, const request *r)
{
    clattn_error error = {0};
    char *text, file[64];
    size_t n = 0;
    while (n < p->n_needs && strcmp(p->need[n].name, r->kernel) != 0)
        ++n;
    if (n == p->n_needs)
        return fail(WRONG, "the plan has no kernel ", r->kernel);
    snprintf(file, sizeof file, "%s.cl", r->kernel);
    if (source_assemble(&text, file, r->kernels, &error) != CLATTN_OK)
        return fail(WRONG, error.message, "");
    printf("%zu %s\n%s", p->group_items[n], p->need[n].options, text);
    free(text);
    return 0;
}

int main(int argc, char **argv)
{
    request r;
    proposal p;
    if (!read_request(&r, argc, argv))
        return fail(WRONG, "what is wanted stands on top of planned.c", "");
    const int status = plan_of(&p, &r);
    return status ? status : print_kernel(&p, &r);
}
