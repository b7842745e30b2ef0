/* SPDX-License-Identifier: Apache-2.0
 *
 * place.c - where a path leads.
 */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_LINKS = 40 /* as Linux follows at most */
};

char *place_copy(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

/* Up to the last slash and with it; 0 if there is none. */
static size_t folder_bytes(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

char *place_beside(const char *path, const char *name)
{
    size_t folder = *name == '/' ? 0 : folder_bytes(path);
    size_t bytes = strlen(name) + 1;
    char *joined = malloc(folder + bytes);
    if (!joined)
        return NULL;
    memcpy(joined, path, folder);
    memcpy(joined + folder, name, bytes);
    return joined;
}

/* Where a symbolic link leads in one step; NULL with errno. */
static char *read_link(const char *path, size_t bytes)
{
    char *name = malloc(bytes + 1);
    if (!name)
        return NULL;
    ssize_t length = readlink(path, name, bytes + 1);
    char *joined = NULL;
    if (length >= 0 && (size_t)length <= bytes) {
        name[length] = 0;
        joined = place_beside(path, name);
    }
    if (length > 0 && (size_t)length > bytes)
        errno = ENAMETOOLONG;
    free(name);
    return joined;
}

char *place_of(const char *path)
{
    struct stat status;
    char *current = place_copy(path);
    for (int i = 0; current; ++i) {
        if (lstat(current, &status) != 0 || !S_ISLNK(status.st_mode))
            return current;
        /* Links of /proc say a size of 0. */
        size_t bytes = status.st_size > 0 ? (size_t)status.st_size : 4096;
        char *next = i < MAX_LINKS ? read_link(current, bytes) : NULL;
        free(current);
        current = next;
    }
    return NULL;
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether the folder is there; false with *enough false too if memory is not. */
static bool stat_folder(struct stat *status, const char *path, bool *enough)
{
    char *folder = place_beside(path, ".");
    const bool there = folder && stat(folder, status) == 0;
    *enough = *enough && folder;
    free(folder);
    return there;
}

/* Of two files to be made. */
static bool same_name(const char *a, const char *b, bool *enough)
{
    struct stat in_a, in_b;
    return strcmp(a + folder_bytes(a), b + folder_bytes(b)) == 0 &&
           stat_folder(&in_a, a, enough) && stat_folder(&in_b, b, enough) &&
           same_inode(&in_a, &in_b);
}

static bool is_link(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

bool place_same(bool *same, const char *a, const char *b)
{
    struct stat at_a, at_b;
    const bool a_is = stat(a, &at_a) == 0;
    const bool b_is = stat(b, &at_b) == 0;
    *same = a_is && b_is && same_inode(&at_a, &at_b);
    if (a_is || b_is)
        return true;
    bool enough = true;
    if (!is_link(a) && !is_link(b)) {
        *same = same_name(a, b, &enough);
        return enough;
    }
    char *behind_a = place_of(a);
    enough = behind_a || errno != ENOMEM;
    char *behind_b = place_of(b);
    enough = enough && (behind_b || errno != ENOMEM);
    *same = behind_a && behind_b && same_name(behind_a, behind_b, &enough);
    free(behind_a);
    free(behind_b);
    return enough;
}

bool place_is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}
