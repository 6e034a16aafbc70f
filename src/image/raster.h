/* A picture on its way from a file into an image or a volume: one channel of bytes, 16-bit numbers, floats or doubles,
 * and the metadata of the file. All readers produce these. */
#ifndef ATN_IMAGE_RASTER_H
#define ATN_IMAGE_RASTER_H

#include "cloud/source.h"

typedef enum raster_type { RASTER_U8, RASTER_U16, RASTER_F32, RASTER_F64 } raster_type;

/* A plain value; start it as {.ctx = ctx}. */
typedef struct raster {
    const atn_ctx *ctx;
    size_t width, height;
    raster_type type;
    void *data; /* owned; row after row, the upper one first, without gaps */
    int32_t bits;
    int64_t pages;       /* of the file; 0 and 1: one */
    char format[64];     /* "PNG, 16 bits, grey" */
    const char *unit;    /* a literal: "m" for heights; NULL: not known */
    double wavelength_m; /* 0: not known */
    double spacing_m[2]; /* between columns, rows; 0: not known */
} raster;

void raster_free(raster *r); /* zeroed ones are fine */

size_t raster_value_bytes(raster_type type);

/* Room for width x height values. The caller has held the size against the bytes of the file; no pixels and sizes that
 * no memory has are refused. */
atn_status raster_make(raster *r, const source *where, size_t width, size_t height, raster_type type);

/* The literal of a unit that attune writes; NULL: none of these. */
const char *raster_unit(const char *name);

/* The luminance of 8 or 16-bit colours, rounded; of greys the grey itself. */
unsigned raster_luminance(unsigned red, unsigned green, unsigned blue);

#endif
