/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli_attend_refusals.c - what CLATTN_PROGRAM's attend refuses: each
 * message names the option or file, its value and what is allowed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <clattn/clattn.h>

#include "attending.h"
#include "scratch.h"
#include "stored.h"
#include "suite.h"

static program_result got; /* large */

#define ATTEND \
    "attend", "--query", "@q.npy", "--key", "@k.npy", "--value", "@v.npy"
#define PACKED                                                                \
    "attend", "--query", "@t3.npy", "--key", "@t5.npy", "--value", "@t5.npy", \
        "--layout", "thd"
#define RESULTS "--output", "@older.npy", "--lse", "@new.npy", "--reference"

static const struct refusal {
    const char *arguments[24];
    const char *message[3]; /* what standard error must hold */
} WRONG_USES[] = {
    /* ---- Values ---- */
    {{ATTEND, "--window", "3"}, {"--window 3 is not L,R", "-1 for all"}},
    {{ATTEND, "--window", "1,2,3"}, {"--window 1,2,3 is not L,R"}},
    {{ATTEND, "--window", "-2,0"}, {"--window -2,0 is not L,R"}},
    {{ATTEND, "--window", "0,-2"}, {"--window 0,-2 is not L,R"}},
    {{ATTEND, "--window", "1,x"}, {"--window 1,x is not L,R"}},
    {{ATTEND, "--window", "1,2147483648"},
        {"--window 1,2147483648", "from 0 to 2147483647"}},
    {{ATTEND, "--window", "w.npy"}, {"--window w.npy is not L,R"}},
    {{ATTEND, "--window", "1,0", "--diagonal", "left"},
        {"--diagonal left", "top-left nor bottom-right", "N,N,..."}},
    {{ATTEND, "--softcap", "-1"}, {"--softcap -1 is not a number from 0 up"}},
    {{ATTEND, "--softcap", "nan"}, {"--softcap nan", "finite"}},
    {{ATTEND, "--softcap", "1e-60"}, {"--softcap 1e-60", "float's range"}},
    {{ATTEND, "--dropout", "-1"}, {"--dropout -1 is not a number from 0 to 1"}},
    {{ATTEND, "--dropout", "1.5"}, {"--dropout 1.5", "from 0 to 1"}},
    {{ATTEND, "--dropout", "half"}, {"--dropout half", "finite number"}},
    {{ATTEND, "--dropout", "0.5", "--seed", "-1"},
        {"--seed -1 is not a whole number from 0 to 18446744073709551615"}},
    {{ATTEND, "--dropout", "0.5", "--seed", "18446744073709551616"},
        {"--seed 18446744073709551616 is not"}},
    {{ATTEND, "--dropout", "0.5", "--dropout-offset", "1.0"},
        {"--dropout-offset 1.0 is not a whole number"}},
    {{ATTEND, "--alibi", "steep", "--causal", "0"},
        {"--alibi steep", "neither auto", "one per query head"}},
    {{ATTEND, "--alibi", "1,inf", "--causal", "0"}, {"--alibi 1,inf"}},
    {{ATTEND, "--sinks", "1,,2"}, {"--sinks 1,,2", "comma list"}},
    {{ATTEND, "--sinks", "1,nan"}, {"--sinks 1,nan", "finite numbers"}},
    {{ATTEND, "--dtype", "f64"}, {"--dtype f64", "f32 or f16 or bf16"}},
    {{ATTEND, "--precision", "storage"},
        {"--precision storage needs --dtype f16 or bf16"}},
    {{ATTEND, "--precision", "f16"}, {"--precision f16", "f32 or storage"}},
    {{ATTEND, "--stage", "raw", "--scores", "s"},
        {"--stage raw", "scaled or capped or masked or weights"}},
    {{ATTEND, "--kernel", "no_such_row"},
        {"--kernel no_such_row is not allowed, only fused",
            "or tiled4 or tiled1\n"}},
    {{ATTEND, "--causal", "2147483648"},
        {"--causal 2147483648", "from -2147483648 to 2147483647"}},
    {{ATTEND, "--lengths", "2147483648"}, {"--lengths", "to 2147483647"}},
    {{ATTEND, "--path", "flash"}, {"auto or materialised or fused"}},
    {{ATTEND, "--layout", "bld"}, {"--layout bld", "bhld or blhd or thd"}},
    {{ATTEND, "--query-lengths", "1.5"}, {"--query-lengths 1.5"}},
    {{PACKED, "--cu-query", "0;1", "--cu-key", "0,5"}, {"--cu-query 0;1"}},
    /* ---- Contradictions ---- */
    {{ATTEND, "--causal", "0", "--window", "1,0", "--diagonal", "0"},
        {"--diagonal 0 and --causal", "the value of --causal is the diagonal"}},
    {{ATTEND, "--diagonal", "0"},
        {"--diagonal 0 has no effect without --alibi or a bounded --window"}},
    {{ATTEND, "--window", "-1,-1", "--diagonal", "0"},
        {"--diagonal 0 has no effect", "bounded --window"}},
    {{ATTEND, "--window", "1,0"},
        {"--window 1,0 needs --diagonal or --causal"}},
    {{ATTEND, "--alibi", "auto"}, {"--alibi auto needs --diagonal"}},
    {{ATTEND, "--scores", "s", "--attention", "a"},
        {"--scores s and --attention", "one stage"}},
    {{ATTEND, "--stage", "masked"}, {"--stage masked", "without --scores"}},
    {{ATTEND, "--seed", "1"}, {"--seed 1 has no effect without --dropout"}},
    {{ATTEND, "--dropout-offset", "1"}, {"--dropout-offset 1", "--dropout"}},
    {{ATTEND, "--kernel", "k", "--path", "fused"}, {"--kernel k and --path"}},
    {{ATTEND, "--reference", "--device", "0"},
        {"--device 0 and --reference", "no device"}},
    {{ATTEND, "--reference", "--kernel", "k"}, {"--kernel k and --reference"}},
    {{ATTEND, "--reference", "--path", "auto"}, {"--path auto and --refer"}},
    {{ATTEND, "--reference", "--explain"}, {"--explain and --reference"}},
    {{ATTEND, "--cu-query", "0,3", "--cu-key", "0,5"},
        {"--cu-query 0,3 has no effect without --layout thd"}},
    {{PACKED, "--cu-query", "0,3"}, {"--layout thd needs --cu-key"}},
    {{PACKED, "--cu-key", "0,5"}, {"--layout thd needs --cu-query"}},
    /* ---- Files ---- */
    {{ATTEND, RESULTS, "--scores", "@new.npy"},
        {"--scores", "--lse", "one file for two results"}},
    {{ATTEND, RESULTS, "--scores", "@./older.npy"}, {"--output", "--scores"}},
    {{ATTEND, "--output", "@./v.npy"},
        {"--output", "would replace --value", "a file of its own"}},
    {{ATTEND, "--causal", "@empty.npy", "--lse", "@empty.npy"},
        {"--lse", "would replace --causal"}},
};

static const struct refusal FAILURES[] = {
    /* ---- Masks ---- */
    {{ATTEND, RESULTS, "--mask", "@none.npy"}, {"none.npy"}},
    {{ATTEND, RESULTS, "--mask", "@bytes.npy"},
        {"bytes.npy", "'|u1' (whole numbers)", "astype(bool)"}},
    {{"attend", "--query", "@i4.npy", "--key", "@i4.npy", "--value", "@i4.npy",
         RESULTS},
        {"i4.npy", "'<i4' (whole numbers)", "but f2, f4 and f8 are"}},
    {{ATTEND, RESULTS, "--read-bf16"},
        {"--read-bf16 has no effect", "V2 or u2"}},
    {{ATTEND, RESULTS, "--mask", "@u2.npy"}, {"u2.npy", "--read-bf16"}},
    {{ATTEND, RESULTS, "--mask", "@m3.npy"},
        {"m3.npy: shape (3,) does not fit", "(2, 4, 2, 5)", "or 1"}},
    {{ATTEND, RESULTS, "--mask", "@m6.npy"}, {"m6.npy: shape (6,)"}},
    {{ATTEND, RESULTS, "--mask", "@m245.npy"}, {"shape (2, 2, 5)"}},
    {{ATTEND, RESULTS, "--mask", "@m12425.npy"},
        {"shape (1, 2, 4, 2, 5)", "1 to 4 axes"}},
    {{ATTEND, RESULTS, "--mask", "@m0.npy"}, {"shape ()", "1 to 4 axes"}},
    {{ATTEND, RESULTS, "--mask", "@wide.npy"},
        {"wide.npy: element 0 is 1e+300"}},
    /* ---- Lists ---- */
    {{ATTEND, RESULTS, "--alibi", "1,2", "--causal", "0"},
        {"--alibi 1,2 has 2 values, but", "q.npy has 4 heads"}},
    {{ATTEND, RESULTS, "--sinks", "1"}, {"--sinks 1 has 1 value,", "4 heads"}},
    {{ATTEND, RESULTS, "--sinks", "@m3.npy"}, {"m3.npy has 3 values"}},
    {{ATTEND, RESULTS, "--sinks", "@bool.npy"}, {"bool.npy: dtype bool"}},
    {{ATTEND, RESULTS, "--alibi", "@inf.npy", "--causal", "0"},
        {"--alibi", "inf.npy: value 1 is inf", "finite"}},
    {{ATTEND, RESULTS, "--sinks", "@inf.npy"},
        {"--sinks", "inf.npy: value 1 is inf", "or -inf for no sink"}},
    {{ATTEND, RESULTS, "--window", "1,0", "--diagonal", "1,2,3"},
        {"--diagonal 1,2,3 has 3 values", "2 items"}},
    {{ATTEND, RESULTS, "--query-lengths", "1,3"},
        {"--query-lengths 1,3", "3 of item 1", "0 to 2"}},
    {{ATTEND, RESULTS, "--query-lengths", "1"}, {"has 1 value,", "2 items"}},
    {{ATTEND, RESULTS, "--lengths", "1,6"}, {"6 of item 1", "0 to 5"}},
    /* ---- Packed batches ---- */
    {{ATTEND, RESULTS, "--layout", "thd", "--cu-query", "0", "--cu-key", "0"},
        {"q.npy", "rank 4, but 3 is needed"}},
    {{PACKED, RESULTS, "--cu-query", "0,4", "--cu-key", "0,5"},
        {"--cu-query 0,4: value 4 at 1", "to 3, the rows of", "t3.npy"}},
    {{PACKED, RESULTS, "--cu-query", "0,3,2", "--cu-key", "0,2,5"},
        {"--cu-query 0,3,2: value 2 at 2", "from 3"}},
    {{PACKED, RESULTS, "--cu-query", "-1,3", "--cu-key", "0,5"},
        {"--cu-query -1,3: value -1 at 0", "from 0"}},
    {{PACKED, RESULTS, "--cu-query", "0,1,3", "--cu-key", "0,5"},
        {"--cu-query 0,1,3 has 3 values, but --cu-key 0,5 has 2"}},
    {{PACKED, RESULTS, "--cu-query", "@empty.npy", "--cu-key", "0,5"},
        {"empty.npy has no values"}},
    {{PACKED, RESULTS, "--cu-query", "0,1,3", "--cu-key", "0,2,5", "--lengths",
         "3,3"},
        {"--lengths 3,3: value 3 of item 0", "0 to 2", "--cu-key"}},
    {{PACKED, RESULTS, "--cu-query", "0,1,3", "--cu-key", "0,2,5",
         "--query-lengths", "2,2"},
        {"--query-lengths 2,2", "2 of item 0", "--cu-query"}},
    {{PACKED, RESULTS, "--cu-query", "0,1,3", "--cu-key", "0,2,5", "--lengths",
         "1"},
        {"--lengths 1 has 1 value,", "2 items"}},
    /* ---- Storage ---- */
    {{"attend", "--query", "@q.npy", "--key", "@k.npy", "--value", "@big.npy",
         RESULTS, "--dtype", "f16"},
        {"big.npy: element 0 is 65520", "f16 holds at most 65504"}},
    {{"attend", "--query", "@q.npy", "--key", "@k.npy", "--value", "@wide.npy",
         RESULTS, "--dtype", "bf16"},
        {"wide.npy: element 0 is 1e+300", "bf16 holds at most 3.38953e+38"}},
    {{"attend", "--query", "@q.npy", "--key", "@k.npy", "--value", "@bool.npy",
         RESULTS, "--dtype", "bf16"},
        {"bool.npy", "rank 1"}},
    /* ---- Results ---- */
    {{ATTEND, RESULTS, "--scores", "@none/s.npy"}, {"none/s.npy"}},
    {{ATTEND, "--output", "@older.npy", "--lse", "/dev/full", "--reference"},
        {"/dev/full: cannot be written"}},
    /* ---- The library's own ---- */
    {{"attend", "--query", "@d513.npy", "--key", "@d513.npy", "--value",
         "@d513.npy", RESULTS},
        {"--query", "d513.npy: D is 513, but must be 1 to 512"}},
    {{"attend", "--query", "@d1.npy", "--key", "@d1.npy", "--value",
         "@d513.npy", RESULTS},
        {"--value", "d513.npy: Dv is 513"}},
};

/* q (2, 4, 2, 3), k and v (2, 2, 5, 3), packed rows (3, 1, 1) and (5, 1, 1). */
static void make_files(void)
{
    static const double ZERO[60];
    static const double BIG[60] = {65520};
    static const double WIDE[60] = {1e300};
    static const double INF[4] = {0, (double)INFINITY};
    static const struct file {
        const char *name;
        int32_t dtype;
        size_t rank, size[5];
        const double *values;
    } FILES[] = {
        {"q.npy", CLATTN_F32, 4, {2, 4, 2, 3}, ZERO},
        {"k.npy", CLATTN_F32, 4, {2, 2, 5, 3}, ZERO},
        {"v.npy", CLATTN_F32, 4, {2, 2, 5, 3}, ZERO},
        {"big.npy", CLATTN_F32, 4, {2, 2, 5, 3}, BIG},
        {"wide.npy", CLATTN_F64, 4, {2, 2, 5, 3}, WIDE},
        {"t3.npy", CLATTN_F32, 3, {3, 1, 1}, ZERO},
        {"t5.npy", CLATTN_F32, 3, {5, 1, 1}, ZERO},
        {"u2.npy", CLATTN_BF16, 1, {5}, ZERO},
        {"m3.npy", CLATTN_F32, 1, {3}, ZERO},
        {"m6.npy", CLATTN_BOOL, 1, {6}, ZERO},
        {"m245.npy", CLATTN_BOOL, 3, {2, 2, 5}, ZERO},
        {"m12425.npy", CLATTN_BOOL, 5, {1, 2, 4, 2, 5}, NULL},
        {"m0.npy", CLATTN_F32, 0, {0}, ZERO},
        {"bool.npy", CLATTN_BOOL, 1, {4}, ZERO},
        {"inf.npy", CLATTN_F32, 1, {4}, INF},
        {"d1.npy", CLATTN_F32, 2, {1, 1}, ZERO},
        {"d513.npy", CLATTN_F32, 2, {1, 513}, NULL},
    };
    char path[SCRATCH_PATH];
    scratch_begin();
    for (size_t i = 0; i < COUNT(FILES); i++)
        attending_write(FILES[i].name, FILES[i].dtype, FILES[i].rank,
            FILES[i].size, FILES[i].values);
    attending_store("bytes.npy", "|u1", 1, (const size_t[]){5}, "\1\1\1\1");
    attending_store("i4.npy", "<i4", 2, (const size_t[]){1, 1}, "\0\0\0\0");
    attending_store("empty.npy", "<i4", 1, (const size_t[]){0}, "");
    scratch_write(path, "older.npy", "older", 5);
}

static void check_message(const struct refusal *row, int code)
{
    const char *about = row->message[0];
    const char *newline = strchr(got.err, '\n');
    ck_assert_msg(
        got.code == code, "%s: exit code %d, %s", about, got.code, got.err);
    ck_assert_msg(
        strncmp(got.err, "clattn: ", 8) == 0 && newline && newline[1] == '\0',
        "%s: standard error is no single sentence: \"%s\"", about, got.err);
    ck_assert_msg(got.out[0] == '\0', "%s: printed %s", about, got.out);
    for (size_t i = 0; i < 3 && row->message[i]; i++)
        ck_assert_msg(strstr(got.err, row->message[i]) != NULL,
            "\"%s\" does not hold \"%s\"", got.err, row->message[i]);
}

START_TEST(wrong_use_is_told_from_the_arguments_alone)
{
    program_run(&got, WRONG_USES[_i].arguments, NULL);
    check_message(&WRONG_USES[_i], 2);
}
END_TEST

START_TEST(a_failure_leaves_files_as_they_were)
{
    char path[SCRATCH_PATH];
    size_t bytes = 0;
    const size_t files = scratch_count("");
    program_run(&got, FAILURES[_i].arguments, NULL);
    check_message(&FAILURES[_i], 1);
    ck_assert_msg(scratch_count("") == files, "left a file: %s", got.err);
    char *older = scratch_read(scratch_path(path, "older.npy"), &bytes);
    ck_assert_msg(older && strcmp(older, "older") == 0,
        "changed an older file: %s", got.err);
    free(older);
}
END_TEST

START_TEST(the_reference_needs_no_device)
{
    const char *const arguments[] = {ATTEND, "--reference", NULL};
    const char *const environment[] = {
        "OCL_ICD_VENDORS=/nonexistent", "CLATTN_DEVICE=none", NULL};
    program_run(&got, arguments, environment);
    ck_assert_msg(got.code == 0, "exit code %d, %s", got.code, got.err);
    ck_assert_msg(strstr(got.out, "device    none, the reference") != NULL,
        "%s", got.out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli attend refusals");
    TCase *refusals = tcase_create("refusals");
    tcase_set_timeout(refusals, 120);
    tcase_add_unchecked_fixture(refusals, make_files, scratch_end);
    tcase_add_loop_test(refusals, wrong_use_is_told_from_the_arguments_alone, 0,
        COUNT(WRONG_USES));
    tcase_add_loop_test(
        refusals, a_failure_leaves_files_as_they_were, 0, COUNT(FAILURES));
    tcase_add_test(refusals, the_reference_needs_no_device);
    suite_add_tcase(suite, refusals);
    return suite_main(suite, 0);
}
