/* Resolutions: while the distance scale is large, few points say as much as all of them. */
#include "apps/register/problem.h"

#include "base/clock.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>

enum { FEWEST = 300 };           /* points of the coarsest level's smaller cloud, about */
static const double WORTH = 0.6; /* a level has at most that share of the points of the next; */
/* so far from its edge on, this one is enough: points that crowd at many scales are few only at the largest of them. */
static const double APART = 8, CROWDED = 0.95;

/* Points `from` to `to` along the curve. */
static atn_status take(const cloud_points *all, const uint32_t *order, size_t from, size_t to, cloud_points *out) {
    *out = (cloud_points){.ctx = all->ctx, .count = to - from};
    for (int axis = 0; axis < 3; ++axis)
        if (!(out->position[axis] = atn_alloc(all->ctx, out->count * sizeof(double)))) return ATN_ERR_MEMORY;
    if (!(out->weight = atn_alloc(all->ctx, out->count * sizeof *out->weight))) return ATN_ERR_MEMORY;
    if (all->species && !(out->species = atn_alloc(all->ctx, out->count * sizeof *out->species))) return ATN_ERR_MEMORY;
    for (size_t k = from; k < to; ++k) {
        for (int axis = 0; axis < 3; ++axis) out->position[axis][k - from] = all->position[axis][order[k]];
        out->weight[k - from] = all->weight[order[k]];
        if (all->species) out->species[k - from] = all->species[order[k]];
    }
    return ATN_OK;
}

static void note_part(reg_level *level, const reg_side *part) {
    for (int axis = 0; axis < 3; ++axis) {
        level->bounds.low[axis] = fmin(level->bounds.low[axis], part->bounds.low[axis]);
        level->bounds.high[axis] = fmax(level->bounds.high[axis], part->bounds.high[axis]);
    }
    level->count += part->count;
    level->weight += part->total;
}

static atn_status make_parts(reg_problem *p, const cloud_points *source, reg_level *level) {
    reg_engine *e = &p->engine;
    int32_t parts = p->parts;
    uint32_t *order = atn_alloc(e->ctx, source->count * sizeof *order);
    atn_status status = order ? cloud_points_order(source, order) : ATN_ERR_MEMORY;
    if (status == ATN_OK && !(level->more = atn_zalloc(e->ctx, (size_t)(parts - 1) * sizeof *level->more)))
        status = ATN_ERR_MEMORY;
    for (int32_t k = 0; k < parts && status == ATN_OK; ++k) {
        size_t from = source->count * (size_t)k / (size_t)parts, to = source->count * (size_t)(k + 1) / (size_t)parts;
        reg_side *side = k ? &level->more[k - 1] : &level->source;
        cloud_points points;
        status = take(source, order, from, to, &points);
        if (status == ATN_OK)
            status = reg_side_make(e->device, &points, p->source_origin, p->unit, e->type, e->block, side);
        cloud_points_free(&points);
        if (status != ATN_OK) break;
        level->n_more = k;
        note_part(level, side);
        reg_side_park(side);
    }
    atn_free(e->ctx, order);
    return status;
}

static atn_status make_sides(reg_problem *p, const cloud_points *source, const cloud_points *target, reg_level *level) {
    static const reg_box EMPTY = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    reg_engine *e = &p->engine;
    level->bounds = EMPTY;
    atn_status status = reg_side_make(e->device, target, p->target_origin, p->unit, e->type, e->block, &level->target);
    if (status != ATN_OK) return status;
    if (p->parts > 1 && source->count > (size_t)p->parts) return make_parts(p, source, level);
    status = reg_side_make(e->device, source, p->source_origin, p->unit, e->type, e->block, &level->source);
    if (status == ATN_OK) note_part(level, &level->source);
    return status;
}

atn_status reg_part(reg_level *level, int32_t k, reg_side **out) {
    *out = k ? &level->more[k - 1] : &level->source;
    for (int32_t other = 0; other <= level->n_more; ++other)
        if (other != k) reg_side_park(other ? &level->more[other - 1] : &level->source);
    return reg_side_unpark(*out);
}

/* Levels are made from fine to coarse, each from the one before, and then turned round. */
atn_status reg_levels_make(reg_problem *p, bool pyramid) {
    if (p->levels) return ATN_OK;
    double since = atn_clock_seconds();
    cloud_points fine[2] = {p->source, p->target}, coarse[2] = {{0}, {0}};
    bool owned = false;
    double edge = 2 * p->spacing, last = p->spacing; /* in units */
    atn_status status = make_sides(p, &fine[0], &fine[1], &p->level[0]);
    p->levels = 1;
    while (status == ATN_OK && pyramid && p->levels < REG_MOST_LEVELS && edge > 0) {
        for (int k = 0; k < 2 && status == ATN_OK; ++k)
            status = cloud_points_merge(&fine[k], edge * p->unit, &coarse[k]);
        bool small = status == ATN_OK && (coarse[0].count < FEWEST || coarse[1].count < FEWEST);
        double worth = edge >= APART * last ? CROWDED : WORTH;
        bool useful = status == ATN_OK &&
                      (double)(coarse[0].count + coarse[1].count) < worth * (double)(fine[0].count + fine[1].count);
        if (status == ATN_OK && useful && !small) {
            reg_level *level = &p->level[p->levels++];
            level->edge = last = edge;
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
    const reg_box *box = &p->level[p->levels - 1].bounds;
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
        reg_level *level = &p->level[k];
        for (int32_t part = 0; level->more && part < p->parts - 1; ++part) reg_side_free(&level->more[part]);
        atn_free(p->engine.ctx, level->more);
        level->more = NULL;
        level->n_more = 0;
        reg_side_free(&level->source);
        reg_side_free(&level->target);
    }
    p->levels = 0;
}
