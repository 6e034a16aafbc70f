/* Recorded spaces: what they hold, how a strategy sees them, and reading a file of any form. */
#include "tune/recorded_parts.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "tune/unpack.h"

#include <math.h>
#include <string.h>

static const size_t LARGEST_FILE = (size_t)256 << 20, LARGEST_TEXT = (size_t)1 << 30;

static const atn_recorded_form FORMS[] = {
    {.mark = "cache", .read = atn_recorded_read_cache},
    {.mark = "results", .read = atn_recorded_read_t4},
};
enum { N_FORMS = sizeof FORMS / sizeof *FORMS };

void atn_recorded_free(atn_recorded *recorded) {
    if (!recorded) return;
    const atn_ctx *ctx = recorded->ctx;
    atn_arena_free(&recorded->arena);
    atn_points_free(&recorded->points);
    atn_free(ctx, recorded->results);
    atn_free(ctx, recorded);
}

/* ---- what it holds ---- */

int32_t atn_recorded_parameters(const atn_recorded *recorded) { return recorded->n_parameters; }
const char *atn_recorded_parameter(const atn_recorded *recorded, int32_t p) { return recorded->names[p]; }
int32_t atn_recorded_levels(const atn_recorded *recorded, int32_t p) { return recorded->levels[p]; }

const atn_recorded_value *atn_recorded_level(const atn_recorded *recorded, int32_t p, int32_t level) {
    return &recorded->values[p][level];
}

int64_t atn_recorded_points(const atn_recorded *recorded) { return recorded->points.n; }

const int32_t *atn_recorded_point(const atn_recorded *recorded, int64_t index) {
    return atn_points_get(&recorded->points, index);
}

atn_score atn_recorded_score(const atn_recorded *recorded, int64_t index) {
    const atn_recorded_result *result = &recorded->results[index];
    return (atn_score){.outcome = result->outcome,
                       .seconds = result->seconds,
                       .low = result->seconds,
                       .high = result->seconds,
                       .usable = result->outcome == ATN_OUTCOME_RIGHT};
}

int64_t atn_recorded_find(const atn_recorded *recorded, const int32_t *point) {
    return atn_points_find(&recorded->points, point);
}

/* ---- as a domain ---- */

static bool allows(void *self, const int32_t *point) { return atn_recorded_find(self, point) != ATN_NOWHERE; }

static bool at(void *self, uint64_t rank, int32_t *point) {
    const atn_recorded *recorded = self;
    if (rank >= (uint64_t)recorded->points.n) return false;
    memcpy(point, atn_recorded_point(recorded, (int64_t)rank), (size_t)recorded->n_parameters * sizeof *point);
    return true;
}

static bool draw(void *self, uint64_t (*random)(void *user), void *user, int32_t *point) {
    const atn_recorded *recorded = self;
    uint64_t n = (uint64_t)recorded->points.n;
    return n > 0 && at(self, (uint64_t)(((unsigned __int128)random(user) * n) >> 64), point);
}

atn_domain atn_recorded_domain(const atn_recorded *recorded) {
    return (atn_domain){.n_parameters = recorded->n_parameters,
                        .levels = recorded->levels,
                        .number = recorded->number,
                        .ordered = recorded->ordered,
                        .size = (double)recorded->points.n,
                        .allows = allows,
                        .draw = draw,
                        .at = at,
                        .self = (void *)recorded};
}

/* ---- reading ---- */

/* The form whose mark comes first among the keys of the outermost object; NULL: none does. */
static const atn_recorded_form *find_form(atn_scan *scan, atn_text *key) {
    bool first = true;
    if (!atn_scan_begin(scan, '{')) return NULL;
    while (atn_scan_next_member(scan, &first, key)) {
        for (size_t k = 0; k < N_FORMS; ++k)
            if (strcmp(FORMS[k].mark, atn_text_str(key)) == 0) return &FORMS[k];
        atn_scan_skip(scan);
    }
    return NULL;
}

/* `cut`: the bytes are known to lack their end. */
static atn_status parse_text(const atn_ctx *ctx, const char *name, const char *bytes, size_t length, bool cut,
                             atn_recorded **out) {
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) { /* a byte-order mark */
        bytes += 3;
        length -= 3;
    }
    atn_scan scan = {.start = bytes, .at = bytes, .stop = bytes + length}, ahead = scan;
    atn_text key = {.ctx = ctx};
    const atn_recorded_form *form = find_form(&ahead, &key);
    atn_text_free(&key);
    if (ahead.end == ATN_SCAN_LOST) return ATN_ERR_MEMORY;
    if (!form)
        return atn_fail(
            ctx, ATN_ERR_INPUT,
            "%s: is not a recorded space: a JSON object with \"cache\" (Kernel Tuner) or \"results\" (T4) is needed",
            name);
    atn_recording *recording;
    atn_status status = atn_recording_begin(ctx, name, &recording);
    if (!status) status = form->read(ctx, name, &scan, recording);
    if (!status && scan.end == ATN_SCAN_LOST) status = ATN_ERR_MEMORY;
    if (!status && scan.end == ATN_SCAN_WRONG) status = atn_recorded_wrong(ctx, name, &scan);
    if (!status && atn_recording_entries(recording) == 0)
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: %s", name,
                          cut || scan.end == ATN_SCAN_CUT ? "is cut before its first entry ends" : "has no entry");
    if (status) {
        atn_recording_drop(recording);
        return status;
    }
    if (cut || scan.end == ATN_SCAN_CUT)
        atn_log(ctx, ATN_LOG_WARNING, "%s: is cut; the %lld entries that are whole were read", name,
                (long long)atn_recording_entries(recording));
    return atn_recording_finish(recording, out);
}

atn_status atn_recorded_parse(const atn_ctx *ctx, const char *name, const char *bytes, size_t length,
                              atn_recorded **out) {
    *out = NULL;
    if (!atn_unpack_is_packed(bytes, length)) return parse_text(ctx, name, bytes, length, false, out);
    atn_text text = {.ctx = ctx};
    bool cut;
    atn_status status = atn_unpack(ctx, name, bytes, length, LARGEST_TEXT, &text, &cut);
    if (!status) status = parse_text(ctx, name, atn_text_str(&text), text.length, cut, out);
    atn_text_free(&text);
    return status;
}

atn_status atn_recorded_read(const atn_ctx *ctx, const char *path, atn_recorded **out) {
    *out = NULL;
    char *bytes;
    size_t length;
    atn_status status = atn_file_read(ctx, path, LARGEST_FILE, &bytes, &length);
    if (status) return status;
    status = atn_recorded_parse(ctx, path, bytes, length, out);
    atn_free(ctx, bytes);
    return status;
}
