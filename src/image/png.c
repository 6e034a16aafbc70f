/* PNG, by libpng: grey of 1 to 16 bits as stored, palettes and colours by luminance; alpha is left out. */
#include "image/formats.h"

#include <string.h>

bool image_png_begins(const char *head, size_t length) {
    return length >= 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0;
}

#ifndef ATN_HAVE_PNG

atn_status image_png_read(source *s, const atn_image_settings *options, raster *out) {
    (void)options, (void)out;
    return atn_fail(s->ctx, ATN_ERR_UNSUPPORTED,
                    "%s: PNG needs libpng, which this attune was built without; save it as BMP or NPY", s->name);
}

#else

#include "base/memory.h"
#include "base/size.h"

#include <png.h>
#include <stdio.h>

enum { MOST_PACKED = 1032 }; /* bytes that deflate makes of one */

/* A picture while it is read. libpng leaves by longjmp: all that must survive that is here. */
typedef struct job {
    source *s;
    raster *out;
    png_structp png;
    png_infop info;
    png_bytep *row;       /* where each row goes */
    unsigned char *bytes; /* rows of colours, before they are grey */
    size_t refused;       /* allocations refused before we began */
    atn_status status;    /* what went wrong on our side */
} job;

static png_voidp allocate(png_structp png, png_alloc_size_t bytes) {
    return atn_alloc(((const job *)png_get_mem_ptr(png))->s->ctx, bytes);
}

static void release(png_structp png, png_voidp block) { atn_free(((const job *)png_get_mem_ptr(png))->s->ctx, block); }

static void fail(png_structp png, png_const_charp what) {
    job *j = png_get_error_ptr(png);
    if (j->status == ATN_OK && atn_ctx_refused(j->s->ctx) > j->refused) j->status = ATN_ERR_MEMORY;
    if (j->status == ATN_OK)
        j->status = atn_fail(j->s->ctx, ATN_ERR_INPUT, "%s: a damaged PNG: libpng says: %s", j->s->name, what);
    png_longjmp(png, 1);
}

static void warn(png_structp png, png_const_charp what) {
    const job *j = png_get_error_ptr(png);
    atn_log(j->s->ctx, ATN_LOG_INFO, "%s: libpng says: %s", j->s->name, what);
}

static void take(png_structp png, png_bytep to, size_t bytes) {
    job *j = png_get_io_ptr(png);
    j->status = source_copy(j->s, to, bytes);
    if (j->status != ATN_OK) png_error(png, "cut short");
}

/* Stored bytes of all rows, compared with what the file can decompress to. */
static atn_status check_size(const job *j) {
    size_t row, all, width = png_get_image_width(j->png, j->info), height = png_get_image_height(j->png, j->info);
    row = (width * png_get_channels(j->png, j->info) * png_get_bit_depth(j->png, j->info) + 7) / 8 + 1;
    if (atn_size_mul(row, height, &all) && all / MOST_PACKED <= j->s->size) return ATN_OK;
    return atn_fail(j->s->ctx, ATN_ERR_INPUT, "%s: %zu x %zu pixels are more than %zu bytes can hold", j->s->name,
                    width, height, j->s->size);
}

static atn_status make_rows(job *j, bool wide, bool colours) {
    size_t width = png_get_image_width(j->png, j->info), height = png_get_image_height(j->png, j->info);
    size_t step = png_get_rowbytes(j->png, j->info);
    atn_status status = raster_make(j->out, j->s, width, height, wide ? RASTER_U16 : RASTER_U8);
    if (status != ATN_OK) return status;
    if (colours) j->bytes = atn_alloc(j->s->ctx, step * height); /* at most six times that of the raster */
    j->row = atn_alloc(j->s->ctx, height * sizeof *j->row);
    if (!j->row || (colours && !j->bytes)) return ATN_ERR_MEMORY;
    for (size_t y = 0; y < height; ++y) j->row[y] = (colours ? j->bytes : (unsigned char *)j->out->data) + y * step;
    return ATN_OK;
}

static void to_grey(const job *j, bool wide) {
    size_t count = j->out->width * j->out->height;
    for (size_t k = 0; k < count; ++k) {
        if (wide) {
            uint16_t c[3];
            memcpy(c, j->bytes + 6 * k, sizeof c);
            ((uint16_t *)j->out->data)[k] = (uint16_t)raster_luminance(c[0], c[1], c[2]);
        } else {
            const unsigned char *c = j->bytes + 3 * k;
            ((uint8_t *)j->out->data)[k] = (uint8_t)raster_luminance(c[0], c[1], c[2]);
        }
    }
}

static void decode(job *j) {
    png_set_read_fn(j->png, j, take);
    png_read_info(j->png, j->info);
    j->status = check_size(j);
    if (j->status != ATN_OK) return;
    int bits = png_get_bit_depth(j->png, j->info), colour = png_get_color_type(j->png, j->info);
    bool wide = bits == 16, colours = colour & PNG_COLOR_MASK_COLOR;
    if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(j->png);
    if (bits < 8) png_set_packing(j->png);
    if (colour & PNG_COLOR_MASK_ALPHA) png_set_strip_alpha(j->png);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (wide) png_set_swap(j->png);
#endif
    png_set_interlace_handling(j->png);
    png_read_update_info(j->png, j->info);
    j->status = make_rows(j, wide, colours);
    if (j->status != ATN_OK) return;
    png_read_image(j->png, j->row);
    png_read_end(j->png, NULL); /* a file without its end is cut short */
    if (colours) to_grey(j, wide);
    j->out->bits = bits;
    snprintf(j->out->format, sizeof j->out->format, "PNG, %d bits, %s", bits,
             colour == PNG_COLOR_TYPE_PALETTE ? "palette"
             : colours                        ? "RGB"
                                              : "grey");
}

static void decode_or_return(job *j) {
    if (setjmp(png_jmpbuf(j->png)) == 0) decode(j);
}

atn_status image_png_read(source *s, const atn_image_settings *options, raster *out) {
    (void)options;
    job j = {.s = s, .out = out, .refused = atn_ctx_refused(s->ctx)};
    j.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &j, fail, warn, &j, allocate, release);
    if (!j.png)
        return atn_ctx_refused(s->ctx) > j.refused
                   ? ATN_ERR_MEMORY
                   : atn_fail(s->ctx, ATN_ERR_UNSUPPORTED,
                              "%s: libpng differs from the version that attune was built with", s->name);
    j.info = png_create_info_struct(j.png);
    if (j.info)
        decode_or_return(&j);
    else
        j.status = ATN_ERR_MEMORY;
    png_destroy_read_struct(&j.png, &j.info, NULL);
    atn_free(s->ctx, j.row);
    atn_free(s->ctx, j.bytes);
    return j.status;
}

#endif
