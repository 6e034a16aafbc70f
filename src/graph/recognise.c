/* Recognising acc' = acc (+) g(in): chains of one operation, the ?: forms of min and max, and followers that move
 * when their key does (argmin, argmax). */
#include "graph/recognise.h"
#include "graph/type.h"

#include <math.h>

static const struct {
    atn_op op;
    atn_join join;
} chains[] = {{ATN_OP_ADD, ATN_JOIN_SUM}, {ATN_OP_MUL, ATN_JOIN_PRODUCT}, {ATN_OP_MIN, ATN_JOIN_MIN},
              {ATN_OP_MAX, ATN_JOIN_MAX}, {ATN_OP_AND, ATN_JOIN_AND},     {ATN_OP_OR, ATN_JOIN_OR}};

static const char *const names[] = {"sum", "product", "min",    "max",    "and",
                                    "or",  "argmin",  "argmax", "custom", "ordered"};
const char *atn_join_name(atn_join join) { return names[join]; }

atn_value atn_join_neutral(atn_sketch *sketch, atn_join join, atn_type type) {
    const atn_type_info *info = atn_type_get_info(type);
    bool integer = atn_type_is_integer(type);
    switch (join) {
    case ATN_JOIN_SUM:
    case ATN_JOIN_OR:
        return atn_value_number(sketch, type, 0, 0);
    case ATN_JOIN_PRODUCT:
    case ATN_JOIN_AND:
        return atn_value_number(sketch, type, 1, 0);
    case ATN_JOIN_MIN:
    case ATN_JOIN_ARGMIN:
        return integer ? atn_value_integer(sketch, type, info->highest) : atn_value_number(sketch, type, INFINITY, 0);
    case ATN_JOIN_MAX:
    case ATN_JOIN_ARGMAX:
        return integer ? atn_value_integer(sketch, type, info->lowest) : atn_value_number(sketch, type, -INFINITY, 0);
    default:
        return -1;
    }
}

static bool touches(const atn_sketch *sketch, atn_value value) { return sketch->traits[value].accs != 0; }

/* acc + a + b: the accumulator at one end of a chain of `op`; *term is then a + b. */
static bool match_chain(atn_sketch *sketch, atn_op op, atn_value acc, atn_value update, atn_value *term) {
    *term = -1;
    for (atn_value at = update; at != acc;) {
        atn_node node = sketch->values[at];
        bool minus = op == ATN_OP_ADD && node.op == ATN_OP_SUB, fused = op == ATN_OP_ADD && node.op == ATN_OP_FMA;
        if (node.op != op && !minus && !fused) return false;
        atn_value more, rest;
        if (fused) {
            rest = node.arg[2];
            if (touches(sketch, node.arg[0]) || touches(sketch, node.arg[1])) return false;
            more = atn_value_make(sketch, ATN_OP_MUL, node.type, node.arg[0], node.arg[1], -1);
        } else {
            bool left = touches(sketch, node.arg[0]);
            if (left == touches(sketch, node.arg[1]) || (minus && !left)) return false;
            rest = node.arg[!left];
            more = node.arg[left];
            if (minus) more = atn_value_make(sketch, ATN_OP_NEG, node.type, more, -1, -1);
        }
        if (!touches(sketch, rest)) return false;
        *term = *term < 0 ? more : atn_value_make(sketch, op, node.type, more, *term, -1);
        at = rest;
    }
    return *term >= 0;
}

/* acc < x ? x : acc and its seven relatives. */
static bool match_choice(const atn_sketch *sketch, atn_value acc, atn_value update, atn_join *join, atn_value *term) {
    const atn_node *node = &sketch->values[update];
    if (node->op != ATN_OP_SELECT) return false;
    const atn_node *test = &sketch->values[node->arg[0]];
    if (test->op != ATN_OP_LT && test->op != ATN_OP_LE) return false;
    bool takes = node->arg[2] == acc; /* true takes x, false keeps acc */
    atn_value x = takes ? node->arg[1] : node->arg[2];
    if ((!takes && node->arg[1] != acc) || touches(sketch, x)) return false;
    bool acc_first = test->arg[0] == acc && test->arg[1] == x;
    if (!acc_first && !(test->arg[0] == x && test->arg[1] == acc)) return false;
    *join = acc_first == takes ? ATN_JOIN_MAX : ATN_JOIN_MIN;
    *term = x;
    return true;
}

static bool match_alone(atn_sketch *sketch, atn_value acc, atn_value update, atn_acc *out) {
    if (match_choice(sketch, acc, update, &out->join, &out->term)) return true;
    for (size_t k = 0; k < sizeof chains / sizeof *chains; ++k) {
        if (!match_chain(sketch, chains[k].op, acc, update, &out->term)) continue;
        out->join = chains[k].join;
        return true;
    }
    return false;
}

/* key better than before ? x : acc, with the strict test that lets the first of equals win. */
static bool match_follower(const atn_sketch *sketch, atn_block *block, const atn_value *accs, const atn_value *updates,
                           int32_t which, const bool *found) {
    const atn_node *node = &sketch->values[updates[which]];
    if (node->op != ATN_OP_SELECT || node->arg[2] != accs[which] || touches(sketch, node->arg[1])) return false;
    const atn_node *test = &sketch->values[node->arg[0]];
    for (int32_t key = 0; test->op == ATN_OP_LT && key < block->n_accs; ++key) {
        const atn_acc *by = &block->acc[key];
        if (!found[key]) continue;
        bool max = (by->join == ATN_JOIN_MAX || by->join == ATN_JOIN_ARGMAX) && test->arg[0] == accs[key] &&
                   test->arg[1] == by->term;
        bool min = (by->join == ATN_JOIN_MIN || by->join == ATN_JOIN_ARGMIN) && test->arg[1] == accs[key] &&
                   test->arg[0] == by->term;
        if ((!max && !min) || by->key >= 0) continue; /* a follower is no key */
        block->acc[which].join = max ? ATN_JOIN_ARGMAX : ATN_JOIN_ARGMIN;
        block->acc[which].term = node->arg[1];
        block->acc[which].key = key;
        return true;
    }
    return false;
}

/* Steps of the block counted in the order they are taken: the order of ties. */
static atn_value linear_index(atn_sketch *sketch, const atn_block *block) {
    atn_value index = -1;
    for (int32_t d = block->rank - 1; d >= 0; --d) {
        const atn_dim *dim = &sketch->dims[block->dim[d]];
        atn_value at =
            atn_value_leaf(sketch, ATN_OP_DIM, ATN_INDEX, block->dim[d], 0, 1u << block->dim[d], (atn_trait){0});
        if (block->rank > 1) at = atn_value_make(sketch, ATN_OP_SUB, ATN_INDEX, at, dim->begin, -1);
        if (index >= 0) {
            atn_value length = atn_value_make(sketch, ATN_OP_SUB, ATN_INDEX, dim->end, dim->begin, -1);
            index = atn_value_make(sketch, ATN_OP_MUL, ATN_INDEX, index, length, -1);
            at = atn_value_make(sketch, ATN_OP_ADD, ATN_INDEX, index, at, -1);
        }
        index = at;
    }
    return index < 0 ? atn_value_integer(sketch, ATN_INDEX, 0) : index;
}

/* Keys that have followers get an order: a follower that already holds the index, or a hidden accumulator. */
static void find_orders(atn_sketch *sketch, atn_block *block) {
    atn_value index = linear_index(sketch, block);
    int32_t described = block->n_accs;
    for (int32_t key = 0; key < described; ++key) {
        int32_t order = -1;
        bool followed = false;
        for (int32_t k = 0; k < described; ++k) {
            const atn_acc *acc = &block->acc[k];
            if (acc->key != key) continue;
            followed = true;
            const atn_node *term = &sketch->values[acc->term];
            bool holds =
                acc->term == index || (term->op == ATN_OP_CAST && term->arg[0] == index && term->type == ATN_INT32);
            if (holds && order < 0) order = k;
        }
        if (!followed) continue;
        atn_acc *by = &block->acc[key];
        by->join = by->join == ATN_JOIN_MAX ? ATN_JOIN_ARGMAX : ATN_JOIN_ARGMIN;
        by->key = key;
        if (order < 0 && block->n_accs == ATN_MAX_ACCS) {
            atn_reader_complain(sketch->reader, (atn_place){block->line, block->column}, block->name,
                                "no room for the index that decides ties; use at most %d accumulators",
                                (int)ATN_MAX_ACCS - 1);
            return;
        }
        if (order < 0) {
            order = block->n_accs++;
            block->acc[order] = (atn_acc){.type = ATN_INDEX,
                                          .join = by->join,
                                          .init = atn_value_integer(sketch, ATN_INDEX, -1),
                                          .term = index,
                                          .key = key,
                                          .hidden = true,
                                          .update = -1,
                                          .combine = -1};
        }
        for (int32_t k = 0; k < block->n_accs; ++k)
            if (block->acc[k].key == key) block->acc[k].order = order;
    }
}

void atn_icf_recognise(atn_sketch *sketch, atn_block *block, const atn_value *accs, const atn_value *updates) {
    bool found[ATN_MAX_ACCS] = {false}, all = true;
    for (int32_t k = 0; k < block->n_accs; ++k) {
        block->acc[k].key = block->acc[k].order = -1;
        found[k] = match_alone(sketch, accs[k], updates[k], &block->acc[k]);
    }
    bool keyed = false;
    for (int32_t k = 0; k < block->n_accs; ++k) {
        if (found[k]) continue;
        bool follows = match_follower(sketch, block, accs, updates, k, found);
        keyed |= follows;
        all &= follows;
    }
    if (all) {
        if (keyed) find_orders(sketch, block);
        return;
    }
    for (int32_t k = 0; k < block->n_accs; ++k) {
        atn_acc *acc = &block->acc[k];
        acc->join = ATN_JOIN_ORDERED;
        acc->term = acc->key = acc->order = -1;
        acc->update = updates[k];
    }
}
