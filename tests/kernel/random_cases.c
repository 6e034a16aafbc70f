/* The property test. Each seed is one graph with its inputs; several variants of it are drawn, built, run and compared.
 */
#include "random_cases.h"

#include "support/held.h"
#include "support/random_graph.h"
#include "testkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIANTS = 4, DRAWS = 12 };

typedef struct tally {
    int cases, graphs, refused, reported, unguarded, unoptimised;
} tally;

/* What is drawn, and how much of it. */
typedef struct sort {
    const char *backend;
    atn_status (*make)(const atn_ctx *ctx, uint64_t seed, random_graph *out);
    int variants; /* of each graph */
    int cases;    /* in all, or */
    int graphs;   /* graphs in all */
} sort;

static void fail_case(const random_graph *g, const atn_device *device, const atn_variant *v, atn_status status) {
    atn_text text = {.ctx = g->ctx};
    atn_variant_print(v, &text);
    fprintf(stderr, "%s\n", atn_text_str(&g->xml)); /* whole: print_message cuts it off */
    fail_msg("seed %llu on %s, variant '%s': %s: %s", (unsigned long long)g->seed, atn_device_get_info(device)->name,
             atn_text_str(&text), atn_status_name(status), atn_ctx_message(g->ctx));
}

/* May its gathers go unguarded? Where every one of them is known to be inside. */
static bool is_earned(const random_graph *g, const atn_eval_result *oracle) {
    return g->integers && oracle->bad_accesses == 0;
}

/* PoCL 5.0 leaves out the last round of loops that items take unequally often, but only where it does not optimise
 * (seed 56): there, what is wrong counts if it is wrong as users have it, too. */
static atn_status run(atn_device *device, const held_case *c, const atn_variant *v, const atn_eval_result *oracle,
                      tally *t) {
    static const char FLAGS[] = "ATTUNE_OPENCL_FLAGS";
    atn_status status = held_run(device, c, v, oracle);
    bool newer_pocl = strncmp(atn_device_get_info(device)->name, "cpu-", 4) == 0; /* "pthread-" before */
    if (status == ATN_OK || status == ATN_ERR_UNSUPPORTED || !newer_pocl) return status;
    const char *given = getenv(FLAGS);
    char *flags = given ? strdup(given) : NULL;
    unsetenv(FLAGS);
    status = held_run(device, c, v, oracle);
    if (flags) setenv(FLAGS, flags, 1);
    free(flags);
    t->unoptimised += status == ATN_OK;
    return status;
}

/* Some variants of one graph: the plain one, the estimate, then drawn ones. */
static void hold_graph(random_graph *g, atn_device *device, const sort *of, tally *t) {
    const atn_device_info *info = atn_device_get_info(device);
    bool host = strcmp(info->backend, "host") == 0;
    uint64_t random = g->seed * 2654435761u + 12345;
    held_case c = {g->graph, g->views, (const double(*)[2])g->params};
    for (int32_t n = of->variants < VARIANTS ? (int32_t)(g->seed % 3) : 0, held = 0, last = n + DRAWS;
         n < last && held < of->variants; ++n) {
        atn_variant v = n == 0   ? atn_variant_plain()
                        : n == 1 ? atn_variant_estimate(g->graph, info, NULL)
                                 : random_variant(g->graph, host, &random);
        atn_target target = atn_target_of(info);
        if (g->integers && n > 0) v.guard = (g->seed + (uint64_t)n) % 2;
        if (!atn_variant_fits(g->graph, &v, &target, NULL)) {
            ++t->refused;
            continue;
        }
        if (atn_eval_check(g->ctx, g->graph, &g->frame) != ATN_OK) return;
        atn_eval_options options = atn_variant_arithmetic(g->graph, &v, info);
        atn_eval_result *oracle;
        kit_ok(g->ctx, atn_eval_run(g->ctx, g->graph, &g->frame, &options, &oracle));
        if (!v.guard && !is_earned(g, oracle)) {
            v.guard = 1;
            if (!atn_variant_fits(g->graph, &v, &target, NULL)) v.index = 64;
        }
        atn_status status = run(device, &c, &v, oracle, t);
        t->reported += status == ATN_OK && oracle->bad_accesses > 0;
        t->unguarded += status == ATN_OK && !v.guard;
        atn_eval_free(oracle);
        if (status == ATN_ERR_UNSUPPORTED) {
            ++t->refused;
            continue;
        }
        if (status != ATN_OK) fail_case(g, device, &v, status);
        ++held;
        ++t->cases;
    }
    ++t->graphs;
}

static bool needs_doubles(const atn_graph *g) {
    for (atn_value v = 0; v < g->n_values; ++v)
        if (g->values[v].type == ATN_DP || g->values[v].type == ATN_DP2) return true;
    return false;
}

static bool is_enough(const sort *of, const tally *t) {
    return of->graphs ? t->graphs >= of->graphs : t->cases >= of->cases;
}

static void hold_device(const atn_ctx *ctx, atn_device *device, const sort *of, uint64_t seed) {
    tally t = {0};
    for (uint64_t s = seed; !is_enough(of, &t); ++s) {
        random_graph g;
        bool made = of->make(ctx, s, &g) == ATN_OK;
        if (!made && strstr(atn_ctx_message(ctx), "give it a boundary")) { /* drawn at a constant that is no element */
            random_graph_free(&g);
            continue;
        }
        if (!made) fail_msg("seed %llu: %s\n%s", (unsigned long long)s, atn_ctx_message(ctx), atn_text_str(&g.xml));
        if (atn_device_get_info(device)->fp64 || !needs_doubles(g.graph)) hold_graph(&g, device, of, &t);
        random_graph_free(&g);
    }
    print_message("    %d cases of %d graphs on %s, from seed %llu (%d variants do not exist; %d reported accesses out "
                  "of range, %d without guards, %d wrong only where the driver does not optimise)\n",
                  t.cases, t.graphs, atn_device_get_info(device)->name, (unsigned long long)seed, t.refused, t.reported,
                  t.unguarded, t.unoptimised);
}

enum { DAYS = 8, GRAPHS = 25 }; /* seeds begin elsewhere every day, among those that all cases go through */

static void hold(const sort *of) {
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    const char *first = getenv("ATTUNE_TEST_SEED");
    int found = 0;
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        if (strcmp(atn_devices_info(devices, d)->backend, of->backend) != 0) continue;
        atn_device *device;
        kit_ok(ctx, atn_device_open(devices, d, &device));
        ++found;
        hold_device(ctx, device, of, first ? strtoull(first, NULL, 10) : 1 + (uint64_t)kit_day() % DAYS * GRAPHS);
        atn_device_close(device);
    }
    atn_devices_free(devices);
    kit_free(ctx);
    if (!found) {
        print_message("    no device of backend %s here\n", of->backend);
        skip();
    }
}

void random_cases(const char *backend, int cases) {
    setenv("ATTUNE_HOST_FLAGS", "-O1",
           0); /* many small builds: compilers at ease; the shipped kernels get all of them */
    setenv("ATTUNE_OPENCL_FLAGS", "-cl-opt-disable", 0);
    hold(&(sort){.backend = backend, .make = random_graph_make, .variants = VARIANTS, .cases = (int)kit_cases(cases)});
}

void random_integers(const char *backend, int graphs) {
#ifdef __SANITIZE_ADDRESS__
    setenv("ATTUNE_HOST_FLAGS", "-O1 -fsanitize=address", 0); /* what is generated is watched too */
#endif
    hold(&(sort){
        .backend = backend, .make = random_graph_make_integers, .variants = 1, .graphs = (int)kit_cases(graphs)});
}

void random_scans(const char *backend, int cases) {
    setenv("ATTUNE_HOST_FLAGS", "-O1", 0);
    setenv("ATTUNE_OPENCL_FLAGS", "-cl-opt-disable", 0);
    hold(&(sort){
        .backend = backend, .make = random_graph_make_scans, .variants = VARIANTS, .cases = (int)kit_cases(cases)});
}
