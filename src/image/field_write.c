/* Heights in the formats of the field: SDF (ISO 25178-71, binary), Zygo MetroPro .dat, Gwyddion's .gwy, and VTK XML
 * image data. All but the second are little-endian. */
#include "image/formats.h"

#include "base/number.h"
#include "cloud/binary.h"
#include "plot/base64.h"

#include <math.h>
#include <string.h>

static double value_at(const image_heights *h, size_t k) { return h->doubles ? h->doubles[k] : (double)h->pixels[k]; }

/* ---- SDF ---- */

atn_status image_sdf_add(const atn_ctx *ctx, const char *path, const image_heights *h, atn_text *out) {
    static const char BLANK[34] = "attune    ";
    if (h->width > UINT16_MAX || h->height > UINT16_MAX)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: SDF has at most 65535 columns and rows, not %zu x %zu", path, h->width,
                        h->height);
    atn_text_add(out, "bISO-1.0");
    atn_text_add_bytes(out, BLANK, sizeof BLANK); /* creator, and two optional dates */
    number_add(out, NUMBER_U16, (double)h->width, false);
    number_add(out, NUMBER_U16, (double)h->height, false);
    for (int k = 0; k < 2; ++k) number_add(out, NUMBER_F64, h->spacing_m[k] > 0 ? h->spacing_m[k] : 1, false);
    number_add(out, NUMBER_F64, 1, false);  /* metres for a value of 1, */
    number_add(out, NUMBER_F64, -1, false); /* its resolution: not known */
    number_add(out, NUMBER_U8, 0, false);   /* not packed, doubles, no sum */
    number_add(out, NUMBER_U8, 7, false);
    number_add(out, NUMBER_U8, 0, false);
    for (size_t k = 0; k < h->width * h->height; ++k) number_add(out, NUMBER_F64, value_at(h, k), false);
    return atn_text_status(out);
}

/* ---- Zygo ---- */

enum {
    ZYGO_HEADER = 834,
    ZYGO_FORMAT = 4,
    ZYGO_SIZE = 6,
    ZYGO_PHASE = 68,
    ZYGO_SCALE = 164,
    ZYGO_WAVELENGTH = 168,
    ZYGO_OBLIQUITY = 176,
    ZYGO_LATERAL = 184,
    ZYGO_RESOLUTION = 218,
    ZYGO_FINEST = 2,
    ZYGO_INVALID = 2147483640
};
static const double FINEST_STEPS = 131072; /* of resolution 2, in a wavelength */

static void set_big(char *header, size_t at, number_type type, double value) {
    char bytes[8];
    size_t n = number_bytes(type);
    number_store(type, value, bytes);
    for (size_t k = 0; k < n; ++k) header[at + k] = bytes[n - 1 - k];
}

atn_status image_zygo_add(const atn_ctx *ctx, const char *path, const image_heights *h, atn_text *out) {
    char header[ZYGO_HEADER] = {0};
    if (!(h->wavelength_m > 0)) return atn_fail(ctx, ATN_ERR_INPUT, "%s: Zygo .dat needs the wavelength", path);
    if (h->width > UINT16_MAX || h->height > UINT16_MAX)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: Zygo .dat has at most 65535 columns and rows, not %zu x %zu", path,
                        h->width, h->height);
    set_big(header, 0, NUMBER_U32, 0x881b036f);
    set_big(header, ZYGO_FORMAT, NUMBER_U16, 1);
    set_big(header, ZYGO_SIZE, NUMBER_U32, ZYGO_HEADER);
    set_big(header, ZYGO_PHASE, NUMBER_U16, (double)h->width);
    set_big(header, ZYGO_PHASE + 2, NUMBER_U16, (double)h->height);
    set_big(header, ZYGO_PHASE + 4, NUMBER_U32, 4 * (double)h->width * (double)h->height);
    set_big(header, ZYGO_SCALE, NUMBER_F32, 0.5);
    set_big(header, ZYGO_WAVELENGTH, NUMBER_F32, h->wavelength_m);
    set_big(header, ZYGO_OBLIQUITY, NUMBER_F32, 1);
    set_big(header, ZYGO_LATERAL, NUMBER_F32, h->spacing_m[0]);
    set_big(header, ZYGO_RESOLUTION, NUMBER_U16, ZYGO_FINEST);
    double step = 0.5 * (double)(float)h->wavelength_m / FINEST_STEPS; /* there and back, as a reader will have it */
    atn_text_add_bytes(out, header, sizeof header);
    for (size_t k = 0; k < h->width * h->height; ++k) {
        double raw = round(value_at(h, k) / step);
        number_add(out, NUMBER_I32, fabs(raw) < ZYGO_INVALID ? raw : ZYGO_INVALID, true); /* NaN, too */
    }
    return atn_text_status(out);
}

/* ---- Gwyddion ---- */

/* A name, a letter for the type; numbers follow. */
static void gwy_item(atn_text *out, const char *name, char type) {
    atn_text_add_bytes(out, name, strlen(name) + 1);
    atn_text_add_bytes(out, &type, 1);
}

/* An object in an item: its name, its bytes. */
static void gwy_object(atn_text *out, const char *item, const char *name, const atn_text *body) {
    if (item) gwy_item(out, item, 'o');
    atn_text_add_bytes(out, name, strlen(name) + 1);
    number_add(out, NUMBER_U32, (double)body->length, false);
    atn_text_add_bytes(out, atn_text_str(body), body->length);
    if (body->failed) out->failed = true;
}

static void gwy_unit(atn_text *out, const char *item, const char *unit) {
    atn_text body = {.ctx = out->ctx};
    gwy_item(&body, "unitstr", 's');
    atn_text_add_bytes(&body, unit, strlen(unit) + 1);
    gwy_object(out, item, "GwySIUnit", &body);
    atn_text_free(&body);
}

/* A field of heights, or of 1 where there are none. Gwyddion knows no holes: heights there are the mean, under the
 * mask. */
static void gwy_field(atn_text *out, const char *item, const image_heights *h, bool mask, double mean) {
    atn_text body = {.ctx = out->ctx};
    bool known = h->spacing_m[0] > 0;
    double dx = known ? h->spacing_m[0] : 1, dy = h->spacing_m[1] > 0 ? h->spacing_m[1] : dx;
    gwy_item(&body, "xres", 'i');
    number_add(&body, NUMBER_U32, (double)h->width, false);
    gwy_item(&body, "yres", 'i');
    number_add(&body, NUMBER_U32, (double)h->height, false);
    gwy_item(&body, "xreal", 'd');
    number_add(&body, NUMBER_F64, dx * (double)h->width, false);
    gwy_item(&body, "yreal", 'd');
    number_add(&body, NUMBER_F64, dy * (double)h->height, false);
    gwy_unit(&body, "si_unit_xy", known ? "m" : "px");
    gwy_unit(&body, "si_unit_z", mask ? "" : h->unit);
    gwy_item(&body, "data", 'D');
    number_add(&body, NUMBER_U32, (double)(h->width * h->height), false);
    for (size_t k = 0; k < h->width * h->height; ++k) {
        double v = value_at(h, k);
        number_add(&body, NUMBER_F64, mask ? !isfinite(v) : isfinite(v) ? v : mean, false);
    }
    gwy_object(out, item, "GwyDataField", &body);
    atn_text_free(&body);
}

atn_status image_gwy_add(const atn_ctx *ctx, const char *path, const image_heights *h, atn_text *out) {
    atn_text body = {.ctx = ctx};
    double sum = 0;
    size_t valid = 0;
    (void)path;
    for (size_t k = 0; k < h->width * h->height; ++k) {
        double v = value_at(h, k);
        if (isfinite(v)) sum += v, ++valid;
    }
    gwy_field(&body, "/0/data", h, false, valid ? sum / (double)valid : 0);
    gwy_item(&body, "/0/data/title", 's');
    atn_text_add_bytes(&body, "Height", 7);
    if (valid < h->width * h->height) gwy_field(&body, "/0/mask", h, true, 0);
    atn_text_add(out, "GWYP");
    gwy_object(out, NULL, "GwyContainer", &body);
    atn_text_free(&body);
    return atn_text_status(out);
}

/* ---- VTK ---- */

atn_status image_vti_add(const atn_ctx *ctx, const char *path, const image_heights *h, atn_text *out) {
    char dx[ATN_NUMBER_TEXT], dy[ATN_NUMBER_TEXT];
    atn_text data = {.ctx = ctx};
    (void)path;
    atn_number_print(h->spacing_m[0] > 0 ? h->spacing_m[0] : 1, dx);
    atn_number_print(h->spacing_m[1] > 0 ? h->spacing_m[1] : 1, dy);
    atn_text_printf(out,
                    "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
                    "header_type=\"UInt64\">\n<ImageData WholeExtent=\"0 %zu 0 %zu 0 0\" Origin=\"0 0 0\" "
                    "Spacing=\"%s %s 1\">\n<Piece Extent=\"0 %zu 0 %zu 0 0\">\n<PointData Scalars=\"height\">\n"
                    "<DataArray type=\"Float64\" Name=\"height\" format=\"binary\">\n",
                    h->width - 1, h->height - 1, dx, dy, h->width - 1, h->height - 1);
    number_add(&data, NUMBER_U64, 8 * (double)(h->width * h->height), false);
    for (size_t k = 0; k < h->width * h->height; ++k) number_add(&data, NUMBER_F64, value_at(h, k), false);
    atn_base64_add(out, (const unsigned char *)atn_text_str(&data), data.length);
    if (data.failed) out->failed = true;
    atn_text_free(&data);
    atn_text_add(out, "\n</DataArray>\n</PointData>\n</Piece>\n</ImageData>\n</VTKFile>\n");
    return atn_text_status(out);
}
