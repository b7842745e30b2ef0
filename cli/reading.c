/* SPDX-License-Identifier: Apache-2.0
 *
 * reading.c - the weights that one picture or reading list shows.
 */
#include "words.h"

void reading_mean(
    float *mean, const float *weights, size_t heads, size_t elements)
{
    for (size_t i = 0; i < elements; ++i) {
        double sum = 0.0;
        for (size_t h = 0; h < heads; ++h)
            sum += (double)weights[h * elements + i];
        mean[i] = (float)(heads > 0 ? sum / (double)heads : 0.0);
    }
}
