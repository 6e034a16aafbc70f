/* The cache of built code. A file is either complete or absent: it is written under a temporary name and renamed. Every
 * file ends with a seal, a MAC of its name and content, so that a truncated, damaged or foreign one is never used:
 * loading it could crash or compromise the process. */
#include "device/cache.h"

#include "base/environment.h"
#include "base/file.h"
#include "base/leftover.h"
#include "base/memory.h"
#include "base/size.h"
#include "device/cache_dir.h"
#include "device/cache_key.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char MAGIC[8] = "attune3";
enum { SEAL_BYTES = 8 + ATN_MAC_BYTES, SUFFIX_BYTES = 16, DEFAULT_CAP_MIB = 512, STALE_S = 24 * 3600 };
static const size_t LARGEST = (size_t)1 << 30; /* file that is read */

struct atn_cache {
    const atn_ctx *ctx;
    char *wanted;                   /* the directory asked for; owned */
    char *temporary;                /* its replacement, once there is one; owned */
    int leftover;                   /* where that is noted */
    _Atomic(const char *) dir;      /* the one of both in use */
    pthread_mutex_t lock;           /* held while the replacement is created */
    pid_t owner;                    /* the process that removes the replacement: not a child created by fork */
    uint64_t cap_bytes;             /* $ATTUNE_CACHE_MIB */
    unsigned char key[ATN_MAC_KEY]; /* of the directory asked for, or one for this process alone */
};

/* ---- opening ---- */

const char *atn_cache_dir(const atn_cache *cache) { return atomic_load(&cache->dir); }
const atn_ctx *atn_cache_ctx(const atn_cache *cache) { return cache->ctx; }
bool atn_cache_lasting(const atn_cache *cache) { return atn_cache_dir(cache) == cache->wanted; }

atn_status atn_cache_demote(atn_cache *cache, const char *why) {
    char reason[512];
    strncpy(reason, why, sizeof reason - 1); /* `why` may be the context's sentence */
    reason[sizeof reason - 1] = '\0';
    atn_status status = ATN_OK;
    pthread_mutex_lock(&cache->lock);
    bool first = atn_cache_lasting(cache);
    if (first) status = atn_cache_dir_temporary(cache->ctx, &cache->temporary);
    if (first && status == ATN_OK) cache->leftover = atn_leftover_add_folder(cache->temporary);
    if (first && status == ATN_OK) atomic_store(&cache->dir, cache->temporary);
    pthread_mutex_unlock(&cache->lock);
    if (status != ATN_OK) return atn_fail_within(cache->ctx, status, "cache %s: %s", cache->wanted, reason);
    if (first)
        atn_log(cache->ctx, ATN_LOG_WARNING, "cache %s is not used: %s; built code is kept for this run only",
                cache->wanted, reason);
    return ATN_OK;
}

static void close_cache(void *object) {
    atn_cache *cache = object;
    if (cache->temporary && cache->owner == getpid()) {
        atn_cache_dir_remove(cache->temporary);
        atn_leftover_forget(cache->leftover);
    }
    pthread_mutex_destroy(&cache->lock);
    atn_free(cache->ctx, cache->temporary);
    atn_free(cache->ctx, cache->wanted);
    atn_free(cache->ctx, cache);
}

static uint64_t cap_bytes(const atn_ctx *ctx) {
    const char *text = atn_environment(ATN_ENV_CACHE_MIB);
    long long mib = DEFAULT_CAP_MIB;
    if (text) {
        char *end;
        mib = strtoll(text, &end, 10);
        if (*end || mib < 1 || mib > (1 << 30)) {
            mib = DEFAULT_CAP_MIB;
            atn_log(ctx, ATN_LOG_WARNING, "ATTUNE_CACHE_MIB is '%s'; a number from 1 is right, %d is used", text,
                    DEFAULT_CAP_MIB);
        }
    }
    return (uint64_t)mib << 20;
}

static atn_status open_cache(const atn_ctx *ctx, const void *tag, atn_cache **out) {
    atn_cache *cache = atn_zalloc(ctx, sizeof *cache);
    if (!cache) return ATN_ERR_MEMORY;
    pthread_mutex_init(&cache->lock, NULL);
    cache->ctx = ctx;
    cache->owner = getpid();
    cache->cap_bytes = cap_bytes(ctx);
    atn_status status = atn_cache_dir_wanted(ctx, &cache->wanted);
    atomic_store(&cache->dir, cache->wanted);
    const char *why = status == ATN_OK ? atn_cache_dir_objection(cache->wanted) : NULL;
    if (status == ATN_OK && !why) why = atn_cache_key_of(cache->wanted, cache->key);
    if (why) {
        status = atn_cache_demote(cache, why);
        why = atn_cache_key_fresh(cache->key);
        if (status == ATN_OK && why) status = atn_fail(ctx, ATN_ERR_IO, "no random numbers to be had: %s", why);
    }
    if (status == ATN_OK) status = atn_ctx_attach(ctx, tag, cache, close_cache);
    if (status != ATN_OK) {
        close_cache(cache);
        return status;
    }
    *out = cache;
    return ATN_OK;
}

atn_status atn_cache_of(const atn_ctx *ctx, atn_cache **out) {
    static const char TAG;                                      /* under which the context carries its cache */
    static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER; /* two threads that ask at once get the same one */
    atn_status status = ATN_OK;
    *out = atn_ctx_attached(ctx, &TAG);
    if (*out) return ATN_OK;
    pthread_mutex_lock(&opening);
    *out = atn_ctx_attached(ctx, &TAG);
    if (!*out) status = open_cache(ctx, &TAG, out);
    pthread_mutex_unlock(&opening);
    return status;
}

/* ---- keeping the size down ---- */

typedef struct kept {
    char name[80];
    struct timespec used;
    uint64_t bytes;
} kept;

static int older_first(const void *a, const void *b) {
    const kept *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/* Is it a name that we gave, a hash and a suffix? Whatever else lies in the directory is not ours to remove. */
static bool is_ours(const char *name) {
    return strlen(name) < sizeof((kept *)0)->name && strspn(name, "0123456789abcdef") == ATN_HASH_TEXT - 1 &&
           name[ATN_HASH_TEXT - 1] == '.';
}

/* Removes a work directory whose process was killed long ago. */
static void sweep(const atn_cache *cache, const char *name, const struct stat *info) {
    if (strncmp(name, "work-", 5) != 0 || strlen(name) != 11 || info->st_mtime > time(NULL) - STALE_S) return;
    char *path = atn_cache_dir_join(cache->ctx, atn_cache_dir(cache), name, "");
    if (path) atn_cache_dir_remove(path);
    atn_free(cache->ctx, path);
}

/* Removes the oldest files until all of them fit into nine tenths of the cap. Failing to is no failure. */
static void evict(const atn_cache *cache) {
    DIR *dir = opendir(atn_cache_dir(cache));
    if (!dir) return;
    kept *files = NULL;
    size_t count = 0, capacity = 0;
    uint64_t total = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct stat info;
        if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (S_ISDIR(info.st_mode)) sweep(cache, entry->d_name, &info);
        if (!S_ISREG(info.st_mode) || !is_ours(entry->d_name)) continue;
        if (atn_grow(cache->ctx, (void **)&files, &capacity, count, sizeof *files) != ATN_OK) break;
        files[count] = (kept){.used = info.st_mtim, .bytes = (uint64_t)info.st_size};
        strcpy(files[count].name, entry->d_name);
        total += files[count++].bytes;
    }
    if (total > cache->cap_bytes) {
        qsort(files, count, sizeof *files, older_first);
        for (size_t k = 0; k < count && total > cache->cap_bytes / 10 * 9; ++k)
            if (unlinkat(dirfd(dir), files[k].name, 0) == 0) total -= files[k].bytes;
    }
    atn_free(cache->ctx, files);
    closedir(dir);
}

/* ---- files ---- */

char *atn_cache_path(const atn_cache *cache, atn_hash key, const char *suffix) {
    char name[ATN_HASH_TEXT];
    atn_hash_print(key, name);
    return atn_cache_dir_join(cache->ctx, atn_cache_dir(cache), name, suffix);
}

static void seal(const atn_cache *cache, atn_hash key, const char *suffix, const void *data, size_t length,
                 unsigned char to[SEAL_BYTES]) {
    char kind[SUFFIX_BYTES] = "";
    atn_mac mac;
    strncpy(kind, suffix, sizeof kind - 1);
    atn_mac_begin(&mac, cache->key);
    atn_mac_add(&mac, &key, sizeof key);
    atn_mac_add(&mac, kind, sizeof kind);
    atn_mac_add(&mac, data, length);
    memcpy(to, MAGIC, sizeof MAGIC);
    atn_mac_end(&mac, to + sizeof MAGIC);
}

/* Cuts the seal off; false: it is not ours, or damaged. */
static bool unseal(const atn_cache *cache, atn_hash key, const char *suffix, char *bytes, size_t *count) {
    unsigned char expected[SEAL_BYTES];
    if (*count < SEAL_BYTES) return false;
    size_t inner = *count - SEAL_BYTES;
    const unsigned char *end = (const unsigned char *)bytes + inner;
    seal(cache, key, suffix, bytes, inner, expected);
    if (memcmp(end, MAGIC, sizeof MAGIC) != 0 || !atn_mac_equal(end + sizeof MAGIC, expected + sizeof MAGIC))
        return false;
    bytes[inner] = '\0';
    *count = inner;
    return true;
}

/* Was it written by someone else? NULL: no. */
static const char *foreign(int fd, int error) {
    struct stat info;
    if (fd < 0) return error == ELOOP ? "it is a symbolic link" : NULL;
    if (fstat(fd, &info) != 0) return strerror(errno);
    if (info.st_uid != geteuid()) return "it belongs to another user";
    if (S_ISREG(info.st_mode) && info.st_mode & (S_IWGRP | S_IWOTH)) return "others may write to it";
    return NULL;
}

/* Reads `path` through one descriptor and verifies its seal; *data is NULL, with ATN_OK, if it does not exist or must
 * not be used: then it is removed. A process that stored a valid one in between has it open already, or builds it
 * again. */
static atn_status read_sealed(const atn_cache *cache, const char *path, atn_hash key, const char *suffix, char **data,
                              size_t *length) {
    char *bytes = NULL;
    size_t count = 0;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK); /* a pipe must not hang it */
    const char *why = foreign(fd, errno);
    atn_status status = ATN_OK;
    if (fd >= 0 && !why) status = atn_file_read_from(cache->ctx, fd, path, LARGEST, &bytes, &count);
    if (bytes && unseal(cache, key, suffix, bytes, &count)) {
        *data = bytes;
        *length = count;
        (void)futimens(fd, NULL); /* used just now: last to be evicted */
    } else if (bytes) {
        atn_log(cache->ctx, ATN_LOG_INFO, "%s: damaged, built again", path);
        unlink(path);
        atn_free(cache->ctx, bytes);
    } else if (why) {
        atn_log(cache->ctx, ATN_LOG_WARNING, "%s is not used: %s; delete %s if others could write to it", path, why,
                atn_cache_dir(cache));
        unlink(path);
    }
    if (fd >= 0) close(fd);
    return status == ATN_ERR_MEMORY ? status : ATN_OK;
}

/* What could not be kept is no failure: the work goes on without. */
static atn_status log_unkept(const atn_cache *cache, atn_status status) {
    if (status != ATN_ERR_IO) return status;
    atn_log(cache->ctx, ATN_LOG_WARNING, "cache: %s; the result is not kept", atn_ctx_message(cache->ctx));
    return ATN_OK;
}

atn_status atn_cache_get(const atn_cache *cache, atn_hash key, const char *suffix, char **data, size_t *length) {
    *data = NULL;
    *length = 0;
    char *path = atn_cache_path(cache, key, suffix);
    if (!path) return ATN_ERR_MEMORY;
    atn_status status = read_sealed(cache, path, key, suffix, data, length);
    atn_free(cache->ctx, path);
    return status;
}

static bool write_all(int fd, const void *data, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t put = write(fd, (const char *)data + done, length - done);
        if (put < 0 && errno != EINTR) return false;
        if (put > 0) done += (size_t)put;
    }
    return true;
}

/* Aside and renamed, which replaces a link that lies there instead of following it. `aside` is a name for mkostemp. */
static atn_status write_sealed(const atn_cache *cache, const char *path, char *aside, const void *data, size_t length,
                               const unsigned char *end) {
    int fd = mkostemp(aside, O_CLOEXEC); /* mode 0600 */
    bool good = fd >= 0 && write_all(fd, data, length) && write_all(fd, end, SEAL_BYTES);
    int error = errno;
    if (fd >= 0 && close(fd) != 0 && good) good = false, error = errno;
    if (good && rename(aside, path) != 0) good = false, error = errno;
    if (!good && fd >= 0) unlink(aside);
    return good ? ATN_OK : atn_fail(cache->ctx, ATN_ERR_IO, "%s: cannot be written: %s", path, strerror(error));
}

atn_status atn_cache_put(const atn_cache *cache, atn_hash key, const char *suffix, const void *data, size_t length) {
    unsigned char end[SEAL_BYTES];
    char beside[SUFFIX_BYTES + 8];
    if (length > LARGEST - SEAL_BYTES) return ATN_OK; /* it would not be read */
    snprintf(beside, sizeof beside, "%.*s.XXXXXX", SUFFIX_BYTES - 1, suffix);
    char *path = atn_cache_path(cache, key, suffix), *aside = path ? atn_cache_path(cache, key, beside) : NULL;
    atn_status status = aside ? ATN_OK : ATN_ERR_MEMORY;
    if (aside) {
        seal(cache, key, suffix, data, length, end);
        status = log_unkept(cache, write_sealed(cache, path, aside, data, length, end));
        evict(cache);
    }
    atn_free(cache->ctx, aside);
    atn_free(cache->ctx, path);
    return status;
}

atn_status atn_cache_workdir(const atn_cache *cache, char **dir) {
    const char *base = atn_cache_dir(cache);
    *dir = atn_cache_dir_join(cache->ctx, base, "work-XXXXXX", "");
    if (!*dir) return ATN_ERR_MEMORY;
    if (mkdtemp(*dir)) return ATN_OK;
    atn_status status = atn_fail(cache->ctx, ATN_ERR_IO, "%s: %s", base, strerror(errno));
    atn_free(cache->ctx, *dir);
    *dir = NULL;
    return status;
}

void atn_cache_discard(const atn_cache *cache, char *dir) {
    if (!dir) return;
    atn_cache_dir_remove(dir);
    atn_free(cache->ctx, dir);
}
