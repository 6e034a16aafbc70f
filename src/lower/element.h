/* Elements of objects, shared by the files that generate reads (read.c) and writes (write.c); the rest of element.c's
 * interface is in lowering.h. */
#ifndef ATN_LOWER_ELEMENT_H
#define ATN_LOWER_ELEMENT_H

#include "lower/lowering.h"

/* offset + (plane * rows + row) * pitch + column, counted in elements. */
ir_ref lower_element(lowering *l, int32_t object, lower_at where);
ir_ref lower_load_apart(lowering *l, int32_t object, ir_ref at, int32_t part, int32_t width, int32_t apart);
ir_ref lower_load(lowering *l, int32_t object, ir_ref at, int32_t part, int32_t width);
lower_at lower_address(lowering *l, lower_at at);
/* Are all indices inside? `above`: only the upper bound is in doubt. */
ir_ref lower_all_within(lowering *l, int32_t object, lower_at at, bool above, bool computed);
void lower_report(lowering *l, ir_ref good, int32_t id);
/* Are the lanes of the vector in different rows? */
bool lower_rows_differ(const lowering *l, const atn_value select[ATN_MAX_RANK]);
/* The distance in memory between the lanes of the vector: 1, contiguous; 2, every other element, which a CPU
 * deinterleaves with shuffles; 0, anything else, lane by lane. */
int32_t lower_lanes_apart(const lowering *l, const atn_value select[ATN_MAX_RANK], atn_type type);
/* Points that were clamped back inside must not write, nor read what others write. */
ir_ref lower_inside_points(lowering *l, uint32_t dims, place at);
/* Contiguous steps of a scan's item (pack_q0), or contiguous `points`: how many elements of such an access are moved at
 * once (1: one by one), and along which dimension. */
int32_t lower_moved_at_once(const lowering *l, const atn_value select[ATN_MAX_RANK], atn_type type, bool points,
                            int32_t *dim);

#endif
