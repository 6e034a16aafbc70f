/* Tables of a model's density, so that a neighbour and a rotation need one lookup: f(x) = p sum_j N(x; m_j, S_j) + e
 * over voxels, S_j = s^2 along m_j and s^2 + (turn |m_j|)^2 across it: what is left when rotations are tried in steps.
 * Row by row, in lanes.
 */
#include "apps/lattice/lattice.h"

#include "base/lane_math.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { FINEST = 40 }; /* voxels from the centre to the cut-off, at most: tables stay in a core's cache */
enum { LANES = 16, ROW = 2 * FINEST + 8 + LANES }; /* voxels: a step of a loop over a row; and the longest row */
static const double PI = 3.14159265358979323846, FAR = 4.5; /* deviations from a point where it adds nothing */

lattice_box lattice_box_make(double cutoff, double shift, double noise, const bool mirror[3]) {
    lattice_box box = {.cutoff = cutoff, .reach = cutoff + shift};
    box.edge = fmax(box.reach / FINEST, noise / 4);
    int32_t half = (int32_t)ceil(box.reach / box.edge) + 1;
    for (int axis = 0; axis < 3; ++axis) {
        box.mirror[axis] = mirror[axis];
        box.size[axis] = mirror[axis] ? half : 2 * half;
        box.offset[axis] = mirror[axis] ? 0 : half;
    }
    return box;
}

size_t lattice_box_voxels(const lattice_box *box) {
    return (size_t)box->size[0] * (size_t)box->size[1] * (size_t)box->size[2];
}

static double middle(const lattice_box *box, int axis, int32_t voxel) {
    return (voxel + 0.5 - box->offset[axis]) * box->edge;
}

/* A point's part of the density: norm e^(along d^2 + all |x - m|^2), d: (x - m) along the direction of m. */
typedef struct lobe {
    float m[3], toward[3]; /* the point; its direction */
    float along, all, norm;
    int32_t from[3], to[3]; /* voxels that it reaches */
} lobe;

static lobe lobe_make(const lattice_points *points, size_t k, const lattice_box *box, const lattice_density *d) {
    double m[3] = {points->axis[0][k], points->axis[1][k], points->axis[2][k]};
    double r2 = m[0] * m[0] + m[1] * m[1] + m[2] * m[2], r = sqrt(r2);
    double along = d->noise * d->noise, across = along + d->turn * d->turn * r2, reach = FAR * sqrt(across);
    lobe out = {.along = (float)(-0.5 * (1 / along - 1 / across)), .all = (float)(-0.5 / across)};
    out.norm = (float)(d->efficiency / (pow(2 * PI, 1.5) * sqrt(along) * across));
    for (int axis = 0; axis < 3; ++axis) {
        out.m[axis] = (float)m[axis], out.toward[axis] = (float)(m[axis] / r);
        out.from[axis] = (int32_t)fmax(0, floor((m[axis] - reach) / box->edge + box->offset[axis]));
        out.to[axis] = (int32_t)fmin(box->size[axis] - 1, floor((m[axis] + reach) / box->edge + box->offset[axis]));
    }
    return out;
}

/* Voxels along x: where they are, the density there, and the sum of the model's points that it consists of. */
typedef struct row {
    float x[ROW], value[ROW], mean[3][ROW];
} row;

/* What is too far off to be told from nothing counts as a point 80 off, in squares of deviations. */
static const float LEAST = -40;

ATN_IN_LANES static void add_values(const lobe *q, float y, float z, row *to) {
    const float dy = y - q->m[1], dz = z - q->m[2], mx = q->m[0], tx = q->toward[0], norm = q->norm;
    const float sum = dy * q->toward[1] + dz * q->toward[2], square = dy * dy + dz * dz, along = q->along, all = q->all;
    const float *restrict x = to->x + q->from[0];
    float *restrict value = to->value + q->from[0];
    const int32_t n = (q->to[0] - q->from[0] + LANES) / LANES * LANES;
    ATN_LANES()
    for (int32_t k = 0; k < n; ++k) {
        float dx = x[k] - mx, d = dx * tx + sum, e = along * d * d + all * (dx * dx + square);
        value[k] += norm * atn_lane_power(e > LEAST ? e : LEAST);
    }
}

ATN_IN_LANES static void add_means(const lobe *q, float y, float z, row *to) {
    const float dy = y - q->m[1], dz = z - q->m[2], mx = q->m[0], my = q->m[1], mz = q->m[2], tx = q->toward[0];
    const float sum = dy * q->toward[1] + dz * q->toward[2], square = dy * dy + dz * dz, along = q->along, all = q->all;
    const float *restrict x = to->x + q->from[0], norm = q->norm;
    float *restrict value = to->value + q->from[0], *restrict px = to->mean[0] + q->from[0];
    float *restrict py = to->mean[1] + q->from[0], *restrict pz = to->mean[2] + q->from[0];
    const int32_t n = (q->to[0] - q->from[0] + LANES) / LANES * LANES;
    ATN_LANES()
    for (int32_t k = 0; k < n; ++k) {
        float dx = x[k] - mx, d = dx * tx + sum, e = along * d * d + all * (dx * dx + square);
        float f = norm * atn_lane_power(e > LEAST ? e : LEAST);
        value[k] += f, px[k] += f * mx, py[k] += f * my, pz[k] += f * mz;
    }
}

/* What layers of a table need; cores take layers. */
typedef struct layers {
    const lobe *lobe;
    size_t count;
    const lattice_box *box;
    double background;
    float *value, *mean; /* mean: NULL, or x of all voxels, then y, then z */
    size_t voxels;
    int32_t *near; /* room for the numbers of all points, for each layer */
    double *sum;   /* of each layer: the voxels inside the ball; NULL: nobody asks */
} layers;

/* Sums over the points become means. */
ATN_IN_LANES static void end_means(int32_t n, row *now) {
    const float *restrict value = now->value;
    float *restrict px = now->mean[0], *restrict py = now->mean[1], *restrict pz = now->mean[2];
    ATN_LANES()
    for (int32_t k = 0; k < n; ++k) {
        float per = 1 / (value[k] > 1e-30F ? value[k] : 1e-30F);
        px[k] *= per, py[k] *= per, pz[k] *= per;
    }
}

/* The background is there. */
ATN_IN_LANES static void end_values(float background, int32_t n, row *now) {
    float *restrict value = now->value;
    ATN_LANES()
    for (int32_t k = 0; k < n; ++k) value[k] += background;
}

/* Of the voxels inside the ball. */
ATN_IN_LANES static double add_ball(const layers *of, double y, double z, const row *now) {
    const float far = (float)(of->box->cutoff * of->box->cutoff - y * y - z * z);
    const float *restrict x = now->x, *restrict value = now->value;
    const int32_t n = of->box->size[0];
    double sum = 0;
    ATN_LANES(reduction(+ : sum))
    for (int32_t k = 0; k < n; ++k) sum += x[k] * x[k] < far ? (double)value[k] : 0;
    return sum;
}

static void put_row(const layers *of, const row *from, size_t at) {
    size_t bytes = (size_t)of->box->size[0] * sizeof *from->value;
    memcpy(of->value + at, from->value, bytes);
    for (size_t c = 0; c < 3 && of->mean; ++c) memcpy(of->mean + c * of->voxels + at, from->mean[c], bytes);
}

/* The points that reach layer z, of which only some reach a row. */
static size_t find_near(const layers *of, int64_t z, int32_t *near) {
    size_t count = 0;
    for (size_t k = 0; k < of->count; ++k) {
        const lobe *q = &of->lobe[k];
        if (z >= q->from[2] && z <= q->to[2] && q->from[0] <= q->to[0]) near[count++] = (int32_t)k;
    }
    return count;
}

static void fill_layers(void *user, int64_t low, int64_t high) {
    const layers *of = user;
    const lattice_box *box = of->box;
    size_t room = (size_t)(box->size[0] + LANES) * sizeof(float); /* of a row, and of what lanes add behind it */
    row now;
    for (int32_t x = 0; x < ROW; ++x) now.x[x] = (float)middle(box, 0, x);
    for (int64_t z = low; z < high; ++z) {
        int32_t *near = of->near + (size_t)z * of->count;
        size_t count = find_near(of, z, near);
        for (int32_t y = 0; y < box->size[1]; ++y) {
            float py = (float)middle(box, 1, y), pz = (float)middle(box, 2, (int32_t)z);
            memset(now.value, 0, room);
            for (size_t c = 0; c < 3 && of->mean; ++c) memset(now.mean[c], 0, room);
            for (size_t k = 0; k < count; ++k) {
                const lobe *q = &of->lobe[near[k]];
                if (y >= q->from[1] && y <= q->to[1]) (of->mean ? add_means : add_values)(q, py, pz, &now);
            }
            size_t at = ((size_t)z * (size_t)box->size[1] + (size_t)y) * (size_t)box->size[0];
            if (of->mean) end_means(box->size[0], &now);
            end_values((float)of->background, box->size[0], &now);
            if (of->sum) of->sum[z] += add_ball(of, (double)py, (double)pz, &now);
            put_row(of, &now, at);
        }
    }
}

/* The integral over the ball, from what the voxels inside say; half tables count twice. */
static double integral(const lattice_box *box, const double *sum) {
    double all = 0, times = box->edge * box->edge * box->edge;
    for (int axis = 0; axis < 3; ++axis) times *= box->mirror[axis] ? 2 : 1;
    for (int32_t z = 0; z < box->size[2]; ++z) all += sum[z];
    return all * times;
}

atn_status lattice_table_make(const atn_ctx *ctx, const lattice_points *points, const lattice_box *box,
                              const lattice_density *density, float *value, float *mean, double *expected) {
    double sum[2 * FINEST + 8] = {0};
    layers of = {
        .box = box, .background = density->background, .value = value, .mean = mean, .sum = expected ? sum : NULL};
    lobe *list = atn_alloc(ctx, (points->count + 1) * sizeof *list);
    of.lobe = list;
    of.voxels = lattice_box_voxels(box);
    of.near = atn_alloc(ctx, (points->count + 1) * (size_t)box->size[2] * sizeof *of.near);
    if (!list || !of.near) {
        atn_free(ctx, list);
        atn_free(ctx, of.near);
        return ATN_ERR_MEMORY;
    }
    for (; of.count < points->count; ++of.count) list[of.count] = lobe_make(points, of.count, box, density);
    atn_parallel_pieces(box->size[2], fill_layers, &of); /* some have much more to do than others */
    if (expected) *expected = integral(box, sum);
    atn_free(ctx, of.near);
    atn_free(ctx, list);
    return atn_check_cancel(ctx);
}
