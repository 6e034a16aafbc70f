/* Surfaces in pages. */
#include "plot/surface.h"

#include "base/memory.h"
#include "base/number.h"
#include "plot/base64.h"
#include "plot/page.h"
#include "plot/web.h"

#include <math.h>
#include <stdio.h>

void atn_surface_pack(const atn_surface *s, int64_t step, double *low, double *high, uint16_t *out) {
    float least = INFINITY, most = -INFINITY;
    for (int64_t j = 0; j < s->height; j += step)
        for (int64_t i = 0; i < s->width; i += step) {
            float v = s->values[j * s->width + i];
            if (!isfinite(v)) continue;
            least = v < least ? v : least;
            most = v > most ? v : most;
        }
    *low = least <= most ? (double)least : 0;
    *high = least <= most ? (double)most : 0;
    float factor = most > least ? 65534.0f / (most - least) : 0; /* an infinite range gives 0, too */
    for (int64_t j = 0; j < s->height; j += step)
        for (int64_t i = 0; i < s->width; i += step) {
            float v = s->values[j * s->width + i];
            *out++ = isfinite(v) ? (uint16_t)((v - least) * factor + 0.5f) : UINT16_MAX;
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
                    "{\n%sshowSurface(document.currentScript.parentElement).frame({w:%lld,h:%lld,",
                    atn_web("surface"), (long long)w, (long long)h);
    add_number(page, "low", low);
    add_number(page, "high", high);
    add_number(page, "dx", s->spacing_m[0] * (double)step);
    add_number(page, "dy", s->spacing_m[1] * (double)step);
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
