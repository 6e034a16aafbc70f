#include "eval/products.h"

#include "base/memory.h"

static void bounds_of(interp *in, int32_t dim, int64_t *from, int64_t *to) {
    *from = interp_value(in, in->graph->dims[dim].begin).whole;
    *to = interp_value(in, in->graph->dims[dim].end).whole;
}

static double spread_of_row(interp *in, atn_value value) {
    int64_t from, to;
    double low = INFINITY, high = -INFINITY;
    bounds_of(in, in->graph->blocks[0].dim[0], &from, &to);
    for (int64_t at = from; at < to && in->status == ATN_OK; ++at) {
        interp_move(in, in->graph->blocks[0].dim[0], at);
        double number = interp_value(in, value).re;
        low = fmin(low, number);
        high = fmax(high, number);
    }
    return from < to ? high - low : 0;
}

/* How far points, of one row where there are rows, lie from each other in one value: no farther than this from any of
 * them, or from their mean. */
static double spread_of(interp *in, atn_value value, double most) {
    const atn_block *points = &in->graph->blocks[0];
    if (points->rank == 1) return fmin(spread_of_row(in, value), most);
    int64_t from, to;
    double spread = 0;
    bounds_of(in, points->dim[1], &from, &to);
    for (int64_t at = from; at < to && spread < most && in->status == ATN_OK; ++at) {
        interp_move(in, points->dim[1], at);
        spread = fmax(spread, spread_of_row(in, value));
    }
    return fmin(spread, most);
}

/* Of the first atom that is counted from there. */
static double spread_from(const struct interp_products *p, atn_value centre) {
    for (int32_t a = 0; a < p->form.n_atoms; ++a)
        if (p->form.atom[a].centre == centre) return p->spread[a];
    return 0;
}

/* Of the point that differences are counted from there. */
static double factor_from(const struct interp_products *p, const double factor[ATN_FORM_ATOMS], atn_value centre) {
    for (int32_t a = 0; a < p->form.n_atoms; ++a)
        if (p->form.atom[a].centre == centre && p->form.atom[a].side == ATN_FORM_POINT) return factor[a];
    return 0;
}

static bool is_first(const struct interp_products *p, int32_t atom) {
    for (int32_t a = 0; a < atom; ++a)
        if (p->form.atom[a].centre == p->form.atom[atom].centre) return false;
    return p->form.atom[atom].centre >= 0;
}

/* Of sums of c (x - y)^2, the sum of all c y^2 is limited, to what it is where each y reaches how.spread; of others
 * each y. */
static void find_spreads(interp *in, struct interp_products *p) {
    double factor[ATN_FORM_ATOMS], limit = p->how.spread, all = 0, sum = 0;
    bool distance = atn_bilinear_distance(&p->form, factor);
    for (int32_t a = 0; a < p->form.n_atoms; ++a) all += factor[a];
    for (int32_t a = 0; a < p->form.n_atoms; ++a) {
        const atn_form_atom *atom = &p->form.atom[a];
        if (!is_first(p, a)) continue;
        double c = factor_from(p, factor, atom->centre);
        p->spread[a] = spread_of(in, atom->centre, distance ? limit * sqrt(all / c) : limit);
        sum += c * p->spread[a] * p->spread[a];
    }
    if (!distance || sum <= all * limit * limit) return;
    for (int32_t a = 0; a < p->form.n_atoms; ++a) p->spread[a] = limit;
}

/* The sum of the sizes of all products that a value is expanded to: x - y counts as |x - c| + |y - c|, which is at most
 * |x - y| + 2 |y - c|. */
static double size_of(interp *in, atn_value value) {
    const struct interp_products *p = in->products;
    const atn_node *n = &in->graph->values[value];
    uint32_t point = atn_bilinear_dims(in->graph, &p->form, ATN_FORM_POINT),
             step = atn_bilinear_dims(in->graph, &p->form, ATN_FORM_STEP);
    atn_value centre;
    if (!(n->dims & point) || !(n->dims & step)) return fabs(interp_value(in, value).re);
    if (atn_bilinear_difference(in->graph, &p->form, value, &centre))
        return fabs(interp_value(in, value).re) + 2 * spread_from(p, centre);
    double a = size_of(in, n->arg[0]);
    if (n->op != ATN_OP_ADD && n->op != ATN_OP_SUB && n->op != ATN_OP_MUL) return a;
    double b = size_of(in, n->arg[1]);
    return n->op == ATN_OP_MUL ? a * b : a + b;
}

static double form_error(interp *in) { return in->products->how.unit * (1 + size_of(in, in->products->form.form)); }

static double term_error(interp *in, int32_t acc, num term) {
    const struct interp_products *p = in->products;
    double weight = fabs(interp_value(in, p->form.weight[p->form.weight_of[acc]]).re);
    double factor = p->form.factor[acc] >= 0 ? fabs(interp_value(in, p->form.factor[acc]).re) : 1;
    if (weight > p->how.largest || factor > p->how.largest) return INFINITY;
    return p->how.weight_unit * fabs(term.re) + p->how.weight_tiny * (weight + factor);
}

atn_status products_begin(interp *in, const atn_eval_options *options) {
    if (!options || options->products.unit == 0) return ATN_OK;
    struct interp_products *p = atn_zalloc(in->ctx, sizeof *p);
    if (!p) return ATN_ERR_MEMORY;
    p->how = options->products;
    p->error = form_error;
    p->term_error = term_error;
    if (!atn_bilinear_find(in->graph, &p->form, NULL) || p->form.picks) { /* what was picked is computed plainly */
        atn_free(in->ctx, p);
        return ATN_OK;
    }
    find_spreads(in, p);
    in->products = p;
    return in->status;
}
