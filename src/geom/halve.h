/* Blocks of neighbours, of a given number of points, where no raster separates points. */
#ifndef ATN_GEOM_HALVE_H
#define ATN_GEOM_HALVE_H

#include <stddef.h>
#include <stdint.h>

/* A point relative to one near it, and which one it is. */
typedef struct geom_item {
    float at[3];
    uint32_t index;
} geom_item;

/* Items are halved along the longest side of their bounds, at a multiple of `block`, until a block is left. */
void geom_halve(geom_item *items, size_t count, size_t block);

#endif
