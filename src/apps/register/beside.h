/* What the search for a start and the verdict need of the clouds, made while a device is at work on them. */
#ifndef ATN_APPS_REGISTER_BESIDE_H
#define ATN_APPS_REGISTER_BESIDE_H

#include "apps/register/problem.h"

/* Cores that loops of a registration leave to what is done beside it; 0: none. Some of many: where the device is
 * another one, which has work beside the loops, too; and on the host where points are so few that one loop after the
 * other would keep most cores waiting. */
int32_t reg_spare(const reg_engine *engine, const atn_register_settings *settings, const atn_cloud *source,
                  const atn_cloud *target);

/* p->scene, once p->source and p->target stay; p->fitness with it where cores are left to both, else once all levels
 * are there. Each is begun at most once, and where that was not done it is made when it is to be ready. */
atn_status reg_scene_begin(reg_problem *p);
atn_status reg_scene_ready(reg_problem *p);
atn_status reg_fitness_begin(reg_problem *p);
atn_status reg_fitness_ready(reg_problem *p); /* p->noise, too */

void reg_beside_free(reg_problem *p); /* waits for both */

#endif
