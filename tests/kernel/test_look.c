/* Scans in one launch, whose groups look back: sums, largest numbers and sums of runs against plain C, of one built
 * kernel at sizes that grow and shrink, each several times: nothing is reset between launches. CUDA only. */
#include "testkit.h"

#include "built/built.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atn_ctx *ctx;
static atn_device *device;

static const char SUMS[] = "kernel k(x: vector T) -> y: vector T, all: vector T\n    over i in x\n"
                           "        y[i] = s\n        s += x[i]\n    all[0] = s\n";
static const char MOST[] = "kernel k(x: vector T) -> y: vector T, all: vector T\n    over i in x\n"
                           "        s max= x[i]\n        y[i] = s\n    all[0] = s\n";
static const char RUNS[] =
    "kernel k(x: vector T) -> y: vector T, all: vector T\n    over i in x\n        f, v = x[i] < 2, x[i]\n"
    "        carry s: T = 0, g: INT32 = 0, n: INDEX = 0 {\n            s = f ? v : s + v;\n"
    "            g = g | INT32(f);\n            n = n + INDEX(1);\n        } combine {\n"
    "            s = right(g) != 0 ? right(s) : left(s) + right(s);\n            g = left(g) | right(g);\n"
    "            n = left(n) + right(n);\n        }\n        y[i] = s + T(n mod INDEX(7))\n    all[0] = s\n";

/* What the next element of y is to be; state[0] is what all[0] is to be in the end. */
typedef double expectation(double x, double *state);

static double sum_before(double x, double *state) {
    double before = state[0];
    state[0] += x;
    return before;
}

static double most(double x, double *state) { /* a NaN loses */
    if (!isnan(x) && !(x < state[0])) state[0] = x;
    return state[0];
}

static double run(double x, double *state) {
    state[0] = x < 2 ? x : state[0] + x;
    state[1] += 1;
    return state[0] + fmod(state[1], 7);
}

static const struct {
    const char *text, *type;
    expectation *expected;
    double first;
    bool nans;
} SCANS[] = {
    {SUMS, "SP", sum_before, 0, false},
    {SUMS, "DP", sum_before, 0, false},
    {MOST, "SP", most, -INFINITY, true},
    {RUNS, "DP", run, 0, false},
};

static const char *const VARIANTS[] = {
    "lanes_q0=256,regs_q0=16,pack_q0=4,split_q0=256,reduce=shuffle,finish=look,index=32",
    "lanes_q0=32,regs_q0=2,split_q0=3,reduce=shuffle,finish=look",
    "lanes_q0=64,regs_q0=8,pack_q0=2,split_q0=100,reduce=shuffle,finish=look",
    "lanes_q0=512,regs_q0=24,pack_q0=4,split_q0=64,stage=1,reduce=shuffle,finish=look,index=32,resident=4",
};
static const int64_t SIZES[] = {300007, 0, 1, 4095, 4096, 4097, 1000003, 2, 300007};
enum {
    N_SCANS = sizeof SCANS / sizeof *SCANS,
    N_VARIANTS = sizeof VARIANTS / sizeof *VARIANTS,
    N_SIZES = sizeof SIZES / sizeof *SIZES,
    LARGEST = 1000003,
    SHIFTED = 3 /* elements in front of an array, which is then not aligned */
};

typedef struct held {
    atn_sequence *sequence;
    atn_built *built;
    atn_type type;
    atn_slot slots[3]; /* x, y, all, in the order of the graph */
} held;

static atn_slot *slot(held *h, const char *name) {
    for (int32_t k = 0; k < h->sequence->step[0]->n_objects; ++k)
        if (strcmp(h->sequence->step[0]->objects[k].name, name) == 0) return &h->slots[k];
    fail_msg("no object %s", name);
    return NULL;
}

static held make(const char *text, const char *type, const char *variant) {
    held h = {.type = strcmp(type, "DP") == 0 ? ATN_DP : ATN_SP};
    atn_define define = {"T", type};
    atn_variant v = atn_variant_plain();
    kit_ok(ctx, atn_sequence_parse(ctx, "k.atn", text, strlen(text),
                                   &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &h.sequence));
    kit_ok(ctx, atn_variant_parse(ctx, &v, variant));
    kit_ok(ctx, atn_built_make(device, h.sequence->step[0], &v, &h.built));
    return h;
}

static void release(held *h) {
    for (int k = 0; k < 3; ++k) atn_buffer_free(h->slots[k].buffer);
    atn_built_free(h->built);
    atn_sequence_free(h->sequence);
}

static void give(held *h, const char *name, int64_t n, const void *elements) {
    size_t bytes = atn_type_bytes(h->type), front = SHIFTED * bytes;
    atn_slot *s = slot(h, name);
    atn_buffer_free(s->buffer);
    s->buffer = NULL;
    s->offset = SHIFTED;
    s->view = (atn_view){.type = h->type, .rank = 1, .size = {n, 1, 1}, .pitch = n};
    kit_ok(ctx, atn_buffer_create(device, front + (size_t)(n > 0 ? n : 1) * bytes, &s->buffer));
    if (n > 0) kit_ok(ctx, atn_buffer_put(NULL, s->buffer, front, elements, (size_t)n * bytes));
}

static void take(held *h, const char *name, int64_t n, void *elements) {
    size_t bytes = atn_type_bytes(h->type);
    if (n > 0) kit_ok(ctx, atn_buffer_get(NULL, slot(h, name)->buffer, SHIFTED * bytes, elements, (size_t)n * bytes));
}

static double element(atn_type type, const void *of, int64_t k) {
    return type == ATN_DP ? ((const double *)of)[k] : (double)((const float *)of)[k];
}

/* Whole numbers below 4, so that sums are exact; number `nan` is none. */
static void fill(atn_type type, void *x, int64_t n, uint64_t seed, int64_t nan) {
    for (int64_t k = 0; k < n; ++k) {
        double value = k == nan ? NAN : (double)(((uint64_t)k + seed) * 2654435761u >> 7 & 3);
        if (type == ATN_DP)
            ((double *)x)[k] = value;
        else
            ((float *)x)[k] = (float)value;
    }
}

static void hold(size_t scan, const char *variant) {
    double *x = malloc(LARGEST * sizeof *x), *y = malloc(LARGEST * sizeof *y);
    held h = make(SCANS[scan].text, SCANS[scan].type, variant);
    for (size_t s = 0; s < N_SIZES; ++s) {
        int64_t n = getenv("ATTUNE_TEST_SMALL") && SIZES[s] > 10000 ? SIZES[s] / 16 : SIZES[s]; /* under a sanitizer */
        fill(h.type, x, n, s, SCANS[scan].nans ? n / 2 : -1);
        memset(y, 0xff, LARGEST * sizeof *y);
        give(&h, "x", n, x);
        give(&h, "y", n, y);
        give(&h, "all", 1, y);
        for (int again = 0; again < 3; ++again) kit_ok(ctx, atn_built_run(h.built, NULL, h.slots, NULL));
        take(&h, "y", n, y);
        double state[2] = {SCANS[scan].first, 0};
        for (int64_t k = 0; k < n; ++k) {
            double want = SCANS[scan].expected(element(h.type, x, k), state), got = element(h.type, y, k);
            if (got != want)
                fail_msg("scan %zu, '%s', %lld numbers: %g at %lld, not %g", scan, variant, (long long)n, got,
                         (long long)k, want);
        }
        take(&h, "all", 1, y);
        if (element(h.type, y, 0) != state[0]) fail_msg("scan %zu, '%s': wrong in all", scan, variant);
    }
    release(&h);
    free(x);
    free(y);
}

KIT_TEST(scans) {
    if (!device) skip();
    for (size_t k = 0; k < N_SCANS; ++k)
        for (size_t v = 0; v < N_VARIANTS; ++v) hold(k, VARIANTS[v]);
}

/* Sums that are rounded come out the same each time. */
KIT_TEST(repeats) {
    if (!device) skip();
    enum { N = 1000001, TIMES = 10 };
    float *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y), *z = malloc(N * sizeof *z);
    for (int k = 0; k < N; ++k) x[k] = sinf((float)k);
    for (size_t v = 0; v < N_VARIANTS; ++v) {
        held h = make(SUMS, "SP", VARIANTS[v]);
        give(&h, "x", N, x);
        give(&h, "y", N, x);
        give(&h, "all", 1, x);
        for (int again = 0; again < TIMES; ++again) {
            kit_ok(ctx, atn_built_run(h.built, NULL, h.slots, NULL));
            take(&h, "y", N, again ? z : y);
            if (again) assert_memory_equal(y, z, N * sizeof *y);
        }
        release(&h);
    }
    free(x);
    free(y);
    free(z);
}

int main(void) {
    ctx = kit_ctx();
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    for (int32_t k = 0; k < atn_devices_count(devices) && !device && kit_wants("cuda"); ++k)
        if (strcmp(atn_devices_info(devices, k)->backend, "cuda") == 0)
            kit_ok(ctx, atn_device_open(devices, k, &device));
    if (!device) print_message("    no device of backend cuda here\n");
    const struct CMUnitTest tests[] = {cmocka_unit_test(scans), cmocka_unit_test(repeats)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (device) atn_device_close(device);
    atn_devices_free(devices);
    kit_free(ctx);
    return failed;
}
