/* SPDX-License-Identifier: Apache-2.0
 *
 * test_environment.c - where the environment puts the program cache, how large
 * it lets it become, and that a set-user-id process hears nothing of it.
 */
#define _GNU_SOURCE /* getauxval's AT_SECURE */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.h"
#include "suite.h"
#include "system.h"

static const char *const VARIABLES[] = {"XDG_CACHE_HOME", "HOME",
    "CLATTN_CACHE", "CLATTN_CACHE_LIMIT", "CLATTN_DEVICE", "CLATTN_KERNEL",
    "CLATTN_DISABLE", "CLATTN_KERNEL_DIR", "CLATTN_VERBOSE", "CLATTN_TUNING"};

/* The first four; NULL: unset. */
static void set_variables(const char *const value[4])
{
    for (size_t i = 0; i < COUNT(VARIABLES); ++i)
        unsetenv(VARIABLES[i]);
    for (size_t i = 0; i < 4; ++i)
        if (value[i] != NULL)
            setenv(VARIABLES[i], value[i], 1);
}

/* ---- Where --------------------------------------------------------------- */

static const struct {
    const char *xdg, *home, *cache, *directory;
} PLACES[] = {
    {"/x", "/h", NULL, "/x/clattn"},
    {"/x y/\xc3\xa4", NULL, NULL, "/x y/\xc3\xa4/clattn"},
    {NULL, "/h", NULL, "/h/.cache/clattn"},
    {"", "/h", NULL, "/h/.cache/clattn"},
    {NULL, NULL, NULL, ""},
    {NULL, "", NULL, ""},
    {"", "", NULL, ""},
    {"relative", "/h", NULL, ""},
    {".", "/h", NULL, ""},
    {NULL, "relative", NULL, ""},
    {NULL, "~", NULL, ""},
    {"/x", "/h", "0", ""},
    {NULL, "/h", "0", ""},
    {"/x", "/h", "1", "/x/clattn"},
    {"/x", "/h", "", "/x/clattn"},
};

START_TEST(the_cache_is_where_the_desktop_wants_it)
{
    environment env;
    set_variables((const char *const[]){
        PLACES[_i].xdg, PLACES[_i].home, PLACES[_i].cache, NULL});
    environment_read(&env);
    ck_assert_msg(strcmp(env.cache_dir, PLACES[_i].directory) == 0,
        "row %d: '%s', not '%s'", _i, env.cache_dir, PLACES[_i].directory);
}
END_TEST

/* Neither cut, nor put in another place than the one named. */
START_TEST(a_path_that_is_too_long_is_nowhere)
{
    char base[1200];
    environment env;
    memset(base, 'x', sizeof base);
    base[0] = '/';
    const size_t longest = sizeof env.cache_dir - sizeof "/clattn";
    base[longest] = '\0';
    set_variables((const char *const[]){base, "/h", NULL, NULL});
    environment_read(&env);
    ck_assert_uint_eq(strlen(env.cache_dir), sizeof env.cache_dir - 1);
    base[longest] = 'x';
    base[longest + 1] = '\0';
    set_variables((const char *const[]){base, "/h", NULL, NULL});
    environment_read(&env);
    ck_assert_str_eq(env.cache_dir, "");
}
END_TEST

/* ---- How large ----------------------------------------------------------- */

static const struct {
    const char *limit;
    uint64_t mib; /* 0: no cache */
} LIMITS[] = {
    {NULL, 256},
    {"1", 1},
    {"1000", 1000},
    {"17592186044415", 17592186044415u},
    {"0", 0},
    {"000", 0},
    {"", 256},
    {"17592186044416", 256},
    {"99999999999999999999999999", 256},
    {"-1", 256},
    {" 1", 256},
    {"1 ", 256},
    {"1M", 256},
    {"0x10", 256},
    {"1e3", 256},
    {"much", 256},
};

START_TEST(the_limit_is_a_whole_number_of_mib_or_the_default)
{
    environment env;
    set_variables((const char *const[]){"/x", NULL, NULL, LIMITS[_i].limit});
    environment_read(&env);
    ck_assert_msg(env.cache_limit == LIMITS[_i].mib << 20,
        "'%s': %" PRIu64 " bytes", LIMITS[_i].limit ? LIMITS[_i].limit : "",
        env.cache_limit);
    ck_assert_str_eq(env.cache_dir, LIMITS[_i].mib > 0 ? "/x/clattn" : "");
}
END_TEST

/* ---- Set-user-id --------------------------------------------------------- */

/* In a child that runs with another user's rights: 0 if it heard nothing. */
static int child_secure(void)
{
    environment env, silence;
    if (!getauxval(AT_SECURE))
        return 77;
    memset(&env, 0, sizeof env);
    memset(&silence, 0, sizeof silence);
    environment_read(&env);
    return env.device[0] || env.kernel[0] || env.disable[0] ||
           env.kernel_dir[0] || env.cache_dir[0] || env.verbose ||
           env.launch_work || env.cache_limit != (uint64_t)256 << 20;
}

/* A copy of this program that takes another user's rights. */
static void copy_set_user_id(char path[SCRATCH_PATH])
{
    enum {
        NOBODY = 65534
    };
    size_t bytes = 0;
    char *program = NULL, folder[SCRATCH_PATH], self[SCRATCH_PATH] = "";
    ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    program = scratch_read(self, &bytes);
    ck_assert_ptr_nonnull(program);
    scratch_write(path, "set_user_id", program, bytes);
    free(program);
    ck_assert_int_eq(chmod(scratch_path(folder, ""), 0755), 0);
    ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
    ck_assert_int_eq(chmod(path, 04755), 0);
}

START_TEST(a_set_user_id_process_hears_nothing)
{
    char path[SCRATCH_PATH], mode[] = "secure";
    int state = 0;
    if (geteuid() != 0) {
        fprintf(stderr, "NOT RUN: needs the superuser\n");
        return;
    }
    copy_set_user_id(path);
    for (size_t i = 0; i < COUNT(VARIABLES); ++i)
        setenv(VARIABLES[i], i == 3 ? "5" : "/1", 1);
    setenv("CLATTN_TUNING", "launch_work=5", 1);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        char *const arguments[] = {path, mode, NULL};
        execv(path, arguments);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert(WIFEXITED(state));
    if (WEXITSTATUS(state) == 77)
        fprintf(stderr, "NOT RUN: needs a folder without nosuid\n");
    else
        ck_assert_int_eq(WEXITSTATUS(state), 0);
}
END_TEST

/* The same variables are heard by a process that is not. */
START_TEST(another_process_hears_them)
{
    environment env;
    for (size_t i = 0; i < COUNT(VARIABLES); ++i)
        setenv(VARIABLES[i], i == 3 ? "5" : "/1", 1);
    setenv("CLATTN_TUNING", "launch_work=5", 1);
    environment_read(&env);
    ck_assert(env.device[0] && env.kernel[0] && env.disable[0] &&
              env.kernel_dir[0] && env.cache_dir[0] && env.verbose &&
              env.launch_work == 5 && env.cache_limit == (uint64_t)5 << 20);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "secure") == 0)
        _exit(child_secure()); /* a leak checker may not look at it */

    TCase *t = tcase_create("environment");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_add_loop_test(
        t, the_cache_is_where_the_desktop_wants_it, 0, (int)COUNT(PLACES));
    tcase_add_test(t, a_path_that_is_too_long_is_nowhere);
    tcase_add_loop_test(t, the_limit_is_a_whole_number_of_mib_or_the_default, 0,
        (int)COUNT(LIMITS));
    tcase_add_test(t, a_set_user_id_process_hears_nothing);
    tcase_add_test(t, another_process_hears_them);

    Suite *suite = suite_create("environment");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
