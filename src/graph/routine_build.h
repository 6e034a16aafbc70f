/* Shared by the files that check a program: its source texts, and what its names refer to. */
#ifndef ATN_GRAPH_ROUTINE_BUILD_H
#define ATN_GRAPH_ROUTINE_BUILD_H

#include "graph/notation.h"
#include "graph/routine.h"

/* A text that kernels and programs stand in. */
typedef struct atn_unit atn_unit;
struct atn_unit {
    atn_reader *reader;
    atn_file_text *file;
    const char *shipped; /* under this name; NULL: the caller's own */
    atn_unit *next;
};

typedef struct atn_target_of_call {
    int32_t callee, routine; /* one of them; -1: the other one */
    bool unsure;             /* a complaint was made of it */
} atn_target_of_call;

typedef struct atn_known {
    const void *text;
    atn_target_of_call target;
    atn_unit *unit; /* of a program, whose steps are read in their turn; else NULL */
} atn_known;

typedef struct atn_builder {
    atn_reader *reader; /* of the caller's own text */
    atn_programs *programs;
    atn_unit *units;
    /* A shipped kernel that is written as a program, as one graph: atn_programs_whole. */
    atn_graph *(*whole)(atn_reader *reader, atn_file_text *file);
    int32_t n_known, n_read; /* n_read: steps of so many are read */
    atn_known known[ATN_MOST_KNOWN];
} atn_builder;

/* calls.c; NULL: the unit has none of that name */
const atn_kernel_text *atn_builder_kernel(const atn_unit *unit, const char *name);
const atn_program_text *atn_builder_program(const atn_unit *unit, const char *name);
bool atn_builder_take_kernel(atn_builder *b, atn_unit *unit, const atn_kernel_text *text, atn_target_of_call *found);
bool atn_builder_take_program(atn_builder *b, atn_unit *unit, const atn_program_text *text, atn_target_of_call *found);
bool atn_builder_find(atn_builder *b, atn_unit *unit, const char *name, atn_target_of_call *found);
bool atn_builder_exists(const atn_unit *unit, const char *name);      /* a kernel or a program */
bool atn_builder_is_callable(const atn_unit *unit, const char *name); /* it should be one; sizes are asked before */
void atn_builder_suggest(const atn_builder *b, const atn_unit *unit, atn_suggestion *suggestion);

/* programs.c */
void atn_builder_read(atn_builder *b, atn_file_text *file); /* all kernels and programs of a file */
void atn_builder_close(atn_builder *b);                     /* what its units own goes to the programs */

/* callee.c: their numbers; -1: no memory */
int32_t atn_programs_add_kernel(atn_builder *b, const char *name, atn_graph *graph, const atn_kernel_text *text);
int32_t atn_programs_add_routine(atn_builder *b, const char *name, atn_place at);

/* whole.c: a program whose steps fuse into one kernel, as that kernel. NULL with the complaint made. */
atn_graph *atn_programs_whole(atn_reader *reader, atn_file_text *file);

/* routine.c, routine_names.c */
void atn_routine_head(atn_builder *b, atn_unit *unit, const atn_program_text *text, atn_routine *routine);
void atn_routine_build(atn_builder *b, atn_unit *unit, const atn_program_text *text, atn_routine *routine);
atn_step *atn_routine_step_by_names(atn_builder *b, atn_routine *routine, int32_t callee);
int32_t atn_routine_add(atn_builder *b, atn_routine *routine, atn_datum_use use);

/* scalar.c: a kernel of one point that computes `tree`; its data are the names used, then the sizes size_0_, ... of the
 * tree, its result a vector of one element of `type`; `test`: 1, 0 or 2 as a condition wants it. -1 with the complaint
 * made. */
int32_t atn_scalar_kernel(atn_builder *b, atn_unit *unit, const atn_routine *routine, const atn_syntax *tree,
                          atn_type type, bool test, int32_t n_sizes, int32_t names[], int32_t *n_names);

#endif
