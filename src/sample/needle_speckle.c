/* Speckle: |E|^2 of a complex normal field E, smoothed over columns and rows as the scanner smooths it, summed over
 * independent looks. */
#include "sample/needle_speckle.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = NEEDLE_TILE_COLUMNS, ROWS = NEEDLE_TILE_ROWS, MOST = 12 };

/* Near enough to normal, of deviation 1: four uniform numbers of 16 bits. What is smoothed is nearer still. */
static float draw(atn_random *random) {
    uint64_t word = atn_random_next(random);
    uint64_t sum = (word & 0xffff) + (word >> 16 & 0xffff) + (word >> 32 & 0xffff) + (word >> 48);
    return ((float)sum - 131070.0F) * (float)(1.7320508 / 65536);
}

/* Weights of mean square 1 over 2 half + 1 places; returns half. */
static int weights(double deviation, float out[2 * MOST + 1]) {
    int half = (int)fmin(ceil(2.5 * deviation), MOST);
    double sum = 0;
    memset(out, 0, (2 * MOST + 1) * sizeof *out);
    for (int k = -half; k <= half; ++k) {
        double w = deviation > 0 ? exp(-0.5 * k * k / (deviation * deviation)) : 1;
        out[k + half] = (float)w;
        sum += w * w;
    }
    for (int k = 0; k <= 2 * half; ++k) out[k] /= (float)sqrt(sum);
    return half;
}

static void smooth_rows(const float *from, int half, const float *w, float *to) {
    for (int r = 0; r < ROWS; ++r) {
        float sum = 0;
        for (int k = -half; k <= half; ++k) sum += w[k + half] * from[(r + k) & (ROWS - 1)];
        to[r] = sum;
    }
}

static void add_square(const float *field, int column, int half, const float *w, float scale, float *tile) {
    float sum[ROWS] = {0};
    for (int k = -half; k <= half; ++k) {
        const float *other = field + (size_t)((column + k) & (COLUMNS - 1)) * ROWS;
        for (int r = 0; r < ROWS; ++r) sum[r] += w[k + half] * other[r];
    }
    for (int r = 0; r < ROWS; ++r) tile[(size_t)column * ROWS + (size_t)r] += scale * sum[r] * sum[r];
}

atn_status needle_speckle_fill(const atn_ctx *ctx, atn_random *random, int looks, double x, double y, float *tile) {
    float across[2 * MOST + 1], along[2 * MOST + 1], white[ROWS];
    float *field = atn_alloc(ctx, (size_t)COLUMNS * ROWS * sizeof *field);
    if (!field) return ATN_ERR_MEMORY;
    int half_x = weights(x, across), half_y = weights(y, along);
    memset(tile, 0, (size_t)COLUMNS * ROWS * sizeof *tile);
    for (int part = 0; part < 2 * looks; ++part) { /* real and imaginary parts are alike */
        for (int c = 0; c < COLUMNS; ++c) {
            for (int r = 0; r < ROWS; ++r) white[r] = draw(random);
            smooth_rows(white, half_y, along, field + (size_t)c * ROWS);
        }
        for (int c = 0; c < COLUMNS; ++c) add_square(field, c, half_x, across, 0.5F / (float)looks, tile);
    }
    atn_free(ctx, field);
    return ATN_OK;
}
