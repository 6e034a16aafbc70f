/* The parts of an unwrapper: grids from fine to coarse, the kernels bound to their arrays, and what a frame holds. */
#ifndef ATN_APPS_UNWRAP_UNWRAP_H
#define ATN_APPS_UNWRAP_UNWRAP_H

#include "base/context.h"
#include "device/device.h"

#include "wisdom/wisdom.h"
#include <attune/kernel.h>

#include <attune/unwrap.h>

enum {
    UNWRAP_LEVELS = 32,
    UNWRAP_COARSEST = 1024,
    UNWRAP_DENSE = 1600,
    UNWRAP_SWEEPS = 8,
    UNWRAP_ROWS = 9,
    UNWRAP_ROUNDS = 12
};

/* A kernel bound to its arrays for good; made when it is first needed. */
typedef struct unwrap_op {
    atn_kernel *kernel;
    double relax[2]; /* 1 + what was last given to it */
} unwrap_op;

/* Kernels of one level. Answers move between a and b: an index says where one is (0: a, 1: b), the second index of
 * `raise` and the one of `lift` where the coarser level's is. */
typedef struct unwrap_ops {
    unwrap_op first, sweep[2], pair[2], redblack[2], gather, restrict_[2], raise[2][2], lift[2], direct, coarsen;
} unwrap_ops;

/* Cells with a frame around them, and the views of it that kernels want. */
typedef struct unwrap_plane {
    atn_array *vector; /* all of it, frame and all */
    atn_array *all;    /* the cells and two more on each side */
    atn_array *room;   /* the same with all children of the coarser grid's cells */
    atn_array *wide;   /* these children without the frame */
    atn_array *cells;
} unwrap_plane;

/* A grid. Cells of the next one are 2 x 2 of this one's, ceil of half as many. */
typedef struct unwrap_level {
    int64_t width, height;
    double share_x, share_y; /* of the last column and row: how much of them lies inside the image */
    unwrap_plane f, at[2];
    atn_array *x, *y;         /* no weights: the coefficients X and Y of kernels/unwrap_sweep.atn */
    atn_array *wx, *wy, *inv; /* weights; NULL until they are needed */
    unwrap_ops ops[2];        /* without and with weights */
} unwrap_level;

/* The coarsest grid, solved directly: banded Cholesky, as a dense inverse on the device where it is small. */
typedef struct unwrap_direct {
    int64_t n, band, width, height;
    int64_t framed;   /* cells of it and of its frame */
    bool by_rows;     /* cells are numbered along the shorter side first */
    double *factor;   /* n x (band + 1): the lower triangle's rows, the diagonal last */
    int32_t *part;    /* per cell: the connected part it belongs to; each answer has mean 0 */
    double *mean;     /* room for sums and counts of parts */
    double *x;        /* room for one answer */
    atn_array *dense; /* framed x framed, or NULL: solved on the host */
} unwrap_direct;

/* A cycle's launches, kept. */
typedef struct unwrap_graph {
    atn_tape *graph; /* NULL until it ran once */
    bool ran;        /* plainly: all that it needs is planned and on the device */
    int where;       /* its answer: which of at[] */
} unwrap_graph;

struct atn_unwrap {
    atn_device *device;
    atn_ctx *ctx;
    int64_t width, height, pixels;
    atn_type type;
    atn_unwrap_options options;    /* defaults filled in, but for sweeps */
    char explained[400], from[64]; /* where the knobs are from */
    int32_t levels;
    unwrap_level level[UNWRAP_LEVELS];
    unwrap_direct direct[2];           /* without and with weights */
    int32_t before[2], after[2];       /* sweeps, without and with weights */
    double relax[2][2][UNWRAP_SWEEPS]; /* of them: [weights][before, after] */
    unwrap_graph graph[2][4];          /* [weights][a cycle from 0, full multigrid, a cycle from at[0], from at[1]] */
    /* Arrays of the finest size. */
    atn_array *zero; /* with weights only */
    atn_array *psi, *clean, *u[2], *out, *mask, *quality, *grade;
    atn_array *rows[UNWRAP_ROWS]; /* one number a row; the first two are whole numbers */
    unwrap_plane x, p, q;         /* of conjugate gradients */
    atn_array *scalar[4];         /* rz, rz before, pq, rr */
    struct unwrap_frame_ops {
        unwrap_op flat[2];        /* [where u is not]: the residual of u = 0, which is left there */
        unwrap_op residual[2][4]; /* [where u is][where e is: at[0], at[1]; 2: zero; 3: x] */
        unwrap_op norm, zdot[2][2], pq, apply, step[2], turn[2][2];        /* [which rz][where z is] */
        unwrap_op load, left[2], moved[2];                                 /* no weights: [where the answer is] */
        unwrap_op survey, phasor[4], finish[4], report, grading, edges[2]; /* [the answer: u[0], u[1], at[0], at[1]] */
    } ops;
    double share[1 + UNWRAP_ROUNDS]; /* of the residual that an iteration left, of the last frame's solutions */
    int32_t cold;                    /* frames that need not try a warm start */
    int raised;                      /* where the second grid's answer is: what the last cycle added, but for sweeps */
    int now;                         /* where u is */
    int place;          /* where the answer is: u[0], u[1], and without weights at[0], at[1] of the finest grid */
    bool solved;        /* it is one: what a warm start wants */
    bool masked;        /* mask holds more than ones */
    bool plain_quality; /* quality holds ones */
};

/* knobs.c: of frames without weights; all are set. */
typedef struct unwrap_knobs {
    int32_t smoother, cycle; /* atn_unwrap_smoother, atn_unwrap_cycle */
    int32_t before, after, coarsest;
    int32_t fuse, graph; /* 0 or 1 */
} unwrap_knobs;
enum { UNWRAP_KNOBS_TEXT = 128 };
unwrap_knobs unwrap_knobs_usual(void);
bool unwrap_knobs_read(const char *text, unwrap_knobs *out); /* false: not the knobs that there are */
void unwrap_knobs_print(const unwrap_knobs *knobs, char *text, size_t bytes);
atn_wisdom_key unwrap_knobs_key(const atn_device_info *info, int64_t width, int64_t height, int32_t bits);
/* What was measured, or the usual ones; `from` says which. */
atn_status unwrap_knobs_find(const atn_ctx *ctx, const atn_device_info *info, int64_t width, int64_t height,
                             int32_t bits, unwrap_knobs *out, char *from, size_t bytes);

/* unwrap.c: as atn_unwrap_create; knobs for what the options leave open, NULL: as they are known. */
atn_status unwrap_open(atn_device *device, int64_t width, int64_t height, const atn_unwrap_options *options,
                       const unwrap_knobs *knobs, atn_unwrap **out);

/* grid.c */
atn_status unwrap_grid_open(atn_unwrap *u);
void unwrap_grid_close(atn_unwrap *u);
atn_status unwrap_grid_weights(atn_unwrap *u); /* arrays for weights, where they are not there yet */
atn_status unwrap_plane_open(atn_unwrap *u, const unwrap_level *l, unwrap_plane *plane); /* zero, frame and all */
void unwrap_plane_close(unwrap_plane *plane);
atn_array *unwrap_answer(const atn_unwrap *u);
atn_status unwrap_array(atn_unwrap *u, atn_type type, int64_t columns, int64_t rows, atn_array **out);
/* Makes an op: names and arrays in pairs, ended by NULL. */
atn_status unwrap_op_make(atn_unwrap *u, unwrap_op *op, const char *kernel, const void *const *pairs);
#define UNWRAP_OP(u, op, name, ...)                                                                                    \
    ((op)->kernel ? ATN_OK : unwrap_op_make(u, op, name, (const void *const[]){__VA_ARGS__, NULL}))
void unwrap_op_free(unwrap_op *op);

/* coarsest.c: from weights (wx, wy as in kernels/unwrap_edges.atn), or from hx and hy where wx is NULL. */
atn_status unwrap_direct_make(atn_unwrap *u, bool weights);
void unwrap_direct_free(const atn_ctx *ctx, unwrap_direct *d);
atn_status unwrap_direct_solve(atn_unwrap *u, bool weights, unwrap_level *l); /* f to at[0] */

/* cycle.c: answers of A e = f on a level; *where: which of at[] holds it. */
atn_status unwrap_cycle(atn_unwrap *u, bool weights, int32_t level, bool from_zero, int *where);
atn_status unwrap_full(atn_unwrap *u, int *where); /* full multigrid, on the finest, without weights */
void unwrap_relax(atn_unwrap *u);

/* graph.c: either of them on the finest grid; as one launch where the device can, from the second time on. */
typedef enum unwrap_start { UNWRAP_FROM_ZERO, UNWRAP_FULL, UNWRAP_FROM_A, UNWRAP_FROM_B } unwrap_start;
atn_status unwrap_correct(atn_unwrap *u, bool weights, unwrap_start start, int *where);
void unwrap_graphs_free(atn_unwrap *u); /* before the kernels and arrays */

/* solve.c: moves u->u; counts cycles. tolerance: of |r| relative to `flat`. */
typedef struct unwrap_progress {
    double within;  /* near enough, radians rms; 0: the residual alone decides */
    double off;     /* about how far the answer still is from that of least squares */
    double flat;    /* |r| of a flat start; 0: not known yet */
    double reached; /* |r| / flat */
    int32_t cycles; /* so far, of all solutions */
    bool converged, rounding;
    int32_t round; /* 0: the first solution; k: the k-th that adapts weights */
} unwrap_progress;
/* Without weights: cycles on the answer itself, from the last one where `warm`. */
atn_status unwrap_plain(atn_unwrap *u, bool warm, double tolerance, int32_t most, unwrap_progress *p);
/* With weights: on what it still lacks. The residual is there, `now` its norm. */
enum { UNWRAP_NOTHING = 2, UNWRAP_X = 3 };                          /* besides at[0] and at[1] */
atn_status unwrap_flat(atn_unwrap *u, bool start, double *norm);    /* start: u = 0 from here on */
atn_status unwrap_residual(atn_unwrap *u, int where, double *norm); /* u += e */
atn_status unwrap_cycles(atn_unwrap *u, double now, double tolerance, int32_t most, unwrap_progress *p);
atn_status unwrap_conjugate(atn_unwrap *u, double now, double tolerance, int32_t most, unwrap_progress *p);
/* Is it there, or can it not come nearer? */
bool unwrap_done(const atn_unwrap *u, bool weights, double before, double now, double tolerance, unwrap_progress *p);
atn_status unwrap_scalar(const atn_unwrap *u, int which, double *out);

/* weights.c: grade of pixels, weights of edges (bend 0: not from the last answer), coarse grids. */
atn_status unwrap_grade(atn_unwrap *u, const atn_unwrap_settings *s);
atn_status unwrap_edges(atn_unwrap *u, double bend);

/* finish.c */
atn_status unwrap_finish(atn_unwrap *u, const atn_unwrap_settings *s, atn_unwrap_result *result);
double unwrap_row_sum(const void *numbers, atn_type type, int64_t rows);

/* islands.c: on the host, where there are holes or cuts: parts, each with its own angle and piston. `turns` of pixels,
 * or NULL: from the least squares answer. */
atn_status unwrap_islands(atn_unwrap *u, const atn_unwrap_settings *s, const double *turns, atn_unwrap_result *result);

/* holes.c: do the wrapped differences around every hole add up? There are no residues. */
atn_status unwrap_adds_up(atn_unwrap *u, const atn_unwrap_settings *s, bool *out);
/* turns.c: the congruent answer with the shortest cuts, as turns of pixels up to a constant for each island, owned by
 * the caller; NULL: given up. */
atn_status unwrap_shortest(atn_unwrap *u, const atn_unwrap_settings *s, double **turns);

#endif
