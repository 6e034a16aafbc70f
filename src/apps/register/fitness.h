/* How well two clouds fit in a pose, seen at their own resolution and from both sides: a sample of each against the
 * planes of the other. Distances count in spacings and noise of the clouds, never in what the fit left over. */
#ifndef ATN_APPS_REGISTER_FITNESS_H
#define ATN_APPS_REGISTER_FITNESS_H

#include "apps/register/problem.h"

#include <stdatomic.h>

/* The neighbourhood of a point. */
typedef struct fitness_plane {
    float at[3], normal[3]; /* the mean of the neighbours; of length 1, of either sign */
    float thickness;        /* deviation across the plane: noise, and what curvature adds */
    float reach;            /* distance of the neighbour that half of them are nearer than */
    float sixth;            /* of the sixth one */
    bool flat;              /* is a plane */
} fitness_plane;

/* One cloud in its frame inside. */
typedef struct fitness_side {
    cloud_points points;
    cloud_grid *grid;
    fitness_plane *plane; /* of the points; made when first asked for, those of the samples at once */
    atomic_uchar *state;  /* of these: kept, or not yet */
    uint32_t *sample;
    bool *wall; /* of the samples: part of a plane that is as large as a wall */
    size_t samples;
    size_t neighbours; /* that tell a plane, the point among them: more where noise hides it */
    double spacing;    /* median reach over the samples */
    double sixth;      /* median distance of the sixth neighbour */
    double noise;      /* median thickness of the flat ones */
    double flat;       /* share of the samples that are */
    double planar;     /* of these, the share whose normals lie along three directions */
} fitness_side;

fitness_plane fitness_plane_of(const fitness_side *side, size_t point); /* made when first asked for */

/* The level of a cloud whose points are looked at; NULL: all of them are. */
typedef struct fitness_level {
    const reg_side *side;
    double least; /* weight: points of less belong to nothing */
} fitness_level;

/* Where a device has both clouds. */
typedef struct fitness_kept {
    bool there;
    int32_t cloud[2], sample[2]; /* where planes and samples begin */
} fitness_kept;

/* Ended with fitness_free. */
typedef struct fitness {
    const atn_ctx *ctx;
    fitness_side side[2];          /* source, target */
    bool begun;                    /* points and their trees are there */
    bool described;                /* and all else */
    bool solid;                    /* points fill space: there are no planes */
    struct reg_client *client;     /* of the worker whose pair it is (gather.h), or NULL */
    fitness_kept *kept;            /* what that has; owned; NULL without it */
    fitness_level all[2], firm[2]; /* of the source and the target: with points that belong to nothing, without them */
} fitness;

bool fitness_in_noise(const fitness_side *side); /* planes show only in more neighbours than usual */
/* As how many planes of the usual size so many samples count: larger ones share their points. */
double fitness_planes(const fitness *f, size_t samples);

bool fitness_takes_all(const reg_problem *p); /* points of both clouds, whatever levels there are */

/* Made in two steps, into a zeroed one: what the device has is fetched; then all else, by the host alone. */
atn_status fitness_choose(reg_problem *p, fitness *out);
atn_status fitness_describe(const reg_problem *p, fitness *out);

/* The first half of the second step where both clouds have few points, into a zeroed one, to be done beside other work:
 * a piece for each cloud, then the end. */
typedef struct fitness_early {
    const reg_problem *p;
    fitness *out;
} fitness_early;
bool fitness_may_be_early(const reg_problem *p);
atn_status fitness_begin_early(void *early, int64_t side, int64_t end); /* an atn_attempt_part of two */
void fitness_end_early(const fitness_early *early, bool begun);         /* begun: neither piece has failed */

void fitness_free(fitness *f); /* zeroed ones are fine */

/* What a pose comes to. Shares are of both samples unless said. */
typedef struct fitness_seen {
    double overlap[2];      /* share of the source's, of the target's samples that lie on the other cloud's surface */
    double precision;       /* of samples beside the other's surface, the share that lies on it: 0.2 is chance */
    double same;            /* of samples near a point of the other, the share at the very place: 0.1 is chance */
    bool identical;         /* the clouds have points in common, which lie on each other */
    double misfit;          /* of samples beside it, the mean of (distance / tolerance)^2, each 1 at most */
    double clear;           /* of samples on the surface, beside it, or over it by less than a tenth of the target's
                               radius, the share that lies on it */
    double free;            /* of samples, flat or not, at the surface or over it by less than a third of the target's
                               radius, the share at it; strays do not count */
    size_t over;            /* samples over it */
    size_t detail, missing; /* planes of either cloud that belong to no wall: at the other's surface, over it */
    double planar;          /* of samples on the surface, the share whose normals lie along three directions */
    double value;           /* overlap x precision x clear^2: what poses are compared by */
    size_t near, fits;      /* samples beside the surface, on it */
    double centre[3], size; /* of the samples on the surface, in the target's frame */
    double information[36]; /* mean of J J^T of these, J = ((y - centre) / size x n, n) */
} fitness_seen;

/* ---- fitness_walls.c ---- */
atn_status fitness_find_walls(fitness_side *side, const atn_ctx *ctx); /* fills wall, from the planes of the samples */

/* ---- fitness_dense.c ---- */
atn_status fitness_dense(const fitness_side *side, cloud_points *out); /* points but those far from others; none: 0 */

void fitness_look(const fitness *f, const geom_pose *pose, fitness_seen *out);
/* Planes are made when they are first asked for: those that fitness_look asks for near a pose, the last ones first,
 * since somebody may look meanwhile; until it is over. */
void fitness_ask(const fitness *f, const geom_pose *pose, const atomic_bool *over);
/* overlap, precision, misfit, clear, value, near and fits alone, of at most FITNESS_GLANCES poses, in one launch with
 * those of other pairs. False: the host has to look. */
enum { FITNESS_GLANCES = 16 };
bool fitness_glance(const fitness *f, size_t count, const geom_pose *pose, fitness_seen *out);
/* Samples that lie over the other's surface in one of two poses alone: in the first, in the second. */
void fitness_over(const fitness *f, const geom_pose *here, const geom_pose *there, size_t only[2]);

/* Gauss-Newton steps of a rigid change of the pose towards the planes; kept where the value grows. */
void fitness_refine(const fitness *f, int steps, geom_pose *pose, fitness_seen *out);
/* Of each; what surely ends far below a value of `worth` (0: nothing does) is not refined, and seen as zeros. */
void fitness_refine_all(const fitness *f, int steps, double worth, size_t count, geom_pose *pose, fitness_seen *out);

/* ---- fitness_shifts.c ---- */
/* At most `most` shifts of a pose by more than `beyond` that bring repeated parts onto each other; none without planes.
 */
atn_status fitness_shifts(const fitness *f, const geom_pose *pose, double beyond, size_t most, geom_pose *out,
                          size_t *count);

#endif
