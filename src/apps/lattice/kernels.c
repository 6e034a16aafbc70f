/* The kernels of the models: a description is parsed once, on all cores, since that takes longer than running it; what
 * the first model's kernels have built serves those of the others. Their arrays are bound again whenever the engine is
 * opened. */
#include "apps/lattice/lattice.h"

#include "base/attempt.h"
#include "kernel/give.h"
#include "kernel/kernel.h"

enum { SCORE, PICK, REFINE, FOLLOW = REFINE + LATTICE_REFINES, KERNELS = FOLLOW + 2, MOST = ATN_LATTICE_MOST_MODELS };
static const int32_t ELDERS[] = {SCORE, PICK, REFINE, FOLLOW}; /* of the first model; FOLLOW has other sizes */

static atn_kernel **kernel_of(lattice_slot *s, int32_t k) {
    if (k == SCORE) return &s->score_kernel;
    if (k == PICK) return &s->pick_kernel;
    return k < FOLLOW ? &s->refine_kernel[k - REFINE] : &s->follow.kernel[k - FOLLOW];
}

static atn_status make_part(void *user, int64_t from, int64_t to) {
    atn_lattice *l = user;
    atn_status status = ATN_OK;
    for (int64_t k = from; k < to && status == ATN_OK; ++k) {
        const char *name = ELDERS[k] == SCORE ? "lattice_score" : ELDERS[k] == PICK ? "lattice_pick" : "lattice_refine";
        status = atn_kernel_make(l->device, name, ATN_SP, ATN_TRUSTED, kernel_of(&l->slot[0], ELDERS[k]));
    }
    return status;
}

atn_status lattice_kernels_make(atn_lattice *l) {
    int32_t last = l->alone ? FOLLOW : KERNELS, elder = SCORE;
    atn_status status = atn_attempt(l->ctx, (int64_t)(sizeof ELDERS / sizeof *ELDERS) - l->alone, 0, make_part, l);
    for (int32_t k = 0; k < last; ++k) {
        for (size_t e = 0; e < sizeof ELDERS / sizeof *ELDERS; ++e)
            if (ELDERS[e] <= k) elder = ELDERS[e];
        for (int32_t m = 0; m < l->info.models && status == ATN_OK; ++m) {
            atn_kernel **to = kernel_of(&l->slot[m], k);
            if (!*to) status = atn_kernel_twin(*kernel_of(&l->slot[0], elder), to);
        }
    }
    return status;
}

void lattice_kernels_free(atn_lattice *l) {
    for (int32_t n = KERNELS * MOST - 1; n >= 0; --n) { /* elders, the first of all that are like them, last */
        atn_kernel **of = kernel_of(&l->slot[n / KERNELS], n % KERNELS);
        atn_kernel_free(*of);
        *of = NULL;
    }
}
