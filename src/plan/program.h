/* Internals of programs: which seams are fused. */
#ifndef ATN_PLAN_PROGRAM_H
#define ATN_PLAN_PROGRAM_H

#include "plan/run.h"

#include <attune/program.h>

/* Per seam 1, 0, or -1: as the estimate says; for the plans made from now on. Copied. */
atn_status atn_program_seams(atn_program *program, const int8_t *wanted, int32_t count);
void atn_program_queues(atn_program *program, int32_t most); /* 0: as many as help; for the plans made from now on */
const atn_plan *atn_program_get_plan(const atn_program *program); /* NULL: not planned */
/* Variants that do not depend on sizes: steps of a kernel over arrays of all sizes share what is built. */
void atn_program_any_size(atn_program *program);
void atn_program_trust(atn_program *program); /* attune itself made all index arrays: gathers go unguarded */

#endif
