/* The cache of built code. A file is either whole or not there: it is written aside and renamed. Every file carries a
 * seal behind its end, so that one cut short or damaged on disk is never used: loading it could crash the process. */
#include "device/cache.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/size.h"
#include "device/cache_dir.h"

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

static const char MAGIC[8] = "attune2";
enum { SEAL_BYTES = 8 + 16, DEFAULT_CAP_MIB = 512, STALE_S = 24 * 3600 };
static const size_t LARGEST = (size_t)1 << 30; /* file that is read */

struct atn_cache {
    const atn_ctx *ctx;
    char *wanted;              /* the directory asked for; owned */
    char *temporary;           /* its stand-in, once there is one; owned */
    _Atomic(const char *) dir; /* the one of both in use */
    pthread_mutex_t lock;      /* held while the stand-in is made */
    pid_t owner;               /* who removes the stand-in: not a child that fork made */
    uint64_t cap_bytes;        /* $ATTUNE_CACHE_MIB */
};

/* ---- opening ---- */

const char *atn_cache_dir(const atn_cache *cache) { return atomic_load(&cache->dir); }
bool atn_cache_lasting(const atn_cache *cache) { return atn_cache_dir(cache) == cache->wanted; }

atn_status atn_cache_demote(atn_cache *cache, const char *why) {
    char reason[512];
    strncpy(reason, why, sizeof reason - 1); /* `why` may be the context's sentence */
    reason[sizeof reason - 1] = '\0';
    atn_status status = ATN_OK;
    pthread_mutex_lock(&cache->lock);
    bool first = atn_cache_lasting(cache);
    if (first) status = atn_cache_dir_temporary(cache->ctx, &cache->temporary);
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
    if (cache->temporary && cache->owner == getpid()) atn_cache_dir_remove(cache->temporary);
    pthread_mutex_destroy(&cache->lock);
    atn_free(cache->ctx, cache->temporary);
    atn_free(cache->ctx, cache->wanted);
    atn_free(cache->ctx, cache);
}

static uint64_t cap_bytes(const atn_ctx *ctx) {
    const char *text = getenv("ATTUNE_CACHE_MIB");
    long long mib = DEFAULT_CAP_MIB;
    if (text && *text) {
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
    if (why) status = atn_cache_demote(cache, why);
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

static void seal(char to[SEAL_BYTES], atn_hash key, const void *data, size_t length) {
    atn_hash sum = atn_hash_add(key, data, length);
    memcpy(to, MAGIC, sizeof MAGIC);
    memcpy(to + sizeof MAGIC, &sum, sizeof sum);
}

/* Reads `path` and breaks its seal; *data is NULL, with ATN_OK, when it is not there or its seal is wrong: then it is
 * removed. Whoever put a good one there in between has it open already, or makes it anew. */
static atn_status read_sealed(const atn_cache *cache, const char *path, atn_hash key, char **data, size_t *length) {
    *data = NULL;
    *length = 0;
    if (access(path, F_OK) != 0) return ATN_OK;
    char *bytes, expected[SEAL_BYTES];
    size_t count;
    atn_status status = atn_file_read(cache->ctx, path, LARGEST, &bytes, &count);
    if (status != ATN_OK) return status == ATN_ERR_MEMORY ? status : ATN_OK;
    size_t inner = count >= SEAL_BYTES ? count - SEAL_BYTES : 0;
    seal(expected, key, bytes, inner);
    if (count >= SEAL_BYTES && memcmp(bytes + inner, expected, SEAL_BYTES) == 0) {
        bytes[inner] = '\0';
        *data = bytes;
        *length = inner;
        (void)utimensat(AT_FDCWD, path, NULL, 0); /* used just now: last to be evicted */
    } else {
        atn_log(cache->ctx, ATN_LOG_INFO, "%s: damaged, made anew", path);
        unlink(path);
        atn_free(cache->ctx, bytes);
    }
    return ATN_OK;
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
    atn_status status = read_sealed(cache, path, key, data, length);
    atn_free(cache->ctx, path);
    return status;
}

atn_status atn_cache_put(const atn_cache *cache, atn_hash key, const char *suffix, const void *data, size_t length) {
    size_t total;
    if (!atn_size_add(length, SEAL_BYTES, &total)) return atn_fail_memory(cache->ctx, length, "a file of the cache");
    char *path = atn_cache_path(cache, key, suffix);
    char *sealed = path ? atn_alloc(cache->ctx, total) : NULL;
    atn_status status = sealed ? ATN_OK : ATN_ERR_MEMORY;
    if (sealed) {
        if (length) memcpy(sealed, data, length);
        seal(sealed + length, key, sealed, length);
        status = log_unkept(cache, atn_file_write(cache->ctx, path, sealed, total));
        evict(cache);
    }
    atn_free(cache->ctx, sealed);
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

static atn_status append(const atn_ctx *ctx, const char *file, const char *bytes, size_t count) {
    int fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
    ssize_t put = fd >= 0 ? write(fd, bytes, count) : -1;
    bool good = put == (ssize_t)count;
    if (!good) (void)atn_fail(ctx, ATN_ERR_IO, "%s: %s", file, strerror(put < 0 ? errno : ENOSPC));
    if (fd >= 0) close(fd);
    return good ? ATN_OK : ATN_ERR_IO;
}

atn_status atn_cache_adopt(const atn_cache *cache, const char *file, atn_hash key, const char *suffix) {
    char *data = NULL, end[SEAL_BYTES];
    size_t length;
    char *path = atn_cache_path(cache, key, suffix);
    if (!path) return ATN_ERR_MEMORY;
    atn_status status = atn_file_read(cache->ctx, file, LARGEST, &data, &length);
    if (status == ATN_OK) {
        seal(end, key, data, length);
        status = append(cache->ctx, file, end, sizeof end);
    }
    if (status == ATN_OK && rename(file, path) != 0)
        status = atn_fail(cache->ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
    atn_free(cache->ctx, data);
    atn_free(cache->ctx, path);
    evict(cache);
    return log_unkept(cache, status);
}

atn_status atn_cache_find(const atn_cache *cache, atn_hash key, const char *suffix, char **path, size_t *length) {
    char *data = NULL;
    *length = 0;
    *path = atn_cache_path(cache, key, suffix);
    if (!*path) return ATN_ERR_MEMORY;
    atn_status status = read_sealed(cache, *path, key, &data, length);
    if (!data) {
        atn_free(cache->ctx, *path);
        *path = NULL;
    }
    atn_free(cache->ctx, data);
    return status;
}
