/* Elements of objects: their addresses, loads and stores, boundary modes and guards. Their indices are given. */
#include "lower/element.h"

static const char *const AXES[] = {"column", "row", "plane"};

ir_ref lower_size(lowering *l, int32_t object, int32_t axis) {
    const atn_object *o = &l->g->objects[object];
    if (o->table) return ir_address(l->p, o->table_size[axis]);
    return ir_argument_ref(l->p, (ir_argument_kind)(IR_ARG_SIZE0 + axis), object, IR_ADDRESS);
}

ir_ref lower_element(lowering *l, int32_t object, lower_at where) {
    const atn_object *o = &l->g->objects[object];
    ir_ref at = where.axis[0], row = -1;
    for (int32_t axis = o->rank; axis-- > 1;)
        row = row < 0 ? where.axis[axis]
                      : ir_add(l->p, ir_multiply(l->p, row, lower_size(l, object, axis)), where.axis[axis]);
    if (row >= 0) {
        ir_ref pitch =
            o->table ? ir_address(l->p, o->table_size[0]) : ir_argument_ref(l->p, IR_ARG_PITCH, object, IR_ADDRESS);
        at = ir_add(l->p, ir_multiply(l->p, row, pitch), at);
    }
    return o->table ? at : ir_add(l->p, ir_argument_ref(l->p, IR_ARG_OFFSET, object, IR_ADDRESS), at);
}

void lower_name_indices(lowering *l, lower_at *at) {
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis)
        if (at->axis[axis] >= 0) at->axis[axis] = ir_declare(l->p, l->block, AXES[axis], at->axis[axis]);
}

ir_ref lower_load_apart(lowering *l, int32_t object, ir_ref at, int32_t part, int32_t width, int32_t apart) {
    return ir_make(l->p, (ir_node){.kind = IR_LOAD,
                                   .type = lower_type(l, l->g->objects[object].type),
                                   .width = width,
                                   .arg = {at, -1, -1},
                                   .id = object,
                                   .list = apart,
                                   .integer = part});
}

ir_ref lower_load(lowering *l, int32_t object, ir_ref at, int32_t part, int32_t width) {
    return lower_load_apart(l, object, at, part, width, 1);
}

/* An index mapped into [0, n) by clamp, wrap or mirror, in its own type. */
static ir_ref bring_inside(lowering *l, ir_ref index, ir_ref n, int32_t boundary) {
    atn_lowered *p = l->p;
    int32_t type = ir_type_of(p, index);
    n = ir_cast(p, type, n);
    ir_ref zero = ir_integer(p, type, 0);
    if (boundary == ATN_EDGE_CLAMP)
        return ir_operation(p, ATN_OP_MAX, type, ir_operation(p, ATN_OP_MIN, type, index, ir_add_integer(p, n, -1), -1),
                            zero, -1);
    if (boundary == ATN_EDGE_WRAP) return ir_operation(p, ATN_OP_FLOORMOD, type, index, n, -1);
    ir_ref twice = ir_multiply_integer(p, n, 2);
    ir_ref m = ir_declare(p, l->block, "mirrored", ir_operation(p, ATN_OP_FLOORMOD, type, index, twice, -1));
    ir_ref back = ir_subtract(p, ir_add_integer(p, twice, -1), m);
    return ir_operation(p, ATN_OP_SELECT, type, ir_less(p, m, n), m, back);
}

/* A computed index may be any number: it is checked as it is, before it becomes an address. */
static ir_ref within(lowering *l, ir_ref index, ir_ref n, bool computed) {
    if (computed) return ir_within(l->p, index, ir_cast(l->p, ir_type_of(l->p, index), n));
    ir_ref low = ir_operation(l->p, ATN_OP_LE, ATN_B, ir_address(l->p, 0), index, -1);
    return ir_and(l->p, low, ir_less(l->p, index, n));
}

lower_at lower_address(lowering *l, lower_at at) {
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis)
        if (at.axis[axis] >= 0) at.axis[axis] = ir_cast(l->p, IR_ADDRESS, at.axis[axis]);
    return at;
}

ir_ref lower_all_within(lowering *l, int32_t object, lower_at at, bool above, bool computed) {
    ir_ref good = -1;
    for (int32_t axis = 0; axis < l->g->objects[object].rank; ++axis) {
        ir_ref n = lower_size(l, object, axis);
        good = ir_and(l->p, good, above ? ir_less(l->p, at.axis[axis], n) : within(l, at.axis[axis], n, computed));
    }
    return good;
}

void lower_report(lowering *l, ir_ref good, int32_t id) {
    ir_block bad = IR_EMPTY;
    ir_append(
        l->p, &bad,
        (ir_statement){.kind = IR_REPORT, .id = id, .index = -1, .value = -1, .limit = -1, .body = -1, .other = -1});
    ir_if(l->p, l->block, ir_operation(l->p, ATN_OP_NOT, ATN_B, good, -1, -1), bad, IR_EMPTY);
    l->p->reports = true;
}

ir_ref lower_fetch(lowering *l, int32_t object, lower_at at, int32_t boundary, lower_guard guard, int32_t read,
                   int32_t part) {
    atn_lowered *p = l->p;
    if (boundary == ATN_EDGE_CLAMP || boundary == ATN_EDGE_WRAP || boundary == ATN_EDGE_MIRROR) {
        for (int32_t axis = 0; axis < l->g->objects[object].rank; ++axis)
            at.axis[axis] = bring_inside(l, at.axis[axis], lower_size(l, object, axis), boundary);
    } else if (boundary == ATN_EDGE_ZERO || guard != GUARD_NONE) {
        bool computed = read >= 0;
        lower_name_indices(l, &at);
        for (int32_t axis = 0; axis < l->g->objects[object].rank; ++axis)
            computed = computed || ir_type_of(p, at.axis[axis]) == ATN_INDEX;
        bool above = guard == GUARD_ABOVE && boundary == ATN_EDGE_NONE;
        ir_ref good = ir_declare(p, l->block, "inside", lower_all_within(l, object, at, above, computed));
        if (read >= 0) lower_report(l, good, read);
        int32_t type = lower_type(l, l->g->objects[object].type);
        bool whole = type != ATN_SP && type != ATN_DP && type != ATN_HP;
        ir_ref zero = whole ? ir_integer(p, type, 0) : ir_number(p, type, 0);
        return ir_operation(p, ATN_OP_SELECT, type, good,
                            lower_load(l, object, lower_element(l, object, lower_address(l, at)), part, 1), zero);
    }
    return lower_load(l, object, lower_element(l, object, lower_address(l, at)), part, 1);
}

ir_ref lower_inside(lowering *l, int32_t object, lower_at at) { return lower_all_within(l, object, at, true, false); }

ir_ref lower_from_zero(lowering *l, lower_at at) {
    ir_ref zero = ir_address(l->p, 0), high = -1;
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis)
        if (at.axis[axis] >= 0)
            high = ir_and(l->p, high, ir_operation(l->p, ATN_OP_LE, ATN_B, zero, at.axis[axis], -1));
    return high;
}

ir_ref lower_pick(lowering *l, int32_t object, lower_at at, bool from_zero) {
    int32_t type = lower_type(l, l->g->objects[object].type);
    ir_ref inside = lower_inside(l, object, at);
    if (!from_zero) inside = ir_and(l->p, inside, lower_from_zero(l, at));
    ir_ref zero =
        type == ATN_SP || type == ATN_DP || type == ATN_HP ? ir_number(l->p, type, 0) : ir_integer(l->p, type, 0);
    return ir_operation(l->p, ATN_OP_SELECT, type, inside, lower_load(l, object, lower_element(l, object, at), 0, 1),
                        zero);
}

ir_ref lower_load_wide(lowering *l, int32_t object, lower_at at, int32_t wide) {
    return lower_load(l, object, lower_element(l, object, at), 0, wide);
}

ir_ref lower_either(lowering *l, ir_ref condition, ir_ref yes, ir_ref no) {
    return ir_make(l->p, (ir_node){.kind = IR_OPERATION,
                                   .op = ATN_OP_SELECT,
                                   .type = ir_type_of(l->p, yes),
                                   .width = ir_width_of(l->p, yes),
                                   .arg = {condition, yes, no}});
}

bool lower_rows_differ(const lowering *l, const atn_value select[ATN_MAX_RANK]) {
    for (int32_t axis = 1; axis < ATN_MAX_RANK; ++axis)
        if (select[axis] >= 0 && l->g->values[select[axis]].dims >> l->vec_dim & 1) return true;
    return false;
}

int32_t lower_lanes_apart(const lowering *l, const atn_value select[ATN_MAX_RANK], atn_type type) {
    if (type == ATN_SP2 || type == ATN_DP2) return 0;
    atn_affine column = atn_affine_of(l->g, select[0]);
    if (!column.is_affine || column.modulus >= 0) return 0;
    if (lower_rows_differ(l, select)) return 0;
    bool pairs = l->host && (type == ATN_SP || type == ATN_DP);
    int64_t apart = column.coefficient[l->vec_dim];
    return apart == 1 || (apart == 2 && pairs) ? (int32_t)apart : 0;
}

void lower_store(lowering *l, const atn_write *w, lower_at at, ir_ref value, int32_t part) {
    bool vector = ir_width_of(l->p, value) > 1;
    ir_append(l->p, l->block,
              (ir_statement){.kind = w->combine == ATN_WRITE_ONCE ? IR_STORE : IR_STORE_ATOMIC,
                             .id = w->object,
                             .index = lower_element(l, w->object, at),
                             .value = value,
                             .limit = -1,
                             .step = vector && l->vec_dim >= 0
                                         ? lower_lanes_apart(l, w->select, l->g->objects[w->object].type)
                                         : 1,
                             .component = part,
                             .scatter = (int32_t)w->combine,
                             .body = -1,
                             .other = -1});
}

ir_ref lower_inside_points(lowering *l, uint32_t dims, place at) {
    ir_ref all = -1;
    for (int32_t d = 0; d < l->g->n_dims; ++d) {
        const dim_state *s = &l->dim[d];
        if (!s->bound || s->limit < 0 || !(dims >> d & 1)) continue;
        int64_t offset = lower_offset(l, d, at);
        all = ir_and(l->p, all, ir_less(l->p, ir_add_integer(l->p, s->base, offset), s->limit));
    }
    return all;
}

int32_t lower_moved_at_once(const lowering *l, const atn_value select[ATN_MAX_RANK], atn_type type, bool points,
                            int32_t *dim) {
    int32_t most = type == ATN_SP || type == ATN_INT32 ? 4 : type == ATN_DP || (points && type == ATN_HP) ? 2 : 1;
    atn_affine column = atn_affine_of(l->g, select[0]);
    if (l->host || (!points && l->v.q[0].pack == 1) || most == 1 || !column.is_affine || column.modulus >= 0) return 1;
    for (int32_t d = 0; d < l->g->n_dims; ++d) {
        const dim_state *s = &l->dim[d];
        if (!s->bound || s->pack == 1 || s->limit >= 0 || (l->cuts.points >> d & 1) != points) continue;
        if (column.coefficient[d] != 1 || (column.rest >= 0 && l->g->values[column.rest].dims >> d & 1)) return 1;
        for (int32_t axis = 1; axis < ATN_MAX_RANK; ++axis)
            if (select[axis] >= 0 && l->g->values[select[axis]].dims >> d & 1) return 1;
        *dim = d;
        return s->pack < most ? s->pack : most;
    }
    return 1;
}
