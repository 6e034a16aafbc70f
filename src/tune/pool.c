/* Candidates of a model. Everything lies by measurement or feature first and candidate second, so that the inner loops
 * run over candidates. */
#include "tune/pool.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum {
    BLOCK = 256,  /* candidates that are worked on together, so that they stay in the cache */
    FORGET_AT = 8 /* times the size of the pool: number of known points from which those that left are forgotten */
};

atn_status atn_pool_open(atn_pool *pool, const atn_ctx *ctx, const atn_surrogate *model, int32_t width, int32_t most) {
    size_t m = (size_t)most;
    *pool = (atn_pool){.ctx = ctx, .model = model, .width = width, .most = most, .known = {.ctx = ctx, .width = width}};
    pool->points = atn_alloc(ctx, m * ((size_t)width + 1) * sizeof *pool->points);
    pool->x = atn_alloc(ctx, m * ((size_t)model->n_features + 1));
    pool->v = atn_alloc(ctx, m * (size_t)model->most * sizeof *pool->v);
    pool->mean = atn_alloc(ctx, 2 * m * sizeof *pool->mean);
    if (!pool->points || !pool->x || !pool->v || !pool->mean) {
        atn_pool_close(pool);
        return ATN_ERR_MEMORY;
    }
    pool->spread = pool->mean + m;
    return ATN_OK;
}

void atn_pool_close(atn_pool *pool) {
    atn_free(pool->ctx, pool->points);
    atn_free(pool->ctx, pool->x);
    atn_free(pool->ctx, pool->v);
    atn_free(pool->ctx, pool->mean);
    atn_free(pool->ctx, pool->where);
    atn_points_free(&pool->known);
    *pool = (atn_pool){.ctx = pool->ctx};
}

const int32_t *atn_pool_point(const atn_pool *pool, int32_t candidate) {
    return pool->points + (size_t)candidate * (size_t)pool->width;
}

/* The likeness of candidates first … first+count-1 to measurement i. */
static void likeness(const atn_pool *pool, int32_t i, int32_t first, int32_t count, float *out) {
    const atn_surrogate *s = pool->model;
    const uint8_t *x = s->x + (size_t)i * (size_t)s->n_features;
    float sum[BLOCK], product[BLOCK], share = s->n_features ? (float)s->additive / (float)s->n_features : 0;
    for (int32_t c = 0; c < count; ++c) {
        sum[c] = 0;
        product[c] = 1;
    }
    for (int32_t d = 0; d < s->n_features; ++d) {
        const float *alike = s->features[d].alike + (size_t)x[d] * (size_t)s->features[d].n;
        const uint8_t *bucket = pool->x + (size_t)d * (size_t)pool->most + (size_t)first;
        for (int32_t c = 0; c < count; ++c) {
            float a = alike[bucket[c]];
            sum[c] += a;
            product[c] *= a;
        }
    }
    for (int32_t c = 0; c < count; ++c) out[c] = share * sum[c] + (float)(1 - s->additive) * product[c];
}

/* Takes measurement i into candidates first … : v_i = (k_i - sum_j L_ij v_j) / L_ii. */
static void take_in(atn_pool *pool, int32_t i, int32_t first, int32_t count) {
    const atn_surrogate *s = pool->model;
    const double *row = s->factor + (size_t)i * (size_t)s->most;
    size_t most = (size_t)pool->most;
    float part[BLOCK], *to = pool->v + (size_t)i * most + (size_t)first, over = (float)(1 / row[i]);
    likeness(pool, i, first, count, part);
    int32_t j = 0;
    for (; j + 4 <= i; j += 4) { /* four at once: the sum is loaded and stored once for them */
        const float *a = pool->v + (size_t)j * most + (size_t)first, *b = a + most, *d = b + most, *e = d + most;
        float la = (float)row[j], lb = (float)row[j + 1], ld = (float)row[j + 2], le = (float)row[j + 3];
        for (int32_t c = 0; c < count; ++c) part[c] -= la * a[c] + lb * b[c] + (ld * d[c] + le * e[c]);
    }
    for (; j < i; ++j) {
        const float *v = pool->v + (size_t)j * most + (size_t)first;
        float l = (float)row[j];
        for (int32_t c = 0; c < count; ++c) part[c] -= l * v[c];
    }
    float *spread = pool->spread + first;
    for (int32_t c = 0; c < count; ++c) {
        to[c] = part[c] * over;
        spread[c] -= to[c] * to[c];
    }
}

static void expect(atn_pool *pool, int32_t first, int32_t count) {
    const atn_surrogate *s = pool->model;
    float *mean = pool->mean + first;
    for (int32_t c = 0; c < count; ++c) mean[c] = (float)s->mean;
    for (int32_t j = 0; j < s->n; ++j) {
        const float *v = pool->v + (size_t)j * (size_t)pool->most + (size_t)first;
        float w = (float)s->w[j];
        for (int32_t c = 0; c < count; ++c) mean[c] += w * v[c];
    }
}

static void renew(atn_pool *pool, int32_t from, int32_t first, int32_t end) {
    for (; first < end; first += BLOCK) {
        int32_t count = end - first < BLOCK ? end - first : BLOCK;
        if (from == 0)
            for (int32_t c = 0; c < count; ++c) pool->spread[first + c] = 1;
        for (int32_t i = from; i < pool->model->n; ++i) take_in(pool, i, first, count);
        expect(pool, first, count);
    }
}

void atn_pool_rebuild(atn_pool *pool) { renew(pool, 0, 0, pool->n); }
void atn_pool_extend(atn_pool *pool, int32_t had) { renew(pool, had, 0, pool->n); }

static void set(atn_pool *pool, int32_t candidate, const int32_t *point) {
    const atn_surrogate *s = pool->model;
    memcpy(pool->points + (size_t)candidate * (size_t)pool->width, point, (size_t)pool->width * sizeof *point);
    for (int32_t d = 0; d < s->n_features; ++d)
        pool->x[(size_t)d * (size_t)pool->most + (size_t)candidate] =
            s->features[d].bucket[point[s->features[d].parameter]];
    renew(pool, 0, candidate, candidate + 1);
}

/* Notes where a point is; false: no memory. */
static bool note(atn_pool *pool, const int32_t *point, int32_t candidate) {
    int64_t place = atn_points_find(&pool->known, point);
    if (place == ATN_NOWHERE) {
        if (atn_grow(pool->ctx, (void **)&pool->where, &pool->where_room, (size_t)pool->known.n, sizeof(int32_t)))
            return false;
        place = atn_points_add(&pool->known, point);
        if (place == ATN_NOWHERE) return false;
    }
    pool->where[place] = candidate;
    return true;
}

/* A candidate that is known is at `now`; one that memory was lacking for is not known. */
static void moved(atn_pool *pool, int32_t candidate, int32_t now) {
    int64_t place = atn_points_find(&pool->known, atn_pool_point(pool, candidate));
    if (place != ATN_NOWHERE) pool->where[place] = now;
}

/* Restarts the table with the candidates alone. */
static bool forget(atn_pool *pool) {
    atn_points_free(&pool->known);
    for (int32_t c = 0; c < pool->n; ++c)
        if (!note(pool, atn_pool_point(pool, c), c)) return false;
    return true;
}

bool atn_pool_add(atn_pool *pool, const int32_t *point, int32_t instead) {
    int64_t place = atn_points_find(&pool->known, point);
    if (place != ATN_NOWHERE && pool->where[place] >= 0) return true;
    if (pool->known.n > (int64_t)FORGET_AT * pool->most && !forget(pool)) return false;
    bool full = pool->n == pool->most;
    if (!note(pool, point, full ? instead : pool->n)) return false;
    if (full) moved(pool, instead, -1);
    set(pool, full ? instead : pool->n++, point);
    return true;
}

void atn_pool_remove(atn_pool *pool, int32_t candidate) {
    int32_t last = pool->n - 1;
    moved(pool, candidate, -1);
    --pool->n;
    if (candidate == last) return;
    memcpy(pool->points + (size_t)candidate * (size_t)pool->width, atn_pool_point(pool, last),
           (size_t)pool->width * sizeof *pool->points);
    moved(pool, candidate, candidate);
    for (int32_t d = 0; d < pool->model->n_features; ++d) {
        uint8_t *x = pool->x + (size_t)d * (size_t)pool->most;
        x[candidate] = x[last];
    }
    for (int32_t j = 0; j < pool->model->n; ++j) {
        float *v = pool->v + (size_t)j * (size_t)pool->most;
        v[candidate] = v[last];
    }
    pool->mean[candidate] = pool->mean[last];
    pool->spread[candidate] = pool->spread[last];
}
