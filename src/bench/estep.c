#include "bench/estep.h"

#include "base/text.h"
#include "device/device.h"
#include "kernel/kernel.h"
#include "num/array.h"

#include <math.h>
#include <stdio.h>

static const double LOG2E = 1.4426950408889634;
static const char *const OBJECTS[BENCH_ESTEP_ARRAYS] = {"yx", "yy",  "yz",    "xx",    "xy",   "xz",
                                                        "xw", "sum", "sum_x", "sum_y", "sum_z"};

double bench_estep_scale(double sigma2) { return sqrt(LOG2E / sigma2); }

static bool is_target(int k) { return k >= 3 && k < BENCH_ESTEP_SUMS; }

static atn_status fill(bench_estep *e, const bench_points points[2], double scale) {
    atn_status status = ATN_OK;
    for (int k = 0; k < BENCH_ESTEP_SUMS && status == ATN_OK; ++k) {
        const bench_points *from = &points[is_target(k)];
        void *to;
        status = atn_array_map_write(e->array[k], &to);
        for (size_t i = 0; i < from->count && status == ATN_OK; ++i)
            ((float *)to)[i] = k < 6 ? (float)(from->position[k % 3][i] * scale) : 0;
    }
    return status;
}

atn_status bench_estep_open(atn_device *device, bench_points source, bench_points target, double sigma2,
                            double tolerance, bench_estep *out) {
    static const char *const DEFINES[] = {"USED_FLOAT=SP", NULL};
    const bench_points points[2] = {source, target};
    *out = (bench_estep){0};
    atn_kernel_settings settings = {.defines = DEFINES, .tolerance = tolerance};
    atn_status status = atn_kernel_create(device, "estep", &settings, &out->kernel);
    for (int k = 0; k < BENCH_ESTEP_ARRAYS && status == ATN_OK; ++k) {
        status = atn_array_create_vector(device, ATN_SP, (int64_t)points[is_target(k)].count, &out->array[k]);
        if (status == ATN_OK) status = atn_kernel_bind(out->kernel, OBJECTS[k], out->array[k]);
    }
    if (status == ATN_OK) status = fill(out, points, bench_estep_scale(sigma2));
    if (status == ATN_OK) status = atn_kernel_plan(out->kernel);
    return status;
}

atn_status bench_estep_run(void *estep) { return atn_kernel_run(((bench_estep *)estep)->kernel); }

void bench_estep_variant(const bench_estep *e, char *text, size_t bytes) {
    atn_text variant = {.ctx = atn_device_ctx(atn_array_device(e->array[0]))};
    if (atn_kernel_variant(e->kernel)) atn_variant_print(atn_kernel_variant(e->kernel), &variant);
    snprintf(text, bytes, "%s", variant.length ? atn_text_str(&variant) : "plain");
    atn_text_free(&variant);
}

void bench_estep_close(bench_estep *e) {
    atn_kernel_free(e->kernel);
    for (int k = 0; k < BENCH_ESTEP_ARRAYS; ++k) atn_array_free(e->array[k]);
}
