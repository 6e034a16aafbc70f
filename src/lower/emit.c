/* Pass: the program. Takes a graph and how a variant cuts, stages and reduces it, and makes the stages that are
 * launched: groups over the points (and parts of a range), and where a range was split, the end that joins the partial
 * results. What is in a group is made by nest.c, loops.c, reduce.c and what they use. */
#include "lower/contract.h"
#include "lower/lowering.h"

#include "base/memory.h"

#include <string.h>

enum { FINISH_ITEMS = 256 };

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
        for (int32_t axis = 0; axis < g->objects[k].rank; ++axis)
            add_argument(p, (ir_argument_kind)(IR_ARG_SIZE0 + axis), k);
    }
    for (int32_t k = 0; k < g->n_parameters; ++k) add_argument(p, IR_ARG_PARAM, k);
    if (p->scratch_slots > 0) add_argument(p, IR_ARG_SCRATCH, 0);
    if (p->reports) add_argument(p, IR_ARG_REPORT, 0);
}

/* ---- stages ---- */

static ir_stage *open_stage(lowering *l, const char *suffix, int32_t items) {
    l->stage = l->p->n_stages++;
    ir_stage *stage = &l->p->stage[l->stage];
    *stage = (ir_stage){.items = items, .body = -1};
    memcpy(stage->span, l->cuts.span, sizeof stage->span);
    stage->over_points = l->cuts.n_points > 0;
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
        l->begin[d] = lower_declare(l, "begin", d, lower_end(l, dim->begin));
        ir_ref end = lower_end(l, dim->end);
        l->extent[d] = lower_declare(l, "extent", d, ir_subtract(l->p, end, l->begin[d]));
    }
}

static ir_ref tiles_along(lowering *l, int32_t d) {
    int32_t span = l->cuts.span[d];
    ir_ref tiles = ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, ir_add_integer(l->p, l->extent[d], span - 1),
                                ir_address(l->p, span), -1);
    return lower_declare(l, "tiles", d, span == 1 ? l->extent[d] : tiles);
}

/* Tiles along each dimension; returns how many there are in all, times `splits`. */
static ir_ref count_tiles(lowering *l, int32_t splits, ir_ref tiles[ATN_MAX_RANK]) {
    ir_ref total = ir_address(l->p, 1);
    for (int32_t d = 0; d < l->cuts.n_points; ++d) {
        tiles[d] = tiles_along(l, d);
        total = ir_multiply(l->p, total, tiles[d]);
    }
    if (splits > 1) total = ir_multiply_integer(l->p, total, splits);
    return ir_declare(l->p, l->block, "tiles", total);
}

/* start[] and split from the number of a group. */
static void decode_group(lowering *l, ir_ref g, const ir_ref tiles[ATN_MAX_RANK], bool split) {
    atn_lowered *p = l->p;
    ir_ref left = g;
    for (int32_t d = 0; d < l->cuts.n_points; ++d) {
        bool last = d == l->cuts.n_points - 1 && !split;
        ir_ref number = last ? left : ir_operation(p, ATN_OP_MOD, IR_ADDRESS, left, tiles[d], -1);
        l->start[d] =
            lower_declare(l, "start", d, ir_add(p, l->begin[d], ir_multiply_integer(p, number, l->cuts.span[d])));
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
    bool vectors = false;
    for (int d = 0; d < ATN_MAX_RANK; ++d) vectors = vectors || l->v.p[d].vec > 1;
    /* Points computed one by one are worth two ways. Staged tiles make their tests while they are filled, and some
     * compilers for CPUs do badly with barriers on two ways. */
    bool alone = l->g->n_blocks == 1 && l->g->blocks[0].n_accs == 0 && l->v.stage == 0;
    l->clamp = true;
    if (l->v.matrix && lower_is_contraction(l->g)) {
        lower_group_contraction(l);
        return;
    }
    if (l->v.matrix) {
        lower_group_matrix(l);
        return;
    }
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
    ir_ref start[ATN_MAX_RANK], tile[ATN_MAX_RANK], rest = -1;
    memcpy(start, l->start, sizeof start);
    for (int32_t d = 0; d < ATN_MAX_RANK; ++d) tile[d] = -1;
    for (int32_t d = 0; d < l->cuts.n_points && repeatable(l->g); ++d) {
        ir_ref low, high; /* where all reads are inside */
        lower_inner_range(l, d, &low, &high);
        ir_ref back =
            ir_operation(l->p, ATN_OP_MIN, IR_ADDRESS, l->start[d], ir_add_integer(l->p, high, -l->cuts.span[d]), -1);
        l->start[d] = lower_declare(l, "tile", d, ir_operation(l->p, ATN_OP_MAX, IR_ADDRESS, back, low, -1));
        tile[d] = l->start[d];
        ir_ref moved = ir_operation(l->p, ATN_OP_NE, ATN_B, tile[d], start[d], -1);
        rest = rest < 0 ? moved : ir_operation(l->p, ATN_OP_OR, ATN_B, rest, moved, -1);
    }
    ir_ref interior = ir_declare(l->p, l->block, "interior", lower_interior(l));
    ir_block inside = IR_EMPTY, edge = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->block = &inside;
    l->own = rest < 0 ? NULL : start;
    lower_group(l);
    l->own = NULL;
    lower_forget(l, mark);
    l->bound = 0;
    l->inside = false;
    memcpy(l->start, start, sizeof start);
    l->block = &edge;
    lower_edge(l, interior, tile);
    lower_forget(l, mark);
    l->block = outer;
    ir_if(l->p, outer, interior, inside, IR_EMPTY);
    ir_ref outside = ir_operation(l->p, ATN_OP_NOT, ATN_B, interior, -1, -1);
    ir_if(l->p, outer, rest < 0 ? outside : ir_operation(l->p, ATN_OP_OR, ATN_B, outside, rest, -1), edge, IR_EMPTY);
}

/* The end of a split: joined results, then all that depends on them, for the points at hand. */
static void finish_points(lowering *l) {
    ir_ref lane = l->lane_q >= 0 ? ir_operation(l->p, ATN_OP_EQ, ATN_B, l->lane_q, ir_address(l->p, 0), -1) : -1;
    uint32_t points = l->cuts.points;
    lower_finish(l, lower_split_block(l->g));
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
    lower_scene scene = lower_scene_of(l);
    lower_meeting meeting = lower_find_meeting(&scene);
    bool split = l->cuts.splits > 1;
    ir_stage *stage = open_stage(l, suffix, target->host ? 1 : l->cuts.items);
    ir_block body = IR_EMPTY, inner = IR_EMPTY;
    ir_ref tiles[ATN_MAX_RANK];
    stage->over_splits = split;
    l->block = &body;
    extents(l);
    ir_ref total = count_tiles(l, l->cuts.splits, tiles);
    l->item = target->host ? -1 : ir_declare(p, l->block, "item", ir_special(p, IR_ITEM, IR_ADDRESS));
    bool alone = l->cuts.items == l->cuts.lanes_q;
    l->lane_q =
        l->cuts.lanes_q > 1
            ? ir_declare(p, l->block, "lane_q",
                         alone ? l->item
                               : ir_operation(p, ATN_OP_MOD, IR_ADDRESS, l->item, ir_address(p, l->cuts.lanes_q), -1))
            : -1;
    int32_t group = ir_new_variable(p, "group", IR_ADDRESS, 1, true);
    l->block = &inner;
    decode_group(l, ir_variable_ref(p, group), tiles, split);
    l->inside = l->clamp = false;
    if (target->host)
        host_group(l);
    else
        item_group(l);
    if (meeting == LOWER_MEET_LAST || meeting == LOWER_MEET_ATOMIC) {
        ir_block last = IR_EMPTY;
        p->scratch_counter = true;
        l->block = &last;
        finish_points(l);
        if (meeting == LOWER_MEET_ATOMIC)
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
    if (meeting == LOWER_MEET_AWAIT) {
        ir_block end = IR_EMPTY;
        ir_ref is_end = ir_operation(p, ATN_OP_EQ, ATN_B, l->split, ir_address(p, l->cuts.splits - 1), -1);
        l->block = &end;
        ir_barrier(p, &end); /* local memory in which items were joined is used once more */
        finish_points(l);
        l->block = &inner;
        ir_if(p, &inner, is_end, end, IR_EMPTY);
    }
    if (target->host && l->v.collapse == 1 &&
        l->cuts.n_points > 1) { /* threads share rows of tiles, each goes along its own */
        int32_t row = ir_new_variable(p, "row", IR_ADDRESS, 1, true);
        ir_block along = IR_EMPTY;
        ir_ref first = ir_multiply(p, ir_variable_ref(p, row), tiles[0]);
        ir_for(p, &along, group, first, ir_add(p, first, tiles[0]), 1, 1, inner);
        ir_ref rows = tiles[1];
        for (int32_t d = 2; d < l->cuts.n_points; ++d) rows = ir_multiply(p, rows, tiles[d]);
        append_parallel(l, &body, row, ir_multiply_integer(p, rows, split ? l->cuts.splits : 1), along);
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
    enum { TREE_BYTES = 16384 };                                          /* of local memory, which every device has */
    if (l->cuts.n_points == 0 && !atn_block_commutes(l->g, 0)) items = 1; /* parts in their order */
    while (l->cuts.n_points == 0 && items > 32 && items * l->g->blocks[0].n_accs * 8 > TREE_BYTES) items /= 2;
    lower_enter(l, lower_cut_end(&kept, l->cuts.n_points > 0, items));
    open_stage(l, "_end", items);
    ir_block body = IR_EMPTY, inner = IR_EMPTY;
    l->block = &body;
    extents(l);
    ir_ref tiles[ATN_MAX_RANK], total = count_tiles(l, 1, tiles);
    l->item = target->host ? -1 : ir_declare(p, l->block, "item", ir_special(p, IR_ITEM, IR_ADDRESS));
    l->lane_q = l->cuts.lanes_q > 1 ? l->item : -1;
    int32_t group = ir_new_variable(p, "group", IR_ADDRESS, 1, true);
    l->block = &inner;
    decode_group(l, ir_variable_ref(p, group), tiles, false);
    l->clamp = !l->host;
    lower_bind_points(l, NULL);
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

/* A scan in one launch: a group for each tile, numbered as they begin. */
static void look_stage(lowering *l) {
    atn_lowered *p = l->p;
    ir_block body = IR_EMPTY;
    open_stage(l, "", l->cuts.items);
    l->block = &body;
    l->item = l->lane_q = ir_declare(p, l->block, "item", ir_special(p, IR_ITEM, IR_ADDRESS));
    ir_ref drawn = ir_declare(p, l->block, "drawn", ir_special(p, IR_DRAW, ATN_INDEX));
    ir_ref low = ir_operation(p, ATN_OP_BITAND, ATN_INDEX, drawn, ir_integer(p, ATN_INDEX, UINT32_MAX), -1);
    ir_ref high = ir_operation(p, ATN_OP_SHR, ATN_INDEX, drawn, ir_integer(p, ATN_INDEX, 32), -1);
    l->split = ir_declare(p, l->block, "tile", ir_cast(p, IR_ADDRESS, low));
    l->launch = ir_declare(p, l->block, "launch", ir_cast(p, ATN_INT32, high));
    l->scan_phase = SCAN_LOOK;
    l->inside = false;
    l->clamp = true;
    lower_group(l);
    if (!p->failed) p->stage[l->stage].body = body.first;
}

void lower_emit(lowering *l, const atn_target *target) {
    lower_scene scene = lower_scene_of(l);
    bool scan = l->cuts.splits > 1 && atn_graph_has_scan(l->g);
    if (scan && l->v.finish == ATN_FINISH_LOOK) {
        look_stage(l);
        lay_arguments(l->p);
        return;
    }
    if (scan) l->scan_phase = SCAN_PARTS;
    main_stage(l, "", target);
    if (scan) {
        l->scan_phase = SCAN_ALL;
        main_stage(l, "_scan", target);
    } else if (lower_find_meeting(&scene) == LOWER_MEET_LAUNCH) {
        end_stage(l, target);
    }
    lay_arguments(l->p);
}
