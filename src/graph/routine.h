/* A described program, checked: which kernels it calls on which names, in which order. Sizes are not known yet; they
 * decide how it is expanded (src/plan). A kernel, and a Sequence, are programs too: of one step, and of a few. */
#ifndef ATN_GRAPH_ROUTINE_H
#define ATN_GRAPH_ROUTINE_H

#include "graph/syntax.h"

typedef enum atn_use {
    ATN_USE_IN,
    ATN_USE_INOUT,
    ATN_USE_OUT,
    ATN_USE_TEMPORARY /* of a routine: private to it */
} atn_use;

/* A name of a kernel's or a routine's head, or a temporary. */
typedef struct atn_datum_use {
    const char *name;
    atn_use use;
    int32_t rank; /* 0: a scalar that the caller gives */
    atn_type type;
    int32_t index; /* kernels: object or parameter of the graph */
    const atn_syntax
        *size[ATN_MAX_RANK]; /* temporaries: as written, columns (or the length) last; NULL: what is reached */
    bool has_default;        /* scalars */
    double default_value[2];
} atn_datum_use;

/* A kernel as steps see it. */
typedef struct atn_callee {
    const char *name;
    atn_graph *graph; /* owned by the programs */
    int32_t n;
    atn_datum_use *data; /* in the order of its head; tables left out */
    bool whole;          /* a shipped program that is one kernel: it stays as it is */
} atn_callee;

typedef enum atn_step_kind {
    ATN_STEP_KERNEL,
    ATN_STEP_ROUTINE,
    ATN_STEP_REPEAT,
    ATN_STEP_WHILE,
    ATN_STEP_IF
} atn_step_kind;

/* What stands for a datum of a callee. */
typedef struct atn_operand {
    int32_t name;           /* of the routine; -1: */
    const atn_syntax *tree; /* a number known before the run: of scalars, sizes, literals; NULL: the default */
} atn_operand;

typedef struct atn_step atn_step;
struct atn_step {
    atn_step_kind kind;
    atn_place at;
    int32_t callee;         /* KERNEL, ROUTINE */
    atn_operand *operand;   /* one for each of its data */
    const atn_syntax *tree; /* REPEAT: how often; WHILE: at most; IF: decided before the run, or NULL: by */
    int32_t condition;      /* WHILE, IF: a vector, INT32: 1 goes on, 0 does not, 2: neither, for want of a number */
    int32_t counter;        /* WHILE: a vector of INT32 that takes the number of rounds, or -1 */
    atn_step *before;       /* WHILE: what makes the condition, in front of every round */
    atn_step *child, *otherwise, *next;
};

typedef struct atn_routine {
    const char *name;
    atn_place at;
    int32_t n, n_head, room; /* of names: those of the head, then temporaries */
    atn_datum_use *names;
    atn_step *steps;
    bool by_names; /* a Sequence: a step that writes some elements of an object leaves the others as they are */
} atn_routine;

/* A description with all that it calls. Owned by the caller. */
typedef struct atn_programs {
    const atn_ctx *ctx;
    atn_arena arena; /* owns everything below but the graphs' own */
    const char *file;
    int32_t n_callees, callees_room;
    atn_callee *callees;
    int32_t n_routines, routines_room;
    atn_routine **routines;
    int32_t main; /* the routine to run: the last program of the file */
} atn_programs;

/* Parses a program, a kernel or a Sequence; errors are reported as by atn_sequence_parse. */
atn_status atn_programs_parse(const atn_ctx *ctx, const char *file, const char *text, size_t length,
                              const atn_parse_options *options, atn_diagnostics *diagnostics, atn_programs **out);
void atn_programs_free(atn_programs *programs); /* NULL is fine */

int32_t atn_routine_find(const atn_routine *routine, const char *name); /* -1: none */

/* A function of the language that is allowed in numbers known before the run; NULL: not one of these. */
double (*atn_known_function(const char *name))(double);

bool atn_description_is_program(const char *text, size_t length); /* in contrast to kernels alone */

#endif
