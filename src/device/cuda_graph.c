/* Graphs of the CUDA backend: a stream's launches captured and instantiated once, then launched as one. A capture is
 * of its own thread, so that others go on as they like; whatever cannot be kept makes the end of it fail. */
#include "base/memory.h"
#include "device/cuda.h"

static atn_cuda_device *device_of(const atn_queue *queue) { return (atn_cuda_device *)queue->device; }
static atn_cu_stream *stream_of(const atn_queue *queue) { return ((const atn_cuda_queue *)queue)->stream; }

static bool is_there(const atn_cuda_api *api) {
    return api->capture_begin && api->capture_end && api->graph_instantiate && api->graph_launch && api->graph_free &&
           api->exec_free;
}

atn_status atn_cuda_graph_begin(atn_queue *queue) {
    atn_cuda_device *device = device_of(queue);
    if (!is_there(&device->api))
        return atn_fail(device->base.ctx, ATN_ERR_UNSUPPORTED,
                        "%s (cuda): the driver has no graphs; one for CUDA 11.4 or newer has", device->base.info.name);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    int result = device->api.capture_begin(stream_of(queue), ATN_CU_CAPTURE_THREAD_LOCAL);
    ((atn_cuda_queue *)queue)->captures = result == ATN_CU_SUCCESS;
    return atn_cuda_check(device, result, "beginning a graph");
}

atn_status atn_cuda_graph_end(atn_queue *queue, atn_tape **out) {
    *out = NULL;
    atn_cuda_device *device = device_of(queue);
    const atn_cuda_api *api = &device->api;
    atn_cu_graph *captured = NULL;
    ((atn_cuda_queue *)queue)->captures = false;
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    status = atn_cuda_check(device, api->capture_end(stream_of(queue), &captured), "ending a graph");
    atn_cuda_graph *graph = status == ATN_OK ? atn_zalloc(device->base.ctx, sizeof *graph) : NULL;
    if (status == ATN_OK && !graph) status = ATN_ERR_MEMORY;
    if (status == ATN_OK)
        status = atn_cuda_check(device, api->graph_instantiate(&graph->exec, captured, 0), "instantiating a graph");
    if (captured) api->graph_free(captured);
    if (status != ATN_OK) {
        atn_free(device->base.ctx, graph);
        return status;
    }
    graph->base = (atn_tape){.device = queue->device};
    *out = &graph->base;
    return ATN_OK;
}

atn_status atn_cuda_graph_launch(atn_queue *queue, atn_tape *base) {
    atn_cuda_device *device = device_of(queue);
    atn_status status = atn_cuda_enter(device);
    if (status != ATN_OK) return status;
    int result = device->api.graph_launch(((atn_cuda_graph *)base)->exec, stream_of(queue));
    return atn_cuda_check(device, result, "launching a graph");
}

void atn_cuda_graph_free(atn_tape *base) {
    atn_cuda_device *device = (atn_cuda_device *)base->device;
    if (device->api.context_set(device->context) == ATN_CU_SUCCESS)
        device->api.exec_free(((atn_cuda_graph *)base)->exec);
    atn_free(device->base.ctx, base);
}
