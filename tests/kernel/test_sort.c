/* Sorting through the shipped programs, against qsort of the C library: keys of 32 and 64 bits, unsigned, signed and
 * descending, real numbers with NaN, infinities and both zeros; stable; any size. On the host and, where there is one,
 * on an OpenCL or a CUDA device; and the oracle. */
#include "testkit.h"

#include "graph/routine.h"
#include "graph/shipped.h"
#include "plan/run.h"

#include <attune/attune.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static atn_ctx *ctx;
static atn_devices *devices;

/* What is sorted: a program, its keys, and how they are ordered. */
typedef struct sort_case {
    const char *program;
    atn_type type; /* of the keys' array */
    int columns;   /* 1: a vector */
    double flip;   /* NAN: as the program has it */
} sort_case;

static const sort_case CASES[] = {
    {"sort", ATN_INT32, 1, NAN},         {"sort", ATN_INT32, 1, INT32_MIN},   {"sort", ATN_INT32, 1, -1},
    {"sort", ATN_INT32, 1, INT32_MAX},   {"sort64", ATN_INT32, 2, NAN},       {"sort64", ATN_INT32, 2, INT32_MIN},
    {"sort64", ATN_INT32, 2, -1},        {"sort64", ATN_INT32, 2, INT32_MAX}, {"sort_real", ATN_SP, 1, NAN},
    {"sort_real", ATN_SP, 1, INT32_MAX}, {"sort_real64", ATN_DP, 1, NAN},     {"sort_real64", ATN_DP, 1, INT32_MAX},
};
enum { N_CASES = sizeof CASES / sizeof *CASES, ANY = 0, FEW, EQUAL, SORTED, REVERSED, KINDS, SIMULATED = 101 };

static bool is_wide(const sort_case *c) { return c->type == ATN_DP || c->columns == 2; }
static bool is_real(const sort_case *c) { return c->type != ATN_INT32; }

/* ---- plain C ---- */

typedef struct pair {
    int64_t whole; /* unsigned where `as_unsigned` */
    double real;
    int32_t value;
} pair;

static struct { bool real, as_unsigned, descending; } rule;

static int rank_of(double x) { return isnan(x) ? 3 : x != 0 ? (x > 0) * 2 : 1; } /* of signs, NaN behind all */

static int by_key(const pair *a, const pair *b) {
    if (!rule.real && rule.as_unsigned)
        return ((uint64_t)a->whole > (uint64_t)b->whole) - ((uint64_t)a->whole < (uint64_t)b->whole);
    if (!rule.real) return (a->whole > b->whole) - (a->whole < b->whole);
    int x = rank_of(a->real), y = rank_of(b->real);
    if (x != y || x == 3) return x - y;
    if (a->real == 0 && b->real == 0) return !!signbit(b->real) - !!signbit(a->real);
    return (a->real > b->real) - (a->real < b->real);
}

static int in_order(const void *a, const void *b) {
    const pair *x = a, *y = b;
    int key = rule.descending ? by_key(y, x) : by_key(x, y);
    return key ? key : (x->value > y->value) - (x->value < y->value);
}

/* ---- keys ---- */

static double draw_real(int what, int64_t k, int64_t n, uint64_t *seed) {
    static const double ODD[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 1e-40, -1e-40, 1};
    uint64_t any = kit_random(seed);
    if (what == EQUAL) return -1.5;
    if (what == SORTED || what == REVERSED) return (double)(what == SORTED ? k : n - k) - (double)n / 2;
    if (what == FEW || any % 4 == 0) return any % 64 == 1 ? -NAN : ODD[any / 64 % 8];
    return ((double)(any % 2000001) - 1e6) * pow(2, (double)(any / 2000001 % 100) - 50);
}

static uint64_t draw_whole(int what, int64_t k, int64_t n, uint64_t *seed) {
    uint64_t any = kit_random(seed) << 32 ^ kit_random(seed);
    return what == ANY ? any : what == FEW ? any % 5 - 2 : what == EQUAL ? 77 : (uint64_t)(what == SORTED ? k : n - k);
}

/* Fills keys, and what they are for plain C. */
static void draw(const sort_case *c, int what, int64_t n, void *keys, int32_t *values, pair *right) {
    uint64_t seed = (uint64_t)(n * 7 + what) + 1;
    for (int64_t k = 0; k < n; ++k) {
        right[k].value = values[k] = (int32_t)k;
        uint64_t whole = draw_whole(what, k, n, &seed);
        double real = draw_real(what, k, n, &seed);
        if (c->type == ATN_SP) right[k].real = ((float *)keys)[k] = (float)real;
        if (c->type == ATN_DP) right[k].real = ((double *)keys)[k] = real;
        if (is_real(c)) continue;
        if (is_wide(c)) right[k].whole = (int64_t)(((uint64_t *)keys)[k] = whole);
        bool is_unsigned = isnan(c->flip) || c->flip == -1;
        if (!is_wide(c)) ((uint32_t *)keys)[k] = (uint32_t)whole;
        if (!is_wide(c)) right[k].whole = is_unsigned ? (int64_t)(uint32_t)whole : (int64_t)(int32_t)(uint32_t)whole;
    }
    rule.real = is_real(c);
    rule.as_unsigned = isnan(c->flip) || c->flip == -1;
    rule.descending = c->flip == -1 || c->flip == INT32_MAX;
    qsort(right, (size_t)n, sizeof *right, in_order);
}

/* The bytes of keys and values are where plain C has them. */
static void compare(const sort_case *c, int what, int64_t n, const void *before, const void *keys,
                    const int32_t *values, const pair *right) {
    size_t bytes = is_wide(c) ? 8 : 4;
    for (int64_t k = 0; k < n; ++k) {
        const char *from = (const char *)before + (size_t)right[k].value * bytes,
                   *at = (const char *)keys + (size_t)k * bytes;
        bool nan = is_real(c) && isnan(right[k].real);
        if (values[k] != right[k].value || (!nan && memcmp(at, from, bytes) != 0))
            fail_msg("%s, flip %g, kind %d, %lld keys: wrong at %lld", c->program, c->flip, what, (long long)n,
                     (long long)k);
    }
}

/* ---- on a device ---- */

typedef struct sorter {
    const sort_case *c;
    atn_program *program;
    void *keys, *before;
    int32_t *values;
    pair *right;
} sorter;

static sorter open_sorter(const sort_case *c, int64_t n) {
    size_t room = (size_t)n + 1;
    return (sorter){.c = c,
                    .keys = calloc(room, 8),
                    .before = calloc(room, 8),
                    .values = calloc(room, 4),
                    .right = calloc(room, sizeof(pair))};
}

static void close_sorter(sorter *s) {
    atn_program_free(s->program);
    free(s->keys), free(s->before), free(s->values), free(s->right);
}

static void on_device(atn_device *device, const sort_case *c, int64_t n, double per) {
    sorter s = open_sorter(c, n);
    atn_array *key, *value;
    kit_ok(ctx, atn_program_create(device, c->program, NULL, &s.program));
    if (c->columns == 2)
        kit_ok(ctx, atn_array_create_matrix(device, c->type, n, 2, 0, &key));
    else
        kit_ok(ctx, atn_array_create_vector(device, c->type, n, &key));
    kit_ok(ctx, atn_array_create_vector(device, ATN_INT32, n, &value));
    kit_ok(ctx, atn_program_bind(s.program, "key", key));
    kit_ok(ctx, atn_program_bind(s.program, "value", value));
    kit_ok(ctx, atn_program_param(s.program, "per", per, 0));
    if (!isnan(c->flip)) kit_ok(ctx, atn_program_param(s.program, "flip", c->flip, 0));
    for (int what = 0; what < (n > 1 ? KINDS : 1); ++what) {
        draw(c, what, n, s.keys, s.values, s.right);
        memcpy(s.before, s.keys, (size_t)n * (is_wide(c) ? 8 : 4));
        kit_ok(ctx, atn_array_put(key, s.keys, 0));
        kit_ok(ctx, atn_array_put(value, s.values, 0));
        kit_ok(ctx, atn_program_run(s.program));
        kit_ok(ctx, atn_array_get(key, s.keys, 0));
        kit_ok(ctx, atn_array_get(value, s.values, 0));
        compare(c, what, n, s.before, s.keys, s.values, s.right);
    }
    atn_array_free(key), atn_array_free(value);
    close_sorter(&s);
}

/* One case in `every` today. */
static void on(const char *backend, const int64_t *sizes, size_t count, size_t every) {
    atn_device *device = NULL;
    if (!kit_wants(backend)) skip();
    for (int32_t k = 0; k < atn_devices_count(devices) && !device; ++k)
        if (strcmp(atn_devices_info(devices, k)->backend, backend) == 0)
            kit_ok(ctx, atn_device_open(devices, k, &device));
    if (!device) {
        print_message("    no device of backend %s here\n", backend);
        skip();
    }
    for (size_t c = 0; c < N_CASES; ++c)
        for (size_t k = 0; k < count && kit_turn(c, every); ++k)
            on_device(device, &CASES[c], sizes[k], sizes[k] > 100000 ? 4096 : sizes[k] == SIMULATED ? 40 : 300);
    atn_device_close(device);
}

KIT_TEST(host) { on("host", (const int64_t[]){0, 1, 2, 301, 20021}, 5, 1); }

/* What it scatters by is its own, whatever the caller says: counters of 16 bits never run over. */
KIT_TEST(blocks_of_any_size) {
    static const double PER[] = {-3, 0, 1, 65536, 70001, INT32_MAX};
    if (!kit_wants("host")) skip();
    atn_device *device = kit_open_host(ctx);
    for (size_t k = 0; k < sizeof PER / sizeof *PER; ++k)
        on_device(device, &CASES[0], PER[k] < 2 ? 301 : 70001, PER[k]);
    atn_device_close(device);
}

KIT_TEST(opencl) {
    if (getenv("ATTUNE_TEST_SMALL")) /* Oclgrind, which loses track of large buffers that are filled */
        on("opencl", (const int64_t[]){SIMULATED}, 1, N_CASES);
    else
        on("opencl", (const int64_t[]){0, 601}, 2, 3);
}

KIT_TEST(cuda) {
    if (getenv("ATTUNE_TEST_SMALL")) /* under a sanitizer */
        on("cuda", (const int64_t[]){0, 1, SIMULATED, 4099}, 4, 3);
    else
        on("cuda", (const int64_t[]){0, 1, 2, 299, 301, 4099, 1000003}, 7, 1);
}

/* ---- the oracle ---- */

KIT_TEST(oracle) {
    enum { N = 41 };
    for (size_t k = 0; k < N_CASES; ++k) {
        const sort_case *c = &CASES[k];
        sorter s = open_sorter(c, N);
        atn_programs *programs;
        atn_plan *plan;
        atn_planned *planned;
        int64_t bad, size[4][ATN_MAX_RANK] = {{N, 1, 1}, {N, 1, 1}};
        double value[4][2] = {{0}, {0}, {isnan(c->flip) ? is_real(c) ? INT32_MIN : 0 : c->flip, 0}, {7, 0}};
        if (c->columns == 2) size[0][0] = 2, size[0][1] = N;
        const char *text = atn_shipped_find(c->program);
        assert_non_null(text);
        kit_ok(ctx, atn_programs_parse(ctx, c->program, text, strlen(text), NULL, NULL, &programs));
        kit_ok(ctx, atn_plan_expand(ctx, programs, &(atn_plan_given){.size = size, .value = value}, &plan));
        kit_ok(ctx, atn_planned_create(ctx, plan, &planned));
        draw(c, FEW, N, s.keys, s.values, s.right);
        memcpy(s.before, s.keys, N * 8);
        for (int32_t head = 0; head < 2; ++head) {
            atn_slot slot = atn_planned_slot(planned, head);
            slot.view.data = head ? (void *)s.values : s.keys;
            atn_planned_bind(planned, head, &slot);
        }
        kit_ok(ctx, atn_planned_eval(planned, &bad));
        assert_int_equal(bad, 0);
        compare(c, FEW, N, s.before, s.keys, s.values, s.right);
        atn_planned_free(planned);
        atn_programs_free(programs);
        close_sorter(&s);
    }
}

int main(void) {
    ctx = kit_ctx();
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    const struct CMUnitTest tests[] = {cmocka_unit_test(host), cmocka_unit_test(blocks_of_any_size),
                                       cmocka_unit_test(opencl), cmocka_unit_test(cuda), cmocka_unit_test(oracle)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    atn_devices_free(devices);
    kit_free(ctx);
    return failed;
}
