/* Conditions that must hold before a launch; each refusal names the kernel, the object and the numbers. */
#include "eval/interval.h"

#include "base/size.h"
#include "graph/affine.h"

static atn_status check_view(const atn_ctx *ctx, const atn_graph *graph, int32_t number, const atn_view *view) {
    const atn_object *object = &graph->objects[number];
    const char *kernel = graph->name, *name = object->name;
    if (view->type != object->type || view->rank != object->rank)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is a %s of %s; a %s of %s was bound", kernel, name,
                        atn_rank_name(object->rank), atn_type_name(object->type), atn_rank_name(view->rank),
                        atn_type_name(view->type));
    bool bound = true;
    for (int32_t axis = 0; axis < view->rank; ++axis) bound = bound && view->size[axis] >= 0;
    if (!bound)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: nothing is bound to '%s', a %s of %s", kernel, name,
                        atn_rank_name(object->rank), atn_type_name(object->type));
    for (int32_t axis = 0; axis < object->rank && object->sized; ++axis)
        if (view->size[axis] != object->table_size[axis])
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' has %lld %s; an array with %lld was bound", kernel, name,
                            (long long)object->table_size[axis],
                            object->rank == 1 ? "elements"
                            : axis == 0       ? "columns"
                            : axis == 1       ? "rows"
                                              : "planes",
                            (long long)view->size[axis]);
    if (view->rank > 1 && view->pitch < view->size[0])
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' has %lld columns, but a pitch of %lld", kernel, name,
                        (long long)view->size[0], (long long)view->pitch);
    int64_t elements = view->rank > 1 ? view->pitch : view->size[0], bytes;
    bool fits = true, empty = false;
    for (int32_t axis = 1; axis < view->rank; ++axis) {
        empty = empty || view->size[axis] == 0;
        fits = fits && atn_i64_mul(elements, view->size[axis], &elements);
    }
    fits = empty || view->rank == 1 || (fits && atn_i64_add(elements, view->pitch, &elements));
    if (empty) elements = view->size[0];
    if (!fits || elements > ATN_FARTHEST || !atn_i64_mul(elements, (int64_t)atn_type_bytes(view->type), &bytes))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is larger than any memory", kernel, name);
    return ATN_OK;
}

atn_status atn_eval_check_params(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame) {
    for (int32_t k = 0; k < graph->n_parameters; ++k) {
        const atn_parameter *parameter = &graph->parameters[k];
        const atn_type_info *info = atn_type_get_info(parameter->type);
        if (!frame->params)
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: parameter '%s' (%s) is not given", graph->name, parameter->name,
                            info->name);
        const double *value = frame->params[k];
        bool whole = info->kind == ATN_KIND_INTEGER || info->kind == ATN_KIND_BOOL;
        bool fits = !whole || (value[0] == trunc(value[0]) && value[0] >= (double)info->lowest &&
                               value[0] <= (double)info->highest);
        if (!fits)
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: parameter '%s' is %s; %.17g is none", graph->name, parameter->name,
                            info->name, value[0]);
        if (value[1] != 0 && info->kind != ATN_KIND_COMPLEX)
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: parameter '%s' is %s; its value has an imaginary part",
                            graph->name, parameter->name, info->name);
    }
    return ATN_OK;
}

/* Ranges that are one number, P's among them, are not negative. */
static atn_status check_ranges(interp *in) {
    for (int32_t d = 0; d < in->graph->n_dims; ++d) {
        const atn_dim *dim = &in->graph->dims[d];
        if (in->graph->values[dim->begin].dims || in->graph->values[dim->end].dims ||
            atn_value_is_computed(in->graph, dim->begin) || atn_value_is_computed(in->graph, dim->end))
            continue;
        int64_t begin = interp_value(in, dim->begin).whole, end = interp_value(in, dim->end).whole;
        if (in->status != ATN_OK) return in->status;
        if (end < begin)
            return atn_fail(
                in->ctx, ATN_ERR_INPUT, "%s: '%s' runs over dimension %d from %lld to %lld; a range is not negative",
                in->graph->name, in->graph->blocks[dim->block].name, dim->axis, (long long)begin, (long long)end);
    }
    return ATN_OK;
}

static atn_status check_inside(interp *in, const char *name, const char *verb, int32_t object,
                               const atn_value select[ATN_MAX_RANK]) {
    atn_view view = interp_view(in, object);
    const char *kernel = in->graph->name, *of = in->graph->objects[object].name;
    for (int32_t axis = 0; axis < view.rank; ++axis) {
        interval range = interval_of(in, select[axis]);
        if (in->status != ATN_OK) return in->status;
        if (!range.known)
            return atn_fail(in->ctx, ATN_ERR_INPUT,
                            "%s: '%s' cannot be shown to stay inside '%s'; its Size(%d) is %lld", kernel, name, of,
                            axis, (long long)view.size[axis]);
        if (range.low < 0 || range.high >= view.size[axis])
            return atn_fail(in->ctx, ATN_ERR_INPUT,
                            "%s: '%s' %s '%s' from %lld to %lld along axis %d; its Size(%d) is %lld", kernel, name,
                            verb, of, (long long)range.low, (long long)range.high, axis, axis,
                            (long long)view.size[axis]);
    }
    return ATN_OK;
}

static uint32_t dims_of(const atn_graph *graph, const atn_value select[ATN_MAX_RANK]) {
    uint32_t dims = 0;
    for (int axis = 0; axis < ATN_MAX_RANK; ++axis) dims |= select[axis] >= 0 ? graph->values[select[axis]].dims : 0;
    return dims;
}

static atn_status check_read(interp *in, const atn_read *read) {
    atn_view view = interp_view(in, read->object);
    bool empty = atn_view_elements(&view) == 0;
    if (!interval_happens(in, dims_of(in->graph, read->select))) return in->status;
    if (read->boundary == ATN_EDGE_NONE && !atn_select_is_computed(in->graph, read->select))
        return check_inside(in, read->name, "reads", read->object, read->select);
    if (empty && read->boundary != ATN_EDGE_NONE && read->boundary != ATN_EDGE_ZERO)
        return atn_fail(in->ctx, ATN_ERR_INPUT,
                        "%s: '%s' reads '%s', which has no elements; its boundary needs at least one", in->graph->name,
                        read->name, in->graph->objects[read->object].name);
    return in->status;
}

static atn_status check_write(interp *in, const atn_write *write) {
    if (atn_select_is_computed(in->graph, write->select)) return ATN_OK;
    uint32_t dims = 0;
    for (int32_t block = write->block; block >= 0; block = in->graph->blocks[block].parent)
        for (int32_t d = 0; d < in->graph->blocks[block].rank; ++d) dims |= 1u << in->graph->blocks[block].dim[d];
    if (!interval_happens(in, dims)) return in->status;
    return check_inside(in, write->name, "writes", write->object, write->select);
}

/* See ATN_FARTHEST; and all points together are counted in 64 bits. */
static atn_status check_span(interp *in) {
    const atn_block *p = &in->graph->blocks[0];
    int64_t points = 1;
    bool counted = true;
    for (int32_t d = 0; d < p->rank && counted; ++d) {
        const atn_dim *dim = &in->graph->dims[p->dim[d]];
        if (atn_value_is_computed(in->graph, dim->begin) || atn_value_is_computed(in->graph, dim->end)) continue;
        counted = atn_i64_mul(points, interp_value(in, dim->end).whole - interp_value(in, dim->begin).whole, &points) &&
                  points <= ATN_FARTHEST * 4096;
    }
    if (in->status == ATN_OK && (!counted || span_of(in, false) > ATN_FARTHEST))
        return atn_fail(in->ctx, ATN_ERR_INPUT, "%s: its ranges or selectors go farther than 2^48", in->graph->name);
    return in->status;
}

static atn_status check_accesses(interp *in) {
    atn_status status = check_ranges(in);
    if (status == ATN_OK) status = check_span(in);
    const atn_block *p = &in->graph->blocks[0];
    uint32_t points = 0;
    bool after = p->n_accs > 0;
    for (int32_t d = 0; d < p->rank; ++d) points |= 1u << p->dim[d];
    if (status != ATN_OK || (!interval_happens(in, points) && !after)) return status == ATN_OK ? in->status : status;
    for (int32_t k = 0; k < in->graph->n_reads && status == ATN_OK; ++k) status = check_read(in, &in->graph->reads[k]);
    for (int32_t k = 0; k < in->graph->n_writes && status == ATN_OK; ++k)
        status = check_write(in, &in->graph->writes[k]);
    return status;
}

atn_status atn_eval_check(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame) {
    atn_status status = atn_eval_check_params(ctx, graph, frame);
    for (int32_t k = 0; k < graph->n_objects && status == ATN_OK; ++k)
        if (!graph->objects[k].table) status = check_view(ctx, graph, k, &frame->views[k]);
    if (status != ATN_OK) return status;
    interp in;
    status = interp_begin(&in, ctx, graph, frame, NULL);
    if (status == ATN_OK) status = check_accesses(&in);
    interp_end(&in);
    return status;
}
