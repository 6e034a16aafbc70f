/* What expressions of the notation have beyond those of functions: A[i, j], sum(j) ..., x^2, a .. b. */
#include "graph/syntax.h"

#include <string.h>

enum { MOST_POWER = 16 };

static bool is_word(atn_token token, const char *const *words) {
    for (size_t k = 0; token.kind == ATN_TOKEN_WORD && words[k]; ++k)
        if (strlen(words[k]) == token.length && !strncmp(words[k], token.text, token.length)) return true;
    return false;
}

atn_syntax *atn_parser_element(atn_parser *parser, atn_token name) {
    atn_syntax *tree = atn_parser_make(parser, ATN_SYNTAX_ELEMENT, name.offset), **last = tree ? &tree->a : NULL;
    if (!tree) return NULL;
    tree->name = atn_parser_word(parser, name);
    atn_parser_advance(parser);
    while (!parser->failed && !atn_parser_at(parser, "]")) {
        if (tree->a) atn_parser_expect(parser, ",");
        *last = atn_parser_expression(parser);
        if (!*last) return NULL;
        last = &(*last)->next;
    }
    tree->integer = (int64_t)parser->token.offset + 1;
    if (!tree->a) atn_parser_complain(parser, name.offset, "an element of '%s' needs subscripts", tree->name);
    atn_parser_expect(parser, "]");
    atn_parser_measure(parser, tree);
    return parser->failed ? NULL : tree;
}

/* `sum(j) ...` in contrast to a call: names alone, and behind them `in`, or `)` and a value. */
bool atn_parser_at_reduction(const atn_parser *parser, atn_token name) {
    static const char *const always[] = {"sum", "product", "any", "all", NULL}, *const both[] = {"min", "max", NULL},
                             *const in[] = {"in", NULL}, *const behind[] = {"and",  "or",    "xor",  "mod",
                                                                            "with", "where", "from", NULL};
    if (is_word(name, always)) return true;
    if (!is_word(name, both)) return false;
    atn_token token = parser->token;
    size_t offset = parser->offset;
    while (token.kind == ATN_TOKEN_WORD) {
        token = atn_token_next(parser->text->value, &offset);
        if (token.kind != ATN_TOKEN_SIGN || *token.text != ',') break;
        token = atn_token_next(parser->text->value, &offset);
    }
    if (is_word(token, in)) return true;
    if (token.kind != ATN_TOKEN_SIGN || *token.text != ')') return false;
    token = atn_token_next(parser->text->value, &offset);
    return token.kind == ATN_TOKEN_INTEGER || token.kind == ATN_TOKEN_NUMBER ||
           (token.kind == ATN_TOKEN_SIGN && *token.text == '(') ||
           (token.kind == ATN_TOKEN_WORD && !is_word(token, behind));
}

atn_syntax *atn_parser_range(atn_parser *parser) {
    atn_syntax *first = atn_parser_expression(parser);
    size_t offset = parser->token.offset;
    if (!first || !atn_parser_take(parser, "..")) return first;
    atn_syntax *tree = atn_parser_make(parser, ATN_SYNTAX_RANGE, offset);
    if (!tree) return NULL;
    tree->a = first;
    tree->b = atn_parser_expression(parser);
    if (tree->b) atn_parser_measure(parser, tree);
    return parser->failed ? NULL : tree;
}

atn_syntax *atn_parser_reduction(atn_parser *parser, atn_token name) {
    atn_syntax *tree = atn_parser_make(parser, ATN_SYNTAX_REDUCE, name.offset), **last = tree ? &tree->a : NULL;
    if (!tree) return NULL;
    tree->name = atn_parser_word(parser, name);
    do {
        if (parser->token.kind != ATN_TOKEN_WORD) {
            atn_parser_complain(parser, parser->token.offset, "expected an index here: %s(j) ...", tree->name);
            return NULL;
        }
        *last = atn_parser_make(parser, ATN_SYNTAX_NAME, parser->token.offset);
        if (!*last) return NULL;
        (*last)->name = atn_parser_word(parser, parser->token);
        last = &(*last)->next;
        atn_parser_advance(parser);
    } while (atn_parser_take(parser, ","));
    if (atn_parser_take(parser, "in")) {
        last = &tree->b;
        do {
            *last = atn_parser_range(parser);
            if (!*last) return NULL;
            last = &(*last)->next;
        } while (atn_parser_take(parser, ","));
    }
    atn_parser_expect(parser, ")");
    tree->c = atn_parser_expression(parser);
    if (tree->c) atn_parser_measure(parser, tree);
    return parser->failed ? NULL : tree;
}

atn_syntax *atn_parser_power(atn_parser *parser, atn_syntax *base) {
    size_t offset = parser->token.offset;
    atn_parser_advance(parser);
    int64_t power = parser->token.integer;
    if (parser->token.kind != ATN_TOKEN_INTEGER || power < 1 || power > MOST_POWER) {
        atn_parser_complain(parser, parser->token.offset,
                            "after ^ comes a whole number from 1 to %d; use pow, or xor for bits", (int)MOST_POWER);
        return NULL;
    }
    atn_parser_advance(parser);
    if (atn_parser_at(parser, "^"))
        atn_parser_complain(parser, parser->token.offset, "a power of a power needs parentheses: (x^2)^3");
    atn_syntax *tree = atn_parser_make(parser, ATN_SYNTAX_POWER, offset);
    if (!tree) return NULL;
    tree->a = base;
    tree->integer = power;
    atn_parser_measure(parser, tree);
    return parser->failed ? NULL : tree;
}
