/* The least squares solution: programs over the grids, with and without weights. Beyond these, a frame only costs
 * reading back a few numbers. */
#ifndef ATN_APPS_UNWRAP_SOLVE_H
#define ATN_APPS_UNWRAP_SOLVE_H

#include "apps/unwrap/hierarchy.h"

#include <attune/unwrap.h>

typedef struct unwrap_solver unwrap_solver;

/* How: all are set. */
typedef struct unwrap_solver_options {
    atn_type type;
    int64_t width, height;
    bool wide;                   /* W-cycles */
    bool colours;                /* red-black sweeps, without weights */
    bool pairs;                  /* two sweeps a kernel, without weights */
    bool gradients;              /* where there are weights: cycles are a preconditioner */
    int32_t before[2], after[2]; /* sweeps, without and with weights */
    int32_t coarsest;            /* most cells of a grid that is solved directly */
} unwrap_solver_options;

/* Owned by the caller. */
atn_status unwrap_solver_open(atn_device *device, const unwrap_solver_options *options, unwrap_solver **out);
void unwrap_solver_free(unwrap_solver *solver); /* NULL is fine */

/* There are grids for a frame without weights: it has more than one, and the last one is not thin and long. */
bool unwrap_solver_is_plain(const unwrap_solver *solver);
unwrap_coarsest unwrap_solver_coarsest(const unwrap_solver *solver, bool weights);

typedef struct unwrap_progress {
    double within;  /* near enough, radians rms; 0: the residual alone decides */
    double off;     /* about how far the answer still is from that of least squares */
    double flat;    /* |r| of a flat start */
    double reached; /* |r| / flat */
    int32_t cycles; /* so far, of all solutions */
    bool converged, rounding;
} unwrap_progress;

/* Without weights: from the last answer where `warm`. `tolerance`: of |r|, relative to a flat start's. */
atn_status unwrap_solver_plain(unwrap_solver *solver, atn_array *psi, bool warm, double tolerance, int32_t most,
                               unwrap_progress *progress);
atn_array *unwrap_solver_answer(const unwrap_solver *solver); /* the solver's own */

/* With weights wx and wy, and inv, as kernels/unwrap_edges.atn makes them; u is the answer, and where `warm` the
 * start. */
typedef struct unwrap_system {
    atn_array *psi, *wx, *wy, *inv, *u;
} unwrap_system;
atn_status unwrap_solver_weights(unwrap_solver *solver, const unwrap_system *system); /* when they have changed */
atn_status unwrap_solver_weighted(unwrap_solver *solver, const unwrap_system *system, bool warm, double tolerance,
                                  int32_t most, unwrap_progress *progress);

#endif
