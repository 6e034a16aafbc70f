/* What the printer of the notation knows about a sketch: names, uses, which functions are printed inline. */
#ifndef ATN_GRAPH_PRINT_NAMES_H
#define ATN_GRAPH_PRINT_NAMES_H

#include "graph/unparse.h"

/* A local variable of a function's text that became a name of the kernel. */
typedef struct atn_print_local {
    int32_t item;
    const char *name, *printed;
} atn_print_local;

typedef struct atn_print_item {
    const char *const *out;          /* names of its outputs */
    const char *index[ATN_MAX_RANK]; /* of a block, i(0) first */
    bool late;                       /* depends on a running value of its block: printed behind what is accumulated */
    bool after;                      /* depends on the algorithm's result */
    bool inlined;                    /* a function, a read or a write that is printed where it is used */
    const atn_syntax **out_tree;     /* a function of several lines: outputs that are printed where they are used */
    bool named;                      /* a read with a line of its own */
} atn_print_item;

typedef struct atn_printer {
    const atn_sketch *sketch;
    atn_reader *reader;
    const char *const *types;
    bool plain;
    atn_text *out;
    atn_print_item *item;
    const char **taken;
    size_t n_taken, taken_room;
    atn_print_local *locals;
    size_t n_locals, locals_room;
    atn_boundary *edge; /* per item: of an object, what the current line must say about it */
} atn_printer;

/* print_acc.c: one accumulator of an ICF as `name op term`; false where the text is not of that form. */
typedef struct atn_print_acc {
    const char *op; /* "+=" */
    const atn_syntax *term;
} atn_print_acc;
bool atn_print_split(const atn_item *item, atn_print_acc *accs);
bool atn_print_split_key(const atn_item *item, atn_print_acc *accs);

/* The accumulator whose term is input k alone, and of no other one; -1: none. */
int32_t atn_print_term_of(const atn_item *block, int32_t k);

bool atn_print_prepare(atn_printer *p);
const char *atn_print_unique(atn_printer *p, const char *base); /* a name that nothing has, taken */
const atn_link *atn_print_only_use(const atn_sketch *sketch, int32_t item, int32_t k); /* NULL: none, or several */
bool atn_print_is_linear(const atn_item *item); /* declarations and assignments, each name once */

#endif
