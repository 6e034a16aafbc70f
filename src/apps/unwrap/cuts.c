/* Cuts as a flow of least cost (Costantini, A novel phase unwrapping method based on network programming, 1998).
 * Corners between pixels are nodes; a unit of flow from a corner to the next crosses a pair of pixels and cuts it by a
 * turn, at the pair's cost. Residues give flow or take it, and so do holes and the border, along which flow costs
 * nothing: each of them is one node. Flow goes, unit by unit, from a node that gives to the one that takes and is
 * nearest to it, on the shortest way, which may take back what went there before. Prices of nodes keep all costs of
 * steps at or above 0, so that Dijkstra's algorithm finds it, and looks no farther than it has to: few pixels where
 * residues are many. */
#include "apps/unwrap/cuts.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { RIGHT, DOWN, LEFT, UP, STEPS }; /* d ^ 2 is the way back */
enum { NONE = -1, LOOK = 1 << 18 };

/* Corners have columns 0 to width and rows 0 to height; corner (i, j) is the upper left one of pixel (i, j). Those
 * that no pair divides have one node, which the first of them keeps. */
typedef struct corner {
    int64_t price, distance;
    int32_t excess; /* > 0: flow to be given, < 0: to be taken */
    int32_t seen;   /* number of the search that `distance`, `from` and `done` are of */
    int32_t from;   /* corner that the last step of the way came from */
    int32_t node;   /* the corner that keeps its node */
    int32_t next;   /* corner of the same node with a pair beside it; NONE: the last */
    uint8_t step;   /* the last step of the way */
    bool done;
} corner;

typedef struct entry {
    int64_t distance;
    int32_t node;
} entry;

typedef struct search {
    const atn_ctx *ctx;
    const unwrap_cuts *cuts;
    corner *corner;
    int32_t at; /* the corner whose turns are led away */
    int64_t columns, rows, count;
    int32_t step[STEPS];
    entry *heap; /* the nearest first */
    size_t in_heap, heap_room;
    int32_t *near; /* as near as the node that is looked at */
    size_t in_near, near_room;
    int32_t *seen; /* nodes of this search */
    int64_t in_seen;
    int32_t number;
    int64_t work, looked;
} search;

/* ---- steps ---- */

static bool may_step(const search *s, int32_t at, int d) {
    int64_t i = at % s->columns, j = at / s->columns;
    return d == RIGHT ? i + 1 < s->columns : d == LEFT ? i > 0 : d == DOWN ? j + 1 < s->rows : j > 0;
}

/* The pair that a step crosses, and by how much flow along it changes its k; NONE: it crosses none that costs. */
static int64_t pair_of(const search *s, int32_t at, int d, int32_t *sign) {
    int32_t from = d == LEFT || d == UP ? at + s->step[d] : at; /* of the step to the right or down */
    int64_t i = from % s->columns, j = from / s->columns, w = s->cuts->width, e;
    *sign = d == RIGHT || d == UP ? 1 : -1;
    if (d & 1) {
        if (i == 0 || i == w) return NONE;
        e = 2 * (j * w + i - 1);
    } else {
        if (j == 0 || j == s->cuts->height) return NONE;
        e = 2 * ((j - 1) * w + i) + 1;
    }
    return s->cuts->cost[e] ? e : NONE;
}

/* ---- nodes ---- */

static int32_t node_of(search *s, int32_t at) {
    corner *c = s->corner;
    while (c[at].node != at) at = c[at].node = c[c[at].node].node; /* halves the way for the next time */
    return at;
}

/* Corners without a pair between them become one node, with a list of those that have a pair elsewhere. */
static void join(search *s) {
    corner *c = s->corner;
    int32_t sign;
    for (int32_t at = 0; at < s->count; ++at) c[at] = (corner){.node = at, .next = NONE};
    for (int32_t at = 0; at < s->count; ++at)
        for (int d = RIGHT; d <= DOWN; ++d) {
            if (!may_step(s, at, d) || pair_of(s, at, d, &sign) != NONE) continue;
            int32_t a = node_of(s, at), b = node_of(s, at + s->step[d]);
            c[a < b ? b : a].node = a < b ? a : b;
        }
    for (int32_t at = (int32_t)s->count - 1; at >= 0; --at) { /* the keeper comes last, and heads the list */
        int32_t node = c[at].node = node_of(s, at);
        bool beside = false;
        for (int d = 0; d < STEPS; ++d) {
            int64_t e = may_step(s, at, d) ? pair_of(s, at, d, &sign) : NONE;
            if (e == NONE) continue;
            beside = true;
            c[node].excess += sign * s->cuts->wrapped[e];
        }
        if (!beside || node == at) continue;
        c[at].next = c[node].next;
        c[node].next = at;
    }
}

/* ---- queues ---- */

static atn_status add_far(search *s, int64_t distance, int32_t node) {
    if (atn_grow(s->ctx, (void **)&s->heap, &s->heap_room, s->in_heap, sizeof *s->heap) != ATN_OK)
        return ATN_ERR_MEMORY;
    size_t at = s->in_heap++;
    for (; at > 0 && s->heap[(at - 1) / 2].distance > distance; at = (at - 1) / 2) s->heap[at] = s->heap[(at - 1) / 2];
    s->heap[at] = (entry){distance, node};
    return ATN_OK;
}

static entry take_far(search *s) {
    entry top = s->heap[0], last = s->heap[--s->in_heap];
    size_t at = 0;
    for (size_t below = 1; below < s->in_heap; below = 2 * at + 1) {
        if (below + 1 < s->in_heap && s->heap[below + 1].distance < s->heap[below].distance) ++below;
        if (s->heap[below].distance >= last.distance) break;
        s->heap[at] = s->heap[below];
        at = below;
    }
    s->heap[at] = last;
    return top;
}

static atn_status add_near(search *s, int32_t node) {
    if (atn_grow(s->ctx, (void **)&s->near, &s->near_room, s->in_near, sizeof *s->near) != ATN_OK)
        return ATN_ERR_MEMORY;
    s->near[s->in_near++] = node;
    return ATN_OK;
}

/* The nearest node that is not done; NONE: there is none. */
static int32_t take(search *s) {
    while (s->in_near > 0 || s->in_heap > 0) {
        int32_t node = s->in_near > 0 ? s->near[--s->in_near] : take_far(s).node;
        if (!s->corner[node].done) return node;
    }
    return NONE;
}

/* ---- ways ---- */

static atn_status reach(search *s, int32_t from, int d, int64_t distance, int32_t node, int64_t now) {
    corner *c = &s->corner[node];
    if (c->seen == s->number && c->distance <= distance) return ATN_OK;
    if (c->seen != s->number) {
        c->seen = s->number;
        c->done = false;
        s->seen[s->in_seen++] = node;
    }
    c->distance = distance;
    c->from = from;
    c->step = (uint8_t)d;
    return distance == now ? add_near(s, node) : add_far(s, distance, node);
}

static atn_status look_around(search *s, int32_t node) {
    const corner *c = s->corner, *here = &c[node];
    atn_status status = ATN_OK;
    for (int32_t at = node; at != NONE && status == ATN_OK; at = c[at].next)
        for (int d = 0; d < STEPS && status == ATN_OK; ++d) {
            int32_t sign;
            --s->work;
            int64_t e = may_step(s, at, d) ? pair_of(s, at, d, &sign) : NONE;
            if (e == NONE) continue;
            int64_t cost = s->cuts->cut[e] * sign < 0 ? -(int64_t)s->cuts->cost[e] : s->cuts->cost[e];
            int32_t to = c[at + s->step[d]].node;
            status = reach(s, at, d, here->distance + cost + here->price - c[to].price, to, here->distance);
        }
    return status;
}

/* *end: the nearest node that takes flow; NONE: none can be reached, or the work is too much. */
static atn_status find_way(search *s, int32_t start, int32_t *end) {
    s->in_heap = s->in_near = 0;
    s->in_seen = 0;
    ++s->number;
    *end = NONE;
    atn_status status = reach(s, NONE, 0, 0, start, 0);
    while (status == ATN_OK && s->work > 0) {
        int32_t node = take(s);
        if (node == NONE) return ATN_OK;
        s->corner[node].done = true;
        if (s->corner[node].excess < 0) {
            *end = node;
            return ATN_OK;
        }
        status = look_around(s, node);
        if (status == ATN_OK && s->looked - s->work > LOOK) {
            s->looked = s->work;
            status = atn_tell_progress(s->ctx, "searching the shortest cuts", s->at, s->count);
        }
    }
    return status;
}

/* As much flow as start and end have and as the way lets through: steps that take back have only what went there. */
static void send(search *s, int32_t start, int32_t end) {
    corner *c = s->corner;
    int32_t amount = c[start].excess < -c[end].excess ? c[start].excess : -c[end].excess, sign;
    for (int32_t node = end; node != start; node = c[c[node].from].node) {
        int64_t e = pair_of(s, c[node].from, c[node].step, &sign);
        if (s->cuts->cut[e] * sign < 0 && abs(s->cuts->cut[e]) < amount) amount = abs(s->cuts->cut[e]);
    }
    for (int32_t node = end; node != start; node = c[c[node].from].node) {
        int64_t e = pair_of(s, c[node].from, c[node].step, &sign);
        s->cuts->cut[e] += sign * amount;
    }
    c[start].excess -= amount;
    c[end].excess += amount;
    int64_t farthest = c[end].distance;
    for (int64_t k = 0; k < s->in_seen; ++k) {
        corner *node = &c[s->seen[k]];
        if (node->distance < farthest) node->price += node->distance - farthest;
    }
}

static atn_status open(search *s) {
    s->corner = atn_alloc(s->ctx, (size_t)s->count * sizeof *s->corner);
    s->seen = atn_alloc(s->ctx, (size_t)s->count * sizeof *s->seen);
    return s->corner && s->seen ? ATN_OK : ATN_ERR_MEMORY;
}

atn_status unwrap_cuts_find(const atn_ctx *ctx, const unwrap_cuts *cuts, int64_t work, bool *found) {
    search s = {.ctx = ctx, .cuts = cuts, .work = work, .looked = work};
    s.columns = cuts->width + 1;
    s.rows = cuts->height + 1;
    s.count = s.columns * s.rows;
    memcpy(s.step, (int32_t[]){1, (int32_t)s.columns, -1, (int32_t)-s.columns}, sizeof s.step);
    memset(cuts->cut, 0, (size_t)(2 * cuts->width * cuts->height) * sizeof *cuts->cut);
    *found = false;
    atn_status status = open(&s);
    if (status == ATN_OK) join(&s);
    bool whole = true;
    for (; s.at < s.count && whole && status == ATN_OK; ++s.at)
        while (s.corner[s.at].excess > 0 && whole && status == ATN_OK) {
            int32_t end;
            status = find_way(&s, s.at, &end);
            whole = status == ATN_OK && end != NONE;
            if (whole) send(&s, s.at, end);
        }
    *found = whole && status == ATN_OK;
    atn_free(ctx, s.corner);
    atn_free(ctx, s.seen);
    atn_free(ctx, s.heap);
    atn_free(ctx, s.near);
    return status;
}
