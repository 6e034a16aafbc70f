/* Whole files. Only regular files are read; files are written under a temporary name and renamed into place. */
#include "base/file.h"

#include "base/memory.h"
#include "base/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAMPLE = 16 << 10 }; /* bytes */

atn_status atn_file_read_from(const atn_ctx *ctx, int fd, const char *path, size_t limit, char **data, size_t *length) {
    struct stat info;
    *data = NULL;
    *length = 0;
    if (fstat(fd, &info) != 0) return atn_fail(ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: %s, a regular file is needed", path,
                        S_ISDIR(info.st_mode) ? "is a directory" : "is not a regular file");
    size_t size = (size_t)info.st_size, done = 0;
    if (size > limit) return atn_fail(ctx, ATN_ERR_INPUT, "%s: %zu bytes, at most %zu are read", path, size, limit);
    char *bytes = atn_alloc(ctx, size + 1);
    if (!bytes) return ATN_ERR_MEMORY;
    while (done < size) {
        ssize_t got = read(fd, bytes + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            if (got == 0)
                (void)atn_fail(ctx, ATN_ERR_IO, "%s: ended at byte %zu of %zu: it shrank while it was read", path, done,
                               size);
            else
                (void)atn_fail(ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
            atn_free(ctx, bytes);
            return ATN_ERR_IO;
        }
        done += (size_t)got;
    }
    bytes[size] = '\0';
    *data = bytes;
    *length = size;
    return ATN_OK;
}

atn_status atn_file_read(const atn_ctx *ctx, const char *path, size_t limit, char **data, size_t *length) {
    *data = NULL;
    *length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* not blocking: a pipe without a writer must not hang */
    if (fd < 0) return atn_fail(ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
    atn_status status = atn_file_read_from(ctx, fd, path, limit, data, length);
    close(fd);
    return status;
}

atn_status atn_file_read_stream(const atn_ctx *ctx, int fd, const char *path, size_t limit, char **data,
                                size_t *length) {
    size_t room = 1 << 16, done = 0;
    char *bytes = atn_alloc(ctx, room);
    *data = NULL;
    *length = 0;
    while (bytes) {
        ssize_t got = read(fd, bytes + done, room - done - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 || done + (size_t)got > limit) {
            atn_status status = got < 0 ? atn_fail(ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno))
                                        : atn_fail(ctx, ATN_ERR_INPUT, "%s: at most %zu bytes are read", path, limit);
            atn_free(ctx, bytes);
            return status;
        }
        done += (size_t)got;
        if (got == 0) {
            bytes[done] = '\0';
            *data = bytes;
            *length = done;
            return ATN_OK;
        }
        if (room - done > 1) continue;
        char *larger = atn_resize(ctx, bytes, room * 2);
        if (!larger) atn_free(ctx, bytes);
        bytes = larger;
        room *= 2;
    }
    return ATN_ERR_MEMORY;
}

atn_status atn_file_write(const atn_ctx *ctx, const char *path, const void *data, size_t length) {
    atn_writer *writer;
    atn_status status = atn_writer_open(ctx, path, &writer);
    if (status != ATN_OK) return status;
    status = atn_writer_add_whole(writer, data, length);
    if (status == ATN_OK) status = atn_writer_finish(writer);
    atn_writer_free(writer);
    return status;
}

/* ---- is it the same ---- */

static atn_status hash_samples(const atn_ctx *ctx, int fd, const char *path, int samples, char *data, atn_hash *hash) {
    struct stat about;
    if (fstat(fd, &about) != 0) return atn_fail(ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
    int64_t size = about.st_size, last = size > SAMPLE ? size - SAMPLE : 0, before = -1;
    *hash = atn_hash_add(*hash, &size, sizeof size);
    for (int k = 0; k < samples; ++k) {
        int64_t at = size > (int64_t)samples * SAMPLE ? last / (samples - 1) * k : (int64_t)k * SAMPLE;
        if (k == samples - 1 || at > last) at = last;
        if (at == before) break;
        ssize_t got = pread(fd, data, SAMPLE, (off_t)at);
        if (got < 0) return atn_fail(ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
        *hash = atn_hash_add(*hash, data, (size_t)got);
        before = at;
    }
    return ATN_OK;
}

atn_status atn_file_hash_samples(const atn_ctx *ctx, const char *path, int samples, atn_hash *hash) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return atn_fail(ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
    char *data = atn_alloc(ctx, SAMPLE);
    atn_status status = data ? hash_samples(ctx, fd, path, samples, data, hash) : ATN_ERR_MEMORY;
    atn_free(ctx, data);
    close(fd);
    return status;
}
