/* SPDX-License-Identifier: Apache-2.0
 *
 * arena.c - the memory of one call, guarded on all sides.
 */
#include "arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A quiet NaN whose low bits no computation makes. */
static const uint32_t POISON = 0x7fc5a5a5;

float arena_poison(void)
{
    float poison;
    memcpy(&poison, &POISON, sizeof poison);
    return poison;
}

size_t arena_elements(const arena_tensor *t)
{
    return t->size[0] * t->size[1] * t->size[2] * t->size[3];
}

/* The strides with "all 0" spelled out. */
static void resolve(const arena_tensor *t, size_t stride[3])
{
    memcpy(stride, t->stride, sizeof t->stride);
    if (stride[0] == 0 && stride[1] == 0 && stride[2] == 0) {
        stride[2] = t->size[3];
        stride[1] = t->size[2] * stride[2];
        stride[0] = t->size[1] * stride[1];
    }
}

/* From the first element to the last, both included. */
static size_t span(const arena_tensor *t)
{
    size_t stride[3];
    resolve(t, stride);
    size_t last = t->size[3] - 1;
    for (size_t axis = 0; axis < 3; ++axis)
        last += (t->size[axis] - 1) * stride[axis];
    return arena_elements(t) == 0 ? 0 : last + 1;
}

void arena_place(arena *a, size_t slot, arena_tensor tensor)
{
    tensor.memory = tensor.memory == ARENA_NEW
                        ? a->memories++
                        : a->tensor[tensor.memory].memory;
    a->tensor[slot] = tensor;

    arena_memory *memory = &a->memory[tensor.memory];
    const size_t need = 2 * ARENA_GUARD + tensor.offset + span(&tensor);
    if (memory->count < need)
        memory->count = need;
}

bool arena_allocate(arena *a)
{
    for (size_t m = 0; m < a->memories; ++m) {
        arena_memory *memory = &a->memory[m];
        memory->data = malloc(memory->count * sizeof(float));
        memory->before = malloc(memory->count * sizeof(float));
        if (memory->data == NULL || memory->before == NULL)
            return false;
        for (size_t i = 0; i < memory->count; ++i)
            memcpy(memory->data + i, &POISON, sizeof POISON);
    }
    return true;
}

void arena_free(arena *a)
{
    for (size_t m = 0; m < a->memories; ++m) {
        free(a->memory[m].data);
        free(a->memory[m].before);
    }
    *a = (arena){.memories = 0};
}

static size_t index_of(const arena_tensor *t, const size_t stride[3], size_t b,
    size_t h, size_t row, size_t column)
{
    return ARENA_GUARD + t->offset + b * stride[0] + h * stride[1] +
           row * stride[2] + column;
}

float *arena_at(
    const arena *a, size_t slot, size_t b, size_t h, size_t row, size_t column)
{
    const arena_tensor *t = &a->tensor[slot];
    size_t stride[3];
    resolve(t, stride);
    return a->memory[t->memory].data + index_of(t, stride, b, h, row, column);
}

void arena_remember(arena *a)
{
    for (size_t m = 0; m < a->memories; ++m)
        memcpy(a->memory[m].before, a->memory[m].data,
            a->memory[m].count * sizeof(float));
}

void arena_restore(arena *a)
{
    for (size_t m = 0; m < a->memories; ++m)
        memcpy(a->memory[m].data, a->memory[m].before,
            a->memory[m].count * sizeof(float));
}

/* Mark the elements of one output in a map of its memory. */
static void mark(const arena_tensor *t, unsigned char *owned)
{
    size_t stride[3];
    resolve(t, stride);
    for (size_t b = 0; b < t->size[0]; ++b)
        for (size_t h = 0; h < t->size[1]; ++h)
            for (size_t row = 0; row < t->size[2]; ++row)
                memset(
                    owned + index_of(t, stride, b, h, row, 0), 1, t->size[3]);
}

/* Which tensor lives in a memory, for messages. */
static const char *resident(const arena *a, size_t memory)
{
    for (size_t slot = 0; slot < ARENA_TENSORS; ++slot)
        if (a->tensor[slot].name != NULL && a->tensor[slot].memory == memory)
            return a->tensor[slot].name;
    return "nothing";
}

static bool memory_unharmed(
    const arena *a, size_t m, const unsigned char *owned, char *text)
{
    const arena_memory *memory = &a->memory[m];
    for (size_t i = 0; i < memory->count; ++i)
        if (!owned[i] &&
            memcmp(memory->data + i, memory->before + i, sizeof(float)) != 0) {
            snprintf(text, ARENA_TEXT,
                "element %zu of %zu in the memory of %s (its guard zone ends "
                "at %d) belongs to no output, but %g was written there",
                i, memory->count, resident(a, m), ARENA_GUARD,
                (double)memory->data[i]);
            return false;
        }
    return true;
}

bool arena_unharmed(const arena *a, char text[ARENA_TEXT])
{
    bool unharmed = true;
    for (size_t m = 0; m < a->memories && unharmed; ++m) {
        unsigned char *owned = calloc(a->memory[m].count, 1);
        if (owned == NULL) {
            snprintf(text, ARENA_TEXT, "no memory to check guard zones");
            return false;
        }
        for (size_t slot = 0; slot < ARENA_TENSORS; ++slot) {
            const arena_tensor *t = &a->tensor[slot];
            if (t->name != NULL && t->output && t->memory == m)
                mark(t, owned);
        }
        unharmed = memory_unharmed(a, m, owned, text);
        free(owned);
    }
    return unharmed;
}

double *arena_dense(const arena *a, size_t slot)
{
    const arena_tensor *t = &a->tensor[slot];
    const size_t count = arena_elements(t);
    double *dense = malloc((count + 1) * sizeof *dense);
    if (dense == NULL)
        return NULL;
    for (size_t i = 0; i < count; ++i) {
        size_t rest = i;
        const size_t column = rest % t->size[3];
        rest /= t->size[3];
        const size_t row = rest % t->size[2];
        rest /= t->size[2];
        const size_t h = rest % t->size[1];
        dense[i] = *arena_at(a, slot, rest / t->size[1], h, row, column);
    }
    return dense;
}

clattn_input arena_input(const arena *a, size_t slot, const cl_mem *buffers)
{
    const arena_tensor *t = &a->tensor[slot];
    clattn_input input = {.offset = 0};
    if (t->name == NULL)
        return input;
    input.offset = ARENA_GUARD + t->offset;
    if (buffers != NULL)
        input.mem = buffers[t->memory];
    else
        input.host = a->memory[t->memory].data;
    return input;
}

clattn_output arena_output(const arena *a, size_t slot, const cl_mem *buffers)
{
    const arena_tensor *t = &a->tensor[slot];
    const clattn_input input = arena_input(a, slot, buffers);
    clattn_output output = {.mem = input.mem, .offset = input.offset};
    if (t->name != NULL && buffers == NULL)
        output.host = a->memory[t->memory].data;
    return output;
}

clattn_tensor arena_strides(const arena *a, size_t slot)
{
    const arena_tensor *t = &a->tensor[slot];
    return (clattn_tensor){
        .batch = t->stride[0], .head = t->stride[1], .row = t->stride[2]};
}
