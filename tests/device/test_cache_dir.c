/* Where the cache lies: made private, refused where others could write, replaced for the time being by a temporary
 * directory that goes with the context. */
#include "cachekit.h"

#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sys/wait.h>

enum { STRANGER = 61234 }; /* a user without a name, whom root may become to see what permissions do */

static world here;

static bool is_dir(const char *path, unsigned mode) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && (info.st_mode & 07777) == mode;
}

/* Opens a context's cache on `dir`, stores and reads back. NULL when all went as `why` says (NULL: it is used; else it
 * is refused with one warning that contains why, and a temporary directory stands in until the context goes). */
static const char *verdict(const char *dir, const char *why) {
    kit_faults faults;
    kit_log log;
    atn_ctx *ctx = world_ctx(&faults, &log, dir);
    atn_cache *cache;
    char *data, *work, temporary[PATH_BYTES];
    size_t length;
    static char said[sizeof log.last];
    const char *wrong = NULL;
    if (atn_cache_of(ctx, &cache) != ATN_OK) wrong = "cannot be opened at all";
    if (!wrong && atn_cache_lasting(cache) != !why)
        wrong = why ? "was used" : log.last[0] ? strcpy(said, log.last) : "was refused";
    if (!wrong && log.warnings != (why ? 1 : 0)) wrong = "not one warning, or one too many";
    if (!wrong && why && !strstr(log.last, why)) wrong = strcpy(said, log.last);
    if (!wrong && !is_dir(atn_cache_dir(cache), 0700)) wrong = "its mode is not 0700";
    if (!wrong && (atn_cache_put(cache, key_of(1), ".blob", "abc", 3) != ATN_OK ||
                   atn_cache_get(cache, key_of(1), ".blob", &data, &length) != ATN_OK))
        wrong = "does not work";
    if (!wrong && (!data || length != 3 || memcmp(data, "abc", 3) != 0)) wrong = "does not give back what it was given";
    if (!wrong) atn_free(ctx, data);
    if (!wrong && atn_cache_workdir(cache, &work) != ATN_OK) wrong = "gives no work directory";
    if (!wrong) atn_free(ctx, work); /* left lying: the temporary one goes with all that is in it */
    if (!wrong) snprintf(temporary, sizeof temporary, "%s", atn_cache_dir(cache));
    atn_ctx_free(ctx);
    if (!wrong && why && access(temporary, F_OK) == 0) wrong = "its stand-in was not removed";
    if (!wrong && faults.live) wrong = "leaks";
    return wrong;
}

static void expect(const char *dir, const char *why) {
    const char *wrong = verdict(dir, why);
    if (wrong) fail_msg("%s: %s", dir ? dir : "(default)", wrong);
    assert_int_equal(entries(here.temporary, ""), 0);
}

KIT_TEST(it_is_made_private) {
    char deep[PATH_BYTES + 64], relative[PATH_BYTES + 64];
    umask(0);
    expect(here.cache, NULL);
    expect(here.cache, NULL); /* there already */
    snprintf(deep, sizeof deep, "%s/a/b//c/", here.cache);
    expect(deep, NULL);
    snprintf(deep, sizeof deep, "%s/a/b", here.cache);
    assert_true(is_dir(deep, 0700));
    umask(022);
    char *back = getcwd(NULL, 0);
    assert_int_equal(chdir(here.dir), 0);
    expect("near", NULL);
    snprintf(relative, sizeof relative, "%s/near", here.dir);
    assert_true(is_dir(relative, 0700));
    assert_int_equal(chdir(back), 0);
    free(back);
}

KIT_TEST(it_lies_where_xdg_says) {
    char home[PATH_BYTES + 64], xdg[PATH_BYTES + 64], path[PATH_BYTES + 128];
    snprintf(home, sizeof home, "%s/home", here.dir);
    snprintf(xdg, sizeof xdg, "%s/xdg", here.dir);
    setenv("HOME", home, 1);
    expect(NULL, NULL);
    snprintf(path, sizeof path, "%s/.cache/attune", home);
    assert_true(is_dir(path, 0700));
    kit_remove(strdup(home));
    setenv("XDG_CACHE_HOME", "relative", 1); /* is to be ignored */
    expect("", NULL);                        /* as if nothing were given */
    assert_true(is_dir(path, 0700));
    kit_remove(strdup(home));
    setenv("XDG_CACHE_HOME", xdg, 1);
    expect(NULL, NULL);
    snprintf(path, sizeof path, "%s/attune", xdg);
    assert_true(is_dir(path, 0700));
    assert_int_equal(access(home, F_OK), -1);
}

KIT_TEST(what_others_may_write_is_refused) {
    assert_int_equal(mkdir(here.cache, 0700), 0);
    static const unsigned MODES[] = {0777, 0770, 0707, 0720, 0702, 01777};
    for (size_t k = 0; k < sizeof MODES / sizeof *MODES; ++k) {
        assert_int_equal(chmod(here.cache, MODES[k]), 0);
        expect(here.cache, "others may write to it; delete it");
    }
    assert_int_equal(entries(here.cache, ""), 0);
    assert_int_equal(chmod(here.cache, 0700), 0);
    expect(here.cache, NULL);
}

KIT_TEST(what_lies_below_an_open_one_is_refused) {
    char below[PATH_BYTES + 64];
    assert_int_equal(mkdir(here.cache, 0700), 0);
    snprintf(below, sizeof below, "%s/a/b", here.cache);
    assert_int_equal(chmod(here.cache, 0777), 0);
    expect(below, "a directory above it");
    assert_int_equal(chmod(here.cache, 01777), 0); /* as /tmp is: only owners rename there */
    expect(below, NULL);
}

KIT_TEST(what_is_no_directory_is_refused) {
    char path[PATH_BYTES + 64], real[PATH_BYTES + 64];
    close(open(here.cache, O_CREAT | O_WRONLY, 0600));
    expect(here.cache, "not a directory");
    snprintf(path, sizeof path, "%s/below/it", here.cache); /* a file as parent */
    expect(path, "Not a directory");
    snprintf(real, sizeof real, "%s/real", here.dir);
    snprintf(path, sizeof path, "%s/link", here.dir);
    assert_int_equal(mkdir(real, 0700), 0);
    assert_int_equal(symlink(real, path), 0);
    expect(path, "symbolic link");
    strcat(path, "/");
    expect(path, "symbolic link");
    assert_int_equal(entries(real, ""), 0);
    unlink(real);
    snprintf(path, sizeof path, "%s/dangling", here.dir);
    assert_int_equal(symlink("/no/such/place", path), 0);
    expect(path, "symbolic link");
    expect("/proc/attune/cache", "No such file"); /* not even root may make one there */
    expect("/dev/null", "not a directory");
}

/* Runs verdict as a user whom permissions hold, in a process of its own. */
static void expect_as_stranger(const char *dir, const char *why) {
    pid_t child = fork();
    if (child == 0) {
        if (setgroups(0, NULL) != 0 || setresgid(STRANGER, STRANGER, STRANGER) != 0 ||
            setresuid(STRANGER, STRANGER, STRANGER) != 0)
            _exit(2);
        const char *wrong = verdict(dir, why);
        if (wrong) fprintf(stderr, "%s: %s\n", dir ? dir : "(default)", wrong);
        _exit(wrong ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(entries(here.temporary, ""), 0);
}

KIT_TEST(what_we_may_not_write_is_refused) {
    assert_int_equal(mkdir(here.cache, 0700), 0);
    char below[PATH_BYTES + 64];
    snprintf(below, sizeof below, "%s/below", here.cache);
    if (geteuid() != 0) {
        print_message("    another user's directory and a user without a home: skipped, only root can try\n");
        assert_int_equal(chmod(here.cache, 0500), 0);
        expect(here.cache, "Permission denied");
        expect(below, "Permission denied");
        return;
    }
    assert_int_equal(chmod(here.dir, 0755), 0);
    assert_int_equal(chmod(here.temporary, 01777), 0);
    assert_int_equal(chmod(here.cache, 0755), 0);
    expect_as_stranger(here.cache, "belongs to another user");
    expect_as_stranger(below, "Permission denied");
    expect_as_stranger(NULL, "no home directory is known");
    setenv("HOME", "", 1);
    expect_as_stranger(NULL, "no home directory is known");
    assert_int_equal(chown(here.cache, STRANGER, STRANGER), 0);
    assert_int_equal(chmod(here.cache, 0700), 0);
    expect_as_stranger(here.cache, NULL);
    assert_int_equal(chmod(here.cache, 0500), 0);
    expect_as_stranger(here.cache, "Permission denied");
    expect(here.cache, "belongs to another user"); /* root, too, does not trust it */
}

KIT_TEST(without_any_place_it_says_so) {
    if (geteuid() == 0)
        print_message("    (root can always write to /tmp: only that a bad TMPDIR is passed over is seen)\n");
    kit_faults faults;
    kit_log log;
    atn_cache *cache;
    setenv("TMPDIR", "/no/such/place", 1);
    atn_ctx *ctx = world_ctx(&faults, &log, "/proc/attune");
    kit_ok(ctx, atn_cache_of(ctx, &cache));
    kit_contains(atn_cache_dir(cache), "/tmp/attune-");
    char stand_in[PATH_BYTES];
    snprintf(stand_in, sizeof stand_in, "%s", atn_cache_dir(cache));
    atn_ctx_free(ctx);
    assert_int_equal(access(stand_in, F_OK), -1);
    assert_int_equal(faults.live, 0);
    setenv("TMPDIR", here.temporary, 1);
}

KIT_TEST(a_child_does_not_take_it_along) {
    kit_faults faults;
    kit_log log;
    atn_cache *cache;
    atn_ctx *ctx = world_ctx(&faults, &log, "/proc/attune");
    kit_ok(ctx, atn_cache_of(ctx, &cache));
    pid_t child = fork();
    if (child == 0) {
        atn_ctx_free(ctx);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(access(atn_cache_dir(cache), F_OK), 0);
    atn_ctx_free(ctx);
    assert_int_equal(entries(here.temporary, ""), 0);
}

/* ---- two threads ask at once ---- */

typedef struct asking {
    atn_ctx *ctx;
    pthread_barrier_t *start;
    atn_cache *got;
} asking;

static void *ask(void *argument) {
    asking *self = argument;
    pthread_barrier_wait(self->start);
    if (atn_cache_of(self->ctx, &self->got) != ATN_OK) self->got = NULL;
    return NULL;
}

KIT_TEST(a_context_has_one) {
    enum { THREADS = 6 };
    for (int round = 0; round < 30; ++round) {
        kit_faults faults;
        kit_log log;
        atn_ctx *ctx = world_ctx(&faults, &log, round % 2 ? "/proc/attune" : here.cache);
        pthread_barrier_t start;
        pthread_t threads[THREADS];
        asking asked[THREADS];
        pthread_barrier_init(&start, NULL, THREADS);
        for (int k = 0; k < THREADS; ++k) {
            asked[k] = (asking){ctx, &start, NULL};
            pthread_create(&threads[k], NULL, ask, &asked[k]);
        }
        for (int k = 0; k < THREADS; ++k) pthread_join(threads[k], NULL);
        for (int k = 0; k < THREADS; ++k) assert_true(asked[k].got && asked[k].got == asked[0].got);
        assert_int_equal(log.warnings, round % 2);
        pthread_barrier_destroy(&start);
        atn_ctx_free(ctx);
        assert_int_equal(faults.live, 0);
        assert_int_equal(entries(here.temporary, ""), 0);
    }
}

KIT_TEST(every_allocation_may_fail) {
    const char *const dirs[] = {here.cache, "/proc/attune"};
    for (size_t d = 0; d < 2; ++d)
        for (long n = 1;; ++n) {
            kit_faults faults;
            kit_log log;
            atn_ctx *ctx = world_ctx(&faults, &log, dirs[d]);
            atn_cache *cache;
            char *data = NULL, *work = NULL;
            size_t length;
            long first = faults.count;
            faults.fail_at = first + n;
            atn_status status = atn_cache_of(ctx, &cache);
            if (status == ATN_OK) status = atn_cache_put(cache, key_of(1), ".blob", "abc", 3);
            if (status == ATN_OK) status = atn_cache_get(cache, key_of(1), ".blob", &data, &length);
            if (status == ATN_OK) status = atn_cache_workdir(cache, &work);
            if (status == ATN_OK) status = atn_cache_demote(cache, "a test");
            bool reached = faults.count >= first + n;
            assert_true(status == ATN_OK || (reached && status == ATN_ERR_MEMORY));
            if (status != ATN_OK) kit_contains(atn_ctx_message(ctx), "out of memory");
            atn_cache_discard(cache, work);
            atn_free(ctx, data);
            atn_ctx_free(ctx);
            assert_int_equal(faults.live, 0);
            assert_int_equal(entries(here.temporary, ""), 0);
            if (!reached) break;
        }
    assert_int_equal(entries(here.cache, "work-"), 0);
}

static int setup(void **state) {
    (void)state;
    world_begin(&here);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    world_end(&here);
    return 0;
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(it_is_made_private),
        TEST(it_lies_where_xdg_says),
        TEST(what_others_may_write_is_refused),
        TEST(what_lies_below_an_open_one_is_refused),
        TEST(what_is_no_directory_is_refused),
        TEST(what_we_may_not_write_is_refused),
        TEST(without_any_place_it_says_so),
        TEST(a_child_does_not_take_it_along),
        TEST(a_context_has_one),
        TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
