/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_case.c - the table of attention problems, and sweeps around the
 * edges of tiles.
 */
#include "attention_case.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
    LSE = CLATTN_RETURN_LSE,
    WEIGHTS = CLATTN_RETURN_WEIGHTS,
    BOTH = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS
};

#define TOP_LEFT     .causal = 1, .diagonal = CLATTN_TOP_LEFT
#define BOTTOM_RIGHT .causal = 1, .diagonal = CLATTN_BOTTOM_RIGHT

#define OFFSET(n) .causal = 1, .diagonal = CLATTN_OFFSET, .diagonal_offset = (n)

#define ITEM_OFFSETS \
    .causal = 1, .diagonal = CLATTN_OFFSET, .item_offsets = true
#define SCALE(s) .has_scale = 1, .scale = (s)
#define WINDOW(l, r, d) \
    .windowed = true, .window_left = (l), .window_right = (r), .diagonal = (d)
#define MASK(type, axes) .mask_dtype = CLATTN_##type, .mask_axes = (axes)
#define PACKED_BATCH     .query_starts = true, .key_starts = true
#define STORED(Q, K, V, OUT) \
    .dtype = {CLATTN_##Q, CLATTN_##K, CLATTN_##V, CLATTN_##OUT, CLATTN_##OUT}
#define EVERYTHING                                                    \
    .query_lengths = true, .key_lengths = true, .causal = 1,          \
    WINDOW(25, -1, CLATTN_BOTTOM_RIGHT), .alibi = true, .softcap = 3, \
    .sinks = true, .dropout_p = 0.3f, MASK(BOOL, AXES_ALL)

/* Few D and Dv, since those are compiled in; the sweeps below vary them. */
static const attention_case TABLE[] = {
    /* a sentence, {B, Hq, Hkv, Lq, Lk, D, Dv}, what is special */
    {"smallest problem", {1, 1, 1, 1, 1, 1, 1}, .returns = BOTH},
    {"smallest problem, nothing else returned", {1, 1, 1, 1, 1, 1, 1},
        .returns = 0},
    {"sizes that divide nothing", {3, 4, 2, 7, 5, 9, 9}, .returns = BOTH},
    {"output alone", {3, 4, 2, 7, 5, 9, 9}, .returns = 0},
    {"output and LSE", {3, 4, 2, 7, 5, 9, 9}, .returns = LSE},
    {"output and weights", {3, 4, 2, 7, 5, 9, 9}, .returns = WEIGHTS},
    {"more value columns", {2, 2, 2, 17, 19, 5, 23}, .returns = BOTH},
    {"fewer value columns", {2, 2, 2, 17, 19, 23, 5}, .returns = BOTH},
    {"a tile exactly", {1, 2, 2, 16, 16, 16, 16}, .returns = BOTH},
    {"two tiles exactly", {1, 1, 1, 32, 32, 16, 16}, .returns = BOTH},
    {"one above a tile", {1, 2, 2, 17, 17, 17, 17}, .returns = BOTH},
    {"one below a tile", {1, 2, 2, 15, 15, 15, 15}, .returns = BOTH},
    {"a model's head", {2, 3, 3, 33, 40, 64, 64}, .returns = BOTH},
    {"a wide head", {1, 2, 1, 9, 21, 128, 128}, .returns = BOTH},
    {"the widest head", {1, 1, 1, 3, 5, 512, 512}, .returns = BOTH},
    {"many keys", {1, 1, 1, 3, 1500, 9, 9}, .returns = BOTH},
    {"many queries", {1, 1, 1, 1500, 3, 9, 9}, .returns = BOTH},
    {"one query row", {2, 4, 4, 1, 37, 9, 9}, .returns = BOTH},
    {"one key", {2, 4, 4, 37, 1, 9, 9}, .returns = BOTH},
    {"many items", {37, 1, 1, 2, 3, 9, 9}, .returns = BOTH},
    {"many heads", {1, 37, 37, 2, 3, 9, 9}, .returns = BOTH},

    {"one key head for all", {2, 6, 1, 8, 11, 9, 9}, .returns = BOTH},
    {"three query heads a key head", {2, 6, 2, 8, 11, 9, 9}, .returns = BOTH},
    {"two query heads a key head", {2, 6, 3, 8, 11, 9, 9}, .returns = BOTH},
    {"a key head each", {2, 6, 6, 8, 11, 9, 9}, .returns = BOTH},

    {"no keys", {2, 4, 2, 3, 0, 9, 9}, .returns = BOTH},
    {"no keys, causal", {2, 4, 2, 3, 0, 9, 9}, BOTTOM_RIGHT, .returns = BOTH},
    {"no items", {0, 4, 2, 3, 5, 9, 9}, .returns = BOTH},
    {"no query heads", {2, 0, 1, 3, 5, 9, 9}, .returns = BOTH},
    {"no query rows", {2, 4, 2, 0, 5, 9, 9}, .returns = BOTH},

    {"causal, square", {2, 2, 1, 19, 19, 9, 9}, TOP_LEFT, .returns = BOTH},
    {"causal, square, at the other corner", {2, 2, 1, 19, 19, 9, 9},
        BOTTOM_RIGHT, .returns = BOTH},
    {"causal from the top left, fewer rows than keys", {2, 2, 1, 5, 19, 9, 9},
        TOP_LEFT, .returns = BOTH},
    {"causal from the top left, more rows than keys", {2, 2, 1, 19, 5, 9, 9},
        TOP_LEFT, .returns = BOTH},
    {"causal to the bottom right, fewer rows than keys", {2, 2, 1, 5, 19, 9, 9},
        BOTTOM_RIGHT, .returns = BOTH},
    {"causal to the bottom right, the first rows see nothing",
        {2, 2, 1, 19, 5, 9, 9}, BOTTOM_RIGHT, .returns = BOTH},
    {"causal decode: one row sees all keys", {3, 4, 2, 1, 33, 9, 9},
        BOTTOM_RIGHT, .returns = BOTH},
    {"causal with rows behind a past", {2, 2, 1, 7, 19, 9, 9}, OFFSET(6),
        .returns = BOTH},
    {"causal below 0: the first rows see nothing", {2, 2, 1, 19, 19, 9, 9},
        OFFSET(-4), .returns = BOTH},
    {"causal far below 0: no row sees anything", {2, 2, 1, 7, 7, 9, 9},
        OFFSET(-1000), .returns = BOTH},
    {"causal far above: all rows see everything", {2, 2, 1, 7, 7, 9, 9},
        OFFSET(1000), .returns = BOTH},
    {"causal, the least offset there is", {1, 1, 1, 4, 4, 9, 9},
        OFFSET(INT32_MIN), .returns = BOTH},
    {"causal, the largest offset there is", {1, 1, 1, 4, 4, 9, 9},
        OFFSET(INT32_MAX), .returns = BOTH},
    {"causal, an offset for each item", {5, 2, 1, 9, 13, 9, 9}, ITEM_OFFSETS,
        .returns = BOTH},

    {"lengths, one of them 0", {4, 2, 1, 7, 21, 9, 9}, .key_lengths = true,
        .returns = BOTH},
    {"lengths and causal from the top left", {4, 2, 1, 7, 21, 9, 9}, TOP_LEFT,
        .key_lengths = true, .returns = BOTH},
    {"lengths move the bottom right corner", {4, 2, 1, 7, 21, 9, 9},
        BOTTOM_RIGHT, .key_lengths = true, .returns = BOTH},
    {"lengths and an offset for each item", {6, 2, 1, 7, 21, 9, 9},
        ITEM_OFFSETS, .key_lengths = true, .returns = BOTH},
    {"a cache: one row, lengths, causal", {4, 4, 2, 1, 40, 9, 9}, BOTTOM_RIGHT,
        .key_lengths = true},
    {"lengths without keys to count", {3, 2, 1, 4, 0, 9, 9},
        .key_lengths = true, .returns = BOTH},

    {"rows of heads side by side", {2, 4, 2, 7, 11, 9, 9},
        .layout = LAYOUT_BLHD, .returns = BOTH},
    {"heads side by side, causal, lengths", {3, 4, 2, 7, 11, 9, 9},
        BOTTOM_RIGHT, .layout = LAYOUT_BLHD, .key_lengths = true,
        .returns = BOTH},
    {"q, k and v packed", {2, 3, 3, 18, 18, 9, 9}, .layout = LAYOUT_PACKED,
        .returns = BOTH},
    {"q, k and v packed, grouped heads, lengths", {3, 6, 2, 9, 9, 9, 9},
        TOP_LEFT, .layout = LAYOUT_PACKED, .key_lengths = true,
        .returns = BOTH},
    {"gaps everywhere, odd offsets", {2, 4, 2, 7, 11, 9, 9},
        .layout = LAYOUT_PADDED, .returns = BOTH},
    {"gaps everywhere, causal, lengths", {3, 4, 1, 17, 18, 9, 9}, BOTTOM_RIGHT,
        .layout = LAYOUT_PADDED, .key_lengths = true, .returns = BOTH},
    {"gaps everywhere, aligned width", {2, 2, 2, 16, 16, 16, 16},
        .layout = LAYOUT_PADDED, .returns = BOTH},
    {"one k and one v for all items", {3, 4, 2, 7, 11, 9, 9},
        .layout = LAYOUT_SHARED, .key_lengths = true, .returns = BOTH},

    {"scale 0: weights are equal", {2, 2, 1, 7, 11, 9, 9}, SCALE(0.0f),
        .returns = BOTH},
    {"negative scale", {2, 2, 1, 7, 11, 9, 9}, SCALE(-0.7f), .returns = BOTH},
    {"a scale that is no default", {2, 2, 1, 7, 11, 9, 9}, SCALE(1.9f),
        .returns = BOTH},
    {"equal scores", {2, 2, 1, 7, 37, 9, 9}, .fill = FILL_EQUAL,
        .returns = BOTH},
    {"scores to 1e4 and -1e4", {2, 2, 1, 17, 37, 9, 9}, .fill = FILL_TALL,
        .returns = BOTH},
    {"scores to 1e4, scale negative", {2, 2, 1, 17, 37, 9, 9}, SCALE(-0.33f),
        .fill = FILL_TALL, .returns = BOTH},
    {"one huge score", {2, 2, 1, 17, 37, 9, 9}, .fill = FILL_HUGE,
        .returns = BOTH},
    {"one huge score, the least after negation", {2, 2, 1, 17, 37, 9, 9},
        SCALE(-0.33f), .fill = FILL_HUGE, .returns = BOTH},
    {"scores far below 0: a padded 0 would win", {2, 2, 1, 17, 37, 9, 9},
        .fill = FILL_SUNK, .returns = BOTH},
    {"scores far below 0, causal, lengths, gaps", {4, 2, 1, 17, 37, 9, 9},
        BOTTOM_RIGHT, .fill = FILL_SUNK, .key_lengths = true,
        .layout = LAYOUT_PADDED, .returns = BOTH},
    {"subnormal q and v", {2, 2, 1, 7, 11, 9, 9}, .fill = FILL_TINY,
        .returns = BOTH},
    {"NaN in one key stays in the rows that read it", {2, 4, 2, 19, 19, 9, 9},
        TOP_LEFT, .fill = FILL_NAN, .returns = BOTH},
    {"NaN in one key, everything reads it", {2, 4, 4, 19, 19, 9, 9},
        .fill = FILL_NAN, .returns = BOTH},

    {"a window to both sides", {2, 2, 1, 70, 90, 9, 9},
        WINDOW(13, 6, CLATTN_TOP_LEFT), .returns = LSE},
    {"a window to the left, back from the last key", {2, 2, 1, 70, 90, 9, 9},
        WINDOW(40, -1, CLATTN_BOTTOM_RIGHT), .returns = LSE},
    {"a window to the right", {2, 2, 1, 70, 90, 9, 9},
        WINDOW(-1, 3, CLATTN_TOP_LEFT), .returns = LSE},
    {"a window of the row's own key", {2, 2, 1, 70, 90, 9, 9},
        WINDOW(0, 0, CLATTN_OFFSET), .diagonal_offset = 11, .returns = LSE},
    {"a window before all keys for the first rows", {2, 2, 1, 70, 20, 9, 9},
        WINDOW(4, 2, CLATTN_BOTTOM_RIGHT), .returns = LSE},
    {"a window and causal", {2, 2, 1, 70, 90, 9, 9}, .causal = 1,
        WINDOW(13, 6, CLATTN_TOP_LEFT), .returns = LSE},
    {"a window as wide as an int", {1, 1, 1, 9, 9, 9, 9},
        WINDOW(INT32_MAX, INT32_MAX, CLATTN_OFFSET),
        .diagonal_offset = INT32_MIN, .returns = LSE},

    {"query lengths, one of them 0", {4, 2, 1, 40, 21, 9, 9},
        .query_lengths = true, .returns = LSE},
    {"both lengths", {4, 2, 1, 40, 90, 9, 9}, .query_lengths = true,
        .key_lengths = true, .returns = LSE},
    {"a packed batch", {5, 4, 2, 40, 90, 9, 9}, PACKED_BATCH, .returns = LSE},
    {"a packed batch, q, k and v in one buffer", {5, 4, 2, 40, 40, 9, 9},
        PACKED_BATCH, .layout = LAYOUT_PACKED, .returns = LSE},
    {"a packed batch with gaps, items in any order", {5, 4, 2, 40, 90, 9, 9},
        PACKED_BATCH, .query_lengths = true, .key_lengths = true,
        .layout = LAYOUT_PADDED, .returns = LSE, .seed = 3},
    {"packed keys alone", {5, 4, 2, 40, 90, 9, 9}, .key_starts = true,
        .returns = LSE},

    {"ALiBi and softcap", {2, 8, 4, 40, 70, 9, 9}, .alibi = true,
        .diagonal = CLATTN_BOTTOM_RIGHT, .softcap = 0.5f, .returns = LSE},
    {"ALiBi and softcap of scores to 1e4", {2, 8, 4, 40, 70, 9, 9},
        .alibi = true, .diagonal = CLATTN_TOP_LEFT, .softcap = 30,
        .fill = FILL_TALL, .returns = LSE},
    {"sinks and dropout", {2, 5, 5, 40, 70, 9, 9}, .sinks = true,
        .dropout_p = 0.5f, .returns = LSE},
    {"sinks without keys, dropout of all", {2, 5, 5, 7, 0, 9, 9}, .sinks = true,
        .dropout_p = 1, .returns = LSE},
    {"a bool mask", {2, 4, 2, 50, 150, 9, 9}, MASK(BOOL, AXES_ALL),
        .returns = LSE},
    {"a bool mask of one row for each head", {2, 4, 2, 50, 150, 9, 9},
        MASK(BOOL, AXIS_H | AXIS_K), .returns = LSE},
    {"a bool mask of one key for each row, gaps", {2, 4, 2, 50, 150, 9, 9},
        MASK(BOOL, AXIS_Q), .mask_padded = true, .returns = LSE},
    {"an additive mask", {2, 4, 2, 50, 150, 9, 9}, MASK(F32, AXES_ALL),
        .mask_padded = true, .returns = LSE},
    {"an additive mask of one number", {2, 4, 2, 50, 150, 9, 9}, MASK(F32, 0),
        .returns = LSE},

    {"f16", {2, 4, 2, 40, 70, 9, 9}, STORED(F16, F16, F16, F16),
        .returns = LSE},
    {"f16, gaps, scores to 1e4", {2, 4, 2, 40, 70, 9, 9},
        STORED(F16, F16, F16, F16), .layout = LAYOUT_PADDED, .fill = FILL_TALL,
        .returns = LSE},
    {"f16, subnormal", {2, 4, 2, 40, 70, 9, 9}, STORED(F16, F16, F16, F16),
        .fill = FILL_TINY, .returns = LSE},
    {"bf16", {2, 4, 2, 70, 70, 9, 9}, STORED(BF16, BF16, BF16, BF16),
        .layout = LAYOUT_PACKED, .returns = LSE},
    {"f16 keys, bf16 values, an f16 mask", {2, 4, 2, 40, 70, 9, 9},
        STORED(F32, F16, BF16, F32), MASK(F16, AXES_ALL), .returns = LSE},
    {"bf16 queries, f16 out, a bf16 mask", {2, 4, 2, 40, 70, 9, 9},
        STORED(BF16, F32, F32, F16), MASK(BF16, AXES_ALL), .returns = LSE},

    {"everything", {4, 4, 2, 40, 90, 9, 9}, EVERYTHING, .returns = LSE},
    {"everything, f16, weights", {4, 4, 2, 40, 90, 9, 9}, EVERYTHING,
        STORED(F16, F16, F16, F16), .returns = BOTH},
    {"everything, final scores", {4, 4, 2, 40, 90, 9, 9}, EVERYTHING,
        .returns = CLATTN_RETURN_SCORES},
    {"everything, scaled scores", {4, 4, 2, 40, 90, 9, 9}, EVERYTHING,
        .returns = CLATTN_RETURN_SCALED},
    {"everything, capped scores in bf16", {4, 4, 2, 40, 90, 9, 9}, EVERYTHING,
        STORED(F32, F32, F32, BF16), .returns = CLATTN_RETURN_CAPPED},
};

/* One below, on and one above the edges of tiles of 4, 8, 16 and 32. */
static const size_t EDGES[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33};

enum {
    EDGE_COUNT = sizeof EDGES / sizeof EDGES[0]
};

/* Every pair of lengths, D and Dv fixed; every third causal. */
static attention_case sweep_lengths(size_t index)
{
    const size_t Lq = EDGES[index / EDGE_COUNT], Lk = EDGES[index % EDGE_COUNT];
    attention_case c = {"sweep of lengths", {1, 2, 1, Lq, Lk, 9, 9},
        .returns = BOTH, .seed = index};
    if (index % 3 == 1)
        c.causal = 1, c.diagonal = CLATTN_BOTTOM_RIGHT;
    if (index % 3 == 2)
        c.layout = LAYOUT_PADDED;
    return c;
}

/* Each D once, and each Dv once, against each other in opposite order. */
static attention_case sweep_widths(size_t index)
{
    return (attention_case){"sweep of widths",
        {2, 2, 1, 9, 7, EDGES[index], EDGES[EDGE_COUNT - 1 - index]},
        .returns = BOTH, .seed = index};
}

size_t attention_case_count(void)
{
    return COUNT(TABLE) + EDGE_COUNT * EDGE_COUNT + EDGE_COUNT;
}

attention_case attention_case_at(size_t index)
{
    if (index < COUNT(TABLE)) {
        attention_case c = TABLE[index];
        c.seed = index;
        return c;
    }
    index -= COUNT(TABLE);
    return index < EDGE_COUNT * EDGE_COUNT
               ? sweep_lengths(index)
               : sweep_widths(index - EDGE_COUNT * EDGE_COUNT);
}

void attention_case_round(attention_case *c, int32_t dtype)
{
    c->dtype.q = c->dtype.k = c->dtype.v = c->dtype.out = dtype;
    c->precision = CLATTN_PRECISION_STORAGE;
    c->returns &= CLATTN_RETURN_LSE;
    c->dropout_p = 0;
}

bool attention_case_shares_programs(size_t index)
{
    return index >= COUNT(TABLE) &&
           index - COUNT(TABLE) < EDGE_COUNT * EDGE_COUNT;
}
