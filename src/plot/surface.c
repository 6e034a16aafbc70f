/* Surfaces in pages. */
#include "plot/surface.h"

#include "base/memory.h"
#include "base/number.h"
#include "plot/base64.h"
#include "plot/page.h"
#include "plot/web.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { LANES = 16 }; /* that compilers make vectors of */

/* Least and largest of the finite ones of n values, `step` apart; comparisons with NaN are false, infinities are
 * bounded. Called with a constant step it becomes vectors. */
static inline void stretch(const float *row, int64_t n, int64_t step, float low[LANES], float high[LANES]) {
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (int l = 0; l < LANES; ++l) {
            float v = row[(k + l) * step], least = v > -FLT_MAX ? v : FLT_MAX, most = v < FLT_MAX ? v : -FLT_MAX;
            low[l] = least < low[l] ? least : low[l];
            high[l] = most > high[l] ? most : high[l];
        }
    for (; k < n; ++k) {
        float v = row[k * step];
        if (!isfinite(v)) continue;
        low[0] = v < low[0] ? v : low[0];
        high[0] = v > high[0] ? v : high[0];
    }
}

static uint16_t code_of(float v, float low, float factor) {
    bool good = fabsf(v) <= FLT_MAX;
    float place = good ? (v - low) * factor + 0.5f : 65535.0f;
    return (uint16_t)(int32_t)place;
}

static inline void encode(const float *row, int64_t n, int64_t step, float low, float factor, uint16_t *out) {
    for (int64_t k = 0; k < n; ++k) out[k] = code_of(row[k * step], low, factor);
}

int64_t atn_surface_step(int64_t width, int64_t height, int64_t side) {
    int64_t most = width > height ? width : height;
    if (side <= 0 || side >= most) return 1;
    return most / side + (most % side >= (side + 1) / 2);
}

void atn_surface_pack(const atn_surface *s, int64_t step, double *low, double *high, uint16_t *out) {
    float least[LANES], most[LANES];
    for (int l = 0; l < LANES; ++l) least[l] = FLT_MAX, most[l] = -FLT_MAX;
    int64_t n = (s->width + step - 1) / step;
    for (int64_t j = 0; j < s->height; j += step) {
        const float *row = s->values + j * s->width;
        if (step == 1)
            stretch(row, n, 1, least, most);
        else if (step == 2)
            stretch(row, n, 2, least, most);
        else
            stretch(row, n, step, least, most);
    }
    for (int l = 1; l < LANES; ++l) {
        least[0] = least[l] < least[0] ? least[l] : least[0];
        most[0] = most[l] > most[0] ? most[l] : most[0];
    }
    bool any = least[0] <= most[0];
    float from = any ? least[0] : 0, span = any ? most[0] - least[0] : 0;
    float factor = span > 0 && span <= FLT_MAX ? 65534.0f / span : 0; /* a range beyond floats is drawn flat */
    *low = (double)from;
    *high = any ? (double)most[0] : 0;
    for (int64_t j = 0; j < s->height; j += step) {
        const float *row = s->values + j * s->width;
        if (step == 1)
            encode(row, n, 1, from, factor, out);
        else if (step == 2)
            encode(row, n, 2, from, factor, out);
        else
            encode(row, n, step, from, factor, out);
        out += n;
    }
}

void atn_surface_frame(atn_text *page) {
    atn_text_printf(page, "<style>\n%s</style>\n<div class=\"surface\">\n", atn_web("surface_style"));
    atn_text_add(
        page, "<p class=\"tools\"><label>View <select data-tool=\"kind\"><option value=\"2d\">map</option>"
              "<option value=\"3d\">3D</option></select></label>\n"
              "<label>Palette <select data-tool=\"palette\"><option>viridis</option><option>grey</option>"
              "<option>diverging</option></select></label>\n"
              "<label>Colours from <input data-tool=\"low\" type=\"number\" step=\"any\"/></label>"
              "<label>to <input data-tool=\"high\" type=\"number\" step=\"any\"/> <span data-part=\"unit\"></span>"
              "</label>\n<button type=\"button\" data-tool=\"auto\">Full range</button>"
              "<button type=\"button\" data-tool=\"full\">Full screen</button></p>\n"
              "<div data-part=\"frame\"><canvas data-part=\"map\"></canvas><canvas data-part=\"over\"></canvas></div>\n"
              "<canvas data-part=\"profile\"></canvas>\n"
              "<p class=\"sub\"><span data-part=\"span\"></span>. <span data-part=\"told\">Drag over the map for a "
              "profile, click for the height of a pixel.</span></p>\n"
              "<noscript><p>The map needs JavaScript; the rest of this page does not.</p></noscript>\n");
}

static void add_number(atn_text *page, const char *name, double value) {
    char number[ATN_NUMBER_TEXT];
    atn_number_print(value, number);
    atn_text_printf(page, "%s:%s,", name, number);
}

void atn_surface_draw(atn_text *page, const atn_surface *s) {
    int64_t most = s->width > s->height ? s->width : s->height;
    int64_t step = (most + ATN_SURFACE_MOST_SIDE - 1) / ATN_SURFACE_MOST_SIDE;
    int64_t w = (s->width + step - 1) / step, h = (s->height + step - 1) / step;
    uint16_t *packed = atn_alloc(page->ctx, (size_t)(w * h) * sizeof *packed);
    double low, high;
    if (!packed) {
        page->failed = true;
        return;
    }
    atn_surface_pack(s, step, &low, &high, packed);
    atn_surface_frame(page);
    atn_text_printf(page,
                    "<script>/*<![CDATA[*/\n(function() "
                    "{\n%sshowSurface(document.currentScript.parentElement).frame({w:%lld,h:%lld,step:%lld,",
                    atn_web("surface"), (long long)w, (long long)h, (long long)step);
    add_number(page, "low", low);
    add_number(page, "high", high);
    add_number(page, "dx", s->spacing_m[0]);
    add_number(page, "dy", s->spacing_m[1]);
    atn_text_printf(page, "unit:'%s'}, surfaceValues('", s->unit);
    atn_base64_add(page, (const unsigned char *)packed, (size_t)(w * h) * sizeof *packed);
    atn_text_add(page, "'));\n})();\n/*]]>*/</script>\n</div>\n");
    if (step > 1) {
        char line[128];
        snprintf(line, sizeof line,
                 "The map shows every %lldth pixel of every %lldth row; the numbers are of all pixels.",
                 (long long)step, (long long)step);
        atn_page_paragraph(page, line);
    }
    atn_free(page->ctx, packed);
}
