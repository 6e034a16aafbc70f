/* Arrays and operations from C, with the public headers only: the largest eigenvalue of a symmetric matrix by power
 * iteration, x <- A x / |A x|. Built for the first device at run time, checked against the known value. */
#include <attune/attune.h>

#include <math.h>
#include <stdio.h>

enum { N = 64, STEPS = 200 };

/* The second difference matrix: 2 on the diagonal, -1 beside it; its largest eigenvalue is 2 + 2 cos(pi / (N + 1)). */
static void fill(double *a, double *x) {
    for (int row = 0; row < N; ++row) {
        x[row] = row % 2 ? -1 : 1;
        for (int column = 0; column < N; ++column)
            a[row * N + column] = row == column ? 2 : row - column == 1 || column - row == 1 ? -1 : 0;
    }
}

static atn_status iterate(atn_operations *ops, atn_array *a, atn_array *x, atn_array *y, atn_array *norm,
                          double *value) {
    atn_status status = ATN_OK;
    for (int k = 0; k < STEPS && status == ATN_OK; ++k) {
        status = atn_array_gemv(ops, a, x, y);
        if (status == ATN_OK) status = atn_array_l2norm(ops, y, norm);
        if (status == ATN_OK) status = atn_array_get(norm, value, 0); /* the only transfer of a step */
        if (status == ATN_OK) status = atn_array_scale(ops, 1 / *value, 0, y, x);
    }
    return status;
}

int main(void) {
    static double matrix[N * N], start[N];
    double value = 0, exact = 2 + 2 * cos(acos(-1) / (N + 1));
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_operations *ops = NULL;
    atn_array *a = NULL, *x = NULL, *y = NULL, *norm = NULL;
    fill(matrix, start);
    atn_status status = atn_ctx_create(NULL, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    if (status == ATN_OK) status = atn_operations_create(device, &ops);
    if (status == ATN_OK) status = atn_array_create_matrix(device, ATN_DP, N, N, 0, &a);
    if (status == ATN_OK) status = atn_array_create_vector(device, ATN_DP, N, &x);
    if (status == ATN_OK) status = atn_array_create_vector(device, ATN_DP, N, &y);
    if (status == ATN_OK) status = atn_array_create_vector(device, ATN_DP, 1, &norm);
    if (status == ATN_OK) status = atn_array_put(a, matrix, 0);
    if (status == ATN_OK) status = atn_array_put(x, start, 0);
    if (status == ATN_OK) status = iterate(ops, a, x, y, norm, &value);
    if (status == ATN_OK)
        printf("largest eigenvalue %.6f, exact %.6f\n", value, exact);
    else
        fprintf(stderr, "%s\n", ctx ? atn_ctx_message(ctx) : "no memory");
    atn_array_free(norm);
    atn_array_free(y);
    atn_array_free(x);
    atn_array_free(a);
    atn_operations_free(ops);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return status != ATN_OK || fabs(value - exact) > 1e-3;
}
