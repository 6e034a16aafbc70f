/* The pass that orders steps over queues: between two loops, branches or their ends, a step waits for those alone whose
 * arrays it needs, or overwrites, and goes to the queue of one of them where that has nothing behind it yet. */
#include "plan/plan.h"

#include <string.h>

enum { LOOKS = 256 }; /* steps of a queue that are looked at */

typedef struct touch {
    int32_t array; /* where it lies */
    bool writes;
} touch;

/* A step of the row that is being scheduled. */
typedef struct entry {
    int32_t node, n_touches;
    const touch *touches;
    int32_t previous;               /* entry of its queue; -1: none */
    int32_t number;                 /* in its queue, from 1 */
    int32_t reach[ATN_PLAN_QUEUES]; /* how many of each queue are done before it ends */
} entry;

typedef struct row {
    entry *entries;
    int32_t n;
    int32_t last[ATN_PLAN_QUEUES]; /* entry of each queue; -1: none */
    int32_t queues;
} row;

static atn_status find_touches(atn_plan *plan, entry *e) {
    const atn_graph *graph = plan->nodes[e->node].graph;
    touch *touches = atn_arena_alloc(&plan->arena, ((size_t)graph->n_objects + 1) * sizeof *touches);
    if (!touches) return atn_plan_no_memory(plan);
    for (int32_t k = 0; k < graph->n_objects; ++k) {
        int32_t array = atn_plan_array_of(plan, graph, k);
        if (array >= 0) touches[e->n_touches++] = (touch){atn_plan_root(plan, array), graph->objects[k].written};
    }
    e->touches = touches;
    return ATN_OK;
}

static bool is_bound(const entry *a, const entry *b) {
    for (int32_t j = 0; j < a->n_touches; ++j)
        for (int32_t k = 0; k < b->n_touches; ++k)
            if (a->touches[j].array == b->touches[k].array && (a->touches[j].writes || b->touches[k].writes))
                return true;
    return false;
}

/* Behind the latest step that it is bound to, where that is the last of its queue; else the queue whose last step is
 * the oldest, an empty one first. */
static int32_t choose_queue(const row *r, const entry *e) {
    int32_t best = 0, behind = -1;
    for (int32_t q = 0; q < r->queues; ++q) {
        if (r->last[q] < r->last[best]) best = q;
        if (r->last[q] >= 0 && (behind < 0 || r->last[q] > r->last[behind]) && is_bound(&r->entries[r->last[q]], e))
            behind = q;
    }
    return behind >= 0 ? behind : best;
}

/* The latest step of another queue that it is bound to and does not know of yet; behind many that it is not, simply the
 * last one. */
static int32_t find_before(const row *r, int32_t queue, const entry *e) {
    int32_t left = LOOKS;
    for (int32_t k = r->last[queue]; k >= 0 && r->entries[k].number > e->reach[queue]; k = r->entries[k].previous) {
        if (is_bound(&r->entries[k], e)) return k;
        if (--left == 0) return r->last[queue];
    }
    return -1;
}

static void add(atn_plan *plan, row *r, entry *e) {
    atn_plan_node *node = &plan->nodes[e->node];
    int32_t queue = node->queue = choose_queue(r, e);
    e->previous = r->last[queue];
    if (e->previous >= 0) memcpy(e->reach, r->entries[e->previous].reach, sizeof e->reach);
    for (int32_t other = 0; other < r->queues; ++other) {
        int32_t before = other == queue ? -1 : find_before(r, other, e);
        if (before < 0) continue;
        node->after[other] = r->entries[before].node;
        for (int32_t q = 0; q < r->queues; ++q)
            if (e->reach[q] < r->entries[before].reach[q]) e->reach[q] = r->entries[before].reach[q];
    }
    e->number = e->previous >= 0 ? r->entries[e->previous].number + 1 : 1;
    e->reach[queue] = e->number;
    r->last[queue] = r->n++;
    if (queue + 1 > plan->queues) plan->queues = queue + 1;
}

static void begin(row *r) {
    r->n = 0;
    for (int32_t q = 0; q < ATN_PLAN_QUEUES; ++q) r->last[q] = -1;
}

atn_status atn_plan_schedule(atn_plan *plan, int32_t queues) {
    row r = {.entries = atn_arena_alloc(&plan->arena, ((size_t)plan->n_nodes + 1) * sizeof *r.entries),
             .queues = queues};
    if (!r.entries) return atn_plan_no_memory(plan);
    plan->queues = 1;
    begin(&r);
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        atn_plan_node *node = &plan->nodes[k];
        node->queue = 0;
        for (int32_t q = 0; q < ATN_PLAN_QUEUES; ++q) node->after[q] = -1;
        if (node->kind == ATN_NODE_GONE) continue;
        if (node->kind != ATN_NODE_STEP) {
            begin(&r);
            continue;
        }
        if (queues == 1) continue;
        entry *e = &r.entries[r.n];
        *e = (entry){.node = k};
        atn_status status = find_touches(plan, e);
        if (status != ATN_OK) return status;
        add(plan, &r, e);
    }
    return ATN_OK;
}
