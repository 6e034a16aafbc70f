#include "lower/matrix.h"

#include "lower/variant.h"

static bool add_slot(lower_matrix *m, int32_t term, int32_t point, int32_t step) {
    if (m->n_slots == MATRIX_MOST_SLOTS) return false;
    m->slot[m->n_slots++] = (matrix_slot){term, {point, step}};
    return true;
}

static bool lay_slots(lower_matrix *m) {
    for (int32_t t = 0; t < m->form.n_terms; ++t) {
        int32_t alone = m->form.term[t].alone;
        for (int32_t a = 0; a < (alone == ATN_FORM_STEP ? 1 : 2); ++a)
            for (int32_t b = 0; b < (alone == ATN_FORM_POINT ? 1 : 2); ++b)
                if (!add_slot(m, t, a, b)) return false;
    }
    while (m->n_slots % MATRIX_DEPTH != 0)
        if (!add_slot(m, -1, 0, 0)) return false;
    return true;
}

static bool add_column(lower_matrix *m, int32_t acc, int32_t part) {
    if (m->n_columns == MATRIX_MOST_COLUMNS) return false;
    m->column[m->n_columns++] = (matrix_column){acc, part};
    return true;
}

/* The columns of one weight are contiguous, beginning with the first column of a product. */
static bool lay_columns(const atn_graph *g, lower_matrix *m) {
    for (int32_t w = 0; w < m->form.n_weights; ++w) {
        int32_t first = m->n_columns;
        for (int32_t k = 0; k < g->blocks[m->form.block].n_accs; ++k)
            for (int32_t part = 0; part < (m->form.factor[k] >= 0 ? 2 : 1); ++part)
                if (m->form.weight_of[k] == w && !add_column(m, k, part)) return false;
        while (m->n_columns % MATRIX_COLUMNS != 0)
            if (!add_column(m, -1, 0)) return false;
        for (int32_t c = first; c < m->n_columns; c += MATRIX_COLUMNS) m->column_weight[c / MATRIX_COLUMNS] = w;
    }
    return true;
}

/* A row pitch of an odd multiple of 16 bytes: eight rows are in different banks. */
static int32_t row_words(int32_t halves) { return (halves / 8 | 1) * 4; }

bool lower_find_matrix(const atn_graph *g, const atn_variant *v, lower_matrix *out, const char **why_not) {
    *out = (lower_matrix){.parts = v->matrix == ATN_MATRIX_HALF ? 1 : 2};
    if (!atn_bilinear_find(g, &out->form, why_not)) return false;
    *why_not = "a form or its sums have too many products for matrix units";
    if (!lay_slots(out) || !lay_columns(g, out)) return false;
    out->step_words = row_words(out->n_slots + out->n_columns);
    out->point_words = row_words(out->n_slots);
    return true;
}

static atn_value without_casts(const atn_graph *g, atn_value v) {
    while (g->values[v].op == ATN_OP_CAST) v = g->values[v].arg[0];
    return v;
}

bool lower_matrix_is_plain(const atn_graph *g, const atn_bilinear *form) {
    for (int32_t w = 0; w < form->n_weights; ++w) {
        atn_value weight = without_casts(g, form->weight[w]);
        if (g->values[weight].op != ATN_OP_EXP2) return false;
        if (without_casts(g, g->values[weight].arg[0]) != without_casts(g, form->form)) return false;
    }
    return true;
}

double lower_matrix_spread(const atn_variant *v) { return v->matrix == ATN_MATRIX_HALF ? 128 : 32; }

void lower_print_matrix(const atn_graph *g, const lower_matrix *m, atn_text *out) {
    atn_bilinear_print(g, &m->form, out);
    int32_t slots = 0, columns = 0;
    for (int32_t k = 0; k < m->n_slots; ++k) slots += m->slot[k].term >= 0;
    for (int32_t k = 0; k < m->n_columns; ++k) columns += m->column[k].acc >= 0;
    if (m->form.picks) {
        atn_text_printf(out, "products of halves: %d of %d slots\n", slots, m->n_slots);
    } else
        atn_text_printf(out, "products of halves: %d of %d slots for a weight of %d part%s, %d of %d columns of sums\n",
                        slots, m->n_slots, m->parts, m->parts == 1 ? "" : "s", columns, m->n_columns);
    atn_text_printf(out, "a step: %d bytes staged\n", 4 * m->step_words);
}
