/* Points sorted along a Hilbert curve (curve.h) on a device other than the host: they are copied once, sorted and
 * merged there, and only samples of them are copied back. */
#ifndef ATN_APPS_REGISTER_ORDERED_H
#define ATN_APPS_REGISTER_ORDERED_H

#include "apps/register/curve.h"
#include "apps/register/engine.h"

enum { REG_CELL_SIZES = 21 };

/* Zeroed: there are none. Ended by reg_ordered_free. */
typedef struct reg_ordered {
    size_t count;
    double cell;                   /* the edge of the smallest cells, as reg_curve has it */
    double weight;                 /* of all */
    atn_array *x[3], *w;           /* of the device: positions (DP), weights (SP) */
    atn_array *low, *high;         /* words of the keys, once they are in order */
    atn_array *from;               /* INT32: which point each was before, or the first of those it was; may be NULL */
    int32_t cells[REG_CELL_SIZES]; /* that hold points, of 1, 2, 4, ... smallest ones along each axis */
} reg_ordered;

/* Points as they are given, on the device. */
atn_status reg_ordered_load(reg_engine *engine, const cloud_points *given, reg_ordered *out);
/* The same of a matrix of the device's, SP or DP, a row of three for each point; refused where one is not finite.
 * `which` names it. */
atn_status reg_ordered_split(reg_engine *engine, atn_array *rows, const char *which, reg_ordered *out);
void reg_ordered_free(reg_ordered *points); /* zeroed ones are fine */

/* What programs/curve_sums.atn says of them. */
enum { REG_SUMS_COUNT = 17 };
atn_status reg_ordered_sums(reg_engine *engine, const reg_ordered *points, const double origin[3],
                            double total[REG_SUMS_COUNT]);

/* In order along the curve through a raster of reg_curve_raster, points at one place as one, with the weights of eight
 * at most. *settled: false where more points share a smallest cell than the order may leave as they came; then nothing
 * is changed, and reg_curve_make does it. */
atn_status reg_ordered_sort(reg_engine *engine, reg_ordered *points, const double low[3], double cell, bool *settled);

/* Do more than `most` points share a cell of that edge (of reg_curve_edge)? */
atn_status reg_ordered_crowded(reg_engine *engine, const reg_ordered *points, double edge, int32_t most, bool *crowded);

/* How many points reg_ordered_merge would make. */
size_t reg_ordered_cells(const reg_ordered *points, double edge);
/* As reg_curve_merge; *cell: of each point which of the merged ones it is part of, INT32, with zeros behind up to a
 * whole number of the engine's blocks; owned by the caller. */
atn_status reg_ordered_merge(reg_engine *engine, const reg_ordered *points, double edge, reg_ordered *out,
                             atn_array **cell);

/* out[k] = given[place[k]], all of INT32. */
atn_status reg_ordered_words(reg_engine *engine, atn_array *given, atn_array *place, atn_array *out);

/* One by chance of each of `count` runs, in order or not; no more than there are. */
atn_status reg_ordered_choose(reg_engine *engine, const reg_ordered *points, size_t count, reg_ordered *out);
/* The same for the host; all where they are no more than `most`. */
atn_status reg_ordered_sample(reg_engine *engine, const reg_ordered *points, size_t most, cloud_points *out);
/* All of them, as reg_curve_make has them. */
atn_status reg_ordered_fetch(reg_engine *engine, const reg_ordered *points, cloud_points *out, reg_curve *curve,
                             uint32_t **from);

#endif
