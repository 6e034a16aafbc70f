/* One algorithm, from XML or the notation, into its graph: the passes in their order. */
#include "base/memory.h"
#include "graph/notation.h"
#include "graph/rewrite.h"
#include "graph/unparse.h"

/* Adds one algorithm to reader->print, and the types of its items to reader->item_types. */
static void print_sketch(const atn_sketch *sketch) {
    atn_reader *reader = sketch->reader;
    const char *const *types = reader->types ? reader->types + reader->n_item_types : NULL;
    if (reader->form == ATN_FORM_XML)
        atn_sketch_print_xml(sketch, types, reader->many ? 2 : 0, reader->print);
    else if (reader->form == ATN_FORM_NOTATION) {
        if (reader->print->length) atn_text_add(reader->print, "\n");
        atn_sketch_print_notation(sketch, types, reader->plain, reader->print);
    }
    for (size_t k = 0; k < sketch->n_items; ++k) {
        if (!atn_reader_grow(reader, &reader->arena, (void **)&reader->item_types, &reader->item_types_room,
                             reader->n_item_types, sizeof *reader->item_types))
            return;
        reader->item_types[reader->n_item_types++] = sketch->items[k].type;
    }
}

atn_graph *atn_reader_algorithm(atn_reader *reader, atn_element *element, const struct atn_file_text *file,
                                const struct atn_kernel_text *kernel) {
    atn_graph *graph = atn_zalloc(reader->ctx, sizeof *graph);
    if (!graph) return reader->failed = true, NULL;
    graph->arena.ctx = reader->ctx;
    graph->file = atn_arena_strdup(&graph->arena, reader->file);
    graph->name = "";
    if (!graph->file) reader->failed = true;
    atn_sketch sketch = {.reader = reader, .graph = graph};
    if (!reader->failed && kernel) atn_sketch_lower(&sketch, file, kernel);
    if (!reader->failed && element) atn_sketch_describe(&sketch, element);
    if (!reader->failed && element) atn_sketch_connect(&sketch, element);
    if (kernel && (!sketch.n_items || kernel->unsure)) return graph;
    if (!reader->failed) atn_sketch_order(&sketch);
    if (!reader->failed) atn_sketch_build(&sketch);
    if (!reader->failed) atn_sketch_prune(&sketch);
    bool writes = false;
    for (size_t k = 0; k < sketch.n_items; ++k) writes |= sketch.items[k].kind == ATN_ITEM_WRITE;
    if (!reader->failed && !writes && element)
        atn_reader_complain(reader, element->at, graph->name,
                            "the algorithm writes nothing; a DataAccessWrite is missing");
    if (!reader->failed && !writes && kernel && !reader->n_complaints)
        atn_reader_complain(reader, sketch.items[0].at, graph->name, "the kernel writes nothing: A[...] = ...");
    if (!reader->failed) atn_graph_validate(reader, graph);
    if (!reader->failed) atn_graph_check_ranges(reader, graph);
    if (!reader->failed) graph->hash = atn_graph_hash(reader, graph);
    if (!reader->failed && !reader->n_complaints && reader->print) print_sketch(&sketch);
    return graph;
}
