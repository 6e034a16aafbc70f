/* Which atoms can be matched: those at finite positions, with species where a model needs them. */
#include "apps/lattice/order.h"
#include "apps/lattice/parts.h"

#include "base/parallel.h"

#include <math.h>
#include <stdatomic.h>

typedef struct unusable {
    const atn_atoms *atoms;
    atomic_size_t first; /* the least number of such an atom; `count`: none */
} unusable;

static void seek_unusable(void *user, int64_t from, int64_t to) {
    unusable *u = user;
    for (int64_t k = from; k < to; ++k) {
        const double *const *p = u->atoms->position;
        if (isfinite(p[0][k]) && isfinite(p[1][k]) && isfinite(p[2][k])) continue;
        size_t now = atomic_load(&u->first);
        while ((size_t)k < now && !atomic_compare_exchange_weak(&u->first, &now, (size_t)k)) {}
        return;
    }
}

atn_status lattice_atoms_check(const atn_lattice *l, const atn_atoms *atoms) {
    enum { LEAST = 1 << 16 };
    unusable u = {.atoms = atoms};
    atomic_init(&u.first, atoms->count);
    atn_parallel((int64_t)atoms->count, LEAST, seek_unusable, &u);
    size_t k = atomic_load(&u.first);
    if (k == atoms->count) return lattice_order_check(l, atoms);
    return atn_fail(l->ctx, ATN_ERR_INPUT, "lattice: atom %zu is at (%g, %g, %g); positions must be finite numbers", k,
                    atoms->position[0][k], atoms->position[1][k], atoms->position[2][k]);
}
