/* Points that a device puts in order, merges and cuts into blocks, on every device, against what the host does
 * (reg_curve_make, reg_curve_merge, reg_side_make): the same order, cells and boxes, to rounding where sums are made.
 */
#include "regkit.h"

#include "apps/register/ordered_side.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

typedef enum kind { EVEN, EQUAL_PAIRS, ONE_PLACE, STRAYS, NO_NUMBER, KINDS } kind;

static cloud_points points_of(atn_ctx *ctx, size_t count, kind which, uint64_t seed) {
    cloud_points p;
    kit_ok(ctx, cloud_points_make(ctx, count, false, &p));
    for (size_t k = 0; k < count; ++k) {
        size_t of = which == EQUAL_PAIRS && k >= count / 2 ? k - count / 2 : k;
        for (int d = 0; d < 3; ++d) {
            p.position[d][k] = of < k ? p.position[d][of] : kit_uniform(&seed) - 0.5;
            if (which == ONE_PLACE) p.position[d][k] = 0.25;
            if (which == STRAYS && count > 2000 && k % 500 == 3) p.position[d][k] = 1e6 + (double)k;
        }
        p.weight[k] = (float)(k % 4);
    }
    if (which == NO_NUMBER) p.position[1][count / 2] = NAN;
    return p;
}

static cloud_points copy_of(atn_ctx *ctx, const cloud_points *p) {
    cloud_points q;
    kit_ok(ctx, cloud_points_make(ctx, p->count, false, &q));
    for (int d = 0; d < 3; ++d) memcpy(q.position[d], p->position[d], p->count * sizeof(double));
    memcpy(q.weight, p->weight, p->count * sizeof *p->weight);
    return q;
}

/* The raster that reg_curve_make takes, and the points sorted along it on the device. */
static bool order(reg_engine *e, const cloud_points *p, reg_ordered *out) {
    double low[3], high[3], corner[3];
    bool settled;
    for (int d = 0; d < 3; ++d) {
        low[d] = high[d] = p->position[d][0];
        for (size_t k = 0; k < p->count; ++k) {
            low[d] = p->position[d][k] < low[d] ? p->position[d][k] : low[d];
            high[d] = p->position[d][k] > high[d] ? p->position[d][k] : high[d];
        }
    }
    double cell = reg_curve_raster(p, low, high, 0.1, corner);
    kit_ok(e->ctx, reg_ordered_load(e, p, out));
    kit_ok(e->ctx, reg_ordered_sort(e, out, corner, cell, &settled));
    return settled;
}

static bool alike(double a, double b, double bound) { return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= bound; }

static void check_points(const cloud_points *a, const cloud_points *b, double bound) {
    assert_int_equal(a->count, b->count);
    for (size_t k = 0; k < a->count; ++k) {
        for (int d = 0; d < 3; ++d)
            if (!alike(a->position[d][k], b->position[d][k], bound))
                fail_msg("point %zu of %zu: %.17g, %.17g", k, a->count, a->position[d][k], b->position[d][k]);
        assert_true(alike((double)a->weight[k], (double)b->weight[k], 0));
    }
}

static void check_merged(reg_engine *e, const reg_ordered *o, const cloud_points *p, const reg_curve *curve) {
    for (double edge = 0.01; edge < 1; edge *= 5) {
        double exact = reg_curve_edge(curve, edge);
        cloud_points merged, got;
        reg_curve coarse;
        reg_ordered coarser;
        atn_array *cell;
        const void *named;
        uint32_t *wanted = atn_alloc(e->ctx, p->count * sizeof *wanted);
        kit_ok(e->ctx, reg_curve_merge(p, curve, exact, &merged, &coarse));
        kit_ok(e->ctx, reg_curve_cells(p, curve, exact, wanted));
        assert_int_equal(reg_ordered_cells(o, exact), merged.count);
        kit_ok(e->ctx, reg_ordered_merge(e, o, exact, &coarser, &cell));
        assert_true(alike(coarser.cell, coarse.cell, 1e-12));
        kit_ok(e->ctx, reg_ordered_sample(e, &coarser, merged.count, &got));
        check_points(&got, &merged, 1e-9);
        kit_ok(e->ctx, atn_array_map_read(cell, &named));
        for (size_t k = 0; k < p->count; ++k) assert_int_equal(((const int32_t *)named)[k], wanted[k]);
        atn_free(e->ctx, wanted);
        atn_array_free(cell);
        cloud_points_free(&merged);
        cloud_points_free(&got);
        reg_curve_free(&coarse);
        reg_ordered_free(&coarser);
    }
}

static void check_boxes(const reg_side *a, const reg_side *b) {
    assert_int_equal(a->blocks, b->blocks);
    for (size_t k = 0; k < a->blocks; ++k) {
        for (int d = 0; d < 3; ++d) assert_true(alike(a->centre[k][d], b->centre[k][d], 1e-12));
        assert_true(alike(a->radius[k], b->radius[k], 1e-12));
    }
    for (size_t n = 1; n < 2 * a->tree.leaves; ++n)
        for (int d = 0; d < 3; ++d) {
            assert_true(alike(a->tree.node[n].low[d], b->tree.node[n].low[d], 1e-12));
            assert_true(alike(a->tree.node[n].high[d], b->tree.node[n].high[d], 1e-12));
        }
    assert_true(alike(a->usual_radius, b->usual_radius, 1e-12));
}

static void check_elements(const reg_side *a, const reg_side *b) {
    assert_int_equal(a->padded, b->padded);
    for (size_t r = 0; r < a->padded; ++r) {
        for (int d = 0; d < 3; ++d) assert_true(a->position[d][r] == (double)(float)b->position[d][r]);
        assert_true(a->weight[r] == b->weight[r] && a->origin[r] == b->origin[r]);
    }
}

static void check_side(reg_engine *e, const reg_ordered *o, const cloud_points *p) {
    const double origin[3] = {0.125, -0.25, 0.5}, unit = 0.75;
    reg_side got, wanted, some, few;
    double spacing;
    kit_ok(e->ctx, reg_side_make(e->device, p, origin, unit, ATN_SP, e->block, &wanted));
    kit_ok(e->ctx, reg_side_of(e, o, origin, unit, &got));
    kit_ok(e->ctx, reg_side_settle(&got));
    check_boxes(&got, &wanted);
    kit_ok(e->ctx, reg_ordered_spacing(e, o, &got, origin, unit, &spacing));
    assert_true(alike(spacing, reg_side_spacing(&wanted), 1e-9));
    kit_ok(e->ctx, reg_side_sample(e, &got, 3, &some));
    kit_ok(e->ctx, reg_side_sample(e, &wanted, 3, &few));
    check_elements(&some, &few);
    assert_int_equal(some.count, few.count);
    assert_true(!got.position[0]);
    kit_ok(e->ctx, reg_side_fetch(&got));
    check_elements(&got, &wanted);
    kit_ok(e->ctx, reg_side_unpark(&wanted)); /* log2 of the weights */
    double *a = atn_alloc(e->ctx, 2 * got.padded * sizeof *a), *b = a + got.padded;
    kit_ok(e->ctx, reg_array_get(got.log_weight, got.padded, a));
    kit_ok(e->ctx, reg_array_get(wanted.log_weight, got.padded, b));
    for (size_t r = 0; r < got.padded; ++r) assert_true(alike(a[r], b[r], 1e-6));
    atn_free(e->ctx, a);
    reg_side *const all[] = {&got, &wanted, &some, &few};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) reg_side_free(all[k]);
}

static void check_kind(reg_engine *e, size_t count, kind which) {
    cloud_points given = points_of((atn_ctx *)(uintptr_t)e->ctx, count, which, 3 + count), sorted, got;
    cloud_points copy = copy_of((atn_ctx *)(uintptr_t)e->ctx, &given); /* the host adds weights to it */
    reg_curve curve, keys;
    uint32_t *from, *wanted;
    reg_ordered o;
    if (which == EVEN) {
        double guess, wanted_guess;
        kit_ok(e->ctx, reg_ordered_load(e, &given, &o));
        kit_ok(e->ctx, reg_ordered_guess(e, &o, &guess));
        kit_ok(e->ctx, reg_curve_guess(&given, &wanted_guess));
        assert_true(alike(guess, wanted_guess, 1e-9 * wanted_guess));
        reg_ordered_free(&o);
    }
    assert_true(order(e, &given, &o));
    kit_ok(e->ctx, reg_curve_make(&copy, 0.1, true, &sorted, &curve, &wanted));
    kit_ok(e->ctx, reg_ordered_fetch(e, &o, &got, &keys, &from));
    check_points(&got, &sorted, 0);
    for (size_t k = 0; k < got.count; ++k) {
        assert_int_equal(from[k], wanted[k]);
        assert_true(keys.key[k] == curve.key[k]);
    }
    if (which != NO_NUMBER) {
        double total[REG_SUMS_COUNT], sum = 0;
        kit_ok(e->ctx, reg_ordered_sums(e, &o, (double[3]){0.5, 0, -0.5}, total));
        for (size_t k = 0; k < got.count; ++k) sum += (double)got.weight[k];
        assert_true(alike(total[0], sum, 1e-9 * sum) && alike(o.weight, o.weight > 0 ? sum : 0, 1e-9 * sum));
        check_merged(e, &o, &sorted, &curve);
        check_side(e, &o, &sorted);
    }
    reg_ordered_free(&o);
    reg_curve_free(&curve);
    reg_curve_free(&keys);
    atn_free(e->ctx, from);
    atn_free(e->ctx, wanted);
    cloud_points *const all[] = {&given, &copy, &sorted, &got};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) cloud_points_free(all[k]);
}

/* More points in a smallest cell than may stay as they came; and more than may be in a larger one. */
static void check_crowds(reg_engine *e) {
    enum { MANY = 3000, CROWD = 100, MOST = 64 };
    for (int apart = 0; apart < 2; ++apart) {
        cloud_points p = points_of((atn_ctx *)(uintptr_t)e->ctx, MANY, EVEN, 8);
        reg_ordered o;
        bool crowded;
        for (size_t k = 0; k < CROWD; ++k)
            for (int d = 0; d < 3; ++d) p.position[d][k] = 0.05 + (apart ? 1e-5 : 1e-12) * (double)(k + 1);
        assert_int_equal(order(e, &p, &o), apart);
        if (apart) {
            reg_curve like = {.cell = o.cell};
            kit_ok(e->ctx, reg_ordered_crowded(e, &o, reg_curve_edge(&like, 0.1), MOST, &crowded));
            assert_true(crowded);
            kit_ok(e->ctx, reg_ordered_crowded(e, &o, reg_curve_edge(&like, 1e-5), MOST, &crowded));
            assert_false(crowded);
        }
        reg_ordered_free(&o);
        cloud_points_free(&p);
    }
}

/* Rows of a matrix with gaps, of both types; and what is no number among them. */
static void check_rows(reg_engine *e) {
    enum { MANY = 777, PITCH = 5 };
    for (int wide = 0; wide < 2; ++wide) {
        atn_array *rows;
        void *to;
        reg_ordered o;
        cloud_points got;
        uint64_t seed = 4;
        kit_ok(e->ctx, atn_array_create_matrix(e->device, wide ? ATN_DP : ATN_SP, MANY, 3, PITCH, &rows));
        kit_ok(e->ctx, atn_array_map_write(rows, &to));
        for (size_t k = 0; k < PITCH * MANY; ++k) {
            float x = k % PITCH < 3 ? (float)kit_uniform(&seed) : NAN;
            if (wide)
                ((double *)to)[k] = (double)x;
            else
                ((float *)to)[k] = x;
        }
        kit_ok(e->ctx, reg_ordered_split(e, rows, "source", &o));
        kit_ok(e->ctx, reg_ordered_sample(e, &o, SIZE_MAX, &got));
        seed = 4;
        for (size_t k = 0; k < MANY; ++k) {
            for (int d = 0; d < 3; ++d) assert_true(got.position[d][k] == (double)(float)kit_uniform(&seed));
            assert_true(got.weight[k] == 1);
        }
        reg_ordered_free(&o);
        cloud_points_free(&got);
        kit_ok(e->ctx, atn_array_map_write(rows, &to));
        if (wide)
            ((double *)to)[PITCH * 300 + 1] = INFINITY;
        else
            ((float *)to)[PITCH * 300 + 1] = NAN;
        kit_fails(e->ctx, ATN_ERR_INPUT, "1 points of the source have a coordinate that is not finite",
                  reg_ordered_split(e, rows, "source", &o));
        atn_array_free(rows);
    }
}

/* What is sampled is there, and in order. */
static void check_sample(reg_engine *e) {
    enum { MANY = 5000, FEW = 300 };
    cloud_points p = points_of((atn_ctx *)(uintptr_t)e->ctx, MANY, EVEN, 9), all, some;
    reg_ordered o;
    size_t at = 0;
    assert_true(order(e, &p, &o));
    kit_ok(e->ctx, reg_ordered_sample(e, &o, MANY, &all));
    kit_ok(e->ctx, reg_ordered_sample(e, &o, FEW, &some));
    assert_int_equal(some.count, FEW);
    for (size_t k = 0; k < FEW; ++k, ++at)
        while (at < MANY && all.position[0][at] != some.position[0][k]) ++at;
    assert_true(at <= MANY);
    reg_ordered_free(&o);
    cloud_points_free(&p);
    cloud_points_free(&all);
    cloud_points_free(&some);
}

KIT_TEST(agrees_with_the_host_on_every_device) {
    static const size_t COUNTS[] = {1, 2, 63, 64, 65, 1000, 4099};
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    const atn_register_settings settings = {.precision = 32};
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        atn_device *device;
        reg_engine e;
        if (!kit_wants(atn_devices_info(devices, d)->backend)) continue;
        kit_ok(ctx, atn_device_open(devices, d, &device));
        print_message("    on %s: %s\n", atn_device_get_info(device)->backend, atn_device_get_info(device)->name);
        kit_ok(ctx, reg_engine_open(device, &settings, &e));
        bool host = strcmp(atn_devices_info(devices, d)->backend, "host") == 0; /* others build for long */
        for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; c += host ? 1 : 3)
            for (kind k = EVEN; k < KINDS; ++k)
                if (kit_turn(c + (size_t)k, host ? 2 : 3)) check_kind(&e, COUNTS[c], k);
        check_crowds(&e);
        check_sample(&e);
        check_rows(&e);
        reg_engine_close(&e);
        atn_device_close(device);
    }
    atn_devices_free(devices);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_host_on_every_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
