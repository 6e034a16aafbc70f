/* Reading staged tiles: the position of a place in one. */
#include "lower/lowering.h"

int64_t lower_staged_length(const lowering *l, int32_t dim) {
    lower_scene scene = lower_scene_of(l);
    return lower_tile_length(&scene, dim);
}

const staged *lower_staged_for(const lowering *l, int32_t read) {
    for (int32_t n = 0; n < l->staged.count; ++n)
        for (int32_t k = 0; k < l->staged.of[n].n_reads; ++k)
            if (l->staged.of[n].reads[k] == read) return &l->staged.of[n];
    return NULL;
}

/* Position of a place along one axis of the tile. */
static ir_ref tile_coordinate(lowering *l, const staged *s, const atn_affine *form, int axis, place at) {
    ir_ref sum = ir_address(l->p, form->constant - s->linear[axis].constant);
    for (int32_t d = 0; d < l->g->n_dims; ++d) {
        int64_t c = form->coefficient[d];
        if (c == 0) continue;
        const dim_state *state = &l->dim[d];
        int64_t offset = lower_offset(l, d, at);
        if (d == l->vec_dim && at.lane > 0) offset += at.lane;
        if (c < 0) offset -= lower_staged_length(l, d) - 1;
        sum = ir_add(l->p, sum, ir_multiply_integer(l->p, ir_add_integer(l->p, state->local, offset), c));
    }
    return sum;
}

ir_ref lower_tile_element(lowering *l, const staged *s, lower_at e) {
    ir_ref fast = e.axis[s->swapped ? 1 : 0], slow = e.axis[s->swapped ? 0 : 1];
    if (s->extent[2] > 1) /* lines of all planes */
        slow = ir_add(l->p, ir_multiply_integer(l->p, e.axis[2], s->extent[s->swapped ? 0 : 1]), slow);
    ir_ref at = ir_add(l->p, ir_multiply_integer(l->p, slow, s->pitch), fast);
    return s->half >= 0 ? ir_add(l->p, s->half, at) : at;
}

/* The panel of a step begins at its first point times the lines; within it, a line is one panel wide. */
static ir_ref panel_element(lowering *l, const staged *s, const atn_affine *form, ir_ref slow, place at) {
    for (int32_t d = 0; d < l->g->n_dims; ++d) {
        if (form->coefficient[d] == 0) continue;
        const dim_state *state = &l->dim[d];
        int64_t offset = lower_offset(l, d, at);
        if (d == l->vec_dim && at.lane > 0) offset += at.lane;
        ir_ref start = ir_multiply_integer(l->p, state->local, s->extent[s->swapped ? 0 : 1]);
        return ir_add(l->p, ir_add_integer(l->p, start, offset), ir_multiply_integer(l->p, slow, s->panel));
    }
    return slow;
}

/* `width` elements of the tile from a place on. */
static ir_ref read_beside(lowering *l, const staged *s, const atn_affine form[ATN_MAX_RANK], place at, int32_t width) {
    lower_at e;
    for (int a = 0; a < ATN_MAX_RANK; ++a) e.axis[a] = tile_coordinate(l, s, &form[a], a, at);
    ir_ref element = s->panel ? panel_element(l, s, &form[s->swapped ? 1 : 0], e.axis[s->swapped ? 0 : 1], at)
                              : lower_tile_element(l, s, e);
    return ir_make(l->p, (ir_node){.kind = IR_TILE,
                                   .type = lower_type(l, l->g->objects[s->object].type),
                                   .width = width,
                                   .arg = {element, -1, -1},
                                   .id = s->tile});
}

/* Is an index along a dimension contiguous in the tile, and does it influence nothing else? */
static bool is_beside(const staged *s, const atn_affine form[ATN_MAX_RANK], int32_t d) {
    for (int a = 0; a < ATN_MAX_RANK; ++a)
        if (form[a].coefficient[d] != (a == (s->swapped ? 1 : 0))) return false;
    return true;
}

/* On the host, `wide` registers that are contiguous in the tile are one load; each is a lane of it, from which aarch64
 * can multiply directly. -1: not here. */
static ir_ref read_as_lane(lowering *l, const staged *s, const atn_affine form[ATN_MAX_RANK], int32_t read, place at) {
    int32_t type = lower_type(l, l->g->objects[s->object].type);
    int32_t wide = type == ATN_SP || type == ATN_HP  ? l->v.wide
                   : type == ATN_DP && l->v.wide > 1 ? 2
                                                     : 1; /* at most 16 bytes */
    for (int32_t d = 0; d < l->g->n_dims && l->host && wide > 1; ++d) {
        const dim_state *state = &l->dim[d];
        if (d == l->vec_dim || state->regs < 2 || state->vec != 1 || state->row != state->pack ||
            !is_beside(s, form, d))
            continue;
        place first = at;
        while (wide > 1 && at.r[d] / wide * wide + wide > state->regs) wide /= 2;
        if (wide == 1) return -1;
        first.r[d] = (int8_t)(at.r[d] / wide * wide);
        ir_ref all;
        if (!lower_memo_find(l, WIDE_READS - read, 0, first, &all)) {
            all = ir_declare(l->p, l->block, l->g->reads[read].name, read_beside(l, s, form, first, wide));
            lower_memo_keep(l, WIDE_READS - read, 0, first, all);
        }
        return ir_lane(l->p, all, at.r[d] - first.r[d]);
    }
    return -1;
}

ir_ref lower_staged_read(lowering *l, const staged *s, int32_t read, place at, int32_t width) {
    const atn_read *r = &l->g->reads[read];
    lower_scene scene = lower_scene_of(l);
    atn_affine form[ATN_MAX_RANK];
    (void)lower_staged_forms(&scene, r, form);
    if (width > 1 && !is_beside(s, form, l->vec_dim)) {
        ir_ref lanes[ATN_MOST_LANES];
        for (int32_t k = 0; k < width; ++k) {
            place one = at;
            one.lane = (int8_t)k;
            lanes[k] = lower_staged_read(l, s, read, one, 1);
        }
        return ir_join(l->p, lanes, width);
    }
    ir_ref lane = width == 1 ? read_as_lane(l, s, form, read, at) : -1;
    return lane >= 0 ? lane : read_beside(l, s, form, at, width);
}
