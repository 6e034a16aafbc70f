/* Starts from points that look alike. Each source point is paired with the target point whose surroundings resemble its
 * own most. A pair counts for another by how many third ones agree with both (second order spatial compatibility: Chen
 * and others, CVPR 2022), and the best of those around a pair make a start. */
#include "apps/register/search_parts.h"

#include "base/lanes.h"
#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 960, TOGETHER = 20, WORDS = MOST_PAIRS / 64, LANES = 16 };
static const float LEAST = 4, REACH = 1, TURN = 0.25F; /* of pairs that agree: cubes, cubes, cosines */

typedef struct pair {
    float likeness; /* higher where each is the other's best */
    uint32_t from, to;
} pair;

static int compare(const void *left, const void *right) {
    const pair *a = left, *b = right;
    if (a->likeness != b->likeness) return a->likeness > b->likeness ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* ---- likenesses: feature i of the source times feature j of the target ---- */

/* Rows are told by all cores, some at a time; each of these keeps what it saw of the target's points. */
enum { ROWS = 4, STRETCH = 16 * ROWS };
typedef struct matching {
    const search_surface *source, *target;
    size_t width;    /* target points, filled up to whole lanes */
    float *features; /* of the target: SEARCH_FEATURE rows of them; 0 behind the last */
    float *row;      /* ROWS rows of likenesses, by worker */
    float *back;     /* the best of each target point, by worker */
    pair *pairs;     /* of each source point */
} matching;

/* Likenesses of ROWS source points with a lane of target points at a time. */
ATN_IN_LANES static void tell_rows(const matching *t, const float *const from[ROWS], float *out) {
    for (size_t j = 0; j < t->width; j += LANES) {
        float sum[ROWS][LANES] = {{0}};
        for (size_t k = 0; k < SEARCH_FEATURE; ++k) {
            const float *to = t->features + k * t->width + j;
            for (int r = 0; r < ROWS; ++r) {
                float by = from[r][k];
                ATN_LANES()
                for (int l = 0; l < LANES; ++l) sum[r][l] += by * to[l];
            }
        }
        for (int r = 0; r < ROWS; ++r) memcpy(out + (size_t)r * t->width + j, sum[r], sizeof sum[r]);
    }
}

/* The largest of a row; `back` keeps up with the columns. */
ATN_IN_LANES static float best_of(const float *row, size_t count, float *back) {
    float best = 0;
    ATN_LANES(reduction(max : best))
    for (size_t j = 0; j < count; ++j) {
        back[j] = row[j] > back[j] ? row[j] : back[j];
        best = row[j] > best ? row[j] : best;
    }
    return best;
}

static void match_stretch(void *user, int64_t from, int64_t to) {
    int32_t worker = atn_parallel_worker();
    const matching *t = user;
    float *row = t->row + (size_t)worker * ROWS * t->width, *back = t->back + (size_t)worker * t->width;
    for (size_t i = (size_t)from * STRETCH; i < (size_t)to * STRETCH && i < t->source->count; i += ROWS) {
        const float *features[ROWS];
        for (size_t r = 0; r < ROWS; ++r) /* the last one again where there are no more */
            features[r] =
                t->source->feature + (i + r < t->source->count ? i + r : t->source->count - 1) * SEARCH_FEATURE;
        tell_rows(t, features, row);
        for (size_t r = 0; r < ROWS && i + r < t->source->count; ++r) {
            const float *own = row + r * t->width;
            pair p = {best_of(own, t->target->count, back), (uint32_t)(i + r), 0};
            while (p.likeness > 0 && own[p.to] != p.likeness) ++p.to;
            t->pairs[i + r] = p;
        }
    }
}

static atn_status match_all(matching *t) {
    const atn_ctx *ctx = t->source->ctx;
    size_t workers = (size_t)atn_parallel_workers(), count = t->target->count;
    t->width = (count + LANES - 1) / LANES * LANES;
    t->features = atn_zalloc(ctx, SEARCH_FEATURE * t->width * sizeof *t->features);
    t->row = atn_alloc(ctx, workers * ROWS * t->width * sizeof *t->row);
    t->back = atn_zalloc(ctx, workers * t->width * sizeof *t->back);
    if (!t->features || !t->row || !t->back) return ATN_ERR_MEMORY;
    for (size_t j = 0; j < count; ++j)
        for (size_t k = 0; k < SEARCH_FEATURE; ++k)
            t->features[k * t->width + j] = t->target->feature[j * SEARCH_FEATURE + k];
    atn_parallel_pieces((int64_t)((t->source->count + STRETCH - 1) / STRETCH), match_stretch, t);
    for (size_t w = 1; w < workers; ++w)
        for (size_t j = 0; j < count; ++j) t->back[j] = fmaxf(t->back[j], t->back[w * t->width + j]);
    return atn_check_cancel(ctx);
}

/* The best target point for each source point, mutual ones first; `pairs` has room for all source points. */
static atn_status match(const search_surface *source, const search_surface *target, pair *pairs, size_t *count) {
    matching t = {.source = source, .target = target, .pairs = pairs};
    atn_status status = match_all(&t);
    *count = 0;
    for (size_t i = 0; i < source->count && status == ATN_OK; ++i) {
        pair p = pairs[i];
        if (!(p.likeness > 0)) continue;
        if (p.likeness >= t.back[p.to]) p.likeness += 2 * SEARCH_SHELLS;
        pairs[(*count)++] = p;
    }
    qsort(pairs, *count, sizeof *pairs, compare);
    if (*count > MOST_PAIRS) *count = MOST_PAIRS;
    atn_free(source->ctx, t.features);
    atn_free(source->ctx, t.row);
    atn_free(source->ctx, t.back);
    return status;
}

/* ---- which pairs can be true together ---- */

/* The places and normals of the pairs' points, in the source and in the target. */
typedef struct ends {
    float p[3][MOST_PAIRS], m[3][MOST_PAIRS], q[3][MOST_PAIRS], n[3][MOST_PAIRS];
} ends;

/* Rows of bits, and how much each pair is supported. */
typedef struct web {
    ends ends;
    size_t count;
    uint64_t bits[MOST_PAIRS][WORDS];
    uint16_t strength[MOST_PAIRS][MOST_PAIRS]; /* third pairs that agree with both, 0 where the two do not agree */
    uint32_t support[MOST_PAIRS];
    uint32_t order[MOST_PAIRS]; /* most support first */
    bool used[MOST_PAIRS];
} web;

/* Pairs i and j agree (a bit) where the distances of their points are over LEAST in both clouds and differ by less than
 * REACH, and so do the cosines between the normals, and of the normals with the line between the points, by less than
 * TURN. Normals have no sign: cosines are compared by size. */
ATN_IN_LANES static uint64_t agree_word(const ends *e, size_t first, size_t i) {
    const float px = e->p[0][i], py = e->p[1][i], pz = e->p[2][i], mx = e->m[0][i], my = e->m[1][i], mz = e->m[2][i];
    const float qx = e->q[0][i], qy = e->q[1][i], qz = e->q[2][i], nx = e->n[0][i], ny = e->n[1][i], nz = e->n[2][i];
    uint64_t agreed[64], word = 0;
    float one[64];
    ATN_LANES()
    for (size_t k = 0; k < 64; ++k) {
        size_t j = first + k;
        float dx = e->p[0][j] - px, dy = e->p[1][j] - py, dz = e->p[2][j] - pz;
        float ex = e->q[0][j] - qx, ey = e->q[1][j] - qy, ez = e->q[2][j] - qz;
        float ux = e->m[0][j], uy = e->m[1][j], uz = e->m[2][j], vx = e->n[0][j], vy = e->n[1][j], vz = e->n[2][j];
        float p = sqrtf(dx * dx + dy * dy + dz * dz), q = sqrtf(ex * ex + ey * ey + ez * ez), within = TURN * p * q;
        float between = fabsf(fabsf(mx * ux + my * uy + mz * uz) - fabsf(nx * vx + ny * vy + nz * vz));
        float here = fabsf(fabsf(dx * mx + dy * my + dz * mz) * q - fabsf(ex * nx + ey * ny + ez * nz) * p);
        float there = fabsf(fabsf(dx * ux + dy * uy + dz * uz) * q - fabsf(ex * vx + ey * vy + ez * vz) * p);
        float near = p < q ? p : q, all = near > LEAST ? 1.0F : 0.0F;
        all = fabsf(p - q) < REACH ? all : 0;
        all = between < TURN ? all : 0;
        all = here < within ? all : 0;
        one[k] = there < within ? all : 0;
    }
    ATN_LANES()
    for (size_t k = 0; k < 64; ++k) agreed[k] = (uint64_t)(one[k] > 0) << k;
    ATN_LANES(reduction(| : word))
    for (size_t k = 0; k < 64; ++k) word |= agreed[k];
    return word;
}

static void agree_some(void *user, int64_t from, int64_t to) {
    web *w = user;
    for (size_t i = (size_t)from; i < (size_t)to; ++i) {
        memset(w->bits[i], 0, sizeof w->bits[i]);
        memset(w->strength[i], 0, w->count * sizeof w->strength[i][0]);
        for (size_t k = 0; 64 * k < w->count; ++k) {
            size_t rest = w->count - 64 * k;
            w->bits[i][k] = agree_word(&w->ends, 64 * k, i) & (rest < 64 ? ((uint64_t)1 << rest) - 1 : UINT64_MAX);
        }
    }
}

/* Both agree alike, so that each two are looked at once. Bits of a word are counted by one instruction in all clones
 * but the last. */
ATN_IN_LANES static void support_row(web *w, size_t i) {
    const uint64_t *own = w->bits[i];
    for (size_t k = i / 64; k < WORDS; ++k)
        for (uint64_t left = k == i / 64 ? own[k] & UINT64_MAX << (i % 64) : own[k]; left; left &= left - 1) {
            size_t j = 64 * k + (size_t)__builtin_ctzll(left);
            int third = 0;
            for (size_t n = 0; n < WORDS; ++n) third += __builtin_popcountll(own[n] & w->bits[j][n]);
            w->strength[i][j] = w->strength[j][i] = (uint16_t)third;
        }
}

enum { SUPPORTED = 32 }; /* rows of a piece: columns of these are not of another one's cache lines */
static void support_some(void *user, int64_t from, int64_t to) {
    web *w = user;
    for (size_t i = (size_t)from * SUPPORTED; i < (size_t)to * SUPPORTED && i < w->count; ++i) support_row(w, i);
}

static void add_some(void *user, int64_t from, int64_t to) {
    web *w = user;
    for (int64_t i = from; i < to; ++i) {
        uint32_t support = 0;
        for (size_t j = 0; j < w->count; ++j) support += w->strength[i][j];
        w->support[i] = support;
    }
}

/* By falling support, the first of equals first: numbers that hold both are sorted, those that are far apart before
 * those that are near. */
static void sort_by_support(web *w) {
    static const size_t APART[] = {701, 301, 132, 57, 23, 10, 4, 1};
    uint64_t key[MOST_PAIRS];
    for (size_t i = 0; i < w->count; ++i) key[i] = (uint64_t)(UINT32_MAX - w->support[i]) << 32 | i;
    for (size_t a = 0; a < sizeof APART / sizeof *APART; ++a)
        for (size_t i = APART[a]; i < w->count; ++i) {
            uint64_t one = key[i];
            size_t k = i;
            for (; k >= APART[a] && key[k - APART[a]] > one; k -= APART[a]) key[k] = key[k - APART[a]];
            key[k] = one;
        }
    for (size_t i = 0; i < w->count; ++i) w->order[i] = (uint32_t)key[i];
}

static void weave(web *w, const search_surface *source, const search_surface *target, const pair *pairs, size_t count) {
    enum { EACH = 16 }; /* rows that are worth a thread */
    w->count = count;
    memset(&w->ends, 0, sizeof w->ends); /* behind the last, too */
    for (int a = 0; a < 3; ++a)
        for (size_t k = 0; k < count; ++k) {
            w->ends.p[a][k] = source->at[a][pairs[k].from], w->ends.m[a][k] = source->normal[a][pairs[k].from];
            w->ends.q[a][k] = target->at[a][pairs[k].to], w->ends.n[a][k] = target->normal[a][pairs[k].to];
        }
    atn_parallel((int64_t)count, EACH, agree_some, w);
    atn_parallel_pieces((int64_t)((count + SUPPORTED - 1) / SUPPORTED), support_some, w);
    atn_parallel((int64_t)count, 4 * EACH, add_some, w);
    memset(w->used, 0, sizeof w->used);
    sort_by_support(w);
}

/* The pairs that support pair `seed` most, the strongest first. */
static size_t around(const web *w, size_t seed, size_t count, uint32_t *list) {
    size_t found = 0;
    const uint16_t *strength = w->strength[seed];
    for (size_t j = 0; j < count; ++j) {
        if (strength[j] == 0 || (found == TOGETHER && strength[j] <= strength[list[found - 1]])) continue;
        size_t k = found < TOGETHER ? found++ : found - 1;
        for (; k > 0 && strength[list[k - 1]] < strength[j]; --k) list[k] = list[k - 1];
        list[k] = (uint32_t)j;
    }
    return found;
}

/* A pair and those that support it, and where they say the source is. */
typedef struct start {
    uint32_t list[TOGETHER + 1]; /* the pair itself is the last */
    size_t found;
    search_pose pose;
    bool fits;
} start;

/* Some of the pairs at once, in the order of their support. */
enum { AT_ONCE = 4 }; /* for each worker: few are looked at in vain, since others before them use them */
typedef struct starting {
    const web *web;
    const search_surface *source, *target;
    const pair *pairs;
    bool scaled;
    uint32_t seed[AT_ONCE * ATN_PARALLEL_MOST];
    start of[AT_ONCE * ATN_PARALLEL_MOST];
} starting;

static void start_from(void *user, int64_t from, int64_t to) {
    starting *t = user;
    for (int64_t n = from; n < to; ++n) {
        start *s = &t->of[n];
        search_moments moments = {0};
        s->found = around(t->web, t->seed[n], t->web->count, s->list);
        s->fits = false;
        if (s->found < 3) continue;
        s->list[s->found++] = t->seed[n];
        for (size_t k = 0; k < s->found; ++k) {
            const pair *p = &t->pairs[s->list[k]];
            double y[3], x[3];
            for (int a = 0; a < 3; ++a) y[a] = t->source->at[a][p->from], x[a] = t->target->at[a][p->to];
            search_moments_add(&moments, 1, y, x);
        }
        s->pose = (search_pose){.scale = 1};
        s->fits = search_moments_fit(&moments, t->scaled, &s->pose);
    }
}

/* Pairs that a start has used begin none. */
static size_t starts(web *w, starting *t, search_pose *out) {
    size_t made = 0, most = AT_ONCE * (size_t)atn_parallel_workers();
    for (size_t next = 0; next < w->count && made < SEARCH_MOST_PAIRED;) {
        size_t count = 0;
        for (; next < w->count && count < most; ++next)
            if (!w->used[w->order[next]]) t->seed[count++] = w->order[next];
        atn_parallel((int64_t)count, AT_ONCE / 2, start_from, t);
        for (size_t n = 0; n < count && made < SEARCH_MOST_PAIRED; ++n) {
            const start *s = &t->of[n];
            if (w->used[t->seed[n]] || s->found < 3) continue;
            for (size_t k = 0; k < s->found; ++k) w->used[s->list[k]] = true;
            if (s->fits) out[made++] = s->pose;
        }
    }
    return made;
}

atn_status search_paired(const search_surface *source, const search_surface *target, bool scaled, search_pose *out,
                         size_t *count) {
    pair *pairs = atn_alloc(source->ctx, source->count * sizeof *pairs);
    web *w = atn_alloc(source->ctx, sizeof *w);
    starting *t = atn_alloc(source->ctx, sizeof *t);
    size_t n = 0;
    *count = 0;
    atn_status status = pairs && w && t ? match(source, target, pairs, &n) : ATN_ERR_MEMORY;
    if (status == ATN_OK && n >= 4) {
        weave(w, source, target, pairs, n);
        t->web = w;
        t->source = source;
        t->target = target;
        t->pairs = pairs;
        t->scaled = scaled;
        *count = starts(w, t, out);
    }
    atn_free(source->ctx, t);
    atn_free(source->ctx, w);
    atn_free(source->ctx, pairs);
    return status;
}
