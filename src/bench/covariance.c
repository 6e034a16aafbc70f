/* Registers the pairs of each kind with each method, from near the truth, and compares the errors of the results with
 * their covariances. */
#include "bench/covariance.h"

#include "base/compare.h"
#include "base/memory.h"
#include "base/random.h"
#include "geom/eigen.h"
#include "geom/pose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct method {
    const char *name;
    bool named; /* only where it is asked for: slow, or hardly used */
    atn_register_settings settings;
} METHODS[] = {
    {"em-icp", false, {.method = ATN_REGISTER_EM_ICP}},
    {"icp", false, {.method = ATN_REGISTER_ICP}},
    {"icp-plane", false, {.method = ATN_REGISTER_ICP_PLANE}},
    {"gicp", true, {.method = ATN_REGISTER_GICP}},
    {"em-icp, no polish", true, {.method = ATN_REGISTER_EM_ICP, .no_polish = true}},
    {"cpd", true, {.method = ATN_REGISTER_CPD}},
    {"softassign", true, {.method = ATN_REGISTER_SOFTASSIGN}},
};
enum { N_METHODS = sizeof METHODS / sizeof *METHODS };
static const double WRONG = 5;              /* spacings that an answer may be off */
static const double START[2] = {0.02, 0.3}; /* what a start is off: radians, and spacings of the centre */

static geom_pose pose_of(const double t[16]) {
    geom_pose pose;
    for (int i = 0; i < 3; ++i) {
        memcpy(pose.a + 3 * i, t + 4 * i, 3 * sizeof *t);
        pose.b[i] = t[4 * i + 3];
    }
    return pose;
}

/* truth = exp(twist) answer. */
static bool error_of(const double answer[16], const double truth[16], double twist[6]) {
    geom_pose mine = pose_of(answer), right = pose_of(truth), back;
    if (!geom_pose_invert(&mine, &back)) return false;
    geom_pose off = geom_pose_compose(&right, &back);
    geom_pose_log(&off, twist);
    return true;
}

double atn_covariance_distance2(const atn_register_result *r, const double truth[16], double *angle) {
    double e[6], inverse[36], scaled[36], scale[6], sum = 0;
    *angle = INFINITY;
    if (!error_of(r->transform, truth, e)) return -1;
    *angle = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    for (int i = 0; i < 6; ++i) /* radians and lengths may be of very different size */
        if (!((scale[i] = sqrt(r->covariance[7 * i])) > 0)) return -1;
    for (int i = 0; i < 36; ++i) scaled[i] = r->covariance[i] / (scale[i / 6] * scale[i % 6]);
    if (!geom_invert_symmetric(6, scaled, inverse)) return -1;
    for (int i = 0; i < 36; ++i) sum += e[i / 6] / scale[i / 6] * inverse[i] * e[i % 6] / scale[i % 6];
    return sum;
}

/* How far apart two transforms send the points of a cloud, root mean square over some of them. */
static double apart(const atn_cloud *cloud, const double a[16], const double b[16]) {
    size_t n = atn_cloud_info_of(cloud).points, every = n / 500 + 1, taken = 0;
    double sum = 0;
    for (size_t k = 0; k < n; k += every, ++taken)
        for (int i = 0; i < 3; ++i) {
            double d = a[4 * i + 3] - b[4 * i + 3];
            for (int j = 0; j < 3; ++j) d += (a[4 * i + j] - b[4 * i + j]) * atn_cloud_positions(cloud, j)[k];
            sum += d * d;
        }
    return sqrt(sum / (double)taken);
}

/* The truth, turned and shifted a little about the middle of the target. */
static void near_truth(const atn_covariance_pair *pair, uint64_t seed, double start[16]) {
    atn_random random;
    atn_cloud_info info = atn_cloud_info_of(pair->target);
    double twist[6], turned[3], middle[3];
    atn_random_seed(&random, seed ^ 0x5eed);
    for (int i = 0; i < 3; ++i) {
        twist[i] = START[0] * atn_random_normal(&random);
        twist[3 + i] = START[1] * pair->spacing * atn_random_normal(&random);
        middle[i] = 0.5 * (info.low[i] + info.high[i]);
    }
    geom_pose by = geom_pose_exp(twist), truth = pose_of(pair->transform), linear = by;
    memset(linear.b, 0, sizeof linear.b);
    geom_pose_apply(&linear, middle, turned);
    for (int i = 0; i < 3; ++i) by.b[i] += middle[i] - turned[i];
    geom_pose pose = geom_pose_compose(&by, &truth);
    memset(start, 0, 16 * sizeof *start);
    for (int i = 0; i < 3; ++i) {
        memcpy(start + 4 * i, pose.a + 3 * i, 3 * sizeof *start);
        start[4 * i + 3] = pose.b[i];
    }
    start[15] = 1;
}

static double median(double *values, int32_t n) {
    if (!n) return 0;
    qsort(values, (size_t)n, sizeof *values, atn_ascending_double);
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

/* Numbers of each pair that counts. */
typedef struct numbers {
    double *distance2, *angle, *claimed;
} numbers;

static atn_status measure_pair(atn_device *device, const struct method *method, const atn_covariance_pair *pair,
                               uint64_t seed, atn_covariance_row *row, const numbers *to) {
    atn_register_settings settings = method->settings;
    atn_register_result r = {0};
    settings.init = ATN_START_GIVEN;
    near_truth(pair, seed, settings.start);
    atn_status status = atn_register(device, pair->source, pair->target, &settings, &r);
    if (status != ATN_OK) return status;
    ++row->pairs;
    row->points[0] += (double)atn_cloud_info_of(pair->source).points;
    row->points[1] += (double)atn_cloud_info_of(pair->target).points;
    row->seconds += r.seconds;
    if (!r.converged || apart(pair->source, r.transform, pair->transform) > WRONG * pair->spacing)
        ++row->wrong;
    else if (!r.has_covariance)
        ++row->absent;
    else {
        int32_t k = row->counted++;
        double d2 = atn_covariance_distance2(&r, pair->transform, &to->angle[k]);
        to->distance2[k] = d2 >= 0 ? d2 : INFINITY;
        to->claimed[k] = sqrt(r.covariance[0] + r.covariance[7] + r.covariance[14]);
    }
    return ATN_OK;
}

static atn_status measure(atn_ctx *ctx, atn_device *device, const atn_bench_covariance_options *o,
                          const struct method *method, int32_t kind, const numbers *n, atn_covariance_row *row) {
    static const double DEGREES = 57.29577951308232;
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < o->pairs && status == ATN_OK; ++k) {
        atn_covariance_pair pair;
        uint64_t seed = o->seed + (uint64_t)k;
        status = atn_covariance_pair_make(ctx, kind, seed, &pair);
        if (status == ATN_OK) status = measure_pair(device, method, &pair, seed, row, n);
        if (status == ATN_OK) status = atn_check_cancel(ctx);
        atn_covariance_pair_free(&pair);
    }
    if (status != ATN_OK) return status;
    for (int32_t k = 0; k < row->counted; ++k) {
        row->beyond += n->distance2[k] > ATN_COVARIANCE_FAR;
        row->most = fmax(row->most, n->distance2[k]);
    }
    if (row->counted) row->beyond /= row->counted;
    for (int i = 0; i < 2; ++i) row->points[i] /= row->pairs;
    row->seconds /= row->pairs;
    row->median = median(n->distance2, row->counted);
    row->degrees = median(n->angle, row->counted) * DEGREES;
    row->claimed = median(n->claimed, row->counted) * DEGREES;
    return ATN_OK;
}

static bool wanted(const char *only, const char *name, bool whole) {
    return !only || (whole ? strcmp(only, name) == 0 : strncmp(only, name, strlen(only)) == 0);
}

static bool is_asked(const atn_bench_covariance_options *o, int32_t method, int32_t kind) {
    if (METHODS[method].named && !o->method) return false;
    return wanted(o->method, METHODS[method].name, true) && wanted(o->kind, atn_covariance_kind(kind), false);
}

size_t atn_bench_covariance_steps(const atn_bench_covariance_options *o) {
    size_t steps = 0;
    for (int32_t m = 0; m < N_METHODS; ++m)
        for (int32_t k = 0; atn_covariance_kind(k); ++k) steps += is_asked(o, m, k);
    return steps;
}

atn_status atn_bench_covariance(atn_ctx *ctx, atn_device *device, const atn_bench_covariance_options *o) {
    size_t bytes = (size_t)o->pairs * sizeof(double);
    numbers n = {atn_alloc(ctx, bytes), atn_alloc(ctx, bytes), atn_alloc(ctx, bytes)};
    atn_status status = n.distance2 && n.angle && n.claimed ? ATN_OK : ATN_ERR_MEMORY;
    bool go = true, any = false;
    for (int32_t m = 0; m < N_METHODS; ++m)
        for (int32_t k = 0; atn_covariance_kind(k) && go && status == ATN_OK; ++k) {
            atn_covariance_row row = {.method = METHODS[m].name, .kind = atn_covariance_kind(k)};
            if (!is_asked(o, m, k)) continue;
            any = true;
            if (o->progress) o->progress(o->user, row.kind);
            status = measure(ctx, device, o, &METHODS[m], k, &n, &row);
            if (status == ATN_OK) go = o->visit(o->user, &row);
        }
    if (status == ATN_OK && !any)
        status = atn_fail(ctx, ATN_ERR_INPUT,
                          "bench covariance: no method '%s' with pairs of kind '%s'; methods: em-icp, icp, icp-plane, "
                          "gicp, cpd, softassign",
                          o->method ? o->method : "any", o->kind ? o->kind : "any");
    atn_free(ctx, n.distance2);
    atn_free(ctx, n.angle);
    atn_free(ctx, n.claimed);
    return status;
}
