#include "lower/stage.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ELEMENTS = 1 << 24 }; /* along an axis of a tile */

static uint32_t read_dims(const lower_scene *c, const atn_read *r) {
    uint32_t dims = 0;
    for (int a = 0; a < ATN_MAX_RANK; ++a) dims |= r->select[a] >= 0 ? c->g->values[r->select[a]].dims : 0;
    return dims;
}

int64_t lower_tile_length(const lower_scene *c, int32_t dim) {
    for (int32_t k = 0; k < c->cuts->n_points; ++k)
        if (c->cuts->point[k] == dim) return c->cuts->span[k];
    return c->g->dims[dim].axis == 0 ? c->v->q[0].tile : 1;
}

/* Several items or steps of a group read the same elements: the read does not depend on some dimension with more than
 * one point. */
static bool is_shared(const lower_scene *c, uint32_t dims) {
    for (int32_t k = 0; k < c->cuts->n_points; ++k)
        if (!(dims >> c->cuts->point[k] & 1) && c->cuts->span[k] > 1) return true;
    return false;
}

/* Points that are neighbours along p0 read from different rows. */
static bool is_across(const lower_scene *c, const staged *s) {
    bool rows = false;
    for (int a = 1; a < ATN_MAX_RANK && c->cuts->n_points > 1; ++a)
        rows = rows || s->linear[a].coefficient[c->cuts->point[0]] != 0;
    return !c->host && rows && s->linear[0].coefficient[c->cuts->point[0]] == 0;
}

bool lower_staged_forms(const lower_scene *c, const atn_read *r, atn_affine form[ATN_MAX_RANK]) {
    for (int a = 0; a < ATN_MAX_RANK; ++a) {
        form[a] = (atn_affine){.is_affine = true, .rest = -1, .modulus = -1};
        if (r->select[a] < 0) continue;
        form[a] = atn_affine_of(c->g, r->select[a]);
        if (!form[a].is_affine || form[a].modulus >= 0) return false;
        if (form[a].rest >= 0 && !lower_needs_met(c->g, c->needs, form[a].rest, c->bound, c->done)) return false;
    }
    return true;
}

static bool same_linear(const lower_scene *c, const staged *s, const atn_affine form[ATN_MAX_RANK]) {
    for (int a = 0; a < ATN_MAX_RANK; ++a) {
        if (s->linear[a].rest != form[a].rest) return false;
        for (int32_t d = 0; d < c->g->n_dims; ++d)
            if (s->linear[a].coefficient[d] != form[a].coefficient[d]) return false;
    }
    return true;
}

/* A read without a boundary mode is known to stay inside: it is compatible with any mode. */
static bool joins_boundary(const staged *s, const atn_read *r) {
    return s->boundary == (int32_t)r->boundary || s->boundary == ATN_EDGE_NONE || r->boundary == ATN_EDGE_NONE;
}

static void include(staged *s, int32_t read, const atn_affine form[ATN_MAX_RANK]) {
    for (int a = 0; a < ATN_MAX_RANK; ++a) {
        int64_t low = s->linear[a].constant, high = low + s->constant_span[a], at = form[a].constant;
        if (s->n_reads == 0) low = high = at;
        s->linear[a].constant = at < low ? at : low;
        s->constant_span[a] = (at > high ? at : high) - s->linear[a].constant;
    }
    s->reads[s->n_reads++] = read;
}

/* Contiguous elements that an item copies at once. */
static int32_t wide_of(const lower_scene *c, const staged *s) {
    atn_type type = c->g->objects[s->object].type;
    bool plain = (type == ATN_SP || type == ATN_DP || type == ATN_INT32) && s->boundary == ATN_EDGE_NONE;
    int32_t wide = type == ATN_DP && c->v->wide > 2 ? 2 : c->v->wide; /* at most 16 bytes */
    return plain && s->extent[0] % wide == 0 ? wide : 1;
}

/* On the host, each step of a sequence walks through the tile along the other axis: what it needs should be contiguous.
 * */
static int64_t panel_of(const lower_scene *c, const staged *s) {
    int fast = s->swapped ? 1 : 0;
    int64_t panel = 0;
    if (!c->host || s->constant_span[fast] != 0 || c->g->objects[s->object].rank < 2 || s->boundary != ATN_EDGE_NONE ||
        s->extent[2] > 1)
        return 0;
    for (int32_t d = 0; d < c->g->n_dims; ++d) {
        if (s->linear[fast].coefficient[d] == 0) continue;
        if (s->linear[fast].coefficient[d] != 1 || panel != 0) return 0;
        for (int32_t k = 0; k < c->cuts->n_points; ++k)
            if (c->cuts->point[k] == d && c->v->p[k].seq > 1) panel = (int64_t)c->v->p[k].vec * c->v->p[k].regs;
        if (panel == 0) return 0;
    }
    return panel;
}

/* Sizes; false: too large. */
static bool settle(const lower_scene *c, staged *s) {
    for (int a = 0; a < ATN_MAX_RANK; ++a) {
        s->extent[a] = 1 + s->constant_span[a];
        for (int32_t d = 0; d < c->g->n_dims; ++d)
            s->extent[a] += llabs(s->linear[a].coefficient[d]) * (lower_tile_length(c, d) - 1);
    }
    s->count = 1;
    for (int a = 0; a < ATN_MAX_RANK; ++a) {
        if (s->extent[a] > MOST_ELEMENTS || s->count > MOST_ELEMENTS) return false;
        s->count *= s->extent[a];
    }
    bool of_p1 = c->cuts->n_points > 1 && (s->dims >> c->cuts->point[1] & 1);
    s->swapped = c->v->stage_swap >> (of_p1 ? 1 : 0) & 1;
    s->panel = panel_of(c, s);
    s->pitch = s->extent[s->swapped ? 1 : 0] + (s->panel ? 0 : c->v->pad);
    s->elements = s->pitch * s->extent[s->swapped ? 0 : 1] * s->extent[2];
    s->wide = wide_of(c, s);
    int64_t each = (int64_t)c->cuts->items * s->wide;
    s->rounds = (int32_t)((s->count + each - 1) / each);
    s->tile = s->half = -1;
    return true;
}

void lower_find_staged(const lower_scene *c, int32_t block, lower_staging *out) {
    out->count = 0;
    out->too_far = -1;
    if (c->v->stage == 0) return;
    const atn_block *b = &c->g->blocks[block];
    bool points_only = block == 0 && b->n_accs == 0;
    uint32_t points = c->cuts->points, reduced = 0, tiled = points_only ? 0 : 1u << b->dim[0];
    for (int32_t k = 0; k < b->rank && !points_only; ++k) reduced |= 1u << b->dim[k];
    if (!points_only && (c->v->q[0].tile == 0 || c->cuts->lanes_q > c->v->q[0].lanes)) return;
    for (int32_t k = 0; k < b->rank && !points_only; ++k) /* a range that differs between points cannot be shared */
        if ((c->g->values[c->g->dims[b->dim[k]].begin].dims | c->g->values[c->g->dims[b->dim[k]].end].dims) & points)
            return;
    int32_t counts[MAX_STAGED] = {0};
    for (int32_t k = 0; k < c->g->n_reads; ++k) {
        const atn_read *r = &c->g->reads[k];
        const atn_object *o = &c->g->objects[r->object];
        uint32_t dims = read_dims(c, r);
        atn_affine form[ATN_MAX_RANK];
        bool fits = points_only ? dims && !(dims & ~points)
                                : (dims & tiled) && !(dims & ~(points | reduced)) && is_shared(c, dims);
        if (!fits || o->table || o->written || atn_select_is_computed(c->g, r->select) || o->type == ATN_SP2 ||
            o->type == ATN_DP2 || !lower_staged_forms(c, r, form))
            continue;
        int32_t n = 0;
        while (n < out->count && !(out->of[n].object == r->object && joins_boundary(&out->of[n], r) &&
                                   out->of[n].n_reads < ATN_MAX_DIMS && same_linear(c, &out->of[n], form)))
            ++n;
        if (n == MAX_STAGED) continue;
        if (n == out->count) {
            out->of[n] = (staged){.object = r->object, .dims = dims, .boundary = (int32_t)r->boundary};
            memcpy(out->of[n].linear, form, sizeof form);
            ++out->count;
        }
        if (r->boundary != ATN_EDGE_NONE) out->of[n].boundary = (int32_t)r->boundary;
        include(&out->of[n], k, form);
        ++counts[n];
    }
    int32_t kept =
        0; /* a tile of the points pays off if several reads share it, or if neighbours do not read neighbours */
    for (int32_t n = 0; n < out->count; ++n)
        if (!points_only || counts[n] > 1 || is_across(c, &out->of[n])) out->of[kept++] = out->of[n];
    out->count = kept;
    for (int32_t n = 0; n < out->count; ++n)
        if (!settle(c, &out->of[n])) out->too_far = out->of[n].object;
    if (out->too_far >= 0) out->count = 0;
}

void lower_print_staged(const atn_graph *g, const lower_staging *staging, atn_text *out) {
    for (int32_t n = 0; n < staging->count; ++n) {
        const staged *s = &staging->of[n];
        atn_text_printf(out, "%s: %lld x %lld", g->objects[s->object].name, (long long)s->extent[0],
                        (long long)s->extent[1]);
        if (g->objects[s->object].rank > 2) atn_text_printf(out, " x %lld", (long long)s->extent[2]);
        atn_text_printf(out, " elements%s, lines %lld apart", s->swapped ? ", transposed" : "", (long long)s->pitch);
        if (s->panel) atn_text_printf(out, ", in panels of %lld", (long long)s->panel);
        atn_text_printf(out, "; %d rounds of %d per item; serves", s->rounds, s->wide);
        for (int32_t k = 0; k < s->n_reads; ++k) atn_text_printf(out, " %s", g->reads[s->reads[k]].name);
        atn_text_add(out, "\n");
    }
    if (staging->too_far >= 0)
        atn_text_printf(out, "%s: its reads are too far apart\n", g->objects[staging->too_far].name);
}
