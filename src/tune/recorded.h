/* Recorded spaces: points that were measured before, with their outcomes. They are read from Kernel Tuner's cache files
 * and from T4 results, compressed with gzip or not, and written as T4. Immutable once created; all queries may be made
 * from several threads. */
#ifndef ATN_TUNE_RECORDED_H
#define ATN_TUNE_RECORDED_H

#include "base/text.h"
#include "tune/json_scan.h"
#include "tune/strategy.h"

/* A value of a parameter: a bool, a number or a text. */
typedef struct atn_recorded_value {
    atn_scalar_kind kind;
    double number;    /* of bools and numbers */
    bool whole;       /* a number without a fraction */
    const char *text; /* "" where it is none; owned by the recording */
} atn_recorded_value;

typedef struct atn_recorded atn_recorded;

/* Reads a file of any of the forms; what it holds decides. A file that was cut is read up to its last whole entry, with
 * a warning in the log. *out is owned by the caller. */
atn_status atn_recorded_read(const atn_ctx *ctx, const char *path, atn_recorded **out);
/* The same from bytes, compressed or not; `name` is for messages. */
atn_status atn_recorded_parse(const atn_ctx *ctx, const char *name, const char *bytes, size_t length,
                              atn_recorded **out);
void atn_recorded_free(atn_recorded *recorded); /* NULL is fine */

/* T4 JSON. The times are written in milliseconds, as others do. */
void atn_recorded_print_t4(const atn_recorded *recorded, atn_text *out);
atn_status atn_recorded_write_t4(const atn_ctx *ctx, const atn_recorded *recorded, const char *path);

/* ---- what it holds ---- */
int32_t atn_recorded_parameters(const atn_recorded *recorded);
const char *atn_recorded_parameter(const atn_recorded *recorded, int32_t parameter);
/* The values that occur: numbers ascending, texts in the order in which they come. */
int32_t atn_recorded_levels(const atn_recorded *recorded, int32_t parameter);
const atn_recorded_value *atn_recorded_level(const atn_recorded *recorded, int32_t parameter, int32_t level);
int64_t atn_recorded_points(const atn_recorded *recorded);                      /* failures included */
const int32_t *atn_recorded_point(const atn_recorded *recorded, int64_t index); /* its levels */
atn_score atn_recorded_score(const atn_recorded *recorded, int64_t index);
int64_t atn_recorded_find(const atn_recorded *recorded, const int32_t *point); /* its index, or -1 */
/* As a strategy sees it: allowed is what was recorded, failures included. It points into `recorded`. */
atn_domain atn_recorded_domain(const atn_recorded *recorded);

/* ---- making one ---- */
/* Parameters first, then entries, each a value per parameter; a point that comes again replaces the first. `seconds`
 * counts where the outcome is right. The making is over with finish, which gives the recording out, or with drop. */
typedef struct atn_recording atn_recording;
atn_status atn_recording_begin(const atn_ctx *ctx, const char *name, atn_recording **out);
atn_status atn_recording_parameter(atn_recording *recording, const char *name);
int32_t atn_recording_find(const atn_recording *recording, const char *name); /* -1: no such parameter */
int32_t atn_recording_parameters(const atn_recording *recording);
/* Sets a value of the entry in the making. */
atn_status atn_recording_set(atn_recording *recording, int32_t parameter, const atn_scalar *value, const char *text);
/* Ends the entry; one that lacks a value is refused. */
atn_status atn_recording_add(atn_recording *recording, atn_outcome outcome, double seconds);
void atn_recording_cancel(atn_recording *recording); /* forgets the entry in the making */
int64_t atn_recording_entries(const atn_recording *recording);
atn_status atn_recording_finish(atn_recording *recording, atn_recorded **out); /* frees the recording in any case */
void atn_recording_drop(atn_recording *recording);                             /* NULL is fine */

/* ---- the forms (recorded_cache.c, recorded_t4.c) ---- */
/* `scan` is at the first brace. ATN_OK also if the bytes end early, as scan->end then says. */
atn_status atn_recorded_read_cache(const atn_ctx *ctx, const char *name, atn_scan *scan, atn_recording *recording);
atn_status atn_recorded_read_t4(const atn_ctx *ctx, const char *name, atn_scan *scan, atn_recording *recording);
/* ATN_ERR_INPUT with the sentence for bytes that are no JSON. */
atn_status atn_recorded_wrong(const atn_ctx *ctx, const char *name, const atn_scan *scan);

#endif
