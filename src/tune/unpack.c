/* Unpacking gzip: several members may follow each other, as gzip itself allows. */
#include "tune/unpack.h"

#include "base/memory.h"

#include <limits.h>
#include <zlib.h>

enum { PIECE = 1 << 16, WINDOW_GZIP = 15 + 16 };

bool atn_unpack_is_packed(const char *bytes, size_t length) {
    return length >= 2 && (unsigned char)bytes[0] == 0x1f && (unsigned char)bytes[1] == 0x8b;
}

static void *allocate(void *ctx, unsigned count, unsigned bytes) {
    return atn_alloc((const atn_ctx *)ctx, (size_t)count * bytes);
}

static void release(void *ctx, void *block) { atn_free((const atn_ctx *)ctx, block); }

/* Unpacks until the input is used up; what zlib said last. */
static int inflate_all(z_stream *stream, char *piece, size_t limit, atn_text *out, const atn_ctx *ctx,
                       atn_status *status) {
    for (;;) {
        stream->next_out = (Bytef *)piece;
        stream->avail_out = PIECE;
        int code = inflate(stream, Z_NO_FLUSH);
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return code;
        size_t got = PIECE - stream->avail_out;
        if (out->length + got > limit) {
            *status = atn_fail(ctx, ATN_ERR_INPUT, "unpacks to more than %zu bytes", limit);
            return code;
        }
        atn_text_add_bytes(out, piece, got);
        if (out->failed) {
            *status = ATN_ERR_MEMORY;
            return code;
        }
        if (code == Z_STREAM_END) {
            if (!atn_unpack_is_packed((const char *)stream->next_in, stream->avail_in)) return code;
            inflateReset(stream);
        } else if (got == 0 && stream->avail_in == 0)
            return Z_BUF_ERROR;
        if ((*status = atn_check_cancel(ctx))) return code;
    }
}

atn_status atn_unpack(const atn_ctx *ctx, const char *name, const char *bytes, size_t length, size_t limit,
                      atn_text *out, bool *cut) {
    *cut = false;
    if (length > UINT_MAX) return atn_fail(ctx, ATN_ERR_INPUT, "%s: too large to be unpacked", name);
    char *piece = atn_alloc(ctx, PIECE);
    if (!piece) return ATN_ERR_MEMORY;
    z_stream stream = {.next_in = (z_const Bytef *)(uintptr_t)bytes,
                       .avail_in = (uInt)length,
                       .zalloc = allocate,
                       .zfree = release,
                       .opaque = (void *)(uintptr_t)ctx};
    atn_status status = ATN_OK;
    int code = inflateInit2(&stream, WINDOW_GZIP);
    if (code == Z_OK) {
        code = inflate_all(&stream, piece, limit, out, ctx, &status);
        inflateEnd(&stream);
    }
    atn_free(ctx, piece);
    if (status == ATN_ERR_INPUT) return atn_fail_within(ctx, status, "%s", name);
    if (status) return status;
    if (code == Z_MEM_ERROR) return atn_fail_memory(ctx, length, "unpacking");
    if (code != Z_STREAM_END && code != Z_BUF_ERROR)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: is packed with gzip and damaged at byte %zu", name,
                        length - stream.avail_in);
    *cut = code == Z_BUF_ERROR;
    return ATN_OK;
}
