/* Converting between points and variants. */
#include "tune/field.h"

#include "graph/type.h"

#include <string.h>

enum { DRAWS = 256 };

/* ---- from one to the other ---- */

atn_status atn_field_variant(const atn_field *f, const int32_t *point, atn_variant *out) {
    *out = atn_variant_plain();
    atn_text value = {.ctx = f->ctx};
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < f->n && status == ATN_OK; ++k) {
        const atn_setting *setting = atn_space_setting(f->space, k, point[k]);
        atn_text_clear(&value);
        if (setting->kind == ATN_SETTING_BOOL)
            atn_text_printf(&value, "%d", setting->number != 0);
        else
            atn_setting_print(setting, &value);
        status = atn_text_status(&value);
        if (status == ATN_OK)
            status = atn_variant_set(f->ctx, out, atn_space_parameter(f->space, k), atn_text_str(&value));
    }
    atn_text_free(&value);
    return status;
}

/* Does this setting mean this value of the knob? Names are tried by setting them. */
static bool means(const atn_field *f, const char *knob, const atn_setting *setting, int64_t wanted) {
    if (setting->kind != ATN_SETTING_TEXT) return setting->number == (double)wanted;
    atn_variant v = atn_variant_plain();
    int64_t value;
    return atn_variant_set(f->ctx, &v, knob, setting->text) == ATN_OK && atn_variant_get(&v, knob, &value) &&
           value == wanted;
}

bool atn_field_point(const atn_field *f, const atn_variant *variant, int32_t *point) {
    atn_variant rest = *variant, plain = atn_variant_plain();
    for (int32_t k = 0; k < f->n; ++k) {
        const char *knob = atn_space_parameter(f->space, k);
        int64_t wanted;
        if (!atn_variant_get(variant, knob, &wanted)) return false;
        for (point[k] = 0; point[k] < f->open.levels[k]; ++point[k])
            if (means(f, knob, atn_space_setting(f->space, k, point[k]), wanted)) break;
        if (point[k] == f->open.levels[k]) return false;
        atn_text usual = {.ctx = f->ctx};
        atn_variant_get(&plain, knob, &wanted);
        atn_text_printf(&usual, "%lld", (long long)wanted);
        if (atn_variant_set(f->ctx, &rest, knob, atn_text_str(&usual)) != ATN_OK) point[k] = -1;
        atn_text_free(&usual);
        if (point[k] < 0) return false;
    }
    return memcmp(&rest, &plain, sizeof rest) == 0; /* all knobs that the space does not have are at their plain values
                                                     * */
}

/* ---- which make sense ---- */

/* Sums are joined as the description says, whatever the variant: no lanes, registers, vectors or splits of a range. */
static bool keeps_results(const atn_variant *v) {
    for (int d = 0; d < ATN_MAX_RANK; ++d)
        if (v->q[d].lanes > 1 || v->q[d].vec > 1 || v->q[d].regs > 1 || v->q[d].split > 1) return false;
    return !v->fast && v->accumulate == 0 && v->exp == ATN_EXP_LIBRARY;
}

bool atn_field_fits(const atn_field *f, const atn_variant *variant, const char **why_not) {
    const char *unused;
    if (!why_not) why_not = &unused;
    if (f->reproducible && !keeps_results(variant)) {
        *why_not = "its result would depend on the variant";
        return false;
    }
    return atn_variant_fits(f->graph, variant, &f->target, why_not);
}

static bool allows(void *self, const int32_t *point) {
    const atn_field *f = self;
    atn_variant v;
    return atn_space_allows(f->space, point, NULL) && atn_field_variant(f, point, &v) == ATN_OK &&
           atn_field_fits(f, &v, NULL);
}

static bool draw(void *self, uint64_t (*random)(void *user), void *user, int32_t *point) {
    const atn_field *f = self;
    for (int k = 0; k < DRAWS; ++k) {
        atn_variant v;
        if (atn_space_draw(f->ctx, f->space, random, user, point) != ATN_OK) return false;
        if (atn_field_variant(f, point, &v) == ATN_OK && atn_field_fits(f, &v, NULL)) return true;
    }
    return false;
}

/* ---- opening ---- */

static atn_status check_knob(const atn_field *f, int32_t k) {
    const char *name = atn_space_parameter(f->space, k);
    atn_variant plain = atn_variant_plain();
    int64_t unused;
    if (atn_variant_get(&plain, name, &unused)) return ATN_OK;
    return atn_variant_set(f->ctx, &plain, name, "0"); /* says which there are */
}

atn_status atn_field_open(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                          const atn_space *space, bool reproducible, atn_field *out) {
    *out = (atn_field){.ctx = ctx,
                       .graph = graph,
                       .info = info,
                       .space = space,
                       .target = atn_target_of(info),
                       .reproducible = reproducible,
                       .n = atn_space_count_parameters(space)};
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < out->n && status == ATN_OK; ++k) status = check_knob(out, k);
    if (status == ATN_OK) status = atn_space_domain_open(ctx, space, &out->open);
    if (status == ATN_ERR_INPUT && out->open.ctx) status = atn_fail_within(ctx, status, "%s", graph->name);
    out->domain = out->open.domain;
    out->domain.allows = allows;
    out->domain.draw = draw;
    out->domain.at = NULL; /* ranks of the space count points that the graph has no variant for */
    out->domain.self = out;
    return status;
}

void atn_field_close(atn_field *f) {
    atn_space_domain_close(&f->open);
    *f = (atn_field){0};
}

atn_status atn_field_code(const atn_field *f, const atn_variant *v, atn_hash *out) {
    atn_text source = {.ctx = f->ctx};
    atn_status status = atn_built_source(f->ctx, f->graph, v, f->info->backend, &f->target, &source);
    *out = (atn_hash){0};
    if (status == ATN_OK) {
        int32_t launch[] = {v->groups, v->threads, v->fast, atn_variant_items(v)};
        const char *text = atn_text_str(&source), *name = strstr(text, "Variant: "); /* in a comment at the top */
        const char *rest = name ? name + strcspn(name, "\n") : text;
        *out = atn_hash_add(*out, text, name ? (size_t)(name - text) : 0);
        *out = atn_hash_add(atn_hash_add_text(*out, rest), launch, sizeof launch);
    }
    atn_text_free(&source);
    return status;
}
