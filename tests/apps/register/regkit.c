#include "regkit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

kit_host host_open(void) {
    kit_host host = {.ctx = kit_ctx()};
    int32_t index;
    kit_ok(host.ctx, atn_devices_find(host.ctx, &host.devices));
    kit_ok(host.ctx, atn_devices_pick(host.devices, "host", &index));
    kit_ok(host.ctx, atn_device_open(host.devices, index, &host.device));
    return host;
}

void host_close(kit_host *host) {
    atn_device_close(host->device);
    atn_devices_free(host->devices);
    kit_free(host->ctx);
}

static double gauss(uint64_t *seed) {
    double u = kit_uniform(seed), v = kit_uniform(seed);
    return sqrt(-2 * log(u + 1e-300)) * cos(6.283185307179586 * v);
}

static void apply(const double m[16], const double p[3], double out[3]) {
    double moved[3];
    for (int i = 0; i < 3; ++i) moved[i] = m[4 * i] * p[0] + m[4 * i + 1] * p[1] + m[4 * i + 2] * p[2] + m[4 * i + 3];
    memcpy(out, moved, sizeof moved);
}

/* How far the surface is from the centre in direction u. */
static double radius(const double u[3]) {
    static const double BUMP[5][5] = {/* where, how high, how wide */
                                      {1, 0, 0, 0.45, 0.35},
                                      {-0.3, 0.9, 0.3, 0.3, 0.25},
                                      {0.2, -0.5, -0.84, -0.3, 0.4},
                                      {-0.6, -0.6, 0.5, 0.35, 0.2},
                                      {0, 0.6, -0.8, 0.25, 0.3}};
    double r = 1 / sqrt(u[0] * u[0] / 1.69 + u[1] * u[1] + u[2] * u[2] / 0.49); /* axes 1.3, 1 and 0.7 */
    for (int k = 0; k < 5; ++k) {
        double d2 = 0;
        for (int i = 0; i < 3; ++i) d2 += (u[i] - BUMP[k][i]) * (u[i] - BUMP[k][i]);
        r += BUMP[k][3] * exp(-d2 / (BUMP[k][4] * BUMP[k][4] * 2));
    }
    return r;
}

double *shape_positions(const shape *s, size_t *count) {
    uint64_t seed = s->seed, other = s->noise_seed;
    double *positions = malloc(3 * s->points * sizeof *positions);
    assert_non_null(positions);
    size_t n = 0;
    for (size_t k = 0; k < s->points; ++k) {
        double u[3], length = 0, p[3];
        bool stray = kit_uniform(&other) < s->outliers;
        for (int i = 0; i < 3; ++i) {
            u[i] = gauss(&seed);
            length += u[i] * u[i];
        }
        length = sqrt(length);
        for (int i = 0; i < 3; ++i) p[i] = u[i] / length;
        double r = radius(p);
        for (int i = 0; i < 3; ++i)
            p[i] = stray ? 3 * (kit_uniform(&other) - 0.5) : p[i] * r + s->noise * gauss(&other);
        if (s->cut > 0 && p[2] > s->cut) continue;
        if (s->back) apply(s->back, p, p);
        memcpy(positions + 3 * n++, p, sizeof p);
    }
    *count = n;
    return positions;
}

atn_cloud *shape_make(atn_ctx *ctx, const shape *s) {
    size_t count;
    double *positions = shape_positions(s, &count);
    atn_cloud *cloud;
    kit_ok(ctx, atn_cloud_create(ctx, count, positions, NULL, &cloud));
    free(positions);
    return cloud;
}

void motion_make(double degrees, const double axis[3], double scale, const double shift[3], double out[16]) {
    double angle = degrees * 3.141592653589793 / 180, s = sin(angle), c = 1 - cos(angle), k[3];
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    for (int i = 0; i < 3; ++i) k[i] = axis[i] / length;
    const double skew[9] = {0, -k[2], k[1], k[2], 0, -k[0], -k[1], k[0], 0};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j)
            out[4 * i + j] = scale * ((i == j) + s * skew[3 * i + j] + c * (k[i] * k[j] - (i == j)));
        out[4 * i + 3] = shift[i];
        out[12 + i] = 0;
    }
    out[15] = 1;
}

void motion_invert(const double m[16], double out[16]) {
    double det = 0;
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        det += m[i] * (m[4 + j] * m[8 + k] - m[4 + k] * m[8 + j]);
    }
    memset(out, 0, 16 * sizeof *out);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            int r = (j + 1) % 3, s = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            out[4 * i + j] = (m[4 * r + c] * m[4 * s + d] - m[4 * r + d] * m[4 * s + c]) / det;
        }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) out[4 * i + 3] -= out[4 * i + j] * m[4 * j + 3];
    out[15] = 1;
}

double turn_between(const double a[16], const double b[16]) {
    double m[9], det[2] = {0, 0};
    const double *maps[2] = {a, b};
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < 3; ++i)
            det[k] += maps[k][i] * (maps[k][4 + (i + 1) % 3] * maps[k][8 + (i + 2) % 3] -
                                    maps[k][4 + (i + 2) % 3] * maps[k][8 + (i + 1) % 3]);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            m[3 * i + j] = 0;
            for (int k = 0; k < 3; ++k) m[3 * i + j] += a[4 * i + k] * b[4 * j + k] / cbrt(det[0] * det[1]);
        }
    double x = m[7] - m[5], y = m[2] - m[6], z = m[3] - m[1];
    return atan2(sqrt(x * x + y * y + z * z), m[0] + m[4] + m[8] - 1) * 180 / 3.141592653589793;
}

double way_between(const double a[16], const double b[16], const double at[3]) {
    double p[3], q[3];
    apply(a, at, p);
    apply(b, at, q);
    return sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
}
