/* The notation (*.atn) as written in a file: kernels, their data and their lines. Their meaning is determined when they
 * are lowered into a sketch (notation_lower.c). */
#ifndef ATN_GRAPH_NOTATION_H
#define ATN_GRAPH_NOTATION_H

#include "graph/sketch.h"

/* One line as the parser sees it: comments blanked, continuation lines joined, ended by a 0. */
typedef struct atn_logical {
    size_t offset;  /* of its first character, in the file */
    int32_t indent; /* columns in front of it */
} atn_logical;

/* Something with a name and perhaps a type: `s: sum(T)`. */
typedef struct atn_named atn_named;
struct atn_named {
    const char *name;
    size_t offset;
    atn_type type;       /* NONE: not said, or wrong */
    const char *written; /* the type as written; NULL: none was given */
    atn_syntax *init;    /* of a carried value; or NULL */
    atn_named *next;
};

typedef enum atn_role { ATN_ROLE_IN, ATN_ROLE_INOUT, ATN_ROLE_OUT } atn_role;

/* An array or a scalar of a kernel's head. */
typedef struct atn_datum atn_datum;
struct atn_datum {
    const char *name;
    size_t offset;
    atn_role role;
    bool scatter;  /* add, min, max, or: many points may meet in an element */
    bool distinct; /* promised: no element is written twice */
    int32_t rank;  /* 0: a scalar */
    atn_type type;
    const char *written;
    atn_attribute *values; /* a table's elements, a scalar's default; or NULL */
    atn_attribute *size;   /* [256], of an array; or NULL */
    atn_datum *next;
};

typedef enum atn_line_kind {
    ATN_LINE_DEFINE,     /* names = values, or names: T = { body } */
    ATN_LINE_ACCUMULATE, /* names op= values from inits */
    ATN_LINE_WRITE,      /* target op= values where condition */
    ATN_LINE_CARRY,      /* carry names { body } combine { ... } */
    ATN_LINE_OVER,       /* over indices in ranges */
    ATN_LINE_FOR         /* for indices in ranges: the algorithm's own space */
} atn_line_kind;

typedef enum atn_assign {
    ATN_ASSIGN_PLAIN,
    ATN_ASSIGN_ADD,
    ATN_ASSIGN_SUB,
    ATN_ASSIGN_MUL,
    ATN_ASSIGN_MIN,
    ATN_ASSIGN_MAX,
    ATN_ASSIGN_AND,
    ATN_ASSIGN_OR
} atn_assign;

/* `with A clamped` */
typedef struct atn_edge_clause atn_edge_clause;
struct atn_edge_clause {
    const char *name;
    size_t offset;
    atn_boundary boundary;
    bool used;
    atn_edge_clause *next;
};

typedef struct atn_line atn_line;
struct atn_line {
    atn_line_kind kind;
    size_t offset;
    bool failed; /* a complaint was made; its names are still taken */
    atn_assign assign;
    atn_named *names;
    atn_syntax *target;           /* WRITE: an ELEMENT */
    const atn_line *key;          /* of A[i], B[i] min= a, b, a line each: the first of them; or NULL */
    atn_syntax *values, *inits;   /* linked by next; or NULL */
    atn_syntax *body, *combine;   /* braces; or NULL */
    atn_syntax *where;            /* or NULL */
    atn_edge_clause *edges;       /* or NULL */
    atn_syntax *indices, *ranges; /* OVER, FOR; ranges may be NULL */
    atn_line *child, *next;
};

typedef struct atn_function_text atn_function_text;
struct atn_function_text {
    const char *name;
    size_t offset;
    atn_named *parameters, *results;
    atn_syntax *values, *body; /* one of them */
    atn_function_text *next;
};

/* A line about the use of the kernel, as written, with single blanks. */
typedef struct atn_fact atn_fact;
struct atn_fact {
    const char *text;
    atn_fact *next;
};

typedef struct atn_kernel_text atn_kernel_text;
struct atn_kernel_text {
    const char *name;
    size_t offset;
    bool failed; /* its head is wrong: nothing can be said of its lines */
    bool unsure; /* some line could not be read: an unknown name may be defined there */
    bool finite;
    double tolerance;
    atn_datum *data;
    atn_fact *facts;
    atn_line *lines;
    atn_kernel_text *next;
};

/* One line of a program. */
typedef enum atn_action_kind {
    ATN_ACTION_CALL,    /* names = value, or a call alone */
    ATN_ACTION_DECLARE, /* t: matrix T[rows, columns] */
    ATN_ACTION_REPEAT,
    ATN_ACTION_WHILE,
    ATN_ACTION_IF,
    ATN_ACTION_ELSE
} atn_action_kind;

typedef struct atn_action atn_action;
struct atn_action {
    atn_action_kind kind;
    size_t offset;
    bool failed; /* a complaint was made */
    atn_named *names;
    atn_syntax *value;  /* what is called or computed; the condition; how often */
    atn_syntax *most;   /* WHILE: at most so many rounds */
    atn_named *counter; /* WHILE: counted in; or NULL */
    int32_t rank;       /* DECLARE */
    atn_syntax *sizes;  /* DECLARE: rows first, linked by next */
    atn_action *child, *next;
};

typedef struct atn_program_text atn_program_text;
struct atn_program_text {
    const char *name;
    size_t offset;
    bool failed, finite;
    double tolerance;
    atn_datum *data;
    atn_action *actions;
    atn_program_text *next;
};

typedef struct atn_file_text {
    atn_attribute text;   /* the prepared text, plain; offsets are those of the file */
    const char *sequence; /* or NULL */
    size_t sequence_offset;
    atn_kernel_text *kernels;
    atn_function_text *functions;
    atn_program_text *programs;
    atn_logical *lines;
    size_t n_lines;
} atn_file_text;

/* notation_scan.c: logical lines; false with the complaint made. */
bool atn_notation_scan(atn_reader *reader, atn_file_text *file);

/* notation_parse.c: kernels and functions of the file; false when nothing can be made of it. */
bool atn_notation_parse(atn_reader *reader, atn_file_text *file);
bool atn_notation_is(const char *text, size_t length); /* in contrast to XML: does not begin with < */

/* notation_head.c: `kernel NAME(data) -> data`, `function NAME(...) -> ...`; names with types. */
void atn_notation_head(atn_parser *parser, atn_kernel_text *kernel);
void atn_notation_check_head(atn_parser *parser, const atn_kernel_text *kernel); /* what only kernels may not have */
void atn_notation_function(atn_parser *parser, atn_function_text *function);
atn_named *atn_notation_names(atn_parser *parser); /* a, b: T, c; NULL with the complaint made */
atn_type atn_notation_type(atn_parser *parser, const char *what, bool element, const char **written);
const char *atn_notation_word(atn_parser *parser, const char *what, size_t *offset); /* a name, taken */
atn_named *atn_notation_named(atn_parser *parser, atn_named ***last); /* a name, at the end of a list; NULL: failed */

/* notation_program.c: one line of a program, without its children. */
void atn_notation_action(atn_parser *parser, atn_action *action);

/* notation_fact.c: true where the line is about the kernel's use, which keeps it; complaints are made. */
bool atn_notation_fact(atn_parser *parser, atn_kernel_text *kernel);

/* notation_line.c: one line of a kernel, without its children. */
void atn_notation_line(atn_parser *parser, atn_line *line);

#endif
