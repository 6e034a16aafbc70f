/* Images: creating them from files and from memory, querying, writing. */
#include "base/file.h"
#include "base/memory.h"
#include "base/size.h"
#include "base/sized.h"
#include "image/formats.h"
#include "num/npy.h"

#include <math.h>
#include <string.h>

struct atn_image {
    const atn_ctx *ctx;
    size_t width, height;
    float *pixels;   /* owned */
    double *doubles; /* owned; NULL: there are none */
    int32_t bits;
    bool whole;
    int64_t pages;
    char format[64];
    char unit[8];
    double wavelength_m, spacing_m[2];
};

/* Doubles are scaled before they are rounded. */
static float as_float(const raster *r, size_t k, double scale) {
    if (r->type == RASTER_U8) return ((const uint8_t *)r->data)[k];
    if (r->type == RASTER_U16) return ((const uint16_t *)r->data)[k];
    double *value = (double *)r->data + k;
    *value *= scale;
    float rounded = (float)*value;
    if (!isfinite(rounded)) *value = NAN; /* valid in both or in none */
    return rounded;
}

/* Takes the floats and the doubles of a raster over; other numbers are converted. `scale` is not 0. */
static atn_status image_of(raster *r, double scale, atn_image **out) {
    size_t count = r->width * r->height; /* raster_make has checked it */
    float *pixels = r->type == RASTER_F32 ? r->data : NULL;
    double *doubles = r->type == RASTER_F64 ? r->data : NULL, left = doubles ? 1 : scale;
    atn_image *image = atn_zalloc(r->ctx, sizeof *image);
    if (!image) return ATN_ERR_MEMORY;
    if (!pixels) {
        size_t bytes;
        pixels = atn_size_mul(count, sizeof *pixels, &bytes) ? atn_alloc(r->ctx, bytes) : NULL;
        for (size_t k = 0; pixels && k < count; ++k) pixels[k] = as_float(r, k, scale);
    } else
        r->data = NULL;
    if (!pixels) {
        atn_free(r->ctx, image);
        return atn_fail_memory(r->ctx, count, "pixels");
    }
    if (doubles) r->data = NULL;
    for (size_t k = 0; k < count; ++k) {
        if (left != 1) pixels[k] = (float)((double)pixels[k] * left);
        if (!isfinite(pixels[k])) pixels[k] = NAN;
    }
    *image = (atn_image){.ctx = r->ctx,
                         .width = r->width,
                         .height = r->height,
                         .pixels = pixels,
                         .doubles = doubles,
                         .bits = r->bits,
                         .whole = r->type == RASTER_U8 || r->type == RASTER_U16,
                         .pages = r->pages,
                         .wavelength_m = r->wavelength_m,
                         .spacing_m = {r->spacing_m[0], r->spacing_m[1]}};
    memcpy(image->format, r->format, sizeof image->format);
    if (r->unit && scale == 1) memcpy(image->unit, r->unit, strlen(r->unit) + 1);
    *out = image;
    return ATN_OK;
}

static atn_status read_image(source *s, const atn_image_settings *options, atn_image **out) {
    double scale = options && options->scale != 0 ? options->scale : 1;
    if (!isfinite(scale)) return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: the scale must be a finite number", s->name);
    if (options && options->page < 0)
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: page %lld; pages are counted from 0", s->name,
                        (long long)options->page);
    raster r;
    atn_status status = image_read_raster(s, options, &r);
    if (status == ATN_OK) status = image_of(&r, scale, out);
    raster_free(&r);
    return status;
}

atn_status atn_image_read(atn_ctx *ctx, const char *path, const atn_image_settings *given, atn_image **out) {
    atn_image_settings settings;
    source s;
    *out = NULL;
    atn_status status = ATN_TAKE(ctx, atn_image_settings, given, &settings);
    if (status != ATN_OK) return status;
    status = source_open(ctx, path, &s);
    if (status == ATN_OK) status = read_image(&s, &settings, out);
    source_close(&s);
    return status;
}

atn_status atn_image_read_bytes(const atn_ctx *ctx, const char *name, const char *bytes, size_t length,
                                const atn_image_settings *options, atn_image **out) {
    source s;
    *out = NULL;
    atn_status status = source_of_bytes(ctx, name, bytes, length, &s);
    if (status == ATN_OK) status = read_image(&s, options, out);
    source_close(&s);
    return status;
}

static atn_status create(atn_ctx *ctx, int64_t width, int64_t height, raster_type type, const void *pixels,
                         atn_image **out) {
    *out = NULL;
    size_t count, bytes = raster_value_bytes(type);
    if (width <= 0 || height <= 0)
        return atn_fail(ctx, ATN_ERR_INPUT, "an image of %lld x %lld pixels; both sizes must be positive",
                        (long long)width, (long long)height);
    if (!atn_size_mul((size_t)width, (size_t)height, &count) || count > PTRDIFF_MAX / bytes)
        return atn_fail_memory(ctx, SIZE_MAX, "pixels");
    raster r = {.ctx = ctx,
                .width = (size_t)width,
                .height = (size_t)height,
                .type = type,
                .bits = (int32_t)bytes * 8,
                .pages = 1,
                .data = atn_zalloc(ctx, count * bytes)};
    if (!r.data) return ATN_ERR_MEMORY;
    if (pixels) memcpy(r.data, pixels, count * bytes);
    atn_status status = image_of(&r, 1, out);
    raster_free(&r);
    return status;
}

atn_status atn_image_create(atn_ctx *ctx, int64_t width, int64_t height, const float *pixels, atn_image **out) {
    return create(ctx, width, height, RASTER_F32, pixels, out);
}

atn_status atn_image_create_doubles(atn_ctx *ctx, int64_t width, int64_t height, const double *pixels,
                                    atn_image **out) {
    return create(ctx, width, height, RASTER_F64, pixels, out);
}

void atn_image_free(atn_image *image) {
    if (!image) return;
    atn_free(image->ctx, image->doubles);
    atn_free(image->ctx, image->pixels);
    atn_free(image->ctx, image);
}

atn_status atn_image_get_info(const atn_image *image, atn_image_info *out) {
    atn_image_info info = {.format = image->format,
                           .width = (int64_t)image->width,
                           .height = (int64_t)image->height,
                           .bits = image->bits,
                           .whole = image->whole,
                           .pages = image->pages,
                           .unit = image->unit,
                           .wavelength_m = image->wavelength_m,
                           .spacing_m = {image->spacing_m[0], image->spacing_m[1]}};
    size_t count = image->width * image->height;
    float low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < count; ++k) {
        float value = image->pixels[k];
        if (isnan(value)) ++info.invalid;
        if (value < low) low = value; /* never for a NaN */
        if (value > high) high = value;
    }
    if (info.invalid < count) {
        info.low = (double)low;
        info.high = (double)high;
    }
    return ATN_GIVE(image->ctx, atn_image_info, &info, out);
}

const float *atn_image_pixels(const atn_image *image) { return image->pixels; }
const double *atn_image_doubles(const atn_image *image) { return image->doubles; }

atn_status atn_image_set_unit(atn_image *image, const char *unit) {
    if (strlen(unit) >= sizeof image->unit)
        return atn_fail(image->ctx, ATN_ERR_INPUT, "'%s' is too long for a unit; it has at most %zu characters", unit,
                        sizeof image->unit - 1);
    memcpy(image->unit, unit, strlen(unit) + 1);
    return ATN_OK;
}

atn_status atn_image_set_scale(atn_image *image, double dx_m, double dy_m, double wavelength_m) {
    if (!(dx_m >= 0 && dx_m < INFINITY) || !(dy_m >= 0 && dy_m < INFINITY) ||
        !(wavelength_m >= 0 && wavelength_m < INFINITY))
        return atn_fail(image->ctx, ATN_ERR_INPUT,
                        "a spacing of %g and %g m and a wavelength of %g m; none is negative", dx_m, dy_m,
                        wavelength_m);
    image->spacing_m[0] = dx_m;
    image->spacing_m[1] = dy_m;
    image->wavelength_m = wavelength_m;
    return ATN_OK;
}

/* Formats of the field. */
static const struct {
    const char *ending;
    atn_status (*add)(const atn_ctx *ctx, const char *path, const image_heights *heights, atn_text *out);
    bool metres; /* it holds heights only */
} FIELD[] = {{"sdf", image_sdf_add, true},
             {"dat", image_zygo_add, true},
             {"gwy", image_gwy_add, false},
             {"vti", image_vti_add, false}};
enum { N_FIELD = sizeof FIELD / sizeof *FIELD };

atn_status atn_image_write(const atn_image *image, const char *path) {
    if (source_has_ending(path, "npy")) {
        atn_view view = {.type = image->doubles ? ATN_DP : ATN_SP,
                         .rank = 2,
                         .size = {(int64_t)image->width, (int64_t)image->height},
                         .pitch = (int64_t)image->width,
                         .data = image->doubles ? (void *)image->doubles : image->pixels};
        return atn_npy_write_unit(image->ctx, path, &view, image->unit);
    }
    atn_text file = {.ctx = image->ctx};
    atn_status status = ATN_OK;
    const image_heights heights = {image->width,
                                   image->height,
                                   image->pixels,
                                   image->doubles,
                                   image->unit,
                                   image->wavelength_m,
                                   {image->spacing_m[0], image->spacing_m[1]}};
    size_t k = 0;
    while (k < N_FIELD && !source_has_ending(path, FIELD[k].ending)) ++k;
    if (source_has_ending(path, "tif tiff"))
        status = image_tiff_add(image->ctx, path, image->width, image->height, image->pixels, image->unit,
                                image->spacing_m, &file);
    else if (k == N_FIELD)
        return atn_fail(image->ctx, ATN_ERR_INPUT,
                        "%s: images are written as tif, npy, sdf, dat, gwy or vti; the ending says which", path);
    else if (FIELD[k].metres && strcmp(image->unit, "m") != 0)
        return atn_fail(image->ctx, ATN_ERR_INPUT,
                        "%s: holds heights in metres, and these are none; a wavelength makes "
                        "them",
                        path);
    else
        status = FIELD[k].add(image->ctx, path, &heights, &file);
    if (status == ATN_OK) status = atn_file_write(image->ctx, path, file.data, file.length);
    atn_text_free(&file);
    return status;
}

const atn_ctx *image_ctx(const atn_image *image) { return image->ctx; }
