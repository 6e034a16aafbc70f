/* Rules of the shipped knobs other than tiling: which graphs or devices do not support one, and why. */
#include "lower/fits.h"

#include "graph/affine.h"
#include "graph/refuse.h"
#include "lower/contract.h"
#include "lower/matrix.h"
#include "lower/parts.h"

#include <math.h>

bool lower_fits_all(const lower_asked *a, const char **why_not) { return (void)a, (void)why_not, true; }

bool lower_fits_stage(const lower_asked *a, const char **why_not) {
    const atn_variant *v = a->v;
    REFUSE(v->stage > 2 && v->matrix == ATN_MATRIX_OFF, "more than two buffers require matrix units");
    return true;
}

bool lower_fits_reduce(const lower_asked *a, const char **why_not) {
    const atn_variant *v = a->v;
    const atn_target *t = a->t;
    REFUSE(v->reduce == ATN_REDUCE_SHUFFLE && a->lanes_q > 1 && (!t->shuffle || a->lanes_q > t->warp * t->warp),
           "there are more lanes along q than warps can shuffle");
    return true;
}

bool lower_fits_finish(const lower_asked *a, const char **why_not) {
    const atn_graph *g = a->g;
    const atn_variant *v = a->v;
    const atn_target *t = a->t;
    if (atn_variant_splits(v) > 1) {
        REFUSE(v->finish != ATN_FINISH_LAUNCH && a->points > 0 && !t->host,
               "only a reduction over everything can finish within its launch");
        for (int32_t k = 0; k < g->blocks[a->block].n_accs; ++k) {
            const atn_acc *acc = &g->blocks[a->block].acc[k];
            REFUSE(v->finish == ATN_FINISH_ATOMIC && !t->host &&
                       (acc->join != ATN_JOIN_SUM || v->accumulate == 64 ||
                        (acc->type != ATN_SP && acc->type != ATN_INT32)),
                   "only sums of SP or INT32 can be combined by atomics");
        }
    }
    if (v->finish == ATN_FINISH_LOOK && !atn_graph_has_scan(g)) {
        REFUSE(!t->waits, "waiting for other groups is supported on CUDA only");
        REFUSE(a->points > 0 || atn_variant_splits(v) == 1 || a->lanes_q == 1 || v->groups > 0,
               "finish=look requires a split reduction over everything, with lanes and with groups=0");
    } else if (v->finish == ATN_FINISH_LOOK) {
        REFUSE(!t->waits || v->reduce != ATN_REDUCE_SHUFFLE,
               "waiting for preceding groups is supported on CUDA only, with reduce=shuffle");
        REFUSE(!atn_graph_has_scan(g) || atn_variant_splits(v) == 1 || a->lanes_q == 1 || a->rank != 1 || v->groups > 0,
               "finish=look requires a split scan over one dimension, with lanes and with groups=0");
        REFUSE(v->stage > 0 && v->q[0].pack == 1,
               "keeping a tile (stage=1) requires moving several of its elements at once");
        for (int32_t d = 0; d < a->rank; ++d)
            REFUSE(!atn_value_is_static(g, g->dims[g->blocks[a->block].dim[d]].begin) ||
                       !atn_value_is_static(g, g->dims[g->blocks[a->block].dim[d]].end),
                   "elements determine the length of the range, and thus the number of groups");
    }
    return true;
}

/* The least or the largest on matrix units. */
static bool fits_pick(const atn_variant *v, const char **why_not) {
    REFUSE(v->matrix != ATN_MATRIX_HALF || v->mix > 0, "what is picked has no weights: matrix=half, without mix");
    REFUSE(v->q[0].unroll > MATRIX_MOST_TOGETHER || v->q[0].tile % (MATRIX_STEPS * v->q[0].unroll) != 0,
           "a tile is compared in blocks of 16 times unroll_q0 steps, 4 times at most");
    REFUSE(v->p[0].regs * 4 > MATRIX_MOST_PICKED, "a lane keeps the best of 8 registers of points at most");
    return true;
}

bool lower_fits_matrix(const lower_asked *a, const char **why_not) {
    const atn_graph *g = a->g;
    const atn_variant *v = a->v;
    const atn_target *t = a->t;
    if (atn_variant_parts(v) > 0) return lower_fits_parts(a, why_not);
    if (v->matrix != ATN_MATRIX_OFF) {
        lower_contraction contraction;
        bool single = t->products && v->matrix == ATN_MATRIX_PAIR && lower_is_contraction(g);
        REFUSE(!t->matrix && !single, "the device, or its dialect, has no supported matrix units");
        REFUSE(v->matrix == ATN_MATRIX_WARPGROUP && !t->warpgroup,
               "the device has no warpgroup instructions (four warps multiplying together)");
        REFUSE(v->half || v->accumulate == 64, "matrix units accumulate in single precision");
        if (lower_is_contraction(g) && !lower_find_contraction(g, v, &contraction, why_not)) return false;
    }
    if (v->matrix != ATN_MATRIX_OFF && !lower_is_contraction(g)) {
        lower_matrix matrix;
        REFUSE(v->matrix == ATN_MATRIX_DOUBLE, "matrix=double requires products of matrices of DP");
        REFUSE(v->matrix == ATN_MATRIX_WARPGROUP, "matrix=warpgroup requires products of matrices of HP");
        REFUSE(v->stage > 2, "more than two buffers require products of matrices");
        if (!lower_find_matrix(g, v, &matrix, why_not)) return false;
        REFUSE(v->p[0].lanes % 32 != 0 || a->lanes_q > 1 || v->q[0].regs > 1 || v->p[0].pack > 1 || v->p[0].seq > 1,
               "matrix units require lanes_p0 to be a multiple of 32, without pack and seq, and along q only tile");
        REFUSE(
            matrix.form.list >= 0 && (v->p[1].lanes * v->p[1].regs * v->p[1].seq > 1 || atn_variant_splits(v) > 1),
            "matrix units require a group to have points of one row and its whole list: no tiling of p1 and no split");
        REFUSE(v->q[0].tile == 0 || v->q[0].tile % MATRIX_STEPS != 0 || v->stage == 0,
               "matrix units require a staged tile whose length is a multiple of 16");
        if (matrix.form.picks && !fits_pick(v, why_not)) return false;
        REFUSE(v->stage == 2 && v->q[0].tile != v->p[0].lanes,
               "with stage=2 and matrix units, the length of a tile must equal the number of items in the group");
    }
    return true;
}

bool lower_fits_mix(const lower_asked *a, const char **why_not) {
    const atn_variant *v = a->v;
    REFUSE(v->mix > 0 && (v->matrix == ATN_MATRIX_OFF || v->exp != ATN_EXP_NATIVE || atn_variant_parts(v) > 0),
           "mix requires matrix units and exp=native");
    return true;
}

bool lower_fits_packed(const lower_asked *a, const char **why_not) {
    const atn_variant *v = a->v;
    lower_matrix matrix;
    if (!v->packed) return true;
    REFUSE(v->matrix != ATN_MATRIX_HALF || v->mix == 0 || (v->packed == 1 && v->mix % 2 != 0) ||
               lower_is_contraction(a->g),
           "packed requires matrix=half and a mix, an even one with packed=1");
    if (!lower_find_matrix(a->g, v, &matrix, why_not)) return false;
    REFUSE(!a->g->finite || !lower_matrix_is_plain(a->g, &matrix.form),
           "packed requires weights that are 2 to the power of a finite form");
    REFUSE(v->packed == 2 && matrix.n_slots > MATRIX_DEPTH, "packed=2 requires a form of at most 16 products");
    return true;
}

bool lower_fits_accumulate(const lower_asked *a, const char **why_not) {
    const atn_variant *v = a->v;
    REFUSE(v->accumulate != 0 && v->accumulate != 32 && v->accumulate != 64, "accumulate must be 0, 32 or 64");
    return true;
}

/* Does the graph consist only of sums in SP of values read as halves, written without further computation? */
static bool sums_halves(const atn_graph *g, int32_t block) {
    for (int32_t k = 0; k < g->n_blocks; ++k)
        if (k != block && (g->blocks[k].n_accs > 0 || g->blocks[k].parent > 0)) return false;
    for (int32_t k = 0; block >= 0 && k < g->blocks[block].n_accs; ++k) {
        const atn_acc *acc = &g->blocks[block].acc[k];
        if (acc->type != ATN_SP || acc->join != ATN_JOIN_SUM) return false;
        if (acc->init >= 0 && (g->values[acc->init].op != ATN_OP_CONST || g->values[acc->init].number[0] != 0))
            return false;
    }
    for (atn_value k = 0; k < g->n_values; ++k) /* values that halves cannot represent */
        if (g->values[k].op == ATN_OP_CONST && fabs(g->values[k].number[0]) > 65504) return false;
    for (int32_t k = 0; k < g->n_reads; ++k)
        if (g->objects[g->reads[k].object].type != ATN_HP) return false;
    for (int32_t k = 0; k < g->n_writes; ++k)
        if (g->values[g->writes[k].value].op != ATN_OP_RESULT || g->objects[g->writes[k].object].type != ATN_SP)
            return false;
    return block >= 0 && g->blocks[block].n_accs > 0 && g->n_parameters == 0;
}

bool lower_fits_half(const lower_asked *a, const char **why_not) {
    const atn_graph *g = a->g;
    const atn_variant *v = a->v;
    const atn_target *t = a->t;
    REFUSE(v->half && !t->half, "the device, or its dialect, has no arithmetic on halves");
    REFUSE(
        v->half == 2 && (!sums_halves(g, a->block) || v->q[0].tile == 0 || v->q[0].tile > 64 || v->stage > 0 ||
                         v->accumulate != 0 || atn_graph_has_scan(g)),
        "half=2 requires sums in SP of values read as HP, in tiles of at most 64 steps, without stage and accumulate");
    for (int32_t k = 0; k < g->n_objects; ++k)
        REFUSE(v->half && g->objects[k].table && g->objects[k].type == ATN_HP,
               "constant tables of HP are stored as SP");
    return true;
}

bool lower_fits_index(const lower_asked *a, const char **why_not) {
    const atn_graph *g = a->g;
    const atn_variant *v = a->v;
    REFUSE(v->index != 32 && v->index != 64, "index must be 32 or 64");
    for (int32_t d = 0; d < g->n_dims && v->index == 32 && v->guard; ++d)
        REFUSE(atn_value_is_computed(g, g->dims[d].begin) || atn_value_is_computed(g, g->dims[d].end),
               "a computed range may exceed 32-bit addresses; use index=64, or guard=0 to promise that it does not");
    return true;
}
