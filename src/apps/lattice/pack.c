/* What EM steps look up, voxel by voxel, packed into two words so that a table stays in a core's cache:
 * x + 2^11 y + 2^22 z in multiples of a unit, and w + 2^12 log f, as kernels/lattice_refine.atn takes them apart. */
#include "apps/lattice/lattice.h"

#include "base/extreme.h"
#include "base/parallel.h"
#include "ranks/ranks.h"

#include <math.h>
#include <string.h>

static const uint32_t MOST[3] = {2047, 2047, 1023}, MOST_CHANCE = 4095, MOST_LOG = 1048575;

/* What parts of a loop over voxels need. */
typedef struct pulls {
    const lattice_box *box;
    double background;
    const float *value, *mean;
    float *pull;
    int32_t *words;
    lattice_packing packing;
    int64_t stretches;
    size_t first, count;                                                            /* voxels that are packed here */
    double far[ATN_PARALLEL_MOST], low[ATN_PARALLEL_MOST], high[ATN_PARALLEL_MOST]; /* of each stretch */
} pulls;

enum { PART = 1 << 12 }; /* voxels for which a core is worth waking */

static void make_part(void *user, int64_t from, int64_t to) {
    const pulls *x = user;
    for (int64_t k = from; k < to; ++k) {
        float *pull = x->pull + LATTICE_PULL * k;
        pull[0] = (x->value[k] - (float)x->background) / x->value[k];
        memcpy(pull + 1, x->mean + 3 * k, 3 * sizeof *x->mean);
        pull[4] = logf(x->value[k]);
    }
}

void lattice_pull_make(size_t voxels, double background, const float *value, const float *mean, float *pull) {
    pulls x = {.background = background, .value = value, .mean = mean, .pull = pull};
    atn_parallel((int64_t)voxels, PART, make_part, &x);
}

static uint32_t steps(double value, double step, uint32_t most) {
    double n = rint(value / step);
    return n <= 0 ? 0 : n >= most ? most : (uint32_t)n;
}

static void span_part(void *user, int64_t from, int64_t to) {
    pulls *x = user;
    for (int64_t s = from; s < to; ++s) {
        size_t end = lattice_stretch_begin(x->count, x->stretches, s + 1);
        double far = 1e-3, low = INFINITY, high = -INFINITY;
        for (size_t k = lattice_stretch_begin(x->count, x->stretches, s); k < end; ++k) {
            const float *pull = x->pull + LATTICE_PULL * (x->first + k);
            for (int c = 1; c < 4; ++c) far = atn_larger(far, fabs((double)pull[c]));
            low = atn_lesser(low, (double)pull[4]);
            high = atn_larger(high, (double)pull[4]);
        }
        x->far[s] = far, x->low[s] = low, x->high[s] = high;
    }
}

/* Units as fine as the largest numbers allow, of all ranks. */
static atn_status units(pulls *x, atn_ranks *ranks) {
    double far = 1e-3, low = INFINITY, high = -INFINITY;
    atn_parallel(x->stretches, 1, span_part, x);
    for (int64_t s = 0; s < x->stretches; ++s)
        far = fmax(far, x->far[s]), low = fmin(low, x->low[s]), high = fmax(high, x->high[s]);
    double least[3] = {-far, low, -high};
    atn_status status = ranks ? atn_ranks_least(ranks, ATN_OK, least, 3) : ATN_OK;
    x->packing = (lattice_packing){-least[0] / (MOST[0] - 3), least[1], fmax((-least[2] - least[1]) / MOST_LOG, 1e-9)};
    return status;
}

static void pack_part(void *user, int64_t first, int64_t to) {
    const pulls *x = user;
    const bool *mirror = x->box->mirror;
    for (size_t k = x->first + (size_t)first; k < x->first + (size_t)to; ++k) {
        const float *from = x->pull + LATTICE_PULL * k;
        uint32_t word[2] = {0};
        for (int c = 2; c >= 0; --c) {
            double unit = x->packing.unit * (c == 2 ? 2 : 1) * (mirror[c] ? 1 : 2);
            double middle = mirror[c] ? 0 : (MOST[c] + 1) / 2;
            word[0] = word[0] << 11 | steps((double)from[1 + c] + middle * unit, unit, MOST[c]);
        }
        word[1] = steps((double)from[4] - x->packing.log_low, x->packing.log_step, MOST_LOG) << 12;
        word[1] |= steps((double)from[0], 1.0 / MOST_CHANCE, MOST_CHANCE);
        memcpy(x->words + 2 * k, word, sizeof word);
    }
}

atn_status lattice_pull_pack(atn_ranks *ranks, const lattice_box *box, float *pull, int32_t *words,
                             lattice_packing *out) {
    pulls x = {.box = box, .pull = pull, .words = words};
    size_t end;
    lattice_layers_own(ranks, box, &x.first, &end);
    x.count = end - x.first;
    x.stretches = lattice_stretches(x.count, 1);
    atn_status status = units(&x, ranks);
    if (status == ATN_OK) atn_parallel((int64_t)x.count, PART, pack_part, &x);
    *out = x.packing;
    if (status == ATN_OK) status = lattice_layers_join(ranks, box, pull, LATTICE_PULL * sizeof *pull);
    return status == ATN_OK ? lattice_layers_join(ranks, box, words, 2 * sizeof *words) : status;
}
