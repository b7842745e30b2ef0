/* SPDX-License-Identifier: Apache-2.0
 *
 * samples.h - which measured times count, and the figure that they give.
 *
 * A machine that is shared is not always whole.  So each time stands between
 * two probes of the device's peak, and counts only if both are within 10 % of
 * the best probe of the run: then all cores were there, before and after.
 */
#ifndef CLATTN_BENCH_SAMPLES_H
#define CLATTN_BENCH_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

enum {
    SAMPLES_NEEDED = 7, /* with fewer a figure is noise */
    SAMPLES_MAX = 100
};

typedef struct sample {
    double ms;
    double before, after; /* probes, in GFLOP/s */
} sample;

typedef struct samples {
    sample at[SAMPLES_MAX];
    size_t count; /* kept */
    size_t tried; /* added */
} samples;

typedef struct figure {
    size_t counted;   /* samples that count */
    bool noisy;       /* too few of them */
    double ms_median; /* of those that count; of all if none does */
    double ms_min;    /* likewise */
} figure;

/* One more.  Once all places are full it takes that of one that does not count
   beside the best probe known by now, as none ever will that does not yet; where
   there is none it is dropped. */
void samples_add(samples *s, sample one, double best);

/* How many count beside the best probe known by now. */
size_t samples_counted(const samples *s, double best);

figure samples_figure(const samples *s, double best);

/* Sorts the values; the mean of the middle two if count is even, 0 of none. */
double median_of(double *value, size_t count);

#endif
