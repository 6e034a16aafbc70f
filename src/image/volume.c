/* Volumes in memory: scans of 8 or 16 bits without gaps. */
#include "image/volume.h"

#include "base/memory.h"
#include "base/size.h"
#include "base/sized.h"

#include <string.h>

struct atn_volume {
    atn_ctx *ctx;
    volume_facts facts;
    unsigned char *data;    /* owned, unless it is in: */
    atn_device *device;     /* NULL: none */
    atn_host_memory memory; /* of the device's */
};

/* Room for more scans, twice as many as there are: each of them was found in the files. */
static atn_status make_room(atn_volume *v, size_t have, size_t *room) {
    const volume_facts *f = &v->facts;
    size_t wanted = have ? 2 * have : 1, bytes;
    if (wanted > f->frames) wanted = f->frames;
    if (!atn_size_mul(wanted, f->frame_bytes, &bytes)) return atn_fail_memory(v->ctx, SIZE_MAX, "scans");
    unsigned char *moved = atn_resize(v->ctx, v->data, bytes);
    if (!moved) return ATN_ERR_MEMORY;
    v->data = moved;
    *room = wanted;
    return ATN_OK;
}

static atn_status read_scans(atn_volume_reader *reader, atn_volume *v) {
    atn_status status = ATN_OK;
    for (size_t have = 0, room = 0; have < v->facts.frames && status == ATN_OK; have = room) {
        status = make_room(v, have, &room);
        if (status == ATN_OK) status = volume_reader_take(reader, v->data + have * v->facts.frame_bytes, room - have);
    }
    return status;
}

atn_status atn_volume_read(atn_ctx *ctx, const char *path, const atn_volume_settings *options, atn_volume **out) {
    *out = NULL;
    atn_volume_reader *reader;
    atn_status status = atn_volume_open(ctx, path, options, &reader);
    if (status != ATN_OK) return status;
    atn_volume *v = atn_zalloc(ctx, sizeof *v);
    if (v) {
        v->ctx = ctx;
        v->facts = *volume_reader_facts(reader);
        status = read_scans(reader, v);
    } else
        status = ATN_ERR_MEMORY;
    atn_volume_close(reader);
    if (status == ATN_OK)
        *out = v;
    else
        atn_volume_free(v);
    return status;
}

/* Is what comes as large as what is there? */
static atn_status check_same(const atn_volume *v, const char *path, const volume_facts *f) {
    const volume_facts *is = &v->facts;
    if (f->frames == is->frames && f->height == is->height && f->width == is->width && f->bits == is->bits)
        return ATN_OK;
    return atn_fail(v->ctx, ATN_ERR_INPUT, "%s: %zux%zux%zu values of %d bits, not %zux%zux%zu of %d", path, f->frames,
                    f->height, f->width, f->bits, is->frames, is->height, is->width, is->bits);
}

atn_status atn_volume_fill(atn_volume *volume, const char *path, const atn_volume_settings *options) {
    atn_volume_reader *reader;
    atn_status status = atn_volume_open(volume->ctx, path, options, &reader);
    if (status != ATN_OK) return status;
    const volume_facts *f = volume_reader_facts(reader);
    status = check_same(volume, path, f);
    if (status == ATN_OK) status = volume_reader_take(reader, volume->data, f->frames);
    if (status == ATN_OK) volume->facts = *f;
    atn_volume_close(reader);
    return status;
}

/* device NULL: memory of the context's. */
static atn_status create(atn_ctx *ctx, atn_device *device, const int64_t shape[3], int32_t bits, const void *data,
                         const double *spacing, atn_volume **out) {
    *out = NULL;
    size_t bytes = (size_t)bits / 8;
    if (shape[0] <= 0 || shape[1] <= 0 || shape[2] <= 0 || (bits != 8 && bits != 16))
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "a volume of %lldx%lldx%lld values of %d bits; sizes are positive, bits 8 or 16",
                        (long long)shape[0], (long long)shape[1], (long long)shape[2], bits);
    if (spacing && !volume_spacing_is_right(spacing))
        return atn_fail(ctx, ATN_ERR_INPUT, "a spacing is three positive numbers: x, y, z");
    for (int d = 2; d >= 0; --d)
        if (!atn_size_mul(bytes, (size_t)shape[d], &bytes)) return atn_fail_memory(ctx, SIZE_MAX, "scans");
    atn_volume *v = atn_zalloc(ctx, sizeof *v);
    if (!v) return ATN_ERR_MEMORY;
    v->ctx = ctx;
    v->device = device;
    v->facts = (volume_facts){.frames = (size_t)shape[0],
                              .height = (size_t)shape[1],
                              .width = (size_t)shape[2],
                              .frame_bytes = bytes / (size_t)shape[0],
                              .bits = bits};
    if (spacing) memcpy(v->facts.spacing, spacing, sizeof v->facts.spacing);
    atn_status status = device ? atn_host_alloc(device, bytes, &v->memory) : ATN_OK;
    if (status == ATN_OK) v->data = device ? v->memory.data : atn_zalloc(ctx, bytes);
    if (!v->data) {
        atn_volume_free(v);
        return ATN_ERR_MEMORY;
    }
    if (data)
        memcpy(v->data, data, bytes);
    else if (device)
        memset(v->data, 0, bytes);
    *out = v;
    return ATN_OK;
}

atn_status atn_volume_create(atn_ctx *ctx, const int64_t shape[3], int32_t bits, const void *data,
                             const double *spacing, atn_volume **out) {
    return create(ctx, NULL, shape, bits, data, spacing, out);
}

atn_status atn_volume_create_for(atn_device *device, const int64_t shape[3], int32_t bits, const void *data,
                                 const double *spacing, atn_volume **out) {
    return create(atn_device_ctx(device), device, shape, bits, data, spacing, out);
}

void atn_volume_free(atn_volume *volume) {
    if (!volume) return;
    if (volume->device)
        atn_host_free(volume->device, &volume->memory);
    else
        atn_free(volume->ctx, volume->data);
    atn_free(volume->ctx, volume);
}

bool volume_is_pinned(const atn_volume *volume, const atn_device *device) {
    return volume->device == device && volume->memory.pinned;
}

atn_status atn_volume_get_info(const atn_volume *volume, atn_volume_info *out) {
    atn_volume_info info = volume_info_of(&volume->facts);
    return ATN_GIVE(volume->ctx, atn_volume_info, &info, out);
}

void *volume_data(atn_volume *volume) { return volume->data; }

const atn_ctx *volume_ctx(const atn_volume *volume) { return volume->ctx; }

const void *atn_volume_frame(const atn_volume *volume, int64_t frame) {
    if (frame < 0 || (size_t)frame >= volume->facts.frames) return NULL;
    return volume->data + (size_t)frame * volume->facts.frame_bytes;
}
