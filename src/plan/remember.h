/* What was measured of whole plans: which seams are fused. Wisdom keeps it under the steps of the program as they are
 * unfolded, the sizes of the caller's arrays and the device, as "seams=10-1": fused, not fused, not possible. */
#ifndef ATN_PLAN_REMEMBER_H
#define ATN_PLAN_REMEMBER_H

#include "plan/plan.h"
#include "tune/key.h"

/* Of a plan that is expanded and not fused yet. Not to be copied. */
void atn_plan_key(const atn_plan *plan, const atn_device_info *info, atn_tune_key *out);

void atn_plan_seams_print(const atn_plan *plan, atn_text *out); /* once fused */
/* For `count` seams: 1, 0 or -1; false: the text is of another plan, or of none. */
bool atn_plan_seams_read(const char *text, int8_t *wanted, int32_t count);

/* Before the plan is fused: *wanted is of its arena, and NULL where nothing is known; plan->origin says where it is
 * from.
 */
atn_status atn_plan_recall(atn_plan *plan, const atn_device_info *info, int8_t **wanted, int32_t *count);

#endif
