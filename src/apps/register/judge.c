/* How close the clouds are to each other in the result, and detection of clouds that determine no pose. */
#include "apps/register/judge.h"
#include "apps/register/distribute.h"
#include "geom/nth.h"

#include "base/compare.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "geom/eigen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double ALONE = 5;              /* radii that a point is away, which no line has */
static const double WITHIN = 3, NOISES = 4; /* spacings of the target, deviations: as far may a partner be */

enum { LOOKED_AT = 100000 }; /* points of the source that rmse and overlap are taken from, about */

/* Sums over stretches of points, by all cores, in an order that does not depend on their number. */
enum { STRETCH = 16384, MOST_STRETCHES = 2048 };
typedef struct spreading {
    const cloud_points *points;
    const double *origin;
    size_t stretch;
    struct {
        double of[6], weight, farthest2; /* xx xy xz yy yz zz */
    } sum[MOST_STRETCHES];
} spreading;

static void spread_some(void *user, int64_t from, int64_t to) {
    spreading *t = user;
    const cloud_points *p = t->points;
    const double *x = p->position[0], *y = p->position[1], *z = p->position[2], *o = t->origin;
    for (size_t s = (size_t)from; s < (size_t)to; ++s) {
        size_t end = (s + 1) * t->stretch < p->count ? (s + 1) * t->stretch : p->count;
        double m[6] = {0}, weight = 0, farthest2 = 0;
        for (size_t k = s * t->stretch; k < end; ++k) {
            double w = (double)p->weight[k], d[3] = {x[k] - o[0], y[k] - o[1], z[k] - o[2]};
            double away2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            m[0] += w * d[0] * d[0], m[1] += w * d[0] * d[1], m[2] += w * d[0] * d[2];
            m[3] += w * d[1] * d[1], m[4] += w * d[1] * d[2], m[5] += w * d[2] * d[2];
            weight += w;
            away2 = w > 0 ? away2 : 0;
            farthest2 = away2 > farthest2 ? away2 : farthest2;
        }
        memcpy(t->sum[s].of, m, sizeof m);
        t->sum[s].weight = weight;
        t->sum[s].farthest2 = farthest2;
    }
}

reg_usual reg_usual_of(const cloud_points *points) {
    enum { SAMPLE = 1023 };
    double at[3][SAMPLE], distance[SAMPLE], *middle;
    size_t count = points->count < SAMPLE ? points->count : SAMPLE;
    reg_usual out = {.radius = 0};
    middle = out.middle;
    if (count == 0) return out;
    for (size_t k = 0; k < count; ++k)
        for (int d = 0; d < 3; ++d) at[d][k] = points->position[d][points->count / count * k];
    for (int d = 0; d < 3; ++d) {
        memcpy(distance, at[d], count * sizeof *distance);
        middle[d] = geom_nth(distance, count, count / 2);
    }
    for (size_t k = 0; k < count; ++k) {
        double way[3] = {at[0][k] - middle[0], at[1][k] - middle[1], at[2][k] - middle[2]};
        distance[k] = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
    }
    out.radius = geom_nth(distance, count, count / 2);
    return out;
}

typedef struct asking {
    const cloud_points *points[2];
    reg_usual *of[2];
} asking;

static void ask_one(void *user, int64_t from, int64_t to) {
    const asking *t = user;
    for (int64_t k = from; k < to; ++k) *t->of[k] = reg_usual_of(t->points[k]);
}

void reg_find_usual(reg_problem *p, const cloud_points *source, const cloud_points *target) {
    atn_parallel_pieces(2, ask_one, &(asking){{source, target}, {&p->source_usual, &p->target_usual}});
}

double reg_leave_strays(const reg_usual *usual, double radius, double origin[3]) {
    if (!(usual->radius > 0) || !(radius > REG_STRAY * usual->radius)) return radius;
    memcpy(origin, usual->middle, sizeof usual->middle);
    return REG_STRAY / 10 * usual->radius;
}

void reg_spread_of(const cloud_points *p, const double origin[3], reg_spread *out) {
    spreading t = {.points = p, .origin = origin, .stretch = STRETCH};
    static const int PLACE[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    double weight = 0, farthest2 = 0;
    if (p->count / t.stretch >= MOST_STRETCHES) t.stretch = p->count / MOST_STRETCHES + 1;
    size_t stretches = (p->count + t.stretch - 1) / t.stretch;
    *out = (reg_spread){.radius = 0};
    atn_parallel((int64_t)stretches, 1, spread_some, &t);
    for (size_t s = 0; s < stretches; ++s) {
        for (int i = 0; i < 9; ++i) out->shape[i] += t.sum[s].of[PLACE[i]];
        weight += t.sum[s].weight;
        farthest2 = fmax(farthest2, t.sum[s].farthest2);
    }
    double square = out->shape[0] + out->shape[4] + out->shape[8];
    out->radius = weight > 0 ? sqrt(square / weight) : 0;
    for (int i = 0; i < 9 && square > 0; ++i) out->shape[i] /= square;
    out->farthest = sqrt(farthest2);
}

/* Over one side of the source, which weighs `by` times as much as it has points for. */
static atn_status measure_side(reg_problem *p, reg_side *source, reg_side *target, double by, double reach, double *sum,
                               double *weight) {
    const atn_ctx *ctx = p->engine.ctx;
    double *distance2 = atn_alloc(ctx, source->padded * sizeof *distance2);
    int32_t *index = atn_alloc(ctx, source->padded * sizeof *index);
    atn_status status = distance2 && index ? reg_side_fetch(source) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = reg_place(&p->engine, source, &p->pose);
    if (status == ATN_OK) status = reg_nearest(&p->engine, source, target, reach, distance2, index);
    for (size_t k = 0; k < source->padded && status == ATN_OK; ++k)
        if (index[k] >= 0) {
            *weight += by * (double)source->weight[k];
            *sum += by * (double)source->weight[k] * distance2[k];
        }
    atn_free(ctx, distance2);
    atn_free(ctx, index);
    return status;
}

/* Blocks of the source stand for all of it where there are many. */
static atn_status measure_part(reg_problem *p, reg_side *all, reg_side *target, double reach, double *sum,
                               double *weight) {
    if (all->padded < LOOKED_AT && p->parts == 1) return measure_side(p, all, target, 1, reach, sum, weight);
    reg_side some;
    atn_status status = reg_side_sample(&p->engine, all, all->padded / LOOKED_AT + 1, &some);
    if (status != ATN_OK) return status;
    status = measure_side(p, &some, target, all->total / fmax(some.total, 1e-300), reach, sum, weight);
    reg_engine_forget(&p->engine, &some);
    reg_side_free(&some);
    return status;
}

/* The same pose and reach as when it was last asked. */
static bool is_measured(const reg_problem *p, double reach) {
    return p->measured.there && p->measured.reach == reach &&
           atn_same_bits(&p->measured.pose, &p->pose, sizeof p->pose);
}

static atn_status measure(reg_problem *p, double reach) {
    reg_level *level = &p->level[p->levels - 1];
    reg_side *target = &level->target;
    double evaluated = p->engine.evaluated, sum = 0, weight = 0;
    bool done = reg_measure_together(p, level, reach, &sum, &weight);
    atn_status status = done ? ATN_OK : reg_place(&p->engine, target, &GEOM_IDENTITY);
    for (int32_t part = 0; part <= level->n_more && status == ATN_OK && !done; ++part) {
        reg_side *source = part ? &level->more[part - 1] : &level->source;
        status = p->engine.joins ? measure_side(p, source, target, 1, reach, &sum, &weight)
                                 : measure_part(p, source, target, reach, &sum, &weight);
    }
    double sums[3] = {sum, weight, level->weight};
    if (status == ATN_OK) status = reg_join_sums(&p->engine, sums, 3);
    p->engine.evaluated = evaluated; /* a check, no work of the method */
    p->measured.there = status == ATN_OK;
    p->measured.pose = p->pose;
    p->measured.reach = reach;
    p->measured.rmse = sums[1] > 0 ? sqrt(sums[0] / sums[1]) * p->unit : 0;
    p->measured.overlap = sums[1] / sums[2];
    return status;
}

static double reach_of(const reg_problem *p) {
    double reach = fmax(WITHIN * p->spacing, NOISES * p->noise);
    return reach > 0 ? reach : 1e-9;
}

atn_status reg_measure(reg_problem *p, atn_register_result *r) {
    double reach = reach_of(p);
    atn_status status = is_measured(p, reach) ? ATN_OK : measure(p, reach);
    r->rmse = p->measured.rmse;
    r->overlap = p->measured.overlap;
    r->inlier_distance = reach * p->unit;
    return status;
}

bool judge_degenerate(const reg_problem *p, char *why, size_t bytes) {
    static const char *const WHICH[] = {"source", "target"};
    const reg_spread *spreads[2] = {&p->source_spread, &p->target_spread};
    for (int c = 0; c < 2; ++c) {
        double value[3], vector[9], size = spreads[c]->radius;
        if (!(size > 0)) {
            snprintf(why, bytes, "all %s points coincide: the rotation is undetermined", WHICH[c]);
            return true;
        }
        geom_eigen(3, spreads[c]->shape, value, vector);
        if (value[1] >= 1e-12 * value[2]) continue;
        if (spreads[c]->farthest > ALONE * size)
            snprintf(why, bytes, "a %s point is %.3g away from the others, which coincide on that scale: leave it out",
                     WHICH[c], spreads[c]->farthest);
        else
            snprintf(why, bytes, "the %s points lie on a line: the rotation about it is undetermined", WHICH[c]);
        return true;
    }
    return false;
}
