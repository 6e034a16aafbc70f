/* Expressions as C. What may fail calls a helper that leaves a mark in *bad; the interpreter then says what it was. */
#include "space/native.h"

#include <stdio.h>
#include <string.h>

static bool emit_pair(atn_emitter *e, const char *before, const int32_t *kids, const char *between, const char *after) {
    atn_text_add(e->out, before);
    if (!atn_emit_value(e, kids[0])) return false;
    atn_text_add(e->out, between);
    if (!atn_emit_value(e, kids[1])) return false;
    atn_text_add(e->out, after);
    return true;
}

static const char SIGNS[][4] = {
    [ATN_LAN_ADD] = "+",
    [ATN_LAN_SUBTRACT] = "-",
    [ATN_LAN_MULTIPLY] = "*",
    [ATN_LAN_DIVIDE] = "/",
    [ATN_LAN_BIT_AND] = "&",
    [ATN_LAN_BIT_OR] = "|",
    [ATN_LAN_BIT_XOR] = "^",
    [ATN_LAN_EQUAL] = "==",
    [ATN_LAN_UNEQUAL] = "!=",
    [ATN_LAN_LESS] = "<",
    [ATN_LAN_LESS_EQUAL] = "<=",
    [ATN_LAN_GREATER] = ">",
    [ATN_LAN_GREATER_EQUAL] = ">=",
};

/* ---- wholes ---- */

static bool emit_plain(atn_emitter *e, const char *sign, const int32_t *kids) {
    char between[8];
    snprintf(between, sizeof between, " %s ", sign);
    return emit_pair(e, "(", kids, between, ")");
}

/* Division is several times as fast in 32 bits. */
static bool emit_divide(atn_emitter *e, atn_lan_op op, const int32_t *kids, const atn_shape *a, const atn_shape *b) {
    bool divide = op == ATN_LAN_FLOOR_DIVIDE;
    if (a->lo < 0 || b->lo <= 0 || b->fails) /* what failed may be anything, also zero */
        return emit_pair(e, divide ? "floor_(" : "mod_(", kids, ", ", ", bad)");
    if (a->hi <= UINT32_MAX && b->hi <= UINT32_MAX)
        return emit_pair(e, "(int64_t)((uint32_t)", kids, divide ? " / (uint32_t)" : " % (uint32_t)", ")");
    return emit_plain(e, divide ? "/" : "%", kids);
}

static bool emit_whole(atn_emitter *e, const atn_lan_node *node, const int32_t *kids, const atn_shape *a,
                       const atn_shape *b) {
    switch (node->op) {
    case ATN_LAN_ADD:
        if (a->lo + b->lo >= INT64_MIN && a->hi + b->hi <= INT64_MAX) return emit_plain(e, "+", kids);
        return emit_pair(e, "add_(", kids, ", ", ", bad)");
    case ATN_LAN_SUBTRACT:
        if (a->lo - b->hi >= INT64_MIN && a->hi - b->lo <= INT64_MAX) return emit_plain(e, "-", kids);
        return emit_pair(e, "sub_(", kids, ", ", ", bad)");
    case ATN_LAN_MULTIPLY: {
        __int128 x = a->hi > -a->lo ? a->hi : -a->lo, y = b->hi > -b->lo ? b->hi : -b->lo; /* sizes */
        if (x * y <= INT64_MAX) return emit_plain(e, "*", kids);
        return emit_pair(e, "mul_(", kids, ", ", ", bad)");
    }
    case ATN_LAN_DIVIDE:
        if (b->lo > 0 || b->hi < 0) return emit_pair(e, "((double)", kids, " / (double)", ")");
        return emit_pair(e, "div_((double)", kids, ", (double)", ", bad)");
    case ATN_LAN_FLOOR_DIVIDE:
    case ATN_LAN_MODULO:
        return emit_divide(e, node->op, kids, a, b);
    case ATN_LAN_POWER:
        return emit_pair(e, "pow_(", kids, ", ", ", bad)");
    case ATN_LAN_SHIFT_LEFT:
        return emit_pair(e, "shl_(", kids, ", ", ", bad)");
    case ATN_LAN_SHIFT_RIGHT:
        return emit_pair(e, "shr_(", kids, ", ", ", bad)");
    default:
        return emit_plain(e, SIGNS[node->op], kids);
    }
}

/* ---- reals and comparisons ---- */

static bool emit_real(atn_emitter *e, const atn_lan_node *node, const int32_t *kids) {
    switch (node->op) {
    case ATN_LAN_DIVIDE:
        return emit_pair(e, "div_((double)", kids, ", (double)", ", bad)");
    case ATN_LAN_FLOOR_DIVIDE:
        return emit_pair(e, "rfloor_((double)", kids, ", (double)", ", bad)");
    case ATN_LAN_MODULO:
        return emit_pair(e, "rmod_((double)", kids, ", (double)", ", bad)");
    case ATN_LAN_POWER:
        return emit_pair(e, "rpow_((double)", kids, ", (double)", ", bad)");
    default:
        break;
    }
    char between[20];
    snprintf(between, sizeof between, " %s (double)", SIGNS[node->op]);
    return emit_pair(e, "((double)", kids, between, ")");
}

/* A double holds every whole up to 2^53: only those are compared as doubles. */
static bool fits_double(const atn_shape *s) {
    return s->type == ATN_SHAPE_REAL || (s->lo >= -((int64_t)1 << 53) && s->hi <= ((int64_t)1 << 53));
}

static bool emit_comparison(atn_emitter *e, atn_lan_op op, int32_t left, int32_t right) {
    atn_shape a = atn_shape_of(e, left), b = atn_shape_of(e, right);
    int32_t kids[2] = {left, right};
    char between[20];
    bool equality = op == ATN_LAN_EQUAL || op == ATN_LAN_UNEQUAL;
    bool texts = a.type == ATN_SHAPE_TEXT || b.type == ATN_SHAPE_TEXT;
    if (texts && (!equality || a.fails || b.fails)) return false;
    if (texts && a.type != b.type) { /* a number is no text */
        atn_text_add(e->out, op == ATN_LAN_EQUAL ? "0" : "1");
        return true;
    }
    if (a.type == b.type) return emit_plain(e, SIGNS[op], kids);
    if (!fits_double(&a) || !fits_double(&b)) return false;
    snprintf(between, sizeof between, " %s (double)", SIGNS[op]);
    return emit_pair(e, "((double)", kids, between, ")");
}

static bool emit_chain(atn_emitter *e, const atn_lan_node *node) {
    const atn_space *space = e->space;
    atn_text_add(e->out, "(");
    for (int32_t k = 0; k < node->n_kids; ++k) {
        const atn_lan_node *c = atn_lan_kid(space, node, k);
        if (k) atn_text_add(e->out, " && ");
        if (!emit_comparison(e, c->op, space->links[c->first], space->links[c->first + 1])) return false;
    }
    atn_text_add(e->out, ")");
    return true;
}

static bool emit_membership(atn_emitter *e, const atn_lan_node *node) {
    const atn_space *space = e->space;
    const atn_lan_node *list = atn_lan_kid(space, node, 1);
    atn_shape shape = atn_shape_of(e, space->links[node->first]);
    for (int32_t k = 0; k < list->n_kids; ++k) { /* all items are computed, needed or not, when one may fail */
        atn_shape item = atn_shape_of(e, space->links[list->first + k]);
        if (item.fails || shape.fails) return false;
    }
    atn_text_add(e->out, node->op == ATN_LAN_NOT_IN ? "!(0" : "(0");
    for (int32_t k = 0; k < list->n_kids; ++k) {
        atn_text_add(e->out, " || ");
        if (!emit_comparison(e, ATN_LAN_EQUAL, space->links[node->first], space->links[list->first + k])) return false;
    }
    atn_text_add(e->out, ")");
    return true;
}

/* ---- calls and the rest ---- */

static bool emit_call(atn_emitter *e, const atn_lan_node *node) {
    const char *name = ATN_LAN_BUILTINS[node->index].name;
    const int32_t *kids = e->space->links + node->first;
    atn_shape a = atn_shape_of(e, kids[0]);
    bool real = a.type == ATN_SHAPE_REAL;
    if (name[0] == 'm') {
        for (int32_t k = 1; k < node->n_kids; ++k) atn_text_printf(e->out, "%s%s_(", real ? "r" : "", name);
        for (int32_t k = 0; k < node->n_kids; ++k) {
            if (k) atn_text_add(e->out, ", ");
            if (!atn_emit_value(e, kids[k])) return false;
            if (k) atn_text_add(e->out, ")");
        }
        return true;
    }
    static const struct {
        const char *name, *whole, *real, *after_whole, *after_real;
    } ROWS[] = {{"abs", "llabs(", "fabs(", ")", ")"},
                {"ceil", "(", "whole_(ceil(", ")", "), bad)"},
                {"floor", "(", "whole_(floor(", ")", "), bad)"},
                {"int", "(", "whole_(trunc(", ")", "), bad)"},
                {"float", "((double)", "(", ")", ")"},
                {"log2", "log2_((double)", "log2_(", ", bad)", ", bad)"}};
    for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; ++k) {
        if (strcmp(ROWS[k].name, name) != 0) continue;
        if (k == 0 && !real && a.lo == INT64_MIN) return false;
        atn_text_add(e->out, real ? ROWS[k].real : ROWS[k].whole);
        if (!atn_emit_value(e, kids[0])) return false;
        atn_text_add(e->out, real ? ROWS[k].after_real : ROWS[k].after_whole);
        return true;
    }
    return false;
}

void atn_emit_constant(atn_text *out, const atn_lan_value *value) {
    char text[64];
    if (value->kind == ATN_LAN_REAL) {
        snprintf(text, sizeof text, "(%a)", value->real);
        for (char *c = text; *c; ++c)
            if (*c == ',') *c = '.';
        atn_text_add(out, text);
    } else if (value->whole == INT64_MIN) {
        atn_text_add(out, "INT64_MIN");
    } else {
        atn_text_printf(out, "INT64_C(%lld)", (long long)value->whole);
    }
}

/* A parameter that has no choice here is a constant. */
static bool emit_parameter(atn_emitter *e, int32_t parameter) {
    const atn_space_plan *plan = e->component->plan;
    if (plan->places[parameter].component == (int32_t)(e->component - plan->components)) {
        atn_text_printf(e->out, "p%d", parameter);
        return true;
    }
    atn_lan_value value = atn_lan_of_setting(&plan->space->parameters[parameter].settings[0]);
    atn_emit_constant(e->out, &value);
    return true;
}

static bool emit_choice(atn_emitter *e, const int32_t *kids) {
    atn_text_add(e->out, "(");
    if (!atn_emit_truth(e, kids[0])) return false;
    return emit_pair(e, " ? ", kids + 1, " : ", ")");
}

bool atn_emit_value(atn_emitter *e, int32_t index) {
    const atn_space *space = e->space;
    const atn_lan_node *node = &space->nodes[index];
    const int32_t *kids = space->links + node->first;
    atn_shape shape = atn_shape_of(e, index);
    if (shape.type == ATN_SHAPE_UNKNOWN || e->out->length > ATN_NATIVE_MOST_TEXT) return false;
    switch (node->op) {
    case ATN_LAN_CONSTANT:
        atn_emit_constant(e->out, &node->value);
        return true;
    case ATN_LAN_PARAMETER:
        return emit_parameter(e, node->index);
    case ATN_LAN_DERIVED:
        atn_text_printf(e->out, "d%d", node->index);
        return !shape.fails;
    case ATN_LAN_LOCAL:
        atn_text_printf(e->out, "v%d", node->index);
        return e->set >> node->index & 1;
    case ATN_LAN_CALL:
        return emit_call(e, node);
    case ATN_LAN_NEGATE:
    case ATN_LAN_PLUS:
    case ATN_LAN_INVERT: {
        atn_shape a = atn_shape_of(e, kids[0]);
        if (node->op == ATN_LAN_NEGATE && a.type == ATN_SHAPE_WHOLE && a.lo == INT64_MIN) return false;
        atn_text_add(e->out, node->op == ATN_LAN_NEGATE ? "(-" : node->op == ATN_LAN_PLUS ? "(+" : "(~");
        if (!atn_emit_value(e, kids[0])) return false;
        atn_text_add(e->out, ")");
        return true;
    }
    case ATN_LAN_AND:
    case ATN_LAN_OR:
        return shape.truth && atn_emit_truth(e, index); /* else its value is that of an operand */
    case ATN_LAN_NOT:
    case ATN_LAN_CHAIN:
        return atn_emit_truth(e, index);
    case ATN_LAN_IN:
    case ATN_LAN_NOT_IN:
        return emit_membership(e, node);
    case ATN_LAN_CHOOSE:
        return emit_choice(e, kids);
    default:
        break;
    }
    atn_shape a = atn_shape_of(e, kids[0]), b = atn_shape_of(e, kids[1]);
    if (node->op >= ATN_LAN_EQUAL) return emit_comparison(e, node->op, kids[0], kids[1]);
    if (a.type == ATN_SHAPE_WHOLE && b.type == ATN_SHAPE_WHOLE) return emit_whole(e, node, kids, &a, &b);
    return emit_real(e, node, kids);
}

bool atn_emit_truth(atn_emitter *e, int32_t index) {
    const atn_space *space = e->space;
    const atn_lan_node *node = &space->nodes[index];
    const int32_t *kids = space->links + node->first;
    atn_shape shape = atn_shape_of(e, index);
    if ((shape.type != ATN_SHAPE_WHOLE && shape.type != ATN_SHAPE_REAL) || e->out->length > ATN_NATIVE_MOST_TEXT)
        return false;
    switch (node->op) {
    case ATN_LAN_CHAIN:
        return emit_chain(e, node);
    case ATN_LAN_NOT:
        atn_text_add(e->out, "!");
        return atn_emit_truth(e, kids[0]);
    case ATN_LAN_AND:
    case ATN_LAN_OR:
        atn_text_add(e->out, "(");
        for (int32_t k = 0; k < node->n_kids; ++k) {
            if (k) atn_text_add(e->out, node->op == ATN_LAN_AND ? " && " : " || ");
            if (!atn_emit_truth(e, kids[k])) return false;
        }
        atn_text_add(e->out, ")");
        return true;
    default:
        atn_text_add(e->out, "(");
        if (!atn_emit_value(e, index)) return false;
        atn_text_add(e->out, shape.type == ATN_SHAPE_REAL ? " != 0.0)" : " != 0)");
        return true;
    }
}
