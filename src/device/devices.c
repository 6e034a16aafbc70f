/* The list of devices: detected once, queried by index or by part of a name. */
#include "base/environment.h"
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
    ATN_FORMAT(note, format);
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

/* The number of this rank among those of its machine, as mpirun and srun say it; 0: it is alone. */
static size_t local_rank(void) {
    static const atn_variable SAID[] = {ATN_ENV_OMPI_LOCAL_RANK, ATN_ENV_MPI_LOCAL_RANK, ATN_ENV_SLURM_LOCALID};
    for (size_t k = 0; k < sizeof SAID / sizeof *SAID; ++k) {
        const char *text = atn_environment(SAID[k]);
        if (text) return (size_t)strtoul(text, NULL, 10);
    }
    return 0;
}

static int32_t rank_of(const atn_device_info *info) {
    if (strcmp(info->backend, "cuda") == 0) return 2;
    return strcmp(info->backend, "opencl") == 0 && !info->cpu ? 1 : 0;
}

/* Of those as good as the one at `first` the one that this rank has: each of a machine's ranks another, as far as there
 * are some. Hosts are one device each. */
static int32_t for_rank(const atn_devices *devices, size_t first) {
    const atn_device_info *like = &devices->infos[first];
    size_t same = 0, wanted;
    if (!rank_of(like)) return (int32_t)first;
    for (size_t k = first; k < devices->count; ++k) same += rank_of(&devices->infos[k]) == rank_of(like);
    wanted = same ? local_rank() % same : 0;
    for (size_t k = first; k < devices->count; ++k)
        if (rank_of(&devices->infos[k]) == rank_of(like) && wanted-- == 0) return (int32_t)k;
    return (int32_t)first;
}

/* By default: a CUDA device, then an OpenCL GPU (it has a warp but is no CPU), then the host. */
static int32_t best_device(const atn_devices *devices) {
    size_t best = 0;
    for (size_t k = 0; k < devices->count; ++k)
        if (rank_of(&devices->infos[k]) > rank_of(&devices->infos[best])) best = k;
    return devices->count ? for_rank(devices, best) : 0;
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
            *index = for_rank(devices, k);
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

/* ---- several ---- */

static bool has_backend(const atn_devices *devices, const char *backend) {
    for (size_t k = 0; k < devices->count; ++k)
        if (strcmp(devices->infos[k].backend, backend) == 0) return true;
    return false;
}

/* Of `all`: a GPU once, though both CUDA and OpenCL may show it; and the host, of whose cores an OpenCL on the CPU is
 * made. */
static bool is_one_of_all(const atn_devices *devices, const atn_device_info *info) {
    if (strcmp(info->backend, "opencl") != 0) return true;
    return !info->cpu && !has_backend(devices, "cuda");
}

static atn_status add_index(const atn_devices *devices, const char *wanted, int32_t index, int32_t *out,
                            int32_t *count) {
    for (int32_t k = 0; k < *count; ++k)
        if (out[k] == index) return fail_with_list(devices, wanted, "one is named twice");
    if (*count == ATN_MOST_DEVICES) return fail_with_list(devices, wanted, "too many are named");
    out[(*count)++] = index;
    return ATN_OK;
}

atn_status atn_devices_pick_several(const atn_devices *devices, const char *wanted, int32_t out[ATN_MOST_DEVICES],
                                    int32_t *count) {
    char name[128];
    int32_t index;
    atn_status status = ATN_OK;
    *count = 0;
    if (wanted && strcmp(wanted, "all") == 0) {
        for (size_t k = 0; k < devices->count && *count < ATN_MOST_DEVICES; ++k)
            if (is_one_of_all(devices, &devices->infos[k])) out[(*count)++] = (int32_t)k;
        return ATN_OK;
    }
    for (const char *from = wanted ? wanted : ""; status == ATN_OK;) {
        size_t length = strcspn(from, ",");
        if (length >= sizeof name || (length == 0 && strchr(wanted ? wanted : "", ',')))
            return fail_with_list(devices, wanted, "a list is comma-separated names");
        memcpy(name, from, length);
        name[length] = '\0';
        status = atn_devices_pick(devices, name, &index);
        if (status == ATN_OK) status = add_index(devices, wanted ? wanted : "", index, out, count);
        if (!from[length]) break;
        from += length + 1;
    }
    if (status != ATN_OK) *count = 0;
    return status;
}
