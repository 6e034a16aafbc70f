/* attune info: what a file is. Arrays here; point clouds in info_cloud.c. */
#include "cli/info.h"

#include "cloud/source.h"
#include "graph/type.h"
#include "num/npy.h"

#include <math.h>
#include <string.h>

/* What the elements are like. Of complex ones the modulus counts. */
typedef struct census {
    int64_t count, finite, nan, inf;
    double low, high; /* of those that are finite */
} census;

static census count_elements(const atn_view *view) {
    census c = {.count = view->size[0] * (view->rank > 1 ? view->size[1] : 1)};
    bool whole = atn_type_is_integer(view->type), complex_type = atn_type_is_complex(view->type);
    size_t bytes = atn_type_bytes(view->type);
    for (int64_t k = 0; k < c.count; ++k) {
        double number[2];
        int64_t integer;
        atn_element_load(view->type, (const char *)view->data + (size_t)k * bytes, number, &integer);
        double value = whole ? (double)integer : complex_type ? hypot(number[0], number[1]) : number[0];
        bool is_nan = complex_type ? isnan(number[0]) || isnan(number[1]) : isnan(value);
        if (is_nan || isinf(value)) {
            c.nan += is_nan;
            c.inf += !is_nan;
            continue;
        }
        c.low = c.finite == 0 || value < c.low ? value : c.low;
        c.high = c.finite == 0 || value > c.high ? value : c.high;
        ++c.finite;
    }
    return c;
}

static json_t *shape_json(const atn_npy *npy) {
    json_t *shape = json_array();
    for (int32_t d = 0; d < npy->dims; ++d)
        if (json_array_append_new(shape, json_integer(npy->shape[d])) != 0) {
            json_decref(shape);
            return NULL;
        }
    return shape;
}

static atn_status print_json(atn_cli_call *call, const atn_npy *npy, const census *c) {
    json_t *root = json_object();
    if (json_object_set_new(root, "kind", json_string("npy")) != 0 ||
        json_object_set_new(root, "type", json_string(atn_type_name(npy->type))) != 0 ||
        json_object_set_new(root, "dtype", atn_cli_json_text(call->ctx, npy->dtype)) != 0 ||
        json_object_set_new(root, "shape", shape_json(npy)) != 0 ||
        json_object_set_new(root, "order", json_string(npy->fortran ? "Fortran" : "C")) != 0 ||
        json_object_set_new(root, "elements", json_integer(c->count)) != 0 ||
        json_object_set_new(root, "min", c->finite ? json_real(c->low) : json_null()) != 0 ||
        json_object_set_new(root, "max", c->finite ? json_real(c->high) : json_null()) != 0 ||
        json_object_set_new(root, "nan", json_integer(c->nan)) != 0 ||
        json_object_set_new(root, "inf", json_integer(c->inf)) != 0) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(call, root);
}

static atn_status print_text(atn_cli_call *call, const atn_npy *npy, const census *c) {
    atn_text page = {.ctx = call->ctx};
    atn_text_printf(&page, "kind   NPY, %s\n", npy->dims == 2 ? "a matrix" : "a vector");
    atn_text_printf(&page, "type   %s (%s)\nshape  (", atn_type_name(npy->type), npy->dtype);
    for (int32_t d = 0; d < npy->dims; ++d) atn_text_printf(&page, "%s%lld", d ? ", " : "", (long long)npy->shape[d]);
    atn_text_printf(&page, "%s)\norder  %s\n", npy->dims == 1 ? "," : "", npy->fortran ? "Fortran" : "C");
    if (c->finite)
        atn_text_printf(&page, "range  %.9g to %.9g%s\n", c->low, c->high,
                        atn_type_is_complex(npy->type) ? " (modulus)" : "");
    else
        atn_text_add(&page, "range  none\n");
    atn_text_printf(&page, "NaN    %lld\nInf    %lld\n", (long long)c->nan, (long long)c->inf);
    atn_status status = atn_cli_print_text(call, "info", &page);
    atn_text_free(&page);
    return status;
}

static atn_status info_array(atn_cli_call *call, const char *path) {
    atn_npy npy;
    atn_status status = atn_npy_read(call->ctx, path, &npy);
    if (status) return status;
    atn_view view = atn_npy_view(&npy);
    census c = count_elements(&view);
    status = call->json ? print_json(call, &npy, &c) : print_text(call, &npy, &c);
    atn_npy_free(&npy);
    return status;
}

static atn_status run(atn_cli_call *call) {
    const char *path = call->operands[0], *head;
    source s;
    size_t length;
    bool array = false;
    atn_status status = source_open(call->ctx, path, &s);
    if (status == ATN_OK) status = source_peek(&s, 8, &head, &length);
    if (status == ATN_OK) array = atn_npy_begins(head, length);
    source_close(&s);
    if (status) return status;
    return array ? info_array(call, path) : atn_cli_info_cloud(call, path);
}

const atn_cli_verb ATN_VERB_INFO = {
    .name = "info",
    .summary = "what a file is: kind, size, ranges, invalid values",
    .synopsis = "FILE",
    .paragraphs =
        (const char *const[]){
            "Reads the whole file and says what is in it. Known are NPY files (vectors and matrices, versions 1 to 3) "
            "and point clouds: PLY, PCD, XYZ, TXT, CSV, OBJ, STL, POS and ePOS.",
            "JSON of a cloud: kind, format, points, frames, min and max (x, y, z; null without points), nan and inf "
            "(points that are left out for them), normals, weights, masses, species (is it there?), left_out.",
            "JSON of an array: kind, type, dtype, shape, order, elements, min, max (null where no element is finite; "
            "of "
            "complex elements the modulus), nan and inf (how many).",
            NULL},
    .examples = (const atn_cli_pair[]){{"attune info A.npy", "what is in A.npy?"},
                                       {"attune info scan.ply --json", "points, bounds, invalid ones"},
                                       {0}},
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
