/* SPDX-License-Identifier: Apache-2.0
 *
 * test_device_choose.c - which device of a list a spec means, on devices that
 * exist nowhere.  Needs no driver.
 */
#include <stdio.h>
#include <string.h>

#include "device.h"
#include "suite.h"

/* ---- What a spec matches ---------------------------------------------------- */

/* A machine with some of everything; the best of all is number 2. */
static const device_facts MACHINE[] = {
    {"Portable Computing Language", "cpu", "pthread-AMD EPYC", 64, 100, true,
        false},
    {"Intel(R) OpenCL Graphics", "gpu", "UHD: 770", 32, 90, true, false},
    {"NVIDIA CUDA", "gpu", "NVIDIA H200", 128, 1000, false, false},
    {"rusticl", "cpu", "llvmpipe (LLVM 15)", 96, 100, true, true},
    {"Xilinx", "accelerator", "Alveo U250", 16, 50, false, false},
    {"NVIDIA CUDA", "gpu", "NVIDIA T4", 16, 300, false, false},
    {"Odd", "other", "DSP", 256, 9000, false, false},
};

static const struct {
    const char *about, *spec;
    size_t want;
} CHOSEN[] = {
    {"any", "", 2},
    {"the first index", "0", 0},
    {"the last index", "6", 6},
    {"an index with zeros in front", "003", 3},
    {"a part of a name", "T4", 5},
    {"a part of a name in another case", "epyc", 0},
    {"a part of a platform's name, the better of two", "nvidia", 2},
    {"a platform alone, in another case", "RUSTICL", 3},
    {"a blank within", "AMD EPYC", 0},
    {"a name with digits", "H200", 2},
    {"three empty parts", "::", 2},
    {"two empty parts", ":", 2},
    {"a kind", ":gpu:", 2},
    {"a kind without the last colon", ":gpu", 2},
    {"a part of a kind", ":Acc", 4},
    {"the worse of a kind by its name", ":gpu:t4", 5},
    {"a platform", "nvidia::", 2},
    {"a platform and a kind", "intel:gpu:", 1},
    {"a platform and a name", "nvidia::t4", 5},
    {"all three", "portable:cpu:pthread", 0},
    {"a kind, of which the larger device is faulty", ":cpu:", 0},
    {"the faulty one by its name", "::llvmpipe", 3},
    {"a third colon is the name's", ":gpu:uhd: 7", 1},
};

START_TEST(a_spec_chooses_the_best_that_it_matches)
{
    size_t index = 77;
    clattn_error error;
    const clattn_status status =
        device_choose(&index, MACHINE, COUNT(MACHINE), CHOSEN[_i].spec, &error);
    ck_assert_msg(status == CLATTN_OK, "%s, '%s': %s", CHOSEN[_i].about,
        CHOSEN[_i].spec, error.message);
    ck_assert_msg(index == CHOSEN[_i].want,
        "%s, '%s': device %zu, but must be %zu", CHOSEN[_i].about,
        CHOSEN[_i].spec, index, CHOSEN[_i].want);
}
END_TEST

static const struct {
    const char *about, *spec;
    const char *words[3];
} REFUSED[] = {
    {"an index past the last", "7", {"device 7 ", "0 to 6"}},
    {"an index past all numbers", "99999999999999999999999",
        {"device 99999999999999999999999 ", "0 to 6"}},
    {"an index with a sign", "-1", {"'-1'", "0 Portable", "6 Odd:other:DSP"}},
    {"an index and a blank", "1 ", {"'1 '", "2 NVIDIA CUDA:gpu:NVIDIA H200"}},
    {"a name that none has", "geforce", {"'geforce'", "4 Xilinx:accelerator"}},
    {"a kind is no lone word", "gpu", {"'gpu'", "2 NVIDIA CUDA:gpu"}},
    {"a kind that none has", ":fpga:", {"':fpga:'"}},
    {"parts of two devices", "portable:gpu:", {"'portable:gpu:'"}},
    {"a name of another platform", "nvidia::epyc", {"'nvidia::epyc'"}},
    {"a name in the platform's place", "epyc::", {"'epyc::'"}},
    {"a longer name than any", "NVIDIA H2000", {"'NVIDIA H2000'"}},
};

START_TEST(what_matches_none_is_refused_with_a_list_of_what_there_is)
{
    size_t index = 77;
    clattn_error error;
    ck_assert_msg(device_choose(&index, MACHINE, COUNT(MACHINE),
                      REFUSED[_i].spec, &error) == CLATTN_NO_DEVICE,
        "%s: '%s' chooses device %zu", REFUSED[_i].about, REFUSED[_i].spec,
        index);
    for (size_t n = 0; n < 3 && REFUSED[_i].words[n]; ++n)
        ck_assert_msg(strstr(error.message, REFUSED[_i].words[n]) != NULL,
            "%s: no \"%s\" in: %s", REFUSED[_i].about, REFUSED[_i].words[n],
            error.message);
    ck_assert_int_eq(
        device_choose(&index, MACHINE, COUNT(MACHINE), REFUSED[_i].spec, NULL),
        CLATTN_NO_DEVICE);
}
END_TEST

START_TEST(an_empty_list_says_how_to_get_a_device)
{
    static const char *const SPECS[] = {"", "0", ":gpu:"};
    size_t index = 77;
    clattn_error error;
    ck_assert_int_eq(
        device_choose(&index, NULL, 0, SPECS[_i], &error), CLATTN_NO_DEVICE);
    ck_assert_msg(strstr(error.message, "no OpenCL device") != NULL &&
                      strstr(error.message, "install") != NULL,
        "%s", error.message);
}
END_TEST

/* The message is one of limited length, and still names the spec. */
START_TEST(a_long_spec_and_a_long_list_are_cut)
{
    static device_facts many[100];
    static char spec[5000];
    size_t index = 77;
    clattn_error error;
    for (size_t i = 0; i < COUNT(many); ++i) {
        many[i] = MACHINE[i % COUNT(MACHINE)];
        memset(many[i].name, 'n', sizeof many[i].name - 1);
    }
    memset(spec, 's', sizeof spec - 1);
    ck_assert_int_eq(device_choose(&index, many, COUNT(many), spec, &error),
        CLATTN_NO_DEVICE);
    ck_assert_msg(strstr(error.message, "ssssssssss") != NULL &&
                      strstr(error.message, "0 Portable") != NULL,
        "%s", error.message);
    ck_assert_uint_lt(strlen(error.message), sizeof error.message);
    memset(spec, '9', sizeof spec - 1);
    ck_assert_int_eq(device_choose(&index, many, COUNT(many), spec, &error),
        CLATTN_NO_DEVICE);
    ck_assert_uint_lt(strlen(error.message), sizeof error.message);
}
END_TEST

/* ---- Which of several ------------------------------------------------------- */

/* The first of two is the better one, though the rest speaks for the other. */
static const struct {
    const char *about;
    device_facts better, worse;
} PAIRS[] = {
    {"a discrete GPU before one that shares memory",
        {"p", "gpu", "n", 1, 1, false, false},
        {"p", "gpu", "n", 9, 9, true, false}},
    {"a GPU that shares memory before an accelerator",
        {"p", "gpu", "n", 1, 1, true, false},
        {"p", "accelerator", "n", 9, 9, false, false}},
    {"an accelerator before a CPU",
        {"p", "accelerator", "n", 1, 1, true, false},
        {"p", "cpu", "n", 9, 9, true, false}},
    {"a CPU before what is none of these", {"p", "cpu", "n", 1, 1, true, false},
        {"p", "other", "n", 9, 9, false, false}},
    {"more memory before more speed", {"p", "gpu", "n", 2, 1, false, false},
        {"p", "gpu", "n", 1, 9, false, false}},
    {"more speed", {"p", "gpu", "n", 1, 2, false, false},
        {"p", "gpu", "n", 1, 1, false, false}},
    {"memory beyond 32 bits",
        {"p", "cpu", "n", (uint64_t)5 << 32, 1, true, false},
        {"p", "cpu", "n", (uint64_t)4 << 32 | 0xffffffff, 1, true, false}},
    {"the least without a fault before the best with one",
        {"p", "other", "n", 1, 1, true, false},
        {"p", "gpu", "n", 9, 9, false, true}},
    {"of two with faults the better kind", {"p", "gpu", "n", 1, 1, true, true},
        {"p", "cpu", "n", 9, 9, true, true}},
};

START_TEST(the_better_device_is_chosen_in_either_order)
{
    const device_facts one[] = {PAIRS[_i].better, PAIRS[_i].worse};
    const device_facts other[] = {PAIRS[_i].worse, PAIRS[_i].better};
    size_t first = 77, second = 77;
    ck_assert_int_eq(device_choose(&first, one, 2, "", NULL), CLATTN_OK);
    ck_assert_int_eq(device_choose(&second, other, 2, "p", NULL), CLATTN_OK);
    ck_assert_msg(first == 0 && second == 1, "%s: %zu and %zu", PAIRS[_i].about,
        first, second);
}
END_TEST

START_TEST(of_equals_the_first_is_chosen)
{
    const device_facts equals[] = {PAIRS[0].better, PAIRS[0].better};
    size_t index = 77;
    ck_assert_int_eq(
        device_choose(&index, equals, 2, ":gpu:", NULL), CLATTN_OK);
    ck_assert_uint_eq(index, 0);
}
END_TEST

int main(void)
{
    TCase *specs = tcase_create("specs");
    tcase_add_loop_test(
        specs, a_spec_chooses_the_best_that_it_matches, 0, (int)COUNT(CHOSEN));
    tcase_add_loop_test(specs,
        what_matches_none_is_refused_with_a_list_of_what_there_is, 0,
        (int)COUNT(REFUSED));
    tcase_add_loop_test(specs, an_empty_list_says_how_to_get_a_device, 0, 3);
    tcase_add_test(specs, a_long_spec_and_a_long_list_are_cut);

    TCase *ranks = tcase_create("ranks");
    tcase_add_loop_test(ranks, the_better_device_is_chosen_in_either_order, 0,
        (int)COUNT(PAIRS));
    tcase_add_test(ranks, of_equals_the_first_is_chosen);

    Suite *suite = suite_create("device_choose");
    suite_add_tcase(suite, specs);
    suite_add_tcase(suite, ranks);
    return suite_main(suite, 0);
}
