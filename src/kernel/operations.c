/* The named operations: which shipped kernel, which types, which shapes; kernels built when first asked for and kept.
 */
#include "num/array.h"

#include "base/memory.h"
#include "graph/shipped.h"
#include "graph/type.h"
#include "kernel/choose.h"

#include <attune/operations.h>

#include <assert.h>
#include <string.h>

typedef enum operation { ADD, SCALE, LAPLACE2D, TRANSPOSE, L2NORM, DOT, MAX, GEMM, GEMV, SPMV, OPERATIONS } operation;

static const struct {
    const char *name; /* of the kernel */
    bool complex_too;
    bool made; /* it gathers, by arrays that attune checked when it made them */
} TABLE[OPERATIONS] = {
    [ADD] = {"add", true, false},
    [SCALE] = {"scale", true, false},
    [LAPLACE2D] = {"laplace2d", false, false},
    [TRANSPOSE] = {"transpose", true, false},
    [L2NORM] = {"l2norm", false, false},
    [DOT] = {"dot", true, false},
    [MAX] = {"max", false, false},
    [GEMM] = {"gemm", true, false},
    [GEMV] = {"gemv", true, false},
    [SPMV] = {"spmv", false, true},
};

enum { MOST_ARRAYS = 5 };

typedef struct built {
    atn_variant variant;
    atn_built *kernel;
} built;

/* An operation on one type. */
typedef struct entry {
    atn_sequence *sequence;
    built *kernels; /* one per variant that was asked for; few: they differ in powers of two of the sizes */
    size_t n_kernels, capacity;
    atn_view last[MOST_ARRAYS]; /* what the last call asked for, and got */
    int64_t last_offset;
    atn_built *last_kernel;
} entry;

struct atn_operations {
    atn_device *device;
    entry entries[OPERATIONS][ATN_TYPE_COUNT];
};

/* One call: the arrays in the order of the kernel's objects; bit k of written: array k is a result. */
typedef struct call {
    operation op;
    atn_type type;
    int32_t count;
    atn_array *array[MOST_ARRAYS];
    const char *name[MOST_ARRAYS]; /* of the kernel's objects */
    atn_slot slot[MOST_ARRAYS];
    uint32_t written;
    double param[1][2];
} call;

/* ---- the table of kernels ---- */

atn_status atn_operations_create(atn_device *device, atn_operations **out) {
    *out = atn_zalloc(atn_device_ctx(device), sizeof **out);
    if (!*out) return ATN_ERR_MEMORY;
    (*out)->device = device;
    return ATN_OK;
}

void atn_operations_free(atn_operations *o) {
    if (!o) return;
    const atn_ctx *ctx = atn_device_ctx(o->device);
    for (int op = 0; op < OPERATIONS; ++op)
        for (int type = 0; type < ATN_TYPE_COUNT; ++type) {
            entry *e = &o->entries[op][type];
            for (size_t k = 0; k < e->n_kernels; ++k) atn_built_free(e->kernels[k].kernel);
            atn_free(ctx, e->kernels);
            atn_sequence_free(e->sequence);
        }
    atn_free(ctx, o);
}

static atn_status parse(const atn_ctx *ctx, operation op, atn_type type, atn_sequence **out) {
    const char *text = atn_shipped_find(TABLE[op].name);
    atn_define define = {"USED_FLOAT", atn_type_name(type)};
    if (!text) return atn_fail(ctx, ATN_ERR_INTERNAL, "%s: the kernel is not shipped", TABLE[op].name);
    return atn_sequence_parse(ctx, TABLE[op].name, text, strlen(text),
                              &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, out);
}

static atn_built *find_kernel(const entry *e, const atn_variant *variant) {
    for (size_t k = 0; k < e->n_kernels; ++k)
        if (memcmp(&e->kernels[k].variant, variant, sizeof *variant) == 0) return e->kernels[k].kernel;
    return NULL;
}

static atn_status make_kernel(atn_operations *o, entry *e, const atn_bindings *frame, const atn_choose_options *options,
                              atn_built **out) {
    const atn_ctx *ctx = atn_device_ctx(o->device);
    const atn_graph *graph = e->sequence->step[0];
    atn_choice choice;
    atn_status status = atn_choose(ctx, graph, atn_device_get_info(o->device), frame, options, &choice);
    if (status != ATN_OK) return status;
    atn_variant wanted = choice.variant; /* what will be asked for again, whatever is built for it */
    *out = find_kernel(e, &wanted);
    if (!*out) status = atn_grow(ctx, (void **)&e->kernels, &e->capacity, e->n_kernels, sizeof *e->kernels);
    if (!*out && status == ATN_OK) {
        status = atn_choice_build(o->device, graph, frame, options, &choice, out);
        if (status == ATN_OK) e->kernels[e->n_kernels++] = (built){wanted, *out};
    }
    atn_choice_free(&choice);
    return status;
}

static int64_t farthest(const call *c) {
    int64_t offset = 0;
    for (int32_t k = 0; k < c->count; ++k)
        if (c->slot[k].offset > offset) offset = c->slot[k].offset;
    return offset;
}

static bool same_view(const atn_view *a, const atn_view *b) {
    return memcmp(a->size, b->size, sizeof a->size) == 0 && a->pitch == b->pitch;
}

static bool same_as_last(const entry *e, const call *c, int64_t offset) {
    bool same = e->last_kernel && offset <= e->last_offset;
    for (int32_t k = 0; k < c->count && same; ++k) same = same_view(&e->last[k], &c->slot[k].view);
    return same;
}

/* The kernel for these sizes: that of the last call, one that was built before, or a new one. */
static atn_status choose_kernel(atn_operations *o, const call *c, atn_built **out) {
    entry *e = &o->entries[c->op][c->type];
    int64_t offset = farthest(c);
    *out = e->last_kernel;
    if (same_as_last(e, c, offset)) return ATN_OK;
    atn_status status = e->sequence ? ATN_OK : parse(atn_device_ctx(o->device), c->op, c->type, &e->sequence);
    if (!e->sequence) return status;
    assert(e->sequence->step[0]->n_objects == c->count);
    atn_view views[MOST_ARRAYS] = {{0}};
    for (int32_t k = 0; k < c->count; ++k) {
        assert(strcmp(e->sequence->step[0]->objects[k].name, c->name[k]) == 0);
        views[k] = c->slot[k].view;
    }
    atn_choose_options options = {.indices = TABLE[c->op].made ? ATN_INDICES_MADE : ATN_INDICES_UNKNOWN,
                                  .offset = offset};
    status = make_kernel(o, e, &(atn_bindings){.views = views, .params = c->param}, &options, out);
    if (status != ATN_OK) return status;
    memcpy(e->last, views, sizeof views);
    e->last_offset = offset;
    e->last_kernel = *out;
    return ATN_OK;
}

/* ---- a call ---- */

static atn_status check_arrays(const atn_operations *o, const call *c) {
    const atn_ctx *ctx = atn_device_ctx(o->device);
    const char *op = TABLE[c->op].name;
    bool real = atn_type_is_real(c->type) && c->type != ATN_HP;
    if (!real && !(atn_type_is_complex(c->type) && TABLE[c->op].complex_too))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: elements are %s; it takes SP and DP%s", op, atn_type_name(c->type),
                        TABLE[c->op].complex_too ? ", SP2 and DP2" : "");
    if ((c->type == ATN_DP || c->type == ATN_DP2) && !atn_device_get_info(o->device)->fp64)
        return atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: %s has no double precision", op,
                        atn_device_get_info(o->device)->name);
    for (int32_t k = 0; k < c->count; ++k) {
        bool whole = (c->op == MAX && k == 2) || (c->op == SPMV && k < 2); /* INT32 */
        atn_type wanted = whole ? ATN_INT32 : c->type;
        if (c->array[k]->type != wanted)
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' has elements of %s, %s are needed", op, c->name[k],
                            atn_type_name(c->array[k]->type), atn_type_name(wanted));
        if (atn_array_device(c->array[k]) != o->device)
            return atn_fail(ctx, ATN_ERR_INPUT, "%s: '%s' is on another device", op, c->name[k]);
        for (int32_t n = 0; n < k; ++n)
            if (((c->written >> k | c->written >> n) & 1) && atn_array_overlaps(c->array[k], c->array[n]))
                return atn_fail(ctx, ATN_ERR_INPUT,
                                "%s: '%s' and '%s' share elements; a result must not overlap another array", op,
                                c->name[n], c->name[k]);
    }
    return ATN_OK;
}

static atn_status wrong_size(const atn_operations *o, const call *c, int32_t k, int64_t columns, int64_t rows) {
    const atn_view *view = &c->slot[k].view;
    return atn_fail(atn_device_ctx(o->device), ATN_ERR_INPUT,
                    "%s: '%s' has %lld rows of %lld elements; %lld of %lld are needed", TABLE[c->op].name, c->name[k],
                    (long long)view->size[1], (long long)view->size[0], (long long)rows, (long long)columns);
}

static bool has_size(const call *c, int32_t k, int64_t columns, int64_t rows) {
    return c->slot[k].view.size[0] == columns && c->slot[k].view.size[1] == rows;
}

static atn_status run(atn_operations *o, call *c) {
    atn_built *kernel;
    atn_status status = choose_kernel(o, c, &kernel);
    for (int32_t k = 0; k < c->count && status == ATN_OK; ++k) {
        status = atn_array_ready_device(c->array[k], c->written >> k & 1);
        c->slot[k].buffer = c->array[k]->storage->buffer;
    }
    if (status != ATN_OK) return status;
    status = atn_built_launch(kernel, c->slot, c->param);
    for (int32_t k = 0; k < c->count; ++k) {
        if (!(c->written >> k & 1)) continue;
        if (status == ATN_OK)
            atn_array_written_on_device(c->array[k]);
        else
            atn_array_spoiled_on_device(c->array[k]);
    }
    return status;
}

/* A vector where the kernel has a matrix: one row; a volume: the rows of all planes. */
static void as_matrix(call *c, int32_t k) {
    c->slot[k].view.rank = 2;
    c->slot[k].view.size[1] = atn_array_rows(c->array[k]);
    c->slot[k].view.size[2] = 1;
}

/* A matrix where the kernel has a vector: its rows are consecutive. */
static atn_status as_vector(const atn_operations *o, call *c, int32_t k) {
    atn_view *view = &c->slot[k].view;
    if (view->rank == 1) return ATN_OK;
    if (view->pitch != view->size[0] && atn_view_rows(view) > 1)
        return atn_fail(atn_device_ctx(o->device), ATN_ERR_INPUT,
                        "%s: '%s' has gaps between its rows; a vector is needed", TABLE[c->op].name, c->name[k]);
    int64_t all = atn_view_elements(view);
    *view = (atn_view){.type = view->type, .rank = 1, .size = {all, 1, 1}, .pitch = all};
    return ATN_OK;
}

static atn_status check_rank(const atn_operations *o, const call *c, int32_t k, int32_t rank) {
    if (c->array[k]->rank == rank) return ATN_OK;
    return atn_fail(atn_device_ctx(o->device), ATN_ERR_INPUT, "%s: '%s' is a %s, a %s is needed", TABLE[c->op].name,
                    c->name[k], atn_rank_name(c->array[k]->rank), atn_rank_name(rank));
}

static call make_call(operation op, int32_t count, uint32_t written, const char *const *names, atn_array *const *arrays,
                      atn_type type) {
    call c = {.op = op, .type = type, .count = count, .written = written};
    for (int32_t k = 0; k < count; ++k) {
        c.array[k] = arrays[k];
        c.name[k] = names[k];
        c.slot[k] = atn_array_slot(arrays[k]);
    }
    return c;
}

#define CALL(op, written, type, names, ...)                                                                            \
    make_call(op, sizeof((atn_array *[]){__VA_ARGS__}) / sizeof(atn_array *), written, names,                          \
              (atn_array *[]){__VA_ARGS__}, type)

/* ---- the operations ---- */

/* Result `c->count - 1` has the shape of all the others. */
static atn_status run_alike(atn_operations *o, call *c) {
    atn_status status = check_arrays(o, c);
    for (int32_t k = 0; k < c->count && status == ATN_OK; ++k) {
        status = check_rank(o, c, k, c->op == LAPLACE2D ? 2 : c->array[0]->rank);
        if (status == ATN_OK && !has_size(c, k, c->array[0]->size[0], c->array[0]->size[1]))
            status = wrong_size(o, c, k, c->array[0]->size[0], c->array[0]->size[1]);
        if (status == ATN_OK && c->array[k]->size[2] != c->array[0]->size[2])
            status = atn_fail(atn_device_ctx(o->device), ATN_ERR_INPUT, "%s: '%s' has %lld planes; %lld are needed",
                              TABLE[c->op].name, c->name[k], (long long)c->array[k]->size[2],
                              (long long)c->array[0]->size[2]);
        as_matrix(c, k);
    }
    return status == ATN_OK ? run(o, c) : status;
}

atn_status atn_array_add(atn_operations *o, atn_array *a, atn_array *b, atn_array *sum) {
    static const char *const NAMES[] = {"A", "B", "C"};
    call c = CALL(ADD, 1u << 2, a->type, NAMES, a, b, sum);
    return run_alike(o, &c);
}

atn_status atn_array_scale(atn_operations *o, double real, double imaginary, atn_array *a, atn_array *scaled) {
    static const char *const NAMES[] = {"A", "B"};
    call c = CALL(SCALE, 1u << 1, a->type, NAMES, a, scaled);
    c.param[0][0] = real;
    c.param[0][1] = imaginary;
    return run_alike(o, &c);
}

atn_status atn_array_laplace2d(atn_operations *o, atn_array *a, atn_array *laplacian) {
    static const char *const NAMES[] = {"A", "B"};
    call c = CALL(LAPLACE2D, 1u << 1, a->type, NAMES, a, laplacian);
    return run_alike(o, &c);
}

atn_status atn_array_transpose(atn_operations *o, atn_array *a, atn_array *transposed) {
    static const char *const NAMES[] = {"A", "B"};
    call c = CALL(TRANSPOSE, 1u << 1, a->type, NAMES, a, transposed);
    atn_status status = check_arrays(o, &c);
    if (status == ATN_OK) status = check_rank(o, &c, 0, 2);
    if (status == ATN_OK) status = check_rank(o, &c, 1, 2);
    if (status == ATN_OK && !has_size(&c, 1, a->size[1], a->size[0]))
        status = wrong_size(o, &c, 1, a->size[1], a->size[0]);
    return status == ATN_OK ? run(o, &c) : status;
}

/* The first `inputs` arrays become vectors of one length, the others hold one element each. */
static atn_status run_reduction(atn_operations *o, call *c, int32_t inputs) {
    atn_status status = check_arrays(o, c);
    for (int32_t k = 0; k < c->count && status == ATN_OK; ++k) {
        int64_t length = k < inputs ? c->slot[0].view.size[0] : 1;
        status = k < inputs ? as_vector(o, c, k) : check_rank(o, c, k, 1);
        if (k == 0) continue;
        if (status == ATN_OK && !has_size(c, k, length, 1)) status = wrong_size(o, c, k, length, 1);
    }
    return status == ATN_OK ? run(o, c) : status;
}

atn_status atn_array_l2norm(atn_operations *o, atn_array *x, atn_array *norm) {
    static const char *const NAMES[] = {"x", "norm"};
    call c = CALL(L2NORM, 1u << 1, x->type, NAMES, x, norm);
    return run_reduction(o, &c, 1);
}

atn_status atn_array_dot(atn_operations *o, atn_array *x, atn_array *y, atn_array *product) {
    static const char *const NAMES[] = {"x", "y", "product"};
    call c = CALL(DOT, 1u << 2, x->type, NAMES, x, y, product);
    return run_reduction(o, &c, 2);
}

atn_status atn_array_max(atn_operations *o, atn_array *x, atn_array *value, atn_array *index) {
    static const char *const NAMES[] = {"x", "value", "index"};
    call c = CALL(MAX, 1u << 1 | 1u << 2, x->type, NAMES, x, value, index);
    return run_reduction(o, &c, 1);
}

atn_status atn_array_gemm(atn_operations *o, atn_array *a, atn_array *b, atn_array *product) {
    static const char *const NAMES[] = {"A", "B", "C"};
    call c = CALL(GEMM, 1u << 2, a->type, NAMES, a, b, product);
    atn_status status = check_arrays(o, &c);
    for (int32_t k = 0; k < 3 && status == ATN_OK; ++k) status = check_rank(o, &c, k, 2);
    if (status == ATN_OK && !has_size(&c, 1, b->size[0], a->size[0]))
        status = wrong_size(o, &c, 1, b->size[0], a->size[0]);
    if (status == ATN_OK && !has_size(&c, 2, b->size[0], a->size[1]))
        status = wrong_size(o, &c, 2, b->size[0], a->size[1]);
    return status == ATN_OK ? run(o, &c) : status;
}

atn_status atn_array_gemv(atn_operations *o, atn_array *a, atn_array *x, atn_array *product) {
    static const char *const NAMES[] = {"A", "x", "y"};
    call c = CALL(GEMV, 1u << 2, a->type, NAMES, a, x, product);
    atn_status status = check_arrays(o, &c);
    for (int32_t k = 0; k < 3 && status == ATN_OK; ++k) status = check_rank(o, &c, k, k == 0 ? 2 : 1);
    if (status == ATN_OK && !has_size(&c, 1, a->size[0], 1)) status = wrong_size(o, &c, 1, a->size[0], 1);
    if (status == ATN_OK && !has_size(&c, 2, a->size[1], 1)) status = wrong_size(o, &c, 2, a->size[1], 1);
    return status == ATN_OK ? run(o, &c) : status;
}

atn_status atn_csr_spmv(atn_operations *o, const atn_csr *a, atn_array *x, atn_array *product) {
    static const char *const NAMES[] = {"start", "column", "element", "x", "y"};
    call c = CALL(SPMV, 1u << 4, a->element->type, NAMES, a->start, a->column, a->element, x, product);
    atn_status status = check_arrays(o, &c);
    for (int32_t k = 3; k < 5 && status == ATN_OK; ++k) status = check_rank(o, &c, k, 1);
    if (status == ATN_OK && !has_size(&c, 3, a->columns, 1)) status = wrong_size(o, &c, 3, a->columns, 1);
    if (status == ATN_OK && !has_size(&c, 4, a->rows, 1)) status = wrong_size(o, &c, 4, a->rows, 1);
    return status == ATN_OK ? run(o, &c) : status;
}
