/* Eigenvalues of symmetric matrices: A v = l v, vectors at right angles, values in order; seed 7. */
#include "testkit.h"

#include "geom/eigen.h"

#include <math.h>

static const double TOLERANCE = 1e-14; /* of the largest element */

static void check(const double m[6]) {
    const double a[3][3] = {{m[0], m[3], m[4]}, {m[3], m[1], m[5]}, {m[4], m[5], m[2]}};
    double value[3], v[3][3], most = 0;
    for (int k = 0; k < 6; ++k) most = fmax(most, fabs(m[k]));
    geom_eigen3(m, value, v);
    assert_true(value[0] <= value[1] && value[1] <= value[2]);
    for (int k = 0; k < 3; ++k)
        for (int r = 0; r < 3; ++r) {
            double product = a[r][0] * v[k][0] + a[r][1] * v[k][1] + a[r][2] * v[k][2];
            assert_true(fabs(product - value[k] * v[k][r]) <= 4 * TOLERANCE * most);
            double dot = v[k][0] * v[r][0] + v[k][1] * v[r][1] + v[k][2] * v[r][2];
            assert_true(fabs(dot - (k == r)) <= TOLERANCE);
        }
}

/* The least one in closed form: its value, and its vector where that is told apart. */
static void check_least(const double m[6]) {
    static const double NEAR = 1e-7; /* of the largest element: where two values are nearly equal */
    double value[3], v[3][3], quick[3], n[3], most = 0, dot = 0, length2 = 0;
    for (int k = 0; k < 6; ++k) most = fmax(most, fabs(m[k]));
    geom_eigen3(m, value, v);
    geom_least3(m, quick, n);
    assert_true(quick[0] <= quick[1] && quick[1] <= quick[2]);
    for (int k = 0; k < 3; ++k) {
        assert_true(fabs(quick[k] - value[k]) <= NEAR * most);
        dot += n[k] * v[0][k];
        length2 += n[k] * n[k];
    }
    assert_true(fabs(length2 - 1) <= 1e-12);
    if (value[1] - value[0] > 1e-3 * most) assert_true(fabs(dot) > 1 - 1e-12);
}

KIT_TEST(solves) {
    static const double known[][6] = {
        {0, 0, 0, 0, 0, 0},         {1, 1, 1, 0, 0, 0},
        {3, 2, 1, 0, 0, 0},         {1, 1, 1, 1, 1, 1},
        {2, 2, 2, -1, -1, -1},      {1e30, 1e30, 1, 1e30, 0, 0},
        {1, 1, 1, 1e-20, 1e-20, 0}, {1e-300, 1, 0, 0, 1e-9, 0},
        {0, 0, 0, 1e-30, 0, 0},     {1e-60, 2e-60, 0, 1e-60, 0, 0},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; ++k) check(known[k]), check_least(known[k]);
    uint64_t seed = 7;
    for (int k = 0; k < 10000; ++k) {
        double m[6];
        for (int d = 0; d < 6; ++d) m[d] = (kit_uniform(&seed) - 0.5) * pow(10, floor(kit_uniform(&seed) * 12) - 6);
        check(m);
        check_least(m);
    }
}

/* B B^T + `more`, of vectors whose lengths differ by `spread`; times its inverse, which is exact to rounding times the
 * condition. */
static void check_inverse(int32_t n, double spread, double more, uint64_t *seed) {
    double b[36], m[36], out[36], trace = 0, over = 0;
    for (int32_t k = 0; k < n * n; ++k)
        b[k] = (kit_uniform(seed) - 0.5) * pow(spread, (double)(k / n) / (double)(n - 1));
    for (int32_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < n; ++j) {
            m[i * n + j] = i == j ? more : 0;
            for (int32_t k = 0; k < n; ++k) m[i * n + j] += b[i * n + k] * b[j * n + k];
        }
    if (!geom_invert_symmetric(n, m, out)) return;
    for (int32_t k = 0; k < n; ++k) trace += m[k * n + k], over += out[k * n + k];
    for (int32_t i = 0; i < n; ++i)
        for (int32_t j = 0; j < n; ++j) {
            double one = 0;
            for (int32_t k = 0; k < n; ++k) one += m[i * n + k] * out[k * n + j];
            assert_true(fabs(one - (i == j)) <= TOLERANCE * trace * over);
            assert_true(out[i * n + j] == out[j * n + i]);
        }
}

/* Well-conditioned matrices, and those that are not. */
KIT_TEST(inverts) {
    static const double SPREADS[] = {1, 10, 1e4};
    uint64_t seed = 7;
    double flat[9] = {1, 0, 0, 0, 1, 0, 0, 0, 0}, turned[9] = {1, 2, 0, 2, 1, 0, 0, 0, 1}, out[9];
    for (int k = 0; k < 3000; ++k) check_inverse(3 + k % 4, SPREADS[k % 3], k % 2 ? 0.1 : 0, &seed);
    assert_false(geom_invert_symmetric(3, flat, out));
    assert_false(geom_invert_symmetric(3, turned, out)); /* an eigenvalue is below 0 */
    flat[8] = NAN;
    assert_false(geom_invert_symmetric(3, flat, out));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solves), cmocka_unit_test(inverts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
