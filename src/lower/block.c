/* Generates a block in the way that suits it: as a scan, on matrix units, or with loops. */
#include "lower/loops.h"

#include <stdio.h>

static void declare_accumulators(loops *o) {
    lowering *l = o->l;
    for (int32_t n = 0; n < o->places && !l->p->failed; ++n)
        for (int32_t set = 0; set < o->r.sets; ++set)
            for (int32_t k = 0; k < o->b->n_accs; ++k)
                for (int32_t part = 0; part < acc_parts(&o->b->acc[k]); ++part) {
                    char name[64];
                    snprintf(name, sizeof name, "%.30s_acc%d", o->b->name, k);
                    ir_ref start = ir_splat(l->p, acc_neutral(l, o->b, k, part), loops_acc_width(o, set));
                    *loops_slot(o, n, set, k, part) = ir_declare_mutable(l->p, l->block, name, start);
                }
}

static void by_loops(lowering *l, int32_t block) {
    loops o = loops_open(l, block);
    ir_comment(l->p, l->block, "%s", o.b->name);
    if (atn_block_is_outermost(l->g, block)) lower_stage_open(l, block);
    loops_hoist(l, o.b);
    declare_accumulators(&o);
    if (l->p->failed) return; /* there may be no accumulators */
    if (o.r.runs) loops_begin_runs(&o);
    loops_all(&o, loops_one_tile);
    if (o.r.runs) o.variable = o.kept;
    if (o.b->n_accs > 0) loops_conclude(&o);
    if (atn_block_is_outermost(l->g, block)) l->staged.count = 0;
    l->done |= 1u << block;
}

static bool on_matrix_units(const lowering *l, int32_t block) { return (void)block, l->matrix != NULL; }
static bool as_contraction(const lowering *l, int32_t block) { return (void)block, l->contract != NULL; }

/* The first that applies; loops always do. */
static const struct {
    bool (*applies)(const lowering *l, int32_t block);
    void (*make)(lowering *l, int32_t block);
} WAYS[] = {
    {lower_scans, lower_block_scan},
    {on_matrix_units, lower_block_matrix},
    {as_contraction, lower_block_contraction},
    {NULL, by_loops},
};

void lower_block_whole(lowering *l, int32_t block) {
    if (l->p->failed || l->status != ATN_OK) return;
    size_t k = 0;
    while (WAYS[k].applies && !WAYS[k].applies(l, block)) ++k;
    WAYS[k].make(l, block);
}
