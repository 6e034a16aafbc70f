/* Sums without underflow against plain loops in double: clouds many sigmas apart, with an outlier class near, far and
 * absent; and against the usual kernels where nothing underflows. */
#include "regkit.h"

#include "apps/register/problem.h"
#include "geom/fit.h"

#include <math.h>
#include <string.h>

enum { ROWS = 230, COLUMNS = 170 };

static reg_side side_of(kit_host *host, size_t count, double away, uint64_t seed) {
    cloud_points points;
    reg_side side;
    const double origin[3] = {0, 0, 0};
    kit_ok(host->ctx, cloud_points_make(host->ctx, count, false, &points));
    for (size_t k = 0; k < count; ++k) {
        for (int a = 0; a < 3; ++a) points.position[a][k] = kit_uniform(&seed) + (k % 7 == 0 ? away : 0);
        points.weight[k] = (float)(0.5 + kit_uniform(&seed));
    }
    kit_ok(host->ctx, reg_side_make(host->device, &points, origin, 1, ATN_SP, 32, &side));
    cloud_points_free(&points);
    return side;
}

/* The same sums, the largest term of each row taken out first. */
static geom_moments plainly(const reg_side *rows, const reg_side *columns, double k, double far2) {
    geom_moments m = {0};
    for (size_t r = 0; r < rows->padded; ++r) {
        double nearest = INFINITY, sum = 0, x[3] = {0}, y[3], w = (double)rows->weight[r];
        if (!(w > 0)) continue;
        for (int pass = 0; pass < 2; ++pass)
            for (size_t c = 0; c < columns->padded; ++c) {
                double d2 = 0, v = (double)columns->weight[c];
                for (int i = 0; i < 3; ++i) {
                    double d = k * (columns->position[i][c] - rows->position[i][r]);
                    d2 += d * d;
                }
                if (pass == 0) nearest = fmin(nearest, d2);
                if (pass == 0 || !(v > 0)) continue;
                double a = v * exp2(nearest - d2);
                sum += a;
                for (int i = 0; i < 3; ++i) x[i] += a * columns->position[i][c];
            }
        double l = w * sum / (sum + exp2(nearest - far2));
        m.weight += l;
        m.likelihood += w * (log2(sum + exp2(nearest - far2)) - nearest);
        for (int i = 0; i < 3; ++i) {
            y[i] = rows->position[i][r];
            m.y[i] += l * y[i];
            m.x[i] += l * x[i] / sum;
            m.residual += l * (x[i] / sum - y[i]) * (x[i] / sum - y[i]);
        }
        for (int i = 0; i < 9; ++i) m.cross[i] += l * x[i / 3] / sum * y[i % 3];
    }
    return m;
}

static void near(double found, double right, const char *what) {
    if (!(fabs(found - right) <= 1e-3 * (1 + fabs(right)))) fail_msg("%s: %g, %g is right", what, found, right);
}

KIT_TEST(agrees_with_plain_loops) {
    kit_host host = host_open();
    const double far2[] = {20, 400, 1e5, INFINITY};
    const double scale[] = {2, 20, 80};
    for (size_t f = 0; f < 4; ++f)
        for (size_t s = 0; s < 3; ++s) {
            atn_register_settings settings = {.precision = 32, .error_bound = 1e-6};
            reg_engine engine;
            kit_ok(host.ctx, reg_engine_open(host.device, &settings, &engine));
            reg_side rows = side_of(&host, ROWS, 2, 3), columns = side_of(&host, COLUMNS, 0, 5);
            geom_pose pose = geom_pose_scaled(&GEOM_IDENTITY, scale[s]);
            kit_ok(host.ctx, reg_place(&engine, &rows, &pose));
            kit_ok(host.ctx, reg_place(&engine, &columns, &pose));
            geom_moments found, right = plainly(&rows, &columns, scale[s], far2[f]);
            kit_ok(host.ctx, reg_step_shifted(&engine, &rows, &columns, far2[f], scale[s], &found));
            near(found.weight, right.weight, "weight");
            near(found.likelihood, right.likelihood, "likelihood");
            near(found.residual, right.residual, "residual");
            for (int i = 0; i < 3; ++i) near(found.x[i], right.x[i], "x"), near(found.y[i], right.y[i], "y");
            for (int i = 0; i < 9; ++i) near(found.cross[i], right.cross[i], "cross");
            if (far2[f] < 30 && scale[s] < 3) { /* the usual way, with the shift gone again */
                kit_ok(host.ctx, reg_estep(&engine, &rows, &columns, INFINITY, false));
                kit_ok(host.ctx, reg_mstep(&engine, &rows, exp2(-far2[f]), scale[s], &found));
                near(found.weight, right.weight, "weight as usual");
                near(found.likelihood, right.likelihood, "likelihood as usual");
            }
            reg_side_free(&rows);
            reg_side_free(&columns);
            reg_engine_close(&engine);
        }
    host_close(&host);
}

/* Without outliers strangers pull, however small sigma gets. */
KIT_TEST(counts_everything_without_outliers) {
    kit_host host = host_open();
    enum { POINTS = 300 };
    double at[3 * POINTS], target[3 * POINTS];
    uint64_t seed = 9;
    for (int k = 0; k < 3 * POINTS; ++k) at[k] = target[k] = kit_uniform(&seed);
    for (int k = 0; k < 3 * POINTS / 10; ++k) at[k] += 3; /* a tenth is far out */
    atn_cloud *a, *b;
    kit_ok(host.ctx, atn_cloud_create(host.ctx, POINTS, at, NULL, &a));
    kit_ok(host.ctx, atn_cloud_create(host.ctx, POINTS, target, NULL, &b));
    atn_register_settings settings = {
        .sigma_start = 0.02, .sigma_end = 0.01, .no_polish = true, .no_covariance = true, .most_iterations = 5};
    atn_register_result with = {0}, without = {0};
    kit_ok(host.ctx, atn_register(host.device, a, b, &settings, &with));
    settings.outlier_distance = INFINITY;
    kit_ok(host.ctx, atn_register(host.device, a, b, &settings, &without));
    const double none[3] = {0};
    const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    assert_true(way_between(with.transform, identity, none) < 1e-3);
    assert_true(way_between(without.transform, identity, none) > 0.05);
    atn_cloud_free(a);
    atn_cloud_free(b);
    host_close(&host);
}

/* What lists cost was measured, and more than all pairs did: they are left, but not where results may not depend on
 * times. */
KIT_TEST(times_choose_unless_reproducible) {
    enum { POINTS = 1000 };
    kit_host host = host_open();
    cloud_points line;
    const double origin[3] = {0, 0, 0};
    kit_ok(host.ctx, cloud_points_make(host.ctx, POINTS, false, &line));
    for (size_t k = 0; k < POINTS; ++k) {
        for (int a = 0; a < 3; ++a) line.position[a][k] = a ? 0 : 0.01 * (double)k;
        line.weight[k] = 1;
    }
    for (int same = 0; same < 2; ++same) {
        atn_register_settings settings = {.precision = 32, .error_bound = 1e-6, .reproducible = same};
        reg_engine engine;
        reg_side side[2];
        kit_ok(host.ctx, reg_engine_open(host.device, &settings, &engine));
        for (int k = 0; k < 2; ++k) {
            kit_ok(host.ctx, reg_side_make(host.device, &line, origin, 1, ATN_SP, 32, &side[k]));
            kit_ok(host.ctx, reg_place(&engine, &side[k], &GEOM_IDENTITY));
        }
        engine.cost[0] = 1e-9, engine.cost[1] = 1;
        kit_ok(host.ctx, reg_estep(&engine, &side[0], &side[1], 0.5, false));
        assert_int_equal(engine.pairs < (double)POINTS * POINTS, same);
        for (int k = 0; k < 2; ++k) reg_side_free(&side[k]);
        reg_engine_close(&engine);
    }
    cloud_points_free(&line);
    host_close(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_plain_loops),
        cmocka_unit_test(counts_everything_without_outliers),
        cmocka_unit_test(times_choose_unless_reproducible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
