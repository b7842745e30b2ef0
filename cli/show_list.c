/* SPDX-License-Identifier: Apache-2.0
 *
 * show_list.c - a line for each query word, with the keys it reads most.
 */
#include "show_parts.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"

enum {
    MOST_ENTRIES = 4,
    LONGEST_WORD = 20, /* columns; longer ones are cut */
    TAIL_BYTES = 24    /* of ":" and a place */
};

#define BAR_COLOUR  "\033[38;5;37m"
#define NO_COLOUR   "\033[0m"
#define LEAST_SHOWN 0.005f

typedef struct entry {
    size_t column;
    float weight;
} entry;

/* Every line is cut alike: "  9 it  goat 0.83 ####  bridge 0.09 #". */
typedef struct list_layout {
    size_t index, query, key, number; /* columns of each */
    size_t entries, bar; /* of the first entry; the n-th has 1/n of it */
    float full;          /* the weight that fills the first bar */
} list_layout;

typedef struct list {
    const reading *r;
    show_style style;
    bool *repeated; /* keys that occur more than once; NULL: not known */
    list_layout layout;
} list;

static bool beats(float a, float b)
{
    return isnan(a) ? !isnan(b) : a > b;
}

/* The keys of the row with the largest weights, largest first, NaN before all;
   keys without weight are left out, and from the second on those that would
   read 0.00.  Returns how many there are. */
static size_t read_most(
    entry *most, size_t wanted, const float *row, size_t columns)
{
    size_t found = 0;
    for (size_t j = 0; j < columns; ++j) {
        if (row[j] <= 0.0f)
            continue;
        size_t place = found;
        while (place > 0 && beats(row[j], most[place - 1].weight))
            --place;
        if (place == wanted)
            continue;
        found += found < wanted;
        for (size_t n = found - 1; n > place; --n)
            most[n] = most[n - 1];
        most[place] = (entry){j, row[j]};
    }
    while (found > 1 && most[found - 1].weight < LEAST_SHOWN)
        --found;
    return found;
}

static int weight_text(char text[32], float weight)
{
    if (isnan(weight))
        return snprintf(text, 32, "nan");
    return snprintf(
        text, 32, fabsf(weight) < 1000.0f ? "%.2f" : "%.1e", (double)weight);
}

typedef struct named {
    const char *text;
    size_t place;
} named;

static int by_text(const void *a, const void *b)
{
    return strcmp(((const named *)a)->text, ((const named *)b)->text);
}

static bool *find_repeated(const words *keys)
{
    bool *repeated = calloc(keys->count, sizeof *repeated);
    named *sorted = calloc(keys->count, sizeof *sorted);
    if (repeated != NULL && sorted != NULL) {
        for (size_t j = 0; j < keys->count; ++j)
            sorted[j] = (named){keys->text[j], j};
        qsort(sorted, keys->count, sizeof *sorted, by_text);
        for (size_t j = 1; j < keys->count; ++j)
            if (by_text(&sorted[j - 1], &sorted[j]) == 0)
                repeated[sorted[j - 1].place] = repeated[sorted[j].place] =
                    true;
    }
    free(sorted);
    return repeated;
}

static void tail_of(char tail[TAIL_BYTES], const list *l, size_t column)
{
    tail[0] = '\0';
    if (l->repeated != NULL && l->repeated[column])
        snprintf(tail, TAIL_BYTES, ":%zu", column);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* What the weights shown need: number, key, full. */
static void measure_entries(list *l)
{
    list_layout *layout = &l->layout;
    const reading *r = l->r;
    layout->full = 1.0f;
    for (size_t i = 0; i < r->rows; ++i) {
        entry most[MOST_ENTRIES];
        const size_t found = read_most(
            most, MOST_ENTRIES, r->weight + i * r->columns, r->columns);
        for (size_t n = 0; n < found; ++n) {
            char number[32], tail[TAIL_BYTES];
            const float bar = most[n].weight * (float)(n + 1);
            tail_of(tail, l, most[n].column);
            layout->number = larger(
                layout->number, (size_t)weight_text(number, most[n].weight));
            layout->key = larger(layout->key,
                words_width(r->keys->text[most[n].column]) + strlen(tail));
            if (isfinite(bar) && bar > layout->full)
                layout->full = bar;
        }
    }
    layout->key = smaller(layout->key, LONGEST_WORD);
}

static size_t bar_of(size_t bar, size_t n)
{
    return (bar + n) / (n + 1);
}

/* Columns that are left for each key's word. */
static size_t room_for_key(
    const list_layout *layout, size_t width, size_t entries, size_t bar)
{
    size_t taken = 2 + layout->index + 1 + layout->query;
    for (size_t n = 0; n < entries; ++n)
        taken += 2 + 1 + layout->number + 1 + bar_of(bar, n);
    return width > taken ? (width - taken) / entries : 0;
}

/* Best first: the first row whose words have room is taken. */
static void choose_layout(list_layout *layout, size_t width)
{
    static const struct {
        size_t entries, bar, least_key;
    } CHOICES[] = {{4, 10, LONGEST_WORD}, {3, 10, LONGEST_WORD},
        {3, 8, LONGEST_WORD}, {3, 6, 10}, {3, 4, 8}, {2, 10, LONGEST_WORD},
        {2, 6, 8}, {1, 10, LONGEST_WORD}, {1, 4, 0}};
    const size_t count = sizeof CHOICES / sizeof CHOICES[0];
    size_t choice = 0;
    while (choice + 1 < count &&
           room_for_key(
               layout, width, CHOICES[choice].entries, CHOICES[choice].bar) <
               smaller(layout->key, CHOICES[choice].least_key))
        ++choice;
    layout->entries = CHOICES[choice].entries;
    layout->bar = CHOICES[choice].bar;
    layout->key = smaller(
        layout->key, room_for_key(layout, width, layout->entries, layout->bar));
}

/* A blank, `share` of the layout's bar, and blanks up to `room`, which the last
   of a line does without. */
static void print_bar(
    FILE *to, const list *l, double share, size_t room, bool last)
{
    static const char *const EIGHTHS[] = {"", "\u258f", "\u258e", "\u258d",
        "\u258c", "\u258b", "\u258a", "\u2589"};
    const size_t parts = l->style.blocks ? 8 : 1;
    const double exact = share * (double)(l->layout.bar * parts);
    const double most = (double)(room * parts);
    const size_t length =
        isnan(share) ? 0 : (size_t)(fmax(fmin(exact, most), 0.0) + 0.5);
    const size_t whole = length / parts, rest = length % parts;
    const bool colour = l->style.colour && length > 0;
    fputs(length > 0 || !last ? " " : "", to);
    fputs(colour ? BAR_COLOUR : "", to);
    for (size_t i = 0; i < whole; ++i)
        fputs(l->style.blocks ? "\u2588" : "#", to);
    fputs(EIGHTHS[rest], to);
    fputs(colour ? NO_COLOUR : "", to);
    fprintf(to, "%*s", last ? 0 : (int)(room - whole - (rest > 0)), "");
}

static void print_entry(
    FILE *to, const list *l, const entry *e, size_t n, bool last)
{
    char number[32], tail[TAIL_BYTES];
    weight_text(number, e->weight);
    tail_of(tail, l, e->column);
    fputs("  ", to);
    column_print(
        to, l->r->keys->text[e->column], tail, l->layout.key, COLUMN_RIGHT);
    fprintf(to, " %*s", (int)l->layout.number, number);
    print_bar(to, l, (double)(e->weight / l->layout.full),
        bar_of(l->layout.bar, n), last);
}

static void print_row(FILE *to, const list *l, size_t row)
{
    const reading *r = l->r;
    entry most[MOST_ENTRIES];
    const size_t found = read_most(
        most, l->layout.entries, r->weight + row * r->columns, r->columns);
    fprintf(to, "  %*zu ", (int)l->layout.index, row);
    column_print(to, r->queries->text[row], "", l->layout.query, COLUMN_LEFT);
    for (size_t n = 0; n < found; ++n)
        print_entry(to, l, &most[n], n, n + 1 == found);
    fputs(found == 0 ? "  reads nothing\n" : "\n", to);
}

static void print_heading(FILE *to, const list *l)
{
    const words *keys = l->r->keys;
    size_t first = 0;
    while (l->repeated != NULL && first < keys->count && !l->repeated[first])
        ++first;
    fprintf(to, "%s: what each word reads most", l->r->title);
    if (l->repeated != NULL && first < keys->count)
        fprintf(to, " (%s:%zu is word %zu)", keys->text[first], first, first);
    if (l->layout.full > 1.0f)
        fprintf(to, " (a full bar: %.3g)", (double)l->layout.full);
    fputc('\n', to);
}

void show_list(FILE *to, const reading *r, show_style style)
{
    list l = {r, style, find_repeated(r->keys), {0}};
    l.layout.index = show_index_width(r->rows);
    l.layout.query = smaller(
        show_longest(r->queries), smaller(LONGEST_WORD, style.width / 5));
    measure_entries(&l);
    choose_layout(&l.layout, style.width);

    print_heading(to, &l);
    for (size_t i = 0; i < r->rows; ++i)
        print_row(to, &l, i);
    free(l.repeated);
}
