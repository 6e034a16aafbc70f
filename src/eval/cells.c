/* The elements that a run writes: looked up by object and position, each once. */
#include "eval/interp.h"

#include "base/memory.h"
#include "base/size.h"

atn_eval_result *cells_make(const atn_ctx *ctx, const atn_graph *graph) {
    atn_eval_result *result = atn_zalloc(ctx, sizeof *result);
    if (!result) return NULL;
    *result = (atn_eval_result){.ctx = ctx, .n_objects = graph->n_objects, .bad_read = -1, .bad_write = -1};
    result->blurred = atn_zalloc(ctx, (size_t)graph->n_objects + 1);
    if (result->blurred) return result;
    atn_eval_free(result);
    return NULL;
}

void atn_eval_free(atn_eval_result *result) {
    if (!result) return;
    const atn_ctx *ctx = result->ctx;
    atn_free(ctx, result->cells);
    atn_free(ctx, result->slots);
    atn_free(ctx, result->blurred);
    atn_free(ctx, result);
}

/* The slot where a place is, or would be. */
static int64_t slot_of(const atn_eval_result *result, int32_t object, int64_t column, int64_t row) {
    uint64_t key = ((uint64_t)row * 0x9e3779b97f4a7c15u + (uint64_t)column) * 0xd6e8feb86659fd93u + (uint64_t)object;
    key = (key ^ key >> 32) * 0xd6e8feb86659fd93u;
    for (uint64_t at = (key ^ key >> 32) & (uint64_t)(result->n_slots - 1);;
         at = (at + 1) & (uint64_t)(result->n_slots - 1)) {
        int64_t k = result->slots[at];
        if (k < 0) return (int64_t)at;
        const atn_eval_cell *cell = &result->cells[k];
        if (cell->object == object && cell->at[0] == column && cell->at[1] == row) return (int64_t)at;
    }
}

const atn_eval_cell *atn_eval_find(const atn_eval_result *result, int32_t object, int64_t column, int64_t row) {
    if (!result->n_slots) return NULL;
    int64_t k = result->slots[slot_of(result, object, column, row)];
    return k < 0 ? NULL : &result->cells[k];
}

/* Twice the room; slots are kept at most half full. */
static bool grow(atn_eval_result *result) {
    int64_t capacity = result->capacity ? 2 * result->capacity : 64;
    size_t bytes;
    if (!atn_size_mul((size_t)capacity, sizeof *result->cells, &bytes)) return false;
    atn_eval_cell *cells = atn_resize(result->ctx, result->cells, bytes);
    if (!cells) return false;
    result->cells = cells;
    int64_t *slots = atn_alloc(result->ctx, (size_t)capacity * 2 * sizeof *slots);
    if (!slots) return false;
    atn_free(result->ctx, result->slots);
    result->slots = slots;
    result->n_slots = 2 * capacity;
    result->capacity = capacity;
    for (int64_t k = 0; k < result->n_slots; ++k) slots[k] = -1;
    for (int64_t k = 0; k < result->n_cells; ++k)
        slots[slot_of(result, cells[k].object, cells[k].at[0], cells[k].at[1])] = k;
    return true;
}

atn_eval_cell *cells_touch(atn_eval_result *result, int32_t object, const int64_t at[2], bool *fresh) {
    if (result->n_cells == result->capacity && !grow(result)) return NULL;
    int64_t slot = slot_of(result, object, at[0], at[1]);
    *fresh = result->slots[slot] < 0;
    if (*fresh) {
        result->slots[slot] = result->n_cells;
        result->cells[result->n_cells++] = (atn_eval_cell){.object = object, .at = {at[0], at[1]}};
    }
    return &result->cells[result->slots[slot]];
}
