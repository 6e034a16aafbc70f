/* Neighbourhoods that belong to a model in part, as at a boundary of grains or phases: of the density of neighbours a
 * share c is the model's and the rest a gas, c f(x) + (1 - c) n / V; the likelihood is averaged over shares. Only for
 * atoms that fit no model whole: the host does it, from the tables that the kernels use. */
#include "apps/lattice/lattice.h"

#include <math.h>

static const double SHARE[] = {0.85, 0.7, 0.55, 0.4}, CHANCE[] = {0.02, 0.02, 0.015, 0.005};
enum { SHARES = sizeof SHARE / sizeof *SHARE };
static const double PI = 3.14159265358979323846;

/* The voxel that a neighbour falls into, and where it is in the model's frame. */
static const float *voxel_at(const atn_lattice *l, const lattice_slot *s, const float *pull, const double m[9],
                             const lattice_found *f, int32_t k, double p[3]) {
    double x = (double)l->near.axis[0][k], y = (double)l->near.axis[1][k], z = (double)l->near.axis[2][k];
    size_t at[3];
    for (int c = 0; c < 3; ++c) {
        p[c] = m[3 * c] * x + m[3 * c + 1] * y + m[3 * c + 2] * z - (double)f->shift[c];
        at[c] = (size_t)fabs(p[c] / s->box.edge + s->box.offset[c]);
        if (at[c] >= (size_t)s->box.size[c]) at[c] = (size_t)s->box.size[c] - 1;
    }
    return pull + LATTICE_PULL * ((at[2] * (size_t)s->box.size[1] + at[1]) * (size_t)s->box.size[0] + at[0]);
}

/* The model's own density at a neighbour: that of the table without strangers. */
static double density_at(const atn_lattice *l, const lattice_slot *s, const float *pull, const double m[9],
                         const lattice_found *f, int32_t k) {
    double p[3];
    return exp((double)voxel_at(l, s, pull, m, f, k, p)[4]) - l->stranger_density;
}

atn_status lattice_stretch(const atn_lattice *l, int32_t model, size_t i, double sums[2]) {
    const lattice_slot *s = &l->slot[model];
    const lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)model];
    double q[4] = {(double)f->quaternion[0], (double)f->quaternion[1], (double)f->quaternion[2],
                   (double)f->quaternion[3]};
    double m[9], p[3];
    lattice_quaternion_matrix(q, m);
    for (int32_t k = l->near.start[i]; k < l->near.start[i + 1]; ++k) {
        const float *v = voxel_at(l, s, s->host_pull[1], m, f, k, p);
        for (int c = 0; c < 3; ++c) {
            double mean = s->box.mirror[c] ? copysign((double)v[1 + c], p[c]) : (double)v[1 + c];
            sums[0] += (double)v[0] * mean * p[c];
            sums[1] += (double)v[0] * mean * mean;
        }
    }
    return ATN_OK;
}

static void mix(const atn_lattice *l, const lattice_slot *s, const float *pull, size_t i, lattice_found *f) {
    double q[4] = {(double)f->quaternion[0], (double)f->quaternion[1], (double)f->quaternion[2],
                   (double)f->quaternion[3]};
    double m[9], r = l->info.cutoff, volume = 4.0 / 3 * PI * r * r * r, whole = 0, sum[SHARES] = {0};
    int32_t first = l->near.start[i], end = l->near.start[i + 1];
    double n = end - first, scale = fmax(n, 1) / fmax(s->expected, 1e-9);
    lattice_quaternion_matrix(q, m);
    for (int32_t k = first; k < end; ++k) {
        double own = fmax(density_at(l, s, pull, m, f, k), 0), gas = n / volume;
        whole += log(own + l->stranger_density);
        for (int c = 0; c < SHARES; ++c) sum[c] += log(SHARE[c] * own * scale + (1 - SHARE[c]) * gas) - log(scale);
    }
    double most = 0, total = 1; /* relative to the whole model */
    for (int c = 0; c < SHARES; ++c) most = fmax(most, sum[c] - whole + log(CHANCE[c]));
    total = exp(-most);
    for (int c = 0; c < SHARES; ++c) total += exp(sum[c] - whole + log(CHANCE[c]) - most);
    f->evidence += (float)(most + log(total));
}

atn_status lattice_mixed(atn_lattice *l, size_t i) {
    for (int32_t m = 0; m < l->info.models; ++m)
        mix(l, &l->slot[m], l->slot[m].host_pull[1], i, &l->found[i * (size_t)l->info.models + (size_t)m]);
    return ATN_OK;
}
