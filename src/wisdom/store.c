/* The connection: opened only after a look at the file, made in one transaction, closed without a trace where it was
 * refused. SQLite's codes become sentences here. */
#include "wisdom/store.h"

#include "base/clock.h"
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if SQLITE_VERSION_NUMBER < 3035000
#error "wisdom needs SQLite 3.35, for RETURNING"
#endif

double atn_wisdom_patience_s = 10;
static const double GRACE_S = 1; /* once cancelled: what was measured is still kept, if the lock is free soon */

/* ---- failures ---- */

static const struct {
    int code; /* SQLite's, extended or primary; extended ones first */
    atn_status status;
    const char *sentence; /* behind "the wisdom database PATH " */
    bool detail;          /* the system's or SQLite's own words follow */
} FAILURES[] = {
    /* SQLite knows ENOSPC only; a quota or a limit on files looks like this, and its errno is gone by then */
    {SQLITE_IOERR_WRITE, ATN_ERR_IO, "cannot be written: the disk is full or broken", false},
    {SQLITE_IOERR_SHMSIZE, ATN_ERR_IO, "cannot be written: the disk is full or broken", false},
    {SQLITE_BUSY, ATN_ERR_TIMEOUT, "is locked by another process; try again when that one is done", false},
    {SQLITE_LOCKED, ATN_ERR_TIMEOUT, "is locked by another process; try again when that one is done", false},
    {SQLITE_CORRUPT, ATN_ERR_INPUT, "is damaged; move it away or set ATTUNE_WISDOM to another file", false},
    {SQLITE_NOTADB, ATN_ERR_INPUT, "is damaged; move it away or set ATTUNE_WISDOM to another file", false},
    {SQLITE_FULL, ATN_ERR_IO, "cannot grow: the disk is full", false},
    {SQLITE_READONLY, ATN_ERR_IO, "may not be written to", false},
    {SQLITE_PERM, ATN_ERR_IO, "may not be opened", true},
    {SQLITE_AUTH, ATN_ERR_IO, "may not be opened", true},
    {SQLITE_CANTOPEN, ATN_ERR_IO, "cannot be opened", true},
    {SQLITE_IOERR, ATN_ERR_IO, "cannot be read or written", true},
    {SQLITE_PROTOCOL, ATN_ERR_IO, "cannot be locked", true},
    {SQLITE_NOLFS, ATN_ERR_IO, "is too large for this file system", false},
};

atn_status atn_store_fail(const atn_wisdom *wisdom, int code) {
    const atn_ctx *ctx = wisdom->ctx;
    int primary = code & 0xff, error = wisdom->db ? sqlite3_system_errno(wisdom->db) : 0;
    if (primary == SQLITE_NOMEM) return atn_fail(ctx, ATN_ERR_MEMORY, "out of memory in the wisdom database");
    if (primary == SQLITE_BUSY && atn_check_cancel(ctx) != ATN_OK) return ATN_ERR_CANCELLED;
    for (size_t k = 0; k < sizeof FAILURES / sizeof *FAILURES; ++k) {
        if (FAILURES[k].code != code && FAILURES[k].code != primary) continue;
        const char *words = error ? strerror(error) : sqlite3_errstr(code);
        return atn_fail(ctx, FAILURES[k].status, "the wisdom database %s %s%s%s", wisdom->path, FAILURES[k].sentence,
                        FAILURES[k].detail ? ": " : "", FAILURES[k].detail ? words : "");
    }
    return atn_fail(ctx, ATN_ERR_INTERNAL, "the wisdom database %s: %s (SQLite's code %d)", wisdom->path,
                    wisdom->db ? sqlite3_errmsg(wisdom->db) : sqlite3_errstr(code), code);
}

/* Called by SQLite when a lock is taken; 0 gives up. */
static int wait_for_lock(void *user, int turn) {
    atn_wisdom *wisdom = user;
    double now = atn_clock_seconds();
    if (turn == 0) wisdom->waiting_since = now;
    double waited = now - wisdom->waiting_since;
    bool cancelled = atn_check_cancel(wisdom->ctx) != ATN_OK;
    if (waited >= (cancelled ? fmin(GRACE_S, atn_wisdom_patience_s) : atn_wisdom_patience_s)) return 0;
    usleep(turn < 4 ? 500u << turn : 10000u + (unsigned)(getpid() % 7) * 1000u); /* processes out of step */
    return 1;
}

/* ---- statements ---- */

atn_status atn_store_prepare(atn_wisdom *wisdom, atn_statement which, sqlite3_stmt **out) {
    sqlite3_stmt **kept = &wisdom->kept[which];
    int code = SQLITE_OK;
    if (!*kept) code = sqlite3_prepare_v3(wisdom->db, ATN_SQL[which], -1, SQLITE_PREPARE_PERSISTENT, kept, NULL);
    *out = *kept;
    return code == SQLITE_OK ? ATN_OK : atn_store_fail(wisdom, code);
}

atn_status atn_store_prepare_key(atn_wisdom *wisdom, atn_statement which, const atn_wisdom_key *key,
                                 sqlite3_stmt **out) {
    assert(key->n_shape >= 0 && key->n_shape <= ATN_WISDOM_DIMS);
    atn_status status = atn_store_prepare(wisdom, which, out);
    int code = status == ATN_OK ? atn_key_bind(*out, key) : SQLITE_OK;
    if (code == SQLITE_OK) return status;
    atn_store_reset(*out);
    *out = NULL;
    return atn_store_fail(wisdom, code);
}

void atn_store_reset(sqlite3_stmt *statement) {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

atn_status atn_store_step(atn_wisdom *wisdom, sqlite3_stmt *statement, bool *row) {
    int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    if (*row) return ATN_OK;
    atn_status status = code == SQLITE_DONE ? ATN_OK : atn_store_fail(wisdom, code);
    atn_store_reset(statement);
    return status;
}

atn_status atn_store_finish(atn_wisdom *wisdom, sqlite3_stmt *statement, int64_t *value) {
    bool row;
    atn_status status = atn_store_step(wisdom, statement, &row);
    if (status != ATN_OK || !row) return status;
    if (value) *value = sqlite3_column_int64(statement, 0);
    status = atn_store_step(wisdom, statement, &row); /* RETURNING has done its work only after the last step */
    atn_store_reset(statement);
    return status;
}

static atn_status execute(atn_wisdom *wisdom, const char *sql) {
    int code = sqlite3_exec(wisdom->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? ATN_OK : atn_store_fail(wisdom, code);
}

atn_status atn_store_begin(atn_wisdom *wisdom) {
    if (wisdom->read_only) return atn_store_fail(wisdom, SQLITE_READONLY);
    return execute(wisdom, "BEGIN IMMEDIATE");
}

static atomic_ullong changes;

uint64_t atn_wisdom_changes(void) { return atomic_load(&changes); }

atn_status atn_store_end(atn_wisdom *wisdom, atn_status status) {
    if (status == ATN_OK) status = execute(wisdom, "COMMIT");
    if (status == ATN_OK) atomic_fetch_add(&changes, 1);
    if (!sqlite3_get_autocommit(wisdom->db)) sqlite3_exec(wisdom->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

atn_status atn_store_begin_reading(atn_wisdom *wisdom, bool *begun) {
    *begun = sqlite3_get_autocommit(wisdom->db) != 0;
    atn_status status = *begun ? execute(wisdom, "BEGIN") : ATN_OK;
    *begun = *begun && status == ATN_OK;
    return status;
}

void atn_store_end_reading(atn_wisdom *wisdom, bool begun) {
    if (begun && !sqlite3_get_autocommit(wisdom->db)) sqlite3_exec(wisdom->db, "ROLLBACK", NULL, NULL, NULL);
}

void atn_store_now(char when[ATN_WHEN_BYTES]) {
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t length = strftime(when, ATN_WHEN_BYTES, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(when + length, ATN_WHEN_BYTES - length, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

/* ---- opening ---- */

/* nearness(a, b, ...): the sum of squared log2 of the ratios of pairs of sizes; sizes below 1 count as 1. */
static void nearness(sqlite3_context *call, int count, sqlite3_value **values) {
    double sum = 0;
    for (int k = 0; k + 1 < count; k += 2) {
        double a = fmax(1, sqlite3_value_double(values[k])), b = fmax(1, sqlite3_value_double(values[k + 1]));
        double ratio = log2(a) - log2(b);
        sum += ratio * ratio;
    }
    sqlite3_result_double(call, sum);
}

static atn_status set_up(atn_wisdom *wisdom) {
    sqlite3_extended_result_codes(wisdom->db, 1);
    sqlite3_busy_handler(wisdom->db, wait_for_lock, wisdom);
    /* until it is known to be ours, closing it must not write what lies in its log into it */
    sqlite3_db_config(wisdom->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(wisdom->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(wisdom->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    int code = sqlite3_create_function(wisdom->db, "nearness", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, nearness,
                                       NULL, NULL);
    if (code != SQLITE_OK) return atn_store_fail(wisdom, code);
    return execute(wisdom, wisdom->read_only ? "PRAGMA foreign_keys=ON; PRAGMA cell_size_check=ON; PRAGMA query_only=ON"
                                             : "PRAGMA foreign_keys=ON; PRAGMA cell_size_check=ON; "
                                               "PRAGMA synchronous=FULL");
}

/* The numbers of the header and how many tables there are, read at one moment. */
static atn_status read_identity(atn_wisdom *wisdom, int64_t identity[3]) {
    static const char sql[] = "SELECT (SELECT application_id FROM pragma_application_id), "
                              "(SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(wisdom->db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    for (int k = 0; k < 3 && code == SQLITE_ROW; ++k) identity[k] = sqlite3_column_int64(statement, k);
    atn_status status = code == SQLITE_ROW ? ATN_OK : atn_store_fail(wisdom, code);
    sqlite3_finalize(statement);
    return status;
}

static atn_status identify(atn_wisdom *wisdom, bool *fresh) {
    int64_t identity[3] = {0};
    atn_status status = read_identity(wisdom, identity);
    *fresh = status == ATN_OK && identity[0] == 0 && identity[2] == 0;
    if (status != ATN_OK || *fresh) return status;
    if (identity[0] != ATN_WISDOM_APPLICATION)
        return atn_fail(wisdom->ctx, ATN_ERR_INPUT,
                        "%s is a database of another program; set ATTUNE_WISDOM to another file", wisdom->path);
    if (identity[1] > ATN_WISDOM_SCHEMA)
        return atn_fail(wisdom->ctx, ATN_ERR_INPUT,
                        "the wisdom database %s is of a newer attune (version %lld, this one knows %d); update attune "
                        "or set ATTUNE_WISDOM to another file",
                        wisdom->path, (long long)identity[1], ATN_WISDOM_SCHEMA);
    return identity[1] == ATN_WISDOM_SCHEMA ? ATN_OK : atn_store_fail(wisdom, SQLITE_CORRUPT);
}

/* Makes the tables, unless another process was faster. */
static atn_status make_tables(atn_wisdom *wisdom) {
    bool fresh;
    atn_status status = atn_store_begin(wisdom);
    if (status != ATN_OK) return status;
    status = identify(wisdom, &fresh);
    if (status == ATN_OK && fresh) status = execute(wisdom, ATN_SQL_SCHEMA);
    return atn_store_end(wisdom, status);
}

/* Readers and a writer at once. Where the file system cannot do it (no shared memory), plain locks do. The switch
 * needs the file for itself for a moment, and SQLite does not wait for that. */
static atn_status use_log(atn_wisdom *wisdom) {
    for (int turn = 0;; ++turn) {
        int code = sqlite3_exec(wisdom->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
        if ((code & 0xff) != SQLITE_BUSY) return code == SQLITE_OK ? ATN_OK : atn_store_fail(wisdom, code);
        if (!wait_for_lock(wisdom, turn)) return atn_store_fail(wisdom, code);
    }
}

static atn_status connect_to(atn_wisdom *wisdom, const char *name, int flags) {
    int code = sqlite3_open_v2(name, &wisdom->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
    if (code != SQLITE_OK) return atn_store_fail(wisdom, code);
    return set_up(wisdom);
}

/* If nothing may be written, SQLite cannot lock either. Then no one else with our permissions writes, and unless a log
 * is left behind, the file is complete. */
static atn_status connect_read_only(atn_wisdom *wisdom) {
    if (atn_wisdom_writable(wisdom->path)) return connect_to(wisdom, wisdom->path, SQLITE_OPEN_READWRITE);
    if (atn_wisdom_has_log(wisdom->ctx, wisdom->path)) return connect_to(wisdom, wisdom->path, SQLITE_OPEN_READONLY);
    char *name = atn_wisdom_immutable_name(wisdom->ctx, wisdom->path);
    if (!name) return ATN_ERR_MEMORY;
    atn_status status = connect_to(wisdom, name, SQLITE_OPEN_READONLY);
    atn_free(wisdom->ctx, name);
    return status;
}

static atn_status create(const atn_ctx *ctx, char *path, bool read_only, atn_wisdom **out) {
    atn_wisdom *wisdom = atn_zalloc(ctx, sizeof *wisdom);
    if (!wisdom) {
        atn_free(ctx, path);
        return ATN_ERR_MEMORY;
    }
    *wisdom = (atn_wisdom){.ctx = ctx, .path = path, .read_only = read_only};
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&wisdom->lock, &kind);
    pthread_mutexattr_destroy(&kind);
    *out = wisdom;
    return ATN_OK;
}

/* `fresh`: a read-only database with nothing in it yet. */
static atn_status open_file(atn_wisdom *wisdom, bool *fresh) {
    atn_wisdom_file file;
    *fresh = false;
    atn_status status = atn_wisdom_look(wisdom->ctx, wisdom->path, &file);
    if (status != ATN_OK) return status;
    if (wisdom->read_only && file != ATN_WISDOM_THERE) {
        *fresh = true;
        return ATN_OK;
    }
    if (!wisdom->read_only && file == ATN_WISDOM_THERE && !atn_wisdom_writable(wisdom->path))
        return atn_store_fail(wisdom, SQLITE_READONLY); /* said now, not in the middle of a tuning */
    status = wisdom->read_only ? connect_read_only(wisdom)
                               : connect_to(wisdom, wisdom->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (status == ATN_OK) status = identify(wisdom, fresh);
    if (status != ATN_OK || wisdom->read_only) return status;
    if (*fresh) status = make_tables(wisdom);
    if (status == ATN_OK) status = use_log(wisdom);
    return status;
}

static void accept(const atn_wisdom *wisdom) {
    sqlite3_db_config(wisdom->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, wisdom->read_only, NULL);
}

atn_status atn_wisdom_open(const atn_ctx *ctx, const char *path, bool read_only, atn_wisdom **out) {
    *out = NULL;
    char *place;
    bool fresh;
    atn_wisdom *wisdom;
    atn_status status = atn_check_cancel(ctx);
    if (status == ATN_OK) status = atn_wisdom_place(ctx, path, read_only, &place);
    if (status == ATN_OK) status = create(ctx, place, read_only, &wisdom);
    if (status != ATN_OK) return status;
    status = open_file(wisdom, &fresh);
    if (status != ATN_OK || (read_only && fresh)) {
        atn_wisdom_close(wisdom);
        return status;
    }
    accept(wisdom);
    *out = wisdom;
    return ATN_OK;
}

atn_status atn_wisdom_open_memory(const atn_ctx *ctx, const char *name, atn_wisdom **out) {
    *out = NULL;
    atn_wisdom *wisdom;
    char *path = atn_strdup(ctx, name);
    atn_status status = path ? create(ctx, path, false, &wisdom) : ATN_ERR_MEMORY;
    if (status != ATN_OK) return status;
    wisdom->in_memory = true;
    status = connect_to(wisdom, ":memory:", SQLITE_OPEN_READWRITE);
    if (status == ATN_OK) status = make_tables(wisdom);
    if (status == ATN_OK)
        *out = wisdom;
    else
        atn_wisdom_close(wisdom);
    return status;
}

void atn_wisdom_close(atn_wisdom *wisdom) {
    if (!wisdom) return;
    for (size_t k = 0; k < ATN_SQL_COUNT; ++k) sqlite3_finalize(wisdom->kept[k]);
    sqlite3_close(wisdom->db);
    pthread_mutex_destroy(&wisdom->lock);
    atn_free(wisdom->ctx, wisdom->path);
    atn_free(wisdom->ctx, wisdom);
}
