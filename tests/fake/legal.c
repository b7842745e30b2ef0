/* SPDX-License-Identifier: Apache-2.0
 *
 * legal.c - one legal problem of each kind with all its data.
 */
#include "legal.h"

#include <check.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* An input or output of an args struct. */
typedef struct member {
    size_t offset; /* in the struct; inputs and outputs are laid out alike */
    size_t bytes;
} member;

#define FLOATS(type, name, count)                     \
    {                                                 \
        offsetof(type, name), (count) * sizeof(float) \
    }
#define INTS FLOATS

enum {
    B = 2,
    HQ = 4,
    HKV = 2,
    LQ = 5,
    LK = 6,
    D = 8,
    DV = 7,
    E = 3,  /* columns of the layer's x */
    EK = 2, /* x_k */
    EV = 4, /* x_v */
    EY = 9,
    ROWS = 5,
    N_IN = 6,
    N_OUT = 7
};

#define ARGS clattn_attention_args
static const member ATTENTION[] = {
    FLOATS(ARGS, out, B *HQ *LQ *DV),
    FLOATS(ARGS, lse, B *HQ *LQ),
    FLOATS(ARGS, weights, B *HQ *LQ *LK),
    FLOATS(ARGS, q, B *HQ *LQ *D),
    FLOATS(ARGS, k, B *HKV *LK *D),
    FLOATS(ARGS, v, B *HKV *LK *DV),
    {offsetof(ARGS, mask), LQ *LK},
    FLOATS(ARGS, sinks, HQ),
    INTS(ARGS, query_lengths, B),
    INTS(ARGS, key_lengths, B),
    INTS(ARGS, diagonal_offsets, B),
};

/* What a layer takes of its attention's. */
static const member INSIDE[] = {
    FLOATS(ARGS, out, B *HQ *LQ *DV),
    INTS(ARGS, key_lengths, B),
};
#undef ARGS

#define ARGS clattn_linear_args
static const member LINEAR[] = {
    FLOATS(ARGS, y, ROWS *N_OUT),
    FLOATS(ARGS, x, ROWS *N_IN),
    FLOATS(ARGS, w, N_IN *N_OUT),
    FLOATS(ARGS, b, N_OUT),
};
#undef ARGS

#define ARGS clattn_layer_args
static const member LAYER[] = {
    FLOATS(ARGS, y, B *LQ *EY),
    FLOATS(ARGS, q, B *LQ *HQ *D),
    FLOATS(ARGS, k, B *LK *HKV *D),
    FLOATS(ARGS, v, B *LK *HKV *DV),
    FLOATS(ARGS, x, B *LQ *E),
    FLOATS(ARGS, x_k, B *LK *EK),
    FLOATS(ARGS, x_v, B *LK *EV),
    FLOATS(ARGS, w_q, E *HQ *D),
    FLOATS(ARGS, w_k, EK *HKV *D),
    FLOATS(ARGS, w_v, EV *HKV *DV),
    FLOATS(ARGS, w_o, HQ *DV *EY),
    FLOATS(ARGS, b_q, HQ *D),
    FLOATS(ARGS, b_k, HKV *D),
    FLOATS(ARGS, b_v, HKV *DV),
    FLOATS(ARGS, b_o, EY),
};
#undef ARGS

static void fill(legal *l, void *on_host, void *on_device,
    const member *members, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        const size_t n = l->memories++;
        cl_int code = CL_SUCCESS;
        ck_assert_uint_lt(n, LEGAL_MEMORIES);
        l->host[n] = calloc(1, members[i].bytes);
        l->mem[n] = clCreateBuffer(clattn_context_cl(l->ctx), CL_MEM_READ_WRITE,
            members[i].bytes, NULL, &code);
        ck_assert_int_eq(code, CL_SUCCESS);
        const clattn_output host = {.host = l->host[n]},
                            mem = {.mem = l->mem[n]};
        memcpy((char *)on_host + members[i].offset, &host, sizeof host);
        memcpy((char *)on_device + members[i].offset, &mem, sizeof mem);
    }
}

#define FILL(l, name, members)                                    \
    ((l)->name##_host.struct_size = sizeof(l)->name##_host,       \
        (l)->name##_mem.struct_size = sizeof(l)->name##_mem,      \
        fill((l), &(l)->name##_host, &(l)->name##_mem, (members), \
            sizeof(members) / sizeof((members)[0])))

static void set_sizes(clattn_attention *a)
{
    clattn_attention_init(a, sizeof *a);
    a->B = B;
    a->Hq = HQ;
    a->Hkv = HKV;
    a->Lq = LQ;
    a->Lk = LK;
    a->D = D;
    a->Dv = DV;
    a->dtype = CLATTN_F32;
}

static void set_attention(legal *l)
{
    clattn_attention *a = &l->attention;
    set_sizes(a);
    a->flags = CLATTN_RETURN_LSE | CLATTN_RETURN_WEIGHTS |
               CLATTN_QUERY_LENGTHS | CLATTN_KEY_LENGTHS |
               CLATTN_DIAGONAL_OFFSETS | CLATTN_SINKS;
    a->mask = (clattn_mask){.size = {1, 1, LQ, LK}, .dtype = CLATTN_BOOL};
    a->alibi_slopes = l->slopes;
    a->diagonal = CLATTN_OFFSET;
    a->dropout_p = 0.5f;
}

static void set_linear(clattn_linear *p)
{
    clattn_linear_init(p, sizeof *p);
    p->rows = ROWS;
    p->n_in = N_IN;
    p->n_out = N_OUT;
    p->dtype = CLATTN_F32;
    p->weight_order = CLATTN_IN_OUT;
    p->has_bias = 1;
}

static void set_layer(legal *l)
{
    clattn_layer *p = &l->layer;
    set_sizes(&l->inside);
    l->inside.flags = CLATTN_KEY_LENGTHS;
    clattn_layer_init(p, sizeof *p);
    p->attention = &l->inside;
    p->E = E;
    p->Ek = EK;
    p->Ev = EV;
    p->Ey = EY;
    p->weight_order = CLATTN_OUT_IN;
    p->flags = CLATTN_BIAS_Q | CLATTN_BIAS_K | CLATTN_BIAS_V | CLATTN_BIAS_O |
               CLATTN_PROJECT_OUT | CLATTN_KEEP_QKV | CLATTN_KEEP_OUT;
    l->layer_host.attention = &l->inside_host;
    l->layer_mem.attention = &l->inside_mem;
}

void legal_create(legal *l)
{
    clattn_error error;
    cl_int code = CL_SUCCESS;
    memset(l, 0, sizeof *l);
    ck_assert_msg(clattn_context_create(&l->ctx, NULL, &error) == CLATTN_OK,
        "%s", error.message);
    l->queue = clCreateCommandQueue(
        clattn_context_cl(l->ctx), clattn_context_device(l->ctx), 0, &code);
    ck_assert_int_eq(code, CL_SUCCESS);
    set_attention(l);
    set_linear(&l->linear);
    set_layer(l);
    FILL(l, attention, ATTENTION);
    FILL(l, linear, LINEAR);
    FILL(l, layer, LAYER);
    FILL(l, inside, INSIDE);
}

void legal_destroy(legal *l)
{
    for (size_t i = 0; i < l->memories; ++i) {
        free(l->host[i]);
        clReleaseMemObject(l->mem[i]);
    }
    clReleaseCommandQueue(l->queue);
    clattn_context_destroy(l->ctx);
}
