/* Building a variant for a device and running it: arguments in the order of the program, scratch memory kept between
 * runs. */
#include "built/built.h"

#include "base/memory.h"
#include "base/size.h"
#include "built/outlook.h"
#include "device/facts.h"
#include "device/host_abi.h"
#include "device/reports.h"
#include "graph/affine.h"
#include "graph/type.h"
#include "render/dialect.h"

#include <stdio.h>
#include <string.h>

enum { HOST_TILES = 1 << 20, MAX_PARAMS = 16 };
static const int64_t NEAR = (int64_t)1 << 29; /* what 32-bit addresses reach, with room for what overhangs */
static const double LITTLE = 16384;           /* short steps that are done sooner than another thread wakes */

struct atn_built {
    atn_device *device;
    const atn_graph *graph;
    int32_t *users; /* of the code: program, module and functions; the last one frees it */
    atn_lowered *program;
    atn_module *module;
    atn_function *function[4];
    atn_buffer *scratch; /* partial results; zero where the program counts */
    atn_buffer *report;  /* of computed accesses, by the last run; zeroed before each */
    int64_t runs;        /* launched so far */
    /* The last run that was checked: a run like it is not checked again, and so allocates nothing. Like it are those
     * whose parameters differ, as long as none of these decides where the kernel goes. */
    bool checked, decides[MAX_PARAMS];
    atn_view views[ATN_BUILT_OBJECTS];
    double params[MAX_PARAMS][2];
    atn_extent extent;
    bool near; /* with index=32: ranges and selectors, as they were checked, are within 32-bit addresses */
};

atn_target atn_target_of(const atn_device_info *info) {
    const atn_backend_facts *facts = atn_backend_facts_of(info);
    bool host = facts->threads;
    int64_t local = host ? HOST_TILES : info->local_bytes;
    if (facts->most_local && local > facts->most_local) local = facts->most_local;
    return (atn_target){.host = host,
                        .vectors = facts->vectors,
                        .half = host && info->fp16,
                        .shuffle = facts->shuffle,
                        .matrix = atn_device_has_matrix(info),
                        .products = atn_device_has_products(info),
                        .warpgroup = atn_device_has_warpgroup(info),
                        .bf16 = host ? (atn_bf16)info->bf16 : ATN_BF16_NONE,
                        .waits = facts->waits,
                        .warp = facts->warp,
                        .max_items = host ? 1 : info->max_group,
                        .local_bytes = local,
                        .dynamic_bytes = facts->most_local ? info->local_bytes : 0,
                        .vector_bytes = host ? 4 * info->simd : 0};
}

atn_status atn_built_source(const atn_ctx *ctx, const atn_graph *graph, const atn_variant *variant, const char *backend,
                            const atn_target *target, atn_text *out) {
    const atn_dialect *dialect = atn_dialect_find(backend);
    if (!dialect) return atn_fail(ctx, ATN_ERR_INPUT, "no dialect '%s'; there are c, opencl and cuda", backend);
    atn_lowered *program;
    atn_status status = atn_lower(ctx, graph, variant, target, &program);
    if (status != ATN_OK) return status;
    if (target->host) atn_text_add(out, ATN_HOST_ABI_TEXT);
    status = atn_render(ctx, program, dialect, out);
    atn_lowered_free(program);
    return status;
}

static atn_status build(atn_built *k, const atn_variant *variant, bool compiled_in) {
    const atn_ctx *ctx = atn_device_ctx(k->device);
    const atn_device_info *info = atn_device_get_info(k->device);
    atn_target target = atn_target_of(info);
    atn_text source = {.ctx = ctx};
    atn_status status = atn_lower(ctx, k->graph, variant, &target, &k->program);
    if (status != ATN_OK) return status;
    if (target.host) atn_text_add(&source, ATN_HOST_ABI_TEXT);
    status = atn_render(ctx, k->program, atn_dialect_find(info->backend), &source);
    atn_build how = {.name = k->graph->name,
                     .source = atn_text_str(&source),
                     .fast_math = variant->fast,
                     .flags = atn_backend_facts_of(info)->flags,
                     .compiled_in = compiled_in};
    if (status == ATN_OK) status = atn_module_build(k->device, &how, &k->module);
    atn_text_free(&source);
    for (int32_t n = 0; n < k->program->n_stages && status == ATN_OK; ++n) {
        int32_t items = k->program->stage[n].items;
        atn_function_info built;
        status = atn_module_function(k->module, k->program->stage[n].name, &k->function[n]);
        if (status == ATN_OK) status = atn_function_get_info(k->function[n], items, &built);
        if (status == ATN_OK && built.max_group > 0 && items > built.max_group) /* known only after a build */
            status = atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: built so, a work-group has at most %d items, not %d",
                              k->graph->name, built.max_group, items);
    }
    return status;
}

/* Launches of the host are complete on return: their reports are available. */
static bool reports_late(const atn_built *k) {
    return k->report && !atn_backend_facts_of(atn_device_get_info(k->device))->threads;
}

static atn_status make_report(atn_built *k) {
    if (!k->program->reports) return ATN_OK;
    atn_status status = atn_buffer_create(k->device, ATN_REPORT_WORDS * sizeof(int32_t), &k->report);
    return status == ATN_OK && reports_late(k) ? atn_reports_create(k->device) : status;
}

static atn_status make(atn_device *device, const atn_graph *graph, const atn_variant *variant, bool compiled_in,
                       atn_built **out) {
    *out = NULL;
    const atn_ctx *ctx = atn_device_ctx(device);
    if (graph->n_objects > ATN_BUILT_OBJECTS)
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: %d objects, at most %d are passed to a kernel", graph->name,
                        graph->n_objects, ATN_BUILT_OBJECTS);
    atn_built *k = atn_zalloc(ctx, sizeof *k);
    if (!k) return ATN_ERR_MEMORY;
    k->device = device;
    k->graph = graph;
    k->users = atn_alloc(ctx, sizeof *k->users);
    atn_status status = k->users ? ATN_OK : ATN_ERR_MEMORY;
    if (k->users) *k->users = 1;
    if (status == ATN_OK && graph->n_parameters <= MAX_PARAMS) status = atn_eval_deciding(ctx, graph, k->decides);
    if (status == ATN_OK) status = build(k, variant, compiled_in);
    if (status == ATN_OK) status = make_report(k);
    if (status != ATN_OK) {
        atn_built_free(k);
        return status;
    }
    *out = k;
    return ATN_OK;
}

atn_status atn_built_make(atn_device *device, const atn_graph *graph, const atn_variant *variant, atn_built **out) {
    return make(device, graph, variant, false, out);
}

atn_status atn_built_take(atn_device *device, const atn_graph *graph, const atn_variant *variant, atn_built **out) {
    return make(device, graph, variant, true, out);
}

atn_status atn_built_share(const atn_built *from, atn_built **out) {
    const atn_ctx *ctx = atn_device_ctx(from->device);
    atn_built *k = *out = atn_alloc(ctx, sizeof *k);
    if (!k) return ATN_ERR_MEMORY;
    *k = *from;
    ++*k->users;
    k->scratch = k->report = NULL;
    k->checked = false;
    k->runs = 0;
    atn_status status = make_report(k);
    if (status == ATN_OK) return ATN_OK;
    atn_built_free(k);
    *out = NULL;
    return status;
}

void atn_built_free(atn_built *k) {
    if (!k) return;
    const atn_ctx *ctx = atn_device_ctx(k->device);
    atn_reports_leave(k->device, k);
    atn_buffer_free(k->report);
    atn_buffer_free(k->scratch);
    if (!k->users || --*k->users == 0) {
        atn_module_free(k->module);
        atn_lowered_free(k->program);
        atn_free(ctx, k->users);
    }
    atn_free(ctx, k);
}

const atn_variant *atn_built_variant(const atn_built *k) { return &k->program->variant; }
const atn_lowered *atn_built_lowered(const atn_built *k) { return k->program; }
atn_function *atn_built_function(const atn_built *k, int32_t stage) { return k->function[stage]; }
size_t atn_built_code_bytes(const atn_built *k) { return atn_module_code_bytes(k->module); }
bool atn_built_is_compiled_in(const atn_built *k) { return atn_module_compiled_in(k->module); }

/* ---- running ---- */

/* Steps of the outermost reduction, at the first point; 0 where elements decide. No memory to find out is no answer. */
static atn_status range_of(const atn_ctx *ctx, const atn_graph *g, const atn_bindings *frame, int64_t *out) {
    int32_t block = atn_graph_outermost(g, NULL);
    int64_t all = 1;
    *out = 0;
    if (block < 0) return ATN_OK;
    for (int32_t d = 0; d < g->blocks[block].rank; ++d) {
        const atn_dim *dim = &g->dims[g->blocks[block].dim[d]];
        int64_t begin, end;
        if (!atn_value_is_static(g, dim->begin) || !atn_value_is_static(g, dim->end)) return ATN_OK;
        atn_status status = atn_eval_index(ctx, g, frame, dim->begin, &begin);
        if (status == ATN_OK) status = atn_eval_index(ctx, g, frame, dim->end, &end);
        if (status != ATN_OK) return status == ATN_ERR_MEMORY ? status : ATN_OK;
        if (end < begin || __builtin_mul_overflow(all, end - begin, &all)) return ATN_OK;
    }
    *out = all;
    return ATN_OK;
}

atn_status atn_extent_of(const atn_ctx *ctx, const atn_graph *g, const atn_bindings *frame, atn_extent *extent) {
    *extent = (atn_extent){.points = {1, 1, 1}};
    for (int32_t d = 0; d < g->blocks[0].rank && g->blocks[0].n_accs == 0; ++d) {
        const atn_dim *dim = &g->dims[g->blocks[0].dim[d]];
        int64_t begin, end;
        atn_status status = atn_eval_index(ctx, g, frame, dim->begin, &begin);
        if (status == ATN_OK) status = atn_eval_index(ctx, g, frame, dim->end, &end);
        if (status != ATN_OK) return status;
        extent->points[d] = end > begin ? end - begin : 0;
    }
    return range_of(ctx, g, frame, &extent->range);
}

static atn_status ready_scratch(atn_built *k, const atn_extent *extent) {
    int64_t bytes = atn_lowered_scratch_bytes(k->program, extent);
    if (bytes == 0 || (k->scratch && (int64_t)atn_buffer_bytes(k->scratch) >= bytes)) return ATN_OK;
    if (bytes == INT64_MAX)
        return atn_fail(atn_device_ctx(k->device), ATN_ERR_MEMORY, "%s: partial results are more than memory can hold",
                        k->graph->name);
    atn_buffer_free(k->scratch);
    k->scratch = NULL;
    atn_status status = atn_buffer_create(k->device, (size_t)bytes, &k->scratch);
    if (status == ATN_OK) status = atn_buffer_fill(NULL, k->scratch, 0, 0, (size_t)bytes);
    return status == ATN_OK ? atn_queue_finish(atn_device_queue(k->device)) : status; /* it may run in another queue */
}

/* Scalars live here while a launch is put together. */
typedef union scalar {
    int64_t index;
    int32_t whole;
    uint16_t u16;
    uint8_t u8;
    float single;
    double twice;
} scalar;

static atn_arg parameter(const atn_parameter *p, const double value[2], int32_t part, scalar *keep) {
    double number = value[part];
    switch (p->type) {
    case ATN_DP:
    case ATN_DP2:
        keep->twice = number;
        return (atn_arg){.value = keep, .bytes = 8};
    case ATN_INDEX:
        keep->index = atn_type_saturate(ATN_INDEX, number);
        return (atn_arg){.value = keep, .bytes = 8};
    case ATN_INT32:
    case ATN_B:
        keep->whole = p->type == ATN_B ? number != 0 : (int32_t)number;
        return (atn_arg){.value = keep, .bytes = 4};
    case ATN_U16:
        keep->u16 = (uint16_t)number;
        return (atn_arg){.value = keep, .bytes = 2};
    case ATN_U8:
        keep->u8 = (uint8_t)number;
        return (atn_arg){.value = keep, .bytes = 1};
    default:
        keep->single = (float)number;
        return (atn_arg){.value = keep, .bytes = 4};
    }
}

/* All arguments in the program's order; returns how many. */
static size_t fill_arguments(const atn_built *k, const atn_slot *slots, const double (*params)[2], atn_arg *args,
                             scalar *keep) {
    size_t n = 0;
    for (int32_t a = 0; a < k->program->n_arguments; ++a) {
        const ir_argument *argument = &k->program->arguments[a];
        const atn_slot *slot = &slots[argument->kind <= IR_ARG_SIZE2 ? argument->id : 0];
        switch (argument->kind) {
        case IR_ARG_DATA:
            args[n++] = (atn_arg){.buffer = slot->buffer};
            continue;
        case IR_ARG_SCRATCH:
            args[n++] = (atn_arg){.buffer = k->scratch};
            continue;
        case IR_ARG_REPORT:
            args[n++] = (atn_arg){.buffer = k->report};
            continue;
        case IR_ARG_PARAM: {
            const atn_parameter *p = &k->graph->parameters[argument->id];
            int32_t parts = p->type == ATN_SP2 || p->type == ATN_DP2 ? 2 : 1;
            for (int32_t part = 0; part < parts; ++part, ++n)
                args[n] = parameter(p, params[argument->id], part, &keep[n]);
            continue;
        }
        case IR_ARG_OFFSET:
            keep[n].index = slot->offset;
            break;
        case IR_ARG_PITCH:
            keep[n].index = slot->view.pitch;
            break;
        default:
            keep[n].index = slot->view.size[argument->kind - IR_ARG_SIZE0];
            break;
        }
        args[n] = (atn_arg){.value = &keep[n], .bytes = 8};
        ++n;
    }
    return n;
}

/* How many there were is not said: points that are computed twice count twice. */
static void describe(const atn_reporter *from, const int32_t words[ATN_REPORT_WORDS], char *text, size_t room) {
    const atn_graph *g = ((const atn_built *)from->owner)->graph;
    int32_t n = words[1] - 1, reads = g->n_reads;
    const char *name = n >= 0 && n < reads                     ? g->reads[n].name
                       : n >= reads && n - reads < g->n_writes ? g->writes[n - reads].name
                                                               : "?";
    snprintf(text, room,
             "%s: computed accesses were out of range in run %lld, '%s' among them; reads gave 0, writes were not made",
             g->name, (long long)from->run, name);
}

static atn_status check_report(atn_built *k, atn_queue *queue) {
    int32_t words[ATN_REPORT_WORDS];
    char text[256];
    atn_status status = atn_buffer_get(queue, k->report, 0, words, sizeof words);
    if (status != ATN_OK || words[0] == 0) return status;
    describe(&(atn_reporter){.owner = k, .run = k->runs}, words, text, sizeof text);
    return atn_fail(atn_device_ctx(k->device), ATN_ERR_INPUT, "%s", text);
}

static int32_t threads_for(const atn_built *k, const atn_extent *e) {
    int32_t threads = k->program->variant.threads;
    if (threads != 0 || (e->range == 0 && k->graph->n_blocks > 1)) return threads;
    double steps = (double)atn_extent_points(e) * (double)(e->range > 0 ? e->range : 1);
    return steps * atn_outlook_length(k->graph) <= LITTLE ? 1 : 0;
}

static atn_status launch_stages(atn_built *k, atn_queue *queue, const atn_extent *extent, const atn_slot *slots,
                                const double (*params)[2]) {
    atn_arg args[ATN_MAX_ARGS];
    scalar keep[ATN_MAX_ARGS];
    size_t n = fill_arguments(k, slots, params, args, keep);
    const atn_variant *v = &k->program->variant;
    bool host = atn_backend_facts_of(atn_device_get_info(k->device))->threads;
    for (int32_t s = 0; s < k->program->n_stages; ++s) {
        int64_t groups = atn_lowered_groups(k->program, s, extent), most = v->groups > 0 ? v->groups : 0x7fffffff;
        if (groups == 0) continue;
        atn_launch launch = {.groups = {(size_t)(host            ? 1
                                                 : groups < most ? groups
                                                                 : most)},
                             .items = {(size_t)k->program->stage[s].items},
                             .threads = threads_for(k, extent),
                             .local_bytes = (size_t)atn_stage_dynamic_bytes(&k->program->stage[s]),
                             .args = args,
                             .n_args = n};
        atn_status status = atn_function_launch(queue, k->function[s], &launch);
        if (status != ATN_OK) return status;
    }
    return ATN_OK;
}

static bool same_view(const atn_view *a, const atn_view *b) {
    return a->type == b->type && a->rank == b->rank && memcmp(a->size, b->size, sizeof a->size) == 0 &&
           a->pitch == b->pitch;
}

static bool same_as_last(const atn_built *k, const atn_slot *slots, const double (*params)[2]) {
    bool same = k->checked;
    for (int32_t n = 0; n < k->graph->n_objects && same; ++n)
        same = k->graph->objects[n].table || same_view(&k->views[n], &slots[n].view);
    for (int32_t n = 0; n < k->graph->n_parameters && same; ++n)
        same = !k->decides[n] || (k->params[n][0] == params[n][0] && k->params[n][1] == params[n][1]);
    return same;
}

bool atn_view_is_near(const atn_view *view, int64_t offset) {
    int64_t all = view->rank > 1 ? view->pitch : view->size[0];
    for (int32_t axis = 1; axis < view->rank; ++axis)
        if (!atn_i64_mul(all, view->size[axis], &all)) return false;
    return atn_i64_add(all, offset, &all) && all < NEAR;
}

atn_status atn_span_is_near(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, bool validated,
                            bool *near) {
    int64_t span;
    atn_extent extent;
    atn_status status = atn_eval_span(ctx, graph, frame, validated, &span);
    if (status == ATN_OK) status = atn_extent_of(ctx, graph, frame, &extent);
    *near = status == ATN_OK && span < NEAR && atn_extent_points(&extent) < NEAR;
    return status;
}

static atn_status check_reach(const atn_built *k, const atn_slot *slots) {
    const atn_ctx *ctx = atn_device_ctx(k->device);
    if (k->program->variant.index != 32) return ATN_OK;
    for (int32_t n = 0; n < k->graph->n_objects; ++n)
        if (!k->graph->objects[n].table && !atn_view_is_near(&slots[n].view, slots[n].offset))
            return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: '%s' is larger than 32-bit addresses reach; index=64 does",
                            k->graph->name, k->graph->objects[n].name);
    if (k->near && atn_lowered_pieces(k->program, &k->extent) < 2 * NEAR) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_UNSUPPORTED,
                    "%s: its ranges or selectors go farther than 32-bit addresses reach; index=64 does",
                    k->graph->name);
}

/* All that must hold before a launch, and where the points lie. */
static atn_status check_run(atn_built *k, const atn_slot *slots, const double (*params)[2]) {
    const atn_ctx *ctx = atn_device_ctx(k->device);
    if (params && same_as_last(k, slots, params))
        return atn_eval_check_params(ctx, k->graph, &(atn_bindings){.views = k->views, .params = params});
    k->checked = false;
    for (int32_t n = 0; n < k->graph->n_objects; ++n) k->views[n] = slots[n].view;
    atn_bindings frame = {.views = k->views, .params = params};
    atn_status status = atn_eval_check(ctx, k->graph, &frame);
    if (status == ATN_OK) status = atn_extent_of(ctx, k->graph, &frame, &k->extent);
    if (status == ATN_OK && k->program->variant.index == 32)
        status = atn_span_is_near(ctx, k->graph, &frame, !k->program->variant.guard, &k->near);
    if (status != ATN_OK || k->graph->n_parameters > MAX_PARAMS || !params) return status;
    for (int32_t n = 0; n < k->graph->n_parameters; ++n) memcpy(k->params[n], params[n], sizeof k->params[n]);
    k->checked = true;
    return ATN_OK;
}

atn_status atn_built_ready(atn_built *k, const atn_slot *slots, const double (*params)[2]) {
    atn_status status = check_run(k, slots, params);
    if (status == ATN_OK) status = check_reach(k, slots);
    return status == ATN_OK ? ready_scratch(k, &k->extent) : status;
}

static atn_status run(atn_built *k, atn_queue *queue, const atn_slot *slots, const double (*params)[2], bool late) {
    atn_status status = atn_built_ready(k, slots, params);
    if (status == ATN_OK && late) status = atn_reports_make_room(k->device);
    if (status == ATN_OK && k->report)
        status = atn_buffer_fill(queue, k->report, 0, 0, ATN_REPORT_WORDS * sizeof(int32_t));
    if (status == ATN_OK) status = launch_stages(k, queue, &k->extent, slots, params);
    if (status != ATN_OK) return status;
    ++k->runs;
    if (late)
        return atn_reports_send(queue, k->report, &(atn_reporter){.owner = k, .run = k->runs, .describe = describe});
    return k->report ? check_report(k, queue) : ATN_OK;
}

atn_status atn_built_run(atn_built *k, atn_queue *queue, const atn_slot *slots, const double (*params)[2]) {
    return run(k, queue ? queue : atn_device_queue(k->device), slots, params, false);
}

atn_status atn_built_launch(atn_built *k, const atn_slot *slots, const double (*params)[2]) {
    atn_queue *queue = atn_device_queue(k->device);
    return run(k, queue, slots, params, reports_late(k) && !atn_queue_is_kept(queue));
}
