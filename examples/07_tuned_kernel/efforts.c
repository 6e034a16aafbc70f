/* The kernel manager from C, with the public headers only: a shipped kernel at once with an estimate, then tuned for a
 * moment, then again in a context of its own, as another program would, from what is remembered. Each says what it runs
 * and why. usage: efforts [SECONDS]      seconds to tune for; 2 unless given */
#include <attune/attune.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 700, ROWS = 500 };

/* y = A x, with A(i, j) = i + 1 and x = 1: y(i) = COLUMNS (i + 1). */
static atn_status fill(atn_array *a, atn_array *x) {
    void *at;
    atn_status status = atn_array_map_write(a, &at);
    if (status != ATN_OK) return status;
    for (int k = 0; k < ROWS * COLUMNS; ++k) ((float *)at)[k] = (float)(k / COLUMNS + 1);
    status = atn_array_map_write(x, &at);
    if (status != ATN_OK) return status;
    for (int k = 0; k < COLUMNS; ++k) ((float *)at)[k] = 1;
    return ATN_OK;
}

static int is_right(const float *y) {
    for (int k = 0; k < ROWS; ++k)
        if (fabs((double)y[k] / (COLUMNS * (k + 1.0)) - 1) > 1e-4) return 0;
    return 1;
}

static atn_status run(atn_device *device, atn_effort effort, double budget_s, const char *title) {
    static const char *const defines[] = {"USED_FLOAT=SP", NULL};
    atn_kernel_settings options = {.defines = defines, .effort = effort, .budget_s = budget_s};
    atn_array *a = NULL, *x = NULL, *y = NULL;
    atn_kernel *gemv = NULL;
    const void *result;
    atn_status status = atn_array_create_matrix(device, ATN_SP, ROWS, COLUMNS, 0, &a);
    if (status == ATN_OK) status = atn_array_create_vector(device, ATN_SP, COLUMNS, &x);
    if (status == ATN_OK) status = atn_array_create_vector(device, ATN_SP, ROWS, &y);
    if (status == ATN_OK) status = fill(a, x);
    if (status == ATN_OK) status = atn_kernel_create(device, "gemv", &options, &gemv);
    if (status == ATN_OK) status = atn_kernel_bind(gemv, "A", a);
    if (status == ATN_OK) status = atn_kernel_bind(gemv, "x", x);
    if (status == ATN_OK) status = atn_kernel_bind(gemv, "y", y);
    if (status == ATN_OK) status = atn_kernel_plan(gemv); /* here it is chosen, tuned and built */
    for (int k = 0; k < 100 && status == ATN_OK; ++k) status = atn_kernel_run(gemv);
    if (status == ATN_OK) status = atn_array_map_read(y, &result);
    if (status == ATN_OK)
        printf("%s: %s\n  %s\n", title, is_right(result) ? "right" : "WRONG", atn_kernel_explain(gemv));
    if (status == ATN_OK && !is_right(result)) status = ATN_ERR_INTERNAL;
    atn_kernel_free(gemv);
    atn_array_free(y);
    atn_array_free(x);
    atn_array_free(a);
    return status;
}

/* A context of its own each time: what the one before found out is only in the wisdom. */
static int with_host(atn_effort effort, double budget_s, const char *title) {
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_status status = atn_ctx_create(NULL, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    if (status == ATN_OK) status = run(device, effort, budget_s, title);
    if (status != ATN_OK) fprintf(stderr, "%s: %s\n", title, ctx ? atn_ctx_message(ctx) : "no memory");
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return status == ATN_OK ? 0 : 1;
}

int main(int argc, char **argv) {
    double budget_s = argc > 1 ? atof(argv[1]) : 2;
    int failed = with_host(ATN_EFFORT_ESTIMATE, 0, "at once");
    if (!failed) failed = with_host(ATN_EFFORT_MEASURE, budget_s, "tuned");
    if (!failed) failed = with_host(ATN_EFFORT_ESTIMATE, 0, "remembered");
    return failed;
}
