/* Expressions: Python's grammar and precedence, less what a space has no use for. */
#include "base/memory.h"
#include "base/suggest.h"
#include "space/parser.h"

#include <string.h>

enum { MOST_KIDS = 4096 }; /* of one list */

/* Binary operators; a higher level binds tighter. Comparisons chain and have their own rule. */
typedef struct operator_row {
    const char *sign;
    int level;
    atn_lan_op op;
} operator_row;
static const operator_row OPERATORS[] = {
    {"|", 1, ATN_LAN_BIT_OR},        {"^", 2, ATN_LAN_BIT_XOR},      {"&", 3, ATN_LAN_BIT_AND},
    {"<<", 4, ATN_LAN_SHIFT_LEFT},   {">>", 4, ATN_LAN_SHIFT_RIGHT}, {"+", 5, ATN_LAN_ADD},
    {"-", 5, ATN_LAN_SUBTRACT},      {"*", 6, ATN_LAN_MULTIPLY},     {"/", 6, ATN_LAN_DIVIDE},
    {"//", 6, ATN_LAN_FLOOR_DIVIDE}, {"%", 6, ATN_LAN_MODULO},
};
enum { TIGHTEST = 6 };
static const operator_row COMPARISONS[] = {
    {"==", 0, ATN_LAN_EQUAL},  {"!=", 0, ATN_LAN_UNEQUAL},       {"<", 0, ATN_LAN_LESS}, {"<=", 0, ATN_LAN_LESS_EQUAL},
    {">", 0, ATN_LAN_GREATER}, {">=", 0, ATN_LAN_GREATER_EQUAL}, {"in", 0, ATN_LAN_IN},
};
#define ROWS(table) (sizeof(table) / sizeof *(table))

/* A list of nodes while it is read. */
typedef struct kid_list {
    const atn_ctx *ctx;
    int32_t *items;
    size_t count, capacity;
} kid_list;

static atn_status keep(kid_list *kids, int32_t node) {
    atn_status status = atn_grow(kids->ctx, (void **)&kids->items, &kids->capacity, kids->count, sizeof *kids->items);
    if (!status) kids->items[kids->count++] = node;
    return status;
}

int32_t atn_lan_add_node(atn_lan_parser *parser, atn_lan_op op, const atn_lan_token *at, const int32_t *kids,
                         int32_t n_kids, atn_status *status) {
    atn_space *space = parser->space;
    atn_lan_node node = {.op = op,
                         .line = at->line,
                         .column = at->column,
                         .first = (int32_t)space->n_links,
                         .n_kids = n_kids,
                         .height = 1};
    *status = atn_grow(space->ctx, (void **)&space->nodes, &space->nodes_capacity, space->n_nodes, sizeof node);
    for (int32_t k = 0; k < n_kids && !*status; ++k) {
        int32_t height = space->nodes[kids[k]].height + 1;
        if (height > node.height) node.height = height;
        *status =
            atn_grow(space->ctx, (void **)&space->links, &space->links_capacity, space->n_links, sizeof *space->links);
        if (!*status) space->links[space->n_links++] = kids[k];
    }
    if (!*status && node.height > ATN_LAN_MOST_HEIGHT)
        *status = atn_lan_refuse(parser, at->line, at->column, "the expression is nested more than %d deep",
                                 (int)ATN_LAN_MOST_HEIGHT);
    if (*status) return -1;
    space->nodes[space->n_nodes] = node;
    return (int32_t)space->n_nodes++;
}

static atn_status add(atn_lan_parser *parser, atn_lan_op op, const atn_lan_token *at, const int32_t *kids,
                      int32_t n_kids, int32_t *out) {
    atn_status status;
    *out = atn_lan_add_node(parser, op, at, kids, n_kids, &status);
    return status;
}

static atn_status read_choice(atn_lan_parser *parser, int32_t *out);

/* ---- the smallest parts ---- */

static atn_status read_constant(atn_lan_parser *parser, atn_lan_value value, int32_t *out) {
    atn_lan_token at = parser->token;
    atn_status status = add(parser, ATN_LAN_CONSTANT, &at, NULL, 0, out);
    if (status) return status;
    parser->space->nodes[*out].value = value;
    return atn_lan_next(parser);
}

/* "a" 'b': strings side by side are one. */
static atn_status read_literal(atn_lan_parser *parser, int32_t *out) {
    atn_status status = read_constant(parser, parser->token.value, out);
    while (!status && parser->space->nodes[*out].value.kind == ATN_LAN_TEXT && parser->token.kind == ATN_LAN_LITERAL &&
           parser->token.value.kind == ATN_LAN_TEXT) {
        atn_lan_value *value = &parser->space->nodes[*out].value;
        atn_text both = {.ctx = parser->space->ctx};
        atn_text_add(&both, atn_lan_text(parser->space, (int32_t)value->whole));
        atn_text_add(&both, atn_lan_text(parser->space, (int32_t)parser->token.value.whole));
        value->whole = both.failed ? -1 : atn_lan_intern(parser->space, atn_text_str(&both), both.length);
        atn_text_free(&both);
        status = value->whole < 0 ? ATN_ERR_MEMORY : atn_lan_next(parser);
    }
    return status;
}

static atn_status read_logic(atn_lan_parser *parser, bool any, int32_t *out);

/* for x in list if condition: `item` precedes it and becomes the whole. */
static atn_status read_each(atn_lan_parser *parser, int32_t *item) {
    atn_lan_token at = parser->token;
    int32_t kids[3] = {*item, -1, -1}, n = 2;
    atn_status status = atn_lan_next(parser);
    if (status) return status;
    if (parser->token.kind != ATN_LAN_WORD || atn_lan_reserved(&parser->token))
        return atn_lan_refuse(parser, parser->token.line, parser->token.column, "a name is missing after 'for'");
    int32_t name = atn_lan_intern(parser->space, parser->token.text, parser->token.length);
    status = name < 0 ? ATN_ERR_MEMORY : atn_lan_next(parser);
    if (!status) status = atn_lan_expect(parser, "in", "after 'for x'");
    if (!status) status = read_logic(parser, true, &kids[1]);
    if (!status && atn_lan_is(parser, "if")) {
        n = 3;
        status = atn_lan_next(parser);
        if (!status) status = read_logic(parser, true, &kids[2]);
    }
    if (!status && (atn_lan_is(parser, "for") || atn_lan_is(parser, "if")))
        return atn_lan_refuse(parser, parser->token.line, parser->token.column,
                              "a list comprehension has one 'for' and at most one 'if'");
    if (!status) status = add(parser, ATN_LAN_EACH, &at, kids, n, item);
    if (!status) parser->space->nodes[*item].index = name;
    return status;
}

static bool is_each(const atn_lan_parser *parser, const kid_list *kids) {
    return kids->count == 1 && parser->space->nodes[kids->items[0]].op == ATN_LAN_EACH;
}

/* Expressions up to `close`, which is passed; *tuple: there was a comma, or nothing at all. One item with a 'for'
 * behind it is the list itself. */
static atn_status read_list(atn_lan_parser *parser, const char *close, kid_list *kids, bool *tuple) {
    atn_status status = ATN_OK;
    *tuple = atn_lan_is(parser, close);
    while (!status && !atn_lan_is(parser, close)) {
        int32_t item;
        if (kids->count == MOST_KIDS)
            return atn_lan_refuse(parser, parser->token.line, parser->token.column, "the list has more than %d items",
                                  (int)MOST_KIDS);
        status = read_choice(parser, &item);
        if (!status && kids->count == 0 && atn_lan_is(parser, "for")) status = read_each(parser, &item);
        if (!status) status = keep(kids, item);
        if (status || atn_lan_is(parser, close)) break;
        *tuple = true;
        char found[64];
        if (!atn_lan_is(parser, ","))
            return atn_lan_refuse(parser, parser->token.line, parser->token.column, "',' or '%s' is missing before %s",
                                  close, atn_lan_found(parser, found));
        status = atn_lan_next(parser);
    }
    return status ? status : atn_lan_next(parser);
}

static atn_status read_parentheses(atn_lan_parser *parser, int32_t *out) {
    atn_lan_token at = parser->token;
    kid_list kids = {.ctx = parser->space->ctx};
    bool brackets = atn_lan_is(parser, "["), tuple = false;
    atn_status status = atn_lan_next(parser);
    if (!status) status = read_list(parser, brackets ? "]" : ")", &kids, &tuple);
    if (!status && !tuple && kids.count == 1 && (!brackets || is_each(parser, &kids)))
        *out = kids.items[0];
    else if (!status)
        status = add(parser, ATN_LAN_ITEMS, &at, kids.items, (int32_t)kids.count, out);
    atn_free(kids.ctx, kids.items);
    return status;
}

static int32_t find_builtin(const atn_lan_token *name) {
    for (int32_t k = 0; ATN_LAN_BUILTINS[k].name; ++k)
        if (strlen(ATN_LAN_BUILTINS[k].name) == name->length &&
            memcmp(ATN_LAN_BUILTINS[k].name, name->text, name->length) == 0)
            return k;
    return -1;
}

static atn_status no_builtin(const atn_lan_parser *parser, const atn_lan_token *name) {
    char typed[64] = "";
    if (name->length < sizeof typed) memcpy(typed, name->text, name->length);
    atn_suggest suggest = {.typed = typed};
    for (int32_t k = 0; ATN_LAN_BUILTINS[k].name; ++k) atn_suggest_try(&suggest, ATN_LAN_BUILTINS[k].name);
    return atn_lan_refuse(parser, name->line, name->column, "there is no function '%.*s'%s%s%s",
                          (int)(name->length < 60 ? name->length : 60), name->text,
                          suggest.best ? "; did you mean '" : "", suggest.best ? suggest.best : "",
                          suggest.best ? "'?" : "");
}

static atn_status read_call(atn_lan_parser *parser, const atn_lan_token *name, int32_t *out) {
    int32_t which = find_builtin(name);
    if (which < 0) return no_builtin(parser, name);
    const atn_lan_builtin *builtin = &ATN_LAN_BUILTINS[which];
    kid_list kids = {.ctx = parser->space->ctx};
    bool tuple;
    atn_status status = atn_lan_next(parser);
    if (!status) status = read_list(parser, ")", &kids, &tuple);
    if (!status && ((int32_t)kids.count < builtin->least || (int32_t)kids.count > builtin->most))
        status = builtin->least == builtin->most
                     ? atn_lan_refuse(parser, name->line, name->column, "%s takes %d argument%s, not %zu",
                                      builtin->name, builtin->least, builtin->least == 1 ? "" : "s", kids.count)
                     : atn_lan_refuse(parser, name->line, name->column, "%s takes %d to %d arguments, not %zu",
                                      builtin->name, builtin->least, builtin->most, kids.count);
    if (!status) status = add(parser, ATN_LAN_CALL, name, kids.items, (int32_t)kids.count, out);
    if (!status) parser->space->nodes[*out].index = which;
    atn_free(kids.ctx, kids.items);
    return status;
}

static atn_status read_name(atn_lan_parser *parser, int32_t *out) {
    atn_lan_token name = parser->token;
    atn_status status = atn_lan_next(parser);
    if (status) return status;
    if (atn_lan_is(parser, "(")) return read_call(parser, &name, out);
    int32_t text = atn_lan_intern(parser->space, name.text, name.length), member = -1;
    if (text < 0) return ATN_ERR_MEMORY;
    if (atn_lan_is(parser, ".")) {
        status = atn_lan_next(parser);
        if (status) return status;
        if (parser->token.kind != ATN_LAN_WORD)
            return atn_lan_refuse(parser, parser->token.line, parser->token.column, "a name is missing after '.'");
        member = atn_lan_intern(parser->space, parser->token.text, parser->token.length);
        status = member < 0 ? ATN_ERR_MEMORY : atn_lan_next(parser);
    }
    if (!status) status = add(parser, member < 0 ? ATN_LAN_NAME : ATN_LAN_MEMBER, &name, NULL, 0, out);
    if (status) return status;
    parser->space->nodes[*out].index = text;
    parser->space->nodes[*out].index2 = member;
    return ATN_OK;
}

static atn_status read_atom(atn_lan_parser *parser, int32_t *out) {
    const atn_lan_token *token = &parser->token;
    char found[64];
    if (token->kind == ATN_LAN_LITERAL) return read_literal(parser, out);
    if (atn_lan_is(parser, "(") || atn_lan_is(parser, "[")) return read_parentheses(parser, out);
    if (atn_lan_is(parser, "True") || atn_lan_is(parser, "False"))
        return read_constant(parser, (atn_lan_value){.kind = ATN_LAN_BOOL, .whole = atn_lan_is(parser, "True")}, out);
    if (token->kind == ATN_LAN_WORD && !atn_lan_reserved(token)) return read_name(parser, out);
    return atn_lan_refuse(parser, token->line, token->column, "a value is missing; found %s",
                          atn_lan_found(parser, found));
}

/* ---- operators ---- */

static atn_status read_signed(atn_lan_parser *parser, int32_t *out);

static atn_status read_power(atn_lan_parser *parser, int32_t *out) {
    int32_t kids[2] = {-1, -1};
    atn_status status = read_atom(parser, &kids[0]);
    if (!status && (atn_lan_is(parser, "(") || atn_lan_is(parser, "[")))
        return atn_lan_refuse(parser, parser->token.line, parser->token.column,
                              "only functions can be called, by their names, and lists cannot be indexed");
    *out = kids[0];
    if (status || !atn_lan_is(parser, "**")) return status;
    atn_lan_token at = parser->token;
    status = atn_lan_next(parser);
    if (!status) status = read_signed(parser, &kids[1]);
    return status ? status : add(parser, ATN_LAN_POWER, &at, kids, 2, out);
}

/* Every way into a deeper level goes through here or through read_not, so the nesting is counted there. */
static atn_status enter(atn_lan_parser *parser) {
    if (++parser->nesting <= 2 * ATN_LAN_MOST_NESTING) return ATN_OK;
    return atn_lan_refuse(parser, parser->token.line, parser->token.column, "the expression is nested too deep");
}

static atn_status read_signed(atn_lan_parser *parser, int32_t *out) {
    static const operator_row SIGNED[] = {{"-", 0, ATN_LAN_NEGATE}, {"+", 0, ATN_LAN_PLUS}, {"~", 0, ATN_LAN_INVERT}};
    atn_status status = enter(parser);
    for (size_t k = 0; k < ROWS(SIGNED) && !status; ++k) {
        if (!atn_lan_is(parser, SIGNED[k].sign)) continue;
        int32_t kid;
        atn_lan_token at = parser->token;
        status = atn_lan_next(parser);
        if (!status) status = read_signed(parser, &kid);
        if (!status) status = add(parser, SIGNED[k].op, &at, &kid, 1, out);
        --parser->nesting;
        return status;
    }
    if (!status) status = read_power(parser, out);
    --parser->nesting;
    return status;
}

static const operator_row *find_operator(const atn_lan_parser *parser, int level) {
    for (size_t k = 0; k < ROWS(OPERATORS); ++k)
        if (OPERATORS[k].level == level && atn_lan_is(parser, OPERATORS[k].sign)) return &OPERATORS[k];
    return NULL;
}

static atn_status read_binary(atn_lan_parser *parser, int level, int32_t *out) {
    if (level > TIGHTEST) return read_signed(parser, out);
    atn_status status = read_binary(parser, level + 1, out);
    const operator_row *row;
    while (!status && (row = find_operator(parser, level))) {
        int32_t kids[2] = {*out};
        atn_lan_token at = parser->token;
        status = atn_lan_next(parser);
        if (!status) status = read_binary(parser, level + 1, &kids[1]);
        if (!status) status = add(parser, row->op, &at, kids, 2, out);
    }
    return status;
}

/* The comparison at the current position, consumed; *op: ATN_LAN_CONSTANT: there is none. */
static atn_status read_comparison_sign(atn_lan_parser *parser, atn_lan_op *op) {
    *op = ATN_LAN_CONSTANT;
    if (atn_lan_is(parser, "not")) { /* behind an operand it can only be 'not in' */
        atn_status status = atn_lan_next(parser);
        *op = ATN_LAN_NOT_IN;
        return status ? status : atn_lan_expect(parser, "in", "after 'not'");
    }
    if (atn_lan_is(parser, "is"))
        return atn_lan_refuse(parser, parser->token.line, parser->token.column,
                              "'is' is not a part of LANAI; use '=='");
    for (size_t k = 0; k < ROWS(COMPARISONS); ++k) {
        if (!atn_lan_is(parser, COMPARISONS[k].sign)) continue;
        *op = COMPARISONS[k].op;
        return atn_lan_next(parser);
    }
    return ATN_OK;
}

static atn_status read_comparison(atn_lan_parser *parser, int32_t *out) {
    kid_list kids = {.ctx = parser->space->ctx};
    int32_t pair[2] = {-1, -1}, comparison = -1;
    atn_lan_token first = parser->token;
    atn_status status = read_binary(parser, 1, &pair[0]);
    *out = pair[0];
    while (!status) {
        atn_lan_op op;
        atn_lan_token at = parser->token;
        status = read_comparison_sign(parser, &op);
        if (status || op == ATN_LAN_CONSTANT) break;
        status = read_binary(parser, 1, &pair[1]);
        if (!status) status = add(parser, op, &at, pair, 2, &comparison);
        if (!status) status = keep(&kids, comparison);
        pair[0] = pair[1];
    }
    if (!status && kids.count == 1)
        *out = kids.items[0];
    else if (!status && kids.count > 1)
        status = add(parser, ATN_LAN_CHAIN, &first, kids.items, (int32_t)kids.count, out);
    atn_free(kids.ctx, kids.items);
    return status;
}

static atn_status read_not(atn_lan_parser *parser, int32_t *out) {
    if (!atn_lan_is(parser, "not")) return read_comparison(parser, out);
    atn_lan_token at = parser->token;
    int32_t kid;
    atn_status status = enter(parser);
    if (!status) status = atn_lan_next(parser);
    if (!status) status = read_not(parser, &kid);
    --parser->nesting;
    return status ? status : add(parser, ATN_LAN_NOT, &at, &kid, 1, out);
}

static atn_status read_logic(atn_lan_parser *parser, bool any, int32_t *out) {
    kid_list kids = {.ctx = parser->space->ctx};
    const char *word = any ? "or" : "and";
    atn_lan_token at = parser->token;
    atn_status status;
    for (;;) {
        status = any ? read_logic(parser, false, out) : read_not(parser, out);
        if (!status && (kids.count || atn_lan_is(parser, word))) status = keep(&kids, *out);
        if (status || !atn_lan_is(parser, word)) break;
        status = atn_lan_next(parser);
        if (status) break;
    }
    if (!status && kids.count)
        status = add(parser, any ? ATN_LAN_OR : ATN_LAN_AND, &at, kids.items, (int32_t)kids.count, out);
    atn_free(kids.ctx, kids.items);
    return status;
}

/* a if c else b */
static atn_status read_choice(atn_lan_parser *parser, int32_t *out) {
    int32_t kids[3] = {-1, -1, -1};
    atn_status status = enter(parser);
    if (!status) status = read_logic(parser, true, &kids[1]);
    *out = kids[1];
    if (!status && atn_lan_is(parser, "if")) {
        atn_lan_token at = parser->token;
        status = atn_lan_next(parser);
        if (!status) status = read_logic(parser, true, &kids[0]);
        if (!status) status = atn_lan_expect(parser, "else", "after 'a if c'");
        if (!status) status = read_choice(parser, &kids[2]);
        if (!status) status = add(parser, ATN_LAN_CHOOSE, &at, kids, 3, out);
    }
    --parser->nesting;
    return status;
}

atn_status atn_lan_read(atn_lan_parser *parser, bool tuple, int32_t *node) {
    kid_list kids = {.ctx = parser->space->ctx};
    atn_lan_token at = parser->token;
    *node = -1;
    parser->nesting = 0;
    atn_status status = read_choice(parser, node);
    if (!status && tuple && atn_lan_is(parser, ",")) {
        status = keep(&kids, *node);
        while (!status && atn_lan_is(parser, ",")) {
            status = atn_lan_next(parser);
            if (status || parser->token.kind <= ATN_LAN_DEDENT) break;
            status = read_choice(parser, node);
            if (!status) status = keep(&kids, *node);
        }
        if (!status) status = add(parser, ATN_LAN_ITEMS, &at, kids.items, (int32_t)kids.count, node);
    }
    atn_free(kids.ctx, kids.items);
    return status;
}
