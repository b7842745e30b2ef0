/* SPDX-License-Identifier: Apache-2.0
 *
 * clattn.h - attention on OpenCL devices: the whole public contract.
 *
 *     s_ij  = scale * (q_i . k_j)                 scores, then in this order:
 *     s_ij  = softcap * tanh(s_ij / softcap)      if softcap is set
 *     s_ij -= slope_h * |j - i - offset|          if ALiBi slopes are given
 *     s_ij += mask_ij                             if the mask is additive
 *     lse_i = ln(sum_j exp(s_ij) [+ exp(sink_h)]) over the keys j that remain
 *     p_ij  = exp(s_ij - lse_i)                   the weights; then dropout
 *     out_i = sum_j p_ij v_j
 *
 * A key remains if causal, window, mask and lengths all admit it.  A key that
 * does not is never looked at: NaN there changes nothing.  An additive -inf
 * hides a key as a bool false does; a large finite value does not.  A row
 * without keys gives out 0, weights 0, lse -inf (or its sink).
 *
 * The formula is that of Vaswani et al., "Attention Is All You Need", 2017,
 * section 3.2; softcap, ALiBi, window and the packed batches mean what
 * flash-attention means by them, bool and additive masks what PyTorch's
 * scaled_dot_product_attention means.
 *
 * f16 and bf16 are storage: arithmetic is f32, and a result is rounded once,
 * to nearest even.  Same plan, device and inputs: same bits.
 *
 * The same structs serve three ways of calling:
 *     clattn_X_host         plain pointers, blocks, needs no OpenCL
 *     clattn_X_plan, then   decides and compiles, once per shape
 *     clattn_X_enqueue      your buffers, your queue, returns at once
 * where X is attention, linear (y = x W + b) or layer (attention with its
 * projections).
 *
 * Rules that hold for everything here:
 *   1. Order of arguments: new handle, object, outputs, inputs, events, error.
 *   2. Sizes, strides and offsets count elements; names in _bytes count bytes.
 *   3. A pointer may be NULL only where a comment says so, and `error` always;
 *      else CLATTN_INVALID, or 0 from what returns no status.
 *   4. What can fail returns a clattn_status.  A failed call leaves its outputs
 *      alone, except that CLATTN_DEVICE_ERROR may leave them unspecified.
 *   5. Create and plan are undone by destroy, in any order: a plan keeps its
 *      context alive, a context the OpenCL objects it was given, and enqueued
 *      work completes.  Destroying NULL is a no-op.
 *   6. Structs, and what they point to, are read during the call and not kept.
 *      Set struct_size to sizeof the struct.  Leave what you do not use as
 *      initialised: a value without its flag, or a flag without its value, is
 *      refused, never ignored.
 *   7. Contexts and plans may be used by any number of threads at once; only
 *      destroy must be the last use.  A plan never changes once made.  In a
 *      child of fork() after the first use of OpenCL, what needs it returns
 *      CLATTN_FORKED, and destroy lets go of host memory alone.  Nor make plans
 *      in functions that run at exit: drivers end their compilers before them.
 *   8. The library never exits.  Outside contexts it keeps only a mark of the
 *      process that first used OpenCL.  It prints only if CLATTN_VERBOSE is
 *      set, and reads the environment only when a context is made or devices
 *      are listed; never in a set-user-id process.  It keeps built programs
 *      in ~/.cache/clattn, or where XDG_CACHE_HOME says, unless CLATTN_CACHE is
 *      0; no call fails by that.
 */
#ifndef CLATTN_H
#define CLATTN_H

#include <stddef.h>
#include <stdint.h>
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

#define CLATTN_VERSION_MAJOR 0
#define CLATTN_VERSION_MINOR 1
#define CLATTN_VERSION_PATCH 0

uint32_t clattn_version(void);         /* 10000 major + 100 minor + patch */
const char *clattn_version_text(void); /* with the commit, for reports */

/* ---- Errors -------------------------------------------------------------- */

typedef enum clattn_status {
    CLATTN_OK = 0,
    CLATTN_INVALID,      /* an argument, field or array breaks its contract */
    CLATTN_UNSUPPORTED,  /* legal, but beyond this device or this version */
    CLATTN_NO_DEVICE,    /* no OpenCL device, or none that was asked for */
    CLATTN_NO_MEMORY,    /* the host or the device could not allocate */
    CLATTN_BUILD_FAILED, /* a kernel did not compile on this device */
    CLATTN_DEVICE_ERROR, /* another OpenCL call failed; see cl_code */
    CLATTN_FORKED        /* OpenCL was used before fork() and is lost here */
} clattn_status;

/* The sentence of a status; static text, also for unknown values. */
const char *clattn_status_text(clattn_status status);

/* Written by every call that it is handed to; needs no initialising. */
typedef struct clattn_error {
    int32_t status;    /* what the call returned */
    int32_t cl_code;   /* what OpenCL returned, or CL_SUCCESS */
    char message[504]; /* one sentence: argument, value, what is allowed;
                          empty after CLATTN_OK */
} clattn_error;

/* ---- Devices and contexts ------------------------------------------------ */

/* One line of the flat list of all devices of all platforms. */
typedef struct clattn_device {
    size_t struct_size;
    cl_device_id id;           /* for clGetDeviceInfo; not to be released */
    uint64_t global_bytes;     /* device memory */
    uint64_t max_buffer_bytes; /* the largest single buffer */
    uint64_t local_bytes;      /* local memory of a work-group */
    uint64_t max_group;        /* work-items of the largest work-group */
    uint32_t compute_units;
    uint32_t clock_mhz;
    uint32_t native_width;  /* f32 lanes of a native vector; 1: scalar */
    int32_t unified_memory; /* 1: shares the host's memory */
    int32_t is_default;     /* 1 for the one that a NULL spec chooses */
    int32_t reserved;
    char kind[16]; /* "gpu", "accelerator", "cpu" or "other" */
    char platform[128];
    char name[256];
    char vendor[128];
    char driver[128];    /* CL_DRIVER_VERSION */
    char version[128];   /* CL_DEVICE_VERSION */
    char c_version[128]; /* CL_DEVICE_OPENCL_C_VERSION */
    char note[256];      /* what the library knows to be wrong with the device
                            and does about it; mostly empty */
} clattn_device;

/*
 * Count and read the list.  A machine without platforms or devices is
 * CLATTN_OK with *count = 0; a platform that fails is passed over.  Each call
 * asks the loader anew; the order is the loader's.
 */
clattn_status clattn_device_count(size_t *count, clattn_error *error);
clattn_status clattn_device_get(
    clattn_device *device, size_t index, clattn_error *error);

/*
 * What is there and yet of no use: a line for each platform or device that was
 * passed over, and for each driver that is registered with the loader and does
 * not load, "what: why".  Cut to capacity_bytes with its terminating 0.  Returns
 * the bytes that the whole text needs, 1 if there is nothing to tell.  text may
 * be NULL if capacity_bytes is 0, else it returns 0.  The message of a
 * CLATTN_NO_DEVICE holds the same, as far as it fits.
 */
size_t clattn_devices_passed_over(char *text, size_t capacity_bytes);

typedef struct clattn_context clattn_context; /* one device and its kernels */

/*
 * spec: an index of the list (digits); a part of the name or of the platform's
 * name; or parts of "platform:kind:name", of which an empty one means any, as
 * in ":gpu:".  Case does not matter.  NULL: the environment's CLATTN_DEVICE,
 * else everything.  Of several that match: discrete GPU, then GPU that shares
 * the host's memory, accelerator, CPU, other; then more memory, then more
 * compute units x clock; devices with a known fault last.  No match is
 * CLATTN_NO_DEVICE, and the message lists what there is.
 */
clattn_status clattn_context_create(
    clattn_context **ctx, const char *spec, clattn_error *error);

/* On your own objects, which are retained; cl may hold other devices too. */
clattn_status clattn_context_create_from_cl(clattn_context **ctx, cl_context cl,
    cl_device_id device, clattn_error *error);
void clattn_context_destroy(clattn_context *ctx);

/* What it runs on, for making queues and buffers.  Not retained for you. */
cl_context clattn_context_cl(const clattn_context *ctx);
cl_device_id clattn_context_device(const clattn_context *ctx);

/*
 * The compiler's log of the last build that failed on this context, cut to
 * capacity_bytes with its terminating 0.  Returns the bytes that the whole log
 * needs, 1 if no build failed, 0 after fork().  text may be NULL if
 * capacity_bytes is 0, else it returns 0.
 */
size_t clattn_context_build_log(
    clattn_context *ctx, char *text, size_t capacity_bytes);

/* ---- Tensors and buffers ------------------------------------------------- */

enum clattn_dtype {
    CLATTN_F32 = 1,
    CLATTN_F16,
    CLATTN_BF16,
    CLATTN_BOOL, /* one byte, nonzero is true; masks only */
    CLATTN_F64   /* clattn_X_reference and clattn_convert only */
};

/*
 * Convert `count` elements between F32, F16, BF16 and F64 in host memory:
 * widening is exact, narrowing rounds to nearest even once, overflow gives
 * infinity, NaN stays NaN.  Neither pointer needs alignment; they may be equal
 * if the element sizes are.  NULL is allowed where count is 0.
 */
clattn_status clattn_convert(void *to, int32_t to_dtype, const void *from,
    int32_t from_dtype, size_t count, clattn_error *error);

/*
 * Element (item b, head h, row i, column c) lies at b * batch + h * head +
 * i * row + c.  All three 0: dense, in the order of the shape given where the
 * tensor is.  (B, L, H, D) in memory is { L * H * D, D, H * D }; packed q, k, v
 * (B, L, 3, H, D) are three times { L * 3 * H * D, D, 3 * H * D } at offsets 0,
 * H * D, 2 * H * D.  No alignment beyond the element is needed.
 */
typedef struct clattn_tensor {
    size_t batch, head, row; /* strides */
    int32_t dtype;           /* 0: the descriptor's; for lse f32 */
    int32_t reserved;
} clattn_tensor;

/* (B, Hq, Lq, Lk), where a size may be 1 and then serves all. */
typedef struct clattn_mask {
    size_t size[4];   /* with 1s in front if the mask has fewer dimensions */
    size_t stride[4]; /* the last is 1; all 0: dense */
    int32_t dtype;    /* 0: no mask.  CLATTN_BOOL: true may attend.  F32,
                         F16, BF16: added to the score */
    int32_t reserved;
} clattn_mask;

/*
 * Where a tensor or array begins.  Host calls and references take `host`,
 * enqueue takes `mem`, which may be a sub-buffer, and for int32 arrays either.
 * All 0: not given, which is also right for a tensor without elements.  Images
 * are refused, and so are inputs in a CL_MEM_WRITE_ONLY buffer and outputs in a
 * CL_MEM_READ_ONLY one; what a call reads again, a workspace and what a layer
 * keeps (q, k, v, out), may be in neither.
 */
typedef struct clattn_input {
    cl_mem mem;
    const void *host;
    size_t offset; /* of the first element, in either */
} clattn_input;

typedef struct clattn_output {
    cl_mem mem;
    void *host;
    size_t offset;
} clattn_output;

/* ---- Plans: what all X have in common ------------------------------------ */

typedef struct clattn_plan clattn_plan; /* kernels, work sizes, workspace */

/* One line: kernels, tiles, work sizes, workspace, and why each better row was
   not taken.  Lives as long as the plan. */
const char *clattn_plan_describe(const clattn_plan *plan);
size_t clattn_plan_workspace_bytes(const clattn_plan *plan);
void clattn_plan_destroy(clattn_plan *plan);

/* The rows that a descriptor can ask for by name, best first; NULL past the
   last. */
const char *clattn_kernel_name(size_t index);

/*
 * clattn_X_init sets everything optional off and required fields to values
 * that are refused, so that a forgotten size is an error.  X_args have no
 * init: zero them.
 *
 * clattn_X_supported answers as clattn_X_plan would, in microseconds, without
 * compiling: after its CLATTN_OK only memory, compiler or device can fail, or a
 * row asked for by name whose kernels, as built, take smaller groups than needed
 * or whose matrix unit is not there or not right.
 *
 * clattn_X_plan may compile for seconds the first time.  Only dtypes, options,
 * D and Dv are compiled in: a plan for other lengths, batches or strides is
 * cheap.  Under CLATTN_PRECISION_STORAGE it may also run a small product on a
 * queue of its own, once for a device and driver, to see that it is right.
 *
 * clattn_X_enqueue
 *   queue      of the plan's context and device, in order or out of order
 *   wait_list  num_wait events of that context to wait for; NULL if there are
 *              none.  One that has failed already is CLATTN_DEVICE_ERROR, and
 *              nothing is enqueued
 *   event      may be NULL.  Receives an event, yours to release, complete when
 *              all outputs are written and no buffer is in use any more, even
 *              if there was nothing to compute.  Its profile is that of the
 *              last kernel alone
 * Never blocks, flushes or compiles.  Buffers must live until the event does
 * complete.  CLATTN_DEVICE_ERROR may leave part of the work enqueued: finish
 * the queue; outputs are unspecified.  Any other failure has enqueued nothing.
 * What fails later shows as a negative execution status of the event.
 *
 * clattn_X_host plans, copies in, runs, copies out; complete when it returns.
 *
 * clattn_X_reference does the same in plain C and double precision, without
 * OpenCL and slowly: the judge of all kernels.
 *
 * args.workspace may be left out: the call then allocates, and the memory goes
 * when the work is done.  Else clattn_plan_workspace_bytes from offset, which
 * is in bytes and a multiple of 64.  Enqueues that may run at the same time
 * need one each.
 *
 * Every element of an output is written by the call and its old content never
 * read.  None may belong to another tensor of the call; tensors of equal
 * strides may interleave, as packed q, k, v do.
 */

/* ---- Attention ----------------------------------------------------------- */

enum clattn_flags {
    CLATTN_RETURN_LSE = 1 << 0,
    /* At most one of these; it fills `weights`. */
    CLATTN_RETURN_WEIGHTS = 1 << 1, /* as they multiply v, after dropout */
    CLATTN_RETURN_SCORES = 1 << 2,  /* final scores, -inf if hidden */
    CLATTN_RETURN_SCALED = 1 << 3,  /* after scale; of hidden keys too, */
    CLATTN_RETURN_CAPPED = 1 << 4,  /* after softcap; both 0 past lengths */
    /* Arrays that each call brings. */
    CLATTN_QUERY_LENGTHS = 1 << 8,
    CLATTN_KEY_LENGTHS = 1 << 9,
    CLATTN_QUERY_STARTS = 1 << 10,
    CLATTN_KEY_STARTS = 1 << 11,
    CLATTN_DIAGONAL_OFFSETS = 1 << 12,
    CLATTN_SINKS = 1 << 13
};

/* Row i stands on key i + offset.  Causal hides the keys after that one, the
   window counts from it, ALiBi measures from it. */
enum clattn_diagonal {
    CLATTN_DIAGONAL_UNSET = 0, /* refused where one of the three is used */
    CLATTN_TOP_LEFT,           /* offset 0 */
    CLATTN_BOTTOM_RIGHT,       /* keys - queries of the item, as it has them
                                  by lengths or starts: what a cache needs */
    CLATTN_OFFSET              /* diagonal_offset, or one per item with
                                  CLATTN_DIAGONAL_OFFSETS; may be negative */
};

enum clattn_precision {
    CLATTN_PRECISION_F32 = 0, /* all arithmetic in f32 */
    CLATTN_PRECISION_STORAGE  /* weights may be rounded once to v's 16-bit
                                 dtype before they multiply v, as matrix units
                                 need; refused where v is f32 */
};

/*
 * One problem.  Packed batches (varlen, THD): with QUERY_STARTS row i of item b
 * is row starts[b] + i of q, out and lse, which are q_rows long and, if dense,
 * have batch stride 0; likewise k and v with KEY_STARTS and k_rows.  Lq and Lk
 * then are the longest item that a call may bring.  Elsewhere i and j count
 * within the item, so mask and weights stay (B, Hq, Lq, Lk).
 */
typedef struct clattn_attention {
    size_t struct_size;
    size_t B;              /* items of the batch.  B, Hq, Lq, Lk may be 0 */
    size_t Hq, Hkv;        /* query head h reads head h / (Hq / Hkv) of k, v */
    size_t Lq, Lk;         /* rows of q; rows of k and v */
    size_t D, Dv;          /* columns of q and k; of v and out.  1 to 512 */
    size_t q_rows, k_rows; /* packed batches only: capacity in rows, at least 1
                              unless nothing is to be done */

    clattn_tensor q;       /* (B, Hq, Lq, D)     or (q_rows, Hq, D) */
    clattn_tensor k;       /* (B, Hkv, Lk, D)    or (k_rows, Hkv, D) */
    clattn_tensor v;       /* (B, Hkv, Lk, Dv)   or (k_rows, Hkv, Dv) */
    clattn_tensor out;     /* (B, Hq, Lq, Dv)    or (q_rows, Hq, Dv) */
    clattn_tensor lse;     /* (B, Hq, Lq)        or (Hq, q_rows).  Its element
                              (b, h, i) is at b * batch + h * head + i * row */
    clattn_tensor weights; /* (B, Hq, Lq, Lk) */
    clattn_mask mask;

    const float *alibi_slopes; /* Hq values; NULL: none */
    const char *kernel;        /* NULL: CLATTN_KERNEL, else the best; a path,
                                  "fused" or "materialised"; or a
                                  clattn_kernel_name, before CLATTN_KERNEL */
    const char *disable;       /* NULL, or a comma list of paths and names that
                                  are not to be taken, nor those of
                                  CLATTN_DISABLE */
    int32_t dtype;             /* required; of all tensors that name none */
    uint32_t flags;
    int32_t diagonal, diagonal_offset;
    int32_t causal;       /* 1: hide j > i + offset */
    int32_t window_left;  /* hide j < i + offset - this;  -1: off */
    int32_t window_right; /* hide j > i + offset + this;  -1: off */
    int32_t has_scale;    /* 0: 1 / sqrt(D).  1: scale */
    float scale;          /* finite; 0 and negative are legal */
    float softcap;        /* 0: off; else positive */
    float dropout_p;      /* 0 to 1 */
    int32_t precision;    /* a clattn_precision */
} clattn_attention;

/*
 * The data of one call.
 *
 * An item has lengths[b] rows; without lengths, starts[b + 1] - starts[b];
 * without either, Lq or Lk.  All these arrays are int32 with B values, starts
 * without lengths with one more.  Query items may not overlap, key items may.
 * A query past its length is a row without keys; packed rows of no item are
 * left alone.  Host arrays are checked, and read before enqueue returns.  Those
 * in device memory are clamped so that nothing outside a tensor is touched;
 * what wrong values give is unspecified.
 *
 * Dropout drops p_ij if w < dropout_p * 2^32, else scales it by
 * 1 / (1 - dropout_p).  w is word j % 4 of Philox4x32-10 with key = seed and
 * counter = (j / 4, i, low, high) of offset + b * Hq + h, so the entries depend
 * on nothing else (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3",
 * 2011).  Fresh entries: advance the offset by B * Hq.  Without dropout_p seed
 * and offset are not looked at.
 */
typedef struct clattn_attention_args {
    size_t struct_size;
    clattn_output out, lse, weights;
    clattn_input q, k, v, mask;
    clattn_input sinks; /* f32, Hq values: finite, or -inf for none */
    clattn_input query_lengths, key_lengths, query_starts, key_starts;
    clattn_input diagonal_offsets;
    clattn_output workspace;
    uint64_t dropout_seed, dropout_offset;
} clattn_attention_args;

void clattn_attention_init(clattn_attention *attention, size_t struct_size);
clattn_status clattn_attention_supported(clattn_context *ctx,
    const clattn_attention *attention, clattn_error *error);
clattn_status clattn_attention_plan(clattn_plan **plan, clattn_context *ctx,
    const clattn_attention *attention, clattn_error *error);
clattn_status clattn_attention_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const clattn_attention_args *args, cl_uint num_wait,
    const cl_event *wait_list, cl_event *event, clattn_error *error);
clattn_status clattn_attention_host(clattn_context *ctx,
    const clattn_attention *attention, const clattn_attention_args *args,
    clattn_error *error);
clattn_status clattn_attention_reference(const clattn_attention *attention,
    const clattn_attention_args *args, clattn_error *error);

/* ---- Linear: y = x W + b ------------------------------------------------- */

enum clattn_weight_order {
    CLATTN_IN_OUT = 1, /* W as the formula has it; GPT-2's Conv1D */
    CLATTN_OUT_IN      /* W transposed, as nn.Linear stores it */
};

/* x, w and y use only the row stride; 0: dense. */
typedef struct clattn_linear {
    size_t struct_size;
    size_t rows, n_in, n_out; /* rows may be 0 */
    clattn_tensor x;          /* (rows, n_in) */
    clattn_tensor w;          /* (n_in, n_out), or (n_out, n_in) by the order */
    clattn_tensor y;          /* (rows, n_out) */
    const char *kernel;       /* as in clattn_attention */
    const char *disable;
    int32_t dtype;        /* required */
    int32_t weight_order; /* required */
    int32_t has_bias;     /* 1: b (n_out), dense, of w's dtype */
    int32_t reserved;
} clattn_linear;

typedef struct clattn_linear_args {
    size_t struct_size;
    clattn_output y;
    clattn_input x, w, b;
    clattn_output workspace;
} clattn_linear_args;

void clattn_linear_init(clattn_linear *linear, size_t struct_size);
clattn_status clattn_linear_supported(
    clattn_context *ctx, const clattn_linear *linear, clattn_error *error);
clattn_status clattn_linear_plan(clattn_plan **plan, clattn_context *ctx,
    const clattn_linear *linear, clattn_error *error);
clattn_status clattn_linear_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const clattn_linear_args *args, cl_uint num_wait,
    const cl_event *wait_list, cl_event *event, clattn_error *error);
clattn_status clattn_linear_host(clattn_context *ctx,
    const clattn_linear *linear, const clattn_linear_args *args,
    clattn_error *error);
clattn_status clattn_linear_reference(const clattn_linear *linear,
    const clattn_linear_args *args, clattn_error *error);

/* ---- Layer: multi-head attention with its projections -------------------- */

enum clattn_layer_flags {
    CLATTN_BIAS_Q = 1 << 20, /* no bit of clattn_flags means anything here: */
    CLATTN_BIAS_K = 1 << 21, /* those belong to `attention` */
    CLATTN_BIAS_V = 1 << 22,
    CLATTN_BIAS_O = 1 << 23,
    CLATTN_PROJECT_OUT = 1 << 24, /* y = out W_o + b_o; without it y = out */
    CLATTN_KEEP_QKV = 1 << 25,    /* return q, k, v too */
    CLATTN_KEEP_OUT = 1 << 26     /* return out, as it enters W_o, too */
};

/*
 * q = x W_q + b_q, k = x_k W_k + b_k, v = x_v W_v + b_v; `attention` of them,
 * with all its options; then W_o.  Ek = 0: x_k is x, and Lk = Lq.  Ev = 0: x_v
 * is x_k.  One head and no W_o: the textbook's self-attention.
 *
 * Inside a layer dense q, k, v and out are (B, L, H, D), heads side by side.
 * Packed weights are one buffer given thrice with offsets, and with the long
 * row stride if they lie side by side.  Where rows mix q, k and v within a head
 * (GPT-NeoX), regroup them first.  Key lengths hide keys only: a padded query
 * row holds what the formula gives, as in PyTorch.  Kernels do no packed batches
 * in a layer yet: CLATTN_UNSUPPORTED.
 */
typedef struct clattn_layer {
    size_t struct_size;
    const clattn_attention *attention;
    size_t E, Ey;           /* columns of x; of y, Hq * Dv if y = out */
    size_t Ek, Ev;          /* columns of x_k and x_v; 0: not given */
    clattn_tensor x, y;     /* (B, Lq, E) and (B, Lq, Ey), or (q_rows, ...) */
    clattn_tensor x_k, x_v; /* (B, Lk, Ek) and (B, Lk, Ev), or (k_rows, ...) */
    clattn_tensor w_q;      /* (E, Hq * D), or transposed by weight_order */
    clattn_tensor w_k;      /* (Ek, Hkv * D) */
    clattn_tensor w_v;      /* (Ev, Hkv * Dv) */
    clattn_tensor w_o;      /* (Hq * Dv, Ey) */
    int32_t weight_order;   /* required */
    uint32_t flags;         /* of clattn_layer_flags */
} clattn_layer;

typedef struct clattn_layer_args {
    size_t struct_size;
    clattn_output y;
    clattn_output q, k, v; /* with KEEP_QKV */
    clattn_input x, x_k, x_v;
    clattn_input w_q, w_k, w_v, w_o;
    clattn_input b_q, b_k, b_v, b_o; /* dense, of their weight's dtype */
    clattn_output workspace;
    const clattn_attention_args *attention; /* the rest: lengths, weights, lse,
                          out with KEEP_OUT; not q, k, v, workspace.  NULL:
                          none of it */
} clattn_layer_args;

void clattn_layer_init(clattn_layer *layer, size_t struct_size);
clattn_status clattn_layer_supported(
    clattn_context *ctx, const clattn_layer *layer, clattn_error *error);
clattn_status clattn_layer_plan(clattn_plan **plan, clattn_context *ctx,
    const clattn_layer *layer, clattn_error *error);
clattn_status clattn_layer_enqueue(const clattn_plan *plan,
    cl_command_queue queue, const clattn_layer_args *args, cl_uint num_wait,
    const cl_event *wait_list, cl_event *event, clattn_error *error);
clattn_status clattn_layer_host(clattn_context *ctx, const clattn_layer *layer,
    const clattn_layer_args *args, clattn_error *error);
clattn_status clattn_layer_reference(const clattn_layer *layer,
    const clattn_layer_args *args, clattn_error *error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
