/* Building a program piece by piece: expressions, with simple folding on the spot, and statements, appended to the open
 * list. A failed allocation is recorded in the program and checked once, at the end. */
#ifndef ATN_LOWER_BUILD_H
#define ATN_LOWER_BUILD_H

#include "lower/program.h"
#include <string.h>

/* Sets every ref or number of an array, or of a struct of them, to -1: not created yet. */
static inline void ir_clear(void *refs, size_t size) { memset(refs, 0xff, size); }

/* ---- expressions ---- */
ir_ref ir_make(atn_lowered *p, ir_node node); /* arguments left 0 are not -1: use the constructors below */
ir_ref ir_integer(atn_lowered *p, int32_t type, int64_t value);
ir_ref ir_number(atn_lowered *p, int32_t type, double value);
ir_ref ir_address(atn_lowered *p, int64_t value); /* an integer of type IR_ADDRESS */
ir_ref ir_variable_ref(atn_lowered *p, int32_t variable);
ir_ref ir_operation(atn_lowered *p, atn_op op, int32_t type, ir_ref a, ir_ref b,
                    ir_ref c);                     /* broadcasts scalars among vectors */
ir_ref ir_add(atn_lowered *p, ir_ref a, ir_ref b); /* of the same type, folded */
ir_ref ir_subtract(atn_lowered *p, ir_ref a, ir_ref b);
ir_ref ir_multiply(atn_lowered *p, ir_ref a, ir_ref b);
ir_ref ir_add_integer(atn_lowered *p, ir_ref a, int64_t b);
ir_ref ir_multiply_integer(atn_lowered *p, ir_ref a, int64_t b);
ir_ref ir_cast(atn_lowered *p, int32_t type, ir_ref a);
ir_ref ir_and(atn_lowered *p, ir_ref a, ir_ref b); /* -1 counts as true */
ir_ref ir_less(atn_lowered *p, ir_ref a, ir_ref b);
ir_ref ir_within(atn_lowered *p, ir_ref a, ir_ref n); /* 0 <= a < n */
ir_ref ir_splat(atn_lowered *p, ir_ref a, int32_t width);
ir_ref ir_lane(atn_lowered *p, ir_ref a, int32_t lane);
ir_ref ir_turn(atn_lowered *p, ir_ref a, ir_ref b, int32_t piece, int32_t odd); /* IR_TURN */
ir_ref ir_join(atn_lowered *p, const ir_ref *scalars, int32_t width);
ir_ref ir_argument_ref(atn_lowered *p, ir_argument_kind kind, int32_t id, int32_t type);
ir_ref ir_special(atn_lowered *p, ir_kind kind, int32_t type); /* GROUP, GROUPS, ITEM, LAST */
bool ir_is_integer(const atn_lowered *p, ir_ref a, int64_t *value);
int32_t ir_type_of(const atn_lowered *p, ir_ref a);
int32_t ir_width_of(const atn_lowered *p, ir_ref a);
bool ir_fits(const atn_lowered *p, ir_ref a, int32_t type); /* an integer value: would a cast to the type preserve it?
                                                             * */
void ir_bound(const atn_lowered *p, ir_node *node);         /* fills in its bounds; for ir_make */

/* ---- statements ---- */
typedef struct ir_block { /* an open list of statements */
    ir_stmt first, last;
} ir_block;
#define IR_EMPTY ((ir_block){-1, -1})

ir_stmt ir_append(atn_lowered *p, ir_block *block, ir_statement statement);
void ir_comment(atn_lowered *p, ir_block *block, const char *format, ...) ATN_PRINTF(3, 4);
int32_t ir_new_variable(atn_lowered *p, const char *name, int32_t type, int32_t width,
                        bool is_mutable);                                                    /* the name is made unique
                                                                                              * */
ir_ref ir_declare(atn_lowered *p, ir_block *block, const char *name, ir_ref value);          /* constant */
int32_t ir_declare_mutable(atn_lowered *p, ir_block *block, const char *name, ir_ref value); /* the variable */
void ir_assign(atn_lowered *p, ir_block *block, int32_t variable, ir_ref value);
void ir_if(atn_lowered *p, ir_block *block, ir_ref condition, ir_block body, ir_block other);
void ir_for(atn_lowered *p, ir_block *block, int32_t variable, ir_ref from, ir_ref to, int64_t step, int32_t unroll,
            ir_block body);
void ir_barrier(atn_lowered *p, ir_block *block);

/* Loads `count` matrices of 8 x 8 halves into as many variables, declared here; returns the first. */
int32_t ir_load_matrices(atn_lowered *p, ir_block *block, const char *name, int32_t count, int32_t tile, ir_ref at,
                         bool turned);

#endif
