/* Phase shifting: from N camera frames of one interferogram, its phase stepped between them, to wrapped phase. A pixel
 * of frame k has I_k = a + b cos(phi + d_k); phi comes from a least squares fit of all frames, or for five steps of 90
 * degrees from Hariharan's weights, which forgive a wrong step. Made once for a size and a device, run stack by stack.
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

/* What holds for all stacks. A field left zero takes its default. */
typedef struct atn_phase_settings {
    int32_t bits;        /* of the phase: 32 or 64; default 32 */
    int32_t steps;       /* frames of a stack, ATN_PHASE_LEAST_STEPS or more; default 4 */
    const double *angle; /* d_k in radians, one for each frame; NULL: -180 to 180 degrees by 90 where there are five
                            (Hariharan's weights), else 360 degrees in equal steps from 0 */
    double least;        /* pixels with a lesser modulation b are not valid, >= 0; default: 0, and then b = 0 is not */
    double most;         /* a pixel that reaches this in any frame is saturated and not valid; default: none is */
} atn_phase_settings;

/* Refused where the angles do not tell a, b and phi apart. Owned by the caller, freed before the device is closed; used
 * by one thread at a time. NULL settings: defaults. */
ATN_API atn_status atn_phase_create(atn_device *device, int64_t width, int64_t height,
                                    const atn_phase_settings *settings, atn_phase **out);
ATN_API void atn_phase_free(atn_phase *phase); /* NULL is fine */

/* `frames`: as many images as there are steps, row after row without gaps. `out`: floats or doubles, as bits says, in
 * [-pi, pi], NaN where not valid. `modulation`: b, 0 where not valid; a quality to weigh pixels with. Each may be NULL.
 */
ATN_API atn_status atn_phase_run(atn_phase *phase, const float *const *frames, void *out, float *modulation);

/* The last run's phase where the device has it: a matrix of the image's size, there until the next run; theirs. */
ATN_API atn_array *atn_phase_array(const atn_phase *phase);

#ifdef __cplusplus
}
#endif
#endif
