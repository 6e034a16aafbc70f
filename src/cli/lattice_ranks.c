/* The verb lattice on several ranks: the settings of the first are those of all, results are with the rank that read
 * the atom and writes its row, and what is printed covers all ranks. */
#include "apps/lattice/learned.h"
#include "base/clock.h"
#include "base/compare.h"
#include "base/memory.h"
#include "cli/lattice.h"
#include "cloud/slabs.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- settings ---- */

atn_status lattice_share_learned(const lattice_job *j, atn_status status) {
    lattice_learned *learned = atn_zalloc(j->call->ctx, 2 * sizeof *learned), *own = learned + 1;
    if (!learned && !status) status = ATN_ERR_MEMORY;
    if (!status) status = lattice_learned_get(j->lattice, own);
    if (!status) *learned = *own;
    status = atn_ranks_broadcast(j->ranks, status, 0, learned, sizeof *learned);
    if (!status && learned && !atn_same_bits(learned, own, sizeof *own))
        status = lattice_learned_set(j->lattice, learned);
    atn_free(j->call->ctx, learned);
    return status;
}

/* ---- results ---- */

atn_status lattice_hold_results(const lattice_job *j, atn_status status) {
    return status ? atn_ranks_agree(j->ranks, status) : slabs_hold(j->slabs, sizeof(atn_lattice_atom));
}

atn_status lattice_begin_lengths(lattice_job *j) {
    size_t ranks = (size_t)j->ranks->count;
    j->begin = atn_alloc(j->call->ctx, (ranks + 1) * sizeof *j->begin);
    j->length = atn_zalloc(j->call->ctx, ranks * sizeof *j->length);
    if (!j->begin || !j->length) return ATN_ERR_MEMORY;
    j->begin[ranks] = SIZE_MAX;
    return atn_ranks_allgather(j->ranks, ATN_OK, &j->first, sizeof j->first, j->begin);
}

/* ---- reports ---- */

/* Numbers of an outcome that add up, to the sums (`out`) or back: whole ones, which doubles hold exactly up to 2^53. */
static size_t sums_of(lattice_outcome *o, double *sum, bool out) {
    size_t *const counts[] = {o->count,      o->phase,  &o->background,
                              &o->bin[0][0], &o->slabs, o->composition ? &o->composition[0][0] : NULL};
    const size_t lengths[] = {ATN_LATTICE_MOST_MODELS + 1,
                              ATN_LATTICE_MOST_MODELS,
                              1,
                              (ATN_LATTICE_MOST_MODELS + 1) * LATTICE_BINS,
                              1,
                              o->composition ? o->ions * (ATN_LATTICE_MOST_MODELS + 1) : 0};
    size_t n = 0;
    for (size_t c = 0; c < sizeof lengths / sizeof *lengths; ++c)
        for (size_t k = 0; k < lengths[c]; ++k, ++n) {
            if (out)
                sum[n] = (double)counts[c][k];
            else if (sum)
                counts[c][k] = (size_t)sum[n];
        }
    return n;
}

/* Bounds of the atoms, and the times of the slowest and of the quickest. */
static atn_status join_bounds(const lattice_job *j, atn_status status) {
    lattice_outcome *o = j->o;
    double least[12] = {-o->match_seconds};
    for (int d = 0; d < 3; ++d) {
        least[1 + d] = o->seen ? o->low[d] : (double)INFINITY;
        least[4 + d] = o->seen ? -o->high[d] : (double)INFINITY;
    }
    least[7] = -o->read_seconds;
    least[8] = -o->learn_seconds;
    const double quickest[3] = {o->match_seconds, o->read_seconds, o->learn_seconds};
    memcpy(least + 9, quickest, sizeof quickest);
    status = atn_ranks_least(j->ranks, status, least, 12);
    if (status) return status;
    o->match_seconds = -least[0];
    o->read_seconds = -least[7];
    o->learn_seconds = -least[8];
    memcpy(o->quickest, least + 9, sizeof o->quickest);
    for (int d = 0; d < 3; ++d) {
        o->low[d] = least[1 + d];
        o->high[d] = -least[4 + d];
    }
    return ATN_OK;
}

/* Atoms of the report go to the first rank. */
static atn_status join_shown(const lattice_job *j, atn_status status) {
    const atn_ctx *ctx = j->call->ctx;
    size_t n = (size_t)j->ranks->count;
    atn_ranks_parcel *out = atn_zalloc(ctx, n * sizeof *out), *in = atn_zalloc(ctx, n * sizeof *in);
    if (!out || !in) status = atn_ranks_agree(j->ranks, ATN_ERR_MEMORY);
    if (out && in) {
        if (j->ranks->rank) *out = (atn_ranks_parcel){j->o->shown, j->o->n_shown * sizeof *j->o->shown};
        status = atn_ranks_exchange(j->ranks, status, out, in);
        for (size_t k = 1; k < n && !status && j->ranks->rank == 0; ++k) {
            size_t more = in[k].bytes / sizeof *j->o->shown;
            if (more > LATTICE_SHOWN - j->o->n_shown) more = LATTICE_SHOWN - j->o->n_shown;
            memcpy(j->o->shown + j->o->n_shown, in[k].data, more * sizeof *j->o->shown);
            j->o->n_shown += more;
        }
        atn_ranks_free_parcels(j->ranks, in);
    }
    atn_free(ctx, out);
    atn_free(ctx, in);
    return status;
}

atn_status lattice_join_outcome(const lattice_job *j, atn_status status) {
    size_t count = sums_of(j->o, NULL, false);
    double *sum = atn_alloc(j->call->ctx, count * sizeof *sum);
    if (sum)
        sums_of(j->o, sum, true);
    else if (!status)
        status = ATN_ERR_MEMORY;
    status = atn_ranks_sum(j->ranks, status, sum, count);
    if (!status) sums_of(j->o, sum, false);
    atn_free(j->call->ctx, sum);
    if (!status) status = join_bounds(j, status);
    if (!status && j->o->shown) status = join_shown(j, status);
    return status;
}

/* ---- where the time goes ---- */

void lattice_pass(const lattice_job *j, lattice_moment moment) {
    j->o->own.moment[moment] = atn_clock_seconds() - j->o->began;
    j->o->own.waited[moment] = j->call->ranks->waited;
}

const char *lattice_moment_name(lattice_moment moment) {
    static const char *const NAMES[LATTICE_MOMENTS] = {"opened", "cut",     "sampled", "learned",
                                                       "shared", "matched", "sent",    "written"};
    return NAMES[moment];
}

atn_status lattice_join_line(atn_cli_call *call, atn_status status, const lattice_spent *spent, lattice_outcome *o) {
    if (!atn_cli_has(call, "profile")) return status;
    o->own.joining = o->began - call->ranks->joining;
    o->own.joined = o->began - call->ranks->joined;
    if (!status) memcpy(o->own.seconds, spent->seconds, sizeof o->own.seconds);
    o->line = atn_zalloc(call->ctx, (size_t)call->ranks->count * sizeof o->own);
    if (!o->line && !status) status = ATN_ERR_MEMORY;
    return atn_ranks_allgather(call->ranks, status, &o->own, sizeof o->own, o->line);
}
