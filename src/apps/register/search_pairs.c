/* Starts from points that look alike. Each source point is paired with the target point whose surroundings resemble its
 * own most (kernel gemm: all likenesses at once); which two pairs can be true together is kernel agree. A pair counts
 * for another by how many third ones agree with both (second order spatial compatibility: Chen and others, CVPR 2022),
 * and the best of those around a pair make a start. */
#include "apps/register/search_parts.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 960, TOGETHER = 20, WORDS = MOST_PAIRS / 64 };
static const double LEAST = 4, REACH = 1, TURN = 0.25; /* parameters of agree */

typedef struct pair {
    float likeness; /* higher where each is the other's best */
    uint32_t from, to;
} pair;

static int compare(const void *left, const void *right) {
    const pair *a = left, *b = right;
    if (a->likeness != b->likeness) return a->likeness > b->likeness ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* likeness(i, j) = feature i of the source times feature j of the target. */
static atn_status likenesses(const search_tools *tools, const search_surface *source, const search_surface *target,
                             atn_array **out) {
    atn_device *device = tools->device;
    atn_kernel *gemm = NULL;
    atn_array *a = NULL, *b = NULL;
    void *turned;
    *out = NULL;
    atn_status status = search_kernel(tools, REG_LIKENESS, &gemm);
    if (status == ATN_OK)
        status = atn_array_create_matrix(device, ATN_SP, SEARCH_FEATURE, (int64_t)source->count, 0, &a);
    if (status == ATN_OK)
        status = atn_array_create_matrix(device, ATN_SP, (int64_t)target->count, SEARCH_FEATURE, 0, &b);
    if (status == ATN_OK)
        status = atn_array_create_matrix(device, ATN_SP, (int64_t)target->count, (int64_t)source->count, 0, out);
    if (status == ATN_OK) status = atn_array_put(a, source->feature, 0);
    if (status == ATN_OK) status = atn_array_map_write(b, &turned);
    if (status == ATN_OK)
        for (size_t j = 0; j < target->count; ++j)
            for (size_t k = 0; k < SEARCH_FEATURE; ++k)
                ((float *)turned)[k * target->count + j] = target->feature[j * SEARCH_FEATURE + k];
    if (status == ATN_OK) status = atn_kernel_bind(gemm, "A", a);
    if (status == ATN_OK) status = atn_kernel_bind(gemm, "B", b);
    if (status == ATN_OK) status = atn_kernel_bind(gemm, "C", *out);
    if (status == ATN_OK) status = search_run(tools, gemm);
    search_kernel_done(tools, gemm);
    atn_array_free(a);
    atn_array_free(b);
    if (status == ATN_OK) return ATN_OK;
    atn_array_free(*out);
    *out = NULL;
    return status;
}

/* The best target point for each source point, mutual ones first; `pairs` has room for all source points. */
static atn_status match(const search_tools *tools, const search_surface *source, const search_surface *target,
                        pair *pairs, size_t *count) {
    atn_array *all = NULL;
    const void *likeness = NULL;
    float *back = atn_alloc(source->ctx, target->count * sizeof *back);
    atn_status status = back ? likenesses(tools, source, target, &all) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = atn_array_map_read(all, &likeness);
    *count = 0;
    if (status != ATN_OK) goto end;
    for (size_t j = 0; j < target->count; ++j) back[j] = 0;
    for (size_t i = 0; i < source->count; ++i) {
        const float *row = (const float *)likeness + i * target->count;
        for (size_t j = 0; j < target->count; ++j) back[j] = row[j] > back[j] ? row[j] : back[j];
    }
    for (size_t i = 0; i < source->count; ++i) {
        const float *row = (const float *)likeness + i * target->count;
        pair p = {0, (uint32_t)i, 0};
        for (size_t j = 0; j < target->count; ++j)
            if (row[j] > p.likeness) p.likeness = row[j], p.to = (uint32_t)j;
        if (!(p.likeness > 0)) continue;
        if (p.likeness >= back[p.to]) p.likeness += 2 * SEARCH_SHELLS;
        pairs[(*count)++] = p;
    }
    qsort(pairs, *count, sizeof *pairs, compare);
    if (*count > MOST_PAIRS) *count = MOST_PAIRS;
end:
    atn_array_free(all);
    atn_free(source->ctx, back);
    return status;
}

/* agreed(i, j): 1 where pairs i and j do. */
static atn_status agreements(const search_tools *tools, const search_surface *source, const search_surface *target,
                             const pair *pairs, size_t count, atn_array **out) {
    static const char *const names[12] = {"px", "py", "pz", "pu", "pv", "pw", "qx", "qy", "qz", "qu", "qv", "qw"};
    atn_kernel *agree = NULL;
    atn_array *of[12] = {0};
    atn_device *device = tools->device;
    *out = NULL;
    atn_status status = search_kernel(tools, REG_AGREE, &agree);
    for (int c = 0; c < 12 && status == ATN_OK; ++c) {
        const search_surface *side = c < 6 ? source : target;
        const float *from = c % 6 < 3 ? side->at[c % 3] : side->normal[c % 3];
        void *to;
        status = atn_array_create_vector(device, ATN_SP, (int64_t)count, &of[c]);
        if (status == ATN_OK) status = atn_array_map_write(of[c], &to);
        for (size_t k = 0; k < count && status == ATN_OK; ++k)
            ((float *)to)[k] = from[c < 6 ? pairs[k].from : pairs[k].to];
        if (status == ATN_OK) status = atn_kernel_bind(agree, names[c], of[c]);
    }
    if (status == ATN_OK) status = atn_array_create_matrix(device, ATN_SP, (int64_t)count, (int64_t)count, 0, out);
    if (status == ATN_OK) status = atn_kernel_bind(agree, "agreed", *out);
    if (status == ATN_OK) status = atn_kernel_param(agree, "least", LEAST, 0);
    if (status == ATN_OK) status = atn_kernel_param(agree, "reach", REACH, 0);
    if (status == ATN_OK) status = atn_kernel_param(agree, "turn", TURN, 0);
    if (status == ATN_OK) status = search_run(tools, agree);
    search_kernel_done(tools, agree);
    for (int c = 0; c < 12; ++c) atn_array_free(of[c]);
    if (status == ATN_OK) return ATN_OK;
    atn_array_free(*out);
    *out = NULL;
    return status;
}

/* Rows of bits, and how much each pair is supported. */
typedef struct web {
    uint64_t bits[MOST_PAIRS][WORDS];
    uint16_t strength[MOST_PAIRS][MOST_PAIRS]; /* third pairs that agree with both, 0 where the two do not agree */
    int64_t support[MOST_PAIRS];
    uint32_t order[MOST_PAIRS]; /* most support first */
    bool used[MOST_PAIRS];
} web;

static bool has(const web *w, size_t i, size_t j) { return w->bits[i][j / 64] >> (j % 64) & 1; }

static void weave(web *w, const float *agreed, size_t count) {
    for (size_t i = 0; i < count; ++i)
        for (size_t j = 0; j < count; ++j)
            if (agreed[i * count + j] > 0) w->bits[i][j / 64] |= (uint64_t)1 << (j % 64);
    for (size_t i = 0; i < count; ++i)
        for (size_t j = i + 1; j < count; ++j) {
            if (!has(w, i, j)) continue;
            int third = 0;
            for (size_t k = 0; k < WORDS; ++k) third += __builtin_popcountll(w->bits[i][k] & w->bits[j][k]);
            w->strength[i][j] = w->strength[j][i] = (uint16_t)third;
            w->support[i] += third;
            w->support[j] += third;
        }
    for (size_t i = 0; i < count; ++i) { /* insertion by falling support, the first of equals first */
        size_t k = i;
        for (; k > 0 && w->support[w->order[k - 1]] < w->support[i]; --k) w->order[k] = w->order[k - 1];
        w->order[k] = (uint32_t)i;
    }
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

static size_t starts(web *w, const search_surface *source, const search_surface *target, const pair *pairs,
                     size_t count, bool scaled, search_pose *out) {
    size_t made = 0;
    for (size_t n = 0; n < count && made < SEARCH_MOST_PAIRED; ++n) {
        uint32_t seed = w->order[n], list[TOGETHER + 1];
        if (w->used[seed]) continue;
        size_t found = around(w, seed, count, list);
        if (found < 3) continue;
        search_moments moments = {0};
        list[found++] = seed;
        for (size_t k = 0; k < found; ++k) {
            const pair *p = &pairs[list[k]];
            double y[3], x[3];
            for (int a = 0; a < 3; ++a) y[a] = source->at[a][p->from], x[a] = target->at[a][p->to];
            search_moments_add(&moments, 1, y, x);
            w->used[list[k]] = true;
        }
        out[made].scale = 1;
        if (search_moments_fit(&moments, scaled, &out[made])) ++made;
    }
    return made;
}

atn_status search_paired(const search_tools *tools, const search_surface *source, const search_surface *target,
                         bool scaled, search_pose *out, size_t *count) {
    pair *pairs = atn_alloc(source->ctx, source->count * sizeof *pairs);
    web *w = atn_zalloc(source->ctx, sizeof *w);
    atn_array *agreed = NULL;
    const void *read = NULL;
    size_t n = 0;
    *count = 0;
    atn_status status = pairs && w ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = match(tools, source, target, pairs, &n);
    if (status == ATN_OK) status = atn_check_cancel(source->ctx);
    if (status == ATN_OK && n >= 4) {
        status = agreements(tools, source, target, pairs, n, &agreed);
        if (status == ATN_OK) status = atn_array_map_read(agreed, &read);
        if (status == ATN_OK) {
            weave(w, read, n);
            *count = starts(w, source, target, pairs, n, scaled, out);
        }
    }
    atn_array_free(agreed);
    atn_free(source->ctx, w);
    atn_free(source->ctx, pairs);
    return status;
}
