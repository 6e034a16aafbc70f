/* A variant held against the oracle. */
#include "support/held.h"

#include "base/memory.h"
#include "graph/compose.h"
#include "testkit.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OBJECTS = 24, MARGIN = 4096 }; /* poisoned bytes before and after every array */

static size_t view_bytes(const atn_view *view) {
    if (atn_view_elements(view) == 0) return 0;
    int64_t elements = (atn_view_rows(view) - 1) * view->pitch + view->size[0];
    return (size_t)elements * atn_type_bytes(view->type);
}

/* One array on the device with a margin on both sides that must not be touched. It goes there in one piece: Oclgrind
 * forgets about the rest of a buffer with every write to a part of it. */
static atn_status upload_one(atn_device *device, const atn_view *view, atn_buffer **out) {
    const atn_ctx *ctx = atn_device_ctx(device);
    size_t bytes = view_bytes(view);
    unsigned char *all = atn_alloc(ctx, bytes + 2 * MARGIN);
    if (!all) return ATN_ERR_MEMORY;
    memset(all, 0xa7, bytes + 2 * MARGIN);
    if (bytes) memcpy(all + MARGIN, view->data, bytes);
    atn_status status = atn_buffer_create(device, bytes + 2 * MARGIN, out);
    if (status == ATN_OK) status = atn_buffer_put(NULL, *out, 0, all, bytes + 2 * MARGIN);
    atn_free(ctx, all);
    return status;
}

static atn_status upload(atn_device *device, const held_case *c, atn_slot *slots) {
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < c->graph->n_objects && status == ATN_OK; ++k) {
        slots[k].view = c->views[k];
        if (c->graph->objects[k].table) continue;
        slots[k].offset = (int64_t)(MARGIN / atn_type_bytes(c->views[k].type));
        status = upload_one(device, &c->views[k], &slots[k].buffer);
    }
    return status;
}

static atn_status download(atn_device *device, const held_case *c, const atn_slot *slots, atn_view *got) {
    const atn_ctx *ctx = atn_device_ctx(device);
    for (int32_t k = 0; k < c->graph->n_objects; ++k) {
        got[k] = c->views[k];
        got[k].data = NULL;
        if (c->graph->objects[k].table) continue;
        size_t bytes = view_bytes(&c->views[k]);
        unsigned char *all = atn_alloc(ctx, bytes + 2 * MARGIN);
        if (!all) return ATN_ERR_MEMORY;
        atn_status status = atn_buffer_get(NULL, slots[k].buffer, 0, all, bytes + 2 * MARGIN);
        for (size_t b = 0; b < MARGIN && status == ATN_OK; ++b)
            if (all[b] != 0xa7 || all[MARGIN + bytes + b] != 0xa7)
                status = atn_fail(ctx, ATN_ERR_INTERNAL, "%s: wrote outside '%s'", c->graph->name,
                                  c->graph->objects[k].name);
        memmove(all, all + MARGIN, bytes);
        got[k].data = all;
        if (status != ATN_OK) return status;
    }
    return ATN_OK;
}

static atn_status compare(const atn_ctx *ctx, const held_case *c, const atn_view *got, const atn_eval_result *oracle) {
    atn_eval_mismatch m;
    if (atn_eval_verify(c->graph, oracle, got, c->views, 0, &m)) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_INTERNAL,
                    "%s: %lld elements differ; %s(%lld, %lld) is %.9g%+.9gi, %.9g%+.9gi +- %.3g is right",
                    c->graph->name, (long long)m.count, c->graph->objects[m.object].name, (long long)m.at[0],
                    (long long)m.at[1], m.got[0], m.got[1], m.wanted[0], m.wanted[1], m.bound);
}

atn_status held_run(atn_device *device, const held_case *c, const atn_variant *variant, const atn_eval_result *oracle) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_built *kernel = NULL;
    atn_slot slots[MOST_OBJECTS] = {{0}};
    atn_view got[MOST_OBJECTS] = {{0}};
    atn_status status = atn_built_make(device, c->graph, variant, &kernel);
    if (status == ATN_OK) status = upload(device, c, slots);
    if (status == ATN_OK) {
        status = atn_built_run(kernel, NULL, slots, c->params);
        if (status == ATN_ERR_INPUT && oracle->bad_accesses > 0)
            status = ATN_OK; /* reported, as it must be */
        else if (status == ATN_OK && oracle->bad_accesses > 0 && variant->guard)
            status = atn_fail(ctx, ATN_ERR_INTERNAL, "%s: %lld accesses out of range were not reported", c->graph->name,
                              (long long)oracle->bad_accesses);
    }
    if (status == ATN_OK) status = download(device, c, slots, got);
    if (status == ATN_OK) status = compare(ctx, c, got, oracle);
    for (int32_t k = 0; k < c->graph->n_objects; ++k) {
        atn_free(ctx, got[k].data);
        atn_buffer_free(slots[k].buffer);
    }
    atn_built_free(kernel);
    return status;
}

static void hold_on(atn_device *device, const char *name, const held_case *c, const char *text, bool finite) {
    atn_ctx *ctx = atn_device_ctx(device);
    atn_variant v = atn_variant_plain();
    atn_bindings frame = {.views = c->views};
    atn_eval_result *oracle;
    if (*text) kit_ok(ctx, atn_variant_parse(ctx, &v, text));
    if (v.fast && !finite) return; /* promises what is not so */
    atn_eval_options options = atn_variant_arithmetic(c->graph, &v, atn_device_get_info(device));
    kit_ok(ctx, atn_eval_run(ctx, c->graph, &frame, &options, &oracle));
    atn_status status = held_run(device, c, &v, oracle);
    atn_eval_free(oracle);
    if (status != ATN_OK && status != ATN_ERR_UNSUPPORTED)
        fail_msg("%s%s on %s, variant '%s': %s", name, finite ? ", finite" : "", atn_device_get_info(device)->backend,
                 text, atn_ctx_message(ctx));
}

void held_on_all(atn_ctx *ctx, const char *name, const char *xml, const atn_view *views, bool finite,
                 const char *const *variants, size_t count) {
    atn_sequence *sequence;
    atn_devices *devices;
    kit_ok(ctx, atn_sequence_parse(ctx, name, xml, strlen(xml), &(atn_parse_options){0}, NULL, &sequence));
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    held_case c = {.graph = sequence->step[0], .views = views};
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        atn_device *device;
        if (!kit_wants(atn_devices_info(devices, d)->backend)) continue;
        kit_ok(ctx, atn_device_open(devices, d, &device));
        for (size_t n = 0; n < count; ++n) hold_on(device, name, &c, variants[n], finite);
        atn_device_close(device);
    }
    atn_devices_free(devices);
    atn_sequence_free(sequence);
}
