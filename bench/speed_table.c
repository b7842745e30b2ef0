/* SPDX-License-Identifier: Apache-2.0
 *
 * speed_table.c - the table.
 */
#include "speed_table.h"

/* Shapes as (B, H, L, D); a row with a base stands right behind it. */
#define SHAPE(b, h, l, d) .B = (b), .H = (h), .L = (l), .D = (d)
#define SHARE(bound_)     .goal = GOAL_SHARE, .bound = (bound_)
#define TIME(bound_)      .goal = GOAL_TIME, .bound = (bound_)

/* Root mean square of the rows of 64 items of 16 to 512: as many operations. */
#define EQUAL_ROWS 301

const bench_case SPEED_TABLE[] = {
    {"1,16,1024,64", SHAPE(1, 16, 1024, 64), SHARE(0.80)},
    {"1,16,1024,64 causal", SHAPE(1, 16, 1024, 64), .causal = true, SHARE(0.74),
        .base = 1},
    {"1,16,1024,64 f16 K,V", SHAPE(1, 16, 1024, 64), .kv_dtype = CLATTN_F16,
        TIME(1.12), .base = 2},
    {"1,16,1024,64 bf16 K,V", SHAPE(1, 16, 1024, 64), .kv_dtype = CLATTN_BF16,
        TIME(1.12), .base = 3},
    {"1,16,1024,64 bool mask", SHAPE(1, 16, 1024, 64), .mask = CLATTN_BOOL,
        TIME(1.20), .base = 4},
    {"1,16,1024,64 f32 mask", SHAPE(1, 16, 1024, 64), .mask = CLATTN_F32,
        TIME(1.25), .base = 5},
    {"1,16,1024,64 ALiBi", SHAPE(1, 16, 1024, 64), .alibi = true, TIME(1.15),
        .base = 6},
    {"1,16,1024,64 softcap", SHAPE(1, 16, 1024, 64), .softcap = 30.0f,
        TIME(1.50), .base = 7},
    {"1,16,1024,64 dropout", SHAPE(1, 16, 1024, 64), .dropout = 0.1f,
        TIME(2.00), .base = 8},
    {"1,16,1024,64 half lengths", SHAPE(1, 16, 1024, 64), .lengths_half = true,
        TIME(0.60), .base = 9},
    {"1,16,1024,64 materialised", SHAPE(1, 16, 1024, 64),
        .kernel = "materialised", SHARE(0.58), .base = 10},

    {"1,8,4096,64", SHAPE(1, 8, 4096, 64), SHARE(0.80)},
    {"1,8,4096,64 causal", SHAPE(1, 8, 4096, 64), .causal = true, SHARE(0.74),
        .base = 1},
    {"1,16,2048,128", SHAPE(1, 16, 2048, 128), SHARE(0.80)},
    {"1,16,2048,128 causal", SHAPE(1, 16, 2048, 128), .causal = true,
        SHARE(0.74), .base = 1},
    {"1,8,512,64", SHAPE(1, 8, 512, 64), SHARE(0.75)},
    {"1,8,512,64 causal", SHAPE(1, 8, 512, 64), .causal = true, SHARE(0.62),
        .base = 1},
    {"4,12,512,64", SHAPE(4, 12, 512, 64), SHARE(0.70)},
    {"32,12,128,64", SHAPE(32, 12, 128, 64), SHARE(0.60)},
    {"1,8,128,64", SHAPE(1, 8, 128, 64), SHARE(0.50)},
    {"1,8,128,64 causal", SHAPE(1, 8, 128, 64), .causal = true, SHARE(0.30),
        .base = 1},

    {"1,16,1024,40", SHAPE(1, 16, 1024, 40), SHARE(0.68)},
    {"1,16,1024,72", SHAPE(1, 16, 1024, 72), SHARE(0.68)},
    {"1,16,1024,80", SHAPE(1, 16, 1024, 80), SHARE(0.68)},
    {"1,16,1024,96", SHAPE(1, 16, 1024, 96), SHARE(0.68)},
    {"1,16,1024,33", SHAPE(1, 16, 1024, 33), SHARE(0.45)},

    {"1,2,16384,64", SHAPE(1, 2, 16384, 64)},
    {"1,2,16384,64 window 256,0", SHAPE(1, 2, 16384, 64), .has_window = true,
        .window_left = 256, .goal = GOAL_OPERATIONS, .bound = 1.6, .base = 1},

    {"64,12,301,64", SHAPE(64, 12, EQUAL_ROWS, 64)},
    {"64,12,16-512,64 ragged", SHAPE(64, 12, 512, 64), .ragged = true,
        .goal = GOAL_SHARE_OF, .bound = 0.80, .base = 1},

    {"matmul 512", .kind = BENCH_MATMUL, SHAPE(1, 1, 512, 512), SHARE(0.60)},
    {"matmul 1024", .kind = BENCH_MATMUL, SHAPE(1, 1, 1024, 1024), SHARE(0.60)},
    {"matmul 2048", .kind = BENCH_MATMUL, SHAPE(1, 1, 2048, 2048), SHARE(0.60)},

    {"1,1,65536,64 workspace", .kind = BENCH_WORKSPACE, SHAPE(1, 1, 65536, 64),
        .goal = GOAL_WORKSPACE, .bound = 1 << 20},
};

const size_t N_SPEED_TABLE = sizeof SPEED_TABLE / sizeof SPEED_TABLE[0];
