/* A workload: its graph, the sizes of all objects, its parameters; and corresponding sizes for any other shape. Sizes
 * that are not given are derived from how far the accesses reach. Elements are not included: see inputs.h. */
#ifndef ATN_TUNE_CASE_H
#define ATN_TUNE_CASE_H

#include "built/built.h"
#include "tune/tune.h"

typedef struct atn_case {
    const atn_ctx *ctx;
    atn_sequence *sequence; /* owned */
    const atn_graph *graph; /* its step */
    atn_view *views;        /* per object, dense, without data; owned */
    double (*params)[2];    /* owned */
    double range_length;    /* mean, of ranges that come from data */
} atn_case;

/* Parameters without a value and a default become 0.5, or 0 where they are whole. A size that cannot be derived is
 * asked for in a sentence. On failure too, it goes back with atn_case_close. */
atn_status atn_case_open(const atn_ctx *ctx, const atn_workload *workload, atn_case *out);
void atn_case_close(atn_case *c);
atn_bindings atn_case_frame(const atn_case *c);

/* ---- shapes ---- */

/* Number of steps of each dimension (the mean, if ranges come from data); 1 if it cannot be determined. */
typedef struct atn_steps {
    int64_t steps[ATN_MAX_DIMS];
    bool from_data[ATN_MAX_DIMS];
} atn_steps;
atn_status atn_steps_of(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, double range_length,
                        atn_steps *out);

/* All steps of the dimensions in the mask, as a number that does not overflow. */
double atn_steps_in(const atn_steps *steps, uint32_t dims);

/* "ROWSxCOLUMNS" and the like: the sizes of an object of that rank, 1 beyond it. */
bool atn_size_read(const char *text, int32_t rank, int64_t size[ATN_MAX_RANK]);

/* What is still unknown (size < 0) takes what is reached; `gathered` for what only computed selectors reach. */
atn_status atn_sizes_fill(const atn_ctx *ctx, const atn_graph *graph, const double (*params)[2], double range_length,
                          int64_t gathered, atn_view *views);

/* The same with the default lengths of a workload. */
atn_status atn_sizes_reach(const atn_ctx *ctx, const atn_graph *graph, const double (*params)[2], atn_view *views);

/* Sizes with which every dimension has the steps that are wanted, as near as can be. ATN_ERR_UNSUPPORTED: there are
 * none. */
atn_status atn_sizes_solve(const atn_ctx *ctx, const atn_graph *graph, const double (*params)[2],
                           const atn_steps *wanted, double range_length, int64_t gathered, atn_view *views);

/* ---- what one run amounts to ---- */
typedef struct atn_amount {
    double bytes; /* each object once as read, once as written */
    double flops; /* each floating operation once per combination of the dimensions that it depends on */
    bool twice;   /* in double precision */
} atn_amount;
atn_status atn_amount_of(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, double range_length,
                         atn_amount *out);

#endif
