/* attune run: a described kernel on NPY files. All is checked before anything is launched; outputs are written last. */
#include "cli/kernel.h"

#include "base/clock.h"
#include "base/memory.h"
#include "num/array.h"

#include <string.h>

/* One run. Arrays are by object of the runner; NULL where the runner keeps its own. */
typedef struct job {
    atn_cli_kernel kernel;
    atn_device *device;
    atn_array **arrays;
    const char **outputs; /* files to write, by object */
    double seconds;
    atn_text variant, why;
    const char *hit;
} job;

/* ---- arrays ---- */

static atn_status bind_file(job *j, const char *given) {
    const char *name, *file;
    atn_status status = atn_cli_kernel_split(&j->kernel, "bind", given, &name, &file);
    if (status) return status;
    const atn_ctx *ctx = j->kernel.call->ctx;
    int32_t k = atn_runner_find(j->kernel.runner, name);
    if (k < 0) return ATN_ERR_INPUT;
    if (j->arrays[k]) return atn_fail(ctx, ATN_ERR_INPUT, "'%s' is bound twice", name);
    status = atn_array_load(j->device, file, &j->arrays[k]);
    if (status) return status;
    atn_view sized = atn_runner_object(j->kernel.runner, k)->slot.view;
    atn_slot slot = atn_array_slot(j->arrays[k]);
    if (slot.view.type != sized.type || slot.view.rank != sized.rank)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is a %s of %s%s%s%s; the file holds a %s of %s", file, name,
                        atn_rank_name(sized.rank), atn_type_name(sized.type), j->kernel.assumed ? " (" : "",
                        j->kernel.assumed ? j->kernel.assumed : "", j->kernel.assumed ? " by default)" : "",
                        atn_rank_name(slot.view.rank), atn_type_name(slot.view.type));
    if (sized.size[0] >= 0 && memcmp(sized.size, slot.view.size, (size_t)sized.rank * sizeof *sized.size) != 0) {
        char here[64], wanted[64];
        atn_view_print_shape(&slot.view, here, sizeof here);
        atn_view_print_shape(&sized, wanted, sizeof wanted);
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is %s here, but %s by --size", file, name, here, wanted);
    }
    atn_runner_bind(j->kernel.runner, k, &slot); /* its size; the elements follow */
    return ATN_OK;
}

static atn_status name_output(job *j, const char *given) {
    const char *name, *file;
    atn_status status = atn_cli_kernel_split(&j->kernel, "out", given, &name, &file);
    if (status) return status;
    int32_t k = atn_runner_find(j->kernel.runner, name);
    if (k < 0) return ATN_ERR_INPUT;
    if (j->outputs[k]) return atn_fail(j->kernel.call->ctx, ATN_ERR_INPUT, "'%s' is written to two files", name);
    if (!atn_runner_object(j->kernel.runner, k)->written)
        return atn_fail(j->kernel.call->ctx, ATN_ERR_INPUT, "'%s' is only read; there is nothing to write to %s", name,
                        file);
    j->outputs[k] = file;
    return ATN_OK;
}

static atn_status check_inputs(const job *j) {
    for (int32_t k = 0; k < atn_runner_count(j->kernel.runner); ++k) {
        const atn_shared_object *object = atn_runner_object(j->kernel.runner, k);
        if (object->read_first && !j->arrays[k])
            return atn_fail(j->kernel.call->ctx, ATN_ERR_INPUT,
                            "nothing is bound to '%s', a %s of %s: --bind %s=FILE.npy", object->name,
                            atn_rank_name(object->slot.view.rank), atn_type_name(object->slot.view.type), object->name);
    }
    return ATN_OK;
}

/* Arrays for the outputs, now that their sizes are known; then all of them where the work is done. */
static atn_status ready_arrays(job *j, bool oracle) {
    for (int32_t k = 0; k < atn_runner_count(j->kernel.runner); ++k) {
        atn_status status = ATN_OK;
        const atn_view *view = &atn_runner_object(j->kernel.runner, k)->slot.view;
        if (!j->arrays[k] && j->outputs[k]) status = atn_array_create_like(j->device, view, &j->arrays[k]);
        if (status) return status;
        if (!j->arrays[k]) continue;
        void *data = NULL;
        status = oracle ? atn_array_map_write(j->arrays[k], &data) : atn_array_ready_device(j->arrays[k], false);
        if (status) return status;
        atn_slot slot = atn_array_slot(j->arrays[k]);
        slot.view.data = data;
        atn_runner_bind(j->kernel.runner, k, &slot);
    }
    return ATN_OK;
}

static atn_status prepare(job *j, bool oracle) {
    atn_cli_call *call = j->kernel.call;
    atn_status status = atn_cli_kernel_bind(&j->kernel);
    if (status) return status;
    size_t objects = (size_t)atn_runner_count(j->kernel.runner) + 1;
    j->arrays = atn_zalloc(call->ctx, objects * sizeof *j->arrays);
    j->outputs = atn_zalloc(call->ctx, objects * sizeof *j->outputs);
    if (!j->arrays || !j->outputs) return ATN_ERR_MEMORY;
    const char *given;
    for (size_t at = 0; !status && (given = atn_cli_next(call, "bind", &at));) status = bind_file(j, given);
    for (size_t at = 0; !status && (given = atn_cli_next(call, "out", &at));) status = name_output(j, given);
    if (!status) status = check_inputs(j);
    if (!status) status = atn_runner_plan(j->kernel.runner);
    return status ? status : ready_arrays(j, oracle);
}

/* ---- running ---- */

static atn_status run_oracle(job *j) {
    int64_t bad;
    atn_text_add(&j->variant, "oracle");
    j->hit = "none";
    double start = atn_clock_seconds();
    atn_status status = atn_runner_eval(j->kernel.runner, &bad);
    j->seconds = atn_clock_seconds() - start;
    if (status || bad == 0) return status;
    return atn_fail(j->kernel.call->ctx, ATN_ERR_INPUT,
                    "%s: %lld computed accesses were out of range; nothing is written", j->kernel.name, (long long)bad);
}

/* Variants of all steps; of the hits, that of the step which knows least. */
static void tell_choices(job *j) {
    atn_origin least = ATN_ORIGIN_EXACT;
    for (int32_t k = 0; k < j->kernel.sequence->count; ++k) {
        const atn_choice *choice = atn_runner_choice(j->kernel.runner, k);
        if (k) atn_text_add(&j->variant, " | ");
        atn_cli_add_variant(&j->variant, &choice->variant);
        atn_choice_explain(choice, j->kernel.sequence->step[k], atn_device_get_info(j->device), &j->why);
        atn_text_add(&j->why, "\n");
        if (choice->origin < least) least = choice->origin;
    }
    j->hit = atn_origin_name(least);
}

static atn_status run_device(job *j) {
    atn_cli_call *call = j->kernel.call;
    atn_runner *runner = j->kernel.runner;
    atn_variant variant = atn_variant_plain();
    const char *wanted = atn_cli_value(call, "variant");
    atn_status status =
        wanted && strcmp(wanted, "plain") != 0 ? atn_variant_parse(call->ctx, &variant, wanted) : ATN_OK;
    atn_cli_progress(call, "building for %s ...", atn_device_get_info(j->device)->name);
    if (!status) status = atn_runner_build(runner, j->device, wanted ? &variant : NULL, NULL);
    atn_cli_progress_end(call);
    if (!status) status = atn_check_cancel(call->ctx);
    if (status) return status;
    tell_choices(j);
    status = atn_queue_finish(atn_device_queue(j->device));
    double start = atn_clock_seconds();
    if (!status) status = atn_runner_run(runner);
    if (!status) status = atn_queue_finish(atn_device_queue(j->device));
    j->seconds = atn_clock_seconds() - start;
    for (int32_t k = 0; k < atn_runner_count(runner); ++k)
        if (j->arrays[k] && atn_runner_object(runner, k)->written) atn_array_written_on_device(j->arrays[k]);
    return status;
}

static atn_status save(job *j) {
    atn_status status = atn_check_cancel(j->kernel.call->ctx);
    for (int32_t k = 0; k < atn_runner_count(j->kernel.runner) && !status; ++k)
        if (j->outputs[k]) status = atn_array_save(j->arrays[k], j->outputs[k]);
    return status;
}

/* ---- telling ---- */

static json_t *output_json(const atn_ctx *ctx, const job *j, int32_t k) {
    const atn_shared_object *object = atn_runner_object(j->kernel.runner, k);
    json_t *row = json_object();
    if (json_object_set_new(row, "name", atn_cli_json_text(ctx, object->name)) == 0 &&
        json_object_set_new(row, "file", atn_cli_json_text(ctx, j->outputs[k])) == 0 &&
        json_object_set_new(row, "type", json_string(atn_type_name(object->slot.view.type))) == 0 &&
        json_object_set_new(row, "shape", atn_cli_json_shape(&object->slot.view)) == 0)
        return row;
    json_decref(row);
    return NULL;
}

static atn_status print_json(const job *j) {
    atn_cli_call *call = j->kernel.call;
    json_t *root = json_object(), *outputs = json_array();
    bool whole = true;
    for (int32_t k = 0; k < atn_runner_count(j->kernel.runner); ++k)
        if (j->outputs[k]) whole = json_array_append_new(outputs, output_json(call->ctx, j, k)) == 0 && whole;
    whole = json_object_set_new(root, "outputs", outputs) == 0 && whole;
    whole = json_object_set_new(root, "seconds", json_real(j->seconds)) == 0 && whole;
    whole =
        json_object_set_new(root, "device", atn_cli_json_text(call->ctx, atn_device_get_info(j->device)->name)) == 0 &&
        whole;
    whole = json_object_set_new(root, "variant", atn_cli_json_text(call->ctx, atn_text_str(&j->variant))) == 0 && whole;
    whole = json_object_set_new(root, "hit", json_string(j->hit)) == 0 && whole;
    if (j->kernel.assumed) whole = json_object_set_new(root, "assumed", json_string(j->kernel.assumed)) == 0 && whole;
    if (whole && atn_cli_has(call, "explain"))
        whole = json_object_set_new(root, "explanation", atn_cli_json_text(call->ctx, atn_text_str(&j->why))) == 0;
    if (whole) return atn_cli_print_json(call, root);
    json_decref(root);
    return atn_cli_print_json(call, NULL);
}

static atn_status print_text(const job *j) {
    atn_cli_call *call = j->kernel.call;
    atn_text page = {.ctx = call->ctx};
    for (int32_t k = 0; k < atn_runner_count(j->kernel.runner); ++k) {
        const atn_shared_object *object = atn_runner_object(j->kernel.runner, k);
        const atn_view *view = &object->slot.view;
        if (!j->outputs[k]) continue;
        char shape[64];
        atn_view_print_shape(view, shape, sizeof shape);
        atn_text_printf(&page, "%s  %s %s  %s\n", object->name, atn_type_name(view->type), shape, j->outputs[k]);
    }
    atn_text_printf(&page, "%.3g s on %s, variant %s (%s)\n", j->seconds, atn_device_get_info(j->device)->name,
                    atn_text_str(&j->variant), j->hit);
    if (j->kernel.assumed) atn_text_printf(&page, "%s by default\n", j->kernel.assumed);
    if (atn_cli_has(call, "explain")) atn_text_add(&page, atn_text_str(&j->why));
    atn_status status = atn_cli_print_text(call, "run", &page);
    atn_text_free(&page);
    return status;
}

static void end(job *j) {
    const atn_ctx *ctx = j->kernel.call->ctx;
    int32_t objects = j->kernel.runner ? atn_runner_count(j->kernel.runner) : 0;
    for (int32_t k = 0; k < objects && j->arrays; ++k) atn_array_free(j->arrays[k]);
    atn_free(ctx, j->arrays);
    atn_free(ctx, (void *)j->outputs);
    atn_text_free(&j->variant);
    atn_text_free(&j->why);
    atn_cli_kernel_close(&j->kernel);
    atn_device_close(j->device);
}

static atn_status run(atn_cli_call *call) {
    job j = {.variant = {.ctx = call->ctx}, .why = {.ctx = call->ctx}};
    bool oracle = atn_cli_has(call, "oracle");
    atn_devices *devices = NULL;
    int32_t index = 0;
    atn_status status = atn_cli_kernel_open(call, false, NULL, &j.kernel);
    if (!status) status = oracle ? atn_devices_find(call->ctx, &devices) : atn_cli_pick_device(call, &devices, &index);
    if (!status) status = atn_device_open(devices, index, &j.device); /* the oracle's: the host */
    atn_devices_free(devices);
    if (!status) status = prepare(&j, oracle);
    if (!status) status = oracle ? run_oracle(&j) : run_device(&j);
    if (!status) status = save(&j);
    if (!status) status = atn_text_status(&j.variant);
    if (!status) status = atn_text_status(&j.why);
    if (!status) status = call->json ? print_json(&j) : print_text(&j);
    end(&j);
    return status;
}

const atn_cli_verb ATN_VERB_RUN = {
    .name = "run",
    .summary = "run a described kernel on NPY files",
    .synopsis = "KERNEL",
    .paragraphs =
        (const char *const[]){
            "Binds files to the objects of the description, runs it once on the device and writes what --out names. "
            "Sizes come from the files, from --size, or from how far the kernel writes. An array of the wrong type or "
            "shape is refused before anything is launched. A Sequence runs step by step; what only its steps share "
            "needs no file. KERNEL is a file in either form, - for standard input, or the name of a kernel that is "
            "shipped: add, gemm and others.",
            "JSON: outputs (name, file, type, shape), seconds (of the run alone), device, variant, hit (where the "
            "variant comes from: exact, near shape, near device or shipped, if it was tuned; estimate; plain, where "
            "the compiler fails on the estimate; compiled in, where there is no compiler that works; given, with "
            "--variant; none for the oracle; of several steps the least), "
            "assumed (USED_FLOAT=SP, where the description needs it and --define does not say), and with --explain "
            "explanation.",
            NULL},
    .options =
        (const atn_cli_option[]){
            {.name = "bind",
             .value = "NAME=FILE",
             .meaning = "the elements of an object, an NPY file",
             .repeats = true},
            {.name = "out", .value = "NAME=FILE", .meaning = "write an object to an NPY file", .repeats = true},
            ATN_CLI_KERNEL_OPTIONS,
            {.name = "variant",
             .value = "KNOBS",
             .meaning = "how it is computed: k=v,k=v, the rest as in the plain variant"},
            {.name = "explain", .meaning = "say where the variant comes from and how fast it was when it was measured"},
            {.name = "oracle", .meaning = "interpret it instead, slowly and in double"},
            {0}},
    .examples =
        (const atn_cli_pair[]){
            {"attune run mv.xml --define USED_FLOAT=SP --bind A=A.npy --bind b=b.npy --out c=c.npy",
             "a matrix times a vector"},
            {"attune run scale --define USED_FLOAT=DP --param factor=2.5 --bind A=A.npy --out B=B.npy",
             "a shipped kernel with a parameter"},
            {0}},
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
