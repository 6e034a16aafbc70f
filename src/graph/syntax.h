/* The small C-like language of functions, ICFs and selectors, as written: tokens and the tree made of them. Types and
 * meaning come later (flatten.h). */
#ifndef ATN_GRAPH_SYNTAX_H
#define ATN_GRAPH_SYNTAX_H

#include "graph/xml.h"

typedef enum atn_token_kind {
    ATN_TOKEN_END,
    ATN_TOKEN_INTEGER,
    ATN_TOKEN_NUMBER,
    ATN_TOKEN_WORD,
    ATN_TOKEN_PORT, /* #in, #out, #acc, #a, #b; text without the # */
    ATN_TOKEN_SIGN,
    ATN_TOKEN_WRONG /* text says why */
} atn_token_kind;

typedef struct atn_token {
    atn_token_kind kind;
    const char *text; /* a part of the source */
    size_t length, offset;
    int64_t integer;
    double number;
} atn_token;

/* The token at source + *offset, which moves behind it. */
atn_token atn_token_next(const char *source, size_t *offset);

typedef enum atn_syntax_kind {
    ATN_SYNTAX_EMPTY, /* nothing between two commas of a list */
    ATN_SYNTAX_INTEGER,
    ATN_SYNTAX_NUMBER,
    ATN_SYNTAX_NAME,
    ATN_SYNTAX_PORT,    /* name, a: which one */
    ATN_SYNTAX_UNARY,   /* op, a */
    ATN_SYNTAX_BINARY,  /* op, a, b; > and >= are LT and LE with their sides swapped */
    ATN_SYNTAX_CHOICE,  /* a ? b : c */
    ATN_SYNTAX_CALL,    /* name, a: the first argument, linked by next */
    ATN_SYNTAX_CAST,    /* type, a */
    ATN_SYNTAX_ELEMENT, /* notation: name, a: the first subscript, linked by next; integer: where it ends */
    ATN_SYNTAX_REDUCE,  /* notation: name, a: indices, b: ranges or NULL, c: what is reduced */
    ATN_SYNTAX_RANGE,   /* notation: a .. b */
    ATN_SYNTAX_POWER,   /* notation: a, integer times */
    ATN_SYNTAX_BLOCK,   /* a: the first statement, linked by next */
    ATN_SYNTAX_DECLARE, /* type (NONE: that of a), name, a: initial value or NULL */
    ATN_SYNTAX_ASSIGN,  /* a: NAME or PORT, b: value */
    ATN_SYNTAX_IF,      /* a, b: then, c: else or NULL */
    ATN_SYNTAX_FOR      /* a: start or NULL, b: condition, c: step or NULL, d: body */
} atn_syntax_kind;

typedef struct atn_syntax atn_syntax;
struct atn_syntax {
    atn_syntax_kind kind;
    atn_op op;
    atn_type type;
    int32_t depth; /* of the tree below */
    size_t offset; /* in the text */
    const char *name;
    const char *written; /* a literal, or a type that a define replaced, as written in the file; or NULL */
    bool swapped;        /* LT, LE: written as > or >= */
    int64_t integer;
    double number;
    atn_syntax *a, *b, *c, *d, *next;
};

/* One text being parsed. After its first complaint it reads as ended. */
typedef struct atn_parser {
    atn_reader *reader;
    const atn_attribute *text;
    const char *what; /* the object it belongs to, for complaints */
    atn_token token;  /* the current one */
    size_t offset;    /* behind it */
    int32_t nesting;
    bool notation; /* subscripts, reductions and ^ as a power; defines replace tokens */
    bool failed;
} atn_parser;

/* Statements, or one expression: then *is_expression. NULL with the complaint made. */
atn_syntax *atn_syntax_parse_body(atn_reader *reader, const atn_attribute *text, const char *what, bool *is_expression);

/* Expressions separated by commas, linked by next. */
atn_syntax *atn_syntax_parse_list(atn_reader *reader, const atn_attribute *text, const char *what, bool allow_empty);

/* One more than the largest literal k of `#name(k)`; only those assigned to, if asked. */
int32_t atn_syntax_count_ports(const atn_syntax *tree, const char *name, bool assigned);

/* Bit k: the selection variable vk (or v(k)) is used. */
uint64_t atn_syntax_variables(const atn_syntax *tree);
bool atn_syntax_is_variable(const atn_syntax *tree, int64_t *k);

/* Between the two files of the parser. */
void atn_parser_complain(atn_parser *parser, size_t offset, const char *format, ...) ATN_PRINTF(3, 4);
void atn_parser_advance(atn_parser *parser);
bool atn_parser_at(const atn_parser *parser, const char *text); /* a sign or a word */
bool atn_parser_take(atn_parser *parser, const char *text);
void atn_parser_expect(atn_parser *parser, const char *text);
atn_syntax *atn_parser_make(atn_parser *parser, atn_syntax_kind kind, size_t offset);
void atn_parser_measure(atn_parser *parser, atn_syntax *tree); /* sets depth from the parts */
const char *atn_parser_word(atn_parser *parser, atn_token token);
atn_type atn_parser_type(const atn_parser *parser); /* named by the current token, or NONE */
atn_syntax *atn_parser_expression(atn_parser *parser);
atn_syntax *atn_parser_range(atn_parser *parser);                       /* notation: a .. b, or one expression */
atn_syntax *atn_parser_braces(atn_parser *parser);                      /* { statements } as a BLOCK */
atn_syntax *atn_parser_element(atn_parser *parser, atn_token name);     /* notation_expression.c; at [ */
bool atn_parser_at_reduction(const atn_parser *parser, atn_token name); /* behind ( */
atn_syntax *atn_parser_reduction(atn_parser *parser, atn_token name);
atn_syntax *atn_parser_power(atn_parser *parser, atn_syntax *base); /* at ^ */
const char *atn_parser_written(atn_parser *parser, size_t offset);  /* the word there, before defines */

#endif
