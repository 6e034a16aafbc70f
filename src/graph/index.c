/* Sums of indices in one shape: (what depends on dimensions) + (what does not) + constant. Equal selectors become
 * equal values and an affine form can be read off. Exact, since INDEX wraps. */
#include "graph/value.h"

/* value = with + without + constant; -1: no such part */
typedef struct parts {
    atn_value with, without;
    int64_t constant;
} parts;

static void split_free(const atn_sketch *sketch, atn_value value, parts *p) {
    const atn_node *node = &sketch->values[value];
    if (node->op == ATN_OP_CONST)
        p->constant = node->integer;
    else if (node->op == ATN_OP_ADD && atn_value_is_const(sketch, node->arg[1])) {
        p->without = node->arg[0];
        p->constant = sketch->values[node->arg[1]].integer;
    } else
        p->without = value;
}

static parts split(const atn_sketch *sketch, atn_value value) {
    parts p = {-1, -1, 0};
    const atn_node *node = &sketch->values[value];
    if (!node->dims)
        split_free(sketch, value, &p);
    else if (node->op == ATN_OP_ADD && !sketch->values[node->arg[1]].dims) {
        p.with = node->arg[0];
        split_free(sketch, node->arg[1], &p);
    } else
        p.with = value;
    return p;
}

static atn_value plain_sum(atn_sketch *sketch, atn_value a, atn_value b) {
    if (a < 0 || b < 0) return a < 0 ? b : a;
    return atn_value_plain(sketch, ATN_OP_ADD, ATN_INDEX, a < b ? a : b, a < b ? b : a, -1);
}

static atn_value join(atn_sketch *sketch, parts p) {
    atn_value free = p.without;
    if (p.constant || (free < 0 && p.with < 0)) {
        atn_value constant = atn_value_integer(sketch, ATN_INDEX, p.constant);
        free = free < 0 ? constant : atn_value_plain(sketch, ATN_OP_ADD, ATN_INDEX, free, constant, -1);
    }
    if (p.with < 0 || free < 0) return p.with < 0 ? free : p.with;
    return atn_value_plain(sketch, ATN_OP_ADD, ATN_INDEX, p.with, free, -1);
}

atn_value atn_value_sum(atn_sketch *sketch, atn_value a, atn_value b) {
    parts x = split(sketch, a), y = split(sketch, b);
    /* n - n vanishes, so that (v + n) - n is v */
    for (int side = 0; side < 2; ++side) {
        parts *p = side ? &y : &x, *q = side ? &x : &y;
        const atn_node *node = p->without >= 0 ? &sketch->values[p->without] : NULL;
        if (node && node->op == ATN_OP_MUL && node->arg[0] == q->without && atn_value_is_const(sketch, node->arg[1]) &&
            sketch->values[node->arg[1]].integer == -1)
            p->without = q->without = -1;
    }
    parts sum = {plain_sum(sketch, x.with, y.with), plain_sum(sketch, x.without, y.without),
                 (int64_t)((uint64_t)x.constant + (uint64_t)y.constant)};
    return join(sketch, sum);
}

static atn_value plain_scale(atn_sketch *sketch, atn_value value, int64_t factor) {
    if (value < 0 || factor == 1) return value;
    const atn_node *node = &sketch->values[value];
    if (node->op == ATN_OP_MUL && atn_value_is_const(sketch, node->arg[1])) {
        factor = (int64_t)((uint64_t)factor * (uint64_t)sketch->values[node->arg[1]].integer);
        value = node->arg[0];
    }
    if (factor == 1) return value;
    return atn_value_plain(sketch, ATN_OP_MUL, ATN_INDEX, value, atn_value_integer(sketch, ATN_INDEX, factor), -1);
}

atn_value atn_value_scale(atn_sketch *sketch, atn_value a, int64_t factor) {
    if (factor == 0) return atn_value_integer(sketch, ATN_INDEX, 0);
    parts p = split(sketch, a);
    parts scaled = {plain_scale(sketch, p.with, factor), plain_scale(sketch, p.without, factor),
                    (int64_t)((uint64_t)p.constant * (uint64_t)factor)};
    return join(sketch, scaled);
}
