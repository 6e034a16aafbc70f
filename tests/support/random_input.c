/* Random inputs, comparison with the oracle, random variants. */
#include "support/random_access.h"

#include "base/memory.h"
#include "graph/type.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static double special_number(draw *d) {
    const double numbers[] = {(double)NAN,          INFINITY, -INFINITY, -0.0,   0, (double)FLT_MIN / 4,
                              -(double)FLT_MIN / 8, 1,        65504,     0x1p-24};
    return numbers[draw_below(d, sizeof numbers / sizeof *numbers)];
}

static void draw_element(draw *d, const struct random_object *o, void *to) {
    double number[2];
    for (int part = 0; part < 2; ++part) {
        double high = draw_below(d, 1 << 24), low = draw_below(d, 1 << 24); /* more bits than a single holds */
        number[part] = 4 * (high + low / 16777216.0) / 16777216.0 - 2;
        if (draw_chance(d, 10)) number[part] = rint(2 * number[part]) / 2; /* ties and zeros */
        if (d->g->special && draw_chance(d, 4)) number[part] = special_number(d);
    }
    int64_t whole = (int64_t)draw_below(d, 41) - 20;
    if (o->low <= o->high)
        whole = o->low + draw_below(d, (uint32_t)(o->high - o->low + 1));
    else if (o->view.type == ATN_U8 || o->view.type == ATN_U16)
        whole = draw_below(d, o->view.type == ATN_U8 ? 256 : 65536);
    else if (o->view.type == ATN_B)
        whole = draw_below(d, 2);
    else if (draw_chance(d, 2))
        whole = draw_chance(d, 50) ? (int64_t)INT32_MAX - draw_below(d, 3) : (int64_t)INT32_MIN;
    if (d->g->integers && o->low > o->high) {
        whole = atn_type_wrap(o->view.type, draw_end(d));
        number[0] = draw_huge(d);
    }
    if (o->index && d->g->strays && draw_chance(d, 5))
        whole = draw_chance(d, 50) ? -1 - (int64_t)draw_below(d, 3) : o->high + 1 + draw_below(d, 1000);
    atn_element_store(o->view.type, number, whole, to);
}

/* Ascending, from 0 to the most or less; some steps empty. */
static void draw_ascending(draw *d, const struct random_object *o) {
    int64_t at = 0;
    for (int64_t k = 0; k < o->view.size[0]; ++k) {
        int64_t step = draw_chance(d, 20) ? 0 : (int64_t)draw_below(d, (uint32_t)(2 * o->high / o->view.size[0] + 2));
        atn_element_store(ATN_INT32, (double[2]){0}, at, atn_view_at(&o->view, k, 0));
        at = at + step > o->high ? o->high : at + step;
    }
}

atn_status draw_inputs(draw *d) {
    for (int32_t k = 0; k < d->g->n_objects; ++k) {
        struct random_object *o = &d->g->object[k];
        int64_t rows = atn_view_rows(&o->view), offset = draw_chance(d, 30) ? 1 + (int64_t)draw_below(d, 7) : 0;
        size_t element = atn_type_bytes(o->view.type), bytes = (size_t)(rows * o->view.pitch + offset + 1) * element;
        o->memory = atn_alloc(d->g->ctx, bytes);
        if (!o->memory) return ATN_ERR_MEMORY;
        memset(o->memory, 0xa5, bytes); /* gaps hold what no one asked for */
        o->view.data = (char *)o->memory + (size_t)offset * element;
        if (o->ordered) draw_ascending(d, o);
        for (int64_t row = 0; row < rows && !o->ordered; ++row)
            for (int64_t column = 0; column < o->view.size[0]; ++column)
                draw_element(d, o, atn_view_at(&o->view, column, row));
    }
    return ATN_OK;
}

atn_status random_graph_compare(const random_graph *g, const atn_eval_options *options, const atn_view *got) {
    atn_eval_result *result;
    atn_eval_mismatch m;
    atn_status status = atn_eval_run(g->ctx, g->graph, &g->frame, options, &result);
    if (status == ATN_OK && !atn_eval_verify(g->graph, result, got, g->views, 0, &m))
        status =
            atn_fail(g->ctx, ATN_ERR_INTERNAL,
                     "seed %llu: %lld elements differ; %s(%lld, %lld) is %.9g%+.9gi, %.9g%+.9gi +- %.3g is right",
                     (unsigned long long)g->seed, (long long)m.count, g->graph->objects[m.object].name,
                     (long long)m.at[0], (long long)m.at[1], m.got[0], m.got[1], m.wanted[0], m.wanted[1], m.bound);
    atn_eval_free(result);
    return status;
}

static int32_t one_of(draw *d, const int32_t *list, uint32_t count) { return list[draw_below(d, count)]; }
#define ONE_OF(...) one_of(&d, (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

static bool has_complex(const atn_graph *graph) {
    for (int32_t k = 0; k < graph->n_values; ++k)
        if (atn_type_is_complex(graph->values[k].type)) return true;
    return false;
}

static void cut_points(draw *random, atn_cut *cut, bool host) {
    draw d = *random;
    if (!host) cut->lanes = draw_chance(&d, 60) ? ONE_OF(1, 2, 4, 8, 16, 32) : 1;
    cut->regs = draw_chance(&d, 40) ? ONE_OF(1, 2, 3, 4, 8) : 1;
    int32_t pack = ONE_OF(1, 2, 4);
    cut->pack = cut->regs % pack == 0 ? pack : 1;
    cut->seq = draw_chance(&d, 30) ? ONE_OF(1, 2, 3, 5) : 1;
    *random = d;
}

static void cut_range(draw *random, atn_cut *cut, bool host, bool inner) {
    draw d = *random;
    if (!host) cut->lanes = draw_chance(&d, 40) ? ONE_OF(1, 2, 4, 8, 32) : 1;
    if (inner) {
        cut->regs = draw_chance(&d, 25) ? ONE_OF(1, 2, 4) : 1;
        cut->tile = draw_chance(&d, 40) ? ONE_OF(0, 4, 7, 8, 16, 32, 64) : 0;
        cut->unroll = draw_chance(&d, 40) ? ONE_OF(1, 2, 3, 4, 8) : 1;
    }
    cut->split = draw_chance(&d, 25) ? ONE_OF(1, 2, 3, 7) : 1;
    *random = d;
}

/* Knobs with a meaning for some graphs and devices alone, which the tests of their own try; others but those drawn
 * below are drawn by their rows. */
static const char *const APART[] = {"stage",  "stage_swap", "wide",     "pad",   "reduce",     "finish",
                                    "exp",    "degree",     "matrix",   "mix",   "accumulate", "half",
                                    "groups", "threads",    "schedule", "chunk", "collapse",   "stream",
                                    "fast",   "index",      "resident", "guard"};

static void draw_other(draw *d, int32_t knob, atn_variant *v) {
    const char *name = atn_variant_knob_name(knob);
    int32_t least, most;
    char value[16];
    if (strpbrk(name, "0123456789")) return; /* a cut */
    for (size_t k = 0; k < sizeof APART / sizeof *APART; ++k)
        if (!strcmp(name, APART[k])) return;
    atn_variant_knob_range(knob, &least, &most);
    snprintf(value, sizeof value, "%d", least + (int32_t)draw_below(d, (uint32_t)(most - least) + 1));
    if (draw_chance(d, 50)) (void)atn_variant_set(NULL, v, name, value); /* powers of two may refuse it */
}

/* Work-items on a device, vectors on a host; the rest anywhere. Only dimensions that the graph has are cut. */
atn_variant random_variant(const atn_graph *graph, bool host, uint64_t *random) {
    draw d = {.random = *random};
    atn_variant v = atn_variant_plain();
    bool whole = graph->blocks[0].n_accs > 0;
    int32_t points = whole ? 0 : graph->blocks[0].rank, ranges = whole                 ? graph->blocks[0].rank
                                                                 : graph->n_blocks > 1 ? graph->blocks[1].rank
                                                                                       : 0;
    for (int32_t k = 0; k < points; ++k) cut_points(&d, &v.p[k], host);
    for (int32_t k = 0; k < ranges; ++k) cut_range(&d, &v.q[k], host, k == 0);
    for (int32_t k = 0; k + 1 < ranges; ++k) v.q[k].split = 1;
    if (draw_chance(&d, host ? 50 : 15) && points + ranges > 0 && !has_complex(graph)) {
        atn_cut *cut = ranges && (!points || draw_chance(&d, 40)) ? &v.q[0] : &v.p[draw_below(&d, (uint32_t)points)];
        cut->vec = ONE_OF(2, 4, 8, 16);
    }
    v.stage = draw_chance(&d, 40) ? ONE_OF(0, 1, 2) : 0;
    v.stage_swap = v.stage && draw_chance(&d, 40) ? ONE_OF(0, 1, 2, 3) : 0;
    v.pad = v.stage && draw_chance(&d, 40) ? ONE_OF(0, 1, 4) : 0;
    v.reduce = draw_chance(&d, 30) ? ATN_REDUCE_SHUFFLE : ATN_REDUCE_TREE;
    v.finish = draw_chance(&d, 40) ? ONE_OF(ATN_FINISH_LAUNCH, ATN_FINISH_LAST, ATN_FINISH_ATOMIC) : ATN_FINISH_LAUNCH;
    v.exp = draw_chance(&d, 25) ? ONE_OF(ATN_EXP_LIBRARY, ATN_EXP_NATIVE, ATN_EXP_POLYNOMIAL) : ATN_EXP_LIBRARY;
    v.degree = v.exp != ATN_EXP_LIBRARY && draw_chance(&d, 50) ? ONE_OF(3, 4, 5, 7) : v.degree;
    v.fast = v.exp != ATN_EXP_LIBRARY && graph->finite && draw_chance(&d, 30);
    v.accumulate = draw_chance(&d, 15) ? 64 : 0;
    v.groups = draw_chance(&d, 20) ? ONE_OF(1, 3, 16) : 0;
    v.index = draw_chance(&d, 40) ? 32 : 64;
    if (!host && atn_graph_has_scan(graph) && points == 0 && draw_chance(&d, 60)) {
        v.q[0].lanes = ONE_OF(2, 8, 32, 64);
        v.q[0].regs = ONE_OF(1, 2, 4, 8);
        v.q[0].pack = ONE_OF(1, 1, 2, 4);
        if (draw_chance(&d, 70)) {
            v.q[0].split = ONE_OF(2, 3, 16, 65);
            v.finish = ATN_FINISH_LOOK;
            v.reduce = ATN_REDUCE_SHUFFLE;
            v.groups = 0;
        }
        v.q[0].tile = v.stage_swap = v.pad = 0;
        v.stage = v.finish == ATN_FINISH_LOOK && v.q[0].pack > 1 && draw_chance(&d, 50);
        v.q[0].vec = 1;
    }
    if (host) {
        v.schedule = ONE_OF(ATN_SCHEDULE_STATIC, ATN_SCHEDULE_DYNAMIC, ATN_SCHEDULE_GUIDED);
        v.chunk = draw_chance(&d, 30) ? ONE_OF(1, 4, 64) : 0;
        v.collapse = draw_chance(&d, 30) ? 1 : 2;
        v.threads = draw_chance(&d, 30) ? ONE_OF(1, 2, 3) : 0;
        v.stream = draw_chance(&d, 15);
    } else if (v.stage) {
        v.wide = ONE_OF(1, 2, 4);
    }
    for (int32_t k = 0; k < atn_variant_knob_count(); ++k) draw_other(&d, k, &v);
    *random = d.random;
    return v;
}
