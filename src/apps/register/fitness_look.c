/* Samples of each cloud compared with the planes of the other, in a pose. A sample lies on the surface if it is within
 * 2.5 thicknesses of its plane (of both clouds) and the normals agree. Samples near the surface are within four times
 * that, or two spacings: of these a pose found by chance puts a fourth onto it or less, the right one nearly all. */
#include "apps/register/fitness_parts.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

static const double IDENTICAL = 0.5; /* share at the very place from which on points are the same */
enum { FEWEST_SAME = 12 };
static const double FARTHEST = 6;     /* spacings that are looked at in any case */
static const double AROUND = 0.1;     /* of the target's radius: over the surface */
static const double OVER = 0.3;       /* likewise, for samples that are no planes too */
static const double STRAY = 2;        /* spacings to the sixth neighbour, from which on a sample belongs to nothing */
static const double TOLERANCE = 2.5;  /* thicknesses that a sample may be off */
static const double ROUGHNESS = 0.08; /* and that share of the sixth neighbour's distance: scanners are not exact */
static const double BESIDE = 4;       /* tolerances that are beside the surface, */
static const double BESIDE_REACH = 1.25; /* or so many distances of the sixth neighbour */
static const double ALIKE = 0.85;        /* least cosine of normals */
static const double SAME = 0.15;         /* of the sixth neighbour's distance: the same point */

double fitness_reach(const fitness_side *other, double by) { return fmax(FARTHEST * other->spacing, OVER * by); }

double fitness_about(const fitness_side *other, double by) { return fmax(FARTHEST * other->spacing, AROUND * by); }

/* A sample and where it is on the other cloud. */
typedef struct meeting {
    double y[3], n[3], height; /* in the other's frame; its normal; signed, over its plane */
    double miss;               /* (height / tolerance)^2, 1 at most */
    bool met, around, beside, on, same;
    bool detail;   /* a plane that belongs to no wall */
    bool at, over; /* of any sample but strays: within the sixth neighbour's distance, or above or below that */
} meeting;

/* What is known of the point that is nearest to a sample. */
typedef struct hint {
    int32_t point; /* it, or one that may be near it; FITNESS_NOBODY: too far, or none is known */
    bool sure;     /* the former */
} hint;

static double distance2_to(const fitness_side *s, int32_t point, const double at[3]) {
    double d[3];
    for (int a = 0; a < 3; ++a) d[a] = s->points.position[a][point] - at[a];
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* The nearest point of a side. */
static bool find(const fitness_side *s, const double at[3], double reach, const hint *known, uint32_t *nearest,
                 double *d2) {
    if (known->point != FITNESS_NOBODY) {
        *nearest = (uint32_t)known->point;
        *d2 = distance2_to(s, known->point, at);
        if (known->sure) return true;
        if (*d2 <= reach * reach) {
            cloud_grid_nearer(s->grid, at, nearest, d2);
            return true;
        }
    }
    return !known->sure && cloud_grid_nearest(s->grid, at, 1, reach, nearest, d2);
}

/* Sample `k` of a side, moved into the other's frame; `known` becomes the point there, if there is one. `solid`:
 * distances of points alone count. */
static void meet(const fitness *f, int from, const geom_pose *pose, double scale, size_t k, hint *known, meeting *m) {
    const fitness_side *mine = &f->side[from], *other = &f->side[1 - from];
    const fitness_plane *own = &mine->plane[mine->sample[k]];
    double at[3], d2, reach = fitness_reach(other, from ? scale : 1);
    uint32_t nearest;
    for (int a = 0; a < 3; ++a) at[a] = mine->points.position[a][mine->sample[k]];
    *m = (meeting){0};
    geom_pose_apply(pose, at, m->y);
    if (!find(other, m->y, reach, known, &nearest, &d2)) return;
    known->point = (int32_t)nearest;
    const fitness_plane there = fitness_plane_of(other, nearest), *plane = &there;
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
    double thick[2] = {(double)plane->thickness, scale * (double)own->thickness};
    double thickness = sqrt(thick[0] * thick[0] + thick[1] * thick[1]);
    double tolerance = TOLERANCE * thickness + ROUGHNESS * length;
    double most = fitness_about(other, from ? scale : 1);
    m->around = along2 < length * length && d2 < most * most;
    m->beside = m->around && fabs(m->height) < fmax(BESIDE * tolerance, BESIDE_REACH * length);
    m->on = m->beside && fabs(m->height) < tolerance && fabs(cosine) > ALIKE;
    m->miss = m->on ? m->height * m->height / (tolerance * tolerance) : 1;
}

/* What some samples of a side come to; sums are about the target's origin. */
enum { STRETCH = 50, STRETCHES = FITNESS_SAMPLES / STRETCH };
typedef struct tally {
    size_t looked_at; /* samples */
    size_t near, same, met, around, over, at, detail, missing, on;
    double misfit;
    double centre[3], size, information[36]; /* of those on the surface */
    double h[36], g[6];                      /* of those beside it: where they pull the pose; of the source's alone */
    float normal[STRETCH][3];                /* of the target, under those of the source on it */
    size_t normals;
} tally;

typedef struct looking {
    const fitness *f;
    geom_pose ways[2]; /* from the source, from the target */
    double scale[2];
    size_t every[2];         /* one in so many samples is looked at */
    const float *nearest[2]; /* of each sample the point there, or NULL */
    fitness_hints *hints;    /* the points there in a pose nearby, or NULL; they become those of this one */
    tally of[2][STRETCHES];
} looking;

/* J J^T and where it is, of a sample on the surface; seen from the source's side it is turned. */
static void add_information(const meeting *m, const geom_pose *forward, int from, tally *t) {
    double y[3], n[3], j[6];
    memcpy(y, m->y, sizeof y);
    memcpy(n, m->n, sizeof n);
    if (from == 1) { /* the plane is the source's */
        geom_pose_apply(forward, m->y, y);
        for (int a = 0; a < 3; ++a) {
            n[a] = 0;
            for (int b = 0; b < 3; ++b) n[a] += forward->a[3 * a + b] * m->n[b];
        }
    }
    j[0] = y[1] * n[2] - y[2] * n[1];
    j[1] = y[2] * n[0] - y[0] * n[2];
    j[2] = y[0] * n[1] - y[1] * n[0];
    memcpy(j + 3, n, sizeof n);
    for (int a = 0; a < 6; ++a)
        for (int b = 0; b < 6; ++b) t->information[6 * a + b] += j[a] * j[b];
    for (int a = 0; a < 3; ++a) {
        t->centre[a] += y[a];
        t->size += y[a] * y[a];
    }
}

static void add_pull(const meeting *m, tally *t) {
    double w = m->on ? 1 : 0.1, j[6];
    j[0] = m->y[1] * m->n[2] - m->y[2] * m->n[1];
    j[1] = m->y[2] * m->n[0] - m->y[0] * m->n[2];
    j[2] = m->y[0] * m->n[1] - m->y[1] * m->n[0];
    memcpy(j + 3, m->n, sizeof m->n);
    for (int a = 0; a < 6; ++a)
        for (int b = 0; b < 6; ++b) t->h[6 * a + b] += w * j[a] * j[b];
    for (int a = 0; a < 6; ++a) t->g[a] -= w * m->height * j[a];
}

static void add_meeting(const meeting *m, const looking *l, int from, tally *t) {
    t->near += m->beside;
    t->same += m->same;
    t->met += m->met;
    t->around += m->around;
    t->over += m->over;
    t->at += m->at;
    t->detail += m->detail && m->at;
    t->missing += m->detail && m->over;
    t->on += m->on;
    if (m->beside) t->misfit += m->miss;
    if (m->beside && from == 0) add_pull(m, t);
    if (!m->on || l->f->solid) return;
    add_information(m, &l->ways[0], from, t);
    if (from == 1) return; /* of the other way round they are turned, and of the same surface */
    for (int a = 0; a < 3; ++a) t->normal[t->normals][a] = (float)m->n[a];
    ++t->normals;
}

/* Stretches of the source's samples, then of the target's. */
static void look_some(void *user, int64_t from, int64_t to) {
    looking *l = user;
    for (int64_t piece = from; piece < to; ++piece) {
        int side = piece >= STRETCHES;
        size_t first = (size_t)(piece % STRETCHES) * STRETCH, samples = l->f->side[side].samples;
        tally *t = &l->of[side][piece % STRETCHES];
        *t = (tally){.near = 0};
        const float *nearest = l->nearest[side];
        hint known = {.point = FITNESS_NOBODY, .sure = nearest != NULL};
        for (size_t k = first; k < first + STRETCH && k < samples; k += l->every[side]) {
            int32_t *last = l->hints ? &l->hints->point[side][k] : NULL;
            meeting m;
            ++t->looked_at;
            if (nearest) known.point = (int32_t)nearest[k];
            if (last && *last != FITNESS_NOBODY) known.point = *last; /* else that of the sample before it */
            meet(l->f, side, &l->ways[side], l->scale[side], k, &known, &m);
            if (last) *last = known.point;
            add_meeting(&m, l, side, t);
        }
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

/* All stretches together, in their order; `normal` as far as they lie on the target. */
static void sum_up(const looking *l, tally *all, size_t on[2], size_t of[2], fitness_pull *by,
                   fitness_normals *normal) {
    *all = (tally){.near = 0};
    *by = (fitness_pull){.g = {0}};
    normal->count = on[0] = on[1] = of[0] = of[1] = 0;
    for (int k = 0; k < 2 * STRETCHES; ++k) {
        const tally *t = &l->of[k / STRETCHES][k % STRETCHES];
        on[k / STRETCHES] += t->on;
        of[k / STRETCHES] += t->looked_at;
        all->near += t->near, all->same += t->same, all->met += t->met, all->around += t->around;
        all->over += t->over, all->at += t->at, all->detail += t->detail, all->missing += t->missing;
        all->misfit += t->misfit;
        all->size += t->size;
        for (int a = 0; a < 3; ++a) all->centre[a] += t->centre[a];
        for (int a = 0; a < 36; ++a) all->information[a] += t->information[a], by->h[a] += t->h[a];
        for (int a = 0; a < 6; ++a) by->g[a] += t->g[a];
        for (size_t i = 0; i < t->normals; ++i) fitness_normals_add(normal, t->normal[i]);
    }
}

void fitness_look_at(const fitness *f, const size_t every[2], const geom_pose *pose, const float *nearest,
                     fitness_hints *hints, fitness_seen *out, fitness_pull *by) {
    enum { EACH = 2 }; /* stretches that are worth a thread */
    looking l = {.f = f, .ways = {*pose}, .every = {every[0], every[1]}, .hints = hints};
    for (int k = 0; k < 2 && nearest; ++k) l.nearest[k] = nearest + k * FITNESS_SAMPLES;
    tally all;
    fitness_normals normal;
    size_t on[2], of[2];
    *out = (fitness_seen){0};
    *by = (fitness_pull){.g = {0}};
    if (!geom_pose_invert(pose, &l.ways[1])) return;
    for (int k = 0; k < 2; ++k) l.scale[k] = geom_pose_scale(&l.ways[k]);
    atn_parallel(2 * STRETCHES, EACH, look_some, &l);
    sum_up(&l, &all, on, of, by, &normal);
    for (int k = 0; k < 2; ++k) out->overlap[k] = (double)on[k] / fmax(1, (double)of[k]);
    out->fits = on[0] + on[1];
    out->near = all.near;
    out->detail = all.detail;
    out->missing = all.missing;
    out->over = all.over;
    out->precision = (double)out->fits / fmax(1, (double)out->near);
    out->misfit = all.misfit / fmax(1, (double)out->near);
    out->clear = (double)out->fits / fmax(1, (double)all.around);
    out->free = (double)all.at / fmax(1, (double)(all.at + all.over));
    out->same = (double)all.same / fmax(1, (double)all.met);
    out->identical = out->same > IDENTICAL && all.met >= FEWEST_SAME;
    out->planar = fitness_normals_along_three(&normal);
    out->value = 0.5 * (out->overlap[0] + out->overlap[1]) * out->precision;
    if (!f->solid) out->value *= out->clear * out->clear;
    memcpy(out->centre, all.centre, sizeof out->centre);
    out->size = all.size;
    centre_information(out, all.information);
}

typedef struct asking {
    const fitness *f;
    geom_pose ways[2];
    const atomic_bool *over;
} asking;

static void ask_some(void *user, int64_t from, int64_t to) {
    const asking *t = user;
    for (int64_t piece = from; piece < to && !atomic_load(t->over); ++piece) {
        size_t stretch = (size_t)(2 * STRETCHES - 1 - piece);
        int side = stretch >= STRETCHES;
        const fitness_side *mine = &t->f->side[side], *other = &t->f->side[1 - side];
        size_t first = stretch % STRETCHES * STRETCH;
        for (size_t k = first; k < first + STRETCH && k < mine->samples; ++k) {
            double at[3], y[3], d2;
            uint32_t nearest;
            for (int a = 0; a < 3; ++a) at[a] = mine->points.position[a][mine->sample[k]];
            geom_pose_apply(&t->ways[side], at, y);
            if (cloud_grid_nearest(other->grid, y, 1, FARTHEST * other->spacing, &nearest, &d2))
                (void)fitness_plane_of(other, nearest);
        }
    }
}

void fitness_ask(const fitness *f, const geom_pose *pose, const atomic_bool *over) {
    asking t = {f, {*pose}, over};
    if (geom_pose_invert(pose, &t.ways[1])) atn_parallel_pieces(2 * STRETCHES, ask_some, &t);
}

void fitness_over(const fitness *f, const geom_pose *here, const geom_pose *there, size_t only[2]) {
    const geom_pose *forward[2] = {here, there};
    geom_pose ways[2][2];
    double scale[2][2];
    only[0] = only[1] = 0;
    for (int p = 0; p < 2; ++p) {
        ways[p][0] = *forward[p];
        if (!geom_pose_invert(forward[p], &ways[p][1])) return;
        for (int side = 0; side < 2; ++side) scale[p][side] = geom_pose_scale(&ways[p][side]);
    }
    for (int side = 0; side < 2; ++side) {
        hint known = {.point = FITNESS_NOBODY};
        for (size_t k = 0; k < f->side[side].samples; ++k) {
            meeting m[2];
            for (int p = 0; p < 2; ++p) meet(f, side, &ways[p][side], scale[p][side], k, &known, &m[p]);
            only[0] += m[0].over && !m[1].over;
            only[1] += m[1].over && !m[0].over;
        }
    }
}
