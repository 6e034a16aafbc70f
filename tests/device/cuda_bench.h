/* What the tests of the CUDA backend stand on: a healthy fake (fake_cuda.h), a context, an open device; and a
 * closing that asks the fake whether anything was left or done wrong. */
#ifndef ATN_CUDA_BENCH_H
#define ATN_CUDA_BENCH_H

#include "testkit.h"

#include "device/device.h"
#include "fake_cuda.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char SOURCE[] = "extern \"C\" __global__ void scale(float *x, double by, int n) {}\n"
                             "extern \"C\" __global__ void none() {}\n";

/* A context with its first CUDA device open. */
typedef struct bench {
    atn_ctx *ctx;
    atn_devices *devices;
    atn_device *device;
} bench;

static fake_cuda *fake;
static fake_reset_fn *reset_fake;

/* For cmocka_run_group_tests. */
static inline int load_fake(void **state) {
    (void)state;
    void *library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    if (!library) return -1;
    *(void **)&reset_fake = dlsym(library, "fake_reset");
    return reset_fake ? 0 : -1;
}

static inline void use_fake(void) {
    fake = reset_fake();
    setenv("ATTUNE_CUDA_LIB", FAKE_CUDA, 1);
    setenv("ATTUNE_NVRTC_LIB", FAKE_CUDA, 1);
}

static inline const atn_device_info *cuda_info(const atn_devices *devices) {
    for (int32_t k = 0; k < atn_devices_count(devices); ++k)
        if (strcmp(atn_devices_info(devices, k)->backend, "cuda") == 0) return atn_devices_info(devices, k);
    return NULL;
}

static inline const char *cuda_note(const atn_devices *devices) {
    for (int32_t k = 0; k < atn_devices_note_count(devices); ++k)
        if (strncmp(atn_devices_note(devices, k), "cuda:", 5) == 0) return atn_devices_note(devices, k);
    return "";
}

static inline bench open_bench(atn_ctx *ctx) {
    bench b = {.ctx = ctx};
    kit_ok(ctx, atn_devices_find(ctx, &b.devices));
    const atn_device_info *info = cuda_info(b.devices);
    if (!info) fail_msg("no device: %s", cuda_note(b.devices));
    if (info) kit_ok(ctx, atn_device_open(b.devices, info->index, &b.device));
    return b;
}

static inline bench start(void) {
    use_fake();
    return open_bench(kit_ctx());
}

/* Closes all, and asks the fake whether anything was left or done wrong. */
static inline void finish(bench *b) {
    atn_device_close(b->device);
    atn_devices_free(b->devices);
    kit_free(b->ctx);
    assert_int_equal(fake->contexts, 0);
    assert_int_equal(fake->buffers, 0);
    assert_int_equal(fake->streams, 0);
    assert_int_equal(fake->events, 0);
    assert_int_equal(fake->modules, 0);
    assert_int_equal(fake->graphs, 0);
    assert_int_equal(fake->blocks, 0);
    assert_int_equal(fake->programs, 0);
    assert_int_equal(fake->misuse, 0);
}

static inline atn_module *build(const bench *b, const char *source) {
    atn_module *module;
    kit_ok(b->ctx, atn_module_build(b->device, &(atn_build){.name = "unit", .source = source}, &module));
    return module;
}

/* A bench with the function "scale" and what it takes. */
typedef struct shelf {
    bench b;
    atn_module *module;
    atn_function *scale;
    atn_buffer *buffer;
    double by;
    int32_t n;
    atn_arg args[3];
} shelf;

static inline void start_shelf(shelf *s) {
    s->b = start();
    s->module = build(&s->b, SOURCE);
    s->by = 2.5;
    s->n = -7;
    kit_ok(s->b.ctx, atn_module_function(s->module, "scale", &s->scale));
    kit_ok(s->b.ctx, atn_buffer_create(s->b.device, 64, &s->buffer));
    s->args[0] = (atn_arg){.buffer = s->buffer};
    s->args[1] = (atn_arg){.value = &s->by, .bytes = 8};
    s->args[2] = (atn_arg){.value = &s->n, .bytes = 4};
}

static inline void finish_shelf(shelf *s) {
    atn_buffer_free(s->buffer);
    atn_module_free(s->module);
    finish(&s->b);
}

#endif
