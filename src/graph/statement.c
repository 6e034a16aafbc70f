/* Statements: declarations, assignments, if/else, for; and queries on a syntax tree. */
#include "graph/syntax.h"

#include <string.h>

static const struct {
    const char *sign;
    atn_op op;
} compounds[] = {{"+=", ATN_OP_ADD},  {"-=", ATN_OP_SUB},    {"*=", ATN_OP_MUL},   {"/=", ATN_OP_DIV},
                 {"%=", ATN_OP_MOD},  {"&=", ATN_OP_BITAND}, {"|=", ATN_OP_BITOR}, {"^=", ATN_OP_BITXOR},
                 {"<<=", ATN_OP_SHL}, {">>=", ATN_OP_SHR}};

static atn_syntax *statement(atn_parser *parser);

/* a op= b as a = a op b. */
static atn_syntax *assign(atn_parser *parser, atn_syntax *target, size_t offset, const atn_op *op, atn_syntax *value) {
    if (!value || parser->failed) return NULL;
    if (target->kind != ATN_SYNTAX_NAME && target->kind != ATN_SYNTAX_PORT) {
        atn_parser_complain(parser, target->offset,
                            parser->reader->notation ? "only names can be assigned to"
                                                     : "only variables, #out(k) and #acc(k) can be assigned to");
        return NULL;
    }
    if (op) {
        atn_syntax *both = atn_parser_make(parser, ATN_SYNTAX_BINARY, offset);
        if (!both) return NULL;
        both->op = *op;
        both->a = target;
        both->b = value;
        atn_parser_measure(parser, both);
        value = both;
    }
    atn_syntax *tree = atn_parser_make(parser, ATN_SYNTAX_ASSIGN, offset);
    if (!tree) return NULL;
    tree->a = target;
    tree->b = value;
    atn_parser_measure(parser, tree);
    return tree;
}

static atn_syntax *one(atn_parser *parser, size_t offset) {
    atn_syntax *tree = atn_parser_make(parser, ATN_SYNTAX_INTEGER, offset);
    if (tree) tree->integer = 1;
    return tree;
}

/* What follows an expression at the start of a statement; the expression itself when nothing does. */
static atn_syntax *assignment(atn_parser *parser) {
    bool up = atn_parser_at(parser, "++"), down = atn_parser_at(parser, "--");
    if (up || down) atn_parser_advance(parser);
    atn_syntax *target = atn_parser_expression(parser);
    if (!target) return NULL;
    size_t offset = parser->token.offset;
    if (!up && !down) {
        up = atn_parser_take(parser, "++");
        down = !up && atn_parser_take(parser, "--");
    }
    static const atn_op add = ATN_OP_ADD, sub = ATN_OP_SUB;
    if (up || down) return assign(parser, target, offset, up ? &add : &sub, one(parser, offset));
    if (atn_parser_take(parser, "=")) return assign(parser, target, offset, NULL, atn_parser_expression(parser));
    for (size_t k = 0; k < sizeof compounds / sizeof *compounds; ++k)
        if (atn_parser_take(parser, compounds[k].sign))
            return assign(parser, target, offset, &compounds[k].op, atn_parser_expression(parser));
    return target;
}

static bool at_declaration(const atn_parser *parser) {
    if (atn_parser_at(parser, "const") || atn_parser_at(parser, "auto")) return true;
    if (atn_parser_type(parser) == ATN_TYPE_NONE) return false;
    size_t offset = parser->offset;
    return atn_token_next(parser->text->value, &offset).kind == ATN_TOKEN_WORD;
}

/* `type a = x, b;` without the semicolon: a BLOCK of DECLAREs that opens no scope, or the one. */
static atn_syntax *declaration(atn_parser *parser) {
    atn_parser_take(parser, "const");
    bool automatic = atn_parser_take(parser, "auto");
    atn_type type = automatic ? ATN_TYPE_NONE : atn_parser_type(parser);
    if (!automatic && type == ATN_TYPE_NONE)
        atn_parser_complain(parser, parser->token.offset, "expected a type after const");
    const char *written = automatic ? NULL : atn_parser_written(parser, parser->token.offset);
    if (!automatic) atn_parser_advance(parser);
    atn_syntax *first = NULL, **last = &first;
    do {
        if (parser->token.kind != ATN_TOKEN_WORD && !parser->failed)
            atn_parser_complain(parser, parser->token.offset, "expected a variable's name after its type");
        atn_syntax *tree = parser->failed ? NULL : atn_parser_make(parser, ATN_SYNTAX_DECLARE, parser->token.offset);
        if (!tree) return NULL;
        tree->type = type;
        tree->written = written;
        tree->name = atn_parser_word(parser, parser->token);
        atn_parser_advance(parser);
        if (atn_parser_take(parser, "="))
            tree->a = atn_parser_expression(parser);
        else if (automatic)
            atn_parser_complain(parser, tree->offset, "auto takes its type from a value; write auto %s = ...",
                                tree->name);
        atn_parser_measure(parser, tree);
        *last = tree;
        last = &tree->next;
    } while (!parser->failed && atn_parser_take(parser, ","));
    return parser->failed ? NULL : first;
}

static atn_syntax *block(atn_parser *parser, const char *close) {
    atn_syntax *tree = atn_parser_make(parser, ATN_SYNTAX_BLOCK, parser->token.offset), **last = tree ? &tree->a : NULL;
    while (last && !parser->failed && parser->token.kind != ATN_TOKEN_END && !atn_parser_at(parser, close)) {
        *last = statement(parser); /* NULL: an empty statement, or the failure that ends the loop */
        while (*last) last = &(*last)->next;
    }
    if (tree) atn_parser_measure(parser, tree);
    return parser->failed ? NULL : tree;
}

static atn_syntax *loop(atn_parser *parser) {
    atn_syntax *tree = atn_parser_make(parser, ATN_SYNTAX_FOR, parser->token.offset);
    if (!tree) return NULL;
    atn_parser_advance(parser);
    atn_parser_expect(parser, "(");
    if (!atn_parser_at(parser, ";")) tree->a = at_declaration(parser) ? declaration(parser) : assignment(parser);
    atn_parser_expect(parser, ";");
    if (atn_parser_at(parser, ";"))
        atn_parser_complain(parser, tree->offset,
                            "the loop has no bound; a loop's length must be known when the kernel is built");
    tree->b = atn_parser_expression(parser);
    atn_parser_expect(parser, ";");
    if (!atn_parser_at(parser, ")")) tree->c = assignment(parser);
    atn_parser_expect(parser, ")");
    tree->d = statement(parser);
    if (!parser->failed) atn_parser_measure(parser, tree);
    if (tree->c && tree->c->kind != ATN_SYNTAX_ASSIGN)
        atn_parser_complain(parser, tree->c->offset, "a loop's step should assign");
    return parser->failed ? NULL : tree;
}

static atn_syntax *branch(atn_parser *parser) {
    atn_syntax *tree = atn_parser_make(parser, ATN_SYNTAX_IF, parser->token.offset);
    if (!tree) return NULL;
    atn_parser_advance(parser);
    atn_parser_expect(parser, "(");
    tree->a = atn_parser_expression(parser);
    atn_parser_expect(parser, ")");
    tree->b = statement(parser);
    if (atn_parser_take(parser, "else")) tree->c = statement(parser);
    if (!parser->failed) atn_parser_measure(parser, tree);
    return parser->failed ? NULL : tree;
}

/* NULL for an empty statement too. */
static atn_syntax *nested_statement(atn_parser *parser) {
    size_t offset = parser->token.offset;
    if (atn_parser_take(parser, ";")) return NULL;
    if (atn_parser_take(parser, "{")) {
        atn_syntax *tree = block(parser, "}");
        atn_parser_expect(parser, "}");
        return parser->failed ? NULL : tree;
    }
    if (atn_parser_at(parser, "if")) return branch(parser);
    if (atn_parser_at(parser, "for")) return loop(parser);
    if (atn_parser_at(parser, "while") || atn_parser_at(parser, "do")) {
        atn_parser_complain(parser, offset, "there is no '%.*s'; use for, with a bound known when the kernel is built",
                            (int)parser->token.length, parser->token.text);
        return NULL;
    }
    if (atn_parser_at(parser, "return") || atn_parser_at(parser, "break") || atn_parser_at(parser, "continue")) {
        atn_parser_complain(parser, offset,
                            parser->reader->notation ? "there is no '%.*s'; assign to what the line defines"
                                                     : "there is no '%.*s'; assign to #out(k)",
                            (int)parser->token.length, parser->token.text);
        return NULL;
    }
    atn_syntax *tree = at_declaration(parser) ? declaration(parser) : assignment(parser);
    if (!parser->failed && parser->token.kind != ATN_TOKEN_END && !atn_parser_at(parser, "}"))
        atn_parser_expect(parser, ";");
    return parser->failed ? NULL : tree;
}

static atn_syntax *statement(atn_parser *parser) {
    if (parser->nesting >= ATN_LIMIT_NESTING) {
        atn_parser_complain(parser, parser->token.offset, "nested deeper than %d", (int)ATN_LIMIT_NESTING);
        return NULL;
    }
    ++parser->nesting;
    atn_syntax *tree = nested_statement(parser);
    --parser->nesting;
    return tree;
}

static bool is_expression_kind(const atn_syntax *tree) { return tree->kind < ATN_SYNTAX_BLOCK; }

/* An expression where a statement should be does nothing: most likely a forgotten assignment. */
static void refuse_idle(atn_parser *parser, const atn_syntax *tree) {
    for (; tree && !parser->failed; tree = tree->next) {
        if (is_expression_kind(tree))
            atn_parser_complain(parser, tree->offset,
                                parser->reader->notation
                                    ? "this value is not used; assign it to a name"
                                    : "this value is not used; assign it to #out(k), #acc(k) or a variable");
        else if (tree->kind == ATN_SYNTAX_BLOCK)
            refuse_idle(parser, tree->a);
        else if (tree->kind == ATN_SYNTAX_IF)
            refuse_idle(parser, tree->b), refuse_idle(parser, tree->c);
        else if (tree->kind == ATN_SYNTAX_FOR)
            refuse_idle(parser, tree->d);
    }
}

atn_syntax *atn_parser_braces(atn_parser *parser) {
    atn_parser_expect(parser, "{");
    atn_syntax *tree = parser->failed ? NULL : block(parser, "}");
    atn_parser_expect(parser, "}");
    if (tree) refuse_idle(parser, tree->a);
    return parser->failed ? NULL : tree;
}

atn_syntax *atn_syntax_parse_body(atn_reader *reader, const atn_attribute *text, const char *what,
                                  bool *is_expression) {
    atn_parser parser = {.reader = reader, .text = text, .what = what, .token = {.text = ""}};
    *is_expression = false;
    atn_parser_advance(&parser);
    atn_syntax *tree = block(&parser, "");
    if (!tree) return NULL;
    if (parser.token.kind != ATN_TOKEN_END)
        atn_parser_complain(&parser, parser.token.offset, "unexpected '%.*s'", (int)parser.token.length,
                            parser.token.text);
    else if (!tree->a)
        atn_parser_complain(&parser, 0, "the text is empty");
    if (tree->a && !tree->a->next && is_expression_kind(tree->a)) {
        *is_expression = true;
        tree = tree->a;
    } else {
        refuse_idle(&parser, tree->a);
    }
    return parser.failed ? NULL : tree;
}

atn_syntax *atn_syntax_parse_list(atn_reader *reader, const atn_attribute *text, const char *what, bool allow_empty) {
    atn_parser parser = {.reader = reader, .text = text, .what = what, .token = {.text = ""}};
    atn_parser_advance(&parser);
    atn_syntax *first = NULL, **last = &first;
    do {
        bool empty = allow_empty && (atn_parser_at(&parser, ",") || parser.token.kind == ATN_TOKEN_END);
        *last =
            empty ? atn_parser_make(&parser, ATN_SYNTAX_EMPTY, parser.token.offset) : atn_parser_expression(&parser);
        if (!*last) return NULL;
        last = &(*last)->next;
    } while (!parser.failed && atn_parser_take(&parser, ","));
    atn_parser_take(&parser, ";");
    if (!parser.failed && parser.token.kind != ATN_TOKEN_END)
        atn_parser_complain(&parser, parser.token.offset, "unexpected '%.*s'", (int)parser.token.length,
                            parser.token.text);
    return parser.failed ? NULL : first;
}

int32_t atn_syntax_count_ports(const atn_syntax *tree, const char *name, bool assigned) {
    int32_t count = 0;
    for (; tree; tree = tree->next) {
        const atn_syntax *port = assigned ? (tree->kind == ATN_SYNTAX_ASSIGN ? tree->a : NULL) : tree;
        if (port && port->kind == ATN_SYNTAX_PORT && !strcmp(port->name, name) && port->a->kind == ATN_SYNTAX_INTEGER &&
            port->a->integer >= count && port->a->integer < INT32_MAX)
            count = (int32_t)port->a->integer + 1;
        const atn_syntax *parts[] = {tree->a, tree->b, tree->c, tree->d};
        for (size_t k = 0; k < 4; ++k) {
            int32_t below = parts[k] ? atn_syntax_count_ports(parts[k], name, assigned) : 0;
            if (below > count) count = below;
        }
    }
    return count;
}

bool atn_syntax_is_variable(const atn_syntax *tree, int64_t *k) {
    if (tree->kind == ATN_SYNTAX_CALL && !strcmp(tree->name, "v")) {
        if (!tree->a || tree->a->next || tree->a->kind != ATN_SYNTAX_INTEGER) return false;
        *k = tree->a->integer;
        return *k < 64;
    }
    if (tree->kind != ATN_SYNTAX_NAME || tree->name[0] != 'v' || !tree->name[1] || strlen(tree->name) > 3) return false;
    *k = 0;
    for (const char *digit = tree->name + 1; *digit; ++digit) {
        if (*digit < '0' || *digit > '9') return false;
        *k = *k * 10 + (*digit - '0');
    }
    return *k < 64;
}

uint64_t atn_syntax_variables(const atn_syntax *tree) {
    uint64_t found = 0;
    for (; tree; tree = tree->next) {
        int64_t k;
        if (atn_syntax_is_variable(tree, &k)) found |= 1ull << k;
        const atn_syntax *parts[] = {tree->a, tree->b, tree->c, tree->d};
        for (size_t part = 0; part < 4; ++part)
            if (parts[part]) found |= atn_syntax_variables(parts[part]);
    }
    return found;
}
