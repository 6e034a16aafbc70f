/* Volumes to find a needle in. */
#include "scankit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

atn_needle_sample_settings scan_settings(uint64_t seed) {
    atn_needle_sample_settings s = ATN_NEEDLE_SAMPLE_USUAL;
    s.seed = seed;
    s.shape[0] = 64;
    s.shape[1] = 512;
    s.shape[2] = 256;
    return s;
}

atn_needle_sample scan_sample(atn_ctx *ctx, const atn_needle_sample_settings *settings) {
    atn_needle_sample sample;
    kit_ok(ctx, atn_needle_sample_make(ctx, settings, NULL, NULL, &sample));
    return sample;
}

atn_cloud *scan_model(atn_ctx *ctx, const atn_needle_sample *sample) {
    char *dir = kit_tempdir(), path[512];
    atn_cloud *model;
    snprintf(path, sizeof path, "%s/model.stl", dir);
    kit_ok(ctx, atn_needle_sample_stl(sample, path));
    kit_ok(ctx, atn_needle_model(ctx, path, &model));
    kit_remove(dir);
    return model;
}

atn_volume *scan_cut(atn_ctx *ctx, const atn_needle_sample *sample, int64_t first, int64_t count, int64_t column) {
    atn_volume_info info = atn_volume_info_of(sample->volume);
    int64_t shape[3] = {count, info.height, info.width - column};
    unsigned char *data = malloc((size_t)(shape[0] * shape[1] * shape[2])), *to = data;
    atn_volume *out;
    for (int64_t f = 0; f < count; ++f)
        for (int64_t r = 0; r < info.height; ++r, to += shape[2])
            memcpy(to, (const unsigned char *)atn_volume_frame(sample->volume, first + f) + r * info.width + column,
                   (size_t)shape[2]);
    kit_ok(ctx, atn_volume_create(ctx, shape, 8, data, info.spacing, &out));
    free(data);
    return out;
}

atn_volume *scan_both(atn_ctx *ctx, const atn_needle_sample *a, const atn_needle_sample *b) {
    atn_volume_info info = atn_volume_info_of(a->volume);
    int64_t shape[3] = {info.frames, info.height, info.width};
    const unsigned char *x = atn_volume_frame(a->volume, 0), *y = atn_volume_frame(b->volume, 0);
    size_t count = (size_t)info.frames * info.frame_bytes;
    unsigned char *data = malloc(count);
    atn_volume *out;
    for (size_t k = 0; k < count; ++k) data[k] = x[k] > y[k] ? x[k] : y[k];
    kit_ok(ctx, atn_volume_create(ctx, shape, 8, data, info.spacing, &out));
    free(data);
    return out;
}

double scan_tip_error(const needle_truth *truth, const atn_needle_result *result) {
    geom_pose pose = needle_get(result->transform);
    double p[3];
    geom_pose_apply(&pose, truth->tip_model, p);
    for (int k = 0; k < 3; ++k) p[k] -= truth->tip_scan[k];
    return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
}

double scan_roll_error(const needle_truth *truth, const atn_needle_result *result) {
    geom_pose pose = needle_get(result->transform), right = needle_get(truth->transform), back, step;
    double twist[6];
    assert_true(geom_pose_invert(&pose, &back));
    step = geom_pose_compose(&back, &right); /* in the model's frame z is the roll */
    geom_pose_log(&step, twist);
    return fabs(twist[2]) * 180 / 3.14159265358979323846;
}
