/* The oracle: interprets a graph on the host, slow and obvious. Floating types are computed in double, INT32 wraps,
 * INDEX is int64, every access is checked. Reads see what was there before the kernel.
 *
 * Beside every floating value runs a bound of the error that a straightforward evaluation in the graph's own types may
 * make (forward running error analysis; sums in any order). So how far a variant may be off is derived, not guessed.
 * A value that such an error can turn altogether (a comparison, a cast to an integer) is `uncertain`. */
#ifndef ATN_EVAL_EVAL_H
#define ATN_EVAL_EVAL_H

#include "graph/graph.h"

/* An array as seen by code that binds arrays to a graph: host memory, row-major with a pitch. The planes of a volume
 * are consecutive, so that all its rows are a pitch apart. */
typedef struct atn_view {
    void *data; /* element (0, 0); NULL: elements are not available (only sizes matter) */
    atn_type type;
    int32_t rank;               /* 1 vector, 2 matrix, 3 volume */
    int64_t size[ATN_MAX_RANK]; /* Size(0), Size(1), ...; not looked at beyond the rank; size[0] < 0: not known yet */
    int64_t pitch;              /* elements from row to row, >= size[0]; not looked at for a vector */
} atn_view;

atn_view atn_view_unsized(atn_type type, int32_t rank); /* without elements, of unknown sizes */

/* What a graph is evaluated with, by index: see atn_eval_bind for names. Not owned. */
typedef struct atn_bindings {
    const atn_view *views;     /* one per object; those of tables are not looked at */
    const double (*params)[2]; /* real, imaginary; one per parameter; may be NULL where there is none */
} atn_bindings;

typedef struct atn_binding {
    const char *name;
    atn_view view;
} atn_binding;

typedef struct atn_param_value {
    const char *name;
    double value[2]; /* real, imaginary */
} atn_param_value;

/* Names into indices: fills views[n_objects] (what is not bound has size -1 and no data) and params[n_parameters]
 * (given, else its default). Refuses names the graph does not have, names given twice, and parameters without a value.
 */
atn_status atn_eval_bind(const atn_ctx *ctx, const atn_graph *graph, const atn_binding *bindings, size_t n_bindings,
                         const atn_param_value *given, size_t n_given, atn_view *views, double (*params)[2]);

/* An INDEX value that depends on no dimension (ranges of P, sizes): what a launcher needs. */
atn_status atn_eval_index(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, atn_value value,
                          int64_t *out);

/* The size an output takes when none is given: what its selectors reach over the ranges. 1 beyond its rank. */
atn_status atn_eval_reach(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, int32_t object,
                          int64_t size[ATN_MAX_RANK]);

/* All that must hold before a launch, refused with a sentence naming kernel, object and numbers: types, ranks, sizes,
 * pitches, parameters, ranges; affine accesses shown in range. Computed selectors, and affine ones over a range that
 * comes from data (atn_select_is_computed), cannot be shown here: those are guarded and reported at run time. Needs no
 * elements. */
atn_status atn_eval_check(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame);

/* The largest size of any index that generated code adds up without wrapping: ends of ranges and selectors that are
 * shown to be in range, with all their parts; computed selectors are not among them. A computed range counts as
 * ATN_FARTHEST, or, where its accesses were `validated`, as far as they go. The frame was checked, or its sizes alone
 * are asked about. */
atn_status atn_eval_span(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, bool validated,
                         int64_t *out);

/* The part of it that is about parameters alone. Never allocates. */
atn_status atn_eval_check_params(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame);

/* Which parameters decide ranges or selectors: decides[n_parameters]. A change of any other one leaves sizes, and all
 * that atn_eval_check says of accesses, as they are. */
atn_status atn_eval_deciding(const atn_ctx *ctx, const atn_graph *graph, bool *decides);

/* A bilinear form (graph/bilinear.h) that is computed as a sum of products, and weights made of it, on matrix units. */
typedef struct atn_eval_products {
    double unit;        /* error of the form, per 1 and per the sizes of all products; 0: it is computed as described */
    double spread;      /* differences are counted from a centre that is no farther from a point than this */
    double weight_unit; /* relative error of a weight times its factor */
    double weight_tiny; /* and absolute error of either */
    double largest;     /* what is larger does not fit */
} atn_eval_products;

/* How a variant computes; what is zero takes its default. */
typedef struct atn_eval_options {
    double unit[ATN_TYPE_COUNT]; /* unit roundoff of arithmetic in each floating type (SP2, DP2: of their parts);
                                  * default: the type's own, 2^-11, 2^-24, 2^-53 */
    double exp_error;            /* relative error of exp, exp2 and expm1; default: 3 ulp */
    double exp_slope;            /* and relative error per unit of the argument (native instructions); default: 0 */
    double element_unit;         /* relative error of elements, which are split into parts; default: 0 */
    int64_t run; /* SP is computed in halves, and so are sums, for that many steps, then in single; 0: it is not */
    atn_eval_products products;
    bool fast; /* reordered arithmetic: nothing counts as exact */
    /* Points of P to evaluate, axis 0 first; NULL: all. Then only plain writes (combine none) of these points are made,
     * and nothing that happens after the whole space. */
    const int64_t (*points)[ATN_MAX_RANK];
    int64_t n_points;
} atn_eval_options;

/* One written element. */
typedef struct atn_eval_cell {
    int32_t object;
    int64_t at[2];   /* column (or position), row, counted through all planes */
    double value[2]; /* floating: in double, not yet rounded to the object's type */
    int64_t whole;   /* integers and B */
    double bound;    /* of the absolute error, to first order, without the rounding of storage; INFINITY: uncertain */
    /* while running: what `combine` needs */
    double scale;  /* sum of |terms| */
    int64_t count; /* of terms */
} atn_eval_cell;

/* What a run wrote, in no particular order. Owned by the caller. */
typedef struct atn_eval_result {
    const atn_ctx *ctx;
    int64_t n_cells, capacity;
    atn_eval_cell *cells;
    int64_t *slots; /* a hash table of cells by object and place; -1 is free */
    int64_t n_slots;
    bool *blurred; /* per object: an uncertain selector wrote somewhere in it; any element may have changed */
    int32_t n_objects;
    int64_t bad_accesses; /* computed accesses out of range: reads gave 0, writes were not made */
    int32_t bad_read;     /* one read that had one, -1: none */
    int32_t bad_write;    /* one write that had one, -1: none */
} atn_eval_result;

/* Runs the graph; views are not changed. The frame was checked (unchecked ones are safe too: out of range reads give
 * 0). `options` may be NULL. *out is owned by the caller. */
atn_status atn_eval_run(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame,
                        const atn_eval_options *options, atn_eval_result **out);
void atn_eval_free(atn_eval_result *result); /* NULL is fine */
const atn_eval_cell *atn_eval_find(const atn_eval_result *result, int32_t object, int64_t column,
                                   int64_t row); /* or NULL */

/* Rounds what a run wrote into the views' own types. */
void atn_eval_store(const atn_graph *graph, const atn_eval_result *result, const atn_view *views);

/* Check, run and store at once: what `attune run --oracle` and simple tests need. */
atn_status atn_eval(const atn_ctx *ctx, const atn_graph *graph, const atn_bindings *frame, int64_t *bad_accesses);

/* Does an element that a variant made (at `got`, of the object's type) agree? |got - value| <= slack * bound + the
 * rounding of storage; NaN matches NaN, an infinity its like, integers are exact, what is uncertain matches anything.
 * slack 0: 4. */
bool atn_eval_agrees(atn_type type, const void *got, const atn_eval_cell *cell, double slack);

/* How far it is off, as a fraction of what is allowed: slack * bound + the rounding of storage + `more`. 0: exactly as
 * stored, or uncertain; above 1, INFINITY for integers and NaN, where it does not agree. */
double atn_eval_error(atn_type type, const void *got, const atn_eval_cell *cell, double slack, double more);

/* The first disagreement found. */
typedef struct atn_eval_mismatch {
    int32_t object;
    int64_t at[2];
    double got[2], wanted[2]; /* integers too */
    double bound;             /* allowed absolute difference, storage included */
    int64_t count;            /* of all elements that disagree */
} atn_eval_mismatch;

/* Holds arrays made by a variant against the oracle's result: every written element, and, where `before` is given (what
 * the arrays held before), that no other element of a written object has changed. True when all agree. */
bool atn_eval_verify(const atn_graph *graph, const atn_eval_result *result, const atn_view *got, const atn_view *before,
                     double slack, atn_eval_mismatch *mismatch);

/* Elements in memory, one at a time. */
double atn_half_to_double(uint16_t bits);
uint16_t atn_half_from_double(double number);    /* to nearest, ties to even; overflow gives an infinity */
int64_t atn_view_rows(const atn_view *view);     /* of all planes; 1 for a vector */
int64_t atn_view_elements(const atn_view *view); /* that can be read and written, gaps aside */
void atn_view_print_shape(const atn_view *view, char *text, size_t bytes); /* "ROWSxCOLUMNS" and the like */
size_t atn_view_bytes(const atn_view *view);                               /* in memory, gaps included */
void *atn_view_at(const atn_view *view, int64_t column, int64_t row);      /* the row counted through all planes */
void atn_element_load(atn_type type, const void *from, double number[2], int64_t *whole); /* integers give both */
void atn_element_store(atn_type type, const double number[2], int64_t whole, void *to);

#endif
