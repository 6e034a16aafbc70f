/* What the search for a start and the verdict need of the clouds, made while a device is at work on them. */
#ifndef ATN_APPS_REGISTER_BESIDE_H
#define ATN_APPS_REGISTER_BESIDE_H

#include "apps/register/problem.h"

/* p->scene, once p->source and p->target stay; p->fitness, once all levels are there. Each is begun at most once, and
 * where that was not done it is made when it is to be ready. */
void reg_scene_begin(reg_problem *p);
atn_status reg_scene_ready(reg_problem *p);
atn_status reg_fitness_begin(reg_problem *p);
atn_status reg_fitness_ready(reg_problem *p); /* p->noise, too */

void reg_beside_free(reg_problem *p); /* waits for both */

#endif
