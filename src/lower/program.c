/* The life cycle of a program, and its dialect-independent printout, which shows what the passes generated. */
#include "lower/program.h"

#include "base/memory.h"
#include "base/size.h"

#include <inttypes.h>

void atn_lowered_free(atn_lowered *program) {
    if (!program) return;
    const atn_ctx *ctx = program->arena.ctx;
    atn_free(ctx, program->nodes);
    atn_free(ctx, program->statements);
    atn_free(ctx, program->variables);
    atn_free(ctx, program->list);
    atn_free(ctx, program->arguments);
    atn_arena_free(&program->arena);
    atn_free(ctx, program);
}

/* Tiles of a scan whose groups look back; 0: it is not such a scan. */
static int64_t tiles_of(const atn_lowered *program, const atn_extent *extent) {
    int64_t steps = program->n_stages > 0 ? program->stage[0].over_steps : 0;
    return steps == 0 ? 0 : extent->range <= steps ? 1 : (extent->range - 1) / steps + 1;
}

int64_t atn_lowered_splits(const atn_lowered *program, const atn_extent *extent) {
    int64_t tiles = tiles_of(program, extent), splits = atn_variant_splits(&program->variant);
    return tiles == 0 ? splits : tiles + tiles / splits + 1; /* including the initial value of each window */
}

int64_t atn_lowered_groups(const atn_lowered *program, int32_t stage, const atn_extent *extent) {
    const ir_stage *s = &program->stage[stage];
    int64_t groups = 1;
    if (s->over_steps > 0) return tiles_of(program, extent);
    if (s->over_points)
        for (int d = 0; d < ATN_MAX_RANK; ++d) {
            int64_t tiles = extent->points[d] <= 0 ? 0 : (extent->points[d] - 1) / s->span[d] + 1;
            if (!atn_i64_mul(groups, tiles, &groups)) return INT64_MAX;
        }
    if (s->over_splits && !atn_i64_mul(groups, atn_lowered_splits(program, extent), &groups)) return INT64_MAX;
    return groups;
}

int64_t atn_stage_dynamic_offset(const ir_stage *stage, int32_t tile) {
    int64_t bytes = 0;
    if (tile < stage->n_tiles && stage->tile[tile].over) tile = stage->tile[tile].over - 1;
    for (int32_t t = 0; t < tile; ++t)
        if (stage->tile[t].dynamic && !stage->tile[t].over)
            bytes += (stage->tile[t].elements * (int64_t)atn_type_bytes(stage->tile[t].type) + 15) / 16 * 16;
    return bytes;
}

int64_t atn_stage_dynamic_bytes(const ir_stage *stage) { return atn_stage_dynamic_offset(stage, stage->n_tiles); }

int64_t atn_extent_points(const atn_extent *extent) {
    int64_t all = 1;
    for (int d = 0; d < ATN_MAX_RANK; ++d)
        if (!atn_i64_mul(all, extent->points[d], &all)) return INT64_MAX;
    return all;
}

int64_t atn_lowered_pieces(const atn_lowered *program, const atn_extent *extent) {
    int64_t slots = program->scratch_slots > 0 ? program->scratch_slots : 1;
    if (!atn_i64_mul(slots, atn_lowered_splits(program, extent), &slots) ||
        !atn_i64_mul(slots, atn_extent_points(extent), &slots))
        return INT64_MAX;
    return slots;
}

int64_t atn_lowered_scratch_bytes(const atn_lowered *program, const atn_extent *extent) {
    if (program->scratch_slots == 0) return 0;
    int64_t slots = atn_lowered_pieces(program, extent);
    if (!atn_i64_add(slots, 2, &slots) || !atn_i64_mul(slots, 8, &slots)) return INT64_MAX;
    return slots;
}

/* ---- printing ---- */

static void print_expression(const atn_lowered *p, ir_ref ref, atn_text *out) {
    if (ref < 0) {
        atn_text_add(out, "none");
        return;
    }
    const ir_node *n = &p->nodes[ref];
    static const char *const KINDS[] = {
        [IR_INTEGER] = "",    [IR_NUMBER] = "",       [IR_VARIABLE] = "",       [IR_OPERATION] = "",
        [IR_SPLAT] = "splat", [IR_LANE] = "lane",     [IR_JOIN] = "join",       [IR_TURN] = "turn",
        [IR_LOAD] = "load",   [IR_TILE] = "tile",     [IR_SCRATCH] = "scratch", [IR_ARGUMENT] = "argument",
        [IR_GROUP] = "group", [IR_GROUPS] = "groups", [IR_ITEM] = "item",       [IR_SHUFFLE] = "shuffle",
        [IR_LAST] = "last",   [IR_WITHIN] = "within", [IR_DRAW] = "draw",       [IR_PEEK] = "peek",
        [IR_AWAIT] = "await", [IR_CALL] = "call"};
    switch (n->kind) {
    case IR_INTEGER:
        atn_text_printf(out, "%" PRId64, n->integer);
        return;
    case IR_NUMBER:
        atn_text_printf(out, "%.17g", n->number);
        return;
    case IR_VARIABLE:
        atn_text_add(out, p->variables[n->id].name);
        return;
    case IR_OPERATION:
        atn_text_printf(out, "%s(", atn_op_get_info(n->op)->name);
        break;
    case IR_LOAD:
        atn_text_printf(out, "%s[", p->graph->objects[n->id].name);
        break;
    default:
        atn_text_printf(out, "%s%d(", KINDS[n->kind],
                        n->kind == IR_TILE || n->kind == IR_ARGUMENT || n->kind == IR_CALL ? n->id : (int)n->integer);
    }
    if (n->kind == IR_TURN && n->id) atn_text_add(out, "odd ");
    for (int k = 0; k < 3 && n->arg[k] >= 0; ++k) {
        if (k) atn_text_add(out, ", ");
        print_expression(p, n->arg[k], out);
    }
    for (int k = 0; n->kind == IR_JOIN && k < n->width; ++k) {
        if (k) atn_text_add(out, ", ");
        print_expression(p, p->list[n->list + k], out);
    }
    atn_text_add(out, n->kind == IR_LOAD ? "]" : ")");
    if (n->width > 1) atn_text_printf(out, "x%d", n->width);
}

static void print_list(const atn_lowered *p, ir_stmt at, int depth, atn_text *out) {
    static const char *const KINDS[] = {[IR_DECLARE] = "let",
                                        [IR_ASSIGN] = "set",
                                        [IR_STORE] = "store",
                                        [IR_STORE_ATOMIC] = "store atomic",
                                        [IR_TILE_STORE] = "stage",
                                        [IR_FETCH] = "fetch",
                                        [IR_FETCHED] = "fetched",
                                        [IR_SCRATCH_STORE] = "partial",
                                        [IR_SCRATCH_ATOMIC] = "partial atomic",
                                        [IR_LEAVE] = "leave",
                                        [IR_MATRIX_LOAD] = "load matrices",
                                        [IR_MATRIX_MULTIPLY] = "multiply",
                                        [IR_MATRIX_EXP2] = "exp2 of product",
                                        [IR_MATRIX_FETCH] = "fetch 16 bytes",
                                        [IR_MATRIX_COMMIT] = "commit",
                                        [IR_MATRIX_WAIT] = "wait",
                                        [IR_WARPGROUP_MULTIPLY] = "multiply by four warps",
                                        [IR_WARPGROUP_SET] = "set of products",
                                        [IR_WARPGROUP_WAIT] = "wait for products",
                                        [IR_PARTS_SET] = "products of parts",
                                        [IR_PARTS_SPLIT] = "split",
                                        [IR_PARTS_MULTIPLY] = "multiply parts",
                                        [IR_FOR] = "for",
                                        [IR_IF] = "if",
                                        [IR_BARRIER] = "barrier",
                                        [IR_REPORT] = "report",
                                        [IR_ORDER] = "order",
                                        [IR_HIDE] = "hide",
                                        [IR_COMMENT] = "#",
                                        [IR_PARALLEL] = "parallel"};
    static const char *const ODDS[] = {[IR_UNKNOWN] = "", [IR_MOSTLY] = "mostly", [IR_RARELY] = "rarely"};
    for (; at >= 0; at = p->statements[at].next) {
        const ir_statement *s = &p->statements[at];
        atn_text_printf(out, "%*s%s ", depth * 2, "", KINDS[s->kind]);
        if (s->kind == IR_COMMENT) atn_text_add(out, s->text);
        if (s->kind == IR_DECLARE || s->kind == IR_ASSIGN || s->kind == IR_FOR || s->kind == IR_PARALLEL)
            atn_text_printf(out, "%s ", p->variables[s->id].name);
        if (s->kind == IR_STORE || s->kind == IR_STORE_ATOMIC)
            atn_text_printf(out, "%s ", p->graph->objects[s->id].name);
        if (s->kind == IR_MATRIX_LOAD || s->kind == IR_MATRIX_MULTIPLY || s->kind == IR_MATRIX_EXP2)
            atn_text_printf(out, "%s ", p->variables[s->id].name);
        if (s->kind == IR_TILE_STORE || s->kind == IR_FETCH || s->kind == IR_MATRIX_FETCH ||
            s->kind == IR_PARTS_SPLIT || s->kind == IR_PARTS_MULTIPLY)
            atn_text_printf(out, "tile%d ", s->id);
        const ir_ref parts[3] = {s->index, s->value, s->limit};
        for (int k = 0; k < 3; ++k) {
            if (parts[k] < 0) continue;
            atn_text_add(out, k == 0 ? "[" : k == 1 ? "= " : "to ");
            print_expression(p, parts[k], out);
            atn_text_add(out, k == 0 ? "] " : " ");
        }
        if (s->kind == IR_FOR) atn_text_printf(out, "by %" PRId64, s->step);
        if (s->kind == IR_IF) atn_text_add(out, ODDS[s->component]);
        atn_text_add(out, "\n");
        print_list(p, s->body, depth + 1, out);
        if (s->other >= 0) atn_text_printf(out, "%*selse\n", depth * 2, "");
        print_list(p, s->other, depth + 1, out);
    }
}

void atn_lowered_print(const atn_lowered *program, atn_text *out) {
    for (int32_t k = 0; k < program->n_stages; ++k) {
        const ir_stage *stage = &program->stage[k];
        atn_text_printf(out, "stage %d %s: groups of %d items, %d by %d", k, stage->name, stage->items, stage->span[0],
                        stage->span[1]);
        for (int32_t d = 2; d < program->graph->blocks[0].rank; ++d) atn_text_printf(out, " by %d", stage->span[d]);
        atn_text_add(out, " points each\n");
        for (int32_t t = 0; t < stage->n_tiles; ++t)
            atn_text_printf(out, "  tile%d %s: %" PRId64 " of %s\n", t, stage->tile[t].name, stage->tile[t].elements,
                            atn_type_name(stage->tile[t].type));
        print_list(program, stage->body, 1, out);
    }
}
