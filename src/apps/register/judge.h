/* Shared by the files of the verdict. */
#ifndef ATN_APPS_REGISTER_JUDGE_H
#define ATN_APPS_REGISTER_JUDGE_H

#include "apps/register/fitness_points.h"

/* Clouds in which no turn can be seen are no question with an answer; the reason. */
bool judge_degenerate(const reg_problem *p, char *why, size_t bytes);

/* ---- judge_sliding.c ---- */
/* Directions in which the source can be moved by some spacings and fits as well: r->sliding; what it is like, or "". */
void judge_sliding(const reg_problem *p, const fitness_seen *seen, atn_register_result *r, char *like, size_t bytes);

/* ---- judge_rivals.c ---- */
/* Of what is no wall, the share at the other's surface; a half where there is nothing. */
double judge_detail(const fitness_seen *seen);
/* What a pose is worth beside the answer, whose own value is seen->value. */
double judge_value(const fitness_seen *there, const fitness_seen *answer);
/* The source's points where a transform sends them; each of a list of transforms, after another one. */
atn_status judge_moved(const reg_problem *p, const double t[16], cloud_points *out);
void judge_after(double (*list)[16], size_t count, const double t[16]);
/* Poses far from the answer: r->runner_up, r->alternatives, p->rival, p->beaten. */
atn_status judge_rivals(reg_problem *p, const fitness_seen *seen, atn_register_result *r);
/* The same where planes tell nothing: nearest points are compared. ahead: deviations by which the answer's mean score
 * is above that of every other pose; INFINITY where there is none. */
atn_status judge_rivals_by_points(reg_problem *p, const fitness_scores *scores, atn_register_result *r, double *ahead);

/* ---- judge_mirror.c ---- */
/* The value that the mirrored source reaches, over the answer's; what is below `least` tells nothing. */
atn_status judge_mirror(reg_problem *p, const fitness_seen *seen, double least, double *as_well);
/* The same where planes tell nothing; ahead: deviations that the answer's mean score is above the mirrored source's. */
atn_status judge_mirror_by_points(reg_problem *p, const fitness_seen *seen, const fitness_scores *scores,
                                  double *as_well, double *ahead);

#endif
