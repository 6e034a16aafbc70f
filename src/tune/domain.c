/* A space as strategies see it. */
#include "tune/domain.h"

#include "base/memory.h"

static bool allows(void *self, const int32_t *point) {
    const atn_space_domain *d = self;
    return atn_space_allows(d->space, point, NULL);
}

static bool draw(void *self, uint64_t (*random)(void *user), void *user, int32_t *point) {
    const atn_space_domain *d = self;
    return atn_space_draw(d->ctx, d->space, random, user, point) == ATN_OK;
}

static bool at(void *self, uint64_t rank, int32_t *point) {
    const atn_space_domain *d = self;
    return (double)rank < d->domain.size && atn_space_unrank(d->ctx, d->space, rank, point) == ATN_OK;
}

static atn_status read_parameter(atn_space_domain *d, int32_t k) {
    d->levels[k] = atn_space_levels(d->space, k);
    d->number[k] = atn_zalloc(d->ctx, ((size_t)d->levels[k] + 1) * sizeof **d->number);
    if (!d->number[k]) return ATN_ERR_MEMORY;
    d->ordered[k] = true;
    for (int32_t level = 0; level < d->levels[k]; ++level) {
        const atn_setting *setting = atn_space_setting(d->space, k, level);
        bool number = setting->kind != ATN_SETTING_TEXT;
        d->ordered[k] = d->ordered[k] && number;
        d->number[k][level] = number ? setting->number : level;
    }
    return ATN_OK;
}

atn_status atn_space_domain_open(const atn_ctx *ctx, const atn_space *space, atn_space_domain *out) {
    *out = (atn_space_domain){.ctx = ctx, .space = space};
    int32_t n = atn_space_count_parameters(space);
    out->levels = atn_zalloc(ctx, ((size_t)n + 1) * sizeof *out->levels);
    out->number = atn_zalloc(ctx, ((size_t)n + 1) * sizeof *out->number);
    out->ordered = atn_zalloc(ctx, ((size_t)n + 1) * sizeof *out->ordered);
    if (!out->levels || !out->number || !out->ordered) return ATN_ERR_MEMORY;
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < n && status == ATN_OK; ++k) {
        out->n = k + 1;
        status = read_parameter(out, k);
    }
    atn_count count = {0};
    if (status == ATN_OK) status = atn_space_count(ctx, space, &count);
    if (status == ATN_OK && !(count.number > 0)) status = atn_fail(ctx, ATN_ERR_INPUT, "the space allows no point");
    out->domain = (atn_domain){.n_parameters = n,
                               .levels = out->levels,
                               .number = (const double *const *)out->number,
                               .ordered = out->ordered,
                               .size = count.number,
                               .allows = allows,
                               .draw = draw,
                               .at = count.fits ? at : NULL,
                               .self = out};
    return status;
}

void atn_space_domain_close(atn_space_domain *d) {
    for (int32_t k = 0; k < d->n && d->number; ++k) atn_free(d->ctx, d->number[k]);
    if (d->ctx) {
        atn_free(d->ctx, d->levels);
        atn_free(d->ctx, d->number);
        atn_free(d->ctx, d->ordered);
    }
    *d = (atn_space_domain){0};
}
