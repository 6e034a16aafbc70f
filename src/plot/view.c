/* Views of point clouds. Coordinates travel as 16 bits between a cloud's bounds, in base64; web/view.js decodes, moves,
 * turns and draws them. */
#include "plot/view.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/random.h"
#include "plot/base64.h"
#include "plot/page.h"
#include "plot/web.h"

#include <math.h>
#include <stdio.h>

/* Any number as JavaScript has it. */
static void add_number(atn_text *page, double value, char behind) {
    char number[ATN_NUMBER_TEXT];
    atn_number_print(isfinite(value) ? value : 0, number);
    atn_text_printf(page, "%s%c", number, behind);
}

size_t atn_view_sample(size_t n, size_t *index) {
    size_t count = n < ATN_VIEW_MOST_POINTS ? n : ATN_VIEW_MOST_POINTS;
    atn_random random;
    atn_random_seed(&random, 1);
    for (size_t k = 0; k < count; ++k) { /* one out of each of equal parts: no pattern, whatever the order */
        double at = ((double)k + (count < n ? atn_random_unit(&random) : 0)) * (double)n / (double)count;
        index[k] = (size_t)at < n ? (size_t)at : n - 1;
    }
    return count;
}

/* A byte for each point: 0 to 254 over the colour bar, 255 beyond it. */
static void add_values(atn_text *page, const double *value, size_t n, double high) {
    unsigned char bytes[3];
    atn_text_add(page, "',v:'");
    for (size_t k = 0; k < n; ++k) {
        double f = high > 0 ? value[k] / high : 0;
        bytes[k % 3] = f >= 0 && f <= 1 ? (unsigned char)lround(f * 254) : 255;
        if (k % 3 == 2 || k + 1 == n) atn_base64_add(page, bytes, k % 3 + 1);
    }
}

/* {c: colour, o: offsets, s: steps, d: the points as three 16-bit numbers each, v: their values} */
static void add_cloud(atn_text *page, const atn_view_cloud *cloud, size_t *index, const atn_view_scale *scale) {
    double low[3] = {0}, step[3] = {0};
    size_t n = atn_view_sample(cloud->n, index);
    for (int d = 0; d < 3 && cloud->n; ++d) {
        double high = low[d] = cloud->axis[d][0];
        for (size_t k = 1; k < cloud->n; ++k) {
            low[d] = fmin(low[d], cloud->axis[d][k]);
            high = fmax(high, cloud->axis[d][k]);
        }
        step[d] = high / 65535 - low[d] / 65535; /* no overflow, whatever the bounds */
    }
    atn_text_printf(page, "{c:%d,o:[", (int)(cloud->color % 6));
    for (int d = 0; d < 3; ++d) add_number(page, low[d], d == 2 ? ']' : ',');
    atn_text_add(page, ",s:[");
    for (int d = 0; d < 3; ++d) add_number(page, step[d], d == 2 ? ']' : ',');
    atn_text_add(page, ",d:'");
    for (size_t k = 0; k < n; ++k) {
        size_t point = index[k];
        unsigned char bytes[6];
        for (int d = 0; d < 3; ++d) {
            double q = step[d] > 0 ? (cloud->axis[d][point] - low[d]) / step[d] : 0;
            unsigned value = q > 0 ? q < 65535 ? (unsigned)(q + 0.5) : 65535 : 0;
            bytes[2 * d] = (unsigned char)(value & 255);
            bytes[2 * d + 1] = (unsigned char)(value >> 8);
        }
        atn_base64_add(page, bytes, sizeof bytes);
    }
    if (cloud->value && scale) add_values(page, cloud->value, n, scale->high);
    atn_text_add(page, "'},\n");
}

static void add_panel(atn_text *page, const atn_view_panel *panel, size_t n_clouds) {
    atn_text_add(page, "[");
    for (size_t c = 0; c < n_clouds; ++c) {
        const double *t = panel->moved ? panel->moved[c] : NULL;
        atn_text_add(page, t ? "[" : "null,");
        for (int k = 0; t && k < 16; ++k) add_number(page, t[k], k == 15 ? ']' : ',');
        if (t) atn_text_add(page, ",");
    }
    atn_text_add(page, "],\n");
}

static void add_ramp(atn_text *page, const atn_view_scale *scale) {
    char number[ATN_NUMBER_TEXT];
    snprintf(number, sizeof number, "%.3g", scale->high);
    atn_text_add(page, "<span class=\"ramp\">");
    atn_page_escape(page, scale->title);
    atn_text_printf(page, ": 0<b></b>%s</span> <span class=\"ramp\"><i style=\"background:var(--c1)\"></i>", number);
    atn_page_escape(page, scale->beyond);
    atn_text_add(page, "</span>\n");
}

static void add_tools(atn_text *page, const atn_view_scale *scale) {
    atn_text_add(page, "<p class=\"tools\"><button type=\"button\" data-tool=\"fit\">Zoom to fit</button>"
                       "<button type=\"button\" data-tool=\"full\">Full screen</button>"
                       "<label>Up <select data-tool=\"up\"><option>x</option><option>y</option><option>z</option>"
                       "</select></label>"
                       "<label>Point size <input data-tool=\"size\" type=\"range\" min=\"1\" max=\"6\" "
                       "step=\"0.5\" value=\"1.5\"/></label>\n"
                       "<label>Slice <select data-tool=\"slice\"><option>none</option><option>x</option>"
                       "<option>y</option><option>z</option></select> <input data-tool=\"place\" type=\"range\" "
                       "min=\"0\" max=\"100\" value=\"50\" aria-label=\"place of the slice\"/></label>\n");
    if (scale) {
        atn_text_add(page, "<label>Colours <select data-tool=\"colour\"><option value=\"value\">");
        atn_page_escape(page, scale->title);
        atn_text_add(page, "</option><option value=\"cloud\">by cloud</option></select></label>\n");
    }
    atn_text_add(page, "</p>\n");
}

void atn_view_draw(atn_text *page, const atn_view_cloud *clouds, size_t n_clouds, const atn_view_panel *panels,
                   size_t n_panels, const atn_view_scale *scale) {
    size_t *index = atn_alloc(page->ctx, ATN_VIEW_MOST_POINTS * sizeof *index);
    if (!index) {
        page->failed = true;
        return;
    }
    atn_text_printf(page, "<style>\n%s</style>\n<div class=\"view\" data-unit=\"", atn_web("view_style"));
    atn_page_escape(page, n_panels && panels[0].unit ? panels[0].unit : "");
    atn_text_add(page, "\">\n<p class=\"keys\">");
    for (size_t k = 0; k < n_clouds; ++k) {
        atn_text_printf(page, "<label><input type=\"checkbox\" checked=\"\"/><i style=\"background:var(--c%d)\"></i>",
                        (int)(clouds[k].color % 6));
        atn_page_escape(page, clouds[k].name);
        atn_text_add(page, "</label>\n");
    }
    if (scale) add_ramp(page, scale);
    atn_text_add(page, "</p>\n");
    add_tools(page, scale);
    atn_text_add(page, "<div class=\"views\">\n");
    for (size_t k = 0; k < n_panels; ++k) {
        atn_text_add(page, "<figure><figcaption>");
        atn_page_escape(page, panels[k].title);
        atn_text_add(page, "</figcaption><canvas tabindex=\"0\"></canvas></figure>\n");
    }
    atn_text_add(page, "</div>\n<p class=\"sub\">Drag to rotate, drag with Shift or the right button to pan, wheel or "
                       "two fingers to zoom, double click to reset. Keys: arrows, Shift and arrows, + and -, 0.</p>\n"
                       "<noscript><p>The views need JavaScript; the rest of this page does not.</p></noscript>\n"
                       "<script>/*<![CDATA[*/\n(function() {\n");
    atn_text_printf(page, "%sshowClouds(document.currentScript.parentElement, [\n", atn_web("view"));
    for (size_t k = 0; k < n_clouds; ++k) add_cloud(page, &clouds[k], index, scale);
    atn_text_add(page, "], [\n");
    for (size_t k = 0; k < n_panels; ++k) add_panel(page, &panels[k], n_clouds);
    atn_text_add(page, "]);\n})();\n/*]]>*/</script>\n</div>\n");
    atn_free(page->ctx, index);
}
