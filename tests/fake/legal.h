/* SPDX-License-Identifier: Apache-2.0
 *
 * legal.h - one legal problem of each kind with all its data, as small as it
 * can be with every pointer in use; tests spoil one thing of it.
 */
#ifndef CLATTN_TESTS_LEGAL_H
#define CLATTN_TESTS_LEGAL_H

#include "clattn/clattn.h"

enum {
    LEGAL_MEMORIES = 32
};

typedef struct legal {
    clattn_context *ctx;
    cl_command_queue queue;

    clattn_attention attention;
    clattn_attention inside; /* the layer's */
    clattn_linear linear;
    clattn_layer layer;

    /* The same data for host calls and references, and for enqueue. */
    clattn_attention_args attention_host, attention_mem;
    clattn_attention_args inside_host, inside_mem;
    clattn_linear_args linear_host, linear_mem;
    clattn_layer_args layer_host, layer_mem;

    float slopes[4];
    void *host[LEGAL_MEMORIES]; /* each as long as its tensor, to the byte */
    cl_mem mem[LEGAL_MEMORIES];
    size_t memories;
} legal;

/* On the fake device that FAKE_DEVICE describes. */
void legal_create(legal *l);
void legal_destroy(legal *l);

#endif
