/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel.c - one kernel alone on guarded memory.
 */
#include "kernel.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "convert.h"
#include "guard_page.h"
#include "opencl.h"
/* Through it the host's program.h, not the one beside this file. */
#include "plan.h"
#include "problem.h"

/* ---- Tensors ---------------------------------------------------------------- */

size_t edge_size(edge e, size_t T)
{
    const long size = (long)T * e.whole + e.extra;
    return size > 1 ? (size_t)size : 1;
}

arena_tensor kernel_tensor(const char *name, size_t b, size_t h, size_t rows,
    size_t columns, bool gaps)
{
    arena_tensor t = {
        .name = name, .size = {b, h, rows, columns}, .memory = ARENA_NEW};
    t.stride[2] = columns + (gaps ? 3 : 0);
    t.stride[1] = rows * t.stride[2] + (gaps ? 5 : 0);
    t.stride[0] = h * t.stride[1] + (gaps ? 7 : 0);
    t.offset = gaps ? 1 + columns % 4 : 0;
    return t;
}

place kernel_place(const arena *a, size_t slot)
{
    const arena_tensor *t = &a->tensor[slot];
    return (place){.batch = (wide)t->stride[0],
        .head = (wide)t->stride[1],
        .row = (wide)t->stride[2],
        .offset = (wide)(ARENA_GUARD + t->offset)};
}

float kernel_whole(draw *d, int least)
{
    return (float)draw_between(d, 0, 16) + (float)least;
}

void kernel_fill_whole(arena *a, size_t slot, draw *d)
{
    const arena_tensor *t = &a->tensor[slot];
    for (size_t b = 0; b < t->size[0]; ++b)
        for (size_t h = 0; h < t->size[1]; ++h)
            for (size_t row = 0; row < t->size[2]; ++row)
                for (size_t column = 0; column < t->size[3]; ++column)
                    *arena_at(a, slot, b, h, row, column) = kernel_whole(d, -8);
}

double kernel_rounded(double value, int32_t dtype)
{
    unsigned char element[sizeof(double)];
    convert_store(element, dtype, 0, &value, 1);
    convert_load(&value, element, dtype, 0, 1);
    return value;
}

static bool holds_output(const arena *a, size_t m)
{
    for (size_t slot = 0; slot < ARENA_TENSORS; ++slot)
        if (a->tensor[slot].output && a->tensor[slot].memory == m)
            return true;
    return false;
}

static void cut_guards(arena *a, bool outputs)
{
    for (size_t m = 0; m < a->memories; ++m)
        if (holds_output(a, m) == outputs)
            a->memory[m].count -= ARENA_GUARD;
}

void kernel_allocate(arena *a)
{
    ck_assert(arena_allocate(a));
    cut_guards(a, false);
}

void kernel_cut_guards(arena *a)
{
    cut_guards(a, true);
}

/* ---- Rules ------------------------------------------------------------------ */

void kernel_options(char text[KERNEL_OPTIONS], const kernel_rules *rules,
    const char *format, ...)
{
    const int used = snprintf(text, KERNEL_OPTIONS,
        "-DBAND=%d -DITEMS=%d -DPACKED=%d -DSOFTCAP=%d -DALIBI=%d -DSINKS=%d "
        "-DDROPOUT=%d -DMASK=%d -DLSE=%d ",
        rules->band, rules->items, rules->packed, rules->softcap, rules->alibi,
        rules->sinks, rules->dropout, rules->mask, rules->lse);
    va_list arguments;
    va_start(arguments, format);
    const int more = vsnprintf(
        text + used, KERNEL_OPTIONS - (size_t)used, format, arguments);
    va_end(arguments);
    ck_assert_int_lt(used + more, KERNEL_OPTIONS);
}

void kernel_place_items(arena *a, size_t slot, size_t items)
{
    arena_tensor t = kernel_tensor("items", 1, 1, items, ITEM_INTS, false);
    t.offset = 3;
    arena_place(a, slot, t);
}

static wide at_least_0(wide value)
{
    return value > 0 ? value : 0;
}

void kernel_fill_items(const arena *a, size_t slot, size_t Lq, size_t Lk)
{
    const wide n = (wide)Lk, m = (wide)Lq;
    const wide rows[] = {m, m - 1, 0, m, (m + 1) / 2, m, m, 1};
    const wide keys[] = {n - 1, n, n, 0, n, 1, n - 2, n / 2};
    const wide diagonal[] = {-1, 2, n, 0, 1, -n - 2, INT32_MAX, INT32_MIN};
    const size_t items = a->tensor[slot].size[2];
    for (size_t b = 0; b < items; ++b) {
        const int32_t row[ITEM_INTS] = {
            (int32_t)(b % KERNEL_FIRSTS),
            (int32_t)at_least_0(rows[b % 8]),
            (int32_t)((b + 1) % KERNEL_FIRSTS),
            (int32_t)at_least_0(keys[b % 8] < n ? keys[b % 8] : n),
            (int32_t)diagonal[(b + b / 8) % 8],
        };
        memcpy(arena_at(a, slot, 0, 0, b, 0), row, sizeof row);
    }
}

kernel_item kernel_item_at(const arena *a, size_t slot, size_t b)
{
    int32_t row[ITEM_INTS];
    memcpy(row, arena_at(a, slot, 0, 0, b, 0), sizeof row);
    return (kernel_item){row[0], row[1], row[2], row[3], row[4]};
}

bool kernel_sees(
    const kernel_item *it, const attention_params *p, bool band, wide i, wide j)
{
    const wide beyond = j - (i + it->diagonal);
    return i < it->rows && j < it->keys &&
           (!band || (beyond <= p->window_right && -beyond <= p->window_left));
}

/* ---- Memory in other dtypes -------------------------------------------------- */

/* What the arena's pattern becomes: NaN, or true. */
static unsigned poison_of(int32_t dtype)
{
    return dtype == CLATTN_BOOL ? 0xa5 : dtype == CLATTN_F16 ? 0x7fa5 : 0x7fc5;
}

static bool is_poison(float value)
{
    const float poison = arena_poison();
    return memcmp(&value, &poison, sizeof value) == 0;
}

static int32_t memory_dtype(
    const arena *a, const int32_t dtype[ARENA_TENSORS], size_t m)
{
    for (size_t slot = 0; slot < ARENA_TENSORS; ++slot)
        if (a->tensor[slot].name && a->tensor[slot].memory == m)
            return dtype[slot];
    return 0;
}

static void narrow(void *to, int32_t dtype, const arena_memory *from)
{
    for (size_t i = 0; i < from->count; ++i) {
        const double value = from->data[i];
        uint16_t bits = (uint16_t)poison_of(dtype);
        if (dtype == CLATTN_BOOL)
            ((uint8_t *)to)[i] =
                is_poison(from->data[i]) ? (uint8_t)bits : (uint8_t)value;
        else if (is_poison(from->data[i]))
            ((uint16_t *)to)[i] = bits;
        else
            convert_store(to, dtype, i, &value, 1);
    }
}

static void widen(arena_memory *to, int32_t dtype, const void *from)
{
    for (size_t i = 0; i < to->count; ++i) {
        const unsigned bits = dtype == CLATTN_BOOL
                                  ? ((const uint8_t *)from)[i]
                                  : ((const uint16_t *)from)[i];
        double value = bits;
        if (dtype != CLATTN_BOOL)
            convert_load(&value, from, dtype, i, 1);
        to->data[i] = bits == poison_of(dtype) ? arena_poison() : (float)value;
    }
}

static bool is_narrow(int32_t dtype)
{
    return dtype != 0 && dtype != CLATTN_F32;
}

static cl_mem open_memory(
    const arena *a, size_t m, const void *data, size_t bytes)
{
    return holds_output(a, m) ? opencl_buffer(data, bytes)
                              : guard_page_buffer(data, bytes);
}

void kernel_open(
    const arena *a, const int32_t dtype[ARENA_TENSORS], cl_mem *buffers)
{
    for (size_t m = 0; m < a->memories; ++m) {
        const int32_t type = memory_dtype(a, dtype, m);
        const size_t count = a->memory[m].count;
        void *data = a->memory[m].data;
        if (is_narrow(type)) {
            data = malloc(count * dtype_bytes(type));
            ck_assert_ptr_nonnull(data);
            narrow(data, type, &a->memory[m]);
        }
        buffers[m] = open_memory(
            a, m, data, count * (is_narrow(type) ? dtype_bytes(type) : 4));
        if (is_narrow(type))
            free(data);
    }
}

void kernel_close(arena *a, const int32_t dtype[ARENA_TENSORS], cl_mem *buffers)
{
    for (size_t m = 0; m < a->memories; ++m) {
        const int32_t type = memory_dtype(a, dtype, m);
        const size_t count = a->memory[m].count;
        if (is_narrow(type)) {
            void *data = malloc(count * dtype_bytes(type));
            ck_assert_ptr_nonnull(data);
            opencl_read(buffers[m], data, count * dtype_bytes(type));
            widen(&a->memory[m], type, data);
            free(data);
        } else {
            opencl_read(buffers[m], a->memory[m].data, count * sizeof(float));
        }
        clReleaseMemObject(buffers[m]);
    }
}

/* ---- Launches --------------------------------------------------------------- */

static cl_kernel build(const kernel_call *call)
{
    clattn_error error;
    const built_kernel *built = NULL;
    kernel_need need = {.name = call->name};
    snprintf(need.options, sizeof need.options, "%s -DFMA=%d", call->options,
        opencl_get()->ctx->limits.fused_adds);
    const clattn_status status =
        program_get(&built, opencl_get()->ctx, &need, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
    return built->kernel;
}

static void enqueue(
    const kernel_call *call, cl_kernel kernel, const size_t groups[3])
{
    size_t global[3];
    for (int d = 0; d < 3; ++d)
        global[d] = groups[d] * call->local[d];
    ck_assert_int_eq(clSetKernelArg(kernel, (cl_uint)call->n_slots,
                         call->params_bytes, call->params),
        CL_SUCCESS);
    ck_assert_int_eq(clEnqueueNDRangeKernel(opencl_get()->in_order, kernel, 3,
                         NULL, global, call->local, 0, NULL, NULL),
        CL_SUCCESS);
}

static void enqueue_groups(const kernel_call *call, cl_kernel kernel)
{
    static const size_t ONE[3] = {1, 1, 1};
    for (size_t z = 0; z < call->groups[2]; ++z)
        for (size_t y = 0; y < call->groups[1]; ++y)
            for (size_t x = 0; x < call->groups[0]; ++x) {
                call->first[0] = (whole)x;
                call->first[1] = (whole)y;
                call->first[2] = (whole)z;
                enqueue(call, kernel, ONE);
            }
}

void kernel_launch(const kernel_call *call)
{
    cl_kernel kernel = build(call);
    for (size_t i = 0; i < call->n_slots; ++i) {
        const size_t slot = call->slots[i];
        cl_mem mem = NULL;
        if (slot != KERNEL_NONE)
            mem = call->buffers[call->memory->tensor[slot].memory];
        ck_assert_int_eq(
            clSetKernelArg(kernel, (cl_uint)i, sizeof mem, &mem), CL_SUCCESS);
    }
    for (int d = 0; call->first && d < 3; ++d)
        call->first[d] = 0;
    if (call->group_by_group)
        enqueue_groups(call, kernel);
    else
        enqueue(call, kernel, call->groups);
}
