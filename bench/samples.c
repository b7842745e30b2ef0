/* SPDX-License-Identifier: Apache-2.0
 *
 * samples.c - counting and the median.
 */
#include "samples.h"

#include <stdlib.h>

/* Of the best probe: as docs/BENCHMARKS.md defines a quiet machine. */
static const double QUIET = 0.9;

static bool counts(const sample *one, double best)
{
    return one->before >= QUIET * best && one->after >= QUIET * best;
}

void samples_add(samples *s, sample one, double best)
{
    size_t place = s->count;
    s->tried++;
    if (place == SAMPLES_MAX)
        for (place = 0; place < SAMPLES_MAX; place++)
            if (!counts(&s->at[place], best))
                break;
    if (place < SAMPLES_MAX)
        s->at[place] = one;
    if (s->count < SAMPLES_MAX)
        s->count++;
}

size_t samples_counted(const samples *s, double best)
{
    size_t counted = 0;
    for (size_t i = 0; i < s->count; i++)
        counted += counts(&s->at[i], best);
    return counted;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

double median_of(double *value, size_t count)
{
    if (count == 0)
        return 0.0;
    qsort(value, count, sizeof *value, by_size);
    return 0.5 * (value[(count - 1) / 2] + value[count / 2]);
}

figure samples_figure(const samples *s, double best)
{
    double ms[SAMPLES_MAX];
    size_t taken = 0;
    figure f = {.counted = samples_counted(s, best)};
    f.noisy = f.counted < SAMPLES_NEEDED;
    for (size_t i = 0; i < s->count; i++)
        if (f.counted == 0 || counts(&s->at[i], best))
            ms[taken++] = s->at[i].ms;
    f.ms_median = median_of(ms, taken);
    f.ms_min = taken ? ms[0] : 0.0;
    return f;
}
