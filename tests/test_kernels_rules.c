/* SPDX-License-Identifier: Apache-2.0
 *
 * test_kernels_rules.c - rules.clh alone: which keys a block of rows sees,
 * counted one by one, and each rule on single scores.
 */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kernel.h"
#include "opencl.h"
#include "philox.h"
#include "probe.h"
#include "suite.h"

enum {
    ROWS = 7,
    KEYS = 9,
    ITEMS = 16,
    ANSWERS = 4
};

static const char *const PIECES[] = {
    "params.h", "lanes.clh", "visible.clh", "rules.clh", NULL};

static void run(const char *text, size_t width, const kernel_rules *rules,
    const probe_call *call)
{
    char options[KERNEL_OPTIONS];
    probe p;
    kernel_options(options, rules, "-DVW=%zu", width);
    probe_open(&p, PIECES, options, text);
    probe_run(&p, call);
    probe_close(&p);
}

/* ---- Who sees whom ------------------------------------------------------------ */

/* A work-item for each item, first and last row, first key and count. */
static const char SEEN[] =
    "__kernel void probe(__global int *to, __global const int *items,\n"
    "    const attention_params p)\n"
    "{\n"
    "    const int at = (int)get_global_id(0), b = (int)get_global_id(1);\n"
    "    const int first = at / 9 / 9 / 7, last = at / 9 / 9 % 7;\n"
    "    const item it = item_of(&p, items, b);\n"
    "    int begin, end;\n"
    "    keys_seen(&begin, &end, &p, &it, first, last);\n"
    "    to += ((long)b * get_global_size(0) + at) * 4;\n"
    "    to[0] = begin;\n"
    "    to[1] = end;\n"
    "    to[2] = band_is_full(&p, &it, first, last, at / 9 % 9, at % 9 + 1);\n"
    "    to[3] = rows_written(&p, &it);\n"
    "}\n";

#define FAR KERNEL_UNBOUNDED

static const struct {
    const char *about;
    kernel_rules rules;
    wide diagonal, left, right;
} CASES[] = {
    {"no band", {.band = 0}, 3, 0, 0},
    {"items, no band", {.items = 1}, 0, 0, 0},
    {"packed items", {.items = 1, .packed = 1, .band = 1}, 0, FAR, 0},
    {"causal", {.band = 1}, 0, FAR, 0},
    {"causal behind a past", {.band = 1}, 4, FAR, 0},
    {"causal, the first rows see nothing", {.band = 1}, -3, FAR, 0},
    {"a window", {.band = 1}, 1, 2, 1},
    {"a window of one key", {.band = 1}, -1, 0, 0},
    {"a window without its own key", {.band = 1}, 2, 2, -1},
    {"a window to the right alone", {.band = 1}, 0, 0, FAR},
    {"a band without ends", {.band = 1}, 0, FAR, FAR},
    {"the least diagonal", {.band = 1}, INT32_MIN, FAR, 0},
    {"the largest diagonal", {.band = 1}, INT32_MAX, INT32_MAX, INT32_MAX},
    {"items, a window", {.items = 1, .band = 1}, 0, 2, 3},
    {"items, causal", {.items = 1, .band = 1}, 0, FAR, 0},
    {"items, windows as large as they may be", {.items = 1, .band = 1}, 0,
        INT32_MAX, INT32_MAX},
};

/* A block's question and what the band says of it. */
typedef struct block {
    wide first, last, key, keys;
    wide begin, end; /* of the keys that some row sees; equal: none */
    bool full;       /* every row sees all of them, lengths apart */
} block;

static block block_of(
    const kernel_item *it, const attention_params *p, bool band, size_t at)
{
    block b = {.first = (wide)(at / KEYS / KEYS / ROWS),
        .last = (wide)(at / KEYS / KEYS % ROWS),
        .key = (wide)(at / KEYS % KEYS),
        .keys = (wide)(at % KEYS + 1),
        .full = true};
    for (wide j = KEYS; j-- > 0;)
        for (wide i = b.first; i <= b.last; ++i)
            if (kernel_sees(it, p, band, i, j)) {
                b.begin = j;
                b.end = b.end > 0 ? b.end : j + 1;
            }
    kernel_item endless = *it;
    endless.rows = endless.keys = INT32_MAX;
    for (wide j = b.key; j < b.key + b.keys; ++j)
        for (wide i = b.first; i <= b.last; ++i)
            b.full = b.full && kernel_sees(&endless, p, band, i, j);
    return b;
}

static attention_params params_of(size_t n)
{
    return (attention_params){.diagonal = CASES[n].diagonal,
        .window_left = CASES[n].left,
        .window_right = CASES[n].right,
        .items_offset = ARENA_GUARD + 3,
        .Lq = ROWS,
        .Lk = KEYS};
}

/* Where the last row is not the item's, more may be said than is seen. */
static void check_answer(
    size_t n, const kernel_item *it, const block *b, const int32_t *got)
{
    const bool none = b->begin == b->end;
    const bool seen = none ? got[0] >= got[1] || b->last >= it->rows
                           : got[0] <= b->begin && got[1] >= b->end;
    const bool tight =
        none || b->last >= it->rows || (got[0] == b->begin && got[1] == b->end);
    if (!seen || !tight || got[0] < 0 || got[1] > it->keys)
        ck_abort_msg("%s: rows %d to %d see keys %d to %d, not %d to %d",
            CASES[n].about, (int)b->first, (int)b->last, (int)got[0],
            (int)got[1], (int)b->begin, (int)b->end);
    if ((got[2] != 0) != b->full)
        ck_abort_msg("%s: rows %d to %d and %d keys from %d: full is %d",
            CASES[n].about, (int)b->first, (int)b->last, (int)b->keys,
            (int)b->key, (int)got[2]);
    if (got[3] != (CASES[n].rules.packed ? it->rows : ROWS))
        ck_abort_msg("%s: %d rows are written", CASES[n].about, (int)got[3]);
}

START_TEST(blocks_of_rows_see_the_keys_that_their_rows_do)
{
    enum {
        BLOCKS = ROWS * ROWS * KEYS * KEYS
    };
    static int32_t got[ITEMS * BLOCKS * ANSWERS];
    const size_t n = (size_t)_i;
    const attention_params p = params_of(n);
    arena a = {.memories = 0};
    kernel_place_items(&a, 0, ITEMS);
    ck_assert(arena_allocate(&a));
    kernel_fill_items(&a, 0, ROWS, KEYS);
    const probe_call call = {
        .buffer = {{got, sizeof got},
            {a.memory[0].data, a.memory[0].count * sizeof(float)}},
        .params = &p,
        .params_bytes = sizeof p,
        .global = {BLOCKS, ITEMS}};
    run(SEEN, 1, &CASES[n].rules, &call);
    for (size_t at = 0; at < ITEMS * BLOCKS; ++at) {
        const kernel_item whole_item = {0, ROWS, 0, KEYS, p.diagonal};
        const kernel_item it = CASES[n].rules.items
                                   ? kernel_item_at(&a, 0, at / BLOCKS)
                                   : whole_item;
        const block b = block_of(&it, &p, CASES[n].rules.band, at % BLOCKS);
        if (b.first <= b.last)
            check_answer(n, &it, &b, got + at * ANSWERS);
    }
    arena_free(&a);
}
END_TEST

/* ---- Single scores ------------------------------------------------------------ */

static const char SCORES[] =
    "__kernel void probe(__global float *to, __global const float *x,\n"
    "    __global const int *beyond, const attention_params p)\n"
    "{\n"
    "    const int at = (int)get_global_id(0) * VW;\n"
    "    const int n = (int)get_global_size(0) * VW;\n"
    "    const V s = LOAD_ROW(1, x + at), m = LOAD_ROW(1, x + n + at);\n"
    "    const VI j = convert_VI(LOAD_ROW(1, x + 2 * n + at));\n"
    "    STORE_ROW(1, rule_softcap(s, p.softcap, 1.0f / p.softcap), to + at);\n"
    "    STORE_ROW(1, rule_alibi(s, p.scale, j), to + n + at);\n"
    "    STORE_ROW(1, rule_mask(s, m, p.scale), to + 2 * n + at);\n"
    "    item on = {0, 0, 0, 0, 0};\n"
    "    STORE_ROW(1, rule_band(s, band_of(&p, &on), j), to + 3 * n + at);\n"
    "    if (beyond[0] != 0)\n"
    "        to[at] = near((long)beyond[1] * beyond[2]);\n"
    "}\n";

enum {
    N = 64
};

static const struct {
    float cap, slope;
    wide left, right;
} SINGLE[] = {{2, 0.5f, 3, 2}, {8, -0.25f, 0, 0}, {0.5f, 1, FAR, 1},
    {30, 2, 5, -2}, {4, 0.125f, 2, FAR}};

/* Scores in steps of 1/4, masks with -inf, distances from -8 to 8. */
static void fill(float x[3 * N])
{
    for (size_t i = 0; i < N; ++i) {
        x[i] = (float)(i % 13) / 4 - 1.5f;
        x[N + i] = i % 5 == 0 ? -INFINITY : (float)(i % 7) - 3;
        x[2 * N + i] = (float)(i % 17) - 8;
    }
    x[3] = -INFINITY;
    x[10] = NAN;
    x[15] = INFINITY;
}

static bool near_to(double got, double want, double slack)
{
    if (isnan(want) || isinf(want))
        return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= slack;
}

START_TEST(each_rule_changes_a_score_as_the_formula_does)
{
    static const size_t WIDTHS[] = {1, 4, 16};
    static const kernel_rules NONE = {.band = 1};
    float x[3 * N], got[4 * N];
    int32_t off[3] = {0, 0, 0};
    const size_t c = (size_t)_i % COUNT(SINGLE);
    const size_t width = WIDTHS[(size_t)_i / COUNT(SINGLE)];
    const attention_params p = {.softcap = SINGLE[c].cap,
        .scale = SINGLE[c].slope,
        .window_left = SINGLE[c].left,
        .window_right = SINGLE[c].right};
    fill(x);
    const probe_call call = {
        .buffer = {{got, sizeof got}, {x, sizeof x}, {off, sizeof off}},
        .params = &p,
        .params_bytes = sizeof p,
        .global = {N / width, 1}};
    run(SCORES, width, &NONE, &call);
    for (size_t i = 0; i < N; ++i) {
        const double s = x[i], m = x[N + i], j = x[2 * N + i];
        const double cap = SINGLE[c].cap, slope = SINGLE[c].slope;
        const bool hidden =
            j > (double)SINGLE[c].right || -j > (double)SINGLE[c].left;
        const double want[4] = {cap * tanh(s / cap), s - slope * fabs(j),
            isinf(m) ? -INFINITY : s + m * slope, hidden ? -INFINITY : s};
        for (size_t n = 0; n < 4; ++n)
            ck_assert_msg(near_to(got[n * N + i], want[n],
                              n == 0 ? cap * 10 * FLT_EPSILON : 0),
                "width %zu, rule %zu of score %g, mask %g, distance %g: %.9g, "
                "but must be %.9g",
                width, n, s, m, j, (double)got[n * N + i], want[n]);
    }
}
END_TEST

/* A product of two ints, as what lies far off. */
START_TEST(a_distance_stays_itself_or_beyond_all_keys)
{
    static const int32_t FACTORS[][2] = {{0, 1}, {7, 1}, {-7, 1}, {1 << 29, 1},
        {-(1 << 29), 1}, {1 << 30, 1}, {-(1 << 30), 1}, {INT32_MAX, 1},
        {INT32_MIN, 1}, {INT32_MAX, INT32_MAX}, {INT32_MIN, INT32_MAX}};
    static const kernel_rules NONE = {.band = 1};
    const attention_params p = {.softcap = 1};
    for (size_t n = 0; n < COUNT(FACTORS); ++n) {
        float x[3] = {0}, got[4];
        int32_t ask[3] = {1, FACTORS[n][0], FACTORS[n][1]};
        const probe_call call = {
            .buffer = {{got, sizeof got}, {x, sizeof x}, {ask, sizeof ask}},
            .params = &p,
            .params_bytes = sizeof p,
            .global = {1, 1}};
        const double far = (double)ask[1] * ask[2];
        run(SCORES, 1, &NONE, &call);
        ck_assert_msg(fabs(far) < 0x1p30 + 1
                          ? (double)got[0] == far
                          : fabs((double)got[0]) > 0x1p30 &&
                                fabs((double)got[0]) <= 0x1p31 &&
                                (got[0] > 0) == (far > 0),
            "%g becomes %g", far, (double)got[0]);
    }
}
END_TEST

/* ---- Dropout ------------------------------------------------------------------- */

static const char WORDS[] =
    "__kernel void probe(__global uint *to, const attention_params p)\n"
    "{\n"
    "    const int j = 4 * (int)get_global_id(0), z = (int)get_global_id(1);\n"
    "    VU word[4];\n"
    "    rule_words(word, &p, j, (VI)(5) + LANES, z);\n"
    "    to += 4 * VW * (get_global_id(1) * get_global_size(0) + "
    "get_global_id(0));\n"
    "    for (int n = 0; n < 4; ++n)\n"
    "        *(__global VU *)(to + n * VW) = word[n];\n"
    "}\n";

static const wide FIRST[] = {
    0, 3, 0xfffffffe, -2, (wide)1 << 40, INT64_MAX - 1};

/* Key j of row i of sequence first + z: word j % 4 of that counter. */
START_TEST(the_words_are_those_of_sequence_row_and_key)
{
    static const size_t WIDTHS[] = {1, 8};
    static const kernel_rules DROPOUT = {.dropout = 1};
    static uint32_t got[3 * 4 * 4 * 8];
    const size_t width = WIDTHS[_i / 6];
    const attention_params p = {
        .dropout_first = FIRST[_i % 6], .dropout_key = {0xdeadbeef, 42}};
    const probe_call call = {.buffer = {{got, sizeof got}},
        .params = &p,
        .params_bytes = sizeof p,
        .global = {3, 4}};
    run(WORDS, width, &DROPOUT, &call);
    for (uint32_t at = 0; at < 3 * 4 * width; ++at) {
        const uint32_t lane = at % (uint32_t)width, of = at / (uint32_t)width;
        const uint64_t sequence = (uint64_t)p.dropout_first + of / 3;
        const uint32_t counter[4] = {
            of % 3, 5 + lane, (uint32_t)sequence, (uint32_t)(sequence >> 32)};
        uint32_t want[4];
        philox4x32_10(want, counter, p.dropout_key);
        for (size_t n = 0; n < 4; ++n)
            ck_assert_msg(got[(of * 4 + n) * width + lane] == want[n],
                "key %zu of row %u of sequence %llu", of % 3 * 4 + n, 5 + lane,
                (unsigned long long)sequence);
    }
}
END_TEST

int main(void)
{
    TCase *blocks = opencl_cases("blocks", 300);
    tcase_add_loop_test(blocks, blocks_of_rows_see_the_keys_that_their_rows_do,
        0, (int)COUNT(CASES));

    TCase *tiny = opencl_cases("tiny", 300);
    tcase_add_loop_test(tiny, each_rule_changes_a_score_as_the_formula_does, 0,
        3 * (int)COUNT(SINGLE));
    tcase_add_test(tiny, a_distance_stays_itself_or_beyond_all_keys);
    tcase_add_loop_test(
        tiny, the_words_are_those_of_sequence_row_and_key, 0, 12);

    Suite *suite = suite_create("kernels_rules");
    suite_add_tcase(suite, blocks);
    suite_add_tcase(suite, tiny);
    return suite_main(suite, 1);
}
