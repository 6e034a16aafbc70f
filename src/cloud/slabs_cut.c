/* Where slabs begin and end. Bins along the axis become groups of about as many atoms, and groups one after the other
 * a slab. Of many that are wanted, which would be thin and mostly halo, some together are a slab that is cut across the
 * axis: then groups are of bins along it and across it. */
#include "base/memory.h"
#include "cloud/slabs.h"

#include <math.h>
#include <string.h>

enum { GROUPS_OF_A_SLAB = 8, MOST_STRIPS = SLABS_ACROSS / 4 };
static const double HALOS = 2;    /* slabs and strips are at least that thick where they can be */
static const double LEAST = 0.05; /* of the mean: the last of a number that is wanted */

static double length_of(const atn_slabs *s, int d) { return s->info.high[s->axis[d]] - s->info.low[s->axis[d]]; }

/* The share of all atoms that the first `count` of `all` slabs have. Who shares them takes them in this order: they
 * become smaller, so that all end together, and many of them do so more steeply. */
static double share_of(size_t count, size_t all) {
    double x = (double)count / (double)all, steep = 1 + fmin(fmax((double)all / 16, 1), 1.5);
    return LEAST * x + (1 - LEAST) * (1 - pow(1 - x, steep));
}

/* As many as are wanted, or a multiple of it where each would have too many atoms. */
size_t slabs_wanted(const atn_slabs *s, size_t wanted) {
    if (wanted == 0) return 0;
    size_t each = (size_t)(share_of(1, wanted) * (double)s->info.atoms) + 1;
    size_t times = (each + s->options.atoms - 1) / s->options.atoms;
    return wanted * (times ? times : 1);
}

/* ---- axes ---- */

/* The longest, and the longest of the others. */
void slabs_choose_axes(atn_slabs *s) {
    s->axis[0] = s->options.axis ? s->options.axis - 1 : 0;
    for (int d = 1; d < 3 && !s->options.axis; ++d)
        if (s->info.high[d] - s->info.low[d] > length_of(s, 0)) s->axis[0] = d;
    s->axis[1] = (s->axis[0] + 1) % 3;
    int third = (s->axis[0] + 2) % 3;
    if (s->info.high[third] - s->info.low[third] > length_of(s, 1)) s->axis[1] = third;
    double thick = HALOS * s->options.halo;
    bool thin = s->wanted > 1 && s->wanted <= SPILL_BUCKETS / 4 && length_of(s, 0) < thick * (double)s->wanted;
    s->across = thin && length_of(s, 1) >= 2 * thick ? SLABS_ACROSS : 1;
    for (int d = 0; d < 2; ++d) {
        double bins = d ? (double)s->across : (double)(SLABS_BINS / s->across), length = length_of(s, d);
        s->low[d] = s->info.low[s->axis[d]];
        s->per_bin[d] = length > 0 && isfinite(bins / length) ? bins / length : 0; /* all at one place: one bin */
    }
}

/* ---- groups and slabs, along the axis ---- */

static size_t count_along(const atn_slabs *s, const size_t *count, size_t along) {
    size_t sum = 0;
    for (size_t c = 0; c < s->across; ++c) sum += count[along * s->across + c];
    return sum;
}

/* Bins one after the other until a group is full. Two neighbours have more than `full` together, so that there are no
 * more groups than buckets; of those that are cut, each strip may have one more. */
static void make_groups(atn_slabs *s, const size_t *count) {
    size_t most = SPILL_BUCKETS - 1 - (s->across > 1 ? s->wanted : 0);
    size_t full = (s->wanted ? s->info.atoms / s->wanted : s->options.atoms) / GROUPS_OF_A_SLAB,
           least = 2 * (s->info.atoms / most) + 2;
    if (full < least) full = least;
    slabs_group *g = s->group;
    *g = (slabs_group){.edges = slabs_nowhere(s)};
    for (size_t along = 0; along < SLABS_BINS / s->across; ++along) {
        size_t here = count_along(s, count, along);
        if (g->count && here && g->count + here > full) *++g = (slabs_group){.edges = slabs_nowhere(s)};
        g->count += here;
        s->group_of[along * s->across] = (uint16_t)(g - s->group);
    }
    s->groups = (size_t)(g - s->group) + 1;
}

/* How many of them are strips of one slab, after the first `done`: as many as make it thick enough. */
static size_t strips_after(const atn_slabs *s, size_t done) {
    double thick = HALOS * s->options.halo, most = fmin(MOST_STRIPS, length_of(s, 1) / thick);
    size_t n = 1;
    if (s->across == 1) return n;
    while (done + n < s->wanted && (double)(n + 1) <= most &&
           (share_of(done + n, s->wanted) - share_of(done, s->wanted)) * length_of(s, 0) < thick)
        ++n;
    return n;
}

/* Groups one after the other: as many atoms as a slab may have, or their shares of a number that is wanted. */
static void make_slabs(atn_slabs *s) {
    slabs_slab *b = s->slab;
    size_t before = 0, done; /* atoms; slabs that have their share, with this one */
    *b = (slabs_slab){.strips = done = strips_after(s, 0)};
    for (size_t g = 0; g < s->groups; ++g) {
        size_t count = s->group[g].count;
        bool full = b->own + count > s->options.atoms;
        if (s->wanted) full = before + count / 2 > (size_t)(share_of(done, s->wanted) * (double)s->info.atoms);
        if (b->own && count && full) {
            *++b = (slabs_slab){.first = g, .strips = strips_after(s, done)};
            done += b->strips;
        }
        b->own += count;
        b->last = g;
        before += count;
    }
    s->slabs = s->info.atoms ? (size_t)(b - s->slab) + 1 : 0;
}

/* ---- strips ---- */

/* What is made of the groups and slabs along the axis. */
typedef struct cutting {
    atn_slabs *s;
    const size_t *count;
    slabs_group *group; /* as they were */
    slabs_slab *slab;
    uint16_t *along; /* the group of each bin along the axis */
} cutting;

/* Along the axis, the bins whose groups are the slab's: from *from to *end - 1. */
static void bins_of(const cutting *x, const slabs_slab *b, size_t *from, size_t *end) {
    size_t bins = SLABS_BINS / SLABS_ACROSS;
    for (*from = 0; *from < bins && x->along[*from] < b->first;) ++*from;
    for (*end = *from; *end < bins && x->along[*end] <= b->last;) ++*end;
}

/* The strip of each bin across: as many atoms in each. Returns how many there are: none is without atoms. */
static size_t find_strips(const cutting *x, const slabs_slab *b, uint16_t strip[SLABS_ACROSS]) {
    size_t sum[SLABS_ACROSS] = {0}, before = 0, strips = 0, last = 0, from, end;
    bins_of(x, b, &from, &end);
    for (size_t k = from; k < end; ++k)
        for (size_t c = 0; c < SLABS_ACROSS; ++c) sum[c] += x->count[k * SLABS_ACROSS + c];
    for (size_t c = 0; c < SLABS_ACROSS; ++c) {
        size_t wanted = (before + sum[c] / 2) * b->strips / (b->own + 1);
        if (sum[c] && (strips == 0 || wanted > last)) ++strips, last = wanted;
        strip[c] = (uint16_t)(strips ? strips - 1 : 0);
        before += sum[c];
    }
    return strips;
}

/* One slab, whose groups come after those that are there: strip by strip, so that those of a strip lie together. */
static void cut_slab(const cutting *x, const slabs_slab *b) {
    atn_slabs *s = x->s;
    uint16_t strip[SLABS_ACROSS] = {0};
    size_t strips = b->strips > 1 ? find_strips(x, b, strip) : 1, held = b->last - b->first + 1;
    size_t each = (held + strips - 1) / strips, first = s->groups, from, end; /* each: groups of a strip */
    for (size_t t = 0; t < strips; ++t)
        s->slab[s->slabs + t] = (slabs_slab){.first = first + t * each, .last = first + t * each + each - 1};
    for (size_t g = 0; g < strips * each; ++g) s->group[first + g] = (slabs_group){.edges = slabs_nowhere(s)};
    bins_of(x, b, &from, &end);
    for (size_t k = from; k < end && held; ++k)
        for (size_t c = 0; c < SLABS_ACROSS; ++c) {
            size_t at = k * SLABS_ACROSS + c, t = strip[c];
            size_t group = first + t * each + (x->along[k] - b->first) * each / held;
            s->group_of[at] = (uint16_t)group;
            s->group[group].count += x->count[at];
            s->slab[s->slabs + t].own += x->count[at];
        }
    s->slabs += strips;
    s->groups += strips * each;
}

static atn_status cut_strips(atn_slabs *s, const size_t *count) {
    size_t slabs = s->slabs, bins = SLABS_BINS / SLABS_ACROSS;
    cutting x = {.s = s, .count = count, .group = s->group, .slab = s->slab};
    x.along = atn_alloc(s->ctx, bins * sizeof *x.along);
    s->group = atn_alloc(s->ctx, SPILL_BUCKETS * sizeof *s->group);
    s->slab = atn_alloc(s->ctx, SPILL_BUCKETS * sizeof *s->slab);
    atn_status status = x.along && s->group && s->slab ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < bins && x.along; ++k) x.along[k] = s->group_of[k * SLABS_ACROSS];
    s->slabs = s->groups = 0;
    for (size_t k = 0; k < slabs && status == ATN_OK; ++k) cut_slab(&x, &x.slab[k]);
    atn_free(s->ctx, x.group);
    atn_free(s->ctx, x.slab);
    atn_free(s->ctx, x.along);
    return status;
}

/* ---- the sample ---- */

/* A thin slab may have one phase of several: groups on both sides of it belong to the sample, as many as a slab may
 * have atoms. */
static void choose_sample(atn_slabs *s) {
    slabs_slab *b = &s->sample;
    *b = s->slab[s->slabs / 2];
    size_t most = SLABS_SAMPLE < s->options.atoms ? SLABS_SAMPLE : s->options.atoms;
    for (bool before = true; s->wanted && b->own < most && b->last - b->first + 1 < s->groups; before = !before) {
        if ((before && b->first > 0) || b->last + 1 == s->groups)
            b->own += s->group[--b->first].count;
        else
            b->own += s->group[++b->last].count;
    }
}

atn_status slabs_cut(atn_slabs *s, const size_t *count) {
    make_groups(s, count);
    make_slabs(s);
    atn_status status = s->across > 1 && s->slabs ? cut_strips(s, count) : ATN_OK;
    if (status == ATN_OK && s->slabs) choose_sample(s);
    return status;
}
