#include "graph/bilinear.h"

#include "graph/refuse.h"
#include "graph/type.h"

#include <math.h>
#include <string.h>

typedef struct polynomial {
    int32_t count;
    atn_form_monomial of[ATN_FORM_MONOMIALS];
} polynomial;

typedef struct finder {
    const atn_graph *g;
    atn_bilinear *form;
    uint32_t dims[ATN_FORM_SIDES];
    int32_t visits, functions; /* of the current polynomial, and of the values around it */
} finder;

enum { MOST_VISITS = 128, MOST_FUNCTIONS = 64 }; /* before the search is given up */

uint32_t atn_bilinear_dims(const atn_graph *g, const atn_bilinear *form, int32_t side) {
    uint32_t dims = 0;
    const atn_block *of = &g->blocks[side == ATN_FORM_POINT ? 0 : form->block];
    for (int32_t k = 0; k < of->rank; ++k) dims |= 1u << of->dim[k];
    if (side == ATN_FORM_STEP && form->list >= 0) dims |= 1u << g->blocks[form->list].dim[0];
    return dims;
}

static bool knows(const finder *f, atn_value value, int32_t side) { return f->g->values[value].dims & f->dims[side]; }

/* ---- polynomials ---- */

static bool put_in(atn_form_monomial *m, int32_t side, int32_t atom) {
    if (m->count[side] == ATN_FORM_DEGREE) return false;
    int32_t at = m->count[side]++;
    for (; at > 0 && m->atom[side][at - 1] > atom; --at) m->atom[side][at] = m->atom[side][at - 1];
    m->atom[side][at] = atom;
    return true;
}

static bool same_product(const atn_form_monomial *a, const atn_form_monomial *b, int32_t side) {
    return a->count[side] == b->count[side] &&
           memcmp(a->atom[side], b->atom[side], (size_t)a->count[side] * sizeof *a->atom[side]) == 0;
}

static bool add_monomial(polynomial *p, const atn_form_monomial *m) {
    for (int32_t k = 0; k < p->count; ++k)
        if (same_product(&p->of[k], m, ATN_FORM_POINT) && same_product(&p->of[k], m, ATN_FORM_STEP)) {
            p->of[k].coefficient += m->coefficient;
            return true;
        }
    if (p->count == ATN_FORM_MONOMIALS) return false;
    p->of[p->count++] = *m;
    return true;
}

static bool add_atom(finder *f, polynomial *p, double coefficient, atn_value value, int32_t side, int32_t centre) {
    atn_bilinear *form = f->form;
    int32_t at = 0;
    while (at < form->n_atoms && (form->atom[at].value != value || form->atom[at].centre != centre)) ++at;
    if (at == ATN_FORM_ATOMS) return false;
    if (at == form->n_atoms) form->atom[form->n_atoms++] = (atn_form_atom){value, side, centre};
    atn_form_monomial m = {.coefficient = coefficient};
    return put_in(&m, side, at) && add_monomial(p, &m);
}

static bool add_scaled(polynomial *p, const polynomial *other, double factor) {
    for (int32_t k = 0; k < other->count; ++k) {
        atn_form_monomial m = other->of[k];
        m.coefficient *= factor;
        if (!add_monomial(p, &m)) return false;
    }
    return true;
}

static bool add_product(polynomial *p, const polynomial *a, const polynomial *b) {
    for (int32_t i = 0; i < a->count; ++i)
        for (int32_t j = 0; j < b->count; ++j) {
            const atn_form_monomial *pair[2] = {&a->of[i], &b->of[j]};
            atn_form_monomial m = {.coefficient = a->of[i].coefficient * b->of[j].coefficient};
            for (int32_t side = 0; side < ATN_FORM_SIDES; ++side)
                for (int n = 0; n < 2; ++n)
                    for (int32_t k = 0; k < pair[n]->count[side]; ++k)
                        if (!put_in(&m, side, pair[n]->atom[side][k])) return false;
            if (!add_monomial(p, &m)) return false;
        }
    return true;
}

static bool is_widening(const atn_graph *g, const atn_node *n) {
    if (n->op != ATN_OP_CAST) return false;
    atn_type from = g->values[n->arg[0]].type;
    return n->type == ATN_SP && (from == ATN_HP || from == ATN_SP);
}

static int32_t side_of(const finder *f, atn_value value) {
    return knows(f, value, ATN_FORM_POINT) ? ATN_FORM_POINT : ATN_FORM_STEP;
}

/* Both sides of a difference, or -1 if the value is not one. */
static bool is_difference(const finder *f, atn_value value) {
    const atn_node *n = &f->g->values[value];
    if (n->op != ATN_OP_SUB) return false;
    for (int k = 0; k < 2; ++k)
        if (knows(f, n->arg[k], ATN_FORM_POINT) == knows(f, n->arg[k], ATN_FORM_STEP)) return false;
    return side_of(f, n->arg[0]) != side_of(f, n->arg[1]);
}

/* Adds factor * value to p; false: it is no polynomial, or too long a one. */
static bool expand(finder *f, atn_value value, double factor, polynomial *p) {
    const atn_node *n = &f->g->values[value];
    if (++f->visits > MOST_VISITS || (n->type != ATN_SP && n->type != ATN_HP)) return false;
    if (!knows(f, value, ATN_FORM_POINT) || !knows(f, value, ATN_FORM_STEP)) {
        atn_form_monomial constant = {.coefficient = factor * n->number[0]};
        if (n->op == ATN_OP_CONST) return add_monomial(p, &constant);
        return add_atom(f, p, factor, value, side_of(f, value), -1);
    }
    if (is_difference(f, value)) {
        atn_value point = n->arg[side_of(f, n->arg[0]) == ATN_FORM_POINT ? 0 : 1];
        return add_atom(f, p, factor, n->arg[0], side_of(f, n->arg[0]), point) &&
               add_atom(f, p, -factor, n->arg[1], side_of(f, n->arg[1]), point);
    }
    if (is_widening(f->g, n) || n->op == ATN_OP_NEG)
        return expand(f, n->arg[0], n->op == ATN_OP_NEG ? -factor : factor, p);
    if (n->op == ATN_OP_ADD || n->op == ATN_OP_SUB)
        return expand(f, n->arg[0], factor, p) && expand(f, n->arg[1], n->op == ATN_OP_SUB ? -factor : factor, p);
    if (n->op != ATN_OP_MUL) return false;
    polynomial a = {0}, b = {0}, product = {0};
    return expand(f, n->arg[0], 1, &a) && expand(f, n->arg[1], 1, &b) && add_product(&product, &a, &b) &&
           add_scaled(p, &product, factor);
}

/* ---- terms ---- */

static bool begin_term(atn_bilinear *form, int32_t alone) {
    if (form->n_terms == ATN_FORM_TERMS) return false;
    form->term[form->n_terms++] = (atn_form_term){.first = form->n_monomials, .alone = alone};
    return true;
}

static void take(atn_bilinear *form, atn_form_monomial *m) {
    form->monomial[form->n_monomials++] = *m;
    ++form->term[form->n_terms - 1].count;
    m->coefficient = 0; /* taken */
}

/* Sorts a polynomial into products. */
static bool sort_terms(const polynomial *all, atn_bilinear *form) {
    polynomial p = *all;
    for (int32_t side = 0; side < ATN_FORM_SIDES; ++side) {
        bool begun = false;
        for (int32_t k = 0; k < p.count; ++k) {
            bool constant = p.of[k].count[0] + p.of[k].count[1] == 0;
            bool mine = p.of[k].count[1 - side] == 0 && (!constant || side == ATN_FORM_STEP);
            if (!mine || p.of[k].coefficient == 0) continue;
            if (!begun && !begin_term(form, side)) return false;
            begun = true;
            take(form, &p.of[k]);
        }
    }
    for (int32_t k = 0; k < p.count; ++k) {
        if (p.of[k].coefficient == 0) continue;
        atn_form_monomial first = p.of[k];
        if (!begin_term(form, -1)) return false;
        for (int32_t n = k; n < p.count; ++n)
            if (p.of[n].coefficient != 0 && same_product(&p.of[n], &first, ATN_FORM_POINT)) take(form, &p.of[n]);
    }
    return form->n_terms > 0;
}

static bool read_form(finder *f, atn_value value) {
    polynomial p = {0};
    f->form->n_atoms = f->form->n_monomials = f->form->n_terms = f->visits = 0;
    return expand(f, value, 1, &p) && sort_terms(&p, f->form);
}

/* The polynomial under a value of point and step that is a function of it alone; -1: none. */
static atn_value form_under(finder *f, atn_value value) {
    const atn_node *n = &f->g->values[value];
    if (read_form(f, value)) return value;
    if (++f->functions > MOST_FUNCTIONS) return -1;
    atn_value found = -1;
    for (int k = 0; k < 3 && n->arg[k] >= 0; ++k) {
        if (k > 0 && n->arg[k] == n->arg[k - 1]) continue; /* a square */
        if (f->g->values[n->arg[k]].dims == 0) continue;
        if (!knows(f, n->arg[k], ATN_FORM_POINT) || !knows(f, n->arg[k], ATN_FORM_STEP)) return -1;
        atn_value under = form_under(f, n->arg[k]);
        if (under < 0 || (found >= 0 && found != under)) return -1;
        found = under;
    }
    return found;
}

/* A term of a sum as a weight of point and step, times a factor of the step. */
static bool split_term(const finder *f, atn_value term, atn_value *weight, atn_value *factor) {
    const atn_node *n = &f->g->values[term];
    *weight = term;
    *factor = -1;
    for (int k = 0; k < 2 && n->op == ATN_OP_MUL; ++k)
        if (!knows(f, n->arg[k], ATN_FORM_POINT)) {
            *weight = n->arg[1 - k];
            *factor = n->arg[k];
        }
    while (is_widening(f->g, &f->g->values[*weight])) *weight = f->g->values[*weight].arg[0];
    return knows(f, *weight, ATN_FORM_POINT) && knows(f, *weight, ATN_FORM_STEP);
}

static bool is_zero(const atn_graph *g, atn_value value) {
    return value < 0 || (g->values[value].op == ATN_OP_CONST && g->values[value].number[0] == 0);
}

/* Does the outer block add up what the inner one comes to, one by one? */
static bool adds_up(const atn_graph *g, const atn_block *outer, int32_t inner) {
    const atn_block *b = &g->blocks[inner];
    if (outer->n_accs != b->n_accs) return false;
    for (int32_t k = 0; k < b->n_accs; ++k) {
        const atn_acc *acc = &outer->acc[k];
        if (acc->join != ATN_JOIN_SUM || acc->type != b->acc[k].type || acc->term < 0) return false;
        const atn_node *term = &g->values[acc->term];
        if (term->op != ATN_OP_RESULT || term->index != inner || term->axis != k) return false;
        if (!is_zero(g, b->acc[k].init)) return false;
    }
    return true;
}

/* Does a block look for the one step where a key is the least (-1) or the largest (1)? 0: it does not. */
static int32_t picks_by(const atn_block *b, int32_t *key) {
    static const struct {
        atn_join join;
        int32_t picks;
    } JOINS[] = {{ATN_JOIN_MIN, -1}, {ATN_JOIN_ARGMIN, -1}, {ATN_JOIN_MAX, 1}, {ATN_JOIN_ARGMAX, 1}};
    for (size_t k = 0; k < sizeof JOINS / sizeof *JOINS; ++k) {
        bool argument = JOINS[k].join == ATN_JOIN_ARGMIN || JOINS[k].join == ATN_JOIN_ARGMAX, all = b->n_accs > 0;
        *key = argument && all ? b->acc[0].key : 0;
        for (int32_t a = 0; a < b->n_accs; ++a)
            all = all && b->acc[a].join == JOINS[k].join && (argument ? b->acc[a].key == *key : b->n_accs == 1);
        if (all) return JOINS[k].picks;
    }
    return 0;
}

/* Does the outer block look for the best of what the inner ones found? What these begin with is worse than all. */
static bool picks_from(const atn_graph *g, const atn_block *outer, int32_t inner) {
    const atn_block *b = &g->blocks[inner];
    int32_t key, inner_key, picks = picks_by(outer, &key);
    if (!picks || picks_by(b, &inner_key) != picks) return false;
    const atn_node *term = &g->values[outer->acc[key].term];
    atn_value init = b->acc[inner_key].init;
    return term->op == ATN_OP_RESULT && term->index == inner && term->axis == inner_key &&
           outer->acc[key].type == b->acc[inner_key].type &&
           (init < 0 ||
            (g->values[init].op == ATN_OP_CONST && g->values[init].number[0] == (picks < 0 ? INFINITY : -INFINITY)));
}

static const atn_form_monomial *find_monomial(const atn_bilinear *form, int32_t point, int32_t step) {
    for (int32_t k = 0; k < form->n_monomials; ++k) {
        const atn_form_monomial *m = &form->monomial[k];
        bool squares[ATN_FORM_SIDES] = {true, true};
        const int32_t wanted[ATN_FORM_SIDES] = {point, step};
        for (int32_t side = 0; side < ATN_FORM_SIDES; ++side) {
            int32_t times = wanted[side] < 0 ? 0 : wanted[1 - side] < 0 ? 2 : 1;
            squares[side] = m->count[side] == times;
            for (int32_t n = 0; n < m->count[side] && squares[side]; ++n)
                squares[side] = m->atom[side][n] == wanted[side];
        }
        if (squares[ATN_FORM_POINT] && squares[ATN_FORM_STEP]) return m;
    }
    return NULL;
}

/* The c of c (x - y)^2, where `both` is the product of x and y in that; 0: it is in no such square. */
static double square_of(const atn_bilinear *form, const atn_form_monomial *both) {
    if (both->count[ATN_FORM_POINT] != 1 || both->count[ATN_FORM_STEP] != 1) return 0;
    int32_t point = both->atom[ATN_FORM_POINT][0], step = both->atom[ATN_FORM_STEP][0];
    const atn_form_monomial *y = find_monomial(form, point, -1), *x = find_monomial(form, -1, step);
    if (!y || !x || y->coefficient != x->coefficient || both->coefficient != -2 * x->coefficient) return 0;
    if (form->atom[point].centre < 0 || form->atom[step].centre != form->atom[point].centre) return 0;
    return x->coefficient;
}

static bool is_of_differences(const atn_bilinear *form, const atn_form_monomial *m) {
    for (int32_t side = 0; side < ATN_FORM_SIDES; ++side)
        for (int32_t n = 0; n < m->count[side]; ++n)
            if (form->atom[m->atom[side][n]].centre >= 0) return true;
    return false;
}

int32_t atn_bilinear_distance(const atn_bilinear *form, double factor[ATN_FORM_ATOMS]) {
    int32_t squares = 0, centred = 0;
    double sign = 0;
    for (int32_t a = 0; a < ATN_FORM_ATOMS; ++a) factor[a] = 0;
    for (int32_t k = 0; k < form->n_monomials; ++k) {
        const atn_form_monomial *m = &form->monomial[k];
        bool both = m->count[ATN_FORM_POINT] > 0 && m->count[ATN_FORM_STEP] > 0;
        double c = square_of(form, m);
        if ((both && c == 0) || c * sign < 0) return 0;
        centred += is_of_differences(form, m);
        if (c == 0) continue;
        ++squares;
        sign = c;
        factor[m->atom[ATN_FORM_POINT][0]] = fabs(c);
    }
    if (squares == 0 || centred != 3 * squares) return 0;
    return sign < 0 ? -1 : 1;
}

/* The closest one, or its negative? Halves hold products with c as well as the bound of their error says where c is
 * neither tiny nor huge. */
static bool picks_closest(const atn_bilinear *form) {
    static const double LEAST = 0x1p-12, MOST = 512; /* of c */
    double factor[ATN_FORM_ATOMS];
    int32_t squares = 0;
    if (atn_bilinear_distance(form, factor) != -form->picks) return false;
    for (int32_t a = 0; a < form->n_atoms; ++a) {
        if (factor[a] == 0) continue;
        if (!(factor[a] >= LEAST && factor[a] <= MOST)) return false;
        ++squares;
    }
    return form->n_monomials == 3 * squares && form->n_atoms == 2 * squares;
}

static bool find_pick(finder *f, const char **why_not) {
    atn_bilinear *out = f->form;
    int32_t key;
    out->picks = picks_by(&f->g->blocks[out->block], &key);
    const atn_acc *acc = &f->g->blocks[out->block].acc[key];
    out->form = acc->term;
    for (int32_t k = 0; k < ATN_MAX_ACCS; ++k) out->factor[k] = -1;
    REFUSE(acc->type != ATN_SP, "matrix units compare in single precision only");
    for (int32_t b = 1; b <= out->block; ++b)
        for (int32_t k = 0; k < f->g->blocks[b].n_accs; ++k)
            REFUSE(atn_type_is_complex(f->g->blocks[b].acc[k].type), "values that are picked must be real");
    REFUSE(!read_form(f, acc->term) || !picks_closest(out),
           "matrix units pick the least sum of squares of differences, or the largest of their negative, with factors "
           "from 2^-12 to 512 only");
    return true;
}

static uint32_t range_dims(const atn_graph *g, int32_t block) {
    const atn_dim *range = &g->dims[g->blocks[block].dim[0]];
    return g->values[range->begin].dims | g->values[range->end].dims;
}

/* One range at points along one dimension; or a list of each row of points, and a range at each of its places. */
static bool find_blocks(const atn_graph *g, atn_bilinear *out, const char **why_not) {
    bool listed = g->n_blocks == 3 && g->blocks[1].parent == 0 && g->blocks[2].parent == 1 && g->blocks[2].rank == 1;
    out->block = listed ? 2 : 1;
    out->list = listed ? 1 : -1;
    REFUSE((g->n_blocks != 2 && !listed) || g->blocks[0].n_accs > 0 || g->blocks[0].rank != (listed ? 2 : 1) ||
               g->blocks[1].rank != 1 || g->blocks[1].n_accs == 0,
           "matrix units are for sums over one range at points along one dimension");
    REFUSE(listed && !adds_up(g, &g->blocks[1], 2) && !picks_from(g, &g->blocks[1], 2),
           "the outer sums are not those of the inner ones");
    REFUSE(range_dims(g, out->block) || (listed && range_dims(g, 1) & 1u << g->blocks[0].dim[0]),
           "its range differs from point to point");
    for (int32_t k = 0; k < g->n_writes; ++k) REFUSE(g->writes[k].block > 0, "it writes at every step");
    return true;
}

bool atn_bilinear_find(const atn_graph *g, atn_bilinear *out, const char **why_not) {
    const char *unused;
    if (!why_not) why_not = &unused;
    finder f = {.g = g, .form = out};
    *out = (atn_bilinear){.form = -1};
    if (!find_blocks(g, out, why_not)) return false;
    for (int side = 0; side < ATN_FORM_SIDES; ++side) f.dims[side] = atn_bilinear_dims(g, out, side);
    REFUSE(!g->finite, "matrix units are for descriptions that promise finite input");
    int32_t key;
    if (picks_by(&g->blocks[out->block], &key)) return find_pick(&f, why_not);
    for (int32_t k = 0; k < g->blocks[out->block].n_accs; ++k) {
        const atn_acc *acc = &g->blocks[out->block].acc[k];
        atn_value weight, form;
        REFUSE(acc->join != ATN_JOIN_SUM || acc->type != ATN_SP, "matrix units add up in single precision only");
        REFUSE(!split_term(&f, acc->term, &weight, &out->factor[k]),
               "a term is not a product of a weight, of point and step, and a factor of the step");
        f.functions = 0;
        form = form_under(&f, weight);
        REFUSE(form < 0 || form == weight || (out->form >= 0 && form != out->form),
               "weights are no functions of one sum of products f(point) * g(step)");
        out->form = form;
        int32_t w = 0;
        while (w < out->n_weights && out->weight[w] != weight) ++w;
        REFUSE(w == ATN_FORM_WEIGHTS, "there are too many different weights");
        if (w == out->n_weights) out->weight[out->n_weights++] = weight;
        out->weight_of[k] = w;
    }
    (void)read_form(&f, out->form);
    return true;
}

bool atn_bilinear_difference(const atn_graph *g, const atn_bilinear *form, atn_value value, atn_value *centre) {
    finder f = {.g = g};
    for (int side = 0; side < ATN_FORM_SIDES; ++side) f.dims[side] = atn_bilinear_dims(g, form, side);
    if (!is_difference(&f, value)) return false;
    const atn_node *n = &g->values[value];
    *centre = n->arg[side_of(&f, n->arg[0]) == ATN_FORM_POINT ? 0 : 1];
    return true;
}

/* ---- in print ---- */

static void print_atom(const atn_graph *g, const atn_form_atom *a, atn_text *out) {
    const atn_node *n = &g->values[a->value];
    const char *name = n->op == ATN_OP_READ ? g->reads[n->index].name : n->label;
    if (name)
        atn_text_add(out, name);
    else
        atn_text_printf(out, "v%d", a->value);
    if (a->centre >= 0) atn_text_add(out, "'");
}

static void print_side(const atn_graph *g, const atn_bilinear *form, const atn_form_monomial *m, int32_t side,
                       atn_text *out) {
    for (int32_t k = 0; k < m->count[side]; ++k) {
        if (k) atn_text_add(out, " ");
        print_atom(g, &form->atom[m->atom[side][k]], out);
    }
}

void atn_bilinear_print(const atn_graph *g, const atn_bilinear *form, atn_text *out) {
    atn_text_printf(out, "v%d =", form->form);
    for (int32_t t = 0; t < form->n_terms; ++t) {
        const atn_form_term *term = &form->term[t];
        atn_text_add(out, t ? " + " : " ");
        if (term->alone < 0) {
            print_side(g, form, &form->monomial[term->first], ATN_FORM_POINT, out);
            atn_text_add(out, " * ");
        }
        atn_text_add(out, "(");
        for (int32_t k = 0; k < term->count; ++k) {
            const atn_form_monomial *m = &form->monomial[term->first + k];
            atn_text_printf(out, "%s%g ", k ? " + " : "", m->coefficient);
            print_side(g, form, m, term->alone == ATN_FORM_POINT ? ATN_FORM_POINT : ATN_FORM_STEP, out);
        }
        atn_text_add(out, ")");
    }
    atn_text_add(out, "; ' is relative to the centre of the points of a group\n");
    if (form->picks) atn_text_printf(out, "the %s of v%d\n", form->picks < 0 ? "least" : "largest", form->form);
    for (int32_t k = 0; k < g->blocks[form->block].n_accs && !form->picks; ++k) {
        atn_text_printf(out, "acc(%d) += v%d", k, form->weight[form->weight_of[k]]);
        if (form->factor[k] >= 0) atn_text_printf(out, " * v%d", form->factor[k]);
        atn_text_add(out, "\n");
    }
}
