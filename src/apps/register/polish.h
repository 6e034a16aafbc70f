/* Pairs of the polish: nearest points, distances weighted by the local shapes of both clouds, and the sums of a
 * Gauss-Newton step. */
#ifndef ATN_APPS_REGISTER_POLISH_H
#define ATN_APPS_REGISTER_POLISH_H

#include "apps/register/surface.h"

#define REG_POLISH_NEAREST 2.0  /* spacings that pairs may be apart at the end, */
#define REG_POLISH_SAME    0.25 /* and within which they may be the same point, seen twice */

/* Made by reg_polish_open, ended by reg_polish_close. */
typedef struct reg_polish_state {
    reg_problem *p;
    reg_side *source, *target; /* the points of this step */
    reg_side *all;             /* source points, which the shapes of the source belong to */
    const reg_surface *surface;
    atn_array *some;  /* q of some pairs, for the median */
    atn_array *total; /* sums of a step */
    bool fine;        /* all points take part, once fewer of them ask for no other pose */
    bool settled;     /* scale2 and reach stay as they are */
    bool quiet;       /* steps are no iterations that anybody is told of */
    bool whole;       /* they are all there is of a method: as many as its iterations, and the last pose stays */
    bool lost;        /* no pair within reach */
    bool together;    /* steps go to the device with those of other pairs (gather.h), where there is one for that; what
                         pairs come to is not kept then, but for sums */
    const reg_side *kept; /* source that the device has for these, */
    int32_t kept_at;      /* and where; NULL: none */
    double slack;         /* as in reg_near_update */
    double scale2;        /* deviation squared of the square root of q */
    double h[36], g[6];
    double weight, cost;
    double fits;        /* weight of pairs whose q is small beside the spacing */
    double pairs, same; /* how many there are, and how many are within REG_POLISH_SAME */
} reg_polish_state;

/* `surface` has the shapes of both sides. */
atn_status reg_polish_open(reg_problem *p, const reg_surface *surface, reg_side *source, reg_side *target,
                           reg_polish_state *out);
void reg_polish_close(reg_polish_state *s); /* zeroed ones are fine */

/* The nearest target point within `reach` of each source point at `pose`, with its W and q. */
atn_status reg_polish_pairs(reg_polish_state *s, const geom_pose *pose, double reach);
/* These; scale2 unless settled; h = sum of J^T W J, g = sum of J^T W d, weighed; the other sums. */
atn_status reg_polish_step(reg_polish_state *s, const geom_pose *pose, double reach);

/* g and weight, as of reg_polish_step with the scale that is there, at some poses, in one launch with those of other
 * pairs of clouds; at most REG_FIT_MOST (gather.h). False: the host has to. */
bool reg_polish_gradients(const reg_polish_state *s, size_t count, const geom_pose *pose, double reach, double (*g)[6],
                          double *weight);

/* What the pairs of the last step added to g, `per` neighbours in a column: where their source points are, in the mean
 * of those that count, J^T W d times the weight of each, and that weight, 0: none counts. Of the coordinates' type;
 * owned by the caller. */
enum { REG_POLISH_TERM = 10 };
atn_status reg_polish_terms(reg_polish_state *s, const geom_pose *pose, size_t per, atn_array **out);

#endif
