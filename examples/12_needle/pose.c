/* A needle's pose in OCT scans, with the public headers only: made once for a model, then asked scan by scan.
 * usage: pose MODEL SCANS [SCANS...]      from `attune sample needle -o data`: pose data/model.stl data/scan
 * Each SCANS is a folder of B-scans or a TIFF with pages; the second one starts from the pose of the first. */
#include <attune/attune.h>

#include <stdio.h>
#include <string.h>

static void print(const char *path, const atn_needle_result *r) {
    printf("%s: %s", path, r->found ? "found" : "not found");
    if (r->found) printf(", tip at %.3f %.3f %.3f, roll %.2f degrees", r->tip[0], r->tip[1], r->tip[2], r->roll_deg);
    if (r->found && r->has_covariance) /* of the translation, along z */
        printf(", variance along z %.2g", r->covariance[35]);
    printf("; %.0f ms%s%s\n", r->seconds * 1000, *r->reason ? ": " : "", r->reason);
}

static atn_status look(atn_needle *needle, atn_ctx *ctx, const char *path, atn_needle_match_settings *settings,
                       atn_needle_result *result) {
    atn_volume *volume = NULL;
    atn_status status = atn_volume_read(ctx, path, NULL, &volume);
    if (status == ATN_OK) status = atn_needle_find(needle, volume, NULL, settings, result);
    if (status == ATN_OK) {
        settings->has_start = settings->track = result->found; /* else the next one is searched for again */
        memcpy(settings->start, result->transform, sizeof settings->start);
    }
    atn_volume_free(volume);
    return status;
}

int main(int argc, char **argv) {
    atn_ctx *ctx = NULL;
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    atn_cloud *model = NULL;
    atn_needle *needle = NULL;
    atn_needle_match_settings settings = {0};
    atn_needle_result result = {0};
    if (argc < 3) {
        fprintf(stderr, "usage: pose MODEL SCANS [SCANS...]\n");
        return 2;
    }
    atn_status status = atn_ctx_create(NULL, &ctx);
    if (status == ATN_OK) status = atn_devices_find(ctx, &devices);
    if (status == ATN_OK) status = atn_device_open(devices, 0, &device);
    if (status == ATN_OK) status = atn_needle_model(ctx, argv[1], &model);
    if (status == ATN_OK) status = atn_needle_create(device, model, NULL, &needle);
    for (int k = 2; k < argc && status == ATN_OK; ++k) {
        status = look(needle, ctx, argv[k], &settings, &result);
        if (status == ATN_OK) print(argv[k], &result);
    }
    if (status != ATN_OK) fprintf(stderr, "%s\n", ctx ? atn_ctx_message(ctx) : "no memory");
    atn_needle_free(needle);
    atn_cloud_free(model);
    atn_device_close(device);
    atn_devices_free(devices);
    atn_ctx_free(ctx);
    return status != ATN_OK || !result.found;
}
