/* Tuning a program: which seams are fused, by running the whole program, and its steps as workloads of the tuner. */
#ifndef ATN_PLAN_TUNE_H
#define ATN_PLAN_TUNE_H

#include "base/arena.h"
#include "plan/plan.h"
#include "tune/tune.h"

/* Starting from the estimate's plan, seams are toggled one by one as long as the whole gets faster; every plan is run
 * on the same generated elements and compared with the first. The best is stored in the wisdom. Of the options,
 * budget_s, evaluations, seed, tolerance, reproducible, again, progress and user apply. `out`: variant is the seams as
 * text. */
atn_status atn_plan_tune(atn_device *device, atn_wisdom *wisdom, const atn_programs *programs,
                         const atn_plan_given *given, const atn_tune_options *options, atn_tune_result *out);

/* One step of a plan as a workload; its texts are of the arena. */
atn_status atn_plan_workload(const atn_plan *plan, const atn_graph *step, atn_arena *arena, atn_workload *out);

#endif
