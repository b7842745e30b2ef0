/* SPDX-License-Identifier: Apache-2.0
 *
 * model_names.c - names of attention layers.
 */
#include "model_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <clattn/clattn.h>

/* A prefix is of the first row that fits it. */
static const model_naming NAMINGS[] = {
    {
        .module = "attention",
        .weight = {"self.query.weight", "self.key.weight", "self.value.weight",
            "output.dense.weight"},
        .bias = {{"self.query.bias"}, {"self.key.bias"}, {"self.value.bias"},
            {"output.dense.bias"}},
        .order = CLATTN_OUT_IN,
        .needs_o = true,
    },
    {
        .beside = "o_proj.weight",
        .weight = {"q_proj.weight", "k_proj.weight", "v_proj.weight",
            "o_proj.weight"},
        .bias = {{"q_proj.bias"}, {"k_proj.bias"}, {"v_proj.bias"},
            {"o_proj.bias"}},
        .order = CLATTN_OUT_IN,
        .needs_o = true,
        .has_rotary = true,
    },
    {
        .weight = {"q_proj.weight", "k_proj.weight", "v_proj.weight",
            "out_proj.weight"},
        .bias = {{"q_proj.bias"}, {"k_proj.bias"}, {"v_proj.bias"},
            {"out_proj.bias"}},
        .order = CLATTN_OUT_IN,
        .needs_o = true,
    },
    {
        .weight = {"in_proj_weight", "in_proj_weight", "in_proj_weight",
            "out_proj.weight"},
        .bias = {{"in_proj_bias"}, {"in_proj_bias"}, {"in_proj_bias"},
            {"out_proj.bias"}},
        .order = CLATTN_OUT_IN,
        .packed = true,
        .needs_o = true,
    },
    {
        .weight = {"W_Q.weight", "W_K.weight", "W_V.weight", "W_O.weight"},
        .bias = {{"W_Q.bias", "b_Q"}, {"W_K.bias", "b_K"}, {"W_V.bias", "b_V"},
            {"W_O.bias", "b_O"}},
        .order = CLATTN_OUT_IN,
    },
    {
        .weight = {"W_Q", "W_K", "W_V", "W_O"},
        .bias = {{"W_Q.bias", "b_Q"}, {"W_K.bias", "b_K"}, {"W_V.bias", "b_V"},
            {"W_O.bias", "b_O"}},
        .order = CLATTN_IN_OUT,
    },
};

/* Tensors that mean that a layer computes something else. */
static const struct hindrance {
    const char *name;
    const char *does;
    bool rotary; /* what no_rope is for */
} HINDRANCES[] = {
    {"rotary_emb.inv_freq", "rotates q and k by their positions", true},
    {"self.rotary_embeddings.inv_freq", "rotates q and k by their positions",
        true},
    {"q_norm.weight", "normalises q", false},
    {"k_norm.weight", "normalises k", false},
    {"q_layernorm.weight", "normalises q", false},
    {"k_layernorm.weight", "normalises k", false},
    {"self.distance_embedding.weight", "adds distances to the scores", false},
    {"relative_attention_bias.weight", "adds positions to the scores", false},
    {"gru_rel_pos_linear.weight", "adds positions to the scores", false},
    {"bias_k", "adds a learned key", false},
    {"sinks", "adds a sink to the softmax", false},
};

enum {
    NAME_BYTES = 1024, /* longer names are no names of layers */
    LIST_BYTES = 3000  /* of a message's list */
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const safetensor *model_tensor(
    const safetensors *file, const model_match *match, const char *name)
{
    char full[NAME_BYTES];
    if (match->prefix_size + 1 + strlen(name) >= sizeof full)
        return NULL;
    memcpy(full, match->prefix, match->prefix_size);
    size_t size = match->prefix_size;
    if (size)
        full[size++] = '.';
    strcpy(full + size, name);
    return safetensors_find(file, full);
}

/* ---- Finding ------------------------------------------------------------ */

/* Whether `text` of `size` bytes is "tail" or ends in ".tail"; *before is what
   precedes. */
static bool ends_in(
    const char *text, size_t size, const char *tail, size_t *before)
{
    const size_t tail_size = strlen(tail);
    if (size < tail_size || memcmp(text + size - tail_size, tail, tail_size))
        return false;
    *before = size - tail_size;
    if (*before == 0)
        return true;
    --*before;
    return text[*before] == '.';
}

static bool fits(model_match *match, const safetensors *file, const char *name,
    const model_naming *naming)
{
    size_t ignored;
    *match = (model_match){.naming = naming, .prefix = name};
    if (!ends_in(
            name, strlen(name), naming->weight[MODEL_Q], &match->prefix_size))
        return false;
    if (naming->module &&
        !ends_in(match->prefix, match->prefix_size, naming->module, &ignored))
        return false;
    return !naming->beside || model_tensor(file, match, naming->beside);
}

/* The layer whose query tensor is at `index`; false if that is none. */
static bool match_at(model_match *match, const safetensors *file, size_t index)
{
    const char *name = safetensors_at(file, index)->name;
    for (size_t i = 0; i < COUNT(NAMINGS); i++)
        if (fits(match, file, name, &NAMINGS[i]))
            return true;
    return false;
}

/* Whether a part of the prefix is the number `layer`. */
static bool has_part(const model_match *match, size_t layer)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", layer);
    size_t size = match->prefix_size;
    size_t before = size;
    while (size > 0) {
        if (ends_in(match->prefix, size, number, &before))
            return true;
        while (size > 0 && match->prefix[--size] != '.')
            ;
    }
    return false;
}

static bool is_meant(const model_match *match, const model_request *request)
{
    if (request->has_layer && !has_part(match, request->layer))
        return false;
    if (!request->prefix)
        return true;
    size_t size = strlen(request->prefix);
    size -= size && request->prefix[size - 1] == '.';
    return size == match->prefix_size &&
           memcmp(request->prefix, match->prefix, size) == 0;
}

bool model_index(const model_match *match, size_t *index)
{
    size_t end = match->prefix_size;
    while (end > 0) {
        size_t start = end;
        while (start > 0 && isdigit((unsigned char)match->prefix[start - 1]))
            start--;
        const bool bounded = start == 0 || match->prefix[start - 1] == '.';
        if (bounded && start < end && end - start < 10) {
            *index = 0;
            for (size_t i = start; i < end; i++)
                *index = *index * 10 + (size_t)(match->prefix[i] - '0');
            return true;
        }
        while (end > 0 && match->prefix[--end] != '.')
            ;
    }
    return false;
}

/* ---- Messages ----------------------------------------------------------- */

/* Append to a comma list; what does not fit is counted in *left_out. */
static void list_name(
    char *list, const char *name, size_t size, size_t *left_out)
{
    const size_t used = strlen(list);
    if (*left_out || used + size + 4 > LIST_BYTES) {
        ++*left_out;
        return;
    }
    snprintf(list + used, LIST_BYTES - used, "%s%s%.*s%s", used ? ", " : "",
        size ? "" : "\"", (int)size, name, size ? "" : "\"");
}

static bool fail_without_layers(
    const safetensors *file, const char *path, failure *f)
{
    char list[LIST_BYTES] = "";
    size_t left_out = 0;
    const size_t count = safetensors_count(file);
    for (size_t i = 0; i < count; i++) {
        const char *name = safetensors_at(file, i)->name;
        list_name(list, name, strlen(name), &left_out);
    }
    return fail(f,
        "%s: no attention layer is recognised among its %zu tensors: %s%s",
        path, count, list, left_out ? ", ..." : "");
}

static bool fail_to_choose(const safetensors *file,
    const model_request *request, size_t meant, failure *f)
{
    char list[LIST_BYTES] = "";
    char which[NAME_BYTES + 40] = "";
    size_t left_out = 0;
    model_match match;
    for (size_t i = 0; i < safetensors_count(file); i++)
        if (match_at(&match, file, i) &&
            (meant == 0 || is_meant(&match, request)))
            list_name(list, match.prefix, match.prefix_size, &left_out);
    if (request->has_layer)
        snprintf(which, sizeof which, " of --layer %zu", request->layer);
    if (request->prefix)
        snprintf(which + strlen(which), sizeof which - strlen(which),
            " of --prefix %.900s", request->prefix);
    if (meant == 0)
        return fail(f,
            "%s: there is no attention layer%s; prefixes there: "
            "%s%s",
            request->path, which, list, left_out ? ", ..." : "");
    return fail(f,
        "%s: there are %zu attention layers%s; choose one by "
        "--layer or --prefix: %s%s",
        request->path, meant, which, list, left_out ? ", ..." : "");
}

/* ---- Choosing ----------------------------------------------------------- */

bool model_choose(model_match *match, const safetensors *file,
    const model_request *request, failure *f)
{
    size_t layers = 0;
    size_t meant = 0;
    model_match at;
    for (size_t i = 0; i < safetensors_count(file); i++) {
        if (!match_at(&at, file, i))
            continue;
        layers++;
        if (is_meant(&at, request)) {
            *match = at;
            meant++;
        }
    }
    if (layers == 0)
        return fail_without_layers(file, request->path, f);
    return meant == 1 || fail_to_choose(file, request, meant, f);
}

static bool fail_rotary(
    const model_match *match, const char *path, const char *because, failure *f)
{
    return fail(f,
        "%s: %.*s has %s: this kind of model rotates q and k by their "
        "positions (rotary embedding) before attention, which is not done "
        "here; --no-rope runs it without the rotation",
        path, (int)match->prefix_size, match->prefix, because);
}

bool model_is_plain(const safetensors *file, const model_match *match,
    const model_request *request, failure *f)
{
    if (match->naming->has_rotary && !request->no_rope)
        return fail_rotary(match, request->path, "o_proj", f);
    for (size_t i = 0; i < COUNT(HINDRANCES); i++) {
        const struct hindrance *h = &HINDRANCES[i];
        if (!model_tensor(file, match, h->name))
            continue;
        if (h->rotary && request->no_rope)
            continue;
        if (h->rotary)
            return fail_rotary(match, request->path, h->name, f);
        return fail(f, "%s: %.*s has %s: the layer %s, which is not done here",
            request->path, (int)match->prefix_size, match->prefix, h->name,
            h->does);
    }
    return true;
}
