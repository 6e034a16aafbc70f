/* What the shipped kernels are tried on. */
#include "shipped_arrays.h"

#include <stdlib.h>
#include <string.h>

/* Sizes of inputs; m, n, k are replaced by what is tried, s by one more than m: where m ranges start, and the last
 * ends; t is 12, the numbers of a pose; w is 32 m, the rows of m words; N and M are halves of n and m, rounded up, V
 * and W twice these; v is 320, the numbers of 4 x 4 x 4 voxels; x is one more than n; a, b, A, B, c and d are n, m, N,
 * M, V and W with a frame of 4 in all, C and D are V and W with one of 8; 3 is 3; q is 16, the digits of a sort, and p
 * their room in m blocks. */
enum { BLOCK = 7 }; /* keys of a sort */
static const struct {
    const char *kernel;
    struct {
        const char *object;
        char columns, rows; /* 'm', 'n', 'k', 's', 't', 'w', '1', 'M', 'N', 'V', 'W', 'v', 'x', 'a' to 'd', 'A' to 'D',
                               '3', 'p', 'q' */
    } inputs[SHIPPED_OBJECTS];
} TABLE[] = {
    {"above", {{"pixels", 'n', 'w'}}},
    {"above16", {{"pixels", 'n', 'w'}}},
    {"median_bits", {{"bits", 'n', 'm'}}},
    {"add", {{"A", 'n', 'm'}, {"B", 'n', 'm'}}},
    {"scale", {{"A", 'n', 'm'}}},
    {"transpose", {{"A", 'n', 'm'}}},
    {"laplace2d", {{"A", 'n', 'm'}}},
    {"l2norm", {{"x", 'n', '1'}}},
    {"dot", {{"x", 'n', '1'}, {"y", 'n', '1'}}},
    {"max", {{"x", 'n', '1'}}},
    {"gemv", {{"A", 'n', 'm'}, {"x", 'n', '1'}}},
    {"gemm", {{"A", 'k', 'm'}, {"B", 'n', 'k'}}},
    {"estep",
     {{"yx", 'm', '1'},
      {"yy", 'm', '1'},
      {"yz", 'm', '1'},
      {"xx", 'n', '1'},
      {"xy", 'n', '1'},
      {"xz", 'n', '1'},
      {"xw", 'n', '1'}}},
    {"estep_compat",
     {{"yx", 'm', '1'}, {"yy", 'm', '1'}, {"yz", 'm', '1'}, {"xx", 'n', '1'}, {"xy", 'n', '1'}, {"xz", 'n', '1'}}},
    {"estep_near",
     {{"yx", 'n', 'm'},
      {"yy", 'n', 'm'},
      {"yz", 'n', 'm'},
      {"ys", 'n', 'm'},
      {"xx", 'm', 'n'},
      {"xy", 'm', 'n'},
      {"xz", 'm', 'n'},
      {"xw", 'm', 'n'},
      {"start", 's', '1'},
      {"near", 'k', '1'}}},
    {"nearest",
     {{"yx", 'n', 'm'},
      {"yy", 'n', 'm'},
      {"yz", 'n', 'm'},
      {"xx", 'm', 'n'},
      {"xy", 'm', 'n'},
      {"xz", 'm', 'n'},
      {"start", 's', '1'},
      {"near", 'k', '1'}}},
    {"mstep",
     {{"yx", 'n', '1'},
      {"yy", 'n', '1'},
      {"yz", 'n', '1'},
      {"w", 'n', '1'},
      {"sum", 'n', '1'},
      {"sum_x", 'n', '1'},
      {"sum_y", 'n', '1'},
      {"sum_z", 'n', '1'}}},
    {"move", {{"px", 'n', '1'}, {"py", 'n', '1'}, {"pz", 'n', '1'}}},
    {"around",
     {{"yx", 'n', 'm'},
      {"yy", 'n', 'm'},
      {"yz", 'n', 'm'},
      {"xx", 'm', 'n'},
      {"xy", 'm', 'n'},
      {"xz", 'm', 'n'},
      {"xw", 'm', 'n'},
      {"start", 's', '1'},
      {"near", 'k', '1'}}},
    {"spread",
     {{"yx", 'n', '1'},
      {"yy", 'n', '1'},
      {"yz", 'n', '1'},
      {"w", 'n', '1'},
      {"sum", 'n', '1'},
      {"sum_x", 'n', '1'},
      {"sum_y", 'n', '1'},
      {"sum_z", 'n', '1'}}},
    {"agree",
     {{"px", 'n', '1'},
      {"py", 'n', '1'},
      {"pz", 'n', '1'},
      {"pu", 'n', '1'},
      {"pv", 'n', '1'},
      {"pw", 'n', '1'},
      {"qx", 'n', '1'},
      {"qy", 'n', '1'},
      {"qz", 'n', '1'},
      {"qu", 'n', '1'},
      {"qv", 'n', '1'},
      {"qw", 'n', '1'}}},
    {"redblack", {{"u", 'n', 'm'}, {"f", 'n', 'm'}}},
    {"shift_brute",
     {{"pose", 'n', 't'},
      {"px", 'm', '1'},
      {"py", 'm', '1'},
      {"pz", 'm', '1'},
      {"mx", 'k', '1'},
      {"my", 'k', '1'},
      {"mz", 'k', '1'}}},
    {"shift_model",
     {{"pose", 'n', 't'},
      {"px", 'm', '1'},
      {"py", 'm', '1'},
      {"pz", 'm', '1'},
      {"mx", 'k', '1'},
      {"my", 'k', '1'},
      {"mz", 'k', '1'}}},
    {"shift_lookup",
     {{"pose", 'n', 't'},
      {"px", 'm', '1'},
      {"py", 'm', '1'},
      {"pz", 'm', '1'},
      {"list", 'k', '1'},
      {"start", 's', '1'},
      {"mx", 'k', '1'},
      {"my", 'k', '1'},
      {"mz", 'k', '1'}}},
    {"shift_mark",
     {{"pose", 'n', 't'},
      {"px", 'm', '1'},
      {"py", 'm', '1'},
      {"pz", 'm', '1'},
      {"list", 'k', '1'},
      {"start", 's', '1'},
      {"index", 'k', '1'},
      {"mx", 'k', '1'},
      {"my", 'k', '1'},
      {"mz", 'k', '1'},
      {"found", 'n', 'n'}}},
    {"shift_sum", {{"found", 'n', 'm'}}},
    {"phase_steps", {{"frames", 'n', 'm'}, {"sine", 'm', '1'}, {"cosine", 'm', '1'}}},
    {"unwrap_load", {{"psi", 'n', 'm'}}},
    {"unwrap_gather", {{"f", 'c', 'd'}, {"g", 'A', 'B'}}},
    {"unwrap_first", {{"f", 'a', 'b'}, {"X", 'C', '3'}, {"Y", '3', 'D'}}},
    {"unwrap_sweep", {{"f", 'a', 'b'}, {"u", 'a', 'b'}, {"X", 'C', '3'}, {"Y", '3', 'D'}}},
    {"unwrap_pair", {{"f", 'a', 'b'}, {"u", 'a', 'b'}, {"X", 'C', '3'}, {"Y", '3', 'D'}}},
    {"unwrap_redblack", {{"f", 'a', 'b'}, {"u", 'a', 'b'}, {"X", 'C', '3'}, {"Y", '3', 'D'}}},
    {"unwrap_norm", {{"f", 'a', 'b'}, {"u", 'a', 'b'}, {"X", 'C', '3'}, {"Y", '3', 'D'}}},
    {"unwrap_restrict", {{"f", 'c', 'd'}, {"u", 'c', 'd'}, {"g", 'A', 'B'}, {"X", 'C', '3'}, {"Y", '3', 'D'}}},
    {"unwrap_raise", {{"f", 'c', 'd'}, {"u", 'c', 'd'}, {"e", 'A', 'B'}, {"X", 'C', '3'}, {"Y", '3', 'D'}}},
    {"unwrap_lift", {{"f", 'c', 'd'}, {"e", 'A', 'B'}, {"X", 'C', '3'}, {"Y", '3', 'D'}}},
    {"unwrap_residual_w", {{"psi", 'n', 'm'}, {"u", 'n', 'm'}, {"e", 'n', 'm'}, {"wx", 'n', 'm'}, {"wy", 'n', 'm'}}},
    {"unwrap_first_w", {{"f", 'n', 'm'}, {"inv", 'n', 'm'}, {"wx", 'n', 'm'}, {"wy", 'n', 'm'}}},
    {"unwrap_sweep_w", {{"f", 'n', 'm'}, {"u", 'n', 'm'}, {"inv", 'n', 'm'}, {"wx", 'n', 'm'}, {"wy", 'n', 'm'}}},
    {"unwrap_restrict_w", {{"f", 'n', 'm'}, {"u", 'n', 'm'}, {"wx", 'n', 'm'}, {"wy", 'n', 'm'}, {"g", 'N', 'M'}}},
    {"unwrap_raise_w",
     {{"f", 'n', 'm'},
      {"u", 'n', 'm'},
      {"e", 'N', 'M'},
      {"v", 'V', 'W'},
      {"inv", 'n', 'm'},
      {"wx", 'n', 'm'},
      {"wy", 'n', 'm'}}},
    {"unwrap_coarsen", {{"wx", 'n', 'm'}, {"wy", 'n', 'm'}, {"inv", 'N', 'M'}}},
    {"unwrap_grade", {{"psi", 'n', 'm'}, {"mask", 'n', 'm'}, {"quality", 'n', 'm'}}},
    {"unwrap_edges", {{"grade", 'n', 'm'}, {"psi", 'n', 'm'}, {"u", 'n', 'm'}}},
    {"unwrap_apply", {{"p", 'n', 'm'}, {"wx", 'n', 'm'}, {"wy", 'n', 'm'}}},
    {"unwrap_step",
     {{"p", 'n', '1'}, {"q", 'n', '1'}, {"rz", '1', '1'}, {"pq", '1', '1'}, {"x", 'n', '1'}, {"r", 'n', '1'}}},
    {"unwrap_turn", {{"z", 'n', '1'}, {"rz", '1', '1'}, {"before", '1', '1'}, {"p", 'n', '1'}}},
    {"unwrap_squares", {{"e", 'n', 'm'}}},
    {"unwrap_survey", {{"psi", 'n', 'm'}, {"mask", 'n', 'm'}}},
    {"unwrap_phasor", {{"psi", 'n', 'm'}, {"u", 'n', 'm'}, {"mask", 'n', 'm'}}},
    {"unwrap_report", {{"psi", 'n', 'm'}, {"v", 'n', 'm'}, {"mask", 'n', 'm'}}},
    {"unwrap_finish", {{"psi", 'n', 'm'}, {"u", 'n', 'm'}, {"mask", 'n', 'm'}}},
    {"lattice_score",
     {{"turn", 'n', 't'},
      {"px", 'k', '1'},
      {"py", 'k', '1'},
      {"pz", 'k', '1'},
      {"start", 'm', '1'},
      {"last", 'm', '1'},
      {"table", 'v', '1'}}},
    {"lattice_pick", {{"score", 'n', 'm'}, {"grid", 'x', 't'}}},
    {"lattice_refine",
     {{"qw", 'n', 'm'},
      {"qx", 'n', 'm'},
      {"qy", 'n', 'm'},
      {"qz", 'n', 'm'},
      {"tx", 'n', 'm'},
      {"ty", 'n', 'm'},
      {"tz", 'n', 'm'},
      {"px", 'k', '1'},
      {"py", 'k', '1'},
      {"pz", 'k', '1'},
      {"start", 'm', '1'},
      {"end", 'm', '1'},
      {"pull", 'v', '1'}}},
    {"scan", {{"x", 'n', '1'}}},
    {"select", {{"x", 'n', '1'}, {"y", 'n', '1'}, {"count", '1', '1'}}},
    {"segments", {{"key", 'n', '1'}, {"begin", 'n', '1'}, {"count", '1', '1'}}},
    {"reduce_by_key",
     {{"key", 'n', '1'}, {"value", 'n', '1'}, {"unique", 'n', '1'}, {"total", 'n', '1'}, {"count", '1', '1'}}},
    {"sort_count", {{"key", 'n', '1'}, {"count", 'm', 'q'}}},
    {"sort_start", {{"count", 'm', 'q'}}},
    {"sort_scatter",
     {{"key", 'n', '1'}, {"value", 'n', '1'}, {"first", 'm', 'q'}, {"key_out", 'p', '1'}, {"value_out", 'p', '1'}}},
    {"spmv", {{"start", 'm', '1'}, {"column", 'k', '1'}, {"element", 'k', '1'}, {"x", 'n', '1'}}},
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
           : which == 'p' ? 16 * BLOCK * mnk[0]
           : which == 'q' ? 16
                          : 1;
}

static void fill(atn_view *view, uint64_t most, uint64_t *seed) {
    size_t bytes = atn_type_bytes(view->type);
    int64_t rows = view->rank > 1 ? view->size[1] : 1;
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
    if (strncmp(kernel, "sort_", 5) == 0) memcpy(out->params, (double[][2]){{2}, {BLOCK}}, sizeof(double[2][2]));
    for (int32_t k = 0; k < g->n_objects; ++k) {
        atn_view *view = &out->views[k];
        *view = (atn_view){.type = g->objects[k].type, .rank = g->objects[k].rank, .size = {-1, -1}};
        for (int n = 0; n < SHIPPED_OBJECTS && TABLE[row].inputs[n].object; ++n)
            if (strcmp(TABLE[row].inputs[n].object, g->objects[k].name) == 0) {
                view->size[0] = length_of(TABLE[row].inputs[n].columns, mnk);
                view->size[1] = length_of(TABLE[row].inputs[n].rows, mnk);
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
    for (int32_t k = 0; k < g->n_objects; ++k) { /* no two keys go to one place */
        const atn_view *view = &out->views[k];
        int32_t *first = view->data;
        for (int64_t n = 0; n < view->size[1] * view->size[0] && strcmp(g->objects[k].name, "first") == 0; ++n)
            first[n / view->size[0] * view->pitch + n % view->size[0]] = (int32_t)(n * BLOCK);
    }
    return true;
}

void shipped_arrays_free(shipped_arrays *arrays) {
    for (int32_t k = 0; k < arrays->count; ++k) free(arrays->views[k].data);
}
