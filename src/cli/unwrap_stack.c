/* Stacks of frames, one frame per phase step: from a folder, or from a stream, a fixed number at a time. */
#include "cli/unwrap.h"

#include "base/memory.h"
#include "base/size.h"
#include "image/volume.h"

#include <math.h>
#include <string.h>

static const double LEAST_MODULATION = 0.01; /* of the full scale of whole numbers */

static atn_phase_settings options_of(const unwrap_job *job, int32_t steps, double full) {
    return (atn_phase_settings){.bits = job->options.bits,
                                .steps = steps,
                                .angle = job->angle,
                                .least = job->least >= 0 ? job->least : LEAST_MODULATION * full,
                                .most = job->most > 0 ? job->most : full};
}

/* ---- a folder ---- */

static atn_status read_frames(const unwrap_job *job, char **names, size_t count, atn_image **image) {
    const atn_ctx *ctx = job->call->ctx;
    for (size_t k = 0; k < count; ++k) {
        atn_status status = atn_image_read(job->call->ctx, names[k], NULL, &image[k]);
        if (status) return status;
        atn_image_info first = atn_image_info_of(image[0]), info = atn_image_info_of(image[k]);
        if (info.width != first.width || info.height != first.height || info.bits != first.bits)
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: %lldx%lld of %d bits, but the first frame is %lldx%lld of %d",
                            names[k], (long long)info.height, (long long)info.width, (int)info.bits,
                            (long long)first.height, (long long)first.width, (int)first.bits);
    }
    return ATN_OK;
}

static atn_status shift(const unwrap_job *job, size_t count, atn_image *const *image, unwrap_phase *out) {
    const atn_ctx *ctx = job->call->ctx;
    atn_image_info info = atn_image_info_of(image[0]);
    const atn_phase_settings options = options_of(job, (int32_t)count, unwrap_full_scale(&info));
    size_t pixels = (size_t)(info.width * info.height), bytes;
    const float *frames[ATN_PHASE_MOST_STEPS];
    for (size_t k = 0; k < count; ++k) frames[k] = atn_image_pixels(image[k]);
    out->width = info.width;
    out->height = info.height;
    for (int k = 0; k < 2; ++k) out->spacing_m[k] = job->pixel_m > 0 ? job->pixel_m : info.spacing_m[k];
    out->value = atn_size_mul(pixels, unwrap_value_bytes(job), &bytes) ? atn_alloc(ctx, bytes) : NULL;
    out->modulation = out->value ? atn_alloc(ctx, pixels * sizeof *out->modulation) : NULL;
    if (!out->modulation) return ATN_ERR_MEMORY;
    atn_phase *phase;
    atn_status status = atn_phase_create(job->device, info.width, info.height, &options, &phase);
    if (!status) status = atn_phase_run(phase, frames, out->value, out->modulation);
    atn_phase_free(phase);
    size_t bad = 0;
    for (size_t k = 0; k < pixels && !status; ++k) bad += out->modulation[k] == 0;
    snprintf(out->note, sizeof out->note, "%zu frames%s; %zu pixels too dark, too flat or saturated", count,
             count == 5 && !job->angle ? " with Hariharan's weights" : "", bad);
    return status;
}

atn_status unwrap_read_stack(const unwrap_job *job, const char *path, unwrap_phase *out) {
    const atn_ctx *ctx = job->call->ctx;
    char **names;
    size_t count;
    atn_status status = volume_names_read(ctx, path, &names, &count);
    if (status) return status;
    if (job->steps && count != (size_t)job->steps)
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: %zu frames for %d steps", path, count, (int)job->steps);
    if (!status && (count < ATN_PHASE_LEAST_STEPS || count > ATN_PHASE_MOST_STEPS))
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: %zu frames; a phase takes %d to %d", path, count,
                          ATN_PHASE_LEAST_STEPS, ATN_PHASE_MOST_STEPS);
    atn_image **image = status ? NULL : atn_zalloc(ctx, count * sizeof(atn_image *));
    if (!status && !image) status = ATN_ERR_MEMORY;
    if (!status) status = read_frames(job, names, count, image);
    if (!status) status = shift(job, count, image, out);
    for (size_t k = 0; image && k < count; ++k) atn_image_free(image[k]);
    atn_free(ctx, image);
    volume_names_free(ctx, names, count);
    if (status) unwrap_phase_free(job, out);
    return status;
}

/* ---- a stream ---- */

atn_status unwrap_read_intensity(const unwrap_job *job, const char *path, unwrap_phase *out) {
    const atn_image_settings options = {.shape = {job->shape[0], job->shape[1]}};
    atn_image *image;
    *out = (unwrap_phase){0};
    atn_status status = atn_image_read(job->call->ctx, path, &options, &image);
    if (status) return status;
    atn_image_info info = atn_image_info_of(image);
    size_t bytes = (size_t)(info.width * info.height) * sizeof(float); /* the image's own, so no overflow */
    out->width = info.width;
    out->height = info.height;
    out->full = unwrap_full_scale(&info);
    out->intensity = atn_alloc(job->call->ctx, bytes);
    if (out->intensity) memcpy(out->intensity, atn_image_pixels(image), bytes);
    atn_image_free(image);
    return out->intensity ? ATN_OK : ATN_ERR_MEMORY;
}

void unwrap_stack_free(const unwrap_job *job, unwrap_stack *stack) {
    for (int32_t k = 0; k < stack->have; ++k) atn_free(job->call->ctx, stack->frame[k]);
    atn_free(job->call->ctx, stack->frame);
    atn_phase_free(stack->phase);
    *stack = (unwrap_stack){0};
}

/* The first frame says the size. */
static atn_status begin(const unwrap_job *job, unwrap_stack *stack, const unwrap_phase *first) {
    const atn_phase_settings options = options_of(job, job->steps, first->full);
    stack->frame = atn_zalloc(job->call->ctx, (size_t)job->steps * sizeof *stack->frame);
    if (!stack->frame) return ATN_ERR_MEMORY;
    return atn_phase_create(job->device, first->width, first->height, &options, &stack->phase);
}

atn_status unwrap_stack_add(const unwrap_job *job, unwrap_stack *stack, unwrap_phase *frame, bool *whole) {
    const atn_ctx *ctx = job->call->ctx;
    *whole = false;
    if (!stack->phase) {
        atn_status status = begin(job, stack, frame);
        if (status) return status;
    }
    stack->frame[stack->have++] = frame->intensity;
    frame->intensity = NULL;
    if (stack->have < job->steps) return ATN_OK;
    size_t pixels = (size_t)(frame->width * frame->height);
    frame->value = atn_alloc(ctx, pixels * unwrap_value_bytes(job));
    if (!frame->value) return ATN_ERR_MEMORY;
    atn_status status = atn_phase_run(stack->phase, (const float *const *)stack->frame, frame->value, NULL);
    unwrap_stack_clear(job, stack);
    *whole = status == ATN_OK;
    return status;
}

void unwrap_stack_clear(const unwrap_job *job, unwrap_stack *stack) {
    for (int32_t k = 0; k < stack->have; ++k) atn_free(job->call->ctx, stack->frame[k]);
    stack->have = 0;
}
