/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_host.c - attention on plain arrays: two sentences of different
 * length, six query heads that share two key/value heads, causal.
 */
#include <clattn/clattn.h>
#include <math.h>
#include <stdio.h>

enum {
    B = 2,
    Hq = 6,
    Hkv = 2,
    L = 5,
    D = 8,
    COUNT = B * Hq * L * D
};

int main(void)
{
    static float q[COUNT], k[COUNT], v[COUNT], out[COUNT], expected[COUNT];
    const int32_t lengths[B] = {5, 3};
    for (int i = 0; i < COUNT; ++i) {
        q[i] = sinf(0.7f * (float)i);
        k[i] = sinf(1.3f * (float)i);
        v[i] = sinf(2.1f * (float)i);
    }

    clattn_attention a;
    clattn_attention_init(&a, sizeof a);
    a.B = B;
    a.Hq = Hq;
    a.Hkv = Hkv;
    a.Lq = a.Lk = L;
    a.D = a.Dv = D;
    a.dtype = CLATTN_F32;
    a.causal = 1;
    a.diagonal = CLATTN_TOP_LEFT;
    a.flags = CLATTN_KEY_LENGTHS;
    clattn_attention_args args = {.struct_size = sizeof args};
    args.q.host = q;
    args.k.host = k;
    args.v.host = v;
    args.key_lengths.host = lengths;
    args.out.host = out;

    clattn_context *ctx = NULL;
    clattn_error error;
    if (clattn_context_create(&ctx, NULL, &error) == CLATTN_OK &&
        clattn_attention_host(ctx, &a, &args, &error) == CLATTN_OK) {
        args.out.host = expected;
        clattn_attention_reference(&a, &args, &error);
    }
    clattn_context_destroy(ctx);
    float largest = 0;
    for (int i = 0; i < COUNT; ++i)
        largest = fmaxf(largest, fabsf(out[i] - expected[i]));
    printf("%slargest difference: %g\n", error.message, largest);
    return error.status == CLATTN_OK && largest < 1e-5f ? 0 : 1;
}
