/* Code loaded from memory: a file without a name, sealed against changes (memfd), loaded through its descriptor; where
 * memfd or /proc is missing, a file in a private directory. */
#include "device/code.h"

#include "base/memory.h"
#include "device/cache_dir.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* Linux 6.3; it is mapped, never executed as a program, and some systems insist */
#endif

static bool write_all(int fd, const char *data, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t put = write(fd, data + done, length - done);
        if (put < 0 && errno != EINTR) return false;
        if (put > 0) done += (size_t)put;
    }
    return true;
}

/* Held during a fork: the loader of a child would be left in the middle of what a thread that it does not have was
 * loading, and ends the process when it is asked again. */
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static void begin_loading(void) { pthread_mutex_lock(&loading); }
static void end_loading(void) { pthread_mutex_unlock(&loading); }
static void watch_forks(void) { (void)pthread_atfork(begin_loading, end_loading, end_loading); }

static void *load(const char *path) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    begin_loading();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    end_loading();
    return library;
}

void atn_code_unload(void *library) {
    if (!library) return;
    begin_loading();
    dlclose(library);
    end_loading();
}

/* The C library gives out what it has under a name already, and numbers of descriptors come again: so each load has a
 * name of its own, its number written in "/" and "./". */
static void name_of(int fd, char path[128]) {
    static atomic_uint turn;
    unsigned number = atomic_fetch_add(&turn, 1);
    int at = snprintf(path, 128, "/proc/self/fd/");
    for (int bit = 0; bit < 32; ++bit) at += snprintf(path + at, 128 - (size_t)at, number >> bit & 1 ? "./" : "/");
    snprintf(path + at, 128 - (size_t)at, "%d", fd);
}

/* NULL where it cannot be done this way; dlerror may say more. */
static void *load_sealed(const void *data, size_t length) {
    char path[128];
    int fd = memfd_create("attune", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    if (fd < 0) fd = memfd_create("attune", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return NULL;
    void *library = NULL;
    if (write_all(fd, data, length) &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0) {
        name_of(fd, path);
        library = load(path);
    }
    close(fd);
    return library;
}

static atn_status load_file(const atn_ctx *ctx, const char *name, const char *path, const void *data, size_t length,
                            void **library) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write_all(fd, data, length);
    int error = errno;
    if (fd >= 0) close(fd);
    if (!written) return atn_fail(ctx, ATN_ERR_IO, "%s: %s", path, strerror(error));
    *library = load(path);
    if (*library) return ATN_OK;
    const char *why = dlerror();
    return atn_fail(ctx, strstr(why, "failed to map") ? ATN_ERR_IO : ATN_ERR_BUILD, /* noexec: another one may do */
                    "%s: built code cannot be loaded: %s", name, why);
}

atn_status atn_code_load(const atn_cache *cache, const char *name, const void *data, size_t length, void **library) {
    const atn_ctx *ctx = atn_cache_ctx(cache);
    char *dir;
    *library = load_sealed(data, length);
    if (*library) return ATN_OK;
    atn_status status = atn_cache_workdir(cache, &dir);
    if (status != ATN_OK) return status;
    char *path = atn_cache_dir_join(ctx, dir, "code", ".so");
    status = path ? load_file(ctx, name, path, data, length, library) : ATN_ERR_MEMORY;
    atn_free(ctx, path);
    atn_cache_discard(cache, dir);
    return status;
}
