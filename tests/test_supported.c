/* SPDX-License-Identifier: Apache-2.0
 *
 * test_supported.c - what is said to be supported can be planned, and what is
 * not cannot: every head dimension, dtype and group size, on devices that exist
 * nowhere.
 */
#include <stdbool.h>

#include "fake_opencl.h"

#include "suite.h"

static const int32_t DTYPES[] = {CLATTN_F32, CLATTN_F16, CLATTN_BF16};
static const size_t GROUPS[] = {1, 2, 16, 64, 256, 4096};
static const char *const KERNELS[] = {NULL, "fused", "materialised"};

enum {
    MOST_D = 512,
    WAYS = COUNT(DTYPES) * 2 * COUNT(KERNELS)
};

static clattn_context *open_fake(size_t group)
{
    clattn_error error;
    clattn_context *ctx = NULL;
    FAKE_DEVICE = group <= 1024 ? fake_gpu() : fake_cpu();
    FAKE_DEVICE.max_group = FAKE_DEVICE.kernel_group = group;
    for (int axis = 0; axis < 3; ++axis)
        if (FAKE_DEVICE.max_group_dim[axis] > group)
            FAKE_DEVICE.max_group_dim[axis] = group;
    ck_assert_msg(clattn_context_create(&ctx, NULL, &error) == CLATTN_OK, "%s",
        error.message);
    return ctx;
}

static clattn_attention problem_of(size_t D, size_t way)
{
    clattn_attention a;
    clattn_attention_init(&a, sizeof a);
    a.B = 1;
    a.Hq = a.Hkv = 2;
    a.Lq = a.Lk = 9;
    a.D = D;
    a.Dv = D;
    a.dtype = DTYPES[way % COUNT(DTYPES)];
    way /= COUNT(DTYPES);
    a.causal = way % 2 != 0;
    if (a.causal)
        a.diagonal = CLATTN_BOTTOM_RIGHT;
    a.kernel = KERNELS[way / 2];
    return a;
}

/* Returns whether it is supported. */
static bool check_one(clattn_context *ctx, size_t D, size_t way)
{
    clattn_error said, done;
    clattn_plan *plan = NULL;
    const clattn_attention a = problem_of(D, way);
    const clattn_status supported = clattn_attention_supported(ctx, &a, &said);
    const clattn_status planned = clattn_attention_plan(&plan, ctx, &a, &done);
    ck_assert_msg(supported == planned && (plan != NULL) == (planned == 0),
        "D %zu, dtype %d, causal %d, kernel %s: supported is %d, a plan %d: %s",
        D, (int)a.dtype, (int)a.causal, a.kernel ? a.kernel : "any", supported,
        planned, done.message);
    ck_assert_msg(planned == CLATTN_OK || planned == CLATTN_UNSUPPORTED, "%s",
        done.message);
    clattn_plan_destroy(plan);
    return supported == CLATTN_OK;
}

/* All where tiles and vectors end, and small ones; else one way, in turn. */
static bool is_chosen(size_t D, size_t way)
{
    return D <= 64 || (D + 1) % 16 <= 2 || D % WAYS == way;
}

START_TEST(what_is_supported_can_be_planned_and_nothing_else)
{
    clattn_context *ctx = open_fake(GROUPS[_i]);
    size_t supported = 0;
    for (size_t D = 1; D <= MOST_D; ++D)
        for (size_t way = 0; way < WAYS; ++way) {
            if (!is_chosen(D, way))
                continue;
            const bool is = check_one(ctx, D, way);
            ck_assert_msg(is || problem_of(D, way).kernel != NULL,
                "D %zu: no kernel at all in groups of %zu", D, GROUPS[_i]);
            supported += is;
        }
    ck_assert_uint_ge(supported, MOST_D);
    clattn_context_destroy(ctx);
    ck_assert_uint_eq(fake_live(), 0);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("supported");
    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, what_is_supported_can_be_planned_and_nothing_else, 0,
        (int)COUNT(GROUPS));
    Suite *suite = suite_create("supported");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
