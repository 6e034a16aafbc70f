/* What the tests of registration share: a device, shapes of points with a known motion, and how far a result is off. */
#ifndef ATN_TESTS_REGKIT_H
#define ATN_TESTS_REGKIT_H

#include "testkit.h"

#include <attune/register.h>

/* The host as a device, on a context of its own. */
typedef struct kit_host {
    atn_ctx *ctx;
    atn_devices *devices;
    atn_device *device;
} kit_host;
kit_host host_open(void);
void host_close(kit_host *host);

/* Points of a ball with bumps, about 1 in radius and like no turned copy of itself. */
typedef struct shape {
    size_t points;
    uint64_t seed;       /* of where on the surface they are: shapes with the same one have the same points */
    uint64_t noise_seed; /* of noise and outliers */
    double noise;        /* standard deviation along each axis */
    double cut;          /* points with more z than that are left out; 0: none */
    double outliers;     /* share of points spread over a box of side 3 instead */
    const double *back;  /* 4 x 4: points are where this map brings them; NULL: where they are */
} shape;
atn_cloud *shape_make(atn_ctx *ctx, const shape *s);
/* Positions alone, 3 * points; owned by the caller (free). Fewer where some are cut: *count. */
double *shape_positions(const shape *s, size_t *count);

/* 4 x 4 of a turn by `degrees` about an axis, a scale, and a shift; and its inverse. */
void motion_make(double degrees, const double axis[3], double scale, const double shift[3], double out[16]);
void motion_invert(const double m[16], double out[16]);

/* Between two maps: the angle of their rotations in degrees, and the distance of where they send `at`. */
double turn_between(const double a[16], const double b[16]);
double way_between(const double a[16], const double b[16], const double at[3]);

#endif
