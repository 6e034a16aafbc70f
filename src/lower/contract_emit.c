/* Contractions on matrix units, as a program: asynchronous copies fetch tiles of both matrices several tiles ahead of
 * the one that the warps multiply; sums stay in registers, laid out as the items and registers of the points. */
#include "lower/contract_state.h"

/* Lane l of a warp holds row l / 4 and columns 2 (l mod 4) and 2 (l mod 4) + 1 of every 8 x 8 matrix. */
static void bind_points(lowering *l) {
    atn_lowered *p = l->p;
    contraction *x = l->contract;
    ir_ref warp = ir_declare(p, l->block, "warp", OF(ATN_OP_DIV, l->item, 32));
    x->lane = ir_declare(p, l->block, "lane", OF(ATN_OP_MOD, l->item, 32));
    int32_t together = x->c.warpgroup ? 4 : 1; /* warps, one below the other */
    ir_ref who = together > 1 ? ir_declare(p, l->block, "warpgroup", OF(ATN_OP_DIV, warp, together)) : warp;
    x->first_row =
        ir_declare(p, l->block, "first_row",
                   ir_multiply_integer(p, OF(ATN_OP_DIV, who, x->c.warps_across), together * x->c.warp_rows));
    x->warp_row = together == 1
                      ? x->first_row
                      : ir_declare(p, l->block, "warp_row",
                                   ir_add(p, x->first_row,
                                          ir_multiply_integer(p, OF(ATN_OP_MOD, warp, together), x->c.warp_rows)));
    x->warp_column = ir_declare(p, l->block, "warp_column",
                                ir_multiply_integer(p, OF(ATN_OP_MOD, who, x->c.warps_across), x->c.warp_columns));
    ir_ref local[2] = {ir_add(p, x->warp_column, ir_multiply_integer(p, OF(ATN_OP_MOD, x->lane, 4), 2)),
                       ir_add(p, x->warp_row, OF(ATN_OP_DIV, x->lane, 4))};
    for (int32_t d = 0; d < 2; ++d) {
        dim_state *s = &l->dim[l->cuts.point[d]];
        s->local = lower_declare(l, "local", d, local[d]);
        s->base = lower_declare(l, "point", d, ir_add(p, l->start[d], s->local));
        s->pack = d == 0 ? 2 : 1;
        s->row = 8;
    }
}

static void append(lowering *l, ir_statement s) {
    s.index = s.value = s.limit = s.body = s.other = -1;
    ir_append(l->p, l->block, s);
}
#define DO(...) append(l, (ir_statement){__VA_ARGS__})

/* ---- products ---- */

static ir_ref element(lowering *l, const contraction *x, int32_t side, ir_ref at, const char *name) {
    return ir_declare(l->p, l->block, name,
                      ir_make(l->p, (ir_node){.kind = IR_TILE,
                                              .type = (int32_t)x->c.type,
                                              .width = 1,
                                              .arg = {at, -1, -1},
                                              .id = x->tile[side]}));
}

enum { MOST_TILES = 32 };

/* Operands of halves for the steps from k on: four words per 16 rows, two per 8 columns. */
static void load_halves(lowering *l, const contraction *x, ir_ref left_at, ir_ref right_at, int32_t k, ir_ref left[][4],
                        ir_ref right[][2]) {
    atn_lowered *p = l->p;
    const lower_contraction *c = &x->c;
    for (int32_t m = 0; m < c->warp_rows / CONTRACT_ROWS; ++m) {
        int32_t first =
            ir_load_matrices(l->p, l->block, "left", 4, x->tile[0],
                             ir_add_integer(p, left_at, (int64_t)m * CONTRACT_ROWS * c->left_pitch + k / 2), false);
        for (int32_t n = 0; n < 4; ++n) left[m][n] = ir_variable_ref(p, first + n);
    }
    for (int32_t m = 0; m < c->warp_columns / CONTRACT_COLUMNS; m += 2) {
        int32_t first =
            ir_load_matrices(l->p, l->block, "right", 4, x->tile[1],
                             ir_add_integer(p, right_at, (int64_t)k * c->right_pitch + m * CONTRACT_COLUMNS / 2), true);
        for (int32_t n = 0; n < 4; ++n) right[m + n / 2][n % 2] = ir_variable_ref(p, first + n);
    }
}

static void load_numbers(lowering *l, const contraction *x, ir_ref left_at, ir_ref right_at, int32_t k,
                         ir_ref left[][4], ir_ref right[][2]) {
    atn_lowered *p = l->p;
    const lower_contraction *c = &x->c;
    for (int32_t m = 0; m < c->warp_rows / CONTRACT_ROWS; ++m)
        for (int32_t n = 0; n < 4; ++n)
            left[m][n] = element(
                l, x, 0,
                ir_add_integer(p, left_at, (int64_t)(m * CONTRACT_ROWS + n % 2 * 8) * c->left_pitch + k + n / 2 * 4),
                "left");
    for (int32_t m = 0; m < c->warp_columns / CONTRACT_COLUMNS; ++m)
        for (int32_t n = 0; n < 2; ++n)
            right[m][n] = element(
                l, x, 1, ir_add_integer(p, right_at, (int64_t)(k + n * 4) * c->right_pitch + m * CONTRACT_COLUMNS),
                "right");
}

/* Where a lane finds its part of the operands in buffer `buffer`. */
static void operands(lowering *l, const contraction *x, ir_ref buffer, ir_ref *left, ir_ref *right) {
    atn_lowered *p = l->p;
    const lower_contraction *c = &x->c;
    int32_t tile = l->v.q[0].tile;
    bool halves = c->type == ATN_HP;
    ir_ref row = ir_add(p, ir_multiply_integer(p, buffer, c->rows), x->warp_row);
    row = ir_add(p, row, halves ? OF(ATN_OP_MOD, x->lane, 16) : OF(ATN_OP_DIV, x->lane, 4));
    ir_ref within = halves ? ir_multiply_integer(p, OF(ATN_OP_DIV, x->lane, 16), 4) : OF(ATN_OP_MOD, x->lane, 4);
    *left = ir_declare(p, l->block, "left_at", ir_add(p, ir_multiply_integer(p, row, c->left_pitch), within));
    ir_ref step = ir_add(p, ir_multiply_integer(p, buffer, tile),
                         halves ? OF(ATN_OP_MOD, x->lane, 16) : OF(ATN_OP_MOD, x->lane, 4));
    ir_ref column =
        halves ? ir_add(p, OF(ATN_OP_DIV, x->warp_column, 2), ir_multiply_integer(p, OF(ATN_OP_DIV, x->lane, 16), 4))
               : ir_add(p, x->warp_column, OF(ATN_OP_DIV, x->lane, 4));
    *right = ir_declare(p, l->block, "right_at", ir_add(p, ir_multiply_integer(p, step, c->right_pitch), column));
}

/* A single as two numbers of 11 bits: the first replaces it, the remainder is stored next to it. */
static void part_in_two(lowering *l, int32_t count, ir_ref value[], ir_ref rest[]) {
    for (int32_t k = 0; k < count; ++k) {
        ir_node high = {.kind = IR_CALL, .type = ATN_SP, .width = 1, .arg = {value[k], -1, -1}, .id = IR_CALL_AS_TF32};
        ir_ref first = ir_declare(l->p, l->block, "high", ir_make(l->p, high));
        high.arg[1] = first;
        high.id = IR_CALL_REST_TF32;
        rest[k] = ir_declare(l->p, l->block, "low", ir_make(l->p, high));
        value[k] = first;
    }
}

/* All products of one set of operands. */
static void multiply(lowering *l, const contraction *x, ir_ref left[][4], ir_ref right[][2]) {
    int32_t columns = x->c.warp_columns / CONTRACT_COLUMNS;
    for (int32_t m = 0; m < x->c.warp_rows / CONTRACT_ROWS; ++m)
        for (int32_t n = 0; n < columns; ++n) {
            ir_ref all[6] = {left[m][0], left[m][1], left[m][2], left[m][3], right[n][0], right[n][1]};
            ir_append(l->p, l->block,
                      (ir_statement){.kind = IR_MATRIX_MULTIPLY,
                                     .id = x->acc[m * columns + n],
                                     .index = -1,
                                     .value = ir_join(l->p, all, 6),
                                     .limit = -1,
                                     .body = -1,
                                     .other = -1});
        }
}

static void load_operands(lowering *l, const contraction *x, ir_ref left_at, ir_ref right_at, int32_t k,
                          ir_ref left[][4], ir_ref right[][2]) {
    if (x->c.type == ATN_HP)
        load_halves(l, x, left_at, right_at, k, left, right);
    else
        load_numbers(l, x, left_at, right_at, k, left, right);
}

/* Operands of one step: for every 16 rows and every 8 columns. */
typedef struct operand_set {
    ir_ref left[MOST_TILES][4], right[MOST_TILES][2];
} operand_set;

static int32_t words_of_right(const contraction *x) { return x->c.warp_columns / CONTRACT_COLUMNS; }
static int32_t words_of_left(const contraction *x) { return x->c.warp_rows / CONTRACT_ROWS; }

static void multiply_step(lowering *l, const contraction *x, operand_set *s) {
    if (x->c.type == ATN_SP) {
        ir_ref left_rest[MOST_TILES][4], right_rest[MOST_TILES][2];
        for (int32_t m = 0; m < words_of_left(x); ++m) part_in_two(l, 4, s->left[m], left_rest[m]);
        for (int32_t n = 0; n < words_of_right(x); ++n) part_in_two(l, 2, s->right[n], right_rest[n]);
        multiply(l, x, left_rest, s->right);
        multiply(l, x, s->left, right_rest);
    }
    multiply(l, x, s->left, s->right);
}

static void multiply_tile(lowering *l, const contraction *x, ir_ref buffer) {
    ir_ref left_at, right_at;
    operand_set set;
    operands(l, x, buffer, &left_at, &right_at);
    for (int32_t k = 0; k < l->v.q[0].tile && !l->p->failed; k += x->c.depth) {
        load_operands(l, x, left_at, right_at, k, set.left, set.right);
        multiply_step(l, x, &set);
    }
}

/* One buffer: copy, wait, multiply, wait. */
static void tiles_in_turn(lowering *l, const contraction *x, ir_ref from, ir_ref to) {
    atn_lowered *p = l->p;
    int32_t variable = ir_new_variable(p, "tile_start", IR_ADDRESS, 1, true);
    ir_block body = IR_EMPTY, *outer = l->block;
    l->block = &body;
    contract_fetch(l, x, ir_variable_ref(p, variable), to, ir_address(p, 0));
    DO(.kind = IR_MATRIX_WAIT);
    ir_barrier(p, l->block);
    multiply_tile(l, x, ir_address(p, 0));
    ir_barrier(p, l->block);
    l->block = outer;
    ir_for(p, outer, variable, from, to, l->v.q[0].tile, 1, body);
}

/* Variables that carry a set of operands from one tile to the next; `from` initialises them for the first. */
static void carry(lowering *l, const contraction *x, const operand_set *from, operand_set *set) {
    for (int32_t k = 0; k < 4 * words_of_left(x); ++k)
        set->left[k / 4][k % 4] =
            ir_variable_ref(l->p, ir_declare_mutable(l->p, l->block, "carried", from->left[k / 4][k % 4]));
    for (int32_t k = 0; k < 2 * words_of_right(x); ++k)
        set->right[k / 2][k % 2] =
            ir_variable_ref(l->p, ir_declare_mutable(l->p, l->block, "carried", from->right[k / 2][k % 2]));
}

static void carry_on(lowering *l, const contraction *x, const operand_set *from, const operand_set *set) {
    if (l->p->failed) return;
    for (int32_t k = 0; k < 4 * words_of_left(x); ++k)
        ir_assign(l->p, l->block, l->p->nodes[set->left[k / 4][k % 4]].id, from->left[k / 4][k % 4]);
    for (int32_t k = 0; k < 2 * words_of_right(x); ++k)
        ir_assign(l->p, l->block, l->p->nodes[set->right[k / 2][k % 2]].id, from->right[k / 2][k % 2]);
}

/* The index of a buffer, from a number that is less than twice their count. */
static ir_ref wrapped(lowering *l, const contraction *x, ir_ref buffer) {
    ir_ref least = ir_operation(l->p, ATN_OP_LT, ATN_B, buffer, ir_address(l->p, x->buffers), -1);
    return ir_operation(l->p, ATN_OP_SELECT, IR_ADDRESS, least, buffer, ir_add_integer(l->p, buffer, -x->buffers));
}

/* Is there room for the operands of two steps in addition to the sums? The registers of a core are shared by its items.
 * */
static bool has_room(const lowering *l, const contraction *x) {
    enum { REGISTERS = 65536, MOST = 255, OTHERS = 16 };
    int32_t each = x->c.type == ATN_DP ? 2 : 1, groups = l->v.resident > 1 ? l->v.resident : 1;
    int32_t limit = REGISTERS / (l->cuts.items * groups);
    int32_t set = each * (4 * words_of_left(x) + 2 * words_of_right(x));
    int32_t sums = each * 4 * words_of_left(x) * words_of_right(x);
    return sums + 2 * set + OTHERS <= (limit < MOST ? limit : MOST);
}

/* A loop over the tiles of the range; `now` is the buffer being multiplied. The statements generated between begin and
 * end are its body. */
typedef struct tile_loop {
    int32_t now, variable;
    ir_block body, *outer;
    size_t mark;
} tile_loop;

static void begin_tiles(lowering *l, tile_loop *t, int32_t now) {
    *t = (tile_loop){.now = now, .body = IR_EMPTY, .outer = l->block};
    t->variable = ir_new_variable(l->p, "tile_start", IR_ADDRESS, 1, true);
    t->mark = lower_mark(l);
    l->block = &t->body;
}

static void end_tiles(lowering *l, tile_loop *t, ir_ref from, ir_ref to) {
    lower_forget(l, t->mark);
    l->block = t->outer;
    ir_for(l->p, t->outer, t->variable, from, to, l->v.q[0].tile, 1, t->body);
}

/* The first `ahead` tiles are already being fetched when the loop begins. */
static void begin_tiles_ahead(lowering *l, const contraction *x, tile_loop *t, ir_ref from, ir_ref to, int32_t ahead) {
    for (int32_t k = 0; k < ahead; ++k)
        contract_fetch(l, x, ir_add_integer(l->p, from, (int64_t)k * l->v.q[0].tile), to, ir_address(l->p, k));
    begin_tiles(l, t, ir_declare_mutable(l->p, l->block, "now", ir_address(l->p, 0)));
}

static void fetch_ahead(lowering *l, const contraction *x, const tile_loop *t, ir_ref to, int32_t ahead) {
    atn_lowered *p = l->p;
    ir_ref buffer = wrapped(l, x, ir_add_integer(p, ir_variable_ref(p, t->now), ahead));
    contract_fetch(l, x, ir_add_integer(p, ir_variable_ref(p, t->variable), (int64_t)ahead * l->v.q[0].tile), to,
                   ir_declare(p, l->block, "filled", buffer));
}

static void next_buffer(lowering *l, const contraction *x, const tile_loop *t) {
    atn_lowered *p = l->p;
    ir_assign(p, l->block, t->now, wrapped(l, x, ir_add_integer(p, ir_variable_ref(p, t->now), 1)));
}

/* The first operands of a tile are loaded before the last products of the previous one, so that these hide the barrier
 * in between; after the barrier, all warps have loaded what they need from the old tile, and its buffer is refilled. */
static void tiles_carried(lowering *l, const contraction *x, ir_ref from, ir_ref to) {
    atn_lowered *p = l->p;
    int32_t tile = l->v.q[0].tile, depth = x->c.depth;
    ir_ref left_at, right_at;
    operand_set carried, set[2];
    ir_clear(&carried, sizeof carried);
    ir_clear(set, sizeof set);
    for (int32_t k = 0; k < x->buffers; ++k)
        contract_fetch(l, x, ir_add_integer(p, from, (int64_t)k * tile), to, ir_address(p, k));
    DO(.kind = IR_MATRIX_WAIT, .step = x->buffers - 1);
    ir_barrier(p, l->block);
    int32_t now = ir_declare_mutable(p, l->block, "now", ir_address(p, 0));
    operands(l, x, ir_address(p, 0), &left_at, &right_at);
    load_operands(l, x, left_at, right_at, 0, set[0].left, set[0].right);
    carry(l, x, &set[0], &carried);
    set[0] = carried;
    tile_loop t;
    begin_tiles(l, &t, now);
    operands(l, x, ir_variable_ref(p, now), &left_at, &right_at);
    for (int32_t k = 0, which = 0; k < tile && !p->failed; k += depth, which = 1 - which) {
        int32_t next = k + depth;
        if (next == tile) {
            DO(.kind = IR_MATRIX_WAIT, .step = x->buffers - 2);
            ir_barrier(p, l->block);
            contract_fetch(l, x, ir_add_integer(p, ir_variable_ref(p, t.variable), (int64_t)x->buffers * tile), to,
                           ir_variable_ref(p, now));
            next_buffer(l, x, &t);
            operands(l, x, ir_variable_ref(p, now), &left_at, &right_at);
        }
        load_operands(l, x, left_at, right_at, next % tile, set[1 - which].left, set[1 - which].right);
        multiply_step(l, x, &set[which]);
        if (next == tile) carry_on(l, x, &set[1 - which], &carried);
    }
    end_tiles(l, &t, from, to);
}

/* Without room for two sets: each is loaded when it is needed, and other warps hide the latency. */
static void tiles_ahead(lowering *l, const contraction *x, ir_ref from, ir_ref to) {
    int32_t ahead = x->buffers - 1;
    tile_loop t;
    begin_tiles_ahead(l, x, &t, from, to, ahead);
    DO(.kind = IR_MATRIX_WAIT, .step = ahead - 1);
    ir_barrier(l->p, l->block);
    fetch_ahead(l, x, &t, to, ahead);
    multiply_tile(l, x, ir_variable_ref(l->p, t.now));
    next_buffer(l, x, &t);
    end_tiles(l, &t, from, to);
}

/* Several buffers: all except the one being multiplied are being filled. */
static void tiles_in_buffers(lowering *l, const contraction *x, ir_ref from, ir_ref to) {
    if (has_room(l, x))
        tiles_carried(l, x, from, to);
    else
        tiles_ahead(l, x, from, to);
    DO(.kind = IR_MATRIX_WAIT);
    ir_barrier(l->p, l->block);
}

/* ---- products by warpgroups ---- */

/* All products of the tile in a buffer. Of `parts` products, number m has every parts-th group of eight rows, so that
 * the rows of a warp are adjacent. */
static void multiply_by_warpgroup(lowering *l, const contraction *x, ir_ref buffer) {
    atn_lowered *p = l->p;
    const lower_contraction *c = &x->c;
    int32_t tile = l->v.q[0].tile, words = CONTRACT_LINE / 2, sums = c->warp_columns / 2;
    ir_ref left = ir_multiply_integer(p, buffer, (int64_t)tile / CONTRACT_LINE * c->rows * words);
    left = ir_declare(p, l->block, "left_at", ir_add(p, left, ir_multiply_integer(p, x->first_row, words)));
    ir_ref right = ir_multiply_integer(p, buffer, (int64_t)c->columns / CONTRACT_LINE * tile * words);
    right = ir_declare(p, l->block, "right_at",
                       ir_add(p, right, ir_multiply_integer(p, x->warp_column, tile * words / CONTRACT_LINE)));
    DO(.kind = IR_WARPGROUP_SET);
    for (int32_t k = 0; k < tile; k += 16)
        for (int32_t m = 0; m < c->parts; ++m) {
            int64_t at = ((int64_t)k / CONTRACT_LINE * c->rows + m * 8) * words + k % CONTRACT_LINE / 2;
            ir_node element = {.kind = IR_TILE, .type = ATN_INT32, .width = 1, .arg = {-1, -1, -1}};
            element.id = x->tile[0];
            element.arg[0] = ir_add_integer(p, left, at);
            ir_ref from = ir_make(p, element);
            element.id = x->tile[1];
            element.arg[0] = ir_add_integer(p, right, (int64_t)k * words);
            ir_append(p, l->block,
                      (ir_statement){.kind = IR_WARPGROUP_MULTIPLY,
                                     .id = x->acc[m * sums / 4],
                                     .index = from,
                                     .value = ir_make(p, element),
                                     .step = c->parts * 1024,
                                     .unroll = sums,
                                     .component = tile * 128,
                                     .limit = -1,
                                     .body = -1,
                                     .other = -1});
        }
    DO(.kind = IR_WARPGROUP_SET, .component = 1);
}

/* The products of a tile run while the next tile is awaited and the copies of a later one are started, which is faster
 * than starting these between or after the products: after a barrier, the products of the tile before the previous one
 * are complete in all warps, and its buffer is refilled. */
static void tiles_of_warpgroups(lowering *l, const contraction *x, ir_ref from, ir_ref to) {
    int32_t ahead = x->buffers - 2;
    tile_loop t;
    begin_tiles_ahead(l, x, &t, from, to, ahead);
    DO(.kind = IR_MATRIX_WAIT, .step = ahead - 1, .component = 1);
    ir_barrier(l->p, l->block);
    fetch_ahead(l, x, &t, to, ahead);
    multiply_by_warpgroup(l, x, ir_variable_ref(l->p, t.now));
    next_buffer(l, x, &t);
    DO(.kind = IR_WARPGROUP_WAIT, .step = 1);
    end_tiles(l, &t, from, to);
    DO(.kind = IR_WARPGROUP_WAIT);
    DO(.kind = IR_MATRIX_WAIT);
    ir_barrier(l->p, l->block);
}

/* ---- the block ---- */

static int32_t add_tile(lowering *l, const char *name, atn_type type, int64_t elements) {
    ir_stage *stage = &l->p->stage[l->stage];
    stage->tile[stage->n_tiles] = (ir_tile){.name = name, .type = type, .elements = elements, .dynamic = l->dynamic};
    return stage->n_tiles++;
}

static void declare_sums(lowering *l, contraction *x) {
    int32_t tiles = x->c.warp_rows / CONTRACT_ROWS * (x->c.warp_columns / CONTRACT_COLUMNS);
    x->acc = atn_arena_alloc(&l->p->arena, (size_t)tiles * sizeof *x->acc);
    if (!x->acc) l->p->failed = true;
    for (int32_t k = 0; k < tiles && !l->p->failed; ++k)
        for (int32_t n = 0; n < 4; ++n) {
            int32_t variable =
                ir_declare_mutable(l->p, l->block, "acc", ir_number(l->p, x->c.type == ATN_DP ? ATN_DP : ATN_SP, 0));
            if (n == 0) x->acc[k] = variable;
        }
}

static void conclude(lowering *l, const contraction *x) {
    int32_t p0 = l->cuts.point[0], p1 = l->cuts.point[1], columns = x->c.warp_columns / CONTRACT_COLUMNS;
    place at = PLACE_ORIGIN;
    do {
        int32_t high = x->c.warpgroup ? at.r[p1] / x->c.parts : at.r[p1] % 2; /* the eight rows of sixteen */
        int32_t row = x->c.warpgroup ? at.r[p1] % x->c.parts : at.r[p1] / 2;
        int32_t tile = row * columns + at.r[p0] / 2, part = high * 2 + at.r[p0] % 2;
        ir_ref value[ATN_MAX_ACCS][2] = {
            {ir_cast(l->p, acc_type(l, &x->o.b->acc[0]), ir_variable_ref(l->p, x->acc[tile] + part))}};
        loops_end_place(l, &x->o, at, value);
    } while (lower_next_place(l, 1u << p0 | 1u << p1, &at));
}

/* Two ways to write: if all points exist, two at once and without tests. */
static void write_points(lowering *l) {
    ir_block ways[2] = {IR_EMPTY, IR_EMPTY}, *outer = l->block;
    size_t mark = lower_mark(l);
    ir_ref limit[2];
    for (int32_t d = 0; d < 2; ++d) limit[d] = l->dim[l->cuts.point[d]].limit;
    for (int32_t full = 0; full < 2; ++full) {
        for (int32_t d = 0; d < 2; ++d) l->dim[l->cuts.point[d]].limit = full ? -1 : limit[d];
        l->block = &ways[full];
        lower_writes(l, 0, l->cuts.points, -1);
        lower_forget(l, mark);
    }
    l->block = outer;
    ir_if(l->p, outer, l->contract->full, ways[1], ways[0]);
}

void lower_block_contraction(lowering *l, int32_t block) {
    contraction *x = l->contract;
    const lower_contraction *c = &x->c;
    atn_type type = c->type == ATN_HP ? ATN_INT32 : c->type;
    ir_ref from, to;
    x->o = loops_open(l, block);
    x->buffers = l->v.stage;
    ir_comment(l->p, l->block, "%s on matrix units", x->o.b->name);
    int64_t tile = l->v.q[0].tile;
    x->tile[0] = add_tile(l, "left", type, x->buffers * c->rows * (c->warpgroup ? tile / 2 : c->left_pitch));
    x->tile[1] = add_tile(l, "right", type, x->buffers * tile * (c->warpgroup ? c->columns / 2 : c->right_pitch));
    declare_sums(l, x);
    if (l->p->failed) return;
    contract_share_copies(l, x);
    loops_bounds(&x->o, 0, &from, &to);
    if (c->warpgroup)
        tiles_of_warpgroups(l, x, from, to);
    else if (x->buffers == 1)
        tiles_in_turn(l, x, from, to);
    else
        tiles_in_buffers(l, x, from, to);
    conclude(l, x);
    l->done |= 1u << block;
}

void lower_group_contraction(lowering *l) {
    contraction x = {0};
    const char *why;
    if (!lower_find_contraction(l->g, &l->v, &x.c, &why)) {
        lower_fail(l, ATN_ERR_INTERNAL, "%s: %s", l->g->name, why);
        return;
    }
    l->clamp = true;
    l->contract = &x;
    l->bind = bind_points;
    l->write = write_points;
    lower_group(l);
    l->contract = NULL;
    l->bind = NULL;
    l->write = NULL;
}
