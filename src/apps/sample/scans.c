/* A scanner looks at the shape through a disc of evenly spread rays, so that density follows the viewing angle and what
 * is hidden stays hidden. The angle between two views is sought that gives the overlap wanted. */
#include "apps/sample/scans.h"

#include "apps/sample/shape.h"
#include "base/memory.h"
#include "base/size.h"

#include <math.h>
#include <string.h>

static const double PI = 3.141592653589793, DISTANCE = 5, OUTLIERS = 0.02;
enum { PROBES = 3000, MEASURED = 20000, CHUNK = 4096, SIDE = 128 };

typedef struct scanner {
    const shape *shape;
    double at[3], right[3], up[3];
    double disc;        /* radius of what is looked at, in the plane through the centre */
    double shift[2];    /* where the sequence of rays begins */
    double jitter;      /* what a ray is off at most, as a share of the width */
    uint64_t next;      /* ray */
    atn_random *random; /* noise and outliers */
    /* From where on there may be something, for the SIDE x SIDE squares of what is looked at; INFINITY: nothing is
     * there. NULL: not known. */
    float *from;
} scanner;

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; ++d) out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

static double normalise(double v[3]) {
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int d = 0; d < 3; ++d) v[d] /= length;
    return length;
}

/* Rodrigues: the rotation by `angle` about the unit vector `axis`, row-major. */
static void rotation(const double axis[3], double angle, double out[9]) {
    double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) out[3 * i + j] = (1 - c) * axis[i] * axis[j] + (i == j ? c : 0);
    for (int d = 0; d < 3; ++d) {
        out[3 * ((d + 2) % 3) + (d + 1) % 3] += s * axis[d];
        out[3 * ((d + 1) % 3) + (d + 2) % 3] -= s * axis[d];
    }
}

static void turn(const double r[9], const double v[3], double out[3]) {
    for (int i = 0; i < 3; ++i) out[i] = r[3 * i] * v[0] + r[3 * i + 1] * v[1] + r[3 * i + 2] * v[2];
}

static scanner place_scanner(const shape *s, const double direction[3], atn_random *random) {
    scanner sc = {.shape = s, .random = random};
    double other[3] = {fabs(direction[0]) < 0.6, fabs(direction[0]) >= 0.6, 0};
    for (int d = 0; d < 3; ++d) sc.at[d] = DISTANCE * direction[d];
    cross(direction, other, sc.right);
    normalise(sc.right);
    cross(direction, sc.right, sc.up);
    sc.disc = s->reach / sqrt(1 - s->reach * s->reach / (DISTANCE * DISTANCE));
    sc.shift[0] = atn_random_unit(random);
    sc.shift[1] = atn_random_unit(random);
    return sc;
}

/* The ray through the place (x, y), both from -1 to 1. */
static void ray_through(const scanner *sc, double x, double y, double ray[3]) {
    for (int d = 0; d < 3; ++d) ray[d] = sc->disc * (x * sc->right[d] + y * sc->up[d]) - sc->at[d];
    normalise(ray);
}

/* Looks once at the middle of each square, so that most rays that meet nothing are never followed, and those that meet
 * something begin shortly before. What lies between the middles is narrower than anything on the shape. */
static void look_around(scanner *sc, float *seen) {
    for (int j = 0; j < SIDE; ++j)
        for (int i = 0; i < SIDE; ++i) {
            double ray[3];
            ray_through(sc, (2 * i + 1.0) / SIDE - 1, (2 * j + 1.0) / SIDE - 1, ray);
            double t = sample_shape_hit(sc->shape, sc->at, ray, 0);
            seen[j * SIDE + i] = t < 0 ? INFINITY : (float)(t - 0.1);
        }
    for (int j = 0; j < SIDE; ++j)
        for (int i = 0; i < SIDE; ++i) {
            float nearest = INFINITY;
            for (int b = j > 0 ? j - 1 : j; b <= j + 1 && b < SIDE; ++b)
                for (int a = i > 0 ? i - 1 : i; a <= i + 1 && a < SIDE; ++a)
                    nearest = fminf(nearest, seen[b * SIDE + a]);
            sc->from[j * SIDE + i] = nearest;
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
    double from = sc->from ? (double)sc->from[(int)(y * SIDE) * SIDE + (int)(x * SIDE)] : 0;
    if (!isfinite(from)) return -1;
    ray_through(sc, 2 * x - 1, 2 * y - 1, ray);
    return sample_shape_hit(sc->shape, sc->at, ray, from);
}

/* The next point of the surface that is seen. */
static void next_hit(scanner *sc, double ray[3], double *distance) {
    do *distance = next_ray(sc, ray);
    while (*distance < 0);
}

static bool sees(const scanner *sc, const double p[3]) {
    double ray[3] = {p[0] - sc->at[0], p[1] - sc->at[1], p[2] - sc->at[2]}, far = normalise(ray);
    double met = sample_shape_hit(sc->shape, sc->at, ray, 0);
    return met < 0 || met > far - 0.02;
}

/* ---- how much two views share ---- */

static double shared(scanner from, const scanner *other, int probes) {
    int both = 0;
    for (int k = 0; k < probes; ++k) {
        double ray[3], t, p[3];
        next_hit(&from, ray, &t);
        for (int d = 0; d < 3; ++d) p[d] = from.at[d] + t * ray[d];
        both += sees(other, p);
    }
    return (1 - OUTLIERS) * both / probes;
}

/* The other view, as far from `view` around `axis` as leaves the overlap wanted. */
static double find_view(const scanner *from, const double view[3], const double axis[3], double wanted,
                        double other[3]) {
    double low = 0, high = PI, r[9];
    for (int k = 0; k < 14; ++k) {
        double angle = 0.5 * (low + high);
        atn_random unused;
        atn_random_seed(&unused, 0);
        rotation(axis, angle, r);
        turn(r, view, other);
        scanner sc = place_scanner(from->shape, other, &unused);
        if (shared(*from, &sc, PROBES) > wanted)
            low = angle;
        else
            high = angle;
    }
    rotation(axis, low, r);
    turn(r, view, other);
    return low;
}

/* ---- scanning ---- */

typedef struct session {
    atn_ctx *ctx;
    const atn_scans_settings *settings;
    atn_scans_progress *progress;
    void *user;
    double from; /* share that is done before this scan */
} session;

/* Single precision is what scanners give, and half the size of a file. */
static double rounded(double value) { return (double)(float)value; }

/* x -> R^T (x - t): out of the target's frame into that of the source. */
static void move_back(const double t[16], double p[3]) {
    double moved[3] = {p[0] - t[3], p[1] - t[7], p[2] - t[11]};
    for (int d = 0; d < 3; ++d) p[d] = t[d] * moved[0] + t[4 + d] * moved[1] + t[8 + d] * moved[2];
}

static atn_status scan(const session *s, scanner *sc, const double *transform, atn_cloud **out) {
    size_t n = s->settings->size, bytes;
    if (!atn_size_mul(n, 3 * sizeof(double), &bytes)) return atn_fail_memory(s->ctx, SIZE_MAX, "a scan");
    double *points = atn_alloc(s->ctx, bytes), ray[3], t;
    if (!points) return ATN_ERR_MEMORY;
    sc->jitter = 1 / sqrt((double)n); /* about the distance of rays: a lattice would fit itself in many places */
    atn_status status = ATN_OK;
    for (size_t k = 0; k < n && status == ATN_OK; ++k) {
        double *p = points + 3 * k;
        next_hit(sc, ray, &t);
        t += s->settings->noise * atn_random_normal(sc->random);
        if (atn_random_unit(sc->random) < OUTLIERS)
            t = DISTANCE + sc->shape->reach * (2 * atn_random_unit(sc->random) - 1);
        for (int d = 0; d < 3; ++d) p[d] = sc->at[d] + t * ray[d];
        if (transform) move_back(transform, p);
        for (int d = 0; d < 3; ++d) p[d] = rounded(p[d]);
        if (k % CHUNK == 0) {
            status = atn_check_cancel(s->ctx);
            if (s->progress) s->progress(s->user, s->from + 0.5 * (double)k / (double)n);
        }
    }
    if (status == ATN_OK) status = atn_cloud_create(s->ctx, n, points, NULL, out);
    atn_free(s->ctx, points);
    return status;
}

/* ---- the pose ---- */

static void draw_pose(atn_random *random, double turn_deg, double t[16]) {
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
        normalise(axis);
        far = 0.5 + 1.5 * atn_random_unit(random);
    }
    rotation(axis, angle, r);
    memset(t, 0, 16 * sizeof *t);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) t[4 * i + j] = r[3 * i + j];
        t[4 * i + 3] = far * way[i];
    }
    t[15] = 1;
}

atn_status atn_scans_make(atn_ctx *ctx, const atn_scans_settings *settings, atn_scans_progress *progress, void *user,
                          atn_scans *out) {
    *out = (atn_scans){.outliers = OUTLIERS};
    shape *s = atn_alloc(ctx, sizeof *s);
    float *squares = atn_alloc(ctx, 3 * sizeof(float[SIDE * SIDE])); /* of both scanners, and room to work */
    if (!s || !squares) {
        atn_free(ctx, squares);
        atn_free(ctx, s);
        return ATN_ERR_MEMORY;
    }
    atn_random random;
    double view[3], other[3], any[3], axis[3];
    session work = {.ctx = ctx, .settings = settings, .progress = progress, .user = user};
    atn_random_seed(&random, settings->seed);
    sample_shape_make(s, &random);
    sample_shape_direction(&random, view);
    do sample_shape_direction(&random, any);
    while (fabs(view[0] * any[0] + view[1] * any[1] + view[2] * any[2]) > 0.9);
    cross(view, any, axis);
    normalise(axis);
    scanner first = place_scanner(s, view, &random);
    first.from = squares;
    look_around(&first, squares + 2 * SIDE * SIDE);
    out->views_deg = find_view(&first, view, axis, settings->overlap, other) * 180 / PI;
    scanner second = place_scanner(s, other, &random);
    second.from = squares + SIDE * SIDE;
    look_around(&second, squares + 2 * SIDE * SIDE);
    out->overlap = shared(first, &second, settings->size < MEASURED ? MEASURED / 4 : MEASURED);
    draw_pose(&random, settings->turn_deg, out->transform);
    atn_status status = scan(&work, &first, out->transform, &out->source);
    work.from = 0.5;
    if (status == ATN_OK) status = scan(&work, &second, NULL, &out->target);
    if (status != ATN_OK) atn_scans_free(out);
    atn_free(ctx, squares);
    atn_free(ctx, s);
    return status;
}

void atn_scans_free(atn_scans *scans) {
    atn_cloud_free(scans->source);
    atn_cloud_free(scans->target);
    *scans = (atn_scans){0};
}
