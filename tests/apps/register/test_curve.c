/* Points along the curve against plain loops: each is there once, neighbours stay together, equal ones become one,
 * cells are merged into their means, crowds are thinned, points far away do not coarsen the rest. */
#include "regkit.h"

#include "apps/register/curve.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { POINTS = 3000, EQUAL = 40 };

/* In a unit cube; the last ones repeat the first ones; `far`: one is a million away. */
static cloud_points points_of(atn_ctx *ctx, bool species, bool far, uint64_t seed) {
    cloud_points p;
    kit_ok(ctx, cloud_points_make(ctx, POINTS, species, &p));
    for (size_t k = 0; k < POINTS; ++k) {
        bool again = k >= POINTS - EQUAL;
        for (int d = 0; d < 3; ++d)
            p.position[d][k] = again ? p.position[d][(k - POINTS + EQUAL) / 2] : kit_uniform(&seed) - 0.5;
        p.weight[k] = (float)(1 + k % 4);
        if (species) p.species[k] = again ? p.species[(k - POINTS + EQUAL) / 2] : (int32_t)(k % 3) - 1;
    }
    if (far) p.position[1][POINTS / 2] = 1e6;
    return p;
}

static bool same(const cloud_points *p, size_t a, const cloud_points *q, size_t b) {
    bool equal = !p->species || p->species[a] == q->species[b];
    for (int d = 0; d < 3; ++d) equal = equal && p->position[d][a] == q->position[d][b];
    return equal;
}

static double total(const cloud_points *p) {
    double sum = 0;
    for (size_t k = 0; k < p->count; ++k) sum += (double)p->weight[k];
    return sum;
}

KIT_TEST(orders_and_unites) {
    atn_ctx *ctx = kit_ctx();
    for (int which = 0; which < 4; ++which) {
        cloud_points p, given = points_of(ctx, which & 1, which & 2, 3);
        reg_curve curve;
        uint32_t *from;
        double weight = total(&given);
        kit_ok(ctx, reg_curve_make(&given, 0, true, &p, &curve, &from));
        assert_int_equal(p.count, POINTS - EQUAL);
        assert_true(total(&p) == weight);
        bool seen[POINTS] = {false};
        double step = 0;
        for (size_t k = 0; k < p.count; ++k) {
            assert_true(same(&p, k, &given, from[k]) && !seen[from[k]]);
            seen[from[k]] = true;
            for (int d = 0; d < 3 && k; ++d) step += fabs(p.position[d][k] - p.position[d][k - 1]);
            if (k && p.species) assert_true(p.species[k] >= p.species[k - 1]);
            if (k && (!p.species || p.species[k] == p.species[k - 1])) assert_true(curve.key[k] >= curve.key[k - 1]);
        }
        if (which < 2) assert_true(step < 0.4 * POINTS); /* about 1 where there is no order */
        assert_true(curve.cell < 1e-5);                  /* whoever is far away */
        reg_curve_free(&curve);
        atn_free(ctx, from);
        cloud_points_free(&p);
        cloud_points_free(&given);
    }
    kit_free(ctx);
}

/* Every cell's mean and weight by a loop over all points that lie in it. */
KIT_TEST(merges_cells) {
    atn_ctx *ctx = kit_ctx();
    cloud_points p, given = points_of(ctx, false, false, 7), merged;
    reg_curve curve, coarse;
    uint32_t *from, cell[POINTS];
    kit_ok(ctx, reg_curve_make(&given, 0.1, true, &p, &curve, &from));
    double edge = reg_curve_edge(&curve, 0.11);
    assert_true(fabs(edge - 0.1) < 1e-12);
    kit_ok(ctx, reg_curve_merge(&p, &curve, edge, &merged, &coarse));
    kit_ok(ctx, reg_curve_cells(&p, &curve, edge, cell));
    assert_in_range(merged.count, 900, 1331);
    assert_true(total(&merged) == total(&p));
    for (size_t c = 0; c < merged.count; ++c) {
        double weight = 0, sum[3] = {0}, low[3] = {1, 1, 1}, high[3] = {-1, -1, -1};
        for (size_t k = 0; k < p.count; ++k) {
            if (cell[k] != c) continue;
            weight += (double)p.weight[k];
            for (int d = 0; d < 3; ++d) {
                sum[d] += (double)p.weight[k] * p.position[d][k];
                low[d] = fmin(low[d], p.position[d][k]);
                high[d] = fmax(high[d], p.position[d][k]);
            }
        }
        assert_true(weight == (double)merged.weight[c]);
        for (int d = 0; d < 3; ++d) {
            assert_true(fabs(sum[d] / weight - merged.position[d][c]) < 1e-12);
            assert_true(high[d] - low[d] <= edge);
        }
        if (c) assert_true(coarse.key[c] > coarse.key[c - 1]);
    }
    cloud_points_free(&merged);
    reg_curve_free(&coarse);
    reg_curve_free(&curve);
    atn_free(ctx, from);
    cloud_points_free(&p);
    cloud_points_free(&given);
    kit_free(ctx);
}

/* Cells of every size, of points with and without kinds and with some far away: as many as merging them leaves, and
 * crowded where one has more points than that. */
KIT_TEST(counts_cells) {
    atn_ctx *ctx = kit_ctx();
    for (int which = 0; which < 4; ++which) {
        cloud_points p, given = points_of(ctx, which & 1, which & 2, 7), merged;
        reg_curve curve, coarse;
        reg_curve_counts counts;
        uint32_t *from;
        kit_ok(ctx, reg_curve_make(&given, 0.1, true, &p, &curve, &from));
        reg_curve_count(&p, &curve, &counts);
        for (double edge = curve.cell; edge < 100; edge *= 2) {
            uint32_t cell[POINTS];
            size_t points[POINTS] = {0}, most = 0;
            kit_ok(ctx, reg_curve_merge(&p, &curve, edge, &merged, &coarse));
            kit_ok(ctx, reg_curve_cells(&p, &curve, edge, cell));
            for (size_t k = 0; k < p.count; ++k) ++points[cell[k]];
            for (size_t c = 0; c < merged.count; ++c) most = points[c] > most ? points[c] : most;
            assert_int_equal(reg_curve_counted(&counts, edge), merged.count);
            assert_false(reg_curve_crowded(&p, &curve, edge, most));
            assert_true(reg_curve_crowded(&p, &curve, edge, most - 1));
            cloud_points_free(&merged);
            reg_curve_free(&coarse);
        }
        reg_curve_free(&curve);
        atn_free(ctx, from);
        cloud_points_free(&p);
        cloud_points_free(&given);
    }
    kit_free(ctx);
}

/* Half of the points within a thousandth: at most 64 of them are left, the others are as they were. */
KIT_TEST(thins_out_crowds) {
    atn_ctx *ctx = kit_ctx();
    cloud_points p, given = points_of(ctx, false, false, 11);
    reg_curve curve;
    uint32_t *from;
    for (size_t k = 0; k < POINTS; k += 2)
        for (int d = 0; d < 3; ++d) given.position[d][k] = 0.3 + 1e-3 * given.position[d][k];
    kit_ok(ctx, reg_curve_make(&given, 0, false, &p, &curve, &from));
    assert_int_equal(p.count, POINTS);
    kit_ok(ctx, reg_curve_thin(&p, &curve, 0.05, POINTS, from));
    assert_int_equal(p.count, POINTS);
    double weight = total(&p);
    kit_ok(ctx, reg_curve_thin(&p, &curve, 0.05, 64, from));
    assert_in_range(p.count, POINTS / 2 + 8, POINTS / 2 + 8 * 64);
    assert_true(fabs(total(&p) - weight) < 1e-6 * weight);
    for (size_t k = 1; k < p.count; ++k) assert_true(curve.key[k] >= curve.key[k - 1]);
    reg_curve_free(&curve);
    atn_free(ctx, from);
    cloud_points_free(&p);
    cloud_points_free(&given);
    kit_free(ctx);
}

/* All at one place, all but one at one place, many at few places: no harm, and quickly. */
KIT_TEST(takes_points_at_one_place) {
    atn_ctx *ctx = kit_ctx();
    for (int places = 1; places <= 1000; places *= 10) {
        cloud_points p, given;
        reg_curve curve;
        uint32_t *from;
        kit_ok(ctx, cloud_points_make(ctx, 100000, false, &given));
        for (size_t k = 0; k < given.count; ++k) {
            for (int d = 0; d < 3; ++d) given.position[d][k] = (double)(k % (size_t)places) * (d + 1) / places;
            given.weight[k] = 1;
        }
        kit_ok(ctx, reg_curve_make(&given, 0, true, &p, &curve, &from));
        assert_int_equal(p.count, places);
        assert_true(total(&p) == 8.0 * places); /* no more of a place count */
        reg_curve_free(&curve);
        atn_free(ctx, from);
        cloud_points_free(&p);
        cloud_points_free(&given);
    }
    kit_free(ctx);
}

/* All of it, on points that are few, equal and crowded. */
static atn_status use_all(atn_ctx *ctx) {
    cloud_points given = {0}, p = {0}, merged = {0};
    reg_curve curve = {0}, coarse = {0};
    uint32_t *from = NULL, cell[200];
    uint64_t seed = 5;
    double spacing;
    atn_status status = cloud_points_make(ctx, 200, true, &given);
    for (size_t k = 0; k < 200 && status == ATN_OK; ++k) {
        for (int d = 0; d < 3; ++d) given.position[d][k] = k % 2 ? 1e-9 * kit_uniform(&seed) : (double)(k % 7);
        given.weight[k] = 1;
        given.species[k] = (int32_t)(k % 3);
    }
    if (status == ATN_OK) status = reg_curve_guess(&given, &spacing);
    if (status == ATN_OK) status = reg_curve_make(&given, 0, true, &p, &curve, &from);
    if (status == ATN_OK) status = reg_curve_thin(&p, &curve, 1, 2, from);
    if (status == ATN_OK) status = reg_curve_cells(&p, &curve, 1, cell);
    if (status == ATN_OK) status = reg_curve_merge(&p, &curve, 1, &merged, &coarse);
    cloud_points_free(&merged);
    reg_curve_free(&coarse);
    reg_curve_free(&curve);
    atn_free(ctx, from);
    cloud_points_free(&p);
    cloud_points_free(&given);
    return status;
}

KIT_TEST(survives_failing_allocations) {
    atn_status status = ATN_ERR_MEMORY;
    for (long n = 1; status != ATN_OK; ++n) {
        kit_faults faults = {.fail_at = n};
        atn_ctx_settings options = kit_fault_options(&faults);
        atn_ctx *ctx;
        if (atn_ctx_create(&options, &ctx) != ATN_OK) continue; /* it was one of the context's own */
        status = use_all(ctx);
        assert_true(status == ATN_OK || status == ATN_ERR_MEMORY);
        atn_ctx_free(ctx);
        assert_int_equal(faults.live, 0);
    }
}

/* One point in each cell: the next one is a step along one axis away. */
KIT_TEST(cells_that_follow_each_other_are_neighbours) {
    enum { SIDE = 8, COUNT = SIDE * SIDE * SIDE };
    kit_host host = host_open();
    cloud_points points, ordered;
    reg_curve curve;
    uint32_t *from;
    kit_ok(host.ctx, cloud_points_make(host.ctx, COUNT, false, &points));
    for (size_t k = 0; k < COUNT; ++k) {
        for (size_t axis = 0, rest = k; axis < 3; ++axis, rest /= SIDE)
            points.position[axis][k] = (double)(rest % SIDE);
        points.weight[k] = 1;
    }
    kit_ok(host.ctx, reg_curve_make(&points, 0, true, &ordered, &curve, &from));
    assert_int_equal(ordered.count, COUNT);
    for (size_t k = 1; k < COUNT; ++k) {
        double way = 0;
        for (int axis = 0; axis < 3; ++axis) way += fabs(ordered.position[axis][k] - ordered.position[axis][k - 1]);
        assert_true(way == 1);
    }
    cloud_points_free(&points);
    cloud_points_free(&ordered);
    reg_curve_free(&curve);
    atn_free(host.ctx, from);
    host_close(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_and_unites),
        cmocka_unit_test(merges_cells),
        cmocka_unit_test(counts_cells),
        cmocka_unit_test(thins_out_crowds),
        cmocka_unit_test(takes_points_at_one_place),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(cells_that_follow_each_other_are_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
