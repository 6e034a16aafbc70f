/* Lists of near blocks: every pair within reach is in one, and what lies scattered about does not fill them. */
#include "regkit.h"

#include "apps/register/curve.h"
#include "apps/register/near.h"
#include "base/memory.h"

#include <math.h>

enum { BLOCK = 32 };

/* A plane with scattered points above and below it, in the order of registration. */
static reg_side side_of(kit_host *host, size_t count, size_t scattered, uint64_t seed) {
    cloud_points points, ordered;
    reg_curve curve;
    uint32_t *from;
    reg_side side;
    const double origin[3] = {0, 0, 0};
    kit_ok(host->ctx, cloud_points_make(host->ctx, count, false, &points));
    for (size_t k = 0; k < count; ++k) {
        for (int a = 0; a < 3; ++a) points.position[a][k] = kit_uniform(&seed);
        if (k >= scattered) points.position[2][k] = 0.5;
        points.weight[k] = 1;
    }
    kit_ok(host->ctx, reg_curve_make(&points, 0, true, &ordered, &curve, &from));
    kit_ok(host->ctx, reg_side_make(host->device, &ordered, origin, 1, ATN_SP, BLOCK, &side));
    cloud_points_free(&points);
    cloud_points_free(&ordered);
    reg_curve_free(&curve);
    atn_free(host->ctx, from);
    return side;
}

static bool listed(const reg_near *near, size_t row, size_t column) {
    for (int32_t k = near->start[row]; k < near->start[row + 1]; ++k)
        if (near->list[k] == (int32_t)column) return true;
    return false;
}

static void holds_every_pair(const reg_near *near, const reg_side *rows, const reg_side *columns, const reg_pose *pose,
                             double reach) {
    for (size_t r = 0; r < rows->padded; ++r) {
        double at[3] = {rows->position[0][r], rows->position[1][r], rows->position[2][r]}, y[3];
        reg_pose_apply(pose, at, y);
        for (size_t c = 0; c < columns->padded; ++c) {
            double x = columns->position[0][c] - y[0], dy = columns->position[1][c] - y[1],
                   z = columns->position[2][c] - y[2];
            if (x * x + dy * dy + z * z <= reach * reach && !listed(near, r / BLOCK, c / BLOCK))
                fail_msg("reach %g: the pair %zu, %zu is in no list", reach, r, c);
        }
    }
}

static void every_pair_within_reach_is_listed(void **state) {
    (void)state;
    kit_host host = host_open();
    const double twist[6] = {0.05, -0.02, 0.1, 0.01, 0.02, -0.03}, reaches[] = {0, 0.004, 0.03, 0.2, 2, INFINITY};
    reg_pose pose = reg_pose_exp(twist);
    reg_side rows = side_of(&host, 1500, 40, 3), columns = side_of(&host, 1300, 30, 4);
    for (size_t k = 0; k < sizeof reaches / sizeof *reaches; ++k) {
        reg_near near = {0};
        kit_ok(host.ctx, reg_near_update(&near, &rows, &columns, &pose, &REG_IDENTITY, reaches[k], 0));
        holds_every_pair(&near, &rows, &columns, &pose, reaches[k]);
        reg_near_free(&near, host.ctx);
    }
    reg_side_free(&rows);
    reg_side_free(&columns);
    host_close(&host);
}

static void scattered_points_do_not_fill_lists(void **state) {
    (void)state;
    kit_host host = host_open();
    reg_side rows = side_of(&host, 20000, 300, 5);
    reg_near near = {0};
    int32_t most = 0;
    kit_ok(host.ctx, reg_near_update(&near, &rows, &rows, &REG_IDENTITY, &REG_IDENTITY, 0.01, 0));
    for (size_t b = 0; b < rows.blocks; ++b)
        if (near.start[b + 1] - near.start[b] > most) most = near.start[b + 1] - near.start[b];
    assert_in_range(most, 1, (int32_t)rows.blocks / 4); /* a ball around such a block reaches nearly all of them */
    reg_near_free(&near, host.ctx);
    reg_side_free(&rows);
    host_close(&host);
}

/* Lists stay while rows have moved less than the slack, and serve what is within reach there. */
static void lists_serve_poses_within_the_slack(void **state) {
    (void)state;
    kit_host host = host_open();
    const double reach = 0.02, slack = 0.05;
    reg_side rows = side_of(&host, 1500, 40, 3), columns = side_of(&host, 1300, 30, 4);
    reg_near near = {0};
    kit_ok(host.ctx, reg_near_update(&near, &rows, &columns, &REG_IDENTITY, &REG_IDENTITY, reach, slack));
    for (int k = 0; k < 7; ++k) {
        double twist[6] = {0};
        if (k < 6) twist[k] = k < 3 ? slack / 2 : 0.99 * slack; /* no point is farther than sqrt(3) from the origin */
        reg_pose pose = reg_pose_exp(twist);
        kit_ok(host.ctx, reg_near_update(&near, &rows, &columns, &pose, &REG_IDENTITY, reach, slack));
        assert_memory_equal(&near.relative, &REG_IDENTITY, sizeof near.relative);
        holds_every_pair(&near, &rows, &columns, &pose, reach);
    }
    const double far[6] = {0, 0, 0, 2 * slack, 0, 0};
    reg_pose pose = reg_pose_exp(far);
    kit_ok(host.ctx, reg_near_update(&near, &rows, &columns, &pose, &REG_IDENTITY, reach, slack));
    assert_memory_not_equal(&near.relative, &REG_IDENTITY, sizeof near.relative);
    holds_every_pair(&near, &rows, &columns, &pose, reach);
    reg_near_free(&near, host.ctx);
    reg_side_free(&rows);
    reg_side_free(&columns);
    host_close(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_within_reach_is_listed),
        cmocka_unit_test(scattered_points_do_not_fill_lists),
        cmocka_unit_test(lists_serve_poses_within_the_slack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
