/* Expressions with as few parentheses as necessary, statements one per line. */
#include "graph/unparse.h"
#include "base/number.h"
#include "graph/type.h"

#include <stdio.h>
#include <string.h>

static const struct {
    atn_op op;
    const char *sign, *word; /* word: of the notation, where it has another one */
    int32_t strength;
} binaries[] = {{ATN_OP_OR, "or", NULL, 2},     {ATN_OP_AND, "and", NULL, 3},      {ATN_OP_BITOR, "|", NULL, 4},
                {ATN_OP_BITXOR, "^", "xor", 5}, {ATN_OP_BITAND, "&", NULL, 6},     {ATN_OP_EQ, "==", NULL, 7},
                {ATN_OP_NE, "!=", NULL, 7},     {ATN_OP_LT, "<", NULL, 8},         {ATN_OP_LE, "<=", NULL, 8},
                {ATN_OP_SHL, "<<", NULL, 9},    {ATN_OP_SHR, ">>", NULL, 9},       {ATN_OP_ADD, "+", NULL, 10},
                {ATN_OP_SUB, "-", NULL, 10},    {ATN_OP_MUL, "*", NULL, 11},       {ATN_OP_DIV, "/", NULL, 11},
                {ATN_OP_MOD, "%", NULL, 11},    {ATN_OP_FLOORMOD, "mod", NULL, 11}};

bool atn_unparse_same(const atn_syntax *a, const atn_syntax *b) {
    for (; a && b; a = a->next, b = b->next) {
        if (a->kind != b->kind || a->op != b->op || a->type != b->type || a->integer != b->integer ||
            a->number != b->number || (a->name != b->name && (!a->name || !b->name || strcmp(a->name, b->name) != 0)))
            return false;
        if (!atn_unparse_same(a->a, b->a) || !atn_unparse_same(a->b, b->b) || !atn_unparse_same(a->c, b->c) ||
            !atn_unparse_same(a->d, b->d))
            return false;
    }
    return !a && !b;
}

void atn_unparse_type(atn_form form, atn_type type, const char *written, atn_text *out) {
    bool xml = form == ATN_FORM_XML;
    if (!written || atn_type_from_any_name(written) == type) { /* int is INT32 */
        atn_text_add(out, atn_type_name(type));
        return;
    }
    bool sum = !strncmp(written, "SUM(", 4);
    size_t length = strlen(written) - (sum ? 5 : 0);
    const char *inner = written + (sum ? 4 : 0);
    bool generic = (length == 1 && *inner == 'T') || (length == 10 && !strncmp(inner, "USED_FLOAT", 10));
    if (sum) atn_text_add(out, xml ? "SUM(" : "sum(");
    if (generic)
        atn_text_add(out, xml ? "USED_FLOAT" : "T");
    else
        atn_text_add_bytes(out, inner, length);
    if (sum) atn_text_add(out, ")");
}

void atn_unparse_number(double number, atn_text *out) {
    char text[40];
    for (int digits = 6; digits <= 17; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (atn_number_read(text, NULL) == number) break;
    }
    atn_text_add(out, text);
}

static void literal(const atn_unparse *u, const atn_syntax *tree) {
    if (tree->written)
        atn_text_add(u->out, tree->written);
    else if (tree->kind == ATN_SYNTAX_INTEGER)
        atn_text_printf(u->out, "%lld", (long long)tree->integer);
    else
        atn_unparse_number(tree->number, u->out);
}

static void arguments(const atn_unparse *u, const atn_syntax *tree) {
    atn_text_add(u->out, "(");
    for (const atn_syntax *one = tree; one; one = one->next) {
        if (one != tree) atn_text_add(u->out, ", ");
        atn_unparse_expression(u, one, ATN_STRENGTH_LOW);
    }
    atn_text_add(u->out, ")");
}

static void binary(const atn_unparse *u, const atn_syntax *tree, int32_t strength) {
    size_t row = 0;
    while (binaries[row].op != tree->op) ++row;
    bool notation = u->form == ATN_FORM_NOTATION;
    const atn_syntax *left = tree->swapped ? tree->b : tree->a, *right = tree->swapped ? tree->a : tree->b;
    if (notation && tree->op == ATN_OP_MUL && left->kind != ATN_SYNTAX_INTEGER && atn_unparse_same(left, right)) {
        atn_unparse_expression(u, left, ATN_STRENGTH_HIGH);
        atn_text_add(u->out, "^2");
        return;
    }
    const char *sign = notation && binaries[row].word ? binaries[row].word : binaries[row].sign;
    if (tree->swapped) sign = tree->op == ATN_OP_LT ? ">" : ">=";
    int32_t own = binaries[row].strength;
    if (own < strength) atn_text_add(u->out, "(");
    atn_unparse_expression(u, left, own);
    atn_text_printf(u->out, " %s ", sign);
    atn_unparse_expression(u, right, own + 1);
    if (own < strength) atn_text_add(u->out, ")");
}

void atn_unparse_expression(const atn_unparse *u, const atn_syntax *tree, int32_t strength) {
    atn_text *out = u->out;
    switch (tree->kind) {
    case ATN_SYNTAX_INTEGER:
    case ATN_SYNTAX_NUMBER:
        literal(u, tree);
        break;
    case ATN_SYNTAX_NAME:
    case ATN_SYNTAX_PORT:
        if (u->leaf) {
            u->leaf(u, tree, strength);
        } else if (tree->kind == ATN_SYNTAX_NAME) {
            atn_text_add(out, tree->name);
        } else {
            atn_text_printf(out, "#%s(", tree->name);
            atn_unparse_expression(u, tree->a, ATN_STRENGTH_LOW);
            atn_text_add(out, ")");
        }
        break;
    case ATN_SYNTAX_UNARY:
        if (strength > 12) atn_text_add(out, "(");
        atn_text_add(out, tree->op == ATN_OP_NEG ? "-" : tree->op == ATN_OP_NOT ? "not " : "~");
        atn_unparse_expression(u, tree->a, 12);
        if (strength > 12) atn_text_add(out, ")");
        break;
    case ATN_SYNTAX_BINARY:
        binary(u, tree, strength);
        break;
    case ATN_SYNTAX_CHOICE:
        if (strength > 1) atn_text_add(out, "(");
        atn_unparse_expression(u, tree->a, 2);
        atn_text_add(out, " ? ");
        atn_unparse_expression(u, tree->b, 1);
        atn_text_add(out, " : ");
        atn_unparse_expression(u, tree->c, 1);
        if (strength > 1) atn_text_add(out, ")");
        break;
    case ATN_SYNTAX_CALL:
        atn_text_add(out, tree->name);
        arguments(u, tree->a);
        break;
    case ATN_SYNTAX_ELEMENT:
        atn_text_printf(out, "%s[", tree->name);
        for (const atn_syntax *at = tree->a; at; at = at->next) {
            atn_unparse_expression(u, at, ATN_STRENGTH_LOW);
            if (at->next) atn_text_add(out, ", ");
        }
        atn_text_add(out, "]");
        break;
    case ATN_SYNTAX_POWER:
        atn_text_add(out, "(");
        atn_unparse_expression(u, tree->a, ATN_STRENGTH_LOW);
        atn_text_printf(out, ")^%lld", (long long)tree->integer);
        break;
    case ATN_SYNTAX_CAST:
        atn_unparse_type(u->form, tree->type, tree->written, out);
        arguments(u, tree->a);
        break;
    default:
        break; /* EMPTY */
    }
}

static void begin(const atn_unparse *u, int32_t indent) { atn_text_printf(u->out, "\n%*s", (int)indent, ""); }

/* `x = a` without its semicolon. */
static void assignment(const atn_unparse *u, const atn_syntax *tree) {
    if (tree->kind == ATN_SYNTAX_DECLARE) {
        if (tree->type == ATN_TYPE_NONE)
            atn_text_add(u->out, "auto");
        else
            atn_unparse_type(u->form, tree->type, tree->written, u->out);
        atn_text_add(u->out, " ");
        atn_syntax name = {.kind = ATN_SYNTAX_NAME, .name = tree->name};
        atn_unparse_expression(u, &name, ATN_STRENGTH_HIGH);
        if (tree->a) atn_text_add(u->out, " = ");
        if (tree->a) atn_unparse_expression(u, tree->a, ATN_STRENGTH_LOW);
        return;
    }
    atn_unparse_expression(u, tree->a, ATN_STRENGTH_LOW);
    atn_text_add(u->out, " = ");
    atn_unparse_expression(u, tree->b, ATN_STRENGTH_LOW);
}

static void block(const atn_unparse *u, const atn_syntax *tree, int32_t indent) {
    atn_text_add(u->out, " {");
    atn_unparse_statements(u, tree && tree->kind == ATN_SYNTAX_BLOCK ? tree->a : tree, indent + 4);
    begin(u, indent);
    atn_text_add(u->out, "}");
}

void atn_unparse_statements(const atn_unparse *u, const atn_syntax *tree, int32_t indent) {
    for (; tree; tree = tree->next) {
        begin(u, indent);
        if (tree->kind == ATN_SYNTAX_IF) {
            atn_text_add(u->out, "if (");
            atn_unparse_expression(u, tree->a, ATN_STRENGTH_LOW);
            atn_text_add(u->out, ")");
            block(u, tree->b, indent);
            if (tree->c) atn_text_add(u->out, " else");
            if (tree->c) block(u, tree->c, indent);
        } else if (tree->kind == ATN_SYNTAX_FOR) {
            atn_text_add(u->out, "for (");
            for (const atn_syntax *one = tree->a; one; one = one->next) assignment(u, one);
            atn_text_add(u->out, "; ");
            atn_unparse_expression(u, tree->b, ATN_STRENGTH_LOW);
            atn_text_add(u->out, "; ");
            if (tree->c) assignment(u, tree->c);
            atn_text_add(u->out, ")");
            block(u, tree->d, indent);
        } else if (tree->kind == ATN_SYNTAX_BLOCK) {
            block(u, tree, indent);
        } else {
            assignment(u, tree);
            atn_text_add(u->out, ";");
        }
    }
}
