/* Whole registrations: against the published structure; default, dense and reproducible; the precisions. */
#include "bench/register_parts.h"

#include "device/facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 5, FEW = 3 };
static const double PATIENCE_S = 20; /* for the published structure; else steps are sampled */

static size_t size_of(const bench_session *s) { return s->options->quick ? 1200 : 10064; }
static int32_t few(const bench_session *s) { return s->options->quick ? 1 : FEW; }

/* The truth, turned by 10 degrees about z. */
static void begin_near(bench_one *one) {
    static const double COSINE = 0.984807753012208, SINE = 0.17364817766693;
    const double *truth = one->pair->truth;
    double *start = one->settings.start;
    one->settings.init = ATN_START_GIVEN;
    for (int k = 0; k < 16; ++k) start[k] = truth[k];
    for (int k = 0; k < 4; ++k) {
        start[k] = COSINE * truth[k] - SINE * truth[4 + k];
        start[4 + k] = SINE * truth[k] + COSINE * truth[4 + k];
    }
}

/* Builds what the run needs; a dense one needs the same kernels from its first step on. */
static atn_status warm(bench_one *one) {
    bench_one first = *one;
    if (one->settings.dense) first.settings.most_iterations = 2;
    return bench_run_one(&first);
}

static void shape_of(const bench_pair *pair, const char *what, atn_bench_row *row) {
    snprintf(row->shape, sizeof row->shape, "%s, %zu points", what, atn_cloud_info_of(pair->source).points);
}

static void note_result(const bench_one *one, atn_bench_row *row) {
    const atn_register_result *r = &one->result;
    snprintf(row->note, sizeof row->note, "%d iterations, %.2g rad off%s", r->iterations,
             bench_turn_error(r->transform, one->pair->truth), r->converged ? "" : ", not converged");
}

/* ---- the published structure ---- */

/* Steps of the schedule in turn, `stride` apart: all of them, or a sample. */
typedef struct schedule {
    emicp matrix;
    int32_t next, stride;
} schedule;

static atn_status run_steps(void *data) {
    schedule *c = data;
    if (c->stride > 1) {
        c->matrix.sigma2 = emicp_sigma2(c->next % EMICP_STEPS);
        c->next += c->stride;
        emicp_step(&c->matrix);
        return ATN_OK;
    }
    c->matrix.pose = GEOM_IDENTITY;
    c->matrix.sigma2 = emicp_sigma2(0);
    for (int32_t k = 0; k < EMICP_STEPS; ++k)
        if (!emicp_step(&c->matrix)) break;
    return ATN_OK;
}

static atn_status plan_schedule(bench_session *s, schedule *c) {
    bench_runner once = {.run = run_steps, .data = c, .repeats = 1};
    c->stride = EMICP_STEPS / ROUNDS;
    atn_status status = bench_turns(s, &once, 1, 2);
    bool all = once.second[1] * EMICP_STEPS * FEW < PATIENCE_S;
    c->stride = all ? 1 : EMICP_STEPS / ROUNDS;
    c->next = 0;
    c->matrix.pose = GEOM_IDENTITY;
    return status;
}

atn_status bench_whole(bench_session *s) {
    bench_pair pair;
    schedule published = {0};
    size_t points = s->options->quick ? 600 : 10064;
    bench_tell(s, "a registration of %zu points", points);
    atn_status status = bench_turned(s->ctx, points, &pair);
    bench_one ours = {.session = s, .pair = &pair};
    if (status == ATN_OK) status = emicp_open(s->ctx, pair.source, pair.target, &published.matrix);
    if (status == ATN_OK) status = warm(&ours);
    if (status == ATN_OK) status = plan_schedule(s, &published);
    bench_runner runners[2] = {{.run = bench_run_one, .data = &ours, .repeats = 1},
                               {.run = run_steps, .data = &published, .repeats = 1}};
    bool all = published.stride == 1;
    int32_t rounds = all ? few(s) : ROUNDS;
    if (status == ATN_OK) status = bench_turns(s, runners, 2, rounds);
    if (status == ATN_OK) {
        double steps = all ? 1 : EMICP_STEPS;
        atn_bench_row row = {.name = "whole registration",
                             .ours = runners[0].median,
                             .reference = steps * runners[1].median,
                             .ratio = steps * bench_compare(&runners[0], &runners[1], rounds),
                             .unit = "s",
                             .seconds = runners[0].median};
        snprintf(row.reference_name, sizeof row.reference_name, all ? "%s, %d steps" : "%s, %d x a step (%d measured)",
                 EMICP_NAME, EMICP_STEPS, rounds);
        shape_of(&pair, "turned by 91.8 degrees", &row);
        note_result(&ours, &row);
        bench_emit(s, row);
    }
    emicp_close(&published.matrix);
    bench_pair_free(&pair);
    return status;
}

/* ---- truncation and reproducible sums ---- */

atn_status bench_truncation(bench_session *s) {
    enum { DEFAULT, SAME_BITS, DENSE, ALL };
    static const char *const SHAPE = "begun 10 degrees off";
    bench_pair pair;
    bench_tell(s, "registrations over all pairs");
    atn_status status = bench_turned(s->ctx, size_of(s), &pair);
    bench_one one[ALL];
    bench_runner runners[ALL];
    for (int k = 0; k < ALL; ++k) {
        one[k] = (bench_one){.session = s, .pair = &pair};
        if (status == ATN_OK) begin_near(&one[k]); /* a search for the start leaves no steps over many pairs */
        runners[k] = (bench_runner){.run = bench_run_one, .data = &one[k], .repeats = 1};
    }
    one[DENSE].settings.dense = true;
    one[SAME_BITS].settings.reproducible = true;
    for (int k = 0; k < ALL && status == ATN_OK; ++k) status = warm(&one[k]);
    if (status == ATN_OK) status = bench_turns(s, runners, ALL, few(s));
    if (status == ATN_OK) {
        const atn_register_result *ours = &one[DEFAULT].result, *dense = &one[DENSE].result;
        atn_bench_row row = {.name = "pairs evaluated",
                             .ours = ours->evaluated_pairs,
                             .reference = dense->evaluated_pairs,
                             .reference_name = "all pairs, --dense",
                             .ratio = dense->evaluated_pairs / ours->evaluated_pairs,
                             .unit = "pairs"};
        shape_of(&pair, SHAPE, &row);
        snprintf(row.note, sizeof row.note, "%.2g of its own %d iterations; %d iterations of the dense run",
                 ours->evaluated_pairs / ours->pairs, ours->iterations, dense->iterations);
        bench_emit(s, row);
        row = (atn_bench_row){.name = "far pairs left out",
                              .ours = runners[DEFAULT].median,
                              .reference = runners[DENSE].median,
                              .reference_name = "all pairs, --dense",
                              .ratio = bench_compare(&runners[DEFAULT], &runners[DENSE], few(s)),
                              .unit = "s",
                              .seconds = runners[DEFAULT].median};
        shape_of(&pair, SHAPE, &row);
        note_result(&one[DENSE], &row);
        bench_emit(s, row);
        row = (atn_bench_row){.name = "reproducible sums",
                              .ours = runners[SAME_BITS].median,
                              .reference = runners[DEFAULT].median,
                              .reference_name = "default",
                              .ratio = bench_compare(&runners[SAME_BITS], &runners[DEFAULT], few(s)),
                              .unit = "s",
                              .seconds = runners[SAME_BITS].median};
        shape_of(&pair, SHAPE, &row);
        note_result(&one[SAME_BITS], &row);
        bench_emit(s, row);
    }
    bench_pair_free(&pair);
    return status;
}

/* ---- precisions ---- */

/* What precisions are tried on. */
typedef struct trial {
    const char *what;
    atn_status (*make)(atn_ctx *ctx, size_t points, bench_pair *out);
    atn_register_settings settings;
    bool many; /* where the device is not the host: as many points as show what the sums cost; without 64 bits */
} trial;

/* The angle that is reported as one standard deviation; 0: none is. Not part of what is timed. */
static atn_status reported_angle(const bench_one *one, double *out) {
    bench_one again = *one;
    *out = 0;
    again.settings.no_covariance = false;
    atn_status status = bench_run_one(&again);
    if (status == ATN_OK && again.result.has_covariance)
        for (int k = 0; k < 3; ++k) *out += again.result.covariance[7 * k];
    *out = sqrt(*out);
    return status;
}

/* One that ran, beside the first, which has most bits. */
static atn_status emit_precision(bench_session *s, const trial *t, const bench_runner *first,
                                 const bench_runner *runner) {
    const bench_one *one = runner->data, *most = first->data;
    double error = bench_turn_error(one->result.transform, one->pair->truth);
    double least = bench_turn_error(most->result.transform, most->pair->truth);
    atn_bench_row row = {.ours = error, .unit = "rad", .seconds = runner->median};
    snprintf(row.name, sizeof row.name, "error at %d bits", one->settings.precision);
    shape_of(one->pair, t->what, &row);
    if (runner != first) {
        row.reference = least;
        row.ratio = error > 0 ? least / error : 0;
        snprintf(row.reference_name, sizeof row.reference_name, "%d bits", most->settings.precision);
    }
    note_result(one, &row);
    double angle = 0;
    atn_status status = t->settings.no_covariance ? reported_angle(one, &angle) : ATN_OK;
    size_t length = strlen(row.note);
    if (angle > 0) snprintf(row.note + length, sizeof row.note - length, ", standard deviation %.2g reported", angle);
    bench_emit(s, row);
    snprintf(row.name, sizeof row.name, "time at %d bits", one->settings.precision);
    snprintf(row.unit, sizeof row.unit, "s");
    row.ours = runner->median;
    row.reference = runner != first ? first->median : 0;
    row.ratio = runner != first ? bench_compare(runner, first, few(s)) : 0;
    bench_emit(s, row);
    return status;
}

static atn_status try_precisions(bench_session *s, const trial *t, const bench_pair *pair) {
    static const int32_t BITS[] = {64, 32, 16};
    enum { ALL = sizeof BITS / sizeof *BITS };
    bench_one one[ALL];
    bench_runner runners[ALL];
    int32_t count = 0;
    for (int k = t->many; k < ALL; ++k) {
        one[count] = (bench_one){.session = s, .pair = pair, .settings = t->settings};
        one[count].settings.precision = BITS[k];
        if (t->many) begin_near(&one[count]);
        bench_tell(s, "%d bits: %s", BITS[k], t->what);
        atn_status status = warm(&one[count]);
        if (status == ATN_ERR_UNSUPPORTED) { /* a device without them */
            atn_log(s->ctx, ATN_LOG_WARNING, "left out: %d bits: %s", BITS[k], atn_ctx_message(s->ctx));
            continue;
        }
        if (status != ATN_OK) return status;
        runners[count] = (bench_runner){.run = bench_run_one, .data = &one[count], .repeats = 1};
        ++count;
    }
    atn_status status = bench_turns(s, runners, count, few(s));
    for (int k = 0; k < count && status == ATN_OK; ++k) status = emit_precision(s, t, &runners[0], &runners[k]);
    return status;
}

atn_status bench_precisions(bench_session *s) {
    static const trial TRIALS[] = {
        {"turned by 91.8 degrees", bench_turned, {0}, false},
        {"turned, no polish",
         bench_turned,
         {.no_polish = true},
         false}, /* soft pairs to the end: the sums' own error */
        {"two scans, any turn", bench_scans, {.init = ATN_START_AUTO}, false},
        {"begun 10 degrees off, all pairs",
         bench_turned,
         {.dense = true, .no_polish = true, .no_covariance = true},
         true},
    };
    enum { MANY = 100000 };
    bool host = atn_backend_facts_of(atn_device_get_info(s->device))->threads;
    atn_status status = ATN_OK;
    for (size_t k = 0; k < sizeof TRIALS / sizeof *TRIALS && status == ATN_OK && !s->stopped; ++k) {
        bench_pair pair;
        status = TRIALS[k].make(s->ctx, TRIALS[k].many && !host && !s->options->quick ? MANY : size_of(s), &pair);
        if (status == ATN_OK) status = try_precisions(s, &TRIALS[k], &pair);
        bench_pair_free(&pair);
    }
    return status;
}
