/* Whole files. Reading refuses what is no regular file; writing goes aside and is renamed into place. */
#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_TRIES = 1000 }; /* of names for a file written aside */

static atn_status read_all(const atn_ctx *ctx, const char *path, int fd, size_t limit, char **data, size_t *length) {
    struct stat info;
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
    atn_status status = read_all(ctx, path, fd, limit, data, length);
    close(fd);
    return status;
}

static atn_status write_all(const atn_ctx *ctx, const char *path, int fd, const char *data, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t put = write(fd, data + done, length - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return atn_fail(ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
        done += (size_t)put;
    }
    return ATN_OK;
}

/* Pipes, terminals and devices have no old content to keep, and a rename would put a file in their place. */
static atn_status write_into(const atn_ctx *ctx, const char *path, const char *data, size_t length) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return atn_fail(ctx, ATN_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    atn_status status = write_all(ctx, path, fd, data, length);
    if (close(fd) != 0 && status == ATN_OK) status = atn_fail(ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
    return status;
}

/* `target`: what `path` names behind its links. `old`: the file that it replaces; NULL: there is none. */
static atn_status write_aside(const atn_ctx *ctx, const char *path, const char *target, const struct stat *old,
                              const char *data, size_t length) {
    size_t bytes = strlen(target) + 48;
    char *aside = atn_alloc(ctx, bytes);
    if (!aside) return ATN_ERR_MEMORY;
    static atomic_uint turn; /* keeps threads of one process apart, and us from what a killed process left */
    int fd, tries = 0;
    do {
        snprintf(aside, bytes, "%s.%ld.%u", target, (long)getpid(), atomic_fetch_add(&turn, 1));
        fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST && ++tries < MOST_TRIES);
    if (fd < 0) {
        atn_status failed = atn_fail(ctx, ATN_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
        atn_free(ctx, aside);
        return failed;
    }
    if (old) (void)fchmod(fd, old->st_mode & 0777); /* who could not read it before cannot now */
    atn_status status = write_all(ctx, path, fd, data, length);
    if (close(fd) != 0 && status == ATN_OK) status = atn_fail(ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
    if (status == ATN_OK && rename(aside, target) != 0)
        status = atn_fail(ctx, ATN_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (status != ATN_OK) unlink(aside);
    atn_free(ctx, aside);
    return status;
}

atn_status atn_file_write(const atn_ctx *ctx, const char *path, const void *data, size_t length) {
    struct stat old;
    char behind[PATH_MAX]; /* its links: they stay links */
    if (stat(path, &old) != 0) return write_aside(ctx, path, path, NULL, data, length);
    if (!S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode)) return write_into(ctx, path, data, length);
    return write_aside(ctx, path, realpath(path, behind) ? behind : path, &old, data, length);
}
