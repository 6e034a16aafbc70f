/* Running values in the notation: what a loop accumulates, seen inside of it. Below the line that accumulates s, `s` is
 * the value with this step; above it, and as before(s) anywhere in the loop, the value before this step. */
#include "graph/notation_lower.h"

#include <string.h>

static bool is_accumulated(const atn_line *lines, const char *name) {
    for (const atn_line *line = lines; line; line = line->next) {
        if (line->kind != ATN_LINE_ACCUMULATE && line->kind != ATN_LINE_CARRY) continue;
        for (const atn_named *one = line->names; one; one = one->next)
            if (!strcmp(one->name, name)) return true;
    }
    return false;
}

/* Numbers below 0 stand for names whose line comes further down. */
static bool find_above(atn_lowering *l, const char *name, atn_end *end) {
    atn_loop *loop = l->loop;
    if (!loop || l->frame || !is_accumulated(loop->lines, name)) return false;
    int32_t k = 0;
    while (k < loop->n_above && strcmp(loop->above[k], name) != 0) ++k;
    if (k == ATN_MAX_ACCS) return false;
    if (k == loop->n_above) loop->above[loop->n_above++] = name;
    *end = (atn_end){.item = loop->item, .port = ATN_PORT_BEFORE, .k = -1 - k, .text = name};
    return true;
}

bool atn_running_find(atn_lowering *l, const atn_syntax *tree, atn_end *end) {
    bool before = tree->kind == ATN_SYNTAX_CALL && !strcmp(tree->name, "before") && tree->a && !tree->a->next &&
                  tree->a->kind == ATN_SYNTAX_NAME;
    if (!before && tree->kind != ATN_SYNTAX_NAME) return false;
    const char *name = before ? tree->a->name : tree->name;
    const atn_symbol *symbol = atn_symbol_find(l, name);
    if (!symbol) return find_above(l, name, end);
    if (symbol->kind != ATN_SYMBOL_RUNNING) return false;
    *end = symbol->end;
    if (before) end->port = ATN_PORT_BEFORE;
    return true;
}

static void settle(const atn_loop *loop, atn_end *end) {
    if (end->item != loop->item || end->port != ATN_PORT_BEFORE || end->k >= 0) return;
    const char *name = loop->above[-1 - end->k];
    end->k = 0;
    for (int32_t k = 0; k < loop->n; ++k)
        if (!strcmp(loop->acc[k].name, name) && !loop->acc[k].write) end->k = k;
    if (!loop->n) end->item = -1; /* its line was wrong, which was said */
}

void atn_running_settle(atn_lowering *l, atn_loop *loop) {
    for (size_t k = 0; k < l->sketch->n_links && loop->n_above; ++k) settle(loop, &l->sketch->links[k].source);
    for (int32_t k = 0; k < loop->n_in; ++k) settle(loop, &loop->in[k]);
}
