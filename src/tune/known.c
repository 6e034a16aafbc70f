/* What a session knows about its candidates, and what it writes to the database. */
#include "tune/session.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static const char UNUSABLE[] = "right, but not within the tolerance";
enum { MOST_STARTS = 2 }; /* who was begun so often and never ended is not tried again */

static int64_t find(const atn_session *s, const char *text) {
    for (size_t k = 0; k < s->n_entries; ++k)
        if (strcmp(s->entries[k].text, text) == 0) return (int64_t)k;
    return -1;
}

static int32_t *point_of(const atn_session *s, const atn_variant *variant, const int32_t *given) {
    int32_t *point = atn_zalloc(s->ctx, ((size_t)s->field.n + 1) * sizeof *point);
    if (!point) return NULL;
    if (given)
        memcpy(point, given, (size_t)s->field.n * sizeof *point);
    else if (!atn_field_point(&s->field, variant, point) || !s->field.domain.allows(s->field.domain.self, point)) {
        atn_free(s->ctx, point);
        return NULL;
    }
    return point;
}

bool atn_known_allows(const atn_session *s, const atn_variant *variant) {
    if (!s->options.space) return true;
    int32_t *point = point_of(s, variant, NULL);
    bool allowed = point != NULL;
    atn_free(s->ctx, point);
    return allowed;
}

int64_t atn_known_enter(atn_session *s, const atn_variant *variant, const int32_t *point) {
    atn_text text = {.ctx = s->ctx};
    atn_variant_print(variant, &text);
    if (atn_text_status(&text) != ATN_OK) {
        atn_text_free(&text);
        return -1;
    }
    int64_t found = find(s, atn_text_str(&text));
    if (found < 0 && atn_grow(s->ctx, (void **)&s->entries, &s->room, s->n_entries, sizeof *s->entries) == ATN_OK) {
        atn_entry e = {
            .text = atn_strdup(s->ctx, atn_text_str(&text)), .variant = *variant, .listed = !s->options.only};
        if (e.text) {
            e.point = point_of(s, variant, point);
            e.listed = e.listed && (!s->options.space || e.point);
            found = (int64_t)s->n_entries;
            s->entries[s->n_entries++] = e;
        }
    }
    atn_text_free(&text);
    return found;
}

void atn_known_free(atn_session *s) {
    for (size_t k = 0; k < s->n_entries; ++k) {
        atn_free(s->ctx, s->entries[k].text);
        atn_free(s->ctx, s->entries[k].point);
    }
    atn_free(s->ctx, s->entries);
    s->entries = NULL;
    s->n_entries = 0;
}

/* ---- the best so far ---- */

bool atn_known_can_win(const atn_entry *e) {
    return e->listed && e->told && e->score.outcome == ATN_OUTCOME_RIGHT && e->score.usable && !e->score.dropped &&
           isfinite(e->score.seconds);
}

static void note_best(atn_session *s, int64_t entry, const atn_middle *ratio) {
    const atn_entry *e = &s->entries[entry];
    if (!atn_known_can_win(e)) return;
    bool beats = s->best < 0 || e->score.seconds < s->entries[s->best].score.seconds;
    if (ratio && ratio->count > 0 && s->best >= 0) beats = ratio->median < 1; /* measured side by side */
    if (beats) s->best = entry;
}

/* ---- rows ---- */

static atn_outcome outcome_named(const char *name) {
    for (int k = 0; k < ATN_OUTCOME_COUNT; ++k)
        if (strcmp(atn_outcome_name((atn_outcome)k), name) == 0) return (atn_outcome)k;
    return ATN_OUTCOME_STARTED;
}

typedef struct recall {
    atn_session *s;
    atn_status status;
} recall;

static bool take_row(void *user, const atn_wisdom_row *row) {
    recall *r = user;
    atn_session *s = r->s;
    atn_variant variant = atn_variant_plain();
    if (atn_variant_parse(s->ctx, &variant, row->variant) != ATN_OK) return true; /* of a knob that is no more */
    int64_t k = atn_known_enter(s, &variant, NULL);
    if (k < 0) {
        r->status = ATN_ERR_MEMORY;
        return false;
    }
    atn_entry *e = &s->entries[k];
    e->starts = row->starts;
    e->code = row->code;
    e->samples = row->samples;
    e->score = (atn_score){.outcome = outcome_named(row->outcome),
                           .seconds = row->seconds > 0 ? row->seconds : INFINITY,
                           .low = row->low,
                           .high = row->high,
                           .error = row->error,
                           .dropped = row->dropped};
    e->score.usable = e->score.outcome == ATN_OUTCOME_RIGHT && strcmp(row->detail, UNUSABLE) != 0;
    e->told = e->recalled = e->score.outcome != ATN_OUTCOME_STARTED;
    return true;
}

static atn_wisdom_row row_of(const atn_entry *e, const char *detail) {
    bool timed = isfinite(e->score.seconds);
    return (atn_wisdom_row){.variant = e->text,
                            .outcome = atn_outcome_name(e->score.outcome),
                            .detail = e->score.outcome == ATN_OUTCOME_RIGHT && !e->score.usable ? UNUSABLE : detail,
                            .seconds = timed ? e->score.seconds : 0,
                            .low = timed ? e->score.low : 0,
                            .high = timed ? e->score.high : 0,
                            .error = e->score.error,
                            .samples = e->samples,
                            .dropped = e->score.dropped,
                            .code = e->code};
}

atn_status atn_known_recall(atn_session *s) {
    recall r = {.s = s};
    if (s->options.again) return ATN_OK;
    atn_status status = atn_wisdom_rows(s->wisdom, &s->key.key, take_row, &r);
    if (status == ATN_OK) status = r.status;
    for (size_t k = 0; k < s->n_entries && status == ATN_OK; ++k) {
        atn_entry *e = &s->entries[k];
        if (!e->told && e->starts >= MOST_STARTS) { /* it brought down the whole machine, or all of our processes */
            atn_trial trial = {.outcome = ATN_OUTCOME_CRASH, .detail = "it was begun twice and never ended"};
            status = atn_known_tell(s, (int64_t)k, &trial);
            e->recalled = true;
            continue;
        }
        if (!e->told) continue; /* waits in the queue, as every entry without a result does */
        if (e->point) s->strategy->tell(s->search, e->point, &e->score);
    }
    return status;
}

void atn_known_settle(atn_session *s) {
    for (size_t k = 0; k < s->n_entries; ++k) note_best(s, (int64_t)k, NULL);
}

atn_status atn_known_tell(atn_session *s, int64_t entry, const atn_trial *t) {
    atn_entry *e = &s->entries[entry];
    bool right = t->outcome == ATN_OUTCOME_RIGHT;
    e->score = (atn_score){.outcome = t->outcome,
                           .seconds = right && t->seconds > 0 ? t->seconds : INFINITY,
                           .low = t->low,
                           .high = t->high,
                           .error = t->error,
                           .usable = right && t->usable,
                           .dropped = t->dropped};
    e->samples = t->samples;
    e->told = true;
    e->recalled = false;
    atn_wisdom_row row = row_of(e, t->detail);
    atn_status status = atn_wisdom_tell(s->wisdom, &s->key.key, &row);
    if (e->point) s->strategy->tell(s->search, e->point, &e->score);
    note_best(s, entry, &t->ratio);
    return status;
}

int64_t atn_known_twin(atn_session *s, int64_t entry) {
    atn_entry *e = &s->entries[entry];
    if (atn_field_code(&s->field, &e->variant, &e->code) != ATN_OK) return -1;
    for (size_t k = 0; k < s->n_entries; ++k) {
        const atn_entry *other = &s->entries[k];
        if ((int64_t)k == entry || !other->told || other->score.outcome == ATN_OUTCOME_STARTED) continue;
        if (other->code.high == e->code.high && other->code.low == e->code.low) return (int64_t)k;
    }
    return -1;
}
