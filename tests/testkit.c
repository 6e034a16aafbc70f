/* The tests' common ground. */
#include "testkit.h"

#include "device/cache.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *cache_of[8]; /* private cache directories of contexts made by kit_ctx */
static atn_ctx *ctx_of[8];
static kit_faults faults_of[8];

/* What a developer measured is neither read nor written by tests. */
__attribute__((constructor)) static void leave_wisdom_alone(void) { unsetenv("ATTUNE_WISDOM"); }

/* Temporary directories that are there: a test that fails does not get to remove its own. */
typedef struct tempdir {
    struct tempdir *next;
    pid_t owner;
    char path[4096];
} tempdir;

static pthread_mutex_t tempdirs_lock = PTHREAD_MUTEX_INITIALIZER;
static tempdir *tempdirs;

char *kit_tempdir(void) {
    const char *base = getenv("TMPDIR");
    tempdir *made = malloc(sizeof *made);
    assert_non_null(made);
    made->owner = getpid();
    snprintf(made->path, sizeof made->path, "%s/attune-test-XXXXXX", base && *base ? base : "/tmp");
    char *dir = mkdtemp(made->path) ? strdup(made->path) : NULL;
    if (!dir) {
        free(made);
        fail_msg("no temporary directory can be made");
        return NULL;
    }
    pthread_mutex_lock(&tempdirs_lock);
    made->next = tempdirs;
    tempdirs = made;
    pthread_mutex_unlock(&tempdirs_lock);
    return dir;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk) {
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static void remove_tree(const char *dir) { nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

void kit_remove(char *dir) {
    if (!dir) return;
    remove_tree(dir);
    pthread_mutex_lock(&tempdirs_lock);
    for (tempdir **at = &tempdirs; *at; at = &(*at)->next) {
        tempdir *found = *at;
        if (strcmp(found->path, dir) != 0) continue;
        *at = found->next;
        free(found);
        break;
    }
    pthread_mutex_unlock(&tempdirs_lock);
    free(dir);
}

/* Not those of the process that this one was forked from. */
__attribute__((destructor)) static void remove_tempdirs(void) {
    for (tempdir *next; tempdirs; tempdirs = next) {
        next = tempdirs->next;
        if (tempdirs->owner == getpid()) remove_tree(tempdirs->path);
        free(tempdirs);
    }
}

/* Makes the folder's key where it has none, as its first use does. */
static void make_key(const char *folder) {
    atn_ctx *ctx;
    atn_cache *cache;
    assert_int_equal(atn_ctx_create(&(atn_ctx_settings){.cache_dir = folder}, &ctx), ATN_OK);
    kit_ok(ctx, atn_cache_of(ctx, &cache));
    atn_ctx_free(ctx);
}

/* Links what was built or measured in one folder into another. What is sealed with another key is made anew. */
static void share(const char *from, const char *to) {
    DIR *folder = opendir(from);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const char *suffix = strrchr(entry->d_name, '.');
        bool key = strcmp(entry->d_name, "key") == 0;
        if (!key &&
            (!suffix || (strcmp(suffix, ".so") != 0 && strcmp(suffix, ".clbin") != 0 && strcmp(suffix, ".peaks") != 0)))
            continue;
        char old[512], new[512];
        snprintf(old, sizeof old, "%s/%s", from, entry->d_name);
        snprintf(new, sizeof new, "%s/%s", to, entry->d_name);
        if (link(old, new) != 0) assert_true(errno == EEXIST || errno == ENOENT || errno == EXDEV);
    }
    if (folder) closedir(folder);
}

void kit_pool_take(const char *cache_dir) {
    const char *pool = getenv("ATTUNE_TEST_POOL");
    if (!pool || !*pool) return;
    make_key(pool);
    share(pool, cache_dir);
}

void kit_pool_give(const char *cache_dir) {
    const char *pool = getenv("ATTUNE_TEST_POOL");
    if (pool && *pool) share(cache_dir, pool);
}

atn_ctx *kit_ctx(void) {
    for (size_t k = 0; k < sizeof ctx_of / sizeof *ctx_of; ++k) {
        if (ctx_of[k]) continue;
        cache_of[k] = kit_tempdir();
        faults_of[k] = (kit_faults){0};
        atn_ctx_settings options = kit_fault_options(&faults_of[k]);
        options.cache_dir = cache_of[k];
        kit_pool_take(cache_of[k]);
        assert_int_equal(atn_ctx_create(&options, &ctx_of[k]), ATN_OK);
        return ctx_of[k];
    }
    fail_msg("more than 8 contexts at once");
    return NULL;
}

void kit_free(atn_ctx *ctx) {
    atn_ctx_free(ctx);
    for (size_t k = 0; k < sizeof ctx_of / sizeof *ctx_of; ++k) {
        if (ctx_of[k] != ctx) continue;
        kit_pool_give(cache_of[k]);
        kit_remove(cache_of[k]);
        ctx_of[k] = NULL;
        if (faults_of[k].live) fail_msg("%ld blocks were not freed", (long)faults_of[k].live);
    }
}

static void *faulty_resize(void *user, void *block, size_t bytes) {
    kit_faults *faults = user;
    if (bytes == 0) {
        if (block) atomic_fetch_sub(&faults->live, 1);
        free(block);
        return NULL;
    }
    if (atomic_fetch_add(&faults->count, 1) + 1 == faults->fail_at) return NULL;
    void *moved = realloc(block, bytes);
    if (moved && !block) atomic_fetch_add(&faults->live, 1);
    return moved;
}

atn_ctx_settings kit_fault_options(kit_faults *faults) {
    return (atn_ctx_settings){.resize = faulty_resize, .resize_user = faults};
}

atn_device *kit_open_host(atn_ctx *ctx) {
    atn_devices *devices;
    atn_device *host;
    kit_ok(ctx, atn_devices_find(ctx, &devices)); /* the host comes first */
    kit_ok(ctx, atn_device_open(devices, 0, &host));
    atn_devices_free(devices);
    return host;
}

void kit_contains(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

char *kit_script(const char *dir, const char *name, const char *body) {
    char *path = malloc(4096);
    assert_non_null(path);
    assert_true(snprintf(path, 4096, "%s/%s", dir, name) < 4096);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", body);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}

void kit_log_line(void *user, atn_log_level level, const char *line) {
    kit_log *log = user;
    if (level < ATN_LOG_WARNING) return;
    atomic_fetch_add(&log->warnings, 1);
    snprintf(log->last, sizeof log->last, "%s", line);
}

char *kit_getenv(const char *name) {
    const char *value = getenv(name);
    return value ? strdup(value) : NULL;
}

void kit_setenv(const char *name, char *value) {
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
    free(value);
}

static bool runs(long pid) {
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool known = fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    fclose(file);
    return known && state != 'Z' && state != 'X';
}

void kit_gone(long pid) {
    for (int k = 0; k < 1000 && runs(pid); ++k) usleep(10000);
    if (runs(pid)) fail_msg("process %ld still runs", pid);
}

bool kit_spawn_tells(void) {
    char nothing[] = "/nonexistent/program", *argv[] = {nothing, NULL};
    pid_t child;
    if (posix_spawn(&child, nothing, NULL, NULL, argv, NULL) != 0) return true;
    waitpid(child, NULL, 0);
    print_message("    what cannot be started: skipped, posix_spawn does not say so under this emulator\n");
    return false;
}

bool kit_memory_limits(void) {
    struct rlimit before, limit, now;
    assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
    limit = before;
    limit.rlim_cur = before.rlim_cur == RLIM_INFINITY ? (rlim_t)1 << 46 : before.rlim_cur - 4096;
    bool holds =
        setrlimit(RLIMIT_DATA, &limit) == 0 && getrlimit(RLIMIT_DATA, &now) == 0 && now.rlim_cur == limit.rlim_cur;
    setrlimit(RLIMIT_DATA, &before);
    if (!holds) print_message("    limits of memory: skipped, they do not hold under this emulator\n");
    return holds;
}

long kit_cases(long usual) {
    const char *cases = getenv("ATTUNE_TEST_CASES");
    return cases && atol(cases) > 0 ? atol(cases) : usual;
}

long kit_day(void) {
    static long day = -1;
    if (day >= 0) return day;
    const char *given = getenv("ATTUNE_TEST_DAY");
    day = getenv("ATTUNE_TEST_ALL") ? 0 : given ? labs(atol(given)) : (long)(time(NULL) / 86400);
    if (day) print_message("    the sample of ATTUNE_TEST_DAY=%ld\n", day);
    return day;
}

bool kit_turn(size_t n, size_t every) { return getenv("ATTUNE_TEST_ALL") || (n + (size_t)kit_day()) % every == 0; }

uint64_t kit_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717ull;
}

double kit_uniform(uint64_t *state) { return (double)(kit_random(state) >> 11) * 0x1p-53; }

bool kit_wants(const char *backend) {
    const char *only = getenv("ATTUNE_TEST_DEVICE");
    return !only || strcmp(only, backend) == 0;
}
