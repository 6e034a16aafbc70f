/* Zygo MetroPro .dat, big-endian: a header, a block of intensities that is skipped, then phases of 32 bits. Heights are
 * z = raw S O lambda / R in metres: interferometric scale, obliquity, wavelength, resolution of the phase. */
#include "image/formats.h"

#include "base/size.h"
#include "cloud/binary.h"

#include <math.h>
#include <stdio.h>

enum {
    MAGIC = 0x881b036f, /* and the two numbers after it */
    SHORT_HEADER = 834,
    LONG_HEADER = 4096,
    INTENSITY = 52, /* positions of fields: width, height, buckets */
    PHASE = 68,     /* width, height, bytes */
    SCALE = 164,
    WAVELENGTH = 168,
    OBLIQUITY = 176,
    LATERAL = 184,
    RESOLUTION = 218,
    INVALID = 2147483640 /* and above */
};

static const double RESOLUTIONS[] = {4096, 32768, 131072};

typedef struct zygo {
    size_t width, height;
    size_t before; /* bytes of intensities */
    double factor; /* metres for a step of the raw phase */
    double wavelength, lateral;
} zygo;

static size_t format_of(const char *head) { return (size_t)(number_load_u32(head, true) - (uint32_t)MAGIC); }

bool image_zygo_begins(const char *head, size_t length) { return length >= 4 && format_of(head) < 3; }

static size_t whole(const char *header, size_t at) { return (size_t)number_load(NUMBER_U16, header + at, true); }
static double real(const char *header, size_t at) { return number_load(NUMBER_F32, header + at, true); }

static atn_status read_header(source *s, zygo *z) {
    const char *at;
    size_t length;
    atn_status status = source_peek(s, 4, &at, &length);
    if (status == ATN_OK) status = source_take(s, format_of(at) < 2 ? SHORT_HEADER : LONG_HEADER, &at);
    if (status != ATN_OK) return status;
    z->width = whole(at, PHASE);
    z->height = whole(at, PHASE + 2);
    z->before = whole(at, INTENSITY) * whole(at, INTENSITY + 2) * whole(at, INTENSITY + 4) * 2; /* below 2^49 */
    size_t bytes = number_load_u32(at + PHASE + 4, true), resolution = whole(at, RESOLUTION);
    if (bytes != 4 * z->width * z->height)
        return source_wrong(s, "%zu bytes of phase for %zu x %zu pixels; four for each are right", bytes, z->width,
                            z->height);
    if (resolution >= sizeof RESOLUTIONS / sizeof *RESOLUTIONS)
        return source_wrong(s, "a phase resolution of kind %zu; 0, 1 and 2 are read", resolution);
    z->wavelength = real(at, WAVELENGTH);
    z->lateral = real(at, LATERAL);
    z->factor = real(at, SCALE) * real(at, OBLIQUITY) * z->wavelength / RESOLUTIONS[resolution];
    if (!isfinite(z->factor) || z->factor == 0)
        return source_wrong(s, "scale, obliquity and wavelength give no height: %g, %g, %g", real(at, SCALE),
                            real(at, OBLIQUITY), z->wavelength);
    return ATN_OK;
}

static atn_status read_heights(source *s, const zygo *z, raster *out) {
    size_t bytes = 4 * z->width * z->height; /* below 2^34 */
    if (!atn_size_within(z->before, bytes, source_left(s)))
        return source_wrong(s, "%zu bytes of intensities and %zu of phases, and %zu are left", z->before, bytes,
                            source_left(s));
    atn_status status = source_skip(s, z->before);
    if (status == ATN_OK) status = raster_make(out, s, z->width, z->height, RASTER_F32);
    float *to = out->data;
    for (size_t k = 0; status == ATN_OK && k < z->width * z->height; ++k) {
        const char *at;
        status = source_take(s, 4, &at);
        if (status != ATN_OK) break;
        double raw = number_load(NUMBER_I32, at, true);
        to[k] = raw >= INVALID ? NAN : (float)(raw * z->factor);
    }
    return status;
}

atn_status image_zygo_read(source *s, const atn_image_settings *options, raster *out) {
    (void)options;
    zygo z = {0};
    atn_status status = read_header(s, &z);
    if (status == ATN_OK) status = read_heights(s, &z, out);
    out->bits = 32;
    out->unit = "m";
    out->wavelength_m = z.wavelength;
    if (z.lateral > 0 && isfinite(z.lateral)) out->spacing_m[0] = out->spacing_m[1] = z.lateral;
    snprintf(out->format, sizeof out->format, "Zygo MetroPro");
    return status;
}
