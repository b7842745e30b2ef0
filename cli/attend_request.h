/* SPDX-License-Identifier: Apache-2.0
 *
 * attend_request.h - what `clattn attend` is asked for: its options, read, and
 * refused where they alone contradict each other.
 */
#ifndef CLATTN_CLI_ATTEND_REQUEST_H
#define CLATTN_CLI_ATTEND_REQUEST_H

#include <stdint.h>

#include "failure.h"
#include "npy.h"
#include "numbers.h"
#include "options.h"
#include "outputs.h"
#include "values.h"

enum attend_input {
    ATTEND_Q,
    ATTEND_K,
    ATTEND_V,
    ATTEND_INPUTS
};

enum attend_layout {
    ATTEND_BHLD,
    ATTEND_BLHD,
    ATTEND_THD /* packed: items one behind the other, by --cu-query, --cu-key */
};

/* Paths are NULL where they are not given. */
typedef struct attend_request {
    const options *given;
    const char *input[ATTEND_INPUTS], *mask;
    const char *output, *lse;
    const char *matrix; /* of --attention or --scores */
    uint32_t stage;     /* the CLATTN_RETURN_ flag that fills it */
    const char *device, *kernel;
    enum npy_two_bytes two_bytes;
    enum attend_layout layout;
    int32_t dtype, precision;
    bool has_scale, causal, usual_slopes;
    float scale, softcap, dropout;
    uint64_t seed, dropout_offset;
    int32_t diagonal; /* a clattn_diagonal */
    integers offsets; /* of the diagonal */
    int32_t window_left, window_right;
    integers lengths, query_lengths, cu_query, cu_key;
    numbers slopes, sinks;
    bool reference, explain, quiet;
} attend_request;

/* The options that name files. */
extern const file_options ATTEND_FILES;

/* False is wrong use; free in either case.  *r keeps texts of `given`. */
bool attend_request_read(attend_request *r, const options *given, failure *f);
void attend_request_free(attend_request *r);

/* Whether --causal or --diagonal brings an offset for each item. */
bool attend_offsets_listed(const attend_request *r);

#endif
