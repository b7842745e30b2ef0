/* SPDX-License-Identifier: Apache-2.0
 *
 * layer_case.c - the table of layers, and a layer made concrete.
 */
#include "layer_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "draw.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    BIASES = CLATTN_BIAS_Q | CLATTN_BIAS_K | CLATTN_BIAS_V,
    PROJECT = CLATTN_PROJECT_OUT | CLATTN_BIAS_O,
    KEEP = CLATTN_KEEP_QKV | CLATTN_KEEP_OUT,
    BOTH = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS
};

/* D and Dv are few, since those are compiled in. */
static const layer_case TABLE[] = {
    /* a sentence, {B, Hq, Hkv, Lq, Lk, D, Dv, E, Ek, Ev, Ey}, order, ... */
    {"the textbook's self-attention", {2, 1, 1, 5, 5, 8, 8, 8, 0, 0, 8},
        CLATTN_IN_OUT, BIASES, .returns = BOTH},
    {"the same without biases", {2, 1, 1, 5, 5, 8, 8, 8, 0, 0, 8},
        CLATTN_IN_OUT, 0, .returns = BOTH},
    {"multi-head as nn.Linear stores it", {2, 3, 3, 7, 7, 8, 8, 24, 0, 0, 24},
        CLATTN_OUT_IN, BIASES | PROJECT, .returns = BOTH},
    {"everything kept", {2, 3, 3, 7, 7, 8, 8, 24, 0, 0, 24}, CLATTN_OUT_IN,
        BIASES | PROJECT | KEEP, .returns = BOTH},
    {"only y", {2, 3, 3, 7, 7, 8, 8, 24, 0, 0, 24}, CLATTN_OUT_IN,
        BIASES | PROJECT, .returns = 0},
    {"q, k and v kept, no projection", {2, 3, 3, 7, 7, 8, 8, 24, 0, 0, 24},
        CLATTN_IN_OUT, CLATTN_BIAS_V | CLATTN_KEEP_QKV, .returns = 0},
    {"out kept, no output bias", {2, 3, 3, 7, 7, 8, 8, 24, 0, 0, 20},
        CLATTN_IN_OUT, CLATTN_PROJECT_OUT | CLATTN_KEEP_OUT, .returns = 0},
    {"one bias: q", {1, 2, 2, 4, 4, 8, 8, 5, 0, 0, 16}, CLATTN_OUT_IN,
        CLATTN_BIAS_Q | CLATTN_KEEP_QKV, .returns = 0},
    {"one bias: k", {1, 2, 2, 4, 4, 8, 8, 5, 0, 0, 16}, CLATTN_OUT_IN,
        CLATTN_BIAS_K | CLATTN_KEEP_QKV, .returns = 0},
    {"grouped heads", {2, 6, 2, 9, 9, 8, 8, 19, 0, 0, 11}, CLATTN_OUT_IN,
        BIASES | PROJECT | KEEP, .returns = BOTH},
    {"narrow values", {2, 4, 2, 9, 9, 8, 5, 19, 0, 0, 11}, CLATTN_IN_OUT,
        BIASES | PROJECT | KEEP, .returns = BOTH},
    {"causal", {2, 4, 2, 9, 9, 8, 8, 16, 0, 0, 16}, CLATTN_OUT_IN,
        BIASES | PROJECT, .returns = BOTH, .causal = 1},
    {"keys from another input", {2, 4, 4, 5, 13, 8, 8, 16, 10, 0, 16},
        CLATTN_OUT_IN, BIASES | PROJECT | KEEP, .returns = BOTH},
    {"keys from one input, values from a third",
        {2, 4, 2, 5, 13, 8, 5, 16, 10, 7, 9}, CLATTN_IN_OUT,
        BIASES | PROJECT | KEEP, .returns = BOTH},
    {"values alone from another input", {2, 4, 2, 7, 7, 8, 5, 16, 0, 7, 9},
        CLATTN_IN_OUT, BIASES | PROJECT | KEEP, .returns = BOTH},
    {"another input, causal, lengths", {3, 4, 2, 5, 13, 8, 8, 16, 10, 0, 16},
        CLATTN_OUT_IN, BIASES | PROJECT, .returns = BOTH, .causal = 1,
        .key_lengths = true, .nan_rows = true},
    {"lengths hide keys, not queries", {4, 4, 2, 9, 9, 8, 8, 16, 0, 0, 16},
        CLATTN_OUT_IN, BIASES | PROJECT | KEEP, .returns = BOTH,
        .key_lengths = true},
    {"NaN in padded rows", {4, 4, 2, 9, 9, 8, 8, 16, 0, 0, 16}, CLATTN_OUT_IN,
        BIASES | PROJECT, .returns = BOTH, .key_lengths = true,
        .nan_rows = true},
    {"weights of one buffer, side by side", {2, 4, 2, 9, 9, 8, 8, 16, 0, 0, 16},
        CLATTN_IN_OUT, BIASES | PROJECT, .returns = BOTH, .packed = true},
    {"weights of one buffer, stacked", {2, 4, 2, 9, 9, 8, 8, 16, 0, 0, 16},
        CLATTN_OUT_IN, BIASES | PROJECT, .returns = BOTH, .packed = true},
    {"gaps everywhere", {2, 4, 2, 9, 9, 8, 8, 16, 0, 0, 16}, CLATTN_OUT_IN,
        BIASES | PROJECT | KEEP, .returns = BOTH, .padded = true},
    {"gaps everywhere, another input", {2, 4, 2, 5, 13, 8, 5, 16, 10, 7, 9},
        CLATTN_IN_OUT, BIASES | PROJECT | KEEP, .returns = BOTH,
        .padded = true},
    {"no items", {0, 4, 2, 9, 9, 8, 8, 16, 0, 0, 16}, CLATTN_OUT_IN,
        BIASES | PROJECT | KEEP, .returns = BOTH},
    {"no keys: y is the output bias", {2, 4, 2, 5, 0, 8, 8, 16, 10, 0, 16},
        CLATTN_OUT_IN, BIASES | PROJECT, .returns = BOTH},
    {"a width of one", {2, 1, 1, 3, 3, 1, 1, 1, 0, 0, 1}, CLATTN_OUT_IN,
        BIASES | PROJECT | KEEP, .returns = BOTH},
    {"no query heads: y is the output bias",
        {2, 0, 2, 200, 200, 8, 8, 6, 0, 0, 9}, CLATTN_OUT_IN, PROJECT,
        .returns = 0},
    {"no heads and no bias: y is 0", {2, 0, 0, 7, 7, 8, 8, 6, 0, 0, 9},
        CLATTN_IN_OUT, CLATTN_PROJECT_OUT, .returns = 0},
};

size_t layer_case_count(void)
{
    return COUNT(TABLE);
}

layer_case layer_case_at(size_t index)
{
    layer_case c = TABLE[index];
    c.seed = index;
    return c;
}

const char *layer_case_text(const layer_case *c, char text[ARENA_TEXT])
{
    snprintf(text, ARENA_TEXT,
        "%s (seed %" PRIu64 "): {B %zu, Hq %zu, Hkv %zu, Lq %zu, Lk %zu, "
        "D %zu, Dv %zu, E %zu, Ek %zu, Ev %zu, Ey %zu}, %s, flags %#" PRIx32
        ", returns %#" PRIx32 "%s%s%s%s%s",
        c->about, c->seed, c->size.B, c->size.Hq, c->size.Hkv, c->size.Lq,
        c->size.Lk, c->size.D, c->size.Dv, c->size.E, c->size.Ek, c->size.Ev,
        c->size.Ey, c->order == CLATTN_IN_OUT ? "[in, out]" : "[out, in]",
        c->flags, c->returns, c->causal ? ", causal" : "",
        c->key_lengths ? ", key lengths" : "", c->nan_rows ? ", NaN rows" : "",
        c->packed ? ", packed" : "", c->padded ? ", padded" : "");
    return text;
}

/* (B, 1, rows, columns), or for a matrix B = 1. */
static arena_tensor rows_of(const char *name, size_t B, size_t rows,
    size_t columns, const layer_case *c)
{
    arena_tensor t = {
        .name = name, .size = {B, 1, rows, columns}, .memory = ARENA_NEW};
    if (c->padded) {
        t.stride[2] = columns + 1 + rows % 3;
        t.stride[0] = B > 1 ? rows * t.stride[2] + 2 : 0;
        t.offset = 1 + columns % 3;
    }
    return t;
}

static void place_weight(arena *a, size_t slot, const char *name, size_t in,
    size_t out, const layer_case *c)
{
    const bool in_out = c->order == CLATTN_IN_OUT;
    arena_place(
        a, slot, rows_of(name, 1, in_out ? in : out, in_out ? out : in, c));
}

/* w_q, w_k and w_v of one buffer: columns side by side where rows are inputs,
   rows below each other where they are outputs. */
static void place_packed(arena *a, const layer_case *c)
{
    const char *names[] = {"w_q", "w_k", "w_v"};
    const size_t outs[] = {c->size.Hq * c->size.D, c->size.Hkv * c->size.D,
        c->size.Hkv * c->size.Dv};
    size_t before = 0;
    for (size_t n = 0; n < 3; ++n) {
        const bool in_out = c->order == CLATTN_IN_OUT;
        arena_tensor t = {.name = names[n],
            .size = {1, 1, in_out ? c->size.E : outs[n],
                in_out ? outs[n] : c->size.E},
            .memory = n == 0 ? ARENA_NEW : LAYER_W_Q,
            .offset = in_out ? before : before * c->size.E};
        t.stride[2] = in_out ? outs[0] + outs[1] + outs[2] : 0;
        arena_place(a, LAYER_W_Q + n, t);
        before += outs[n];
    }
}

static void place_inputs(arena *a, const layer_case *c)
{
    const size_t Ek = c->size.Ek ? c->size.Ek : c->size.E;
    const size_t Ev = c->size.Ev ? c->size.Ev : Ek;
    arena_place(a, LAYER_X, rows_of("x", c->size.B, c->size.Lq, c->size.E, c));
    if (c->size.Ek != 0)
        arena_place(
            a, LAYER_X_K, rows_of("x_k", c->size.B, c->size.Lk, c->size.Ek, c));
    if (c->size.Ev != 0)
        arena_place(
            a, LAYER_X_V, rows_of("x_v", c->size.B, c->size.Lk, c->size.Ev, c));
    if (c->packed) {
        place_packed(a, c);
    } else {
        place_weight(a, LAYER_W_Q, "w_q", c->size.E, c->size.Hq * c->size.D, c);
        place_weight(a, LAYER_W_K, "w_k", Ek, c->size.Hkv * c->size.D, c);
        place_weight(a, LAYER_W_V, "w_v", Ev, c->size.Hkv * c->size.Dv, c);
    }
    if (c->flags & CLATTN_PROJECT_OUT)
        place_weight(
            a, LAYER_W_O, "w_o", c->size.Hq * c->size.Dv, c->size.Ey, c);
}

static void place_biases(arena *a, const layer_case *c)
{
    const struct {
        const char *name;
        uint32_t flag;
        size_t size;
    } biases[] = {{"b_q", CLATTN_BIAS_Q, c->size.Hq * c->size.D},
        {"b_k", CLATTN_BIAS_K, c->size.Hkv * c->size.D},
        {"b_v", CLATTN_BIAS_V, c->size.Hkv * c->size.Dv},
        {"b_o", CLATTN_BIAS_O, c->size.Ey}};
    for (size_t n = 0; n < COUNT(biases); ++n)
        if (c->flags & biases[n].flag)
            arena_place(a, LAYER_B_Q + n,
                (arena_tensor){.name = biases[n].name,
                    .size = {1, 1, 1, biases[n].size},
                    .memory = ARENA_NEW,
                    .offset = c->padded ? n : 0});
}

/* Heads side by side: (B, L, H, D) in memory, the descriptor's strides 0. */
static arena_tensor heads_of(
    const char *name, const layer_case *c, size_t H, size_t L, size_t columns)
{
    return (arena_tensor){.name = name,
        .output = true,
        .size = {c->size.B, H, L, columns},
        .stride = {L * H * columns, columns, H * columns},
        .memory = ARENA_NEW};
}

static void place_outputs(arena *a, const layer_case *c)
{
    const size_t B = c->size.B, Hq = c->size.Hq, Hkv = c->size.Hkv;
    const size_t Lq = c->size.Lq, Lk = c->size.Lk;
    arena_tensor y = rows_of("y", B, Lq, c->size.Ey, c);
    arena_tensor lse = {.name = "lse",
        .output = true,
        .size = {B, Hq, Lq, 1},
        .memory = ARENA_NEW};
    arena_tensor weights = lse;
    weights.name = "weights";
    weights.size[3] = Lk;
    y.output = true;
    arena_place(a, LAYER_Y, y);
    if (c->flags & CLATTN_KEEP_QKV) {
        arena_place(a, LAYER_Q, heads_of("q", c, Hq, Lq, c->size.D));
        arena_place(a, LAYER_K, heads_of("k", c, Hkv, Lk, c->size.D));
        arena_place(a, LAYER_V, heads_of("v", c, Hkv, Lk, c->size.Dv));
    }
    if (c->flags & CLATTN_KEEP_OUT)
        arena_place(a, LAYER_OUT, heads_of("out", c, Hq, Lq, c->size.Dv));
    if (c->returns & CLATTN_RETURN_LSE)
        arena_place(a, LAYER_LSE, lse);
    if (c->returns & CLATTN_RETURN_WEIGHTS)
        arena_place(a, LAYER_WEIGHTS, weights);
}

static void describe_attention(clattn_attention *p, const layer_case *c)
{
    clattn_attention_init(p, sizeof *p);
    p->B = c->size.B, p->Hq = c->size.Hq, p->Hkv = c->size.Hkv;
    p->Lq = c->size.Lq, p->Lk = c->size.Lk;
    p->D = c->size.D, p->Dv = c->size.Dv;
    p->dtype = CLATTN_F32;
    p->flags = c->returns;
    if (c->key_lengths)
        p->flags |= CLATTN_KEY_LENGTHS;
    if (c->causal) {
        p->causal = 1;
        p->diagonal = CLATTN_BOTTOM_RIGHT;
    }
}

static void describe(layer_trial *trial)
{
    const layer_case *c = &trial->of;
    const arena *a = &trial->memory;
    clattn_layer *p = &trial->problem;
    describe_attention(&trial->attention, c);
    clattn_layer_init(p, sizeof *p);
    p->attention = &trial->attention;
    p->E = c->size.E, p->Ey = c->size.Ey;
    p->Ek = c->size.Ek, p->Ev = c->size.Ev;
    p->x = arena_strides(a, LAYER_X);
    p->y = arena_strides(a, LAYER_Y);
    p->x_k = arena_strides(a, LAYER_X_K);
    p->x_v = arena_strides(a, LAYER_X_V);
    p->w_q = arena_strides(a, LAYER_W_Q);
    p->w_k = arena_strides(a, LAYER_W_K);
    p->w_v = arena_strides(a, LAYER_W_V);
    p->w_o = arena_strides(a, LAYER_W_O);
    p->weight_order = c->order;
    p->flags = c->flags;
}

static void fill(layer_trial *trial, size_t slot, draw *d)
{
    const arena_tensor *t = &trial->memory.tensor[slot];
    const bool keys = slot == LAYER_X_K || slot == LAYER_X_V ||
                      (slot == LAYER_X && trial->of.size.Ek == 0);
    for (size_t b = 0; b < t->size[0]; ++b) {
        size_t rows = t->size[2];
        if (keys && trial->of.nan_rows)
            rows = layer_trial_keys(trial, b);
        for (size_t row = 0; row < rows; ++row)
            for (size_t column = 0; column < t->size[3]; ++column)
                *arena_at(&trial->memory, slot, b, 0, row, column) =
                    draw_value(d);
    }
}

static void fill_lengths(layer_trial *trial, draw *d)
{
    for (size_t b = 0; b < trial->of.size.B; ++b) {
        int32_t length = (int32_t)draw_between(d, 1, trial->of.size.Lk);
        if (b == 1)
            length = 0;
        memcpy(arena_at(&trial->memory, LAYER_KEY_LENGTHS, 0, 0, 0, b), &length,
            sizeof length);
    }
}

size_t layer_trial_keys(const layer_trial *trial, size_t b)
{
    if (!trial->of.key_lengths)
        return trial->of.size.Lk;
    int32_t length;
    memcpy(&length, arena_at(&trial->memory, LAYER_KEY_LENGTHS, 0, 0, 0, b),
        sizeof length);
    return (size_t)length;
}

/* Heads, rows and columns of all tensors together; E and its like are rows of
   weights, and columns of x and y. */
static bool sizes_fit(const layer_case *c)
{
    const size_t sizes[] = {
        c->size.Lk, c->size.E, c->size.Ek, c->size.Ev, c->size.Ey};
    size_t L = c->size.Lq, C = arena_sum(c->size.D, c->size.Dv);
    for (size_t n = 0; n < COUNT(sizes); ++n) {
        L = arena_sum(L, sizes[n]);
        C = arena_sum(C, sizes[n]);
    }
    return arena_sizes_fit(c->size.B, arena_sum(c->size.Hq, c->size.Hkv), L, C);
}

bool layer_trial_create(layer_trial *trial, const layer_case *c)
{
    *trial = (layer_trial){.of = *c};
    arena *a = &trial->memory;
    if (!sizes_fit(c))
        return false;
    place_inputs(a, c);
    place_biases(a, c);
    place_outputs(a, c);
    if (c->key_lengths)
        arena_place(a, LAYER_KEY_LENGTHS,
            (arena_tensor){.name = "key_lengths",
                .size = {1, 1, 1, c->size.B},
                .memory = ARENA_NEW});
    describe(trial);
    if (!arena_allocate(a)) {
        layer_trial_destroy(trial);
        return false;
    }
    draw d = draw_start(c->seed);
    if (c->key_lengths)
        fill_lengths(trial, &d);
    for (size_t slot = LAYER_X; slot <= LAYER_B_O; ++slot)
        if (a->tensor[slot].name != NULL)
            fill(trial, slot, &d);
    arena_remember(a);
    return true;
}

void layer_trial_destroy(layer_trial *trial)
{
    arena_free(&trial->memory);
}

clattn_layer_args layer_trial_args(const layer_trial *trial,
    clattn_attention_args *inner, const cl_mem *buffers)
{
    const arena *a = &trial->memory;
    *inner = (clattn_attention_args){.struct_size = sizeof *inner,
        .out = arena_output(a, LAYER_OUT, buffers),
        .lse = arena_output(a, LAYER_LSE, buffers),
        .weights = arena_output(a, LAYER_WEIGHTS, buffers),
        .key_lengths = arena_input(a, LAYER_KEY_LENGTHS, buffers)};
    return (clattn_layer_args){.struct_size = sizeof(clattn_layer_args),
        .y = arena_output(a, LAYER_Y, buffers),
        .q = arena_output(a, LAYER_Q, buffers),
        .k = arena_output(a, LAYER_K, buffers),
        .v = arena_output(a, LAYER_V, buffers),
        .x = arena_input(a, LAYER_X, buffers),
        .x_k = arena_input(a, LAYER_X_K, buffers),
        .x_v = arena_input(a, LAYER_X_V, buffers),
        .w_q = arena_input(a, LAYER_W_Q, buffers),
        .w_k = arena_input(a, LAYER_W_K, buffers),
        .w_v = arena_input(a, LAYER_W_V, buffers),
        .w_o = arena_input(a, LAYER_W_O, buffers),
        .b_q = arena_input(a, LAYER_B_Q, buffers),
        .b_k = arena_input(a, LAYER_B_K, buffers),
        .b_v = arena_input(a, LAYER_B_V, buffers),
        .b_o = arena_input(a, LAYER_B_O, buffers),
        .attention = inner};
}
