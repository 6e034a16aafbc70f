/* Programs on the command line: sizes and parameters by the names in their header, and their plan. */
#include "cli/program.h"

#include <string.h>

static const atn_routine *routine_of(const atn_cli_kernel *k) { return k->programs->routines[k->programs->main]; }

/* ---- what is given ---- */

static atn_status give_param(atn_cli_kernel *k, const char *given, atn_plan_given *out, bool *has_value) {
    const char *name;
    double value[2];
    int32_t at;
    atn_status status = atn_cli_kernel_param(k, given, &name, value);
    if (!status) status = atn_plan_find_head(k->call->ctx, routine_of(k), name, false, &at);
    if (status) return status;
    memcpy(out->value[at], value, sizeof value);
    has_value[at] = true;
    return ATN_OK;
}

static atn_status give_size(atn_cli_kernel *k, const char *given, atn_plan_given *out) {
    const char *name, *text;
    int32_t at;
    atn_status status = atn_cli_kernel_split(k, "size", given, &name, &text);
    if (!status) status = atn_plan_find_head(k->call->ctx, routine_of(k), name, true, &at);
    return status ? status : atn_cli_kernel_extent(k, given, routine_of(k)->names[at].rank, out->size[at]);
}

atn_status atn_cli_program_give(atn_cli_kernel *k, atn_plan_given *out) {
    const atn_routine *routine = routine_of(k);
    size_t n = (size_t)routine->n_head + 1;
    out->size = atn_arena_alloc(&k->arena, n * sizeof *out->size);
    out->value = atn_arena_alloc(&k->arena, n * sizeof *out->value);
    bool *has_value = atn_arena_alloc(&k->arena, n * sizeof *has_value);
    if (!out->size || !out->value || !has_value) return ATN_ERR_MEMORY;
    for (int32_t at = 0; at < routine->n_head; ++at) {
        const atn_datum_use *use = &routine->names[at];
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis) out->size[at][axis] = -1;
        memcpy(out->value[at], use->default_value, sizeof use->default_value);
        has_value[at] = use->rank || use->has_default;
    }
    const char *given;
    atn_status status = ATN_OK;
    for (size_t at = 0; !status && (given = atn_cli_next(k->call, "param", &at));)
        status = give_param(k, given, out, has_value);
    for (size_t at = 0; !status && (given = atn_cli_next(k->call, "size", &at));) status = give_size(k, given, out);
    for (int32_t at = 0; at < routine->n_head && !status; ++at)
        if (!has_value[at])
            status = atn_fail(k->call->ctx, ATN_ERR_INPUT, "%s: the parameter '%s' has no value: --param %s=NUMBER",
                              routine->name, routine->names[at].name, routine->names[at].name);
    return status;
}

atn_status atn_cli_program_check(const atn_cli_kernel *k, const atn_plan_given *given) {
    const atn_routine *routine = routine_of(k);
    for (int32_t at = 0; at < routine->n_head; ++at) {
        const atn_datum_use *use = &routine->names[at];
        if (use->rank && use->use != ATN_USE_OUT && given->size[at][0] < 0)
            return atn_fail(k->call->ctx, ATN_ERR_INPUT,
                            "%s: its plan depends on the size of '%s', a %s of %s: --size %s=%s", routine->name,
                            use->name, atn_rank_name(use->rank), atn_type_name(use->type), use->name,
                            atn_rank_sizes(use->rank));
    }
    return ATN_OK;
}

/* ---- plans ---- */

/* Takes the plan over. */
static atn_status keep(atn_cli_kernel *k, atn_plan *plan) {
    atn_status status = atn_planned_create(k->call->ctx, plan, &k->planned);
    if (!status) k->runner = atn_planned_runner(k->planned);
    return status;
}

static atn_status make(atn_cli_kernel *k, const atn_plan_given *given, const atn_plan_options *options) {
    atn_plan *plan;
    atn_status status = atn_cli_program_check(k, given);
    if (!status) status = atn_plan_make(k->call->ctx, k->programs, given, options, &plan);
    if (!status) status = keep(k, plan);
    return status ? status : atn_planned_ready(k->planned);
}

atn_status atn_cli_program_plan(atn_cli_kernel *k, const atn_plan_given *given, const atn_device_info *info) {
    return make(k, given, &(atn_plan_options){.info = info});
}

atn_status atn_cli_program_expand(atn_cli_kernel *k, const atn_plan_given *given) {
    atn_plan *plan;
    atn_status status = atn_plan_expand(k->call->ctx, k->programs, given, &plan);
    return status ? status : keep(k, plan);
}

/* ---- show --plan ---- */

/* The plan behind each pass. */
typedef struct pages {
    const atn_ctx *ctx;
    atn_text text;
    json_t *list; /* NULL: text is wanted */
    bool whole;
} pages;

static void see(void *user, const char *pass, const atn_plan *plan) {
    pages *p = user;
    atn_text page = {.ctx = p->ctx};
    atn_plan_print(plan, &page);
    if (p->list) {
        json_t *row = json_object();
        p->whole = json_object_set_new(row, "pass", json_string(pass)) == 0 && p->whole;
        p->whole = json_object_set_new(row, "plan", atn_cli_json_text(p->ctx, atn_text_str(&page))) == 0 && p->whole;
        p->whole = json_array_append_new(p->list, row) == 0 && p->whole;
    } else {
        atn_text_printf(&p->text, "%s==== %s ====\n", p->text.length ? "\n" : "", pass);
        atn_text_add(&p->text, atn_text_str(&page));
    }
    p->whole = !page.failed && p->whole;
    atn_text_free(&page);
}

static json_t *seams_json(const atn_ctx *ctx, const atn_plan *plan) {
    json_t *list = json_array();
    bool whole = list != NULL;
    for (int32_t n = 0; n < plan->n_seams && whole; ++n) {
        const atn_plan_seam *seam = &plan->seams[n];
        json_t *row = json_object();
        whole = json_object_set_new(row, "array", atn_cli_json_text(ctx, plan->arrays[seam->array].name)) == 0 &&
                json_object_set_new(row, "possible", json_boolean(seam->possible)) == 0 &&
                json_object_set_new(row, "fused", json_boolean(seam->fused)) == 0 &&
                json_object_set_new(row, "reason",
                                    seam->why_not ? atn_cli_json_text(ctx, seam->why_not) : json_null()) == 0;
        whole = json_array_append_new(list, row) == 0 && whole;
    }
    return atn_cli_json_if(whole, list);
}

static atn_status print_json(const atn_cli_kernel *k, json_t *passes, bool whole) {
    atn_cli_call *call = k->call;
    const atn_plan *plan = atn_planned_plan(k->planned);
    atn_text page = {.ctx = call->ctx};
    json_t *root = json_object();
    atn_plan_print(plan, &page);
    whole = json_object_set_new(root, "program", atn_cli_json_text(call->ctx, routine_of(k)->name)) == 0 && whole;
    if (k->assumed) whole = json_object_set_new(root, "assumed", json_string(k->assumed)) == 0 && whole;
    whole = json_object_set_new(root, "steps", json_integer(atn_cli_kernel_steps(k))) == 0 && whole;
    whole = json_object_set_new(root, "arena_bytes", json_integer((json_int_t)plan->bytes)) == 0 && whole;
    whole = json_object_set_new(root, "seams_from",
                                plan->origin ? atn_cli_json_text(call->ctx, plan->origin) : json_null()) == 0 &&
            whole;
    whole = json_object_set_new(root, "seams", seams_json(call->ctx, plan)) == 0 && whole;
    whole = json_object_set_new(root, "plan", atn_cli_json_text(call->ctx, atn_text_str(&page))) == 0 && whole;
    if (passes) whole = json_object_set(root, "passes", passes) == 0 && whole;
    whole = !page.failed && whole;
    atn_text_free(&page);
    if (whole) return atn_cli_print_json(call, root);
    json_decref(root);
    return atn_cli_print_json(call, NULL);
}

atn_status atn_cli_program_show(atn_cli_kernel *k, const atn_plan_given *given, const atn_device_info *info) {
    atn_cli_call *call = k->call;
    bool all = atn_cli_has(call, "passes");
    pages p = {.ctx = call->ctx, .text = {.ctx = call->ctx}, .whole = true};
    if (all && call->json) p.list = json_array();
    if (k->assumed && !call->json) atn_text_printf(&p.text, "# %s by default\n", k->assumed);
    atn_status status = make(k, given, &(atn_plan_options){.info = info, .seen = all ? see : NULL, .user = &p});
    if (!status && call->json) {
        status = print_json(k, p.list, p.whole);
    } else if (!status) {
        if (!all) atn_plan_print(atn_planned_plan(k->planned), &p.text);
        if (!p.whole) p.text.failed = true;
        status = atn_cli_print_text(call, "show", &p.text);
    }
    json_decref(p.list);
    atn_text_free(&p.text);
    return status;
}
