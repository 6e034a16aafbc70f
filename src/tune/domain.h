/* What strategies see of a space: how many levels each parameter has, their numbers, which points are allowed. */
#ifndef ATN_TUNE_DOMAIN_H
#define ATN_TUNE_DOMAIN_H

#include "space/space.h"
#include "tune/strategy.h"

typedef struct atn_space_domain {
    const atn_ctx *ctx;
    const atn_space *space;
    int32_t n; /* parameters */
    int32_t *levels;
    double **number;
    bool *ordered;
    atn_domain domain; /* its self is this, which may therefore not be moved */
} atn_space_domain;

/* Refuses a space that allows no point. The space outlives it. On failure too, it goes back with
 * atn_space_domain_close. */
atn_status atn_space_domain_open(const atn_ctx *ctx, const atn_space *space, atn_space_domain *out);
void atn_space_domain_close(atn_space_domain *domain);

#endif
