/* Softassign (Gold, Rangarajan et al. 1998): pairs m = exp(-(d^2 - alpha) / T), with a slack row and a slack column of
 * ones for points without a partner, rows and columns normalised in turn, the best map for them, a smaller T. With
 * m_ij = u_i v_j a_ij, a = exp(-d^2 / T), and o = exp(-alpha / T) that is
 *   v_j = 1 / (sum_i w_i u_i a_ij + 1),   u_i = 1 / (sum_j w_j v_j a_ij + o),
 * and only u and v are kept. sqrt(T) is sigma, sqrt(alpha) the outlier distance. A point of weight w is w points. */
#include "apps/register/soft.h"

#include <math.h>

static const double COARSE = 0.7;      /* a level is used while sigma is that many times its edge */
static const double STILL = 0.02;      /* motion, in sigmas, that ends the steps at one T */
static const double DONE = 2e-3;       /* motion, in sigmas, that ends the last T */
static const double FREE_SCALE = 0.35; /* sigma, in units, from which on scale and shear are fitted */
enum { STEPS = 5 };
enum {
    FIRST_TURNS = 3
}; /* of rows and columns, where nothing is normalised yet; then factors of the step before are
      nearly right, and one is enough: what nothing changes is the same */

typedef struct softassign {
    reg_problem *p;
    reg_soft soft;
    reg_level *level; /* of the last step; NULL: none yet */
    double motion;    /* of the last step */
    bool lost;
} softassign;

/* Nothing is normalised yet: with a for m, u is exp(alpha / T) for every row. */
static atn_status begin(softassign *s, reg_level *level, double outlier) {
    for (size_t k = 0; k < level->source.padded; ++k) s->soft.factor[k] = 1 / outlier;
    s->level = level;
    return reg_side_weigh(&level->source, s->soft.factor, s->soft.number);
}

static atn_status step(softassign *s, double sigma) {
    reg_problem *p = s->p;
    const atn_register_settings *settings = p->settings;
    reg_level *level = reg_level_for(p, sigma / COARSE);
    reg_side *source = &level->source, *target = &level->target;
    double k = sqrt(REG_LOG2E) / sigma, ratio = settings->outlier_distance / p->unit / sigma;
    double outlier = fmax(exp(-ratio * ratio), REG_LEAST_OUTLIER), reach = reg_soft_reach(&s->soft, level, outlier);
    int turns = level == s->level ? 1 : FIRST_TURNS;
    atn_status status = level == s->level ? ATN_OK : begin(s, level, outlier);
    if (status == ATN_OK) status = reg_soft_place(&s->soft, level, &p->pose, k);
    for (int turn = 0; turn < turns && status == ATN_OK; ++turn) {
        status = reg_soft_turn(&s->soft, target, source, reach, 1);
        if (status == ATN_OK) status = reg_soft_turn(&s->soft, source, target, reach, outlier);
    }
    geom_moments m;
    if (status == ATN_OK) status = reg_mstep(&p->engine, source, outlier, k, &m);
    if (status != ATN_OK) return status;
    geom_pose by;
    s->lost = !geom_fit(&m, sigma > FREE_SCALE ? ATN_TRANSFORM_RIGID : settings->transform, &by);
    if (s->lost) return ATN_OK;
    geom_pose next = geom_pose_compose(&by, &p->pose);
    s->motion = reg_motion(p, &p->pose, &next);
    p->pose = next;
    p->sigma = sigma;
    ++p->iterations;
    return reg_step_done(p, sigma, sqrt(m.residual / m.weight), s->motion, source->count, target->count);
}

/* At one T, until the step is below `still` sigmas; how many steps that took, and whether it came to that. */
static atn_status stay(softassign *s, double sigma, int32_t steps, double still, int32_t *taken, bool *calm) {
    atn_status status = ATN_OK;
    *calm = false;
    for (*taken = 0; *taken < steps && status == ATN_OK && !s->lost && !*calm; ++*taken) {
        if (s->p->iterations >= s->p->settings->most_iterations) return ATN_OK;
        status = step(s, sigma);
        *calm = status == ATN_OK && !s->lost && s->motion < still * sigma;
    }
    return status;
}

/* T falls: by its factor, or by more where the first step moved nothing. */
static atn_status anneal(softassign *s) {
    reg_problem *p = s->p;
    double sigma = p->settings->sigma_start / p->unit, last = p->settings->sigma_end / p->unit;
    double factor = sqrt(p->settings->sigma_factor);
    atn_status status = ATN_OK;
    int32_t taken;
    bool calm;
    while (sigma > last && status == ATN_OK && !s->lost && p->iterations < p->settings->most_iterations) {
        status = stay(s, sigma, STEPS, STILL, &taken, &calm);
        bool faster = calm && taken == 1 && !p->settings->no_acceleration;
        sigma = fmax(sigma * (faster ? factor * factor * factor : factor), last);
    }
    if (status == ATN_OK && !s->lost) status = stay(s, last, INT32_MAX, DONE, &taken, &p->converged);
    return status;
}

atn_status reg_softassign(reg_problem *p) {
    softassign s = {.p = p};
    atn_status status = reg_soft_open(p, &s.soft);
    if (status == ATN_OK) status = anneal(&s);
    for (int32_t k = 0; k < p->levels && status == ATN_OK; ++k) status = reg_soft_reset(&s.soft, &p->level[k]);
    if (status == ATN_OK) reg_ended(p, s.lost);
    reg_soft_close(&s.soft);
    return status;
}
