/* SPDX-License-Identifier: Apache-2.0
 *
 * test_options.c - what arguments mean, what is wrong use, and that docs/CLI.md
 * tells the same as the tables.
 */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "scratch.h"
#include "suite.h"
#include "values.h"

/* A command of our own, so that the cases do not change with the program's. */
static const option_row ROWS[] = {
    {OPTION_MODEL, "F", "required", "a file"},
    {OPTION_HEADS, "H", "all", "a number"},
    {OPTION_HEAD, "N", NULL, "another"},
    {OPTION_SHOW, NULL, NULL, "a switch"},
    {OPTION_HELP, NULL, NULL, "help"},
};
static const command TRY = {
    .name = "try", .rows = ROWS, .row_count = COUNT(ROWS)};
static const command TRY_FILE = {
    .name = "try", .operand = "A.npy", .rows = ROWS + 1, .row_count = 4};

static const struct parse_case {
    const char *about;
    const command *c;
    const char *arguments[6];
    const char *message; /* NULL: accepted; else what it must hold */
} PARSES[] = {
    {"value in the next argument", &TRY, {"--model", "a"}, NULL},
    {"value behind =", &TRY, {"--model=a"}, NULL},
    {"value that holds =", &TRY, {"--model=a=b"}, NULL},
    {"negative number as a value", &TRY, {"--model", "a", "--heads", "-3"},
        NULL},
    {"flag", &TRY, {"--show", "--model", "a"}, NULL},
    {"help waives what is required", &TRY, {"--help"}, NULL},
    {"operand", &TRY_FILE, {"a.npy", "--show"}, NULL},
    {"operand behind --", &TRY_FILE, {"--", "--show"}, NULL},
    {"a lone - is an operand", &TRY_FILE, {"-"}, NULL},
    {"unknown option with a near name", &TRY, {"--modle", "a"},
        "unknown option --modle of clattn try; did you mean --model?"},
    {"unknown option with a value", &TRY, {"--shaw=1"}, "--show"},
    {"unknown option like none", &TRY, {"--zzzzzzzzzz"},
        "unknown option --zzzzzzzzzz"},
    {"an option's beginning is not the option", &TRY, {"--mod", "a"},
        "unknown option --mod"},
    {"short option", &TRY, {"-h"}, "unknown option -h"},
    {"empty value", &TRY, {"--model="}, "--model is empty; F is needed"},
    {"empty value in the next argument", &TRY, {"--model", ""},
        "--model is empty; F is needed"},
    {"empty operand", &TRY_FILE, {""}, "A.npy is empty"},
    {"missing value at the end", &TRY, {"--model"}, "--model needs a value"},
    {"missing value before an option", &TRY, {"--model", "--show"},
        "--model needs a value"},
    {"flag with a value", &TRY, {"--model", "a", "--show=False"},
        "--show takes no value, but False"},
    {"flag with an empty value", &TRY, {"--model", "a", "--show="},
        "--show takes no value"},
    {"flag with a value in the next argument", &TRY,
        {"--model", "a", "--show", "False"}, "unexpected argument False"},
    {"option twice", &TRY, {"--model", "a", "--model", "a"},
        "--model is given twice"},
    {"flag twice", &TRY, {"--show", "--show"}, "--show is given twice"},
    {"required option missing", &TRY, {"--show"}, "needs --model F"},
    {"operand missing", &TRY_FILE, {"--show"}, "needs A.npy"},
    {"two operands", &TRY_FILE, {"a", "b"}, "has a already"},
    {"option of another command", &TRY_FILE, {"a", "--model", "b"},
        "unknown option --model"},
};

static int count_arguments(const char *const *arguments)
{
    int count = 0;
    while (arguments[count])
        count++;
    return count;
}

START_TEST(arguments_are_accepted_or_refused_with_the_options_name)
{
    const struct parse_case *row = &PARSES[_i];
    char *arguments[6] = {NULL};
    options given;
    failure f = {.text = ""};
    const int count = count_arguments(row->arguments);
    for (int i = 0; i < count; i++) {
        arguments[i] = calloc(strlen(row->arguments[i]) + 1, 1);
        ck_assert_ptr_nonnull(arguments[i]);
        strcpy(arguments[i], row->arguments[i]);
    }
    const bool accepted = options_parse(&given, row->c, count, arguments, &f);
    ck_assert_msg(accepted == !row->message, "%s: %s: %s", row->about,
        accepted ? "accepted" : "refused", f.text);
    if (row->message)
        ck_assert_msg(strstr(f.text, row->message) != NULL,
            "%s: \"%s\" does not hold \"%s\"", row->about, f.text,
            row->message);
    for (int i = 0; i < count; i++)
        free(arguments[i]);
}
END_TEST

START_TEST(values_are_those_given)
{
    char model[] = "--model=a=b";
    char heads[] = "--heads";
    char number[] = "-3";
    char show[] = "--show";
    char *const arguments[] = {model, heads, number, show};
    options given;
    failure f = {.text = ""};
    ck_assert_msg(options_parse(&given, &TRY, 4, arguments, &f), "%s", f.text);
    ck_assert_str_eq(given.value[OPTION_MODEL], "a=b");
    ck_assert_str_eq(given.value[OPTION_HEADS], "-3");
    ck_assert_str_eq(given.value[OPTION_SHOW], "");
    ck_assert_ptr_null(given.value[OPTION_HEAD]);
    ck_assert_ptr_null(given.operand);
}
END_TEST

/* ---- Numbers and lists -------------------------------------------------- */

static const struct size_case {
    const char *text;
    bool accepted;
    size_t value;
} SIZES[] = {
    {"1", true, 1}, {"12", true, 12}, {"007", true, 7}, {"20", true, 20},
    {"0", false, 0}, {"21", false, 0}, {"", false, 0}, {" 1", false, 0},
    {"1 ", false, 0}, {"+1", false, 0}, {"-1", false, 0}, {"1.0", false, 0},
    {"0x1", false, 0}, {"1e1", false, 0}, {"twelve", false, 0},
    {"18446744073709551617", false, 0}, /* 2^64 + 1 */
};

START_TEST(whole_numbers_are_read_strictly)
{
    const struct size_case *row = &SIZES[_i];
    size_t value = 0;
    failure f = {.text = ""};
    const bool accepted =
        value_size(&value, OPTION_HEADS, row->text, 1, 20, &f);
    ck_assert_msg(accepted == row->accepted && value == row->value,
        "\"%s\": got %d %zu, want %d %zu", row->text, accepted, value,
        row->accepted, row->value);
    if (!accepted)
        ck_assert_msg(strstr(f.text, "--heads") && strstr(f.text, "1 to 20"),
            "\"%s\": %s", row->text, f.text);
}
END_TEST

static const struct float_case {
    const char *text;
    bool accepted;
    float value;
} FLOATS[] = {
    {"0.5", true, 0.5f},
    {"-2", true, -2.0f},
    {"0", true, 0.0f},
    {"1e-3", true, 1e-3f},
    {"nan", false, 0.0f},
    {"inf", false, 0.0f},
    {"-infinity", false, 0.0f},
    {"1e39", false, 0.0f}, /* above FLT_MAX */
    {"1e-40", true, 1e-40f},
    {"1e-60", false, 0.0f}, /* would be 0 */
    {"0,5", false, 0.0f},
    {"", false, 0.0f},
    {" 1", false, 0.0f},
    {"1x", false, 0.0f},
};

START_TEST(numbers_must_be_finite)
{
    const struct float_case *row = &FLOATS[_i];
    float value = 0.0f;
    failure f = {.text = ""};
    const bool accepted = value_float(&value, OPTION_SCALE, row->text, &f);
    ck_assert_msg(accepted == row->accepted && value == row->value,
        "\"%s\": got %d %g: %s", row->text, accepted, (double)value, f.text);
}
END_TEST

static const struct range_case {
    const char *text;
    bool in_unit, from_0; /* accepted from 0 to 1; from 0 up */
} RANGES[] = {
    {"0", true, true},
    {"1", true, true},
    {"0.25", true, true},
    {"1.0000001", false, true},
    {"3e38", false, true},
    {"-1e-30", false, false},
    {"nan", false, false},
    {"inf", false, false},
};

START_TEST(numbers_must_be_in_range)
{
    const struct range_case *row = &RANGES[_i];
    float value = -7.0f;
    failure f = {.text = ""};
    const bool in_unit =
        value_float_in(&value, OPTION_DROPOUT, row->text, 0.0f, 1.0f, &f);
    ck_assert_msg(in_unit == row->in_unit && (in_unit || value == -7.0f),
        "\"%s\" from 0 to 1: got %d %g: %s", row->text, in_unit, (double)value,
        f.text);
    const bool from_0 =
        value_float_in(&value, OPTION_SOFTCAP, row->text, 0.0f, FLT_MAX, &f);
    ck_assert_msg(from_0 == row->from_0, "\"%s\" from 0 up: got %d: %s",
        row->text, from_0, f.text);
}
END_TEST

static const struct seed_case {
    const char *text;
    bool accepted;
    uint64_t value;
} SEEDS[] = {
    {"0", true, 0},
    {"12", true, 12},
    {"18446744073709551615", true, UINT64_MAX},
    {"18446744073709551616", false, 0},
    {"-1", false, 0},
    {"+1", false, 0},
    {" 1", false, 0},
    {"1 ", false, 0},
    {"0x1", false, 0},
    {"1.0", false, 0},
    {"", false, 0},
};

START_TEST(seeds_have_64_bits)
{
    const struct seed_case *row = &SEEDS[_i];
    uint64_t value = 0;
    failure f = {.text = ""};
    const bool accepted = value_uint64(&value, OPTION_SEED, row->text, &f);
    ck_assert_msg(accepted == row->accepted && value == row->value,
        "\"%s\": got %d %llu: %s", row->text, accepted,
        (unsigned long long)value, f.text);
}
END_TEST

static const struct list_case {
    const char *text;
    size_t count; /* 0: refused */
    int32_t value[3];
} LISTS[] = {
    {"14", 1, {14}},
    {"14,12", 2, {14, 12}},
    {"-1,0,7", 3, {-1, 0, 7}},
    {"2147483647,-2147483648", 2, {INT32_MAX, INT32_MIN}},
    {"2147483648", 0, {0}},
    {"", 0, {0}},
    {",", 0, {0}},
    {"1,", 0, {0}},
    {",1", 0, {0}},
    {"1,,2", 0, {0}},
    {"1, 2", 0, {0}},
    {"1;2", 0, {0}},
    {"--1", 0, {0}},
    {"1.5", 0, {0}},
    {"False", 0, {0}},
    {"lengths.npz", 0, {0}},
};

START_TEST(lists_are_read_strictly)
{
    const struct list_case *row = &LISTS[_i];
    integers list;
    failure f = {.text = ""};
    const bool accepted = integers_parse(&list, OPTION_LENGTHS, row->text, &f);
    ck_assert_msg(accepted == (row->count > 0) && list.count == row->count,
        "\"%s\": got %d, %zu values: %s", row->text, accepted, list.count,
        f.text);
    for (size_t i = 0; i < row->count; i++)
        ck_assert_int_eq(list.value[i], row->value[i]);
    integers_free(&list);
}
END_TEST

START_TEST(a_list_that_ends_in_npy_is_a_file)
{
    integers list;
    failure f = {.text = ""};
    ck_assert(integers_parse(&list, OPTION_LENGTHS, "missing.npy", &f));
    ck_assert(list.is_file);
    ck_assert(!integers_load(&list, 2, 0, 9, "x.npy", &f));
    ck_assert_msg(strstr(f.text, "missing.npy") != NULL, "%s", f.text);
    integers_free(&list);
}
END_TEST

START_TEST(a_list_must_fit_its_items_in_number_and_range)
{
    integers list;
    failure f = {.text = ""};
    ck_assert(integers_parse(&list, OPTION_LENGTHS, "3,10", &f));
    ck_assert(!integers_load(&list, 3, 0, 9, "x.npy", &f));
    ck_assert_str_eq(
        f.text, "--lengths 3,10 has 2 values, but x.npy has 3 items");
    ck_assert(!integers_load(&list, 2, 0, 9, "x.npy", &f));
    ck_assert_msg(strstr(f.text, "10 of item 1") && strstr(f.text, "0 to 9"),
        "%s", f.text);
    ck_assert(integers_load(&list, 2, 0, 10, "x.npy", &f));
    integers_free(&list);
}
END_TEST

/* ---- docs/CLI.md -------------------------------------------------------- */

/* The text of a command's section; the caller frees it. */
static char *read_section(const char *name)
{
    char title[60];
    size_t bytes;
    char *text = scratch_read(CLATTN_SOURCE_DIR "/docs/CLI.md", &bytes);
    ck_assert_ptr_nonnull(text);
    snprintf(title, sizeof title, "\n## `clattn %s`\n", name);
    const char *start = strstr(text, title);
    ck_assert_msg(start != NULL, "docs/CLI.md has no section clattn %s", name);
    start += strlen(title);
    const char *end = strstr(start, "\n## ");
    const size_t size = end ? (size_t)(end - start) : strlen(start);
    memmove(text, start, size);
    text[size] = '\0';
    return text;
}

/* "| `--head N\|mean` | mean |", as the table of options has it. */
static void document_row(char *line, size_t bytes, const option_row *row)
{
    char shown[200];
    size_t used = 0;
    snprintf(shown, sizeof shown, "%s%s%s", option_name(row->id),
        row->value ? " " : "", row->value ? row->value : "");
    used += (size_t)snprintf(line, bytes, "| `");
    for (const char *at = shown; *at; at++)
        used += (size_t)snprintf(
            line + used, bytes - used, *at == '|' ? "\\|" : "%c", *at);
    snprintf(line + used, bytes - used, "` | %s%s|",
        row->initial ? row->initial : "", row->initial ? " " : "");
}

static size_t count_options(const char *section)
{
    size_t count = 0;
    for (const char *at = section; (at = strstr(at, "\n| `--")); at++)
        count++;
    return count;
}

START_TEST(every_option_stands_in_the_docs_with_its_value_and_default)
{
    const command *c = COMMANDS[_i];
    char *section = read_section(c->name);
    for (size_t i = 0; i < c->row_count; i++) {
        char line[300];
        document_row(line, sizeof line, &c->rows[i]);
        ck_assert_msg(strstr(section, line) != NULL,
            "docs/CLI.md, clattn %s: no row \"%s\"", c->name, line);
    }
    ck_assert_msg(count_options(section) == c->row_count,
        "docs/CLI.md, clattn %s: %zu options, but the program has %zu", c->name,
        count_options(section), c->row_count);
    free(section);
}
END_TEST

START_TEST(every_command_has_help_and_no_option_twice)
{
    const command *c = COMMANDS[_i];
    ck_assert_ptr_nonnull(command_row(c, OPTION_HELP));
    for (size_t i = 0; i < c->row_count; i++)
        for (size_t j = 0; j < i; j++)
            ck_assert_msg(c->rows[i].id != c->rows[j].id, "clattn %s: %s",
                c->name, option_name(c->rows[i].id));
}
END_TEST

static int count_commands(void)
{
    int count = 0;
    while (COMMANDS[count])
        count++;
    return count;
}

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *parsing = tcase_create("parsing");
    tcase_add_loop_test(parsing,
        arguments_are_accepted_or_refused_with_the_options_name, 0,
        COUNT(PARSES));
    tcase_add_test(parsing, values_are_those_given);
    suite_add_tcase(suite, parsing);
    TCase *values = tcase_create("values");
    tcase_add_loop_test(
        values, whole_numbers_are_read_strictly, 0, COUNT(SIZES));
    tcase_add_loop_test(values, numbers_must_be_finite, 0, COUNT(FLOATS));
    tcase_add_loop_test(values, numbers_must_be_in_range, 0, COUNT(RANGES));
    tcase_add_loop_test(values, seeds_have_64_bits, 0, COUNT(SEEDS));
    tcase_add_loop_test(values, lists_are_read_strictly, 0, COUNT(LISTS));
    tcase_add_test(values, a_list_that_ends_in_npy_is_a_file);
    tcase_add_test(values, a_list_must_fit_its_items_in_number_and_range);
    suite_add_tcase(suite, values);
    TCase *docs = tcase_create("docs");
    tcase_add_loop_test(docs,
        every_option_stands_in_the_docs_with_its_value_and_default, 0,
        count_commands());
    tcase_add_loop_test(
        docs, every_command_has_help_and_no_option_twice, 0, count_commands());
    suite_add_tcase(suite, docs);
    return suite_main(suite, 0);
}
