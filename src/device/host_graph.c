/* Graphs of the host: launches kept with their arguments and run again one after the other. It saves little here; it is
 * there so that whoever uses graphs can be tested without a GPU. */
#include "base/memory.h"
#include "device/host.h"

#include <string.h>

typedef struct host_kept {
    struct host_kept *next;
    atn_function *function;
    atn_launch launch;
    struct {
        char bytes[16];
    } * value; /* per argument; behind this */
    atn_arg args[];
} host_kept;

static host_queue *queue_of(atn_queue *queue) { return (host_queue *)queue; }

atn_status atn_host_graph_begin(atn_queue *base) {
    host_queue *queue = queue_of(base);
    const atn_ctx *ctx = base->device->ctx;
    if (queue->keeping) return atn_fail(ctx, ATN_ERR_DEVICE, "host: a graph was begun on this queue already");
    host_graph *graph = atn_zalloc(ctx, sizeof *graph);
    if (!graph) return ATN_ERR_MEMORY;
    graph->base.device = base->device;
    graph->last = &graph->first;
    queue->keeping = graph;
    return ATN_OK;
}

static atn_status note(host_graph *graph, atn_status status) {
    if (graph->status == ATN_OK) graph->status = status;
    return status;
}

atn_status atn_host_spoil(host_queue *queue, const char *what) {
    return note(queue->keeping,
                atn_fail(queue->base.device->ctx, ATN_ERR_DEVICE, "host: %s cannot be kept in a graph", what));
}

atn_status atn_host_keep(host_queue *queue, atn_function *function, const atn_launch *launch) {
    size_t n = launch->n_args, each = sizeof(atn_arg) + sizeof *((host_kept *)0)->value;
    host_kept *kept = atn_zalloc(queue->base.device->ctx, sizeof *kept + n * each); /* n <= ATN_MAX_ARGS */
    if (!kept) return note(queue->keeping, ATN_ERR_MEMORY);
    kept->function = function;
    kept->launch = *launch;
    kept->launch.args = kept->args;
    kept->value = (void *)(kept->args + n);
    for (size_t k = 0; k < n; ++k) {
        kept->args[k] = launch->args[k];
        if (launch->args[k].buffer) continue;
        memcpy(kept->value[k].bytes, launch->args[k].value, launch->args[k].bytes);
        kept->args[k].value = kept->value[k].bytes;
    }
    *queue->keeping->last = kept;
    queue->keeping->last = &kept->next;
    return ATN_OK;
}

atn_status atn_host_graph_end(atn_queue *base, atn_tape **out) {
    host_queue *queue = queue_of(base);
    host_graph *graph = queue->keeping;
    *out = NULL;
    if (!graph) return atn_fail(base->device->ctx, ATN_ERR_DEVICE, "host: no graph was begun on this queue");
    queue->keeping = NULL;
    if (graph->status == ATN_OK) {
        *out = &graph->base;
        return ATN_OK;
    }
    atn_status status = graph->status;
    atn_host_graph_free(&graph->base);
    return status;
}

atn_status atn_host_graph_launch(atn_queue *queue, atn_tape *base) {
    atn_status status = ATN_OK;
    for (host_kept *kept = ((host_graph *)base)->first; kept && status == ATN_OK; kept = kept->next)
        status = atn_host_launch(queue, kept->function, &kept->launch);
    return status;
}

void atn_host_graph_free(atn_tape *base) {
    const atn_ctx *ctx = base->device->ctx;
    for (host_kept *kept = ((host_graph *)base)->first; kept;) {
        host_kept *next = kept->next;
        atn_free(ctx, kept);
        kept = next;
    }
    atn_free(ctx, base);
}
