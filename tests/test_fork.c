/* SPDX-License-Identifier: Apache-2.0
 *
 * test_fork.c - a child of a process that used the library: every call refuses
 * or lets go without a call of OpenCL, whose locks may be held by threads that
 * the child has not.  Each case is a process of its own.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "one_key.h"
#include "operation.h"
#include "scratch.h"
#include "shim.h"
#include "suite.h"

enum {
    FOR_EVER = 100000, /* seconds: what hangs is ended by ctest */
    WRONG = 2,         /* exit codes */
    NOT_READY = 3
};

/* ---- What a parent has --------------------------------------------------- */

enum {
    OPERATIONS = 3
};

static struct {
    clattn_context *ctx;
    cl_command_queue queue;
    attention_trial attention;
    linear_trial linear;
    layer_trial layer;
    operation op[OPERATIONS];
    clattn_plan *plan[OPERATIONS];
} parent;

static const attention_case SLOPES = {"a plan with a buffer of its own",
    {2, 4, 2, 7, 9, 9, 9}, .diagonal = CLATTN_TOP_LEFT, .alibi = true};

static bool parent_create(void)
{
    const linear_case linear = linear_case_at(0);
    const layer_case layer = layer_case_at(0);
    clattn_context_create(&parent.ctx, NULL, NULL);
    parent.queue = clCreateCommandQueue(clattn_context_cl(parent.ctx),
        clattn_context_device(parent.ctx), 0, NULL);
    if (!parent.queue || !attention_trial_create(&parent.attention, &SLOPES) ||
        !linear_trial_create(&parent.linear, &linear) ||
        !layer_trial_create(&parent.layer, &layer))
        return false;
    parent.op[0] = operation_attention(&parent.attention);
    parent.op[1] = operation_linear(&parent.linear);
    parent.op[2] = operation_layer(&parent.layer);
    bool all = true;
    for (size_t i = 0; i < OPERATIONS; ++i)
        all = all && parent.op[i].plan(&parent.plan[i], parent.ctx,
                         parent.op[i].trial, NULL) == CLATTN_OK;
    return all && one_key_works(parent.ctx);
}

static void parent_destroy(void)
{
    for (size_t i = 0; i < OPERATIONS; ++i)
        clattn_plan_destroy(parent.plan[i]);
    clReleaseCommandQueue(parent.queue);
    clattn_context_destroy(parent.ctx);
    layer_trial_destroy(&parent.layer);
    linear_trial_destroy(&parent.linear);
    attention_trial_destroy(&parent.attention);
}

/* Whether `deed` returns true in a child. */
static bool in_child(bool (*deed)(void))
{
    fflush(stdout);
    const pid_t forked = fork();
    if (forked == 0) {
        const bool done = deed();
        fflush(stdout);
        _exit(done ? 0 : WRONG);
    }
    int state = 0;
    waitpid(forked, &state, 0);
    return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

/* ---- After use ------------------------------------------------------------- */

static bool refuses(
    const char *what, clattn_status status, const clattn_error *error)
{
    const bool said = status == CLATTN_FORKED &&
                      error->status == CLATTN_FORKED &&
                      strstr(error->message, "fork") != NULL;
    if (!said)
        printf("%s: status %d, %s\n", what, (int)status, error->message);
    return said;
}

static bool operation_refuses(size_t i)
{
    const operation *op = &parent.op[i];
    clattn_error e;
    clattn_plan *plan = NULL;
    bool all = refuses("plan", op->plan(&plan, parent.ctx, op->trial, &e), &e);
    all &= refuses("host", op->host(parent.ctx, op->trial, &e), &e);
    all &= refuses("enqueue",
        op->enqueue(parent.plan[i], parent.queue, op->trial, NULL,
            (clattn_output){.mem = NULL}, NULL, NULL, &e),
        &e);
    return all && plan == NULL;
}

static bool contexts_refuse(void)
{
    clattn_error e;
    clattn_context *ctx = NULL;
    clattn_device device = {.struct_size = sizeof device};
    size_t count = 7;
    bool all = refuses("count", clattn_device_count(&count, &e), &e);
    all &= refuses("get", clattn_device_get(&device, 0, &e), &e);
    all &= refuses("create", clattn_context_create(&ctx, NULL, &e), &e);
    all &= refuses("create from cl",
        clattn_context_create_from_cl(&ctx, clattn_context_cl(parent.ctx),
            clattn_context_device(parent.ctx), &e),
        &e);
    return all && ctx == NULL && count == 7;
}

static bool supported_refuses(void)
{
    clattn_error e;
    bool all = refuses("attention",
        clattn_attention_supported(parent.ctx, &parent.attention.problem, &e),
        &e);
    all &= refuses("linear",
        clattn_linear_supported(parent.ctx, &parent.linear.problem, &e), &e);
    return all &
           refuses("layer",
               clattn_layer_supported(parent.ctx, &parent.layer.problem, &e),
               &e);
}

static size_t opencl_calls(void)
{
    size_t calls = 0;
    for (int i = 0; i < SHIM_POINTS; ++i)
        if (shim_is_opencl((enum shim_point)i))
            calls += shim_calls((enum shim_point)i);
    return calls;
}

/* All that a child may try, then letting go: plans first, or the context. */
static bool child_tries_all(bool context_first)
{
    shim_arm(SHIM_malloc, 0, 0);
    bool all = contexts_refuse() && supported_refuses();
    for (size_t i = 0; i < OPERATIONS; ++i)
        all = operation_refuses(i) && all;
    if (clattn_context_build_log(parent.ctx, NULL, 0) != 0) {
        printf("a log where none can be read\n");
        all = false;
    }
    if (context_first)
        clattn_context_destroy(parent.ctx);
    for (size_t i = 0; i < OPERATIONS; ++i)
        clattn_plan_destroy(parent.plan[i]);
    if (!context_first)
        clattn_context_destroy(parent.ctx);
    if (opencl_calls() > 0) {
        printf("%zu calls of OpenCL\n", opencl_calls());
        all = false;
    }
    return all;
}

static bool child_plans_first(void)
{
    return child_tries_all(false);
}

static bool child_context_first(void)
{
    return child_tries_all(true);
}

/* The judge needs no OpenCL. */
static bool child_refers(void)
{
    const attention_trial *trial = &parent.attention;
    const clattn_attention_args args = attention_trial_args(trial, NULL);
    return clattn_attention_reference(&trial->problem, &args, NULL) ==
           CLATTN_OK;
}

static bool grandchild_is_refused_too(void)
{
    return in_child(child_plans_first) && in_child(child_context_first);
}

static int mode_after(void)
{
    if (!parent_create())
        return NOT_READY;
    bool all = in_child(child_plans_first);
    all = in_child(child_context_first) && all;
    all = in_child(child_refers) && all;
    all = in_child(grandchild_is_refused_too) && all;
    all = one_key_works(parent.ctx) && all; /* unharmed */
    parent_destroy();
    return all ? 0 : WRONG;
}

/* ---- While others are at work ---------------------------------------------- */

enum {
    THREADS = 4,
    FORKS = 30
};

static atomic_bool enough, wrong;

static void *keep_working(void *unused)
{
    (void)unused;
    while (!atomic_load(&enough))
        if (!one_key_works(parent.ctx))
            atomic_store(&wrong, true);
    return NULL;
}

static int mode_busy(void)
{
    pthread_t thread[THREADS];
    bool all = parent_create();
    if (!all)
        return NOT_READY;
    for (size_t i = 0; i < THREADS; ++i)
        pthread_create(&thread[i], NULL, keep_working, NULL);
    for (size_t i = 0; i < FORKS; ++i)
        all = in_child(i % 2 ? child_plans_first : child_context_first) && all;
    atomic_store(&enough, true);
    for (size_t i = 0; i < THREADS; ++i)
        pthread_join(thread[i], NULL);
    parent_destroy();
    return all && !atomic_load(&wrong) ? 0 : WRONG;
}

/* A build reads its source from a file that another thread holds back, and so
   is under way for as long as the test wants. */
static void *build(void *unused)
{
    clattn_plan *plan = NULL;
    clattn_attention problem;
    (void)unused;
    one_key_problem(&problem);
    problem.kernel = "tiled1"; /* no row is surer to be there */
    clattn_attention_plan(&plan, parent.ctx, &problem, NULL);
    clattn_plan_destroy(plan);
    return NULL;
}

static bool child_reads_the_log(void)
{
    clattn_error e;
    const size_t bytes = clattn_context_build_log(parent.ctx, NULL, 0);
    const bool refused = refuses(
        "supported", clattn_attention_supported(parent.ctx, NULL, &e), &e);
    clattn_context_destroy(parent.ctx);
    return bytes == 0 && refused;
}

static int mode_building(void)
{
    pthread_t thread;
    char path[1100];
    snprintf(path, sizeof path, "%s/matmul.cl", getenv("CLATTN_KERNEL_DIR"));
    if (mkfifo(path, 0600) != 0 ||
        clattn_context_create(&parent.ctx, NULL, NULL) != CLATTN_OK)
        return NOT_READY;
    pthread_create(&thread, NULL, build, NULL);
    FILE *source = fopen(path, "w"); /* returns once the other end is open */
    const bool all = in_child(child_reads_the_log);
    fclose(source);
    pthread_join(thread, NULL);
    clattn_context_destroy(parent.ctx);
    return all ? 0 : WRONG;
}

/* ---- Before use ------------------------------------------------------------ */

static bool fresh_context_works(void)
{
    clattn_context *ctx = NULL;
    clattn_context_create(&ctx, NULL, NULL);
    const bool works = ctx != NULL && one_key_works(ctx);
    clattn_context_destroy(ctx);
    return works;
}

/* What asks nothing of OpenCL is no use. */
static int mode_before(void)
{
    clattn_attention problem;
    one_key_problem(&problem);
    clattn_attention_plan(NULL, NULL, &problem, NULL);
    clattn_context_create(NULL, NULL, NULL);
    clattn_context_destroy(NULL);
    bool all = in_child(fresh_context_works) && in_child(fresh_context_works);
    all = fresh_context_works() && all;
    return all ? 0 : WRONG;
}

/* ---- Tests ----------------------------------------------------------------- */

static const struct {
    const char *mode;
    int (*run)(void);
} MODES[] = {
    {"after", mode_after},
    {"busy", mode_busy},
    {"building", mode_building},
    {"before", mode_before},
};

START_TEST(a_child_is_refused_in_time_and_the_parent_goes_on)
{
    char folder[SCRATCH_PATH], variable[SCRATCH_PATH + 30];
    const bool holds_back = strcmp(MODES[_i].mode, "building") == 0;
    snprintf(variable, sizeof variable, "CLATTN_KERNEL_DIR=%s",
        scratch_path(folder, "kernels"));
    mkdir(folder, 0700);
    const char *const environment[] = {holds_back ? variable : NULL, NULL};
    const child_result result =
        child_run(MODES[_i].mode, environment, FOR_EVER);
    ck_assert_msg(result.exit_code == 0, "%s: exit %d: %s", MODES[_i].mode,
        result.exit_code, result.output);
}
END_TEST

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < COUNT(MODES); ++i)
        if (strcmp(argv[1], MODES[i].mode) == 0)
            return MODES[i].run();

    TCase *t = tcase_create("fork");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, a_child_is_refused_in_time_and_the_parent_goes_on, 0,
        (int)COUNT(MODES));

    Suite *suite = suite_create("fork");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
