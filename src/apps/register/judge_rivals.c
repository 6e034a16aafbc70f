/* Other poses that may fit as well: those that the search found, and rotations about the overlap. Whatever fits nearly
 * as well at a thousand points is refined and examined closely. Symmetry is completed: with two poses that fit, the
 * step from one to the other is tried on all. */
#include "apps/register/beside.h"
#include "apps/register/judge.h"
#include "apps/register/search.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static const double EQUAL = 0.85;  /* of the answer's value: fits as well */
static const double IMPLIED = 0.7; /* the same for what two poses that fit as well make of each other */
static const double BETTER = 1.15; /* fits clearly better */
static const double PLANES = 0.9;  /* of planes along three directions, the share that tells nothing */
static const double FREE = 6;      /* power of what is at the other's surface and not over it, */
static const double CLEAR = 2;   /* and of what lies on it and not beside or over it, besides its power in the value */
static const double AS_WELL = 3; /* deviations by which scores of nearest points differ in poses that fit equally, */
static const double CLEARLY = 5; /* and in those of which one fits better */
static const double FEW_DETAILS =
    8;                           /* samples that are no walls: fewer hardly tell poses apart, as on a cube's edges */
static const double APART = 0.2; /* radians, */
static const double AWAY = 0.1;  /* or that part of the size of what overlaps: another pose, */
static const double BLURRED = 5; /* unless points move by fewer spacings, and not along walls: the same answer, */
static const double MOST_BLURRED = 0.3; /* up to that part of the size, and as many radians */
static const double WORTH = 0.3;        /* of the answer's value: less of a shift tells nothing */
static const double SLIDES = 6;         /* spacings that judge_sliding tries */
enum { SHIFTS = 12 };                   /* that are looked at */
enum { STEPS = 8, FEW_STEPS = 3, MOST = ATN_REGISTER_MOST_ALTERNATIVES + 1 };

typedef struct poses {
    geom_pose list[MOST]; /* the answer first */
    size_t count;
    const double *centre; /* of what overlaps; borrowed */
    double turn, way;     /* radians, way of the centre: more is another pose */
} poses;

/* `spacings` that the answer may be off. */
static poses only_answer(const reg_problem *p, const double *centre, double size, double spacings) {
    double blurred = fmin(spacings * fmax(p->spacing, p->source_spacing), MOST_BLURRED * size);
    return (poses){.list = {p->pose},
                   .count = 1,
                   .centre = centre,
                   .turn = fmax(APART, size > 0 ? blurred / size : 0),
                   .way = fmax(AWAY * size, blurred)};
}

static bool other(const poses *known, const geom_pose *a, const geom_pose *b) {
    const double *centre = known->centre;
    geom_pose back, both;
    double twist[6], turn2 = 0, way2 = 0, moved[3], scale = geom_pose_scale(b);
    if (!geom_pose_invert(b, &back)) return true;
    both = geom_pose_compose(a, &back); /* from where b sends points to where a does; rigid */
    geom_pose_log(&both, twist);
    geom_pose_apply(&both, centre, moved);
    for (int k = 0; k < 3; ++k) {
        turn2 += twist[k] * twist[k];
        way2 += (moved[k] - centre[k]) * (moved[k] - centre[k]);
    }
    return scale > 0 && (turn2 > known->turn * known->turn || way2 > known->way * known->way);
}

static double detail_with(const fitness_seen *seen, double prior) {
    return ((double)seen->detail + prior) / ((double)(seen->detail + seen->missing) + 2 * prior);
}

double judge_detail(const fitness_seen *seen) { return detail_with(seen, 1); }

/* Points that lie on each other tell more than surfaces do, and walls and floors alone less than what stands there:
 * planes along other directions, and points that would hang over them. */
double judge_value(const fitness_seen *there, const fitness_seen *answer) {
    double value = there->value;
    if (answer->identical) value *= fmin(1, there->same / answer->same);
    if (answer->free > 0) value *= pow(fmin(1, there->free / answer->free), FREE);
    if (answer->clear > 0) value *= pow(fmin(1, there->clear / answer->clear), CLEAR);
    value *= fmin(1, detail_with(there, FEW_DETAILS) / detail_with(answer, FEW_DETAILS));
    return value * fmin(1, (1 - PLANES * there->planar) / (1 - PLANES * answer->planar));
}

static bool is_new(const poses *known, const geom_pose *pose) {
    for (size_t k = 0; k < known->count; ++k)
        if (!other(known, pose, &known->list[k])) return false;
    return true;
}

/* S = A_i A_0^-1 on every A_j, until nothing new fits. The answer is the best of its kind by chance, and what is
 * composed is a symmetry where its parts are: it may fit a little worse. */
static void complete(const reg_problem *p, const fitness_seen *seen, poses *known) {
    geom_pose back;
    if (!geom_pose_invert(&known->list[0], &back)) return;
    for (size_t i = 1; i < known->count; ++i)
        for (size_t j = 1; j <= i; ++j)
            for (int way = 0; way < 2 && known->count < MOST; ++way) {
                geom_pose step = geom_pose_compose(&known->list[way ? j : i], &back);
                geom_pose pose = geom_pose_compose(&step, &known->list[way ? i : j]);
                fitness_seen there;
                if (!is_new(known, &pose)) continue;
                fitness_refine(p->fitness, FEW_STEPS, &pose, &there);
                if (judge_value(&there, seen) > IMPLIED * seen->value && is_new(known, &pose))
                    known->list[known->count++] = pose;
            }
}

atn_status judge_moved(const reg_problem *p, const double t[16], cloud_points *out) {
    atn_status status = cloud_points_make(p->engine.ctx, p->source.count, false, out);
    for (size_t k = 0; k < p->source.count && status == ATN_OK; ++k) {
        for (int a = 0; a < 3; ++a) {
            out->position[a][k] = t[4 * a + 3];
            for (int b = 0; b < 3; ++b) out->position[a][k] += t[4 * a + b] * p->source.position[b][k];
        }
        out->weight[k] = p->source.weight[k];
    }
    return status;
}

void judge_after(double (*list)[16], size_t count, const double t[16]) {
    for (size_t k = 0; k < count; ++k) {
        double all[16] = {0};
        for (int i = 0; i < 16; ++i)
            for (int j = 0; j < 4; ++j) all[i] += list[k][i / 4 * 4 + j] * t[4 * j + i % 4];
        memcpy(list[k], all, sizeof all);
    }
}

/* Of a source that is scaled or sheared: it is moved, and rivals are turns of that. */
static atn_status moved_rivals(reg_problem *p, const double answer[16], double (*out)[16], size_t *count) {
    static const double NONE[16] = {[0] = 1, [5] = 1, [10] = 1, [15] = 1};
    reg_scene *scene = NULL;
    cloud_points moved;
    atn_status status = judge_moved(p, answer, &moved);
    if (status == ATN_OK) status = reg_scene_make(&moved, &p->target, false, p->engine.client, &scene);
    if (status == ATN_OK) status = reg_scene_rivals(scene, NONE, out, count);
    if (status == ATN_OK) judge_after(out, *count, answer);
    reg_scene_free(scene);
    cloud_points_free(&moved);
    return status;
}

/* Poses far from the answer that the search has met or that turn it. */
static atn_status find_rivals(reg_problem *p, double (*found)[16], size_t *count) {
    double answer[16];
    if (p->settings->transform == ATN_TRANSFORM_RIGID) return reg_rivals_ready(p, found, count);
    *count = 0;
    reg_to_outside(p, &p->pose, answer);
    return moved_rivals(p, answer, found, count);
}

static void tell_alternatives(const reg_problem *p, const poses *known, atn_register_result *r) {
    for (size_t k = 1; k < known->count; ++k) reg_to_outside(p, &known->list[k], r->alternatives[r->n_alternatives++]);
}

/* Shifts of the answer, looked for where nothing else says yet that it is in doubt; nearer ones would slide. */
static atn_status find_shifts(const reg_problem *p, const fitness_seen *seen, const atn_register_result *r,
                              const poses *known, geom_pose *pose, fitness_seen *there, size_t *count) {
    poses beyond = {.centre = known->centre, .turn = known->turn};
    size_t found = 0;
    beyond.way = fmax(known->way, SLIDES * fmax(p->spacing, p->source_spacing));
    *count = 0;
    if (r->verdict != ATN_VERDICT_TRUSTED || r->n_sliding || seen->identical) return ATN_OK;
    atn_status status = fitness_shifts(p->fitness, &p->pose, beyond.way, SHIFTS, pose, &found);
    fitness_refine_all(p->fitness, STEPS, WORTH * seen->value, found, pose, there);
    for (size_t k = 0; k < found; ++k) {
        if (!other(&beyond, &pose[k], &p->pose)) continue;
        pose[*count] = pose[k];
        there[(*count)++] = there[k];
    }
    return status;
}

atn_status judge_rivals(reg_problem *p, const fitness_seen *seen, atn_register_result *r) {
    double found[REG_MOST_RIVALS][16], best = 0;
    geom_pose pose[REG_MOST_RIVALS + SHIFTS];
    fitness_seen there[REG_MOST_RIVALS + SHIFTS];
    size_t count, shifts = 0;
    poses known = only_answer(p, seen->centre, seen->size, seen->planar < PLANES ? BLURRED : 0);
    atn_status status = find_rivals(p, found, &count);
    p->beaten = false;
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < count; ++k) reg_to_inside(p, found[k], &pose[k]);
    fitness_refine_all(p->fitness, STEPS, 0, count, pose, there);
    status = find_shifts(p, seen, r, &known, pose + count, there + count, &shifts);
    if (status != ATN_OK) return status;
    count += shifts;
    for (size_t k = 0; k < count; ++k) {
        if (!other(&known, &pose[k], &p->pose)) continue;
        double value = judge_value(&there[k], seen);
        if (value > best) {
            best = value;
            p->rival = pose[k];
        }
        if (value > EQUAL * seen->value && known.count < MOST && is_new(&known, &pose[k]))
            known.list[known.count++] = pose[k];
    }
    p->beaten = best > BETTER * seen->value;
    r->runner_up = seen->value > 0 ? best / seen->value : 0;
    if (!p->beaten) complete(p, seen, &known);
    tell_alternatives(p, &known, r);
    return ATN_OK;
}

atn_status judge_rivals_by_points(reg_problem *p, const fitness_scores *scores, atn_register_result *r, double *ahead) {
    double found[REG_MOST_RIVALS][16], best = 0;
    geom_pose pose[REG_MOST_RIVALS];
    size_t count;
    poses known = only_answer(p, scores->centre, scores->size, 0);
    atn_status status = find_rivals(p, found, &count);
    fitness_scores *there = atn_alloc(p->engine.ctx, REG_MOST_RIVALS * sizeof *there);
    *ahead = INFINITY;
    if (!there) return ATN_ERR_MEMORY;
    if (status != ATN_OK) count = 0;
    for (size_t k = 0; k < count; ++k) reg_to_inside(p, found[k], &pose[k]);
    fitness_refine_points_all(p->fitness, STEPS, count, pose, there);
    for (size_t k = 0; k < count; ++k) {
        if (!other(&known, &pose[k], &p->pose)) continue;
        double z = fitness_ahead(scores, &there[k]);
        *ahead = fmin(*ahead, z);
        if (there[k].mean > best) {
            best = there[k].mean;
            p->rival = pose[k];
        }
        if (z < AS_WELL && known.count < MOST && is_new(&known, &pose[k])) known.list[known.count++] = pose[k];
    }
    p->beaten = *ahead < -CLEARLY;
    r->runner_up = scores->mean > 0 ? best / scores->mean : 0;
    if (status == ATN_OK) tell_alternatives(p, &known, r);
    atn_free(p->engine.ctx, there);
    return status;
}
