/* Sizes from how far accesses reach, and sizes for a wanted shape. A dimension's end is some value of sizes; found
 * backwards, by bisection, where it hangs on one size alone. */
#include "tune/case.h"

#include "graph/affine.h"

#include <math.h>
#include <string.h>

enum { VISITS = 512, LARGEST_SIZE = 1 << 30 };

double atn_steps_in(const atn_steps *s, uint32_t dims) {
    double all = 1;
    for (int d = 0; d < ATN_MAX_DIMS; ++d)
        if (dims >> d & 1) all *= (double)s->steps[d];
    return all;
}

/* What a value is made of. */
typedef struct leaves {
    bool reads;              /* elements decide */
    bool unsized;            /* a size that is not known yet */
    int32_t object, axis, n; /* a size it hangs on, and how many different ones there are */
    int32_t visits;
} leaves;

static void look(const atn_graph *g, const atn_view *views, atn_value value, leaves *l) {
    const atn_node *node = &g->values[value];
    if (++l->visits > VISITS) {
        l->reads = true;
        return;
    }
    if (node->op == ATN_OP_READ || node->op == ATN_OP_RESULT) l->reads = true;
    if (node->op == ATN_OP_SIZE && !g->objects[node->index].table) {
        l->unsized = l->unsized || views[node->index].size[node->axis] < 0;
        if (l->n == 0 || l->object != node->index || l->axis != node->axis) {
            l->object = node->index;
            l->axis = node->axis;
            ++l->n;
        }
    }
    for (int k = 0; k < 3; ++k)
        if (node->arg[k] >= 0) look(g, views, node->arg[k], l);
}

static leaves leaves_of(const atn_graph *g, const atn_view *views, const atn_dim *dim) {
    leaves l = {.object = -1};
    look(g, views, dim->begin, &l);
    look(g, views, dim->end, &l);
    return l;
}

/* Which dimensions are known: from and to (exclusive) each; those from data run over all elements together. */
typedef struct reach {
    const atn_ctx *ctx;
    const atn_graph *g;
    const double (*params)[2];
    atn_view *views;
    bool known[ATN_MAX_DIMS], from_data[ATN_MAX_DIMS];
    int64_t begin[ATN_MAX_DIMS], end[ATN_MAX_DIMS];
    int64_t steps[ATN_MAX_DIMS];
    bool *no_memory; /* was there none for some value? It is not known then, which is no answer. */
} reach;

static bool index_of(const reach *r, atn_value value, int64_t *out) {
    atn_bindings frame = {.views = r->views, .params = r->params};
    atn_status status = atn_eval_index(r->ctx, r->g, &frame, value, out);
    if (status == ATN_ERR_MEMORY) *r->no_memory = true;
    return status == ATN_OK;
}

/* The largest a selector gets, or with `least` the least; false: not known. */
static bool extreme(const reach *r, atn_value value, bool least, int64_t *out) {
    atn_affine form = atn_affine_of(r->g, value);
    if (!form.is_affine) return false;
    int64_t sum = form.constant, rest = 0;
    leaves l = {.object = -1};
    if (form.rest >= 0) look(r->g, r->views, form.rest, &l);
    if (form.modulus >= 0) look(r->g, r->views, form.modulus, &l);
    if (l.reads || l.unsized) return false;
    if (form.modulus >= 0) {
        if (!index_of(r, form.modulus, &rest)) return false;
        *out = least ? 0 : rest - 1;
        return true;
    }
    if (form.rest >= 0 && !index_of(r, form.rest, &rest)) return false;
    sum += rest;
    for (int32_t d = 0; d < r->g->n_dims; ++d) {
        if (form.coefficient[d] == 0) continue;
        if (!r->known[d]) return false;
        bool low = (form.coefficient[d] > 0) == least;
        sum += form.coefficient[d] * (low ? r->begin[d] : r->end[d] - 1);
    }
    *out = sum;
    return true;
}

static void learn_dim(reach *r, int32_t d, double range_length) {
    const atn_dim *dim = &r->g->dims[d];
    leaves l = leaves_of(r->g, r->views, dim);
    uint32_t outer = r->g->values[dim->begin].dims | r->g->values[dim->end].dims;
    if (l.reads) { /* as many elements as all the ranges have together */
        double points = 1;
        for (int32_t k = 0; k < r->g->n_dims; ++k)
            if (outer >> k & 1) {
                if (!r->known[k]) return;
                points *= (double)r->steps[k];
            }
        bool counts = r->g->values[dim->begin].op == ATN_OP_CONST; /* from 0 anew at every point */
        double all = fmin(counts ? 2 * range_length : points * range_length, LARGEST_SIZE);
        r->from_data[d] = r->known[d] = true;
        r->begin[d] = 0;
        r->end[d] = (int64_t)ceil(all);
        r->steps[d] = (int64_t)ceil(range_length);
        return;
    }
    if (l.unsized) return;
    int64_t end, begin;
    if (!extreme(r, dim->end, false, &end) || !extreme(r, dim->begin, true, &begin)) {
        if (outer || !index_of(r, dim->end, &end) || !index_of(r, dim->begin, &begin)) return;
    }
    r->known[d] = true;
    r->begin[d] = begin;
    r->end[d] = end;
    r->steps[d] = end > begin ? end - begin : 0;
}

static void learn_dims(reach *r, double range_length) {
    for (int32_t d = 0; d < r->g->n_dims; ++d) learn_dim(r, d, range_length);
}

/* One access' part in an object's size along an axis; false: not known yet. */
static bool access_reaches(const reach *r, const atn_value select[ATN_MAX_RANK], int32_t axis, bool edge,
                           int64_t gathered, int64_t *size) {
    atn_affine form = atn_affine_of(r->g, select[axis]);
    int64_t high;
    if (!form.is_affine) {
        if (gathered > *size) *size = gathered;
        return true;
    }
    if (!extreme(r, select[axis], false, &high)) return false;
    if (edge && form.constant > 0) high -= form.constant; /* beyond the border it is looked after */
    if (high + 1 > *size) *size = high + 1;
    return true;
}

static bool reach_axis(reach *r, int32_t object, int32_t axis, int64_t gathered) {
    int64_t size = 0;
    bool any = false, known = true;
    for (int32_t k = 0; k < r->g->n_reads && known; ++k)
        if (r->g->reads[k].object == object) {
            any = true;
            known = access_reaches(r, r->g->reads[k].select, axis, r->g->reads[k].boundary != ATN_EDGE_NONE, gathered,
                                   &size);
        }
    for (int32_t k = 0; k < r->g->n_writes && known; ++k)
        if (r->g->writes[k].object == object) {
            any = true;
            known = access_reaches(r, r->g->writes[k].select, axis, false, gathered, &size);
        }
    if (!any || !known) return false;
    r->views[object].size[axis] = size;
    return true;
}

/* An array that is read as far as it goes, in parts: any size will do. */
static bool guess(const atn_graph *g, int64_t size, atn_view *views) {
    for (int32_t v = 0; v < g->n_values; ++v) {
        const atn_node *node = &g->values[v];
        if (node->op != ATN_OP_SIZE || g->objects[node->index].written || views[node->index].size[node->axis] >= 0)
            continue;
        views[node->index].size[node->axis] = size;
        return true;
    }
    for (int32_t k = 0; k < g->n_objects; ++k) /* what lies beside it */
        if (!g->objects[k].table && g->objects[k].rank == 1 && views[k].size[0] < 0) {
            views[k].size[0] = size;
            return true;
        }
    return false;
}

static atn_status fill(const atn_ctx *ctx, const atn_graph *g, const double (*params)[2], double range_length,
                       int64_t gathered, bool guessing, atn_view *views) {
    bool no_memory = false;
    reach r = {.ctx = ctx, .g = g, .params = params, .views = views, .no_memory = &no_memory};
    for (int32_t k = 0; k < g->n_objects; ++k)
        if (g->objects[k].sized && views[k].size[0] < 0)
            memcpy(views[k].size, g->objects[k].table_size, sizeof views[k].size);
    for (bool again = true; again;) {
        again = false;
        learn_dims(&r, range_length);
        for (int32_t k = 0; k < g->n_objects; ++k)
            for (int32_t axis = 0; axis < g->objects[k].rank && !g->objects[k].table; ++axis)
                if (views[k].size[axis] < 0 && reach_axis(&r, k, axis, gathered)) again = true;
        if (!again && guessing) again = guess(g, gathered, views);
    }
    if (no_memory) return ATN_ERR_MEMORY;
    for (int32_t k = 0; k < g->n_objects; ++k) {
        const atn_object *o = &g->objects[k];
        if (o->table) continue;
        for (int32_t axis = 0; axis < o->rank; ++axis)
            if (views[k].size[axis] < 0)
                return atn_fail(ctx, ATN_ERR_INPUT, "%s: the size of '%s' must be given: --size %s=%s", g->name,
                                o->name, o->name, atn_rank_sizes(o->rank));
        for (int32_t axis = o->rank; axis < ATN_MAX_RANK; ++axis) views[k].size[axis] = 1;
        views[k].pitch = views[k].size[0];
    }
    return ATN_OK;
}

atn_status atn_sizes_fill(const atn_ctx *ctx, const atn_graph *g, const double (*params)[2], double range_length,
                          int64_t gathered, atn_view *views) {
    return fill(ctx, g, params, range_length, gathered, false, views);
}

atn_status atn_steps_of(const atn_ctx *ctx, const atn_graph *g, const atn_bindings *frame, double range_length,
                        atn_steps *out) {
    bool no_memory = false;
    reach r = {.ctx = ctx,
               .g = g,
               .params = frame->params,
               .views = (atn_view *)(uintptr_t)frame->views,
               .no_memory = &no_memory};
    learn_dims(&r, range_length);
    if (no_memory) return ATN_ERR_MEMORY;
    *out = (atn_steps){0};
    for (int32_t d = 0; d < ATN_MAX_DIMS; ++d) {
        out->steps[d] = d < g->n_dims && r.known[d] ? r.steps[d] : 1;
        out->from_data[d] = r.from_data[d];
    }
    return ATN_OK;
}

/* The least size with which the dimension has at least `wanted` steps; -1: none. */
static int64_t bisect(const reach *r, const atn_dim *dim, const leaves *l, int64_t wanted) {
    atn_view *view = &r->views[l->object];
    atn_view before = *view;
    int64_t low = 0, high = 64 * wanted + 64, begin, end; /* a step may take many: 32 rows are a word of bits */
    bool reached = false;
    if (view->size[0] < 0) view->size[0] = 1; /* the other axis does not matter, but is asked for */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        view->size[l->axis] = middle;
        if (!index_of(r, dim->begin, &begin) || !index_of(r, dim->end, &end)) break;
        if (end - begin >= wanted) {
            reached = true;
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    *view = before;
    return reached ? high : -1;
}

atn_status atn_sizes_solve(const atn_ctx *ctx, const atn_graph *g, const double (*params)[2], const atn_steps *wanted,
                           double range_length, int64_t gathered, atn_view *views) {
    bool no_memory = false;
    reach r = {.ctx = ctx, .g = g, .params = params, .views = views, .no_memory = &no_memory};
    for (int32_t k = 0; k < g->n_objects; ++k) {
        views[k] = atn_view_unsized(g->objects[k].type, g->objects[k].rank);
        if (g->objects[k].table) memcpy(views[k].size, g->objects[k].table_size, sizeof views[k].size);
    }
    for (int32_t d = 0; d < g->n_dims; ++d) {
        const atn_dim *dim = &g->dims[d];
        leaves l = leaves_of(g, views, dim);
        if (l.reads || l.n != 1 || g->values[dim->begin].dims || g->values[dim->end].dims) continue;
        int64_t size = bisect(&r, dim, &l, wanted->steps[d]);
        if (no_memory) return ATN_ERR_MEMORY;
        if (size < 0) return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: no size gives such a shape", g->name);
        if (size > views[l.object].size[l.axis]) views[l.object].size[l.axis] = size; /* the larger of two wishes */
    }
    return fill(ctx, g, params, range_length, gathered, true, views);
}
