/* A file written under a temporary name and renamed: open, write, finish. */
#include "base/writer.h"

#include "base/leftover.h"
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

struct atn_writer {
    const atn_ctx *ctx;
    char *path;   /* as it was given, for messages */
    char *target; /* what `path` names behind its links */
    char *aside;  /* where it is written; NULL: directly into the target, which is not a file */
    int leftover; /* where `aside` is noted */
    int mode;     /* of the file that it replaces; -1: there is none */
    int fd;       /* -1: closed */
    char *buffer; /* made when the first piece comes */
    size_t held;  /* bytes in the buffer */
};

static atn_status cannot(const atn_writer *w) {
    return atn_fail(w->ctx, ATN_ERR_IO, "%s: cannot be written: %s", w->path, strerror(errno));
}

/* `old`: the file that it replaces; NULL: there is none. */
static atn_status open_aside(atn_writer *w, const struct stat *old) {
    size_t bytes = strlen(w->target) + 48;
    w->aside = atn_alloc(w->ctx, bytes);
    if (!w->aside) return ATN_ERR_MEMORY;
    static atomic_uint turn; /* keeps threads of one process apart, and us from the files of a killed process */
    int tries = 0, error;
    sigset_t before;
    atn_leftover_hold(&before);
    do {
        snprintf(w->aside, bytes, "%s.%ld.%u", w->target, (long)getpid(), atomic_fetch_add(&turn, 1));
        w->fd = open(w->aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (w->fd < 0 && errno == EEXIST && ++tries < MOST_TRIES);
    error = errno;
    if (w->fd >= 0) w->leftover = atn_leftover_add_file(w->aside);
    atn_leftover_release(&before);
    errno = error;
    if (w->fd < 0) return cannot(w);
    if (old) w->mode = (int)(old->st_mode & 0777);
    if (old) (void)fchmod(w->fd, (old->st_mode & 0777) | S_IRUSR | S_IWUSR); /* who could not read it cannot now */
    return ATN_OK;
}

/* Pipes, terminals and devices have no old content to keep, and a rename would replace them by a file. */
static atn_status open_itself(atn_writer *w) {
    w->fd = open(w->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return w->fd < 0 ? cannot(w) : ATN_OK;
}

static atn_status open_one(atn_writer *w, const char *path) {
    struct stat old;
    char behind[PATH_MAX]; /* its links: they stay links */
    bool there = stat(path, &old) == 0;
    w->path = atn_strdup(w->ctx, path);
    if (!w->path) return ATN_ERR_MEMORY;
    if (there && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode)) return open_itself(w);
    w->target = atn_strdup(w->ctx, there && realpath(path, behind) ? behind : path);
    return w->target ? open_aside(w, there ? &old : NULL) : ATN_ERR_MEMORY;
}

atn_status atn_writer_open(const atn_ctx *ctx, const char *path, atn_writer **out) {
    *out = atn_zalloc(ctx, sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    (*out)->ctx = ctx;
    (*out)->fd = (*out)->leftover = (*out)->mode = -1;
    atn_status status = open_one(*out, path);
    if (status == ATN_OK) return ATN_OK;
    atn_writer_free(*out);
    *out = NULL;
    return status;
}

const char *atn_writer_aside(const atn_writer *w) { return w->aside; }

void atn_writer_free(atn_writer *w) {
    if (!w) return;
    if (w->fd >= 0) {
        close(w->fd);
        if (w->aside) unlink(w->aside);
    }
    atn_leftover_forget(w->leftover);
    atn_free(w->ctx, w->buffer);
    atn_free(w->ctx, w->aside);
    atn_free(w->ctx, w->target);
    atn_free(w->ctx, w->path);
    atn_free(w->ctx, w);
}

static atn_status flush(atn_writer *w, const char *data, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t put = write(w->fd, data + done, length - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return atn_fail(w->ctx, ATN_ERR_IO, "%s: %s", w->path, strerror(errno));
        done += (size_t)put;
    }
    return ATN_OK;
}

atn_status atn_writer_add_whole(atn_writer *w, const void *bytes, size_t length) {
    atn_status status = flush(w, w->buffer, w->held);
    w->held = 0;
    return status == ATN_OK ? flush(w, bytes, length) : status;
}

atn_status atn_writer_add(atn_writer *w, const void *bytes, size_t length) {
    if (!w->buffer && !(w->buffer = atn_alloc(w->ctx, ATN_WRITER_ROOM))) return ATN_ERR_MEMORY;
    if (length > ATN_WRITER_ROOM) return atn_writer_add_whole(w, bytes, length);
    if (length > ATN_WRITER_ROOM - w->held) {
        atn_status status = atn_check_cancel(w->ctx);
        if (status == ATN_OK) status = flush(w, w->buffer, w->held);
        if (status != ATN_OK) return status;
        w->held = 0;
    }
    memcpy(w->buffer + w->held, bytes, length);
    w->held += length;
    return ATN_OK;
}

atn_status atn_writer_finish(atn_writer *w) {
    atn_status status = flush(w, w->buffer, w->held);
    w->held = 0;
    if (w->mode >= 0) (void)fchmod(w->fd, (mode_t)w->mode); /* others that wrote parts had to open it */
    if (close(w->fd) != 0 && status == ATN_OK)
        status = atn_fail(w->ctx, ATN_ERR_IO, "%s: %s", w->path, strerror(errno));
    w->fd = -1;
    if (!w->aside) return status;
    if (status == ATN_OK && rename(w->aside, w->target) != 0) status = cannot(w);
    if (status != ATN_OK) unlink(w->aside);
    return status;
}
