/* Slices of volumes in pages. */
#include "plot/slices.h"

#include "base/number.h"
#include "plot/base64.h"
#include "plot/page.h"
#include "plot/web.h"

#include <math.h>

static void add_number(atn_text *page, double value, const char *behind) {
    char number[ATN_NUMBER_TEXT];
    atn_number_print(isfinite(value) ? value : 0, number);
    atn_text_printf(page, "%s%s", number, behind);
}

void atn_slices_data(atn_text *page, const atn_slices *s) {
    atn_text_printf(page, "{n:[%lld,%lld,%lld],d:[", (long long)s->n[0], (long long)s->n[1], (long long)s->n[2]);
    for (int k = 0; k < 3; ++k) add_number(page, s->spacing[k], k < 2 ? "," : "],tip:");
    if (s->tip) {
        atn_text_add(page, "[");
        for (int k = 0; k < 3; ++k) add_number(page, s->tip[k], k < 2 ? "," : "]");
    } else
        atn_text_add(page, "null");
    atn_text_add(page, ",unit:");
    atn_page_script_text(page, s->unit);
    atn_text_add(page, ",points:[");
    for (size_t k = 0; k < s->n_points; ++k)
        for (int d = 0; d < 3; ++d) { /* to a hundredth of a pixel */
            double step = s->spacing[d] > 0 ? s->spacing[d] / 100 : 1;
            add_number(page, round(s->points[d][k] / step) * step, ",");
        }
    atn_text_add(page, "]");
}

void atn_slices_frame(atn_text *page) {
    static const char *const NAMES[] = {"across z", "across y", "across x"};
    atn_text_printf(page, "<style>\n%s</style>\n<div class=\"slices\">\n", atn_web("slices_style"));
    for (int k = 0; k < 3; ++k)
        atn_text_printf(page,
                        "<figure><figcaption>%s, <span data-part=\"at\"></span></figcaption><canvas></canvas>"
                        "<input type=\"range\" min=\"0\" max=\"1\" value=\"0\" aria-label=\"slice %s\"/></figure>\n",
                        NAMES[k], NAMES[k]);
}

void atn_slices_draw(atn_text *page, const atn_slices *s) {
    atn_slices_frame(page);
    atn_text_printf(page, "<script>/*<![CDATA[*/\n(function() {\n%sshowSlices(document.currentScript.parentElement)(",
                    atn_web("slices"));
    atn_slices_data(page, s);
    atn_text_add(page, ",bytes:Uint8Array.from(atob('");
    atn_base64_add(page, s->bytes, (size_t)(s->n[0] * s->n[1] * s->n[2]));
    atn_text_add(page, "'),c=>c.charCodeAt(0))});\n})();\n/*]]>*/</script>\n</div>\n");
}
