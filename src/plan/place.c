/* The last pass over memory: temporaries that are not alive at the same time share parts of one arena. Parts are shared
 * among arrays of one type, so that elements that were never written are still finite numbers. */
#include "plan/plan.h"

#include "base/size.h"

#include <string.h>

enum { ALIGNMENT = 256, LINE = 64 /* bytes */, LONG = 16 /* lines */ };

static void note(atn_plan *plan, int32_t array, int32_t node) {
    atn_plan_array *a = &plan->arrays[atn_plan_root(plan, array)];
    if (a->first < 0) a->first = node;
    if (node > a->last) a->last = node;
}

static bool touches(const atn_plan *plan, const atn_plan_node *node, int32_t root) {
    for (int32_t k = 0; k < node->graph->n_objects; ++k) {
        int32_t array = atn_plan_array_of(plan, node->graph, k);
        if (array >= 0 && atn_plan_root(plan, array) == root) return true;
    }
    return false;
}

static void find_lives(atn_plan *plan) {
    for (int32_t k = 0; k < plan->n_arrays; ++k) plan->arrays[k].first = plan->arrays[k].last = -1;
    for (int32_t n = 0; n < plan->n_nodes; ++n) {
        const atn_plan_node *node = &plan->nodes[n];
        for (int32_t k = 0; node->kind == ATN_NODE_STEP && k < node->graph->n_objects; ++k) {
            int32_t array = atn_plan_array_of(plan, node->graph, k);
            if (array >= 0) note(plan, array, n);
        }
        if (node->kind != ATN_NODE_STEP && node->kind != ATN_NODE_GONE && node->from >= 0) note(plan, node->from, n);
        if (node->kind == ATN_NODE_LOOP && node->to >= 0) {
            note(plan, node->to, n);
            note(plan, node->to, node->match);
        }
    }
    /* what is there before a loop and used in it is wanted in every round */
    for (bool again = true; again;) {
        again = false;
        for (int32_t n = 0; n < plan->n_nodes; ++n) {
            const atn_plan_node *node = &plan->nodes[n];
            for (int32_t k = 0; node->kind == ATN_NODE_LOOP && k < plan->n_arrays; ++k) {
                atn_plan_array *a = &plan->arrays[k];
                if (a->first < 0 || a->first >= n || a->last <= n || a->last >= node->match) continue;
                a->last = node->match;
                again = true;
            }
        }
    }
}

/* What a loop's round left behind is not overwritten by the next one before it is read: both ends of a life that begins
 * in a loop and ends behind it lie in pieces of their own from the loop's begin. */
static void widen_lives(atn_plan *plan) {
    for (int32_t n = 0; n < plan->n_nodes; ++n) {
        const atn_plan_node *node = &plan->nodes[n];
        for (int32_t k = 0; node->kind == ATN_NODE_LOOP && k < plan->n_arrays; ++k) {
            atn_plan_array *a = &plan->arrays[k];
            if (a->first > n && a->first < node->match && a->last > node->match) a->first = n;
        }
    }
}

/* Long rows begin where vectors like it, and not all in the same lines of a cache. */
static int64_t pitch_of(const atn_plan_array *a) {
    int64_t line = LINE / (int64_t)atn_type_bytes(a->type), pitch = (a->size[0] + line - 1) / line * line;
    if (a->rank < 2 || a->size[0] < LONG * line || pitch > INT64_MAX / LINE) return a->size[0];
    return pitch % (LONG * line) ? pitch : pitch + line;
}

static atn_status bytes_of(const atn_plan *plan, const atn_plan_array *a, size_t *bytes) {
    int64_t elements, total;
    if (!atn_i64_mul(a->pitch, a->size[1], &elements) || !atn_i64_mul(elements, a->size[2], &elements) ||
        !atn_i64_mul(elements, (int64_t)atn_type_bytes(a->type), &total) || total > ((int64_t)1 << 60))
        return atn_fail(plan->ctx, ATN_ERR_INPUT, "%s: '%s' is larger than any memory", plan->main.routine->name,
                        a->name);
    *bytes = ((size_t)total + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return ATN_OK;
}

typedef struct piece {
    atn_type type;
    size_t bytes;
    int32_t until; /* the last node of who lies there */
    int32_t array; /* who */
} piece;

/* Steps of one row may run side by side: what lies there is done with where a loop, a branch or its end lies between,
 * or where all that touch it are in the queue of the step that comes next. */
static bool is_done(const atn_plan *plan, const piece *p, int32_t next) {
    for (int32_t k = next; plan->queues > 1 && k >= plan->arrays[p->array].first; --k) {
        const atn_plan_node *node = &plan->nodes[k];
        if (node->kind != ATN_NODE_STEP && node->kind != ATN_NODE_GONE) return true;
        if (node->queue != plan->nodes[next].queue && node->kind == ATN_NODE_STEP && touches(plan, node, p->array))
            return false;
    }
    return true;
}

/* The smallest piece that is free and large enough; else the largest free one grows; else a new one. */
static int32_t choose(const atn_plan *plan, const piece *pieces, const atn_plan_array *a, size_t bytes) {
    int32_t best = -1;
    for (int32_t k = 0; k < plan->n_pieces; ++k) {
        if (pieces[k].type != a->type || pieces[k].until >= a->first || !is_done(plan, &pieces[k], a->first)) continue;
        bool fits = pieces[k].bytes >= bytes, best_fits = best >= 0 && pieces[best].bytes >= bytes;
        bool better =
            best < 0 || (fits && !best_fits) ||
            (fits == best_fits && (fits ? pieces[k].bytes < pieces[best].bytes : pieces[k].bytes > pieces[best].bytes));
        if (better) best = k;
    }
    return best;
}

atn_status atn_plan_place(atn_plan *plan) {
    piece *pieces = atn_arena_alloc(&plan->arena, ((size_t)plan->n_arrays + 1) * sizeof *pieces);
    int32_t *order = atn_arena_alloc(&plan->arena, ((size_t)plan->n_arrays + 1) * sizeof *order), n = 0;
    if (!pieces || !order) return atn_plan_no_memory(plan);
    find_lives(plan);
    widen_lives(plan);
    for (int32_t k = 0; k < plan->n_arrays; ++k) { /* by their beginnings */
        const atn_plan_array *a = &plan->arrays[k];
        if (a->same >= 0 || a->head >= 0 || a->first < 0) continue;
        int32_t at = n++;
        for (; at > 0 && plan->arrays[order[at - 1]].first > a->first; --at) order[at] = order[at - 1];
        order[at] = k;
    }
    plan->n_pieces = 0;
    for (int32_t k = 0; k < n; ++k) {
        atn_plan_array *a = &plan->arrays[order[k]];
        size_t bytes = 0;
        a->pitch = pitch_of(a);
        atn_status status = bytes_of(plan, a, &bytes);
        if (status != ATN_OK) return status;
        int32_t at = choose(plan, pieces, a, bytes);
        if (at < 0) {
            at = plan->n_pieces++;
            pieces[at] = (piece){.type = a->type};
        }
        if (pieces[at].bytes < bytes) pieces[at].bytes = bytes;
        pieces[at].until = a->last;
        pieces[at].array = order[k];
        a->piece = at;
    }
    plan->piece_at = atn_arena_alloc(&plan->arena, ((size_t)plan->n_pieces + 1) * sizeof *plan->piece_at);
    if (!plan->piece_at) return atn_plan_no_memory(plan);
    plan->bytes = 0;
    for (int32_t k = 0; k < plan->n_pieces; ++k) {
        plan->piece_at[k] = plan->bytes;
        if (!atn_size_add(plan->bytes, pieces[k].bytes, &plan->bytes)) return atn_plan_no_memory(plan);
    }
    return ATN_OK;
}
