/* The last steps, between those of the rounds: ICP along the model's normals over all six degrees of freedom, with far
 * pairs losing their weight (Tukey), and a prior that keeps what the pairs do not tell where the counts put it. */
#include "apps/needle/needle.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { STEPS = 14, FEWEST = 12, ENOUGH = 1200 }; /* points that do until a step is small */
enum { WORTH_A_THREAD = 512 };                   /* points */
static const double REACH = 2;                   /* thresholds that pairs may be apart */
static const double TUKEY = 4.685;               /* deviations beyond which a pair has no weight */
static const double SMALLEST = 0.01;             /* thresholds: no deviation is taken to be smaller */
static const double DONE = 1e-3;                 /* thresholds: a step that ends it */
static const double LOSS = 0.02;                 /* share of the matches that the refined pose may lose */
static const double TURN = 0.03;                 /* radians: how far the start's axis may be off, and the roll, */
static const double SHIFT = 1;                   /* and in thresholds where it is */

/* Pairs of a pose, as sums about `centre` of the scan. */
typedef struct pairs {
    double *residual; /* of each pair, */
    double (*row)[6]; /* and what a twist changes of it */
    double *scratch;
    size_t count;
} pairs;

typedef struct sums {
    double h[36], g[6], weight, square;
} sums;

/* The k-th smallest, by Hoare: what is around a pivot is parted until the place is in the middle. Shuffles. */
static double smallest(double *value, size_t count, size_t k) {
    size_t from = 0, to = count - 1;
    while (from < to) {
        double pivot = value[from + (to - from) / 2];
        size_t a = from, b = to;
        while (a <= b) {
            while (value[a] < pivot) ++a;
            while (value[b] > pivot) --b;
            if (a > b) break;
            double held = value[a];
            value[a++] = value[b];
            value[b] = held;
            if (b-- == 0) break;
        }
        if (k >= a)
            from = a;
        else if (k <= b && b < to)
            to = b;
        else
            break;
    }
    return value[k];
}

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

typedef struct pairing {
    const atn_needle *needle;
    const reg_pose *pose;
    reg_pose back;
    const double *centre;
    size_t stride;
    pairs *out;
} pairing;

/* r = n . (p - x), x = T m being where the model's point is; a twist (w, v) about the centre makes it
 * r - w . ((x - centre) x n) - v . n. A point without a partner has the residual NaN. */
static void pair_some(void *user, int64_t begin, int64_t end, int32_t worker) {
    const pairing *t = user;
    const atn_needle *needle = t->needle;
    const reg_pose *pose = t->pose;
    (void)worker;
    for (int64_t k = begin; k < end; ++k) {
        double p[3], q[3], m[3], x[3], n[3] = {0}, from[3], residual = 0, *row = t->out->row[k];
        uint32_t at;
        t->out->residual[k] = NAN;
        for (int axis = 0; axis < 3; ++axis) p[axis] = needle->scan.position[axis][(size_t)k * t->stride];
        reg_pose_apply(&t->back, p, q);
        if (!needle_partner_find(needle, (size_t)k * t->stride, q, REACH * needle->options.threshold, &at)) continue;
        const float *normal = needle->normal + 3 * (size_t)at;
        if (normal[0] == 0 && normal[1] == 0 && normal[2] == 0) continue;
        for (int axis = 0; axis < 3; ++axis) m[axis] = needle->model.position[axis][at];
        reg_pose_apply(pose, m, x);
        for (int r = 0; r < 3; ++r)
            for (int c = 0; c < 3; ++c) n[r] += pose->a[3 * r + c] * (double)normal[c];
        for (int axis = 0; axis < 3; ++axis) {
            residual += n[axis] * (p[axis] - x[axis]);
            from[axis] = x[axis] - t->centre[axis];
            row[3 + axis] = n[axis];
        }
        cross(from, n, row);
        t->out->residual[k] = residual;
    }
}

/* Of every stride-th point of the scan. */
static void find_pairs(const atn_needle *needle, const reg_pose *pose, const double centre[3], size_t stride,
                       pairs *out) {
    pairing t = {.needle = needle, .pose = pose, .centre = centre, .stride = stride, .out = out};
    size_t points = (needle->scan.count + stride - 1) / stride;
    out->count = 0;
    if (!reg_pose_invert(pose, &t.back)) return;
    atn_parallel((int64_t)points, WORTH_A_THREAD, pair_some, &t);
    for (size_t k = 0; k < points; ++k) {
        if (isnan(out->residual[k])) continue;
        if (out->count != k) memcpy(out->row[out->count], out->row[k], sizeof *out->row);
        out->residual[out->count++] = out->residual[k];
    }
}

/* 1.4826 times the median of |r|: a standard deviation that outliers do not move. */
static double deviation(const pairs *p, double threshold) {
    for (size_t k = 0; k < p->count; ++k) p->scratch[k] = fabs(p->residual[k]);
    double median = p->count ? smallest(p->scratch, p->count, p->count / 2) : 0;
    return fmax(1.4826 * median, SMALLEST * threshold);
}

static sums add_up(const pairs *p, double scale) {
    sums out = {0};
    for (size_t k = 0; k < p->count; ++k) {
        double u = p->residual[k] / (TUKEY * scale), w = fabs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
        const double *row = p->row[k];
        out.weight += w;
        out.square += w * p->residual[k] * p->residual[k];
        for (int r = 0; r < 6; ++r) {
            out.g[r] += w * row[r] * p->residual[k];
            for (int c = r; c < 6; ++c) out.h[6 * r + c] += w * row[r] * row[c];
        }
    }
    for (int r = 1; r < 6; ++r)
        for (int c = 0; c < r; ++c) out.h[6 * r + c] = out.h[6 * c + r];
    return out;
}

/* The twist about the centre that led from one pose to the other. */
static void twist_between(const reg_pose *from, const reg_pose *to, const double centre[3], double out[6]) {
    reg_pose back = {{0}, {0}}, step, shift = REG_IDENTITY, unshift = REG_IDENTITY;
    if (!reg_pose_invert(from, &back)) back = REG_IDENTITY;
    step = reg_pose_compose(to, &back);
    for (int axis = 0; axis < 3; ++axis) {
        shift.b[axis] = -centre[axis];
        unshift.b[axis] = centre[axis];
    }
    step = reg_pose_compose(&shift, &step);
    step = reg_pose_compose(&step, &unshift);
    reg_pose_log(&step, out);
}

static reg_pose moved(const reg_pose *pose, const double twist[6], const double centre[3]) {
    reg_pose step = reg_pose_exp(twist), shift = REG_IDENTITY, unshift = REG_IDENTITY;
    for (int axis = 0; axis < 3; ++axis) {
        shift.b[axis] = centre[axis];
        unshift.b[axis] = -centre[axis];
    }
    step = reg_pose_compose(&step, &unshift);
    step = reg_pose_compose(&shift, &step);
    return reg_pose_compose(&step, pose);
}

/* Information of the prior, for pairs of variance 1. */
static double prior(int place, double variance, double threshold) {
    double sigma = place < 3 ? TURN : SHIFT * threshold;
    return variance / (sigma * sigma);
}

/* C about the centre -> about the origin: v = v_c + centre x w; times the variance. */
static void put_covariance(const double inverse[36], double variance, const double centre[3], double out[36]) {
    double a[36] = {0}, half[36] = {0};
    for (int k = 0; k < 6; ++k) a[7 * k] = 1;
    a[6 * 3 + 1] = -centre[2], a[6 * 3 + 2] = centre[1];
    a[6 * 4 + 0] = centre[2], a[6 * 4 + 2] = -centre[0];
    a[6 * 5 + 0] = -centre[1], a[6 * 5 + 1] = centre[0];
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c)
            for (int k = 0; k < 6; ++k) half[6 * r + c] += a[6 * r + k] * inverse[6 * k + c] * variance;
    memset(out, 0, 36 * sizeof *out);
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c)
            for (int k = 0; k < 6; ++k) out[6 * r + c] += half[6 * r + k] * a[6 * c + k];
}

/* A roll that the scan does not tell is any roll: the variance of a turn that is evenly spread. */
static void add_any_roll(const reg_pose *pose, double covariance[36]) {
    static const double VARIANCE = 3.14159265358979323846 * 3.14159265358979323846 / 3;
    double twist[6] = {pose->a[2], pose->a[5], pose->a[8]};
    cross(pose->b, twist, twist + 3);
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c) covariance[6 * r + c] += VARIANCE * twist[r] * twist[c];
}

static atn_status settle(atn_needle *n, pairs *p, const double centre[3], reg_pose *pose, atn_needle_result *out) {
    const reg_pose first = *pose;
    double threshold = n->options.threshold, inverse[36], variance = 0;
    sums s = {0};
    bool solved = false;
    size_t stride = n->scan.count / ENOUGH + 1;
    for (int step = 0; step < STEPS; ++step) {
        double off[6], twist[6] = {0}, most = 0;
        find_pairs(n, pose, centre, stride, p);
        double scale = deviation(p, threshold);
        s = add_up(p, scale);
        if (p->count < FEWEST || s.weight < FEWEST) return ATN_OK;
        variance = fmax(s.square / (s.weight - 6), SMALLEST * SMALLEST * threshold * threshold);
        twist_between(&first, pose, centre, off);
        for (int k = 0; k < 6; ++k) {
            s.h[7 * k] += prior(k, variance, threshold);
            s.g[k] -= prior(k, variance, threshold) * off[k];
        }
        solved = reg_invert_symmetric(6, s.h, inverse);
        if (!solved) return ATN_OK;
        for (int r = 0; r < 6; ++r)
            for (int c = 0; c < 6; ++c) twist[r] += inverse[6 * r + c] * s.g[c];
        *pose = moved(pose, twist, centre);
        double extent = n->high[2] - n->low[2];
        for (int k = 0; k < 6; ++k) most = fmax(most, fabs(twist[k]) * (k < 3 ? extent : 1));
        if (stride == 1 && most < DONE * threshold) break;
        if (most < 10 * DONE * threshold || step > STEPS / 2) stride = 1;
    }
    out->rmse = sqrt(s.square / s.weight);
    put_covariance(inverse, variance, centre, out->covariance);
    out->has_covariance = true;
    return ATN_OK;
}

atn_status needle_refine(atn_needle *n, reg_pose *pose, atn_needle_result *out) {
    size_t count = n->scan.count;
    atn_status status = needle_partners_begin(n);
    if (status != ATN_OK) return status;
    pairs p = {n->pair, (double(*)[6])(n->pair + 2 * count), n->pair + count, 0};
    return settle(n, &p, n->scan_centre, pose, out);
}

/* A pose that loses matches is dropped for the winner. */
void needle_refine_end(const reg_pose *winner, int64_t matches, reg_pose *pose, atn_needle_result *out) {
    if (!out->has_covariance || (double)matches < (1 - LOSS) * (double)out->matches) {
        *pose = *winner;
        out->has_covariance = false;
        out->rmse = 0;
    } else if (!out->roll_observable)
        add_any_roll(pose, out->covariance);
}
