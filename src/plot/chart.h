/* Charts as inline SVG: dots and lines over an axis, and labelled bars. Values that are not numbers, or not positive on
 * a logarithmic axis, are left out. */
#ifndef ATN_PLOT_CHART_H
#define ATN_PLOT_CHART_H

#include "base/text.h"

/* Steps: a line that stays level until the next value, without dots. */
typedef enum atn_series_style { ATN_SERIES_DOTS, ATN_SERIES_LINE, ATN_SERIES_STEPS } atn_series_style;

typedef struct atn_series {
    const char *name; /* in the legend; NULL: not there */
    atn_series_style style;
    int32_t color; /* 0 to 5; -1: grey, for the many */
    int32_t n;
    const double *x, *y;
    const char *const *label; /* per point, shown when the reader points at it; may be NULL */
} atn_series;

typedef struct atn_chart {
    const char *title, *x_title, *y_title;
    bool log_x, log_y;
    const atn_series *series;
    int32_t n_series;
} atn_chart;

void atn_chart_draw(atn_text *page, const atn_chart *chart);

/* How many of n values lie in each of equal parts from 0 to `high`, upwards; what is above, or no number, is left out.
 * `mark` in (0, high) draws a line there. */
void atn_histogram_draw(atn_text *page, const char *title, const char *x_title, const double *values, size_t n,
                        double high, double mark);

typedef struct atn_bar {
    const char *name, *note; /* the note stands behind the bar; may be NULL */
    double value;
    int32_t color;
} atn_bar;

/* Horizontal bars from 0. `mark` > 0 draws a line at that value: what can be reached at most. */
void atn_bars_draw(atn_text *page, const char *title, const char *x_title, const atn_bar *bars, int32_t n, double mark,
                   bool log_x);

#endif
