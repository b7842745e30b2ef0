/* SPDX-License-Identifier: Apache-2.0
 *
 * test_model.c - which layers of a file are recognised, how they are measured,
 * and what is refused.
 */
#include <stdio.h>
#include <string.h>

#include <clattn/clattn.h>

#include "model.h"
#include "scratch.h"
#include "suite.h"
#include "tensors.h"

#define HEADS_2 "\"num_attention_heads\":\"2\""

/* Width 4, projections to 6, output to 4; P is what precedes. */
#define LINEAR(P, q, k, v)                                          \
    {P q ".weight", 2, {6, 4}, 100}, {P q ".bias", 1, {6}, 10},     \
        {P k ".weight", 2, {6, 4}, 200}, {P k ".bias", 1, {6}, 20}, \
        {P v ".weight", 2, {6, 4}, 300},                            \
    {                                                               \
        P v ".bias", 1, {6}, 30                                     \
    }
#define BERT(P)                                              \
    LINEAR(P "attention.self.", "query", "key", "value"),    \
        {P "attention.output.dense.weight", 2, {4, 6}, 400}, \
    {                                                        \
        P "attention.output.dense.bias", 1, {4}, 40          \
    }
#define PROJ(P, o)                                                            \
    LINEAR(P, "q_proj", "k_proj", "v_proj"), {P o ".weight", 2, {4, 6}, 400}, \
    {                                                                         \
        P o ".bias", 1, {4}, 40                                               \
    }
#define PLAIN(P)                                          \
    {P "W_Q", 2, {4, 6}, 100}, {P "W_K", 2, {4, 6}, 200}, \
    {                                                     \
        P "W_V", 2, {4, 6}, 300                           \
    }

/* ---- What is recognised ------------------------------------------------- */

static const struct accept_case {
    const char *about;
    tensor_row rows[20];
    model_request request;
    const char *prefix;
    int32_t order;
    size_t E, Ey, Hq, Hkv, D, Dv;
    float w[MODEL_PARTS], b[MODEL_PARTS]; /* first elements; 0: none */
} ACCEPTED[] = {
    {"BERT", {BERT("encoder.layer.3.")}, {0}, "encoder.layer.3.attention",
        CLATTN_OUT_IN, 4, 4, 2, 2, 3, 3, {100, 200, 300, 400},
        {10, 20, 30, 40}},
    {"BERT without a model around it", {BERT("")}, {0}, "attention",
        CLATTN_OUT_IN, 4, 4, 2, 2, 3, 3, {100, 200, 300, 400},
        {10, 20, 30, 40}},
    {"out_proj", {PROJ("layers.0.self_attn.", "out_proj")}, {0},
        "layers.0.self_attn", CLATTN_OUT_IN, 4, 4, 2, 2, 3, 3,
        {100, 200, 300, 400}, {10, 20, 30, 40}},
    {"out_proj without a prefix", {PROJ("", "out_proj")}, {0}, "",
        CLATTN_OUT_IN, 4, 4, 2, 2, 3, 3, {100, 200, 300, 400},
        {10, 20, 30, 40}},
    {"o_proj that is meant without rotation", {PROJ("a.", "o_proj")},
        {.no_rope = true}, "a", CLATTN_OUT_IN, 4, 4, 2, 2, 3, 3,
        {100, 200, 300, 400}, {10, 20, 30, 40}},
    {"in_proj: q, k and v one after another",
        {{"in_proj_weight", 2, {12, 4}, 100}, {"in_proj_bias", 1, {12}, 10},
            {"out_proj.weight", 2, {4, 4}, 400}, {"out_proj.bias", 1, {4}, 40}},
        {0}, "", CLATTN_OUT_IN, 4, 4, 2, 2, 2, 2, {100, 116, 132, 400},
        {10, 14, 18, 40}},
    {"in_proj stored as in-out: side by side",
        {{"in_proj_weight", 2, {4, 12}, 100},
            {"out_proj.weight", 2, {4, 4}, 400}},
        {.weight_order = CLATTN_IN_OUT}, "", CLATTN_IN_OUT, 4, 4, 2, 2, 2, 2,
        {100, 104, 108, 400}, {0}},
    {"bare W_Q is in-out", {PLAIN("")}, {0}, "", CLATTN_IN_OUT, 4, 6, 2, 2, 3,
        3, {100, 200, 300, 0}, {0}},
    {"bare W_Q with b_Q, and W_O",
        {PLAIN("blocks.1.attn."), {"blocks.1.attn.b_Q", 1, {6}, 10},
            {"blocks.1.attn.b_V", 1, {6}, 30},
            {"blocks.1.attn.W_O", 2, {6, 5}, 400},
            {"blocks.1.attn.b_O", 1, {5}, 40}},
        {0}, "blocks.1.attn", CLATTN_IN_OUT, 4, 5, 2, 2, 3, 3,
        {100, 200, 300, 400}, {10, 0, 30, 40}},
    {"bare W_Q with W_Q.bias", {PLAIN(""), {"W_Q.bias", 1, {6}, 10}}, {0}, "",
        CLATTN_IN_OUT, 4, 6, 2, 2, 3, 3, {100, 200, 300, 0}, {10, 0, 0, 0}},
    {"W_Q.weight is out-in", {LINEAR("", "W_Q", "W_K", "W_V")}, {0}, "",
        CLATTN_OUT_IN, 4, 6, 2, 2, 3, 3, {100, 200, 300, 0}, {10, 20, 30, 0}},
    {"an order that is asked for overrides the names", {PLAIN("")},
        {.weight_order = CLATTN_OUT_IN}, "", CLATTN_OUT_IN, 6, 4, 2, 2, 2, 2,
        {100, 200, 300, 0}, {0}},
    {"without the output projection", {BERT("")}, {.no_output = true},
        "attention", CLATTN_OUT_IN, 4, 6, 2, 2, 3, 3, {100, 200, 300, 0},
        {10, 20, 30, 0}},
    {"heads that are asked for override the metadata", {BERT("")}, {.heads = 3},
        "attention", CLATTN_OUT_IN, 4, 4, 3, 3, 2, 2, {100, 200, 300, 400},
        {10, 20, 30, 40}},
    {"fewer key heads than query heads",
        {{"q_proj.weight", 2, {8, 4}, 100}, {"k_proj.weight", 2, {2, 4}, 200},
            {"v_proj.weight", 2, {2, 4}, 300},
            {"out_proj.weight", 2, {4, 8}, 400}},
        {.heads = 4}, "", CLATTN_OUT_IN, 4, 4, 4, 1, 2, 2, {100, 200, 300, 400},
        {0}},
    {"values wider than keys",
        {{"W_Q", 2, {4, 4}, 100}, {"W_K", 2, {4, 4}, 200},
            {"W_V", 2, {4, 10}, 300}},
        {0}, "", CLATTN_IN_OUT, 4, 10, 2, 2, 2, 5, {100, 200, 300, 0}, {0}},
    {"a layer by its number",
        {BERT("encoder.layer.3."), BERT("encoder.layer.13.")},
        {.has_layer = true, .layer = 3}, "encoder.layer.3.attention",
        CLATTN_OUT_IN, 4, 4, 2, 2, 3, 3, {100, 200, 300, 400},
        {10, 20, 30, 40}},
    {"a number at the prefix's end", {PLAIN("0."), PLAIN("1.")},
        {.has_layer = true, .layer = 1}, "1", CLATTN_IN_OUT, 4, 6, 2, 2, 3, 3,
        {100, 200, 300, 0}, {0}},
    {"a layer by its prefix", {PLAIN("a."), PLAIN("b.")}, {.prefix = "b"}, "b",
        CLATTN_IN_OUT, 4, 6, 2, 2, 3, 3, {100, 200, 300, 0}, {0}},
    {"a prefix with its dot", {PLAIN("a."), PLAIN("b.")}, {.prefix = "b."}, "b",
        CLATTN_IN_OUT, 4, 6, 2, 2, 3, 3, {100, 200, 300, 0}, {0}},
    {"the empty prefix", {PLAIN(""), PLAIN("b.")}, {.prefix = ""}, "",
        CLATTN_IN_OUT, 4, 6, 2, 2, 3, 3, {100, 200, 300, 0}, {0}},
    {"cross attention of a BERT is not self-attention",
        {BERT("0."), LINEAR("0.crossattention.self.", "query", "key", "value")},
        {0}, "0.attention", CLATTN_OUT_IN, 4, 4, 2, 2, 3, 3,
        {100, 200, 300, 400}, {10, 20, 30, 40}},
};

START_TEST(a_layer_is_found_and_measured)
{
    const struct accept_case *row = &ACCEPTED[_i];
    char path[SCRATCH_PATH];
    model_layer m;
    failure f = {.text = ""};
    model_request request = row->request;
    request.path =
        tensors_write(path, "model.safetensors", row->rows, HEADS_2, NULL);
    ck_assert_msg(model_load(&m, &request, &f), "%s: %s", row->about, f.text);
    ck_assert_msg(strcmp(m.prefix, row->prefix) == 0, "%s: prefix %s",
        row->about, m.prefix);
    ck_assert_msg(m.weight_order == row->order && m.E == row->E &&
                      m.Ey == row->Ey && m.Hq == row->Hq && m.Hkv == row->Hkv &&
                      m.D == row->D && m.Dv == row->Dv,
        "%s: order %d, E %zu, Ey %zu, Hq %zu, Hkv %zu, D %zu, Dv %zu",
        row->about, (int)m.weight_order, m.E, m.Ey, m.Hq, m.Hkv, m.D, m.Dv);
    for (model_part i = MODEL_Q; i < MODEL_PARTS; i++) {
        const float w = m.part[i].w ? m.part[i].w[0] : 0.0f;
        const float b = m.part[i].b ? m.part[i].b[0] : 0.0f;
        ck_assert_msg(w == row->w[i] && b == row->b[i],
            "%s: part %d begins with w %g, b %g", row->about, (int)i, (double)w,
            (double)b);
    }
    model_free(&m);
}
END_TEST

/* The stride is what tells side by side from one after another. */
START_TEST(packed_weights_keep_the_stride_of_their_tensor)
{
    static const struct {
        int32_t order;
        size_t size[2], row, n_in, n_out;
    } CASES[] = {
        {CLATTN_OUT_IN, {12, 4}, 4, 4, 4}, {CLATTN_IN_OUT, {4, 12}, 12, 4, 4}};
    for (size_t i = 0; i < COUNT(CASES); i++) {
        const tensor_row rows[] = {
            {"in_proj_weight", 2, {CASES[i].size[0], CASES[i].size[1]}, 1},
            {NULL, 0, {0}, 0}};
        char path[SCRATCH_PATH];
        model_layer m;
        failure f = {.text = ""};
        const model_request request = {
            .path =
                tensors_write(path, "packed.safetensors", rows, HEADS_2, NULL),
            .weight_order = CASES[i].order,
            .no_output = true};
        ck_assert_msg(model_load(&m, &request, &f), "%s", f.text);
        for (model_part p = MODEL_Q; p <= MODEL_V; p++) {
            ck_assert_uint_eq(m.part[p].row, CASES[i].row);
            ck_assert_uint_eq(m.part[p].n_in, CASES[i].n_in);
            ck_assert_uint_eq(m.part[p].n_out, CASES[i].n_out);
        }
        model_free(&m);
    }
}
END_TEST

static const struct index_case {
    tensor_row rows[4];
    bool has_index;
    size_t index;
} INDICES[] = {
    {{PLAIN("encoder.layer.12.")}, true, 12},
    {{PLAIN("0.blocks.7.attn.")}, true, 7},
    {{PLAIN("3.")}, true, 3},
    {{PLAIN("layer3.attn.")}, false, 0},
    {{PLAIN("")}, false, 0},
};

START_TEST(the_layers_number_is_the_last_one_in_its_prefix)
{
    const struct index_case *row = &INDICES[_i];
    char path[SCRATCH_PATH];
    model_layer m;
    failure f = {.text = ""};
    const model_request request = {
        .path =
            tensors_write(path, "index.safetensors", row->rows, HEADS_2, NULL)};
    ck_assert_msg(model_load(&m, &request, &f), "%s", f.text);
    ck_assert_msg(m.has_index == row->has_index && m.index == row->index,
        "%s: %d, %zu", m.prefix, m.has_index, m.index);
    model_free(&m);
}
END_TEST

static const struct metadata_case {
    const char *metadata;
    size_t heads; /* 0: refused */
} METADATA[] = {
    {"\"num_attention_heads\":\"3\"", 3},
    {"\"n_head\":\"6\"", 6},
    {"\"num_heads\":\"1\"", 1},
    {"\"num_attention_heads\":\"\"", 0},
    {"\"num_attention_heads\":\"0\"", 0},
    {"\"num_attention_heads\":\"-2\"", 0},
    {"\"num_attention_heads\":\"2 \"", 0},
    {"\"num_attention_heads\":\"two\"", 0},
    {"\"num_attention_heads\":\"99999999999999999999\"", 0},
    {"\"hidden_size\":\"4\"", 0},
    {NULL, 0},
};

START_TEST(heads_come_from_the_metadata_or_are_refused)
{
    const struct metadata_case *row = &METADATA[_i];
    const tensor_row rows[] = {PLAIN(""), {NULL, 0, {0}, 0}};
    char path[SCRATCH_PATH];
    model_layer m;
    failure f = {.text = ""};
    const model_request request = {
        .path = tensors_write(
            path, "heads.safetensors", rows, row->metadata, NULL)};
    const bool done = model_load(&m, &request, &f);
    ck_assert_msg(done == (row->heads > 0), "%s: %s", row->metadata, f.text);
    ck_assert_msg(m.Hq == row->heads, "%s: %zu heads", row->metadata, m.Hq);
    if (!done)
        ck_assert_msg(
            strstr(f.text, "--heads H") && strstr(f.text, path), "%s", f.text);
    model_free(&m);
}
END_TEST

/* ---- What is refused ---------------------------------------------------- */

static const struct refuse_case {
    const char *about;
    tensor_row rows[20];
    model_request request;
    const char *message[4]; /* what it must hold */
} REFUSED[] = {
    {"no layer at all", {{"a", 1, {2}, 0}, {"b.weight", 2, {2, 2}, 0}}, {0},
        {"no attention layer is recognised", "2 tensors: a, b.weight"}},
    {"no layer of that number", {BERT("encoder.layer.3.")},
        {.has_layer = true, .layer = 4},
        {"--layer 4", "encoder.layer.3.attention"}},
    {"a number's end is not the number", {BERT("encoder.layer.13.")},
        {.has_layer = true, .layer = 3},
        {"--layer 3", "encoder.layer.13.attention"}},
    {"a number inside a name is not the layer", {PLAIN("layer3.")},
        {.has_layer = true, .layer = 3}, {"--layer 3", "layer3"}},
    {"no layer of that prefix", {BERT("encoder.layer.3.")},
        {.prefix = "encoder.layer.3"},
        {"--prefix encoder.layer.3", "encoder.layer.3.attention"}},
    {"several layers", {PLAIN("a."), PLAIN("b.")}, {0},
        {"2 attention layers", "--layer or --prefix", "a, b"}},
    {"several layers of that number",
        {PLAIN("encoder.0."), PLAIN("decoder.0."), PLAIN("decoder.1.")},
        {.has_layer = true, .layer = 0},
        {"2 attention layers", "decoder.0, encoder.0"}},
    {"rotary embedding by o_proj", {PROJ("layers.0.self_attn.", "o_proj")}, {0},
        {"o_proj", "rotates q and k", "--no-rope", "layers.0.self_attn"}},
    {"rotary embedding by its tensor",
        {PROJ("a.", "out_proj"), {"a.rotary_emb.inv_freq", 1, {2}, 0}}, {0},
        {"rotary_emb.inv_freq", "rotates q and k", "--no-rope"}},
    {"norms of q", {PROJ("a.", "o_proj"), {"a.q_norm.weight", 1, {3}, 0}},
        {.no_rope = true}, {"a has q_norm.weight", "normalises q"}},
    {"distances in the scores",
        {BERT(""), {"attention.self.distance_embedding.weight", 2, {9, 3}, 0}},
        {0}, {"self.distance_embedding.weight", "adds distances"}},
    {"a learned key", {PROJ("a.", "out_proj"), {"a.bias_k", 1, {6}, 0}}, {0},
        {"a has bias_k"}},
    {"no key", {{"W_Q", 2, {4, 6}, 0}, {"W_V", 2, {4, 6}, 0}}, {0},
        {"W_Q has no W_K beside it"}},
    {"no output projection where there always is one",
        {LINEAR("a.attention.self.", "query", "key", "value")}, {0},
        {"no output.dense.weight", "--no-output-projection"}},
    {"heads that do not divide", {BERT("")}, {.heads = 4},
        {"4 heads do not divide the 6 outputs", "attention.self.query.weight"}},
    {"more heads than outputs", {BERT("")}, {.heads = 12},
        {"12 heads do not divide the 6 outputs"}},
    {"key heads that do not divide the query heads",
        {{"W_Q", 2, {4, 6}, 0}, {"W_K", 2, {4, 4}, 0}, {"W_V", 2, {4, 4}, 0}},
        {.heads = 3}, {"4 outputs of W_K", "3 query heads"}},
    {"key outputs that are no heads",
        {{"W_Q", 2, {4, 6}, 0}, {"W_K", 2, {4, 4}, 0}, {"W_V", 2, {4, 4}, 0}},
        {.heads = 2}, {"4 outputs of W_K", "heads of 3"}},
    {"values that do not divide",
        {{"W_Q", 2, {4, 6}, 0}, {"W_K", 2, {4, 6}, 0}, {"W_V", 2, {4, 5}, 0}},
        {0}, {"2 key heads do not divide the 5 outputs of W_V"}},
    {"inputs of different widths",
        {{"W_Q", 2, {4, 6}, 0}, {"W_K", 2, {5, 6}, 0}, {"W_V", 2, {4, 6}, 0}},
        {0}, {"W_K takes width 5", "W_Q takes width 4"}},
    {"output projection of another width", {PLAIN(""), {"W_O", 2, {5, 4}, 0}},
        {0}, {"W_O takes width 5", "2 heads of 3 give 6"}},
    {"a weight of rank 3",
        {{"W_Q", 3, {2, 4, 3}, 0}, {"W_K", 2, {4, 6}, 0},
            {"W_V", 2, {4, 6}, 0}},
        {0}, {"W_Q has shape (2, 4, 3)", "rank 2 is needed"}},
    {"a bias of rank 2", {PLAIN(""), {"b_K", 2, {1, 6}, 0}}, {0},
        {"b_K has shape (1, 6)", "rank 1 is needed"}},
    {"a bias of another size", {PLAIN(""), {"b_K", 1, {5}, 0}}, {0},
        {"b_K has 5 values, but W_K has 6 outputs"}},
    {"two biases for one",
        {PLAIN(""), {"b_K", 1, {6}, 0}, {"W_K.bias", 1, {6}, 0}}, {0},
        {"both W_K.bias and b_K"}},
    {"a packed weight that is not three",
        {{"in_proj_weight", 2, {10, 4}, 0}, {"out_proj.weight", 2, {4, 4}, 0}},
        {0}, {"in_proj_weight has 10 outputs", "multiple of 3"}},
    {"a packed bias of another size",
        {{"in_proj_weight", 2, {12, 4}, 0}, {"in_proj_bias", 1, {4}, 0},
            {"out_proj.weight", 2, {4, 4}, 0}},
        {0}, {"in_proj_bias has 4 values", "12 outputs"}},
    {"no outputs",
        {{"W_Q", 2, {4, 0}, 0}, {"W_K", 2, {4, 0}, 0}, {"W_V", 2, {4, 0}, 0}},
        {0}, {"0 outputs of W_Q"}},
};

START_TEST(what_cannot_be_right_is_refused_with_file_and_tensor)
{
    const struct refuse_case *row = &REFUSED[_i];
    char path[SCRATCH_PATH];
    model_layer m;
    failure f = {.text = ""};
    model_request request = row->request;
    request.path =
        tensors_write(path, "model.safetensors", row->rows, HEADS_2, NULL);
    ck_assert_msg(!model_load(&m, &request, &f), "%s: accepted", row->about);
    ck_assert_msg(strncmp(f.text, path, strlen(path)) == 0,
        "%s: \"%s\" does not begin with the file", row->about, f.text);
    for (size_t i = 0; i < 4 && row->message[i]; i++)
        ck_assert_msg(strstr(f.text, row->message[i]) != NULL,
            "%s: \"%s\" does not hold \"%s\"", row->about, f.text,
            row->message[i]);
    model_free(&m); /* harmless */
}
END_TEST

START_TEST(a_file_that_is_none_is_refused)
{
    char path[SCRATCH_PATH];
    model_layer m;
    failure f = {.text = ""};
    const model_request request = {
        .path = scratch_write(path, "short.safetensors", "short", 5)};
    ck_assert(!model_load(&m, &request, &f));
    ck_assert_msg(strstr(f.text, "short.safetensors") != NULL, "%s", f.text);
}
END_TEST

/* A message holds so many names and then "...", however many there are. */
START_TEST(a_long_list_is_cut)
{
    enum {
        MANY = 100
    };
    static char names[MANY][50];
    static tensor_row rows[MANY + 1];
    char path[SCRATCH_PATH];
    model_layer m;
    failure f = {.text = ""};
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i],
            "a.name.that.is.rather.long.for.a.tensor.%zu", i);
        rows[i] = (tensor_row){names[i], 1, {1}, 0};
    }
    const model_request request = {
        .path = tensors_write(path, "many.safetensors", rows, NULL, NULL)};
    ck_assert(!model_load(&m, &request, &f));
    ck_assert_msg(strstr(f.text, "100 tensors") &&
                      strstr(f.text, "tensor.10") &&
                      strcmp(f.text + strlen(f.text) - 5, ", ...") == 0,
        "%s", f.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model");
    TCase *found = tcase_create("found");
    tcase_add_unchecked_fixture(found, scratch_begin, scratch_end);
    tcase_add_loop_test(
        found, a_layer_is_found_and_measured, 0, COUNT(ACCEPTED));
    tcase_add_test(found, packed_weights_keep_the_stride_of_their_tensor);
    tcase_add_loop_test(found, the_layers_number_is_the_last_one_in_its_prefix,
        0, COUNT(INDICES));
    tcase_add_loop_test(
        found, heads_come_from_the_metadata_or_are_refused, 0, COUNT(METADATA));
    suite_add_tcase(suite, found);
    TCase *refused = tcase_create("refused");
    tcase_add_unchecked_fixture(refused, scratch_begin, scratch_end);
    tcase_add_loop_test(refused,
        what_cannot_be_right_is_refused_with_file_and_tensor, 0,
        COUNT(REFUSED));
    tcase_add_test(refused, a_file_that_is_none_is_refused);
    tcase_add_test(refused, a_long_list_is_cut);
    suite_add_tcase(suite, refused);
    return suite_main(suite, 0);
}
