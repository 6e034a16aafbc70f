/* Zernike polynomials are orthonormal and come back from a fit; figures are those of known surfaces. */
#include "testkit.h"

#include "image/form.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 201 };
static double heights[SIDE * SIDE];
static float singles[SIDE * SIDE];

KIT_TEST(orders_are_those_of_noll) {
    static const int32_t TABLE[][2] = {{0, 0},  {1, 1}, {1, -1}, {2, 0}, {2, -2}, {2, 2}, {3, -1}, {3, 1},
                                       {3, -3}, {3, 3}, {4, 0},  {4, 2}, {4, -2}, {4, 4}, {4, -4}, {5, 1}};
    for (int32_t j = 1; j <= 16; ++j) {
        int32_t n, m;
        form_zernike_orders(j, &n, &m);
        assert_int_equal(n, TABLE[j - 1][0]);
        assert_int_equal(m, TABLE[j - 1][1]);
    }
    int32_t n, m;
    form_zernike_orders(FORM_MOST_TERMS, &n, &m);
    assert_int_equal(n, 20);
    assert_string_equal(form_zernike_name(4), "power");
    assert_string_equal(form_zernike_name(200), "");
}

/* A disc of a surface made of known terms: subtracting negative coefficients makes it. */
static form_surface make(const atn_ctx *ctx, bool single, const double *terms, int32_t n, form_aperture *a) {
    form_surface s = {
        .width = SIDE, .height = SIDE, .single = single ? singles : NULL, .doubles = single ? NULL : heights};
    double minus[FORM_MOST_TERMS];
    for (int32_t k = 0; k < n; ++k) minus[k] = -terms[k];
    for (int k = 0; k < SIDE * SIDE; ++k) singles[k] = 0, heights[k] = 0;
    *a = (form_aperture){100, 97, 90};
    form_aperture_cut(&s, a);
    assert_int_equal(form_zernike_subtract(ctx, &s, a, n, minus), ATN_OK);
    return s;
}

KIT_TEST(a_fit_finds_what_was_put_in) {
    atn_ctx *ctx = kit_ctx();
    for (int single = 0; single < 2; ++single) {
        double terms[FORM_MOST_TERMS], found[FORM_MOST_TERMS];
        form_aperture a;
        for (int32_t k = 0; k < FORM_MOST_TERMS; ++k) terms[k] = ((k * 7) % 11 - 5) * 1e-7;
        form_surface s = make(ctx, single, terms, 36, &a);
        form_aperture about = form_aperture_find(&s);
        assert_true(fabs(about.x - 100) < 1e-9 && fabs(about.y - 97) < 1e-9 && fabs(about.radius - 90) < 0.6);
        assert_int_equal(form_zernike_fit(ctx, &s, &a, 36, found), ATN_OK);
        for (int32_t k = 0; k < 36; ++k) assert_true(fabs(found[k] - terms[k]) < (single ? 1e-12 : 1e-18));
        form_figures before, after;
        form_figures_of(&s, &before);
        assert_int_equal(form_zernike_subtract(ctx, &s, &a, 36, found), ATN_OK);
        form_figures_of(&s, &after);
        assert_true(before.rms > 1e-7 && after.pv < 1e-5 * before.pv && after.valid == before.valid);
    }
    kit_free(ctx);
}

KIT_TEST(a_term_alone_has_its_coefficient_as_rms) {
    atn_ctx *ctx = kit_ctx();
    for (int32_t j = 2; j <= 37; ++j) {
        double terms[FORM_MOST_TERMS] = {0};
        form_aperture a;
        form_figures f;
        terms[j - 1] = 2e-9;
        form_surface s = make(ctx, false, terms, j, &a);
        form_figures_of(&s, &f);
        assert_true(fabs(f.rms / 2e-9 - 1) < 0.02); /* a disc of pixels is not quite a disc */
        assert_true(j > 3 || f.sq < 1e-18);         /* tilt is taken off before Sq */
    }
    kit_free(ctx);
}

KIT_TEST(figures_of_little) {
    atn_ctx *ctx = kit_ctx();
    float few[6] = {NAN, NAN, NAN, NAN, NAN, INFINITY};
    form_surface s = {.width = 3, .height = 2, .single = few};
    form_figures f;
    double out[4];
    form_figures_of(&s, &f);
    assert_true(f.valid == 0 && f.pv == 0 && f.sq == 0);
    assert_true(form_aperture_find(&s).radius == 0);
    few[4] = 5;
    form_figures_of(&s, &f);
    assert_true(f.valid == 1 && f.pv == 0 && f.rms == 0 && f.sa == 0 && f.mean == 5);
    form_aperture a = form_aperture_find(&s);
    assert_true(a.x == 1 && a.y == 1 && a.radius == 0.5);
    assert_int_equal(form_zernike_fit(ctx, &s, &a, 1, out), ATN_OK);
    assert_true(fabs(out[0] - 5) < 1e-12);
    assert_int_equal(form_zernike_fit(ctx, &s, &a, 4, out), ATN_ERR_INPUT);
    kit_contains(atn_ctx_message(ctx), "do not determine");
    for (int k = 0; k < 6; ++k) few[k] = (float)(1000 + 3 * (k % 3) - 2 * (k / 3));
    form_figures_of(&s, &f);
    assert_true(f.pv == 8 && f.sa < 1e-9 && f.sq < 1e-9);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_those_of_noll),
        cmocka_unit_test(a_fit_finds_what_was_put_in),
        cmocka_unit_test(a_term_alone_has_its_coefficient_as_rms),
        cmocka_unit_test(figures_of_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
