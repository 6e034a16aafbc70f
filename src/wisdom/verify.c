/* Verification: SQLite's own checks, then whether the stored data are meaningful. */
#include "wisdom/store.h"

#include "lower/variant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct verifier {
    const atn_ctx *ctx;
    atn_wisdom *wisdom;
    const atn_wisdom_entry *entry;
    void (*problem)(void *user, const char *line);
    void *user;
    atn_status status;
} verifier;

static void complain(const verifier *v, const char *format, ...) ATN_PRINTF(2, 3);
static void complain(const verifier *v, const char *format, ...) {
    char line[ATN_MESSAGE_BYTES];
    int length = 0;
    if (v->entry) length = snprintf(line, sizeof line, "%s on %s: ", v->entry->key.kernel, v->entry->key.device);
    if (length < 0 || length >= (int)sizeof line) length = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(line + length, sizeof line - (size_t)length, format, args);
    va_end(args);
    v->problem(v->user, line);
}

/* ---- the file ---- */

static void check_integrity(verifier *v) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(v->wisdom->db, "PRAGMA integrity_check(20)", -1, &statement, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *line = (const char *)sqlite3_column_text(statement, 0);
        if (line && strcmp(line, "ok") != 0) complain(v, "the file is damaged: %.*s", (int)strcspn(line, "\n"), line);
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) v->status = atn_store_fail(v->wisdom, code);
}

static void check_references(verifier *v) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(v->wisdom->db, "PRAGMA foreign_key_check", -1, &statement, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        complain(v, "row %lld of %s belongs to a row of %s that is not there",
                 (long long)sqlite3_column_int64(statement, 1), (const char *)sqlite3_column_text(statement, 0),
                 (const char *)sqlite3_column_text(statement, 2));
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) v->status = atn_store_fail(v->wisdom, code);
}

/* ---- what it says ---- */

/* Measurements other than those of kernels have knobs of their own: which seams of a program are fused, how frames are
 * unwrapped. Their users validate them. */
static bool is_own_kind(const char *text) {
    static const char *const FIRST[] = {"seams=", "smoother="};
    for (size_t k = 0; k < sizeof FIRST / sizeof *FIRST; ++k)
        if (strncmp(text, FIRST[k], strlen(FIRST[k])) == 0) return true;
    return false;
}

static void check_variant(const verifier *v, const char *what, const char *text) {
    atn_variant variant = atn_variant_plain();
    if (v->entry->stale || is_own_kind(text)) return; /* knobs may have gone since */
    if (atn_variant_parse(v->ctx, &variant, text) != ATN_OK)
        complain(v, "%s '%s': %.300s", what, text, atn_ctx_message(v->ctx));
}

static void check_times(const verifier *v, const char *what, double seconds, double low, double high) {
    if (!(seconds >= 0) || !isfinite(seconds) || !(low <= high))
        complain(v, "%s: %g s, from %g s to %g s, makes no sense", what, seconds, low, high);
}

static bool check_row(void *user, const atn_wisdom_row *row) {
    const verifier *v = user;
    check_variant(v, "a variant", row->variant);
    check_times(v, row->variant, row->seconds, row->low, row->high);
    if (!atn_outcome_known(row->outcome)) complain(v, "'%s' is not an outcome of a measurement", row->outcome);
    if (strcmp(row->outcome, "right") == 0 && !(row->error >= 0))
        complain(v, "%s: its error is not a number", row->variant);
    return true;
}

static bool check_entry(void *user, const atn_wisdom_entry *entry) {
    verifier *v = user;
    v->entry = entry;
    if (entry->has_winner) {
        check_variant(v, "the winner", entry->winner.variant);
        check_times(v, "the winner", entry->winner.seconds, entry->winner.low, entry->winner.high);
    }
    v->status = atn_wisdom_entry_rows(v->wisdom, entry->number, check_row, v);
    v->entry = NULL;
    return v->status == ATN_OK;
}

atn_status atn_wisdom_verify(atn_wisdom *wisdom, const atn_wisdom_now *now,
                             void (*problem)(void *user, const char *line), void *user) {
    verifier v = {.ctx = wisdom->ctx, .wisdom = wisdom, .problem = problem, .user = user};
    atn_wisdom_filter all = {.now = {.generator = now ? now->generator : NULL}};
    pthread_mutex_lock(&wisdom->lock);
    check_integrity(&v);
    if (v.status == ATN_OK) check_references(&v);
    if (v.status == ATN_OK) {
        atn_status status = atn_wisdom_entries(wisdom, &all, check_entry, &v);
        if (v.status == ATN_OK) v.status = status;
    }
    pthread_mutex_unlock(&wisdom->lock);
    return v.status;
}
