/* The cache of built code. A file is either whole or not there: it is written aside and renamed. Blobs carry a
 * checksum in front; shared objects are checked by loading them. */
#include "device/cache.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char MAGIC[8] = "attune1";
enum { SEAL_BYTES = 8 + 16, DEFAULT_CAP_MIB = 512 }; /* magic and checksum in front of a blob */

struct atn_cache {
    const atn_ctx *ctx;
    char *dir;
    bool lasting;
    uint64_t cap_bytes; /* $ATTUNE_CACHE_MIB */
};

/* ---- the directory ---- */

static char *printed(const atn_ctx *ctx, const char *format, ...) {
    atn_text text = {.ctx = ctx};
    va_list args;
    va_start(args, format);
    atn_text_vprintf(&text, format, args);
    va_end(args);
    if (atn_text_status(&text) != ATN_OK) {
        atn_free(ctx, text.data);
        return NULL;
    }
    return text.data;
}

static char *wanted_dir(const atn_ctx *ctx) {
    if (atn_ctx_cache_dir(ctx)) return atn_strdup(ctx, atn_ctx_cache_dir(ctx));
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (xdg && xdg[0] == '/') return printed(ctx, "%s/attune", xdg);
    if (!home || home[0] != '/') {
        struct passwd *entry = getpwuid(getuid());
        home = entry ? entry->pw_dir : NULL;
    }
    return home ? printed(ctx, "%s/.cache/attune", home) : atn_strdup(ctx, "");
}

/* Makes the directory and its parents; EEXIST is fine. */
static bool make_dirs(char *path) {
    for (char *slash = path + 1; (slash = strchr(slash, '/')); ++slash) {
        *slash = '\0';
        int made = mkdir(path, 0700);
        int error = errno;
        *slash = '/';
        errno = error;
        if (made != 0 && errno != EEXIST) return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* NULL when the directory is good to use, else why not. */
static const char *objection(char *dir) {
    struct stat info;
    if (!*dir) return "no home directory is known";
    if (!make_dirs(dir)) return strerror(errno);
    if (lstat(dir, &info) != 0) return strerror(errno);
    if (S_ISLNK(info.st_mode)) return "it is a symbolic link, which others may point elsewhere";
    if (!S_ISDIR(info.st_mode)) return "it is not a directory";
    if (info.st_uid != geteuid()) return "it belongs to another user";
    if (info.st_mode & (S_IWGRP | S_IWOTH)) return "others may write to it; 'chmod 700' would make it safe";
    if (access(dir, W_OK | X_OK) != 0) return strerror(errno);
    return NULL;
}

static atn_status use_temporary(atn_cache *cache) {
    const char *base = getenv("TMPDIR");
    atn_free(cache->ctx, cache->dir);
    cache->dir = printed(cache->ctx, "%s/attune-XXXXXX", base && base[0] == '/' ? base : "/tmp");
    if (!cache->dir) return ATN_ERR_MEMORY;
    if (mkdtemp(cache->dir)) return ATN_OK;
    atn_status status = atn_fail(cache->ctx, ATN_ERR_IO, "%s: no temporary directory can be made: %s; set TMPDIR to a writable one",
                                 cache->dir, strerror(errno));
    atn_free(cache->ctx, cache->dir);
    cache->dir = NULL;
    return status;
}

atn_status atn_cache_demote(atn_cache *cache, const char *why) {
    atn_log(cache->ctx, ATN_LOG_WARNING, "cache %s is not used: %s; built code is kept for this run only", cache->dir, why);
    cache->lasting = false;
    return use_temporary(cache);
}

static void remove_tree(const char *dir) {
    DIR *open_dir = opendir(dir);
    if (!open_dir) return;
    for (struct dirent *entry; (entry = readdir(open_dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            struct stat info;
            if (fstatat(dirfd(open_dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode)) {
                char below[4096];
                if (snprintf(below, sizeof below, "%s/%s", dir, entry->d_name) < (int)sizeof below) remove_tree(below);
            } else {
                unlinkat(dirfd(open_dir), entry->d_name, 0);
            }
        }
    closedir(open_dir);
    rmdir(dir);
}

static void close_cache(void *object) {
    atn_cache *cache = object;
    if (cache->dir && !cache->lasting) remove_tree(cache->dir);
    atn_free(cache->ctx, cache->dir);
    atn_free(cache->ctx, cache);
}

static const char TAG; /* under which the context carries its cache */

atn_status atn_cache_of(const atn_ctx *ctx, atn_cache **out) {
    *out = atn_ctx_attached(ctx, &TAG);
    if (*out) return ATN_OK;
    atn_cache *cache = atn_zalloc(ctx, sizeof *cache);
    if (!cache) return ATN_ERR_MEMORY;
    const char *cap = getenv("ATTUNE_CACHE_MIB");
    long long mib = cap ? atoll(cap) : DEFAULT_CAP_MIB;
    cache->ctx = ctx;
    cache->cap_bytes = (uint64_t)(mib > 0 && mib < (1 << 30) ? mib : DEFAULT_CAP_MIB) << 20;
    cache->dir = wanted_dir(ctx);
    atn_status status = cache->dir ? ATN_OK : ATN_ERR_MEMORY;
    const char *why = status == ATN_OK ? objection(cache->dir) : NULL;
    cache->lasting = !why;
    if (why) status = atn_cache_demote(cache, why);
    if (status == ATN_OK) status = atn_ctx_attach(ctx, &TAG, cache, close_cache);
    if (status != ATN_OK) {
        close_cache(cache);
        return status;
    }
    *out = cache;
    return ATN_OK;
}

const char *atn_cache_dir(const atn_cache *cache) { return cache->dir; }
bool atn_cache_lasting(const atn_cache *cache) { return cache->lasting; }

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

/* Removes the oldest files until all of them fit into nine tenths of the cap. Failing to is no failure. */
static void evict(const atn_cache *cache) {
    DIR *dir = opendir(cache->dir);
    if (!dir) return;
    kept *files = NULL;
    size_t count = 0, capacity = 0;
    uint64_t total = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct stat info;
        if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode)) continue;
        if (strlen(entry->d_name) >= sizeof files->name) continue;
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
    return printed(cache->ctx, "%s/%s%s", cache->dir, name, suffix);
}

void atn_cache_touch(const atn_cache *cache, const char *path) {
    (void)cache;
    (void)utimensat(AT_FDCWD, path, NULL, 0);
}

atn_status atn_cache_get(const atn_cache *cache, atn_hash key, const char *suffix, char **data, size_t *length) {
    *data = NULL;
    *length = 0;
    char *path = atn_cache_path(cache, key, suffix), *sealed = NULL;
    if (!path) return ATN_ERR_MEMORY;
    size_t bytes;
    atn_status status = access(path, R_OK) == 0 ? atn_file_read(cache->ctx, path, (size_t)1 << 30, &sealed, &bytes) : ATN_ERR_IO;
    if (status == ATN_OK) {
        bool good = bytes >= SEAL_BYTES && memcmp(sealed, MAGIC, sizeof MAGIC) == 0;
        if (good) {
            atn_hash sum = atn_hash_add(key, sealed + SEAL_BYTES, bytes - SEAL_BYTES);
            good = memcmp(sealed + sizeof MAGIC, &sum, sizeof sum) == 0;
        }
        if (good) {
            atn_cache_touch(cache, path);
            memmove(sealed, sealed + SEAL_BYTES, bytes - SEAL_BYTES);
            sealed[bytes - SEAL_BYTES] = '\0';
            *data = sealed;
            *length = bytes - SEAL_BYTES;
            sealed = NULL;
        } else {
            atn_log(cache->ctx, ATN_LOG_INFO, "%s: damaged, made anew", path);
            unlink(path);
        }
    }
    atn_free(cache->ctx, sealed);
    atn_free(cache->ctx, path);
    return status == ATN_ERR_MEMORY ? status : ATN_OK;
}

atn_status atn_cache_put(const atn_cache *cache, atn_hash key, const char *suffix, const void *data, size_t length) {
    char *path = atn_cache_path(cache, key, suffix);
    char *sealed = path ? atn_alloc(cache->ctx, length + SEAL_BYTES) : NULL;
    if (!sealed) {
        atn_free(cache->ctx, path);
        return ATN_ERR_MEMORY;
    }
    atn_hash sum = atn_hash_add(key, data, length);
    memcpy(sealed, MAGIC, sizeof MAGIC);
    memcpy(sealed + sizeof MAGIC, &sum, sizeof sum);
    memcpy(sealed + SEAL_BYTES, data, length);
    atn_status status = atn_file_write(cache->ctx, path, sealed, length + SEAL_BYTES);
    if (status == ATN_ERR_IO) {
        atn_log(cache->ctx, ATN_LOG_WARNING, "cache: %s; the result is not kept", atn_ctx_message(cache->ctx));
        status = ATN_OK;
    }
    evict(cache);
    atn_free(cache->ctx, sealed);
    atn_free(cache->ctx, path);
    return status;
}

atn_status atn_cache_workdir(const atn_cache *cache, char **dir) {
    *dir = printed(cache->ctx, "%s/work-XXXXXX", cache->dir);
    if (!*dir) return ATN_ERR_MEMORY;
    if (mkdtemp(*dir)) return ATN_OK;
    atn_status status = atn_fail(cache->ctx, ATN_ERR_IO, "%s: %s", cache->dir, strerror(errno));
    atn_free(cache->ctx, *dir);
    *dir = NULL;
    return status;
}

void atn_cache_discard(const atn_cache *cache, char *dir) {
    if (!dir) return;
    remove_tree(dir);
    atn_free(cache->ctx, dir);
}

atn_status atn_cache_adopt(const atn_cache *cache, const char *file, atn_hash key, const char *suffix) {
    char *path = atn_cache_path(cache, key, suffix);
    if (!path) return ATN_ERR_MEMORY;
    atn_status status = ATN_OK;
    if (rename(file, path) != 0) status = atn_fail(cache->ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
    atn_free(cache->ctx, path);
    evict(cache);
    return status;
}
