/* A cycle, or a full multigrid start, as one launch: its kernels run once as they are, which plans them and brings
 * their arrays to the device; the second time they are kept as a graph; from then on the graph is launched. Steps of
 * the smoother are the same in every cycle, so nothing that is kept changes. */
#include "apps/unwrap/unwrap.h"

#include "num/array.h"

static atn_status run(atn_unwrap *u, bool weights, unwrap_start start, int *where) {
    if (start == UNWRAP_FULL) return unwrap_full(u, where);
    *where = start == UNWRAP_FROM_B;
    return unwrap_cycle(u, weights, 0, start == UNWRAP_FROM_ZERO, where);
}

/* What the host may have written since: the inverse of the coarsest grid. And what the launches write is known to be
 * on the device only where somebody says so. */
static atn_status launch(atn_unwrap *u, bool weights, unwrap_graph *g, int *where) {
    atn_status status = atn_array_ready_device(u->direct[weights].dense, false);
    if (status == ATN_OK) status = atn_tape_launch(atn_device_queue(u->device), g->graph);
    for (int32_t n = 0; n < u->levels && status == ATN_OK; ++n) {
        if (n) atn_array_written_on_device(u->level[n].f.vector);
        for (int k = 0; k < 2; ++k) atn_array_written_on_device(u->level[n].at[k].vector);
    }
    *where = g->where;
    return status;
}

/* Nothing is run. Leaves no graph where there are none on this device, or where something cannot be kept. */
static atn_status keep(atn_unwrap *u, bool weights, unwrap_start start, unwrap_graph *g) {
    atn_queue *queue = atn_device_queue(u->device);
    atn_status status = atn_tape_begin(queue);
    if (status == ATN_OK) {
        status = run(u, weights, start, &g->where);
        atn_status ended = atn_tape_end(queue, &g->graph);
        if (status == ATN_OK) status = ended;
    }
    if (status == ATN_OK) return ATN_OK;
    atn_tape_free(g->graph);
    g->graph = NULL;
    u->options.no_graph = true;
    return status == ATN_ERR_MEMORY || status == ATN_ERR_LOST ? status : ATN_OK;
}

atn_status unwrap_correct(atn_unwrap *u, bool weights, unwrap_start start, int *where) {
    unwrap_graph *g = &u->graph[weights][start];
    bool whole = u->direct[weights].dense; /* else the host has a part in it */
    atn_status status = ATN_OK;
    if (whole && g->ran && !g->graph && !u->options.no_graph) status = keep(u, weights, start, g);
    if (status != ATN_OK) return status;
    if (g->graph) return launch(u, weights, g, where);
    g->ran = true;
    return run(u, weights, start, where);
}

void unwrap_graphs_free(atn_unwrap *u) {
    for (int k = 0; k < 8; ++k) {
        atn_tape_free(u->graph[k / 4][k % 4].graph);
        u->graph[k / 4][k % 4] = (unwrap_graph){0};
    }
}
