/* Random kernels from a seed: a valid description as XML, arrays to run it on, variants to run it as. The same seed
 * gives the same kernel everywhere. What is drawn: ranks, shapes (0, 1, primes, around 16, 32 and 64), types, selectors
 * with every boundary, gathers, functions, ICFs of every kind, nested iterators, ranges from data, predicates,
 * scatters, in-place use. */
#ifndef ATN_SUPPORT_RANDOM_GRAPH_H
#define ATN_SUPPORT_RANDOM_GRAPH_H

#include "eval/eval.h"
#include "lower/variant.h"

enum { RANDOM_OBJECTS = 24, RANDOM_PARAMS = 12 };

typedef struct random_graph {
    const atn_ctx *ctx;
    uint64_t seed;
    atn_text xml;
    int32_t n_objects, n_params;
    struct random_object {
        char name[16];
        atn_view view;     /* data points into `memory` */
        void *memory;      /* with an offset before, a gap behind every row */
        int64_t low, high; /* integers are drawn from low to high; low > high: anything */
        bool index;        /* elements select others: mostly in range, see `strays` */
        bool written;
        bool ordered; /* elements ascend: the bounds of ranges */
    } object[RANDOM_OBJECTS];
    atn_param_value param[RANDOM_PARAMS];
    char param_name[RANDOM_PARAMS][16];
    bool special;  /* inputs hold NaN, infinities, signed zeros and denormals */
    bool strays;   /* some gathers are out of range */
    bool integers; /* numbers lie at the ends of their types */
    /* once parsed */
    atn_sequence *sequence;
    const atn_graph *graph;
    atn_view views[RANDOM_OBJECTS];
    double params[RANDOM_PARAMS][2];
    atn_bindings frame;
} random_graph;

/* Draws a description and its inputs, parses and binds. On failure `out` still holds the XML for a message. Either way
 * it goes back with random_graph_free. */
atn_status random_graph_make(const atn_ctx *ctx, uint64_t seed, random_graph *out);
/* The same of integers: see random_integers.c. */
atn_status random_graph_make_integers(const atn_ctx *ctx, uint64_t seed, random_graph *out);
/* The same with running values written: scans. */
atn_status random_graph_make_scans(const atn_ctx *ctx, uint64_t seed, random_graph *out);
void random_graph_free(random_graph *g);

/* Holds arrays that something else made from these inputs against the oracle (`options` say how it computed, may be
 * NULL). ATN_ERR_INTERNAL with a sentence that names the seed and the element where they differ. */
atn_status random_graph_compare(const random_graph *g, const atn_eval_options *options, const atn_view *got);

/* A variant to try: few knobs away from the plain one. Many do not exist for a graph or a device: draw again. */
atn_variant random_variant(const atn_graph *graph, bool host, uint64_t *random);

#endif
