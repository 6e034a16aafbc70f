/* volume.json next to the data: {"spacing": [x, y, z], "unit": "mm", "shape": [scans, rows, columns]}, all of them
 * optional; unknown names are ignored. */
#include "image/volume.h"

#include "base/file.h"
#include "base/memory.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20 };

/* Units go to terminals and tables as they are. */
static bool has_control(const char *text) {
    while (*text && (unsigned char)*text >= ' ' && *text != '\x7f') ++text;
    return *text;
}

bool volume_spacing_is_right(const double spacing[3]) {
    if (spacing[0] == 0 && spacing[1] == 0 && spacing[2] == 0) return true;
    for (int d = 0; d < 3; ++d)
        if (!(spacing[d] > 0) || isinf(spacing[d])) return false;
    return true;
}

static atn_status wrong(const atn_ctx *ctx, const char *path, const char *what) {
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: %s", path, what);
}

static atn_status read_fields(const atn_ctx *ctx, const char *path, const json_t *root, volume_notes *out) {
    const json_t *spacing = json_object_get(root, "spacing"), *unit = json_object_get(root, "unit"),
                 *shape = json_object_get(root, "shape");
    if (!json_is_object(root)) return wrong(ctx, path, "no object; {\"spacing\": [x, y, z]} is right");
    if ((spacing && json_array_size(spacing) != 3) || (shape && json_array_size(shape) != 3))
        return wrong(ctx, path, "spacing is [x, y, z] and shape is [scans, rows, columns]: three numbers each");
    for (size_t d = 0; d < 3; ++d) {
        const json_t *one = json_array_get(spacing, d), *extent = json_array_get(shape, d);
        if (one && (!json_is_number(one) || !(json_number_value(one) > 0)))
            return wrong(ctx, path, "spacing is three positive numbers: x, y, z");
        if (extent && (!json_is_integer(extent) || json_integer_value(extent) <= 0))
            return wrong(ctx, path, "shape is three positive whole numbers: scans, rows, columns");
        if (one) out->spacing[d] = json_number_value(one);
        if (extent) out->shape[d] = json_integer_value(extent);
    }
    if (!unit) return ATN_OK;
    if (!json_is_string(unit) || json_string_length(unit) >= sizeof out->unit || has_control(json_string_value(unit)))
        return wrong(ctx, path, "unit is a short text such as \"mm\"");
    memcpy(out->unit, json_string_value(unit), json_string_length(unit) + 1);
    return ATN_OK;
}

static atn_status read_file(const atn_ctx *ctx, const char *path, volume_notes *out) {
    char *text;
    size_t length;
    atn_status status = atn_file_read(ctx, path, MOST_BYTES, &text, &length);
    if (status != ATN_OK) return status;
    json_error_t error;
    size_t refused = atn_ctx_refused(ctx);
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    atn_free(ctx, text);
    if (atn_ctx_refused(ctx) != refused || (!root && json_error_code(&error) == json_error_out_of_memory))
        status = atn_fail(ctx, ATN_ERR_MEMORY, "out of memory: %zu bytes of JSON could not be read", length);
    else if (root)
        status = read_fields(ctx, path, root, out);
    else
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s:%d: %s", path, error.line, error.text);
    json_decref(root);
    return status;
}

atn_status volume_notes_read(const atn_ctx *ctx, const char *path, bool folder, volume_notes *out) {
    static const char name[] = "volume.json";
    *out = (volume_notes){0};
    const char *slash = strrchr(path, '/');
    size_t before = folder ? strlen(path) : slash ? (size_t)(slash - path) + 1 : 0;
    char *beside = atn_alloc(ctx, before + sizeof name + 1);
    if (!beside) return ATN_ERR_MEMORY;
    snprintf(beside, before + sizeof name + 1, "%.*s%s%s", (int)before, path, folder ? "/" : "", name);
    atn_status status = access(beside, F_OK) == 0 ? read_file(ctx, beside, out) : ATN_OK;
    atn_free(ctx, beside);
    return status;
}
