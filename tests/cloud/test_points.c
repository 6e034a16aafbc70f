/* Points as arrays: their order, cubes and neighbours held against the plain way; sizes 0 and 1, all points at one
 * place, coordinates of any size, allocations that fail. */
#include "cloudkit.h"

#include "base/memory.h"
#include "cloud/points.h"

#include <float.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Ways in which points lie. */
typedef enum lie { LIE_EVENLY, LIE_LATTICE, LIE_ONE_PLACE, LIE_HUGE, LIE_FAR_ONE, LIE_LIMITS, LIE_PLANE, LIES } lie;

static double coordinate(lie way, size_t point, int axis, uint64_t *seed) {
    double u = kit_uniform(seed);
    switch (way) {
    case LIE_LATTICE:
        return floor(u * 4) - 2;
    case LIE_ONE_PLACE:
        return 0.1;
    case LIE_HUGE:
        return (u - 0.5) * 2e30;
    case LIE_FAR_ONE:
        return point == 3 ? 1e30 : u;
    case LIE_LIMITS:
        return u < 0.3 ? -DBL_MAX : u < 0.6 ? DBL_MAX : u;
    case LIE_PLANE:
        return axis == 2 ? -0.0 : u;
    default:
        return u - 0.5;
    }
}

static cloud_points points_of(atn_ctx *ctx, lie way, size_t count, bool species, uint64_t seed) {
    cloud_points points;
    kit_ok(ctx, cloud_points_make(ctx, count, species, &points));
    for (size_t k = 0; k < count; ++k) {
        for (int d = 0; d < 3; ++d) points.position[d][k] = coordinate(way, k, d, &seed);
        points.weight[k] = (float)(kit_random(&seed) % 4); /* 0 too */
        if (species) points.species[k] = (int32_t)(kit_random(&seed) % 3) - 1;
    }
    return points;
}

static const size_t SIZES[] = {0, 1, 2, 3, 9, 17, 64, 257, 1000};
enum { N_SIZES = sizeof SIZES / sizeof *SIZES };

/* Calls it for every way, size, with and without species. */
static void over_all(void (*check)(atn_ctx *ctx, lie way, const cloud_points *points)) {
    atn_ctx *ctx = kit_ctx();
    for (lie way = 0; way < LIES; ++way)
        for (size_t size = 0; size < N_SIZES; ++size)
            for (int species = 0; species < 2; ++species) {
                cloud_points points = points_of(ctx, way, SIZES[size], species, 11 + size);
                check(ctx, way, &points);
                cloud_points_free(&points);
                assert_null(points.position[0]);
                cloud_points_free(&points);
            }
    kit_free(ctx);
}

/* ---- order ---- */

/* Each comes once; species rise; of points at one place the first comes first. */
static void check_order(atn_ctx *ctx, lie way, const cloud_points *p) {
    uint32_t order[1000];
    bool seen[1000] = {false};
    kit_ok(ctx, cloud_points_order(p, order));
    for (size_t k = 0; k < p->count; ++k) {
        assert_true(order[k] < p->count && !seen[order[k]]);
        seen[order[k]] = true;
        if (!k) continue;
        size_t a = order[k - 1], b = order[k];
        if (p->species) assert_true(p->species[a] <= p->species[b]);
        bool same = !p->species || p->species[a] == p->species[b];
        for (int d = 0; d < 3; ++d) same = same && p->position[d][a] == p->position[d][b];
        if (same || (way == LIE_ONE_PLACE && !p->species)) assert_true(a < b);
    }
}

KIT_TEST(orders) { over_all(check_order); }

/* The corners of a cube, x first. */
KIT_TEST(orders_along_the_curve) {
    atn_ctx *ctx = kit_ctx();
    cloud_points p;
    uint32_t order[8];
    kit_ok(ctx, cloud_points_make(ctx, 8, false, &p));
    for (size_t k = 0; k < 8; ++k)
        for (size_t d = 0; d < 3; ++d) p.position[d][k] = (double)((7 - k) >> d & 1) * 1e30;
    kit_ok(ctx, cloud_points_order(&p, order));
    for (size_t k = 0; k < 8; ++k) assert_int_equal(order[k], 7 - k);
    cloud_points_free(&p);
    kit_free(ctx);
}

/* ---- cubes ---- */

static bool together(const cloud_points *p, double edge, size_t a, size_t b) {
    if (p->species && p->species[a] != p->species[b]) return false;
    for (int d = 0; d < 3; ++d)
        if (floor(p->position[d][a] / edge) != floor(p->position[d][b] / edge)) return false;
    return true;
}

/* The plain way: the first point of a cube finds all others. Means agree to 1e-12 of the edge and what doubles have. */
static void check_merged(const cloud_points *p, double edge, const cloud_points *merged) {
    size_t cubes = 0;
    for (size_t k = 0; k < p->count; ++k) {
        long double sum[3] = {0}, plain[3] = {0}, weight = 0, members = 0;
        bool first = true;
        for (size_t j = 0; first && j < p->count; ++j) {
            if (!together(p, edge, k, j)) continue;
            first = j >= k;
            for (int d = 0; d < 3; ++d) sum[d] += (long double)p->weight[j] * p->position[d][j];
            for (int d = 0; d < 3; ++d) plain[d] += p->position[d][j];
            weight += (long double)p->weight[j];
            ++members;
        }
        if (!first) continue;
        ++cubes;
        size_t found = 0;
        for (size_t m = 0; m < merged->count; ++m) {
            bool same = (long double)merged->weight[m] == weight;
            if (p->species) same = same && merged->species[m] == p->species[k];
            for (int d = 0; d < 3; ++d) {
                double wanted = (double)(weight > 0 ? sum[d] / weight : plain[d] / members);
                double tolerance = 1e-12 * fmin(edge, 1e300) + 4 * DBL_EPSILON * fabs(wanted);
                same = same && fabs(merged->position[d][m] - wanted) <= tolerance;
            }
            found += same;
        }
        assert_true(found >= 1);
    }
    assert_int_equal(merged->count, cubes);
}

static void check_merge(atn_ctx *ctx, lie way, const cloud_points *p) {
    static const double edges[] = {0.25, 1, 1e-9, 3e29, 1e305};
    for (size_t e = 0; e < sizeof edges / sizeof *edges; ++e) {
        cloud_points merged;
        if (way == LIE_LIMITS && edges[e] < 1 && p->count > 3) {
            kit_fails(ctx, ATN_ERR_INPUT, "too short", cloud_points_merge(p, edges[e], &merged));
            assert_null(merged.position[0]);
            continue;
        }
        if (way == LIE_LIMITS && edges[e] < 1) continue;
        kit_ok(ctx, cloud_points_merge(p, edges[e], &merged));
        check_merged(p, edges[e], &merged);
        uint32_t order[1000];
        kit_ok(ctx, cloud_points_order(&merged, order));
        for (size_t k = 0; k < merged.count; ++k) assert_int_equal(order[k], k);
        cloud_points_free(&merged);
    }
}

KIT_TEST(merges) {
    over_all(check_merge);
    atn_ctx *ctx = kit_ctx();
    cloud_points p = points_of(ctx, LIE_EVENLY, 4, false, 1), merged;
    static const double wrong[] = {0, -1, NAN, INFINITY};
    for (size_t k = 0; k < 4; ++k) kit_fails(ctx, ATN_ERR_INPUT, "edge", cloud_points_merge(&p, wrong[k], &merged));
    for (size_t k = 0; k < 4; ++k) p.weight[k] = FLT_MAX; /* as much as there is */
    kit_ok(ctx, cloud_points_merge(&p, 1e305, &merged));
    for (size_t k = 0; k < merged.count; ++k) assert_true(isfinite(merged.weight[k]));
    cloud_points_free(&merged);
    cloud_points_free(&p);
    kit_free(ctx);
}

/* ---- neighbours ---- */

static const cloud_points *asked; /* for comparing */
static double from[3];

static double distance2_to(size_t k) {
    double x = asked->position[0][k] - from[0], y = asked->position[1][k] - from[1],
           z = asked->position[2][k] - from[2];
    return x * x + y * y + z * z;
}

static int nearer(const void *a, const void *b) {
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    double x = distance2_to(i), y = distance2_to(j);
    return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

/* Two sums of the same three squares differ in their last bits: compilers fuse multiplications and additions, or do
 * not. */
static const double ROUNDED = 4 * DBL_EPSILON;

static bool surely_less(double a, double b) { return a * (1 + ROUNDED) < b; }

static bool agree(double a, double b) { return a == b || fabs(a - b) <= ROUNDED * fabs(b); }

/* `index` holds `found` of the points that `all` has in order, at most `most`: those within `reach`, the nearest first
 * and of equal distances the first point first. Points whose distances differ by rounding alone may change places. */
static void check_found(const uint32_t *all, size_t most, double reach, const uint32_t *index, const double *distance2,
                        size_t found) {
    size_t may = 0, must = 0;
    while (may < asked->count && !surely_less(reach * reach, distance2_to(all[may]))) ++may;
    while (must < asked->count && distance2_to(all[must]) * (1 + ROUNDED) <= reach * reach) ++must;
    assert_true(found <= most && found <= may && (found == most || found >= must));
    for (size_t k = 0; k < found; ++k) {
        assert_true(index[k] < asked->count && agree(distance2[k], distance2_to(index[k])));
        assert_true(agree(distance2[k], distance2_to(all[k])));
        if (k)
            assert_true(distance2[k] > distance2[k - 1] ||
                        (distance2[k] == distance2[k - 1] && index[k] > index[k - 1]));
        bool alone = (k == 0 || surely_less(distance2_to(all[k - 1]), distance2[k])) &&
                     (k + 1 == asked->count || surely_less(distance2[k], distance2_to(all[k + 1])));
        if (alone) assert_int_equal(index[k], all[k]);
    }
}

/* Points in any order, by keys that ascend: some are equal, some have the highest bit. */
static atn_status make_along(const cloud_points *p, cloud_grid **out) {
    uint64_t key[1000];
    for (size_t k = 0; k < p->count; ++k) key[k] = k / 3 | (k > p->count / 2 ? (uint64_t)1 << 63 : 0);
    return cloud_grid_make_along(p, key, out);
}

/* Whichever point is known, the nearest one is found from there; of equal distances any. */
static void check_nearer(const cloud_grid *grid, const cloud_points *p, const double at[3], size_t ask) {
    uint32_t known, nearest;
    double there = 0, distance2;
    if (!cloud_grid_nearest(grid, at, 1, INFINITY, &nearest, &distance2)) return;
    known = (uint32_t)(7 * ask % p->count);
    for (int d = 0; d < 3; ++d) there += (p->position[d][known] - at[d]) * (p->position[d][known] - at[d]);
    cloud_grid_nearer(grid, at, &known, &there);
    assert_true(known < p->count);
    assert_true(there == distance2 || fabs(there - distance2) <= 1e-12 * distance2);
}

static void check_nearest(atn_ctx *ctx, lie way, const cloud_points *p) {
    static const double edges[] = {0, 0.1, 1e31};
    static const size_t numbers[] = {0, 1, 2, 20, 2000};
    uint32_t all[1000], index[2000];
    double distance2[2000];
    uint64_t seed = 5;
    asked = p;
    for (size_t e = 0; e < 4; ++e) {
        cloud_grid *grid;
        kit_ok(ctx, e < 3 ? cloud_grid_make(p, edges[e], &grid) : make_along(p, &grid));
        for (size_t ask = 0; ask < 12; ++ask) {
            for (int d = 0; d < 3; ++d) {
                from[d] = coordinate(way, ask, d, &seed) * (ask % 4 == 3 ? 3 : 1);
                if (p->count && ask % 2) from[d] = p->position[d][ask % p->count];
                if (!isfinite(from[d])) from[d] = 0;
            }
            for (uint32_t k = 0; k < p->count; ++k) all[k] = k;
            qsort(all, p->count, sizeof *all, nearer);
            double reach = ask % 3 == 0 ? 0.3 : ask % 3 == 1 ? 0 : INFINITY;
            for (size_t n = 0; n < 5; ++n) {
                size_t found = cloud_grid_nearest(grid, from, numbers[n], reach, index, distance2);
                check_found(all, numbers[n], reach, index, distance2, found);
                bool exact = way == LIE_LATTICE || way == LIE_ONE_PLACE; /* whole numbers, and one distance for all */
                for (size_t k = 0; exact && k < found; ++k) assert_int_equal(index[k], all[k]);
            }
            check_nearer(grid, p, from, ask);
        }
        cloud_grid_free(grid);
    }
}

KIT_TEST(finds_neighbours) {
    over_all(check_nearest);
    cloud_grid_free(NULL);
}

static void check_spacing(atn_ctx *ctx, lie way, const cloud_points *p) {
    double spacing, wanted[1000];
    size_t n = 0;
    kit_ok(ctx, cloud_points_spacing(p, &spacing));
    (void)way;
    asked = p;
    for (size_t k = 0; k < p->count; ++k) {
        bool first = true;
        wanted[n] = INFINITY;
        for (int d = 0; d < 3; ++d) from[d] = p->position[d][k];
        for (size_t j = 0; j < p->count; ++j) {
            if (distance2_to(j) > 0) wanted[n] = fmin(wanted[n], distance2_to(j));
            first = first && (j >= k || distance2_to(j) > 0);
        }
        n += first;
    }
    for (size_t k = 1; k < n; ++k) /* sorts */
        for (size_t j = k; j && wanted[j] < wanted[j - 1]; --j) {
            double held = wanted[j];
            wanted[j] = wanted[j - 1];
            wanted[j - 1] = held;
        }
    while (n && isinf(wanted[n - 1])) --n; /* alone, all at one place, or farther apart than can be said */
    if (n == 0)
        assert_true(spacing == 0);
    else
        assert_true(agree(spacing, (sqrt(wanted[(n - 1) / 2]) + sqrt(wanted[n / 2])) / 2));
}

KIT_TEST(knows_the_spacing) {
    over_all(check_spacing);
    atn_ctx *ctx = kit_ctx();
    cloud_points p;
    double spacing;
    kit_ok(ctx, cloud_points_make(ctx, 30 * 30 * 30, false, &p));
    for (size_t k = 0; k < p.count; ++k) {
        p.position[0][k] = (double)(k % 30) * 0.5;
        p.position[1][k] = (double)(k % 900 - k % 30) / 30 * 0.5;
        size_t layer = k / 900;
        p.position[2][k] = (double)layer * 0.5;
        p.weight[k] = 1;
    }
    kit_ok(ctx, cloud_points_spacing(&p, &spacing));
    assert_true(spacing == 0.5);
    for (size_t k = 0; k < p.count; ++k) /* every point twice, then two thirds of them at one place */
        for (int d = 0; d < 3; ++d) p.position[d][k] = p.position[d][k / 2 * 2];
    kit_ok(ctx, cloud_points_spacing(&p, &spacing));
    assert_true(spacing == 0.5); /* along x every second place is left */
    for (size_t k = p.count / 3; k < p.count; ++k)
        for (int d = 0; d < 3; ++d) p.position[d][k] = -9;
    kit_ok(ctx, cloud_points_spacing(&p, &spacing));
    assert_true(spacing == 0.5);
    cloud_points_free(&p);
    kit_free(ctx);
}

/* Many points at one place, many equal coordinates: no square of their number. */
KIT_TEST(is_quick_with_equal_points) {
    enum { MANY = 200000 };
    atn_ctx *ctx = kit_ctx();
    for (lie way = LIE_LATTICE; way <= LIE_ONE_PLACE; ++way) {
        cloud_points p = points_of(ctx, way, MANY, true, 3);
        cloud_grid *grid;
        kit_ok(ctx, cloud_grid_make(&p, 0, &grid));
        for (size_t k = 0; k < MANY; k += 10) {
            double at[3] = {p.position[0][k], p.position[1][k], p.position[2][k]}, distance2[20];
            uint32_t index[20];
            assert_int_equal(cloud_grid_nearest(grid, at, 20, INFINITY, index, distance2), 20);
            for (uint32_t j = 0; j < 20; ++j) {
                assert_true(distance2[j] == 0);
                if (way == LIE_ONE_PLACE) assert_int_equal(index[j], j);
            }
        }
        cloud_grid_free(grid);
        cloud_points_free(&p);
    }
    kit_free(ctx);
}

/* ---- many points, by one core and by all ---- */

enum { ENOUGH = 150000, ASKED = 500 };

typedef struct found {
    uint32_t *order;
    cloud_points merged;
    double spacing;
    uint32_t nearest[ASKED];
} found;

static found find_all(atn_ctx *ctx, const cloud_points *p) {
    found f = {.order = atn_alloc(ctx, p->count * sizeof *f.order)};
    cloud_grid *grid;
    kit_ok(ctx, cloud_points_order(p, f.order));
    kit_ok(ctx, cloud_points_merge(p, 0.02, &f.merged));
    kit_ok(ctx, cloud_points_spacing(p, &f.spacing));
    kit_ok(ctx, cloud_grid_make(p, 0, &grid));
    uint64_t seed = 5;
    for (size_t k = 0; k < ASKED; ++k) {
        double at[3] = {kit_uniform(&seed) - 0.5, kit_uniform(&seed) - 0.5, kit_uniform(&seed) - 0.5}, distance2;
        assert_int_equal(cloud_grid_nearest(grid, at, 1, INFINITY, &f.nearest[k], &distance2), 1);
        double best = INFINITY;
        for (size_t j = 0; j < p->count && k < 20; ++j) {
            double d2 = 0;
            for (int d = 0; d < 3; ++d) d2 += (p->position[d][j] - at[d]) * (p->position[d][j] - at[d]);
            best = fmin(best, d2);
        }
        if (k < 20) assert_true(fabs(best - distance2) <= 1e-12 * best);
    }
    cloud_grid_free(grid);
    return f;
}

KIT_TEST(do_not_depend_on_the_number_of_cores) {
    atn_ctx *ctx = kit_ctx();
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (size_t k = 0; k < CPU_SETSIZE && !CPU_COUNT(&one); ++k)
        if (CPU_ISSET(k, &all)) CPU_SET(k, &one);
    for (int species = 0; species < 2; ++species) {
        cloud_points p = points_of(ctx, LIE_EVENLY, ENOUGH, species, 9);
        found many = find_all(ctx, &p);
        assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
        found alone = find_all(ctx, &p);
        assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
        assert_memory_equal(many.order, alone.order, ENOUGH * sizeof *many.order);
        assert_memory_equal(many.nearest, alone.nearest, sizeof many.nearest);
        assert_int_equal(many.merged.count, alone.merged.count);
        for (int d = 0; d < 3; ++d)
            assert_memory_equal(many.merged.position[d], alone.merged.position[d], many.merged.count * sizeof(double));
        assert_true(many.spacing == alone.spacing);
        for (size_t k = 1; k < ENOUGH && species; ++k)
            assert_true(p.species[many.order[k - 1]] <= p.species[many.order[k]]);
        atn_free(ctx, many.order);
        atn_free(ctx, alone.order);
        cloud_points_free(&many.merged);
        cloud_points_free(&alone.merged);
        cloud_points_free(&p);
    }
    kit_free(ctx);
}

/* ---- from clouds, and without memory ---- */

static const kit_file WEIGHTED = KIT_FILE("a.csv", "x,y,z,weight,species\n1,2,3,0.5,7\n4,5,6,2,-1\n");
static const kit_file WRONG[] = {
    KIT_FILE("a.csv", "x,y,z,weight\n1,2,3,0.5\n4,5,6,-2\n"),
    KIT_FILE("a.csv", "x,y,z,weight\n1,2,3,0.5\n4,5,6,nan\n"),
    KIT_FILE("a.csv", "x,y,z,weight\n1,2,3,0.5\n4,5,6,1e60\n"),
};

KIT_TEST(takes_weights_and_species) {
    static const double positions[] = {1, 2, 3};
    atn_ctx *ctx = kit_ctx();
    atn_cloud *cloud = cloud_of(ctx, &WEIGHTED, ATN_INVALID_REFUSE);
    cloud_points p;
    kit_ok(ctx, cloud_points_of(ctx, cloud, &p));
    assert_int_equal(p.count, 2);
    assert_true(p.position[2][1] == 6 && p.weight[0] == 0.5f && p.weight[1] == 2);
    assert_true(p.species[0] == 7 && p.species[1] == -1);
    cloud_points_free(&p);
    atn_cloud_free(cloud);
    for (size_t k = 0; k < sizeof WRONG / sizeof *WRONG; ++k) {
        cloud = cloud_of(ctx, &WRONG[k], ATN_INVALID_REFUSE);
        kit_fails(ctx, ATN_ERR_INPUT, "point 1 has the weight", cloud_points_of(ctx, cloud, &p));
        assert_null(p.position[0]);
        atn_cloud_free(cloud);
    }
    for (size_t count = 0; count < 2; ++count) {
        kit_ok(ctx, atn_cloud_create(ctx, count, positions, NULL, &cloud));
        kit_ok(ctx, cloud_points_of(ctx, cloud, &p));
        assert_int_equal(p.count, count);
        assert_null(p.species);
        if (count) assert_true(p.weight[0] == 1);
        cloud_points_free(&p);
        atn_cloud_free(cloud);
    }
    kit_free(ctx);
}

static atn_status use_all(atn_ctx *ctx, const void *given) {
    (void)given;
    cloud_points p = {0}, merged = {0};
    atn_cloud *cloud;
    uint32_t order[2];
    double spacing;
    atn_status status = atn_cloud_read_bytes(ctx, WEIGHTED.name, WEIGHTED.bytes, WEIGHTED.length, NULL, &cloud);
    if (status == ATN_OK) status = cloud_points_of(ctx, cloud, &p);
    if (status == ATN_OK) status = cloud_points_order(&p, order);
    if (status == ATN_OK) status = cloud_points_merge(&p, 1, &merged);
    if (status == ATN_OK) status = cloud_points_spacing(&p, &spacing);
    cloud_points_free(&merged);
    cloud_points_free(&p);
    atn_cloud_free(cloud);
    return status;
}

/* ---- limits ---- */

KIT_TEST(bounds_have_their_limits) {
    atn_ctx *ctx = kit_ctx();
    static const struct {
        double low, high, edge;
        bool fits;
    } CASES[] = {{0, 1e6, 1, true},       {-1e6, 1e6, 1, false},    {-1e308, 1e308, 1, false}, {0, 1e308, 1e303, true},
                 {0, INFINITY, 1, false}, {-INFINITY, 0, 1, false}, {NAN, NAN, 1, false},      {0, 1, 0, false},
                 {0, 1, NAN, false},      {0, 1, INFINITY, false},  {0, 1e-300, 1e-307, false}};
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k)
        for (int d = 0; d < 3; ++d) {
            double low[3] = {0}, high[3] = {0};
            low[d] = CASES[k].low, high[d] = CASES[k].high;
            atn_status status = cloud_extent_check(ctx, "test", low, high, CASES[k].edge, 1e6);
            assert_int_equal(status, CASES[k].fits ? ATN_OK : ATN_ERR_INPUT);
        }
    kit_free(ctx);
}

KIT_TEST(every_allocation_fails_once) { cloud_walk(use_all, NULL); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),
        cmocka_unit_test(orders_along_the_curve),
        cmocka_unit_test(merges),
        cmocka_unit_test(finds_neighbours),
        cmocka_unit_test(knows_the_spacing),
        cmocka_unit_test(is_quick_with_equal_points),
        cmocka_unit_test(do_not_depend_on_the_number_of_cores),
        cmocka_unit_test(takes_weights_and_species),
        cmocka_unit_test(bounds_have_their_limits),
        cmocka_unit_test(every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
