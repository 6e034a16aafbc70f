/* One tuner at a time on a device. The lock is the kernel's, on an open file, so that it goes with the process however
 * that ends; the file only says who holds it, and stays: removing it would let two in at once. */
#include "wisdom/store.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

struct atn_wisdom_lock_file {
    const atn_ctx *ctx;
    int fd; /* -1: a database in memory, which no one else could lock */
};

static const useconds_t POLL_US = 50000;

/* Who says to hold it; 0: not written yet. */
static long holder(int fd) {
    char text[32] = "";
    return pread(fd, text, sizeof text - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;
}

static atn_status taken(const atn_ctx *ctx, const char *device, int fd) {
    long pid = holder(fd);
    if (pid > 0)
        return atn_fail(ctx, ATN_ERR_DEVICE, "%s is being tuned by process %ld; wait for it or end it", device, pid);
    return atn_fail(ctx, ATN_ERR_DEVICE, "%s is being tuned by another process; wait for it or end it", device);
}

static atn_status acquire(const atn_ctx *ctx, const char *path, const char *device, int fd, bool wait) {
    for (bool said = false;;) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return ATN_OK;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return atn_fail(ctx, ATN_ERR_IO, "%s cannot be locked: %s", path, strerror(errno));
        if (!wait) return taken(ctx, device, fd);
        atn_status status = atn_check_cancel(ctx);
        if (status != ATN_OK) return status;
        if (!said) atn_log(ctx, ATN_LOG_INFO, "waiting for process %ld, which tunes %s", holder(fd), device);
        said = true;
        usleep(POLL_US);
    }
}

static atn_status open_lock(const atn_ctx *ctx, const char *path, const char *device, bool wait, int *out) {
    char pid[32];
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666),
        length = snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    if (fd < 0) return atn_fail(ctx, ATN_ERR_IO, "%s cannot be made: %s", path, strerror(errno));
    atn_status status = acquire(ctx, path, device, fd, wait);
    if (status != ATN_OK) {
        close(fd);
        return status;
    }
    if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)length, 0) != length)
        atn_log(ctx, ATN_LOG_DEBUG, "%s: %s", path, strerror(errno)); /* others will not know who; no harm else */
    *out = fd;
    return ATN_OK;
}

atn_status atn_wisdom_lock(const atn_ctx *ctx, const atn_wisdom *wisdom, const char *device, bool wait,
                           atn_wisdom_lock_file **out) {
    char hash[ATN_HASH_TEXT];
    atn_text path = {.ctx = ctx};
    *out = NULL;
    atn_wisdom_lock_file *lock = atn_zalloc(ctx, sizeof *lock);
    if (!lock) return ATN_ERR_MEMORY;
    atn_hash_print(atn_hash_add_text((atn_hash){0}, device), hash);
    atn_text_printf(&path, "%s.%.16s.lock", wisdom->path, hash);
    *lock = (atn_wisdom_lock_file){.ctx = ctx, .fd = -1};
    atn_status status = atn_text_status(&path);
    if (status == ATN_OK && !wisdom->in_memory) status = open_lock(ctx, atn_text_str(&path), device, wait, &lock->fd);
    atn_text_free(&path);
    if (status == ATN_OK)
        *out = lock;
    else
        atn_free(ctx, lock);
    return status;
}

void atn_wisdom_unlock(atn_wisdom_lock_file *lock) {
    if (!lock) return;
    if (lock->fd >= 0) {
        if (ftruncate(lock->fd, 0) != 0) atn_log(lock->ctx, ATN_LOG_DEBUG, "a lock's file: %s", strerror(errno));
        close(lock->fd);
    }
    atn_free(lock->ctx, lock);
}
