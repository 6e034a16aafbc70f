/* NPY as an image: a matrix of real numbers, a row for each row. */
#include "num/npy.h"
#include "base/memory.h"
#include "graph/type.h"
#include "image/formats.h"

#include <stdio.h>

bool image_npy_begins(const char *head, size_t length) { return atn_npy_begins(head, length); }

static atn_status convert(const source *s, const atn_npy *npy, bool exact, raster *out) {
    if (npy->dims != 2)
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: %d dimensions; an image has rows and columns", s->name, npy->dims);
    if (atn_type_is_complex(npy->type))
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: complex elements; an image has real ones", s->name);
    atn_view view = atn_npy_view(npy);
    size_t element = atn_type_bytes(view.type);
    raster_type type = npy->type == ATN_U8            ? RASTER_U8
                       : npy->type == ATN_U16         ? RASTER_U16
                       : npy->type == ATN_DP && exact ? RASTER_F64
                                                      : RASTER_F32;
    atn_status status = raster_make(out, s, (size_t)npy->shape[1], (size_t)npy->shape[0], type);
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < out->width * out->height; ++k) {
        double number[2];
        int64_t whole;
        atn_element_load(view.type, (const char *)view.data + k * element, number, &whole);
        if (type == RASTER_U8)
            ((uint8_t *)out->data)[k] = (uint8_t)whole;
        else if (type == RASTER_U16)
            ((uint16_t *)out->data)[k] = (uint16_t)whole;
        else if (type == RASTER_F64)
            ((double *)out->data)[k] = number[0];
        else
            ((float *)out->data)[k] = atn_type_is_integer(view.type) ? (float)whole : (float)number[0];
    }
    out->bits = (int32_t)element * 8;
    out->unit = raster_unit(npy->unit);
    snprintf(out->format, sizeof out->format, "NPY, %s", npy->dtype);
    return ATN_OK;
}

/* All of it at once: NPY is read by src/num. */
atn_status image_npy_read(source *s, const atn_image_settings *options, raster *out) {
    atn_npy npy;
    atn_status status = source_npy(s, &npy);
    if (status != ATN_OK) return status;
    status = convert(s, &npy, options->exact, out);
    atn_npy_free(&npy);
    return status;
}
