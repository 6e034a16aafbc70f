/* Random kernels of integers: numbers at the ends of their types, every operation on them, casts of floating values
 * that do not fit, and whatever comes out as selector of gathers and scatters and as range of iterators. */
#include "support/random_access.h"

#include "graph/type.h"

#include <math.h>
#include <string.h>

/* ---- numbers ---- */

int64_t draw_end(draw *d) {
    uint32_t bit = draw_below(d, 32), how = draw_below(d, 10);
    int64_t power = (int64_t)1 << bit, near = (int64_t)draw_below(d, 3) - 1;
    if (how < 4) return (int64_t)draw_below(d, 41) - 20;
    if (how < 6) return INT32_MAX - (int64_t)draw_below(d, 3);
    if (how < 7) return INT32_MIN + (int64_t)draw_below(d, 3);
    if (how < 9) return draw_chance(d, 50) ? power + near : -power + near;
    return (int64_t)draw_below(d, 1u << 31) * 2 - INT32_MAX;
}

double draw_huge(draw *d) {
    static const double numbers[] = {
        (double)NAN, INFINITY, -INFINITY, 0x1p31, -0x1p31, 0x1p31 - 128, 2147483647.0, -2147483648.5, 3e9,   -3e9,
        0x1p63,      -0x1p63,  1e19,      -1e30,  0.5,     -0.5,         1.75,         -1.75,         255.5, 256,
        -1,          65535.5,  65536,     0,      -0.0,    4294967296.,  0x1p62,       1e-40};
    if (draw_chance(d, 50)) return (double)draw_below(d, 200) / 4 - 25;
    return numbers[draw_below(d, sizeof numbers / sizeof *numbers)];
}

/* ---- expressions ---- */

typedef struct whole {
    draw *d;
    atn_type type; /* INT32 or INDEX */
    const source *in[3];
    int32_t n_in;
} whole;

static const char *literal(whole *w) {
    draw *d = w->d;
    int64_t n = draw_end(d);
    if (w->type == ATN_INDEX && draw_chance(d, 30)) n = draw_chance(d, 50) ? INT64_MAX - draw_below(d, 3) : n * 65537;
    if (w->type == ATN_INT32) n = atn_type_wrap(ATN_INT32, n);
    return draw_text(d, "%s(%lld)", atn_type_name(w->type), (long long)n); /* typed: literals would be folded */
}

/* An input in the block's type; now and then by way of another. */
static const char *input(whole *w) {
    draw *d = w->d;
    if (!w->n_in || draw_chance(d, 15)) return literal(w);
    uint32_t k = draw_below(d, (uint32_t)w->n_in);
    const char *type = atn_type_name(w->type);
    if (w->in[k]->type == w->type && draw_chance(d, 75)) return draw_text(d, "#in(%u)", k);
    static const char *const ways[] = {"U8", "U16", "INDEX", "INT32", "B"};
    if (draw_chance(d, 30)) return draw_text(d, "%s(%s(#in(%u)))", type, ways[draw_below(d, 5)], k);
    return draw_text(d, "%s(#in(%u))", type, k);
}

static const char *expression(whole *w, int depth) {
    static const char *const signs[] = {"+", "-", "*", "*", "/", "%", "&", "|", "^", "mod", "<<", ">>"};
    static const char *const tests[] = {"<", "<=", ">", ">=", "==", "!="};
    draw *d = w->d;
    if (depth <= 0 || draw_chance(d, 10)) return input(w);
    const char *a = expression(w, depth - 1), *b = expression(w, depth - 1), *type = atn_type_name(w->type);
    switch (draw_below(d, 16)) {
    case 0:
        return draw_text(d, "(-%s)", a);
    case 1:
        return draw_text(d, "(~%s)", a);
    case 2:
        return draw_text(d, "abs(%s)", a);
    case 3:
        return draw_text(d, "%s(%s, %s)", draw_chance(d, 50) ? "min" : "max", a, b);
    case 4:
        return draw_text(d, "(%s %s %s ? %s : %s)", a, tests[draw_below(d, 6)], b, b, expression(w, depth - 2));
    case 5:
        return draw_text(d, "%s(INDEX(%s) * 4294967296 + INDEX(%s))", type, a, b);
    case 6:
        return w->type == ATN_INT32 ? draw_text(d, "INT32(DP(%s) * 4.0)", a) : draw_text(d, "INDEX(INT32(%s))", a);
    default:
        return draw_text(d, "(%s %s %s)", a, signs[draw_below(d, 12)], b);
    }
}

static bool sees(const draw *d, int32_t from, int32_t block) {
    while (block >= 0 && block != from) block = d->scopes[block].parent;
    return block == from;
}

static const source *some_source(draw *d, int32_t block) {
    const source *found = NULL;
    for (int tries = 0; tries < 16; ++tries) {
        const source *s = &d->sources[draw_below(d, (uint32_t)d->n_sources)];
        if (sees(d, s->scope, block)) found = s;
    }
    return found;
}

static const source *function(draw *d, int32_t block, atn_type type, const char *text, const source *const *in,
                              int32_t n_in) {
    const char *name = draw_text(d, "f%d", d->names++);
    atn_text *out = &d->scopes[block].body;
    atn_text_printf(out, "<FunctionBlock name='%s' dataType='%s' numInVars='%d' function='", name, atn_type_name(type),
                    n_in);
    draw_escaped(out, text);
    atn_text_add(out, "'/>\n");
    for (int32_t k = 0; k < n_in; ++k) draw_link(d, in[k]->port, draw_text(d, "%s.in(%d)", name, k));
    return draw_source(d, block, draw_text(d, "%s.out", name), type);
}

static const source *some_function(draw *d, int32_t block) {
    whole w = {.d = d, .type = draw_chance(d, 70) ? ATN_INT32 : ATN_INDEX};
    for (uint32_t k = 0, wanted = 1 + draw_below(d, 3); k < wanted; ++k) {
        const source *s = d->n_sources ? some_source(d, block) : NULL;
        if (s) w.in[w.n_in++] = s;
    }
    const char *text = expression(&w, 1 + (int)draw_below(d, 4));
    return function(d, block, w.type, text, w.in, w.n_in);
}

/* ---- accesses ---- */

/* A selector of what was computed: as it is, spread out, or brought inside [0, n) in one of several ways. */
static const char *selector(draw *d, int32_t block, const char *name, int32_t *variables, int64_t n) {
    const source *a = some_function(d, block), *b = some_source(d, block);
    bool whole_numbers = b && (b->type == ATN_INT32 || b->type == ATN_INDEX);
    uint32_t how = draw_below(d, whole_numbers ? 12 : 9);
    int32_t v = *variables;
    long long size = n;
    draw_link(d, a->port, draw_text(d, "%s.v(%d)", name, v));
    if (how >= 9) draw_link(d, b->port, draw_text(d, "%s.v(%d)", name, v + 1));
    *variables += how >= 9 ? 2 : 1;
    switch (how) {
    case 0:
        return draw_text(d, "(v%d & 2147483647) * 2", v);
    case 1:
        return draw_text(d, "(v%d + 9223372036854775807) mod %lld", v, size);
    case 2:
        return draw_text(d, "v%d * 4294967296 + %lld", v, size / 2);
    case 3:
        return draw_text(d, "v%d", v);
    case 4:
        return draw_text(d, "abs(v%d) %% %lld", v, size);
    case 9:
        return draw_text(d, "v%d * v%d", v, v + 1);
    case 10:
        return draw_text(d, "(v%d - v%d) mod %lld", v, v + 1, size);
    case 11:
        return draw_text(d, "v%d * 4294967296 + v%d", v, v + 1);
    default:
        return draw_text(d, "v%d mod %lld", v, size);
    }
}

static const char *escaped(draw *d, const char *text) {
    char out[4096];
    size_t n = 0;
    for (; *text && n + 6 < sizeof out; ++text)
        n += (size_t)snprintf(out + n, sizeof out - n, *text == '&' ? "&amp;" : "%c", *text);
    out[n] = '\0';
    return draw_text(d, "%s", out);
}

/* Along the points. */
static void plain_read(draw *d) {
    static const atn_type types[] = {ATN_INT32, ATN_INT32, ATN_INT32, ATN_INT32, ATN_U8,
                                     ATN_U16,   ATN_B,     ATN_SP,    ATN_DP};
    const scope *p = &d->scopes[0];
    int64_t size[ATN_MAX_RANK] = {1, 1, 1};
    for (int32_t k = 0; k < p->rank; ++k) size[k] = p->extent[k] > 0 ? p->extent[k] : 1;
    int32_t object = draw_object(d, types[draw_below(d, 9)], p->rank > 1 ? p->rank : 1, size);
    if (object < 0) return;
    const char *name = draw_text(d, "r%d", d->names++);
    for (int32_t k = 0; k < p->rank; ++k) draw_link(d, draw_text(d, "P.i(%d)", k), draw_text(d, "%s.v(%d)", name, k));
    atn_text_printf(&d->scopes[0].body, "<DataAccessRead name='%s' source='%s' selFunction='%s'/>\n", name,
                    d->g->object[object].name, draw_plain_select(d, p->rank));
    draw_source(d, 0, draw_text(d, "%s.out", name), d->g->object[object].view.type);
}

static void gather(draw *d, int32_t block) {
    static const char *const edges[] = {"", "", "", "", "clamp", "zero", "wrap", "mirror"};
    static const atn_type types[] = {ATN_INT32, ATN_INT32, ATN_INT32, ATN_U8, ATN_U16};
    int32_t rank = draw_chance(d, 65) ? 1 : draw_chance(d, 60) ? 2 : 3, variables = 0;
    int64_t size[ATN_MAX_RANK] = {1 + draw_below(d, 40), 1 + draw_below(d, 5), 1 + draw_below(d, 4)};
    int32_t object = draw_object(d, types[draw_below(d, 5)], rank, size);
    if (object < 0) return;
    const char *name = draw_text(d, "g%d", d->names++), *edge = edges[draw_below(d, 8)];
    const char *select = selector(d, block, name, &variables, size[0]);
    for (int32_t k = 1; k < rank; ++k)
        select = draw_text(d, "%s, %s", select, selector(d, block, name, &variables, size[k]));
    atn_text_printf(&d->scopes[block].body, "<DataAccessRead name='%s' source='%s' selFunction='%s'%s%s%s/>\n", name,
                    d->g->object[object].name, escaped(d, select), *edge ? " boundary='" : "", edge, *edge ? "'" : "");
    draw_source(d, block, draw_text(d, "%s.out", name), d->g->object[object].view.type);
}

static void scatter(draw *d) {
    static const char *const how[] = {"add", "add", "min", "max", "or"};
    int64_t bins = 1 + draw_below(d, 20);
    int32_t object = draw_object(d, ATN_INT32, 1, (const int64_t[ATN_MAX_RANK]){bins, 1, 1}), variables = 0;
    if (object < 0) return;
    d->g->object[object].written = true;
    const source *value = some_function(d, 0);
    if (value->type != ATN_INT32) value = function(d, 0, ATN_INT32, "INT32(#in(0))", &value, 1);
    const char *port = draw_text(d, "%s", value->port), *name = draw_text(d, "s%d", d->names++);
    const char *select = selector(d, 0, name, &variables, bins);
    atn_text_printf(&d->scopes[0].body, "<DataAccessWrite name='%s' destination='%s' selFunction='%s' combine='%s'/>\n",
                    name, d->g->object[object].name, escaped(d, select), how[draw_below(d, 5)]);
    draw_link(d, port, draw_text(d, "%s.in", name));
}

/* What a block computed, element by element. */
static void write_value(draw *d) {
    static const char *const types[] = {"INT32", "INT32", "INT32", "U8", "U16"};
    const scope *p = &d->scopes[0];
    const source *value = some_function(d, 0);
    const char *type = types[draw_below(d, 5)], *name = draw_text(d, "s%d", d->names++);
    value = function(d, 0, atn_type_from_name(type), draw_text(d, "%s(#in(0))", type), &value, 1);
    int64_t size[ATN_MAX_RANK] = {1, 1, 1};
    for (int32_t k = 0; k < p->rank; ++k) size[k] = p->extent[k];
    int32_t object = draw_object(d, value->type, p->rank > 1 ? p->rank : 1, size);
    if (object < 0) return;
    d->g->object[object].written = true;
    for (int32_t k = 0; k < p->rank; ++k) draw_link(d, draw_text(d, "P.i(%d)", k), draw_text(d, "%s.v(%d)", name, k));
    atn_text_printf(&d->scopes[0].body, "<DataAccessWrite name='%s' destination='%s' selFunction='%s'/>\n", name,
                    d->g->object[object].name, draw_plain_select(d, p->rank));
    draw_link(d, value->port, draw_text(d, "%s.in", name));
}

/* A few steps, from 0 or from any number. */
static void iterator(draw *d) {
    static const char *const folds[] = {"#acc(0) + #in(0)", "#acc(0) * #in(0)", "min(#acc(0), #in(0))",
                                        "max(#acc(0), #in(0))", "#acc(0) - #in(0)"};
    int32_t number = d->n_scopes++;
    scope *s = &d->scopes[number];
    *s = (scope){.parent = 0, .rank = 1, .extent = {20}, .body = {.ctx = d->g->ctx}};
    snprintf(s->name, sizeof s->name, "it%d", number % 10);
    if (draw_chance(d, 50)) {
        draw_link(d, draw_range(d, 0, draw_below(d, 20)), draw_text(d, "%s.Range(0)", s->name));
    } else {
        const source *from = some_function(d, 0);
        const char *far = draw_chance(d, 30) ? "INDEX(#in(0))" : "INDEX(#in(0)) mod 10";
        const source *begin = function(d, 0, ATN_INDEX, far, &from, 1);
        const source *end = function(d, 0, ATN_INDEX, draw_text(d, "#in(0) + %u", draw_below(d, 12)), &begin, 1);
        draw_link(d, begin->port, draw_text(d, "%s.Begin(0)", s->name));
        draw_link(d, end->port, draw_text(d, "%s.End(0)", s->name));
    }
    draw_source(d, number, draw_text(d, "%s.i(0)", s->name), ATN_INDEX);
    if (draw_chance(d, 70)) gather(d, number);
    const source *value = some_function(d, number);
    const char *type = atn_type_name(value->type);
    snprintf(s->attributes, sizeof s->attributes, "ICF='%s' ICFType='%s' ICFInit='3'", folds[draw_below(d, 5)], type);
    draw_link(d, value->port, draw_text(d, "%s.func(0)", s->name));
    draw_source(d, 0, draw_text(d, "%s.out(0)", s->name), value->type);
}

void draw_integers(draw *d) {
    scope *p = &d->scopes[0];
    d->n_scopes = 1;
    *p = (scope){.parent = -1,
                 .rank = (int32_t)(draw_chance(d, 65)   ? 1
                                   : draw_chance(d, 60) ? 2
                                                        : 3),
                 .body = {.ctx = d->g->ctx}};
    snprintf(p->name, sizeof p->name, "P");
    d->points = 1;
    for (int32_t k = 0; k < p->rank; ++k) {
        p->extent[k] = draw_extent(d, k == 0 ? 100 : k == 1 ? 9 : 4);
        d->points *= p->extent[k];
        draw_link(d, draw_range(d, 0, p->extent[k]), draw_text(d, "P.Range(%d)", k));
        draw_source(d, 0, draw_text(d, "P.i(%d)", k), ATN_INDEX);
    }
    for (uint32_t k = 0, count = 2 + draw_below(d, 2); k < count; ++k) plain_read(d);
    for (uint32_t k = 0, count = draw_below(d, 3); k < count; ++k) gather(d, 0);
    if (draw_chance(d, 40)) iterator(d);
    if (draw_chance(d, 50)) scatter(d);
    for (uint32_t k = 0, count = 1 + draw_below(d, 2); k < count; ++k) write_value(d);
}
