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
    atn_bindings frame;
} kernel;

/* Parses; fails the test with the diagnostics when the text is wrong. */
kernel kernel_parse(atn_ctx *ctx, const char *xml);

/* The same from pieces: K, `dims` dimensions, more attributes of it; objects as "A=SP:2 b=SP:1" (name, type, rank);
 * children in XML; connections as "A.Size(0)>K.Range(0) K.i(0)>read.v(0)". */
kernel kernel_make(atn_ctx *ctx, int dims, const char *attributes, const char *objects, const char *children,
                   const char *connections);
void kernel_free(kernel *k);

void kernel_vector(kernel *k, const char *name, atn_type type, void *data, int64_t size);
void kernel_matrix(kernel *k, const char *name, atn_type type, void *data, int64_t columns, int64_t rows,
                   int64_t pitch);
void kernel_param(kernel *k, const char *name, double value);

/* Binds and evaluates (check, run, store). */
atn_status kernel_bind(kernel *k);
atn_status kernel_eval(kernel *k, int64_t *bad);

/* Children in short. */
#define READ(name, from, select) "<DataAccessRead name='" name "' source='" from "' selFunction='" select "'/>"
#define READ_EDGE(name, from, select, edge)                                                                            \
    "<DataAccessRead name='" name "' source='" from "' selFunction='" select "' boundary='" edge "'/>"
#define WRITE(name, to, select) "<DataAccessWrite name='" name "' destination='" to "' selFunction='" select "'/>"
#define WRITE_COMBINE(name, to, select, how)                                                                           \
    "<DataAccessWrite name='" name "' destination='" to "' selFunction='" select "' combine='" how "'/>"
#define FUNCTION(name, type, text) "<FunctionBlock name='" name "' dataType='" type "' function='" text "'/>"
#define ITERATOR(name, dims, attributes, children)                                                                     \
    "<IteratorBlock name='" name "' dimensions='" #dims "' " attributes ">" children "</IteratorBlock>"
#define PARAMETER(name, type, more) "<Parameter name='" name "' dataType='" type "' " more "/>"

#endif
