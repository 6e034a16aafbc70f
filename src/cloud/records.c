/* Records read by all cores: every worker reads pieces of its own into its own buffer and puts numbers where they
 * belong, column by column. Pieces are read, not mapped: a file that shrinks meanwhile is an error, not a signal. */
#include "cloud/records.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 18 }; /* bytes that a worker reads at a time */

typedef struct reading {
    source *s;
    atn_cloud *cloud;
    const cloud_records *r;
    char *buffer;        /* owned; `room` bytes for each worker, unless the file is in memory */
    size_t room, first;  /* bytes; the cloud's point that the first record becomes */
    size_t from;         /* records of the file before the first */
    atomic_size_t wrong; /* the first record with a number that cannot be; SIZE_MAX: none */
    atomic_int error;    /* of reading; -1: the file ended; 0: none */
    atomic_bool cancelled;
} reading;

/* ---- a piece ---- */

static bool host_is_big(void) {
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

/* Numbers of one part of records from ... to as doubles; floats of this machine's order without a detour. */
static void load_part(const cloud_records *r, const record_part *part, const char *bytes, size_t count, double *out) {
    const char *at = bytes + part->at;
    bool plain = r->big == host_is_big();
    if (plain && part->type == NUMBER_F32)
        for (size_t k = 0; k < count; ++k, at += r->stride) {
            float single;
            memcpy(&single, at, sizeof single);
            out[k] = (double)single;
        }
    else if (plain && part->type == NUMBER_F64)
        for (size_t k = 0; k < count; ++k, at += r->stride) memcpy(&out[k], at, sizeof *out);
    else
        for (size_t k = 0; k < count; ++k, at += r->stride) out[k] = number_load(part->type, at, r->big);
    for (size_t k = 0; k < count && part->scale != 0; ++k) out[k] = part->scale * out[k] + part->shift;
}

static void note_wrong(reading *g, size_t record) {
    size_t seen = atomic_load(&g->wrong);
    while (record < seen && !atomic_compare_exchange_weak(&g->wrong, &seen, record)) continue;
}

static void put_species(reading *g, const double *value, size_t record, size_t count) {
    int32_t *to = (int32_t *)g->cloud->column[ROLE_SPECIES] + g->first + record;
    for (size_t k = 0; k < count; ++k)
        if (value[k] >= INT32_MIN && value[k] <= INT32_MAX)
            to[k] = (int32_t)value[k];
        else
            note_wrong(g, record + k);
}

static void put_extra(const reading *g, const record_part *part, const char *bytes, size_t record, size_t count) {
    cloud_extras *extras = &g->cloud->extra;
    const cloud_extra *e = &extras->field[part->extra];
    size_t each = number_bytes(e->type), all = each * e->values;
    char *to = extras->data + (g->first + record) * extras->bytes + e->at;
    const char *from = bytes + part->at;
    for (size_t k = 0; k < count; ++k, to += extras->bytes, from += g->r->stride)
        if (!g->r->big)
            memcpy(to, from, all);
        else
            for (size_t v = 0; v < e->values; ++v) number_copy(e->type, from + v * each, true, to + v * each);
}

/* A normal that is not finite is not known. */
static void check_normals(const reading *g, size_t record, size_t count) {
    if (!(g->cloud->roles & ROLE_NORMAL)) return;
    float *n[3];
    for (int d = 0; d < 3; ++d) n[d] = (float *)g->cloud->column[ROLE_NX + d] + g->first + record;
    for (size_t k = 0; k < count; ++k)
        if (!isfinite(n[0][k]) || !isfinite(n[1][k]) || !isfinite(n[2][k])) n[0][k] = n[1][k] = n[2][k] = 0;
}

static void put_piece(reading *g, const char *bytes, size_t record, size_t count) {
    enum { SOME = 512 };
    double value[SOME];
    for (size_t from = 0; from < count; from += SOME) {
        size_t some = count - from < SOME ? count - from : SOME, at = record + from;
        const char *records = bytes + from * g->r->stride;
        for (size_t p = 0; p < g->r->n_parts; ++p) {
            const record_part *part = &g->r->part[p];
            if (part->role == ROLE_NONE) {
                if (part->extra != SIZE_MAX) put_extra(g, part, records, at, some);
                continue;
            }
            if (!(g->cloud->roles & ROLE_BIT(part->role))) continue;
            load_part(g->r, part, records, some, value);
            void *column = g->cloud->column[part->role];
            if (part->role <= ROLE_Z)
                memcpy((double *)column + g->first + at, value, some * sizeof *value);
            else if (part->role == ROLE_SPECIES)
                put_species(g, value, at, some);
            else
                for (size_t k = 0; k < some; ++k) ((float *)column)[g->first + at + k] = (float)value[k];
        }
        check_normals(g, at, some);
    }
}

static bool fetch(reading *g, char *to, size_t bytes, size_t place) {
    while (bytes) {
        ssize_t got = pread(g->s->fd, to, bytes, (off_t)place);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            atomic_store(&g->error, got < 0 ? errno : -1);
            return false;
        }
        to += got;
        place += (size_t)got;
        bytes -= (size_t)got;
    }
    return true;
}

static void read_some(void *user, int64_t from, int64_t to) {
    int32_t worker = atn_parallel_worker();
    reading *g = user;
    size_t stride = g->r->stride, most = g->room / stride;
    char *buffer = g->buffer ? g->buffer + (size_t)worker * g->room : NULL;
    for (size_t at = (size_t)from, end = (size_t)to; at < end;) {
        size_t some = end - at < most ? end - at : most, place = g->r->start + at * stride;
        if (atomic_load(&g->error)) return;
        if (atn_check_cancel(g->s->ctx) != ATN_OK) {
            atomic_store(&g->cancelled, true);
            return;
        }
        if (buffer && !fetch(g, buffer, some * stride, place)) return;
        put_piece(g, buffer ? buffer : g->s->bytes + place, at, some);
        at += some;
    }
}

/* ---- the whole ---- */

static void stand_at(reading *g, size_t record) {
    g->s->item = g->r->start + record * g->r->stride;
    if (!g->r->rows) return;
    g->s->text = true;
    g->s->line = (int64_t)(g->from + record) + 1;
}

static atn_status say_invalid(void *user, size_t point) {
    reading *g = user;
    stand_at(g, point - g->first);
    double value[ROLE_COUNT] = {0};
    for (cloud_role d = 0; d < 3; ++d) value[d] = cloud_get(g->cloud, d, point);
    return cloud_add(g->cloud, g->s, value); /* which refuses it */
}

static atn_status outcome(reading *g) {
    int error = atomic_load(&g->error);
    size_t wrong = atomic_load(&g->wrong);
    if (atomic_load(&g->cancelled)) return atn_check_cancel(g->s->ctx);
    if (error == -1)
        return atn_fail(g->s->ctx, ATN_ERR_IO, "%s: ended before byte %zu: it shrank while it was read", g->s->name,
                        g->s->size);
    if (error) return atn_fail(g->s->ctx, ATN_ERR_IO, "%s: %s", g->s->name, strerror(error));
    if (wrong != SIZE_MAX) {
        stand_at(g, wrong);
        return source_wrong(g->s, "a species is a whole number of 32 bits");
    }
    g->cloud->count += g->r->count;
    return cloud_filled(g->cloud, g->first, say_invalid, g);
}

atn_status cloud_records_read(source *s, atn_cloud *cloud, const cloud_records *records) {
    size_t stride = records->stride, end = records->start + records->count * stride;
    reading g = {.s = s, .cloud = cloud, .r = records, .first = cloud->count};
    cloud_records own;
    if (cloud->part.of > 1) {
        own = *records;
        cloud_part_range(cloud, records->count, &g.from, &own.count);
        own.start += g.from * stride;
        g.r = records = &own;
    }
    g.room = stride > PIECE ? stride : PIECE / stride * stride;
    atomic_init(&g.wrong, SIZE_MAX);
    int64_t least = (int64_t)records->count; /* of one part, where nothing is to be read side by side */
    if (s->fd >= 0 && records->count) {
        size_t workers = records->count * stride > PIECE ? (size_t)atn_parallel_workers() : 1;
        g.buffer = atn_alloc(s->ctx, workers * g.room);
        if (!g.buffer) return ATN_ERR_MEMORY;
        if (workers > 1) least = (int64_t)(g.room / stride);
    }
    atn_parallel((int64_t)records->count, least, read_some, &g);
    atn_free(s->ctx, g.buffer);
    source_seek(s, end);
    return outcome(&g);
}
