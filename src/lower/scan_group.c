/* A scan over the items of a group: within a warp by shuffles in log2 steps; over several warps by one slot of local
 * memory each; without shuffles, entirely in local memory. All registers of an item share the barriers. */
#include "lower/scan.h"

static ir_ref shuffle(scan *s, int32_t k, ir_ref value, int32_t how, int32_t integer, int32_t segment) {
    return ir_make(s->l->p, (ir_node){.kind = IR_SHUFFLE,
                                      .type = acc_type(s->l, &s->b->acc[k]),
                                      .width = 1,
                                      .arg = {value, -1, -1},
                                      .id = segment,
                                      .list = how,
                                      .integer = integer});
}

static ir_ref read_slot(scan *s, int32_t k, int32_t part, int32_t row, ir_ref at) {
    return ir_make(s->l->p, (ir_node){.kind = IR_TILE,
                                      .type = acc_type(s->l, &s->b->acc[k]),
                                      .width = 1,
                                      .arg = {ir_add_integer(s->l->p, at, (int64_t)row * s->tile_row), -1, -1},
                                      .id = s->tile[k][part]});
}

static void write_slot(scan *s, ir_block *block, int32_t k, int32_t part, int32_t row, ir_ref at, ir_ref value) {
    ir_append(s->l->p, block,
              (ir_statement){.kind = IR_TILE_STORE,
                             .id = s->tile[k][part],
                             .index = ir_add_integer(s->l->p, at, (int64_t)row * s->tile_row),
                             .value = value,
                             .limit = -1,
                             .body = -1,
                             .other = -1});
}

static bool by_shuffle(const scan *s) { return s->l->v.reduce == ATN_REDUCE_SHUFFLE; }

bool scan_group_open(scan *s) {
    lowering *l = s->l;
    ir_stage *stage = &l->p->stage[l->stage];
    int32_t segment = s->lanes < l->warp ? s->lanes : l->warp, slot = 0;
    s->tile_row = s->lanes == 1 ? 0 : !by_shuffle(s) ? s->lanes : s->lanes > segment ? s->lanes / segment : 0;
    if (s->tile_row == 0) return true;
    SCAN_EACH(s->b, k, part) {
        if (stage->n_tiles == (int32_t)(sizeof stage->tile / sizeof *stage->tile)) {
            lower_fail(l, ATN_ERR_UNSUPPORTED, "%s: too many accumulators for the local buffers of a group",
                       l->g->name);
            return false;
        }
        const char *name = atn_arena_printf(&l->p->arena, "scan%d", slot++);
        if (!name) return l->p->failed = true, false;
        s->tile[k][part] = stage->n_tiles;
        stage->tile[stage->n_tiles++] =
            (ir_tile){.name = name,
                      .type = (atn_type)acc_type(l, &s->b->acc[k]),
                      .elements = (int64_t)s->tile_row * (l->scan_phase == SCAN_LOOK ? 1 : s->regs)};
    }
    return true;
}

/* value = value combined with `other`, which is earlier, if that belongs to the group. */
static void take(scan *s, ir_ref there, scan_accs value, scan_accs other) {
    lowering *l = s->l;
    scan_accs joined;
    scan_join(s, "joined", other, value, joined);
    if (l->p->failed) return;
    SCAN_EACH(s->b, k, part)
    value[k][part] = ir_declare(
        l->p, l->block, "upto",
        ir_operation(l->p, ATN_OP_SELECT, acc_type(l, &s->b->acc[k]), there, joined[k][part], value[k][part]));
}

static ir_ref from_lane(scan *s, ir_ref lane, int32_t distance) {
    ir_ref there = ir_operation(s->l->p, ATN_OP_LE, ATN_B, ir_address(s->l->p, distance), lane, -1);
    return ir_declare(s->l->p, s->l->block, "there", there);
}

/* Within segments of a warp. */
static void by_warp(scan *s, ir_ref lane, int32_t segment, int32_t rows, scan_accs *value) {
    for (int32_t distance = 1; distance < segment; distance *= 2) {
        ir_ref there = from_lane(s, lane, distance);
        for (int32_t r = 0; r < rows; ++r) {
            scan_accs other;
            SCAN_EACH(s->b, k, part)
            other[k][part] = ir_declare(s->l->p, s->l->block, "other",
                                        shuffle(s, k, value[r][k][part], IR_SHUFFLE_UP, distance, segment));
            take(s, there, value[r], other);
        }
    }
}

static void one_up(scan *s, ir_ref lane, int32_t segment, scan_accs value, scan_accs earlier) {
    lowering *l = s->l;
    ir_ref there = from_lane(s, lane, 1);
    SCAN_EACH(s->b, k, part) {
        ir_ref up = ir_declare(l->p, l->block, "up", shuffle(s, k, value[k][part], IR_SHUFFLE_UP, 1, segment));
        earlier[k][part] =
            ir_declare(l->p, l->block, "earlier",
                       ir_operation(l->p, ATN_OP_SELECT, acc_type(l, &s->b->acc[k]), there, up, s->neutral[k][part]));
    }
}

/* Position in the scan: the lane in a warp, or among all lanes if there are fewer, and the warp; -1: there is one. */
static ir_ref split_lane(scan *s, int32_t segment, ir_ref *warp) {
    atn_lowered *p = s->l->p;
    ir_ref width = ir_address(p, segment);
    *warp = -1;
    if (s->lanes <= segment) return s->lane;
    ir_ref lane = ir_declare(p, s->l->block, "lane", ir_operation(p, ATN_OP_MOD, IR_ADDRESS, s->lane, width, -1));
    *warp = ir_declare(p, s->l->block, "warp", ir_operation(p, ATN_OP_DIV, IR_ADDRESS, s->lane, width, -1));
    return lane;
}

/* From what the warps stored in row r: the total of the warps before this one, and the total of all. */
static void below_and_total(scan *s, int32_t r, ir_ref warp, int32_t warps, scan_accs below, scan_accs total) {
    lowering *l = s->l;
    atn_lowered *p = l->p;
    ir_clear(below, sizeof(scan_accs));
    SCAN_EACH(s->b, k, part) {
        below[k][part] = s->neutral[k][part];
        total[k][part] = ir_declare(p, l->block, "total", read_slot(s, k, part, r, ir_address(p, 0)));
    }
    for (int32_t w = 1; w < warps && !p->failed; ++w) { /* `total` is that of warps 0 to w - 1 */
        scan_accs next, sum;
        ir_ref behind = ir_operation(p, ATN_OP_LE, ATN_B, ir_address(p, w), warp, -1);
        SCAN_EACH(s->b, k, part) {
            below[k][part] = ir_declare(
                p, l->block, "below",
                ir_operation(p, ATN_OP_SELECT, acc_type(l, &s->b->acc[k]), behind, total[k][part], below[k][part]));
            next[k][part] = ir_declare(p, l->block, "next", read_slot(s, k, part, r, ir_address(p, w)));
        }
        scan_join(s, "total", total, next, sum);
        SCAN_EACH(s->b, k, part) total[k][part] = sum[k][part];
    }
}

static void shuffled(scan *s, int32_t rows, scan_accs *value, scan_accs *earlier, scan_accs *total) {
    lowering *l = s->l;
    atn_lowered *p = l->p;
    int32_t segment = s->lanes < l->warp ? s->lanes : l->warp, warps = s->lanes / segment;
    ir_ref warp, lane = split_lane(s, segment, &warp);
    by_warp(s, lane, segment, rows, value);
    for (int32_t r = 0; r < rows && !p->failed; ++r) {
        if (s->before) one_up(s, lane, segment, value[r], earlier[r]);
        if (warps > 1) continue;
        SCAN_EACH(s->b, k, part)
        total[r][k][part] =
            ir_declare(p, l->block, "total", shuffle(s, k, value[r][k][part], IR_SHUFFLE_FROM, segment - 1, segment));
    }
    if (warps == 1 || p->failed) return;
    ir_block last = IR_EMPTY;
    for (int32_t r = 0; r < rows; ++r)
        SCAN_EACH(s->b, k, part) write_slot(s, &last, k, part, r, warp, value[r][k][part]);
    ir_if(p, l->block, ir_operation(p, ATN_OP_EQ, ATN_B, lane, ir_address(p, segment - 1), -1), last, IR_EMPTY);
    ir_barrier(p, l->block);
    for (int32_t r = 0; r < rows && !p->failed; ++r) {
        scan_accs below;
        below_and_total(s, r, warp, warps, below, total[r]);
        if (p->failed) return;
        scan_accs joined;
        scan_join(s, "upto", below, value[r], joined);
        SCAN_EACH(s->b, k, part) value[r][k][part] = joined[k][part];
        if (!s->before) continue;
        scan_join(s, "earlier", below, earlier[r], joined);
        SCAN_EACH(s->b, k, part) earlier[r][k][part] = joined[k][part];
    }
    ir_barrier(p, l->block);
}

/* From the total of this warp, through one slot per warp: the total of those before it, and that of all. */
static void over_warps(scan *s, ir_ref lane, ir_ref warp, int32_t warps, scan_accs below, scan_accs total) {
    lowering *l = s->l;
    atn_lowered *p = l->p;
    ir_block first = IR_EMPTY;
    SCAN_EACH(s->b, k, part) write_slot(s, &first, k, part, 0, warp, total[k][part]);
    ir_if(p, l->block, ir_operation(p, ATN_OP_EQ, ATN_B, lane, ir_address(p, 0), -1), first, IR_EMPTY);
    ir_barrier(p, l->block);
    below_and_total(s, 0, warp, warps, below, total);
    ir_barrier(p, l->block);
}

void scan_warps(scan *s, int32_t rows, int32_t items, scan_accs *value, scan_accs *earlier, scan_accs below,
                scan_accs total) {
    lowering *l = s->l;
    atn_lowered *p = l->p;
    int32_t segment = s->lanes < l->warp ? s->lanes : l->warp, warps = s->lanes / segment;
    int32_t first = (items + segment - 1) / segment;
    ir_ref warp, lane = split_lane(s, segment, &warp);
    by_warp(s, lane, segment, rows, value);
    for (int32_t r = 0; r < rows && !p->failed; ++r) {
        scan_accs row, joined;
        ir_clear(row, sizeof row);
        one_up(s, lane, segment, value[r], earlier[r]);
        SCAN_EACH(s->b, k, part)
        row[k][part] =
            ir_declare(p, l->block, "row", shuffle(s, k, value[r][k][part], IR_SHUFFLE_FROM, segment - 1, segment));
        if (r > 0) {
            scan_join(s, "earlier", total, earlier[r], joined);
            SCAN_EACH(s->b, k, part) earlier[r][k][part] = joined[k][part];
            scan_join(s, "rows", total, row, joined);
        }
        SCAN_EACH(s->b, k, part) total[k][part] = r > 0 ? joined[k][part] : row[k][part];
    }
    SCAN_EACH(s->b, k, part) below[k][part] = s->neutral[k][part];
    if (warps == 1 || p->failed) return;
    over_warps(s, lane, warp, first < warps ? first : warps, below, total);
}

void scan_hand_out(scan *s, ir_block first, scan_accs value, scan_accs out) {
    lowering *l = s->l;
    atn_lowered *p = l->p;
    ir_ref is_first = ir_operation(p, ATN_OP_EQ, ATN_B, s->lane, ir_address(p, 0), -1);
    if (s->tile_row > 0) {
        SCAN_EACH(s->b, k, part) write_slot(s, &first, k, part, 0, ir_address(p, 0), value[k][part]);
        ir_if(p, l->block, is_first, first, IR_EMPTY);
        ir_barrier(p, l->block);
        SCAN_EACH(s->b, k, part)
        out[k][part] = ir_declare(p, l->block, "handed", read_slot(s, k, part, 0, ir_address(p, 0)));
        return;
    }
    scan_accs kept;
    scan_variables(s, "kept", s->neutral, kept);
    ir_block *outer = l->block;
    l->block = &first;
    scan_assign(s, kept, value);
    l->block = outer;
    ir_if(p, outer, is_first, first, IR_EMPTY);
    SCAN_EACH(s->b, k, part)
    out[k][part] = ir_declare(p, l->block, "handed", shuffle(s, k, kept[k][part], IR_SHUFFLE_FROM, 0, s->lanes));
}

static void in_local_memory(scan *s, int32_t rows, scan_accs *value, scan_accs *earlier, scan_accs *total) {
    lowering *l = s->l;
    atn_lowered *p = l->p;
    ir_ref here = s->lane;
    for (int32_t distance = 1; distance <= s->lanes && !p->failed; distance *= 2) {
        for (int32_t r = 0; r < rows; ++r)
            SCAN_EACH(s->b, k, part) write_slot(s, l->block, k, part, r, here, value[r][k][part]);
        ir_barrier(p, l->block);
        if (distance == s->lanes) break;
        ir_ref there = from_lane(s, here, distance);
        ir_ref from = ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, there, ir_add_integer(p, here, -distance), here);
        from = ir_declare(p, l->block, "from", from);
        for (int32_t r = 0; r < rows && !p->failed; ++r) {
            scan_accs other;
            SCAN_EACH(s->b, k, part) other[k][part] = ir_declare(p, l->block, "other", read_slot(s, k, part, r, from));
            take(s, there, value[r], other);
        }
        ir_barrier(p, l->block);
    }
    ir_ref there = from_lane(s, here, 1);
    ir_ref up = ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, there, ir_add_integer(p, here, -1), here);
    up = ir_declare(p, l->block, "up", up);
    for (int32_t r = 0; r < rows && !p->failed; ++r) SCAN_EACH(s->b, k, part) {
            int32_t type = acc_type(l, &s->b->acc[k]);
            total[r][k][part] = ir_declare(p, l->block, "total", read_slot(s, k, part, r, ir_address(p, s->lanes - 1)));
            if (s->before)
                earlier[r][k][part] = ir_declare(
                    p, l->block, "earlier",
                    ir_operation(p, ATN_OP_SELECT, type, there, read_slot(s, k, part, r, up), s->neutral[k][part]));
        }
    ir_barrier(p, l->block);
}

void scan_group(scan *s, int32_t rows, scan_accs *value, scan_accs *earlier, scan_accs *total) {
    if (s->lanes == 1) {
        for (int32_t r = 0; r < rows; ++r) SCAN_EACH(s->b, k, part) {
                earlier[r][k][part] = s->neutral[k][part];
                total[r][k][part] = value[r][k][part];
            }
    } else if (by_shuffle(s)) {
        shuffled(s, rows, value, earlier, total);
    } else {
        in_local_memory(s, rows, value, earlier, total);
    }
}
