/* One step of Softassign and of coherent point drift against the plain way: the whole matrix, in double. */
#include "regkit.h"

#include "geom/fit.h"
#include "geom/pose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double AXIS[3] = {0.3, -0.5, 0.8}, SHIFT[3] = {0.12, -0.1, 0.08};

enum { ROWS = 170, COLUMNS = 210 };

/* Both clouds, and the matrix of pairs. */
typedef struct scene {
    size_t rows, columns;
    double *y, *x; /* source, target */
    double (*p)[COLUMNS];
    double spread; /* root mean square radius of the target */
} scene;

static double distance2(const double *a, const double *b) {
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

static double radius(const scene *s) {
    double mean[3] = {0}, sum = 0;
    for (size_t j = 0; j < s->columns; ++j)
        for (int d = 0; d < 3; ++d) mean[d] += s->x[3 * j + (size_t)d] / (double)s->columns;
    for (size_t j = 0; j < s->columns; ++j) sum += distance2(s->x + 3 * j, mean);
    return sqrt(sum / (double)s->columns);
}

static scene scene_make(double scale) {
    scene s = {.p = malloc(ROWS * sizeof *s.p)};
    double motion[16], back[16], grow[16] = {scale, 0, 0, 0, 0, scale, 0, 0, 0, 0, scale, 0, 0, 0, 0, 1};
    motion_make(15, AXIS, 1, SHIFT, motion);
    motion_invert(motion, back);
    for (int i = 0; i < 12; ++i) back[i] *= scale;
    s.y = shape_positions(&(shape){ROWS, 5, 51, 0.02, 0, 0.1, back}, &s.rows);
    s.x = shape_positions(&(shape){COLUMNS, 5, 52, 0.02, 0, 0.1, grow}, &s.columns);
    s.spread = radius(&s);
    return s;
}

static void scene_free(scene *s) {
    free(s->y);
    free(s->x);
    free(s->p);
}

/* The fit for the matrix, about nothing special. */
static geom_pose fit(const scene *s, atn_transform_kind kind) {
    geom_moments m = {0};
    geom_pose pose;
    for (size_t i = 0; i < s->rows; ++i)
        for (size_t j = 0; j < s->columns; ++j) {
            const double *y = s->y + 3 * i, *x = s->x + 3 * j;
            double l = s->p[i][j];
            int place = 0;
            m.weight += l;
            for (int a = 0; a < 3; ++a) {
                m.y[a] += l * y[a];
                m.x[a] += l * x[a];
                for (int b = 0; b < 3; ++b) m.cross[3 * a + b] += l * x[a] * y[b];
                for (int b = a; b < 3; ++b) m.spread[place++] += l * y[a] * y[b];
            }
        }
    assert_true(geom_fit(&m, kind, &pose));
    return pose;
}

/* Ours, of one iteration. */
static atn_register_result ours(kit_host *host, const scene *s, const atn_register_settings *settings) {
    atn_cloud *source, *target;
    atn_register_result result = {0};
    kit_ok(host->ctx, atn_cloud_create(host->ctx, s->rows, s->y, NULL, &source));
    kit_ok(host->ctx, atn_cloud_create(host->ctx, s->columns, s->x, NULL, &target));
    atn_register_settings here = *settings;
    here.init = ATN_START_IDENTITY;
    kit_ok(host->ctx, atn_register(host->device, source, target, &here, &result));
    assert_int_equal(result.iterations, 1);
    assert_false(result.converged);
    kit_contains(result.reason, "still moving after 1 iterations");
    atn_cloud_free(source);
    atn_cloud_free(target);
    return result;
}

static void same(const geom_pose *pose, const double t[16], double unit, double tolerance) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j)
            if (!(fabs(pose->a[3 * i + j] - t[4 * i + j]) <= tolerance))
                fail_msg("element %d %d: %.9g, wanted %.9g", i, j, t[4 * i + j], pose->a[3 * i + j]);
        if (!(fabs(pose->b[i] - t[4 * i + 3]) <= tolerance * unit))
            fail_msg("shift %d: %.9g, wanted %.9g", i, t[4 * i + 3], pose->b[i]);
    }
}

/* sigma^2 from all pairs, P, the fit, sigma^2 under it. */
static void drift(const scene *s, double share, geom_pose *pose, double *sigma) {
    double sigma2 = 0, sum = 0, weight = 0, m = (double)s->rows, n = (double)s->columns;
    for (size_t i = 0; i < s->rows; ++i)
        for (size_t j = 0; j < s->columns; ++j) sigma2 += distance2(s->y + 3 * i, s->x + 3 * j) / (3 * m * n);
    double volume = 9.012 * s->spread * s->spread * s->spread; /* an even ball of the target's spread */
    double c = pow(2 * 3.141592653589793 * sigma2, 1.5) * share / (1 - share) * m / volume;
    for (size_t j = 0; j < s->columns; ++j) {
        double d = c;
        for (size_t i = 0; i < s->rows; ++i)
            d += s->p[i][j] = exp(-distance2(s->y + 3 * i, s->x + 3 * j) / (2 * sigma2));
        for (size_t i = 0; i < s->rows; ++i) s->p[i][j] /= d;
    }
    *pose = fit(s, ATN_TRANSFORM_RIGID);
    for (size_t i = 0; i < s->rows; ++i) {
        double y[3];
        geom_pose_apply(pose, s->y + 3 * i, y);
        for (size_t j = 0; j < s->columns; ++j) {
            sum += s->p[i][j] * distance2(y, s->x + 3 * j);
            weight += s->p[i][j];
        }
    }
    *sigma = sqrt(sum / (3 * weight));
}

KIT_TEST(drift_is_the_plain_one) {
    kit_host host = host_open();
    for (int k = 0; k < 6; ++k) {
        double unit = k / 2 == 0 ? 1 : k / 2 == 1 ? 1e-4 : 3e5;
        scene s = scene_make(unit);
        geom_pose pose;
        double sigma;
        atn_register_settings settings = {.method = ATN_REGISTER_CPD,
                                          .most_iterations = 1,
                                          .precision = k % 2 ? 64 : 32,
                                          .dense = k < 2,
                                          .outlier_distance = k == 2 ? INFINITY : 0};
        drift(&s, k == 2 ? 0 : 0.1, &pose, &sigma);
        atn_register_result result = ours(&host, &s, &settings);
        same(&pose, result.transform, unit, k % 2 ? 1e-9 : 1e-4);
        if (!(fabs(result.sigma_end / sigma - 1) <= (k % 2 ? 1e-9 : 1e-4)))
            fail_msg("sigma %.9g, wanted %.9g", result.sigma_end, sigma);
        scene_free(&s);
    }
    host_close(&host);
}

/* Slack row and column are kept as they would be in a matrix with one more of each. */
static void assign(const scene *s, double t, double alpha, geom_pose *pose) {
    double row[ROWS], column[COLUMNS];
    for (size_t i = 0; i < s->rows; ++i) row[i] = 1;
    for (size_t j = 0; j < s->columns; ++j) column[j] = 1;
    for (size_t i = 0; i < s->rows; ++i)
        for (size_t j = 0; j < s->columns; ++j) s->p[i][j] = exp(-(distance2(s->y + 3 * i, s->x + 3 * j) - alpha) / t);
    for (int turn = 0; turn < 3; ++turn) {
        for (size_t j = 0; j < s->columns; ++j) {
            double sum = column[j];
            for (size_t i = 0; i < s->rows; ++i) sum += s->p[i][j];
            for (size_t i = 0; i < s->rows; ++i) s->p[i][j] /= sum;
            column[j] /= sum;
        }
        for (size_t i = 0; i < s->rows; ++i) {
            double sum = row[i];
            for (size_t j = 0; j < s->columns; ++j) sum += s->p[i][j];
            for (size_t j = 0; j < s->columns; ++j) s->p[i][j] /= sum;
            row[i] /= sum;
        }
    }
    *pose = fit(s, ATN_TRANSFORM_RIGID);
}

KIT_TEST(softassign_is_the_plain_one) {
    kit_host host = host_open();
    static const double sigmas[] = {1.2, 0.4, 0.15};
    for (int k = 0; k < 6; ++k) {
        double unit = k % 2 ? 1 : 20, sigma = sigmas[k / 2] * unit, far = 0.3 * unit;
        scene s = scene_make(unit);
        geom_pose pose;
        atn_register_settings settings = {.method = ATN_REGISTER_SOFTASSIGN,
                                          .most_iterations = 1,
                                          .sigma_start = sigma,
                                          .sigma_end = sigma / 10,
                                          .outlier_distance = far,
                                          .precision = k % 2 ? 64 : 32};
        assign(&s, sigma * sigma, far * far, &pose);
        atn_register_result result = ours(&host, &s, &settings);
        same(&pose, result.transform, unit, 1e-4);
        scene_free(&s);
    }
    host_close(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drift_is_the_plain_one),
        cmocka_unit_test(softassign_is_the_plain_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
