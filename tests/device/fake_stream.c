/* The streams, events and graphs of the fake CUDA driver. Work is a list in each stream, done in its order when it is
 * waited for (or at once, see fake_cuda.h); what a stream waits for is done first, nothing else. Captured work is a
 * list, too, in the order of the calls. */
#include "fake_driver.h"

#include <stdlib.h>
#include <string.h>

/* A recorded moment: it passes when the stream comes to it. */
typedef struct mark {
    struct mark *next; /* of all, until the next reset */
    atn_cu_stream *stream;
    bool passed;
    int tick;
} mark;

/* What a loop of a graph looks at; a handle is its address. */
typedef struct condition {
    struct condition *next; /* of all, until the next reset */
    int value;
} condition;

typedef enum kind { COPY, FILL, LAUNCH, LOOP, RECORD, WAIT } kind;
typedef struct work {
    struct work *next;
    kind kind;
    char *to;
    const char *from;
    size_t bytes;
    unsigned char byte;
    fake_launch launch;
    mark *mark;
    condition *condition; /* of a loop, with */
    atn_cu_graph *body;   /* owned */
} work;

struct atn_cu_graph {
    work *first, **last;
};
struct atn_cu_exec {
    work *first;
};
struct atn_cu_stream {
    int alive;
    atn_cu_stream *next; /* of all */
    work *first, **last;
    atn_cu_graph *capturing;
    bool origin;  /* the capture was begun here */
    bool into;    /* it goes into a graph that belongs to somebody */
    bool spoiled; /* the capture */
};
struct atn_cu_event {
    int alive;
    mark *mark;
    atn_cu_graph *capturing; /* it was recorded in a stream that captures this */
};

static atn_cu_stream *streams;
static mark *marks;
static condition *conditions;
static int tick; /* the device's clock: one step per piece of work */

void fake_streams_reset(void) {
    while (marks) {
        mark *next = marks->next;
        free(marks);
        marks = next;
    }
    while (conditions) {
        condition *next = conditions->next;
        free(conditions);
        conditions = next;
    }
}

/* ---- doing work ---- */

/* churn(int *to, const int *from, int add, int n): to = 3 to + from + add */
static void churn(const uint64_t *args) {
    int32_t *to = (int32_t *)(uintptr_t)args[0], add = (int32_t)args[2], n = (int32_t)args[3];
    const int32_t *from = (const int32_t *)(uintptr_t)args[1];
    for (int32_t k = 0; k < n; ++k) to[k] = (int32_t)(3u * (uint32_t)to[k] + (uint32_t)from[k] + (uint32_t)add);
}

/* attune_decide(condition, int *state, at, most, first) */
static void decide(const uint64_t *args) {
    int32_t *state = (int32_t *)(uintptr_t)args[1] + args[2], most = (int32_t)args[3];
    state[1] += !args[4];
    ((condition *)(uintptr_t)args[0])->value = state[0] == 1 && state[1] < most;
}

static void run_to(atn_cu_stream *stream, const mark *until);
static void free_works(work *w);

static void do_work(const work *w) {
    if (fake_state_.work_result && w->kind <= LAUNCH && fake_state_.work_skip-- <= 0) {
        fake_state_.broken = fake_state_.work_result;
        fake_state_.work_result = 0;
    }
    if (fake_state_.broken) return; /* marks pass, nothing else happens */
    switch (w->kind) {
    case COPY:
        memmove(w->to, w->from, w->bytes);
        break;
    case FILL:
        memset(w->to, w->byte, w->bytes);
        break;
    case LAUNCH:
        if (strcmp(w->launch.function, "churn") == 0) churn(w->launch.args);
        if (strcmp(w->launch.function, "attune_decide") == 0) decide(w->launch.args);
        fake_state_.last = w->launch;
        ++fake_state_.launches;
        break;
    case LOOP:
        while (w->condition->value && !fake_state_.broken)
            for (const work *inner = w->body->first; inner; inner = inner->next) do_work(inner);
        return;
    case RECORD:
        w->mark->tick = tick;
        return;
    case WAIT:
        return;
    }
    ++tick;
}

static void run_one(atn_cu_stream *stream) {
    work *w = stream->first;
    if (w->kind == WAIT && !w->mark->passed) run_to(w->mark->stream, w->mark);
    stream->first = w->next;
    if (!stream->first) stream->last = &stream->first;
    do_work(w);
    if (w->kind == RECORD) w->mark->passed = true;
    w->next = NULL;
    free_works(w);
}

/* NULL: all of it. */
static void run_to(atn_cu_stream *stream, const mark *until) {
    while (stream->first && !(until && until->passed)) run_one(stream);
}

void fake_run_all(void) {
    for (atn_cu_stream *s = streams; s; s = s->next) run_to(s, NULL);
}

bool fake_in_use(const void *memory, size_t bytes) {
    const char *begin = memory, *end = begin + bytes;
    for (const atn_cu_stream *s = streams; s; s = s->next)
        for (const work *w = s->first; w; w = w->next)
            if (w->bytes &&
                ((w->to < end && w->to + w->bytes > begin) || (w->from < end && w->from + w->bytes > begin)))
                return true;
    return false;
}

static uint64_t next_random(void) {
    uint64_t x = fake_state_.seed;
    x ^= x >> 12, x ^= x << 25, x ^= x >> 27;
    fake_state_.seed = x;
    return (x * 0x2545f4914f6cdd1dULL) >> 32;
}

/* The device gets on with its work, or not. */
static void get_on(void) {
    if (!fake_state_.lazy) {
        fake_run_all();
        return;
    }
    if (fake_state_.seed == 0) return;
    for (uint64_t steps = next_random() % 4; steps > 0; --steps) {
        uint64_t skip = next_random() % 4;
        for (atn_cu_stream *s = streams; s; s = s->next)
            if (s->first && skip-- == 0) {
                run_one(s);
                break;
            }
    }
}

static atn_cu_graph *make_graph(void) {
    atn_cu_graph *graph = calloc(1, sizeof *graph);
    graph->last = &graph->first;
    return graph;
}

static void append(work ***last, const work *w) {
    work *copy = malloc(sizeof *copy);
    *copy = *w;
    copy->next = NULL;
    if (w->body) { /* each has its own */
        copy->body = make_graph();
        for (const work *inner = w->body->first; inner; inner = inner->next) append(&copy->body->last, inner);
    }
    **last = copy;
    *last = &copy->next;
}

static void free_works(work *w) {
    while (w) {
        work *next = w->next;
        if (w->body) free_works(w->body->first);
        free(w->body);
        free(w);
        w = next;
    }
}

static int enqueue(atn_cu_stream *stream, const work *w) {
    if (stream->capturing) {
        append(&stream->capturing->last, w);
        return 0;
    }
    append(&stream->last, w);
    get_on();
    return 0;
}

/* ---- copies and fills ---- */

static char *bytes_at(atn_cu_address address) { return (char *)(uintptr_t)address; }

/* Pinned memory has the same address on the device. */
static bool in_reach(atn_cu_address at, size_t bytes) {
    return fake_inside(at, bytes) || fake_pinned(bytes_at(at), bytes);
}

/* What a stream that captures takes badly. */
static int spoil(atn_cu_stream *stream) {
    for (atn_cu_stream *s = streams; s; s = s->next)
        if (s->capturing == stream->capturing) s->spoiled = true;
    return 900;
}

/* Memory that is not pinned makes a copy wait. */
static int copy_host(atn_cu_stream *stream, const work *w, const void *host) {
    if (!stream || !stream->alive) return fake_misuse(1);
    bool is_pinned = fake_pinned(host, w->bytes);
    if (!is_pinned && stream->capturing) return fake_misuse(spoil(stream));
    int result = enqueue(stream, w);
    if (!is_pinned) run_to(stream, NULL);
    return result;
}
int cuMemcpyHtoDAsync_v2(atn_cu_address to, const void *from, size_t bytes, atn_cu_stream *stream) {
    ENTER();
    if (!in_reach(to, bytes)) return fake_misuse(1);
    return copy_host(stream, &(work){.kind = COPY, .to = bytes_at(to), .from = from, .bytes = bytes}, from);
}
int cuMemcpyDtoHAsync_v2(void *to, atn_cu_address from, size_t bytes, atn_cu_stream *stream) {
    ENTER();
    if (!in_reach(from, bytes)) return fake_misuse(1);
    return copy_host(stream, &(work){.kind = COPY, .to = to, .from = bytes_at(from), .bytes = bytes}, to);
}
int cuMemcpyDtoDAsync_v2(atn_cu_address to, atn_cu_address from, size_t bytes, atn_cu_stream *stream) {
    ENTER();
    if (!stream || !stream->alive || !in_reach(from, bytes) || !in_reach(to, bytes)) return fake_misuse(1);
    return enqueue(stream, &(work){.kind = COPY, .to = bytes_at(to), .from = bytes_at(from), .bytes = bytes});
}
int cuMemsetD8Async(atn_cu_address to, unsigned char byte, size_t bytes, atn_cu_stream *stream) {
    ENTER();
    if (!stream || !stream->alive || !in_reach(to, bytes)) return fake_misuse(1);
    return enqueue(stream, &(work){.kind = FILL, .to = bytes_at(to), .byte = byte, .bytes = bytes});
}

/* ---- streams and events ---- */

int cuStreamCreate(atn_cu_stream **stream, unsigned flags) {
    ENTER();
    if (flags != 1) return fake_misuse(1); /* one that waits for the default stream would not overlap */
    *stream = calloc(1, sizeof **stream);
    **stream = (atn_cu_stream){.alive = 1, .next = streams, .last = &(*stream)->first};
    streams = *stream;
    return ++fake_state_.streams, 0;
}
int cuStreamDestroy_v2(atn_cu_stream *stream) {
    if (!stream || !stream->alive) return fake_misuse(BAD_HANDLE);
    run_to(stream, NULL);
    for (atn_cu_stream **at = &streams; *at; at = &(*at)->next)
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    free(stream);
    --fake_state_.streams;
    return fake_enter(__func__);
}
int cuStreamSynchronize(atn_cu_stream *stream) {
    ENTER();
    if (!stream || !stream->alive) return fake_misuse(BAD_HANDLE);
    if (stream->capturing) return spoil(stream);
    ++fake_state_.syncs;
    run_to(stream, NULL);
    return fake_state_.broken;
}
int cuStreamWaitEvent(atn_cu_stream *stream, atn_cu_event *event, unsigned flags) {
    ENTER();
    if (!stream || !stream->alive || !event || !event->alive || flags) return fake_misuse(BAD_HANDLE);
    ++fake_state_.waits;
    if (event->capturing) {
        if (stream->capturing && stream->capturing != event->capturing) return fake_misuse(906);
        stream->capturing = event->capturing;
        return 0;
    }
    if (stream->capturing) return fake_misuse(905);
    return event->mark ? enqueue(stream, &(work){.kind = WAIT, .mark = event->mark}) : 0;
}
int cuEventCreate(atn_cu_event **event, unsigned flags) {
    ENTER();
    if (flags != 0) return fake_misuse(1); /* the default has timing */
    *event = calloc(1, sizeof **event);
    (*event)->alive = 1;
    return ++fake_state_.events, 0;
}
int cuEventDestroy_v2(atn_cu_event *event) {
    if (!event || !event->alive) return fake_misuse(BAD_HANDLE);
    free(event);
    --fake_state_.events;
    return fake_enter(__func__);
}
int cuEventRecord(atn_cu_event *event, atn_cu_stream *stream) {
    ENTER();
    if (!stream || !stream->alive || !event || !event->alive) return fake_misuse(BAD_HANDLE);
    event->capturing = stream->capturing;
    if (event->capturing) return 0;
    event->mark = calloc(1, sizeof *event->mark);
    *event->mark = (mark){.next = marks, .stream = stream};
    marks = event->mark;
    return enqueue(stream, &(work){.kind = RECORD, .mark = event->mark});
}
int cuEventSynchronize(atn_cu_event *event) {
    ENTER();
    if (!event || !event->alive || !event->mark || event->capturing) return fake_misuse(BAD_HANDLE);
    ++fake_state_.syncs;
    if (!event->mark->passed) run_to(event->mark->stream, event->mark);
    return fake_state_.broken;
}
int cuEventElapsedTime(float *milliseconds, atn_cu_event *from, atn_cu_event *to) {
    ENTER();
    if (!from->mark || !to->mark || !from->mark->passed || !to->mark->passed) return fake_misuse(BAD_HANDLE);
    *milliseconds = 0.25f * (float)(to->mark->tick - from->mark->tick);
    return 0;
}

/* ---- launches ---- */

int cuLaunchKernel(atn_cu_function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned dynamic_bytes, atn_cu_stream *stream, void **params,
                   void **extra) {
    ENTER();
    unsigned plain = (unsigned)(SHARED_PLAIN - fake_state_.function_shared);
    unsigned allowed = function->dynamic > 0 ? (unsigned)function->dynamic : plain;
    if (!stream || !stream->alive || extra || dynamic_bytes > allowed) return fake_misuse(1);
    if (block_x * block_y * block_z > (unsigned)fake_state_.function_items || block_z > 64) return fake_misuse(1);
    if (!grid_x || !grid_y || !grid_z || !block_x || !block_y || !block_z || grid_y > 65535) return fake_misuse(1);
    work w = {.kind = LAUNCH,
              .launch = {.groups = {grid_x, grid_y, grid_z},
                         .items = {block_x, block_y, block_z},
                         .local_bytes = dynamic_bytes,
                         .n_args = function->n_params}};
    memcpy(w.launch.function, function->name, sizeof w.launch.function);
    for (int k = 0; k < function->n_params; ++k) memcpy(&w.launch.args[k], params[k], function->param_bytes[k]);
    return enqueue(stream, &w);
}

int cuLaunchKernelEx(const atn_cu_launch_config *config, atn_cu_function *function, void **params, void **extra) {
    const atn_cu_launch_attribute *one = config->attributes;
    if (config->count != 1 || one->id != ATN_CU_ATTRIBUTE_OVERLAP || one->overlap != 1) return fake_misuse(1);
    if (config->stream && config->stream->capturing) return fake_misuse(1);
    ++fake_state_.overlapping;
    return cuLaunchKernel(function, config->grid[0], config->grid[1], config->grid[2], config->block[0],
                          config->block[1], config->block[2], config->dynamic_bytes, config->stream, params, extra);
}

/* ---- graphs ---- */

int cuStreamBeginCapture_v2(atn_cu_stream *stream, int mode) {
    ENTER();
    if (!stream || !stream->alive || stream->capturing || mode != 1) return fake_misuse(1);
    stream->capturing = make_graph();
    stream->origin = true;
    stream->spoiled = false;
    return ++fake_state_.graphs, 0;
}
int cuStreamEndCapture(atn_cu_stream *stream, atn_cu_graph **graph) {
    if (!stream || !stream->alive || !stream->capturing || !stream->origin) return fake_misuse(1);
    int result = fake_enter(__func__);
    atn_cu_graph *captured = stream->capturing;
    bool into = stream->into;
    if (!result && stream->spoiled) result = 901;
    for (atn_cu_stream *s = streams; s; s = s->next)
        if (s->capturing == captured) s->capturing = NULL, s->origin = s->into = s->spoiled = false;
    *graph = result ? NULL : captured;
    if (result && !into) cuGraphDestroy(captured);
    return result;
}
int cuGraphDestroy(atn_cu_graph *graph) {
    free_works(graph->first);
    free(graph);
    return --fake_state_.graphs, 0;
}
int cuGraphInstantiateWithFlags(atn_cu_exec **exec, atn_cu_graph *graph, unsigned long long flags) {
    ENTER();
    if (!graph || flags) return fake_misuse(1);
    *exec = calloc(1, sizeof **exec);
    work **last = &(*exec)->first;
    for (const work *w = graph->first; w; w = w->next) append(&last, w);
    return ++fake_state_.graphs, 0;
}
int cuGraphLaunch(atn_cu_exec *exec, atn_cu_stream *stream) {
    ENTER();
    if (!exec || !stream || !stream->alive || stream->capturing) return fake_misuse(1);
    for (const work *w = exec->first; w; w = w->next) append(&stream->last, w);
    get_on();
    return 0;
}
int cuGraphExecDestroy(atn_cu_exec *exec) {
    free_works(exec->first);
    free(exec);
    --fake_state_.graphs;
    return fake_enter(__func__);
}

int cuStreamIsCapturing(atn_cu_stream *stream, int *status) {
    ENTER();
    if (!stream || !stream->alive) return fake_misuse(1);
    *status = stream->capturing != NULL;
    return 0;
}

/* ---- loops ---- */

int cuStreamGetCaptureInfo_v3(atn_cu_stream *stream, int *status, uint64_t *id, atn_cu_graph **graph,
                              atn_cu_node *const **nodes, const void **edges, size_t *count) {
    ENTER();
    if (!stream || !stream->capturing) return fake_misuse(1);
    *status = 1;
    *id = 1;
    *graph = stream->capturing;
    *nodes = NULL; /* the order of the calls is all that there is here */
    *edges = NULL;
    *count = 0;
    return 0;
}
int cuGraphConditionalHandleCreate(atn_cu_condition *handle, atn_cu_graph *graph, atn_cu_context *context,
                                   unsigned value, unsigned flags) {
    ENTER();
    if (!graph || !context || value != 0 || flags != 1) return fake_misuse(1);
    condition *c = calloc(1, sizeof *c);
    c->next = conditions;
    conditions = c;
    *handle = (uintptr_t)c;
    return 0;
}
int cuGraphAddNode_v2(atn_cu_node **node, atn_cu_graph *graph, atn_cu_node *const *nodes, const void *edges,
                      size_t count, atn_cu_node_params *params) {
    ENTER();
    if (!graph || nodes || edges || count || params->type != 13 || params->loop.type != 1 || params->loop.count != 1 ||
        params->loop.bodies || !params->loop.context)
        return fake_misuse(1);
    atn_cu_graph empty = {.last = &empty.first};
    work **at = graph->last;
    append(&graph->last,
           &(work){.kind = LOOP, .condition = (condition *)(uintptr_t)params->loop.condition, .body = &empty});
    params->loop.bodies = &(*at)->body;
    *node = (atn_cu_node *)*at;
    return 0;
}
int cuStreamUpdateCaptureDependencies_v2(atn_cu_stream *stream, atn_cu_node **nodes, const void *edges, size_t count,
                                         unsigned flags) {
    ENTER();
    return stream && stream->capturing && nodes && *nodes && !edges && count == 1 && flags == 1 ? 0 : fake_misuse(1);
}
int cuStreamBeginCaptureToGraph(atn_cu_stream *stream, atn_cu_graph *graph, atn_cu_node *const *nodes,
                                const void *edges, size_t count, int mode) {
    ENTER();
    if (!stream || stream->capturing || !graph || nodes || edges || count || mode != 1) return fake_misuse(1);
    stream->capturing = graph;
    stream->origin = stream->into = true;
    return 0;
}
