/* Comparison with chance: the mirrored source has the extent, density, noise and walls of the source, and is another
 * object. What the best poses of the search for it reach is what unrelated clouds of this kind reach. */
#include "apps/register/beside.h"
#include "apps/register/judge.h"
#include "apps/register/search.h"

#include <math.h>
#include <string.h>

enum { STEPS = 8, MOST = 6 }; /* refining a pose; poses that are looked at */

/* The source where a rigid part of the answer is left to the search, and its transform before that. */
static atn_status find_scene(reg_problem *p, cloud_points *moved, double before[16], reg_scene **own, reg_scene **out) {
    static const double NONE[16] = {[0] = 1, [5] = 1, [10] = 1, [15] = 1};
    atn_status status = ATN_OK;
    *own = *out = NULL;
    memcpy(before, NONE, sizeof NONE);
    if (p->settings->transform == ATN_TRANSFORM_RIGID) {
        status = reg_scene_ready(p);
        *out = p->scene;
        return status;
    }
    reg_to_outside(p, &p->pose, before);
    status = judge_moved(p, before, moved);
    if (status == ATN_OK) status = reg_scene_make(moved, &p->target, false, p->engine.client, own);
    *out = *own;
    return status;
}

/* The best poses of the mirrored source, inside. */
static atn_status find_mirrored(reg_problem *p, geom_pose *out, size_t *count) {
    double found[REG_MOST_RIVALS][16], mirror[16];
    reg_scene *own, *scene, *mirrored = NULL;
    reg_start start;
    cloud_points moved = {0};
    size_t n = 0;
    atn_status status = find_scene(p, &moved, mirror, &own, &scene);
    for (int k = 0; k < 4; ++k) mirror[k] = -mirror[k];
    if (status == ATN_OK) status = reg_scene_mirror(scene, &mirrored);
    if (status == ATN_OK) status = reg_search(mirrored, &start);
    if (status == ATN_OK) n = reg_scene_bests(mirrored, found);
    judge_after(found, n, mirror);
    *count = n < MOST ? n : MOST;
    for (size_t k = 0; k < *count; ++k) reg_to_inside(p, found[k], &out[k]);
    reg_scene_free(mirrored);
    reg_scene_free(own);
    cloud_points_free(&moved);
    return status;
}

atn_status judge_mirror(reg_problem *p, const fitness_seen *seen, double least, double *as_well) {
    geom_pose pose[MOST];
    fitness_seen there[MOST];
    size_t count = 0;
    atn_status status = find_mirrored(p, pose, &count);
    *as_well = 0;
    if (status != ATN_OK) return status;
    fitness_refine_all(p->fitness, STEPS, least * seen->value, count, pose, there);
    for (size_t k = 0; k < count; ++k) *as_well = fmax(*as_well, judge_value(&there[k], seen) / seen->value);
    return ATN_OK;
}

atn_status judge_mirror_by_points(reg_problem *p, const fitness_seen *seen, const fitness_scores *scores,
                                  double *as_well, double *ahead) {
    geom_pose pose[MOST];
    size_t count = 0;
    atn_status status = find_mirrored(p, pose, &count);
    *as_well = 0;
    *ahead = INFINITY;
    for (size_t k = 0; k < count && status == ATN_OK; ++k) {
        fitness_seen there;
        fitness_scores nearest;
        fitness_look(p->fitness, &pose[k], &there);
        *as_well = fmax(*as_well, there.value / seen->value);
        fitness_refine_points(p->fitness, STEPS, &pose[k], &nearest);
        *ahead = fmin(*ahead, fitness_ahead(scores, &nearest));
    }
    return status;
}
