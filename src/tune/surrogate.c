/* The Gaussian process: its factor is the lower triangle L with L Lᵀ = K + noise · 1. */
#include "tune/surrogate.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { MOST_BUCKETS = 256 };

/* ---- features ---- */

/* Powers of two in a whole number, which is what alignment and even shares of work hang on. */
static int32_t twos(double number) {
    int32_t n = 0;
    if (number == 0) return 16;
    while (n < 16 && fmod(number, 2) == 0) {
        number /= 2;
        ++n;
    }
    return n;
}

static bool all_whole(const double *number, int32_t levels) {
    for (int32_t k = 0; k < levels; ++k)
        if (number[k] != floor(number[k]) || fabs(number[k]) > 0x1p40) return false;
    return true;
}

/* Positions in 0 … 1 become buckets and distances. */
static atn_status add_feature(atn_surrogate *s, int32_t parameter, int32_t levels, const double *position,
                              bool ordered) {
    atn_feature *f = &s->features[s->n_features];
    double distinct[MOST_BUCKETS] = {0};
    *f = (atn_feature){.parameter = parameter, .length = 0.5};
    f->bucket = atn_alloc(s->ctx, (size_t)levels);
    if (!f->bucket) return ATN_ERR_MEMORY;
    ++s->n_features; /* from here on it is freed with the others */
    for (int32_t k = 0; k < levels; ++k) {
        double at = levels > MOST_BUCKETS ? floor(position[k] * (MOST_BUCKETS - 1)) / (MOST_BUCKETS - 1) : position[k];
        int32_t b = 0;
        while (b < f->n && distinct[b] != at) ++b;
        if (b == f->n && b < MOST_BUCKETS) distinct[f->n++] = at;
        f->bucket[k] = (uint8_t)(b < MOST_BUCKETS ? b : MOST_BUCKETS - 1);
    }
    size_t cells = (size_t)f->n * (size_t)f->n;
    f->distance = atn_alloc(s->ctx, cells * sizeof *f->distance);
    f->alike = atn_alloc(s->ctx, cells * sizeof *f->alike);
    if (!f->distance || !f->alike) return ATN_ERR_MEMORY;
    for (int32_t a = 0; a < f->n; ++a)
        for (int32_t b = 0; b < f->n; ++b)
            f->distance[a * f->n + b] = ordered ? fabs(distinct[a] - distinct[b]) : a != b;
    return ATN_OK;
}

/* Numbers are placed by their logarithm where they span more than a factor, else as they are. */
static void place(const double *number, int32_t levels, bool ordered, double *position) {
    double low = number[0], high = number[0];
    for (int32_t k = 1; k < levels; ++k) {
        low = fmin(low, number[k]);
        high = fmax(high, number[k]);
    }
    bool by_log = ordered && low > 0 && high / low >= 4;
    for (int32_t k = 0; k < levels; ++k) {
        double at = by_log ? log(number[k] / low) / log(high / low) : (number[k] - low) / (high - low);
        position[k] = high > low && isfinite(at) ? at : 0;
    }
}

static atn_status add_parameter(atn_surrogate *s, const atn_domain *domain, int32_t p, double *position) {
    int32_t levels = domain->levels[p], kinds = 0;
    place(domain->number[p], levels, domain->ordered[p], position);
    atn_status status = add_feature(s, p, levels, position, domain->ordered[p]);
    if (status || !domain->ordered[p] || levels < 4 || !all_whole(domain->number[p], levels)) return status;
    double least = 16;
    bool seen[17] = {false};
    for (int32_t k = 0; k < levels; ++k) {
        int32_t n = twos(domain->number[p][k]);
        kinds += !seen[n];
        seen[n] = true;
        least = fmin(least, n);
        position[k] = n;
    }
    /* with levels that all differ in it, it says nothing new */
    if (kinds < 2 || kinds == levels) return ATN_OK;
    for (int32_t k = 0; k < levels; ++k) position[k] = fmin((position[k] - least) / 4, 1);
    return add_feature(s, p, levels, position, true);
}

static void fill_alike(atn_feature *f) {
    for (int32_t k = 0; k < f->n * f->n; ++k) f->alike[k] = (float)exp(-f->distance[k] / f->length);
}

atn_status atn_surrogate_open(atn_surrogate *s, const atn_ctx *ctx, const atn_domain *domain, int32_t most) {
    size_t n = (size_t)domain->n_parameters, m = (size_t)most, levels = 1;
    *s = (atn_surrogate){.ctx = ctx, .most = most, .noise = 0.01, .additive = 0.5, .variance = 1};
    for (int32_t p = 0; p < domain->n_parameters; ++p)
        if ((size_t)domain->levels[p] > levels) levels = (size_t)domain->levels[p];
    s->features = atn_zalloc(ctx, (2 * n + 1) * sizeof *s->features);
    double *position = atn_alloc(ctx, levels * sizeof *position);
    atn_status status = s->features && position ? ATN_OK : ATN_ERR_MEMORY;
    for (int32_t p = 0; p < domain->n_parameters && !status; ++p)
        if (domain->levels[p] > 1) status = add_parameter(s, domain, p, position);
    atn_free(ctx, position);
    if (!status) {
        for (int32_t d = 0; d < s->n_features; ++d) fill_alike(&s->features[d]);
        s->x = atn_alloc(ctx, m * ((size_t)s->n_features + 1));
        s->y = atn_alloc(ctx, 3 * m * sizeof *s->y);
        s->factor = atn_alloc(ctx, m * m * sizeof *s->factor);
        s->trial = atn_alloc(ctx, m * m * sizeof *s->trial);
        if (!s->x || !s->y || !s->factor || !s->trial) status = ATN_ERR_MEMORY;
    }
    if (status)
        atn_surrogate_close(s);
    else {
        s->w = s->y + m;
        s->work = s->w + m;
    }
    return status;
}

void atn_surrogate_close(atn_surrogate *s) {
    for (int32_t d = 0; s->features && d < s->n_features; ++d) {
        atn_free(s->ctx, s->features[d].bucket);
        atn_free(s->ctx, s->features[d].distance);
        atn_free(s->ctx, s->features[d].alike);
    }
    atn_free(s->ctx, s->features);
    atn_free(s->ctx, s->x);
    atn_free(s->ctx, s->y);
    atn_free(s->ctx, s->factor);
    atn_free(s->ctx, s->trial);
    *s = (atn_surrogate){.ctx = s->ctx};
}

void atn_surrogate_buckets(const atn_surrogate *s, const int32_t *point, uint8_t *x) {
    for (int32_t d = 0; d < s->n_features; ++d) x[d] = s->features[d].bucket[point[s->features[d].parameter]];
}

double atn_surrogate_alike(const atn_surrogate *s, const uint8_t *a, const uint8_t *b) {
    float sum = 0, product = 1;
    for (int32_t d = 0; d < s->n_features; ++d) {
        const atn_feature *f = &s->features[d];
        float alike = f->alike[a[d] * f->n + b[d]];
        sum += alike;
        product *= alike;
    }
    if (!s->n_features) return 1;
    return s->additive * (double)sum / s->n_features + (1 - s->additive) * (double)product;
}

/* ---- the factor ---- */

static double dot(const double *a, const double *b, int32_t n) {
    double part[4] = {0};
    int32_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (int32_t j = 0; j < 4; ++j) part[j] += a[k + j] * b[k + j];
    for (; k < n; ++k) part[0] += a[k] * b[k];
    return part[0] + part[1] + (part[2] + part[3]);
}

/* Row i of the factor, from what is above it. */
static void factor_row(const atn_surrogate *s, double *factor, int32_t i) {
    double *row = factor + (size_t)i * (size_t)s->most;
    const uint8_t *x = s->x + (size_t)i * (size_t)s->n_features;
    for (int32_t j = 0; j < i; ++j) {
        const double *above = factor + (size_t)j * (size_t)s->most;
        double k = atn_surrogate_alike(s, x, s->x + (size_t)j * (size_t)s->n_features);
        row[j] = (k - dot(row, above, j)) / above[j];
    }
    row[i] = sqrt(fmax(1 + s->noise - dot(row, row, i), 1e-9));
}

static void solve(const atn_surrogate *s, const double *factor, double mean, double *w) {
    for (int32_t i = 0; i < s->n; ++i) {
        const double *row = factor + (size_t)i * (size_t)s->most;
        w[i] = (s->y[i] - mean - dot(row, w, i)) / row[i];
    }
}

/* How likely the measurements are under the present hyperparameters, up to a constant: the variance is the one that
 * makes them likeliest; lengths are held near the whole range of a parameter, loosely. */
static double likelihood(atn_surrogate *s) {
    double logs = 0, prior = 0;
    for (int32_t i = 0; i < s->n; ++i) {
        factor_row(s, s->trial, i);
        logs += log(s->trial[(size_t)i * (size_t)s->most + (size_t)i]);
    }
    solve(s, s->trial, s->mean, s->work);
    double fit = dot(s->work, s->work, s->n) / s->n;
    for (int32_t d = 0; d < s->n_features; ++d) {
        double off = log(s->features[d].length / 0.7);
        prior += off * off / (2 * 1.2 * 1.2);
    }
    double off = log(s->noise / 0.01);
    prior += off * off / (2 * 2.0 * 2.0);
    return -0.5 * s->n * log(fmax(fit, 1e-12)) - logs - prior;
}

static bool try_value(atn_surrogate *s, double *value, double to, atn_feature *f, double *best) {
    double before = *value;
    *value = to;
    if (f) fill_alike(f);
    double now = likelihood(s);
    if (now > *best) {
        *best = now;
        return true;
    }
    *value = before;
    if (f) fill_alike(f);
    return false;
}

/* One value after the other, up and down by a factor, as long as that helps. */
static void sweep(atn_surrogate *s, double factor, double *best) {
    for (int32_t d = 0; d < s->n_features; ++d) {
        atn_feature *f = &s->features[d];
        bool up = f->length < 30 && try_value(s, &f->length, f->length * factor, f, best);
        if (!up && f->length > 0.02) try_value(s, &f->length, f->length / factor, f, best);
    }
    if (!(s->noise < 0.5 && try_value(s, &s->noise, s->noise * factor, NULL, best)) && s->noise > 1e-4)
        try_value(s, &s->noise, s->noise / factor, NULL, best);
    double more = fmin(s->additive + 0.2, 0.95), less = fmax(s->additive - 0.2, 0.05);
    if (!try_value(s, &s->additive, more, NULL, best)) try_value(s, &s->additive, less, NULL, best);
}

/* ---- measurements ---- */

void atn_surrogate_clear(atn_surrogate *s) { s->n = 0; }

void atn_surrogate_put(atn_surrogate *s, const uint8_t *x, double y) {
    memcpy(s->x + (size_t)s->n * (size_t)s->n_features, x, (size_t)s->n_features);
    s->y[s->n++] = y;
}

void atn_surrogate_weigh(atn_surrogate *s) {
    double sum = 0;
    for (int32_t k = 0; k < s->n; ++k) sum += s->y[k];
    s->mean = s->n ? sum / s->n : 0;
    solve(s, s->factor, s->mean, s->w);
    s->variance = s->n ? fmax(dot(s->w, s->w, s->n) / s->n, 1e-12) : 1;
}

void atn_surrogate_learn(atn_surrogate *s, int32_t sweeps) {
    double sum = 0;
    for (int32_t k = 0; k < s->n; ++k) sum += s->y[k];
    s->mean = s->n ? sum / s->n : 0;
    if (sweeps > 0 && s->n > 2) {
        double best = likelihood(s);
        for (int32_t k = 0; k < sweeps; ++k) sweep(s, k ? 1.6 : 2.5, &best);
    }
    for (int32_t i = 0; i < s->n; ++i) factor_row(s, s->factor, i);
    atn_surrogate_weigh(s);
}

const double *atn_surrogate_extend(atn_surrogate *s, const uint8_t *x, double y) {
    atn_surrogate_put(s, x, y);
    factor_row(s, s->factor, s->n - 1);
    return s->factor + (size_t)(s->n - 1) * (size_t)s->most;
}
