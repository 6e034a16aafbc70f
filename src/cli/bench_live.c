/* attune bench live: what a live view costs. Frames are unwrapped one after the other, alone and while a page asks for
 * one after the other over the loopback address, as pages do; the share of the rate that is left is the ratio. Packing
 * and handing over is done by the thread that unwraps, where the stream has another one for it: the worst case. The
 * page draws on a canvas of 640 pixels, as the real one does on a desktop, or wants every pixel. */
#include "base/clock.h"
#include "base/memory.h"
#include "cli/bench.h"
#include "cli/kernel.h"
#include "cli/serve.h"
#include "plot/surface.h"

#include <attune/unwrap.h>

#include <arpa/inet.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIDE = 1024, CANVAS = 640, ROUNDS = 5, BUFFER = 1 << 16 };
static const double ROUND_S = 1.5;

typedef struct page {
    const char *address; /* "127.0.0.1:PORT/TOKEN" */
    atomic_bool stop, look;
    atomic_int side; /* of its canvas; 0: all pixels */
    atomic_int shown;
} page;

/* Reads an answer to its end; its bytes, or -1. The connection stays open. */
static long read_answer(int fd, char *buffer) {
    size_t have = 0;
    char *end = NULL;
    while (!end && have < BUFFER - 1) {
        ssize_t got = read(fd, buffer + have, BUFFER - 1 - have);
        if (got <= 0) return -1;
        have += (size_t)got;
        buffer[have] = '\0';
        end = strstr(buffer, "\r\n\r\n");
    }
    const char *length = end ? strcasestr(buffer, "content-length:") : NULL;
    long body = length && length < end ? strtol(length + 15, NULL, 10) : 0;
    long left = end ? body - (long)(have - (size_t)(end + 4 - buffer)) : -1;
    while (left > 0) {
        ssize_t got = read(fd, buffer, left < BUFFER ? (size_t)left : BUFFER);
        if (got <= 0) return -1;
        left -= got;
    }
    return body;
}

/* A page: asks for the next frame once it has one. */
static void *look_on(void *given) {
    page *p = given;
    char request[256], *buffer = malloc(BUFFER);
    unsigned port = (unsigned)strtoul(strchr(p->address, ':') + 1, NULL, 10);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool open = buffer && fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
    for (int64_t have = 0; open && !atomic_load(&p->stop);) {
        if (!atomic_load(&p->look)) {
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
            continue;
        }
        int n = snprintf(request, sizeof request, "GET %s/frame?after=%lld&side=%d HTTP/1.1\r\nHost: %.*s\r\n\r\n",
                         strchr(p->address, '/'), (long long)have, atomic_load(&p->side), (int)strcspn(p->address, "/"),
                         p->address);
        open = write(fd, request, (size_t)n) == n;
        long bytes = open ? read_answer(fd, buffer) : -1;
        open = bytes >= 0;
        if (bytes > 0) ++have, atomic_fetch_add(&p->shown, 1);
    }
    if (fd >= 0) close(fd);
    free(buffer);
    return NULL;
}

typedef struct work {
    atn_unwrap *unwrap;
    float *phase, *out;
    atn_serve *serve;
    int64_t frames;
} work;

static void show(work *w, int64_t side) {
    int64_t step = atn_surface_step(SIDE, SIDE, side), n = (SIDE + step - 1) / step;
    double low, high;
    uint16_t *packed = atn_serve_room(w->serve, sizeof *packed * (size_t)(n * n));
    if (!packed) return;
    atn_surface_pack(&(atn_surface){.width = SIDE, .height = SIDE, .values = w->out}, step, &low, &high, packed);
    atn_serve_show(w->serve,
                   json_pack("{s:I,s:I,s:I,s:I,s:f,s:f}", "number", (json_int_t)++w->frames, "w", (json_int_t)n, "h",
                             (json_int_t)n, "step", (json_int_t)step, "low", low, "high", high));
}

static atn_status round_of(work *w, double *rate) {
    double from = atn_clock_seconds(), now = from;
    int64_t n = 0;
    atn_status status = ATN_OK;
    for (; now - from < ROUND_S && !status; now = atn_clock_seconds(), ++n) {
        atn_unwrap_result result = ATN_INIT(atn_unwrap_result);
        status = atn_unwrap_solve(w->unwrap, w->phase, NULL, w->out, &result);
        int64_t side;
        if (!status && atn_serve_wants(w->serve, &side)) show(w, side);
    }
    *rate = (double)n / (now - from);
    return status;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Alternately, so that whatever slows the machine slows both; medians. */
static atn_status measure(atn_cli_bench *bench, work *w, page *p, int side, const char *device) {
    double rate[2][ROUNDS], ratio[ROUNDS], unused;
    atomic_store(&p->side, side);
    atn_status status = round_of(w, &unused); /* kernels are built */
    double looked = 0;
    int before = 0;
    for (int k = 0; k < ROUNDS && !status; ++k)
        for (int looking = 0; looking < 2 && !status; ++looking) {
            atomic_store(&p->look, looking);
            if (looking) before = atomic_load(&p->shown);
            status = round_of(w, &rate[looking][k]);
            if (looking) looked += (atomic_load(&p->shown) - before) / ROUND_S / ROUNDS;
            atomic_store(&p->look, false);
        }
    if (status) return status;
    for (int k = 0; k < ROUNDS; ++k) ratio[k] = rate[1][k] / rate[0][k];
    for (int k = 0; k < 2; ++k) qsort(rate[k], ROUNDS, sizeof **rate, by_size);
    qsort(ratio, ROUNDS, sizeof *ratio, by_size);
    char note[96];
    snprintf(note, sizeof note, "%.1f frames a second shown; %.1f %% slower while a page is open", looked,
             100 * (1 - ratio[ROUNDS / 2]));
    atn_cli_bench_row row = {.name = side ? "live view" : "live view, all pixels",
                             .device = device,
                             .shape = "1024x1024",
                             .ours = rate[1][ROUNDS / 2],
                             .reference = rate[0][ROUNDS / 2],
                             .reference_name = "no page open",
                             .unit = "frames/s",
                             .ratio = ratio[ROUNDS / 2],
                             .note = note,
                             .extra = json_pack("{s:f}", "shown_per_second", looked)};
    return atn_cli_bench_add(bench, &row) ? ATN_OK : atn_fail_memory(atn_cli_bench_call(bench)->ctx, 0, "a row");
}

static void fill(float *phase) {
    for (int64_t k = 0; k < (int64_t)SIDE * SIDE; ++k) {
        double x = (double)(k % SIDE) / SIDE - 0.5, y = (double)(k / SIDE) / SIDE - 0.5;
        phase[k] = (float)remainder(40 * exp(-8 * (x * x + y * y)), 6.283185307179586);
    }
}

static atn_status run_on(atn_cli_bench *bench, atn_device *device) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    const atn_ctx *ctx = call->ctx;
    work w = {.phase = atn_alloc(ctx, sizeof *w.phase * SIDE * SIDE),
              .out = atn_alloc(ctx, sizeof *w.out * SIDE * SIDE)};
    page p = {0};
    pthread_t looker;
    bool looks = false;
    atn_status status = w.phase && w.out ? ATN_OK : ATN_ERR_MEMORY;
    if (!status) status = atn_unwrap_create(device, SIDE, SIDE, NULL, &w.unwrap);
    if (!status) status = atn_serve_start(call, 0, "surface", "bench", &w.serve);
    if (!status) {
        fill(w.phase);
        p.address = atn_serve_address(w.serve);
        looks = pthread_create(&looker, NULL, look_on, &p) == 0;
        status = looks ? ATN_OK : atn_fail(ctx, ATN_ERR_MEMORY, "a thread could not be started");
        if (!status) status = measure(bench, &w, &p, CANVAS, atn_device_get_info(device)->name);
        if (!status) status = measure(bench, &w, &p, 0, atn_device_get_info(device)->name);
    }
    atomic_store(&p.stop, true);
    atn_serve_close(w.serve);
    if (looks) pthread_join(looker, NULL);
    atn_unwrap_free(w.unwrap);
    atn_free(ctx, w.out);
    atn_free(ctx, w.phase);
    return status;
}

atn_status atn_cli_bench_live(atn_cli_bench *bench) {
    atn_cli_call *call = atn_cli_bench_call(bench);
    atn_devices *devices = NULL;
    atn_device *device = NULL;
    int32_t index;
    atn_status status = atn_cli_pick_device(call, &devices, &index);
    if (!status) status = atn_device_open(devices, index, &device);
    if (!status) status = run_on(bench, device);
    atn_device_close(device);
    atn_devices_free(devices);
    return status;
}
