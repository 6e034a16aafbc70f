/* What the tests of the passes share: a program expanded for given sizes, and its plan as text. */
#ifndef ATN_TESTS_PLANKIT_H
#define ATN_TESTS_PLANKIT_H

#include "testkit.h"

#include "plan/plan.h"

/* The head's data in its order: sizes as {length, 1} or {columns, rows}, {-1, -1}: not bound; scalars' values. */
typedef struct plan_case {
    const char *text;
    int64_t size[8][ATN_MAX_RANK];
    double value[8][2];
    int8_t seams;                  /* -1: as estimated, 0 or 1: all of them; 2: that pass is left out */
    const atn_device_info *device; /* NULL: a host */
} plan_case;

/* Expands, and fuses where wanted. The plan goes with the programs. */
atn_plan *plan_make(atn_ctx *ctx, const plan_case *of, atn_programs **programs);
atn_status plan_try(atn_ctx *ctx, const plan_case *of, atn_programs **programs, atn_plan **plan);
void plan_done(atn_plan *plan, atn_programs *programs);

/* The lines of the plan between "program ..." and "arrays" are these; or those of "arrays", or "seams". */
void plan_steps_are(const atn_plan *plan, const char *lines);
void plan_part_is(const atn_plan *plan, const char *part, const char *lines);

#endif
