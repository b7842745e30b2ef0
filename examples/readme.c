/* SPDX-License-Identifier: Apache-2.0
 *
 * readme.c - the program of README.md: one query reads the key it resembles.
 */
#include <clattn/clattn.h>
#include <stdio.h>

int main(void)
{
    const float q[2] = {3, 0}, k[3][2] = {{4, 0}, {0, 4}, {-4, 0}};
    const float v[3][1] = {{10}, {20}, {30}};
    float out[1], weights[3];

    clattn_attention problem;
    clattn_attention_init(&problem, sizeof problem);
    problem.B = problem.Hq = problem.Hkv = 1;
    problem.Lq = 1;
    problem.Lk = 3;
    problem.D = 2;
    problem.Dv = 1;
    problem.dtype = CLATTN_F32;
    problem.flags = CLATTN_RETURN_WEIGHTS;

    clattn_attention_args data = {.struct_size = sizeof data,
        .q.host = q,
        .k.host = k,
        .v.host = v,
        .out.host = out,
        .weights.host = weights};
    clattn_context *context = NULL;
    clattn_error error;
    if (clattn_context_create(&context, NULL, &error) == CLATTN_OK &&
        clattn_attention_host(context, &problem, &data, &error) == CLATTN_OK)
        printf("weights %.4f %.4f %.4f, out %.4f\n", weights[0], weights[1],
            weights[2], out[0]);
    else
        fprintf(stderr, "%s\n", error.message);
    clattn_context_destroy(context);
    return error.status == CLATTN_OK && weights[0] > 0.99f ? 0 : 1;
}
