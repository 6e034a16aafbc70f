/* The inverse of the coarsest grid: A + tiny I = L L^T, banded, cells numbered along the shorter side. A is singular,
 * once for every connected part: loads and answers have their mean taken out part by part. */
#include "apps/unwrap/direct.h"

#include "base/memory.h"
#include "device/device.h"

#include <math.h>
#include <string.h>

static const double TINY = 1e-12;

typedef struct direct {
    int64_t n, band, width, height;
    bool by_rows;   /* cells are numbered along the shorter side first */
    double *factor; /* n x (band + 1): the lower triangle's rows, the diagonal last */
    int32_t *part;  /* per cell: the connected part it belongs to; each answer has mean 0 */
    double *mean;   /* room for sums and counts of parts */
    double *x;      /* room for one answer */
} direct;

static double number(const void *from, atn_type type, int64_t k) {
    return type == ATN_DP ? ((const double *)from)[k] : (double)((const float *)from)[k];
}

static int64_t unknown(const direct *d, int64_t i, int64_t j) {
    return d->by_rows ? j * d->width + i : i * d->height + j;
}

static double weight_x(const unwrap_edge_weights *w, const direct *d, int64_t i, int64_t j) {
    return w->x ? number(w->x, w->type, j * d->width + i) : j == d->height - 1 ? w->share_y : 1;
}

static double weight_y(const unwrap_edge_weights *w, const direct *d, int64_t i, int64_t j) {
    return w->y ? number(w->y, w->type, j * d->width + i) : i == d->width - 1 ? w->share_x : 1;
}

/* One edge into the matrix. */
static void add_edge(direct *d, int64_t a, int64_t b, double weight) {
    int64_t row = d->band + 1;
    d->factor[a * row + d->band] += weight;
    d->factor[b * row + d->band] += weight;
    d->factor[b * row + d->band - (b - a)] -= weight; /* b > a */
}

static void assemble(direct *d, const unwrap_edge_weights *w) {
    memset(d->factor, 0, (size_t)(d->n * (d->band + 1)) * sizeof *d->factor);
    for (int64_t j = 0; j < d->height; ++j)
        for (int64_t i = 0; i < d->width; ++i) {
            if (i + 1 < d->width) add_edge(d, unknown(d, i, j), unknown(d, i + 1, j), weight_x(w, d, i, j));
            if (j + 1 < d->height) add_edge(d, unknown(d, i, j), unknown(d, i, j + 1), weight_y(w, d, i, j));
        }
}

/* Labels run along the couplings until none changes: few cells, or thin. Two sweeps, forth and back, are enough for a
 * line; windings take more. */
static void find_parts(direct *d) {
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

static void factorise(direct *d) {
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

static void take_means(direct *d, double *x) {
    double *sum = d->mean, *count = d->mean + d->n;
    memset(d->mean, 0, 2 * (size_t)d->n * sizeof *d->mean);
    for (int64_t k = 0; k < d->n; ++k) {
        sum[d->part[k]] += x[k];
        count[d->part[k]] += 1;
    }
    for (int64_t k = 0; k < d->n; ++k) x[k] -= sum[d->part[k]] / count[d->part[k]];
}

static void solve(direct *d, double *x) {
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

/* A row of it for each cell; rows of the volume have UNWRAP_SIDE places for each row of cells. */
static void put_inverse(direct *d, atn_type type, void *to) {
    int64_t columns = UNWRAP_SIDE * d->height;
    memset(to, 0, (size_t)(d->n * columns) * atn_type_bytes(type));
    for (int64_t y = 0; y < d->height; ++y)
        for (int64_t x = 0; x < d->width; ++x) {
            memset(d->x, 0, (size_t)d->n * sizeof *d->x);
            d->x[unknown(d, x, y)] = 1;
            solve(d, d->x); /* symmetric: a column is a row */
            for (int64_t k = 0; k < d->n; ++k) {
                int64_t i = k % d->width, j = k / d->width, at = (y * d->width + x) * columns + UNWRAP_SIDE * j + i;
                if (type == ATN_DP)
                    ((double *)to)[at] = d->x[unknown(d, i, j)];
                else
                    ((float *)to)[at] = (float)d->x[unknown(d, i, j)];
            }
        }
}

atn_status unwrap_inverse(atn_device *device, int64_t width, int64_t height, const unwrap_edge_weights *weights,
                          atn_array **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    direct d = {.n = width * height, .width = width, .height = height, .by_rows = width <= height};
    d.band = d.by_rows ? width : height;
    size_t n = (size_t)d.n;
    void *to;
    d.factor = atn_alloc(ctx, n * (size_t)(d.band + 1) * sizeof *d.factor);
    d.part = atn_alloc(ctx, n * sizeof *d.part);
    d.mean = atn_alloc(ctx, 2 * n * sizeof *d.mean);
    d.x = atn_alloc(ctx, n * sizeof *d.x);
    atn_status status = d.factor && d.part && d.mean && d.x ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK && !*out)
        status = atn_array_create_volume(device, weights->type, height, width, UNWRAP_SIDE * height, 0, out);
    if (status == ATN_OK) status = atn_array_map_write(*out, &to);
    if (status == ATN_OK) {
        assemble(&d, weights);
        find_parts(&d);
        factorise(&d);
        put_inverse(&d, weights->type, to);
    }
    atn_free(ctx, d.factor);
    atn_free(ctx, d.part);
    atn_free(ctx, d.mean);
    atn_free(ctx, d.x);
    return status;
}
