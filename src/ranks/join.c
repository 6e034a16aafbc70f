/* Joining the other ranks: the launcher's environment says whether there are any, and the MPI module is loaded only
 * then. */
#include "base/clock.h"
#include "base/environment.h"
#include "base/leftover.h"
#include "base/memory.h"
#include "base/process.h"
#include "ranks/ranks.h"

#include <attune/version.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Has the caller of the library MPI running? Its functions are in the process then. */
static bool caller_has_mpi(void) {
    int running = 0;
    int (*initialized)(int *);
    void *found = dlsym(RTLD_DEFAULT, "MPI_Initialized");
    memcpy(&initialized, &found, sizeof found);
    return found && initialized(&running) == 0 && running;
}

/* Open MPI, then MPICH, Intel MPI and Slurm's PMI-2, then PMIx, which does not say how many there are. */
static bool started_with_others(void) {
    const char *size = atn_environment(ATN_ENV_OMPI_SIZE);
    if (!size) size = atn_environment(ATN_ENV_PMI_SIZE);
    return size ? strtol(size, NULL, 10) > 1 : atn_environment(ATN_ENV_PMIX_RANK) != NULL;
}

/* Beside the program or library that this is part of: as it was built, and as it is installed. */
static void *open_module(char *words, size_t room) {
    static const char *const PLACES[] = {"", "../lib/attune/", ATN_MODULES_FROM_PROGRAM "/", "attune/"};
    char path[4096], *real = atn_process_file_of((void (*)(void))open_module);
    void *module = NULL;
    const char *slash = real ? strrchr(real, '/') : NULL;
    int folder = slash ? (int)(slash - real) + 1 : 0;
    snprintf(words, room, "there is no attune_mpi.so next to %s; was attune built without MPI?",
             real ? real : "attune");
    for (size_t k = 0; k < sizeof PLACES / sizeof *PLACES && folder && !module; ++k) {
        snprintf(path, sizeof path, "%.*s%sattune_mpi.so", folder, real, PLACES[k]);
        if (access(path, F_OK) != 0) continue;
        module = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* MPI loads parts of its own, which look for its symbols */
        if (!module) snprintf(words, room, "%.900s", dlerror());
    }
    free(real);
    return module;
}

static atn_status load(atn_ranks *r) {
    char words[ATN_MESSAGE_BYTES];
    const char *wanted = atn_environment(ATN_ENV_RANKS);
    r->way = &ATN_RANKS_ALONE;
    if (wanted && strcmp(wanted, "alone") != 0 && strcmp(wanted, "mpi") != 0)
        return atn_fail(r->ctx, ATN_ERR_INPUT, "ATTUNE_RANKS cannot be '%s'; it is alone or mpi", wanted);
    if (wanted ? strcmp(wanted, "alone") == 0 : !started_with_others() && !caller_has_mpi()) return ATN_OK;
    r->module = open_module(words, sizeof words);
    if (!r->module)
        return atn_fail(r->ctx, ATN_ERR_UNSUPPORTED,
                        "started as one of several ranks, but %s (ATTUNE_RANKS=alone: each works for itself)", words);
    r->way = dlsym(r->module, "ATN_RANKS_MPI");
    if (r->way && r->way->size == sizeof *r->way && strcmp(r->way->version, atn_version()) == 0) return ATN_OK;
    r->way = &ATN_RANKS_ALONE;
    return atn_fail(r->ctx, ATN_ERR_UNSUPPORTED, "attune_mpi.so is of another version than attune %s", atn_version());
}

/* All of one version: parts of one call fit together. */
static atn_status check_versions(atn_ranks *r) {
    char own[32], *all = atn_alloc(r->ctx, (size_t)r->count * sizeof own);
    memset(own, 0, sizeof own);
    snprintf(own, sizeof own, "%s", atn_version());
    atn_status status = atn_ranks_allgather(r, all ? ATN_OK : ATN_ERR_MEMORY, own, sizeof own, all);
    for (int32_t k = 0; k < r->count && status == ATN_OK && all; ++k) {
        char *other = all + (size_t)k * sizeof own;
        other[sizeof own - 1] = '\0';
        if (strcmp(all, other) != 0)
            status = atn_fail(r->ctx, ATN_ERR_INPUT, "rank 0 is attune %s, rank %d is %s; all need the same", all,
                              (int)k, other);
    }
    atn_free(r->ctx, all);
    return status;
}

atn_status atn_ranks_join(const atn_ctx *ctx, atn_ranks **out) {
    char words[ATN_RANKS_WORDS] = "";
    *out = NULL;
    atn_ranks *r = atn_zalloc(ctx, sizeof *r);
    if (!r) return ATN_ERR_MEMORY;
    r->ctx = ctx;
    r->joining = atn_clock_seconds();
    atn_status status = load(r);
    if (status == ATN_OK && r->way->begin(&r->rank, &r->count, words)) {
        status = atn_fail(ctx, ATN_ERR_IO, "%s", words);
        r->way = &ATN_RANKS_ALONE;
    }
    if (status == ATN_OK) r->states = atn_alloc(ctx, (size_t)r->count * sizeof *r->states);
    if (status == ATN_OK && !r->states) {
        r->broken = true; /* it cannot even say so */
        status = ATN_ERR_MEMORY;
    }
    if (status == ATN_OK) status = check_versions(r);
    r->joined = atn_clock_seconds();
    if (status == ATN_OK)
        *out = r;
    else
        atn_ranks_leave(r);
    return status;
}

/* The module stays loaded: MPI leaves functions to be called when the process ends. */
void atn_ranks_leave(atn_ranks *r) {
    if (!r) return;
    atn_ranks_close_room(r);
    if (r->broken) {
        atn_leftover_remove_all();
        r->way->abort(1);
    } else
        r->way->end();
    atn_free(r->ctx, r->states);
    atn_free(r->ctx, r);
}
