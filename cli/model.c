/* SPDX-License-Identifier: Apache-2.0
 *
 * model.c - one attention layer out of a .safetensors file.
 */
#include "model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <clattn/clattn.h>

#include "model_names.h"
#include "npy.h"
#include "safetensors.h"

/* What the steps of loading hand on. */
typedef struct loading {
    const model_request *request;
    const safetensors *file;
    model_match match;
    model_layer *layer;
    const safetensor *weight[MODEL_PARTS]; /* NULL: no such projection */
    failure *f;
} loading;

/* ---- Head count --------------------------------------------------------- */

static bool whole_number(size_t *to, const char *text)
{
    enum {
        MOST_DIGITS = 9
    };
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > MOST_DIGITS || text[digits])
        return false;
    *to = strtoul(text, NULL, 10);
    return *to > 0;
}

static bool read_heads(const loading *l)
{
    static const char *const KEYS[] = {
        "num_attention_heads", "n_head", "num_heads"};
    const char *path = l->request->path;
    l->layer->Hq = l->request->heads;
    if (l->layer->Hq)
        return true;
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        const char *text = safetensors_metadata(l->file, KEYS[i]);
        if (text && whole_number(&l->layer->Hq, text))
            return true;
        if (text)
            return fail(l->f,
                "%s: %s is \"%s\" in the metadata, not a whole number from 1 "
                "up; --heads H overrides it",
                path, KEYS[i], text);
    }
    return fail(l->f,
        "%s: how many heads the layer has is not in the file's metadata "
        "(num_attention_heads, n_head or num_heads) and never guessed; give "
        "--heads H",
        path);
}

/* ---- Shapes ------------------------------------------------------------- */

static bool check_rank(const loading *l, const safetensor *t, size_t rank)
{
    char shape[200];
    if (t->rank == rank)
        return true;
    return fail(l->f, "%s: %s has shape %s of rank %zu, but rank %zu is needed",
        l->request->path, t->name, npy_shape_text(shape, t->rank, t->size),
        t->rank, rank);
}

/* Sizes of the projection out of its tensor's. */
static bool measure(const loading *l, model_part part)
{
    const safetensor *t = l->weight[part];
    model_weight *w = &l->layer->part[part];
    if (!check_rank(l, t, 2))
        return false;
    const bool in_out = l->layer->weight_order == CLATTN_IN_OUT;
    w->row = t->size[1];
    w->n_in = in_out ? t->size[0] : t->size[1];
    w->n_out = in_out ? t->size[1] : t->size[0];
    if (part == MODEL_O || !l->match.naming->packed)
        return true;
    if (w->n_out % 3)
        return fail(l->f,
            "%s: %s has %zu outputs, but q, k and v need a "
            "multiple of 3",
            l->request->path, t->name, w->n_out);
    w->n_out /= 3;
    return true;
}

static bool check_inputs(const loading *l)
{
    const model_weight *part = l->layer->part;
    for (model_part i = MODEL_K; i <= MODEL_V; i++)
        if (part[i].n_in != part[MODEL_Q].n_in)
            return fail(l->f, "%s: %s takes width %zu, but %s takes width %zu",
                l->request->path, l->weight[i]->name, part[i].n_in,
                l->weight[MODEL_Q]->name, part[MODEL_Q].n_in);
    return true;
}

static bool fail_division(
    const loading *l, size_t count, const char *of, model_part part, failure *f)
{
    return fail(f, "%s: %zu %s do not divide the %zu outputs of %s",
        l->request->path, count, of, l->layer->part[part].n_out,
        l->weight[part]->name);
}

/* Hkv, D and Dv out of the head count and the widths of q, k and v. */
static bool divide_heads(const loading *l)
{
    model_layer *m = l->layer;
    const model_weight *part = m->part;
    if (part[MODEL_Q].n_out % m->Hq || part[MODEL_Q].n_out == 0)
        return fail_division(l, m->Hq, "heads", MODEL_Q, l->f);
    m->D = part[MODEL_Q].n_out / m->Hq;
    m->Hkv = part[MODEL_K].n_out / m->D;
    if (part[MODEL_K].n_out % m->D || m->Hkv == 0 || m->Hq % m->Hkv)
        return fail(l->f,
            "%s: the %zu outputs of %s are no heads of %zu whose number "
            "divides the %zu query heads",
            l->request->path, part[MODEL_K].n_out, l->weight[MODEL_K]->name,
            m->D, m->Hq);
    if (part[MODEL_V].n_out % m->Hkv || part[MODEL_V].n_out == 0)
        return fail_division(l, m->Hkv, "key heads", MODEL_V, l->f);
    m->Dv = part[MODEL_V].n_out / m->Hkv;
    return true;
}

static bool check_output(const loading *l)
{
    model_layer *m = l->layer;
    m->E = m->part[MODEL_Q].n_in;
    m->Ey = m->Hq * m->Dv;
    if (!l->weight[MODEL_O])
        return true;
    if (m->part[MODEL_O].n_in != m->Ey)
        return fail(l->f,
            "%s: %s takes width %zu, but %zu heads of %zu give %zu",
            l->request->path, l->weight[MODEL_O]->name, m->part[MODEL_O].n_in,
            m->Hq, m->Dv, m->Ey);
    m->Ey = m->part[MODEL_O].n_out;
    return true;
}

/* ---- Tensors ------------------------------------------------------------ */

static bool find_weights(loading *l)
{
    const model_naming *naming = l->match.naming;
    for (model_part i = MODEL_Q; i < MODEL_PARTS; i++) {
        if (i == MODEL_O && l->request->no_output)
            break;
        l->weight[i] = model_tensor(l->file, &l->match, naming->weight[i]);
        if (l->weight[i])
            continue;
        if (i < MODEL_O)
            return fail(l->f, "%s: %s has no %s beside it", l->request->path,
                l->weight[MODEL_Q]->name, naming->weight[i]);
        if (naming->needs_o)
            return fail(l->f,
                "%s: %s has no %s beside it; --no-output-projection runs "
                "without",
                l->request->path, l->weight[MODEL_Q]->name, naming->weight[i]);
    }
    return true;
}

static bool convert_weight(const loading *l, model_part part)
{
    model_layer *m = l->layer;
    model_weight *w = &m->part[part];
    const bool shared =
        l->match.naming->packed && (part == MODEL_K || part == MODEL_V);
    if (!shared) {
        m->owned[part] = safetensor_to_f32(l->weight[part], l->f);
        w->w = m->owned[part];
        return w->w != NULL;
    }
    const size_t step =
        m->weight_order == CLATTN_IN_OUT ? w->n_out : w->n_out * w->row;
    w->w = m->owned[MODEL_Q] + part * step;
    return true;
}

static bool convert_bias(const loading *l, model_part part)
{
    const model_naming *naming = l->match.naming;
    model_layer *m = l->layer;
    const bool packed = naming->packed && part < MODEL_O;
    const safetensor *bias[2] = {NULL, NULL};
    for (size_t i = 0; i < 2 && naming->bias[part][i]; i++)
        bias[i] = model_tensor(l->file, &l->match, naming->bias[part][i]);
    if (bias[0] && bias[1])
        return fail(l->f, "%s: both %s and %s are there for one bias",
            l->request->path, bias[0]->name, bias[1]->name);
    const safetensor *t = bias[0] ? bias[0] : bias[1];
    const size_t n_out = m->part[part].n_out;
    if (!t)
        return true;
    if (!check_rank(l, t, 1))
        return false;
    if (t->count != (packed ? 3 * n_out : n_out))
        return fail(l->f, "%s: %s has %zu values, but %s has %zu outputs",
            l->request->path, t->name, t->count, l->weight[part]->name,
            packed ? 3 * n_out : n_out);
    float *values = safetensor_to_f32(t, l->f);
    if (!values)
        return false;
    m->owned[MODEL_PARTS + part] = values;
    m->part[part].b = values + (packed ? part * n_out : 0);
    return true;
}

static bool convert(const loading *l)
{
    for (model_part i = MODEL_Q; i < MODEL_PARTS; i++)
        if (l->weight[i] && !(convert_weight(l, i) && convert_bias(l, i)))
            return false;
    return true;
}

/* ---- Whole -------------------------------------------------------------- */

static bool name_layer(const loading *l)
{
    model_layer *m = l->layer;
    m->prefix = calloc(l->match.prefix_size + 1, 1);
    if (!m->prefix)
        return fail(l->f, "no memory for a name");
    memcpy(m->prefix, l->match.prefix, l->match.prefix_size);
    m->has_index = model_index(&l->match, &m->index);
    m->weight_order = l->request->weight_order ? l->request->weight_order
                                               : l->match.naming->order;
    return true;
}

static bool load(loading *l)
{
    if (!model_choose(&l->match, l->file, l->request, l->f) ||
        !model_is_plain(l->file, &l->match, l->request, l->f) ||
        !name_layer(l) || !find_weights(l) || !read_heads(l))
        return false;
    for (model_part i = MODEL_Q; i < MODEL_PARTS; i++)
        if (l->weight[i] && !measure(l, i))
            return false;
    return check_inputs(l) && divide_heads(l) && check_output(l) && convert(l);
}

bool model_load(model_layer *layer, const model_request *request, failure *f)
{
    *layer = (model_layer){0};
    safetensors *file = safetensors_open(request->path, f);
    if (!file)
        return false;
    loading l = {.request = request, .file = file, .layer = layer, .f = f};
    const bool done = load(&l);
    safetensors_close(file);
    if (!done)
        model_free(layer);
    return done;
}

void model_free(model_layer *layer)
{
    free(layer->prefix);
    for (size_t i = 0; i < 2 * MODEL_PARTS; i++)
        free(layer->owned[i]);
    *layer = (model_layer){0};
}
