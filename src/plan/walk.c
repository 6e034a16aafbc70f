/* Running a plan: nodes one after the other, on its device or by the oracle; loops and branches are followed by the
 * host where they are not on a tape. */
#include "base/memory.h"
#include "device/reports.h"
#include "plan/planned.h"

#include <string.h>

/* ---- nodes ---- */

/* Steps, or the oracle's: the rest is the same for both. */
typedef struct walk {
    atn_planned *p;
    bool oracle;
    int64_t *bad;
} walk;

static atn_status look(const walk *w, int32_t array, int32_t *value) {
    const atn_slot *slot = &w->p->slots[atn_plan_root(w->p->plan, array)];
    if (w->oracle) {
        memcpy(value, slot->view.data, sizeof *value);
        return ATN_OK;
    }
    return atn_buffer_get(NULL, slot->buffer, (size_t)slot->offset * sizeof *value, value, sizeof *value);
}

static atn_status count_in(const walk *w, int32_t array, int64_t rounds) {
    const atn_slot *slot = &w->p->slots[atn_plan_root(w->p->plan, array)];
    int32_t value = (int32_t)rounds;
    if (w->oracle) {
        memcpy(slot->view.data, &value, sizeof value);
        return ATN_OK;
    }
    if (!slot->buffer) return ATN_OK; /* an unbound result that no step reads */
    return atn_buffer_put(NULL, slot->buffer, (size_t)slot->offset * sizeof value, &value, sizeof value);
}

static void move(const walk *w, const atn_plan_node *node) {
    const atn_view *from = &w->p->slots[node->from].view, *to = &w->p->slots[node->to].view;
    int64_t rows = atn_view_rows(from);
    for (int64_t y = 0; y < rows; ++y)
        memcpy(atn_view_at(to, 0, y), atn_view_at(from, 0, y), (size_t)from->size[0] * atn_type_bytes(from->type));
}

/* A loop ends here: `condition` is what it looked at last, 1 where it may take no more rounds. */
static atn_status leave(const walk *w, int32_t begin, int32_t condition, int32_t *next) {
    atn_planned *p = w->p;
    const atn_plan_node *loop = &p->plan->nodes[begin];
    atn_status status = atn_planned_settle(p); /* in the order in which they ended */
    bool open = false;
    for (int32_t k = begin; k < loop->match && !open; ++k)
        open = p->plan->nodes[k].kind == ATN_NODE_UNTIL && p->plan->nodes[k].match == begin;
    *next = loop->match + 1;
    atn_planned_note_end(p, loop, open, p->rounds[begin], condition);
    return status == ATN_OK && loop->to >= 0 ? count_in(w, loop->to, p->rounds[begin]) : status;
}

static atn_status end_round(const walk *w, int32_t at, int32_t *next) {
    atn_planned *p = w->p;
    int32_t begin = p->plan->nodes[at].match;
    bool done = false;
    if (++p->rounds[begin] >= p->plan->nodes[begin].most) return leave(w, begin, 1, next);
    atn_status status = w->oracle ? ATN_OK : atn_capture_go_on(p, at, &done);
    if (!done) *next = begin + 1;
    return status == ATN_OK ? atn_check_cancel(p->ctx) : status;
}

static atn_status follow(const walk *w, int32_t at, int32_t *next) {
    atn_planned *p = w->p;
    const atn_plan_node *node = &p->plan->nodes[at];
    int32_t value = 0;
    atn_status status = ATN_OK;
    *next = at + 1;
    switch (node->kind) {
    case ATN_NODE_STEP:
        return w->oracle ? atn_runner_eval_step(p->runner, node->step, w->bad)
                         : atn_runner_launch_step(p->runner, node->step);
    case ATN_NODE_MOVE:
        move(w, node);
        return ATN_OK;
    case ATN_NODE_LOOP:
        p->rounds[at] = 0;
        return node->most ? ATN_OK : leave(w, at, 0, next);
    case ATN_NODE_UNTIL:
        status = look(w, node->from, &value);
        return status != ATN_OK || value == 1 ? status : leave(w, node->match, value, next);
    case ATN_NODE_END:
        return end_round(w, at, next);
    case ATN_NODE_IF:
        status = look(w, node->from, &value);
        if (status == ATN_OK && value != 1) *next = node->match + 1;
        return status;
    case ATN_NODE_ELSE:
        *next = node->match + 1;
        return ATN_OK;
    case ATN_NODE_GONE:
    case ATN_NODE_FI:
        return ATN_OK;
    }
    return ATN_OK;
}

/* The unit that begins here as one launch, or this node alone. */
static atn_status go(const walk *w, int32_t at, int32_t *next) {
    atn_planned *p = w->p;
    int32_t unit = w->oracle || p->plan->nodes[at].kind == ATN_NODE_END ? -1 : p->unit_of[at];
    bool done = false;
    if (unit >= 0) {
        atn_status status = atn_capture_run(p, &p->units[unit], &done);
        *next = p->units[unit].end;
        if (status != ATN_OK || done) return status;
    }
    return follow(w, at, next);
}

static atn_status walk_nodes(atn_planned *p, bool oracle, int64_t *bad) {
    walk w = {.p = p, .oracle = oracle, .bad = bad};
    atn_status status = ATN_OK;
    *p->note = '\0';
    for (int32_t k = 0; k < p->n_loops; ++k) p->loops[k].unread = false;
    for (int32_t at = 0, next; at < p->plan->n_nodes && status == ATN_OK; at = next) status = go(&w, at, &next);
    if (status == ATN_OK && !oracle) status = atn_reports_look(p->device, atn_reports_sent(p->device));
    return status;
}

atn_status atn_planned_run(atn_planned *p) { return walk_nodes(p, false, NULL); }

atn_status atn_planned_eval(atn_planned *p, int64_t *bad_accesses) {
    const atn_plan *plan = p->plan;
    atn_status status = ATN_OK;
    *bad_accesses = 0;
    for (int32_t k = 0; k < plan->n_arrays && status == ATN_OK; ++k) {
        atn_view *view = &p->slots[k].view;
        if (!view->data) {
            size_t bytes = (size_t)atn_view_elements(view) * atn_type_bytes(view->type);
            p->memory[p->n_memory] = atn_zalloc(p->ctx, bytes + 16);
            if (!p->memory[p->n_memory]) return ATN_ERR_MEMORY;
            view->data = p->memory[p->n_memory++];
        }
        if (p->object[k] >= 0) atn_runner_bind(p->runner, p->object[k], &p->slots[k]);
    }
    status = atn_planned_ready(p);
    return status == ATN_OK ? walk_nodes(p, true, bad_accesses) : status;
}
