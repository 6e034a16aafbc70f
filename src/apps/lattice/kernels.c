/* The kernels of the models: created once, on all cores, since parsing a description takes longer than running it.
 * Their arrays are bound again whenever the engine is opened. */
#include "apps/lattice/lattice.h"

#include "base/attempt.h"
#include "kernel/give.h"

enum { KERNELS = 2 + LATTICE_REFINES + 2, FOLLOWING = 2 };

static const char *kernel_of(lattice_slot *s, int64_t k, atn_kernel ***out) {
    if (k == 0) return *out = &s->score_kernel, "lattice_score";
    if (k == 1) return *out = &s->pick_kernel, "lattice_pick";
    k -= 2;
    *out = k < LATTICE_REFINES ? &s->refine_kernel[k] : &s->follow.kernel[k - LATTICE_REFINES];
    return "lattice_refine";
}

typedef struct making {
    atn_lattice *l;
    int64_t each; /* of a model */
} making;

static atn_status make_part(void *user, int64_t from, int64_t to) {
    const making *m = user;
    atn_status status = ATN_OK;
    for (int64_t k = from; k < to && status == ATN_OK; ++k) {
        atn_kernel **to_here;
        const char *name = kernel_of(&m->l->slot[k / m->each], k % m->each, &to_here);
        if (!*to_here) status = atn_kernel_make(m->l->device, name, ATN_SP, ATN_TRUSTED, to_here);
    }
    return status;
}

atn_status lattice_kernels_make(atn_lattice *l) {
    making m = {.l = l, .each = l->alone ? KERNELS - FOLLOWING : KERNELS};
    return atn_attempt(l->ctx, m.each * l->info.models, 0, make_part, &m);
}

void lattice_kernels_free(atn_lattice *l) {
    for (int64_t k = 0; k < (int64_t)KERNELS * ATN_LATTICE_MOST_MODELS; ++k) {
        atn_kernel **of;
        (void)kernel_of(&l->slot[k / KERNELS], k % KERNELS, &of);
        atn_kernel_free(*of);
        *of = NULL;
    }
}
