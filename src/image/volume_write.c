/* A volume as a folder of PNG files, 0000.png and so on, and volume.json with its spacing and unit. */
#include "image/volume.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/size.h"

#include <stdio.h>
#include <string.h>

enum { MOST_UNIT = sizeof(((volume_notes *)0)->unit) };

/* PNG has the upper byte first. */
static void to_big_endian(const uint16_t *from, size_t values, unsigned char *to) {
    for (size_t k = 0; k < values; ++k) {
        *to++ = (unsigned char)(from[k] >> 8);
        *to++ = (unsigned char)(from[k] & 255);
    }
}

static void add_path(atn_text *path, const char *folder, const char *name) {
    atn_text_clear(path);
    atn_text_printf(path, "%s%s%s", folder, *folder && folder[strlen(folder) - 1] == '/' ? "" : "/", name);
}

static atn_status write_scan(const atn_ctx *ctx, const char *path, const png_picture *picture, atn_text *file) {
    atn_text_clear(file);
    atn_status status = image_png_add(ctx, path, picture, file);
    return status == ATN_OK ? atn_file_write(ctx, path, file->data, file->length) : status;
}

static atn_status write_notes(const atn_ctx *ctx, const char *path, const atn_volume_info *info, const char *unit,
                              atn_text *file) {
    char number[ATN_NUMBER_TEXT];
    atn_text_clear(file);
    atn_text_add(file, "{");
    if (info->spacing[0] > 0) {
        atn_text_add(file, "\"spacing\": [");
        for (int d = 0; d < 3; ++d) {
            atn_number_print(info->spacing[d], number);
            atn_text_printf(file, "%s%s", d ? ", " : "", number);
        }
        atn_text_printf(file, "], \"unit\": \"%s\", ", unit);
    }
    atn_text_printf(file, "\"shape\": [%lld, %lld, %lld]}\n", (long long)info->frames, (long long)info->height,
                    (long long)info->width);
    atn_status status = atn_text_status(file);
    return status == ATN_OK ? atn_file_write(ctx, path, file->data, file->length) : status;
}

/* Other scans in the folder would be read as part of this volume. */
static atn_status refuse_others(const atn_ctx *ctx, const char *folder, int64_t frames) {
    char **names = NULL, ours[32];
    size_t count = 0;
    atn_status status = volume_names_any(ctx, folder, &names, &count);
    for (size_t k = 0; k < count && status == ATN_OK; ++k) {
        const char *slash = strrchr(names[k], '/'), *name = slash ? slash + 1 : names[k];
        long long number = -1;
        if (sscanf(name, "%lld", &number) != 1) number = -1;
        snprintf(ours, sizeof ours, "%04lld.png", number);
        if (number < 0 || number >= frames || strcmp(name, ours) != 0)
            status = atn_fail(ctx, ATN_ERR_INPUT,
                              "%s: is not a scan of this volume and would be read with it; take "
                              "another folder, or remove it",
                              names[k]);
    }
    volume_names_free(ctx, names, count);
    return status;
}

atn_status atn_volume_write(const atn_volume *volume, const char *folder, const char *unit) {
    const atn_ctx *ctx = volume_ctx(volume);
    atn_volume_info info = atn_volume_info_of(volume);
    atn_text path = {.ctx = ctx}, file = {.ctx = ctx};
    if (source_has_ending(folder, "vti")) return volume_vti_write(volume, folder);
    unsigned char *swapped = info.bits == 16 ? atn_alloc(ctx, info.frame_bytes) : NULL;
    atn_status status = info.bits == 16 && !swapped ? ATN_ERR_MEMORY : ATN_OK;
    if (status == ATN_OK && (strlen(unit) >= MOST_UNIT || strpbrk(unit, "\"\\\n\t")))
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: a unit is a short text such as \"mm\"", folder);
    if (status == ATN_OK) status = refuse_others(ctx, folder, info.frames);
    for (int64_t k = 0; k < info.frames && status == ATN_OK; ++k) {
        char name[32];
        const void *frame = atn_volume_frame(volume, k);
        if (swapped) to_big_endian(frame, info.frame_bytes / 2, swapped);
        const png_picture picture = {.width = (size_t)info.width,
                                     .height = (size_t)info.height,
                                     .bits = info.bits,
                                     .rows = swapped ? swapped : frame,
                                     .quick = true};
        snprintf(name, sizeof name, "%04lld.png", (long long)k);
        add_path(&path, folder, name);
        status = path.failed ? ATN_ERR_MEMORY : write_scan(ctx, path.data, &picture, &file);
        if (status == ATN_OK) status = atn_tell_progress(ctx, "writing scans", k + 1, info.frames);
    }
    if (status == ATN_OK) {
        add_path(&path, folder, "volume.json");
        status = path.failed ? ATN_ERR_MEMORY : write_notes(ctx, path.data, &info, unit, &file);
    }
    atn_free(ctx, swapped);
    atn_text_free(&file);
    atn_text_free(&path);
    return status;
}
