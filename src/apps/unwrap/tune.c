/* Tuning the knobs of the solver: frames of a known surface, moving from the default knobs to the best of those that
 * differ in one, as long as that is faster. Inaccurate solutions are rejected, however fast. */
#include "apps/unwrap/unwrap.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/sized.h"
#include "space/device_given.h"
#include "space/shipped.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WARM = 2, FRAMES = 7, DUELS = 3, KNOBS = 6, MOST_TRIED = 512 };
static const double WORTH = 0.98; /* of the time: what is not faster by so much is noise */
static const double OFF[2] = {1e-4, 1e-9};

typedef struct point {
    int32_t level[KNOBS];
} point;

typedef struct search {
    const atn_ctx *ctx;
    atn_device *device;
    int64_t width, height;
    const atn_unwrap_tune_settings *options;
    int32_t bits;
    double *truth;
    void *phase, *out;
    atn_space *space;
    atn_wisdom *wisdom;
    atn_wisdom_key key;
    double until; /* the clock's time at which no more is begun; 0: never */
    point tried[MOST_TRIED], best;
    double best_s;
    atn_status status;
    atn_unwrap_tuned *tuned;
} search;

/* Smooth, of so many turns as the pixels can show. */
static void make_surface(search *s) {
    double h = fmin(60, (double)(s->width < s->height ? s->width : s->height) / 8);
    for (int64_t y = 0; y < s->height; ++y)
        for (int64_t x = 0; x < s->width; ++x) {
            double a = ((double)x - (double)s->width / 2) / (double)s->width;
            double b = ((double)y - (double)s->height / 2) / (double)s->height;
            double value = h * exp(-8 * (a * a + b * b)) + 0.3 * h * sin(5 * a) * cos(4 * b) + 0.2 * h * a;
            size_t k = (size_t)(y * s->width + x);
            s->truth[k] = value;
            value = remainder(value, 2 * acos(-1.0));
            if (s->bits == 64)
                ((double *)s->phase)[k] = value;
            else
                ((float *)s->phase)[k] = (float)value;
        }
}

static double error_of(const search *s) {
    size_t pixels = (size_t)(s->width * s->height);
    double sum = 0, squares = 0;
    for (size_t k = 0; k < pixels; ++k) {
        double off = (s->bits == 64 ? ((double *)s->out)[k] : (double)((float *)s->out)[k]) - s->truth[k];
        sum += off;
        squares += off * off;
    }
    sum /= (double)pixels;
    return sqrt(fmax(squares / (double)pixels - sum * sum, 0));
}

/* The least of some frames; the first ones plan, and keep launches. */
static atn_status measure(const search *s, const unwrap_knobs *knobs, double *seconds, double *error) {
    atn_unwrap *u;
    atn_unwrap_result result = {0};
    *seconds = INFINITY;
    atn_unwrap_settings options = {.bits = s->bits, .method = ATN_UNWRAP_METHOD_MULTIGRID};
    atn_status status = unwrap_open(s->device, s->width, s->height, &options, knobs, &u);
    for (int k = 0; k < WARM + FRAMES && status == ATN_OK; ++k) {
        double since = atn_clock_seconds();
        status = atn_unwrap_solve(u, s->phase, NULL, s->out, &result);
        double took = atn_clock_seconds() - since;
        if (k >= WARM && took < *seconds) *seconds = took;
    }
    *error = status == ATN_OK ? error_of(s) : INFINITY;
    atn_unwrap_free(u);
    return status;
}

static bool known(const search *s, const int32_t *levels) {
    for (int32_t k = 0; k < s->tuned->tried; ++k)
        if (memcmp(s->tried[k].level, levels, sizeof s->tried[k].level) == 0) return true;
    return false;
}

static bool is_over(const search *s) {
    return s->tuned->tried == MOST_TRIED || (s->options->evaluations && s->tuned->tried >= s->options->evaluations) ||
           (s->until > 0 && atn_clock_seconds() > s->until);
}

/* Tries one point; the first is the usual one, and always tried. */
static bool visit(void *user, const int32_t *levels) {
    search *s = user;
    if (known(s, levels)) return true;
    if (s->tuned->tried > 0 && is_over(s)) return false;
    atn_text text = {.ctx = s->ctx};
    unwrap_knobs knobs;
    double seconds = 0, error = INFINITY;
    int64_t starts;
    atn_space_print(s->space, levels, &text);
    memcpy(s->tried[s->tuned->tried++].level, levels, sizeof s->tried->level);
    s->status = atn_text_status(&text);
    if (s->status == ATN_OK && !unwrap_knobs_read(atn_text_str(&text), &knobs))
        s->status = atn_fail(s->ctx, ATN_ERR_INPUT, "'%s' of the search space has unknown tuning parameters",
                             atn_text_str(&text));
    if (s->status == ATN_OK) s->status = atn_wisdom_begin(s->wisdom, &s->key, atn_text_str(&text), &starts);
    if (s->status == ATN_OK) s->status = measure(s, &knobs, &seconds, &error);
    bool right = s->status == ATN_OK && error <= OFF[s->bits == 64];
    atn_wisdom_row row = {.variant = atn_text_str(&text),
                          .outcome = right ? "right" : "wrong",
                          .detail = right ? "" : "the result is wrong",
                          .seconds = seconds,
                          .low = seconds,
                          .high = seconds,
                          .error = error,
                          .samples = FRAMES};
    if (s->status == ATN_OK) s->status = atn_wisdom_tell(s->wisdom, &s->key, &row);
    if (s->tuned->tried == 1) s->tuned->default_seconds = right ? seconds : 0;
    s->tuned->failed += !right;
    if (right && (s->best_s == 0 || seconds < WORTH * s->best_s)) {
        s->best_s = s->tuned->seconds = seconds;
        memcpy(s->best.level, levels, sizeof s->best.level);
        snprintf(s->tuned->knobs, sizeof s->tuned->knobs, "%s", atn_text_str(&text));
    }
    atn_text_free(&text);
    if (s->options->progress && s->status == ATN_OK) s->options->progress(s->options->user, s->tuned);
    if (s->status == ATN_OK) s->status = atn_check_cancel(s->ctx);
    return s->status == ATN_OK;
}

/* Down from point to point: all that differ in one knob, then on from the best of them. */
static atn_status descend(search *s) {
    point at;
    char text[UNWRAP_KNOBS_TEXT];
    unwrap_knobs usual = unwrap_knobs_usual();
    unwrap_knobs_print(&usual, text, sizeof text);
    atn_status status = atn_space_point(s->ctx, s->space, text, at.level);
    if (status == ATN_OK) visit(s, at.level);
    while (status == ATN_OK && s->status == ATN_OK && s->best_s > 0) {
        at = s->best;
        status = atn_space_neighbours(s->ctx, s->space, at.level, false, visit, s);
        if (is_over(s) || memcmp(&at, &s->best, sizeof at) == 0) break;
    }
    return s->status == ATN_OK ? status : s->status;
}

static atn_status open_space(search *s) {
    atn_given given[ATN_DEVICE_GIVEN];
    const char *text = s->options->space ? s->options->space : atn_space_shipped("unwrap");
    const char *name = s->options->space ? s->options->space_name : "unwrap.lanai";
    atn_device_given(atn_device_get_info(s->device), given);
    atn_status status = atn_space_parse(s->ctx, name, text, strlen(text), given, ATN_DEVICE_GIVEN, &s->space);
    if (status == ATN_OK && atn_space_count_parameters(s->space) != KNOBS)
        status = atn_fail(s->ctx, ATN_ERR_INPUT,
                          "%s: %d parameters; expected smoother, cycle, before, after, coarsest and fuse", name,
                          atn_space_count_parameters(s->space));
    if (status == ATN_OK) s->key.space = atn_space_hash(s->space);
    return status;
}

/* The best and the usual ones once more in turn: others use the machine, too, and may have done so when either ran. */
static atn_status duel(search *s) {
    unwrap_knobs side[2] = {unwrap_knobs_usual()};
    char usual[UNWRAP_KNOBS_TEXT];
    double least[2] = {INFINITY, INFINITY}, seconds, error;
    atn_status status = ATN_OK;
    unwrap_knobs_print(&side[0], usual, sizeof usual);
    if (s->best_s == 0 || s->tuned->default_seconds == 0 || strcmp(usual, s->tuned->knobs) == 0) return ATN_OK;
    if (!unwrap_knobs_read(s->tuned->knobs, &side[1])) return ATN_OK;
    for (int k = 0; k < 2 * DUELS && status == ATN_OK; ++k) {
        status = measure(s, &side[k % 2], &seconds, &error);
        least[k % 2] = fmin(least[k % 2], seconds);
    }
    if (status != ATN_OK) return status;
    bool won = least[1] < WORTH * least[0];
    if (!won) snprintf(s->tuned->knobs, sizeof s->tuned->knobs, "%s", usual);
    s->tuned->default_seconds = least[0];
    s->best_s = s->tuned->seconds = least[won];
    return ATN_OK;
}

static atn_status crown(search *s) {
    if (s->best_s == 0)
        return atn_fail(s->ctx, ATN_ERR_UNSUPPORTED, "unwrap: no parameters gave the right result at %lld x %lld",
                        (long long)s->width, (long long)s->height);
    atn_wisdom_winner winner = {.variant = s->tuned->knobs,
                                .runner_up = "",
                                .seconds = s->best_s,
                                .low = s->best_s,
                                .high = s->best_s,
                                .fallback_seconds = s->tuned->default_seconds,
                                .tried = s->tuned->tried};
    return atn_wisdom_crown(s->wisdom, &s->key, &winner);
}

static atn_status run(search *s) {
    size_t pixels = (size_t)(s->width * s->height), bytes = pixels * (size_t)s->bits / 8;
    atn_wisdom_lock_file *lock = NULL;
    atn_status status = open_space(s);
    if (status == ATN_OK) status = atn_wisdom_open(s->ctx, NULL, false, &s->wisdom);
    if (status == ATN_OK)
        status = atn_wisdom_lock(s->ctx, s->wisdom, atn_device_get_info(s->device)->name, true, &lock);
    s->truth = status == ATN_OK ? atn_alloc(s->ctx, pixels * sizeof *s->truth) : NULL;
    s->phase = s->truth ? atn_alloc(s->ctx, bytes) : NULL;
    s->out = s->phase ? atn_alloc(s->ctx, bytes) : NULL;
    if (status == ATN_OK && !s->out) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) make_surface(s);
    if (status == ATN_OK) status = descend(s);
    if (status == ATN_OK) status = duel(s);
    if (status == ATN_OK) status = crown(s);
    atn_free(s->ctx, s->out);
    atn_free(s->ctx, s->phase);
    atn_free(s->ctx, s->truth);
    atn_wisdom_unlock(lock);
    atn_wisdom_close(s->wisdom);
    atn_space_free(s->space);
    return status;
}

atn_status atn_unwrap_tune(atn_device *device, int64_t width, int64_t height, const atn_unwrap_tune_settings *given,
                           atn_unwrap_tuned *out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_unwrap_tune_settings settings;
    atn_unwrap_tuned tuned = {.size = sizeof tuned};
    atn_status status = ATN_TAKE(ctx, atn_unwrap_tune_settings, given, &settings);
    if (status == ATN_OK) status = ATN_GIVE(ctx, atn_unwrap_tuned, &tuned, out);
    if (status != ATN_OK) return status;
    int32_t bits = settings.bits ? settings.bits : 32;
    if (width < 8 || height < 8 || width > 32768 || height > 32768 || (bits != 32 && bits != 64))
        return atn_fail(ctx, ATN_ERR_INPUT, "unwrap: knobs are measured at 8 to 32768 pixels a side, in 32 or 64 bits");
    search *s = atn_zalloc(ctx, sizeof *s);
    if (!s) return ATN_ERR_MEMORY;
    s->ctx = ctx;
    s->device = device;
    s->width = width;
    s->height = height;
    s->bits = bits;
    s->options = &settings;
    s->key = unwrap_knobs_key(atn_device_get_info(device), width, height, bits);
    s->until = settings.seconds > 0 ? atn_clock_seconds() + settings.seconds : 0;
    s->tuned = &tuned;
    status = run(s);
    ATN_GIVE(ctx, atn_unwrap_tuned, &tuned, out);
    atn_free(ctx, s);
    return status;
}
