/* ICP (Besl and McKay 1992; along normals, Chen and Medioni 1992): each source point and the nearest target point, the
 * best map for these pairs, again. Pairs may be as far apart as the target is large to begin with; that distance falls
 * to a few spacings, unless the caller gives one. While it is large fewer points of both clouds are used. */
#include "apps/register/anderson.h"
#include "apps/register/pairs.h"
#include "apps/register/share.h"

#include <math.h>
#include <stdio.h>

static const double FALL = 0.85; /* of the largest distance, from step to step */
static const double COARSE = 4;  /* a level is used while pairs may be that many times its edge apart */
static const double END = 1.5;   /* outlier distances that pairs may be apart at the end */
static const double PLANES = 8;  /* spacings: while pairs may be farther apart than that, points are fitted */
static const double FREE = 1;    /* distance, in units, from which on scale and shear are fitted */
static const double DONE = 5e-4; /* motion, in spacings, that ends it */
static const double NEAR = 0.2;  /* motion, in spacings, that is none where the cost falls no more */
enum { IDLE = 8 };               /* steps without a lower cost: pairs come and go in turn */
enum { FEWEST = 3 };             /* pairs that tell a turn */

typedef struct icp {
    reg_problem *p;
    reg_pairs pairs;
    bool plane;
    double far;            /* pairs may be that far apart now */
    const reg_side *known; /* of these points every one had a partner, `most` away at most, */
    geom_pose known_at;    /* when they were here; NULL: not known */
    double most;
} icp;

static double diagonal(const reg_box *box) {
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis) sum += (box->high[axis] - box->low[axis]) * (box->high[axis] - box->low[axis]);
    return sqrt(sum);
}

static atn_transform_kind kind_at(const icp *s) {
    return s->far > FREE && s->p->open_far ? ATN_TRANSFORM_RIGID : s->p->settings->transform;
}

/* Pairs at p->pose and the step they ask for; lost where there are too few. */
static atn_status step(icp *s, reg_level *level, reg_pairs_step *out, bool *lost) {
    reg_problem *p = s->p;
    const reg_side *source = &level->source;
    double reach = s->far;
    if (s->known == source) reach = fmin(reach, 1.001 * (s->most + reg_motion(p, &s->known_at, &p->pose)) + 1e-6);
    s->pairs.plane = s->plane && (!p->open_far || s->far <= PLANES * p->spacing);
    atn_status status = reg_pairs_find(&s->pairs, level, &p->pose, reach);
    if (status != ATN_OK) return status;
    reg_pairs_fit(&s->pairs, &p->pose, s->far, kind_at(s), out);
    status = reg_share_same(&p->engine, out, sizeof *out);
    if (status != ATN_OK) return status;
    s->known = s->pairs.count == source->count ? source : NULL;
    s->known_at = p->pose;
    s->most = s->pairs.most;
    ++p->iterations;
    p->sigma = s->far;
    size_t enough = source->count < FEWEST ? source->count : FEWEST;
    *lost = !out->fits || s->pairs.count < enough;
    if (*lost && s->pairs.count)
        snprintf(p->reason, sizeof p->reason, "only %zu source points have a target point within %.3g: too few to fit",
                 s->pairs.count, s->far * p->unit);
    else if (*lost)
        snprintf(p->reason, sizeof p->reason,
                 "no source point has a target point within %.3g%s: another start, such as auto, or a larger distance "
                 "may help",
                 s->far * p->unit, s->plane ? ", with a normal" : "");
    return ATN_OK;
}

/* The largest distance falls. */
static atn_status approach(icp *s, double last, bool *lost) {
    reg_problem *p = s->p;
    atn_status status = ATN_OK;
    while (s->far > last && status == ATN_OK && !*lost && p->iterations < p->settings->most_iterations) {
        reg_pairs_step next;
        reg_level *level = reg_level_for(p, s->far / COARSE);
        status = step(s, level, &next, lost);
        if (status != ATN_OK || *lost) return status;
        double motion = reg_motion(p, &p->pose, &next.next);
        p->pose = next.next;
        status = reg_step_done(p, s->far, next.rmse, motion, level->source.count, s->pairs.target->count);
        s->far = fmax(s->far * FALL, last);
        if (!(p->settings->robust_scale > 0)) s->pairs.scale = 0;
    }
    return status;
}

/* At one distance until the step is small, or nothing is gained by more of them; Anderson steps that cost more are
 * taken back. */
static atn_status settle(icp *s, bool *lost) {
    reg_problem *p = s->p;
    bool bold = false, rigid = p->settings->transform == ATN_TRANSFORM_RIGID && !p->settings->no_acceleration;
    reg_level *level = &p->level[p->levels - 1];
    const reg_side *source = &level->source;
    reg_anderson history;
    reg_anderson_begin(&history, &p->pose);
    geom_pose plain = p->pose, lowest_at = p->pose;
    double best = INFINITY, lowest = INFINITY;
    int idle = 0;
    atn_status status = ATN_OK;
    p->converged = false;
    while (status == ATN_OK && p->iterations < p->settings->most_iterations) {
        reg_pairs_step next;
        status = step(s, level, &next, lost);
        if (status != ATN_OK || (*lost && !bold)) return status;
        if (bold && (*lost || next.cost > best * (1 + 1e-9))) {
            *lost = false;
            p->reason[0] = 0;
            p->pose = plain;
            bold = false;
            reg_anderson_begin(&history, &p->pose);
            status = reg_step_done(p, s->far, next.rmse, 0, source->count, s->pairs.target->count);
            continue;
        }
        best = next.cost;
        double motion = reg_motion(p, &p->pose, &next.next);
        status = reg_step_done(p, s->far, next.rmse, motion, source->count, s->pairs.target->count);
        plain = next.next;
        if (next.cost < lowest * (1 - 1e-6)) {
            lowest = next.cost;
            lowest_at = p->pose;
            idle = 0;
        } else if (++idle > IDLE && motion < NEAR * p->spacing) {
            p->pose = lowest_at;
            p->converged = true;
            return status;
        }
        if (motion <= DONE * p->spacing || motion < 1e-12) {
            p->converged = true;
            return status;
        }
        bold = rigid && reg_anderson_next(&history, &p->pose, &plain, &p->pose);
        if (!bold) p->pose = plain;
    }
    return status;
}

static atn_status work(icp *s, bool *lost) {
    reg_problem *p = s->p;
    const atn_register_settings *settings = p->settings;
    double given = settings->outlier_distance / p->unit, extent = diagonal(&s->pairs.target->bounds);
    double last = !p->open_far ? given : END * given;
    s->far = !p->open_far ? given : fmax(extent, last);
    atn_status status = approach(s, last, lost);
    if (status == ATN_OK && !*lost) status = settle(s, lost);
    if (status == ATN_OK && p->converged && settings->robust != ATN_ROBUST_NONE && !(settings->robust_scale > 0)) {
        s->pairs.scale = 0; /* pairs are nearer now: their median is another */
        status = settle(s, lost);
    }
    return status;
}

atn_status reg_icp(reg_problem *p) {
    icp s = {.p = p, .plane = p->settings->method == ATN_REGISTER_ICP_PLANE};
    bool lost = false;
    if (s.plane && p->settings->transform != ATN_TRANSFORM_RIGID)
        return atn_fail(p->engine.ctx, ATN_ERR_INPUT,
                        "register: icp-plane is rigid; use icp or em-icp for similarity and affine transforms");
    atn_status status = reg_pairs_open(p, s.plane, &s.pairs);
    if (status == ATN_OK) status = work(&s, &lost);
    if (status == ATN_OK) reg_ended(p, lost);
    reg_pairs_close(&s.pairs);
    return status;
}
