/* Properties of the accesses of a graph, used by estimates and search spaces. */
#ifndef ATN_BUILT_OUTLOOK_H
#define ATN_BUILT_OUTLOOK_H

#include "graph/graph.h"

typedef struct atn_outlook {
    const atn_graph *g;
    int32_t points;             /* dimensions of the points */
    int32_t block;              /* the outermost reduction, -1: none */
    int32_t p[ATN_MAX_RANK], q; /* dimensions */
    bool ragged;                /* its range differs from point to point */
    bool rows;                  /* ragged, but points of one row, neighbours along p0, have the same ranges, */
    bool alike;                 /* and in loops inside, too */
    bool complex_values, ordered;
    int32_t along_p0, along_q, across; /* accesses whose neighbours lie along p0, along q, or neither */
    int32_t pairs_p0;                  /* accesses of every other element along p0: two shuffled vectors on a CPU */
    int32_t along_p1;                  /* reads whose neighbours lie along p1: the kernel turns what it reads */
    bool stencil;                      /* several reads of one object that differ along p1 */
    int32_t streams_p0,
        streams_q;             /* reads at every step of every point whose neighbours lie along p0, along the range */
    bool along_range;          /* more along the range */
    bool shared_p0, shared_p1; /* reads in the reduction that do not depend on p0, on p1 */
    bool product; /* one that depends on p0 alone meets one that depends on p1 alone, as in a matrix product; a filter
                     that all points share is none */
    bool window;  /* reads that move with the points over what their range covers: a filter, a stencil in loops */
    bool exponential; /* an exponential in single precision, in which those of halves are computed */
    bool scaled;      /* of e, not of 2: the hardware has it only of a product */
    bool gathers;     /* a computed selector */
    bool halves;      /* something that is read is HP */
    int32_t bytes;    /* of the largest element that is computed on */
} atn_outlook;

atn_outlook atn_outlook_of(const atn_graph *graph);

/* How long a step takes: 1, or more if it computes many values. */
double atn_outlook_length(const atn_graph *graph);

#endif
