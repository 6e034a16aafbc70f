/* The printer's state, shared by its files. */
#ifndef ATN_RENDER_PRINTER_H
#define ATN_RENDER_PRINTER_H

#include "render/dialect.h"

typedef struct printer {
    const atn_ctx *ctx;
    const atn_lowered *p;
    const atn_dialect *d;
    atn_text *out;
    const ir_stage *stage;
    int depth;
    atn_status status; /* first failure */
} printer;

bool print_atomic_partials(const printer *r); /* do groups of one launch read each other's partial results? */
const char *print_type(int32_t type);         /* of a scalar in arithmetic */
const char *print_storage(atn_type type);     /* of an element in memory */
void print_vector_type(printer *r, int32_t type, int32_t width); /* or that of the scalar, if width is 1 */
int32_t print_mask_bytes(const printer *r, ir_ref ref);          /* size of the lanes of a mask vector */
const char *print_vector_base(int32_t type,
                              int32_t mask_bytes); /* the type name before the width: float, long; for masks: by size */
bool print_is_integer(int32_t type);
bool print_by_extension(const printer *r); /* are vectors those of the compiler's extension? */
void print_convert(printer *r, int which, const char *base,
                   int32_t width); /* text before and after a vector that is converted */
void print_expression(printer *r, ir_ref ref);

/* matrix.c */
void print_matrix(printer *r, const ir_statement *s);      /* a statement for matrix units */
void print_warpgroup_product(printer *r, int32_t columns); /* the functions that warpgroup statements call */

/* parts.c */
void print_parts(printer *r, const ir_statement *s); /* a statement for products of parts */

/* memory.c */
void print_cast_scalar(printer *r, const ir_node *n, int32_t from);
void print_cast_vector(printer *r, const ir_node *n, int32_t from);
void print_load(printer *r, const ir_node *n);
void print_turn(printer *r, const ir_node *n);
void print_tile(printer *r, const ir_node *n);
void print_argument_name(printer *r, ir_argument_kind kind, int32_t id, int32_t part);
void print_pointer(printer *r, int32_t object); /* the elements of the object */

#endif
