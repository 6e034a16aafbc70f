/* What the shipped kernels are tried on. */
#include "shipped_arrays.h"

#include <stdlib.h>
#include <string.h>

/* Sizes of inputs; m, n, k are replaced by what is tried, s by one more than m: where m ranges start, and the last
 * ends; t is 12, the numbers of a pose; w is 32 m, the rows of m words; N and M are halves of n and m, rounded up, V
 * and W twice these; v is 320, the numbers of 4 x 4 x 4 voxels; x is one more than n; a, b, A, B, c and d are n, m, N,
 * M, V and W with a frame of 4 in all, C and D are V and W with one of 8; 3 is 3. */
static const struct {
    const char *kernel;
    struct {
        const char *object,
            *sizes; /* columns, rows, planes: a letter each of m n k s t w M N V W v x a to d A to D, 1, 3 */
    } inputs[SHIPPED_OBJECTS];
} TABLE[] = {
    {"above", {{"pixels", "nw"}}},
    {"above16", {{"pixels", "nw"}}},
    {"median_bits", {{"bits", "nm"}}},
    {"add", {{"A", "nm"}, {"B", "nm"}}},
    {"scale", {{"A", "nm"}}},
    {"transpose", {{"A", "nm"}}},
    {"laplace2d", {{"A", "nm"}}},
    {"laplace3d", {{"A", "nmk"}}},
    {"gemm_batch", {{"A", "km3"}, {"B", "nk3"}}},
    {"l2norm", {{"x", "n1"}}},
    {"dot", {{"x", "n1"}, {"y", "n1"}}},
    {"max", {{"x", "n1"}}},
    {"gemv", {{"A", "nm"}, {"x", "n1"}}},
    {"gemm", {{"A", "km"}, {"B", "nk"}}},
    {"estep", {{"yx", "m1"}, {"yy", "m1"}, {"yz", "m1"}, {"xx", "n1"}, {"xy", "n1"}, {"xz", "n1"}, {"xw", "n1"}}},
    {"estep_compat", {{"yx", "m1"}, {"yy", "m1"}, {"yz", "m1"}, {"xx", "n1"}, {"xy", "n1"}, {"xz", "n1"}}},
    {"estep_near",
     {{"yx", "nm"},
      {"yy", "nm"},
      {"yz", "nm"},
      {"ys", "nm"},
      {"xx", "mn"},
      {"xy", "mn"},
      {"xz", "mn"},
      {"xw", "mn"},
      {"start", "s1"},
      {"near", "k1"}}},
    {"nearest",
     {{"yx", "nm"},
      {"yy", "nm"},
      {"yz", "nm"},
      {"xx", "mn"},
      {"xy", "mn"},
      {"xz", "mn"},
      {"start", "s1"},
      {"near", "k1"}}},
    {"mstep",
     {{"yx", "n1"},
      {"yy", "n1"},
      {"yz", "n1"},
      {"w", "n1"},
      {"sum", "n1"},
      {"sum_x", "n1"},
      {"sum_y", "n1"},
      {"sum_z", "n1"}}},
    {"move", {{"px", "n1"}, {"py", "n1"}, {"pz", "n1"}}},
    {"around",
     {{"yx", "nm"},
      {"yy", "nm"},
      {"yz", "nm"},
      {"xx", "mn"},
      {"xy", "mn"},
      {"xz", "mn"},
      {"xw", "mn"},
      {"start", "s1"},
      {"near", "k1"}}},
    {"spread",
     {{"yx", "n1"},
      {"yy", "n1"},
      {"yz", "n1"},
      {"w", "n1"},
      {"sum", "n1"},
      {"sum_x", "n1"},
      {"sum_y", "n1"},
      {"sum_z", "n1"}}},
    {"agree",
     {{"px", "n1"},
      {"py", "n1"},
      {"pz", "n1"},
      {"pu", "n1"},
      {"pv", "n1"},
      {"pw", "n1"},
      {"qx", "n1"},
      {"qy", "n1"},
      {"qz", "n1"},
      {"qu", "n1"},
      {"qv", "n1"},
      {"qw", "n1"}}},
    {"redblack", {{"u", "nm"}, {"f", "nm"}}},
    {"shift_brute",
     {{"pose", "nt"}, {"px", "m1"}, {"py", "m1"}, {"pz", "m1"}, {"mx", "k1"}, {"my", "k1"}, {"mz", "k1"}}},
    {"shift_model",
     {{"pose", "nt"}, {"px", "m1"}, {"py", "m1"}, {"pz", "m1"}, {"mx", "k1"}, {"my", "k1"}, {"mz", "k1"}}},
    {"shift_lookup",
     {{"pose", "nt"},
      {"px", "m1"},
      {"py", "m1"},
      {"pz", "m1"},
      {"list", "k1"},
      {"start", "s1"},
      {"mx", "k1"},
      {"my", "k1"},
      {"mz", "k1"}}},
    {"shift_mark",
     {{"pose", "nt"},
      {"px", "m1"},
      {"py", "m1"},
      {"pz", "m1"},
      {"list", "k1"},
      {"start", "s1"},
      {"index", "k1"},
      {"mx", "k1"},
      {"my", "k1"},
      {"mz", "k1"},
      {"found", "nn"}}},
    {"shift_sum", {{"found", "nm"}}},
    {"phase_steps", {{"frames", "nm"}, {"sine", "m1"}, {"cosine", "m1"}}},
    {"unwrap_load", {{"psi", "nm"}}},
    {"unwrap_gather", {{"f", "cd"}, {"g", "AB"}}},
    {"unwrap_first", {{"f", "ab"}, {"X", "C3"}, {"Y", "3D"}}},
    {"unwrap_sweep", {{"f", "ab"}, {"u", "ab"}, {"X", "C3"}, {"Y", "3D"}}},
    {"unwrap_pair", {{"f", "ab"}, {"u", "ab"}, {"X", "C3"}, {"Y", "3D"}}},
    {"unwrap_redblack", {{"f", "ab"}, {"u", "ab"}, {"X", "C3"}, {"Y", "3D"}}},
    {"unwrap_norm", {{"f", "ab"}, {"u", "ab"}, {"X", "C3"}, {"Y", "3D"}}},
    {"unwrap_restrict", {{"f", "cd"}, {"u", "cd"}, {"g", "AB"}, {"X", "C3"}, {"Y", "3D"}}},
    {"unwrap_raise", {{"f", "cd"}, {"u", "cd"}, {"e", "AB"}, {"X", "C3"}, {"Y", "3D"}}},
    {"unwrap_lift", {{"f", "cd"}, {"e", "AB"}, {"X", "C3"}, {"Y", "3D"}}},
    {"unwrap_residual_w", {{"psi", "nm"}, {"u", "nm"}, {"e", "nm"}, {"wx", "nm"}, {"wy", "nm"}}},
    {"unwrap_first_w", {{"f", "nm"}, {"inv", "nm"}, {"wx", "nm"}, {"wy", "nm"}}},
    {"unwrap_sweep_w", {{"f", "nm"}, {"u", "nm"}, {"inv", "nm"}, {"wx", "nm"}, {"wy", "nm"}}},
    {"unwrap_restrict_w", {{"f", "nm"}, {"u", "nm"}, {"wx", "nm"}, {"wy", "nm"}, {"g", "NM"}}},
    {"unwrap_raise_w", {{"f", "nm"}, {"u", "nm"}, {"e", "NM"}, {"v", "VW"}, {"inv", "nm"}, {"wx", "nm"}, {"wy", "nm"}}},
    {"unwrap_coarsen", {{"wx", "nm"}, {"wy", "nm"}, {"inv", "NM"}}},
    {"unwrap_grade", {{"psi", "nm"}, {"mask", "nm"}, {"quality", "nm"}}},
    {"unwrap_edges", {{"grade", "nm"}, {"psi", "nm"}, {"u", "nm"}}},
    {"unwrap_apply", {{"p", "nm"}, {"wx", "nm"}, {"wy", "nm"}}},
    {"unwrap_step", {{"p", "n1"}, {"q", "n1"}, {"rz", "11"}, {"pq", "11"}, {"x", "n1"}, {"r", "n1"}}},
    {"unwrap_turn", {{"z", "n1"}, {"rz", "11"}, {"before", "11"}, {"p", "n1"}}},
    {"unwrap_squares", {{"e", "nm"}}},
    {"unwrap_survey", {{"psi", "nm"}, {"mask", "nm"}}},
    {"unwrap_phasor", {{"psi", "nm"}, {"u", "nm"}, {"mask", "nm"}}},
    {"unwrap_report", {{"psi", "nm"}, {"v", "nm"}, {"mask", "nm"}}},
    {"unwrap_finish", {{"psi", "nm"}, {"u", "nm"}, {"mask", "nm"}}},
    {"lattice_score",
     {{"turn", "nt"}, {"px", "k1"}, {"py", "k1"}, {"pz", "k1"}, {"start", "m1"}, {"last", "m1"}, {"table", "v1"}}},
    {"lattice_pick", {{"score", "nm"}, {"grid", "xt"}}},
    {"lattice_refine",
     {{"qw", "nm"},
      {"qx", "nm"},
      {"qy", "nm"},
      {"qz", "nm"},
      {"tx", "nm"},
      {"ty", "nm"},
      {"tz", "nm"},
      {"px", "k1"},
      {"py", "k1"},
      {"pz", "k1"},
      {"start", "m1"},
      {"end", "m1"},
      {"pull", "v1"}}},
    {"spmv", {{"start", "m1"}, {"column", "k1"}, {"element", "k1"}, {"x", "n1"}}},
};

static int64_t length_of(char which, const int64_t mnk[3]) {
    return which == 'm'   ? mnk[0]
           : which == 'n' ? mnk[1]
           : which == 'k' ? mnk[2]
           : which == 's' ? mnk[0] + 1
           : which == 't' ? 12
           : which == 'w' ? 32 * mnk[0]
           : which == 'M' ? (mnk[0] + 1) / 2
           : which == 'N' ? (mnk[1] + 1) / 2
           : which == 'W' ? (mnk[0] + 1) / 2 * 2
           : which == 'V' ? (mnk[1] + 1) / 2 * 2
           : which == 'v' ? 320
           : which == 'x' ? mnk[1] + 1
           : which == 'a' ? mnk[1] + 4
           : which == 'b' ? mnk[0] + 4
           : which == 'A' ? (mnk[1] + 1) / 2 + 4
           : which == 'B' ? (mnk[0] + 1) / 2 + 4
           : which == 'c' ? (mnk[1] + 1) / 2 * 2 + 4
           : which == 'd' ? (mnk[0] + 1) / 2 * 2 + 4
           : which == 'C' ? (mnk[1] + 1) / 2 * 2 + 8
           : which == 'D' ? (mnk[0] + 1) / 2 * 2 + 8
           : which == '3' ? 3
                          : 1;
}

static void fill(atn_view *view, uint64_t most, uint64_t *seed) {
    size_t bytes = atn_type_bytes(view->type);
    int64_t rows = atn_view_rows(view);
    int64_t pitch = view->rank > 1 ? view->pitch : view->size[0];
    view->data = malloc((size_t)(rows * pitch) * bytes + 16);
    for (int64_t k = 0; k < rows * pitch; ++k) {
        double number[2] = {2 * kit_uniform(seed) - 1, 2 * kit_uniform(seed) - 1};
        atn_element_store(view->type, number, (int64_t)(kit_random(seed) % most),
                          (char *)view->data + (size_t)k * bytes);
    }
}

/* A sparse matrix: its rows share the elements evenly, with columns that x has; and rows of blocks, with near ones. */
static void make_sparse(const atn_graph *g, atn_view *views, const int64_t mnk[3]) {
    for (int32_t k = 0; k < g->n_objects; ++k) {
        int32_t *data = views[k].data;
        bool start = strcmp(g->objects[k].name, "start") == 0, column = strcmp(g->objects[k].name, "column") == 0 ||
                                                                        strcmp(g->objects[k].name, "near") == 0 ||
                                                                        strcmp(g->objects[k].name, "index") == 0;
        bool list = strcmp(g->objects[k].name, "list") == 0; /* numbers of ranges */
        bool end = strcmp(g->objects[k].name, "last") == 0 || strcmp(g->objects[k].name, "end") == 0;
        int64_t ranges = views[k].size[0] > 1 ? views[k].size[0] - 1 : 1;
        for (int64_t n = 0; n < views[k].size[0] && end; ++n) { /* three each, less where there are no more */
            int64_t last = n * mnk[2] / ranges + 3;
            data[n] = (int32_t)(last < mnk[2] ? last : mnk[2]);
        }
        for (int64_t n = 0; n < views[k].size[0] && (start || column); ++n)
            data[n] = (int32_t)(start ? n * mnk[2] / ranges : n * 7 % mnk[1]);
        for (int64_t n = 0; n < views[k].size[0] && list; ++n) data[n] = (int32_t)(n * 5 % mnk[0]);
    }
}

static size_t row_of(const char *kernel) {
    for (size_t k = 0; k < sizeof TABLE / sizeof *TABLE; ++k)
        if (strcmp(TABLE[k].kernel, kernel) == 0) return k;
    fail_msg("%s is shipped, but tests/kernel/shipped_arrays.c has no row for it", kernel);
    return 0;
}

bool shipped_arrays_make(atn_ctx *ctx, const char *kernel, const atn_graph *g, const int64_t mnk[3],
                         shipped_arrays *out) {
    bool sparse = false;
    for (int32_t k = 0; k < g->n_objects; ++k) sparse = sparse || strcmp(g->objects[k].name, "start") == 0;
    size_t row = row_of(kernel);
    uint64_t seed = 42 + (uint64_t)mnk[1];
    if (sparse && mnk[0] * mnk[1] == 0) return false;
    assert_true(g->n_objects <= SHIPPED_OBJECTS && g->n_parameters <= SHIPPED_PARAMETERS);
    *out = (shipped_arrays){.params = {{1.5, 0}, {0.5, 0}, {-1, 0}, {0.25, 0}}, .count = g->n_objects};
    for (int32_t k = 0; k < g->n_parameters; ++k) /* colours and the like: both */
        if (g->parameters[k].type == ATN_INT32) out->params[k][0] = (double)((mnk[0] + mnk[1]) % 2);
    if (strcmp(kernel, "shift_lookup") == 0 || strcmp(kernel, "shift_mark") == 0) /* a volume of 3 x 3 x 3 */
        memcpy(out->params, (double[][2]){{1.5}, {-1.5}, {-1.5}, {-1.5}, {1}, {2.5}, {2.5}, {2.5}, {3}, {3}},
               sizeof(double[10][2]));
    if (strncmp(kernel, "above", 5) == 0) out->params[0][0] = 50;  /* half of the pixels */
    if (strcmp(kernel, "median_bits") == 0) out->params[0][0] = 3; /* words of a scan */
    if (strcmp(kernel, "phase_steps") == 0)                        /* most pixels are valid */
        memcpy(out->params, (double[][2]){{0.125}, {0.96875}}, sizeof(double[2][2]));
    if (strcmp(kernel, "lattice_score") == 0) /* 4 x 4 x 4 voxels */
        memcpy(out->params, (double[][2]){{0.5}, {0.25}, {0}, {4}, {4}}, sizeof(double[5][2]));
    if (strcmp(kernel, "lattice_refine") == 0) /* and equations that any weights can solve */
        memcpy(out->params,
               (double[][2]){
                   {0.25}, {0.5}, {0.25}, {0}, {4}, {4}, {0}, {0}, {1}, {1e6}, {1}, {0.5}, {0.001}, {-1}, {0.000001}},
               sizeof(double[15][2]));
    for (int32_t k = 0; k < g->n_objects; ++k) {
        atn_view *view = &out->views[k];
        *view = atn_view_unsized(g->objects[k].type, g->objects[k].rank);
        for (int n = 0; n < SHIPPED_OBJECTS && TABLE[row].inputs[n].object; ++n)
            if (strcmp(TABLE[row].inputs[n].object, g->objects[k].name) == 0) {
                for (int32_t axis = 0; axis < view->rank; ++axis)
                    view->size[axis] = length_of(TABLE[row].inputs[n].sizes[axis], mnk);
                view->pitch = view->size[0] + 3;
            }
    }
    atn_frame frame = {.views = out->views, .params = (const double(*)[2])out->params};
    for (int32_t k = 0; k < g->n_objects; ++k)
        if (out->views[k].size[0] < 0) {
            kit_ok(ctx, atn_eval_reach(ctx, g, &frame, k, out->views[k].size));
            out->views[k].pitch = out->views[k].size[0] + 1;
        }
    uint64_t most = strcmp(kernel, "median_bits") == 0 ? UINT64_C(1) << 32 : 100; /* whole words of bits */
    for (int32_t k = 0; k < g->n_objects; ++k) fill(&out->views[k], most, &seed);
    if (sparse) make_sparse(g, out->views, mnk);
    return true;
}

void shipped_arrays_free(shipped_arrays *arrays) {
    for (int32_t k = 0; k < arrays->count; ++k) free(arrays->views[k].data);
}
