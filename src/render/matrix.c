/* Statements for matrix units, and the product of four warps, whose instruction names each of its accumulators. */
#include "render/printer.h"

#define ADD(...) atn_text_printf(r->out, __VA_ARGS__)

static void load_matrices(printer *r, const ir_statement *s) {
    ADD("int");
    for (int32_t k = 0; k < s->unroll; ++k) ADD("%s %s", k ? "," : "", r->p->variables[s->id + k].name);
    ADD("; atn_load_matrices%s(", s->component ? "_turned" : "");
    for (int32_t k = 0; k < s->unroll; ++k) ADD("%s, ", r->p->variables[s->id + k].name);
    ADD("tile%d_%s + ", (int)s->step, r->stage->tile[s->step].name);
    print_expression(r, s->index);
    ADD(");\n");
}

static void fetch_pieces(printer *r, const ir_statement *s) {
    const ir_node *load = &r->p->nodes[s->value];
    ADD("atn_fetch16%s(tile%d_%s + ", s->limit >= 0 ? "_part" : "", s->id, r->stage->tile[s->id].name);
    print_expression(r, s->index);
    ADD(", ");
    print_pointer(r, load->id);
    ADD(" + ");
    print_expression(r, load->arg[0]);
    if (s->limit >= 0) ADD(", ");
    if (s->limit >= 0) print_expression(r, s->limit);
    ADD(");\n");
}

/* Variables from the statement's on, and its operands. */
static void print_product(printer *r, const ir_statement *s, int32_t variables) {
    const ir_node *all = &r->p->nodes[s->value];
    for (int32_t k = 0; k < variables; ++k) ADD("%s%s", k ? ", " : "", r->p->variables[s->id + k].name);
    for (int32_t k = 0; k < all->width; ++k) {
        ADD(", ");
        print_expression(r, r->p->list[all->list + k]);
    }
    ADD(");\n");
}

static void multiply_matrices(printer *r, const ir_statement *s) {
    int32_t type = r->p->nodes[r->p->list[r->p->nodes[s->value].list]].type;
    ADD("atn_multiply_%s(", type == ATN_DP ? "doubles" : type == ATN_SP ? "singles" : "halves");
    print_product(r, s, 4);
}

static void exp2_of_product(printer *r, const ir_statement *s) {
    ADD("int %s, %s; atn_exp2_of_product(", r->p->variables[s->id].name, r->p->variables[s->id + 1].name);
    print_product(r, s, 2);
}

/* The address of an element of a tile. */
static void address(printer *r, ir_ref element) {
    const ir_node *n = &r->p->nodes[element];
    ADD("tile%d_%s + ", n->id, r->stage->tile[n->id].name);
    print_expression(r, n->arg[0]);
}

static void multiply_by_warpgroup(printer *r, const ir_statement *s) {
    ADD("atn_multiply_warpgroup(");
    address(r, s->index);
    ADD(", %d, ", (int)s->step);
    address(r, s->value);
    ADD(", %d", s->component);
    for (int32_t k = 0; k < s->unroll; ++k) ADD(", %s", r->p->variables[s->id + k].name);
    ADD(");\n");
}

void print_matrix(printer *r, const ir_statement *s) {
    switch (s->kind) {
    case IR_MATRIX_LOAD:
        load_matrices(r, s);
        return;
    case IR_MATRIX_FETCH:
        fetch_pieces(r, s);
        return;
    case IR_MATRIX_COMMIT:
        ADD("atn_commit();\n");
        return;
    case IR_MATRIX_WAIT:
        ADD("atn_wait(%d);%s\n", (int)s->step, s->component ? " atn_publish();" : "");
        return;
    case IR_MATRIX_MULTIPLY:
        multiply_matrices(r, s);
        return;
    case IR_MATRIX_EXP2:
        exp2_of_product(r, s);
        return;
    case IR_WARPGROUP_MULTIPLY:
        multiply_by_warpgroup(r, s);
        return;
    case IR_WARPGROUP_SET:
        ADD("atn_warpgroup_%s();\n", s->component ? "commit" : "begin");
        return;
    case IR_WARPGROUP_WAIT:
        ADD("atn_warpgroup_wait<%d>();\n", (int)s->step);
        return;
    default:
        return;
    }
}

/* Operands are stored in lines of 128 bytes whose 16-byte pieces are permuted by the line number: mode 1 of a
 * descriptor, whose other fields are in units of 16 bytes. In the left operand, reduction steps are contiguous; in the
 * right one, columns. */
void print_warpgroup_product(printer *r, int32_t columns) {
    int32_t sums = columns / 2;
    ADD("INLINE void atn_publish() { asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\"); }\n"
        "INLINE void atn_warpgroup_begin() { asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\"); }\n"
        "INLINE void atn_warpgroup_commit() { asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\"); }\n"
        "template <int LEFT> INLINE void atn_warpgroup_wait() {\n"
        "    asm volatile(\"wgmma.wait_group.sync.aligned %%0;\" :: \"n\"(LEFT) : \"memory\");\n"
        "}\n"
        "INLINE unsigned long long atn_describe(const int *at, uint leading, uint stride) {\n"
        "    return (unsigned long long)((uint)__cvta_generic_to_shared(at) >> 4 & 0x3fff) |\n"
        "           (unsigned long long)(leading >> 4) << 16 | (unsigned long long)(stride >> 4) << 32 | 1ULL << 62;\n"
        "}\n"
        "INLINE void atn_multiply_warpgroup(const int *left, uint rows, const int *right, uint columns");
    for (int32_t k = 0; k < sums; ++k) ADD(", float &s%d", k);
    ADD(") {\n    asm volatile(\"{\\n.reg .pred p;\\nsetp.eq.u32 p, 0, 0;\\n"
        "wgmma.mma_async.sync.aligned.m64n%dk16.f32.f16.f16 {",
        columns);
    for (int32_t k = 0; k < sums; ++k) ADD("%s%%%d", k ? ", " : "", k);
    ADD("}, %%%d, %%%d, p, 1, 1, 0, 1;\\n}\"\n        : ", sums, sums + 1);
    for (int32_t k = 0; k < sums; ++k) ADD("%s\"+f\"(s%d)", k ? ", " : "", k);
    ADD("\n        : \"l\"(atn_describe(left, 16, rows)), \"l\"(atn_describe(right, columns, 1024)));\n}\n");
}
