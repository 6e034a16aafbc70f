/* A program whose steps fuse into one, as a kernel: it is then tuned, compiled in and run like any other. What the
 * planner does for sizes that are known is done here for all sizes. */
#include "graph/compose.h"
#include "graph/routine_build.h"

#include "base/memory.h"

#include <string.h>

enum { MOST_STEPS = 16, MOST_DATA = 64, MOST_MARKS = 1024 };

/* Sizes are unknown: equal marks represent equal sizes. */
typedef struct folding {
    atn_reader *reader;
    const atn_programs *programs;
    const atn_routine *routine;
    atn_graph *graph[MOST_STEPS]; /* NULL: fused into others */
    int32_t n;
    const char *current[MOST_MARKS];        /* per name: what its value is called now */
    int64_t mark[MOST_MARKS][ATN_MAX_RANK]; /* per name of the routine */
    struct {
        const char *name;
        int64_t mark[ATN_MAX_RANK];
    } array[MOST_MARKS];
    int32_t n_arrays;
} folding;

static bool refuse(const folding *f, atn_place at, const char *why) {
    if (!f->reader->n_complaints)
        atn_reader_complain(f->reader, at, f->routine->name,
                            "is a program, where a kernel is expected; its steps are not one kernel: %s", why);
    return false;
}

static bool failed(const folding *f, atn_place at, atn_status status) {
    if (status == ATN_ERR_MEMORY) return f->reader->failed = true, false;
    return refuse(f, at, atn_ctx_message(f->reader->ctx));
}

/* rows(A) has the mark of A's rows. */
static int64_t mark_of(const folding *f, const atn_syntax *tree, int64_t other) {
    if (!tree || tree->kind != ATN_SYNTAX_CALL || !tree->a || tree->a->kind != ATN_SYNTAX_NAME) return other;
    int32_t at = atn_routine_find(f->routine, tree->a->name);
    return at < 0 ? other : f->mark[at][!strcmp(tree->name, "rows") ? 1 : !strcmp(tree->name, "planes") ? 2 : 0];
}

static void mark_names(folding *f) {
    for (int32_t k = 0; k < f->routine->n; ++k) {
        const atn_datum_use *use = &f->routine->names[k];
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis) /* sizes are written planes, rows, columns */
            f->mark[k][axis] =
                axis < use->rank ? mark_of(f, use->size[use->rank - 1 - axis], ATN_MAX_RANK * k + axis + 1) : 0;
        f->current[k] = use->use == ATN_USE_OUT || use->use == ATN_USE_TEMPORARY ? NULL : use->name;
    }
}

static bool assigned_later(const atn_programs *programs, const atn_step *step, int32_t name) {
    for (step = step->next; step; step = step->next)
        for (int32_t k = 0; k < programs->callees[step->callee].n; ++k)
            if (programs->callees[step->callee].data[k].rank &&
                programs->callees[step->callee].data[k].use != ATN_USE_IN && step->operand[k].name == name)
                return true;
    return false;
}

static const char *note_array(folding *f, const char *name, const int64_t mark[ATN_MAX_RANK]) {
    if (f->n_arrays == MOST_MARKS) return NULL;
    f->array[f->n_arrays].name = name;
    memcpy(f->array[f->n_arrays++].mark, mark, sizeof f->array[0].mark);
    return name;
}

/* The step by the names of the program; what it assigns is called after the name where it is its last value. */
static bool add_step(folding *f, const atn_step *step) {
    const atn_callee *callee = &f->programs->callees[step->callee];
    const char *reads[MOST_DATA], *writes[MOST_DATA], *parameters[MOST_DATA];
    int64_t sizes[MOST_DATA][ATN_MAX_RANK] = {{0}};
    if (f->n == MOST_STEPS || callee->graph->n_objects > MOST_DATA || callee->graph->n_parameters > MOST_DATA)
        return refuse(f, step->at, "there are too many");
    for (int32_t k = 0; k < callee->graph->n_objects; ++k) reads[k] = writes[k] = callee->graph->objects[k].name;
    for (int pass = 0; pass < 2; ++pass) /* reads see what was there before */
        for (int32_t k = 0; k < callee->n; ++k) {
            const atn_datum_use *datum = &callee->data[k];
            const atn_operand *operand = &step->operand[k];
            if (!datum->rank) {
                if (operand->name >= 0 || !operand->tree || operand->tree->kind != ATN_SYNTAX_NAME)
                    return refuse(f, step->at, "a scalar that is not a parameter of the program");
                parameters[datum->index] = operand->tree->name;
                continue;
            }
            if (datum->use == ATN_USE_INOUT) return refuse(f, step->at, "one changes what it reads");
            memcpy(sizes[datum->index], f->mark[operand->name], sizeof sizes[0]);
            if (!pass && datum->use == ATN_USE_IN)
                reads[datum->index] = writes[datum->index] = f->current[operand->name];
            if (!pass || datum->use == ATN_USE_IN) continue;
            const char *name = f->routine->names[operand->name].name;
            if (assigned_later(f->programs, step, operand->name))
                name = atn_arena_printf(&f->reader->arena, "%s_%d", name, f->n);
            if (!name || !note_array(f, name, f->mark[operand->name])) return f->reader->failed = true, false;
            f->current[operand->name] = reads[datum->index] = writes[datum->index] = name;
        }
    const atn_part part = {.graph = callee->graph,
                           .reads = reads,
                           .writes = writes,
                           .parameters = parameters,
                           .sizes = (const int64_t(*)[ATN_MAX_RANK])sizes,
                           .symbolic = true};
    atn_status status = atn_graph_compose(f->reader->ctx, callee->name, NULL, &part, &f->graph[f->n]);
    if (status != ATN_OK) return failed(f, step->at, status);
    ++f->n;
    return true;
}

static void describe(const folding *f, const atn_graph *graph, const char **names, const char **parameters,
                     int64_t (*sizes)[ATN_MAX_RANK], atn_part *part) {
    for (int32_t k = 0; k < graph->n_objects; ++k) {
        names[k] = graph->objects[k].name;
        for (int axis = 0; axis < ATN_MAX_RANK; ++axis) sizes[k][axis] = -1;
        for (int32_t a = 0; a < f->n_arrays; ++a)
            if (!strcmp(f->array[a].name, names[k])) memcpy(sizes[k], f->array[a].mark, sizeof sizes[k]);
    }
    for (int32_t k = 0; k < graph->n_parameters; ++k) parameters[k] = graph->parameters[k].name;
    *part = (atn_part){.graph = graph,
                       .reads = names,
                       .writes = names,
                       .parameters = parameters,
                       .sizes = (const int64_t(*)[ATN_MAX_RANK])sizes,
                       .symbolic = true};
}

static bool fuse(folding *f, int32_t first, int32_t second) {
    const char *names[2][MOST_DATA], *parameters[2][MOST_DATA];
    int64_t sizes[2][MOST_DATA][ATN_MAX_RANK];
    atn_part part[2];
    atn_graph *whole;
    const atn_ctx *ctx = f->reader->ctx;
    if (f->graph[first]->n_objects + f->graph[second]->n_objects > MOST_DATA)
        return refuse(f, f->routine->at, "there are too many arrays");
    describe(f, f->graph[first], names[0], parameters[0], sizes[0], &part[0]);
    describe(f, f->graph[second], names[1], parameters[1], sizes[1], &part[1]);
    atn_status status = atn_graph_compose(ctx, f->routine->name, &part[0], &part[1], &whole);
    if (status == ATN_ERR_UNSUPPORTED && strstr(atn_ctx_message(ctx), "every other"))
        status = atn_graph_compose_cells(ctx, f->routine->name, &part[0], &part[1], &whole);
    if (status != ATN_OK) return failed(f, f->routine->at, status);
    atn_graph_free(ctx, f->graph[second]);
    f->graph[second] = whole;
    return true;
}

static bool uses(const atn_graph *graph, const char *name, bool written) {
    for (int32_t k = 0; graph && k < graph->n_objects; ++k)
        if ((written ? graph->objects[k].written : graph->objects[k].read) && !strcmp(graph->objects[k].name, name))
            return true;
    return false;
}

/* Every step but the last is computed in those that read it. */
static bool fuse_all(folding *f) {
    for (int32_t s = 0; s + 1 < f->n; ++s) {
        const char *made = NULL;
        for (int32_t k = 0; k < f->graph[s]->n_objects; ++k)
            if (f->graph[s]->objects[k].written) made = f->graph[s]->objects[k].name;
        for (int32_t t = s + 1; t < f->n; ++t)
            if (made && uses(f->graph[t], made, false) && !fuse(f, s, t)) return false;
        atn_graph_free(f->reader->ctx, f->graph[s]);
        f->graph[s] = NULL;
    }
    return true;
}

/* Objects and parameters in the order of the head. */
static bool put_in_order(folding *f, atn_graph *graph) {
    atn_object *objects = atn_arena_alloc(&graph->arena, ((size_t)graph->n_objects + 1) * sizeof *objects);
    atn_parameter *parameters = atn_arena_alloc(&graph->arena, ((size_t)graph->n_parameters + 1) * sizeof *parameters);
    int32_t to[MOST_DATA], parameter_to[MOST_DATA], n = 0, m = 0;
    if (!objects || !parameters || graph->n_objects > MOST_DATA) return f->reader->failed = true, false;
    for (int32_t k = 0; k < graph->n_objects; ++k) to[k] = -1;
    for (int32_t h = 0; h < f->routine->n_head; ++h) {
        for (int32_t k = 0; k < graph->n_objects; ++k)
            if (!graph->objects[k].table && !strcmp(graph->objects[k].name, f->routine->names[h].name)) {
                to[k] = n;
                objects[n++] = graph->objects[k];
            }
        for (int32_t k = 0; k < graph->n_parameters; ++k)
            if (!strcmp(graph->parameters[k].name, f->routine->names[h].name)) {
                parameter_to[k] = m;
                parameters[m++] = graph->parameters[k];
            }
    }
    for (int32_t k = 0; k < graph->n_objects; ++k)
        if (to[k] < 0 && graph->objects[k].table) {
            to[k] = n;
            objects[n++] = graph->objects[k];
        }
    if (n != graph->n_objects || m != graph->n_parameters)
        return refuse(f, f->routine->at, "what lies between two of them is still wanted");
    graph->objects = objects;
    graph->parameters = parameters;
    for (int32_t k = 0; k < graph->n_reads; ++k) graph->reads[k].object = to[graph->reads[k].object];
    for (int32_t k = 0; k < graph->n_writes; ++k) graph->writes[k].object = to[graph->writes[k].object];
    for (int32_t k = 0; k < graph->n_values; ++k) {
        atn_node *node = &graph->values[k];
        if (node->op == ATN_OP_SIZE) node->index = to[node->index];
        if (node->op == ATN_OP_PARAM) node->index = parameter_to[node->index];
    }
    return true;
}

static atn_graph *fold(atn_reader *reader, const atn_programs *programs) {
    folding *f = atn_reader_alloc(reader, sizeof *f);
    if (!f) return NULL;
    f->reader = reader;
    f->programs = programs;
    f->routine = programs->routines[programs->main];
    if (f->routine->n > MOST_MARKS) return refuse(f, f->routine->at, "there are too many names"), NULL;
    mark_names(f);
    for (int32_t k = 0; k < f->routine->n_head; ++k)
        if (f->routine->names[k].rank) note_array(f, f->routine->names[k].name, f->mark[k]);
    bool right = f->routine->steps != NULL;
    for (const atn_step *step = f->routine->steps; step && right; step = step->next) /* all, before any is looked at */
        if (step->kind != ATN_STEP_KERNEL) right = refuse(f, step->at, "loops, branches and programs are not");
    for (const atn_step *step = f->routine->steps; step && right; step = step->next) right = add_step(f, step);
    right = right && fuse_all(f) && put_in_order(f, f->graph[f->n - 1]);
    atn_graph *whole = right ? f->graph[f->n - 1] : NULL;
    for (int32_t k = 0; k < f->n; ++k)
        if (f->graph[k] != whole) atn_graph_free(reader->ctx, f->graph[k]);
    return whole;
}

atn_graph *atn_programs_whole(atn_reader *reader, atn_file_text *file) {
    atn_programs *programs = atn_zalloc(reader->ctx, sizeof *programs);
    atn_builder *b = atn_zalloc(reader->ctx, sizeof *b);
    atn_graph *graph = NULL;
    if (programs) programs->ctx = programs->arena.ctx = reader->ctx;
    if (programs && b) {
        *b = (atn_builder){.reader = reader, .programs = programs, .whole = atn_programs_whole};
        atn_builder_read(b, file);
        if (!reader->n_complaints && !reader->failed) graph = fold(reader, programs);
        const atn_program_text *main = file->programs;
        while (main->next) main = main->next;
        if (graph) {
            graph->finite |= main->finite;
            if (main->tolerance > 0) graph->tolerance = main->tolerance;
            graph->hash = atn_graph_hash(reader, graph);
        }
        atn_builder_close(b);
    } else {
        reader->failed = true;
    }
    atn_free(reader->ctx, b);
    if (programs) atn_programs_free(programs);
    return graph;
}
