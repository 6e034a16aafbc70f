/* ICFs that have a shorter form in the notation: acc op term, and a key with the values that follow it. */
#include "graph/print_names.h"

#include <assert.h>
#include <string.h>

static bool is_acc(const atn_syntax *tree, int64_t k) {
    return tree->kind == ATN_SYNTAX_PORT && !strcmp(tree->name, "acc") && tree->a->kind == ATN_SYNTAX_INTEGER &&
           tree->a->integer == k;
}

static bool has_acc(const atn_syntax *tree) {
    for (; tree; tree = tree->next)
        if ((tree->kind == ATN_SYNTAX_PORT && !strcmp(tree->name, "acc")) || (tree->a && has_acc(tree->a)) ||
            (tree->b && has_acc(tree->b)) || (tree->c && has_acc(tree->c)) || (tree->d && has_acc(tree->d)))
            return true;
    return false;
}

/* acc(k) op term */
static bool split(const atn_syntax *tree, int64_t k, atn_print_acc *out) {
    static const struct {
        atn_op op;
        const char *sign;
    } ops[] = {{ATN_OP_ADD, "+="}, {ATN_OP_SUB, "-="}, {ATN_OP_MUL, "*="}, {ATN_OP_AND, "and="}, {ATN_OP_OR, "or="}};
    *out = (atn_print_acc){NULL, NULL};
    if (tree->kind == ATN_SYNTAX_BINARY && is_acc(tree->a, k)) {
        for (size_t n = 0; n < sizeof ops / sizeof *ops; ++n)
            if (ops[n].op == tree->op) out->op = ops[n].sign;
        out->term = tree->b;
    }
    bool low = tree->kind == ATN_SYNTAX_CALL && (!strcmp(tree->name, "fmin") || !strcmp(tree->name, "min")),
         high = tree->kind == ATN_SYNTAX_CALL && (!strcmp(tree->name, "fmax") || !strcmp(tree->name, "max"));
    if ((low || high) && tree->a && tree->a->next && is_acc(tree->a, k)) {
        out->op = low ? "min=" : "max=";
        out->term = tree->a->next;
    }
    if (tree->kind == ATN_SYNTAX_CHOICE && tree->a->kind == ATN_SYNTAX_BINARY && tree->a->op == ATN_OP_LT &&
        is_acc(tree->c, k)) {
        bool down = is_acc(tree->a->b, k), up = is_acc(tree->a->a, k);
        const atn_syntax *other = down ? tree->a->a : tree->a->b;
        if ((down || up) && atn_unparse_same(other, tree->b)) {
            out->op = down ? "min=" : "max=";
            out->term = tree->b;
        }
    }
    return out->op && out->term && !has_acc(out->term) && !out->term->next;
}

bool atn_print_split(const atn_item *item, atn_print_acc *accs) {
    if (item->combine || item->combine_body) return false;
    if (item->is_expression) return split(item->body, 0, accs);
    int32_t k = 0;
    for (const atn_syntax *one = item->body->kind == ATN_SYNTAX_BLOCK ? item->body->a : NULL; one; one = one->next, ++k)
        if (k >= item->n_out || one->kind != ATN_SYNTAX_ASSIGN || !is_acc(one->a, k) || !split(one->b, k, &accs[k]))
            return false;
    return k == item->n_out;
}

static int32_t count_in(const atn_syntax *tree, int64_t k) {
    int32_t count = 0;
    for (; tree; tree = tree->next) {
        bool mine = tree->kind == ATN_SYNTAX_PORT && !strcmp(tree->name, "in") && tree->a->kind == ATN_SYNTAX_INTEGER;
        count += mine && tree->a->integer == k;
        const atn_syntax *parts[] = {tree->a, tree->b, tree->c, tree->d};
        for (size_t n = 0; n < 4; ++n) count += parts[n] ? count_in(parts[n], k) : 0;
    }
    return count;
}

int32_t atn_print_term_of(const atn_item *block, int32_t k) {
    atn_print_acc accs[ATN_MAX_ACCS];
    if (!atn_print_split_key(block, accs) && !atn_print_split(block, accs)) return -1;
    for (int32_t m = 0; m < block->n_out; ++m) {
        const atn_syntax *term = accs[m].term;
        bool here = term->kind == ATN_SYNTAX_PORT && count_in(term, k);
        for (int32_t n = 0; n < block->n_out && here; ++n) here = n == m || !count_in(accs[n].term, k);
        if (here) return m;
    }
    return -1;
}

/* `x < acc(0)`, or the other way round: which one it is, and x. */
static bool is_key(const atn_syntax *compare, const char **op, const atn_syntax **key) {
    if (compare->kind != ATN_SYNTAX_BINARY || compare->op != ATN_OP_LT) return false;
    bool down = is_acc(compare->b, 0), up = is_acc(compare->a, 0);
    *op = down ? "min=" : "max=";
    *key = down ? compare->a : compare->b;
    return down || up;
}

/* if (x < acc(0)) { acc(0) = x; acc(1) = y; }, or the same with ?: a key and what follows it. */
bool atn_print_split_key(const atn_item *item, atn_print_acc *accs) {
    const atn_syntax *first = item->body && item->body->kind == ATN_SYNTAX_BLOCK ? item->body->a : NULL, *key = NULL;
    if (item->combine || item->combine_body || !first || item->n_out < 2) return false;
    bool test = first->kind == ATN_SYNTAX_IF && !first->next && !first->c && first->b;
    const atn_syntax *one = !test ? first : first->b->kind == ATN_SYNTAX_BLOCK ? first->b->a : first->b;
    const char *op = "";
    if (test && !is_key(first->a, &op, &key)) return false;
    int32_t k = 0;
    for (; one; one = one->next, ++k) {
        if (k >= item->n_out || one->kind != ATN_SYNTAX_ASSIGN || !is_acc(one->a, k)) return false;
        const atn_syntax *value = one->b, *own;
        if (!test) {
            if (value->kind != ATN_SYNTAX_CHOICE || !is_acc(value->c, k) || !is_key(value->a, &op, &own)) return false;
            if (key && !atn_unparse_same(key, own)) return false;
            key = own;
            value = value->b;
        }
        assert(value);
        if (has_acc(value)) return false;
        accs[k] = (atn_print_acc){op, value};
    }
    return k == item->n_out && atn_unparse_same(key, accs[0].term);
}
