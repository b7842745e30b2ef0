/* SPDX-License-Identifier: Apache-2.0
 *
 * test_steps.c - attention step by step: what is printed, and that it adds up.
 */
#define _XOPEN_SOURCE 700 /* strdup */
#include "steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "steps_table.h"
#include "suite.h"

enum {
    LINE = 2000,
    MOST_WORDS = 40,
    MOST_COLUMNS = 24
};

/* A lesson of any size, its numbers from a small generator, its weights by the
   formula. */
typedef struct lesson {
    steps s;
    float x[MOST_WORDS * MOST_COLUMNS], q[MOST_WORDS * MOST_COLUMNS];
    float k[MOST_WORDS * MOST_COLUMNS], v[MOST_WORDS * MOST_COLUMNS];
    float weights[4 * MOST_WORDS * MOST_WORDS];
    float context[MOST_WORDS * MOST_COLUMNS];
    long first_hidden[MOST_WORDS];
    char letters[MOST_WORDS][8];
    char *text[MOST_WORDS];
    words queries, keys;
    unsigned state;
} lesson;

static float draw(lesson *l)
{
    l->state = l->state * 1664525u + 1013904223u;
    return (float)(l->state >> 16) / 16384.0f - 2.0f;
}

static void fill(lesson *l, float *values, size_t count)
{
    for (size_t n = 0; n < count; ++n)
        values[n] = draw(l);
}

static size_t seen(const steps *s, size_t row)
{
    return s->causal ? (size_t)s->first_hidden[row] : s->Lk;
}

static void set_weights(lesson *l, size_t head, size_t row)
{
    steps *s = &l->s;
    float *weight = l->weights + (head * s->L + row) * s->Lk;
    double sum = 0.0, power[MOST_WORDS] = {0};
    for (size_t j = 0; j < seen(s, row); ++j) {
        double score = 0.0;
        for (size_t d = 0; d < s->D; ++d)
            score += (double)l->q[(row * s->H + head) * s->D + d] *
                     (double)l->k[(j * s->H + head) * s->D + d];
        power[j] = exp(score * s->scale);
        sum += power[j];
    }
    for (size_t j = 0; j < s->Lk; ++j)
        weight[j] = sum > 0.0 ? (float)(power[j] / sum) : 0.0f;
}

static lesson *lesson_new(size_t L, size_t Lk, size_t H, size_t D, bool causal)
{
    lesson *l = calloc(1, sizeof *l);
    ck_assert_ptr_nonnull(l);
    for (size_t i = 0; i < MOST_WORDS; ++i) {
        snprintf(l->letters[i], sizeof l->letters[i], "w%zu", i);
        l->text[i] = l->letters[i];
        l->first_hidden[i] = (long)(i < Lk ? i + 1 : Lk);
    }
    l->state = (unsigned)(L * 7919 + Lk * 104729 + D);
    l->queries = (words){L, l->text};
    l->keys = (words){Lk, l->text};
    l->s = (steps){.L = L,
        .Lk = Lk,
        .E = H * D,
        .H = H,
        .D = D,
        .Dv = D,
        .Ey = H * D,
        .head = H - 1,
        .x = l->x,
        .q = l->q,
        .k = l->k,
        .v = l->v,
        .weights = l->weights,
        .context = l->context,
        .causal = causal,
        .first_hidden = l->first_hidden,
        .scale = 1.0 / sqrt((double)D),
        .queries = &l->queries,
        .keys = &l->keys};
    fill(l, l->x, L * H * D);
    fill(l, l->q, L * H * D);
    fill(l, l->k, Lk * H * D);
    fill(l, l->v, Lk * H * D);
    fill(l, l->context, L * H * D);
    for (size_t h = 0; h < H; ++h)
        for (size_t i = 0; i < L; ++i)
            set_weights(l, h, i);
    return l;
}

static char *printed(const steps *s)
{
    FILE *to = capture_begin();
    steps_print(to, s);
    return capture_end(to);
}

/* The step that begins with "N. name", up to the next; the caller's. */
static char *step_of(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    ck_assert_msg(at != NULL, "no step \"%s\" in:\n%s", name, text);
    const char *end = strstr(at, "\n\n");
    const size_t bytes = end != NULL ? (size_t)(end - at) + 1 : strlen(at);
    char *step = calloc(bytes + 1, 1);
    ck_assert_ptr_nonnull(step);
    memcpy(step, at, bytes);
    return step;
}

static void has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) == NULL, "\"%s\" in:\n%s", part, text);
}

/* ---- Worked by hand ------------------------------------------------------ */

/* Two words; q = k = v: (2 0) and (0 2); S = 4 / 1.414 on the diagonal.
   e^2.828 = 16.92, so the weights are 0.944 and 0.056; O = 1.888 and 0.112. */
START_TEST(a_small_lesson_is_exactly_this)
{
    static const float x[4] = {2, 0, 0, 2};
    static const float a[4] = {0.944194f, 0.055806f, 0.055806f, 0.944194f};
    static const float o[4] = {1.888388f, 0.111612f, 0.111612f, 1.888388f};
    static char *const text[] = {"I", "read"};
    const words names = {2, (char **)(void *)text};
    const steps s = {.L = 2,
        .Lk = 2,
        .E = 2,
        .H = 1,
        .D = 2,
        .Dv = 2,
        .Ey = 2,
        .x = x,
        .q = x,
        .k = x,
        .v = x,
        .weights = a,
        .context = o,
        .biases = STEPS_BIAS_Q,
        .scale = sqrt(0.5),
        .queries = &names,
        .keys = &names};
    char *got = printed(&s);
    has(got, "Attention step by step: 2 words, head 0 of 1 (counted from 0), "
             "D = 2\n\n1. X   (2 x 2)\n");
    has(got, "\n2. Q = X\u00b7W_Q + b_Q   (2 x 2)\n");
    has(got, "\n3. K = X\u00b7W_K   (2 x 2)\n");
    has(got, "\n4. V = X\u00b7W_V   (2 x 2)\n");
    char *products = step_of(got, "5. Q\u00b7K\u1d40   (2 x 2)\n");
    has(products, "                I    read\n"
                  "     I      4.000   0.000\n"
                  "     read   0.000   4.000\n");
    char *scores = step_of(got,
        "6. S = Q\u00b7K\u1d40 / \u221a2 = Q\u00b7K\u1d40 / 1.414   (2 x 2)\n");
    has(scores, "     I      2.828   0.000\n"
                "     read   0.000   2.828\n");
    char *weights = step_of(got, "7. A = softmax(S)   (2 x 2)\n");
    has(weights, "                I    read     sum\n"
                 "     I      0.944   0.056   1.000\n"
                 "     read   0.056   0.944   1.000\n");
    char *output = step_of(got, "8. O = A\u00b7V   (2 x 2)\n");
    has(output, "                0       1\n"
                "     I      1.888   0.112\n"
                "     read   0.112   1.888\n");
    lacks(got, "9. ");
    lacks(got, "-inf");
    lacks(got, "...");
    free(products);
    free(scores);
    free(weights);
    free(output);
    free(got);
}
END_TEST

/* ---- What differs -------------------------------------------------------- */

START_TEST(each_bias_is_named_where_it_was_added)
{
    static const char *const with[] = {"Q = X\u00b7W_Q + b_Q ",
        "K = X\u00b7W_K + b_K ", "V = X\u00b7W_V + b_V ", "W_O + b_O "};
    static const char *const without[] = {
        "Q = X\u00b7W_Q ", "K = X\u00b7W_K ", "V = X\u00b7W_V ", "\u00b7W_O "};
    lesson *l = lesson_new(3, 3, 2, 4, false);
    l->s.output = l->x;
    l->s.biases = (unsigned)_i;
    char *text = printed(&l->s);
    for (int part = 0; part < 4; ++part)
        has(text, _i & 1 << part ? with[part] : without[part]);
    free(text);
    free(l);
}
END_TEST

START_TEST(without_scale_the_scores_are_the_products)
{
    lesson *l = lesson_new(3, 3, 1, 4, false);
    l->s.no_scale = 1;
    char *text = printed(&l->s);
    char *products = step_of(text, "5. Q\u00b7K\u1d40");
    char *scores = step_of(text, "6. S = Q\u00b7K\u1d40   (3 x 3)\n");
    has(scores, "no division by \u221aD, as asked\n");
    lacks(scores, "/");
    ck_assert_str_eq(strstr(products, "\n     "), strstr(scores, "\n     "));
    free(products);
    free(scores);
    free(text);
    free(l);
}
END_TEST

START_TEST(another_scale_is_a_factor)
{
    lesson *l = lesson_new(3, 3, 1, 4, false);
    l->s.scale = -0.25;
    char *text = printed(&l->s);
    has(text, "6. S = -0.25 Q\u00b7K\u1d40   (3 x 3)\n");
    free(text);
    free(l);
}
END_TEST

START_TEST(hidden_keys_have_minus_infinity_and_weight_0)
{
    lesson *l = lesson_new(3, 3, 1, 2, true);
    l->k[4] = NAN; /* key 2, which only row 2 may see */
    l->first_hidden[2] = 0;
    set_weights(l, 0, 2);
    char *text = printed(&l->s);
    char *scores = step_of(text, "6. S = ");
    char *weights = step_of(text, "7. A = ");
    has(scores, "hidden keys have -inf");
    lacks(scores, "nan");
    has(scores, "-inf    -inf\n     w1 ");
    has(scores, "     w2     -inf    -inf    -inf\n");
    has(weights, "     w0    1.000   0.000   0.000   1.000\n");
    has(weights, "     w2    0.000   0.000   0.000   0.000\n");
    free(scores);
    free(weights);
    free(text);
    free(l);
}
END_TEST

START_TEST(nan_is_shown_where_it_is_and_in_the_sum)
{
    lesson *l = lesson_new(2, 2, 1, 2, false);
    l->weights[1] = -NAN;
    char *text = printed(&l->s);
    char *weights = step_of(text, "7. A = ");
    has(weights, "nan     nan\n     w1 ");
    lacks(weights, "-nan");
    free(weights);
    free(text);
    free(l);
}
END_TEST

/* The number that the step's line of w0 begins with. */
static void begins_with(const char *text, const char *name, double number)
{
    char line[60];
    char *step = step_of(text, name);
    const char *at = strstr(step, "\n     w0 ");
    ck_assert_msg(at != NULL, "no numbers in:\n%s", step);
    snprintf(line, sizeof line, "%.3f", number);
    at += strlen("\n     w0 ");
    at += strspn(at, " ");
    ck_assert_msg(strncmp(at, line, strlen(line)) == 0,
        "%s begins with %.8s, "
        "not %s",
        name, at, line);
    free(step);
}

START_TEST(every_step_is_of_the_same_head)
{
    lesson *l = lesson_new(3, 3, 3, 2, false);
    const size_t h = (size_t)_i, first = h * 2;
    l->s.head = h;
    char *text = printed(&l->s);
    const double product = (double)l->q[first] * (double)l->k[first] +
                           (double)l->q[first + 1] * (double)l->k[first + 1];
    begins_with(text, "2. Q = ", (double)l->q[first]);
    begins_with(text, "3. K = ", (double)l->k[first]);
    begins_with(text, "4. V = ", (double)l->v[first]);
    begins_with(text, "5. Q\u00b7K", product);
    begins_with(text, "6. S = ", product / sqrt(2.0));
    begins_with(text, "8. O = ", (double)l->context[first]);
    char *weights = step_of(text, "7. A = ");
    const double shown = strtod(strstr(weights, "\n     w0 ") + 9, NULL);
    const double weight = (double)l->weights[h * 9];
    ck_assert_msg(fabs(shown - weight) < 0.0011, /* up or down, and a hair */
        "head %zu: %f is shown as %f", h, weight, shown);
    free(weights);
    free(text);
    free(l);
}
END_TEST

START_TEST(a_head_has_its_columns_and_no_others)
{
    lesson *l = lesson_new(2, 2, 3, 2, false);
    l->s.head = 1;
    l->s.output = l->x;
    l->q[2] = 1.25f; /* row 0, head 1, column 0 */
    char *text = printed(&l->s);
    char *queries = step_of(text, "2. Q = ");
    char *output = step_of(text, "9. Y = ");
    has(text, "head 1 of 3");
    has(queries, "(2 x 2)");
    has(queries, "; head 1 has columns 2 to 3 of 6\n");
    has(queries, "            2       3\n     w0    1.250 ");
    has(output, "[O of heads 0 to 2]\u00b7W_O   (2 x 6)\n");
    free(queries);
    free(output);
    free(text);
    free(l);
}
END_TEST

START_TEST(attention_alone_begins_with_given_queries)
{
    lesson *l = lesson_new(2, 3, 1, 2, false);
    l->s.x = NULL;
    char *text = printed(&l->s);
    has(text, "2 queries, 3 keys");
    has(text, "\n1. Q, as given   (2 x 2)\n");
    has(text, "\n2. K, as given   (3 x 2)\n");
    has(text, "\n4. Q\u00b7K\u1d40   (2 x 3)\n");
    lacks(text, "W_");
    free(text);
    free(l);
}
END_TEST

static const struct {
    const char *about;
    size_t L, Lk;
} EMPTY[] = {{"no words", 0, 0}, {"no keys", 2, 0}, {"no queries", 0, 2}};

START_TEST(empty_matrices_have_their_shape_and_no_numbers)
{
    lesson *l = lesson_new(EMPTY[_i].L, EMPTY[_i].Lk, 1, 2, false);
    if (EMPTY[_i].L == 0)
        l->s.q = l->s.context = NULL;
    if (EMPTY[_i].Lk == 0)
        l->s.k = l->s.v = l->s.weights = NULL;
    char *text = printed(&l->s);
    char shape[60];
    snprintf(shape, sizeof shape, "A = softmax(S)   (%zu x %zu)\n", EMPTY[_i].L,
        EMPTY[_i].Lk);
    has(text, shape);
    has(text, "8. O = ");
    free(text);
    free(l);
}
END_TEST

static const struct {
    const char *about;
    size_t columns;
    float value;
    const char *shown;
} NUMBERS[] = {
    {"three decimals", 1, 1.23456f, "1.235\n"},
    {"no negative zero", 1, -0.0f, " 0.000\n"},
    {"nor one by rounding", 2, -0.0004f, " 0.000 "},
    {"all tiny", 1, 0.00012f, "1.200e-04\n"},
    {"huge", 1, 2.5e8f, "2.500e+08\n"},
};

START_TEST(numbers_are_readable_at_any_size)
{
    lesson *l = lesson_new(1, 1, 1, NUMBERS[_i].columns, false);
    l->v[0] = NUMBERS[_i].value;
    l->v[1] = 1.0f; /* beside it where there are two columns */
    char *text = printed(&l->s);
    char *values = step_of(text, "4. V = ");
    ck_assert_msg(strstr(values, NUMBERS[_i].shown) != NULL, "%s: %s",
        NUMBERS[_i].about, values);
    free(values);
    free(text);
    free(l);
}
END_TEST

/* ---- Large matrices ------------------------------------------------------ */

START_TEST(a_large_matrix_is_its_corner)
{
    lesson *l = lesson_new(9, 9, 1, 9, false);
    char *text = printed(&l->s);
    char *x = step_of(text, "1. X   (9 x 9)");
    char *weights = step_of(text, "7. A = ");
    has(x, "      7     ...\n");
    has(x, "     ... and 1 more rows\n");
    lacks(x, "w8");
    has(weights, "     w7    rest     sum\n");
    lacks(weights, "...\n     w");
    free(x);
    free(weights);
    free(text);
    free(l);
}
END_TEST

/* Adds up a line of numbers but the last, in thousandths as they are shown. */
static long long add_shown(char *line, long long *last)
{
    long long sum = 0;
    *last = 0;
    for (char *at = strtok(line, " "); at != NULL; at = strtok(NULL, " ")) {
        if (strchr(at, '.') == NULL)
            continue; /* the word */
        sum += *last;
        *last = llround(1000.0 * strtod(at, NULL));
    }
    return sum;
}

START_TEST(weights_shown_add_up_to_the_sum_shown)
{
    const size_t L = (size_t)_i + 1;
    lesson *l = lesson_new(L, L, 1, 3, _i % 2);
    char *text = printed(&l->s);
    char *weights = step_of(text, "7. A = ");
    char line[LINE];
    size_t rows = 0;
    const char *next = weights;
    while ((next = capture_line(line, sizeof line, next)) != NULL) {
        long long sum = 0, shown = 0;
        char *copy = strdup(line);
        if (strncmp(line, "     w", 6) == 0 && strchr(line, '.') != NULL) {
            ++rows;
            shown = add_shown(line, &sum);
            ck_assert_msg(
                sum == 1000, "%zu words: a sum is not 1.000: %s", L, copy);
            ck_assert_msg(shown == sum, "%zu words: %lld thousandths: %s", L,
                shown, copy);
        }
        free(copy);
    }
    ck_assert_uint_eq(rows, L < TABLE_ROWS ? L : TABLE_ROWS);
    free(weights);
    free(text);
    free(l);
}
END_TEST

static const struct {
    const char *about;
    size_t count;
    double number[4];
    long long shown[4], sum;
} ROUNDED[] = {
    {"one", 1, {1.0}, {1000}, 1000},
    {"nothing", 0, {0}, {0}, 0},
    {"thirds: the first gets what is missing", 3, {1.0 / 3, 1.0 / 3, 1.0 / 3},
        {334, 333, 333}, 1000},
    {"the largest remainder is rounded up", 3, {0.3332, 0.3339, 0.3329},
        {333, 334, 333}, 1000},
    {"all would be rounded up", 4, {0.2496, 0.2496, 0.2496, 0.2512},
        {250, 250, 249, 251}, 1000},
    {"binary fractions a hair below", 2, {0.7 - 1e-9, 0.3}, {700, 300}, 1000},
    {"a sum of less than one", 2, {0.25, 0.1254}, {250, 125}, 375},
    {"negative numbers", 2, {-0.0001, 1.0001}, {0, 1000}, 1000},
};

START_TEST(rounding_keeps_the_sum)
{
    long long shown[4] = {0}, sum = 0;
    const size_t count = ROUNDED[_i].count;
    ck_assert_msg(
        table_round(shown, ROUNDED[_i].number, count) == ROUNDED[_i].sum,
        "%s: another sum", ROUNDED[_i].about);
    for (size_t n = 0; n < count; ++n) {
        sum += shown[n];
        ck_assert_msg(fabs((double)shown[n] - 1000 * ROUNDED[_i].number[n]) < 1,
            "%s: number %zu is shown as %lld", ROUNDED[_i].about, n, shown[n]);
    }
    ck_assert_msg(sum == ROUNDED[_i].sum, "%s: those shown sum to %lld",
        ROUNDED[_i].about, sum);
    for (size_t n = 0; n < count; ++n)
        ck_assert_msg(shown[n] == ROUNDED[_i].shown[n],
            "%s: number %zu is shown as %lld", ROUNDED[_i].about, n, shown[n]);
}
END_TEST

int main(void)
{
    TCase *lessons = tcase_create("steps");
    tcase_add_test(lessons, a_small_lesson_is_exactly_this);
    tcase_add_loop_test(lessons, each_bias_is_named_where_it_was_added, 0, 16);
    tcase_add_test(lessons, without_scale_the_scores_are_the_products);
    tcase_add_test(lessons, another_scale_is_a_factor);
    tcase_add_test(lessons, hidden_keys_have_minus_infinity_and_weight_0);
    tcase_add_test(lessons, nan_is_shown_where_it_is_and_in_the_sum);
    tcase_add_loop_test(lessons, every_step_is_of_the_same_head, 0, 3);
    tcase_add_test(lessons, a_head_has_its_columns_and_no_others);
    tcase_add_test(lessons, attention_alone_begins_with_given_queries);
    tcase_add_loop_test(lessons, empty_matrices_have_their_shape_and_no_numbers,
        0, (int)COUNT(EMPTY));
    tcase_add_loop_test(
        lessons, numbers_are_readable_at_any_size, 0, (int)COUNT(NUMBERS));
    tcase_add_test(lessons, a_large_matrix_is_its_corner);
    tcase_add_loop_test(
        lessons, weights_shown_add_up_to_the_sum_shown, 0, MOST_WORDS);
    tcase_add_loop_test(
        lessons, rounding_keeps_the_sum, 0, (int)COUNT(ROUNDED));
    Suite *suite = suite_create("steps");
    suite_add_tcase(suite, lessons);
    return suite_main(suite, 0);
}
