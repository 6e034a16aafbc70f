/* Poses that are refined towards the planes of both clouds: Gauss-Newton steps from where samples pull them, by the
 * host, or a step of each at a time, together with other pairs of a batch (programs/fitness_look_step.atn). */
#include "apps/register/fitness_parts.h"
#include "apps/register/gather.h"

#include "base/parallel.h"
#include "geom/eigen.h"

#include <math.h>
#include <string.h>

static void no_hints(fitness_hints *out) { memset(out, 0xff, sizeof *out); }

static void look(const fitness *f, const geom_pose *pose, fitness_hints *hints, fitness_seen *out, fitness_pull *by) {
    fitness_look_at(f, (const size_t[2]){1, 1}, pose, NULL, hints, out, by);
}

/* One step from where the source's samples pull; false: they do not tell. */
static bool step(const fitness_pull *by, const geom_pose *pose, geom_pose *out) {
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

static void refine(const fitness *f, int steps, geom_pose *pose, fitness_hints *hints, fitness_seen *out) {
    geom_pose at = *pose, next;
    fitness_pull by;
    look(f, pose, hints, out, &by);
    if (f->solid) return;
    for (int k = 0; k < steps && step(&by, &at, &next); ++k) {
        fitness_seen seen;
        look(f, &next, hints, &seen, &by);
        at = next;
        if (!(seen.value > out->value)) continue;
        *out = seen;
        *pose = next;
    }
}

void fitness_refine(const fitness *f, int steps, geom_pose *pose, fitness_seen *out) {
    fitness_hints hints;
    no_hints(&hints);
    refine(f, steps, pose, &hints, out);
}

static const double NEAR = 0.5;  /* of `worth`: values of few samples scatter by a fifth or so */
static const double GAINS = 0.1; /* of `worth`, in a step that leads somewhere */

/* Does one in four of the samples say that refining brings a pose nowhere near `worth`? */
static bool is_hopeless(const fitness *f, int steps, double worth, const geom_pose *pose, fitness_hints *hints) {
    enum { ENOUGH = 200 };
    size_t every[2];
    geom_pose at = *pose, next;
    fitness_seen seen;
    fitness_pull by;
    for (int k = 0; k < 2; ++k) every[k] = f->side[k].samples < ENOUGH ? 1 : f->side[k].samples / ENOUGH;
    fitness_look_at(f, every, &at, NULL, hints, &seen, &by);
    for (int k = 0; k < steps && seen.value < NEAR * worth && step(&by, &at, &next); ++k) {
        if (seen.value < k * GAINS * worth) return true;
        at = next;
        fitness_look_at(f, every, &at, NULL, hints, &seen, &by);
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
    for (int64_t k = from; k < to; ++k) {
        fitness_hints hints;
        no_hints(&hints);
        if (t->worth > 0 && !t->f->solid && is_hopeless(t->f, t->steps, t->worth, &t->pose[k], &hints))
            t->seen[k] = (fitness_seen){0};
        else
            refine(t->f, t->steps, &t->pose[k], &hints, &t->seen[k]);
    }
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
    double reach = fitness_reach(other, by), most = fitness_about(other, by);
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
static void take_sums(const fitness *f, const float *source, const float *target, fitness_seen *out, fitness_pull *by) {
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
    fitness_pull by;
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
    if (!reg_gather_run(f->client, REG_GATHER_LOOKS, 2 * count, all.item[0], all.place[0], REG_LOOKS_SUMS, sum[0]))
        return false;
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
    return reg_gather_run(f->client, REG_GATHER_NEAREST, 2 * count, all.item[0], all.place[0], FITNESS_SAMPLES,
                          nearest);
}

/* At most FITNESS_GLANCES poses. */
static void look_at_all(const fitness *f, size_t count, const geom_pose *pose, fitness_seen *out) {
    float nearest[FITNESS_GLANCES][2 * FITNESS_SAMPLES];
    fitness_pull by;
    bool found = find_together(f, count, pose, nearest[0]);
    for (size_t k = 0; k < count; ++k)
        fitness_look_at(f, (const size_t[2]){1, 1}, &pose[k], found ? nearest[k] : NULL, NULL, &out[k], &by);
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
