/* Expressions: C's operators by binding strength (Pratt), calls, casts, ?:. */
#include "graph/syntax.h"
#include "graph/type.h"

#include <stdio.h>
#include <string.h>

typedef struct binary {
    const char *sign;
    atn_op op;
    int32_t strength; /* higher binds tighter; all are left-associative */
    bool swap;        /* a > b is b < a */
} binary;

static const binary binaries[] = {
    {"||", ATN_OP_OR, 2, false},         {"or", ATN_OP_OR, 2, false},    {"&&", ATN_OP_AND, 3, false},
    {"and", ATN_OP_AND, 3, false},       {"|", ATN_OP_BITOR, 4, false},  {"^", ATN_OP_BITXOR, 5, false},
    {"xor", ATN_OP_BITXOR, 5, false},    {"&", ATN_OP_BITAND, 6, false}, {"==", ATN_OP_EQ, 7, false},
    {"!=", ATN_OP_NE, 7, false},         {"<", ATN_OP_LT, 8, false},     {"<=", ATN_OP_LE, 8, false},
    {">", ATN_OP_LT, 8, true},           {">=", ATN_OP_LE, 8, true},     {"<<", ATN_OP_SHL, 9, false},
    {">>", ATN_OP_SHR, 9, false},        {"+", ATN_OP_ADD, 10, false},   {"-", ATN_OP_SUB, 10, false},
    {"*", ATN_OP_MUL, 11, false},        {"/", ATN_OP_DIV, 11, false},   {"%", ATN_OP_MOD, 11, false},
    {"mod", ATN_OP_FLOORMOD, 11, false},
};

static const struct {
    const char *sign;
    atn_op op;
} unaries[] = {{"-", ATN_OP_NEG}, {"!", ATN_OP_NOT}, {"not", ATN_OP_NOT}, {"~", ATN_OP_BITNOT}};

void atn_parser_complain(atn_parser *parser, size_t offset, const char *format, ...) {
    if (parser->failed) return;
    char sentence[512];
    ATN_FORMAT(sentence, format);
    atn_reader_complain(parser->reader, atn_attribute_place(parser->reader, parser->text, offset), parser->what, "%s",
                        sentence);
    parser->failed = true;
    parser->token = (atn_token){.kind = ATN_TOKEN_END, .text = ""};
}

/* In the notation a define replaces a token by another one; T is the type that USED_FLOAT stands for. */
static void replace_token(atn_parser *parser) {
    const atn_parse_options *options = parser->reader->options;
    for (size_t k = 0; k < options->n_defines; ++k) {
        const atn_define *define = &options->defines[k];
        bool same = atn_parser_at(parser, define->name);
        if (!same && (strcmp(define->name, "USED_FLOAT") != 0 || !atn_parser_at(parser, "T"))) continue;
        size_t offset = 0, where = parser->token.offset;
        atn_token token = atn_token_next(define->value, &offset);
        if (token.kind == ATN_TOKEN_END || atn_token_next(define->value, &offset).kind != ATN_TOKEN_END) {
            atn_parser_complain(parser, where, "the define '%s' is '%s'; expected one word or number", define->name,
                                define->value);
            return;
        }
        token.offset = where;
        parser->token = token;
        return;
    }
}

void atn_parser_advance(atn_parser *parser) {
    if (parser->failed) return;
    parser->token = atn_token_next(parser->text->value, &parser->offset);
    if (parser->notation && parser->token.kind == ATN_TOKEN_WORD) replace_token(parser);
    if (parser->token.kind == ATN_TOKEN_WRONG)
        atn_parser_complain(parser, parser->token.offset, "'%.*s' is not understood here", (int)parser->token.length,
                            parser->token.text);
}

bool atn_parser_at(const atn_parser *parser, const char *text) {
    const atn_token *token = &parser->token;
    return (token->kind == ATN_TOKEN_SIGN || token->kind == ATN_TOKEN_WORD) && token->length == strlen(text) &&
           !strncmp(token->text, text, token->length);
}

bool atn_parser_take(atn_parser *parser, const char *text) {
    if (!atn_parser_at(parser, text)) return false;
    atn_parser_advance(parser);
    return true;
}

void atn_parser_expect(atn_parser *parser, const char *text) {
    if (atn_parser_take(parser, text) || parser->failed) return;
    const atn_token *token = &parser->token;
    if (token->kind == ATN_TOKEN_END)
        atn_parser_complain(parser, token->offset, "the text ends; expected '%s'", text);
    else
        atn_parser_complain(parser, token->offset, "unexpected '%.*s'; expected '%s'", (int)token->length, token->text,
                            text);
}

atn_syntax *atn_parser_make(atn_parser *parser, atn_syntax_kind kind, size_t offset) {
    atn_syntax *tree = atn_reader_alloc(parser->reader, sizeof *tree);
    if (!tree) {
        parser->failed = true;
        parser->token = (atn_token){.kind = ATN_TOKEN_END, .text = ""};
        return NULL;
    }
    tree->kind = kind;
    tree->offset = offset;
    tree->depth = 1;
    return tree;
}

void atn_parser_measure(atn_parser *parser, atn_syntax *tree) {
    const atn_syntax *parts[] = {tree->a, tree->b, tree->c, tree->d};
    for (size_t k = 0; k < 4; ++k)
        for (const atn_syntax *part = parts[k]; part; part = part->next)
            if (part->depth >= tree->depth) tree->depth = part->depth + 1;
    if (tree->depth > ATN_LIMIT_CHAIN)
        atn_parser_complain(parser, tree->offset, "more than %d operations in one expression", (int)ATN_LIMIT_CHAIN);
}

const char *atn_parser_word(atn_parser *parser, atn_token token) {
    char *word = atn_reader_alloc(parser->reader, token.length + 1);
    if (!word) parser->failed = true;
    return word ? memcpy(word, token.text, token.length) : "";
}

atn_type atn_parser_type(const atn_parser *parser) {
    char word[8];
    if (parser->token.kind != ATN_TOKEN_WORD || parser->token.length >= sizeof word) return ATN_TYPE_NONE;
    memcpy(word, parser->token.text, parser->token.length);
    word[parser->token.length] = '\0';
    return atn_type_from_any_name(word);
}

const char *atn_parser_written(atn_parser *parser, size_t offset) {
    size_t at = atn_attribute_given(parser->reader, parser->text, offset);
    atn_token token = atn_token_next(parser->text->given, &at);
    return atn_parser_word(parser, token);
}

/* Arguments up to the closing parenthesis, linked by next. */
static atn_syntax *arguments(atn_parser *parser) {
    atn_syntax *first = NULL, **last = &first;
    while (!parser->failed && !atn_parser_at(parser, ")")) {
        if (first) atn_parser_expect(parser, ",");
        atn_syntax *one = atn_parser_expression(parser);
        if (!one) break;
        *last = one;
        last = &one->next;
    }
    atn_parser_expect(parser, ")");
    return first;
}

static atn_syntax *unary(atn_parser *parser);

static atn_syntax *cast(atn_parser *parser, atn_type type, size_t offset, size_t type_at, bool call) {
    atn_syntax *tree = atn_parser_make(parser, ATN_SYNTAX_CAST, offset);
    if (!tree) return NULL;
    tree->type = type;
    tree->written = atn_parser_written(parser, type_at);
    tree->a = call ? atn_parser_expression(parser) : unary(parser);
    if (call) atn_parser_expect(parser, ")");
    return tree;
}

static atn_syntax *parenthesis(atn_parser *parser) {
    size_t offset = parser->token.offset;
    atn_parser_advance(parser);
    atn_type type = atn_parser_type(parser);
    if (type != ATN_TYPE_NONE) {
        atn_token token = parser->token;
        size_t behind = parser->offset;
        atn_parser_advance(parser);
        if (atn_parser_take(parser, ")")) return cast(parser, type, offset, token.offset, false);
        parser->token = token; /* SP(x) within parentheses */
        parser->offset = behind;
    }
    atn_syntax *tree = atn_parser_expression(parser);
    atn_parser_expect(parser, ")");
    return tree;
}

static atn_syntax *primary(atn_parser *parser) {
    atn_token token = parser->token;
    atn_syntax *tree = NULL;
    if (atn_parser_at(parser, "(")) return parenthesis(parser);
    switch (token.kind) {
    case ATN_TOKEN_INTEGER:
    case ATN_TOKEN_NUMBER:
        tree = atn_parser_make(parser, token.kind == ATN_TOKEN_INTEGER ? ATN_SYNTAX_INTEGER : ATN_SYNTAX_NUMBER,
                               token.offset);
        if (!tree) return NULL;
        tree->integer = token.integer;
        tree->number = token.number;
        tree->written = atn_parser_word(parser, token);
        atn_parser_advance(parser);
        return tree;
    case ATN_TOKEN_PORT:
        tree = atn_parser_make(parser, ATN_SYNTAX_PORT, token.offset);
        if (!tree) return NULL;
        tree->name = atn_parser_word(parser, token);
        atn_parser_advance(parser);
        atn_parser_expect(parser, "(");
        tree->a = atn_parser_expression(parser);
        atn_parser_expect(parser, ")");
        return tree;
    case ATN_TOKEN_WORD: {
        atn_type type = atn_parser_type(parser);
        atn_parser_advance(parser);
        if (parser->notation && atn_parser_at(parser, "[")) return atn_parser_element(parser, token);
        bool call = atn_parser_take(parser, "(");
        if (parser->notation && call && atn_parser_at_reduction(parser, token))
            return atn_parser_reduction(parser, token);
        if (type != ATN_TYPE_NONE && call) return cast(parser, type, token.offset, token.offset, true);
        tree = atn_parser_make(parser, call ? ATN_SYNTAX_CALL : ATN_SYNTAX_NAME, token.offset);
        if (!tree) return NULL;
        tree->name = atn_parser_word(parser, token);
        if (call) tree->a = arguments(parser);
        return tree;
    }
    case ATN_TOKEN_END:
        atn_parser_complain(parser, token.offset, "the text ends; expected a value");
        return NULL;
    default:
        atn_parser_complain(parser, token.offset, "unexpected '%.*s'; expected a value", (int)token.length, token.text);
        return NULL;
    }
}

static atn_syntax *unary(atn_parser *parser) {
    size_t offset = parser->token.offset;
    if (parser->nesting >= ATN_LIMIT_NESTING) {
        atn_parser_complain(parser, offset, "nested deeper than %d", (int)ATN_LIMIT_NESTING);
        return NULL;
    }
    ++parser->nesting;
    atn_syntax *tree = NULL;
    bool found = atn_parser_take(parser, "+");
    if (found) tree = unary(parser);
    for (size_t k = 0; !found && k < sizeof unaries / sizeof *unaries; ++k) {
        if (!atn_parser_take(parser, unaries[k].sign)) continue;
        found = true;
        tree = atn_parser_make(parser, ATN_SYNTAX_UNARY, offset);
        if (tree) tree->op = unaries[k].op;
        if (tree) tree->a = unary(parser);
    }
    if (!found) tree = primary(parser);
    if (!found && tree && parser->notation && atn_parser_at(parser, "^")) tree = atn_parser_power(parser, tree);
    if (tree) atn_parser_measure(parser, tree);
    --parser->nesting;
    return parser->failed ? NULL : tree;
}

static atn_syntax *climb(atn_parser *parser, int32_t strength) {
    atn_syntax *left = unary(parser);
    while (left && !parser->failed) {
        const binary *found = NULL;
        for (size_t k = 0; !found && k < sizeof binaries / sizeof *binaries; ++k)
            if (binaries[k].strength >= strength && atn_parser_at(parser, binaries[k].sign)) found = &binaries[k];
        if (!found) break;
        size_t offset = parser->token.offset;
        atn_parser_advance(parser);
        atn_syntax *right = climb(parser, found->strength + 1);
        atn_syntax *tree = right ? atn_parser_make(parser, ATN_SYNTAX_BINARY, offset) : NULL;
        if (!tree) return NULL;
        tree->op = found->op;
        tree->a = found->swap ? right : left;
        tree->b = found->swap ? left : right;
        tree->swapped = found->swap;
        atn_parser_measure(parser, tree);
        left = tree;
    }
    return parser->failed ? NULL : left;
}

atn_syntax *atn_parser_expression(atn_parser *parser) {
    if (parser->nesting >= ATN_LIMIT_NESTING) {
        atn_parser_complain(parser, parser->token.offset, "nested deeper than %d", (int)ATN_LIMIT_NESTING);
        return NULL;
    }
    ++parser->nesting;
    atn_syntax *tree = climb(parser, 2);
    size_t offset = parser->token.offset;
    if (tree && atn_parser_take(parser, "?")) {
        atn_syntax *choice = atn_parser_make(parser, ATN_SYNTAX_CHOICE, offset);
        if (choice) {
            choice->a = tree;
            choice->b = atn_parser_expression(parser);
            atn_parser_expect(parser, ":");
            choice->c = atn_parser_expression(parser);
            atn_parser_measure(parser, choice);
        }
        tree = choice;
    }
    --parser->nesting;
    return parser->failed ? NULL : tree;
}
