/* A bevelled needle and the OCT volume that a scanner would give of it at a known pose. Lengths are millimetres. The
 * model has its axis along z, the tip's point at z = 0, the shaft towards +z, and at roll 0 its cut looks towards -y,
 * from where the beam comes. A pixel (column, row, scan) is at (column dx, row dy, scan dz). */
#ifndef ATN_SAMPLE_NEEDLE_H
#define ATN_SAMPLE_NEEDLE_H

#include "base/context.h"
#include "base/text.h"

#include <attune/image.h>

/* What is made. Start from ATN_NEEDLE_SAMPLE_USUAL. */
typedef struct atn_needle_sample_settings {
    uint64_t seed;    /* the same seed, the same bytes */
    int32_t gauge;    /* of the tube: a row of the table of atn_needle_gauge */
    double bevel_deg; /* between the axis and the cut, 5 to 89 */
    double bend;      /* radius to which the shaft curves behind the bevel, >= 5; 0: straight */
    double tilt_deg;  /* of the axis about x and about y at most, 0 to 30 */
    double roll_deg;  /* at most, to either side, 0 to 180 */
    bool from_high;   /* the shaft leaves towards the first scan, not the last */
    int64_t shape[3]; /* scans, rows, columns: the cube stays 3.0 x 2.4 x 2.7 */
    double noise;     /* 1: as scanners have it, 0: neither speckle nor noise; up to 4 */
    double missing;   /* share of scans that are black, 0 to 0.9 */
    bool no_tissue;   /* nothing below the needle */
    bool no_needle;   /* only what is below it */
    int64_t frame;    /* of a needle that sways about its pose: half a degree and 10 um a frame at most; 0: not yet */
} atn_needle_sample_settings;
extern const atn_needle_sample_settings ATN_NEEDLE_SAMPLE_USUAL;

/* Outer and inner diameter of a gauge; false: there is no such. */
bool atn_needle_gauge(int32_t gauge, double *outer, double *inner);

/* A closed surface of triangles. Owns its arrays. */
typedef struct needle_mesh {
    size_t vertices, triangles;
    double *position;   /* x y z after x y z */
    double *normals;    /* of each triangle's three corners: 9 numbers */
    uint32_t *triangle; /* three vertices each, counterclockwise from outside */
} needle_mesh;

/* What is true of a sample. A plain value. */
typedef struct needle_truth {
    double transform[16]; /* 4 x 4, row-major, scan = T model */
    double tip_model[3], tip_scan[3];
    double roll_deg, tilt_deg[2]; /* about the needle's axis; of the axis about x and y */
    double shift;                 /* z of the tip in the scan */
    double outer, inner;          /* diameters */
    double bevel_length;          /* of the cut along the axis */
    double bevel_incidence_deg;   /* between the beam and the cut's normal; over 90: it looks away */
    bool bevel_visible;           /* all of it in the scan, and met at 75 degrees or less */
    bool tip_in_scan;
    double spacing[3]; /* columns, rows, scans */
    double clearance;  /* between the needle and the tissue along the beam; 0: no tissue */
} needle_truth;

/* Owns what it has: atn_needle_sample_free. */
typedef struct atn_needle_sample {
    const atn_ctx *ctx;
    needle_mesh mesh;
    needle_truth truth;
    atn_volume *volume; /* 8 bits */
    bool *missing;      /* for each scan: is it black? */
} atn_needle_sample;

/* Called now and then with the share that is done. */
typedef void atn_needle_sample_progress(void *user, double done);

/* Settings that cannot be are refused with ATN_ERR_INPUT. On failure *out is empty. */
atn_status atn_needle_sample_make(atn_ctx *ctx, const atn_needle_sample_settings *settings,
                                  atn_needle_sample_progress *progress, void *user, atn_needle_sample *out);
void atn_needle_sample_free(atn_needle_sample *sample); /* zeroed ones are fine */

/* The model as a file: binary STL, binary PLY. */
atn_status atn_needle_sample_stl(const atn_needle_sample *sample, const char *path);
atn_status atn_needle_sample_ply(const atn_needle_sample *sample, const char *path);

#endif
