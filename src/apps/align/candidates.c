/* Scans downsampled and described (search_surface.c), all with the same voxel size. Words are shapes that occur in the
 * scans; scans that overlap use the same ones. Poses come from points that look alike (search_pairs.c). */
#include "apps/align/candidates.h"

#include "base/compare.h"
#include "base/memory.h"
#include "geom/eigen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 1000, WORDS = 64 };
static const double OTHER_TURN = 0.2618; /* 15 degrees: what a runner-up differs by */

/* ---- scans ---- */

/* The middle one of the sizes that suit each: scans of one thing are alike in size. */
static atn_status common_edge(const candidates *c, double *out) {
    double *edge = atn_alloc(c->ctx, c->count * sizeof *edge);
    size_t known = 0;
    *out = 0;
    atn_status status = edge ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < c->count && status == ATN_OK; ++k) {
        status = search_edge(&c->view[k].points, POINTS, &edge[known]);
        known += status == ATN_OK && edge[known] > 0;
    }
    if (status == ATN_OK && known) {
        qsort(edge, known, sizeof *edge, atn_ascending_double);
        *out = edge[known / 2];
    }
    atn_free(c->ctx, edge);
    return status;
}

static bool is_described(const search_surface *s, size_t point) {
    for (size_t k = 0; k < SEARCH_FEATURE; ++k)
        if (s->feature[point * SEARCH_FEATURE + k] != 0) return true;
    return false;
}

static float likeness(const float *a, const float *b) {
    float sum = 0;
    for (size_t k = 0; k < SEARCH_FEATURE; ++k) sum += a[k] * b[k];
    return sum;
}

/* Shapes taken from all scans in turn, evenly over their points. */
static void choose_words(const candidates *c, float *book) {
    for (size_t w = 0; w < WORDS && c->count > 0; ++w) {
        const search_surface *s = &c->view[w % c->count].surface;
        memset(book + w * SEARCH_FEATURE, 0, SEARCH_FEATURE * sizeof *book);
        if (!s->feature) continue;
        for (size_t try = 0; try < s->count; ++try) {
            size_t point = (w * 7919 + try) % s->count;
            if (!is_described(s, point)) continue;
            memcpy(book + w * SEARCH_FEATURE, s->feature + point * SEARCH_FEATURE, SEARCH_FEATURE * sizeof *book);
            break;
        }
    }
}

static void count_words(candidate_view *v, const float *book) {
    const search_surface *s = &v->surface;
    float all = 0;
    for (size_t i = 0; i < s->count && s->feature; ++i) {
        size_t best = 0;
        float most = 0;
        for (size_t w = 0; w < WORDS; ++w) {
            float like = likeness(s->feature + i * SEARCH_FEATURE, book + w * SEARCH_FEATURE);
            if (like > most) most = like, best = w;
        }
        v->words[best] += most > 0;
        all += most > 0;
    }
    for (size_t w = 0; w < WORDS && all > 0; ++w) v->words[w] /= all;
}

static bool is_flat(const search_surface *s) {
    double m[6] = {0}, values[3], direction[3];
    for (size_t k = 0; k < s->count; ++k)
        for (int a = 0, n = 0; a < 3; ++a)
            for (int b = a; b < 3; ++b) m[n++] += (double)s->at[a][k] * (double)s->at[b][k];
    geom_least_direction(m, values, direction);
    return s->count < 3 || !(values[1] > 1e-6 * values[2]);
}

static atn_status view_make(const candidates *c, candidate_view *v, double edge) {
    v->words = atn_zalloc(c->ctx, WORDS * sizeof *v->words);
    if (!v->words) return ATN_ERR_MEMORY;
    v->blank = true;
    if (!(edge > 0)) return ATN_OK;
    const cloud_points *points = &v->points;
    search_surface *surface = &v->surface;
    atn_status status = search_surfaces_make(&points, &edge, 1, NULL, &surface);
    if (status != ATN_OK) return status;
    v->blank = is_flat(&v->surface);
    if (v->blank) return ATN_OK;
    status = search_surfaces_describe(&surface, 1);
    return status == ATN_OK ? search_raster_make(&v->surface, &v->raster) : status;
}

static atn_status fill(candidates *c, const atn_cloud *const *scans) {
    double edge = 0;
    atn_status status = ATN_OK;
    for (size_t k = 0; k < c->count && status == ATN_OK; ++k) {
        status = cloud_points_of(c->ctx, scans[k], &c->view[k].points);
        if (status == ATN_OK && c->view[k].points.count == 0)
            status = atn_fail(c->ctx, ATN_ERR_INPUT, "scan %zu has no points", k + 1);
    }
    if (status == ATN_OK) status = common_edge(c, &edge);
    for (size_t k = 0; k < c->count && status == ATN_OK; ++k) {
        status = view_make(c, &c->view[k], edge);
        if (status == ATN_OK) status = atn_check_cancel(c->ctx);
    }
    float *book = status == ATN_OK ? atn_alloc(c->ctx, WORDS * SEARCH_FEATURE * sizeof *book) : NULL;
    if (status == ATN_OK && !book) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        choose_words(c, book);
        for (size_t k = 0; k < c->count; ++k) count_words(&c->view[k], book);
    }
    atn_free(c->ctx, book);
    return status;
}

atn_status candidates_make(const atn_ctx *ctx, size_t count, const atn_cloud *const *scans, candidates *out) {
    *out = (candidates){.ctx = ctx};
    out->view = atn_zalloc(ctx, count * sizeof *out->view);
    if (!out->view) return ATN_ERR_MEMORY;
    out->count = count;
    atn_status status = fill(out, scans);
    if (status != ATN_OK) candidates_free(out);
    return status;
}

void candidates_free(candidates *c) {
    for (size_t k = 0; k < c->count; ++k) {
        search_raster_free(&c->view[k].raster);
        search_surface_free(&c->view[k].surface);
        cloud_points_free(&c->view[k].points);
        atn_free(c->ctx, c->view[k].words);
    }
    if (c->view) atn_free(c->ctx, c->view);
    *c = (candidates){0};
}

double candidates_likeness(const candidates *c, size_t a, size_t b) {
    double sum = 0;
    for (size_t w = 0; w < WORDS; ++w) sum += fmin((double)c->view[a].words[w], (double)c->view[b].words[w]);
    return sum;
}

/* ---- pairs ---- */

static search_pose inside(const search_surface *source, const search_surface *target, const double t[16]) {
    search_pose pose = {.scale = 1};
    for (int a = 0; a < 3; ++a) {
        double at = t[4 * a + 3] - target->centre[a];
        for (int b = 0; b < 3; ++b) {
            pose.turn[3 * a + b] = t[4 * a + b];
            at += t[4 * a + b] * source->centre[b];
        }
        pose.shift[a] = at / target->edge;
    }
    return pose;
}

atn_status candidates_search(const candidates *c, size_t source, size_t target, double transform[16], double *score,
                             double *runner_up) {
    const candidate_view *s = &c->view[source], *t = &c->view[target];
    search_pose pose[SEARCH_MOST_PAIRED];
    size_t count = 0;
    *score = *runner_up = 0;
    if (s->blank || t->blank) return ATN_OK;
    reg_scene scene = {.ctx = c->ctx, .raster = t->raster};
    atn_status status = search_paired(&s->surface, &t->surface, false, pose, &count);
    if (status == ATN_OK) status = search_judge(&scene, &s->surface, false, 0, pose, &count);
    if (status != ATN_OK || count == 0) return status;
    search_publish(&s->surface, &t->surface, &pose[0], 1, transform);
    *score = pose[0].score;
    for (size_t k = 1; k < count && *runner_up == 0; ++k)
        if (search_pose_angle(&pose[0], &pose[k]) > OTHER_TURN) *runner_up = pose[k].score;
    return ATN_OK;
}

double candidates_overlap(const candidates *c, size_t source, size_t target, const double transform[16]) {
    const candidate_view *s = &c->view[source], *t = &c->view[target];
    if (s->blank || t->blank) return 0;
    search_pose there = inside(&s->surface, &t->surface, transform), back = {.scale = 1};
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) {
            back.turn[3 * a + b] = there.turn[3 * b + a];
            back.shift[a] -= there.turn[3 * b + a] * there.shift[b];
        }
    return fmin(search_score(&t->raster, &s->surface, &there), search_score(&s->raster, &t->surface, &back));
}
