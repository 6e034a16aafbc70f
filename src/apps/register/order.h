/* An order of points whose blocks, of a given number of points, are compact. */
#ifndef ATN_APPS_REGISTER_ORDER_H
#define ATN_APPS_REGISTER_ORDER_H

#include "cloud/points.h"

/* A point relative to one near it, and which one it is. */
typedef struct reg_item {
    float at[3];
    uint32_t index;
} reg_item;

/* Items are halved along the longest side of their bounds, at a multiple of `block`, until a block is left. */
void reg_halve(reg_item *items, size_t count, size_t block);

/* order[k] is the point that comes k-th. Points are given in an order that keeps neighbours together, each species by
 * itself: stretches of a few blocks are halved. */
atn_status reg_order(const cloud_points *points, size_t block, uint32_t *order);

#endif
