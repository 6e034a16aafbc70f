/* attune check: reports all errors in a description. */
#include "cli/program.h"

#include <string.h>

static json_t *lines_json(const atn_ctx *ctx, const atn_text *lines) {
    json_t *list = json_array();
    atn_text line = {.ctx = ctx};
    bool whole = list != NULL;
    for (const char *at = atn_text_str(lines); *at && whole;) {
        size_t length = strcspn(at, "\n");
        atn_text_clear(&line);
        atn_text_add_bytes(&line, at, length);
        whole = !line.failed && json_array_append_new(list, atn_cli_json_text(ctx, atn_text_str(&line))) == 0;
        at += length + (at[length] == '\n');
    }
    atn_text_free(&line);
    return atn_cli_json_if(whole, list);
}

static atn_status print_json(const atn_cli_kernel *k, const atn_text *lines, int32_t count) {
    atn_cli_call *call = k->call;
    json_t *root = json_object();
    if (json_object_set_new(root, "ok", json_boolean(count == 0)) != 0 ||
        json_object_set_new(root, "errors", json_integer(count)) != 0 ||
        (k->assumed && json_object_set_new(root, "assumed", json_string(k->assumed)) != 0) ||
        json_object_set_new(root, "diagnostics", lines_json(call->ctx, lines)) != 0) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(call, root);
}

/* Can code be made for it? */
static atn_status check_code(const atn_cli_kernel *k, const atn_device_info *info) {
    const atn_ctx *ctx = k->call->ctx;
    atn_target target = atn_target_of(info);
    atn_status status = ATN_OK;
    for (int32_t n = 0; n < atn_cli_kernel_steps(k) && !status; ++n) {
        atn_text source = {.ctx = ctx};
        const atn_graph *graph = atn_cli_kernel_step(k, n);
        atn_variant variant = atn_variant_estimate(graph, info, NULL);
        status = atn_built_source(ctx, graph, &variant, info->backend, &target, &source);
        atn_text_free(&source);
    }
    return status;
}

/* What is right, but not as fast as it could be: scans whose join is not known. */
static void add_notes(const atn_cli_kernel *k, atn_text *lines) {
    int32_t count = k->programs ? k->programs->n_callees : k->sequence->count;
    for (int32_t n = 0; n < count; ++n) {
        const atn_graph *g = k->programs ? k->programs->callees[n].graph : k->sequence->step[n];
        for (int32_t b = 0; b < g->n_blocks; ++b)
            if (g->blocks[b].n_accs > 0 && g->blocks[b].acc[0].join == ATN_JOIN_ORDERED && atn_block_is_scan(g, b))
                atn_text_printf(lines,
                                "%s:%d:%d: note: '%s': no associative join is known of this scan; it runs step by step "
                                "(give it a combine)\n",
                                k->name, g->blocks[b].line, g->blocks[b].column, g->blocks[b].name);
    }
}

/* With --size, --param or --device: would it run? */
static atn_status check_use(atn_cli_kernel *k) {
    atn_cli_call *call = k->call;
    bool sizes = atn_cli_has(call, "size"), params = atn_cli_has(call, "param"), device = atn_cli_has(call, "device");
    atn_devices *devices = NULL;
    int32_t index = 0;
    atn_plan_given given;
    atn_status status = device ? atn_cli_pick_device(call, &devices, &index) : ATN_OK;
    const atn_device_info *info = devices ? atn_devices_info(devices, index) : NULL;
    if (!status && k->programs) {
        if (sizes || params || device) status = atn_cli_program_give(k, &given);
        if (!status && (sizes || device)) status = atn_cli_program_plan(k, &given, info);
    } else {
        if (!status && (sizes || params)) status = atn_cli_kernel_bind(k);
        if (!status && sizes) status = atn_cli_kernel_plan(k);
    }
    if (!status && device) status = check_code(k, info);
    atn_devices_free(devices);
    return status;
}

static atn_status run(atn_cli_call *call) {
    atn_text lines = {.ctx = call->ctx};
    atn_diagnostics diagnostics = {.lines = &lines};
    atn_cli_kernel kernel;
    atn_status status = atn_cli_kernel_open(call, atn_cli_has(call, "strict"), &diagnostics, &kernel), printed = ATN_OK;
    if (!status) status = check_use(&kernel);
    if (!status) add_notes(&kernel, &lines);
    bool judged = !status || diagnostics.count > 0;
    if (judged && call->json)
        printed = print_json(&kernel, &lines, diagnostics.count);
    else if (judged) {
        if (!status) atn_text_printf(&lines, kernel.assumed ? "ok (%s by default)\n" : "ok\n", kernel.assumed);
        printed = atn_cli_print_text(call, "check", &lines);
    }
    if (diagnostics.count > 0 && !printed)
        status = atn_fail(call->ctx, ATN_ERR_INPUT, "%s: %d error%s", kernel.name, diagnostics.count,
                          diagnostics.count == 1 ? "" : "s");
    atn_cli_kernel_close(&kernel);
    atn_text_free(&lines);
    return status ? status : printed;
}

const atn_cli_verb ATN_VERB_CHECK = {
    .name = "check",
    .summary = "report all errors in the description of a kernel or program",
    .synopsis = "KERNEL",
    .paragraphs =
        (const char *const[]){
            "Prints every error of the description, one per line, with file, line, column and a suggestion; or ok. "
            "KERNEL is a file in either form, - for standard input, or the name of a kernel that is shipped: add, gemm "
            "and others. A program is checked with all that it calls.",
            "With --size all sizes are checked as well, as before a run; with --device, that "
            "code can be made for it (of a program with --size, which its plan depends on).",
            "JSON: ok, errors (how many), assumed (USED_FLOAT=SP, where the description needs it and "
            "--define does not say), diagnostics (the lines).",
            NULL},
    .options = (const atn_cli_option[]){ATN_CLI_KERNEL_OPTIONS,
                                        ATN_FLAG("strict", "the rules of the original language: no nested iterators"),
                                        {0}},
    .examples =
        (const atn_cli_pair[]){{"attune check mv.xml --define USED_FLOAT=SP", "is this description right?"}, {0}},
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
