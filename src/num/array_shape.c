/* The layout of an array within its storage: rows, spans, and whether it covers all of it. */
#include "num/array.h"

const atn_ctx *atn_array_ctx(const atn_array *a) { return atn_device_ctx(a->storage->device); }

int64_t atn_array_rows(const atn_array *a) { return a->size[1] * a->size[2]; }

bool atn_array_is_empty(const atn_array *a) { return a->size[0] == 0 || atn_array_rows(a) == 0; }

/* Elements from the first to behind the last. */
static int64_t span(const atn_array *a) {
    return atn_array_is_empty(a) ? 0 : (atn_array_rows(a) - 1) * a->pitch + a->size[0];
}

bool atn_array_is_whole(const atn_array *a) {
    if (atn_array_is_empty(a)) return a->storage->bytes == 0;
    int64_t all = (int64_t)(a->storage->bytes / atn_type_bytes(a->type));
    return a->offset == 0 && span(a) > all - a->pitch && (a->pitch == a->size[0] || a->storage->users == 1);
}

bool atn_array_overlaps(const atn_array *a, const atn_array *b) {
    return a->storage == b->storage && !atn_array_is_empty(a) && !atn_array_is_empty(b) &&
           a->offset < b->offset + span(b) && b->offset < a->offset + span(a);
}

atn_slot atn_array_slot(const atn_array *a) {
    return (atn_slot){
        .buffer = a->storage->buffer,
        .offset = a->offset,
        .view = {.type = a->type, .rank = a->rank, .size = {a->size[0], a->size[1], a->size[2]}, .pitch = a->pitch},
    };
}
