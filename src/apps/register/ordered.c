/* Keys, a radix sort by digits of four bits, equal points, larger cells: kernels of programs/curve_*.atn in a row. The
 * host waits for a few counts. */
#include "apps/register/ordered.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "num/array.h"

#include <math.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
enum { UNRESOLVED = 32 }; /* as in curve.c: so many points of a smallest cell stay as they came */

static atn_status vector(const reg_engine *e, atn_type type, size_t count, atn_array **out) {
    return atn_array_create_vector(e->device, type, (int64_t)count, out);
}

static atn_status words(const reg_engine *e, size_t count, atn_array **out) { return vector(e, ATN_INT32, count, out); }

static void drop(atn_array **array) {
    atn_array_free(*array);
    *array = NULL;
}

void reg_ordered_free(reg_ordered *o) {
    for (int axis = 0; axis < 3; ++axis) drop(&o->x[axis]);
    drop(&o->w);
    drop(&o->low);
    drop(&o->high);
    drop(&o->from);
    *o = (reg_ordered){0};
}

/* Room for points in order. */
static atn_status make(const reg_engine *e, size_t count, bool from, reg_ordered *out) {
    atn_status status = ATN_OK;
    *out = (reg_ordered){.count = count};
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis) status = vector(e, ATN_DP, count, &out->x[axis]);
    if (status == ATN_OK) status = vector(e, ATN_SP, count, &out->w);
    if (status == ATN_OK) status = words(e, count, &out->low);
    if (status == ATN_OK) status = words(e, count, &out->high);
    if (status == ATN_OK && from) status = words(e, count, &out->from);
    if (status != ATN_OK) reg_ordered_free(out);
    return status;
}

/* ---- to the device ---- */

/* Arrays of the host go by way of two blocks of pinned memory in turn: one is filled while the other is copied. */
enum { STAGES = 2, STAGE = 4 << 20 }; /* bytes of a block */

typedef struct staging {
    atn_device *device;
    atn_host_memory block[STAGES];
    atn_event *sent[STAGES]; /* behind the copy from it; NULL: none yet */
    size_t turn;
} staging;

static atn_status staging_make(atn_device *device, staging *out) {
    atn_status status = ATN_OK;
    *out = (staging){.device = device};
    for (int k = 0; k < STAGES && status == ATN_OK; ++k) status = atn_host_alloc(device, STAGE, &out->block[k]);
    return status;
}

/* Once all copies are over. */
static atn_status staging_free(staging *s, atn_status status) {
    for (int k = 0; k < STAGES; ++k) {
        atn_status done = s->sent[k] ? atn_event_wait(s->sent[k]) : ATN_OK;
        if (status == ATN_OK) status = done;
        atn_event_free(s->sent[k]);
        atn_host_free(s->device, &s->block[k]);
    }
    return status;
}

typedef struct copying {
    char *to;
    const char *from;
} copying;

static void copy_some(void *user, int64_t from, int64_t to) {
    const copying *c = user;
    memcpy(c->to + from, c->from + from, (size_t)(to - from));
}

static atn_status send_part(staging *s, atn_array *array, size_t offset, const char *from, size_t bytes) {
    enum { WORTH_A_THREAD = 1 << 17 }; /* bytes */
    atn_queue *queue = atn_device_queue(s->device);
    size_t k = s->turn++ % STAGES;
    atn_status status = s->sent[k] ? atn_event_wait(s->sent[k]) : atn_event_create(s->device, &s->sent[k]);
    if (status != ATN_OK) return status;
    atn_parallel((int64_t)bytes, WORTH_A_THREAD, copy_some, &(copying){s->block[k].data, from});
    status = atn_buffer_put_async(queue, array->storage->buffer, offset, s->block[k].data, bytes);
    return status == ATN_OK ? atn_event_mark(queue, s->sent[k]) : status;
}

static atn_status send(const reg_engine *e, staging *s, atn_type type, size_t count, const void *from,
                       atn_array **out) {
    size_t bytes = count * atn_type_bytes(type);
    void *to;
    atn_status status = vector(e, type, count, out);
    if (status == ATN_OK && atn_device_get_info(e->device)->unified) {
        status = atn_array_map_write(*out, &to);
        if (status == ATN_OK) atn_parallel((int64_t)bytes, STAGE, copy_some, &(copying){to, from});
        return status;
    }
    if (status == ATN_OK) status = atn_array_ready_device(*out, true);
    for (size_t at = 0; at < bytes && status == ATN_OK; at += STAGE)
        status = send_part(s, *out, at, (const char *)from + at, bytes - at < STAGE ? bytes - at : STAGE);
    if (status == ATN_OK) atn_array_written_on_device(*out);
    return status;
}

atn_status reg_ordered_load(reg_engine *e, const cloud_points *given, reg_ordered *out) {
    staging s;
    *out = (reg_ordered){.count = given->count};
    atn_status status = staging_make(e->device, &s);
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis)
        status = send(e, &s, ATN_DP, given->count, given->position[axis], &out->x[axis]);
    if (status == ATN_OK) status = send(e, &s, ATN_SP, given->count, given->weight, &out->w);
    if (status == ATN_OK) status = words(e, given->count, &out->low);
    if (status == ATN_OK) status = words(e, given->count, &out->high);
    status = staging_free(&s, status);
    if (status != ATN_OK) reg_ordered_free(out);
    return status;
}

atn_status reg_ordered_split(reg_engine *e, atn_array *rows, const char *which, reg_ordered *out) {
    reg_kernel load = rows->type == ATN_DP ? REG_CURVE_LOAD64 : REG_CURVE_LOAD;
    atn_array *wrong = NULL;
    const void *count;
    atn_status status = make(e, (size_t)rows->size[1], false, out);
    if (status == ATN_OK) status = words(e, 1, &wrong);
    if (status == ATN_OK) {
        reg_binding bound[] = {{"points", rows}, {"x", out->x[0]}, {"y", out->x[1]},
                               {"z", out->x[2]}, {"w", out->w},    {"wrong", wrong}};
        status = reg_engine_run(e, load, bound, COUNT(bound));
    }
    if (status == ATN_OK) status = atn_array_map_read(wrong, &count);
    if (status == ATN_OK && *(const int32_t *)count > 0)
        status = atn_fail(e->ctx, ATN_ERR_INPUT, "register: %d points of the %s have a coordinate that is not finite",
                          *(const int32_t *)count, which);
    atn_array_free(wrong);
    if (status != ATN_OK) reg_ordered_free(out);
    return status;
}

/* ---- sums ---- */

atn_status reg_ordered_sums(reg_engine *e, const reg_ordered *o, const double origin[3], double total[REG_SUMS_COUNT]) {
    reg_given given[] = {{"ox", origin[0]}, {"oy", origin[1]}, {"oz", origin[2]}};
    atn_array *sums = NULL;
    const void *numbers;
    atn_status status = vector(e, ATN_DP, REG_SUMS_COUNT, &sums);
    reg_binding bound[] = {{"x", o->x[0]}, {"y", o->x[1]}, {"z", o->x[2]}, {"w", o->w}, {"total", sums}};
    if (status == ATN_OK)
        status = reg_engine_run_given(e, REG_CURVE_SUMS, NULL, given, COUNT(given), bound, COUNT(bound));
    if (status == ATN_OK) status = atn_array_map_read(sums, &numbers);
    if (status == ATN_OK) memcpy(total, numbers, REG_SUMS_COUNT * sizeof *total);
    atn_array_free(sums);
    return status;
}

/* ---- in order ---- */

typedef struct sorting {
    reg_engine *e;
    size_t count;
    int32_t per;               /* keys of a block, */
    atn_array *digits, *first; /* and what a pass counts of all of them */
    atn_array *word[2];        /* between passes */
    atn_array *place[2];
} sorting;

static void sorting_free(sorting *s) {
    drop(&s->digits);
    drop(&s->first);
    for (int k = 0; k < 2; ++k) {
        drop(&s->word[k]);
        drop(&s->place[k]);
    }
}

/* Blocks are as many as keep a GPU busy, and not too short for its groups. */
static atn_status sorting_make(reg_engine *e, size_t count, sorting *s) {
    enum { BLOCKS = 1024, SHORTEST = 512, LONGEST = 4096 };
    size_t per = count / BLOCKS < SHORTEST ? SHORTEST : count / BLOCKS > LONGEST ? LONGEST : count / BLOCKS;
    size_t blocks = (count + per - 1) / per;
    *s = (sorting){.e = e, .count = count, .per = (int32_t)per};
    atn_status status = words(e, 16 * blocks, &s->digits);
    if (status == ATN_OK) status = words(e, 16 * blocks, &s->first);
    for (int k = 0; k < 2 && status == ATN_OK; ++k) {
        status = words(e, count, &s->word[k]);
        if (status == ATN_OK) status = words(e, count, &s->place[k]);
    }
    return status;
}

static atn_status pass(const sorting *s, int shift, atn_array *word, atn_array *place, int to) {
    reg_given given[] = {{"shift", shift}, {"per", s->per}};
    reg_binding counted[] = {{"key", word}, {"count", s->digits}};
    reg_binding started[] = {{"count", s->digits}, {"first", s->first}};
    reg_binding moved[] = {
        {"key", word}, {"value", place}, {"first", s->first}, {"key_out", s->word[to]}, {"value_out", s->place[to]}};
    atn_status status = reg_engine_run_given(s->e, REG_SORT_COUNT, NULL, given, COUNT(given), counted, COUNT(counted));
    if (status == ATN_OK) status = reg_engine_run(s->e, REG_SORT_START, started, COUNT(started));
    if (status != ATN_OK) return status;
    return reg_engine_run_given(s->e, REG_SORT_SCATTER, NULL, given, COUNT(given), moved, COUNT(moved));
}

/* Places in the order of the words they belong to; equal ones stay in order. The result is in place[1]. */
static atn_status sort_words(const sorting *s, atn_array *word, atn_array *place) {
    atn_status status = ATN_OK;
    for (int k = 0; k < 8 && status == ATN_OK; ++k)
        status = pass(s, 4 * k, k ? s->word[(k + 1) % 2] : word, k ? s->place[(k + 1) % 2] : place, k % 2);
    return status;
}

atn_status reg_ordered_words(reg_engine *e, atn_array *given, atn_array *place, atn_array *out) {
    reg_binding bound[] = {{"given", given}, {"place", place}, {"word", out}};
    return reg_engine_run(e, REG_CURVE_WORDS, bound, COUNT(bound));
}

/* Points at `place` of `from`, as many as there is room for. */
static atn_status gather(reg_engine *e, const reg_ordered *from, atn_array *place, const reg_ordered *to) {
    reg_binding bound[] = {{"x", from->x[0]},  {"y", from->x[1]},    {"z", from->x[2]}, {"w", from->w},
                           {"low", from->low}, {"high", from->high}, {"place", place},  {"xs", to->x[0]},
                           {"ys", to->x[1]},   {"zs", to->x[2]},     {"ws", to->w},     {"lows", to->low},
                           {"highs", to->high}};
    return reg_engine_run(e, REG_CURVE_GATHER, bound, COUNT(bound));
}

static atn_status find_keys(reg_engine *e, const reg_ordered *o, const double low[3], double cell, atn_array *place) {
    reg_given given[] = {{"lx", low[0]}, {"ly", low[1]}, {"lz", low[2]}, {"by", cell > 0 ? 1 / cell : 0}};
    reg_binding bound[] = {{"x", o->x[0]},  {"y", o->x[1]},    {"z", o->x[2]},
                           {"low", o->low}, {"high", o->high}, {"place", place}};
    return reg_engine_run_given(e, REG_CURVE_KEYS, NULL, given, COUNT(given), bound, COUNT(bound));
}

/* Keys for `given`, and a copy in their order. */
static atn_status sort_points(reg_engine *e, reg_ordered *given, const double low[3], double cell, reg_ordered *out) {
    sorting s = {0};
    atn_status status = sorting_make(e, given->count, &s);
    if (status == ATN_OK) status = find_keys(e, given, low, cell, s.place[1]);
    if (status == ATN_OK) status = sort_words(&s, given->low, s.place[1]);
    if (status == ATN_OK) status = reg_ordered_words(e, given->high, s.place[1], s.word[1]);
    if (status == ATN_OK) status = sort_words(&s, s.word[1], s.place[1]);
    if (status == ATN_OK) status = make(e, given->count, false, out);
    if (status == ATN_OK) status = gather(e, given, s.place[1], out);
    if (status == ATN_OK) {
        out->from = s.place[1];
        out->cell = cell;
        s.place[1] = NULL;
    }
    sorting_free(&s);
    return status;
}

enum { SAME_KEY = 21, SAME_PLACE, CROWDED, SURVEYED = 25 };

static atn_status survey(reg_engine *e, const reg_ordered *o, int32_t count[SURVEYED]) {
    reg_given given[] = {{"most", UNRESOLVED}};
    atn_array *counts = NULL;
    const void *numbers;
    atn_status status = words(e, SURVEYED, &counts);
    reg_binding bound[] = {{"x", o->x[0]},  {"y", o->x[1]},    {"z", o->x[2]},
                           {"low", o->low}, {"high", o->high}, {"count", counts}};
    if (status == ATN_OK)
        status = reg_engine_run_given(e, REG_CURVE_SURVEY, NULL, given, COUNT(given), bound, COUNT(bound));
    if (status == ATN_OK) status = atn_array_map_read(counts, &numbers);
    if (status == ATN_OK) memcpy(count, numbers, SURVEYED * sizeof *count);
    atn_array_free(counts);
    return status;
}

/* Without `fewer` points that are where the one before them is. */
static atn_status unite(reg_engine *e, reg_ordered *o, size_t fewer) {
    reg_ordered all = {0}, left = {0};
    atn_status status = make(e, o->count, true, &all);
    if (status == ATN_OK) {
        reg_binding bound[] = {{"x", o->x[0]},      {"y", o->x[1]},      {"z", o->x[2]},     {"w", o->w},
                               {"low", o->low},     {"high", o->high},   {"place", o->from}, {"xs", all.x[0]},
                               {"ys", all.x[1]},    {"zs", all.x[2]},    {"ws", all.w},      {"lows", all.low},
                               {"highs", all.high}, {"places", all.from}};
        status = reg_engine_run(e, REG_CURVE_UNITE, bound, COUNT(bound));
    }
    int64_t count = (int64_t)(o->count - fewer);
    atn_array *const from[] = {all.x[0], all.x[1], all.x[2], all.w, all.low, all.high, all.from};
    atn_array **const to[] = {&left.x[0], &left.x[1], &left.x[2], &left.w, &left.low, &left.high, &left.from};
    for (size_t k = 0; k < COUNT(to) && status == ATN_OK; ++k) status = atn_array_view_range(from[k], 0, count, to[k]);
    if (status == ATN_OK) {
        left.count = (size_t)count;
        left.cell = o->cell;
        reg_ordered_free(o);
        *o = left;
    } else
        reg_ordered_free(&left);
    reg_ordered_free(&all);
    return status;
}

atn_status reg_ordered_sort(reg_engine *e, reg_ordered *points, const double low[3], double cell, bool *settled) {
    reg_ordered sorted = {0};
    int32_t count[SURVEYED] = {0};
    double total[REG_SUMS_COUNT] = {points->weight};
    *settled = false;
    atn_status status = sort_points(e, points, low, cell, &sorted);
    if (status == ATN_OK) status = survey(e, &sorted, count);
    if (status == ATN_OK && count[SAME_PLACE]) {
        status = unite(e, &sorted, (size_t)count[SAME_PLACE]);
        if (status == ATN_OK) status = survey(e, &sorted, count);
        if (status == ATN_OK) status = reg_ordered_sums(e, &sorted, low, total);
    }
    *settled = status == ATN_OK && !count[CROWDED];
    memcpy(sorted.cells, count, sizeof sorted.cells);
    sorted.weight = total[0];
    if (*settled) {
        reg_ordered kept = *points;
        *points = sorted;
        sorted = kept;
    }
    reg_ordered_free(&sorted);
    return status;
}

/* ---- larger cells ---- */

/* Halvings of such an edge down to the smallest cell. */
static int halvings(const reg_ordered *o, double edge) {
    double n = o->cell > 0 ? rint(log2(edge / o->cell)) : 0;
    return (int)fmax(0, fmin(n, REG_CELL_SIZES));
}

atn_status reg_ordered_crowded(reg_engine *e, const reg_ordered *o, double edge, int32_t most, bool *crowded) {
    reg_given given[] = {{"bits", 3 * halvings(o, edge)}, {"most", most}};
    atn_array *counts = NULL;
    const void *numbers;
    *crowded = false;
    atn_status status = words(e, 1, &counts);
    reg_binding bound[] = {{"low", o->low}, {"high", o->high}, {"count", counts}};
    if (status == ATN_OK)
        status = reg_engine_run_given(e, REG_CURVE_CROWDS, NULL, given, COUNT(given), bound, COUNT(bound));
    if (status == ATN_OK) status = atn_array_map_read(counts, &numbers);
    if (status == ATN_OK) *crowded = *(const int32_t *)numbers > 0;
    atn_array_free(counts);
    return status;
}

size_t reg_ordered_cells(const reg_ordered *o, double edge) {
    int n = halvings(o, edge);
    return n < REG_CELL_SIZES ? (size_t)o->cells[n] : 1;
}

static atn_status find_cells(reg_engine *e, const reg_ordered *o, int bits, atn_array *begin, atn_array *cell) {
    reg_given given[] = {{"bits", bits}};
    reg_binding bound[] = {{"low", o->low}, {"high", o->high}, {"begin", begin}, {"cell", cell}};
    return reg_engine_run_given(e, REG_CURVE_CELLS, NULL, given, COUNT(given), bound, COUNT(bound));
}

static atn_status merge(reg_engine *e, const reg_ordered *o, int bits, atn_array *begin, const reg_ordered *to) {
    reg_given given[] = {{"bits", bits}};
    reg_binding bound[] = {{"x", o->x[0]},    {"y", o->x[1]},    {"z", o->x[2]},     {"w", o->w},      {"low", o->low},
                           {"high", o->high}, {"begin", begin},  {"xs", to->x[0]},   {"ys", to->x[1]}, {"zs", to->x[2]},
                           {"ws", to->w},     {"lows", to->low}, {"highs", to->high}};
    return reg_engine_run_given(e, REG_CURVE_MERGE, NULL, given, COUNT(given), bound, COUNT(bound));
}

atn_status reg_ordered_merge(reg_engine *e, const reg_ordered *o, double edge, reg_ordered *out, atn_array **cell) {
    int n = halvings(o, edge);
    size_t cells = reg_ordered_cells(o, edge);
    atn_array *begin = NULL, *named = NULL;
    *cell = NULL;
    atn_status status = make(e, cells, false, out);
    if (status == ATN_OK) status = words(e, cells + 1, &begin);
    if (status == ATN_OK) status = words(e, (o->count + e->block - 1) / e->block * e->block, cell);
    if (status == ATN_OK) status = atn_array_view_range(*cell, 0, (int64_t)o->count, &named);
    if (status == ATN_OK) status = find_cells(e, o, 3 * n, begin, named);
    if (status == ATN_OK) status = merge(e, o, 3 * n, begin, out);
    atn_array_free(begin);
    atn_array_free(named);
    out->cell = o->cell * exp2(n);
    out->weight = o->weight;
    for (int k = 0; k < REG_CELL_SIZES; ++k) out->cells[k] = k + n < REG_CELL_SIZES ? o->cells[k + n] : 1;
    if (status == ATN_OK) return ATN_OK;
    reg_ordered_free(out);
    drop(cell);
    return status;
}

/* ---- to the host ---- */

static atn_status get(atn_array *from, void *to) { return atn_array_get(from, to, 0); }

static atn_status get_points(const reg_ordered *o, cloud_points *to) {
    atn_status status = atn_array_fetch(o->w, NULL);
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis) status = atn_array_fetch(o->x[axis], NULL);
    if (status == ATN_OK) status = get(o->w, to->weight);
    for (int axis = 0; axis < 3 && status == ATN_OK; ++axis) status = get(o->x[axis], to->position[axis]);
    return status;
}

atn_status reg_ordered_choose(reg_engine *e, const reg_ordered *o, size_t count, reg_ordered *out) {
    atn_array *place = NULL;
    void *to;
    atn_status status = words(e, count, &place);
    if (status == ATN_OK) status = atn_array_map_write(place, &to);
    if (status == ATN_OK) reg_curve_choose(o->count, count, to);
    if (status == ATN_OK) status = make(e, count, false, out);
    if (status == ATN_OK) status = gather(e, o, place, out);
    atn_array_free(place);
    if (status != ATN_OK) reg_ordered_free(out);
    return status;
}

atn_status reg_ordered_sample(reg_engine *e, const reg_ordered *o, size_t most, cloud_points *out) {
    size_t count = o->count < most ? o->count : most;
    reg_ordered some = {0};
    atn_status status = cloud_points_make(e->ctx, count, false, out);
    if (status == ATN_OK && count < o->count) status = reg_ordered_choose(e, o, count, &some);
    if (status == ATN_OK) status = get_points(count < o->count ? &some : o, out);
    reg_ordered_free(&some);
    if (status != ATN_OK) cloud_points_free(out);
    return status;
}

atn_status reg_ordered_fetch(reg_engine *e, const reg_ordered *o, cloud_points *out, reg_curve *curve,
                             uint32_t **from) {
    const void *low = NULL, *high = NULL;
    *curve = (reg_curve){.ctx = e->ctx, .cell = o->cell, .key = atn_alloc(e->ctx, o->count * sizeof *curve->key)};
    *from = atn_alloc(e->ctx, o->count * sizeof **from);
    atn_status status = cloud_points_make(e->ctx, o->count, false, out);
    if (status == ATN_OK && (!curve->key || !*from)) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) status = get_points(o, out);
    if (status == ATN_OK) status = get(o->from, *from);
    if (status == ATN_OK) status = atn_array_map_read(o->low, &low);
    if (status == ATN_OK) status = atn_array_map_read(o->high, &high);
    for (size_t k = 0; k < o->count && status == ATN_OK; ++k) {
        uint64_t key = (uint64_t)((const uint32_t *)high)[k] << 32 | ((const uint32_t *)low)[k];
        curve->key[k] = key >> 63 ? key | k : key; /* as reg_curve_make has those outside */
    }
    if (status == ATN_OK) return ATN_OK;
    cloud_points_free(out);
    reg_curve_free(curve);
    atn_free(e->ctx, *from);
    *from = NULL;
    return status;
}
