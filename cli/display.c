/* SPDX-License-Identifier: Apache-2.0
 *
 * display.c - what is shown of weights.
 */
#include "display.h"

#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "picture.h"
#include "show.h"
#include "text.h"
#include "values.h"

static bool parse_head(display *d, const char *text, failure *f)
{
    if (!text)
        return true;
    d->head_given = true;
    d->mean = strcmp(text, "mean") == 0;
    if (d->mean || value_size(&d->head, OPTION_HEAD, text, 0, SIZE_MAX, f))
        return true;
    return fail(
        f, "--head %s is neither a head's number, from 0 up, nor mean", text);
}

bool display_parse(display *d, const options *given, failure *f)
{
    const char *batch = given->value[OPTION_BATCH];
    *d = (display){
        .tokens = given->value[OPTION_TOKENS],
        .picture = given->value[OPTION_PICTURE],
        .show = given->value[OPTION_SHOW] != NULL,
    };
    if (d->picture && !picture_named(d->picture, f))
        return false;
    if (!parse_head(d, given->value[OPTION_HEAD], f))
        return false;
    return !batch || value_size(&d->batch, OPTION_BATCH, batch, 0, SIZE_MAX, f);
}

bool display_wanted(const display *d)
{
    return d->show || d->picture;
}

static bool prepare_words(display *d, const char *of, failure *f)
{
    if (!d->tokens)
        return words_number(&d->queries, d->shape.Lq, f) &&
               words_number(&d->keys, d->shape.Lk, f);
    if (d->shape.Lq != d->shape.Lk)
        return fail(f,
            "--tokens %s names queries and keys alike, but %s has %zu queries "
            "and %zu keys",
            d->tokens, of, d->shape.Lq, d->shape.Lk);
    return words_read(&d->queries, d->tokens, d->shape.Lq, f) &&
           words_read(&d->keys, d->tokens, d->shape.Lk, f);
}

/* Whether there are items and heads, and the chosen ones are among them. */
static bool check_choice(const display *d, const char *of, failure *f)
{
    const size_t B = d->shape.B;
    const size_t H = d->shape.H;
    if (B == 0 || H == 0)
        return fail(f, "%s has no %s to show", of, B == 0 ? "item" : "head");
    if (d->batch >= B)
        return fail(f,
            "--batch %zu is not an item of %s, which has %zu, counted from 0",
            d->batch, of, B);
    if (!d->mean && d->head >= H)
        return fail(f,
            "--head %zu is not a head of %s, which has %zu, counted from 0",
            d->head, of, H);
    return true;
}

bool display_prepare(
    display *d, const display_shape *shape, const char *of, failure *f)
{
    d->shape = *shape;
    if (!d->head_given)
        d->mean = shape->H > 1;
    if (!check_choice(d, of, f))
        return false;
    if (d->picture && !picture_possible(d->picture, shape->Lq, shape->Lk, f))
        return false;
    return prepare_words(d, of, f);
}

void display_free(display *d)
{
    words_free(&d->queries);
    words_free(&d->keys);
}

static void make_title(
    char *title, size_t bytes, const display *d, const char *subject)
{
    const char *comma = subject[0] ? ", " : "";
    if (d->mean)
        snprintf(
            title, bytes, "%s%smean of %zu heads", subject, comma, d->shape.H);
    else
        snprintf(title, bytes, "%s%shead %zu", subject, comma, d->head);
    const size_t used = strlen(title);
    if (d->shape.B > 1)
        snprintf(title + used, bytes - used, ", item %zu", d->batch);
    text_clean(title); /* a name of a file may be in it */
}

bool display_draw(const display *d, FILE *to, outputs *files,
    const float *weights, const char *subject, failure *f)
{
    char title[1000];
    bool done = true;
    float *mean = NULL;
    const size_t elements = d->shape.Lq * d->shape.Lk;
    const float *item = weights + d->batch * d->shape.H * elements;
    if (!display_wanted(d))
        return true;
    if (d->mean) {
        mean = floats_make(elements, "the mean of the heads", f);
        if (!mean)
            return false;
        reading_mean(mean, item, d->shape.H, elements);
    }
    make_title(title, sizeof title, d, subject);
    const reading r = {
        .rows = d->shape.Lq,
        .columns = d->shape.Lk,
        .weight = mean ? mean : item + d->head * elements,
        .queries = &d->queries,
        .keys = &d->keys,
        .title = title,
    };
    if (d->picture)
        done = picture_write(files, d->picture, &r, f);
    if (done && d->show)
        show_reading(to, &r, show_style_of(to));
    free(mean);
    return done;
}
