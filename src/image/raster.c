/* Pictures between file and image. */
#include "image/raster.h"

#include "base/memory.h"
#include "base/size.h"

#include <string.h>

void raster_free(raster *r) {
    if (r->data) atn_free(r->ctx, r->data);
    r->data = NULL;
}

size_t raster_value_bytes(raster_type type) {
    static const unsigned char bytes[] = {1, 2, 4, 8};
    return bytes[type];
}

atn_status raster_make(raster *r, const source *where, size_t width, size_t height, raster_type type) {
    size_t bytes;
    if (width == 0 || height == 0) return source_wrong(where, "%zu x %zu: an image without pixels", width, height);
    if (!atn_size_mul(width, height, &bytes) || !atn_size_mul(bytes, raster_value_bytes(type), &bytes) ||
        bytes > PTRDIFF_MAX)
        return source_wrong(where, "%zu x %zu pixels are more than any memory holds", width, height);
    r->width = width;
    r->height = height;
    r->type = type;
    r->data = atn_alloc(r->ctx, bytes);
    return r->data ? ATN_OK : ATN_ERR_MEMORY;
}

const char *raster_unit(const char *name) {
    static const char *const UNITS[] = {"m", "rad"};
    for (size_t k = 0; k < sizeof UNITS / sizeof *UNITS; ++k)
        if (strcmp(name, UNITS[k]) == 0) return UNITS[k];
    return NULL;
}

/* Rec. 601, in whole numbers: Y = 0.299 R + 0.587 G + 0.114 B. */
unsigned raster_luminance(unsigned red, unsigned green, unsigned blue) {
    return (299 * red + 587 * green + 114 * blue + 500) / 1000;
}
