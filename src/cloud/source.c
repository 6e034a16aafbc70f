/* A file being read, through one sliding buffer. */
#include "cloud/source.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static atn_status make_buffer(source *s) {
    if (s->size == 0) return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: the file is empty", s->name);
    s->room = s->size < CLOUD_PIECE ? s->size : CLOUD_PIECE;
    s->buffer = atn_alloc(s->ctx, s->room + 1);
    return s->buffer ? ATN_OK : ATN_ERR_MEMORY;
}

static atn_status look_at(source *s) {
    struct stat info;
    if (fstat(s->fd, &info) != 0) return atn_fail(s->ctx, ATN_ERR_IO, "%s: %s", s->name, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: %s, a regular file is needed", s->name,
                        S_ISDIR(info.st_mode) ? "is a directory" : "is not a regular file");
    s->size = (size_t)info.st_size;
    return make_buffer(s);
}

atn_status source_open(const atn_ctx *ctx, const char *path, source *out) {
    *out = (source){.ctx = ctx, .name = path};
    out->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not blocking: a pipe without a writer must not hang */
    if (out->fd < 0) return atn_fail(ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
    atn_status status = look_at(out);
    if (status != ATN_OK) source_close(out);
    return status;
}

atn_status source_of_bytes(const atn_ctx *ctx, const char *name, const char *bytes, size_t length, source *out) {
    *out = (source){.ctx = ctx, .name = name, .fd = -1, .bytes = bytes, .size = length};
    return make_buffer(out);
}

void source_close(source *s) {
    if (!s->ctx) return;
    if (s->fd >= 0) close(s->fd);
    atn_free(s->ctx, s->buffer);
    *s = (source){0};
}

atn_status source_twin(const source *s, source *out) {
    *out = *s;
    out->buffer = NULL;
    out->at = out->have = out->fetched = 0;
    if (s->fd >= 0) out->fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
    if (s->fd >= 0 && out->fd < 0) {
        *out = (source){0};
        return atn_fail(s->ctx, ATN_ERR_IO, "%s: %s", s->name, strerror(errno));
    }
    atn_status status = make_buffer(out);
    if (status != ATN_OK) source_close(out);
    return status;
}

void source_seek(source *s, size_t place) {
    s->at = s->have = 0;
    s->fetched = place;
}

static size_t place(const source *s) { return s->fetched - (s->have - s->at); }

size_t source_left(const source *s) { return s->size - place(s); }

atn_status source_wrong(const source *s, const char *format, ...) {
    char what[ATN_MESSAGE_BYTES];
    ATN_FORMAT(what, format);
    if (s->text) return atn_fail(s->ctx, ATN_ERR_INPUT, "%s:%lld: %s", s->name, (long long)s->line, what);
    return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: byte %zu: %s", s->name, s->item, what);
}

enum { LARGE = 1 << 23 };

/* "reading scan.ply: 42 %". */
static atn_status tell(const source *s) {
    char doing[64];
    const char *slash = strrchr(s->name, '/');
    snprintf(doing, sizeof doing, "reading %.40s", slash ? slash + 1 : s->name);
    return atn_tell_progress(s->ctx, doing, (int64_t)s->fetched, (int64_t)s->size);
}

/* Up to `room` bytes from where we are; a file that ends before its size shrank. */
static atn_status fetch(source *s) {
    atn_status status = atn_check_cancel(s->ctx);
    if (status != ATN_OK) return status;
    memmove(s->buffer, s->buffer + s->at, s->have - s->at);
    s->have -= s->at;
    s->at = 0;
    size_t wanted = s->size - s->fetched;
    if (wanted > s->room - s->have) wanted = s->room - s->have;
    if (s->fd < 0) {
        memcpy(s->buffer + s->have, s->bytes + s->fetched, wanted);
        s->have += wanted;
        s->fetched += wanted;
        return ATN_OK;
    }
    while (wanted) {
        ssize_t got = pread(s->fd, s->buffer + s->have, wanted, (off_t)s->fetched);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return atn_fail(s->ctx, ATN_ERR_IO, "%s: %s", s->name, strerror(errno));
        if (got == 0)
            return atn_fail(s->ctx, ATN_ERR_IO, "%s: ended at byte %zu of %zu: it shrank while it was read", s->name,
                            s->fetched, s->size);
        s->have += (size_t)got;
        s->fetched += (size_t)got;
        wanted -= (size_t)got;
    }
    return s->tells && s->size > LARGE ? tell(s) : ATN_OK;
}

atn_status source_peek(source *s, size_t bytes, const char **out, size_t *length) {
    if (bytes > source_left(s)) bytes = source_left(s);
    if (bytes > s->room) bytes = s->room;
    atn_status status = s->have - s->at < bytes ? fetch(s) : ATN_OK;
    *out = s->buffer + s->at;
    *length = bytes;
    return status;
}

atn_status source_take(source *s, size_t bytes, const char **out) {
    s->item = place(s);
    *out = NULL;
    if (bytes > source_left(s)) return source_wrong(s, "%zu bytes are missing", bytes - source_left(s));
    if (bytes > s->room) return source_wrong(s, "a record of %zu bytes; at most %d are read", bytes, CLOUD_PIECE);
    atn_status status = s->have - s->at < bytes ? fetch(s) : ATN_OK;
    if (status != ATN_OK) return status;
    *out = s->buffer + s->at;
    s->at += bytes;
    return ATN_OK;
}

/* A copy to NULL goes nowhere. */
atn_status source_copy(source *s, void *to, size_t bytes) {
    size_t start = s->item = place(s);
    if (bytes > source_left(s)) return source_wrong(s, "%zu bytes are missing", bytes - source_left(s));
    for (char *at = to; bytes;) {
        size_t piece = bytes < s->room ? bytes : s->room;
        const char *from;
        atn_status status = source_take(s, piece, &from);
        if (status != ATN_OK) return status;
        if (at) at = (char *)memcpy(at, from, piece) + piece;
        bytes -= piece;
    }
    s->item = start;
    return ATN_OK;
}

atn_status source_skip(source *s, size_t bytes) { return source_copy(s, NULL, bytes); }

atn_status source_line(source *s, char **out) {
    *out = NULL;
    if (source_left(s) == 0) return ATN_OK;
    s->item = place(s);
    ++s->line;
    char *end = s->have > s->at ? memchr(s->buffer + s->at, '\n', s->have - s->at) : NULL;
    if (!end) {
        atn_status status = fetch(s);
        if (status != ATN_OK) return status;
        end = memchr(s->buffer, '\n', s->have);
        if (!end && s->fetched < s->size) return source_wrong(s, "a line of more than %d bytes", CLOUD_PIECE);
    }
    char *start = s->buffer + s->at;
    size_t length = end ? (size_t)(end - start) : s->have - s->at;
    s->at += length + (end != NULL);
    start[length] = '\0'; /* the buffer has room for one more */
    if (strlen(start) != length) return source_wrong(s, "a zero byte where text is expected");
    if (length && start[length - 1] == '\r') start[length - 1] = '\0';
    *out = start;
    return ATN_OK;
}

atn_status source_skip_mark(source *s) {
    const char *head;
    size_t length;
    atn_status status = source_peek(s, 3, &head, &length);
    if (status != ATN_OK) return status;
    if (length >= 2 && (memcmp(head, "\xff\xfe", 2) == 0 || memcmp(head, "\xfe\xff", 2) == 0))
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: byte 0: text in UTF-16; save it as UTF-8", s->name);
    return length == 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? source_skip(s, 3) : ATN_OK;
}

bool source_has_ending(const char *name, const char *endings) {
    size_t length = strlen(name);
    while (*endings) {
        size_t word = strcspn(endings, " ");
        if (length > word && name[length - word - 1] == '.' && strncasecmp(name + length - word, endings, word) == 0)
            return true;
        endings += word + (endings[word] == ' ');
    }
    return false;
}
