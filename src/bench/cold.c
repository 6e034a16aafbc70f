/* Cold starts, measured from outside: the program itself is run on a small product of matrices, its cache folder set by
 * env(1). Starting the process and finding the devices is part of it: that is what a user waits for. */
#include "bench/cold.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/process.h"
#include "device/cache_dir.h"
#include "device/facts.h"

#include <attune/array.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 31, SIZE = 256, PATH_BYTES = 512 };
static const double TIMEOUT_S = 120;

static const struct {
    const char *name, *meaning;
    bool fresh; /* the cache folder is empty */
    bool bare;  /* there is no compiler */
} KINDS[ATN_COLD_ROWS] = {
    {"cold start, empty caches", "a new process that must build what it runs", true, false},
    {"cold start, full caches", "a new process that finds it built", false, false},
    {"cold start, no compiler", "a new process that runs what is compiled into the library", true, true},
};

typedef struct cold {
    const atn_ctx *ctx;
    const char *program, *device;
    char *env; /* path of env(1) */
    char *dir; /* with the files and the caches */
} cold;

static atn_status write_input(const cold *c, atn_device *device, const char *name) {
    char path[PATH_BYTES + 16];
    atn_array *array;
    void *at;
    snprintf(path, sizeof path, "%s/%s.npy", c->dir, name);
    atn_status status = atn_array_create_matrix(device, ATN_SP, SIZE, SIZE, 0, &array);
    if (status != ATN_OK) return status;
    status = atn_array_map_write(array, &at);
    for (int k = 0; k < SIZE * SIZE && status == ATN_OK; ++k) ((float *)at)[k] = (float)(k % 17) / 17;
    if (status == ATN_OK) status = atn_array_save(array, path);
    atn_array_free(array);
    return status;
}

static atn_status write_inputs(const cold *c) {
    atn_devices *devices;
    atn_device *host = NULL;
    atn_status status = atn_devices_find((atn_ctx *)c->ctx, &devices);
    if (status != ATN_OK) return status;
    status = atn_device_open(devices, 0, &host);
    if (status == ATN_OK) status = write_input(c, host, "A");
    if (status == ATN_OK) status = write_input(c, host, "B");
    atn_device_close(host);
    atn_devices_free(devices);
    return status;
}

/* What the process said of its run. */
static atn_status read_report(const cold *c, const char *text, double *run_s, char hit[32]) {
    json_t *root = json_loads(text, 0, NULL);
    const char *from = json_string_value(json_object_get(root, "hit"));
    *run_s = json_number_value(json_object_get(root, "seconds"));
    snprintf(hit, 32, "%s", from ? from : "");
    json_decref(root);
    return from ? ATN_OK
                : atn_fail(c->ctx, ATN_ERR_INPUT, "%s: a cold start said '%.200s' instead of JSON", c->program, text);
}

static atn_status start(const cold *c, const char *cache, bool bare, double *seconds, double *run_s, char hit[32]) {
    char where[PATH_BYTES + 32], a[PATH_BYTES + 16], b[PATH_BYTES + 16], out[PATH_BYTES + 16];
    snprintf(where, sizeof where, "XDG_CACHE_HOME=%s", cache);
    snprintf(a, sizeof a, "A=%s/A.npy", c->dir);
    snprintf(b, sizeof b, "B=%s/B.npy", c->dir);
    snprintf(out, sizeof out, "C=%s/C.npy", c->dir);
    const char *argv[24] = {c->env, where, "ATTUNE_WISDOM="};
    const char *const rest[] = {c->program, "run", "gemm",   "--define", "USED_FLOAT=SP", "--device", c->device,
                                "--bind",   a,     "--bind", b,          "--out",         out,        "--json"};
    size_t n = 3;
    if (bare) argv[n++] = "ATTUNE_CC=/nonexistent";
    memcpy(&argv[n], rest, sizeof rest);
    atn_text output = {.ctx = c->ctx};
    int code;
    double begin = atn_clock_seconds();
    atn_status status = atn_process_run(c->ctx, argv, NULL, TIMEOUT_S, &output, &code);
    *seconds = atn_clock_seconds() - begin;
    if (status == ATN_OK && code != 0)
        status =
            atn_fail(c->ctx, ATN_ERR_DEVICE, "%s run gemm ended with %d: %s", c->program, code, atn_text_str(&output));
    if (status == ATN_OK) status = read_report(c, atn_text_str(&output), run_s, hit);
    atn_text_free(&output);
    return status;
}

static int by_seconds(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

static atn_status measure(const cold *c, int kind, int32_t rounds, atn_cold_row *row) {
    double times[MOST_ROUNDS][2]; /* of the process, of the run in it */
    char cache[PATH_BYTES + 32];
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < rounds && status == ATN_OK; ++k) {
        snprintf(cache, sizeof cache, "%s/cache-%d-%d", c->dir, kind, KINDS[kind].fresh ? (int)k : 0);
        if (k == 0 && !KINDS[kind].fresh) /* the first one fills it */
            status = start(c, cache, KINDS[kind].bare, &times[0][0], &times[0][1], row->hit);
        if (status == ATN_OK) status = start(c, cache, KINDS[kind].bare, &times[k][0], &times[k][1], row->hit);
    }
    if (status != ATN_OK) return status;
    qsort(times, (size_t)rounds, sizeof *times, by_seconds);
    row->seconds = times[rounds / 2][0];
    row->run_s = times[rounds / 2][1];
    return ATN_OK;
}

static atn_status open_cold(cold *c) {
    atn_status status = atn_cache_dir_temporary(c->ctx, &c->dir);
    if (status == ATN_OK) status = atn_process_find(c->ctx, "env", &c->env);
    if (status == ATN_OK && !c->env)
        status =
            atn_fail(c->ctx, ATN_ERR_UNSUPPORTED, "a cold start is measured with the program env, which is not here");
    return status == ATN_OK ? write_inputs(c) : status;
}

atn_status atn_bench_cold(const atn_ctx *ctx, const char *program, const char *device, int32_t rounds,
                          atn_cold_row rows[ATN_COLD_ROWS]) {
    cold c = {.ctx = ctx, .program = program, .device = device};
    atn_device_info named = {0};
    snprintf(named.backend, sizeof named.backend, "%s", device);
    bool compiled_in = atn_backend_facts_of(&named)->threads; /* what the library brings runs on the host's threads */
    if (rounds < 1) rounds = 1;
    if (rounds > MOST_ROUNDS) rounds = MOST_ROUNDS;
    atn_status status = open_cold(&c);
    for (int kind = 0; kind < ATN_COLD_ROWS; ++kind) {
        rows[kind] = (atn_cold_row){.name = KINDS[kind].name, .meaning = KINDS[kind].meaning};
        bool exists = !KINDS[kind].bare || compiled_in;
        if (status == ATN_OK && exists) status = measure(&c, kind, rounds, &rows[kind]);
    }
    if (c.dir) atn_cache_dir_remove(c.dir);
    atn_free(ctx, c.dir);
    atn_free(ctx, c.env);
    return status;
}
