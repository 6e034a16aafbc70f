/* What is said of a pair at the end: printed, written, and whether that is a failure. */
#include "cli/register.h"

static atn_status write_files(const atn_cli_register *r, const atn_cli_registered *done) {
    atn_cli_call *call = r->call;
    const char *output = done->part[0] ? NULL : atn_cli_value(call, "output"), *matrix = atn_cli_value(call, "matrix");
    const char *report = atn_cli_value(call, "report");
    atn_status status = ATN_OK;
    if (output) {
        atn_cloud *moved = NULL;
        status = atn_cloud_moved(done->source, done->result->transform, &moved);
        if (!status) status = atn_cli_register_write(call, moved, output);
        atn_cloud_free(moved);
    }
    if (!status && matrix) status = atn_cli_matrix_write(call->ctx, matrix, done->result->transform);
    if (!status && report) status = atn_cli_register_report(r, done, report);
    return status;
}

atn_status atn_cli_register_tell(atn_cli_register *r, atn_cli_registered *done, const atn_register_result *result,
                                 const double *truth) {
    atn_cli_call *call = r->call;
    atn_cli_apart apart;
    done->result = result;
    if (truth) {
        apart = atn_cli_matrix_apart(result->transform, truth, done->source);
        done->truth = &apart;
    }
    atn_status status = atn_cli_register_print(r, done);
    if (!status) status = write_files(r, done);
    if (r->serve && !status) {
        atn_serve_end(r->serve,
                      json_pack("{s:b,s:s,s:s,s:o,s:f,s:f,s:i,s:f}", "summary", 1, "verdict",
                                atn_verdict_name(result->verdict), "reason", result->reason, "transform",
                                atn_cli_json_matrix(result->transform, 4, 4), "rmse", result->rmse, "overlap",
                                result->overlap, "iterations", (int)result->iterations, "seconds", result->seconds));
    }
    if (!status && result->verdict == ATN_VERDICT_DOUBTFUL)
        fprintf(call->err, "attune register: doubtful: %s\n", result->reason);
    if (!status && result->verdict == ATN_VERDICT_REFUSED)
        status = atn_fail(call->ctx, ATN_ERR_INPUT, "refused: %s", result->reason);
    done->result = NULL; /* both end here */
    done->truth = NULL;
    return status;
}
