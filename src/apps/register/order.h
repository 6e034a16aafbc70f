/* Blocks of neighbours, of a given number of points, where no raster tells points apart. */
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

#endif
