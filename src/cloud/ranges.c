/* Ranges of masses, laid out for search. Edges of ranges cut the masses into pieces;
 * each edge and each piece between two knows its range, the narrowest that covers it. */
#include "cloud/ranges.h"

#include "base/compare.h"
#include "base/memory.h"
#include "base/sized.h"

#include <math.h>
#include <stdlib.h>

void atn_mass_ranges_free(atn_mass_ranges *r) {
    if (!r) return;
    void *const owned[] = {r->range, r->ion, r->edge, r->at, r->after};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; ++k) atn_free(r->ctx, owned[k]);
    atn_free(r->ctx, r);
}

/* ---- the search ---- */

/* The narrowest that covers everything from low to high; of two alike the first. */
static int32_t covering(const atn_mass_ranges *r, double low, double high) {
    int32_t best = -1;
    double least = INFINITY;
    for (size_t k = 0; k < r->n_ranges; ++k) {
        const atn_mass_range *one = &r->range[k];
        if (one->low > low || one->high < high || !(one->high - one->low < least)) continue;
        best = (int32_t)k;
        least = one->high - one->low;
    }
    return best;
}

static atn_status lay_out(atn_mass_ranges *r) {
    size_t n = 2 * r->n_ranges;
    r->edge = atn_alloc(r->ctx, n * sizeof *r->edge);
    r->at = atn_alloc(r->ctx, n * sizeof *r->at);
    r->after = atn_alloc(r->ctx, n * sizeof *r->after);
    if (!r->edge || !r->at || !r->after) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < r->n_ranges; ++k) {
        r->edge[2 * k] = r->range[k].low;
        r->edge[2 * k + 1] = r->range[k].high;
        for (size_t j = 0; j < k; ++j)
            r->overlaps += r->range[j].ion != r->range[k].ion && r->range[j].low <= r->range[k].high &&
                           r->range[k].low <= r->range[j].high;
    }
    qsort(r->edge, n, sizeof *r->edge, atn_ascending_double);
    for (size_t k = 0; k < n; ++k)
        if (k == 0 || r->edge[k] != r->edge[r->edges - 1]) r->edge[r->edges++] = r->edge[k];
    for (size_t k = 0; k < r->edges; ++k) {
        r->at[k] = covering(r, r->edge[k], r->edge[k]);
        r->after[k] = k + 1 < r->edges ? covering(r, r->edge[k], r->edge[k + 1]) : -1;
    }
    return ATN_OK;
}

int32_t atn_mass_ranges_find(const atn_mass_ranges *r, double mass) {
    if (!(mass >= r->edge[0])) return -1;
    size_t low = 0, high = r->edges; /* edge[low] <= mass < edge[high] */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (r->edge[middle] <= mass)
            low = middle;
        else
            high = middle;
    }
    return mass == r->edge[low] ? r->at[low] : r->after[low];
}

size_t atn_mass_ranges_apply(const atn_mass_ranges *r, const float *masses, size_t count, int32_t *ion,
                             uint64_t *counts) {
    size_t ranged = 0;
    for (size_t k = 0; k < count; ++k) {
        int32_t range = atn_mass_ranges_find(r, (double)masses[k]);
        if (ion) ion[k] = range < 0 ? -1 : r->range[range].ion;
        if (range >= 0 && counts) ++counts[range];
        ranged += range >= 0;
    }
    return ranged;
}

/* ---- for those outside ---- */

static atn_status read_source(source *s, atn_mass_ranges *r) {
    const char *head;
    size_t length;
    s->text = true;
    atn_status status = source_skip_mark(s);
    if (status == ATN_OK) status = source_peek(s, 4096, &head, &length);
    if (status != ATN_OK) return status;
    bool rrng = ranges_rrng_begins(head, length);
    r->format = rrng ? "RRNG" : "RNG";
    status = rrng ? ranges_rrng_read(s, r) : ranges_rng_read(s, r);
    if (status == ATN_OK && r->n_ranges == 0)
        status = atn_fail(s->ctx, ATN_ERR_INPUT, "%s: there are no ranges", s->name);
    return status == ATN_OK ? lay_out(r) : status;
}

static atn_status make(const atn_ctx *ctx, source *s, atn_mass_ranges **out) {
    *out = atn_zalloc(ctx, sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    (*out)->ctx = ctx;
    atn_status status = read_source(s, *out);
    for (size_t k = 0; k < (*out)->n_ions; ++k) (*out)->ion[k].ion.name = (*out)->ion[k].name; /* no more move */
    if (status == ATN_OK) return ATN_OK;
    atn_mass_ranges_free(*out);
    *out = NULL;
    return status;
}

atn_status atn_mass_ranges_read(atn_ctx *ctx, const char *path, atn_mass_ranges **out) {
    source s;
    *out = NULL;
    atn_status status = source_open(ctx, path, &s);
    if (status == ATN_OK) status = make(ctx, &s, out);
    source_close(&s);
    return status;
}

atn_status atn_mass_ranges_read_bytes(const atn_ctx *ctx, const char *name, const char *bytes, size_t length,
                                      atn_mass_ranges **out) {
    source s;
    *out = NULL;
    atn_status status = source_of_bytes(ctx, name, bytes, length, &s);
    if (status == ATN_OK) status = make(ctx, &s, out);
    source_close(&s);
    return status;
}

atn_status atn_mass_ranges_get_info(const atn_mass_ranges *r, atn_mass_ranges_info *out) {
    atn_mass_ranges_info info = {.format = r->format,
                                 .ranges = r->n_ranges,
                                 .ions = r->n_ions,
                                 .duplicates = r->duplicates,
                                 .overlaps = r->overlaps,
                                 .low = r->edge[0],
                                 .high = r->edge[r->edges - 1]};
    return ATN_GIVE(r->ctx, atn_mass_ranges_info, &info, out);
}

const atn_mass_range *atn_mass_ranges_get(const atn_mass_ranges *r, size_t range) { return &r->range[range]; }

const atn_ion *atn_mass_ranges_ion(const atn_mass_ranges *r, size_t ion) { return &r->ion[ion].ion; }
