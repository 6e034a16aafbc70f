/* The kernels of the models: created once, on all cores, since parsing a description takes longer than running it.
 * Their arrays are bound again whenever the engine is opened. */
#include "apps/lattice/lattice.h"

#include "base/parallel.h"
#include "kernel/give.h"

#include <stdatomic.h>

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
    atomic_int status;
} making;

static void make_part(void *user, int64_t from, int64_t to) {
    making *m = user;
    for (int64_t k = from; k < to; ++k) {
        atn_kernel **to_here;
        const char *name = kernel_of(&m->l->slot[k / m->each], k % m->each, &to_here);
        atn_status status = *to_here ? ATN_OK : atn_kernel_make(m->l->device, name, ATN_SP, ATN_TRUSTED, to_here);
        if (status != ATN_OK) atomic_store(&m->status, (int)status);
    }
}

atn_status lattice_kernels_make(atn_lattice *l) {
    making m = {.l = l, .each = l->alone ? KERNELS - FOLLOWING : KERNELS};
    atn_parallel_pieces(m.each * l->info.models, make_part, &m);
    return (atn_status)atomic_load(&m.status);
}

void lattice_kernels_free(atn_lattice *l) {
    for (int64_t k = 0; k < (int64_t)KERNELS * ATN_LATTICE_MOST_MODELS; ++k) {
        atn_kernel **of;
        (void)kernel_of(&l->slot[k / KERNELS], k % KERNELS, &of);
        atn_kernel_free(*of);
        *of = NULL;
    }
}
