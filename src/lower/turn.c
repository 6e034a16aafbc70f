/* Blocks transposed in registers: if the registers of a dimension are contiguous in memory and the lanes of the vector
 * are not, a block of both, with as many registers as lanes, is transposed by exchanging halves, quarters, ... of pairs
 * of vectors (Eklundh), and written as vectors. Registers that form several blocks are read in order and written row by
 * row, so that a cache line is filled at once. Host only. */
#include "lower/lowering.h"

enum { MOST_LANES = 16, MOST_VECTORS = 32 /* the most registers of a dimension */ };

int32_t lower_turned(const lowering *l, const atn_write *w, uint32_t dims) {
    atn_type type = l->g->objects[w->object].type;
    if (!l->host || l->vec_dim < 0 || l->dim[l->vec_dim].vec > MOST_LANES || !(dims >> l->vec_dim & 1) ||
        w->combine != ATN_WRITE_ONCE || w->enable >= 0)
        return -1;
    if ((type != ATN_SP && type != ATN_DP && type != ATN_INT32) || atn_select_is_computed(l->g, w->select) ||
        l->g->objects[w->object].rank < 2)
        return -1;
    atn_affine column = atn_affine_of(l->g, w->select[0]);
    if (!column.is_affine || column.modulus >= 0 || column.coefficient[l->vec_dim] != 0) return -1;
    for (int32_t k = 0; k < l->cuts.n_points; ++k) {
        int32_t d = l->cuts.point[k];
        bool beside = column.coefficient[d] == 1;
        for (int axis = 1; axis < l->g->objects[w->object].rank; ++axis)
            beside = beside && !(l->g->values[w->select[axis]].dims >> d & 1);
        if (d != l->vec_dim && beside && l->dim[d].regs % l->dim[l->vec_dim].vec == 0 && l->dim[d].limit < 0) return d;
    }
    return -1;
}

void lower_transpose(lowering *l, ir_ref *block, int32_t width) {
    for (int32_t piece = width / 2; piece > 0; piece /= 2)
        for (int32_t j = 0; j < width; ++j) {
            if (j & piece) continue;
            ir_ref a = block[j], b = block[j + piece];
            for (int32_t odd = 0; odd < 2; ++odd)
                block[j + odd * piece] = ir_declare(l->p, l->block, "turn", ir_turn(l->p, a, b, piece, odd));
        }
}

void lower_write_turned(lowering *l, const atn_write *w, place at, int32_t d) {
    int32_t width = l->dim[l->vec_dim].vec, regs = l->dim[d].regs;
    ir_ref vectors[MOST_VECTORS];
    ir_clear(vectors, sizeof vectors);
    if (width > MOST_LANES || regs > MOST_VECTORS) {
        lower_fail(l, ATN_ERR_INTERNAL, "blocks of %d registers by %d lanes cannot be transposed", regs, width);
        return;
    }
    for (int32_t j = 0; j < regs; ++j) {
        place here = at;
        here.r[d] = (int8_t)j;
        vectors[j] = ir_declare(l->p, l->block, "line", ir_splat(l->p, lower_value(l, w->value, here, 0), width));
        ir_append(
            l->p, l->block,
            (ir_statement){.kind = IR_ORDER, .index = -1, .value = vectors[j], .limit = -1, .body = -1, .other = -1});
    }
    for (int32_t from = 0; from < regs; from += width) lower_transpose(l, vectors + from, width);
    for (int32_t k = 0; k < width; ++k)
        for (int32_t from = 0; from < regs; from += width) {
            place here = at;
            here.r[d] = (int8_t)from;
            here.lane = (int8_t)k;
            lower_store(l, w, lower_select(l, w->select, here, true), vectors[from + k], 0);
        }
}
