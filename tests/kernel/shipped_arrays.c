/* What the shipped kernels are tried on: sizes that give a wanted shape, and elements that keep accesses in range, both
 * as the tuner finds them; parameters as the kernels' own files say (`try with`). */
#include "shipped_arrays.h"

#include "tune/case.h"
#include "tune/inputs.h"
#include "tune/sets.h"

#include <stdlib.h>
#include <string.h>

enum { GATHERED = 320 /* elements of what only computed selectors reach */, LENGTH = 3 /* of ranges from data */ };

static void choose_parameters(const char *kernel, const atn_graph *g, const int64_t mnk[3], shipped_arrays *out) {
    static const double VALUES[] = {1.5, 0.5, -1, 0.25};
    for (int32_t p = 0; p < g->n_parameters; ++p) {
        const atn_parameter *parameter = &g->parameters[p];
        out->params[p][0] = parameter->has_default ? parameter->default_value[0] : VALUES[p % 4];
        if (parameter->type == ATN_INT32 && !parameter->has_default) /* colours and the like: both */
            out->params[p][0] = (double)((mnk[0] + mnk[1]) % 2);
        for (const atn_tried *t = ATN_TRIED; t->kernel; ++t)
            if (strcmp(t->kernel, kernel) == 0 && strcmp(t->parameter, parameter->name) == 0)
                out->params[p][0] = t->value;
    }
}

/* m rows of n points, or n points; ranges of k; where all is one reduction, of n, and of m rows. */
static atn_steps wanted_steps(const atn_graph *g, const int64_t mnk[3]) {
    atn_steps steps = {0};
    for (int32_t d = 0; d < g->n_dims; ++d) {
        bool outer = g->dims[d].block == 0, nested = !outer && g->blocks[g->dims[d].block].parent > 0;
        steps.steps[d] = outer ? mnk[g->dims[d].axis == 0] : nested ? LENGTH : g->dims[d].axis == 0 ? mnk[2] : LENGTH;
    }
    return steps;
}

static bool has_room(const atn_graph *g, const atn_view *views) {
    for (int32_t k = 0; k < g->n_objects; ++k)
        if (!g->objects[k].table && (views[k].size[0] == 0 || (views[k].rank > 1 && views[k].size[1] == 0)))
            return false;
    return true;
}

static bool accumulates(const atn_graph *g) {
    bool any = false;
    for (int32_t b = 0; b < g->n_blocks; ++b) any = any || g->blocks[b].n_accs > 0;
    return any;
}

static void fill(atn_view *view, atn_filling filling, bool words, uint64_t seed, int32_t object) {
    int64_t rows = atn_view_rows(view);
    size_t bytes = (size_t)(rows * view->pitch) * atn_type_bytes(view->type) + 16;
    view->data = malloc(bytes);
    memset(view->data, 0x2a, bytes); /* in the gaps between rows, too */
    atn_fill_options options = {.seed = seed, .spread = 1, .lengths = LENGTH};
    atn_fill(view, filling, &options, object);
    words = words && view->type == ATN_INT32 && filling.role == ATN_ROLE_NUMBER;
    for (int64_t y = 0; y < rows && words; ++y)
        for (int64_t x = 0; x < view->size[0]; ++x) { /* all bits: nothing adds them up */
            uint32_t word = (uint32_t)kit_random(&seed);
            memcpy(atn_view_at(view, x, y), &word, sizeof word);
        }
}

bool shipped_arrays_make(atn_ctx *ctx, const char *kernel, const atn_graph *g, const int64_t mnk[3],
                         shipped_arrays *out) {
    assert_true(g->n_objects <= SHIPPED_OBJECTS && g->n_parameters <= SHIPPED_PARAMETERS);
    *out = (shipped_arrays){.count = g->n_objects};
    choose_parameters(kernel, g, mnk, out);
    const double(*params)[2] = (const double(*)[2])out->params;
    atn_steps steps = wanted_steps(g, mnk);
    atn_status status = atn_sizes_solve(ctx, g, params, &steps, LENGTH, GATHERED, out->views);
    if (status == ATN_ERR_INPUT || status == ATN_ERR_UNSUPPORTED ||
        (status == ATN_OK && atn_inputs_guarded(g) && !has_room(g, out->views)))
        return false;
    kit_ok(ctx, status);
    for (int32_t k = 0; k < g->n_objects; ++k)
        out->views[k].pitch = out->views[k].size[0] + (out->views[k].rank > 1 ? 3 : 0);
    atn_bindings frame = {.views = out->views, .params = params};
    atn_filling fillings[SHIPPED_OBJECTS];
    kit_ok(ctx, atn_fillings_of(ctx, g, &frame, LENGTH, fillings));
    for (int32_t k = 0; k < g->n_objects; ++k)
        if (!g->objects[k].table) fill(&out->views[k], fillings[k], !accumulates(g), 42 + (uint64_t)mnk[1], k);
    return true;
}

void shipped_arrays_free(shipped_arrays *arrays) {
    for (int32_t k = 0; k < arrays->count; ++k) free(arrays->views[k].data);
}
