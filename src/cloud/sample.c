/* Points spread evenly over triangles. Point i of n takes the triangle where the areas up to it pass (i + u) / n of the
 * whole, 0 <= u < 1 at random: a triangle gets its share, to less than two points. Inside a triangle they follow the
 * R2 sequence (Roberts 2018) from a place at random, taken to the triangle by a + r (1 - v) (b - a) + r v (c - a) with
 * r = sqrt(u), which keeps areas. */
#include "base/memory.h"
#include "base/random.h"
#include "base/size.h"
#include "cloud/mesh.h"

#include <math.h>
#include <stdio.h>

/* Powers of x with x^3 = x + 1: no points in the plane lie more evenly. */
static const double STEP[2] = {0.7548776662466927, 0.5698402909980532};

typedef struct sampler {
    const cloud_mesh *mesh;
    const double *position[3]; /* of the corners */
    double scale;              /* a power of two that makes coordinates less than one: no area overflows */
    double *up_to;             /* owned; the areas of the triangles so far, as scaled, twice */
} sampler;

static double scale_of(const atn_cloud *corners) {
    double most = 0;
    int exponent = 0;
    for (int d = 0; d < 3; ++d) {
        const double *p = atn_cloud_positions(corners, d);
        for (size_t k = 0; k < corners->count; ++k) most = fmax(most, fabs(p[k]));
    }
    frexp(most, &exponent);
    return ldexp(1, exponent < -1000 ? 1000 : -exponent);
}

/* (b - a) x (c - a); returns its length, twice the area. */
static double cross_of(const sampler *s, size_t triangle, double cross[3]) {
    const uint32_t *corner = s->mesh->corner + 3 * triangle;
    double b[3], c[3];
    for (int d = 0; d < 3; ++d) {
        const double *p = s->position[d];
        b[d] = p[corner[1]] * s->scale - p[corner[0]] * s->scale;
        c[d] = p[corner[2]] * s->scale - p[corner[0]] * s->scale;
    }
    for (int d = 0; d < 3; ++d) cross[d] = b[(d + 1) % 3] * c[(d + 2) % 3] - b[(d + 2) % 3] * c[(d + 1) % 3];
    return sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
}

static atn_status add_areas(sampler *s, const char *name) {
    size_t bytes, triangles = s->mesh->triangles;
    const atn_ctx *ctx = s->mesh->ctx;
    s->up_to = atn_alloc(ctx, atn_size_mul(triangles, sizeof *s->up_to, &bytes) ? bytes : SIZE_MAX);
    if (!s->up_to) return ATN_ERR_MEMORY;
    double sum = 0, cross[3];
    for (size_t k = 0; k < triangles; ++k) s->up_to[k] = sum += cross_of(s, k, cross);
    if (sum > 0) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: none of the %zu triangles has an area", name, triangles);
}

/* Between the corners, whatever rounding says. */
static double blend(const double *p, const uint32_t *corner, double u, double v) {
    double r = sqrt(u), a = p[corner[0]], b = p[corner[1]], c = p[corner[2]];
    double value = (1 - r) * a + r * (1 - v) * b + r * v * c;
    return fmin(fmax(value, fmin(a, fmin(b, c))), fmax(a, fmax(b, c)));
}

static atn_status add_points(const sampler *s, size_t points, uint64_t seed, atn_cloud *out) {
    atn_random random;
    atn_random_seed(&random, seed);
    size_t triangle = 0, last = s->mesh->triangles - 1;
    double whole = s->up_to[last], place[2] = {0}, cross[3], area = 0;
    while (last && s->up_to[last - 1] == whole) --last; /* one with an area */
    atn_status status = ATN_OK;
    for (size_t k = 0; status == ATN_OK && k < points; ++k) {
        double passed = ((double)k + atn_random_unit(&random)) / (double)points * whole;
        bool first = k == 0;
        while (triangle < last && s->up_to[triangle] <= passed) ++triangle, first = true;
        if (first) {
            area = cross_of(s, triangle, cross);
            for (int d = 0; d < 2; ++d) place[d] = atn_random_unit(&random);
        }
        double value[ROLE_COUNT] = {0};
        for (int d = 0; d < 3; ++d) {
            value[d] = blend(s->position[d], s->mesh->corner + 3 * triangle, place[0], place[1]);
            value[ROLE_NX + d] = cross[d] / area;
        }
        for (int d = 0; d < 2; ++d) place[d] = place[d] + STEP[d] - (place[d] + STEP[d] >= 1);
        status = cloud_add(out, NULL, value);
    }
    return status;
}

atn_status cloud_mesh_sample(const cloud_mesh *mesh, const atn_cloud *corners, const char *name, size_t points,
                             uint64_t seed, atn_cloud **out) {
    sampler s = {.mesh = mesh, .scale = scale_of(corners)};
    for (int d = 0; d < 3; ++d) s.position[d] = atn_cloud_positions(corners, d);
    *out = NULL;
    atn_cloud *cloud = NULL;
    atn_status status = add_areas(&s, name);
    if (status == ATN_OK) status = cloud_make(mesh->ctx, NULL, &cloud);
    if (status == ATN_OK) status = cloud_begin(cloud, NULL, ROLE_POSITION | ROLE_NORMAL, points);
    if (status == ATN_OK) status = add_points(&s, points, seed, cloud);
    atn_free(mesh->ctx, s.up_to);
    if (status == ATN_OK) {
        snprintf(cloud->format, sizeof cloud->format, "%s", corners->format);
        *out = cloud;
    } else
        atn_cloud_free(cloud);
    return status;
}
