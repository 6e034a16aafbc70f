/* Compaction, runs of equal keys and their sums, against plain C. On the host and, where there is one, on an OpenCL or
 * a CUDA device. */
#include "testkit.h"

#include <attune/attune.h>

#include <stdlib.h>
#include <string.h>

static atn_ctx *ctx;
static atn_devices *devices;

static atn_device *open_one(const char *backend) {
    atn_device *device = NULL;
    for (int32_t k = 0; k < atn_devices_count(devices) && !device; ++k)
        if (strcmp(atn_devices_info(devices, k)->backend, backend) == 0)
            kit_ok(ctx, atn_device_open(devices, k, &device));
    return device;
}

static atn_array *vector(atn_device *device, atn_type type, int64_t n, const void *from) {
    atn_array *array;
    kit_ok(ctx, atn_array_create_vector(device, type, n, &array));
    if (from) kit_ok(ctx, atn_array_put(array, from, 0));
    return array;
}

static atn_kernel *kernel(atn_device *device, const char *name) {
    static const char *const defines[] = {"USED_FLOAT=SP", NULL};
    atn_kernel *made;
    kit_ok(ctx, atn_kernel_create(device, name, &(atn_kernel_settings){.defines = defines}, &made));
    return made;
}

static void bind(atn_kernel *to, const char *object, atn_array *array) {
    kit_ok(ctx, atn_kernel_bind(to, object, array));
}

/* select, segments, reduce_by_key of n numbers and ascending keys. */
static void compacts(atn_device *device, int64_t n) {
    uint64_t seed = (uint64_t)n + 3;
    float *x = calloc((size_t)n + 1, sizeof *x), *kept = calloc((size_t)n + 1, sizeof *kept);
    int32_t *key = calloc((size_t)n + 1, sizeof *key), *begin = calloc((size_t)n + 1, sizeof *begin), count = -1;
    for (int64_t k = 0; k < n; ++k) {
        x[k] = (float)(kit_random(&seed) % 16); /* sums are exact */
        key[k] = k ? key[k - 1] + (kit_random(&seed) % 4 == 0) : -2;
    }
    atn_array *in = vector(device, ATN_SP, n, x), *keys = vector(device, ATN_INT32, n, key),
              *out = vector(device, ATN_SP, n, NULL), *places = vector(device, ATN_INT32, n, NULL),
              *total = vector(device, ATN_INT32, 1, NULL);
    atn_kernel *select = kernel(device, "select"), *segments = kernel(device, "segments"),
               *sums = kernel(device, "reduce_by_key");
    bind(select, "x", in), bind(select, "y", out), bind(select, "count", total);
    kit_ok(ctx, atn_kernel_param(select, "least", 8, 0));
    kit_ok(ctx, atn_kernel_run(select));
    kit_ok(ctx, atn_array_get(out, kept, 0));
    kit_ok(ctx, atn_array_get(total, &count, 0));
    int64_t m = 0;
    for (int64_t k = 0; k < n; ++k)
        if (x[k] >= 8 && kept[m++] != x[k]) fail_msg("select, %lld numbers: wrong at %lld", (long long)n, (long long)k);
    assert_int_equal(count, m);
    bind(segments, "key", keys), bind(segments, "begin", places), bind(segments, "count", total);
    kit_ok(ctx, atn_kernel_run(segments));
    kit_ok(ctx, atn_array_get(places, begin, 0));
    kit_ok(ctx, atn_array_get(total, &count, 0));
    m = 0;
    for (int64_t k = 0; k < n; ++k)
        if ((k == 0 || key[k] != key[k - 1]) && begin[m++] != k) fail_msg("segments: wrong at %lld", (long long)k);
    assert_int_equal(count, m);
    bind(sums, "key", keys), bind(sums, "value", in), bind(sums, "unique", places), bind(sums, "total", out);
    bind(sums, "count", total);
    kit_ok(ctx, atn_kernel_run(sums));
    kit_ok(ctx, atn_array_get(out, kept, 0));
    kit_ok(ctx, atn_array_get(places, begin, 0));
    kit_ok(ctx, atn_array_get(total, &count, 0));
    assert_int_equal(count, m);
    m = 0;
    for (int64_t k = 0; k < n; ++m) {
        float sum = 0;
        int32_t own = key[k];
        for (; k < n && key[k] == own; ++k) sum += x[k];
        if (begin[m] != own || kept[m] != sum) fail_msg("reduce_by_key: run %lld is wrong", (long long)m);
    }
    atn_kernel_free(select), atn_kernel_free(segments), atn_kernel_free(sums);
    atn_array_free(in), atn_array_free(keys), atn_array_free(out), atn_array_free(places), atn_array_free(total);
    free(x), free(kept), free(key), free(begin);
}

static void on(const char *backend, const int64_t *sizes, size_t count) {
    if (!kit_wants(backend)) skip();
    atn_device *device = open_one(backend);
    if (!device) {
        print_message("    no device of backend %s here\n", backend);
        skip();
    }
    for (size_t k = 0; k < count; ++k) compacts(device, sizes[k]);
    atn_device_close(device);
}

KIT_TEST(host) { on("host", (const int64_t[]){0, 1, 2, 299, 301, 4099, 50021}, 7); }

KIT_TEST(opencl) { on("opencl", (const int64_t[]){0, 1, 601}, 3); }

KIT_TEST(cuda) { on("cuda", (const int64_t[]){0, 1, 2, 299, 301, 4099, 1000003}, 7); }

int main(void) {
    ctx = kit_ctx();
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    const struct CMUnitTest tests[] = {cmocka_unit_test(host), cmocka_unit_test(opencl), cmocka_unit_test(cuda)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    atn_devices_free(devices);
    kit_free(ctx);
    return failed;
}
