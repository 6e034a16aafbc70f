/* The C side of overhead.py: two files of x y z doubles, clouds made of them and registered, REPEATS times in one
 * process. Prints seconds by the clock and of the processor for each. usage: pair SOURCE TARGET POINTS REPEATS */
#include <attune/attune.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double *read_points(const char *path, size_t points) {
    double *all = malloc(points * 3 * sizeof *all);
    FILE *file = fopen(path, "rb");
    if (!all || !file || fread(all, 3 * sizeof *all, points, file) != points) exit(1);
    fclose(file);
    return all;
}

static double clock_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double processor_s(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    size_t points = strtoull(argv[3], NULL, 10);
    double *from = read_points(argv[1], points), *to = read_points(argv[2], points);
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_status status = atn_ctx_create(NULL, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    for (int k = 0; k < atoi(argv[4]) && status == ATN_OK; ++k) {
        atn_cloud *source = NULL, *target = NULL;
        atn_register_result result = {0};
        double clock = clock_s(), processor = processor_s();
        status = atn_cloud_create(ctx, points, from, NULL, &source);
        if (status == ATN_OK) status = atn_cloud_create(ctx, points, to, NULL, &target);
        if (status == ATN_OK)
            status =
                atn_register(device, source, target, &(atn_register_settings){.init = ATN_START_IDENTITY}, &result);
        atn_cloud_free(source);
        atn_cloud_free(target);
        printf("%.6f %.6f\n", clock_s() - clock, processor_s() - processor);
    }
    if (status != ATN_OK) fprintf(stderr, "%s\n", ctx ? atn_ctx_message(ctx) : "no memory");
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    free(from);
    free(to);
    return status != ATN_OK;
}
