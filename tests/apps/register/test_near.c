/* Lists of near blocks: every pair within reach is in one, none twice, and what lies scattered about does not fill
 * them. By the host's walk and by kernels, on all devices. */
#include "regkit.h"

#include "apps/register/curve.h"
#include "apps/register/engine.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32 };

/* A device, and who makes the lists. */
typedef struct maker {
    atn_ctx *ctx;
    atn_device *device;
    atn_register_settings settings;
    reg_engine engine;
} maker;

static void for_all(void (*test)(maker *m)) {
    kit_host host = host_open();
    for (int32_t k = 0; k < atn_devices_count(host.devices); ++k) {
        atn_device *device;
        kit_ok(host.ctx, atn_device_open(host.devices, k, &device));
        if (!kit_wants(atn_device_get_info(device)->backend)) {
            atn_device_close(device);
            continue;
        }
        bool here = strcmp(atn_device_get_info(device)->backend, "host") == 0;
        for (int remote = here ? 0 : 1; remote < 2; ++remote) {
            maker m = {.ctx = host.ctx, .device = device};
            kit_ok(host.ctx, reg_engine_open(device, &m.settings, &m.engine));
            assert_true(m.engine.remote == !here);
            m.engine.remote = remote;
            print_message("    %s, %s\n", atn_device_get_info(device)->backend, remote ? "kernels" : "a walk");
            test(&m);
            reg_engine_close(&m.engine);
        }
        atn_device_close(device);
    }
    host_close(&host);
}

/* A plane with scattered points above and below it, in the order of registration; some of them 10^5 away: far. */
typedef struct scene {
    size_t count, scattered, far;
    uint64_t seed;
    bool species, equal;
    size_t block; /* 0: BLOCK */
} scene;

static reg_side side_of(maker *m, scene s) {
    cloud_points points, ordered;
    reg_curve curve;
    uint32_t *from;
    reg_side side;
    const double origin[3] = {0, 0, 0};
    kit_ok(m->ctx, cloud_points_make(m->ctx, s.count, s.species, &points));
    for (size_t k = 0; k < s.count; ++k) {
        for (int a = 0; a < 3; ++a) points.position[a][k] = s.equal ? 0.25 : kit_uniform(&s.seed);
        if (k >= s.scattered) points.position[2][k] = 0.5;
        if (k < s.far) points.position[k % 3][k] = 1e5 * (double)(k + 1);
        points.weight[k] = 1;
        if (s.species) points.species[k] = (int32_t)(k % 3);
    }
    kit_ok(m->ctx, reg_curve_make(&points, 0, true, &ordered, &curve, &from));
    kit_ok(m->ctx, reg_side_make(m->device, &ordered, origin, 1, ATN_SP, s.block ? s.block : BLOCK, &side));
    kit_ok(m->ctx, reg_side_unpark(&side));
    cloud_points_free(&points);
    cloud_points_free(&ordered);
    reg_curve_free(&curve);
    atn_free(m->ctx, from);
    return side;
}

/* How often each block of columns is listed for each of rows: a byte each. */
static unsigned char *listed(maker *m, const reg_near *near) {
    size_t rows = near->rows->blocks, columns = near->columns->blocks;
    unsigned char *times = calloc(rows, columns);
    const void *start, *list;
    kit_ok(m->ctx, atn_array_map_read(near->start_array, &start));
    kit_ok(m->ctx, atn_array_map_read(near->list_array, &list));
    assert_int_equal(((const int32_t *)start)[0], 0);
    assert_int_equal(((const int32_t *)start)[rows], near->count);
    for (size_t b = 0; b < rows; ++b)
        for (int32_t k = ((const int32_t *)start)[b]; k < ((const int32_t *)start)[b + 1]; ++k) {
            int32_t column = ((const int32_t *)list)[k];
            assert_in_range(column, 0, columns - 1);
            if (!m->engine.remote && k > ((const int32_t *)start)[b])
                assert_true(column > ((const int32_t *)list)[k - 1]);
            ++times[b * columns + (size_t)column];
        }
    return times;
}

static void holds_every_pair(maker *m, const reg_near *near, const geom_pose *pose, double reach) {
    const reg_side *rows = near->rows, *columns = near->columns;
    unsigned char *times = listed(m, near);
    for (size_t r = 0; r < rows->padded; ++r) {
        double at[3] = {rows->position[0][r], rows->position[1][r], rows->position[2][r]}, y[3];
        geom_pose_apply(pose, at, y);
        for (size_t c = 0; c < columns->padded; ++c) {
            double x = columns->position[0][c] - y[0], dy = columns->position[1][c] - y[1],
                   z = columns->position[2][c] - y[2];
            size_t b = r / rows->block, of = c / columns->block;
            bool gated = rows->species && columns->species && rows->species[b] != columns->species[of];
            if (times[b * columns->blocks + of] > (gated ? 0 : 1))
                fail_msg("reach %g: block %zu is listed %d times for %zu", reach, of, times[b * columns->blocks + of],
                         b);
            if (x * x + dy * dy + z * z <= reach * reach && !gated && !times[b * columns->blocks + of])
                fail_msg("reach %g: the pair %zu, %zu is in no list", reach, r, c);
        }
    }
    free(times);
}

static void compare(maker *m, scene rows, scene columns) {
    const double twist[6] = {0.05, -0.02, 0.1, 0.01, 0.02, -0.03}, reaches[] = {0, 0.004, 0.03, 0.2, 2, INFINITY};
    geom_pose pose = geom_pose_exp(twist);
    reg_side row = side_of(m, rows), column = side_of(m, columns);
    reg_near near = {0};
    for (size_t k = 0; k < sizeof reaches / sizeof *reaches; ++k) {
        kit_ok(m->ctx, reg_near_update(&m->engine, &near, &row, &column, &pose, &GEOM_IDENTITY, reaches[k], 0));
        holds_every_pair(m, &near, &pose, reaches[k]);
        if (isinf(reaches[k]) && !rows.species) assert_int_equal(near.count, row.blocks * column.blocks);
    }
    reg_near_free(&near, m->ctx);
    reg_side_free(&row);
    reg_side_free(&column);
}

static void compare_all(maker *m) {
    compare(m, (scene){.count = 1500, .scattered = 40, .seed = 3}, (scene){.count = 1300, .scattered = 30, .seed = 4});
    compare(m, (scene){.count = 1500, .scattered = 40, .seed = 3, .far = 2},
            (scene){.count = 1111, .scattered = 300, .seed = 4, .far = 3});
    compare(m, (scene){.count = 700, .scattered = 40, .seed = 3, .species = true},
            (scene){.count = 1500, .scattered = 30, .seed = 4, .species = true});
    compare(m, (scene){.count = 1, .seed = 1}, (scene){.count = 1057, .scattered = 30, .seed = 4});
    compare(m, (scene){.count = 33, .seed = 1}, (scene){.count = 1, .seed = 1});
    compare(m, (scene){.count = 200, .equal = true}, (scene){.count = 300, .equal = true});
    compare(m, (scene){.count = 1500, .scattered = 40, .seed = 3, .far = 1, .block = 8},
            (scene){.count = 1300, .scattered = 30, .seed = 4, .far = 2, .block = 8});
    compare(m, (scene){.count = 701, .scattered = 200, .seed = 3, .species = true, .block = 8},
            (scene){.count = 1300, .scattered = 300, .seed = 4, .species = true, .block = 16});
    compare(m, (scene){.count = 1500, .scattered = 40, .seed = 3, .block = 64},
            (scene){.count = 60, .scattered = 10, .seed = 4, .block = 8});
    compare(m, (scene){.count = 200, .equal = true, .far = 1}, (scene){.count = 1300, .scattered = 1300, .seed = 2});
}

KIT_TEST(every_pair_within_reach_is_listed) { for_all(compare_all); }

static void count_scattered(maker *m) {
    reg_side rows = side_of(m, (scene){.count = 20000, .scattered = 300, .seed = 5});
    reg_near near = {0};
    size_t most = 0;
    kit_ok(m->ctx, reg_near_update(&m->engine, &near, &rows, &rows, &GEOM_IDENTITY, &GEOM_IDENTITY, 0.01, 0));
    unsigned char *times = listed(m, &near);
    for (size_t b = 0; b < rows.blocks; ++b) {
        size_t here = 0;
        for (size_t c = 0; c < rows.blocks; ++c) here += times[b * rows.blocks + c];
        most = here > most ? here : most;
    }
    assert_in_range(most, 1, rows.blocks / 4); /* a ball around such a block reaches nearly all of them */
    assert_in_range(near.count, rows.blocks, 16 * rows.blocks);
    free(times);
    reg_near_free(&near, m->ctx);
    reg_side_free(&rows);
}

KIT_TEST(scattered_points_do_not_fill_lists) { for_all(count_scattered); }

static void use_slack(maker *m) {
    const double reach = 0.02, slack = 0.05, far[6] = {0, 0, 0, 2 * slack, 0, 0};
    reg_side rows = side_of(m, (scene){.count = 1500, .scattered = 40, .seed = 3}),
             columns = side_of(m, (scene){.count = 1300, .scattered = 30, .seed = 4});
    reg_near near = {0};
    kit_ok(m->ctx, reg_near_update(&m->engine, &near, &rows, &columns, &GEOM_IDENTITY, &GEOM_IDENTITY, reach, slack));
    for (int k = 0; k < 7; ++k) {
        double twist[6] = {0};
        if (k < 6) twist[k] = k < 3 ? slack / 2 : 0.99 * slack; /* no point is farther than sqrt(3) from the origin */
        geom_pose pose = geom_pose_exp(twist);
        kit_ok(m->ctx, reg_near_update(&m->engine, &near, &rows, &columns, &pose, &GEOM_IDENTITY, reach, slack));
        assert_memory_equal(&near.relative, &GEOM_IDENTITY, sizeof near.relative);
        holds_every_pair(m, &near, &pose, reach);
    }
    geom_pose pose = geom_pose_exp(far);
    kit_ok(m->ctx, reg_near_update(&m->engine, &near, &rows, &columns, &pose, &GEOM_IDENTITY, reach, slack));
    assert_memory_not_equal(&near.relative, &GEOM_IDENTITY, sizeof near.relative);
    holds_every_pair(m, &near, &pose, reach);
    reg_near_free(&near, m->ctx);
    reg_side_free(&rows);
    reg_side_free(&columns);
}

/* Lists stay while rows have moved less than the slack, and serve what is within reach there. */
KIT_TEST(lists_serve_poses_within_the_slack) { for_all(use_slack); }

/* ---- few points: all pairs ---- */

static void check_partners(maker *m, scene rows, scene columns) {
    reg_side row = side_of(m, rows), column = side_of(m, columns);
    const geom_pose pose = {.a = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .b = {0.01, -0.02, 0.03}};
    const void *place;
    size_t wrong = 0;
    bool all = m->engine.remote && !rows.species;
    assert_true(reg_all_sooner(&m->engine, &row, &column) == all);
    kit_ok(m->ctx, reg_place(&m->engine, &row, &pose));
    kit_ok(m->ctx, reg_place(&m->engine, &column, &GEOM_IDENTITY));
    kit_ok(m->ctx, reg_partners(&m->engine, &row, &column, 10, 0));
    kit_ok(m->ctx, atn_array_map_read(row.partner, &place));
    for (size_t r = 0; r < row.padded; ++r) {
        double at[3] = {row.position[0][r], row.position[1][r], row.position[2][r]}, y[3], best = INFINITY,
               found = INFINITY;
        geom_pose_apply(&pose, at, y);
        for (size_t c = 0; c < column.padded; ++c) {
            double d2 = 0;
            if (rows.species && row.species[r / row.block] != column.species[c / column.block]) continue;
            for (int a = 0; a < 3; ++a) d2 += (column.position[a][c] - y[a]) * (column.position[a][c] - y[a]);
            best = fmin(best, d2);
            if ((size_t)((const int32_t *)place)[r] == c) found = d2;
        }
        wrong += !(found <= best + 1e-6);
    }
    assert_int_equal(wrong, 0);
    reg_engine_forget(&m->engine, &row);
    reg_side_free(&row);
    reg_side_free(&column);
}

/* Sums over lists that hold every pair, and over all pairs without one. */
static void check_shapes(maker *m) {
    reg_side side = side_of(m, (scene){.count = 301, .scattered = 100, .seed = 5});
    const geom_pose scaled = geom_pose_scaled(&GEOM_IDENTITY, 4);
    double *number[2], off = 0;
    bool remote = m->engine.remote;
    kit_ok(m->ctx, reg_place(&m->engine, &side, &scaled));
    for (int all = 0; all < 2; ++all) {
        atn_array *shapes, *ratio;
        side.species = all ? NULL : (int32_t[64]){0}; /* one for all: lists, then */
        m->engine.remote = all;
        kit_ok(m->ctx, reg_shapes(&m->engine, &side, &side, 1e3, 0.03, &shapes, &ratio));
        number[all] = malloc(side.padded * sizeof(double));
        kit_ok(m->ctx, reg_array_get(ratio, side.padded, number[all]));
        atn_array_free(shapes);
        atn_array_free(ratio);
    }
    m->engine.remote = remote;
    for (size_t k = 0; k < side.padded; ++k) off = fmax(off, fabs(number[0][k] - number[1][k]));
    assert_true(off < 1e-4);
    free(number[0]);
    free(number[1]);
    reg_side_free(&side);
}

static void evaluate_all(maker *m) {
    check_partners(m, (scene){.count = 301, .scattered = 100, .seed = 1},
                   (scene){.count = 250, .scattered = 50, .seed = 2});
    check_partners(m, (scene){.count = 1, .seed = 1}, (scene){.count = 1, .seed = 2});
    check_partners(m, (scene){.count = 301, .scattered = 9, .seed = 3, .species = true},
                   (scene){.count = 250, .scattered = 9, .seed = 4, .species = true});
    check_shapes(m);
}

KIT_TEST(among_few_points_all_pairs_are_evaluated) { for_all(evaluate_all); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_within_reach_is_listed),
        cmocka_unit_test(scattered_points_do_not_fill_lists),
        cmocka_unit_test(lists_serve_poses_within_the_slack),
        cmocka_unit_test(among_few_points_all_pairs_are_evaluated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
