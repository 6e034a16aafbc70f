/* The dense part of a cloud. Outliers fill space, what was seen is a surface: distances of the sixth neighbour are of
 * two sizes then. Where they part is where two groups of their logarithms scatter least (Otsu 1979, eq. 12). */
#include "apps/register/fitness.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>

enum { NEIGHBOURS = 7, BINS = 64 };      /* the point itself and six others */
static const double FROM = 0.1, TO = 10; /* of the spacing: distances that are told apart */
static const double APART =
    1.9; /* times as far: two groups; parting one, of a surface or a filled box, gives 1.3 to 1.55 */

typedef struct reaching {
    const cloud_points *points;
    const cloud_grid *grid;
    double spacing;
    float *bin; /* of each point, in [0, BINS) */
} reaching;

static void find_bins(void *user, int64_t from, int64_t to) {
    const reaching *t = user;
    double *const *p = t->points->position;
    for (int64_t k = from; k < to; ++k) {
        double at[3] = {p[0][k], p[1][k], p[2][k]}, d2[NEIGHBOURS];
        uint32_t index[NEIGHBOURS];
        size_t n = cloud_grid_nearest(t->grid, at, NEIGHBOURS, TO * t->spacing, index, d2);
        double reach = n == NEIGHBOURS ? sqrt(d2[n - 1]) / t->spacing : TO;
        double bin = BINS * log(fmax(reach, FROM) / FROM) / log(TO / FROM);
        t->bin[k] = (float)fmin(bin, BINS - 1);
    }
}

/* The first bin of the sparse group; BINS where there are no two groups. */
static int part(const float *bin, size_t all) {
    size_t count[BINS] = {0};
    double sum = 0, below = 0, most = 0, first = 0, far = 0;
    int best = BINS;
    for (size_t k = 0; k < all; ++k) ++count[(int)bin[k]];
    for (int b = 0; b < BINS; ++b) sum += (double)b * (double)count[b];
    for (int b = 0; b + 1 < BINS; ++b) {
        below += (double)count[b];
        first += (double)b * (double)count[b];
        double above = (double)all - below;
        if (!(below > 0) || !(above > 0)) continue;
        double apart = (sum - first) / above - first / below, between = below * above * apart * apart;
        if (between > most) most = between, best = b + 1, far = apart;
    }
    return far > BINS * log(APART) / log(TO / FROM) ? best : BINS;
}

/* Those below a bin stay. */
static void prune(const float *bin, int sparse, const cloud_points *from, cloud_points *to) {
    size_t n = 0;
    for (size_t k = 0; k < from->count; ++k) {
        if ((int)bin[k] >= sparse) continue;
        for (int a = 0; a < 3; ++a) to->position[a][n] = from->position[a][k];
        to->weight[n++] = from->weight[k];
    }
    to->count = n;
}

/* Once more by the same distance: outliers that were beside others are alone now. */
static atn_status prune_again(const reaching *first, int sparse, cloud_points *out) {
    cloud_grid *grid = NULL;
    reaching t = {out, NULL, first->spacing, first->bin};
    atn_status status = cloud_grid_make(out, 0, &grid);
    t.grid = grid;
    if (status == ATN_OK) {
        atn_parallel((int64_t)out->count, 256, find_bins, &t);
        prune(t.bin, sparse, out, out);
    }
    cloud_grid_free(grid);
    return status;
}

atn_status fitness_dense(const fitness_side *s, cloud_points *out) {
    const cloud_points *p = &s->points;
    reaching t = {p, s->grid, s->spacing, atn_alloc(p->ctx, (p->count + 1) * sizeof *t.bin)};
    atn_status status = t.bin ? cloud_points_make(p->ctx, p->count, false, out) : ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        atn_parallel((int64_t)p->count, 256, find_bins, &t);
        int sparse = part(t.bin, p->count);
        if (sparse < BINS) {
            prune(t.bin, sparse, p, out);
            status = prune_again(&t, sparse, out);
        } else
            out->count = 0;
    }
    atn_free(p->ctx, t.bin);
    return status;
}
