/* SPDX-License-Identifier: Apache-2.0
 *
 * onnx_folder.c - which folders are cases.
 */
#define _POSIX_C_SOURCE 200809L
#include "onnx_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    PATH_BYTES = 4096
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_case(const char *root, const char *name)
{
    char path[PATH_BYTES];
    struct stat status;

    if (name[0] == '.' || name[0] == '_')
        return false;
    snprintf(path, sizeof path, "%s/%s", root, name);
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool add_name(onnx_folder *list, const char *name)
{
    char **longer = realloc(list->name, (list->count + 1) * sizeof *list->name);
    if (longer == NULL)
        return false;
    list->name = longer;
    longer[list->count] = strdup(name);
    return longer[list->count++] != NULL;
}

bool onnx_folder_list(onnx_folder *list, const char *root, failure *f)
{
    bool ok = true;
    DIR *entries = opendir(root);

    if (entries == NULL)
        return fail(f, "%s: cannot be listed: %s", root, strerror(errno));
    for (const struct dirent *e; ok && (e = readdir(entries)) != NULL;)
        if (is_case(root, e->d_name))
            ok = add_name(list, e->d_name);
    closedir(entries);
    if (!ok)
        return fail_memory(
            f, "no memory for the names of %zu cases", list->count);
    if (list->count == 0)
        return fail(f, "%s: has no folders, so there is no case", root);
    qsort(list->name, list->count, sizeof *list->name, by_name);
    return true;
}

void onnx_folder_free(onnx_folder *list)
{
    for (size_t i = 0; i < list->count; ++i)
        free(list->name[i]);
    free(list->name);
}
