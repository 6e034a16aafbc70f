/* Statements for products of parts on CPUs: calls of the functions of prelude/c_matrix.h, with the sizes of a step as
 * constants. */
#include "render/printer.h"

#define ADD(...) atn_text_printf(r->out, __VA_ARGS__)

static const char *tile_name(const printer *r, int64_t tile) { return r->stage->tile[tile].name; }

static int32_t of_step(const atn_variant *v, bool columns) { return columns ? 16 * v->p[0].regs : v->p[1].regs; }

static void split(printer *r, const ir_statement *s) {
    const atn_variant *v = &r->p->variant;
    const ir_node *load = &r->p->nodes[s->value];
    int32_t each = of_step(v, s->component);
    ADD("atn_split_%s_%s(tile%d_%s, ", s->component ? "right" : "left",
        r->p->graph->objects[load->id].type == ATN_HP ? "half" : "float", s->id, tile_name(r, s->id));
    print_pointer(r, load->id);
    ADD(" + ");
    print_expression(r, load->arg[0]);
    ADD(", ");
    print_argument_name(r, IR_ARG_PITCH, load->id, 0);
    ADD(", %d, %d, %d, %d, ", s->component ? each * v->p[0].seq : each, each, atn_variant_parts(v), v->q[0].tile);
    print_expression(r, s->limit);
    ADD(");\n");
}

static void multiply(printer *r, const ir_statement *s) {
    static const char *const UNITS[] = {
        [ATN_BF16_DOTS] = "dots", [ATN_BF16_TILES] = "tiles", [ATN_BF16_PLAIN] = "plain"};
    const atn_variant *v = &r->p->variant;
    const ir_ref *all = &r->p->list[r->p->nodes[s->value].list];
    const int64_t tile[] = {s->id, s->step, s->component};
    const ir_ref at[] = {s->index, all[0], all[1]};
    ADD("atn_multiply_%s(", UNITS[s->unroll]);
    for (int k = 0; k < 3; ++k) {
        ADD("tile%d_%s + ", (int)tile[k], tile_name(r, tile[k]));
        print_expression(r, at[k]);
        ADD(", ");
    }
    ADD("%d, %d, %d, ", of_step(v, false), of_step(v, true), atn_variant_parts(v));
    print_expression(r, all[2]);
    ADD(", ");
    print_expression(r, all[3]);
    ADD(" == 0);\n");
}

void print_parts(printer *r, const ir_statement *s) {
    if (s->kind == IR_PARTS_SPLIT)
        split(r, s);
    else if (s->kind == IR_PARTS_MULTIPLY)
        multiply(r, s);
    else
        ADD(s->unroll == ATN_BF16_TILES ? "atn_tiles_%s();\n" : "/* %s of products */\n",
            s->component ? "end" : "begin");
}
