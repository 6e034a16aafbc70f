/* The last steps, between those of the rounds: ICP along the model's normals over all six degrees of freedom, with far
 * pairs losing their weight (Tukey), and a prior that keeps what the pairs do not tell where the counts put it. */
#include "apps/needle/needle.h"

#include "geom/eigen.h"

#include <math.h>
#include <string.h>

enum { STEPS = 14, FEWEST = 12 };    /* pairs, by their weight */
static const double SMALLEST = 0.01; /* thresholds: no deviation is taken to be smaller */
static const double DONE = 3e-3;     /* thresholds: a step that ends it */
static const double STEADY = 0.8;    /* a step is stretched as if they shrink by this factor at most */
static const double LOSS = 0.02;     /* share of the matches that the refined pose may lose */
static const double TURN = 0.03;     /* radians: how far the start's axis may be off, and the roll, */
static const double SHIFT = 1;       /* and in thresholds where it is */

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* The twist about the centre that led from one pose to the other. */
static void twist_between(const geom_pose *from, const geom_pose *to, const double centre[3], double out[6]) {
    geom_pose back = {{0}, {0}}, step, shift = GEOM_IDENTITY, unshift = GEOM_IDENTITY;
    if (!geom_pose_invert(from, &back)) back = GEOM_IDENTITY;
    step = geom_pose_compose(to, &back);
    for (int axis = 0; axis < 3; ++axis) {
        shift.b[axis] = -centre[axis];
        unshift.b[axis] = centre[axis];
    }
    step = geom_pose_compose(&shift, &step);
    step = geom_pose_compose(&step, &unshift);
    geom_pose_log(&step, out);
}

static geom_pose moved(const geom_pose *pose, const double twist[6], const double centre[3]) {
    geom_pose step = geom_pose_exp(twist), shift = GEOM_IDENTITY, unshift = GEOM_IDENTITY;
    for (int axis = 0; axis < 3; ++axis) {
        shift.b[axis] = centre[axis];
        unshift.b[axis] = -centre[axis];
    }
    step = geom_pose_compose(&step, &unshift);
    step = geom_pose_compose(&shift, &step);
    return geom_pose_compose(&step, pose);
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
static void add_any_roll(const geom_pose *pose, double covariance[36]) {
    static const double VARIANCE = 3.14159265358979323846 * 3.14159265358979323846 / 3;
    double twist[6] = {pose->a[2], pose->a[5], pose->a[8]};
    cross(pose->b, twist, twist + 3);
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c) covariance[6 * r + c] += VARIANCE * twist[r] * twist[c];
}

/* Partners change with the pose, so that steps shrink by about the same factor each time, r: all that would follow this
 * one, twist / (1 - r), is done at once. Two steps in a row tell r, as long as they are measured by what they change.
 */
static void stretch(const double h[36], const double last[6], double twist[6]) {
    double together = 0, before = 0;
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c) {
            together += twist[r] * h[6 * r + c] * last[c];
            before += last[r] * h[6 * r + c] * last[c];
        }
    double rate = before > 0 ? fmin(fmax(together / before, 0), STEADY) : 0;
    for (int k = 0; k < 6; ++k) twist[k] /= 1 - rate;
}

atn_status needle_refine(atn_needle *n, geom_pose *pose, atn_needle_result *out) {
    const geom_pose first = *pose;
    const double *centre = n->scan_centre, threshold = n->options.threshold, extent = n->high[2] - n->low[2];
    double inverse[36], last[6], variance = 0;
    bool has_last = false; /* every other step is stretched, by the one before */
    needle_sums s = {0};
    for (int step = 0; step < STEPS; ++step) {
        double off[6], twist[6] = {0}, most = 0;
        atn_status status = needle_equations_of(n, pose, &s);
        if (status != ATN_OK || s.weight < FEWEST) return status;
        variance = fmax(s.square / (s.weight - 6), SMALLEST * SMALLEST * threshold * threshold);
        twist_between(&first, pose, centre, off);
        for (int k = 0; k < 6; ++k) {
            s.h[7 * k] += prior(k, variance, threshold);
            s.g[k] -= prior(k, variance, threshold) * off[k];
        }
        if (!geom_invert_symmetric(6, s.h, inverse)) return ATN_OK;
        for (int r = 0; r < 6; ++r)
            for (int c = 0; c < 6; ++c) twist[r] += inverse[6 * r + c] * s.g[c];
        if (has_last)
            stretch(s.h, last, twist);
        else
            memcpy(last, twist, sizeof last);
        has_last = !has_last;
        *pose = moved(pose, twist, centre);
        for (int k = 0; k < 6; ++k) most = fmax(most, fabs(twist[k]) * (k < 3 ? extent : 1));
        if (most < DONE * threshold) break;
    }
    out->rmse = sqrt(s.square / s.weight);
    put_covariance(inverse, variance, centre, out->covariance);
    out->has_covariance = true;
    return ATN_OK;
}

/* A pose that loses matches is dropped for the winner. */
void needle_refine_end(const geom_pose *winner, int64_t matches, geom_pose *pose, atn_needle_result *out) {
    if (!out->has_covariance || (double)matches < (1 - LOSS) * (double)out->matches) {
        *pose = *winner;
        out->has_covariance = false;
        out->rmse = 0;
    } else if (!out->roll_observable)
        add_any_roll(pose, out->covariance);
}
