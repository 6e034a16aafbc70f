/* Combining partial results with the ICF's circled plus: two sets of accumulators into one, vector lanes, items of a
 * work-group. g is never applied: only accumulated values are combined. */
#include "lower/lowering.h"

#include <math.h>

int32_t acc_parts(const atn_acc *acc) { return atn_type_is_complex(acc->type) ? 2 : 1; }

int32_t acc_type(const lowering *l, const atn_acc *acc) { return lower_acc_type(&l->v, acc); }

static bool is_floating(int32_t type) { return type == ATN_SP || type == ATN_DP || type == ATN_HP; }

static ir_ref limit_of(lowering *l, int32_t type, bool high) {
    if (is_floating(type)) return ir_number(l->p, type, high ? INFINITY : -INFINITY);
    static const struct {
        int32_t type;
        int64_t low, high;
    } LIMITS[] = {{ATN_INT32, INT32_MIN, INT32_MAX},
                  {ATN_INDEX, INT64_MIN + 1, INT64_MAX},
                  {ATN_U8, 0, 255},
                  {ATN_U16, 0, 65535},
                  {ATN_B, 0, 1}};
    for (size_t k = 0; k < sizeof LIMITS / sizeof *LIMITS; ++k)
        if (LIMITS[k].type == type) return ir_integer(l->p, type, high ? LIMITS[k].high : LIMITS[k].low);
    return ir_integer(l->p, type, 0);
}

ir_ref acc_neutral(lowering *l, const atn_block *b, int32_t k, int32_t part) {
    const atn_acc *acc = &b->acc[k];
    int32_t type = acc_type(l, acc);
    bool one = (acc->join == ATN_JOIN_PRODUCT && part == 0) || acc->join == ATN_JOIN_AND;
    switch (acc->join) {
    case ATN_JOIN_MIN:
        return limit_of(l, type, true);
    case ATN_JOIN_MAX:
        return limit_of(l, type, false);
    case ATN_JOIN_ARGMIN:
    case ATN_JOIN_ARGMAX:
        if (acc->key == k) return limit_of(l, type, acc->join == ATN_JOIN_ARGMIN);
        if (b->acc[acc->key].order == k) return limit_of(l, type, true); /* later than everything */
        break;
    case ATN_JOIN_CUSTOM:
    case ATN_JOIN_ORDERED:
        return ir_cast(l->p, type, lower_value(l, acc->init, PLACE_ORIGIN, part));
    case ATN_JOIN_AND:
        if (type != ATN_B) return ir_integer(l->p, type, -1);
        break;
    default:
        break;
    }
    return is_floating(type) ? ir_number(l->p, type, one) : ir_integer(l->p, type, one);
}

#define OP(op, a, b) ir_operation(l->p, op, type, a, b, -1)

static ir_ref join_one(lowering *l, const atn_acc *acc, ir_ref left[2], ir_ref right[2], int32_t part) {
    int32_t type = acc_type(l, acc);
    bool logical = type == ATN_B;
    switch (acc->join) {
    case ATN_JOIN_SUM:
        return OP(ATN_OP_ADD, left[part], right[part]);
    case ATN_JOIN_PRODUCT:
        if (acc_parts(acc) == 1) return OP(ATN_OP_MUL, left[0], right[0]);
        if (part == 0) return OP(ATN_OP_SUB, OP(ATN_OP_MUL, left[0], right[0]), OP(ATN_OP_MUL, left[1], right[1]));
        return OP(ATN_OP_ADD, OP(ATN_OP_MUL, left[0], right[1]), OP(ATN_OP_MUL, left[1], right[0]));
    /* Accumulated values are never NaN, and a NaN on the right loses every comparison. */
    case ATN_JOIN_MIN:
        return ir_operation(l->p, ATN_OP_SELECT, type, ir_less(l->p, right[0], left[0]), right[0], left[0]);
    case ATN_JOIN_MAX:
        return ir_operation(l->p, ATN_OP_SELECT, type, ir_less(l->p, left[0], right[0]), right[0], left[0]);
    case ATN_JOIN_AND:
        return OP(logical ? ATN_OP_AND : ATN_OP_BITAND, left[0], right[0]);
    default:
        return OP(logical ? ATN_OP_OR : ATN_OP_BITOR, left[0], right[0]);
    }
}

static bool is_argument(const atn_acc *acc) { return acc->join == ATN_JOIN_ARGMIN || acc->join == ATN_JOIN_ARGMAX; }

/* Does the right side win? In order, only if it is better; otherwise also if it is equal and earlier. */
static ir_ref right_wins(lowering *l, const atn_block *b, int32_t key, ir_ref left[][2], ir_ref right[][2],
                         bool in_order) {
    atn_lowered *p = l->p;
    bool least = b->acc[key].join == ATN_JOIN_ARGMIN;
    ir_ref better = least ? ir_less(p, right[key][0], left[key][0]) : ir_less(p, left[key][0], right[key][0]);
    if (!in_order) {
        int32_t order = b->acc[key].order;
        ir_ref same = ir_operation(p, ATN_OP_EQ, ATN_B, right[key][0], left[key][0], -1);
        ir_ref earlier = ir_less(p, right[order][0], left[order][0]);
        better = ir_operation(p, ATN_OP_OR, ATN_B, better, ir_and(p, same, earlier), -1);
    }
    return ir_declare(p, l->block, "wins", better);
}

void lower_join(lowering *l, const atn_block *b, ir_ref left[][2], ir_ref right[][2], ir_ref result[][2],
                bool in_order) {
    for (int32_t k = 0; k < b->n_accs; ++k) {
        const atn_acc *acc = &b->acc[k];
        bool argument = is_argument(acc);
        if (argument && acc->key == k) {
            ir_ref wins = right_wins(l, b, k, left, right, in_order);
            for (int32_t j = 0; j < b->n_accs; ++j) {
                const atn_acc *follower = &b->acc[j];
                if (!is_argument(follower) || follower->key != k) continue;
                for (int32_t part = 0; part < acc_parts(follower); ++part)
                    result[j][part] =
                        ir_operation(l->p, ATN_OP_SELECT, acc_type(l, follower), wins, right[j][part], left[j][part]);
            }
        } else if (acc->join == ATN_JOIN_CUSTOM) {
            for (int32_t j = 0; j < b->n_accs; ++j)
                for (int32_t part = 0; part < 2; ++part) {
                    l->side[0][j][part] = left[j][part];
                    l->side[1][j][part] = right[j][part];
                }
            for (int32_t part = 0; part < acc_parts(acc); ++part)
                result[k][part] = ir_cast(l->p, acc_type(l, acc), lower_value(l, acc->combine, PLACE_ORIGIN, part));
        } else if (!argument) {
            for (int32_t part = 0; part < acc_parts(acc); ++part)
                result[k][part] = join_one(l, acc, left[k], right[k], part);
        }
    }
}

/* ---- over the items of a group ---- */

/* The minimum or maximum of a warp, and the first of equal ones, need no butterflies: devices have an instruction for
 * 32-bit numbers. */
static bool is_extreme(const lowering *l, const atn_block *b) {
    static const bool EXTREME[] = {
        [ATN_JOIN_MIN] = true, [ATN_JOIN_MAX] = true, [ATN_JOIN_ARGMIN] = true, [ATN_JOIN_ARGMAX] = true};
    for (int32_t k = 0; k < b->n_accs; ++k) {
        const atn_acc *acc = &b->acc[k];
        int32_t type = acc_type(l, acc), key = is_argument(acc) ? acc->key : k;
        if ((size_t)acc->join >= sizeof EXTREME || !EXTREME[acc->join]) return false;
        if (type != ATN_INT32 && (key != k || type != ATN_SP)) return false;
        if (key != k && b->acc[key].order != k)
            return false; /* it follows the winner and does not decide which one
                           * wins */
    }
    return true;
}

static ir_ref extreme(lowering *l, const atn_acc *acc, ir_ref value, ir_shuffle how, int32_t lanes) {
    ir_node node = {.kind = IR_SHUFFLE,
                    .type = acc_type(l, acc),
                    .width = 1,
                    .arg = {value, -1, -1},
                    .id = lanes,
                    .list = (int32_t)how};
    return ir_declare(l->p, l->block, "best", ir_make(l->p, node));
}

static void find_extremes(lowering *l, const atn_block *b, ir_ref value[][2], int32_t lanes) {
    for (int32_t k = 0; k < b->n_accs; ++k) {
        const atn_acc *acc = &b->acc[k];
        if (is_argument(acc) && acc->key != k) continue;
        bool least = acc->join == ATN_JOIN_MIN || acc->join == ATN_JOIN_ARGMIN;
        ir_ref mine = ir_declare(l->p, l->block, "mine", value[k][0]);
        value[k][0] = extreme(l, acc, mine, least ? IR_SHUFFLE_LEAST : IR_SHUFFLE_MOST, lanes);
        if (!is_argument(acc)) continue;
        ir_ref is_it = ir_operation(l->p, ATN_OP_EQ, ATN_B, mine, value[k][0], -1);
        ir_ref late = limit_of(l, ATN_INT32, true);
        ir_ref first = ir_operation(l->p, ATN_OP_SELECT, ATN_INT32, is_it, value[acc->order][0], late);
        value[acc->order][0] = extreme(l, &b->acc[acc->order], first, IR_SHUFFLE_LEAST, lanes);
    }
}

/* Butterflies within `lanes` items of a warp: each ends with the combined result, with identical bits in all of them.
 * */
static void butterflies(lowering *l, const atn_block *b, ir_ref value[][2], int32_t lanes) {
    for (int32_t distance = lanes / 2; distance > 0; distance /= 2) {
        ir_ref other[ATN_MAX_ACCS][2], joined[ATN_MAX_ACCS][2];
        ir_clear(other, sizeof other);
        ir_clear(joined, sizeof joined);
        for (int32_t k = 0; k < b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) {
                value[k][part] = ir_declare(l->p, l->block, "mine", value[k][part]);
                ir_ref moved = ir_make(l->p, (ir_node){.kind = IR_SHUFFLE,
                                                       .type = acc_type(l, &b->acc[k]),
                                                       .width = 1,
                                                       .arg = {value[k][part], -1, -1},
                                                       .id = lanes,
                                                       .integer = distance});
                other[k][part] = ir_declare(l->p, l->block, "other", moved);
            }
        lower_join(l, b, value, other, joined, false);
        for (int32_t k = 0; k < b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) value[k][part] = joined[k][part];
    }
}

/* Over `lanes` items; `whole`: a warp belongs to one range, so that its other items hold copies of the same values. */
static void join_warp(lowering *l, const atn_block *b, ir_ref value[][2], int32_t lanes, bool whole) {
    if (whole && is_extreme(l, b))
        find_extremes(l, b, value, l->warp);
    else
        butterflies(l, b, value, lanes);
}

static ir_ref tile_read(lowering *l, int32_t tile, int32_t type, ir_ref at) {
    return ir_make(l->p, (ir_node){.kind = IR_TILE, .type = type, .width = 1, .arg = {at, -1, -1}, .id = tile});
}

static void tile_write(lowering *l, ir_block *block, int32_t tile, ir_ref at, ir_ref value) {
    ir_append(
        l->p, block,
        (ir_statement){
            .kind = IR_TILE_STORE, .id = tile, .index = at, .value = value, .limit = -1, .body = -1, .other = -1});
}

/* Slots in local memory for every accumulator, -1 for parts that it does not have; false: no tiles are left. Trees of
 * one type share their slots over time: they are used between barriers. */
static bool tree_tiles(lowering *l, const atn_block *b, int64_t slots, int32_t tile[][2]) {
    atn_lowered *p = l->p;
    ir_stage *stage = &p->stage[l->stage];
    ir_clear(tile, ATN_MAX_ACCS * sizeof *tile);
    for (int32_t k = 0, slot = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part, ++slot) {
            int32_t t = -1;
            const char *name = atn_arena_printf(&p->arena, "tree%d", slot);
            if (!name) p->failed = true;
            for (int32_t n = 0; n < stage->n_tiles && name; ++n)
                if (stage->tile[n].name[0] == 't' && stage->tile[n].type == (atn_type)acc_type(l, &b->acc[k]) &&
                    stage->tile[n].elements == slots && strcmp(stage->tile[n].name, name) == 0)
                    t = n;
            if (t < 0 && stage->n_tiles == (int32_t)(sizeof stage->tile / sizeof *stage->tile)) {
                lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: too many accumulators for the local buffers of a group",
                           l->g->name);
                return false;
            }
            if (t < 0) {
                t = stage->n_tiles++;
                stage->tile[t] = (ir_tile){.name = name, .type = (atn_type)acc_type(l, &b->acc[k]), .elements = slots};
            }
            tile[k][part] = t;
        }
    return !p->failed;
}

/* Within warps; then, if there is more than one warp, every warp combines the results of all of them. */
static void join_by_shuffle(lowering *l, const atn_block *b, ir_ref value[][2]) {
    atn_lowered *p = l->p;
    int32_t tile[ATN_MAX_ACCS][2], warps = l->cuts.lanes_q / l->warp;
    join_warp(l, b, value, warps > 1 ? l->warp : l->cuts.lanes_q, warps >= 1);
    if (warps <= 1 || !tree_tiles(l, b, l->cuts.items / l->warp, tile)) return;
    ir_block body = IR_EMPTY;
    ir_ref warp = ir_address(p, l->warp), zero = ir_address(p, 0);
    ir_ref first =
        ir_operation(p, ATN_OP_EQ, ATN_B, ir_operation(p, ATN_OP_MOD, IR_ADDRESS, l->item, warp, -1), zero, -1);
    ir_ref own = ir_operation(p, ATN_OP_DIV, IR_ADDRESS, l->item, warp, -1);
    ir_ref lane = ir_operation(p, ATN_OP_MOD, IR_ADDRESS, l->item, ir_address(p, warps), -1);
    ir_ref at = ir_add(p, ir_operation(p, ATN_OP_DIV, IR_ADDRESS, ir_subtract(p, l->item, l->lane_q), warp, -1), lane);
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) {
            value[k][part] = ir_declare(p, l->block, "mine", value[k][part]);
            tile_write(l, &body, tile[k][part], own, value[k][part]);
        }
    ir_if(p, l->block, first, body, IR_EMPTY);
    ir_barrier(p, l->block);
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part)
            value[k][part] = ir_declare(p, l->block, "warps", tile_read(l, tile[k][part], acc_type(l, &b->acc[k]), at));
    join_warp(l, b, value, warps, true);
    ir_barrier(p, l->block);
}

/* One slot per item in local memory, halved step by step. */
static void join_by_tree(lowering *l, const atn_block *b, ir_ref value[][2]) {
    atn_lowered *p = l->p;
    int32_t tile[ATN_MAX_ACCS][2];
    if (!tree_tiles(l, b, l->cuts.items, tile)) return;
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) {
            int32_t t = tile[k][part];
            value[k][part] = ir_variable_ref(p, ir_declare_mutable(p, l->block, "mine", value[k][part]));
            tile_write(l, l->block, t, l->item, value[k][part]);
        }
    ir_barrier(p, l->block);
    for (int32_t distance = l->cuts.lanes_q / 2; distance > 0; distance /= 2) {
        ir_ref other[ATN_MAX_ACCS][2], joined[ATN_MAX_ACCS][2];
        ir_block inner = IR_EMPTY, *outer = l->block;
        ir_clear(other, sizeof other);
        ir_clear(joined, sizeof joined);
        size_t mark = lower_mark(l);
        l->block = &inner;
        for (int32_t k = 0; k < b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part)
                other[k][part] = ir_declare(
                    p, l->block, "other",
                    tile_read(l, tile[k][part], acc_type(l, &b->acc[k]), ir_add_integer(p, l->item, distance)));
        lower_join(l, b, value, other, joined, false);
        for (int32_t k = 0; k < b->n_accs; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part)
                joined[k][part] = ir_declare(p, l->block, "joined", joined[k][part]);
        for (int32_t k = 0; k < b->n_accs && !p->failed; ++k)
            for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) {
                ir_assign(p, l->block, p->nodes[value[k][part]].id, joined[k][part]);
                tile_write(l, l->block, tile[k][part], l->item, value[k][part]);
            }
        l->block = outer;
        lower_forget(l, mark);
        ir_if(p, outer, ir_less(p, l->lane_q, ir_address(p, distance)), inner, IR_EMPTY);
        ir_barrier(p, outer);
    }
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part)
            value[k][part] =
                ir_declare(p, l->block, "all",
                           tile_read(l, tile[k][part], acc_type(l, &b->acc[k]), ir_subtract(p, l->item, l->lane_q)));
    ir_barrier(p, l->block);
}

void lower_join_lanes(lowering *l, const atn_block *b, ir_ref value[][2]) {
    if (l->cuts.lanes_q <= 1) return;
    if (l->v.reduce == ATN_REDUCE_SHUFFLE)
        join_by_shuffle(l, b, value);
    else
        join_by_tree(l, b, value);
}
