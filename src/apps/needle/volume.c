/* The lookup volume: which model points can be nearer than the threshold to a place in a voxel. Whatever is left out is
 * left out with a margin for the roundings of the kernels, so that their counts are those of all pairs. */
#include "apps/needle/needle.h"

#include "base/extreme.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double MOST_VOXELS = 1 << 24;
static const double FINE_NEAR = 1 << 25; /* pairs of a voxel smaller than a threshold and a point near to it */
static const double MOST_EXTENT = 1e6;   /* in thresholds: beyond, floats do not tell places to a tenth of one */
enum { MOST_ACROSS = 64 };        /* voxels that a point can matter to along an axis, if they are not too small */
enum { MOST_COMPARED = 2048 };    /* points of a voxel, each of which is compared with all others */
static const double SLACK = 1e-3; /* of an edge: where roundings can put a point into the next voxel */

typedef struct building {
    needle_volume *v;
    size_t count;
    const float *const *position;
    double threshold, margin; /* margin: of lengths */
    needle_lists lists;
    int32_t *known; /* lists by hash, 0: none; a power of two of them, less 1: */
    size_t mask;
} building;

/* Between a point and the box of a voxel (as large as roundings make it): the nearest place and the farthest, squared.
 */
static void reach_of(const building *b, size_t point, const int64_t at[3], double *nearest2, double *farthest2) {
    double grown = SLACK * b->v->edge + b->margin;
    *nearest2 = *farthest2 = 0;
    for (int axis = 0; axis < 3; ++axis) {
        double low = b->v->low[axis] + (double)at[axis] * b->v->edge - grown, p = (double)b->position[axis][point];
        double high = low + b->v->edge + 2 * grown;
        double off = p < low ? low - p : p > high ? p - high : 0, far = fmax(p - low, high - p);
        *nearest2 += off * off;
        *farthest2 += far * far;
    }
}

/* The voxels that a point can matter to; the border has none. */
static void voxels_of(const building *b, size_t point, int64_t from[3], int64_t to[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        double at = (double)b->position[axis][point] - b->v->low[axis], reach = b->threshold + b->margin;
        from[axis] = (int64_t)floor((at - reach) / b->v->edge - SLACK);
        to[axis] = (int64_t)floor((at + reach) / b->v->edge + SLACK);
        if (from[axis] < 0) from[axis] = 0;
        if (to[axis] > b->v->size[axis] - 1) to[axis] = b->v->size[axis] - 1;
    }
}

static int64_t voxel_at(const needle_volume *v, const int64_t at[3]) {
    return (at[2] * v->size[1] + at[1]) * v->size[0] + at[0];
}

/* From a point to the nearest places of voxels along an axis, squared; of as many as out has room for. */
static void steps_of(const building *b, size_t point, int axis, int64_t from, int64_t to, double *out) {
    double grown = SLACK * b->v->edge + b->margin, p = (double)b->position[axis][point];
    for (int64_t at = from; at <= to; ++at) {
        double low = b->v->low[axis] + (double)at * b->v->edge - grown, high = low + b->v->edge + 2 * grown;
        double off = p < low ? low - p : p > high ? p - high : 0;
        out[at - from] = off * off;
    }
}

/* Counts (index NULL) or lists the points of every voxel; `next` is where a voxel's next one goes. */
static atn_status spread(const building *b, int32_t *next, int32_t *index) {
    double reach2 = (b->threshold + b->margin) * (b->threshold + b->margin);
    atn_status status = ATN_OK;
    for (size_t p = 0; p < b->count && status == ATN_OK; ++p) {
        int64_t from[3], to[3], at[3];
        double near2[3][MOST_ACROSS];
        voxels_of(b, p, from, to);
        for (int axis = 0; axis < 3; ++axis) {
            assert(to[axis] - from[axis] < MOST_ACROSS);
            steps_of(b, p, axis, from[axis], to[axis], near2[axis]);
        }
        for (at[2] = from[2]; at[2] <= to[2]; ++at[2])
            for (at[1] = from[1]; at[1] <= to[1]; ++at[1])
                for (at[0] = from[0]; at[0] <= to[0]; ++at[0]) {
                    if (near2[0][at[0] - from[0]] + near2[1][at[1] - from[1]] + near2[2][at[2] - from[2]] > reach2)
                        continue;
                    int32_t *place = &next[voxel_at(b->v, at)];
                    if (index) index[*place] = (int32_t)p;
                    ++*place;
                }
        if (p % 1024 == 0) status = atn_check_cancel(b->v->ctx);
    }
    return status;
}

/* Is `a` nearer than `other` to every place of the voxel, up to rounding? The difference of the squares is linear, so
 * the worst corner decides. */
static bool is_nearer(const building *b, const int64_t at[3], int32_t a, int32_t other) {
    double worst = 0, grown = SLACK * b->v->edge + b->margin;
    for (int axis = 0; axis < 3; ++axis) {
        double p = (double)b->position[axis][a], q = (double)b->position[axis][other];
        double low = b->v->low[axis] + (double)at[axis] * b->v->edge - grown, high = low + b->v->edge + 2 * grown;
        double place = q > p ? high : low; /* where |x - p|^2 - |x - q|^2 is largest along this axis */
        worst += (place - p) * (place - p) - (place - q) * (place - q);
    }
    return worst < -4 * b->margin * (b->threshold + b->v->edge);
}

/* Drops points that are farther than the point nearest to the centre of the voxel: most of a list. Points that this one
 * beats need not be compared with others; returns how many are left. */
static int32_t thin_by_middle(const building *b, const int64_t at[3], int32_t *list, int32_t count) {
    double least = INFINITY;
    int32_t middle = 0, left = 0;
    for (int32_t k = 0; k < count; ++k) {
        double sum = 0;
        for (int axis = 0; axis < 3; ++axis) {
            double off = b->v->low[axis] + ((double)at[axis] + 0.5) * b->v->edge - (double)b->position[axis][list[k]];
            sum += off * off;
        }
        if (sum < least) least = sum, middle = list[k];
    }
    for (int32_t k = 0; k < count; ++k)
        if (list[k] == middle || !is_nearer(b, at, middle, list[k])) list[left++] = list[k];
    return left;
}

/* Shortens the list of a voxel; returns how many are left, -1 where one point covers all of it. */
static int32_t thin(const building *b, const int64_t at[3], int32_t *list, int32_t count) {
    double sure = b->threshold - b->margin, nearest2, farthest2;
    for (int32_t k = 0; k < count && sure > 0 && b->lists == NEEDLE_LISTS_DECIDING; ++k) {
        reach_of(b, (size_t)list[k], at, &nearest2, &farthest2);
        if (farthest2 < sure * sure) return -1;
    }
    count = thin_by_middle(b, at, list, count);
    if (count > MOST_COMPARED) return count; /* a longer list is as right */
    int32_t left = 0;
    for (int32_t k = 0; k < count; ++k) {
        bool beaten = false;
        for (int32_t j = 0; j < count && !beaten; ++j) /* what is beaten itself is in the list no more, or later */
            beaten = j != k && (j < left || j > k) && is_nearer(b, at, list[j], list[k]);
        if (!beaten) list[left++] = list[k];
    }
    return left;
}

static size_t hash_of(const int32_t *list, int32_t count) {
    uint64_t hash = 14695981039346656037u;
    for (int32_t k = 0; k < count; ++k) hash = (hash ^ (uint32_t)list[k]) * 1099511628211u;
    return (size_t)(hash ^ hash >> 29);
}

/* The number of a list: neighbours often have the same one, which is kept once. `list` may lie behind the last. */
static int32_t number_of(building *b, const int32_t *list, int32_t count) {
    needle_volume *v = b->v;
    for (size_t slot = hash_of(list, count);; ++slot) {
        int32_t *number = &b->known[slot & b->mask], first = *number ? v->start[*number] : 0;
        bool same = *number && v->start[*number + 1] - first == count &&
                    memcmp(v->index + first, list, (size_t)count * sizeof *list) == 0;
        if (same) return *number;
        if (*number) continue;
        *number = v->lists++;
        memmove(v->index + v->start[*number], list, (size_t)count * sizeof *list);
        v->start[*number + 1] = v->start[*number] + count;
        return *number;
    }
}

typedef struct thinning {
    const building *b;
    const int32_t *end;
    int64_t plane; /* the first one */
} thinning;

/* Of planes of voxels: the lists shortened where they are, and how many are left (-1: inside) in v->list. */
static void thin_some(void *user, int64_t from, int64_t to) {
    const thinning *t = user;
    const needle_volume *v = t->b->v;
    int64_t at[3], k = (t->plane + from) * v->size[1] * v->size[0];
    for (at[2] = t->plane + from; at[2] < t->plane + to; ++at[2])
        for (at[1] = 0; at[1] < v->size[1]; ++at[1])
            for (at[0] = 0; at[0] < v->size[0]; ++at[0], ++k) {
                int32_t begin = k ? t->end[k - 1] : 0, count = t->end[k] - begin;
                v->list[k] =
                    count > 0 && t->b->lists != NEEDLE_LISTS_ALL ? thin(t->b, at, v->index + begin, count) : count;
            }
}

/* From points one voxel after the other, of which `end` says where each one's end, to lists. They only become shorter,
 * and never more than voxels that have any. */
static atn_status shorten(building *b, const int32_t *end) {
    enum { SLAB = 64 }; /* planes until someone may have cancelled it */
    needle_volume *v = b->v;
    thinning t = {b, end, 0};
    int64_t plane = (int64_t)v->size[0] * v->size[1];
    atn_status status = ATN_OK;
    for (; t.plane < v->size[2] && status == ATN_OK; t.plane += SLAB) {
        atn_parallel(v->size[2] - t.plane < SLAB ? v->size[2] - t.plane : SLAB, 1, thin_some, &t);
        status = atn_check_cancel(v->ctx);
    }
    for (int64_t k = 0; k < plane * v->size[2] && status == ATN_OK; ++k) {
        int32_t count = v->list[k], *list = v->index + (k ? end[k - 1] : 0);
        v->list[k] = count == 0 ? NEEDLE_OUTSIDE : count < 0 ? NEEDLE_INSIDE : number_of(b, list, count);
        v->inside += count < 0;
        v->mixed += count > 0;
        if (k % plane == 0) status = atn_check_cancel(v->ctx);
    }
    v->candidates = v->start[v->lists];
    return status;
}

/* Voxels twice as large until they are few enough, and the points near to them too. */
static void choose_size(building *b, const double low[3], const double high[3]) {
    needle_volume *v = b->v;
    while (true) {
        double voxels = 1, across = b->threshold / v->edge + 1, near = 4.2 * across * across * across;
        for (int axis = 0; axis < 3; ++axis) {
            double reach = b->threshold + b->margin + 2 * v->edge; /* and a border of one that has nothing */
            v->low[axis] = (double)(float)(low[axis] - reach);
            double count = ceil((high[axis] + reach - v->low[axis]) / v->edge) + 1;
            voxels *= count;
            v->size[axis] = count < 1e6 ? (int32_t)count : 1000000;
        }
        bool coarse = v->edge >= b->threshold; /* larger ones have longer lists */
        if (voxels <= MOST_VOXELS && (coarse || near * (double)b->count <= FINE_NEAR)) return;
        v->edge *= 2;
    }
}

/* Where each voxel's points begin, from how many there are. */
static atn_status place_points(const building *b, size_t voxels, int32_t *next, int64_t *sum, size_t *used) {
    *sum = 0;
    *used = 0;
    for (size_t k = 0; k < voxels; ++k) {
        int32_t count = next[k];
        next[k] = (int32_t)*sum;
        *sum += count;
        *used += count > 0;
        if (*sum > INT32_MAX)
            return atn_fail(b->v->ctx, ATN_ERR_INPUT,
                            "needle: %zu model points are too many for a threshold of %g; a larger edge of the voxel "
                            "filter leaves fewer",
                            b->count, b->threshold);
    }
    return ATN_OK;
}

static atn_status fill(building *b, size_t voxels) {
    needle_volume *v = b->v;
    int64_t points = 0;
    size_t used = 0, slots = 4;
    int32_t *next = atn_zalloc(v->ctx, voxels * sizeof *next);
    v->list = atn_alloc(v->ctx, voxels * sizeof *v->list);
    atn_status status = next && v->list ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        status = spread(b, next, NULL);
        if (status == ATN_OK) status = place_points(b, voxels, next, &points, &used);
    }
    while (slots < 2 * used) slots *= 2;
    if (status == ATN_OK) {
        b->known = atn_zalloc(v->ctx, slots * sizeof *b->known);
        b->mask = slots - 1;
        v->start = atn_zalloc(v->ctx, (used + NEEDLE_MIXED + 1) * sizeof *v->start);
        v->index = atn_alloc(v->ctx, (size_t)(points ? points : 1) * sizeof *v->index);
        if (!b->known || !v->start || !v->index) status = ATN_ERR_MEMORY;
    }
    if (status == ATN_OK) {
        status = spread(b, next, v->index); /* next is then where each one's end */
        v->lists = NEEDLE_MIXED;
        if (status == ATN_OK) status = shorten(b, next);
    }
    atn_free(v->ctx, b->known);
    atn_free(v->ctx, next);
    return status;
}

atn_status needle_volume_make(const atn_ctx *ctx, size_t count, const float *const position[3], double threshold,
                              double edge, needle_lists lists, needle_volume *out) {
    double low[3] = {0}, high[3] = {0}, largest = threshold;
    *out = (needle_volume){.ctx = ctx, .edge = edge};
    for (int axis = 0; axis < 3 && count; ++axis) {
        low[axis] = high[axis] = (double)position[axis][0];
        for (size_t k = 1; k < count; ++k) {
            low[axis] = atn_lesser(low[axis], (double)position[axis][k]);
            high[axis] = atn_larger(high[axis], (double)position[axis][k]);
        }
        largest = fmax(largest, fmax(fabs(low[axis]), fabs(high[axis])));
    }
    /* Coordinates of points that matter are below 2 * largest: their roundings, and those of the square. */
    building b = {.v = out,
                  .count = count,
                  .position = position,
                  .threshold = threshold,
                  .margin = 16 * 0x1p-24 * (2 * largest + threshold),
                  .lists = lists};
    atn_status status = cloud_extent_check(ctx, "needle", low, high, threshold, MOST_EXTENT);
    if (status != ATN_OK) return status;
    choose_size(&b, low, high);
    status = fill(&b, (size_t)out->size[0] * (size_t)out->size[1] * (size_t)out->size[2]);
    if (status != ATN_OK) needle_volume_free(out);
    return status;
}

void needle_volume_free(needle_volume *volume) {
    if (!volume->ctx) return;
    atn_free(volume->ctx, volume->list);
    atn_free(volume->ctx, volume->start);
    atn_free(volume->ctx, volume->index);
    *volume = (needle_volume){0};
}
