/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.c - what every way to launch attention shares: parameters, compiled-in
 * options, the table of items.
 */
#include "steps.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The host's and the device's idea of the structs must agree. */
static_assert(sizeof(place) == 32, "place");
static_assert(sizeof(matmul_params) == 3 * 32 + 3 * 8 + 12 * 4, "matmul");
static_assert(sizeof(attention_params) == 8 * 32 + 7 * 8 + 20 * 4, "attention");
static_assert(sizeof(items_params) == 6 * 8 + 12 * 4, "items");

/* Work-items of a group of the table's kernel. */
enum {
    ITEMS_GROUP = 1
};

/* Further than any key: 2^40. */
static const wide UNBOUNDED = (wide)1 << 40;

/* ---- What is compiled in ---------------------------------------------------- */

static int option_band(const clattn_attention *a)
{
    return a->causal || a->window_left >= 0 || a->window_right >= 0;
}

static int option_items(const clattn_attention *a)
{
    return has_items(a);
}

static int option_packed(const clattn_attention *a)
{
    return (a->flags & CLATTN_QUERY_STARTS) != 0;
}

static int option_softcap(const clattn_attention *a)
{
    return a->softcap != 0.0f;
}

static int option_alibi(const clattn_attention *a)
{
    return a->alibi_slopes != NULL;
}

static int option_sinks(const clattn_attention *a)
{
    return (a->flags & CLATTN_SINKS) != 0;
}

static int option_dropout(const clattn_attention *a)
{
    return a->dropout_p > 0.0f;
}

static int option_mask(const clattn_attention *a)
{
    return a->mask.dtype;
}

static int option_lse(const clattn_attention *a)
{
    return (a->flags & CLATTN_RETURN_LSE) != 0;
}

/* With the dtypes, D, Dv and a row's tile parameters this is all that makes
   another program: lengths, batches, heads, strides, offsets, scale and the
   values of softcap, slopes, window and dropout do not. */
static const struct {
    const char *name;
    int (*value)(const clattn_attention *a);
} OPTIONS[] = {
    {"BAND", option_band}, /* those of visible.clh ... */
    {"ITEMS", option_items},
    {"PACKED", option_packed}, /* ... end here */
    {"SOFTCAP", option_softcap},
    {"ALIBI", option_alibi},
    {"SINKS", option_sinks},
    {"DROPOUT", option_dropout},
    {"MASK", option_mask},
    {"LSE", option_lse},
};

enum {
    VISIBLE_OPTIONS = 3
};

static void list_options(
    char *text, size_t capacity, const clattn_attention *a, size_t count)
{
    size_t used = 0;
    for (size_t i = 0; i < count; ++i) {
        const int n = snprintf(text + used, capacity - used, "-D%s=%d ",
            OPTIONS[i].name, OPTIONS[i].value(a));
        used += n > 0 && (size_t)n < capacity - used ? (size_t)n : 0;
    }
}

void visible_options(char *text, size_t capacity, const clattn_attention *a)
{
    list_options(text, capacity, a, VISIBLE_OPTIONS);
}

void rules_options(char *text, size_t capacity, const clattn_attention *a)
{
    list_options(text, capacity, a, sizeof OPTIONS / sizeof OPTIONS[0]);
}

bool has_rules(const clattn_attention *a)
{
    bool found = false;
    for (size_t i = 0; i < sizeof OPTIONS / sizeof OPTIONS[0]; ++i)
        found |= OPTIONS[i].value != option_lse && OPTIONS[i].value(a) != 0;
    return found;
}

/* ---- Parameters -------------------------------------------------------------- */

static place place_of(const clattn_tensor *t, region r)
{
    return (place){(wide)t->batch, (wide)t->head, (wide)t->row, (wide)r.offset};
}

static place mask_place(const clattn_mask *m, region r)
{
    const wide stride[3] = {
        m->size[0] > 1 ? (wide)m->stride[0] : 0,
        m->size[1] > 1 ? (wide)m->stride[1] : 0,
        m->size[2] > 1 ? (wide)m->stride[2] : 0,
    };
    return (place){stride[0], stride[1], stride[2], (wide)r.offset};
}

/* Keys around a row's own that the band leaves. */
static void set_band(attention_params *p, const clattn_attention *a)
{
    p->window_left = a->window_left >= 0 ? a->window_left : UNBOUNDED;
    p->window_right = a->window_right >= 0 ? a->window_right : UNBOUNDED;
    if (a->causal)
        p->window_right = 0;
    if (a->diagonal == CLATTN_BOTTOM_RIGHT)
        p->diagonal = (wide)a->Lk - (wide)a->Lq;
    else if (a->diagonal == CLATTN_OFFSET)
        p->diagonal = a->diagonal_offset;
}

/* Dropped where word < p 2^32, that is, word <= ceil(p 2^32) - 1. */
static void set_dropout(attention_params *p, const clattn_attention *a)
{
    if (a->dropout_p <= 0.0f)
        return;
    p->dropout_last = (word)(ceil(ldexp((double)a->dropout_p, 32)) - 1.0);
    p->dropout_keep = a->dropout_p < 1.0f
                          ? (float)(1.0 / (1.0 - (double)a->dropout_p))
                          : 0.0f;
}

attention_params params_of(
    const clattn_attention *a, const attention_regions *r)
{
    attention_params p = {
        .q = place_of(&a->q, r->q),
        .k = place_of(&a->k, r->k),
        .v = place_of(&a->v, r->v),
        .out = place_of(&a->out, r->out),
        .lse = place_of(&a->lse, r->lse),
        .weights = place_of(&a->weights, r->weights),
        .mask = mask_place(&a->mask, r->mask),
        .items_offset = (wide)r->workspace.offset,
        .slopes_offset = (wide)r->slopes.offset,
        .sinks_offset = (wide)r->sinks.offset,
        .dropout_first = (wide)r->dropout_offset,
        .dropout_key = {(word)r->dropout_seed, (word)(r->dropout_seed >> 32)},
        .scale = a->scale,
        .softcap = a->softcap,
        .mask_column = a->mask.size[3] > 1,
        .heads = (whole)a->Hq,
        .group = (whole)(a->Hkv ? a->Hq / a->Hkv : 1),
        .Lq = (whole)a->Lq,
        .Lk = (whole)a->Lk,
        .rows = (whole)a->Lq,
        .Dv = (whole)a->Dv,
        .j_end = (whole)a->Lk,
    };
    set_band(&p, a);
    set_dropout(&p, a);
    return p;
}

/* ---- Items -------------------------------------------------------------------- */

bool has_items(const clattn_attention *a)
{
    return (a->flags & (CLATTN_QUERY_LENGTHS | CLATTN_KEY_LENGTHS |
                           CLATTN_QUERY_STARTS | CLATTN_KEY_STARTS |
                           CLATTN_DIAGONAL_OFFSETS)) != 0;
}

size_t items_bytes(const clattn_attention *a)
{
    const size_t bytes = a->B * ITEM_INTS * sizeof(int32_t);
    return has_items(a) ? (bytes + 63) / 64 * 64 : 0;
}

size_t scores_room(const clattn_attention *a, size_t max_buffer_bytes)
{
    const size_t table = items_bytes(a);
    return table < max_buffer_bytes ? max_buffer_bytes - table : 0;
}

clattn_status walk_items(const clattn_attention *a, size_t kernel,
    const device_limits *limits, const attention_regions *r,
    launch_visitor *visit, void *state)
{
    whole first[3] = {0};
    const items_params params = {
        .query_lengths = (wide)r->query_lengths.offset,
        .key_lengths = (wide)r->key_lengths.offset,
        .query_starts = (wide)r->query_starts.offset,
        .key_starts = (wide)r->key_starts.offset,
        .diagonals = (wide)r->diagonals.offset,
        .table = (wide)r->workspace.offset,
        .has_query_lengths = (a->flags & CLATTN_QUERY_LENGTHS) != 0,
        .has_key_lengths = (a->flags & CLATTN_KEY_LENGTHS) != 0,
        .has_query_starts = (a->flags & CLATTN_QUERY_STARTS) != 0,
        .has_key_starts = (a->flags & CLATTN_KEY_STARTS) != 0,
        .has_diagonals = (a->flags & CLATTN_DIAGONAL_OFFSETS) != 0,
        .from_last_key = a->diagonal == CLATTN_BOTTOM_RIGHT,
        .diagonal = a->diagonal == CLATTN_OFFSET ? a->diagonal_offset : 0,
        .B = (whole)a->B,
        .Lq = (whole)a->Lq,
        .Lk = (whole)a->Lk,
        .q_rows = (whole)a->q_rows,
        .k_rows = (whole)a->k_rows,
    };
    const grid g = {
        .groups = {a->B, 1, 1},
        .local = {ITEMS_GROUP, 1, 1},
        .group_work = 1,
    };
    launch l = {
        .kernel = kernel,
        .buffer = {r->workspace.mem, r->query_lengths.mem, r->key_lengths.mem,
            r->query_starts.mem, r->key_starts.mem, r->diagonals.mem},
        .n_buffers = 6,
        .params = &params,
        .params_bytes = sizeof params,
    };
    if (!has_items(a))
        return CLATTN_OK;
    /* One launch: its items are few, and it has no place for a first group. */
    device_limits whole_grid = *limits;
    whole_grid.max_groups[0] = SIZE_MAX;
    whole_grid.launch_work = 0;
    return grid_walk(&g, &whole_grid, &l, first, visit, state);
}
