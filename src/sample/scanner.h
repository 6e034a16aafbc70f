/* A scanner that looks at the shape through a disc of evenly spread rays, so that density follows the viewing angle and
 * what is hidden stays hidden; and the pose that a scan lies in. */
#ifndef ATN_SAMPLE_SCANNER_H
#define ATN_SAMPLE_SCANNER_H

#include "sample/scans.h"
#include "sample/shape.h"

enum { SCANNER_SIDE = 128 };
#define SCANNER_OUTLIERS 0.02 /* share of the points that are on no surface */

typedef struct scanner {
    const shape *shape;
    double at[3], right[3], up[3];
    double disc;        /* radius of what is looked at, in the plane through the centre */
    double shift[2];    /* where the sequence of rays begins */
    double jitter;      /* what a ray is off at most, as a share of the width */
    uint64_t next;      /* ray */
    atn_random *random; /* noise and outliers */
    /* From where on there may be something, for the SCANNER_SIDE x SCANNER_SIDE squares of what is looked at; INFINITY:
     * nothing is there. NULL: not known. */
    float *from;
} scanner;

void scanner_cross(const double a[3], const double b[3], double out[3]);
double scanner_normalise(double v[3]); /* returns the length it had */
/* Rodrigues: the rotation by `angle` about the unit vector `axis`, row-major. */
void scanner_rotation(const double axis[3], double angle, double out[9]);
void scanner_turn(const double r[9], const double v[3], double out[3]);

/* Far from the shape, in that direction of it. */
scanner scanner_place(const shape *s, const double direction[3], atn_random *random);

/* Looks once at the middle of each square, so that most rays that meet nothing are never followed, and those that meet
 * something begin shortly before. Fills sc->from; `seen` is room as large. */
void scanner_look_around(scanner *sc, float *seen);

/* The next point of the surface that is seen. */
void scanner_next(scanner *sc, double ray[3], double *distance);
bool scanner_sees(const scanner *sc, const double p[3]);

/* How a scan goes on. */
typedef struct scanner_session {
    atn_ctx *ctx;
    size_t size; /* points */
    double noise;
    atn_scans_progress *progress; /* or NULL */
    void *user;
    double from, share; /* of the whole work: done before this scan, and what it is */
} scanner_session;

/* The scan in the shape's frame; with a transform, moved back by it: shape = T scan. */
atn_status scanner_scan(const scanner_session *s, scanner *sc, const double *transform, atn_cloud **out);

/* turn_deg: about some axis, and a shift that suits it; negative: any turn is equally likely. */
void scanner_draw_pose(atn_random *random, double turn_deg, double t[16]);

#endif
