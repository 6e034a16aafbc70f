/* The outermost nest: groups over tiles of points, the sequence of steps within a group, and on the host the choice
 * between the interior of the points (vectors, registers, no tests) and their edge (plain code). */
#include "lower/lowering.h"

#include <string.h>

/* ---- what one step does ---- */

static ir_ref first_lane(lowering *l) {
    return l->lane_q >= 0 ? ir_operation(l->p, ATN_OP_EQ, ATN_B, l->lane_q, ir_address(l->p, 0), -1) : -1;
}

static void epilogue(lowering *l) {
    if (l->split >= 0 && l->scan_phase >= SCAN_ALL) { /* the last part knows the total */
        ir_ref parts =
            l->scan_phase == SCAN_ALL ? ir_address(l->p, l->cuts.splits) : ir_special(l->p, IR_GROUPS, IR_ADDRESS);
        ir_ref last = ir_operation(l->p, ATN_OP_EQ, ATN_B, l->split, ir_add_integer(l->p, parts, -1), -1);
        lower_writes(l, l->g->blocks[0].n_accs > 0 ? -1 : 0, 0, ir_and(l->p, last, first_lane(l)));
        return;
    }
    if (l->split >= 0) return; /* follows after the partial results are combined */
    if (l->g->blocks[0].n_accs > 0)
        lower_writes(l, -1, 0, first_lane(l));
    else if (l->write)
        l->write(l);
    else
        lower_writes(l, 0, l->cuts.points, first_lane(l));
}

static void whole_step(lowering *l, void *data) {
    (void)data;
    uint32_t before = l->done;
    if (l->g->blocks[0].n_accs > 0) {
        l->make_block(l, 0);
    } else {
        lower_children(l, 0);
    }
    epilogue(l);
    l->done = before;
}

void lower_group(lowering *l) {
    int32_t outermost, only = atn_graph_outermost(l->g, &outermost);
    lower_scene scene = lower_scene_of(l);
    if (outermost == 1 && only > 0 && lower_find_reduction(&scene, only).rests) {
        lower_block_rested(l, only, epilogue);
        return;
    }
    bool halo = l->g->n_blocks == 1 && only < 0;
    if (halo) lower_stage_open(l, 0);
    if (halo && l->staged.count > 0) {
        lower_stage_fill(l, -1);
        if (!l->host) ir_barrier(l->p, l->block);
    }
    lower_each_step(l, whole_step, NULL);
    if (halo && l->staged.count > 0 && !l->host) ir_barrier(l->p, l->block);
    l->staged.count = 0;
}

/* ---- the edge, on the host ---- */

/* The remaining points of one row, before (part 0) and after (part 1) the tile that has been computed. */
static void edge_part(lowering *l, ir_ref part, ir_ref covered, ir_ref tile, const ir_ref range[2], ir_ref *from,
                      ir_ref *to) {
    atn_lowered *p = l->p;
    ir_ref first = ir_operation(p, ATN_OP_EQ, ATN_B, part, ir_address(p, 0), -1);
    ir_ref before = ir_operation(p, ATN_OP_MIN, IR_ADDRESS, tile, range[1], -1);
    ir_ref behind = ir_operation(p, ATN_OP_MAX, IR_ADDRESS, ir_add_integer(p, tile, l->cuts.span[0]), range[0], -1);
    before = ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, covered, before, range[1]);
    behind = ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, covered, behind, range[1]);
    *from = ir_declare(p, l->block, "edge_from", ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, first, range[0], behind));
    *to = ir_declare(p, l->block, "edge_to", ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, first, before, range[1]));
}

void lower_edge(lowering *l, ir_ref done, const ir_ref tile[ATN_MAX_RANK]) {
    atn_lowered *p = l->p;
    atn_variant full = l->v;
    ir_block point = IR_EMPTY, parts = IR_EMPTY, rows[ATN_MAX_RANK],
             *outer = l->block; /* rows[d]: the body of a loop over d */
    ir_ref start[ATN_MAX_RANK], range[ATN_MAX_RANK][2], from, to, covered = done;
    int32_t variable[ATN_MAX_RANK], points = l->cuts.n_points, part = ir_new_variable(p, "part", IR_ADDRESS, 1, true);
    size_t mark = lower_mark(l);
    memcpy(start, l->start, sizeof start);
    ir_clear(range, sizeof range);
    ir_clear(variable, sizeof variable);
    for (int32_t d = 0; d < ATN_MAX_RANK; ++d) rows[d] = IR_EMPTY;
    for (int32_t d = 0; d < l->cuts.n_points; ++d) {
        ir_ref limit = ir_add(p, l->begin[d], l->extent[d]);
        range[d][0] = start[d];
        range[d][1] = ir_declare(
            p, outer, "edge_end",
            ir_operation(p, ATN_OP_MIN, IR_ADDRESS, limit, ir_add_integer(p, start[d], l->cuts.span[d]), -1));
        variable[d] = lower_counter(l, "edge", d);
    }
    for (int32_t d = 1; d < points; ++d) { /* is this row one of the tile's? */
        ir_ref row = ir_variable_ref(p, variable[d]), first = tile[d] >= 0 ? tile[d] : start[d];
        covered = ir_and(p, covered, ir_operation(p, ATN_OP_LE, ATN_B, first, row, -1));
        covered = ir_and(p, covered, ir_less(p, row, ir_add_integer(p, first, l->cuts.span[d])));
    }
    if (points > 1) covered = ir_declare(p, &rows[1], "covered", covered);
    l->block = &parts;
    edge_part(l, ir_variable_ref(p, part), covered, tile[0] >= 0 ? tile[0] : start[0], range[0], &from, &to);
    lower_enter(l, lower_cut_edge(&full));
    for (int32_t d = 0; d < l->cuts.n_points; ++d) l->start[d] = ir_variable_ref(p, variable[d]);
    l->vec_dim = -1;
    l->block = &point;
    lower_each_step(l, whole_step, NULL);
    l->block = outer;
    lower_forget(l, mark);
    ir_for(p, &parts, variable[0], from, to, 1, 1, point);
    ir_for(p, points > 1 ? &rows[1] : outer, part, ir_address(p, 0), ir_address(p, 2), 1, 1, parts);
    for (int32_t d = 1; d < points; ++d)
        ir_for(p, d + 1 < points ? &rows[d + 1] : outer, variable[d], range[d][0], range[d][1], 1, 1, rows[d]);
    memcpy(l->start, start, sizeof start);
    lower_enter(l, full);
}

/* Lowest or highest value of a form over a tile of the points and over all of the reduced ranges. */
static ir_ref bound_of(lowering *l, const atn_affine *form, bool high) {
    ir_ref sum = ir_address(l->p, form->constant);
    for (int32_t d = 0; d < l->g->n_dims; ++d) {
        int64_t c = form->coefficient[d];
        if (c == 0) continue;
        bool upper = (c > 0) == high;
        ir_ref at = -1;
        for (int32_t k = 0; k < l->cuts.n_points; ++k)
            if (l->cuts.point[k] == d)
                at = upper ? ir_add_integer(l->p, l->start[k], l->cuts.span[k] - 1) : l->start[k];
        if (at < 0 && upper) at = ir_add_integer(l->p, lower_end(l, l->g->dims[d].end), -1);
        if (at < 0) at = lower_end(l, l->g->dims[d].begin);
        sum = ir_add(l->p, sum, ir_multiply_integer(l->p, at, c));
    }
    if (form->rest >= 0)
        sum = ir_add(l->p, sum, ir_cast(l->p, IR_ADDRESS, lower_value(l, form->rest, PLACE_ORIGIN, 0)));
    return sum;
}

void lower_inner_range(lowering *l, int32_t d, ir_ref *low, ir_ref *high) {
    atn_lowered *p = l->p;
    ir_ref begin = l->begin[d], end = ir_add(p, begin, l->extent[d]);
    int64_t below = 0, above = 0; /* how far reads at constant offsets reach beyond a point */
    for (int32_t k = 0; k < l->g->n_reads; ++k) {
        const atn_read *r = &l->g->reads[k];
        for (int a = 0; a < ATN_MAX_RANK && r->boundary != ATN_EDGE_NONE && r->select[a] >= 0; ++a) {
            atn_affine form = atn_affine_of(l->g, r->select[a]);
            if (!form.is_affine || form.coefficient[l->cuts.point[d]] != 1) continue;
            if (-form.constant > below) below = -form.constant;
            if (form.constant > above) above = form.constant;
        }
    }
    *low = ir_add_integer(p, begin, below);
    *high = ir_add_integer(p, end, -above);
}

/* Can it be proven, tile by tile, that reads with a boundary mode stay inside? */
static bool provable(const lowering *l) {
    for (int32_t k = 0; k < l->g->n_reads; ++k) {
        const atn_read *r = &l->g->reads[k];
        if (r->boundary == ATN_EDGE_NONE) continue;
        if (atn_select_is_computed(l->g, r->select)) return false;
        for (int a = 0; a < ATN_MAX_RANK && r->select[a] >= 0; ++a) {
            atn_affine form = atn_affine_of(l->g, r->select[a]);
            if (form.modulus >= 0 || (form.rest >= 0 && !lower_ready(l, form.rest))) return false;
            for (int32_t d = 0; d < l->g->n_dims; ++d) {
                if (form.coefficient[d] == 0 || (l->cuts.points >> d & 1)) continue;
                if (l->g->values[l->g->dims[d].begin].dims || l->g->values[l->g->dims[d].end].dims) return false;
            }
        }
    }
    return true;
}

ir_ref lower_interior(lowering *l) {
    atn_lowered *p = l->p;
    ir_ref all = -1;
    for (int32_t d = 0; d < l->cuts.n_points; ++d) {
        ir_ref end = ir_add_integer(p, l->start[d], l->cuts.span[d]);
        all = ir_and(p, all, ir_operation(p, ATN_OP_LE, ATN_B, end, ir_add(p, l->begin[d], l->extent[d]), -1));
    }
    l->inside = provable(l);
    for (int32_t k = 0; k < l->g->n_reads && l->inside; ++k) {
        const atn_read *r = &l->g->reads[k];
        for (int a = 0; a < ATN_MAX_RANK && r->boundary != ATN_EDGE_NONE && r->select[a] >= 0; ++a) {
            atn_affine form = atn_affine_of(l->g, r->select[a]);
            ir_ref size = lower_size(l, r->object, a);
            all = ir_and(p, all, ir_operation(p, ATN_OP_LE, ATN_B, ir_address(p, 0), bound_of(l, &form, false), -1));
            all = ir_and(p, all, ir_less(p, bound_of(l, &form, true), size));
        }
    }
    return all;
}
