/* Rows in a process of their own: who asks, and who measures. One line asks for a row, one line of JSON answers. A
 * process that failed is not asked again: its device may be lost, or its memory spoiled. */
#include "bench/parts.h"

#include "base/clock.h"
#include "tune/child.h"
#include "tune/wire.h"
#include "tune/worker.h"

#include <stdlib.h>
#include <string.h>

static const double ROW_LIMIT_S = 900; /* to build all contestants, make the inputs and measure */

static const char SUMS[] = "sums";    /* asked for instead of a kernel: bench_sums_row */
static const char SUMMED[] = "estep"; /* the kernel whose rows they follow */

/* ---- a row as JSON ---- */

static const struct {
    const char *name;
    size_t at, bytes; /* bytes 0: a number */
} FIELDS[] = {
#define TEXT(field)                                                                                                    \
    { #field, offsetof(atn_kernel_row, field), sizeof((atn_kernel_row *)NULL)->field }
#define NUMBER(field)                                                                                                  \
    { #field, offsetof(atn_kernel_row, field), 0 }
    TEXT(name),         TEXT(shape),         TEXT(error),  TEXT(reference_name), TEXT(unit),    TEXT(hit),
    TEXT(variant),      NUMBER(seconds),     NUMBER(ours), NUMBER(reference),    NUMBER(ratio), NUMBER(estimate_ratio),
    NUMBER(mean_error), NUMBER(worst_error),
};
enum { N_FIELDS = sizeof FIELDS / sizeof *FIELDS };

static json_t *row_json(const atn_kernel_row *row) {
    json_t *object = json_object();
    for (size_t k = 0; k < N_FIELDS; ++k) {
        const char *field = (const char *)row + FIELDS[k].at;
        double number = 0;
        if (!FIELDS[k].bytes) memcpy(&number, field, sizeof number);
        if (json_object_set_new(object, FIELDS[k].name, FIELDS[k].bytes ? atn_wire_text(field) : json_real(number)) !=
            0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

/* False: it is no row. What a row lacks stays as it is. */
static bool read_row(const char *line, atn_kernel_row *row) {
    json_t *object = json_loads(line, 0, NULL);
    bool is_row = json_is_string(json_object_get(object, "error"));
    for (size_t k = 0; is_row && k < N_FIELDS; ++k) {
        char *field = (char *)row + FIELDS[k].at;
        const json_t *value = json_object_get(object, FIELDS[k].name);
        double number = json_number_value(value);
        if (!FIELDS[k].bytes)
            memcpy(field, &number, sizeof number);
        else if (json_is_string(value))
            snprintf(field, FIELDS[k].bytes, "%s", json_string_value(value));
    }
    json_decref(object);
    return is_row;
}

/* ---- who measures ---- */

static const atn_set *find_set(const char *kernel, const atn_device_info *info, int number) {
    const atn_set *set = atn_set_next(ATN_SETS, kernel, info, NULL);
    while (set && number-- > 0) set = atn_set_next(ATN_SETS, kernel, info, set);
    return set;
}

typedef struct server {
    atn_ctx *ctx;
    atn_device *device; /* opened when the first row is asked for, */
    bench_reference copy;
} server;

static atn_status open_server(server *s, const char *wanted) {
    atn_devices *devices;
    int32_t index;
    if (s->device) return ATN_OK;
    atn_status status = atn_devices_find(s->ctx, &devices);
    if (status != ATN_OK) return status;
    status = atn_devices_pick(devices, wanted, &index);
    if (status == ATN_OK) status = atn_device_open(devices, index, &s->device);
    if (status == ATN_OK) status = bench_copy(s->device, &s->copy);
    atn_devices_free(devices);
    return status;
}

static atn_status serve_row(server *s, const char *device, double seconds, char *line, atn_kernel_row *row) {
    char *blank = strchr(line, ' ');
    if (!blank) return atn_fail(s->ctx, ATN_ERR_INPUT, "'%s': KERNEL NUMBER is expected", line);
    *blank = '\0';
    atn_status status = open_server(s, device);
    if (status != ATN_OK) return status;
    if (strcmp(line, SUMS) == 0) return bench_sums_row(s->device, atoi(blank + 1), seconds, row);
    const atn_set *set = find_set(line, atn_device_get_info(s->device), atoi(blank + 1));
    if (!set) return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: there is no such row", line);
    return bench_row(s->device, set, &s->copy, seconds, row);
}

atn_status atn_bench_serve(atn_ctx *ctx, const char *device, double seconds, FILE *in, FILE *out) {
    server s = {.ctx = ctx};
    char *line = NULL;
    size_t room = 0;
    atn_status status = ATN_OK;
    while (status == ATN_OK && getline(&line, &room, in) > 0) {
        atn_kernel_row row = {0};
        line[strcspn(line, "\n")] = '\0';
        atn_worker_limit_cpu(ROW_LIMIT_S);
        status = serve_row(&s, device, seconds, line, &row); /* after a failure it ends: another takes over */
        if (status != ATN_OK) snprintf(row.error, sizeof row.error, "%s", atn_ctx_message(ctx));
        json_t *object = row_json(&row);
        if (object) json_dumpf(object, out, JSON_COMPACT);
        json_decref(object);
        fputc('\n', out);
        fflush(out);
    }
    free(line);
    if (s.copy.close) s.copy.close(s.copy.data);
    atn_device_close(s.device);
    return ATN_OK;
}

/* ---- who asks ---- */

typedef struct asker {
    const atn_ctx *ctx;
    const char *program;
    const atn_device_info *info;
    double seconds;
    atn_child child;
    bool running;
    bool (*visit)(void *user, const atn_kernel_row *row);
    void *user;
    int32_t rows, measured;
    char last[512]; /* reason of the last row that failed */
} asker;

static void dismiss(asker *a) {
    if (a->running) atn_child_end(&a->child);
    a->running = false;
}

static atn_status start(asker *a) {
    const char *cache = atn_ctx_cache_dir(a->ctx), *compiler = atn_ctx_compiler(a->ctx);
    char device[16], seconds[32];
    const char *argv[12] = {a->program, "worker", "--bench", seconds, "--device", device};
    int n = 6;
    if (cache) argv[n++] = "--cache", argv[n++] = cache;
    if (compiler) argv[n++] = "--compiler", argv[n++] = compiler;
    snprintf(device, sizeof device, "%d", a->info->index);
    snprintf(seconds, sizeof seconds, "%.17g", a->seconds);
    atn_status status = atn_child_start(a->ctx, argv, false, &a->child);
    a->running = status == ATN_OK;
    return status;
}

/* What became of a process that did not answer. */
static void explain_end(const asker *a, atn_status status, atn_kernel_row *row) {
    if (status == ATN_ERR_TIMEOUT)
        snprintf(row->error, sizeof row->error, "did not finish in %g s and was stopped", ROW_LIMIT_S);
    else if (a->child.signal_number)
        snprintf(row->error, sizeof row->error, "crashed (%s)", a->child.how);
    else
        snprintf(row->error, sizeof row->error, "its process ended without an answer (%s)", a->child.how);
}

static void label(const asker *a, const atn_set *set, int number, atn_kernel_row *row) {
    if (set)
        bench_label(set, row);
    else
        bench_sums_label(a->info, number, row);
}

/* Without a set: a row of sums. */
static atn_status ask(asker *a, const atn_set *set, int number, bool *going) {
    atn_kernel_row row = {0};
    char line[128];
    const char *answer = NULL;
    label(a, set, number, &row);
    atn_status status = a->running ? ATN_OK : start(a);
    if (status != ATN_OK) return status;
    snprintf(line, sizeof line, "%s %d", set ? set->kernel : SUMS, number);
    double deadline = atn_clock_seconds() + ROW_LIMIT_S;
    (void)atn_child_say(&a->child, line, deadline); /* who is gone does not answer */
    status = atn_child_hear(&a->child, deadline, &answer);
    if (status == ATN_ERR_CANCELLED || status == ATN_ERR_MEMORY) return status;
    if (status != ATN_OK)
        explain_end(a, status, &row);
    else if (!read_row(answer, &row))
        snprintf(row.error, sizeof row.error, "its process said '%.80s'", answer);
    label(a, set, number, &row);
    if (*row.error) {
        dismiss(a);
        snprintf(a->last, sizeof a->last, "%s %s: %s", row.name, row.shape, row.error);
    }
    a->rows += 1;
    a->measured += !*row.error;
    *going = a->visit(a->user, &row);
    return atn_check_cancel(a->ctx);
}

size_t bench_count_sets(const atn_embedded *kernels, const atn_set *sets, const atn_device_info *info,
                        const char *only) {
    size_t rows = 0;
    for (; kernels->name; ++kernels)
        if (!only || strcmp(only, kernels->name) == 0)
            for (const atn_set *set = NULL; (set = atn_set_next(sets, kernels->name, info, set));) ++rows;
    return rows;
}

size_t atn_bench_kernel_rows(const atn_device_info *info, const char *kernel) {
    bool summed = !kernel || strcmp(kernel, SUMMED) == 0;
    return bench_count_sets(ATN_SHIPPED, ATN_SETS, info, kernel) + (summed ? bench_sums_count() : 0);
}

atn_status atn_bench_kernels(const atn_ctx *ctx, const char *program, const atn_device_info *info, const char *kernel,
                             double seconds, bool (*visit)(void *user, const atn_kernel_row *row), void *user) {
    asker a = {.ctx = ctx, .program = program, .info = info, .seconds = seconds, .visit = visit, .user = user};
    bool going = true;
    if (kernel && !atn_shipped_find(kernel)) return atn_fail(ctx, ATN_ERR_INPUT, "attune ships no kernel '%s'", kernel);
    atn_status status = ATN_OK;
    for (const atn_embedded *shipped = ATN_SHIPPED; shipped->name && status == ATN_OK && going; ++shipped) {
        if (kernel && strcmp(kernel, shipped->name) != 0) continue;
        const atn_set *set = atn_set_next(ATN_SETS, shipped->name, info, NULL);
        for (int n = 0; set && status == ATN_OK && going; ++n, set = atn_set_next(ATN_SETS, shipped->name, info, set))
            status = ask(&a, set, n, &going);
        if (strcmp(shipped->name, SUMMED) != 0) continue;
        for (int n = 0; n < (int)bench_sums_count() && status == ATN_OK && going; ++n)
            status = ask(&a, NULL, n, &going);
    }
    dismiss(&a);
    if (status == ATN_OK && a.rows == 0)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s has no benchmark set", kernel ? kernel : "attune");
    if (status == ATN_OK && a.measured == 0)
        return atn_fail(ctx, ATN_ERR_DEVICE, "no row could be measured; %s", a.last);
    return status;
}
