/* Edges that connect the scans. Each scan is first searched against those that look most like it; the best poses that
 * join two groups are registered, as a tree of the highest scores would have them, and trusted ones join. Groups that
 * are left are searched against all others, and tried a few times; at last with the longer search that a pair without a
 * start gets. What is left then may hang on pairs in doubt that are likely. */
#include "apps/align/align.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIKE = 5, FEW_TRIES = 3, ASKED = 3 };
/* Scores of right poses; wrong ones reach 0.37 where shapes propose them. Below the first none is tried, below the
 * second only a few. */
static const double LEAST_SCORE = 0.2, CLEAR_SCORE = 0.4;
/* Of pairs in doubt: wrong poses agree to 0.2 to 0.5, and others come near them; those of a few hundred points agree to
 * 0.7 and more. */
static const double LIKELY_AGREEMENT = 0.65, LIKELY_RIVAL = 0.25;
enum { LIKELY_POINTS = 1000 };

atn_status align_tell(align_work *w, const char *doing, size_t done, size_t count) {
    w->step.doing = doing;
    w->step.done = done;
    w->step.count = count;
    if (!w->settings.watch || w->settings.watch(w->settings.watch_user, &w->step)) return atn_check_cancel(w->ctx);
    return atn_fail(w->ctx, ATN_ERR_CANCELLED, "stopped on request");
}

/* ---- groups ---- */

size_t align_group_size(const align_work *w, size_t group) {
    size_t size = 0;
    for (size_t k = 0; k < w->count; ++k) size += w->group[k] == group;
    return size;
}

static void unite(align_work *w, size_t a, size_t b) {
    size_t low = w->group[a] < w->group[b] ? w->group[a] : w->group[b];
    size_t high = w->group[a] < w->group[b] ? w->group[b] : w->group[a];
    for (size_t k = 0; k < w->count && low != high; ++k)
        if (w->group[k] == high) w->group[k] = low;
}

void align_group(align_work *w) {
    for (size_t k = 0; k < w->count; ++k) w->group[k] = k;
    for (size_t e = 0; e < w->out->edges; ++e)
        if (w->edge[e].used) unite(w, w->edge[e].source, w->edge[e].target);
    w->step.joined = 0;
    for (size_t k = 0; k < w->count; ++k) {
        size_t size = align_group_size(w, k);
        if (size > w->step.joined) w->step.joined = size;
    }
}

/* ---- registering ---- */

/* Where a pair has no covariance: its residuals count as if they were all one error. */
static void guess_covariance(const align_work *w, size_t target, const atn_register_result *r, double out[36]) {
    const search_surface *s = &w->views.view[target].surface;
    double length = fmax(r->rmse, 1e-12 * s->edge), radius = s->size * s->edge;
    const double *c = s->centre;
    double turn2 = length * length / (radius * radius);
    const double cross[9] = {0, -c[2], c[1], c[2], 0, -c[0], -c[1], c[0], 0}; /* v -> c x v: about the centre */
    memset(out, 0, 36 * sizeof *out);
    for (int i = 0; i < 3; ++i) {
        out[7 * i] = turn2;
        out[7 * (i + 3)] = length * length;
        for (int k = 0; k < 3; ++k) {
            out[6 * (i + 3) + k] = turn2 * cross[3 * i + k];
            out[6 * k + i + 3] = turn2 * cross[3 * i + k];
            for (int n = 0; n < 3; ++n) out[6 * (i + 3) + k + 3] += turn2 * cross[3 * i + n] * cross[3 * k + n];
        }
    }
}

static size_t fewer_points(const align_work *w, const align_start *start) {
    size_t source = atn_cloud_info_of(w->scans[start->source]).points;
    size_t target = atn_cloud_info_of(w->scans[start->target]).points;
    return source < target ? source : target;
}

static atn_status add_edge(align_work *w, const align_start *start, const atn_register_pair *pair, bool loop) {
    atn_align_result *out = w->out;
    void *edges = w->edge;
    atn_status status = atn_grow(w->ctx, &edges, &w->edge_capacity, out->edges, sizeof *w->edge);
    w->edge = edges;
    if (status != ATN_OK) return status;
    atn_align_edge *e = &w->edge[out->edges++];
    *e = (atn_align_edge){.source = start->source, .target = start->target, .loop = loop};
    if (pair->status != ATN_OK) {
        snprintf(e->reason, sizeof e->reason, "%s", pair->message);
        for (int k = 0; k < 4; ++k) e->transform[5 * k] = 1;
        return ATN_OK;
    }
    const atn_register_result *r = &pair->result;
    e->verdict = r->verdict;
    e->used = r->verdict == ATN_VERDICT_TRUSTED;
    e->likely = r->verdict == ATN_VERDICT_DOUBTFUL && r->agreement >= LIKELY_AGREEMENT &&
                r->runner_up <= LIKELY_RIVAL && fewer_points(w, start) >= LIKELY_POINTS;
    memcpy(e->reason, r->reason, sizeof e->reason);
    memcpy(e->transform, r->transform, sizeof e->transform);
    e->rmse = r->rmse;
    e->overlap = r->overlap;
    e->has_covariance = r->has_covariance;
    if (r->has_covariance)
        memcpy(e->covariance, r->covariance, sizeof e->covariance);
    else
        guess_covariance(w, e->target, r, e->covariance);
    if (r->peak_bytes > out->peak_bytes) out->peak_bytes = r->peak_bytes;
    memcpy(out->device, r->device, sizeof out->device);
    return ATN_OK;
}

static bool watch_pair(void *user, const atn_register_step *step) {
    align_work *w = user;
    if (step->iteration == 1 && w->step.done < w->step.count) ++w->step.done;
    return !w->settings.watch || w->settings.watch(w->settings.watch_user, &w->step);
}

atn_status align_register(align_work *w, const align_start *starts, size_t count, bool loop) {
    if (count == 0) return ATN_OK;
    atn_register_pair *pair = atn_zalloc(w->ctx, count * sizeof *pair);
    if (!pair) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < count; ++k)
        pair[k] = (atn_register_pair){.source = starts[k].from ? starts[k].from : w->scans[starts[k].source],
                                      .target = starts[k].onto ? starts[k].onto : w->scans[starts[k].target],
                                      .start = starts[k].transform};
    w->pairs.watch = watch_pair;
    w->pairs.watch_user = w;
    atn_status status = align_tell(w, loop ? "closing loops" : "registering", 0, count);
    if (status == ATN_OK) status = atn_register_batch(w->device, count, pair, &w->pairs);
    for (size_t k = 0; k < count && status == ATN_OK; ++k) {
        if (pair[k].status == ATN_ERR_MEMORY) status = atn_fail(w->ctx, ATN_ERR_MEMORY, "%s", pair[k].message);
        if (status == ATN_OK) status = add_edge(w, &starts[k], &pair[k], loop);
    }
    if (status == ATN_OK) align_group(w);
    atn_free(w->ctx, pair);
    return status;
}

/* ---- searching ---- */

static atn_status search(align_work *w, size_t a, size_t b) {
    void *found = w->found;
    if (w->seen[a * w->count + b]) return ATN_OK;
    w->seen[a * w->count + b] = w->seen[b * w->count + a] = 1;
    atn_status status = atn_grow(w->ctx, &found, &w->found_capacity, w->n_found, sizeof *w->found);
    w->found = found;
    if (status != ATN_OK) return status;
    align_found *f = &w->found[w->n_found];
    *f = (align_found){.source = a, .target = b};
    status = candidates_search(&w->views, a, b, f->transform, &f->score, &f->runner_up);
    w->n_found += status == ATN_OK;
    ++w->out->searched;
    return status;
}

typedef struct alike {
    double likeness;
    size_t scan;
} alike;

static int by_likeness(const void *left, const void *right) {
    const alike *a = left, *b = right;
    if (a->likeness != b->likeness) return a->likeness > b->likeness ? -1 : 1;
    return a->scan < b->scan ? -1 : a->scan > b->scan;
}

/* Those that look most like it, `most` of another group. */
static atn_status search_alike(align_work *w, size_t scan, size_t most, alike *list) {
    size_t n = 0;
    for (size_t k = 0; k < w->count; ++k)
        if (w->group[k] != w->group[scan]) list[n++] = (alike){candidates_likeness(&w->views, scan, k), k};
    qsort(list, n, sizeof *list, by_likeness);
    atn_status status = ATN_OK;
    for (size_t k = 0; k < n && k < most && status == ATN_OK; ++k) {
        status = align_tell(w, "searching", w->out->searched, w->out->searched + 1);
        if (status == ATN_OK) status = search(w, scan, list[k].scan);
    }
    return status;
}

/* ---- trees ---- */

static int by_score(const void *left, const void *right) {
    const align_found *a = left, *b = right;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    if (a->source != b->source) return a->source < b->source ? -1 : 1;
    return a->target < b->target ? -1 : a->target > b->target;
}

/* How often a group was tried without a clear score. */
static size_t tries_of(const align_work *w, size_t group) {
    size_t tries = 0;
    for (size_t k = 0; k < w->n_found; ++k) {
        const align_found *f = &w->found[k];
        bool part = w->group[f->source] == group || w->group[f->target] == group;
        tries += f->tried && part && f->score < CLEAR_SCORE && w->group[f->source] != w->group[f->target];
    }
    return tries;
}

static bool is_worth(const align_work *w, const align_found *f) {
    if (f->tried || f->score < LEAST_SCORE) return false;
    if (f->score >= CLEAR_SCORE) return true;
    size_t a = w->group[f->source], b = w->group[f->target];
    return tries_of(w, align_group_size(w, a) < align_group_size(w, b) ? a : b) < FEW_TRIES;
}

/* One round: the tree of the highest scores between groups as they are, all of it registered. *any: there was one. */
static atn_status plant(align_work *w, bool *any) {
    size_t *planned = atn_alloc(w->ctx, w->count * sizeof *planned), count = 0;
    align_start *starts = planned ? atn_alloc(w->ctx, w->count * sizeof *starts) : NULL;
    atn_status status = starts ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        memcpy(planned, w->group, w->count * sizeof *planned);
        qsort(w->found, w->n_found, sizeof *w->found, by_score);
    }
    for (size_t k = 0; k < w->n_found && status == ATN_OK; ++k) {
        align_found *f = &w->found[k];
        size_t a = planned[f->source], b = planned[f->target];
        if (a == b || !is_worth(w, f)) continue;
        f->tried = true;
        for (size_t s = 0; s < w->count; ++s)
            if (planned[s] == b) planned[s] = a;
        starts[count++] = (align_start){.source = f->source, .target = f->target, .transform = f->transform};
    }
    *any = count > 0;
    if (status == ATN_OK) status = align_register(w, starts, count, false);
    atn_free(w->ctx, starts);
    atn_free(w->ctx, planned);
    return status;
}

static atn_status plant_all(align_work *w) {
    bool any = true;
    atn_status status = ATN_OK;
    while (any && status == ATN_OK) status = plant(w, &any);
    return status;
}

/* Pairs of groups that are left, the highest scores first, by a search of their own. *any: one was trusted. */
static atn_status ask(align_work *w, size_t large, bool *any) {
    size_t *asked = atn_zalloc(w->ctx, w->count * sizeof *asked), count = 0, before = w->step.joined;
    align_start *starts = asked ? atn_alloc(w->ctx, (w->n_found + 1) * sizeof *starts) : NULL;
    atn_status status = starts ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < w->n_found && status == ATN_OK; ++k) {
        align_found *f = &w->found[k]; /* sorted by score */
        size_t a = w->group[f->source], b = w->group[f->target], left = a == large ? b : a;
        if (a == b || f->asked || asked[left] == ASKED) continue;
        ++asked[left];
        f->asked = true;
        starts[count++] = (align_start){.source = f->source, .target = f->target};
    }
    if (status == ATN_OK) status = align_register(w, starts, count, false);
    *any = status == ATN_OK && w->step.joined > before;
    atn_free(w->ctx, starts);
    atn_free(w->ctx, asked);
    return status;
}

/* Joins two groups by the likely pair that overlaps most; false: there is none. Its loops may still refuse it. */
static bool lean(align_work *w) {
    atn_align_edge *best = NULL;
    for (size_t k = 0; k < w->out->edges; ++k) {
        atn_align_edge *e = &w->edge[k];
        if (!e->likely || e->used || w->group[e->source] == w->group[e->target]) continue;
        if (!best || e->overlap > best->overlap) best = e;
    }
    if (!best) return false;
    best->used = true;
    align_group(w);
    return true;
}

size_t align_largest_group(const align_work *w) {
    size_t best = 0;
    for (size_t k = 1; k < w->count; ++k)
        if (align_group_size(w, k) > align_group_size(w, best)) best = k;
    return best;
}

atn_status align_join(align_work *w) {
    alike *list = atn_alloc(w->ctx, w->count * sizeof *list);
    atn_status status = list ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < w->count && status == ATN_OK; ++k) status = search_alike(w, k, ALIKE, list);
    if (status == ATN_OK) status = plant_all(w);
    for (size_t most = 2 * ALIKE; status == ATN_OK; most *= 2) { /* what is left is searched against more and more */
        size_t before = w->out->searched, large = align_largest_group(w);
        bool any = true;
        for (size_t k = 0; k < w->count && status == ATN_OK; ++k)
            if (w->group[k] != large) status = search_alike(w, k, most, list);
        if (status == ATN_OK && w->out->searched == before) status = ask(w, large, &any);
        if (status == ATN_OK && !any && !lean(w)) break;
        if (status == ATN_OK) status = plant_all(w);
    }
    atn_free(w->ctx, list);
    return status;
}
