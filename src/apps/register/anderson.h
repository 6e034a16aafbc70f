/* Anderson acceleration of a fixed-point iteration over rigid maps: the next guess from the last few steps. */
#ifndef ATN_APPS_REGISTER_ANDERSON_H
#define ATN_APPS_REGISTER_ANDERSON_H

#include "apps/register/pose.h"

enum { REG_ANDERSON_DEPTH = 5 };

/* A plain value. Maps are twists relative to `base`. */
typedef struct reg_anderson {
    reg_pose base, back;
    int32_t count;                                                           /* steps seen */
    double from[REG_ANDERSON_DEPTH + 1][6], step[REG_ANDERSON_DEPTH + 1][6]; /* the newest first */
} reg_anderson;

void reg_anderson_begin(reg_anderson *history, const reg_pose *base);

/* One step went from `from` to `to`. Where to go next; false: just to `to`. */
bool reg_anderson_next(reg_anderson *history, const reg_pose *from, const reg_pose *to, reg_pose *next);

#endif
