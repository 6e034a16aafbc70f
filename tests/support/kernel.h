/* A described kernel with arrays bound by name, for tests: parse, bind, check, evaluate, look at elements. */
#ifndef ATN_SUPPORT_KERNEL_H
#define ATN_SUPPORT_KERNEL_H

#include "eval/eval.h"
#include "testkit.h"

enum { KERNEL_OBJECTS = 24, KERNEL_PARAMS = 8 };

typedef struct kernel {
    atn_ctx *ctx;
    atn_sequence *sequence;
    const atn_graph *graph; /* its first step */
    atn_binding bindings[KERNEL_OBJECTS];
    size_t n_bindings;
    atn_param_value given[KERNEL_PARAMS];
    size_t n_given;
    atn_view views[KERNEL_OBJECTS];
    double params[KERNEL_PARAMS][2];
    atn_frame frame;
} kernel;

/* Parses; fails the test with the diagnostics when the text is wrong. */
kernel kernel_parse(atn_ctx *ctx, const char *xml);
void kernel_free(kernel *k);

void kernel_vector(kernel *k, const char *name, atn_type type, void *data, int64_t size);
void kernel_matrix(kernel *k, const char *name, atn_type type, void *data, int64_t columns, int64_t rows, int64_t pitch);
void kernel_param(kernel *k, const char *name, double value);

/* Binds and evaluates (check, run, store). */
atn_status kernel_bind(kernel *k);
atn_status kernel_eval(kernel *k, int64_t *bad);

/* XML from pieces: <name ...> made short. All of a description but its outer element's name. */
#define KERNEL_ALGORITHM(dims, more, objects, children, connections)                                         \
    "<ParallelAlgorithm name='K' dimensions='" #dims "' " more "><DataObjects>" objects "</DataObjects><Children>" \
    children "</Children><Connections>" connections "</Connections></ParallelAlgorithm>"
#define KERNEL_VECTOR(name, type) "<DataObject name='" name "' structure='vector' elementDataType='" type "'/>"
#define KERNEL_MATRIX(name, type) "<DataObject name='" name "' structure='matrix' elementDataType='" type "'/>"
#define KERNEL_READ(name, from, select, more) "<DataAccessRead name='" name "' source='" from "' selFunction='" select "' " more "/>"
#define KERNEL_WRITE(name, to, select, more) "<DataAccessWrite name='" name "' destination='" to "' selFunction='" select "' " more "/>"
#define KERNEL_FUNCTION(name, type, text) "<FunctionBlock name='" name "' dataType='" type "' function='" text "'/>"
#define KERNEL_LINK(from, to) "<Connection source='" from "' destination='" to "'/>"

#endif
