/* What the tests of images share: small files of every format, made here byte by byte, and a place to put them. */
#ifndef ATN_TESTS_IMAGEKIT_H
#define ATN_TESTS_IMAGEKIT_H

#include "testkit.h"

#include "image/formats.h"

enum { KIT_W = 3, KIT_H = 2 };

/* The pixels of every file, 3 x 2: 0 1 2 / 10 20 200, or what `factor` makes of them. */
extern const float KIT_PIXELS[KIT_W * KIT_H];

/* Bytes of a file that are put together; freed with atn_text_free. */
typedef struct kit_image {
    const char *name;
    void (*make)(atn_text *out); /* appends the file */
    double factor;               /* its pixels over KIT_PIXELS */
    const char *format;          /* as its info says */
} kit_image;

/* One of every format and way of storing it that can be read here; ends with a row without name. */
extern const kit_image KIT_IMAGES[];

/* Files whose header is a template; fields that a test spoils. */
void kit_bmp(atn_text *out, int32_t width, int32_t height, int bits);
void kit_zygo(atn_text *out, unsigned format, unsigned width, unsigned height, unsigned buckets);
void kit_sdf(atn_text *out, unsigned width, unsigned height, int type);
void kit_png(atn_text *out, int bits, int colour);
void kit_put(atn_text *out, size_t at, const char *bytes, size_t length); /* over what is there */

/* A TIFF by libtiff: pages of 3 x 2 x `samples`, packed as said, in tiles where `tile` is not 0. */
typedef struct kit_tiff_kind {
    int bits, format, samples, photometric, packing, tile, pages;
} kit_tiff_kind;
void kit_tiff(atn_text *out, const kit_tiff_kind *kind);

/* Writes dir/name. */
void kit_save(const char *dir, const char *name, const atn_text *bytes);
/* dir/name in a buffer that the next call overwrites; four are kept apart. */
const char *kit_path(const char *dir, const char *name);

/* The image is KIT_PIXELS times the factor. */
void kit_same_image(const atn_image *image, double factor);

/* Does the work with the n-th allocation failing, for every n until it goes well; nothing may stay behind. */
void kit_walk(atn_status (*work)(atn_ctx *ctx, const void *given), const void *given);

#endif
