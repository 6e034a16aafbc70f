/* Rows of a step in pieces (base/pieces.h): each device runs the same kernel over views of its own arrays; what helpers
 * found is then put where the first device keeps it. */
#include "apps/register/helpers.h"

#include "apps/register/share.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/pieces.h"
#include "device/backend.h"
#include "num/array.h"

#include <string.h>

enum { UNITS = 32 }; /* that the rows are cut into; runs are of 1, 2, 4 ... of them, so that there are few shapes */
static const double LEAST_CPU = 1e7, LEAST_GPU = 1e10; /* pairs: shorter steps are done before others have begun */

/* Of rows: positions, sums, shift, partner; of columns: positions, weights; lists. */
enum { ROW, COLUMN = ROW + 4, LISTS = COLUMN + 4, INPUTS = LISTS + 2 };

typedef struct helper {
    reg_engine engine;
    reg_side rows, columns;
    atn_array *start, *list;
    const reg_near *near; /* that the lists are of, */
    int64_t made;         /* as they were made then */
    bool copied;          /* inputs of this step are there */
    bool out;             /* it has failed */
    int32_t cores;        /* of the host's, for its loops and kernels; 0: any */
} helper;

struct reg_helpers {
    const atn_ctx *ctx;
    int32_t count, first_cores; /* first_cores: as `cores`, of the first device */
    size_t rows;                /* that they have made */
    helper helper[];
};

atn_status reg_helpers_open(atn_device *const *devices, int32_t n, const atn_register_settings *settings,
                            reg_helpers **out) {
    *out = NULL;
    atn_status status = atn_devices_check(devices, n, "register");
    if (status != ATN_OK || n < 2) return status;
    uint64_t reserve = atn_devices_reserve(devices, n);
    const atn_ctx *ctx = atn_device_ctx(devices[0]);
    reg_helpers *h = atn_zalloc(ctx, sizeof *h + (size_t)(n - 1) * sizeof *h->helper);
    if (!h) return ATN_ERR_MEMORY;
    h->ctx = ctx;
    int32_t cpus = 0;
    for (int32_t k = 0; k < n; ++k) cpus += atn_device_get_info(devices[k])->cpu;
    int32_t each = cpus && atn_parallel_cores() > cpus ? atn_parallel_cores() / cpus : 1;
    h->first_cores = atn_device_get_info(devices[0])->cpu ? each : 0;
    for (int32_t k = 1; k < n && status == ATN_OK; ++k) {
        if (reserve >> k & 1) continue;
        helper *one = &h->helper[h->count++];
        one->cores = atn_device_get_info(devices[k])->cpu ? each : 0;
        status = reg_engine_open(devices[k], settings, &one->engine);
        one->out = status == ATN_ERR_LOST || status == ATN_ERR_UNSUPPORTED;
        if (!one->out) continue;
        atn_log(ctx, ATN_LOG_WARNING, "register: %s; the others go on", atn_ctx_message(ctx));
        status = ATN_OK;
    }
    if (status == ATN_OK)
        *out = h;
    else
        reg_helpers_close(h);
    return status;
}

static void free_arrays(helper *h) {
    for (int k = 0; k < 3; ++k) {
        atn_array_free(h->rows.moved[k]);
        atn_array_free(h->columns.moved[k]);
        atn_array_free(h->columns.moved_rows[k]);
    }
    for (int k = 0; k < 4; ++k) atn_array_free(h->rows.sum[k]);
    atn_array *const rest[] = {h->rows.shift, h->rows.partner, h->columns.log_weight, h->columns.log_weight_rows,
                               h->start,      h->list};
    for (size_t k = 0; k < sizeof rest / sizeof *rest; ++k) atn_array_free(rest[k]);
    h->rows = h->columns = (reg_side){0};
    h->start = h->list = NULL;
    h->near = NULL;
}

void reg_helpers_close(reg_helpers *h) {
    if (!h) return;
    for (int32_t k = 0; k < h->count; ++k) {
        free_arrays(&h->helper[k]);
        reg_engine_close(&h->helper[k].engine);
    }
    atn_free(h->ctx, h);
}

size_t reg_helpers_rows(const reg_helpers *h) { return h ? h->rows : 0; }

bool reg_helpers_wanted(const reg_engine *e, const reg_side *rows, double pairs) {
    bool able = e->helpers && !e->ranks && !e->settings->reproducible && rows->blocks >= 2 * UNITS;
    int32_t there = 0;
    for (int32_t k = 0; able && k < e->helpers->count; ++k) there += !e->helpers->helper[k].out;
    return there && pairs >= (atn_device_get_info(e->device)->cpu ? LEAST_CPU : LEAST_GPU);
}

/* ---- a step ---- */

/* An array of the first device's, for the host. */
typedef struct input {
    atn_type type;
    size_t count;
    const void *data;
} input;

typedef struct sharing {
    reg_engine *engine;
    reg_side *rows, *columns;
    const reg_near *near;
    reg_step *step;
    input input[INPUTS];
    size_t unit;                          /* blocks of one */
    int32_t worker[1 + ATN_MOST_DEVICES]; /* the helper that it is; -1: the first device */
    unsigned char owner[UNITS];           /* worker that did a unit */
    bool lost;                            /* the first device is */
} sharing;

static atn_status see(atn_array *from, input *out) {
    *out = (input){from->type, (size_t)from->size[0], NULL};
    return atn_array_map_read(from, &out->data);
}

/* Before any of them begins. */
static atn_status see_all(sharing *s) {
    atn_status status = ATN_OK;
    for (int k = 0; k < 3 && status == ATN_OK; ++k) {
        status = see(s->rows->moved[k], &s->input[ROW + k]);
        if (status == ATN_OK) status = see(s->columns->moved[k], &s->input[COLUMN + k]);
    }
    if (status == ATN_OK) status = see(s->rows->shift, &s->input[ROW + 3]);
    if (status == ATN_OK) status = see(s->columns->log_weight, &s->input[COLUMN + 3]);
    if (status == ATN_OK && s->near) status = see(s->near->start_array, &s->input[LISTS]);
    if (status == ATN_OK && s->near) status = see(s->near->list_array, &s->input[LISTS + 1]);
    return status;
}

static atn_status take(const input *from, atn_device *device, atn_array **to) {
    atn_status status = reg_array_fit(device, from->type, from->count, to);
    return status == ATN_OK ? atn_array_put(*to, from->data, 0) : status;
}

/* Columns as matrices, a row for each block. */
static atn_status view_columns(reg_side *columns) {
    atn_array *const from[] = {columns->moved[0], columns->moved[1], columns->moved[2], columns->log_weight};
    atn_array **const to[] = {&columns->moved_rows[0], &columns->moved_rows[1], &columns->moved_rows[2],
                              &columns->log_weight_rows};
    atn_status status = ATN_OK;
    for (int k = 0; k < 4 && status == ATN_OK; ++k) {
        atn_array_free(*to[k]);
        *to[k] = NULL;
        status = atn_array_view_matrix(from[k], (int64_t)columns->blocks, (int64_t)columns->block, to[k]);
    }
    return status;
}

static void shape(reg_side *side, const reg_side *like, atn_device *device) {
    side->device = device, side->type = like->type, side->count = like->count, side->block = like->block;
    side->blocks = like->blocks, side->padded = like->padded;
}

/* What the step works on, on a helper's device. */
static atn_status copy(const sharing *s, helper *h) {
    atn_device *device = h->engine.device;
    reg_side *rows = &h->rows, *columns = &h->columns;
    atn_status status = ATN_OK;
    shape(rows, s->rows, device);
    shape(columns, s->columns, device);
    for (int k = 0; k < 3 && status == ATN_OK; ++k) {
        status = take(&s->input[ROW + k], device, &rows->moved[k]);
        if (status == ATN_OK) status = take(&s->input[COLUMN + k], device, &columns->moved[k]);
    }
    if (status == ATN_OK) status = take(&s->input[ROW + 3], device, &rows->shift);
    if (status == ATN_OK) status = take(&s->input[COLUMN + 3], device, &columns->log_weight);
    for (int k = 0; k < 4 && status == ATN_OK; ++k)
        status = reg_array_fit(device, s->rows->sum[k]->type, rows->padded, &rows->sum[k]);
    if (status == ATN_OK) status = reg_array_fit(device, ATN_INT32, rows->padded, &rows->partner);
    if (status == ATN_OK && s->near && (h->near != s->near || h->made != s->near->made)) {
        status = take(&s->input[LISTS], device, &h->start);
        if (status == ATN_OK) status = take(&s->input[LISTS + 1], device, &h->list);
        h->near = s->near, h->made = s->near->made;
    }
    if (status == ATN_OK) status = view_columns(columns);
    h->copied = status == ATN_OK;
    return status;
}

/* Blocks from ... to - 1. */
static atn_status run_blocks(reg_engine *e, reg_side *rows, reg_side *columns, const reg_near *near, atn_array *start,
                             reg_step *step, reg_range range) {
    reg_share part;
    atn_status status = reg_share_view(rows, start, range, &part);
    if (status == ATN_OK) status = step(e, &part.side, columns, near, part.start);
    if (status == ATN_OK) status = atn_queue_finish(atn_device_queue(e->device));
    reg_share_free(&part);
    return status;
}

static atn_status run_units(const sharing *s, helper *h, int64_t from, int64_t to) {
    reg_near lists = s->near ? *s->near : (reg_near){0};
    if (h) lists.start_array = h->start, lists.list_array = h->list;
    const reg_near *near = s->near ? &lists : NULL;
    atn_status status = ATN_OK;
    while (from < to && status == ATN_OK) {
        int64_t some = 1;
        while (2 * some <= to - from) some *= 2;
        reg_range range = {(size_t)from * s->unit, (size_t)(from + some) * s->unit, true};
        if (range.end > s->rows->blocks) range.end = s->rows->blocks;
        if (range.first < range.end)
            status = run_blocks(h ? &h->engine : s->engine, h ? &h->rows : s->rows, h ? &h->columns : s->columns, near,
                                near ? lists.start_array : NULL, s->step, range);
        from += some;
    }
    return status;
}

static atn_status work(void *user, int32_t worker, int64_t from, int64_t to) {
    sharing *s = user;
    helper *h = s->worker[worker] < 0 ? NULL : &s->engine->helpers->helper[s->worker[worker]];
    int32_t cores = h ? h->cores : s->engine->helpers->first_cores, before = cores ? atn_parallel_limit(cores) : 0;
    atn_status status = h && !h->copied ? copy(s, h) : ATN_OK;
    if (status == ATN_OK) status = run_units(s, h, from, to);
    if (cores) (void)atn_parallel_limit(before);
    if (status == ATN_OK) memset(s->owner + from, worker, (size_t)(to - from));
    if (status == ATN_ERR_LOST || status == ATN_ERR_UNSUPPORTED) *(h ? &h->out : &s->lost) = true;
    return status;
}

/* Rows of a helper's array, first ... end - 1, into the first device's. */
static atn_status fetch(atn_array *from, atn_array *to, int64_t first, int64_t end, void *room) {
    atn_array *part = NULL, *place = NULL;
    atn_status status = atn_array_view_range(from, first, end - first, &part);
    if (status == ATN_OK) status = atn_array_view_range(to, first, end - first, &place);
    if (status == ATN_OK) status = atn_array_get(part, room, 0);
    if (status == ATN_OK) status = atn_array_put(place, room, 0);
    atn_array_free(part);
    atn_array_free(place);
    return status;
}

static atn_status fetch_all(const sharing *s, bool nearest) {
    size_t each = s->unit * s->rows->block, padded = s->rows->padded;
    void *room = atn_alloc(s->engine->ctx, padded * sizeof(double));
    atn_status status = room ? ATN_OK : ATN_ERR_MEMORY;
    for (int from = 0, to; from < UNITS && status == ATN_OK; from = to) {
        for (to = from + 1; to < UNITS && s->owner[to] == s->owner[from];) ++to;
        size_t first = (size_t)from * each, end = (size_t)to * each < padded ? (size_t)to * each : padded;
        int32_t who = s->worker[s->owner[from]];
        if (who < 0 || first >= end) continue;
        const reg_side *rows = &s->engine->helpers->helper[who].rows;
        s->engine->helpers->rows += end - first;
        for (int k = 0; k < (nearest ? 1 : 4) && status == ATN_OK; ++k)
            status = fetch(rows->sum[k], s->rows->sum[k], (int64_t)first, (int64_t)end, room);
        if (status == ATN_OK && nearest)
            status = fetch(rows->partner, s->rows->partner, (int64_t)first, (int64_t)end, room);
    }
    atn_free(s->engine->ctx, room);
    return status;
}

atn_status reg_helpers_run(reg_engine *e, reg_side *rows, reg_side *columns, const reg_near *near, bool nearest,
                           reg_step *step) {
    sharing s = {.engine = e, .rows = rows, .columns = columns, .near = near, .step = step, .worker = {-1}};
    int32_t workers = 1;
    s.unit = (rows->blocks + UNITS - 1) / UNITS;
    for (int32_t k = 0; k < e->helpers->count; ++k) {
        e->helpers->helper[k].copied = false;
        if (!e->helpers->helper[k].out) s.worker[workers++] = k;
    }
    atn_status status = see_all(&s);
    if (status == ATN_OK) status = atn_pieces_run(e->ctx, "register", UNITS, workers, 0, 0, work, &s);
    if (status == ATN_OK && s.lost) status = atn_device_check(e->device); /* says so: the rest is its own, too */
    return status == ATN_OK ? fetch_all(&s, nearest) : status;
}
