/* SPDX-License-Identifier: Apache-2.0
 *
 * judge_goals.c - goals as arithmetic on figures, and in words.
 */
#include "judge_goals.h"

#include <math.h>
#include <stdio.h>

/* Only what is no noise can be held against a goal. */
static bool is_sound(const bench_result *r)
{
    return r->taken.count && !r->time.noisy;
}

static double held_against(
    const bench_case *cases, const bench_result *result, size_t at)
{
    const bench_case *c = &cases[at];
    const bench_result *own = &result[at];
    const bench_result *base = &result[at - c->base];
    if (c->goal == GOAL_WORKSPACE)
        return own->reason[0] ? (double)NAN : (double)own->workspace_bytes;
    if (c->goal == GOAL_NONE || !is_sound(own) || !is_sound(base))
        return (double)NAN;
    switch (c->goal) {
    case GOAL_SHARE:
        return own->share;
    case GOAL_SHARE_OF:
        return own->share / base->share;
    case GOAL_OPERATIONS:
        return base->share / own->share;
    default:
        return own->time.ms_median / base->time.ms_median;
    }
}

static bool is_floor(const bench_case *c)
{
    return c->goal == GOAL_SHARE || c->goal == GOAL_SHARE_OF;
}

void judge_goal(const bench_case *cases, bench_result *result, size_t at)
{
    const bench_case *c = &cases[at];
    bench_result *own = &result[at];
    own->held = held_against(cases, result, at);
    own->met = is_floor(c) ? own->held >= c->bound : own->held <= c->bound;
}

const char *goal_text(
    char *text, size_t capacity, const bench_case *cases, size_t at)
{
    const bench_case *c = &cases[at];
    const char *base = cases[at - c->base].name;
    text[0] = '\0';
    if (c->goal == GOAL_SHARE)
        snprintf(text, capacity, "share >= %.0f %%", 100.0 * c->bound);
    else if (c->goal == GOAL_SHARE_OF)
        snprintf(text, capacity, "share >= %.2f x that of %s", c->bound, base);
    else if (c->goal == GOAL_OPERATIONS)
        snprintf(text, capacity, "time per operation <= %.2f x that of %s",
            c->bound, base);
    else if (c->goal == GOAL_TIME)
        snprintf(text, capacity, "time <= %.2f x that of %s", c->bound, base);
    else if (c->goal == GOAL_WORKSPACE)
        snprintf(text, capacity, "workspace <= %.0f bytes", c->bound);
    return text;
}

const char *held_text(char *text, size_t capacity, const bench_case *c,
    const bench_result *result)
{
    text[0] = '\0';
    if (c->goal == GOAL_NONE || isnan(result->held))
        return text;
    if (c->goal == GOAL_SHARE)
        snprintf(text, capacity, "%.1f %%", 100.0 * result->held);
    else if (c->goal == GOAL_WORKSPACE)
        snprintf(text, capacity, "%.0f bytes", result->held);
    else
        snprintf(text, capacity, "%.2f x", result->held);
    return text;
}
