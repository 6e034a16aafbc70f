/* Blocks of neighbours: points in an order that keeps neighbours together, cut where the species changes or a block is
 * full. */
#include "apps/register/ordered_side.h"

#include "base/extreme.h"
#include "base/lanes.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/size.h"
#include "geom/nth.h"
#include "num/array.h"

#include <math.h>
#include <string.h>

/* ---- arrays ---- */

enum { LEAST = 16384 }; /* elements that are worth a thread */

typedef struct copying {
    atn_type type;
    void *array;
    double *numbers;
} copying;

static void put_some(void *user, int64_t from, int64_t to) {
    const copying *c = user;
    for (int64_t k = from; k < to; ++k) {
        if (c->type == ATN_DP)
            ((double *)c->array)[k] = c->numbers[k];
        else
            ((float *)c->array)[k] = (float)c->numbers[k];
    }
}

static void get_some(void *user, int64_t from, int64_t to) {
    const copying *c = user;
    for (int64_t k = from; k < to; ++k)
        c->numbers[k] = c->type == ATN_DP ? ((const double *)c->array)[k] : (double)((const float *)c->array)[k];
}

/* By way of pinned memory that many arrays use in turn, instead of some for each. */
static atn_status put_by_turns(atn_device *device, atn_array *array, size_t count, copying *c) {
    atn_host_memory memory;
    atn_status status = atn_host_alloc(device, count * atn_type_bytes(c->type), &memory);
    if (status != ATN_OK) return status;
    c->array = memory.data;
    atn_parallel((int64_t)count, LEAST, put_some, c);
    status = atn_array_put(array, memory.data, 0);
    atn_host_free(device, &memory);
    return status;
}

atn_status reg_array_put(atn_array *array, size_t count, const double *from) {
    copying c = {.type = array->type, .numbers = (double *)(uintptr_t)from};
    atn_device *device = array->storage->device;
    bool whole = array->size[0] == (int64_t)count;
    if (whole && !atn_device_get_info(device)->unified) return put_by_turns(device, array, count, &c);
    atn_status status = atn_array_map_write(array, &c.array);
    if (status == ATN_OK) atn_parallel((int64_t)count, LEAST, put_some, &c);
    return status;
}

atn_status reg_array_get(atn_array *array, size_t count, double *to) {
    const void *from;
    copying c = {.type = array->type, .numbers = to};
    atn_status status = atn_array_map_read(array, &from);
    c.array = (void *)(uintptr_t)from;
    if (status == ATN_OK) atn_parallel((int64_t)count, LEAST, get_some, &c);
    return status;
}

/* ---- cutting ---- */

/* How many blocks: species do not share one. */
static size_t count_blocks(const cloud_points *p, size_t block) {
    size_t blocks = 0, filled = block;
    if (!p->species) return (p->count + block - 1) / block;
    for (size_t k = 0; k < p->count; ++k) {
        bool other = k && p->species[k] != p->species[k - 1];
        if (other || filled == block) {
            ++blocks;
            filled = 0;
        }
        ++filled;
    }
    return blocks;
}

atn_status reg_side_allocate(reg_side *s) {
    const atn_ctx *ctx = atn_device_ctx(s->device);
    size_t b = s->blocks;
    s->tree.leaves = 1;
    while (s->tree.leaves < b) s->tree.leaves *= 2;
    if (!(s->centre = atn_alloc(ctx, b * sizeof *s->centre)) || !(s->radius = atn_alloc(ctx, b * sizeof *s->radius)) ||
        !(s->tree.node = atn_alloc(ctx, 2 * s->tree.leaves * sizeof *s->tree.node)))
        return ATN_ERR_MEMORY;
    return ATN_OK;
}

/* What is there for each point. */
static atn_status allocate_points(reg_side *s, bool species) {
    const atn_ctx *ctx = atn_device_ctx(s->device);
    size_t n = s->padded;
    for (int axis = 0; axis < 3; ++axis)
        if (!(s->position[axis] = atn_alloc(ctx, n * sizeof(double)))) return ATN_ERR_MEMORY;
    if (!(s->weight = atn_zalloc(ctx, n * sizeof *s->weight)) || !(s->origin = atn_alloc(ctx, n * sizeof *s->origin)) ||
        (species && !(s->species = atn_alloc(ctx, s->blocks * sizeof *s->species))))
        return ATN_ERR_MEMORY;
    return ATN_OK;
}

static void free_points(reg_side *s) {
    const atn_ctx *ctx = atn_device_ctx(s->device);
    for (int axis = 0; axis < 3; ++axis) {
        atn_free(ctx, s->position[axis]);
        s->position[axis] = NULL;
    }
    atn_free(ctx, s->weight);
    atn_free(ctx, s->origin);
    s->weight = NULL;
    s->origin = NULL;
}

atn_status reg_side_room(reg_side *s, bool species) {
    atn_status status = allocate_points(s, species);
    return status == ATN_OK ? reg_side_allocate(s) : status;
}

/* Copies of the last point, which weigh nothing, up to the end of the block. */
static size_t fill_up(reg_side *s, size_t at) {
    for (; at % s->block; ++at) {
        for (int axis = 0; axis < 3; ++axis) s->position[axis][at] = s->position[axis][at - 1];
        s->origin[at] = s->origin[at - 1];
    }
    return at;
}

typedef struct cutting {
    reg_side *s;
    const cloud_points *p;
    const double *origin;
    double unit;
} cutting;

static void place(const cutting *c, size_t from, size_t at) {
    reg_side *s = c->s;
    for (int axis = 0; axis < 3; ++axis)
        s->position[axis][at] = (c->p->position[axis][from] - c->origin[axis]) / c->unit;
    s->weight[at] = c->p->weight[from];
    s->origin[at] = (uint32_t)from;
}

ATN_IN_LANES static void move_axis(const double *from, size_t count, double origin, double unit, double *to) {
    ATN_LANES()
    for (size_t k = 0; k < count; ++k) to[k] = (from[k] - origin) / unit;
}

static void place_some(void *user, int64_t from, int64_t to) {
    const cutting *c = user;
    reg_side *s = c->s;
    size_t count = (size_t)(to - from);
    for (int axis = 0; axis < 3; ++axis)
        move_axis(c->p->position[axis] + from, count, c->origin[axis], c->unit, s->position[axis] + from);
    memcpy(s->weight + from, c->p->weight + from, count * sizeof *s->weight);
    for (int64_t k = from; k < to; ++k) s->origin[k] = (uint32_t)k;
}

/* Blocks end where the species does; returns how many points there are then. */
static size_t place_species(const cutting *c) {
    const int32_t *species = c->p->species;
    size_t at = 0;
    for (size_t k = 0; k < c->p->count; ++k) {
        if (k && species[k] != species[k - 1]) at = fill_up(c->s, at);
        place(c, k, at);
        c->s->species[at++ / c->s->block] = species[k];
    }
    return at;
}

/* Stretch by stretch: the sum does not depend on how many threads there are. */
typedef struct adding {
    const reg_side *s;
    double *sum;
} adding;
enum { STRETCH = 16384 };

static void add_some(void *user, int64_t from, int64_t to) {
    const adding *t = user;
    for (int64_t k = from; k < to; ++k) {
        size_t first = (size_t)k * STRETCH, end = first + STRETCH < t->s->padded ? first + STRETCH : t->s->padded;
        double sum = 0;
        for (size_t r = first; r < end; ++r) sum += (double)t->s->weight[r];
        t->sum[k] = sum;
    }
}

atn_status reg_side_add_weights(reg_side *s, const atn_ctx *ctx) {
    size_t stretches = (s->padded + STRETCH - 1) / STRETCH;
    adding t = {s, atn_alloc(ctx, stretches * sizeof *t.sum)};
    if (!t.sum) return ATN_ERR_MEMORY;
    atn_parallel((int64_t)stretches, 1, add_some, &t);
    for (size_t k = 0; k < stretches; ++k) s->total += t.sum[k];
    atn_free(ctx, t.sum);
    return ATN_OK;
}

static void cut(reg_side *s, const cloud_points *p, const double origin[3], double unit) {
    cutting c = {s, p, origin, unit};
    size_t placed = p->species ? place_species(&c) : p->count;
    if (!p->species) atn_parallel((int64_t)p->count, LEAST / 8, place_some, &c);
    fill_up(s, placed);
}

/* ---- balls, boxes, tree ---- */

static const reg_box EMPTY = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void join(reg_box *box, const reg_box *more) {
    for (int axis = 0; axis < 3; ++axis) {
        box->low[axis] = atn_lesser(box->low[axis], more->low[axis]);
        box->high[axis] = atn_larger(box->high[axis], more->high[axis]);
    }
}

ATN_IN_LANES static double farthest2(const double *x, const double *y, const double *z, size_t count,
                                     const double centre[3]) {
    const double a = centre[0], b = centre[1], c = centre[2];
    double most = 0;
    ATN_LANES(reduction(max : most))
    for (size_t k = 0; k < count; ++k) {
        double u = x[k] - a, v = y[k] - b, w = z[k] - c;
        most = atn_larger(most, u * u + v * v + w * w);
    }
    return most;
}

static void enclose_some(void *user, int64_t from, int64_t to) {
    reg_side *s = user;
    for (size_t b = (size_t)from; b < (size_t)to; ++b) {
        reg_box *box = &s->tree.node[s->tree.leaves + b];
        size_t first = b * s->block;
        for (int axis = 0; axis < 3; ++axis) {
            atn_extremes(s->position[axis] + first, s->block, &box->low[axis], &box->high[axis]);
            s->centre[b][axis] = (box->low[axis] + box->high[axis]) / 2;
        }
        s->radius[b] = sqrt(
            farthest2(s->position[0] + first, s->position[1] + first, s->position[2] + first, s->block, s->centre[b]));
    }
}

/* The median of the radii, of some blocks spread evenly over all. */
static double usual_radius(const reg_side *s) {
    enum { MOST = 512 };
    double some[MOST];
    size_t count = s->blocks < MOST ? s->blocks : MOST;
    for (size_t k = 0; k < count; ++k) some[k] = s->radius[s->blocks * k / count];
    return count ? geom_nth(some, count, count / 2) : 0;
}

void reg_side_join(reg_side *s) {
    for (size_t n = 0; n < s->tree.leaves; ++n) s->tree.node[n] = EMPTY;
    for (size_t b = s->blocks; b < s->tree.leaves; ++b) s->tree.node[s->tree.leaves + b] = EMPTY;
    for (size_t n = s->tree.leaves; n-- > 1;) {
        join(&s->tree.node[n], &s->tree.node[2 * n]);
        join(&s->tree.node[n], &s->tree.node[2 * n + 1]);
    }
    s->bounds = s->tree.node[1];
    s->usual_radius = usual_radius(s);
}

void reg_side_enclose(reg_side *s) {
    atn_parallel((int64_t)s->blocks, 64, enclose_some, s);
    reg_side_join(s);
}

/* ---- on the device ---- */

static atn_status vector(reg_side *s, atn_array **out) {
    return atn_array_create_vector(s->device, s->type, (int64_t)s->padded, out);
}

static atn_status rows_of(const reg_side *s, atn_array *array, atn_array **out) {
    return atn_array_view_matrix(array, (int64_t)s->blocks, (int64_t)s->block, out);
}

typedef struct weighing {
    const reg_side *s;
    const double *factor;
    double *number;
} weighing;

static void weigh_some(void *user, int64_t from, int64_t to) {
    const weighing *t = user;
    for (int64_t k = from; k < to; ++k) {
        double w = t->factor ? (double)t->s->weight[k] * t->factor[k] : (double)t->s->weight[k];
        t->number[k] = w == 1 ? 0 : w > 0 ? fmax(log2(w), REG_NOTHING) : REG_NOTHING; /* most are 1 */
    }
}

static void copy_weights(void *user, int64_t from, int64_t to) {
    const weighing *t = user;
    for (int64_t k = from; k < to; ++k) t->number[k] = (double)t->s->weight[k];
}

static atn_status weigh(const reg_side *s, const double *factor, double *number) {
    weighing t = {s, factor, number};
    atn_parallel((int64_t)s->padded, LEAST / 16, weigh_some, &t); /* logarithms */
    return reg_array_put(s->log_weight, s->padded, number);
}

atn_status reg_side_create(reg_side *s) {
    atn_status status = ATN_OK;
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis) {
        status = vector(s, &s->point[axis]);
        if (status == ATN_OK) status = vector(s, &s->moved[axis]);
        if (status == ATN_OK) status = reg_array_open(s->moved[axis]);
    }
    if (status == ATN_OK) status = vector(s, &s->log_weight);
    if (status == ATN_OK) status = vector(s, &s->w);
    if (status == ATN_OK) status = vector(s, &s->shift);
    if (status == ATN_OK) status = atn_array_create_vector(s->device, ATN_INT32, (int64_t)s->padded, &s->partner);
    if (status == ATN_OK) status = reg_array_open(s->partner);
    for (int k = 0; k < 4 && status == ATN_OK; ++k) {
        status = vector(s, &s->sum[k]);
        if (status == ATN_OK) status = reg_array_open(s->sum[k]);
    }
    for (int k = 0; k < 4 && status == ATN_OK; ++k) status = rows_of(s, s->sum[k], &s->sum_rows[k]);
    for (int k = 0; k < 3 && status == ATN_OK; ++k) status = rows_of(s, s->moved[k], &s->moved_rows[k]);
    if (status == ATN_OK) status = rows_of(s, s->log_weight, &s->log_weight_rows);
    if (status == ATN_OK) status = rows_of(s, s->shift, &s->shift_rows);
    if (status == ATN_OK) status = rows_of(s, s->partner, &s->partner_rows);
    return status;
}

static atn_status upload(reg_side *s, const atn_ctx *ctx) {
    double *number = atn_alloc(ctx, s->padded * sizeof *number);
    if (!number) return ATN_ERR_MEMORY;
    atn_status status = reg_side_create(s);
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis)
        status = reg_array_put(s->point[axis], s->padded, s->position[axis]);
    if (status == ATN_OK) {
        atn_parallel((int64_t)s->padded, LEAST, copy_weights, &(weighing){s, NULL, number});
        status = reg_array_put(s->w, s->padded, number);
    }
    if (status == ATN_OK) status = weigh(s, NULL, number);
    atn_free(ctx, number);
    return status;
}

atn_status reg_side_make(atn_device *device, const cloud_points *points, const double origin[3], double unit,
                         atn_type type, size_t block, reg_side *out) {
    const atn_ctx *ctx = points->ctx;
    reg_side s = {.device = device, .type = type, .count = points->count, .block = block};
    s.blocks = count_blocks(points, block);
    s.padded = s.blocks * block;
    atn_status status = reg_side_room(&s, points->species != NULL);
    if (status == ATN_OK) {
        cut(&s, points, origin, unit);
        reg_side_enclose(&s);
        status = reg_side_add_weights(&s, ctx);
    }
    *out = s;
    if (status != ATN_OK) reg_side_free(out);
    return status;
}

static void fetch_weights(void *user, int64_t from, int64_t to) {
    const weighing *t = user;
    for (int64_t k = from; k < to; ++k) {
        t->s->weight[k] = (float)t->number[k];
        t->s->origin[k] = (uint32_t)((size_t)k < t->s->count ? (size_t)k : t->s->count - 1);
    }
}

atn_status reg_side_fetch(reg_side *s) {
    if (!s->on_device || s->position[0]) return ATN_OK;
    const atn_ctx *ctx = atn_device_ctx(s->device);
    double *number = atn_alloc(ctx, s->padded * sizeof *number);
    atn_status status = number ? allocate_points(s, false) : ATN_ERR_MEMORY;
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis)
        status = reg_array_get(s->point[axis], s->padded, s->position[axis]);
    if (status == ATN_OK) status = reg_array_get(s->w, s->padded, number);
    if (status == ATN_OK) atn_parallel((int64_t)s->padded, LEAST, fetch_weights, &(weighing){s, NULL, number});
    atn_free(ctx, number);
    if (status != ATN_OK) free_points(s);
    return status;
}

/* ---- spacing ---- */

ATN_IN_LANES static double nearest_among(const double *x, const double *y, const double *z, size_t count,
                                         const double p[3], double best) {
    const double a = p[0], b = p[1], c = p[2];
    double least = best;
    ATN_LANES(reduction(min : least))
    for (size_t k = 0; k < count; ++k) {
        double u = x[k] - a, v = y[k] - b, w = z[k] - c, d2 = u * u + v * v + w * w;
        d2 = d2 > 0 ? d2 : INFINITY;
        least = atn_lesser(least, d2);
    }
    return least;
}

static double nearest_in_block(const reg_side *s, size_t b, const double p[3], double best) {
    size_t first = b * s->block;
    return nearest_among(s->position[0] + first, s->position[1] + first, s->position[2] + first, s->block, p, best);
}

/* The same of all blocks below a node. */
static double nearest_below(const reg_side *s, size_t from, const double p[3], double best) {
    size_t stack[64], depth = 0;
    stack[depth++] = from;
    while (depth) {
        size_t node = stack[--depth];
        if (!(reg_box_gap2(&s->tree.node[node], p[0], p[1], p[2]) < best)) continue;
        if (node >= s->tree.leaves) {
            best = nearest_in_block(s, node - s->tree.leaves, p, best);
            continue;
        }
        stack[depth++] = 2 * node + 1;
        stack[depth++] = 2 * node;
    }
    return best;
}

/* The square of the distance to the nearest point at another place; INFINITY where there is none. */
static double nearest_elsewhere(const reg_side *s, size_t r) {
    double p[3] = {s->position[0][r], s->position[1][r], s->position[2][r]};
    double best = nearest_in_block(s, r / s->block, p, INFINITY);
    for (size_t node = s->tree.leaves + r / s->block; node > 1; node /= 2) /* up from its own block */
        best = nearest_below(s, node ^ 1, p, best);
    return best;
}

enum { SAMPLES = 1000 };

typedef struct sampling {
    const reg_side *s;
    size_t samples;
    double found[SAMPLES];
} sampling;

static void look_at_some(void *user, int64_t from, int64_t to) {
    sampling *t = user;
    for (int64_t k = from; k < to; ++k)
        t->found[k] = nearest_elsewhere(t->s, t->s->padded / t->samples * (size_t)k +
                                                  t->s->padded % t->samples * (size_t)k / t->samples);
}

double reg_side_median(double *square, size_t n) {
    size_t finite = 0;
    for (size_t k = 0; k < n; ++k)
        if (isfinite(square[k])) square[finite++] = square[k];
    if (!finite) return 0;
    double low = geom_nth(square, finite, (finite - 1) / 2), high = geom_nth(square, finite, finite / 2);
    return (sqrt(low) + sqrt(high)) / 2;
}

double reg_side_spacing(const reg_side *s) {
    sampling t = {.s = s, .samples = s->padded < SAMPLES ? s->padded : SAMPLES};
    atn_parallel((int64_t)t.samples, 64, look_at_some, &t);
    return reg_side_median(t.found, t.samples);
}

/* All arrays of a side, wherever they are in it. */
enum { ARRAYS = 27 + REG_COVERS };
typedef atn_array **every_array[ARRAYS];
static void all_arrays(reg_side *s, every_array out) {
    int n = 0;
    for (int k = 0; k < 4; ++k) {
        out[n++] = &s->sum_rows[k];
        out[n++] = &s->sum[k];
        if (k == 3) break;
        out[n++] = &s->moved_rows[k];
        out[n++] = &s->moved[k];
        out[n++] = &s->point[k];
    }
    for (int k = 0; k < REG_COVERS; ++k) out[n++] = &s->cover[k];
    out[n++] = &s->pair;
    out[n++] = &s->box;
    out[n++] = &s->parent;
    out[n++] = &s->log_weight_rows;
    out[n++] = &s->shift_rows;
    out[n++] = &s->partner_rows;
    out[n++] = &s->partner;
    out[n++] = &s->log_weight;
    out[n++] = &s->w;
    out[n++] = &s->shift;
}

void reg_side_park(reg_side *s) {
    every_array arrays;
    all_arrays(s, arrays);
    for (int k = 0; k < ARRAYS; ++k) {
        if (!arrays[k]) continue;
        atn_array_free(*arrays[k]);
        *arrays[k] = NULL;
    }
    s->is_placed = false;
}

atn_status reg_side_unpark(reg_side *s) {
    if (s->w) return ATN_OK;
    atn_status status = upload(s, atn_device_ctx(s->device));
    if (status != ATN_OK) reg_side_park(s);
    return status;
}

atn_status reg_side_pairs(reg_side *s) {
    if (s->pair) return ATN_OK;
    atn_status status = atn_array_create_matrix(s->device, s->type, REG_PAIR_ROWS, (int64_t)s->padded, 0, &s->pair);
    return status == ATN_OK ? reg_array_open(s->pair) : status;
}

atn_status reg_side_weigh(reg_side *s, const double *factor, double *number) {
    atn_status status = reg_side_unpark(s);
    return status == ATN_OK ? weigh(s, factor, number) : status;
}

void reg_side_free(reg_side *s) {
    if (!s->device) return;
    const atn_ctx *ctx = atn_device_ctx(s->device);
    reg_side_park(s);
    free_points(s);
    atn_free(ctx, s->species);
    atn_free(ctx, s->centre);
    atn_free(ctx, s->radius);
    atn_free(ctx, s->tree.node);
    *s = (reg_side){0};
}

atn_status reg_array_open(atn_array *array) {
    atn_status status = atn_array_ready_device(array, true);
    if (status == ATN_OK) atn_array_written_on_device(array);
    return status;
}

atn_status reg_array_fit(atn_device *device, atn_type type, size_t count, atn_array **array) {
    if (*array && (*array)->size[0] == (int64_t)count) return ATN_OK;
    atn_array_free(*array);
    return atn_array_create_vector(device, type, (int64_t)count, array);
}

atn_status reg_side_solid(const reg_side *s, const atn_ctx *ctx, double *least, size_t *count) {
    enum { SOME = 4096 };
    size_t step = s->padded / SOME + 1, n = 0;
    geom_weighed *list = atn_alloc(ctx, (s->padded / step + 1) * sizeof *list);
    if (!list) return ATN_ERR_MEMORY;
    for (size_t r = 0; r < s->padded; r += step) list[n++] = (geom_weighed){(double)s->weight[r], (double)s->weight[r]};
    *least = GEOM_SPARSE * geom_weighed_median(list, n);
    *count = 0;
    for (size_t r = 0; r < s->padded; ++r) *count += s->weight[r] > 0 && (double)s->weight[r] >= *least;
    atn_free(ctx, list);
    return ATN_OK;
}
