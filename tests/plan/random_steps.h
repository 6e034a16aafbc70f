/* Between the files that draw random programs. */
#ifndef ATN_TESTS_RANDOM_STEPS_H
#define ATN_TESTS_RANDOM_STEPS_H

#include "random_programs.h"

enum { MOST_DATA = 80, MOST_SUBS = 4, MOST_DEPTH = 3, LONGEST = 140 };

/* The names of one program. */
typedef struct scope {
    random_datum data[MOST_DATA];
    int n, depth;
    bool inner; /* called by another: what it changes keeps its elements */
    atn_text body;
} scope;

typedef struct sub {
    char name[RANDOM_NAME];
    int n;
    random_datum head[6]; /* arguments, then the result */
} sub;

typedef struct maker {
    uint64_t random;
    atn_type type;
    const char *t;
    int names, kernels, n_subs, budget;
    bool few;
    sub subs[MOST_SUBS];
    atn_text kernel_text, programs;
    scope *s;
} maker;

int draw_below(maker *m, int count);
bool draw_chance(maker *m, int percent);
int draw_kind(maker *m, int count); /* of what makes kernels differ */
const char *draw_shape(int rank);
void draw_indent(maker *m);

/* An array that has a value: with no larger margin, and of the shape of `like` (NULL: any). NULL: there is none. */
random_datum *draw_array(maker *m, int rank, int most_margin, const random_datum *like);
random_datum *draw_one(maker *m); /* of one element */
/* A name that may take what is like `shape`: one that is there, or a new one. NULL: no room. */
random_datum *draw_target(maker *m, const random_datum *shape);
int64_t draw_least(const random_datum *d); /* of its sizes */

/* A kernel of any kind, and the line that calls it; nothing where no array is right for it. */
void draw_kernel_step(maker *m);

#endif
