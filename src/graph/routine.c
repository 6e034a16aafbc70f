/* The steps of a program from its lines: names and their types, calls and their operands. */
#include "graph/routine_build.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = ATN_MOST_NAMES, MOST_DATA = 64, MOST_LOST = 64 };

typedef struct work {
    atn_builder *b;
    atn_unit *unit;
    const atn_program_text *text;
    atn_routine *routine;
    bool has_value[MOST_NAMES];  /* per name: something was assigned, or it came in */
    int32_t fresh;               /* numbers of temporaries without a name */
    const char *lost[MOST_LOST]; /* names that lines with an error would have defined: not reported again */
    int32_t n_lost;
    atn_step **last; /* where the next step goes */
} work;

static void complain(work *w, size_t offset, const char *what, const char *format, ...) ATN_PRINTF(4, 5);
static void complain(work *w, size_t offset, const char *what, const char *format, ...) {
    char sentence[512];
    ATN_FORMAT(sentence, format);
    atn_reader *reader = w->unit->reader;
    atn_reader_complain(reader, atn_attribute_place(reader, &w->unit->file->text, offset),
                        what ? what : w->routine->name, "%s", sentence);
}

static const char *kind_of(int32_t rank) { return rank ? atn_rank_name(rank) : "scalar"; }

/* ---- names ---- */

static int32_t temporary(work *w, const char *like, int32_t rank, atn_type type) {
    char *name = atn_arena_printf(&w->b->programs->arena, "%s_%d", like, ++w->fresh);
    if (!name) return w->b->reader->failed = true, -1;
    return atn_routine_add(w->b, w->routine,
                           (atn_datum_use){.name = name, .use = ATN_USE_TEMPORARY, .rank = rank, .type = type});
}

/* A name that takes a value: known, and of this kind; or new. */
static int32_t target(work *w, const atn_named *named, int32_t rank, atn_type type) {
    int32_t at = atn_routine_find(w->routine, named->name);
    if (at < 0)
        return atn_routine_add(
            w->b, w->routine,
            (atn_datum_use){.name = named->name, .use = ATN_USE_TEMPORARY, .rank = rank, .type = type});
    const atn_datum_use *use = &w->routine->names[at];
    if (use->use == ATN_USE_IN) {
        complain(w, named->offset, named->name,
                 use->rank ? "comes in and is not written; say inout %s"
                           : "is given by the caller and cannot be set%.0s",
                 named->name);
        return -1;
    }
    if (use->rank != rank || use->type != type) {
        complain(w, named->offset, named->name, "is a %s of %s; what it takes here is a %s of %s", kind_of(use->rank),
                 atn_type_name(use->type), kind_of(rank), atn_type_name(type));
        return -1;
    }
    return at;
}

static void lose(work *w, const atn_named *names) {
    for (; names && w->n_lost < MOST_LOST; names = names->next) w->lost[w->n_lost++] = names->name;
}

static void lose_all(work *w, const atn_action *actions) {
    for (; actions; actions = actions->next) {
        lose(w, actions->names);
        lose(w, actions->counter);
        lose_all(w, actions->child);
    }
}

static bool is_lost(const work *w, const char *name) {
    for (int32_t k = 0; k < w->n_lost; ++k)
        if (!strcmp(w->lost[k], name)) return true;
    return false;
}

static int32_t source(work *w, const atn_syntax *tree) {
    int32_t at = atn_routine_find(w->routine, tree->name);
    if ((at < 0 || (w->routine->names[at].rank && !w->has_value[at])) && is_lost(w, tree->name)) return -1;
    if (at < 0) {
        atn_suggestion suggestion = {.wrong = tree->name};
        for (int32_t k = 0; k < w->routine->n; ++k)
            atn_suggestion_try(w->unit->reader, &suggestion, w->routine->names[k].name);
        complain(w, tree->offset, tree->name, "no name '%s'%s", tree->name,
                 atn_suggestion_text(w->unit->reader, &suggestion));
        return -1;
    }
    if (w->routine->names[at].rank && !w->has_value[at]) {
        complain(w, tree->offset, tree->name, "has no value yet");
        return -1;
    }
    return at;
}

/* ---- values ---- */

static bool is_size(const atn_syntax *tree) {
    return tree->kind == ATN_SYNTAX_CALL && (!strcmp(tree->name, "rows") || !strcmp(tree->name, "columns") ||
                                             !strcmp(tree->name, "planes") || !strcmp(tree->name, "length"));
}

/* A step, in contrast to sizes and functions of the language. */
static bool is_call(const work *w, const atn_syntax *tree) {
    return tree->kind == ATN_SYNTAX_CALL && !is_size(tree) && atn_builder_is_callable(w->unit, tree->name);
}

/* Made by steps, in contrast to what is known before the run. */
static bool is_made(const work *w, const atn_syntax *tree) {
    for (; tree; tree = tree->next) {
        if (is_size(tree)) continue;
        if (is_call(w, tree)) return true;
        if (tree->kind == ATN_SYNTAX_NAME || tree->kind == ATN_SYNTAX_ELEMENT) {
            int32_t at = atn_routine_find(w->routine, tree->name);
            if (at >= 0 && w->routine->names[at].rank) return true;
        }
        if (tree->kind == ATN_SYNTAX_ELEMENT) continue;
        if (is_made(w, tree->a) || is_made(w, tree->b) || is_made(w, tree->c)) return true;
    }
    return false;
}

/* Names in what is known before the run: scalars, and arrays whose size is asked. */
static bool check_known(work *w, const atn_syntax *tree) {
    for (; tree; tree = tree->next) {
        if (is_size(tree)) {
            const atn_syntax *array = tree->a;
            int32_t at = array && array->kind == ATN_SYNTAX_NAME ? atn_routine_find(w->routine, array->name) : -1;
            if (at < 0 || array->next) {
                complain(w, tree->offset, tree->name, "asks for the size of one array");
                return false;
            }
            int32_t rank = w->routine->names[at].rank;
            if (!strcmp(tree->name, "length") ? rank != 1 : rank < (!strcmp(tree->name, "planes") ? 3 : 2)) {
                complain(w, array->offset, array->name, "is a %s, which has no %s", kind_of(w->routine->names[at].rank),
                         tree->name);
                return false;
            }
            continue;
        }
        bool simple = tree->kind == ATN_SYNTAX_INTEGER || tree->kind == ATN_SYNTAX_NUMBER ||
                      tree->kind == ATN_SYNTAX_NAME || tree->kind == ATN_SYNTAX_UNARY ||
                      tree->kind == ATN_SYNTAX_BINARY || tree->kind == ATN_SYNTAX_CHOICE ||
                      tree->kind == ATN_SYNTAX_POWER ||
                      (tree->kind == ATN_SYNTAX_CALL && atn_known_function(tree->name) && tree->a && !tree->a->next);
        if (!simple) {
            complain(w, tree->offset, NULL,
                     tree->kind == ATN_SYNTAX_CALL ? "no kernel or program '%s'%s"
                                                   : "cannot be known before the run%.0s%.0s",
                     tree->name ? tree->name : "", "");
            return false;
        }
        if (tree->kind == ATN_SYNTAX_NAME && source(w, tree) < 0) return false;
        if (!check_known(w, tree->a) || !check_known(w, tree->b) || !check_known(w, tree->c)) return false;
    }
    return true;
}

static bool call(work *w, const atn_syntax *tree, const atn_named *names, int32_t *results, int32_t n_results);

/* Calls within an expression become steps in front of it; the tree then speaks of their results. */
static atn_syntax *without_calls(work *w, const atn_syntax *tree) {
    atn_syntax *first = NULL, **last = &first;
    for (; tree; tree = tree->next) {
        atn_syntax *copy = atn_reader_alloc(w->unit->reader, sizeof *copy);
        if (!copy) return NULL;
        *copy = *tree;
        copy->next = NULL;
        if (is_call(w, tree)) {
            int32_t result = -1;
            if (!call(w, tree, NULL, &result, 1)) return NULL;
            assert(result >= 0);
            *copy = (atn_syntax){
                .kind = ATN_SYNTAX_NAME, .offset = tree->offset, .name = w->routine->names[result].name, .depth = 1};
        } else {
            bool named = tree->kind == ATN_SYNTAX_NAME || tree->kind == ATN_SYNTAX_ELEMENT;
            if (named && source(w, tree) < 0) return NULL;
            if (tree->kind == ATN_SYNTAX_REDUCE) {
                complain(w, tree->offset, NULL, "arithmetic in a program is on single values; '%s' is a kernel's",
                         tree->name);
                return NULL;
            }
            if (tree->a && !(copy->a = without_calls(w, tree->a))) return NULL;
            if (tree->b && !(copy->b = without_calls(w, tree->b))) return NULL;
            if (tree->c && !(copy->c = without_calls(w, tree->c))) return NULL;
        }
        *last = copy;
        last = &copy->next;
    }
    return first;
}

static atn_step *add_step(work *w, atn_step_kind kind, size_t offset) {
    atn_step *step = atn_arena_alloc(&w->b->programs->arena, sizeof *step);
    if (!step) return w->b->reader->failed = true, NULL;
    step->kind = kind;
    step->at = atn_attribute_place(w->unit->reader, &w->unit->file->text, offset);
    step->condition = step->counter = -1;
    *w->last = step;
    w->last = &step->next;
    return step;
}

/* Sizes are known before the run: each becomes a scalar of the kernel, size_0_ and so on. */
static bool take_sizes(work *w, atn_syntax *tree, const atn_syntax **sizes, int32_t *count) {
    for (; tree; tree = tree->next) {
        if (!is_size(tree)) {
            if (!take_sizes(w, tree->a, sizes, count) || !take_sizes(w, tree->b, sizes, count) ||
                !take_sizes(w, tree->c, sizes, count))
                return false;
            continue;
        }
        atn_syntax *size = atn_reader_alloc(w->unit->reader, sizeof *size);
        const char *name = atn_arena_printf(&w->b->programs->arena, "size_%d_", *count);
        if (!size || !name) return w->b->reader->failed = true, false;
        *size = *tree;
        size->next = NULL;
        if (*count == MOST_DATA) complain(w, tree->offset, NULL, "more than %d sizes in one line", (int)MOST_DATA);
        if (*count == MOST_DATA || !check_known(w, size)) return false;
        sizes[(*count)++] = size;
        *tree =
            (atn_syntax){.kind = ATN_SYNTAX_NAME, .offset = tree->offset, .name = name, .depth = 1, .next = tree->next};
    }
    return true;
}

/* A step that computes a scalar on the device. */
static int32_t compute(work *w, const atn_syntax *tree, const atn_named *named, atn_type type, bool test) {
    atn_syntax *plain = without_calls(w, tree);
    const atn_syntax *sizes[MOST_DATA];
    int32_t used[MOST_DATA], count = 0, n_sizes = 0;
    if (!plain || !take_sizes(w, plain, sizes, &n_sizes)) return -1;
    if (type == ATN_TYPE_NONE) { /* that of the first vector */
        int32_t at = named ? atn_routine_find(w->routine, named->name) : -1;
        if (at >= 0) type = w->routine->names[at].type;
    }
    int32_t callee = atn_scalar_kernel(w->b, w->unit, w->routine, plain, type, test, n_sizes, used, &count);
    if (callee < 0) return -1;
    const atn_callee *kernel = &w->b->programs->callees[callee];
    type = kernel->data[kernel->n - 1].type;
    int32_t result = named ? target(w, named, 1, type) : temporary(w, test ? "test" : "value", 1, type);
    atn_step *step = result < 0 ? NULL : add_step(w, ATN_STEP_KERNEL, tree->offset);
    if (!step) return -1;
    step->callee = callee;
    step->operand = atn_arena_alloc(&w->b->programs->arena, ((size_t)kernel->n + 1) * sizeof *step->operand);
    if (!step->operand) return w->b->reader->failed = true, -1;
    for (int32_t k = 0; k < count; ++k) {
        step->operand[k].name = used[k];
        if (w->routine->names[used[k]].rank) continue;
        atn_syntax *name = atn_reader_alloc(w->unit->reader, sizeof *name); /* a scalar is given */
        if (!name) return -1;
        *name = (atn_syntax){.kind = ATN_SYNTAX_NAME, .name = w->routine->names[used[k]].name, .offset = tree->offset};
        step->operand[k] = (atn_operand){-1, name};
    }
    for (int32_t k = 0; k < n_sizes; ++k) step->operand[count + k] = (atn_operand){-1, sizes[k]};
    step->operand[kernel->n - 1].name = result;
    w->has_value[result] = true;
    return result;
}

/* ---- calls ---- */

typedef struct head {
    const char *name;
    const atn_datum_use *data;
    int32_t n;
} head;

static bool is_result(const atn_datum_use *use) { return use->use == ATN_USE_OUT; }

static bool array_operand(work *w, const head *h, int32_t k, const atn_syntax *tree, atn_operand *operand) {
    const atn_datum_use *datum = &h->data[k];
    int32_t at = -1;
    if (tree->kind == ATN_SYNTAX_NAME) {
        at = source(w, tree);
    } else if (is_call(w, tree) && datum->use == ATN_USE_IN) {
        if (!call(w, tree, NULL, &at, 1)) return false;
    } else if (datum->use == ATN_USE_IN && datum->rank == 1 && is_made(w, tree)) {
        at = compute(w, tree, NULL, datum->type, false);
    } else {
        complain(w, tree->offset, h->name, "'%s' is a %s; expected the name of one here", datum->name,
                 kind_of(datum->rank));
    }
    if (at < 0) return false;
    const atn_datum_use *use = &w->routine->names[at];
    if (use->rank != datum->rank || use->type != datum->type) {
        complain(w, tree->offset, h->name, "'%s' is a %s of %s; expected a %s of %s for '%s'", use->name,
                 kind_of(use->rank), atn_type_name(use->type), kind_of(datum->rank), atn_type_name(datum->type),
                 datum->name);
        return false;
    }
    if (datum->use == ATN_USE_INOUT && use->use == ATN_USE_IN) {
        complain(w, tree->offset, use->name, "comes in, but '%s' writes it; say inout %s", h->name, use->name);
        return false;
    }
    *operand = (atn_operand){.name = at};
    return true;
}

static bool scalar_operand(work *w, const head *h, int32_t k, const atn_syntax *tree, atn_operand *operand) {
    if (!is_made(w, tree)) {
        *operand = (atn_operand){.name = -1, .tree = tree};
        atn_syntax alone = *tree;
        alone.next = NULL;
        return check_known(w, &alone);
    }
    int32_t at;
    if (tree->kind == ATN_SYNTAX_NAME) {
        at = source(w, tree);
        const atn_datum_use *use = at >= 0 ? &w->routine->names[at] : NULL;
        if (use && (use->rank != 1 || use->type != h->data[k].type)) {
            complain(w, tree->offset, h->name, "'%s' is a %s of %s; expected one value of %s for '%s'", use->name,
                     kind_of(use->rank), atn_type_name(use->type), atn_type_name(h->data[k].type), h->data[k].name);
            return false;
        }
    } else {
        atn_syntax alone = *tree;
        alone.next = NULL;
        at = compute(w, &alone, NULL, h->data[k].type, false);
    }
    *operand = (atn_operand){.name = at};
    return at >= 0;
}

/* What comes in, in the order of the head; what has a default may be left out at the end. */
static bool operands(work *w, const head *h, const atn_syntax *tree, atn_operand *operand) {
    const atn_syntax *arg = tree->a;
    int32_t wanted = 0, given = 0;
    for (const atn_syntax *one = tree->a; one; one = one->next) ++given;
    for (int32_t k = 0; k < h->n; ++k) wanted += !is_result(&h->data[k]);
    bool right = true;
    for (int32_t k = 0; k < h->n; ++k) {
        if (is_result(&h->data[k])) continue;
        if (!arg && !h->data[k].has_default) right = false;
        if (!arg) {
            operand[k] = (atn_operand){.name = -1};
            continue;
        }
        atn_syntax alone = *arg;
        alone.next = NULL;
        atn_syntax *kept = atn_reader_alloc(w->unit->reader, sizeof *kept);
        if (!kept) return false;
        *kept = alone;
        bool one =
            h->data[k].rank ? array_operand(w, h, k, kept, &operand[k]) : scalar_operand(w, h, k, kept, &operand[k]);
        if (!one) return false;
        arg = arg->next;
    }
    if (right && !arg) return true;
    complain(w, tree->offset, h->name, "takes %d value%s, not %d", wanted, wanted == 1 ? "" : "s", given);
    return false;
}

static bool check_apart(work *w, const head *h, const atn_syntax *tree, const atn_operand *operand) {
    for (int32_t j = 0; j < h->n; ++j)
        for (int32_t k = 0; k < j; ++k) {
            bool array = h->data[j].rank && h->data[k].rank && operand[j].name == operand[k].name;
            bool results = is_result(&h->data[j]) && is_result(&h->data[k]);
            bool changed = h->data[j].use == ATN_USE_INOUT || h->data[k].use == ATN_USE_INOUT;
            if (!array || (!results && !changed)) continue;
            complain(w, tree->offset, w->routine->names[operand[j].name].name,
                     "stands for '%s' and '%s' of '%s', which writes it; each needs an array of its own",
                     h->data[k].name, h->data[j].name, h->name);
            return false;
        }
    return true;
}

/* names: what takes the results; NULL: temporaries, n_results of them. */
static bool call(work *w, const atn_syntax *tree, const atn_named *names, int32_t *results, int32_t n_results) {
    atn_target_of_call found;
    if (!atn_builder_find(w->b, w->unit, tree->name, &found) || found.unsure) {
        if (!atn_builder_exists(w->unit, tree->name)) {
            atn_suggestion suggestion = {.wrong = tree->name};
            atn_builder_suggest(w->b, w->unit, &suggestion);
            complain(w, tree->offset, NULL, "no kernel or program '%s'%s", tree->name,
                     atn_suggestion_text(w->unit->reader, &suggestion));
        }
        return false;
    }
    const atn_programs *m = w->b->programs;
    head h;
    if (found.callee >= 0)
        h = (head){m->callees[found.callee].name, m->callees[found.callee].data, m->callees[found.callee].n};
    else
        h = (head){m->routines[found.routine]->name, m->routines[found.routine]->names,
                   m->routines[found.routine]->n_head};
    atn_operand *operand = atn_arena_alloc(&w->b->programs->arena, ((size_t)h.n + 1) * sizeof *operand);
    if (!operand) return w->b->reader->failed = true, false;
    if (!operands(w, &h, tree, operand)) return false;
    int32_t n = 0, wanted = 0, given = 0;
    for (int32_t k = 0; k < h.n; ++k) wanted += is_result(&h.data[k]);
    for (const atn_named *one = names; one; one = one->next) ++given;
    if (!names) given = n_results;
    if (wanted != given) {
        complain(w, tree->offset, h.name, "gives %d result%s, where %d %s", wanted, wanted == 1 ? "" : "s", given,
                 given == 1 ? "is taken" : "are taken");
        return false;
    }
    for (int32_t k = 0; k < h.n; ++k) {
        if (!is_result(&h.data[k])) continue;
        int32_t at = names ? target(w, names, h.data[k].rank, h.data[k].type)
                           : temporary(w, h.name, h.data[k].rank, h.data[k].type);
        if (at < 0) return false;
        operand[k] = (atn_operand){.name = at};
        if (results) results[n++] = at;
        if (names) names = names->next;
    }
    if (!check_apart(w, &h, tree, operand)) return false;
    atn_step *step = add_step(w, found.callee >= 0 ? ATN_STEP_KERNEL : ATN_STEP_ROUTINE, tree->offset);
    if (!step) return false;
    step->callee = found.callee >= 0 ? found.callee : found.routine;
    step->operand = operand;
    for (int32_t k = 0; k < h.n; ++k)
        if (is_result(&h.data[k])) w->has_value[operand[k].name] = true;
    return true;
}

/* ---- lines ---- */

static void steps(work *w, const atn_action *actions, atn_step **last);

static void assign(work *w, const atn_action *action) {
    const atn_syntax *tree = action->value;
    if (is_call(w, tree) || (tree->kind == ATN_SYNTAX_CALL && !action->names)) {
        if (!call(w, tree, action->names, NULL, 0)) lose(w, action->names);
        return;
    }
    if (!action->names || action->names->next) {
        lose(w, action->names);
        complain(w, action->offset, NULL, "expected one name before =, or a call after it");
        return;
    }
    const atn_named *named = action->names;
    if (tree->kind == ATN_SYNTAX_NAME) { /* b = a copies, whatever it is */
        int32_t from = source(w, tree);
        if (from < 0) {
            lose(w, named);
            return;
        }
        const atn_datum_use *use = &w->routine->names[from];
        if (use->rank > 1) {
            complain(w, action->offset, named->name, "takes a whole %s; call a kernel that copies it",
                     atn_rank_name(use->rank));
            return;
        }
    }
    if (compute(w, tree, named, named->type, false) < 0) lose(w, named);
}

static void declare(work *w, const atn_action *action) {
    const atn_named *named = action->names;
    if (atn_routine_find(w->routine, named->name) >= 0) {
        complain(w, named->offset, named->name, "the name is taken already");
        return;
    }
    if (!check_known(w, action->sizes)) {
        lose(w, named);
        return;
    }
    atn_datum_use use = {.name = named->name, .use = ATN_USE_TEMPORARY, .rank = action->rank, .type = named->type};
    int32_t axis = 0;
    for (const atn_syntax *one = action->sizes; one; one = one->next) use.size[axis++] = one;
    atn_routine_add(w->b, w->routine, use);
}

/* The name of a vector of INT32: a kernel made what a condition is. */
static bool is_answer(const work *w, const atn_syntax *tree) {
    int32_t at = tree->kind == ATN_SYNTAX_NAME ? atn_routine_find(w->routine, tree->name) : -1;
    return at >= 0 && w->routine->names[at].rank == 1 && w->routine->names[at].type == ATN_INT32;
}

static void loop(work *w, const atn_action *action) {
    atn_step *before = NULL, **outer = w->last;
    int32_t condition = -1, counter = action->counter ? atn_routine_find(w->routine, action->counter->name) : -1;
    bool had_value[MOST_NAMES];
    if (counter >= 0) w->has_value[counter] = false; /* until the loop is left */
    memcpy(had_value, w->has_value, sizeof had_value);
    if (action->kind == ATN_ACTION_WHILE) {
        w->last = &before;
        if (!is_made(w, action->value))
            complain(w, action->value->offset, NULL, "the condition never changes: no step makes a part of it");
        else if (is_answer(w, action->value))
            condition = source(w, action->value);
        else
            condition = compute(w, action->value, NULL, ATN_INT32, true);
        w->last = outer;
        if (condition < 0 || !check_known(w, action->most)) {
            lose(w, action->counter);
            lose_all(w, action->child);
            return;
        }
    } else if (is_made(w, action->value) || !check_known(w, action->value)) {
        if (is_made(w, action->value))
            complain(w, action->value->offset, NULL,
                     "how often it is repeated must be known before the run; use while");
        lose_all(w, action->child);
        return;
    }
    atn_step *step = add_step(w, action->kind == ATN_ACTION_WHILE ? ATN_STEP_WHILE : ATN_STEP_REPEAT, action->offset);
    if (!step) return;
    step->tree = action->kind == ATN_ACTION_WHILE ? action->most : action->value;
    step->condition = condition;
    step->before = before;
    if (action->counter) step->counter = target(w, action->counter, 1, ATN_INT32);
    outer = w->last;
    steps(w, action->child, &step->child);
    w->last = outer;
    if (action->kind == ATN_ACTION_WHILE) memcpy(w->has_value, had_value, sizeof had_value); /* there may be no round */
    if (step->counter >= 0) w->has_value[step->counter] = true;
}

static const atn_action *branch(work *w, const atn_action *action) {
    bool made = is_made(w, action->value);
    int32_t condition = made ? compute(w, action->value, NULL, ATN_INT32, true) : -1;
    const atn_action *otherwise = action->next && action->next->kind == ATN_ACTION_ELSE ? action->next : NULL;
    if ((made && condition < 0) || (!made && !check_known(w, action->value))) {
        lose_all(w, action->child);
        if (otherwise) lose_all(w, otherwise->child);
        return otherwise ? otherwise : action;
    }
    atn_step *step = add_step(w, ATN_STEP_IF, action->offset);
    if (!step) return action;
    step->condition = condition;
    step->tree = made ? NULL : action->value;
    atn_step **outer = w->last;
    bool before[MOST_NAMES], first[MOST_NAMES];
    memcpy(before, w->has_value, sizeof before);
    steps(w, action->child, &step->child);
    memcpy(first, w->has_value, sizeof first);
    memcpy(w->has_value, before, sizeof before);
    if (otherwise) steps(w, otherwise->child, &step->otherwise);
    /* behind it, what has a value either way; where the choice is made before the run, what has one in either */
    for (int32_t k = 0; k < MOST_NAMES; ++k)
        w->has_value[k] = made ? w->has_value[k] && first[k] : w->has_value[k] || first[k];
    w->last = outer;
    return otherwise ? otherwise : action;
}

static void steps(work *w, const atn_action *actions, atn_step **last) {
    w->last = last;
    for (const atn_action *action = actions; action && !w->b->reader->failed; action = action->next) {
        if (action->failed) continue;
        switch (action->kind) {
        case ATN_ACTION_CALL:
            assign(w, action);
            break;
        case ATN_ACTION_DECLARE:
            declare(w, action);
            break;
        case ATN_ACTION_REPEAT:
        case ATN_ACTION_WHILE:
            loop(w, action);
            break;
        case ATN_ACTION_IF:
            action = branch(w, action);
            break;
        case ATN_ACTION_ELSE:
            complain(w, action->offset, NULL, "'else' without 'if'");
            break;
        }
    }
}

void atn_routine_build(atn_builder *b, atn_unit *unit, const atn_program_text *text, atn_routine *routine) {
    work *w = atn_reader_alloc(unit->reader, sizeof *w);
    if (!w) return;
    *w = (work){.b = b, .unit = unit, .text = text, .routine = routine};
    for (int32_t k = 0; k < routine->n_head; ++k) w->has_value[k] = routine->names[k].use != ATN_USE_OUT;
    steps(w, text->actions, &routine->steps);
    for (int32_t k = 0; k < routine->n_head; ++k)
        if (!w->has_value[k] && !unit->reader->n_complaints)
            complain(w, text->offset, routine->names[k].name, "no step gives it a value");
}
