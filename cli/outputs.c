/* SPDX-License-Identifier: Apache-2.0
 *
 * outputs.c - the files that one command writes.
 */
#include "outputs.h"

#include <stdio.h>
#include <string.h>

#include "place.h"
#include "values.h"

/* ---- Written together --------------------------------------------------- */

bool outputs_take(outputs *all, output_file *file, failure *f)
{
    if (all->count == OUTPUTS_MAX) {
        output_file_abandon(file);
        return fail(f, "more than %d files are written", OUTPUTS_MAX);
    }
    if (!output_file_finish(file, f)) {
        output_file_abandon(file);
        return false;
    }
    all->file[all->count++] = file;
    return true;
}

bool outputs_commit(outputs *all, failure *f)
{
    bool done = all->count == 0 || (fflush(stdout) == 0 && !ferror(stdout)) ||
                fail(f, "standard output could not be written");
    for (size_t i = 0; i < all->count; ++i) {
        if (done)
            done = output_file_commit(all->file[i], f);
        else
            output_file_abandon(all->file[i]);
    }
    all->count = 0;
    return done;
}

void outputs_abandon(outputs *all)
{
    for (size_t i = 0; i < all->count; ++i)
        output_file_abandon(all->file[i]);
    all->count = 0;
}

/* ---- Before the work ----------------------------------------------------- */

static bool find_same(bool *same, const char *a, const char *b, failure *f)
{
    *same = strcmp(a, b) == 0;
    return *same || place_same(same, a, b) || fail(f, "no memory for %s", a);
}

static bool distinct_from_outputs(
    const options *given, const file_options *files, size_t index, failure *f)
{
    const option_id id = files->written[index];
    const char *path = given->value[id];
    for (size_t i = 0; i < index; ++i) {
        const option_id other = files->written[i];
        const char *text = given->value[other];
        bool same = false;
        if (text && !find_same(&same, path, text, f))
            return false;
        if (same)
            return fail(f, "%s %s and %s %s are one file for two results",
                option_name(other), text, option_name(id), path);
    }
    return true;
}

/* `name`: what the input is called in a message. */
static bool distinct_from_input(const options *given, option_id id,
    const char *input, const char *name, failure *f)
{
    const char *path = given->value[id];
    bool same = false;
    if (!input || !place_is_file(path))
        return true;
    if (!find_same(&same, path, input, f))
        return false;
    return !same || fail(f,
                        "%s %s would replace %s%s%s, which is read: give the "
                        "result a file of its own",
                        option_name(id), path, name, *name ? " " : "", input);
}

static bool distinct_from_inputs(
    const options *given, const file_options *files, option_id id, failure *f)
{
    if (!distinct_from_input(given, id, given->operand, "", f))
        return false;
    for (size_t i = 0; i < files->read_count; ++i) {
        const option_id input = files->read[i];
        if (!distinct_from_input(
                given, id, given->value[input], option_name(input), f))
            return false;
    }
    for (size_t i = 0; i < files->listed_count; ++i) {
        const option_id input = files->listed[i];
        const char *text = given->value[input];
        if (text && value_is_file(text) &&
            !distinct_from_input(given, id, text, option_name(input), f))
            return false;
    }
    return true;
}

bool outputs_distinct(
    const options *given, const file_options *files, failure *f)
{
    for (size_t i = 0; i < files->written_count; ++i)
        if (given->value[files->written[i]] &&
            (!distinct_from_outputs(given, files, i, f) ||
                !distinct_from_inputs(given, files, files->written[i], f)))
            return false;
    return true;
}

bool outputs_possible(
    const options *given, const file_options *files, failure *f)
{
    for (size_t i = 0; i < files->written_count; ++i) {
        const char *path = given->value[files->written[i]];
        if (path && !output_file_possible(path, f))
            return false;
    }
    return true;
}
