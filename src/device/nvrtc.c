/* Compiling with NVRTC: options, the log and its first error, the time limit, the cubin. */
#include "device/nvrtc.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NVRTC results that are distinguished; everything else is a failed build. */
enum { OUT_OF_MEMORY = 1, INVALID_OPTION = 5, COMPILATION = 6, BUILTINS = 7, CANCELLED = 16 };

static const double DEFAULT_TIMEOUT_S = 120;
static const char BLANKS[] = " \t\n";

void atn_nvrtc_options(const atn_build *build, const char *arch, atn_text *out) {
    atn_text_printf(out, "--gpu-architecture=%s --std=c++17 -default-device %s", arch,
                    build->fast_math ? "--use_fast_math" : "--fmad=true");
    const char *more = atn_environment(ATN_ENV_CUDA_FLAGS); /* for every build: --ptxas-options=-O1, say */
    if (build->flags && *build->flags) atn_text_printf(out, " %s", build->flags);
    if (more) atn_text_printf(out, " %s", more);
}

/* The options for NVRTC, in `arena`. The include path is separate since it may contain blanks. */
static atn_status split_options(atn_arena *arena, const char *text, const char *include, const char *const **options,
                                int *count) {
    size_t room = strlen(text) / 2 + 2; /* every option but the last has a blank behind it */
    const char **list = atn_arena_alloc(arena, room * sizeof *list);
    char *copy = atn_arena_strdup(arena, text), *rest = NULL;
    if (!list || !copy) return ATN_ERR_MEMORY;
    int n = 0;
    for (char *word = strtok_r(copy, BLANKS, &rest); word; word = strtok_r(NULL, BLANKS, &rest)) list[n++] = word;
    if (*include && !(list[n++] = atn_arena_printf(arena, "--include-path=%s", include))) return ATN_ERR_MEMORY;
    *options = list;
    *count = n;
    return ATN_OK;
}

/* ---- the log ---- */

/* Is `word` in the line as a word of its own, behind a blank: "k.cu(3): error: ...", "ptxas error   : ..."? */
static bool line_has(const char *line, size_t length, const char *word) {
    size_t n = strlen(word);
    for (size_t k = 1; k + n < length; ++k)
        if (line[k - 1] == ' ' && memcmp(line + k, word, n) == 0 && strchr(": #", line[k + n])) return true;
    return false;
}

/* A diagnostic names its place before the word; the source lines that NVRTC quotes are indented. */
static bool is_diagnostic(const char *line, size_t length, const char *word) {
    return length > 0 && line[0] != ' ' && strncmp(line, "Remark", 6) != 0 && line_has(line, length, word);
}

/* Hands the log to the context, counts its warnings, and finds the first error (else the first line). */
static const char *read_log(const atn_ctx *ctx, const char *name, const char *log, int32_t *warnings, int *length) {
    const char *first = NULL, *error = NULL;
    size_t first_length = 0, error_length = 0;
    *warnings = 0;
    for (const char *line = log; *line;) {
        size_t n = strcspn(line, "\n");
        if (n > 0) {
            atn_log(ctx, ATN_LOG_INFO, "nvrtc: %s: %.*s", name, (int)(n < 900 ? n : 900), line);
            if (!first) first = line, first_length = n;
            if (!error && is_diagnostic(line, n, "error")) error = line, error_length = n;
            if (is_diagnostic(line, n, "warning")) ++*warnings;
        }
        line += n + (line[n] == '\n');
    }
    size_t n = error ? error_length : first_length;
    *length = (int)(n < 700 ? n : 700);
    return error ? error : first ? first : "";
}

static atn_status get_log(const atn_ctx *ctx, const atn_nvrtc *nvrtc, atn_nvrtc_program *program, char **log) {
    size_t bytes = 0;
    if (nvrtc->log_size(program, &bytes) != 0) bytes = 0;
    *log = atn_zalloc(ctx, bytes + 1);
    if (!*log) return ATN_ERR_MEMORY;
    if (bytes > 0 && nvrtc->log(program, *log) != 0) **log = 0;
    return ATN_OK;
}

/* ---- the time limit ---- */

typedef struct limit {
    const atn_ctx *ctx;
    double deadline; /* on the clock of atn_clock_seconds */
} limit;

/* NVRTC asks between its passes whether to stop. Once true it stays true. */
static int should_stop(void *payload, void *reserved) {
    (void)reserved;
    const limit *l = payload;
    return atn_check_cancel(l->ctx) != ATN_OK || atn_clock_seconds() > l->deadline;
}

/* ---- compiling ---- */

static const char *name_of(const atn_build *build) { return build->name ? build->name : "kernel"; }

static double timeout_of(const atn_build *build) { return build->timeout_s > 0 ? build->timeout_s : DEFAULT_TIMEOUT_S; }

static atn_status fail_build(const atn_ctx *ctx, const atn_nvrtc *nvrtc, const atn_build *build, const char *arch,
                             int result, const char *said, int length) {
    const char *name = name_of(build);
    if (result == OUT_OF_MEMORY)
        return atn_fail(ctx, ATN_ERR_MEMORY, "%s: NVRTC ran out of memory while compiling", name);
    if (result == CANCELLED) {
        atn_status cancelled = atn_check_cancel(ctx);
        if (cancelled != ATN_OK) return cancelled;
        return atn_fail(ctx, ATN_ERR_TIMEOUT, "%s: NVRTC took longer than %g s and was stopped", name,
                        timeout_of(build));
    }
    if (result == BUILTINS)
        return atn_fail(ctx, ATN_ERR_BUILD,
                        "%s: NVRTC did not find libnvrtc-builtins.so.%d.%d; it belongs next to libnvrtc.so", name,
                        nvrtc->major, nvrtc->minor);
    if (length == 0) return atn_fail(ctx, ATN_ERR_BUILD, "%s for %s: NVRTC gave result %d", name, arch, result);
    return atn_fail(ctx, ATN_ERR_BUILD, "%s for %s: %.*s", name, arch, length, said);
}

static atn_status get_cubin(const atn_ctx *ctx, const atn_nvrtc *nvrtc, const atn_build *build,
                            atn_nvrtc_program *program, atn_nvrtc_output *out) {
    size_t bytes = 0;
    int result = nvrtc->cubin_size(program, &bytes);
    if (result != 0 || bytes == 0)
        return atn_fail(ctx, ATN_ERR_BUILD,
                        "%s: NVRTC made no cubin (result %d); is the architecture a real one, "
                        "sm_...?",
                        name_of(build), result);
    char *cubin = atn_alloc(ctx, bytes);
    if (!cubin) return ATN_ERR_MEMORY;
    result = nvrtc->cubin(program, cubin);
    if (result != 0) {
        atn_free(ctx, cubin);
        return atn_fail(ctx, ATN_ERR_BUILD, "%s: NVRTC did not hand out its cubin (result %d)", name_of(build), result);
    }
    out->cubin = cubin;
    out->length = bytes;
    return ATN_OK;
}

/* Compiles the program; its log, and on success its cubin, end in `out`. */
static atn_status compile(const atn_ctx *ctx, const atn_nvrtc *nvrtc, const atn_build *build, const char *arch,
                          const char *const *options, int count, atn_nvrtc_program *program, atn_nvrtc_output *out) {
    limit l = {ctx, atn_clock_seconds() + timeout_of(build)};
    if (nvrtc->set_callback) nvrtc->set_callback(program, should_stop, &l);
    int result = nvrtc->compile(program, count, options);
    atn_status status = get_log(ctx, nvrtc, program, &out->log);
    if (status != ATN_OK) return status;
    int length = 0;
    const char *said = read_log(ctx, name_of(build), out->log, &out->warnings, &length);
    if (result != 0) return fail_build(ctx, nvrtc, build, arch, result, said, length);
    return get_cubin(ctx, nvrtc, build, program, out);
}

atn_status atn_nvrtc_run(const atn_ctx *ctx, const atn_nvrtc *nvrtc, const atn_build *build, const char *arch,
                         atn_nvrtc_output *out) {
    *out = (atn_nvrtc_output){0};
    atn_status status = atn_check_cancel(ctx);
    if (status != ATN_OK) return status;
    atn_arena arena = {.ctx = ctx};
    atn_text text = {.ctx = ctx};
    atn_nvrtc_program *program = NULL;
    const char *const *options = NULL;
    int count = 0;
    atn_nvrtc_options(build, arch, &text);
    status = atn_text_status(&text);
    if (status == ATN_OK) status = split_options(&arena, atn_text_str(&text), nvrtc->include, &options, &count);
    const char *file = status == ATN_OK ? atn_arena_printf(&arena, "%s.cu", name_of(build)) : NULL;
    if (!file) {
        status = ATN_ERR_MEMORY;
    } else {
        int result = nvrtc->create(&program, build->source, file, 0, NULL, NULL);
        status = result == 0 ? compile(ctx, nvrtc, build, arch, options, count, program, out)
                             : fail_build(ctx, nvrtc, build, arch, result, "", 0);
    }
    if (program) nvrtc->destroy(&program);
    atn_text_free(&text);
    atn_arena_free(&arena);
    return status;
}

void atn_nvrtc_output_free(const atn_ctx *ctx, atn_nvrtc_output *output) {
    atn_free(ctx, output->cubin);
    atn_free(ctx, output->log);
    *output = (atn_nvrtc_output){0};
}

bool atn_nvrtc_present(const atn_ctx *ctx, int *major, int *minor, char why[ATN_MESSAGE_BYTES]) {
    atn_nvrtc nvrtc;
    *major = *minor = 0;
    if (!atn_nvrtc_load(&nvrtc, 0, why, ATN_MESSAGE_BYTES)) return false;
    *major = nvrtc.major;
    *minor = nvrtc.minor;
    atn_log(ctx, ATN_LOG_DEBUG, "nvrtc: version %d.%d, headers in %s", *major, *minor, nvrtc.include);
    return true;
}

atn_status atn_nvrtc_compile(const atn_ctx *ctx, const atn_build *build, const char *arch, char **cubin,
                             size_t *length) {
    *cubin = NULL;
    *length = 0;
    atn_nvrtc nvrtc;
    char why[ATN_MESSAGE_BYTES];
    if (!atn_nvrtc_load(&nvrtc, 0, why, sizeof why)) return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s", why);
    atn_nvrtc_output out;
    atn_status status = atn_nvrtc_run(ctx, &nvrtc, build, arch, &out);
    if (status == ATN_OK) {
        *cubin = out.cubin;
        *length = out.length;
        out.cubin = NULL;
    }
    atn_nvrtc_output_free(ctx, &out);
    return status;
}
