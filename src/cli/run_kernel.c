/* attune run: runs a kernel or a program on NPY files. Everything is checked before anything is launched; outputs are
 * written last. */
#include "cli/program.h"

#include "base/clock.h"
#include "device/reports.h"
#include "num/array.h"

#include <string.h>

/* An array of the kernel, or of the program's head. */
typedef struct datum {
    const char *name;
    atn_view view;        /* type and rank; its size once it is known, below 0 before; no elements */
    bool needed, written; /* its elements matter before the run, after it */
    atn_array *array;     /* NULL: not requested */
    const char *output;   /* the file to write, or NULL */
} datum;

typedef struct job {
    atn_cli_kernel kernel;
    atn_device *device;
    atn_plan_given given; /* programs */
    int32_t n;
    datum *data; /* as the runner's objects, or the program's head, whose scalars have rank 0 */
    double seconds;
    atn_text variant, why;
    const char *hit, *note;
} job;

/* ---- arrays ---- */

static atn_status find(const job *j, const char *name, datum **out) {
    const atn_programs *p = j->kernel.programs;
    int32_t k = -1;
    if (p) {
        atn_status status = atn_plan_find_head(j->kernel.call->ctx, p->routines[p->main], name, true, &k);
        if (status) return status;
    } else {
        k = atn_runner_find(j->kernel.runner, name);
    }
    if (k < 0) return ATN_ERR_INPUT;
    *out = &j->data[k];
    return ATN_OK;
}

/* NAME=FILE of an option. */
static atn_status find_given(job *j, const char *option, const char *given, const char **name, const char **file,
                             datum **out) {
    *out = NULL;
    atn_status status = atn_cli_kernel_split(&j->kernel, option, given, name, file);
    return status ? status : find(j, *name, out);
}

static atn_status bind_file(job *j, const char *given) {
    const char *name, *file;
    datum *d;
    atn_status status = find_given(j, "bind", given, &name, &file, &d);
    if (status) return status;
    const atn_ctx *ctx = j->kernel.call->ctx;
    if (d->array) return atn_fail(ctx, ATN_ERR_INPUT, "'%s' is bound twice", name);
    status = atn_array_load(j->device, file, &d->array);
    if (status) return status;
    atn_view *sized = &d->view, found = atn_array_slot(d->array).view;
    if (found.type != sized->type || found.rank != sized->rank)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is a %s of %s%s%s%s; the file holds a %s of %s", file, name,
                        atn_rank_name(sized->rank), atn_type_name(sized->type), j->kernel.assumed ? " (" : "",
                        j->kernel.assumed ? j->kernel.assumed : "", j->kernel.assumed ? " by default)" : "",
                        atn_rank_name(found.rank), atn_type_name(found.type));
    if (sized->size[0] >= 0 && memcmp(sized->size, found.size, (size_t)sized->rank * sizeof *sized->size) != 0) {
        char here[64], wanted[64];
        atn_view_print_shape(&found, here, sizeof here);
        atn_view_print_shape(sized, wanted, sizeof wanted);
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is %s here, but %s by --size", file, name, here, wanted);
    }
    *sized = found;
    return ATN_OK;
}

static atn_status name_output(job *j, const char *given) {
    const char *name, *file;
    datum *d;
    atn_status status = find_given(j, "out", given, &name, &file, &d);
    if (status) return status;
    if (d->output) return atn_fail(j->kernel.call->ctx, ATN_ERR_INPUT, "'%s' is written to two files", name);
    if (!d->written)
        return atn_fail(j->kernel.call->ctx, ATN_ERR_INPUT, "'%s' is only read; there is nothing to write to %s", name,
                        file);
    d->output = file;
    return ATN_OK;
}

static atn_status check_inputs(const job *j) {
    for (const datum *d = j->data; d < j->data + j->n; ++d)
        if (d->needed && !d->array)
            return atn_fail(j->kernel.call->ctx, ATN_ERR_INPUT,
                            "nothing is bound to '%s', a %s of %s: --bind %s=FILE.npy", d->name,
                            atn_rank_name(d->view.rank), atn_type_name(d->view.type), d->name);
    return ATN_OK;
}

/* ---- kernels and programs ---- */

static atn_status list_data(job *j) {
    const atn_programs *p = j->kernel.programs;
    const atn_routine *routine = p ? p->routines[p->main] : NULL;
    atn_status status = p ? atn_cli_program_give(&j->kernel, &j->given) : atn_cli_kernel_bind(&j->kernel);
    if (status) return status;
    int32_t n = p ? routine->n_head : atn_runner_count(j->kernel.runner);
    j->data = atn_arena_alloc(&j->kernel.arena, ((size_t)n + 1) * sizeof *j->data);
    if (!j->data) return ATN_ERR_MEMORY;
    j->n = n;
    for (int32_t k = 0; k < n; ++k) {
        datum *d = &j->data[k];
        if (p) {
            const atn_datum_use *use = &routine->names[k];
            *d = (datum){.name = use->name,
                         .view = {.type = use->type, .rank = use->rank},
                         .needed = use->rank && use->use != ATN_USE_OUT,
                         .written = use->rank && use->use != ATN_USE_IN};
            memcpy(d->view.size, j->given.size[k], sizeof d->view.size);
        } else {
            const atn_shared_object *object = atn_runner_object(j->kernel.runner, k);
            *d = (datum){.name = object->name,
                         .view = object->slot.view,
                         .needed = object->read_first,
                         .written = object->written};
        }
    }
    return ATN_OK;
}

/* Sizes of all objects without a given size. */
static atn_status plan(job *j, bool oracle) {
    atn_cli_kernel *kernel = &j->kernel;
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < j->n; ++k) {
        if (kernel->programs)
            memcpy(j->given.size[k], j->data[k].view.size, sizeof *j->given.size);
        else if (j->data[k].array)
            atn_runner_bind(kernel->runner, k, &(atn_slot){.view = j->data[k].view}); /* its size alone */
    }
    if (!kernel->programs)
        status = atn_runner_plan(kernel->runner);
    else
        status = oracle ? atn_cli_program_expand(kernel, &j->given)
                        : atn_cli_program_plan(kernel, &j->given, atn_device_get_info(j->device));
    for (int32_t k = 0; k < j->n && !status; ++k) {
        atn_slot slot =
            kernel->programs ? atn_planned_slot(kernel->planned, k) : atn_runner_object(kernel->runner, k)->slot;
        if (j->data[k].view.rank) memcpy(j->data[k].view.size, slot.view.size, sizeof slot.view.size);
    }
    return status;
}

static void bind(job *j, int32_t k, const atn_slot *slot) {
    if (j->kernel.programs)
        atn_planned_bind(j->kernel.planned, k, slot);
    else
        atn_runner_bind(j->kernel.runner, k, slot);
}

/* Arrays for the outputs, now that their sizes are known; then all of them where the work is done. */
static atn_status ready_arrays(job *j, bool oracle) {
    for (int32_t k = 0; k < j->n; ++k) {
        atn_status status = ATN_OK;
        datum *d = &j->data[k];
        if (!d->array && d->output) status = atn_array_create_like(j->device, &d->view, &d->array);
        if (status) return status;
        if (!d->array) continue;
        void *data = NULL;
        status = oracle ? atn_array_map_write(d->array, &data) : atn_array_ready_device(d->array, false);
        if (status) return status;
        atn_slot slot = atn_array_slot(d->array);
        slot.view.data = data;
        bind(j, k, &slot);
    }
    return ATN_OK;
}

static atn_status prepare(job *j, bool oracle) {
    atn_cli_call *call = j->kernel.call;
    atn_status status = list_data(j);
    const char *given;
    for (size_t at = 0; !status && (given = atn_cli_next(call, "bind", &at));) status = bind_file(j, given);
    for (size_t at = 0; !status && (given = atn_cli_next(call, "out", &at));) status = name_output(j, given);
    if (!status) status = check_inputs(j);
    if (!status) status = plan(j, oracle);
    return status ? status : ready_arrays(j, oracle);
}

/* ---- running ---- */

static atn_status run_oracle(job *j) {
    atn_cli_kernel *kernel = &j->kernel;
    int64_t bad;
    atn_text_add(&j->variant, "oracle");
    j->hit = "none";
    double start = atn_clock_seconds();
    atn_status status =
        kernel->programs ? atn_planned_eval(kernel->planned, &bad) : atn_runner_eval(kernel->runner, &bad);
    j->seconds = atn_clock_seconds() - start;
    if (status || bad == 0) return status;
    return atn_fail(kernel->call->ctx, ATN_ERR_INPUT,
                    "%s: %lld computed accesses were out of range; nothing is written", kernel->name, (long long)bad);
}

/* Is it the variant of an earlier step? */
static bool is_known(const job *j, int32_t step) {
    const atn_variant *variant = &atn_runner_choice(j->kernel.runner, step)->variant;
    for (int32_t k = 0; k < step; ++k)
        if (memcmp(variant, &atn_runner_choice(j->kernel.runner, k)->variant, sizeof *variant) == 0) return true;
    return false;
}

/* Variants of all steps, of a program each one once; of the hits, that of the step which knows least. */
static void tell_choices(job *j) {
    const atn_cli_kernel *kernel = &j->kernel;
    atn_origin least = ATN_ORIGIN_EXACT;
    if (kernel->programs) atn_plan_print(atn_planned_plan(kernel->planned), &j->why);
    for (int32_t k = 0; k < atn_cli_kernel_steps(kernel); ++k) {
        const atn_choice *choice = atn_runner_choice(kernel->runner, k);
        atn_choice_explain(choice, atn_cli_kernel_step(kernel, k), atn_device_get_info(j->device), &j->why);
        atn_text_add(&j->why, "\n");
        if (choice->origin < least) least = choice->origin;
        if (kernel->programs && is_known(j, k)) continue;
        if (k) atn_text_add(&j->variant, " | ");
        atn_cli_add_variant(&j->variant, &choice->variant);
    }
    j->hit = atn_origin_name(least);
}

static atn_status run_device(job *j) {
    atn_cli_kernel *kernel = &j->kernel;
    atn_cli_call *call = kernel->call;
    atn_variant variant = atn_variant_plain();
    const char *wanted = atn_cli_value(call, "variant");
    const atn_variant *only = wanted ? &variant : NULL;
    atn_status status =
        wanted && strcmp(wanted, "plain") != 0 ? atn_variant_parse(call->ctx, &variant, wanted) : ATN_OK;
    atn_cli_progress(call, "building for %s ...", atn_device_get_info(j->device)->name);
    if (!status)
        status = kernel->programs ? atn_planned_build(kernel->planned, j->device, only, NULL)
                                  : atn_runner_build(kernel->runner, j->device, only, NULL);
    atn_cli_progress_end(call);
    if (!status) status = atn_check_cancel(call->ctx);
    if (status) return status;
    tell_choices(j);
    status = atn_queue_finish(atn_device_queue(j->device));
    double start = atn_clock_seconds();
    if (!status) status = kernel->programs ? atn_planned_run(kernel->planned) : atn_runner_run(kernel->runner);
    if (!status) status = atn_queue_finish(atn_device_queue(j->device));
    j->seconds = atn_clock_seconds() - start;
    if (!status) status = atn_reports_look(j->device, atn_reports_sent(j->device));
    for (const datum *d = j->data; d < j->data + j->n; ++d)
        if (d->array && d->written) atn_array_written_on_device(d->array);
    return status;
}

static atn_status save(job *j) {
    atn_status status = atn_check_cancel(j->kernel.call->ctx);
    for (const datum *d = j->data; d < j->data + j->n && !status; ++d)
        if (d->output) status = atn_array_save(d->array, d->output);
    return status;
}

/* ---- telling ---- */

static json_t *output_json(const atn_ctx *ctx, const datum *d) {
    json_t *row = json_object();
    return atn_cli_json_if(json_object_set_new(row, "name", atn_cli_json_text(ctx, d->name)) == 0 &&
                               json_object_set_new(row, "file", atn_cli_json_text(ctx, d->output)) == 0 &&
                               json_object_set_new(row, "type", json_string(atn_type_name(d->view.type))) == 0 &&
                               json_object_set_new(row, "shape", atn_cli_json_shape(&d->view)) == 0,
                           row);
}

static atn_status print_json(const job *j) {
    atn_cli_call *call = j->kernel.call;
    json_t *root = json_object(), *outputs = json_array();
    bool whole = true;
    for (const datum *d = j->data; d < j->data + j->n; ++d)
        if (d->output) whole = json_array_append_new(outputs, output_json(call->ctx, d)) == 0 && whole;
    whole = json_object_set_new(root, "outputs", outputs) == 0 && whole;
    whole = json_object_set_new(root, "seconds", json_real(j->seconds)) == 0 && whole;
    whole =
        json_object_set_new(root, "device", atn_cli_json_text(call->ctx, atn_device_get_info(j->device)->name)) == 0 &&
        whole;
    whole = json_object_set_new(root, "variant", atn_cli_json_text(call->ctx, atn_text_str(&j->variant))) == 0 && whole;
    whole = json_object_set_new(root, "hit", json_string(j->hit)) == 0 && whole;
    if (j->kernel.assumed) whole = json_object_set_new(root, "assumed", json_string(j->kernel.assumed)) == 0 && whole;
    if (j->kernel.programs)
        whole = json_object_set_new(root, "note", j->note ? atn_cli_json_text(call->ctx, j->note) : json_null()) == 0 &&
                whole;
    if (whole && atn_cli_has(call, "explain"))
        whole = json_object_set_new(root, "explanation", atn_cli_json_text(call->ctx, atn_text_str(&j->why))) == 0;
    if (whole) return atn_cli_print_json(call, root);
    json_decref(root);
    return atn_cli_print_json(call, NULL);
}

static atn_status print_text(const job *j) {
    atn_cli_call *call = j->kernel.call;
    atn_text page = {.ctx = call->ctx};
    for (const datum *d = j->data; d < j->data + j->n; ++d) {
        if (!d->output) continue;
        char shape[64];
        atn_view_print_shape(&d->view, shape, sizeof shape);
        atn_text_printf(&page, "%s  %s %s  %s\n", d->name, atn_type_name(d->view.type), shape, d->output);
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
    for (datum *d = j->data; d < j->data + j->n; ++d) atn_array_free(d->array);
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
    if (!status && j.kernel.programs) j.note = atn_planned_note(j.kernel.planned);
    if (!status) status = save(&j);
    if (!status && j.note) fprintf(call->err, "attune run: %s\n", j.note);
    if (!status) status = atn_text_status(&j.variant);
    if (!status) status = atn_text_status(&j.why);
    if (!status) status = call->json ? print_json(&j) : print_text(&j);
    end(&j);
    return status;
}

const atn_cli_verb ATN_VERB_RUN = {
    .name = "run",
    .summary = "run a kernel or program on NPY files",
    .synopsis = "KERNEL|PROGRAM",
    .paragraphs =
        (const char *const[]){
            "Binds files to the objects of the description, runs it once on the device and writes the objects of "
            "--out. Sizes come from the files, from --size, or from what the kernel writes. An array of the wrong type "
            "or shape is refused before anything is launched. A Sequence runs step by step; objects passed only "
            "between its steps need no file. KERNEL is a file in either form, - for standard input, or the name of a "
            "shipped kernel: add, gemm and others.",
            "JSON: outputs (name, file, type, shape), seconds (of the run alone), device, variant, hit (where the "
            "variant comes from: exact, near shape, near device or shipped, if it was tuned; estimate; plain, where "
            "the compiler fails on the estimate; compiled in, where there is no compiler that works; given, with "
            "--variant; none for the oracle; of several steps the least), assumed (USED_FLOAT=SP, where the "
            "description needs it and --define does not say), of a program note (null, or that a loop took all the "
            "rounds it may, or met a value that is not a number; on standard error as well), and with --explain "
            "explanation.",
            NULL},
    .options =
        (const atn_cli_option[]){
            ATN_OPTION("bind", "NAME=FILE", "the elements of an object, an NPY file", .repeats = true),
            ATN_OPTION("out", "NAME=FILE", "write an object to an NPY file", .repeats = true),
            ATN_CLI_KERNEL_OPTIONS,
            ATN_OPTION("variant", "KNOBS", "how it is computed: k=v,k=v, the rest as in the plain variant"),
            ATN_FLAG("explain", "say where the variant comes from and how fast it was when it was measured"),
            ATN_FLAG("oracle", "interpret it instead, slowly and in double"),
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
