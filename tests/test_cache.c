/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cache.c - what is kept comes back whole, and nothing else does, whatever
 * the damage.
 */
#define _XOPEN_SOURCE 700

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kept.h"
#include "sha256.h"
#include "suite.h"

static const char KEY[] = "library: 1\ndevice: some\noptions: -DD=64\n";
static const char OTHER[] = "library: 1\ndevice: some\noptions: -DD=32\n";

enum {
    HEADER = KEPT_HEADER + sizeof KEY - 1,
    BYTES = 5000
};

static unsigned char DATA[BYTES];

static void fill_data(void)
{
    uint32_t state = 1;
    for (size_t i = 0; i < BYTES; ++i) {
        state = state * 1664525u + 1013904223u;
        DATA[i] = (unsigned char)(state >> 24);
    }
}

/* A cache that holds DATA under KEY, the path of its file, and what is in it. */
static unsigned char *open_full(
    kept *k, const char *name, char path[SCRATCH_PATH], size_t *bytes)
{
    fill_data();
    kept_open(k, name);
    kept_store(k, KEY, DATA, BYTES);
    unsigned char *file =
        (unsigned char *)scratch_read(kept_path(k, path, KEY), bytes);
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(*bytes, HEADER + BYTES);
    return file;
}

static void overwrite(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, bytes, file), bytes);
    ck_assert_int_eq(fclose(file), 0);
}

/* ---- Whole files --------------------------------------------------------- */

START_TEST(what_was_kept_comes_back_under_its_key_alone)
{
    static const size_t sizes[] = {0, 1, 55, 56, 64, BYTES};
    kept k;
    fill_data();
    kept_open(&k, "whole");
    for (size_t i = 0; i < COUNT(sizes); ++i) {
        kept_store(&k, KEY, DATA, sizes[i]);
        kept_expect(&k, "kept", KEY, DATA, sizes[i]);
        kept_expect(&k, "kept, again", KEY, DATA, sizes[i]);
    }
    kept_expect_miss(&k, "another key", OTHER, NULL);
    kept_expect_miss(&k, "the empty key", "", NULL);
    kept_store(&k, OTHER, DATA + 1, 10);
    kept_store(&k, "", DATA + 2, 20);
    kept_expect(&k, "beside others", KEY, DATA, BYTES);
    kept_expect(&k, "another key", OTHER, DATA + 1, 10);
    kept_expect(&k, "the empty key", "", DATA + 2, 20);
    cache_remove(&k.c, OTHER);
    kept_expect_miss(&k, "removed", OTHER, NULL);
    kept_expect(&k, "beside a removed one", KEY, DATA, BYTES);
    ck_assert_uint_eq(scratch_count("whole"), 2);
}
END_TEST

START_TEST(looking_makes_nothing)
{
    struct stat status;
    kept k;
    kept_open(&k, "nothing");
    kept_expect_miss(&k, "no folder", KEY, NULL);
    cache_remove(&k.c, KEY);
    ck_assert_int_ne(stat(k.folder, &status), 0);
}
END_TEST

START_TEST(folder_and_file_are_for_this_user_alone)
{
    char path[SCRATCH_PATH];
    struct stat status;
    size_t bytes = 0;
    kept k;
    umask(0);
    free(open_full(&k, "mode", path, &bytes));
    ck_assert_int_eq(stat(k.folder, &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0700);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_mode & 07777, 0600);
}
END_TEST

/* ---- Damage -------------------------------------------------------------- */

static void expect_damage(const kept *k, const char *path, unsigned char *file,
    size_t bytes, size_t at, unsigned char flip)
{
    char about[60];
    snprintf(about, sizeof about, "byte %zu flipped by %#x", at, flip);
    file[at] ^= flip;
    overwrite(path, file, bytes);
    file[at] ^= flip;
    kept_expect_miss(k, about, KEY, ".bin ");
}

START_TEST(no_bit_of_the_header_may_be_wrong)
{
    char path[SCRATCH_PATH];
    size_t bytes = 0;
    kept k;
    unsigned char *file = open_full(&k, "header", path, &bytes);
    for (size_t at = 0; at < HEADER; ++at) {
        for (int bit = 0; bit < 8; ++bit)
            expect_damage(&k, path, file, bytes, at, (unsigned char)(1 << bit));
        expect_damage(&k, path, file, bytes, at, 0xff);
    }
    overwrite(path, file, bytes);
    kept_expect(&k, "as it was", KEY, DATA, BYTES);
    free(file);
}
END_TEST

START_TEST(no_byte_of_the_data_may_be_wrong)
{
    char path[SCRATCH_PATH];
    size_t bytes = 0;
    uint32_t state = 7;
    kept k;
    unsigned char *file = open_full(&k, "data", path, &bytes);
    for (int i = 0; i < 1000; ++i) {
        state = state * 1664525u + 1013904223u;
        const unsigned char flip = (unsigned char)(1u << (state >> 29));
        expect_damage(
            &k, path, file, bytes, HEADER + (state >> 8) % BYTES, flip);
    }
    expect_damage(&k, path, file, bytes, HEADER, 1);
    expect_damage(&k, path, file, bytes, bytes - 1, 0x80);
    free(file);
}
END_TEST

START_TEST(no_length_but_the_right_one_will_do)
{
    char path[SCRATCH_PATH], about[40];
    size_t bytes = 0;
    kept k;
    unsigned char *file = open_full(&k, "length", path, &bytes);
    unsigned char *longer = calloc(1, bytes + 4096);
    ck_assert_ptr_nonnull(longer);
    memcpy(longer, file, bytes);
    for (size_t cut = 0; cut <= bytes + 4096; cut += cut < 300 ? 1 : 97) {
        if (cut == bytes)
            continue;
        snprintf(about, sizeof about, "%zu bytes of %zu", cut, bytes);
        overwrite(path, longer, cut);
        kept_expect_miss(
            &k, about, KEY, cut < bytes ? "is cut short" : "wrong length");
    }
    overwrite(path, longer, bytes - 1);
    kept_expect_miss(&k, "one byte is missing", KEY, "is cut short");
    overwrite(path, longer, bytes + 1);
    kept_expect_miss(&k, "one byte too many", KEY, "wrong length");
    free(longer);
    free(file);
}
END_TEST

START_TEST(what_is_damaged_is_replaced)
{
    char path[SCRATCH_PATH];
    size_t bytes = 0;
    kept k;
    free(open_full(&k, "replaced", path, &bytes));
    overwrite(path, "", 0);
    kept_expect_miss(&k, "empty", KEY, "cut short");
    kept_store(&k, KEY, DATA, BYTES);
    kept_expect(&k, "replaced", KEY, DATA, BYTES);
    ck_assert_uint_eq(scratch_count("replaced"), 1);
}
END_TEST

/* A file made by hand, as the comment on top of cache.c says. */
static size_t compose(unsigned char *file, const char *magic, uint32_t format,
    const char *key, const void *data, size_t bytes)
{
    const size_t key_bytes = strlen(key), rest = KEPT_HEADER + key_bytes;
    sha256 hash;
    memset(file, 0, KEPT_HEADER);
    memcpy(file, magic, 8);
    for (int i = 0; i < 4; ++i) {
        file[8 + i] = (unsigned char)(format >> 8 * i);
        file[12 + i] = (unsigned char)(key_bytes >> 8 * i);
        file[16 + i] = (unsigned char)(bytes >> 8 * i);
    }
    memcpy(file + KEPT_HEADER, key, key_bytes);
    memcpy(file + rest, data, bytes);
    sha256_begin(&hash);
    sha256_add(&hash, file, 24);
    sha256_add(&hash, file + KEPT_HEADER, key_bytes + bytes);
    sha256_end(&hash, file + 24);
    return rest + bytes;
}

static const struct {
    const char *about, *magic;
    uint32_t format;
    const char *key, *words; /* NULL: it is given out */
} COMPOSED[] = {
    {"of this format", "clattn\r\n", 1, KEY, NULL},
    {"of a format to come", "clattn\r\n", 2, KEY, "another format"},
    {"of format 0", "clattn\r\n", 0, KEY, "another format"},
    {"of a format far off", "clattn\r\n", 0x01000001, KEY, "another format"},
    {"whose line ends were converted", "clattn\n\n", 1, KEY, "no file of"},
    {"of another key", "clattn\r\n", 1, OTHER, "something else"},
    {"of a shorter key", "clattn\r\n", 1, "", "something else"},
};

/* All of them undamaged. */
START_TEST(another_format_or_key_is_not_ours)
{
    char path[SCRATCH_PATH];
    unsigned char file[KEPT_HEADER + sizeof KEY + BYTES];
    size_t bytes = 0;
    kept k;
    free(open_full(&k, "composed", path, &bytes));
    bytes = compose(file, COMPOSED[_i].magic, COMPOSED[_i].format,
        COMPOSED[_i].key, DATA, BYTES);
    overwrite(path, file, bytes);
    if (COMPOSED[_i].words != NULL)
        kept_expect_miss(&k, COMPOSED[_i].about, KEY, COMPOSED[_i].words);
    else
        kept_expect(&k, COMPOSED[_i].about, KEY, DATA, BYTES);
}
END_TEST

START_TEST(foreign_files_are_not_ours)
{
    static const char text[] =
        "Not a file of the cache at all, but long enough to hold a header and "
        "then some more of it.\n";
    static const char zeros[4096];
    char path[SCRATCH_PATH];
    size_t bytes = 0;
    kept k;
    free(open_full(&k, "foreign", path, &bytes));
    overwrite(path, text, sizeof text - 1);
    kept_expect_miss(&k, "text", KEY, "no file of the cache");
    overwrite(path, zeros, sizeof zeros);
    kept_expect_miss(&k, "zeros", KEY, "no file of the cache");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("cache");
    tcase_add_unchecked_fixture(t, scratch_begin, scratch_end);
    tcase_set_timeout(t, 0);
    tcase_add_test(t, looking_makes_nothing);
    tcase_add_test(t, what_was_kept_comes_back_under_its_key_alone);
    tcase_add_test(t, folder_and_file_are_for_this_user_alone);
    tcase_add_test(t, no_bit_of_the_header_may_be_wrong);
    tcase_add_test(t, no_byte_of_the_data_may_be_wrong);
    tcase_add_test(t, no_length_but_the_right_one_will_do);
    tcase_add_test(t, what_is_damaged_is_replaced);
    tcase_add_loop_test(
        t, another_format_or_key_is_not_ours, 0, (int)COUNT(COMPOSED));
    tcase_add_test(t, foreign_files_are_not_ours);

    Suite *suite = suite_create("cache");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
