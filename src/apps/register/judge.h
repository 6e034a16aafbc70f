/* What the files of the verdict share. */
#ifndef ATN_APPS_REGISTER_JUDGE_H
#define ATN_APPS_REGISTER_JUDGE_H

#include "apps/register/fitness_points.h"

/* Clouds in which no turn can be seen are no question with an answer; the reason. */
bool judge_degenerate(const reg_problem *p, char *why, size_t bytes);

/* ---- judge_sliding.c ---- */
/* Directions in which the source can be moved by some spacings and fits as well: r->sliding; what it is like, or "". */
void judge_sliding(const reg_problem *p, const fitness_seen *seen, atn_register_result *r, char *like, size_t bytes);

/* ---- judge_rivals.c ---- */
/* Poses far from the answer: r->runner_up, r->alternatives, p->rival, p->beaten. */
atn_status judge_rivals(reg_problem *p, const fitness_seen *seen, atn_register_result *r);
/* The same where planes tell nothing: nearest points are compared. ahead: deviations by which the answer's mean score
 * is above that of every other pose; INFINITY where there is none. */
atn_status judge_rivals_by_points(reg_problem *p, const fitness_scores *scores, atn_register_result *r, double *ahead);

#endif
