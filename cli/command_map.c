/* SPDX-License-Identifier: Apache-2.0
 *
 * command_map.c - `clattn map`: stored weights in the terminal or as a picture.
 */
#include "arrays.h"
#include "commands.h"
#include "display.h"
#include "text.h"

static const option_row ROWS[] = {
    {OPTION_TOKENS, "T.txt", "numbers", "the words, one a line in UTF-8"},
    {OPTION_HEAD, "N|mean", "mean", "the head, from 0, or the mean of all"},
    {OPTION_BATCH, "N", "0", "the item of the batch, from 0"},
    {OPTION_PICTURE, "M.png|M.svg|M.pdf", NULL, "draw a heat map into a file"},
    {OPTION_SHOW, NULL, NULL,
        "draw in the terminal; so without --picture, too"},
    {OPTION_HELP, NULL, NULL, "print this"},
};

static const option_id WRITTEN[] = {OPTION_PICTURE};
static const option_id READ[] = {OPTION_TOKENS};
static const file_options FILES = {WRITTEN, READ, NULL, 1, 1, 0};

static bool read_request(display *d, const options *given, failure *f)
{
    if (!display_parse(d, given, f) || !outputs_distinct(given, &FILES, f))
        return false;
    d->show = d->show || !d->picture;
    return true;
}

/* Weights of rank 2, 3 or 4 are (Lq, Lk), (H, Lq, Lk) or (B, H, Lq, Lk). */
static display_shape shape_of(const npy_array *a)
{
    const size_t *last = a->size + a->rank;
    return (display_shape){
        .B = a->rank > 3 ? last[-4] : 1,
        .H = a->rank > 2 ? last[-3] : 1,
        .Lq = last[-2],
        .Lk = last[-1],
    };
}

static bool map(display *d, npy_array *weights, outputs *files,
    const options *given, failure *f)
{
    const char *path = given->operand;
    if (!outputs_possible(given, &FILES, f) ||
        !array_read(weights, path, NPY_NO_BF16, 2, 4, f))
        return false;
    const display_shape shape = shape_of(weights);
    if (!display_prepare(d, &shape, path, f) ||
        !display_draw(d, stdout, files, weights->data, path, f))
        return false;
    if (d->picture)
        text_print_path("picture", d->picture, "");
    return outputs_commit(files, f);
}

static exit_code run(const options *given, failure *f)
{
    display d;
    npy_array weights = {0};
    outputs files = {.count = 0};
    if (!read_request(&d, given, f))
        return EXIT_WRONG_USE;
    const bool done = map(&d, &weights, &files, given, f);
    outputs_abandon(&files);
    display_free(&d);
    npy_free(&weights);
    return done ? EXIT_DONE : EXIT_FAILED;
}

const command COMMAND_MAP = {
    .name = "map",
    .summary = "show stored attention weights (Lq, Lk), (H, Lq, Lk) or "
               "(B, H, Lq, Lk)",
    .operand = "A.npy",
    .rows = ROWS,
    .row_count = sizeof ROWS / sizeof ROWS[0],
    .run = run,
};
