/* What the search for an initial pose and the verdict need to know about the clouds, computed while a device works on
 * them. */
#ifndef ATN_APPS_REGISTER_BESIDE_H
#define ATN_APPS_REGISTER_BESIDE_H

#include "apps/register/problem.h"

/* Cores that loops of a registration leave to what is done beside it; 0: none. Some of many: where the device is
 * another one, which has work beside the loops, too; and on the host where points are so few that one loop after the
 * other would keep most cores waiting. here: few points, which the host prepares for whatever device. */
int32_t reg_spare(const reg_engine *engine, const atn_register_settings *settings, const atn_cloud *source,
                  const atn_cloud *target, bool *here);

/* So few that some cores prepare one cloud as soon as the others prepare the other one: of more, all do so sooner one
 * after the other. */
bool reg_are_few(const atn_cloud *source, const atn_cloud *target);

/* p->scene, once p->source and p->target stay; p->fitness with it where cores are left to both, else once all levels
 * are there. Each is begun at most once, and where that was not done it is made when it is to be ready. */
atn_status reg_scene_begin(reg_problem *p);
/* Decides whether it is made of p->given, which stay then, and begins with it before points are in order, if cores are
 * left to it. */
void reg_scene_early(reg_problem *p);
void reg_scene_end(reg_problem *p); /* it is made anew, of points in order */
atn_status reg_scene_ready(reg_problem *p);
atn_status reg_fitness_begin(reg_problem *p);
void reg_fitness_end(reg_problem *p);         /* it is made anew */
atn_status reg_fitness_ready(reg_problem *p); /* p->noise, too */

/* Poses far from the answer p->pose that may fit as well, as far as the scene tells (reg_scene_rivals): looked for from
 * p->around, where the run began or came to later, if that is next to the answer, as it mostly is. Then it can be begun
 * with the run, beside its steps, and where cores are left to it it is; not for scaled or sheared poses. Ended before
 * the scene changes, and at the latest with the run. */
void reg_rivals_begin(reg_problem *p);
void reg_rivals_again(reg_problem *p); /* from p->pose, which is nearer to the answer: p->around is there now */
atn_status reg_rivals_ready(reg_problem *p, double (*out)[16], size_t *count);
void reg_rivals_end(reg_problem *p);

int32_t reg_judge_threads(const reg_problem *p); /* of the verdict beside the caller */

void reg_beside_free(reg_problem *p); /* waits for all */

#endif
