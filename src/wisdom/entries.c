/* Entries: every key with its winner, which entries match, which are stale, and how they are forgotten. */
#include "wisdom/store.h"

#include "base/memory.h"
#include "device/facts.h"

#include <string.h>

/* ---- which ---- */

static const char *why_stale(const atn_wisdom_now *now, const atn_wisdom_key *key) {
    if (now->generator && strcmp(now->generator, key->generator) != 0) return "another generator";
    for (size_t k = 0; k < now->n_devices; ++k) {
        const atn_wisdom_key *device = &now->devices[k];
        if (!atn_backend_is(device->backend, key->backend) || strcmp(device->arch, key->arch) != 0 ||
            strcmp(device->device, key->device) != 0)
            continue;
        if (strcmp(device->driver, key->driver) != 0) return "another driver";
        if (strcmp(device->compiler, key->compiler) != 0) return "another compiler";
    }
    return NULL;
}

bool atn_store_selects(const atn_wisdom_filter *filter, const atn_wisdom_entry *entry) {
    if (filter->kernel && strcmp(filter->kernel, entry->key.kernel) != 0) return false;
    if (filter->device && !atn_backend_is(filter->device, entry->key.backend) &&
        !strcasestr(entry->key.device, filter->device))
        return false;
    return !filter->stale || entry->stale;
}

/* ---- all of them ---- */

static void read_entry(sqlite3_stmt *statement, const atn_wisdom_filter *filter, atn_wisdom_entry *entry) {
    entry->number = sqlite3_column_int64(statement, 0);
    int at = atn_key_column(statement, 1, &entry->key);
    entry->measured = sqlite3_column_int64(statement, at++);
    entry->right = sqlite3_column_int64(statement, at++);
    entry->has_winner = sqlite3_column_int(statement, at++) != 0;
    atn_fields_column(statement, at, ATN_FIELDS_WINNER, &entry->winner);
    entry->stale = why_stale(&filter->now, &entry->key);
}

static atn_status visit_all(atn_wisdom *wisdom, const atn_wisdom_filter *filter,
                            bool (*visit)(void *user, const atn_wisdom_entry *entry), void *user) {
    sqlite3_stmt *statement;
    atn_status status = atn_store_prepare(wisdom, ATN_SQL_ENTRIES, &statement);
    bool there = true;
    while (status == ATN_OK) {
        status = atn_store_step(wisdom, statement, &there);
        if (status != ATN_OK || !there) return status; /* the statement is reset */
        atn_wisdom_entry entry;
        read_entry(statement, filter, &entry);
        status = atn_check_cancel(wisdom->ctx);
        if (status == ATN_OK && atn_store_selects(filter, &entry) && !visit(user, &entry)) break;
    }
    if (statement) atn_store_reset(statement);
    return status;
}

atn_status atn_wisdom_entries(atn_wisdom *wisdom, const atn_wisdom_filter *filter,
                              bool (*visit)(void *user, const atn_wisdom_entry *entry), void *user) {
    bool begun;
    pthread_mutex_lock(&wisdom->lock);
    atn_status status = atn_store_begin_reading(wisdom, &begun);
    if (status == ATN_OK) status = visit_all(wisdom, filter, visit, user);
    atn_store_end_reading(wisdom, begun);
    pthread_mutex_unlock(&wisdom->lock);
    return status;
}

atn_status atn_wisdom_entry_rows(atn_wisdom *wisdom, int64_t number,
                                 bool (*visit)(void *user, const atn_wisdom_row *row), void *user) {
    sqlite3_stmt *statement;
    pthread_mutex_lock(&wisdom->lock);
    atn_status status = atn_store_prepare(wisdom, ATN_SQL_ROWS_OF, &statement);
    if (status == ATN_OK) {
        sqlite3_bind_int64(statement, 1, number);
        status = atn_store_visit_rows(wisdom, statement, visit, user);
    }
    pthread_mutex_unlock(&wisdom->lock);
    return status;
}

/* ---- forgetting ---- */

/* Numbers are gathered first: what a statement reads is not to be changed under it. */
typedef struct gathered {
    const atn_ctx *ctx;
    int64_t *numbers;
    size_t count, capacity;
    atn_wisdom_counts counts;
    atn_status status;
} gathered;

static bool gather(void *user, const atn_wisdom_entry *entry) {
    gathered *all = user;
    all->status = atn_grow(all->ctx, (void **)&all->numbers, &all->capacity, all->count, sizeof *all->numbers);
    if (all->status != ATN_OK) return false;
    all->numbers[all->count++] = entry->number;
    ++all->counts.entries;
    all->counts.measurements += entry->measured;
    all->counts.winners += entry->has_winner;
    return true;
}

static atn_status remove_all(atn_wisdom *wisdom, const atn_wisdom_filter *filter, gathered *all) {
    static const atn_statement ORPHANS[] = {ATN_SQL_FORGET_KERNELS, ATN_SQL_FORGET_DEVICES};
    sqlite3_stmt *statement;
    atn_status status = visit_all(wisdom, filter, gather, all);
    if (status == ATN_OK) status = all->status;
    if (status == ATN_OK) status = atn_store_prepare(wisdom, ATN_SQL_FORGET, &statement);
    for (size_t k = 0; k < all->count && status == ATN_OK; ++k) {
        sqlite3_bind_int64(statement, 1, all->numbers[k]);
        status = atn_store_finish(wisdom, statement, NULL);
    }
    for (size_t k = 0; k < sizeof ORPHANS / sizeof *ORPHANS && status == ATN_OK; ++k) {
        status = atn_store_prepare(wisdom, ORPHANS[k], &statement);
        if (status == ATN_OK) status = atn_store_finish(wisdom, statement, NULL);
    }
    return status;
}

atn_status atn_store_forget(atn_wisdom *wisdom, const atn_wisdom_filter *filter, atn_wisdom_counts *counts) {
    gathered all = {.ctx = wisdom->ctx};
    pthread_mutex_lock(&wisdom->lock);
    atn_status status = atn_store_begin(wisdom);
    if (status == ATN_OK) status = atn_store_end(wisdom, remove_all(wisdom, filter, &all));
    pthread_mutex_unlock(&wisdom->lock);
    if (counts) *counts = status == ATN_OK ? all.counts : (atn_wisdom_counts){0};
    atn_free(wisdom->ctx, all.numbers);
    return status;
}
