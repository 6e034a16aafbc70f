/* A program: what a graph and a variant became. Dialect-free: stages to launch one after the other, each a tree of
 * statements over typed, possibly vector-valued expressions. The printers of src/render turn it into source. */
#ifndef ATN_LOWER_PROGRAM_H
#define ATN_LOWER_PROGRAM_H

#include "graph/graph.h"
#include "lower/variant.h"

typedef int32_t ir_ref;  /* an expression; -1: none */
typedef int32_t ir_stmt; /* a statement; -1: none */

/* Types of expressions are atn_types, and one more: address arithmetic, 32 or 64 bits as the variant says. */
enum { IR_ADDRESS = ATN_TYPE_COUNT };

typedef enum ir_kind {
    IR_INTEGER,   /* integer */
    IR_NUMBER,    /* number */
    IR_VARIABLE,  /* id */
    IR_OPERATION, /* op over arg; B results are 0 or 1, as vectors 0 or all bits */
    IR_WITHIN,    /* 0 <= arg[0] < arg[1], in one comparison, without a sign */
    IR_SPLAT,     /* arg[0] in every lane */
    IR_LANE,      /* lane `integer` of vector arg[0] */
    IR_JOIN,      /* a vector of `width` scalars: list, list + 1, ... in program->list */
    IR_TURN,      /* of vectors arg[0] and arg[1], in pieces of `integer` lanes, those with an even number (id 1: an odd
                     one) of both in turns: the exchange of which a transposition is made; host */
    IR_LOAD,     /* width elements of object id from element arg[0], `list` apart (1, or 2 on the host; IR_LOAD_ALIGNED:
                    1, and they lie at a multiple of their size), or each arg[1] (INT32) further on where that is not -1;
                    integer 1: the imaginary parts of a complex object */
    IR_TILE,     /* element arg[0] of staged tile id, or `width` of them side by side */
    IR_SCRATCH,  /* slot arg[0] of the partial results, as `type` */
    IR_ARGUMENT, /* integer: ir_argument_kind, id: object or parameter */
    IR_GROUP,
    IR_GROUPS,
    IR_ITEM,    /* this group, how many were launched, this item in its group */
    IR_SHUFFLE, /* arg[0] of another item, within segments of `id` items; list: ir_shuffle says which, by `integer` */
    IR_LAST,    /* true in the group that finishes last (all partial results are then visible) */
    IR_DRAW,    /* of INDEX: how many groups of this launch began before this one, plus 2^32 times which launch it is */
    IR_CALL,    /* a helper of the dialect, id: ir_call, of arg */
    IR_PEEK,    /* word arg[0] of the scratch, as it is now */
    IR_AWAIT /* what another group left at word arg[0] of the scratch in launch arg[1], as `type`; waits for it; arg[2]:
                what was there before, -1: nobody looked */
} ir_kind;

typedef enum ir_call {
    IR_CALL_PACK,        /* two singles, rounded to halves, side by side in an INT32 */
    IR_CALL_LOW_HALF,    /* the first of them, as a single */
    IR_CALL_HIGH_HALF,   /* the second */
    IR_CALL_AS_HALF,     /* a single, rounded to a half */
    IR_CALL_EXP2_HALVES, /* 2^x of two halves side by side, in halves, by a polynomial */
    IR_CALL_AS_TF32,     /* a single, rounded to 11 bits; what would overflow stays finite */
    IR_CALL_REST_TF32,   /* what that leaves, arg[0] less arg[1], rounded to 11 bits */
    IR_CALL_ALIGNED, /* is the element of the load arg[0] at a multiple of 16 bytes, and rows arg[1] elements apart? */
    IR_CALL_ALL      /* does it hold for all items of the group? */
} ir_call;

typedef enum ir_shuffle {
    IR_SHUFFLE_ACROSS, /* the item whose number differs in that bit */
    IR_SHUFFLE_UP,     /* the item that many before; where there is none, its own */
    IR_SHUFFLE_FROM,   /* that item of the segment */
    IR_SHUFFLE_LEAST,  /* none in particular: the least of the segment, of SP (no NaN) or INT32 */
    IR_SHUFFLE_MOST,   /* the largest */
    IR_SHUFFLES
} ir_shuffle;

typedef enum ir_argument_kind {
    IR_ARG_DATA,   /* an object's elements */
    IR_ARG_OFFSET, /* its first element, counted in elements */
    IR_ARG_PITCH,  /* elements from row to row */
    IR_ARG_SIZE0,
    IR_ARG_SIZE1,
    IR_ARG_SIZE2,   /* SIZE0 + axis */
    IR_ARG_PARAM,   /* a parameter's value */
    IR_ARG_SCRATCH, /* partial results: 8-byte slots, then one counter */
    IR_ARG_REPORT   /* two int32: count of bad gathers, and 1 + the number of one read that had one */
} ir_argument_kind;

enum { IR_LOAD_ALIGNED = 0 };

typedef struct ir_node {
    ir_kind kind;
    atn_op op;
    int32_t type;  /* atn_type, or IR_ADDRESS */
    int32_t width; /* lanes; 1: a scalar */
    ir_ref arg[3];
    int32_t id;
    int32_t list;
    int64_t integer;
    double number;
    int64_t low, high; /* of a whole one: no lane is outside, whatever the data; see bounds.c */
    bool wraps;        /* +, -, * or << that may leave its type, INT32 or INDEX */
} ir_node;

typedef enum ir_statement_kind {
    IR_DECLARE, /* variable id = value; constant unless the variable is mutable */
    IR_ASSIGN,  /* variable id = value */
    IR_STORE, /* object id, element index = value (width elements, `step` apart: 1, or 2); component: imaginary parts */
    IR_STORE_ATOMIC,   /* object id, element index combined with value by scatter */
    IR_TILE_STORE,     /* staged tile id, element index = value */
    IR_FETCH,          /* the same of a load, which this item alone will see, and not before */
    IR_FETCHED,        /* all that it fetched is there */
    IR_SCRATCH_STORE,  /* slot index of the partial results = value */
    IR_SCRATCH_ATOMIC, /* slot index joined with value by scatter */
    IR_LEAVE,          /* word index of the scratch = value, for groups of launch `limit` that await it */
    IR_MATRIX_LOAD,    /* declares `unroll` variables from id on: as many matrices of 8 x 8 halves, from the rows of 16
                          bytes at word `index` of tile `step`, this lane's; component: turned */
    IR_MATRIX_FETCH,  /* 16 bytes of the load `value` into tile id at `index`, later; of elements there are `limit` (-1:
                         all), the  others are zeros */
    IR_MATRIX_COMMIT, /* what was fetched since the last is a set */
    IR_MATRIX_WAIT,   /* all sets but the last `step` are there, as this item sees it; component: for warpgroups, too */
    IR_MATRIX_MULTIPLY, /* adds to variables id to id + 3 the product of 16 x 16 and 16 x 8 halves: value is a JOIN of
                           four words of the left and two of the right operand; of doubles 16 x 8 and 8 x 8 */
    IR_WARPGROUP_MULTIPLY, /* the same of variables id to id + `unroll` - 1, 64 rows and 16 steps: index and value are
                              elements of tiles where the operands begin; the left has its rows by eight `step` bytes
                              apart, the right its columns by 64, `component` bytes apart */
    IR_WARPGROUP_SET,      /* component 0: such products begin; 1: those since then are a set */
    IR_WARPGROUP_WAIT,     /* all sets of products but the last `step` are done */
    IR_FOR,                /* variable id from value to limit (exclusive) by `step`, unrolled by `unroll`; body */
    IR_IF,                 /* value; body, other */
    IR_BARRIER,            /* all items of the group, local memory */
    IR_REPORT,             /* gather of read id was out of range */
    IR_ORDER,              /* host: variable value is made before those of later such statements */
    IR_HIDE,               /* host: the compiler forgets what it knows of variable value */
    IR_COMMENT,            /* text */
    IR_PARALLEL            /* host: variable id from 0 to limit, shared among the threads; body */
} ir_statement_kind;

typedef struct ir_statement {
    ir_statement_kind kind;
    int32_t id;
    ir_ref index, value, limit;
    int64_t step;
    int32_t unroll;
    int32_t component; /* of a complex object */
    int32_t scatter;   /* atn_scatter */
    ir_stmt body, other, next;
    const char *text;
} ir_statement;

typedef struct ir_variable {
    const char *name;
    int32_t type, width;
    bool is_mutable;
    int64_t low, high; /* of a whole one, as in ir_node */
} ir_variable;

/* A buffer for a group: local memory on a GPU, a thread's own array on a CPU. */
typedef struct ir_tile {
    const char *name;
    atn_type type;
    int64_t elements;
    bool dynamic; /* its memory comes with the launch, one behind the other (cuda) */
} ir_tile;

typedef struct ir_stage {
    const char *name; /* of the entry point */
    int32_t items;    /* per work-group */
    ir_stmt body;
    int32_t n_tiles;
    ir_tile tile[48]; /* of what is staged, and of accumulators */
    /* How many groups: the product of ceil(extent / span) over the points' dimensions, times split. */
    int32_t span[ATN_MAX_RANK]; /* points covered by one group per dimension; 1 where there is none */
    bool over_points;           /* false: one group for all (the end of a reduction) */
    bool over_splits;
    int32_t over_steps; /* > 0: one group for so many steps of the range; at least one */
} ir_stage;

typedef struct ir_argument {
    ir_argument_kind kind;
    int32_t id; /* object or parameter */
} ir_argument;

typedef struct atn_lowered {
    atn_arena arena;
    const atn_graph *graph; /* must outlive the program */
    atn_variant variant;
    int32_t n_nodes, n_statements, n_variables, n_list, n_arguments, n_stages;
    ir_node *nodes;
    ir_statement *statements;
    ir_variable *variables;
    ir_ref *list;
    ir_argument *arguments; /* of every stage, in this order */
    ir_stage stage[4];
    /* Partial results: slots of 8 bytes per point and split, or per tile and window of a scan; 0: no scratch. */
    int32_t scratch_slots;
    bool scratch_counter; /* one more slot, zero before the first launch and after each */
    bool reports;         /* has the report argument */
    size_t nodes_capacity, statements_capacity, variables_capacity, list_capacity, arguments_capacity;
    bool failed; /* an allocation failed on the way */
} atn_lowered;

void atn_lowered_free(atn_lowered *program); /* NULL is fine */
void atn_lowered_print(const atn_lowered *program, atn_text *out);

/* Where the points and the reduced ranges of a graph lie, and how groups divide them; all the arithmetic that the
 * generated code does at its top, for whoever launches it. */
typedef struct atn_extent {
    int64_t points[ATN_MAX_RANK]; /* extent per dimension of the points; 1 where there is none */
    int64_t range; /* steps of the outermost reduction, at the first point, unless elements decide; 0: not known */
} atn_extent;
int64_t atn_lowered_splits(const atn_lowered *program, const atn_extent *extent); /* partial results at each point */
int64_t atn_stage_dynamic_bytes(const ir_stage *stage); /* of its dynamic tiles, each a multiple of 16 */
int64_t atn_lowered_groups(const atn_lowered *program, int32_t stage, const atn_extent *extent);
int64_t atn_extent_points(const atn_extent *extent); /* all of them; INT64_MAX: more than can be counted */
/* Points times splits times slots: the numbers that groups and partial results are counted by. */
int64_t atn_lowered_pieces(const atn_lowered *program, const atn_extent *extent);
int64_t atn_lowered_scratch_bytes(const atn_lowered *program, const atn_extent *extent);

#endif
