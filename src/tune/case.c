/* From the texts of a workload to a graph with sizes and parameters; and the amount of work of one run. */
#include "tune/case.h"

#include "base/memory.h"
#include "base/number.h"
#include "graph/pack.h"
#include "graph/type.h"

#include <string.h>

enum { MOST_DEFINES = 32, GATHERED = 1 << 15 };
static const double RANGE_LENGTH = 32;

/* ---- the texts ---- */

/* "NAME=rest": where rest begins, with the name copied; NULL: no such thing. */
static const char *split(const char *text, char *name, size_t room) {
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= room) return NULL;
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    return equals + 1;
}

static atn_status parse(const atn_ctx *ctx, const atn_workload *w, atn_sequence **out) {
    atn_define defines[MOST_DEFINES];
    char names[MOST_DEFINES][64];
    size_t n = 0;
    if (w->packed) return atn_graph_unpack(ctx, w->xml, out);
    for (; w->defines && w->defines[n]; ++n) {
        if (n == MOST_DEFINES) return atn_fail(ctx, ATN_ERR_INPUT, "%s: more than %d defines", w->name, MOST_DEFINES);
        const char *value = split(w->defines[n], names[n], sizeof names[n]);
        if (!value) return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is not NAME=VALUE", w->name, w->defines[n]);
        defines[n] = (atn_define){names[n], value};
    }
    return atn_sequence_parse(ctx, w->name, w->xml, strlen(w->xml),
                              &(atn_parse_options){.defines = defines, .n_defines = n}, NULL, out);
}

bool atn_size_read(const char *text, int32_t rank, int64_t size[ATN_MAX_RANK]) {
    for (int32_t axis = ATN_MAX_RANK; axis-- > 0;) { /* the slowest comes first, as people write it */
        int64_t number = 1;
        if (axis < rank && (*text < '0' || *text > '9')) return false;
        for (number = axis < rank ? 0 : 1; axis < rank && *text >= '0' && *text <= '9'; ++text)
            if (__builtin_mul_overflow(number, 10, &number) || __builtin_add_overflow(number, *text - '0', &number))
                return false;
        size[axis] = number;
        if (axis > 0 && axis < rank && *text != 'x' && *text != 'X') return false;
        text += axis > 0 && axis < rank;
    }
    return *text == '\0';
}

static atn_status no_size(const atn_ctx *ctx, const atn_workload *w, size_t k) {
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: size '%s' is not NAME=SIZE", w->name, w->sizes[k]);
}

static atn_status give_sizes(const atn_ctx *ctx, const atn_workload *w, const atn_graph *g, atn_view *views,
                             bool *used) {
    for (size_t k = 0; w->sizes && w->sizes[k]; ++k) {
        char name[128];
        const char *text = split(w->sizes[k], name, sizeof name);
        if (!text) return no_size(ctx, w, k);
        for (int32_t o = 0; o < g->n_objects; ++o) {
            if (g->objects[o].table || strcmp(g->objects[o].name, name) != 0) continue;
            used[k] = true;
            if (!atn_size_read(text, g->objects[o].rank, views[o].size))
                return atn_fail(ctx, ATN_ERR_INPUT, "%s: size '%s': '%s' is a %s and takes %s=%s", w->name, w->sizes[k],
                                name, atn_rank_name(g->objects[o].rank), name, atn_rank_sizes(g->objects[o].rank));
        }
    }
    return ATN_OK;
}

/* Every parameter that is given is one of some step's. */
static atn_status check_params(const atn_ctx *ctx, const atn_workload *w, const atn_sequence *sequence) {
    for (size_t k = 0; w->params && w->params[k]; ++k) {
        char name[128];
        bool found = false;
        atn_text names = {.ctx = ctx};
        if (!split(w->params[k], name, sizeof name))
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is not NAME=NUMBER", w->name, w->params[k]);
        for (int32_t step = 0; step < sequence->count; ++step)
            for (int32_t p = 0; p < sequence->step[step]->n_parameters; ++p) {
                const char *has = sequence->step[step]->parameters[p].name;
                found = found || strcmp(has, name) == 0;
                atn_text_printf(&names, "%s%s", names.length ? ", " : "; there is ", has);
            }
        if (!found) (void)atn_fail(ctx, ATN_ERR_INPUT, "%s: no parameter '%s'%s", w->name, name, atn_text_str(&names));
        atn_text_free(&names);
        if (!found) return ATN_ERR_INPUT;
    }
    return ATN_OK;
}

static atn_status give_params(const atn_ctx *ctx, const atn_workload *w, const atn_graph *g, double (*params)[2]) {
    for (int32_t p = 0; p < g->n_parameters; ++p) {
        const atn_parameter *parameter = &g->parameters[p];
        bool whole = atn_type_is_integer(parameter->type) || parameter->type == ATN_INDEX;
        params[p][0] = parameter->has_default ? parameter->default_value[0] : whole ? 0 : 0.5;
        params[p][1] = parameter->has_default ? parameter->default_value[1] : 0;
        for (size_t k = 0; w->params && w->params[k]; ++k) {
            char name[128], *end;
            const char *text = split(w->params[k], name, sizeof name);
            if (!text || strcmp(name, parameter->name) != 0) continue;
            params[p][0] = atn_number_read(text, &end);
            params[p][1] = 0;
            if (*end == '+' || *end == '-') params[p][1] = atn_number_read(end, &end);
            if (*end == 'i') ++end;
            if (*end || end == text)
                return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s': '%s' is not a number", w->name, w->params[k], text);
        }
    }
    return ATN_OK;
}

atn_status atn_sizes_reach(const atn_ctx *ctx, const atn_graph *graph, const double (*params)[2], atn_view *views) {
    return atn_sizes_fill(ctx, graph, params, RANGE_LENGTH, GATHERED, views);
}

/* ---- steps of a Sequence share objects by name ---- */

static void start_views(const atn_graph *g, atn_view *views) {
    for (int32_t k = 0; k < g->n_objects; ++k) {
        views[k] = atn_view_unsized(g->objects[k].type, g->objects[k].rank);
        if (g->objects[k].table) memcpy(views[k].size, g->objects[k].table_size, sizeof views[k].size);
    }
}

/* Sizes that an earlier step found. */
static void inherit(const atn_graph *from, const atn_view *known, const atn_graph *to, atn_view *views) {
    for (int32_t k = 0; k < to->n_objects; ++k)
        for (int32_t j = 0; j < from->n_objects; ++j)
            if (!to->objects[k].table && !from->objects[j].table && views[k].size[0] < 0 &&
                strcmp(to->objects[k].name, from->objects[j].name) == 0)
                memcpy(views[k].size, known[j].size, sizeof views[k].size);
}

static atn_status plan_step(const atn_ctx *ctx, const atn_workload *w, const atn_graph *g, bool *used, atn_view **views,
                            double (**params)[2]) {
    *views = atn_zalloc(ctx, ((size_t)g->n_objects + 1) * sizeof **views);
    *params = atn_zalloc(ctx, ((size_t)g->n_parameters + 1) * sizeof **params);
    if (!*views || !*params) return ATN_ERR_MEMORY;
    start_views(g, *views);
    atn_status status = give_sizes(ctx, w, g, *views, used);
    return status == ATN_OK ? give_params(ctx, w, g, *params) : status;
}

static atn_status plan(atn_case *c, const atn_workload *w, bool *used) {
    atn_view *before = NULL;
    const atn_graph *earlier = NULL;
    atn_status status = ATN_OK;
    for (int32_t k = 0; k <= w->step && status == ATN_OK; ++k) {
        const atn_graph *g = c->sequence->step[k];
        atn_view *views;
        double(*params)[2];
        status = plan_step(c->ctx, w, g, used, &views, &params);
        if (status == ATN_OK && earlier) inherit(earlier, before, g, views);
        if (status == ATN_OK)
            status = atn_sizes_fill(c->ctx, g, (const double(*)[2])params, c->range_length, GATHERED, views);
        atn_free(c->ctx, before);
        atn_free(c->ctx, c->params);
        before = views;
        earlier = g;
        c->params = params;
        c->graph = g;
    }
    c->views = before;
    return status;
}

static atn_status check_used(const atn_ctx *ctx, const atn_workload *w, const atn_graph *g, const bool *used) {
    for (size_t k = 0; w->sizes && w->sizes[k]; ++k) {
        if (used[k]) continue;
        char name[128];
        if (!split(w->sizes[k], name, sizeof name)) return no_size(ctx, w, k);
        atn_text names = {.ctx = ctx};
        for (int32_t o = 0; o < g->n_objects; ++o)
            if (!g->objects[o].table) atn_text_printf(&names, "%s%s", names.length ? ", " : "", g->objects[o].name);
        atn_status status = atn_fail(ctx, ATN_ERR_INPUT, "%s: size '%s': no such DataObject; there is %s", w->name,
                                     w->sizes[k], atn_text_str(&names));
        atn_text_free(&names);
        return status;
    }
    return ATN_OK;
}

atn_status atn_case_open(const atn_ctx *ctx, const atn_workload *w, atn_case *out) {
    *out = (atn_case){.ctx = ctx, .range_length = w->range_length > 0 ? w->range_length : RANGE_LENGTH};
    size_t n = 0;
    while (w->sizes && w->sizes[n]) ++n;
    bool *used = atn_zalloc(ctx, n + 1);
    if (!used) return ATN_ERR_MEMORY;
    atn_status status = parse(ctx, w, &out->sequence);
    if (status == ATN_OK && (w->step < 0 || w->step >= out->sequence->count))
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: no step %d; it has %d", w->name, w->step, out->sequence->count);
    if (status == ATN_OK) status = check_params(ctx, w, out->sequence);
    bool parsed = status == ATN_OK;
    if (parsed) status = plan(out, w, used);
    if (parsed && (status == ATN_OK || status == ATN_ERR_INPUT) && out->graph &&
        check_used(ctx, w, out->graph, used) != ATN_OK) /* a wrong name is why another is missing */
        status = ATN_ERR_INPUT;
    atn_bindings frame = atn_case_frame(out);
    if (status == ATN_OK) status = atn_eval_check(ctx, out->graph, &frame);
    atn_free(ctx, used);
    return status;
}

void atn_case_close(atn_case *c) {
    atn_free(c->ctx, c->views);
    atn_free(c->ctx, c->params);
    atn_sequence_free(c->sequence);
    *c = (atn_case){.ctx = c->ctx};
}

atn_bindings atn_case_frame(const atn_case *c) {
    return (atn_bindings){.views = c->views, .params = (const double(*)[2])c->params};
}

/* ---- amounts ---- */

static bool is_arithmetic(const atn_node *node) {
    if (!atn_type_is_real(node->type) && !atn_type_is_complex(node->type)) return false;
    return node->op >= ATN_OP_ADD && node->op != ATN_OP_SELECT && node->op != ATN_OP_CAST &&
           node->op != ATN_OP_COMPLEX && node->op != ATN_OP_REAL && node->op != ATN_OP_IMAG && node->op != ATN_OP_CONJ;
}

static uint32_t dims_around(const atn_graph *g, int32_t block) {
    uint32_t dims = 0;
    for (; block >= 0; block = g->blocks[block].parent)
        for (int32_t d = 0; d < g->blocks[block].rank; ++d) dims |= 1u << g->blocks[block].dim[d];
    return dims;
}

atn_status atn_amount_of(const atn_ctx *ctx, const atn_graph *g, const atn_bindings *frame, double range_length,
                         atn_amount *out) {
    *out = (atn_amount){0};
    atn_steps steps;
    atn_status status = atn_steps_of(ctx, g, frame, range_length, &steps);
    for (int32_t k = 0; k < g->n_objects; ++k) {
        const atn_view *view = &frame->views[k];
        double all = (double)atn_view_rows(view) * (double)view->size[0];
        if (!g->objects[k].table)
            out->bytes += all * (double)atn_type_bytes(view->type) * (g->objects[k].read + g->objects[k].written);
    }
    for (atn_value v = 0; v < g->n_values; ++v) {
        const atn_node *node = &g->values[v];
        if (!is_arithmetic(node)) continue;
        out->twice = out->twice || node->type == ATN_DP || node->type == ATN_DP2;
        out->flops += atn_steps_in(&steps, node->dims) * (node->op == ATN_OP_FMA ? 2 : 1) *
                      (atn_type_is_complex(node->type) ? (node->op == ATN_OP_MUL ? 6 : 2) : 1);
    }
    for (int32_t b = 0; b < g->n_blocks; ++b)
        for (int32_t a = 0; a < g->blocks[b].n_accs; ++a)
            if (!g->blocks[b].acc[a].hidden && !atn_type_is_integer(g->blocks[b].acc[a].type))
                out->flops += atn_steps_in(&steps, dims_around(g, b)); /* the joining of each term */
    return status;
}
