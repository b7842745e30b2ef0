/* SPDX-License-Identifier: Apache-2.0
 *
 * test_attention_refusals.c - descriptors that are wrong: refused by supported,
 * plan and the host call alike, with the field's name, and with the outputs
 * untouched; and each option, which is not.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "opencl.h"
#include "run.h"
#include "suite.h"

enum kind {
    NOTHING,
    SIZE,
    INT,
    FLOAT,
    TEXT,
    SLOPES
};

/* One field of a right descriptor that gets another value. */
typedef struct change {
    enum kind kind;
    size_t at;
    uint64_t whole;
    float real;
    const char *text;
} change;

#define FIELD(kind, field) (kind), offsetof(clattn_attention, field)
#define SET_SIZE(field, n)               \
    {                                    \
        FIELD(SIZE, field), (n), 0, NULL \
    }
#define SET_INT(field, n)                         \
    {                                             \
        FIELD(INT, field), (uint64_t)(n), 0, NULL \
    }
#define SET_FLOAT(field, x)               \
    {                                     \
        FIELD(FLOAT, field), 0, (x), NULL \
    }
#define SET_TEXT(field, t)            \
    {                                 \
        FIELD(TEXT, field), 0, 0, (t) \
    }
#define SET_SLOPES                              \
    {                                           \
        FIELD(SLOPES, alibi_slopes), 0, 0, NULL \
    }

static const struct {
    const char *about, *names; /* what the message must name */
    clattn_status want;
    change change[2];
} REFUSALS[] = {
    {"B forgotten", "B", CLATTN_INVALID, {SET_SIZE(B, SIZE_MAX)}},
    {"Hq forgotten", "Hq", CLATTN_INVALID, {SET_SIZE(Hq, SIZE_MAX)}},
    {"Hkv forgotten", "Hkv", CLATTN_INVALID, {SET_SIZE(Hkv, SIZE_MAX)}},
    {"Lq forgotten", "Lq", CLATTN_INVALID, {SET_SIZE(Lq, SIZE_MAX)}},
    {"Lk forgotten", "Lk", CLATTN_INVALID, {SET_SIZE(Lk, SIZE_MAX)}},
    {"D forgotten", "D", CLATTN_INVALID, {SET_SIZE(D, SIZE_MAX)}},
    {"Dv forgotten", "Dv", CLATTN_INVALID, {SET_SIZE(Dv, SIZE_MAX)}},
    {"dtype forgotten", "dtype", CLATTN_INVALID, {SET_INT(dtype, 0)}},
    {"struct_size forgotten", "struct_size", CLATTN_INVALID,
        {SET_SIZE(struct_size, 0)}},
    {"a size past 2^31", "Lk", CLATTN_INVALID, {SET_SIZE(Lk, 1u << 31)}},
    {"no columns", "D", CLATTN_INVALID, {SET_SIZE(D, 0)}},
    {"no value columns", "Dv", CLATTN_INVALID, {SET_SIZE(Dv, 0)}},
    {"too many columns", "513", CLATTN_INVALID, {SET_SIZE(D, 513)}},
    {"too many value columns", "513", CLATTN_INVALID, {SET_SIZE(Dv, 513)}},
    {"Hkv does not divide Hq", "Hkv", CLATTN_INVALID, {SET_SIZE(Hkv, 3)}},
    {"more key heads than heads", "Hkv", CLATTN_INVALID, {SET_SIZE(Hkv, 8)}},
    {"no key heads", "Hkv", CLATTN_INVALID, {SET_SIZE(Hkv, 0)}},
    {"doubles", "f64", CLATTN_INVALID, {SET_INT(dtype, CLATTN_F64)}},
    {"a bool tensor", "bool", CLATTN_INVALID, {SET_INT(dtype, CLATTN_BOOL)}},
    {"a dtype that is none", "dtype", CLATTN_INVALID, {SET_INT(dtype, 77)}},
    {"causal of 2", "causal", CLATTN_INVALID, {SET_INT(causal, 2)}},
    {"causal without a diagonal", "diagonal", CLATTN_INVALID,
        {SET_INT(causal, 1)}},
    {"a diagonal that nothing uses", "diagonal", CLATTN_INVALID,
        {SET_INT(diagonal, CLATTN_TOP_LEFT)}},
    {"an offset that nothing uses", "diagonal", CLATTN_INVALID,
        {SET_INT(diagonal_offset, 1)}},
    {"a diagonal that is none", "diagonal", CLATTN_INVALID,
        {SET_INT(diagonal, 4), SET_INT(causal, 1)}},
    {"item offsets at a corner", "DIAGONAL_OFFSETS", CLATTN_INVALID,
        {SET_INT(flags, CLATTN_DIAGONAL_OFFSETS), SET_INT(causal, 1)}},
    {"a scale without its flag", "scale", CLATTN_INVALID,
        {SET_FLOAT(scale, 2)}},
    {"a scale of NaN", "scale", CLATTN_INVALID,
        {SET_FLOAT(scale, NAN), SET_INT(has_scale, 1)}},
    {"an infinite scale", "scale", CLATTN_INVALID,
        {SET_FLOAT(scale, INFINITY), SET_INT(has_scale, 1)}},
    {"has_scale of 2", "has_scale", CLATTN_INVALID, {SET_INT(has_scale, 2)}},
    {"a negative softcap", "softcap", CLATTN_INVALID, {SET_FLOAT(softcap, -1)}},
    {"a softcap of NaN", "softcap", CLATTN_INVALID, {SET_FLOAT(softcap, NAN)}},
    {"a dropout above 1", "dropout_p", CLATTN_INVALID,
        {SET_FLOAT(dropout_p, 1.5f)}},
    {"a window of -2", "window_left", CLATTN_INVALID,
        {SET_INT(window_left, -2)}},
    {"a precision that is none", "precision", CLATTN_INVALID,
        {SET_INT(precision, 3)}},
    {"an unknown flag", "flags", CLATTN_INVALID, {SET_INT(flags, 1 << 30)}},
    {"a layer's flag", "flags", CLATTN_INVALID,
        {SET_INT(flags, CLATTN_PROJECT_OUT)}},
    {"weights and scores at once", "flags", CLATTN_INVALID,
        {SET_INT(flags, CLATTN_RETURN_WEIGHTS | CLATTN_RETURN_SCORES)}},
    {"rows of a packed batch without starts", "q_rows", CLATTN_INVALID,
        {SET_SIZE(q_rows, 10)}},
    {"starts without rows", "k_rows", CLATTN_INVALID,
        {SET_INT(flags, CLATTN_KEY_STARTS)}},
    {"strides of weights that are not returned", "weights", CLATTN_INVALID,
        {SET_SIZE(weights.row, 9)}},
    {"an output whose rows overlap", "out", CLATTN_INVALID,
        {SET_SIZE(out.row, 1), SET_SIZE(out.batch, 999)}},
    {"an output whose items overlap", "out", CLATTN_INVALID,
        {SET_SIZE(out.row, 4), SET_SIZE(out.head, 12)}},
    {"a stride past all memory", "q", CLATTN_INVALID,
        {SET_SIZE(q.batch, SIZE_MAX / 2), SET_SIZE(q.row, 4)}},
    {"a mask without a dtype", "mask", CLATTN_INVALID,
        {SET_SIZE(mask.size[3], 5)}},
    {"a kernel that is not there", "no_such_row", CLATTN_INVALID,
        {SET_TEXT(kernel, "no_such_row")}},
    {"everything switched off", "no kernel", CLATTN_UNSUPPORTED,
        {SET_TEXT(disable, "fused,materialised")}},
};

/* Every option of the descriptor. */
static const struct {
    const char *about;
    change change[2];
} BUILT[] = {
    {"f16", {SET_INT(dtype, CLATTN_F16)}},
    {"bf16", {SET_INT(dtype, CLATTN_BF16)}},
    {"v in f16", {SET_INT(v.dtype, CLATTN_F16)}},
    {"out in bf16", {SET_INT(out.dtype, CLATTN_BF16)}},
    {"weights of f16 rounded before they multiply v",
        {SET_INT(dtype, CLATTN_F16),
            SET_INT(precision, CLATTN_PRECISION_STORAGE)}},
    {"a softcap", {SET_FLOAT(softcap, 30)}},
    {"dropout", {SET_FLOAT(dropout_p, 0.5f)}},
    {"dropout of everything", {SET_FLOAT(dropout_p, 1)}},
    {"a left window",
        {SET_INT(window_left, 2), SET_INT(diagonal, CLATTN_TOP_LEFT)}},
    {"a right window",
        {SET_INT(window_right, 2), SET_INT(diagonal, CLATTN_TOP_LEFT)}},
    {"ALiBi", {SET_SLOPES, SET_INT(diagonal, CLATTN_TOP_LEFT)}},
    {"sinks", {SET_INT(flags, CLATTN_SINKS)}},
    {"query lengths", {SET_INT(flags, CLATTN_QUERY_LENGTHS)}},
    {"query starts",
        {SET_INT(flags, CLATTN_QUERY_STARTS), SET_SIZE(q_rows, 6)}},
    {"key starts", {SET_INT(flags, CLATTN_KEY_STARTS), SET_SIZE(k_rows, 6)}},
    {"final scores", {SET_INT(flags, CLATTN_RETURN_SCORES)}},
    {"scaled scores", {SET_INT(flags, CLATTN_RETURN_SCALED)}},
    {"capped scores", {SET_INT(flags, CLATTN_RETURN_CAPPED)}},
    {"weights and LSE",
        {SET_INT(flags, CLATTN_RETURN_WEIGHTS | CLATTN_RETURN_LSE)}},
};

static void apply(const change *c, clattn_attention *problem)
{
    static const float slopes[] = {0.5f, 0.25f, 0.125f, 0.0625f};
    unsigned char *field = (unsigned char *)problem + c->at;
    const int32_t whole = (int32_t)c->whole;
    const size_t size = (size_t)c->whole;
    const float *const first = slopes;
    switch (c->kind) {
    case SIZE:
        memcpy(field, &size, sizeof size);
        break;
    case INT:
        memcpy(field, &whole, sizeof whole);
        break;
    case FLOAT:
        memcpy(field, &c->real, sizeof c->real);
        break;
    case TEXT:
        memcpy(field, &c->text, sizeof c->text);
        break;
    case SLOPES:
        memcpy(field, &first, sizeof first);
        break;
    default:
        break;
    }
}

static const attention_case RIGHT = {
    "a right descriptor", {2, 4, 2, 3, 5, 4, 4}, .returns = 0};

/* supported, plan and host call must say the same, with the same sentence. */
static void check_refused(attention_trial *trial, clattn_status want,
    const char *names, const char *about)
{
    clattn_context *ctx = opencl_get()->ctx;
    clattn_plan *plan = NULL;
    clattn_error error, again;
    const clattn_status got =
        clattn_attention_supported(ctx, &trial->problem, &error);
    ck_assert_msg(got == want, "%s: got \"%s\" (%s), want \"%s\"", about,
        clattn_status_text(got), error.message, clattn_status_text(want));
    ck_assert_int_eq(error.status, want);
    ck_assert_msg(strstr(error.message, names) != NULL,
        "%s: the message does not name %s: %s", about, names, error.message);
    ck_assert_int_eq(
        clattn_attention_plan(&plan, ctx, &trial->problem, &again), want);
    ck_assert_ptr_null(plan);
    ck_assert_str_eq(again.message, error.message);
    ck_assert_int_eq(run_attention(trial, RUN_HOST, &again), want);
    ck_assert_str_eq(again.message, error.message);
    ck_assert_int_eq(
        clattn_attention_supported(ctx, &trial->problem, NULL), want);
}

START_TEST(what_is_refused_is_named_and_writes_nothing)
{
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &RIGHT));
    for (size_t n = 0; n < 2; ++n)
        apply(&REFUSALS[_i].change[n], &trial.problem);
    check_refused(
        &trial, REFUSALS[_i].want, REFUSALS[_i].names, REFUSALS[_i].about);
    attention_trial_destroy(&trial);
}
END_TEST

START_TEST(each_option_is_built)
{
    clattn_error error;
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &RIGHT));
    for (size_t n = 0; n < 2; ++n)
        apply(&BUILT[_i].change[n], &trial.problem);
    ck_assert_msg(clattn_attention_supported(
                      opencl_get()->ctx, &trial.problem, &error) == CLATTN_OK,
        "%s: %s", BUILT[_i].about, error.message);
    attention_trial_destroy(&trial);
}
END_TEST

/* All of a mask at once: two fields do not make one. */
START_TEST(masks_of_all_dtypes_are_built_and_narrow_ones_refused)
{
    const int32_t dtypes[] = {CLATTN_BOOL, CLATTN_F32, CLATTN_F16, CLATTN_BF16};
    clattn_error error;
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &RIGHT));
    trial.problem.mask =
        (clattn_mask){.size = {1, 1, 3, 5}, .dtype = dtypes[_i]};
    ck_assert_msg(clattn_attention_supported(
                      opencl_get()->ctx, &trial.problem, &error) == CLATTN_OK,
        "%s", error.message);
    trial.problem.mask.size[3] = 4; /* narrower than Lk */
    check_refused(&trial, CLATTN_INVALID, "mask", "a narrow mask");
    attention_trial_destroy(&trial);
}
END_TEST

START_TEST(a_field_of_a_later_version_is_refused_unless_zero)
{
    struct {
        clattn_attention known;
        uint32_t later[4];
    } grown;
    clattn_error error;
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &RIGHT));
    memset(&grown, 0, sizeof grown);
    grown.known = trial.problem;
    grown.known.struct_size = sizeof grown;
    ck_assert_int_eq(
        clattn_attention_supported(opencl_get()->ctx, &grown.known, &error),
        CLATTN_OK);
    grown.later[2] = 1;
    ck_assert_int_eq(
        clattn_attention_supported(opencl_get()->ctx, &grown.known, &error),
        CLATTN_UNSUPPORTED);
    attention_trial_destroy(&trial);
}
END_TEST

START_TEST(null_is_refused_where_the_header_does_not_allow_it)
{
    clattn_context *ctx = opencl_get()->ctx;
    clattn_plan *plan = NULL;
    attention_trial trial;
    ck_assert(attention_trial_create(&trial, &RIGHT));
    const clattn_attention *p = &trial.problem;
    const clattn_attention_args args = attention_trial_args(&trial, NULL);
    ck_assert_int_eq(clattn_attention_supported(NULL, p, NULL), CLATTN_INVALID);
    ck_assert_int_eq(
        clattn_attention_supported(ctx, NULL, NULL), CLATTN_INVALID);
    ck_assert_int_eq(clattn_attention_plan(NULL, ctx, p, NULL), CLATTN_INVALID);
    ck_assert_int_eq(
        clattn_attention_plan(&plan, NULL, p, NULL), CLATTN_INVALID);
    ck_assert_int_eq(
        clattn_attention_plan(&plan, ctx, NULL, NULL), CLATTN_INVALID);
    ck_assert_int_eq(
        clattn_attention_host(NULL, p, &args, NULL), CLATTN_INVALID);
    ck_assert_int_eq(
        clattn_attention_host(ctx, NULL, &args, NULL), CLATTN_INVALID);
    ck_assert_int_eq(clattn_attention_host(ctx, p, NULL, NULL), CLATTN_INVALID);
    ck_assert_int_eq(
        clattn_attention_reference(NULL, &args, NULL), CLATTN_INVALID);
    ck_assert_int_eq(clattn_attention_reference(p, NULL, NULL), CLATTN_INVALID);
    ck_assert_ptr_null(clattn_plan_describe(NULL));
    ck_assert_uint_eq(clattn_plan_workspace_bytes(NULL), 0);
    clattn_plan_destroy(NULL);
    clattn_attention_init(NULL, sizeof(clattn_attention));
    attention_trial_destroy(&trial);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("refusals");
    tcase_add_unchecked_fixture(t, opencl_open, opencl_close);
    tcase_add_loop_test(t, what_is_refused_is_named_and_writes_nothing, 0,
        (int)COUNT(REFUSALS));
    tcase_add_loop_test(t, each_option_is_built, 0, (int)COUNT(BUILT));
    tcase_add_loop_test(
        t, masks_of_all_dtypes_are_built_and_narrow_ones_refused, 0, 4);
    tcase_add_test(t, a_field_of_a_later_version_is_refused_unless_zero);
    tcase_add_test(t, null_is_refused_where_the_header_does_not_allow_it);

    Suite *suite = suite_create("attention refusals");
    suite_add_tcase(suite, t);
    return suite_main(suite, 1);
}
