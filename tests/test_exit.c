/* SPDX-License-Identifier: Apache-2.0
 *
 * test_exit.c - processes that end without having destroyed anything, and the
 * shared library loaded and let go by hand: nothing runs at exit that could
 * call a driver which is gone.
 */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "one_key.h"
#include "suite.h"

enum {
    FOR_EVER = 100000, /* seconds: what hangs is ended by ctest */
    FAILED = 2
};

/* ---- Nothing destroyed --------------------------------------------------- */

static clattn_context *ctx;
static clattn_plan *plan;

/* Static: they outlive main, as do contexts that nobody destroys. */
static bool use(void)
{
    clattn_attention problem;
    one_key_problem(&problem);
    return clattn_context_create(&ctx, NULL, NULL) == CLATTN_OK &&
           clattn_attention_plan(&plan, ctx, &problem, NULL) == CLATTN_OK &&
           one_key_works(ctx);
}

static int mode_returns(void)
{
    return use() ? 0 : FAILED;
}

/* The gate never opens, so that work is still waiting when main returns. */
static int mode_in_flight(void)
{
    if (!use())
        return FAILED;
    const cl_context cl = clattn_context_cl(ctx);
    cl_mem mem[4];
    cl_event event = NULL, gate = clCreateUserEvent(cl, NULL);
    cl_command_queue queue =
        clCreateCommandQueue(cl, clattn_context_device(ctx), 0, NULL);
    for (size_t i = 0; i < COUNT(mem); ++i)
        mem[i] = clCreateBuffer(cl, CL_MEM_READ_WRITE, 4, NULL, NULL);
    const clattn_attention_args args = {.struct_size = sizeof args,
        .out = {.mem = mem[0]},
        .q = {.mem = mem[1]},
        .k = {.mem = mem[2]},
        .v = {.mem = mem[3]}};
    const clattn_status status =
        clattn_attention_enqueue(plan, queue, &args, 1, &gate, &event, NULL);
    return status == CLATTN_OK ? 0 : FAILED;
}

/* The thread that used the library is gone, and the main thread ends first. */
static void *use_and_exit(void *unused)
{
    (void)unused;
    exit(use() ? 0 : FAILED);
}

static int mode_other_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, use_and_exit, NULL);
    pthread_exit(NULL);
}

/* ---- Loaded by hand ------------------------------------------------------ */

/* Of the shared library, not the one that this program is linked with. */
static struct {
    clattn_status (*create)(
        clattn_context **out, const char *spec, clattn_error *error);
    clattn_status (*host)(clattn_context *on, const clattn_attention *problem,
        const clattn_attention_args *args, clattn_error *error);
    void (*destroy)(clattn_context *of);
} loaded;

/* POSIX's way to make a function of what dlsym returns. */
static bool find(void *library, void *function, const char *name)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool loaded_works(bool destroys)
{
    const float q = 1, k = 2, v = 3;
    float out = 0;
    clattn_context *own = NULL;
    clattn_attention problem;
    one_key_problem(&problem);
    const clattn_attention_args args = {.struct_size = sizeof args,
        .out = {.host = &out},
        .q = {.host = &q},
        .k = {.host = &k},
        .v = {.host = &v}};
    if (loaded.create(&own, NULL, NULL) != CLATTN_OK ||
        loaded.host(own, &problem, &args, NULL) != CLATTN_OK)
        return false;
    if (destroys)
        loaded.destroy(own);
    return out == v;
}

/* Twice, in one process; the last context is left. */
static int mode_loads(void)
{
    for (int n = 0; n < 2; ++n) {
        void *library = dlopen(CLATTN_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (!library ||
            !find(library, &loaded.create, "clattn_context_create") ||
            !find(library, &loaded.host, "clattn_attention_host") ||
            !find(library, &loaded.destroy, "clattn_context_destroy")) {
            printf("%s\n", dlerror());
            return FAILED;
        }
        if (!loaded_works(n == 0) || dlclose(library) != 0)
            return FAILED;
    }
    return 0;
}

/* ---- Tests --------------------------------------------------------------- */

static const struct {
    const char *mode;
    int (*run)(void);
} MODES[] = {
    {"returns", mode_returns},
    {"in_flight", mode_in_flight},
    {"other_thread", mode_other_thread},
    {"loads", mode_loads},
};

START_TEST(a_process_ends_well)
{
    const char *const environment[] = {NULL};
    const child_result result =
        child_run(MODES[_i].mode, environment, FOR_EVER);
    ck_assert_msg(result.exit_code == 0 && result.output[0] == '\0',
        "%s: exit %d: %s", MODES[_i].mode, result.exit_code, result.output);
}
END_TEST

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < COUNT(MODES); ++i)
        if (strcmp(argv[1], MODES[i].mode) == 0)
            return MODES[i].run();

    TCase *t = tcase_create("exit");
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, a_process_ends_well, 0, (int)COUNT(MODES));

    Suite *suite = suite_create("exit");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
