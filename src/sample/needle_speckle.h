/* Tiles of speckle, which go on at their borders: intensities of mean 1, as they are after averaging some looks. */
#ifndef ATN_SAMPLE_NEEDLE_SPECKLE_H
#define ATN_SAMPLE_NEEDLE_SPECKLE_H

#include "base/context.h"
#include "base/random.h"

enum { NEEDLE_TILE_COLUMNS = 512, NEEDLE_TILE_ROWS = 1024 }; /* powers of two */

/* Fills `tile`, column after column. The fields have deviations of `x` columns and `y` rows as their grain; 0: none. */
atn_status needle_speckle_fill(const atn_ctx *ctx, atn_random *random, int looks, double x, double y, float *tile);

#endif
