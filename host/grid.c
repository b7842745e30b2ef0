/* SPDX-License-Identifier: Apache-2.0
 *
 * grid.c - a grid of groups walked in parts that a device takes.
 */
#include "grid.h"

#include <stdint.h>
#include <string.h>

#include "error.h"
#include "extent.h"

size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t tiles(size_t count, size_t tile)
{
    return count / tile + (count % tile != 0);
}

/* Groups of one launch in each dimension: x first, then y, then z. */
static void part_of_grid(
    size_t part[3], const grid *g, const device_limits *limits)
{
    uint64_t room = limits->max_items / (g->local[0] * g->local[1]);
    if (limits->launch_work > 0 && limits->launch_work / g->group_work < room)
        room = limits->launch_work / g->group_work;
    for (int d = 0; d < 3; ++d) {
        const size_t most = smaller(g->groups[d], limits->max_groups[d]);
        part[d] = room < most ? (size_t)room : most;
        part[d] = part[d] > 0 ? part[d] : 1;
        room /= part[d];
    }
}

size_t blocks_alike(launch_visitor *visit, size_t at, size_t step, size_t end)
{
    const size_t full = (end - at) / step;
    return visit || full == 0 ? 1 : full;
}

static clattn_status count_parts(
    launch_count *count, const grid *g, const size_t part[3])
{
    size_t parts = count->times;
    for (int d = 0; d < 3; ++d)
        if (!size_mul(parts, tiles(g->groups[d], part[d]), &parts))
            parts = SIZE_MAX;
    if (!size_add(count->launches, parts, &count->launches))
        count->launches = SIZE_MAX;
    return CLATTN_OK;
}

/* `first` is where the launch's parameters keep the part's first groups. */
clattn_status grid_walk(const grid *g, const device_limits *limits, launch *l,
    whole first[3], launch_visitor *visit, void *state)
{
    clattn_status status = CLATTN_OK;
    size_t part[3];
    part_of_grid(part, g, limits);
    if (!visit)
        return count_parts(state, g, part);
    memcpy(l->local, g->local, sizeof l->local);
    for (size_t z = 0; z < g->groups[2]; z += part[2]) {
        first[2] = (whole)(g->origin_z + z);
        l->groups[2] = smaller(part[2], g->groups[2] - z);
        for (size_t y = 0; y < g->groups[1]; y += part[1]) {
            first[1] = (whole)y;
            l->groups[1] = smaller(part[1], g->groups[1] - y);
            for (size_t x = 0; x < g->groups[0]; x += part[0]) {
                first[0] = (whole)(g->origin_x + x);
                l->groups[0] = smaller(part[0], g->groups[0] - x);
                TRY(visit(state, l));
            }
        }
    }

cleanup:
    return status;
}
