/* How well two clouds fit where planes cannot be compared: samples of either against the nearest points of the other.
 * How much a sample fits is 1 on a point and falls to 0 at a distance that the clouds' spacings give; chance gives much
 * of that too, so that only differences between poses are held against their own scatter. */
#ifndef ATN_APPS_REGISTER_FITNESS_POINTS_H
#define ATN_APPS_REGISTER_FITNESS_POINTS_H

#include "apps/register/fitness.h"

enum { FITNESS_MOST_SAMPLES = 2 * 800 };

/* What a pose comes to, sample by sample: those of the source, then those of the target. */
typedef struct fitness_scores {
    float of[FITNESS_MOST_SAMPLES];
    size_t count;
    double mean;
    double centre[3], size; /* of the source's samples, weighed by their scores, in the target's frame */
} fitness_scores;

void fitness_score(const fitness *f, const geom_pose *pose, fitness_scores *out);

/* Steps towards the nearest points; kept where the mean score grows. */
void fitness_refine_points(const fitness *f, int steps, geom_pose *pose, fitness_scores *out);
void fitness_refine_points_all(const fitness *f, int steps, size_t count, geom_pose *pose, fitness_scores *out);

/* By how many of its standard deviations the mean of `a` is above that of `b`, of the same samples. */
double fitness_ahead(const fitness_scores *a, const fitness_scores *b);

#endif
