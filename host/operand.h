/* SPDX-License-Identifier: Apache-2.0
 *
 * operand.h - the tensors and arrays of one call, each as sizes, strides and a
 * place in memory; whether all are there, fit, and overlap nowhere.  Serves
 * host pointers and cl_mem alike and calls no OpenCL: who resolves a cl_mem
 * fills in `space`, `begin` and `capacity`.
 */
#ifndef CLATTN_HOST_OPERAND_H
#define CLATTN_HOST_OPERAND_H

#include <stdbool.h>

#include "clattn/clattn.h"

enum operand_place {
    OPERANDS_ON_HOST,
    OPERANDS_ON_DEVICE
};

typedef struct operand {
    const char *name; /* as the args struct calls it: "q", "key_lengths"; with
                         "attention." in front if it comes from the args within
                         a layer's */
    bool output;
    bool read_back;    /* an output that the call itself reads again */
    bool wanted;       /* the descriptor asks for it */
    bool array;        /* int32 array: on the device mem or host will do */
    size_t element;    /* bytes of an element */
    size_t size[4];    /* (b, h, row, column); any may be 0.  The items of a
                          packed tensor of batch stride 0 count as one */
    size_t stride[4];  /* in elements */
    clattn_input at;   /* what the call brought */
    const void *space; /* what `begin` counts from: NULL for host memory, else
                          the outermost cl_mem */
    size_t begin;      /* byte of the first element; SIZE_MAX: beyond any */
    size_t capacity;   /* byte, counted as `begin` is, where the memory that
                          was given ends; SIZE_MAX where unknown */
} operand;

enum {
    MAX_OPERANDS = 32
};

/* Elements from the first to the last, both included; 0 if there is none. */
size_t operand_span(const operand *op);

/*
 * List the operands of a call in the order of the args struct; returns how
 * many.  `args` has been taken with problem_take_struct.  space, begin and
 * capacity are those of a host pointer, where there is one.  The workspace is
 * listed without elements and as not wanted, since only a plan knows of it: who
 * has one sets size[3], in bytes, and wanted.
 */
size_t operands_of_attention(operand list[MAX_OPERANDS],
    const clattn_attention *complete, const clattn_attention_args *args);
size_t operands_of_linear(operand list[MAX_OPERANDS],
    const clattn_linear *complete, const clattn_linear_args *args);
/* The layer's own, then those of the attention within.  `inner` is
   args->attention taken, or zeros where that was NULL; given is the caller's
   layer, which tells whether Ek and Ev were set. */
size_t operands_of_layer(operand list[MAX_OPERANDS],
    const clattn_layer *complete, const clattn_layer *given,
    const clattn_layer_args *args, const clattn_attention_args *inner);

/*
 * Each wanted operand with elements is given, none unwanted is; host places
 * have no mem and device places no host pointer (arrays: one of the two);
 * each fits its capacity; no output overlaps another operand, except that
 * tensors may interleave which step by equal strides from one part of a row,
 * head or item to the next, as packed q, k and v do.  The message names
 * operand, value and limit.
 */
clattn_status operands_check(const operand *list, size_t count,
    enum operand_place place, clattn_error *error);

/* The values of those arrays that lie in host memory: lengths within 0 and Lq or
   Lk, starts ascending and within the rows, query items apart, sinks neither
   NaN nor +inf. */
clattn_status operands_check_arrays(const clattn_attention *complete,
    const clattn_attention_args *args, clattn_error *error);

/* The rows of one item, within those of the tensor: start + 0 .. start + count
   - 1.  start is 0 where the batch is not packed. */
typedef struct item_rows {
    size_t start, count;
} item_rows;

/* Of item b, from host arrays that operands_check_arrays has passed. */
item_rows operand_query_rows(const clattn_attention *complete,
    const clattn_attention_args *args, size_t b);
item_rows operand_key_rows(const clattn_attention *complete,
    const clattn_attention_args *args, size_t b);

/* Value i of an int32 array in host memory. */
int32_t operand_int(const clattn_input *array, size_t i);

#endif
