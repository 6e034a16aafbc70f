/* The verb lattice on several devices: one learns, the others receive what it learned, and whichever is free takes the
 * next slab. */
#include "apps/lattice/learned.h"
#include "base/memory.h"
#include "base/pieces.h"
#include "cli/lattice.h"
#include "cloud/slabs.h"

#include <pthread.h>
#include <string.h>

typedef struct sharing {
    const lattice_job *j;
    const size_t *mine; /* slabs of this rank */
    lattice_match_one *match;
    lattice_keep_one *keep;
    const lattice_learned *learned;
    bool ready[ATN_MOST_DEVICES]; /* it knows what was learned */
    pthread_mutex_t lock;         /* of the slabs, and of what is kept */
} sharing;

/* A slab of a device's own: the others go on with the slabs' arrays. One block holds it. */
static atn_status copy_atoms(const atn_ctx *ctx, const atn_atoms *from, atn_atoms *out, char **block) {
    size_t n = from->count + 1;
    *out = *from;
    *block = atn_alloc(ctx, n * (3 * sizeof(double) + sizeof(uint64_t) + sizeof(float) + sizeof(int32_t)));
    if (!*block) return ATN_ERR_MEMORY;
    char *at = *block;
    for (int axis = 0; axis < 3; ++axis, at += n * sizeof(double))
        out->position[axis] = memcpy(at, from->position[axis], from->count * sizeof(double));
    out->index = memcpy(at, from->index, from->count * sizeof(uint64_t));
    at += n * sizeof(uint64_t);
    if (from->mass) out->mass = memcpy(at, from->mass, from->count * sizeof(float));
    at += n * sizeof(float);
    if (from->species) out->species = memcpy(at, from->species, from->count * sizeof(int32_t));
    return ATN_OK;
}

/* The k-th of this rank. */
static atn_status read_slab(sharing *s, size_t k, atn_atoms *out, char **block) {
    atn_atoms atoms = {0};
    *block = NULL;
    pthread_mutex_lock(&s->lock);
    atn_status status = slabs_read(s->j->slabs, s->mine[k], &atoms);
    if (!status) status = copy_atoms(s->j->call->ctx, &atoms, out, block);
    pthread_mutex_unlock(&s->lock);
    return status;
}

static atn_status work(void *user, int32_t device, int64_t from, int64_t to) {
    sharing *s = user;
    const atn_ctx *ctx = s->j->call->ctx;
    atn_status status = s->ready[device] ? ATN_OK : lattice_learned_set(s->j->lattices[device], s->learned);
    s->ready[device] = status == ATN_OK;
    for (int64_t k = from; k < to && !status; ++k) { /* one, so that nothing of a piece is kept twice */
        atn_atoms atoms;
        char *block;
        status = read_slab(s, (size_t)k, &atoms, &block);
        atn_lattice_atom *out = status ? NULL : atn_alloc(ctx, (atoms.own + 1) * sizeof *out);
        if (!status && !out) status = ATN_ERR_MEMORY;
        if (!status) status = s->match(s->j, s->j->lattices[device], s->mine[k], &atoms, out);
        pthread_mutex_lock(&s->lock);
        if (!status) status = s->keep(s->j, s->mine[k], &atoms, out);
        pthread_mutex_unlock(&s->lock);
        atn_free(ctx, out);
        atn_free(ctx, block);
    }
    return status;
}

atn_status lattice_match_devices(const lattice_job *j, lattice_match_one *match, lattice_keep_one *keep) {
    const atn_ctx *ctx = j->call->ctx;
    sharing s = {.j = j, .match = match, .keep = keep};
    lattice_learned *learned = atn_alloc(ctx, sizeof *learned);
    atn_status status = learned ? lattice_learned_get(j->lattice, learned) : ATN_ERR_MEMORY;
    size_t own = slabs_mine(j->slabs, &s.mine);
    s.learned = learned;
    for (int32_t k = 0; k < j->devices; ++k) s.ready[k] = j->lattices[k] == j->lattice;
    pthread_mutex_init(&s.lock, NULL);
    if (!status) status = atn_pieces_run(ctx, "lattice", (int64_t)own, j->devices, j->reserve, 1, work, &s);
    pthread_mutex_destroy(&s.lock);
    atn_free(ctx, learned);
    return status;
}
