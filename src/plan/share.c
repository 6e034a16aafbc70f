/* The pass that computes nothing twice: a step whose operands do not change in a loop moves in front of it, and a step
 * that computes what an earlier one has computed from the same operands is replaced by that one. Unused results are not
 * computed at all. */
#include "plan/plan.h"

#include "graph/affine.h"

#include <string.h>

typedef struct sharing {
    atn_plan *plan;
    int32_t *writers; /* per array: nodes that write it */
    int32_t *writer;  /* per array: the last of them; -1: none */
    int32_t *block;   /* per node: the LOOP, IF or ELSE around it; -1: none */
    int32_t *first;   /* per bucket of steps that are alike: the latest one; -1: none */
    int32_t *next;    /* per node: the one before it in its bucket */
    int32_t buckets;  /* a power of two */
} sharing;

static bool begin(sharing *s, atn_plan *plan) {
    size_t arrays = (size_t)plan->n_arrays + 1, nodes = (size_t)plan->n_nodes + 1;
    s->plan = plan;
    for (s->buckets = 64; s->buckets < plan->n_nodes; s->buckets *= 2) {}
    s->writers = atn_arena_alloc(&plan->arena, arrays * sizeof *s->writers);
    s->writer = atn_arena_alloc(&plan->arena, arrays * sizeof *s->writer);
    s->block = atn_arena_alloc(&plan->arena, nodes * sizeof *s->block);
    s->first = atn_arena_alloc(&plan->arena, (size_t)s->buckets * sizeof *s->first);
    s->next = atn_arena_alloc(&plan->arena, nodes * sizeof *s->next);
    return s->writers && s->writer && s->block && s->first && s->next;
}

static void note_write(sharing *s, int32_t array, int32_t node) {
    if (array < 0) return;
    ++s->writers[array];
    s->writer[array] = node;
}

/* Who writes what, and what lies around whom. */
static void look(sharing *s) {
    const atn_plan *plan = s->plan;
    memset(s->writers, 0, (size_t)plan->n_arrays * sizeof *s->writers);
    for (int32_t k = 0; k < plan->n_arrays; ++k) s->writer[k] = -1;
    int32_t around = -1;
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        const atn_plan_node *node = &plan->nodes[k];
        if (node->kind == ATN_NODE_ELSE) around = s->block[around]; /* of the IF */
        if (node->kind == ATN_NODE_END || node->kind == ATN_NODE_FI) around = s->block[around];
        s->block[k] = around;
        if (node->kind == ATN_NODE_LOOP || node->kind == ATN_NODE_IF || node->kind == ATN_NODE_ELSE) around = k;
        if (node->kind == ATN_NODE_MOVE || node->kind == ATN_NODE_LOOP) note_write(s, node->to, k);
        for (int32_t o = 0; node->kind == ATN_NODE_STEP && o < node->graph->n_objects; ++o)
            if (node->graph->objects[o].written)
                note_write(s, atn_plan_array_find(plan, node->graph->objects[o].name), k);
    }
}

/* Its results are its own, and what it does is decided by its operands alone. */
static bool is_pure(const sharing *s, const atn_plan_node *node) {
    if (node->kind != ATN_NODE_STEP) return false;
    for (int32_t o = 0; o < node->graph->n_objects; ++o) {
        const atn_object *object = &node->graph->objects[o];
        if (!object->written) continue;
        int32_t array = atn_plan_array_find(s->plan, object->name);
        if (object->read || array < 0 || s->writers[array] != 1 || s->plan->arrays[array].head >= 0) return false;
    }
    return true;
}

/* ---- out of loops ---- */

/* An access that is computed may be out of range: it is not made where the loop would not make it. */
static bool computes_accesses(const atn_graph *graph) {
    for (int32_t k = 0; k < graph->n_reads; ++k)
        for (int axis = 0; axis < graph->objects[graph->reads[k].object].rank; ++axis)
            if (!atn_affine_of(graph, graph->reads[k].select[axis]).is_affine) return true;
    for (int32_t k = 0; k < graph->n_writes; ++k)
        for (int axis = 0; axis < graph->objects[graph->writes[k].object].rank; ++axis)
            if (!atn_affine_of(graph, graph->writes[k].select[axis]).is_affine) return true;
    return false;
}

static bool stays_the_same(const sharing *s, int32_t at, int32_t loop) {
    const atn_graph *graph = s->plan->nodes[at].graph;
    for (int32_t o = 0; o < graph->n_objects; ++o) {
        const atn_object *object = &graph->objects[o];
        int32_t array = object->read && !object->table ? atn_plan_array_find(s->plan, object->name) : -1;
        if (array >= 0 && s->writers[array] && (s->writers[array] > 1 || s->writer[array] >= loop)) return false;
    }
    return !computes_accesses(graph);
}

static void move_up(atn_plan *plan, int32_t from, int32_t to) {
    atn_plan_node moved = plan->nodes[from];
    memmove(&plan->nodes[to + 1], &plan->nodes[to], (size_t)(from - to) * sizeof moved);
    plan->nodes[to] = moved;
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        atn_plan_node *node = &plan->nodes[k];
        bool matched = node->kind > ATN_NODE_MOVE && node->kind < ATN_NODE_GONE;
        if (matched && node->match >= to && node->match < from) ++node->match;
    }
}

static void leave_loops(sharing *s) {
    atn_plan *plan = s->plan;
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        int32_t loop = s->block[k];
        if (loop < 0 || plan->nodes[loop].kind != ATN_NODE_LOOP || !is_pure(s, &plan->nodes[k]) ||
            !stays_the_same(s, k, loop))
            continue;
        move_up(plan, k, loop);
        look(s);
        k = loop - 1; /* once more: another loop may be around that one */
    }
}

/* ---- the same again ---- */

static uint64_t bucket_of(const atn_graph *graph) {
    uint64_t mixed = graph->hash.low;
    for (int32_t o = 0; o < graph->n_objects; ++o)
        for (const char *c = graph->objects[o].read ? graph->objects[o].name : ""; *c; ++c)
            mixed = (mixed ^ (unsigned char)*c) * 1099511628211u;
    return mixed ^ mixed >> 32;
}

static bool is_alike(const atn_graph *a, const atn_graph *b) {
    if (memcmp(&a->hash, &b->hash, sizeof a->hash) != 0 || a->n_objects != b->n_objects ||
        a->n_parameters != b->n_parameters)
        return false;
    for (int32_t o = 0; o < a->n_objects; ++o) {
        bool read = a->objects[o].read && !a->objects[o].table;
        if (a->objects[o].written != b->objects[o].written) return false;
        if (read && strcmp(a->objects[o].name, b->objects[o].name) != 0) return false;
    }
    for (int32_t p = 0; p < a->n_parameters; ++p)
        if (strcmp(a->parameters[p].name, b->parameters[p].name) != 0) return false;
    return true;
}

/* `early` was done whenever `late` is reached, and what it was made of has not changed since. */
static bool holds(const sharing *s, int32_t early, int32_t late) {
    int32_t around = s->block[late];
    while (around >= 0 && around != s->block[early]) around = s->block[around];
    if (around != s->block[early]) return false;
    const atn_graph *graph = s->plan->nodes[early].graph;
    for (int32_t o = 0; o < graph->n_objects; ++o) {
        const atn_object *object = &graph->objects[o];
        int32_t array = atn_plan_array_find(s->plan, object->name);
        if (!object->table && s->plan->arrays[array].rank &&
            memcmp(s->plan->arrays[array].size,
                   s->plan->arrays[atn_plan_array_find(s->plan, s->plan->nodes[late].graph->objects[o].name)].size,
                   sizeof s->plan->arrays[array].size) != 0)
            return false;
        if (object->read && !object->table && s->writers[array] && (s->writers[array] > 1 || s->writer[array] >= early))
            return false;
    }
    return true;
}

/* From here on `late` is called as `early` is. */
static void take(const sharing *s, int32_t early, int32_t late) {
    atn_plan *plan = s->plan;
    const atn_graph *from = plan->nodes[early].graph, *gone = plan->nodes[late].graph;
    for (int32_t o = 0; o < gone->n_objects; ++o) {
        if (!gone->objects[o].written) continue;
        int32_t array = atn_plan_array_find(plan, gone->objects[o].name);
        int32_t instead = atn_plan_array_find(plan, from->objects[o].name);
        for (int32_t k = late + 1; k < plan->n_nodes; ++k) {
            atn_plan_node *node = &plan->nodes[k];
            if (node->kind != ATN_NODE_STEP && node->kind != ATN_NODE_GONE && node->from == array) node->from = instead;
            for (int32_t r = 0; node->kind == ATN_NODE_STEP && r < node->graph->n_objects; ++r)
                if (!strcmp(node->graph->objects[r].name, plan->arrays[array].name))
                    node->graph->objects[r].name = plan->arrays[instead].name;
        }
    }
    atn_graph_free(plan->ctx, plan->nodes[late].graph);
    plan->nodes[late].graph = NULL;
    plan->nodes[late].kind = ATN_NODE_GONE;
}

static void share(sharing *s) {
    atn_plan *plan = s->plan;
    for (int32_t k = 0; k < s->buckets; ++k) s->first[k] = -1;
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        if (!is_pure(s, &plan->nodes[k])) continue;
        int32_t *bucket = &s->first[bucket_of(plan->nodes[k].graph) & (uint64_t)(s->buckets - 1)], early = *bucket;
        while (early >= 0 && !(is_alike(plan->nodes[early].graph, plan->nodes[k].graph) && holds(s, early, k)))
            early = s->next[early];
        if (early >= 0) {
            take(s, early, k);
            continue;
        }
        s->next[k] = *bucket;
        *bucket = k;
    }
}

/* ---- unused results ---- */

static bool is_wanted(const sharing *s, int32_t at) {
    const atn_plan *plan = s->plan;
    const atn_graph *graph = plan->nodes[at].graph;
    for (int32_t o = 0; o < graph->n_objects; ++o) {
        if (!graph->objects[o].written) continue;
        int32_t array = atn_plan_array_find(plan, graph->objects[o].name);
        for (int32_t k = at + 1; k < plan->n_nodes; ++k) {
            const atn_plan_node *node = &plan->nodes[k];
            bool taken = node->kind != ATN_NODE_STEP && node->kind != ATN_NODE_GONE && node->from == array;
            if (taken || atn_plan_reads(node, plan->arrays[array].name)) return true;
        }
    }
    return false;
}

static void drop(const sharing *s) {
    for (int32_t k = s->plan->n_nodes - 1; k >= 0; --k) {
        atn_plan_node *node = &s->plan->nodes[k];
        if (!is_pure(s, node) || is_wanted(s, k)) continue;
        atn_graph_free(s->plan->ctx, node->graph);
        node->graph = NULL;
        node->kind = ATN_NODE_GONE;
    }
}

atn_status atn_plan_share(atn_plan *plan) {
    sharing s;
    if (!begin(&s, plan)) return atn_plan_no_memory(plan);
    look(&s);
    leave_loops(&s);
    share(&s);
    drop(&s);
    return ATN_OK;
}
