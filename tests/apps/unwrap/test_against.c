/* Unwrapping against what can be computed otherwise: small systems solved densely, knobs against each other, iterations
 * with a fifth of the pixels masked, and allocations that fail. */
#include "testkit.h"

#include <attune/unwrap.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400 };
static const double TURN = 6.283185307179586;

static atn_ctx *ctx;
static atn_device *device;

static double wrapped(double d) { return d - TURN * rint(d / TURN); }

/* ---- dense ---- */

/* The normal equations of least squares over valid neighbours, by elimination; each island's first pixel is 0. */
typedef struct dense {
    int64_t width, height;
    double psi[MOST], out[MOST];
    uint8_t mask[MOST];
    double a[MOST][MOST + 1];
} dense;

static void add_pair(dense *d, int64_t p, int64_t q) {
    if (!d->mask[p] || !d->mask[q]) return;
    double step = wrapped(d->psi[q] - d->psi[p]);
    int64_t n = d->width * d->height;
    d->a[p][p] += 1, d->a[q][q] += 1, d->a[p][q] -= 1, d->a[q][p] -= 1;
    d->a[p][n] -= step, d->a[q][n] += step;
}

/* Gauss-Jordan; a pivot that vanishes is an island's last unknown, which is free: 0. */
static void eliminate(dense *d) {
    int64_t n = d->width * d->height;
    for (int64_t k = 0; k < n; ++k) {
        if (fabs(d->a[k][k]) < 1e-9) {
            for (int64_t i = 0; i <= n; ++i) d->a[k][i] = i == k;
            d->a[k][n] = 0;
        }
        double pivot = d->a[k][k];
        for (int64_t i = k; i <= n; ++i) d->a[k][i] /= pivot;
        for (int64_t j = 0; j < n; ++j) {
            double share = d->a[j][k];
            if (j == k || share == 0) continue;
            for (int64_t i = k; i <= n; ++i) d->a[j][i] -= share * d->a[k][i];
        }
    }
}

static void solve_densely(dense *d) {
    memset(d->a, 0, sizeof d->a);
    for (int64_t j = 0; j < d->height; ++j)
        for (int64_t i = 0; i < d->width; ++i) {
            int64_t k = j * d->width + i;
            if (i + 1 < d->width) add_pair(d, k, k + 1);
            if (j + 1 < d->height) add_pair(d, k, k + d->width);
        }
    eliminate(d);
}

/* Differences between neighbours must agree; constants of islands are free. */
static void compare(const dense *d, double most) {
    int64_t n = d->width * d->height;
    for (int64_t k = 0; k < n; ++k) {
        int64_t next[2] = {k % d->width + 1 < d->width ? k + 1 : -1, k + d->width < n ? k + d->width : -1};
        assert_int_equal(isnan(d->out[k]) != 0, !d->mask[k]);
        for (int s = 0; s < 2; ++s) {
            if (next[s] < 0 || !d->mask[k] || !d->mask[next[s]]) continue;
            double want = d->a[next[s]][n] - d->a[k][n], got = d->out[next[s]] - d->out[k];
            if (!(fabs(want - got) < most))
                fail_msg("%d x %d, pixel %d: %g instead of %g", (int)d->width, (int)d->height, (int)k, got, want);
        }
    }
}

KIT_TEST(equals_a_dense_solution) {
    uint64_t seed = 11;
    dense *d = malloc(sizeof *d);
    for (int round = 0; round < 24; ++round) {
        atn_unwrap *unwrap;
        atn_unwrap_result r = {0};
        d->width = 1 + (int64_t)(kit_random(&seed) % 20);
        d->height = 1 + (int64_t)(kit_random(&seed) % 20);
        bool holes = round % 2;
        for (int64_t k = 0; k < d->width * d->height; ++k) {
            d->psi[k] = 6 * kit_uniform(&seed) - 3; /* noise: residues everywhere */
            d->mask[k] = !holes || kit_uniform(&seed) < 0.8;
        }
        d->mask[0] = 1;
        atn_unwrap_settings options = {.bits = 64, .coarsest = 4};
        kit_ok(ctx, atn_unwrap_create(device, d->width, d->height, &options, &unwrap));
        atn_unwrap_solve_settings settings = {.mask = holes ? d->mask : NULL, .weights = ATN_UNWRAP_WEIGHTS_NONE};
        kit_ok(ctx, atn_unwrap_solve(unwrap, d->psi, &settings, d->out, &r));
        assert_true(r.converged);
        solve_densely(d);
        compare(d, 1e-7);
        atn_unwrap_free(unwrap);
    }
    free(d);
}

/* ---- knobs ---- */

typedef struct scene {
    int64_t side;
    size_t pixels;
    double *psi, *out;
    uint8_t *mask;
} scene;

static scene make(int64_t side) {
    scene s = {.side = side, .pixels = (size_t)(side * side)};
    s.psi = malloc(s.pixels * sizeof *s.psi);
    s.out = malloc(s.pixels * sizeof *s.out);
    s.mask = malloc(s.pixels);
    for (size_t k = 0; k < s.pixels; ++k) {
        double x = (double)(k % (size_t)side) / (double)side - 0.5, y = (double)(k / (size_t)side) / (double)side - 0.5;
        s.psi[k] = wrapped(30 * exp(-8 * (x * x + y * y)) + 9 * sin(5 * x) * cos(4 * y));
        s.mask[k] = 1;
    }
    return s;
}

static void drop(scene *s) { free(s->psi), free(s->out), free(s->mask); }

static atn_unwrap_result solve(scene *s, const atn_unwrap_settings *options,
                               const atn_unwrap_solve_settings *settings) {
    atn_unwrap *unwrap;
    atn_unwrap_result result = {0};
    kit_ok(ctx, atn_unwrap_create(device, s->side, s->side, options, &unwrap));
    kit_ok(ctx, atn_unwrap_solve(unwrap, s->psi, settings, s->out, &result));
    atn_unwrap_free(unwrap);
    return result;
}

/* All of them find the same surface, in about as many cycles. */
KIT_TEST(knobs_agree) {
    static const atn_unwrap_settings KNOBS[] = {
        {.bits = 64},
        {.bits = 64, .smoother = ATN_UNWRAP_SMOOTHER_REDBLACK},
        {.bits = 64, .no_fuse = true},
        {.bits = 64, .cycle = ATN_UNWRAP_CYCLE_W},
        {.bits = 64, .before = 1, .after = 1},
        {.bits = 64, .before = 3, .after = 2, .coarsest = 500},
        {.bits = 64, .before = 5, .after = 4, .coarsest = 4},
    };
    scene s = make(101);
    double *first = malloc(s.pixels * sizeof *first);
    for (size_t k = 0; k < sizeof KNOBS / sizeof *KNOBS; ++k) {
        atn_unwrap_settings knobs = KNOBS[k];
        knobs.method = ATN_UNWRAP_METHOD_MULTIGRID;
        atn_unwrap_result r =
            solve(&s, &knobs, &(atn_unwrap_solve_settings){.tolerance = 1e-10, .remove = ATN_UNWRAP_REMOVE_PISTON});
        if (!r.converged || r.cycles < 1 || r.cycles > (k == 4 ? 40 : 15))
            fail_msg("knobs %d: %d cycles, %s", (int)k, r.cycles, r.reason);
        if (k == 0) memcpy(first, s.out, s.pixels * sizeof *first);
        for (size_t i = 0; i < s.pixels; ++i)
            if (!(fabs(s.out[i] - first[i]) < 1e-8))
                fail_msg("knobs %d, pixel %d: %g, %g", (int)k, (int)i, s.out[i], first[i]);
    }
    free(first);
    drop(&s);
}

/* ---- holes ---- */

static void put_discs(scene *s, double share) {
    uint64_t seed = 3;
    size_t masked = 0, wanted = (size_t)(share * (double)s->pixels);
    while (masked < wanted) {
        double x = kit_uniform(&seed) * (double)s->side, y = kit_uniform(&seed) * (double)s->side;
        double radius = (0.01 + 0.04 * kit_uniform(&seed)) * (double)s->side;
        for (size_t k = 0; k < s->pixels; ++k) {
            double dx = (double)(k % (size_t)s->side) - x, dy = (double)(k / (size_t)s->side) - y;
            if (!s->mask[k] || dx * dx + dy * dy > radius * radius) continue;
            s->mask[k] = 0;
            ++masked;
        }
    }
}

KIT_TEST(holes_cost_few_iterations) {
    for (int64_t side = 128; side <= 256; side *= 2)
        for (int discs = 0; discs < 2; ++discs) {
            scene s = make(side);
            uint64_t seed = 5;
            if (discs) put_discs(&s, 0.2);
            for (size_t k = 0; k < s.pixels && !discs; ++k) s.mask[k] = kit_uniform(&seed) >= 0.2;
            atn_unwrap_result r = solve(&s, &(atn_unwrap_settings){.bits = 64, .method = ATN_UNWRAP_METHOD_CG},
                                        &(atn_unwrap_solve_settings){.mask = s.mask, .tolerance = 1e-8});
            assert_true(r.converged);
            assert_true(r.cycles > 0 && r.cycles < 20);
            drop(&s);
        }
}

/* ---- memory ---- */

static atn_status some_frames(atn_device *host) {
    float psi[12 * 12], out[12 * 12];
    uint8_t mask[12 * 12];
    atn_unwrap *unwrap = NULL;
    atn_unwrap_result r = {0};
    for (int k = 0; k < 12 * 12; ++k) {
        psi[k] = (float)wrapped(0.7 * k);
        mask[k] = k % 7 != 3;
    }
    atn_status status = atn_unwrap_create(host, 12, 12, &(atn_unwrap_settings){.coarsest = 40}, &unwrap);
    atn_unwrap_solve_settings plain = {.weights = ATN_UNWRAP_WEIGHTS_NONE},
                              holes = {.mask = mask, .weights = plain.weights};
    if (status == ATN_OK) status = atn_unwrap_solve(unwrap, psi, &plain, out, &r);
    if (status == ATN_OK) status = atn_unwrap_solve(unwrap, psi, &holes, out, &r);
    for (int k = 0; k < 12 * 12; ++k) psi[k] = (float)wrapped(0.7 * k * k); /* residues: the shortest cuts */
    if (status == ATN_OK) status = atn_unwrap_solve(unwrap, psi, NULL, out, &r);
    atn_unwrap_free(unwrap);
    return status;
}

/* Every so manyth allocation fails: it is said, and nothing is left behind. */
KIT_TEST(survives_failing_allocations) {
    kit_faults faults = {0};
    char *dir = kit_tempdir();
    atn_ctx_settings options = kit_fault_options(&faults);
    options.cache_dir = dir;
    atn_ctx *faulty;
    atn_devices *devices;
    atn_device *host;
    assert_int_equal(atn_ctx_create(&options, &faulty), ATN_OK);
    kit_ok(faulty, atn_devices_find(faulty, &devices));
    kit_ok(faulty, atn_device_open(devices, 0, &host));
    kit_ok(faulty, some_frames(host));
    long before = atomic_load(&faults.count);
    kit_ok(faulty, some_frames(host));
    long all = atomic_load(&faults.count) - before;
    int failed = 0;
    for (long k = 1; k <= all; k += all / 48 + 1) {
        long live = atomic_load(&faults.live);
        faults.fail_at = atomic_load(&faults.count) + k;
        atn_status status = some_frames(host);
        faults.fail_at = 0;
        assert_true(status == ATN_OK || status == ATN_ERR_MEMORY); /* wisdom that is not read stops nothing */
        failed += status != ATN_OK;
        if (status != ATN_OK) assert_true(atomic_load(&faults.live) <= live);
    }
    assert_true(failed > 10);
    kit_ok(faulty, some_frames(host));
    atn_device_close(host);
    atn_devices_free(devices);
    atn_ctx_free(faulty);
    assert_int_equal(atomic_load(&faults.live), 0);
    kit_remove(dir);
}

static int open_all(void **state) {
    (void)state;
    setenv("ATTUNE_CC", "/nowhere/cc", 1); /* the library's own kernels: this is about numbers, nothing is built */
    ctx = kit_ctx();
    device = kit_open_host(ctx);
    return 0;
}

static int close_all(void **state) {
    (void)state;
    atn_device_close(device);
    kit_free(ctx);
    return 0;
}

/* A jump that grows along a cut: rounds that adapt weights need one iteration first and dozens in the end. What was
 * learned from the last frame's may not run over the next one's first. */
KIT_TEST(frames_after_the_first) {
    enum { SIDE = 128 };
    static float phase[SIDE * SIDE], answer[SIDE * SIDE];
    atn_unwrap *u;
    atn_unwrap_result first = {0}, next = {0};
    for (int k = 0; k < SIDE * SIDE; ++k)
        phase[k] = (float)remainder(k / SIDE > SIDE / 2 ? 0.15 * (k % SIDE) : 0.02 * (k % SIDE), 2 * acos(-1.0));
    kit_ok(ctx, atn_unwrap_create(device, SIDE, SIDE, NULL, &u));
    atn_unwrap_solve_settings settings = {.weights = ATN_UNWRAP_WEIGHTS_AUTO};
    kit_ok(ctx, atn_unwrap_solve(u, phase, &settings, answer, &first));
    assert_true(first.converged && first.residues > 0 && first.solutions > 1);
    for (int k = 0; k < 2; ++k) {
        kit_ok(ctx, atn_unwrap_solve(u, phase, &settings, answer, &next));
        if (!next.converged || next.cut_length != first.cut_length || next.cycles > first.cycles + 10)
            fail_msg("%d cycles, %d cuts, then %d and %d: %s", first.cycles, (int)first.cut_length, next.cycles,
                     (int)next.cut_length, next.reason);
    }
    atn_unwrap_free(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_after_the_first),
        cmocka_unit_test(equals_a_dense_solution),
        cmocka_unit_test(knobs_agree),
        cmocka_unit_test(holes_cost_few_iterations),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
