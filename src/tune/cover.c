/* Covering many shapes with few variants. */
#include "tune/cover.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static const double WITHIN = 0.02;

static double best_at(const double *seconds, int32_t n_variants, int32_t n_shapes, int32_t shape) {
    double best = INFINITY;
    for (int32_t v = 0; v < n_variants; ++v)
        if (seconds[v * n_shapes + shape] < best) best = seconds[v * n_shapes + shape];
    return best;
}

int32_t atn_cover_choose(const double *seconds, int32_t n_variants, int32_t n_shapes, double within, bool *chosen,
                         int32_t *pick) {
    int32_t n = 0;
    for (int32_t v = 0; v < n_variants; ++v) chosen[v] = false;
    for (int32_t s = 0; s < n_shapes; ++s) pick[s] = -1;
    for (;;) {
        int32_t found = -1, most = 0;
        double least = INFINITY;
        for (int32_t v = 0; v < n_variants; ++v) {
            int32_t covers = 0;
            double loss = 0; /* of equals the one that is nearer to the best where it covers */
            for (int32_t s = 0; s < n_shapes; ++s) {
                double best = best_at(seconds, n_variants, n_shapes, s), mine = seconds[v * n_shapes + s];
                if (pick[s] >= 0 || !isfinite(mine) || mine > (1 + within) * best) continue;
                ++covers;
                loss += log(mine / best);
            }
            if (covers > most || (covers == most && covers > 0 && loss < least)) {
                found = v;
                most = covers;
                least = loss;
            }
        }
        if (found < 0) break;
        chosen[found] = true;
        ++n;
        for (int32_t s = 0; s < n_shapes; ++s)
            if (pick[s] < 0 && isfinite(seconds[found * n_shapes + s]) &&
                seconds[found * n_shapes + s] <= (1 + within) * best_at(seconds, n_variants, n_shapes, s))
                pick[s] = found;
    }
    for (int32_t s = 0; s < n_shapes; ++s) /* of the chosen, the fastest */
        for (int32_t v = 0; v < n_variants; ++v)
            if (chosen[v] && pick[s] >= 0 && seconds[v * n_shapes + s] < seconds[pick[s] * n_shapes + s]) pick[s] = v;
    return n;
}

/* Different winners, as texts of the results; ended by NULL. */
static int32_t list_winners(const atn_tune_result *results, int32_t n, const char **list) {
    int32_t count = 0;
    for (int32_t k = 0; k < n; ++k) {
        bool known = !results[k].variant;
        for (int32_t j = 0; j < count && !known; ++j) known = strcmp(list[j], results[k].variant) == 0;
        if (!known) list[count++] = results[k].variant;
    }
    list[count] = NULL;
    return count;
}

static atn_status crown_again(atn_device *device, atn_wisdom *wisdom, const atn_workload *workload,
                              const atn_tune_options *options, const char *variant, atn_tune_result *result) {
    atn_tune_options again = *options;
    const char *const only[] = {variant, NULL};
    again.only = only;
    again.again = false;
    again.evaluations = 0;
    atn_tune_result fresh;
    atn_status status = atn_tune(device, wisdom, workload, &again, &fresh);
    if (status != ATN_OK) return status;
    fresh.worst_s = fmax(fresh.worst_s, result->worst_s);
    fresh.seconds += result->seconds;
    atn_tune_result_free(result);
    *result = fresh;
    return ATN_OK;
}

atn_status atn_cover(atn_device *device, atn_wisdom *wisdom, const atn_workload *workloads, int32_t n,
                     const atn_tune_options *options, atn_tune_result *results, int32_t *chosen_count) {
    const atn_ctx *ctx = atn_device_ctx(device);
    size_t all = (size_t)n + 1;
    const char **only = atn_zalloc(ctx, all * sizeof *only);
    double *seconds = atn_zalloc(ctx, all * all * sizeof *seconds);
    bool *chosen = atn_zalloc(ctx, all);
    int32_t *pick = atn_zalloc(ctx, all * sizeof *pick);
    char **copies = atn_zalloc(ctx, all * sizeof *copies);
    atn_status status = only && seconds && chosen && pick && copies ? ATN_OK : ATN_ERR_MEMORY;
    int32_t count = status == ATN_OK ? list_winners(results, n, only) : 0;
    for (int32_t v = 0; v < count && status == ATN_OK; ++v) { /* results change while we need the texts */
        copies[v] = atn_strdup(ctx, only[v]);
        only[v] = copies[v];
        if (!copies[v]) status = ATN_ERR_MEMORY;
    }
    atn_tune_options cross = *options;
    cross.only = only;
    cross.again = false;
    cross.evaluations = 0;
    for (int32_t k = 0; k < n && status == ATN_OK && count > 1; ++k) {
        atn_tune_result r;
        status = atn_tune(device, wisdom, &workloads[k], &cross, &r);
        for (int32_t v = 0; v < count && status == ATN_OK; ++v) seconds[v * n + k] = r.only_s ? r.only_s[v] : INFINITY;
        results[k].seconds += status == ATN_OK ? r.seconds : 0;
        atn_tune_result_free(&r);
    }
    int32_t taken = count;
    if (status == ATN_OK && count > 1) taken = atn_cover_choose(seconds, count, n, WITHIN, chosen, pick);
    for (int32_t k = 0; k < n && status == ATN_OK && count > 1; ++k)
        if (pick[k] >= 0 && results[k].variant)
            status = crown_again(device, wisdom, &workloads[k], options, only[pick[k]], &results[k]);
    if (chosen_count) *chosen_count = taken;
    for (int32_t v = 0; v < count && copies; ++v) atn_free(ctx, copies[v]);
    atn_free(ctx, copies);
    atn_free(ctx, (void *)only);
    atn_free(ctx, seconds);
    atn_free(ctx, chosen);
    atn_free(ctx, pick);
    return status;
}
