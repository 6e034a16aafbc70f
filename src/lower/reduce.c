/* Reductions: the accumulators of a block, the body of one step of its loops, and the end, where registers, the tail,
 * vector lanes and items of a group are combined. */
#include "lower/loops.h"

int32_t *loops_slot(const loops *o, int32_t place_index, int32_t set, int32_t k, int32_t part) {
    return &o->variable[((place_index * o->r.sets + set) * ATN_MAX_ACCS + k) * 2 + part];
}

/* Lane of this item along each dimension: q0 is the fastest. */
static void spread_lanes(loops *o) {
    lowering *l = o->l;
    int64_t faster = 1, slower = 1;
    for (int32_t k = 1; k < ATN_MAX_RANK; ++k) slower *= o->r.q[k].lanes;
    for (int32_t k = 0; k < ATN_MAX_RANK; ++k) {
        ir_ref lane = l->lane_q;
        if (k > 0 && o->r.q[k].lanes == 1) continue;
        if (k > 0) lane = ir_operation(l->p, ATN_OP_DIV, IR_ADDRESS, lane, ir_address(l->p, faster), -1);
        if (k > 0) slower /= o->r.q[k].lanes;
        if (slower > 1) lane = ir_operation(l->p, ATN_OP_MOD, IR_ADDRESS, lane, ir_address(l->p, o->r.q[k].lanes), -1);
        o->lane[k] = lower_declare(l, "lane_q", k, lane);
        faster *= o->r.q[k].lanes;
    }
}

loops loops_open(lowering *l, int32_t block) {
    loops o = {.l = l, .block = block, .b = &l->g->blocks[block], .places = 1};
    lower_scene scene = lower_scene_of(l);
    scene.bound &= ~l->apart;
    o.r = lower_find_reduction(&scene, block);
    for (int32_t k = 0; k < ATN_MAX_RANK; ++k) o.lane[k] = -1;
    for (int32_t d = 0; d < l->g->n_dims; ++d)
        if (o.r.dims >> d & 1) o.places *= l->dim[d].regs;
    size_t bytes = (size_t)(o.places * o.r.sets) * ATN_MAX_ACCS * 2 * sizeof *o.variable;
    o.variable = atn_arena_alloc(&l->p->arena, bytes);
    if (o.r.runs) o.kept = atn_arena_alloc(&l->p->arena, bytes);
    if (!o.variable || (o.r.runs && !o.kept)) l->p->failed = true;
    if (l->lane_q >= 0 && atn_block_is_outermost(l->g, block)) spread_lanes(&o);
    return o;
}

/* Width of the vector that an accumulator is: along a dimension of the points always, along q in the main loop only. */
int32_t loops_acc_width(const loops *o, int32_t set) {
    const lowering *l = o->l;
    if (l->vec_dim >= 0 && (o->r.dims >> l->vec_dim & 1)) return l->dim[l->vec_dim].vec;
    return set < o->r.q[0].regs ? o->r.q[0].vec : 1;
}

/* ---- sums whose tiles are accumulated in halves ---- */

static ir_ref zero_half(const loops *o, int32_t set) {
    return ir_splat(o->l->p, ir_number(o->l->p, ATN_HP, 0), loops_acc_width(o, set));
}

void loops_begin_runs(loops *o) {
    lowering *l = o->l;
    for (int32_t n = 0; n < o->places && !l->p->failed; ++n)
        for (int32_t set = 0; set < o->r.sets; ++set)
            for (int32_t k = 0; k < o->b->n_accs; ++k) {
                int32_t *slot = loops_slot(o, n, set, k, 0);
                o->kept[slot - o->variable] = *slot;
                *slot = ir_declare_mutable(l->p, l->block, "run", zero_half(o, set));
            }
}

void loops_end_run(loops *o) {
    lowering *l = o->l;
    for (int32_t n = 0; n < o->places && !l->p->failed; ++n)
        for (int32_t set = 0; set < o->r.sets; ++set)
            for (int32_t k = 0; k < o->b->n_accs; ++k) {
                int32_t run = *loops_slot(o, n, set, k, 0), kept = o->kept[loops_slot(o, n, set, k, 0) - o->variable];
                ir_ref more = ir_cast(l->p, ATN_SP, ir_variable_ref(l->p, run));
                ir_assign(l->p, l->block, kept,
                          ir_operation(l->p, ATN_OP_ADD, ATN_SP, ir_variable_ref(l->p, kept), more, -1));
                ir_assign(l->p, l->block, run, zero_half(o, set));
            }
}

/* ---- values that are the same for all steps ---- */

void loops_hoist(lowering *l, const atn_block *b) {
    for (int32_t k = 0; k < b->n_accs; ++k) {
        const atn_value parts[] = {b->acc[k].term, b->acc[k].update};
        for (size_t n = 0; n < 2; ++n)
            if (parts[n] >= 0) lower_hoist(l, parts[n]);
    }
}

/* ---- one step ---- */

/* gcc 12 miscompiles reductions of integers in several accumulators when it vectorises them. Their values are therefore
 * hidden from it; explicit vectors are as fast as the compiler's would be. */
static bool is_hidden(const loops *o, const atn_acc *acc, int32_t width) {
    return o->l->host && width == 1 && o->r.q[0].regs > 1 && atn_type_is_integer(acc->type);
}

/* acc = acc combined with the contribution of this step, at one place. */
static void accumulate(loops *o, int32_t place_index, int32_t set, place at) {
    lowering *l = o->l;
    const atn_block *b = o->b;
    ir_ref left[ATN_MAX_ACCS][2], right[ATN_MAX_ACCS][2], result[ATN_MAX_ACCS][2];
    bool by_update = b->acc[0].join == ATN_JOIN_CUSTOM || b->acc[0].join == ATN_JOIN_ORDERED;
    int32_t width = loops_acc_width(o, set);
    ir_clear(left, sizeof left);
    ir_clear(right, sizeof right);
    ir_clear(result, sizeof result);
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) {
            int32_t variable = *loops_slot(o, place_index, set, k, part);
            l->acc_variable[k][part] = variable;
            left[k][part] = ir_variable_ref(l->p, variable);
        }
    for (int32_t k = 0; k < b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part) {
            atn_value from = by_update ? b->acc[k].update : b->acc[k].term;
            int32_t type = o->r.runs ? ATN_HP : acc_type(l, &b->acc[k]);
            ir_ref value = ir_cast(l->p, type, lower_value(l, from, at, part));
            right[k][part] = ir_splat(l->p, value, width);
            if (by_update && b->n_accs + acc_parts(&b->acc[k]) > 2)
                right[k][part] = ir_declare(l->p, l->block, "updated", right[k][part]);
        }
    if (!by_update && !o->r.runs) lower_join(l, b, left, right, result, true);
    for (int32_t k = 0; k < b->n_accs && o->r.runs; ++k)
        result[k][0] = ir_operation(l->p, ATN_OP_ADD, ATN_HP, left[k][0], right[k][0], -1);
    for (int32_t k = 0; k < b->n_accs && !l->p->failed; ++k)
        for (int32_t part = 0; part < acc_parts(&b->acc[k]); ++part)
            ir_assign(l->p, l->block, *loops_slot(o, place_index, set, k, part),
                      by_update ? right[k][part] : result[k][part]);
    for (int32_t k = 0; k < b->n_accs && !l->p->failed; ++k)
        if (is_hidden(o, &b->acc[k], width))
            ir_append(l->p, l->block,
                      (ir_statement){
                          .kind = IR_HIDE, .index = -1, .value = left[k][0], .limit = -1, .body = -1, .other = -1});
}

/* Everything that happens in one step of the loop: nested blocks, accumulation, writes. */
void loops_step(loops *o, bool in_tail) {
    lowering *l = o->l;
    int32_t q0 = o->b->dim[0];
    uint32_t before = l->done;
    lower_children(l, o->block);
    if (o->b->n_accs > 0) {
        for (int32_t r = 0; r < (in_tail ? 1 : o->r.q[0].regs); ++r) {
            place at = PLACE_ORIGIN;
            int32_t n = 0;
            do {
                place here = at;
                here.r[q0] = (int8_t)r;
                accumulate(o, n++, in_tail ? o->r.sets - 1 : r, here);
            } while (lower_next_place(l, o->r.dims, &at));
        }
    }
    uint32_t points = l->cuts.points;
    if (l->scan_phase != SCAN_PARTS) lower_writes(l, o->block == 0 ? 0 : o->block, points | (l->bound & ~points), -1);
    l->done = before;
}

/* What is combined at one place, in order: each lane of each register, then the tails. */
static void read_leaf(const loops *o, int32_t n, int32_t leaf, ir_ref value[][2]) {
    int32_t lanes = o->r.q[0].vec > 1 ? o->r.q[0].vec : 1, in_vectors = lanes > 1 ? o->r.q[0].regs * lanes : 0;
    int32_t set = leaf < in_vectors ? leaf / lanes : leaf - in_vectors + in_vectors / lanes;
    for (int32_t k = 0; k < o->b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&o->b->acc[k]); ++part) {
            ir_ref ref = ir_variable_ref(o->l->p, *loops_slot(o, n, set, k, part));
            value[k][part] = lanes > 1 ? ir_lane(o->l->p, ref, leaf < in_vectors ? leaf % lanes : 0) : ref;
        }
}

/* In pairs of pairs: in a chain, each step would wait for the previous one. */
static void join_leaves(const loops *o, int32_t n, int32_t from, int32_t count, ir_ref value[][2]) {
    lowering *l = o->l;
    if (count == 1) {
        read_leaf(o, n, from, value);
        return;
    }
    ir_ref other[ATN_MAX_ACCS][2], joined[ATN_MAX_ACCS][2];
    int32_t half = (count + 1) / 2;
    join_leaves(o, n, from, half, value);
    join_leaves(o, n, from + half, count - half, other);
    if (l->p->failed) return;
    lower_join(l, o->b, value, other, joined, false);
    for (int32_t k = 0; k < o->b->n_accs; ++k)
        for (int32_t part = 0; part < acc_parts(&o->b->acc[k]); ++part)
            value[k][part] = ir_declare(l->p, l->block, "sum", joined[k][part]);
}

/* Combines registers and the tail, vector lanes, items; then either the result is available or a partial result is
 * stored. */
void loops_conclude(loops *o) {
    lowering *l = o->l;
    place at = PLACE_ORIGIN;
    int32_t n = 0;
    do {
        ir_ref value[ATN_MAX_ACCS][2];
        join_leaves(o, n, 0, o->r.leaves, value);
        if (l->p->failed) return;
        if (o->r.outermost) lower_join_lanes(l, o->b, value);
        if (o->r.outermost && l->split >= 0) {
            loops_store_partial(l, o->b, at, value);
        } else {
            loops_apply_init(l, o->block, at, value);
            loops_keep_results(l, o->block, at, value);
        }
        ++n;
    } while (lower_next_place(l, o->r.dims, &at));
}
