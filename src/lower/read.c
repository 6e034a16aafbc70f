/* Reads: how one becomes loads; gathers with their guards, vectors where elements are contiguous, several steps at
 * once. Selectors are values, and values contain reads: the other half is value.c. */
#include "lower/element.h"

lower_at lower_select(lowering *l, const atn_value select[ATN_MAX_RANK], place at, bool validated) {
    lower_at where;
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis)
        where.axis[axis] = select[axis] >= 0 ? lower_index(l, select[axis], at, validated) : -1;
    return where;
}

/* The value of a selector, before it is widened to an index. */
static atn_value narrow(const atn_graph *g, atn_value value) {
    while (value >= 0 && g->values[value].op == ATN_OP_CAST && g->values[value].type == ATN_INDEX)
        value = g->values[value].arg[0];
    return value;
}

/* The value of a computed selector, once for all lanes; what is read only to select is read where it is used. */
static void make_selector(lowering *l, atn_value select, place at) {
    if (select < 0) return;
    atn_affine form = atn_affine_of(l->g, select);
    atn_value value = narrow(l->g, form.is_affine ? form.rest : select);
    if (value < 0 || l->g->values[value].op == ATN_OP_READ || !(l->g->values[value].dims >> l->vec_dim & 1)) return;
    lower_value_named(l, value, at);
}

/* The positions of a gather along a row, as a vector of INT32, computed once; -1: it is not such a gather. */
static ir_ref places(lowering *l, const atn_read *read, place at) {
    const atn_object *object = &l->g->objects[read->object];
    atn_value value = narrow(l->g, read->select[0]);
    bool held = object->type == ATN_U8 || object->type == ATN_SP || object->type == ATN_DP || object->type == ATN_INT32;
    if (!l->host || !held || object->table || atn_affine_of(l->g, read->select[0]).is_affine) return -1;
    if (l->g->values[value].type != ATN_INT32 || !(l->g->values[value].dims >> l->vec_dim & 1)) return -1;
    if (lower_rows_differ(l, read->select)) return -1;
    return lower_value(l, value, at, 0);
}

static ir_ref gather(lowering *l, const atn_read *read, place at, ir_ref where, int32_t width) {
    lower_at first = {.axis = {ir_address(l->p, 0)}};
    for (int32_t axis = 1; axis < ATN_MAX_RANK; ++axis)
        first.axis[axis] = read->select[axis] >= 0 ? lower_index(l, read->select[axis], at, true) : -1;
    ir_ref all = lower_load(l, read->object, lower_element(l, read->object, first), 0, width);
    if (!l->p->failed) l->p->nodes[all].arg[1] = where;
    return all;
}

static bool is_written(const atn_graph *g, int32_t object) {
    for (int32_t k = 0; k < g->n_writes; ++k)
        if (g->writes[k].object == object) return true;
    return false;
}

/* An element of an array that is updated in place: zero for points that were clamped back inside. */
static ir_ref own_element(lowering *l, const atn_node *node, place at, ir_ref value) {
    ir_ref mine = lower_inside_points(l, node->dims, at);
    int32_t type = ir_type_of(l->p, value);
    if (mine < 0) return value;
    return ir_operation(l->p, ATN_OP_SELECT, type, mine, value,
                        type == ATN_SP || type == ATN_DP ? ir_number(l->p, type, 0) : ir_integer(l->p, type, 0));
}

ir_ref lower_widened_bytes(lowering *l, atn_value value, place at) {
    const atn_node *node = &l->g->values[value];
    if (node->op != ATN_OP_READ || l->needs.uses[value] != 1 || l->vec_dim < 0 || l->v.guard) return -1;
    const atn_read *read = &l->g->reads[node->index];
    at = lower_normal(l, node->dims, at);
    if (at.lane >= 0 || !(node->dims >> l->vec_dim & 1) || l->g->objects[read->object].type != ATN_U8) return -1;
    if (read->boundary != ATN_EDGE_NONE || lower_staged_for(l, node->index)) return -1;
    ir_ref where = places(l, read, at);
    if (where < 0) return -1;
    ir_ref all = gather(l, read, at, where, l->dim[l->vec_dim].vec);
    if (!l->p->failed) l->p->nodes[all].type = ATN_INT32;
    return all;
}

static int32_t read_elements(const lowering *l, const atn_read *read, int32_t *dim) {
    if (is_written(l->g, read->object) || l->g->objects[read->object].table) return 1;
    if (read->boundary != ATN_EDGE_NONE || atn_select_is_computed(l->g, read->select)) return 1;
    return lower_moved_at_once(l, read->select, l->g->objects[read->object].type, false, dim);
}

/* Where an item keeps what it reads, from a register on. */
static ir_ref kept_at(lowering *l, int32_t r, int32_t wide) {
    ir_ref at = ir_multiply_integer(l->p, l->item, wide);
    return ir_add_integer(l->p, at, (int64_t)((l->kept.first + r) / wide) * l->cuts.items * wide);
}

void lower_keep_reads(lowering *l) {
    ir_stage *stage = &l->p->stage[l->stage];
    int32_t d;
    for (int32_t k = 0; k < l->g->n_reads; ++k) {
        const atn_read *read = &l->g->reads[k];
        int32_t wide = read_elements(l, read, &d), n = 0;
        if (wide == 1 || l->g->values[read->select[0]].dims != 1u << d) continue;
        while (n < l->kept.count && l->kept.of[n].read != k) ++n;
        if (n == LOWER_MOST_KEPT || stage->n_tiles == (int32_t)(sizeof stage->tile / sizeof *stage->tile)) continue;
        if (n == l->kept.count) {
            l->kept.of[l->kept.count++].read = k;
            l->kept.of[n].wide = wide;
            l->kept.of[n].tile = stage->n_tiles;
            stage->tile[stage->n_tiles++] = (ir_tile){.name = l->g->objects[read->object].name,
                                                      .type = l->g->objects[read->object].type,
                                                      .elements = (int64_t)l->cuts.items * l->v.q[0].regs,
                                                      .dynamic = true};
        }
        for (int32_t r = 0; r < l->dim[d].regs; r += wide) {
            place at = PLACE_ORIGIN;
            at.r[d] = (int8_t)r;
            lower_at where = lower_select(l, read->select, at, true);
            ir_append(l->p, l->block,
                      (ir_statement){.kind = IR_FETCH,
                                     .id = l->kept.of[n].tile,
                                     .index = kept_at(l, r, wide),
                                     .value = lower_load_wide(l, read->object, where, wide),
                                     .limit = -1,
                                     .body = -1,
                                     .other = -1});
        }
    }
}

/* Elements that are moved at once, from where they are kept, or from the object itself. */
static ir_ref load_at_once(lowering *l, int32_t read, place first, int32_t dim, int32_t wide) {
    const atn_read *r = &l->g->reads[read];
    for (int32_t n = 0; n < l->kept.count; ++n)
        if (l->kept.of[n].read == read)
            return ir_make(l->p, (ir_node){.kind = IR_TILE,
                                           .type = lower_type(l, l->g->objects[r->object].type),
                                           .width = wide,
                                           .arg = {kept_at(l, first.r[dim], wide), -1, -1},
                                           .id = l->kept.of[n].tile});
    return lower_load_wide(l, r->object, lower_select(l, r->select, first, true), wide);
}

/* Such a read, performed once for all of its elements, each in a lane; -1: it is not such a read. */
static ir_ref read_at_once(lowering *l, const atn_node *node, place at) {
    const atn_read *read = &l->g->reads[node->index];
    int32_t d, wide = read_elements(l, read, &d);
    if (wide == 1 || l->pieces == PIECES_APART) return -1;
    if (l->pieces == PIECES_ALIGNED && (node->index >= 64 || l->g->values[read->select[0]].dims != 1u << d)) return -1;
    place first = at;
    first.r[d] = (int8_t)(at.r[d] / wide * wide);
    ir_ref all;
    if (!lower_memo_find(l, WIDE_READS - node->index, 0, first, &all)) {
        ir_ref loaded = load_at_once(l, node->index, first, d, wide);
        if (l->pieces == PIECES_ALIGNED && !l->p->failed) {
            l->p->nodes[loaded].list = IR_LOAD_ALIGNED;
            l->pieces_of |= (uint64_t)1 << node->index;
        }
        all = ir_declare(l->p, l->block, read->name, loaded);
        lower_memo_keep(l, WIDE_READS - node->index, 0, first, all);
    }
    return ir_lane(l->p, all, at.r[d] - first.r[d]);
}

ir_ref lower_pieces_aligned(lowering *l, uint64_t reads) {
    ir_ref all = -1;
    for (int32_t k = 0; k < l->g->n_reads && k < 64; ++k) {
        if (!(reads >> k & 1)) continue;
        const atn_read *read = &l->g->reads[k];
        ir_ref load = lower_load_wide(l, read->object, lower_select(l, read->select, PLACE_ORIGIN, true), 1);
        ir_ref pitch = l->g->objects[read->object].rank > 1
                           ? ir_argument_ref(l->p, IR_ARG_PITCH, read->object, IR_ADDRESS)
                           : ir_address(l->p, 0);
        ir_node node = {.kind = IR_CALL, .type = ATN_B, .width = 1, .arg = {load, pitch, -1}, .id = IR_CALL_ALIGNED};
        all = ir_and(l->p, all, ir_make(l->p, node));
    }
    return all;
}

ir_ref lower_read(lowering *l, const atn_node *node, place at, int32_t part) {
    const atn_read *read = &l->g->reads[node->index];
    const atn_object *object = &l->g->objects[read->object];
    bool wide = l->vec_dim >= 0 && (node->dims >> l->vec_dim & 1) && at.lane < 0;
    int32_t width = wide ? l->dim[l->vec_dim].vec : 1;
    bool computed = atn_select_is_computed(l->g, read->select);
    bool proven = read->boundary == ATN_EDGE_NONE ? !computed || !l->v.guard : l->inside && !computed;
    const staged *s = lower_staged_for(l, node->index);
    if (s) return lower_staged_read(l, s, node->index, at, width);
    int32_t apart = wide && proven ? lower_lanes_apart(l, read->select, object->type) : 0;
    if (wide && apart == 0) {
        ir_ref lanes[ATN_MOST_LANES], where = computed && proven ? places(l, read, at) : -1;
        if (where >= 0) return gather(l, read, at, where, width);
        for (int axis = 0; axis < ATN_MAX_RANK && computed; ++axis) make_selector(l, read->select[axis], at);
        for (int32_t k = 0; k < width; ++k) {
            place one = at;
            one.lane = (int8_t)k;
            lanes[k] = lower_read(l, node, one, part);
        }
        return ir_join(l->p, lanes, width);
    }
    ir_ref lane = width == 1 ? read_at_once(l, node, at) : -1;
    if (lane >= 0) return lane;
    lower_at where = lower_select(l, read->select, at, proven);
    if (proven) {
        ir_ref all =
            lower_load_apart(l, read->object, lower_element(l, read->object, where), part, width, wide ? apart : 1);
        return l->clamp && width == 1 && is_written(l->g, read->object) ? own_element(l, node, at, all) : all;
    }
    bool guard = read->boundary == ATN_EDGE_NONE;
    lower_guard how = guard ? GUARD_BOTH : GUARD_NONE;
    return lower_fetch(l, read->object, where, (int32_t)read->boundary, how, guard ? node->index : -1, part);
}
