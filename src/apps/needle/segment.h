/* From B-scans to the surface that the beam meets first, and from that to the needle's axis. A scan has columns along
 * x, rows along y, down into the eye, and scans follow each other along z. */
#ifndef ATN_APPS_NEEDLE_SEGMENT_H
#define ATN_APPS_NEEDLE_SEGMENT_H

#include "device/device.h"

#include <attune/array.h>
#include <attune/image.h>
#include <attune/kernel.h>
#include <attune/needle.h>
#include <attune/program.h>

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
    atn_array *pixels[NEEDLE_BATCHES], *above, *median;
    atn_kernel *above_kernel, *median_kernel;
    atn_queue *uploads;                     /* NULL: nothing is copied beside kernels */
    atn_host_memory staged[NEEDLE_BATCHES]; /* pinned: scans on their way that are not pinned themselves */
    atn_event *done[NEEDLE_BATCHES];        /* behind the last work on the pixels; NULL: there was none */
    const atn_volume *volume;               /* not owned; NULL: none is looked at */
    int64_t sent;                           /* batches of it */
} needle_bright;

/* Some scans on the device. A plain value. */
typedef struct needle_batch {
    int32_t slot;      /* below NEEDLE_BATCHES: its arrays are those of the batch that had it before */
    int64_t first;     /* of its scans; */
    atn_array *pixels; /* of them, words of 8 `high` rows a scan, */
    atn_array *median; /* and those that are bright: a byte for eight rows of a column, `high` rows of words a scan */
} needle_batch;
/* Queues what is to be done with a batch. */
typedef atn_status needle_bright_visit(void *user, const needle_batch *batch);

/* Sends first scans to the device where that goes on by itself. Until the next find or end the volume stays. */
atn_status needle_bright_begin(needle_bright *b, const atn_volume *volume);
/* Pixels above `level`, after a median of 3 x 3: all scans, some after the other, the last ones perhaps twice. Waits
 * until nobody needs the volume any more, and ends it. */
atn_status needle_bright_find(needle_bright *b, int32_t level, needle_bright_visit *visit, void *user);
void needle_bright_end(needle_bright *b); /* the volume is nobody's any more */
void needle_bright_free(needle_bright *b);

/* The level between dark and bright, in pixel values, from the histogram of some scans. */
int32_t needle_bright_level(const atn_volume *volume);

/* ---- the surface (surface.c) ---- */

/* Where the beam meets something first. Zeroed but for the first two: none yet. */
typedef struct needle_surface {
    atn_device *device;
    const atn_ctx *ctx;
    int64_t frames, height, width;
    int32_t bits;
    atn_array *row;  /* frames x width, single precision; NaN where there is nothing bright */
    atn_array *seen; /* for each scan 1, or 0: it is missing */
    atn_program *program[NEEDLE_BATCHES];
    atn_array *begin[NEEDLE_BATCHES]; /* the first scan of the batch that each is for, */
    int64_t first[NEEDLE_BATCHES];    /* which is one less than this; 0: none yet */
} needle_surface;

atn_status needle_surface_begin(needle_surface *s, const atn_volume_info *scans);
/* Queues the program needle_surface for a batch: components of fewer than `least` pixels are noise. */
atn_status needle_surface_find(needle_surface *s, const needle_batch *batch, int32_t least);
void needle_surface_free(needle_surface *s);

/* ---- arcs (arcs.c) ---- */

/* A piece of a scan's surface without a jump that is an arc of the needle's radius. A plain value. */
typedef struct needle_arc {
    int64_t frame, first, last; /* columns */
    double centre[3];           /* of the circle through it */
    double rms;                 /* of its points from the circle */
} needle_arc;

/* Zeroed but for the first two: none yet. */
typedef struct needle_arcs {
    atn_device *device;
    const atn_ctx *ctx;
    size_t count, room;
    needle_arc *arc; /* owned: `room` of them */
    atn_program *program;
    atn_array *arcs; /* as the program leaves them */
} needle_arcs;

/* Arcs of at least `least` columns that are round, by the program needle_arcs. */
atn_status needle_arcs_find(needle_arcs *a, const needle_surface *s, const double spacing[3], double radius,
                            int64_t least);
void needle_arcs_free(needle_arcs *a);

#endif
