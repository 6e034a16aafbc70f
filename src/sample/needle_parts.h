/* Shared by the files of the needle sample: mesh, pose, what the beam hits, pixels. */
#ifndef ATN_SAMPLE_NEEDLE_PARTS_H
#define ATN_SAMPLE_NEEDLE_PARTS_H

#include "base/random.h"
#include "sample/needle.h"

#define NEEDLE_CUBE                                                                                                    \
    { 2.7, 2.4, 3.0 } /* x, y, z */

/* ---- needle_mesh.c ---- */
atn_status needle_mesh_make(const atn_ctx *ctx, const atn_needle_sample_settings *settings, const needle_truth *truth,
                            needle_mesh *out);
void needle_mesh_free(const atn_ctx *ctx, needle_mesh *mesh);

/* ---- needle_pose.c ---- */
/* The surface below the needle, y = level + slope . (x - middle) + bow |x - middle|^2 / 2. A plain value. */
typedef struct needle_tissue {
    bool any;
    double level, slope[2], bow, middle[2];
    double thick; /* of its layers: 1 as in the table of needle_scan.c */
} needle_tissue;

/* Draws the pose of the mesh, moves its positions and normals there, and lays the tissue below it. */
void needle_place(const atn_needle_sample_settings *settings, atn_random *random, needle_mesh *placed,
                  needle_truth *truth, needle_tissue *tissue);
double needle_tissue_at(const needle_tissue *tissue, double x, double z);

/* ---- needle_rays.c ---- */
/* What beams along +y meet first, on lines of constant z through each scan: a few about it, for the beam is wide. */
enum { NEEDLE_LINES = 7 };
typedef struct needle_map {
    size_t columns, lines;    /* lines: scans x NEEDLE_LINES */
    size_t parts;             /* columns for each of the volume's */
    double step;              /* of x, between columns; the first is at 0 */
    double z_step, scan_step; /* between the lines of a scan; between scans */
    float *depth, *cosine;    /* owned; y, INFINITY: nothing is met; of the angle of incidence */
} needle_map;
atn_status needle_map_make(const atn_ctx *ctx, const needle_mesh *placed, const double spacing[3],
                           const int64_t shape[3], needle_map *out);
void needle_map_free(const atn_ctx *ctx, needle_map *map);

/* ---- needle_scan.c ---- */
typedef struct needle_optics needle_optics;
/* Tables of noise, of brightness and of the tissue. The settings must outlive it. */
atn_status needle_optics_make(const atn_ctx *ctx, const atn_needle_sample_settings *settings,
                              const needle_tissue *tissue, const needle_map *map, const double spacing[3],
                              needle_optics **out);
void needle_optics_free(needle_optics *optics); /* NULL is fine */
/* One scan, row after row. */
void needle_scan_draw(needle_optics *optics, size_t scan, unsigned char *pixels);

#endif
