/* Arrays on a device, with poisoned outputs and margins. */
#include "tune/stand.h"

#include "base/memory.h"

#include <string.h>

enum { MARGIN = 256 }; /* bytes */

static bool is_output(const atn_object *o) { return o->written && !o->read; }

/* Host memory for what the array holds at first. The host's own buffer serves where only reads happen. */
static atn_status ready_memory(atn_stand *s, int32_t k, size_t bytes) {
    const atn_object *o = &s->graph->objects[k];
    unsigned char *here = atn_buffer_host(s->slots[k].buffer);
    if (s->light && is_output(o)) return ATN_OK;
    if (s->light && here && !o->written) {
        s->before[k].data = here;
        return ATN_OK;
    }
    s->memory[k] = atn_alloc(s->ctx, bytes);
    s->before[k].data = s->memory[k];
    return s->memory[k] ? ATN_OK : ATN_ERR_MEMORY;
}

static atn_status put_margins(const atn_stand *s, int32_t k, size_t bytes) {
    atn_buffer *buffer = s->slots[k].buffer;
    atn_status status = s->front ? atn_buffer_fill(NULL, buffer, 0, ATN_POISON, s->front) : ATN_OK;
    return status == ATN_OK ? atn_buffer_fill(NULL, buffer, s->front + bytes, ATN_POISON, MARGIN) : status;
}

static atn_status open_object(atn_stand *s, int32_t k, atn_filling filling, const atn_fill_options *fill) {
    const atn_object *o = &s->graph->objects[k];
    atn_view *view = &s->before[k];
    size_t bytes = atn_view_bytes(view);
    s->slots[k].offset = (int64_t)(s->front / atn_type_bytes(view->type));
    atn_status status = atn_buffer_create(s->device, s->front + bytes + MARGIN, &s->slots[k].buffer);
    if (status == ATN_OK) status = ready_memory(s, k, bytes);
    if (status != ATN_OK) return status;
    if (is_output(o)) {
        if (view->data) memset(view->data, ATN_POISON, bytes);
        status = atn_buffer_fill(NULL, s->slots[k].buffer, 0, ATN_POISON, s->front + bytes + MARGIN);
        return status;
    }
    atn_fill(view, filling, fill, k);
    status = put_margins(s, k, bytes);
    if (!s->memory[k]) s->sums[k] = atn_hash_add((atn_hash){0}, view->data, bytes);
    if (status == ATN_OK && bytes && s->memory[k])
        status = atn_buffer_put(NULL, s->slots[k].buffer, s->front, view->data, bytes);
    return status;
}

atn_status atn_stand_open(atn_device *device, const atn_graph *graph, const double (*params)[2], const atn_view *sizes,
                          const atn_fill_options *fill, bool light, atn_stand *out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    size_t n = (size_t)graph->n_objects + 1;
    *out = (atn_stand){.ctx = ctx, .device = device, .graph = graph, .params = params, .light = light};
    out->front = light ? 0 : MARGIN;
    out->slots = atn_zalloc(ctx, n * sizeof *out->slots);
    out->before = atn_zalloc(ctx, n * sizeof *out->before);
    out->memory = atn_zalloc(ctx, n * sizeof *out->memory);
    out->sums = atn_zalloc(ctx, n * sizeof *out->sums);
    if (!out->slots || !out->before || !out->memory || !out->sums) return ATN_ERR_MEMORY;
    for (int32_t k = 0; k < graph->n_objects; ++k) {
        out->slots[k].view = out->before[k] = sizes[k];
        out->before[k].data = NULL;
    }
    atn_filling *fillings = atn_zalloc(ctx, n * sizeof *fillings);
    atn_bindings frame = {.views = sizes, .params = params};
    atn_status status = fillings ? atn_fillings_of(ctx, graph, &frame, fill->lengths, fillings) : ATN_ERR_MEMORY;
    if (status == ATN_OK) status = atn_inputs_moved(ctx, graph, &out->moved);
    for (int32_t k = 0; k < graph->n_objects && status == ATN_OK; ++k)
        if (!graph->objects[k].table) status = open_object(out, k, fillings[k], fill);
    out->proven = !atn_inputs_guarded(graph);
    atn_free(ctx, fillings);
    return status;
}

/* The estimate, or, where the compiler fails on it, the plain variant; both with guards. */
static atn_status build_guarded(const atn_stand *s, atn_built **out) {
    atn_variant plain = atn_variant_plain(), guess;
    atn_extent extent;
    atn_bindings frame = atn_stand_frame(s);
    atn_status status = atn_extent_of(s->ctx, s->graph, &frame, &extent);
    if (status != ATN_OK) return status;
    guess = atn_variant_estimate(s->graph, atn_device_get_info(s->device), &extent);
    guess.guard = plain.guard = 1;
    guess.index = plain.index = 64;
    status = atn_built_make(s->device, s->graph, &guess, out);
    if (status == ATN_ERR_BUILD || status == ATN_ERR_TIMEOUT) status = atn_built_make(s->device, s->graph, &plain, out);
    return status;
}

atn_status atn_stand_prove(atn_stand *s) {
    atn_built *guarded;
    if (s->proven) return ATN_OK;
    atn_status status = build_guarded(s, &guarded);
    if (status != ATN_OK) return status;
    status = atn_stand_reset(s);
    if (status == ATN_OK) status = atn_built_run(guarded, NULL, s->slots, s->params);
    if (status == ATN_OK) status = atn_queue_finish(atn_device_queue(s->device));
    atn_built_free(guarded);
    s->proven = status == ATN_OK;
    return status == ATN_OK ? atn_stand_reset(s) : status;
}

void atn_stand_close(atn_stand *s) {
    for (int32_t k = 0; s->graph && k < s->graph->n_objects; ++k) {
        if (s->slots) atn_buffer_free(s->slots[k].buffer);
        if (s->memory) atn_free(s->ctx, s->memory[k]);
    }
    if (s->ctx) {
        atn_free(s->ctx, s->slots);
        atn_free(s->ctx, s->before);
        atn_free(s->ctx, s->memory);
        atn_free(s->ctx, s->sums);
    }
    *s = (atn_stand){0};
}

atn_bindings atn_stand_frame(const atn_stand *s) { return (atn_bindings){.views = s->before, .params = s->params}; }

atn_status atn_stand_reset(atn_stand *s) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < s->graph->n_objects && status == ATN_OK; ++k) {
        const atn_object *o = &s->graph->objects[k];
        size_t bytes = atn_view_bytes(&s->before[k]);
        if (o->table || !o->written || bytes == 0) continue;
        status = is_output(o) ? atn_buffer_fill(NULL, s->slots[k].buffer, s->front, ATN_POISON, bytes)
                              : atn_buffer_put(NULL, s->slots[k].buffer, s->front, s->before[k].data, bytes);
    }
    return status;
}

static atn_status margin_holds(const atn_stand *s, int32_t k, size_t from, size_t bytes, bool *holds) {
    unsigned char got[MARGIN];
    atn_status status = bytes ? atn_buffer_get(NULL, s->slots[k].buffer, from, got, bytes) : ATN_OK;
    for (size_t b = 0; b < bytes && status == ATN_OK; ++b) *holds = *holds && got[b] == ATN_POISON;
    return status;
}

static atn_status input_holds(const atn_stand *s, int32_t k, size_t bytes, bool *holds) {
    if (!s->memory[k]) {
        atn_hash now = atn_hash_add((atn_hash){0}, s->before[k].data, bytes);
        *holds = *holds && now.high == s->sums[k].high && now.low == s->sums[k].low;
        return ATN_OK;
    }
    if (s->light) return ATN_OK; /* far away, and large */
    void *now;
    atn_status status = atn_stand_fetch(s, k, &now);
    if (status == ATN_OK) *holds = *holds && memcmp(now, s->before[k].data, bytes) == 0;
    atn_free(s->ctx, now);
    return status;
}

atn_status atn_stand_inspect(atn_stand *s, int32_t *where) {
    *where = -1;
    for (int32_t k = 0; k < s->graph->n_objects; ++k) {
        const atn_object *o = &s->graph->objects[k];
        if (o->table) continue;
        size_t bytes = atn_view_bytes(&s->before[k]);
        bool holds = true;
        atn_status status = margin_holds(s, k, 0, s->front, &holds);
        if (status == ATN_OK) status = margin_holds(s, k, s->front + bytes, MARGIN, &holds);
        if (status == ATN_OK && !o->written && bytes) status = input_holds(s, k, bytes, &holds);
        if (status != ATN_OK) return status;
        if (!holds && *where < 0) *where = k;
        if (!holds) status = put_margins(s, k, bytes);
        if (status != ATN_OK) return status;
    }
    return ATN_OK;
}

atn_status atn_stand_element(const atn_stand *s, int32_t object, int64_t column, int64_t row, void *room) {
    const atn_view *view = &s->before[object];
    size_t bytes = atn_type_bytes(view->type);
    int64_t at = view->rank > 1 ? row * view->pitch + column : column;
    return atn_buffer_get(NULL, s->slots[object].buffer, s->front + (size_t)at * bytes, room, bytes);
}

atn_status atn_stand_fetch(const atn_stand *s, int32_t object, void **data) {
    size_t bytes = atn_view_bytes(&s->before[object]);
    *data = atn_alloc(s->ctx, bytes);
    if (!*data) return ATN_ERR_MEMORY;
    atn_status status = bytes ? atn_buffer_get(NULL, s->slots[object].buffer, s->front, *data, bytes) : ATN_OK;
    if (status != ATN_OK) {
        atn_free(s->ctx, *data);
        *data = NULL;
    }
    return status;
}
