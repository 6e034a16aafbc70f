/* attune info for images and volumes: size, range, invalid pixels, and heights and spacing if the file has them. */
#include "cli/info.h"

#include "base/memory.h"

#include <attune/image.h>

#include <stdlib.h>
#include <string.h>

static json_t *real_or_null(double value, bool known) { return known ? json_real(value) : json_null(); }

/* ---- images ---- */

static atn_status print_image_json(atn_cli_call *call, const atn_image_info *info) {
    bool any = info->invalid<(size_t)info->width *(size_t)info->height, spaced = info->spacing_m[0]> 0;
    json_t *root = json_object(), *spacing = spaced ? json_array() : json_null();
    if (json_object_set_new(root, "kind", json_string("image")) != 0 ||
        json_object_set_new(root, "format", atn_cli_json_text(call->ctx, info->format)) != 0 ||
        json_object_set_new(root, "width", json_integer(info->width)) != 0 ||
        json_object_set_new(root, "height", json_integer(info->height)) != 0 ||
        json_object_set_new(root, "pages", json_integer(info->pages)) != 0 ||
        json_object_set_new(root, "bits", json_integer(info->bits)) != 0 ||
        json_object_set_new(root, "min", real_or_null(info->low, any)) != 0 ||
        json_object_set_new(root, "max", real_or_null(info->high, any)) != 0 ||
        json_object_set_new(root, "invalid", json_integer((json_int_t)info->invalid)) != 0 ||
        json_object_set_new(root, "unit", *info->unit ? json_string(info->unit) : json_null()) != 0 ||
        json_object_set_new(root, "wavelength_m", real_or_null(info->wavelength_m, info->wavelength_m > 0)) != 0 ||
        json_object_set(root, "spacing_m", spacing) != 0 ||
        (spaced && (json_array_append_new(spacing, json_real(info->spacing_m[0])) != 0 ||
                    json_array_append_new(spacing, json_real(info->spacing_m[1])) != 0))) {
        json_decref(root);
        root = NULL;
    }
    json_decref(spacing);
    return atn_cli_print_json(call, root);
}

static atn_status print_image_text(atn_cli_call *call, const atn_image_info *info) {
    atn_text page = {.ctx = call->ctx};
    const char *unit = *info->unit ? info->unit : "";
    atn_text_printf(&page, "kind        image (%s)\nsize        %lld x %lld (rows x columns)\n", info->format,
                    (long long)info->height, (long long)info->width);
    if (info->pages > 1)
        atn_text_printf(&page, "pages       %lld, of which this is the first\n", (long long)info->pages);
    const char *what = strcmp(unit, "m") == 0 ? "heights" : "range";
    if (info->invalid < (size_t)info->width * (size_t)info->height)
        atn_text_printf(&page, "%-11s %.9g to %.9g%s%s\n", what, info->low, info->high, *unit ? " " : "", unit);
    else
        atn_text_printf(&page, "%-11s none\n", what);
    atn_text_printf(&page, "invalid     %zu\n", info->invalid);
    if (info->wavelength_m > 0) atn_text_printf(&page, "wavelength  %.9g m\n", info->wavelength_m);
    if (info->spacing_m[0] > 0)
        atn_text_printf(&page, "spacing     %.9g x %.9g m\n", info->spacing_m[0], info->spacing_m[1]);
    atn_status status = atn_cli_print_text(call, "info", &page);
    atn_text_free(&page);
    return status;
}

atn_status atn_cli_info_image(atn_cli_call *call, const char *path, const int64_t *shape) {
    atn_image_settings options = {0};
    if (shape) options = (atn_image_settings){.shape = {shape[0], shape[1]}};
    atn_image *image;
    atn_status status = atn_image_read(call->ctx, path, &options, &image);
    if (status != ATN_OK) return status;
    atn_image_info info = atn_image_info_of(image);
    atn_volume_reader *pages = NULL;
    bool volume = info.pages > 1 && atn_volume_open(call->ctx, path, NULL, &pages) == ATN_OK; /* not of floats */
    atn_volume_close(pages);
    if (volume) {
        atn_image_free(image);
        return atn_cli_info_volume(call, path, NULL);
    }
    status = call->json ? print_image_json(call, &info) : print_image_text(call, &info);
    atn_image_free(image);
    return status;
}

/* ---- volumes ---- */

typedef struct range {
    unsigned low, high;
} range;

static void widen(range *r, const void *frame, const atn_volume_info *info) {
    size_t count = info->frame_bytes * 8 / (size_t)info->bits;
    for (size_t k = 0; k < count; ++k) {
        unsigned value = info->bits == 8 ? ((const uint8_t *)frame)[k] : ((const uint16_t *)frame)[k];
        if (value < r->low) r->low = value;
        if (value > r->high) r->high = value;
    }
}

/* Scan by scan: a volume need not fit into memory to be asked about. */
static atn_status measure(const atn_cli_call *call, atn_volume_reader *reader, const atn_volume_info *info, range *r) {
    void *frame = atn_alloc(call->ctx, info->frame_bytes);
    if (!frame) return ATN_ERR_MEMORY;
    bool any = true;
    atn_status status = ATN_OK;
    while (status == ATN_OK && any) {
        status = atn_volume_next(reader, frame, &any);
        if (any) widen(r, frame, info);
    }
    atn_free(call->ctx, frame);
    return status;
}

static atn_status print_volume_json(atn_cli_call *call, const atn_volume_info *info, const range *r) {
    bool spaced = info->spacing[0] > 0;
    json_t *root = json_object(), *spacing = spaced ? json_array() : json_null();
    bool good =
        json_object_set_new(root, "kind", json_string("volume")) == 0 &&
        json_object_set_new(root, "format", atn_cli_json_text(call->ctx, info->format)) == 0 &&
        json_object_set_new(root, "frames", json_integer(info->frames)) == 0 &&
        json_object_set_new(root, "height", json_integer(info->height)) == 0 &&
        json_object_set_new(root, "width", json_integer(info->width)) == 0 &&
        json_object_set_new(root, "bits", json_integer(info->bits)) == 0 &&
        json_object_set_new(root, "min", json_integer(r->low)) == 0 &&
        json_object_set_new(root, "max", json_integer(r->high)) == 0 &&
        json_object_set_new(root, "unit", *info->unit ? atn_cli_json_text(call->ctx, info->unit) : json_null()) == 0 &&
        json_object_set(root, "spacing", spacing) == 0;
    for (int d = 0; good && spaced && d < 3; ++d)
        good = json_array_append_new(spacing, json_real(info->spacing[d])) == 0;
    json_decref(spacing);
    return atn_cli_print_json(call, atn_cli_json_if(good, root));
}

static atn_status print_volume_text(atn_cli_call *call, const atn_volume_info *info, const range *r) {
    atn_text page = {.ctx = call->ctx};
    atn_text_printf(&page, "kind        volume (%s)\nscans       %lld\nsize        %lld x %lld (rows x columns)\n",
                    info->format, (long long)info->frames, (long long)info->height, (long long)info->width);
    atn_text_printf(&page, "bits        %d\nrange       %u to %u\n", info->bits, r->low, r->high);
    if (info->spacing[0] > 0)
        atn_text_printf(&page, "spacing     %.9g x %.9g x %.9g%s%s\n", info->spacing[0], info->spacing[1],
                        info->spacing[2], *info->unit ? " " : "", info->unit);
    else
        atn_text_add(&page, "spacing     unknown; a volume.json next to it can specify it\n");
    atn_status status = atn_cli_print_text(call, "info", &page);
    atn_text_free(&page);
    return status;
}

atn_status atn_cli_info_volume(atn_cli_call *call, const char *path, const int64_t *shape) {
    atn_volume_settings options = {0};
    if (shape) options = (atn_volume_settings){.shape = {shape[0], shape[1], shape[2]}};
    atn_volume_reader *reader;
    atn_status status = atn_volume_open(call->ctx, path, &options, &reader);
    if (status != ATN_OK) return status;
    atn_volume_info info = atn_volume_reader_info_of(reader);
    range r = {.low = UINT16_MAX};
    status = measure(call, reader, &info, &r);
    if (status == ATN_OK) status = call->json ? print_volume_json(call, &info, &r) : print_volume_text(call, &info, &r);
    atn_volume_close(reader);
    return status;
}
