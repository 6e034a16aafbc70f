/* Where registration starts when nobody says: any turn, any shift, partial overlap. Points that look alike by the shape
 * around them are paired, pairs that agree with each other make starts, and the start that puts most of the source on
 * the target wins; a few dozen turns spread evenly are tried as well. */
#ifndef ATN_APPS_REGISTER_SEARCH_H
#define ATN_APPS_REGISTER_SEARCH_H

#include "cloud/points.h"

#include <attune/register.h>

/* A plain value. */
typedef struct reg_start {
    double transform[16]; /* 4 x 4, row-major, target = T source */
    double score;         /* share of the source that lies on the target, in [0, 1]; 0 where nothing could be tried */
    double runner_up;     /* of the best start that is turned by over 15 degrees from it */
    int32_t tried;        /* starts; 0: points on a line or at one place, which have no turn: centroids are aligned */
} reg_start;

/* A start for moving `source` onto `target`, good to a few degrees and some percent of the extent; with a scale where
 * settings->transform is not rigid. The same every time; with settings->reproducible for any number of threads too. */
atn_status reg_search(atn_device *device, const cloud_points *source, const cloud_points *target,
                      const atn_register_settings *settings, reg_start *out);

#endif
