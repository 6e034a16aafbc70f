/* The coarsest grid, directly: A + tiny I = L L^T, banded, cells numbered along the shorter side. A is singular, once
 * for every connected part: loads and answers have their mean taken out part by part. Small grids get the inverse as a
 * dense matrix, so that the device does it in one launch; thin and long ones are solved on the host. */
#include "apps/unwrap/unwrap.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static const double TINY = 1e-12;

void unwrap_direct_free(const atn_ctx *ctx, unwrap_direct *d) {
    atn_free(ctx, d->factor);
    atn_free(ctx, d->part);
    atn_free(ctx, d->mean);
    atn_free(ctx, d->x);
    atn_array_free(d->dense);
    *d = (unwrap_direct){0};
}

static double number(const void *from, atn_type type, int64_t k) {
    return type == ATN_DP ? ((const double *)from)[k] : (double)((const float *)from)[k];
}

/* Where the k-th unknown lies: in rows, two cells of the frame around them. */
static int64_t cell(const unwrap_direct *d, int64_t k) {
    int64_t i = d->by_rows ? k % d->width : k / d->height, j = d->by_rows ? k / d->width : k % d->height;
    return (j + 2) * (d->width + 4) + i + 2;
}

static int64_t unknown(const unwrap_direct *d, int64_t i, int64_t j) {
    return d->by_rows ? j * d->width + i : i * d->height + j;
}

/* Weights from each unknown to the one before it along the band's short side, and to the one a band before. */
typedef struct weights {
    const void *x, *y;       /* of edges; or NULL, and */
    double share_x, share_y; /* of the last column's and row's edges */
    atn_type type;
} weights;

static double weight_x(const weights *w, const unwrap_direct *d, int64_t i, int64_t j) {
    return w->x ? number(w->x, w->type, j * d->width + i) : j == d->height - 1 ? w->share_y : 1;
}

static double weight_y(const weights *w, const unwrap_direct *d, int64_t i, int64_t j) {
    return w->y ? number(w->y, w->type, j * d->width + i) : i == d->width - 1 ? w->share_x : 1;
}

static atn_status map_weights(atn_unwrap *u, bool weighted, weights *w) {
    unwrap_level *l = &u->level[u->levels - 1];
    *w = (weights){.type = u->type, .share_x = l->share_x, .share_y = l->share_y};
    if (!weighted) return ATN_OK;
    atn_status status = atn_array_map_read(l->wx, &w->x);
    return status == ATN_OK ? atn_array_map_read(l->wy, &w->y) : status;
}

/* One edge into the matrix. */
static void add_edge(unwrap_direct *d, int64_t a, int64_t b, double weight) {
    int64_t row = d->band + 1;
    d->factor[a * row + d->band] += weight;
    d->factor[b * row + d->band] += weight;
    d->factor[b * row + d->band - (b - a)] -= weight; /* b > a */
}

static void assemble(unwrap_direct *d, const weights *w) {
    memset(d->factor, 0, (size_t)(d->n * (d->band + 1)) * sizeof *d->factor);
    for (int64_t j = 0; j < d->height; ++j)
        for (int64_t i = 0; i < d->width; ++i) {
            if (i + 1 < d->width) add_edge(d, unknown(d, i, j), unknown(d, i + 1, j), weight_x(w, d, i, j));
            if (j + 1 < d->height) add_edge(d, unknown(d, i, j), unknown(d, i, j + 1), weight_y(w, d, i, j));
        }
}

/* Labels run along the couplings until none changes: few cells, or thin. Two sweeps, forth and back, are enough for a
 * line; windings take more. */
static void find_parts(unwrap_direct *d) {
    int64_t row = d->band + 1;
    for (int64_t k = 0; k < d->n; ++k) d->part[k] = (int32_t)k;
    for (bool changed = true; changed;) {
        changed = false;
        for (int64_t step = 0; step < 2 * d->n; ++step) {
            int64_t k = step < d->n ? step : 2 * d->n - 1 - step;
            for (int64_t back = 1; back <= d->band && back <= k; ++back) {
                if (!(d->factor[k * row + d->band - back] < 0)) continue;
                int32_t *a = &d->part[k], *b = &d->part[k - back];
                if (*a == *b) continue;
                *a = *b = *a < *b ? *a : *b;
                changed = true;
            }
        }
    }
}

static void factorise(unwrap_direct *d) {
    int64_t row = d->band + 1;
    double most = 0;
    for (int64_t k = 0; k < d->n; ++k) most = fmax(most, d->factor[k * row + d->band]);
    if (!(most > 0)) most = 1;
    for (int64_t i = 0; i < d->n; ++i) {
        double *a = d->factor + i * row + d->band - i; /* a[j]: column j */
        int64_t from = i > d->band ? i - d->band : 0;
        a[i] += TINY * most;
        for (int64_t j = from; j < i; ++j) {
            const double *b = d->factor + j * row + d->band - j;
            int64_t first = j > d->band ? j - d->band : 0;
            double sum = a[j];
            for (int64_t k = first > from ? first : from; k < j; ++k) sum -= a[k] * b[k];
            a[j] = sum / b[j];
            a[i] -= a[j] * a[j];
        }
        a[i] = a[i] > TINY * TINY * most ? sqrt(a[i]) : sqrt(TINY * most);
    }
}

static void take_means(unwrap_direct *d, double *x) {
    double *sum = d->mean, *count = d->mean + d->n;
    memset(d->mean, 0, 2 * (size_t)d->n * sizeof *d->mean);
    for (int64_t k = 0; k < d->n; ++k) {
        sum[d->part[k]] += x[k];
        count[d->part[k]] += 1;
    }
    for (int64_t k = 0; k < d->n; ++k) x[k] -= sum[d->part[k]] / count[d->part[k]];
}

static void solve(unwrap_direct *d, double *x) {
    int64_t row = d->band + 1;
    take_means(d, x);
    for (int64_t i = 0; i < d->n; ++i) {
        const double *a = d->factor + i * row + d->band - i;
        for (int64_t k = i > d->band ? i - d->band : 0; k < i; ++k) x[i] -= a[k] * x[k];
        x[i] /= a[i];
    }
    for (int64_t i = d->n - 1; i >= 0; --i) {
        const double *a = d->factor + i * row + d->band - i;
        x[i] /= a[i];
        for (int64_t k = i > d->band ? i - d->band : 0; k < i; ++k) x[k] -= a[k] * x[i];
    }
    take_means(d, x);
}

static void store(atn_type type, void *to, int64_t at, double value) {
    if (type == ATN_DP)
        ((double *)to)[at] = value;
    else
        ((float *)to)[at] = (float)value;
}

static atn_status put_dense(atn_unwrap *u, unwrap_direct *d) {
    void *to;
    atn_status status = unwrap_array(u, u->type, d->framed, d->framed, &d->dense);
    if (status == ATN_OK) status = atn_array_map_write(d->dense, &to);
    if (status == ATN_OK) memset(to, 0, (size_t)(d->framed * d->framed) * atn_type_bytes(u->type));
    for (int64_t c = 0; c < d->n && status == ATN_OK; ++c) {
        memset(d->x, 0, (size_t)d->n * sizeof *d->x);
        d->x[c] = 1;
        solve(d, d->x); /* symmetric: a column is a row */
        for (int64_t k = 0; k < d->n; ++k) store(u->type, to, cell(d, c) * d->framed + cell(d, k), d->x[k]);
    }
    return status;
}

static atn_status make_room(const atn_ctx *ctx, unwrap_direct *d) {
    size_t n = (size_t)d->n;
    if (!d->factor) d->factor = atn_alloc(ctx, n * (size_t)(d->band + 1) * sizeof *d->factor);
    if (!d->part) d->part = atn_alloc(ctx, n * sizeof *d->part);
    if (!d->mean) d->mean = atn_alloc(ctx, 2 * n * sizeof *d->mean);
    if (!d->x) d->x = atn_alloc(ctx, n * sizeof *d->x);
    return d->factor && d->part && d->mean && d->x ? ATN_OK : ATN_ERR_MEMORY;
}

atn_status unwrap_direct_make(atn_unwrap *u, bool weighted) {
    unwrap_direct *d = &u->direct[weighted];
    const unwrap_level *l = &u->level[u->levels - 1];
    weights w;
    d->width = l->width;
    d->height = l->height;
    d->n = l->width * l->height;
    d->framed = (l->width + 4) * (l->height + 4);
    d->by_rows = l->width <= l->height;
    d->band = d->by_rows ? l->width : l->height;
    atn_status status = make_room(u->ctx, d);
    if (status == ATN_OK) status = map_weights(u, weighted, &w);
    if (status != ATN_OK) return status;
    assemble(d, &w);
    find_parts(d);
    factorise(d);
    return d->framed <= UNWRAP_DENSE ? put_dense(u, d) : ATN_OK;
}

static atn_status solve_on_host(atn_unwrap *u, unwrap_direct *d, unwrap_level *l) {
    const void *from;
    void *to;
    atn_status status = atn_array_map_read(l->f.vector, &from);
    for (int64_t k = 0; k < d->n && status == ATN_OK; ++k) d->x[k] = number(from, u->type, cell(d, k));
    if (status == ATN_OK) status = atn_array_map_write(l->at[0].vector, &to);
    if (status != ATN_OK) return status;
    memset(to, 0, (size_t)d->framed * atn_type_bytes(u->type));
    solve(d, d->x);
    for (int64_t k = 0; k < d->n; ++k) store(u->type, to, cell(d, k), d->x[k]);
    return ATN_OK;
}

atn_status unwrap_direct_solve(atn_unwrap *u, bool weighted, unwrap_level *l) {
    unwrap_direct *d = &u->direct[weighted];
    if (!d->dense) return solve_on_host(u, d, l);
    unwrap_op *op = &l->ops[weighted].direct;
    atn_status status = UNWRAP_OP(u, op, "gemv", "A", d->dense, "x", l->f.vector, "y", l->at[0].vector);
    return status == ATN_OK ? atn_kernel_run(op->kernel) : status;
}
