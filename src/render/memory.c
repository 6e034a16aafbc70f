/* Conversions and memory as text: casts of scalars and vectors, lane exchanges, loads of elements, tiles, and the names
 * of arguments. */
#include "render/printer.h"

#include <inttypes.h>

#define ADD(...) atn_text_printf(r->out, __VA_ARGS__)

/* ---- casts ---- */

/* A saturating conversion to an integer. OpenCL only recommends that NaN becomes 0, so that it is replaced before,
 * unless there is none. */
static void saturated(printer *r, const ir_node *n, int32_t from) {
    bool known = !r->d->nan_converts && !r->p->graph->finite;
    if (known) ADD(n->width > 1 ? "atn_known_%s%d(" : "atn_known_%s(", print_type(from), n->width);
    print_expression(r, n->arg[0]);
    if (known) ADD(")");
}

void print_cast_scalar(printer *r, const ir_node *n, int32_t from) {
    bool from_floating = !print_is_integer(from), to_floating = !print_is_integer(n->type);
    if (n->type == ATN_B) {
        ADD("(");
        print_expression(r, n->arg[0]);
        ADD(" != 0)");
        return;
    }
    if (from_floating && !to_floating) { /* saturates, NaN becomes 0 */
        ADD("%s(", n->type == ATN_U8      ? "atn_to_u8"
                   : n->type == ATN_U16   ? "atn_to_u16"
                   : n->type == ATN_INT32 ? "atn_to_int"
                                          : "atn_to_idx");
        saturated(r, n, from);
    } else {
        ADD("(%s)(", print_type(n->type));
        print_expression(r, n->arg[0]);
    }
    ADD(")");
}

void print_cast_vector(printer *r, const ir_node *n, int32_t from) {
    int32_t w = n->width;
    if (n->type == ATN_B) {
        bool narrow =
            (from == ATN_U8 || from == ATN_U16) && !print_by_extension(r); /* OpenCL does not allow an int next to them
                                                                            * */
        ADD("(");
        print_expression(r, n->arg[0]);
        if (narrow)
            ADD(" != (%s%d)(0))", print_vector_base(from, 4), w);
        else
            ADD(" != 0)");
    } else if (from == ATN_B) { /* all ones to 1 */
        ADD("(-");
        print_convert(r, 0, print_vector_base(n->type, 4), w);
        print_expression(r, n->arg[0]);
        print_convert(r, 1, print_vector_base(n->type, 4), w);
        ADD(")");
    } else if (!print_is_integer(from) && print_is_integer(n->type) && print_by_extension(r)) {
        ADD("atn_map_%s(%s%d, %d, ",
            n->type == ATN_U8      ? "to_u8"
            : n->type == ATN_U16   ? "to_u16"
            : n->type == ATN_INT32 ? "to_int"
                                   : "to_idx",
            print_vector_base(n->type, 4), w, w);
        print_expression(r, n->arg[0]);
        ADD(")");
    } else if (print_by_extension(r)) {
        bool by_way = from == ATN_U8 && n->type != ATN_U16; /* compilers widen lanes by a factor of two well, larger
                                                             * factors one by one */
        ADD(by_way ? "__builtin_convertvector(__builtin_convertvector(" : "__builtin_convertvector(");
        print_expression(r, n->arg[0]);
        if (by_way) ADD(", ushort%d)", w);
        ADD(", %s%d)", print_vector_base(n->type, 4), w);
    } else if (!print_is_integer(from) && print_is_integer(n->type)) {
        ADD("convert_%s%d_sat_rtz(", print_vector_base(n->type, 4), w);
        saturated(r, n, from);
        ADD(")");
    } else {
        ADD("convert_%s%d(", print_vector_base(n->type, 4), w);
        print_expression(r, n->arg[0]);
        ADD(")");
    }
}

/* Lanes of b are numbered from the width on. */
void print_turn(printer *r, const ir_node *n) {
    int32_t width = n->width, piece = (int32_t)n->integer;
    ADD("ATN_TURN(%s%d, ", n->type == ATN_DP ? "long" : "int", width);
    print_expression(r, n->arg[0]);
    ADD(", ");
    print_expression(r, n->arg[1]);
    for (int32_t k = 0; k < width; ++k) {
        bool other = k & piece;
        ADD(", %d", (k & ~piece) + n->id * piece + (other ? width : 0));
    }
    ADD(")");
}

/* ---- memory ---- */

void print_load(printer *r, const ir_node *n) {
    const atn_object *o = &r->p->graph->objects[n->id];
    bool complex_object = o->type == ATN_SP2 || o->type == ATN_DP2;
    if (n->width > 1) {
        if (r->d->vectors == ATN_VECTORS_MOVED)
            ADD("atn_load_%s<%s%d>(", n->list == IR_LOAD_ALIGNED ? "aligned" : "wide", print_storage(o->type),
                n->width);
        else if (print_by_extension(r))
            ADD("atn_%s%s_%s%d(", n->arg[1] >= 0 ? "gather" : "load", n->list == 2 ? "2" : "",
                o->type == ATN_HP                           ? "half"
                : o->type == ATN_B                          ? "bool"
                : o->type == ATN_U8 && n->type == ATN_INT32 ? "bytes"
                                                            : print_storage(o->type),
                n->width);
        else if (o->type == ATN_HP)
            ADD("vload_half%d(0, ", n->width);
        else if (o->type == ATN_B)
            ADD("((uchar%d)(0) != vload%d(0, ", n->width, n->width);
        else
            ADD("vload%d(0, ", n->width);
        print_pointer(r, n->id);
        ADD(" + ");
        print_expression(r, n->arg[0]);
        if (n->arg[1] >= 0) {
            ADD(", ");
            print_expression(r, n->arg[1]);
        }
        ADD(o->type == ATN_B && !print_by_extension(r) ? "))" : ")");
        return;
    }
    if (o->type == ATN_HP && !o->table) {
        ADD("atn_load_half(");
        print_pointer(r, n->id);
        ADD(", ");
        print_expression(r, n->arg[0]);
        ADD(")");
        return;
    }
    if (o->type == ATN_B) ADD("(");
    print_pointer(r, n->id);
    ADD(complex_object ? "[2 * (" : "[");
    print_expression(r, n->arg[0]);
    if (complex_object) ADD(") + %d", (int)n->integer);
    ADD(o->type == ATN_B ? "] != 0)" : "]");
}

void print_pointer(printer *r, int32_t object) {
    ADD("%s_%s", r->p->graph->objects[object].name, r->p->graph->objects[object].table ? "table" : "data");
}

void print_argument_name(printer *r, ir_argument_kind kind, int32_t id, int32_t part) {
    static const char *const SUFFIX[] = {
        [IR_ARG_DATA] = "data",   [IR_ARG_OFFSET] = "offset", [IR_ARG_PITCH] = "pitch",
        [IR_ARG_SIZE0] = "size0", [IR_ARG_SIZE1] = "size1",   [IR_ARG_SIZE2] = "size2"};
    if (kind == IR_ARG_PARAM)
        ADD("%s_param%s", r->p->graph->parameters[id].name, part ? "_im" : "");
    else if (kind == IR_ARG_SCRATCH)
        ADD("scratch");
    else if (kind == IR_ARG_REPORT)
        ADD("report");
    else
        ADD("%s_%s", r->p->graph->objects[id].name, SUFFIX[kind]);
}

void print_tile(printer *r, const ir_node *n) {
    const ir_tile *t = &r->stage->tile[n->id];
    if (n->width > 1) {
        if (print_by_extension(r))
            ADD("atn_load_%s%d(", t->type == ATN_B ? "bool" : print_vector_base((int32_t)t->type, 4), n->width);
        else if (r->d->vectors == ATN_VECTORS_MOVED)
            ADD("*(%s%d *)(", print_vector_base((int32_t)t->type, 4), n->width);
        else
            ADD("vload%d(0, ", n->width);
        ADD("tile%d_%s + ", n->id, t->name);
        print_expression(r, n->arg[0]);
        ADD(")");
        return;
    }
    ADD("tile%d_%s[", n->id, t->name);
    print_expression(r, n->arg[0]);
    ADD("]");
}
