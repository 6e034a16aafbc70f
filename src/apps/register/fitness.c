/* Samples of either cloud against the planes of the other. The plane of a point is that of its twelve neighbours, or of
 * more where noise hides it; its thickness says what noise and curvature leave, so that a sample lies on the surface
 * where it is within 2.5 such thicknesses (of both clouds) and turned alike. Beside the surface are samples within four
 * times that, or two spacings: of these a pose found by chance puts a fourth onto it or less, the right one nearly all.
 */
#include "apps/register/fitness.h"

#include "apps/register/search_parts.h"
#include "base/eigen.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double IDENTICAL = 0.5; /* share at the very place from which on points are the same */
enum { FEWEST_SAME = 12 };
enum { MOST_POINTS = 30000, FEWEST_POINTS = 300, SAMPLES = 800, NEIGHBOURS = 13, SIXTH = 6 };
enum { MOST_NEIGHBOURS = 8 * NEIGHBOURS, FEWEST_PLANES = 20 }; /* of a plane; so many times that many points */
static const double FLAT = 0.35;      /* thickness over width below which a neighbourhood is a plane */
static const double MOSTLY = 0.5;     /* share of planes from which on coarser points need not be looked at */
static const double HARDLY = 0.05;    /* share of planes below which points fill space */
static const double FARTHEST = 6;     /* spacings that are looked at in any case */
static const double AROUND = 0.1;     /* of the target's radius: over the surface */
static const double OVER = 0.3;       /* likewise, for samples that are no planes too */
static const double STRAY = 2;        /* spacings to the sixth neighbour, from which on a sample belongs to nothing */
static const double MUCH = 1.3;       /* times as many planes, for which coarser points are taken */
static const double TOLERANCE = 2.5;  /* thicknesses that a sample may be off */
static const double ROUGHNESS = 0.08; /* and that share of the sixth neighbour's distance: scanners are not exact */
static const double BESIDE = 4;       /* tolerances that are beside the surface, */
static const double BESIDE_REACH = 1.25; /* or so many distances of the sixth neighbour */
static const double ALIKE = 0.85;        /* least cosine of normals */
static const double SAME = 0.15;         /* of the sixth neighbour's distance: the same point */

/* ---- one cloud ---- */

static void find_plane(const fitness_side *s, size_t k, fitness_plane *out) {
    uint32_t index[MOST_NEIGHBOURS];
    double distance2[MOST_NEIGHBOURS], mean[3] = {0}, c[6] = {0}, value[3], vector[3][3];
    double at[3] = {s->points.position[0][k], s->points.position[1][k], s->points.position[2][k]};
    size_t n = cloud_grid_nearest(s->grid, at, s->neighbours, INFINITY, index, distance2), half = s->neighbours / 2;
    *out = (fitness_plane){.known = true,
                           .reach = n > half ? (float)sqrt(distance2[half]) : 0,
                           .sixth = n > SIXTH ? (float)sqrt(distance2[SIXTH]) : 0};
    for (size_t i = 0; i < n; ++i)
        for (int a = 0; a < 3; ++a) mean[a] += (s->points.position[a][index[i]] - at[a]) / (double)n;
    for (int a = 0; a < 3; ++a) out->at[a] = (float)(at[a] + mean[a]);
    if (n < s->neighbours) return;
    for (size_t i = 0; i < n; ++i) {
        double d[3];
        for (int a = 0; a < 3; ++a) d[a] = s->points.position[a][index[i]] - at[a] - mean[a];
        const double all[6] = {d[0] * d[0], d[1] * d[1], d[2] * d[2], d[0] * d[1], d[0] * d[2], d[1] * d[2]};
        for (int e = 0; e < 6; ++e) c[e] += all[e] / (double)n;
    }
    atn_eigen_symmetric3(c, value, vector);
    for (int a = 0; a < 3; ++a) out->normal[a] = (float)vector[0][a];
    out->thickness = (float)sqrt(fmax(0, value[0]));
    out->flat = value[1] > 1e-3 * value[2] && value[0] < FLAT * FLAT * value[1];
}

static const fitness_plane *plane_of(const fitness_side *s, size_t k) {
    if (!s->plane[k].known) find_plane(s, k, &s->plane[k]);
    return &s->plane[k];
}

/* Of the samples, which are all different points. */
static void find_planes(void *user, int64_t from, int64_t to, int32_t worker) {
    const fitness_side *s = user;
    (void)worker;
    for (int64_t k = from; k < to; ++k) plane_of(s, s->sample[k]);
}

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static double median(float *list, size_t n) {
    qsort(list, n, sizeof *list, ascending);
    return n ? (double)list[n / 2] : 0;
}

/* The share of the normals that lie along three directions, each the first of those that are left. */
static double along_three(float (*normal)[3], size_t count) {
    enum { DIRECTIONS = 3 };
    static const float ALONG = 0.966F; /* 15 degrees */
    size_t left = count;
    for (int k = 0; k < DIRECTIONS && left; ++k) {
        size_t best = 0, most = 0;
        for (size_t i = 0; i < left; i += left / 24 + 1) {
            size_t like = 0;
            for (size_t j = 0; j < left; ++j)
                like += fabsf(normal[i][0] * normal[j][0] + normal[i][1] * normal[j][1] + normal[i][2] * normal[j][2]) >
                        ALONG;
            if (like > most) most = like, best = i;
        }
        float of[3] = {normal[best][0], normal[best][1], normal[best][2]};
        size_t kept = 0;
        for (size_t j = 0; j < left; ++j)
            if (fabsf(of[0] * normal[j][0] + of[1] * normal[j][1] + of[2] * normal[j][2]) <= ALONG)
                memmove(normal[kept++], normal[j], sizeof *normal);
        left = kept;
    }
    return count ? 1 - (double)left / (double)count : 0;
}

static void side_free(fitness_side *s, const atn_ctx *ctx) {
    cloud_points_free(&s->points);
    cloud_grid_free(s->grid);
    atn_free(ctx, s->plane);
    atn_free(ctx, s->sample);
    atn_free(ctx, s->wall);
    *s = (fitness_side){0};
}

/* Planes of so many neighbours, and what the samples come to. */
static void survey(fitness_side *s, size_t neighbours) {
    float list[SAMPLES], normal[SAMPLES][3];
    size_t n = 0;
    s->neighbours = neighbours;
    memset(s->plane, 0, s->points.count * sizeof *s->plane);
    atn_parallel((int64_t)s->samples, 32, find_planes, s);
    for (size_t k = 0; k < s->samples; ++k) list[k] = plane_of(s, s->sample[k])->reach;
    s->spacing = median(list, s->samples);
    for (size_t k = 0; k < s->samples; ++k) list[k] = plane_of(s, s->sample[k])->sixth;
    s->sixth = median(list, s->samples);
    for (size_t k = 0; k < s->samples; ++k) {
        const fitness_plane *plane = plane_of(s, s->sample[k]);
        if (!plane->flat) continue;
        memcpy(normal[n], plane->normal, sizeof *normal);
        list[n++] = plane->thickness;
    }
    s->planar = along_three(normal, n);
    s->flat = s->samples ? (double)n / (double)s->samples : 0;
    s->noise = median(list, n);
}

/* Takes the points over. */
static atn_status describe(cloud_points *points, fitness_side *s) {
    const atn_ctx *ctx = points->ctx;
    *s = (fitness_side){.points = *points, .samples = points->count < SAMPLES ? points->count : SAMPLES};
    *points = (cloud_points){0};
    s->sample = atn_alloc(ctx, SAMPLES * sizeof *s->sample);
    s->wall = atn_zalloc(ctx, SAMPLES * sizeof *s->wall);
    s->plane = atn_alloc(ctx, (s->points.count + 1) * sizeof *s->plane);
    atn_status status = s->sample && s->wall && s->plane ? cloud_grid_make(&s->points, 0, &s->grid) : ATN_ERR_MEMORY;
    if (status != ATN_OK) return status;
    atn_random random;
    atn_random_seed(&random, 5);
    for (size_t k = 0; k < s->samples; ++k) { /* one by chance out of each run of the array */
        size_t first = s->points.count * k / s->samples, last = s->points.count * (k + 1) / s->samples;
        s->sample[k] = (uint32_t)(first + atn_random_below(&random, last - first));
    }
    survey(s, NEIGHBOURS);
    return ATN_OK;
}

/* Into the frame inside, without points that weigh nothing. */
static atn_status inside(const cloud_points *p, const double origin[3], double unit, cloud_points *out) {
    size_t n = 0;
    atn_status status = cloud_points_make(p->ctx, p->count, false, out);
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < p->count; ++k) {
        if (!(p->weight[k] > 0)) continue;
        for (int a = 0; a < 3; ++a) out->position[a][n] = (p->position[a][k] - origin[a]) / unit;
        out->weight[n++] = 1;
    }
    out->count = n;
    return ATN_OK;
}

/* The same from a level's points, which are in that frame. */
static atn_status inside_of(const reg_side *s, const atn_ctx *ctx, cloud_points *out) {
    size_t n = 0;
    atn_status status = cloud_points_make(ctx, s->padded, false, out);
    for (size_t r = 0; r < s->padded && status == ATN_OK; ++r) {
        if (!(s->weight[r] > 0)) continue;
        for (int a = 0; a < 3; ++a) out->position[a][n] = s->position[a][r];
        out->weight[n++] = 1;
    }
    if (status == ATN_OK) out->count = n;
    return status;
}

/* Points of the source or the target: those of a level where there are very many; else all, merged where they are many.
 */
static atn_status points_of(const reg_problem *p, bool target, cloud_points *out) {
    size_t all = target ? p->target.count : p->source.count;
    double edge = 0;
    cloud_points merged;
    for (int32_t k = 0; k + 1 < p->levels && p->parts == 1 && all > 2 * MOST_POINTS; ++k) {
        const reg_side *side = target ? &p->level[k].target : &p->level[k].source;
        if (side->count >= MOST_POINTS / 2) return inside_of(side, p->engine.ctx, out);
    }
    atn_status status =
        inside(target ? &p->target : &p->source, target ? p->target_origin : p->source_origin, p->unit, out);
    if (status == ATN_OK && out->count > MOST_POINTS) status = search_edge(out, MOST_POINTS / 3, &edge);
    if (status != ATN_OK || !(edge > 0)) return status;
    status = cloud_points_merge(out, edge, &merged);
    cloud_points_free(out);
    *out = merged;
    return status;
}

/* Without outliers, if that shows more planes. */
static atn_status without_outliers(const atn_ctx *ctx, fitness_side *side) {
    fitness_side other = {0};
    cloud_points some = {0};
    atn_status status = fitness_dense(side, &some);
    if (status == ATN_OK && some.count >= FEWEST_POINTS) status = describe(&some, &other);
    if (status == ATN_OK && other.flat > side->flat) {
        fitness_side last = *side;
        *side = other;
        other = last;
    }
    side_free(&other, ctx);
    cloud_points_free(&some);
    return status;
}

/* The smallest neighbourhoods that show surfaces; the smallest of all where none do. */
static void widen(fitness_side *s) {
    size_t best = s->neighbours;
    double flat = s->flat;
    for (size_t n = 2 * s->neighbours; flat < MOSTLY && n <= MOST_NEIGHBOURS && n * FEWEST_PLANES < s->points.count;
         n *= 2) {
        survey(s, n);
        if (s->flat > MUCH * flat && s->flat > HARDLY) best = n, flat = s->flat;
    }
    if (s->neighbours != best) survey(s, best);
}

static atn_status side_make(const reg_problem *p, bool target, fitness_side *out) {
    cloud_points all = {0};
    atn_status status = points_of(p, target, &all);
    if (status == ATN_OK) status = describe(&all, out);
    cloud_points_free(&all);
    if (status == ATN_OK && out->flat < MOSTLY && out->spacing > 0) status = without_outliers(p->engine.ctx, out);
    if (status == ATN_OK) widen(out);
    return status;
}

atn_status fitness_make(const reg_problem *p, fitness *out) {
    *out = (fitness){.ctx = p->engine.ctx};
    atn_status status = side_make(p, false, &out->side[0]);
    if (status == ATN_OK) status = side_make(p, true, &out->side[1]);
    for (int k = 0; k < 2 && status == ATN_OK; ++k) fitness_find_walls(&out->side[k]);
    out->solid = out->side[0].flat < HARDLY || out->side[1].flat < HARDLY;
    if (status != ATN_OK) fitness_free(out);
    return status;
}

void fitness_free(fitness *f) {
    for (int k = 0; k < 2; ++k) side_free(&f->side[k], f->ctx);
}

/* ---- both in a pose ---- */

/* A sample and where it is on the other cloud. */
typedef struct meeting {
    double y[3], n[3], height; /* in the other's frame; its normal; signed, over its plane */
    double miss;               /* (height / tolerance)^2, 1 at most */
    bool met, around, beside, on, same;
    bool detail;   /* a plane that belongs to no wall */
    bool at, over; /* of any sample but strays: within the sixth neighbour's distance, or above or below that */
} meeting;

/* Sample `k` of a side, moved into the other's frame. `solid`: distances of points alone count. */
static void meet(const fitness *f, int from, const reg_pose *pose, double scale, size_t k, meeting *m) {
    const fitness_side *mine = &f->side[from], *other = &f->side[1 - from];
    const fitness_plane *own = plane_of(mine, mine->sample[k]);
    double at[3], d2, reach = fmax(FARTHEST * other->spacing, OVER * (from ? scale : 1));
    uint32_t nearest;
    for (int a = 0; a < 3; ++a) at[a] = mine->points.position[a][mine->sample[k]];
    *m = (meeting){0};
    reg_pose_apply(pose, at, m->y);
    if (!cloud_grid_nearest(other->grid, m->y, 1, reach, &nearest, &d2)) return;
    const fitness_plane *plane = plane_of(other, nearest);
    double length = (double)plane->reach, sixth = (double)plane->sixth;
    m->met = d2 < length * length;
    m->same = d2 < SAME * SAME * sixth * sixth;
    if (f->solid) {
        m->beside = d2 < sixth * sixth;
        m->on = d2 < 0.25 * sixth * sixth;
        return;
    }
    if (!plane->flat) return; /* edges and strays say nothing */
    for (int a = 0; a < 3; ++a) {
        m->n[a] = (double)plane->normal[a];
        m->height += (m->y[a] - (double)plane->at[a]) * m->n[a];
    }
    double along2 = fmax(0, d2 - m->height * m->height);
    m->at = m->met && (double)own->reach < STRAY * mine->spacing;
    m->over = !m->met && along2 < length * length && (double)own->reach < STRAY * mine->spacing;
    if (!own->flat) return;
    m->detail = !mine->wall[k];
    double cosine = 0;
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) cosine += pose->a[3 * a + b] * (double)own->normal[b] / scale * m->n[a];
    double thickness = hypot((double)plane->thickness, scale * (double)own->thickness);
    double tolerance = TOLERANCE * thickness + ROUGHNESS * length;
    double most = fmax(FARTHEST * other->spacing, AROUND * (from ? scale : 1));
    m->around = along2 < length * length && d2 < most * most;
    m->beside = m->around && fabs(m->height) < fmax(BESIDE * tolerance, BESIDE_REACH * length);
    m->on = m->beside && fabs(m->height) < tolerance && fabs(cosine) > ALIKE;
    m->miss = m->on ? m->height * m->height / (tolerance * tolerance) : 1;
}

/* Information about the target's origin, of the samples on the surface; seen from the source's side it is turned. */
static void add_information(const meeting *m, const reg_pose *forward, int from, fitness_seen *s, double sums[36]) {
    double y[3], n[3], j[6];
    memcpy(y, m->y, sizeof y);
    memcpy(n, m->n, sizeof n);
    if (from == 1) { /* the plane is the source's */
        reg_pose_apply(forward, m->y, y);
        for (int a = 0; a < 3; ++a) {
            n[a] = 0;
            for (int b = 0; b < 3; ++b) n[a] += forward->a[3 * a + b] * m->n[b];
        }
    }
    j[0] = y[1] * n[2] - y[2] * n[1];
    j[1] = y[2] * n[0] - y[0] * n[2];
    j[2] = y[0] * n[1] - y[1] * n[0];
    memcpy(j + 3, n, sizeof n);
    for (int a = 0; a < 36; ++a) sums[a] += j[a / 6] * j[a % 6];
    for (int a = 0; a < 3; ++a) {
        s->centre[a] += y[a];
        s->size += y[a] * y[a];
    }
}

/* From twists about the origin to twists about the centre, rotations in units of 1 / size. */
static void centre_information(fitness_seen *s, const double sums[36]) {
    double n = (double)s->fits, move[36] = {0}, half[36], square = 0;
    if (!s->fits) return;
    for (int a = 0; a < 3; ++a) {
        s->centre[a] /= n;
        square += s->centre[a] * s->centre[a];
    }
    s->size = sqrt(fmax(s->size / n - square, 1e-300));
    /* J' = (J_w - c x n, J_v): rows of M J */
    const double *c = s->centre;
    const double cross[9] = {0, -c[2], c[1], c[2], 0, -c[0], -c[1], c[0], 0};
    for (int a = 0; a < 3; ++a) {
        move[7 * a] = 1 / s->size;
        move[7 * (3 + a)] = 1;
        for (int b = 0; b < 3; ++b) move[6 * a + 3 + b] = -cross[3 * a + b] / s->size;
    }
    for (int i = 0; i < 36; ++i) {
        half[i] = 0;
        for (int k = 0; k < 6; ++k) half[i] += move[i / 6 * 6 + k] * sums[6 * k + i % 6];
    }
    for (int i = 0; i < 36; ++i) {
        s->information[i] = 0;
        for (int k = 0; k < 6; ++k) s->information[i] += half[i / 6 * 6 + k] * move[i % 6 * 6 + k] / n;
    }
}

void fitness_look(const fitness *f, const reg_pose *pose, fitness_seen *out) {
    reg_pose ways[2] = {*pose};
    double sums[36] = {0}, on[2] = {0};
    float normal[SAMPLES][3];
    size_t normals = 0;
    size_t same = 0, met = 0, around = 0, over = 0, at_it = 0;
    *out = (fitness_seen){0};
    if (!reg_pose_invert(pose, &ways[1])) return;
    for (int from = 0; from < 2; ++from) {
        double scale = reg_pose_scale(&ways[from]);
        for (size_t k = 0; k < f->side[from].samples; ++k) {
            meeting m;
            meet(f, from, &ways[from], scale, k, &m);
            out->near += m.beside;
            same += m.same;
            met += m.met;
            around += m.around;
            over += m.over;
            at_it += m.at;
            out->detail += m.detail && m.at;
            out->missing += m.detail && m.over;
            if (m.beside) out->misfit += m.miss;
            if (!m.on) continue;
            ++on[from];
            if (f->solid) continue;
            add_information(&m, pose, from, out, sums);
            if (from == 0) /* of the other way round they are turned, and of the same surface */
                for (int a = 0; a < 3; ++a) normal[normals][a] = (float)m.n[a];
            normals += from == 0;
        }
        out->overlap[from] = on[from] / fmax(1, (double)f->side[from].samples);
    }
    out->fits = (size_t)(on[0] + on[1]);
    out->precision = (double)out->fits / fmax(1, (double)out->near);
    out->misfit /= fmax(1, (double)out->near);
    out->clear = (double)out->fits / fmax(1, (double)around);
    out->over = over;
    out->free = (double)at_it / fmax(1, (double)(at_it + over));
    out->same = (double)same / fmax(1, (double)met);
    out->identical = out->same > IDENTICAL && met >= FEWEST_SAME;
    out->planar = along_three(normal, normals);
    out->value = 0.5 * (out->overlap[0] + out->overlap[1]) * out->precision;
    if (!f->solid) out->value *= out->clear * out->clear;
    centre_information(out, sums);
}

/* One step from the samples of the source; false: they do not tell. */
static bool step(const fitness *f, const reg_pose *pose, reg_pose *out) {
    double h[36] = {0}, g[6] = {0}, inverse[36], twist[6], scale = reg_pose_scale(pose);
    for (size_t k = 0; k < f->side[0].samples; ++k) {
        meeting m;
        meet(f, 0, pose, scale, k, &m);
        if (!m.beside) continue;
        double w = m.on ? 1 : 0.1, j[6];
        j[0] = m.y[1] * m.n[2] - m.y[2] * m.n[1];
        j[1] = m.y[2] * m.n[0] - m.y[0] * m.n[2];
        j[2] = m.y[0] * m.n[1] - m.y[1] * m.n[0];
        memcpy(j + 3, m.n, sizeof m.n);
        for (int a = 0; a < 36; ++a) h[a] += w * j[a / 6] * j[a % 6];
        for (int a = 0; a < 6; ++a) g[a] -= w * m.height * j[a];
    }
    double trace = 0;
    for (int a = 0; a < 6; ++a) trace += h[7 * a];
    for (int a = 0; a < 6; ++a) h[7 * a] += 1e-3 * trace; /* what slides stays where it is */
    if (!(trace > 0) || !reg_invert_symmetric(6, h, inverse)) return false;
    for (int a = 0; a < 6; ++a) {
        twist[a] = 0;
        for (int b = 0; b < 6; ++b) twist[a] += inverse[6 * a + b] * g[b];
    }
    reg_pose by = reg_pose_exp(twist);
    *out = reg_pose_compose(&by, pose);
    return true;
}

void fitness_refine(const fitness *f, int steps, reg_pose *pose, fitness_seen *out) {
    reg_pose at = *pose, next;
    fitness_look(f, pose, out);
    if (f->solid) return;
    for (int k = 0; k < steps && step(f, &at, &next); ++k) {
        fitness_seen seen;
        fitness_look(f, &next, &seen);
        at = next;
        if (!(seen.value > out->value)) continue;
        *out = seen;
        *pose = next;
    }
}
