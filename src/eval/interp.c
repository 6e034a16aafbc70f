/* Values: computed on demand, kept until a dimension that they depend on changes. */
#include "eval/interp.h"

#include "eval/products.h"

#include "base/memory.h"
#include "base/size.h"
#include "graph/affine.h"

atn_status interp_begin(interp *in, const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame,
                        const atn_eval_options *options) {
    *in = (interp){.ctx = ctx, .graph = graph, .frame = frame, .rules = num_rules_of(options), .clock = 1};
    size_t values = (size_t)graph->n_values + 1, blocks = (size_t)graph->n_blocks + 1;
    in->values = atn_alloc(ctx, values * sizeof *in->values); /* made before it is read: stamps say so */
    in->stamps = atn_zalloc(ctx, values * sizeof *in->stamps);
    in->results_at = atn_zalloc(ctx, blocks * sizeof *in->results_at);
    in->folds = atn_zalloc(ctx, blocks * sizeof *in->folds);
    in->stack = atn_alloc(ctx, values * sizeof *in->stack);
    in->running = atn_zalloc(ctx, blocks * sizeof *in->running);
    in->scans = atn_zalloc(ctx, blocks * sizeof *in->scans);
    if (!in->running || !in->scans) return ATN_ERR_MEMORY;
    for (int32_t k = 0; k < graph->n_blocks; ++k) in->scans[k] = atn_block_is_scan(graph, k);
    bool there = in->values && in->stack && in->stamps && in->results_at && in->folds;
    return there ? ATN_OK : ATN_ERR_MEMORY;
}

void interp_end(interp *in) {
    atn_free(in->ctx, in->values);
    atn_free(in->ctx, in->stamps);
    atn_free(in->ctx, in->results_at);
    atn_free(in->ctx, in->folds);
    atn_free(in->ctx, in->stack);
    atn_free(in->ctx, in->running);
    atn_free(in->ctx, in->scans);
    atn_free(in->ctx, in->products);
}

void interp_move(interp *in, int32_t dim, int64_t to) {
    in->dim[dim] = to;
    in->moved[dim] = ++in->clock;
}

atn_view interp_view(const interp *in, int32_t object) {
    const atn_object *o = &in->graph->objects[object];
    if (!o->table) return in->frame->views[object];
    return (atn_view){.data = (void *)(uintptr_t)o->table,
                      .type = o->type,
                      .rank = o->rank,
                      .size = {o->table_size[0], o->table_size[1], o->table_size[2]},
                      .pitch = o->table_size[0]};
}

static bool is_fresh(const interp *in, uint64_t stamp, uint32_t dims) {
    if (stamp == 0) return false;
    for (int32_t d = 0; dims >> d; ++d)
        if (dims >> d & 1 && in->moved[d] > stamp) return false;
    return true;
}

static bool is_made(const interp *in, atn_value value) {
    return is_fresh(in, in->stamps[value], in->graph->values[value].dims);
}

static int64_t floor_mod(int64_t a, int64_t b) {
    int64_t r = a % b;
    return r < 0 ? r + b : r;
}

/* An index brought inside [0, n), n > 0; false where it stays outside. */
static bool bring_inside(atn_boundary boundary, int64_t n, int64_t *at) {
    if (*at >= 0 && *at < n) return true;
    if (n <= 0) return false;
    switch (boundary) {
    case ATN_EDGE_CLAMP:
        *at = *at < 0 ? 0 : n - 1;
        return true;
    case ATN_EDGE_WRAP:
        *at = floor_mod(*at, n);
        return true;
    case ATN_EDGE_MIRROR: {
        int64_t m = floor_mod(*at, 2 * n);
        *at = m < n ? m : 2 * n - 1 - m;
        return true;
    }
    default:
        return false;
    }
}

/* The index along one axis, the slowest first, into column and row. */
static void put_index(const atn_view *view, int axis, int64_t index, int64_t at[2]) {
    if (axis == 0)
        at[0] = index;
    else
        at[1] = at[1] * view->size[axis] + index;
}

static num read_element(interp *in, int32_t number) {
    const atn_read *read = &in->graph->reads[number];
    atn_view view = interp_view(in, read->object);
    int64_t at[2] = {0, 0};
    bool inside = true, doubt = false;
    for (int axis = view.rank; axis-- > 0;) {
        num index = interp_value(in, read->select[axis]);
        doubt |= num_is_uncertain(index);
        inside &= bring_inside(read->boundary, view.size[axis], &index.whole);
        put_index(&view, axis, inside ? index.whole : 0, at);
    }
    num r = {0};
    if (in->status != ATN_OK) return r;
    if (!inside && read->boundary != ATN_EDGE_ZERO && in->result && !doubt) {
        ++in->result->bad_accesses;
        in->result->bad_read = number;
    }
    if (inside && !view.data) {
        in->status = atn_fail(in->ctx, ATN_ERR_INPUT, "%s: '%s' reads '%s', whose elements are not available",
                              in->graph->name, read->name, in->graph->objects[read->object].name);
        return r;
    }
    if (inside) {
        double element[2];
        atn_element_load(view.type, atn_view_at(&view, at[0], at[1]), element, &r.whole);
        if (!atn_type_is_integer(view.type)) r = num_element(&in->rules, view.type, element[0], element[1]);
    }
    return doubt ? num_uncertain(r) : r;
}

static num size_of(interp *in, const atn_node *node) {
    atn_view view = interp_view(in, node->index);
    if (view.size[0] < 0 && in->status == ATN_OK)
        in->status =
            atn_fail(in->ctx, ATN_ERR_INPUT, "%s: the size of '%s' must be given; bind an array, or state its size",
                     in->graph->name, in->graph->objects[node->index].name);
    return num_whole(node->axis < view.rank ? view.size[node->axis] : 1);
}

static num parameter(interp *in, const atn_node *node) {
    const double *value = in->frame->params[node->index];
    if (atn_type_is_integer(node->type)) return num_whole(atn_type_saturate(node->type, value[0]));
    return num_entered(&in->rules, node->type, value[0], value[1]);
}

static num result_of(interp *in, const atn_node *node) {
    int32_t block = node->index;
    if (block > 0 && !is_fresh(in, in->results_at[block], node->dims)) {
        bool doubt = false;
        interp_begin_folds(in, block);
        interp_walk(in, block, &doubt, NULL, NULL);
        fold_end(in, block);
        for (int32_t k = 0; doubt && k < in->graph->blocks[block].n_accs; ++k)
            in->folds[block][k].value = num_uncertain(in->folds[block][k].value);
        in->results_at[block] = ++in->clock;
    }
    return in->folds[block][node->axis].value;
}

static num make(interp *in, const atn_node *node) {
    switch (node->op) {
    case ATN_OP_CONST:
        if (atn_type_is_integer(node->type)) return num_whole(node->integer);
        return num_entered(&in->rules, node->type, node->number[0], node->number[1]);
    case ATN_OP_DIM:
        return num_whole(in->dim[node->index]);
    case ATN_OP_SIZE:
        return size_of(in, node);
    case ATN_OP_PARAM:
        return parameter(in, node);
    case ATN_OP_READ:
        return read_element(in, node->index);
    case ATN_OP_RESULT:
        return result_of(in, node);
    case ATN_OP_BEFORE:
    case ATN_OP_AFTER:
        return in->running[node->index][node->op == ATN_OP_AFTER][node->axis];
    case ATN_OP_ACC:
        return in->folds[node->index][node->axis].value;
    default:
        break;
    }
    num arg[3] = {{0}};
    for (int k = 0; k < 3 && node->arg[k] >= 0; ++k) arg[k] = in->values[node->arg[k]];
    return num_operate(&in->rules, node->op, node->type, in->graph->values[node->arg[0]].type, arg);
}

/* Arguments first, by a stack of our own: descriptions may nest deeper than the machine's. A value waits at most once
 * on it, so it has as many places as there are values. */
num interp_value(interp *in, atn_value value) {
    int32_t base = in->depth;
    in->stack[in->depth++] = value;
    while (in->depth > base && in->status == ATN_OK) {
        atn_value top = in->stack[in->depth - 1], open = -1;
        const atn_node *node = &in->graph->values[top];
        if (is_made(in, top)) {
            --in->depth;
            continue;
        }
        for (int k = 0; k < 3 && open < 0 && node->arg[k] >= 0; ++k)
            if (!is_made(in, node->arg[k])) open = node->arg[k];
        if (open >= 0) {
            in->stack[in->depth++] = open;
            continue;
        }
        num made = make(in, node);
        if (in->products && top == in->products->form.form) made.error += in->products->error(in);
        in->values[top] = made;
        in->stamps[top] = ++in->clock;
        --in->depth;
    }
    in->depth = base;
    return in->status == ATN_OK ? in->values[value] : (num){0};
}

void interp_begin_folds(interp *in, int32_t block) {
    const atn_block *b = &in->graph->blocks[block];
    num init[ATN_MAX_ACCS];
    for (int32_t k = 0; k < b->n_accs; ++k) init[k] = interp_value(in, b->acc[k].init);
    fold_begin(in, block, init);
}

void interp_step_folds(interp *in, int32_t block) {
    const atn_block *b = &in->graph->blocks[block];
    num terms[ATN_MAX_ACCS];
    for (int32_t k = 0; k < b->n_accs; ++k)
        terms[k] = interp_value(in, interp_is_updated(&b->acc[k]) ? b->acc[k].update : b->acc[k].term);
    for (int32_t k = 0; k < b->n_accs && in->products && in->products->form.block == block; ++k)
        terms[k].error += in->products->term_error(in, k, terms[k]);
    fold_step(in, block, terms);
}

bool interp_place(interp *in, int32_t object, const atn_value select[ATN_MAX_RANK], int64_t at[2], bool *doubt) {
    atn_view view = interp_view(in, object);
    bool inside = true;
    at[0] = at[1] = 0;
    for (int axis = view.rank; axis-- > 0;) {
        num index = interp_value(in, select[axis]);
        *doubt |= num_is_uncertain(index);
        inside &= index.whole >= 0 && index.whole < view.size[axis];
        put_index(&view, axis, inside ? index.whole : 0, at);
    }
    return inside;
}

/* An end of a range: what is computed may be any number, and is cut to where indices lie. */
static int64_t cut(int64_t end) {
    return end > ATN_FARTHEST ? ATN_FARTHEST : end < -ATN_FARTHEST ? -ATN_FARTHEST : end;
}

typedef struct walk {
    const atn_block *b;
    int32_t block;
    int64_t begin[ATN_MAX_RANK], end[ATN_MAX_RANK];
    interp_visit visit;
    void *user;
} walk;

/* The dimensions from `axis` down to the fastest; -1: none is left. */
static void walk_axis(interp *in, const walk *w, int32_t axis) {
    if (axis < 0) {
        if (w->visit)
            w->visit(in, w->user);
        else
            interp_step_folds(in, w->block);
        return;
    }
    for (int64_t i = w->begin[axis]; i < w->end[axis] && in->status == ATN_OK; ++i) {
        interp_move(in, w->b->dim[axis], i);
        walk_axis(in, w, axis - 1);
        if (axis == 0 && (i & 1023) == 0 && in->status == ATN_OK) in->status = atn_check_cancel(in->ctx);
    }
}

void interp_walk(interp *in, int32_t block, bool *doubt, interp_visit visit, void *user) {
    walk w = {.b = &in->graph->blocks[block], .block = block, .visit = visit, .user = user};
    for (int32_t d = 0; d < w.b->rank; ++d) {
        const atn_dim *dim = &in->graph->dims[w.b->dim[d]];
        num first = interp_value(in, dim->begin), last = interp_value(in, dim->end);
        *doubt |= num_is_uncertain(first) || num_is_uncertain(last);
        w.begin[d] = cut(first.whole);
        w.end[d] = cut(last.whole);
    }
    if (in->status == ATN_OK) walk_axis(in, &w, w.b->rank - 1);
}
