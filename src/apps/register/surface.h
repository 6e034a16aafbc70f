/* The local shape of both clouds around each point, and the resolution at which it is visible through the noise. */
#ifndef ATN_APPS_REGISTER_SURFACE_H
#define ATN_APPS_REGISTER_SURFACE_H

#include "apps/register/problem.h"

/* The spread about a point has the variances l0 <= l1 <= l2 along u_k; its shape is C = sum (l_k / l0)^2 u_k u_k^T,
 * kept as xx yy zz xy xz yz. The square, since pairs follow along a surface: that they are near each other there tells
 * little. Ended by reg_surface_free. */
typedef struct reg_surface {
    reg_level *level;           /* whose points they are */
    double spacing;             /* between neighbours there, in units */
    bool seen;                  /* twice as much variance along as across; else noise hides surfaces */
    atn_array *source, *target; /* of the device: matrices of six rows, a column for each point; owned, like */
    atn_array *planes;          /* what stands for the target's where only distances from its planes count; or NULL */
    reg_level *finer;           /* would show surfaces too, with more points than steps need; or NULL */
} reg_surface;

/* The finest level whose points are farther apart than noise throws them, so that surfaces are flat, or the next
 * coarser one where that has very many points; the finest of all where none is. After the levels have been made; made
 * when first asked for, and the problem's. */
atn_status reg_surface_of(reg_problem *p, reg_surface **out);
/* What it asks of all points, where these are few, before there are other levels; of methods that will ask for it. */
atn_status reg_surface_early(reg_problem *p, reg_level *all);
/* How thick the surfaces of a side are over their width: the median. */
atn_status reg_surface_thickness(reg_engine *engine, reg_side *side, double spacing, double *out);
void reg_surface_end(reg_problem *p);
/* Points of the finer level of `from` with the shapes that those they are merged into have. */
atn_status reg_surface_finer(reg_problem *p, const reg_surface *from, reg_surface *out);
/* Makes the planes, of a target whose surfaces are seen; else there are none. */
atn_status reg_surface_flatten(reg_engine *engine, reg_surface *surface);
/* All points, all directions alike: points that are near each other are the same. */
atn_status reg_surface_points(reg_problem *p, reg_surface *out);
void reg_surface_free(reg_surface *surface); /* zeroed ones are fine */
/* The columns of shapes at `count` places, a matrix of the caller's. */
atn_status reg_surface_take(reg_engine *engine, atn_array *shape, const int32_t *from, size_t count, atn_array **out);

/* The last steps of a rigid pose, over the points of the surface, pairs being at most `reach` apart to begin with; sets
 * converged where it succeeds, leaves all as it was where it does not. */
atn_status reg_polish(reg_problem *p, const reg_surface *surface, double reach);

/* After a polish that converged: a few steps more over the points of the finer level, where there is one, since what
 * merged points leave out shows there (all stays as it was where they do not succeed); and how sure the pose is. */
atn_status reg_polish_end(reg_problem *p, const reg_surface *surface);
/* The first of both alone, for the target's planes: over all points where there is no finer level. */
atn_status reg_polish_finer(reg_problem *p, const reg_surface *surface);
/* The few steps more, over the points of this surface. */
atn_status reg_polish_last(reg_problem *p, const reg_surface *surface);

/* The same as a method of its own: p->pose moves along, and may still move when there are no iterations left. lost: no
 * target point is within reach. */
atn_status reg_polish_whole(reg_problem *p, const reg_surface *surface, double reach, bool *lost);

/* Where these steps would end: p stays as it is, and nobody is told of iterations. */
atn_status reg_polish_aside(reg_problem *p, const reg_surface *surface, double reach, geom_pose *out, bool *converged);

/* p->result->covariance of p->pose, where the polish ended; has_covariance stays false where it cannot be told. */
atn_status reg_covariance(reg_problem *p, const reg_surface *surface);

#endif
