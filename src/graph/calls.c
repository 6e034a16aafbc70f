/* What a name refers to: kernels and programs of the file, then the shipped ones. A program is known by its header; its
 * steps are read later (programs.c), so that it may call itself. */
#include "graph/routine_build.h"

#include "graph/flatten.h"
#include "graph/rewrite.h"
#include "graph/shipped.h"

#include <string.h>

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

const atn_kernel_text *atn_builder_kernel(const atn_unit *unit, const char *name) {
    for (const atn_kernel_text *kernel = unit->file->kernels; kernel; kernel = kernel->next)
        if (!strcmp(kernel->name, name)) return kernel;
    return NULL;
}

const atn_program_text *atn_builder_program(const atn_unit *unit, const char *name) {
    for (const atn_program_text *program = unit->file->programs; program; program = program->next)
        if (!strcmp(program->name, name)) return program;
    return NULL;
}

static bool is_known(const atn_builder *b, const void *text, atn_target_of_call *found) {
    for (int32_t k = 0; k < b->n_known; ++k)
        if (b->known[k].text == text) return *found = b->known[k].target, true;
    return false;
}

static bool know(atn_builder *b, atn_known known) {
    if (b->n_known == ATN_MOST_KNOWN) {
        atn_reader_complain(b->reader, (atn_place){1, 1}, NULL, "more than %d kernels and programs are called",
                            (int)ATN_MOST_KNOWN);
        return false;
    }
    b->known[b->n_known++] = known;
    return true;
}

bool atn_builder_take_kernel(atn_builder *b, atn_unit *unit, const atn_kernel_text *text, atn_target_of_call *found) {
    if (is_known(b, text, found)) return true;
    if (text->failed) return false; /* told already */
    size_t before = unit->reader->n_complaints;
    atn_graph *graph = atn_reader_algorithm(unit->reader, NULL, unit->file, text);
    if (!graph) return false;
    bool right = unit->reader->n_complaints == before && !unit->reader->failed;
    int32_t callee = atn_programs_add_kernel(b, text->name, graph, text);
    if (callee < 0) return false;
    *found = (atn_target_of_call){.callee = callee, .routine = -1, .unsure = !right};
    return know(b, (atn_known){.text = text, .target = *found});
}

bool atn_builder_take_program(atn_builder *b, atn_unit *unit, const atn_program_text *text, atn_target_of_call *found) {
    if (is_known(b, text, found)) return true;
    int32_t routine =
        atn_programs_add_routine(b, text->name, atn_attribute_place(unit->reader, &unit->file->text, text->offset));
    if (routine < 0) return false;
    *found = (atn_target_of_call){.callee = -1, .routine = routine, .unsure = text->failed};
    if (!know(b, (atn_known){.text = text, .target = *found, .unit = unit})) return false;
    atn_routine_head(b, unit, text, b->programs->routines[routine]);
    return true;
}

/* A shipped kernel that is written as a program: one step, as it is tuned and compiled in. */
static bool take_whole(atn_builder *b, atn_unit *unit, const atn_program_text *text, atn_target_of_call *found) {
    if (is_known(b, text, found)) return true;
    atn_graph *graph = b->whole(unit->reader, unit->file);
    const atn_kernel_text head = {.name = text->name, .data = text->data};
    int32_t callee = graph ? atn_programs_add_kernel(b, text->name, graph, &head) : -1;
    if (callee < 0) return false;
    b->programs->callees[callee].whole = true;
    *found = (atn_target_of_call){.callee = callee, .routine = -1};
    return know(b, (atn_known){.text = text, .target = *found});
}

bool atn_builder_find(atn_builder *b, atn_unit *unit, const char *name, atn_target_of_call *found) {
    const atn_kernel_text *kernel = atn_builder_kernel(unit, name);
    if (kernel) return atn_builder_take_kernel(b, unit, kernel, found);
    const atn_program_text *program = atn_builder_program(unit, name);
    if (program) return atn_builder_take_program(b, unit, program, found);
    atn_unit *shipped = open_shipped(b, name);
    if (!shipped) return false;
    program = atn_builder_program(shipped, name);
    if (program && atn_shipped_is_kernel(name)) return take_whole(b, shipped, program, found);
    if (program) return atn_builder_take_program(b, shipped, program, found);
    kernel = atn_builder_kernel(shipped, name);
    return kernel && atn_builder_take_kernel(b, shipped, kernel, found);
}

bool atn_builder_exists(const atn_unit *unit, const char *name) {
    return atn_builder_kernel(unit, name) || atn_builder_program(unit, name) || atn_shipped_find(name);
}

/* Functions of the language are not hidden by kernels that are shipped. */
bool atn_builder_is_callable(const atn_unit *unit, const char *name) {
    return atn_builder_kernel(unit, name) || atn_builder_program(unit, name) || !atn_flat_is_function(name);
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
