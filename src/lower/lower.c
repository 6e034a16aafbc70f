/* The driver of lowering: what is laid where, then stage by stage: groups over the points (and splits of a range), and
 * where a range was split, the end that joins the partial results. */
#include "lower/lower.h"

#include "base/memory.h"
#include "lower/lowering.h"

#include <stdio.h>
#include <string.h>

enum { FINISH_ITEMS = 256 };

void lower_fail(lowering *l, atn_status status, const char *format, ...) {
    if (l->status != ATN_OK) return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    l->status = atn_fail(l->ctx, status, "%s", text);
}

void lower_enter(lowering *l, atn_variant variant) {
    l->v = variant;
    l->cuts = lower_cut(l->g, &variant);
}

/* ---- arguments ---- */

static void add_argument(atn_lowered *p, ir_argument_kind kind, int32_t id) {
    if (p->failed || atn_grow(p->arena.ctx, (void **)&p->arguments, &p->arguments_capacity, (size_t)p->n_arguments,
                              sizeof *p->arguments) != ATN_OK) {
        p->failed = true;
        return;
    }
    p->arguments[p->n_arguments++] = (ir_argument){kind, id};
}

static void lay_arguments(atn_lowered *p) {
    const atn_graph *g = p->graph;
    for (int32_t k = 0; k < g->n_objects; ++k) {
        if (g->objects[k].table) continue;
        add_argument(p, IR_ARG_DATA, k);
        add_argument(p, IR_ARG_OFFSET, k);
        if (g->objects[k].rank > 1) add_argument(p, IR_ARG_PITCH, k);
        add_argument(p, IR_ARG_SIZE0, k);
        if (g->objects[k].rank > 1) add_argument(p, IR_ARG_SIZE1, k);
    }
    for (int32_t k = 0; k < g->n_parameters; ++k) add_argument(p, IR_ARG_PARAM, k);
    if (p->scratch_slots > 0) add_argument(p, IR_ARG_SCRATCH, 0);
    if (p->reports) add_argument(p, IR_ARG_REPORT, 0);
}

/* ---- stages ---- */

static ir_stage *open_stage(lowering *l, const char *suffix, int32_t items) {
    l->stage = l->p->n_stages++;
    ir_stage *stage = &l->p->stage[l->stage];
    *stage = (ir_stage){.items = items, .body = -1, .span = {1, 1}};
    stage->name = atn_arena_printf(&l->p->arena, "attune%s", suffix);
    if (!stage->name) l->p->failed = true;
    lower_forget(l, 0);
    l->bound = 0;
    l->done = 0;
    l->staged.count = 0;
    for (int32_t d = 0; d < l->g->n_dims; ++d) l->dim[d] = (dim_state){.regs = 1, .pack = 1, .vec = 1, .limit = -1};
    return stage;
}

static void extents(lowering *l) {
    for (int32_t d = 0; d < l->cuts.n_points; ++d) {
        const atn_dim *dim = &l->g->dims[l->cuts.point[d]];
        l->begin[d] = ir_declare(l->p, l->block, d ? "begin1" : "begin0", lower_end(l, dim->begin));
        ir_ref end = lower_end(l, dim->end);
        l->extent[d] = ir_declare(l->p, l->block, d ? "extent1" : "extent0", ir_subtract(l->p, end, l->begin[d]));
    }
}

static ir_ref tiles_along(lowering *l, int32_t d, int32_t span) {
    ir_ref tiles = ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, ir_add_integer(l->p, l->extent[d], span - 1),
                                ir_address(l->p, span), -1);
    return ir_declare(l->p, l->block, d ? "tiles1" : "tiles0", span == 1 ? l->extent[d] : tiles);
}

/* start[] and split from the number of a group; returns how many groups there are. */
static void decode_group(lowering *l, ir_ref g, const ir_ref tiles[2], const int32_t span[2], bool split) {
    atn_lowered *p = l->p;
    ir_ref left = g;
    for (int32_t d = 0; d < l->cuts.n_points; ++d) {
        bool last = d == l->cuts.n_points - 1 && !split;
        ir_ref number = last ? left : ir_operation(p, ATN_OP_MOD, IR_ADDRESS, left, tiles[d], -1);
        l->start[d] = ir_declare(p, l->block, d ? "start1" : "start0",
                                 ir_add(p, l->begin[d], ir_multiply_integer(p, number, span[d])));
        if (!last) left = ir_declare(p, l->block, "left", ir_operation(p, ATN_OP_DIV, IR_ADDRESS, left, tiles[d], -1));
    }
    l->split = split ? left : -1;
}

/* Doing a point twice changes nothing: then a tile at the edge may be moved back inside. */
static bool repeatable(const atn_graph *g) {
    for (int32_t k = 0; k < g->n_objects; ++k)
        if (g->objects[k].read && g->objects[k].written) return false;
    for (int32_t k = 0; k < g->n_writes; ++k)
        if (g->writes[k].combine != ATN_WRITE_ONCE) return false;
    return true;
}

/* A tile that is not full, done by items: the same points, one value at a time, clamped. */
static void edge_by_items(lowering *l) {
    atn_variant full = l->v;
    lower_enter(l, lower_cut_edge_items(&full));
    lower_group(l);
    lower_enter(l, full);
}

/* Full tiles whose reads are inside, without tests; then, clamped, the others. */
static void item_group(lowering *l) {
    bool vectors = l->v.p[0].vec > 1 || l->v.p[1].vec > 1;
    /* Points computed one by one are worth two ways. Staged tiles make their tests while they are filled, and some
     * compilers for CPUs do badly with barriers on two ways. */
    bool alone = l->g->n_blocks == 1 && l->g->blocks[0].n_accs == 0 && l->v.stage == 0;
    l->clamp = true;
    if (l->cuts.n_points == 0 || (!vectors && !alone)) {
        lower_group(l);
        return;
    }
    ir_ref interior = lower_interior(l);
    ir_block inside = IR_EMPTY, edge = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->clamp = false;
    l->block = &inside;
    lower_group(l);
    lower_forget(l, mark);
    l->bound = 0;
    l->inside = false;
    l->clamp = true;
    l->block = &edge;
    if (vectors)
        edge_by_items(l);
    else
        lower_group(l);
    lower_forget(l, mark);
    l->block = outer;
    ir_if(l->p, outer, interior, inside, edge);
}

/* Vectors and registers where the tile is full and its reads are inside; a tile at the border is moved there if that
 * can be, and what is left is done plainly. */
static void host_group(lowering *l) {
    bool plain = true;
    for (int32_t d = 0; d < l->cuts.n_points; ++d) plain = plain && l->cuts.span[d] == 1;
    if (plain || l->cuts.n_points == 0) {
        lower_group(l);
        return;
    }
    ir_ref start[2] = {l->start[0], l->start[1]}, tile[2] = {-1, -1}, rest = -1;
    for (int32_t d = 0; d < l->cuts.n_points && repeatable(l->g); ++d) {
        ir_ref low, high; /* where all reads are inside */
        lower_inner_range(l, d, &low, &high);
        ir_ref back =
            ir_operation(l->p, ATN_OP_MIN, IR_ADDRESS, l->start[d], ir_add_integer(l->p, high, -l->cuts.span[d]), -1);
        l->start[d] = ir_declare(l->p, l->block, d ? "tile1" : "tile0",
                                 ir_operation(l->p, ATN_OP_MAX, IR_ADDRESS, back, low, -1));
        tile[d] = l->start[d];
        ir_ref moved = ir_operation(l->p, ATN_OP_NE, ATN_B, tile[d], start[d], -1);
        rest = rest < 0 ? moved : ir_operation(l->p, ATN_OP_OR, ATN_B, rest, moved, -1);
    }
    ir_ref interior = ir_declare(l->p, l->block, "interior", lower_interior(l));
    ir_block inside = IR_EMPTY, edge = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->block = &inside;
    lower_group(l);
    lower_forget(l, mark);
    l->bound = 0;
    l->inside = false;
    l->start[0] = start[0];
    l->start[1] = start[1];
    l->block = &edge;
    lower_edge(l, interior, tile);
    lower_forget(l, mark);
    l->block = outer;
    ir_if(l->p, outer, interior, inside, IR_EMPTY);
    ir_ref outside = ir_operation(l->p, ATN_OP_NOT, ATN_B, interior, -1, -1);
    ir_if(l->p, outer, rest < 0 ? outside : ir_operation(l->p, ATN_OP_OR, ATN_B, outside, rest, -1), edge, IR_EMPTY);
}

static int32_t split_block(const atn_graph *g) {
    for (int32_t k = g->blocks[0].n_accs > 0 ? 0 : 1; k < g->n_blocks; ++k)
        if (k == 0 || g->blocks[k].parent == 0) return k;
    return -1;
}

/* The end of a split: joined results, then all that depends on them, for the points at hand. */
static void finish_points(lowering *l) {
    ir_ref lane = l->lane_q >= 0 ? ir_operation(l->p, ATN_OP_EQ, ATN_B, l->lane_q, ir_address(l->p, 0), -1) : -1;
    uint32_t points = l->cuts.points;
    lower_finish(l, split_block(l->g));
    l->split = -1;
    lower_writes(l, l->g->blocks[0].n_accs > 0 ? -1 : 0, points, lane);
}

static void append_parallel(lowering *l, ir_block *into, int32_t variable, ir_ref limit, ir_block body) {
    ir_append(l->p, into,
              (ir_statement){.kind = IR_PARALLEL,
                             .id = variable,
                             .index = -1,
                             .value = -1,
                             .limit = limit,
                             .body = body.first,
                             .other = -1});
}

/* The first stage: all groups. */
static void main_stage(lowering *l, const char *suffix, const atn_target *target) {
    atn_lowered *p = l->p;
    bool split = l->cuts.splits > 1;
    ir_stage *stage = open_stage(l, suffix, target->host ? 1 : l->cuts.items);
    ir_block body = IR_EMPTY, inner = IR_EMPTY;
    const int32_t span[2] = {l->cuts.span[0], l->cuts.span[1]};
    ir_ref tiles[2] = {-1, -1}, total = ir_address(p, 1);
    stage->span[0] = span[0];
    stage->span[1] = span[1];
    stage->over_points = l->cuts.n_points > 0;
    stage->over_splits = split;
    l->block = &body;
    extents(l);
    for (int32_t d = 0; d < l->cuts.n_points; ++d) {
        tiles[d] = tiles_along(l, d, span[d]);
        total = ir_multiply(p, total, tiles[d]);
    }
    if (split) total = ir_multiply_integer(p, total, l->cuts.splits);
    total = ir_declare(p, l->block, "tiles", total);
    l->item = target->host ? -1 : ir_declare(p, l->block, "item", ir_special(p, IR_ITEM, IR_ADDRESS));
    bool alone = l->v.p[0].lanes * l->v.p[1].lanes == 1;
    l->lane_q =
        l->cuts.lanes_q > 1
            ? ir_declare(p, l->block, "lane_q",
                         alone ? l->item
                               : ir_operation(p, ATN_OP_MOD, IR_ADDRESS, l->item, ir_address(p, l->cuts.lanes_q), -1))
            : -1;
    int32_t group = ir_new_variable(p, "group", IR_ADDRESS, 1, true);
    l->block = &inner;
    decode_group(l, ir_variable_ref(p, group), tiles, span, split);
    l->inside = l->clamp = false;
    if (target->host)
        host_group(l);
    else
        item_group(l);
    if (split && !target->host && l->v.finish != ATN_FINISH_LAUNCH) {
        ir_block last = IR_EMPTY;
        p->scratch_counter = true;
        l->block = &last;
        finish_points(l);
        if (l->v.finish == ATN_FINISH_ATOMIC)
            for (int32_t n = 0; n < p->scratch_slots; ++n)
                ir_append(p, &last,
                          (ir_statement){.kind = IR_SCRATCH_STORE,
                                         .index = ir_address(p, n),
                                         .value = ir_integer(p, ATN_INDEX, 0),
                                         .limit = -1,
                                         .body = -1,
                                         .other = -1});
        ir_ref is_last = ir_make(p, (ir_node){.kind = IR_LAST, .type = ATN_B, .width = 1, .arg = {total, -1, -1}});
        l->block = &inner;
        ir_if(p, &inner, ir_declare(p, &inner, "last", is_last), last, IR_EMPTY);
    }
    if (target->host && l->v.collapse == 1 &&
        l->cuts.n_points == 2) { /* threads share rows of tiles, each goes along its own */
        int32_t row = ir_new_variable(p, "row", IR_ADDRESS, 1, true);
        ir_block along = IR_EMPTY;
        ir_ref first = ir_multiply(p, ir_variable_ref(p, row), tiles[0]);
        ir_for(p, &along, group, first, ir_add(p, first, tiles[0]), 1, 1, inner);
        append_parallel(l, &body, row, ir_multiply_integer(p, tiles[1], split ? l->cuts.splits : 1), along);
    } else if (target->host) {
        append_parallel(l, &body, group, total, inner);
    } else {
        ir_for(p, &body, group, ir_special(p, IR_GROUP, IR_ADDRESS), total, 0, 1, inner);
        if (!p->failed) p->statements[body.last].index = ir_special(p, IR_GROUPS, IR_ADDRESS);
    }
    if (!p->failed) p->stage[l->stage].body = body.first;
}

/* The second stage of a split, after all groups of the first: on the host in parallel over the points. */
static void end_stage(lowering *l, const atn_target *target) {
    atn_lowered *p = l->p;
    atn_variant kept = l->v;
    int32_t items = target->host ? 1 : target->max_items < FINISH_ITEMS ? target->max_items : FINISH_ITEMS;
    enum { TREE_BYTES = 16384 }; /* of local memory, which every device has */
    while (l->cuts.n_points == 0 && items > 32 && items * l->g->blocks[0].n_accs * 8 > TREE_BYTES) items /= 2;
    lower_enter(l, lower_cut_end(&kept, l->cuts.n_points > 0, items));
    ir_stage *stage = open_stage(l, "_end", items);
    ir_block body = IR_EMPTY, inner = IR_EMPTY;
    const int32_t span[2] = {l->cuts.span[0], l->cuts.span[1]};
    stage->span[0] = span[0];
    stage->span[1] = span[1];
    stage->over_points = l->cuts.n_points > 0;
    l->block = &body;
    extents(l);
    ir_ref tiles[2] = {-1, -1}, total = ir_address(p, 1);
    for (int32_t d = 0; d < l->cuts.n_points; ++d) {
        tiles[d] = tiles_along(l, d, span[d]);
        total = ir_multiply(p, total, tiles[d]);
    }
    total = ir_declare(p, l->block, "tiles", total);
    l->item = target->host ? -1 : ir_declare(p, l->block, "item", ir_special(p, IR_ITEM, IR_ADDRESS));
    l->lane_q = l->cuts.lanes_q > 1 ? l->item : -1;
    int32_t group = ir_new_variable(p, "group", IR_ADDRESS, 1, true);
    l->block = &inner;
    decode_group(l, ir_variable_ref(p, group), tiles, span, false);
    l->clamp = !l->host;
    lower_bind_points(l, ir_address(p, 0), ir_address(p, 0));
    finish_points(l);
    if (target->host) {
        append_parallel(l, &body, group, total, inner);
    } else {
        ir_for(p, &body, group, ir_special(p, IR_GROUP, IR_ADDRESS), total, 0, 1, inner);
        if (!p->failed) p->statements[body.last].index = ir_special(p, IR_GROUPS, IR_ADDRESS);
    }
    if (!p->failed) p->stage[l->stage].body = body.first;
    lower_enter(l, kept);
}

static atn_status check_local(const atn_ctx *ctx, const atn_lowered *p, const atn_target *target) {
    for (int32_t k = 0; k < p->n_stages; ++k) {
        int64_t bytes = 0;
        for (int32_t t = 0; t < p->stage[k].n_tiles; ++t)
            bytes += p->stage[k].tile[t].elements * (int64_t)atn_type_bytes(p->stage[k].tile[t].type);
        if (bytes > target->local_bytes)
            return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: the variant stages %lld bytes in a group, %lld are there",
                            p->graph->name, (long long)bytes, (long long)target->local_bytes);
    }
    return ATN_OK;
}

/* Does the variant take the steps of a block strictly one after the other? Nested blocks always are. */
static bool is_in_order(const atn_graph *g, int32_t block, const atn_variant *v) {
    bool outermost = block == 0 || (g->blocks[block].parent == 0 && g->blocks[0].n_accs == 0);
    return !outermost ||
           (v->q[0].vec == 1 && v->q[0].regs == 1 && v->q[0].lanes * v->q[1].lanes == 1 && atn_variant_splits(v) == 1);
}

/* The graph without accumulators that only ties between parts of a range need: in order, the first keeps its place.
 * They are the last of a block. NULL: no memory. */
static const atn_graph *without_idle(atn_lowered *p, const atn_graph *g, const atn_variant *v) {
    atn_graph *copy = atn_arena_alloc(&p->arena, sizeof *copy);
    atn_block *blocks = atn_arena_alloc(&p->arena, (size_t)g->n_blocks * sizeof *blocks);
    if (!copy || !blocks) return NULL;
    *copy = *g;
    memcpy(blocks, g->blocks, (size_t)g->n_blocks * sizeof *blocks);
    copy->blocks = blocks;
    for (int32_t k = 0; k < g->n_blocks; ++k)
        while (is_in_order(g, k, v) && blocks[k].n_accs > 0 && blocks[k].acc[blocks[k].n_accs - 1].hidden)
            --blocks[k].n_accs;
    return copy;
}

atn_status atn_lower(const atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant, const atn_target *target,
                     atn_lowered **out) {
    *out = NULL;
    const char *why;
    if (!atn_variant_fits(graph, variant, target, &why))
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: no such variant: %s", graph->name, why);
    atn_lowered *p = atn_zalloc(ctx, sizeof *p);
    if (!p) return ATN_ERR_MEMORY;
    p->arena.ctx = ctx;
    p->graph = graph;
    p->variant = *variant;
    lowering l = {.ctx = ctx,
                  .p = p,
                  .host = target->host,
                  .warp = target->warp,
                  .vec_dim = -1,
                  .split = -1,
                  .lane_q = -1,
                  .item = -1,
                  .start = {-1, -1}};
    for (size_t k = 0; k < MEMO_CHAINS; ++k) l.memo_chain[k] = -1;
    l.g = without_idle(p, graph, variant);
    if (l.g && lower_find_needs(&p->arena, l.g, &l.needs)) {
        lower_enter(&l, *variant);
        bool scan = atn_variant_splits(variant) > 1 && atn_graph_has_scan(graph);
        if (scan) l.scan_phase = SCAN_PARTS;
        main_stage(&l, "", target);
        if (scan) {
            l.scan_phase = SCAN_ALL;
            main_stage(&l, "_scan", target);
        } else if (atn_variant_splits(variant) > 1 && (target->host || variant->finish == ATN_FINISH_LAUNCH))
            end_stage(&l, target);
        lay_arguments(p);
    } else {
        p->failed = true;
    }
    atn_free(ctx, l.memos);
    atn_status status = p->failed ? ATN_ERR_MEMORY : l.status;
    if (status == ATN_OK) status = check_local(ctx, p, target);
    if (status == ATN_OK) status = lower_check_length(ctx, p, target);
    if (status != ATN_OK) {
        atn_lowered_free(p);
        return status;
    }
    *out = p;
    return ATN_OK;
}

atn_status atn_lower_print_passes(const atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant,
                                  const atn_target *target, atn_text *out) {
    atn_arena arena = {.ctx = ctx};
    lower_needs needs;
    lower_staging staging;
    lower_cuts cuts = lower_cut(graph, variant);
    bool alone = graph->n_blocks == 1 && graph->blocks[0].n_accs == 0; /* points without a reduction */
    int32_t block = alone ? 0 : split_block(graph);
    lower_scene scene = {.g = graph,
                         .v = variant,
                         .cuts = &cuts,
                         .needs = &needs,
                         .host = target->host,
                         .bound = alone ? 0 : cuts.points};
    bool found = lower_find_needs(&arena, graph, &needs);
    if (found) {
        atn_text_add(out, "# cut\n");
        lower_print_cuts(graph, &cuts, out);
        atn_text_add(out, "# needs\n");
        lower_print_needs(graph, &needs, out);
        lower_find_staged(&scene, block, &staging);
        atn_text_add(out, staging.count > 0 || staging.too_far >= 0 ? "# stage\n" : "# stage: nothing\n");
        lower_print_staged(graph, &staging, out);
    }
    atn_arena_free(&arena);
    return found ? ATN_OK : ATN_ERR_MEMORY;
}
