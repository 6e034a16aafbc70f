/* attune sample fringes: interferograms of known surfaces, for unwrapping. */
#include "cli/sample.h"

#include "base/file.h"
#include "base/memory.h"
#include "image/formats.h"
#include "num/npy.h"
#include "sample/fringes.h"

#include <math.h>
#include <string.h>

/* As atn_fringes_surface numbers them. */
static const char *const SURFACES[] = {"peaks", "tilt", "zernike", "steps", "shear"};

typedef struct wanted {
    atn_fringes_settings settings;
    double wavelength;
    bool doubles; /* --precision 64 */
} wanted;

static atn_status read_size(atn_cli_call *call, atn_fringes_settings *s) {
    const char *size = atn_cli_value(call, "size");
    int64_t shape[3] = {512, 512, 0};
    if (size && atn_cli_read_shape(size, shape) != 2)
        return atn_cli_misuse(call, "--size cannot be '%s'; it takes HxW, such as 512x1024", size);
    s->height = shape[0];
    s->width = shape[1];
    return ATN_OK;
}

static atn_status read_options(atn_cli_call *call, wanted *w) {
    atn_fringes_settings *s = &w->settings;
    const char *surface = atn_cli_value(call, "surface"), *precision = atn_cli_value(call, "precision");
    double steps = 4;
    atn_status status = read_size(call, s);
    double longer = (double)(s->width > s->height ? s->width : s->height), turns = fmin(6, longer / 8);
    if (!status) status = atn_cli_read_number(call, "noise", 0, 100, 0, &s->noise);
    if (!status) status = atn_cli_read_number(call, "mask", 0, 0.9, 0, &s->hidden);
    if (!status) status = atn_cli_read_number(call, "turns", 1e-6, 1e6, turns, &s->turns);
    if (!status) status = atn_cli_read_number(call, "wavelength", 1e-12, 1, 632.8e-9, &w->wavelength);
    if (!status) status = atn_cli_read_number(call, "steps", 3, 64, 4, &steps);
    if (!status && steps != floor(steps)) status = atn_cli_misuse(call, "--steps takes a whole number from 3 to 64");
    s->steps = (int32_t)steps;
    w->doubles = precision && strcmp(precision, "64") == 0;
    for (size_t k = 0; surface && k < sizeof SURFACES / sizeof *SURFACES; ++k)
        if (strcmp(surface, SURFACES[k]) == 0) s->surface = (atn_fringes_surface)k;
    return status;
}

static atn_status told(const atn_cli_sample *sample, atn_status status, char *path, const char *what) {
    if (!status && !sample->call->json) fprintf(sample->call->out, "%s: %s\n", path, what);
    atn_free(sample->call->ctx, path);
    return status;
}

static atn_status write_phase(const atn_cli_sample *sample, const char *name, const wanted *w, const double *phase) {
    const atn_ctx *ctx = sample->call->ctx;
    size_t count = (size_t)(w->settings.width * w->settings.height);
    char *path = atn_cli_sample_path(sample, name);
    float *floats = path && !w->doubles ? atn_alloc(ctx, count * sizeof *floats) : NULL;
    if (!path || (!floats && !w->doubles)) {
        atn_free(ctx, path);
        return ATN_ERR_MEMORY;
    }
    for (size_t k = 0; k < count && floats; ++k) floats[k] = (float)phase[k];
    atn_view view = {.type = floats ? ATN_SP : ATN_DP,
                     .rank = 2,
                     .size = {w->settings.width, w->settings.height},
                     .pitch = w->settings.width,
                     .data = floats ? (void *)floats : (void *)(uintptr_t)phase};
    atn_status status = atn_npy_write(ctx, path, &view);
    atn_free(ctx, floats);
    return told(sample, status, path, "radians");
}

static atn_status write_mask(const atn_cli_sample *sample, const wanted *w, const uint8_t *mask) {
    char *path = atn_cli_sample_path(sample, "mask.npy");
    if (!path) return ATN_ERR_MEMORY;
    atn_view view = {.type = ATN_U8,
                     .rank = 2,
                     .size = {w->settings.width, w->settings.height},
                     .pitch = w->settings.width,
                     .data = (void *)(uintptr_t)mask};
    return told(sample, atn_npy_write(sample->call->ctx, path, &view), path, "1 where valid");
}

static atn_status write_frame(const atn_cli_sample *sample, const wanted *w, const uint8_t *rows, int32_t number) {
    const atn_ctx *ctx = sample->call->ctx;
    char name[32];
    snprintf(name, sizeof name, "frames/step%02d.png", (int)number + 1);
    char *path = atn_cli_sample_path(sample, name);
    atn_text file = {.ctx = ctx};
    const png_picture picture = {
        .width = (size_t)w->settings.width, .height = (size_t)w->settings.height, .bits = 8, .rows = rows};
    atn_status status = path ? image_png_add(ctx, path, &picture, &file) : ATN_ERR_MEMORY;
    if (!status) status = atn_file_write(ctx, path, file.data, file.length);
    atn_text_free(&file);
    atn_free(ctx, path);
    return status;
}

static atn_status write_frames(const atn_cli_sample *sample, const wanted *w, const uint8_t *frames) {
    size_t count = (size_t)(w->settings.width * w->settings.height);
    atn_status status = atn_cli_sample_folder(sample, "frames");
    for (int32_t k = 0; k < w->settings.steps && !status; ++k)
        status = write_frame(sample, w, frames + (size_t)k * count, k);
    if (!status && !sample->call->json)
        fprintf(sample->call->out, "%s/frames: %d steps\n", sample->folder, (int)w->settings.steps);
    return status;
}

static atn_status tell(const atn_cli_sample *sample, const wanted *w, const atn_fringes *f) {
    const atn_fringes_settings *s = &w->settings;
    json_t *root = sample->truth, *shape = json_array(), *angles = json_array();
    bool good = json_object_set_new(root, "surface", json_string(SURFACES[s->surface])) == 0 &&
                json_object_set_new(root, "shape", shape) == 0 && json_object_set_new(root, "steps_deg", angles) == 0 &&
                json_array_append_new(shape, json_integer(s->height)) == 0 &&
                json_array_append_new(shape, json_integer(s->width)) == 0 &&
                json_object_set_new(root, "wavelength", json_real(w->wavelength)) == 0 &&
                json_object_set_new(root, "noise", json_real(s->noise)) == 0 &&
                json_object_set_new(root, "hidden", json_real(s->hidden)) == 0 &&
                json_object_set_new(root, "turns", json_real(s->turns)) == 0 &&
                json_object_set_new(root, "steps", json_integer(s->steps)) == 0 &&
                json_object_set_new(root, "amplitude", json_real(f->amplitude)) == 0 &&
                json_object_set_new(root, "precision", json_integer(w->doubles ? 64 : 32)) == 0 &&
                json_object_set_new(root, "seed", json_integer((json_int_t)s->seed)) == 0;
    for (int32_t k = 0; k < s->steps && good; ++k)
        good = json_array_append_new(angles, json_real(f->angle[k] * 180 / 3.141592653589793)) == 0;
    return good ? ATN_OK : atn_fail_memory(sample->call->ctx, 0, "truth.json");
}

atn_status atn_cli_sample_fringes(atn_cli_sample *sample) {
    atn_cli_call *call = sample->call;
    wanted w = {.settings = {.seed = sample->seed}};
    atn_fringes fringes = {0};
    atn_status status = read_options(call, &w);
    if (!status) status = atn_cli_sample_begin(sample);
    if (!status) status = atn_fringes_make(call->ctx, &w.settings, &fringes);
    if (!status) status = write_phase(sample, "wrapped.npy", &w, fringes.wrapped);
    if (!status) status = write_phase(sample, "truth.npy", &w, fringes.truth);
    if (!status) status = write_mask(sample, &w, fringes.mask);
    if (!status) status = write_frames(sample, &w, fringes.frames);
    if (!status) status = tell(sample, &w, &fringes);
    atn_fringes_free(call->ctx, &fringes);
    return status;
}
