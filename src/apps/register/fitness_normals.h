/* Normals of samples, and how many of them lie along three directions: walls and floors. */
#ifndef ATN_APPS_REGISTER_FITNESS_NORMALS_H
#define ATN_APPS_REGISTER_FITNESS_NORMALS_H

#include <stddef.h>

enum { FITNESS_SAMPLES = 800 }; /* of a cloud */

/* One array for each coordinate; begins with none. */
typedef struct fitness_normals {
    float of[3][FITNESS_SAMPLES];
    size_t count;
} fitness_normals;

void fitness_normals_add(fitness_normals *normals, const float normal[3]);
/* The share of them that lie along three directions, each the first of those that are left, which go. */
double fitness_normals_along_three(fitness_normals *normals);

#endif
