/* The order of points along Hilbert's curve through the cells of a raster. The raster covers nearly all points; those
 * that are far away from it come last, each in a cell of its own, so that they do not make it coarse. */
#include "apps/register/curve.h"

#include "geom/halve.h"
#include "geom/nth.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "cloud/sort.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { AXIS_BITS = REG_CURVE_HALVINGS, SAMPLES = 1024, TAIL = SAMPLES / 128, CHUNK = 2048, UNRESOLVED = 32 };

/* ---- the raster ---- */

typedef struct hilbert_raster {
    double low[3], cell;
} hilbert_raster;

typedef struct bounds {
    double low[3], high[3];
} bounds;

typedef struct bounding {
    const cloud_points *points;
    bounds of[ATN_PARALLEL_MOST]; /* by worker: the lowest is the lowest however they are shared out */
} bounding;

static void bound_some(void *user, int64_t from, int64_t to) {
    int32_t worker = atn_parallel_worker();
    bounding *t = user;
    for (int d = 0; d < 3; ++d) {
        const double *p = t->points->position[d];
        double low = t->of[worker].low[d], high = t->of[worker].high[d];
        for (int64_t k = from; k < to; ++k) {
            low = p[k] < low ? p[k] : low;
            high = p[k] > high ? p[k] : high;
        }
        t->of[worker].low[d] = low;
        t->of[worker].high[d] = high;
    }
}

static bounds bounds_of(const cloud_points *points) {
    bounding t = {.points = points};
    bounds all;
    for (int d = 0; d < 3; ++d) all.low[d] = all.high[d] = points->position[d][0];
    for (int32_t w = 0; w < ATN_PARALLEL_MOST; ++w) t.of[w] = all;
    atn_parallel((int64_t)points->count, CHUNK, bound_some, &t);
    for (int32_t w = 0; w < ATN_PARALLEL_MOST; ++w)
        for (int d = 0; d < 3; ++d) {
            all.low[d] = fmin(all.low[d], t.of[w].low[d]);
            all.high[d] = fmax(all.high[d], t.of[w].high[d]);
        }
    return all;
}

/* Where all but a sixty-fourth of a sample is on each axis, and as far again to all sides as its longest side; never
 * beyond `all`. All of them where most are at one place. */
static bounds usual(const cloud_points *points, const bounds *all) {
    bounds some = *all;
    double sample[SAMPLES], side = 0;
    if (points->count < SAMPLES) return some;
    for (int d = 0; d < 3; ++d) {
        for (size_t k = 0; k < SAMPLES; ++k)
            sample[k] = points->position[d][points->count / SAMPLES * k + points->count % SAMPLES * k / SAMPLES];
        some.low[d] = geom_nth(sample, SAMPLES, TAIL);
        some.high[d] = geom_nth(sample, SAMPLES, SAMPLES - 1 - TAIL);
        side = fmax(side, some.high[d] - some.low[d]);
    }
    if (!(side > 0)) return *all;
    for (int d = 0; d < 3; ++d) {
        some.low[d] = fmax(some.low[d] - side, all->low[d]);
        some.high[d] = fmin(some.high[d] + side, all->high[d]);
    }
    return some;
}

static hilbert_raster raster_within(const cloud_points *points, const bounds *all, double like) {
    bounds some = usual(points, all);
    hilbert_raster r = {.cell = 0};
    for (int d = 0; d < 3; ++d) {
        r.low[d] = some.low[d];
        r.cell = fmax(r.cell, some.high[d] - some.low[d]);
    }
    r.cell *= 1.000001 / (1 << AXIS_BITS); /* the highest ones are inside */
    if (r.cell > 0 && like > 0) r.cell = like * exp2(ceil(log2(r.cell / like)));
    return r;
}

static hilbert_raster raster_of(const cloud_points *points, double like) {
    bounds all = bounds_of(points);
    return raster_within(points, &all, like);
}

double reg_curve_cell(const cloud_points *given, double like) { return raster_of(given, like).cell; }

double reg_curve_raster(const cloud_points *some, const double low[3], const double high[3], double like,
                        double corner[3]) {
    bounds all;
    memcpy(all.low, low, sizeof all.low);
    memcpy(all.high, high, sizeof all.high);
    hilbert_raster r = raster_within(some, &all, like);
    memcpy(corner, r.low, sizeof r.low);
    return r.cell;
}

/* ---- keys ---- */

/* Hilbert's curve: of each of twelve ways through a cell, for each of its octants (x + 2 y + 4 z) the place on the way,
 * and 8 times the way through the octant. Cells that follow each other are neighbours, so that any run of them is
 * compact, and those of a larger cell follow each other. */
static const uint8_t WAY[12][8] = {
    {8, 23, 25, 38, 43, 44, 26, 37},  {24, 51, 63, 52, 1, 2, 70, 69},   {76, 39, 75, 80, 5, 6, 66, 65},
    {0, 9, 83, 10, 95, 78, 84, 77},   {22, 7, 21, 60, 49, 88, 50, 59},  {58, 85, 3, 4, 57, 86, 72, 55},
    {90, 89, 45, 46, 11, 32, 12, 87}, {36, 13, 71, 14, 35, 74, 40, 73}, {62, 81, 15, 16, 61, 82, 92, 91},
    {94, 93, 41, 42, 31, 20, 56, 19}, {18, 27, 17, 64, 53, 28, 54, 47}, {68, 67, 29, 34, 79, 48, 30, 33}};

/* Three halvings at once: for each way and the three bits of x, y and z (8 y, 64 z) the places on it, and 512 times the
 * way through what is left. */
enum { HALVINGS = 3, PLACES = 1 << 3 * HALVINGS };
static uint16_t ways[12][PLACES];

static void find_ways(void) {
    for (uint32_t from = 0; from < 12; ++from)
        for (uint32_t at = 0; at < PLACES; ++at) {
            uint32_t way = from, place = 0;
            for (int bit = HALVINGS - 1; bit >= 0; --bit) {
                uint32_t next = WAY[way][(at >> bit & 1) | (at >> (HALVINGS + bit) & 1) << 1 |
                                         (at >> (2 * HALVINGS + bit) & 1) << 2];
                place = place << 3 | (next & 7);
                way = next >> 3;
            }
            ways[from][at] = (uint16_t)(way << 3 * HALVINGS | place);
        }
}

static uint64_t along(const uint32_t cell[3]) {
    uint64_t key = 0;
    uint32_t way = 0;
    for (int bit = AXIS_BITS - HALVINGS; bit >= 0; bit -= HALVINGS) {
        uint32_t next =
            ways[way][(cell[0] >> bit & 7) | (cell[1] >> bit & 7) << HALVINGS | (cell[2] >> bit & 7) << 2 * HALVINGS];
        key = key << 3 * HALVINGS | (next & (PLACES - 1));
        way = next >> 3 * HALVINGS;
    }
    return key;
}

typedef struct keying {
    const cloud_points *points;
    hilbert_raster raster;
    cloud_keyed *items;
} keying;

static void key_some(void *user, int64_t from, int64_t to) {
    const keying *t = user;
    const double *low = t->raster.low, by = t->raster.cell > 0 ? 1 / t->raster.cell : 0;
    for (int64_t k = from; k < to; ++k) {
        uint32_t cell[3];
        bool inside = true;
        for (int d = 0; d < 3; ++d) {
            double step = (t->points->position[d][k] - low[d]) * by;
            bool in = step >= 0 && step < (1 << AXIS_BITS);
            cell[d] = in ? (uint32_t)step : 0;
            inside = inside && in;
        }
        t->items[k] = (cloud_keyed){.key = inside ? along(cell) : REG_CURVE_OUTSIDE, .index = (uint32_t)k};
    }
}

static void sort_species(const cloud_points *points, cloud_keyed *items, uint64_t *key) {
    for (size_t k = 0; k < points->count; ++k) {
        key[items[k].index] = items[k].key;
        items[k].key = (uint32_t)points->species[items[k].index] ^ 0x80000000u; /* in the order of signed ones */
    }
    cloud_keyed_sort(items, points->count);
    for (size_t k = 0; k < points->count; ++k) items[k].key = key[items[k].index];
}

/* ---- cells that hold several points ---- */

static bool same_place(const cloud_points *p, uint32_t a, uint32_t b) {
    return p->position[0][a] == p->position[0][b] && p->position[1][a] == p->position[1][b] &&
           p->position[2][a] == p->position[2][b];
}

/* Points of one cell by their coordinates, then by index. */
typedef struct exact {
    double at[3];
    uint32_t index;
} exact;

static int by_place(const void *a, const void *b) {
    const exact *x = a, *y = b;
    for (int d = 0; d < 3; ++d)
        if (x->at[d] != y->at[d]) return x->at[d] < y->at[d] ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* What is at one place to the last bit is there by rounding a few times, and as a mark for nothing else many times: no
 * more than SAME of them count, or marks would decide the pose. */
static const double SAME = 8;

/* The weights of points at the place of the first go to it; the others stay, in order. Returns how many are left. */
static size_t absorb(const cloud_points *p, cloud_keyed *run, size_t count) {
    size_t kept = 1;
    double weight = (double)p->weight[run[0].index], most = weight;
    for (size_t k = 1; k < count; ++k)
        if (same_place(p, run[0].index, run[k].index)) {
            weight += (double)p->weight[run[k].index];
            most = fmax(most, (double)p->weight[run[k].index]);
        } else
            run[kept++].index = run[k].index;
    p->weight[run[0].index] = (float)fmin(fmin(weight, SAME * most), (double)FLT_MAX);
    return kept;
}

/* Equal points of a cell become one each; returns how many are left. Few places with many points each are no worse than
 * few points. */
static atn_status unite(const cloud_points *p, cloud_keyed *run, size_t count, size_t *left) {
    enum { AT_ONCE = 4 };
    size_t first = 0, end = count;
    for (int k = 0; k < AT_ONCE && first < end; ++k, ++first) end = first + absorb(p, run + first, end - first);
    *left = end;
    if (end - first < 2) return ATN_OK;
    size_t n = end - first;
    exact *list = atn_alloc(p->ctx, n * sizeof *list);
    if (!list) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < n; ++k) {
        uint32_t at = run[first + k].index;
        list[k] = (exact){{p->position[0][at], p->position[1][at], p->position[2][at]}, at};
    }
    qsort(list, n, sizeof *list, by_place);
    size_t kept = first;
    for (size_t k = 0, next; k < n; k = next) {
        next = k + 1;
        while (next < n && same_place(p, list[k].index, list[next].index)) ++next;
        for (size_t i = k; i < next; ++i) run[kept + i - k].index = list[i].index;
        (void)absorb(p, run + kept++, next - k);
    }
    atn_free(p->ctx, list);
    *left = kept;
    return ATN_OK;
}

/* Neighbours stay together in cells that the raster does not resolve. */
static atn_status halve(const cloud_points *p, cloud_keyed *run, size_t count) {
    geom_item *items = atn_alloc(p->ctx, count * sizeof *items);
    if (!items) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < count; ++k) {
        for (int d = 0; d < 3; ++d)
            items[k].at[d] = (float)(p->position[d][run[k].index] - p->position[d][run[0].index]);
        items[k].index = run[k].index;
    }
    geom_halve(items, count, UNRESOLVED);
    for (size_t k = 0; k < count; ++k) run[k].index = items[k].index;
    atn_free(p->ctx, items);
    return ATN_OK;
}

static bool starts(const cloud_points *p, const cloud_keyed *items, size_t k) {
    if (k == 0 || items[k].key != items[k - 1].key) return true;
    return p->species && p->species[items[k].index] != p->species[items[k - 1].index];
}

/* Each run of equal keys; what is left of all is put together. */
static atn_status settle(const cloud_points *p, cloud_keyed *items, bool distinct, size_t *left) {
    size_t kept = 0;
    atn_status status = ATN_OK;
    for (size_t from = 0, to; from < p->count && status == ATN_OK; from = to) {
        to = from + 1;
        while (to < p->count && !starts(p, items, to)) ++to;
        size_t count = to - from;
        if (count > 1 && distinct) status = unite(p, items + from, count, &count);
        if (count > UNRESOLVED && status == ATN_OK) status = halve(p, items + from, count);
        if (kept != from) memmove(items + kept, items + from, count * sizeof *items);
        kept += count;
    }
    *left = kept;
    return status;
}

typedef struct looking {
    const cloud_points *points;
    const cloud_keyed *items;
    bool found[ATN_PARALLEL_MOST];
} looking;

static void look_for_runs(void *user, int64_t from, int64_t to) {
    int32_t worker = atn_parallel_worker();
    looking *t = user;
    for (size_t k = (size_t)from; k < (size_t)to && !t->found[worker]; ++k)
        t->found[worker] = k && t->items[k].key == t->items[k - 1].key;
}

static bool any_runs(const cloud_points *points, const cloud_keyed *items) {
    looking t = {.points = points, .items = items};
    bool any = false;
    atn_parallel((int64_t)points->count, CHUNK, look_for_runs, &t);
    for (int32_t w = 0; w < ATN_PARALLEL_MOST; ++w) any = any || t.found[w];
    return any;
}

/* ---- in order ---- */

typedef struct arranging {
    const cloud_keyed *items;
    uint64_t *key;
    uint32_t *from;
} arranging;

static void arrange_some(void *user, int64_t from, int64_t to) {
    const arranging *t = user;
    for (int64_t k = from; k < to; ++k) {
        t->key[k] = t->items[k].key == REG_CURVE_OUTSIDE ? REG_CURVE_OUTSIDE | (uint64_t)k : t->items[k].key;
        t->from[k] = t->items[k].index;
    }
}

/* Points, keys and where they were, from sorted items. */
static atn_status arrange(const cloud_points *given, const cloud_keyed *items, size_t left, cloud_points *out,
                          reg_curve *curve, uint32_t **from) {
    const atn_ctx *ctx = given->ctx;
    cloud_points some = *given;
    curve->key = atn_alloc(ctx, left * sizeof *curve->key);
    *from = atn_alloc(ctx, left * sizeof **from);
    if (!curve->key || !*from) return ATN_ERR_MEMORY;
    atn_parallel((int64_t)left, CHUNK, arrange_some, &(arranging){items, curve->key, *from});
    some.count = left;
    return cloud_points_permute(&some, *from, out);
}

atn_status reg_curve_make(const cloud_points *given, double like, bool distinct, cloud_points *out, reg_curve *curve,
                          uint32_t **from) {
    const atn_ctx *ctx = given->ctx;
    cloud_keyed *items;
    uint64_t *key = NULL;
    size_t left = given->count;
    *out = (cloud_points){0};
    *curve = (reg_curve){.ctx = ctx};
    *from = NULL;
    atn_status status = cloud_keyed_make(ctx, given->count, &items);
    if (status != ATN_OK) return status;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, find_ways);
    keying t = {given, raster_of(given, like), items};
    curve->cell = t.raster.cell;
    atn_parallel((int64_t)given->count, CHUNK / 4, key_some, &t);
    cloud_keyed_sort(items, given->count);
    if (given->species) {
        if ((key = atn_alloc(ctx, given->count * sizeof *key)))
            sort_species(given, items, key);
        else
            status = ATN_ERR_MEMORY;
        atn_free(ctx, key);
    }
    if (status == ATN_OK && any_runs(given, items)) status = settle(given, items, distinct, &left);
    if (status == ATN_OK) status = arrange(given, items, left, out, curve, from);
    if (status == ATN_OK) status = atn_check_cancel(ctx);
    atn_free(ctx, items);
    if (status == ATN_OK) return ATN_OK;
    cloud_points_free(out);
    reg_curve_free(curve);
    atn_free(ctx, *from);
    *from = NULL;
    return status;
}

void reg_curve_free(reg_curve *curve) {
    if (curve->ctx) atn_free(curve->ctx, curve->key);
    *curve = (reg_curve){0};
}

/* ---- larger cells ---- */

double reg_curve_edge(const reg_curve *curve, double edge) {
    return edge > curve->cell ? curve->cell * exp2(rint(log2(edge / curve->cell))) : curve->cell;
}

int reg_curve_bits(const reg_curve *curve, double edge) {
    double halvings = curve->cell > 0 ? rint(log2(edge / curve->cell)) : 0;
    return 3 * (int)fmax(0, fmin(halvings, AXIS_BITS));
}

typedef struct merging {
    const cloud_points *from;
    const uint64_t *key;
    int bits;
    uint32_t *count; /* of cells that begin in each chunk; then of those before it */
    uint32_t *start; /* of each cell; NULL: not known yet */
    cloud_points *to;
    uint64_t *to_key;
} merging;

static bool begins(const merging *t, size_t k) {
    if (k == 0 || !reg_curve_same(t->key[k], t->key[k - 1], t->bits)) return true;
    return t->from->species && t->from->species[k] != t->from->species[k - 1];
}

static void find_cells(void *user, int64_t from, int64_t to) {
    const merging *t = user;
    for (size_t c = (size_t)from; c < (size_t)to; ++c) {
        size_t end = (c + 1) * CHUNK < t->from->count ? (c + 1) * CHUNK : t->from->count;
        uint32_t found[CHUNK], cells = 0;
        for (size_t k = c * CHUNK; k < end; ++k) { /* whether one begins is nobody's guess: no branch */
            found[cells] = (uint32_t)k;
            cells += begins(t, k);
        }
        if (t->start && cells) memcpy(t->start + t->count[c], found, cells * sizeof *found);
        if (!t->start) t->count[c] = cells;
    }
}

/* The mean of points `first` to `end` - 1, about the first of them; the plain one while all weights are 0. */
static float mean_of(const cloud_points *p, size_t first, size_t end, double mean[3]) {
    double weight = 0, sum[3] = {0}, plain[3] = {0};
    for (size_t k = first; k < end; ++k) {
        double w = (double)p->weight[k];
        weight += w;
        for (int d = 0; d < 3; ++d) {
            double off = p->position[d][k] - p->position[d][first];
            sum[d] += w * off;
            plain[d] += off;
        }
    }
    for (int d = 0; d < 3; ++d)
        mean[d] = p->position[d][first] + (weight > 0 ? sum[d] / weight : plain[d] / (double)(end - first));
    return (float)fmin(weight, (double)FLT_MAX);
}

static void merge_some(void *user, int64_t from, int64_t to) {
    const merging *t = user;
    for (int64_t c = from; c < to; ++c) {
        size_t first = t->start[c];
        double mean[3];
        t->to->weight[c] = mean_of(t->from, first, t->start[c + 1], mean);
        for (int d = 0; d < 3; ++d) t->to->position[d][c] = mean[d];
        if (t->to->species) t->to->species[c] = t->from->species[first];
        t->to_key[c] = t->key[first] & REG_CURVE_OUTSIDE ? t->key[first] : t->key[first] >> t->bits;
    }
}

/* By one thread in one pass. */
static atn_status find_all_cells(merging *t, size_t *cells) {
    size_t count = t->from->count, n = 0;
    t->start = atn_alloc(t->from->ctx, (count + 1) * sizeof *t->start);
    for (size_t k = 0; k < count && t->start; ++k) { /* as above */
        t->start[n] = (uint32_t)k;
        n += begins(t, k);
    }
    *cells = n;
    if (t->start) t->start[n] = (uint32_t)count;
    return t->start ? ATN_OK : ATN_ERR_MEMORY;
}

/* start of all cells and the end of the last; owned by the caller. */
static atn_status cells_of(merging *t, size_t *cells) {
    const atn_ctx *ctx = t->from->ctx;
    size_t chunks = (t->from->count + CHUNK - 1) / CHUNK;
    *cells = 0;
    if (atn_parallel_workers() == 1) return find_all_cells(t, cells);
    if (!(t->count = atn_alloc(ctx, chunks * sizeof *t->count))) return ATN_ERR_MEMORY;
    atn_parallel((int64_t)chunks, 1, find_cells, t);
    for (size_t c = 0; c < chunks; ++c) {
        uint32_t here = t->count[c];
        t->count[c] = (uint32_t)*cells;
        *cells += here;
    }
    t->start = atn_alloc(ctx, (*cells + 1) * sizeof *t->start);
    if (t->start) {
        atn_parallel((int64_t)chunks, 1, find_cells, t);
        t->start[*cells] = (uint32_t)t->from->count;
    }
    atn_free(ctx, t->count);
    return t->start ? ATN_OK : ATN_ERR_MEMORY;
}

atn_status reg_curve_merge(const cloud_points *points, const reg_curve *curve, double edge, cloud_points *out,
                           reg_curve *out_curve) {
    const atn_ctx *ctx = points->ctx;
    merging t = {.from = points, .key = curve->key, .bits = reg_curve_bits(curve, edge), .to = out};
    size_t cells;
    *out = (cloud_points){0};
    *out_curve = (reg_curve){.ctx = ctx, .cell = curve->cell * exp2(t.bits / 3)};
    atn_status status = cells_of(&t, &cells);
    if (status == ATN_OK) status = cloud_points_make(ctx, cells, points->species != NULL, out);
    if (status == ATN_OK && !(out_curve->key = atn_alloc(ctx, cells * sizeof *out_curve->key))) status = ATN_ERR_MEMORY;
    t.to_key = out_curve->key;
    if (status == ATN_OK) atn_parallel((int64_t)cells, CHUNK, merge_some, &t);
    if (status == ATN_OK) status = atn_check_cancel(ctx);
    atn_free(ctx, t.start);
    if (status == ATN_OK) return ATN_OK;
    cloud_points_free(out);
    reg_curve_free(out_curve);
    return status;
}

static void name_cells(void *user, int64_t from, int64_t to) {
    const merging *t = user;
    for (int64_t c = from; c < to; ++c)
        for (uint32_t k = t->start[c]; k < t->start[c + 1]; ++k) t->count[k] = (uint32_t)c;
}

atn_status reg_curve_cells(const cloud_points *points, const reg_curve *curve, double edge, uint32_t *cell) {
    merging t = {.from = points, .key = curve->key, .bits = reg_curve_bits(curve, edge)};
    size_t cells;
    atn_status status = cells_of(&t, &cells);
    t.count = cell;
    if (status == ATN_OK) atn_parallel((int64_t)cells, CHUNK, name_cells, &t);
    atn_free(points->ctx, t.start);
    return status;
}

/* ---- crowds ---- */

static size_t count_places(const uint64_t *key, size_t count, int bits) {
    size_t places = 1;
    for (size_t k = 1; k < count; ++k) places += key[k] >> bits != key[k - 1] >> bits;
    return places;
}

/* Point `to` becomes the mean of `first` to `end` - 1; to <= first. */
static void move_mean(cloud_points *p, reg_curve *curve, uint32_t *from, size_t first, size_t end, size_t to) {
    double mean[3];
    float weight = p->weight[first];
    if (end - first > 1) weight = mean_of(p, first, end, mean);
    for (int d = 0; d < 3; ++d) p->position[d][to] = end - first > 1 ? mean[d] : p->position[d][first];
    p->weight[to] = weight;
    if (p->species) p->species[to] = p->species[first];
    curve->key[to] = curve->key[first];
    from[to] = from[first];
}

static size_t thin_cell(cloud_points *p, reg_curve *curve, uint32_t *from, size_t first, size_t end, size_t most,
                        size_t to) {
    int bits = 0;
    while (count_places(curve->key + first, end - first, bits) > most) bits += 3;
    for (size_t k = first, next; k < end; k = next) {
        next = k + 1;
        while (next < end && curve->key[next] >> bits == curve->key[k] >> bits) ++next;
        move_mean(p, curve, from, k, next, to++);
    }
    return to;
}

atn_status reg_curve_thin(cloud_points *points, reg_curve *curve, double edge, size_t most, uint32_t *from) {
    merging t = {.from = points, .key = curve->key, .bits = reg_curve_bits(curve, edge)};
    size_t cells, largest = 0, left = 0;
    atn_status status = cells_of(&t, &cells);
    for (size_t c = 0; c < cells && status == ATN_OK; ++c)
        if (t.start[c + 1] - t.start[c] > largest) largest = t.start[c + 1] - t.start[c];
    for (size_t c = 0; c < cells && status == ATN_OK && largest > most; ++c) {
        size_t first = t.start[c], end = t.start[c + 1];
        if (c % 4096 == 0) status = atn_check_cancel(points->ctx);
        if (end - first > most)
            left = thin_cell(points, curve, from, first, end, most, left);
        else
            for (size_t k = first; k < end; ++k) move_mean(points, curve, from, k, k + 1, left++);
    }
    if (status == ATN_OK && largest > most) points->count = left;
    atn_free(points->ctx, t.start);
    return status;
}
