/* Arrays on a device with poison and margins. */
#include "tune/stand.h"

#include "base/memory.h"

#include <string.h>

enum { MARGIN = 256 }; /* bytes */

static size_t bytes_of(const atn_view *view) {
    return (size_t)(view->rank > 1 ? view->pitch * view->size[1] : view->size[0]) * atn_type_bytes(view->type);
}

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

static atn_status open_object(atn_stand *s, int32_t k, const atn_fill_options *fill) {
    const atn_object *o = &s->graph->objects[k];
    atn_view *view = &s->before[k];
    size_t bytes = bytes_of(view);
    s->slots[k].offset = (int64_t)(s->front / atn_type_bytes(view->type));
    atn_status status = atn_buffer_create(s->device, s->front + bytes + MARGIN, &s->slots[k].buffer);
    if (status == ATN_OK) status = ready_memory(s, k, bytes);
    if (status != ATN_OK) return status;
    if (is_output(o)) {
        if (view->data) memset(view->data, ATN_POISON, bytes);
        status = atn_buffer_fill(NULL, s->slots[k].buffer, 0, ATN_POISON, s->front + bytes + MARGIN);
        return status;
    }
    atn_fill(view, atn_filling_of(s->graph, s->before, k, fill->lengths), fill, k);
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
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < graph->n_objects && status == ATN_OK; ++k)
        if (!graph->objects[k].table) status = open_object(out, k, fill);
    return status;
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

atn_frame atn_stand_frame(const atn_stand *s) { return (atn_frame){.views = s->before, .params = s->params}; }

atn_status atn_stand_reset(atn_stand *s) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < s->graph->n_objects && status == ATN_OK; ++k) {
        const atn_object *o = &s->graph->objects[k];
        size_t bytes = bytes_of(&s->before[k]);
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
        size_t bytes = bytes_of(&s->before[k]);
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
    size_t bytes = bytes_of(&s->before[object]);
    *data = atn_alloc(s->ctx, bytes);
    if (!*data) return ATN_ERR_MEMORY;
    atn_status status = bytes ? atn_buffer_get(NULL, s->slots[object].buffer, s->front, *data, bytes) : ATN_OK;
    if (status != ATN_OK) {
        atn_free(s->ctx, *data);
        *data = NULL;
    }
    return status;
}
