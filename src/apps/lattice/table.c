/* Tables of a model's density, so that a neighbour and a rotation need one lookup: f(x) = p sum_j N(x; m_j, S_j) + e
 * over voxels, S_j = s^2 along m_j and s^2 + (turn |m_j|)^2 across it: what is left when rotations are tried in steps.
 */
#include "apps/lattice/lattice.h"

#include "base/parallel.h"
#include "ranks/ranks.h"

#include <math.h>
#include <string.h>

enum { FINEST = 40 }; /* voxels from the centre to the cut-off, at most: tables stay in a core's cache */
static const double PI = 3.14159265358979323846;

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

/* A point's part of the voxels near it, of the layers from `low` to `high` - 1. */
static void add_point(const lattice_points *points, size_t k, const lattice_box *box, const lattice_density *d,
                      int32_t low, int32_t high, float *value, float *mean) {
    double m[3] = {points->axis[0][k], points->axis[1][k], points->axis[2][k]};
    double r2 = m[0] * m[0] + m[1] * m[1] + m[2] * m[2], r = sqrt(r2);
    double along = d->noise * d->noise, across = along + d->turn * d->turn * r2, reach = 4.5 * sqrt(across);
    double norm = d->efficiency / (pow(2 * PI, 1.5) * sqrt(along) * across);
    int32_t from[3], to[3];
    for (int axis = 0; axis < 3; ++axis) {
        from[axis] = (int32_t)fmax(0, floor((m[axis] - reach) / box->edge + box->offset[axis]));
        to[axis] = (int32_t)fmin(box->size[axis] - 1, floor((m[axis] + reach) / box->edge + box->offset[axis]));
    }
    for (int32_t z = from[2] > low ? from[2] : low; z <= to[2] && z < high; ++z)
        for (int32_t y = from[1]; y <= to[1]; ++y)
            for (int32_t x = from[0]; x <= to[0]; ++x) {
                double p[3] = {middle(box, 0, x), middle(box, 1, y), middle(box, 2, z)}, dot = 0, square = 0;
                for (int axis = 0; axis < 3; ++axis) {
                    dot += (p[axis] - m[axis]) * m[axis] / r;
                    square += (p[axis] - m[axis]) * (p[axis] - m[axis]);
                }
                double f = norm * exp(-0.5 * (dot * dot / along + (square - dot * dot) / across));
                size_t at = ((size_t)z * (size_t)box->size[1] + (size_t)y) * (size_t)box->size[0] + (size_t)x;
                value[at] += (float)f;
                for (int axis = 0; axis < 3 && mean; ++axis) mean[3 * at + (size_t)axis] += (float)(f * m[axis]);
            }
}

/* What layers of a table need; cores take layers. */
typedef struct layers {
    const lattice_points *points;
    const lattice_box *box;
    const lattice_density *density;
    float *value, *mean;
    double *sum;   /* of each layer: the voxels inside the ball */
    int64_t first; /* of those that are filled here */
} layers;

static double sum_layer(const lattice_box *box, int32_t z, const float *value) {
    double sum = 0;
    size_t at = (size_t)z * (size_t)box->size[1] * (size_t)box->size[0];
    for (int32_t y = 0; y < box->size[1]; ++y)
        for (int32_t x = 0; x < box->size[0]; ++x, ++at) {
            double p[3] = {middle(box, 0, x), middle(box, 1, y), middle(box, 2, z)};
            if (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] < box->cutoff * box->cutoff) sum += (double)value[at];
        }
    return sum;
}

static void fill_layers(void *user, int64_t low, int64_t high) {
    const layers *of = user;
    size_t layer = (size_t)of->box->size[0] * (size_t)of->box->size[1], voxels = (size_t)(high - low) * layer;
    memset(of->value + (size_t)low * layer, 0, voxels * sizeof *of->value);
    if (of->mean) memset(of->mean + 3 * (size_t)low * layer, 0, 3 * voxels * sizeof *of->mean);
    for (size_t k = 0; k < of->points->count; ++k)
        add_point(of->points, k, of->box, of->density, (int32_t)low, (int32_t)high, of->value, of->mean);
    for (size_t k = (size_t)low * layer; k < (size_t)high * layer; ++k) {
        for (size_t axis = 0; axis < 3 && of->mean; ++axis)
            of->mean[3 * k + axis] = of->value[k] > 1e-30F ? of->mean[3 * k + axis] / of->value[k] : 0;
        of->value[k] += (float)of->density->background;
    }
    for (int64_t z = low; z < high; ++z) of->sum[z] = sum_layer(of->box, (int32_t)z, of->value);
}

/* The integral over the ball, from what the voxels inside say; half tables count twice. */
static double integral(const lattice_box *box, const double *sum) {
    double all = 0, times = box->edge * box->edge * box->edge;
    for (int axis = 0; axis < 3; ++axis) times *= box->mirror[axis] ? 2 : 1;
    for (int32_t z = 0; z < box->size[2]; ++z) all += sum[z];
    return all * times;
}

void lattice_layers_own(const atn_ranks *ranks, const lattice_box *box, size_t *first, size_t *end) {
    size_t layer = (size_t)box->size[0] * (size_t)box->size[1], count = (size_t)box->size[2];
    *first = ranks ? layer * atn_ranks_cut(ranks, count, ranks->rank) : 0;
    *end = layer * (ranks ? atn_ranks_cut(ranks, count, ranks->rank + 1) : count);
}

atn_status lattice_layers_join(atn_ranks *ranks, const lattice_box *box, void *data, size_t bytes) {
    size_t layer = (size_t)box->size[0] * (size_t)box->size[1];
    return ranks ? atn_ranks_fill(ranks, ATN_OK, data, (size_t)box->size[2], layer * bytes) : ATN_OK;
}

static void fill_own(void *user, int64_t low, int64_t high) {
    const layers *of = user;
    fill_layers(user, of->first + low, of->first + high);
}

atn_status lattice_table_make(const atn_ctx *ctx, atn_ranks *ranks, const lattice_points *points,
                              const lattice_box *box, const lattice_density *density, float *value, float *mean,
                              double *expected) {
    size_t voxels = lattice_box_voxels(box), layer = voxels / (size_t)box->size[2], first, end;
    double sum[2 * FINEST + 8] = {0};
    layers of = {points, box, density, value, mean, sum, 0};
    lattice_layers_own(ranks, box, &first, &end);
    of.first = (int64_t)(first / layer);
    atn_parallel_pieces((int64_t)(end / layer) - of.first, fill_own, &of); /* some have much more to do than others */
    atn_status status = ranks ? atn_ranks_sum(ranks, ATN_OK, sum, (size_t)box->size[2]) : ATN_OK;
    *expected = status == ATN_OK ? integral(box, sum) : 0;
    return status == ATN_OK ? atn_check_cancel(ctx) : status;
}
