/* Point clouds in a report, rotated with the mouse or a finger: panels side by side that rotate together, each showing
 * the same clouds, moved or not. Points are thinned out and packed into the page, drawn by a small script. */
#ifndef ATN_PLOT_VIEW_H
#define ATN_PLOT_VIEW_H

#include "base/text.h"

enum { ATN_VIEW_MOST_POINTS = 15000 }; /* of a cloud; larger ones are thinned out to so many */

typedef struct atn_view_cloud {
    const char *name;      /* in the legend, where it can be switched off */
    int32_t color;         /* 0 to 5 */
    size_t n;              /* points */
    const double *axis[3]; /* their coordinates, all finite */
    const double *value;   /* of each point of atn_view_sample, shown as its colour in the last panel; may be NULL */
} atn_view_cloud;

typedef struct atn_view_panel {
    const char *title;
    const double *const *moved; /* for each cloud: 4 x 4, row-major, or NULL where it stays */
    const char *unit;           /* of lengths, as the first panel says; NULL: not known */
} atn_view_panel;

/* Which of n points are drawn: one out of each of equal parts, always the same. `index` has room for
 * ATN_VIEW_MOST_POINTS; returns how many there are. */
size_t atn_view_sample(size_t n, size_t *index);

/* What the values of clouds are. NULL: there are none. */
typedef struct atn_view_scale {
    const char *title;  /* "distance to the target" */
    const char *beyond; /* what values above `high` and those that are no numbers mean */
    double high;        /* end of the colour bar, which begins at 0 */
} atn_view_scale;

/* The page must be HTML of page.h, whose colours it takes. */
void atn_view_draw(atn_text *page, const atn_view_cloud *clouds, size_t n_clouds, const atn_view_panel *panels,
                   size_t n_panels, const atn_view_scale *scale);

#endif
