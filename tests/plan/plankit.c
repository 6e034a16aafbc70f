/* What the tests of the passes share. */
#include "plankit.h"

#include <string.h>

atn_status plan_try(atn_ctx *ctx, const plan_case *of, atn_programs **programs, atn_plan **plan) {
    plan_case copy = *of;
    kit_ok(ctx, atn_programs_parse(ctx, "p.atn", of->text, strlen(of->text), NULL, NULL, programs));
    return atn_plan_expand(ctx, *programs, &(atn_plan_given){.size = copy.size, .value = copy.value}, plan);
}

atn_plan *plan_make(atn_ctx *ctx, const plan_case *of, atn_programs **programs) {
    atn_plan *plan;
    kit_ok(ctx, plan_try(ctx, of, programs, &plan));
    int8_t wanted[64];
    memset(wanted, of->seams, sizeof wanted);
    if (of->seams < 2) kit_ok(ctx, atn_plan_fuse(plan, of->device, wanted, 64));
    return plan;
}

void plan_done(atn_plan *plan, atn_programs *programs) {
    atn_plan_free(plan);
    atn_programs_free(programs);
}

static bool begins_part(const char *line) {
    return !strncmp(line, "program", 7) || !strncmp(line, "arrays", 6) || !strncmp(line, "seams", 5) ||
           !strncmp(line, "arena", 5);
}

void plan_part_is(const atn_plan *plan, const char *part, const char *lines) {
    atn_text text = {.ctx = plan->ctx}, found = {.ctx = plan->ctx};
    atn_plan_print(plan, &text);
    bool inside = false;
    for (const char *line = atn_text_str(&text); *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        if (begins_part(line)) {
            inside = !strncmp(line, part, strlen(part));
            continue;
        }
        if (inside) atn_text_printf(&found, "%.*s\n", (int)length - 4, line + 4);
    }
    bool same = !strcmp(atn_text_str(&found), lines);
    if (!same) print_message("%s\nwanted in %s:\n%s", atn_text_str(&text), part, lines);
    atn_text_free(&text);
    atn_text_free(&found);
    assert_true(same);
}

void plan_steps_are(const atn_plan *plan, const char *lines) { plan_part_is(plan, "program", lines); }
