/* The property test. Each seed is one graph with its inputs; several variants of it are drawn, built, run and compared.
 */
#include "random_cases.h"

#include "support/held.h"
#include "support/random_graph.h"
#include "testkit.h"

#include <stdlib.h>
#include <string.h>

enum { VARIANTS = 4, DRAWS = 12 };

typedef struct tally {
    int cases, graphs, refused;
} tally;

static void fail_case(const random_graph *g, const atn_device *device, const atn_variant *v, atn_status status) {
    atn_text text = {.ctx = g->ctx};
    atn_variant_print(v, &text);
    print_message("%s\n", atn_text_str(&g->xml));
    fail_msg("seed %llu on %s, variant '%s': %s: %s", (unsigned long long)g->seed, atn_device_get_info(device)->name,
             atn_text_str(&text), atn_status_name(status), atn_ctx_message(g->ctx));
}

/* Up to VARIANTS different variants of one graph: the plain one, the estimate, then drawn ones. */
static void hold_graph(random_graph *g, atn_device *device, tally *t) {
    const atn_device_info *info = atn_device_get_info(device);
    bool host = strcmp(info->backend, "host") == 0;
    uint64_t random = g->seed * 2654435761u + 12345;
    held_case c = {g->graph, g->views, (const double(*)[2])g->params};
    for (int32_t n = 0, held = 0; n < DRAWS && held < VARIANTS; ++n) {
        atn_variant v = n == 0   ? atn_variant_plain()
                        : n == 1 ? atn_variant_estimate(g->graph, info, NULL)
                                 : random_variant(g->graph, host, &random);
        atn_target target = atn_target_of(info);
        if (!atn_variant_fits(g->graph, &v, &target, NULL)) {
            ++t->refused;
            continue;
        }
        if (atn_eval_check(g->ctx, g->graph, &g->frame) != ATN_OK) return;
        atn_eval_options options = atn_variant_arithmetic(g->graph, &v, info);
        atn_eval_result *oracle;
        kit_ok(g->ctx, atn_eval_run(g->ctx, g->graph, &g->frame, &options, &oracle));
        atn_status status = held_run(device, &c, &v, oracle);
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

void random_cases(const char *backend, int cases) {
    setenv("ATTUNE_HOST_FLAGS", "-O1",
           0); /* many small builds: compilers at ease; the shipped kernels get all of them */
    setenv("ATTUNE_OPENCL_FLAGS", "-cl-opt-disable", 0);
    atn_ctx *ctx = kit_ctx();
    atn_devices *devices;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    const char *first = getenv("ATTUNE_TEST_SEED"), *many = getenv("ATTUNE_TEST_CASES");
    uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
    int wanted = many ? atoi(many) : cases, found = 0;
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        if (strcmp(atn_devices_info(devices, d)->backend, backend) != 0) continue;
        atn_device *device;
        tally t = {0};
        kit_ok(ctx, atn_device_open(devices, d, &device));
        ++found;
        for (uint64_t s = seed; t.cases < wanted; ++s) {
            random_graph g;
            if (random_graph_make(ctx, s, &g) != ATN_OK)
                fail_msg("seed %llu: %s\n%s", (unsigned long long)s, atn_ctx_message(ctx), atn_text_str(&g.xml));
            if (atn_device_get_info(device)->fp64 || !needs_doubles(g.graph)) hold_graph(&g, device, &t);
            random_graph_free(&g);
        }
        print_message("    %d cases of %d graphs on %s, from seed %llu (%d variants do not exist)\n", t.cases, t.graphs,
                      atn_device_get_info(device)->name, (unsigned long long)seed, t.refused);
        atn_device_close(device);
    }
    atn_devices_free(devices);
    kit_free(ctx);
    if (!found) {
        print_message("    no device of backend %s here\n", backend);
        skip();
    }
}
