/* One line of a kernel: definition, accumulation, write, loop, carried values. */
#include "graph/notation.h"

#include <string.h>

static const struct {
    const char *sign;
    bool word; /* min= is a word and a sign */
    atn_assign assign;
} assigns[] = {{"=", false, ATN_ASSIGN_PLAIN}, {"+=", false, ATN_ASSIGN_ADD}, {"-=", false, ATN_ASSIGN_SUB},
               {"*=", false, ATN_ASSIGN_MUL},  {"min", true, ATN_ASSIGN_MIN}, {"max", true, ATN_ASSIGN_MAX},
               {"and", true, ATN_ASSIGN_AND},  {"or", true, ATN_ASSIGN_OR}};

static bool take_assign(atn_parser *parser, atn_assign *assign) {
    for (size_t k = 0; k < sizeof assigns / sizeof *assigns; ++k) {
        if (!atn_parser_take(parser, assigns[k].sign)) continue;
        *assign = assigns[k].assign;
        if (assigns[k].word) atn_parser_expect(parser, "=");
        return !parser->failed;
    }
    return false;
}

static atn_syntax *list(atn_parser *parser, atn_syntax *(*one)(atn_parser *)) {
    atn_syntax *first = NULL, **last = &first;
    do {
        *last = parser->failed ? NULL : one(parser);
        if (!*last) return NULL;
        last = &(*last)->next;
        if (!atn_parser_at(parser, ",")) break;
        size_t behind = parser->offset; /* `, where` and `, with` end a list */
        atn_token next = atn_token_next(parser->text->value, &behind);
        bool clause = next.kind == ATN_TOKEN_WORD &&
                      ((next.length == 5 && !strncmp(next.text, "where", 5)) ||
                       (next.length == 4 && (!strncmp(next.text, "with", 4) || !strncmp(next.text, "from", 4) ||
                                             !strncmp(next.text, "over", 4))));
        if (clause) break;
        atn_parser_advance(parser);
    } while (true);
    return first;
}

/* with A, B clamped */
static void with(atn_parser *parser, atn_line *line) {
    static const struct {
        const char *name, *other;
        atn_boundary boundary;
    } edges[] = {{"clamped", "clamp", ATN_EDGE_CLAMP},
                 {"zero", "zero", ATN_EDGE_ZERO},
                 {"wrapped", "wrap", ATN_EDGE_WRAP},
                 {"mirrored", "mirror", ATN_EDGE_MIRROR},
                 {"inside", "none", ATN_EDGE_NONE}};
    atn_edge_clause *first = line->edges;
    do {
        atn_edge_clause *one = atn_reader_alloc(parser->reader, sizeof *one);
        if (!one) return;
        one->name = atn_notation_word(parser, "an array's name", &one->offset);
        if (!one->name) return;
        one->next = line->edges;
        line->edges = one;
    } while (atn_parser_take(parser, ","));
    size_t offset = parser->token.offset;
    if (parser->token.kind != ATN_TOKEN_WORD) {
        atn_parser_complain(parser, offset,
                            "expected how to read outside the array: clamped, zero, wrapped or mirrored");
        return;
    }
    const char *word = atn_parser_word(parser, parser->token);
    atn_suggestion suggestion = {.wrong = word};
    for (size_t k = 0; k < sizeof edges / sizeof *edges; ++k) {
        atn_suggestion_try(parser->reader, &suggestion, edges[k].name);
        if (strcmp(edges[k].name, word) != 0 && strcmp(edges[k].other, word) != 0) continue;
        for (atn_edge_clause *one = line->edges; one != first; one = one->next) one->boundary = edges[k].boundary;
        atn_parser_advance(parser);
        return;
    }
    atn_parser_complain(parser, offset, "'%s' is not a boundary; there are clamped, zero, wrapped and mirrored%s", word,
                        atn_suggestion_text(parser->reader, &suggestion));
}

static void clauses(atn_parser *parser, atn_line *line) {
    for (;;) {
        atn_parser_take(parser, ",");
        if (atn_parser_take(parser, "with"))
            with(parser, line);
        else if (!line->where && atn_parser_take(parser, "where"))
            line->where = atn_parser_expression(parser);
        else if (!line->inits && atn_parser_take(parser, "from"))
            line->inits = list(parser, atn_parser_expression);
        else
            break;
        if (parser->failed) return;
    }
    if (parser->failed || parser->token.kind == ATN_TOKEN_END) return;
    atn_suggestion suggestion = {.wrong = atn_parser_word(parser, parser->token)};
    atn_suggestion_try(parser->reader, &suggestion, "with");
    atn_suggestion_try(parser->reader, &suggestion, "where");
    atn_suggestion_try(parser->reader, &suggestion, "from");
    atn_parser_complain(parser, parser->token.offset, "unexpected '%.*s'%s", (int)parser->token.length,
                        parser->token.text, atn_suggestion_text(parser->reader, &suggestion));
}

static atn_syntax *index_name(atn_parser *parser) {
    size_t offset;
    const char *name = atn_notation_word(parser, "an index", &offset);
    atn_syntax *tree = name ? atn_parser_make(parser, ATN_SYNTAX_NAME, offset) : NULL;
    if (tree) tree->name = name;
    return tree;
}

static bool plain_over(const atn_parser *parser) {
    size_t behind = parser->offset;
    atn_token next = atn_token_next(parser->text->value, &behind);
    return atn_parser_at(parser, ",") && next.kind == ATN_TOKEN_WORD && next.length == 4 &&
           !strncmp(next.text, "over", 4);
}

/* for y, x in rows(A), columns(A); `for i, over j in x` is a loop in the other. */
static void loop(atn_parser *parser, atn_line *line) {
    if (parser->token.kind != ATN_TOKEN_END || line->kind == ATN_LINE_OVER) line->indices = list(parser, index_name);
    if (!parser->failed && atn_parser_take(parser, "in")) line->ranges = list(parser, atn_parser_range);
    if (parser->failed) return;
    if (line->kind == ATN_LINE_FOR && plain_over(parser)) {
        atn_parser_advance(parser);
        atn_line *inner = atn_reader_alloc(parser->reader, sizeof *inner);
        if (!inner) return;
        *inner = (atn_line){.kind = ATN_LINE_OVER, .offset = parser->token.offset};
        atn_parser_advance(parser);
        line->child = inner;
        loop(parser, inner);
        return;
    }
    clauses(parser, line);
}

static void carry(atn_parser *parser, atn_line *line) {
    atn_named **last = &line->names;
    do {
        atn_named *one = atn_notation_named(parser, &last);
        if (!one) return;
        atn_parser_expect(parser, ":");
        one->type = atn_notation_type(parser, one->name, false, &one->written);
        if (atn_parser_take(parser, "=")) one->init = atn_parser_expression(parser);
    } while (!parser->failed && atn_parser_take(parser, ","));
    line->body = parser->failed ? NULL : atn_parser_braces(parser);
    if (!parser->failed && atn_parser_take(parser, "combine")) line->combine = atn_parser_braces(parser);
    clauses(parser, line);
}

/* A[i], B[i] = a, b: a line each. With min= and max=, the later ones belong to the first. */
static void split_write(atn_parser *parser, atn_line *line) {
    int32_t targets = 0, values = 0, inits = 0;
    for (const atn_syntax *one = line->target; one; one = one->next) ++targets;
    for (const atn_syntax *one = line->values; one; one = one->next) ++values;
    for (const atn_syntax *one = line->inits; one; one = one->next) ++inits;
    if (targets < 2) return;
    if (targets != values || (inits && targets != inits)) {
        int32_t wrong = targets != values ? values : inits;
        atn_parser_complain(parser, line->offset, "%d elements, but %d value%s%s", targets, wrong,
                            wrong == 1 ? "" : "s", targets != values ? "" : " after 'from'");
        return;
    }
    atn_syntax *target = line->target, *value = line->values, *init = line->inits;
    if (line->assign == ATN_ASSIGN_MIN || line->assign == ATN_ASSIGN_MAX) line->key = line;
    for (atn_line *one = line; target; one = one->next) {
        atn_syntax *next = target->next, *other = value->next, *later = init ? init->next : NULL;
        one->target = target;
        one->values = value;
        one->inits = init;
        one->offset = target->offset;
        target->next = value->next = NULL;
        if (init) init->next = NULL;
        target = next;
        value = other;
        init = later;
        if (!target) break;
        one->next = atn_reader_alloc(parser->reader, sizeof *one);
        if (!one->next) return;
        *one->next = *line;
        one->next->next = NULL;
    }
}

/* A keyword, unless it is used as a name: `over = 3`. */
static bool keyword(const atn_parser *parser, const char *word) {
    size_t behind = parser->offset;
    atn_token next = atn_token_next(parser->text->value, &behind);
    bool name = next.kind == ATN_TOKEN_SIGN && strchr("=:,+-*[", *next.text);
    return atn_parser_at(parser, word) && !name;
}

void atn_notation_line(atn_parser *parser, atn_line *line) {
    line->offset = parser->token.offset;
    bool over = keyword(parser, "over"), is_for = keyword(parser, "for");
    if (over || is_for) {
        line->kind = over ? ATN_LINE_OVER : ATN_LINE_FOR;
        atn_parser_advance(parser);
        loop(parser, line);
        return;
    }
    if (keyword(parser, "carry")) {
        line->kind = ATN_LINE_CARRY;
        atn_parser_advance(parser);
        carry(parser, line);
        return;
    }
    size_t behind = parser->offset;
    atn_token next = atn_token_next(parser->text->value, &behind);
    if (parser->token.kind == ATN_TOKEN_WORD && next.kind == ATN_TOKEN_SIGN && *next.text == '[') {
        line->kind = ATN_LINE_WRITE;
        atn_token name = parser->token;
        atn_parser_advance(parser);
        line->target = atn_parser_element(parser, name);
        for (atn_syntax *last = line->target; last && atn_parser_take(parser, ","); last = last->next) {
            name = parser->token;
            if (name.kind != ATN_TOKEN_WORD || (atn_parser_advance(parser), !atn_parser_at(parser, "[")))
                atn_parser_complain(parser, name.offset, "expected an element here: A[...], B[...] = ...");
            last->next = parser->failed ? NULL : atn_parser_element(parser, name);
            if (!last->next) return;
        }
    } else {
        line->names = atn_notation_names(parser);
    }
    if (!parser->failed && !take_assign(parser, &line->assign))
        atn_parser_complain(parser, parser->token.offset, "expected an assignment here: name = value, name += value");
    if (parser->failed) return;
    if (line->kind != ATN_LINE_WRITE) line->kind = line->assign ? ATN_LINE_ACCUMULATE : ATN_LINE_DEFINE;
    if (atn_parser_at(parser, "{"))
        line->body = atn_parser_braces(parser);
    else
        line->values = list(parser, atn_parser_expression);
    if (!parser->failed) clauses(parser, line);
    if (!parser->failed && line->kind == ATN_LINE_WRITE) split_write(parser, line);
    if (!parser->failed && line->inits && line->kind != ATN_LINE_ACCUMULATE &&
        !(line->kind == ATN_LINE_WRITE && line->assign))
        atn_parser_complain(parser, line->offset, "'from' gives what += begins with; there is none here");
    if (!parser->failed && line->where && line->kind != ATN_LINE_WRITE)
        atn_parser_complain(parser, line->where->offset, "'where' follows what is written; use ?: here");
}
