/* attune sample needle: a bevelled needle and its OCT scans at a known pose. */
#include "cli/sample.h"

#include "base/memory.h"
#include "base/number.h"
#include "cli/matrix.h"
#include "sample/needle.h"

#include <math.h>
#include <string.h>

static atn_status read_size(atn_cli_call *call, int64_t shape[3]) {
    const char *text = atn_cli_value(call, "size"), *at = text;
    for (int d = 0; d < 3 && text; ++d) {
        char *end;
        double value = atn_number_read(at, &end);
        bool whole = end != at && value >= 8 && value <= 65536 && value == floor(value);
        if (!whole || *end != (d < 2 ? 'x' : '\0'))
            return atn_cli_misuse(call, "--size cannot be '%s'; it takes SCANSxROWSxCOLUMNS, each from 8 to 65536",
                                  text);
        shape[d] = (int64_t)value;
        at = end + 1;
    }
    return ATN_OK;
}

static atn_status read_pose(atn_cli_call *call, atn_needle_sample_settings *s) {
    const char *roll = atn_cli_value(call, "roll"), *from = atn_cli_value(call, "from");
    char *end;
    atn_status status = atn_cli_read_number(call, "tilt", 0, 30, s->tilt_deg, &s->tilt_deg);
    if (status) return status;
    if (roll && strcmp(roll, "any") == 0)
        s->roll_deg = 180;
    else if (roll) {
        s->roll_deg = atn_number_read(roll, &end);
        if (end == roll || *end || !(s->roll_deg >= 0 && s->roll_deg <= 180))
            return atn_cli_misuse(call, "--roll cannot be '%s'; it takes degrees from 0 to 180, or any", roll);
    }
    s->from_high = from && strcmp(from, "high") == 0;
    return ATN_OK;
}

static atn_status read_options(atn_cli_call *call, atn_needle_sample_settings *s) {
    double gauge, outer, inner;
    atn_status status = atn_cli_read_whole(call, "gauge", 0, s->gauge, &gauge);
    if (!status && !(gauge <= 1000 && atn_needle_gauge((int32_t)gauge, &outer, &inner)))
        return atn_cli_misuse(call, "--gauge cannot be '%s'; it takes 20 to 34", atn_cli_value(call, "gauge"));
    if (!status) s->gauge = (int32_t)gauge;
    if (!status) status = atn_cli_read_number(call, "bevel", 5, 89, s->bevel_deg, &s->bevel_deg);
    if (!status) status = atn_cli_read_number(call, "bend", 5, 1e6, 0, &s->bend);
    if (!status) status = atn_cli_read_number(call, "noise", 0, 4, s->noise, &s->noise);
    if (!status) status = atn_cli_read_number(call, "missing", 0, 0.9, 0, &s->missing);
    if (!status) status = read_pose(call, s);
    s->no_tissue = atn_cli_has(call, "no-tissue");
    s->no_needle = atn_cli_has(call, "no-needle");
    return status ? status : read_size(call, s->shape);
}

static void show_progress(void *user, double done) { atn_cli_show_share(user, "scanning", done); }

static atn_status write_model(const atn_cli_sample *sample, const char *name, const atn_needle_sample *needle,
                              atn_status (*write)(const atn_needle_sample *sample, const char *path)) {
    char *path = atn_cli_sample_path(sample, name);
    atn_status status = path ? write(needle, path) : ATN_ERR_MEMORY;
    if (!status && !sample->call->json) fprintf(sample->call->out, "%s: %zu triangles\n", path, needle->mesh.triangles);
    atn_free(sample->call->ctx, path);
    return status;
}

static atn_status write_scans(const atn_cli_sample *sample, const char *path, const atn_volume *volume) {
    atn_status status = atn_volume_write(volume, path, "mm");
    atn_volume_info info = atn_volume_info_of(volume);
    atn_cli_progress_end(sample->call);
    if (!status && !sample->call->json)
        fprintf(sample->call->out, "%s: %lld scans of %lld x %lld (rows x columns)\n", path, (long long)info.frames,
                (long long)info.height, (long long)info.width);
    return status;
}

static json_t *whole_numbers(const int64_t *values, size_t count) {
    json_t *list = json_array();
    for (size_t k = 0; k < count; ++k) json_array_append_new(list, json_integer(values[k]));
    return list;
}

static json_t *numbers(const double *values, size_t count) {
    json_t *list = json_array();
    for (size_t k = 0; k < count; ++k) json_array_append_new(list, json_real(values[k]));
    return list;
}

static json_t *black_scans(const atn_needle_sample *needle, int64_t scans) {
    json_t *list = json_array();
    for (int64_t k = 0; k < scans; ++k)
        if (needle->missing[k]) json_array_append_new(list, json_integer(k));
    return list;
}

static atn_status tell(const atn_cli_sample *sample, const atn_needle_sample_settings *s,
                       const atn_needle_sample *needle) {
    const needle_truth *t = &needle->truth;
    const struct {
        const char *name;
        json_t *value;
    } FIELDS[] = {
        {"transform", atn_cli_json_matrix(t->transform, 4, 4)},
        {"tip_model", numbers(t->tip_model, 3)},
        {"tip_scan", numbers(t->tip_scan, 3)},
        {"roll_deg", json_real(t->roll_deg)},
        {"shift", json_real(t->shift)},
        {"tilt_deg", numbers(t->tilt_deg, 2)},
        {"needle", json_boolean(!s->no_needle)},
        {"from", json_string(s->from_high ? "high" : "low")},
        {"spacing", numbers(t->spacing, 3)},
        {"unit", json_string("mm")},
        {"shape", whole_numbers(s->shape, 3)},
        {"gauge", json_integer(s->gauge)},
        {"diameter", json_real(t->outer)},
        {"lumen", json_real(t->inner)},
        {"bevel_deg", json_real(s->bevel_deg)},
        {"bevel_length", json_real(t->bevel_length)},
        {"bevel_incidence_deg", json_real(t->bevel_incidence_deg)},
        {"bevel_visible", json_boolean(t->bevel_visible)},
        {"tip_in_scan", json_boolean(t->tip_in_scan)},
        {"bend", json_real(s->bend)},
        {"clearance", json_real(t->clearance)},
        {"noise", json_real(s->noise)},
        {"missing", black_scans(needle, s->shape[0])},
        {"seed", json_integer((json_int_t)s->seed)},
    };
    for (size_t k = 0; k < sizeof FIELDS / sizeof *FIELDS; ++k)
        json_object_set_new(sample->truth, FIELDS[k].name, FIELDS[k].value); /* takes NULL, and drops what it refuses */
    return atn_cli_json_status(sample->call->ctx);
}

/* ---- frames of a needle that sways ---- */

/* DIR/frames/0000 and so on; `needle` is left with the frame's own. */
static atn_status make_frame(atn_cli_sample *sample, const atn_needle_sample_settings *settings,
                             atn_needle_sample *needle) {
    atn_cli_call *call = sample->call;
    char name[32], *folder = NULL;
    snprintf(name, sizeof name, "frames/%04lld", (long long)settings->frame);
    atn_needle_sample_free(needle);
    atn_status status = atn_needle_sample_make(call->ctx, settings, show_progress, call, needle);
    atn_cli_progress_end(call);
    if (!status) status = atn_cli_sample_inside(sample, name, &folder);
    if (!status) status = write_scans(sample, folder, needle->volume);
    atn_free(call->ctx, folder);
    return status;
}

static json_t *frame_truth(const atn_needle_sample_settings *settings, const needle_truth *t) {
    char name[32];
    json_t *root = json_object();
    snprintf(name, sizeof name, "%04lld", (long long)settings->frame);
    json_object_set_new(root, "name", json_string(name)); /* a failed allocation is reported once, for the whole */
    json_object_set_new(root, "transform", atn_cli_json_matrix(t->transform, 4, 4));
    json_object_set_new(root, "tip_scan", numbers(t->tip_scan, 3));
    json_object_set_new(root, "roll_deg", json_real(t->roll_deg));
    json_object_set_new(root, "shift", json_real(t->shift));
    return root;
}

static atn_status make_frames(atn_cli_sample *sample, atn_needle_sample_settings settings, int64_t frames) {
    atn_needle_sample needle = {0};
    json_t *list = json_array();
    atn_status status = atn_cli_sample_begin(sample);
    if (!status) status = atn_cli_sample_folder(sample, "frames");
    for (; settings.frame < frames && !status; ++settings.frame) {
        status = make_frame(sample, &settings, &needle);
        if (status) break;
        json_array_append_new(list, frame_truth(&settings, &needle.truth));
        if (settings.frame > 0) continue;
        status = write_model(sample, "model.stl", &needle, atn_needle_sample_stl);
        if (!status) status = write_model(sample, "model.ply", &needle, atn_needle_sample_ply);
        if (!status) status = tell(sample, &settings, &needle);
    }
    json_object_set_new(sample->truth, "frames", list);
    atn_needle_sample_free(&needle);
    return status ? status : atn_cli_json_status(sample->call->ctx);
}

atn_status atn_cli_sample_needle(atn_cli_sample *sample) {
    atn_cli_call *call = sample->call;
    atn_needle_sample_settings settings = ATN_NEEDLE_SAMPLE_USUAL;
    atn_needle_sample needle = {0};
    char *scans = NULL;
    double frames;
    settings.seed = sample->seed;
    atn_status status = read_options(call, &settings);
    if (!status) status = atn_cli_read_whole(call, "frames", 1, 0, &frames);
    if (!status && frames > 0) return make_frames(sample, settings, (int64_t)frames);
    if (!status) status = atn_needle_sample_make(call->ctx, &settings, show_progress, call, &needle);
    atn_cli_progress_end(call);
    if (!status) status = atn_cli_sample_begin(sample);
    if (!status) status = atn_cli_sample_inside(sample, "scan", &scans);
    if (!status) status = write_scans(sample, scans, needle.volume);
    if (!status) status = write_model(sample, "model.stl", &needle, atn_needle_sample_stl);
    if (!status) status = write_model(sample, "model.ply", &needle, atn_needle_sample_ply);
    if (!status) status = tell(sample, &settings, &needle);
    atn_free(call->ctx, scans);
    atn_needle_sample_free(&needle);
    return status;
}
