/* The kernels of registration, and their timing: moving points, sums over pairs, nearest points, sums for fits. Every
 * method is built from these calls. */
#ifndef ATN_APPS_REGISTER_ENGINE_H
#define ATN_APPS_REGISTER_ENGINE_H

#include "apps/register/near.h"
#include "geom/fit.h"
#include "kernel/give.h"

enum { REG_MOMENTS = 16, REG_TOTALS = 8 }; /* results of mstep and of spread */

typedef enum reg_kernel {
    REG_MOVE,
    REG_ESTEP,
    REG_ESTEP_NEAR,
    REG_ESTEP_COMPAT,
    REG_NEAREST,
    REG_NEAREST_ALL,
    REG_AROUND,
    REG_AROUND_ALL,
    REG_SHAPES,
    REG_INHERIT,
    REG_WEIGHTS,
    REG_WEIGHTS_ALL,
    REG_SAMPLE,
    REG_SUMS,
    REG_TERMS,
    REG_COPIES,
    REG_MSTEP,
    REG_SPREAD,
    REG_CURVE_LOAD,
    REG_CURVE_LOAD64,
    REG_CURVE_SUMS,
    REG_CURVE_KEYS,
    REG_SORT_COUNT,
    REG_SORT_START,
    REG_SORT_SCATTER,
    REG_CURVE_WORDS,
    REG_CURVE_GATHER,
    REG_CURVE_SURVEY,
    REG_CURVE_UNITE,
    REG_CURVE_CROWDS,
    REG_CURVE_CELLS,
    REG_CURVE_MERGE,
    REG_SIDE_FILL,
    REG_SIDE_BOXES,
    REG_SIDE_SPACING,
    REG_SIDE_TAKE,
    REG_NEAR_BOXES,
    REG_NEAR_GROUPS,
    REG_NEAR_WIDE,
    REG_NEAR_PARTS,
    REG_NEAR_PART_BOXES,
    REG_NEAR_COARSE_COUNT,
    REG_NEAR_COARSE_FILL,
    REG_NEAR_CANDIDATE_COUNT,
    REG_NEAR_CANDIDATES,
    REG_NEAR_TEST,
    REG_NEAR_PACK,
    REG_NEAR_BEGIN,
    REG_NEAR_START,
    REG_NEAR_TOTAL,
    REG_KERNELS
} reg_kernel;

/* Work that is timed beside the kernels. */
typedef enum reg_work {
    REG_BUILD = REG_KERNELS, /* not part of a result's seconds */
    REG_READ,
    REG_ORDER,
    REG_SPACING,
    REG_LEVELS,
    REG_UPLOAD,
    REG_FETCH,
    REG_LISTS,
    REG_FIT,
    REG_COVARIANCE,
    REG_SEARCH,
    REG_JUDGE,
    REG_MEASURE,
    REG_REFINE,
    REG_WORKS
} reg_work;

/* Made by reg_engine_open, ended by reg_engine_close. */
typedef struct reg_engine {
    atn_device *device;
    const atn_ctx *ctx;
    const atn_register_settings *settings;
    atn_type type;                         /* of coordinates */
    size_t block;                          /* most points of a block that suit the device */
    bool remote;                           /* the device is another one than the host: it makes its lists itself */
    bool wait;                             /* for every kernel, to time it */
    bool tells;                            /* how far a registration is (atn_ctx_on_progress) */
    struct atn_ranks *ranks;               /* who share the rows of long steps (share.h); NULL: it is alone */
    struct reg_distribution *distribution; /* of points over these ranks, whose sample is registered (distribute.h), */
    struct reg_distribution *joins;        /* and where all points are: sums are of all ranks; NULL: neither */
    struct reg_client *client;       /* through which steps of many pairs go together (gather.h); NULL: it is alone */
    struct reg_helpers *helpers;     /* other devices that take rows of long steps (helpers.h); NULL: none; not owned */
    atn_kernel *kernel[REG_KERNELS]; /* made when first used, */
    struct reg_kernels *kernels;     /* and where they stay when it is over */
    bool single;                     /* for the one pair of a process: kernels that came with the library may serve */
    atn_array *sums;                 /* results of sums for fits: those of mstep, and behind them those of spread, */
    atn_array *moment, *total;       /* which are views of it */
    reg_near near[2];                /* lists: rows over columns, and the other way round */
    double evaluated;                /* pairs so far */
    double pairs;                    /* of the last E-step */
    bool truncated;                  /* some pairs were left out at some time */
    int64_t calls[REG_WORKS];
    double seconds[REG_WORKS];
    double cost[2]; /* seconds per pair seen so far: dense, near; 0: not yet */
} reg_engine;

bool reg_is_remote(atn_device *device); /* another than the host: it sorts points and makes its lists itself */
atn_status reg_engine_open(atn_device *device, const atn_register_settings *settings, reg_engine *out);
/* The first time on a device: what nearly all registrations take is built at once, side by side (kernel/ahead.h);
 * `sorts`: what sorts, merges and lists points there as well. */
atn_status reg_engine_build_ahead(reg_engine *engine, bool sorts);
/* A registration took so long. */
void reg_engine_took(reg_engine *engine, double seconds);
void reg_engine_reset(reg_engine *engine,
                      const atn_register_settings *settings);     /* counts and lists, for the next pair */
void reg_engine_forget(reg_engine *engine, const reg_side *side); /* lists of a side that is about to be freed */
void reg_engine_close(reg_engine *engine);                        /* zeroed ones are fine */

enum { REG_HOST_BLOCK = 16 };
size_t reg_engine_block(const reg_engine *engine, size_t points); /* points of a block of a side with so many */

/* A kernel, made when it is first asked for; and made ready to run, once its arrays are bound. Both are timed as
 * building. */
atn_status reg_engine_kernel(reg_engine *engine, reg_kernel which, atn_kernel **out);
atn_status reg_engine_plan(reg_engine *engine, atn_kernel *kernel);

typedef atn_named_array reg_binding; /* an array for a name of a kernel */
typedef atn_named_number reg_given;  /* a number for a parameter */
/* Binds and runs a kernel, which is made where it is not there; it has no parameters, or keeps those of the last run.
 */
atn_status reg_engine_run(reg_engine *engine, reg_kernel which, const reg_binding *bound, size_t count);
/* The same with parameters: `n` numbers, and a pose for a00 to a22 and b0 to b2, or NULL. */
atn_status reg_engine_run_given(reg_engine *engine, reg_kernel which, const geom_pose *pose, const reg_given *given,
                                size_t n, const reg_binding *bound, size_t count);

const char *reg_work_name(int work);
void reg_timed(reg_engine *engine, int work, double since); /* adds the time from `since` (atn_clock_seconds) on */

/* Work around other work that is timed: what was added within is not counted twice. */
typedef struct reg_span {
    double since, timed; /* the clock, and all that had been added, when it began */
} reg_span;
reg_span reg_begin(const reg_engine *engine);
void reg_end(reg_engine *engine, int work, reg_span span);

atn_status reg_bring(reg_engine *engine, reg_side *side); /* to the device */
/* moved = pose(position); kept where it is there already. */
atn_status reg_place(reg_engine *engine, reg_side *side, const geom_pose *pose);

/* rows->sum: for every row y, as placed, sums of a and a x over columns x, as placed, with a = 2^(shift + log_weight -
 * |x - y|^2). Pairs farther apart than `reach` may be left out; INFINITY: none is. shifted: the rows' shift counts. */
atn_status reg_estep(reg_engine *engine, reg_side *rows, reg_side *columns, double reach, bool shifted);

/* The published code's sums: of e^2 into `square`, of e and e x into rows->sum, e = 2^-|x - y|^2; all pairs. */
atn_status reg_estep_compat(reg_engine *engine, reg_side *rows, reg_side *columns, atn_array *square);

/* Are all pairs evaluated sooner than lists of near ones are made? On another device than the host lists take a dozen
 * launches and a wait. */
bool reg_all_sooner(const reg_engine *engine, const reg_side *rows, const reg_side *columns);

/* For every row, as placed, the nearest column in reach: distance squared in rows->sum[0], where it stands among the
 * columns in rows->partner, -1 for none; it may be somewhat farther away than `reach`. slack: as in reg_near_update. */
atn_status reg_partners(reg_engine *engine, reg_side *rows, reg_side *columns, double reach, double slack);
/* The same for the host: distance2 (padded elements), and -1 for what is farther than `reach`. */
atn_status reg_nearest(reg_engine *engine, reg_side *rows, reg_side *columns, double reach, double *distance2,
                       int32_t *index);

/* The shapes of columns about each row, as placed (programs/shapes.atn): over all within `reach`, weighed by
 * 2^(log_weight - |d|^2). shape: a matrix of six rows, ratio: thickness over width, or NULL; owned by the caller.
 * Variances are at least the share `flattest` of the largest. */
atn_status reg_shapes(reg_engine *engine, reg_side *rows, reg_side *columns, double reach, double flattest,
                      atn_array **shape, atn_array **ratio);

/* From the rows' sums: l = w a / (a + outlier), x = sum a x / a, and what a fit needs of them, all lengths divided by
 * `unit`. */
atn_status reg_mstep(reg_engine *engine, reg_side *rows, double outlier, double unit, geom_moments *out);

#endif
