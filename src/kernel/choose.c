/* Choosing a variant for a graph, a device and sizes. */
#include "kernel/choose.h"

#include "base/memory.h"
#include "device/builtin.h"
#include "device/facts.h"
#include "kernel/known.h"
#include "tune/key.h"

#include <stdio.h>
#include <string.h>

/* Points of an estimate for any size: tiles that small grids still fill, stores that stay in caches. */
enum { SOME = 66 };
static const double FARTHEST = 6; /* doublings: what was tuned beyond them says less than the estimate */

static const char *const NAMES[ATN_ORIGIN_COUNT] = {
    [ATN_ORIGIN_GIVEN] = "given",           [ATN_ORIGIN_COMPILED_IN] = "compiled in",
    [ATN_ORIGIN_PLAIN] = "plain",           [ATN_ORIGIN_ESTIMATE] = "estimate",
    [ATN_ORIGIN_SHIPPED] = "shipped",       [ATN_ORIGIN_NEAR_DEVICE] = "near device",
    [ATN_ORIGIN_NEAR_SHAPE] = "near shape", [ATN_ORIGIN_EXACT] = "exact",
};

static const atn_origin OF_HIT[] = {
    [ATN_HIT_NONE] = ATN_ORIGIN_ESTIMATE,
    [ATN_HIT_SHIPPED] = ATN_ORIGIN_SHIPPED,
    [ATN_HIT_NEAR_DEVICE] = ATN_ORIGIN_NEAR_DEVICE,
    [ATN_HIT_NEAR_SHAPE] = ATN_ORIGIN_NEAR_SHAPE,
    [ATN_HIT_EXACT] = ATN_ORIGIN_EXACT,
};

const char *atn_origin_name(atn_origin origin) { return NAMES[origin]; }

void atn_choice_free(atn_choice *choice) {
    if (!choice->ctx) return;
    atn_hit_free(&choice->hit);
    atn_free(choice->ctx, choice->why);
    atn_free(choice->ctx, choice->failed);
    *choice = (atn_choice){0};
}

/* ---- one way after the other ---- */

static bool take_compiled_in(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info, atn_choice *out) {
    const atn_builtin *builtin = atn_backend_facts_of(info)->threads ? atn_builtin_of_graph(graph->hash) : NULL;
    atn_variant variant = atn_variant_plain();
    if (!builtin || atn_variant_parse(ctx, &variant, builtin->variant) != ATN_OK) return false;
    out->variant = variant;
    out->origin = ATN_ORIGIN_COMPILED_IN;
    return true;
}

/* Do 32-bit addresses do? Not where that cannot be found out. */
static atn_status is_near(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame,
                          const atn_choose_options *options, bool *near) {
    *near = frame || options->near;
    for (int32_t k = 0; k < graph->n_objects && *near && frame; ++k)
        *near = graph->objects[k].table || atn_view_is_near(&frame->views[k], options->offset);
    atn_status status =
        *near && frame ? atn_span_is_near(ctx, graph, frame, options->indices != ATN_INDICES_UNKNOWN, near) : ATN_OK;
    return status == ATN_ERR_MEMORY ? status : ATN_OK;
}

/* What a measurement does not know: whether gathers may go unguarded, and how far addresses must reach. */
static atn_status settle(const atn_ctx *ctx, atn_variant *v, const atn_graph *graph, const atn_device_info *info,
                         const atn_bindings *frame, const atn_choose_options *options, bool measured) {
    bool near;
    atn_status status = is_near(ctx, graph, frame, options, &near);
    v->guard = options->indices == ATN_INDICES_UNKNOWN;
    if (!near)
        v->index = 64;
    else if (!measured)
        v->index = atn_backend_facts_of(info)->index;
    return status;
}

/* Without anything that changes the order of sums or the arithmetic: the same result whatever the device. */
static void keep_order(const atn_graph *graph, const atn_device_info *info, atn_variant *v) {
    const atn_variant plain = atn_variant_plain();
    atn_target target = atn_target_of(info);
    for (int d = 0; d < ATN_MAX_RANK; ++d) {
        atn_cut kept = plain.q[d];
        kept.tile = v->q[d].tile; /* tiles follow each other, and so do unrolled steps */
        kept.unroll = v->q[d].unroll;
        v->q[d] = kept;
    }
    v->reduce = plain.reduce;
    v->finish = plain.finish;
    v->exp = plain.exp;
    v->accumulate = plain.accumulate;
    v->fast = plain.fast;
    if (!atn_variant_fits(graph, v, &target, NULL)) *v = plain;
}

static atn_status take_estimate(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                                const atn_bindings *frame, const atn_choose_options *options, atn_choice *out) {
    atn_extent extent = {.points = {SOME, SOME, graph->blocks[0].rank > 2 ? SOME : 1}, .any = true};
    atn_status status = frame && !options->any_size ? atn_extent_of(ctx, graph, frame, &extent) : ATN_OK;
    if (status != ATN_OK) return status;
    out->variant = atn_variant_estimate(graph, info, frame || options->any_size ? &extent : NULL);
    if (options->any_size) out->variant.threads = 0; /* a launch knows how little there is */
    out->origin = ATN_ORIGIN_ESTIMATE;
    if (options->reproducible) keep_order(graph, info, &out->variant);
    return settle(ctx, &out->variant, graph, info, frame, options, false);
}

static atn_status pass_over(atn_choice *out, const char *reason) {
    out->passed = true;
    atn_free(out->ctx, out->why);
    out->why = atn_strdup(out->ctx, reason);
    atn_log(out->ctx, ATN_LOG_INFO, "the tuned variant (%s) is not used: %s", out->hit.variant ? out->hit.variant : "",
            reason);
    return out->why ? ATN_OK : ATN_ERR_MEMORY;
}

/* Reads what wisdom found; ATN_OK with origin still an estimate where it is of no use here. */
static atn_status take_hit(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                           const atn_bindings *frame, const atn_choose_options *options, atn_choice *out) {
    atn_variant variant = atn_variant_plain();
    atn_target target = atn_target_of(info);
    const char *why_not;
    if (out->hit.kind == ATN_HIT_NONE) return ATN_OK;
    atn_status status = atn_variant_parse(ctx, &variant, out->hit.variant ? out->hit.variant : "");
    if (status == ATN_ERR_MEMORY) return status;
    if (status != ATN_OK) return pass_over(out, atn_ctx_message(ctx)); /* a knob that is no more */
    if (out->hit.distance > FARTHEST) return pass_over(out, "it was measured at a size that is far from this one");
    status = settle(ctx, &variant, graph, info, frame, options, true);
    if (status != ATN_OK) return status;
    if (!atn_variant_fits(graph, &variant, &target, &why_not)) return pass_over(out, why_not);
    out->variant = variant;
    out->origin = OF_HIT[out->hit.kind];
    return ATN_OK;
}

/* The key of these sizes, which is then part of the choice. */
static atn_status note_sizes(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                             const atn_bindings *frame, const atn_choose_options *options, atn_tune_key *key,
                             atn_choice *out) {
    atn_status status = atn_tune_key_make(ctx, graph, info, frame, options->reproducible, options->tolerance, key);
    if (status != ATN_OK) return status;
    out->sized = true;
    out->n_shape = key->key.n_shape;
    memcpy(out->shape, key->key.shape, sizeof out->shape);
    return ATN_OK;
}

static atn_status ask_wisdom(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                             const atn_bindings *frame, const atn_choose_options *options, atn_choice *out) {
    atn_tune_key key;
    atn_status status = note_sizes(ctx, graph, info, frame, options, &key, out);
    if (status == ATN_OK) status = atn_known_find(ctx, &key.key, &out->hit);
    bool near = out->hit.kind != ATN_HIT_NONE && out->hit.distance <= FARTHEST;
    if (status == ATN_OK && !near && options->tolerance > 0) {
        atn_hit_free(&out->hit); /* what keeps to rounding is within any tolerance */
        key.key.tolerance = "derived";
        status = atn_known_find(ctx, &key.key, &out->hit);
    }
    return status == ATN_OK ? take_hit(ctx, graph, info, frame, options, out) : status;
}

atn_status atn_choose_estimate(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                               const atn_bindings *frame, atn_choice *out) {
    static const atn_choose_options NONE;
    atn_tune_key key;
    *out = (atn_choice){.ctx = ctx, .hit = {.ctx = ctx}};
    atn_status status = frame ? note_sizes(ctx, graph, info, frame, &NONE, &key, out) : ATN_OK;
    return status == ATN_OK ? take_estimate(ctx, graph, info, frame, &NONE, out) : status;
}

atn_status atn_choose(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                      const atn_bindings *frame, const atn_choose_options *options, atn_choice *out) {
    static const atn_choose_options NONE;
    if (!options) options = &NONE;
    *out =
        (atn_choice){.ctx = ctx, .hit = {.ctx = ctx}, .origin = ATN_ORIGIN_ESTIMATE, .changes = atn_wisdom_changes()};
    atn_status status = ATN_OK;
    bool modest = options->modest && !options->reproducible;
    out->modest = modest && !atn_device_cannot_compile(info);
    if ((atn_device_cannot_compile(info) || modest) && take_compiled_in(ctx, graph, info, out)) return ATN_OK;
    if (frame) status = ask_wisdom(ctx, graph, info, frame, options, out);
    bool meanwhile = options->meanwhile && !options->reproducible && out->hit.kind == ATN_HIT_NONE;
    out->meanwhile = status == ATN_OK && meanwhile && take_compiled_in(ctx, graph, info, out);
    if (status == ATN_OK && out->origin == ATN_ORIGIN_ESTIMATE)
        status = take_estimate(ctx, graph, info, frame, options, out);
    if (status != ATN_OK) atn_choice_free(out);
    return status;
}

static bool serves_all_sizes(const atn_choice *choice, const atn_choose_options *options) {
    if (choice->hit.kind != ATN_HIT_NONE || choice->why || choice->failed) return false;
    if (choice->origin == ATN_ORIGIN_COMPILED_IN) return true;
    return choice->origin == ATN_ORIGIN_ESTIMATE && options->any_size && choice->sized;
}

atn_status atn_choose_again(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                            const atn_bindings *frame, const atn_choose_options *options, const atn_choice *before,
                            atn_choice *out) {
    atn_tune_key key;
    if (!serves_all_sizes(before, options) || before->changes != atn_wisdom_changes())
        return atn_choose(ctx, graph, info, frame, options, out);
    *out = *before; /* which owns nothing: there is no hit and no sentence */
    if (out->origin == ATN_ORIGIN_COMPILED_IN) return ATN_OK;
    atn_status status = note_sizes(ctx, graph, info, frame, options, &key, out);
    if (status == ATN_OK) status = settle(ctx, &out->variant, graph, info, frame, options, false);
    if (status != ATN_OK) atn_choice_free(out);
    return status;
}

/* ---- and building it ---- */

/* Failures that another variant may not have. */
static bool is_variants_own(atn_status status) {
    return status == ATN_ERR_BUILD || status == ATN_ERR_UNSUPPORTED || status == ATN_ERR_TIMEOUT;
}

static atn_status build_estimate(atn_device *device, const atn_graph *graph, const atn_bindings *frame,
                                 const atn_choose_options *options, atn_choice *choice, atn_built **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_status status = pass_over(choice, atn_ctx_message(ctx));
    if (status == ATN_OK) status = take_estimate(ctx, graph, atn_device_get_info(device), frame, options, choice);
    return status == ATN_OK ? atn_built_make(device, graph, &choice->variant, out) : status;
}

/* `before`: how the estimate failed, which is all there is to say where it is plain itself. */
static atn_status build_plain(atn_device *device, const atn_graph *graph, const atn_bindings *frame,
                              const atn_choose_options *options, atn_status before, atn_choice *choice,
                              atn_built **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_variant plain = atn_variant_plain();
    choice->failed = atn_strdup(ctx, atn_ctx_message(ctx));
    if (!choice->failed) return ATN_ERR_MEMORY;
    atn_status status = settle(ctx, &plain, graph, atn_device_get_info(device), frame, options, false);
    if (status != ATN_OK) return status;
    if (memcmp(&plain, &choice->variant, sizeof plain) == 0) return before;
    choice->variant = plain;
    choice->origin = ATN_ORIGIN_PLAIN;
    return atn_built_make(device, graph, &choice->variant, out);
}

/* A compiler that is there and compiles nothing. What it said is what counts where this does not help either. */
static atn_status build_compiled_in(atn_device *device, const atn_graph *graph, atn_status before, atn_choice *choice,
                                    atn_built **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    char said[ATN_MESSAGE_BYTES];
    snprintf(said, sizeof said, "%s", atn_ctx_message(ctx));
    if (!take_compiled_in(ctx, graph, atn_device_get_info(device), choice)) return before;
    atn_status status = atn_built_make(device, graph, &choice->variant, out);
    if (status == ATN_OK) choice->origin = ATN_ORIGIN_ESTIMATE; /* the compiler took it; else it is corrected below */
    return status == ATN_OK ? ATN_OK : atn_fail(ctx, before, "%s", said);
}

static void warn_of_fallback(const atn_choice *choice) {
    atn_text text = {.ctx = choice->ctx};
    atn_variant_print(&choice->variant, &text);
    atn_log(choice->ctx, ATN_LOG_WARNING, "%s; the variant %s (%s) runs instead",
            choice->failed ? choice->failed : choice->why, text.length ? atn_text_str(&text) : "without options",
            NAMES[choice->origin]);
    atn_text_free(&text);
}

atn_status atn_choice_build(atn_device *device, const atn_graph *graph, const atn_bindings *frame,
                            const atn_choose_options *options, atn_choice *choice, atn_built **out) {
    static const atn_choose_options NONE;
    if (!options) options = &NONE;
    atn_status status = choice->origin == ATN_ORIGIN_COMPILED_IN ? atn_built_take(device, graph, &choice->variant, out)
                                                                 : atn_built_make(device, graph, &choice->variant, out);
    bool at_once = status == ATN_OK;
    if (is_variants_own(status) && choice->origin > ATN_ORIGIN_ESTIMATE)
        status = build_estimate(device, graph, frame, options, choice, out);
    if (is_variants_own(status) && choice->origin == ATN_ORIGIN_ESTIMATE)
        status = build_plain(device, graph, frame, options, status, choice, out);
    if (is_variants_own(status) && choice->failed) status = build_compiled_in(device, graph, status, choice, out);
    if (status != ATN_OK) return status;
    if (atn_built_is_compiled_in(*out))
        choice->origin = ATN_ORIGIN_COMPILED_IN; /* the device has warned of it */
    else if (!at_once)
        warn_of_fallback(choice);
    return ATN_OK;
}
