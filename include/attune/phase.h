/* Phase shifting interferometry: wrapped phase from N phase-stepped camera frames. A pixel of frame k is
 * I_k = a + b cos(phi + d_k); phi is fitted by least squares or, for five steps of 90 degrees, computed with
 * Hariharan's weights, which tolerate errors of the step. Create once for a size and a device, then run stack by stack.
 */
#ifndef ATTUNE_PHASE_H
#define ATTUNE_PHASE_H

#include <attune/array.h>
#include <attune/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct atn_phase atn_phase;

enum { ATN_PHASE_LEAST_STEPS = 3, ATN_PHASE_MOST_STEPS = 1024 };

/* For all stacks. Fields left at zero take their defaults. */
typedef struct atn_phase_settings {
    size_t size;         /* of this struct: ATN_INIT */
    int32_t bits;        /* precision of the phase: 32 or 64; default 32 */
    int32_t steps;       /* frames of a stack, ATN_PHASE_LEAST_STEPS or more; default 4 */
    const double *angle; /* d_k in radians, one per frame; NULL: for five frames -180 to 180 degrees in steps of 90
                            (Hariharan), otherwise 360 degrees in equal steps from 0 */
    double least;        /* pixels with a modulation b below this are invalid, >= 0; default 0: only b = 0 is invalid */
    double most;         /* saturation: pixels that reach this value in any frame are invalid; default: none */
} atn_phase_settings;

/* Fails if the angles do not determine a, b and phi. Owned by the caller, freed before the device is closed; used
 * by one thread at a time. NULL settings: defaults. */
ATN_API atn_status atn_phase_create(atn_device *device, int64_t width, int64_t height,
                                    const atn_phase_settings *settings, atn_phase **out);
ATN_API void atn_phase_free(atn_phase *phase); /* NULL is allowed */

/* `frames`: one image per step, row-major without gaps. `out`: floats or doubles, as `bits` says, in [-pi, pi], NaN
 * where invalid. `modulation`: b, 0 where invalid; usable as quality for unwrapping. Each may be NULL.
 */
ATN_API atn_status atn_phase_run(atn_phase *phase, const float *const *frames, void *out, float *modulation);

/* The phase of the last run in device memory: a matrix of the image's size, valid until the next run; owned by `phase`.
 */
ATN_API atn_array *atn_phase_array(const atn_phase *phase);

#ifdef __cplusplus
}
#endif
#endif
