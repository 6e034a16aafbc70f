/* The form of a surface: figures that people compare (PV, RMS, Sa, Sq), and Zernike polynomials over a round aperture,
 * counted as Noll does: 1 piston, 2 and 3 tilt, 4 power, 5 and 6 astigmatism, 7 and 8 coma, 11 spherical. */
#ifndef ATN_IMAGE_FORM_H
#define ATN_IMAGE_FORM_H

#include "base/context.h"

#include <stddef.h>
#include <stdint.h>

enum { FORM_MOST_TERMS = 231 }; /* radial order 20 */

/* Heights, row after row; what is not finite is a hole. Not owned; one of the two is set. */
typedef struct form_surface {
    int64_t width, height;
    float *single;
    double *doubles;
} form_surface;

/* In pixels: the middle of the first pixel is at 0, 0. */
typedef struct form_aperture {
    double x, y, radius;
} form_aperture;

typedef struct form_figures {
    int64_t valid;
    double low, high, mean;
    double pv;     /* high - low */
    double rms;    /* about the mean */
    double sa, sq; /* mean and root mean square deviation from the least squares plane */
} form_figures;

void form_figures_of(const form_surface *surface, form_figures *out); /* zeros where nothing is valid */

/* About the middle of the valid pixels' bounds, through the farthest of them; radius 0 where there are none. */
form_aperture form_aperture_find(const form_surface *surface);
void form_aperture_cut(const form_surface *surface, const form_aperture *aperture); /* what lies outside: holes */

/* Least squares coefficients of terms 1 to `terms`, in the unit of the heights; each is the RMS that its term has over
 * the full aperture. ATN_ERR_INPUT where the valid pixels do not tell them apart. */
atn_status form_zernike_fit(const atn_ctx *ctx, const form_surface *surface, const form_aperture *aperture,
                            int32_t terms, double *coefficients);
/* Takes terms 1 to `terms` off the heights. */
atn_status form_zernike_subtract(const atn_ctx *ctx, const form_surface *surface, const form_aperture *aperture,
                                 int32_t terms, const double *coefficients);

/* Radial order n and angular order m of term j; m < 0: the sine. */
void form_zernike_orders(int32_t j, int32_t *n, int32_t *m);
const char *form_zernike_name(int32_t j); /* "coma x"; "" for those without a usual name */

#endif
