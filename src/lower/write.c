/* Writes: how a value becomes stores; as vectors where elements are contiguous, with tests where positions are
 * computed. */
#include "lower/element.h"

#include <string.h>

/* The element itself; if its position is computed, only if that is inside. */
static void store_parts(lowering *l, const atn_write *w, place at, const ir_ref values[2], int32_t parts) {
    bool proven = !l->v.guard || !atn_select_is_computed(l->g, w->select);
    lower_at where = lower_select(l, w->select, at, proven);
    if (proven) {
        for (int32_t part = 0; part < parts; ++part) lower_store(l, w, where, values[part], part);
        return;
    }
    lower_name_indices(l, &where);
    ir_ref good = ir_declare(l->p, l->block, "inside", lower_all_within(l, w->object, where, false, true));
    lower_report(l, good, l->g->n_reads + (int32_t)(w - l->g->writes));
    ir_block inner = IR_EMPTY, *outer = l->block;
    l->block = &inner;
    for (int32_t part = 0; part < parts; ++part) lower_store(l, w, lower_address(l, where), values[part], part);
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
    bool vector = width > 1 && w->combine == ATN_WRITE_ONCE && !computed && lower_lanes_apart(l, w->select, type) &&
                  (w->enable < 0 || !(l->g->values[w->enable].dims >> l->vec_dim & 1));
    enable = ir_and(l->p, enable, lower_inside_points(l, dims, at));
    if (width > 1 && !vector) lower_hoist(l, w->value); /* nevertheless computed as a vector, stored lane by lane */
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

/* Elements of a write that are moved at once, and along which dimension; 1: each separately. */
static int32_t written_at_once(const lowering *l, const atn_write *w, int32_t *dim) {
    atn_type type = l->g->objects[w->object].type;
    if (w->combine != ATN_WRITE_ONCE || w->enable >= 0 || atn_select_is_computed(l->g, w->select)) return 1;
    if (l->needs.in_place[w->value] || l->g->values[w->value].type != type) return 1;
    return lower_moved_at_once(l, w->select, type, l->contract != NULL, dim);
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

/* Reads see the values before any of the writes: in place, everything is read before the first write. Returns whether
 * there is any such read. */
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
    bool in_place = false, own = block >= 0 && atn_block_is_outermost(l->g, block); /* each step belongs to one item */
    bool shared = l->lane_q >= 0 && block <= 0 && !own; /* items that share one result all read, one writes */
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
