/* attune space: the number of points of a search space, the points, and why a point is excluded. */
#include "cli/space_file.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MANY = 1e7; /* points to list that deserve a warning */

typedef struct space_job {
    atn_cli_call *call;
    atn_space *space;
    int32_t *levels; /* [parameters] */
    double begun;    /* when reading began */
} space_job;

/* ---- points, streamed: one on a line, or items of a JSON array ---- */

typedef struct point_stream {
    space_job *job;
    atn_text line;
    int64_t count;
    bool failed; /* out of memory */
} point_stream;

static json_t *json_setting(const atn_ctx *ctx, const atn_setting *s) {
    switch (s->kind) {
    case ATN_SETTING_WHOLE:
        return json_integer((json_int_t)s->whole);
    case ATN_SETTING_BOOL:
        return json_boolean(s->whole);
    case ATN_SETTING_REAL:
        return json_real(s->number);
    case ATN_SETTING_TEXT:
        break;
    }
    return atn_cli_json_text(ctx, s->text);
}

static int append(const char *bytes, size_t length, void *text) {
    atn_text_add_bytes(text, bytes, length);
    return ((atn_text *)text)->failed ? -1 : 0;
}

static void add_json_point(point_stream *stream, const int32_t *levels) {
    const atn_space *space = stream->job->space;
    json_t *point = json_object();
    for (int32_t k = 0; k < atn_space_count_parameters(space); ++k) {
        json_t *value = json_setting(stream->line.ctx, atn_space_setting(space, k, levels[k]));
        if (json_object_set_new_nocheck(point, atn_space_parameter(space, k), value) != 0) stream->failed = true;
    }
    atn_text_add(&stream->line, stream->count ? ",\n    " : "\n    ");
    if (stream->failed || json_dump_callback(point, append, &stream->line, JSON_COMPACT) != 0) stream->failed = true;
    json_decref(point);
}

static bool print_point(void *user, const int32_t *levels) {
    point_stream *stream = user;
    atn_text_clear(&stream->line);
    if (stream->job->call->json) {
        add_json_point(stream, levels);
    } else {
        atn_space_print(stream->job->space, levels, &stream->line);
        atn_text_add(&stream->line, "\n");
    }
    stream->failed |= stream->line.failed;
    if (stream->failed) return false;
    ++stream->count;
    return fwrite(stream->line.data, 1, stream->line.length, stream->job->call->out) == stream->line.length;
}

static void begin_points(point_stream *stream) {
    if (stream->job->call->json) fputs("{\n  \"points\": [", stream->job->call->out);
    stream->job->call->printed = true;
}

/* A JSON object is closed whatever happened. */
static atn_status end_points(point_stream *stream, atn_status status) {
    atn_text_free(&stream->line);
    if (stream->failed && !status)
        status = atn_fail(stream->job->call->ctx, ATN_ERR_MEMORY, "out of memory: a point could not be printed");
    if (stream->job->call->json)
        fprintf(stream->job->call->out, "%s],\n  \"complete\": %s\n}\n", stream->count ? "\n  " : "",
                status ? "false" : "true");
    return status;
}

/* ---- the actions ---- */

static atn_status act_list(space_job *job, const char *value) {
    (void)value;
    point_stream stream = {.job = job, .line = {.ctx = job->call->ctx}};
    atn_count count;
    bool exact; /* what takes long to count begins without */
    atn_status status = atn_space_count_soon(job->call->ctx, job->space, &count, &exact);
    if (status) return status;
    if (count.number >= MANY)
        atn_log(job->call->ctx, ATN_LOG_WARNING, "%s%s points are listed; Ctrl-C stops, --sample N takes some of them",
                exact || !isfinite(count.number) ? "" : "up to ", count.digits);
    begin_points(&stream);
    status = atn_space_list(job->call->ctx, job->space, print_point, &stream);
    return end_points(&stream, status);
}

static bool read_number(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static atn_status act_sample(space_job *job, const char *value) {
    atn_cli_call *call = job->call;
    uint64_t wanted, seed = 1;
    const char *given = atn_cli_value(call, "seed");
    if (!read_number(value, &wanted)) return atn_cli_misuse(call, "--sample cannot be '%s'; it takes a number", value);
    if (given && !read_number(given, &seed))
        return atn_cli_misuse(call, "--seed cannot be '%s'; it takes a number", given);
    point_stream stream = {.job = job, .line = {.ctx = call->ctx}};
    atn_random random;
    atn_random_seed(&random, seed);
    atn_status status = wanted ? atn_space_draw(call->ctx, job->space, atn_random_next, &random, job->levels) : ATN_OK;
    if (status) return status; /* before anything is printed */
    begin_points(&stream);
    for (uint64_t k = 0; k < wanted && !status; ++k) {
        if (!print_point(&stream, job->levels)) break;
        status = atn_check_cancel(call->ctx);
        if (!status && k + 1 < wanted)
            status = atn_space_draw(call->ctx, job->space, atn_random_next, &random, job->levels);
    }
    return end_points(&stream, status);
}

static atn_status act_neighbours(space_job *job, const char *value) {
    point_stream stream = {.job = job, .line = {.ctx = job->call->ctx}};
    atn_status status = atn_space_point(job->call->ctx, job->space, value, job->levels);
    if (status) return status;
    begin_points(&stream);
    status = atn_space_neighbours(job->call->ctx, job->space, job->levels, atn_cli_has(job->call, "near"), print_point,
                                  &stream);
    return end_points(&stream, status);
}

static atn_status act_why(space_job *job, const char *value) {
    atn_cli_call *call = job->call;
    bool allowed;
    const char *by;
    atn_status status = atn_space_point(call->ctx, job->space, value, job->levels);
    if (!status) status = atn_space_why(call->ctx, job->space, job->levels, &allowed, &by);
    if (status) return status;
    if (!call->json) {
        fprintf(call->out, allowed ? "allowed\n" : "excluded by %s\n", by);
        return ATN_OK;
    }
    json_t *root = json_object();
    json_object_set_new(root, "allowed", json_boolean(allowed));
    if (json_object_set_new(root, "by", allowed ? json_null() : atn_cli_json_text(call->ctx, by)) != 0) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(call, root);
}

static atn_status count_both(space_job *job, atn_count *count, atn_count *product, double *seconds) {
    atn_status status = atn_space_count(job->call->ctx, job->space, count);
    *seconds = atn_clock_seconds() - job->begun;
    return status ? status : atn_space_product(job->call->ctx, job->space, product);
}

static atn_status act_count(space_job *job, const char *value) {
    (void)value;
    atn_cli_call *call = job->call;
    atn_count count, product;
    double seconds;
    atn_status status = count_both(job, &count, &product, &seconds);
    if (status) return status;
    if (!call->json) {
        fprintf(call->out, "%s\n", count.digits);
        return ATN_OK;
    }
    json_t *root = json_object();
    if (json_object_set_new(root, "count", atn_cli_json_count(&count)) != 0 ||
        json_object_set_new(root, "product", atn_cli_json_count(&product)) != 0 ||
        json_object_set_new(root, "parameters", json_integer(atn_space_count_parameters(job->space))) != 0 ||
        json_object_set_new(root, "constraints", json_integer(atn_space_count_constraints(job->space))) != 0 ||
        json_object_set_new(root, "seconds", json_real(seconds)) != 0) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(call, root);
}

/* ---- the report ---- */

static json_t *report_json(const atn_ctx *ctx, const atn_prune *rows, int32_t n) {
    json_t *list = json_array();
    for (int32_t k = 0; k < n; ++k) {
        json_t *row = json_object();
        if (json_object_set_new(row, "name", atn_cli_json_text(ctx, rows[k].constraint)) != 0 ||
            json_object_set_new(row, "alone", atn_cli_json_count(&rows[k].alone)) != 0 ||
            json_object_set_new(row, "together", atn_cli_json_count(&rows[k].together)) != 0 ||
            json_object_set_new(row, "only", atn_cli_json_count(&rows[k].only)) != 0) {
            json_decref(row);
            row = NULL;
        }
        if (json_array_append_new(list, row) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static atn_status print_report(atn_cli_call *call, const atn_prune *rows, int32_t n) {
    atn_text table = {.ctx = call->ctx}, page = {.ctx = call->ctx};
    atn_text_add(&table, "constraint\talone\ttogether\tonly\t\n");
    for (int32_t k = 0; k < n; ++k) {
        atn_cli_add_cell(&table, rows[k].constraint);
        atn_text_printf(&table, "%s\t%s\t%s\t\n", rows[k].alone.digits, rows[k].together.digits, rows[k].only.digits);
    }
    atn_cli_add_table(&page, atn_text_str(&table), "lrrr");
    page.failed |= table.failed;
    atn_status status = atn_cli_print_text(call, "report", &page);
    atn_text_free(&table);
    atn_text_free(&page);
    return status;
}

static atn_status act_report(space_job *job, const char *value) {
    (void)value;
    atn_cli_call *call = job->call;
    int32_t n = atn_space_count_constraints(job->space);
    atn_prune *rows = atn_zalloc(call->ctx, (size_t)(n + 1) * sizeof *rows);
    if (!rows) return ATN_ERR_MEMORY;
    atn_status status = atn_space_prune_report(call->ctx, job->space, rows);
    if (!status && call->json) {
        json_t *root = json_object();
        if (json_object_set_new(root, "constraints", report_json(call->ctx, rows, n)) != 0) {
            json_decref(root);
            root = NULL;
        }
        status = atn_cli_print_json(call, root);
    } else if (!status) {
        status = print_report(call, rows, n);
    }
    atn_free(call->ctx, rows);
    return status;
}

/* ---- the summary ---- */

/* "1, 2, 4, 8" or "1, 2, 3, ..., 1024" */
static void add_values(const atn_space *space, int32_t parameter, atn_text *to) {
    enum { SHOWN = 6 };
    int32_t n = atn_space_levels(space, parameter);
    for (int32_t level = 0; level < n; ++level) {
        if (level == SHOWN - 1 && n > SHOWN) {
            atn_text_add(to, ", ...");
            level = n - 1;
        }
        if (level) atn_text_add(to, ", ");
        atn_setting_print(atn_space_setting(space, parameter, level), to);
    }
}

static atn_status print_summary(space_job *job, const atn_count *count, const atn_count *product) {
    const atn_space *space = job->space;
    atn_text table = {.ctx = job->call->ctx}, page = {.ctx = job->call->ctx}, values = {.ctx = job->call->ctx};
    for (int32_t k = 0; k < atn_space_count_parameters(space); ++k) {
        atn_text_clear(&values);
        add_values(space, k, &values);
        atn_cli_add_cell(&table, atn_space_parameter(space, k));
        atn_text_printf(&table, "%d\t", atn_space_levels(space, k));
        atn_cli_add_cell(&table, atn_text_str(&values));
        atn_text_add(&table, "\n");
        page.failed |= values.failed; /* emptying it forgets */
    }
    atn_cli_add_table(&page, atn_text_str(&table), "lrl");
    int32_t n = atn_space_count_constraints(space);
    for (int32_t k = 0; k < n; ++k)
        atn_text_printf(&page, "%s%s%s", k ? ", " : "constraints: ", atn_space_constraint(space, k),
                        atn_space_constraint_is_built(space, k) ? " (after a build)" : "");
    atn_text_printf(&page, "%s%s of %s points are allowed\n", n ? "\n" : "", count->digits, product->digits);
    page.failed |= table.failed;
    atn_status status = atn_cli_print_text(job->call, "summary", &page);
    atn_text_free(&table);
    atn_text_free(&values);
    atn_text_free(&page);
    return status;
}

static atn_status act_summary(space_job *job, const char *value) {
    (void)value;
    atn_count count, product;
    double seconds;
    if (job->call->json) return act_count(job, NULL);
    atn_status status = count_both(job, &count, &product, &seconds);
    return status ? status : print_summary(job, &count, &product);
}

/* ---- the verb ---- */

static const struct {
    const char *option;
    atn_status (*act)(space_job *job, const char *value);
} ACTIONS[] = {
    {"count", act_count}, {"list", act_list},           {"sample", act_sample},
    {"why", act_why},     {"prune-report", act_report}, {"neighbours", act_neighbours},
};

static atn_status run(atn_cli_call *call) {
    space_job job = {.call = call, .begun = atn_clock_seconds()};
    atn_status (*act)(space_job *, const char *) = act_summary;
    const char *chosen = NULL;
    for (size_t k = 0; k < sizeof ACTIONS / sizeof *ACTIONS; ++k) {
        if (!atn_cli_has(call, ACTIONS[k].option)) continue;
        if (chosen) return atn_cli_misuse(call, "--%s and --%s cannot be combined", chosen, ACTIONS[k].option);
        chosen = ACTIONS[k].option;
        act = ACTIONS[k].act;
    }
    atn_status status = atn_cli_space_open(call, call->operands[0], &job.space);
    if (status) return status;
    size_t n = (size_t)atn_space_count_parameters(job.space);
    job.levels = atn_zalloc(call->ctx, (n + 1) * sizeof *job.levels);
    status = job.levels ? act(&job, chosen ? atn_cli_value(call, chosen) : NULL) : ATN_ERR_MEMORY;
    atn_free(call->ctx, job.levels);
    atn_space_free(job.space);
    return status;
}

const atn_cli_verb ATN_VERB_SPACE = {
    .name = "space",
    .summary = "count, list and sample a search space, and explain why a point is not in it",
    .synopsis = "FILE",
    .paragraphs =
        (const char *const[]){
            "FILE is a space in LANAI (docs/spaces.md), another tuner's T1 JSON, or the name of a shipped one. Without "
            "options it is summarised: parameters, constraints, number of allowed points.",
            "Samples are uniform and independent: a point may occur twice. Points are named as k=v,k=v with every "
            "parameter that has a choice. The prune report gives for each constraint the number of points it removes "
            "alone, after the constraints before it, and that no other constraint removes.",
            "import device provides the capabilities of --device, or of the host; --given provides the rest.",
            "JSON: --count: count, product, parameters, constraints, seconds; --why: allowed, by; "
            "--prune-report: constraints (name, alone, together, only); points: points, complete. Counts beyond "
            "2^63 are strings of digits.",
            NULL},
    .options =
        (const atn_cli_option[]){
            ATN_FLAG("count", "count allowed points"),
            ATN_FLAG("list", "list all points, one per line"),
            ATN_OPTION("sample", "N", "N points at random, uniformly"),
            ATN_OPTION("seed", "S", "seed of the random numbers; default: 1", .with = "sample"),
            ATN_OPTION("why", "K=V,...", "is this point allowed, and if not, which constraint excludes it"),
            ATN_FLAG("prune-report", "what each constraint removes"),
            ATN_OPTION("neighbours", "K=V,...", "allowed points that differ in one parameter"),
            ATN_FLAG("near", "with --neighbours: only those one step away", .with = "neighbours"),
            ATN_CLI_SPACE_OPTIONS,
            {0}},
    .examples = (const atn_cli_pair[]){{"attune space gemm.lanai --count", "how many points are there?"},
                                       {"attune space gemm.lanai --sample 10 --seed 7", "ten of them"},
                                       {"attune space example --list", "list a small shipped space"},
                                       {0}},
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
