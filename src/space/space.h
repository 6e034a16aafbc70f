/* A search space, written in LANAI (docs/spaces.md): parameters with their values, and constraints that rule points
 * out. A point is one level (the index of a value in the parameter's domain) per parameter. Spaces are immutable once
 * parsed; all questions may be asked from several threads. */
#ifndef ATN_SPACE_SPACE_H
#define ATN_SPACE_SPACE_H

#include "base/hash.h"
#include "base/text.h"

typedef enum atn_setting_kind {
    ATN_SETTING_WHOLE,
    ATN_SETTING_REAL,
    ATN_SETTING_BOOL,
    ATN_SETTING_TEXT
} atn_setting_kind;

/* A value of a parameter. `number` holds wholes, reals and booleans alike as far as a double can. */
typedef struct atn_setting {
    atn_setting_kind kind;
    int64_t whole;
    double number;
    const char *text; /* lives as long as the space */
} atn_setting;

/* What an `import` brings: device.max_threads, kernel.points. */
typedef struct atn_given {
    const char *module, *name;
    atn_setting value;
} atn_given;

typedef struct atn_space atn_space;

/* `name` is for messages, FILE:LINE:COLUMN: …. A name of an imported module that is not given is an error. *out is
 * owned by the caller. */
atn_status atn_space_parse(const atn_ctx *ctx, const char *name, const char *text, size_t length,
                           const atn_given *given, size_t n_given, atn_space **out);
/* A space in another tuner's words: T1 JSON. */
atn_status atn_space_parse_t1(const atn_ctx *ctx, const char *name, const char *text, size_t length, atn_space **out);
void atn_space_free(atn_space *space); /* NULL is fine */

/* How points are enumerated. The results are the same; this is for tests and measurements. Set it before asking. */
typedef enum atn_space_engine {
    ATN_SPACE_AUTO,        /* interpreted first; what takes long is built as native code */
    ATN_SPACE_INTERPRETED, /* never native */
    ATN_SPACE_NATIVE       /* native at once wherever that is possible */
} atn_space_engine;
void atn_space_use(atn_space *space, atn_space_engine engine);
int32_t
atn_space_count_native(const atn_space *space); /* groups of parameters that were counted in native code so far */

/* Of its meaning as far as possible: values, rules, what was given. Layout and comments do not count. */
atn_hash atn_space_hash(const atn_space *space);

/* ---- parameters, in the order in which they are written ---- */
int32_t atn_space_count_parameters(const atn_space *space);
const char *atn_space_parameter(const atn_space *space, int32_t parameter);
/* All values that the parameter can take anywhere in the space, in order. */
int32_t atn_space_levels(const atn_space *space, int32_t parameter);
const atn_setting *atn_space_setting(const atn_space *space, int32_t parameter, int32_t level);
void atn_setting_print(const atn_setting *setting, atn_text *out); /* as a variant takes it: 4, 0.5, True, gcc */

int32_t atn_space_count_constraints(const atn_space *space);
const char *atn_space_constraint(const atn_space *space, int32_t constraint);
bool atn_space_constraint_is_built(const atn_space *space, int32_t constraint); /* stage="build" */

/* ---- counting; a count may be beyond 2^63: it is a decimal text, and a number as near as a double comes ---- */
typedef struct atn_count {
    char digits[192];
    double number;
    bool fits; /* into: */
    uint64_t whole;
} atn_count;
/* Without constraints; iterators keep to their ranges. */
atn_status atn_space_product(const atn_ctx *ctx, const atn_space *space, atn_count *out);
atn_status atn_space_count(const atn_ctx *ctx, const atn_space *space, atn_count *out); /* allowed points */
/* The same where some milliseconds tell it; else *exact is false, and the allowed points are no more than this. What
 * has more digits than a count is infinite. */
atn_status atn_space_count_soon(const atn_ctx *ctx, const atn_space *space, atn_count *out, bool *exact);

/* ---- points: levels[n_parameters] ---- */
/* Is the point allowed, stage="build" constraints aside? `by`, where not NULL: the constraint, or iterator, that
 * excludes it first; iterators come first, then constraints as they are written. A rule that cannot be computed at the
 * point (it divides by zero, say) excludes it; atn_space_why fails there, with the sentence. */
atn_status atn_space_why(const atn_ctx *ctx, const atn_space *space, const int32_t *levels, bool *allowed,
                         const char **by);
bool atn_space_allows(const atn_space *space, const int32_t *levels, const char **by);
/* Constraints of stage="build": `built` gives registers, local_memory, occupancy, code_bytes; its modules do not count.
 * A constraint that asks for what is not given keeps the point. */
bool atn_space_allows_built(const atn_space *space, const int32_t *levels, const atn_given *built, size_t n_built,
                            const char **by);
/* Levels from "name=value,name=value"; every parameter must be named once. */
atn_status atn_space_point(const atn_ctx *ctx, const atn_space *space, const char *text, int32_t *levels);
void atn_space_print(const atn_space *space, const int32_t *levels, atn_text *out);

/* The rank-th allowed point, in the order in which points are listed; and back. Neither holds the space in memory.
 * Ranks beyond 2^64 are out of reach: spaces that large are sampled with atn_space_draw. */
atn_status atn_space_unrank(const atn_ctx *ctx, const atn_space *space, uint64_t rank, int32_t *levels);
atn_status atn_space_rank(const atn_ctx *ctx, const atn_space *space, const int32_t *levels, uint64_t *rank);
/* An allowed point, each equally likely; `random` gives 64 random bits. Fails for an empty space. */
atn_status atn_space_draw(const atn_ctx *ctx, const atn_space *space, uint64_t (*random)(void *user), void *user,
                          int32_t *levels);
/* Allowed points in order, until `visit` says false or the context is cancelled. */
atn_status atn_space_list(const atn_ctx *ctx, const atn_space *space, bool (*visit)(void *user, const int32_t *levels),
                          void *user);
/* Allowed points that differ in one parameter: by one level (`near`), or by any. */
atn_status atn_space_neighbours(const atn_ctx *ctx, const atn_space *space, const int32_t *levels, bool near,
                                bool (*visit)(void *user, const int32_t *levels), void *user);

/* ---- what each constraint removes ---- */
typedef struct atn_prune {
    const char *constraint;
    atn_count alone;    /* points of the product that it removes by itself */
    atn_count together; /* points that it removes of those which all before it left, in the order they are written */
    atn_count only;     /* points that no other constraint removes */
} atn_prune;
/* rows[n_constraints]; constraints of stage="build" remove nothing here. */
atn_status atn_space_prune_report(const atn_ctx *ctx, const atn_space *space, atn_prune *rows);

#endif
