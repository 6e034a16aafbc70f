/* A scanner: rays by Roberts' R2 sequence, noise along them, and some outliers. */
#include "sample/scanner.h"

#include "base/memory.h"
#include "base/size.h"

#include <math.h>
#include <string.h>

static const double PI = 3.141592653589793, DISTANCE = 5;
enum { CHUNK = 4096 };

void scanner_cross(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; ++d) out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

double scanner_normalise(double v[3]) {
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int d = 0; d < 3; ++d) v[d] /= length;
    return length;
}

/* Rodrigues: the rotation by `angle` about the unit vector `axis`, row-major. */
void scanner_rotation(const double axis[3], double angle, double out[9]) {
    double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) out[3 * i + j] = (1 - c) * axis[i] * axis[j] + (i == j ? c : 0);
    for (int d = 0; d < 3; ++d) {
        out[3 * ((d + 2) % 3) + (d + 1) % 3] += s * axis[d];
        out[3 * ((d + 1) % 3) + (d + 2) % 3] -= s * axis[d];
    }
}

void scanner_turn(const double r[9], const double v[3], double out[3]) {
    for (int i = 0; i < 3; ++i) out[i] = r[3 * i] * v[0] + r[3 * i + 1] * v[1] + r[3 * i + 2] * v[2];
}

scanner scanner_place(const shape *s, const double direction[3], atn_random *random) {
    scanner sc = {.shape = s, .random = random};
    double other[3] = {fabs(direction[0]) < 0.6, fabs(direction[0]) >= 0.6, 0};
    for (int d = 0; d < 3; ++d) sc.at[d] = DISTANCE * direction[d];
    scanner_cross(direction, other, sc.right);
    scanner_normalise(sc.right);
    scanner_cross(direction, sc.right, sc.up);
    sc.disc = s->reach / sqrt(1 - s->reach * s->reach / (DISTANCE * DISTANCE));
    sc.shift[0] = atn_random_unit(random);
    sc.shift[1] = atn_random_unit(random);
    return sc;
}

/* The ray through the place (x, y), both from -1 to 1. */
static void ray_through(const scanner *sc, double x, double y, double ray[3]) {
    for (int d = 0; d < 3; ++d) ray[d] = sc->disc * (x * sc->right[d] + y * sc->up[d]) - sc->at[d];
    scanner_normalise(ray);
}

/* Looks once at the middle of each square, so that most rays that meet nothing are never followed, and those that meet
 * something begin shortly before. What lies between the middles is narrower than anything on the shape. */
void scanner_look_around(scanner *sc, float *seen) {
    for (int j = 0; j < SCANNER_SIDE; ++j)
        for (int i = 0; i < SCANNER_SIDE; ++i) {
            double ray[3];
            ray_through(sc, (2 * i + 1.0) / SCANNER_SIDE - 1, (2 * j + 1.0) / SCANNER_SIDE - 1, ray);
            double t = sample_shape_hit(sc->shape, sc->at, ray, 0);
            seen[j * SCANNER_SIDE + i] = t < 0 ? INFINITY : (float)(t - 0.1);
        }
    for (int j = 0; j < SCANNER_SIDE; ++j)
        for (int i = 0; i < SCANNER_SIDE; ++i) {
            float nearest = INFINITY;
            for (int b = j > 0 ? j - 1 : j; b <= j + 1 && b < SCANNER_SIDE; ++b)
                for (int a = i > 0 ? i - 1 : i; a <= i + 1 && a < SCANNER_SIDE; ++a)
                    nearest = fminf(nearest, seen[b * SCANNER_SIDE + a]);
            sc->from[j * SCANNER_SIDE + i] = nearest;
        }
}

/* The next ray of Roberts' R2 sequence, which fills the square evenly whatever its length; how far it goes until it
 * meets the surface, or a negative number. */
static double next_ray(scanner *sc, double ray[3]) {
    double n = (double)sc->next++, x = sc->shift[0] + n * 0.7548776662466927, y = sc->shift[1] + n * 0.5698402909980532;
    if (sc->jitter > 0) {
        x += sc->jitter * (2 * atn_random_unit(sc->random) - 1);
        y += sc->jitter * (2 * atn_random_unit(sc->random) - 1);
    }
    x -= floor(x);
    y -= floor(y);
    double from = sc->from ? (double)sc->from[(int)(y * SCANNER_SIDE) * SCANNER_SIDE + (int)(x * SCANNER_SIDE)] : 0;
    if (!isfinite(from)) return -1;
    ray_through(sc, 2 * x - 1, 2 * y - 1, ray);
    return sample_shape_hit(sc->shape, sc->at, ray, from);
}

/* The next point of the surface that is seen. */
void scanner_next(scanner *sc, double ray[3], double *distance) {
    do *distance = next_ray(sc, ray);
    while (*distance < 0);
}

bool scanner_sees(const scanner *sc, const double p[3]) {
    double ray[3] = {p[0] - sc->at[0], p[1] - sc->at[1], p[2] - sc->at[2]}, far = scanner_normalise(ray);
    double met = sample_shape_hit(sc->shape, sc->at, ray, 0);
    return met < 0 || met > far - 0.02;
}

/* ---- scanning ---- */

/* Single precision is what scanners give, and half the size of a file. */
static double rounded(double value) { return (double)(float)value; }

/* x -> R^T (x - t): out of the target's frame into that of the source. */
static void move_back(const double t[16], double p[3]) {
    double moved[3] = {p[0] - t[3], p[1] - t[7], p[2] - t[11]};
    for (int d = 0; d < 3; ++d) p[d] = t[d] * moved[0] + t[4 + d] * moved[1] + t[8 + d] * moved[2];
}

atn_status scanner_scan(const scanner_session *s, scanner *sc, const double *transform, atn_cloud **out) {
    size_t n = s->size, bytes;
    if (!atn_size_mul(n, 3 * sizeof(double), &bytes)) return atn_fail_memory(s->ctx, SIZE_MAX, "a scan");
    double *points = atn_alloc(s->ctx, bytes), ray[3] = {0}, t = 0;
    if (!points) return ATN_ERR_MEMORY;
    sc->jitter = 1 / sqrt((double)n); /* about the distance of rays: a lattice would fit itself in many places */
    atn_status status = ATN_OK;
    for (size_t k = 0; k < n && status == ATN_OK; ++k) {
        double *p = points + 3 * k;
        scanner_next(sc, ray, &t);
        t += s->noise * atn_random_normal(sc->random);
        if (atn_random_unit(sc->random) < SCANNER_OUTLIERS)
            t = DISTANCE + sc->shape->reach * (2 * atn_random_unit(sc->random) - 1);
        for (int d = 0; d < 3; ++d) p[d] = sc->at[d] + t * ray[d];
        if (transform) move_back(transform, p);
        for (int d = 0; d < 3; ++d) p[d] = rounded(p[d]);
        if (k % CHUNK == 0) {
            status = atn_check_cancel(s->ctx);
            if (s->progress) s->progress(s->user, s->from + s->share * (double)k / (double)n);
        }
    }
    if (status == ATN_OK) status = atn_cloud_create(s->ctx, n, points, NULL, out);
    atn_free(s->ctx, points);
    return status;
}

/* ---- the pose ---- */

void scanner_draw_pose(atn_random *random, double turn_deg, double t[16]) {
    double axis[3], way[3], r[9], angle = turn_deg * PI / 180, far = turn_deg / 180;
    sample_shape_direction(random, axis);
    sample_shape_direction(random, way);
    if (turn_deg < 0) { /* any rotation is equally likely: a unit quaternion from four normal numbers */
        double q[4], length = 0;
        for (int d = 0; d < 4; ++d) q[d] = atn_random_normal(random);
        for (int d = 0; d < 4; ++d) length += q[d] * q[d];
        angle = 2 * acos(fmin(1, fabs(q[3]) / sqrt(length)));
        for (int d = 0; d < 3; ++d) axis[d] = q[d] * (q[3] < 0 ? -1 : 1);
        if (q[0] == 0 && q[1] == 0 && q[2] == 0) axis[0] = 1;
        scanner_normalise(axis);
        far = 0.5 + 1.5 * atn_random_unit(random);
    }
    scanner_rotation(axis, angle, r);
    memset(t, 0, 16 * sizeof *t);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) t[4 * i + j] = r[3 * i + j];
        t[4 * i + 3] = far * way[i];
    }
    t[15] = 1;
}
