/* attune worker: the process in which tuners try candidates and benchmarks measure rows. Not for interactive use. */
#include "cli/cli.h"

#include "base/number.h"
#include "bench/kernels.h"
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
    atn_ctx_settings options = {.cache_dir = atn_cli_value(call, "cache"), .compiler = atn_cli_value(call, "compiler")};
    atn_ctx *ctx;
    atn_worker_prepare();
    FILE *out = take_output();
    if (!out) return atn_fail(call->ctx, ATN_ERR_IO, "there is nowhere to answer to");
    atn_status status = atn_ctx_create(&options, &ctx);
    if (status == ATN_OK) {
        const char *seconds = atn_cli_value(call, "bench");
        status = seconds
                     ? atn_bench_serve(ctx, atn_cli_value(call, "device"), atn_number_read(seconds, NULL), stdin, out)
                     : atn_worker_run(ctx, stdin, out);
        atn_ctx_free(ctx);
    }
    fclose(out);
    return status;
}

const atn_cli_verb ATN_VERB_WORKER = {
    .name = "worker",
    .summary = "try candidates for a tuner, measure rows for a benchmark",
    .synopsis = "",
    .paragraphs =
        (const char *const[]){"Reads jobs line by line and answers in JSON; attune tune and attune bench start it.",
                              NULL},
    .options = (const atn_cli_option[]){ATN_OPTION("cache", "DIR", "where built code is kept"),
                                        ATN_OPTION("compiler", "CC", "C compiler for code on the CPU"),
                                        ATN_OPTION("bench", "SECONDS", "measure rows, this long each"),
                                        {0}},
    .examples = (const atn_cli_pair[]){{0}},
    .hidden = true,
    .run = run,
};
