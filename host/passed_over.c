/* SPDX-License-Identifier: Apache-2.0
 *
 * passed_over.c - what is there and yet of no use.
 */
#define _XOPEN_SOURCE 700 /* scandir */
#include "passed_over.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "error.h"
#include "utf8.h"

void passed_over_add(passed_over *passed, const char *what, const char *why)
{
    const size_t room = sizeof passed->text - passed->length;
    char *begin = passed->text + passed->length;
    const int length = snprintf(begin, room, "%s%.400s: %.400s",
        passed->length > 0 ? "\n" : "", what, why);
    if (length < 0 || (size_t)length >= room) {
        *begin = '\0'; /* what does not fit as a whole is left out */
        return;
    }
    utf8_clean(begin + (*begin == '\n'));
    passed->length += strlen(begin);
}

void passed_over_tell(const passed_over *passed, clattn_error *error)
{
    if (!error || passed->length == 0)
        return;
    const char *mark = "; passed over: ";
    size_t used = strlen(error->message);
    for (const char *line = passed->text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        snprintf(error->message + used, sizeof error->message - used, "%s%.*s",
            mark, (int)length, line);
        used = strlen(error->message);
        line += length + (line[length] == '\n');
        mark = "; ";
    }
    utf8_clean(error->message); /* it may have been cut within a character */
    error->cl_code = passed->cl_code;
}

/* ---- Drivers ------------------------------------------------------------- */

#define SUFFIX ".icd"

static void add_errno(passed_over *passed, const char *path)
{
    char words[64];
    error_errno_text(words, sizeof words);
    passed_over_add(passed, path, words);
}

/* What the loader has done before, and where that failed it kept silent. */
static void try_library(
    passed_over *passed, const char *entry, const char *library)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (!handle)
        passed_over_add(passed, entry, dlerror());
    else if (passed->platforms == 0)
        passed_over_add(passed, entry, "the driver shows no platform");
    if (handle)
        dlclose(handle);
}

/* A file whose first line names a library. */
static void try_entry(passed_over *passed, const char *path)
{
    char library[1024] = "";
    FILE *file = fopen(path, "r");
    if (!file) {
        add_errno(passed, path);
        return;
    }
    const bool read = fgets(library, sizeof library, file) != NULL;
    fclose(file);
    library[strcspn(library, " \t\r\n")] = '\0';
    if (read && library[0] != '\0')
        try_library(passed, path, library);
    else
        passed_over_add(passed, path, "it names no library");
}

static int is_entry(const struct dirent *file)
{
    const size_t length = strlen(file->d_name), suffix = sizeof SUFFIX - 1;
    return length > suffix &&
           strcmp(file->d_name + length - suffix, SUFFIX) == 0;
}

static void try_folder(passed_over *passed, const char *folder)
{
    struct dirent **entries = NULL;
    char path[1400];
    const int count = scandir(folder, &entries, is_entry, alphasort);
    if (count < 0)
        add_errno(passed, folder);
    else if (count == 0 && passed->platforms == 0)
        passed_over_add(passed, folder, "no driver is registered there");
    for (int i = 0; i < count; ++i) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        try_entry(passed, path);
        free(entries[i]);
    }
    free(entries);
}

void passed_over_drivers(passed_over *passed, const char *vendors)
{
    const size_t length = strlen(vendors), suffix = sizeof SUFFIX - 1;
    struct stat status;
    const bool is_there = stat(vendors, &status) == 0;
    if (is_there && S_ISDIR(status.st_mode))
        try_folder(passed, vendors);
    else if (!is_there && strchr(vendors, '/'))
        add_errno(passed, vendors);
    else if (length > suffix && strcmp(vendors + length - suffix, SUFFIX) == 0)
        try_entry(passed, vendors);
    else
        try_library(passed, vendors, vendors);
}
