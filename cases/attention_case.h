/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_case.h - attention problems in one line each: a table, sweeps, and
 * random draws that shrink.
 */
#ifndef CLATTN_CASES_ATTENTION_CASE_H
#define CLATTN_CASES_ATTENTION_CASE_H

#include "arena.h"

enum case_layout {
    LAYOUT_DENSE,  /* (B, H, L, D), or (rows, H, D); strides left 0 */
    LAYOUT_BLHD,   /* (B, L, H, D) */
    LAYOUT_PACKED, /* q, k and v in one buffer, row by row; Lq = Lk */
    LAYOUT_PADDED, /* gaps behind rows, heads and items, odd offsets */
    LAYOUT_SHARED, /* all items read one k and one v: batch stride 0 */
    LAYOUTS
};

enum case_fill {
    FILL_RANDOM, /* q, k, v in [-1, 1) */
    FILL_EQUAL,  /* q = 0: all scores are */
    FILL_TALL,   /* scores to +-1e4 */
    FILL_HUGE,   /* the same, but the first key of each row alone is large */
    FILL_SUNK,   /* all scores far below 0, so that a padded 0 would win */
    FILL_TINY,   /* q and v subnormal */
    FILL_NAN,    /* one key that some rows read is NaN */
    FILL_UNITS,  /* q = 0 and v the unit matrix: out shows the weights */
    FILLS
};

/* The axes of a mask that are as long as the problem's; others are 1. */
enum case_axes {
    AXIS_B = 1,
    AXIS_H = 2,
    AXIS_Q = 4,
    AXIS_K = 8,
    AXES_ALL = 15
};

typedef struct attention_case {
    const char *about; /* a sentence */
    struct {
        size_t B, Hq, Hkv, Lq, Lk, D, Dv;
    } size;
    enum case_layout layout;
    enum case_fill fill;
    int32_t causal, diagonal, diagonal_offset;
    bool item_offsets; /* a diagonal offset of its own for each item */
    bool key_lengths;  /* drawn; the second item has 0, the third all */
    int32_t has_scale;
    float scale;
    uint32_t returns; /* CLATTN_RETURN_... */
    uint64_t seed;
    struct {
        int32_t q, k, v, out, weights; /* 0: f32 */
    } dtype;
    bool query_lengths;            /* drawn as key lengths are */
    bool query_starts, key_starts; /* a packed batch, of ARENA_ITEMS at most */
    bool windowed;
    int32_t window_left, window_right; /* if windowed; -1: that side is off */
    bool alibi;
    float softcap;
    bool sinks;
    float dropout_p;
    int32_t mask_dtype; /* 0: no mask */
    uint32_t mask_axes; /* case_axes; 0 is a mask of one element */
    bool mask_padded;   /* gaps behind its rows */
    int32_t precision;
} attention_case;

/* The table, then sweeps over the sizes around the edges of tiles. */
size_t attention_case_count(void);
attention_case attention_case_at(size_t index);
/* Whether it is of a sweep in which few programs serve all cases. */
bool attention_case_shares_programs(size_t index);

/* Shapes that are prone to races, to be run again and again. */
size_t attention_race_count(void);
attention_case attention_race_at(size_t index);

/* ---- Draws --------------------------------------------------------------- */

/* What is compiled in, all of it from the seed: storage, options, D and Dv. */
attention_case attention_case_configure(uint64_t seed);
/* What is not: sizes 1 to 100, lengths, strides, numbers.  No other program is
   built for it. */
void attention_case_reshape(attention_case *c, uint64_t seed);
/* A configuration and a shape. */
attention_case attention_case_draw(uint64_t seed);

/* The n-th way to make the case simpler: a size halved or less by one, an
   option dropped, f32 for another dtype.  False past the last.  The result may
   be the case itself. */
bool attention_case_simpler(
    attention_case *simpler, const attention_case *c, size_t n);

/* Whether a case still shows what is looked for. */
typedef bool attention_case_shows(const attention_case *c, void *state);
/* Simplify while it shows, asking at most `tries` times. */
attention_case attention_case_shrink(const attention_case *c,
    attention_case_shows *shows, void *state, size_t tries);

/* The same problem for a matrix unit: all in one 16-bit dtype, weights rounded to
   it, no dropout, no matrix returned. */
void attention_case_round(attention_case *c, int32_t dtype);

/* Drop what contradicts the rest, so that the case is one the library takes. */
void attention_case_mend(attention_case *c);

/* ---- As a line ------------------------------------------------------------ */

/* "B=2 Hq=4 ... seed=7": what differs from 0, enough to build it again. */
const char *attention_case_line(const attention_case *c, char text[ARENA_TEXT]);
/* The same behind the sentence. */
const char *attention_case_text(const attention_case *c, char text[ARENA_TEXT]);
/* The case of such a line; false, with a sentence, if it is none: where a value
   is not allowed, is told twice, or contradicts others, so that the case would
   have to be another than the line says.  A diagonal that causal and its like
   need is filled in where the line tells none. */
bool attention_case_parse(
    attention_case *c, const char *line, char text[ARENA_TEXT]);
/* The name of a size that the line leaves out, which is then 1; NULL if it tells
   them all, as attention_case_line does. */
const char *attention_case_missing(const char *line);

#endif
