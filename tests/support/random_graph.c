/* Random kernels: P, iterators with their ICFs, reads, functions and writes put together; then parsed and bound. */
#include "support/random_access.h"

#include "base/memory.h"
#include "graph/type.h"

#include <math.h>
#include <string.h>

/* ---- iteration connection functions ---- */

typedef struct icf {
    const char *attributes; /* with the escapes of XML */
    int32_t inputs;         /* func(0) is the value, func(1) the dimension */
    int32_t results;
    atn_type type[3]; /* of the results */
} icf;

static icf real_icf(draw *d, atn_type t) {
    const char *n = atn_type_name(t);
    switch (draw_below(d, 11)) {
    case 0:
        return (icf){draw_text(d, "ICF='#acc(0) * (1.0 + 0.01 * sin(#in(0)))' ICFType='%s'", n), 1, 1, {t}};
    case 1:
        return (icf){draw_text(d, "ICF='fmin(#acc(0), #in(0))' ICFType='%s'", n), 1, 1, {t}};
    case 2:
        return (icf){draw_text(d, "ICF='#acc(0) &lt; #in(0) ? #in(0) : #acc(0)' ICFType='%s'", n), 1, 1, {t}};
    case 3:
    case 4:
        return (icf){
            draw_text(d,
                      "ICF='if (#in(0) %s #acc(0)) { #acc(0) = #in(0); #acc(1) = INT32(#in(1)); }' ICFType='%s, INT32'",
                      draw_chance(d, 50) ? ">" : "&lt;", n),
            2,
            2,
            {t, ATN_INT32}};
    case 5:
        return (icf){draw_text(d,
                               "ICF='#acc(0) = #acc(0) + #in(0); #acc(1) = fmax(#acc(1), fabs(#in(0))); #acc(2) = "
                               "#acc(2) + 1;' ICFType='%s, %s, INT32' ICFInit=', 0.5, '",
                               n, n),
                     1,
                     3,
                     {t, t, ATN_INT32}};
    case 6:
        return (icf){draw_text(d,
                               "ICF='#acc(0) = #acc(0) + #in(0) * #in(0); #acc(1) = #acc(1) + 1;' ICFCombine='#acc(0) "
                               "= #a(0) + #b(0); #acc(1) = #a(1) + #b(1);' ICFInit='0' ICFType='%s'",
                               n),
                     1,
                     2,
                     {t, t}};
    case 7:
        return (icf){draw_text(d, "ICF='#acc(0) * 0.5 + #in(0)' ICFInit='1' ICFType='%s'", n), 1, 1, {t}};
    default:
        return (icf){
            draw_text(d, "ICF='#acc(0) + #in(0)' ICFType='%s'%s", n, draw_chance(d, 20) ? " ICFInit='0.5'" : ""),
            1,
            1,
            {t}};
    }
}

/* Integers and B state their init: a constant input may fold the operation away, and with it the neutral element. */
static icf draw_icf(draw *d) {
    switch (draw_below(d, 8)) {
    case 0:
        return (icf){draw_chance(d, 50) ? "ICF='#acc(0) + #in(0)' ICFType='INT32' ICFInit='0'"
                                        : "ICF='max(#acc(0), #in(0))' ICFType='INT32' ICFInit='-50'",
                     1,
                     1,
                     {ATN_INT32}};
    case 1:
        return (icf){draw_chance(d, 50) ? "ICF='#acc(0) &amp;&amp; #in(0)' ICFType='B' ICFInit='1'"
                                        : "ICF='#acc(0) || #in(0)' ICFType='B' ICFInit='0'",
                     1,
                     1,
                     {ATN_B}};
    case 2:
        return (icf){"ICF='#acc(0) + #in(0)' ICFType='SP2'", 1, 1, {ATN_SP2}};
    case 3:
        return real_icf(d, ATN_DP);
    default:
        return real_icf(d, ATN_SP);
    }
}

/* A running value, before or after a step, written at every step. */
static void write_running(draw *d, int32_t block, const icf *f) {
    for (uint32_t k = 0, count = 1 + draw_below(d, 2); k < count; ++k) {
        int32_t which = (int32_t)draw_below(d, (uint32_t)f->results);
        source running = {.type = f->type[which]};
        snprintf(running.port, sizeof running.port, "%s.%s(%d)", d->scopes[block].name,
                 draw_chance(d, 50) ? "before" : "after", which);
        draw_write(d, block, &running);
    }
}

/* Connects the inputs of a block's ICF, writes running values, and names its results in `seen_in`. */
static void use_icf(draw *d, int32_t block, const icf *f, int32_t seen_in, bool scan) {
    scope *s = &d->scopes[block];
    snprintf(s->attributes, sizeof s->attributes, "%s", f->attributes);
    const source *value = f->type[0] == ATN_B ? draw_condition(d, block) : draw_function(d, block, f->type[0]);
    draw_link(d, value->port, draw_text(d, "%s.func(0)", s->name));
    if (f->inputs > 1) draw_link(d, draw_text(d, "%s.i(0)", s->name), draw_text(d, "%s.func(1)", s->name));
    if (scan) write_running(d, block, f);
    for (int32_t k = 0; k < f->results && seen_in >= 0; ++k)
        draw_source(d, seen_in, draw_text(d, "%s.out(%d)", s->name, k), f->type[k]);
}

/* ---- blocks ---- */

static void some_reads(draw *d, int32_t block, int32_t count) {
    for (int32_t k = 0; k < count; ++k) {
        if (draw_chance(d, 22))
            draw_gather(d, block);
        else if (draw_chance(d, 15))
            draw_stencil(d, block);
        else
            draw_read(d, block);
    }
}

/* Begin and End from two elements of an ascending vector. */
static bool range_from_data(draw *d, scope *s) {
    const scope *p = &d->scopes[0];
    if (p->rank == 0 || s->rank != 1 || d->g->n_objects == RANDOM_OBJECTS) return false;
    int32_t rows =
        draw_object(d, ATN_INT32, 1, (const int64_t[ATN_MAX_RANK]){(p->extent[0] > 0 ? p->extent[0] : 0) + 1, 1, 1});
    struct random_object *o = &d->g->object[rows];
    o->ordered = true;
    o->low = 0;
    o->high = s->extent[0] = 1 + draw_below(d, 60);
    s->from_data = true;
    for (int end = 0; end < 2; ++end) {
        const char *name = draw_text(d, "e%d", d->names++);
        atn_text_printf(&d->scopes[s->parent].body, "<DataAccessRead name='%s' source='%s' selFunction='v0%s'/>\n",
                        name, o->name, end ? " + 1" : "");
        draw_link(d, draw_text(d, "%s.i(0)", p->name), draw_text(d, "%s.v(0)", name));
        draw_link(d, draw_text(d, "%s.out", name), draw_text(d, "%s.%s(0)", s->name, end ? "End" : "Begin"));
    }
    return true;
}

static void draw_ranges(draw *d, scope *s, int64_t most) {
    const scope *p = &d->scopes[0];
    if (draw_chance(d, 15) && range_from_data(d, s)) return;
    if (draw_chance(d, 8) && p->rank && s->rank == 1) { /* a triangle */
        s->extent[0] = p->extent[0];
        draw_link(d, draw_text(d, "%s.i(0)", p->name), draw_text(d, "%s.Range(0)", s->name));
        return;
    }
    for (int32_t k = 0; k < s->rank; ++k) {
        s->extent[k] = draw_extent(d, most);
        most = s->extent[k] > 0 ? most / s->extent[k] : most;
        draw_link(d, draw_range(d, s->parent, s->extent[k]), draw_text(d, "%s.Range(%d)", s->name, k));
    }
}

static void draw_iterator(draw *d, int32_t parent) {
    if (d->n_scopes == MOST_SCOPES) return;
    int32_t number = d->n_scopes++;
    scope *s = &d->scopes[number];
    *s = (scope){.parent = parent,
                 .rank = draw_chance(d, 72)   ? 1
                         : draw_chance(d, 70) ? 2
                                              : 3,
                 .body = {.ctx = d->g->ctx}};
    snprintf(s->name, sizeof s->name, "it%d", number % 10);
    draw_ranges(d, s, parent ? 9 : d->points > 2000 ? 9 : 70);
    some_reads(d, number, 1 + (int32_t)draw_below(d, 2));
    for (int32_t k = 0; k < s->rank; ++k) draw_source(d, number, draw_text(d, "%s.i(%d)", s->name, k), ATN_INDEX);
    if (parent == 0 && draw_chance(d, 25)) draw_iterator(d, number);
    int32_t dims = s->rank + d->scopes[0].rank;
    if (parent == 0 && dims <= ATN_MAX_RANK && !s->from_data && draw_chance(d, 20))
        draw_write(d, number, draw_function(d, number, ATN_SP));
    icf f = draw_icf(d);
    use_icf(d, number, &f, parent, d->scans && parent == 0 && dims <= 2 && !s->from_data);
}

static atn_type function_type(draw *d) {
    static const atn_type types[] = {ATN_SP, ATN_SP, ATN_SP, ATN_DP, ATN_DP, ATN_INT32, ATN_SP2, ATN_HP, ATN_DP2};
    return types[draw_below(d, 9)];
}

static void draw_algorithm(draw *d) {
    static const int64_t most_of_three[] = {67, 17, 7};
    scope *p = &d->scopes[0];
    d->n_scopes = 1;
    *p = (scope){
        .parent = -1, .rank = (int32_t)(draw_chance(d, 10) ? 0 : 1 + draw_below(d, 3)), .body = {.ctx = d->g->ctx}};
    snprintf(p->name, sizeof p->name, "P");
    d->points = 1;
    for (int32_t k = 0; k < p->rank && k < 3; ++k) {
        p->extent[k] = draw_extent(d, p->rank > 2 ? most_of_three[k] : k ? 40 : 257);
        d->points *= p->extent[k];
        const char *range = draw_range(d, 0, p->extent[k]);
        d->fixed_range |= *range == 'c';
        draw_link(d, range, draw_text(d, "P.Range(%d)", k));
        draw_source(d, 0, draw_text(d, "P.i(%d)", k), ATN_INDEX);
    }
    some_reads(d, 0, 1 + (int32_t)draw_below(d, 3));
    for (uint32_t k = 0, count = draw_below(d, 3); k < count; ++k) draw_iterator(d, 0);
    for (uint32_t k = 0, count = 1 + draw_below(d, 2); k < count; ++k) (void)draw_function(d, 0, function_type(d));
    if (draw_chance(d, 15)) draw_in_place(d);
    if (draw_chance(d, 12)) draw_scatter(d);
    bool reduces = p->rank > 0 && draw_chance(d, d->scans ? 60 : 25);
    for (uint32_t k = 0, count = (reduces ? 0 : 1) + draw_below(d, 2); k < count; ++k)
        draw_write(d, 0, draw_function(d, 0, function_type(d)));
    if (!reduces) return;
    icf f = draw_icf(d);
    use_icf(d, 0, &f, -1, d->scans);
    for (int32_t k = 0; k < f.results; ++k) {
        source result = {.type = f.type[k]};
        snprintf(result.port, sizeof result.port, "P.out(%d)", k);
        draw_write_result(d, &result);
    }
}

/* ---- the whole ---- */

static void assemble(draw *d, int32_t number, atn_text *out) {
    const scope *s = &d->scopes[number];
    atn_text_add(out, atn_text_str(&s->body));
    for (int32_t k = number + 1; k < d->n_scopes; ++k) {
        const scope *child = &d->scopes[k];
        if (child->parent != number) continue;
        atn_text_printf(out, "<IteratorBlock name='%s' dimensions='%d' %s>\n", child->name, child->rank,
                        child->attributes);
        assemble(d, k, out);
        atn_text_add(out, "</IteratorBlock>\n");
    }
}

static void write_out(draw *d) {
    atn_text *xml = &d->g->xml;
    const scope *p = &d->scopes[0];
    atn_text_printf(
        xml, "<ParallelAlgorithm name='P' dimensions='%d' %s%s>\n<DataObjects>\n%s</DataObjects>\n<Children>\n",
        p->rank, p->attributes, !d->g->special && !d->g->integers && draw_chance(d, 30) ? " finite='true'" : "",
        atn_text_str(&d->objects));
    assemble(d, 0, xml);
    atn_text_printf(xml, "</Children>\n<Connections>\n%s</Connections>\n</ParallelAlgorithm>\n",
                    atn_text_str(&d->links));
}

static atn_status bind(random_graph *g) {
    atn_binding bindings[RANDOM_OBJECTS];
    for (int32_t k = 0; k < g->n_objects; ++k) bindings[k] = (atn_binding){g->object[k].name, g->object[k].view};
    g->frame = (atn_bindings){.views = g->views, .params = (const double(*)[2])g->params};
    return atn_eval_bind(g->ctx, g->graph, bindings, (size_t)g->n_objects, g->param, (size_t)g->n_params, g->views,
                         g->params);
}

static atn_status make(const atn_ctx *ctx, uint64_t seed, bool integers, bool scans, random_graph *out) {
    *out = (random_graph){.ctx = ctx, .seed = seed, .xml = {.ctx = ctx}, .integers = integers};
    draw d = {.g = out,
              .random = (seed + 1) * 0x9e3779b97f4a7c15u,
              .arena = {.ctx = ctx},
              .scans = scans,
              .objects = {.ctx = ctx},
              .links = {.ctx = ctx}};
    if (d.random == 0) d.random = 1;
    for (int k = 0; k < 8; ++k) draw_below(&d, 2);
    out->special = draw_chance(&d, 12);
    out->strays = draw_chance(&d, 10);
    if (integers)
        draw_integers(&d);
    else
        draw_algorithm(&d);
    write_out(&d);
    atn_status status = draw_inputs(&d);
    if (status == ATN_OK) status = atn_text_status(&out->xml);
    for (int32_t k = 0; k < d.n_scopes; ++k) atn_text_free(&d.scopes[k].body);
    atn_text_free(&d.objects);
    atn_text_free(&d.links);
    atn_arena_free(&d.arena);
    if (status == ATN_OK)
        status = atn_sequence_parse(ctx, "random.xml", out->xml.data, out->xml.length, NULL, NULL, &out->sequence);
    if (status != ATN_OK) return atn_fail_within(ctx, status, "seed %llu", (unsigned long long)seed);
    out->graph = out->sequence->step[0];
    status = bind(out);
    return status == ATN_OK ? ATN_OK : atn_fail_within(ctx, status, "seed %llu", (unsigned long long)seed);
}

atn_status random_graph_make(const atn_ctx *ctx, uint64_t seed, random_graph *out) {
    return make(ctx, seed, false, false, out);
}

atn_status random_graph_make_scans(const atn_ctx *ctx, uint64_t seed, random_graph *out) {
    return make(ctx, seed, false, true, out);
}

atn_status random_graph_make_integers(const atn_ctx *ctx, uint64_t seed, random_graph *out) {
    return make(ctx, seed, true, false, out);
}

void random_graph_free(random_graph *g) {
    atn_sequence_free(g->sequence);
    for (int32_t k = 0; k < g->n_objects; ++k) atn_free(g->ctx, g->object[k].memory);
    atn_text_free(&g->xml);
    *g = (random_graph){0};
}
