/* From B-scans to the surface that the beam meets first, and from that to the needle's axis. A scan has columns along
 * x, rows along y, down into the eye, and scans follow each other along z. */
#ifndef ATN_APPS_NEEDLE_SEGMENT_H
#define ATN_APPS_NEEDLE_SEGMENT_H

#include "device/device.h"

#include <attune/array.h>
#include <attune/image.h>
#include <attune/kernel.h>
#include <attune/needle.h>

/* ---- which pixels are bright (bright.c) ---- */

enum { NEEDLE_BATCHES = 4 };                  /* of scans that are on their way at once, at most */
enum { NEEDLE_ROWS = 8, NEEDLE_COLUMNS = 4 }; /* of bright pixels in a word */

/* Kernels and arrays for scans of one size, kept from frame to frame. Zeroed but for the first two: none yet. */
typedef struct needle_bright {
    atn_device *device;
    const atn_ctx *ctx;
    int64_t frames, height, width;
    int64_t high, wide;            /* of a scan, in words of bright pixels */
    int32_t bits;                  /* of a pixel */
    int64_t batch, batches, slots; /* scans at a time; how many times; of them on their way */
    atn_array *pixels[NEEDLE_BATCHES], *median[NEEDLE_BATCHES], *above;
    atn_kernel *above_kernel, *median_kernel;
    atn_queue *uploads;       /* NULL: nothing is copied beside kernels */
    const atn_volume *volume; /* not owned; NULL: none is looked at */
    int64_t sent;             /* batches of it */
} needle_bright;

/* Bright pixels of some scans, a byte for eight rows of a column, whole words of a row: bit k of (r, c) is row 8 r + k.
 */
typedef void needle_bright_visit(void *user, const uint8_t *mask, int64_t first, int64_t count);

/* Sends first scans to the device where that goes on by itself. Until the next find or end the volume stays. */
atn_status needle_bright_begin(needle_bright *b, const atn_volume *volume);
/* Pixels above `level`, after a median of 3 x 3: all scans, some after the other. Ends it. */
atn_status needle_bright_find(needle_bright *b, int32_t level, needle_bright_visit *visit, void *user);
void needle_bright_end(needle_bright *b); /* the volume is nobody's any more */
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

atn_status needle_surface_begin(needle_surface *s, int64_t frames, int64_t width);
/* Per column the uppermost run of bright pixels in a component of at least `least` pixels, at its peak. Of `count`
 * scans from the `first` one on, whose bright pixels are `mask`. */
void needle_surface_find(needle_surface *s, const atn_volume *volume, const uint8_t *mask, int64_t first, int64_t count,
                         int32_t least);
void needle_surface_free(needle_surface *s);

/* ---- arcs (arcs.c) ---- */

/* A piece of a scan's surface without a jump. A plain value. */
typedef struct needle_arc {
    int64_t frame, first, last; /* columns */
    double centre[3];           /* of the circle of the needle's radius through it, if it may be one */
    double rms;                 /* of its points from the circle; infinite: it is too narrow or too wide */
    bool round;                 /* it is one */
} needle_arc;

typedef struct needle_arcs {
    const atn_ctx *ctx;
    size_t count, room;
    int64_t scans;
    needle_arc *arc;  /* owned: `room` of them */
    int64_t *of_scan; /* owned: how many each of `scans` has, while they are looked for */
} needle_arcs;

/* Arcs of at least `least` columns, each with the circle through it. */
atn_status needle_arcs_find(needle_arcs *a, const needle_surface *s, const double spacing[3], double radius,
                            int64_t least);
void needle_arcs_free(needle_arcs *a);

#endif
