/* What the tests of the cache share: a world of their own (cache, home, temporary directory) and a context on it. */
#ifndef ATN_TESTS_CACHEKIT_H
#define ATN_TESTS_CACHEKIT_H

#include "testkit.h"

#include "base/memory.h"
#include "device/cache.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

typedef struct world {
    char *dir;                  /* all of it; removed at the end */
    char cache[PATH_BYTES];     /* dir/cache, not made yet */
    char temporary[PATH_BYTES]; /* dir/tmp: $TMPDIR */
    char *old[4];               /* environment as it was */
} world;

static const char *const WORLD_VARIABLES[4] = {"TMPDIR", "HOME", "XDG_CACHE_HOME", "ATTUNE_CACHE_MIB"};

static inline void world_begin(world *w) {
    w->dir = kit_tempdir();
    snprintf(w->cache, sizeof w->cache, "%.3000s/cache", w->dir);
    snprintf(w->temporary, sizeof w->temporary, "%.3000s/tmp", w->dir);
    assert_int_equal(mkdir(w->temporary, 0777), 0);
    for (size_t k = 0; k < 4; ++k) {
        w->old[k] = kit_getenv(WORLD_VARIABLES[k]);
        unsetenv(WORLD_VARIABLES[k]);
    }
    setenv("TMPDIR", w->temporary, 1);
}

static inline void world_end(world *w) {
    for (size_t k = 0; k < 4; ++k) kit_setenv(WORLD_VARIABLES[k], w->old[k]);
    kit_remove(w->dir);
}

/* A context that counts its blocks and its warnings; dir may be NULL. */
static inline atn_ctx *world_ctx(kit_faults *faults, kit_log *log, const char *dir) {
    *faults = (kit_faults){0};
    *log = (kit_log){0};
    atn_ctx_settings options = kit_fault_options(faults);
    options.cache_dir = dir;
    options.log = kit_log_line;
    options.log_user = log;
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    return ctx;
}

/* Entries of a directory whose name begins with `with` ("": all but the key); -1 where there is no such directory. */
static inline int entries(const char *path, const char *with) {
    DIR *dir = opendir(path);
    if (!dir) return -1;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                 strcmp(entry->d_name, "key") != 0 && strncmp(entry->d_name, with, strlen(with)) == 0;
    closedir(dir);
    return count;
}

static inline atn_hash key_of(int number) { return atn_hash_add((atn_hash){0}, &number, sizeof number); }

#endif
