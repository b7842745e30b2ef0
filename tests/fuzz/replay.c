/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c - a fuzz target without a fuzzer: what is kept, and a fixed number
 * of inputs mutated from it, the same in every run.
 *
 *   replay_TARGET [-v] MUTATED FOLDER...
 *
 * With -v the number of each input is printed before it is tried: the last one
 * is the one that failed.
 */
#define _DEFAULT_SOURCE /* scandir */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum {
    MOST_INPUTS = 4096,
    MOST_BYTES = 1 << 16
};

typedef struct input {
    uint8_t *data;
    size_t size;
} input;

static input kept[MOST_INPUTS];
static size_t n_kept;
static bool verbose;

/* ---- What is kept -------------------------------------------------------- */

static void read_input(const char *folder, const char *name)
{
    char path[1024];
    input in = {malloc(MOST_BYTES), 0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || !in.data || n_kept == MOST_INPUTS) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(EXIT_FAILURE);
    }
    in.size = fread(in.data, 1, MOST_BYTES, file);
    fclose(file);
    kept[n_kept++] = in;
}

/* In the order of their names; a folder that is not there holds none. */
static void read_folder(const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; ++i) {
        if (entries[i]->d_name[0] != '.')
            read_input(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

/* ---- What is made of it -------------------------------------------------- */

/* splitmix64 of Steele, Lea and Flood, 2014. */
static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static size_t draw_below(uint64_t *state, size_t end)
{
    return end > 0 ? (size_t)(draw(state) % end) : 0;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void flip_bit(input *in, uint64_t *state)
{
    if (in->size > 0)
        in->data[draw_below(state, in->size)] ^= 1u << draw_below(state, 8);
}

static void set_byte(input *in, uint64_t *state)
{
    static const uint8_t ENDS[] = {0, 1, 0x7f, 0x80, 0xff, '0', '9', '-', ','};
    const bool end = draw_below(state, 2) == 0;
    const uint8_t value =
        end ? ENDS[draw_below(state, sizeof ENDS)] : (uint8_t)draw(state);
    if (in->size > 0)
        in->data[draw_below(state, in->size)] = value;
}

static void cut(input *in, uint64_t *state)
{
    const size_t at = draw_below(state, in->size);
    const size_t bytes = 1 + draw_below(state, smaller(in->size - at, 8));
    if (in->size == 0)
        return;
    memmove(in->data + at, in->data + at + bytes, in->size - at - bytes);
    in->size -= bytes;
}

/* A piece of any input that is kept, at any place. */
static void insert(input *in, uint64_t *state)
{
    const input *from = &kept[draw_below(state, n_kept)];
    const size_t begin = draw_below(state, from->size);
    const size_t bytes = 1 + draw_below(state, smaller(from->size - begin, 16));
    const size_t at = draw_below(state, in->size + 1);
    if (from->size == 0 || in->size + bytes > MOST_BYTES)
        return;
    memmove(in->data + at + bytes, in->data + at, in->size - at);
    memcpy(in->data + at, from->data + begin, bytes);
    in->size += bytes;
}

static void end_early(input *in, uint64_t *state)
{
    in->size = draw_below(state, in->size + 1);
}

static void mutate(input *in, uint64_t number)
{
    static void (*const MUTATIONS[])(input *, uint64_t *) = {
        flip_bit, set_byte, set_byte, insert, insert, cut, end_early};
    uint64_t state = number;
    const input *from = &kept[draw_below(&state, n_kept)];
    memcpy(in->data, from->data, from->size);
    in->size = from->size;
    for (size_t n = 1 + draw_below(&state, 6); n > 0; --n)
        MUTATIONS[draw_below(&state, sizeof MUTATIONS / sizeof MUTATIONS[0])](
            in, &state);
}

/* ---- All ----------------------------------------------------------------- */

/* From memory of just that size, which a sanitizer watches. */
static void try_input(const input *in, const char *what, size_t number)
{
    uint8_t *copy = malloc(in->size > 0 ? in->size : 1);
    if (!copy)
        exit(EXIT_FAILURE);
    if (verbose) {
        printf("%s input %zu, %zu bytes\n", what, number, in->size);
        fflush(stdout);
    }
    memcpy(copy, in->data, in->size);
    LLVMFuzzerTestOneInput(copy, in->size);
    free(copy);
}

int main(int count, char **arguments)
{
    verbose = count > 1 && strcmp(arguments[1], "-v") == 0;
    const int first = verbose ? 2 : 1;
    if (count < first + 2) {
        fprintf(stderr, "usage: %s [-v] MUTATED FOLDER...\n", arguments[0]);
        return EXIT_FAILURE;
    }
    const size_t mutated = strtoul(arguments[first], NULL, 10);
    for (int i = first + 1; i < count; ++i)
        read_folder(arguments[i]);
    if (n_kept == 0) {
        fprintf(stderr, "no inputs are kept there\n");
        return EXIT_FAILURE;
    }

    input made = {malloc(MOST_BYTES), 0};
    for (size_t i = 0; i < n_kept; ++i)
        try_input(&kept[i], "kept", i);
    for (size_t i = 0; made.data && i < mutated; ++i) {
        mutate(&made, i);
        try_input(&made, "mutated", i);
    }
    printf("%zu kept and %zu mutated inputs\n", n_kept, mutated);
    for (size_t i = 0; i < n_kept; ++i)
        free(kept[i].data);
    free(made.data);
    return EXIT_SUCCESS;
}
