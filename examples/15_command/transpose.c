/* A program of one's own to be tuned: a transposition in blocks, on some threads. It times itself, checks its result,
 * and takes its parameters as arguments. usage: transpose BLOCK SIZE */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void transpose(const float *a, float *b, int n, int block) {
#pragma omp parallel for
    for (int y = 0; y < n; y += block)
        for (int x = 0; x < n; x += block)
            for (int i = y; i < y + block && i < n; ++i)
                for (int j = x; j < x + block && j < n; ++j)
                    b[(size_t)j * (size_t)n + (size_t)i] = a[(size_t)i * (size_t)n + (size_t)j];
}

int main(int argc, char **argv) {
    int block = argc > 1 ? atoi(argv[1]) : 0, n = argc > 2 ? atoi(argv[2]) : 1024;
    if (block < 1 || n < 2) return 2;
    size_t count = (size_t)n * (size_t)n;
    float *a = calloc(count, sizeof *a), *b = calloc(count, sizeof *b);
    if (!a || !b) {
        free(a);
        free(b);
        return 1;
    }
    for (size_t k = 0; k < count; ++k) a[k] = (float)(k % 1000);
    transpose(a, b, n, block); /* threads are there, pages are touched */
    double start = now();
    transpose(a, b, n, block);
    printf("transposed in %.3f us\n", 1e6 * (now() - start));
    int wrong = b[1] != a[n] || b[count - 2] != a[count - 1 - (size_t)n];
    free(a);
    free(b);
    return wrong;
}
