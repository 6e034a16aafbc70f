/* The conformance test: what every backend must do, the same for all, on every device that is here. */
#include "support/shared.h"

#include "base/memory.h"
#include "device/backend.h"
#include "device/host_abi.h"
#include "device/probes.h"
#include "device/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One small source in each dialect: `mixed` checks that scalars of every size arrive, `bump` that work is in order,
 * `wide` that three dimensions do; `broken` does not compile. */
typedef struct dialect {
    const char *backend, *source, *broken;
} dialect;

static const dialect DIALECTS[] = {
    {"host",
     ATN_HOST_ABI_TEXT
     "void mixed(const struct atn_call *c) { double *out = *(double **)c->args[0];\n"
     " out[0] = *(uint8_t *)c->args[1]; out[1] = *(int16_t *)c->args[2]; out[2] = *(float *)c->args[3];\n"
     " out[3] = *(double *)c->args[4]; out[4] = (double)*(int64_t *)c->args[5]; }\n"
     "void bump(const struct atn_call *c) { int32_t *out = *(int32_t **)c->args[0], n = *(int32_t *)c->args[1];\n"
     " for (int64_t r[2]; c->next(c, n, 0, 0, r);)\n"
     "  for (int64_t i = r[0]; i < r[1]; ++i) out[i] = out[i] * 3 + 1; }\n"
     "void wide(const struct atn_call *c) { int32_t *out = *(int32_t **)c->args[0];\n"
     " for (int64_t z = 0; z < c->groups[2]; ++z) for (int64_t y = 0; y < c->groups[1]; ++y)\n"
     "  for (int64_t x = 0; x < c->groups[0]; ++x) for (int64_t i = 0; i < 4; ++i)\n"
     "   out[((z * c->groups[1] + y) * c->groups[0] + x) * 4 + i] += (int32_t)(x + 10 * y + 100 * z + 1000 * i); }\n",
     "void broken(void) { return undeclared_thing; }\n"},
    {"opencl",
     "__kernel void mixed(__global float *out, uchar a, short b, float c, long d, long e) {\n"
     " out[0] = a; out[1] = b; out[2] = c; out[3] = (float)(d & 0xffff); out[4] = (float)e; }\n"
     "__kernel void bump(__global int *out, int n) { int i = get_global_id(0); if (i < n) out[i] = out[i] * 3 + 1; }\n"
     "__kernel void wide(__global int *out) { int x = get_group_id(0), y = get_group_id(1), z = get_group_id(2), i = "
     "get_local_id(1);\n"
     " out[((z * get_num_groups(1) + y) * get_num_groups(0) + x) * 4 + i] += x + 10 * y + 100 * z + 1000 * i; }\n",
     "__kernel void broken(__global int *out) { out[0] = undeclared_thing; }\n"},
    {"cuda",
     "extern \"C\" __global__ void mixed(double *out, unsigned char a, short b, float c, double d, long long e) {\n"
     " out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = (double)e; }\n"
     "extern \"C\" __global__ void bump(int *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) "
     "out[i] = out[i] * 3 + 1; }\n"
     "extern \"C\" __global__ void wide(int *out) { int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z, i = "
     "threadIdx.y;\n"
     " out[((z * gridDim.y + y) * gridDim.x + x) * 4 + i] += x + 10 * y + 100 * z + 1000 * i; }\n",
     "extern \"C\" __global__ void broken(int *out) { out[0] = undeclared_thing; }\n"},
};

SHARED_DEVICES;

static const dialect *dialect_of(const atn_device *device) {
    for (size_t k = 0; k < sizeof DIALECTS / sizeof *DIALECTS; ++k)
        if (strcmp(DIALECTS[k].backend, atn_device_get_info(device)->backend) == 0) return &DIALECTS[k];
    fail_msg("no test source for backend %s", atn_device_get_info(device)->backend);
    return NULL;
}

/* Runs `check` on every device that is here. */
static void on_every_device(void (*check)(atn_device *device)) {
    for (int32_t k = 0; k < atn_devices_count(devices); ++k) {
        atn_device *device;
        if (!kit_wants(atn_devices_info(devices, k)->backend)) continue;
        kit_ok(ctx, atn_device_open(devices, k, &device));
        print_message("    on %s: %s\n", atn_device_get_info(device)->backend, atn_device_get_info(device)->name);
        check(device);
        atn_device_close(device);
    }
}

static atn_module *build(atn_device *device) {
    atn_module *module;
    kit_ok(ctx, atn_module_build(device, &(atn_build){.name = "conformance", .source = dialect_of(device)->source},
                                 &module));
    return module;
}

static void copies(atn_device *device) {
    enum { BYTES = 1000003 };
    unsigned char *from = malloc(BYTES), *to = malloc(BYTES);
    uint64_t seed = 1;
    for (size_t k = 0; k < BYTES; ++k) from[k] = (unsigned char)kit_random(&seed);
    atn_buffer *a, *b, *none;
    kit_ok(ctx, atn_buffer_create(device, BYTES, &a));
    kit_ok(ctx, atn_buffer_create(device, BYTES, &b));
    assert_int_equal(atn_buffer_bytes(a), BYTES);
    kit_ok(ctx, atn_buffer_put(NULL, a, 0, from, BYTES));
    kit_ok(ctx, atn_buffer_fill(NULL, b, 0, 0xa5, BYTES));
    kit_ok(ctx, atn_buffer_copy(NULL, b, 7, a, 1001, 5000));
    kit_ok(ctx, atn_buffer_get(NULL, b, 0, to, BYTES));
    for (size_t k = 0; k < BYTES; ++k) assert_int_equal(to[k], k >= 7 && k < 5007 ? from[k - 7 + 1001] : 0xa5);
    kit_ok(ctx, atn_buffer_get(NULL, a, BYTES - 1, to, 1));
    assert_int_equal(to[0], from[BYTES - 1]);
    kit_ok(ctx, atn_buffer_fill(NULL, a, 3, 9, 1));
    kit_ok(ctx, atn_buffer_get(NULL, a, 2, to, 3));
    assert_true(to[0] == from[2] && to[1] == 9 && to[2] == from[4]);
    kit_fails(ctx, ATN_ERR_INPUT, "outside", atn_buffer_put(NULL, a, BYTES - 1, from, 2));
    kit_fails(ctx, ATN_ERR_INPUT, "outside", atn_buffer_get(NULL, a, SIZE_MAX, to, 2));
    kit_fails(ctx, ATN_ERR_INPUT, "overlaps", atn_buffer_copy(NULL, a, 0, a, 5, 10));
    kit_ok(ctx, atn_buffer_copy(NULL, a, 0, a, 100, 100));
    kit_ok(ctx, atn_buffer_create(device, 0, &none));
    kit_ok(ctx, atn_buffer_put(NULL, none, 0, from, 0));
    kit_fails(ctx, ATN_ERR_INPUT, "outside", atn_buffer_put(NULL, none, 0, from, 1));
    atn_buffer_free(none);
    atn_buffer_free(b);
    atn_buffer_free(a);
    free(from);
    free(to);
}

static void scalars(atn_device *device) {
    bool doubles = strcmp(dialect_of(device)->backend, "opencl") != 0; /* not every OpenCL device has them */
    atn_module *module = build(device);
    atn_function *mix;
    atn_buffer *out;
    uint8_t a = 201;
    int16_t b = -1234;
    float c = 0.375f;
    double d = 1e300;
    int64_t d_bits = 0x7fff00001234, e = -((int64_t)1 << 40);
    kit_ok(ctx, atn_module_function(module, "mixed", &mix));
    kit_ok(ctx, atn_buffer_create(device, 5 * sizeof(double), &out));
    atn_arg args[] = {{.buffer = out},
                      {.value = &a, .bytes = 1},
                      {.value = &b, .bytes = 2},
                      {.value = &c, .bytes = 4},
                      {.value = doubles ? (void *)&d : (void *)&d_bits, .bytes = 8},
                      {.value = &e, .bytes = 8}};
    kit_ok(ctx, atn_function_launch(NULL, mix, &(atn_launch){.groups = {1}, .items = {1}, .args = args, .n_args = 6}));
    if (doubles) {
        double got[5], wanted[5] = {a, b, c, d, (double)e};
        kit_ok(ctx, atn_buffer_get(NULL, out, 0, got, sizeof got));
        assert_memory_equal(got, wanted, sizeof got);
    } else {
        float got[5], wanted[5] = {a, b, c, 0x1234, (float)e};
        kit_ok(ctx, atn_buffer_get(NULL, out, 0, got, sizeof got));
        assert_memory_equal(got, wanted, sizeof got);
    }
    atn_buffer_free(out);
    atn_module_free(module);
}

static int32_t bumped(int32_t value, int times) {
    for (int k = 0; k < times; ++k) value = value * 3 + 1;
    return value;
}

/* Ten launches in one queue, then five in another that waits for the first: in order, and timed. */
static void order_and_time(atn_device *device) {
    enum { N = 100001, ITEMS = 64 };
    size_t items = (size_t)(atn_device_get_info(device)->max_group < ITEMS ? 1 : ITEMS);
    atn_module *module = build(device);
    atn_function *bump;
    atn_buffer *buffer;
    atn_queue *second;
    atn_event *begin, *middle, *end;
    int32_t n = N, *data = malloc(N * sizeof *data);
    for (int32_t k = 0; k < N; ++k) data[k] = k % 11;
    kit_ok(ctx, atn_module_function(module, "bump", &bump));
    kit_ok(ctx, atn_buffer_create(device, N * sizeof *data, &buffer));
    kit_ok(ctx, atn_queue_create(device, &second));
    kit_ok(ctx, atn_buffer_put(NULL, buffer, 0, data, N * sizeof *data));
    atn_arg args[] = {{.buffer = buffer}, {.value = &n, .bytes = 4}};
    atn_launch launch = {.groups = {(N + items - 1) / items}, .items = {items}, .args = args, .n_args = 2};
    atn_launch nothing = {.groups = {0}, .items = {items}, .args = args, .n_args = 2};
    kit_ok(ctx, atn_event_record(atn_device_queue(device), &begin));
    for (int k = 0; k < 10; ++k) kit_ok(ctx, atn_function_launch(NULL, bump, &launch));
    kit_ok(ctx, atn_function_launch(NULL, bump, &nothing));
    kit_ok(ctx, atn_event_record(atn_device_queue(device), &middle));
    kit_ok(ctx, atn_queue_wait(second, middle));
    for (int k = 0; k < 5; ++k) kit_ok(ctx, atn_function_launch(second, bump, &launch));
    kit_ok(ctx, atn_event_record(second, &end));
    kit_ok(ctx, atn_event_wait(end));
    double first, both;
    kit_ok(ctx, atn_event_elapsed(begin, middle, &first));
    kit_ok(ctx, atn_event_elapsed(begin, end, &both));
    assert_true(first > 0 && both >= first);
    kit_ok(ctx, atn_queue_finish(second));
    kit_ok(ctx, atn_buffer_get(NULL, buffer, 0, data, N * sizeof *data));
    for (int32_t k = 0; k < N; ++k) assert_int_equal(data[k], bumped(k % 11, 15));
    atn_event_free(begin);
    atn_event_free(middle);
    atn_event_free(end);
    atn_queue_free(second);
    atn_buffer_free(buffer);
    atn_module_free(module);
    free(data);
}

static void three_dimensions(atn_device *device) {
    enum { X = 5, Y = 3, Z = 2, N = X * Y * Z * 4 };
    bool grouped = atn_device_get_info(device)->max_items[1] >= 4;
    atn_module *module = build(device);
    atn_function *wide;
    atn_buffer *buffer;
    int32_t got[N];
    kit_ok(ctx, atn_module_function(module, "wide", &wide));
    kit_ok(ctx, atn_buffer_create(device, sizeof got, &buffer));
    kit_ok(ctx, atn_buffer_fill(NULL, buffer, 0, 0, sizeof got));
    atn_arg args[] = {{.buffer = buffer}};
    kit_ok(ctx, atn_function_launch(
                    NULL, wide,
                    &(atn_launch){.groups = {X, Y, Z}, .items = {1, grouped ? 4 : 1, 1}, .args = args, .n_args = 1}));
    kit_ok(ctx, atn_buffer_get(NULL, buffer, 0, got, sizeof got));
    for (int32_t k = 0; k < N; ++k) {
        int32_t i = k % 4, x = k / 4 % X, y = k / 4 / X % Y, z = k / 4 / X / Y;
        assert_int_equal(got[k], x + 10 * y + 100 * z + 1000 * i);
    }
    atn_buffer_free(buffer);
    atn_module_free(module);
}

/* Kept launches are not done until the graph is launched, then each time, with the arguments they had. */
static void graphs(atn_device *device) {
    enum { N = 1000, ITEMS = 64 };
    size_t items = (size_t)(atn_device_get_info(device)->max_group < ITEMS ? 1 : ITEMS);
    atn_queue *queue = atn_device_queue(device);
    atn_module *module = build(device);
    atn_function *bump;
    atn_buffer *buffer;
    atn_tape *graph;
    int32_t n = N, data[N];
    for (int32_t k = 0; k < N; ++k) data[k] = k % 11;
    kit_ok(ctx, atn_module_function(module, "bump", &bump));
    kit_ok(ctx, atn_buffer_create(device, sizeof data, &buffer));
    kit_ok(ctx, atn_buffer_put(NULL, buffer, 0, data, sizeof data));
    atn_arg args[] = {{.buffer = buffer}, {.value = &n, .bytes = 4}};
    atn_launch launch = {.groups = {(N + items - 1) / items}, .items = {items}, .args = args, .n_args = 2};
    kit_ok(ctx, atn_function_launch(NULL, bump, &launch));
    atn_status begun = atn_tape_begin(queue);
    if (begun == ATN_ERR_UNSUPPORTED)
        print_message("    SKIPPED here: %s\n", atn_ctx_message(ctx));
    else {
        kit_ok(ctx, begun);
        for (int k = 0; k < 2; ++k) kit_ok(ctx, atn_function_launch(queue, bump, &launch));
        kit_ok(ctx, atn_tape_end(queue, &graph));
        n = 0; /* it was copied */
        kit_ok(ctx, atn_buffer_get(queue, buffer, 0, data, sizeof data));
        for (int32_t k = 0; k < N; ++k) assert_int_equal(data[k], bumped(k % 11, 1));
        for (int k = 0; k < 3; ++k) kit_ok(ctx, atn_tape_launch(queue, graph));
        kit_ok(ctx, atn_buffer_get(queue, buffer, 0, data, sizeof data));
        for (int32_t k = 0; k < N; ++k) assert_int_equal(data[k], bumped(k % 11, 7));
        atn_tape_free(graph);
        kit_ok(ctx, atn_tape_begin(queue)); /* what cannot be kept, and the queue afterwards */
        (void)atn_buffer_get(queue, buffer, 0, data, sizeof data);
        kit_fails(ctx, ATN_ERR_DEVICE, "", atn_tape_end(queue, &graph));
        assert_null(graph);
        kit_ok(ctx, atn_buffer_get(queue, buffer, 0, data, sizeof data));
        for (int32_t k = 0; k < N; ++k) assert_int_equal(data[k], bumped(k % 11, 7));
    }
    atn_buffer_free(buffer);
    atn_module_free(module);
}

static void failures_leave_it_usable(atn_device *device) {
    const atn_device_info *info = atn_device_get_info(device);
    atn_module *module, *again;
    atn_function *function;
    atn_buffer *buffer;
    atn_build broken = {.name = "broken", .source = dialect_of(device)->broken};
    kit_fails(ctx, ATN_ERR_BUILD, "undeclared_thing", atn_module_build(device, &broken, &module));
    assert_null(module);
    kit_fails(ctx, ATN_ERR_MEMORY, "", atn_buffer_create(device, (size_t)info->max_alloc_bytes + 1, &buffer));
    assert_null(buffer);
    module = build(device);
    kit_fails(ctx, ATN_ERR_INPUT, "nowhere", atn_module_function(module, "nowhere", &function));
    assert_null(function);
    again = build(device);
    assert_true(atn_module_cached(again));
    assert_true(atn_module_code_bytes(again) > 0);
    if (info->max_group > 1) {
        kit_ok(ctx, atn_module_function(module, "bump", &function));
        kit_ok(ctx, atn_buffer_create(device, 64, &buffer));
        int32_t n = 16;
        atn_arg args[] = {{.buffer = buffer}, {.value = &n, .bytes = 4}};
        atn_launch large = {.groups = {1}, .items = {(size_t)info->max_group * 2}, .args = args, .n_args = 2};
        kit_fails(ctx, ATN_ERR_DEVICE, "", atn_function_launch(NULL, function, &large));
        atn_buffer_free(buffer);
    }
    atn_module_free(module);
    atn_module_free(again);
    assert_false(atn_device_lost(device));
    kit_ok(ctx, atn_device_selftest(device));
}

KIT_TEST(host_is_first) {
    assert_true(atn_devices_count(devices) >= 1);
    const atn_device_info *info = atn_devices_info(devices, 0);
    assert_string_equal(info->backend, "host");
    assert_true(info->cores >= 1 && info->simd >= 1 && info->memory_bytes > 0 && info->name[0]);
    assert_null(atn_devices_info(devices, atn_devices_count(devices)));
    for (int32_t k = 0; k < atn_devices_note_count(devices); ++k)
        print_message("    note: %s\n", atn_devices_note(devices, k));
}

KIT_TEST(picking) {
    int32_t index;
    kit_ok(ctx, atn_devices_pick(devices, "host", &index));
    assert_int_equal(index, 0);
    kit_ok(ctx, atn_devices_pick(devices, "0", &index));
    assert_int_equal(index, 0);
    kit_ok(ctx, atn_devices_pick(devices, NULL, &index));
    kit_fails(ctx, ATN_ERR_INPUT, "there are: 0 host", atn_devices_pick(devices, "no such thing", &index));
    kit_fails(ctx, ATN_ERR_INPUT, "no such index", atn_devices_pick(devices, "99", &index));
    atn_device *device;
    kit_fails(ctx, ATN_ERR_INPUT, "no such index", atn_device_open(devices, 99, &device));
}

KIT_TEST(copies_all) { on_every_device(copies); }
KIT_TEST(scalars_all) { on_every_device(scalars); }
KIT_TEST(order_all) { on_every_device(order_and_time); }
KIT_TEST(dimensions_all) { on_every_device(three_dimensions); }
KIT_TEST(graphs_all) { on_every_device(graphs); }
KIT_TEST(failures_all) { on_every_device(failures_leave_it_usable); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_is_first), cmocka_unit_test(picking),    cmocka_unit_test(copies_all),
        cmocka_unit_test(scalars_all),   cmocka_unit_test(order_all),  cmocka_unit_test(dimensions_all),
        cmocka_unit_test(failures_all),  cmocka_unit_test(graphs_all),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
