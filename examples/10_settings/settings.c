/* Settings of one's own and a look at every iteration, with the public headers only: trimmed ICP with robust weights,
 * then EM-ICP from where it ended, stopped by the watch once it is good enough for us. */
#include "../shape.h"

#include <stdio.h>
#include <string.h>

typedef struct watcher {
    int most;    /* iterations that we have patience for */
    double last; /* rmse */
} watcher;

static bool look(void *user, const atn_register_step *step) {
    watcher *w = user;
    printf("  %2d: rmse %.5f, moved by %.5f, %lld pairs\n", step->iteration, step->rmse, step->motion,
           (long long)step->pairs);
    w->last = step->rmse;
    return step->iteration < w->most;
}

int main(void) {
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_cloud *source = NULL, *target = NULL;
    atn_register_result result = {0};
    watcher patient = {.most = 1000}, hasty = {.most = 3};

    atn_status status = atn_ctx_create(NULL, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    if (status == ATN_OK) status = shape_source(ctx, &source);
    if (status == ATN_OK) status = shape_target(ctx, &target);

    atn_register_settings settings = {.method = ATN_REGISTER_ICP, /* what is left zero takes its default */
                                      .trim = 0.1,
                                      .robust = ATN_ROBUST_HUBER,
                                      .most_iterations = 200,
                                      .no_covariance = true,
                                      .watch = look,
                                      .watch_user = &patient};
    puts("ICP, the farthest tenth of the pairs left out:");
    if (status == ATN_OK) status = atn_register(device, source, target, &settings, &result);
    double error = shape_error(result.transform);
    if (status == ATN_OK) printf("%s; %g off\n", result.reason, error);

    settings =
        (atn_register_settings){.init = ATN_START_GIVEN, .sigma_start = 0.1, .watch = look, .watch_user = &hasty};
    memcpy(settings.start, result.transform, sizeof settings.start);
    puts("EM-ICP from there, until we have seen enough:");
    atn_status stopped = ATN_OK;
    if (status == ATN_OK) stopped = atn_register(device, source, target, &settings, &result);
    if (status == ATN_OK) printf("%s\n", stopped == ATN_ERR_CANCELLED ? "stopped as asked" : "it was faster");

    if (status != ATN_OK) fprintf(stderr, "%s\n", ctx ? atn_ctx_message(ctx) : "no memory");
    atn_cloud_free(target);
    atn_cloud_free(source);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return status != ATN_OK || (stopped != ATN_OK && stopped != ATN_ERR_CANCELLED) || error > 0.05;
}
