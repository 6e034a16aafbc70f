/* A program planned for given sizes: a list of nodes (kernels over arrays, loops, branches) that passes rewrite one
 * after the other. expand: calls, recursion and counted loops are unfolded, every assignment makes a new array. share:
 * nothing is computed twice. fuse: steps are computed within those that read them. settle: arrays that may share
 * elements do; the rest is copied. schedule: steps that need nothing of each other go to several queues. place:
 * temporaries that are not alive at the same time share memory. Each can be printed, and tested, alone. */
#ifndef ATN_PLAN_PLAN_H
#define ATN_PLAN_PLAN_H

#include "eval/eval.h"
#include "graph/compose.h"
#include "graph/routine.h"

#include <attune/device.h>

/* The elements of a name between two assignments. */
typedef struct atn_plan_array {
    const char *name; /* unique; the graphs' objects are called so */
    atn_type type;
    int32_t rank;
    int64_t size[ATN_MAX_RANK]; /* Size(0) (columns or length), Size(1), ...; 1 beyond the rank */
    int32_t head;               /* the caller's array of this name; -1: a temporary */
    int32_t same;               /* settle: it lies where this other array does; -1: it lies by itself */
    int32_t piece;              /* place: of the arena; -1: the caller's, or never used */
    int64_t pitch;              /* place: elements from row to row */
    int32_t first, last;        /* place: nodes between which it is alive */
} atn_plan_array;

typedef enum atn_node_kind {
    ATN_NODE_STEP,
    ATN_NODE_MOVE,  /* array `to` takes the elements of `from` */
    ATN_NODE_LOOP,  /* up to its END, at most `most` times; counted in `to` */
    ATN_NODE_UNTIL, /* leaves the loop unless element 0 of `from` is 1 */
    ATN_NODE_END,
    ATN_NODE_IF, /* goes on at its ELSE unless element 0 of `from` is 1 */
    ATN_NODE_ELSE,
    ATN_NODE_FI,
    ATN_NODE_GONE /* fused into others */
} atn_node_kind;

enum { ATN_PLAN_QUEUES = 4 };

typedef struct atn_plan_node {
    atn_node_kind kind;
    atn_graph *graph;  /* STEP; owned by the plan; its objects and parameters bear the names of arrays and scalars */
    int32_t step;      /* STEP: its number among those that run */
    int32_t from, to;  /* arrays; -1: none */
    int64_t most;      /* LOOP */
    int32_t match;     /* LOOP, END, IF, ELSE, FI: the position of its counterpart */
    const char *fused; /* STEP: what else is computed in it; NULL: nothing */
    int32_t queue;     /* schedule: STEP; below the plan's queues */
    int32_t after[ATN_PLAN_QUEUES]; /* schedule: STEP: the node of each other queue that comes before; -1: none, or
                                       known already */
    const atn_graph *like;   /* STEP: what is built for it, by names that do not tell which step it is: `kernel`, or: */
    atn_graph *own;          /* owned; NULL: it is the kernel's */
    const atn_graph *kernel; /* STEP: what it calls */
    bool whole;              /* STEP: never fused with others */
} atn_plan_node;

typedef struct atn_plan_frame atn_plan_frame;

/* A number that kernels take, known when a run begins. */
typedef struct atn_plan_scalar {
    const char *name;
    atn_type type;
    int32_t head;           /* the caller's scalar; -1: */
    const atn_syntax *tree; /* computed in `frame`, or NULL: */
    const atn_plan_frame *frame;
    double value[2]; /* now */
    bool decides;    /* what was planned depends on it */
} atn_plan_scalar;

/* The names of a routine at one call of it. */
struct atn_plan_frame {
    const atn_routine *routine;
    int32_t *array;                /* per name: what it is now; -1: no value yet, or a scalar */
    int32_t *scalar;               /* per name; -1: an array */
    int64_t (*size)[ATN_MAX_RANK]; /* per name: as the caller declared it, for results without a value; size[0] < 0: it
                                      did not */
};

/* A place where two steps may be fused: the array between them. */
typedef struct atn_plan_seam {
    int32_t array;
    bool possible, fused;
    const char *why_not; /* where it is not possible */
} atn_plan_seam;

/* A name that is taken. */
typedef struct atn_plan_name {
    const char *name; /* NULL: an empty row */
    int32_t array;    /* -1: of a scalar */
    int32_t next;     /* the number that the next one like it may have */
} atn_plan_name;

typedef struct atn_plan {
    const atn_ctx *ctx;
    atn_arena arena;
    int32_t n_names, names_room; /* the room: a power of two */
    atn_plan_name *names;        /* a table by hash */
    const atn_programs *programs;
    atn_plan_frame main; /* array: the caller's, before the run */
    int32_t n_arrays, arrays_room;
    atn_plan_array *arrays;
    int32_t n_scalars, scalars_room;
    atn_plan_scalar *scalars;
    int32_t n_nodes, nodes_room;
    atn_plan_node *nodes;
    int32_t n_seams, seams_room;
    atn_plan_seam *seams;
    const char *origin; /* of what is fused, where it was measured, and how near that is; NULL: estimated, or given */
    int32_t n_pieces;   /* place */
    size_t *piece_at;   /* bytes into the arena */
    size_t bytes;       /* of the arena */
    int32_t queues;     /* schedule: that its steps use; 0: that pass was not run */
} atn_plan;

/* What the caller's arrays are: by name of the main routine's head; size[0] < 0: not bound. */
typedef struct atn_plan_given {
    int64_t (*size)[ATN_MAX_RANK]; /* per name of the head; Size(0), Size(1), ... */
    double (*value)[2];            /* per name of the head: scalars */
} atn_plan_given;

/* expand.c. *out is owned by the caller, and needs `programs` as long as it lives. */
atn_status atn_plan_expand(const atn_ctx *ctx, const atn_programs *programs, const atn_plan_given *given,
                           atn_plan **out);
void atn_plan_free(atn_plan *plan); /* NULL is fine */

/* share.c */
atn_status atn_plan_share(atn_plan *plan);

/* fuse.c: seams numbered in order. `wanted`: per seam 1, 0, or -1: as the estimate for the device says; NULL: all so.
 * Seams beyond n_wanted are left to the estimate. */
atn_status atn_plan_fuse(atn_plan *plan, const atn_device_info *info, const int8_t *wanted, int32_t n_wanted);

/* settle.c: MOVEs vanish where an array may lie where the other one does; what is left becomes steps that copy. */
atn_status atn_plan_settle(atn_plan *plan);

/* schedule.c: over at most that many queues, 1 to ATN_PLAN_QUEUES. Steps between two loops, branches or their ends are
 * ordered among each other; all of them complete before what follows. */
atn_status atn_plan_schedule(atn_plan *plan, int32_t queues);

/* place.c */
atn_status atn_plan_place(atn_plan *plan);

/* rename.c: what was fused is built by names that are alike where steps are, so that equal steps are compiled once. */
atn_status atn_plan_rename(atn_plan *plan);

/* passes.c: all of the above in their order. */
typedef struct atn_plan_options {
    const atn_device_info *info; /* what is estimated for; NULL: the host */
    const int8_t *wanted; /* seams, as atn_plan_fuse takes them; NULL: as they were measured on that device, where
                             they were */
    bool estimate;        /* not as they were measured */
    int32_t n_wanted;
    int32_t queues;                                                   /* at most; 0: as many as help on that device */
    void (*seen)(void *user, const char *pass, const atn_plan *plan); /* called behind each pass; NULL: not */
    void *user;
} atn_plan_options;
atn_status atn_plan_make(const atn_ctx *ctx, const atn_programs *programs, const atn_plan_given *given,
                         const atn_plan_options *options, atn_plan **out);
/* An array, or a scalar, of the head; what there is where it is none. */
atn_status atn_plan_find_head(const atn_ctx *ctx, const atn_routine *routine, const char *name, bool array,
                              int32_t *found);

/* print.c: for `show --plan`, tests, people. */
void atn_plan_print(const atn_plan *plan, atn_text *out);

/* Between the passes. */
enum { ATN_PLAN_DATA = 128 };

/* One step as a part of a graph that is composed, by the names that it has; these may be changed before it is used. */
typedef struct atn_plan_part {
    const char *names[ATN_PLAN_DATA], *parameters[ATN_PLAN_DATA];
    int64_t sizes[ATN_PLAN_DATA][ATN_MAX_RANK];
    atn_part part;
} atn_plan_part;
void atn_plan_describe(const atn_plan *plan, const atn_graph *graph, atn_plan_part *out);

int32_t atn_plan_array_find(const atn_plan *plan, const char *name);                     /* -1: none */
int32_t atn_plan_array_of(const atn_plan *plan, const atn_graph *graph, int32_t object); /* -1: a table */
int32_t atn_plan_root(const atn_plan *plan, int32_t array);                              /* where it lies */
int32_t atn_plan_add_array(atn_plan *plan, const char *like, atn_type type, int32_t rank,
                           const int64_t size[ATN_MAX_RANK]);
int32_t atn_plan_add_scalar(atn_plan *plan, const char *like, atn_plan_scalar scalar);
atn_status atn_plan_no_memory(const atn_plan *plan);                  /* the failure */
atn_plan_node *atn_plan_add_node(atn_plan *plan, atn_node_kind kind); /* NULL: no memory */
void atn_plan_frame_of(const atn_plan *plan, const atn_graph *graph, atn_view *views,
                       double (*params)[2]);                       /* sizes and values by name */
bool atn_plan_reads(const atn_plan_node *node, const char *array); /* not MOVEs */
bool atn_plan_writes(const atn_plan_node *node, const char *array);
/* Is every element written, by a point of its own? */
atn_status atn_plan_covers(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, int32_t object,
                           bool *covers);

/* known.c: numbers known before the run. */
atn_status atn_plan_known(atn_plan *plan, const atn_plan_frame *frame, const atn_syntax *tree, bool deciding,
                          double *out);
atn_status atn_plan_decides(atn_plan *plan, int32_t scalar);        /* it does, and all that it is made of */
atn_status atn_plan_give(atn_plan *plan, const double (*value)[2]); /* the caller's scalars, and all made of them */

#endif
