/* Samples of each cloud compared with the planes of the other, in a pose. A sample lies on the surface if it is within
 * 2.5 thicknesses of its plane (of both clouds) and the normals agree. Samples near the surface are within four times
 * that, or two spacings: of these a pose found by chance puts a fourth onto it or less, the right one nearly all. */
#include "apps/register/fitness.h"
#include "apps/register/fitness_normals.h"
#include "apps/register/gather.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "geom/eigen.h"

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

/* A sample and where it is on the other cloud. */
typedef struct meeting {
    double y[3], n[3], height; /* in the other's frame; its normal; signed, over its plane */
    double miss;               /* (height / tolerance)^2, 1 at most */
    bool met, around, beside, on, same;
    bool detail;   /* a plane that belongs to no wall */
    bool at, over; /* of any sample but strays: within the sixth neighbour's distance, or above or below that */
} meeting;

enum { NOBODY = -1, UNKNOWN = -2 }; /* instead of the nearest point: too far, not looked for yet */

/* The nearest point of a side, where it is not known. */
static bool find(const fitness_side *s, const double at[3], double reach, int32_t known, uint32_t *nearest,
                 double *d2) {
    if (known == UNKNOWN) return cloud_grid_nearest(s->grid, at, 1, reach, nearest, d2);
    *nearest = (uint32_t)known;
    *d2 = 0;
    for (int a = 0; a < 3 && known != NOBODY; ++a) {
        double d = s->points.position[a][known] - at[a];
        *d2 += d * d;
    }
    return known != NOBODY;
}

/* Sample `k` of a side, moved into the other's frame; `known`: the point there. `solid`: distances of points alone
 * count. */
static void meet(const fitness *f, int from, const geom_pose *pose, double scale, size_t k, int32_t known, meeting *m) {
    const fitness_side *mine = &f->side[from], *other = &f->side[1 - from];
    const fitness_plane *own = &mine->plane[mine->sample[k]];
    double at[3], d2, reach = fmax(FARTHEST * other->spacing, OVER * (from ? scale : 1));
    uint32_t nearest;
    for (int a = 0; a < 3; ++a) at[a] = mine->points.position[a][mine->sample[k]];
    *m = (meeting){0};
    geom_pose_apply(pose, at, m->y);
    if (!find(other, m->y, reach, known, &nearest, &d2)) return;
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
    double thickness = hypot((double)plane->thickness, scale * (double)own->thickness);
    double tolerance = TOLERANCE * thickness + ROUGHNESS * length;
    double most = fmax(FARTHEST * other->spacing, AROUND * (from ? scale : 1));
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
    for (int a = 0; a < 36; ++a) t->information[a] += j[a / 6] * j[a % 6];
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
    for (int a = 0; a < 36; ++a) t->h[a] += w * j[a / 6] * j[a % 6];
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
        for (size_t k = first; k < first + STRETCH && k < samples; k += l->every[side]) {
            meeting m;
            ++t->looked_at;
            int32_t known = l->nearest[side] ? (int32_t)l->nearest[side][k] : UNKNOWN;
            meet(l->f, side, &l->ways[side], l->scale[side], k, known, &m);
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

/* Where the source's samples pull a pose. */
typedef struct pull {
    double h[36], g[6];
} pull;

/* All stretches together, in their order; `normal` as far as they lie on the target. */
static void sum_up(const looking *l, tally *all, size_t on[2], size_t of[2], pull *by, fitness_normals *normal) {
    *all = (tally){.near = 0};
    *by = (pull){.g = {0}};
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

/* every: of the source's, the target's samples one in so many. nearest: to each of them, first those of the source, or
 * NULL. */
static void look_at(const fitness *f, const size_t every[2], const geom_pose *pose, const float *nearest,
                    fitness_seen *out, pull *by) {
    enum { EACH = 2 }; /* stretches that are worth a thread */
    looking l = {.f = f, .ways = {*pose}, .every = {every[0], every[1]}};
    for (int k = 0; k < 2 && nearest; ++k) l.nearest[k] = nearest + k * FITNESS_SAMPLES;
    tally all;
    fitness_normals normal;
    size_t on[2], of[2];
    *out = (fitness_seen){0};
    *by = (pull){.g = {0}};
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

static void look(const fitness *f, const geom_pose *pose, fitness_seen *out, pull *by) {
    look_at(f, (const size_t[2]){1, 1}, pose, NULL, out, by);
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
    for (int side = 0; side < 2; ++side)
        for (size_t k = 0; k < f->side[side].samples; ++k) {
            meeting m[2];
            for (int p = 0; p < 2; ++p) meet(f, side, &ways[p][side], scale[p][side], k, UNKNOWN, &m[p]);
            only[0] += m[0].over && !m[1].over;
            only[1] += m[1].over && !m[0].over;
        }
}

/* One step from where the source's samples pull; false: they do not tell. */
static bool step(const pull *by, const geom_pose *pose, geom_pose *out) {
    double h[36], inverse[36], twist[6], trace = 0;
    memcpy(h, by->h, sizeof h);
    for (int a = 0; a < 6; ++a) trace += h[7 * a];
    for (int a = 0; a < 6; ++a) h[7 * a] += 1e-3 * trace; /* what slides stays where it is */
    if (!(trace > 0) || !geom_invert_symmetric(6, h, inverse)) return false;
    for (int a = 0; a < 6; ++a) {
        twist[a] = 0;
        for (int b = 0; b < 6; ++b) twist[a] += inverse[6 * a + b] * by->g[b];
    }
    geom_pose change = geom_pose_exp(twist);
    *out = geom_pose_compose(&change, pose);
    return true;
}

void fitness_refine(const fitness *f, int steps, geom_pose *pose, fitness_seen *out) {
    geom_pose at = *pose, next;
    pull by;
    look(f, pose, out, &by);
    if (f->solid) return;
    for (int k = 0; k < steps && step(&by, &at, &next); ++k) {
        fitness_seen seen;
        look(f, &next, &seen, &by);
        at = next;
        if (!(seen.value > out->value)) continue;
        *out = seen;
        *pose = next;
    }
}

static const double NEAR = 0.5;  /* of `worth`: values of few samples scatter by a fifth or so */
static const double GAINS = 0.1; /* of `worth`, in a step that leads somewhere */

/* Does one in four of the samples say that refining brings a pose nowhere near `worth`? */
static bool is_hopeless(const fitness *f, int steps, double worth, const geom_pose *pose) {
    enum { ENOUGH = 200 };
    size_t every[2];
    geom_pose at = *pose, next;
    fitness_seen seen;
    pull by;
    for (int k = 0; k < 2; ++k) every[k] = f->side[k].samples < ENOUGH ? 1 : f->side[k].samples / ENOUGH;
    look_at(f, every, &at, NULL, &seen, &by);
    for (int k = 0; k < steps && seen.value < NEAR * worth && step(&by, &at, &next); ++k) {
        if (seen.value < k * GAINS * worth) return true;
        at = next;
        look_at(f, every, &at, NULL, &seen, &by);
    }
    return seen.value < NEAR * worth;
}

/* Poses by all cores, each by one, where there are many; else one after the other, each by all. */
typedef struct refining {
    const fitness *f;
    int steps;
    double worth;
    geom_pose *pose;
    fitness_seen *seen;
} refining;

static void refine_some(void *user, int64_t from, int64_t to) {
    const refining *t = user;
    for (int64_t k = from; k < to; ++k)
        if (t->worth > 0 && !t->f->solid && is_hopeless(t->f, t->steps, t->worth, &t->pose[k]))
            t->seen[k] = (fitness_seen){0};
        else
            fitness_refine(t->f, t->steps, &t->pose[k], &t->seen[k]);
}

/* ---- together with other pairs ---- */

_Static_assert((int)REG_LOOKS_SAMPLES == (int)FITNESS_SAMPLES, "a row has a place for each sample");

/* Planes and samples of both clouds, for the device: once for all looks. */
static bool keep(const fitness *f) {
    fitness_kept *out = f->kept;
    if (!f->client || f->solid || !out) return false;
    if (out->there) return true;
    size_t points = f->side[0].points.count + f->side[1].points.count,
           samples = f->side[0].samples + f->side[1].samples;
    int32_t base = 0;
    float *room = reg_gather_room(f->client, REG_GATHER_LOOKS, REG_LOOKS_PLANE * points + samples, &base), *to = room;
    for (int side = 0; side < 2 && room; ++side) {
        const fitness_side *s = &f->side[side];
        size_t n = s->points.count;
        out->cloud[side] = base + (int32_t)(to - room);
        for (size_t k = 0; k < n; ++k, ++to) {
            const fitness_plane plane = fitness_plane_of(s, k);
            for (int a = 0; a < 3; ++a) {
                to[(size_t)a * n] = (float)s->points.position[a][k];
                to[(size_t)(3 + a) * n] = plane.at[a];
                to[(size_t)(6 + a) * n] = plane.flat ? plane.normal[a] : 0;
            }
            to[9 * n] = plane.thickness;
            to[10 * n] = plane.reach;
            to[11 * n] = plane.flat ? 1 : 0;
        }
        to += (REG_LOOKS_PLANE - 1) * n;
        out->sample[side] = base + (int32_t)(to - room);
        for (size_t k = 0; k < s->samples; ++k) *to++ = (float)s->sample[k];
    }
    out->there = room != NULL;
    return out->there;
}

/* A pose, seen from one side. */
static void describe_item(const fitness *f, int from, const geom_pose *way, float item[REG_LOOKS_ITEM],
                          int32_t place[REG_GATHER_PLACE]) {
    const fitness_kept *t = f->kept;
    const fitness_side *mine = &f->side[from], *other = &f->side[1 - from];
    double scale = geom_pose_scale(way), by = from ? scale : 1;
    double reach = fmax(FARTHEST * other->spacing, OVER * by), most = fmax(FARTHEST * other->spacing, AROUND * by);
    for (int i = 0; i < 9; ++i) item[i] = (float)way->a[i];
    for (int i = 0; i < 3; ++i) item[9 + i] = (float)way->b[i];
    item[12] = (float)scale;
    item[13] = (float)(reach * reach);
    item[14] = (float)(most * most);
    item[15] = from ? 0 : 1;
    const int32_t all[REG_GATHER_PLACE] = {
        t->cloud[from],  t->cloud[1 - from],    (int32_t)mine->points.count, (int32_t)other->points.count,
        t->sample[from], (int32_t)mine->samples};
    memcpy(place, all, sizeof all);
}

/* What both sides of a pose come to, and where the source's samples pull it. */
static void take_sums(const fitness *f, const float *source, const float *target, fitness_seen *out, pull *by) {
    double on[2] = {(double)source[0], (double)target[0]}, near = (double)source[1] + (double)target[1];
    double about = (double)source[2] + (double)target[2], fits = on[0] + on[1];
    int at = 3;
    for (int i = 0; i < 6; ++i)
        for (int j = i; j < 6; ++j) by->h[6 * i + j] = by->h[6 * j + i] = (double)source[at++];
    for (int i = 0; i < 6; ++i) by->g[i] = (double)source[at++];
    *out = (fitness_seen){.near = (size_t)near, .fits = (size_t)fits};
    for (int k = 0; k < 2; ++k) out->overlap[k] = on[k] / fmax(1, (double)f->side[k].samples);
    out->precision = fits / fmax(1, near);
    out->misfit = ((double)source[30] + (double)target[30]) / fmax(1, near);
    out->clear = fits / fmax(1, about);
    out->value = 0.5 * (out->overlap[0] + out->overlap[1]) * out->precision * out->clear * out->clear;
}

/* Poses on their way; those that go no farther are not asked for any more. */
typedef struct wanderer {
    geom_pose at;
    pull by;
    size_t index; /* among those that are refined */
} wanderer;

/* What is asked of poses, from either side. */
typedef struct asked {
    float item[REG_LOOKS_MOST][REG_LOOKS_ITEM];
    int32_t place[REG_LOOKS_MOST][REG_GATHER_PLACE];
} asked;

static bool describe(const fitness *f, size_t k, const geom_pose *pose, asked *out) {
    geom_pose back;
    if (!geom_pose_invert(pose, &back)) return false;
    describe_item(f, 0, pose, out->item[2 * k], out->place[2 * k]);
    describe_item(f, 1, &back, out->item[2 * k + 1], out->place[2 * k + 1]);
    return true;
}

/* What all of them come to; false: the device did not say. */
static bool look_together(const fitness *f, size_t count, wanderer *w, fitness_seen *seen) {
    asked all = {.item = {{0}}};
    float sum[REG_LOOKS_MOST][REG_LOOKS_SUMS];
    for (size_t k = 0; k < count; ++k)
        if (!describe(f, k, &w[k].at, &all)) return false;
    if (!reg_gather_run(f->client, REG_GATHER_LOOKS, 2 * count, all.item[0], all.place[0], sum[0])) return false;
    for (size_t k = 0; k < count; ++k) take_sums(f, sum[2 * k], sum[2 * k + 1], &seen[k], &w[k].by);
    return true;
}

bool fitness_glance(const fitness *f, size_t count, const geom_pose *pose, fitness_seen *out) {
    wanderer w[FITNESS_GLANCES];
    if (count == 0 || count > FITNESS_GLANCES || !keep(f)) return false;
    for (size_t k = 0; k < count; ++k) w[k] = (wanderer){.at = pose[k]};
    return look_together(f, count, w, out);
}

/* The points that are nearest to all samples, each pose's behind each other; false: the host has to look for them. */
static bool find_together(const fitness *f, size_t count, const geom_pose *pose, float *nearest) {
    asked all = {.item = {{0}}};
    if (!keep(f)) return false;
    for (size_t k = 0; k < count; ++k)
        if (!describe(f, k, &pose[k], &all)) return false;
    return reg_gather_run(f->client, REG_GATHER_NEAREST, 2 * count, all.item[0], all.place[0], nearest);
}

/* At most FITNESS_GLANCES poses. */
static void look_at_all(const fitness *f, size_t count, const geom_pose *pose, fitness_seen *out) {
    float nearest[FITNESS_GLANCES][2 * FITNESS_SAMPLES];
    pull by;
    bool found = find_together(f, count, pose, nearest[0]);
    for (size_t k = 0; k < count; ++k)
        look_at(f, (const size_t[2]){1, 1}, &pose[k], found ? nearest[k] : NULL, &out[k], &by);
}

void fitness_look(const fitness *f, const geom_pose *pose, fitness_seen *out) { look_at_all(f, 1, pose, out); }

/* A pose that is refined. */
typedef struct refined {
    geom_pose at; /* where it fits best, */
    double best;  /* and how well */
    bool doubted; /* whether it comes near what is worth it */
} refined;

/* Behind each step; false: it leads nowhere. */
static bool goes_on(refined *r, int round, double worth, double value, const geom_pose *at) {
    if (value > r->best) r->best = value, r->at = *at;
    if (value >= NEAR * worth) r->doubted = false;
    return !r->doubted || value >= round * GAINS * worth;
}

/* fitness_refine of all poses, a step of each at a time; the best of each is then looked at by the host. False: nothing
 * was done. */
static bool refine_together(const fitness *f, int steps, double worth, size_t count, geom_pose *pose,
                            fitness_seen *out) {
    wanderer w[FITNESS_GLANCES];
    refined r[FITNESS_GLANCES];
    fitness_seen seen[FITNESS_GLANCES];
    geom_pose best[FITNESS_GLANCES];
    size_t left = count, sure = 0;
    if (count == 0 || count > FITNESS_GLANCES || !keep(f)) return false;
    for (size_t k = 0; k < count; ++k) {
        w[k] = (wanderer){.at = pose[k], .index = k};
        r[k] = (refined){.at = pose[k], .best = -1, .doubted = worth > 0};
    }
    for (int round = 0; left; ++round) {
        size_t kept_on = 0;
        if (!look_together(f, left, w, seen)) return false;
        for (size_t k = 0; k < left; ++k) {
            geom_pose next;
            if (!goes_on(&r[w[k].index], round, worth, seen[k].value, &w[k].at) || round == steps ||
                !step(&w[k].by, &w[k].at, &next))
                continue;
            w[kept_on] = w[k];
            w[kept_on++].at = next;
        }
        left = kept_on;
    }
    for (size_t k = 0; k < count; ++k) {
        pose[k] = r[k].at;
        if (!r[k].doubted) best[sure++] = pose[k];
    }
    look_at_all(f, sure, best, seen);
    for (size_t k = count; k-- > 0;) out[k] = r[k].doubted ? (fitness_seen){0} : seen[--sure];
    return true;
}

void fitness_refine_all(const fitness *f, int steps, double worth, size_t count, geom_pose *pose, fitness_seen *out) {
    refining t = {f, steps, worth, pose, out};
    if (refine_together(f, steps, worth, count, pose, out)) return;
    if (2 * (int64_t)count >= atn_parallel_workers())
        atn_parallel_pieces((int64_t)count, refine_some, &t);
    else
        refine_some(&t, 0, (int64_t)count);
}
