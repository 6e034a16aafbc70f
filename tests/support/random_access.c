/* Random objects and reads: affine selectors that stay inside, or any with a boundary; gathers through index arrays. */
#include "support/random_access.h"

#include "graph/type.h"

#include <string.h>

uint32_t draw_below(draw *d, uint32_t count) {
    d->random ^= d->random >> 12;
    d->random ^= d->random << 25;
    d->random ^= d->random >> 27;
    return count ? (uint32_t)(d->random * 0x2545f4914f6cdd1du >> 33) % count : 0;
}

bool draw_chance(draw *d, uint32_t percent) { return draw_below(d, 100) < percent; }

void draw_link(draw *d, const char *from, const char *to) {
    atn_text_printf(&d->links, "<Connection source='%s' destination='%s'/>\n", from, to);
}

const source *draw_source(draw *d, int32_t block, const char *port, atn_type type) {
    source *s = &d->sources[d->n_sources < MOST_VALUES ? d->n_sources++
                                                       : MOST_VALUES - 1]; /* when full, the newest is forgotten */
    *s = (source){.type = type, .scope = block};
    snprintf(s->port, sizeof s->port, "%s", port);
    return s;
}

int64_t draw_extent(draw *d, int64_t most) {
    static const int64_t extents[] = {0,  1,  1,  2,  3,  4,  5,  7,  8,  11,  13,  15,  16,  17,
                                      19, 31, 32, 33, 37, 63, 64, 65, 67, 100, 127, 128, 129, 257};
    int64_t n = 0;
    do n = extents[draw_below(d, sizeof extents / sizeof *extents)];
    while (n > most || (n == 0 && draw_chance(d, 60)));
    return n;
}

atn_type draw_type(draw *d, bool input) {
    static const atn_type types[] = {ATN_SP, ATN_SP, ATN_SP,  ATN_DP,  ATN_DP,  ATN_INT32, ATN_INT32,
                                     ATN_U8, ATN_HP, ATN_SP2, ATN_DP2, ATN_U16, ATN_B};
    return types[draw_below(d, input ? 13 : 11)];
}

int32_t draw_object(draw *d, atn_type type, int32_t rank, const int64_t size[ATN_MAX_RANK]) {
    random_graph *g = d->g;
    if (g->n_objects == RANDOM_OBJECTS) return -1;
    int32_t number = g->n_objects++;
    struct random_object *o = &g->object[number];
    snprintf(o->name, sizeof o->name, "o%d", number);
    o->view = (atn_view){.type = type, .rank = rank, .pitch = size[0] + (draw_chance(d, 40) ? draw_below(d, 6) : 0)};
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis) o->view.size[axis] = axis < rank ? size[axis] : 1;
    o->low = 1; /* anything */
    atn_text_printf(&d->objects, "<DataObject name='%s' structure='%s' elementDataType='%s'/>\n", o->name,
                    atn_rank_name(rank), atn_type_name(type));
    return number;
}

const char *draw_plain_select(draw *d, int32_t rank) {
    const char *select = rank ? "v0" : "0";
    for (int32_t k = 1; k < rank; ++k) select = draw_text(d, "%s, v%d", select, k);
    return select;
}

static int64_t elements(const int64_t size[ATN_MAX_RANK]) {
    int64_t all = 1;
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis) all *= size[axis];
    return all;
}

/* 1 to 3, the fewer the more often. */
static int32_t draw_rank(draw *d) {
    uint32_t chance = draw_below(d, 100);
    return chance < 45 ? 1 : chance < 80 ? 2 : 3;
}

/* A Parameter, or the size of something, or a constant. */
const char *draw_range(draw *d, int32_t block, int64_t n) {
    random_graph *g = d->g;
    uint32_t how = draw_below(d, 4);
    if (how == 0 && g->n_params < RANDOM_PARAMS) {
        int32_t p = g->n_params++;
        snprintf(g->param_name[p], sizeof g->param_name[p], "n%d", p);
        g->param[p] = (atn_param_value){g->param_name[p], {(double)n, 0}};
        atn_text_printf(&d->objects, "<Parameter name='n%d' dataType='INT32'/>\n", p);
        return draw_text(d, "n%d.out", p);
    }
    for (int32_t k = 0; how == 1 && k < g->n_objects; ++k)
        for (int axis = 0; axis < g->object[k].view.rank; ++axis)
            if (g->object[k].view.size[axis] == n) return draw_text(d, "%s.Size(%d)", g->object[k].name, axis);
    if (how == 2) {
        int32_t k = draw_object(d, draw_type(d, true), 1, (const int64_t[ATN_MAX_RANK]){n, 1, 1});
        if (k >= 0) return draw_text(d, "%s.Size(0)", g->object[k].name);
    }
    int32_t name = d->names++;
    atn_text_printf(&d->scopes[block].body, "<FunctionBlock name='c%d' dataType='INDEX' function='%lld'/>\n", name,
                    (long long)n);
    return draw_text(d, "c%d.out", name);
}

/* ---- selectors ---- */

/* An access under way: its selector's variables so far. */
typedef struct access {
    char name[16];
    int32_t variables;
    const char *select;
} access;

typedef struct axis {
    const char *text;
    int64_t low, high; /* what it reaches */
} axis;

static const char *variable(draw *d, access *a, const char *from) {
    draw_link(d, from, draw_text(d, "%s.v(%d)", a->name, a->variables));
    return draw_text(d, "v%d", a->variables++);
}

typedef struct dimension {
    char port[32];
    int64_t extent;
} dimension;

static int32_t dimensions(const draw *d, int32_t block, dimension *out) {
    int32_t count = 0;
    for (; block >= 0; block = d->scopes[block].parent)
        for (int32_t k = 0; k < d->scopes[block].rank; ++k) {
            snprintf(out[count].port, sizeof out[count].port, "%.6s.i(%d)", d->scopes[block].name, k % 10);
            out[count++].extent = d->scopes[block].extent[k];
        }
    return count;
}

/* c * i + offset, or with a second dimension, or modulo something; `inside`: shifted so that it begins at 0 or later.
 */
static axis draw_axis(draw *d, access *a, int32_t block, bool inside) {
    static const int64_t factors[] = {1, 1, 1, 1, 2, 3, -1};
    dimension dims[MOST_SCOPES * MOST_AXES];
    int32_t count = dimensions(d, block, dims), terms = draw_chance(d, 25) ? 2 : draw_chance(d, 8) ? 0 : 1;
    axis r = {.text = ""};
    for (int32_t t = 0; t < terms && count; ++t) {
        const dimension *dim = &dims[draw_chance(d, 60) ? 0 : draw_below(d, (uint32_t)count)];
        int64_t c = factors[draw_below(d, 7)], most = dim->extent > 0 ? c * (dim->extent - 1) : 0;
        r.text = draw_text(d, "%s%s%lld * %s", r.text, t ? " + " : "", (long long)c, variable(d, a, dim->port));
        r.low += most < 0 ? most : 0;
        r.high += most > 0 ? most : 0;
    }
    int64_t offset = inside ? -r.low + (draw_chance(d, 20) ? draw_below(d, 4) : 0) : (int64_t)draw_below(d, 7) - 3;
    r.text = *r.text ? draw_text(d, "%s + %lld", r.text, (long long)offset) : draw_text(d, "%lld", (long long)offset);
    r.low += offset;
    r.high += offset;
    if (count && draw_chance(d, 10)) {
        int64_t m = 1 + draw_below(d, 9);
        r = (axis){draw_text(d, "(%s) mod %lld", r.text, (long long)m), 0, m - 1};
    }
    return r;
}

static void emit_read(draw *d, int32_t block, const access *a, int32_t object, const char *boundary) {
    char port[32];
    snprintf(port, sizeof port, "%s.out", a->name);
    atn_text_printf(&d->scopes[block].body, "<DataAccessRead name='%s' source='%s' selFunction='%s'%s%s%s/>\n", a->name,
                    d->g->object[object].name, a->select, *boundary ? " boundary='" : "", boundary,
                    *boundary ? "'" : "");
    draw_source(d, block, port, d->g->object[object].view.type);
}

static access new_access(draw *d) {
    access a = {.select = ""};
    snprintf(a.name, sizeof a.name, "a%d", d->names++ % 1000);
    return a;
}

static const char *draw_boundary(draw *d) {
    static const char *const modes[] = {"clamp", "zero", "wrap", "mirror"};
    return modes[draw_below(d, 4)];
}

/* One that is only read, and is no index array; -1 when there is none. */
static int32_t old_object(draw *d) {
    for (int tries = 0; tries < 8 && d->g->n_objects; ++tries) {
        int32_t k = (int32_t)draw_below(d, (uint32_t)d->g->n_objects);
        const struct random_object *o = &d->g->object[k];
        if (!o->written && !o->index && !o->ordered && atn_view_elements(&o->view) > 0) return k;
    }
    return -1;
}

void forget_links(draw *d, size_t before) {
    if (d->links.data) d->links.data[d->links.length = before] = '\0';
}

void draw_read(draw *d, int32_t block) {
    size_t before = d->links.length;
    access a = new_access(d);
    int32_t old = draw_chance(d, 30) ? old_object(d) : -1;
    bool edge = old >= 0 || draw_chance(d, 25);
    int32_t rank = old >= 0 ? d->g->object[old].view.rank : draw_rank(d);
    int64_t size[ATN_MAX_RANK] = {1, 1, 1};
    for (int32_t k = 0; k < rank; ++k) {
        axis x = draw_axis(d, &a, block, !edge);
        a.select = draw_text(d, "%s%s%s", a.select, k ? ", " : "", x.text);
        size[k] = edge ? 1 + (int64_t)draw_below(d, k < 2 ? 70 : 9)
                       : x.high + 1 + (draw_chance(d, 30) ? draw_below(d, 5) : 0);
    }
    int32_t object = old >= 0 ? old : elements(size) > 1 << 20 ? -1 : draw_object(d, draw_type(d, true), rank, size);
    if (object >= 0)
        emit_read(d, block, &a, object, edge ? draw_boundary(d) : "");
    else
        forget_links(d, before);
}

void draw_stencil(draw *d, int32_t block) {
    dimension dims[MOST_SCOPES * MOST_AXES];
    int32_t count = dimensions(d, block, dims), rank = draw_rank(d);
    if (!count) return;
    if (rank > count) rank = count;
    int64_t size[ATN_MAX_RANK] = {1, 1, 1};
    for (int32_t k = 0; k < rank; ++k) size[k] = dims[k].extent > 0 ? dims[k].extent : 1;
    static const atn_type types[] = {ATN_SP, ATN_DP, ATN_HP, ATN_U8, ATN_INT32};
    int32_t object = elements(size) > 1 << 20 ? -1 : draw_object(d, types[draw_below(d, 5)], rank, size);
    const char *boundary = draw_boundary(d);
    for (uint32_t k = 0, reads = 2 + draw_below(d, 3); k < reads && object >= 0; ++k) {
        access a = new_access(d);
        a.select = draw_text(d, "%s + %d", variable(d, &a, dims[0].port), (int)draw_below(d, 3) - 1);
        for (int32_t n = 1; n < rank; ++n)
            a.select = draw_text(d, "%s, %s - %u", a.select, variable(d, &a, dims[n].port), draw_below(d, 2));
        emit_read(d, block, &a, object, boundary);
    }
}

void draw_gather(draw *d, int32_t block) {
    access at = new_access(d), a = new_access(d);
    size_t before = d->links.length;
    int64_t size[ATN_MAX_RANK] = {1, 1, 1}, target = 1 + (int64_t)draw_below(d, 40);
    int32_t rank = draw_rank(d);
    for (int32_t k = 0; k < rank; ++k) {
        axis x = draw_axis(d, &at, block, true);
        at.select = draw_text(d, "%s%s%s", at.select, k ? ", " : "", x.text);
        size[k] = x.high + 1;
    }
    if (elements(size) > 1 << 20 || d->g->n_objects + 2 > RANDOM_OBJECTS) {
        forget_links(d, before);
        return;
    }
    int32_t indices = draw_object(d, ATN_INT32, rank, size);
    d->g->object[indices].index = true;
    d->g->object[indices].low = 0;
    d->g->object[indices].high = target - 1;
    emit_read(d, block, &at, indices, "");
    --d->n_sources; /* an index is no number to compute with */
    const char *boundary = draw_chance(d, 25) ? draw_boundary(d) : "", *index;
    index = variable(d, &a, draw_text(d, "%s.out", at.name));
    int32_t into = draw_rank(d), along = (int32_t)draw_below(d, (uint32_t)into); /* the axis that is looked up */
    for (int32_t k = 0; k < ATN_MAX_RANK; ++k) size[k] = k == along ? target : 2;
    for (int32_t k = 0; k < into; ++k)
        a.select = draw_text(d, "%s%s%s", a.select, k ? ", " : "", k == along ? index : "1");
    int32_t object = draw_object(d, draw_type(d, true), into, size);
    emit_read(d, block, &a, object, boundary);
}
