/* The MODEL argument of attune needle, read and prepared for its device. */
#include "cli/needle.h"

atn_status atn_cli_needle_prepare(needle_job *job) {
    atn_cli_call *call = job->call;
    atn_cloud *model = NULL;
    atn_cli_progress(call, "reading ...");
    atn_status status = atn_needle_model(call->ctx, call->operands[0], &model);
    if (!status) status = atn_needle_create(job->device, model, &job->options, &job->needle);
    atn_cli_progress_end(call);
    atn_cloud_free(model);
    return status;
}
