/* SPDX-License-Identifier: Apache-2.0
 *
 * layer.c - the textbook's SimpleSelfAttention: (output, weights) of a batch.
 * Item 0 is the sentence of examples/textbook, item 1 has its words reversed.
 */
#include <clattn/clattn.h>
#include <math.h>
#include <stdio.h>

#define WORDS 3
#define WIDTH 4
#define LN2   0.69314718f /* makes exp(score) a whole number */
static const float X[2][WORDS][WIDTH] = {
    {{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 1}},
    {{0, 0, 1, 1}, {0, 1, 0, 1}, {1, 0, 0, 1}}};
static const float W_Q[WIDTH][WIDTH] = {
    {2, -1, 0, 0}, {0, -1, 2, 0}, {0, 2, 0, 0}, {0, 1, 0, 0}};
static const float W_K[WIDTH][WIDTH] = {
    {LN2, 0, 0, 0}, {0, 2 * LN2, LN2, -LN2}, {0, 0, LN2, 0}, {0, 0, 0, LN2}};
static const float W_V[WIDTH][WIDTH] = {{4}, {0, 4}, {0, 0, 4}, {0, 0, 0, 1}};
static const float P[WORDS][WORDS] = {
    {.5f, .25f, .25f}, {.2f, .4f, .4f}, {.1f, .8f, .1f}};

int main(void)
{
    clattn_attention a;
    clattn_attention_init(&a, sizeof a);
    a.B = 2;
    a.Hq = a.Hkv = 1;
    a.Lq = a.Lk = WORDS;
    a.D = a.Dv = WIDTH;
    a.dtype = CLATTN_F32;
    a.flags = CLATTN_RETURN_WEIGHTS;
    clattn_layer layer;
    clattn_layer_init(&layer, sizeof layer);
    layer.attention = &a;
    layer.E = layer.Ey = WIDTH;
    layer.weight_order = CLATTN_IN_OUT;
    static float y[2][WORDS][WIDTH], w[2][WORDS][WORDS];
    clattn_attention_args more = {
        .struct_size = sizeof more, .weights.host = w};
    clattn_layer_args args = {.struct_size = sizeof args, .attention = &more};
    args.x.host = X;
    args.w_q.host = W_Q, args.w_k.host = W_K, args.w_v.host = W_V;
    args.y.host = y;
    clattn_context *ctx = NULL;
    clattn_error error;
    if (clattn_context_create(&ctx, NULL, &error) == CLATTN_OK)
        clattn_layer_host(ctx, &layer, &args, &error);
    clattn_context_destroy(ctx);
    float e = 0; /* y's columns 0 to 2 are 4 times the weights */
    for (int i = 0; i < WORDS; ++i)
        for (int j = 0; j < WORDS; ++j) {
            e = fmaxf(e, fabsf(w[0][i][j] - P[i][j]));
            e = fmaxf(e, fabsf(w[1][i][j] - P[2 - i][2 - j]));
            e = fmaxf(e, fabsf(y[1][i][j] - 4 * P[2 - i][j]));
        }
    printf("%slargest difference: %g\n", error.message, e);
    return error.status == CLATTN_OK && e < 1e-6f ? 0 : 1;
}
