/* Between the files that draw random kernels. */
#ifndef ATN_SUPPORT_RANDOM_DRAW_H
#define ATN_SUPPORT_RANDOM_DRAW_H

#include "base/arena.h"
#include "support/random_graph.h"

#include <stdio.h>

enum { MOST_VALUES = 64, MOST_SCOPES = 4, MOST_AXES = ATN_MAX_RANK };

/* Something that can be connected to an acceptor. */
typedef struct source {
    char port[32];
    atn_type type;
    int32_t scope; /* known in this block and those inside */
} source;

/* P (0) or an iterator. */
typedef struct scope {
    char name[16];
    int32_t parent, rank;
    int64_t extent[MOST_AXES]; /* the most steps it may have */
    bool from_data;            /* its range is read from an object */
    atn_text body;             /* elements inside */
    char attributes[512];
} scope;

typedef struct draw {
    random_graph *g;
    uint64_t random;
    atn_arena arena; /* pieces of text */
    int32_t names;   /* given so far */
    int32_t n_sources, n_scopes;
    source sources[MOST_VALUES];
    scope scopes[MOST_SCOPES];
    atn_text objects, links;
    int64_t points;   /* of P */
    bool scans;       /* running values are written */
    bool fixed_range; /* a range of P is a constant: the front end then judges no pattern of colours */
} draw;

uint32_t draw_below(draw *d, uint32_t count); /* 0 to count - 1 */
bool draw_chance(draw *d, uint32_t percent);
const char *draw_text(draw *d, const char *format, ...) ATN_PRINTF(2, 3);

/* A FunctionBlock of `type` in `block` over some of the values seen there; its outputs become sources. Returns the
 * first. */
const source *draw_function(draw *d, int32_t block, atn_type type);
const source *draw_condition(draw *d, int32_t block); /* of type B */
const source *draw_source(draw *d, int32_t block, const char *port, atn_type type);
void draw_link(draw *d, const char *from, const char *to);
void draw_escaped(atn_text *out, const char *text); /* for an attribute */

/* Fills the objects' memory. */
atn_status draw_inputs(draw *d);

#endif
