/* Workers: started when needed, sent requests, and killed at the time limit of the current stage. */
#include "tune/worker_pool.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/memory.h"
#include "base/process.h"
#include "tune/child.h"
#include "tune/key.h"
#include "tune/wire.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_BUILDERS = 16, GPU_BUILDERS = 8 };
static const double GRACE_S = 0.5;
static const char NO_SENSE[] = "a worker's answer makes no sense";

typedef struct member {
    atn_child child;
    bool running;    /* started; its workload is open, or */
    bool opening;    /* will be: builders are not waited for */
    int32_t busy;    /* with which job; -1: none */
    double deadline; /* of the stage it is in */
    char stage[16];
    bool greeted;        /* its hello came */
    int64_t told, heard; /* jobs submitted and answered, in their order */
    int32_t lines;       /* since the last job */
} member;

struct atn_worker_pool {
    const atn_ctx *ctx;
    const atn_device_info *device;
    const atn_workload *workload;
    atn_trial_setup setup;
    char *program;
    member measurer, builders[MOST_BUILDERS];
    int32_t n_builders, n_begun;
    atn_trial built[MOST_BUILDERS]; /* of what was begun */
};

/* ---- the program ---- */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The attune that came with the library, never one that happens to be on the PATH: from where the library lies, or the
 * program that it is part of, as it was built and as it is installed. */
static atn_status find_installed(const atn_ctx *ctx, const char *self, char **out) {
    static const char *const PLACES[] = {"attune", "bin/attune", ATN_PROGRAM_FROM_LIBRARY};
    char path[8192], *real = atn_process_file_of((void (*)(void))find_installed);
    const char *from = real ? real : self;
    atn_status status = ATN_OK;
    for (size_t k = 0; k < sizeof PLACES / sizeof *PLACES && status == ATN_OK && !*out; ++k) {
        snprintf(path, sizeof path, "%.*s%s", (int)(last_part(from) - from), from, PLACES[k]);
        status = atn_process_find(ctx, path, out);
    }
    if (status == ATN_OK && !*out)
        status = atn_fail(ctx, ATN_ERR_IO,
                          "the program attune, which tries candidates in processes of its own, is not where it was "
                          "installed with %s; ATTUNE_PROGRAM names it",
                          from);
    free(real);
    return status;
}

atn_status atn_worker_pool_program(const atn_ctx *ctx, const char *wanted, char **out) {
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    *out = NULL;
    if (!wanted || !*wanted) wanted = atn_environment(ATN_ENV_PROGRAM);
    if (!wanted || !*wanted) {
        self[length > 0 ? length : 0] = '\0';
        if (strcmp(last_part(self), "attune") != 0) return find_installed(ctx, self, out);
        wanted = self;
    }
    atn_status status = atn_process_find(ctx, wanted, out);
    if (status == ATN_OK && !*out)
        return atn_fail(
            ctx, ATN_ERR_IO,
            "the program '%s', which tries candidates in processes of its own, is not found; ATTUNE_PROGRAM "
            "names it",
            wanted);
    return status;
}

/* ---- one worker ---- */

static void dismiss(member *m) {
    atn_child_end(&m->child);
    m->running = m->opening = false;
    m->busy = -1;
}

/* What a line means, where it is one that may come now; ATN_ERR_DEVICE: it makes no sense, and nothing more that this
 * worker says is to be believed. ATN_ERR_UNSUPPORTED: it speaks another protocol. */
static atn_status understand(const atn_worker_pool *pool, member *m, const char *line, atn_said *out) {
    bool good = ++m->lines <= ATN_WIRE_MOST_LINES && atn_wire_hear(line, out);
    bool hello = good && out->kind == ATN_SAID_HELLO;
    if (!m->greeted && (!hello || out->version != ATN_WIRE_VERSION)) {
        if (good && !hello) json_decref(out->done);
        char spoken[32] = "another protocol or none";
        if (hello) snprintf(spoken, sizeof spoken, "protocol %lld", (long long)out->version);
        return atn_fail(pool->ctx, ATN_ERR_UNSUPPORTED,
                        "%s speaks %s, this attune protocol %d; name a program of the same version in ATTUNE_PROGRAM",
                        pool->program, spoken, ATN_WIRE_VERSION);
    }
    if (!m->greeted && (strcmp(out->attune, atn_version()) != 0 || strcmp(out->generator, ATN_GENERATOR_VERSION) != 0))
        return atn_fail(
            pool->ctx, ATN_ERR_UNSUPPORTED,
            "%s is attune '%s' with generator '%s', this is %s with %s; name a program of the same build in "
            "ATTUNE_PROGRAM",
            pool->program, out->attune, out->generator, atn_version(), ATN_GENERATOR_VERSION);
    if (hello && m->greeted) good = false;
    m->greeted = true;
    if (good && out->kind == ATN_SAID_DONE && (m->heard == m->told || out->job != ++m->heard)) {
        json_decref(out->done);
        good = false;
    }
    if (good) return ATN_OK;
    return m->lines > ATN_WIRE_MOST_LINES
               ? atn_fail(pool->ctx, ATN_ERR_DEVICE, "a worker said more than %d lines", ATN_WIRE_MOST_LINES)
               : atn_fail(pool->ctx, ATN_ERR_DEVICE, "%s", NO_SENSE);
}

static void enter_stage(member *m, const atn_said *said) {
    snprintf(m->stage, sizeof m->stage, "%s", said->stage);
    m->deadline = atn_clock_seconds() + GRACE_S + said->limit_s;
}

/* Its answers up to the one that counts: *done is new, or NULL where it failed; then the context has its message. */
static atn_status listen(atn_worker_pool *pool, member *m, json_t **done) {
    *done = NULL;
    for (;;) {
        const char *line;
        atn_said said;
        atn_status status = atn_child_hear(&m->child, m->deadline, &line);
        if (status == ATN_OK) status = understand(pool, m, line, &said);
        if (status != ATN_OK) return status;
        if (said.kind == ATN_SAID_STAGE) enter_stage(m, &said);
        if (said.kind == ATN_SAID_FAILED)
            return atn_fail(pool->ctx, said.status == ATN_ERR_LOST ? ATN_ERR_LOST : ATN_ERR_DEVICE, "%s", said.message);
        if (said.kind == ATN_SAID_DONE) {
            *done = said.done;
            return ATN_OK;
        }
    }
}

static atn_status say(member *m, json_t *job, double limit_s, const char *stage) {
    if (job) json_object_set_new(job, "job", json_integer(++m->told));
    char *text = job ? json_dumps(job, JSON_COMPACT) : NULL;
    json_free_t release;
    json_get_alloc_funcs(NULL, &release);
    json_decref(job);
    if (!text) return ATN_ERR_MEMORY;
    snprintf(m->stage, sizeof m->stage, "%s", stage);
    m->deadline = atn_clock_seconds() + limit_s;
    m->lines = 0;
    atn_status status = atn_child_say(&m->child, text, m->deadline);
    release(text);
    return status;
}

/* Starts it and sends its workload; ATN_ERR_IO: it is gone already. */
static atn_status launch_worker(atn_worker_pool *pool, member *m, bool build_only) {
    const char *cache = atn_ctx_cache_dir(pool->ctx), *compiler = atn_ctx_compiler(pool->ctx);
    const char *argv[8] = {pool->program, "worker"};
    int n = 2;
    if (cache) argv[n++] = "--cache", argv[n++] = cache;
    if (compiler) argv[n++] = "--compiler", argv[n++] = compiler;
    atn_trial_setup setup = pool->setup;
    setup.build_only = build_only;
    m->busy = -1;
    m->greeted = false;
    m->told = m->heard = 0;
    atn_status status = atn_child_start(pool->ctx, argv, true, &m->child);
    if (status == ATN_ERR_IO) return ATN_ERR_DEVICE; /* not even started */
    return status == ATN_OK ? say(m, atn_wire_open(pool->device, pool->workload, &setup), ATN_WIRE_OPEN_S, "open")
                            : status;
}

/* The same, and waits until its workload is open. */
static atn_status enlist(atn_worker_pool *pool, member *m) {
    json_t *done = NULL;
    atn_status status = launch_worker(pool, m, false);
    if (status == ATN_OK || status == ATN_ERR_IO) status = listen(pool, m, &done);
    json_decref(done);
    m->running = status == ATN_OK;
    if (status == ATN_OK) return ATN_OK;
    dismiss(m);
    return status == ATN_ERR_MEMORY || status == ATN_ERR_CANCELLED
               ? status
               : atn_fail_within(pool->ctx, status, "a worker could not begin");
}

atn_status atn_worker_pool_create(const atn_ctx *ctx, const atn_device_info *device, const atn_workload *workload,
                                  const atn_trial_setup *setup, const char *program, atn_worker_pool **out) {
    *out = NULL;
    char *found;
    atn_status status = atn_worker_pool_program(ctx, program, &found);
    if (status != ATN_OK) return status;
    atn_worker_pool *pool = atn_zalloc(ctx, sizeof *pool);
    if (!pool) {
        atn_free(ctx, found);
        return ATN_ERR_MEMORY;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int32_t most = device->cpu ? MOST_BUILDERS : GPU_BUILDERS;
    *pool = (atn_worker_pool){.ctx = ctx, .device = device, .workload = workload, .setup = *setup, .program = found};
    pool->n_builders = cores < 1 ? 1 : cores > most ? most : (int32_t)cores;
    *out = pool;
    return ATN_OK;
}

void atn_worker_pool_free(atn_worker_pool *pool) {
    if (!pool) return;
    if (pool->measurer.running) dismiss(&pool->measurer);
    for (int32_t k = 0; k < pool->n_builders; ++k)
        if (pool->builders[k].running) dismiss(&pool->builders[k]);
    atn_free(pool->ctx, pool->program);
    atn_free(pool->ctx, pool);
}

int32_t atn_worker_pool_builders(const atn_worker_pool *pool) { return pool->n_builders; }

/* What the end of a worker says of the candidate it was busy with. */
static void autopsy(member *m, atn_status status, atn_trial *out) {
    bool building = strcmp(m->stage, "build") == 0;
    *out = (atn_trial){.outcome = building ? ATN_OUTCOME_BUILD : ATN_OUTCOME_CRASH};
    if (status == ATN_ERR_TIMEOUT) {
        atn_child_kill(&m->child);
        if (!building) out->outcome = ATN_OUTCOME_HANG;
        snprintf(out->detail, sizeof out->detail, "it did not come back from stage '%s' in time and was killed",
                 m->stage);
    } else if (m->child.signal_number == SIGKILL && !building) {
        out->outcome = ATN_OUTCOME_MEMORY;
        snprintf(out->detail, sizeof out->detail, "the system killed it, most likely for want of memory");
    } else {
        snprintf(out->detail, sizeof out->detail, "it ended its process in stage '%s': %s", m->stage, m->child.how);
    }
    dismiss(m);
}

/* ---- building in parallel ---- */

/* Starts a builder without waiting for it; what it says of its opening is heard with the rest. */
static atn_status call_up(atn_worker_pool *pool, member *m) {
    atn_status status = launch_worker(pool, m, true);
    m->running = status == ATN_OK || status == ATN_ERR_IO || status == ATN_ERR_TIMEOUT; /* seen when listened to */
    m->opening = m->running;
    return m->running ? ATN_OK : status;
}

atn_status atn_worker_pool_begin(atn_worker_pool *pool, const char *const *variants, int32_t n) {
    atn_status status = ATN_OK;
    pool->n_begun = 0;
    for (int32_t k = 0; k < n && k < pool->n_builders && status == ATN_OK; ++k) {
        member *m = &pool->builders[k];
        pool->built[k] = (atn_trial){.outcome = ATN_OUTCOME_STARTED};
        if (!m->running) status = call_up(pool, m);
        if (status != ATN_OK) break;
        m->busy = k;
        status = say(m, json_pack("{s:s, s:s}", "op", "build", "variant", variants[k]), ATN_WIRE_OPEN_S,
                     m->opening ? "open" : "build");
        if (status == ATN_ERR_IO || status == ATN_ERR_TIMEOUT) status = ATN_OK; /* seen when it is listened to */
        pool->n_begun = k + 1;
    }
    return status;
}

/* One answer of a builder. A failure to open is ignored here: the measuring process will see it too. false: the answer
 * was invalid. */
static bool take_answer(const atn_worker_pool *pool, member *m, const char *line, atn_trial *out) {
    atn_said said;
    bool good = understand(pool, m, line, &said) == ATN_OK;
    if (!good) return false;
    if (said.kind == ATN_SAID_STAGE) {
        enter_stage(m, &said);
    } else if (said.kind == ATN_SAID_FAILED) {
        m->busy = -1;
    } else if (said.kind == ATN_SAID_DONE && m->opening) {
        m->opening = false;
        m->deadline = atn_clock_seconds() + ATN_WIRE_OPEN_S;
    } else if (said.kind == ATN_SAID_DONE) {
        atn_trial trial;
        good = atn_wire_read_trial(said.done, &trial);
        if (good) *out = trial;
        m->busy = -1;
    }
    json_decref(said.done);
    return good;
}

static void collect(const atn_worker_pool *pool, member *m, atn_trial *out) {
    bool ended = false;
    const char *line;
    while (m->busy >= 0 && (line = atn_child_peek(&m->child, &ended)))
        if (!take_answer(pool, m, line, &out[m->busy])) {
            dismiss(m);
            return;
        }
    if (m->busy < 0 || (!ended && atn_clock_seconds() <= m->deadline)) return;
    if (m->opening)
        dismiss(m);
    else
        autopsy(m, ended ? ATN_ERR_IO : ATN_ERR_TIMEOUT, &out[m->busy]);
}

static void wait_for_any(atn_worker_pool *pool) {
    struct pollfd waits[MOST_BUILDERS];
    nfds_t n = 0;
    for (int32_t k = 0; k < pool->n_builders; ++k)
        if (pool->builders[k].running && pool->builders[k].busy >= 0)
            waits[n++] = (struct pollfd){.fd = pool->builders[k].child.from, .events = POLLIN};
    (void)poll(waits, n, 50);
}

atn_status atn_worker_pool_finish(atn_worker_pool *pool, bool (*look)(void *user), void *user, atn_trial *out) {
    atn_status status = ATN_OK;
    for (int32_t busy = 1; busy > 0 && status == ATN_OK;) {
        busy = 0;
        for (int32_t k = 0; k < pool->n_builders; ++k) {
            member *m = &pool->builders[k];
            if (m->running && m->busy >= 0) collect(pool, m, pool->built);
            busy += m->running && m->busy >= 0;
        }
        status = atn_check_cancel(pool->ctx);
        if (status != ATN_OK || busy == 0 || (look && !look(user))) break;
        wait_for_any(pool);
    }
    for (int32_t k = 0; k < pool->n_builders; ++k) /* nothing is left half done, least of all on cores to be measured */
        if (pool->builders[k].running && pool->builders[k].busy >= 0) dismiss(&pool->builders[k]);
    for (int32_t k = 0; k < pool->n_begun; ++k) out[k] = pool->built[k];
    return status;
}

/* ---- measuring alone ---- */

atn_status atn_worker_pool_ready(atn_worker_pool *pool) {
    return pool->measurer.running ? ATN_OK : enlist(pool, &pool->measurer);
}

static atn_status ask(atn_worker_pool *pool, json_t *job, json_t **done) {
    member *m = &pool->measurer;
    *done = NULL;
    atn_status status = atn_worker_pool_ready(pool);
    if (status != ATN_OK) {
        json_decref(job);
        return status;
    }
    status = say(m, job, ATN_WIRE_OPEN_S, "begin");
    if (status == ATN_OK || status == ATN_ERR_IO) status = listen(pool, m, done);
    return status;
}

atn_status atn_worker_pool_try(atn_worker_pool *pool, const char *variant, const char *incumbent, double best_s,
                               atn_trial *out) {
    json_t *job = json_pack("{s:s, s:s, s:f}", "op", "try", "variant", variant, "best_s", best_s), *done;
    if (incumbent) json_object_set_new(job, "incumbent", json_string(incumbent));
    atn_status status = ask(pool, job, &done);
    member *m = &pool->measurer;
    if (status == ATN_OK) {
        if (!atn_wire_read_trial(done, out)) {
            *out = (atn_trial){.outcome = ATN_OUTCOME_CRASH};
            snprintf(out->detail, sizeof out->detail, "%s", NO_SENSE);
        }
        json_decref(done);
        if (out->outcome != ATN_OUTCOME_RIGHT && out->outcome != ATN_OUTCOME_BUILD) dismiss(m);
        return ATN_OK;
    }
    if (status == ATN_ERR_MEMORY || status == ATN_ERR_CANCELLED || status == ATN_ERR_INTERNAL) {
        if (m->running) dismiss(m);
        return status;
    }
    if (!m->running) return status; /* it could not even begin: nothing of the candidate's doing */
    if (status == ATN_ERR_LOST || status == ATN_ERR_DEVICE) {
        *out = (atn_trial){.outcome = ATN_OUTCOME_CRASH};
        snprintf(out->detail, sizeof out->detail, "%s", atn_ctx_message(pool->ctx));
        dismiss(m);
    } else {
        autopsy(m, status, out);
    }
    return ATN_OK;
}

atn_status atn_worker_pool_final(atn_worker_pool *pool, const char *const *variants, int32_t n, int32_t most,
                                 double limit_s, atn_final *out) {
    json_t *list = json_array(), *done;
    for (int32_t k = 0; k < n; ++k) json_array_append_new(list, json_string(variants[k]));
    atn_status status = ask(
        pool, json_pack("{s:s, s:o, s:i, s:f}", "op", "final", "variants", list, "most", (int)most, "limit", limit_s),
        &done);
    *out = (atn_final){.winner = -1, .runner_up = -1};
    if (status == ATN_OK && !atn_wire_read_final(done, n, out))
        status = atn_fail(pool->ctx, ATN_ERR_DEVICE, "%s", NO_SENSE);
    json_decref(done);
    if (status == ATN_OK) return ATN_OK;
    *out = (atn_final){.winner = -1, .runner_up = -1};
    if (pool->measurer.running) dismiss(&pool->measurer);
    return status == ATN_ERR_CANCELLED || status == ATN_ERR_MEMORY
               ? status
               : atn_fail_within(pool->ctx, ATN_ERR_DEVICE, "the final");
}

atn_status atn_worker_pool_sentinel(atn_worker_pool *pool, double *seconds) {
    json_t *done;
    *seconds = 0;
    atn_status status = ask(pool, json_pack("{s:s}", "op", "sentinel"), &done);
    if (status == ATN_OK && !atn_wire_read_seconds(done, seconds)) {
        *seconds = 0;
        status = ATN_ERR_DEVICE;
    }
    json_decref(done);
    if (status == ATN_OK) return ATN_OK;
    if (pool->measurer.running) dismiss(&pool->measurer);
    return status == ATN_ERR_CANCELLED || status == ATN_ERR_MEMORY ? status : ATN_OK; /* it is only a watch */
}
