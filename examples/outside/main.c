/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - a program outside clattn's tree: with one key, attention returns
 * that key's value, whatever the query.
 */
#include <clattn/clattn.h>
#include <stdio.h>

int main(void)
{
    const float q[3] = {1, -2, 3}, k[3] = {4, 5, 6}, v[2] = {0.5f, -8};
    float out[2] = {0};

    clattn_attention problem;
    clattn_attention_init(&problem, sizeof problem);
    problem.B = problem.Hq = problem.Hkv = problem.Lq = problem.Lk = 1;
    problem.D = 3;
    problem.Dv = 2;
    problem.dtype = CLATTN_F32;
    clattn_attention_args data = {.struct_size = sizeof data};
    data.q.host = q;
    data.k.host = k;
    data.v.host = v;
    data.out.host = out;

    clattn_context *context = NULL;
    clattn_error error;
    if (clattn_context_create(&context, NULL, &error) == CLATTN_OK)
        clattn_attention_host(context, &problem, &data, &error);
    clattn_context_destroy(context);
    printf("clattn %s: out = %g %g %s\n", clattn_version_text(), out[0], out[1],
        error.message);
    return error.status == CLATTN_OK && out[0] == v[0] && out[1] == v[1] ? 0
                                                                         : 1;
}
