/* The surface that is scanned: its radius over the faces of a cube, bilinear between the nodes, which are so near to
 * each other that the facets drown in the least of noises. Rays march, and refine what they hit. */
#include "sample/shape.h"

#include <math.h>

static const double SHORTEST_STEP = 0.01, CAUTION = 0.4;

void sample_shape_direction(atn_random *random, double out[3]) {
    double z = 2 * atn_random_unit(random) - 1, turn = 6.283185307179586 * atn_random_unit(random);
    double rest = sqrt(fmax(0, 1 - z * z));
    out[0] = rest * cos(turn);
    out[1] = rest * sin(turn);
    out[2] = z;
}

static double radius_at(const shape *s, const double u[3]) {
    double r = 1;
    for (int k = 0; k < SHAPE_BUMPS; ++k) {
        const double *c = s->centre[k];
        r += s->height[k] * exp(s->kappa[k] * (u[0] * c[0] + u[1] * c[1] + u[2] * c[2] - 1));
    }
    return r;
}

/* ---- the map: face 2 a + (negative) for the axis a of the largest component ---- */

static double map_at(const shape *s, const double p[3]) {
    double size[3] = {fabs(p[0]), fabs(p[1]), fabs(p[2])};
    int a = size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2;
    double scale = 0.5 * SHAPE_SIDE / size[a];
    double x = p[(a + 1) % 3] * scale + 0.5 * SHAPE_SIDE, y = p[(a + 2) % 3] * scale + 0.5 * SHAPE_SIDE;
    int i = (int)x, j = (int)y;
    if (i >= SHAPE_SIDE) i = SHAPE_SIDE - 1;
    if (j >= SHAPE_SIDE) j = SHAPE_SIDE - 1;
    const float(*face)[SHAPE_SIDE + 1] = s->map[2 * a + (p[a] < 0)];
    double u = x - i, v = y - j;
    return (1 - v) * ((1 - u) * (double)face[j][i] + u * (double)face[j][i + 1]) +
           v * ((1 - u) * (double)face[j + 1][i] + u * (double)face[j + 1][i + 1]);
}

double sample_shape_radius(const shape *s, const double direction[3]) { return map_at(s, direction); }

static void fill_map(shape *s) {
    s->reach = 0;
    for (int f = 0; f < 6; ++f)
        for (int j = 0; j <= SHAPE_SIDE; ++j)
            for (int i = 0; i <= SHAPE_SIDE; ++i) {
                double p[3];
                p[f / 2] = f % 2 ? -1 : 1;
                p[(f / 2 + 1) % 3] = 2.0 * i / SHAPE_SIDE - 1;
                p[(f / 2 + 2) % 3] = 2.0 * j / SHAPE_SIDE - 1;
                double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
                for (int d = 0; d < 3; ++d) p[d] /= length;
                double r = radius_at(s, p);
                s->map[f][j][i] = (float)r;
                if (r > s->reach) s->reach = r;
            }
    s->reach += 0.01;
}

static double between(atn_random *random, const double limits[2]) {
    return limits[0] + (limits[1] - limits[0]) * atn_random_unit(random);
}

void sample_shape_make(shape *s, atn_random *random) {
    static const struct {
        int count;
        double kappa[2], height[2]; /* from, to */
    } SIZES[] = {{12, {6, 24}, {0.15, 0.35}}, {18, {25, 60}, {0.09, 0.2}}, {18, {60, 110}, {0.05, 0.1}}};
    for (int k = 0, size = 0, left = SIZES[0].count; k < SHAPE_BUMPS; ++k, --left) { /* every third one is a dent */
        if (left == 0) left = SIZES[++size].count;
        sample_shape_direction(random, s->centre[k]);
        s->kappa[k] = between(random, SIZES[size].kappa);
        s->height[k] = between(random, SIZES[size].height) * (k % 3 == 2 ? -0.8 : 1);
    }
    s->kappa[0] = 30; /* the ears: of different size, and neither side by side nor opposite */
    s->height[0] = 0.6;
    s->kappa[1] = 22;
    s->height[1] = 0.45;
    const double *a = s->centre[0], *b = s->centre[1];
    while (fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) > 0.7) sample_shape_direction(random, s->centre[1]);
    fill_map(s);
}

/* ---- rays ---- */

static double along(const double origin[3], const double ray[3], double t, double p[3]) {
    for (int d = 0; d < 3; ++d) p[d] = origin[d] + t * ray[d];
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
}

/* Above the surface it is positive. */
static double height_at(const shape *s, const double origin[3], const double ray[3], double t) {
    double p[3], length = along(origin, ray, t, p);
    return length > 0 ? length - map_at(s, p) : -1;
}

/* Regula falsi between a place above the surface and one below it. */
static double refine(const shape *s, const double origin[3], const double ray[3], double a, double fa, double b,
                     double fb) {
    for (int k = 0; k < 4; ++k) {
        double t = a + (b - a) * fa / (fa - fb), f = height_at(s, origin, ray, t);
        if (f > 0)
            a = t, fa = f;
        else
            b = t, fb = f;
    }
    return a + (b - a) * fa / (fa - fb);
}

double sample_shape_hit(const shape *s, const double origin[3], const double ray[3], double from) {
    double middle = -(origin[0] * ray[0] + origin[1] * ray[1] + origin[2] * ray[2]), nearest[3];
    double distance = along(origin, ray, middle, nearest), half = s->reach * s->reach - distance * distance;
    if (!(half > 0)) return -1;
    half = sqrt(half);
    double last = 0;
    for (double t = fmax(from, middle - half), before = t; t < middle + half;) {
        double height = height_at(s, origin, ray, t);
        if (height <= 0) return last > 0 ? refine(s, origin, ray, before, last, t, height) : t;
        before = t;
        last = height;
        t += fmax(SHORTEST_STEP, CAUTION * height);
    }
    return -1;
}
