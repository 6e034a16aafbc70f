/* Raw float32, little-endian, row after row: the shape is given, and must match the size of the file. */
#include "image/formats.h"

#include "base/size.h"
#include "cloud/binary.h"

#include <stdio.h>

atn_status image_raw_read(source *s, const atn_image_settings *options, raster *out) {
    int64_t rows = options->shape[0], columns = options->shape[1], values;
    if (rows <= 0 || columns <= 0)
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: a shape of %lldx%lld; both must be positive", s->name,
                        (long long)rows, (long long)columns);
    if (!atn_i64_mul(rows, columns, &values) || (uint64_t)values != s->size / 4 || s->size % 4)
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: %lldx%lld values of float32 are not the %zu bytes of the file",
                        s->name, (long long)rows, (long long)columns, s->size);
    atn_status status = raster_make(out, s, (size_t)columns, (size_t)rows, RASTER_F32);
    if (status == ATN_OK) status = source_copy(s, out->data, s->size);
    if (status == ATN_OK && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        for (size_t k = 0; k < (size_t)values; ++k) {
            float *to = (float *)out->data + k;
            *to = (float)number_load(NUMBER_F32, to, false);
        }
    out->bits = 32;
    out->pages = 1;
    snprintf(out->format, sizeof out->format, "raw, float32");
    return status;
}
