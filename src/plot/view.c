/* Views of point clouds. Coordinates travel as 16 bits between a cloud's bounds, in base64; web/view.js decodes, moves,
 * turns and draws them. */
#include "plot/view.h"

#include "base/number.h"
#include "base/random.h"
#include "plot/page.h"
#include "plot/web.h"

#include <math.h>

/* Any number as JavaScript has it. */
static void add_number(atn_text *page, double value, char behind) {
    char number[ATN_NUMBER_TEXT];
    atn_number_print(isfinite(value) ? value : 0, number);
    atn_text_printf(page, "%s%c", number, behind);
}

static void add_base64(atn_text *page, const unsigned char *bytes, size_t length) { /* a multiple of 3 */
    static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char out[8];
    for (size_t k = 0; k + 2 < length; k += 3) {
        unsigned word = (unsigned)bytes[k] << 16 | (unsigned)bytes[k + 1] << 8 | bytes[k + 2];
        for (int d = 0; d < 4; ++d) out[d] = LETTERS[word >> (18 - 6 * d) & 63];
        atn_text_add_bytes(page, out, 4);
    }
}

/* {c: colour, o: offsets, s: steps, d: the points as three 16-bit numbers each} */
static void add_cloud(atn_text *page, const atn_view_cloud *cloud) {
    double low[3] = {0}, step[3] = {0};
    size_t n = cloud->n < ATN_VIEW_MOST_POINTS ? cloud->n : ATN_VIEW_MOST_POINTS;
    atn_random random;
    atn_random_seed(&random, 1);
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
    for (size_t k = 0; k < n; ++k) { /* one out of each of n equal parts: no pattern, whatever the order */
        double at = ((double)k + (n < cloud->n ? atn_random_unit(&random) : 0)) * (double)cloud->n / (double)n;
        size_t point = (size_t)at < cloud->n ? (size_t)at : cloud->n - 1;
        unsigned char bytes[6];
        for (int d = 0; d < 3; ++d) {
            double q = step[d] > 0 ? (cloud->axis[d][point] - low[d]) / step[d] : 0;
            unsigned value = q > 0 ? q < 65535 ? (unsigned)(q + 0.5) : 65535 : 0;
            bytes[2 * d] = (unsigned char)(value & 255);
            bytes[2 * d + 1] = (unsigned char)(value >> 8);
        }
        add_base64(page, bytes, sizeof bytes);
    }
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

void atn_view_draw(atn_text *page, const atn_view_cloud *clouds, size_t n_clouds, const atn_view_panel *panels,
                   size_t n_panels) {
    atn_text_printf(page, "<style>\n%s</style>\n<div>\n<p class=\"keys\">", atn_web("view_style"));
    for (size_t k = 0; k < n_clouds; ++k) {
        atn_text_printf(page, "<label><input type=\"checkbox\" checked=\"\"/><i style=\"background:var(--c%d)\"></i>",
                        (int)(clouds[k].color % 6));
        atn_page_escape(page, clouds[k].name);
        atn_text_add(page, "</label>\n");
    }
    atn_text_add(page, "</p>\n<div class=\"views\">\n");
    for (size_t k = 0; k < n_panels; ++k) {
        atn_text_add(page, "<figure><figcaption>");
        atn_page_escape(page, panels[k].title);
        atn_text_add(page, "</figcaption><canvas tabindex=\"0\"></canvas></figure>\n");
    }
    atn_text_add(page, "</div>\n<p class=\"sub\">Drag to turn, wheel or two fingers to zoom, double click to begin "
                       "again; the arrow keys, + and - do the same.</p>\n"
                       "<noscript><p>The views need JavaScript; all else on this page does not.</p></noscript>\n"
                       "<script>/*<![CDATA[*/\n(function() {\n");
    atn_text_printf(page, "%sshowClouds(document.currentScript.parentElement, [\n", atn_web("view"));
    for (size_t k = 0; k < n_clouds; ++k) add_cloud(page, &clouds[k]);
    atn_text_add(page, "], [\n");
    for (size_t k = 0; k < n_panels; ++k) add_panel(page, &panels[k], n_clouds);
    atn_text_add(page, "]);\n})();\n/*]]>*/</script>\n</div>\n");
}
