/* Statements into values: variables hold values, branches are merged by SELECT, loops are run while parsing. */
#include "graph/flatten.h"

#include <string.h>

bool atn_flat_begin(atn_flat *flat) {
    flat->slots =
        atn_reader_alloc(flat->sketch->reader, (ATN_LIMIT_LOCALS + (size_t)flat->n_targets) * sizeof *flat->slots);
    flat->n_slots = flat->n_targets;
    for (int32_t k = 0; flat->slots && k < flat->n_targets; ++k)
        flat->slots[k] = (atn_flat_slot){.name = "", .value = -1};
    return flat->slots != NULL;
}

static void run(atn_flat *flat, const atn_syntax *tree);

static atn_flat_slot *target(atn_flat *flat, const atn_syntax *tree) {
    if (tree->kind == ATN_SYNTAX_PORT) {
        if (!flat->target || strcmp(tree->name, flat->target) != 0) {
            atn_flat_complain(flat, tree->offset,
                              flat->names ? "only what is computed here and variables can be assigned to"
                                          : "#%s(k) cannot be assigned to here",
                              tree->name);
            return NULL;
        }
        int64_t k;
        if (!atn_flat_which(flat, tree, &k)) return NULL;
        if (k >= 0 && k < flat->n_targets) return &flat->slots[k];
        atn_flat_complain(flat, tree->offset, "there is no #%s(%lld); the last is #%s(%d)", tree->name, (long long)k,
                          tree->name, flat->n_targets - 1);
        return NULL;
    }
    for (int32_t k = flat->n_slots - 1; k >= flat->n_targets; --k)
        if (!strcmp(flat->slots[k].name, tree->name)) return &flat->slots[k];
    atn_flat_complain(flat, tree->offset, "no variable '%s'; declare it with its type", tree->name);
    return NULL;
}

/* A value for a variable of that type, which its literals take. */
static atn_value value_for(atn_flat *flat, const atn_syntax *tree, atn_type type) {
    atn_type literal = flat->literal;
    flat->literal = type;
    atn_value value = atn_flat_value(flat, tree, type);
    flat->literal = literal;
    return value;
}

static void assign(atn_flat *flat, const atn_syntax *tree) {
    atn_flat_slot *slot = target(flat, tree->a);
    if (slot) slot->value = value_for(flat, tree->b, slot->type);
}

static void declare(atn_flat *flat, const atn_syntax *tree) {
    if (flat->n_slots == ATN_LIMIT_LOCALS + flat->n_targets) {
        atn_flat_complain(flat, tree->offset, "more than %d variables", (int)ATN_LIMIT_LOCALS);
        return;
    }
    atn_flat_slot slot = {.name = tree->name, .type = tree->type, .value = -1};
    if (tree->a && slot.type == ATN_TYPE_NONE) {
        atn_term term = atn_flat_expression(flat, tree->a);
        slot.type = term.type != ATN_TYPE_NONE ? term.type : atn_flat_literal_type(flat, term.whole, ATN_TYPE_NONE);
        slot.value = flat->failed ? 0 : atn_flat_assigned(flat, term, slot.type, tree->offset);
    } else if (tree->a) {
        slot.value = value_for(flat, tree->a, slot.type);
    }
    flat->slots[flat->n_slots++] = slot;
}

static void scoped(atn_flat *flat, const atn_syntax *tree) {
    int32_t outside = flat->n_slots;
    run(flat, tree);
    flat->n_slots = outside;
}

static void branch(atn_flat *flat, const atn_syntax *tree) {
    atn_sketch *sketch = flat->sketch;
    atn_value condition = atn_flat_truth(flat, atn_flat_expression(flat, tree->a), tree->offset);
    if (flat->failed) return;
    if (atn_value_is_const(sketch, condition)) {
        scoped(flat, sketch->values[condition].integer ? tree->b : tree->c);
        return;
    }
    int32_t count = flat->n_slots;
    atn_value *before = atn_reader_alloc(sketch->reader, 2 * (size_t)(count + 1) * sizeof *before),
              *taken = before + count;
    if (!before || !atn_reader_step(sketch->reader, count, flat->at, flat->what)) {
        flat->failed = true;
        return;
    }
    for (int32_t k = 0; k < count; ++k) before[k] = flat->slots[k].value;
    scoped(flat, tree->b);
    for (int32_t k = 0; k < count; ++k) {
        taken[k] = flat->slots[k].value;
        flat->slots[k].value = before[k];
    }
    scoped(flat, tree->c);
    for (int32_t k = 0; k < count && !flat->failed; ++k) {
        atn_flat_slot *slot = &flat->slots[k];
        if (taken[k] == slot->value) continue;
        bool both = taken[k] >= 0 && slot->value >= 0;
        slot->value = both ? atn_value_make(sketch, ATN_OP_SELECT, slot->type, condition, taken[k], slot->value) : -1;
    }
}

static void loop(atn_flat *flat, const atn_syntax *tree) {
    int32_t outside = flat->n_slots;
    run(flat, tree->a);
    for (int32_t step = 0; !flat->failed; ++step) {
        atn_value go_on = atn_flat_truth(flat, atn_flat_expression(flat, tree->b), tree->offset);
        if (flat->failed) break;
        if (!atn_value_is_const(flat->sketch, go_on)) {
            atn_flat_complain(
                flat, tree->offset,
                flat->names ? "the loop's bound is not known when the kernel is built; use a loop of the kernel, 'over'"
                            : "the loop's bound is not known when the kernel is built; use an IteratorBlock");
        } else if (!flat->sketch->values[go_on].integer) {
            break;
        } else if (step == ATN_LIMIT_LOOP) {
            atn_flat_complain(flat, tree->offset,
                              flat->names ? "the loop has more than %d steps; use a loop of the kernel, 'over'"
                                          : "the loop has more than %d steps; use an IteratorBlock",
                              (int)ATN_LIMIT_LOOP);
        } else {
            scoped(flat, tree->d);
            run(flat, tree->c);
        }
    }
    flat->n_slots = outside;
}

static void run(atn_flat *flat, const atn_syntax *tree) {
    for (; tree && !flat->failed; tree = tree->next) {
        switch (tree->kind) {
        case ATN_SYNTAX_BLOCK:
            scoped(flat, tree->a);
            break;
        case ATN_SYNTAX_DECLARE:
            declare(flat, tree);
            break;
        case ATN_SYNTAX_ASSIGN:
            assign(flat, tree);
            break;
        case ATN_SYNTAX_IF:
            branch(flat, tree);
            break;
        case ATN_SYNTAX_FOR:
            loop(flat, tree);
            break;
        default:
            break; /* the parser let no idle expression through */
        }
        if (!atn_reader_step(flat->sketch->reader, 1, flat->at, flat->what)) flat->failed = true;
    }
}

bool atn_flat_run(atn_flat *flat, const atn_syntax *body, bool is_expression) {
    if (is_expression)
        flat->slots[0].value = atn_flat_value(flat, body, flat->slots[0].type);
    else
        run(flat, body);
    for (int32_t k = 0; k < flat->n_targets && !flat->failed; ++k)
        if (flat->slots[k].value < 0 && flat->names)
            atn_flat_complain(flat, body->offset, "'%s' is not assigned on every path", flat->names[k]);
        else if (flat->slots[k].value < 0)
            atn_flat_complain(flat, 0, "#%s(%d) is not assigned on every path", flat->target, k);
    return !flat->failed && !flat->sketch->reader->failed;
}
