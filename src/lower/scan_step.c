/* Steps of a scan: the contribution of one, the combination of two, and running values made available. */
#include "lower/scan.h"

void scan_join(scan *s, const char *name, scan_accs a, scan_accs b, scan_accs out) {
    lowering *l = s->l;
    if (l->p->failed) {
        SCAN_EACH(s->b, k, part) out[k][part] = 0;
        return;
    }
    lower_join(l, s->b, a, b, out, true);
    SCAN_EACH(s->b, k, part) out[k][part] = ir_declare(l->p, l->block, name, out[k][part]);
}

void scan_variables(scan *s, const char *name, scan_accs value, scan_accs variable) {
    SCAN_EACH(s->b, k, part)
    variable[k][part] = ir_variable_ref(s->l->p, ir_declare_mutable(s->l->p, s->l->block, name, value[k][part]));
}

void scan_assign(scan *s, scan_accs variable, scan_accs value) {
    SCAN_EACH(s->b, k, part)
    if (!s->l->p->failed) ir_assign(s->l->p, s->l->block, s->l->p->nodes[variable[k][part]].id, value[k][part]);
}

void scan_keep_running(scan *s, atn_op op, place at, scan_accs value) {
    lowering *l = s->l;
    for (atn_value v = 0; v < l->g->n_values && !l->p->failed; ++v) {
        const atn_node *n = &l->g->values[v];
        if (n->op != op || n->index != s->block) continue;
        for (int32_t part = 0; part < acc_parts(&s->b->acc[n->axis]); ++part) {
            ir_ref ref = ir_declare(l->p, l->block,
                                    n->label              ? n->label
                                    : op == ATN_OP_BEFORE ? "before"
                                                          : "after",
                                    ir_cast(l->p, lower_type(l, n->type), value[n->axis][part]));
            lower_memo_keep(l, v, part, lower_normal(l, n->dims, at), ref);
        }
    }
}

void scan_contribution(scan *s, place at, ir_ref valid, scan_accs out) {
    lowering *l = s->l;
    scan_accs term = {{0}}, clean = {{0}};
    SCAN_EACH(s->b, k, part)
    if (!l->p->failed && scan_by_update(s->b)) l->acc_variable[k][part] = l->p->nodes[s->neutral[k][part]].id;
    SCAN_EACH(s->b, k, part) {
        atn_value from = scan_by_update(s->b) ? s->b->acc[k].update : s->b->acc[k].term;
        term[k][part] = ir_cast(l->p, acc_type(l, &s->b->acc[k]), lower_value(l, from, at, part));
    }
    if (l->p->failed) return;
    if (!scan_by_update(s->b))
        lower_join(l, s->b, s->neutral, term, clean, true); /* a NaN loses, as it does in order */
    SCAN_EACH(s->b, k, part) {
        atn_join join = s->b->acc[k].join;
        bool whole = scan_by_update(s->b) || join == ATN_JOIN_SUM || join == ATN_JOIN_PRODUCT || join == ATN_JOIN_AND ||
                     join == ATN_JOIN_OR;
        ir_ref value = whole ? term[k][part] : clean[k][part];
        if (valid >= 0)
            value = ir_operation(l->p, ATN_OP_SELECT, acc_type(l, &s->b->acc[k]), valid, value, s->neutral[k][part]);
        out[k][part] = ir_declare(l->p, l->block, "step", value);
    }
}
