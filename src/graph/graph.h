/* The normal form of a kernel description: dimensions, a DAG of typed values, reads, reductions and writes. What
 * the oracle interprets and the generator lowers. Immutable once parsed; links are indices, -1 means none.
 *
 * Function bodies and selectors are flattened into values: if/else becomes SELECT, loops of known length are
 * unrolled, equal values are shared. So a value depends on exactly the dimensions in its `dims`, and nothing has a
 * side effect but a write. */
#ifndef ATN_GRAPH_GRAPH_H
#define ATN_GRAPH_GRAPH_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/text.h"

#include <attune/type.h>

typedef int32_t atn_value; /* an index into graph->values */

typedef enum atn_op {
    /* leaves */
    ATN_OP_CONST,  /* number[0], number[1] (imaginary), or integer for integer types */
    ATN_OP_DIM,    /* index: the dimension; INDEX */
    ATN_OP_SIZE,   /* index: the object, axis: 0 columns or length, 1 rows, 2 planes; INDEX */
    ATN_OP_PARAM,  /* index: the parameter */
    ATN_OP_READ,   /* index: the read */
    ATN_OP_RESULT, /* index: the block, axis: which accumulator, after the whole iteration */
    ATN_OP_ACC,    /* axis: accumulator before this step; only inside `update` of a block */
    ATN_OP_LEFT,   /* axis: accumulator of the earlier part; only inside `combine` */
    ATN_OP_RIGHT,  /* axis: accumulator of the later part; only inside `combine` */
    /* arithmetic on one type; integer / and % by zero give 0, truncate toward zero; INT32 wraps */
    ATN_OP_ADD,
    ATN_OP_SUB,
    ATN_OP_MUL,
    ATN_OP_DIV,
    ATN_OP_MOD,
    ATN_OP_NEG,
    ATN_OP_FLOORMOD, /* selectors' mod: result in [0, m) */
    ATN_OP_MIN,
    ATN_OP_MAX, /* floating: fmin, fmax: a NaN gives the other one */
    ATN_OP_BITAND,
    ATN_OP_BITOR,
    ATN_OP_BITXOR,
    ATN_OP_BITNOT,
    ATN_OP_SHL,
    ATN_OP_SHR,
    /* comparison and logic; type B (0 or 1); operands of one type */
    ATN_OP_LT,
    ATN_OP_LE,
    ATN_OP_EQ,
    ATN_OP_NE,
    ATN_OP_AND,
    ATN_OP_OR,
    ATN_OP_NOT,
    ATN_OP_SELECT, /* arg[0] (B) ? arg[1] : arg[2] */
    ATN_OP_CAST,   /* to the node's type; float to integer truncates and saturates, NaN gives 0 */
    /* complex */
    ATN_OP_COMPLEX,
    ATN_OP_REAL,
    ATN_OP_IMAG,
    ATN_OP_CONJ,
    /* functions; floating, unless said */
    ATN_OP_ABS, /* integers too; of a complex: its modulus */
    ATN_OP_SQRT,
    ATN_OP_RSQRT,
    ATN_OP_CBRT,
    ATN_OP_EXP,
    ATN_OP_EXP2,
    ATN_OP_EXPM1,
    ATN_OP_LOG,
    ATN_OP_LOG2,
    ATN_OP_LOG10,
    ATN_OP_LOG1P,
    ATN_OP_SIN,
    ATN_OP_COS,
    ATN_OP_TAN,
    ATN_OP_ASIN,
    ATN_OP_ACOS,
    ATN_OP_ATAN,
    ATN_OP_SINH,
    ATN_OP_COSH,
    ATN_OP_TANH,
    ATN_OP_FLOOR,
    ATN_OP_CEIL,
    ATN_OP_ROUND /* halves away from zero */,
    ATN_OP_RINT /* halves to even */,
    ATN_OP_TRUNC,
    ATN_OP_ISNAN /* B */,
    ATN_OP_ISFINITE /* B */,
    ATN_OP_POW,
    ATN_OP_ATAN2,
    ATN_OP_HYPOT,
    ATN_OP_FMOD,
    ATN_OP_COPYSIGN,
    ATN_OP_FMA /* three arguments */,
    /* leaves again: running values, inside their block only. index: the block, axis: which accumulator */
    ATN_OP_BEFORE, /* before this step: an exclusive scan */
    ATN_OP_AFTER,  /* with this step: an inclusive scan */
    ATN_OP_BITS /* of a real number: INT32 of SP, INDEX of DP; of every NaN those of the quiet one without a sign */,
    ATN_OP_COUNT
} atn_op;

typedef struct atn_op_info {
    const char *name; /* as functions are called in the language; operators by their sign */
    int32_t arity;    /* arguments: 0 to 3 */
    bool function;    /* callable by name in the language */
} atn_op_info;
const atn_op_info *atn_op_get_info(atn_op op);

typedef struct atn_node {
    atn_op op;
    atn_type type;
    atn_value arg[3];    /* -1 beyond the op's arity */
    uint32_t dims;       /* bit d: depends on dimension d */
    int32_t index, axis; /* see the leaves */
    int64_t integer;     /* CONST of an integer type */
    double number[2];    /* CONST of a floating type: real, imaginary */
    const char *label;   /* the described object it came from, for names in generated code; NULL: inner value */
} atn_node;

typedef struct atn_dim {
    int32_t block;        /* whose dimension */
    int32_t axis;         /* i(axis) of that block; 0 is the fastest */
    atn_value begin, end; /* INDEX; begin is often CONST 0; may depend on outer dimensions (ranges from data) */
} atn_dim;

typedef struct atn_object {
    const char *name;
    int32_t rank; /* 1 vector, 2 matrix, 3 volume */
    atn_type type;
    bool read, written;
    const void *table;                /* a constant table's elements, row-major, or NULL */
    bool sized;                       /* the description gives the size of an array */
    int64_t table_size[ATN_MAX_RANK]; /* Size(0), Size(1), ... of a table, or of such an array; 1 beyond its rank */
    int32_t line, column;             /* where it was described */
} atn_object;

const char *atn_rank_name(int32_t rank);              /* "vector", "matrix", "volume" */
const char *atn_rank_sizes(int32_t rank);             /* how its sizes are written: "LENGTH", "ROWSxCOLUMNS", ... */
int64_t atn_table_elements(const atn_object *object); /* of a constant table */

typedef struct atn_parameter {
    const char *name;
    atn_type type;
    bool has_default;
    double default_value[2]; /* real, imaginary */
} atn_parameter;

typedef enum atn_boundary { ATN_EDGE_NONE, ATN_EDGE_CLAMP, ATN_EDGE_ZERO, ATN_EDGE_WRAP, ATN_EDGE_MIRROR } atn_boundary;

typedef struct atn_read {
    const char *name;
    int32_t object;
    atn_value select[ATN_MAX_RANK]; /* INDEX: column (or position), row, plane; -1 beyond the object's rank */
    atn_boundary boundary;          /* mirror repeats the edge element: -1 reads 0, n reads n-1 */
    int32_t line, column;
} atn_read;

typedef enum atn_scatter {
    ATN_WRITE_ONCE,
    ATN_WRITE_ADD,
    ATN_WRITE_MIN,
    ATN_WRITE_MAX,
    ATN_WRITE_OR,
    ATN_WRITE_DISTINCT /* in a description only: once, and the caller promises that no element is written twice */
} atn_scatter;

typedef struct atn_write {
    const char *name;
    int32_t object;
    atn_value select[ATN_MAX_RANK]; /* INDEX; as a read's */
    atn_value value;                /* of the object's type */
    atn_value enable;               /* B; -1: always */
    atn_scatter combine;
    bool distinct; /* promised, not shown: no element is written twice */
    int32_t block; /* the block whose iteration it happens in: 0 is P; -1: once, after the whole space */
    int32_t line, column;
} atn_write;

/* How accumulators of a block are joined (the ICF's circled plus). */
typedef enum atn_join {
    ATN_JOIN_SUM,
    ATN_JOIN_PRODUCT,
    ATN_JOIN_MIN,
    ATN_JOIN_MAX, /* min, max ignore NaN */
    ATN_JOIN_AND,
    ATN_JOIN_OR,
    ATN_JOIN_ARGMIN,
    ATN_JOIN_ARGMAX, /* keys and their followers; ties go to the lowest `order` */
    ATN_JOIN_CUSTOM, /* all of the block's accumulators together, by `combine` */
    ATN_JOIN_ORDERED /* no join is known: strictly in order, by `update` */
} atn_join;

typedef struct atn_acc {
    atn_type type;
    atn_join join;
    atn_value init;    /* dimension-free of this block; applied once; the result of an empty range */
    atn_value term;    /* g(in): what each step contributes; CUSTOM and ORDERED use update instead */
    int32_t key;       /* ARGMIN, ARGMAX: the accumulator that decides (itself, for the key) */
    int32_t order;     /* ARGMIN, ARGMAX: the accumulator that holds the linear iteration index */
    bool hidden;       /* added by us (order); no result of the description */
    atn_value update;  /* CUSTOM, ORDERED: the new value from ACC and inputs */
    atn_value combine; /* CUSTOM: from LEFT and RIGHT; init must be neutral for it */
} atn_acc;

typedef struct atn_block {
    const char *name;
    int32_t parent;            /* enclosing block; -1 for block 0, the ParallelAlgorithm */
    int32_t rank;              /* number of dimensions: 1 to 3 (block 0: 0 to 3) */
    int32_t dim[ATN_MAX_RANK]; /* their indices in graph->dims; -1 beyond the rank */
    int32_t n_accs;            /* 0: no ICF */
    atn_acc acc[ATN_MAX_ACCS];
    int32_t line, column;
} atn_block;

typedef struct atn_graph {
    atn_arena arena; /* owns everything below */
    const char *name, *file;
    int32_t n_values, n_dims, n_objects, n_parameters, n_reads, n_writes, n_blocks;
    atn_node *values; /* arguments come before their users */
    atn_dim *dims;    /* block 0's first */
    atn_object *objects;
    atn_parameter *parameters;
    atn_read *reads;
    atn_write *writes; /* in execution order */
    atn_block *blocks; /* in execution order among siblings */
    double tolerance;  /* relative, accepted by the description; 0: the derived bound only */
    bool finite;       /* the description promises finite input */
    atn_hash hash;     /* of the canonical graph, names excluded */
} atn_graph;

/* A described file: one algorithm, or a Sequence of several on shared objects (equal names are one object). */
typedef struct atn_sequence {
    const atn_ctx *ctx;
    char *name;
    int32_t count;
    atn_graph **step;
    const atn_graph **like; /* per step: what is built for it, equal except for names; or NULL: itself. May be NULL */
} atn_sequence;

typedef struct atn_define {
    const char *name, *value; /* USED_FLOAT, SP */
} atn_define;

typedef struct atn_parse_options {
    const atn_define *defines;
    size_t n_defines;
    bool strict; /* the seed's rules: no nested iterators */
} atn_parse_options;

/* One line of what is wrong: "mv.xml:21:5: 'acces_A.v(1)': no object 'acces_A'; did you mean 'access_A'?" */
typedef struct atn_diagnostics {
    atn_text *lines; /* one per line, in the order of the file; may be NULL */
    int32_t count;
} atn_diagnostics;

/* Parses and validates a description, XML or the notation: what begins with < is XML. All errors of the file are found
 * in one go and go to `diagnostics` (may be NULL); the context's message holds the first and how many more there are.
 * *out is owned by the caller. */
atn_status atn_sequence_parse(const atn_ctx *ctx, const char *file, const char *text, size_t length,
                              const atn_parse_options *options, atn_diagnostics *diagnostics, atn_sequence **out);
bool atn_description_needs_float(const char *text, size_t length); /* names USED_FLOAT, or T in the notation */

typedef enum atn_form { ATN_FORM_XML = 1, ATN_FORM_NOTATION } atn_form;

/* A description in another form: the same graphs, with the types that it was written in. */
atn_status atn_description_print(const atn_ctx *ctx, const char *file, const char *text, size_t length,
                                 const atn_parse_options *options, atn_form form, atn_text *out);
void atn_sequence_free(atn_sequence *sequence);

/* Does a block have running values, so that it is a scan? */
bool atn_block_is_scan(const atn_graph *graph, int32_t block);
/* The outermost reduction: block 0 if it is one itself, otherwise the first block directly in it; -1: there is none.
 * *count, if not NULL: how many there are, one after the other. */
int32_t atn_graph_outermost(const atn_graph *graph, int32_t *count);
bool atn_block_is_outermost(const atn_graph *graph, int32_t block);
bool atn_graph_has_scan(const atn_graph *graph);
/* Parts of its range may be joined in any order, not only as they follow each other: a combine of its own is shown to
 * be its own mirror image. */
bool atn_block_commutes(const atn_graph *graph, int32_t block);

/* Values as text, one per line, for `show --passes` and tests. */
void atn_graph_print(const atn_graph *graph, atn_text *out);

#endif
