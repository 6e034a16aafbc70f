/* Kernels built ahead: what lies in the cache then is what their plans ask for, once for a cache; and modest ones, for
 * which no compiler is asked. On the host. */
#include "testkit.h"

#include "device/cache.h"
#include "kernel/ahead.h"
#include "kernel/kernel.h"
#include "num/array.h"

#include <attune/attune.h>

#include <dirent.h>
#include <string.h>

static const char *const DEFINES[] = {"USED_FLOAT=SP", NULL};
static const char TWICE[] = "kernel twice(x: vector SP) -> y: vector SP\n    y[i] = x[i] + x[i]\n";
static const char MORE[] = "kernel more(x: vector SP) -> y: vector SP\n    y[i] = x[i] + 3\n";

static atn_device *open_host(atn_ctx *ctx) {
    atn_devices *devices;
    atn_device *device = NULL;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    for (int32_t d = 0; d < atn_devices_count(devices) && !device; ++d)
        if (strcmp(atn_devices_info(devices, d)->backend, "host") == 0)
            kit_ok(ctx, atn_device_open(devices, d, &device));
    atn_devices_free(devices);
    return device;
}

static int objects_in_cache(const atn_ctx *ctx) {
    atn_cache *cache;
    kit_ok(ctx, atn_cache_of(ctx, &cache));
    DIR *dir = opendir(atn_cache_dir(cache));
    int n = 0;
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) n += strstr(e->d_name, ".so") != NULL;
    closedir(dir);
    return n;
}

static void run(atn_ctx *ctx, atn_device *device, atn_kernel *kernel, int64_t n) {
    const float from[] = {1, 2, 3, 4, 5, 6, 7};
    float to[7] = {0};
    atn_array *x, *y;
    kit_ok(ctx, atn_array_create_vector(device, ATN_SP, n, &x));
    kit_ok(ctx, atn_array_create_vector(device, ATN_SP, n, &y));
    kit_ok(ctx, atn_array_put(x, from, 0));
    kit_ok(ctx, atn_kernel_bind(kernel, "x", x));
    kit_ok(ctx, atn_kernel_bind(kernel, "y", y));
    kit_ok(ctx, atn_kernel_run(kernel));
    kit_ok(ctx, atn_array_get(y, to, 0));
    for (int64_t k = 0; k < n; ++k) assert_true(to[k] == 2 * from[k]);
    atn_array_free(x);
    atn_array_free(y);
}

KIT_TEST(plans_find_what_was_built) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = open_host(ctx);
    if (!*atn_device_get_info(device)->driver) { /* no compiler */
        atn_device_close(device);
        kit_free(ctx);
        skip();
    }
    atn_kernel *kernels[3];
    const char *const texts[] = {TWICE, MORE, "polish_sample"};
    for (int k = 0; k < 3; ++k) {
        kit_ok(ctx, atn_kernel_create(device, texts[k], &(atn_kernel_settings){.defines = DEFINES}, &kernels[k]));
        atn_kernel_any_size(kernels[k]);
    }
    atn_kernel_modest(kernels[2]);
    int before = objects_in_cache(ctx);
    assert_true(atn_ahead_is_due(device, "these"));
    kit_ok(ctx, atn_ahead_build(device, "these", kernels, 3));
    assert_false(atn_ahead_is_due(device, "these"));
    assert_true(atn_ahead_is_due(device, "those"));
    int built = objects_in_cache(ctx);
    assert_int_equal(built - before, 2); /* the modest one came with the library */
    run(ctx, device, kernels[0], 7);
    run(ctx, device, kernels[0], 2);
    assert_int_equal(objects_in_cache(ctx), built);
    for (int k = 0; k < 3; ++k) atn_kernel_free(kernels[k]);
    atn_device_close(device);
    kit_free(ctx);
}

KIT_TEST(modest_ones_need_no_compiler) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = open_host(ctx);
    float pair[8][5], some[3];
    atn_array *from, *to;
    atn_kernel *sample;
    for (int k = 0; k < 40; ++k) pair[k / 5][k % 5] = (float)k;
    kit_ok(ctx, atn_array_create_matrix(device, ATN_SP, 8, 5, 0, &from));
    kit_ok(ctx, atn_array_create_vector(device, ATN_SP, 3, &to));
    kit_ok(ctx, atn_array_put(from, pair, 0));
    kit_ok(ctx, atn_kernel_create(device, "polish_sample", &(atn_kernel_settings){.defines = DEFINES}, &sample));
    atn_kernel_modest(sample);
    kit_ok(ctx, atn_kernel_bind(sample, "pair", from));
    kit_ok(ctx, atn_kernel_bind(sample, "some", to));
    kit_ok(ctx, atn_kernel_param(sample, "every", 2, 0));
    int before = objects_in_cache(ctx);
    kit_ok(ctx, atn_kernel_run(sample));
    kit_ok(ctx, atn_array_get(to, some, 0));
    assert_true(some[0] == 30 && some[1] == 32 && some[2] == 34);
    assert_int_equal(objects_in_cache(ctx), before);
    assert_non_null(strstr(atn_kernel_explain(sample), "too quick to be worth compiling"));
    atn_kernel_free(sample);
    atn_array_free(from);
    atn_array_free(to);
    atn_device_close(device);
    kit_free(ctx);
}

/* Until building pays; another process reads how long that has been. */
KIT_TEST(what_is_spent_meanwhile_adds_up) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = open_host(ctx);
    double before = atn_ahead_spent(device, "spent here");
    atn_ahead_spend(device, "spent here", 0.5);
    atn_ahead_spend(device, "spent here", 0.25);
    assert_true(atn_ahead_spent(device, "spent here") == before + 0.75);
    assert_true(atn_ahead_spent(device, "spent there") == 0);
    assert_true(atn_ahead_is_due(device, "spent here"));
    atn_device_close(device);
    kit_free(ctx);
}

/* What came with the library, for now; reproducible ones are what they always are. */
KIT_TEST(some_serve_meanwhile) {
    atn_ctx *ctx = kit_ctx();
    atn_device *device = open_host(ctx);
    atn_array *x, *y;
    atn_kernel *add[2];
    kit_ok(ctx, atn_array_create_matrix(device, ATN_SP, 5, 9, 0, &x));
    kit_ok(ctx, atn_array_create_matrix(device, ATN_SP, 5, 9, 0, &y));
    float two[45];
    for (int k = 0; k < 45; ++k) two[k] = 2;
    kit_ok(ctx, atn_array_put(x, two, 0));
    for (int k = 0; k < 2; ++k) {
        int before = objects_in_cache(ctx);
        kit_ok(ctx, atn_kernel_create(device, "add", &(atn_kernel_settings){.defines = DEFINES, .reproducible = k == 1},
                                      &add[k]));
        atn_kernel_meanwhile(add[k]);
        kit_ok(ctx, atn_kernel_bind(add[k], "A", x));
        kit_ok(ctx, atn_kernel_bind(add[k], "B", x));
        kit_ok(ctx, atn_kernel_bind(add[k], "C", y));
        kit_ok(ctx, atn_kernel_run(add[k]));
        bool compiles = *atn_device_get_info(device)->driver;
        assert_int_equal(strstr(atn_kernel_explain(add[k]), "once that pays") != NULL, k == 0);
        if (k == 0) assert_int_equal(objects_in_cache(ctx), before);
        if (k == 1 && compiles) assert_null(strstr(atn_kernel_explain(add[k]), "compiled into the library"));
        atn_kernel_free(add[k]);
    }
    atn_array_free(x);
    atn_array_free(y);
    atn_device_close(device);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_find_what_was_built), cmocka_unit_test(modest_ones_need_no_compiler),
        cmocka_unit_test(what_is_spent_meanwhile_adds_up), cmocka_unit_test(some_serve_meanwhile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
