/* attune tune: finds and stores the fastest correct variant of a kernel, of all shipped kernels, or of the steps of a
 * program. */
#include "cli/tune_list.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "cli/program.h"
#include "cli/serve.h"
#include "plan/tune.h"
#include "tune/cover.h"
#include "tune/spread.h"
#include "tune/strategy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double BUDGET_S = 60, COVER_PART = 0.1, SEAMS_PART = 0.3;

typedef struct tuning {
    atn_cli_call *call;
    atn_cli_work list;
    atn_device *device;
    atn_device *devices[ATN_MOST_DEVICES]; /* the same one, and others of a list */
    int32_t n_devices;
    atn_wisdom *wisdom;
    atn_tune_options options;
    atn_tune_result *results;
    int32_t now;            /* the one at work */
    double since_s;         /* when the first began */
    bool lines;             /* --progress */
    atn_serve *serve;       /* NULL: no live view */
    int32_t shown, events;  /* candidates that were shown there: of this workload, of all */
    char line[320];         /* what it said last */
    atn_cli_kernel program; /* programs NULL: kernels are tuned */
    atn_plan_given given;   /* of the program */
    char *space;            /* text of --space, or NULL */
    atn_spread *spread;     /* ranks or devices that try candidates, too; NULL: there are none */
} tuning;

/* ---- options ---- */

static atn_status read_tolerance(tuning *t) {
    const char *text = atn_cli_value(t->call, "tolerance");
    char *end;
    if (!text) return ATN_OK;
    t->options.tolerance = atn_number_read(text, &end);
    if (end == text || *end || !(t->options.tolerance >= 0) || !isfinite(t->options.tolerance))
        return atn_cli_misuse(t->call, "--tolerance cannot be '%s'; it takes a number from 0", text);
    return ATN_OK;
}

static atn_status read_strategy(tuning *t) {
    t->options.strategy = atn_cli_value(t->call, "strategy");
    if (atn_strategy_find(t->options.strategy)) return ATN_OK;
    char names[256] = "";
    size_t at = 0;
    for (const atn_strategy *const *k = ATN_STRATEGIES; *k && at < sizeof names; ++k)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : "", (*k)->name);
    return atn_cli_misuse(t->call, "--strategy cannot be '%s'; there are %s", t->options.strategy, names);
}

static atn_status read_budget(tuning *t) {
    const char *text = atn_cli_value(t->call, "budget");
    double evaluations;
    atn_status status = atn_cli_read_whole(t->call, "evals", 1, 0, &evaluations);
    if (status) return status;
    t->options.evaluations = (int64_t)evaluations;
    if (!text) {
        t->options.budget_s = evaluations > 0 ? 0 : BUDGET_S;
        return ATN_OK;
    }
    size_t length = strlen(text);
    if (length > 1 && text[length - 1] == '%') { /* of the space */
        char *end;
        t->options.fraction = atn_number_read(text, &end) / 100;
        if (*end == '%' && t->options.fraction > 0 && t->options.fraction <= 1) return ATN_OK;
    } else if (atn_cli_read_duration(text, &t->options.budget_s)) {
        return ATN_OK;
    }
    return atn_cli_misuse(
        t->call, "--budget cannot be '%s'; it takes a time, 60s, 10m or 2h, or a part of the space, 5%%", text);
}

static atn_status read_space(tuning *t) {
    const char *file = atn_cli_value(t->call, "space");
    size_t length;
    if (!file || atn_cli_has(t->call, "command")) return ATN_OK; /* a command's is read with what it imports */
    atn_status status = atn_file_read(t->call->ctx, file, 1 << 22, &t->space, &length);
    t->options.space = t->space;
    t->options.space_name = file;
    return status;
}

static atn_status read_options(tuning *t) {
    atn_cli_call *call = t->call;
    double seed = 0;
    atn_status status = read_budget(t);
    if (!status) status = atn_cli_read_whole(call, "seed", 0, 0, &seed);
    if (!status) status = read_tolerance(t);
    if (!status) status = read_strategy(t);
    if (!status) status = read_space(t);
    t->options.seed = (uint64_t)seed;
    t->options.reproducible = atn_cli_has(call, "reproducible");
    t->options.cold = atn_cli_has(call, "cold");
    t->options.again = atn_cli_has(call, "again");
    t->options.resume = atn_cli_has(call, "resume");
    t->lines = atn_cli_has(call, "progress");
    return status;
}

/* ---- while it works ---- */

/* For a program that watches: a line of JSON whenever something is new. */
static bool print_progress(void *user, const atn_tune_progress *p) {
    tuning *t = user;
    char line[sizeof t->line];
    const atn_cli_label *at = &t->list.labels[t->now];
    snprintf(line, sizeof line,
             "\"shape\": \"%s\", \"doing\": \"%s\", \"done\": %lld, \"failed\": %lld, \"best_s\": %.9g", at->shape,
             p->phase, (long long)p->tried, (long long)p->failed, p->best_s);
    if (strcmp(line, t->line) == 0) return true;
    memcpy(t->line, line, sizeof line);
    fprintf(t->call->err, "{%s, \"elapsed_s\": %.3f}\n", line, p->elapsed_s);
    return fflush(t->call->err) == 0;
}

/* What is new of the candidates, to the live page. */
static void show_steps(tuning *t, const atn_tune_progress *p) {
    if (p->n_steps < t->shown) t->shown = 0; /* another workload */
    for (; t->serve && t->shown < p->n_steps; ++t->shown) {
        const atn_tune_step *step = &p->steps[t->shown];
        json_t *event =
            json_pack("{s:i,s:f,s:s,s:s,s:s}", "n", (int)++t->events, "ratio", step->ratio, "variant", step->variant,
                      "kernel", t->list.labels[t->now].kernel, "shape", t->list.labels[t->now].shape);
        if (event && step->outcome != ATN_OUTCOME_RIGHT)
            json_object_set_new(event, "failed", json_string(atn_outcome_name(step->outcome)));
        atn_serve_event(t->serve, event);
    }
}

static bool show_progress(void *user, const atn_tune_progress *p) {
    tuning *t = user;
    show_steps(t, p);
    if (t->lines) return print_progress(user, p);
    char best[64] = "", left[48], gain[32] = "";
    if (p->best_s > 0 && p->default_s > p->best_s) snprintf(gain, sizeof gain, " (%.2fx)", p->default_s / p->best_s);
    if (p->best_s > 0) atn_cli_print_time(p->best_s, best, sizeof best);
    atn_cli_print_budget(&t->options, atn_clock_seconds() - t->since_s, t->now, t->list.n, p->tried, left, sizeof left);
    atn_cli_progress(t->call, "%s %s: %s, %lld tried, %lld failed%s, best %s%s", t->list.labels[t->now].kernel,
                     t->list.labels[t->now].shape, p->phase, (long long)p->tried, (long long)p->failed, left,
                     *best ? best : "none yet", gain);
    return true;
}

/* What is left of the time, shared by those that are left: who needs less leaves it to the later ones. */
static double share(const tuning *t, double until_s, int32_t index) {
    double left = until_s - atn_clock_seconds();
    int32_t others = t->list.n - index;
    return left > 0 ? left / (others > 0 ? others : 1) : 0.01;
}

/* Workloads of one kernel are adjacent; few variants should serve all its shapes. */
static atn_status cover_kernel(tuning *t, int32_t from, int32_t to, double budget_s) {
    int32_t right = 0;
    for (int32_t k = from; k < to; ++k) right += t->results[k].variant != NULL && !t->results[k].stopped;
    if (to - from < 2 || right < to - from) return ATN_OK;
    atn_tune_options options = t->options;
    t->now = from;
    if (options.budget_s > 0) options.budget_s = budget_s / (2 * (to - from));
    return atn_cover(t->device, t->wisdom, t->list.work + from, to - from, &options, t->results + from, NULL);
}

static bool last_of_kernel(const tuning *t, int32_t k) {
    return k + 1 == t->list.n || strcmp(t->list.labels[k].kernel, t->list.labels[k + 1].kernel) != 0;
}

/* Its seams; then its steps, as they are with those, are added to the list. */
static atn_status tune_seams(tuning *t, const atn_tune_options *options) {
    const atn_device_info *info = atn_device_get_info(t->device);
    atn_status status = atn_plan_tune(t->device, t->wisdom, t->program.programs, &t->given, options, &t->results[0]);
    if (status != ATN_OK || t->results[0].stopped) return status;
    status = atn_cli_program_plan(&t->program, &t->given, info);
    if (status == ATN_OK) status = atn_cli_work_steps(&t->program, info, &t->list);
    atn_tune_result *more = status == ATN_OK ? atn_zalloc(t->call->ctx, ((size_t)t->list.n + 1) * sizeof *more) : NULL;
    if (!more) return status == ATN_OK ? ATN_ERR_MEMORY : status;
    more[0] = t->results[0];
    atn_free(t->call->ctx, t->results);
    t->results = more;
    return ATN_OK;
}

static atn_status tune_all(tuning *t) {
    atn_status status = ATN_OK;
    t->since_s = atn_clock_seconds();
    double budget = t->options.budget_s, until = t->since_s + budget;
    t->options.progress = show_progress;
    t->options.user = t;
    int32_t from = 0;
    for (int32_t k = 0; k < t->list.n && status == ATN_OK; ++k) {
        atn_tune_options options = t->options;
        t->now = k;
        if (budget > 0 && t->list.n > 1) options.budget_s = (1 - COVER_PART) * share(t, until, k);
        if (k == 0 && t->program.programs) {
            options.budget_s = SEAMS_PART * budget;
            status = tune_seams(t, &options);
            from = 1;
            if (status == ATN_OK && t->results[0].stopped) break;
            continue;
        }
        status = atn_tune(t->device, t->wisdom, &t->list.work[k], &options, &t->results[k]);
        if (status == ATN_OK && t->results[k].stopped) break;
        if (status == ATN_OK && last_of_kernel(t, k)) {
            status = cover_kernel(t, from, k + 1, budget > 0 ? COVER_PART * (k + 1 - from) * share(t, until, k) : 0);
            from = k + 1;
        }
    }
    atn_cli_progress_end(t->call);
    return status;
}

/* ---- the verb ---- */

static void end(tuning *t) {
    const atn_ctx *ctx = t->call->ctx;
    for (int32_t k = 0; k < t->list.n && t->results; ++k) atn_tune_result_free(&t->results[k]);
    atn_free(ctx, t->results);
    atn_free(ctx, t->space);
    atn_cli_work_free(&t->list);
    if (t->program.call) atn_cli_kernel_close(&t->program);
    atn_spread_free(t->spread);
    atn_wisdom_close(t->wisdom);
    for (int32_t k = 0; k < t->n_devices; ++k) atn_device_close(t->devices[k]);
    atn_serve_close(t->serve);
}

/* The page keeps what was found for as long as it is open; others may tune meanwhile. */
static void end_show(const tuning *t) {
    json_t *summary = json_pack("{s:b}", "summary", 1);
    for (int32_t k = 0; k < t->list.n && summary; ++k) {
        const atn_tune_result *r = &t->results[k];
        char name[160];
        snprintf(name, sizeof name, "%s %s", t->list.labels[k].kernel, t->list.labels[k].shape);
        json_object_set_new(summary, name,
                            json_pack("{s:s,s:f,s:f,s:I}", "variant", r->variant ? r->variant : "none was right",
                                      "best_s", r->best_s, "default_s", r->default_s, "tried", (json_int_t)r->tried));
    }
    atn_serve_end(t->serve, summary);
}

/* Everything was tried, and nothing can be used: no success, although all was said. */
static atn_status check_won(const tuning *t) {
    const atn_cli_label *first = NULL;
    int32_t others = -1;
    char more[32] = "";
    for (int32_t k = t->list.n - 1; k >= 0; --k) {
        if (t->results[k].variant || t->results[k].stopped) continue;
        first = &t->list.labels[k];
        ++others;
    }
    if (!first) return ATN_OK;
    if (others > 0) snprintf(more, sizeof more, ", and %d more", others);
    return atn_fail(
        t->call->ctx, ATN_ERR_UNSUPPORTED,
        "%s %s%s: no variant of the space was right; 'attune wisdom show %s' says why those that were tried "
        "were not",
        first->kernel, first->shape, more, first->kernel);
}

/* A file that holds a program which is no single kernel is tuned as a whole. */
static atn_status list_work(tuning *t) {
    atn_cli_call *call = t->call;
    atn_status status = ATN_OK;
    if (access(call->operands[0], F_OK) == 0) status = atn_cli_kernel_open(call, false, NULL, &t->program);
    if (!status && !t->program.programs) return atn_cli_work_list(call, atn_device_get_info(t->device), &t->list);
    if (!status && atn_cli_value(call, "report"))
        return atn_cli_misuse(call, "--report is for kernels; '%s' is a program", call->operands[0]);
    if (!status) status = atn_cli_program_give(&t->program, &t->given);
    if (!status) status = atn_cli_program_check(&t->program, &t->given);
    return status ? status : atn_cli_work_program(&t->program, &t->given, &t->list);
}

/* Ranks with devices like the first one's try candidates for it; it alone remembers. */
static atn_status join_ranks(tuning *t, atn_status status) {
    if (status) return atn_ranks_agree(t->call->ranks, status);
    status = atn_spread_open(t->call->ranks, t->device, &t->spread);
    if (!status && t->call->ranks->rank) status = atn_spread_serve(t->spread, t->options.program);
    t->options.spread = t->spread;
    return status;
}

static atn_status run(atn_cli_call *call) {
    tuning t = {.call = call};
    atn_status status = read_options(&t);
    bool unwrap = call->n_operands && strcmp(call->operands[0], "unwrap") == 0;
    if (!status && atn_cli_has(call, "serve") && (atn_cli_has(call, "command") || unwrap))
        status = atn_cli_misuse(call, "--serve is for kernels and programs");
    if (!status && call->ranks->rank && (unwrap || atn_cli_has(call, "command"))) return ATN_OK; /* the first rank's */
    if (!status && atn_cli_has(call, "command")) {
        status = atn_cli_tune_command(call, &t.options);
        end(&t);
        return status;
    }
    if (!status && call->n_operands == 0)
        status = atn_cli_misuse(call, "needs a kernel, a program, all or unwrap; or --command");
    if (!status && call->ranks->rank == 0) status = atn_cli_check_report(call);
    if (!status) status = atn_cli_open_devices(call, t.devices, &t.n_devices);
    t.device = t.devices[0];
    if (!status && unwrap) {
        status = atn_cli_tune_unwrap(call, t.device, &t.options);
        end(&t);
        return status;
    }
    if (call->ranks->count > 1) status = join_ranks(&t, status);
    if (call->ranks->rank) {
        end(&t);
        return status;
    }
    if (!status && t.n_devices > 1 && call->ranks->count == 1)
        status = atn_spread_open_devices(t.devices, t.n_devices, t.options.program, &t.spread);
    t.options.spread = t.spread;
    if (!status) status = list_work(&t);
    if (!status) status = atn_wisdom_open(call->ctx, NULL, false, &t.wisdom);
    if (!status && !(t.results = atn_zalloc(call->ctx, ((size_t)t.list.n + 1) * sizeof *t.results)))
        status = ATN_ERR_MEMORY;
    if (!status) status = atn_serve_open(call, "tune", call->operands[0], &t.serve);
    if (!status) status = tune_all(&t);
    if (!status && t.spread) status = atn_spread_end(t.spread);
    bool stopped = false;
    for (int32_t k = 0; k < t.list.n && t.results; ++k) stopped = stopped || t.results[k].stopped;
    if (!status) status = atn_cli_print_tuned(call, atn_device_get_info(t.device), &t.list, t.results);
    const char *report = atn_cli_value(call, "report");
    if (!status && report && !stopped)
        status = atn_cli_report_tuned(call, t.device, report, t.space, &t.list, t.results);
    if (t.serve && !status) end_show(&t);
    if (!status && stopped)
        status = atn_fail(call->ctx, ATN_ERR_CANCELLED, "cancelled; measurements are kept, --resume continues");
    if (!status) status = check_won(&t);
    end(&t);
    return status;
}

const atn_cli_verb ATN_VERB_TUNE = {
    .name = "tune",
    .summary = "find and store the fastest variant of a kernel by measurement",
    .synopsis = "[KERNEL|PROGRAM|NAME|all|unwrap]",
    .paragraphs =
        (const char *const[]){
            "Tries variants of the kernel on the device: the estimate, known good ones, then candidates of a search "
            "strategy. Every candidate is verified against a reference before it is timed, in a separate process, so "
            "that crashes and hangs do no harm. Everything is stored in the wisdom database at once: an interrupted "
            "tuning continues where it was, and nothing is measured twice unless --again is given.",
            "A shipped kernel is tuned at a set of shapes unless --size is given; all tunes all shipped kernels and "
            "divides the budget among them. USED_FLOAT is SP unless --define sets it.",
            "PROGRAM: a file whose program is not a single kernel. First the fusion of its steps, by runs of the whole "
            "program on synthetic data (integers are 0), for three tenths of the time; then its steps. attune run and "
            "show use both for sizes close to --size on the same device.",
            "unwrap: the tuning parameters of the phase unwrapper (spaces/unwrap.lanai), on whole frames of a known "
            "surface, at 512x512, 1024x1024 and 2048x2048, or at --size ROWSxCOLUMNS; attune unwrap then uses the best "
            "ones for frames of about that size.",
            "--command \"./mykernel --bx {bx} --by {by}\" --space FILE: tunes any command; {name} stands for the value "
            "of a parameter. Words are separated by blanks, quotes keep them together, NAME={value} in front sets the "
            "environment; no shell is involved. Its time is measured by the clock, or taken from its output: --time "
            "\"elapsed {} ms\". An exit status other than 0 is a wrong result; runs that crash or exceed --timeout are "
            "skipped. JSON: command, variant, best_s, low_s, high_s, worst_s, tried, failed, seconds, tie, "
            "runner_up, runner_up_ratio, failure (the first). Nothing is stored as wisdom.",
            "JSON: kernel, device, shape, default_s (the estimate), best_s, worst_s, variant, tried, failed (wrong, "
            "crash, hang, memory, build), seconds, fraction_of_peak, tie, runner_up, choices (the Pareto front of "
            "speed and accuracy); several workloads: results.",
            NULL},
    .options =
        (const atn_cli_option[]){
            ATN_OPTION("budget", "TIME", "time budget: 60s, 10m; or a fraction of the space: 5%; default: 60s"),
            ATN_OPTION("evals", "N", "maximum number of candidates per shape"),
            ATN_OPTION("strategy", "NAME", "search strategy; see attune replay"),
            ATN_OPTION("space", "FILE", "a space in LANAI instead of the shipped one"),
            ATN_OPTION("command", "TEXT", "tune a command: {name} is a parameter of --space"),
            ATN_OPTION("time", "TEXT", "where the command prints its time: \"time: {} ms\"; else the clock",
                       .with = "command"),
            ATN_OPTION("timeout", "TIME", "time limit of one run of the command; default: 60s", .with = "command"),
            ATN_OPTION("tolerance", "X", "relative error to accept beyond rounding, e.g. 1e-3"),
            ATN_FLAG("reproducible", "only variants whose results do not change with the variant"),
            ATN_FLAG("cold", "flush caches before each run"),
            ATN_FLAG("resume", "continue: known results count towards --evals"),
            ATN_FLAG("again", "measure known variants again"),
            ATN_FLAG("progress", "write JSON lines on standard error as results arrive"),
            ATN_OPTION("report", "FILE", "write an HTML report"),
            ATN_SERVE_OPTION,
            ATN_OPTION("seed", "N", "seed of inputs and search; default: 0"),
            ATN_CLI_KERNEL_OPTIONS,
            {0}},
    .examples =
        (const atn_cli_pair[]){
            {"attune tune gemm --budget 60s", "a shipped kernel, at its set of shapes"},
            {"attune tune mv.xml --define USED_FLOAT=DP --size A=4096x4096 --evals 50", "your own kernel at one shape"},
            {"attune tune cg.atn --size b=512x512 --size x=512x512", "a program: fusion, then its steps"},
            {"attune tune unwrap --size 1024x1024", "the phase unwrapper"},
            {"attune tune all --budget 10m --device cuda", "all shipped kernels, on a GPU"},
            {"attune tune --command \"OMP_NUM_THREADS={threads} ./stencil {block}\" --space s.lanai",
             "your own program"},
            {0}},
    .min_operands = 0,
    .max_operands = 1,
    .ranks = true,
    .run = run,
};
