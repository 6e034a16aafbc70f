/* Statements and whole sources. A source consists of a comment that describes it, the dialect's helpers, constant
 * tables, and one entry point per stage. */
#include "render/printer.h"

#include "lower/contract.h"
#include "render/exp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ADD(...) atn_text_printf(r->out, __VA_ARGS__)

static void line(printer *r) { ADD("%*s", r->depth * 4, ""); }

static void print_block(printer *r, ir_stmt at);

/* A value as it is stored in a variable: mask vectors with 4-byte lanes. */
static void print_kept(printer *r, ir_ref ref) {
    const ir_node *n = &r->p->nodes[ref];
    if (n->type == ATN_B && n->width > 1 && print_mask_bytes(r, ref) != 4) {
        print_convert(r, 0, "int", n->width);
        print_expression(r, ref);
        print_convert(r, 1, "int", n->width);
        return;
    }
    print_expression(r, ref);
}

static void declare(printer *r, const ir_statement *s) {
    const ir_variable *v = &r->p->variables[s->id];
    if (!v->is_mutable) ADD("const ");
    print_vector_type(r, v->type, v->width);
    ADD(" %s = ", v->name);
    print_kept(r, s->value);
    ADD(";\n");
}

static void store(printer *r, const ir_statement *s) {
    const atn_object *o = &r->p->graph->objects[s->id];
    int32_t width = r->p->nodes[s->value].width;
    bool complex_object = o->type == ATN_SP2 || o->type == ATN_DP2;
    if (width > 1 || o->type == ATN_HP) {
        const char *name = o->type == ATN_HP ? "half" : o->type == ATN_B ? "bool" : print_storage(o->type);
        if (width == 1)
            ADD("atn_store_half(");
        else if (s->step == 2)
            ADD("atn_store2_%s%d(", name, width);
        else if (r->d->streams && r->p->variant.stream && o->type != ATN_HP && o->type != ATN_B)
            ADD("atn_stream_%s%d(", name, width);
        else
            ADD("atn_store_%s%d(", name, width);
        print_pointer(r, s->id);
        ADD(" + ");
        print_expression(r, s->index);
        ADD(", ");
        print_kept(r, s->value);
        ADD(");\n");
        return;
    }
    print_pointer(r, s->id);
    ADD(complex_object ? "[2 * (" : "[");
    print_expression(r, s->index);
    if (complex_object) ADD(") + %d", s->component);
    ADD("] = ");
    print_expression(r, s->value);
    ADD(";\n");
}

static const char *scatter_name(int32_t scatter) {
    static const char *const NAMES[] = {
        [ATN_WRITE_ADD] = "add", [ATN_WRITE_MIN] = "min", [ATN_WRITE_MAX] = "max", [ATN_WRITE_OR] = "or"};
    return NAMES[scatter];
}

static void store_atomic(printer *r, const ir_statement *s) {
    const atn_object *o = &r->p->graph->objects[s->id];
    bool complex_object = o->type == ATN_SP2 || o->type == ATN_DP2;
    bool small = o->type == ATN_U8 || o->type == ATN_U16 || o->type == ATN_HP ||
                 (o->type == ATN_B && s->scatter != ATN_WRITE_OR);
    if (small) {
        r->status = atn_fail(r->ctx, ATN_ERR_UNSUPPORTED, "%s: elements of type %s cannot be combined atomically",
                             o->name, atn_type_name(o->type));
        return;
    }
    ADD("atn_atomic_%s_%s(&", scatter_name(s->scatter), print_storage(o->type));
    print_pointer(r, s->id);
    ADD(complex_object ? "[2 * (" : "[");
    print_expression(r, s->index);
    if (complex_object) ADD(") + %d", s->component);
    ADD("], ");
    print_expression(r, s->value);
    ADD(");\n");
}

static void tile_store(printer *r, const ir_statement *s) {
    const ir_tile *t = &r->stage->tile[s->id];
    int32_t width = r->p->nodes[s->value].width;
    if (width > 1) {
        ADD("atn_store_%s%s%d(tile%d_%s + ", r->d->tile_store,
            t->type == ATN_B ? "bool" : print_vector_base((int32_t)t->type, 4), width, s->id, t->name);
        print_expression(r, s->index);
        ADD(", ");
        print_kept(r, s->value);
        ADD(");\n");
        return;
    }
    ADD("tile%d_%s[", s->id, t->name);
    print_expression(r, s->index);
    ADD("] = ");
    print_expression(r, s->value);
    ADD(";\n");
}

static void fetch(printer *r, const ir_statement *s) {
    const ir_node *load = &r->p->nodes[s->value];
    ADD("atn_fetch<%s%d>(tile%d_%s + ", print_storage(r->p->graph->objects[load->id].type), load->width, s->id,
        r->stage->tile[s->id].name);
    print_expression(r, s->index);
    ADD(", ");
    print_pointer(r, load->id);
    ADD(" + ");
    print_expression(r, load->arg[0]);
    ADD(");\n");
}

static void scratch_store(printer *r, const ir_statement *s) {
    const char *type = print_type(r->p->nodes[s->value].type);
    bool call = s->kind == IR_SCRATCH_ATOMIC || print_atomic_partials(r);
    if (s->kind == IR_SCRATCH_ATOMIC)
        ADD("atn_atomic_%s_%s((%s%s *)&scratch[2 + (", scatter_name(s->scatter), type, r->d->global, type);
    else if (call)
        ADD("atn_put_%s(&scratch[2 + (", type);
    else
        ADD("*(%s%s *)&scratch[2 + (", r->d->global, type);
    print_expression(r, s->index);
    ADD(call ? ")], " : ")] = ");
    print_expression(r, s->value);
    ADD(call ? ");\n" : ";\n");
}

static void leave(printer *r, const ir_statement *s) {
    ADD("atn_leave<%s>(&scratch[2 + (", print_type(r->p->nodes[s->value].type));
    print_expression(r, s->index);
    ADD(")], ");
    print_expression(r, s->limit);
    ADD(", ");
    print_expression(r, s->value);
    ADD(");\n");
}

static void braces(printer *r, ir_stmt body) {
    ADD("{\n");
    ++r->depth;
    print_block(r, body);
    --r->depth;
    line(r);
    ADD("}");
}

static void loop(printer *r, const ir_statement *s) {
    const char *name = r->p->variables[s->id].name;
    if (s->unroll > 1) {
        ADD(r->d->unroll, s->unroll);
        ADD("\n");
        line(r);
    }
    ADD("for (adr %s = ", name);
    print_expression(r, s->value);
    ADD("; %s < ", name);
    print_expression(r, s->limit);
    ADD("; %s += ", name);
    if (s->step > 0)
        ADD("%" PRId64, s->step);
    else
        print_expression(r, s->index);
    ADD(") ");
    braces(r, s->body);
    ADD("\n");
}

static void choice(printer *r, const ir_statement *s) {
    static const char *const BEFORE[] = {"if (", "if (__builtin_expect(", "if (__builtin_expect("};
    static const char *const AFTER[] = {[IR_UNKNOWN] = ") ", [IR_MOSTLY] = ", 1)) ", [IR_RARELY] = ", 0)) "};
    ADD("%s", BEFORE[s->component]);
    print_expression(r, s->value);
    ADD("%s", AFTER[s->component]);
    braces(r, s->body);
    if (s->other >= 0) {
        ADD(" else ");
        braces(r, s->other);
    }
    ADD("\n");
}

/* Memory requested at launch is divided into tiles explicitly. */
static void dynamic_tiles(printer *r) {
    if (atn_stage_dynamic_bytes(r->stage) == 0) return;
    line(r);
    ADD("%s;\n", r->d->dynamic_local);
    for (int32_t t = 0; t < r->stage->n_tiles; ++t) {
        const ir_tile *tile = &r->stage->tile[t];
        const char *type = print_type((int32_t)tile->type);
        if (!tile->dynamic) continue;
        line(r);
        ADD("%s *const tile%d_%s = (%s *)(dynamic_local + %" PRId64 ");\n", type, t, tile->name, type,
            atn_stage_dynamic_offset(r->stage, t));
    }
}

static void tiles(printer *r) {
    dynamic_tiles(r);
    for (int32_t t = 0; t < r->stage->n_tiles; ++t) {
        const ir_tile *tile = &r->stage->tile[t];
        if (tile->dynamic) continue;
        line(r);
        ADD("%s%s tile%d_%s[%" PRId64 "]%s;\n", r->d->local,
            tile->type == ATN_B ? "int" : print_type((int32_t)tile->type), t, tile->name, tile->elements,
            r->d->local_align);
    }
}

/* The groups of the host: ranges that the thread is assigned, with tiles of its own. */
static void parallel(printer *r, const ir_statement *s) {
    const atn_variant *v = &r->p->variant;
    const char *name = r->p->variables[s->id].name;
    ADD("const int64_t %s_end = ", name);
    print_expression(r, s->limit);
    ADD(";\n");
    tiles(r);
    line(r);
    ADD("for (int64_t range[2]; call->next(call, %s_end, %d, %d, range);) {\n", name, v->schedule, v->chunk);
    ++r->depth;
    line(r);
    ADD("for (adr %s = (adr)range[0]; %s < (adr)range[1]; ++%s) ", name, name, name);
    braces(r, s->body);
    ADD("\n");
    --r->depth;
    line(r);
    ADD("}\n");
}

static void statement(printer *r, const ir_statement *s) {
    if (s->kind != IR_COMMENT || s->text[0]) line(r);
    switch (s->kind) {
    case IR_DECLARE:
        declare(r, s);
        return;
    case IR_ASSIGN:
        ADD("%s = ", r->p->variables[s->id].name);
        print_kept(r, s->value);
        ADD(";\n");
        return;
    case IR_STORE:
        store(r, s);
        return;
    case IR_STORE_ATOMIC:
        store_atomic(r, s);
        return;
    case IR_TILE_STORE:
        tile_store(r, s);
        return;
    case IR_SCRATCH_STORE:
    case IR_SCRATCH_ATOMIC:
        scratch_store(r, s);
        return;
    case IR_FETCH:
        fetch(r, s);
        return;
    case IR_FETCHED:
        ADD("atn_fetched();\n");
        return;
    case IR_LEAVE:
        leave(r, s);
        return;
    case IR_MATRIX_LOAD:
    case IR_MATRIX_FETCH:
    case IR_MATRIX_COMMIT:
    case IR_MATRIX_WAIT:
    case IR_MATRIX_MULTIPLY:
    case IR_MATRIX_EXP2:
    case IR_WARPGROUP_MULTIPLY:
    case IR_WARPGROUP_SET:
    case IR_WARPGROUP_WAIT:
        print_matrix(r, s);
        return;
    case IR_PARTS_SET:
    case IR_PARTS_SPLIT:
    case IR_PARTS_MULTIPLY:
        print_parts(r, s);
        return;
    case IR_FOR:
        loop(r, s);
        return;
    case IR_IF:
        choice(r, s);
        return;
    case IR_BARRIER:
        ADD("%s;\n", r->d->barrier);
        return;
    case IR_REPORT:
        ADD("atn_report(report, %d);\n", s->id + 1);
        return;
    case IR_ORDER:
        ADD("ATN_ORDER(");
        print_expression(r, s->value);
        ADD(");\n");
        return;
    case IR_HIDE:
        ADD("__asm__(\"\" : \"+r\"(");
        print_expression(r, s->value);
        ADD("));\n");
        return;
    case IR_COMMENT:
        ADD("/* %s */\n", s->text);
        return;
    case IR_PARALLEL:
        parallel(r, s);
        return;
    }
}

static void print_block(printer *r, ir_stmt at) {
    for (; at >= 0 && r->status == ATN_OK; at = r->p->statements[at].next) statement(r, &r->p->statements[at]);
}

/* ---- entry points ---- */

static void argument_type(printer *r, const ir_argument *a, int32_t part) {
    const atn_graph *g = r->p->graph;
    (void)part;
    switch (a->kind) {
    case IR_ARG_DATA:
        ADD("%s%s%s *%s ", r->d->global, g->objects[a->id].written ? "" : "const ",
            print_storage(g->objects[a->id].type), r->d->restricted);
        return;
    case IR_ARG_PARAM:
        ADD("%s ", print_type(g->parameters[a->id].type == ATN_HP ? ATN_SP : (int32_t)g->parameters[a->id].type));
        return;
    case IR_ARG_SCRATCH:
        ADD("%sidx *", r->d->global);
        return;
    case IR_ARG_REPORT:
        ADD("%sint *", r->d->global);
        return;
    default:
        ADD("idx ");
        return;
    }
}

static int32_t parts_of(const atn_lowered *p, const ir_argument *a) {
    if (a->kind != IR_ARG_PARAM) return 1;
    atn_type type = p->graph->parameters[a->id].type;
    return type == ATN_SP2 || type == ATN_DP2 ? 2 : 1;
}

/* In C the arguments are members of one struct; addresses are narrowed if the variant says so. */
static void unpack(printer *r) {
    int32_t number = 0;
    for (int32_t k = 0; k < r->p->n_arguments; ++k) {
        const ir_argument *a = &r->p->arguments[k];
        for (int32_t part = 0; part < parts_of(r->p, a); ++part, ++number) {
            line(r);
            if (a->kind != IR_ARG_DATA && a->kind != IR_ARG_SCRATCH && a->kind != IR_ARG_REPORT) ADD("const ");
            argument_type(r, a, part);
            print_argument_name(r, a->kind, a->id, part);
            ADD(" = *(");
            ir_argument plain = *a;
            if (a->kind == IR_ARG_DATA)
                ADD("%s%s *", r->p->graph->objects[a->id].written ? "" : "const ",
                    print_storage(r->p->graph->objects[a->id].type));
            else
                argument_type(r, &plain, part);
            ADD("*)call->args[%d];\n", number);
        }
    }
}

/* Passed as 64 bits, used with the width of addresses. */
static bool is_address(const ir_argument *a) { return a->kind >= IR_ARG_OFFSET && a->kind <= IR_ARG_SIZE2; }

static void signature(printer *r) {
    bool first = true;
    for (int32_t k = 0; k < r->p->n_arguments; ++k) {
        const ir_argument *a = &r->p->arguments[k];
        for (int32_t part = 0; part < parts_of(r->p, a); ++part) {
            if (!first) ADD(", ");
            first = false;
            argument_type(r, a, part);
            print_argument_name(r, a->kind, a->id, part);
            if (is_address(a)) ADD("_wide");
        }
    }
    ADD(") {\n");
    if (r->d->after) {
        line(r);
        ADD("const idx after = %s;\n", r->d->after);
    }
    for (int32_t k = 0; k < r->p->n_arguments; ++k) {
        const ir_argument *a = &r->p->arguments[k];
        if (!is_address(a)) continue;
        line(r);
        ADD("const adr ");
        print_argument_name(r, a->kind, a->id, 0);
        bool waits = r->d->after && a->kind == IR_ARG_OFFSET; /* no access before it is known */
        ADD(waits ? " = (adr)(after + " : " = (adr)");
        print_argument_name(r, a->kind, a->id, 0);
        ADD(waits ? "_wide);\n" : "_wide;\n");
    }
}

static void stage(printer *r, int32_t k) {
    r->stage = &r->p->stage[k];
    ADD("\n%s", r->d->entry);
    int32_t resident = r->p->variant.resident;
    if (r->d->bounds[0]) ADD(r->d->bounds[resident > 0], r->stage->items, resident);
    ADD("%s(", r->stage->name);
    r->depth = 1;
    if (r->d->one_argument) {
        ADD("const struct atn_call *call) {\n");
        unpack(r);
    } else {
        signature(r);
        if (r->p->scratch_counter) {
            line(r);
            ADD("%sint item_flag[1];\n", r->d->local);
        }
        tiles(r);
    }
    print_block(r, r->stage->body);
    ADD("}\n");
}

/* ---- the beginning of a source ---- */

static void table(printer *r, const atn_object *o) {
    int64_t n = atn_table_elements(o);
    bool complex_object = o->type == ATN_SP2 || o->type == ATN_DP2;
    ADD("\n%s%s %s_table[%" PRId64 "] = {", r->d->constant, o->type == ATN_HP ? "float" : print_storage(o->type),
        o->name, n * (complex_object ? 2 : 1));
    for (int64_t k = 0; k < n * (complex_object ? 2 : 1); ++k) {
        if (k) ADD(k % 16 ? ", " : ",\n    ");
        switch (o->type) {
        case ATN_B:
        case ATN_U8:
            ADD("%d", ((const uint8_t *)o->table)[k]);
            break;
        case ATN_U16:
            ADD("%d", ((const uint16_t *)o->table)[k]);
            break;
        case ATN_INT32:
            ADD("%d", ((const int32_t *)o->table)[k]);
            break;
        case ATN_SP:
        case ATN_SP2:
            ADD("%.9ef", (double)((const float *)o->table)[k]);
            break;
        default:
            ADD("%.17e", ((const double *)o->table)[k]);
            break;
        }
    }
    ADD("};\n");
}

enum { WIDTHS = 6 }; /* of vectors, and of scalars */
typedef struct uses {
    bool doubles, halves;
    bool widths[WIDTHS];        /* 1, 2, 4, ... */
    bool exp_widths[2][WIDTHS]; /* of exp and exp2 in single precision */
    bool half_widths[WIDTHS];   /* of exp2 in halves */
    bool polynomials[2];        /* of scalars that are computed by polynomial next to native ones */
} uses;

static int32_t log2_of(int32_t width) {
    return width >= ATN_MOST_LANES ? 5 : width >= 16 ? 4 : width >= 8 ? 3 : width >= 4 ? 2 : width >= 2 ? 1 : 0;
}

static uses survey(const printer *r) {
    uses u = {0};
    const atn_lowered *p = r->p;
    for (int32_t k = 0; k < p->graph->n_objects; ++k) {
        atn_type t = p->graph->objects[k].type;
        u.halves |= t == ATN_HP;
        u.doubles |= t == ATN_DP || t == ATN_DP2;
    }
    for (int32_t k = 0; k < p->graph->n_parameters; ++k)
        u.doubles |= p->graph->parameters[k].type == ATN_DP || p->graph->parameters[k].type == ATN_DP2;
    for (int32_t k = 0; k < p->n_nodes; ++k) {
        const ir_node *n = &p->nodes[k];
        u.doubles |= n->type == ATN_DP;
        u.widths[log2_of(n->width)] = true;
        if (n->kind == IR_OPERATION && n->op == ATN_OP_EXP2 && n->type == ATN_HP)
            u.half_widths[log2_of(n->width)] = true;
        if (n->kind == IR_OPERATION && (n->op == ATN_OP_EXP || n->op == ATN_OP_EXP2) && n->type == ATN_SP)
            *(n->id == 1 ? &u.polynomials[n->op == ATN_OP_EXP2]
                         : &u.exp_widths[n->op == ATN_OP_EXP2][log2_of(n->width)]) = true;
    }
    return u;
}

/* Functions for the exponentials that the variant does not take from the library. */
static void exponentials(printer *r, const uses *u) {
    const atn_variant *v = &r->p->variant;
    atn_exp_form form = {.dialect = r->d->exp, .degree = v->degree, .finite = r->p->graph->finite, .fast = v->fast};
    if (v->exp == ATN_EXP_LIBRARY) return;
    if (v->exp == ATN_EXP_NATIVE && r->d->native_exp[1]) {
        form.width = 1;
        if (u->exp_widths[1][0]) atn_render_native_exp2(r->out, form.dialect);
        if (u->polynomials[0]) atn_render_exp(r->out, &form);
        if (u->polynomials[1]) atn_render_exp2(r->out, &form);
        return;
    }
    for (int32_t k = 0; k < WIDTHS; ++k) {
        form.width = 1 << k;
        if (u->exp_widths[0][k]) atn_render_exp(r->out, &form);
        if (u->exp_widths[1][k]) atn_render_exp2(r->out, &form);
        if (u->half_widths[k]) atn_render_exp2_half(r->out, &form);
    }
}

static void prelude(printer *r, const char *const file[ATN_PRELUDE_FILES]) {
    for (int k = 0; k < ATN_PRELUDE_FILES && file[k]; ++k)
        atn_text_add(r->out, atn_embedded_find(ATN_PRELUDES, file[k]));
}

static void preface(printer *r) {
    uses u = survey(r);
    char hash[ATN_HASH_TEXT];
    atn_hash_print(r->p->graph->hash, hash);
    ADD("/* %s, %s. Variant: ", r->p->graph->name, hash);
    atn_variant_print(&r->p->variant, r->out);
    ADD(". Generated; do not edit. */\n");
    if (u.doubles) prelude(r, r->d->double_prelude);
    ADD("#define ATN_HALVES %d\n#define ATN_DOUBLES %d\n#define ATN_ADDRESS_BITS %d\n#define ATN_STREAM %d\n",
        u.halves + (u.halves && r->p->variant.half), u.doubles, r->p->variant.index, r->p->variant.stream);
    prelude(r, r->d->prelude);
    bool contraction = r->p->variant.matrix != ATN_MATRIX_OFF && lower_is_contraction(r->p->graph);
    if (contraction || r->p->variant.q[0].pack > 1) prelude(r, r->d->wide_prelude);
    if (r->p->variant.matrix != ATN_MATRIX_OFF) prelude(r, r->d->matrix_prelude);
    if (r->p->variant.matrix == ATN_MATRIX_WARPGROUP) print_warpgroup_product(r, 4 * r->p->variant.p[0].regs);
    if (r->p->variant.finish == ATN_FINISH_LOOK) prelude(r, r->d->look_prelude);
    for (int32_t k = 1; k < WIDTHS && r->d->vectors; ++k)
        if (u.widths[k]) {
            if (!strstr(atn_text_str(r->out), "#define ATN_VECTORS")) prelude(r, r->d->vector_prelude);
            ADD("ATN_VECTORS(%d)\n", 1 << k);
        }
    exponentials(r, &u);
    for (int32_t k = 0; k < r->p->graph->n_objects; ++k)
        if (r->p->graph->objects[k].table) table(r, &r->p->graph->objects[k]);
}

atn_status atn_render(const atn_ctx *ctx, const atn_lowered *program, const atn_dialect *dialect, atn_text *out) {
    printer r = {.ctx = ctx, .p = program, .d = dialect, .out = out};
    preface(&r);
    for (int32_t k = 0; k < program->n_stages && r.status == ATN_OK; ++k) stage(&r, k);
    return r.status != ATN_OK ? r.status : atn_text_status(out);
}
