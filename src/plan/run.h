/* Running a plan: its steps built once, its arrays bound, loops and branches followed; or the oracle's way, step by
 * step on the host. */
#ifndef ATN_PLAN_RUN_H
#define ATN_PLAN_RUN_H

#include "kernel/sequence.h"
#include "plan/plan.h"

typedef struct atn_planned atn_planned;

/* Takes the plan over, also where it fails. Owned by the caller, freed before the device is closed. */
atn_status atn_planned_create(const atn_ctx *ctx, atn_plan *plan, atn_planned **out);
void atn_planned_free(atn_planned *planned); /* NULL is fine */
atn_plan *atn_planned_plan(const atn_planned *planned);
atn_runner *atn_planned_runner(const atn_planned *planned);

/* The caller's array for a name of the head; another one of the same shape may be bound between runs. */
void atn_planned_bind(atn_planned *planned, int32_t head, const atn_slot *slot);
atn_slot atn_planned_slot(const atn_planned *planned, int32_t head); /* also of unbound results */

/* Sizes and scalars for every step, without a device: what they would run may then be asked of the runner. */
atn_status atn_planned_ready(atn_planned *planned);

/* Before it is built: on a host without a compiler, steps that are not compiled in are interpreted, slowly. */
void atn_planned_interpret(atn_planned *planned);

/* Memory for temporaries, and every step as it is chosen for its sizes. `variant`: all as this one; NULL: chosen. */
atn_status atn_planned_build(atn_planned *planned, atn_device *device, const atn_variant *variant,
                             const atn_choose_options *options);
/* No allocation and no look-up; waits only where the host follows a loop or a branch. From the second run on, steps in
 * a row, and loops of steps where the device can, are one launch where it has such. */
atn_status atn_planned_run(atn_planned *planned);
/* Changes scalars, by name of the head: what is built stays, unless a scalar decides (atn_plan_scalar). */
atn_status atn_planned_give(atn_planned *planned, const double (*value)[2]);

/* The oracle: slots' view.data, which all of the caller's arrays have; of a plan that was only expanded. */
atn_status atn_planned_eval(atn_planned *planned, int64_t *bad_accesses);

/* What a person should know of the last run: a loop that met no number, or did not end by itself; NULL: nothing. Waits
 * for the run where that has loops. */
const char *atn_planned_note(atn_planned *planned);

#endif
