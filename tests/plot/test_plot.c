/* Reports: well-formed whatever the texts and numbers are, and drawn where they belong. */
#include "testkit.h"

#include "plot/chart.h"
#include "plot/page.h"
#include "plot/slices.h"
#include "plot/surface.h"
#include "plot/view.h"

#include <attune/version.h>

#include <expat.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The SVG parts and tables are XML; the page's head has void elements, which are left out here. */
static void check_well_formed(const atn_text *page) {
    XML_Parser parser = XML_ParserCreate("UTF-8");
    atn_text whole = {.ctx = page->ctx};
    atn_text_printf(&whole, "<page>%s</page>", atn_text_str(page));
    if (XML_Parse(parser, atn_text_str(&whole), (int)whole.length, 1) != XML_STATUS_OK)
        fail_msg("line %lu: %s", XML_GetCurrentLineNumber(parser), XML_ErrorString(XML_GetErrorCode(parser)));
    XML_ParserFree(parser);
    atn_text_free(&whole);
}

static int32_t count(const char *text, const char *what) {
    int32_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); ++at) ++n;
    return n;
}

KIT_TEST(texts_of_any_origin_stay_texts) {
    atn_ctx *ctx = kit_ctx();
    atn_text page = {.ctx = ctx};
    atn_page_heading(&page, "<script>alert('x')</script> & \"more\"");
    atn_page_table(&page, "name\tvalue\n<b>\t1 < 2\n", "lr");
    check_well_formed(&page);
    assert_null(strstr(atn_text_str(&page), "<script>"));
    assert_non_null(strstr(atn_text_str(&page), "<td class=\"r\">1 &#60; 2</td>"));
    atn_text_free(&page);
    kit_free(ctx);
}

KIT_TEST(dots_lie_where_they_belong) {
    atn_ctx *ctx = kit_ctx();
    atn_text page = {.ctx = ctx};
    double x[] = {1, 10, 100}, y[] = {0, 5, 10};
    const char *label[] = {"first", NULL, "<last>"};
    atn_series series = {"all", ATN_SERIES_DOTS, 0, 3, x, y, label};
    atn_chart_draw(&page, &(atn_chart){"t", "x", "y", true, false, &series, 1});
    check_well_formed(&page);
    const char *at = atn_text_str(&page);
    long cx[3], cy[3];
    at = strstr(at, "cy=\"310\"") + 1; /* behind the legend */
    for (int k = 0; k < 3; ++k) {
        at = strstr(at, "<circle cx=\"");
        assert_non_null(at);
        cx[k] = strtol(at + 12, NULL, 10);
        cy[k] = strtol(strstr(at, "cy=\"") + 4, NULL, 10);
        ++at;
    }
    assert_true(cx[0] < cx[1] && labs((cx[1] - cx[0]) - (cx[2] - cx[1])) <= 1); /* a decade each */
    assert_true(cy[0] > cy[1] && labs((cy[0] - cy[1]) - (cy[1] - cy[2])) <= 1); /* upwards */
    assert_non_null(strstr(atn_text_str(&page), "<title>&#60;last&#62;</title>"));
    atn_text_free(&page);
    kit_free(ctx);
}

KIT_TEST(any_numbers_make_a_picture) {
    static const double SETS[][4] = {{NAN, INFINITY, -INFINITY, NAN},
                                     {0, 0, 0, 0},
                                     {-1, -2, 3, 0},
                                     {1e-30, 1e30, 1, 2},
                                     {7, 7, 7, 7},
                                     {DBL_MAX, 1, DBL_MIN, 2},
                                     {1e-6, 2e-6, 3e-6, 1.5e-6},
                                     {0.1, .2, .3, .4}};
    atn_ctx *ctx = kit_ctx();
    for (size_t k = 0; k < sizeof SETS / sizeof *SETS; ++k)
        for (int log = 0; log < 4; ++log) {
            atn_text page = {.ctx = ctx};
            atn_series series[] = {{NULL, ATN_SERIES_LINE, 1, 4, SETS[k], SETS[k], NULL},
                                   {"none", ATN_SERIES_DOTS, -1, 0, NULL, NULL, NULL}};
            atn_chart_draw(&page, &(atn_chart){"t", "x", "y", log & 1, log & 2, series, 2});
            atn_bar bars[] = {{"a", "note", SETS[k][0], 0}, {"b", NULL, SETS[k][1], 5}};
            atn_bars_draw(&page, "bars", "x", bars, 2, 1, log & 1);
            atn_bars_draw(&page, "no bars", "x", NULL, 0, 0, log & 1);
            check_well_formed(&page);
            assert_int_equal(count(atn_text_str(&page), "nan"), 0);
            assert_int_equal(count(atn_text_str(&page), "inf"), 0);
            atn_text_free(&page);
        }
    kit_free(ctx);
}

KIT_TEST(a_whole_page_has_its_parts) {
    atn_ctx *ctx = kit_ctx();
    atn_text page = {.ctx = ctx};
    atn_page_begin(&page, "tuning <x>", "of today");
    atn_page_paragraph(&page, "a & b");
    atn_page_end(&page, NULL);
    const char *text = atn_text_str(&page);
    assert_memory_equal(text, "<!doctype html>", 15);
    assert_non_null(strstr(text, "<h1>tuning &#60;x&#62;</h1>"));
    assert_null(strstr(text, "http"));
    assert_null(strstr(text, "<script"));
    atn_text_free(&page);
    kit_free(ctx);
}

/* The bytes behind the n-th d:'...' of a page; their number is returned. */
static size_t unpack(const char *page, int n, unsigned char *bytes) {
    static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = 0;
    for (; n >= 0; --n) {
        page = strstr(page, ",d:'");
        assert_non_null(page);
        page += 4;
    }
    for (; *page != '\''; page += 4, length += 3) {
        unsigned word = 0;
        for (int d = 0; d < 4; ++d) word = word << 6 | (unsigned)(strchr(LETTERS, page[d]) - LETTERS);
        for (int d = 0; d < 3; ++d) bytes[length + (size_t)d] = (unsigned char)(word >> (16 - 8 * d));
    }
    return length;
}

KIT_TEST(clouds_travel_in_the_page) {
    enum { MANY = 40000 };
    atn_ctx *ctx = kit_ctx();
    atn_text page = {.ctx = ctx};
    static double many[MANY];
    static unsigned char bytes[6 * ATN_VIEW_MOST_POINTS];
    for (int k = 0; k < MANY; ++k) many[k] = k;
    double x[] = {0, 32768, 65535}, y[] = {5, 5, 5}, moved[16] = {NAN, 2, 3};
    const double *const transforms[] = {moved, NULL, NULL};
    const atn_view_cloud clouds[] = {
        {"<a>", 0, 3, {x, y, x}, NULL}, {"b", 1, MANY, {many, many, many}, NULL}, {"none", 7, 0, {0}, NULL}};
    const atn_view_panel panels[] = {{.title = "before", .unit = "\"<mm>"}, {.title = "a & b", .moved = transforms}};
    atn_view_draw(&page, clouds, 3, panels, 2, NULL);
    check_well_formed(&page);
    const char *text = atn_text_str(&page);
    assert_int_equal(count(text, "<canvas"), 2);
    assert_int_equal(count(text, "http"), 0);
    assert_int_equal(count(text, "nan"), 0);
    assert_non_null(strstr(text, "[null,null,null,],\n[[0,2,3,0,"));
    assert_non_null(strstr(text, "&#60;a&#62;"));
    assert_non_null(strstr(text, "data-unit=\"&#34;&#60;mm&#62;\""));
    assert_int_equal(unpack(text, 0, bytes), 18);
    static const unsigned char CORNERS[] = {0, 0, 0, 0, 0, 0, 0, 128, 0, 0, 0, 128, 255, 255, 0, 0, 255, 255};
    assert_memory_equal(bytes, CORNERS, sizeof CORNERS);
    assert_int_equal(unpack(text, 1, bytes), sizeof bytes); /* thinned out, in order, from all over */
    for (size_t k = 0; k + 1 < ATN_VIEW_MOST_POINTS; ++k) {
        int here = bytes[6 * k] | bytes[6 * k + 1] << 8, next = bytes[6 * k + 6] | bytes[6 * k + 7] << 8;
        assert_true(here <= next && next - here <= 2 * 65536 / ATN_VIEW_MOST_POINTS + 2);
    }
    assert_int_equal(unpack(text, 2, bytes), 0);
    atn_text_free(&page);
    kit_free(ctx);
}

/* The bytes behind the first v:'...' of a page: one a point, 0 to 254 over the colour bar, 255 beyond it. */
KIT_TEST(values_become_colours) {
    atn_ctx *ctx = kit_ctx();
    atn_text page = {.ctx = ctx};
    double x[] = {0, 1, 2, 3, 4}, value[] = {0, 1, 2, 2.0001, NAN};
    const atn_view_cloud cloud = {"a", 0, 5, {x, x, x}, value};
    const atn_view_panel panel = {.title = "after"};
    atn_view_draw(&page, &cloud, 1, &panel, 1, &(atn_view_scale){"far <off>", "lost", 2});
    check_well_formed(&page);
    const char *at = strstr(atn_text_str(&page), ",v:'");
    assert_non_null(at);
    assert_memory_equal(at + 4, "AH/+//8=", 8); /* 0 127 254, 255 255 */
    assert_non_null(strstr(atn_text_str(&page), "far &#60;off&#62;"));
    size_t all[ATN_VIEW_MOST_POINTS];
    assert_int_equal(atn_view_sample(0, all), 0);
    assert_int_equal(atn_view_sample(2, all), 2);
    assert_true(all[0] == 0 && all[1] == 1);
    atn_text_free(&page);
    kit_free(ctx);
}

KIT_TEST(a_histogram_counts_what_it_shows) {
    static const double VALUES[] = {-1, 0, 0.5, 0.5, 0.999, 1, NAN, INFINITY};
    atn_ctx *ctx = kit_ctx();
    for (int k = 0; k < 3; ++k) {
        atn_text page = {.ctx = ctx};
        atn_histogram_draw(&page, "t", "x", VALUES, 8, (const double[]){1, 0, NAN}[k], 0.5);
        check_well_formed(&page);
        assert_int_equal(count(atn_text_str(&page), "<rect"), 3);
        assert_int_equal(count(atn_text_str(&page), "nan"), 0);
        atn_text_free(&page);
    }
    atn_text page = {.ctx = ctx};
    atn_histogram_draw(&page, "t", "x", NULL, 0, 1, 0);
    assert_int_equal(count(atn_text_str(&page), "<rect"), 0);
    atn_text_free(&page);
    kit_free(ctx);
}

KIT_TEST(a_report_says_where_it_comes_from) {
    atn_ctx *ctx = kit_ctx();
    atn_text page = {.ctx = ctx};
    atn_page_verdict(&page, ATN_PAGE_DOUBT, "so <so>", "because");
    atn_page_copyable(&page, "1 < 2", "Copy");
    atn_page_fold(&page, "more");
    atn_page_unfold(&page);
    check_well_formed(&page);
    atn_page_end(&page, &(atn_page_origin){"attune x 'a b'", "a machine"});
    const char *text = atn_text_str(&page);
    assert_non_null(strstr(text, "attune " ATN_VERSION));
    assert_non_null(strstr(text, "attune x &#39;a b&#39;"));
    assert_non_null(strstr(text, "a machine"));
    assert_non_null(strstr(text, "verdict doubt"));
    atn_text_free(&page);
    kit_free(ctx);
}

KIT_TEST(surfaces_are_packed) {
    enum { W = 37, H = 5 }; /* no whole number of lanes */
    float v[W * H];
    uint16_t out[W * H];
    double low, high;
    for (int k = 0; k < W * H; ++k) v[k] = (float)(k - 20);
    v[3] = NAN, v[50] = INFINITY, v[51] = -INFINITY, v[W * H - 1] = NAN;
    atn_surface s = {.width = W, .height = H, .values = v};
    atn_surface_pack(&s, 1, &low, &high, out);
    assert_true(low == -20 && high == W * H - 22);
    for (int k = 0; k < W * H; ++k)
        if (isfinite(v[k])) {
            if (fabs(low + out[k] / 65534.0 * (high - low) - (double)v[k]) > (high - low) / 65534)
                fail_msg("%d: %u", k, out[k]);
        } else
            assert_int_equal(out[k], 65535);
    memset(out, 1, sizeof out);
    atn_surface_pack(&s, 4, &low, &high, out); /* columns 0, 4, ... 36 of rows 0 and 4 */
    assert_int_equal(out[0], 0);
    assert_int_equal(out[19], 65535);
    assert_int_equal(out[20], 0x101);
    assert_true(high == 4 * W + 32 - 20);
    memset(out, 1, sizeof out);
    atn_surface_pack(&s, 2, &low, &high, out); /* 19 columns of rows 0, 2 and 4 */
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 19; ++i) {
            float wanted = v[2 * j * W + 2 * i];
            double got = low + out[j * 19 + i] / 65534.0 * (high - low);
            if (isfinite(wanted) ? fabs(got - (double)wanted) > (high - low) / 65534 : out[j * 19 + i] != 65535)
                fail_msg("row %d, column %d: %u", j, i, out[j * 19 + i]);
        }
    assert_int_equal(out[57], 0x101);
    assert_int_equal(atn_surface_step(1024, 700, 0), 1);
    assert_int_equal(atn_surface_step(1024, 700, 1024), 1);
    assert_int_equal(atn_surface_step(1024, 700, 700), 1);
    assert_int_equal(atn_surface_step(700, 1024, 640), 2);
    assert_int_equal(atn_surface_step(3, 2, 1), 3);
    for (int k = 0; k < W * H; ++k) v[k] = k % 2 ? NAN : 7;
    atn_surface_pack(&s, 1, &low, &high, out);
    assert_true(low == 7 && high == 7 && out[0] == 0 && out[1] == 65535);
    for (int k = 0; k < W * H; ++k) v[k] = NAN;
    atn_surface_pack(&s, 1, &low, &high, out);
    assert_true(low == 0 && high == 0 && out[0] == 65535);
    v[0] = FLT_MAX, v[1] = -FLT_MAX; /* the range is beyond floats */
    atn_surface_pack(&s, 1, &low, &high, out);
    assert_true(out[0] == 0 && out[1] == 0 && out[2] == 65535);
}

/* A unit comes from a file: it must stay one string of the script. */
KIT_TEST(units_of_slices_stay_texts) {
    atn_ctx *ctx = kit_ctx();
    atn_text page = {.ctx = ctx};
    const unsigned char byte = 7;
    const double at[3] = {0, 0, 0};
    atn_slices s = {.n = {1, 1, 1}, .spacing = {1, 1, 1}, .unit = "a\\'\"\n]]></script>&µ", .bytes = &byte, .tip = at};
    atn_slices_draw(&page, &s);
    check_well_formed(&page);
    const char *text = atn_text_str(&page);
    assert_non_null(strstr(text, ",unit:'a\\x5c\\x27\\x22\\x0a\\x5d\\x5d\\x3e\\x3c/script\\x3e\\x26µ',points:[]"));
    assert_int_equal(count(text, "</script>"), 1);
    atn_text_free(&page);
    s.unit = "";
    atn_slices_data(&page, &s);
    assert_non_null(strstr(atn_text_str(&page), ",unit:'',"));
    atn_text_free(&page);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_any_origin_stay_texts),
        cmocka_unit_test(dots_lie_where_they_belong),
        cmocka_unit_test(any_numbers_make_a_picture),
        cmocka_unit_test(a_whole_page_has_its_parts),
        cmocka_unit_test(clouds_travel_in_the_page),
        cmocka_unit_test(values_become_colours),
        cmocka_unit_test(a_histogram_counts_what_it_shows),
        cmocka_unit_test(a_report_says_where_it_comes_from),
        cmocka_unit_test(surfaces_are_packed),
        cmocka_unit_test(units_of_slices_stay_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
