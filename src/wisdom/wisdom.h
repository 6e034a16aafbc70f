/* Wisdom: all that was ever measured, by kernel, device and shape, in one SQLite database that several processes may
 * use at once and that a kill cannot spoil. Where: $ATTUNE_WISDOM, else wisdom.sqlite in the context's cache folder. */
#ifndef ATN_WISDOM_WISDOM_H
#define ATN_WISDOM_WISDOM_H

#include "base/hash.h"
#include "base/text.h"

#include <attune/wisdom.h>

#include <stdbool.h>

enum { ATN_WISDOM_DIMS = 6 };

/* What a measurement belongs to. Texts may be NULL for "". Equal keys are one. */
typedef struct atn_wisdom_key {
    const char *kernel;    /* its name, for people; not part of the key */
    atn_hash graph;        /* the canonical graph after defines, names excluded */
    const char *generator; /* version of the generator: changing it retires what it made */
    atn_hash space;
    const char *backend, *arch, *device, *driver, *compiler;
    const char *threads; /* number and places of threads on a host; "" elsewhere */
    int32_t n_shape;     /* sizes that count: points, ranges, mean length of ranges from data */
    int64_t shape[ATN_WISDOM_DIMS];
    const char *layout; /* pitch and alignment class */
    bool reproducible;
    const char *tolerance; /* class: "derived", "1e-3", … */
} atn_wisdom_key;

/* One candidate's row. */
typedef struct atn_wisdom_row {
    const char *variant;       /* "k=v,k=v" */
    const char *outcome;       /* "right", "wrong", "build", "crash", "hang", "memory", "started" */
    const char *detail;        /* a sentence for failures, or "" */
    double seconds, low, high; /* 0 where not measured */
    double error;
    int64_t samples;
    bool dropped;
    int64_t starts;   /* times it was begun */
    atn_hash code;    /* of the built binary; zero: not known */
    const char *when; /* ISO 8601, UTC; filled by the store */
} atn_wisdom_row;

typedef struct atn_wisdom_winner {
    const char *variant, *runner_up; /* "" : none */
    double seconds, low, high;
    double runner_up_ratio;  /* its time over the winner's */
    bool tie;                /* the interval of the ratio holds 1 */
    double fallback_seconds; /* of the estimate, measured in the same session; 0: not */
    double fraction_of_peak; /* 0: not known */
    int64_t tried;
    const char *when;
} atn_wisdom_winner;

typedef enum atn_hit_kind {
    ATN_HIT_NONE,
    ATN_HIT_SHIPPED,
    ATN_HIT_NEAR_DEVICE,
    ATN_HIT_NEAR_SHAPE,
    ATN_HIT_EXACT
} atn_hit_kind;
const char *atn_hit_name(atn_hit_kind kind); /* "none", "shipped", "near device", "near shape", "exact" */

/* What was found. All texts are owned by it: atn_hit_free. */
typedef struct atn_hit {
    const atn_ctx *ctx;
    atn_hit_kind kind;
    bool stale;      /* near device: of this very device, but with another driver or compiler */
    double distance; /* root of the sum of squared log2 ratios per dimension of the shape; 0 for an exact one */
    char *variant;
    char *device; /* where it was measured */
    char *when;
    int32_t n_shape;
    int64_t shape[ATN_WISDOM_DIMS];
    double seconds, low, high, fraction_of_peak;
} atn_hit;
void atn_hit_free(atn_hit *hit);

typedef struct atn_wisdom atn_wisdom;

/* Opens, and makes it where it is not there. `path` NULL: the usual place. A database that is locked (ATN_ERR_TIMEOUT),
 * damaged, newer than this program or another program's (ATN_ERR_INPUT), on a full disk or not permitted (ATN_ERR_IO)
 * is refused with a sentence that says what to do; nothing of it is touched. All other calls may fail alike, and leave
 * what was there. read_only: ATN_OK and *out NULL where there is none yet. Threads may share one; a process that fork
 * made must open its own. */
atn_status atn_wisdom_open(const atn_ctx *ctx, const char *path, bool read_only, atn_wisdom **out);
void atn_wisdom_close(atn_wisdom *wisdom); /* NULL is fine */

/* An empty one in memory, for tests and for what is shipped. `name` is for messages. */
atn_status atn_wisdom_open_memory(const atn_ctx *ctx, const char *name, atn_wisdom **out);

/* The best there is for the key: exact; else the nearest shape on this very device; else of a device with the same
 * backend and architecture; else what attune ships. `wisdom` may be NULL: shipped wisdom only. Never ATN_ERR for
 * "none". */
atn_status atn_wisdom_find(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_key *key, atn_hit *out);

/* How often this process has changed what is known, in any database: what was found holds until it grows. */
uint64_t atn_wisdom_changes(void);

/* ---- for the tuner ---- */
/* On disk before it returns: the candidate is about to run. *starts: how often it was begun, including this time. Its
 * outcome is "started" until a result is reported; numbers of earlier runs stay. Refused once the context is cancelled;
 * tell and crown are not, so that measurements are kept. */
atn_status atn_wisdom_begin(atn_wisdom *wisdom, const atn_wisdom_key *key, const char *variant, int64_t *starts);
/* How it ended; replaces what is known about this key and variant, except `starts`. Times that are not finite are
 * stored as 0, an error that is not a number as infinite. `when` is now, whatever the row says. */
atn_status atn_wisdom_tell(atn_wisdom *wisdom, const atn_wisdom_key *key, const atn_wisdom_row *row);
/* All rows of exactly this key, in the order in which they were first begun. The row's texts live during the call,
 * which may not ask for rows itself; false ends it. */
atn_status atn_wisdom_rows(atn_wisdom *wisdom, const atn_wisdom_key *key,
                           bool (*visit)(void *user, const atn_wisdom_row *row), void *user);
/* Sets the winner of the key; its time must be above 0. */
atn_status atn_wisdom_crown(atn_wisdom *wisdom, const atn_wisdom_key *key, const atn_wisdom_winner *winner);

/* Marks the rows that no other right one beats in both seconds and error, and returns how many. */
size_t atn_wisdom_pareto(const atn_wisdom_row *rows, size_t count, bool *front);

/* One tuner at a time on each device, across processes: a lock on a file next to the database, released with the
 * process that holds it. `device` is any text that identifies it. If it is taken: with `wait` the call waits until the
 * context is cancelled; otherwise ATN_ERR_DEVICE with a message that names the process. */
typedef struct atn_wisdom_lock_file atn_wisdom_lock_file;
atn_status atn_wisdom_lock(const atn_ctx *ctx, const atn_wisdom *wisdom, const char *device, bool wait,
                           atn_wisdom_lock_file **out);
void atn_wisdom_unlock(atn_wisdom_lock_file *lock); /* NULL is fine */

/* ---- for people ---- */
/* What is so now, to tell what is stale: made by another generator, or on a device of this list with another driver or
 * compiler. Of `devices` only backend, arch, device, driver and compiler count. */
typedef struct atn_wisdom_now {
    const char *generator; /* NULL: any is current */
    const atn_wisdom_key *devices;
    size_t n_devices;
} atn_wisdom_now;

/* Which entries; zero means all. */
typedef struct atn_wisdom_filter {
    const char *kernel; /* its name */
    const char *device; /* a backend, or part of a name in any case */
    bool stale;         /* stale ones only */
    bool winners;       /* export: winners without all that they were measured against */
    atn_wisdom_now now;
} atn_wisdom_filter;

/* A key with what is known of it. */
typedef struct atn_wisdom_entry {
    int64_t number; /* in this database */
    atn_wisdom_key key;
    int64_t measured, right; /* rows, and those of them that are right */
    bool has_winner;
    atn_wisdom_winner winner;
    const char *stale; /* why it is, e.g. "another driver"; NULL: it is not */
} atn_wisdom_entry;

/* By kernel, device and shape, all as of one moment. Texts live during the call of `visit`; false ends it. */
atn_status atn_wisdom_entries(atn_wisdom *wisdom, const atn_wisdom_filter *filter,
                              bool (*visit)(void *user, const atn_wisdom_entry *entry), void *user);
/* The rows of an entry, as atn_wisdom_rows has them. May be called by what visits entries. */
atn_status atn_wisdom_entry_rows(atn_wisdom *wisdom, int64_t number,
                                 bool (*visit)(void *user, const atn_wisdom_row *row), void *user);

/* Removes the entries with all that was measured. `counts` may be NULL. */
atn_status atn_store_forget(atn_wisdom *wisdom, const atn_wisdom_filter *filter, atn_wisdom_counts *counts);

/* JSON, docs/wisdom.md. `wisdom` may be NULL: no entries. */
atn_status atn_store_export(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_filter *filter, atn_text *out,
                            atn_wisdom_counts *counts);
/* All of it or nothing. What is here stays where it is faster (winners) or newer (measurements). `name` is for
 * messages; `counts` may be NULL. */
atn_status atn_store_import(atn_wisdom *wisdom, const char *name, const char *text, size_t length,
                            atn_wisdom_counts *counts);
/* Several texts in one transaction. */
typedef struct atn_wisdom_source {
    const char *name, *text;
    size_t length;
} atn_wisdom_source;
atn_status atn_store_import_all(atn_wisdom *wisdom, const atn_wisdom_source *sources, size_t count,
                                atn_wisdom_counts *counts);

/* Looks for damage and for invalid rows, and reports each as one line. Rows of other generators than `now` says may
 * contain variants that are no longer known. */
atn_status atn_wisdom_verify(atn_wisdom *wisdom, const atn_wisdom_now *now,
                             void (*problem)(void *user, const char *line), void *user);

#endif
