/* Points on their way from the ranks that have read them to those whose slab of the target's space they lie in. Slabs
 * lie along its longest axis and are cut so that all have about as many points of both clouds. */
#include "apps/register/distribute.h"
#include "apps/register/problem.h"
#include "cloud/part.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { BINS = 1 << 14, AT_ONCE = 1 << 17 }; /* along the axis; points of a rank that are on their way together */
static const double NOWHERE = 300;          /* radii from the middle, where nothing is */

/* A point on its way. */
typedef struct slab_row {
    double position[3];
    double weight;
} slab_row;

typedef struct slab_cut {
    const reg_problem *p;
    const reg_distribution *d;
    int axis;
    double low, per_bin;
    double t[16];   /* where the source is sent */
    double halo;    /* in the caller's unit */
    double *border; /* of slab k: border[k] to border[k + 1]; owned */
} slab_cut;

static bool is_far(const reg_usual *usual, const double at[3]) {
    double d2 = 0, reach = REG_STRAY * usual->radius;
    for (int a = 0; a < 3; ++a) d2 += (at[a] - usual->middle[a]) * (at[a] - usual->middle[a]);
    return usual->radius > 0 && d2 > reach * reach;
}

/* A point of cloud k, and where it lies along the axis; false: it is left out, as those of the samples were. */
static bool take(const slab_cut *c, int k, size_t point, slab_row *row, double *x) {
    const atn_cloud *cloud = c->d->part[k]->cloud;
    const float *weight = atn_cloud_weights(cloud);
    const double *p = row->position, *t = c->t + 4 * c->axis;
    for (int a = 0; a < 3; ++a) row->position[a] = atn_cloud_positions(cloud, a)[point];
    row->weight = weight ? (double)weight[point] : 1;
    *x = k ? p[c->axis] : t[0] * p[0] + t[1] * p[1] + t[2] * p[2] + t[3];
    return !is_far(k ? &c->p->target_usual : &c->p->source_usual, p);
}

/* ---- where slabs are cut ---- */

static void find_axis(slab_cut *c) {
    const cloud_points *points = &c->p->target;
    double longest = -1;
    for (int a = 0; a < 3; ++a) {
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < points->count; ++k) {
            low = fmin(low, points->position[a][k]);
            high = fmax(high, points->position[a][k]);
        }
        if (!(high - low > longest)) continue;
        longest = high - low;
        c->axis = a;
        c->low = low;
        c->per_bin = longest > 0 ? BINS / longest : 0;
    }
}

static size_t bin_of(const slab_cut *c, double x) {
    double bin = (x - c->low) * c->per_bin;
    return bin > 0 ? bin < BINS - 1 ? (size_t)bin : BINS - 1 : 0;
}

static void find_borders(slab_cut *c, const double *count) {
    size_t ranks = (size_t)c->d->ranks->count, bin = 0;
    double all = 0, before = 0;
    for (size_t k = 0; k < BINS; ++k) all += count[k];
    c->border[0] = -INFINITY;
    c->border[ranks] = INFINITY;
    for (size_t r = 1; r < ranks; ++r) {
        while (bin < BINS - 1 && before + count[bin] / 2 < all * (double)r / (double)ranks) before += count[bin++];
        c->border[r] = c->per_bin > 0 ? c->low + (double)bin / c->per_bin : c->low;
    }
}

static atn_status cut(slab_cut *c) {
    const atn_ctx *ctx = c->p->engine.ctx;
    atn_ranks *ranks = c->d->ranks;
    double *count = atn_zalloc(ctx, BINS * sizeof *count), x;
    slab_row row;
    c->border = atn_alloc(ctx, ((size_t)ranks->count + 1) * sizeof *c->border);
    find_axis(c);
    for (int k = 0; k < 2 && count; ++k)
        for (size_t n = 0; n < cloud_count(c->d->part[k]->cloud); ++n)
            if (take(c, k, n, &row, &x)) ++count[bin_of(c, x)];
    atn_status status = atn_ranks_sum(ranks, count && c->border ? ATN_OK : ATN_ERR_MEMORY, count, BINS);
    if (status == ATN_OK && count) find_borders(c, count);
    atn_free(ctx, count);
    return status;
}

/* ---- on their way ---- */

/* Slabs that a place belongs to, with what is around it. */
static void slabs_at(const slab_cut *c, double x, double halo, size_t *first, size_t *last) {
    size_t ranks = (size_t)c->d->ranks->count;
    for (*first = 0; *first + 1 < ranks && c->border[*first + 1] <= x - halo;) ++*first;
    for (*last = *first; *last + 1 < ranks && c->border[*last + 1] <= x + halo;) ++*last;
}

/* Points from ... end - 1 of cloud k: how many go to each rank, and, where there are parcels, the points; without
 * weight where they are but around a slab. */
static void sort_rows(const slab_cut *c, int k, size_t from, size_t end, double *count, atn_ranks_parcel *to) {
    slab_row row, around;
    double x;
    memset(count, 0, (size_t)c->d->ranks->count * sizeof *count);
    for (size_t n = from; n < end; ++n) {
        size_t first, last, own, same;
        if (!take(c, k, n, &row, &x)) continue;
        slabs_at(c, x, 0, &own, &same);
        slabs_at(c, x, c->halo, &first, &last);
        around = row;
        around.weight = 0;
        for (size_t r = first; r <= last; ++r) {
            if (to) ((slab_row *)to[r].data)[(size_t)count[r]] = r == own ? row : around;
            ++count[r];
        }
    }
}

static void append(cloud_points *out, const atn_ranks_parcel *from) {
    const slab_row *row = from->data;
    for (size_t k = 0; row && k < from->bytes / sizeof *row; ++k, ++out->count) {
        for (int a = 0; a < 3; ++a) out->position[a][out->count] = row[k].position[a];
        out->weight[out->count] = (float)row[k].weight;
    }
}

/* Some points of each rank. */
static atn_status exchange(const slab_cut *c, int k, size_t from, double *count, cloud_points *out) {
    const atn_ctx *ctx = c->p->engine.ctx;
    size_t ranks = (size_t)c->d->ranks->count, all = cloud_count(c->d->part[k]->cloud);
    size_t end = all - from > AT_ONCE ? from + AT_ONCE : all;
    atn_ranks_parcel *give = atn_zalloc(ctx, ranks * sizeof *give), *got = atn_zalloc(ctx, ranks * sizeof *got);
    atn_status status = give && got ? atn_check_cancel(ctx) : ATN_ERR_MEMORY;
    sort_rows(c, k, from, end, count, NULL);
    for (size_t r = 0; r < ranks && status == ATN_OK; ++r) {
        give[r].bytes = (size_t)count[r] * sizeof(slab_row);
        if (!(give[r].data = atn_alloc(ctx, give[r].bytes + 1))) status = ATN_ERR_MEMORY;
    }
    if (status == ATN_OK) sort_rows(c, k, from, end, count, give);
    status = got ? atn_ranks_exchange(c->d->ranks, status, give, got) : atn_ranks_agree(c->d->ranks, status);
    for (size_t r = 0; r < ranks && got && status == ATN_OK; ++r) append(out, &got[r]);
    if (give) atn_ranks_free_parcels(c->d->ranks, give);
    if (got) atn_ranks_free_parcels(c->d->ranks, got);
    atn_free(ctx, got);
    atn_free(ctx, give);
    return status;
}

/* One that has no partner, so that a rank without points does what the others do. */
static void add_nothing(const reg_problem *p, int k, cloud_points *out) {
    const reg_usual *usual = k ? &p->target_usual : &p->source_usual;
    double away = NOWHERE * fmax(usual->radius, p->unit);
    for (int a = 0; a < 3; ++a) out->position[a][0] = usual->middle[a] + (k ? -away : away);
    out->weight[0] = 0;
    out->count = 1;
}

static atn_status send_cloud(const slab_cut *c, int k, cloud_points *out) {
    const atn_ctx *ctx = c->p->engine.ctx;
    atn_ranks *ranks = c->d->ranks;
    size_t n = (size_t)ranks->count, own = cloud_count(c->d->part[k]->cloud);
    double *count = atn_zalloc(ctx, n * sizeof *count), most = -(double)own;
    if (count) sort_rows(c, k, 0, own, count, NULL);
    atn_status status = atn_ranks_sum(ranks, count ? ATN_OK : ATN_ERR_MEMORY, count, n);
    for (size_t r = 0; r < n && count && status == ATN_OK; ++r)
        if (count[r] > INT32_MAX / 2)
            status = atn_fail(ctx, ATN_ERR_UNSUPPORTED,
                              "register: a rank would have more than %d points of the %s; use "
                              "more ranks",
                              INT32_MAX / 2, k ? "target" : "source");
    if (status == ATN_OK && count) status = cloud_points_make(ctx, (size_t)count[ranks->rank] + 1, false, out);
    out->count = 0;
    status = atn_ranks_least(ranks, status, &most, 1);
    for (size_t from = 0; (double)from < -most && count && status == ATN_OK; from += AT_ONCE)
        status = exchange(c, k, from < own ? from : own, count, out);
    if (status == ATN_OK && out->weight && out->count == 0) add_nothing(c->p, k, out);
    atn_free(ctx, count);
    return status;
}

/* The target first, which nobody needs any more then. */
atn_status reg_distribute_send(const reg_problem *p, double reach, cloud_points out[2]) {
    slab_cut c = {.p = p, .d = p->engine.distribution, .halo = reach * p->unit};
    reg_to_outside(p, &p->pose, c.t);
    out[0] = out[1] = (cloud_points){0};
    atn_status status = cut(&c);
    for (int k = 1; k >= 0 && status == ATN_OK; --k) {
        status = send_cloud(&c, k, &out[k]);
        if (k || !c.d->keeps) {
            atn_cloud_free(c.d->part[k]->cloud);
            c.d->part[k]->cloud = NULL;
        }
    }
    atn_free(p->engine.ctx, c.border);
    return status;
}
