/* Sides built from points that are sorted on the device. */
#ifndef ATN_APPS_REGISTER_ORDERED_SIDE_H
#define ATN_APPS_REGISTER_ORDERED_SIDE_H

#include "apps/register/ordered.h"

/* As reg_side_make: all of it is on the device, and the host's part is on its way until reg_side_settle. Of 32 or 64
 * bits. */
atn_status reg_side_of(reg_engine *engine, const reg_ordered *points, const double origin[3], double unit,
                       reg_side *out);
/* Boxes, and what follows from them. Once. */
atn_status reg_side_settle(reg_side *side);

/* As reg_side_spacing, of such a side and the points that it was made from. */
atn_status reg_ordered_spacing(reg_engine *engine, const reg_ordered *points, const reg_side *side,
                               const double origin[3], double unit, double *spacing);

/* As reg_curve_guess, of points on the device that need not be in order. */
atn_status reg_ordered_guess(reg_engine *engine, const reg_ordered *points, double *spacing);

#endif
