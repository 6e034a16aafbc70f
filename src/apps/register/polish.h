/* Pairs of the polish: nearest points, distances weighed by the shapes of both clouds, and the sums of a Gauss-Newton
 * step. */
#ifndef ATN_APPS_REGISTER_POLISH_H
#define ATN_APPS_REGISTER_POLISH_H

#include "apps/register/surface.h"

#define REG_POLISH_NEAREST 2.0 /* spacings that pairs may be apart at the end */

/* Made by reg_polish_open, ended by reg_polish_close. */
typedef struct reg_polish_state {
    reg_problem *p;
    reg_side *source, *target; /* the points of this step */
    reg_side *all;             /* source points, which the shapes of the source belong to */
    const reg_surface *surface;
    float (*w)[6];  /* W per pair */
    int32_t *index; /* per source point its partner, -1: none */
    double *distance2;
    double *q;         /* d^T W d per pair */
    double *room;      /* for the median */
    struct sums *sums; /* owned: of each stretch of pairs */
    bool fine;         /* all points take part, once fewer of them ask for no other pose */
    bool settled;      /* scale2 and reach stay as they are */
    bool quiet;        /* steps are no iterations that anybody is told of */
    bool whole;        /* they are all there is of a method: as many as its iterations, and the last pose stays */
    bool lost;         /* no pair within reach */
    double scale2;     /* deviation squared of the square root of q */
    double h[36], g[6];
    double weight, cost;
    size_t pairs;
} reg_polish_state;

/* `surface` has the shapes of both sides. */
atn_status reg_polish_open(reg_problem *p, const reg_surface *surface, reg_side *source, reg_side *target,
                           reg_polish_state *out);
void reg_polish_close(reg_polish_state *s); /* zeroed ones are fine */

/* The nearest target point within `reach` of each source point at `pose`, with its W and q; scale2 unless settled. */
atn_status reg_polish_pairs(reg_polish_state *s, const reg_pose *pose, double reach);

/* Tukey's weight of a pair, where its source point y is, and its gradient J^T W d; 0: it does not count. */
double reg_polish_term(const reg_polish_state *s, const reg_pose *pose, size_t r, double y[3], double g[6]);

/* h = sum of J^T W J, g = sum of J^T W d, weighed; weight and cost. */
void reg_polish_sum(reg_polish_state *s, const reg_pose *pose);

#endif
