/* What the tuner writes and reads back: starts, results, winners, each in its own transaction. */
#include "wisdom/store.h"

#include <math.h>

static atn_status run_with_key(atn_wisdom *wisdom, atn_statement which, const atn_wisdom_key *key, int64_t *value) {
    sqlite3_stmt *statement;
    atn_status status = atn_store_prepare_key(wisdom, which, key, &statement);
    return status == ATN_OK ? atn_store_finish(wisdom, statement, value) : status;
}

atn_status atn_store_key(atn_wisdom *wisdom, const atn_wisdom_key *key, bool make, int64_t *number) {
    *number = 0;
    atn_status status = run_with_key(wisdom, ATN_SQL_KEY, key, number);
    if (status != ATN_OK || *number || !make) return status;
    status = run_with_key(wisdom, ATN_SQL_ADD_KERNEL, key, NULL);
    if (status == ATN_OK) status = run_with_key(wisdom, ATN_SQL_ADD_DEVICE, key, NULL);
    if (status == ATN_OK) status = run_with_key(wisdom, ATN_SQL_ADD_KEY, key, number);
    return status;
}

atn_status atn_store_put(atn_wisdom *wisdom, atn_statement which, int64_t key, const atn_wisdom_field *fields,
                         const void *from) {
    sqlite3_stmt *statement;
    atn_status status = atn_store_prepare(wisdom, which, &statement);
    if (status != ATN_OK) return status;
    int code = sqlite3_bind_int64(statement, 1, key);
    if (code == SQLITE_OK) code = atn_fields_bind(statement, ATN_FIRST_OTHER, fields, from);
    if (code == SQLITE_OK) return atn_store_finish(wisdom, statement, NULL);
    atn_store_reset(statement);
    return atn_store_fail(wisdom, code);
}

/* ---- begin ---- */

static atn_status begin_row(atn_wisdom *wisdom, int64_t key, const char *variant, int64_t *starts) {
    char when[ATN_WHEN_BYTES], zero[ATN_HASH_TEXT];
    sqlite3_stmt *statement;
    atn_status status = atn_store_prepare(wisdom, ATN_SQL_BEGIN_ROW, &statement);
    if (status != ATN_OK) return status;
    atn_store_now(when);
    atn_hash_print((atn_hash){0}, zero);
    sqlite3_bind_int64(statement, 1, key);
    sqlite3_bind_text(statement, 2, variant, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, zero, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 4, when, -1, SQLITE_STATIC);
    return atn_store_finish(wisdom, statement, starts);
}

atn_status atn_wisdom_begin(atn_wisdom *wisdom, const atn_wisdom_key *key, const char *variant, int64_t *starts) {
    int64_t number;
    *starts = 0;
    atn_status status = atn_check_cancel(wisdom->ctx); /* nothing is begun any more; ends are still taken */
    if (status != ATN_OK) return status;
    pthread_mutex_lock(&wisdom->lock);
    status = atn_store_begin(wisdom);
    if (status == ATN_OK) {
        status = atn_store_key(wisdom, key, true, &number);
        if (status == ATN_OK) status = begin_row(wisdom, number, variant, starts);
        status = atn_store_end(wisdom, status);
    }
    pthread_mutex_unlock(&wisdom->lock);
    if (status != ATN_OK) *starts = 0;
    return status;
}

/* ---- tell and crown ---- */

static atn_status put(atn_wisdom *wisdom, const atn_wisdom_key *key, atn_statement which,
                      const atn_wisdom_field *fields, const void *from) {
    int64_t number;
    pthread_mutex_lock(&wisdom->lock);
    atn_status status = atn_store_begin(wisdom);
    if (status == ATN_OK) {
        status = atn_store_key(wisdom, key, true, &number);
        if (status == ATN_OK) status = atn_store_put(wisdom, which, number, fields, from);
        status = atn_store_end(wisdom, status);
    }
    pthread_mutex_unlock(&wisdom->lock);
    return status;
}

atn_status atn_wisdom_tell(atn_wisdom *wisdom, const atn_wisdom_key *key, const atn_wisdom_row *row) {
    if (!atn_outcome_known(row->outcome))
        return atn_fail(wisdom->ctx, ATN_ERR_INPUT, "wisdom: '%s' is not an outcome of a measurement",
                        row->outcome ? row->outcome : "");
    char when[ATN_WHEN_BYTES];
    atn_wisdom_row kept = *row;
    atn_store_now(when);
    kept.when = when;
    kept.starts = 0; /* of one that was never begun; starts are counted by atn_wisdom_begin only */
    return put(wisdom, key, ATN_SQL_TELL_ROW, ATN_FIELDS_ROW, &kept);
}

atn_status atn_wisdom_crown(atn_wisdom *wisdom, const atn_wisdom_key *key, const atn_wisdom_winner *winner) {
    if (!(winner->seconds > 0) || !isfinite(winner->seconds))
        return atn_fail(wisdom->ctx, ATN_ERR_INPUT, "wisdom: a winner must have been measured, but its time is %g s",
                        winner->seconds);
    char when[ATN_WHEN_BYTES];
    atn_wisdom_winner kept = *winner;
    atn_store_now(when);
    kept.when = when;
    return put(wisdom, key, ATN_SQL_CROWN, ATN_FIELDS_WINNER, &kept);
}

/* ---- rows ---- */

atn_status atn_store_visit_rows(atn_wisdom *wisdom, sqlite3_stmt *statement,
                                bool (*visit)(void *user, const atn_wisdom_row *row), void *user) {
    for (bool there = true;;) {
        atn_status status = atn_store_step(wisdom, statement, &there);
        if (status != ATN_OK || !there) return status;
        atn_wisdom_row row;
        atn_fields_column(statement, 0, ATN_FIELDS_ROW, &row);
        if (visit(user, &row)) continue;
        atn_store_reset(statement);
        return ATN_OK;
    }
}

atn_status atn_wisdom_rows(atn_wisdom *wisdom, const atn_wisdom_key *key,
                           bool (*visit)(void *user, const atn_wisdom_row *row), void *user) {
    pthread_mutex_lock(&wisdom->lock);
    sqlite3_stmt *statement;
    atn_status status = atn_store_prepare_key(wisdom, ATN_SQL_ROWS, key, &statement);
    if (status == ATN_OK) status = atn_store_visit_rows(wisdom, statement, visit, user);
    pthread_mutex_unlock(&wisdom->lock);
    return status;
}
