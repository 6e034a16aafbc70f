/* A surface in a report or a live page: colours with axes and a colour bar, or 3D; a profile along a line, the height
 * at a click (web/surface.js). Values travel as 16 bits. */
#ifndef ATN_PLOT_SURFACE_H
#define ATN_PLOT_SURFACE_H

#include "base/text.h"

enum { ATN_SURFACE_MOST_SIDE = 512 }; /* pixels of a side in a report; larger ones are thinned out */

/* Not owned. */
typedef struct atn_surface {
    int64_t width, height; /* > 0 */
    const float *values;   /* row after row; what is not finite is a hole */
    const char *unit;      /* "m" or "rad" */
    double spacing_m[2];   /* between columns and rows; 0: not known */
} atn_surface;

/* Which pixels are enough for a picture of `side` pixels along the larger side (0: any size): every so many-th of every
 * so many-th row. */
int64_t atn_surface_step(int64_t width, int64_t height, int64_t side);
/* Every step-th pixel of every step-th row as 16 bits, little-endian: 0 to 65534 from *low to *high, 65535 for holes.
 * `out` has room for them. */
void atn_surface_pack(const atn_surface *surface, int64_t step, double *low, double *high, uint16_t *out);

/* Canvases and controls; the script is handed what follows: showSurface(BOX) in web/surface.js. */
void atn_surface_frame(atn_text *page);
/* The whole: frame, script, values. */
void atn_surface_draw(atn_text *page, const atn_surface *surface);

#endif
