/* Headers of kernels and functions: names, types, which arrays are inputs and which are outputs. */
#include "graph/notation.h"
#include "graph/type.h"

#include <stdio.h>
#include <string.h>

const char *atn_notation_word(atn_parser *parser, const char *what, size_t *offset) {
    *offset = parser->token.offset;
    if (parser->token.kind != ATN_TOKEN_WORD) {
        if (parser->token.kind == ATN_TOKEN_END)
            atn_parser_complain(parser, *offset, "the line ends; expected %s", what);
        else
            atn_parser_complain(parser, *offset, "unexpected '%.*s'; expected %s", (int)parser->token.length,
                                parser->token.text, what);
        return NULL;
    }
    size_t at = *offset; /* a define is no name */
    atn_token raw = atn_token_next(parser->text->value, &at);
    if (raw.length > ATN_LIMIT_NAME) {
        atn_parser_complain(parser, *offset, "a name has at most %d characters", (int)ATN_LIMIT_NAME);
        return NULL;
    }
    const char *word = atn_parser_word(parser, raw);
    atn_parser_advance(parser);
    return parser->failed ? NULL : word;
}

atn_named *atn_notation_named(atn_parser *parser, atn_named ***last) {
    atn_named *one = atn_reader_alloc(parser->reader, sizeof *one);
    if (!one) return NULL;
    one->name = atn_notation_word(parser, "a name", &one->offset);
    if (!one->name) return NULL;
    **last = one;
    *last = &one->next;
    return one;
}

/* T, INT32, sum(T). */
atn_type atn_notation_type(atn_parser *parser, const char *what, bool element, const char **written) {
    size_t offset = parser->token.offset;
    bool sum = false;
    if (atn_parser_at(parser, "sum") || atn_parser_at(parser, "SUM")) {
        atn_parser_advance(parser);
        atn_parser_expect(parser, "(");
        sum = true;
    }
    if (parser->token.kind != ATN_TOKEN_WORD) {
        if (!parser->failed) atn_parser_complain(parser, parser->token.offset, "expected a type here");
        return ATN_TYPE_NONE;
    }
    const char *name = atn_parser_word(parser, parser->token),
               *inner = atn_parser_written(parser, parser->token.offset);
    atn_parser_advance(parser);
    if (sum) atn_parser_expect(parser, ")");
    if (parser->failed) return ATN_TYPE_NONE;
    char *both = sum ? atn_arena_printf(&parser->reader->arena, "SUM(%s)", name) : NULL,
         *text = sum ? atn_arena_printf(&parser->reader->arena, "SUM(%s)", inner) : NULL;
    if (sum && (!both || !text)) return parser->reader->failed = true, ATN_TYPE_NONE;
    *written = sum ? text : inner;
    if (sum && strlen(name) > 3) both = (char *)(uintptr_t)name; /* no such type: complain of it alone */
    return atn_describe_type_name(parser->reader, atn_attribute_place(parser->reader, parser->text, offset), what,
                                  sum ? both : name, element);
}

atn_named *atn_notation_names(atn_parser *parser) {
    atn_named *first = NULL, **last = &first;
    do {
        atn_named *one = atn_reader_alloc(parser->reader, sizeof *one);
        if (!one) return NULL;
        one->name = atn_notation_word(parser, "a name", &one->offset);
        if (!one->name) return NULL;
        if (atn_parser_take(parser, ":")) one->type = atn_notation_type(parser, one->name, false, &one->written);
        *last = one;
        last = &one->next;
    } while (!parser->failed && atn_parser_take(parser, ","));
    /* `a, b: T` types both */
    for (atn_named *one = first; one; one = one->next) {
        const atn_named *typed = one;
        while (typed && !typed->written) typed = typed->next;
        if (typed && !one->written) one->type = typed->type, one->written = typed->written;
    }
    return parser->failed ? NULL : first;
}

/* The text of a table, a size or a default, up to what closes it; taken with it. */
static atn_attribute *given_values(atn_parser *parser, bool table, const char *what) {
    atn_attribute *values = atn_reader_alloc(parser->reader, sizeof *values);
    if (!values || parser->failed) return NULL;
    const char *text = parser->text->value;
    size_t begin = parser->token.offset + (table ? 1 : 0), end = begin;
    if (table && !atn_parser_at(parser, "[")) {
        atn_parser_complain(parser, parser->token.offset, "write a table's elements in brackets: = [1, 2, 3]");
        return NULL;
    }
    int32_t open = 0;
    for (; text[end]; ++end) {
        if (text[end] == '(') ++open;
        if (!open && strchr(table ? "]" : ",)", text[end])) break;
        if (text[end] == ')') --open;
    }
    if (table && !text[end]) {
        atn_parser_complain(parser, begin, "the %s is not closed by ]", what);
        return NULL;
    }
    char *copy = atn_reader_alloc(parser->reader, end - begin + 1);
    if (!copy) return NULL;
    memcpy(copy, text + begin, end - begin);
    *values = (atn_attribute){.name = "values", .given = copy, .value = copy, .offset = begin, .plain = true};
    parser->offset = end + (table ? 1 : 0);
    atn_parser_advance(parser);
    return values;
}

/* `inout a, b: matrix T` */
static atn_datum *group(atn_parser *parser, atn_role role) {
    static const char *const scatters[] = {"add", "min", "max", "or", NULL};
    atn_datum *first = NULL, **last = &first, base = {.role = role};
    size_t behind = parser->offset; /* a word in front of another word is no name */
    bool pair =
        parser->token.kind == ATN_TOKEN_WORD && atn_token_next(parser->text->value, &behind).kind == ATN_TOKEN_WORD;
    if (pair && atn_parser_take(parser, "inout"))
        base.role = ATN_ROLE_INOUT;
    else if (pair && atn_parser_take(parser, "out"))
        base.role = ATN_ROLE_OUT;
    behind = parser->offset;
    if (atn_parser_at(parser, "distinct") && atn_token_next(parser->text->value, &behind).kind == ATN_TOKEN_WORD) {
        atn_parser_advance(parser);
        base.distinct = true;
        if (base.role == ATN_ROLE_IN) base.role = ATN_ROLE_INOUT;
    }
    for (size_t k = 0; scatters[k] && !base.distinct; ++k) {
        behind = parser->offset;
        if (!atn_parser_at(parser, scatters[k])) continue;
        if (atn_token_next(parser->text->value, &behind).kind != ATN_TOKEN_WORD) continue;
        atn_parser_advance(parser);
        base.scatter = true;
        if (base.role == ATN_ROLE_IN) base.role = ATN_ROLE_INOUT;
    }
    do {
        atn_datum *one = atn_reader_alloc(parser->reader, sizeof *one);
        if (!one) return NULL;
        *one = base;
        one->name = atn_notation_word(parser, "a name", &one->offset);
        if (!one->name) return NULL;
        *last = one;
        last = &one->next;
    } while (atn_parser_take(parser, ","));
    atn_parser_expect(parser, ":");
    for (int32_t rank = 1; rank <= ATN_MAX_RANK && !base.rank; ++rank)
        if (atn_parser_take(parser, atn_rank_name(rank))) base.rank = rank;
    base.type = atn_notation_type(parser, first->name, base.rank > 0, &base.written);
    if (parser->failed) return NULL;
    if (base.rank && atn_parser_at(parser, "[")) base.size = given_values(parser, true, "size");
    if (atn_parser_take(parser, "=")) base.values = given_values(parser, base.rank > 0, "table");
    for (atn_datum *one = first; one; one = one->next) {
        one->rank = base.rank;
        one->type = base.type;
        one->written = base.written;
        one->values = base.values;
        one->size = base.size;
    }
    return parser->failed ? NULL : first;
}

static void groups(atn_parser *parser, atn_role role, const char *close, atn_datum **last) {
    while (!parser->failed && !atn_parser_at(parser, close) && parser->token.kind != ATN_TOKEN_END) {
        *last = group(parser, role);
        while (*last) last = &(*last)->next;
        if (!atn_parser_take(parser, ",")) break;
    }
}

void atn_notation_head(atn_parser *parser, atn_kernel_text *kernel) {
    kernel->name = atn_notation_word(parser, "the kernel's name", &kernel->offset);
    parser->what = kernel->name;
    atn_parser_expect(parser, "(");
    groups(parser, ATN_ROLE_IN, ")", &kernel->data);
    atn_parser_expect(parser, ")");
    atn_datum **last = &kernel->data;
    while (*last) last = &(*last)->next;
    if (atn_parser_take(parser, "->")) groups(parser, ATN_ROLE_OUT, "", last);
    if (!parser->failed && parser->token.kind != ATN_TOKEN_END)
        atn_parser_complain(parser, parser->token.offset, "unexpected '%.*s'", (int)parser->token.length,
                            parser->token.text);
    if (parser->failed || !kernel->name) kernel->failed = true;
}

void atn_notation_check_head(atn_parser *parser, const atn_kernel_text *kernel) {
    for (const atn_datum *one = kernel->data; one; one = one->next)
        if (!one->rank && one->role != ATN_ROLE_IN)
            atn_parser_complain(parser, one->offset, "'%s' is a scalar; a result is a vector, a matrix or a volume",
                                one->name);
}

/* `function wrap(d: T) -> T = expression`, or `-> a, b: T { statements }` */
void atn_notation_function(atn_parser *parser, atn_function_text *function) {
    function->name = atn_notation_word(parser, "the function's name", &function->offset);
    parser->what = function->name;
    if (function->name && atn_type_from_any_name(function->name) != ATN_TYPE_NONE)
        atn_parser_complain(parser, function->offset, "is a type; a function needs another name");
    atn_parser_expect(parser, "(");
    if (!parser->failed && !atn_parser_at(parser, ")")) function->parameters = atn_notation_names(parser);
    atn_parser_expect(parser, ")");
    if (atn_parser_take(parser, "->")) {
        size_t behind = parser->offset;
        atn_token next = atn_token_next(parser->text->value, &behind);
        bool bare = atn_parser_at(parser, "sum") || next.kind == ATN_TOKEN_END ||
                    (next.kind == ATN_TOKEN_SIGN && (*next.text == '=' || *next.text == '{'));
        if (bare) { /* the type alone */
            atn_named *one = atn_reader_alloc(parser->reader, sizeof *one);
            if (!one) return;
            one->name = function->name ? function->name : "";
            one->offset = parser->token.offset;
            one->type = atn_notation_type(parser, function->name, false, &one->written);
            function->results = one;
        } else {
            function->results = atn_notation_names(parser);
        }
    }
    if (atn_parser_at(parser, "{")) {
        function->body = atn_parser_braces(parser);
        for (const atn_named *one = function->results; one && !parser->failed; one = one->next)
            if (!one->written)
                atn_parser_complain(parser, one->offset, "'%s' needs a type: %s: T", one->name, one->name);
        if (!function->results && !parser->failed)
            atn_parser_complain(parser, function->offset, "statements in braces need results with a type: -> r: T");
    } else {
        atn_parser_expect(parser, "=");
        atn_syntax **last = &function->values;
        do {
            *last = parser->failed ? NULL : atn_parser_expression(parser);
            if (!*last) return;
            last = &(*last)->next;
        } while (atn_parser_take(parser, ","));
    }
    if (!parser->failed && parser->token.kind != ATN_TOKEN_END)
        atn_parser_complain(parser, parser->token.offset, "unexpected '%.*s'", (int)parser->token.length,
                            parser->token.text);
}
