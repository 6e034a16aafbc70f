/* One line of a program: calls, declarations, loops. */
#include "graph/notation.h"

/* A keyword, unless it is used as a name: `repeat = 3`. */
static bool keyword(const atn_parser *parser, const char *word) {
    size_t behind = parser->offset;
    atn_token next = atn_token_next(parser->text->value, &behind);
    bool name = next.kind == ATN_TOKEN_SIGN && (*next.text == '=' || *next.text == ':' || *next.text == ',') &&
                next.length == 1;
    return atn_parser_at(parser, word) && !name;
}

/* while x > 0, at most 100, counted in rounds */
static void read_while(atn_parser *parser, atn_action *action) {
    action->value = atn_parser_expression(parser);
    if (!parser->failed && !atn_parser_at(parser, ",")) {
        atn_parser_complain(parser, action->offset,
                            "may never end; say how many rounds it may take: while ..., at most 100");
        return;
    }
    atn_parser_expect(parser, ",");
    atn_parser_expect(parser, "at");
    atn_parser_expect(parser, "most");
    action->most = parser->failed ? NULL : atn_parser_expression(parser);
    if (parser->failed || !atn_parser_take(parser, ",")) return;
    atn_parser_expect(parser, "counted");
    atn_parser_expect(parser, "in");
    atn_named *counter = atn_reader_alloc(parser->reader, sizeof *counter);
    if (!counter || parser->failed) return;
    counter->name = atn_notation_word(parser, "a name", &counter->offset);
    action->counter = counter;
}

/* t: matrix T[rows(u), columns(u)] */
static void declare(atn_parser *parser, atn_action *action) {
    action->kind = ATN_ACTION_DECLARE;
    if (atn_parser_take(parser, "vector")) action->rank = 1;
    if (!action->rank && atn_parser_take(parser, "matrix")) action->rank = 2;
    if (!action->rank && atn_parser_take(parser, "volume")) action->rank = 3;
    atn_named *name = action->names;
    name->type = atn_notation_type(parser, name->name, action->rank > 0, &name->written);
    if (!action->rank || parser->failed) return; /* a scalar: = follows */
    atn_parser_expect(parser, "[");
    atn_syntax **last = &action->sizes;
    for (int32_t axis = 0; axis < action->rank && !parser->failed; ++axis) {
        if (axis) atn_parser_expect(parser, ",");
        *last = parser->failed ? NULL : atn_parser_expression(parser);
        if (*last) last = &(*last)->next;
    }
    atn_parser_expect(parser, "]");
}

static void assign(atn_parser *parser, atn_action *action) {
    size_t behind = parser->offset;
    atn_token next = atn_token_next(parser->text->value, &behind);
    if (next.kind == ATN_TOKEN_SIGN && *next.text == '(') { /* a call alone */
        action->value = atn_parser_expression(parser);
        return;
    }
    atn_named **last = &action->names;
    do {
        if (!atn_notation_named(parser, &last)) return;
    } while (atn_parser_take(parser, ","));
    if (!action->names->next && atn_parser_take(parser, ":")) {
        declare(parser, action);
        if (parser->failed || action->rank) return;
        action->kind = ATN_ACTION_CALL;
    }
    if (!parser->failed && !atn_parser_at(parser, "="))
        atn_parser_complain(parser, parser->token.offset,
                            "expected a step here: a = kernel(b, c), kernel(a), repeat, while or if");
    atn_parser_expect(parser, "=");
    action->value = parser->failed ? NULL : atn_parser_expression(parser);
}

void atn_notation_action(atn_parser *parser, atn_action *action) {
    action->offset = parser->token.offset;
    if (keyword(parser, "repeat")) {
        action->kind = ATN_ACTION_REPEAT;
        atn_parser_advance(parser);
        action->value = atn_parser_expression(parser);
    } else if (keyword(parser, "while")) {
        action->kind = ATN_ACTION_WHILE;
        atn_parser_advance(parser);
        read_while(parser, action);
    } else if (keyword(parser, "if")) {
        action->kind = ATN_ACTION_IF;
        atn_parser_advance(parser);
        action->value = atn_parser_expression(parser);
    } else if (keyword(parser, "else")) {
        action->kind = ATN_ACTION_ELSE;
        atn_parser_advance(parser);
    } else {
        assign(parser, action);
    }
    if (!parser->failed && parser->token.kind != ATN_TOKEN_END)
        atn_parser_complain(parser, parser->token.offset, "unexpected '%.*s'", (int)parser->token.length,
                            parser->token.text);
}
