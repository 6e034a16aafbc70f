/* Many scans into one frame, with the public headers only: files in, a pose for each out, and which belong to nothing.
 * usage: scans FILE FILE... */
#include <attune/attune.h>

#include <stdio.h>
#include <stdlib.h>

static void print(const atn_align_result *result, char **names) {
    for (size_t k = 0; k < result->scans; ++k) {
        const atn_align_scan *scan = result->scan[k];
        if (scan->placed)
            printf("%s: at %g %g %g by %zu pairs\n", names[k], scan->transform[3], scan->transform[7],
                   scan->transform[11], scan->edges);
        else
            printf("%s: left out, %s\n", names[k], scan->reason);
    }
    for (size_t k = 0; k < result->edges; ++k)
        if (result->edge[k]->used)
            printf("%zu onto %zu: %.4f degrees from the graph's\n", result->edge[k]->source, result->edge[k]->target,
                   result->edge[k]->residual_deg);
}

int main(int argc, char **argv) {
    size_t count = argc > 1 ? (size_t)argc - 1 : 0;
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_align_result result = {0};
    atn_cloud **scans = calloc(count + 1, sizeof *scans);

    atn_status status = scans ? atn_ctx_create(NULL, &ctx) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    for (size_t k = 0; k < count && status == ATN_OK; ++k) status = atn_cloud_read(ctx, argv[k + 1], NULL, &scans[k]);
    if (status == ATN_OK) status = atn_align(device, count, (const atn_cloud *const *)scans, NULL, &result);
    if (status == ATN_OK)
        print(&result, argv + 1);
    else
        fprintf(stderr, "%s\n", ctx ? atn_ctx_message(ctx) : "no memory");
    bool good = status == ATN_OK && result.placed > 1;
    atn_align_free(&result);
    for (size_t k = 0; k < count && scans; ++k) atn_cloud_free(scans[k]);
    free(scans);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return good ? 0 : 1;
}
