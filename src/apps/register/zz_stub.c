#include "apps/register/problem.h"
atn_status reg_softassign(reg_problem *p) { return atn_fail(p->engine.ctx, ATN_ERR_UNSUPPORTED, "not yet"); }
atn_status reg_cpd(reg_problem *p) { return reg_softassign(p); }
