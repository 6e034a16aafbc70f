/* A file whose points several ranks have. The first rank asks for piece after piece, in the order of the points, and
 * writes them to a temporary file that is renamed at the end; the others generate theirs when it is their turn. */
#include "cloud/part.h"

#include "base/memory.h"
#include "base/writer.h"
#include "cloud/formats.h"

enum { PIECE = CLOUD_RUN }; /* points that are generated at a time */

static const cloud_format *format_of(const char *path) {
    const cloud_format *format = cloud_format_of(path, "", 0);
    return format && format->write && !format->whole ? format : NULL;
}

bool cloud_part_can_write(const char *path) { return format_of(path) != NULL; }

atn_status cloud_part_check_output(const atn_ctx *ctx, const char *path) {
    if (cloud_part_can_write(path)) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_UNSUPPORTED,
                    "%s: the beginning of such a file depends on all points, which no rank has; write another format",
                    path);
}

/* Points from ... end - 1 of this rank, the first of all of them or not, as bytes of the file. */
static atn_status generate(const cloud_part *part, size_t from, size_t end, bool first, const double transform[16],
                           const char *path, atn_text *out) {
    const atn_ctx *ctx = part->ranks->ctx;
    size_t count = end - from;
    uint32_t *index = atn_alloc(ctx, (count + 1) * sizeof *index);
    atn_cloud *some = NULL, *moved = NULL;
    atn_status status = index ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < count && status == ATN_OK; ++k) index[k] = (uint32_t)(from + k);
    if (status == ATN_OK) status = cloud_select(part->cloud, index, count, &some);
    if (status == ATN_OK) status = atn_cloud_moved(some, transform, &moved);
    if (status == ATN_OK) {
        moved->stretch.of = part->total;
        moved->stretch.first = first;
        status = format_of(path)->write(moved, source_has_ending(path, "csv") ? ',' : ' ', out);
    }
    if (status == ATN_OK) status = atn_text_status(out);
    atn_cloud_free(moved);
    atn_cloud_free(some);
    atn_free(ctx, index);
    return status;
}

typedef struct turn {
    const cloud_part *part;
    const double *transform;
    const char *path;
    atn_writer *writer; /* of the first rank */
    bool any;           /* a piece was written */
} turn;

/* From a rank to the first one, which has room for it before anything is sent. */
static atn_status hand_over(turn *t, int32_t from, const atn_text *text, size_t bytes) {
    atn_ranks *ranks = t->part->ranks;
    char *piece = ranks->rank ? NULL : atn_alloc(ranks->ctx, bytes);
    atn_status status = atn_ranks_agree(ranks, ranks->rank || piece ? ATN_OK : ATN_ERR_MEMORY);
    if (status == ATN_OK && ranks->rank == from) status = atn_ranks_send(ranks, 0, text->data, text->length);
    if (status == ATN_OK && piece) status = atn_ranks_receive(ranks, from, piece, bytes);
    if (status == ATN_OK && piece) status = atn_writer_add(t->writer, piece, bytes);
    atn_free(ranks->ctx, piece);
    return status;
}

/* A piece of rank `of`: its size is told to all, then it goes to the first rank. */
static atn_status pass(turn *t, int32_t of, size_t from, size_t end, atn_status status, bool *more) {
    atn_ranks *ranks = t->part->ranks;
    atn_text text = {.ctx = ranks->ctx};
    uint64_t said[2] = {0, 0}; /* bytes, is there another piece? */
    bool mine = ranks->rank == of;
    if (mine && from < end && status == ATN_OK) {
        size_t stop = end - from > PIECE ? from + PIECE : end;
        status = generate(t->part, from, stop, !t->any, t->transform, t->path, &text);
        said[0] = text.length;
        said[1] = stop < end;
    }
    status = atn_ranks_broadcast(ranks, status, of, said, sizeof said);
    *more = status == ATN_OK && said[1];
    t->any = t->any || (status == ATN_OK && said[0]);
    if (status == ATN_OK && said[0] && of) status = hand_over(t, of, &text, (size_t)said[0]);
    if (status == ATN_OK && said[0] && mine && !of) status = atn_writer_add(t->writer, text.data, text.length);
    atn_text_free(&text);
    return status;
}

atn_status cloud_part_write(const cloud_part *part, const double transform[16], const char *path) {
    atn_ranks *ranks = part->ranks;
    turn t = {.part = part, .transform = transform, .path = path};
    atn_status status = ranks->rank ? ATN_OK : atn_writer_open(ranks->ctx, path, &t.writer);
    status = atn_ranks_agree(ranks, status);
    for (size_t run = 0; run < part->most && status == ATN_OK; ++run)
        for (int32_t of = 0; of < ranks->count && status == ATN_OK; ++of) {
            bool own = of == ranks->rank && run < part->runs, more = true;
            size_t from = own ? part->start[run] : 0, end = own ? part->start[run + 1] : 0;
            for (; more && status == ATN_OK; from += PIECE) status = pass(&t, of, from, end, status, &more);
        }
    status = atn_ranks_agree(ranks, status);
    if (status == ATN_OK && !ranks->rank) status = atn_writer_finish(t.writer);
    atn_writer_free(t.writer);
    return atn_ranks_agree(ranks, status);
}
