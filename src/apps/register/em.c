/* EM-ICP (Granger and Pennec 2002): soft pairs a = exp(-|x - R y - t|^2 / sigma^2) with an outlier class exp(-d0^2 /
 * sigma^2), the best map for them, a smaller sigma; at the last sigma until nothing moves. While sigma is large fewer
 * points are used, while it is small far pairs are left out: all that are left out of a point's sums weigh less than
 * error_bound times its outlier class, W exp(-r^2 / sigma^2) <= error_bound exp(-d0^2 / sigma^2), W the weight of the
 * whole target. */
#include "apps/register/anderson.h"
#include "apps/register/beside.h"
#include "apps/register/surface.h"

#include "base/clock.h"

#include <math.h>

static const double COARSE = 1.5;      /* a level is used while sigma is that many times its edge */
static const double OUTLIER = 2;       /* d0 in sigmas, where noise ended the annealing */
static const double CALM = 0.1;        /* motion, in sigmas, below which residuals are noise and not the way to go */
static const double NARROWER = 0.25;   /* from start to start */
static const double NARROWEST = 0.15;  /* units: no start is narrower than a quarter of that */
static const double SURE = 0.75;       /* share of the source that fits, beyond which nothing else is tried */
static const double ROUGH = 6;         /* spacings that sigma falls to before the polish */
static const double POLISH = 3;        /* sigmas that pairs may be apart when it begins */
static const double FAR_OUT = 40;      /* d0^2 / sigma^2 from which on sums could underflow beside the outlier class */
static const double STILL = 0.02;      /* motion, in sigmas, below which sigma may fall faster */
static const double DONE = 2e-3;       /* motion, in sigmas, that ends the last stage */
static const double NOISE = 1.5;       /* residuals that sigma does not fall below */
static const double FREE_SCALE = 0.35; /* sigma, in units, from which on scale and shear are fitted */
static const double NEAR = 0.1;        /* sigma, in units, from which on the pose is next to the answer */
enum { LAST_STEPS = 100 };             /* at the last sigma */
enum { INSTEAD = 20 };                 /* iterations with soft pairs to the end where the polish found no hold */

/* What one E-step and M-step give. */
typedef struct em_step {
    geom_pose next;
    geom_moments moments;
    bool fits;
} em_step;

static atn_transform_kind kind_at(const reg_problem *p, double sigma) {
    return sigma > FREE_SCALE ? ATN_TRANSFORM_RIGID : p->settings->transform;
}

/* d0^2 / sigma^2, and what it weighs. */
static double outlier_at(const reg_problem *p, double sigma, double *weight) {
    double ratio2 = p->far / sigma * (p->far / sigma);
    *weight = exp2(-ratio2 * M_LOG2E);
    return ratio2;
}

static atn_status expect(reg_problem *p, reg_level *level, const geom_pose *pose, double sigma, em_step *out) {
    reg_engine *e = &p->engine;
    double k = sqrt(M_LOG2E) / sigma, outlier, ratio2 = outlier_at(p, sigma, &outlier);
    geom_pose rows = geom_pose_scaled(pose, k), columns = geom_pose_scaled(&GEOM_IDENTITY, k); /* so that a = 2^-d^2 */
    double reach = sqrt(ratio2 * M_LOG2E + log2(level->target.total / p->settings->error_bound));
    bool together = ratio2 <= FAR_OUT && reg_step_together(p, level, pose, k, outlier, &out->moments);
    atn_status status = together ? atn_check_cancel(e->ctx) : reg_place(e, &level->target, &columns);
    if (!together) out->moments = (geom_moments){0};
    for (int32_t part = 0; part <= level->n_more && status == ATN_OK && !together; ++part) {
        reg_side *source;
        geom_moments moments;
        status = reg_part(level, part, &source);
        if (status == ATN_OK) status = reg_place(e, source, &rows);
        if (status == ATN_OK && ratio2 > FAR_OUT)
            status = reg_step_shifted(e, source, &level->target, ratio2 * M_LOG2E, k, &moments);
        else {
            if (status == ATN_OK) status = reg_estep(e, source, &level->target, reach, false);
            if (status == ATN_OK) status = reg_mstep(e, source, outlier, k, &moments);
        }
        if (status == ATN_OK) geom_moments_add(&out->moments, &moments);
    }
    if (status != ATN_OK) return status;
    double since = atn_clock_seconds();
    geom_pose by;
    out->fits = geom_fit(&out->moments, kind_at(p, sigma), &by);
    out->next = geom_pose_compose(&by, pose);
    p->sigma = sigma;
    p->outlier2 = ratio2;
    ++p->iterations;
    reg_timed(e, REG_FIT, since);
    return ATN_OK;
}

/* Nothing runs without bound: iterations, or pairs where nobody said how many of the former there may be. */
static bool may_go_on(const reg_problem *p) {
    return p->iterations < p->settings->most_iterations && p->engine.evaluated < p->most_pairs;
}

static atn_status report(reg_problem *p, const reg_level *level, double sigma, const em_step *step, double motion) {
    double rmse = step->moments.weight > 0 ? sqrt(step->moments.residual / step->moments.weight) : 0;
    return reg_step_done(p, sigma, rmse, motion, level->count, level->target.count);
}

/* Noise leaves a residual however small sigma gets: below it, pairs follow the noise. */
static bool reached_noise(const em_step *step, double sigma) {
    return step->moments.weight > 0 && sigma < NOISE * sqrt(step->moments.residual / step->moments.weight);
}

/* sigma falls: by its factor, or by the square of it and more while nothing moves. */
static atn_status anneal(reg_problem *p, double sigma, double last, double *end, bool *lost) {
    *end = last;
    double factor = sqrt(p->settings->sigma_factor);
    atn_status status = ATN_OK;
    while (sigma > last && status == ATN_OK && may_go_on(p)) {
        em_step step;
        reg_level *level = reg_level_for(p, sigma / COARSE);
        status = expect(p, level, &p->pose, sigma, &step);
        if (status != ATN_OK) return status;
        if (!step.fits) {
            *lost = true;
            return ATN_OK;
        }
        double motion = reg_motion(p, &p->pose, &step.next);
        p->pose = step.next;
        status = report(p, level, sigma, &step, motion);
        if (p->open_end && motion < CALM * sigma && reached_noise(&step, sigma)) {
            *end = sigma;
            if (p->open_far) p->far = fmax(p->far, OUTLIER * sigma);
            break;
        }
        double faster = motion < STILL * sigma && !p->settings->no_acceleration ? factor * factor * factor : factor;
        double next = fmax(sigma * faster, last);
        if (sigma > NEAR && next <= NEAR) reg_rivals_again(p);
        sigma = next;
    }
    return status;
}

/* At one sigma until the step is small; Anderson steps that lower the likelihood are taken back. */
static atn_status settle(reg_problem *p, double sigma, int32_t most, bool *lost) {
    bool rigid = p->settings->transform == ATN_TRANSFORM_RIGID && !p->settings->no_acceleration;
    reg_level *level = &p->level[p->levels - 1];
    reg_anderson history;
    reg_anderson_begin(&history, &p->pose);
    geom_pose plain = p->pose;
    double best = -INFINITY;
    bool bold = false; /* p->pose is a guess of the acceleration */
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < most && status == ATN_OK && may_go_on(p); ++k) {
        em_step step;
        status = expect(p, level, &p->pose, sigma, &step);
        if (status != ATN_OK) return status;
        if (!step.fits) {
            *lost = true;
            return ATN_OK;
        }
        if (bold && step.moments.likelihood < best - 1e-9 * fabs(best)) {
            p->pose = plain;
            bold = false;
            reg_anderson_begin(&history, &p->pose);
            status = report(p, level, sigma, &step, 0);
            continue;
        }
        best = step.moments.likelihood;
        double motion = reg_motion(p, &p->pose, &step.next);
        status = report(p, level, sigma, &step, motion);
        plain = step.next;
        if (motion < DONE * sigma) {
            p->pose = plain;
            p->converged = true;
            return status;
        }
        bold = rigid && reg_anderson_next(&history, &p->pose, &plain, &p->pose);
        if (!bold) p->pose = plain;
    }
    return status;
}

/* What an attempt left behind. */
typedef struct attempt {
    geom_pose pose;
    double end, far;
    bool converged;
} attempt;

static void keep(const reg_problem *p, double end, attempt *out) {
    *out = (attempt){.pose = p->pose, .end = end, .far = p->far, .converged = p->converged};
}

static void restore(reg_problem *p, const attempt *from) {
    p->pose = from->pose;
    p->far = from->far;
    p->converged = from->converged;
}

/* How far a start is from the answer nobody knows: a wide beginning forgets it, which partial views do not forgive, a
 * narrow one does not find far turns. Unless the first fits nearly everywhere, narrower ones are tried too, and the one
 * that fits most is taken. Annealing down to `rough`, then the polish. */
static atn_status attempts(reg_problem *p, double start, double last, double *end, bool *lost) {
    reg_surface *surface;
    attempt first, best;
    double most = -1;
    atn_status status = reg_surface_of(p, &surface);
    if (status != ATN_OK) return status;
    double rough = fmax(last, ROUGH * surface->spacing);
    keep(p, start, &first);
    best = first;
    bool any = false;
    for (double sigma = start;; sigma *= NARROWER) {
        bool nothing = false;
        restore(p, &first);
        status = anneal(p, sigma, rough, end, &nothing);
        *end = fmin(*end, sigma);
        p->share = 0;
        if (status == ATN_OK && !nothing) status = reg_polish(p, surface, POLISH * *end);
        if (status != ATN_OK) break;
        any = any || !nothing;
        if (!nothing && p->share > most) {
            keep(p, *end, &best);
            most = p->share;
        }
        if (most > SURE || !p->open_start || sigma < NARROWEST || sigma <= rough) break;
        if (!may_go_on(p)) break;
    }
    restore(p, &best);
    *end = best.end;
    *lost = !any;
    if (status == ATN_OK && p->converged) status = reg_polish_end(p, surface);
    return status;
}

atn_status reg_em_icp(reg_problem *p) {
    bool lost = false;
    double start = p->settings->sigma_start / p->unit, last = p->settings->sigma_end / p->unit, end = start;
    atn_status status = ATN_OK;
    bool polished = p->polished && p->spacing > 0 && p->source_spacing > 0;
    if (polished) status = attempts(p, start, last, &end, &lost);
    int32_t before = p->iterations;
    if (status == ATN_OK && !lost && !p->converged) status = anneal(p, end, last, &end, &lost);
    int32_t most = polished ? INSTEAD - (p->iterations - before) : LAST_STEPS;
    if (status == ATN_OK && !lost && !p->converged) status = settle(p, end, most, &lost);
    if (status == ATN_OK) reg_ended(p, lost);
    return status;
}
