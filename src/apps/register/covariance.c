/* The uncertainty of the pose: the sandwich H^-1 B H^-1 of an estimate that the sums of the polish make 0, widened by
 * what the estimate cannot see of itself. H, the curvature (covariance_curvature.c), has pairs that follow along a
 * surface, and in noise even across it. B, how much the gradient would differ for other points of the same surfaces
 * (covariance_scatter.c). What both clouds get wrong together shows when they change places: each target point and its
 * nearest source point ask for another pose, and where that is farther away than B explains, the covariance grows by
 * most of what explains it: that pose errs, too. Where points of both clouds are the same ones, noise aside, methods
 * that fit points are held against pairs that count alike in all directions. A twist (w, v) moves a point p to p + w x
 * p + v. */
#include "apps/register/covariance.h"
#include "apps/register/beside.h"
#include "apps/register/distribute.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "geom/eigen.h"

#include <math.h>
#include <string.h>

static const double SEEN = 9;     /* distance squared, in deviations, up to which clouds that change places agree */
static const double OWN = 0.75;   /* of what is farther, the share that the covariance grows by */
static const double PULL = 0.008; /* spacings that the source is drawn to the target's middle, a radius away */
static const double HELD = 0.5;   /* where less is left of the curvature, other methods may well be better */
static const double REACH = 4;    /* spacings within which another method's answer has its pairs */
enum { MANY = 131072 };           /* points that the step of clouds that change places is taken from */

/* ---- small matrices ---- */

static void multiply(const double a[36], const double b[36], double out[36]) {
    for (int i = 0; i < 36; ++i) {
        out[i] = 0;
        for (int k = 0; k < 6; ++k) out[i] += a[i / 6 * 6 + k] * b[6 * k + i % 6];
    }
}

static void apply(const double a[36], const double v[6], double out[6]) {
    for (int i = 0; i < 6; ++i) {
        out[i] = 0;
        for (int k = 0; k < 6; ++k) out[i] += a[6 * i + k] * v[k];
    }
}

static double form(const double a[36], const double v[6]) {
    double av[6], sum = 0;
    apply(a, v, av);
    for (int i = 0; i < 6; ++i) sum += v[i] * av[i];
    return sum;
}

/* From twists about the target's frame inside to twists about the caller's origin: w stays, v = unit v + origin x w. */
static void outside(const reg_problem *p, const double c[36], double out[36]) {
    const double *o = p->target_origin;
    double a[36] = {0}, turned[36], half[36];
    for (int i = 0; i < 3; ++i) {
        a[7 * i] = 1;
        a[7 * (3 + i)] = p->unit;
    }
    a[19] = -o[2], a[20] = o[1], a[24] = o[2], a[26] = -o[0], a[30] = -o[1], a[31] = o[0];
    for (int i = 0; i < 36; ++i) turned[i] = a[i % 6 * 6 + i / 6];
    multiply(a, c, half);
    multiply(half, turned, out);
}

/* ---- the clouds change places ---- */

/* Some blocks of a side, with their shapes: sums over them are as good as sums over all. */
typedef struct thinned {
    reg_side side;
    atn_array *shape;
} thinned;

static void thinned_free(thinned *t, reg_problem *p) {
    reg_engine_forget(&p->engine, &t->side);
    reg_side_free(&t->side);
    atn_array_free(t->shape);
    *t = (thinned){0};
}

static atn_status thin(reg_problem *p, const reg_side *side, atn_array *shape, size_t every, thinned *out) {
    size_t block = side->block;
    int32_t *from = NULL;
    *out = (thinned){0};
    atn_status status = reg_side_sample(&p->engine, side, every, &out->side);
    if (status == ATN_OK && !(from = atn_alloc(p->engine.ctx, out->side.padded * sizeof *from)))
        status = ATN_ERR_MEMORY;
    for (size_t r = 0; status == ATN_OK && r < out->side.padded; ++r)
        from[r] = (int32_t)(r / block * every * block + r % block);
    if (status == ATN_OK) status = reg_surface_take(&p->engine, shape, from, out->side.padded, &out->shape);
    atn_free(p->engine.ctx, from);
    if (status != ATN_OK) thinned_free(out, p);
    return status;
}

static atn_status gradient(reg_polish_state *s, const geom_pose *pose) {
    return reg_polish_step(s, pose, REG_POLISH_NEAREST * s->surface->spacing);
}

/* Sums over the target against the source, with the scale of `like`; over fewer points of it where it has many. */
static atn_status open_back(const reg_polish_state *like, reg_surface *surface, thinned *few, reg_polish_state *out) {
    reg_problem *p = like->p;
    const reg_surface *from = like->surface;
    reg_side *rows = like->target, *columns = like->source;
    atn_status status = ATN_OK;
    *surface =
        (reg_surface){.level = from->level, .spacing = from->spacing, .source = from->target, .target = from->source};
    *few = (thinned){0};
    *out = (reg_polish_state){0};
    size_t all = p->engine.joins ? (size_t)p->engine.joins->rows[1] : rows->padded;
    if (rows->count > MANY || (p->engine.joins && all > MANY)) {
        status = thin(p, rows, surface->source, all / MANY + 1, few);
        if (status != ATN_OK) return status;
        rows = &few->side;
        surface->source = few->shape;
    }
    status = reg_polish_open(p, surface, rows, columns, out);
    out->together = true;
    out->settled = true;
    out->scale2 = like->scale2;
    return status;
}

/* The step (a twist about the target's frame) that target points and their nearest source points ask for. */
static atn_status step_back(const reg_polish_state *s, const geom_pose *pose, double out[6], bool *told) {
    reg_surface surface;
    thinned few;
    reg_polish_state sums = {0};
    geom_pose back;
    double inverse[36], twist[6];
    *told = false;
    if (!geom_pose_invert(pose, &back)) return ATN_OK;
    atn_status status = open_back(s, &surface, &few, &sums);
    if (status == ATN_OK) status = gradient(&sums, &back);
    if (status == ATN_OK && geom_invert_symmetric(6, sums.h, inverse)) {
        apply(inverse, sums.g, twist);
        for (int i = 0; i < 3; ++i) { /* pose exp(-twist) = exp(out) pose */
            out[i] = out[3 + i] = 0;
            for (int k = 0; k < 3; ++k) {
                out[i] -= pose->a[3 * i + k] * twist[k];
                out[3 + i] -= pose->a[3 * i + k] * twist[3 + k];
            }
        }
        for (int i = 0; i < 3; ++i)
            out[3 + i] += pose->b[(i + 1) % 3] * out[(i + 2) % 3] - pose->b[(i + 2) % 3] * out[(i + 1) % 3];
        *told = true;
    }
    reg_polish_close(&sums);
    thinned_free(&few, s->p);
    return status;
}

/* ---- what is reported ---- */

static const char
    TOO_FEW[] = "pairs in too few places",
    LOOSE[] = "pairs hold it in too few directions",
    UNSEEN[] = "noise hides the surfaces, and points do not correspond",
    ELSEWHERE[] = "surfaces do not confirm the pose", ONE_PLACE[] = "points at one place",
    FOLLOWS[] = "in noise as large as the spacing nearest points do not determine the uncertainty of other methods";

/* A pose and its covariance, about the target's frame inside. */
typedef struct opinion {
    geom_pose pose;
    double c[36];
    bool told;
    bool same;       /* points of both clouds correspond */
    double held;     /* of the curvature that fixed pairs have, the part that is left where pairs follow */
    const char *why; /* not told */
} opinion;

/* Of independent samples of a surface they are about one spacing apart. */
static bool correspond(const reg_polish_state *s) { return 2 * s->same > s->pairs; }

/* What a covariance is made of. */
typedef struct evidence {
    reg_scattering terms;
    double h[36], back[6]; /* the curvature; the step back, */
    bool told;             /* or there is none */
} evidence;

/* What else is asked of the device, as long as the verdict is found beside it. Ranks measure together, when all have
 * that. */
static atn_status measure_meanwhile(reg_problem *p) {
    if (!p->judge_aside.work || p->engine.ranks) return ATN_OK;
    reg_span span = reg_begin(&p->engine);
    atn_status status = reg_fitness_ready(p);
    if (status == ATN_OK) status = reg_measure(p, p->result);
    reg_end(&p->engine, REG_MEASURE, span);
    return status;
}

/* Sums of the device; what the host makes of the terms is done beside, where the device is another one or cores are
 * left to it. */
static atn_status gather(reg_polish_state *s, const geom_pose *pose, evidence *out) {
    enum { THREADS = 3 };
    atn_aside beside = {0};
    bool aside = (s->p->engine.remote || s->p->spare) && !s->p->engine.joins; /* ranks talk by one thread */
    *out = (evidence){.told = false};
    atn_status status = reg_scattering_open(s, pose, &out->terms);
    if (status == ATN_OK && aside)
        atn_aside_begin(s->p->engine.ctx, &beside, reg_scatter, &out->terms, atn_parallel_some(1, THREADS));
    if (status == ATN_OK && !aside) reg_scatter(&out->terms);
    if (status == ATN_OK && (aside || out->terms.told)) status = reg_curvature(s, pose, out->h);
    if (status == ATN_OK && (aside || out->terms.told)) status = step_back(s, pose, out->back, &out->told);
    if (status == ATN_OK && aside) status = measure_meanwhile(s->p);
    atn_aside_end(&beside);
    reg_scattering_free(&out->terms);
    return status == ATN_OK ? out->terms.status : status;
}

static double held_of(const double plain[36], const double h[36]) {
    double inverse[36], trace = 0;
    if (!geom_invert_symmetric(6, plain, inverse)) return 0;
    for (int i = 0; i < 36; ++i) trace += inverse[i] * h[i]; /* both are symmetric */
    return trace / 6;
}

/* Pairs at the border of what overlaps draw the source to the target's middle, the more, the farther away that is. All
 * of them do so, from whichever side, so that neither scatter nor clouds that change places tell it. */
static void add_pull(const reg_problem *p, opinion *o) {
    const double *b = o->pose.b; /* the source's middle, in radii from the target's */
    double by = PULL * fmax(p->spacing, p->source_spacing) / fmax(1, sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]));
    for (int i = 0; i < 9; ++i) o->c[6 * (3 + i / 3) + 3 + i % 3] += by * by * b[i / 3] * b[i % 3];
}

/* H^-1 B H^-1, times most of what it takes to explain the step back; `s` has its sums at the pose. */
static atn_status estimate(reg_polish_state *s, opinion *o) {
    evidence found;
    double inverse[36], half[36], plain[36], step[6], force[6];
    memcpy(plain, s->h, sizeof plain);
    atn_status status = gather(s, &o->pose, &found);
    o->told = found.terms.told;
    if (status != ATN_OK || !o->told) return status;
    o->why = LOOSE;
    o->told = geom_invert_symmetric(6, found.h, inverse) && found.told;
    if (!o->told) return ATN_OK;
    multiply(inverse, found.terms.b, half);
    multiply(half, inverse, o->c);
    o->held = held_of(plain, found.h);
    apply(plain, found.back, force); /* of fixed pairs; they follow, so that it moves the pose farther */
    apply(inverse, force, step);
    o->told = geom_invert_symmetric(6, o->c, half);
    double widen = o->told ? form(half, step) / SEEN : 1;
    for (int i = 0; i < 36 && widen > 1; ++i) o->c[i] *= 1 + OWN * (widen - 1);
    if (o->told) add_pull(s->p, o);
    return ATN_OK;
}

static atn_status look_at(reg_problem *p, const reg_surface *surface, opinion *o) {
    reg_polish_state s;
    double evaluated = p->engine.evaluated;
    o->told = false;
    o->why = TOO_FEW;
    atn_status status = reg_polish_open(p, surface, &surface->level->source, &surface->level->target, &s);
    s.together = true;
    if (status == ATN_OK) status = gradient(&s, &o->pose);
    s.settled = true;
    o->same = status == ATN_OK && correspond(&s);
    if (status == ATN_OK && !surface->seen && !o->same)
        o->why = UNSEEN;
    else if (status == ATN_OK && s.weight > 0)
        status = estimate(&s, o);
    reg_polish_close(&s);
    p->engine.evaluated = evaluated; /* a check, no work of the method */
    return status;
}

static void tell(reg_problem *p, const opinion *o) {
    p->withheld = o->told ? NULL : o->why;
    p->result->has_covariance = o->told;
    if (!o->told) return;
    outside(p, o->c, p->result->covariance);
    for (int i = 0; i < 36; ++i)
        if (!isfinite(p->result->covariance[i])) {
            p->result->has_covariance = false;
            p->withheld = LOOSE;
        }
}

atn_status reg_covariance(reg_problem *p, const reg_surface *surface) {
    opinion o = {.pose = p->pose};
    atn_status status = look_at(p, surface, &o);
    if (status == ATN_OK) tell(p, &o);
    p->surveyed = false; /* done, well or not */
    return status;
}

/* Where the polish ends from another method's answer, and how sure that is. */
static atn_status look_aside(reg_problem *p, const reg_surface *surface, opinion *o) {
    bool there = false;
    *o = (opinion){.why = ELSEWHERE};
    atn_status status = reg_polish_aside(p, surface, REACH * surface->spacing, &o->pose, &there);
    return status == ATN_OK && there ? look_at(p, surface, o) : status;
}

/* From the answer to where the polish ends. */
static geom_pose way_to(const reg_problem *p, const opinion *o) {
    geom_pose back = GEOM_IDENTITY;
    (void)geom_pose_invert(&p->pose, &back); /* it is rigid */
    return geom_pose_compose(&o->pose, &back);
}

/* How far that is, in deviations squared. */
static double apart(const reg_problem *p, const opinion *o) {
    double way[6], inverse[36];
    geom_pose off = way_to(p, o);
    geom_pose_log(&off, way);
    return geom_invert_symmetric(6, o->c, inverse) ? form(inverse, way) : INFINITY;
}

/* The error of another method is that of the polish and the way between the two. Some of that way is the polish's own
 * error, already counted: half of its square is added, or, where it is long, all but the six deviations squared that
 * the polish's error explains. */
static void tell_aside(reg_problem *p, const opinion *o) {
    geom_pose off = way_to(p, o), turn = off;
    double distance2 = o->told ? apart(p, o) : 0, rest = fmax(0.5, 1 - 6 / distance2);
    double at[3], way[6]; /* in the caller's frame: it may be too long for what is linear in it */
    tell(p, o);
    memset(turn.b, 0, sizeof turn.b);
    geom_pose_apply(&turn, p->target_origin, at);
    for (int i = 0; i < 3; ++i) off.b[i] = p->unit * off.b[i] + p->target_origin[i] - at[i];
    geom_pose_log(&off, way);
    for (int i = 0; i < 36; ++i) p->result->covariance[i] += rest * way[i / 6] * way[i % 6];
}

atn_status reg_covariance_aside(reg_problem *p) {
    reg_surface *surface, points = {0};
    opinion o = {0}, other = {0};
    p->withheld = ONE_PLACE;
    if (!(p->spacing > 0) || !(p->source_spacing > 0)) return ATN_OK;
    atn_status status = reg_surface_of(p, &surface);
    if (status == ATN_OK) { /* by both clouds' shapes now */
        atn_array_free(surface->planes);
        surface->planes = NULL;
        status = look_aside(p, surface, &o);
    }
    if (status == ATN_OK && o.same) status = reg_surface_points(p, &points);
    if (status == ATN_OK && o.same) status = look_aside(p, &points, &other);
    reg_surface_free(&points);
    if (status == ATN_OK && other.told && (!o.told || apart(p, &other) < apart(p, &o))) o = other;
    if (o.told && o.held < HELD) {
        o.told = false;
        o.why = FOLLOWS;
    }
    if (status == ATN_OK) tell_aside(p, &o);
    return status;
}
