/* Rotations to try, evenly distributed: points of a spiral over the unit quaternions; among those that are equivalent
 * under the model's symmetry, only the one nearest to the identity is kept. */
#include "apps/lattice/lattice.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* Point k of n: two angles turn at rates whose ratio no fraction comes near. */
static void spiral(int64_t k, int64_t n, double q[4]) {
    double s = (double)k + 0.5, t = s / (double)n, r = sqrt(t), far = sqrt(1 - t);
    double alpha = 2 * PI * s / 1.4142135623730951, beta = 2 * PI * s / 1.533751168755204;
    q[0] = r * sin(alpha), q[1] = r * cos(alpha), q[2] = far * sin(beta), q[3] = far * cos(beta);
    if (q[0] < 0)
        for (int c = 0; c < 4; ++c) q[c] = -q[c];
}

/* The first number of a product of turns says how far it is from the identity. */
static bool is_nearest(const double q[4], int32_t symmetries, const double (*symmetry)[4]) {
    for (int32_t k = 1; k < symmetries; ++k) {
        const double *s = symmetry[k];
        if (fabs(s[0] * q[0] - s[1] * q[1] - s[2] * q[2] - s[3] * q[3]) > q[0]) return false;
    }
    return true;
}

static int by_x(const void *a, const void *b) {
    const double *p = a, *q = b;
    return (p[1] > q[1]) - (p[1] < q[1]);
}

static int by_y(const void *a, const void *b) {
    const double *p = a, *q = b;
    return (p[2] > q[2]) - (p[2] < q[2]);
}

static int by_z(const void *a, const void *b) {
    const double *p = a, *q = b;
    return (p[3] > q[3]) - (p[3] < q[3]);
}

/* Eight groups of rotations that lie together: halves along x, of those along y, of those along z. */
static void group(lattice_turns *turns) {
    static int (*const BY[3])(const void *, const void *) = {by_x, by_y, by_z};
    for (int level = 0; level < 3; ++level) {
        size_t length = (size_t)turns->count >> level;
        for (size_t k = 0; k < (size_t)1 << level; ++k)
            qsort(turns->quaternion + k * length, length, sizeof *turns->quaternion, BY[level]);
    }
}

static bool is_for(const lattice_turns *turns, int32_t symmetries, const double (*symmetry)[4], int32_t times) {
    return turns && turns->quaternion && turns->times == times && turns->symmetries == symmetries &&
           memcmp(turns->symmetry, symmetry, (size_t)symmetries * sizeof *symmetry) == 0;
}

static atn_status copy(const atn_ctx *ctx, const lattice_turns *from, lattice_turns *out) {
    size_t bytes = (size_t)from->count * sizeof *from->quaternion;
    *out = *from;
    out->quaternion = atn_alloc(ctx, bytes);
    if (!out->quaternion) return ATN_ERR_MEMORY;
    memcpy(out->quaternion, from->quaternion, bytes);
    return ATN_OK;
}

atn_status lattice_turns_make(const atn_ctx *ctx, int32_t symmetries, const double (*symmetry)[4], int32_t times,
                              const lattice_turns *other, lattice_turns *out) {
    int64_t wanted = (int64_t)LATTICE_CUBIC * 24 * times, kept = 0, most = wanted / symmetries * 2 + 64;
    if (is_for(out, symmetries, symmetry, times)) return ATN_OK;
    lattice_turns_free(ctx, out);
    if (is_for(other, symmetries, symmetry, times)) return copy(ctx, other, out);
    *out = (lattice_turns){.times = times, .symmetries = symmetries};
    memcpy(out->symmetry, symmetry, (size_t)symmetries * sizeof *symmetry);
    out->quaternion = atn_alloc(ctx, (size_t)most * sizeof *out->quaternion);
    if (!out->quaternion) return ATN_ERR_MEMORY;
    for (int64_t k = 0; k < wanted && kept < most - 16; ++k) {
        double q[4];
        spiral(k, wanted, q);
        if (is_nearest(q, symmetries, symmetry)) memcpy(out->quaternion[kept++], q, sizeof q);
    }
    double volume = 8 * PI * PI / (double)wanted; /* the volume of rotation vectors that each represents */
    out->spread = cbrt(volume * 3 / (4 * PI)) / sqrt(5);
    while (kept % (2 * LATTICE_GROUPS) != 0) { /* some twice, so that groups are as long as each other */
        memcpy(out->quaternion[kept], out->quaternion[kept / 2], sizeof *out->quaternion);
        ++kept;
    }
    out->count = (int32_t)kept;
    group(out);
    return ATN_OK;
}

void lattice_turns_free(const atn_ctx *ctx, lattice_turns *turns) {
    atn_free(ctx, turns->quaternion);
    *turns = (lattice_turns){0};
}
