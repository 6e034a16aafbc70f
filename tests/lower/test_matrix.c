/* Sums on matrix units: which graphs have a bilinear form, and, on an emulator, that what is generated for it agrees
 * with the oracle within the bound of its arithmetic, and not within a narrower one that its tolerance class would
 * need. */
#include "support/emulate.h"
#include "testkit.h"

#include "graph/bilinear.h"
#include "graph/shipped.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const atn_device_info CUDA = {.backend = "cuda", .arch = "sm_90", .max_group = 1024, .local_bytes = 200 << 10};

typedef struct parsed {
    atn_ctx *ctx;
    atn_sequence *sequence;
    const atn_graph *graph;
} parsed;

static parsed parse(const char *text, const char *type) {
    parsed p = {.ctx = kit_ctx()};
    atn_define define = {"USED_FLOAT", type};
    kit_ok(p.ctx, atn_sequence_parse(p.ctx, "matrix.atn", text, strlen(text),
                                     &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &p.sequence));
    p.graph = p.sequence->step[0];
    return p;
}

static void parsed_free(parsed *p) {
    atn_sequence_free(p->sequence);
    kit_free(p->ctx);
}

/* ---- forms ---- */

KIT_TEST(distances_are_products) {
    parsed p = parse(atn_shipped_find("estep"), "SP");
    atn_bilinear form;
    const char *why = "";
    if (!atn_bilinear_find(p.graph, &form, &why)) fail_msg("%s", why);
    assert_int_equal(form.n_terms, 5); /* |y|^2, w - |x|^2, and one product for each coordinate */
    assert_int_equal(form.n_weights, 1);
    assert_int_equal(form.n_atoms, 7);
    for (int32_t a = 0; a < form.n_atoms; ++a) { /* all but the weight belong to differences */
        bool weight =
            strcmp(p.graph->objects[p.graph->reads[p.graph->values[form.atom[a].value].index].object].name, "xw") == 0;
        assert_int_equal(form.atom[a].centre >= 0, !weight);
    }
    parsed_free(&p);
}

/* What limits how far points may be from the centre of their group: the sum of squares, where there is no other form.
 */
KIT_TEST(sums_of_squares_are_distances) {
    static const struct {
        const char *form;
        double factor; /* of the first point's value; 0: it is none */
    } CASES[] = {
        {"-(x[j] - y[i])^2", 1},
        {"x[j] - 2.5 * (x[j] - y[i])^2 - (z[j] - w[i])^2", 2.5}, /* x by itself is counted from nowhere */
        {"v[j] - 2.5 * (x[j] - y[i])^2 - (z[j] - w[i])^2", 2.5},
        {"v[j] - (x[j] - y[i])^2 + (z[j] - w[i])^2", 0},
        {"-(x[j] - y[i]) * (z[j] - w[i])", 0},
        {"v[j] * u[i] - (x[j] - y[i])^2", 0},
        {"x[j] * y[i]", 0},
    };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        char text[400];
        snprintf(text, sizeof text,
                 "kernel a(v, x, z, y, w, u: vector SP) -> s: vector SP\n    real\n    finite\n    s[i] = sum(j in "
                 "length(x)) exp2(%s)\n",
                 CASES[k].form);
        parsed p = parse(text, "SP");
        atn_bilinear form;
        double factor[ATN_FORM_ATOMS], found = 0;
        const char *why = "";
        if (!atn_bilinear_find(p.graph, &form, &why)) fail_msg("%s: %s", CASES[k].form, why);
        bool distance = atn_bilinear_distance(&form, factor);
        for (int32_t a = 0; a < form.n_atoms && distance; ++a) {
            const atn_node *n = &p.graph->values[form.atom[a].value];
            if (p.graph->objects[p.graph->reads[n->index].object].name[0] == 'y') found = factor[a];
        }
        if (found != CASES[k].factor) fail_msg("%s: %g", CASES[k].form, found);
        parsed_free(&p);
    }
}

KIT_TEST(what_has_no_form_says_why) {
    static const struct {
        const char *text, *why;
    } CASES[] = {
        {"kernel a(x, y: vector SP) -> s: vector SP\n    real\n    finite\n    s[i] = sum(j in length(x)) exp2(x[j] / "
         "y[i])\n",
         "functions of one sum of products"},
        {"kernel a(x, y: vector SP) -> s: vector SP\n    real\n    s[i] = sum(j in length(x)) exp2(-(x[j] - y[i])^2)\n",
         "promise finite input"},
        {"kernel a(x, y: vector DP) -> s: vector DP\n    real\n    finite\n    s[i] = sum(j in length(x)) exp2(-(x[j] "
         "- y[i])^2)\n",
         "single precision only"},
        {"kernel a(x, y: vector SP) -> s: vector SP\n    real\n    finite\n    s[i] = max(j in length(x)) exp2(-(x[j] "
         "- y[i])^2)\n",
         "sum of squares of differences"},
        {"kernel a(x, y: vector SP) -> s: vector SP\n    real\n    finite\n    s[i] = min(j in length(x)) 0.00001 * "
         "(x[j] - y[i])^2\n", /* halves would choose wrong steps */
         "factors from 2^-12 to 512"},
        {"kernel a(x, y: vector SP) -> s: vector SP\n    real\n    finite\n    s[i] = max(j in length(x)) -2000.0 * "
         "(x[j] - y[i])^2\n",
         "factors from 2^-12 to 512"},
        {"kernel a(x, y: vector SP) -> s: vector SP\n    real\n    finite\n    s[i] = sum(j in length(x)) x[j] * "
         "y[i]\n",
         "not a product of a weight"},
        {"kernel a(x: matrix SP) -> s: vector SP\n    real\n    finite\n    s[i] = sum(j) exp2(x[i, j])\n",
         "functions of one sum of products"},
    };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        parsed p = parse(CASES[k].text, "SP");
        atn_bilinear form;
        const char *why = "";
        assert_false(atn_bilinear_find(p.graph, &form, &why));
        kit_contains(why, CASES[k].why);
        parsed_free(&p);
    }
}

/* Sums of sums that share what they add up have more paths than there is time for. */
KIT_TEST(deep_sums_end) {
    char text[8192];
    int n = snprintf(text, sizeof text,
                     "kernel a(x, y: vector SP) -> s: vector SP\n    real\n    finite\n    over j in length(x)\n"
                     "        a0 = x[j] - y[i]\n");
    for (int k = 0; k < 60; ++k)
        n += snprintf(text + n, sizeof text - (size_t)n, "        a%d = (a%d + x[j]) + (a%d - y[i])\n", k + 1, k, k);
    snprintf(text + n, sizeof text - (size_t)n, "        s[i] += exp2(a60)\n");
    parsed p = parse(text, "SP");
    atn_bilinear form;
    assert_false(atn_bilinear_find(p.graph, &form, NULL));
    parsed_free(&p);
}

KIT_TEST(products_that_do_not_fit_say_why) {
    static const struct {
        const char *type, *variant, *why;
    } CASES[] = {
        {"SP", "matrix=half,lanes_p0=4,regs_p0=4,lanes_p1=8,regs_p1=2,tile_q0=16,stage=2", "matrix=pair of SP"},
        {"HP", "matrix=double,lanes_p0=4,regs_p0=4,lanes_p1=8,regs_p1=2,tile_q0=16,stage=2", "matrix=double of DP"},
        {"DP", "matrix=pair,lanes_p0=4,regs_p0=4,lanes_p1=8,regs_p1=2,tile_q0=16,stage=2", "matrix=double of DP"},
        {"HP", "matrix=half,lanes_p0=2,regs_p0=4,lanes_p1=16,regs_p1=2,tile_q0=16,stage=2",
         "4 lanes per warp along p0"},
        {"HP", "matrix=half,lanes_p0=4,regs_p0=2,lanes_p1=8,regs_p1=2,tile_q0=16,stage=2", "multiple of 4 registers"},
        {"HP", "matrix=half,lanes_p0=4,regs_p0=4,lanes_p1=8,regs_p1=2,tile_q0=24,stage=2", "16 (halves) or 8"},
        {"HP", "matrix=half,lanes_p0=4,regs_p0=4,lanes_p1=8,regs_p1=2,tile_q0=16", "staged tiles"},
        {"HP", "matrix=warpgroup,lanes_p0=4,regs_p0=16,lanes_p1=16,regs_p1=2,tile_q0=64,stage=3", "32 lanes along p1"},
        {"HP", "matrix=warpgroup,lanes_p0=4,regs_p0=16,lanes_p1=32,regs_p1=2,tile_q0=64,stage=2", "three buffers"},
        {"SP", "matrix=warpgroup,lanes_p0=4,regs_p0=16,lanes_p1=32,regs_p1=2,tile_q0=64,stage=3", "matrices of HP"},
        {"HP", "lanes_p0=4,lanes_p1=8,tile_q0=16,stage=3", "more than two buffers"},
    };
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        parsed p = parse(atn_shipped_find("gemm"), CASES[k].type);
        atn_target target = atn_target_of(&CUDA);
        atn_variant v = atn_variant_plain();
        const char *why = "";
        kit_ok(p.ctx, atn_variant_parse(p.ctx, &v, CASES[k].variant));
        assert_false(atn_variant_fits(p.graph, &v, &target, &why));
        kit_contains(why, CASES[k].why);
        parsed_free(&p);
    }
}

KIT_TEST(variants_that_do_not_fit_say_why) {
    static const struct {
        const char *variant, *why;
    } CASES[] = {
        {"matrix=half,lanes_p0=16,tile_q0=32,stage=1", "multiple of 32"},
        {"matrix=half,lanes_p0=32,tile_q0=24,stage=1", "multiple of 16"},
        {"matrix=half,lanes_p0=32,tile_q0=32", "staged tile"},
        {"matrix=half,lanes_p0=32,tile_q0=64,stage=2", "length of a tile"},
        {"mix=2,exp=native", "mix requires"},
        {"matrix=half,mix=2,lanes_p0=32,tile_q0=32,stage=1", "exp=native"},
    };
    parsed p = parse(atn_shipped_find("estep"), "SP");
    atn_target target = atn_target_of(&CUDA), old = target;
    old.matrix = false;
    const char *why = "";
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        atn_variant v = atn_variant_plain();
        kit_ok(p.ctx, atn_variant_parse(p.ctx, &v, CASES[k].variant));
        assert_false(atn_variant_fits(p.graph, &v, &target, &why));
        kit_contains(why, CASES[k].why);
    }
    atn_variant v = atn_variant_plain();
    kit_ok(p.ctx, atn_variant_parse(p.ctx, &v, "matrix=half,lanes_p0=32,tile_q0=32,stage=1"));
    assert_true(atn_variant_fits(p.graph, &v, &target, &why));
    assert_false(atn_variant_fits(p.graph, &v, &old, &why));
    kit_contains(why, "no supported matrix units");
    parsed_free(&p);
}

/* ---- on the emulator ---- */

typedef struct arrays {
    atn_view views[16];
    void *data[16];
    int32_t count;
} arrays;

static uint32_t seed = 1;
static double uniform(void) {
    seed = seed * 1664525 + 1013904223;
    return (double)(seed >> 8) / (1 << 23) - 1;
}

enum { APART = 190 };

/* Points in a cube of +- scale around `far`, near its corners if it is large, along the first axis alone if it is
 * negative; some steps that are none. */
static arrays fill(const atn_graph *g, int64_t points, int64_t steps, double scale, double far) {
    arrays a = {.count = g->n_objects};
    for (int32_t k = 0; k < g->n_objects; ++k) {
        const atn_object *o = &g->objects[k];
        int64_t n = o->name[0] == 'x' ? steps : points;
        a.data[k] = malloc((size_t)n * 8 + 16);
        assert_non_null(a.data[k]);
        a.views[k] = (atn_view){.data = a.data[k], .type = o->type, .rank = 1, .size = {n, 1, 1}, .pitch = n};
        for (int64_t i = 0; i < n; ++i) {
            bool weight = strcmp(o->name, "xw") == 0;
            double reach = scale > 0 ? scale : o->name[1] == 'x' ? -scale : 1;
            double place = reach > APART ? (uniform() < 0 ? -reach : reach) + uniform() : reach * uniform();
            double number[2] = {weight ? uniform() : far + place, 0};
            if (weight && i % 17 == 3) number[0] = -60000;
            if (o->written) number[0] = NAN;
            atn_element_store(o->type, number, 0, atn_view_at(&a.views[k], i, 0));
        }
    }
    return a;
}

static void arrays_free(arrays *a) {
    for (int32_t k = 0; k < a->count; ++k) free(a->data[k]);
}

/* Elements that are farther off than the arithmetic of `as` allows. */
static int64_t wrong(parsed *p, const arrays *a, const char *as) {
    atn_variant v = atn_variant_plain();
    kit_ok(p->ctx, atn_variant_parse(p->ctx, &v, as));
    atn_eval_options options = atn_variant_arithmetic(p->graph, &v, &CUDA);
    atn_bindings frame = {.views = a->views};
    atn_eval_result *oracle;
    atn_eval_mismatch m = {0};
    kit_ok(p->ctx, atn_eval_run(p->ctx, p->graph, &frame, &options, &oracle));
    bool agrees = atn_eval_verify(p->graph, oracle, a->views, NULL, 0, &m);
    if (!agrees && strcmp(as, "") != 0)
        print_message("    %s(%lld): %.9g, wanted %.9g +- %.3g\n", p->graph->objects[m.object].name, (long long)m.at[0],
                      m.got[0], m.wanted[0], m.bound);
    atn_eval_free(oracle);
    return agrees ? 0 : m.count;
}

/* Without differences. */
#define PRODUCT                                                                                                        \
    "kernel a(x, y: vector SP) -> s: vector SP\n    real\n    finite\n    s[i] = sum(j in length(x)) exp2(x[j] * "     \
    "y[i])\n"

static const struct {
    const char *kernel, *type, *variant; /* kernel: its name or text */
    int64_t points, steps;
    double scale, far;
    int in_class; /* the plain variant's bound: 1 is kept, 0 is not, -1 either */
} RUNS[] = {
    {"estep", "SP", "matrix=half,lanes_p0=32,tile_q0=32,stage=1,exp=native,index=32", 67, 75, 1, 0, 0},
    {"estep", "SP", "matrix=pair,lanes_p0=32,tile_q0=32,stage=1,exp=native,index=32", 67, 75, 1, 0, 1},
    {"estep", "SP", "matrix=pair,lanes_p0=64,regs_p0=2,tile_q0=64,stage=2,split_q0=3,exp=native", 130, 333, 1, 0, 1},
    {"estep", "SP", "matrix=pair,lanes_p0=64,tile_q0=16,stage=1,unroll_q0=2,split_q0=2,groups=1", 1, 1, 1, 0, 1},
    {"estep", "SP", "matrix=half,mix=2,lanes_p0=32,regs_p0=4,tile_q0=48,stage=1,exp=native", 129, 47, 6, 900, -1},
    {"estep", "SP", "matrix=half,lanes_p0=32,tile_q0=32,stage=2", 40, 50, 300, 0, 1}, /* apart: without matrix units */
    {"estep", "SP", "matrix=half,mix=4,packed=2,lanes_p0=64,regs_p0=2,tile_q0=48,stage=1,exp=native,split_q0=2", 97,
     141, 300, 0, 1},
    {"estep", "SP", "matrix=half,lanes_p0=32,tile_q0=32,stage=2", 40, 50, -200, 0, 0}, /* not so along one axis, */
    {"estep", "SP", "matrix=half,lanes_p0=32,tile_q0=32,stage=2", 40, 50, -230, 0, 1}, /* unless beyond sqrt(3) of it */
    {"estep", "HP", "matrix=half,mix=2,degree=3,lanes_p0=64,regs_p0=2,tile_q0=128,stage=1,exp=native", 200, 140, 2, 0,
     0},
    {"estep", "SP", "matrix=half,mix=4,packed=1,lanes_p0=32,tile_q0=32,stage=1,exp=native", 67, 75, 1, 0, 0},
    {"estep", "HP", "matrix=half,mix=8,packed=1,lanes_p0=64,tile_q0=64,stage=2,exp=native", 97, 140, 2, 0, 0},
    {"estep", "SP", "matrix=half,mix=3,packed=2,lanes_p0=32,regs_p0=2,tile_q0=32,stage=1,exp=native", 67, 75, 1, 0, 0},
    {"estep", "HP", "matrix=half,mix=8,packed=2,lanes_p0=64,tile_q0=64,stage=2,exp=native", 97, 140, 2, 0, 0},
    {"estep", "SP", "matrix=half,mix=4,packed=2,lanes_p0=128,regs_p0=4,tile_q0=32,stage=1,exp=native,resident=5", 530,
     40, 1, 0, 0}, /* sums where the points were, */
    {PRODUCT, "SP", "matrix=half,lanes_p0=128,regs_p0=4,tile_q0=32,stage=1,exp=native,resident=5,groups=1", 530, 40, 1,
     0, 0}, /* and then the points of the next group */
    {"estep_compat", "SP", "matrix=pair,lanes_p0=32,tile_q0=32,stage=2,split_q0=2", 65, 100, 1, 0, 1},
    {"nearest_all", "SP", "matrix=half,lanes_p0=64,regs_p0=2,tile_q0=64,unroll_q0=2,stage=1,split_q0=3,index=32", 130,
     333, 6, 900, 1},
    {"nearest_all", "SP", "matrix=half,lanes_p0=64,tile_q0=64,stage=2,index=32", 1, 47, 1, 0, 1},
};

KIT_TEST(agrees_with_the_oracle) {
    char *folder = kit_tempdir();
    for (size_t k = 0; k < sizeof RUNS / sizeof *RUNS; ++k) {
        if (!kit_turn(k, 2)) continue;
        const char *text = atn_shipped_find(RUNS[k].kernel);
        parsed p = parse(text ? text : RUNS[k].kernel, RUNS[k].type);
        arrays a = fill(p.graph, RUNS[k].points, RUNS[k].steps, RUNS[k].scale, RUNS[k].far);
        atn_variant v = atn_variant_plain();
        kit_ok(p.ctx, atn_variant_parse(p.ctx, &v, RUNS[k].variant));
        atn_status status = emulate_run(p.ctx, p.graph, &v, a.views, folder);
        if (status == ATN_ERR_DEVICE) print_message("    %s\n", atn_ctx_message(p.ctx));
        if (status == ATN_ERR_DEVICE) skip();
        kit_ok(p.ctx, status);
        if (wrong(&p, &a, RUNS[k].variant) > 0) fail_msg("%s", RUNS[k].variant);
        int64_t beyond = wrong(&p, &a, "");
        if (RUNS[k].in_class >= 0 && (beyond == 0) != RUNS[k].in_class)
            fail_msg("%s: %lld elements beyond the plain bound", RUNS[k].variant, (long long)beyond);
        arrays_free(&a);
        parsed_free(&p);
    }
    kit_remove(folder);
}

static const struct {
    const char *type, *variant;
    int64_t rows, columns, steps, gap; /* gap: elements between rows */
    bool special;                      /* infinities, NaN and large numbers among them */
} PRODUCTS[] = {
    {"HP", "matrix=half,lanes_p0=4,regs_p0=4,lanes_p1=8,regs_p1=2,tile_q0=16,stage=1,index=32", 16, 16, 16, 0, false},
    {"HP", "matrix=half,lanes_p0=8,regs_p0=4,lanes_p1=16,regs_p1=4,tile_q0=32,stage=3", 70, 41, 101, 0, true},
    {"HP", "matrix=half,lanes_p0=8,regs_p0=8,lanes_p1=8,regs_p1=4,tile_q0=32,stage=2,split_q0=2,groups=1", 33, 72, 200,
     8, false},
    {"HP", "matrix=half,lanes_p0=4,regs_p0=4,lanes_p1=8,regs_p1=2,tile_q0=16,stage=4", 1, 1, 1, 3, false},
    {"HP", "matrix=warpgroup,lanes_p0=4,regs_p0=16,lanes_p1=32,regs_p1=2,tile_q0=64,stage=3,index=32", 45, 51, 270, 0,
     false},
    {"HP", "matrix=warpgroup,lanes_p0=8,regs_p0=16,lanes_p1=32,regs_p1=4,tile_q0=128,stage=3,split_q0=2", 70, 100, 150,
     4, true},
    {"HP", "matrix=warpgroup,lanes_p0=4,regs_p0=64,lanes_p1=32,regs_p1=2,tile_q0=64,stage=4,index=32", 70, 264, 200, 0,
     false}, /* whole tiles, and others */
    {"SP", "matrix=pair,lanes_p0=8,regs_p0=4,lanes_p1=8,regs_p1=4,tile_q0=16,stage=3,index=32", 45, 51, 37, 0, false},
    {"SP", "matrix=pair,lanes_p0=8,regs_p0=4,lanes_p1=8,regs_p1=4,tile_q0=16,stage=3", 37, 44, 72, 0, false},
    {"SP", "matrix=pair,lanes_p0=4,regs_p0=8,lanes_p1=8,regs_p1=2,tile_q0=8,stage=2,split_q0=3", 17, 31, 40, 4, true},
    {"DP", "matrix=double,lanes_p0=4,regs_p0=16,lanes_p1=8,regs_p1=8,tile_q0=16,stage=3,index=32", 45, 51, 37, 0,
     false},
    {"DP", "matrix=double,lanes_p0=8,regs_p0=4,lanes_p1=8,regs_p1=4,tile_q0=8,stage=4,resident=2", 35, 36, 42, 0,
     false},
    {"DP", "matrix=double,lanes_p0=4,regs_p0=4,lanes_p1=8,regs_p1=2,tile_q0=8,stage=2,split_q0=3", 17, 31, 40, 1, true},
};

KIT_TEST(products_agree_with_the_oracle) {
    char *folder = kit_tempdir();
    for (size_t k = 0; k < sizeof PRODUCTS / sizeof *PRODUCTS; ++k) {
        if (!kit_turn(k, 2)) continue;
        parsed p = parse(atn_shipped_find("gemm"), PRODUCTS[k].type);
        const int64_t sizes[3][2] = {{PRODUCTS[k].steps, PRODUCTS[k].rows},
                                     {PRODUCTS[k].columns, PRODUCTS[k].steps},
                                     {PRODUCTS[k].columns, PRODUCTS[k].rows}};
        arrays a = {.count = 3};
        for (int32_t n = 0; n < 3; ++n) {
            int64_t pitch = sizes[n][0] + PRODUCTS[k].gap;
            a.data[n] = malloc((size_t)(pitch * sizes[n][1]) * 8 + 64);
            assert_non_null(a.data[n]);
            a.views[n] = (atn_view){.data = a.data[n],
                                    .type = p.graph->objects[n].type,
                                    .rank = 2,
                                    .size = {sizes[n][0], sizes[n][1], 1},
                                    .pitch = pitch};
            for (int64_t i = 0; i < pitch * sizes[n][1]; ++i) {
                static const double SPECIAL[] = {INFINITY, -INFINITY, NAN, 3.4028234e38, -3.4028234e38, 0};
                double number[2] = {n == 2 || i % pitch >= sizes[n][0] ? NAN : uniform(), 0};
                if (PRODUCTS[k].special && n < 2 && i % 61 == 7 && i % pitch < sizes[n][0])
                    number[0] = SPECIAL[i / 61 % 6];
                atn_element_store(a.views[n].type, number, 0,
                                  (char *)a.data[n] + (size_t)i * atn_type_bytes(a.views[n].type));
            }
        }
        atn_variant v = atn_variant_plain();
        kit_ok(p.ctx, atn_variant_parse(p.ctx, &v, PRODUCTS[k].variant));
        atn_status status = emulate_run(p.ctx, p.graph, &v, a.views, folder);
        if (status == ATN_ERR_DEVICE) skip();
        kit_ok(p.ctx, status);
        if (wrong(&p, &a, PRODUCTS[k].variant) > 0) fail_msg("%s", PRODUCTS[k].variant);
        if (wrong(&p, &a, "") > 0) fail_msg("%s: beyond the plain bound", PRODUCTS[k].variant);
        arrays_free(&a);
        parsed_free(&p);
    }
    kit_remove(folder);
}

/* ---- lists of rows ---- */

static const struct {
    const char *kernel, *type, *variant;
    int64_t rows, columns, target_rows, target_columns, longest; /* of a list */
    double scale, grid; /* grid: coordinates are multiples of it, so that many are as near as others; 0: they are not */
    int in_class;
} LISTS[] = {
    {"estep_near", "SP", "matrix=pair,lanes_p0=32,regs_p0=2,tile_q0=64,stage=1,exp=native,index=32,guard=0", 5, 64, 7,
     64, 3, 1, 0, 1},
    {"estep_near", "SP", "matrix=pair,lanes_p0=32,tile_q0=32,stage=2,guard=0", 4, 40, 3, 23, 5, 1, 0, 1},
    {"estep_near", "SP", "matrix=half,mix=2,degree=3,lanes_p0=32,tile_q0=48,stage=1,exp=native,guard=0", 3, 33, 9, 50,
     2, 1, 0, 0},
    {"estep_near", "HP", "matrix=half,mix=4,packed=1,lanes_p0=64,tile_q0=64,stage=1,exp=native,guard=0,groups=2", 3, 64,
     9, 16, 4, 1, 0, -1},
    {"estep_near", "SP", "matrix=half,lanes_p0=32,tile_q0=16,stage=1,guard=0", 2, 20, 3, 7, 2, 300, 0,
     1}, /* without matrix units */
    {"estep_near", "SP", "matrix=pair,lanes_p0=32,tile_q0=16,stage=1,guard=0", 1, 1, 1, 1, 0, 1, 0,
     1}, /* nothing in the list */
    {"estep_near", "SP", "matrix=pair,lanes_p0=32,tile_q0=32,stage=1,exp=native,guard=0", 3, 40, 3, 0, 4, 1, 0,
     1}, /* nothing in the rows that are listed */
    {"nearest", "SP", "matrix=half,lanes_p0=32,tile_q0=32,stage=1,guard=0", 3, 40, 3, 0, 4, 1, 0, 1},
    {"nearest", "SP", "matrix=half,lanes_p0=32,regs_p0=2,tile_q0=128,unroll_q0=4,stage=1,index=32,guard=0", 5, 70, 7,
     45, 4, 1e-7, 0, 1},
    {"nearest", "SP", "matrix=half,lanes_p0=64,tile_q0=64,unroll_q0=2,stage=2,index=32,guard=0,groups=2", 4, 64, 5, 64,
     3, 1e6, 0, 1},
    {"nearest", "SP", "matrix=half,lanes_p0=32,tile_q0=64,unroll_q0=2,stage=1,guard=0", 4, 33, 9, 30, 5, 4, 1,
     1}, /* many as near as others */
    {"nearest", "SP", "matrix=half,lanes_p0=32,tile_q0=32,stage=1,guard=0", 3, 32, 4, 20, 3, 1, 8,
     1}, /* all in one place */
    {"nearest", "SP", "matrix=half,lanes_p0=32,tile_q0=32,stage=1,index=32,guard=0", 3, 32, 4, 20, 3, 1e18, 0,
     1}, /* squares that are about to overflow */
    {"nearest", "HP", "matrix=half,lanes_p0=32,tile_q0=32,stage=2,index=32,guard=0", 3, 40, 9, 16, 4, 1, 0, 1},
    {"nearest", "SP", "matrix=half,lanes_p0=32,tile_q0=16,stage=1,index=32,guard=0", 1, 1, 1, 1, 0, 1, 0, 1},
};

static arrays fill_lists(const atn_graph *g, size_t which) {
    arrays a = {.count = g->n_objects};
    int64_t rows = LISTS[which].rows, listed = 0;
    for (int64_t i = 0; i < rows; ++i) listed += i % (LISTS[which].longest + 1);
    for (int32_t k = 0; k < g->n_objects; ++k) {
        const atn_object *o = &g->objects[k];
        bool start = strcmp(o->name, "start") == 0, near = strcmp(o->name, "near") == 0, target = o->name[0] == 'x';
        int64_t columns = start    ? rows + 1
                          : near   ? listed + 1
                          : target ? LISTS[which].target_columns
                                   : LISTS[which].columns;
        int64_t lines = start || near ? 1 : target ? LISTS[which].target_rows : rows;
        a.data[k] = malloc((size_t)(columns * lines) * 8 + 16);
        assert_non_null(a.data[k]);
        a.views[k] = (atn_view){.data = a.data[k],
                                .type = o->type,
                                .rank = start || near ? 1 : 2,
                                .size = {columns, lines, 1},
                                .pitch = columns};
        int64_t at = 0;
        for (int64_t i = 0; i < columns * lines; ++i) {
            double number[2] = {LISTS[which].scale * uniform(), 0}, grid = LISTS[which].grid;
            if (grid > 0) number[0] = grid * round(number[0] / grid);
            if (strcmp(o->name, "xw") == 0 && i % 17 == 3) number[0] = -60000;
            if (o->written) number[0] = NAN;
            if (near) number[0] = (double)(i * 5 % LISTS[which].target_rows);
            if (start) number[0] = (double)at, at += i % (LISTS[which].longest + 1);
            atn_element_store(o->type, number, start || near ? (int64_t)number[0] : 0,
                              (char *)a.data[k] + (size_t)i * atn_type_bytes(o->type));
        }
    }
    return a;
}

KIT_TEST(lists_agree_with_the_oracle) {
    char *folder = kit_tempdir();
    for (size_t k = 0; k < sizeof LISTS / sizeof *LISTS; ++k) {
        if (!kit_turn(k, 2)) continue;
        parsed p = parse(atn_shipped_find(LISTS[k].kernel), LISTS[k].type);
        arrays a = fill_lists(p.graph, k);
        atn_variant v = atn_variant_plain();
        kit_ok(p.ctx, atn_variant_parse(p.ctx, &v, LISTS[k].variant));
        atn_status status = emulate_run(p.ctx, p.graph, &v, a.views, folder);
        if (status == ATN_ERR_DEVICE) skip();
        kit_ok(p.ctx, status);
        if (wrong(&p, &a, LISTS[k].variant) > 0) fail_msg("%s", LISTS[k].variant);
        int64_t beyond = wrong(&p, &a, "");
        if (LISTS[k].in_class >= 0 && (beyond == 0) != LISTS[k].in_class)
            fail_msg("%s: %lld elements beyond the plain bound", LISTS[k].variant, (long long)beyond);
        arrays_free(&a);
        parsed_free(&p);
    }
    kit_remove(folder);
}

/* ---- drawn ---- */

/* Weights of differences along one to three axes, with or without a weight of the step, summed with some of the
 * coordinates. */
static void draw_kernel(uint64_t *state, char *text, size_t bytes) {
    int axes = 1 + (int)(kit_random(state) % 3), factors = (int)(kit_random(state) % (uint64_t)(axes + 1));
    bool weight = kit_random(state) % 2;
    char names[64] = "", sums[64] = "sum", form[128] = "", lines[64] = "sum[i]", terms[64] = "a";
    for (int k = 0; k < axes; ++k) {
        char c = (char)('a' + k), piece[48];
        snprintf(piece, sizeof piece, "y%c, x%c%s", c, c, k + 1 < axes || weight ? ", " : "");
        strcat(names, piece);
        snprintf(piece, sizeof piece, "%s(x%c[j] - y%c[i])^2", k || weight ? " - " : "-", c, c);
        strcat(form, piece);
        if (k >= factors) continue;
        snprintf(piece, sizeof piece, ", sum_%c", c);
        strcat(sums, piece);
        snprintf(piece, sizeof piece, ", sum_%c[i]", c);
        strcat(lines, piece);
        snprintf(piece, sizeof piece, ", a * x%c[j]", c);
        strcat(terms, piece);
    }
    snprintf(text, bytes,
             "kernel drawn(%s%s: vector T) -> %s: vector sum(T)\n    real\n    finite\n    for i, over j in xa\n"
             "        a: sum(T) = exp2(%s%s)\n        %s += %s\n",
             names, weight ? "xw" : "", sums, weight ? "xw[j]" : "", form, lines, terms);
}

static void draw_variant(uint64_t *state, char *text, size_t bytes) {
    static const char *const KINDS[] = {"matrix=pair",
                                        "matrix=pair,mix=1,degree=5",
                                        "matrix=half",
                                        "matrix=half,mix=3,degree=3",
                                        "matrix=half,mix=4,packed=1",
                                        "matrix=half,mix=8,packed=1",
                                        "matrix=half,mix=5,packed=2"};
    int lanes = 32 << kit_random(state) % 2, stage = 1 + (int)(kit_random(state) % 2);
    int tile = stage == 2 ? lanes : 16 * (1 + (int)(kit_random(state) % 4));
    snprintf(text, bytes, "%s,exp=native,lanes_p0=%d,regs_p0=%d,tile_q0=%d,stage=%d,split_q0=%d",
             KINDS[kit_random(state) % (sizeof KINDS / sizeof *KINDS)], lanes, 1 << kit_random(state) % 2, tile, stage,
             1 + (int)(kit_random(state) % 3));
}

KIT_TEST(drawn_ones_agree_with_the_oracle) {
    enum { DAYS = 16, DRAWN = 4 };
    char *folder = kit_tempdir();
    for (int64_t k = 0; k < kit_cases(DRAWN); ++k) {
        uint64_t draw = 1 + (uint64_t)kit_day() % DAYS * DRAWN + (uint64_t)k;
        char text[768], variant[160];
        draw_kernel(&draw, text, sizeof text);
        draw_variant(&draw, variant, sizeof variant);
        parsed p = parse(text, kit_random(&draw) % 2 ? "SP" : "HP");
        arrays a = fill(p.graph, 1 + (int64_t)(kit_random(&draw) % 140), 1 + (int64_t)(kit_random(&draw) % 90), 1.5, 0);
        atn_variant v = atn_variant_plain();
        kit_ok(p.ctx, atn_variant_parse(p.ctx, &v, variant));
        atn_status status = emulate_run(p.ctx, p.graph, &v, a.views, folder);
        if (status == ATN_ERR_DEVICE) skip();
        kit_ok(p.ctx, status);
        if (wrong(&p, &a, variant) > 0) fail_msg("%s\n%s", variant, text);
        arrays_free(&a);
        parsed_free(&p);
    }
    kit_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_products),           cmocka_unit_test(sums_of_squares_are_distances),
        cmocka_unit_test(what_has_no_form_says_why),        cmocka_unit_test(deep_sums_end),
        cmocka_unit_test(variants_that_do_not_fit_say_why), cmocka_unit_test(products_that_do_not_fit_say_why),
        cmocka_unit_test(agrees_with_the_oracle),           cmocka_unit_test(products_agree_with_the_oracle),
        cmocka_unit_test(lists_agree_with_the_oracle),      cmocka_unit_test(drawn_ones_agree_with_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
