/* lattice --resume FOLDER: what was learned, and the atoms of every slab that is done, each a file that is there whole
 * or not at all. A run that was ended, on any number of ranks, goes on with the slabs that are missing. */
#include "apps/lattice/learned.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/lattice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 4096, SAMPLES = 64 };

/* Before what a file holds. */
typedef struct kept_head {
    atn_hash key; /* of the frame and the options */
    atn_hash hash;
    uint64_t number; /* slabs that are wanted, or atoms of a slab */
} kept_head;

static void name_of(const lattice_job *j, int64_t slab, char path[PATH]) {
    if (slab < 0)
        snprintf(path, PATH, "%s/settings", j->resume);
    else
        snprintf(path, PATH, "%s/slab-%lld", j->resume, (long long)slab);
}

/* The frame, by its size, its date and samples of it, and what is asked of it; not where that is done. */
static atn_status make_key(const lattice_job *j, atn_hash *out) {
    static const char *const ELSEWHERE[] = {"resume", "device",  "verbose", "output",
                                            "report", "profile", "json",    "serve"};
    const char *path = j->call->operands[0];
    struct stat about;
    if (stat(path, &about) != 0) return atn_fail(j->call->ctx, ATN_ERR_IO, "%s: %s", path, strerror(errno));
    const int64_t date[] = {about.st_mtim.tv_sec, about.st_mtim.tv_nsec};
    *out = atn_hash_add(atn_hash_add_text((atn_hash){0}, atn_version()), date, sizeof date);
    atn_status status = atn_file_hash_samples(j->call->ctx, path, SAMPLES, out);
    *out = atn_cli_hash_options(j->call, *out, ELSEWHERE, sizeof ELSEWHERE / sizeof *ELSEWHERE);
    return status;
}

/* A file that is missing, empty or cut off is no failure: there is nothing then. One that a run like this did not write
 * is: it would be replaced, and removed at the end. */
static atn_status take(const lattice_job *j, int64_t slab, void *data, size_t bytes, uint64_t *number, bool *there) {
    const atn_ctx *ctx = j->call->ctx;
    char path[PATH], *all = NULL;
    size_t length = 0;
    kept_head head = {0};
    *there = false;
    name_of(j, slab, path);
    if (access(path, F_OK) != 0) return ATN_OK;
    atn_status status = atn_file_read(ctx, path, sizeof head + bytes, &all, &length);
    if (!status) memcpy(&head, all, length < sizeof head ? length : sizeof head);
    if (status == ATN_ERR_INPUT || (!status && length && memcmp(&head.key, &j->key, sizeof head.key) != 0))
        status = atn_fail(ctx, ATN_ERR_INPUT,
                          "%s: is of another frame, or of other options, or holds other files; name another folder",
                          j->resume);
    if (!status && length == sizeof head + bytes) {
        atn_hash hash = atn_hash_add((atn_hash){0}, all + sizeof head, bytes);
        *there = memcmp(&head.hash, &hash, sizeof hash) == 0;
    }
    if (!status && *there) {
        memcpy(data, all + sizeof head, bytes);
        *number = head.number;
    }
    atn_free(ctx, all);
    return status;
}

static atn_status keep(const lattice_job *j, int64_t slab, const void *data, size_t bytes, uint64_t number) {
    const atn_ctx *ctx = j->call->ctx;
    kept_head head = {j->key, atn_hash_add((atn_hash){0}, data, bytes), number};
    char path[PATH], *all = atn_alloc(ctx, sizeof head + bytes);
    if (!all) return ATN_ERR_MEMORY;
    name_of(j, slab, path);
    memcpy(all, &head, sizeof head);
    memcpy(all + sizeof head, data, bytes);
    atn_status status = atn_file_write(ctx, path, all, sizeof head + bytes);
    atn_free(ctx, all);
    return status;
}

/* Before hours of work, not after them. */
static atn_status open_folder(const lattice_job *j) {
    struct stat about;
    if (!*j->resume) return atn_cli_misuse(j->call, "--resume needs the name of a folder");
    if (mkdir(j->resume, 0777) == 0) return ATN_OK;
    if (errno != EEXIST) return atn_fail(j->call->ctx, ATN_ERR_IO, "--resume %s: %s", j->resume, strerror(errno));
    if (stat(j->resume, &about) == 0 && !S_ISDIR(about.st_mode))
        return atn_fail(j->call->ctx, ATN_ERR_INPUT, "--resume %s: this is a file; --resume takes a folder", j->resume);
    if (access(j->resume, R_OK | W_OK | X_OK) != 0)
        return atn_fail(j->call->ctx, ATN_ERR_IO, "--resume %s: cannot be written: %s", j->resume, strerror(errno));
    return ATN_OK;
}

/* The first rank looks, and informs the others; `wanted` is that of the previous run. */
atn_status lattice_resume_begin(lattice_job *j, double *wanted) {
    const atn_ctx *ctx = j->call->ctx;
    lattice_learned *learned = atn_zalloc(ctx, sizeof *learned);
    uint64_t number = 0;
    atn_status status = learned ? ATN_OK : ATN_ERR_MEMORY;
    bool first = !j->ranks || j->ranks->rank == 0;
    if (!status && first) status = make_key(j, &j->key); /* copies of the frame on other machines have other dates */
    if (!status && first) status = open_folder(j);
    if (!status && first) status = take(j, -1, learned, sizeof *learned, &number, &j->learned);
    double told[2] = {j->learned, (double)number};
    if (j->ranks) status = atn_ranks_broadcast(j->ranks, status, 0, told, sizeof told);
    if (j->ranks && !status) status = atn_ranks_broadcast(j->ranks, status, 0, &j->key, sizeof j->key);
    j->learned = told[0] > 0;
    if (!status && j->learned) {
        *wanted = told[1];
        if (j->ranks) status = atn_ranks_broadcast(j->ranks, status, 0, learned, sizeof *learned);
        if (!status) status = lattice_learned_set(j->lattice, learned);
    }
    atn_free(ctx, learned);
    return status;
}

atn_status lattice_resume_learned(const lattice_job *j, double wanted) {
    if (!j->resume || j->learned || (j->ranks && j->ranks->rank)) return ATN_OK;
    lattice_learned *learned = atn_alloc(j->call->ctx, sizeof *learned);
    atn_status status = learned ? lattice_learned_get(j->lattice, learned) : ATN_ERR_MEMORY;
    if (!status) status = keep(j, -1, learned, sizeof *learned, (uint64_t)wanted);
    atn_free(j->call->ctx, learned);
    return status;
}

atn_status lattice_resume_take(const lattice_job *j, size_t slab, const atn_atoms *atoms, atn_lattice_atom *out,
                               bool *there) {
    uint64_t number = 0;
    *there = false;
    return j->resume ? take(j, (int64_t)slab, out, atoms->own * sizeof *out, &number, there) : ATN_OK;
}

atn_status lattice_resume_keep(const lattice_job *j, size_t slab, const atn_atoms *atoms, const atn_lattice_atom *out) {
    return j->resume ? keep(j, (int64_t)slab, out, atoms->own * sizeof *out, atoms->own) : ATN_OK;
}

void lattice_resume_end(const lattice_job *j) {
    char path[PATH];
    if (!j->resume || (j->ranks && j->ranks->rank)) return;
    for (size_t slab = 0; slab < j->cut; ++slab) {
        name_of(j, (int64_t)slab, path);
        unlink(path);
    }
    name_of(j, -1, path);
    unlink(path);
    rmdir(j->resume);
}
