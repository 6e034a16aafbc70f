/* What the files of the search share. Lengths are in sides of the cubes that the clouds were thinned by, so that all of
 * it is free of units; single precision holds what is left of the numbers. */
#ifndef ATN_APPS_REGISTER_SEARCH_PARTS_H
#define ATN_APPS_REGISTER_SEARCH_PARTS_H

#include "apps/register/search.h"

/* x = scale turn y + shift. A plain value. */
typedef struct search_pose {
    double turn[9]; /* 3 x 3, row-major */
    double shift[3];
    double scale;
    double score; /* share of the source on the target */
} search_pose;

double search_pose_angle(const search_pose *a, const search_pose *b); /* of the turn between them, radians */
static inline void search_pose_move(const search_pose *pose, const double y[3], double x[3]) {
    for (int a = 0; a < 3; ++a)
        x[a] = pose->scale * (pose->turn[3 * a] * y[0] + pose->turn[3 * a + 1] * y[1] + pose->turn[3 * a + 2] * y[2]) +
               pose->shift[a];
}

/* ---- search_fit.c: the pose that fits weighted pairs best ---- */
/* Sums over pairs; begins zeroed. */
typedef struct search_moments {
    double weight;
    double y[3], x[3];
    double xy[9]; /* x y^T */
    double yy, xx;
    int32_t pairs;
} search_moments;
void search_moments_add(search_moments *moments, double weight, const double y[3], const double x[3]);
/* Horn's quaternion. False where the pairs do not say; the pose stays as it was then. */
bool search_moments_fit(const search_moments *moments, bool scaled, search_pose *pose);

/* ---- search_thin.c: one point for each cube ---- */
/* The side of cubes that leave about `most` points, or 0.6 of all where there are few. 0: all are at one place. */
atn_status search_edge(const cloud_points *points, size_t most, double *out);
/* The mean of each cube's points, without those that hardly have any, in Morton order; weights are points of a sample.
 * Of one cloud, or of two at the same time. */
atn_status search_thin(const cloud_points *const *points, const double *edge, int count, cloud_points *out);

/* ---- search_surface.c: a cloud thinned and described ---- */
enum {
    SEARCH_SHELLS = 4,  /* around a point, of equal thickness */
    SEARCH_HEIGHTS = 9, /* bins over the tangential plane, for each shell */
    SEARCH_ANGLES = 5,  /* bins of cosines between normals, for each shell */
    SEARCH_SHELL = SEARCH_HEIGHTS + SEARCH_ANGLES,
    SEARCH_FEATURE = SEARCH_SHELLS * SEARCH_SHELL
};

/* A point for each cube, about the centroid, in Morton order. Ended with search_surface_free. */
typedef struct search_surface {
    const atn_ctx *ctx;
    size_t count;
    double edge;      /* side of a cube: unit of all below, in the cloud's unit */
    double centre[3]; /* in the cloud's unit */
    double size;      /* root mean square distance from the centre */
    float *block;     /* owned: all the arrays but the last */
    float *at[3];
    float *normal[3]; /* of length 1, of either sign; zeros where there is no plane */
    float *feature; /* owned; count x SEARCH_FEATURE: each shell's histograms have length 1; zeros where there is none;
                       NULL: not described yet */
} search_surface;

/* One surface, or two at the same time, by all cores, or with those of other pairs (client, or NULL); on failure there
 * is none. */
atn_status search_surfaces_make(const cloud_points *const *points, const double *edge, int count,
                                struct reg_client *client, search_surface *const *out);
atn_status search_surfaces_describe(search_surface *const *surface, int count); /* fills feature, once */
void search_surface_free(search_surface *surface);                              /* zeroed ones are fine */

/* ---- search_score.c: how much of the source lies on the target ---- */
/* A target point with its plane, all in one place of memory. */
typedef struct search_place {
    float at[3], normal[3];
    float known; /* 1: has a normal; 0 */
    float unused;
} search_place;

/* Which target point is the nearest, for each cell of a raster and one more; their number: none within reach. */
typedef struct search_raster {
    const search_surface *target;
    int32_t *nearest;    /* owned */
    search_place *place; /* of the target's points and one more, which nothing lies on; owned */
    int32_t size[3];
    double low[3], step;
    float corner[3], per_step; /* the same, as points are looked up */
} search_raster;
atn_status search_raster_measure(const search_surface *target, search_raster *out); /* where its cells are, alone */
atn_status search_raster_make(const search_surface *target, search_raster *out);
void search_raster_free(search_raster *raster); /* zeroed ones are fine */
/* How well each point lies there, in [0, 1]; and the mean over all points. */
void search_lies(const search_raster *raster, const search_surface *source, const search_pose *pose, float *out);
double search_score(const search_raster *raster, const search_surface *source, const search_pose *pose);
/* Some steps towards the nearest planes; the score is brought up to date. Half of them where it stays far below
 * `worth`. */
void search_refine(const search_raster *raster, const search_surface *source, bool scaled, double worth,
                   search_pose *pose);

/* The steps of one pose, each after a look at where it is; begins with `at` alone, and ends with the best. */
enum { SEARCH_PATH_STEPS = 12 };
typedef struct search_path {
    search_pose at, best;
    int step;
    bool still; /* the last one was hardly any */
} search_path;
float search_path_width(const search_path *path); /* how far off a plane points may be that pull */
/* From what the look found: the step; false: there is none any more. */
bool search_path_go(search_path *path, double score, const search_moments *moments, bool scaled, double worth);

/* search_surface.c: as a transform in the units of the clouds; `factor`: how much larger the source becomes. */
void search_publish(const search_surface *source, const search_surface *target, const search_pose *pose, double factor,
                    double out[16]);

/* ---- search_pairs.c, search_turns.c: where starts come from; each fills at most `room` poses, without scores ---- */
enum { SEARCH_MOST_PAIRED = 100, SEARCH_TURNS = 60 };
atn_status search_paired(const search_surface *source, const search_surface *target, bool scaled, search_pose *out,
                         size_t *count);
/* From even turns of the pose `from` about the place `about` of the source; NULL: of none, about the centres. best:
 * those alone that fit about best on the way. client: through which steps go together with those of other pairs, or
 * NULL. */
atn_status search_turned(const search_surface *source, const search_surface *target, const search_pose *from,
                         const double about[3], bool best, struct reg_client *client, search_pose *out, size_t *count);

/* ---- search_together.c: the same of many poses, in launches with those of other pairs ---- */
/* Each is false where the host has to do it. normals: across what is within reach of each point. middle: of what lies
 * on the target. */
bool search_normals_together(struct reg_client *client, search_surface *const *surface, int count, double reach);
bool search_score_together(const reg_scene *scene, const search_surface *source, search_pose *pose, size_t count);
bool search_refine_together(const reg_scene *scene, const search_surface *source, bool scaled, double worth,
                            search_pose *pose, size_t count);
bool search_middle_together(const reg_scene *scene, search_pose *pose, double middle[3]);

/* ---- search.c: what the search and the look for rivals share ---- */
enum { SEARCH_REFINED = 16 }; /* poses that are refined */
struct reg_scene {
    const atn_ctx *ctx;
    const cloud_points *source, *target; /* not owned */
    bool scaled;                         /* the source's cubes are its own */
    bool mirrored;                       /* the source is; all but its places and normals is another scene's */
    bool blank;                          /* points on a line or at one place: no turn can be told */
    search_surface of_source, of_target;
    search_raster raster;             /* without a target: not made yet */
    bool rastered;                    /* it was made for this scene, which owns it */
    struct reg_client *client;        /* of the worker whose pair it is (gather.h), or NULL */
    uint64_t number;                  /* from 1 on, which no other scene has; 0: without a client */
    search_pose best[SEARCH_REFINED]; /* that the search has met, the best first */
    size_t bests;
};
/* Scores `pose`, refines the best that differ, and leaves these in front, sorted; *count becomes their number. Scores
 * below `worth` are of no interest. */
atn_status search_judge(reg_scene *scene, const search_surface *source, bool scaled, double worth, search_pose *pose,
                        size_t *count);
void search_sort(search_pose *pose, size_t count); /* by falling score; equals stay in order */

#endif
