#include "lower/needs.h"

enum { ACCUMULATORS = 31 };

static void count_use(lower_needs *n, atn_value v) {
    if (v >= 0) ++n->uses[v];
}

static void survey_value(const atn_graph *g, atn_value v, lower_needs *out) {
    const atn_node *n = &g->values[v];
    for (int k = 0; k < 3 && n->arg[k] >= 0; ++k) {
        out->blocks[v] |= out->blocks[n->arg[k]];
        out->in_place[v] |= out->in_place[n->arg[k]];
        count_use(out, n->arg[k]);
    }
    if (n->op == ATN_OP_READ) {
        const atn_read *read = &g->reads[n->index];
        for (int k = 0; k < ATN_MAX_RANK; ++k)
            if (read->select[k] >= 0) {
                out->blocks[v] |= out->blocks[read->select[k]];
                count_use(out, read->select[k]);
            }
        out->in_place[v] |= g->objects[read->object].written;
    }
    if (n->op == ATN_OP_RESULT) out->blocks[v] |= 1u << n->index;
    if (n->op == ATN_OP_ACC || n->op == ATN_OP_LEFT || n->op == ATN_OP_RIGHT) out->blocks[v] |= 1u << ACCUMULATORS;
}

static uint32_t blocks_of(const lower_needs *n, const atn_value *values, size_t count) {
    uint32_t blocks = 0;
    for (size_t k = 0; k < count; ++k) blocks |= values[k] >= 0 ? n->blocks[values[k]] : 0;
    return blocks;
}

static uint32_t before_block(const atn_graph *g, const lower_needs *needs, int32_t block) {
    uint32_t before = 0, own = 1u << block;
    for (int32_t n = block; n < g->n_blocks; ++n) {
        const atn_block *b = &g->blocks[n];
        if (n != block && b->parent != block) continue;
        own |= 1u << n;
        for (int32_t k = 0; k < b->n_accs; ++k)
            before |= blocks_of(needs, (const atn_value[]){b->acc[k].init, b->acc[k].term, b->acc[k].update}, 3);
        for (int32_t k = 0; k < b->rank; ++k)
            before |= blocks_of(needs, (const atn_value[]){g->dims[b->dim[k]].begin, g->dims[b->dim[k]].end}, 2);
        for (int32_t k = 0; k < g->n_writes; ++k) {
            const atn_write *w = &g->writes[k];
            if (w->block != n) continue;
            before |= blocks_of(needs, w->select, ATN_MAX_RANK);
            before |= blocks_of(needs, (const atn_value[]){w->value, w->enable}, 2);
        }
    }
    return before & ~own & ~(1u << ACCUMULATORS);
}

bool lower_find_needs(atn_arena *arena, const atn_graph *g, lower_needs *out) {
    size_t values = (size_t)g->n_values + 1;
    out->blocks = atn_arena_alloc(arena, values * sizeof *out->blocks);
    out->uses = atn_arena_alloc(arena, values * sizeof *out->uses);
    out->in_place = atn_arena_alloc(arena, values * sizeof *out->in_place);
    out->before = atn_arena_alloc(arena, ((size_t)g->n_blocks + 1) * sizeof *out->before);
    if (!out->blocks || !out->uses || !out->in_place || !out->before) return false;
    for (atn_value v = 0; v < g->n_values; ++v) survey_value(g, v, out);
    for (int32_t k = 0; k < g->n_writes; ++k) {
        const atn_write *w = &g->writes[k];
        for (size_t n = 0; n < ATN_MAX_RANK; ++n) count_use(out, w->select[n]);
        count_use(out, w->value);
        count_use(out, w->enable);
    }
    for (int32_t b = 0; b < g->n_blocks; ++b)
        for (int32_t k = 0; k < g->blocks[b].n_accs; ++k) {
            const atn_acc *a = &g->blocks[b].acc[k];
            const atn_value used[] = {a->init, a->term, a->update, a->combine};
            for (size_t n = 0; n < 4; ++n) count_use(out, used[n]);
        }
    for (int32_t b = 0; b < g->n_blocks; ++b) out->before[b] = before_block(g, out, b);
    return true;
}

bool lower_needs_met(const atn_graph *g, const lower_needs *needs, atn_value value, uint32_t bound, uint32_t done) {
    return (g->values[value].dims & ~bound) == 0 && (needs->blocks[value] & ~done) == 0;
}

static void print_blocks(const atn_graph *g, uint32_t blocks, atn_text *out) {
    for (int32_t b = 0; b < g->n_blocks; ++b)
        if (blocks >> b & 1) atn_text_printf(out, " %s", g->blocks[b].name);
}

void lower_print_needs(const atn_graph *g, const lower_needs *needs, atn_text *out) {
    for (int32_t b = 0; b < g->n_blocks; ++b) {
        if (!needs->before[b]) continue;
        atn_text_printf(out, "%s comes after", g->blocks[b].name);
        print_blocks(g, needs->before[b], out);
        atn_text_add(out, "\n");
    }
    for (atn_value v = 0; v < g->n_values; ++v) {
        if (g->values[v].op == ATN_OP_CONST) continue;
        atn_text_printf(out, "value %d: used %d times", v, needs->uses[v]);
        if (needs->blocks[v] << 1) atn_text_add(out, ", needs");
        print_blocks(g, needs->blocks[v] & ~(1u << ACCUMULATORS), out);
        if (needs->blocks[v] >> ACCUMULATORS) atn_text_add(out, ", of accumulators");
        if (needs->in_place[v]) atn_text_add(out, ", in place");
        atn_text_add(out, "\n");
    }
}
