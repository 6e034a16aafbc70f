/* A variant held against the oracle: built for a device, run on copies of the arrays with poisoned surroundings,
 * compared element by element. */
#ifndef ATN_SUPPORT_HELD_H
#define ATN_SUPPORT_HELD_H

#include "built/built.h"

typedef struct held_case {
    const atn_graph *graph;
    const atn_view *views;     /* per object; data is host memory, not changed */
    const double (*params)[2]; /* per parameter */
} held_case;

/* ATN_OK: agrees. ATN_ERR_UNSUPPORTED: no such variant. Else the context's message says what is wrong. `oracle` is what
 * atn_eval_run gave for the case with the variant's options (atn_variant_arithmetic). */
atn_status held_run(atn_device *device, const held_case *c, const atn_variant *variant, const atn_eval_result *oracle);

/* A description on every device that is wanted, as each of the variants that fit: fails the test where one disagrees.
 * `finite`: all values are, so that fast arithmetic counts, too. */
void held_on_all(atn_ctx *ctx, const char *name, const char *xml, const atn_view *views, bool finite,
                 const char *const *variants, size_t count);

#endif
