/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cache_limit.c - how much is kept, what goes first, and what is left
 * alone.
 */
#define _XOPEN_SOURCE 700

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "kept.h"
#include "suite.h"

static const char *const KEYS[] = {"a", "b", "c", "d", "e"};

enum {
    BYTES = 5000,
    EACH = 1000, /* bytes of data; the key has one */
    WHOLE = KEPT_HEADER + 1 + EACH
};

static unsigned char DATA[BYTES];

static void fill_data(void)
{
    for (size_t i = 0; i < BYTES; ++i)
        DATA[i] = (unsigned char)(i * i >> 3);
}

/* Four files, used in the order b, d, a, c. */
static void open_four(kept *k, const char *name)
{
    static const long used[] = {3000, 1000, 4000, 2000};
    fill_data();
    kept_open(k, name);
    k->c.limit_bytes = 4 * WHOLE;
    for (size_t i = 0; i < 4; ++i) {
        kept_store(k, KEYS[i], DATA + i, EACH);
        kept_use(k, KEYS[i], used[i]);
    }
}

static void expect_kept(const kept *k, const char *about, const char *keys)
{
    for (size_t i = 0; i < COUNT(KEYS); ++i) {
        if (strchr(keys, KEYS[i][0]) != NULL)
            kept_expect(k, about, KEYS[i], DATA + i, EACH);
        else
            kept_expect_miss(k, about, KEYS[i], NULL);
    }
}

START_TEST(what_was_not_used_for_longest_makes_room)
{
    kept k;
    open_four(&k, "limit");
    expect_kept(&k, "as many as the limit allows", "abcd");
    open_four(&k, "oldest");
    kept_store(&k, "e", DATA + 4, EACH);
    expect_kept(&k, "one more", "acde");
}
END_TEST

START_TEST(use_is_what_counts_not_age)
{
    kept k;
    open_four(&k, "used");
    kept_expect(&k, "used", "b", DATA + 1, EACH);
    kept_expect(&k, "used", "d", DATA + 3, EACH);
    kept_store(&k, "e", DATA + 4, EACH);
    expect_kept(&k, "one more", "bcde");
}
END_TEST

/* Two processes that made the same: the second takes nobody's place. */
START_TEST(what_is_replaced_makes_its_own_room)
{
    kept k;
    open_four(&k, "replaced");
    kept_store(&k, "a", DATA, EACH);
    expect_kept(&k, "stored again", "abcd");
}
END_TEST

START_TEST(as_many_go_as_must)
{
    kept k;
    open_four(&k, "many");
    k.c.limit_bytes = 2 * WHOLE;
    kept_store(&k, "e", DATA + 4, EACH);
    expect_kept(&k, "a smaller limit", "ce");
    k.c.limit_bytes = WHOLE;
    kept_store(&k, "a", DATA, EACH);
    expect_kept(&k, "room for one", "a");
}
END_TEST

START_TEST(what_can_never_fit_is_not_kept_and_removes_nothing)
{
    char note[CACHE_NOTE];
    kept k;
    open_four(&k, "never");
    cache_store(&k.c, "e", DATA, 4 * WHOLE - KEPT_HEADER, note);
    ck_assert_msg(strstr(note, "larger than the cache") != NULL, "%s", note);
    expect_kept(&k, "too large", "abcd");
    k.c.limit_bytes = EACH;
    kept_expect_miss(&k, "larger than the limit by now", "a", "too large");
}
END_TEST

/* ---- Files that are none of its own -------------------------------------- */

static void put_file(const char *folder, const char *file, long used)
{
    char path[SCRATCH_PATH], name[200];
    const struct timespec times[2] = {{used, 0}, {used, 0}};
    snprintf(name, sizeof name, "%s/%s", folder, file);
    scratch_write(path, name, DATA, EACH);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool is_there(const char *folder, const char *file)
{
    char path[SCRATCH_PATH], name[200];
    struct stat status;
    snprintf(name, sizeof name, "%s/%s", folder, file);
    return stat(scratch_path(path, name), &status) == 0;
}

/* As of a file of the cache. */
#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

START_TEST(other_peoples_files_stay)
{
    static const char *const FOREIGN[] = {"notes.txt", "x.bin", ".bin", HASH,
        HASH ".bin~", HASH ".bin.that.is.longer", "tm-1-0",
        "0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF.bin"};
    kept k;
    open_four(&k, "others");
    for (size_t i = 0; i < COUNT(FOREIGN); ++i)
        put_file("others", FOREIGN[i], 1);
    kept_store(&k, "e", DATA + 4, EACH);
    expect_kept(&k, "beside other files", "acde");
    for (size_t i = 0; i < COUNT(FOREIGN); ++i)
        ck_assert_msg(is_there("others", FOREIGN[i]), "%s is gone", FOREIGN[i]);
}
END_TEST

/* Times are relative to now, which may have any value. */
START_TEST(temporary_files_of_killed_processes_go_after_an_hour)
{
    const long now = (long)time(NULL), hour = 3600;
    kept k;
    fill_data();
    kept_open(&k, "stale");
    kept_store(&k, "a", DATA, EACH);
    put_file("stale", "tmp-1-0", now - 2 * hour);
    put_file("stale", "tmp-1-1", now + 2 * hour);
    put_file("stale", "tmp-1-2", 0);
    put_file("stale", "tmp-1-3", now);
    kept_expect(&k, "looking removes nothing", "a", DATA, EACH);
    ck_assert_uint_eq(scratch_count("stale"), 5);
    kept_store(&k, "b", DATA + 1, EACH);
    ck_assert(is_there("stale", "tmp-1-3"));
    ck_assert_uint_eq(scratch_count("stale"), 3);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cache_limit");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_set_timeout(t, 0);
    tcase_add_test(t, what_was_not_used_for_longest_makes_room);
    tcase_add_test(t, use_is_what_counts_not_age);
    tcase_add_test(t, what_is_replaced_makes_its_own_room);
    tcase_add_test(t, as_many_go_as_must);
    tcase_add_test(t, what_can_never_fit_is_not_kept_and_removes_nothing);
    tcase_add_test(t, other_peoples_files_stay);
    tcase_add_test(t, temporary_files_of_killed_processes_go_after_an_hour);

    Suite *suite = suite_create("cache_limit");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
