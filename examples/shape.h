/* What the examples of registration share: a lumpy thing without symmetry, as two clouds of different points, the
 * source turned and shifted by a motion that is known. Public headers only. */
#ifndef EXAMPLES_SHAPE_H
#define EXAMPLES_SHAPE_H

#include <attune/attune.h>

#include <math.h>
#include <stdlib.h>

enum { SHAPE_POINTS = 1500 };

/* target = T source: a turn by a tenth of a radian about an axis that is no coordinate's, and a shift. */
static const double SHAPE_TRUTH[16] = {0.995894192619654,
                                       -0.068303857776423,
                                       0.059408249589654,
                                       0.1,
                                       0.070751432965900,
                                       0.996686873220791,
                                       -0.040118717360295,
                                       -0.05,
                                       -0.056471159362282,
                                       0.044157216422931,
                                       0.997427264715607,
                                       0.02,
                                       0,
                                       0,
                                       0,
                                       1};

/* The surface in a direction given by its height z and a turn around the axis; the radius depends on the direction. */
static inline void shape_point(double z, double turn, double p[3]) {
    double around = sqrt(1 - z * z), x = around * cos(turn), y = around * sin(turn);
    double radius = 1 + 0.3 * exp(8 * (x - 1)) + 0.5 * exp(12 * (0.6 * y + 0.8 * z - 1)) - 0.2 * exp(5 * (-z - 1)) +
                    0.25 * exp(10 * (0.48 * x - 0.6 * y - 0.64 * z - 1));
    p[0] = radius * x;
    p[1] = 0.8 * radius * y;
    p[2] = 0.6 * radius * z;
}

/* Numbers from 0 to 1 that look random and are the same everywhere. */
static inline double shape_draw(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0;
}

/* Points anywhere on the surface; `moved_back` by the inverse of the truth, so that the truth moves them onto the rest.
 */
static inline atn_status shape_cloud(atn_ctx *ctx, uint32_t seed, int moved_back, atn_cloud **out) {
    const double *t = SHAPE_TRUTH;
    double *points = malloc(SHAPE_POINTS * 3 * sizeof *points);
    atn_status status = points ? ATN_OK : ATN_ERR_MEMORY;
    for (int k = 0; k < SHAPE_POINTS && points; ++k) {
        double p[3], *to = points + 3 * k, z = 2 * shape_draw(&seed) - 1;
        shape_point(z, 6.283185307179586 * shape_draw(&seed), p);
        for (int d = 0; d < 3; ++d)
            to[d] = moved_back ? t[d] * (p[0] - t[3]) + t[4 + d] * (p[1] - t[7]) + t[8 + d] * (p[2] - t[11]) : p[d];
    }
    if (status == ATN_OK) status = atn_cloud_create(ctx, SHAPE_POINTS, points, NULL, out);
    free(points);
    return status;
}
static inline atn_status shape_source(atn_ctx *ctx, atn_cloud **out) { return shape_cloud(ctx, 1, 1, out); }
static inline atn_status shape_target(atn_ctx *ctx, atn_cloud **out) { return shape_cloud(ctx, 2, 0, out); }

/* The largest difference to the truth; the points are about 0.1 apart. */
static inline double shape_error(const double transform[16]) {
    double most = 0;
    for (int k = 0; k < 16; ++k) most = fmax(most, fabs(transform[k] - SHAPE_TRUTH[k]));
    return most;
}

#endif
