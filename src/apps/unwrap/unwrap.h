/* An unwrapper: the arrays of a frame, the kernels bound to them, and the solver. */
#ifndef ATN_APPS_UNWRAP_UNWRAP_H
#define ATN_APPS_UNWRAP_UNWRAP_H

#include "apps/unwrap/bound.h"
#include "apps/unwrap/knobs.h"
#include "apps/unwrap/smooth.h"
#include "apps/unwrap/solve.h"
#include "base/context.h"
#include "device/device.h"

#include <attune/unwrap.h>

enum { UNWRAP_ROWS = 9, UNWRAP_ROUNDS = 12 };

struct atn_unwrap {
    atn_device *device;
    atn_ctx *ctx;
    int64_t width, height, pixels;
    atn_type type;
    atn_unwrap_options options;    /* defaults filled in, but for sweeps */
    char explained[400], from[64]; /* where the knobs are from */
    unwrap_solver *solver;
    int32_t before[2], after[2]; /* sweeps, without and with weights */
    /* Arrays of the finest size. */
    atn_array *psi, *out, *mask, *quality;
    atn_array *clean, *grade, *wx, *wy, *inv; /* with weights only */
    atn_array *u[1];                          /* the answer with weights */
    atn_array *rows[UNWRAP_ROWS];             /* one number a row; the first two are whole numbers */
    struct unwrap_frame_ops {
        unwrap_op survey, phasor[4], finish[4], report, grading, edges; /* [place] */
    } ops;
    int now;            /* where the answer with weights is: u[0] */
    int place;          /* where the answer is: 0: u[0]; 2: the solver's own, without weights */
    bool solved;        /* it is one: what a warm start wants */
    bool masked;        /* mask holds more than ones */
    bool plain_quality; /* quality holds ones */
};

#define UNWRAP_OP(u, op, name, ...)                                                                                    \
    ((op)->kernel ? ATN_OK : unwrap_op_make((u)->device, (u)->type, op, name, (const void *const[]){__VA_ARGS__, NULL}))
#define unwrap_array(u, type, columns, rows, out) unwrap_array_make((u)->device, type, columns, rows, out)

/* unwrap.c: as atn_unwrap_create; knobs for what the options leave open, NULL: as they are known. */
atn_status unwrap_open(atn_device *device, int64_t width, int64_t height, const atn_unwrap_options *options,
                       const unwrap_knobs *knobs, atn_unwrap **out);

/* weights.c: grade of pixels, weights of edges (bend 0: not from the last answer), coarse grids. */
atn_status unwrap_grade(atn_unwrap *u, const atn_unwrap_settings *s);
atn_status unwrap_edges(atn_unwrap *u, double bend);
unwrap_system unwrap_weights_system(const atn_unwrap *u);

/* finish.c */
atn_status unwrap_finish(atn_unwrap *u, const atn_unwrap_settings *s, atn_unwrap_result *result);
double unwrap_row_sum(const void *numbers, atn_type type, int64_t rows);
atn_array *unwrap_answer(const atn_unwrap *u); /* weights.c */

/* islands.c: on the host, where there are holes or cuts: parts, each with its own angle and piston. `turns` of pixels,
 * or NULL: from the least squares answer. */
atn_status unwrap_islands(atn_unwrap *u, const atn_unwrap_settings *s, const double *turns, atn_unwrap_result *result);

/* holes.c: do the wrapped differences around every hole add up? There are no residues. */
atn_status unwrap_adds_up(atn_unwrap *u, const atn_unwrap_settings *s, bool *out);
/* turns.c: the congruent answer with the shortest cuts, as turns of pixels up to a constant for each island, owned by
 * the caller; NULL: given up. */
atn_status unwrap_shortest(atn_unwrap *u, const atn_unwrap_settings *s, double **turns);

#endif
