/* Images and volumes: phase maps, height maps, interferograms and OCT scans, read from and written to common formats
 * (docs/formats.md). An image is one channel of float; a volume keeps its 8 or 16 bits. */
#ifndef ATTUNE_IMAGE_H
#define ATTUNE_IMAGE_H

#include <attune/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- images ---- */

/* How a file is read. Fields left at zero take their defaults. */
typedef struct atn_image_settings {
    size_t size;      /* of this struct: ATN_INIT */
    int64_t shape[2]; /* rows, columns of a raw file of little-endian float32; zeros: any other format */
    int64_t page;     /* of a multi-page TIFF, from 0 */
    double scale;     /* values are multiplied by this; default: 1 */
    bool exact;       /* also keep doubles as doubles: atn_image_doubles */
} atn_image_settings;

typedef struct atn_image atn_image;

/* Properties of an image; strings belong to the image. */
typedef struct atn_image_info {
    size_t size;           /* of this struct: ATN_INIT */
    const char *format;    /* of the file: "PNG, 16 bits, grey"; "" if created in memory */
    int64_t width, height; /* > 0 */
    int32_t bits;          /* per stored value; 32 or 64 if created in memory */
    bool whole;            /* stored as integers from 0 to 2^bits - 1 */
    int64_t pages;         /* of the file; 1 unless it is a multi-page TIFF */
    size_t invalid;        /* number of NaN pixels */
    double low, high;      /* range of the others; zeros if there are none */
    const char *unit;      /* "m": heights in metres; "": unknown */
    double wavelength_m;   /* of the light; 0: unknown */
    double spacing_m[2];   /* pixel spacing: between columns, between rows; 0: unknown */
} atn_image_info;

/* Reads a file; the format is recognised by its first bytes. Owned by the caller. NULL settings: defaults. Values are
 * as stored: integers keep their value, colours become luminance; pixels that are not finite or marked invalid become
 * NaN. */
ATN_API atn_status atn_image_read(atn_ctx *ctx, const char *path, const atn_image_settings *settings, atn_image **out);

/* Copies row-major pixels; infinities become NaN. NULL pixels: zeros. */
ATN_API atn_status atn_image_create(atn_ctx *ctx, int64_t width, int64_t height, const float *pixels, atn_image **out);
ATN_API atn_status atn_image_create_doubles(atn_ctx *ctx, int64_t width, int64_t height, const double *pixels,
                                            atn_image **out);
ATN_API void atn_image_free(atn_image *image); /* NULL is allowed */

ATN_API atn_status atn_image_get_info(const atn_image *image, atn_image_info *out);
static inline atn_image_info atn_image_info_of(const atn_image *image) {
    atn_image_info info = ATN_INIT(atn_image_info);
    atn_image_get_info(image, &info);
    return info;
}
ATN_API const float *atn_image_pixels(const atn_image *image); /* row-major, top row first */

/* The same as doubles, if the image was created from doubles or read from a file of doubles with `exact`; otherwise
 * NULL. */
ATN_API const double *atn_image_doubles(const atn_image *image);

/* Sets the unit of values: "m", "rad", at most 7 characters; "": unknown. */
ATN_API atn_status atn_image_set_unit(atn_image *image, const char *unit);

/* Sets the pixel spacing along columns and rows, and the wavelength of the light, for formats that hold them; 0:
 * unknown. */
ATN_API atn_status atn_image_set_scale(atn_image *image, double dx_m, double dy_m, double wavelength_m);

/* The extension decides the format: tif, tiff (float32), npy (float64 if it has doubles), gwy (Gwyddion), vti (VTK
 * XML), and for heights in metres sdf (ISO 25178-71) and dat (Zygo MetroPro, which needs the wavelength). Written to a
 * temporary file, then renamed. */
ATN_API atn_status atn_image_write(const atn_image *image, const char *path);

typedef enum atn_colour_map { ATN_COLOUR_VIRIDIS, ATN_COLOUR_GREY, ATN_COLOUR_CYCLIC } atn_colour_map;

/* Appearance of a preview. Fields left at zero take their defaults. */
typedef struct atn_preview_settings {
    size_t size;        /* of this struct: ATN_INIT */
    atn_colour_map map; /* ATN_COLOUR_CYCLIC is for wrapped phase */
    int32_t bits;       /* per colour channel: 8 or 16; default: 8 */
    double low, high;   /* value range of the colour map; both 0: that of the image */
    bool no_bar;        /* no colour bar */
} atn_preview_settings;

/* Writes a PNG with a colour bar; invalid pixels are light grey. NULL settings: defaults. Written to a temporary file,
 * then renamed. */
ATN_API atn_status atn_image_write_preview(const atn_image *image, const char *path,
                                           const atn_preview_settings *settings);

/* ---- volumes ---- */

/* How a volume is read. Fields left at zero take their defaults. */
typedef struct atn_volume_settings {
    size_t size;       /* of this struct: ATN_INIT */
    int64_t shape[3];  /* scans, rows, columns of a raw file, whose size tells 8 from 16 bits; zeros: not raw */
    double spacing[3]; /* between columns, rows, scans; zeros: from volume.json, if there is one */
} atn_volume_settings;

/* Properties of a volume; strings belong to the volume or reader. */
typedef struct atn_volume_info {
    size_t size;                   /* of this struct: ATN_INIT */
    const char *format;            /* of its scans: "folder of PNG, 8 bits, grey"; "" if created in memory */
    int64_t frames, height, width; /* > 0 */
    int32_t bits;                  /* 8: uint8_t, 16: uint16_t */
    size_t frame_bytes;            /* height x width x bits / 8 */
    double spacing[3];             /* between columns, rows, scans; zeros: unknown */
    const char *unit;              /* of the spacing, from volume.json: "mm"; "": unknown */
} atn_volume_info;

/* Reads scan by scan, for volumes that arrive as a stream or do not fit into memory. */
typedef struct atn_volume_reader atn_volume_reader;

/* A folder of PNG, BMP and TIFF files (in numeric order), a multi-page TIFF, or a raw file. Owned by the caller. All
 * scans must have the same size and bits. */
ATN_API atn_status atn_volume_open(atn_ctx *ctx, const char *path, const atn_volume_settings *settings,
                                   atn_volume_reader **out);
ATN_API atn_status atn_volume_reader_get_info(const atn_volume_reader *reader, atn_volume_info *out);
static inline atn_volume_info atn_volume_reader_info_of(const atn_volume_reader *reader) {
    atn_volume_info info = ATN_INIT(atn_volume_info);
    atn_volume_reader_get_info(reader, &info);
    return info;
}
/* Copies the next scan to `frame`, which has room for frame_bytes; *any is false after the last one. After a failure
 * the reader can only be closed. */
ATN_API atn_status atn_volume_next(atn_volume_reader *reader, void *frame, bool *any);
ATN_API void atn_volume_close(atn_volume_reader *reader); /* NULL is allowed */

typedef struct atn_volume atn_volume;

/* Reads a whole volume. Owned by the caller. */
ATN_API atn_status atn_volume_read(atn_ctx *ctx, const char *path, const atn_volume_settings *settings,
                                   atn_volume **out);
/* Reads into an existing volume, without new memory: shape and bits must be the same. After a failure it may hold scans
 * of both. */
ATN_API atn_status atn_volume_fill(atn_volume *volume, const char *path, const atn_volume_settings *settings);
/* Copies scans, rows and columns; bits is 8 or 16. NULL data: zeros. NULL spacing: unknown. */
ATN_API atn_status atn_volume_create(atn_ctx *ctx, const int64_t shape[3], int32_t bits, const void *data,
                                     const double *spacing, atn_volume **out);
/* The same in pinned host memory, for faster transfers to the device. Freed before the device is closed. */
ATN_API atn_status atn_volume_create_for(atn_device *device, const int64_t shape[3], int32_t bits, const void *data,
                                         const double *spacing, atn_volume **out);
ATN_API void atn_volume_free(atn_volume *volume); /* NULL is allowed */

ATN_API atn_status atn_volume_get_info(const atn_volume *volume, atn_volume_info *out);
static inline atn_volume_info atn_volume_info_of(const atn_volume *volume) {
    atn_volume_info info = ATN_INIT(atn_volume_info);
    atn_volume_get_info(volume, &info);
    return info;
}
/* A scan, row-major, of uint8_t or uint16_t; scans follow each other without gaps. NULL if it does not exist. */
ATN_API const void *atn_volume_frame(const atn_volume *volume, int64_t frame);

/* Writes into an existing folder: 0000.png and so on, and volume.json with the spacing, if known, and its unit ("mm").
 * A folder with other scans is refused. A name that ends with .vti becomes one file of VTK XML, with the spacing and
 * without its unit. Each file is written to a temporary file, then renamed. */
ATN_API atn_status atn_volume_write(const atn_volume *volume, const char *folder, const char *unit);

#ifdef __cplusplus
}
#endif
#endif
