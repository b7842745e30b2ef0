/* SPDX-License-Identifier: Apache-2.0
 *
 * test_environment.c - where the environment puts the program cache, and how
 * large it lets it become.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "system.h"

static const char *const VARIABLES[] = {
    "XDG_CACHE_HOME", "HOME", "CLATTN_CACHE", "CLATTN_CACHE_LIMIT"};

/* NULL: unset. */
static void set_variables(const char *const value[COUNT(VARIABLES)])
{
    for (size_t i = 0; i < COUNT(VARIABLES); ++i) {
        unsetenv(VARIABLES[i]);
        if (value[i] != NULL)
            setenv(VARIABLES[i], value[i], 1);
    }
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

static const struct {
    const char *tuning;
    uint64_t work;
} TUNINGS[] = {
    {"", 0},
    {"launch_work=7", 7},
    {"launch_work=7,other=1", 7},
    {"other=1,launch_work=7", 7},
    {"launch_work=7x", 0},
    {"launch_work=7 ", 0},
    {"launch_work=", 0},
    {"launch_work=,other=1", 0},
    {"launch_work=-7", 0},
    {"launch_works=7", 0},
    {"other_launch_work=7", 0},
};

START_TEST(a_tuning_is_a_whole_number_or_none)
{
    environment env;
    setenv("CLATTN_TUNING", TUNINGS[_i].tuning, 1);
    environment_read(&env);
    unsetenv("CLATTN_TUNING");
    ck_assert_msg(env.launch_work == TUNINGS[_i].work, "'%s': %" PRIu64,
        TUNINGS[_i].tuning, env.launch_work);
}
END_TEST

/* ---- What is ignored, and told under CLATTN_VERBOSE ---------------------- */

static char too_long[300]; /* filled with x */

static const struct {
    const char *name, *value;
    const char *words; /* NULL: not ignored */
} IGNORED[] = {
    {"CLATTN_CACHE", "", NULL},
    {"CLATTN_CACHE", "0", NULL},
    {"CLATTN_CACHE", "1", NULL},
    {"CLATTN_CACHE", "off", "CLATTN_CACHE is 'off', which is ignored: only 0"},
    {"CLATTN_CACHE", "00000000000000000000", "only 0, no program cache"},
    {"CLATTN_CACHE_LIMIT", "", NULL},
    {"CLATTN_CACHE_LIMIT", "0", NULL},
    {"CLATTN_CACHE_LIMIT", "10", NULL},
    {"CLATTN_CACHE_LIMIT", "1G", "CLATTN_CACHE_LIMIT is '1G'"},
    {"CLATTN_CACHE_LIMIT", "-1", "only a whole number of MiB is allowed"},
    {"CLATTN_CACHE_LIMIT", "17592186044416", "is '17592186044416'"},
    {"CLATTN_TUNING", "", NULL},
    {"CLATTN_TUNING", "launch_work=7", NULL},
    {"CLATTN_TUNING", "launch_work=0", "N a whole number from 1 up"},
    {"CLATTN_TUNING", "launch_work=7,x=1", "only launch_work=N is allowed"},
    {"CLATTN_TUNING", "fast", "CLATTN_TUNING is 'fast'"},
    {"CLATTN_KERNEL", too_long, "it may have at most 63 bytes"},
    {"CLATTN_DISABLE", too_long, "it may have at most 255 bytes"},
    {"CLATTN_DEVICE", too_long, "CLATTN_DEVICE is 'xxx"},
};

START_TEST(values_without_effect_are_told_with_what_is_allowed)
{
    environment env;
    memset(too_long, 'x', sizeof too_long - 1);
    setenv(IGNORED[_i].name, IGNORED[_i].value, 1);
    environment_read(&env);
    unsetenv(IGNORED[_i].name);
    ck_assert_msg(env.ignored_count == (IGNORED[_i].words != NULL),
        "%s=%s: %zu sentences", IGNORED[_i].name, IGNORED[_i].value,
        env.ignored_count);
    if (IGNORED[_i].words)
        ck_assert_msg(strstr(env.ignored[0], IGNORED[_i].words) != NULL,
            "%s=%s: %s", IGNORED[_i].name, IGNORED[_i].value, env.ignored[0]);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("environment");
    tcase_add_loop_test(
        t, the_cache_is_where_the_desktop_wants_it, 0, (int)COUNT(PLACES));
    tcase_add_test(t, a_path_that_is_too_long_is_nowhere);
    tcase_add_loop_test(t, the_limit_is_a_whole_number_of_mib_or_the_default, 0,
        (int)COUNT(LIMITS));
    tcase_add_loop_test(
        t, a_tuning_is_a_whole_number_or_none, 0, (int)COUNT(TUNINGS));

    tcase_add_loop_test(t, values_without_effect_are_told_with_what_is_allowed,
        0, (int)COUNT(IGNORED));

    Suite *suite = suite_create("environment");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
