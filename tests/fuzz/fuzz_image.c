/* Any bytes as an image or a TIFF with pages: read or refused, without leaks, nothing larger than the bytes justify,
 * and what was read can be written. The first byte picks how it is read: its last bit asks for raw, the rest the page.
 */
#include "image/formats.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_PIXELS = 4 << 20 }; /* larger ones are right, and slow */

static void *limited(void *user, void *block, size_t bytes) {
    (void)user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    return bytes > 64u << 20 ? NULL : realloc(block, bytes);
}

static void use(const atn_ctx *ctx, const atn_image *image) {
    atn_image_info info = atn_image_info_of(image);
    if (info.width <= 0 || info.height <= 0 || info.pages < 1) abort();
    if (!isfinite(info.low) || !isfinite(info.high) || info.low > info.high) abort();
    size_t pixels = (size_t)info.width * (size_t)info.height;
    if (info.invalid > pixels) abort();
    for (size_t k = 0; k < pixels; ++k)
        if (isinf(atn_image_pixels(image)[k])) abort();
    if (pixels > 10000) return;
    atn_text file = {.ctx = ctx};
    if (image_tiff_add(ctx, "a.tif", (size_t)info.width, (size_t)info.height, atn_image_pixels(image), info.unit,
                       info.spacing_m, &file) != ATN_OK)
        abort();
    atn_text_free(&file);
}

static void try_pages(const atn_ctx *ctx, const uint8_t *data, size_t size) {
    source s;
    tiff_pages *pages = NULL;
    if (!image_tiff_begins((const char *)data, size)) return;
    atn_status status = source_of_bytes(ctx, "a.tif", (const char *)data, size, &s);
    if (status == ATN_OK) status = image_tiff_open(&s, &pages);
    for (int64_t k = 0; status == ATN_OK && k < image_tiff_count(pages); ++k) {
        raster scan = {.ctx = ctx};
        status = image_tiff_page(pages, &scan);
        if (status == ATN_OK && scan.width * scan.height > MOST_PIXELS) k = INT64_MAX - 1;
        raster_free(&scan);
    }
    image_tiff_close(pages);
    source_close(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    atn_ctx *ctx;
    atn_image *image;
    const atn_ctx_settings settings = {.resize = limited};
    if (size < 2 || atn_ctx_create(&settings, &ctx) != ATN_OK) return 0;
    atn_image_settings options = {.page = data[0] >> 1};
    if (data[0] & 1)
        options.shape[0] = 1 + (data[0] >> 4), options.shape[1] = (int64_t)(size - 1) / 4 / options.shape[0];
    atn_status status = atn_image_read_bytes(ctx, "an image", (const char *)data + 1, size - 1, &options, &image);
    if (status != ATN_OK && status != ATN_ERR_INPUT && status != ATN_ERR_UNSUPPORTED && status != ATN_ERR_MEMORY)
        abort();
    if (status != ATN_OK && (image || !*atn_ctx_message(ctx))) abort();
    if (status == ATN_OK) use(ctx, image);
    atn_image_free(image);
    try_pages(ctx, data + 1, size - 1);
    if (atn_ctx_bytes(ctx)) abort();
    atn_ctx_free(ctx);
    return 0;
}
