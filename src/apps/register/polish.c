/* The last steps of a rigid pose: each source point and the nearest target point, distances weighed by what both clouds
 * look like there (as in generalized ICP, Segal and others 2009). Gauss-Newton steps with Tukey's weights; pairs may be
 * the less apart the longer it goes on. */
#include "apps/register/polish.h"

#include "geom/eigen.h"

#include <math.h>

static const double NARROWER = 0.6;               /* of how far they may be apart, from step to step */
static const double NARROWEST = 0.3, MOTIONS = 3; /* less, down to that, where it is so many of the last motion */
static const double COARSE = 4;  /* a level's source is used while pairs may be that many of its edges apart */
static const double CALM = 0.1;  /* motion, in spacings, from which on nothing else changes */
static const double ASTRAY = 16; /* times as far as pairs may be apart to begin with: it ran away */
static const double DONE = 3e-3; /* motion, in spacings, that ends it */
enum { STEPS = 50, HALF = STEPS / 2 };
enum { FEWEST = 2000 }; /* points of a source that stand for all */

/* Few points as long as pairs may be far apart, or another pose is found with half as many along each side. */
static reg_side *rows_for(const reg_polish_state *s, double reach) {
    reg_level *level = reg_level_for(s->p, reach / COARSE), *of = s->surface->level;
    if (!s->fine && level >= of && of > s->p->level && (of - 1)->source.count >= FEWEST) level = of - 1;
    return level < of ? &level->source : s->all;
}

static atn_status steps(reg_polish_state *s, double reach) {
    reg_problem *p = s->p;
    geom_pose pose = p->pose;
    double began = reach;
    for (int k = 0; (k < STEPS || s->whole) && (s->quiet || p->iterations < p->settings->most_iterations); ++k) {
        double inverse[36], twist[6];
        s->source = rows_for(s, reach);
        atn_status status = reg_polish_step(s, &pose, reach);
        if (status != ATN_OK) return status;
        p->iterations += !s->quiet;
        s->lost = !(s->weight > 0);
        if (!geom_invert_symmetric(6, s->h, inverse)) return ATN_OK;
        for (int i = 0; i < 6; ++i) {
            twist[i] = 0;
            for (int j = 0; j < 6; ++j) twist[i] += inverse[6 * i + j] * s->g[j];
        }
        geom_pose by = geom_pose_exp(twist), next = geom_pose_compose(&by, &pose);
        double motion = reg_motion(p, &pose, &next);
        if (!s->whole && reg_motion(p, &p->pose, &next) > ASTRAY * began) return ATN_OK; /* as if nothing had been */
        if (!s->quiet)
            status = reg_step_done(p, reach, sqrt(s->cost / fmax(s->weight, 1e-300)), motion, s->source->count,
                                   s->target->count);
        if (status != ATN_OK) return status;
        double least = REG_POLISH_NEAREST * s->surface->spacing;
        bool narrow = reach <= 1.01 * least && s->source == s->all;
        if (reach <= 1.01 * least && (motion < CALM * s->surface->spacing || k > HALF)) s->fine = true;
        pose = next;
        s->settled = narrow && motion < CALM * s->surface->spacing;
        if (s->whole) p->pose = pose;
        bool last = (k == STEPS - 1 && !s->whole) || (!s->quiet && p->iterations == p->settings->most_iterations);
        if (narrow && motion < (last ? CALM : DONE) * s->surface->spacing) {
            p->pose = pose;
            p->converged = true;
            p->far = least;
            p->share = s->fits / s->surface->level->weight;
            return ATN_OK;
        }
        if (!s->settled) reach = fmax(fmin(NARROWER * reach, fmax(NARROWEST * reach, MOTIONS * motion)), least);
    }
    return ATN_OK;
}

static atn_status polish(reg_problem *p, const reg_surface *surface, double reach, bool quiet) {
    reg_level *level = surface->level;
    reg_polish_state s;
    atn_status status = reg_polish_open(p, surface, &level->source, &level->target, &s);
    s.quiet = quiet;
    s.together = true;
    if (status == ATN_OK) status = steps(&s, reach);
    reg_polish_close(&s);
    return status;
}

atn_status reg_polish(reg_problem *p, const reg_surface *surface, double reach) {
    return polish(p, surface, reach, false);
}

atn_status reg_polish_whole(reg_problem *p, const reg_surface *surface, double reach, bool *lost) {
    reg_polish_state s;
    atn_status status = reg_polish_open(p, surface, &surface->level->source, &surface->level->target, &s);
    s.whole = true;
    s.together = true;
    if (status == ATN_OK) status = steps(&s, reach);
    *lost = s.lost;
    reg_polish_close(&s);
    return status;
}

atn_status reg_polish_aside(reg_problem *p, const reg_surface *surface, double reach, geom_pose *out, bool *converged) {
    geom_pose pose = p->pose;
    double far = p->far, share = p->share, evaluated = p->engine.evaluated;
    bool before = p->converged;
    p->converged = false;
    atn_status status = polish(p, surface, reach, true);
    *converged = status == ATN_OK && p->converged;
    *out = p->pose;
    p->pose = pose;
    p->far = far;
    p->share = share;
    p->converged = before;
    p->engine.evaluated = evaluated;
    return status;
}
