/* SPDX-License-Identifier: Apache-2.0
 *
 * kept.c - a cache of files in the scratch folder.
 */
#define _XOPEN_SOURCE 700
#include "kept.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sha256.h"

enum {
    NOBODY = 65534
};

unsigned char KEPT_DATA[KEPT_BYTES];

void kept_open(kept *k, const char *name)
{
    snprintf(k->name, sizeof k->name, "%s", name);
    k->c.folder = scratch_path(k->folder, name);
    k->c.limit_bytes = 1u << 20;
}

void kept_store(const kept *k, const char *key, const void *data, size_t bytes)
{
    char note[CACHE_NOTE];
    cache_store(&k->c, key, data, bytes, note);
    ck_assert_str_eq(note, "");
}

void kept_open_full(kept *k, const char *name, char path[SCRATCH_PATH])
{
    for (size_t i = 0; i < KEPT_BYTES; ++i)
        KEPT_DATA[i] = (unsigned char)(i * i >> 3);
    kept_open(k, name);
    kept_store(k, KEPT_KEY, KEPT_DATA, KEPT_BYTES);
    kept_path(k, path, KEPT_KEY);
}

void kept_expect_no_room(const kept *k, const char *about, size_t files)
{
    const size_t bytes = KEPT_BYTES;
    char note[CACHE_NOTE];
    cache_store(&k->c, "new", KEPT_DATA, bytes, note);
    ck_assert_msg(strstr(note, "cannot be ") != NULL, "%s: '%s'", about, note);
    kept_expect_miss(k, about, "new", NULL);
    cache_store(&k->c, KEPT_KEY, KEPT_DATA + 1, bytes - 1, note);
    ck_assert_msg(strstr(note, "cannot be ") != NULL, "%s: '%s'", about, note);
    kept_expect(k, about, KEPT_KEY, KEPT_DATA, bytes);
    ck_assert_uint_eq(scratch_count(k->name), files);
}

void kept_expect(const kept *k, const char *about, const char *key,
    const void *data, size_t bytes)
{
    char note[CACHE_NOTE];
    size_t got = 0;
    unsigned char *loaded = cache_load(&k->c, key, &got, note);
    ck_assert_msg(loaded != NULL, "%s: a miss: %s", about, note);
    ck_assert_msg(got == bytes && memcmp(loaded, data, bytes) == 0,
        "%s: other bytes, %zu of them", about, got);
    ck_assert_msg(note[0] == '\0', "%s: %s", about, note);
    free(loaded);
}

void kept_expect_miss(
    const kept *k, const char *about, const char *key, const char *words)
{
    char note[CACHE_NOTE];
    size_t got = 0;
    unsigned char *loaded = cache_load(&k->c, key, &got, note);
    ck_assert_msg(loaded == NULL, "%s: %zu bytes were given out", about, got);
    if (words != NULL)
        ck_assert_msg(strstr(note, words) != NULL &&
                          strncmp(note, k->folder, strlen(k->folder)) == 0,
            "%s: the note is '%s'", about, note);
    else
        ck_assert_msg(note[0] == '\0', "%s: the note is '%s'", about, note);
}

const char *kept_path(const kept *k, char *path, const char *key)
{
    char text[SHA256_TEXT], name[200];
    sha256_text(text, key, strlen(key));
    snprintf(name, sizeof name, "%s/%s.bin", k->name, text);
    return scratch_path(path, name);
}

void kept_use(const kept *k, const char *key, long seconds_since_1970)
{
    char path[SCRATCH_PATH];
    const struct timespec times[2] = {
        {seconds_since_1970, 0}, {seconds_since_1970, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, kept_path(k, path, key), times, 0), 0);
}

void kept_give_away(const char *path)
{
    ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
}

void kept_leave_root(const kept *k)
{
    char above[SCRATCH_PATH];
    if (geteuid() != 0)
        return;
    ck_assert_int_eq(chmod(scratch_path(above, ""), 0755), 0);
    ck_assert_int_eq(chown(k->folder, NOBODY, NOBODY), 0);
    ck_assert_int_eq(setgid(NOBODY), 0);
    ck_assert_int_eq(setuid(NOBODY), 0);
}
