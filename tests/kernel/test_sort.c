/* Primitives strung together, against plain C: radix sort of keys of 32 and of 64 bits with what belongs to them,
 * stable; compaction; runs of equal keys and their sums. On the host and, where there is one, on an OpenCL device. */
#include "testkit.h"

#include <attune/attune.h>

#include <stdlib.h>
#include <string.h>

enum { PER = 300, DIGITS = 16, BITS = 4 };

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
    kit_ok(ctx, atn_kernel_create(device, name, &(atn_kernel_options){.defines = defines}, &made));
    return made;
}

static void bind(atn_kernel *to, const char *object, atn_array *array) {
    kit_ok(ctx, atn_kernel_bind(to, object, array));
}

/* One pass: by a digit of 4 bits. */
static void pass(atn_kernel *const step[3], atn_array *const key[2], atn_array *const value[2], atn_array *count,
                 atn_array *first, int shift) {
    bind(step[0], "key", key[0]);
    bind(step[0], "count", count);
    bind(step[1], "count", count);
    bind(step[1], "first", first);
    bind(step[2], "key", key[0]);
    bind(step[2], "value", value[0]);
    bind(step[2], "first", first);
    bind(step[2], "key_out", key[1]);
    bind(step[2], "value_out", value[1]);
    for (int k = 0; k < 3; k += 2) {
        kit_ok(ctx, atn_kernel_param(step[k], "shift", shift, 0));
        kit_ok(ctx, atn_kernel_param(step[k], "per", PER, 0));
    }
    for (int k = 0; k < 3; ++k) kit_ok(ctx, atn_kernel_run(step[k]));
}

/* Sorts by all 32 bits, as unsigned numbers; both ends in `keys` and `values`. */
static void sort(atn_device *device, int32_t *keys, int32_t *values, int64_t n) {
    atn_array *key[2], *value[2], *count, *first;
    int64_t blocks = n ? (n - 1) / PER + 1 : 1;
    atn_kernel *step[3] = {kernel(device, "sort_count"), kernel(device, "sort_start"), kernel(device, "sort_scatter")};
    for (int k = 0; k < 2; ++k) {
        key[k] = vector(device, ATN_INT32, n, k ? NULL : keys);
        value[k] = vector(device, ATN_INT32, n, k ? NULL : values);
    }
    kit_ok(ctx, atn_array_create_matrix(device, ATN_INT32, blocks, DIGITS, 0, &count));
    kit_ok(ctx, atn_array_create_matrix(device, ATN_INT32, blocks, DIGITS, 0, &first));
    for (int shift = 0; shift < 32; shift += BITS) {
        int from = shift / BITS % 2;
        pass(step, (atn_array *const[]){key[from], key[!from]}, (atn_array *const[]){value[from], value[!from]}, count,
             first, shift);
    }
    kit_ok(ctx, atn_array_get(key[0], keys, 0));
    kit_ok(ctx, atn_array_get(value[0], values, 0));
    for (int k = 0; k < 3; ++k) atn_kernel_free(step[k]);
    for (int k = 0; k < 2; ++k) atn_array_free(key[k]), atn_array_free(value[k]);
    atn_array_free(count);
    atn_array_free(first);
}

typedef struct pair {
    uint64_t key;
    int32_t value;
} pair;

static int order(const void *a, const void *b) {
    const pair *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : (x->value > y->value) - (x->value < y->value);
}

/* What: 0 any keys, 1 few different ones, 2 all equal, 3 sorted, 4 the other way round. */
static uint64_t draw(int what, int64_t k, int64_t n, uint64_t *seed) {
    uint64_t any = kit_random(seed) << 32 ^ kit_random(seed);
    return what == 0 ? any : what == 1 ? any % 5 : what == 2 ? 77 : (uint64_t)(what == 3 ? k : n - k);
}

static void sorts(atn_device *device, int64_t n, int what) {
    uint64_t seed = (uint64_t)(n * 7 + what) + 1;
    pair *right = calloc((size_t)n + 1, sizeof *right);
    int32_t *low = calloc((size_t)n + 1, sizeof *low), *high = calloc((size_t)n + 1, sizeof *high),
            *index = calloc((size_t)n + 1, sizeof *index), *keys = calloc((size_t)n + 1, sizeof *keys);
    for (int64_t k = 0; k < n; ++k) {
        right[k] = (pair){draw(what, k, n, &seed), (int32_t)k};
        low[k] = (int32_t)(uint32_t)right[k].key;
        high[k] = (int32_t)(uint32_t)(right[k].key >> 32);
        index[k] = (int32_t)k;
    }
    /* by the lower half, then by the upper one: stable, so that equal upper halves keep the order of the lower ones */
    memcpy(keys, low, (size_t)n * sizeof *keys);
    sort(device, keys, index, n);
    for (int64_t k = 0; k < n; ++k) {
        keys[k] = high[index[k]];
        if (k == 0) continue;
        uint32_t a = (uint32_t)low[index[k - 1]], b = (uint32_t)low[index[k]];
        if (a > b || (a == b && index[k - 1] > index[k]))
            fail_msg("32 bits, %lld keys: wrong at %lld", (long long)n, (long long)k);
    }
    sort(device, keys, index, n);
    qsort(right, (size_t)n, sizeof *right, order);
    for (int64_t k = 0; k < n; ++k)
        if (index[k] != right[k].value) fail_msg("64 bits, %lld keys: wrong at %lld", (long long)n, (long long)k);
    free(right), free(low), free(high), free(index), free(keys);
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
    atn_device *device = open_one(backend);
    if (!device) {
        print_message("    no device of backend %s here\n", backend);
        skip();
    }
    for (size_t k = 0; k < count; ++k) {
        compacts(device, sizes[k]);
        for (int what = 0; what < (sizes[k] > 1 ? 5 : 1); ++what) sorts(device, sizes[k], what);
    }
    atn_device_close(device);
}

static void host(void **state) {
    (void)state;
    on("host", (const int64_t[]){0, 1, 2, 299, 301, 4099, 50021}, 7);
}

static void opencl(void **state) {
    (void)state;
    on("opencl", (const int64_t[]){0, 1, 601}, 3);
}

static void cuda(void **state) {
    (void)state;
    on("cuda", (const int64_t[]){0, 1, 2, 299, 301, 4099, 1000003}, 7);
}

int main(void) {
    ctx = kit_ctx();
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    const struct CMUnitTest tests[] = {cmocka_unit_test(host), cmocka_unit_test(opencl), cmocka_unit_test(cuda)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    atn_devices_free(devices);
    kit_free(ctx);
    return failed;
}
