/* The worker's loop: one operation per line, dispatched through a table. */
#include "tune/worker.h"

#include "base/leftover.h"
#include "base/memory.h"
#include "device/facts.h"
#include "tune/wire.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif
#include <unistd.h>

typedef struct worker {
    atn_ctx *ctx;
    FILE *out;
    atn_device *device;
    atn_trials *trials;
    bool over; /* nothing more can be done here */
} worker;

/* ---- limits ---- */

/* Never above what is there already. */
static void lower(unsigned resource, rlim_t value) {
    struct rlimit now;
    if (getrlimit(resource, &now) != 0 || (now.rlim_max != RLIM_INFINITY && now.rlim_max <= value)) return;
    (void)setrlimit(resource, &(struct rlimit){value, value});
}

/* The tuner's clock ends a stage that does not come back; this does when the tuner cannot, being stopped by Ctrl-Z,
 * say. The soft limit alone is set: the next stage has its own. */
void atn_worker_limit_cpu(double wall_s) {
    struct rlimit now;
    struct timespec used;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (getrlimit(RLIMIT_CPU, &now) != 0 || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return;
    if (!(wall_s <= ATN_WIRE_STAGE_S)) wall_s = ATN_WIRE_STAGE_S;
    rlim_t seconds = (rlim_t)used.tv_sec + 2 + (rlim_t)((wall_s + 1) * (double)(cores > 1 ? cores : 1));
    now.rlim_cur = now.rlim_max == RLIM_INFINITY || seconds < now.rlim_max ? seconds : now.rlim_max;
    (void)setrlimit(RLIMIT_CPU, &now);
}

/* All of the machine's memory on top of what is taken: who wants more fails instead of driving the machine into its
 * swap. Data, not address space: sanitizers and drivers reserve terabytes of that and use little. Not on GPUs: how much
 * a driver maps for a device's memory is its own affair, and CUDA fails in odd ways where it may not. */
static void limit_memory(const atn_device_info *device) {
    long page = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES);
    unsigned long long data = 0;
    FILE *file = device->cpu ? fopen("/proc/self/statm", "re") : NULL;
    bool known = file && fscanf(file, "%*u %*u %*u %*u %*u %llu", &data) == 1; /* pages of data and stack */
    if (file) fclose(file);
    if (known && page > 0 && pages > 0) lower(RLIMIT_DATA, ((rlim_t)data + (rlim_t)pages) * (rlim_t)page);
}

/* Whatever it is busy with, a compiler ends with it, and its folder is removed. */
static void end_now(int number) {
    (void)number;
    atn_leftover_remove_all();
    _exit(1);
}

void atn_worker_prepare(void) {
    struct sigaction action = {.sa_handler = end_now};
    sigfillset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    lower(RLIMIT_CORE, 0);
    lower(RLIMIT_FSIZE, (rlim_t)1 << 30); /* more than the cache reads back */
    atn_worker_limit_cpu(ATN_WIRE_OPEN_S);
#if defined(__linux__)
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
    if (getppid() == 1) _exit(1); /* the parent was faster */
}

/* ---- jobs ---- */

/* Takes the reference. */
static void answer(worker *w, json_t *object) {
    if (!object)
        fputs("{\"failed\":\"memory\",\"message\":\"out of memory\"}", w->out);
    else
        json_dumpf(object, w->out, JSON_COMPACT);
    fputc('\n', w->out);
    fflush(w->out);
    json_decref(object);
}

static void tell_stage(void *user, const char *stage, double limit_s) {
    atn_worker_limit_cpu(limit_s);
    answer(user, json_pack("{s:s, s:f}", "stage", stage, "limit", limit_s));
}

/* By name, and of equal ones the one in the same place: what a driver lists may differ from process to process. */
static atn_status open_device(worker *w, const atn_device_info *wanted) {
    atn_devices *devices;
    atn_status status = atn_devices_find(w->ctx, &devices);
    if (status != ATN_OK) return status;
    int32_t found = -1;
    for (int32_t k = 0; k < atn_devices_count(devices); ++k) {
        const atn_device_info *info = atn_devices_info(devices, k);
        bool same = atn_backend_is(info->backend, wanted->backend) && strcmp(info->name, wanted->name) == 0;
        if (same && (found < 0 || info->ordinal == wanted->ordinal)) found = k;
    }
    if (found >= 0) {
        status = atn_device_open(devices, found, &w->device);
    } else {
        const char *note = atn_devices_note_count(devices) > 0 ? atn_devices_note(devices, 0) : "it is not listed";
        status = atn_fail(w->ctx, ATN_ERR_LOST, "%s %s is not there any more: %s", wanted->backend, wanted->name, note);
    }
    atn_devices_free(devices);
    return status;
}

static atn_status do_open(worker *w, const json_t *job, json_t **out) {
    atn_device_info device;
    atn_workload workload = {0};
    atn_trial_setup setup;
    atn_verify_stage stage = {tell_stage, w};
    atn_status status = atn_wire_read_open(w->ctx, job, &device, &workload, &setup);
    if (status == ATN_OK) status = open_device(w, &device);
    if (status == ATN_OK) limit_memory(atn_device_get_info(w->device));
    if (status == ATN_OK) status = atn_trials_open(w->device, &workload, &setup, &stage, &w->trials);
    atn_wire_workload_free(w->ctx, &workload);
    *out = json_object();
    return status;
}

static const char *text_at(const json_t *job, const char *name) {
    return json_string_value(json_object_get(job, name));
}

static atn_status do_build(worker *w, const json_t *job, json_t **out) {
    atn_trial trial;
    const char *variant = text_at(job, "variant");
    atn_status status = atn_trials_build(w->trials, variant ? variant : "", &trial);
    *out = atn_wire_trial(&trial);
    return status;
}

static atn_status do_try(worker *w, const json_t *job, json_t **out) {
    atn_trial trial;
    const char *variant = text_at(job, "variant");
    atn_status status = atn_trials_try(w->trials, variant ? variant : "", text_at(job, "incumbent"),
                                       json_number_value(json_object_get(job, "best_s")), &trial);
    *out = atn_wire_trial(&trial);
    w->over = trial.outcome == ATN_OUTCOME_WRONG || atn_device_lost(w->device); /* who knows where it wrote */
    return status;
}

static atn_status do_final(worker *w, const json_t *job, json_t **out) {
    const char *variants[ATN_MOST_RACERS];
    const json_t *list = json_object_get(job, "variants");
    int32_t n = 0;
    for (size_t k = 0; k < json_array_size(list) && n < ATN_MOST_RACERS; ++k)
        if (!(variants[n++] = json_string_value(json_array_get(list, k))))
            return atn_fail(w->ctx, ATN_ERR_INPUT, "a worker was given a malformed list");
    atn_race_rules rules = {.most = (int32_t)json_integer_value(json_object_get(job, "most")), .behind = 1.05};
    atn_final *final = atn_zalloc(w->ctx, sizeof *final);
    if (!final) return ATN_ERR_MEMORY;
    atn_status status =
        atn_trials_final(w->trials, variants, n, &rules, json_number_value(json_object_get(job, "limit")), final);
    *out = atn_wire_final(final);
    atn_free(w->ctx, final);
    return status;
}

static atn_status do_sentinel(worker *w, const json_t *job, json_t **out) {
    double seconds;
    (void)job;
    atn_status status = atn_trials_sentinel(w->trials, &seconds);
    *out = json_pack("{s:f}", "seconds", seconds);
    return status;
}

static const struct {
    const char *op;
    atn_status (*obey)(worker *w, const json_t *job, json_t **out);
} OPS[] = {{"open", do_open}, {"build", do_build}, {"try", do_try}, {"final", do_final}, {"sentinel", do_sentinel}};

static atn_status obey(worker *w, const json_t *job, json_t **out) {
    const char *op = text_at(job, "op");
    *out = NULL;
    for (size_t k = 0; op && k < sizeof OPS / sizeof *OPS; ++k) {
        if (strcmp(OPS[k].op, op) != 0) continue;
        if ((k == 0) == (w->trials != NULL)) break; /* open comes first, and once */
        return OPS[k].obey(w, job, out);
    }
    return atn_fail(w->ctx, ATN_ERR_INPUT, "a worker does not know what '%s' means here", op ? op : "");
}

/* The next line, cut at what a job may have, which is then no JSON; false: there is none. */
static bool next_line(FILE *in, atn_text *line) {
    int c;
    atn_text_clear(line);
    while ((c = getc(in)) != EOF && c != '\n') {
        char byte = (char)c;
        if (line->length < ATN_WIRE_MOST_JOB) atn_text_add_bytes(line, &byte, 1);
    }
    return c != EOF || line->length > 0;
}

atn_status atn_worker_run(atn_ctx *ctx, FILE *in, FILE *out) {
    worker w = {.ctx = ctx, .out = out};
    atn_text line = {.ctx = ctx};
    answer(&w, atn_wire_hello());
    while (!w.over && next_line(in, &line)) {
        json_t *job = json_loadb(atn_text_str(&line), line.length, 0, NULL), *done = NULL;
        json_int_t number = json_integer_value(json_object_get(job, "job"));
        atn_worker_limit_cpu(ATN_WIRE_OPEN_S);
        atn_status status = atn_text_status(&line);
        if (status == ATN_OK)
            status = job ? obey(&w, job, &done) : atn_fail(ctx, ATN_ERR_INPUT, "a worker heard no JSON");
        if (status == ATN_OK) {
            answer(&w, json_pack("{s:o, s:I}", "done", done, "job", number));
        } else {
            json_decref(done);
            answer(&w, json_pack("{s:s, s:o}", "failed", atn_status_name(status), "message",
                                 atn_wire_text(atn_ctx_message(ctx))));
            w.over = true;
        }
        json_decref(job);
    }
    atn_text_free(&line);
    atn_trials_free(w.trials);
    atn_device_close(w.device);
    return ATN_OK;
}
