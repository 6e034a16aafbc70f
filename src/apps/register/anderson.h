/* Anderson acceleration of a fixed-point iteration over rigid maps: the next guess from the last few steps. */
#ifndef ATN_APPS_REGISTER_ANDERSON_H
#define ATN_APPS_REGISTER_ANDERSON_H

#include "geom/pose.h"

enum { REG_ANDERSON_DEPTH = 5 };

/* A plain value. Maps are twists relative to `base`. */
typedef struct reg_anderson {
    geom_pose base, back;
    int32_t count;                                                           /* steps seen */
    double from[REG_ANDERSON_DEPTH + 1][6], step[REG_ANDERSON_DEPTH + 1][6]; /* the newest first */
} reg_anderson;

void reg_anderson_begin(reg_anderson *history, const geom_pose *base);

/* One step went from `from` to `to`. Where to go next; false: just to `to`. */
bool reg_anderson_next(reg_anderson *history, const geom_pose *from, const geom_pose *to, geom_pose *next);

#endif
