/* From B-scans to the surface that the beam meets first, and from that to the needle's axis. A scan has columns along
 * x, rows along y, down into the eye, and scans follow each other along z. */
#ifndef ATN_APPS_NEEDLE_SEGMENT_H
#define ATN_APPS_NEEDLE_SEGMENT_H

#include "base/context.h"

#include <attune/array.h>
#include <attune/image.h>
#include <attune/kernel.h>
#include <attune/needle.h>

/* ---- which pixels are bright (bright.c) ---- */

/* Kernels and arrays for scans of one size, kept from frame to frame. Zeroed: none yet. */
typedef struct needle_bright {
    atn_device *device;
    const atn_ctx *ctx;
    int64_t height, width, words; /* of a scan; words of 32 rows */
    int32_t bits;                 /* of a pixel */
    int64_t batch;                /* scans at a time */
    atn_array *pixels, *above, *median;
    atn_kernel *above_kernel, *median_kernel;
    int32_t *mask; /* owned: of all scans, words x width each; bit k of (word, column) is row 32 word + k */
    int64_t frames;
} needle_bright;

/* Fills b->mask: bright pixels, above `level`, after a median of 3 x 3. */
atn_status needle_bright_find(needle_bright *b, const atn_volume *volume, int32_t level);
void needle_bright_free(needle_bright *b);

/* The level between dark and bright, in pixel values, from the histogram of some scans. */
int32_t needle_bright_level(const atn_volume *volume);

/* ---- the surface (surface.c) ---- */

/* Where the beam meets something first. Zeroed: none yet. */
typedef struct needle_surface {
    const atn_ctx *ctx;
    int64_t frames, width;
    float *row;       /* owned: frames x width; NaN where there is nothing bright */
    int32_t *scratch; /* owned: of all threads */
} needle_surface;

/* Per column the uppermost run of bright pixels in a component of at least `least` pixels, at its peak. */
atn_status needle_surface_find(needle_surface *s, const needle_bright *b, const atn_volume *volume, int32_t least);
void needle_surface_free(needle_surface *s);

/* ---- arcs (arcs.c) ---- */

/* A piece of a scan's surface without a jump. A plain value. */
typedef struct needle_arc {
    int64_t frame, first, last; /* columns */
    double centre[3];           /* of the circle of the needle's radius through it */
    double rms;                 /* of its points from the circle */
    bool round;                 /* it is one */
} needle_arc;

typedef struct needle_arcs {
    const atn_ctx *ctx;
    size_t count, room;
    needle_arc *arc; /* owned */
} needle_arcs;

/* Arcs of at least `least` columns, each with the circle through it. */
atn_status needle_arcs_find(needle_arcs *a, const needle_surface *s, const double spacing[3], double radius,
                            int64_t least);
void needle_arcs_free(needle_arcs *a);

#endif
