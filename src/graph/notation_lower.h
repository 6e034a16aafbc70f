/* Shared by the files that lower a kernel of the notation into a sketch: names and their meaning, items, links. */
#ifndef ATN_GRAPH_NOTATION_LOWER_H
#define ATN_GRAPH_NOTATION_LOWER_H

#include "graph/notation.h"

typedef enum atn_symbol_kind {
    ATN_SYMBOL_OBJECT,
    ATN_SYMBOL_PARAMETER,
    ATN_SYMBOL_INDEX,
    ATN_SYMBOL_VALUE,    /* a definition, or the result of a loop */
    ATN_SYMBOL_CONSTANT, /* a definition of literals alone: stands for its text */
    ATN_SYMBOL_TEXT,     /* an argument within braces: stands for a text that is lowered already */
    ATN_SYMBOL_RUNNING,  /* what a loop accumulates, inside of it */
    ATN_SYMBOL_FUNCTION,
    ATN_SYMBOL_POISON /* something was wrong with it: uses keep quiet */
} atn_symbol_kind;

typedef struct atn_symbol {
    const char *name;
    atn_symbol_kind kind;
    atn_end end;
    int32_t block; /* the item it is seen in, with those inside */
    int32_t frame; /* which call of a function; 0: the kernel */
    size_t offset;
    const atn_syntax *tree;            /* CONSTANT */
    const atn_function_text *function; /* FUNCTION */
    const atn_datum *datum;            /* OBJECT, PARAMETER */
} atn_symbol;

/* The accumulators of the current loop. */
typedef struct atn_running {
    const char *name;
    size_t offset;
    atn_type type;
    const char *written;      /* or NULL */
    const atn_syntax *update; /* over #acc(k) and #in(k) */
    const atn_syntax *init;   /* or NULL */
    const atn_line *write;    /* sum[i] += a: where the result goes; or NULL */
    int32_t in;               /* #in(k) of its own; without braces */
} atn_running;

typedef struct atn_loop {
    int32_t item;
    int32_t n; /* accumulators */
    atn_running acc[ATN_MAX_ACCS];
    int32_t n_in;
    atn_end in[ATN_LIMIT_PORTS];
    size_t in_at[ATN_LIMIT_PORTS];
    const atn_line *carried; /* carry: the whole ICF; or NULL */
    const atn_syntax *body, *combine;
    const atn_line *lines;           /* of the loop itself; or NULL */
    const char *above[ATN_MAX_ACCS]; /* names used above the line that accumulates them */
    int32_t n_above;
} atn_loop;

/* The values that a text takes, port by port. */
typedef struct atn_inputs {
    bool selector; /* v0, v1, ... in place of #in(k) */
    int32_t n;
    atn_end end[ATN_LIMIT_PORTS];
    size_t offset[ATN_LIMIT_PORTS];
    const atn_syntax *tree[ATN_LIMIT_PORTS];
} atn_inputs;

/* Names that statements in braces assign to, and those they declare. */
typedef struct atn_braces {
    const atn_named *targets;
    const char *port; /* "out", "acc" */
    bool parts;       /* left(s), right(s) are known */
    const char *locals[64];
    int32_t n_locals;
} atn_braces;

typedef struct atn_lowering {
    atn_sketch *sketch;
    atn_reader *reader;
    const atn_file_text *file;
    const atn_kernel_text *kernel;
    atn_symbol *symbols;
    size_t n_symbols, symbols_room;
    int32_t block;        /* the item that contains the current lines */
    int32_t frame, calls; /* of a function's call; functions within one another */
    int32_t frames;
    const atn_line *line;
    atn_loop *loop;
    atn_braces *braces;      /* or NULL */
    const atn_syntax *whole; /* the reduction that is the algorithm's own; or NULL */
    const char *name;        /* of what is being defined, for labels */
    const char *written;     /* its type as written in the file */
} atn_lowering;

/* notation_symbol.c */
const atn_symbol *atn_symbol_find(const atn_lowering *l, const char *name);     /* as seen from here; or NULL */
void atn_symbol_add(atn_lowering *l, atn_symbol symbol);                        /* refuses a name that is taken */
void atn_symbol_poison(atn_lowering *l, const atn_named *names, int32_t block); /* something is wrong with them */
void atn_symbol_suggest(const atn_lowering *l, atn_suggestion *suggestion, bool objects);
void atn_lowering_complain(atn_lowering *l, size_t offset, const char *what, const char *format, ...) ATN_PRINTF(4, 5);
atn_place atn_lowering_place(const atn_lowering *l, size_t offset);
int32_t atn_lowering_item(atn_lowering *l, atn_item_kind kind, const char *name, size_t offset); /* -1: no memory */
void atn_lowering_link(atn_lowering *l, atn_end source, size_t offset, int32_t item, atn_port port, int32_t k);
atn_syntax *atn_lowering_node(atn_lowering *l, atn_syntax_kind kind, size_t offset);
atn_syntax *atn_lowering_port(atn_lowering *l, const char *name, int64_t k, size_t offset);

/* notation_range.c: indices that are not said, ranges that follow from subscripts. */
typedef struct atn_free_names {
    const char *name[4];
    size_t offset[4];
    int32_t n;
} atn_free_names;
void atn_range_free(const atn_lowering *l, const atn_line *lines, atn_free_names *names);
bool atn_range_find(const atn_lowering *l, const char *index, const atn_line *lines, const atn_syntax *tree,
                    atn_end *end, int64_t *less); /* X.Size(d) of the first plain subscript; reads before writes; less
                                                   * what is added to the index where X is read without a boundary */
const atn_syntax *atn_range_reduction(const atn_line *lines); /* the first one, or NULL */

/* notation_value.c: expressions into items. False or item -1: a complaint was made. */
bool atn_lower_value(atn_lowering *l, const atn_syntax *tree, atn_type type, bool exact, atn_end *end);
atn_syntax *atn_lower_text(atn_lowering *l, const atn_syntax *tree, atn_inputs *inputs);
atn_syntax *atn_lower_list(atn_lowering *l, const atn_syntax *tree, atn_inputs *inputs);
int32_t atn_lower_access(atn_lowering *l, const atn_syntax *tree, bool write);
bool atn_lower_call(atn_lowering *l, const atn_syntax *tree, const atn_symbol *symbol, atn_end *ends, int32_t n);
bool atn_lower_braces(atn_lowering *l, const atn_syntax *body, const atn_named *targets, size_t offset, atn_end *ends);
bool atn_lower_link_all(atn_lowering *l, const atn_inputs *inputs, int32_t item, atn_port port);

/* notation_running.c: what a loop accumulates, seen inside of it. Above the line that accumulates it, a name is the
 * value before the step; its number is not known yet, and is settled when the loop closes. */
bool atn_running_find(atn_lowering *l, const atn_syntax *tree, atn_end *end); /* s, or before(s) */
void atn_running_settle(atn_lowering *l, atn_loop *loop);

/* notation_loop.c */
bool atn_lower_reduce(atn_lowering *l, const atn_syntax *tree, atn_type type, atn_end *end);
void atn_lower_loop(atn_lowering *l, const atn_line *line);
void atn_lower_lines(atn_lowering *l, const atn_line *lines);
bool atn_loop_open(atn_lowering *l, atn_loop *loop, const atn_syntax *indices, const atn_syntax *ranges,
                   const atn_line *lines, const atn_syntax *tree); /* ranges and index names of loop->item */
void atn_loop_close(atn_lowering *l, atn_loop *loop);
void atn_loop_accumulate(atn_lowering *l, const atn_line *line);
void atn_loop_carry(atn_lowering *l, const atn_line *line);

#endif
