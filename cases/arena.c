/* SPDX-License-Identifier: Apache-2.0
 *
 * arena.c - the memory of one call, guarded on all sides.
 */
#include "arena.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extent.h"

/* A quiet NaN whose low bits no computation makes, twice as f16 or bf16. */
static const uint32_t POISON = 0x7fc57fc5;

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

size_t arena_sum(size_t a, size_t b)
{
    size_t sum;
    return size_add(a, b, &sum) ? sum : SIZE_MAX;
}

bool arena_sizes_fit(size_t B, size_t H, size_t L, size_t C)
{
    /* The largest gaps are 7 elements on an axis.  The rest is for what is made
       of one product: bytes of double, and the sum over some memories. */
    const size_t GAP = 16, REST = 64;
    const size_t size[] = {B, H, L, C};
    size_t all = REST;
    for (size_t axis = 0; axis < 4; ++axis)
        if (size[axis] > INT32_MAX || !size_mul(all, size[axis] + GAP, &all))
            return false;
    return true;
}

/* ---- Where elements lie --------------------------------------------------- */

int32_t arena_dtype(const arena_tensor *t)
{
    return t->dtype == 0 ? CLATTN_F32 : t->dtype;
}

static size_t element_bytes(const arena_tensor *t)
{
    switch (arena_dtype(t)) {
    case CLATTN_F16:
    case CLATTN_BF16:
        return 2;
    case CLATTN_BOOL:
        return 1;
    default:
        return 4;
    }
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

/* From the first element to the last, both included; false if that, or a dense
   stride, is more than a size_t holds. */
static bool find_span(const arena *a, const arena_tensor *t, size_t *span)
{
    size_t all = 1;
    size_t stride[4] = {0, 0, 0, 1};
    size_t size[4];
    memcpy(size, t->size, sizeof size);
    for (size_t axis = 0; axis < 4; ++axis)
        if (!size_mul(all, size[axis], &all))
            return false;
    if (t->packing != 0)
        size[2] = a->packing[t->packing - 1].rows;
    resolve(t, stride);
    return extent_span(size, stride, span);
}

/* Elements of the guard zone before the first. */
static size_t guard(const arena_tensor *t)
{
    return ARENA_GUARD * sizeof(float) / element_bytes(t);
}

/* Words of 32 bits, guard zones included. */
static bool find_words(const arena *a, const arena_tensor *t, size_t *words)
{
    size_t span = 0, bytes = 0;
    if (!find_span(a, t, &span) || !size_add(span, guard(t), &span) ||
        !size_add(span, t->offset, &span) ||
        !size_mul(span, element_bytes(t), &bytes) ||
        !size_add(bytes, 3, &bytes))
        return false;
    *words = ARENA_GUARD + bytes / sizeof(float);
    return true;
}

void arena_place(arena *a, size_t slot, arena_tensor tensor)
{
    tensor.memory = tensor.memory == ARENA_NEW
                        ? a->memories++
                        : a->tensor[tensor.memory].memory;
    a->tensor[slot] = tensor;

    arena_memory *memory = &a->memory[tensor.memory];
    size_t need = 0;
    if (!find_words(a, &tensor, &need))
        a->too_large = true;
    if (memory->count < need)
        memory->count = need;
}

bool arena_has_row(const arena *a, size_t slot, size_t b, size_t row)
{
    const arena_tensor *t = &a->tensor[slot];
    return t->packing == 0 || row < a->packing[t->packing - 1].count[b];
}

size_t arena_index(
    const arena *a, size_t slot, size_t b, size_t h, size_t row, size_t column)
{
    const arena_tensor *t = &a->tensor[slot];
    size_t stride[3];
    resolve(t, stride);
    const size_t first =
        t->packing == 0 ? 0 : a->packing[t->packing - 1].first[b];
    return guard(t) + t->offset + b * stride[0] + h * stride[1] +
           (first + row) * stride[2] + column;
}

static unsigned char *bytes_at(
    const arena *a, size_t slot, size_t b, size_t h, size_t row, size_t column)
{
    const arena_tensor *t = &a->tensor[slot];
    return (unsigned char *)a->memory[t->memory].data +
           arena_index(a, slot, b, h, row, column) * element_bytes(t);
}

float *arena_at(
    const arena *a, size_t slot, size_t b, size_t h, size_t row, size_t column)
{
    const arena_tensor *t = &a->tensor[slot];
    assert(element_bytes(t) == sizeof(float));
    return a->memory[t->memory].data + arena_index(a, slot, b, h, row, column);
}

/* ---- Values --------------------------------------------------------------- */

static void load(
    double *to, const arena_tensor *t, const unsigned char *from, size_t count)
{
    if (arena_dtype(t) == CLATTN_BOOL)
        for (size_t i = 0; i < count; ++i)
            to[i] = from[i];
    else
        clattn_convert(to, CLATTN_F64, from, arena_dtype(t), count, NULL);
}

double arena_get(
    const arena *a, size_t slot, size_t b, size_t h, size_t row, size_t column)
{
    double value = 0;
    load(&value, &a->tensor[slot], bytes_at(a, slot, b, h, row, column), 1);
    return value;
}

void arena_set(const arena *a, size_t slot, size_t b, size_t h, size_t row,
    size_t column, double value)
{
    unsigned char *at = bytes_at(a, slot, b, h, row, column);
    const int32_t dtype = arena_dtype(&a->tensor[slot]);
    if (dtype == CLATTN_BOOL)
        *at = (unsigned char)value;
    else
        clattn_convert(at, dtype, &value, CLATTN_F64, 1, NULL);
}

bool arena_is_poison(
    const arena *a, size_t slot, size_t b, size_t h, size_t row, size_t column)
{
    return memcmp(bytes_at(a, slot, b, h, row, column), &POISON,
               element_bytes(&a->tensor[slot])) == 0;
}

double *arena_dense(const arena *a, size_t slot)
{
    double *dense =
        malloc((arena_elements(&a->tensor[slot]) + 1) * sizeof *dense);
    if (dense != NULL)
        arena_copy_dense(a, slot, dense);
    return dense;
}

void arena_copy_dense(const arena *a, size_t slot, double *dense)
{
    const arena_tensor *t = &a->tensor[slot];
    const size_t count = arena_elements(t), columns = t->size[3];
    for (size_t i = 0; i < count; ++i)
        dense[i] = 0;
    for (size_t i = 0; count > 0 && i < count / columns; ++i) {
        const size_t row = i % t->size[2], bh = i / t->size[2];
        const size_t b = bh / t->size[1];
        if (arena_has_row(a, slot, b, row))
            load(dense + i * columns, t,
                bytes_at(a, slot, b, bh % t->size[1], row, 0), columns);
    }
}

/* ---- Memories ------------------------------------------------------------- */

bool arena_allocate(arena *a)
{
    for (size_t m = 0; m < a->memories && !a->too_large; ++m) {
        arena_memory *memory = &a->memory[m];
        size_t bytes = 0;
        if (!size_mul(memory->count, sizeof(float), &bytes))
            return false;
        memory->data = malloc(bytes);
        memory->before = malloc(bytes);
        memory->owned = malloc(bytes);
        if (!memory->data || !memory->before || !memory->owned)
            return false;
        for (size_t i = 0; i < memory->count; ++i)
            memcpy(memory->data + i, &POISON, sizeof POISON);
    }
    return !a->too_large;
}

void arena_free(arena *a)
{
    for (size_t m = 0; m < a->memories; ++m) {
        free(a->memory[m].data);
        free(a->memory[m].before);
        free(a->memory[m].owned);
    }
    *a = (arena){.memories = 0};
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

/* ---- Guard zones ---------------------------------------------------------- */

/* Mark the bytes of one output in a map of its memory. */
static void mark(const arena *a, size_t slot, unsigned char *owned)
{
    const arena_tensor *t = &a->tensor[slot];
    const size_t bytes = element_bytes(t);
    for (size_t i = 0; i < t->size[0] * t->size[1] * t->size[2]; ++i) {
        const size_t row = i % t->size[2], bh = i / t->size[2];
        const size_t b = bh / t->size[1], h = bh % t->size[1];
        if (arena_has_row(a, slot, b, row))
            memset(owned + arena_index(a, slot, b, h, row, 0) * bytes, 1,
                t->size[3] * bytes);
    }
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
    const unsigned char *now = (const unsigned char *)memory->data;
    const unsigned char *before = (const unsigned char *)memory->before;
    const size_t bytes = memory->count * sizeof(float);
    for (size_t i = 0; i < bytes; ++i)
        if (!owned[i] && now[i] != before[i]) {
            snprintf(text, ARENA_TEXT,
                "byte %zu of %zu in the memory of %s (its guard zone ends at "
                "%zu) belongs to no output, but 0x%02x was written there",
                i, bytes, resident(a, m), ARENA_GUARD * sizeof(float), now[i]);
            return false;
        }
    return true;
}

bool arena_unharmed(const arena *a, char text[ARENA_TEXT])
{
    bool unharmed = true;
    for (size_t m = 0; m < a->memories && unharmed; ++m) {
        unsigned char *owned = a->memory[m].owned;
        memset(owned, 0, a->memory[m].count * sizeof(float));
        for (size_t slot = 0; slot < ARENA_TENSORS; ++slot) {
            const arena_tensor *t = &a->tensor[slot];
            if (t->name != NULL && t->output && t->memory == m)
                mark(a, slot, owned);
        }
        unharmed = memory_unharmed(a, m, owned, text);
    }
    return unharmed;
}

/* ---- For calls ------------------------------------------------------------ */

clattn_input arena_input(const arena *a, size_t slot, const cl_mem *buffers)
{
    const arena_tensor *t = &a->tensor[slot];
    clattn_input input = {.offset = 0};
    if (t->name == NULL)
        return input;
    input.offset = guard(t) + t->offset;
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
    clattn_tensor strides = {.dtype = t->dtype};
    if (!t->implied) {
        strides.batch = t->stride[0];
        strides.head = t->stride[1];
        strides.row = t->stride[2];
    }
    return strides;
}
