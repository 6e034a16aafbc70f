/* Synthetic clouds to register, generated from a seed. */
#include "base/memory.h"
#include "bench/register_parts.h"
#include "sample/scans.h"

#include <math.h>

static const double RADIUS = 0.056; /* root mean square, of the published cloud */
static const double TURN = 1.6022;  /* 91.8 degrees, about the published axis */
static const double AXIS[3] = {-0.3269, -0.5388, -0.7765}, SHIFT[3] = {-0.009, -0.051, -0.053};
enum {
    TURNED_SEED = 5, /* a thing whose turn ours and the published steps both find: no start is found for it */
    SCANS_SEED = 0   /* as attune sample scans makes them */
};

void bench_pair_free(bench_pair *pair) {
    atn_cloud_free(pair->source);
    atn_cloud_free(pair->target);
    *pair = (bench_pair){0};
}

/* About the origin, where the centre of the cloud is. */
static void motion(double truth[16]) {
    double twist[6];
    for (int k = 0; k < 3; ++k) {
        twist[k] = TURN * AXIS[k];
        twist[3 + k] = SHIFT[k];
    }
    geom_pose pose = geom_pose_exp(twist);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) truth[4 * i + j] = pose.a[3 * i + j];
        truth[4 * i + 3] = pose.b[i];
        truth[12 + i] = 0;
    }
    truth[15] = 1;
}

/* Centred and with RADIUS, in single precision; moved by T where there is one. */
static atn_status resized(atn_ctx *ctx, const atn_cloud *cloud, const double *transform, atn_cloud **out) {
    size_t n = atn_cloud_info_of(cloud).points;
    double *points = atn_alloc(ctx, n * 3 * sizeof *points), centre[3] = {0}, square = 0;
    if (!points) return ATN_ERR_MEMORY;
    for (int axis = 0; axis < 3; ++axis)
        for (size_t k = 0; k < n; ++k) centre[axis] += atn_cloud_positions(cloud, axis)[k] / (double)n;
    for (int axis = 0; axis < 3; ++axis)
        for (size_t k = 0; k < n; ++k) square += pow(atn_cloud_positions(cloud, axis)[k] - centre[axis], 2) / (double)n;
    for (size_t k = 0; k < n; ++k) {
        double p[3], *to = points + 3 * k;
        for (int axis = 0; axis < 3; ++axis)
            p[axis] = (atn_cloud_positions(cloud, axis)[k] - centre[axis]) * RADIUS / sqrt(square);
        for (int i = 0; i < 3; ++i) {
            const double *t = transform ? transform + (size_t)(4 * i) : NULL;
            to[i] = (double)(float)(t ? t[0] * p[0] + t[1] * p[1] + t[2] * p[2] + t[3] : p[i]);
        }
    }
    atn_status status = atn_cloud_create(ctx, n, points, NULL, out);
    atn_free(ctx, points);
    return status;
}

atn_status bench_turned(atn_ctx *ctx, size_t points, bench_pair *out) {
    atn_scans scans;
    atn_scans_settings settings = {.size = points, .seed = TURNED_SEED, .overlap = 1};
    *out = (bench_pair){0};
    motion(out->truth);
    atn_status status = atn_scans_make(ctx, &settings, NULL, NULL, &scans);
    if (status == ATN_OK) status = resized(ctx, scans.target, NULL, &out->source);
    if (status == ATN_OK) status = resized(ctx, scans.target, out->truth, &out->target);
    atn_scans_free(&scans);
    if (status != ATN_OK) bench_pair_free(out);
    return status;
}

atn_status bench_scans(atn_ctx *ctx, size_t points, bench_pair *out) { return bench_scans_off(ctx, points, -1, out); }

atn_status bench_scans_off(atn_ctx *ctx, size_t points, double turn_deg, bench_pair *out) {
    atn_scans scans;
    atn_scans_settings settings = {
        .size = points, .seed = SCANS_SEED, .noise = 0.002, .overlap = 0.65, .turn_deg = turn_deg};
    *out = (bench_pair){0};
    atn_status status = atn_scans_make(ctx, &settings, NULL, NULL, &scans);
    if (status != ATN_OK) return status;
    out->source = scans.source;
    out->target = scans.target;
    for (int k = 0; k < 16; ++k) out->truth[k] = scans.transform[k];
    return ATN_OK;
}

/* |R - S| = 2 sqrt(2) sin(angle / 2): exact for small angles, too. */
double bench_turn_error(const double transform[16], const double truth[16]) {
    double square = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) square += pow(transform[4 * i + j] - truth[4 * i + j], 2);
    return 2 * asin(fmin(1, sqrt(square / 8)));
}
