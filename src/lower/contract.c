#include "lower/contract.h"

#include "graph/refuse.h"
#include "graph/type.h"

/* Is a selector just a dimension? */
static bool is_dim(const atn_graph *g, atn_value select, int32_t dim) {
    return select >= 0 && g->values[select].op == ATN_OP_DIM && g->values[select].index == dim;
}

/* The read that a factor consists of, possibly converted to a wider type; -1: the factor is something else. */
static int32_t read_of(const atn_graph *g, atn_value value) {
    const atn_node *n = &g->values[value];
    while (n->op == ATN_OP_CAST && n->type == ATN_SP && g->values[n->arg[0]].type == ATN_HP) n = &g->values[n->arg[0]];
    return n->op == ATN_OP_READ ? n->index : -1;
}

static bool selects(const atn_graph *g, int32_t read, int32_t column, int32_t row) {
    if (read < 0) return false;
    const atn_read *r = &g->reads[read];
    const atn_object *o = &g->objects[r->object];
    return o->rank == 2 && !o->table && !o->written && r->boundary == ATN_EDGE_NONE &&
           is_dim(g, r->select[0], column) && is_dim(g, r->select[1], row);
}

bool lower_find_factors(const atn_graph *g, lower_contraction *c) {
    if (g->n_blocks != 2 || g->blocks[0].n_accs > 0 || g->blocks[0].rank != 2 || g->blocks[1].rank != 1 ||
        g->blocks[1].n_accs != 1 || g->blocks[1].acc[0].join != ATN_JOIN_SUM)
        return false;
    for (int32_t k = 0; k < g->n_writes; ++k)
        if (g->writes[k].block == 1) return false;
    const atn_node *term = &g->values[g->blocks[1].acc[0].term];
    while (term->op == ATN_OP_CAST) term = &g->values[term->arg[0]];
    if (term->op != ATN_OP_MUL) return false;
    int32_t p0 = g->blocks[0].dim[0], p1 = g->blocks[0].dim[1], q = g->blocks[1].dim[0];
    for (int k = 0; k < 2; ++k) {
        int32_t left = read_of(g, term->arg[k]), right = read_of(g, term->arg[1 - k]);
        if (!selects(g, left, q, p1) || !selects(g, right, p0, q)) continue;
        atn_type type = g->objects[g->reads[left].object].type;
        if (type != g->objects[g->reads[right].object].type || (type != ATN_HP && type != ATN_SP && type != ATN_DP))
            return false;
        *c = (lower_contraction){.block = 1, .left = left, .right = right, .type = type};
        return true;
    }
    return false;
}

bool lower_is_contraction(const atn_graph *g) {
    lower_contraction c;
    return lower_find_factors(g, &c);
}

/* Rows of 16 bytes at odd multiples of 16 bytes are in different banks, eight at a time. */
static int32_t words_of_row(int32_t halves) { return (halves / 8 | 1) * 4; }
/* The same for lanes that read four numbers of each of eight rows, and eight of each of four. */
static int32_t singles_of_row(int32_t singles, bool left) {
    return left ? (singles / 4 | 1) * 4 : singles / 16 * 16 + 8;
}
static int32_t doubles_of_row(int32_t doubles) { return doubles / 16 * 16 + (doubles % 16 > 4 ? 20 : 4); }

bool lower_find_contraction(const atn_graph *g, const atn_variant *v, lower_contraction *c, const char **why_not) {
    REFUSE(!lower_find_factors(g, c), "it is not a product of two matrices in their stored layout");
    static const int32_t OF_TYPE[] = {
        [ATN_HP] = ATN_MATRIX_HALF, [ATN_SP] = ATN_MATRIX_PAIR, [ATN_DP] = ATN_MATRIX_DOUBLE};
    bool halves = c->type == ATN_HP;
    c->warpgroup = halves && v->matrix == ATN_MATRIX_WARPGROUP;
    REFUSE(v->matrix != OF_TYPE[c->type] && !c->warpgroup,
           "matrix=half and warpgroup require matrices of HP, matrix=pair of SP, matrix=double of DP");
    REFUSE(v->p[0].lanes % 4 != 0 || v->p[1].lanes % 8 != 0 || v->p[0].regs % 4 != 0 || v->p[1].regs % 2 != 0,
           "matrix units require 4 lanes per warp along p0, with a multiple of 4 registers, and 8 along p1, with a "
           "multiple of 2");
    REFUSE(
        v->p[0].pack > 1 || v->p[1].pack > 1 || v->p[0].seq > 1 || v->p[1].seq > 1 || v->q[0].lanes > 1 ||
            v->q[0].regs > 1,
        "the layout of lanes and registers on matrix units is fixed: no pack, no seq, and along q only tile and split");
    c->depth = halves ? 16 : 8;
    c->chunk = 16 / (int32_t)atn_type_bytes(c->type);
    REFUSE(v->stage == 0 || v->q[0].tile == 0 || v->q[0].tile % c->depth != 0,
           "matrix units require staged tiles whose length is a multiple of 16 (halves) or 8 (other types)");
    REFUSE(c->warpgroup && (v->p[1].lanes % 32 != 0 || v->p[0].regs % 16 != 0 || v->p[0].regs > 64 || v->p[1].regs > 4),
           "a warpgroup requires 32 lanes along p1, with 2 or 4 registers, and 16, 32, 48 or 64 registers along p0");
    REFUSE(c->warpgroup && (v->q[0].tile % CONTRACT_LINE != 0 || v->stage < 3),
           "a warpgroup requires tiles of 64 steps and at least three buffers");
    c->rows = v->p[1].lanes * v->p[1].regs;
    c->columns = v->p[0].lanes * v->p[0].regs;
    c->warp_rows = 8 * v->p[1].regs;
    c->warp_columns = 4 * v->p[0].regs;
    c->warps_across = v->p[0].lanes / 4;
    c->parts = v->p[1].regs / 2;
    c->left_pitch = halves              ? words_of_row(v->q[0].tile)
                    : c->type == ATN_SP ? singles_of_row(v->q[0].tile, true)
                                        : doubles_of_row(v->q[0].tile);
    c->right_pitch = halves              ? words_of_row(c->columns)
                     : c->type == ATN_SP ? singles_of_row(c->columns, false)
                                         : doubles_of_row(c->columns);
    return true;
}

void lower_print_contraction(const atn_graph *g, const lower_contraction *c, atn_text *out) {
    atn_text_printf(out, "product of %s and %s: %d x %d in a group, %d x %d in a warp\n", g->reads[c->left].name,
                    g->reads[c->right].name, c->rows, c->columns, c->warp_rows, c->warp_columns);
}
