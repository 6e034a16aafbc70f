/* One run of the program, from the command line to the exit status, in a given context and on given files, so
 * that tests can do it in their own process. */
#include "cli/cli.h"

#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

static atn_status print_version(atn_cli_call *call) {
    atn_text text = {.ctx = call->ctx};
    atn_text_printf(&text, call->json ? "%s" : "attune %s\n", atn_version());
    atn_status status = atn_cli_print_text(call, "version", &text);
    atn_text_free(&text);
    return status;
}

/* One of several ranks has its part of the work, and the first one speaks for all. */
static atn_status join_ranks(atn_cli_call *call) {
    atn_status status = atn_ranks_join(call->ctx, &call->ranks);
    if (status || call->ranks->rank == 0) return status;
    call->nowhere = fopen("/dev/null", "w");
    if (!call->nowhere) return atn_fail(call->ctx, ATN_ERR_IO, "/dev/null: %s", strerror(errno));
    call->out = call->err = call->nowhere;
    return ATN_OK;
}

static atn_status run_verb(atn_cli_call *call) {
    if (!call->verb->ranks) return call->verb->run(call);
    atn_status status = join_ranks(call);
    if (!call->ranks) return status;
    if (!status) status = atn_cli_same_options(call);
    if (!status) status = call->verb->run(call);
    return atn_ranks_agree(call->ranks, status);
}

static atn_status run_call(atn_cli_call *call, int argc, char **argv) {
    atn_status status = atn_cli_parse(call, call->verbs, argc, argv);
    if (status) return status;
    atn_cli_log_verbose(atn_cli_has(call, "verbose"));
    if (atn_cli_has(call, "help")) return atn_cli_print_help(call, call->verb);
    if (call->verb) return run_verb(call);
    if (atn_cli_has(call, "version")) return print_version(call);
    return atn_cli_misuse(call, "a verb is missing: attune VERB");
}

/* The library may begin with what it was doing, which often is the verb's name: once is enough. */
static const char *without_verb(const char *verb, const char *sentence) {
    size_t length = strlen(verb);
    bool twice = length && strncmp(sentence, verb, length) == 0 && strncmp(sentence + length, ": ", 2) == 0;
    return twice ? sentence + length + 2 : sentence;
}

/* With --json a failure is an object, too, where nothing was printed before: {"error", "status", "exit"}. */
static void print_json_failure(atn_cli_call *call, const char *sentence, atn_status status) {
    json_t *root = json_object();
    bool good = json_object_set_new(root, "error", atn_cli_json_text(call->ctx, sentence)) == 0 &&
                json_object_set_new(root, "status", json_string(atn_status_name(status))) == 0 &&
                json_object_set_new(root, "exit", json_integer(call->misused ? 2 : 1)) == 0;
    if (!good) {
        json_decref(root);
        return; /* no memory: the line on standard error has to do */
    }
    if (atn_cli_print_json(call, root) == ATN_OK) fflush(call->out);
}

static bool wants_json(int argc, char **argv) { /* also where options could not be read */
    for (int k = 1; k < argc && strcmp(argv[k], "--") != 0; ++k)
        if (strcmp(argv[k], "--json") == 0) return true;
    return false;
}

static void print_failure(const atn_cli_call *call, const char *sentence) {
    const char *verb = call->verb ? call->verb->name : "";
    fprintf(call->err, "attune%s%s: %s\n", *verb ? " " : "", verb, sentence);
}

/* Did the reader of the pipe close it? Queried from the pipe: the errno of the failed write is long gone. */
static bool reader_left(FILE *file) {
    struct pollfd pipe = {.fd = fileno(file)}; /* -1, in memory: poll leaves it alone */
    return poll(&pipe, 1, 0) == 1 && pipe.revents & POLLERR;
}

/* What was printed must have arrived: a full disk is a failure like any other. A reader that has what it wants, as head
 * does, is none. */
static bool output_arrived(const atn_cli_call *call) {
    errno = 0;
    bool failed = ferror(call->out) != 0;
    if ((fflush(call->out) == 0 && !failed) || reader_left(call->out)) return true;
    char sentence[256];
    snprintf(sentence, sizeof sentence, "standard output could not be written%s%s", errno ? ": " : "",
             errno ? strerror(errno) : "");
    print_failure(call, sentence);
    return false;
}

int atn_cli_run(atn_ctx *ctx, const atn_cli_verb *const *verbs, int argc, char **argv, FILE *out, FILE *err) {
    atn_cli_call call = {.ctx = ctx, .verbs = verbs, .argc = argc, .argv = argv, .out = out, .err = err};
    atn_cli_json_begin(ctx);
    atn_ctx_on_progress(ctx, atn_cli_show_progress, &call);
    atn_status status = run_call(&call, argc, argv);
    atn_ctx_on_progress(ctx, NULL, NULL);
    if (!status) status = atn_cli_json_status(ctx);
    atn_cli_progress_end(&call);
    if (call.ranks && call.ranks->broken) call.err = err; /* no other rank can report it */
    if (status) {
        const char *message = atn_ctx_message(ctx), *verb = call.verb ? call.verb->name : "";
        char sentence[ATN_MESSAGE_BYTES]; /* printing may leave another one */
        snprintf(sentence, sizeof sentence, "%s", without_verb(verb, *message ? message : atn_status_name(status)));
        print_failure(&call, sentence);
        if (wants_json(argc, argv) && !call.printed) print_json_failure(&call, sentence, status);
    }
    bool arrived = status || output_arrived(&call);
    atn_cli_json_end();
    atn_ranks_leave(call.ranks);
    if (call.nowhere) fclose(call.nowhere);
    atn_free(ctx, call.given);
    atn_free(ctx, (void *)call.operands);
    atn_cli_log_verbose(false);
    if (call.misused) return 2;
    return status || !arrived ? 1 : 0;
}
