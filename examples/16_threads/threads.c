/* Two threads share one context; each opens a device of its own (here twice the host) and works on its own arrays. A
 * failure's message belongs to the thread that failed. docs/interface.md: what may be called from which thread. */
#include <attune/attune.h>

#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, N = 1000 };

typedef struct job {
    atn_ctx *ctx;
    const atn_devices *devices;
    double length; /* of a vector of N times 1 + the thread's number */
    float scale;
    atn_status status;
} job;

static void *work(void *user) {
    job *j = user;
    atn_device *device = NULL;
    atn_operations *operations = NULL;
    atn_array *x = NULL, *norm = NULL;
    const void *result;
    float numbers[N];
    for (int k = 0; k < N; ++k) numbers[k] = j->scale;
    j->status = atn_device_open(j->devices, 0, &device);
    if (j->status == ATN_OK) j->status = atn_operations_create(device, &operations);
    if (j->status == ATN_OK) j->status = atn_array_create_vector(device, ATN_SP, N, &x);
    if (j->status == ATN_OK) j->status = atn_array_create_vector(device, ATN_SP, 1, &norm);
    if (j->status == ATN_OK) j->status = atn_array_put(x, numbers, 0);
    if (j->status == ATN_OK) j->status = atn_array_l2norm(operations, x, norm);
    if (j->status == ATN_OK) j->status = atn_array_map_read(norm, &result);
    if (j->status == ATN_OK) j->length = *(const float *)result;
    if (j->status != ATN_OK) fprintf(stderr, "%s\n", atn_ctx_message(j->ctx)); /* of this thread */
    atn_array_free(norm);
    atn_array_free(x);
    atn_operations_free(operations);
    atn_device_close(device);
    return NULL;
}

int main(void) {
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    pthread_t thread[THREADS];
    job jobs[THREADS];
    atn_status status = atn_ctx_create(NULL, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status != ATN_OK) return 1;
    for (int k = 0; k < THREADS; ++k) {
        jobs[k] = (job){.ctx = ctx, .devices = devices, .scale = (float)(k + 1)};
        if (pthread_create(&thread[k], NULL, work, &jobs[k]) != 0) return 1;
    }
    for (int k = 0; k < THREADS; ++k) {
        pthread_join(thread[k], NULL);
        if (jobs[k].status != ATN_OK) status = jobs[k].status;
        printf("thread %d: |x| = %.3f\n", k, jobs[k].length);
    }
    bool right = jobs[0].length > 31.62 && jobs[0].length < 31.63 && jobs[1].length > 63.24 && jobs[1].length < 63.26;
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return status == ATN_OK && right ? 0 : 1;
}
