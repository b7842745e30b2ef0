/* SPDX-License-Identifier: Apache-2.0
 *
 * attention_races.c - problems in which work-items share most: groups that are
 * full and groups that are not, tiles that end in the middle, keys that some
 * groups skip.
 */
#include "attention_case.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Two programs a row: the first shapes share one, the last another. */
static const attention_case TABLE[] = {
    {"whole tiles", {2, 4, 2, 64, 128, 64, 64}, .returns = 0},
    {"one above the tiles", {2, 3, 3, 65, 129, 64, 64}, .returns = 0},
    {"one below the tiles, gaps", {2, 3, 3, 63, 127, 64, 64},
        .layout = LAYOUT_PADDED, .returns = 0},
    {"one row, many keys", {3, 4, 1, 1, 1000, 64, 64}, .returns = 0},
    {"more rows than a group has, few keys", {1, 2, 1, 333, 7, 64, 64},
        .returns = 0},
    {"causal, lengths, some of them short", {4, 4, 2, 97, 161, 64, 64},
        .causal = 1, .diagonal = CLATTN_BOTTOM_RIGHT, .key_lengths = true,
        .returns = 0},
    {"causal, lengths, one row above a tile", {4, 2, 2, 33, 65, 64, 64},
        .causal = 1, .diagonal = CLATTN_TOP_LEFT, .key_lengths = true,
        .returns = 0},
};

size_t attention_race_count(void)
{
    return COUNT(TABLE);
}

attention_case attention_race_at(size_t index)
{
    attention_case c = TABLE[index];
    c.seed = index;
    return c;
}
