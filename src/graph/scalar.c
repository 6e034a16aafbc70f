/* Arithmetic on single values within a program, as kernels with one point: written in the notation and parsed like any
 * other. */
#include "graph/compose.h"
#include "graph/rewrite.h"
#include "graph/routine_build.h"
#include "graph/unparse.h"

#include <string.h>

enum { MOST_USED = 32 };

typedef struct use {
    const atn_routine *routine;
    int32_t *names, n;
    bool too_many;
} use;

static void note(use *u, const atn_syntax *tree) {
    for (; tree; tree = tree->next) {
        if (tree->kind == ATN_SYNTAX_NAME || tree->kind == ATN_SYNTAX_ELEMENT) {
            int32_t at = atn_routine_find(u->routine, tree->name), k = 0;
            while (k < u->n && u->names[k] != at) ++k;
            if (at >= 0 && k == u->n && u->n == MOST_USED) u->too_many = true;
            if (at >= 0 && k == u->n && !u->too_many) u->names[u->n++] = at;
        }
        note(u, tree->a);
        note(u, tree->b);
        note(u, tree->c);
    }
}

/* A vector stands for its first element. */
static void leaf(const atn_unparse *u, const atn_syntax *tree, int32_t strength) {
    const atn_routine *routine = u->user;
    (void)strength;
    int32_t at = tree->kind == ATN_SYNTAX_NAME ? atn_routine_find(routine, tree->name) : -1;
    atn_text_add(u->out, tree->name);
    if (at >= 0 && routine->names[at].rank == 1) atn_text_add(u->out, "[0]");
}

static void print(const atn_routine *routine, const atn_syntax *tree, atn_text *out) {
    const atn_unparse u = {.form = ATN_FORM_NOTATION, .out = out, .leaf = leaf, .user = routine};
    atn_text_add(out, "(");
    atn_unparse_expression(&u, tree, ATN_STRENGTH_LOW);
    atn_text_add(out, ")");
}

/* a < b: 1; b <= a: 0; neither: 2, one of them is no number. */
static void print_test(const atn_routine *routine, const atn_syntax *tree, atn_text *out) {
    if (tree->kind == ATN_SYNTAX_BINARY && (tree->op == ATN_OP_LT || tree->op == ATN_OP_LE)) {
        atn_syntax other = *tree;
        other.op = tree->op == ATN_OP_LT ? ATN_OP_LE : ATN_OP_LT;
        other.a = tree->b;
        other.b = tree->a;
        print(routine, tree, out);
        atn_text_add(out, " ? 1 : (");
        print(routine, &other, out);
        atn_text_add(out, " ? 0 : 2)");
        return;
    }
    print(routine, tree, out);
    atn_text_add(out, " ? 1 : 0");
}

static atn_graph *parse(atn_builder *b, const char *text, const atn_kernel_text **kernel, const char **wrong) {
    atn_reader *reader = atn_reader_alloc(b->reader, sizeof *reader);
    atn_file_text *file = atn_reader_alloc(b->reader, sizeof *file);
    if (!reader || !file) return NULL;
    static const atn_parse_options none;
    *reader = (atn_reader){.ctx = b->reader->ctx,
                           .arena = {.ctx = b->reader->ctx},
                           .file = "scalar",
                           .xml = text,
                           .length = strlen(text),
                           .options = &none};
    atn_graph *graph = NULL;
    if (atn_notation_scan(reader, file) && atn_notation_parse(reader, file) && !reader->n_complaints)
        graph = atn_reader_algorithm(reader, NULL, file, file->kernels);
    *kernel = file->kernels;
    *wrong = NULL;
    if (atn_reader_finish(reader, NULL) != ATN_OK) {
        const char *message = atn_ctx_message(reader->ctx), *last = strrchr(message, ':');
        *wrong = atn_arena_strdup(&b->reader->arena, last ? last + 2 : message);
    }
    if (reader->failed) b->reader->failed = true;
    atn_arena_take(&b->reader->arena, &reader->arena); /* the head is still looked at */
    return graph;
}

int32_t atn_scalar_kernel(atn_builder *b, atn_unit *unit, const atn_routine *routine, const atn_syntax *tree,
                          atn_type type, bool test, int32_t n_sizes, int32_t names[], int32_t *n_names) {
    use u = {.routine = routine, .names = names};
    atn_place at = atn_attribute_place(unit->reader, &unit->file->text, tree->offset);
    note(&u, tree);
    *n_names = u.n;
    atn_type of_sizes = ATN_TYPE_NONE;
    for (int32_t k = 0; k < u.n; ++k) {
        const atn_datum_use *one = &routine->names[names[k]];
        if (one->rank > 1) {
            atn_reader_complain(unit->reader, at, one->name,
                                "is a %s; arithmetic in a program is on single values, kernels compute arrays",
                                atn_rank_name(one->rank));
            return -1;
        }
        if (type == ATN_TYPE_NONE && one->rank == 1) type = one->type;
        if (of_sizes == ATN_TYPE_NONE && one->rank == 1) of_sizes = one->type;
    }
    for (int32_t k = 0; k < u.n && type == ATN_TYPE_NONE; ++k) type = routine->names[names[k]].type;
    if (u.too_many || type == ATN_TYPE_NONE) {
        atn_reader_complain(unit->reader, at, routine->name,
                            u.too_many ? "too many names in one line" : "needs a type: alpha: T = ...");
        return -1;
    }
    atn_text text = {.ctx = b->reader->ctx};
    atn_text_printf(&text, "kernel scalar_%d(", b->programs->n_callees);
    for (int32_t k = 0; k < u.n; ++k) {
        const atn_datum_use *one = &routine->names[names[k]];
        atn_text_printf(&text, "%s%s: %s%s", k ? ", " : "", one->name, one->rank ? "vector " : "",
                        atn_type_name(one->type));
    }
    for (int32_t k = 0; k < n_sizes; ++k)
        atn_text_printf(&text, "%ssize_%d_: %s", u.n + k ? ", " : "", k,
                        atn_type_name(of_sizes == ATN_TYPE_NONE ? type : of_sizes));
    bool all = !test && tree->kind == ATN_SYNTAX_NAME && u.n == 1 && routine->names[names[0]].rank == 1 &&
               routine->names[names[0]].type == type; /* b = a takes them all */
    atn_text_printf(&text, ") -> result_: vector %s\n    result_[%s] = ", atn_type_name(type), all ? "i_" : "0");
    if (all)
        atn_text_printf(&text, "%s[i_]", tree->name);
    else if (test)
        print_test(routine, tree, &text);
    else
        print(routine, tree, &text);
    atn_text_add(&text, "\n");
    const atn_kernel_text *head = NULL;
    const char *wrong = NULL;
    char *kept = text.failed ? NULL : atn_arena_strdup(&b->reader->arena, atn_text_str(&text));
    atn_text_free(&text);
    if (!kept) return b->reader->failed = true, -1;
    atn_graph *graph = parse(b, kept, &head, &wrong);
    int32_t callee = graph && !wrong ? atn_programs_add_kernel(b,
                                                               test  ? "test"
                                                               : all ? "copy"
                                                                     : "scalar",
                                                               graph, head)
                                     : -1;
    if (callee >= 0) return callee;
    if (wrong) {
        atn_graph_free(b->reader->ctx, graph);
        atn_reader_complain(unit->reader, at, routine->name, "%s", wrong);
    }
    return -1;
}
