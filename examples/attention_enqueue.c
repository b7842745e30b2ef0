/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_enqueue.c - attention between your own commands, on your context
 * and queue.  Queries of 0 read all keys alike: out is the mean of v.
 */
#include <clattn/clattn.h>
#include <stdio.h>
#include <stdlib.h>

#define N 2 /* rows and columns of everything */
static clattn_error error;

static void check(int code, const char *what)
{
    if (code != 0) {
        fprintf(stderr, "%s: %d %s\n", what, code, error.message);
        exit(1);
    }
}

int main(void)
{
    float memory[3][N][N] = {{{0}}, {{1, 10}, {5, 50}}}; /* q = k; v; out */
    clattn_device device = {.struct_size = sizeof device};
    for (size_t i = 0; !device.is_default; ++i)
        check(clattn_device_get(&device, i, &error), "device");
    cl_int code[3];
    cl_context cl = clCreateContext(NULL, 1, &device.id, NULL, NULL, &code[0]);
    cl_command_queue queue = clCreateCommandQueue(cl, device.id, 0, &code[1]);
    cl_mem mem = clCreateBuffer(cl, 0, sizeof memory, NULL, &code[2]);
    check(code[0] | code[1] | code[2], "OpenCL objects");

    clattn_attention a;
    clattn_attention_init(&a, sizeof a);
    a.B = a.Hq = a.Hkv = 1;
    a.Lq = a.Lk = a.D = a.Dv = N;
    a.dtype = CLATTN_F32;
    clattn_context *ctx = NULL;
    clattn_plan *plan = NULL;
    check(clattn_context_create_from_cl(&ctx, cl, device.id, &error), "ctx");
    check(clattn_attention_plan(&plan, ctx, &a, &error), "plan");
    clattn_attention_args args = {.struct_size = sizeof args};
    args.q.mem = args.k.mem = args.v.mem = args.out.mem = mem;
    args.v.offset = N * N;
    args.out.offset = 2 * N * N;
    cl_event e[2];
    clEnqueueWriteBuffer(
        queue, mem, 0, 0, sizeof memory, memory, 0, NULL, &e[0]);
    check(clattn_attention_enqueue(plan, queue, &args, 1, &e[0], &e[1], &error),
        "enqueue");
    clEnqueueReadBuffer(
        queue, mem, 1, 0, sizeof memory, memory, 1, &e[1], NULL);
    for (int i = 0; i < N; ++i)
        check(memory[2][i][0] != 3 || memory[2][i][1] != 30, "not the mean");
    printf("the mean of the values, on %s\n", device.name);
    clattn_plan_destroy(plan); /* what follows may be in any order */
    clattn_context_destroy(ctx);
    clReleaseEvent(e[0]), clReleaseEvent(e[1]), clReleaseMemObject(mem);
    clReleaseCommandQueue(queue), clReleaseContext(cl);
}
