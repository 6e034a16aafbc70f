/* attune sample scans: two scans of one object, for registration; or many, from all sides. */
#include "cli/sample.h"

#include "base/memory.h"
#include "base/number.h"
#include "cli/matrix.h"
#include "sample/scans.h"
#include "sample/views.h"

#include <math.h>
#include <string.h>

enum { MOST_VIEWS = 10000 };

static atn_status read_options(atn_cli_call *call, atn_scans_settings *settings) {
    const char *turn = atn_cli_value(call, "turn");
    double size;
    atn_status status = atn_cli_read_whole(call, "size", 1, 10000, &size);
    if (!status) status = atn_cli_read_number(call, "noise", 0, INFINITY, 0.002, &settings->noise);
    if (!status) status = atn_cli_read_number(call, "overlap", 0.1, 1, 0.65, &settings->overlap);
    if (status) return status;
    if (!isfinite(settings->noise)) return atn_cli_misuse(call, "--noise cannot be infinite");
    settings->size = (size_t)size;
    settings->turn_deg = -1;
    if (!turn || strcmp(turn, "any") == 0) return ATN_OK;
    char *end;
    settings->turn_deg = atn_number_read(turn, &end);
    if (end == turn || *end || !(settings->turn_deg >= 0 && settings->turn_deg <= 180))
        return atn_cli_misuse(call, "--turn cannot be '%s'; it takes degrees from 0 to 180, or any", turn);
    return ATN_OK;
}

static void show_progress(void *user, double done) { atn_cli_show_share(user, "scanning", done); }

static atn_status write_cloud(const atn_cli_sample *sample, const char *name, const atn_cloud *cloud) {
    char *path = atn_cli_sample_path(sample, name);
    if (!path) return ATN_ERR_MEMORY;
    atn_status status = atn_cloud_write(cloud, path);
    if (!status && !sample->call->json) {
        atn_cli_progress_end(sample->call);
        fprintf(sample->call->out, "%s: %zu points\n", path, atn_cloud_info_of(cloud).points);
    }
    atn_free(sample->call->ctx, path);
    return status;
}

static atn_status tell(const atn_cli_sample *sample, const atn_scans_settings *settings, const atn_scans *scans) {
    atn_cli_turn turn = atn_cli_turn_of(scans->transform);
    json_t *root = sample->truth;
    bool good = json_object_set_new(root, "transform", atn_cli_json_matrix(scans->transform, 4, 4)) == 0 &&
                json_object_set_new(root, "overlap", json_real(scans->overlap)) == 0 &&
                json_object_set_new(root, "noise", json_real(settings->noise)) == 0 &&
                json_object_set_new(root, "outliers", json_real(scans->outliers)) == 0 &&
                json_object_set_new(root, "turn_deg", json_real(turn.degrees)) == 0 &&
                json_object_set_new(root, "views_deg", json_real(scans->views_deg)) == 0 &&
                json_object_set_new(root, "seed", json_integer((json_int_t)settings->seed)) == 0 &&
                json_object_set_new(root, "size", json_integer((json_int_t)settings->size)) == 0;
    return good ? ATN_OK : atn_fail_memory(sample->call->ctx, 0, "truth.json");
}

/* ---- many views ---- */

static atn_status tell_views(const atn_cli_sample *sample, const atn_views_settings *settings, const atn_views *views) {
    json_t *root = sample->truth, *poses = json_array();
    bool good = true;
    for (size_t k = 0; k < views->count && good; ++k) {
        char name[32];
        snprintf(name, sizeof name, "scan%02zu.ply", k);
        json_t *pose = json_object();
        good = json_object_set_new(pose, "file", json_string(name)) == 0 &&
               json_object_set_new(pose, "transform", atn_cli_json_matrix(views->scan[k].transform, 4, 4)) == 0 &&
               json_object_set_new(pose, "distractor", json_boolean(k >= settings->views)) == 0;
        good = json_array_append_new(poses, pose) == 0 && good;
    }
    good = json_object_set_new(root, "poses", poses) == 0 && good;
    good = good && json_object_set_new(root, "noise", json_real(settings->noise)) == 0 &&
           json_object_set_new(root, "outliers", json_real(views->outliers)) == 0 &&
           json_object_set_new(root, "seed", json_integer((json_int_t)settings->seed)) == 0 &&
           json_object_set_new(root, "size", json_integer((json_int_t)settings->size)) == 0;
    return good ? ATN_OK : atn_fail_memory(sample->call->ctx, 0, "truth.json");
}

static atn_status sample_views(atn_cli_sample *sample, const atn_scans_settings *scans, size_t count) {
    atn_cli_call *call = sample->call;
    atn_views_settings settings = {.size = scans->size,
                                   .views = count,
                                   .distractor = atn_cli_has(call, "distractor"),
                                   .seed = sample->seed,
                                   .noise = scans->noise};
    atn_views views = {0};
    atn_status status = atn_cli_sample_begin(sample);
    if (!status) status = atn_views_make(call->ctx, &settings, show_progress, call, &views);
    for (size_t k = 0; k < views.count && !status; ++k) {
        char name[32];
        snprintf(name, sizeof name, "scan%02zu.ply", k);
        status = write_cloud(sample, name, views.scan[k].cloud);
    }
    if (!status) status = tell_views(sample, &settings, &views);
    atn_views_free(&views);
    return status;
}

atn_status atn_cli_sample_scans(atn_cli_sample *sample) {
    atn_cli_call *call = sample->call;
    atn_scans_settings settings = {.seed = sample->seed};
    atn_scans scans = {0};
    double views = 0;
    atn_status status = read_options(call, &settings);
    if (!status) status = atn_cli_read_whole(call, "views", 1, 0, &views);
    if (!status && views > MOST_VIEWS)
        status = atn_cli_misuse(call, "--views cannot be '%s'; it takes at most %d", atn_cli_value(call, "views"),
                                MOST_VIEWS);
    if (!status && views > 0 && (atn_cli_has(call, "overlap") || atn_cli_has(call, "turn")))
        status = atn_cli_misuse(call, "--overlap and --turn are for two scans, not for --views");
    if (!status && views == 0 && atn_cli_has(call, "distractor"))
        status = atn_cli_misuse(call, "--distractor needs --views");
    if (!status && views > 0) return sample_views(sample, &settings, (size_t)views);
    if (!status) status = atn_cli_sample_begin(sample);
    if (!status) status = atn_scans_make(call->ctx, &settings, show_progress, call, &scans);
    if (!status) status = write_cloud(sample, "source.ply", scans.source);
    if (!status) status = write_cloud(sample, "target.ply", scans.target);
    if (!status) status = tell(sample, &settings, &scans);
    atn_scans_free(&scans);
    return status;
}
