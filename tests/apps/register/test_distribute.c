/* A registration of points that are distributed over ranks, here over one, which has all slabs:
 * tests/ranks/distribute.sh has more of them. */
#include "apps/register/distribute.h"
#include "base/memory.h"
#include "cloud/part.h"
#include "regkit.h"

#include <math.h>
#include <stdio.h>

static const double AXIS[3] = {0.3, -0.5, 0.8}, SHIFT[3] = {0.05, -0.02, 0.03};

typedef struct fixture {
    kit_host host;
    char *folder, source[512], target[512];
    double motion[16];
} fixture;

static int setup(void **state) {
    static fixture f;
    double back[16];
    f.host = host_open();
    f.folder = kit_tempdir();
    snprintf(f.source, sizeof f.source, "%s/source.ply", f.folder);
    snprintf(f.target, sizeof f.target, "%s/target.npy", f.folder);
    motion_make(4, AXIS, 1, SHIFT, f.motion);
    motion_invert(f.motion, back);
    atn_cloud *from = shape_make(f.host.ctx, &(shape){9000, 1, 20, 0.004, 0, 0, back});
    atn_cloud *to = shape_make(f.host.ctx, &(shape){9000, 1, 12, 0.004, 0, 0, NULL});
    kit_ok(f.host.ctx, atn_cloud_write(from, f.source));
    kit_ok(f.host.ctx, atn_cloud_write(to, f.target));
    atn_cloud_free(from);
    atn_cloud_free(to);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    kit_remove(f->folder);
    host_close(&f->host);
    return 0;
}

/* One run; the parts and samples are freed, what is said of them stays. */
static atn_status run(const fixture *f, const atn_register_settings *settings, size_t sample, reg_distribution *d,
                      atn_register_result *out) {
    atn_ctx *ctx = f->host.ctx;
    atn_ranks *ranks;
    cloud_part part[2] = {{0}, {0}};
    kit_ok(ctx, atn_ranks_join(ctx, &ranks));
    kit_ok(ctx, cloud_part_read(ctx, f->source, NULL, ranks, &part[0]));
    kit_ok(ctx, cloud_part_read(ctx, f->target, NULL, ranks, &part[1]));
    *d = (reg_distribution){.ranks = ranks, .part = {&part[0], &part[1]}};
    *out = (atn_register_result){0};
    atn_status status = reg_register_distributed(f->host.device, settings, sample, d, out);
    if (status == ATN_OK) assert_true(!part[0].cloud && !part[1].cloud); /* nobody needs them any more */
    reg_distribution_free(d);
    cloud_part_free(&part[0]);
    cloud_part_free(&part[1]);
    atn_ranks_leave(ranks);
    return status;
}

static void check(const fixture *f, const atn_register_result *r, double turn, double way) {
    const double origin[3] = {0, 0, 0};
    assert_int_equal(r->verdict, ATN_VERDICT_TRUSTED);
    if (!(turn_between(r->transform, f->motion) < turn) || !(way_between(r->transform, f->motion, origin) < way))
        fail_msg("%g degrees and %g off", turn_between(r->transform, f->motion),
                 way_between(r->transform, f->motion, origin));
}

/* All points have the last word: the pose is nearer than that of the samples. */
static void refined(void **state) {
    const fixture *f = *state;
    static const atn_register_method METHODS[] = {ATN_REGISTER_EM_ICP, ATN_REGISTER_GICP};
    for (int k = 0; k < 2; ++k) {
        reg_distribution d;
        atn_register_result r;
        atn_register_settings settings = {.method = METHODS[k]};
        kit_ok(f->host.ctx, run(f, &settings, 2000, &d, &r));
        assert_true(d.refined);
        assert_true(d.merged[0] > 1000 && d.merged[0] <= 9000);
        assert_true(r.has_covariance && r.covariance[0] > 0 && r.covariance[35] > 0);
        assert_true(r.overlap > 0.9 && r.rmse > 0);
        check(f, &r, 0.1, 2e-3);
    }
}

/* Samples that are all points, without a covariance. */
static void few(void **state) {
    const fixture *f = *state;
    reg_distribution d;
    atn_register_result r;
    atn_register_settings settings = {.no_covariance = true};
    kit_ok(f->host.ctx, run(f, &settings, 100000, &d, &r));
    assert_true(d.refined && !r.has_covariance);
    assert_string_equal(r.covariance_reason, "not asked for");
    check(f, &r, 0.1, 2e-3);
}

static void limits(void **state) {
    const fixture *f = *state;
    reg_distribution d;
    atn_register_result r;
    atn_register_settings settings = {.most_bytes = 1000000};
    kit_fails(f->host.ctx, ATN_ERR_MEMORY, "are needed on each of 1 ranks, 1 MB may be used",
              run(f, &settings, 2000, &d, &r));
    assert_true(reg_can_distribute(&(atn_register_settings){0}));
    assert_true(reg_can_distribute(&(atn_register_settings){.method = ATN_REGISTER_GICP}));
    assert_false(reg_can_distribute(&(atn_register_settings){.method = ATN_REGISTER_ICP}));
    assert_false(reg_can_distribute(&(atn_register_settings){.reproducible = true}));
    assert_false(reg_can_distribute(&(atn_register_settings){.transform = ATN_TRANSFORM_AFFINE}));
    assert_false(reg_can_distribute(&(atn_register_settings){.no_polish = true}));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(refined), cmocka_unit_test(few), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
