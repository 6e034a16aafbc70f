/* The driver of lowering: runs the passes one after the other, and prints what they find. */
#include "lower/lower.h"

#include "base/memory.h"
#include "lower/contract.h"
#include "lower/lowering.h"
#include "lower/matrix.h"

static atn_status check_local(const atn_ctx *ctx, const atn_lowered *p, const atn_target *target) {
    for (int32_t k = 0; k < p->n_stages; ++k) {
        int64_t bytes = 0;
        for (int32_t t = 0; t < p->stage[k].n_tiles; ++t)
            if (!p->stage[k].tile[t].dynamic)
                bytes += p->stage[k].tile[t].elements * (int64_t)atn_type_bytes(p->stage[k].tile[t].type);
        int64_t dynamic = atn_stage_dynamic_bytes(&p->stage[k]), room = target->local_bytes;
        if (dynamic > 0) bytes += dynamic, room = target->dynamic_bytes;
        if (bytes > room)
            return atn_fail(ctx, ATN_ERR_UNSUPPORTED,
                            "%s: the variant stages %lld bytes per group, but only %lld are available", p->graph->name,
                            (long long)bytes, (long long)room);
    }
    return ATN_OK;
}

atn_status atn_lower(const atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant, const atn_target *target,
                     atn_lowered **out) {
    *out = NULL;
    const char *why;
    if (!atn_variant_fits(graph, variant, target, &why))
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: no such variant: %s", graph->name, why);
    atn_lowered *p = atn_zalloc(ctx, sizeof *p);
    if (!p) return ATN_ERR_MEMORY;
    p->arena.ctx = ctx;
    p->graph = graph;
    p->variant = *variant;
    lowering l = {.ctx = ctx,
                  .make_block = lower_block,
                  .p = p,
                  .host = target->host,
                  .warp = target->warp,
                  .bf16 = target->bf16,
                  .dynamic = target->dynamic_bytes > 0,
                  .vec_dim = -1,
                  .split = -1,
                  .lane_q = -1,
                  .item = -1};
    for (int d = 0; d < ATN_MAX_RANK; ++d) l.start[d] = -1;
    for (size_t k = 0; k < MEMO_CHAINS; ++k) l.memo_chain[k] = -1;
    l.g = lower_without_idle(&p->arena, graph, variant);
    if (l.g && lower_find_needs(&p->arena, l.g, &l.needs)) {
        lower_enter(&l, *variant);
        lower_emit(&l, target);
    } else {
        p->failed = true;
    }
    atn_free(ctx, l.memos);
    atn_status status = p->failed ? ATN_ERR_MEMORY : l.status;
    if (status == ATN_OK) status = check_local(ctx, p, target);
    if (status == ATN_OK) status = lower_check_length(ctx, p, target);
    if (status != ATN_OK) {
        atn_lowered_free(p);
        return status;
    }
    *out = p;
    return ATN_OK;
}

atn_status atn_lower_print_passes(const atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant,
                                  const atn_target *target, atn_text *out) {
    atn_arena arena = {.ctx = ctx};
    lower_needs needs;
    lower_staging staging;
    lower_cuts cuts = lower_cut(graph, variant);
    bool alone = graph->n_blocks == 1 && graph->blocks[0].n_accs == 0; /* points without a reduction */
    int32_t block = alone ? 0 : lower_split_block(graph);
    lower_scene scene = {.g = graph,
                         .v = variant,
                         .cuts = &cuts,
                         .needs = &needs,
                         .host = target->host,
                         .bound = alone ? 0 : cuts.points};
    bool found = lower_find_needs(&arena, graph, &needs);
    if (found) {
        atn_text_add(out, "# cut\n");
        lower_print_cuts(graph, &cuts, out);
        atn_text_add(out, "# needs\n");
        lower_print_needs(graph, &needs, out);
        lower_find_staged(&scene, block, &staging);
        atn_text_add(out, staging.count > 0 || staging.too_far >= 0 ? "# stage\n" : "# stage: nothing\n");
        lower_print_staged(graph, &staging, out);
        atn_text_add(out, graph->n_blocks > 1 || graph->blocks[0].n_accs > 0 ? "# reduce\n" : "# reduce: nothing\n");
        scene.g = lower_without_idle(&arena, graph, variant);
        for (int32_t k = 0; k < graph->n_blocks && scene.g; ++k) {
            if (graph->blocks[k].n_accs == 0) continue;
            lower_reduction reduction = lower_find_reduction(&scene, k);
            lower_print_reduction(scene.g, &reduction, out);
        }
        lower_matrix matrix;
        lower_contraction contraction;
        const char *why;
        if (atn_variant_parts(variant) > 0) {
            atn_text_printf(out, "# matrix\nelements split into %d part%s\n", atn_variant_parts(variant),
                            atn_variant_parts(variant) > 1 ? "s" : "");
        } else if (variant->matrix != ATN_MATRIX_OFF && lower_find_contraction(graph, variant, &contraction, &why)) {
            atn_text_add(out, "# matrix\n");
            lower_print_contraction(graph, &contraction, out);
        } else if (variant->matrix != ATN_MATRIX_OFF && lower_find_matrix(graph, variant, &matrix, &why)) {
            atn_text_add(out, "# matrix\n");
            lower_print_matrix(graph, &matrix, out);
        }
        found = scene.g != NULL;
    }
    atn_arena_free(&arena);
    return found ? ATN_OK : ATN_ERR_MEMORY;
}
