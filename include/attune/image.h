/* Images and volumes: phase maps, heights, interferograms and OCT scans, read from and written to the formats people
 * have. An image is one channel of float; a volume keeps its 8 or 16 bits. docs/formats.md has the formats. */
#ifndef ATTUNE_IMAGE_H
#define ATTUNE_IMAGE_H

#include <attune/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- images ---- */

/* How a file is read; a field left zero takes its default. */
typedef struct atn_image_settings {
    int64_t shape[2]; /* rows, columns: the file is raw float32, little-endian; zeros: the file says what it is */
    int64_t page;     /* of a TIFF that has several, from 0 */
    double scale;     /* values are multiplied by this; default: 1 */
    bool exact;       /* doubles of a file stay doubles as well: atn_image_doubles */
} atn_image_settings;

typedef struct atn_image atn_image;

/* What an image is. A plain value; its texts belong to the image. */
typedef struct atn_image_info {
    const char *format;    /* where it came from: "PNG, 16 bits, grey"; "" when made in memory */
    int64_t width, height; /* > 0 */
    int32_t bits;          /* of a value as it was stored; 32 or 64 when made in memory */
    bool whole;            /* stored as whole numbers from 0 to 2^bits - 1 */
    int64_t pages;         /* of the file; 1 unless it is a TIFF with several */
    size_t invalid;        /* pixels that are NaN */
    double low, high;      /* of the others; zero when there are none */
    const char *unit;      /* "m": values are heights in metres; "": the file does not say */
    double wavelength_m;   /* of the light; 0: the file does not say */
    double spacing_m[2];   /* between columns and between rows; 0: the file does not say */
} atn_image_info;

/* A file; its first bytes say which format it has. Owned by the caller. NULL settings: defaults. Values are as stored:
 * integers become the same numbers, colours their luminance; what is not finite or marked as invalid becomes NaN. */
ATN_API atn_status atn_image_read(atn_ctx *ctx, const char *path, const atn_image_settings *settings, atn_image **out);

/* Copies the pixels, row after row; infinities become NaN. NULL pixels: zeros. */
ATN_API atn_status atn_image_create(atn_ctx *ctx, int64_t width, int64_t height, const float *pixels, atn_image **out);
ATN_API atn_status atn_image_create_doubles(atn_ctx *ctx, int64_t width, int64_t height, const double *pixels,
                                            atn_image **out);
ATN_API void atn_image_free(atn_image *image); /* NULL is fine */

ATN_API atn_image_info atn_image_get_info(const atn_image *image);
ATN_API const float *atn_image_pixels(const atn_image *image); /* row after row, the upper one first */

/* The same as doubles; NULL where the image has none: made from doubles, or read with `exact` from a file of them. */
ATN_API const double *atn_image_doubles(const atn_image *image);

/* Says what the values are, for previews and whoever asks: "m", "rad", at most 7 characters; "": nobody knows. */
ATN_API atn_status atn_image_set_unit(atn_image *image, const char *unit);

/* The format is that of the ending: tif, tiff (float32) or npy (float64 where it has doubles). Written aside and
 * renamed. */
ATN_API atn_status atn_image_write(const atn_image *image, const char *path);

typedef enum atn_colour_map { ATN_COLOUR_VIRIDIS, ATN_COLOUR_GREY, ATN_COLOUR_CYCLIC } atn_colour_map;

/* How a preview looks; a field left zero takes its default. */
typedef struct atn_preview_settings {
    atn_colour_map map; /* ATN_COLOUR_CYCLIC is for wrapped phase: both ends look alike */
    int32_t bits;       /* of a colour: 8 or 16; default: 8 */
    double low, high;   /* values at the ends of the map; both 0: the range of the image */
    bool no_bar;        /* leave out the colour bar with its two numbers */
} atn_preview_settings;

/* A PNG for people: invalid pixels are light grey, and beside the image stands a colour bar. NULL settings: defaults.
 * Written aside and renamed. */
ATN_API atn_status atn_image_write_preview(const atn_image *image, const char *path,
                                           const atn_preview_settings *settings);

/* ---- volumes ---- */

/* How a volume is read; a field left zero takes its default. */
typedef struct atn_volume_settings {
    int64_t shape[3];  /* scans, rows, columns: the file is raw, 8 or 16 bits by its size; zeros: no raw file */
    double spacing[3]; /* between columns, rows, scans; zeros: volume.json says it, or nobody */
} atn_volume_settings;

/* What a volume is. A plain value; its texts belong to the volume or reader. */
typedef struct atn_volume_info {
    const char *format;            /* of its scans: "folder of PNG, 8 bits, grey"; "" when made in memory */
    int64_t frames, height, width; /* > 0 */
    int32_t bits;                  /* 8: uint8_t, 16: uint16_t */
    size_t frame_bytes;            /* height x width x bits / 8 */
    double spacing[3];             /* between columns, rows, scans; zeros: not known */
    const char *unit;              /* of the spacing, as volume.json says it: "mm"; "": not known */
} atn_volume_info;

/* Scan by scan, for volumes that come as a stream or need not lie in memory. */
typedef struct atn_volume_reader atn_volume_reader;

/* A folder of PNG, BMP and TIFF files (2 comes before 10), a TIFF with pages, or a raw file. Owned by the caller. All
 * scans must have one size and one number of bits. */
ATN_API atn_status atn_volume_open(atn_ctx *ctx, const char *path, const atn_volume_settings *settings,
                                   atn_volume_reader **out);
ATN_API atn_volume_info atn_volume_reader_info(const atn_volume_reader *reader);
/* Copies the next scan to `frame`, which has room for frame_bytes; *any is false when there was none left. After a
 * failure the reader can only be closed. */
ATN_API atn_status atn_volume_next(atn_volume_reader *reader, void *frame, bool *any);
ATN_API void atn_volume_close(atn_volume_reader *reader); /* NULL is fine */

typedef struct atn_volume atn_volume;

/* All of it at once. Owned by the caller. */
ATN_API atn_status atn_volume_read(atn_ctx *ctx, const char *path, const atn_volume_settings *settings,
                                   atn_volume **out);
/* The same into a volume that is there, for frame after frame without new memory: what is read must have its shape and
 * bits. After a failure its scans may be of both. */
ATN_API atn_status atn_volume_fill(atn_volume *volume, const char *path, const atn_volume_settings *settings);
/* Copies scans, rows and columns; bits is 8 or 16. NULL data: zeros. NULL spacing: not known. */
ATN_API atn_status atn_volume_create(atn_ctx *ctx, const int64_t shape[3], int32_t bits, const void *data,
                                     const double *spacing, atn_volume **out);
/* The same in memory from which the device copies directly: pinned on a GPU. Freed before the device is closed. */
ATN_API atn_status atn_volume_create_for(atn_device *device, const int64_t shape[3], int32_t bits, const void *data,
                                         const double *spacing, atn_volume **out);
ATN_API void atn_volume_free(atn_volume *volume); /* NULL is fine */

ATN_API atn_volume_info atn_volume_get_info(const atn_volume *volume);
/* A scan, row after row, of uint8_t or uint16_t; scans follow each other without gaps. NULL where there is none. */
ATN_API const void *atn_volume_frame(const atn_volume *volume, int64_t frame);

/* Into a folder that is there: 0000.png and so on, and volume.json with the spacing, if it is known, and its unit
 * ("mm"). A folder that has other scans is refused. Each file is written aside and renamed. */
ATN_API atn_status atn_volume_write(const atn_volume *volume, const char *folder, const char *unit);

#ifdef __cplusplus
}
#endif
#endif
