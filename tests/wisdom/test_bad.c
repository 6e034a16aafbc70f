/* Bad cases: locked, damaged, newer, another program's, not permitted, full. Each is one sentence, and what was there
 * stays as it was. */
#include "wisdomkit.h"

#include "wisdom/store.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A database with a little in it, closed. */
static char *sample(const atn_ctx *ctx, const char *dir) {
    char *path = wkit_path(dir, "sample.sqlite");
    atn_wisdom *wisdom;
    atn_wisdom_key key = wkit_key();
    kit_ok(ctx, atn_wisdom_open(ctx, path, false, &wisdom));
    for (int k = 0; k < 100; ++k) {
        char variant[32];
        snprintf(variant, sizeof variant, "tile_q0=%d", k);
        wkit_tell(ctx, wisdom, &key, variant, 1 + k);
    }
    wkit_crown(ctx, wisdom, &key, "tile_q0=0", 1);
    atn_wisdom_close(wisdom);
    return path;
}

/* Neither reading nor writing opens it, and it stays as it is. */
static void refused(const atn_ctx *ctx, const char *path, atn_status status, const char *part) {
    size_t length;
    char *bytes = wkit_bytes(path, &length);
    atn_wisdom *wisdom;
    for (int read_only = 0; read_only < 2; ++read_only) {
        kit_fails(ctx, status, part, atn_wisdom_open(ctx, path, read_only, &wisdom));
        assert_null(wisdom);
        assert_null(strchr(atn_ctx_message(ctx), '\n'));
        wkit_unchanged(path, bytes, length);
    }
    free(bytes);
}

static void run_sql(const char *path, const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

KIT_TEST(no_database) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), *path = wkit_path(dir, "w"), *fifo = wkit_path(dir, "fifo");
    atn_wisdom *wisdom;
    wkit_put(path, "hello, this is not a database at all, whatever its name may say of it; it is longer than a header",
             98);
    refused(ctx, path, ATN_ERR_INPUT, "is damaged or no database at all");
    wkit_put(path, "SQLite format 3", 16); /* cut short */
    refused(ctx, path, ATN_ERR_INPUT, "is damaged or no database at all");
    kit_fails(ctx, ATN_ERR_INPUT, "is a directory; a file is needed", atn_wisdom_open(ctx, dir, false, &wisdom));
    kit_fails(ctx, ATN_ERR_INPUT, "is a directory", atn_wisdom_open(ctx, dir, true, &wisdom));
    assert_int_equal(mkfifo(fifo, 0600), 0);
    kit_fails(ctx, ATN_ERR_INPUT, "is not a regular file", atn_wisdom_open(ctx, fifo, false, &wisdom));
    free(path);
    path = wkit_path(dir, "not/there/w");
    kit_fails(ctx, ATN_ERR_IO, "cannot be opened: No such file", atn_wisdom_open(ctx, path, false, &wisdom));
    free(path);
    path = wkit_path(dir, "empty"); /* is as good as none */
    wkit_put(path, "", 0);
    kit_ok(ctx, atn_wisdom_open(ctx, path, true, &wisdom));
    assert_null(wisdom);
    kit_ok(ctx, atn_wisdom_open(ctx, path, false, &wisdom));
    atn_wisdom_close(wisdom);
    free(path);
    free(fifo);
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(not_ours) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), *path = wkit_path(dir, "w.db");
    run_sql(path, "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
    refused(ctx, path, ATN_ERR_INPUT, "is a database of another program");
    run_sql(path, "PRAGMA application_id=7");
    refused(ctx, path, ATN_ERR_INPUT, "is a database of another program");
    run_sql(path, "PRAGMA application_id=1635020407; PRAGMA user_version=2");
    refused(ctx, path, ATN_ERR_INPUT, "is of a newer attune (version 2, this one knows 1)");
    run_sql(path, "PRAGMA user_version=0");
    refused(ctx, path, ATN_ERR_INPUT, "is damaged");
    free(path);
    kit_remove(dir);
    kit_free(ctx);
}

/* Whatever is written over it or cut off: a status, never a crash, and what was opened can be asked. */
KIT_TEST(damaged) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), *path = sample(ctx, dir);
    size_t length, refusals = 0, rounds = 60;
    char *bytes = wkit_bytes(path, &length), *broken = malloc(length);
    uint64_t seed = 7;
    atn_wisdom_key key = wkit_key();
    for (size_t round = 0; round < rounds; ++round) {
        size_t from = kit_random(&seed) % length, span = kit_random(&seed) % 4096, kept = length;
        memcpy(broken, bytes, length);
        if (round % 3 == 0)
            kept = from;
        else
            for (size_t k = from; k < length && k < from + span; ++k) broken[k] = (char)kit_random(&seed);
        wkit_put(path, broken, kept);
        atn_wisdom *wisdom;
        atn_hit hit = {0};
        int64_t starts;
        atn_status status = atn_wisdom_open(ctx, path, round % 2, &wisdom);
        if (status == ATN_OK && wisdom) status = atn_wisdom_find(ctx, wisdom, &key, &hit);
        if (status == ATN_OK && wisdom && round % 2 == 0)
            status = atn_wisdom_begin(wisdom, &key, "tile_q0=50", &starts);
        if (status != ATN_OK) {
            assert_int_equal(status, ATN_ERR_INPUT);
            kit_contains(atn_ctx_message(ctx), "move it away or set ATTUNE_WISDOM");
            ++refusals;
        }
        atn_hit_free(&hit);
        atn_wisdom_close(wisdom);
    }
    print_message("    %zu of %zu damages were met\n", refusals, rounds);
    assert_true(refusals > rounds / 3);
    free(bytes);
    free(broken);
    free(path);
    kit_remove(dir);
    kit_free(ctx);
}

KIT_TEST(locked) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), *path = sample(ctx, dir);
    atn_wisdom *wisdom, *reader;
    atn_wisdom_key key = wkit_key();
    int64_t starts;
    sqlite3 *db;
    double before = atn_wisdom_patience_s;
    atn_wisdom_patience_s = 0.05;
    kit_ok(ctx, atn_wisdom_open(ctx, path, false, &wisdom));
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    kit_fails(ctx, ATN_ERR_TIMEOUT, "is locked by another process", atn_wisdom_begin(wisdom, &key, "", &starts));
    kit_ok(ctx, atn_wisdom_open(ctx, path, true, &reader)); /* readers are not kept waiting */
    assert_int_equal(wkit_find(ctx, reader, &key, "tile_q0=0"), ATN_HIT_EXACT);
    assert_int_equal(wkit_rows(ctx, wisdom, &key).rows, 100);
    atn_wisdom_close(reader);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    kit_ok(ctx, atn_wisdom_begin(wisdom, &key, "", &starts)); /* and it goes on afterwards */
    assert_int_equal(starts, 1);
    atn_wisdom_close(wisdom);

    assert_int_equal(sqlite3_exec(db, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    kit_fails(ctx, ATN_ERR_TIMEOUT, "is locked by another process", atn_wisdom_open(ctx, path, false, &wisdom));
    kit_fails(ctx, ATN_ERR_TIMEOUT, "is locked by another process", atn_wisdom_open(ctx, path, true, &wisdom));
    sqlite3_close(db);
    atn_wisdom_patience_s = before;
    free(path);
    kit_remove(dir);
    kit_free(ctx);
}

/* ---- permissions: root may do everything, so it steps down for a while ---- */

static void step_down(const char *dir, const char *path) {
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(dir, 0555), 0);
    if (geteuid() == 0) assert_int_equal(seteuid(65534), 0);
}

static void step_up(const char *dir) {
    if (getuid() == 0) assert_int_equal(seteuid(0), 0);
    assert_int_equal(chmod(dir, 0700), 0);
}

KIT_TEST(not_permitted) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), *path = sample(ctx, dir), *fresh = wkit_path(dir, "fresh?#%.sqlite");
    atn_wisdom *wisdom, *first;
    atn_wisdom_key key = wkit_key();
    int64_t starts;
    size_t length;
    char *bytes = wkit_bytes(path, &length);
    wkit_put(fresh, bytes, length); /* a name that is not to be taken for an address */
    assert_int_equal(chmod(fresh, 0444), 0);
    step_down(dir, path);
    kit_ok(ctx, atn_wisdom_open(ctx, path, true, &wisdom)); /* reading needs no more than reading */
    assert_int_equal(wkit_find(ctx, wisdom, &key, "tile_q0=0"), ATN_HIT_EXACT);
    kit_fails(ctx, ATN_ERR_IO, "may not be written to", atn_wisdom_begin(wisdom, &key, "", &starts));
    atn_wisdom_close(wisdom);
    kit_ok(ctx, atn_wisdom_open(ctx, fresh, true, &wisdom));
    assert_int_equal(wkit_find(ctx, wisdom, &key, "tile_q0=0"), ATN_HIT_EXACT);
    atn_wisdom_close(wisdom);
    kit_fails(ctx, ATN_ERR_IO, "may not be written to", atn_wisdom_open(ctx, path, false, &wisdom));
    free(fresh);
    fresh = wkit_path(dir, "new.sqlite");
    kit_fails(ctx, ATN_ERR_IO, "cannot be opened", atn_wisdom_open(ctx, fresh, false, &wisdom));
    step_up(dir);
    wkit_unchanged(path, bytes, length);

    assert_int_equal(chmod(path, 0644), 0); /* with a writer at work, and its log beside it */
    kit_ok(ctx, atn_wisdom_open(ctx, path, false, &first));
    kit_ok(ctx, atn_wisdom_begin(first, &key, "", &starts));
    step_down(dir, path);
    atn_status status = atn_wisdom_open(ctx, path, true, &wisdom);
    if (status == ATN_OK) {
        assert_int_equal(wkit_rows(ctx, wisdom, &key).rows, 101);
        atn_wisdom_close(wisdom);
    } else {
        assert_int_equal(status, ATN_ERR_IO);
    }
    step_up(dir);
    atn_wisdom_close(first);
    if (geteuid() == 0) { /* a file that may not even be read */
        assert_int_equal(chmod(path, 0), 0);
        assert_int_equal(chmod(dir, 0755), 0);
        assert_int_equal(seteuid(65534), 0);
        kit_fails(ctx, ATN_ERR_IO, "cannot be opened: Permission denied", atn_wisdom_open(ctx, path, true, &wisdom));
        assert_int_equal(seteuid(0), 0);
    }
    free(bytes);
    free(fresh);
    free(path);
    kit_remove(dir);
    kit_free(ctx);
}

/* A cache folder that others may write to is no place for what decides which code is run. */
KIT_TEST(unsafe_folder) {
    char *dir = kit_tempdir(), *before = kit_getenv("ATTUNE_WISDOM");
    atn_ctx_settings options = {.cache_dir = dir};
    atn_ctx *ctx;
    atn_wisdom *wisdom;
    unsetenv("ATTUNE_WISDOM");
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    assert_int_equal(chmod(dir, 0777), 0);
    kit_fails(ctx, ATN_ERR_IO, "others may write to it", atn_wisdom_open(ctx, NULL, false, &wisdom));
    kit_contains(atn_ctx_message(ctx), "set ATTUNE_WISDOM to a file elsewhere");
    /* What was put there meanwhile is not read either, once the folder is closed. */
    assert_int_equal(chmod(dir, 0700), 0);
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    atn_wisdom_close(wisdom);
    static const char *const FILES[] = {"wisdom.sqlite", "wisdom.sqlite-wal"};
    for (int k = 0; k < 2; ++k) {
        char path[4096 + 64];
        snprintf(path, sizeof path, "%s/%s", dir, FILES[k]);
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
        assert_int_equal(chmod(path, 0666), 0);
        for (int read_only = 0; read_only < 2; ++read_only)
            kit_fails(ctx, ATN_ERR_IO, "others may write to its contents; delete",
                      atn_wisdom_open(ctx, NULL, read_only, &wisdom));
        assert_int_equal(chmod(path, 0644), 0);
        if (geteuid() == 0) {
            assert_int_equal(chown(path, 65534, 65534), 0);
            kit_fails(ctx, ATN_ERR_IO, "belong to another user", atn_wisdom_open(ctx, NULL, true, &wisdom));
            assert_int_equal(chown(path, 0, 0), 0);
        }
        if (k) unlink(path);
    }
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, true, &wisdom));
    atn_wisdom_close(wisdom);
    kit_setenv("ATTUNE_WISDOM", before);
    atn_ctx_free(ctx);
    kit_remove(dir);
}

/* ---- full ---- */

/* Tells until it fails; how many were taken. */
static int64_t fill(const atn_ctx *ctx, atn_wisdom *wisdom, const char *part) {
    atn_wisdom_key key = wkit_key();
    char detail[2048];
    memset(detail, 'x', sizeof detail - 1);
    detail[sizeof detail - 1] = '\0';
    for (int64_t k = 0; k < 100000; ++k) {
        char variant[32];
        snprintf(variant, sizeof variant, "tile_q0=%d", (int)k + 1000);
        atn_wisdom_row row = {.variant = variant, .outcome = "build", .detail = detail};
        atn_status status = atn_wisdom_tell(wisdom, &key, &row);
        if (status == ATN_OK) continue;
        assert_int_equal(status, ATN_ERR_IO);
        kit_contains(atn_ctx_message(ctx), part);
        return k;
    }
    fail_msg("it never became full");
    return 0;
}

KIT_TEST(full) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), *path = sample(ctx, dir);
    atn_wisdom *wisdom;
    atn_wisdom_key key = wkit_key();
    kit_ok(ctx, atn_wisdom_open(ctx, path, false, &wisdom));
    assert_int_equal(sqlite3_exec(wisdom->db, "PRAGMA max_page_count=40", NULL, NULL, NULL), SQLITE_OK);
    int64_t taken = fill(ctx, wisdom, "cannot grow: the disk is full");
    assert_int_equal(wkit_rows(ctx, wisdom, &key).rows, 100 + taken);
    assert_int_equal(wkit_find(ctx, wisdom, &key, "tile_q0=0"), ATN_HIT_EXACT);
    wkit_sound(ctx, wisdom);
    atn_wisdom_close(wisdom);
    free(path);
    kit_remove(dir);
    kit_free(ctx);
}

/* The same where the system says no: a limit on the size of files, in a process of its own. */
KIT_TEST(file_limit) {
    atn_ctx *ctx = kit_ctx();
    char *dir = kit_tempdir(), *path = sample(ctx, dir);
    atn_wisdom *wisdom;
    atn_wisdom_key key = wkit_key();
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit limit = {200000, 200000};
        signal(SIGXFSZ, SIG_IGN);
        bool good = setrlimit(RLIMIT_FSIZE, &limit) == 0 && atn_wisdom_open(ctx, path, false, &wisdom) == ATN_OK &&
                    fill(ctx, wisdom, "the disk is full") > 0;
        _exit(good ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    kit_ok(ctx, atn_wisdom_open(ctx, path, false, &wisdom));
    assert_true(wkit_rows(ctx, wisdom, &key).rows > 100);
    wkit_sound(ctx, wisdom);
    atn_wisdom_close(wisdom);
    free(path);
    kit_remove(dir);
    kit_free(ctx);
}

/* ---- memory ---- */

/* Every allocation of ours fails once; SQLite's own are its affair. */
static atn_status walk_once(const atn_ctx *ctx) {
    atn_wisdom *wisdom;
    atn_wisdom_lock_file *lock = NULL;
    atn_wisdom_key key = wkit_key();
    atn_hit hit = {0};
    int64_t starts;
    atn_wisdom_filter all = {.kernel = "none of it"};
    atn_text text = {.ctx = ctx};
    atn_wisdom_winner winner = {.variant = "", .seconds = 1};
    atn_status status = atn_wisdom_open(ctx, NULL, false, &wisdom);
    if (status == ATN_OK) status = atn_wisdom_begin(wisdom, &key, "", &starts);
    if (status == ATN_OK) status = atn_wisdom_crown(wisdom, &key, &winner);
    if (status == ATN_OK) status = atn_wisdom_find(ctx, wisdom, &key, &hit);
    if (status == ATN_OK) status = atn_wisdom_lock(ctx, wisdom, "device", false, &lock);
    if (status == ATN_OK) status = atn_store_export(ctx, wisdom, &all, &text, NULL);
    if (status == ATN_OK) status = atn_store_import(wisdom, "text", atn_text_str(&text), text.length, NULL);
    all.kernel = NULL;
    if (status == ATN_OK) status = atn_store_forget(wisdom, &all, NULL);
    atn_text_free(&text);
    atn_wisdom_unlock(lock);
    atn_hit_free(&hit);
    atn_wisdom_close(wisdom);
    return status;
}

KIT_TEST(memory) {
    char *dir = kit_tempdir(), *before = kit_getenv("ATTUNE_WISDOM");
    unsetenv("ATTUNE_WISDOM");
    for (long n = 1;; ++n) {
        kit_faults faults = {.fail_at = n};
        atn_ctx_settings options = kit_fault_options(&faults);
        options.cache_dir = dir;
        atn_ctx *ctx;
        if (atn_ctx_create(&options, &ctx) != ATN_OK) continue;
        atn_status status = walk_once(ctx);
        if (status != ATN_OK) {
            assert_int_equal(status, ATN_ERR_MEMORY);
            kit_contains(atn_ctx_message(ctx), "memory");
        }
        atn_ctx_free(ctx);
        assert_int_equal(faults.live, 0);
        if (faults.count >= n) {
            assert_int_equal(status, ATN_ERR_MEMORY);
            continue;
        }
        assert_int_equal(status, ATN_OK);
        print_message("    %ld allocations\n", n - 1);
        break;
    }
    kit_setenv("ATTUNE_WISDOM", before);
    kit_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_database), cmocka_unit_test(not_ours),      cmocka_unit_test(damaged),
        cmocka_unit_test(locked),      cmocka_unit_test(not_permitted), cmocka_unit_test(unsafe_folder),
        cmocka_unit_test(full),        cmocka_unit_test(file_limit),    cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
