/* An unwrapper: the arrays of a frame, the kernels bound to them, and the solver. */
#ifndef ATN_APPS_UNWRAP_UNWRAP_H
#define ATN_APPS_UNWRAP_UNWRAP_H

#include "apps/unwrap/bound.h"
#include "apps/unwrap/follow.h"
#include "apps/unwrap/islands.h"
#include "apps/unwrap/knobs.h"
#include "apps/unwrap/smooth.h"
#include "apps/unwrap/solve.h"
#include "base/context.h"
#include "device/device.h"

#include <attune/unwrap.h>

enum { UNWRAP_ROWS = 7, UNWRAP_ROUNDS = 12 };

/* The arrays that a frame comes in and goes to. */
typedef struct unwrap_arrays {
    atn_array *psi, *out, *mask, *quality;
} unwrap_arrays;
enum { UNWRAP_AROUND_PSI, UNWRAP_AROUND_MASK, UNWRAP_AROUND_QUALITY, UNWRAP_AROUND };

struct atn_unwrap {
    atn_device *device;
    atn_ctx *ctx;
    int64_t width, height, pixels;
    atn_type type;
    atn_unwrap_settings options;   /* defaults filled in, but for sweeps */
    char explained[400], from[64]; /* where the knobs are from */
    unwrap_solver *solver;
    int32_t before[2], after[2]; /* sweeps, without and with weights */
    /* Arrays of the finest size. */
    atn_array *psi, *out, *mask, *quality;    /* ours between frames, within one also the caller's */
    unwrap_arrays own;                        /* ours, within a frame */
    atn_array *around[UNWRAP_AROUND];         /* the caller's memory, where the device reads it */
    atn_array *state;                         /* the mask of frames with qualities */
    atn_array *surface;                       /* psi and turns that are not the answer yet */
    atn_array *clean, *grade, *wx, *wy, *inv; /* with weights only */
    atn_array *u[1];                          /* the answer with weights */
    atn_array *rows[UNWRAP_ROWS];             /* one number a row; the first is of whole numbers */
    struct unwrap_frame_ops {
        unwrap_op phasor[4], finish[4], report, moments, validity, grading, edges; /* [place] */
    } ops;
    unwrap_follow follow; /* of the frame, as it was looked at */
    unwrap_labels labels; /* of frames with holes or cuts */
    unwrap_islands islands;
    int32_t least;      /* of the mask: pixels that hang together; 2 where there are qualities */
    int now;            /* where the answer with weights is: u[0] */
    int place;          /* where the answer is: 0: u[0]; 2: the solver's own, without weights */
    bool solved;        /* it is one: what a warm start wants */
    bool masked;        /* our mask holds more than ones */
    bool plain_quality; /* our quality holds ones */
};

#define UNWRAP_OP(u, op, name, ...)                                                                                    \
    ((op)->kernel ? ATN_OK : unwrap_op_make((u)->device, (u)->type, op, name, ATN_ARRAYS(__VA_ARGS__)))
#define unwrap_array(u, type, columns, rows, out) unwrap_array_make((u)->device, type, columns, rows, out)

/* unwrap.c: as atn_unwrap_create; knobs for what the options leave open, NULL: as they are known. */
atn_status unwrap_open(atn_device *device, int64_t width, int64_t height, const atn_unwrap_settings *options,
                       const unwrap_knobs *knobs, atn_unwrap **out);

/* weights.c: grade of pixels, weights of edges (bend 0: not from the last answer), coarse grids. */
atn_status unwrap_grade(atn_unwrap *u, const atn_unwrap_solve_settings *s);
atn_status unwrap_edges(atn_unwrap *u, double bend);
unwrap_system unwrap_weights_system(const atn_unwrap *u);

/* arrays.c: the arrays of a frame, and back to ours. given: NULL for what comes from the host. */
atn_status unwrap_arrays_take(atn_unwrap *u, const unwrap_arrays *given, const void *phase,
                              const atn_unwrap_solve_settings *s);
atn_status unwrap_arrays_quality(atn_unwrap *u); /* ones, where there are none */
void unwrap_arrays_return(atn_unwrap *u);

/* finish.c: what the caller gets where all pixels hang together; how what was written fits; the plane through it. */
atn_status unwrap_finish(atn_unwrap *u, const atn_unwrap_solve_settings *s, atn_unwrap_result *result);
atn_status unwrap_report(atn_unwrap *u, bool congruent, atn_unwrap_result *result);
atn_status unwrap_plane_of(atn_unwrap *u, bool tilt, double plane[3]);
atn_array *unwrap_answer(const atn_unwrap *u); /* weights.c */

/* turns.c: the congruent answer with the shortest cuts, up to a constant for each island; found false: given up. */
atn_status unwrap_shortest(atn_unwrap *u, atn_array *surface, bool *found);

#endif
