/* Distances as the yardstick of chance. Any packing of atoms that keep their distance resembles a lattice more than a
 * gas does, so `other` has the frame's own distances in any direction: neighbours of the density f(|x|), where 4 pi r^2
 * f(r) is the distribution of distances in the frame. And a lattice that is none of the models may share sites with one
 * (simple cubic is half of bcc, diamond has all sites of fcc): then the sites that neighbours occupy, by their
 * distance, and the neighbours that occupy none, by theirs, are not distributed as the model predicts. Their difference
 * is measured by the Kullback-Leibler divergence, in nats per neighbour. */
#include "apps/lattice/parts.h"

#include "base/lanes.h"

#include <math.h>
#include <string.h>

enum { BINS = LATTICE_RADIAL_BINS };
static const double PI = 3.14159265358979323846, MARGIN = 0.12; /* of the cut-off */

static int bin_of(const atn_lattice *l, double r) {
    int at = (int)(r / l->info.cutoff * BINS);
    return at < BINS ? at : BINS - 1;
}

static int bin_at(const atn_lattice *l, int32_t k) {
    double square = 0;
    for (int axis = 0; axis < 3; ++axis) square += (double)l->near.axis[axis][k] * (double)l->near.axis[axis][k];
    return bin_of(l, sqrt(square));
}

/* Volume of a bin's shell. */
static double shell(const atn_lattice *l, int bin) {
    return 4.0 / 3 * PI * pow(l->info.cutoff / BINS, 3) * (pow(bin + 1, 3) - pow(bin, 3));
}

/* ---- any direction ---- */

void lattice_distances_add(const atn_lattice *l, size_t i, double seen[LATTICE_RADIAL_BINS]) {
    for (int32_t k = l->near.start[i]; k < l->near.start[i + 1]; ++k) seen[bin_at(l, k)] += 1;
}

/* Where nothing is seen a hundredth of a gas stays. */
void lattice_null_make(atn_lattice *l, const double seen[LATTICE_RADIAL_BINS]) {
    double sum = 0, all = 0, volume = 0;
    for (int b = 0; b < BINS; ++b) all += seen[b], volume += shell(l, b);
    for (int b = 0; b < BINS; ++b) {
        double rest = shell(l, b) / volume, share = all > 0 ? seen[b] / all : rest;
        l->null[b] = 0.99 * share + 0.01 * rest;
        sum += l->null[b];
    }
    for (int b = 0; b < BINS; ++b) l->null[b] = log(l->null[b] / sum / shell(l, b));
}

/* Bins of some neighbours. */
enum { AT_ONCE = 64 };
ATN_IN_LANES static void find_bins(const lattice_near *near, int32_t first, int32_t n, double cutoff,
                                   int32_t *restrict out) {
    const float *restrict x = near->axis[0] + first, *restrict y = near->axis[1] + first;
    const float *restrict z = near->axis[2] + first;
    ATN_LANES()
    for (int32_t k = 0; k < n; ++k) {
        double square = (double)x[k] * (double)x[k] + (double)y[k] * (double)y[k] + (double)z[k] * (double)z[k];
        int32_t at = (int32_t)(sqrt(square) / cutoff * BINS);
        out[k] = at < BINS ? at : BINS - 1;
    }
}

double lattice_null(const atn_lattice *l, size_t i) {
    double sum = 0;
    if (!isnan(l->near.null[i])) return l->near.null[i];
    for (int32_t from = l->near.start[i], end = l->near.start[i + 1]; from < end; from += AT_ONCE) {
        int32_t n = end - from < AT_ONCE ? end - from : AT_ONCE, bin[AT_ONCE];
        find_bins(&l->near, from, n, l->info.cutoff, bin);
        for (int32_t k = 0; k < n; ++k) sum += l->null[bin[k]];
    }
    l->near.null[i] = sum;
    return sum;
}

/* ---- sites of a model ---- */

static double length(const float p[3]) {
    return sqrt((double)p[0] * (double)p[0] + (double)p[1] * (double)p[1] + (double)p[2] * (double)p[2]);
}

void lattice_sites_add(const atn_lattice *l, int32_t model, size_t i, double seen[2 * LATTICE_RADIAL_BINS]) {
    const lattice_slot *s = &l->slot[model];
    const lattice_found *f = &l->found[i * (size_t)l->info.models + (size_t)model];
    double m[9], p[3];
    lattice_found_matrix(f, m);
    for (int32_t k = l->near.start[i]; k < l->near.start[i + 1]; ++k) {
        const float *v = lattice_voxel_at(l, s, s->host_pull[1], m, f, k, p);
        seen[bin_of(l, length(v + 1))] += (double)v[0];
        seen[BINS + bin_at(l, k)] += 1 - (double)v[0];
    }
}

/* What the model says, from the table: expected neighbours. */
static void said_by(const atn_lattice *l, const lattice_slot *s, double out[2 * LATTICE_RADIAL_BINS]) {
    const lattice_box *box = &s->box;
    const float *v = s->host_pull[1], *density = s->density;
    memset(out, 0, 2 * BINS * sizeof *out);
    for (int32_t z = 0; z < box->size[2]; ++z)
        for (int32_t y = 0; y < box->size[1]; ++y)
            for (int32_t x = 0; x < box->size[0]; ++x, v += LATTICE_PULL, ++density) {
                double p[3] = {x + 0.5 - box->offset[0], y + 0.5 - box->offset[1], z + 0.5 - box->offset[2]};
                double r = box->edge * sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
                if (r >= l->info.cutoff) continue;
                out[bin_of(l, length(v + 1))] += (double)*density * (double)v[0];
                out[BINS + bin_of(l, r)] += (double)*density * (1 - (double)v[0]);
            }
}

double lattice_misfit(const atn_lattice *l, int32_t model, const double seen[2 * LATTICE_RADIAL_BINS]) {
    double said[2 * LATTICE_RADIAL_BINS], all = 0, sum = 0, misfit = 0, bins = 0;
    /* whether sites at the cut-off are inside is a matter of a noise that is found to a few hundredths of an Angstrom
     */
    int last = bin_of(l, l->info.cutoff - fmin(2.5 * l->info.shift_noise, MARGIN * l->info.cutoff));
    said_by(l, &l->slot[model], said);
    for (int b = 0; b < 2 * BINS; ++b)
        if (b < last || b >= BINS) all += seen[b], sum += said[b];
    if (!(all > 0 && sum > 0)) return 0;
    for (int b = 0; b < 2 * BINS; ++b) {
        if (b >= last && b < BINS) continue;
        double expected = said[b] / sum, share = 0.99 * seen[b] / all + 0.01 * expected;
        if (!(share > 0)) continue;
        misfit += share * log(share / fmax(expected, 1e-6));
        bins += expected * all > 1;
    }
    return misfit - bins / (2 * all); /* what chance adds */
}
