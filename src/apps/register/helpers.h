/* Several devices for one registration: the first has the clouds, their levels and lists, the others take rows of long
 * steps (sums over pairs, nearest points), as many as their speed allows. A device that fails hands its rows over. */
#ifndef ATN_APPS_REGISTER_HELPERS_H
#define ATN_APPS_REGISTER_HELPERS_H

#include "apps/register/engine.h"

typedef struct reg_helpers reg_helpers;

/* The devices beside the first one, but for a host beside a GPU: it would need longer for the least of its rows than
 * the GPU for all, and its cores serve the GPU (docs/cluster.md). Owned by the caller, who keeps the devices open; NULL
 * where there are none. */
atn_status reg_helpers_open(atn_device *const *devices, int32_t n, const atn_register_settings *settings,
                            reg_helpers **out);
void reg_helpers_close(reg_helpers *helpers); /* NULL is fine */

size_t reg_helpers_rows(const reg_helpers *helpers); /* that they have made so far, in all steps */

/* Is a step of so many pairs long enough to be shared? Never where results must be the same each time: devices round
 * differently. */
bool reg_helpers_wanted(const reg_engine *engine, const reg_side *rows, double pairs);

/* A step over rows and columns that lie on the engine's device; near: NULL for all pairs. start: where the lists of
 * these rows begin. */
typedef atn_status reg_step(reg_engine *engine, reg_side *rows, reg_side *columns, const reg_near *near,
                            atn_array *start);
/* `step` over all rows by all devices. nearest: it writes distances and partners, else all sums. */
atn_status reg_helpers_run(reg_engine *engine, reg_side *rows, reg_side *columns, const reg_near *near, bool nearest,
                           reg_step *step);

#endif
