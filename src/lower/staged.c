/* Staged tiles in the program: declared, and filled by a thread or by all items of a group. stage.c decides which ones
 * exist; they are read in staged_read.c. */
#include "lower/lowering.h"

void lower_stage_open(lowering *l, int32_t block) {
    lower_scene scene = lower_scene_of(l);
    ir_stage *stage = &l->p->stage[l->stage];
    enum { MOST = sizeof stage->tile / sizeof *stage->tile };
    lower_find_staged(&scene, block, &l->staged);
    if (l->staged.too_far >= 0)
        lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: the reads of '%s' are too far apart to be staged", l->g->name,
                   l->g->objects[l->staged.too_far].name);
    for (int32_t n = 0; n < l->staged.count && l->status == ATN_OK; ++n) {
        staged *s = &l->staged.of[n];
        const atn_object *object = &l->g->objects[s->object];
        if (stage->n_tiles >= MOST) {
            lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: more than %d tiles in one group", l->g->name, MOST);
            break;
        }
        int64_t spare = s->rounds * (int64_t)l->cuts.items * s->wide - s->count;
        s->tile = stage->n_tiles;
        stage->tile[stage->n_tiles++] =
            (ir_tile){.name = object->name,
                      .type = (atn_type)lower_type(l, object->type),
                      .elements = l->v.stage == 2 && !l->host ? 2 * s->elements + spare : s->elements};
    }
    if (l->status != ATN_OK) l->staged.count = 0;
}

/* The index in the object of element 0 of the tile, along one axis. */
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
        if (c < 0) start = ir_add_integer(l->p, start, lower_staged_length(l, d) - 1);
        sum = ir_add(l->p, sum, ir_multiply_integer(l->p, start, c));
    }
    if (form->rest >= 0)
        sum = ir_add(l->p, sum, ir_cast(l->p, IR_ADDRESS, lower_value(l, form->rest, PLACE_ORIGIN, 0)));
    return lower_declare(l, "base", axis, sum);
}

static lower_at tile_bases(lowering *l, const staged *s, ir_ref tile_start) {
    lower_at base;
    for (int a = 0; a < ATN_MAX_RANK; ++a) base.axis[a] = tile_base(l, s, a, tile_start);
    return base;
}

/* No axis of a tile can begin below 0. */
static bool from_zero(const lowering *l, const staged *s) {
    for (int a = 0; a < ATN_MAX_RANK; ++a) {
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

/* On the host, where elements that overhang the object are not copied: the first one along an axis that lies inside it.
 * Points are full there; a range that is read backwards ends before the last tile does. */
static ir_ref first_inside(lowering *l, const staged *s, int axis, lower_at base) {
    bool backwards = false;
    for (int32_t d = 0; d < l->g->n_dims; ++d)
        backwards = backwards || (s->linear[axis].coefficient[d] < 0 && !(l->cuts.points >> d & 1));
    ir_ref zero = ir_address(l->p, 0);
    if (!backwards) return zero;
    ir_ref before = ir_subtract(l->p, zero, base.axis[axis]);
    return lower_declare(l, "first", axis, ir_operation(l->p, ATN_OP_MAX, IR_ADDRESS, before, zero, -1));
}

/* Element e of the tile in the object. */
static lower_at source_of(lowering *l, const staged *s, lower_at base, lower_at e) {
    for (int a = 0; a < ATN_MAX_RANK; ++a)
        base.axis[a] = a < l->g->objects[s->object].rank ? ir_add(l->p, base.axis[a], e.axis[a]) : -1;
    return base;
}

static ir_ref fetch_element(lowering *l, const staged *s, lower_at base, lower_at e, bool guard) {
    lower_guard how = !guard || s->boundary != ATN_EDGE_NONE ? GUARD_NONE : from_zero(l, s) ? GUARD_ABOVE : GUARD_BOTH;
    return lower_fetch(l, s->object, source_of(l, s, base, e), s->boundary, how, -1, 0);
}

static void tile_store(lowering *l, const staged *s, ir_ref at, ir_ref value) {
    ir_append(
        l->p, l->block,
        (ir_statement){
            .kind = IR_TILE_STORE, .id = s->tile, .index = at, .value = value, .limit = -1, .body = -1, .other = -1});
}

/* Where element `within` of a line lies in a panel. */
static ir_ref panel_element(lowering *l, const staged *s, ir_ref panel, ir_ref line, ir_ref within) {
    atn_lowered *p = l->p;
    int64_t lines = s->extent[s->swapped ? 0 : 1];
    ir_ref to = ir_add(p, ir_multiply_integer(p, panel, lines), ir_multiply_integer(p, line, s->panel));
    return ir_add(p, to, within);
}

static lower_at panel_source(lowering *l, const staged *s, ir_ref panel, ir_ref line, ir_ref within) {
    lower_at e = {.axis = {[2] = ir_address(l->p, 0)}};
    e.axis[s->swapped ? 1 : 0] = ir_add(l->p, panel, within);
    e.axis[s->swapped ? 0 : 1] = line;
    return e;
}

/* Lines from `from` to `to` of the panel, element by element. */
static void copy_lines(lowering *l, const staged *s, lower_at base, ir_ref panel, ir_ref from, ir_ref to) {
    atn_lowered *p = l->p;
    int32_t line = ir_new_variable(p, "line", IR_ADDRESS, 1, true),
            within = ir_new_variable(p, "within", IR_ADDRESS, 1, true);
    ir_ref at_line = ir_variable_ref(p, line), at_within = ir_variable_ref(p, within);
    ir_block inner = IR_EMPTY, body = IR_EMPTY, *outer = l->block;
    l->block = &inner;
    ir_ref value = fetch_element(l, s, base, panel_source(l, s, panel, at_line, at_within), false);
    tile_store(l, s, panel_element(l, s, panel, at_line, at_within), value);
    l->block = outer;
    ir_for(p, &body, within, ir_address(p, 0), ir_address(p, s->panel), 1, 1, inner);
    ir_for(p, outer, line, from, to, 1, 1, body);
}

/* How many elements of a row of the object are transposed at once, so that they end up in as many lines; 1: none. */
static int32_t turned_at_once(const lowering *l, const staged *s) {
    enum { BYTES = 16 };
    atn_type type = l->g->objects[s->object].type;
    int32_t width = type == ATN_SP || type == ATN_INT32 ? BYTES / 4 : type == ATN_DP ? BYTES / 8 : 1;
    while (s->panel % width != 0) width /= 2;
    return s->swapped ? width : 1;
}

/* `width` lines of a panel that run across the rows of the object: blocks of vectors, transposed. */
static void turn_lines(lowering *l, const staged *s, lower_at base, ir_ref panel, ir_ref line, int32_t width) {
    atn_lowered *p = l->p;
    for (int32_t first = 0; first < s->panel && !p->failed; first += width) {
        ir_ref block[4];
        for (int32_t k = 0; k < width; ++k) {
            lower_at e = panel_source(l, s, panel, line, ir_address(p, first + k));
            block[k] = ir_declare(p, l->block, "row", lower_load_wide(l, s->object, source_of(l, s, base, e), width));
        }
        lower_transpose(l, block, width);
        for (int32_t k = 0; k < width; ++k)
            tile_store(l, s, panel_element(l, s, panel, ir_add_integer(p, line, k), ir_address(p, first)), block[k]);
    }
}

/* The same in panels. If lines run along the rows of the object, some rows are read for all panels before the next
 * ones: rows of many columns span many pages. The axis of the points is full, as it always is for staged tiles on the
 * host. */
static void fill_panels(lowering *l, const staged *s, lower_at base) {
    enum { AT_ONCE = 4 }; /* rows */
    atn_lowered *p = l->p;
    int fast = s->swapped ? 1 : 0, slow = 1 - fast;
    int32_t width = turned_at_once(l, s);
    ir_ref zero = ir_address(p, 0), left = ir_subtract(p, lower_size(l, s->object, slow), base.axis[slow]);
    ir_ref first = first_inside(l, s, slow, base);
    ir_ref lines = ir_declare(p, l->block, "count",
                              ir_operation(p, ATN_OP_MIN, IR_ADDRESS, ir_address(p, s->extent[slow]), left, -1));
    int32_t panel = ir_new_variable(p, "panel", IR_ADDRESS, 1, true),
            some = ir_new_variable(p, "some", IR_ADDRESS, 1, true);
    ir_ref at_panel = ir_variable_ref(p, panel), at_some = ir_variable_ref(p, some),
           panels = ir_address(p, s->extent[fast]);
    ir_block body = IR_EMPTY, inner = IR_EMPTY, *outer = l->block;
    if (s->swapped) {
        ir_ref whole = first;
        if (width > 1) {
            ir_ref blocks =
                ir_operation(p, ATN_OP_DIV, IR_ADDRESS, ir_subtract(p, lines, first), ir_address(p, width), -1);
            whole = ir_declare(p, outer, "whole", ir_add(p, first, ir_multiply_integer(p, blocks, width)));
            l->block = &inner;
            turn_lines(l, s, base, at_panel, at_some, width);
            ir_for(p, &body, some, first, whole, width, 1, inner);
        }
        l->block = &body;
        copy_lines(l, s, base, at_panel, whole, lines);
        l->block = outer;
        ir_for(p, outer, panel, zero, panels, s->panel, 1, body);
        return;
    }
    l->block = &body;
    ir_ref end = ir_operation(p, ATN_OP_MIN, IR_ADDRESS, ir_add_integer(p, at_some, AT_ONCE), lines, -1);
    end = ir_declare(p, l->block, "end", end);
    l->block = &inner;
    copy_lines(l, s, base, at_panel, at_some, end);
    ir_for(p, &body, panel, zero, panels, s->panel, 1, inner);
    l->block = outer;
    ir_for(p, outer, some, first, lines, AT_ONCE, 1, body);
}

/* One thread copies line by line; the part that overhangs the object is never read and keeps its contents. */
static void fill_alone(lowering *l, const staged *s, lower_at base) {
    atn_lowered *p = l->p;
    ir_ref first[ATN_MAX_RANK], count[ATN_MAX_RANK];
    int32_t variable[ATN_MAX_RANK], rank = l->g->objects[s->object].rank, loops = rank > 2 ? rank : 2;
    ir_block bodies[ATN_MAX_RANK], *outer = l->block;
    lower_at e = {.axis = {[2] = ir_address(p, 0)}};
    for (int a = 0; a < loops; ++a) {
        bool exact = s->boundary != ATN_EDGE_NONE || a >= rank;
        bodies[a] = IR_EMPTY;
        first[a] = exact ? ir_address(p, 0) : first_inside(l, s, a, base);
        count[a] = ir_address(p, s->extent[a]);
        if (!exact)
            count[a] = ir_declare(p, l->block, "count",
                                  ir_operation(p, ATN_OP_MIN, IR_ADDRESS, count[a],
                                               ir_subtract(p, lower_size(l, s->object, a), base.axis[a]), -1));
    }
    for (int a = loops; a-- > 0;) {
        variable[a] = lower_counter(l, "e", a);
        e.axis[a] = ir_variable_ref(p, variable[a]);
    }
    l->block = &bodies[0];
    ir_ref value = fetch_element(l, s, base, e, false);
    tile_store(l, s, lower_tile_element(l, s, e), value);
    l->block = outer;
    for (int a = 0; a < loops; ++a)
        ir_for(p, a + 1 < loops ? &bodies[a + 1] : outer, variable[a], first[a], count[a], 1, 1, bodies[a]);
}

/* Coordinates of element number e of the tile in row-major order; `name`: its parts become variables. */
static lower_at unfold(lowering *l, const staged *s, ir_ref e, bool name) {
    lower_at at = {.axis = {[2] = ir_address(l->p, 0)}};
    int32_t last = s->extent[2] > 1 ? 2 : 1;
    ir_ref left = e;
    for (int a = 0; a <= last; ++a) {
        ir_ref n = ir_address(l->p, s->extent[a]);
        at.axis[a] = a == last ? left : ir_operation(l->p, ATN_OP_MOD, IR_ADDRESS, left, n, -1);
        if (name) at.axis[a] = lower_declare(l, "e", a, at.axis[a]);
        if (a < last) left = ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, left, n, -1);
    }
    return at;
}

static lower_at further(lowering *l, lower_at at, int32_t columns) {
    at.axis[0] = ir_add_integer(l->p, at.axis[0], columns);
    return at;
}

/* `wide` elements of a line from e on: in one load if all are inside, otherwise one by one. */
static ir_ref fetch_wide(lowering *l, const staged *s, lower_at base, lower_at e, int32_t wide) {
    atn_lowered *p = l->p;
    if (wide == 1) return fetch_element(l, s, base, e, true);
    lower_at at = source_of(l, s, base, e);
    lower_name_indices(l, &at);
    ir_ref lanes[4], all = lower_inside(l, s->object, further(l, at, wide - 1));
    if (!from_zero(l, s)) all = ir_and(p, all, lower_from_zero(l, at));
    for (int32_t k = 0; k < wide; ++k) /* no declarations here: they are generated only where they are needed */
        lanes[k] = lower_pick(l, s->object, further(l, at, k), from_zero(l, s));
    return lower_either(l, all, lower_load_wide(l, s->object, at, wide), ir_join(p, lanes, wide));
}

/* Stores into the tile: contiguously, or, if it is transposed, one below the other. If `fits` is given and false, to
 * `spare` instead. */
static void store_wide(lowering *l, const staged *s, lower_at e, ir_ref value, int32_t wide, ir_ref fits,
                       ir_ref spare) {
    atn_lowered *p = l->p;
    bool beside = wide == 1 || (!s->swapped && s->pitch % wide == 0);
    if (!beside) value = ir_declare(p, l->block, "copied", value);
    for (int32_t k = 0; k < (beside ? 1 : wide); ++k) {
        ir_ref at = lower_tile_element(l, s, further(l, e, k));
        if (fits >= 0) at = ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, fits, at, ir_add_integer(p, spare, k));
        tile_store(l, s, at, beside ? value : ir_lane(p, value, k));
    }
}

/* The items of a group copy together, neighbours adjacent. */
static void fill_together(lowering *l, const staged *s, lower_at base) {
    atn_lowered *p = l->p;
    int32_t wide = s->wide;
    int32_t v = ir_new_variable(p, "e", IR_ADDRESS, 1, true);
    ir_block body = IR_EMPTY, *outer = l->block;
    l->block = &body;
    lower_at e = unfold(l, s, ir_variable_ref(p, v), true);
    store_wide(l, s, e, fetch_wide(l, s, base, e, wide), wide, -1, -1);
    l->block = outer;
    ir_for(p, outer, v, ir_multiply_integer(p, l->item, wide), ir_address(p, s->count), (int64_t)l->cuts.items * wide,
           1, body);
}

void lower_stage_fill(lowering *l, ir_ref tile_start) {
    for (int32_t n = 0; n < l->staged.count; ++n) {
        const staged *s = &l->staged.of[n];
        ir_comment(l->p, l->block, "stage %s", l->g->objects[s->object].name);
        lower_at base = tile_bases(l, s, tile_start);
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
        lower_at base = tile_bases(l, s, tile_start);
        for (int32_t k = 0; k < rounds; ++k) {
            lower_at e = unfold(l, s, share(l, k, wide), false);
            fetched[filled++] = ir_declare(l->p, l->block, "next", fetch_wide(l, s, base, e, wide));
        }
    }
}

/* Every item stores in every round, those without an element after the end of the two tiles: a condition would be no
 * faster on a GPU, and directly before a barrier it is one more case for compilers that turn a group into loops (PoCL
 * 5.0 gave wrong results). */
void lower_stage_commit(lowering *l, const ir_ref fetched[], const ir_ref half[]) {
    atn_lowered *p = l->p;
    int32_t used = 0;
    for (int32_t n = 0; n < l->staged.count && l->status == ATN_OK; ++n) {
        staged s = l->staged.of[n];
        s.half = half[n];
        int32_t rounds = s.rounds, wide = s.wide;
        for (int32_t k = 0; k < rounds; ++k, ++used) {
            bool full = (k + 1) * (int64_t)l->cuts.items * wide <= s.count;
            ir_ref e = share(l, k, wide);
            store_wide(l, &s, unfold(l, &s, e, false), fetched[used], wide,
                       full ? -1 : ir_less(p, e, ir_address(p, s.count)),
                       ir_add_integer(p, e, 2 * s.elements - s.count));
        }
    }
}
