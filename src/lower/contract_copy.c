/* Copies of tiles for matrix products: asynchronous, in pieces of 16 bytes, distributed over the items of a group. */
#include "lower/contract_state.h"

/* One operand of a set of copies: `height` rows of `width` elements of a matrix. */
typedef struct panel {
    int32_t side, width, height, pitch;
    ir_ref column, row, column_end, row_end; /* where it begins, and the size of the matrix */
} panel;

static panel panel_of(const lowering *l, const contraction *x, int32_t side, ir_ref start, ir_ref to) {
    const lower_contraction *c = &x->c;
    int32_t tile = l->v.q[0].tile, d = side == 0 ? 1 : 0;
    ir_ref end = ir_add(l->p, l->begin[d], l->extent[d]);
    return side == 0 ? (panel){0, tile, c->rows, c->left_pitch, start, l->start[1], to, end}
                     : (panel){1, c->columns, tile, c->right_pitch, l->start[0], start, end, to};
}

static ir_ref load_of(lowering *l, const contraction *x, int32_t side, ir_ref column, ir_ref row) {
    lower_at at = {.axis = {column, row, -1}};
    return lower_load_wide(l, l->g->reads[side == 0 ? x->c.left : x->c.right].object, at, 1);
}

/* Address, in words, of a 16-byte piece at column e0 and row e1 of a panel. For warpgroups, lines of 128 bytes hold 64
 * columns each and follow one another; within a line, pieces are permuted by the line number, so that eight rows of a
 * column are in different banks. */
static ir_ref place_of(lowering *l, const contraction *x, const panel *w, ir_ref buffer, ir_ref e0, ir_ref e1) {
    atn_lowered *p = l->p;
    if (x->c.warpgroup) {
        ir_ref line =
            ir_add(p, ir_multiply_integer(p, buffer, w->width / CONTRACT_LINE), OF(ATN_OP_DIV, e0, CONTRACT_LINE));
        ir_ref piece = ir_operation(p, ATN_OP_BITXOR, IR_ADDRESS, OF(ATN_OP_MOD, OF(ATN_OP_DIV, e0, 8), 8),
                                    OF(ATN_OP_MOD, e1, 8), -1);
        line = ir_add(p, ir_multiply_integer(p, line, w->height), e1);
        return ir_add(p, ir_multiply_integer(p, line, CONTRACT_LINE / 2), ir_multiply_integer(p, piece, 4));
    }
    ir_ref row = ir_add(p, ir_multiply_integer(p, buffer, w->height), e1);
    return ir_add(p, ir_multiply_integer(p, row, w->pitch), x->c.type == ATN_HP ? OF(ATN_OP_DIV, e0, 2) : e0);
}

/* All items copy 16-byte pieces of a panel into a buffer. `whole`: the panel lies entirely inside the matrix and is
 * aligned; otherwise the missing part is filled with zeros. */
static void copy(lowering *l, const contraction *x, const panel *w, ir_ref buffer, bool whole) {
    atn_lowered *p = l->p;
    const lower_contraction *c = &x->c;
    int32_t across = w->width / c->chunk;
    int64_t pieces = (int64_t)across * w->height;
    int32_t variable = ir_new_variable(p, "e", IR_ADDRESS, 1, true);
    ir_ref e = ir_variable_ref(p, variable);
    ir_block body = IR_EMPTY, *outer = l->block;
    size_t mark = lower_mark(l);
    l->block = &body;
    ir_ref e0 = ir_declare(p, l->block, "e0", ir_multiply_integer(p, OF(ATN_OP_MOD, e, across), c->chunk));
    ir_ref e1 = ir_declare(p, l->block, "e1", OF(ATN_OP_DIV, e, across));
    ir_ref column = ir_declare(p, l->block, "column", ir_add(p, w->column, e0));
    ir_ref row = ir_declare(p, l->block, "row", ir_add(p, w->row, e1));
    ir_ref count = whole ? -1
                         : ir_operation(p, ATN_OP_SELECT, IR_ADDRESS, ir_less(p, row, w->row_end),
                                        ir_subtract(p, w->column_end, column), ir_address(p, 0));
    ir_append(p, l->block,
              (ir_statement){.kind = IR_MATRIX_FETCH,
                             .id = x->tile[w->side],
                             .index = place_of(l, x, w, buffer, e0, e1),
                             .value = load_of(l, x, w->side, column, row),
                             .limit = count,
                             .body = -1,
                             .other = -1});
    lower_forget(l, mark);
    l->block = outer;
    int64_t rounds = (pieces + l->cuts.items - 1) / l->cuts.items;
    ir_for(p, outer, variable, l->item, ir_address(p, pieces), l->cuts.items, rounds > 16 ? 16 : (int32_t)rounds, body);
}

static void find_regular(lowering *l, contraction *x) {
    atn_lowered *p = l->p;
    ir_ref all = -1, zero = ir_address(p, 0);
    for (int32_t d = 0; d < 2; ++d)
        all = ir_and(p, all,
                     ir_operation(p, ATN_OP_LE, ATN_B, ir_add_integer(p, l->start[d], l->cuts.span[d]),
                                  ir_add(p, l->begin[d], l->extent[d]), -1));
    all = x->full = ir_declare(p, l->block, "full", all);
    for (int32_t side = 0; side < 2; ++side) {
        int32_t object = l->g->reads[side == 0 ? x->c.left : x->c.right].object;
        ir_node node = {.kind = IR_CALL,
                        .type = ATN_B,
                        .width = 1,
                        .arg = {load_of(l, x, side, side == 0 ? zero : l->start[0], zero),
                                ir_argument_ref(p, IR_ARG_PITCH, object, IR_ADDRESS), -1},
                        .id = IR_CALL_ALIGNED};
        all = ir_and(p, all, ir_make(p, node));
    }
    x->regular = ir_declare(p, l->block, "regular", all);
}

/* What an item copies of every tile, for each matrix: its column stays the same, and its rows are as far apart as the
 * items cover rows. */
void contract_share_copies(lowering *l, contraction *x) {
    atn_lowered *p = l->p;
    find_regular(l, x);
    for (int32_t side = 0; side < 2; ++side) {
        panel w = panel_of(l, x, side, ir_address(p, 0), -1);
        struct share *s = &x->share[side];
        int32_t across = w.width / x->c.chunk, rows = l->cuts.items / across;
        if (l->cuts.items % across != 0 || w.height % rows != 0 || (x->c.warpgroup && rows % 8 != 0)) continue;
        ir_ref e0 = ir_declare(p, l->block, "e0", ir_multiply_integer(p, OF(ATN_OP_MOD, l->item, across), x->c.chunk));
        ir_ref e1 = ir_declare(p, l->block, "e1", OF(ATN_OP_DIV, l->item, across));
        ir_ref first = load_of(l, x, side, ir_add(p, w.column, e0), ir_add(p, w.row, e1));
        int32_t object = l->g->reads[side == 0 ? x->c.left : x->c.right].object;
        if (p->failed) return;
        s->rounds = w.height / rows;
        s->place = ir_declare(p, l->block, "into", place_of(l, x, &w, ir_address(p, 0), e0, e1));
        s->from = ir_declare(p, l->block, "from", p->nodes[first].arg[0]);
        s->apart = ir_declare(p, l->block, "apart",
                              ir_multiply_integer(p, ir_argument_ref(p, IR_ARG_PITCH, object, IR_ADDRESS), rows));
        s->words = (int64_t)rows * (x->c.warpgroup ? CONTRACT_LINE / 2 : w.pitch);
        s->buffer = (int64_t)w.height * (x->c.warpgroup ? w.width / 2 : w.pitch);
    }
}

/* Both tiles, if they lie entirely inside the matrices. */
static void copy_whole(lowering *l, const contraction *x, ir_ref start, ir_ref buffer) {
    atn_lowered *p = l->p;
    for (int32_t side = 0; side < 2 && !p->failed; ++side) {
        const struct share *s = &x->share[side];
        int32_t object = l->g->reads[side == 0 ? x->c.left : x->c.right].object;
        panel w = panel_of(l, x, side, start, -1);
        if (s->rounds == 0) {
            copy(l, x, &w, buffer, true);
            continue;
        }
        ir_ref pitch = ir_argument_ref(p, IR_ARG_PITCH, object, IR_ADDRESS), zero = ir_address(p, 0);
        ir_ref into = ir_declare(p, l->block, "into", ir_add(p, s->place, ir_multiply_integer(p, buffer, s->buffer)));
        ir_ref from = ir_add(p, s->from, side == 0 ? start : ir_multiply(p, start, pitch));
        from = ir_declare(p, l->block, "from", from);
        ir_ref load = load_of(l, x, side, zero, zero);
        for (int32_t k = 0; k < s->rounds && !p->failed; ++k) {
            ir_node node = p->nodes[load];
            node.arg[0] = ir_add(p, from, ir_multiply_integer(p, s->apart, k));
            ir_append(p, l->block,
                      (ir_statement){.kind = IR_MATRIX_FETCH,
                                     .id = x->tile[side],
                                     .index = ir_add_integer(p, into, k * s->words),
                                     .value = ir_make(p, node),
                                     .limit = -1,
                                     .body = -1,
                                     .other = -1});
        }
    }
}

void contract_fetch(lowering *l, const contraction *x, ir_ref start, ir_ref to, ir_ref buffer) {
    atn_lowered *p = l->p;
    ir_block ways[2] = {IR_EMPTY, IR_EMPTY}, exists = IR_EMPTY, *outer = l->block;
    start = ir_declare(p, l->block, "fetched", start);
    size_t mark = lower_mark(l);
    l->block = &ways[0];
    for (int32_t side = 0; side < 2; ++side) {
        panel w = panel_of(l, x, side, start, to);
        copy(l, x, &w, buffer, false);
    }
    l->block = &ways[1];
    copy_whole(l, x, start, buffer);
    lower_forget(l, mark);
    l->block = outer;
    ir_ref full = ir_operation(p, ATN_OP_LE, ATN_B, ir_add_integer(p, start, l->v.q[0].tile), to, -1);
    ir_if(p, &exists, ir_and(p, x->regular, full), ways[1], ways[0]);
    ir_if(p, outer, ir_less(p, start, to), exists, IR_EMPTY);
    ir_append(p, outer,
              (ir_statement){.kind = IR_MATRIX_COMMIT, .index = -1, .value = -1, .limit = -1, .body = -1, .other = -1});
}
