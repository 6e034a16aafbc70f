/* Rows of attune bench programs. Ours and theirs run in turn; what a run changes is put back before the next. */
#include "bench/programs.h"

#include "base/memory.h"
#include "base/random.h"
#include "bench/estimate.h"
#include "bench/reference_sort.h"
#include "plan/program.h"

#include <attune/array.h>

#include <stdio.h>
#include <string.h>

enum { MOST_ARRAYS = 6, MOST_RUNNERS = 4 };

typedef struct bench {
    atn_ctx *ctx;
    atn_device *device;
    const atn_bench_programs_options *o;
    bool stopped;
    int32_t rows;
} bench;

/* ---- what runs ---- */

/* A program of ours over its arrays; `first` are the elements that it begins with, NULL: zeros. */
typedef struct ours {
    const bench *b;
    atn_program *program;
    atn_array *array[MOST_ARRAYS];
    const void *first[MOST_ARRAYS];
    bool restored[MOST_ARRAYS]; /* before each run */
    int32_t count;
} ours;

static atn_status open_ours(const bench *b, const char *text, ours *out) {
    static const char *const DEFINES[] = {"USED_FLOAT=SP", NULL};
    *out = (ours){.b = b};
    return atn_program_create(b->device, text, &(atn_kernel_settings){.defines = DEFINES}, &out->program);
}

static atn_status give(ours *p, const char *name, atn_type type, int64_t columns, int64_t rows, const void *first) {
    int32_t k = p->count++;
    atn_status status = rows > 0 ? atn_array_create_matrix(p->b->device, type, rows, columns, 0, &p->array[k])
                                 : atn_array_create_vector(p->b->device, type, columns, &p->array[k]);
    p->first[k] = first;
    if (status == ATN_OK && first) status = atn_array_put(p->array[k], first, 0);
    return status == ATN_OK ? atn_program_bind(p->program, name, p->array[k]) : status;
}

static atn_status run_ours(void *data) { return atn_program_run(((ours *)data)->program); }

static atn_status restore(void *data) {
    ours *p = data;
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < p->count && status == ATN_OK; ++k)
        if (p->restored[k]) status = atn_array_put(p->array[k], p->first[k], 0);
    return status == ATN_OK ? atn_program_plan(p->program) : status; /* which sends what was put */
}

static void close_ours(ours *p) {
    atn_program_free(p->program);
    for (int32_t k = 0; k < p->count; ++k) atn_array_free(p->array[k]);
    *p = (ours){0};
}

/* ---- rows ---- */

/* `amount` of one run each, in units; runner 0 is ours, 1 the reference, where there is one. */
static atn_status add_row(bench *b, const char *name, const char *shape, const char *unit, bench_runner *runners,
                          int32_t count, const double *amount, const char *reference, const char *note) {
    atn_bench_row row = {0};
    int32_t rounds;
    double seconds = b->o->seconds > 0 ? b->o->seconds : b->o->quick ? 0.1 : 2;
    atn_status status = bench_measure(b->device, runners, count, seconds, &rounds);
    if (status != ATN_OK) return status;
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.device, sizeof row.device, "%s", atn_device_get_info(b->device)->name);
    snprintf(row.shape, sizeof row.shape, "%s", shape);
    snprintf(row.unit, sizeof row.unit, "%s", unit);
    snprintf(row.reference_name, sizeof row.reference_name, "%s", reference ? reference : "");
    snprintf(row.note, sizeof row.note, "%s", note ? note : "");
    row.seconds = runners[0].median;
    row.ours = amount[0] / row.seconds;
    if (count > 1) {
        row.reference = amount[1] / runners[1].median;
        row.ratio = bench_compare(&runners[0], &runners[1], rounds) * amount[0] / amount[1];
    }
    ++b->rows;
    b->stopped = b->stopped || !atn_bench_visit(&b->o->to, &row);
    return ATN_OK;
}

static bool is_wanted(const bench *b, const char *name) {
    return !b->stopped && (!b->o->only || strcmp(b->o->only, name) == 0);
}

static void tell(const bench *b, const char *what) { atn_bench_progress(&b->o->to, what); }

/* ---- sweeps ---- */

static const char JACOBI[] =
    "function around(u, n, s, w, e) = n + s + w + e - 4 * u\n"
    "kernel sweep(f, u: matrix T, o: T) -> v: matrix T\n"
    "    for y, x in rows(u) - 6, columns(u) - 6\n"
    "        v[y + 3, x + 3] = u[y + 3, x + 3] + o * (f[y + 3, x + 3] + around(u[y + 3, x + 3], u[y + 2, x + 3],\n"
    "            u[y + 4, x + 3], u[y + 3, x + 2], u[y + 3, x + 4]))\n"
    "kernel residual(f, v: matrix T) -> r: matrix T\n"
    "    for y, x in rows(v) - 6, columns(v) - 6\n"
    "        r[y + 3, x + 3] = f[y + 3, x + 3] + around(v[y + 3, x + 3], v[y + 2, x + 3], v[y + 4, x + 3],\n"
    "            v[y + 3, x + 2], v[y + 3, x + 4])\n"
    "program jacobi(f, u: matrix T, o: T = 0.2) -> r: matrix T\n"
    "    t: matrix T[rows(u), columns(u)]\n"
    "    v: matrix T[rows(u), columns(u)]\n"
    "    t = sweep(f, u, o)\n"
    "    v = sweep(f, t, o)\n"
    "    r = residual(f, v)\n";

static atn_status open_jacobi(const bench *b, const char *text, int64_t side, const float *u, int8_t seams, ours *out) {
    atn_status status = open_ours(b, text, out);
    const int8_t wanted[2] = {seams, seams};
    if (status == ATN_OK) status = give(out, "f", ATN_SP, side, side, u);
    if (status == ATN_OK) status = give(out, "u", ATN_SP, side, side, u);
    if (status == ATN_OK) status = give(out, "r", ATN_SP, side, side, NULL);
    if (status == ATN_OK && seams >= 0) status = atn_program_seams(out->program, wanted, 2);
    return status == ATN_OK ? atn_program_plan(out->program) : status;
}

static const char *by_hand(void) {
    for (const atn_embedded *s = ATN_BENCH_KERNELS; s->name; ++s)
        if (strcmp(s->name, "jacobi_by_hand") == 0) return s->text;
    return NULL;
}

/* Two sweeps and the residual behind them: as planned, unfused, fused, and fused by hand. */
static atn_status sweeps(bench *b) {
    if (!is_wanted(b, "jacobi")) return ATN_OK;
    enum { PLANNED, UNFUSED, FUSED, BY_HAND };
    static const char *const NAMES[] = {"as planned", "unfused", "fused", "fused by hand"};
    int64_t side = (b->o->quick ? 128 : 2048) + 6;
    size_t n = (size_t)(side * side);
    ours all[MOST_RUNNERS] = {{0}};
    char shape[64];
    const double amount[2] = {(double)(side - 6) * (double)(side - 6), (double)(side - 6) * (double)(side - 6)};
    float *u = atn_zalloc(b->ctx, n * sizeof *u);
    atn_status status = u ? ATN_OK : ATN_ERR_MEMORY;
    for (size_t k = 0; k < n && u; ++k) u[k] = (float)(k % 17) / 17;
    tell(b, "two sweeps and a residual");
    snprintf(shape, sizeof shape, "%lldx%lld", (long long)side, (long long)side);
    for (int k = 0; k < MOST_RUNNERS && status == ATN_OK; ++k)
        status = open_jacobi(b, k == BY_HAND ? by_hand() : JACOBI, side, u,
                             (int8_t)(k == UNFUSED ? 0
                                      : k == FUSED ? 1
                                                   : -1),
                             &all[k]);
    const atn_plan *plan = status == ATN_OK ? atn_program_get_plan(all[PLANNED].program) : NULL;
    char note[64] = "";
    if (plan)
        snprintf(note, sizeof note, "the planner fuses %d of 2 seams",
                 (plan->n_seams > 0 && plan->seams[0].fused) + (plan->n_seams > 1 && plan->seams[1].fused));
    for (int k = 1; k < MOST_RUNNERS && status == ATN_OK && !b->stopped; ++k) {
        bench_runner runners[2] = {{.run = run_ours, .data = &all[PLANNED]}, {.run = run_ours, .data = &all[k]}};
        status = add_row(b, "2 Jacobi sweeps + residual", shape, "points/s", runners, 2, amount, NAMES[k], note);
    }
    for (int k = 0; k < MOST_RUNNERS; ++k) close_ours(&all[k]);
    atn_free(b->ctx, u);
    return status;
}

/* ---- sorts ---- */

static atn_status sort_row(bench *b, const char *program, size_t bytes, int64_t n) {
    atn_random random;
    char name[64], shape[64], note[128];
    uint32_t *keys = atn_zalloc(b->ctx, (size_t)n * bytes);
    int32_t *places = atn_zalloc(b->ctx, (size_t)n * sizeof *places);
    ours p = {0};
    bench_sort_reference reference = {0};
    atn_status status = keys && places ? open_ours(b, program, &p) : ATN_ERR_MEMORY;
    atn_random_seed(&random, 20);
    for (size_t k = 0; k < (size_t)n * bytes / 4 && status == ATN_OK; ++k) keys[k] = (uint32_t)atn_random_next(&random);
    for (int64_t k = 0; k < n && status == ATN_OK; ++k) places[k] = (int32_t)k;
    snprintf(name, sizeof name, "%s, %zu-bit keys", program, 8 * bytes);
    snprintf(shape, sizeof shape, "%lld", (long long)n);
    tell(b, name);
    p.restored[0] = p.restored[1] = true;
    if (status == ATN_OK) status = give(&p, "key", ATN_INT32, bytes == 8 ? 2 : n, bytes == 8 ? n : 0, keys);
    if (status == ATN_OK) status = give(&p, "value", ATN_INT32, n, 0, places);
    if (status == ATN_OK && b->o->per > 0) status = atn_program_param(p.program, "per", b->o->per, 0);
    if (status == ATN_OK) status = bench_sort_reference_open(b->device, keys, bytes, n, &reference);
    bench_runner runners[2] = {{.run = run_ours, .ready = restore, .data = &p}, reference.runner};
    const double amount[2] = {(double)n, (double)n};
    snprintf(note, sizeof note, "%s", reference.name ? "" : reference.why ? reference.why : "");
    if (status == ATN_OK)
        status = add_row(b, name, shape, "pairs/s", runners, reference.name ? 2 : 1, amount, reference.name, note);
    if (reference.close) reference.close(reference.runner.data);
    close_ours(&p);
    atn_free(b->ctx, keys);
    atn_free(b->ctx, places);
    return status;
}

static atn_status sorts(bench *b) {
    int64_t n = b->o->quick ? 20000 : 10000000;
    atn_status status = is_wanted(b, "sort") ? sort_row(b, "sort", 4, n) : ATN_OK;
    return status == ATN_OK && is_wanted(b, "sort64") ? sort_row(b, "sort64", 8, n) : status;
}

/* ---- scans and compactions, against a copy ---- */

static const struct {
    const char *kernel;
    int64_t n;
    struct {
        const char *name;
        char type; /* s: SP, i: INT32, k: ascending keys in runs of about four, 1: one INT32 */
    } array[MOST_ARRAYS];
    double words; /* of 4 bytes read and written for each element */
} LINES[] = {
    {"scan", 100000000, {{"x", 's'}, {"y", 's'}}, 2},
    {"select", 10000000, {{"x", 's'}, {"y", 's'}, {"count", '1'}}, 1.5},
    {"segments", 10000000, {{"key", 'k'}, {"begin", 'i'}, {"count", '1'}}, 1.25},
    {"reduce_by_key", 10000000, {{"key", 'k'}, {"value", 's'}, {"unique", 'i'}, {"total", 's'}, {"count", '1'}}, 2.5},
};

static atn_status line(bench *b, size_t row, const bench_reference *copy) {
    int64_t n = b->o->quick ? 20000 : LINES[row].n;
    atn_random random;
    char shape[64];
    float *numbers = atn_zalloc(b->ctx, (size_t)n * sizeof *numbers);
    int32_t *keys = atn_zalloc(b->ctx, (size_t)n * sizeof *keys);
    ours p = {0};
    atn_status status = numbers && keys ? open_ours(b, LINES[row].kernel, &p) : ATN_ERR_MEMORY;
    atn_random_seed(&random, 7);
    for (int64_t k = 0; k < n && status == ATN_OK; ++k) {
        uint64_t any = atn_random_next(&random);
        numbers[k] = (float)(any >> 40) * 0x1p-24f;
        keys[k] = k ? keys[k - 1] + (int32_t)(any % 4 == 0) : 0;
    }
    tell(b, LINES[row].kernel);
    snprintf(shape, sizeof shape, "%lld", (long long)n);
    for (int k = 0; k < MOST_ARRAYS && LINES[row].array[k].name && status == ATN_OK; ++k) {
        char type = LINES[row].array[k].type;
        status = give(&p, LINES[row].array[k].name, type == 's' ? ATN_SP : ATN_INT32, type == '1' ? 1 : n, 0,
                      type == 's'   ? (const void *)numbers
                      : type == 'k' ? keys
                                    : NULL);
    }
    if (status == ATN_OK && strcmp(LINES[row].kernel, "select") == 0)
        status = atn_program_param(p.program, "least", 0.5, 0);
    bench_runner runners[2] = {{.run = run_ours, .data = &p}, {.run = copy->run, .data = copy->data}};
    const double amount[2] = {LINES[row].words * 4 * (double)n, copy->amount};
    if (status == ATN_OK) status = add_row(b, LINES[row].kernel, shape, "B/s", runners, 2, amount, copy->name, NULL);
    close_ours(&p);
    atn_free(b->ctx, numbers);
    atn_free(b->ctx, keys);
    return status;
}

static atn_status lines(bench *b) {
    bench_reference copy;
    atn_status status = bench_copy(b->device, &copy);
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < sizeof LINES / sizeof *LINES && status == ATN_OK; ++k)
        if (is_wanted(b, LINES[k].kernel)) status = line(b, k, &copy);
    copy.close(copy.data);
    return status;
}

size_t atn_bench_programs_steps(const atn_bench_programs_options *options) {
    return options->only ? 1 : 3 + sizeof LINES / sizeof *LINES; /* sweeps, two sorts */
}

atn_status atn_bench_programs(atn_ctx *ctx, atn_device *device, const atn_bench_programs_options *options) {
    static atn_status (*const PARTS[])(bench *) = {sweeps, sorts, lines};
    bench b = {.ctx = ctx, .device = device, .o = options};
    atn_status status = ATN_OK;
    for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS && status == ATN_OK; ++k) status = PARTS[k](&b);
    if (status == ATN_OK && !b.rows)
        status =
            atn_fail(ctx, ATN_ERR_INPUT,
                     "there is no row '%s'; there are jacobi, sort, sort64, scan, select, segments and reduce_by_key",
                     options->only ? options->only : "");
    return status;
}
