/* Charts. All coordinates are whole hundredths of a unit, so that no locale can put commas into them. */
#include "plot/chart.h"

#include "plot/page.h"

#include <math.h>
#include <stdio.h>

enum {
    WIDTH = 9000,
    HEIGHT = 4200,
    LEFT = 1050,
    RIGHT = 250,
    TOP = 420,
    BOTTOM = 700,
    ROW = 260,
    NAME = 2600,
    NOTE = 1500,
    MOST_TICKS = 12,
    DOT = 34
};

typedef struct axis {
    double low, high; /* of what is drawn; logarithms on a logarithmic axis */
    int32_t from, to; /* where that lies */
    bool log;
} axis;

static bool drawable(double value, bool log) { return isfinite(value) && (!log || value > 0); }

static void stretch(axis *a, double value) {
    if (!drawable(value, a->log)) return;
    double v = a->log ? log10(value) : value;
    if (v < a->low) a->low = v;
    if (v > a->high) a->high = v;
}

static int32_t place(const axis *a, double value) {
    double v = a->log ? log10(value) : value;
    return a->from + (int32_t)lround((v - a->low) / (a->high - a->low) * (a->to - a->from));
}

/* Room around what is drawn; an axis of one value gets some on both sides. */
static void settle(axis *a) {
    if (a->low > a->high) a->low = 0, a->high = 1;
    if (!a->log && a->low > 0) a->low = 0;
    double margin = (a->high - a->low) * 0.04;
    if (margin <= 0) margin = a->log ? 0.3 : fmax(fabs(a->high) * 0.1, 1e-9);
    a->high += margin;
    if (a->log || a->low < 0) a->low -= margin;
}

/* 1, 2 or 5 times a power of ten, such that the range has few of it. */
static double step_of(double range) {
    static const double NICE[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(range / 5)));
    for (int k = 0; k < 4; ++k)
        if (range / (NICE[k] * power) <= 6) return NICE[k] * power;
    return 10 * power;
}

static int32_t ticks_of(const axis *a, double *ticks) {
    int32_t n = 0;
    if (!a->log) {
        double step = step_of(a->high - a->low);
        for (double t = ceil(a->low / step) * step; t <= a->high && n < MOST_TICKS; t += step) ticks[n++] = t;
        return n;
    }
    int32_t decades = (int32_t)(ceil(a->high) - floor(a->low)), every = decades / 8 + 1;
    for (int32_t p = (int32_t)floor(a->low); p <= (int32_t)ceil(a->high) && n < MOST_TICKS; p += every)
        for (int k = 0; k < (decades <= 2 ? 3 : 1) && n < MOST_TICKS; ++k) {
            double t = p + log10((double[]){1, 2, 5}[k]);
            if (t >= a->low && t <= a->high) ticks[n++] = pow(10, t);
        }
    return n;
}

/* A short number: 3, 0.25, 40k, 1.5M. */
static void print_number(double value, char *to, size_t bytes) {
    static const struct {
        double from;
        const char *sign;
    } SCALES[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {0, ""}};
    int k = 0;
    while (fabs(value) < SCALES[k].from * 0.9999999) ++k;
    double shown = SCALES[k].from > 0 ? value / SCALES[k].from : value;
    if (shown != 0 && fabs(shown) < 1e-3) { /* whole tenths of a power of ten, without a decimal point of any locale */
        int power = (int)floor(log10(fabs(shown)) + 1e-9);
        snprintf(to, bytes, "%de%d", (int)lround(shown / pow(10, power)), power);
        return;
    }
    long thousandths = lround(fabs(shown) * 1000), rest = thousandths % 1000;
    int n = snprintf(to, bytes, "%s%ld", shown < 0 && thousandths ? "-" : "", thousandths / 1000);
    if (rest) {
        n += snprintf(to + n, bytes - (size_t)n, ".%03ld", rest);
        while (to[n - 1] == '0') to[--n] = '\0';
    }
    snprintf(to + n, bytes - (size_t)n, "%s", SCALES[k].sign);
}

static void open_picture(atn_text *page, int32_t height, const char *title) {
    atn_text_printf(page, "<div class=\"chart\"><svg viewBox=\"0 0 %d %d\" role=\"img\"><title>", WIDTH, height);
    atn_page_escape(page, title);
    atn_text_printf(page, "</title>\n<text class=\"title\" x=\"0\" y=\"170\">");
    atn_page_escape(page, title);
    atn_text_add(page, "</text>\n");
}

static void draw_label(atn_text *page, int32_t x, int32_t y, const char *anchor, const char *text) {
    atn_text_printf(page, "<text class=\"axis\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">", x, y, anchor);
    atn_page_escape(page, text);
    atn_text_add(page, "</text>\n");
}

static void draw_axes(atn_text *page, const atn_chart *c, const axis *x, const axis *y) {
    double ticks[MOST_TICKS];
    char number[32];
    for (int32_t k = ticks_of(x, ticks) - 1; k >= 0; --k) {
        int32_t at = place(x, ticks[k]);
        atn_text_printf(page, "<path class=\"grid\" d=\"M%d %dV%d\"/>", at, y->from, y->to);
        print_number(ticks[k], number, sizeof number);
        draw_label(page, at, y->from + 190, "middle", number);
    }
    for (int32_t k = ticks_of(y, ticks) - 1; k >= 0; --k) {
        int32_t at = place(y, ticks[k]);
        atn_text_printf(page, "<path class=\"grid\" d=\"M%d %dH%d\"/>", x->from, at, x->to);
        print_number(ticks[k], number, sizeof number);
        draw_label(page, x->from - 80, at + 45, "end", number);
    }
    draw_label(page, (x->from + x->to) / 2, y->from + 400, "middle", c->x_title);
    atn_text_printf(page, "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(180 %d) rotate(-90)\">",
                    (y->from + y->to) / 2);
    atn_page_escape(page, c->y_title);
    atn_text_add(page, "</text>\n");
}

static void color_name(int32_t color, char name[16]) {
    if (color < 0)
        snprintf(name, 16, "var(--many)");
    else
        snprintf(name, 16, "var(--c%d)", color % 6);
}

static void draw_series(atn_text *page, const atn_series *s, const axis *x, const axis *y) {
    char color[16];
    color_name(s->color, color);
    if (s->style != ATN_SERIES_DOTS) {
        bool pen = false;
        atn_text_printf(page, "<path class=\"line\" style=\"stroke:%s\" d=\"", color);
        for (int32_t k = 0; k < s->n; ++k) {
            if (!drawable(s->x[k], x->log) || !drawable(s->y[k], y->log)) continue;
            if (pen && s->style == ATN_SERIES_STEPS) atn_text_printf(page, "H%d", place(x, s->x[k]));
            atn_text_printf(page, "%c%d %d", pen ? 'L' : 'M', place(x, s->x[k]), place(y, s->y[k]));
            pen = true;
        }
        atn_text_add(page, "\"/>\n");
    }
    if (s->style == ATN_SERIES_STEPS) return;
    int32_t radius = s->style == ATN_SERIES_LINE ? DOT * 4 / 3 : DOT;
    for (int32_t k = 0; k < s->n; ++k) {
        if (!drawable(s->x[k], x->log) || !drawable(s->y[k], y->log)) continue;
        atn_text_printf(page, "<circle cx=\"%d\" cy=\"%d\" r=\"%d\" style=\"fill:%s\"%s>", place(x, s->x[k]),
                        place(y, s->y[k]), radius, color, s->color < 0 ? " opacity=\".6\"" : "");
        if (s->label && s->label[k]) {
            atn_text_add(page, "<title>");
            atn_page_escape(page, s->label[k]);
            atn_text_add(page, "</title>");
        }
        atn_text_add(page, "</circle>\n");
    }
}

static void draw_legend(atn_text *page, const atn_chart *c) {
    int32_t x = LEFT;
    for (int32_t k = 0; k < c->n_series; ++k) {
        char color[16];
        if (!c->series[k].name) continue;
        color_name(c->series[k].color, color);
        atn_text_printf(page, "<circle cx=\"%d\" cy=\"310\" r=\"50\" style=\"fill:%s\"/>", x, color);
        draw_label(page, x + 90, 355, "start", c->series[k].name);
        int32_t length = 0; /* of characters, not of bytes */
        for (const char *at = c->series[k].name; *at; ++at) length += (*at & 0xc0) != 0x80;
        x += 90 + 95 * length + 200;
    }
}

void atn_chart_draw(atn_text *page, const atn_chart *c) {
    axis x = {INFINITY, -INFINITY, LEFT, WIDTH - RIGHT, c->log_x};
    axis y = {INFINITY, -INFINITY, HEIGHT - BOTTOM, TOP, c->log_y};
    for (int32_t s = 0; s < c->n_series; ++s)
        for (int32_t k = 0; k < c->series[s].n; ++k) {
            if (!drawable(c->series[s].x[k], c->log_x) || !drawable(c->series[s].y[k], c->log_y)) continue;
            stretch(&x, c->series[s].x[k]);
            stretch(&y, c->series[s].y[k]);
        }
    settle(&x);
    settle(&y);
    open_picture(page, HEIGHT, c->title);
    draw_legend(page, c);
    draw_axes(page, c, &x, &y);
    for (int32_t s = 0; s < c->n_series; ++s) draw_series(page, &c->series[s], &x, &y);
    atn_text_add(page, "</svg></div>\n");
}

void atn_bars_draw(atn_text *page, const char *title, const char *x_title, const atn_bar *bars, int32_t n, double mark,
                   bool log_x) {
    axis x = {INFINITY, -INFINITY, NAME, WIDTH - NOTE, log_x};
    for (int32_t k = 0; k < n; ++k) stretch(&x, bars[k].value);
    if (mark > 0) stretch(&x, mark);
    if (!log_x) stretch(&x, 0);
    settle(&x);
    if (log_x) x.low -= (x.high - x.low) * 0.1; /* the shortest bar is still one */
    int32_t bottom = TOP + n * ROW;
    double ticks[MOST_TICKS];
    char number[32], color[16];
    open_picture(page, bottom + 450, title);
    for (int32_t k = ticks_of(&x, ticks) - 1; k >= 0; --k) {
        int32_t at = place(&x, ticks[k]);
        atn_text_printf(page, "<path class=\"grid\" d=\"M%d %dV%d\"/>", at, TOP - 60, bottom);
        print_number(ticks[k], number, sizeof number);
        draw_label(page, at, bottom + 180, "middle", number);
    }
    draw_label(page, (x.from + x.to) / 2, bottom + 370, "middle", x_title);
    if (mark > 0) {
        int32_t at = place(&x, mark);
        atn_text_printf(page, "<path class=\"mark\" d=\"M%d %dV%d\"/>", at, TOP - 60, bottom);
    }
    for (int32_t k = 0; k < n; ++k) {
        int32_t top = TOP + k * ROW, end = drawable(bars[k].value, log_x) ? place(&x, bars[k].value) : x.from;
        color_name(bars[k].color, color);
        draw_label(page, NAME - 90, top + 145, "end", bars[k].name);
        if (end > x.from)
            atn_text_printf(page, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"20\" style=\"fill:%s\"/>\n",
                            x.from, top, end - x.from, ROW - 70, color);
        if (bars[k].note) draw_label(page, end + 70, top + 145, "start", bars[k].note);
    }
    atn_text_add(page, "</svg></div>\n");
}

void atn_histogram_draw(atn_text *page, const char *title, const char *x_title, const double *values, size_t n,
                        double high, double mark) {
    enum { BINS = 60, TALL = 2600 };
    double count[BINS] = {0};
    axis x = {.low = 0, .high = high > 0 && isfinite(high) ? high : 1, .from = LEFT, .to = WIDTH - RIGHT};
    axis y = {.low = 0, .high = 1, .from = TALL - BOTTOM, .to = TOP};
    for (size_t k = 0; k < n; ++k)
        if (values[k] >= 0 && values[k] < x.high) ++count[(int)(values[k] / x.high * BINS)];
    for (int b = 0; b < BINS; ++b) y.high = fmax(y.high, count[b]);
    y.high *= 1.05;
    open_picture(page, TALL, title);
    draw_axes(page, &(atn_chart){.title = title, .x_title = x_title, .y_title = "points"}, &x, &y);
    for (int b = 0; b < BINS; ++b) {
        int32_t left = place(&x, x.high * b / BINS), right = place(&x, x.high * (b + 1) / BINS),
                top = place(&y, count[b]);
        if (count[b] > 0)
            atn_text_printf(page, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" style=\"fill:var(--c0)\"/>\n",
                            left + 5, top, right - left - 10, y.from - top);
    }
    if (mark > 0 && mark < x.high)
        atn_text_printf(page, "<path class=\"mark\" d=\"M%d %dV%d\"/>\n", place(&x, mark), y.from, y.to);
    atn_text_add(page, "</svg></div>\n");
}
