/* SPDX-License-Identifier: Apache-2.0
 *
 * planning.c - planning on devices that exist nowhere.
 */
#include "planning.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"

device_limits planning_cpu(void)
{
    return (device_limits){
        .is_cpu = true,
        .max_group = 4096,
        .max_group_dim = {4096, 4096, 4096},
        .max_groups = {0x7fffffff, 0xffff, 0xffff},
        .max_items = SIZE_MAX,
        .local_bytes = (size_t)512 << 10,
        .max_buffer_bytes = (size_t)2 << 30,
        .native_width = 16,
        .prefetches = true,
        .fused_adds = true,
    };
}

device_limits planning_gpu(void)
{
    device_limits l = planning_cpu();
    l.is_cpu = false;
    l.max_group = 1024;
    l.max_group_dim[0] = l.max_group_dim[1] = 1024;
    l.max_group_dim[2] = 64;
    l.local_bytes = (size_t)48 << 10;
    l.native_width = 1;
    l.units = UNITS_IN_PTX;
    return l;
}

planning planning_start(void)
{
    planning s = {.limits = planning_cpu()};
    clattn_attention *a = &s.given;
    clattn_attention_init(a, sizeof *a);
    a->B = 2;
    a->Hq = 4;
    a->Hkv = 2;
    a->Lq = 70;
    a->Lk = 90;
    a->D = 64;
    a->Dv = 48;
    a->dtype = CLATTN_F32;
    return s;
}

clattn_status planning_run(planning *s)
{
    const clattn_status status =
        problem_attention(&s->problem, &s->given, false, false, &s->error);
    ck_assert_msg(status == CLATTN_OK, "%s", s->error.message);
    memset(&s->declined, 0, sizeof s->declined);
    return plan_attention(
        &s->p, &s->problem, &s->limits, &s->wishes, &s->declined, &s->error);
}

void planning_only(planning *s, const char *prefix)
{
    s->others[0] = '\0';
    for (size_t i = 0; i < N_KERNEL_ROWS; ++i) {
        const char *name = KERNEL_ROWS[i].name;
        const size_t used = strlen(s->others);
        if (strncmp(name, prefix, strlen(prefix)) != 0)
            snprintf(s->others + used, sizeof s->others - used, "%s%s",
                used > 0 ? "," : "", name);
    }
    s->wishes.disable = s->others;
}

size_t planning_option(const planning *s, size_t need, const char *name)
{
    char text[40];
    const char *options = s->p.need[need].options;
    snprintf(text, sizeof text, "-D%s=", name);
    const char *at = strstr(options, text);
    ck_assert_msg(at != NULL, "no %s in %s", text, options);
    return strtoul(at + strlen(text), NULL, 10);
}
