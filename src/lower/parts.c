#include "lower/parts.h"

#include "graph/refuse.h"

bool lower_fits_parts(const lower_asked *a, const char **why_not) {
    const atn_variant *v = a->v;
    const atn_cut *p0 = &v->p[0], *p1 = &v->p[1];
    lower_contraction c;
    REFUSE(!a->t->host, "matrix=bfloat, bfloat2 and bfloat3 are for CPUs");
    REFUSE(a->t->bf16 == ATN_BF16_NONE,
           "the CPU cannot multiply numbers of BFloat16 (AMX, AVX512-BF16 or BFMMLA), or this process may not");
    REFUSE(!lower_find_factors(a->g, &c), "it is not a product of two matrices in their stored layout");
    REFUSE(c.type == ATN_DP, "matrix=bfloat, bfloat2 and bfloat3 require matrices of HP or SP");
    REFUSE(c.type == ATN_HP && v->matrix == ATN_MATRIX_BFLOAT3, "two numbers of BFloat16 hold all bits of HP");
    REFUSE(v->half || v->accumulate == 64, "matrix units accumulate in single precision");
    REFUSE(p0->vec != 16 || p0->regs % (PARTS_COLUMNS / 16) != 0 || p0->pack > 1 || p1->regs % PARTS_ROWS != 0 ||
               p1->pack > 1,
           "numbers of BFloat16 require vec_p0=16, an even number of registers along p0 and a multiple of 4 along p1, "
           "without pack");
    REFUSE(p0->seq * p1->seq == 1, "numbers of BFloat16 require a sequence of steps: seq_p0 or seq_p1");
    REFUSE(v->stage == 0 || v->q[0].tile == 0 || v->q[0].tile % PARTS_STEPS != 0 || v->q[0].regs > 1,
           "numbers of BFloat16 require staged tiles whose length is a multiple of 32");
    return true;
}

static int32_t rows_of(const lowering *l) { return l->v.p[1].regs; }
static int32_t columns_of(const lowering *l) { return 16 * l->v.p[0].regs; }

static int32_t add_tile(lowering *l, const char *name, int64_t elements) {
    ir_stage *stage = &l->p->stage[l->stage];
    stage->tile[stage->n_tiles] = (ir_tile){.name = name, .type = ATN_U16, .elements = elements};
    return stage->n_tiles++;
}

void parts_open(lowering *l, lower_parts *x) {
    if (!lower_find_factors(l->g, &x->c)) {
        lower_fail(l, ATN_ERR_INTERNAL, "%s: not a product of two matrices", l->g->name);
        return;
    }
    x->count = atn_variant_parts(&l->v);
    x->unit = l->bf16 == ATN_BF16_TILES && rows_of(l) % 16 != 0 ? ATN_BF16_DOTS : l->bf16;
    int64_t each = (int64_t)l->v.q[0].tile * x->count;
    x->tile[0] = add_tile(l, "left", each * rows_of(l));
    x->tile[1] = add_tile(l, "right", each * columns_of(l) * l->v.p[0].seq);
}

void parts_set(lowering *l, const lower_parts *x, bool end) {
    ir_append(l->p, l->block,
              (ir_statement){.kind = IR_PARTS_SET,
                             .unroll = (int32_t)x->unit,
                             .component = end,
                             .index = -1,
                             .value = -1,
                             .limit = -1,
                             .body = -1,
                             .other = -1});
}

static ir_ref steps_from(lowering *l, ir_ref start, ir_ref to) {
    return ir_operation(l->p, ATN_OP_MIN, IR_ADDRESS, ir_address(l->p, l->v.q[0].tile), ir_subtract(l->p, to, start),
                        -1);
}

/* Splits elements of one side, from a row or column of the group on. */
static void split(lowering *l, const lower_parts *x, int32_t side, ir_ref at, ir_ref start, ir_ref to) {
    const atn_read *read = &l->g->reads[side == 0 ? x->c.left : x->c.right];
    lower_at from = {.axis = {side == 0 ? start : at, side == 0 ? at : start, -1}};
    ir_append(l->p, l->block,
              (ir_statement){.kind = IR_PARTS_SPLIT,
                             .id = x->tile[side],
                             .index = -1,
                             .value = lower_load_wide(l, read->object, from, 1),
                             .limit = steps_from(l, start, to),
                             .component = side,
                             .body = -1,
                             .other = -1});
}

void parts_fill(lowering *l, const lower_parts *x, ir_ref start, ir_ref to) { split(l, x, 1, l->start[0], start, to); }

/* The rows of a step are split before the first step that has them, and stay in the first cache for the others. */
static void split_rows(lowering *l, const lower_parts *x, ir_ref start, ir_ref to) {
    const dim_state *columns = &l->dim[l->cuts.point[0]], *rows = &l->dim[l->cuts.point[1]];
    ir_ref first = l->skips ? ir_multiply_integer(l->p, l->first_step[0], columns_of(l)) : ir_address(l->p, 0);
    ir_block body = IR_EMPTY, *outer = l->block;
    l->block = &body;
    split(l, x, 0, rows->base, start, to);
    l->block = outer;
    ir_if(l->p, outer, ir_operation(l->p, ATN_OP_EQ, ATN_B, columns->local, first, -1), body, IR_EMPTY);
}

void parts_multiply(lowering *l, const lower_parts *x, ir_ref from, ir_ref start, ir_ref to, int32_t sums, ir_ref at) {
    int64_t each = (int64_t)l->v.q[0].tile * x->count; /* numbers of a column */
    ir_ref all[] = {ir_address(l->p, 0), ir_multiply_integer(l->p, l->dim[l->cuts.point[0]].local, each),
                    steps_from(l, start, to), ir_subtract(l->p, start, from)};
    split_rows(l, x, start, to);
    ir_append(l->p, l->block,
              (ir_statement){.kind = IR_PARTS_MULTIPLY,
                             .id = sums,
                             .index = at,
                             .value = ir_join(l->p, all, 4),
                             .limit = -1,
                             .step = x->tile[0],
                             .component = x->tile[1],
                             .unroll = (int32_t)x->unit,
                             .body = -1,
                             .other = -1});
}
