/* The angle t of a rotation has cos(t / 2) = |w|; symmetries permute and mix the components of the rotation between two
 * orientations, and the largest w that they reach is the smallest angle. */
#include "cli/lattice_turns.h"

#include <math.h>
#include <stdlib.h>

static const double DEGREES = 57.29577951308232; /* in a radian */

static int downwards(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

double lattice_misorientation(const float a[4], const float b[4], bool hexagonal) {
    double p[4], q[4], w;
    for (int k = 0; k < 4; ++k) p[k] = (double)a[k], q[k] = (double)b[k];
    double d[4] = {p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3], /* conj(a) b: between crystal frames */
                   p[0] * q[1] - p[1] * q[0] - p[2] * q[3] + p[3] * q[2],
                   p[0] * q[2] + p[1] * q[3] - p[2] * q[0] - p[3] * q[1],
                   p[0] * q[3] - p[1] * q[2] + p[2] * q[1] - p[3] * q[0]};
    if (hexagonal) {
        double least = 0;
        for (int k = 0; k < 6; ++k) {
            double c = cos(k * 0.5235987755982988), s = sin(k * 0.5235987755982988);
            least = fmax(least, fmax(fabs(d[0] * c + d[3] * s), fabs(d[1] * c + d[2] * s)));
        }
        w = least;
    } else {
        for (int k = 0; k < 4; ++k) d[k] = fabs(d[k]);
        qsort(d, 4, sizeof *d, downwards);
        w = fmax(d[0], fmax((d[0] + d[1]) * 0.7071067811865476, (d[0] + d[1] + d[2] + d[3]) / 2));
    }
    return 2 * acos(fmin(1, w)) * DEGREES;
}

void lattice_turned(const float q[4], const double v[3], double out[3]) {
    double w = (double)q[0], x = (double)q[1], y = (double)q[2], z = (double)q[3];
    out[0] = (1 - 2 * (y * y + z * z)) * v[0] + 2 * (x * y - w * z) * v[1] + 2 * (x * z + w * y) * v[2];
    out[1] = 2 * (x * y + w * z) * v[0] + (1 - 2 * (x * x + z * z)) * v[1] + 2 * (y * z - w * x) * v[2];
    out[2] = 2 * (x * z - w * y) * v[0] + 2 * (y * z + w * x) * v[1] + (1 - 2 * (x * x + y * y)) * v[2];
}

void lattice_direction_colour(const double direction[3], bool hexagonal, int rgb[3]) {
    double v[3] = {fabs(direction[0]), fabs(direction[1]), fabs(direction[2])}, part[3];
    if (hexagonal) {
        double turn = fmod(atan2(v[1], v[0]) * 6 / 3.14159265358979323846 + 12, 2);
        part[0] = v[2], part[1] = (1 - v[2]) * fabs(turn - 1), part[2] = (1 - v[2]) * (1 - fabs(turn - 1));
    } else {
        qsort(v, 3, sizeof *v, downwards);
        part[0] = v[0] - v[1], part[1] = (v[1] - v[2]) * 1.4142135623730951, part[2] = v[2] * 1.7320508075688772;
    }
    double most = fmax(fmax(part[0], part[1]), fmax(part[2], 1e-9));
    for (int k = 0; k < 3; ++k) rgb[k] = (int)(255 * sqrt(fmin(fmax(part[k] / most, 0), 1)));
}

void lattice_turn_colour(const float q[4], bool hexagonal, int rgb[3]) {
    const float back[4] = {q[0], -q[1], -q[2], -q[3]};
    double direction[3];
    lattice_turned(back, (const double[]){0, 0, 1}, direction);
    lattice_direction_colour(direction, hexagonal, rgb);
}
