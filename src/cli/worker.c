/* attune worker: what tuners start to try candidates in. Not for people. */
#include "cli/cli.h"

#include "tune/worker.h"

#include <fcntl.h>
#include <unistd.h>

/* Its answers go where standard output went; nothing else may go there, so that becomes nothing. */
static FILE *take_output(void) {
    int copy = dup(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY);
    if (nothing >= 0) {
        dup2(nothing, STDOUT_FILENO);
        close(nothing);
    }
    return copy < 0 ? NULL : fdopen(copy, "w");
}

static atn_status run(atn_cli_call *call) {
    atn_options options = {.cache_dir = atn_cli_value(call, "cache"), .compiler = atn_cli_value(call, "compiler")};
    atn_ctx *ctx;
    atn_worker_prepare();
    FILE *out = take_output();
    if (!out) return atn_fail(call->ctx, ATN_ERR_IO, "there is nowhere to answer to");
    atn_status status = atn_ctx_create(&options, &ctx);
    if (status == ATN_OK) {
        status = atn_worker_run(ctx, stdin, out);
        atn_ctx_free(ctx);
    }
    fclose(out);
    return status;
}

const atn_cli_verb ATN_VERB_WORKER = {
    .name = "worker",
    .summary = "try candidates for a tuner",
    .synopsis = "",
    .paragraphs = (const char *const[]){"Reads jobs as JSON lines and answers likewise; attune tune starts it.", NULL},
    .options =
        (const atn_cli_option[]){{.name = "cache", .value = "DIR", .meaning = "where built code is kept"},
                                 {.name = "compiler", .value = "CC", .meaning = "C compiler for code on the CPU"},
                                 {0}},
    .examples = (const atn_cli_pair[]){{0}},
    .hidden = true,
    .run = run,
};
