/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cli_attend.c - what CLATTN_PROGRAM computes of queries, keys and values.
 */
#include <math.h>
#include <string.h>

#include "scratch.h"
#include "stored.h"
#include "suite.h"

static program_result got; /* large */

/* With q = 0 a row is the mean of the values it sees, which tells by itself
   which those are. */
static const struct attend_case {
    const char *about;
    const char *options[6];
    float want[4]; /* B 2, Lq 2 */
} ATTENDS[] = {
    {"all keys", {NULL}, {3.75f, 3.75f, 37.5f, 37.5f}},
    {"top-left", {"--causal", "top-left"}, {1, 1.5f, 10, 15}},
    {"bottom-right", {"--causal", "bottom-right"},
        {7.f / 3, 3.75f, 70.f / 3, 37.5f}},
    {"an offset of 0 is top-left", {"--causal", "0"}, {1, 1.5f, 10, 15}},
    {"a negative offset hides all from row 0", {"--causal", "-1"},
        {0, 1, 0, 10}},
    {"an offset for each item", {"--causal", "2,0"}, {7.f / 3, 3.75f, 10, 15}},
    {"offsets of a file", {"--causal", "@offsets.npy"},
        {7.f / 3, 3.75f, 10, 15}},
    {"lengths", {"--lengths", "1,2"}, {1, 1, 15, 15}},
    {"no keys", {"--lengths", "0,4"}, {0, 0, 37.5f, 37.5f}},
    {"lengths of a file", {"--lengths", "@lengths.npy"}, {1, 1, 15, 15}},
    {"bottom-right of each item's length",
        {"--lengths", "3,2", "--causal", "bottom-right"},
        {1.5f, 7.f / 3, 10, 15}},
};

static void write_attend_inputs(void)
{
    static const float V[] = {1, 2, 4, 8, 10, 20, 40, 80};
    static const float ZERO[8] = {0};
    static const size_t Q_SIZE[] = {2, 1, 2, 1};
    static const size_t K_SIZE[] = {2, 1, 4, 1};
    stored_write("q.npy", 4, Q_SIZE, ZERO);
    stored_write("k.npy", 4, K_SIZE, ZERO);
    stored_write("v.npy", 4, K_SIZE, V);
}

/* Whole numbers are not written by the program, so by hand: version 1, header
   to 64 bytes. */
static void write_int32(const char *name, int32_t a, int32_t b)
{
    char path[SCRATCH_PATH];
    unsigned char file[10 + 118 + 8] = "\x93NUMPY\x01";
    const int32_t values[] = {a, b};
    file[8] = 118;
    memset(file + 10, ' ', 118);
    static const char HEADER[] =
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
    memcpy(file + 10, HEADER, sizeof HEADER - 1);
    file[127] = '\n';
    memcpy(file + 128, values, sizeof values);
    scratch_write(path, name, file, sizeof file);
}

START_TEST(attend_sees_the_keys_it_should)
{
    const struct attend_case *row = &ATTENDS[_i];
    const char *arguments[20] = {"attend", "--query", "@q.npy", "--key",
        "@k.npy", "--value", "@v.npy", "--output", "@o.npy"};
    size_t count = 9;
    for (size_t i = 0; i < 6 && row->options[i]; i++)
        arguments[count++] = row->options[i];
    write_attend_inputs();
    write_int32("offsets.npy", 2, 0);
    write_int32("lengths.npy", 1, 2);
    program_do(&got, arguments);
    npy_array out;
    stored_read(&out, "o.npy");
    ck_assert_uint_eq(out.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const float value = ((float *)out.data)[i];
        /* Sums of four exact terms, one division: two roundings. */
        ck_assert_msg(fabsf(value - row->want[i]) <= 2.4e-7f * row->want[i],
            "%s: row %zu is %.9g, want %.9g", row->about, i, (double)value,
            (double)row->want[i]);
    }
    npy_free(&out);
}
END_TEST

/* (L, H, D) and (H, L, D) hold the same numbers in another order. */
START_TEST(layouts_give_the_same_numbers)
{
    enum {
        HEADS = 3,
        ROWS = 4,
        COLUMNS = 2
    };
    static const size_t HLD[] = {HEADS, ROWS, COLUMNS};
    static const size_t LHD[] = {ROWS, HEADS, COLUMNS};
    float heads_first[HEADS * ROWS * COLUMNS];
    float rows_first[HEADS * ROWS * COLUMNS];
    for (size_t i = 0; i < COUNT(heads_first); i++) {
        heads_first[i] = sinf(1.7f * (float)i);
        const size_t h = i / COLUMNS / ROWS;
        const size_t l = i / COLUMNS % ROWS;
        rows_first[(l * HEADS + h) * COLUMNS + i % COLUMNS] = heads_first[i];
    }
    stored_write("h.npy", 3, HLD, heads_first);
    stored_write("l.npy", 3, LHD, rows_first);
    const char *const one[] = {"attend", "--query", "@h.npy", "--key", "@h.npy",
        "--value", "@h.npy", "--output", "@oh.npy", NULL};
    const char *const other[] = {"attend", "--query", "@l.npy", "--key",
        "@l.npy", "--value", "@l.npy", "--layout", "blhd", "--output",
        "@ol.npy", NULL};
    program_do(&got, one);
    program_do(&got, other);
    npy_array h;
    npy_array l;
    stored_read(&h, "oh.npy");
    stored_read(&l, "ol.npy");
    ck_assert_uint_eq(l.size[0], ROWS);
    for (size_t i = 0; i < h.count; i++) {
        const size_t head = i / COLUMNS / ROWS;
        const size_t row = i / COLUMNS % ROWS;
        const size_t there = (row * HEADS + head) * COLUMNS + i % COLUMNS;
        /* Weighted means of values of at most 1: a few roundings of 2^-24. */
        ck_assert_msg(
            fabsf(((float *)h.data)[i] - ((float *)l.data)[there]) <= 1e-6f,
            "head %zu, row %zu", head, row);
    }
    npy_free(&h);
    npy_free(&l);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli attend");
    TCase *attend = tcase_create("attend");
    tcase_set_timeout(attend, 120);
    tcase_add_unchecked_fixture(attend, scratch_begin, scratch_end);
    tcase_add_loop_test(
        attend, attend_sees_the_keys_it_should, 0, COUNT(ATTENDS));
    tcase_add_test(attend, layouts_give_the_same_numbers);
    suite_add_tcase(suite, attend);
    return suite_main(suite, 0);
}
