/* Holds random programs under random plans against the oracle: a plan that is only expanded, step by step. */
#include "random_programs.h"

#include "num/array.h"
#include "plan/program.h"
#include "plan/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 8 };

typedef struct held {
    const random_program *of;
    const atn_ctx *ctx;
    atn_device *device;
    atn_programs *programs; /* the oracle's */
    atn_program *program;
    atn_array *arrays[MOST_HEAD]; /* NULL: nobody wants the result */
    double w, k;
    uint64_t random;
    int sizes; /* which set */
} held;

typedef struct tally {
    int programs, runs, steps, fused, seams, queues;
} tally;

static void fail_case(const held *h, int run, const char *what) {
    fprintf(stderr, "%s\n%s\n", atn_text_str(&h->of->text), h->program ? atn_program_explain(h->program) : "");
    fail_msg("seed %llu on %s, run %d, w = %g, k = %g: %s", (unsigned long long)h->of->seed,
             atn_device_get_info(h->device)->name, run, h->w, h->k, what);
}

static void must(const held *h, int run, atn_status status) {
    char what[512];
    snprintf(what, sizeof what, "%s: %s", atn_status_name(status), atn_ctx_message(h->ctx));
    if (status != ATN_OK) fail_case(h, run, what);
}

static void bind(held *h) {
    for (int k = 0; k < h->of->n_head; ++k) {
        const random_datum *d = &h->of->head[k];
        const int64_t *size = d->size[h->sizes];
        atn_array *before = h->arrays[k];
        if (d->use == RANDOM_OUT && (h->of->seed + (uint64_t)k) % 8 == 0) continue;
        if (d->rank == 2)
            must(h, -1,
                 atn_array_create_matrix(h->device, d->type, size[1], size[0], size[0] + k % 2 * 3, &h->arrays[k]));
        else
            must(h, -1, atn_array_create_vector(h->device, d->type, size[0], &h->arrays[k]));
        must(h, -1, atn_program_bind(h->program, d->name, h->arrays[k]));
        atn_array_free(before);
    }
}

/* New inputs; results hold what nobody computes. */
static void fill(held *h) {
    for (int k = 0; k < h->of->n_head; ++k) {
        if (!h->arrays[k]) continue;
        void *data;
        must(h, -1, atn_array_map_write(h->arrays[k], &data));
        atn_slot slot = atn_array_slot(h->arrays[k]);
        slot.view.data = data;
        bool poison = h->of->head[k].use == RANDOM_OUT;
        for (int64_t y = 0; y < (slot.view.rank == 2 ? slot.view.size[1] : 1); ++y)
            for (int64_t x = 0; x < slot.view.size[0]; ++x) {
                int64_t whole = poison ? 77777 : (int64_t)(kit_random(&h->random) % 41) - 20;
                atn_element_store(slot.view.type, (double[]){(double)whole, 0}, whole, atn_view_at(&slot.view, x, y));
            }
    }
}

typedef struct oracle {
    atn_planned *planned;
    void *data[MOST_HEAD];
} oracle;

/* The same inputs through the oracle. */
static oracle evaluate(const held *h, int run) {
    oracle o = {0};
    const atn_routine *routine = h->programs->routines[h->programs->main];
    int64_t size[MOST_HEAD + 2][ATN_MAX_RANK];
    double value[MOST_HEAD + 2][2] = {{0}};
    int at[MOST_HEAD + 2];
    for (int32_t k = 0; k < routine->n_head; ++k) {
        size[k][0] = size[k][1] = at[k] = -1;
        size[k][2] = 1;
        value[k][0] = !strcmp(routine->names[k].name, "w") ? h->w : h->k;
        for (int j = 0; j < h->of->n_head && routine->names[k].rank; ++j)
            if (!strcmp(h->of->head[j].name, routine->names[k].name)) at[k] = j;
        if (at[k] >= 0) memcpy(size[k], h->of->head[at[k]].size[h->sizes], sizeof h->of->head[0].size[0]);
    }
    atn_plan *plan;
    must(h, run, atn_plan_expand(h->ctx, h->programs, &(atn_plan_given){.size = size, .value = value}, &plan));
    must(h, run, atn_planned_create(h->ctx, plan, &o.planned));
    for (int32_t k = 0; k < routine->n_head; ++k) {
        if (at[k] < 0) continue;
        const random_datum *d = &h->of->head[at[k]];
        size_t bytes = (size_t)(size[k][0] * size[k][1]) * atn_type_bytes(d->type);
        o.data[at[k]] = calloc(1, bytes + 16);
        if (h->arrays[at[k]]) must(h, run, atn_array_get(h->arrays[at[k]], o.data[at[k]], size[k][0]));
        atn_slot slot = atn_planned_slot(o.planned, k);
        slot.view.data = o.data[at[k]];
        atn_planned_bind(o.planned, k, &slot);
    }
    int64_t bad = 0;
    must(h, run, atn_planned_eval(o.planned, &bad));
    if (bad) fail_case(h, run, "the program touches elements that are not there");
    return o;
}

static void compare(const held *h, int run, const oracle *o) {
    for (int k = 0; k < h->of->n_head; ++k) {
        const random_datum *d = &h->of->head[k];
        if (!h->arrays[k]) continue;
        const int64_t *size = d->size[h->sizes], bytes = (int64_t)atn_type_bytes(d->type);
        char *got = malloc((size_t)(size[0] * size[1] * bytes) + 16);
        must(h, run, atn_array_get(h->arrays[k], got, size[0]));
        int64_t b = d->margin, rows = d->rank == 2 ? b : 0;
        for (int64_t y = rows; y < size[1] - rows; ++y)
            for (int64_t x = b; x < size[0] - b; ++x) {
                double is[2], right[2];
                int64_t whole, at = (y * size[0] + x) * bytes;
                atn_element_load(d->type, got + at, is, &whole);
                atn_element_load(d->type, (char *)o->data[k] + at, right, &whole);
                if (is[0] == right[0]) continue;
                char what[160];
                snprintf(what, sizeof what, "%s[%lld, %lld] is %g, %g is right (%lld x %lld)", d->name, (long long)y,
                         (long long)x, is[0], right[0], (long long)size[1], (long long)size[0]);
                fail_case(h, run, what);
            }
        free(got);
    }
}

static void run_once(held *h, int run, tally *t) {
    fill(h);
    oracle o = evaluate(h, run);
    must(h, run, atn_program_run(h->program));
    compare(h, run, &o);
    const char *note = atn_program_note(h->program), *right = atn_planned_note(o.planned);
    if ((note != NULL) != (right != NULL) || (note && strcmp(note, right) != 0)) fail_case(h, run, "another note");
    for (int k = 0; k < h->of->n_head; ++k) free(o.data[k]);
    atn_planned_free(o.planned);
    ++t->runs;
}

static void give(held *h, double w, double k) {
    h->w = w;
    h->k = k;
    must(h, -1, atn_program_param(h->program, "w", w, 0));
    must(h, -1, atn_program_param(h->program, "k", k, 0));
}

/* Each seam fused, not fused, or as the estimate says: all alike, or mixed. */
static void choose_seams(held *h) {
    int8_t wanted[64];
    static const int8_t ALL[] = {-1, 0, 1, 1};
    uint64_t how = h->of->seed / 3 % 6;
    for (int k = 0; k < 64; ++k) wanted[k] = (int8_t)(how < 4 ? ALL[how] : (int)(kit_random(&h->random) % 3) - 1);
    must(h, -1, atn_program_seams(h->program, wanted, 64));
}

/* ---- the order of steps in several queues ---- */

static int32_t place_of(const atn_plan *plan, const char *name) {
    int32_t root = atn_plan_root(plan, atn_plan_array_find(plan, name));
    return plan->arrays[root].piece >= 0 ? plan->arrays[root].piece : plan->n_pieces + root;
}

static bool share_memory(const atn_plan *plan, const atn_graph *a, const atn_graph *b) {
    for (int32_t j = 0; j < a->n_objects; ++j)
        for (int32_t k = 0; k < b->n_objects; ++k)
            if ((a->objects[j].written || b->objects[k].written) &&
                place_of(plan, a->objects[j].name) == place_of(plan, b->objects[k].name))
                return true;
    return false;
}

/* Of two steps of a row that touch the same memory, one of them writing, the later one waits for the earlier one. */
static void check_order(const held *h, const atn_plan *plan) {
    size_t n = (size_t)plan->n_nodes;
    bool *before = calloc(n * n + 1, 1); /* [j * n + i]: i is done when j begins */
    int32_t last[ATN_PLAN_QUEUES] = {-1, -1, -1, -1}, row = 0;
    for (int32_t j = 0; j < plan->n_nodes; ++j) {
        const atn_plan_node *node = &plan->nodes[j];
        if (node->kind == ATN_NODE_GONE) continue;
        if (node->kind != ATN_NODE_STEP) {
            row = j + 1;
            for (int q = 0; q < ATN_PLAN_QUEUES; ++q) last[q] = -1;
            continue;
        }
        for (int q = 0; q < ATN_PLAN_QUEUES; ++q) {
            int32_t i = q == node->queue ? last[q] : node->after[q];
            for (int32_t k = row; k <= i; ++k)
                before[(size_t)j * n + (size_t)k] |= k == i || before[(size_t)i * n + (size_t)k];
        }
        last[node->queue] = j;
        for (int32_t i = row; i < j; ++i)
            if (plan->nodes[i].kind == ATN_NODE_STEP && !before[(size_t)j * n + (size_t)i] &&
                share_memory(plan, plan->nodes[i].graph, node->graph))
                fail_case(h, -1, "two steps touch the same memory at the same time");
    }
    free(before);
}

static void hold_program(const atn_ctx *ctx, atn_device *device, const random_program *of, bool few, tally *t) {
    held h = {.of = of, .ctx = ctx, .device = device, .random = of->seed * 77 + 5};
    const char *text = atn_text_str(&of->text);
    must(&h, -1, atn_programs_parse(ctx, "random", text, strlen(text), NULL, NULL, &h.programs));
    must(&h, -1, atn_program_create(device, text, NULL, &h.program));
    choose_seams(&h);
    if (few) atn_program_any_size(h.program);
    atn_program_queues(h.program, (int32_t)(of->seed / 5 % 5)); /* 0: as the device says */
    bind(&h);
    give(&h, (double)(of->seed % 5) - 1, (double)(of->seed / 7 % 3));
    for (int run = 0; run < RUNS; ++run) {
        if (run == 3) give(&h, h.w + 1, h.k); /* the third of each kind is one launch */
        if (run == 5) bind(&h);
        run_once(&h, run, t);
    }
    const atn_plan *plan = atn_program_get_plan(h.program);
    check_order(&h, plan);
    t->seams += plan->n_seams;
    for (int32_t k = 0; k < plan->n_seams; ++k) t->fused += plan->seams[k].fused;
    for (int32_t k = 0; k < plan->n_nodes; ++k) t->steps += plan->nodes[k].kind == ATN_NODE_STEP;
    t->queues += plan->queues > 1;
    if (of->seed % 8 == 0) { /* other sizes, other counts */
        h.sizes = 1;
        give(&h, h.w, (double)((of->seed / 7 + 1) % 3));
        bind(&h);
        run_once(&h, RUNS, t);
    }
    ++t->programs;
    for (int k = 0; k < of->n_head; ++k) atn_array_free(h.arrays[k]);
    atn_program_free(h.program);
    atn_programs_free(h.programs);
}

void random_programs(const char *backend, int programs, int days, bool few) {
    setenv("ATTUNE_HOST_FLAGS", "-O1", 0); /* many small builds */
    setenv("ATTUNE_OPENCL_FLAGS", "-cl-opt-disable", 0);
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    const char *given = getenv("ATTUNE_TEST_SEED");
    uint64_t count = (uint64_t)kit_cases(getenv("ATTUNE_TEST_ALL") ? programs : programs / days);
    uint64_t first = given ? strtoull(given, NULL, 10) : 1 + (uint64_t)(kit_day() % days * (programs / days));
    int found = 0;
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        if (strcmp(atn_devices_info(devices, d)->backend, backend) != 0) continue;
        atn_device *device;
        kit_ok(ctx, atn_device_open(devices, d, &device));
        ++found;
        tally t = {0};
        for (uint64_t seed = first; seed < first + count; ++seed) {
            random_program of;
            random_program_make(ctx, seed, few, &of);
            if (of.type != ATN_DP || atn_device_get_info(device)->fp64) hold_program(ctx, device, &of, few, &t);
            random_program_free(&of);
        }
        print_message("    %d programs, %d runs on %s from seed %llu: %d steps, %d of %d seams fused, %d in "
                      "several queues\n",
                      t.programs, t.runs, atn_device_get_info(device)->name, (unsigned long long)first, t.steps,
                      t.fused, t.seams, t.queues);
        atn_device_close(device);
    }
    atn_devices_free(devices);
    kit_free(ctx);
    if (!found) {
        print_message("    no device of backend %s here\n", backend);
        skip();
    }
}
