/* What programs call, as stored: kernels with their headers, and space for routines. */
#include "graph/routine_build.h"

#include "base/memory.h"
#include "graph/compose.h"

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

int32_t atn_programs_add_routine(atn_builder *b, const char *name, atn_place at) {
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
