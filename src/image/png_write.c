/* PNG written with zlib alone: signature, IHDR, PLTE where there is a palette, one IDAT, IEND. */
#include "image/formats.h"

#include "base/memory.h"
#include "base/size.h"

#include <zlib.h>

enum { PIECE = 1 << 15, MOST_CHUNK = 0x7fffffff };

static void put_u32(unsigned char to[4], uint32_t value) {
    for (int k = 0; k < 4; ++k) to[k] = (unsigned char)(value >> (24 - 8 * k));
}

static void add_u32(atn_text *out, uint32_t value) {
    unsigned char bytes[4];
    put_u32(bytes, value);
    atn_text_add_bytes(out, (const char *)bytes, 4);
}

/* Sets the length of the chunk that began at `start`, and adds its check. */
static void end_chunk(atn_text *out, size_t start) {
    if (out->failed) return;
    size_t length = out->length - start - 8;
    put_u32((unsigned char *)out->data + start, (uint32_t)length);
    add_u32(out, (uint32_t)crc32_z(0, (const Bytef *)out->data + start + 4, length + 4));
}

static size_t begin_chunk(atn_text *out, const char *name) {
    size_t start = out->length;
    add_u32(out, 0);
    atn_text_add_bytes(out, name, 4);
    return start;
}

static void *allocate(void *ctx, unsigned count, unsigned bytes) {
    return atn_alloc((const atn_ctx *)ctx, (size_t)count * bytes);
}

static void release(void *ctx, void *block) { atn_free((const atn_ctx *)ctx, block); }

/* What was packed of the bytes; all of it when they are the last. */
static void pack(z_stream *stream, const unsigned char *bytes, size_t length, bool last, char *piece, atn_text *out) {
    do {
        uInt part = length > PIECE ? PIECE : (uInt)length;
        stream->next_in = (z_const Bytef *)(uintptr_t)bytes;
        stream->avail_in = part;
        bytes += part;
        length -= part;
        do {
            stream->next_out = (Bytef *)piece;
            stream->avail_out = PIECE;
            deflate(stream, last && length == 0 ? Z_FINISH : Z_NO_FLUSH);
            atn_text_add_bytes(out, piece, PIECE - stream->avail_out);
        } while (stream->avail_out == 0);
    } while (length);
}

static atn_status add_rows(const atn_ctx *ctx, const png_picture *p, size_t row, atn_text *out) {
    z_stream stream = {.zalloc = allocate, .zfree = release, .opaque = (void *)(uintptr_t)ctx};
    char *piece = atn_alloc(ctx, PIECE);
    if (!piece) return ATN_ERR_MEMORY;
    atn_status status =
        deflateInit(&stream, p->quick ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION) == Z_OK ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t y = 0; status == ATN_OK && y < p->height; ++y) {
        pack(&stream, (const unsigned char *)"", 1, false, piece, out); /* no filter */
        pack(&stream, p->rows + y * row, row, y + 1 == p->height, piece, out);
        status = atn_check_cancel(ctx);
    }
    deflateEnd(&stream);
    atn_free(ctx, piece);
    return status;
}

atn_status image_png_add(const atn_ctx *ctx, const char *path, const png_picture *p, atn_text *out) {
    static const unsigned char channels[] = {1, 0, 3, 1};
    size_t row = (p->width * channels[p->colour] * (size_t)p->bits + 7) / 8, all;
    if (!atn_size_mul(row, p->height, &all) || all > MOST_CHUNK / 2)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: %zu x %zu pixels are too many for a PNG; write tif or npy", path,
                        p->width, p->height);
    atn_text_add_bytes(out, "\x89PNG\r\n\x1a\n", 8);
    size_t chunk = begin_chunk(out, "IHDR");
    add_u32(out, (uint32_t)p->width);
    add_u32(out, (uint32_t)p->height);
    const char kind[5] = {(char)p->bits, (char)p->colour};
    atn_text_add_bytes(out, kind, sizeof kind);
    end_chunk(out, chunk);
    if (p->colours) {
        chunk = begin_chunk(out, "PLTE");
        atn_text_add_bytes(out, (const char *)p->palette, 3 * p->colours);
        end_chunk(out, chunk);
    }
    chunk = begin_chunk(out, "IDAT");
    atn_status status = add_rows(ctx, p, row, out);
    if (status != ATN_OK) return status;
    end_chunk(out, chunk);
    end_chunk(out, begin_chunk(out, "IEND"));
    return atn_text_status(out);
}
