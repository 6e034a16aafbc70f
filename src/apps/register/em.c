/* EM-ICP (Granger and Pennec 2002): soft pairs a = exp(-|x - R y - t|^2 / sigma^2) with an outlier class exp(-d0^2 /
 * sigma^2), the best map for them, a smaller sigma; at the last sigma until nothing moves. While sigma is large fewer
 * points are used, while it is small far pairs are left out: all that are left out of a point's sums weigh less than
 * error_bound times its outlier class, W exp(-r^2 / sigma^2) <= error_bound exp(-d0^2 / sigma^2), W the weight of the
 * whole target. */
#include "apps/register/anderson.h"
#include "apps/register/surface.h"

#include "base/clock.h"

#include <math.h>

static const double LOG2E = 1.4426950408889634;
static const double COARSE = 1.5;      /* a level is used while sigma is that many times its edge */
static const double OUTLIER = 2;       /* d0 in sigmas, where noise ended the annealing */
static const double CALM = 0.1;        /* motion, in sigmas, below which residuals are noise and not the way to go */
static const double NARROW = 0.2;      /* of the wide start */
static const double COMPARED = 0.08;   /* of the wide start: where both are compared */
static const double ROUGH = 6;         /* spacings that sigma falls to before the polish */
static const double POLISH = 3;        /* sigmas that pairs may be apart when it begins */
static const double STILL = 0.02;      /* motion, in sigmas, below which sigma may fall faster */
static const double DONE = 2e-3;       /* motion, in sigmas, that ends the last stage */
static const double NOISE = 1.5;       /* residuals that sigma does not fall below */
static const double FREE_SCALE = 0.35; /* sigma, in units, from which on scale and shear are fitted */
enum { LAST_STEPS = 100 };             /* at the last sigma */

/* What one E-step and M-step give. */
typedef struct em_step {
    reg_pose next;
    reg_moments moments;
    bool fits;
} em_step;

static atn_transform_kind kind_at(const reg_problem *p, double sigma) {
    return sigma > FREE_SCALE ? ATN_TRANSFORM_RIGID : p->settings->transform;
}

/* d0^2 / sigma^2, and what it weighs. */
static double outlier_at(const reg_problem *p, double sigma, double *weight) {
    double ratio2 = p->far / sigma * (p->far / sigma);
    *weight = exp2(-ratio2 * LOG2E);
    return ratio2;
}

static atn_status expect(reg_problem *p, reg_level *level, const reg_pose *pose, double sigma, em_step *out) {
    reg_engine *e = &p->engine;
    double k = sqrt(LOG2E) / sigma, outlier, ratio2 = outlier_at(p, sigma, &outlier);
    reg_pose rows = reg_pose_scaled(pose, k), columns = reg_pose_scaled(&REG_IDENTITY, k); /* so that a = 2^-d^2 */
    double reach = sqrt(ratio2 * LOG2E + log2(level->target.total / p->settings->error_bound));
    atn_status status = reg_place(e, &level->target, &columns);
    out->moments = (reg_moments){0};
    for (int32_t part = 0; part <= level->n_more && status == ATN_OK; ++part) {
        reg_side *source;
        reg_moments moments;
        status = reg_part(level, part, &source);
        if (status == ATN_OK) status = reg_place(e, source, &rows);
        if (status == ATN_OK) status = reg_estep(e, source, &level->target, reach, false);
        if (status == ATN_OK) status = reg_mstep(e, source, outlier, k, &moments);
        if (status == ATN_OK) reg_moments_add(&out->moments, &moments);
    }
    if (status != ATN_OK) return status;
    double since = atn_clock_seconds();
    reg_pose by;
    out->fits = reg_fit(&out->moments, kind_at(p, sigma), &by);
    out->next = reg_pose_compose(&by, pose);
    p->sigma = sigma;
    p->outlier2 = ratio2;
    ++p->iterations;
    reg_timed(e, REG_HOST, since);
    return ATN_OK;
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
    while (sigma > last && status == ATN_OK && p->iterations < p->settings->most_iterations) {
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
        sigma = fmax(sigma * faster, last);
    }
    return status;
}

/* At one sigma until the step is small; Anderson steps that lower the likelihood are taken back. */
static atn_status settle(reg_problem *p, double sigma, bool *lost) {
    bool rigid = p->settings->transform == ATN_TRANSFORM_RIGID && !p->settings->no_acceleration;
    reg_level *level = &p->level[p->levels - 1];
    reg_anderson history;
    reg_anderson_begin(&history, &p->pose);
    reg_pose plain = p->pose;
    double best = -INFINITY;
    bool bold = false; /* p->pose is a guess of the acceleration */
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < LAST_STEPS && status == ATN_OK && p->iterations < p->settings->most_iterations; ++k) {
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

/* How far a start is from the answer nobody knows: a wide beginning forgets it, which partial views do not forgive, a
 * narrow one does not find far turns. Both are tried at low resolution, and the likelier end is taken. */
static atn_status begin(reg_problem *p, double wide, double last, double *end, bool *lost) {
    double narrow = NARROW * wide, both = fmax(COMPARED * wide, last);
    if (!p->open_start || p->settings->init == ATN_START_AUTO || both >= narrow) {
        *end = wide;
        return ATN_OK;
    }
    reg_pose start = p->pose, best = start;
    double most = -INFINITY;
    bool any = false;
    for (int k = 0; k < 2; ++k) {
        bool nothing = false;
        em_step step = {.fits = true};
        reg_level *level = reg_level_for(p, both / COARSE);
        p->pose = start;
        atn_status status = anneal(p, k ? narrow : wide, both, end, &nothing);
        bool spent = p->iterations >= p->settings->most_iterations; /* without a step left to compare them */
        if (status == ATN_OK && !nothing && !spent) status = expect(p, level, &p->pose, both, &step);
        if (status == ATN_OK && !nothing && !spent) status = report(p, level, both, &step, 0);
        if (status != ATN_OK) return status;
        if (!nothing && step.fits && (spent ? !any : step.moments.likelihood > most)) {
            most = step.moments.likelihood;
            best = p->pose;
            any = true;
        }
        if (spent) break;
    }
    p->pose = best;
    *end = both;
    *lost = !any;
    return ATN_OK;
}

atn_status reg_em_icp(reg_problem *p) {
    bool lost = false;
    double start = p->settings->sigma_start / p->unit, last = p->settings->sigma_end / p->unit, end = start;
    atn_status status = reg_levels_make(p, !p->settings->dense);
    if (status == ATN_OK) status = begin(p, start, last, &start, &lost);
    end = start;
    if (status == ATN_OK && !lost && p->polished && p->spacing > 0 && p->source_spacing > 0) {
        reg_surface surface;
        status = reg_surface_make(p, &surface);
        if (status == ATN_OK) status = anneal(p, start, fmax(last, ROUGH * surface.spacing), &end, &lost);
        end = fmin(end, start);
        if (status == ATN_OK && !lost) status = reg_polish(p, &surface, POLISH * end);
        reg_surface_free(&surface, p->engine.ctx);
    }
    if (status == ATN_OK && !lost && !p->converged) status = anneal(p, end, last, &end, &lost);
    if (status == ATN_OK && !lost && !p->converged) status = settle(p, end, &lost);
    if (status == ATN_OK) reg_ended(p, lost);
    return status;
}
