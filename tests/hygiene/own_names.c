/* SPDX-License-Identifier: Apache-2.0
 *
 * own_names.c - a program that predicts dropout by a Philox of its own, which
 * has the name of the library's: linked statically, each keeps its own.
 */
#include <clattn/clattn.h>
#include <stdint.h>
#include <stdio.h>

enum {
    L = 64, /* queries and keys */
    SEED = 7
};

/* The word that the header gives entry (i, j).  The library's function of this
   name takes other arguments. */
uint32_t philox4x32_10(uint32_t i, uint32_t j);
uint32_t philox4x32_10(uint32_t i, uint32_t j)
{
    uint32_t word[4] = {j / 4, i, 0, 0}, key[2] = {SEED, 0};

    for (int round = 0; round < 10; ++round) {
        const uint64_t even = (uint64_t)0xd2511f53u * word[0];
        const uint64_t odd = (uint64_t)0xcd9e8d57u * word[2];
        word[0] = (uint32_t)(odd >> 32) ^ word[1] ^ key[0];
        word[1] = (uint32_t)odd;
        word[2] = (uint32_t)(even >> 32) ^ word[3] ^ key[1];
        word[3] = (uint32_t)even;
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    return word[j % 4];
}

static float zeros[L], out[L], weights[L * L];

/* Of all weights, all equal before dropout, just those are 0 that are to be. */
static int holds(const char *call, const clattn_error *error)
{
    int wrong = 0, dropped = 0;

    for (uint32_t n = 0; n < L * L; ++n) {
        wrong += (weights[n] == 0) != (philox4x32_10(n / L, n % L) < 1u << 31);
        dropped += weights[n] == 0;
        weights[n] = -1;
    }
    printf("%s: %d of %d weights are dropped, %d are wrong %s\n", call, dropped,
        L * L, wrong, error->message);
    return error->status == CLATTN_OK && wrong == 0;
}

int main(void)
{
    clattn_attention problem;
    clattn_attention_init(&problem, sizeof problem);
    problem.B = problem.Hq = problem.Hkv = problem.D = problem.Dv = 1;
    problem.Lq = problem.Lk = L;
    problem.dtype = CLATTN_F32;
    problem.flags = CLATTN_RETURN_WEIGHTS;
    problem.dropout_p = 0.5f;
    clattn_attention_args data = {
        .struct_size = sizeof data, .dropout_seed = SEED};
    data.q.host = data.k.host = data.v.host = zeros;
    data.out.host = out;
    data.weights.host = weights;

    clattn_context *context = NULL;
    clattn_error error;
    clattn_attention_reference(&problem, &data, &error);
    int right = holds("reference", &error);
    if (clattn_context_create(&context, NULL, &error) == CLATTN_OK)
        clattn_attention_host(context, &problem, &data, &error);
    right = holds("device", &error) && right;
    clattn_context_destroy(context);
    return right ? 0 : 1;
}
