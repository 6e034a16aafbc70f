/* Points along Hilbert's curve through cells that are halved again and again: cells of any size are runs of points, so
 * that one sort finds equal points, crowds, and all coarser resolutions. */
#ifndef ATN_APPS_REGISTER_CURVE_H
#define ATN_APPS_REGISTER_CURVE_H

#include "cloud/points.h"

enum { REG_CURVE_HALVINGS = 21 };                            /* of the raster's side, at most */
static const uint64_t REG_CURVE_OUTSIDE = (uint64_t)1 << 63; /* of keys: each is a cell of its own */

/* Made by reg_curve_make, ended by reg_curve_free. */
typedef struct reg_curve {
    const atn_ctx *ctx;
    double cell;   /* the edge of the smallest cells; 0: all points are at one place */
    uint64_t *key; /* of the cell of each point; they ascend within a species */
} reg_curve;

/* Places of some points: one by chance out of each of `count` runs of `all`, count <= all. */
void reg_curve_choose(size_t all, size_t count, int32_t *out);

/* About how far points are from their neighbours, from few of them: how fast that grows with fewer still says what it
 * is for all. */
atn_status reg_curve_guess(const cloud_points *points, double *spacing);
/* The parts of it: how many points are looked at, and what their spacing and that of one in REG_FEWER of them say. */
enum { REG_FEWER = 16 };
size_t reg_curve_guessed(size_t count);
double reg_curve_extrapolate(size_t guessed, size_t count, double of_some, double of_few);

/* The edge of the smallest cells for points within these bounds, of which `some` tell where nearly all are, and the
 * lowest corner of their raster; `like` as in reg_curve_make. */
double reg_curve_raster(const cloud_points *some, const double low[3], const double high[3], double like,
                        double corner[3]);

/* *out: the points in order, each species by itself. Cells are a power of two as large as `like`; 0: any will do.
 * distinct: points at the same place (and of one species) become one with their weights, those of 8 at most
 * (`given->weight` is changed for it). *from: which point each one was before, owned by the caller (atn_free). The same
 * for any number of threads. */
atn_status reg_curve_make(const cloud_points *given, double like, bool distinct, cloud_points *out, reg_curve *curve,
                          uint32_t **from);
double reg_curve_cell(const cloud_points *given, double like); /* of the curve that it makes */
void reg_curve_free(reg_curve *curve);                         /* zeroed ones are fine */

/* The edge of the cells that are nearest to `edge` in size; not below the smallest ones. */
double reg_curve_edge(const reg_curve *curve, double edge);

/* One point for each cell of that edge (of reg_curve_edge), at the weighted mean, with the sum of the weights; species
 * are kept apart. In order again. */
atn_status reg_curve_merge(const cloud_points *points, const reg_curve *curve, double edge, cloud_points *out,
                           reg_curve *out_curve);

/* Which of the points that reg_curve_merge makes each point is part of, with the same edge. */
atn_status reg_curve_cells(const cloud_points *points, const reg_curve *curve, double edge, uint32_t *cell);

/* How many bits of a key name a place within a cell of that edge; are places of such bits in one cell? */
int reg_curve_bits(const reg_curve *curve, double edge);
static inline bool reg_curve_same(uint64_t a, uint64_t b, int bits) {
    return (a >> bits == b >> bits) & !(a & REG_CURVE_OUTSIDE);
}

/* How many points reg_curve_merge leaves with cells of that edge. */
typedef struct reg_curve_counts {
    double cell;
    size_t of[REG_CURVE_HALVINGS + 1]; /* with cells 2^k times as large as the smallest ones */
} reg_curve_counts;
void reg_curve_count(const cloud_points *points, const reg_curve *curve, reg_curve_counts *out);
size_t reg_curve_counted(const reg_curve_counts *counts, double edge);

/* Has a cell of that edge more than `most` points? */
bool reg_curve_crowded(const cloud_points *points, const reg_curve *curve, double edge, size_t most);

/* Merges points where they crowd: of a cell of that edge with more than `most` points, those that share a smaller cell,
 * as small as leaves `most` of them. Elsewhere nothing changes. `from` follows. */
atn_status reg_curve_thin(cloud_points *points, reg_curve *curve, double edge, size_t most, uint32_t *from);

#endif
