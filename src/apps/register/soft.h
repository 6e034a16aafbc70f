/* Shared by methods whose pairs are soft in both directions: the sums over the rows of one cloud become the weights of
 * its points when the other cloud is processed. */
#ifndef ATN_APPS_REGISTER_SOFT_H
#define ATN_APPS_REGISTER_SOFT_H

#include "apps/register/problem.h"

#define REG_LOG2E 1.4426950408889634

/* Outlier classes weigh at least that: points farther than ten scales from everything have no partner, whatever is
 * asked for, and sums in single precision stay clear of underflow. */
#define REG_LEAST_OUTLIER 0x1p-100

/* Room for numbers of each point, as many as the larger cloud needs; made by reg_soft_open, ended by reg_soft_close. */
typedef struct reg_soft {
    reg_problem *p;
    double *sum;     /* of the last rows */
    double *sums[3]; /* a x of the last rows, where they were read */
    double *factor;  /* 1 / (sum + outlier) */
    double *number;
} reg_soft;

/* After the levels have been made. */
atn_status reg_soft_open(reg_problem *p, reg_soft *out);
void reg_soft_close(reg_soft *soft); /* zeroed ones are fine */

/* Both clouds as E-steps want them: scaled by k, the source moved. */
atn_status reg_soft_place(reg_soft *soft, reg_level *level, const geom_pose *pose, double k);

/* How far pairs must be apart, scaled, so that all that are left out of a point's sums weigh at most error_bound times
 * its outlier class. */
double reg_soft_reach(const reg_soft *soft, const reg_level *level, double outlier);

/* Sums for the rows over the columns as these are weighed, then factors, then the rows' weights times these factors for
 * when they are columns. */
atn_status reg_soft_turn(reg_soft *soft, reg_side *rows, reg_side *columns, double reach, double outlier);

/* Weights as they were. */
atn_status reg_soft_reset(reg_soft *soft, reg_level *level);

#endif
