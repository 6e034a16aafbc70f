/* How regular a phase is around each pixel: a quality map derived from the phase itself. */
#ifndef ATN_APPS_UNWRAP_REGULAR_H
#define ATN_APPS_UNWRAP_REGULAR_H

#include <complex.h>
#include <stdint.h>

typedef float complex unwrap_phasor;

typedef struct unwrap_phasors {
    int64_t width, height;
    unwrap_phasor *value; /* exp(i psi), 0 where not valid */
} unwrap_phasors;

void unwrap_regularity(const unwrap_phasors *phasors, float *out); /* 0 to 1, of each pixel */

#endif
