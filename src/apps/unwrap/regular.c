/* How regular the phase is around a pixel: |mean of exp(i (psi - plane))| over 3 x 3 pixels, where the plane has the
 * mean slopes of 5 x 5. 1: a plane; about 1/3: noise. Unlike a correlation without the slope taken out, steep fringes
 * lose nothing. */
#include "apps/unwrap/regular.h"

#include <math.h>

enum { SLOPES = 2, AROUND = 1 }; /* pixels to each side */

static unwrap_phasor unit_of(unwrap_phasor z) {
    float length = cabsf(z);
    return length > 0 ? z / length : 1;
}

/* The mean step from a pixel to the next one along an axis, as a phasor. */
static unwrap_phasor slope_at(const unwrap_phasors *f, int64_t i, int64_t j, int64_t di, int64_t dj) {
    unwrap_phasor sum = 0;
    for (int64_t y = j - SLOPES; y <= j + SLOPES; ++y) {
        if (y < 0 || y + dj >= f->height) continue;
        for (int64_t x = i - SLOPES; x <= i + SLOPES; ++x)
            if (x >= 0 && x + di < f->width)
                sum += f->value[(y + dj) * f->width + x + di] * conjf(f->value[y * f->width + x]);
    }
    return unit_of(sum);
}

static float regular_at(const unwrap_phasors *f, int64_t i, int64_t j) {
    unwrap_phasor x = slope_at(f, i, j, 1, 0), y = slope_at(f, i, j, 0, 1), sum = 0;
    unwrap_phasor back_x[3] = {x, 1, conjf(x)}, back_y[3] = {y, 1, conjf(y)};
    float count = 0;
    for (int64_t dj = -AROUND; dj <= AROUND; ++dj)
        for (int64_t di = -AROUND; di <= AROUND; ++di) {
            if (i + di < 0 || i + di >= f->width || j + dj < 0 || j + dj >= f->height) continue;
            unwrap_phasor value = f->value[(j + dj) * f->width + i + di];
            sum += value * back_x[di + AROUND] * back_y[dj + AROUND];
            count += value != 0;
        }
    return count > 0 ? cabsf(sum) / count : 0;
}

void unwrap_regularity(const unwrap_phasors *f, float *out) {
    for (int64_t j = 0; j < f->height; ++j)
        for (int64_t i = 0; i < f->width; ++i) out[j * f->width + i] = regular_at(f, i, j);
}
