/* How fast the shipped kernels are on a device, as ratios to what others reach on it in the same run. Ours and theirs
 * take turns in many short rounds; a row's ratio is the median over the rounds. Nothing is asserted. */
#include "bench.h"

#include "base/memory.h"
#include "device/nvrtc.h"
#include "tune/seeds.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ASKED = 48, MOST_RUNNERS = 24 + MOST_ASKED };

typedef struct options {
    const char *device, *kernel;
    const char *variant[MOST_ASKED]; /* tried beside the table's */
    int32_t n_variants;
    double seconds;  /* per row */
    int32_t threads; /* host: 0 all; 1: measured in CPU time, which other load on the machine disturbs less */
    bool json, candidates, compile, source;
} options;

typedef struct contestant {
    char label[512]; /* the variant, or "estimate: ..." */
    atn_built *kernel;
    bench_work *work;
    double differs;
} contestant;

static const char HELP[] =
    "attune_bench: the shipped kernels on one device, against others, in one run\n\n"
    "  --device NAME     an index, a backend (host, opencl, cuda) or part of a name; host unless given\n"
    "  --kernel NAME     only rows of this kernel\n"
    "  --candidates      times every known variant of each kernel, the fastest first\n"
    "  --variant K=V,..  one more variant to time (up to 48 times; with --kernel)\n"
    "  --seconds S       spent on each row; 1.5 unless given\n"
    "  --threads N       on the host; 1 is measured in CPU time, which other programs disturb less\n"
    "  --compile         only compiles every CUDA variant (no GPU is needed)\n"
    "  --source          only prints the source of --variant for --device of --kernel\n"
    "  --json            one JSON object: {\"rows\": [...]}\n";

static bool read_options(int argc, char **argv, options *o) {
    *o = (options){.device = "host", .seconds = 1.5};
    for (int k = 1; k < argc; ++k) {
        const char *value = k + 1 < argc ? argv[k + 1] : NULL;
        if (strcmp(argv[k], "--json") == 0)
            o->json = true;
        else if (strcmp(argv[k], "--candidates") == 0)
            o->candidates = true;
        else if (strcmp(argv[k], "--compile") == 0)
            o->compile = true;
        else if (strcmp(argv[k], "--source") == 0)
            o->source = true;
        else if (value && strcmp(argv[k], "--device") == 0)
            o->device = argv[++k];
        else if (value && strcmp(argv[k], "--kernel") == 0)
            o->kernel = argv[++k];
        else if (value && strcmp(argv[k], "--seconds") == 0)
            o->seconds = strtod(argv[++k], NULL);
        else if (value && strcmp(argv[k], "--threads") == 0)
            o->threads = (int32_t)strtol(argv[++k], NULL, 10);
        else if (value && strcmp(argv[k], "--variant") == 0 && o->n_variants < MOST_ASKED)
            o->variant[o->n_variants++] = argv[++k];
        else
            return false;
    }
    return o->seconds > 0;
}

static atn_status run_kernel(void *data) {
    contestant *c = data;
    return atn_built_run(c->kernel, NULL, c->work->slots, (const double(*)[2])c->work->params);
}

static void print_shape(const bench_job *job, char *text, size_t bytes) {
    if (job->against == BENCH_BLAS || job->against == BENCH_CSR)
        snprintf(text, bytes, "%lldx%lldx%lld", (long long)job->m, (long long)job->n, (long long)job->k);
    else if (job->m == 1)
        snprintf(text, bytes, "%lld", (long long)job->n);
    else
        snprintf(text, bytes, "%lldx%lld", (long long)job->m, (long long)job->n);
}

static const char *unit_of(const bench_job *job) {
    return job->against == BENCH_BLAS ? "FLOP/s" : job->against == BENCH_PAIRS ? "pairs/s" : "B/s";
}

/* ---- contestants ---- */

/* Builds, checks against the others; one that cannot be built or is wrong is told and left out. */
static void enter(contestant *all, int32_t *count, bench_work *work, const options *o, atn_variant variant,
                  const char *prefix) {
    atn_ctx *ctx = atn_device_ctx(work->device);
    contestant *c = &all[*count];
    atn_text text = {.ctx = ctx};
    atn_variant_print(&variant, &text);
    if (o->threads > 0) variant.threads = o->threads;
    *c = (contestant){.work = work};
    snprintf(c->label, sizeof c->label, "%s%s", prefix, atn_text_str(&text));
    atn_text_free(&text);
    atn_status status = atn_built_make(work->device, work->graph, &variant, &c->kernel);
    if (status == ATN_OK) status = bench_check(work, c->kernel, &c->differs);
    if (status == ATN_OK && !(c->differs < 1e-3))
        status = atn_fail(ctx, ATN_ERR_INTERNAL, "its result is off by %.2g of the first one's", c->differs);
    if (status == ATN_OK) {
        ++*count;
        return;
    }
    fprintf(stderr, "%s %s: left out: %s: %s\n", work->job->kernel, work->job->type, c->label, atn_ctx_message(ctx));
    atn_built_free(c->kernel);
}

static int32_t enter_all(contestant *all, bench_work *work, const options *o) {
    atn_ctx *ctx = atn_device_ctx(work->device);
    const atn_device_info *info = atn_device_get_info(work->device);
    const char *const *pick = atn_seeds_find(work->job->kernel, work->job->type, info->backend);
    int32_t count = 0;
    for (int k = 0; pick && pick[k] && (k == 0 || o->candidates); ++k) {
        atn_variant v = atn_variant_plain();
        if (atn_variant_parse(ctx, &v, pick[k]) != ATN_OK)
            fprintf(stderr, "%s: %s\n", work->job->kernel, atn_ctx_message(ctx));
        else
            enter(all, &count, work, o, v, "");
    }
    atn_variant estimate = atn_variant_estimate(work->graph, info, &work->extent);
    enter(all, &count, work, o, estimate, "estimate: ");
    for (int32_t k = 0; k < o->n_variants; ++k) {
        atn_variant v = atn_variant_plain();
        if (atn_variant_parse(ctx, &v, o->variant[k]) != ATN_OK)
            fprintf(stderr, "%s: %s\n", work->job->kernel, atn_ctx_message(ctx));
        else
            enter(all, &count, work, o, v, "asked: ");
    }
    return count;
}

/* ---- rows ---- */

typedef struct bench_row {
    const bench_job *job;
    const bench_reference *reference;
    const bench_runner *ours, *estimate, *theirs; /* estimate, theirs: NULL where there is none */
    bench_ratio ratio, estimate_ratio;
    double amount, theirs_amount;
    int32_t rounds;
} bench_row;

static double scaled(const bench_row *r, bench_ratio ratio, bool best) {
    return (best ? ratio.best : ratio.median) * (r->theirs_amount > 0 ? r->amount / r->theirs_amount : 1);
}

static void print_row(const bench_row *r, const atn_device_info *info, json_t *rows) {
    char shape[64];
    print_shape(r->job, shape, sizeof shape);
    double ours = r->amount / r->ours->median, theirs = r->theirs ? r->theirs_amount / r->theirs->median : 0;
    double ratio = r->theirs ? scaled(r, r->ratio, false) : 0, best = r->theirs ? scaled(r, r->ratio, true) : 0;
    double estimate = r->estimate && r->theirs ? scaled(r, r->estimate_ratio, false) : 0;
    if (rows) {
        char name[64];
        snprintf(name, sizeof name, "%s %s", r->job->kernel, r->job->type);
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:f, s:f, s:s, s:f, s:s, s:f, s:f, s:s, s:i}", "name",
                                              name, "device", info->name, "shape", shape, "ours", ours, "reference",
                                              theirs, "reference_name", r->theirs ? r->reference->name : "", "ratio",
                                              ratio, "unit", unit_of(r->job), "best_ratio", best, "estimate_ratio",
                                              estimate, "variant", r->ours->label, "rounds", (int)r->rounds));
        return;
    }
    printf("%-10s %-3s %-16s %9.1f µs %9.2f %9.2f G%-7s %-11s", r->job->kernel, r->job->type, shape,
           r->ours->median * 1e6, ours * 1e-9, theirs * 1e-9, unit_of(r->job), r->theirs ? r->reference->name : "-");
    if (r->theirs) printf(" %7.3f %7.3f %9.3f", ratio, best, estimate);
    printf("\n");
    fflush(stdout);
}

static int faster(const void *a, const void *b) {
    const bench_runner *x = *(const bench_runner *const *)a, *y = *(const bench_runner *const *)b;
    return (x->median > y->median) - (x->median < y->median);
}

static void print_candidates(const bench_row *r, const bench_runner *runners, int32_t count) {
    const bench_runner *sorted[MOST_RUNNERS];
    for (int32_t k = 0; k < count; ++k) sorted[k] = &runners[k];
    qsort(sorted, (size_t)count, sizeof *sorted, faster);
    for (int32_t k = 0; k < count; ++k) {
        printf("    %9.1f µs", sorted[k]->median * 1e6);
        if (r->theirs) printf(" %7.3f", scaled(r, bench_compare(sorted[k], r->theirs, r->rounds), false));
        printf("  %s\n", sorted[k]->label);
    }
    fflush(stdout);
}

static atn_status find_reference(bench_work *work, bench_reference *copy, bench_reference *own,
                                 const bench_reference **found) {
    const atn_device_info *info = atn_device_get_info(work->device);
    const char *why = "no library of its kind is known";
    *found = NULL;
    *own = (bench_reference){0};
    if (work->job->against == BENCH_COPY) {
        *found = copy;
        return ATN_OK;
    }
    atn_status status = ATN_OK;
    if (strcmp(info->backend, "host") == 0) status = bench_host_reference(work, own, &why);
    if (strcmp(info->backend, "cuda") == 0) status = bench_cuda_reference(work, own, &why);
    if (own->run)
        *found = own;
    else if (status == ATN_OK)
        fprintf(stderr, "%s %s: no reference: %s\n", work->job->kernel, work->job->type, why);
    return status;
}

static atn_status bench_one(bench_work *work, bench_reference *copy, const options *o, json_t *rows) {
    atn_ctx *ctx = atn_device_ctx(work->device);
    contestant *all = atn_zalloc(ctx, MOST_RUNNERS * sizeof *all);
    bench_runner *runners = atn_zalloc(ctx, (MOST_RUNNERS + 1) * sizeof *runners);
    if (!all || !runners) return ATN_ERR_MEMORY;
    bench_reference own;
    bench_row r = {.job = work->job, .amount = work->amount};
    atn_status status = find_reference(work, copy, &own, &r.reference);
    int32_t count = status == ATN_OK ? enter_all(all, work, o) : 0, n = count;
    for (int32_t k = 0; k < count; ++k)
        runners[k] = (bench_runner){.label = all[k].label, .run = run_kernel, .data = &all[k]};
    if (r.reference) {
        runners[n] = (bench_runner){.label = r.reference->name, .run = r.reference->run, .data = r.reference->data};
        r.theirs = &runners[n++];
        r.theirs_amount = r.reference->amount > 0 ? r.reference->amount : work->amount;
    }
    if (status == ATN_OK && count > 0) {
        status = bench_measure(work->device, runners, n, o->seconds, &r.rounds);
        r.ours = &runners[0];
        for (int32_t k = 0; k < count; ++k) {
            if (o->candidates && runners[k].median < r.ours->median) r.ours = &runners[k];
            if (strncmp(runners[k].label, "estimate", 8) == 0) r.estimate = &runners[k];
        }
        if (r.theirs) r.ratio = bench_compare(r.ours, r.theirs, r.rounds);
        if (r.theirs && r.estimate) r.estimate_ratio = bench_compare(r.estimate, r.theirs, r.rounds);
        if (status == ATN_OK) print_row(&r, atn_device_get_info(work->device), rows);
        if (status == ATN_OK && !rows && (o->candidates || o->n_variants > 0)) print_candidates(&r, runners, n);
    }
    for (int32_t k = 0; k < count; ++k) atn_built_free(all[k].kernel);
    if (own.close) own.close(own.data);
    atn_free(ctx, all);
    atn_free(ctx, runners);
    return status;
}

static bool wanted(const bench_job *job, const options *o, const char *backend) {
    return (!o->kernel || strcmp(o->kernel, job->kernel) == 0) && (!job->backend || strcmp(job->backend, backend) == 0);
}

static atn_status bench_device(atn_device *device, const options *o) {
    const atn_device_info *info = atn_device_get_info(device);
    atn_ctx *ctx = atn_device_ctx(device);
    atn_peaks peaks;
    bench_reference copy = {0};
    json_t *rows = o->json ? json_array() : NULL;
    atn_status status = atn_device_peaks(device, &peaks);
    if (status == ATN_OK) status = bench_copy(device, &copy);
    if (status == ATN_OK && !o->json) {
        bench_runner alone = {.label = "copy", .run = copy.run, .data = copy.data};
        int32_t rounds;
        status = bench_measure(device, &alone, 1, 1, &rounds);
        printf("%s (%s, %d cores): copy %.1f GB/s now, %.1f GB/s as its peak was measured, FP32 %.2f TFLOP/s\n",
               info->name, info->backend, info->cores, copy.amount / alone.median * 1e-9, peaks.bandwidth * 1e-9,
               peaks.fp32 * 1e-12);
        printf("%-10s %-3s %-16s %12s %9s %9s %-8s %-11s %7s %7s %9s\n", "kernel", "", "shape", "time", "ours",
               "theirs", "", "theirs is", "ratio", "best", "estimate");
    }
    for (int32_t k = 0; k < BENCH_JOB_COUNT && status == ATN_OK; ++k) {
        bench_work work;
        if (!wanted(&BENCH_JOBS[k], o, info->backend)) continue;
        atn_status one = bench_work_open(device, &BENCH_JOBS[k], &work);
        if (one == ATN_OK) one = bench_one(&work, &copy, o, rows);
        if (one != ATN_OK)
            fprintf(stderr, "%s %s: %s\n", BENCH_JOBS[k].kernel, BENCH_JOBS[k].type, atn_ctx_message(ctx));
        bench_work_close(&work);
        if (atn_device_lost(device)) status = one;
    }
    if (copy.close) copy.close(copy.data);
    if (rows) {
        json_t *all = json_pack("{s:o}", "rows", rows);
        json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
        printf("\n");
        json_decref(all);
    }
    return status;
}

/* ---- without a device: the source of a variant, and whether CUDA's compiler takes it ---- */

static atn_status source_of(const atn_ctx *ctx, const bench_job *job, const char *backend, const char *text,
                            atn_variant *v, atn_text *source) {
    bool host = strcmp(backend, "host") == 0;
    atn_device_info info = {
        .cores = 132, .max_group = host ? 1 : 1024, .local_bytes = 48 << 10, .simd = 32, .fp64 = true};
    snprintf(info.backend, sizeof info.backend, "%s", backend);
    atn_target target = atn_target_of(&info);
    atn_sequence *sequence;
    *v = atn_variant_plain();
    atn_status status = bench_parse(ctx, job, &sequence);
    if (status == ATN_OK && text) status = atn_variant_parse(ctx, v, text);
    if (status == ATN_OK && !text) *v = atn_variant_estimate(sequence->step[0], &info, NULL);
    if (status == ATN_OK) status = atn_built_source(ctx, sequence->step[0], v, backend, &target, source);
    if (sequence) atn_sequence_free(sequence);
    return status;
}

/* text NULL: the estimate. */
static atn_status compile_one(const atn_ctx *ctx, const bench_job *job, const char *text, int32_t *failed) {
    char *cubin = NULL;
    size_t bytes = 0;
    atn_text source = {.ctx = ctx};
    atn_variant v;
    atn_status status = source_of(ctx, job, "cuda", text, &v, &source);
    if (status == ATN_OK)
        status = atn_nvrtc_compile(
            ctx, &(atn_build){.name = job->kernel, .source = atn_text_str(&source), .fast_math = v.fast}, "sm_90",
            &cubin, &bytes);
    printf("%-10s %-3s %-11s %s\n", job->kernel, job->type, status == ATN_OK ? "compiles" : atn_ctx_message(ctx),
           text ? text : "estimate");
    *failed += status != ATN_OK;
    atn_free(ctx, cubin);
    atn_text_free(&source);
    return status == ATN_ERR_MEMORY ? status : ATN_OK;
}

static atn_status compile_all(const atn_ctx *ctx, const options *o) {
    int32_t failed = 0;
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < BENCH_JOB_COUNT && status == ATN_OK; ++k) {
        const bench_job *job = &BENCH_JOBS[k];
        bool again = k > 0 && strcmp(job->kernel, BENCH_JOBS[k - 1].kernel) == 0 &&
                     strcmp(job->type, BENCH_JOBS[k - 1].type) == 0;
        const char *const *pick = atn_seeds_find(job->kernel, job->type, "cuda");
        if (again || !wanted(job, o, "cuda")) continue;
        status = compile_one(ctx, job, NULL, &failed);
        for (int n = 0; pick && pick[n] && status == ATN_OK; ++n) status = compile_one(ctx, job, pick[n], &failed);
    }
    if (status == ATN_OK && failed > 0) status = atn_fail(ctx, ATN_ERR_BUILD, "%d variants do not compile", failed);
    return status;
}

static atn_status print_source(const atn_ctx *ctx, const options *o) {
    atn_status status = atn_fail(ctx, ATN_ERR_INPUT, "--source needs --kernel");
    for (int32_t k = 0; k < BENCH_JOB_COUNT && o->kernel; ++k) {
        atn_text source = {.ctx = ctx};
        atn_variant v;
        if (!wanted(&BENCH_JOBS[k], o, o->device)) continue;
        status = source_of(ctx, &BENCH_JOBS[k], o->device, o->variant[0], &v, &source);
        if (status == ATN_OK) printf("%s", atn_text_str(&source));
        atn_text_free(&source);
        break;
    }
    return status;
}

static atn_status bench(atn_ctx *ctx, const options *o) {
    if (o->compile) return compile_all(ctx, o);
    if (o->source) return print_source(ctx, o);
    atn_devices *devices;
    atn_device *device = NULL;
    int32_t index;
    atn_status status = atn_devices_find(ctx, &devices);
    if (status != ATN_OK) return status;
    status = atn_devices_pick(devices, o->device, &index);
    if (status == ATN_OK) status = atn_device_open(devices, index, &device);
    bench_threads(o->threads);
    if (status == ATN_OK) status = bench_device(device, o);
    atn_device_close(device);
    atn_devices_free(devices);
    return status;
}

int main(int argc, char **argv) {
    options o;
    atn_ctx *ctx;
    if (!read_options(argc, argv, &o)) {
        fputs(HELP, argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
        return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }
    if (atn_ctx_create(NULL, &ctx) != ATN_OK) return 1;
    atn_status status = bench(ctx, &o);
    if (status != ATN_OK) fprintf(stderr, "attune_bench: %s\n", atn_ctx_message(ctx));
    atn_ctx_free(ctx);
    return status == ATN_OK ? 0 : 1;
}
