/* What the pairs of the polish contribute to its gradient, how much this scatters, and how it changes with the pose. */
#ifndef ATN_APPS_REGISTER_COVARIANCE_H
#define ATN_APPS_REGISTER_COVARIANCE_H

#include "apps/register/polish.h"

/* Terms, where they are, and what pairs weigh in them; those of a cube added up once they are joined. */
typedef struct reg_terms {
    cloud_points at;
    double (*g)[6];
} reg_terms;

/* Terms of all pairs, and what they come to. Opened by reg_scattering_open, ended by reg_scattering_free. */
typedef struct reg_scattering {
    const atn_ctx *ctx;
    const reg_engine *engine; /* that joins terms of several ranks, or NULL */
    atn_array *numbers;       /* as the device has them; owned, */
    const void *fetched;      /* and where the host has its copy, */
    bool wide;                /* in double */
    size_t columns;
    double edge;  /* of cubes, twice the smallest */
    double b[36]; /* how much g would differ for other points of the same surfaces: the mean of its square */
    bool told;    /* false: pairs are in too few places */
    atn_status status;
} reg_scattering;

/* Fetches the terms of the last step, which was at `pose`. */
atn_status reg_scattering_open(reg_polish_state *s, const geom_pose *pose, reg_scattering *out);
void reg_scatter(void *scattering);                   /* fills b, told and status; of the host alone */
void reg_scattering_free(reg_scattering *scattering); /* zeroed ones are fine */

/* -dg / dtheta at `pose`, where the last step was, with pairs that follow; as all points have it. */
atn_status reg_curvature(const reg_polish_state *s, const geom_pose *pose, double h[36]);

#endif
