/* Running a graph: every point of P in order, the writes of each, then what follows the whole space. */
#include "eval/products.h"

#include "base/memory.h"

static num cell_number(const atn_eval_cell *cell) {
    return (num){.re = cell->value[0], .im = cell->value[1], .whole = cell->whole, .error = cell->bound};
}

static void set_cell(atn_eval_cell *cell, num a) {
    cell->value[0] = a.re;
    cell->value[1] = a.im;
    cell->whole = a.whole;
    cell->bound = a.error;
}

static double size_of(num a) { return isfinite(num_modulus(a)) ? num_modulus(a) : 0; }

/* What was there before, for writes that combine and for writes that may not happen. */
static void load_before(interp *in, atn_eval_cell *cell) {
    atn_view view = interp_view(in, cell->object);
    if (view.data) atn_element_load(view.type, atn_view_at(&view, cell->at[0], cell->at[1]), cell->value, &cell->whole);
    cell->scale = size_of(cell_number(cell));
}

/* Terms come in any order, and each sum is rounded to what is stored. */
static void combine(interp *in, const atn_write *write, atn_eval_cell *cell, num value) {
    static const atn_op ops[] = {[ATN_WRITE_ADD] = ATN_OP_ADD,
                                 [ATN_WRITE_MIN] = ATN_OP_MIN,
                                 [ATN_WRITE_MAX] = ATN_OP_MAX,
                                 [ATN_WRITE_OR] = ATN_OP_BITOR};
    atn_type type = in->graph->objects[write->object].type;
    num pair[3] = {cell_number(cell), value}, joined;
    if (write->combine == ATN_WRITE_ADD && !atn_type_is_integer(type)) {
        joined = (num){.re = pair[0].re + value.re, .im = pair[0].im + value.im, .error = pair[0].error + value.error};
        bool overflow = num_is_finite(pair[0]) && num_is_finite(value) && !num_is_finite(joined);
        cell->scale += size_of(value);
        ++cell->count;
        if (overflow || cell->scale > num_largest(type)) joined.error = INFINITY;
    } else {
        joined = num_operate(&in->rules, ops[write->combine], type, type, pair);
    }
    set_cell(cell, joined);
}

static void write_element(interp *in, const atn_write *write) {
    num enable = write->enable >= 0 ? interp_value(in, write->enable) : num_whole(1);
    num value = interp_value(in, write->value);
    int64_t at[2];
    bool lost = false, fresh = false;
    bool inside = interp_place(in, write->object, write->select, at, &lost);
    if (in->status != ATN_OK) return;
    if (lost && (enable.whole || num_is_uncertain(enable))) in->result->blurred[write->object] = true;
    if (!enable.whole && !num_is_uncertain(enable)) return;
    if (!inside) {
        if (lost || num_is_uncertain(enable)) return;
        ++in->result->bad_accesses;
        in->result->bad_write = (int32_t)(write - in->graph->writes);
        return;
    }
    atn_eval_cell *cell = cells_touch(in->result, write->object, at, &fresh);
    if (!cell) {
        in->status = ATN_ERR_MEMORY;
        return;
    }
    if (fresh) load_before(in, cell);
    atn_type type = in->graph->objects[write->object].type;
    num before = cell_number(cell);
    if (write->distinct && !fresh) /* the promise is broken: one of them is kept */
        set_cell(cell, num_either(type, value, before));
    else if (write->combine == ATN_WRITE_ONCE)
        set_cell(cell, value);
    else
        combine(in, write, cell, value);
    if (num_is_uncertain(enable)) {
        num after = cell_number(cell);
        set_cell(cell, enable.whole ? num_either(type, after, before) : num_either(type, before, after));
    }
}

typedef struct chain {
    const atn_write *write;
    int32_t block[ATN_MAX_DIMS]; /* blocks to walk, innermost first */
    int32_t depth;
    int32_t inside; /* the block that a step is being taken of; -1: none, the point itself */
    bool doubt;
} chain;

/* Walks the blocks around a write that lies inside an iterator. */
static void walk_chain(interp *in, void *user) {
    chain *c = user;
    if (c->inside >= 0) running_step(in, c->inside);
    if (c->depth == 0) {
        write_element(in, c->write);
        return;
    }
    int32_t outer = c->inside;
    c->inside = c->block[--c->depth];
    running_begin(in, c->inside);
    interp_walk(in, c->inside, &c->doubt, walk_chain, c);
    running_end(in, c->inside);
    ++c->depth;
    c->inside = outer;
}

static void writes_of_point(interp *in, bool sampled) {
    for (int32_t k = 0; k < in->graph->n_writes && in->status == ATN_OK; ++k) {
        chain c = {.write = &in->graph->writes[k], .inside = -1};
        if (c.write->block < 0 || (sampled && c.write->combine != ATN_WRITE_ONCE)) continue;
        for (int32_t block = c.write->block; block > 0; block = in->graph->blocks[block].parent)
            c.block[c.depth++] = block;
        walk_chain(in, &c);
        if (c.doubt) in->result->blurred[c.write->object] = true;
    }
}

static void visit_point(interp *in, void *user) {
    (void)user;
    if (in->scans[0])
        running_step(in, 0);
    else if (in->graph->blocks[0].n_accs)
        interp_step_folds(in, 0);
    writes_of_point(in, false);
}

static void run_all(interp *in) {
    bool doubt = false;
    if (in->graph->blocks[0].n_accs) interp_begin_folds(in, 0);
    running_begin(in, 0);
    interp_walk(in, 0, &doubt, visit_point, NULL);
    if (in->graph->blocks[0].n_accs) fold_end(in, 0);
    for (int32_t k = 0; k < in->graph->n_writes && in->status == ATN_OK; ++k)
        if (in->graph->writes[k].block < 0) write_element(in, &in->graph->writes[k]);
}

static void run_points(interp *in, const atn_eval_options *options) {
    const atn_block *p = &in->graph->blocks[0];
    for (int64_t k = 0; k < options->n_points && in->status == ATN_OK; ++k) {
        bool inside = true;
        for (int32_t d = 0; d < p->rank; ++d) {
            const atn_dim *dim = &in->graph->dims[p->dim[d]];
            int64_t at = options->points[k][d];
            inside &= at >= interp_value(in, dim->begin).whole && at < interp_value(in, dim->end).whole;
            interp_move(in, p->dim[d], at);
        }
        if (inside) writes_of_point(in, true);
        if (in->status == ATN_OK) in->status = atn_check_cancel(in->ctx);
    }
}

/* Sums made by combine="add" get their bound once all terms are known. */
static void finish_sums(interp *in) {
    for (int64_t k = 0; k < in->result->n_cells; ++k) {
        atn_eval_cell *cell = &in->result->cells[k];
        atn_type type = in->graph->objects[cell->object].type;
        if (cell->count == 0 || atn_type_is_integer(type) || isinf(cell->bound)) continue;
        double unit = fmax(in->rules.unit[type], num_rules_of(NULL).unit[type]);
        cell->bound += (double)(cell->count + 1) *
                       (unit * (cell->scale + cell->bound) * 2 + (cell->scale > 0 ? num_tiny(type) : 0));
    }
}

atn_status atn_eval_run(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame,
                        const atn_eval_options *options, atn_eval_result **out) {
    interp in;
    *out = NULL;
    atn_status status = interp_begin(&in, ctx, graph, frame, options);
    if (status == ATN_OK) status = products_begin(&in, options);
    in.result = status == ATN_OK ? cells_make(ctx, graph) : NULL;
    if (in.result) {
        if (options && options->points)
            run_points(&in, options);
        else
            run_all(&in);
        finish_sums(&in);
        status = in.status;
    } else {
        status = ATN_ERR_MEMORY;
    }
    if (status == ATN_OK)
        *out = in.result;
    else
        atn_eval_free(in.result);
    interp_end(&in);
    return status;
}

void atn_eval_store(const atn_graph *graph, const atn_eval_result *result, const atn_view *views) {
    for (int64_t k = 0; k < result->n_cells; ++k) {
        const atn_eval_cell *cell = &result->cells[k];
        atn_element_store(graph->objects[cell->object].type, cell->value, cell->whole,
                          atn_view_at(&views[cell->object], cell->at[0], cell->at[1]));
    }
}

atn_status atn_eval(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, int64_t *bad_accesses) {
    atn_eval_result *result = NULL;
    atn_status status = atn_eval_check(ctx, graph, frame);
    if (status == ATN_OK) status = atn_eval_run(ctx, graph, frame, NULL, &result);
    if (bad_accesses) *bad_accesses = result ? result->bad_accesses : 0;
    if (result) atn_eval_store(graph, result, frame->views);
    atn_eval_free(result);
    return status;
}
