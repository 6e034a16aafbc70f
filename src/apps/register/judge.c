/* How near the clouds came to each other, and clouds of which no pose can be told. */
#include "apps/register/judge.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>

static const double ALONE = 5;              /* radii that a point is away, which no line has */
static const double WITHIN = 3, NOISES = 4; /* spacings of the target, deviations: as far may a partner be */

enum { LOOKED_AT = 100000 }; /* points of the source that rmse and overlap are taken from, about */

double reg_radius(const cloud_points *p, const double origin[3]) {
    double sum = 0, weight = 0;
    for (size_t k = 0; k < p->count; ++k) {
        double d2 = 0, w = (double)p->weight[k];
        for (int axis = 0; axis < 3; ++axis) {
            double d = p->position[axis][k] - origin[axis];
            d2 += d * d;
        }
        sum += w * d2;
        weight += w;
    }
    return weight > 0 ? sqrt(sum / weight) : 0;
}

/* Blocks of the source stand for all of it where there are many. */
static atn_status measure_part(reg_problem *p, const reg_side *all, reg_side *target, double reach, double *sum,
                               double *weight) {
    const atn_ctx *ctx = p->engine.ctx;
    reg_side some, *source = &some;
    atn_status made = reg_side_sample(all, all->padded / LOOKED_AT + 1, source);
    if (made != ATN_OK) return made;
    double by = all->total / fmax(source->total, 1e-300);
    double *distance2 = atn_alloc(ctx, source->padded * sizeof *distance2);
    int32_t *index = atn_alloc(ctx, source->padded * sizeof *index);
    atn_status status = distance2 && index ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = reg_place(&p->engine, source, &p->pose);
    if (status == ATN_OK) status = reg_nearest(&p->engine, source, target, reach, distance2, index);
    for (size_t k = 0; k < source->padded && status == ATN_OK; ++k)
        if (index[k] >= 0) {
            *weight += by * (double)source->weight[k];
            *sum += by * (double)source->weight[k] * distance2[k];
        }
    atn_free(ctx, distance2);
    atn_free(ctx, index);
    reg_engine_forget(&p->engine, source);
    reg_side_free(source);
    return status;
}

atn_status reg_measure(reg_problem *p, atn_register_result *r) {
    reg_level *level = &p->level[p->levels - 1];
    reg_side *target = &level->target;
    double reach = fmax(WITHIN * p->spacing, NOISES * p->noise);
    if (!(reach > 0)) reach = 1e-9;
    double evaluated = p->engine.evaluated, sum = 0, weight = 0;
    atn_status status = reg_place(&p->engine, target, &REG_IDENTITY);
    for (int32_t part = 0; part <= level->n_more && status == ATN_OK; ++part) {
        const reg_side *source = part ? &level->more[part - 1] : &level->source;
        status = measure_part(p, source, target, reach, &sum, &weight);
    }
    p->engine.evaluated = evaluated; /* a check, no work of the method */
    r->rmse = weight > 0 ? sqrt(sum / weight) * p->unit : 0;
    r->overlap = weight / level->weight;
    r->inlier_distance = reach * p->unit;
    return status;
}

bool judge_degenerate(const reg_problem *p, char *why, size_t bytes) {
    static const char *const WHICH[] = {"source", "target"};
    const cloud_points *clouds[2] = {&p->source, &p->target};
    const double *origins[2] = {p->source_origin, p->target_origin};
    for (int c = 0; c < 2; ++c) {
        double spread[9] = {0}, value[3], vector[9], size = reg_radius(clouds[c], origins[c]), farthest2 = 0;
        if (!(size > 0)) {
            snprintf(why, bytes, "all %s points are at one place: no turn can be told", WHICH[c]);
            return true;
        }
        for (size_t k = 0; k < clouds[c]->count; ++k) {
            double d[3];
            for (int i = 0; i < 3; ++i) d[i] = (clouds[c]->position[i][k] - origins[c][i]) / size;
            for (int i = 0; i < 9; ++i) spread[i] += (double)clouds[c]->weight[k] * d[i / 3] * d[i % 3];
            if (clouds[c]->weight[k] > 0) farthest2 = fmax(farthest2, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }
        reg_eigen(3, spread, value, vector);
        if (value[1] >= 1e-12 * value[2]) continue;
        if (farthest2 > ALONE * ALONE)
            snprintf(why, bytes,
                     "a %s point is %.3g away from the others, which are one place beside that: leave it out", WHICH[c],
                     sqrt(farthest2) * size);
        else
            snprintf(why, bytes, "the %s points lie on a line: a turn about it cannot be told", WHICH[c]);
        return true;
    }
    return false;
}
