/* Loops on tapes of the CUDA backend: a conditional node of the graph whose body is captured in a stream of its own.
 * Its condition is set by a kernel of one item, before the loop and at the end of each round. */
#include "device/cuda.h"

/* The driver knows the function; it is declared here since NVRTC has no header of it. */
static const char DECIDE[] =
    "extern \"C\" __device__ void cudaGraphSetConditional(unsigned long long condition, unsigned value);\n"
    "extern \"C\" __global__ void attune_decide(unsigned long long condition, int *state, long long at, int most, "
    "int first) {\n"
    "    int rounds = first ? state[at + 1] : state[at + 1] + 1;\n"
    "    state[at + 1] = rounds;\n"
    "    cudaGraphSetConditional(condition, state[at] == 1 && rounds < most);\n"
    "}\n";

static atn_cuda_device *device_of(const atn_queue *queue) { return (atn_cuda_device *)queue->device; }

bool atn_cuda_can_while(atn_device *base) {
    atn_cuda_device *device = (atn_cuda_device *)base;
    const atn_cuda_api *api = &device->api;
    atn_cuda_loop *loop = &device->loop;
    if (loop->tried) return loop->decide;
    loop->tried = true;
    if (!api->capture_info || !api->capture_set || !api->capture_into || !api->graph_add || !api->condition_create)
        return false;
    if (atn_cuda_enter(device) != ATN_OK) return false;
    if (api->stream_create(&loop->stream, ATN_CU_STREAM_NON_BLOCKING) != ATN_CU_SUCCESS) loop->stream = NULL;
    atn_status status = loop->stream ? ATN_OK : ATN_ERR_DEVICE;
    const atn_build build = {.name = "decide", .source = DECIDE};
    if (status == ATN_OK) status = atn_module_build(base, &build, &loop->module);
    if (status == ATN_OK) (void)atn_module_function(loop->module, "attune_decide", &loop->decide);
    return loop->decide;
}

void atn_cuda_while_free(atn_cuda_device *device) {
    atn_module_free(device->loop.module);
    if (device->loop.stream && device->api.context_set(device->context) == ATN_CU_SUCCESS)
        device->api.stream_destroy(device->loop.stream);
}

static atn_status decide(atn_queue *queue, const atn_cuda_loop *loop, int32_t first) {
    const atn_arg args[] = {{.value = &loop->condition, .bytes = sizeof loop->condition},
                            {.buffer = loop->state},
                            {.value = &loop->at, .bytes = sizeof loop->at},
                            {.value = &loop->most, .bytes = sizeof loop->most},
                            {.value = &first, .bytes = sizeof first}};
    return atn_cuda_launch(
        queue, loop->decide,
        &(atn_launch){.groups = {1, 1, 1}, .items = {1, 1, 1}, .args = args, .n_args = sizeof args / sizeof *args});
}

/* What a stream captures: the graph, and of it what comes before the next piece. */
typedef struct captured {
    int status;
    uint64_t id;
    atn_cu_graph *graph;
    atn_cu_node *const *before;
    const void *edges;
    size_t count;
} captured;

static int look(const atn_cuda_api *api, atn_cu_stream *stream, captured *c) {
    return api->capture_info(stream, &c->status, &c->id, &c->graph, &c->before, &c->edges, &c->count);
}

static int make_condition(atn_cuda_device *device, atn_cu_stream *stream) {
    captured c;
    int result = look(&device->api, stream, &c);
    if (result != ATN_CU_SUCCESS) return result;
    return device->api.condition_create(&device->loop.condition, c.graph, device->context, 0, ATN_CU_CONDITION_DEFAULT);
}

/* Behind all that the stream has captured: the node; and its body is captured from now on. */
static int add_node(atn_cuda_device *device, atn_cu_stream *stream) {
    const atn_cuda_api *api = &device->api;
    const atn_cuda_loop *loop = &device->loop;
    captured c;
    atn_cu_node *node;
    atn_cu_node_params params = {
        .type = ATN_CU_NODE_CONDITIONAL,
        .loop = {.condition = loop->condition, .type = ATN_CU_WHILE, .count = 1, .context = device->context}};
    int result = look(api, stream, &c);
    if (result == ATN_CU_SUCCESS) result = api->graph_add(&node, c.graph, c.before, c.edges, c.count, &params);
    if (result == ATN_CU_SUCCESS) result = api->capture_set(stream, &node, NULL, 1, ATN_CU_SET_DEPENDENCIES);
    if (result != ATN_CU_SUCCESS) return result;
    return api->capture_into(loop->stream, params.loop.bodies[0], NULL, NULL, 0, ATN_CU_CAPTURE_THREAD_LOCAL);
}

atn_status atn_cuda_while(atn_queue *base, atn_buffer *state, size_t offset, int32_t most) {
    atn_cuda_device *device = device_of(base);
    atn_cuda_queue *queue = (atn_cuda_queue *)base;
    atn_cuda_loop *loop = &device->loop;
    if (!loop->decide)
        return atn_fail(
            device->base.ctx, ATN_ERR_UNSUPPORTED,
            "%s (cuda): tapes have no loops, or it was not asked for them before; a driver for CUDA 12.3 or "
            "newer has them",
            device->base.info.name);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    loop->state = state;
    loop->at = (int64_t)(offset / sizeof(int32_t));
    loop->most = most;
    status = atn_cuda_check(device, make_condition(device, queue->stream), "making a loop's condition");
    if (status == ATN_OK) status = decide(base, loop, 1);
    if (status == ATN_OK) status = atn_cuda_check(device, add_node(device, queue->stream), "beginning a loop");
    if (status != ATN_OK) return status;
    loop->outside = queue->stream;
    queue->stream = loop->stream;
    return ATN_OK;
}

atn_status atn_cuda_while_end(atn_queue *base) {
    atn_cuda_device *device = device_of(base);
    atn_cuda_loop *loop = &device->loop;
    atn_cu_graph *body;
    atn_status status = decide(base, loop, 0);
    int result = device->api.context_set(device->context);
    if (result == ATN_CU_SUCCESS) result = device->api.capture_end(loop->stream, &body);
    ((atn_cuda_queue *)base)->stream = loop->outside;
    loop->outside = NULL;
    return status == ATN_OK ? atn_cuda_check(device, result, "ending a loop") : status;
}
