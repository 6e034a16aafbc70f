/* Pairs of one object, of different objects and of symmetric objects, in any pose. A result is right if points are
 * within five spacings of their true positions (rms). The table has verdicts against right, wrong, different,
 * symmetric.
 */
#include "bench/trust.h"

#include "base/compare.h"
#include "base/memory.h"
#include "sample/things.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const double RIGHT = 5; /* spacings */
enum { LIKE_RIGHT, LIKE_WRONG, LIKE_DIFFERENT, LIKE_SYMMETRIC, LIKES, VERDICTS = ATN_VERDICT_TRUSTED + 1 };

typedef struct tally {
    size_t count[LIKES][VERDICTS];
    size_t complete; /* symmetric things that are doubtful with all their poses */
    double *seconds; /* CPU time of each pair; owned */
    size_t pairs;
} tally;

/* ---- pairs ---- */

static double between(atn_random *random, double low, double high) {
    return low + (high - low) * atn_random_unit(random);
}

/* Of ten pairs six are of one thing, three of different ones, one is of a thing with symmetry. */
static thing_settings settings_of(size_t k, uint64_t seed) {
    atn_random random;
    atn_random_seed(&random, seed + 7919 * k);
    size_t kind = k % 10;
    thing_settings s = {.seed = seed + 104729 * k};
    double size = exp(between(&random, log(1500), log(10000))), ratio = exp(between(&random, log(0.25), log(4)));
    s.source = (size_t)size;
    s.target = (size_t)fmax(1000, size * ratio);
    s.noise = atn_random_unit(&random) < 0.2 ? 0 : between(&random, 0, 1);
    s.outliers = atn_random_unit(&random) < 0.5 ? 0 : between(&random, 0, 0.6);
    s.overlap = between(&random, 0.1, 1);
    s.kind = (thing_kind)atn_random_below(&random, THING_CUBE);
    if (kind >= 6 && kind < 9) s.pair = (thing_pair_kind)(1 + atn_random_below(&random, 3));
    if (kind == 9) {
        s.kind = (thing_kind)(THING_CUBE + k / 10 % (THING_KINDS - THING_CUBE));
        s.overlap = 1;
        s.outliers = 0;
        s.noise = between(&random, 0, 0.5);
    }
    if (s.kind == THING_SCANS) {
        s.target = s.source;
        s.outliers = 0;
        s.overlap = between(&random, 0.3, 0.9);
        s.noise *= 0.5;
        if (s.pair != THING_SAME) s.pair = THING_OTHER;
    }
    if (s.kind == THING_CLOUD) s.noise = 0;
    return s;
}

/* Root mean square of how far source points are from where they belong. */
static double off(const double a[16], const double b[16], const atn_cloud *cloud) {
    size_t n = atn_cloud_info_of(cloud).points;
    const double *p[3] = {atn_cloud_positions(cloud, 0), atn_cloud_positions(cloud, 1), atn_cloud_positions(cloud, 2)};
    double sum = 0;
    for (size_t k = 0; k < n; ++k)
        for (int i = 0; i < 3; ++i) {
            double d = a[4 * i + 3] - b[4 * i + 3];
            for (int j = 0; j < 3; ++j) d += (a[4 * i + j] - b[4 * i + j]) * p[j][k];
            sum += d * d;
        }
    return sqrt(sum / (double)n);
}

static void describe(const thing_settings *s, char *text, size_t bytes) {
    snprintf(text, bytes, "%s, %s, %zu/%zu, overlap %.2f, noise %.2f, outliers %.2f", thing_name(s->kind),
             thing_pair_name(s->pair), s->source, s->target, s->overlap, s->noise, s->outliers);
}

static int like(const thing_settings *s, const thing_pair *pair, const atn_register_result *r, double *error) {
    int32_t poses, sliding;
    thing_symmetry(s->kind, &poses, &sliding);
    *error = s->pair == THING_SAME ? off(r->transform, pair->transform, pair->source) / pair->spacing : 0;
    if (s->pair != THING_SAME) return LIKE_DIFFERENT;
    if (poses != 1 || sliding) return LIKE_SYMMETRIC;
    return *error < RIGHT ? LIKE_RIGHT : LIKE_WRONG;
}

static atn_status one(atn_ctx *ctx, atn_device *device, const atn_bench_trust_options *o, size_t k, tally *t,
                      bool *go) {
    static const char *const LIKE[] = {"right", "wrong", "different", "symmetric"};
    thing_settings s = settings_of(k, o->seed);
    thing_pair pair;
    atn_register_settings settings = {.method = o->method};
    atn_register_result *r = atn_zalloc(ctx, sizeof *r);
    atn_bench_row row = {.unit = "s"};
    double error;
    snprintf(row.name, sizeof row.name, "case %zu", k);
    describe(&s, row.shape, sizeof row.shape);
    atn_bench_progress(&o->to, row.shape);
    atn_status status = r ? thing_pair_make(ctx, &s, &pair) : ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        clock_t since = clock();
        status = atn_register(device, pair.source, pair.target, &settings, r);
        row.seconds = row.ours = (double)(clock() - since) / CLOCKS_PER_SEC;
    }
    if (status == ATN_OK) {
        int32_t poses, sliding;
        int is = like(&s, &pair, r, &error);
        thing_symmetry(s.kind, &poses, &sliding);
        ++t->count[is][r->verdict];
        t->complete += is == LIKE_SYMMETRIC && r->verdict == ATN_VERDICT_DOUBTFUL && r->n_sliding >= sliding &&
                       (sliding || r->n_alternatives + 1 >= poses);
        t->seconds[t->pairs++] = row.seconds;
        snprintf(row.note, sizeof row.note,
                 "%s, off by %.2f, %s: %s; agreement %.2f, overlap %.2f %.2f, runner-up %.2f", LIKE[is], error,
                 atn_verdict_name(r->verdict), r->reason, r->agreement, r->overlap_source, r->overlap_target,
                 r->runner_up);
        snprintf(row.device, sizeof row.device, "%s", r->device);
        if (o->cases) *go = atn_bench_visit(&o->to, &row);
        thing_pair_free(&pair);
    }
    atn_free(ctx, r);
    return status;
}

/* ---- the table ---- */

static bool tell(const atn_bench_trust_options *o, const char *name, double part, double whole, double wanted,
                 const char *note) {
    atn_bench_row row = {.ours = whole > 0 ? 100 * part / whole : 100, .reference = wanted, .unit = "%"};
    row.ratio = wanted > 0 ? row.ours / wanted : 0;
    if (wanted > 0) snprintf(row.reference_name, sizeof row.reference_name, "wanted");
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.shape, sizeof row.shape, "%.0f of %.0f", part, whole);
    snprintf(row.note, sizeof row.note, "%s", note);
    return atn_bench_visit(&o->to, &row);
}

static void summary(const atn_bench_trust_options *o, tally *t) {
    static const char *const NAMES[] = {"right answers", "wrong answers", "different things", "things with symmetry"};
    double sum[LIKES] = {0};
    for (int k = 0; k < LIKES; ++k) {
        const size_t *c = t->count[k];
        char note[96];
        for (int v = 0; v < VERDICTS; ++v) sum[k] += (double)c[v];
        snprintf(note, sizeof note, "trusted %zu, doubtful %zu, refused %zu", c[ATN_VERDICT_TRUSTED],
                 c[ATN_VERDICT_DOUBTFUL], c[ATN_VERDICT_REFUSED]);
        if (!tell(o, NAMES[k], sum[k], (double)t->pairs, 0, note)) return;
    }
    double right = (double)t->count[LIKE_RIGHT][ATN_VERDICT_TRUSTED], trusted = 0;
    for (int k = 0; k < LIKES; ++k) trusted += (double)t->count[k][ATN_VERDICT_TRUSTED];
    double doubted = sum[LIKE_DIFFERENT] - (double)t->count[LIKE_DIFFERENT][ATN_VERDICT_TRUSTED];
    qsort(t->seconds, t->pairs, sizeof *t->seconds, atn_ascending_double);
    char note[96];
    double median = t->seconds[t->pairs / 2], longest = t->seconds[t->pairs - 1];
    snprintf(note, sizeof note, "CPU time: median %.3g s, longest %.3g s, %.1f times the median", median, longest,
             longest / median);
    if (tell(o, "trusted that are right", right, trusted, 99, "") &&
        tell(o, "right that are trusted", right, sum[LIKE_RIGHT], 95, "") &&
        tell(o, "different and not trusted", doubted, sum[LIKE_DIFFERENT], 99, "") &&
        tell(o, "symmetric with all poses", (double)t->complete, sum[LIKE_SYMMETRIC], 100, ""))
        tell(o, "within 10 times the median", (double)t->pairs - (longest > 10 * median), (double)t->pairs, 100, note);
}

atn_status atn_bench_trust(atn_ctx *ctx, atn_device *device, const atn_bench_trust_options *options) {
    tally t = {.seconds = atn_alloc(ctx, options->pairs * sizeof *t.seconds)};
    atn_status status = t.seconds ? ATN_OK : ATN_ERR_MEMORY;
    bool go = true;
    for (size_t k = 0; k < options->pairs && status == ATN_OK && go; ++k)
        status = one(ctx, device, options, k, &t, &go);
    if (status == ATN_OK && go) summary(options, &t);
    atn_free(ctx, t.seconds);
    return status;
}
