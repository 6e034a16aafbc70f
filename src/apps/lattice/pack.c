/* What EM steps look up, voxel by voxel, packed into two words so that a table stays in a core's cache:
 * x + 2^11 y + 2^22 z in multiples of a unit, and w + 2^12 log f, as kernels/lattice_refine.atn takes them apart. */
#include "apps/lattice/lattice.h"

#include "base/lane_math.h"
#include "base/parallel.h"

#include <math.h>

static const uint32_t MOST[3] = {2047, 2047, 1023}, MOST_CHANCE = 4095, MOST_LOG = 1048575;
static const float NONE = 1e-30F; /* a density that counts as none */

/* What parts of a loop over voxels need. */
typedef struct pulls {
    const lattice_box *box;
    float background;
    const float *value, *mean;
    float *pull;
    int32_t *words;
    lattice_packing packing;
    int64_t stretches;
    size_t count;
    float far[ATN_PARALLEL_MOST], low[ATN_PARALLEL_MOST], high[ATN_PARALLEL_MOST]; /* of each stretch */
} pulls;

enum { PART = 1 << 12 }; /* voxels for which a core is worth waking */

/* Of `count` voxels; y of mean is `plane` numbers behind x. */
ATN_IN_LANES static void span(const float *restrict value, const float *restrict mean, size_t plane, size_t count,
                              float *far, float *low, float *high) {
    float most = 0, least = INFINITY, top = 0;
    for (size_t c = 0; c < 3; ++c) {
        const float *restrict of = mean + c * plane;
        ATN_LANES(reduction(max : most))
        for (size_t k = 0; k < count; ++k) most = fabsf(of[k]) > most ? fabsf(of[k]) : most;
    }
    ATN_LANES(reduction(min : least) reduction(max : top))
    for (size_t k = 0; k < count; ++k) {
        least = value[k] < least ? value[k] : least;
        top = value[k] > top ? value[k] : top;
    }
    *far = most, *low = least, *high = top;
}

static void span_part(void *user, int64_t from, int64_t to) {
    pulls *x = user;
    for (int64_t s = from; s < to; ++s) {
        size_t begin = lattice_stretch_begin(x->count, x->stretches, s);
        size_t end = lattice_stretch_begin(x->count, x->stretches, s + 1);
        span(x->value + begin, x->mean + begin, x->count, end - begin, &x->far[s], &x->low[s], &x->high[s]);
    }
}

/* Units as fine as the largest numbers allow. */
static void units(pulls *x) {
    float far = 1e-3F, low = INFINITY, high = NONE;
    atn_parallel(x->stretches, 1, span_part, x);
    for (int64_t s = 0; s < x->stretches; ++s)
        far = fmaxf(far, x->far[s]), low = fminf(low, x->low[s]), high = fmaxf(high, x->high[s]);
    double least = log(fmax((double)low, (double)NONE)), range = log((double)high) - least;
    x->packing = (lattice_packing){(double)far / (MOST[0] - 3), least, fmax(range / MOST_LOG, 1e-9)};
}

static ATN_INLINE int32_t steps(float number, int32_t most) {
    int32_t n = (int32_t)(number + 0.5F);
    return n < 0 ? 0 : n > most ? most : n;
}

ATN_IN_LANES static void pack(const pulls *x, size_t from, size_t count) {
    const float background = x->background, none = NONE, chances = (float)MOST_CHANCE;
    const float low = (float)x->packing.log_low, per_step = (float)(1 / x->packing.log_step);
    const int32_t log_most = (int32_t)MOST_LOG, chance_most = (int32_t)MOST_CHANCE;
    float per[3], middle[3];
    for (int c = 0; c < 3; ++c) {
        bool mirror = x->box->mirror[c];
        per[c] = (float)(1 / (x->packing.unit * (c == 2 ? 2 : 1) * (mirror ? 1 : 2)));
        middle[c] = mirror ? 0 : (float)((MOST[c] + 1) / 2);
    }
    const float px = per[0], py = per[1], pz = per[2], ox = middle[0], oy = middle[1], oz = middle[2];
    const int32_t most = (int32_t)MOST[0], most_z = (int32_t)MOST[2];
    const float *restrict density = x->value + from, *restrict mx = x->mean + from, *restrict my = mx + x->count;
    const float *restrict mz = my + x->count;
    float *restrict pull = x->pull + LATTICE_PULL * from;
    int32_t *restrict words = x->words + 2 * from;
    ATN_LANES()
    for (size_t k = 0; k < count; ++k) {
        float value = density[k] > none ? density[k] : none, chance = (value - background) / value;
        float log = atn_lane_log_single(value);
        pull[4 * k] = chance, pull[4 * k + 1] = mx[k], pull[4 * k + 2] = my[k], pull[4 * k + 3] = mz[k];
        int32_t cx = steps(mx[k] * px + ox, most), cy = steps(my[k] * py + oy, most);
        int32_t cz = steps(mz[k] * pz + oz, most_z);
        words[2 * k] = (int32_t)((uint32_t)cx | (uint32_t)cy << 11 | (uint32_t)cz << 22);
        words[2 * k + 1] = (int32_t)((uint32_t)steps((log - low) * per_step, log_most) << 12 |
                                     (uint32_t)steps(chance * chances, chance_most));
    }
}

static void pack_part(void *user, int64_t from, int64_t to) { pack(user, (size_t)from, (size_t)(to - from)); }

void lattice_pull_make(const lattice_box *box, double background, const float *value, const float *mean, float *pull,
                       int32_t *words, lattice_packing *out) {
    pulls x = {.box = box, .background = (float)background, .value = value, .mean = mean, .pull = pull, .words = words};
    x.count = lattice_box_voxels(box);
    x.stretches = lattice_stretches(x.count, 1);
    units(&x);
    atn_parallel((int64_t)x.count, PART, pack_part, &x);
    *out = x.packing;
}
