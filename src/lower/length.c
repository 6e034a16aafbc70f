/* Programs that are too long to compile: too many instructions in a row without a branch, where a vector larger than a
 * register counts as several. One pass of gcc 12 (combine) takes 2.5 s for 1,700 of them, 13 s for 3,400 and 60 s for
 * 6,700. The values of such a sequence do not stay in registers, so nothing fast is lost. */
#include "lower/lowering.h"

#include "graph/type.h"

enum { LONGEST = 2560 };

static int64_t instructions(const atn_lowered *p, ir_ref ref, int32_t vector_bytes) {
    if (ref < 0) return 0;
    const ir_node *node = &p->nodes[ref];
    int64_t count = 0;
    switch (node->kind) {
    case IR_INTEGER:
    case IR_NUMBER:
    case IR_VARIABLE:
    case IR_ARGUMENT:
        return 0;
    case IR_JOIN:
        for (int32_t k = 0; k < node->width; ++k) count += instructions(p, p->list[node->list + k], vector_bytes);
        break;
    default:
        for (int k = 0; k < 3; ++k) count += instructions(p, node->arg[k], vector_bytes);
    }
    if (node->type == IR_ADDRESS) return count; /* many are one */
    int64_t bytes = (int64_t)atn_type_bytes((atn_type)node->type) * node->width;
    return count + (bytes + vector_bytes - 1) / vector_bytes;
}

/* Instructions of the longest branch-free run in a list of statements. */
static int64_t longest_run(const atn_lowered *p, ir_stmt at, int32_t vector_bytes) {
    int64_t longest = 0, run = 0;
    for (; at >= 0; at = p->statements[at].next) {
        const ir_statement *s = &p->statements[at];
        int64_t body = longest_run(p, s->body, vector_bytes) * (s->kind == IR_FOR ? s->unroll : 1);
        int64_t other = longest_run(p, s->other, vector_bytes);
        run += instructions(p, s->index, vector_bytes) + instructions(p, s->value, vector_bytes);
        longest = run > longest ? run : longest;
        longest = body > longest ? body : longest;
        longest = other > longest ? other : longest;
        if (s->body >= 0 || s->other >= 0) run = 0;
    }
    return longest;
}

/* Does the variant replicate nothing of the description? A long description is compiled as it is. */
static bool is_single(const atn_variant *v) {
    for (int d = 0; d < ATN_MAX_RANK; ++d)
        if (v->p[d].vec * v->p[d].regs > 1 || v->q[d].vec * v->q[d].regs * v->q[d].unroll > 1) return false;
    return true;
}

atn_status lower_check_length(const atn_ctx *ctx, const atn_lowered *p, const atn_target *target) {
    if (target->vector_bytes == 0 || is_single(&p->variant)) return ATN_OK;
    for (int32_t k = 0; k < p->n_stages; ++k) {
        int64_t run = longest_run(p, p->stage[k].body, target->vector_bytes);
        if (run > LONGEST)
            return atn_fail(ctx, ATN_ERR_UNSUPPORTED,
                            "%s: the variant has %lld instructions without a branch, more than the %d that compilers "
                            "handle in reasonable time; use fewer registers or shorter vectors",
                            p->graph->name, (long long)run, LONGEST);
    }
    return ATN_OK;
}
