/* Frames as they arrive. A folder is scanned when it has changed; entries already seen are remembered by name. */
#include "cli/stream.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "cloud/source.h"
#include "image/volume.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double LOOK_S = 0.005, SETTLED_S = 0.1;
enum { POLL_MS = 50 };

struct atn_stream {
    const atn_ctx *ctx;
    atn_stream_options options;
    int64_t frames; /* that came */
    double last_s;  /* when the last one was asked for */
    char reason[80];
    atomic_bool stopped; /* by atn_stream_stop */
    char *bytes;         /* of a frame from fd; owned; NULL until it is needed */
    char *into;          /* where they go instead; not owned */
    size_t have;
    char **seen; /* names, sorted; owned */
    size_t n_seen, seen_room;
    char **waiting; /* those of them that were not returned yet, the next one last; not owned */
    size_t n_waiting, waiting_room;
    bool ends;                 /* `end` is there */
    struct timespec listed_at; /* the folder's time of change when it was looked through */
    atn_text path;             /* of the entry that was returned */
    struct stat was;           /* what the entry was when it could not be read */
    double same_s;             /* since when it is the same */
};

atn_status atn_stream_open(const atn_ctx *ctx, const atn_stream_options *options, atn_stream **out) {
    *out = NULL;
    struct stat info;
    if (options->folder && (stat(options->folder, &info) != 0 || !S_ISDIR(info.st_mode)))
        return atn_fail(ctx, ATN_ERR_IO, "%s: no folder; frames are read from a folder or from standard input",
                        options->folder);
    atn_stream *s = atn_zalloc(ctx, sizeof *s);
    if (!s) return ATN_ERR_MEMORY;
    s->ctx = ctx;
    s->options = *options;
    s->path.ctx = ctx;
    if (s->options.patience_s == 0) s->options.patience_s = 1;
    *out = s;
    return ATN_OK;
}

void atn_stream_close(atn_stream *stream) {
    if (!stream) return;
    for (size_t k = 0; k < stream->n_seen; ++k) atn_free(stream->ctx, stream->seen[k]);
    atn_free(stream->ctx, stream->seen);
    atn_free(stream->ctx, stream->waiting);
    atn_free(stream->ctx, stream->bytes);
    atn_text_free(&stream->path);
    atn_free(stream->ctx, stream);
}

const char *atn_stream_reason(const atn_stream *stream) {
    return !*stream->reason && atomic_load(&stream->stopped) ? "stopped" : stream->reason;
}
size_t atn_stream_left(const atn_stream *stream) { return stream->have; }

/* ---- when it ends ---- */

static bool cancelled(atn_stream *s) { return atomic_load(&s->stopped) || atn_check_cancel(s->ctx) != ATN_OK; }

void atn_stream_stop(atn_stream *stream) { atomic_store(&stream->stopped, true); }

static bool over(atn_stream *s) {
    double waited = atn_clock_seconds() - s->last_s;
    if (cancelled(s))
        snprintf(s->reason, sizeof s->reason, "stopped");
    else if (s->options.idle_s > 0 && waited >= s->options.idle_s)
        snprintf(s->reason, sizeof s->reason, "nothing came for %g s", s->options.idle_s);
    return *s->reason;
}

static void nap(double seconds) {
    struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

/* ---- bytes ---- */

void atn_stream_into(atn_stream *stream, void *bytes) { stream->into = bytes; }

static atn_status next_bytes(atn_stream *s, bool *any) {
    if (!s->into && !s->bytes) s->bytes = atn_alloc(s->ctx, s->options.bytes);
    char *to = s->into ? s->into : s->bytes;
    if (!to) return ATN_ERR_MEMORY;
    while (s->have < s->options.bytes && !over(s)) {
        struct pollfd ready = {.fd = s->options.fd, .events = POLLIN};
        int n = poll(&ready, 1, POLL_MS);
        if (n == 0 || (n < 0 && errno == EINTR)) continue;
        ssize_t got = n < 0 ? -1 : read(s->options.fd, to + s->have, s->options.bytes - s->have);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return atn_fail(s->ctx, ATN_ERR_IO, "standard input: %s", strerror(errno));
        if (got == 0) snprintf(s->reason, sizeof s->reason, "standard input ended");
        s->have += (size_t)got;
        if (got > 0) s->last_s = atn_clock_seconds();
    }
    *any = s->have == s->options.bytes;
    if (*any) s->have = 0;
    return ATN_OK;
}

/* ---- folders ---- */

/* The position of a name among those seen, or where it would be inserted. */
static size_t place_of(const atn_stream *s, const char *name, bool *there) {
    size_t low = 0, high = s->n_seen;
    *there = false;
    while (low < high && !*there) {
        size_t middle = low + (high - low) / 2;
        int order = volume_compare_names(name, s->seen[middle]);
        *there = order == 0;
        if (order < 0)
            high = middle;
        else if (order > 0)
            low = middle + 1;
        else
            low = middle;
    }
    return low;
}

static atn_status add(atn_stream *s, const char *name) {
    bool there;
    size_t at = place_of(s, name, &there);
    if (there) return ATN_OK;
    void *seen = s->seen, *waiting = s->waiting;
    atn_status status = atn_grow(s->ctx, &seen, &s->seen_room, s->n_seen, sizeof *s->seen);
    s->seen = seen;
    if (status == ATN_OK) status = atn_grow(s->ctx, &waiting, &s->waiting_room, s->n_waiting, sizeof *s->waiting);
    s->waiting = waiting;
    char *copy = status == ATN_OK ? atn_strdup(s->ctx, name) : NULL;
    if (!copy) return ATN_ERR_MEMORY;
    memmove(s->seen + at + 1, s->seen + at, (s->n_seen - at) * sizeof *s->seen);
    s->seen[at] = copy;
    ++s->n_seen;
    size_t k = s->n_waiting++; /* the next one is the last */
    for (; k > 0 && volume_compare_names(s->waiting[k - 1], copy) < 0; --k) s->waiting[k] = s->waiting[k - 1];
    s->waiting[k] = copy;
    return ATN_OK;
}

/* Did it change since it was looked through? Times of change are coarse: a young one may hide a second change. */
static bool worth_a_look(atn_stream *s) {
    struct stat info;
    struct timespec now;
    if (stat(s->options.folder, &info) != 0) return true; /* listing says why */
    clock_gettime(CLOCK_REALTIME, &now);
    double age = (double)(now.tv_sec - info.st_mtim.tv_sec) + 1e-9 * (double)(now.tv_nsec - info.st_mtim.tv_nsec);
    bool same = s->listed_at.tv_sec == info.st_mtim.tv_sec && s->listed_at.tv_nsec == info.st_mtim.tv_nsec;
    if (age > SETTLED_S || age < 0) s->listed_at = info.st_mtim;
    return !same;
}

static bool is_frame(const atn_stream *s, const char *name) {
    if (*name == '.') return false;
    if (s->options.endings) return source_has_ending(name, s->options.endings);
    return !s->options.others || !source_has_ending(name, s->options.others);
}

static atn_status list(atn_stream *s) {
    DIR *dir = opendir(s->options.folder);
    if (!dir) return atn_fail(s->ctx, ATN_ERR_IO, "%s: %s", s->options.folder, strerror(errno));
    atn_status status = ATN_OK;
    for (const struct dirent *entry; status == ATN_OK && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (strcmp(name, "end") == 0)
            s->ends = true;
        else if (is_frame(s, name))
            status = add(s, name);
    }
    closedir(dir);
    return status;
}

static atn_status next_entry(atn_stream *s, bool *any) {
    atn_status status = ATN_OK;
    while (status == ATN_OK && !s->n_waiting && !over(s)) {
        bool ended = s->ends; /* before this look: what is written before `end` is seen by it */
        if (ended || worth_a_look(s)) status = list(s);
        if (s->n_waiting || status != ATN_OK) break;
        if (ended)
            snprintf(s->reason, sizeof s->reason, "the folder has an entry 'end'");
        else if (!s->ends)
            nap(LOOK_S);
    }
    *any = status == ATN_OK && s->n_waiting > 0 && !cancelled(s);
    if (!*any) return status;
    const char *name = s->waiting[--s->n_waiting];
    s->was = (struct stat){0};
    atn_text_clear(&s->path);
    atn_text_printf(&s->path, "%s/%s", s->options.folder, name);
    return atn_text_status(&s->path);
}

atn_status atn_stream_more(atn_stream *stream, bool *more) {
    atn_status status = stream->options.folder && worth_a_look(stream) ? list(stream) : ATN_OK;
    *more = stream->n_waiting > 0;
    return status;
}

bool atn_stream_again(atn_stream *stream, const atn_stream_frame *frame) {
    struct stat now;
    if (!frame->path || cancelled(stream) || stat(frame->path, &now) != 0) return false;
    const struct stat *was = &stream->was;
    bool same = was->st_ino == now.st_ino && was->st_size == now.st_size && was->st_mtim.tv_sec == now.st_mtim.tv_sec &&
                was->st_mtim.tv_nsec == now.st_mtim.tv_nsec;
    if (!same) {
        stream->was = now;
        stream->same_s = atn_clock_seconds();
    } else if (atn_clock_seconds() - stream->same_s >= stream->options.patience_s)
        return false;
    nap(LOOK_S);
    return true;
}

atn_status atn_stream_next(atn_stream *stream, atn_stream_frame *out, bool *any) {
    *any = false;
    *out = (atn_stream_frame){0};
    stream->last_s = atn_clock_seconds();
    if (!*stream->reason && stream->options.frames > 0 && stream->frames == stream->options.frames)
        snprintf(stream->reason, sizeof stream->reason, "%lld frames came", (long long)stream->frames);
    if (*stream->reason) return ATN_OK;
    bool folder = stream->options.folder;
    atn_status status = folder ? next_entry(stream, any) : next_bytes(stream, any);
    if (status != ATN_OK || !*any) {
        *any = false;
        return status;
    }
    *out = (atn_stream_frame){.number = ++stream->frames,
                              .path = folder ? stream->path.data : NULL,
                              .bytes = stream->into ? stream->into : stream->bytes,
                              .came_s = atn_clock_seconds()};
    return ATN_OK;
}
