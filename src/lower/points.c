/* Points bound to generated indices: the sequence of steps within a group, and the place of this item in each. */
#include "lower/lowering.h"

/* Lane of this item along a dimension of the points: lanes of q are the fastest, then p0, p1, p2. */
static ir_ref point_lane(lowering *l, int32_t d) {
    if (l->item < 0 || l->v.p[d].lanes == 1) return ir_address(l->p, 0);
    int64_t faster = l->cuts.lanes_q;
    for (int32_t k = 0; k < d; ++k) faster *= l->v.p[k].lanes;
    ir_ref lane = ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, l->item, ir_address(l->p, faster), -1);
    if (faster == 1) lane = l->item;
    bool slowest = d == l->cuts.n_points - 1;
    return slowest ? lane : ir_operation(l->p, ATN_OP_MOD, IR_ADDRESS, lane, ir_address(l->p, l->v.p[d].lanes), -1);
}

void lower_bind_points(lowering *l, const ir_ref seq[ATN_MAX_RANK]) {
    l->vec_dim = -1;
    for (int32_t d = 0; d < l->cuts.n_points; ++d) {
        const atn_cut *c = &l->v.p[d];
        int64_t each = (int64_t)c->lanes * c->vec * c->regs;
        ir_ref step = seq ? seq[d] : ir_address(l->p, 0);
        ir_ref local = ir_add(l->p, ir_multiply_integer(l->p, step, each),
                              ir_multiply_integer(l->p, point_lane(l, d), (int64_t)c->pack * c->vec));
        local = lower_declare(l, "local", d, local);
        l->dim[l->cuts.point[d]] = (dim_state){.bound = true,
                                               .base = lower_declare(l, "point", d, ir_add(l->p, l->start[d], local)),
                                               .local = local,
                                               .regs = c->regs,
                                               .pack = c->pack,
                                               .vec = c->vec,
                                               .row = (int64_t)c->lanes * c->pack * c->vec,
                                               .limit = l->clamp ? ir_add(l->p, l->begin[d], l->extent[d]) : -1};
        l->bound |= 1u << l->cuts.point[d];
        if (c->vec > 1) l->vec_dim = l->cuts.point[d];
    }
    if (l->bind) l->bind(l);
}

void lower_each_step(lowering *l, void (*step)(lowering *l, void *data), void *data) {
    ir_ref at[ATN_MAX_RANK];
    ir_clear(at, sizeof at);
    int32_t variable[ATN_MAX_RANK], loop[ATN_MAX_RANK],
        n = 0; /* loop: dimensions with several steps, inner ones first */
    ir_block bodies[ATN_MAX_RANK + 1], *outer = l->block;
    size_t mark = lower_mark(l);
    for (int32_t d = 0; d < ATN_MAX_RANK; ++d) {
        at[d] = ir_address(l->p, 0);
        bodies[d] = IR_EMPTY;
        if (d >= l->cuts.n_points || l->v.p[d].seq == 1) continue;
        variable[n] = lower_counter(l, "step", d);
        at[d] = ir_variable_ref(l->p, variable[n]);
        loop[n++] = d;
    }
    if (n > 0) l->block = &bodies[0];
    lower_bind_points(l, at);
    step(l, data);
    l->block = outer;
    lower_forget(l, mark);
    for (int32_t k = 0; k < n; ++k)
        ir_for(l->p, k + 1 < n ? &bodies[k + 1] : outer, variable[k],
               l->skips ? l->first_step[loop[k]] : ir_address(l->p, 0), ir_address(l->p, l->v.p[loop[k]].seq), 1, 1,
               bodies[k]);
}
