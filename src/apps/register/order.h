/* An order of points whose blocks, of a given number of points, are compact. */
#ifndef ATN_APPS_REGISTER_ORDER_H
#define ATN_APPS_REGISTER_ORDER_H

#include "cloud/points.h"

/* order[k] is the point that comes k-th. Each species by itself, lower ones first; within one, points are halved along
 * the longest side of their bounds, at a multiple of `block`, until a block is left. */
atn_status reg_order(const cloud_points *points, size_t block, uint32_t *order);

#endif
