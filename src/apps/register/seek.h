/* Where a registration begins if the caller did not say where the source is. */
#ifndef ATN_APPS_REGISTER_SEEK_H
#define ATN_APPS_REGISTER_SEEK_H

#include "apps/register/problem.h"

/* Does enough of the source fit where the clouds lie, after `most` short fits or fewer? `at`: where those end, the
 * caller's 4 x 4. Needs the scene; false for scaled poses, and where iterations are limited. */
bool reg_lies_well(const reg_problem *p, int most, double at[16]);

/* p->sought, by all threads of the caller: where the clouds lie, if one short fit ends well there, else the search.
 * Needs the scene. */
void reg_seek(reg_problem *p);

/* The start that the search finds; out of p->sought where it is there. */
atn_status reg_seek_search(const reg_problem *p, double out[16]);

#endif
