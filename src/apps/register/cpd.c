/* Coherent point drift (Myronenko and Song 2010): the source points are the centres of a Gaussian mixture that the
 * target points were drawn from, beside a share of outliers spread evenly over the volume V. With a = exp(-|x_j - T
 * y_i|^2 / (2 sigma^2)) and c = (2 pi sigma^2)^(3/2) share / (1 - share) M / V:
 *   P_ij = w_i a_ij w_j / (D_j + c),   D_j = sum_i w_i a_ij,
 * the best map for P, and sigma^2 = sum P |x - T y|^2 / (3 sum P) under that map. P is never stored: D by one pass over
 * pairs, sums over j by another. The published V is the number of points, which makes outliers rarer the denser a
 * surface is sampled; here it is that of a ball of the target's spread. */
#include "apps/register/anderson.h"
#include "apps/register/soft.h"

#include "base/clock.h"

#include <math.h>

static const double SHARE = 0.1;     /* of outliers, at least; */
static const double MOST = 0.9;      /* and at most, where it is found */
static const double VOLUME = 9.012;  /* of an even ball with a root mean square radius of 1, 4/3 pi (5/3)^(3/2) */
static const double COARSE = 1.1;    /* a level is used while sigma is that many times its edge */
static const double FREE = 0.25;     /* sigma, in units, from which on scale and shear are fitted */
static const double DONE = 2e-3;     /* motion, in sigmas, below which nothing moves, */
static const double CONSTANT = 2e-3; /* and the change of log sigma^2 that is none */
static const double TAIL = 0.05;     /* change of log sigma^2 from which on steps are accelerated */
static const double ROUNDING = 1e-7; /* of sigma^2, in units, where sums are single */
static const double NEAR = 0.0501;   /* units: what sigma begins with where the start fits (register.c) */
static const double TWO_PI = 6.283185307179586;

typedef struct cpd {
    reg_problem *p;
    reg_soft soft;
    int32_t level;
    double sigma2;
    double share; /* of outliers: */
    bool near;    /* it is what the target's points tell where the start is near */
    bool free;    /* the map may be what was asked for, not only rigid */
    bool lost;
    reg_anderson history;
} cpd;

/* What one step gives. */
typedef struct cpd_step {
    geom_pose next;
    double sigma2;
    double likelihood; /* log, of the pose and sigma that it began with */
    double motion;
    double change; /* of log sigma^2 */
    double share;  /* of outliers */
} cpd_step;

/* Sums over target points: how much each is taken, and where it is. */
typedef struct taken {
    double weight, x[3], square; /* of sum_i P_ij; times x; times |x|^2 */
    double likelihood;           /* w log(D + c) */
} taken;

/* The mean distance squared of all pairs, a third of it. */
static double spread(const reg_problem *p) {
    const reg_level *level = &p->level[p->levels - 1];
    const reg_side *sides[2] = {&level->source, &level->target};
    double mean[2][3] = {{0}}, square = 0, sum = 0;
    for (int c = 0; c < 2; ++c) {
        const reg_side *s = sides[c];
        double self = 0;
        for (size_t k = 0; k < s->padded; ++k) {
            double at[3] = {s->position[0][k], s->position[1][k], s->position[2][k]}, w = (double)s->weight[k];
            if (c == 0) geom_pose_apply(&p->pose, at, at);
            for (int i = 0; i < 3; ++i) {
                mean[c][i] += w * at[i] / s->total;
                self += w * at[i] * at[i] / s->total;
            }
        }
        square += self;
    }
    for (int i = 0; i < 3; ++i) sum += mean[0][i] * mean[1][i];
    return fmax(square - 2 * sum, 0) / 3;
}

static taken take(const cpd *s, const reg_side *target) {
    taken t = {0};
    for (size_t j = 0; j < target->padded; ++j) {
        double q = (double)target->weight[j] * s->soft.sum[j] * s->soft.factor[j];
        t.weight += q;
        if (target->weight[j] > 0) t.likelihood -= (double)target->weight[j] * log(s->soft.factor[j]);
        for (int i = 0; i < 3; ++i) {
            double x = target->position[i][j];
            t.x[i] += q * x;
            t.square += q * x * x;
        }
    }
    return t;
}

/* Moments of source points where they are and the targets they are drawn to; their weight is made that of `t`: rounding
 * alone sets them apart, and a small variance is a small difference. */
static geom_moments gather(const cpd *s, const reg_side *source, double k, double weight) {
    geom_moments m = {0};
    const double *total = s->soft.sum;
    for (size_t r = 0; r < source->padded; ++r) {
        double w = (double)source->weight[r],
               y[3] = {source->position[0][r], source->position[1][r], source->position[2][r]};
        if (!(w > 0)) continue;
        geom_pose_apply(&s->p->pose, y, y);
        int place = 0;
        m.weight += w * total[r];
        for (int i = 0; i < 3; ++i) {
            double x = w * s->soft.sums[i][r] / k;
            m.x[i] += x;
            m.y[i] += w * total[r] * y[i];
            for (int j = 0; j < 3; ++j) m.cross[3 * i + j] += x * y[j];
            for (int j = i; j < 3; ++j) m.spread[place++] += w * total[r] * y[i] * y[j];
        }
    }
    double by = m.weight > 0 ? weight / m.weight : 0;
    m.weight *= by;
    for (int i = 0; i < 9; ++i) m.cross[i] *= by;
    for (int i = 0; i < 6; ++i) m.spread[i] *= by;
    for (int i = 0; i < 3; ++i) m.x[i] *= by, m.y[i] *= by;
    return m;
}

/* sum P |x - A y - b|^2 / (3 sum P), b the best for A: about the means, S_xx - 2 tr(A^T S_xy) + tr(A S_yy A^T). */
static double variance(const taken *t, const geom_moments *m, const geom_pose *by) {
    static const int PLACE[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    double sum = t->square, n = m->weight;
    for (int i = 0; i < 3; ++i) {
        sum -= t->x[i] * t->x[i] / n;
        for (int j = 0; j < 3; ++j) {
            sum -= 2 * by->a[3 * i + j] * (m->cross[3 * i + j] - m->x[i] * m->y[j] / n);
            for (int k = 0; k < 3; ++k)
                sum += by->a[3 * i + j] * by->a[3 * i + k] * (m->spread[PLACE[3 * j + k]] - m->y[j] * m->y[k] / n);
        }
    }
    return sum / (3 * n);
}

static atn_status step(cpd *s, cpd_step *out) {
    reg_problem *p = s->p;
    reg_level *level = &p->level[s->level];
    reg_side *source = &level->source, *target = &level->target;
    double sigma = sqrt(s->sigma2), k = sqrt(REG_LOG2E / 2) / sigma, least = p->settings->sigma_end / p->unit;
    double share = isinf(p->settings->outlier_distance) ? 0 : s->share;
    double outlier = pow(TWO_PI * s->sigma2, 1.5) * share / (1 - share) * source->total / VOLUME;
    outlier = fmax(outlier, REG_LEAST_OUTLIER);
    double reach = reg_soft_reach(&s->soft, level, outlier);
    atn_status status = reg_soft_place(&s->soft, level, &p->pose, k);
    if (status == ATN_OK) status = reg_soft_turn(&s->soft, target, source, reach, outlier);
    if (status != ATN_OK) return status;
    taken t = take(s, target);
    status = reg_estep(&p->engine, source, target, reach, false);
    if (status == ATN_OK) status = reg_array_get(source->sum[0], source->padded, s->soft.sum);
    for (int i = 0; i < 3 && status == ATN_OK; ++i)
        status = reg_array_get(source->sum[1 + i], source->padded, s->soft.sums[i]);
    if (status != ATN_OK) return status;
    double since = atn_clock_seconds();
    geom_moments m = gather(s, source, k, t.weight);
    geom_pose by;
    s->lost = !(t.weight > 1e-9 * target->total) ||
              !geom_fit(&m, s->free ? p->settings->transform : ATN_TRANSFORM_RIGID, &by);
    if (s->lost) return ATN_OK;
    out->next = geom_pose_compose(&by, &p->pose);
    out->sigma2 = fmax(variance(&t, &m, &by), least * least);
    out->likelihood = t.likelihood + target->total * (log(1 - share) - 1.5 * log(s->sigma2));
    out->share = s->near ? fmin(fmax(1 - t.weight / target->total, SHARE), MOST) : SHARE;
    out->motion = reg_motion(p, &p->pose, &out->next);
    out->change = fabs(log(out->sigma2 / s->sigma2));
    ++p->iterations;
    reg_timed(&p->engine, REG_FIT, since);
    return reg_step_done(p, sigma, sqrt(3 * out->sigma2), out->motion, source->count, target->count);
}

/* Nothing changes any more at this level, for this kind of map. */
static bool is_still(const cpd *s, const cpd_step *step) {
    bool constant = step->change < CONSTANT || step->change * s->sigma2 < ROUNDING;
    return step->motion < DONE * sqrt(step->sigma2) && constant;
}

/* Of a start that is near, pairs of all points with all, as the publication begins, would make nothing: they draw the
 * middles of both clouds together, which partial views do not share. */
static void begin(cpd *s) {
    const reg_problem *p = s->p;
    double least = p->settings->sigma_end / p->unit, start = p->settings->sigma_start / p->unit;
    bool rigid = p->settings->transform == ATN_TRANSFORM_RIGID, near = rigid && start <= NEAR;
    s->near = near;
    s->share = SHARE;
    s->sigma2 = fmax(near ? fmin(start * start, spread(p)) : spread(p), least * least);
    s->free = rigid;
}

/* EM, at finer levels as sigma falls; where sigma hardly changes, steps of the acceleration, which are taken back when
 * they make the target less likely. */
static atn_status drift(cpd *s) {
    reg_problem *p = s->p;
    bool accelerate = p->settings->transform == ATN_TRANSFORM_RIGID && !p->settings->no_acceleration, bold = false;
    geom_pose plain = p->pose;
    double best = -INFINITY;
    while (p->iterations < p->settings->most_iterations) {
        cpd_step next;
        while (s->level + 1 < p->levels && sqrt(s->sigma2) < COARSE * p->level[s->level].edge) ++s->level;
        atn_status status = step(s, &next);
        if (status != ATN_OK || (s->lost && !bold)) return status;
        if (bold && (s->lost || next.likelihood < best - 1e-9 * fabs(best))) {
            s->lost = bold = false;
            p->pose = plain;
            reg_anderson_begin(&s->history, &p->pose);
            continue;
        }
        best = next.likelihood;
        bool still = is_still(s, &next);
        plain = next.next;
        p->sigma = sqrt(s->sigma2 = next.sigma2);
        s->share = next.share;
        bool tail = accelerate && s->level + 1 == p->levels && next.change < TAIL && !still;
        if (tail && !s->history.count) reg_anderson_begin(&s->history, &p->pose);
        bold = tail && reg_anderson_next(&s->history, &p->pose, &plain, &p->pose);
        if (!bold) p->pose = plain;
        if (!tail) s->history.count = 0;
        if (!s->free)
            s->free = still || p->sigma < FREE;
        else if (still && s->level + 1 < p->levels)
            ++s->level;
        else if (still) {
            p->converged = true;
            return ATN_OK;
        }
    }
    return ATN_OK;
}

atn_status reg_cpd(reg_problem *p) {
    cpd s = {.p = p};
    atn_status status = reg_soft_open(p, &s.soft);
    if (status == ATN_OK) {
        begin(&s);
        status = drift(&s);
    }
    for (int32_t k = 0; k < p->levels && status == ATN_OK; ++k) status = reg_soft_reset(&s.soft, &p->level[k]);
    if (status == ATN_OK) reg_ended(p, s.lost);
    reg_soft_close(&s.soft);
    return status;
}
