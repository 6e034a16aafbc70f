/* A look at a pose, for the files of the fitness. */
#ifndef ATN_APPS_REGISTER_FITNESS_PARTS_H
#define ATN_APPS_REGISTER_FITNESS_PARTS_H

#include "apps/register/fitness.h"
#include "apps/register/fitness_normals.h"

enum { FITNESS_NOBODY = -1 };

/* Points next to the samples of both sides, or FITNESS_NOBODY: where they are known for one pose they are found sooner
 * for others beside it. */
typedef struct fitness_hints {
    int32_t point[2][FITNESS_SAMPLES];
} fitness_hints;

/* Where the source's samples pull a pose. */
typedef struct fitness_pull {
    double h[36], g[6];
} fitness_pull;

/* How far a sample may be from the points of the other cloud, and from one that it is about; `by`: the target's radius
 * there. */
double fitness_reach(const fitness_side *other, double by);
double fitness_about(const fitness_side *other, double by);

/* every: of the source's, the target's samples one in so many. nearest: to each of them, first those of the source, or
 * NULL. hints: of a pose nearby, or NULL; they become those of this one. */
void fitness_look_at(const fitness *f, const size_t every[2], const geom_pose *pose, const float *nearest,
                     fitness_hints *hints, fitness_seen *out, fitness_pull *by);

#endif
