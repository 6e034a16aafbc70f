/* Accesses: how a read becomes a load and a write a store; boundary modes, guards of gathers, vectors where elements
 * lie side by side. */
#include "lower/lowering.h"

#include <string.h>

static const char *const AXES[] = {"column", "row", "plane"};

ir_ref lower_size(lowering *l, int32_t object, int32_t axis) {
    const atn_object *o = &l->g->objects[object];
    if (o->table) return ir_address(l->p, o->table_size[axis]);
    return ir_argument_ref(l->p, (ir_argument_kind)(IR_ARG_SIZE0 + axis), object, IR_ADDRESS);
}

/* offset + (plane * rows + row) * pitch + column, counted in elements. */
static ir_ref element(lowering *l, int32_t object, lower_at where) {
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

lower_at lower_select(lowering *l, const atn_value select[ATN_MAX_RANK], place at, bool validated) {
    lower_at where;
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis)
        where.axis[axis] = select[axis] >= 0 ? lower_index(l, select[axis], at, validated) : -1;
    return where;
}

void lower_name_indices(lowering *l, lower_at *at) {
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis)
        if (at->axis[axis] >= 0) at->axis[axis] = ir_declare(l->p, l->block, AXES[axis], at->axis[axis]);
}

static ir_ref load_apart(lowering *l, int32_t object, ir_ref at, int32_t part, int32_t width, int32_t apart) {
    return ir_make(l->p, (ir_node){.kind = IR_LOAD,
                                   .type = lower_type(l, l->g->objects[object].type),
                                   .width = width,
                                   .arg = {at, -1, -1},
                                   .id = object,
                                   .list = apart,
                                   .integer = part});
}

static ir_ref load(lowering *l, int32_t object, ir_ref at, int32_t part, int32_t width) {
    return load_apart(l, object, at, part, width, 1);
}

/* An index brought inside [0, n) by clamp, wrap or mirror, in its own type. */
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

/* What is computed may be any number: it is compared as it is, before it becomes an address. */
static ir_ref within(lowering *l, ir_ref index, ir_ref n, bool computed) {
    if (computed) return ir_within(l->p, index, ir_cast(l->p, ir_type_of(l->p, index), n));
    ir_ref low = ir_operation(l->p, ATN_OP_LE, ATN_B, ir_address(l->p, 0), index, -1);
    return ir_and(l->p, low, ir_less(l->p, index, n));
}

static lower_at address(lowering *l, lower_at at) {
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis)
        if (at.axis[axis] >= 0) at.axis[axis] = ir_cast(l->p, IR_ADDRESS, at.axis[axis]);
    return at;
}

/* Are all indices inside? `above`: only the upper end is in doubt. */
static ir_ref all_within(lowering *l, int32_t object, lower_at at, bool above, bool computed) {
    ir_ref good = -1;
    for (int32_t axis = 0; axis < l->g->objects[object].rank; ++axis) {
        ir_ref n = lower_size(l, object, axis);
        good = ir_and(l->p, good, above ? ir_less(l->p, at.axis[axis], n) : within(l, at.axis[axis], n, computed));
    }
    return good;
}

static void report(lowering *l, ir_ref good, int32_t id) {
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
        ir_ref good = ir_declare(p, l->block, "inside", all_within(l, object, at, above, computed));
        if (read >= 0) report(l, good, read);
        int32_t type = lower_type(l, l->g->objects[object].type);
        bool whole = type != ATN_SP && type != ATN_DP && type != ATN_HP;
        ir_ref zero = whole ? ir_integer(p, type, 0) : ir_number(p, type, 0);
        return ir_operation(p, ATN_OP_SELECT, type, good, load(l, object, element(l, object, address(l, at)), part, 1),
                            zero);
    }
    return load(l, object, element(l, object, address(l, at)), part, 1);
}

ir_ref lower_inside(lowering *l, int32_t object, lower_at at) { return all_within(l, object, at, true, false); }

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
    return ir_operation(l->p, ATN_OP_SELECT, type, inside, load(l, object, element(l, object, at), 0, 1), zero);
}

ir_ref lower_load_wide(lowering *l, int32_t object, lower_at at, int32_t wide) {
    return load(l, object, element(l, object, at), 0, wide);
}

ir_ref lower_either(lowering *l, ir_ref condition, ir_ref yes, ir_ref no) {
    return ir_make(l->p, (ir_node){.kind = IR_OPERATION,
                                   .op = ATN_OP_SELECT,
                                   .type = ir_type_of(l->p, yes),
                                   .width = ir_width_of(l->p, yes),
                                   .arg = {condition, yes, no}});
}

/* Do the lanes of the vector lie in different rows? */
static bool rows_differ(const lowering *l, const atn_value select[ATN_MAX_RANK]) {
    for (int32_t axis = 1; axis < ATN_MAX_RANK; ++axis)
        if (select[axis] >= 0 && l->g->values[select[axis]].dims >> l->vec_dim & 1) return true;
    return false;
}

/* How far the lanes of the vector lie from each other in memory: 1, side by side; 2, every other element, which a CPU
 * shuffles together; 0, any other way, lane by lane. */
static int32_t lanes_apart(const lowering *l, const atn_value select[ATN_MAX_RANK], atn_type type) {
    if (type == ATN_SP2 || type == ATN_DP2) return 0;
    atn_affine column = atn_affine_of(l->g, select[0]);
    if (!column.is_affine || column.modulus >= 0) return 0;
    if (rows_differ(l, select)) return 0;
    bool pairs = l->host && (type == ATN_SP || type == ATN_DP);
    int64_t apart = column.coefficient[l->vec_dim];
    return apart == 1 || (apart == 2 && pairs) ? (int32_t)apart : 0;
}

/* What a selector is made of, before it is widened to an index. */
static atn_value narrow(const atn_graph *g, atn_value value) {
    while (value >= 0 && g->values[value].op == ATN_OP_CAST && g->values[value].type == ATN_INDEX)
        value = g->values[value].arg[0];
    return value;
}

/* What a computed selector is made of, once for all lanes; what is read only to select is read where it is used. */
static void make_selector(lowering *l, atn_value select, place at) {
    if (select < 0) return;
    atn_affine form = atn_affine_of(l->g, select);
    atn_value value = narrow(l->g, form.is_affine ? form.rest : select);
    if (value < 0 || l->g->values[value].op == ATN_OP_READ || !(l->g->values[value].dims >> l->vec_dim & 1)) return;
    lower_value_named(l, value, at);
}

/* Where a gather along a row looks, as a vector of INT32, made once; -1: it is no such gather. */
static ir_ref places(lowering *l, const atn_read *read, place at) {
    const atn_object *object = &l->g->objects[read->object];
    atn_value value = narrow(l->g, read->select[0]);
    bool held = object->type == ATN_U8 || object->type == ATN_SP || object->type == ATN_DP || object->type == ATN_INT32;
    if (!l->host || !held || object->table || atn_affine_of(l->g, read->select[0]).is_affine) return -1;
    if (l->g->values[value].type != ATN_INT32 || !(l->g->values[value].dims >> l->vec_dim & 1)) return -1;
    if (rows_differ(l, read->select)) return -1;
    return lower_value(l, value, at, 0);
}

static ir_ref gather(lowering *l, const atn_read *read, place at, ir_ref where, int32_t width) {
    lower_at first = {.axis = {ir_address(l->p, 0)}};
    for (int32_t axis = 1; axis < ATN_MAX_RANK; ++axis)
        first.axis[axis] = read->select[axis] >= 0 ? lower_index(l, read->select[axis], at, true) : -1;
    ir_ref all = load(l, read->object, element(l, read->object, first), 0, width);
    if (!l->p->failed) l->p->nodes[all].arg[1] = where;
    return all;
}

/* Points that a clamped dimension put back inside must not write, nor read what others write. */
static ir_ref inside_points(lowering *l, uint32_t dims, place at) {
    ir_ref all = -1;
    for (int32_t d = 0; d < l->g->n_dims; ++d) {
        const dim_state *s = &l->dim[d];
        if (!s->bound || s->limit < 0 || !(dims >> d & 1)) continue;
        int64_t offset = lower_offset(l, d, at);
        all = ir_and(l->p, all, ir_less(l->p, ir_add_integer(l->p, s->base, offset), s->limit));
    }
    return all;
}

static bool is_written(const atn_graph *g, int32_t object) {
    for (int32_t k = 0; k < g->n_writes; ++k)
        if (g->writes[k].object == object) return true;
    return false;
}

/* An element of an array that is updated in place: zero for points that were put back inside. */
static ir_ref own_element(lowering *l, const atn_node *node, place at, ir_ref value) {
    ir_ref mine = inside_points(l, node->dims, at);
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

/* Steps of a scan's item that lie side by side (pack_q0): how many elements of such an access are moved at once, 1: one
 * by one, and along which dimension. */
static int32_t moved_at_once(const lowering *l, const atn_value select[ATN_MAX_RANK], atn_type type, int32_t *dim) {
    int32_t most = type == ATN_SP || type == ATN_INT32 ? 4 : type == ATN_DP ? 2 : 1; /* 16 bytes */
    atn_affine column = atn_affine_of(l->g, select[0]);
    if (l->host || l->v.q[0].pack == 1 || most == 1 || !column.is_affine || column.modulus >= 0) return 1;
    for (int32_t d = 0; d < l->g->n_dims; ++d) {
        const dim_state *s = &l->dim[d];
        if (!s->bound || s->pack == 1 || s->limit >= 0 || (l->cuts.points >> d & 1)) continue;
        if (column.coefficient[d] != 1 || (column.rest >= 0 && l->g->values[column.rest].dims >> d & 1)) return 1;
        for (int32_t axis = 1; axis < ATN_MAX_RANK; ++axis)
            if (select[axis] >= 0 && l->g->values[select[axis]].dims >> d & 1) return 1;
        *dim = d;
        return s->pack < most ? s->pack : most;
    }
    return 1;
}

static int32_t read_elements(const lowering *l, const atn_read *read, int32_t *dim) {
    if (is_written(l->g, read->object) || l->g->objects[read->object].table) return 1;
    if (read->boundary != ATN_EDGE_NONE || atn_select_is_computed(l->g, read->select)) return 1;
    return moved_at_once(l, read->select, l->g->objects[read->object].type, dim);
}

/* Where an item keeps what it reads from a register on. */
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

/* Such a read, made once for all of its elements, each a lane; -1: it is none. */
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
        ir_node node = {
            .kind = IR_CALL, .type = ATN_B, .width = 1, .arg = {load, pitch, -1}, .id = IR_CALL_ALIGNED};
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
    int32_t apart = wide && proven ? lanes_apart(l, read->select, object->type) : 0;
    if (wide && apart == 0) {
        ir_ref lanes[16], where = computed && proven ? places(l, read, at) : -1;
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
        ir_ref all = load_apart(l, read->object, element(l, read->object, where), part, width, wide ? apart : 1);
        return l->clamp && width == 1 && is_written(l->g, read->object) ? own_element(l, node, at, all) : all;
    }
    bool guard = read->boundary == ATN_EDGE_NONE;
    lower_guard how = guard ? GUARD_BOTH : GUARD_NONE;
    return lower_fetch(l, read->object, where, (int32_t)read->boundary, how, guard ? node->index : -1, part);
}

/* ---- writes ---- */

void lower_store(lowering *l, const atn_write *w, lower_at at, ir_ref value, int32_t part) {
    bool vector = ir_width_of(l->p, value) > 1;
    ir_append(
        l->p, l->block,
        (ir_statement){.kind = w->combine == ATN_WRITE_ONCE ? IR_STORE : IR_STORE_ATOMIC,
                       .id = w->object,
                       .index = element(l, w->object, at),
                       .value = value,
                       .limit = -1,
                       .step = vector && l->vec_dim >= 0 ? lanes_apart(l, w->select, l->g->objects[w->object].type) : 1,
                       .component = part,
                       .scatter = (int32_t)w->combine,
                       .body = -1,
                       .other = -1});
}

/* The element itself; where its place is computed, only if that is inside. */
static void store_parts(lowering *l, const atn_write *w, place at, const ir_ref values[2], int32_t parts) {
    bool proven = !l->v.guard || !atn_select_is_computed(l->g, w->select);
    lower_at where = lower_select(l, w->select, at, proven);
    if (proven) {
        for (int32_t part = 0; part < parts; ++part) lower_store(l, w, where, values[part], part);
        return;
    }
    lower_name_indices(l, &where);
    ir_ref good = ir_declare(l->p, l->block, "inside", all_within(l, w->object, where, false, true));
    report(l, good, l->g->n_reads + (int32_t)(w - l->g->writes));
    ir_block inner = IR_EMPTY, *outer = l->block;
    l->block = &inner;
    for (int32_t part = 0; part < parts; ++part) lower_store(l, w, address(l, where), values[part], part);
    l->block = outer;
    ir_if(l->p, outer, good, inner, IR_EMPTY);
}

static void write_values(lowering *l, const atn_write *w, place at, int32_t parts, int32_t width, ir_ref values[2]) {
    for (int32_t part = 0; part < parts; ++part) {
        values[part] = lower_value(l, w->value, at, part);
        if (width > 1) values[part] = ir_splat(l->p, values[part], width);
    }
}

static void write_at(lowering *l, const atn_write *w, uint32_t dims, place at, ir_ref enable, bool alone) {
    atn_type type = l->g->objects[w->object].type;
    int32_t parts = type == ATN_SP2 || type == ATN_DP2 ? 2 : 1;
    int32_t width = l->vec_dim >= 0 && (dims >> l->vec_dim & 1) ? l->dim[l->vec_dim].vec : 1;
    bool computed = l->v.guard && atn_select_is_computed(l->g, w->select);
    bool vector = width > 1 && w->combine == ATN_WRITE_ONCE && !computed && lanes_apart(l, w->select, type) &&
                  (w->enable < 0 || !(l->g->values[w->enable].dims >> l->vec_dim & 1));
    enable = ir_and(l->p, enable, inside_points(l, dims, at));
    if (width > 1 && !vector) lower_hoist(l, w->value); /* made as a vector all the same, stored lane by lane */
    bool late = alone && width == 1 &&
                l->needs.in_place[w->value]; /* where nothing is written, another point may write what is read */
    for (int32_t k = 0; k < (vector ? 1 : width); ++k) {
        at.lane = (int8_t)(vector || width == 1 ? -1 : k);
        ir_ref values[2], here = enable;
        if (!late) write_values(l, w, at, parts, vector ? width : 1, values);
        if (w->enable >= 0) here = ir_and(l->p, here, lower_value(l, w->enable, at, 0));
        ir_block inner = IR_EMPTY, *outer = l->block;
        size_t mark = lower_mark(l);
        if (here >= 0) l->block = &inner;
        if (late) write_values(l, w, at, parts, 1, values);
        store_parts(l, w, at, values, parts);
        if (here >= 0) {
            l->block = outer;
            lower_forget(l, mark);
            ir_if(l->p, outer, here, inner, IR_EMPTY);
        }
    }
}

/* Elements of a write that are moved at once, and along which dimension; 1: each by itself. */
static int32_t written_at_once(const lowering *l, const atn_write *w, int32_t *dim) {
    atn_type type = l->g->objects[w->object].type;
    if (w->combine != ATN_WRITE_ONCE || w->enable >= 0 || atn_select_is_computed(l->g, w->select)) return 1;
    if (l->needs.in_place[w->value] || l->g->values[w->value].type != type) return 1;
    return moved_at_once(l, w->select, type, dim);
}

static void write_at_once(lowering *l, const atn_write *w, place at, int32_t dim, int32_t wide) {
    ir_ref lanes[4];
    for (int32_t k = 0; k < wide; ++k) {
        place one = at;
        one.r[dim] = (int8_t)(at.r[dim] + k);
        lanes[k] = lower_value(l, w->value, one, 0);
    }
    if (!l->p->failed) lower_store(l, w, lower_select(l, w->select, at, true), ir_join(l->p, lanes, wide), 0);
}

/* What is read is what was there before any of the writes: in place, all of it is read before the first is made.
 * Returns whether there is any. */
static bool read_first(lowering *l, const atn_write *w) {
    atn_value used[2 + ATN_MAX_RANK] = {w->value, w->enable};
    bool any = false;
    memcpy(used + 2, w->select, sizeof w->select);
    for (size_t k = 0; k < sizeof used / sizeof *used; ++k) {
        if (used[k] < 0 || !l->needs.in_place[used[k]]) continue;
        lower_hoist(l, used[k]);
        any = true;
    }
    return any;
}

void lower_writes(lowering *l, int32_t block, uint32_t dims, ir_ref enable) {
    int32_t writes = 0;
    bool in_place = false, own = block >= 0 && atn_block_is_outermost(l->g, block); /* steps are of one item each */
    bool shared = l->lane_q >= 0 && block <= 0 && !own; /* items that have one result all read, one writes */
    for (int32_t k = 0; k < l->g->n_writes; ++k) writes += l->g->writes[k].block == block;
    for (int32_t k = 0; k < l->g->n_writes && writes > 1; ++k)
        if (l->g->writes[k].block == block && read_first(l, &l->g->writes[k])) in_place = true;
    if (in_place && shared) ir_barrier(l->p, l->block);
    for (int32_t k = 0; k < l->g->n_writes; ++k) {
        const atn_write *w = &l->g->writes[k];
        if (w->block != block) continue;
        place at = PLACE_ORIGIN;
        int32_t turn = enable < 0 ? lower_turned(l, w, dims) : -1, along = -1;
        int32_t wide = enable < 0 && turn < 0 ? written_at_once(l, w, &along) : 1;
        do {
            if (wide > 1 && at.r[along] % wide != 0) continue;
            if (wide > 1)
                write_at_once(l, w, at, along, wide);
            else if (turn < 0)
                write_at(l, w, dims, at, enable, writes == 1);
            else if (at.r[turn] == 0)
                lower_write_turned(l, w, at, turn);
        } while (lower_next_place(l, dims, &at));
    }
}
