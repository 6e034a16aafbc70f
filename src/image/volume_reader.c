/* Volumes scan by scan: from a folder, a multi-page TIFF, a single image, or a raw file. */
#include "image/volume.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/size.h"
#include "base/sized.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct atn_volume_reader {
    const atn_ctx *ctx;
    volume_facts facts;
    size_t next;       /* the scan that comes next */
    raster first;      /* it was read to know what the others must be like; owned until it is returned */
    source s;          /* of a raw file or a TIFF */
    tiff_pages *pages; /* of a TIFF; owned */
    char **names;      /* of the files of a folder; owned */
    size_t n_names;
    bool failed;
};

atn_volume_info volume_info_of(const volume_facts *facts) {
    return (atn_volume_info){.format = facts->format,
                             .frames = (int64_t)facts->frames,
                             .height = (int64_t)facts->height,
                             .width = (int64_t)facts->width,
                             .bits = facts->bits,
                             .frame_bytes = facts->frame_bytes,
                             .spacing = {facts->spacing[0], facts->spacing[1], facts->spacing[2]},
                             .unit = facts->unit};
}

/* Raw files are little-endian. */
static void to_host(uint16_t *values, size_t count) {
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) return;
    for (size_t k = 0; k < count; ++k) values[k] = (uint16_t)(values[k] << 8 | values[k] >> 8);
}

/* ---- opening: each kind says how many scans there are, and what the first is like ---- */

static atn_status open_raw(atn_volume_reader *r, const int64_t shape[3]) {
    int64_t values;
    volume_facts *f = &r->facts;
    if (shape[0] <= 0 || shape[1] <= 0 || shape[2] <= 0)
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: a shape of %lldx%lldx%lld; all must be positive", r->s.name,
                        (long long)shape[0], (long long)shape[1], (long long)shape[2]);
    bool fits = atn_i64_mul(shape[0], shape[1], &values) && atn_i64_mul(values, shape[2], &values);
    size_t bytes = !fits                                                     ? 0
                   : (uint64_t)values == r->s.size                           ? 1
                   : (uint64_t)values == r->s.size / 2 && r->s.size % 2 == 0 ? 2
                                                                             : 0;
    if (bytes == 0)
        return atn_fail(r->ctx, ATN_ERR_INPUT,
                        "%s: %lldx%lldx%lld values of 8 or 16 bits are not the %zu bytes of the file", r->s.name,
                        (long long)shape[0], (long long)shape[1], (long long)shape[2], r->s.size);
    f->frames = (size_t)shape[0];
    f->height = (size_t)shape[1];
    f->width = (size_t)shape[2];
    f->bits = (int32_t)bytes * 8;
    f->frame_bytes = f->height * f->width * bytes;
    snprintf(f->format, sizeof f->format, "raw, %d bits", f->bits);
    return ATN_OK;
}

static atn_status read_file(const atn_ctx *ctx, const char *path, raster *out) {
    source s;
    *out = (raster){.ctx = ctx};
    atn_status status = source_open(ctx, path, &s);
    if (status == ATN_OK) status = image_read_raster(&s, NULL, out);
    source_close(&s);
    if (status != ATN_OK || out->pages <= 1) return status;
    raster_free(out);
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: %lld pages; in a folder every scan is a file", path,
                    (long long)out->pages);
}

/* The next scan of a folder or TIFF, which must be there; *name is for messages. */
static atn_status read_next(atn_volume_reader *r, size_t at, raster *out, const char **name) {
    *out = (raster){.ctx = r->ctx};
    *name = r->names ? r->names[at] : r->s.name;
    if (r->names) return read_file(r->ctx, r->names[at], out);
    atn_status status = image_tiff_page(r->pages, out);
    if (status != ATN_OK) raster_free(out);
    return status;
}

static atn_status look_at_first(atn_volume_reader *r, const char *what) {
    const char *name;
    volume_facts *f = &r->facts;
    atn_status status = read_next(r, 0, &r->first, &name);
    if (status != ATN_OK) return status;
    if (r->first.type == RASTER_F32)
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: %s; the scans of a volume have whole numbers of 8 or 16 bits", name,
                        r->first.format);
    size_t bytes = raster_value_bytes(r->first.type);
    f->width = r->first.width;
    f->height = r->first.height;
    f->bits = (int32_t)bytes * 8;
    f->frame_bytes = f->width * f->height * bytes;
    snprintf(f->format, sizeof f->format, "%s%s", what, r->first.format);
    return ATN_OK;
}

static atn_status open_folder(atn_volume_reader *r, const char *path) {
    atn_status status = volume_names_read(r->ctx, path, &r->names, &r->n_names);
    r->facts.frames = r->n_names;
    return status == ATN_OK ? look_at_first(r, "folder of ") : status;
}

static atn_status open_tiff(atn_volume_reader *r) {
    atn_status status = image_tiff_open(&r->s, &r->pages);
    if (status != ATN_OK) return status;
    r->facts.frames = (size_t)image_tiff_count(r->pages);
    return look_at_first(r, "");
}

static atn_status open_picture(atn_volume_reader *r, const char *path) {
    source_close(&r->s);
    r->names = atn_zalloc(r->ctx, sizeof *r->names);
    if (!r->names) return ATN_ERR_MEMORY;
    r->n_names = r->facts.frames = 1;
    r->names[0] = atn_strdup(r->ctx, path);
    return r->names[0] ? look_at_first(r, "") : ATN_ERR_MEMORY;
}

static atn_status open_file(atn_volume_reader *r, const char *path, const int64_t given[3], const int64_t noted[3]) {
    atn_status status = source_open(r->ctx, path, &r->s);
    if (status != ATN_OK) return status;
    if (given[0] || given[1] || given[2]) return open_raw(r, given);
    const char *head;
    size_t length;
    status = source_peek(&r->s, IMAGE_HEAD, &head, &length);
    if (status != ATN_OK) return status;
    if (image_tiff_begins(head, length)) return open_tiff(r);
    if (image_format_of(head, length)) return open_picture(r, path);
    if (noted[0]) return open_raw(r, noted);
    return atn_fail(
        r->ctx, ATN_ERR_INPUT,
        "%s: no volume: a folder of PNG, BMP or TIFF files, a TIFF with pages, or a raw file with its shape", path);
}

static atn_status open_any(atn_volume_reader *r, const char *path, const atn_volume_settings *options) {
    static const atn_volume_settings defaults;
    if (!options) options = &defaults;
    if (!volume_spacing_is_right(options->spacing))
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: a spacing is three positive numbers: x, y, z", path);
    struct stat info;
    if (*path == '\0' || stat(path, &info) != 0)
        return atn_fail(r->ctx, ATN_ERR_IO, "%s: %s", path, *path ? strerror(errno) : "no name");
    bool folder = S_ISDIR(info.st_mode);
    volume_notes notes;
    atn_status status = volume_notes_read(r->ctx, path, folder, &notes);
    if (status != ATN_OK) return status;
    bool given = options->spacing[0] > 0;
    memcpy(r->facts.spacing, given ? options->spacing : notes.spacing, sizeof r->facts.spacing);
    memcpy(r->facts.unit, notes.unit, sizeof r->facts.unit);
    return folder ? open_folder(r, path) : open_file(r, path, options->shape, notes.shape);
}

atn_status atn_volume_open(atn_ctx *ctx, const char *path, const atn_volume_settings *given, atn_volume_reader **out) {
    atn_volume_settings settings;
    *out = NULL;
    atn_status status = ATN_TAKE(ctx, atn_volume_settings, given, &settings);
    if (status != ATN_OK) return status;
    atn_volume_reader *r = atn_zalloc(ctx, sizeof *r);
    if (!r) return ATN_ERR_MEMORY;
    r->ctx = ctx;
    status = open_any(r, path, &settings);
    if (status == ATN_OK)
        *out = r;
    else
        atn_volume_close(r);
    return status;
}

const volume_facts *volume_reader_facts(const atn_volume_reader *reader) { return &reader->facts; }

atn_status atn_volume_reader_get_info(const atn_volume_reader *reader, atn_volume_info *out) {
    atn_volume_info info = volume_info_of(&reader->facts);
    return ATN_GIVE(reader->ctx, atn_volume_info, &info, out);
}

/* ---- scan after scan ---- */

static atn_status check_like_first(const atn_volume_reader *r, size_t at, const raster *scan, const char *name) {
    const volume_facts *f = &r->facts;
    int32_t bits = (int32_t)raster_value_bytes(scan->type) * 8;
    if (scan->width == f->width && scan->height == f->height && bits == f->bits) return ATN_OK;
    return atn_fail(r->ctx, ATN_ERR_INPUT,
                    "%s: scan %zu has %zu x %zu pixels of %d bits, the first %zu x %zu of %d; all must be alike", name,
                    at, scan->width, scan->height, bits, f->width, f->height, f->bits);
}

static atn_status take_next(atn_volume_reader *r, void *frame) {
    const volume_facts *f = &r->facts;
    if (!r->names && !r->pages) {
        atn_status status = source_copy(&r->s, frame, f->frame_bytes);
        if (status == ATN_OK && f->bits == 16) to_host(frame, f->frame_bytes / 2);
        return status;
    }
    raster scan = r->first;
    r->first.data = NULL;
    atn_status status = ATN_OK;
    if (r->next > 0) {
        const char *name;
        status = read_next(r, r->next, &scan, &name);
        if (status == ATN_OK) status = check_like_first(r, r->next, &scan, name);
    }
    if (status == ATN_OK && scan.data) memcpy(frame, scan.data, f->frame_bytes);
    raster_free(&scan);
    return status;
}

atn_status atn_volume_next(atn_volume_reader *reader, void *frame, bool *any) {
    *any = false;
    if (reader->failed) return atn_fail(reader->ctx, ATN_ERR_INPUT, "the volume could not be read before; close it");
    if (reader->next == reader->facts.frames) return ATN_OK;
    atn_status status = take_next(reader, frame);
    reader->failed = status != ATN_OK;
    *any = !reader->failed;
    reader->next += *any;
    return status;
}

enum { AT_ONCE = 256 }; /* files between two reports of progress */

/* Files of a folder are decoded by all cores. If several are invalid, the message of the first is reported. */
typedef struct batch {
    const atn_volume_reader *r;
    unsigned char *frames;
    atomic_size_t bad; /* the first scan that could not be read, from 0; SIZE_MAX: none */
    pthread_mutex_t lock;
    atn_status status;
    char why[512];
} batch;

static void note_bad(batch *b, size_t at, atn_status status) {
    pthread_mutex_lock(&b->lock);
    if (at < b->bad) {
        b->bad = at;
        b->status = status;
        snprintf(b->why, sizeof b->why, "%s", atn_ctx_message(b->r->ctx));
    }
    pthread_mutex_unlock(&b->lock);
}

static void read_part(void *user, int64_t from, int64_t to) {
    batch *b = user;
    size_t bytes = b->r->facts.frame_bytes;
    for (size_t k = (size_t)from; k < (size_t)to && k < b->bad; ++k) {
        raster scan;
        size_t at = b->r->next + k;
        atn_status status = read_file(b->r->ctx, b->r->names[at], &scan);
        if (status == ATN_OK) status = check_like_first(b->r, at, &scan, b->r->names[at]);
        if (status == ATN_OK) memcpy(b->frames + k * bytes, scan.data, bytes);
        raster_free(&scan);
        if (status != ATN_OK) note_bad(b, k, status);
    }
}

static atn_status take_files(atn_volume_reader *r, unsigned char *frames, size_t count) {
    batch b = {.r = r, .frames = frames, .bad = SIZE_MAX, .lock = PTHREAD_MUTEX_INITIALIZER};
    atn_parallel((int64_t)count, 1, read_part, &b);
    r->failed = b.bad != SIZE_MAX;
    if (r->failed) return atn_fail(r->ctx, b.status, "%s", b.why);
    r->next += count;
    return ATN_OK;
}

static atn_status tell(const atn_volume_reader *r) {
    return atn_tell_progress(r->ctx, "reading scans", (int64_t)r->next, (int64_t)r->facts.frames);
}

atn_status volume_reader_take(atn_volume_reader *r, void *frames, size_t count) {
    unsigned char *to = frames;
    bool any;
    for (; count > 0 && (!r->names || r->next == 0); --count, to += r->facts.frame_bytes) {
        atn_status status = atn_volume_next(r, to, &any);
        if (status == ATN_OK) status = tell(r);
        if (status != ATN_OK) return status;
    }
    while (count > 0) {
        size_t some = count < AT_ONCE ? count : AT_ONCE;
        atn_status status = take_files(r, to, some);
        if (status == ATN_OK) status = tell(r);
        if (status != ATN_OK) return status;
        to += some * r->facts.frame_bytes;
        count -= some;
    }
    return ATN_OK;
}

void atn_volume_close(atn_volume_reader *reader) {
    if (!reader) return;
    raster_free(&reader->first);
    image_tiff_close(reader->pages);
    source_close(&reader->s);
    volume_names_free(reader->ctx, reader->names, reader->names && reader->names[0] ? reader->n_names : 0);
    atn_free(reader->ctx, reader);
}
