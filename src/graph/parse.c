/* A description file, XML or the notation, into graphs: one algorithm, or a Sequence of them. */
#include "graph/compose.h"
#include "graph/notation.h"
#include "graph/rewrite.h"
#include "graph/routine_build.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

void atn_sequence_free(atn_sequence *sequence) {
    if (!sequence) return;
    const atn_ctx *ctx = sequence->ctx;
    for (int32_t k = 0; k < sequence->count; ++k) atn_graph_free(ctx, sequence->step[k]);
    atn_free(ctx, sequence->step);
    atn_free(ctx, sequence->name);
    atn_free(ctx, sequence);
}

/* Objects and parameters of equal names are one, so they must look alike. */
static void check_shared(atn_reader *reader, const atn_graph *a, const atn_graph *b) {
    for (int32_t j = 0; j < b->n_objects; ++j) {
        const atn_object *y = &b->objects[j];
        for (int32_t i = 0; i < a->n_objects; ++i) {
            const atn_object *x = &a->objects[i];
            if (strcmp(x->name, y->name) != 0 || (x->type == y->type && x->rank == y->rank) || !x->type || !y->type)
                continue;
            atn_reader_complain(reader, (atn_place){y->line, y->column}, y->name,
                                reader->notation ? "is a %s of %s here and a %s of %s in line %d; arrays of one name "
                                                   "are one array in all kernels of "
                                                   "a file"
                                                 : "is a %s of %s here and a %s of %s in line %d; objects of a "
                                                   "Sequence with one name are one object",
                                atn_rank_name(y->rank), atn_type_name(y->type), atn_rank_name(x->rank),
                                atn_type_name(x->type), x->line);
        }
    }
    for (int32_t j = 0; j < b->n_parameters; ++j)
        for (int32_t i = 0; i < a->n_parameters; ++i)
            if (!strcmp(a->parameters[i].name, b->parameters[j].name) && a->parameters[i].type != b->parameters[j].type)
                atn_reader_complain(
                    reader, (atn_place){b->blocks ? b->blocks[0].line : 1, b->blocks ? b->blocks[0].column : 1},
                    b->parameters[j].name,
                    reader->notation
                        ? "is %s here and %s in an earlier kernel; parameters of one name are one parameter "
                          "in all kernels of a file"
                        : "is %s here and %s in an earlier step; parameters of a Sequence with one name "
                          "are one parameter",
                    atn_type_name(b->parameters[j].type), atn_type_name(a->parameters[i].type));
}

static void add_step(atn_reader *reader, atn_place at, atn_graph *graph, atn_sequence *sequence) {
    for (int32_t k = 0; k < sequence->count; ++k) {
        if (!strcmp(sequence->step[k]->name, graph->name) && *graph->name)
            atn_reader_complain(reader, at, graph->name,
                                reader->notation ? "an earlier kernel has this name" : "an earlier step has this name");
        check_shared(reader, sequence->step[k], graph);
    }
    sequence->step[sequence->count++] = graph;
}

static void read_steps(atn_reader *reader, atn_element *root, atn_sequence *sequence) {
    bool single = !strcmp(root->name, "ParallelAlgorithm");
    int32_t count = 0;
    for (const atn_element *child = root->child; child; child = child->next) ++count;
    sequence->step = atn_zalloc(reader->ctx, sizeof *sequence->step * (size_t)(single ? 1 : count + 1));
    if (!sequence->step) {
        reader->failed = true;
        return;
    }
    for (atn_element *element = single ? root : root->child; element && !reader->failed;
         element = single ? NULL : element->next) {
        if (strcmp(element->name, "ParallelAlgorithm") != 0) {
            atn_reader_complain(reader, element->at, element->name, "a Sequence is made of ParallelAlgorithms");
            continue;
        }
        atn_graph *graph = atn_reader_algorithm(reader, element, NULL, NULL);
        if (!graph) return;
        add_step(reader, element->at, graph, sequence);
    }
    if (!reader->failed && !count && !single)
        atn_reader_complain(reader, root->at, "Sequence", "the Sequence is empty");
}

static void read_root(atn_reader *reader, atn_element *root, atn_sequence *sequence) {
    bool many = !strcmp(root->name, "Sequence");
    if (!many && strcmp(root->name, "ParallelAlgorithm") != 0) {
        atn_suggestion suggestion = {.wrong = root->name};
        atn_suggestion_try(reader, &suggestion, "ParallelAlgorithm");
        atn_suggestion_try(reader, &suggestion, "Sequence");
        atn_reader_complain(reader, root->at, root->name, "a description is a ParallelAlgorithm or a Sequence%s",
                            atn_suggestion_text(reader, &suggestion));
        return;
    }
    if (many) atn_describe_leftovers(reader, root, root->name);
    const atn_attribute *name = atn_element_find(root, "name");
    sequence->name = atn_strdup(reader->ctx, name ? name->value : "");
    if (!sequence->name)
        reader->failed = true;
    else
        read_steps(reader, root, sequence);
}

/* A program stands for a kernel where its steps fuse into one. */
static void read_program(atn_reader *reader, atn_file_text *file, atn_sequence *sequence) {
    atn_graph *graph = atn_programs_whole(reader, file);
    if (!graph) return;
    sequence->name = atn_strdup(reader->ctx, graph->name);
    sequence->step = atn_zalloc(reader->ctx, sizeof *sequence->step * 2);
    if (!sequence->name || !sequence->step) {
        atn_graph_free(reader->ctx, graph);
        reader->failed = true;
        return;
    }
    sequence->step[sequence->count++] = graph;
}

/* The notation: one kernel, or several, which are a Sequence. */
static void read_notation(atn_reader *reader, atn_sequence *sequence) {
    atn_file_text *file = atn_reader_alloc(reader, sizeof *file);
    if (!file || !atn_notation_scan(reader, file) || !atn_notation_parse(reader, file)) return;
    if (file->programs) {
        read_program(reader, file, sequence);
        return;
    }
    int32_t count = 0;
    assert(file->kernels);
    for (const atn_kernel_text *kernel = file->kernels; kernel; kernel = kernel->next) ++count;
    if (count > 1 && !file->sequence)
        atn_reader_complain(reader, atn_attribute_place(reader, &file->text, file->kernels->next->offset),
                            file->kernels->next->name,
                            "several kernels in a file are a sequence; write 'sequence NAME' in front");
    sequence->name = atn_strdup(reader->ctx, file->sequence ? file->sequence : file->kernels->name);
    sequence->step = atn_zalloc(reader->ctx, sizeof *sequence->step * (size_t)(count + 1));
    if (!sequence->name || !sequence->step) {
        reader->failed = true;
        return;
    }
    for (const atn_kernel_text *kernel = file->kernels; kernel && !reader->failed; kernel = kernel->next) {
        if (kernel->failed) continue;
        atn_graph *graph = atn_reader_algorithm(reader, NULL, file, kernel);
        if (!graph) return;
        add_step(reader, atn_attribute_place(reader, &file->text, kernel->offset), graph, sequence);
    }
}

/* With what is printed, as the reader says. */
atn_status atn_reader_parse(atn_reader *reader, atn_diagnostics *diagnostics, atn_sequence **out) {
    *out = NULL;
    if (diagnostics) diagnostics->count = 0;
    atn_sequence *sequence = atn_zalloc(reader->ctx, sizeof *sequence);
    if (!sequence) return ATN_ERR_MEMORY;
    sequence->ctx = reader->ctx;
    reader->notation = atn_notation_is(reader->xml, reader->length);
    atn_element *root = reader->notation ? NULL : atn_xml_read(reader);
    if (reader->notation) read_notation(reader, sequence);
    if (root) read_root(reader, root, sequence);
    atn_status status = atn_reader_finish(reader, diagnostics);
    if (status == ATN_OK)
        *out = sequence;
    else
        atn_sequence_free(sequence);
    return status;
}

atn_status atn_sequence_parse(const atn_ctx *ctx, const char *file, const char *text, size_t length,
                              const atn_parse_options *options, atn_diagnostics *diagnostics, atn_sequence **out) {
    static const atn_parse_options none;
    atn_reader reader = {.ctx = ctx,
                         .arena = {.ctx = ctx},
                         .file = file ? file : "description",
                         .xml = text,
                         .length = length,
                         .options = options ? options : &none};
    atn_status status = atn_reader_parse(&reader, diagnostics, out);
    atn_arena_free(&reader.arena);
    return status;
}
