/* Random writes: one-to-one, in place, by colour, scattered; and what is known after the whole space. */
#include "support/random_access.h"

#include "graph/type.h"

#include <string.h>

/* A value as the object's type: a function that casts, unless it is of that type. */
static const char *as_type(draw *d, int32_t block, const source *value, atn_type type) {
    if (value->type == type) return value->port;
    int32_t name = d->names++;
    const char *text = draw_text(d, "%s(#in(0))", atn_type_name(type));
    bool complex = atn_type_is_complex(value->type), to_complex = atn_type_is_complex(type);
    if (to_complex && !complex)
        text = draw_text(d, "complex(%s(#in(0)), 0.5)", atn_type_name(atn_type_get_info(type)->part));
    if (complex && !to_complex) text = draw_text(d, "%s(real(#in(0)))", atn_type_name(type));
    atn_text_printf(&d->scopes[block].body, "<FunctionBlock name='w%d' dataType='%s' function='%s'/>\n", name,
                    atn_type_name(type), text);
    draw_link(d, value->port, draw_text(d, "w%d.in(0)", name));
    return draw_text(d, "w%d.out", name);
}

static void emit_write(draw *d, int32_t block, const char *name, int32_t object, const char *select,
                       const char *combine, const char *value, bool predicate) {
    d->g->object[object].written = true;
    atn_text_printf(&d->scopes[block].body, "<DataAccessWrite name='%s' destination='%s' selFunction='%s'%s%s%s/>\n",
                    name, d->g->object[object].name, select, *combine ? " combine='" : "", combine,
                    *combine ? "'" : "");
    draw_link(d, value, draw_text(d, "%s.in", name));
    if (predicate) draw_link(d, draw_condition(d, block)->port, draw_text(d, "%s.enable", name));
}

typedef struct span {
    const char *text; /* c * v + offset */
    int64_t size;     /* what the object needs */
} span;

/* One dimension spread out: by a factor, from an offset, now and then backwards. */
static span spread(draw *d, const char *name, int32_t variable, const char *port, int64_t extent) {
    int64_t c = draw_chance(d, 80) ? 1 : 2, offset = draw_chance(d, 80) ? 0 : draw_below(d, 3),
            last = extent > 0 ? extent - 1 : 0;
    draw_link(d, port, draw_text(d, "%s.v(%d)", name, variable));
    int64_t slack = draw_chance(d, 30) ? 1 + (int64_t)draw_below(d, 3) : 0;
    if (draw_chance(d, 10))
        return (span){draw_text(d, "%lld - v%d", (long long)last + offset, variable), last + offset + 1 + slack};
    int64_t size = (extent > 0 ? c * last + offset + 1 : 0) + slack;
    return (span){c == 1 && offset == 0 ? draw_text(d, "v%d", variable)
                                        : draw_text(d, "%lld * v%d + %lld", (long long)c, variable, (long long)offset),
                  size};
}

void draw_write(draw *d, int32_t block, const source *value) {
    const char *name = draw_text(d, "s%d", d->names++);
    size_t before = d->links.length;
    span axes[ATN_MAX_RANK] = {{0}};
    int32_t count = 0;
    for (int32_t s = block; s >= 0; s = d->scopes[s].parent)
        for (int32_t k = 0; k < d->scopes[s].rank && count < ATN_MAX_RANK; ++k, ++count)
            axes[count] =
                spread(d, name, count, draw_text(d, "%s.i(%d)", d->scopes[s].name, k), d->scopes[s].extent[k]);
    int32_t rank = count > 1 && draw_chance(d, 80) ? count : 1 + (int32_t)draw_below(d, ATN_MAX_RANK);
    if (rank < count) rank = count;
    while (count < rank) axes[count++] = (span){draw_chance(d, 70) ? "0" : "1", 2};
    for (int32_t k = 1; k < rank; ++k) { /* in any order */
        int32_t other = draw_chance(d, 35) ? (int32_t)draw_below(d, (uint32_t)k) : k;
        span first = axes[other];
        axes[other] = axes[k];
        axes[k] = first;
    }
    const char *select = axes[0].text;
    int64_t size[ATN_MAX_RANK] = {axes[0].size, 1, 1}, all = axes[0].size;
    for (int32_t k = 1; k < rank; ++k) {
        select = draw_text(d, "%s, %s", select, axes[k].text);
        all *= size[k] = axes[k].size;
    }
    atn_type type = draw_chance(d, 60) && value->type != ATN_INDEX ? value->type : draw_type(d, false);
    int32_t object = all > 1 << 20 ? -1 : draw_object(d, type, rank, size);
    if (object < 0) {
        forget_links(d, before);
        return;
    }
    emit_write(d, block, name, object, select, "", as_type(d, block, value, type), draw_chance(d, 20));
}

/* The element of the point itself; or, in one dimension, neighbours of the other colour. */
void draw_in_place(draw *d) {
    const scope *p = &d->scopes[0];
    if (!p->rank || d->g->n_objects + 1 > RANDOM_OBJECTS) return;
    static const atn_type types[] = {ATN_SP, ATN_DP, ATN_INT32};
    atn_type type = types[draw_below(d, 3)];
    int64_t size[ATN_MAX_RANK] = {1, 1, 1};
    for (int32_t k = 0; k < p->rank; ++k) size[k] = p->extent[k] > 0 ? p->extent[k] : 1;
    int32_t object = draw_object(d, type, p->rank, size);
    d->g->object[object].written = true;
    bool colours = p->rank == 1 && !d->fixed_range && draw_chance(d, 50);
    const char *reader = draw_text(d, "r%d", d->names++), *writer = draw_text(d, "s%d", d->names++);
    const char *select = draw_plain_select(d, p->rank);
    atn_text *body = &d->scopes[0].body;
    for (int32_t k = 0; k < p->rank; ++k) {
        draw_link(d, draw_text(d, "%s.i(%d)", p->name, k), draw_text(d, "%s.v(%d)", reader, k));
        draw_link(d, draw_text(d, "%s.i(%d)", p->name, k), draw_text(d, "%s.v(%d)", writer, k));
    }
    atn_text_printf(body, "<DataAccessRead name='%s' source='%s' selFunction='%s'%s/>\n", reader,
                    d->g->object[object].name, colours ? "v0 + 1" : select, colours ? " boundary='zero'" : "");
    const char *function = draw_text(d, "f%d", d->names++);
    atn_text_printf(body, "<FunctionBlock name='%s' dataType='%s' function='#in(0) %s'/>\n", function,
                    atn_type_name(type), type == ATN_INT32 ? "* 3 - 1" : "* 0.5 + 0.25");
    draw_link(d, draw_text(d, "%s.out", reader), draw_text(d, "%s.in(0)", function));
    emit_write(d, 0, writer, object, select, "", draw_text(d, "%s.out", function), !colours && draw_chance(d, 30));
    if (!colours) return;
    const char *mine = draw_text(d, "b%d", d->names++);
    atn_text_printf(body, "<FunctionBlock name='%s' dataType='B' function='#in(0) mod 2 == %u'/>\n", mine,
                    draw_below(d, 2));
    draw_link(d, draw_text(d, "%s.i(0)", p->name), draw_text(d, "%s.in(0)", mine));
    draw_link(d, draw_text(d, "%s.out", mine), draw_text(d, "%s.enable", writer));
}

/* Every point into one of a few elements, found by an index array or computed. */
void draw_scatter(draw *d) {
    static const char *const how[] = {"add", "min", "max", "or", "add"};
    uint32_t which = draw_below(d, 5);
    atn_type type = which == 3 || draw_chance(d, 60) ? ATN_INT32 : ATN_SP;
    int64_t bins = 1 + draw_below(d, 20);
    if (d->g->n_objects + 1 > RANDOM_OBJECTS) return;
    int32_t object = draw_object(d, type, 1, (const int64_t[ATN_MAX_RANK]){bins, 1, 1});
    const source *value = draw_function(d, 0, type), *key = draw_function(d, 0, ATN_INT32);
    const char *name = draw_text(d, "s%d", d->names++), *bin = draw_text(d, "k%d", d->names++);
    atn_text_printf(&d->scopes[0].body, "<FunctionBlock name='%s' dataType='INT32' function='#in(0) mod %lld'/>\n", bin,
                    (long long)bins);
    draw_link(d, key->port, draw_text(d, "%s.in(0)", bin));
    draw_link(d, draw_text(d, "%s.out", bin), draw_text(d, "%s.v(0)", name));
    emit_write(d, 0, name, object, "v0", how[which], value->port, draw_chance(d, 20));
}

void draw_write_result(draw *d, const source *value) {
    const char *name = draw_text(d, "s%d", d->names++);
    int32_t object = draw_object(d, value->type == ATN_INDEX ? ATN_INT32 : value->type, 1,
                                 (const int64_t[ATN_MAX_RANK]){1 + draw_below(d, 3), 1, 1});
    if (object < 0) return;
    emit_write(d, 0, name, object, "0", "", as_type(d, 0, value, d->g->object[object].view.type), false);
}
