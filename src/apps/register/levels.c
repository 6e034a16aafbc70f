/* Resolutions: while the distance scale is large, few points say as much as all of them. */
#include "apps/register/problem.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>

enum { FEWEST = 300 };           /* points of the coarsest level's smaller cloud, about */
static const double WORTH = 0.6; /* a level has at most that share of the points of the next */

static atn_status make_sides(reg_problem *p, const cloud_points *source, const cloud_points *target, reg_level *level) {
    reg_engine *e = &p->engine;
    atn_status status = reg_side_make(e->device, source, p->source_origin, p->unit, e->type, e->block, &level->source);
    if (status == ATN_OK)
        status = reg_side_make(e->device, target, p->target_origin, p->unit, e->type, e->block, &level->target);
    return status;
}

/* Levels are made from fine to coarse, each from the one before, and then turned round. */
atn_status reg_levels_make(reg_problem *p, bool pyramid) {
    double since = atn_clock_seconds();
    cloud_points fine[2] = {p->source, p->target}, coarse[2] = {{0}, {0}};
    bool owned = false;
    double edge = 2 * p->spacing; /* in units */
    atn_status status = make_sides(p, &fine[0], &fine[1], &p->level[0]);
    p->levels = 1;
    while (status == ATN_OK && pyramid && p->levels < REG_MOST_LEVELS && edge > 0) {
        for (int k = 0; k < 2 && status == ATN_OK; ++k)
            status = cloud_points_merge(&fine[k], edge * p->unit, &coarse[k]);
        bool small = status == ATN_OK && (coarse[0].count < FEWEST || coarse[1].count < FEWEST);
        bool useful = status == ATN_OK &&
                      (double)(coarse[0].count + coarse[1].count) < WORTH * (double)(fine[0].count + fine[1].count);
        if (status == ATN_OK && useful && !small) {
            reg_level *level = &p->level[p->levels++];
            level->edge = edge;
            status = make_sides(p, &coarse[0], &coarse[1], level);
        }
        for (int k = 0; k < 2; ++k) {
            if (status == ATN_OK && useful && !small) {
                if (owned) cloud_points_free(&fine[k]);
                fine[k] = coarse[k];
            } else
                cloud_points_free(&coarse[k]);
            coarse[k] = (cloud_points){0};
        }
        owned = owned || (useful && !small);
        edge *= 2;
        if (small) break;
    }
    for (int k = 0; k < 2 && owned; ++k) cloud_points_free(&fine[k]);
    for (int32_t a = 0, b = p->levels - 1; a < b; ++a, --b) {
        reg_level kept = p->level[a];
        p->level[a] = p->level[b];
        p->level[b] = kept;
    }
    reg_timed(&p->engine, REG_PREPARE, since);
    return status;
}

reg_level *reg_level_for(reg_problem *p, double length) {
    int32_t index = 0;
    while (index + 1 < p->levels && length < p->level[index].edge) ++index;
    return &p->level[index];
}

double reg_motion(const reg_problem *p, const reg_pose *a, const reg_pose *b) {
    const reg_box *box = &p->level[p->levels - 1].source.bounds;
    return reg_pose_motion(a, b, box->low, box->high);
}

void reg_ended(reg_problem *p, bool lost) {
    if (p->reason[0] || p->converged) return;
    if (lost)
        snprintf(p->reason, sizeof p->reason,
                 "no source point lies near the target: the clouds do not overlap where the search began; another "
                 "start, as auto, may help");
    else
        snprintf(p->reason, sizeof p->reason, "still moving after %d iterations", p->iterations);
}

void reg_levels_free(reg_problem *p) {
    for (int32_t k = 0; k < REG_MOST_LEVELS; ++k) {
        reg_side_free(&p->level[k].source);
        reg_side_free(&p->level[k].target);
    }
    p->levels = 0;
}
