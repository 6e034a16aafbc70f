/* attune bench covariance: are the covariances of registrations accurate? */
#include "bench/covariance.h"
#include "cli/bench.h"

#include <math.h>

static json_t *fields_of(const atn_covariance_row *row) {
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:f, s:f, s:f}", "method", row->method, "kind", row->kind, "pairs",
                     (int)row->pairs, "counted", (int)row->counted, "absent", (int)row->absent, "wrong",
                     (int)row->wrong, "beyond_22", row->beyond, "rotation_deg", row->degrees, "claimed_deg",
                     row->claimed);
}

static bool visit(void *user, const atn_covariance_row *row) {
    atn_cli_bench *bench = user;
    char name[96], shape[96], note[256], at[64] = "";
    snprintf(name, sizeof name, "%s", row->method);
    snprintf(shape, sizeof shape, "%s, %.0f onto %.0f", row->kind, row->points[0], row->points[1]);
    if (row->counted)
        snprintf(at, sizeof at, "%.1f %% beyond 22, off %.2g°, claimed %.2g°; ", 100 * row->beyond, row->degrees,
                 row->claimed);
    snprintf(note, sizeof note, "%s%d of %d pairs, %d without covariance, %d wrong", at, row->counted, row->pairs,
             row->absent, row->wrong);
    return atn_cli_bench_add(bench, &(atn_cli_bench_row){.name = name,
                                                         .device = "",
                                                         .shape = shape,
                                                         .ours = fmin(row->median, 1e9),
                                                         .reference = ATN_COVARIANCE_MEDIAN,
                                                         .reference_name = "chi-square, 6 dof",
                                                         .unit = "",
                                                         .seconds = row->seconds,
                                                         .note = note,
                                                         .extra = fields_of(row)});
}

static atn_status measure(atn_cli_call *call, atn_device *device, const void *options) {
    return atn_bench_covariance(call->ctx, device, options);
}

atn_status atn_cli_bench_covariance(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    double pairs, seed;
    if (call->n_operands != 1) return atn_cli_misuse(call, "covariance takes no files; its pairs are synthetic");
    atn_status status = atn_cli_read_whole(call, "pairs", 1, atn_cli_has(call, "quick") ? 1 : 10, &pairs);
    if (!status) status = atn_cli_read_whole(call, "seed", 0, 1, &seed);
    if (!status && pairs > ATN_COVARIANCE_MOST_PAIRS)
        return atn_cli_misuse(call, "--pairs takes at most %d", (int)ATN_COVARIANCE_MOST_PAIRS);
    if (status) return status;
    atn_bench_covariance_options options = {.seed = (uint64_t)seed,
                                            .pairs = (int32_t)pairs,
                                            .method = atn_cli_value(call, "method"),
                                            .kind = atn_cli_value(call, "kind"),
                                            .visit = visit,
                                            .progress = atn_cli_bench_progress,
                                            .user = bench};
    atn_cli_bench_expect(bench, atn_bench_covariance_steps(&options));
    return atn_cli_bench_on_device(bench, measure, &options);
}
