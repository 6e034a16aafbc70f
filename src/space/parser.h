/* Internals of the parser: tokens, the position in the file, and what its parts share. */
#ifndef ATN_SPACE_PARSER_H
#define ATN_SPACE_PARSER_H

#include "space/lanai.h"

typedef enum atn_lan_token_kind {
    ATN_LAN_END,
    ATN_LAN_NEWLINE, /* of a logical line */
    ATN_LAN_INDENT,
    ATN_LAN_DEDENT,
    ATN_LAN_WORD,
    ATN_LAN_LITERAL, /* a number or a string */
    ATN_LAN_SIGN
} atn_lan_token_kind;

typedef struct atn_lan_token {
    atn_lan_token_kind kind;
    const char *text;
    size_t length;
    int32_t line, column; /* from 1 */
    atn_lan_value value;  /* of a literal */
} atn_lan_token;

typedef struct atn_lan_parser {
    atn_space *space;
    const char *source;
    size_t length, at, line_start;
    int32_t line;
    int32_t parentheses; /* open ones: line breaks inside count as blanks */
    int32_t indents[ATN_LAN_MOST_NESTING + 1], n_indents;
    int32_t dedents;             /* still to be given */
    bool line_begins, line_open; /* the next token is the first of its line; there were others in it */
    atn_lan_token token;         /* the current one */
    int32_t nesting;             /* of expressions */
    const atn_given *given;
    size_t n_given;
    atn_lan_function *function;              /* whose body is being read; NULL outside */
    int32_t each[ATN_LAN_MOST_EACH], n_each; /* names of the list comprehensions that are being resolved: texts */
    const char *label;                       /* of an expression from another file, in place of line and column */
    atn_text decoded;                        /* the string being read */
} atn_lan_parser;

/* "FILE:LINE:COLUMN: sentence" */
atn_status atn_lan_refuse(const atn_lan_parser *parser, int32_t line, int32_t column, const char *format, ...)
    ATN_PRINTF(4, 5);
/* "'what', found here": what the current token is called in messages. */
const char *atn_lan_found(const atn_lan_parser *parser, char text[64]);

/* ---- tokens (token.c) ---- */
atn_status atn_lan_next(atn_lan_parser *parser);                 /* into parser->token */
bool atn_lan_is(const atn_lan_parser *parser, const char *word); /* the current token is this word or sign */
atn_status atn_lan_expect(atn_lan_parser *parser, const char *word, const char *where);
bool atn_lan_reserved(const atn_lan_token *token); /* a word of Python that is no name */

/* ---- expressions (expression.c) ---- */
atn_status atn_lan_read(atn_lan_parser *parser, bool tuple, int32_t *node); /* tuple: a, b without parentheses too */
int32_t atn_lan_add_node(atn_lan_parser *parser, atn_lan_op op, const atn_lan_token *at, const int32_t *kids,
                         int32_t n_kids, atn_status *status); /* -1 with *status */

/* ---- statements (statement.c) ---- */
atn_status atn_lan_read_file(atn_lan_parser *parser);
atn_status atn_lan_add_parameter(atn_lan_parser *parser, int32_t text, int32_t line, int32_t column, int32_t *out);
atn_status atn_lan_add_function(atn_lan_parser *parser, const atn_lan_function *function);
/* An expression as the whole body of a function. */
atn_status atn_lan_set_body(atn_lan_parser *parser, atn_lan_function *function, int32_t node);

/* ---- names (resolve.c) ---- */
/* Names become constants, parameters, derived values and locals; outside of functions at once, in them at the end. */
atn_status atn_lan_resolve(atn_lan_parser *parser, int32_t node);
atn_status atn_lan_resolve_function(atn_lan_parser *parser, atn_lan_function *function);
bool atn_lan_uses_parameters(const atn_space *space, int32_t node);
/* The parameters that each function uses, and an order of the iterators. */
atn_status atn_lan_find_uses(atn_lan_parser *parser);
atn_status atn_lan_find_uses_of(atn_lan_parser *parser, atn_lan_function *function);

/* ---- parts of constraints (split.c) ---- */
atn_status atn_lan_split(atn_lan_parser *parser);

atn_status atn_lan_finish(atn_lan_parser *parser); /* resolves, makes domains; the space is whole then */
atn_status atn_lan_open(const atn_ctx *ctx, const char *name, const atn_given *given, size_t n_given,
                        atn_lan_parser *parser); /* with an empty space */

#endif
