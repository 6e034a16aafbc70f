/* Interferograms of known surfaces: the phase, the wrapped phase with noise, a mask, and the frames that a camera sees
 * while the phase is stepped. For unwrapping. */
#ifndef ATN_SAMPLE_FRINGES_H
#define ATN_SAMPLE_FRINGES_H

#include "base/context.h"

typedef enum atn_fringes_surface {
    ATN_FRINGES_PEAKS,   /* hills and hollows: smooth, no residues */
    ATN_FRINGES_TILT,    /* a plane */
    ATN_FRINGES_ZERNIKE, /* polynomials of a lens: defocus, astigmatism, coma, trefoil, spherical */
    ATN_FRINGES_STEPS,   /* terraces that differ by less than half a turn */
    ATN_FRINGES_SHEAR /* a spiral: the phase turns by 2 pi about a point and jumps along a cut that ends there: residues
                       */
} atn_fringes_surface;

typedef struct atn_fringes_settings {
    int64_t width, height; /* > 0 */
    uint64_t seed;         /* the same seed, the same bytes */
    atn_fringes_surface surface;
    double noise;  /* deviation of the wrapped phase in radians, and of intensities as a share of b; >= 0 */
    double hidden; /* share of the pixels under the mask's discs, in [0, 0.9] */
    int32_t steps; /* frames; 3 or more */
    double turns;  /* from the lowest to the highest phase, about; > 0 */
} atn_fringes_settings;

/* Owns its arrays: atn_fringes_free. Row after row. */
typedef struct atn_fringes {
    double *truth;     /* the phase, radians */
    double *wrapped;   /* with noise, in [-pi, pi); 0 under the mask */
    uint8_t *mask;     /* 1: valid */
    uint8_t *frames;   /* steps x height x width, 8 bits */
    double *angle;     /* of each frame, radians */
    double amplitude;  /* of the intensities, b */
    double background; /* a */
} atn_fringes;

/* On failure *out is empty. */
atn_status atn_fringes_make(const atn_ctx *ctx, const atn_fringes_settings *settings, atn_fringes *out);
void atn_fringes_free(const atn_ctx *ctx, atn_fringes *fringes);

#endif
