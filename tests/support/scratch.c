/* SPDX-License-Identifier: Apache-2.0
 *
 * scratch.c - a folder for the files that one test program makes.
 */
#define _XOPEN_SOURCE 700
#include "scratch.h"

#include <check.h>
#include <dirent.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[SCRATCH_PATH / 2];

void scratch_begin(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/clattn-test-XXXXXX",
        base && *base ? base : "/tmp");
    if (!mkdtemp(folder)) {
        perror(folder);
        exit(EXIT_FAILURE);
    }
}

static int remove_entry(
    const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

void scratch_end(void)
{
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_path(char *path, const char *name)
{
    snprintf(path, SCRATCH_PATH, "%s/%s", folder, name);
    return path;
}

const char *scratch_write(
    char *path, const char *name, const void *data, size_t bytes)
{
    FILE *file = fopen(scratch_path(path, name), "wb");
    ck_assert_msg(file != NULL, "%s cannot be made", path);
    size_t written = bytes ? fwrite(data, 1, bytes, file) : 0;
    ck_assert_msg(
        fclose(file) == 0 && written == bytes, "%s cannot be written", path);
    return path;
}

char *scratch_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    ck_assert_int_ge(size, 0);
    rewind(file);
    char *data = calloc(1, (size_t)size + 1);
    ck_assert_ptr_nonnull(data);
    *bytes = fread(data, 1, (size_t)size, file);
    fclose(file);
    ck_assert_uint_eq(*bytes, (size_t)size);
    return data;
}

size_t scratch_count(const char *name)
{
    char path[SCRATCH_PATH];
    size_t count = 0;
    DIR *entries = opendir(scratch_path(path, name));
    ck_assert_msg(entries != NULL, "%s cannot be listed", path);
    for (const struct dirent *e; (e = readdir(entries)) != NULL;)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(entries);
    return count;
}

static void feed(int fd, const char *data, size_t bytes)
{
    signal(SIGPIPE, SIG_DFL); /* a reader that has had enough ends this */
    for (size_t at = 0; at < bytes;) {
        ssize_t step = write(fd, data + at, bytes - at);
        if (step <= 0)
            break;
        at += (size_t)step;
    }
    _exit(0);
}

const char *scratch_pipe(char *path, int *fd, const void *data, size_t bytes)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t writer = fork();
    ck_assert_int_ge(writer, 0);
    if (writer == 0) {
        close(ends[0]);
        feed(ends[1], data, bytes);
    }
    close(ends[1]);
    *fd = ends[0];
    snprintf(path, SCRATCH_PATH, "/dev/fd/%d", ends[0]);
    return path;
}
