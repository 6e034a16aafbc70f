/* A description with everything it calls: its kernels and programs, then the steps of all programs, one after
 * another. */
#include "graph/routine_build.h"

#include "base/memory.h"
#include "graph/compose.h"
#include "graph/type.h"

#include <string.h>

/* half(x) converts x. */
static void check_name(const atn_unit *unit, const char *name, size_t offset) {
    if (atn_type_from_any_name(name) != ATN_TYPE_NONE)
        atn_reader_complain(unit->reader, atn_attribute_place(unit->reader, &unit->file->text, offset), name,
                            "is a type; what programs call needs another name");
}

/* Steps of all programs that are known by their heads; those that they call are known by then, and follow. */
static void read_steps(atn_builder *b) {
    for (; b->n_read < b->n_known && !b->reader->failed; ++b->n_read) {
        const atn_known known = b->known[b->n_read];
        const atn_program_text *text = known.unit ? known.text : NULL;
        if (text && !text->failed) atn_routine_build(b, known.unit, text, b->programs->routines[known.target.routine]);
    }
}

static void read_programs(atn_builder *b, atn_unit *unit) {
    for (const atn_kernel_text *one = unit->file->kernels; one && !b->reader->failed; one = one->next) {
        atn_target_of_call ignored;
        check_name(unit, one->name, one->offset);
        atn_builder_take_kernel(b, unit, one, &ignored); /* those that are never called are checked too */
    }
    for (const atn_program_text *one = unit->file->programs; one && !b->reader->failed; one = one->next) {
        atn_target_of_call target;
        check_name(unit, one->name, one->offset);
        bool twice = atn_builder_kernel(unit, one->name) || atn_builder_program(unit, one->name) != one;
        if (twice)
            atn_reader_complain(b->reader, atn_attribute_place(unit->reader, &unit->file->text, one->offset), one->name,
                                "the name is taken already");
        if (atn_builder_take_program(b, unit, one, &target)) b->programs->main = target.routine;
        read_steps(b);
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
