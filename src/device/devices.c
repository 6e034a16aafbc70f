/* The list of devices: found once, asked by index or by part of a name. */
#include "base/memory.h"
#include "base/text.h"
#include "device/backend.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct atn_devices {
    atn_ctx *ctx;
    atn_device_info *infos;
    size_t count, capacity;
    char **notes;
    size_t n_notes, notes_capacity;
};

atn_status atn_devices_create(atn_ctx *ctx, atn_devices **out) {
    *out = atn_zalloc(ctx, sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    (*out)->ctx = ctx;
    return ATN_OK;
}

atn_ctx *atn_devices_ctx(const atn_devices *devices) { return devices->ctx; }

void atn_devices_free(atn_devices *devices) {
    if (!devices) return;
    for (size_t k = 0; k < devices->n_notes; ++k) atn_free(devices->ctx, devices->notes[k]);
    atn_free(devices->ctx, devices->notes);
    atn_free(devices->ctx, devices->infos);
    atn_free(devices->ctx, devices);
}

atn_status atn_devices_add(atn_devices *devices, const atn_device_info *info) {
    atn_status status =
        atn_grow(devices->ctx, (void **)&devices->infos, &devices->capacity, devices->count, sizeof *info);
    if (status != ATN_OK) return status;
    devices->infos[devices->count] = *info;
    devices->infos[devices->count].index = (int32_t)devices->count;
    ++devices->count;
    return ATN_OK;
}

atn_status atn_devices_add_note(atn_devices *devices, const char *format, ...) {
    char note[512];
    va_list args;
    va_start(args, format);
    vsnprintf(note, sizeof note, format, args);
    va_end(args);
    atn_status status = atn_grow(devices->ctx, (void **)&devices->notes, &devices->notes_capacity, devices->n_notes,
                                 sizeof *devices->notes);
    if (status != ATN_OK) return status;
    char *copy = atn_strdup(devices->ctx, note);
    if (!copy) return ATN_ERR_MEMORY;
    devices->notes[devices->n_notes++] = copy;
    return ATN_OK;
}

int32_t atn_devices_count(const atn_devices *devices) { return (int32_t)devices->count; }
int32_t atn_devices_note_count(const atn_devices *devices) { return (int32_t)devices->n_notes; }

const atn_device_info *atn_devices_info(const atn_devices *devices, int32_t index) {
    return index >= 0 && (size_t)index < devices->count ? &devices->infos[index] : NULL;
}

const char *atn_devices_note(const atn_devices *devices, int32_t index) {
    return index >= 0 && (size_t)index < devices->n_notes ? devices->notes[index] : NULL;
}

/* Where nobody says which: a CUDA device, then an OpenCL GPU (it has a warp but is no CPU), then the host. */
static int32_t best_device(const atn_devices *devices) {
    int32_t best = 0, best_rank = 0;
    for (size_t k = 0; k < devices->count; ++k) {
        const atn_device_info *info = &devices->infos[k];
        int32_t rank = strcmp(info->backend, "cuda") == 0                   ? 3
                       : strcmp(info->backend, "opencl") == 0 && !info->cpu ? 2
                                                                            : 0;
        if (rank > best_rank) {
            best = (int32_t)k;
            best_rank = rank;
        }
    }
    return best;
}

/* "0 host (name), 1 opencl (name)", for the sentence that says what there is. */
static atn_status fail_with_list(const atn_devices *devices, const char *wanted, const char *what) {
    atn_text list = {.ctx = devices->ctx};
    for (size_t k = 0; k < devices->count; ++k)
        atn_text_printf(&list, "%s%zu %s (%s)", k ? ", " : "", k, devices->infos[k].backend, devices->infos[k].name);
    atn_status status =
        atn_fail(devices->ctx, ATN_ERR_INPUT, "device '%s': %s; there are: %s", wanted, what, atn_text_str(&list));
    atn_text_free(&list);
    return status;
}

atn_status atn_devices_pick(const atn_devices *devices, const char *wanted, int32_t *index) {
    *index = best_device(devices);
    if (!wanted || !*wanted) return ATN_OK;
    *index = -1;
    char *end;
    errno = 0;
    long number = strtol(wanted, &end, 10);
    if (end != wanted && *end == '\0') {
        if (errno || number < 0 || (size_t)number >= devices->count)
            return fail_with_list(devices, wanted, "no such index");
        *index = (int32_t)number;
        return ATN_OK;
    }
    int32_t found = -1;
    for (size_t k = 0; k < devices->count; ++k) {
        const atn_device_info *info = &devices->infos[k];
        if (strcasecmp(info->backend, wanted) == 0) {
            *index = (int32_t)k;
            return ATN_OK;
        }
        if (!strcasestr(info->name, wanted) && !strcasestr(info->platform, wanted)) continue;
        if (found >= 0) return fail_with_list(devices, wanted, "more than one has that in its name");
        found = (int32_t)k;
    }
    if (found < 0) return fail_with_list(devices, wanted, "no device has that name");
    *index = found;
    return ATN_OK;
}
