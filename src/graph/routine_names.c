/* The names of a routine: its head, and those of a Sequence, where equal names are one. */
#include "graph/routine_build.h"

#include <math.h>
#include <string.h>

int32_t atn_routine_find(const atn_routine *routine, const char *name) {
    for (int32_t k = 0; k < routine->n; ++k)
        if (!strcmp(routine->names[k].name, name)) return k;
    return -1;
}

int32_t atn_routine_add(atn_builder *b, atn_routine *routine, atn_datum_use use) {
    if (routine->n == ATN_MOST_NAMES) {
        atn_reader_complain(b->reader, routine->at, routine->name, "more than %d names", (int)ATN_MOST_NAMES);
        return -1;
    }
    if (routine->n == routine->room) {
        int32_t room = routine->room ? 2 * routine->room : 16;
        atn_datum_use *grown = atn_arena_alloc(&b->programs->arena, (size_t)room * sizeof *grown);
        if (!grown) return b->reader->failed = true, -1;
        if (routine->n) memcpy(grown, routine->names, (size_t)routine->n * sizeof *grown);
        routine->names = grown;
        routine->room = room;
    }
    routine->names[routine->n] = use;
    return routine->n++;
}

void atn_routine_head(atn_builder *b, atn_unit *unit, const atn_program_text *text, atn_routine *routine) {
    for (const atn_datum *datum = text->data; datum; datum = datum->next) {
        atn_place at = atn_attribute_place(unit->reader, &unit->file->text, datum->offset);
        atn_datum_use use = {.name = datum->name, .rank = datum->rank, .type = datum->type};
        use.use = datum->role == ATN_ROLE_IN ? ATN_USE_IN : datum->role == ATN_ROLE_OUT ? ATN_USE_OUT : ATN_USE_INOUT;
        if (atn_routine_find(routine, datum->name) >= 0)
            atn_reader_complain(unit->reader, at, datum->name, "the name is taken already");
        if (datum->rank && datum->values)
            atn_reader_complain(unit->reader, at, datum->name, "a program has no tables; they are a kernel's");
        if (!datum->rank && use.use != ATN_USE_IN) use.rank = 1; /* a scalar that goes out lives on the device */
        if (!datum->rank && datum->values) {
            const char *given = datum->values->value;
            use.has_default = true;
            if (!atn_number_parse(given, strlen(given), use.default_value))
                atn_reader_complain(unit->reader, at, datum->name, "the default '%s' is not of type %s", given,
                                    atn_type_name(datum->type));
        }
        if (atn_routine_add(b, routine, use) < 0) return;
    }
    routine->n_head = routine->n;
}

atn_step *atn_routine_step_by_names(atn_builder *b, atn_routine *routine, int32_t callee) {
    const atn_callee *kernel = &b->programs->callees[callee];
    atn_step *step = atn_arena_alloc(&b->programs->arena, sizeof *step);
    atn_operand *operand = atn_arena_alloc(&b->programs->arena, ((size_t)kernel->n + 1) * sizeof *operand);
    if (!step || !operand) return b->reader->failed = true, NULL;
    *step = (atn_step){
        .kind = ATN_STEP_KERNEL, .at = {1, 1}, .callee = callee, .operand = operand, .condition = -1, .counter = -1};
    for (int32_t k = 0; k < kernel->n; ++k) {
        atn_datum_use use = kernel->data[k];
        int32_t at = atn_routine_find(routine, use.name);
        if (at < 0) at = atn_routine_add(b, routine, use);
        if (at < 0) return NULL;
        if (use.use != ATN_USE_IN && routine->names[at].use == ATN_USE_IN) routine->names[at].use = ATN_USE_INOUT;
        operand[k].name = at;
        if (use.rank) continue;
        atn_syntax *name = atn_reader_alloc(b->reader, sizeof *name);
        if (!name) return NULL;
        *name = (atn_syntax){.kind = ATN_SYNTAX_NAME, .name = use.name};
        operand[k] = (atn_operand){-1, name};
    }
    return step;
}

double (*atn_known_function(const char *name))(double) {
    static const struct {
        const char *name;
        double (*function)(double);
    } KNOWN[] = {{"cos", cos}, {"sin", sin},     {"sqrt", sqrt}, {"exp", exp},
                 {"log", log}, {"floor", floor}, {"ceil", ceil}};
    for (size_t k = 0; k < sizeof KNOWN / sizeof *KNOWN; ++k)
        if (!strcmp(KNOWN[k].name, name)) return KNOWN[k].function;
    return NULL;
}
