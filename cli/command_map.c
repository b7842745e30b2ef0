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

static bool read_request(display *d, const options *given, failure *f)
{
    if (!display_parse(d, given, f))
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

static bool map(display *d, npy_array *weights, const char *path, failure *f)
{
    const char *outputs[] = {d->picture};
    if (!outputs_possible(outputs, 1, f) ||
        !array_read(weights, path, NPY_NO_BF16, 2, 4, f))
        return false;
    const display_shape shape = shape_of(weights);
    if (!display_prepare(d, &shape, path, f) ||
        !display_draw(d, stdout, weights->data, path, f))
        return false;
    if (d->picture)
        text_print_path("picture", d->picture, "");
    return true;
}

static exit_code run(const options *given, failure *f)
{
    display d;
    npy_array weights = {0};
    if (!read_request(&d, given, f))
        return EXIT_WRONG_USE;
    const bool done = map(&d, &weights, given->operand, f);
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
