/* The cache's files: whole or not there, the oldest out first, damage and full disks survived, many at once. */
#include "cachekit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static world here;
static kit_faults faults;
static kit_log seen;
static atn_ctx *ctx;
static atn_cache *cache;

static bool has(int number) {
    char *data;
    size_t length;
    kit_ok(ctx, atn_cache_get(cache, key_of(number), ".blob", &data, &length));
    bool there = data != NULL;
    atn_free(ctx, data);
    return there;
}

static bool has_file(int number) { /* without touching it */
    char *path = atn_cache_path(cache, key_of(number), ".blob");
    bool there = access(path, F_OK) == 0;
    atn_free(ctx, path);
    return there;
}

static void put(int number, size_t bytes) {
    char *data = malloc(bytes + 1);
    memset(data, number, bytes + 1);
    kit_ok(ctx, atn_cache_put(cache, key_of(number), ".blob", data, bytes));
    free(data);
}

static void make_older(const char *path, long seconds) {
    struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

KIT_TEST(a_blob_comes_back) {
    char *data;
    size_t length;
    assert_true(atn_cache_lasting(cache));
    assert_string_equal(atn_cache_dir(cache), here.cache);
    assert_false(has(1));
    kit_ok(ctx, atn_cache_put(cache, key_of(1), ".blob", "a\0b", 3));
    kit_ok(ctx, atn_cache_get(cache, key_of(1), ".blob", &data, &length));
    assert_int_equal(length, 3);
    assert_memory_equal(data, "a\0b", 4);
    atn_free(ctx, data);
    kit_ok(ctx, atn_cache_get(cache, key_of(1), ".other", &data, &length));
    assert_null(data);
    kit_ok(ctx, atn_cache_put(cache, key_of(2), ".blob", NULL, 0));
    kit_ok(ctx, atn_cache_get(cache, key_of(2), ".blob", &data, &length));
    assert_int_equal(length, 0);
    assert_non_null(data);
    atn_free(ctx, data);
    kit_ok(ctx, atn_cache_put(cache, key_of(3), ".blob", "", SIZE_MAX)); /* larger than what is read: not kept */
    assert_false(has(3));
    assert_int_equal(seen.warnings, 0);
}

KIT_TEST(the_oldest_go_first) {
    char foreign[PATH_BYTES + 64], stale[PATH_BYTES + 64], *work;
    enum { BYTES = 100 << 10 }; /* ten of them fit into the one MiB of setup */
    assert_int_equal(mkdir(here.cache, 0700) == 0 || errno == EEXIST, 1);
    snprintf(foreign, sizeof foreign, "%s/my-very-important-thesis-of-2024.txt", here.cache);
    snprintf(stale, sizeof stale, "%s/work-a1b2c3", here.cache);
    int fd = open(foreign, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(ftruncate(fd, 3 << 20), 0);
    close(fd);
    make_older(foreign, 1000000);
    mkdir(stale, 0700);
    make_older(stale, 1000000);
    kit_ok(ctx, atn_cache_workdir(cache, &work));
    for (int k = 0; k < 10; ++k) put(k, BYTES);
    for (int k = 0; k < 10; ++k) {
        char *path = atn_cache_path(cache, key_of(k), ".blob");
        make_older(path, 1000 - k);
        atn_free(ctx, path);
    }
    for (int k = 0; k < 10; ++k) assert_true(has_file(k));
    assert_true(has(0)); /* the oldest is used once more */
    put(10, BYTES);
    for (int k = 0; k < 11; ++k) assert_int_equal(has_file(k), k != 1 && k != 2);
    assert_int_equal(access(foreign, F_OK), 0); /* not ours, not counted, not removed */
    assert_int_equal(access(work, F_OK), 0);    /* may be in use */
    assert_int_not_equal(access(stale, F_OK), 0);
    atn_cache_discard(cache, work);
    put(11, 2 << 20); /* more than the cap alone: goes at once, and nothing breaks */
    assert_false(has(11));
    put(12, BYTES);
    assert_true(has(12));
}

KIT_TEST(a_senseless_cap_is_told) {
    static const char *const CAPS[] = {"-1", "0", "plenty", "5x", "99999999999999999999999"};
    for (size_t k = 0; k < sizeof CAPS / sizeof *CAPS; ++k) {
        kit_faults own_faults;
        kit_log own_log;
        setenv("ATTUNE_CACHE_MIB", CAPS[k], 1);
        atn_ctx *own = world_ctx(&own_faults, &own_log, here.cache);
        atn_cache *its;
        kit_ok(own, atn_cache_of(own, &its));
        assert_int_equal(own_log.warnings, 1);
        kit_contains(own_log.last, "ATTUNE_CACHE_MIB");
        kit_contains(own_log.last, "512");
        atn_ctx_free(own);
        assert_int_equal(own_faults.live, 0);
    }
}

/* ---- damage ---- */

static void cut(int fd) { assert_int_equal(ftruncate(fd, 500), 0); }
static void empty(int fd) { assert_int_equal(ftruncate(fd, 0), 0); }
static void shorten(int fd) { assert_int_equal(ftruncate(fd, 10), 0); }
static void flip(int fd) { assert_int_equal(pwrite(fd, "!", 1, 100), 1); }
static void flip_end(int fd) { assert_int_equal(pwrite(fd, "!", 1, 1000), 1); }
static void lengthen(int fd) { assert_int_equal(pwrite(fd, "more", 4, 1040), 4); }

KIT_TEST(damage_is_found) {
    static void (*const WAYS[])(int fd) = {cut, empty, shorten, flip, flip_end, lengthen};
    for (size_t k = 0; k < sizeof WAYS / sizeof *WAYS; ++k) {
        put(5, 1000);
        assert_true(has(5));
        char *path = atn_cache_path(cache, key_of(5), ".blob");
        int fd = open(path, O_RDWR);
        WAYS[k](fd);
        close(fd);
        assert_false(has(5));
        assert_int_not_equal(access(path, F_OK), 0);
        atn_free(ctx, path);
    }
    char *five = atn_cache_path(cache, key_of(5), ".blob"), *six = atn_cache_path(cache, key_of(6), ".blob");
    put(5, 1000);
    assert_int_equal(rename(five, six), 0); /* whole, but under another's name */
    assert_false(has(6));
    assert_int_equal(mkdir(six, 0700), 0); /* a directory in its place: no use, no harm */
    assert_false(has(6));
    put(6, 10);
    assert_int_equal(seen.warnings, 1);
    rmdir(six);
    atn_free(ctx, five);
    atn_free(ctx, six);
}

KIT_TEST(a_full_disk_is_survived) {
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){.rlim_cur = 4096, .rlim_max = old.rlim_max};
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    put(1, 100000);
    put(2, 100);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, before);
    assert_int_equal(seen.warnings, 1);
    kit_contains(seen.last, "not kept");
    assert_false(has(1));
    assert_true(has(2));
    assert_int_equal(entries(here.cache, ""), 1); /* no half of it is left */
}

KIT_TEST(the_directory_may_go) {
    char *work;
    put(1, 10);
    char *path = atn_cache_path(cache, key_of(1), ".blob");
    unlink(path);
    atn_free(ctx, path);
    char key[PATH_BYTES + 8];
    snprintf(key, sizeof key, "%s/key", here.cache);
    unlink(key);
    assert_int_equal(rmdir(here.cache), 0);
    assert_false(has(1));
    put(1, 10);
    assert_int_equal(seen.warnings, 1);
    kit_fails(ctx, ATN_ERR_IO, "No such file", atn_cache_workdir(cache, &work));
    assert_null(work);
    kit_ok(ctx, atn_cache_demote(cache, atn_ctx_message(ctx)));
    kit_ok(ctx, atn_cache_demote(cache, "again"));
    assert_int_equal(seen.warnings, 2);
    kit_contains(seen.last, "No such file");
    assert_false(atn_cache_lasting(cache));
    put(1, 10);
    assert_true(has(1));
    assert_int_equal(entries(here.temporary, "attune-"), 1);
}

KIT_TEST(stale_halves_do_not_block) {
    char *path = atn_cache_path(cache, key_of(1), ".blob"), aside[PATH_BYTES + 64];
    for (int k = 0; k < 300; ++k) { /* what a killed process with our number may have left */
        snprintf(aside, sizeof aside, "%s.%ld.%d", path, (long)getpid(), k);
        close(open(aside, O_CREAT | O_WRONLY, 0600));
    }
    put(1, 10);
    assert_true(has(1));
    assert_int_equal(seen.warnings, 0);
    atn_free(ctx, path);
}

KIT_TEST(work_directories_are_private) {
    char *work;
    struct stat info;
    kit_ok(ctx, atn_cache_workdir(cache, &work));
    assert_int_equal(stat(work, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    atn_cache_discard(cache, work);
    assert_int_equal(entries(here.cache, "work-"), 0);
}

/* The seal is the directory's: under another key, name or suffix the same bytes are nothing. */
KIT_TEST(a_seal_holds_key_name_and_kind) {
    char from[PATH_BYTES + 64], to[PATH_BYTES + 64], text[ATN_HASH_TEXT], *data;
    size_t length;
    atn_hash_print(key_of(1), text);
    put(1, 100);
    snprintf(from, sizeof from, "%s/%s.blob", here.cache, text);
    snprintf(to, sizeof to, "%s/%s.so", here.cache, text);
    assert_int_equal(link(from, to), 0);
    kit_ok(ctx, atn_cache_get(cache, key_of(1), ".so", &data, &length));
    assert_null(data);
    assert_int_not_equal(access(to, F_OK), 0);
    assert_true(has(1));
    char other[PATH_BYTES];
    snprintf(other, sizeof other, "%.3000s/other", here.dir);
    kit_faults own_faults;
    kit_log own_log;
    atn_cache *its;
    atn_ctx *own = world_ctx(&own_faults, &own_log, other);
    kit_ok(own, atn_cache_of(own, &its));
    snprintf(to, sizeof to, "%s/%s.blob", other, text);
    assert_int_equal(link(from, to), 0);
    kit_ok(own, atn_cache_get(its, key_of(1), ".blob", &data, &length));
    assert_null(data);
    atn_ctx_free(own);
}

/* ---- many at once ---- */

static atomic_int damaged;
static void count_damage(void *user, atn_log_level level, const char *line) {
    (void)user, (void)level;
    if (strstr(line, "damaged") || level == ATN_LOG_WARNING) atomic_fetch_add(&damaged, 1);
}

/* One process of several that store and read the same key; exits 0 when all it saw was whole. */
static int store_and_read(int who) {
    atn_ctx_settings options = {.cache_dir = here.cache, .log = count_damage};
    atn_ctx *own;
    atn_cache *its;
    if (atn_ctx_create(&options, &own) != ATN_OK || atn_cache_of(own, &its) != ATN_OK) return 1;
    enum { BYTES = 60000 };
    char *mine = malloc(BYTES), *data;
    size_t length;
    int found = 0;
    memset(mine, who, BYTES);
    for (int k = 0; k < 200; ++k) {
        if (atn_cache_put(its, key_of(77), ".blob", mine, BYTES - (size_t)who) != ATN_OK) return 2;
        if (atn_cache_get(its, key_of(77), ".blob", &data, &length) != ATN_OK) return 3;
        if (!data) continue;
        ++found;
        if (length != BYTES - (size_t)data[0] || memcmp(data, data + 1, length - 1) != 0) return 4;
        atn_free(own, data);
    }
    free(mine);
    atn_ctx_free(own);
    return damaged ? 5 : found < 200 ? 6 : 0;
}

KIT_TEST(processes_never_see_half) {
    pid_t children[3];
    for (int k = 0; k < 3; ++k) {
        children[k] = fork();
        if (children[k] == 0) _exit(store_and_read(k + 1));
    }
    for (int k = 0; k < 3; ++k) {
        int status;
        assert_int_equal(waitpid(children[k], &status, 0), children[k]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    assert_int_equal(entries(here.cache, ""), 1);
}

static atomic_bool stop;
static void *work_on(void *failed) {
    while (!atomic_load(&stop)) {
        char *data, *work;
        size_t length;
        if (atn_cache_put(cache, key_of(1), ".blob", "abc", 3) != ATN_OK ||
            atn_cache_get(cache, key_of(1), ".blob", &data, &length) != ATN_OK ||
            atn_cache_workdir(cache, &work) != ATN_OK)
            *(bool *)failed = true;
        else
            atn_cache_discard(cache, work), atn_free(ctx, data);
    }
    return NULL;
}

KIT_TEST(it_may_be_given_up_while_in_use) {
    pthread_t threads[3];
    bool failed[3] = {0};
    atomic_store(&stop, false);
    for (int k = 0; k < 3; ++k) pthread_create(&threads[k], NULL, work_on, &failed[k]);
    usleep(20000);
    kit_ok(ctx, atn_cache_demote(cache, "a test"));
    usleep(20000);
    atomic_store(&stop, true);
    for (int k = 0; k < 3; ++k) {
        pthread_join(threads[k], NULL);
        assert_false(failed[k]);
    }
}

static int setup(void **state) {
    (void)state;
    world_begin(&here);
    setenv("ATTUNE_CACHE_MIB", "1", 1);
    ctx = world_ctx(&faults, &seen, here.cache);
    kit_ok(ctx, atn_cache_of(ctx, &cache));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    atn_ctx_free(ctx);
    assert_int_equal(faults.live, 0);
    assert_int_equal(entries(here.temporary, ""), 0);
    world_end(&here);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_blob_comes_back),
        TEST(the_oldest_go_first),
        TEST(a_senseless_cap_is_told),
        TEST(damage_is_found),
        TEST(a_full_disk_is_survived),
        TEST(the_directory_may_go),
        TEST(stale_halves_do_not_block),
        TEST(work_directories_are_private),
        TEST(a_seal_holds_key_name_and_kind),
        TEST(processes_never_see_half),
        TEST(it_may_be_given_up_while_in_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
