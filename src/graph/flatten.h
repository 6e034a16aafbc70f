/* From a syntax tree to values: names are resolved, types inferred, branches become SELECT, loops are unrolled. */
#ifndef ATN_GRAPH_FLATTEN_H
#define ATN_GRAPH_FLATTEN_H

#include "graph/value.h"

/* The value of an expression, or a literal whose type is still open. */
typedef struct atn_term {
    atn_type type;   /* NONE: a literal */
    atn_value value; /* unless a literal */
    bool whole;      /* literal: written without a point */
    int64_t integer; /* literal, whole */
    double number;   /* literal; also when whole */
} atn_term;

/* Something that can be assigned to: #out(k), #acc(k), a local variable. */
typedef struct atn_flat_slot {
    const char *name;
    atn_type type;
    atn_value value; /* -1: not assigned, or not on every path */
} atn_flat_slot;

typedef struct atn_flat {
    atn_sketch *sketch;
    const atn_attribute *text;
    const char *what; /* the item, for complaints */
    atn_place at;
    atn_type literal;         /* what literals take: the block's dataType, or that of the variable assigned to */
    const char *target;       /* what may be assigned to: "out", "acc", or NULL for plain expressions */
    const char *const *names; /* notation: of the targets; or NULL */
    int32_t n_targets;        /* the first slots */
    const atn_value *in;      /* #in(k) */
    int32_t n_in;
    const atn_value *accs, *left, *right; /* #acc(k), #a(k), #b(k): as many as targets; NULL: not here */
    const atn_value *variables;           /* v0, v1, ... of a selector; NULL: not here */
    bool selector;                        /* % means mod */
    bool free;                            /* literals take the type of what they meet; `literal` is not used */
    atn_flat_slot *slots;
    int32_t n_slots;
    bool failed; /* the first complaint silences the rest */
} atn_flat;

bool atn_flat_begin(atn_flat *flat); /* makes the slots; then set those of the targets */

/* Runs statements, or assigns one expression to target 0; all targets are then assigned or it is a complaint. */
bool atn_flat_run(atn_flat *flat, const atn_syntax *body, bool is_expression);

/* One expression, of the type it is wanted in. */
atn_value atn_flat_value(atn_flat *flat, const atn_syntax *tree, atn_type type);

/* Between the files that flatten. */
void atn_flat_complain(atn_flat *flat, size_t offset, const char *format, ...) ATN_PRINTF(3, 4);
atn_term atn_flat_expression(atn_flat *flat, const atn_syntax *tree);
bool atn_flat_which(atn_flat *flat, const atn_syntax *tree, int64_t *k); /* the k of #port(k) */
bool atn_flat_is_function(const char *name);                             /* of the language, aliases too */
enum { ATN_FLAT_MOST_ARGS = 3 };
int32_t atn_flat_arity(atn_flat *flat,
                       const atn_syntax *tree); /* of the function called; -1, complained: there is none */
atn_term atn_flat_call(atn_flat *flat, const atn_syntax *tree, const atn_term args[ATN_FLAT_MOST_ARGS], int32_t count);
atn_term atn_flat_binary(atn_flat *flat, atn_op op, atn_term a, atn_term b, size_t offset);
atn_term atn_flat_unary(atn_flat *flat, atn_op op, atn_term a, size_t offset);
atn_term atn_flat_choose(atn_flat *flat, atn_value condition, atn_term a, atn_term b, size_t offset);
atn_value atn_flat_truth(atn_flat *flat, atn_term term, size_t offset);
atn_value atn_flat_assigned(atn_flat *flat, atn_term term, atn_type type, size_t offset); /* widening only */
atn_term atn_flat_typed(atn_value value, atn_type type);
atn_term atn_flat_whole(int64_t integer);
atn_term atn_flat_fraction(double number);
bool atn_flat_is_constant(const char *name);                                      /* M_PI and its kin, true, false */
atn_type atn_flat_literal_type(const atn_flat *flat, bool whole, atn_type other); /* what a literal takes */
atn_value atn_flat_literal(atn_flat *flat, atn_term term, atn_type type, size_t offset);

/* Any conversion at all; what CAST means is said in graph.h. */
atn_value atn_value_convert(atn_sketch *sketch, atn_value value, atn_type type);

#endif
