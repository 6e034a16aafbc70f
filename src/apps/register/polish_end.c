/* The end of a polish: the last steps over the points of cells, and the remaining uncertainty. */
#include "apps/register/polish.h"

#include "geom/eigen.h"

#include <math.h>

static const double LAST_REACH = 1.25, LAST_DONE = 5e-3; /* how far pairs may be apart, what ends it, in spacings */
static const double PLANES_REACH = 2.5;                  /* the former where the target's planes alone count */
enum { LAST_STEPS = 12 };

/* Steps fall by a constant factor from one to the next, since pairs follow along the surface: longer ones end sooner.
 */
static atn_status last_steps(reg_polish_state *s, double reach) {
    static const double LONGER = 1.5;
    reg_problem *p = s->p;
    geom_pose pose = p->pose;
    for (int k = 0; k < LAST_STEPS; ++k) {
        double inverse[36], twist[6];
        atn_status status = reg_polish_step(s, &pose, reach);
        if (status != ATN_OK) return status;
        if (!geom_invert_symmetric(6, s->h, inverse)) return ATN_OK;
        for (int i = 0; i < 6; ++i) {
            twist[i] = 0;
            for (int j = 0; j < 6; ++j) twist[i] += LONGER * inverse[6 * i + j] * s->g[j];
        }
        geom_pose by = geom_pose_exp(twist), next = geom_pose_compose(&by, &pose);
        double motion = reg_motion(p, &pose, &next);
        if (reg_motion(p, &p->pose, &next) > reach) return ATN_OK; /* as if nothing had been */
        pose = next;
        s->settled = true;
        if (motion < LAST_DONE * s->surface->spacing) {
            p->pose = pose;
            break;
        }
    }
    return ATN_OK;
}

atn_status reg_polish_last(reg_problem *p, const reg_surface *finer) {
    reg_polish_state s = {0};
    atn_status status = reg_polish_open(p, finer, &finer->level->source, &finer->level->target, &s);
    s.together = true;
    if (status == ATN_OK) status = last_steps(&s, (finer->planes ? PLANES_REACH : LAST_REACH) * finer->spacing);
    reg_polish_close(&s);
    return status;
}

/* Merged points lie inside of what is curved, and planes of one cloud alone outside: all points take part where no
 * level between would. */
atn_status reg_polish_finer(reg_problem *p, const reg_surface *surface) {
    reg_surface from = *surface, finer = {0};
    reg_level *finest = &p->level[p->fine - 1];
    if (!from.finer && from.level != finest) from.finer = finest;
    if (!from.finer) return ATN_OK;
    atn_status status = reg_surface_finer(p, &from, &finer);
    if (status == ATN_OK) status = reg_polish_last(p, &finer);
    reg_surface_free(&finer);
    return status;
}

atn_status reg_polish_end(reg_problem *p, const reg_surface *surface) {
    reg_surface finer = {0};
    atn_status status = ATN_OK;
    if (surface->finer) status = reg_surface_finer(p, surface, &finer);
    if (status == ATN_OK && surface->finer) status = reg_polish_last(p, &finer);
    reg_span span = reg_begin(&p->engine);
    if (status == ATN_OK && !p->settings->no_covariance) reg_judge_begin(p);
    if (status == ATN_OK && !p->settings->no_covariance) status = reg_covariance(p, surface->finer ? &finer : surface);
    reg_end(&p->engine, REG_COVARIANCE, span);
    reg_surface_free(&finer);
    return status;
}
