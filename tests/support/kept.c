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

void kept_leave_root(const kept *k)
{
    enum {
        NOBODY = 65534
    };
    char above[SCRATCH_PATH];
    if (geteuid() != 0)
        return;
    ck_assert_int_eq(chmod(scratch_path(above, ""), 0755), 0);
    ck_assert_int_eq(chown(k->folder, NOBODY, NOBODY), 0);
    ck_assert_int_eq(setgid(NOBODY), 0);
    ck_assert_int_eq(setuid(NOBODY), 0);
}
