/* Cuts made shorter until they are shortest, from any congruent answer: turns more for a set of pixels are flow around
 * it along the corners between pixels, at a cost of 1 a step, or a gain of 1 where it takes a turn off a cut. No answer
 * is better as soon as no loop gains: as soon as corners have potentials of which none is above a neighbour's plus the
 * cost of the step from there. Potentials are lowered until that holds, the lowest first. A loop that gains is met as a
 * corner that would be lowered by way of itself, which is looked for in the tree of who lowered whom (Tarjan's subtree
 * disassembly; Cherkassky and Goldberg, Negative-cycle detection algorithms, 1999); it gets its flow, and potentials
 * are lowered further from where they are. */
#include "bench/reference_cuts.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { RIGHT, DOWN, LEFT, UP, NOBODY }; /* d ^ 2 is the way back */
enum { NONE = -1, DEEPEST = 1 << 16, LOOK = 1 << 16 };

/* Corners have columns 0 to width and rows 0 to height; corner (i, j) is the upper left one of pixel (i, j). */
typedef struct corner {
    int64_t height;        /* the potential, at most 0 */
    int32_t after, before; /* in its tree, parents before children: a ring */
    int32_t depth;         /* in its tree; 0: the root */
    int32_t next, last;    /* in its queue; next == NONE: not in any */
    uint8_t parent;        /* where the step that lowered it came from */
} corner;

typedef struct search {
    const atn_ctx *ctx;
    cuts_reference *cuts;
    corner *corner;
    int32_t *queue;  /* by potential; the lowest is taken first */
    int32_t deepest; /* queue that may not be empty */
    int64_t columns, rows, count;
    int32_t step[4];
    int32_t looked; /* corners since the last look at Ctrl-C */
} search;

/* ---- pairs ---- */

/* The pair that a step crosses, and *sign: by how much flow changes its k; NONE: along the border, or no such step. */
static int64_t pair_of(const search *s, int32_t at, int d, int32_t *sign) {
    int32_t from = d == LEFT || d == UP ? at + s->step[d] : at; /* of the step to the right or down */
    int64_t i = from % s->columns, j = from / s->columns, w = s->cuts->width;
    *sign = d == RIGHT || d == UP ? 1 : -1;
    if (d & 1) return i == 0 || i == w ? NONE : 2 * (j * w + i - 1);
    return j == 0 || j == s->cuts->height ? NONE : 2 * ((j - 1) * w + i) + 1;
}

static bool may_step(const search *s, int32_t at, int d) {
    int64_t i = at % s->columns, j = at / s->columns;
    return d == RIGHT ? i + 1 < s->columns : d == LEFT ? i > 0 : d == DOWN ? j + 1 < s->rows : j > 0;
}

static int64_t cost_of(const search *s, int32_t at, int d) {
    int32_t sign;
    int64_t e = pair_of(s, at, d, &sign);
    if (e == NONE) return 0;
    return s->cuts->cut[e] * sign < 0 ? -1 : 1;
}

/* ---- queues ---- */

static int32_t queue_of(const search *s, int32_t p) {
    int64_t n = -s->corner[p].height;
    return n < DEEPEST ? (int32_t)n : DEEPEST - 1;
}

/* Rings: the head is the last one that was added. */
static void enqueue(search *s, int32_t p) {
    corner *c = s->corner;
    if (c[p].next != NONE) return;
    int32_t n = queue_of(s, p), head = s->queue[n];
    if (head == NONE) {
        c[p].next = c[p].last = p;
    } else {
        c[p].next = c[head].next;
        c[p].last = head;
        c[c[p].next].last = p;
        c[head].next = p;
    }
    s->queue[n] = p;
    if (n > s->deepest) s->deepest = n;
}

static void dequeue(search *s, int32_t p) {
    corner *c = s->corner;
    if (c[p].next == NONE) return;
    int32_t n = queue_of(s, p);
    if (s->queue[n] == p) s->queue[n] = c[p].last == p ? NONE : c[p].last;
    c[c[p].last].next = c[p].next;
    c[c[p].next].last = c[p].last;
    c[p].next = NONE;
}

static int32_t lowest(search *s) {
    while (s->deepest >= 0 && s->queue[s->deepest] == NONE) --s->deepest;
    return s->deepest < 0 ? NONE : s->queue[s->deepest];
}

/* ---- trees ---- */

static void plant(corner *c, int32_t p) {
    c[p].after = c[p].before = p;
    c[p].depth = 0;
    c[p].parent = NOBODY;
}

/* Takes v with all below it out of its tree; what is below is alone then, and not queued: v will lower it again. False:
 * u is among them, and nothing was done. */
static bool fell(search *s, int32_t v, int32_t u, bool keep_queued) {
    corner *c = s->corner;
    int32_t w = c[v].after;
    for (; c[w].depth > c[v].depth; w = c[w].after)
        if (w == u) return false;
    int32_t before = c[v].before, end = w;
    for (w = c[v].after; w != end;) {
        int32_t next = c[w].after;
        plant(c, w);
        if (!keep_queued) dequeue(s, w);
        w = next;
    }
    if (end != v) { /* else it was the root: all of the ring is gone */
        c[before].after = end;
        c[end].before = before;
    }
    plant(c, v);
    return true;
}

static void hang(search *s, int32_t v, int32_t u, int d) {
    corner *c = s->corner;
    c[v].parent = (uint8_t)(d ^ 2);
    c[v].depth = c[u].depth + 1;
    c[v].before = u;
    c[v].after = c[u].after;
    c[c[v].after].before = v;
    c[u].after = v;
}

/* ---- loops ---- */

/* One step of the loop, from `at` to its parent: the step d was the other way round. */
static int32_t room_of(const search *s, int32_t at, int d) {
    int32_t sign;
    int64_t e = pair_of(s, at, d, &sign);
    return e == NONE || s->cuts->cut[e] * sign >= 0 ? INT32_MAX : abs(s->cuts->cut[e]);
}

static void push(search *s, int32_t at, int d, int32_t amount) {
    int32_t sign;
    int64_t e = pair_of(s, at, d, &sign);
    if (e != NONE) s->cuts->cut[e] += sign * amount;
}

/* The loop from v along the tree to u, and by the step d back to v. */
static void go_around(search *s, int32_t v, int32_t u, int d) {
    corner *c = s->corner;
    int32_t room = room_of(s, u, d);
    for (int32_t at = u; at != v; at += s->step[c[at].parent]) {
        int back = c[at].parent;
        int32_t here = room_of(s, at + s->step[back], back ^ 2);
        if (here < room) room = here;
    }
    push(s, u, d, room);
    for (int32_t at = u; at != v; at += s->step[c[at].parent]) {
        int back = c[at].parent;
        push(s, at + s->step[back], back ^ 2, room);
        enqueue(s, at);
    }
    enqueue(s, v);
    fell(s, v, NONE, true);
}

/* ---- the search ---- */

static void lower(search *s, int32_t u) {
    corner *c = s->corner;
    for (int d = 0; d < 4; ++d) {
        if (!may_step(s, u, d)) continue;
        int32_t v = u + s->step[d];
        int64_t height = c[u].height + cost_of(s, u, d);
        if (height >= c[v].height) continue;
        if (!fell(s, v, u, false)) {
            go_around(s, v, u, d);
            return; /* u is queued again */
        }
        dequeue(s, v);
        c[v].height = height;
        hang(s, v, u, d);
        enqueue(s, v);
    }
}

/* Queues those from where something is to be lowered; false: there is none. */
static bool look_around(search *s) {
    bool any = false;
    for (int32_t u = 0; u < s->count; ++u)
        for (int d = 0; d < 4; ++d) {
            if (!may_step(s, u, d) || s->corner[u].height + cost_of(s, u, d) >= s->corner[u + s->step[d]].height)
                continue;
            enqueue(s, u);
            any = true;
            break;
        }
    return any;
}

static atn_status run(search *s) {
    for (;;) {
        int32_t u = lowest(s);
        if (u == NONE) {
            if (!look_around(s)) return ATN_OK;
            continue;
        }
        if (++s->looked == LOOK) {
            s->looked = 0;
            if (atn_check_cancel(s->ctx) != ATN_OK) return ATN_ERR_CANCELLED;
        }
        dequeue(s, u);
        lower(s, u);
    }
}

int64_t cuts_reference_turns(const cuts_reference *r) {
    int64_t sum = 0;
    for (int64_t e = 0; e < 2 * r->width * r->height; ++e) sum += llabs((long long)r->cut[e]);
    return sum;
}

atn_status cuts_reference_run(const atn_ctx *ctx, cuts_reference *reference) {
    search s = {.ctx = ctx, .cuts = reference, .deepest = -1};
    s.columns = reference->width + 1;
    s.rows = reference->height + 1;
    s.count = s.columns * s.rows;
    memcpy(s.step, (int32_t[]){1, (int32_t)s.columns, -1, (int32_t)-s.columns}, sizeof s.step);
    s.corner = atn_alloc(ctx, (size_t)s.count * sizeof *s.corner);
    s.queue = s.corner ? atn_alloc(ctx, DEEPEST * sizeof *s.queue) : NULL;
    atn_status status = s.queue ? ATN_OK : ATN_ERR_MEMORY;
    for (int32_t k = 0; k < DEEPEST && status == ATN_OK; ++k) s.queue[k] = NONE;
    for (int32_t p = 0; p < s.count && status == ATN_OK; ++p) {
        s.corner[p] = (corner){.next = NONE};
        plant(s.corner, p);
    }
    if (status == ATN_OK) status = run(&s);
    atn_free(ctx, s.queue);
    atn_free(ctx, s.corner);
    return status;
}
