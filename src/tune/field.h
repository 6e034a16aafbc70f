/* The field of candidates: points of a space as variants of a graph and back, and which of them are applicable. */
#ifndef ATN_TUNE_FIELD_H
#define ATN_TUNE_FIELD_H

#include "built/built.h"
#include "tune/domain.h"

typedef struct atn_field {
    const atn_ctx *ctx;
    const atn_graph *graph;
    const atn_device_info *info;
    const atn_space *space;
    atn_target target;
    bool reproducible;
    int32_t n;             /* parameters */
    atn_space_domain open; /* the space's own, whatever the graph */
    atn_domain domain;     /* what strategies see; its self is this field, which may therefore not be moved */
} atn_field;

/* Refuses spaces whose parameters are no knobs. On failure too, it goes back with atn_field_close. */
atn_status atn_field_open(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                          const atn_space *space, bool reproducible, atn_field *out);
void atn_field_close(atn_field *field);

atn_status atn_field_variant(const atn_field *field, const int32_t *point, atn_variant *out);
bool atn_field_point(const atn_field *field, const atn_variant *variant, int32_t *point); /* false: not in the space */

/* Can it be a candidate at all? Not where the graph has no such variant, or, reproducible, where its result would hang
 * on the variant. */
bool atn_field_fits(const atn_field *field, const atn_variant *variant, const char **why_not);

/* Equal for variants whose generated code and launches are equal: they are measured once. */
atn_status atn_field_code(const atn_field *field, const atn_variant *variant, atn_hash *out);

#endif
