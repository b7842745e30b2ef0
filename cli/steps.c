/* SPDX-License-Identifier: Apache-2.0
 *
 * steps.c - attention step by step, for people who learn it.
 */
#include "steps.h"

#include <math.h>
#include <stdbool.h>

#include "steps_table.h"

/* Where the printing has got to. */
typedef struct teacher {
    FILE *to;
    const steps *s;
    int number; /* of the last step */
} teacher;

static void step(teacher *t, const char *formula, size_t rows, size_t columns,
    const char *meaning)
{
    fprintf(t->to, "\n%d. %s   (%zu x %zu)\n   %s\n", ++t->number, formula,
        rows, columns, meaning);
}

static bool is_hidden(const steps *s, size_t row, size_t key)
{
    return s->causal && s->first_hidden != NULL &&
           (s->first_hidden[row] < 0 || key >= (size_t)s->first_hidden[row]);
}

/* Columns from `first` on, of rows of `stride`. */
static void print_values(teacher *t, const words *row_words, size_t rows,
    size_t columns, const float *values, size_t stride, size_t first)
{
    table numbers = {.rows = rows,
        .columns = columns,
        .row_words = row_words,
        .first_column = first};
    for (size_t i = 0; i < table_rows(&numbers); ++i)
        for (size_t j = 0; j < table_columns(&numbers); ++j)
            numbers.number[i][j] = (double)values[i * stride + first + j];
    table_print(t->to, &numbers);
}

static void print_x(teacher *t)
{
    const steps *s = t->s;
    if (s->x == NULL)
        return;
    step(t, "X", s->L, s->E, "one row for each word: what is known of it");
    print_values(t, s->queries, s->L, s->E, s->x, s->E, 0);
}

/* Q, K or V: the columns of the head shown, out of all heads side by side. */
static void print_part(teacher *t, char name, enum steps_bias bias,
    const float *values, const words *row_words, size_t rows, size_t columns,
    const char *meaning)
{
    const steps *s = t->s;
    char formula[64] = "", sentence[200];
    const size_t first = s->head * columns;
    if (s->x == NULL)
        snprintf(formula, sizeof formula, "%c, as given", name);
    else
        snprintf(formula, sizeof formula,
            (s->biases & (unsigned)bias) ? "%c = X\u00b7W_%c + b_%c"
                                         : "%c = X\u00b7W_%c",
            name, name, name);
    if (s->H > 1)
        snprintf(sentence, sizeof sentence,
            "%s; head %zu has columns %zu to %zu of %zu", meaning, s->head,
            first, first + columns - 1, s->H * columns);
    else
        snprintf(sentence, sizeof sentence, "%s", meaning);
    step(t, formula, rows, columns, sentence);
    print_values(t, row_words, rows, columns, values, s->H * columns, first);
}

static double product(const steps *s, size_t row, size_t key)
{
    const float *q = s->q + (row * s->H + s->head) * s->D;
    const float *k = s->k + (key * s->H + s->head) * s->D;
    double sum = 0.0;
    for (size_t d = 0; d < s->D; ++d)
        sum += (double)q[d] * (double)k[d];
    return sum;
}

static table pairs_table(const steps *s)
{
    return (table){.rows = s->L,
        .columns = s->Lk,
        .row_words = s->queries,
        .column_words = s->keys};
}

static void print_products(teacher *t)
{
    const steps *s = t->s;
    table numbers = pairs_table(s);
    for (size_t i = 0; i < table_rows(&numbers); ++i)
        for (size_t j = 0; j < table_columns(&numbers); ++j)
            numbers.number[i][j] = product(s, i, j);
    step(t, "Q\u00b7K\u1d40", s->L, s->Lk,
        "how well each query (row) fits each key (column)");
    table_print(t->to, &numbers);
}

static void print_scores(teacher *t)
{
    const steps *s = t->s;
    const double root = sqrt((double)s->D);
    const double scale = s->no_scale ? 1.0 : s->scale;
    char formula[120], sentence[200];
    if (s->no_scale)
        snprintf(formula, sizeof formula, "S = Q\u00b7K\u1d40");
    else if (fabs(scale * root - 1.0) < 1e-6)
        snprintf(formula, sizeof formula,
            "S = Q\u00b7K\u1d40 / \u221a%zu = Q\u00b7K\u1d40 / %.3f", s->D,
            root);
    else
        snprintf(formula, sizeof formula, "S = %.6g Q\u00b7K\u1d40", scale);
    snprintf(sentence, sizeof sentence, "the scores%s%s",
        s->no_scale ? "; no division by \u221aD, as asked" : "",
        s->causal ? "; hidden keys have -inf" : "");
    step(t, formula, s->L, s->Lk, sentence);

    table numbers = pairs_table(s);
    for (size_t i = 0; i < table_rows(&numbers); ++i)
        for (size_t j = 0; j < table_columns(&numbers); ++j)
            numbers.number[i][j] =
                is_hidden(s, i, j) ? -INFINITY : scale * product(s, i, j);
    table_print(t->to, &numbers);
}

static void print_weights(teacher *t)
{
    const steps *s = t->s;
    table numbers = pairs_table(s);
    double sum[TABLE_ROWS] = {0};
    for (size_t i = 0; i < table_rows(&numbers); ++i) {
        const size_t row = (s->head * s->L + i) * s->Lk;
        for (size_t j = 0; j < s->Lk; ++j)
            sum[i] += (double)s->weights[row + j];
        for (size_t j = 0; j < table_columns(&numbers); ++j)
            numbers.number[i][j] = (double)s->weights[row + j];
    }
    step(t, "A = softmax(S)", s->L, s->Lk,
        "e^(score - the row's largest), divided by the row's sum of these: who "
        "reads whom.\n   Weights are rounded up or down so that those shown "
        "add up to the sum shown");
    table_print_sums(t->to, &numbers, sum);
}

static void print_context(teacher *t)
{
    const steps *s = t->s;
    step(t, "O = A\u00b7V", s->L, s->Dv,
        "each word's mean of what is handed over, weighted by how much it "
        "reads it");
    print_values(
        t, s->queries, s->L, s->Dv, s->context, s->H * s->Dv, s->head * s->Dv);
}

static void print_output(teacher *t)
{
    const steps *s = t->s;
    char formula[120], heads[60] = "O";
    if (s->output == NULL)
        return;
    if (s->H > 1)
        snprintf(heads, sizeof heads, "[O of heads 0 to %zu]", s->H - 1);
    snprintf(formula, sizeof formula, "Y = %s\u00b7W_O%s", heads,
        (s->biases & STEPS_BIAS_O) ? " + b_O" : "");
    step(t, formula, s->L, s->Ey,
        "the heads side by side, mixed into the layer's output");
    print_values(t, s->queries, s->L, s->Ey, s->output, s->Ey, 0);
}

static void print_title(teacher *t)
{
    const steps *s = t->s;
    fprintf(t->to, "Attention step by step: ");
    if (s->L == s->Lk)
        fprintf(t->to, "%zu word%s", s->L, s->L == 1 ? "" : "s");
    else
        fprintf(t->to, "%zu queries, %zu keys", s->L, s->Lk);
    fprintf(t->to, ", head %zu of %zu (counted from 0), D = %zu\n", s->head,
        s->H, s->D);
}

void steps_print(FILE *to, const steps *s)
{
    teacher t = {to, s, 0};
    print_title(&t);
    print_x(&t);
    print_part(&t, 'Q', STEPS_BIAS_Q, s->q, s->queries, s->L, s->D,
        "queries: what each word looks for");
    print_part(&t, 'K', STEPS_BIAS_K, s->k, s->keys, s->Lk, s->D,
        "keys: what each word can be found by");
    print_part(&t, 'V', STEPS_BIAS_V, s->v, s->keys, s->Lk, s->Dv,
        "values: what each word hands over");
    print_products(&t);
    print_scores(&t);
    print_weights(&t);
    print_context(&t);
    print_output(&t);
}
