/* SPDX-License-Identifier: Apache-2.0
 *
 * test_mma_plan.c - which problems and devices rows of matrix units are for, and
 * what they ask of the device.  Needs none.
 */
#include "planning.h"

#include <string.h>

#include "simt.h"
#include "suite.h"

typedef void change(planning *s);

static void forbid_rounding(planning *s)
{
    s->given.precision = CLATTN_PRECISION_F32;
}

static void store_f32(planning *s)
{
    s->given.precision = CLATTN_PRECISION_F32;
    s->given.dtype = CLATTN_F32;
}

static void mix_dtypes(planning *s)
{
    s->given.k.dtype = CLATTN_BF16;
}

static void be_a_cpu(planning *s)
{
    s->limits.is_cpu = true;
}

static void return_weights(planning *s)
{
    s->given.flags = CLATTN_RETURN_WEIGHTS;
}

static void drop_weights(planning *s)
{
    s->given.dropout_p = 0.5f;
}

static void widen_heads(planning *s)
{
    s->given.Dv = 257;
}

static void speak_of_nothing(planning *s)
{
    s->limits.units = 0;
}

static void have_small_groups(planning *s)
{
    s->limits.max_group = 100;
}

static void have_little_memory(planning *s)
{
    s->limits.local_bytes = 4 << 10;
}

static const struct {
    const char *about;
    change *change;
    const char *words;
} NO_UNITS[] = {
    {"weights that stay f32", forbid_rounding, "precision or dtypes"},
    {"tensors in f32", store_f32, "precision or dtypes"},
    {"keys of another type", mix_dtypes, "precision or dtypes"},
    {"a CPU", be_a_cpu, "no CPU has its unit"},
    {"weights returned", return_weights, "keeps no matrix"},
    {"dropout", drop_weights, "does no dropout"},
    {"wide heads", widen_heads, "more than 256 columns"},
    {"a device that speaks of no unit", speak_of_nothing, "does not speak"},
    {"small groups", have_small_groups, "needs 128 work-items"},
    {"little local memory", have_little_memory, "bytes of local memory"},
};

static planning plan_units(void)
{
    planning s = planning_start();
    s.limits = planning_gpu();
    s.given.dtype = CLATTN_F16;
    s.given.precision = CLATTN_PRECISION_STORAGE;
    return s;
}

START_TEST(matrix_units_are_for_rounded_weights_of_a_device_that_may_have_them)
{
    planning s = plan_units();
    s.wishes.kernel = "mma_m16n8k16";
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_str_eq(s.p.tried.kernel.name, "mma_probe");
    s = plan_units();
    NO_UNITS[_i].change(&s);
    s.wishes.kernel = "mma_m16n8k16";
    ck_assert_msg(planning_run(&s) == CLATTN_UNSUPPORTED, "%s: %s",
        NO_UNITS[_i].about, s.p.row->name);
    ck_assert_msg(strstr(s.error.message, NO_UNITS[_i].words) != NULL, "%s: %s",
        NO_UNITS[_i].about, s.error.message);
}
END_TEST

START_TEST(each_language_has_its_units)
{
    static const struct {
        unsigned units;
        int32_t dtype;
        const char *row, *next;
    } KNOWN[] = {
        {UNITS_IN_PTX, CLATTN_F16, "mma_m16n8k16", "mma_m16n8k8"},
        {UNITS_IN_GCN, CLATTN_BF16, "mma_mfma", "mma_wmma"},
        {UNITS_IN_DPAS, CLATTN_F16, "mma_dpas16", "mma_dpas8"},
    };
    planning s = plan_units();
    s.limits.units = KNOWN[_i].units;
    s.given.dtype = KNOWN[_i].dtype;
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_str_eq(s.p.row->name, KNOWN[_i].row);
    s.wishes.disable = KNOWN[_i].row;
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_str_eq(s.p.row->name, KNOWN[_i].next);
}
END_TEST

/* Static local memory beyond 48 KiB is refused by some compilers, whatever the
   device says. */
START_TEST(units_use_no_more_memory_than_is_safe)
{
    planning s = plan_units();
    s.limits.local_bytes = (size_t)1 << 40;
    for (size_t n = 0; n < 32 * 32; ++n) {
        s.given.D = 8 * (n % 32) + 8;
        s.given.Dv = 8 * (n / 32) + 8;
        ck_assert_int_eq(planning_run(&s), CLATTN_OK);
        ck_assert_str_eq(s.p.need[0].name, "attention_mma");
        ck_assert_uint_le(
            2 * planning_option(&s, 0, "BC") * (s.given.D + s.given.Dv),
            (size_t)48 << 10);
    }
}
END_TEST

static void be_causal(planning *s)
{
    s->given.causal = true;
    s->given.diagonal = CLATTN_TOP_LEFT;
}

/* Tiles of rows of a warp that a head size leaves registers for; 0: none. */
static const struct {
    unsigned units;
    const char *row;
    size_t D;
    change *change;
    size_t tiles;
} FITS[] = {
    {UNITS_IN_PTX, "mma_m16n8k16", 128, NULL, 2},
    {UNITS_IN_PTX, "mma_m16n8k16", 128, be_causal, 1},
    {UNITS_IN_PTX, "mma_m16n8k16", 64, be_causal, 2},
    {UNITS_IN_PTX, "mma_m16n8k16", 200, NULL, 1},
    {UNITS_IN_PTX, "mma_m16n8k16", 200, be_causal, 0},
    {UNITS_IN_GCN, "mma_mfma", 128, be_causal, 2},
    {UNITS_IN_DPAS, "mma_dpas16", 64, be_causal, 1},
    {UNITS_IN_DPAS, "mma_dpas16", 65, NULL, 0},
};

START_TEST(shapes_are_those_that_compilers_have_registers_for)
{
    planning s = plan_units();
    s.limits.units = FITS[_i].units;
    s.limits.local_bytes = (size_t)64 << 10;
    s.given.D = s.given.Dv = FITS[_i].D;
    if (FITS[_i].change)
        FITS[_i].change(&s);
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    if (FITS[_i].tiles > 0) {
        ck_assert_str_eq(s.p.row->name, FITS[_i].row);
        ck_assert_uint_eq(planning_option(&s, 0, "TILES"), FITS[_i].tiles);
        return;
    }
    ck_assert_str_ne(s.p.row->name, FITS[_i].row);
    ck_assert_msg(strstr(s.declined.text, "has no registers for") != NULL, "%s",
        s.declined.text);
    /* By name it is taken, and may spill. */
    s.wishes.kernel = FITS[_i].row;
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert_str_eq(s.p.row->name, FITS[_i].row);
}
END_TEST

START_TEST(a_kernel_that_spills_is_not_accepted)
{
    planning s = plan_units();
    built_kernel built = {
        .max_group = 1024, .private_bytes = SPILLED_BYTES + 1};
    const built_kernel *all[MAX_NEEDS] = {&built};
    ck_assert_int_eq(planning_run(&s), CLATTN_OK);
    ck_assert(!plan_accept(&s.p, all, &s.declined));
    ck_assert_msg(strstr(s.declined.text, "keeps 65 bytes") != NULL, "%s",
        s.declined.text);
    built.private_bytes = SPILLED_BYTES;
    ck_assert(plan_accept(&s.p, all, &s.declined));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("units");
    tcase_add_loop_test(t,
        matrix_units_are_for_rounded_weights_of_a_device_that_may_have_them, 0,
        (int)COUNT(NO_UNITS));
    tcase_add_loop_test(t, each_language_has_its_units, 0, 3);
    tcase_add_test(t, units_use_no_more_memory_than_is_safe);
    tcase_add_loop_test(t, shapes_are_those_that_compilers_have_registers_for,
        0, (int)COUNT(FITS));
    tcase_add_test(t, a_kernel_that_spills_is_not_accepted);

    Suite *suite = suite_create("mma_plan");
    suite_add_tcase(suite, t);
    return suite_main(suite, 0);
}
