/* A program of kernels from C, with the public headers only: conjugate gradients (cg.atn) on a 5-point Laplacian. The
 * loop and its scalars are the program's; here it is planned once and run. usage: cg [cg.atn] */
#include <attune/attune.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 60, COLUMNS = 90 };

static double solution(int y, int x) { return sin(0.3 * y) + 0.01 * x; }

/* b = A x for the solution, so that it is known. */
static void fill(double *b) {
    for (int y = 0; y < ROWS; ++y)
        for (int x = 0; x < COLUMNS; ++x) {
            double sum = 4 * solution(y, x);
            if (y > 0) sum -= solution(y - 1, x);
            if (y < ROWS - 1) sum -= solution(y + 1, x);
            if (x > 0) sum -= solution(y, x - 1);
            if (x < COLUMNS - 1) sum -= solution(y, x + 1);
            b[y * COLUMNS + x] = sum;
        }
}

static atn_status solve(atn_device *device, const char *file, double *b, double *x, int *rounds) {
    static const char *const defines[] = {"USED_FLOAT=DP", NULL};
    atn_array *right = NULL, *left = NULL, *count = NULL;
    atn_program *program = NULL;
    atn_status status = atn_array_create_matrix(device, ATN_DP, ROWS, COLUMNS, 0, &right);
    if (status == ATN_OK) status = atn_array_create_matrix(device, ATN_DP, ROWS, COLUMNS, 0, &left);
    if (status == ATN_OK) status = atn_array_create_vector(device, ATN_INT32, 1, &count);
    if (status == ATN_OK) status = atn_array_put(right, b, 0);
    if (status == ATN_OK) status = atn_array_put(left, x, 0);
    if (status == ATN_OK)
        status = atn_program_create(device, file, &(atn_kernel_settings){.defines = defines}, &program);
    if (status == ATN_OK) status = atn_program_bind(program, "b", right);
    if (status == ATN_OK) status = atn_program_bind(program, "x", left);
    if (status == ATN_OK) status = atn_program_bind(program, "rounds", count);
    if (status == ATN_OK) status = atn_program_param(program, "tolerance", 1e-10, 0);
    if (status == ATN_OK) status = atn_program_run(program);
    if (status == ATN_OK && atn_program_note(program)) fprintf(stderr, "%s\n", atn_program_note(program));
    if (status == ATN_OK) puts(atn_program_explain(program)); /* the plan: what is fused, where arrays lie */
    if (status == ATN_OK) status = atn_array_get(left, x, 0);
    if (status == ATN_OK) status = atn_array_get(count, rounds, 0);
    atn_program_free(program);
    atn_array_free(count);
    atn_array_free(left);
    atn_array_free(right);
    return status;
}

int main(int argc, char **argv) {
    static double b[ROWS * COLUMNS], x[ROWS * COLUMNS];
    const char *file = argc > 1 ? argv[1] : "examples/13_program/cg.atn";
    int rounds = 0;
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    fill(b);
    atn_status status = atn_ctx_create(NULL, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    if (status == ATN_OK) status = solve(device, file, b, x, &rounds);
    double error = 0;
    for (int k = 0; k < ROWS * COLUMNS; ++k) error = fmax(error, fabs(x[k] - solution(k / COLUMNS, k % COLUMNS)));
    if (status == ATN_OK)
        printf("%d rounds, at most %.2g from the solution\n", rounds, error);
    else
        fprintf(stderr, "%s\n", ctx ? atn_ctx_message(ctx) : "no memory");
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return status == ATN_OK && rounds > 0 && rounds < 1000 && error < 1e-7 ? EXIT_SUCCESS : EXIT_FAILURE;
}
