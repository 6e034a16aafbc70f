/* Kernel descriptions on the command line, and their arguments. */
#include "cli/kernel.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "device/backend.h"
#include "graph/shipped.h"
#include "tune/case.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BYTES = 64 << 20 };

atn_status atn_cli_kernel_split(atn_cli_kernel *k, const char *option, const char *given, const char **name,
                                const char **value) {
    const char *equals = strchr(given, '=');
    *name = *value = NULL;
    if (!equals || equals == given || !equals[1])
        return atn_cli_misuse(k->call, "--%s cannot be '%s'; it takes NAME=VALUE", option, given);
    *name = atn_arena_strndup(&k->arena, given, (size_t)(equals - given));
    if (!*name) return ATN_ERR_MEMORY;
    *value = equals + 1;
    return ATN_OK;
}

static size_t count_given(const atn_cli_call *call, const char *option) {
    size_t count = 0;
    for (size_t at = 0; atn_cli_next(call, option, &at);) ++count;
    return count;
}

static const char USED_FLOAT[] = "USED_FLOAT", DEFAULT[] = "SP", BOTH[] = "USED_FLOAT=SP";

const char *atn_cli_default_define(const atn_cli_call *call) {
    const char *given;
    size_t length = strlen(USED_FLOAT);
    for (size_t at = 0; (given = atn_cli_next(call, "define", &at));)
        if (strncmp(given, USED_FLOAT, length) == 0 && given[length] == '=') return NULL;
    return BOTH;
}

static atn_status read_defines(atn_cli_kernel *k, atn_parse_options *options) {
    size_t count = count_given(k->call, "define"), n = 0;
    atn_define *defines = atn_arena_alloc(&k->arena, (count + 2) * sizeof *defines);
    if (!defines) return ATN_ERR_MEMORY;
    const char *given;
    for (size_t at = 0; (given = atn_cli_next(k->call, "define", &at)); ++n) {
        atn_status status = atn_cli_kernel_split(k, "define", given, &defines[n].name, &defines[n].value);
        if (status) return status;
    }
    if (k->assumed) defines[n++] = (atn_define){USED_FLOAT, DEFAULT};
    options->defines = defines;
    options->n_defines = n;
    return ATN_OK;
}

static atn_status not_found(const atn_cli_kernel *k) {
    atn_text names = {.ctx = k->call->ctx};
    for (const atn_embedded *s = ATN_SHIPPED; s->name; ++s)
        atn_text_printf(&names, "%s%s", names.length ? ", " : "", s->name);
    atn_status status =
        atn_fail(k->call->ctx, ATN_ERR_IO, "%s: no such file or shipped kernel: %s", k->name, atn_text_str(&names));
    atn_text_free(&names);
    return status;
}

atn_status atn_cli_kernel_open(atn_cli_call *call, bool strict, atn_diagnostics *diagnostics, atn_cli_kernel *out) {
    *out = (atn_cli_kernel){
        .call = call, .arena = {.ctx = call->ctx}, .name = call->operands[0], .printed = {.ctx = call->ctx}};
    const char *as = atn_cli_value(call, "as");
    if (as) out->form = strcmp(as, "xml") == 0 ? ATN_FORM_XML : ATN_FORM_NOTATION;
    atn_parse_options options = {.strict = strict};
    char *file = NULL;
    size_t length = 0;
    bool is_input = strcmp(out->name, "-") == 0, is_file = !is_input && access(out->name, F_OK) == 0;
    const char *text = is_file || is_input ? NULL : atn_shipped_find(out->name);
    if (!is_file && !is_input && !text) return not_found(out);
    atn_status status = ATN_OK;
    if (is_input) {
        out->name = "stdin";
        status = atn_file_read_stream(call->ctx, STDIN_FILENO, out->name, MOST_BYTES, &file, &length);
        text = file;
    } else if (is_file) {
        status = atn_file_read(call->ctx, out->name, MOST_BYTES, &file, &length);
        text = file;
    } else {
        length = strlen(text);
    }
    if (!status && atn_description_needs_float(text, length)) out->assumed = atn_cli_default_define(call);
    if (!status) status = read_defines(out, &options);
    bool program = !status && (atn_cli_has(call, "plan") || atn_description_is_program(text, length));
    if (program && !atn_cli_has(call, "plan")) { /* one whose steps are one kernel is that kernel */
        status = atn_sequence_parse(call->ctx, out->name, text, length, &options, NULL, &out->sequence);
        program = status != ATN_OK;
        if (status == ATN_ERR_INPUT || status == ATN_ERR_UNSUPPORTED) status = ATN_OK;
    } else if (!status && !program) {
        status = atn_sequence_parse(call->ctx, out->name, text, length, &options, diagnostics, &out->sequence);
    }
    if (!status && program)
        status = atn_programs_parse(call->ctx, out->name, text, length, &options, diagnostics, &out->programs);
    if (!status && out->form && !program)
        status = atn_description_print(call->ctx, out->name, text, length, &options, out->form, &out->printed);
    atn_free(call->ctx, file);
    return status;
}

void atn_cli_kernel_close(atn_cli_kernel *k) {
    if (!k->planned) atn_runner_free(k->runner);
    atn_planned_free(k->planned);
    atn_programs_free(k->programs);
    atn_sequence_free(k->sequence);
    atn_text_free(&k->printed);
    atn_arena_free(&k->arena);
}

int32_t atn_cli_kernel_steps(const atn_cli_kernel *k) {
    return k->sequence ? k->sequence->count : atn_runner_steps(k->runner);
}

const atn_graph *atn_cli_kernel_step(const atn_cli_kernel *k, int32_t number) {
    return k->sequence ? k->sequence->step[number] : atn_runner_graph(k->runner, number);
}

/* ---- --param, --size ---- */

/* "2.5", "1.5-2i", "3i"; false: no number. */
static bool read_number(const char *text, double value[2]) {
    char *end;
    value[0] = atn_number_read(text, &end);
    value[1] = 0;
    if (end == text || isspace((unsigned char)*text)) return false;
    if (strcmp(end, "i") == 0) {
        value[1] = value[0];
        value[0] = 0;
        return true;
    }
    if (*end == '\0') return true;
    if (*end != '+' && *end != '-') return false;
    const char *second = end;
    value[1] = atn_number_read(second, &end);
    return end != second && strcmp(end, "i") == 0;
}

atn_status atn_cli_kernel_param(atn_cli_kernel *k, const char *given, const char **name, double value[2]) {
    const char *text;
    atn_status status = atn_cli_kernel_split(k, "param", given, name, &text);
    if (!text) return status;
    if (read_number(text, value)) return ATN_OK;
    return atn_cli_misuse(k->call, "--param %s: '%s' is not a number", *name, text);
}

static atn_status give_params(atn_cli_kernel *k) {
    size_t count = count_given(k->call, "param"), n = 0;
    atn_param_value *params = atn_arena_alloc(&k->arena, (count + 1) * sizeof *params);
    if (!params) return ATN_ERR_MEMORY;
    const char *given;
    for (size_t at = 0; (given = atn_cli_next(k->call, "param", &at)); ++n) {
        atn_status status = atn_cli_kernel_param(k, given, &params[n].name, params[n].value);
        if (status) return status;
    }
    return atn_runner_give(k->runner, params, n);
}

atn_status atn_cli_kernel_extent(atn_cli_kernel *k, const char *given, int32_t rank, int64_t size[ATN_MAX_RANK]) {
    const char *name, *text;
    atn_status status = atn_cli_kernel_split(k, "size", given, &name, &text);
    if (!text || atn_size_read(text, rank, size)) return status;
    return atn_cli_misuse(k->call, "--size cannot be '%s'; '%s' is a %s and takes %s=%s", given, name,
                          atn_rank_name(rank), name, atn_rank_sizes(rank));
}

static atn_status give_size(atn_cli_kernel *k, const char *given) {
    const char *name, *text;
    atn_status status = atn_cli_kernel_split(k, "size", given, &name, &text);
    if (!text) return status;
    int32_t object = atn_runner_find(k->runner, name);
    if (object < 0) return ATN_ERR_INPUT;
    int64_t size[ATN_MAX_RANK];
    status = atn_cli_kernel_extent(k, given, atn_runner_object(k->runner, object)->slot.view.rank, size);
    if (!status) atn_runner_size(k->runner, object, size);
    return status;
}

atn_status atn_cli_kernel_bind(atn_cli_kernel *k) {
    atn_status status = atn_runner_create(k->call->ctx, k->sequence, &k->runner);
    if (!status) status = give_params(k);
    const char *given;
    for (size_t at = 0; !status && (given = atn_cli_next(k->call, "size", &at));) status = give_size(k, given);
    return status;
}

static atn_status reach_step(atn_cli_kernel *k, int32_t step) {
    const atn_graph *graph = atn_runner_graph(k->runner, step);
    atn_view *views = atn_arena_alloc(&k->arena, ((size_t)graph->n_objects + 1) * sizeof *views);
    if (!views) return ATN_ERR_MEMORY;
    for (int32_t o = 0; o < graph->n_objects; ++o) {
        const atn_object *object = &graph->objects[o];
        views[o] = (atn_view){.type = object->type, .rank = object->rank};
        const int64_t *size = object->table_size;
        if (!object->table)
            size = atn_runner_object(k->runner, atn_runner_find(k->runner, object->name))->slot.view.size;
        memcpy(views[o].size, size, sizeof views[o].size);
    }
    atn_status status = atn_sizes_reach(k->call->ctx, graph, atn_runner_frame(k->runner, step).params, views);
    for (int32_t o = 0; o < graph->n_objects && !status; ++o)
        if (!graph->objects[o].table)
            atn_runner_size(k->runner, atn_runner_find(k->runner, graph->objects[o].name), views[o].size);
    return status;
}

atn_status atn_cli_kernel_plan(atn_cli_kernel *k) {
    atn_status status = ATN_OK;
    for (int32_t step = 0; step < atn_runner_steps(k->runner) && !status; ++step) status = reach_step(k, step);
    return status ? status : atn_runner_plan(k->runner);
}

/* ---- small things ---- */

atn_status atn_cli_find_devices(atn_cli_call *call, atn_devices **devices, int32_t *first, int32_t *count) {
    const char *wanted = atn_cli_value(call, "device");
    *first = *count = 0;
    atn_status status = atn_devices_find(call->ctx, devices);
    if (status) return status;
    *count = wanted ? 1 : atn_devices_count(*devices);
    return wanted ? atn_devices_pick(*devices, wanted, first) : ATN_OK;
}

atn_status atn_cli_pick_device(atn_cli_call *call, atn_devices **devices, int32_t *index) {
    atn_status status = atn_devices_find(call->ctx, devices);
    if (status) return status;
    status = atn_devices_pick(*devices, atn_cli_value(call, "device"), index);
    if (status) {
        atn_devices_free(*devices);
        *devices = NULL;
    }
    return status;
}

atn_status atn_cli_open_devices(atn_cli_call *call, atn_device *out[ATN_MOST_DEVICES], int32_t *count) {
    atn_devices *devices = NULL;
    int32_t index[ATN_MOST_DEVICES], wanted = 0;
    *count = 0;
    const char *name = atn_cli_value(call, "device");
    const atn_backend *only = name ? atn_backend_find(name) : NULL; /* a backend is named, not a device */
    atn_status status = atn_devices_find_of(call->ctx, only, &devices);
    if (!status && only && atn_devices_count(devices) == 0) { /* what there is instead is said */
        atn_devices_free(devices);
        status = atn_devices_find(call->ctx, &devices);
    }
    if (!status) status = atn_devices_pick_several(devices, name, index, &wanted);
    for (; *count < wanted && !status; *count += !status)
        status = atn_device_open(devices, index[*count], &out[*count]);
    atn_devices_free(devices);
    return status;
}

void atn_cli_add_variant(atn_text *to, const atn_variant *variant) {
    size_t before = to->length;
    atn_variant_print(variant, to);
    if (to->length == before) atn_text_add(to, "plain");
}

json_t *atn_cli_json_shape(const atn_view *view) {
    json_t *shape = json_array();
    bool whole = shape != NULL;
    for (int32_t axis = view->rank; axis-- > 0 && whole;)
        whole = json_array_append_new(shape, json_integer(view->size[axis])) == 0;
    return atn_cli_json_if(whole, shape);
}
