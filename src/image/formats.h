/* The table of image formats, and the readers that its rows name: one file for each format. */
#ifndef ATN_IMAGE_FORMATS_H
#define ATN_IMAGE_FORMATS_H

#include "base/text.h"
#include "image/raster.h"

#include <attune/image.h>

typedef struct image_format {
    const char *name;
    const char *endings;                             /* of files that are scans in a folder: "tif tiff"; NULL: none */
    bool (*begins)(const char *head, size_t length); /* is it surely this format? */
    atn_status (*read)(source *s, const atn_image_settings *options, raster *out);
} image_format;

extern const image_format IMAGE_FORMATS[]; /* ends with a row without name */

enum { IMAGE_HEAD = 16 }; /* bytes that tell a format */
const image_format *image_format_of(const char *head, size_t length);

/* As atn_image_read, for a source and for bytes in memory. */
atn_status image_read_raster(source *s, const atn_image_settings *options, raster *out);
atn_status atn_image_read_bytes(const atn_ctx *ctx, const char *name, const char *bytes, size_t length,
                                const atn_image_settings *options, atn_image **out);

bool image_png_begins(const char *head, size_t length);
bool image_bmp_begins(const char *head, size_t length);
bool image_tiff_begins(const char *head, size_t length);
bool image_npy_begins(const char *head, size_t length);
bool image_zygo_begins(const char *head, size_t length);
bool image_sdf_begins(const char *head, size_t length);

atn_status image_png_read(source *s, const atn_image_settings *options, raster *out);
atn_status image_bmp_read(source *s, const atn_image_settings *options, raster *out);
atn_status image_tiff_read(source *s, const atn_image_settings *options, raster *out);
atn_status image_npy_read(source *s, const atn_image_settings *options, raster *out);
atn_status image_zygo_read(source *s, const atn_image_settings *options, raster *out);
atn_status image_sdf_read(source *s, const atn_image_settings *options, raster *out);
atn_status image_raw_read(source *s, const atn_image_settings *options, raster *out);

/* A whole TIFF file of float32, one strip. unit: of its values, for the description "unit=m"; "": not known. spacing_m:
 * between columns and rows, also in the description and as resolution; NULL or 0: not known. */
atn_status image_tiff_add(const atn_ctx *ctx, const char *path, size_t width, size_t height, const float *pixels,
                          const char *unit, const double *spacing_m, atn_text *out);

/* Heights to be written. Not owned; one of the two arrays is set, NaN where there is none. */
typedef struct image_heights {
    size_t width, height;
    const float *pixels;
    const double *doubles;
    const char *unit;
    double wavelength_m, spacing_m[2]; /* 0: not known */
} image_heights;
atn_status image_sdf_add(const atn_ctx *ctx, const char *path, const image_heights *heights, atn_text *out);
atn_status image_zygo_add(const atn_ctx *ctx, const char *path, const image_heights *heights, atn_text *out);
atn_status image_gwy_add(const atn_ctx *ctx, const char *path, const image_heights *heights, atn_text *out);
atn_status image_vti_add(const atn_ctx *ctx, const char *path, const image_heights *heights, atn_text *out);

/* A whole PNG file. `rows`: big-endian samples, row after row without gaps; colour: 0 grey, 2 RGB, 3 palette (of
 * `colours` x RGB); bits: of a sample, 1 to 16. */
typedef struct png_picture {
    size_t width, height;
    int bits, colour;
    const unsigned char *rows, *palette;
    size_t colours;
    bool quick; /* pack less, and faster: noise does not pack anyway */
} png_picture;
atn_status image_png_add(const atn_ctx *ctx, const char *path, const png_picture *picture, atn_text *out);

const atn_ctx *image_ctx(const atn_image *image);

/* A TIFF whose pages are read one after the other. */
typedef struct tiff_pages tiff_pages;
atn_status image_tiff_open(source *s, tiff_pages **out); /* the source must outlive it */
int64_t image_tiff_count(const tiff_pages *pages);
atn_status image_tiff_page(tiff_pages *pages, raster *out); /* the next one; there is one left */
void image_tiff_close(tiff_pages *pages);                   /* NULL is fine */

#endif
