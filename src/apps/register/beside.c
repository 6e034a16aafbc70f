/* Host threads that run concurrently with the caller if the device is not the host, whose cores would be idle. On the
 * host itself, all cores do the work when it is requested. */
#include "apps/register/beside.h"

#include "apps/register/judge.h"
#include "apps/register/search.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

/* The first step waits for the scene, and for the planes only the verdict does. Where a GPU is done soon, everything
 * waits for the host, which has more cores than these where it has many. */
enum { SCENE_THREADS = 2, MANY_SCENE_THREADS = 6, FITNESS_THREADS = 1, MANY_FITNESS_THREADS = 2 };

/* Of the cores that are left: no more threads at a time than cores, since one that finds its core busy keeps all others
 * of its loop waiting. 10,000 points on 16 cores, six left: 8.6 to 8.9 ms in the median with three threads for the
 * scene and then for rivals and two for the planes; 9.2 to 12.4 with four and one, and six for the verdict. */
static int32_t half_of(int32_t spare) { return spare / 2; }
static int32_t third_of(int32_t spare) { return spare < 6 ? 1 : spare / 3; }

/* Loops of the host are few where another device takes the steps. */
static int32_t planes_by(const reg_problem *p) { return p->engine.remote ? half_of(p->spare) : third_of(p->spare); }

static void make_scene(void *user) {
    reg_problem *p = user;
    p->scene_status = reg_scene_make(&p->source, &p->target, p->settings->transform != ATN_TRANSFORM_RIGID, &p->scene);
}

static void make_scene_early(void *user) {
    reg_problem *p = user;
    p->scene_status =
        reg_scene_make(&p->given[0], &p->given[1], p->settings->transform != ATN_TRANSFORM_RIGID, &p->scene);
}

void reg_scene_early(reg_problem *p) {
    if (p->spare) atn_aside_begin(p->engine.ctx, &p->scene_aside, make_scene_early, p, half_of(p->spare));
}

void reg_scene_end(reg_problem *p) {
    atn_aside_end(&p->scene_aside);
    reg_scene_free(p->scene);
    p->scene = NULL;
    p->scene_status = ATN_OK;
}

/* By all cores of the host: those that the scene leaves idle begin with the verdict's trees. */
static void make_scene_here(reg_problem *p) {
    bool early = !p->engine.remote && !p->fitness && fitness_may_be_early(p);
    if (early) p->fitness = atn_zalloc(p->engine.ctx, sizeof *p->fitness);
    if (early && !p->fitness) {
        p->scene_status = ATN_ERR_MEMORY;
        return;
    }
    if (!early) {
        make_scene(p);
        return;
    }
    fitness_early trees = {.p = p, .out = p->fitness};
    reg_meanwhile other = {fitness_begin_early, &trees, 2};
    p->scene_status =
        reg_scene_make_beside(&p->source, &p->target, p->settings->transform != ATN_TRANSFORM_RIGID, &other, &p->scene);
    atn_status status = fitness_end_early(&trees);
    if (p->scene_status == ATN_OK) p->scene_status = status;
}

/* Beside a GPU (16 cores, forty thousand points): registrations with loops of 16 threads took 28 to 32 ms in the median
 * and 145 at worst, since some of them waited for cores that other threads had; with those of 12 it was 21 to 23
 * and 25. */
int32_t reg_spare(const reg_engine *e, const atn_register_settings *s, const atn_cloud *source, const atn_cloud *target,
                  bool *here) {
    enum { FEW = 50000, MOST = 6, MOST_HERE = 10 };
    bool method = (s->method == ATN_REGISTER_EM_ICP || s->method == ATN_REGISTER_GICP) && !s->compat && !s->dense;
    bool few = method && source && cloud_count(source) <= FEW && cloud_count(target) <= FEW;
    *here = few && !reg_goes_to_device(e->device, s, cloud_count(source), cloud_count(target));
    int32_t cores = atn_parallel_workers(), some = *here ? (e->remote ? 5 : 3) * cores / 8 : cores / 4;
    int32_t most = *here && e->remote ? MOST_HERE : MOST;
    if (cores < ATN_PARALLEL_MANY || (!e->remote && !few)) return 0;
    return some < most ? some : most;
}

atn_status reg_scene_begin(reg_problem *p) {
    bool asked = p->settings->init == ATN_START_AUTO || p->settings->transform == ATN_TRANSFORM_RIGID;
    if (p->parts != 1 || !asked || (!p->on_device && !p->spare)) return ATN_OK;
    int32_t threads = p->on_device ? atn_parallel_some(SCENE_THREADS, MANY_SCENE_THREADS) : half_of(p->spare);
    if (!p->scene_aside.work) atn_aside_begin(p->engine.ctx, &p->scene_aside, make_scene, p, threads);
    return p->spare ? reg_fitness_begin(p) : ATN_OK;
}

atn_status reg_scene_ready(reg_problem *p) {
    atn_aside_end(&p->scene_aside);
    if (!p->scene && p->scene_status == ATN_OK) make_scene_here(p);
    if (p->scene) reg_scene_gather(p->scene, p->engine.client);
    return p->scene_status;
}

static void describe(void *user) {
    reg_problem *p = user;
    p->fitness_status = fitness_describe(p, p->fitness);
    atomic_store_explicit(&p->fitness_there, true, memory_order_release);
}

/* What is asked of the device comes first: only one thread talks to it. */
static atn_status choose(reg_problem *p) {
    if (!p->fitness) p->fitness = atn_zalloc(p->engine.ctx, sizeof *p->fitness);
    if (p->fitness) p->fitness->client = p->engine.client;
    return p->fitness ? fitness_choose(p, p->fitness) : ATN_ERR_MEMORY;
}

atn_status reg_fitness_begin(reg_problem *p) {
    char why[200];
    if (p->fitness || (!p->engine.remote && !p->spare) || p->parts != 1 || judge_degenerate(p, why, sizeof why))
        return ATN_OK;
    reg_span span = reg_begin(&p->engine);
    atn_status status = choose(p);
    if (status == ATN_OK)
        atn_aside_begin(p->engine.ctx, &p->fitness_aside, describe, p,
                        p->spare ? planes_by(p) : atn_parallel_some(FITNESS_THREADS, MANY_FITNESS_THREADS));
    reg_end(&p->engine, p->engine.remote ? REG_FETCH : REG_JUDGE, span); /* a level's points, mostly */
    return status;
}

atn_status reg_fitness_ready(reg_problem *p) {
    atn_aside_end(&p->fitness_aside);
    if (p->fitness_status == ATN_OK && !(p->fitness && p->fitness->described)) {
        p->fitness_status = choose(p);
        if (p->fitness_status == ATN_OK) describe(p);
    }
    if (p->fitness_status == ATN_OK) p->noise = hypot(p->fitness->side[0].noise, p->fitness->side[1].noise);
    return p->fitness_status;
}

/* ---- rivals ---- */

static const double NEXT_TO = 3; /* cubes of the scene that the answer moves the corners of the clouds by, at most */

typedef struct reg_rivals {
    const reg_problem *p;
    double answer[16], transform[REG_MOST_RIVALS][16];
    size_t count;
    bool begun;   /* with this run */
    bool fitness; /* is described, so that planes can be asked for where they will be */
    atn_status status;
} reg_rivals;

static void look_for_rivals(void *user) {
    reg_rivals *t = user;
    t->status = reg_scene_rivals(t->p->scene, t->answer, t->transform, &t->count);
    fitness_seen seen;
    if (t->status == ATN_OK && t->fitness) fitness_look(t->p->fitness, &t->p->around, &seen);
}

void reg_rivals_begin(reg_problem *p) {
    int32_t threads = p->spare ? half_of(p->spare) : MANY_FITNESS_THREADS;
    bool left = atn_parallel_left() >= threads;
    if (p->rivals) p->rivals->begun = false;
    if (!left || !p->scene || p->settings->transform != ATN_TRANSFORM_RIGID) return;
    if (!p->rivals && !(p->rivals = atn_zalloc(p->engine.ctx, sizeof *p->rivals))) return; /* later, then */
    *p->rivals = (reg_rivals){.p = p, .begun = true, .fitness = p->fitness && atn_aside_is_done(&p->fitness_aside)};
    if (p->rivals->fitness) p->rivals->fitness = reg_fitness_ready(p) == ATN_OK && p->fitness->described;
    reg_to_outside(p, &p->around, p->rivals->answer);
    atn_aside_begin(p->engine.ctx, &p->rivals_aside, look_for_rivals, p->rivals, threads);
}

void reg_rivals_end(reg_problem *p) { atn_aside_end(&p->rivals_aside); }

void reg_rivals_again(reg_problem *p) {
    reg_rivals_end(p);
    p->around = p->pose;
    if (p->rivals) p->rivals->begun = false;
    bool beside = (p->engine.remote || p->spare) && (p->scene || p->scene_aside.work);
    if (beside && reg_scene_ready(p) == ATN_OK) reg_rivals_begin(p);
}

atn_status reg_rivals_ready(reg_problem *p, double (*out)[16], size_t *count) {
    double answer[16];
    bool begun = p->rivals && p->rivals->begun;
    atn_status status = reg_scene_ready(p);
    reg_rivals_end(p);
    *count = 0;
    if (status != ATN_OK) return status;
    bool near = reg_motion(p, &p->around, &p->pose) * p->unit < NEXT_TO * reg_scene_grain(p->scene);
    if (begun && near) {
        *count = p->rivals->count;
        memcpy(out, p->rivals->transform, *count * sizeof *out);
        return p->rivals->status;
    }
    reg_to_outside(p, near ? &p->around : &p->pose, answer);
    return reg_scene_rivals(p->scene, answer, out, count);
}

void reg_beside_free(reg_problem *p) {
    atn_aside_end(&p->judge_aside);
    reg_rivals_end(p);
    atn_aside_end(&p->scene_aside);
    atn_aside_end(&p->fitness_aside);
    reg_scene_free(p->scene);
    if (p->fitness) fitness_free(p->fitness);
    atn_free(p->engine.ctx, p->fitness);
    atn_free(p->engine.ctx, p->rivals);
    p->rivals = NULL;
    p->scene = NULL;
    p->fitness = NULL;
}
