/* The passes in their order, for running a program and for showing its plan. */
#include "device/facts.h"
#include "plan/remember.h"

#include <string.h>

static atn_status see(const atn_plan_options *o, const char *pass, const atn_plan *plan, atn_status status) {
    if (status == ATN_OK && o->seen) o->seen(o->user, pass, plan);
    return status;
}

/* Graphs run queues side by side; elsewhere what was kept is done in the order in which it was queued. */
static int32_t queues_of(const atn_plan_options *o) {
    if (o->queues) return o->queues;
    int32_t queues = o->info ? atn_backend_facts_of(o->info)->queues : 1;
    return queues < ATN_PLAN_QUEUES ? queues : ATN_PLAN_QUEUES;
}

atn_status atn_plan_make(const atn_ctx *ctx, const atn_programs *programs, const atn_plan_given *given,
                         const atn_plan_options *options, atn_plan **out) {
    atn_status status = atn_plan_expand(ctx, programs, given, out);
    if (status != ATN_OK) return status;
    atn_plan *plan = *out;
    see(options, "expand", plan, ATN_OK);
    status = see(options, "share", plan, atn_plan_share(plan));
    const int8_t *wanted = options->wanted;
    int8_t *known = NULL;
    int32_t n_wanted = options->n_wanted;
    if (status == ATN_OK && !wanted && options->info && !options->estimate) {
        status = atn_plan_recall(plan, options->info, &known, &n_wanted);
        wanted = known;
    }
    if (status == ATN_OK) status = see(options, "fuse", plan, atn_plan_fuse(plan, options->info, wanted, n_wanted));
    if (status == ATN_OK) status = see(options, "settle", plan, atn_plan_settle(plan));
    if (status == ATN_OK) status = see(options, "schedule", plan, atn_plan_schedule(plan, queues_of(options)));
    if (status == ATN_OK) status = see(options, "place", plan, atn_plan_place(plan));
    if (status == ATN_OK) status = atn_plan_rename(plan);
    if (status == ATN_OK) return ATN_OK;
    atn_plan_free(plan);
    *out = NULL;
    return status;
}

atn_status atn_plan_find_head(const atn_ctx *ctx, const atn_routine *routine, const char *name, bool array,
                              int32_t *found) {
    for (*found = 0; *found < routine->n_head; ++*found)
        if ((routine->names[*found].rank > 0) == array && !strcmp(routine->names[*found].name, name)) return ATN_OK;
    atn_text there = {.ctx = ctx};
    for (int32_t k = 0; k < routine->n_head; ++k)
        if ((routine->names[k].rank > 0) == array)
            atn_text_printf(&there, "%s%s", there.length ? ", " : "", routine->names[k].name);
    atn_status status = atn_fail(ctx, ATN_ERR_INPUT, "%s: no %s '%s'; there is %s", routine->name,
                                 array ? "array" : "parameter", name, there.length ? atn_text_str(&there) : "none");
    atn_text_free(&there);
    return status;
}
