/* Misorientations and colours of orientations: what symmetry makes equal is equal. */
#include "testkit.h"

#include "cli/lattice_turns.h"

#include <math.h>

static void turn(double degrees, const double axis[3], float q[4]) {
    double n = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]), half = degrees / 114.59155902616465;
    q[0] = (float)cos(half);
    for (int k = 0; k < 3; ++k) q[k + 1] = (float)(sin(half) * axis[k] / n);
}

KIT_TEST(what_symmetry_makes_equal) {
    static const struct {
        double degrees, axis[3], cubic, hexagonal;
    } CASES[] = {
        {0, {0, 0, 1}, 0, 0},    {90, {0, 0, 1}, 0, 30},  {60, {0, 0, 1}, 30, 0},  {10, {1, 2, 3}, 10, 10},
        {120, {1, 1, 1}, 0, -1}, {180, {1, 1, 0}, 0, -1}, {60, {1, 1, 1}, 60, -1}, {180, {1, 0, 0}, 0, 0},
        {45, {0, 0, 1}, 45, 15}, {95, {0, 0, 1}, 5, 25},  {180, {0, 0, 1}, 0, 0},
    };
    const float none[4] = {1, 0, 0, 0};
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        float q[4], minus[4];
        turn(CASES[k].degrees, CASES[k].axis, q);
        for (int c = 0; c < 4; ++c) minus[c] = -q[c];
        assert_true(fabs(lattice_misorientation(none, q, false) - CASES[k].cubic) < 0.05);
        assert_true(fabs(lattice_misorientation(q, none, false) - CASES[k].cubic) < 0.05);
        assert_true(fabs(lattice_misorientation(minus, none, false) - CASES[k].cubic) < 0.05);
        if (CASES[k].hexagonal >= 0)
            assert_true(fabs(lattice_misorientation(none, q, true) - CASES[k].hexagonal) < 0.05);
        assert_true(lattice_misorientation(q, q, true) < 0.05);
    }
}

KIT_TEST(corners_have_their_colours) {
    static const double CORNERS[3][3] = {
        {0, 0, 1}, {0, M_SQRT1_2, M_SQRT1_2}, {0.5773502691896258, 0.5773502691896258, 0.5773502691896258}};
    for (int k = 0; k < 3; ++k) {
        int rgb[3];
        lattice_direction_colour(CORNERS[k], false, rgb);
        for (int c = 0; c < 3; ++c) assert_true(c == k ? rgb[c] == 255 : rgb[c] < 2);
    }
    float q[4];
    double out[3];
    turn(90, (const double[]){1, 0, 0}, q);
    lattice_turned(q, (const double[]){0, 1, 0}, out);
    assert_true(fabs(out[0]) < 1e-6 && fabs(out[1]) < 1e-6 && fabs(out[2] - 1) < 1e-6);
    int rgb[3];
    lattice_turn_colour(q, false, rgb);
    assert_true(rgb[0] == 255 && rgb[1] < 20 && rgb[2] < 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_symmetry_makes_equal),
        cmocka_unit_test(corners_have_their_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
