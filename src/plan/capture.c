/* Plans on tapes: steps in a row, over several queues, and loops whose condition the device looks at itself are one
 * launch. A device whose tapes have no loops leaves them to the host, which then looks at every round: a round too many
 * would overwrite what the loop leaves behind. */
#include "plan/planned.h"

#include "base/memory.h"

enum { SEEN = 4 }; /* rounds that the host does before a loop is worth a tape of its own */

/* ---- what can be kept ---- */

/* Is the condition a temporary that no other loop looks at? */
static bool is_own(const atn_planned *p, int32_t until) {
    const atn_plan *plan = p->plan;
    int32_t flag = atn_plan_root(plan, plan->nodes[until].from);
    if (plan->arrays[flag].head >= 0) return false;
    for (int32_t k = 0; k < p->n_loops; ++k)
        if (p->loops[k].until >= 0 && atn_plan_root(plan, plan->nodes[p->loops[k].until].from) == flag) return false;
    return true;
}

/* Steps alone, and one place where it may be left. */
static bool is_plain(const atn_planned *p, int32_t begin, int32_t *until) {
    const atn_plan_node *loop = &p->plan->nodes[begin];
    *until = -1;
    if (loop->most > INT32_MAX) return false;
    for (int32_t k = begin + 1; k < loop->match; ++k) {
        atn_node_kind kind = p->plan->nodes[k].kind;
        if (kind == ATN_NODE_UNTIL && *until < 0)
            *until = k;
        else if (kind != ATN_NODE_STEP && kind != ATN_NODE_GONE)
            return false;
    }
    return *until < 0 || is_own(p, *until);
}

static int32_t count_work(const atn_plan *plan, int32_t begin, int32_t end) {
    int32_t n = 0;
    for (int32_t k = begin; k < end; ++k)
        n += plan->nodes[k].kind == ATN_NODE_STEP || plan->nodes[k].kind == ATN_NODE_LOOP;
    return n;
}

static int32_t add_unit(atn_planned *p, int32_t begin, int32_t end, bool inner) {
    p->units[p->n_units] =
        (atn_plan_unit){.begin = begin, .end = end, .work = count_work(p->plan, begin, end), .inner = inner};
    return p->n_units++;
}

atn_status atn_capture_find(atn_planned *p) {
    const atn_plan *plan = p->plan;
    bool loops = false;
    for (int32_t k = 0; k < plan->n_nodes; ++k) {
        p->unit_of[k] = -1;
        loops = loops || plan->nodes[k].kind == ATN_NODE_LOOP;
    }
    loops = loops && atn_tape_can_while(p->device);
    int32_t depth = 0, begin = -1;
    for (int32_t k = 0, next; k <= plan->n_nodes; k = next) {
        atn_node_kind kind = k < plan->n_nodes ? plan->nodes[k].kind : ATN_NODE_FI;
        int32_t until;
        bool whole = loops && kind == ATN_NODE_LOOP && is_plain(p, k, &until);
        next = whole ? plan->nodes[k].match + 1 : k + 1;
        if (whole) {
            p->loops[p->n_loops++] = (atn_plan_loop){.begin = k, .until = until};
            p->unit_of[next - 1] = add_unit(p, k, next, depth > 0);
        }
        if (whole || kind == ATN_NODE_STEP || kind == ATN_NODE_GONE) {
            if (begin < 0) begin = k;
            continue;
        }
        if (begin >= 0) p->unit_of[begin] = add_unit(p, begin, k, depth > 0);
        begin = -1;
        depth += (kind == ATN_NODE_LOOP || kind == ATN_NODE_IF) - (kind == ATN_NODE_END || kind == ATN_NODE_FI);
    }
    return ATN_OK;
}

void atn_capture_forget(atn_planned *p) {
    for (int32_t k = 0; k < p->n_units; ++k) {
        atn_tape_free(p->units[k].tape);
        p->units[k].tape = NULL;
        p->units[k].ran = false;
    }
}

/* ---- steps over several queues ---- */

/* While a tape is made. */
typedef struct recording {
    const atn_planned *p;
    atn_queue *queue[ATN_PLAN_QUEUES]; /* those of the plan; the first is the device's own */
    bool own[ATN_PLAN_QUEUES];
    atn_event *begun; /* where other queues join */
    atn_event **done; /* per node, from the unit's first on */
    int32_t first;    /* that node */
    int32_t n;        /* nodes of the unit */
} recording;

/* Where a device has no more queues, several of the plan are one. */
static atn_status open_queues(recording *r) {
    atn_device *device = r->p->device;
    r->queue[0] = atn_device_queue(device);
    for (int32_t q = 1; q < r->p->plan->queues; ++q) {
        atn_status status = atn_queue_create(device, &r->queue[q]);
        if (status == ATN_ERR_MEMORY || status == ATN_ERR_LOST) return status;
        r->own[q] = status == ATN_OK;
        if (status != ATN_OK) r->queue[q] = r->queue[0];
    }
    if (r->p->plan->queues < 2) return ATN_OK;
    r->done = atn_zalloc(r->p->ctx, ((size_t)r->n + 1) * sizeof(atn_event *));
    atn_status status = r->done ? atn_event_create(device, &r->begun) : ATN_ERR_MEMORY;
    for (int32_t k = 0; k < r->n && status == ATN_OK; ++k)
        if (r->p->plan->nodes[r->first + k].kind == ATN_NODE_STEP) status = atn_event_create(device, &r->done[k]);
    return status;
}

static void close_queues(recording *r) {
    for (int32_t k = 0; r->done && k < r->n; ++k) atn_event_free(r->done[k]);
    atn_free(r->p->ctx, r->done);
    atn_event_free(r->begun);
    for (int32_t q = 1; q < ATN_PLAN_QUEUES; ++q)
        if (r->own[q]) atn_queue_free(r->queue[q]);
}

static atn_status keep_step(recording *r, int32_t k) {
    const atn_plan_node *node = &r->p->plan->nodes[k];
    atn_status status = ATN_OK;
    if (atn_runner_interprets(r->p->runner, node->step))
        return atn_fail(r->p->ctx, ATN_ERR_UNSUPPORTED, "interpreted steps cannot be recorded");
    for (int32_t q = 0; q < r->p->plan->queues && status == ATN_OK && r->done; ++q)
        if (node->after[q] >= 0) status = atn_queue_wait(r->queue[node->queue], r->done[node->after[q] - r->first]);
    if (status == ATN_OK) status = atn_runner_run_step(r->p->runner, node->step, r->queue[node->queue]);
    if (status == ATN_OK && r->done) status = atn_event_mark(r->queue[node->queue], r->done[k - r->first]);
    return status;
}

/* Other queues join at the begin, and are waited for at the end. */
static atn_status keep_row(recording *r, int32_t begin, int32_t end) {
    int32_t last[ATN_PLAN_QUEUES] = {-1, -1, -1, -1};
    atn_status status = ATN_OK;
    for (int32_t k = begin; k < end; ++k)
        if (r->p->plan->nodes[k].kind == ATN_NODE_STEP) last[r->p->plan->nodes[k].queue] = k;
    bool forks = last[1] >= 0 || last[2] >= 0 || last[3] >= 0;
    if (forks) status = atn_event_mark(r->queue[0], r->begun);
    for (int32_t q = 1; q < ATN_PLAN_QUEUES && status == ATN_OK; ++q)
        if (last[q] >= 0) status = atn_queue_wait(r->queue[q], r->begun);
    for (int32_t k = begin; k < end && status == ATN_OK; ++k)
        if (r->p->plan->nodes[k].kind == ATN_NODE_STEP) status = keep_step(r, k);
    for (int32_t q = 1; q < ATN_PLAN_QUEUES && status == ATN_OK; ++q)
        if (last[q] >= 0) status = atn_queue_wait(r->queue[0], r->done[last[q] - r->first]);
    return status;
}

/* ---- loops ---- */

static int32_t loop_at(const atn_planned *p, int32_t begin) {
    int32_t k = 0;
    while (p->loops[k].begin != begin) ++k;
    return k;
}

static atn_status keep_plainly(const recording *r, int32_t begin, int32_t end) {
    atn_status status = ATN_OK;
    for (int32_t k = begin; k < end && status == ATN_OK; ++k)
        if (r->p->plan->nodes[k].kind == ATN_NODE_STEP)
            status = atn_runner_run_step(r->p->runner, r->p->plan->nodes[k].step, r->queue[0]);
    return status;
}

/* The condition is computed in front of the loop, and again at the end of each round. `from_start`: rounds count from
 * 0. */
static atn_status keep_loop(const recording *r, int32_t begin, bool from_start) {
    const atn_planned *p = r->p;
    int32_t number = loop_at(p, begin), until = p->loops[number].until;
    const atn_plan_node *node = &p->plan->nodes[begin];
    int32_t body = until < 0 ? begin + 1 : until + 1;
    size_t at = (size_t)number * sizeof(int32_t[2]), rounds = at + sizeof(int32_t);
    atn_status status = from_start ? atn_buffer_fill(r->queue[0], p->state, rounds, 0, sizeof(int32_t)) : ATN_OK;
    if (status == ATN_OK) status = keep_plainly(r, begin + 1, until);
    if (status == ATN_OK) status = atn_tape_while(r->queue[0], p->state, at, (int32_t)node->most);
    if (status != ATN_OK) return status;
    status = keep_plainly(r, body, node->match);
    if (status == ATN_OK) status = keep_plainly(r, begin + 1, until);
    atn_status ended = atn_tape_while_end(r->queue[0]);
    if (status == ATN_OK) status = ended;
    if (status != ATN_OK || node->to < 0) return status;
    const atn_slot *slot = &p->slots[atn_plan_root(p->plan, node->to)];
    if (!slot->buffer) return ATN_OK; /* an unbound result that no step reads */
    return atn_buffer_copy(r->queue[0], slot->buffer, (size_t)slot->offset * sizeof(int32_t), p->state, rounds,
                           sizeof(int32_t));
}

/* ---- tapes ---- */

static atn_status keep_nodes(recording *r, const atn_plan_unit *u, bool from_start) {
    const atn_plan *plan = r->p->plan;
    atn_status status = ATN_OK;
    for (int32_t k = u->begin, next; k < u->end && status == ATN_OK; k = next) {
        next = k;
        if (plan->nodes[k].kind == ATN_NODE_LOOP) {
            next = plan->nodes[k].match + 1;
            status = keep_loop(r, k, from_start);
            continue;
        }
        while (next < u->end && plan->nodes[next].kind != ATN_NODE_LOOP) ++next;
        status = keep_row(r, k, next);
    }
    return status;
}

/* Nothing is run. Leaves no tape where there are none on this device, or where a step waits. */
static atn_status keep(const atn_planned *p, atn_plan_unit *u, bool from_start) {
    recording r = {.p = p, .first = u->begin, .n = u->end - u->begin};
    atn_status status = open_queues(&r);
    if (status == ATN_OK) status = atn_tape_begin(r.queue[0]);
    if (status == ATN_OK) {
        status = keep_nodes(&r, u, from_start);
        atn_status ended = atn_tape_end(r.queue[0], &u->tape);
        if (status == ATN_OK) status = ended;
    }
    close_queues(&r);
    if (status == ATN_OK) return ATN_OK;
    atn_tape_free(u->tape);
    u->tape = NULL;
    u->refused = true;
    return status == ATN_ERR_MEMORY || status == ATN_ERR_LOST ? status : ATN_OK;
}

/* How its loops ended is checked now if the host has to wait anyway, otherwise on request. */
static atn_status launch(atn_planned *p, const atn_plan_unit *u) {
    bool any = false;
    for (int32_t k = 0; k < p->n_loops; ++k)
        if (p->loops[k].begin >= u->begin && p->loops[k].begin < u->end) p->loops[k].unread = any = true;
    atn_status status = atn_tape_launch(atn_device_queue(p->device), u->tape);
    return status == ATN_OK && any && u->inner ? atn_planned_settle(p) : status;
}

atn_status atn_capture_run(atn_planned *p, atn_plan_unit *u, bool *done) {
    *done = false;
    if (u->work > 1 && u->ran && !u->tape && !u->refused) {
        atn_status status = keep(p, u, true);
        if (status != ATN_OK) return status;
    }
    u->ran = true;
    if (!u->tape) return ATN_OK;
    *done = true;
    return launch(p, u);
}

atn_status atn_capture_go_on(atn_planned *p, int32_t end, bool *done) {
    atn_plan_unit *u = p->unit_of[end] < 0 ? NULL : &p->units[p->unit_of[end]];
    *done = false;
    if (!u || u->refused || p->rounds[u->begin] < SEEN) return ATN_OK;
    atn_status status = u->tape ? ATN_OK : keep(p, u, false);
    if (status != ATN_OK || !u->tape) return status;
    int32_t rounds = (int32_t)p->rounds[u->begin];
    size_t at = (size_t)loop_at(p, u->begin) * sizeof(int32_t[2]) + sizeof rounds;
    *done = true;
    status = atn_buffer_put(NULL, p->state, at, &rounds, sizeof rounds);
    return status == ATN_OK ? launch(p, u) : status;
}
