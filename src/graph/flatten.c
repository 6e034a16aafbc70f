/* Expressions into values: names, ports, operators. */
#include "graph/flatten.h"
#include "graph/type.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    double number;
} constants[] = {
    {"M_PI", 3.14159265358979323846},
    {"M_PI_2", 1.57079632679489661923},
    {"M_PI_4", 0.78539816339744830962},
    {"M_1_PI", 0.31830988618379067154},
    {"M_2_PI", 0.63661977236758134308},
    {"M_E", 2.71828182845904523536},
    {"M_LN2", 0.69314718055994530942},
    {"M_LOG2E", 1.44269504088896340736},
    {"M_SQRT2", 1.41421356237309504880},
    {"M_SQRT1_2", 0.70710678118654752440},
    {"INFINITY", INFINITY},
    {"NAN", NAN},
};

bool atn_flat_is_constant(const char *name) {
    for (size_t k = 0; k < sizeof constants / sizeof *constants; ++k)
        if (!strcmp(constants[k].name, name)) return true;
    return !strcmp(name, "true") || !strcmp(name, "false");
}

static atn_term variable(atn_flat *flat, const atn_syntax *tree) {
    for (int32_t k = flat->n_slots - 1; k >= flat->n_targets; --k) {
        if (strcmp(flat->slots[k].name, tree->name) != 0) continue;
        if (flat->slots[k].value < 0) break;
        return atn_flat_typed(flat->slots[k].value, flat->slots[k].type);
    }
    for (size_t k = 0; k < sizeof constants / sizeof *constants; ++k)
        if (!strcmp(constants[k].name, tree->name)) return atn_flat_fraction(constants[k].number);
    bool yes = !strcmp(tree->name, "true");
    if (yes || !strcmp(tree->name, "false")) return atn_flat_typed(atn_value_integer(flat->sketch, ATN_B, yes), ATN_B);
    atn_suggestion suggestion = {.wrong = tree->name};
    for (int32_t k = flat->n_targets; k < flat->n_slots; ++k) {
        if (!strcmp(flat->slots[k].name, tree->name)) {
            atn_flat_complain(flat, tree->offset, "the variable '%s' has no value here on every path", tree->name);
            return atn_flat_whole(0);
        }
        atn_suggestion_try(flat->sketch->reader, &suggestion, flat->slots[k].name);
    }
    for (size_t k = 0; k < sizeof constants / sizeof *constants; ++k)
        atn_suggestion_try(flat->sketch->reader, &suggestion, constants[k].name);
    if (flat->selector)
        atn_flat_complain(flat, tree->offset, "no variable '%s'; a selector is made of v0, v1, ...", tree->name);
    else
        atn_flat_complain(flat, tree->offset, "no variable '%s'%s", tree->name,
                          atn_suggestion_text(flat->sketch->reader, &suggestion));
    return atn_flat_whole(0);
}

bool atn_flat_which(atn_flat *flat, const atn_syntax *tree, int64_t *k) {
    atn_type literal = flat->literal;
    flat->literal = ATN_INDEX;
    atn_term which = atn_flat_expression(flat, tree->a);
    flat->literal = literal;
    if (flat->failed) return false;
    bool known = which.type == ATN_TYPE_NONE
                     ? which.whole
                     : atn_type_is_integer(which.type) && atn_value_is_const(flat->sketch, which.value);
    if (!known)
        atn_flat_complain(flat, tree->offset, "the k of #%s(k) must be known when the kernel is built", tree->name);
    else
        *k = which.type == ATN_TYPE_NONE ? which.integer : flat->sketch->values[which.value].integer;
    return known;
}

/* #in(k), #out(k), #acc(k), #a(k), #b(k), those that this text has. */
static atn_term port(atn_flat *flat, const atn_syntax *tree) {
    const struct {
        const char *name;
        const atn_value *values;
        int32_t count;
    } rows[] = {{"in", flat->in, flat->n_in},
                {"acc", flat->accs, flat->n_targets},
                {"a", flat->left, flat->n_targets},
                {"b", flat->right, flat->n_targets}};
    int64_t k;
    if (!atn_flat_which(flat, tree, &k)) return atn_flat_whole(0);
    if (flat->target && !strcmp(flat->target, "out") && !strcmp(tree->name, "out")) {
        if (k >= 0 && k < flat->n_targets && flat->slots[k].value >= 0)
            return atn_flat_typed(flat->slots[k].value, flat->slots[k].type);
        if (flat->names && k >= 0 && k < flat->n_targets)
            atn_flat_complain(flat, tree->offset, "'%s' has no value here", flat->names[k]);
        else
            atn_flat_complain(flat, tree->offset, "#out(%lld) has no value here", (long long)k);
        return atn_flat_whole(0);
    }
    for (size_t row = 0; row < sizeof rows / sizeof *rows; ++row) {
        if (!rows[row].values || strcmp(rows[row].name, tree->name) != 0) continue;
        if (k >= 0 && k < rows[row].count)
            return atn_flat_typed(rows[row].values[k], flat->sketch->values[rows[row].values[k]].type);
        if (rows[row].count)
            atn_flat_complain(flat, tree->offset, "there is no #%s(%lld); the last is #%s(%d)", tree->name,
                              (long long)k, tree->name, rows[row].count - 1);
        else
            atn_flat_complain(flat, tree->offset, "there is no #%s(%lld)", tree->name, (long long)k);
        return atn_flat_whole(0);
    }
    atn_flat_complain(flat, tree->offset, "there is no #%s here", tree->name);
    return atn_flat_whole(0);
}

static atn_term cast(atn_flat *flat, const atn_syntax *tree) {
    atn_term a = atn_flat_expression(flat, tree->a);
    if (a.type != ATN_TYPE_NONE)
        return atn_flat_typed(atn_value_convert(flat->sketch, a.value, tree->type), tree->type);
    if (a.whole && atn_type_is_integer(tree->type))
        return atn_flat_typed(atn_value_integer(flat->sketch, tree->type, a.integer), tree->type);
    return atn_flat_typed(atn_value_number(flat->sketch, tree->type, a.number, 0), tree->type);
}

static atn_term selection(atn_flat *flat, const atn_syntax *tree, int64_t k) {
    (void)tree;
    return atn_flat_typed(flat->variables[k], flat->sketch->values[flat->variables[k]].type);
}

/* Arguments beyond the most that a function has are counted only. */
static atn_term call(atn_flat *flat, const atn_syntax *tree) {
    atn_term args[ATN_FLAT_MOST_ARGS] = {{0}};
    int32_t arity = atn_flat_arity(flat, tree), count = 0;
    if (arity < 0) return atn_flat_whole(0);
    for (const atn_syntax *arg = tree->a; arg; arg = arg->next, ++count)
        if (count < arity) args[count] = atn_flat_expression(flat, arg);
    return atn_flat_call(flat, tree, args, count);
}

atn_term atn_flat_expression(atn_flat *flat, const atn_syntax *tree) {
    atn_term nothing = atn_flat_whole(0);
    if (flat->failed || !atn_reader_step(flat->sketch->reader, 1, flat->at, flat->what))
        return flat->failed = true, nothing;
    int64_t k;
    if (flat->variables && atn_syntax_is_variable(tree, &k)) return selection(flat, tree, k);
    atn_term a, b;
    switch (tree->kind) {
    case ATN_SYNTAX_INTEGER:
        return atn_flat_whole(tree->integer);
    case ATN_SYNTAX_NUMBER:
        return atn_flat_fraction(tree->number);
    case ATN_SYNTAX_NAME:
        return variable(flat, tree);
    case ATN_SYNTAX_PORT:
        return port(flat, tree);
    case ATN_SYNTAX_CAST:
        return cast(flat, tree);
    case ATN_SYNTAX_CALL:
        return call(flat, tree);
    case ATN_SYNTAX_UNARY:
        a = atn_flat_expression(flat, tree->a);
        return flat->failed ? nothing : atn_flat_unary(flat, tree->op, a, tree->offset);
    case ATN_SYNTAX_BINARY:
        a = atn_flat_expression(flat, tree->a);
        b = atn_flat_expression(flat, tree->b);
        if (flat->failed) return nothing;
        return atn_flat_binary(flat, flat->selector && tree->op == ATN_OP_MOD ? ATN_OP_FLOORMOD : tree->op, a, b,
                               tree->offset);
    case ATN_SYNTAX_CHOICE: {
        atn_value condition = atn_flat_truth(flat, atn_flat_expression(flat, tree->a), tree->offset);
        a = atn_flat_expression(flat, tree->b);
        b = atn_flat_expression(flat, tree->c);
        return flat->failed ? nothing : atn_flat_choose(flat, condition, a, b, tree->offset);
    }
    default:
        atn_flat_complain(flat, tree->offset, "expected a value here");
        return nothing;
    }
}

atn_value atn_flat_value(atn_flat *flat, const atn_syntax *tree, atn_type type) {
    atn_term term = atn_flat_expression(flat, tree);
    return flat->failed ? 0 : atn_flat_assigned(flat, term, type, tree->offset);
}
