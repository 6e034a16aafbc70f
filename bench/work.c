/* One job's arrays on its device, filled in parallel (which also places their pages), and what a run of it amounts to.
 */
#include "bench.h"

#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sizes of inputs by letters: m, n, k, '1', 's' for m + 1, 'z' for m k. Outputs take what they reach. */
static const struct {
    const char *kernel;
    struct {
        const char *object;
        char columns, rows;
    } inputs[6];
} INPUTS[] = {
    {"add", {{"A", 'n', 'm'}, {"B", 'n', 'm'}}},
    {"scale", {{"A", 'n', 'm'}}},
    {"transpose", {{"A", 'n', 'm'}}},
    {"laplace2d", {{"A", 'n', 'm'}}},
    {"l2norm", {{"x", 'n', '1'}}},
    {"dot", {{"x", 'n', '1'}, {"y", 'n', '1'}}},
    {"max", {{"x", 'n', '1'}}},
    {"gemv", {{"A", 'n', 'm'}, {"x", 'n', '1'}}},
    {"gemm", {{"A", 'k', 'm'}, {"B", 'n', 'k'}}},
    {"estep",
     {{"yx", 'm', '1'}, {"yy", 'm', '1'}, {"yz", 'm', '1'}, {"xx", 'n', '1'}, {"xy", 'n', '1'}, {"xz", 'n', '1'}}},
    {"spmv", {{"start", 's', '1'}, {"column", 'z', '1'}, {"element", 'z', '1'}, {"x", 'n', '1'}}},
};

static int64_t length_of(char letter, const bench_job *job) {
    switch (letter) {
    case 'm':
        return job->m;
    case 'n':
        return job->n;
    case 'k':
        return job->k;
    case 's':
        return job->m + 1;
    case 'z':
        return job->m * job->k;
    default:
        return 1;
    }
}

static void size_inputs(bench_work *work, atn_view *views) {
    for (int32_t o = 0; o < work->graph->n_objects; ++o) {
        views[o] =
            (atn_view){.type = work->graph->objects[o].type, .rank = work->graph->objects[o].rank, .size = {-1, 1}};
        for (size_t k = 0; k < sizeof INPUTS / sizeof *INPUTS; ++k) {
            if (strcmp(INPUTS[k].kernel, work->job->kernel) != 0) continue;
            for (int n = 0; n < 6 && INPUTS[k].inputs[n].object; ++n) {
                if (strcmp(INPUTS[k].inputs[n].object, work->graph->objects[o].name) != 0) continue;
                views[o].size[0] = length_of(INPUTS[k].inputs[n].columns, work->job);
                views[o].size[1] = length_of(INPUTS[k].inputs[n].rows, work->job);
                views[o].pitch = views[o].size[0];
            }
        }
    }
}

static uint32_t scramble(uint64_t k) {
    k = (k ^ (k >> 31)) * 0x9e3779b97f4a7c15u;
    k = (k ^ (k >> 29)) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(k >> 32);
}

static int64_t elements_of(const atn_view *view) {
    return view->rank > 1 ? view->pitch * view->size[1] : view->size[0];
}

/* Numbers in [-1, 1); of a sparse matrix, rows of equal length and columns anywhere. */
static void fill(const bench_work *work, int32_t object, void *data) {
    const atn_view *view = &work->slots[object].view;
    const char *name = work->graph->objects[object].name;
    const bench_job *job = work->job;
    int64_t count = elements_of(view);
    bool starts = strcmp(name, "start") == 0;
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < count; ++k) {
        uint32_t bits = scramble((uint64_t)k + ((uint64_t)object << 40));
        double number = (double)bits * 0x1p-31 - 1;
        if (view->type == ATN_SP) ((float *)data)[k] = (float)number;
        if (view->type == ATN_DP) ((double *)data)[k] = number;
        if (view->type == ATN_INT32) ((int32_t *)data)[k] = (int32_t)(starts ? k * job->k : bits % (uint32_t)job->n);
    }
}

static atn_status upload(bench_work *work, int32_t object) {
    atn_slot *slot = &work->slots[object];
    size_t bytes = (size_t)elements_of(&slot->view) * atn_type_bytes(slot->view.type);
    const atn_ctx *ctx = atn_device_ctx(work->device);
    atn_status status = atn_buffer_create(work->device, bytes, &slot->buffer);
    if (status != ATN_OK) return status;
    void *here = atn_buffer_host(slot->buffer), *data = here ? here : atn_alloc(ctx, bytes);
    if (!data) return bytes ? ATN_ERR_MEMORY : ATN_OK;
    fill(work, object, data);
    if (!here) status = atn_buffer_put(NULL, slot->buffer, 0, data, bytes);
    if (!here) atn_free(ctx, data);
    work->bytes += (double)bytes;
    return status;
}

atn_status bench_parse(const atn_ctx *ctx, const bench_job *job, atn_sequence **out) {
    char path[1024], *xml;
    size_t length;
    *out = NULL;
    snprintf(path, sizeof path, "%s/kernels/%s.xml", ATN_SOURCE_DIR, job->kernel);
    atn_status status = atn_file_read(ctx, path, 1 << 20, &xml, &length);
    if (status != ATN_OK) return status;
    atn_define define = {"USED_FLOAT", job->type};
    atn_parse_options options = {.defines = &define, .n_defines = 1};
    status = atn_sequence_parse(ctx, job->kernel, xml, length, &options, NULL, out);
    atn_free(ctx, xml);
    if (status == ATN_OK && (*out)->step[0]->n_objects > BENCH_OBJECTS)
        status = atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: more than %d objects", job->kernel, BENCH_OBJECTS);
    return status;
}

static double amount_of(const bench_work *work) {
    const bench_job *job = work->job;
    if (job->against == BENCH_BLAS) return 2.0 * (double)job->m * (double)job->n * (double)job->k;
    if (job->against == BENCH_PAIRS) return (double)job->m * (double)job->n;
    return work->bytes;
}

static atn_status find_extent(bench_work *work, const atn_frame *frame) {
    const atn_ctx *ctx = atn_device_ctx(work->device);
    const atn_graph *g = work->graph;
    work->extent = (atn_extent){.points = {1, 1}};
    for (int32_t d = 0; d < g->blocks[0].rank && g->blocks[0].n_accs == 0; ++d) {
        int64_t begin, end;
        const atn_dim *dim = &g->dims[g->blocks[0].dim[d]];
        atn_status status = atn_eval_index(ctx, g, frame, dim->begin, &begin);
        if (status == ATN_OK) status = atn_eval_index(ctx, g, frame, dim->end, &end);
        if (status != ATN_OK) return status;
        work->extent.points[d] = end - begin;
    }
    return ATN_OK;
}

atn_status bench_work_open(atn_device *device, const bench_job *job, bench_work *work) {
    *work = (bench_work){.device = device, .job = job, .params = {{1.5, 0}, {0.5, 0}, {1, 0}, {1, 0}}};
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_view views[BENCH_OBJECTS];
    atn_status status = bench_parse(ctx, job, &work->sequence);
    if (status != ATN_OK) return status;
    work->graph = work->sequence->step[0];
    size_inputs(work, views);
    atn_frame frame = {.views = views, .params = (const double(*)[2])work->params};
    for (int32_t o = 0; o < work->graph->n_objects && status == ATN_OK; ++o) {
        if (views[o].size[0] < 0) status = atn_eval_reach(ctx, work->graph, &frame, o, views[o].size);
        views[o].pitch = views[o].size[0];
    }
    if (status == ATN_OK) status = find_extent(work, &frame);
    for (int32_t o = 0; o < work->graph->n_objects && status == ATN_OK; ++o) {
        work->slots[o].view = views[o];
        if (!work->graph->objects[o].table) status = upload(work, o);
    }
    work->amount = amount_of(work);
    return status;
}

void bench_work_close(bench_work *work) {
    for (int32_t o = 0; o < BENCH_OBJECTS; ++o) {
        atn_buffer_free(work->slots[o].buffer);
        atn_free(atn_device_ctx(work->device), work->expected[o]);
    }
    if (work->sequence) atn_sequence_free(work->sequence);
}

atn_slot *bench_slot(bench_work *work, const char *object) {
    for (int32_t o = 0; o < work->graph->n_objects; ++o)
        if (strcmp(work->graph->objects[o].name, object) == 0) return &work->slots[o];
    return NULL;
}

/* ---- are the results those of the others? ---- */

static double number_at(const void *data, atn_type type, int64_t k) {
    if (type == ATN_SP) return (double)((const float *)data)[k];
    if (type == ATN_DP) return ((const double *)data)[k];
    return (double)((const int32_t *)data)[k];
}

/* |got - expected| / |expected| of one output; NaN, as poison is, counts as infinitely far. */
static atn_status compare(bench_work *work, int32_t object, double *differs) {
    const atn_ctx *ctx = atn_device_ctx(work->device);
    atn_slot *slot = &work->slots[object];
    int64_t count = elements_of(&slot->view);
    atn_type type = slot->view.type;
    size_t bytes = (size_t)count * atn_type_bytes(type);
    void *here = atn_buffer_host(slot->buffer), *data = here ? here : atn_alloc(ctx, bytes);
    if (!data) return ATN_ERR_MEMORY;
    atn_status status = here ? ATN_OK : atn_buffer_get(NULL, slot->buffer, 0, data, bytes);
    bool first = !work->expected[object];
    if (first && status == ATN_OK) work->expected[object] = atn_alloc(ctx, (size_t)count * sizeof(double));
    double *expected = work->expected[object];
    if (!expected && status == ATN_OK) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        double far = 0, size = 0;
#pragma omp parallel for schedule(static) reduction(+ : far, size)
        for (int64_t k = 0; k < count; ++k) {
            double got = number_at(data, type, k);
            if (first) expected[k] = got;
            far += (got - expected[k]) * (got - expected[k]);
            size += expected[k] * expected[k];
        }
        double one = far != far ? INFINITY : size > 0 ? sqrt(far / size) : sqrt(far);
        if (one > *differs) *differs = one;
    }
    if (!here) atn_free(ctx, data);
    return status;
}

atn_status bench_check(bench_work *work, atn_built *kernel, double *differs) {
    *differs = 0;
    atn_status status = ATN_OK;
    for (int32_t o = 0; o < work->graph->n_objects && status == ATN_OK; ++o)
        if (work->graph->objects[o].written)
            status = atn_buffer_fill(NULL, work->slots[o].buffer, 0, 0xff, atn_buffer_bytes(work->slots[o].buffer));
    if (status == ATN_OK) status = atn_built_run(kernel, NULL, work->slots, (const double(*)[2])work->params);
    if (status == ATN_OK) status = atn_queue_finish(atn_device_queue(work->device));
    for (int32_t o = 0; o < work->graph->n_objects && status == ATN_OK; ++o)
        if (work->graph->objects[o].written) status = compare(work, o, differs);
    return status;
}
