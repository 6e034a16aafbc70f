/* A program: the result of lowering a graph with a variant. Independent of dialects: stages to launch one after the
 * other, each a tree of statements over typed expressions, which may be vectors. The printers of src/render turn it
 * into source code. */
#ifndef ATN_LOWER_PROGRAM_H
#define ATN_LOWER_PROGRAM_H

#include "graph/graph.h"
#include "lower/variant.h"

typedef int32_t ir_ref;  /* an expression; -1: none */
typedef int32_t ir_stmt; /* a statement; -1: none */

/* Types of expressions are atn_types, and one more for address arithmetic: 32 or 64 bits, depending on the variant. */
enum { IR_ADDRESS = ATN_TYPE_COUNT };

typedef enum ir_kind {
    IR_INTEGER,   /* integer */
    IR_NUMBER,    /* number */
    IR_VARIABLE,  /* id */
    IR_OPERATION, /* op over arg; B results are 0 or 1; in vectors, 0 or all bits */
    IR_WITHIN,    /* 0 <= arg[0] < arg[1], in one unsigned comparison */
    IR_SPLAT,     /* arg[0] in every lane */
    IR_LANE,      /* lane `integer` of vector arg[0] */
    IR_JOIN,      /* a vector of `width` scalars: list, list + 1, ... in program->list */
    IR_TURN,      /* blocks of `integer` lanes of vectors arg[0] and arg[1], the even ones (id 1: the odd ones) of both
                   * alternately: the exchange that transpositions consist of; host */
    IR_LOAD,     /* width elements of object id from element arg[0], `list` apart (1, or 2 on the host; IR_LOAD_ALIGNED:
                  * 1, at a multiple of their size), or each at an offset of arg[1] (INT32) if that is not -1; integer
                  * 1: the imaginary parts of a complex object */
    IR_TILE,     /* element arg[0] of staged tile id, or `width` contiguous ones */
    IR_SCRATCH,  /* slot arg[0] of the partial results, as `type` */
    IR_ARGUMENT, /* integer: ir_argument_kind, id: object or parameter */
    IR_GROUP,
    IR_GROUPS,
    IR_ITEM,    /* this group, the number of groups launched, this item in its group */
    IR_SHUFFLE, /* arg[0] of another item, within segments of `id` items; list: ir_shuffle says which, by `integer` */
    IR_LAST,    /* true in the group that finishes last (all partial results are then visible) */
    IR_DRAW,    /* of INDEX: how many groups of this launch began before this one, plus 2^32 times the number of the
                 * launch */
    IR_CALL,    /* a helper function of the dialect, id: ir_call, of arg */
    IR_PEEK,    /* the current value of word arg[0] of the scratch */
    IR_AWAIT /* the value another group published at word arg[0] of the scratch in launch arg[1], as `type`; waits for
              * it; arg[2]: what was read there before, -1: nothing was */
} ir_kind;

typedef enum ir_call {
    IR_CALL_PACK,        /* two singles, rounded to halves and packed into an INT32 */
    IR_CALL_LOW_HALF,    /* the first of them, as a single */
    IR_CALL_HIGH_HALF,   /* the second */
    IR_CALL_AS_HALF,     /* a single, rounded to a half */
    IR_CALL_EXP2_HALVES, /* 2^x of two packed halves, in halves, by a polynomial */
    IR_CALL_AS_TF32,     /* a single, rounded to 11 bits; what would overflow stays finite */
    IR_CALL_REST_TF32,   /* the remainder, arg[0] less arg[1], rounded to 11 bits */
    IR_CALL_ALIGNED, /* is the element of the load arg[0] at a multiple of 16 bytes, with rows arg[1] elements apart? */
    IR_CALL_ALL      /* does it hold for all items of the group? */
} ir_call;

typedef enum ir_shuffle {
    IR_SHUFFLE_ACROSS, /* the item whose number differs in that bit */
    IR_SHUFFLE_UP,     /* the item that many before; its own value if there is none */
    IR_SHUFFLE_FROM,   /* that item of the segment */
    IR_SHUFFLE_LEAST,  /* no particular item: the minimum of the segment, of SP (no NaN) or INT32 */
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
    IR_ARG_REPORT   /* two int32: the number of out-of-range gathers, and 1 + the index of a read that had one */
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
    int64_t low, high; /* bounds of an integer, for every lane and whatever the data; see bounds.c */
    bool wraps;        /* +, -, * or << that may overflow its type, INT32 or INDEX */
} ir_node;

typedef enum ir_statement_kind {
    IR_DECLARE, /* variable id = value; constant unless the variable is mutable */
    IR_ASSIGN,  /* variable id = value */
    IR_STORE, /* object id, element index = value (width elements, `step` apart: 1, or 2); component: imaginary parts */
    IR_STORE_ATOMIC,   /* object id, element index combined with value by scatter */
    IR_TILE_STORE,     /* staged tile id, element index = value */
    IR_FETCH,          /* asynchronous copy of a load, visible to this item alone, and only later */
    IR_FETCHED,        /* waits until everything it fetched has arrived */
    IR_SCRATCH_STORE,  /* slot index of the partial results = value */
    IR_SCRATCH_ATOMIC, /* slot index combined with value by scatter */
    IR_LEAVE,          /* publishes value at word index of the scratch, for groups of launch `limit` that wait for it */
    IR_MATRIX_LOAD,    /* declares `unroll` variables from id on: as many matrices of 8 x 8 halves, from the rows of 16
                        * bytes at word `index` of tile `step`, of this lane; component: transposed */
    IR_MATRIX_FETCH,   /* starts to copy 16 bytes of the load `value` into tile id at `index`; `limit` of the elements
                        * exist (-1: all), the others are zeros */
    IR_MATRIX_COMMIT,  /* the fetches since the last commit form a set */
    IR_MATRIX_WAIT, /* waits until all sets but the last `step` have arrived, as seen by this item; component: visible
                     * to warpgroups, too */
    IR_MATRIX_MULTIPLY, /* adds to variables id to id + 3 the product of 16 x 16 and 16 x 8 halves: value is a JOIN of
                         * four words of the left and two of the right operand; for doubles 16 x 8 and 8 x 8 */
    IR_MATRIX_EXP2,     /* declares variables id and id + 1: 2^x of such a product of halves, in halves, two per word */
    IR_WARPGROUP_MULTIPLY, /* the same for variables id to id + `unroll` - 1, 64 rows and 16 steps: index and value are
                            * the elements of tiles where the operands begin; groups of eight rows of the left operand
                            * are `step` bytes apart, groups of 64 columns of the right one `component` bytes */
    IR_WARPGROUP_SET,      /* component 0: such products begin; 1: those since then form a set */
    IR_WARPGROUP_WAIT,     /* waits until all sets of products but the last `step` are complete */
    IR_PARTS_SET,          /* host: component 0: products of parts begin, 1: they end; unroll: atn_bf16 */
    IR_PARTS_SPLIT,        /* host: splits the elements from the load `value` on, `limit` steps of the rows of a step
                            * (component 0) or of all columns of a group (1), into tile id */
    IR_PARTS_MULTIPLY,     /* host: adds to the sums of a step, from `index` of tile id on, products of parts: value is
                            * a JOIN of where they begin in tiles `step` and `component`, the number of steps, and how
                            * many were there before (0: sums begin with 0); unroll: atn_bf16 */
    IR_FOR,                /* variable id from value to limit (exclusive) by `step`, unrolled by `unroll`; body */
    IR_IF,                 /* value; body, other; component: ir_odds */
    IR_BARRIER,            /* all items of the group, local memory */
    IR_REPORT,             /* gather of read id was out of range */
    IR_ORDER,              /* host: variable value is computed before those of later such statements */
    IR_HIDE,               /* host: the compiler forgets what it knows about variable value */
    IR_COMMENT,            /* text */
    IR_PARALLEL            /* host: variable id from 0 to limit, shared among the threads; body */
} ir_statement_kind;

/* How often the condition of an IF holds, for the compiler; host: if known. */
typedef enum ir_odds { IR_UNKNOWN, IR_MOSTLY, IR_RARELY } ir_odds;

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
    int64_t low, high; /* bounds of an integer, as in ir_node */
} ir_variable;

/* A buffer of a group: local memory on a GPU, an array of the thread on a CPU. */
typedef struct ir_tile {
    const char *name;
    atn_type type;
    int64_t elements;
    bool dynamic; /* its memory is requested at launch, one after the other (cuda) */
    int32_t over; /* dynamic: 1 + the number of an earlier tile whose memory it uses, which is no smaller; 0: its own */
} ir_tile;

typedef struct ir_stage {
    const char *name; /* of the entry point */
    int32_t items;    /* per work-group */
    ir_stmt body;
    int32_t n_tiles;
    ir_tile tile[48]; /* for staged data and for accumulators */
    /* How many groups: the product of ceil(extent / span) over the points' dimensions, times split. */
    int32_t span[ATN_MAX_RANK]; /* points covered by one group per dimension; 1 where there is none */
    bool over_points;           /* false: one group for everything (the end of a reduction) */
    bool over_splits;
    int32_t over_steps; /* > 0: one group per that many steps of the range; at least one */
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
    bool failed; /* an allocation failed during generation */
} atn_lowered;

void atn_lowered_free(atn_lowered *program); /* NULL is fine */
void atn_lowered_print(const atn_lowered *program, atn_text *out);

/* The extents of the points and of the reduced ranges of a graph, and how groups divide them; all the arithmetic that
 * the generated code does at its beginning, for the caller that launches it. */
typedef struct atn_extent {
    int64_t points[ATN_MAX_RANK]; /* extent per dimension of the points; 1 where there is none */
    int64_t range; /* steps of the outermost reduction, at the first point, unless elements determine it; 0: unknown */
    bool any;      /* what is built serves all sizes: these are none that it will run at */
} atn_extent;
int64_t atn_lowered_splits(const atn_lowered *program, const atn_extent *extent); /* partial results at each point */
int64_t atn_stage_dynamic_bytes(const ir_stage *stage); /* of its dynamic tiles, each rounded up to a multiple of 16 */
int64_t atn_stage_dynamic_offset(const ir_stage *stage, int32_t tile); /* where one begins, in bytes */
int64_t atn_lowered_groups(const atn_lowered *program, int32_t stage, const atn_extent *extent);
int64_t atn_extent_points(const atn_extent *extent); /* the product; INT64_MAX: too large to count */
/* Points times splits times slots: the number of partial results. */
int64_t atn_lowered_pieces(const atn_lowered *program, const atn_extent *extent);
int64_t atn_lowered_scratch_bytes(const atn_lowered *program, const atn_extent *extent);

#endif
