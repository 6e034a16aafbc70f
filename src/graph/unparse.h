/* Trees of expressions and statements as text again, in either form of the language. */
#ifndef ATN_GRAPH_UNPARSE_H
#define ATN_GRAPH_UNPARSE_H

#include "graph/sketch.h"

enum { ATN_STRENGTH_LOW = 0, ATN_STRENGTH_SUM = 10, ATN_STRENGTH_HIGH = 13 };

/* How leaves are printed: #in(k), or what stands for it. */
typedef struct atn_unparse atn_unparse;
struct atn_unparse {
    atn_form form;
    atn_text *out;
    void (*leaf)(const atn_unparse *u, const atn_syntax *leaf, int32_t strength); /* NAME and PORT; NULL: as they are */
    const void *user;
    int32_t item;
};

void atn_unparse_expression(const atn_unparse *u, const atn_syntax *tree, int32_t strength);
void atn_unparse_statements(const atn_unparse *u, const atn_syntax *tree, int32_t indent); /* one a line */
bool atn_unparse_same(const atn_syntax *a, const atn_syntax *b);

void atn_unparse_number(double number, atn_text *out); /* as short as it can be read again */

/* USED_FLOAT and T, SUM(...) and sum(...), as the form has them. */
void atn_unparse_type(atn_form form, atn_type type, const char *written, atn_text *out);

/* print_xml.c, print_notation.c: a sketch that was built without complaints. `types`: of functions without one, by
 * item, as they are written; or NULL. */
void atn_sketch_print_xml(const atn_sketch *sketch, const char *const *types, int32_t indent, atn_text *out);
void atn_sketch_print_notation(const atn_sketch *sketch, const char *const *types, bool plain, atn_text *out);

#endif
