/* A description with everything it calls, parsed from its text: a file of programs, or a Sequence as one routine. */
#include "graph/routine_build.h"

#include "base/memory.h"
#include "graph/compose.h"

/* One routine that does the steps of a Sequence: equal names are one. */
static void read_sequence(atn_builder *b, atn_sequence *sequence) {
    atn_programs *m = b->programs;
    char *name = atn_arena_strdup(&m->arena, *sequence->name ? sequence->name : sequence->step[0]->name);
    int32_t number = name ? atn_programs_add_routine(b, name, (atn_place){1, 1}) : -1;
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
    *b = (atn_builder){.reader = &reader, .programs = programs, .whole = atn_programs_whole};
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
