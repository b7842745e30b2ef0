/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cache_user.c - files and folders of another user: a miss, with a reason.
 * Only the superuser can make some.
 */
#define _XOPEN_SOURCE 700

#include <string.h>
#include <unistd.h>

#include "kept.h"
#include "suite.h"

START_TEST(a_file_of_another_user_is_a_miss_and_replaced)
{
    char path[SCRATCH_PATH];
    kept k;
    kept_open_full(&k, "file", path);
    kept_give_away(path);
    kept_expect_miss(&k, "another's file", KEPT_KEY, "another user");
    kept_store(&k, KEPT_KEY, KEPT_DATA, KEPT_BYTES);
    kept_expect(&k, "in its place", KEPT_KEY, KEPT_DATA, KEPT_BYTES);
}
END_TEST

START_TEST(a_folder_of_another_user_is_neither_read_nor_written)
{
    char path[SCRATCH_PATH], note[CACHE_NOTE];
    kept k;
    kept_open_full(&k, "folder", path);
    kept_give_away(k.folder);
    kept_expect_miss(&k, "another's folder", KEPT_KEY, "another user");
    cache_store(&k.c, "new", KEPT_DATA, KEPT_BYTES, note);
    ck_assert_msg(strstr(note, "another user") != NULL, "%s", note);
    cache_remove(&k.c, KEPT_KEY);
    ck_assert_uint_eq(scratch_count("folder"), 1);
}
END_TEST

int main(void)
{
    if (geteuid() != 0)
        return suite_skip("the superuser");
    TCase *t = tcase_create("cache_user");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_add_test(t, a_file_of_another_user_is_a_miss_and_replaced);
    tcase_add_test(t, a_folder_of_another_user_is_neither_read_nor_written);

    Suite *suite = suite_create("cache_user");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
