/* Counting the normals along a cloud's principal directions. */
#include "apps/register/fitness_normals.h"

#include "base/lanes.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

void fitness_normals_add(fitness_normals *n, const float normal[3]) {
    for (int a = 0; a < 3; ++a) n->of[a][n->count] = normal[a];
    ++n->count;
}

static const float ALONG = 0.966F; /* 15 degrees */

static inline bool is_along(const fitness_normals *n, size_t k, const float direction[3]) {
    return fabsf(direction[0] * n->of[0][k] + direction[1] * n->of[1][k] + direction[2] * n->of[2][k]) > ALONG;
}

ATN_IN_LANES static int32_t count_along(const fitness_normals *n, const float direction[3]) {
    const float *x = n->of[0], *y = n->of[1], *z = n->of[2], a = direction[0], b = direction[1], c = direction[2];
    int32_t count = 0;
    ATN_LANES(reduction(+ : count))
    for (size_t k = 0; k < n->count; ++k) count += fabsf(a * x[k] + b * y[k] + c * z[k]) > ALONG ? 1 : 0;
    return count;
}

double fitness_normals_along_three(fitness_normals *n) {
    enum { DIRECTIONS = 3, TRIES = 24 };
    size_t count = n->count;
    for (int k = 0; k < DIRECTIONS && n->count; ++k) {
        float best[3] = {0};
        int32_t most = 0;
        for (size_t i = 0; i < n->count; i += n->count / TRIES + 1) {
            const float own[3] = {n->of[0][i], n->of[1][i], n->of[2][i]};
            int32_t like = count_along(n, own);
            if (like > most) most = like, memcpy(best, own, sizeof best);
        }
        size_t kept = 0, all = n->count;
        for (size_t j = 0; j < all; ++j) {
            if (is_along(n, j, best)) continue;
            for (int a = 0; a < 3; ++a) n->of[a][kept] = n->of[a][j];
            ++kept;
        }
        n->count = kept;
    }
    return count ? 1 - (double)n->count / (double)count : 0;
}
