/* What EM steps look up, voxel by voxel, packed into two words so that a table stays in a core's cache:
 * x + 2^11 y + 2^22 z in multiples of a unit, and w + 2^12 log f, as kernels/lattice_refine.atn takes them apart. */
#include "apps/lattice/lattice.h"

#include "base/extreme.h"

#include <math.h>
#include <string.h>

static const uint32_t MOST[3] = {2047, 2047, 1023}, MOST_CHANCE = 4095, MOST_LOG = 1048575;

void lattice_pull_make(size_t voxels, double background, const float *value, const float *mean, float *pull) {
    for (size_t k = 0; k < voxels; ++k) {
        float *to = pull + LATTICE_PULL * k;
        to[0] = (value[k] - (float)background) / value[k];
        memcpy(to + 1, mean + 3 * k, 3 * sizeof *mean);
        to[4] = logf(value[k]);
    }
}

static uint32_t steps(double value, double step, uint32_t most) {
    double n = rint(value / step);
    return n <= 0 ? 0 : n >= most ? most : (uint32_t)n;
}

/* Units as fine as the largest numbers allow. */
static lattice_packing units(size_t voxels, const float *pull) {
    double far = 1e-3, low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < voxels; ++k) {
        const float *from = pull + LATTICE_PULL * k;
        for (int c = 1; c < 4; ++c) far = atn_larger(far, fabs((double)from[c]));
        low = atn_lesser(low, (double)from[4]);
        high = atn_larger(high, (double)from[4]);
    }
    return (lattice_packing){far / (MOST[0] - 3), low, fmax((high - low) / MOST_LOG, 1e-9)};
}

lattice_packing lattice_pull_pack(const lattice_box *box, const float *pull, int32_t *words) {
    size_t voxels = lattice_box_voxels(box);
    lattice_packing p = units(voxels, pull);
    for (size_t k = 0; k < voxels; ++k) {
        const float *from = pull + LATTICE_PULL * k;
        uint32_t word[2] = {0};
        for (int c = 2; c >= 0; --c) {
            double unit = p.unit * (c == 2 ? 2 : 1) * (box->mirror[c] ? 1 : 2);
            double middle = box->mirror[c] ? 0 : (MOST[c] + 1) / 2;
            word[0] = word[0] << 11 | steps((double)from[1 + c] + middle * unit, unit, MOST[c]);
        }
        word[1] = steps((double)from[4] - p.log_low, p.log_step, MOST_LOG) << 12;
        word[1] |= steps((double)from[0], 1.0 / MOST_CHANCE, MOST_CHANCE);
        memcpy(words + 2 * k, word, sizeof word);
    }
    return p;
}
