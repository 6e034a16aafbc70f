/* Pairs of a source point and the nearest target point: which of them count, how much, and the step that brings them
 * together. */
#ifndef ATN_APPS_REGISTER_PAIRS_H
#define ATN_APPS_REGISTER_PAIRS_H

#include "apps/register/problem.h"

/* Made by reg_pairs_open, ended by reg_pairs_close. */
typedef struct reg_pairs {
    reg_problem *p;
    reg_side *source;       /* of the last search */
    reg_side *target;       /* likewise; all points of it where planes count */
    const float *normal[3]; /* by point of the target cloud; NULL: none */
    bool plane;             /* distances along the normals count, else whole ones; may be changed */
    atn_cloud *made;        /* owned: the target with normals, where it came without; or NULL */
    int32_t *index;         /* per source point: its partner among the target's places, -1 for none */
    double *distance2;
    double *size;                /* per pair: what is to become small, along the normal or the whole distance */
    double *sorted;              /* room for medians */
    struct reg_pairs_sums *sums; /* of stretches of the source's points */
    size_t count;                /* of pairs */
    double most;                 /* the largest distance of a pair */
    double limit2;               /* pairs farther apart are trimmed */
    double scale;                /* of the robust kernel, in units; 0: to be taken from the next pairs */
} reg_pairs;

/* What the pairs ask for. */
typedef struct reg_pairs_step {
    geom_pose next; /* where the source should be */
    bool fits;      /* false: the pairs do not tell */
    double cost;    /* what steps make smaller; pairs that do not count add what the farthest ones would */
    double rmse;
} reg_pairs_step;

/* plane: the target's normals will be wanted. After the levels have been made. */
atn_status reg_pairs_open(reg_problem *p, bool plane, reg_pairs *out);
void reg_pairs_close(reg_pairs *pairs); /* zeroed ones are fine */

/* The nearest target point of a level within `reach` of each of its source points at `pose`; the finest where planes
 * count. */
atn_status reg_pairs_find(reg_pairs *pairs, reg_level *level, const geom_pose *pose, double reach);

/* The best map for the pairs found at `pose`; planes: one Gauss-Newton step. Points without a partner cost what pairs
 * `far` apart do. */
void reg_pairs_fit(reg_pairs *pairs, const geom_pose *pose, double far, atn_transform_kind kind, reg_pairs_step *out);

#endif
