/* Staged tiles in the program: filled by a thread or by all items of a group, and read. Which there are, stage.c says.
 */
#include "lower/lowering.h"

static lower_scene scene_of(const lowering *l) {
    return (lower_scene){.g = l->g,
                         .v = &l->v,
                         .cuts = &l->cuts,
                         .needs = &l->needs,
                         .host = l->host,
                         .bound = l->bound,
                         .done = l->done};
}

static int64_t tile_length(const lowering *l, int32_t dim) {
    lower_scene scene = scene_of(l);
    return lower_tile_length(&scene, dim);
}

void lower_stage_open(lowering *l, int32_t block) {
    lower_scene scene = scene_of(l);
    ir_stage *stage = &l->p->stage[l->stage];
    enum { MOST = sizeof stage->tile / sizeof *stage->tile };
    lower_find_staged(&scene, block, &l->staged);
    if (l->staged.too_far >= 0)
        lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: the reads of '%s' lie too far apart to be staged", l->g->name,
                   l->g->objects[l->staged.too_far].name);
    for (int32_t n = 0; n < l->staged.count && l->status == ATN_OK; ++n) {
        staged *s = &l->staged.of[n];
        const atn_object *object = &l->g->objects[s->object];
        if (stage->n_tiles >= MOST) {
            lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: more than %d tiles in one group", l->g->name, MOST);
            break;
        }
        int64_t spare = s->rounds * (int64_t)l->cuts.items * s->wide - s->extent[0] * s->extent[1];
        s->tile = stage->n_tiles;
        stage->tile[stage->n_tiles++] =
            (ir_tile){.name = object->name,
                      .type = (atn_type)lower_type(l, object->type),
                      .elements = l->v.stage == 2 && !l->host ? 2 * s->elements + spare : s->elements};
    }
    if (l->status != ATN_OK) l->staged.count = 0;
}

const staged *lower_staged_for(const lowering *l, int32_t read) {
    for (int32_t n = 0; n < l->staged.count; ++n)
        for (int32_t k = 0; k < l->staged.of[n].n_reads; ++k)
            if (l->staged.of[n].reads[k] == read) return &l->staged.of[n];
    return NULL;
}

/* ---- reading from a tile ---- */

/* Where a place lies along one axis of the tile. */
static ir_ref tile_coordinate(lowering *l, const staged *s, const atn_affine *form, int axis, place at) {
    ir_ref sum = ir_address(l->p, form->constant - s->linear[axis].constant);
    for (int32_t d = 0; d < l->g->n_dims; ++d) {
        int64_t c = form->coefficient[d];
        if (c == 0) continue;
        const dim_state *state = &l->dim[d];
        int64_t offset = lower_offset(l, d, at);
        if (d == l->vec_dim && at.lane > 0) offset += at.lane;
        if (c < 0) offset -= tile_length(l, d) - 1;
        sum = ir_add(l->p, sum, ir_multiply_integer(l->p, ir_add_integer(l->p, state->local, offset), c));
    }
    return sum;
}

static ir_ref tile_element(lowering *l, const staged *s, ir_ref e0, ir_ref e1) {
    ir_ref fast = s->swapped ? e1 : e0, slow = s->swapped ? e0 : e1;
    ir_ref at = ir_add(l->p, ir_multiply_integer(l->p, slow, s->pitch), fast);
    return s->half >= 0 ? ir_add(l->p, s->half, at) : at;
}

/* The step's own panel begins at its first point times the lines; within it, a line is one panel wide. */
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
static ir_ref read_beside(lowering *l, const staged *s, const atn_affine form[2], place at, int32_t width) {
    ir_ref e0 = tile_coordinate(l, s, &form[0], 0, at), e1 = tile_coordinate(l, s, &form[1], 1, at);
    ir_ref element = s->panel ? panel_element(l, s, &form[s->swapped ? 1 : 0], s->swapped ? e0 : e1, at)
                              : tile_element(l, s, e0, e1);
    return ir_make(l->p, (ir_node){.kind = IR_TILE,
                                   .type = lower_type(l, l->g->objects[s->object].type),
                                   .width = width,
                                   .arg = {element, -1, -1},
                                   .id = s->tile});
}

/* On the host `wide` registers that lie side by side in the tile are one load; each is a lane of it, which is where
 * aarch64 multiplies from. -1: not here. */
static ir_ref read_as_lane(lowering *l, const staged *s, const atn_affine form[2], int32_t read, place at) {
    int32_t type = lower_type(l, l->g->objects[s->object].type), fast = s->swapped ? 1 : 0;
    int32_t wide = type == ATN_SP || type == ATN_HP  ? l->v.wide
                   : type == ATN_DP && l->v.wide > 1 ? 2
                                                     : 1; /* 16 bytes at most */
    for (int32_t d = 0; d < l->g->n_dims && l->host && wide > 1; ++d) {
        const dim_state *state = &l->dim[d];
        if (d == l->vec_dim || state->regs < 2 || state->vec != 1 || state->row != state->pack ||
            form[fast].coefficient[d] != 1 || form[1 - fast].coefficient[d] != 0)
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
    lower_scene scene = scene_of(l);
    atn_affine form[2];
    (void)lower_staged_forms(&scene, r, form);
    int fast = s->swapped ? 1 : 0;
    bool beside = width > 1 && form[fast].coefficient[l->vec_dim] == 1 && form[1 - fast].coefficient[l->vec_dim] == 0;
    if (width > 1 && !beside) {
        ir_ref lanes[16];
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

/* ---- filling a tile ---- */

/* The object's index that element 0 of the tile holds, along one axis. */
static ir_ref tile_base(lowering *l, const staged *s, int axis, ir_ref tile_start) {
    const atn_affine *form = &s->linear[axis];
    ir_ref sum = ir_address(l->p, form->constant);
    for (int32_t d = 0; d < l->g->n_dims; ++d) {
        int64_t c = form->coefficient[d];
        if (c == 0) continue;
        ir_ref start = -1;
        for (int32_t k = 0; k < l->cuts.n_points; ++k)
            if (l->cuts.point[k] == d) start = l->start[k];
        if (start < 0) start = l->g->dims[d].axis == 0 ? tile_start : l->dim[d].base;
        if (c < 0) start = ir_add_integer(l->p, start, tile_length(l, d) - 1);
        sum = ir_add(l->p, sum, ir_multiply_integer(l->p, start, c));
    }
    if (form->rest >= 0)
        sum = ir_add(l->p, sum, ir_cast(l->p, IR_ADDRESS, lower_value(l, form->rest, PLACE_ORIGIN, 0)));
    return ir_declare(l->p, l->block, axis ? "base1" : "base0", sum);
}

/* Neither axis of a tile can begin below 0. */
static bool from_zero(const lowering *l, const staged *s) {
    for (int a = 0; a < 2; ++a) {
        const atn_affine *form = &s->linear[a];
        if (form->constant < 0 || form->rest >= 0) return false;
        for (int32_t d = 0; d < l->g->n_dims; ++d) {
            const atn_node *begin = &l->g->values[l->g->dims[d].begin];
            if (form->coefficient[d] < 0 ||
                (form->coefficient[d] > 0 && (begin->op != ATN_OP_CONST || begin->integer < 0)))
                return false;
        }
    }
    return true;
}

static ir_ref fetch_element(lowering *l, const staged *s, const ir_ref base[2], ir_ref e0, ir_ref e1, bool guard) {
    bool matrix = l->g->objects[s->object].rank > 1;
    lower_guard how = !guard || s->boundary != ATN_EDGE_NONE ? GUARD_NONE : from_zero(l, s) ? GUARD_ABOVE : GUARD_BOTH;
    return lower_fetch(l, s->object, ir_add(l->p, base[0], e0), matrix ? ir_add(l->p, base[1], e1) : -1, s->boundary,
                       how, -1, 0);
}

static void tile_store(lowering *l, const staged *s, ir_ref at, ir_ref value) {
    ir_append(
        l->p, l->block,
        (ir_statement){
            .kind = IR_TILE_STORE, .id = s->tile, .index = at, .value = value, .limit = -1, .body = -1, .other = -1});
}

/* The same in panels: the object is read along its rows. The points' axis is full, as staged tiles on the host always
 * are. */
static void fill_panels(lowering *l, const staged *s, const ir_ref base[2]) {
    atn_lowered *p = l->p;
    int fast = s->swapped ? 1 : 0, slow = 1 - fast;
    ir_ref left =
        ir_subtract(p, ir_argument_ref(p, slow ? IR_ARG_SIZE1 : IR_ARG_SIZE0, s->object, IR_ADDRESS), base[slow]);
    ir_ref lines = ir_declare(p, l->block, "count",
                              ir_operation(p, ATN_OP_MIN, IR_ADDRESS, ir_address(p, s->extent[slow]), left, -1));
    int32_t panel = ir_new_variable(p, "panel", IR_ADDRESS, 1, true),
            line = ir_new_variable(p, "line", IR_ADDRESS, 1, true),
            within = ir_new_variable(p, "within", IR_ADDRESS, 1, true);
    ir_ref at_panel = ir_variable_ref(p, panel), at_line = ir_variable_ref(p, line),
           at_within = ir_variable_ref(p, within);
    ir_block inner = IR_EMPTY, middle = IR_EMPTY, body = IR_EMPTY, *outer = l->block;
    l->block = &inner;
    ir_ref e_fast = ir_add(p, at_panel, at_within);
    ir_ref value = fetch_element(l, s, base, fast ? at_line : e_fast, fast ? e_fast : at_line, false);
    ir_ref to = ir_add(p, ir_multiply_integer(p, at_panel, s->extent[slow]), ir_multiply_integer(p, at_line, s->panel));
    tile_store(l, s, ir_add(p, to, at_within), value);
    l->block = outer;
    ir_ref zero = ir_address(p, 0), width = ir_address(p, s->panel);
    ir_for(p, &middle, fast ? line : within, zero, fast ? lines : width, 1, 1, inner);
    ir_for(p, &body, fast ? within : line, zero, fast ? width : lines, 1, 1, middle);
    ir_for(p, outer, panel, zero, ir_address(p, s->extent[fast]), s->panel, 1, body);
}

/* One thread copies line by line; what overhangs the object is never read and stays as it is. */
static void fill_alone(lowering *l, const staged *s, const ir_ref base[2]) {
    atn_lowered *p = l->p;
    ir_ref count[2];
    for (int a = 0; a < 2; ++a) {
        ir_ref left =
            ir_subtract(p, ir_argument_ref(p, a ? IR_ARG_SIZE1 : IR_ARG_SIZE0, s->object, IR_ADDRESS), base[a]);
        bool exact = s->boundary != ATN_EDGE_NONE || (a == 1 && l->g->objects[s->object].rank == 1);
        count[a] = exact ? ir_address(p, s->extent[a])
                         : ir_declare(p, l->block, "count",
                                      ir_operation(p, ATN_OP_MIN, IR_ADDRESS, ir_address(p, s->extent[a]), left, -1));
    }
    int32_t v1 = ir_new_variable(p, "e1", IR_ADDRESS, 1, true), v0 = ir_new_variable(p, "e0", IR_ADDRESS, 1, true);
    ir_block rows = IR_EMPTY, columns = IR_EMPTY, *outer = l->block;
    l->block = &columns;
    ir_ref e0 = ir_variable_ref(p, v0), e1 = ir_variable_ref(p, v1);
    ir_ref value = fetch_element(l, s, base, e0, e1, false);
    tile_store(l, s, tile_element(l, s, e0, e1), value);
    l->block = outer;
    ir_for(p, &rows, v0, ir_address(p, 0), count[0], 1, 1, columns);
    ir_for(p, outer, v1, ir_address(p, 0), count[1], 1, 1, rows);
}

/* Elements e0 to e0 + wide - 1 of line e1: in one load where all are inside, else one by one. */
static ir_ref fetch_wide(lowering *l, const staged *s, const ir_ref base[2], ir_ref e0, ir_ref e1, int32_t wide) {
    atn_lowered *p = l->p;
    if (wide == 1) return fetch_element(l, s, base, e0, e1, true);
    bool matrix = l->g->objects[s->object].rank > 1;
    ir_ref column = ir_declare(p, l->block, "column", ir_add(p, base[0], e0));
    ir_ref row = matrix ? ir_declare(p, l->block, "row", ir_add(p, base[1], e1)) : -1, lanes[4];
    ir_ref all = lower_inside(l, s->object, ir_add_integer(p, column, wide - 1), row);
    if (!from_zero(l, s)) all = ir_and(p, all, lower_from_zero(l, column, row));
    for (int32_t k = 0; k < wide; ++k) /* no declarations here: they are made only where they are needed */
        lanes[k] = lower_pick(l, s->object, ir_add_integer(p, column, k), row, from_zero(l, s));
    return lower_either(l, all, lower_load_wide(l, s->object, column, row, wide), ir_join(p, lanes, wide));
}

/* Into the tile: side by side, or, where it lies transposed, one below the other. Where `fits` is given and does not
 * hold, it goes to `spare` instead. */
static void store_wide(lowering *l, const staged *s, ir_ref e0, ir_ref e1, ir_ref value, int32_t wide, ir_ref fits,
                       ir_ref spare) {
    atn_lowered *p = l->p;
    bool beside = wide == 1 || (!s->swapped && s->pitch % wide == 0);
    if (!beside) value = ir_declare(p, l->block, "copied", value);
    for (int32_t k = 0; k < (beside ? 1 : wide); ++k) {
        ir_ref at = tile_element(l, s, ir_add_integer(p, e0, k), e1);
        if (fits >= 0) at = ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, fits, at, ir_add_integer(p, spare, k));
        tile_store(l, s, at, beside ? value : ir_lane(p, value, k));
    }
}

/* The items of a group copy together, neighbours side by side. */
static void fill_together(lowering *l, const staged *s, const ir_ref base[2]) {
    atn_lowered *p = l->p;
    int32_t wide = s->wide;
    int64_t total = s->extent[0] * s->extent[1];
    int32_t v = ir_new_variable(p, "e", IR_ADDRESS, 1, true);
    ir_block body = IR_EMPTY, *outer = l->block;
    l->block = &body;
    ir_ref e = ir_variable_ref(p, v), n0 = ir_address(p, s->extent[0]);
    ir_ref e0 = ir_declare(p, l->block, "e0", ir_operation(p, ATN_OP_MOD, IR_ADDRESS, e, n0, -1));
    ir_ref e1 = ir_declare(p, l->block, "e1", ir_operation(p, ATN_OP_DIV, IR_ADDRESS, e, n0, -1));
    store_wide(l, s, e0, e1, fetch_wide(l, s, base, e0, e1, wide), wide, -1, -1);
    l->block = outer;
    ir_for(p, outer, v, ir_multiply_integer(p, l->item, wide), ir_address(p, total), (int64_t)l->cuts.items * wide, 1,
           body);
}

void lower_stage_fill(lowering *l, ir_ref tile_start) {
    for (int32_t n = 0; n < l->staged.count; ++n) {
        const staged *s = &l->staged.of[n];
        ir_comment(l->p, l->block, "stage %s", l->g->objects[s->object].name);
        ir_ref base[2] = {tile_base(l, s, 0, tile_start), tile_base(l, s, 1, tile_start)};
        if (s->panel)
            fill_panels(l, s, base);
        else if (l->host)
            fill_alone(l, s, base);
        else
            fill_together(l, s, base);
    }
}

/* The k-th piece that this item copies. */
static ir_ref share(lowering *l, int32_t k, int32_t wide) {
    return ir_multiply_integer(l->p, ir_add_integer(l->p, l->item, (int64_t)k * l->cuts.items), wide);
}

void lower_stage_prefetch(lowering *l, ir_ref tile_start, ir_ref fetched[]) {
    int32_t filled = 0;
    for (int32_t n = 0; n < l->staged.count; ++n) {
        const staged *s = &l->staged.of[n];
        int32_t rounds = s->rounds, wide = s->wide;
        if (filled + rounds > MAX_PREFETCH) {
            lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: double buffering would hold more than %d values per item",
                       l->g->name, MAX_PREFETCH);
            return;
        }
        ir_ref base[2] = {tile_base(l, s, 0, tile_start), tile_base(l, s, 1, tile_start)},
               n0 = ir_address(l->p, s->extent[0]);
        for (int32_t k = 0; k < rounds; ++k) {
            ir_ref e0 = ir_operation(l->p, ATN_OP_MOD, IR_ADDRESS, share(l, k, wide), n0, -1);
            ir_ref e1 = ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, share(l, k, wide), n0, -1);
            fetched[filled++] = ir_declare(l->p, l->block, "next", fetch_wide(l, s, base, e0, e1, wide));
        }
    }
}

/* Every item stores in every round, those without an element behind the two tiles: a condition would be no faster on a
 * GPU, and right before a barrier it is one case more for compilers that make loops of a group (PoCL 5.0 gave wrong
 * results). */
void lower_stage_commit(lowering *l, const ir_ref fetched[], ir_ref half[]) {
    atn_lowered *p = l->p;
    int32_t used = 0;
    for (int32_t n = 0; n < l->staged.count && l->status == ATN_OK; ++n) {
        staged s = l->staged.of[n];
        s.half = half[n];
        int64_t total = s.extent[0] * s.extent[1];
        int32_t rounds = s.rounds, wide = s.wide;
        for (int32_t k = 0; k < rounds; ++k, ++used) {
            bool full = (k + 1) * (int64_t)l->cuts.items * wide <= total;
            ir_ref e = share(l, k, wide), n0 = ir_address(p, s.extent[0]);
            ir_ref e0 = ir_operation(p, ATN_OP_MOD, IR_ADDRESS, e, n0, -1),
                   e1 = ir_operation(p, ATN_OP_DIV, IR_ADDRESS, e, n0, -1);
            store_wide(l, &s, e0, e1, fetched[used], wide, full ? -1 : ir_less(p, e, ir_address(p, total)),
                       ir_add_integer(p, e, 2 * s.elements - total));
        }
    }
}
