/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel.c - one kernel alone on guarded memory.
 */
#include "kernel.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "opencl.h"
/* Through it the host's program.h, not the one beside this file. */
#include "plan.h"

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

void kernel_fill_whole(arena *a, size_t slot, draw *d)
{
    const arena_tensor *t = &a->tensor[slot];
    for (size_t b = 0; b < t->size[0]; ++b)
        for (size_t h = 0; h < t->size[1]; ++h)
            for (size_t row = 0; row < t->size[2]; ++row)
                for (size_t column = 0; column < t->size[3]; ++column)
                    *arena_at(a, slot, b, h, row, column) =
                        (float)draw_between(d, 0, 16) - 8.0f;
}

void kernel_place_visible(
    arena *a, size_t lengths, size_t diagonals, size_t items)
{
    arena_tensor t = kernel_tensor("lengths", 1, 1, 1, items, true);
    arena_place(a, lengths, t);
    t.name = "diagonals";
    ++t.offset;
    arena_place(a, diagonals, t);
}

static void set_int(const arena *a, size_t slot, size_t b, int32_t value)
{
    memcpy(arena_at(a, slot, 0, 0, 0, b), &value, sizeof value);
}

static int32_t get_int(const arena *a, size_t slot, size_t b)
{
    int32_t value;
    memcpy(&value, arena_at(a, slot, 0, 0, 0, b), sizeof value);
    return value;
}

visible_params kernel_fill_visible(const arena *a, size_t lengths,
    size_t diagonals, size_t Lk, enum kernel_diagonal diagonal, wide number,
    bool has_lengths)
{
    const int32_t n = (int32_t)Lk;
    const int32_t length[] = {n - 1, n + 3, 1, n, 0, -2, INT32_MAX, INT32_MIN};
    const int32_t item[] = {-1, 2, n, 0, INT32_MAX, -n - 2, 1, INT32_MIN};
    const size_t items = a->tensor[lengths].size[3];
    for (size_t b = 0; b < items; ++b) {
        set_int(a, lengths, b, length[b % 8]);
        set_int(a, diagonals, b, item[(b + b / 8) % 8]);
    }
    return (visible_params){
        .diagonal = number,
        .lengths_offset = kernel_place(a, lengths).offset,
        .diagonals_offset = kernel_place(a, diagonals).offset,
        .diagonal_keys = diagonal == SEES_KEYS,
        .causal = diagonal != SEES_ALL,
        .has_lengths = has_lengths,
        .has_diagonals = diagonal == SEES_PER_ITEM,
        .Lk = n,
    };
}

size_t kernel_seen(const arena *a, size_t lengths, size_t diagonals,
    const visible_params *v, size_t b, size_t i)
{
    wide keys = v->Lk;
    if (v->has_lengths && get_int(a, lengths, b) < keys)
        keys = get_int(a, lengths, b);
    wide diagonal = v->diagonal;
    if (v->has_diagonals)
        diagonal = get_int(a, diagonals, b);
    else if (v->diagonal_keys)
        diagonal += keys > 0 ? keys : 0;
    size_t seen = 0;
    for (wide j = 0; j < keys; ++j)
        if (!v->causal || j <= (wide)i + diagonal)
            ++seen;
    return seen;
}

void kernel_cut_guards(arena *a)
{
    for (size_t m = 0; m < a->memories; ++m)
        a->memory[m].count -= ARENA_GUARD;
}

void kernel_open(const arena *a, cl_mem *buffers)
{
    for (size_t m = 0; m < a->memories; ++m)
        buffers[m] = opencl_buffer(
            a->memory[m].data, a->memory[m].count * sizeof(float));
}

void kernel_close(arena *a, cl_mem *buffers)
{
    for (size_t m = 0; m < a->memories; ++m) {
        opencl_read(
            buffers[m], a->memory[m].data, a->memory[m].count * sizeof(float));
        clReleaseMemObject(buffers[m]);
    }
}

static cl_kernel build(const kernel_call *call)
{
    clattn_error error;
    const built_kernel *built = NULL;
    kernel_need need = {.name = call->name};
    snprintf(need.options, sizeof need.options, "%s", call->options);
    const clattn_status status =
        program_get(&built, opencl_get()->ctx, &need, &error);
    ck_assert_msg(status == CLATTN_OK, "%s", error.message);
    return built->kernel;
}

static void launch(
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

static void launch_groups(const kernel_call *call, cl_kernel kernel)
{
    static const size_t ONE[3] = {1, 1, 1};
    for (size_t z = 0; z < call->groups[2]; ++z)
        for (size_t y = 0; y < call->groups[1]; ++y)
            for (size_t x = 0; x < call->groups[0]; ++x) {
                call->first[0] = (whole)x;
                call->first[1] = (whole)y;
                call->first[2] = (whole)z;
                launch(call, kernel, ONE);
            }
}

void kernel_launch(const kernel_call *call)
{
    cl_kernel kernel = build(call);
    for (size_t i = 0; i < call->n_slots; ++i) {
        const arena_tensor *t = &call->memory->tensor[call->slots[i]];
        ck_assert_int_eq(clSetKernelArg(kernel, (cl_uint)i, sizeof(cl_mem),
                             &call->buffers[t->memory]),
            CL_SUCCESS);
    }
    for (int d = 0; d < 3; ++d)
        call->first[d] = 0;
    if (call->group_by_group)
        launch_groups(call, kernel);
    else
        launch(call, kernel, call->groups);
}
