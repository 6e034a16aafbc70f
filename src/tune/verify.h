/* Verification of a built variant, before anything is timed: in full at small shapes that straddle each of its tiles'
 * edges, and at the tuned shape on sampled points. Right means within the bound that the oracle derives for the
 * variant's own arithmetic; usable means within the bound of the description's own, or within the caller's tolerance.
 */
#ifndef ATN_TUNE_VERIFY_H
#define ATN_TUNE_VERIFY_H

#include "base/limits.h"
#include "tune/case.h"
#include "tune/stand.h"

/* Called before anything that may not come back: the oracle, or generated code. */
typedef struct atn_verify_stage {
    void (*enter)(void *user, const char *stage, double limit_s);
    void *user;
} atn_verify_stage;

typedef struct atn_verify_result {
    atn_outcome outcome; /* RIGHT, WRONG, or BUILD where the variant refuses this shape */
    double error;        /* the largest found, as a fraction of what is allowed */
    bool usable;
    double run_s; /* its first run at the tuned shape, waited for; 0: there was none */
    char detail[320];
} atn_verify_result;

typedef struct atn_verify_options {
    double tolerance;  /* relative to the largest element of an object; 0: what is derived */
    bool reproducible; /* every bit as in the plain variant */
    uint64_t seed;
    double run_limit_s; /* for generated code at small shapes */
} atn_verify_options;

/* The shapes for a variant: steps per dimension; `special`: with NaN and infinities. */
typedef struct atn_verify_shape {
    atn_steps steps;
    bool special;
} atn_verify_shape;
int32_t atn_verify_shapes(const atn_graph *graph, const atn_variant *variant, atn_verify_shape *shapes);

typedef struct atn_verifier atn_verifier;

/* `tuned`: arrays at the tuned shape, whose oracle is kept from variant to variant. All must outlive the verifier. */
atn_status atn_verifier_create(atn_device *device, const atn_case *c, atn_stand *tuned,
                               const atn_verify_options *options, const atn_verify_stage *stage, atn_verifier **out);
void atn_verifier_free(atn_verifier *v);

/* ATN_OK: the verdict holds, whatever it is. `run_limit_s` for one run at the tuned shape. */
atn_status atn_verify(atn_verifier *v, atn_built *kernel, double run_limit_s, atn_verify_result *out);

#endif
