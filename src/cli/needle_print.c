/* The result of attune needle, as JSON and as text. */
#include "cli/needle.h"

#include "cli/matrix.h"

static json_t *rounds_json(const atn_needle_result *r) {
    json_t *list = json_array();
    for (int32_t k = 0; k < r->n_rounds && list; ++k) {
        json_t *round = json_object();
        bool good = json_object_set_new(round, "roll_deg", json_real(r->round[k].roll_deg)) == 0 &&
                    json_object_set_new(round, "shift", json_real(r->round[k].shift)) == 0 &&
                    json_object_set_new(round, "matches", json_integer(r->round[k].matches)) == 0 &&
                    json_object_set_new(round, "combinations", json_integer(r->round[k].combinations)) == 0;
        if (json_array_append_new(list, round) == 0 && good) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *tip_json(const atn_needle_result *r) {
    return r->n_rounds ? json_pack("[f,f,f]", r->tip[0], r->tip[1], r->tip[2]) : json_null();
}

static json_t *seconds_json(const atn_needle_result *r) {
    json_t *object = json_object();
    return atn_cli_json_if(json_object_set_new(object, "segment", json_real(r->segment_seconds)) == 0 &&
                               json_object_set_new(object, "axis", json_real(r->axis_seconds)) == 0 &&
                               json_object_set_new(object, "match", json_real(r->match_seconds)) == 0 &&
                               json_object_set_new(object, "total", json_real(r->seconds)) == 0,
                           object);
}

static json_t *transform_json(const atn_needle_result *r) {
    return r->n_rounds ? atn_cli_json_matrix(r->transform, 4, 4) : json_null();
}

/* What a frame of a stream and a single scan both say. */
static bool tell_pose(atn_cli_call *call, json_t *root, const atn_needle_result *r) {
    return json_object_set_new(root, "found", json_boolean(r->found)) == 0 &&
           json_object_set_new(root, "reason", atn_cli_json_text(call->ctx, r->reason)) == 0 &&
           json_object_set_new(root, "transform", transform_json(r)) == 0 &&
           json_object_set_new(root, "tip", tip_json(r)) == 0 &&
           json_object_set_new(root, "roll_deg", json_real(r->roll_deg)) == 0 &&
           json_object_set_new(root, "shift", json_real(r->shift)) == 0 &&
           json_object_set_new(root, "matches", json_integer(r->matches)) == 0 &&
           json_object_set_new(root, "scan_points", json_integer(r->scan_points)) == 0;
}

json_t *atn_cli_needle_frame_json(atn_cli_call *call, const needle_frame_facts *facts, const atn_needle_result *r) {
    json_t *root = json_object(), *seconds = seconds_json(r);
    bool good = json_object_set_new(root, "frame", json_integer(facts->number)) == 0 &&
                json_object_set_new(root, "name", atn_cli_json_text(call->ctx, facts->name)) == 0 &&
                tell_pose(call, root, r) &&
                json_object_set_new(root, "roll_observable", json_boolean(r->roll_observable)) == 0 &&
                json_object_set_new(root, "tracked", json_boolean(facts->tracked)) == 0 &&
                json_object_set_new(root, "latency_s", json_real(facts->latency_s)) == 0 &&
                json_object_set_new(seconds, "read", json_real(facts->read_s)) == 0;
    return atn_cli_json_if(json_object_set_new(root, "seconds", seconds) == 0 && good, root);
}

json_t *atn_cli_needle_json(atn_cli_call *call, const atn_needle_result *r) {
    json_t *root = json_object();
    bool good = tell_pose(call, root, r) &&
                json_object_set_new(root, "model_points", json_integer(r->model_points)) == 0 &&
                json_object_set_new(root, "rounds", rounds_json(r)) == 0 &&
                json_object_set_new(root, "runner_up", json_integer(r->runner_up)) == 0 &&
                json_object_set_new(root, "roll_observable", json_boolean(r->roll_observable)) == 0 &&
                json_object_set_new(root, "covariance",
                                    r->has_covariance ? atn_cli_json_matrix(r->covariance, 6, 6) : json_null()) == 0 &&
                json_object_set_new(root, "rmse", json_real(r->rmse)) == 0 &&
                json_object_set_new(root, "free_share", json_real(r->free_share)) == 0 &&
                json_object_set_new(root, "level", json_integer(r->level)) == 0 &&
                json_object_set_new(root, "surface_points", json_integer(r->surface)) == 0 &&
                json_object_set_new(root, "centres", json_integer(r->centres)) == 0 &&
                json_object_set_new(root, "seconds", seconds_json(r)) == 0;
    return atn_cli_json_if(good, root);
}

/* Where nothing was matched there is no pose to print. */
static void add_pose(const atn_needle_result *r, const char *unit, atn_text *page) {
    const double *t = r->transform;
    for (int k = 0; k < 4; ++k)
        atn_text_printf(page, "%12.8f %12.8f %12.8f %14.8f\n", t[4 * k], t[4 * k + 1], t[4 * k + 2], t[4 * k + 3]);
    atn_text_printf(page, "tip at %.4f %.4f %.4f%s\n", r->tip[0], r->tip[1], r->tip[2], unit);
    for (int32_t k = 0; k < r->n_rounds; ++k)
        atn_text_printf(page, "round %d: roll %.4f degrees, shift %.5f%s, %lld matches of %lld combinations\n",
                        (int)k + 1, r->round[k].roll_deg, r->round[k].shift, unit, (long long)r->round[k].matches,
                        (long long)r->round[k].combinations);
    atn_text_printf(page, "runner-up %lld; the roll is %s; matching %.3g s of %.3g s\n", (long long)r->runner_up,
                    r->roll_observable ? "observable" : "not observable", r->match_seconds, r->seconds);
}

atn_status atn_cli_needle_text(const needle_job *job, const atn_needle_result *r) {
    atn_cli_call *call = job->call;
    atn_text page = {.ctx = call->ctx};
    atn_text_add(&page, r->found ? "found" : "not found");
    if (r->n_rounds)
        atn_text_printf(&page, ": %lld of %lld scan points, %lld model points; roll %.3f degrees, shift %.4f%s",
                        (long long)r->matches, (long long)r->scan_points, (long long)r->model_points, r->roll_deg,
                        r->shift, job->unit);
    atn_text_add(&page, "\n");
    if (r->n_rounds) add_pose(r, job->unit, &page);
    if (r->segment_seconds > 0)
        atn_text_printf(
            &page, "brightness threshold %lld; %lld points near the needle, %lld B-scans with a centre on its axis\n",
            (long long)r->level, (long long)r->surface, (long long)r->centres);
    if (r->found && *r->reason) atn_text_printf(&page, "note: %s\n", r->reason);
    atn_status status = atn_cli_print_text(call, "needle", &page);
    atn_text_free(&page);
    return status;
}
