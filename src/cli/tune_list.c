/* The list of workloads: from a file, from a shipped kernel's set of shapes, or from all of them. */
#include "cli/tune_list.h"

#include "base/file.h"
#include "base/memory.h"
#include "graph/shipped.h"
#include "plan/tune.h"
#include "tune/case.h"
#include "tune/key.h"
#include "tune/sets.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20 };

/* Values of an option as a list ended by NULL; `more` in front where it is not NULL. */
static const char *const *list_option(atn_cli_work *w, const atn_cli_call *call, const char *option, const char *more) {
    size_t count = more != NULL, n = 0;
    for (size_t at = 0; atn_cli_next(call, option, &at);) ++count;
    const char **list = atn_arena_alloc(&w->arena, (count + 1) * sizeof *list), *given;
    if (!list) return NULL;
    if (more) list[n++] = more;
    for (size_t at = 0; (given = atn_cli_next(call, option, &at));) list[n++] = given;
    list[n] = NULL;
    return list;
}

/* The shape as wisdom has it: the slowest dimension of the points first, ranges behind. */
static void label_shape(const atn_case *c, const atn_device_info *info, char *text, size_t bytes) {
    atn_tune_key key;
    atn_bindings frame = atn_case_frame(c);
    *text = '\0';
    if (atn_tune_key_make(c->ctx, c->graph, info, &frame, false, 0, &key) != ATN_OK) return;
    const int64_t *shape = key.key.shape;
    int32_t points = c->graph->blocks[0].n_accs > 0 ? 0 : c->graph->blocks[0].rank;
    size_t at = 0;
    for (int32_t d = points; d-- > 0 && at < bytes;)
        at += (size_t)snprintf(text + at, bytes - at, "%lldx", (long long)shape[d]);
    for (int32_t k = atn_tune_key_points(c->graph); k < key.key.n_shape && at < bytes; ++k)
        at += (size_t)snprintf(text + at, bytes - at, "%lldx", (long long)shape[k]);
    if (at > 0 && at < bytes) text[at - 1] = '\0';
}

static atn_status add_row(atn_cli_work *w, const atn_workload *workload, const atn_cli_label *label) {
    atn_status status = atn_grow(w->ctx, (void **)&w->work, &w->room, (size_t)w->n, sizeof *w->work);
    if (status == ATN_OK)
        status = atn_grow(w->ctx, (void **)&w->labels, &w->label_room, (size_t)w->n, sizeof *w->labels);
    if (status != ATN_OK) return status;
    w->work[w->n] = *workload;
    w->labels[w->n++] = *label;
    return ATN_OK;
}

/* Every step of a Sequence is a workload of its own. */
static atn_status add(atn_cli_work *w, const atn_device_info *info, const atn_workload *workload) {
    for (int32_t step = 0, steps = 1; step < steps; ++step) {
        atn_workload one = *workload;
        atn_cli_label label = {0};
        atn_case c;
        one.step = step;
        atn_status status = atn_case_open(w->ctx, &one, &c);
        if (status == ATN_OK) {
            steps = c.sequence->count;
            label.kernel = atn_arena_strndup(&w->arena, c.graph->name, strlen(c.graph->name));
            label_shape(&c, info, label.shape, sizeof label.shape);
            if (!label.kernel) status = ATN_ERR_MEMORY;
        }
        atn_case_close(&c);
        if (status == ATN_OK) status = add_row(w, &one, &label);
        if (status != ATN_OK) return status;
    }
    return ATN_OK;
}

/* ---- programs ---- */

atn_status atn_cli_work_program(const atn_cli_kernel *k, const atn_plan_given *given, atn_cli_work *out) {
    const atn_routine *routine = k->programs->routines[k->programs->main];
    atn_cli_label label = {.kernel = routine->name};
    size_t at = 0;
    *out = (atn_cli_work){.ctx = k->call->ctx, .arena = {.ctx = k->call->ctx}};
    for (int32_t n = 0; n < routine->n_head && at < sizeof label.shape; ++n) {
        char shape[48];
        atn_view view = {.rank = routine->names[n].rank};
        if (!view.rank || given->size[n][0] < 0) continue;
        memcpy(view.size, given->size[n], sizeof view.size);
        atn_view_print_shape(&view, shape, sizeof shape);
        at += (size_t)snprintf(label.shape + at, sizeof label.shape - at, "%s%s", at ? " " : "", shape);
    }
    return add_row(out, &(atn_workload){.name = k->name}, &label);
}

/* Of one element, or the same as one before: nothing to be found out. */
static bool is_small(const atn_runner *runner, int32_t step) {
    const atn_graph *graph = atn_runner_graph(runner, step);
    atn_bindings frame = atn_runner_frame(runner, step);
    for (int32_t k = 0; k < graph->n_objects; ++k)
        if (!graph->objects[k].table && atn_view_elements(&frame.views[k]) > 1) return false;
    return true;
}

static bool is_known(const atn_runner *runner, int32_t step) {
    const atn_graph *graph = atn_runner_graph(runner, step);
    atn_bindings frame = atn_runner_frame(runner, step);
    for (int32_t k = 0; k < step; ++k) {
        const atn_graph *other = atn_runner_graph(runner, k);
        bool same = memcmp(&graph->hash, &other->hash, sizeof graph->hash) == 0;
        for (int32_t o = 0; o < graph->n_objects && same; ++o)
            same =
                memcmp(frame.views[o].size, atn_runner_frame(runner, k).views[o].size, sizeof frame.views->size) == 0;
        if (same) return true;
    }
    return false;
}

atn_status atn_cli_work_steps(const atn_cli_kernel *k, const atn_device_info *info, atn_cli_work *out) {
    atn_status status = ATN_OK;
    for (int32_t step = 0; step < atn_runner_steps(k->runner) && status == ATN_OK; ++step) {
        atn_workload one;
        if (is_small(k->runner, step) || is_known(k->runner, step)) continue;
        status = atn_plan_workload(atn_planned_plan(k->planned), atn_runner_graph(k->runner, step), &out->arena, &one);
        if (status == ATN_OK) status = add(out, info, &one);
    }
    return status;
}

/* ---- kernels ---- */

static atn_status add_shipped(atn_cli_work *w, atn_cli_call *call, const atn_device_info *info, const char *name,
                              const char *xml) {
    atn_workload one = {.name = name, .xml = xml, .params = list_option(w, call, "param", NULL)};
    one.defines = list_option(w, call, "define", atn_cli_default_define(call));
    if (!one.defines || !one.params) return ATN_ERR_MEMORY;
    if (atn_cli_value(call, "size")) {
        one.sizes = list_option(w, call, "size", NULL);
        return one.sizes ? add(w, info, &one) : ATN_ERR_MEMORY;
    }
    atn_status status = ATN_OK;
    const char *const *defines = one.defines;
    for (const atn_set *set = NULL; status == ATN_OK && (set = atn_set_next(ATN_SETS, name, info, set));) {
        if (set->type && atn_cli_value(call, "define")) continue; /* what the user says has all other shapes */
        one.defines = set->type ? atn_set_defines(set) : defines;
        one.sizes = set->sizes;
        one.range_length = set->range_length;
        status = add(w, info, &one);
    }
    return status;
}

static atn_status add_file(atn_cli_work *w, atn_cli_call *call, const atn_device_info *info, const char *file) {
    char *text;
    size_t length;
    bool input = strcmp(file, "-") == 0;
    atn_status status = input ? atn_file_read_stream(call->ctx, STDIN_FILENO, "stdin", MOST_BYTES, &text, &length)
                              : atn_file_read(call->ctx, file, MOST_BYTES, &text, &length);
    if (status != ATN_OK) return status;
    atn_workload one = {.name = input ? "stdin" : file,
                        .xml = atn_arena_strndup(&w->arena, text, length),
                        .sizes = list_option(w, call, "size", NULL),
                        .params = list_option(w, call, "param", NULL)};
    one.defines = list_option(w, call, "define", atn_cli_default_define(call));
    atn_free(call->ctx, text);
    if (!one.xml || !one.defines || !one.sizes || !one.params) return ATN_ERR_MEMORY;
    return add(w, info, &one);
}

static atn_status not_found(atn_cli_call *call, const char *name) {
    atn_text names = {.ctx = call->ctx};
    for (const atn_embedded *s = ATN_SHIPPED; s->name; ++s)
        atn_text_printf(&names, "%s%s", names.length ? ", " : "", s->name);
    atn_status status =
        atn_fail(call->ctx, ATN_ERR_IO, "%s: no such file or shipped kernel: %s", name, atn_text_str(&names));
    atn_text_free(&names);
    return status;
}

atn_status atn_cli_work_list(atn_cli_call *call, const atn_device_info *info, atn_cli_work *out) {
    const char *name = call->operands[0];
    *out = (atn_cli_work){.ctx = call->ctx, .arena = {.ctx = call->ctx}};
    bool is_file = strcmp(name, "-") == 0 || access(name, F_OK) == 0;
    if (!is_file && strcmp(name, "all") == 0) {
        if (atn_cli_value(call, "size"))
            return atn_cli_misuse(call, "--size cannot be used with all: it is the size of one kernel");
        if (atn_cli_value(call, "param"))
            return atn_cli_misuse(call, "--param cannot be used with all: it is a value of one kernel");
        atn_status status = ATN_OK;
        for (const atn_embedded *s = ATN_SHIPPED; s->name && status == ATN_OK; ++s)
            status = add_shipped(out, call, info, s->name, s->text);
        return status;
    }
    const char *xml = is_file ? NULL : atn_shipped_find(name);
    if (is_file) return add_file(out, call, info, name);
    if (!xml) return not_found(call, name);
    atn_status status = add_shipped(out, call, info, name, xml);
    if (status == ATN_OK && out->n == 0)
        status =
            atn_cli_misuse(call, "no set of shapes is known for '%s'; give its size: --size NAME=ROWSxCOLUMNS", name);
    return status;
}

void atn_cli_work_free(atn_cli_work *w) {
    if (!w->ctx) return;
    atn_free(w->ctx, w->work);
    atn_free(w->ctx, w->labels);
    atn_arena_free(&w->arena);
    *w = (atn_cli_work){0};
}
