/* The input of every method: the two clouds in their own frames, at several resolutions, and the result to fill. */
#ifndef ATN_APPS_REGISTER_PROBLEM_H
#define ATN_APPS_REGISTER_PROBLEM_H

#include "apps/register/ordered_side.h"
#include "geom/fit.h"

#include "base/aside.h"

#include <stdatomic.h>

enum { REG_MOST_LEVELS = 12 };
enum { REG_SAMPLED = 120000 };
#define REG_FIRST_EDGE 2.3 /* spacings: about the edge of the smallest cells whose points are merged */

/* Both clouds at one resolution. */
typedef struct reg_level {
    double edge; /* of the cubes whose points were merged, in the common unit; 0: all points */
    reg_side source, target;
    reg_side *more; /* further parts of a source that is too large for the memory to hold at once; parked */
    int32_t n_more;
    size_t count;   /* points of all parts */
    reg_box bounds; /* of all parts */
    double weight;
} reg_level;

/* Part `k` of the source, 0 to n_more, on the device; the others are not, where there are several. */
atn_status reg_part(reg_level *level, int32_t k, reg_side **out);

/* How the points of a cloud lie about its origin, in the caller's unit, by their weights. */
typedef struct reg_spread {
    double radius;   /* root mean square distance */
    double farthest; /* largest distance of a point that weighs anything */
    double shape[9]; /* second moments, trace 1; zeros where all are at the origin */
} reg_spread;

/* Where the middle of a cloud is, and how far from there its usual point. */
typedef struct reg_usual {
    double middle[3], radius;
} reg_usual;

/* Lengths inside are in `unit`s; the target's frame has its origin at `target_origin`, the source's at `source_origin`.
 */
typedef struct reg_problem {
    reg_engine engine;
    const atn_register_settings *settings;        /* defaults filled in */
    const atn_cloud *source_cloud, *target_cloud; /* the caller's, or */
    atn_array *source_rows, *target_rows;         /* points where they lie on the device */
    cloud_points source, target;       /* in order; where they are on the device, a sample of REG_SAMPLED at most */
    size_t source_count, target_count; /* points, those at one place and those that crowd as one */
    reg_ordered source_ordered, target_ordered; /* on the device, until all levels are made */
    bool on_device;                             /* they were ordered there; what follows is for others: */
    reg_curve source_curve, target_curve;
    uint32_t *source_from, *target_from; /* the cloud's point that each of them was, or the first of those it was; */
    cloud_points given[2]; /* source, target: the caller's points and our weights, or copies without what is far away */
    bool copied[2];        /* the latter */
    bool as_given;         /* the scene is made of these */
    struct {
        atn_aside aside;
        double spacing; /* of the target, about; before its points are in order */
        atn_status status;
    } guess;
    uint32_t *target_kept; /* of the target's points that were not left out; NULL: all are there */
    double source_origin[3], target_origin[3], unit;
    reg_spread source_spread, target_spread;
    reg_usual source_usual, target_usual;
    double spacing; /* median distance between neighbours of the target, in units */
    double source_spacing;
    reg_level level[REG_MOST_LEVELS]; /* the coarsest first; the last has all points */
    int32_t levels;
    geom_pose pose;          /* source frame to target frame: the start, then the result */
    bool polished;           /* EM-ICP ends with steps of its own kind */
    bool planes;             /* icp-plane finds the target's planes itself, and takes all pairs alike */
    bool surveyed;           /* a covariance is wanted, */
    const char *withheld;    /* and cannot be told for this reason; or NULL */
    bool open_start;         /* nobody said where sigma starts, */
    bool open_end, open_far; /* nobody said where sigma ends, and where outliers begin */
    bool open_iterations;    /* nobody said how many iterations there may be */
    int32_t haste;           /* 1; a run has that many times fewer iterations and pairs where little hope is */
    double most_pairs;       /* engine.evaluated that ends a run; INFINITY: iterations alone do */
    double far;              /* d0, in units; INFINITY: no outliers */
    double share;            /* of the source that the polish saw to fit */
    double sigma;            /* reached, in units */
    double outlier2;         /* d0 squared over sigma squared of the last step; INFINITY: none */
    int32_t iterations;
    double dense_pairs; /* iterations x all points */
    int32_t parts;      /* all points of the source are worked on in so many, */
    int32_t fine;       /* and so many levels, the coarsest first, have it whole: surfaces are looked at there */
    bool converged;
    double noise;            /* of both clouds across their surfaces, in units */
    struct reg_scene *scene; /* owned, like the next; beside.h says when they are there */
    struct fitness *fitness;
    bool seeks; /* a start is looked for beside the device, as soon as there is a scene */
    struct {
        bool looked;      /* where the clouds lie: */
        bool fits;        /* they do, and it begins there, */
        bool searched;    /* or where the search says, if that did not fail: */
        double start[16]; /* the caller's */
        atn_status status;
    } sought;
    geom_pose around;          /* p->pose when the run began, or when it came near the answer */
    struct reg_rivals *rivals; /* of that one; owned */
    atn_aside scene_aside, fitness_aside, rivals_aside, judge_aside;
    atn_status scene_status, fitness_status, judge_status;
    atomic_bool fitness_there;   /* or it failed */
    geom_pose begun_at;          /* p->pose when the first run began, */
    atomic_bool begun;           /* as it has */
    atomic_bool over;            /* the verdict is there: no more planes are needed */
    atomic_bool near;            /* the answer is there, or nearly: nobody needs to look around it ahead of that */
    int32_t spare;               /* cores of the host that its loops leave to these; 0: none */
    bool halved;                 /* both clouds are prepared at the same time, each by some cores */
    struct reg_surface *surface; /* owned; once it was asked for */
    struct {
        bool told;           /* how thick surfaces are among all points of the target; */
        double thickness;    /* and their shapes, and where that is thin those of the source: */
        atn_array *shape[2]; /* source, target; owned; NULL: not looked at */
    } early;
    struct {
        bool there; /* with this pose and reach: */
        geom_pose pose;
        double reach, rmse, overlap;
    } measured;
    const reg_level *kept; /* whose points the device has for E-steps that go together (gather.h), */
    int32_t kept_at;       /* and where; NULL: none */
    geom_pose rival;       /* another pose that fits clearly better, */
    bool beaten;           /* where there is one */
    double value;          /* of the answer, for comparing it with others */
    char reason[200];
    size_t held; /* bytes before it began */
    atn_register_result *result;
} reg_problem;

/* Settings as the caller gave them; a start without what rounding left in it. */
atn_status reg_check(const atn_ctx *ctx, const atn_register_settings *settings);
void reg_straighten(atn_register_settings *settings);

/* p->given, which stay until reg_given_free; then copies of both clouds, in order, and their frames. */
atn_status reg_read_clouds(reg_problem *p, const atn_register_settings *settings);
atn_status reg_take_clouds(reg_problem *p, const atn_register_settings *settings);
void reg_given_free(reg_problem *p);
/* The same of rows on the device, which reg_goes_to_device is true for. */
atn_status reg_take_rows(reg_problem *p);
/* Is it worth preparing points on the device? It is where that is not the host, for methods that ask the host for few
 * of many points. */
bool reg_goes_to_device(atn_device *device, const atn_register_settings *settings, size_t source, size_t target);

/* The spacings, and points merged where there are many more than elsewhere within them; `before` that is done, it is
 * called: others may still read the points. */
atn_status reg_levels_begin(reg_problem *p, void (*before)(reg_problem *p));

/* Once for all runs: all points, and where the method wants it (`pyramid`) coarser levels, each with cubes twice as
 * large. Called before any method. Where cores are left to it, coarser levels are made beside `meanwhile`, which is
 * called with the level of all points, wherever that is then. */
atn_status reg_levels_make(reg_problem *p, bool pyramid, atn_status (*meanwhile)(reg_problem *p, reg_level *all));
void reg_levels_free(reg_problem *p);

/* Are there steps that know the surfaces: do EM-ICP with these settings, as the caller gave them, and gicp end so? */
bool reg_is_polished(const atn_register_settings *settings);
/* Does icp-plane with these settings, as the caller gave them, take its steps over surfaces, as gicp does? Not where
 * pairs are trimmed, weighed, all evaluated or kept within a distance, nor where the target comes with normals. */
bool reg_takes_planes(const atn_register_settings *settings, const atn_cloud *target);
/* Is a covariance estimated, which looks at the surfaces too? Of rigid poses only. */
bool reg_is_surveyed(const atn_register_settings *settings);

/* In how many parts the source must be worked on to stay within the memory there is; a sentence where that does not
 * help. */
atn_status reg_plan_memory(reg_problem *p);

/* The coarsest level whose cubes have edges of at most `length`. */
reg_level *reg_level_for(reg_problem *p, double length);

/* The largest way between where two poses send a source point. */
double reg_motion(const reg_problem *p, const geom_pose *a, const geom_pose *b);

/* Says why it ended where that is not said yet: lost, nothing near the source could be found; or still moving. */
void reg_ended(reg_problem *p, bool lost);

/* Reports a step to whoever watches; ATN_ERR_CANCELLED where they had enough. */
atn_status reg_step_done(reg_problem *p, double sigma, double rmse, double motion, size_t source, size_t target);

/* spacing_together.c: reg_curve_guess and reg_side_spacing, in one launch with those of other pairs. False: the host
 * has to look. */
bool reg_guess_together(struct reg_client *client, const cloud_points *points, double *spacing);
bool reg_spacing_together(struct reg_client *client, const reg_side *side, double *spacing);

/* shapes_together.c: reg_shapes of all points of a side among each other, likewise; lengths times `scale`. */
bool reg_shapes_together(const reg_engine *engine, const reg_side *side, double scale, double flattest,
                         atn_array **shape, atn_array **ratio);

/* reg_estep and reg_mstep in one, of all pairs of points of a level, in one launch with those of other pairs of clouds;
 * source to target by `pose`, a = 2^-|unit (x - y)|^2. False: the host has to. */
bool reg_step_together(reg_problem *p, const reg_level *level, const geom_pose *pose, double unit, double outlier,
                       geom_moments *out);

/* Weights of the source's points that have a partner within `reach` at p->pose, and their sum with squared distances,
 * likewise. */
bool reg_measure_together(reg_problem *p, const reg_level *level, double reach, double *sum, double *weight);

/* reg_estep and reg_mstep in one, free of underflow: the outlier class is 2^-far2, INFINITY: there is none. */
atn_status reg_step_shifted(reg_engine *e, reg_side *rows, reg_side *columns, double far2, double unit,
                            geom_moments *out);

void reg_spread_of(const cloud_points *points, const double origin[3], reg_spread *out);

/* How a whole cloud lies. */
typedef struct reg_lying {
    double centroid[3];
    double low[3], high[3]; /* bounds, where the device was asked */
    reg_spread spread;
    bool too_small; /* not all at one place, yet squares of distances are none that a double holds */
} reg_lying;
atn_status reg_lying_of(const cloud_points *points, reg_lying *out);
/* The same of points on the device, of which `first` is one; also their weight. */
atn_status reg_lying_on_device(reg_engine *engine, reg_ordered *points, const double first[3], reg_lying *out);

/* Frames without units: origins, spreads and the unit; coordinates that cannot be squared are refused. */
atn_status reg_find_frames(reg_problem *p, const reg_lying *source_lies, const reg_lying *target_lies);

/* How far the usual point is from the middle, by medians of a sample. A cloud is no larger than REG_STRAY times that:
 * few points that are far away from all others do not say how large it is. 0: most points are at one place. */
#define REG_STRAY 30.0
reg_usual reg_usual_of(const cloud_points *points);
void reg_find_usual(reg_problem *p, const cloud_points *source, const cloud_points *target); /* of both */
/* Where they make `radius` larger than that, the origin becomes the middle; returns the radius without them. */
double reg_leave_strays(const reg_usual *usual, double radius, double origin[3]);

/* Inlier pairs at p->pose, nearest points within a distance that spacing and noise suggest: rmse, overlap,
 * inlier_distance. Once for a pose and that distance. */
atn_status reg_measure(reg_problem *p, atn_register_result *r);

/* What p->pose is worth: the verdict, its reason and what they rest on; p->value, p->beaten. */
atn_status reg_judge(reg_problem *p, atn_register_result *r);
/* Begins with it, for a pose that converged, as long as the device is asked how sure that is; nothing where all cores
 * are asked that. The pose and what is said of it are left alone until reg_judge, which waits for it. */
void reg_judge_begin(reg_problem *p);

/* The caller's 4 x 4 of a pose inside, and back. */
void reg_to_inside(const reg_problem *p, const double t[16], geom_pose *out);
void reg_to_outside(const reg_problem *p, const geom_pose *pose, double t[16]);

/* A method: from p->pose on to the best pose it finds. */
typedef atn_status reg_method(reg_problem *p);
reg_method reg_em_icp, reg_em_compat, reg_icp, reg_softassign, reg_cpd, reg_gicp, reg_icp_plane;

/* The covariance of p->pose, where another method than the polish ended; has_covariance stays false where it cannot be
 * told. */
atn_status reg_covariance_aside(reg_problem *p);

#endif
