/* Boxes around blocks of points, with which kernels of batches leave out blocks that are too far from a point. */
#include "apps/register/gather.h"

#include <math.h>

void reg_gather_boxes(const float *at, size_t count, float *to) {
    size_t blocks = REG_BLOCKS(count);
    for (size_t b = 0; b < blocks; ++b) {
        size_t first = b * REG_BLOCK_POINTS, end = first + REG_BLOCK_POINTS < count ? first + REG_BLOCK_POINTS : count;
        for (size_t a = 0; a < 3; ++a) {
            float low = at[a * count + first], high = low;
            for (size_t k = first; k < end; ++k) {
                low = fminf(low, at[a * count + k]);
                high = fmaxf(high, at[a * count + k]);
            }
            to[a * blocks + b] = 0.5F * low + 0.5F * high;
            to[(3 + a) * blocks + b] = 0.5F * high - 0.5F * low;
        }
    }
}
