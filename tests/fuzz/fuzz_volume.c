/* Any bytes as a volume: volume.json up to the first zero byte, then a raw file, a TIFF with pages or a picture: read
 * or refused, without leaks, and all scans that it is said to have are there. */
#include "scratch.h"

#include "image/volume.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *limited(void *user, void *block, size_t bytes) {
    (void)user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    return bytes > 64u << 20 ? NULL : realloc(block, bytes);
}

static void use(const atn_volume *volume) {
    atn_volume_info info = atn_volume_info_of(volume);
    volatile unsigned char sum = 0;
    if (info.frames < 1 || info.height < 1 || info.width < 1 || (info.bits != 8 && info.bits != 16)) abort();
    for (int64_t k = 0; k < info.frames; ++k) {
        const unsigned char *frame = atn_volume_frame(volume, k);
        sum = (unsigned char)(sum + frame[0] + frame[info.frame_bytes - 1]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t notes = zero ? (size_t)(zero - data) : size, rest = zero ? size - notes - 1 : 0;
    const char *bytes = zero ? (const char *)zero + 1 : "";
    bool tiff = image_tiff_begins(bytes, rest), png = rest > 4 && memcmp(bytes, "\x89PNG", 4) == 0;
    atn_ctx *ctx;
    atn_volume *volume;
    const atn_ctx_settings settings = {.resize = limited};
    scratch_begin();
    if (atn_ctx_create(&settings, &ctx) != ATN_OK) return 0;
    scratch_write("volume.json", data, notes);
    const char *path = scratch_write(tiff ? "scan.tif" : png ? "1.png" : "scan.raw", bytes, rest);
    atn_status status = atn_volume_read(ctx, png ? scratch_dir : path, NULL, &volume);
    if (status != ATN_OK && status != ATN_ERR_INPUT && status != ATN_ERR_UNSUPPORTED && status != ATN_ERR_MEMORY)
        abort();
    if (status != ATN_OK && (volume || !*atn_ctx_message(ctx))) abort();
    if (status == ATN_OK) use(volume);
    atn_volume_free(volume);
    if (atn_ctx_bytes(ctx)) abort();
    atn_ctx_free(ctx);
    scratch_empty();
    return 0;
}
