/* From names to a frame, and what follows from a frame before anything runs: indices, sizes of outputs. */
#include "eval/interval.h"

#include "base/text.h"
#include "graph/affine.h"

#include <string.h>

static atn_status unknown_name(const atn_ctx *ctx, const atn_graph *graph, const char *name, bool parameter) {
    atn_text names = {.ctx = ctx};
    int32_t count = parameter ? graph->n_parameters : graph->n_objects;
    for (int32_t k = 0; k < count; ++k) {
        if (!parameter && graph->objects[k].table) continue;
        atn_text_printf(&names, "%s%s", names.length ? ", " : "",
                        parameter ? graph->parameters[k].name : graph->objects[k].name);
    }
    atn_status status =
        atn_fail(ctx, ATN_ERR_INPUT, "%s: no %s '%s'; there is %s", graph->name, parameter ? "Parameter" : "DataObject",
                 name, names.length ? atn_text_str(&names) : "none");
    atn_text_free(&names);
    return status;
}

static int32_t find_object(const atn_graph *graph, const char *name) {
    for (int32_t k = 0; k < graph->n_objects; ++k)
        if (strcmp(graph->objects[k].name, name) == 0) return k;
    return -1;
}

static int32_t find_parameter(const atn_graph *graph, const char *name) {
    for (int32_t k = 0; k < graph->n_parameters; ++k)
        if (strcmp(graph->parameters[k].name, name) == 0) return k;
    return -1;
}

static atn_status bind_views(const atn_ctx *ctx, const atn_graph *graph, const atn_binding *bindings, size_t count,
                             atn_view *views) {
    for (int32_t k = 0; k < graph->n_objects; ++k)
        views[k] = atn_view_unsized(graph->objects[k].type, graph->objects[k].rank);
    for (size_t k = 0; k < count; ++k) {
        int32_t object = find_object(graph, bindings[k].name);
        if (object < 0) return unknown_name(ctx, graph, bindings[k].name, false);
        if (graph->objects[object].table)
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is a constant table; nothing can be bound to it", graph->name,
                            bindings[k].name);
        for (size_t j = 0; j < k; ++j)
            if (strcmp(bindings[j].name, bindings[k].name) == 0)
                return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is bound twice", graph->name, bindings[k].name);
        views[object] = bindings[k].view;
    }
    return ATN_OK;
}

static atn_status bind_params(const atn_ctx *ctx, const atn_graph *graph, const atn_param_value *given, size_t count,
                              double (*params)[2]) {
    for (size_t k = 0; k < count; ++k)
        if (find_parameter(graph, given[k].name) < 0) return unknown_name(ctx, graph, given[k].name, true);
    for (int32_t p = 0; p < graph->n_parameters; ++p) {
        const atn_parameter *parameter = &graph->parameters[p];
        const double *value = parameter->has_default ? parameter->default_value : NULL;
        bool twice = false, found = false;
        for (size_t k = 0; k < count; ++k) {
            if (strcmp(given[k].name, parameter->name) != 0) continue;
            twice = found;
            found = true;
            value = given[k].value;
        }
        if (twice)
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: parameter '%s' is given twice", graph->name, parameter->name);
        if (!value)
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: parameter '%s' (%s) has no default and must be given", graph->name,
                            parameter->name, atn_type_name(parameter->type));
        memcpy(params[p], value, sizeof params[p]);
    }
    return ATN_OK;
}

atn_status atn_eval_bind(const atn_ctx *ctx, const atn_graph *graph, const atn_binding *bindings, size_t n_bindings,
                         const atn_param_value *given, size_t n_given, atn_view *views, double (*params)[2]) {
    atn_status status = bind_views(ctx, graph, bindings, n_bindings, views);
    return status == ATN_OK ? bind_params(ctx, graph, given, n_given, params) : status;
}

atn_status atn_eval_index(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, atn_value value,
                          int64_t *out) {
    interp in;
    *out = 0;
    atn_status status = interp_begin(&in, ctx, graph, frame, NULL);
    if (status == ATN_OK) {
        num number = interp_value(&in, value);
        status = in.status;
        if (status == ATN_OK) *out = number.whole;
    }
    interp_end(&in);
    return status;
}

static void reach(interp *in, const atn_write *write, int64_t size[ATN_MAX_RANK]) {
    const atn_object *object = &in->graph->objects[write->object];
    if (atn_select_is_computed(in->graph, write->select)) {
        in->status =
            atn_fail(in->ctx, ATN_ERR_INPUT, "%s: the size of '%s' must be given: '%s' computes where it writes",
                     in->graph->name, object->name, write->name);
        return;
    }
    for (int32_t axis = 0; axis < object->rank && in->status == ATN_OK; ++axis) {
        /* along each axis by itself: what is made of 3 rows without columns has 3 rows */
        if (!interval_happens(in, in->graph->values[write->select[axis]].dims)) continue;
        interval range = interval_of(in, write->select[axis]);
        if (in->status != ATN_OK) return;
        if (!range.known || range.high == INT64_MAX) {
            in->status = atn_fail(in->ctx, ATN_ERR_INPUT,
                                  "%s: the size of '%s' must be given: how far '%s' reaches is not known",
                                  in->graph->name, object->name, write->name);
            return;
        }
        if (range.high + 1 > size[axis]) size[axis] = range.high + 1;
    }
}

atn_status atn_eval_reach(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, int32_t object,
                          int64_t size[ATN_MAX_RANK]) {
    interp in;
    const atn_object *o = &graph->objects[object];
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis) size[axis] = axis < o->rank ? 0 : 1;
    if (!o->written)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: nothing is written to '%s'; bind an array to it", graph->name,
                        o->name);
    if (o->sized) {
        memcpy(size, o->table_size, sizeof o->table_size);
        return ATN_OK;
    }
    atn_status status = interp_begin(&in, ctx, graph, frame, NULL);
    for (int32_t k = 0; status == ATN_OK && k < graph->n_writes; ++k) {
        if (graph->writes[k].object == object) reach(&in, &graph->writes[k], size);
        status = in.status;
    }
    interp_end(&in);
    return status;
}
