/* How large the indices become that generated code adds up without wrapping: |constant| + sum |coefficient| |dimension|
 * + |rest|, over the ranges as they are bound. 32-bit addresses are right below 2^31, 64-bit ones always, since
 * atn_eval_check refuses what is larger than ATN_FARTHEST. */
#include "eval/interval.h"

#include "base/size.h"
#include "graph/affine.h"

typedef struct spanning {
    interp *in;
    bool validated;
    int64_t dim[ATN_MAX_DIMS]; /* the largest size of each dimension */
} spanning;

static int64_t size_of(int64_t number) { return number == INT64_MIN ? INT64_MAX : number < 0 ? -number : number; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t sum(int64_t a, int64_t b) {
    int64_t r;
    return atn_i64_add(a, b, &r) ? r : INT64_MAX;
}

static int64_t product(int64_t a, int64_t b) {
    int64_t r;
    return atn_i64_mul(a, b, &r) ? r : INT64_MAX;
}

/* Of a value that can be known before anything runs. */
static int64_t of_value(spanning *s, atn_value value) {
    atn_affine form = atn_affine_of(s->in->graph, value);
    int64_t all = size_of(form.constant);
    for (int32_t d = 0; d < s->in->graph->n_dims; ++d)
        if (form.coefficient[d]) all = sum(all, product(size_of(form.coefficient[d]), s->dim[d]));
    if (form.rest >= 0) all = sum(all, size_of(interp_value(s->in, form.rest).whole));
    if (form.modulus >= 0) all = most(all, size_of(interp_value(s->in, form.modulus).whole));
    return all;
}

/* What a read without a boundary says of a dimension it goes along, if it stays inside. */
static int64_t by_access(spanning *s, int32_t d) {
    const atn_graph *g = s->in->graph;
    for (int32_t k = 0; k < g->n_reads; ++k)
        for (int axis = 0;
             axis < ATN_MAX_RANK && g->reads[k].boundary == ATN_EDGE_NONE && g->reads[k].select[axis] >= 0; ++axis) {
            atn_affine form = atn_affine_of(g, g->reads[k].select[axis]);
            bool alone = form.is_affine && form.rest < 0 && form.modulus < 0;
            for (int32_t other = 0; other < g->n_dims; ++other)
                alone = alone && (other == d) == (form.coefficient[other] != 0);
            if (alone) return sum(interp_view(s->in, g->reads[k].object).size[axis], size_of(form.constant));
        }
    return ATN_FARTHEST;
}

static int64_t of_dimension(spanning *s, int32_t d) {
    const atn_dim *dim = &s->in->graph->dims[d];
    if (atn_value_is_computed(s->in->graph, dim->begin) || atn_value_is_computed(s->in->graph, dim->end))
        return s->validated ? by_access(s, d) : ATN_FARTHEST;
    return most(of_value(s, dim->begin), of_value(s, dim->end));
}

static int64_t of_selectors(spanning *s, const atn_value select[ATN_MAX_RANK]) {
    int64_t all = 0;
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis)
        if (select[axis] >= 0 && !atn_value_is_computed(s->in->graph, select[axis]))
            all = most(all, of_value(s, select[axis]));
    return all;
}

int64_t span_of(interp *in, bool validated) {
    const atn_graph *g = in->graph;
    spanning s = {.in = in, .validated = validated};
    int64_t all = 0;
    for (int32_t d = 0; d < g->n_dims; ++d) all = most(all, s.dim[d] = of_dimension(&s, d));
    for (int32_t k = 0; k < g->n_reads; ++k) all = most(all, of_selectors(&s, g->reads[k].select));
    for (int32_t k = 0; k < g->n_writes; ++k) all = most(all, of_selectors(&s, g->writes[k].select));
    return all;
}

atn_status atn_eval_span(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, bool validated,
                         int64_t *out) {
    interp in;
    atn_status status = interp_begin(&in, ctx, graph, frame, NULL);
    *out = status == ATN_OK ? span_of(&in, validated) : INT64_MAX;
    if (status == ATN_OK) status = in.status;
    interp_end(&in);
    return status;
}
