/* A volume as three movable slices, with points drawn into them (web/slices.js). */
#ifndef ATN_PLOT_SLICES_H
#define ATN_PLOT_SLICES_H

#include "base/text.h"

/* Not owned. */
typedef struct atn_slices {
    int64_t n[3];               /* columns, rows, scans */
    double spacing[3];          /* of them */
    const char *unit;           /* of the spacing; "": not known */
    const unsigned char *bytes; /* column after column, row after row, scan after scan */
    size_t n_points;
    const double *const *points; /* their x, y, z, in the unit of the spacing */
    const double *tip;           /* x, y, z; NULL: not known */
} atn_slices;

void atn_slices_frame(atn_text *page);                          /* canvases and sliders, in an open box */
void atn_slices_draw(atn_text *page, const atn_slices *slices); /* the whole */
void atn_slices_data(atn_text *page, const atn_slices *slices); /* {n, d, ...} as JavaScript */

#endif
