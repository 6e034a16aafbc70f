/* Host threads that run concurrently with the caller if the device is not the host, whose cores would be idle. On the
 * host itself, all cores do the work when it is requested. */
#include "apps/register/beside.h"

#include "apps/register/judge.h"
#include "apps/register/search.h"
#include "apps/register/seek.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

/* Threads beside a device, which sorts points and takes all steps. Of few points it is done soon, and loops leave most
 * cores: then shares of these, no more at a time than there are, since one that finds its core busy keeps all others of
 * its loop waiting, and those of the caller's loops wait busily. Else so many, of few cores or of many. */
typedef struct beside_threads {
    int32_t twelfths, few, many;
} beside_threads;
static const beside_threads SCENE = {8, 2, 6}, FITNESS = {4, 1, 2}, RIVALS = {4, 2, 2}, JUDGE = {6, 2, 6};
enum { ENOUGH = ATN_PARALLEL_MANY / 2 + 1 };

static int32_t threads_of(beside_threads of) {
    int32_t left = atn_parallel_left();
    return left < ENOUGH ? atn_parallel_some(of.few, of.many) : left * of.twelfths / 12;
}

/* Beside the host itself. 10,000 points on 16 cores, six left: 8.6 to 8.9 ms in the median with three threads for the
 * scene and then for rivals and two for the planes; 9.2 to 12.4 with four and one, and six for the verdict. */
static int32_t half_of(int32_t spare) { return spare / 2; }
static int32_t third_of(int32_t spare) { return spare < 6 ? 1 : spare / 3; }
static int32_t most_of(int32_t spare) { return spare - spare / 6; }

/* Of few points on another device planes are waited for at the end, and loops leave most cores. */
static int32_t planes_by(const reg_problem *p) { return p->engine.remote ? half_of(p->spare) : third_of(p->spare); }

/* Beside another device's steps planes are still being made. */
static int32_t rivals_by(const reg_problem *p) { return p->engine.remote ? third_of(p->spare) : half_of(p->spare); }

/* Beside another device nearly nothing else is left to do then. */
int32_t reg_judge_threads(const reg_problem *p) {
    return !p->spare ? threads_of(JUDGE) : p->engine.remote ? most_of(p->spare) : half_of(p->spare);
}

/* Points as they come, or in order. */
static const cloud_points *points_of(const reg_problem *p, int target) {
    return p->as_given ? &p->given[target] : target ? &p->target : &p->source;
}

static void make_scene(reg_problem *p) {
    p->scene_status = reg_scene_make(points_of(p, 0), points_of(p, 1), p->settings->transform != ATN_TRANSFORM_RIGID,
                                     p->engine.client, &p->scene);
}

/* With the start, if nobody gave one: what the device and other cores do meanwhile takes about as long. */
static void make_scene_and_seek(void *user) {
    reg_problem *p = user;
    make_scene(p);
    if (p->scene_status == ATN_OK && p->seeks) reg_seek(p);
}

void reg_scene_early(reg_problem *p) {
    enum { FEW = 200000 }; /* points: of more on a device, those that it hands over are looked at */
    bool few = p->given[0].count <= FEW && p->given[1].count <= FEW;
    p->as_given = few || !p->engine.remote;
    if (!p->as_given || (!p->spare && !(p->engine.remote && atn_parallel_left() >= ENOUGH))) return;
    atn_aside_begin(p->engine.ctx, &p->scene_aside, make_scene_and_seek, p,
                    p->spare ? half_of(p->spare) : threads_of(SCENE));
}

void reg_scene_end(reg_problem *p) {
    atn_aside_end(&p->scene_aside);
    reg_scene_free(p->scene);
    p->scene = NULL;
    p->scene_status = ATN_OK;
    p->as_given = false;
    p->sought.looked = p->sought.searched = false;
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
        reg_scene_make_beside(points_of(p, 0), points_of(p, 1), p->settings->transform != ATN_TRANSFORM_RIGID,
                              p->engine.client, &other, &p->scene);
    fitness_end_early(&trees, p->scene_status == ATN_OK);
}

/* Beside a GPU (16 cores, forty thousand points): registrations with loops of 16 threads took 28 to 32 ms in the median
 * and 145 at worst, since some of them waited for cores that other threads had; with those of 12 it was 21 to 23 and
 * 25, and with four, since loops are few where the device has the points, 10.4 to 11.8 and 14. A million points: 52 to
 * 54 ms in the median with loops of 12 threads, 48 to 49 with four, 42 to 44 with eight. */
int32_t reg_spare(const reg_engine *e, const atn_register_settings *s, const atn_cloud *source, const atn_cloud *target,
                  bool *here) {
    enum { FEWEST = 20000, FEW = 50000, SOON = 200000 };
    enum { OTHERS, FEW_HERE, FEWEST_HERE, SOON_THERE, MANY_THERE };
    static const struct {
        int32_t eighths, most; /* of the cores */
    } LEFT[] = {
        [OTHERS] = {2, 6}, [FEW_HERE] = {3, 6}, [FEWEST_HERE] = {4, 8}, [SOON_THERE] = {6, 12}, [MANY_THERE] = {4, 8}};
    bool method = (s->method == ATN_REGISTER_EM_ICP || s->method == ATN_REGISTER_GICP) && !s->compat && !s->dense;
    size_t points = !source || !method                          ? SIZE_MAX
                    : cloud_count(source) > cloud_count(target) ? cloud_count(source)
                                                                : cloud_count(target);
    bool few = points <= FEW;
    *here = few && !reg_goes_to_device(e->device, s, cloud_count(source), cloud_count(target));
    int row = points > SOON      ? method && e->remote ? MANY_THERE : OTHERS
              : e->remote        ? SOON_THERE
              : points <= FEWEST ? FEWEST_HERE
                                 : FEW_HERE;
    int32_t cores = atn_parallel_workers(), some = LEFT[row].eighths * cores / 8;
    if (cores < ATN_PARALLEL_MANY || (!e->remote && !few)) return 0;
    return some < LEFT[row].most ? some : LEFT[row].most;
}

/* 40,000 points on 16 cores: ten sort a cloud in 0.7 ms, and three take 5 ms beside the scene. */
bool reg_are_few(const atn_cloud *source, const atn_cloud *target) {
    enum { FEW = 20000 };
    return cloud_count(source) <= FEW && cloud_count(target) <= FEW;
}

atn_status reg_scene_begin(reg_problem *p) {
    bool asked = p->settings->init == ATN_START_AUTO || p->settings->transform == ATN_TRANSFORM_RIGID;
    if (p->parts != 1 || !asked || (!p->on_device && !p->spare)) return ATN_OK;
    int32_t threads = p->on_device ? threads_of(SCENE) : half_of(p->spare);
    if (!p->scene_aside.work) atn_aside_begin(p->engine.ctx, &p->scene_aside, make_scene_and_seek, p, threads);
    return p->spare || fitness_takes_all(p) ? reg_fitness_begin(p) : ATN_OK;
}

atn_status reg_scene_ready(reg_problem *p) {
    atn_aside_end(&p->scene_aside);
    if (!p->scene && p->scene_status == ATN_OK) make_scene_here(p);
    return p->scene_status;
}

static void describe(void *user) {
    reg_problem *p = user;
    p->fitness_status = fitness_describe(p, p->fitness);
    atomic_store_explicit(&p->fitness_there, true, memory_order_release);
}

/* Of few points planes near the answer are asked for by the thread that made the others, from where the run began, if
 * it has; of more by the one that looks for rivals, when it has found them. */
static void describe_and_ask(void *user) {
    reg_problem *p = user;
    describe(p);
    bool asked = p->spare && atomic_load_explicit(&p->begun, memory_order_acquire) && !atomic_load(&p->near);
    if (asked && p->fitness_status == ATN_OK) fitness_ask(p->fitness, &p->begun_at, &p->over);
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
        atn_aside_begin(p->engine.ctx, &p->fitness_aside, describe_and_ask, p,
                        p->spare ? planes_by(p) : threads_of(FITNESS));
    reg_end(&p->engine, p->engine.remote ? REG_FETCH : REG_JUDGE, span); /* a level's points, mostly */
    return status;
}

void reg_fitness_end(reg_problem *p) {
    atomic_store(&p->over, true);
    atn_aside_end(&p->fitness_aside);
    atomic_store(&p->over, false);
    if (p->fitness) fitness_free(p->fitness);
    atn_free(p->engine.ctx, p->fitness);
    p->fitness = NULL;
    p->fitness_status = ATN_OK;
    atomic_store(&p->fitness_there, false);
}

static bool is_described(void *user) {
    return atomic_load_explicit(&((reg_problem *)user)->fitness_there, memory_order_acquire);
}

/* Of few points who makes it may ask for more planes then. */
atn_status reg_fitness_ready(reg_problem *p) {
    bool asks = p->spare && p->fitness_aside.gang;
    if (asks) atn_aside_await(is_described, p);
    if (!asks || p->fitness_status != ATN_OK) atn_aside_end(&p->fitness_aside);
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
    reg_problem *p;
    double answer[16], transform[REG_MOST_RIVALS][16];
    size_t count;
    bool begun; /* with this run */
    atomic_bool there;
    bool fitness; /* is being described: then planes can be asked for where they will be, before that is known */
    atn_status status;
} reg_rivals;

static bool there_or_near(void *user) {
    reg_problem *p = user;
    return atomic_load_explicit(&p->fitness_there, memory_order_acquire) || atomic_load(&p->near);
}

static void look_around(reg_problem *p) {
    atn_aside_await(there_or_near, p);
    if (atomic_load(&p->near) || p->fitness_status != ATN_OK || !p->fitness->described) return;
    fitness_ask(p->fitness, &p->around, &p->near);
}

static void look_for_rivals(void *user) {
    reg_rivals *t = user;
    t->status = reg_scene_rivals(t->p->scene, t->answer, t->transform, &t->count);
    atomic_store_explicit(&t->there, true, memory_order_release);
    if (t->status == ATN_OK && t->fitness) look_around(t->p);
}

void reg_rivals_begin(reg_problem *p) {
    int32_t threads = p->spare ? rivals_by(p) : threads_of(RIVALS);
    bool left = atn_parallel_left() >= threads;
    if (p->rivals) p->rivals->begun = false;
    bool made = !p->scene_aside.work && p->scene; /* it is another thread's until that has ended */
    if (!left || !made || p->settings->transform != ATN_TRANSFORM_RIGID) return;
    if (!p->rivals && !(p->rivals = atn_zalloc(p->engine.ctx, sizeof *p->rivals))) return; /* later, then */
    *p->rivals = (reg_rivals){.p = p, .begun = true};
    p->rivals->fitness = !p->spare && p->fitness && (p->fitness_aside.gang || atomic_load(&p->fitness_there));
    atomic_store(&p->near, false);
    reg_to_outside(p, &p->around, p->rivals->answer);
    atn_aside_begin(p->engine.ctx, &p->rivals_aside, look_for_rivals, p->rivals, threads);
    if (!p->rivals_aside.gang) reg_rivals_end(p); /* no thread for it: now */
}

void reg_rivals_end(reg_problem *p) {
    atomic_store(&p->near, true);
    atn_aside_end(&p->rivals_aside);
}

void reg_rivals_again(reg_problem *p) {
    reg_rivals_end(p);
    p->around = p->pose;
    if (p->rivals) p->rivals->begun = false;
    bool beside = (p->engine.remote || p->spare) && (p->scene_aside.work || p->scene);
    if (beside && reg_scene_ready(p) == ATN_OK) reg_rivals_begin(p);
}

static bool rivals_there(void *user) {
    return atomic_load_explicit(&((reg_rivals *)user)->there, memory_order_acquire);
}

atn_status reg_rivals_ready(reg_problem *p, double (*out)[16], size_t *count) {
    double answer[16];
    bool begun = p->rivals && p->rivals->begun;
    atn_status status = reg_scene_ready(p);
    *count = 0;
    if (begun) atn_aside_await(rivals_there, p->rivals);
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
    reg_fitness_end(p);
    reg_scene_free(p->scene);
    atn_free(p->engine.ctx, p->rivals);
    p->rivals = NULL;
    p->scene = NULL;
}
