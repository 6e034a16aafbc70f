/* A description with all that it calls: kernels of the file, kernels and programs that are shipped. */
#include "graph/routine_build.h"

#include "base/memory.h"
#include "graph/compose.h"
#include "graph/flatten.h"
#include "graph/rewrite.h"
#include "graph/shipped.h"
#include "graph/type.h"

#include <string.h>

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
    int32_t routine =
        atn_programs_add_routine(b, text->name, atn_attribute_place(unit->reader, &unit->file->text, text->offset));
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
    atn_graph *graph = b->whole(unit->reader, unit->file);
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
