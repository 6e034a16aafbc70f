/* Is a user-defined combine commutative? This is a syntactic test: the text must be its own mirror image, where the
 * arguments of +, * and similar operators may be exchanged. */
#include "graph/graph.h"

enum { MOST_PAIRS = 4096 }; /* looked at; a text that needs more counts as one that does not commute */

static bool changes_places(atn_op op) {
    static const atn_op OPS[] = {ATN_OP_ADD,    ATN_OP_MUL, ATN_OP_MIN, ATN_OP_MAX, ATN_OP_BITAND, ATN_OP_BITOR,
                                 ATN_OP_BITXOR, ATN_OP_EQ,  ATN_OP_NE,  ATN_OP_AND, ATN_OP_OR};
    for (size_t k = 0; k < sizeof OPS / sizeof *OPS; ++k)
        if (OPS[k] == op) return true;
    return false;
}

static bool is_side(atn_op op) { return op == ATN_OP_LEFT || op == ATN_OP_RIGHT; }

/* Is `a`, its sides changed, the same as `b`? */
static bool mirrors(const atn_graph *g, atn_value a, atn_value b, int32_t *left) {
    const atn_node *x = &g->values[a], *y = &g->values[b];
    int32_t arity = atn_op_get_info(x->op)->arity;
    if (--*left < 0) return false;
    if (is_side(x->op)) return is_side(y->op) && x->op != y->op && x->axis == y->axis;
    if (arity == 0) return a == b;
    if (x->op != y->op || x->type != y->type) return false;
    bool same = true, crossed = changes_places(x->op);
    for (int32_t k = 0; k < arity && same; ++k) same = mirrors(g, x->arg[k], y->arg[k], left);
    return same || (crossed && mirrors(g, x->arg[0], y->arg[1], left) && mirrors(g, x->arg[1], y->arg[0], left));
}

bool atn_block_commutes(const atn_graph *graph, int32_t block) {
    const atn_block *b = &graph->blocks[block];
    int32_t left = MOST_PAIRS;
    for (int32_t k = 0; k < b->n_accs; ++k) {
        if (b->acc[k].join == ATN_JOIN_ORDERED) return false;
        if (b->acc[k].join == ATN_JOIN_CUSTOM && !mirrors(graph, b->acc[k].combine, b->acc[k].combine, &left))
            return false;
    }
    return true;
}
