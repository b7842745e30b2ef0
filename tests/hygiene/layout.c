/* SPDX-License-Identifier: Apache-2.0
 *
 * layout.c - what programs that were built before rely on beside names: where
 * each field of the public structs lies, and the value of each constant.
 */
#include <stdio.h>

#include "clattn/clattn.h"

typedef struct row {
    const char *name;
    size_t offset, bytes;
} row;

#define FIELD(name)                                               \
    {                                                             \
#name, offsetof(S, name), sizeof(((const S *)NULL)->name) \
    }

#define S clattn_error
static const row ERROR[] = {
    FIELD(status),
    FIELD(cl_code),
    FIELD(message),
};
#undef S

#define S clattn_device
static const row DEVICE[] = {
    FIELD(struct_size),
    FIELD(id),
    FIELD(global_bytes),
    FIELD(max_buffer_bytes),
    FIELD(local_bytes),
    FIELD(max_group),
    FIELD(compute_units),
    FIELD(clock_mhz),
    FIELD(native_width),
    FIELD(unified_memory),
    FIELD(is_default),
    FIELD(reserved),
    FIELD(kind),
    FIELD(platform),
    FIELD(name),
    FIELD(vendor),
    FIELD(driver),
    FIELD(version),
    FIELD(c_version),
    FIELD(note),
};
#undef S

#define S clattn_tensor
static const row TENSOR[] = {
    FIELD(batch),
    FIELD(head),
    FIELD(row),
    FIELD(dtype),
    FIELD(reserved),
};
#undef S

#define S clattn_mask
static const row MASK[] = {
    FIELD(size),
    FIELD(stride),
    FIELD(dtype),
    FIELD(reserved),
};
#undef S

#define S clattn_input
static const row INPUT[] = {
    FIELD(mem),
    FIELD(host),
    FIELD(offset),
};
#undef S

#define S clattn_output
static const row OUTPUT[] = {
    FIELD(mem),
    FIELD(host),
    FIELD(offset),
};
#undef S

#define S clattn_attention
static const row ATTENTION[] = {
    FIELD(struct_size),
    FIELD(B),
    FIELD(Hq),
    FIELD(Hkv),
    FIELD(Lq),
    FIELD(Lk),
    FIELD(D),
    FIELD(Dv),
    FIELD(q_rows),
    FIELD(k_rows),
    FIELD(q),
    FIELD(k),
    FIELD(v),
    FIELD(out),
    FIELD(lse),
    FIELD(weights),
    FIELD(mask),
    FIELD(alibi_slopes),
    FIELD(kernel),
    FIELD(disable),
    FIELD(dtype),
    FIELD(flags),
    FIELD(diagonal),
    FIELD(diagonal_offset),
    FIELD(causal),
    FIELD(window_left),
    FIELD(window_right),
    FIELD(has_scale),
    FIELD(scale),
    FIELD(softcap),
    FIELD(dropout_p),
    FIELD(precision),
};
#undef S

#define S clattn_attention_args
static const row ATTENTION_ARGS[] = {
    FIELD(struct_size),
    FIELD(out),
    FIELD(lse),
    FIELD(weights),
    FIELD(q),
    FIELD(k),
    FIELD(v),
    FIELD(mask),
    FIELD(sinks),
    FIELD(query_lengths),
    FIELD(key_lengths),
    FIELD(query_starts),
    FIELD(key_starts),
    FIELD(diagonal_offsets),
    FIELD(workspace),
    FIELD(dropout_seed),
    FIELD(dropout_offset),
};
#undef S

#define S clattn_linear
static const row LINEAR[] = {
    FIELD(struct_size),
    FIELD(rows),
    FIELD(n_in),
    FIELD(n_out),
    FIELD(x),
    FIELD(w),
    FIELD(y),
    FIELD(kernel),
    FIELD(disable),
    FIELD(dtype),
    FIELD(weight_order),
    FIELD(has_bias),
    FIELD(reserved),
};
#undef S

#define S clattn_linear_args
static const row LINEAR_ARGS[] = {
    FIELD(struct_size),
    FIELD(y),
    FIELD(x),
    FIELD(w),
    FIELD(b),
    FIELD(workspace),
};
#undef S

#define S clattn_layer
static const row LAYER[] = {
    FIELD(struct_size),
    FIELD(attention),
    FIELD(E),
    FIELD(Ey),
    FIELD(Ek),
    FIELD(Ev),
    FIELD(x),
    FIELD(y),
    FIELD(x_k),
    FIELD(x_v),
    FIELD(w_q),
    FIELD(w_k),
    FIELD(w_v),
    FIELD(w_o),
    FIELD(weight_order),
    FIELD(flags),
};
#undef S

#define S clattn_layer_args
static const row LAYER_ARGS[] = {
    FIELD(struct_size),
    FIELD(y),
    FIELD(q),
    FIELD(k),
    FIELD(v),
    FIELD(x),
    FIELD(x_k),
    FIELD(x_v),
    FIELD(w_q),
    FIELD(w_k),
    FIELD(w_v),
    FIELD(w_o),
    FIELD(b_q),
    FIELD(b_k),
    FIELD(b_v),
    FIELD(b_o),
    FIELD(workspace),
    FIELD(attention),
};
#undef S

#define CONSTANT(name) \
    {                  \
#name, 0, name \
    }

static const row CONSTANTS[] = {
    CONSTANT(CLATTN_OK),
    CONSTANT(CLATTN_INVALID),
    CONSTANT(CLATTN_UNSUPPORTED),
    CONSTANT(CLATTN_NO_DEVICE),
    CONSTANT(CLATTN_NO_MEMORY),
    CONSTANT(CLATTN_BUILD_FAILED),
    CONSTANT(CLATTN_DEVICE_ERROR),
    CONSTANT(CLATTN_FORKED),
    CONSTANT(CLATTN_F32),
    CONSTANT(CLATTN_F16),
    CONSTANT(CLATTN_BF16),
    CONSTANT(CLATTN_BOOL),
    CONSTANT(CLATTN_F64),
    CONSTANT(CLATTN_RETURN_LSE),
    CONSTANT(CLATTN_RETURN_WEIGHTS),
    CONSTANT(CLATTN_RETURN_SCORES),
    CONSTANT(CLATTN_RETURN_SCALED),
    CONSTANT(CLATTN_RETURN_CAPPED),
    CONSTANT(CLATTN_QUERY_LENGTHS),
    CONSTANT(CLATTN_KEY_LENGTHS),
    CONSTANT(CLATTN_QUERY_STARTS),
    CONSTANT(CLATTN_KEY_STARTS),
    CONSTANT(CLATTN_DIAGONAL_OFFSETS),
    CONSTANT(CLATTN_SINKS),
    CONSTANT(CLATTN_DIAGONAL_UNSET),
    CONSTANT(CLATTN_TOP_LEFT),
    CONSTANT(CLATTN_BOTTOM_RIGHT),
    CONSTANT(CLATTN_OFFSET),
    CONSTANT(CLATTN_PRECISION_F32),
    CONSTANT(CLATTN_PRECISION_STORAGE),
    CONSTANT(CLATTN_IN_OUT),
    CONSTANT(CLATTN_OUT_IN),
    CONSTANT(CLATTN_BIAS_Q),
    CONSTANT(CLATTN_BIAS_K),
    CONSTANT(CLATTN_BIAS_V),
    CONSTANT(CLATTN_BIAS_O),
    CONSTANT(CLATTN_PROJECT_OUT),
    CONSTANT(CLATTN_KEEP_QKV),
    CONSTANT(CLATTN_KEEP_OUT),
};

/* Fields follow each other without a gap: else one is missing above. */
static int print_struct(
    const char *name, size_t bytes, const row *rows, size_t count)
{
    size_t end = 0;
    printf("struct %s: %zu bytes\n", name, bytes);
    for (size_t i = 0; i < count; ++i) {
        printf("  %s at %zu, %zu bytes\n", rows[i].name, rows[i].offset,
            rows[i].bytes);
        if (rows[i].offset != end)
            return 1;
        end = rows[i].offset + rows[i].bytes;
    }
    return end != bytes;
}

#define PRINT(type, rows) \
    print_struct(#type, sizeof(type), rows, sizeof rows / sizeof rows[0])

int main(void)
{
    int gaps = 0;
    gaps += PRINT(clattn_error, ERROR);
    gaps += PRINT(clattn_device, DEVICE);
    gaps += PRINT(clattn_tensor, TENSOR);
    gaps += PRINT(clattn_mask, MASK);
    gaps += PRINT(clattn_input, INPUT);
    gaps += PRINT(clattn_output, OUTPUT);
    gaps += PRINT(clattn_attention, ATTENTION);
    gaps += PRINT(clattn_attention_args, ATTENTION_ARGS);
    gaps += PRINT(clattn_linear, LINEAR);
    gaps += PRINT(clattn_linear_args, LINEAR_ARGS);
    gaps += PRINT(clattn_layer, LAYER);
    gaps += PRINT(clattn_layer_args, LAYER_ARGS);
    for (size_t i = 0; i < sizeof CONSTANTS / sizeof CONSTANTS[0]; ++i)
        printf("%s = %zu\n", CONSTANTS[i].name, CONSTANTS[i].bytes);
    return gaps;
}
