/* The pass that computes steps within those that read them. A seam is an array that one step makes and others read; it
 * is gone when all of these compute its elements themselves. */
#include "plan/plan.h"

#include "built/built.h"
#include "device/facts.h"

#include <string.h>

enum {
    MOST_VALUES = 4000 /* of a fused step */,
    CELL = 2,
    EDGE = 4 /* operations of a read that looks where it is */,
    SERIAL = 4 /* what a scan computes step by step, a host's vectors compute at once */,
    SOME = 16
};

/* Accesses stay inside, for these sizes. */
static atn_status check(const atn_plan *plan, const atn_graph *graph, bool *sound) {
    atn_view views[ATN_PLAN_DATA] = {0};
    double params[ATN_PLAN_DATA][2] = {{0}};
    *sound = false;
    if (graph->n_objects > ATN_BUILT_OBJECTS || graph->n_parameters > ATN_PLAN_DATA || graph->n_values > MOST_VALUES)
        return ATN_OK;
    atn_plan_frame_of(plan, graph, views, params);
    atn_status status = atn_eval_check(plan->ctx, graph, &(atn_bindings){views, (const double(*)[2])params});
    *sound = status == ATN_OK;
    return status == ATN_ERR_MEMORY ? status : ATN_OK;
}

/* Points of each axis are a multiple of the cell's, so that whole cells do them all. */
static atn_status is_even(const atn_plan *plan, const atn_graph *graph, bool *even) {
    atn_view views[ATN_PLAN_DATA] = {0};
    double params[ATN_PLAN_DATA][2] = {{0}};
    atn_plan_frame_of(plan, graph, views, params);
    const atn_bindings frame = {views, (const double(*)[2])params};
    *even = graph->blocks[0].rank > 0 && graph->n_blocks == 1 && graph->blocks[0].n_accs == 0; /* no reduction */
    for (int32_t d = 0; d < graph->blocks[0].rank && *even; ++d) {
        int64_t end;
        atn_status status = atn_eval_index(plan->ctx, graph, &frame, graph->dims[graph->blocks[0].dim[d]].end, &end);
        if (status == ATN_ERR_MEMORY) return status;
        *even = status == ATN_OK && end % CELL == 0;
    }
    return ATN_OK;
}

/* Where the first writes every other element per point (2 x 2 children of a cell), the second does cells too. */
static atn_status join(const atn_plan *plan, const atn_graph *first, const atn_graph *second, atn_graph **out) {
    atn_plan_part one, two;
    if (first->n_objects + second->n_objects > ATN_PLAN_DATA ||
        first->n_parameters + second->n_parameters > ATN_PLAN_DATA)
        return ATN_ERR_UNSUPPORTED;
    atn_plan_describe(plan, first, &one);
    atn_plan_describe(plan, second, &two);
    atn_status status = atn_graph_compose(plan->ctx, second->name, &one.part, &two.part, out);
    if (status != ATN_ERR_UNSUPPORTED || !strstr(atn_ctx_message(plan->ctx), "every other")) return status;
    bool even;
    atn_status asked = is_even(plan, second, &even);
    if (asked != ATN_OK || !even) return asked != ATN_OK ? asked : status;
    return atn_graph_compose_cells(plan->ctx, second->name, &one.part, &two.part, out);
}

/* ---- what it costs ---- */

/* How long each dimension is; what is computed on the way counts as some. */
static atn_status lengths_of(const atn_plan *plan, const atn_graph *graph, double length[ATN_MAX_DIMS]) {
    atn_view views[ATN_PLAN_DATA] = {0};
    double params[ATN_PLAN_DATA][2] = {{0}};
    atn_plan_frame_of(plan, graph, views, params);
    const atn_bindings frame = {views, (const double(*)[2])params};
    for (int32_t d = 0; d < graph->n_dims; ++d) {
        int64_t begin, end;
        atn_status status = atn_eval_index(plan->ctx, graph, &frame, graph->dims[d].begin, &begin);
        if (status == ATN_OK) status = atn_eval_index(plan->ctx, graph, &frame, graph->dims[d].end, &end);
        if (status == ATN_ERR_MEMORY) return status;
        length[d] = status == ATN_OK ? (double)(end - begin) : SOME;
    }
    return ATN_OK;
}

/* How often a value of these dimensions is computed: loops run within those around them. */
static double rounds_of(const atn_graph *graph, const double length[ATN_MAX_DIMS], uint32_t dims) {
    double rounds = 1;
    bool inside = false;
    for (int32_t b = graph->n_blocks - 1; b >= 0; --b) {
        for (int32_t d = 0; d < graph->blocks[b].rank; ++d) inside |= (dims & 1u << graph->blocks[b].dim[d]) != 0;
        for (int32_t d = 0; inside && d < graph->blocks[b].rank; ++d) rounds *= length[graph->blocks[b].dim[d]];
    }
    return rounds;
}

static atn_status work_of(const atn_plan *plan, const atn_graph *graph, bool host, double *work) {
    double length[ATN_MAX_DIMS], serial = host && atn_graph_has_scan(graph) ? SERIAL : 1;
    atn_status status = lengths_of(plan, graph, length);
    *work = 0;
    for (int32_t v = 0; v < graph->n_values && status == ATN_OK; ++v) {
        const atn_node *node = &graph->values[v];
        bool index = node->type == ATN_INDEX || node->op == ATN_OP_CONST || node->op == ATN_OP_PARAM;
        if (index || !node->dims) continue;
        bool edge = node->op == ATN_OP_READ && graph->reads[node->index].boundary != ATN_EDGE_NONE;
        double times = edge ? EDGE : node->op >= ATN_OP_SQRT ? 10 : 1;
        *work += serial * times * rounds_of(graph, length, node->dims);
    }
    return status;
}

static double bytes_of(const atn_plan_array *array) {
    return (double)array->size[0] * (double)array->size[1] * (double)array->size[2] *
           (double)atn_type_bytes(array->type);
}

/* Elements that are never stored save their way to memory and back; what is computed again costs. */
static bool pays(bool host, const atn_plan_array *array, double before, double after) {
    double operations_per_byte = host ? 2 : 8; /* what a device does while a byte goes by, with its vectors half full */
    double launch = host ? 2e4 : 2e6;          /* operations in the time of a launch */
    return after - before <= 2 * bytes_of(array) * operations_per_byte + launch;
}

/* ---- seams ---- */

static bool is_control(const atn_plan_node *node) { return node->kind > ATN_NODE_MOVE && node->kind < ATN_NODE_GONE; }

static int32_t writer_of(const atn_plan *plan, int32_t array, const char **why_not) {
    int32_t found = -1;
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        const atn_plan_node *node = &plan->nodes[k];
        bool writes = atn_plan_writes(node, plan->arrays[array].name) ||
                      ((node->kind == ATN_NODE_MOVE || node->kind == ATN_NODE_LOOP) && node->to == array);
        if (writes && (found >= 0 || node->kind != ATN_NODE_STEP)) return *why_not = "it is written more than once", -1;
        if (writes) found = k;
    }
    return found;
}

/* All readers are steps behind the writer with no loop's edge between, and nothing that the writer reads changes. */
static bool find_readers(const atn_plan *plan, int32_t array, int32_t writer, int32_t *readers, int32_t *count,
                         const char **why_not) {
    const char *name = plan->arrays[array].name;
    bool crossed = false, changed = false;
    *count = 0;
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        const atn_plan_node *node = &plan->nodes[k];
        if (k > writer && is_control(node)) crossed = true;
        bool taken = (node->kind != ATN_NODE_STEP && node->kind != ATN_NODE_GONE && node->from == array);
        if (taken) return *why_not = "it is needed outside of kernels", false;
        if (k != writer && atn_plan_reads(node, name)) {
            if (k < writer || crossed) return *why_not = "a loop lies between", false;
            if (changed) return *why_not = "what it is made of changes before it is read", false;
            readers[(*count)++] = k;
        }
        if (k <= writer || node->kind == ATN_NODE_GONE) continue;
        const atn_graph *from = plan->nodes[writer].graph;
        for (int32_t o = 0; o < from->n_objects; ++o) {
            if (!from->objects[o].read) continue;
            int32_t read = atn_plan_array_find(plan, from->objects[o].name);
            changed |= atn_plan_writes(node, from->objects[o].name) ||
                       ((node->kind == ATN_NODE_MOVE || node->kind == ATN_NODE_LOOP) && node->to == read);
        }
    }
    if (*count == 0) *why_not = "it is not read";
    for (int32_t k = 0; k < *count; ++k)
        if (plan->nodes[readers[k]].whole || plan->nodes[writer].whole)
            return *why_not = "a shipped program that is one kernel stays as it is", false;
    return *count > 0;
}

/* A step with several results stays as long as one of them is wanted. */
static bool only_result(const atn_plan *plan, int32_t writer, int32_t array) {
    const atn_graph *graph = plan->nodes[writer].graph;
    for (int32_t k = 0; k < graph->n_objects; ++k)
        if (graph->objects[k].written && strcmp(graph->objects[k].name, plan->arrays[array].name) != 0) return false;
    return true;
}

static bool lists(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)); at += n)
        if ((at == list || at[-1] == ' ') && (!at[n] || at[n] == ',')) return true;
    return false;
}

/* Each kernel once. */
static const char *more_fused(atn_plan *plan, const atn_plan_node *node, const atn_plan_node *into) {
    const char *list = into->fused, *more = node->fused ? node->fused : node->graph->name;
    if (!node->fused && !strcmp(more, into->graph->name)) return list;
    for (int turn = 0; turn < 2; ++turn, more = node->graph->name)
        if (more && !lists(list, more) && strcmp(more, into->graph->name) != 0)
            list = list ? atn_arena_printf(&plan->arena, "%s, %s", list, more) : more;
    return list ? atn_arena_strdup(&plan->arena, list) : NULL;
}

typedef struct fusion {
    int32_t *readers, count;
    atn_graph **graphs; /* per reader */
} fusion;

static atn_status try_seam(atn_plan *plan, const atn_device_info *info, int32_t array, int wanted, fusion *f,
                           atn_plan_seam *seam) {
    const char *why = NULL;
    int32_t writer = plan->arrays[array].head >= 0 ? -1 : writer_of(plan, array, &why);
    if (writer < 0 || !only_result(plan, writer, array) ||
        !find_readers(plan, array, writer, f->readers, &f->count, &why)) {
        seam->why_not = why ? why : writer < 0 ? "it is the caller's" : "its step has other results";
        return ATN_OK;
    }
    bool host = !info || atn_backend_facts_of(info)->threads;
    double before = 0, after = 0;
    atn_status status = work_of(plan, plan->nodes[writer].graph, host, &before);
    int32_t made = 0;
    for (; made < f->count && status == ATN_OK; ++made) {
        const atn_graph *second = plan->nodes[f->readers[made]].graph;
        status = join(plan, plan->nodes[writer].graph, second, &f->graphs[made]);
        if (status != ATN_OK) break;
        bool sound;
        double alone = 0, together = 0;
        status = check(plan, f->graphs[made], &sound);
        if (status == ATN_OK && sound) status = work_of(plan, second, host, &alone);
        if (status == ATN_OK && sound) status = work_of(plan, f->graphs[made], host, &together);
        if (status != ATN_OK || !sound) {
            atn_graph_free(plan->ctx, f->graphs[made]);
            seam->why_not = "elements beyond its ends are read, or it grows too large";
            break;
        }
        before += alone;
        after += together;
    }
    if (status == ATN_ERR_UNSUPPORTED) {
        seam->why_not = atn_arena_strdup(&plan->arena, atn_ctx_message(plan->ctx));
        status = seam->why_not ? ATN_OK : atn_plan_no_memory(plan);
    }
    seam->possible = status == ATN_OK && made == f->count;
    seam->fused = seam->possible && (wanted >= 0 ? wanted : pays(host, &plan->arrays[array], before, after));
    for (int32_t k = 0; k < made; ++k) {
        atn_plan_node *node = &plan->nodes[f->readers[k]];
        if (!seam->fused) {
            atn_graph_free(plan->ctx, f->graphs[k]);
            continue;
        }
        node->fused = more_fused(plan, &plan->nodes[writer], node);
        atn_graph_free(plan->ctx, node->graph);
        node->graph = f->graphs[k];
        node->like = NULL;
    }
    if (seam->fused) {
        atn_graph_free(plan->ctx, plan->nodes[writer].graph);
        plan->nodes[writer].graph = NULL;
        plan->nodes[writer].kind = ATN_NODE_GONE;
    }
    return status;
}

atn_status atn_plan_fuse(atn_plan *plan, const atn_device_info *info, const int8_t *wanted, int32_t n_wanted) {
    size_t nodes = (size_t)plan->n_nodes + 1;
    fusion f = {.readers = atn_arena_alloc(&plan->arena, nodes * sizeof *f.readers),
                .graphs = atn_arena_alloc(&plan->arena, nodes * sizeof(void *))};
    plan->seams = atn_arena_alloc(&plan->arena, ((size_t)plan->n_arrays + 1) * sizeof *plan->seams);
    if (!f.readers || !f.graphs || !plan->seams) return atn_plan_no_memory(plan);
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < plan->n_arrays && status == ATN_OK; ++k) {
        atn_plan_seam seam = {.array = k};
        status = try_seam(plan, info, k, wanted && plan->n_seams < n_wanted ? wanted[plan->n_seams] : -1, &f, &seam);
        bool inner = plan->arrays[k].head < 0;
        if (status == ATN_OK && inner) plan->seams[plan->n_seams++] = seam;
    }
    return status;
}
