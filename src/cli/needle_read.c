/* attune needle --stream, the thread that reads: frames into volumes that are there already, so that nothing large is
 * asked of memory from frame to frame. With --latest a frame that still waits makes room for the next one. */
#include "cli/needle_stream.h"

#include "base/clock.h"
#include "base/memory.h"
#include "cloud/source.h"
#include "image/volume.h"

#include <string.h>
#include <sys/stat.h>

typedef needle_skipped skipped;
typedef needle_stream_slot slot;
typedef needle_run run;

/* ---- frames that are dropped ---- */

void needle_skipped_free(const atn_ctx *ctx, skipped *list) {
    while (list) {
        skipped *next = list->next;
        atn_free(ctx, list->name);
        atn_free(ctx, list);
        list = next;
    }
}

/* At the end of the list; takes over `name`. */
static atn_status skip(const run *r, skipped **list, int64_t number, char *name) {
    skipped *s = name ? atn_zalloc(r->ctx, sizeof *s) : NULL;
    if (!s) {
        atn_free(r->ctx, name);
        return ATN_ERR_MEMORY;
    }
    s->number = number;
    s->name = name;
    while (*list) list = &(*list)->next;
    *list = s;
    return ATN_OK;
}

/* A slot that was handed over comes back unseen: what was dropped before it, and it, are before what came since. */
static atn_status take_back(run *r, slot *s) {
    atn_status status = skip(r, &s->before, s->number, s->name);
    skipped **end = &s->before;
    s->name = NULL;
    while (*end) end = &(*end)->next;
    *end = r->late;
    r->late = s->before;
    s->before = NULL;
    return status;
}

/* ---- reading ---- */

static char *name_of(const run *r, const atn_stream_frame *frame) {
    char number[32];
    snprintf(number, sizeof number, "frame%06lld", (long long)frame->number);
    return atn_strdup(r->ctx, frame->path ? strrchr(frame->path, '/') + 1 : number);
}

static bool is_folder(const char *path) {
    struct stat info;
    return path && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* A folder that is still being filled looks like a smaller volume. */
static atn_status is_whole(const run *r, const char *path, bool *whole) {
    char **names = NULL;
    size_t count = 0;
    volume_notes notes;
    atn_status status = volume_names_any(r->ctx, path, &names, &count);
    volume_names_free(r->ctx, names, count);
    if (status == ATN_OK) status = volume_notes_read(r->ctx, path, true, &notes);
    if (status != ATN_OK) return status;
    int64_t wanted = r->shape[0] ? r->shape[0] : notes.shape[0];
    *whole = wanted ? (int64_t)count >= wanted : count > 0 && notes.spacing[0] > 0;
    return ATN_OK;
}

static atn_status check_shape(run *r, const char *path, const atn_volume *volume) {
    atn_volume_info info = atn_volume_info_of(volume);
    const int64_t shape[3] = {info.frames, info.height, info.width};
    if (r->shape[0] && memcmp(shape, r->shape, sizeof shape) != 0)
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: %lldx%lldx%lld values, not %lldx%lldx%lld", path,
                        (long long)shape[0], (long long)shape[1], (long long)shape[2], (long long)r->shape[0],
                        (long long)r->shape[1], (long long)r->shape[2]);
    memcpy(r->shape, shape, sizeof shape);
    return ATN_OK;
}

/* Into the slot's volume; the first time that is made. */
static atn_status read_volume(run *r, slot *s, const char *path) {
    atn_volume_settings options = r->job->volume;
    if (is_folder(path) || source_has_ending(path, "tif tiff")) memset(options.shape, 0, sizeof options.shape);
    if (s->volume) return atn_volume_fill(s->volume, path, &options);
    atn_status status = atn_volume_read(r->job->call->ctx, path, &options, &s->volume);
    if (status == ATN_OK) status = check_shape(r, path, s->volume);
    if (status == ATN_OK) return ATN_OK;
    atn_volume_free(s->volume);
    s->volume = NULL;
    return status;
}

/* Reads until it can be read, or is given up. It came when it was there as it was read. */
static void fill(run *r, slot *s, const atn_stream_frame *frame) {
    atn_status status = ATN_OK;
    bool folder = is_folder(frame->path), whole = !folder, again = true;
    s->came_s = frame->came_s;
    while (again && !whole && (status = is_whole(r, frame->path, &whole)) != ATN_ERR_MEMORY && !whole)
        if ((again = atn_stream_again(r->stream, frame))) s->came_s = atn_clock_seconds();
    double begin = atn_clock_seconds();
    if (status != ATN_ERR_MEMORY) status = read_volume(r, s, frame->path);
    while ((status == ATN_ERR_INPUT || status == ATN_ERR_IO) && again && (again = atn_stream_again(r->stream, frame))) {
        s->came_s = begin = atn_clock_seconds();
        status = read_volume(r, s, frame->path);
    }
    s->read_s = atn_clock_seconds() - begin;
    atn_live_keep(r->ctx, &s->fault, status);
}

/* The next entry; with --latest the last of those that are there. */
static atn_status next_entry(run *r, atn_stream_frame *frame, bool *any) {
    atn_status status = atn_stream_next(r->stream, frame, any);
    bool more = r->latest;
    while (status == ATN_OK && *any && more) {
        status = atn_stream_more(r->stream, &more);
        if (status != ATN_OK || !more) break;
        status = skip(r, &r->late, frame->number, name_of(r, frame));
        r->came = frame->number;
        if (status == ATN_OK) status = atn_stream_next(r->stream, frame, any);
    }
    return status;
}

/* Reads the next frame into a slot; *any is false if there is none or the consumer has stopped. Entries are requested
 * before a slot is free, so that their latency includes the wait; bytes need the memory of the slot. */
static atn_status read_next(run *r, slot **s, bool *any) {
    atn_stream_frame frame = {0};
    atn_status status = r->folder ? next_entry(r, &frame, any) : ATN_OK;
    if (status == ATN_OK && *any && !*s) *s = atn_lane_take(&r->spare);
    *any = *any && *s;
    if (status != ATN_OK || !*any) return status;
    if (!r->folder) {
        atn_stream_into(r->stream, volume_data((*s)->volume));
        status = atn_stream_next(r->stream, &frame, any);
        if (status != ATN_OK || !*any) return status;
    }
    r->came = (*s)->number = frame.number;
    (*s)->name = name_of(r, &frame);
    if (!(*s)->name) return ATN_ERR_MEMORY;
    (*s)->came_s = frame.came_s;
    (*s)->read_s = 0; /* bytes come as they do */
    (*s)->fault.status = ATN_OK;
    if (r->folder) fill(r, *s, &frame);
    return ATN_OK;
}

void *needle_read_all(void *given) {
    run *r = given;
    atn_status status = ATN_OK;
    slot *s = r->latest ? &r->slot[NEEDLE_SLOTS - 1] : NULL;
    for (bool any = true; status == ATN_OK && any;) {
        status = read_next(r, &s, &any);
        if (status != ATN_OK || !any) break;
        slot *old = r->latest ? atn_lane_try(&r->read) : NULL;
        if (old) status = take_back(r, old);
        s->before = r->late;
        r->late = NULL;
        if (!atn_lane_put(&r->read, s)) break;
        s = old;
    }
    atn_live_keep(r->ctx, &r->fault, status);
    atn_lane_close(&r->read);
    atn_lane_close(&r->spare);
    return NULL;
}
