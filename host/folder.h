/* SPDX-License-Identifier: Apache-2.0
 *
 * folder.h - a private folder of files: what the program cache asks of the
 * operating system.  Nothing in it is trusted that another user could have put
 * there, and no file is ever seen half written.
 */
#ifndef CLATTN_HOST_FOLDER_H
#define CLATTN_HOST_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FOLDER_NAME = 80,  /* of a file, with its final 0 */
    FOLDER_WORDS = 120 /* why something was not done */
};

typedef struct folder {
    int fd;
} folder;

/*
 * Opens `path` if it is a folder, no link, that belongs to this user and that no
 * other may write.  One that is missing is made if `make` says so, with mode
 * 0700, and so is the folder above it.  If false, `why` says why not in words;
 * nothing is to be said of a folder that is missing and not made.
 */
bool folder_open(
    folder *f, const char *path, bool make, char why[FOLDER_WORDS]);
void folder_close(folder *f);

/*
 * The bytes of a file that belongs to this user, that no other may write, that
 * is no link, and that holds at most `most` bytes; the caller frees them.  Else
 * NULL and why; nothing is to be said of a file that is missing.
 */
unsigned char *folder_read(const folder *f, const char *name, uint64_t most,
    size_t *bytes, char why[FOLDER_WORDS]);

typedef struct folder_part {
    const void *data;
    size_t bytes;
} folder_part;

/* Makes or replaces a file from parts, under a temporary name first: others see
   the old file or all of the new one. */
bool folder_write(const folder *f, const char *name, const folder_part *parts,
    size_t n_parts, char why[FOLDER_WORDS]);

/* Whether it is a name under which folder_write begins.  A process that is
   killed there leaves it behind. */
bool folder_is_temporary(const char *name);

void folder_remove(const folder *f, const char *name);

/* Sets the time of a file's last change to now. */
void folder_touch(const folder *f, const char *name);

typedef struct folder_file {
    char name[FOLDER_NAME];
    uint64_t bytes;
    int64_t changed_s, changed_ns; /* since 1970 */
} folder_file;

/* The regular files; the caller frees *files.  False: no memory, or the folder
   cannot be read. */
bool folder_list(const folder *f, folder_file **files, size_t *count);

/* Seconds since 1970. */
int64_t folder_now(void);

#endif
