/* Internals of a tuning session: what is tuned, its workers, and everything known about each candidate so far. */
#ifndef ATN_TUNE_SESSION_H
#define ATN_TUNE_SESSION_H

#include "tune/case.h"
#include "tune/field.h"
#include "tune/key.h"
#include "tune/spread.h"
#include "tune/worker_pool.h"

/* What is known of one variant under the session's key. */
typedef struct atn_entry {
    char *text; /* as variants are printed; owned */
    atn_variant variant;
    int32_t *point; /* in the space, owned; NULL: it is not in the space */
    atn_hash code;  /* zero: not known */
    atn_score score;
    int64_t samples, starts;
    bool listed;   /* may win: with options.only those named there, with options.space its points, else all */
    bool told;     /* a result is known: it is not tried again */
    bool taken;    /* it waits in a batch, or was measured */
    bool recalled; /* from an earlier session */
} atn_entry;

typedef struct atn_session {
    const atn_ctx *ctx;
    atn_device *device;
    const atn_device_info *info;
    atn_wisdom *wisdom;
    const atn_workload *workload;
    atn_tune_options options;
    double tolerance; /* as the key's class has it */
    atn_case c;
    atn_tune_key key;
    atn_space *space;
    atn_field field;
    const atn_strategy *strategy;
    void *search; /* the strategy's own */
    atn_worker_pool *pool;
    atn_trial_setup setup; /* of the pool */
    atn_wisdom_lock_file *lock;

    atn_entry *entries; /* in the order in which they were met */
    size_t n_entries, room;
    size_t queued;           /* entries before this one were looked at; the others wait, before the strategy is asked */
    int64_t best, estimate;  /* entries; -1: none */
    int64_t evaluations;     /* of this session */
    int64_t pending;         /* candidates that are being built or wait to be measured */
    struct atn_batch *ahead; /* the next candidates, being built already; NULL: none */
    double began_s, search_until_s, until_s; /* moments of the clock; until_s INFINITY: no limit */
    double sentinels[64];
    int32_t n_sentinels;
    double next_sentinel_s;
    bool stopped;         /* by Ctrl-C, or by who watches the progress */
    atn_tune_step *steps; /* owned; what was tried, in order */
    size_t n_steps, steps_room;
    double chain; /* time of the best relative to the estimate, measured alternately; 0: not known yet */
} atn_session;

/* ---- what is known (known.c) ---- */
/* The entry of a variant, made where there is none; -1 without memory. */
int64_t atn_known_enter(atn_session *s, const atn_variant *variant, const int32_t *point);
/* Is it a point of the caller's space? The shipped spaces are ours, and what is tried first may lie outside of them. */
bool atn_known_allows(const atn_session *s, const atn_variant *variant);
/* Reads the rows of the key, reports them to the strategy, and resumes what was begun and never ended. */
atn_status atn_known_recall(atn_session *s);
void atn_known_settle(atn_session *s); /* the best of what is recalled, once the eligible variants are known */
/* What became of an entry: to the database, to the strategy, and to the best so far. */
atn_status atn_known_tell(atn_session *s, int64_t entry, const atn_trial *trial);
/* An entry with the same code that something is known of, or -1. Fills in the entry's own code. */
int64_t atn_known_twin(atn_session *s, int64_t entry);
void atn_known_free(atn_session *s);

bool atn_known_can_win(const atn_entry *entry); /* right, usable, listed, and timed in earnest */

/* ---- the search (tune.c), and its end (decide.c) ---- */
bool atn_session_goes_on(atn_session *s, const char *phase); /* reports progress; false: stop */
atn_status atn_session_decide(atn_session *s, atn_tune_result *out);

#endif
