/* Lookup: level by level, one indexed query each, from the exact key to the shipped wisdom. */
#include "wisdom/shipped.h"
#include "wisdom/store.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static const char *const HIT_NAMES[] = {[ATN_HIT_NONE] = "none",
                                        [ATN_HIT_SHIPPED] = "shipped",
                                        [ATN_HIT_NEAR_DEVICE] = "near device",
                                        [ATN_HIT_NEAR_SHAPE] = "near shape",
                                        [ATN_HIT_EXACT] = "exact"};

const char *atn_hit_name(atn_hit_kind kind) { return HIT_NAMES[kind]; }

void atn_hit_free(atn_hit *hit) {
    if (!hit || !hit->ctx) return;
    atn_free(hit->ctx, hit->variant);
    atn_free(hit->ctx, hit->device);
    atn_free(hit->ctx, hit->when);
    *hit = (atn_hit){0};
}

static double size_of(int64_t size) { return size < 1 ? 1 : (double)size; }

static double distance(const atn_wisdom_key *a, const atn_wisdom_key *b) {
    double sum = 0;
    for (int32_t d = 0; d < a->n_shape; ++d) {
        double ratio = log2(size_of(a->shape[d])) - log2(size_of(b->shape[d]));
        sum += ratio * ratio;
    }
    return sqrt(sum);
}

static bool same(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

static atn_status fill(const atn_ctx *ctx, atn_hit_kind kind, const atn_wisdom_key *wanted, const atn_wisdom_key *found,
                       const atn_wisdom_winner *winner, atn_hit *hit) {
    *hit = (atn_hit){.ctx = ctx,
                     .kind = kind,
                     .stale = kind == ATN_HIT_NEAR_DEVICE && same(wanted->device, found->device) &&
                              !(same(wanted->driver, found->driver) && same(wanted->compiler, found->compiler)),
                     .distance = distance(wanted, found),
                     .n_shape = found->n_shape,
                     .seconds = winner->seconds,
                     .low = winner->low,
                     .high = winner->high,
                     .fraction_of_peak = winner->fraction_of_peak};
    memcpy(hit->shape, found->shape, sizeof hit->shape);
    if ((hit->variant = atn_strdup(ctx, winner->variant)) && (hit->device = atn_strdup(ctx, found->device)) &&
        (hit->when = atn_strdup(ctx, winner->when)))
        return ATN_OK;
    atn_hit_free(hit);
    return ATN_ERR_MEMORY;
}

/* What was used although it was not measured here and now is always said. */
static void report(const atn_ctx *ctx, const atn_wisdom_key *wanted, const atn_wisdom_key *found, const atn_hit *hit) {
    const char *kernel = wanted->kernel ? wanted->kernel : "a kernel";
    if (hit->kind == ATN_HIT_SHIPPED)
        atn_log(ctx, ATN_LOG_INFO, "wisdom: %s: as shipped with attune, measured on %s at %s", kernel, hit->device,
                hit->when);
    else if (hit->stale)
        atn_log(ctx, ATN_LOG_INFO, "wisdom: %s: measured on %s with '%s', which is '%s' now; tuning again may gain",
                kernel, hit->device, same(wanted->driver, found->driver) ? found->compiler : found->driver,
                same(wanted->driver, found->driver) ? wanted->compiler : wanted->driver);
    else if (hit->kind == ATN_HIT_NEAR_DEVICE)
        atn_log(ctx, ATN_LOG_INFO, "wisdom: %s: measured on %s, a device of the same kind", kernel, hit->device);
}

static atn_status try_level(const atn_ctx *ctx, atn_wisdom *wisdom, atn_statement which, atn_hit_kind kind,
                            const atn_wisdom_key *key, atn_hit *hit) {
    sqlite3_stmt *statement;
    bool there;
    atn_status status = atn_store_prepare_key(wisdom, which, key, &statement);
    if (status == ATN_OK) status = atn_store_step(wisdom, statement, &there);
    if (status != ATN_OK || !there) return status;
    atn_wisdom_key found;
    atn_wisdom_winner winner;
    atn_fields_column(statement, atn_key_column(statement, 0, &found), ATN_FIELDS_WINNER, &winner);
    status = fill(ctx, kind, key, &found, &winner, hit);
    if (status == ATN_OK) report(ctx, key, &found, hit);
    atn_store_reset(statement);
    return status;
}

atn_status atn_wisdom_find(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_key *key, atn_hit *out) {
    static const struct {
        atn_statement which;
        atn_hit_kind kind;
    } levels[] = {{ATN_SQL_EXACT, ATN_HIT_EXACT},
                  {ATN_SQL_NEAR_SHAPE, ATN_HIT_NEAR_SHAPE},
                  {ATN_SQL_NEAR_DEVICE, ATN_HIT_NEAR_DEVICE}};
    *out = (atn_hit){.ctx = ctx};
    atn_status status = ATN_OK;
    if (wisdom) {
        pthread_mutex_lock(&wisdom->lock);
        for (size_t k = 0; k < sizeof levels / sizeof *levels && status == ATN_OK && out->kind == ATN_HIT_NONE; ++k)
            status = try_level(ctx, wisdom, levels[k].which, levels[k].kind, key, out);
        pthread_mutex_unlock(&wisdom->lock);
    }
    if (status != ATN_OK || out->kind != ATN_HIT_NONE) return status;
    atn_wisdom *shipped;
    status = atn_wisdom_shipped(ctx, key->graph, &shipped);
    if (status != ATN_OK || !shipped) return status;
    pthread_mutex_lock(&shipped->lock);
    atn_wisdom_key of_any = *key;
    of_any.generator = ATN_SHIPPED_GENERATOR;
    status = try_level(ctx, shipped, ATN_SQL_SHIPPED, ATN_HIT_SHIPPED, &of_any, out);
    pthread_mutex_unlock(&shipped->lock);
    return status;
}
