/* Wisdom: all that was ever measured, by kernel, device and shape, in one SQLite database that several processes may
 * use at once and that a kill cannot spoil. Where: $ATTUNE_WISDOM, else wisdom.sqlite in the context's cache folder. */
#ifndef ATN_WISDOM_WISDOM_H
#define ATN_WISDOM_WISDOM_H

#include "base/hash.h"
#include "base/text.h"

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

/* Opens, and makes it where it is not there. `path` NULL: the usual place. A database that is locked, corrupt, newer
 * than this program, or on a full disk is refused with a sentence that says what to do; nothing of it is touched.
 * read_only: ATN_OK and *out NULL where there is none yet. */
atn_status atn_wisdom_open(const atn_ctx *ctx, const char *path, bool read_only, atn_wisdom **out);
void atn_wisdom_close(atn_wisdom *wisdom); /* NULL is fine */

/* The best there is for the key: exact; else the nearest shape on this very device; else of a device with the same
 * backend and architecture; else what attune ships. `wisdom` may be NULL: shipped wisdom only. Never ATN_ERR for
 * "none". */
atn_status atn_wisdom_find(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_key *key, atn_hit *out);

/* ---- for the tuner ---- */
/* On disk before it returns: the candidate is about to run. *starts: how often it was begun, this one included. */
atn_status atn_wisdom_begin(atn_wisdom *wisdom, const atn_wisdom_key *key, const char *variant, int64_t *starts);
/* How it ended; replaces what is known of this key and variant. */
atn_status atn_wisdom_tell(atn_wisdom *wisdom, const atn_wisdom_key *key, const atn_wisdom_row *row);
/* All rows of exactly this key, oldest first. The row's texts live during the call. */
atn_status atn_wisdom_rows(atn_wisdom *wisdom, const atn_wisdom_key *key,
                           bool (*visit)(void *user, const atn_wisdom_row *row), void *user);
atn_status atn_wisdom_crown(atn_wisdom *wisdom, const atn_wisdom_key *key, const atn_wisdom_winner *winner);

#endif
