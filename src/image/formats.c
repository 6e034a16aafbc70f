/* The formats of images: detecting the format of a file, and reading it. A new format is a row here. */
#include "image/formats.h"

#include <string.h>

const image_format IMAGE_FORMATS[] = {
    {"PNG", "png", image_png_begins, image_png_read},
    {"TIFF", "tif tiff", image_tiff_begins, image_tiff_read},
    {"BMP", "bmp", image_bmp_begins, image_bmp_read},
    {"NPY", NULL, image_npy_begins, image_npy_read},
    {"Zygo", NULL, image_zygo_begins, image_zygo_read},
    {"SDF", NULL, image_sdf_begins, image_sdf_read},
    {0},
};

/* What people have and we do not read, by its first bytes, with what to do. */
static const struct {
    const char *begins, *advice;
} NOT_READ[] = {
    {"\xff\xd8\xff", "JPEG is not read: it keeps no values; save PNG or TIFF"},
    {"GIF8", "GIF is not read; save PNG"},
    {"P5", "PGM is not read; save PNG or TIFF"},
    {"\x1f\x8b", "packed files are not read; gunzip it first"},
};

const image_format *image_format_of(const char *head, size_t length) {
    for (const image_format *f = IMAGE_FORMATS; f->name; ++f)
        if (f->begins(head, length)) return f;
    return NULL;
}

static atn_status not_known(const source *s, const char *head, size_t length) {
    for (size_t k = 0; k < sizeof NOT_READ / sizeof *NOT_READ; ++k) {
        size_t bytes = strlen(NOT_READ[k].begins);
        if (length >= bytes && memcmp(head, NOT_READ[k].begins, bytes) == 0)
            return atn_fail(s->ctx, ATN_ERR_UNSUPPORTED, "%s: %s", s->name, NOT_READ[k].advice);
    }
    return atn_fail(s->ctx, ATN_ERR_INPUT,
                    "%s: no image that is read: PNG, BMP, TIFF, NPY, Zygo .dat, SDF; raw float32 needs its shape",
                    s->name);
}

atn_status image_read_raster(source *s, const atn_image_settings *options, raster *out) {
    static const atn_image_settings defaults;
    if (!options) options = &defaults;
    *out = (raster){.ctx = s->ctx};
    atn_status status;
    if (options->shape[0] || options->shape[1])
        status = image_raw_read(s, options, out);
    else {
        const char *head;
        size_t length;
        status = source_peek(s, IMAGE_HEAD, &head, &length);
        if (status != ATN_OK) return status;
        const image_format *format = image_format_of(head, length);
        if (!format) return not_known(s, head, length);
        status = format->read(s, options, out);
        if (status == ATN_OK && out->pages == 0) out->pages = 1;
        if (status == ATN_OK && options->page >= out->pages)
            status = atn_fail(s->ctx, ATN_ERR_INPUT, "%s: there is no page %lld; pages are counted from 0", s->name,
                              (long long)options->page);
    }
    if (status != ATN_OK) raster_free(out);
    return status;
}
