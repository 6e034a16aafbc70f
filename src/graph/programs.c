/* A description with all that it calls: kernels of the file, kernels and programs that are shipped. */
#include "graph/routine_build.h"

#include "base/memory.h"
#include "graph/compose.h"
#include "graph/flatten.h"
#include "graph/rewrite.h"
#include "graph/shipped.h"
#include "graph/type.h"

#include <string.h>

static atn_datum_use use_of(const atn_object *object, int32_t index, atn_use use) {
    return (atn_datum_use){
        .name = object->name, .use = use, .rank = object->rank, .type = object->type, .index = index};
}

static atn_datum_use use_of_parameter(const atn_parameter *parameter, int32_t index) {
    return (atn_datum_use){.name = parameter->name,
                           .type = parameter->type,
                           .index = index,
                           .has_default = parameter->has_default,
                           .default_value = {parameter->default_value[0], parameter->default_value[1]}};
}

static atn_use use_by_graph(const atn_object *object) {
    if (!object->written) return ATN_USE_IN;
    return object->read ? ATN_USE_INOUT : ATN_USE_OUT;
}

/* The head in the order of the notation; of XML: objects, then parameters. */
static bool describe_head(atn_builder *b, atn_callee *callee, const atn_kernel_text *text) {
    const atn_graph *graph = callee->graph;
    callee->data = atn_arena_alloc(&b->programs->arena,
                                   ((size_t)graph->n_objects + (size_t)graph->n_parameters + 1) * sizeof *callee->data);
    if (!callee->data) return false;
    if (!text) {
        for (int32_t k = 0; k < graph->n_objects; ++k)
            if (!graph->objects[k].table)
                callee->data[callee->n++] = use_of(&graph->objects[k], k, use_by_graph(&graph->objects[k]));
        for (int32_t k = 0; k < graph->n_parameters; ++k)
            callee->data[callee->n++] = use_of_parameter(&graph->parameters[k], k);
        return true;
    }
    for (const atn_datum *datum = text->data; datum; datum = datum->next) {
        atn_use use = datum->role == ATN_ROLE_IN    ? ATN_USE_IN
                      : datum->role == ATN_ROLE_OUT ? ATN_USE_OUT
                                                    : ATN_USE_INOUT;
        for (int32_t k = 0; k < graph->n_objects; ++k)
            if (!strcmp(graph->objects[k].name, datum->name) && !graph->objects[k].table)
                callee->data[callee->n++] = use_of(&graph->objects[k], k, use);
        for (int32_t k = 0; k < graph->n_parameters; ++k)
            if (!strcmp(graph->parameters[k].name, datum->name))
                callee->data[callee->n++] = use_of_parameter(&graph->parameters[k], k);
    }
    return true;
}

int32_t atn_programs_add_kernel(atn_builder *b, const char *name, atn_graph *graph, const atn_kernel_text *text) {
    atn_programs *m = b->programs;
    if (m->n_callees == m->callees_room) {
        int32_t room = m->callees_room ? 2 * m->callees_room : 16;
        atn_callee *grown = atn_arena_alloc(&m->arena, (size_t)room * sizeof *grown);
        if (!grown) {
            atn_graph_free(m->ctx, graph);
            return b->reader->failed = true, -1;
        }
        if (m->n_callees) memcpy(grown, m->callees, (size_t)m->n_callees * sizeof *grown);
        m->callees = grown;
        m->callees_room = room;
    }
    atn_callee *callee = &m->callees[m->n_callees++];
    *callee = (atn_callee){.graph = graph, .name = atn_arena_strdup(&m->arena, name)};
    if (!callee->name || !describe_head(b, callee, text)) return b->reader->failed = true, -1;
    return m->n_callees - 1;
}

static int32_t add_routine(atn_builder *b, const char *name, atn_place at) {
    atn_programs *m = b->programs;
    if (m->n_routines == m->routines_room) {
        int32_t room = m->routines_room ? 2 * m->routines_room : 8;
        atn_routine **grown = atn_arena_alloc(&m->arena, (size_t)room * sizeof(void *));
        if (!grown) return b->reader->failed = true, -1;
        if (m->n_routines) memcpy(grown, m->routines, (size_t)m->n_routines * sizeof(void *));
        m->routines = grown;
        m->routines_room = room;
    }
    atn_routine *routine = atn_arena_alloc(&m->arena, sizeof *routine);
    if (!routine) return b->reader->failed = true, -1;
    routine->name = name;
    routine->at = at;
    m->routines[m->n_routines] = routine;
    return m->n_routines++;
}

/* ---- what a name calls ---- */

/* A shipped description, read once; its kernels and programs are found under their names from then on. */
static atn_unit *open_shipped(atn_builder *b, const char *name) {
    for (atn_unit *unit = b->units; unit; unit = unit->next)
        if (unit->shipped && !strcmp(unit->shipped, name)) return unit;
    const char *text = atn_shipped_find(name);
    atn_unit *unit = text ? atn_reader_alloc(b->reader, sizeof *unit) : NULL;
    if (!unit) return NULL;
    unit->reader = atn_reader_alloc(b->reader, sizeof *unit->reader);
    unit->file = atn_reader_alloc(b->reader, sizeof *unit->file);
    unit->shipped = name;
    if (!unit->reader || !unit->file) return NULL;
    *unit->reader = (atn_reader){.ctx = b->reader->ctx,
                                 .arena = {.ctx = b->reader->ctx},
                                 .file = name,
                                 .xml = text,
                                 .length = strlen(text),
                                 .options = b->reader->options};
    unit->next = b->units;
    b->units = unit;
    bool whole = atn_notation_scan(unit->reader, unit->file) && atn_notation_parse(unit->reader, unit->file);
    return whole && !unit->reader->n_complaints ? unit : NULL;
}

static const atn_kernel_text *kernel_in(const atn_unit *unit, const char *name) {
    for (const atn_kernel_text *kernel = unit->file->kernels; kernel; kernel = kernel->next)
        if (!strcmp(kernel->name, name)) return kernel;
    return NULL;
}

static const atn_program_text *program_in(const atn_unit *unit, const char *name) {
    for (const atn_program_text *program = unit->file->programs; program; program = program->next)
        if (!strcmp(program->name, name)) return program;
    return NULL;
}

static bool take_kernel(atn_builder *b, atn_unit *unit, const atn_kernel_text *text, atn_target_of_call *found) {
    for (int32_t k = 0; k < b->n_known; ++k)
        if (b->known[k].text == text) return *found = b->known[k].target, true;
    if (text->failed) return false; /* told already */
    size_t before = unit->reader->n_complaints;
    atn_graph *graph = atn_reader_algorithm(unit->reader, NULL, unit->file, text);
    if (!graph) return false;
    bool right = unit->reader->n_complaints == before && !unit->reader->failed;
    int32_t callee = atn_programs_add_kernel(b, text->name, graph, text);
    if (callee < 0) return false;
    *found = (atn_target_of_call){.callee = callee, .routine = -1, .unsure = !right};
    return atn_builder_know(b, text, *found);
}

static bool take_program(atn_builder *b, atn_unit *unit, const atn_program_text *text, atn_target_of_call *found) {
    for (int32_t k = 0; k < b->n_known; ++k)
        if (b->known[k].text == text) return *found = b->known[k].target, true;
    int32_t routine = add_routine(b, text->name, atn_attribute_place(unit->reader, &unit->file->text, text->offset));
    if (routine < 0) return false;
    *found = (atn_target_of_call){.callee = -1, .routine = routine, .unsure = text->failed};
    if (!atn_builder_know(b, text, *found)) return false; /* before its steps: it may call itself */
    atn_routine_head(b, unit, text, b->programs->routines[routine]);
    if (!text->failed) atn_routine_build(b, unit, text, b->programs->routines[routine]);
    return true;
}

bool atn_builder_know(atn_builder *b, const void *text, atn_target_of_call target) {
    if (b->n_known == ATN_MOST_KNOWN) {
        atn_reader_complain(b->reader, (atn_place){1, 1}, NULL, "more than %d kernels and programs are called",
                            (int)ATN_MOST_KNOWN);
        return false;
    }
    b->known[b->n_known++] = (atn_known){text, target};
    return true;
}

/* A shipped kernel that is written as a program: one step, as it is tuned and compiled in. */
static bool take_whole(atn_builder *b, atn_unit *unit, const atn_program_text *text, atn_target_of_call *found) {
    for (int32_t k = 0; k < b->n_known; ++k)
        if (b->known[k].text == text) return *found = b->known[k].target, true;
    atn_graph *graph = atn_programs_whole(unit->reader, unit->file);
    const atn_kernel_text head = {.name = text->name, .data = text->data};
    int32_t callee = graph ? atn_programs_add_kernel(b, text->name, graph, &head) : -1;
    if (callee < 0) return false;
    b->programs->callees[callee].whole = true;
    *found = (atn_target_of_call){.callee = callee, .routine = -1};
    return atn_builder_know(b, text, *found);
}

bool atn_builder_find(atn_builder *b, atn_unit *unit, const char *name, atn_target_of_call *found) {
    const atn_kernel_text *kernel = kernel_in(unit, name);
    if (kernel) return take_kernel(b, unit, kernel, found);
    const atn_program_text *program = program_in(unit, name);
    if (program) return take_program(b, unit, program, found);
    atn_unit *shipped = open_shipped(b, name);
    if (!shipped) return false;
    program = program_in(shipped, name);
    if (program && atn_shipped_is_kernel(name)) return take_whole(b, shipped, program, found);
    if (program) return take_program(b, shipped, program, found);
    kernel = kernel_in(shipped, name);
    return kernel && take_kernel(b, shipped, kernel, found);
}

bool atn_builder_exists(const atn_unit *unit, const char *name) {
    return kernel_in(unit, name) || program_in(unit, name) || atn_shipped_find(name);
}

/* Functions of the language are not hidden by kernels that are shipped. */
bool atn_builder_is_callable(const atn_unit *unit, const char *name) {
    return kernel_in(unit, name) || program_in(unit, name) || !atn_flat_is_function(name);
}

void atn_builder_suggest(const atn_builder *b, const atn_unit *unit, atn_suggestion *suggestion) {
    for (const atn_kernel_text *one = unit->file->kernels; one; one = one->next)
        atn_suggestion_try(b->reader, suggestion, one->name);
    for (const atn_program_text *one = unit->file->programs; one; one = one->next)
        atn_suggestion_try(b->reader, suggestion, one->name);
    for (const atn_embedded *one = ATN_SHIPPED; one->name; ++one) atn_suggestion_try(b->reader, suggestion, one->name);
    for (const atn_embedded *one = ATN_SHIPPED_PROGRAMS; one->name; ++one)
        atn_suggestion_try(b->reader, suggestion, one->name);
}

/* ---- the whole ---- */

/* half(x) converts x. */
static void check_name(const atn_unit *unit, const char *name, size_t offset) {
    if (atn_type_from_any_name(name) != ATN_TYPE_NONE)
        atn_reader_complain(unit->reader, atn_attribute_place(unit->reader, &unit->file->text, offset), name,
                            "is a type; what programs call needs another name");
}

static void read_programs(atn_builder *b, atn_unit *unit) {
    for (const atn_kernel_text *one = unit->file->kernels; one && !b->reader->failed; one = one->next) {
        atn_target_of_call ignored;
        check_name(unit, one->name, one->offset);
        take_kernel(b, unit, one, &ignored); /* those that nobody calls are checked too */
    }
    for (const atn_program_text *one = unit->file->programs; one && !b->reader->failed; one = one->next) {
        atn_target_of_call target;
        check_name(unit, one->name, one->offset);
        bool twice = kernel_in(unit, one->name) || program_in(unit, one->name) != one;
        if (twice)
            atn_reader_complain(b->reader, atn_attribute_place(unit->reader, &unit->file->text, one->offset), one->name,
                                "the name is taken already");
        if (take_program(b, unit, one, &target)) b->programs->main = target.routine;
    }
}

/* One routine that does the steps of a Sequence: equal names are one. */
static void read_sequence(atn_builder *b, atn_sequence *sequence) {
    atn_programs *m = b->programs;
    char *name = atn_arena_strdup(&m->arena, *sequence->name ? sequence->name : sequence->step[0]->name);
    int32_t number = name ? add_routine(b, name, (atn_place){1, 1}) : -1;
    if (number < 0) return;
    atn_routine *routine = m->routines[number];
    routine->by_names = true;
    atn_step **last = &routine->steps;
    for (int32_t k = 0; k < sequence->count && !b->reader->failed; ++k) {
        atn_graph *graph = sequence->step[k];
        sequence->step[k] = NULL;
        int32_t callee = atn_programs_add_kernel(b, graph->name, graph, NULL);
        if (callee < 0) return;
        *last = atn_routine_step_by_names(b, routine, callee);
        if (!*last) return;
        last = &(*last)->next;
    }
    routine->n_head = routine->n;
    m->main = number;
}

/* Those of shipped descriptions hide nothing: they were checked when attune was built. */
static void close_units(atn_builder *b) {
    for (atn_unit *unit = b->units; unit; unit = unit->next) {
        if (unit->reader == b->reader) continue;
        b->reader->failed |= unit->reader->failed;
        if (unit->reader->n_complaints && !b->reader->n_complaints)
            atn_reader_complain(b->reader, (atn_place){1, 1}, unit->shipped,
                                "what is shipped under this name is wrong");
    }
}

void atn_builder_read(atn_builder *b, atn_file_text *file) {
    atn_unit *unit = atn_reader_alloc(b->reader, sizeof *unit);
    if (!unit) return;
    *unit = (atn_unit){.reader = b->reader, .file = file};
    b->units = unit;
    read_programs(b, unit);
    close_units(b);
}

void atn_builder_close(atn_builder *b) {
    for (const atn_unit *unit = b->units; unit; unit = unit->next)
        if (unit->reader != b->reader) atn_arena_take(&b->programs->arena, &unit->reader->arena);
}

atn_status atn_programs_parse(const atn_ctx *ctx, const char *file, const char *text, size_t length,
                              const atn_parse_options *options, atn_diagnostics *diagnostics, atn_programs **out) {
    static const atn_parse_options none;
    *out = NULL;
    if (diagnostics) diagnostics->count = 0;
    atn_programs *programs = atn_zalloc(ctx, sizeof *programs);
    atn_builder *b = atn_zalloc(ctx, sizeof *b);
    if (!programs || !b) {
        atn_free(ctx, programs);
        atn_free(ctx, b);
        return ATN_ERR_MEMORY;
    }
    programs->ctx = ctx;
    programs->arena.ctx = ctx;
    programs->file = atn_arena_strdup(&programs->arena, file ? file : "description");
    atn_reader reader = {.ctx = ctx,
                         .arena = {.ctx = ctx},
                         .file = programs->file ? programs->file : "description",
                         .xml = text,
                         .length = length,
                         .options = options ? options : &none,
                         .failed = !programs->file};
    *b = (atn_builder){.reader = &reader, .programs = programs};
    atn_status status;
    if (!atn_description_is_program(text, length)) {
        atn_sequence *sequence = NULL;
        status = atn_sequence_parse(ctx, file, text, length, options, diagnostics, &sequence);
        if (status == ATN_OK) read_sequence(b, sequence);
        atn_sequence_free(sequence);
        if (status == ATN_OK) status = atn_reader_finish(&reader, diagnostics);
    } else {
        atn_file_text *parsed = atn_reader_alloc(&reader, sizeof *parsed);
        if (parsed && atn_notation_scan(&reader, parsed) && atn_notation_parse(&reader, parsed))
            atn_builder_read(b, parsed);
        status = atn_reader_finish(&reader, diagnostics);
    }
    atn_builder_close(b);
    atn_arena_take(&programs->arena, &reader.arena); /* trees of steps live on */
    atn_free(ctx, b);
    if (status == ATN_OK)
        *out = programs;
    else
        atn_programs_free(programs);
    return status;
}

void atn_programs_free(atn_programs *programs) {
    if (!programs) return;
    const atn_ctx *ctx = programs->ctx;
    for (int32_t k = 0; k < programs->n_callees; ++k) atn_graph_free(ctx, programs->callees[k].graph);
    atn_arena_free(&programs->arena);
    atn_free(ctx, programs);
}

bool atn_description_is_program(const char *text, size_t length) {
    if (!atn_notation_is(text, length)) return false;
    for (const char *at = text, *end = text + length; at && at < end;
         at = memchr(at, '\n', (size_t)(end - at)), at += at != NULL)
        if (end - at >= 7 && !strncmp(at, "program", 7) && (end - at == 7 || strchr(" \t\r\n", at[7]))) return true;
    return false;
}
