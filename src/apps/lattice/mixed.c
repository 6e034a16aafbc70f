/* Neighbourhoods that belong to a model in part, as at a boundary of grains or phases: on the centre's side of a plane
 * the density is the model's, beyond it that of a gas, n / V; the likelihood is averaged over planes. Only for
 * atoms that fit no model whole: the host does it, from the tables that the kernels use. */
#include "apps/lattice/lattice.h"

#include <math.h>

static const double PLANE[] = {0.07, 0.22, 0.4, 0.65}, CHANCE = 0.1; /* of the cut-off; of an atom to be near one */
enum { PLANES = sizeof PLANE / sizeof *PLANE };
static const double PI = 3.14159265358979323846;

void lattice_found_matrix(const lattice_found *f, double out[9]) {
    double q[4] = {(double)f->quaternion[0], (double)f->quaternion[1], (double)f->quaternion[2],
                   (double)f->quaternion[3]};
    lattice_quaternion_matrix(q, out);
}

const float *lattice_voxel_at(const atn_lattice *l, const lattice_slot *s, const float *pull, const double m[9],
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

void lattice_stretch(const atn_lattice *l, int32_t model, size_t i, double sums[2]) {
    const lattice_slot *s = &l->slot[model];
    const lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)model];
    double m[9], p[3];
    lattice_found_matrix(f, m);
    for (int32_t k = l->near.start[i]; k < l->near.start[i + 1]; ++k) {
        const float *v = lattice_voxel_at(l, s, s->host_pull[1], m, f, k, p);
        for (int c = 0; c < 3; ++c) {
            double mean = s->box.mirror[c] ? copysign((double)v[1 + c], p[c]) : (double)v[1 + c];
            sums[0] += (double)v[0] * mean * p[c];
            sums[1] += (double)v[0] * mean * mean;
        }
    }
}

/* Neighbours on the far side of a plane belong elsewhere: planes across the 26 directions of a cube, at some distances
 * from the centre, which is on the near side. gain: what a neighbour adds where it belongs. Returns the logarithm of
 * the mean likelihood, relative to all neighbours elsewhere. */
static double halves(const atn_lattice *l, int32_t first, int32_t n, const double *gain) {
    double part[26 * PLANES], most = -INFINITY, total = 0;
    int planes = 0;
    for (int d = 0; d < 27; ++d) {
        double u[3] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1}, length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        double sum[PLANES] = {0};
        if (d == 13) continue;
        for (int32_t k = 0; k < n; ++k) {
            double at = u[0] * (double)l->near.axis[0][first + k] + u[1] * (double)l->near.axis[1][first + k] +
                        u[2] * (double)l->near.axis[2][first + k];
            for (int c = 0; c < PLANES; ++c)
                if (at < PLANE[c] * l->info.cutoff * length) sum[c] += gain[k];
        }
        for (int c = 0; c < PLANES; ++c) {
            part[planes++] = sum[c];
            most = fmax(most, sum[c]);
        }
    }
    for (int c = 0; c < planes; ++c) total += exp(part[c] - most);
    return most + log(total / planes);
}

static void mix(const atn_lattice *l, const lattice_slot *s, size_t i, lattice_found *f) {
    double r = l->info.cutoff, gas = log(s->expected / (4.0 / 3 * PI * r * r * r));
    double gain[ATN_LATTICE_MOST_NEIGHBOURS];
    int32_t first = l->near.start[i], n = l->near.start[i + 1] - first;
    lattice_look_each(l, s, i, f, gain);
    for (int32_t k = 0; k < n; ++k) gain[k] -= gas;
    double whole = (double)f->evidence + log(1 - CHANCE);
    double part = (double)f->around + n * gas + halves(l, first, n, gain) + log(CHANCE);
    f->evidence = (float)(fmax(whole, part) + log1p(exp(-fabs(whole - part))));
    f->part = (float)(1 / (1 + exp(whole - part)));
}

void lattice_mixed(const atn_lattice *l, size_t i) {
    for (int32_t m = 0; m < l->info.models; ++m)
        mix(l, &l->slot[m], i, &l->found[i * (size_t)l->info.models + (size_t)m]);
}
