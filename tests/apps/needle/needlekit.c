/* Needles to look for. */
#include "needlekit.h"

#include <string.h>

#include <math.h>
#include <stdlib.h>

atn_device *needle_device(atn_ctx *ctx) {
    atn_device *device;
    device = kit_open_host(ctx);
    return device;
}

static atn_cloud *make(atn_ctx *ctx, const bevel *b, size_t points, const geom_pose *pose, double noise, bool seen,
                       uint64_t seed) {
    double *position = malloc(3 * points * sizeof *position);
    float *normal = malloc(3 * points * sizeof *normal);
    atn_random random;
    atn_cloud *out;
    atn_random_seed(&random, seed);
    for (size_t k = 0; k < points; ++k) {
        double p[3], n[3], q[3], up;
        do {
            bevel_point(b, &random, p, n);
            up = pose->a[3] * n[0] + pose->a[4] * n[1] + pose->a[5] * n[2];
        } while (seen && up < 0.25);
        geom_pose_apply(pose, p, q);
        for (size_t axis = 0; axis < 3; ++axis) {
            position[3 * k + axis] = q[axis] + noise * atn_random_normal(&random);
            normal[3 * k + axis] = (float)n[axis];
        }
    }
    kit_ok(ctx, atn_cloud_create(ctx, points, position, seen ? NULL : normal, &out));
    free(normal);
    free(position);
    return out;
}

atn_cloud *needle_model(atn_ctx *ctx, const bevel *b, size_t points, uint64_t seed) {
    return make(ctx, b, points, &GEOM_IDENTITY, 0, false, seed);
}

atn_cloud *needle_scan(atn_ctx *ctx, const bevel *b, size_t points, const geom_pose *truth, double noise,
                       uint64_t seed) {
    return make(ctx, b, points, truth, noise, true, seed);
}

geom_pose needle_lay(double tx, double ty, double roll_deg, const double t[3]) {
    double turn = roll_deg * 3.14159265358979323846 / 180, length = sqrt(tx * tx + ty * ty + 1);
    double z[3] = {tx / length, ty / length, 1 / length}, x[3], y[3];
    double along = z[1]; /* y as near to up as can be */
    for (int k = 0; k < 3; ++k) y[k] = (k == 1) - along * z[k];
    double size = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    for (int k = 0; k < 3; ++k) y[k] /= size;
    x[0] = y[1] * z[2] - y[2] * z[1];
    x[1] = y[2] * z[0] - y[0] * z[2];
    x[2] = y[0] * z[1] - y[1] * z[0];
    geom_pose frame = {{x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]}, {t[0], t[1], t[2]}};
    geom_pose roll = {{cos(turn), -sin(turn), 0, sin(turn), cos(turn), 0, 0, 0, 1}, {0}};
    return geom_pose_compose(&frame, &roll);
}

void needle_put(const geom_pose *pose, double out[16]) {
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) out[4 * r + c] = pose->a[3 * r + c];
        out[4 * r + 3] = pose->b[r];
        out[12 + r] = 0;
    }
    out[15] = 1;
}

geom_pose needle_get(const double transform[16]) {
    geom_pose out;
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) out.a[3 * r + c] = transform[4 * r + c];
        out.b[r] = transform[4 * r + 3];
    }
    return out;
}

float *needle_points_taken(atn_ctx *ctx, const atn_needle *n) {
    const needle_counted *c = &n->counted[NEEDLE_ALL];
    float *out = malloc(3 * (size_t)n->scan_points * sizeof *out);
    const void *from;
    kit_ok(ctx, atn_array_map_read(c->positions, &from));
    for (int axis = 0; axis < 3; ++axis)
        memcpy(out + axis * n->scan_points, (const float *)from + axis * c->capacity,
               (size_t)n->scan_points * sizeof *out);
    return out;
}
