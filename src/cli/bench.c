/* attune bench: performance as ratios to other implementations in the same run. Subjects are rows of a table. */
#include "cli/bench.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "plot/chart.h"
#include "plot/page.h"

#include <string.h>

static const struct {
    const char *name;
    atn_status (*run)(atn_cli_bench *bench);
} SUBJECTS[] = {
    {"kernels", atn_cli_bench_kernels},
    {"register", atn_cli_bench_register},
    {"needle", atn_cli_bench_needle},
    {"unwrap", atn_cli_bench_unwrap},
    {"space", atn_cli_bench_space},
    {"lattice", atn_cli_bench_lattice},
    {"covariance", atn_cli_bench_covariance},
    {"trust", atn_cli_bench_trust},
    {"estimate", atn_cli_bench_estimate},
    {"programs", atn_cli_bench_programs},
    {"live", atn_cli_bench_live},
};

/* ---- the report ---- */

static atn_status write_report(const atn_cli_bench *b, const char *path, const char *subject) {
    const atn_ctx *ctx = b->call->ctx;
    size_t n = json_array_size(b->rows), compared = 0, k;
    atn_bar *bars = atn_zalloc(ctx, (n + 1) * sizeof *bars);
    char(*names)[160] = atn_zalloc(ctx, (n + 1) * sizeof *names);
    atn_text page = {.ctx = ctx}, table = {.ctx = ctx};
    atn_status status = bars && names ? ATN_OK : ATN_ERR_MEMORY;
    json_t *row;
    char title[64];
    snprintf(title, sizeof title, "attune bench %s", subject);
    atn_text_add(&table, "name\tshape\tours\ttheirs\ttheirs is\tratio\t\n");
    json_array_foreach(b->rows, k, row) {
        if (status) break;
        const char *unit = json_string_value(json_object_get(row, "unit"));
        const char *name = json_string_value(json_object_get(row, "name"));
        const char *shape = json_string_value(json_object_get(row, "shape"));
        double ratio = json_number_value(json_object_get(row, "ratio"));
        char ours[48], theirs[48], number[32] = "-";
        atn_cli_bench_amount(json_number_value(json_object_get(row, "ours")), unit, ours, sizeof ours);
        atn_cli_bench_amount(json_number_value(json_object_get(row, "reference")), unit, theirs, sizeof theirs);
        if (ratio > 0) snprintf(number, sizeof number, "%.3f", ratio);
        atn_text_printf(&table, "%s\t%s\t%s\t%s\t%s\t%s\t\n", name, shape, ours, theirs,
                        json_string_value(json_object_get(row, "reference_name")), number);
        if (!(ratio > 0)) continue;
        const char *object = strchr(shape, '='), *end = object ? strchr(object, ',') : NULL; /* the first will do */
        snprintf(names[compared], sizeof *names, "%s %.*s", name, end ? (int)(end - object - 1) : 20,
                 object ? object + 1 : shape);
        bars[compared] = (atn_bar){names[compared], NULL, ratio, ratio >= 1 ? 2 : 0};
        ++compared;
    }
    if (!status) {
        atn_page_begin(&page, title, json_string_value(json_object_get(json_array_get(b->rows, 0), "device")));
        atn_page_heading(&page, "Ours over theirs");
        atn_bars_draw(&page, "Speed against others, in one run: 1 is as fast as they are", "ratio", bars,
                      (int32_t)compared, 1, false);
        atn_page_table(&page, atn_text_str(&table), "llrrlr");
        if (table.failed) page.failed = true;
        status = atn_cli_page_write(b->call, &page, path);
    }
    atn_text_free(&table);
    atn_text_free(&page);
    atn_free(ctx, names);
    atn_free(ctx, bars);
    return status;
}

/* ---- the verb ---- */

static atn_status run_subject(atn_cli_bench *b, size_t subject) {
    const char *report = atn_cli_value(b->call, "report");
    atn_status status = SUBJECTS[subject].run(b);
    if (!status && b->failed) status = ATN_ERR_MEMORY;
    if (!status && report) status = write_report(b, report, SUBJECTS[subject].name);
    return status;
}

static atn_status run(atn_cli_call *call) {
    atn_cli_bench b = {.call = call, .rows = json_array(), .since_s = atn_clock_seconds()};
    atn_status status = b.rows ? ATN_OK : ATN_ERR_MEMORY;
    size_t n = sizeof SUBJECTS / sizeof *SUBJECTS, k = 0;
    atn_suggest suggest = {.typed = call->operands[0]};
    for (; k < n && strcmp(SUBJECTS[k].name, call->operands[0]) != 0; ++k) atn_suggest_try(&suggest, SUBJECTS[k].name);
    if (k == n) {
        json_decref(b.rows);
        return atn_cli_misuse(call, "no benchmark '%s'%s%s%s", call->operands[0],
                              suggest.best ? "; did you mean '"
                                           : "; there are kernels, programs, estimate, register, trust, covariance, "
                                             "needle, unwrap, lattice, live and space",
                              suggest.best ? suggest.best : "", suggest.best ? "'?" : "");
    }
    atn_ctx_on_progress(call->ctx, NULL, NULL); /* of what is measured: it would be in the times */
    if (!status) status = atn_cli_check_report(call);
    if (!status) status = run_subject(&b, k);
    if (!status && b.errors > 0 && !call->json)
        fprintf(call->out, "%d of %d rows could not be measured.\n", b.errors, (int)json_array_size(b.rows));
    if (!status && call->json) {
        json_t *root = json_object();
        if (json_object_set(root, "rows", b.rows) != 0 ||
            json_object_set_new(root, "errors", json_integer(b.errors)) != 0) {
            json_decref(root);
            root = NULL;
        }
        status = atn_cli_print_json(call, root);
    }
    json_decref(b.rows);
    return status;
}

static const char *const PARAGRAPHS[] = {
    "Measures attune and a reference alternately, so that disturbances affect both, and prints the median of the "
    "ratios: above 1 attune is faster.",
    "kernels: the shipped kernels as a user gets them, tuned where there is wisdom, against OpenBLAS, cuBLAS, "
    "cuSPARSE, a plain loop or a copy on the same device; E-steps with the relative error of their sums, in 32 bits "
    "and in "
    "16, against 32; then the time of a first call in a new process.",
    "programs: two Jacobi sweeps and a residual as planned, against the same unfused, fused, and fused by hand "
    "(bench/kernels); sorts of 10^7 pairs with keys of 32 and 64 bits against qsort on the host, on CUDA against "
    "CUB, compiled with nvcc; scan of 10^8 numbers, select, segments and reduce_by_key of 10^7 against a copy.",
    "estimate: untuned kernels, the shipped ones and a dozen as users write them (bench/kernels), against tuning for "
    "--budget, whose results are stored. Target: at most 2 times the tuned time. JSON rows "
    "also have estimate and tuned (variants) and slowdown.",
    "live: frames of 1024x1024 unwrapped while a live page (--serve) of 640 pixels shows 30 of them per second, and "
    "one that wants all pixels, against no page.",
    "register: EM-ICP against its published structure (a stored matrix of all pairs, on all cores of the CPU): dense "
    "E-steps and a whole registration; the gain of skipping distant pairs, the cost of reproducible sums and "
    "precisions, the memory for many points; registration of two scans of 10^4 and 10^6 points (and 10^7 if that of "
    "10^6 takes less than 0.5 s), 3 degrees off and from an unknown pose, with the error; multiway registration; a "
    "batch of small pairs; on synthetic clouds. With SOURCE TARGET: time, rmse and overlap of all methods on these "
    "files.",
    "trust: verdicts of registration on 400 synthetic pairs (overlap 0.1 to 1, up to 60 % outliers, noise, different "
    "densities; the same object, different objects, mirror images, symmetric objects). Targets: 99 % of trusted "
    "results are right, 95 % of right results are trusted, 99 % of different objects are doubtful or refused.",
    "covariance: registers synthetic pairs (range scans, resampled surfaces, partial views, voxel-filtered clouds, "
    "different densities, LiDAR) whose pose is known, with em-icp, icp and icp-plane: the median of e^T C^-1 e, e the "
    "error and C the reported covariance, which is 5.35 if C is right, and the fraction beyond 22. JSON rows also have "
    "method, kind, pairs, counted, absent, wrong, beyond_22, rotation_deg and claimed_deg.",
    "lattice: rotated neighbourhoods of bcc, fcc and hcp within 4.5 Angstrom: the fraction classified correctly, for "
    "noise of 0 to 1 Angstrom and 0 to 67 % missing atoms; throughput; without settings, against the number of "
    "neighbours alone; frames of grains: calibration of confidences, and frames without any model.",
    "needle: from the pixels of a synthetic volume to the pose, with the stages of that chain, also from pinned "
    "memory; four rounds of the shifting algorithm at the five published sizes, with the lookup volume and by brute "
    "force, against plain brute force on all cores of the CPU.",
    "unwrap: whole frames of 512 to 2048 pixels a side, in single precision and one in double, against plain multigrid "
    "on all cores of the CPU at the same accuracy and, if python3 has scipy, against cosine transforms; frames with a "
    "fifth of the pixels masked, and with a quality map, against the same without; frames per second of a stream with "
    "warm start; a frame with residues and adaptive weights; cut lengths against the optimum found by another method; "
    "wrong pixels in radar scenes with layover, against sorting by reliability. With FILE...: the cuts of these "
    "phases.",
    "space: counting and listing search spaces (FILE..., or two synthetic ones) against plain enumeration in Python; "
    "needs python3.",
    "A kernel that cannot be measured is a row with the reason; the others are still measured.",
    "JSON: rows (name, device, shape, ours, reference, reference_name, ratio, unit; error if a row could not be "
    "measured), errors (their number).",
    NULL,
};

static const atn_cli_option OPTIONS[] = {
    ATN_OPTION("kernel", "NAME", "kernels, estimate, programs (jacobi, sort, ...): only this one",
               .only = "kernels, estimate, programs"),
    ATN_OPTION("seconds", "S", "measuring time per row; default: kernels 1.5 (on a GPU 0.2), estimate 1, programs 2",
               .only = "kernels, estimate, programs"),
    ATN_OPTION("per", "N", "programs: keys per block of a sort, up to 65535; default: 4096", .only = "programs"),
    ATN_OPTION("budget", "TIME", "estimate: tuning time per row: 10s, 1m; default: 10s", .only = "estimate"),
    ATN_FLAG("quick", "programs, register, trust, covariance, needle, unwrap, lattice: a short run on little data",
             .only = "programs, register, trust, covariance, needle, unwrap, lattice"),
    ATN_OPTION("pairs", "N", "trust: number of pairs; default: 400. covariance: pairs per kind; default: 10",
               .only = "trust, covariance"),
    ATN_OPTION("seed", "S", "random seed of trust and covariance (default: 1) and lattice (default: 905)",
               .only = "trust, covariance, lattice"),
    ATN_OPTION("method", "NAME",
               "trust: default: em-icp. covariance: only this one; default: em-icp, icp and icp-plane",
               .only = "trust, covariance"),
    ATN_FLAG("cases", "trust: also print a row for each pair", .only = "trust"),
    ATN_OPTION("kind", "NAME", "covariance: only pairs of this kind", .only = "covariance"),
    ATN_OPTION("shape", "HxW", "unwrap: FILE is raw float32, rows x columns", .only = "unwrap"),
    ATN_OPTION("scale", "pi|1", "unwrap: radians per unit of the values; default: 1", .only = "unwrap"),
    ATN_OPTION("report", "FILE", "write an HTML report"),
    {0},
};

static const atn_cli_pair EXAMPLES[] = {
    {"attune bench kernels --device cuda", "the shipped kernels against cuBLAS, cuSPARSE and a copy"},
    {"attune bench kernels --kernel gemm --json", "one kernel, for a script"},
    {"attune bench programs --device cuda", "fusion, sorts and scans against other libraries on a GPU"},
    {"attune bench estimate --budget 20s", "how good are untuned kernels?"},
    {"attune bench register", "EM-ICP against the published structure, registration times; two minutes"},
    {"attune bench register a.ply b.ply", "all methods on two files"},
    {"attune bench covariance --method em-icp", "are covariances of registrations calibrated?"},
    {"attune bench needle", "needle search in a volume, and matching at the published sizes"},
    {"attune bench unwrap --device cuda", "unwrapping: time and frames per second"},
    {"attune bench lattice", "accuracy of crystal structures"},
    {"attune bench trust --seed 7", "are verdicts of registration right?"},
    {"attune bench space gemm.lanai", "how fast is a space counted?"},
    {0},
};

const atn_cli_verb ATN_VERB_BENCH = {
    .name = "bench",
    .summary = "benchmarks against reference implementations",
    .synopsis = "kernels|programs|estimate|register|trust|covariance|needle|unwrap|lattice|live|space [FILE...]",
    .paragraphs = PARAGRAPHS,
    .options = OPTIONS,
    .examples = EXAMPLES,
    .min_operands = 1,
    .max_operands = 64,
    .run = run,
};
