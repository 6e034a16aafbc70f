/* attune show: the generated source of a description, its intermediate passes, and the plan of a program. */
#include "cli/program.h"

#include "render/dialect.h"

#include <string.h>

/* What a dialect is estimated for when no device is named: the same text everywhere. */
static const struct {
    const char *dialect;
    atn_device_info info;
} TYPICAL[] = {
    {"c", {.backend = "host", .cores = 8, .simd = 8, .max_group = 1, .local_bytes = 32 << 10, .fp64 = true}},
    {"opencl", {.backend = "opencl", .cores = 32, .simd = 8, .max_group = 256, .local_bytes = 32 << 10, .fp64 = true}},
    {"cuda",
     {.backend = "cuda",
      .arch = "sm_90",
      .cores = 128,
      .simd = 32,
      .max_group = 1024,
      .local_bytes = 227 << 10,
      .fp64 = true}},
};

static atn_status choose(atn_cli_call *call, atn_device_info *info) {
    const char *dialect = atn_cli_value(call, "dialect");
    if (dialect && !atn_cli_has(call, "device")) {
        for (size_t k = 0; k < sizeof TYPICAL / sizeof *TYPICAL; ++k)
            if (strcmp(TYPICAL[k].dialect, dialect) == 0) *info = TYPICAL[k].info;
        return ATN_OK;
    }
    atn_devices *devices;
    int32_t index;
    atn_status status = atn_cli_pick_device(call, &devices, &index);
    if (status) return status;
    *info = *atn_devices_info(devices, index);
    atn_devices_free(devices);
    if (!dialect || atn_dialect_find(dialect) == atn_dialect_find(info->backend)) return ATN_OK;
    return atn_cli_misuse(call, "--dialect %s is not what '%s' compiles; that is %s", dialect, info->name,
                          atn_dialect_find(info->backend)->name);
}

typedef struct passes {
    atn_text variant, why, graph, program, source;
    const char *hit;
} passes;

static void free_passes(passes *p) {
    atn_text_free(&p->variant);
    atn_text_free(&p->why);
    atn_text_free(&p->graph);
    atn_text_free(&p->program);
    atn_text_free(&p->source);
}

/* As --variant says, else what would run: with sizes, as they decide; for a dialect without a device, an estimate. */
static atn_status choose_step(const atn_cli_kernel *k, int32_t number, const atn_device_info *info, atn_choice *out) {
    const atn_ctx *ctx = k->call->ctx;
    const char *wanted = atn_cli_value(k->call, "variant");
    const atn_graph *graph = atn_cli_kernel_step(k, number);
    if (!wanted && *info->name)
        return k->runner ? atn_runner_choose(k->runner, number, info, NULL, out)
                         : atn_choose(ctx, graph, info, NULL, NULL, out);
    atn_bindings frame;
    if (!wanted && k->runner) frame = atn_runner_frame(k->runner, number);
    if (!wanted) return atn_choose_estimate(ctx, graph, info, k->runner ? &frame : NULL, out);
    *out = (atn_choice){.ctx = ctx, .variant = atn_variant_plain(), .origin = ATN_ORIGIN_GIVEN};
    return strcmp(wanted, "plain") == 0 ? ATN_OK : atn_variant_parse(ctx, &out->variant, wanted);
}

static atn_status make_step(atn_cli_kernel *k, int32_t number, const atn_device_info *info, passes *out) {
    const atn_ctx *ctx = k->call->ctx;
    const atn_graph *graph = atn_cli_kernel_step(k, number);
    atn_target target = atn_target_of(info);
    atn_choice choice;
    *out = (passes){{.ctx = ctx}, {.ctx = ctx}, {.ctx = ctx}, {.ctx = ctx}, {.ctx = ctx}, "none"};
    atn_status status = choose_step(k, number, info, &choice);
    if (status) return status;
    atn_variant variant = choice.variant;
    out->hit = atn_origin_name(choice.origin);
    atn_choice_explain(&choice, graph, info, &out->why);
    atn_choice_free(&choice);
    atn_cli_add_variant(&out->variant, &variant);
    if (!status && atn_cli_has(k->call, "passes")) {
        atn_lowered *program;
        atn_graph_print(graph, &out->graph);
        status = atn_lower(ctx, graph, &variant, &target, &program);
        if (status) return status;
        status = atn_lower_print_passes(ctx, graph, &variant, &target, &out->program);
        atn_text_add(&out->program, "# program\n");
        atn_lowered_print(program, &out->program);
        atn_lowered_free(program);
    }
    if (!status) status = atn_built_source(ctx, graph, &variant, info->backend, &target, &out->source);
    if (!status &&
        (out->variant.failed || out->why.failed || out->graph.failed || out->program.failed || out->source.failed))
        status = atn_fail(ctx, ATN_ERR_MEMORY, "out of memory: the source could not be shown");
    return status;
}

static bool add_text(const atn_ctx *ctx, json_t *object, const char *key, const atn_text *text) {
    return json_object_set_new(object, key, atn_cli_json_text(ctx, atn_text_str(text))) == 0;
}

static json_t *step_json(const atn_ctx *ctx, const char *name, const passes *p, bool all) {
    json_t *object = json_object();
    return atn_cli_json_if(
        json_object_set_new(object, "kernel", atn_cli_json_text(ctx, name)) == 0 &&
            add_text(ctx, object, "variant", &p->variant) &&
            json_object_set_new(object, "hit", json_string(p->hit)) == 0 &&
            add_text(ctx, object, "explanation", &p->why) &&
            (!all || (add_text(ctx, object, "graph", &p->graph) && add_text(ctx, object, "program", &p->program))) &&
            add_text(ctx, object, "source", &p->source),
        object);
}

static void add_page(atn_text *page, const char *name, const passes *p, bool all, bool many) {
    if (page->length) atn_text_add(page, "\n");
    if (many) atn_text_printf(page, "/* ======== %s ======== */\n", name);
    if (all)
        atn_text_printf(page, "==== graph ====\n%s\n==== program (%s) ====\n%s\n==== source ====\n",
                        atn_text_str(&p->graph), atn_text_str(&p->variant), atn_text_str(&p->program));
    atn_text_printf(page, "/* %s */\n", atn_text_str(&p->why));
    atn_text_add_bytes(page, atn_text_str(&p->source), p->source.length);
}

static atn_status show(atn_cli_kernel *k, const atn_device_info *info) {
    atn_cli_call *call = k->call;
    int32_t count = atn_cli_kernel_steps(k);
    bool all = atn_cli_has(call, "passes"), many = count > 1;
    atn_text page = {.ctx = call->ctx};
    json_t *steps = call->json ? json_array() : NULL;
    bool whole = true;
    atn_status status = ATN_OK;
    if (k->assumed) atn_text_printf(&page, "/* %s by default. */", k->assumed);
    for (int32_t n = 0; n < count && !status; ++n) {
        const char *name = atn_cli_kernel_step(k, n)->name;
        passes p;
        status = make_step(k, n, info, &p);
        if (!status && call->json)
            whole = json_array_append_new(steps, step_json(call->ctx, name, &p, all)) == 0 && whole;
        else if (!status)
            add_page(&page, name, &p, all, many);
        free_passes(&p);
    }
    if (!status && call->json) {
        json_t *root = json_object();
        whole = json_object_set_new(root, "dialect", json_string(atn_dialect_find(info->backend)->name)) == 0 && whole;
        if (k->assumed) whole = json_object_set_new(root, "assumed", json_string(k->assumed)) == 0 && whole;
        whole = json_object_set(root, "steps", steps) == 0 && whole;
        root = atn_cli_json_if(whole, root);
        status = atn_cli_print_json(call, root);
    } else if (!status) {
        status = atn_cli_print_text(call, "show", &page);
    }
    json_decref(steps);
    atn_text_free(&page);
    return status;
}

/* --as: the description itself, in another form. */
static atn_status print_form(atn_cli_kernel *k) {
    atn_cli_call *call = k->call;
    if (!call->json) return atn_cli_print_text(call, "show", &k->printed);
    json_t *root = json_object();
    if (json_object_set_new(root, "form", json_string(k->form == ATN_FORM_XML ? "xml" : "atn")) != 0 ||
        json_object_set_new(root, "text", atn_cli_json_text(call->ctx, atn_text_str(&k->printed))) != 0) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(call, root);
}

/* A program: its plan, or the source of the steps that the plan has. */
static atn_status run_program(atn_cli_kernel *k) {
    atn_device_info info = {0};
    atn_plan_given given;
    if (k->form)
        return atn_fail(k->call->ctx, ATN_ERR_INPUT, "%s: a program has one form, the notation; --as is for kernels",
                        k->name);
    atn_status status = choose(k->call, &info);
    if (!status) status = atn_cli_program_give(k, &given);
    if (!status && atn_cli_has(k->call, "plan")) return atn_cli_program_show(k, &given, &info);
    if (!status) status = atn_cli_program_plan(k, &given, &info);
    return status ? status : show(k, &info);
}

static atn_status run_kernel(atn_cli_kernel *k) {
    atn_cli_call *call = k->call;
    atn_device_info info = {0};
    atn_status status = ATN_OK;
    bool sizes = atn_cli_has(call, "size");
    if (sizes || atn_cli_has(call, "param")) status = atn_cli_kernel_bind(k);
    if (!status && sizes) status = atn_cli_kernel_plan(k);
    if (!status && !sizes) { /* parameters were checked; there is nothing to measure */
        atn_runner_free(k->runner);
        k->runner = NULL;
    }
    if (!status && k->form) return print_form(k);
    if (!status) status = choose(call, &info);
    return status ? status : show(k, &info);
}

static atn_status run(atn_cli_call *call) {
    atn_cli_kernel kernel;
    atn_status status = atn_cli_kernel_open(call, false, NULL, &kernel);
    if (!status) status = kernel.programs ? run_program(&kernel) : run_kernel(&kernel);
    atn_cli_kernel_close(&kernel);
    return status;
}

const atn_cli_verb ATN_VERB_SHOW = {
    .name = "show",
    .summary = "show the source generated from a kernel, and the plan of a program",
    .synopsis = "KERNEL|PROGRAM",
    .paragraphs =
        (const char *const[]){
            "Prints the source of one variant, below a comment with its origin: with --size, the variant that would "
            "run at those sizes on the device (--device, or the best one); otherwise the estimate for the device or "
            "for a dialect; or that of --variant. KERNEL is a file in either form, - for standard input, or the name "
            "of a kernel that is shipped: add, gemm and others.",
            "For a program, --plan prints how it is run at the sizes of --size: steps with what is fused into them, "
            "loops, arrays and their placement, fusion of seams, memory; --passes, the plan after each pass. Without "
            "--plan, the source of the plan's steps. A kernel has a plan too, of one step.",
            "JSON: dialect, assumed (USED_FLOAT=SP, where the description needs it and --define does not say) and "
            "steps (kernel, variant, hit, explanation, source; with --passes graph and program as well). With --plan: "
            "program, assumed, steps (how many), arena_bytes, seams (array, possible, fused, reason), plan, and with "
            "--passes passes (pass, plan).",
            NULL},
    .options =
        (const atn_cli_option[]){
            ATN_CLI_KERNEL_OPTIONS,
            ATN_OPTION("dialect", "opencl|cuda|c", "the language of the source"),
            ATN_OPTION("variant", "KNOBS", "how it is computed: k=v,k=v, the rest as in the plain variant"),
            ATN_OPTION("as", "xml|atn", "print the description itself, as XML or in the notation"),
            ATN_FLAG("plan", "print the plan of a program instead"),
            ATN_FLAG("passes",
                     "print the graph and the lowered program as well; with --plan, the plan after every pass"),
            {0}},
    .examples =
        (const atn_cli_pair[]){{"attune show gemm --define USED_FLOAT=SP --dialect cuda", "a shipped kernel for CUDA"},
                               {"attune show mv.xml --define USED_FLOAT=DP --dialect c --variant vec_q0=4,regs_p0=2",
                                "one variant for the CPU"},
                               {"attune show cg.atn --plan --size b=512x512 --size x=512x512 --param tolerance=1e-6",
                                "the plan of a program"},
                               {0}},
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
