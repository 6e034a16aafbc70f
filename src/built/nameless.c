/* A graph by numbers instead of names: steps of a plan that are equal but for what their arrays are called become the
 * same source, which is built once. */
#include "built/nameless.h"

#include "base/memory.h"

#include <string.h>

static const char *numbered(atn_graph *g, char letter, int32_t number) {
    return atn_arena_printf(&g->arena, "%c%d", letter, number);
}

static void *copy(atn_graph *g, const void *from, int32_t count, size_t bytes) {
    void *to = atn_arena_alloc(&g->arena, (size_t)count * bytes + 1);
    return to ? memcpy(to, from, (size_t)count * bytes) : NULL;
}

atn_status atn_graph_without_names(const atn_ctx *ctx, const atn_graph *graph, atn_graph **out) {
    atn_graph *g = *out = atn_zalloc(ctx, sizeof *g);
    if (!g) return ATN_ERR_MEMORY;
    *g = *graph;
    g->arena = (atn_arena){.ctx = ctx};
    g->name = "step";
    g->values = copy(g, graph->values, g->n_values, sizeof *g->values);
    g->objects = copy(g, graph->objects, g->n_objects, sizeof *g->objects);
    g->parameters = copy(g, graph->parameters, g->n_parameters, sizeof *g->parameters);
    g->blocks = copy(g, graph->blocks, g->n_blocks, sizeof *g->blocks);
    bool whole = g->values && g->objects && g->parameters && g->blocks;
    for (int32_t k = 0; whole && k < g->n_values; ++k) g->values[k].label = NULL;
    for (int32_t k = 0; whole && k < g->n_objects; ++k) whole = (g->objects[k].name = numbered(g, 'a', k)) != NULL;
    for (int32_t k = 0; whole && k < g->n_parameters; ++k)
        whole = (g->parameters[k].name = numbered(g, 's', k)) != NULL;
    for (int32_t k = 0; whole && k < g->n_blocks; ++k) whole = (g->blocks[k].name = numbered(g, 'b', k)) != NULL;
    if (whole) return ATN_OK;
    atn_arena_free(&g->arena);
    atn_free(ctx, g);
    *out = NULL;
    return ATN_ERR_MEMORY;
}
