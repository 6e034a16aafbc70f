/* Graphs of poses: noise is averaged as covariances say, wrong links lose their weight, long chains are solved. */
#include "testkit.h"

#include "apps/align/graph.h"
#include "base/random.h"
#include "geom/eigen.h"

#include <math.h>
#include <string.h>

enum { NODES = 24, MOST_LINKS = 200 };
static const double TURN = 0.002, SHIFT = 0.004; /* deviations of a link along each axis */

typedef struct made {
    geom_pose truth[NODES], pose[NODES];
    graph_link link[MOST_LINKS];
    graph g;
    atn_random random;
} made;

static geom_pose any_pose(atn_random *random, double turn, double shift) {
    double twist[6];
    for (int k = 0; k < 6; ++k) twist[k] = (k < 3 ? turn : shift) * atn_random_normal(random);
    return geom_pose_exp(twist);
}

/* Measured from the truth, with noise from the left. */
static void add_link(made *m, size_t source, size_t target, double noise) {
    graph_link *l = &m->g.link[m->g.links++];
    geom_pose back, error = any_pose(&m->random, noise * TURN, noise * SHIFT);
    *l = (graph_link){.source = source, .target = target};
    geom_pose_invert(&m->truth[target], &back);
    l->measured = geom_pose_compose(&back, &m->truth[source]);
    l->measured = geom_pose_compose(&error, &l->measured);
    for (int k = 0; k < 6; ++k) l->information[7 * k] = 1 / (k < 3 ? TURN * TURN : SHIFT * SHIFT);
}

static void begin(made *m, atn_ctx *ctx, uint64_t seed) {
    memset(m, 0, sizeof *m);
    atn_random_seed(&m->random, seed);
    m->g = (graph){.ctx = ctx, .nodes = NODES, .pose = m->pose, .link = m->link, .anchor = 0};
    m->truth[0] = m->pose[0] = GEOM_IDENTITY;
    for (size_t k = 1; k < NODES; ++k) m->truth[k] = any_pose(&m->random, 1, 2);
}

/* Starts along the first links, which are a chain. */
static void start_along_chain(made *m) {
    for (size_t k = 1; k < NODES; ++k) {
        const graph_link *l = &m->link[k - 1];
        m->pose[k] = geom_pose_compose(&m->pose[l->target], &l->measured);
    }
}

static double error_of(const made *m, size_t node, double twist[6]) {
    geom_pose back, off;
    double sum = 0;
    geom_pose_invert(&m->truth[node], &back);
    off = geom_pose_compose(&m->pose[node], &back);
    geom_pose_log(&off, twist);
    for (int k = 0; k < 3; ++k) sum += twist[k] * twist[k];
    return sqrt(sum);
}

/* With many loops the worst node is better than a chain's end, and errors are as large as covariances say. */
KIT_TEST(averages) {
    enum { SEEDS = 20 };
    atn_ctx *ctx = kit_ctx();
    static made m;
    double chi2 = 0;
    for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
        double covariance[36], inverse[36], twist[6];
        begin(&m, ctx, seed);
        for (size_t k = 1; k < NODES; ++k) add_link(&m, k, k - 1, 1);
        for (size_t k = 0; k < NODES; ++k)
            for (size_t n = k + 2; n < NODES; n += 5) add_link(&m, n, k, 1);
        start_along_chain(&m);
        kit_ok(ctx, graph_optimise(&m.g));
        assert_true(m.g.spread2 < 2);
        for (size_t k = 0; k < m.g.links; ++k) assert_true(m.link[k].weight > 0.2);
        kit_ok(ctx, graph_covariance(&m.g, NODES - 1, covariance));
        error_of(&m, NODES - 1, twist);
        assert_true(geom_invert_symmetric(6, covariance, inverse));
        for (int i = 0; i < 6; ++i)
            for (int k = 0; k < 6; ++k) chi2 += twist[i] * inverse[6 * i + k] * twist[k];
    }
    chi2 /= SEEDS; /* 6 on average, with a deviation of sqrt(12 / 20) = 0.77; spreads above 1 make it smaller */
    if (!(chi2 > 2.5 && chi2 < 9)) fail_msg("chi2 is %g on average", chi2);
    kit_free(ctx);
}

/* A fifth of the loops is wrong by degrees: poses are as good as without them. */
KIT_TEST(wrong_links_do_not_count) {
    atn_ctx *ctx = kit_ctx();
    static made m;
    double twist[6];
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        size_t wrong = 0;
        begin(&m, ctx, seed);
        for (size_t k = 1; k < NODES; ++k) add_link(&m, k, k - 1, 1);
        for (size_t k = 0; k < NODES; ++k)
            for (size_t n = k + 2; n < NODES; n += 4) add_link(&m, n, k, wrong++ % 5 == 4 ? 60 : 1);
        start_along_chain(&m);
        kit_ok(ctx, graph_optimise(&m.g));
        for (size_t k = NODES - 1, loop = 0; k < m.g.links; ++k, ++loop)
            if (loop % 5 == 4 ? m.link[k].weight > 0.1 : m.link[k].weight < 0.2)
                fail_msg("seed %d: link %zu has chi2 %g and weight %g", (int)seed, k, m.link[k].chi2, m.link[k].weight);
        for (size_t k = 0; k < NODES; ++k)
            if (!(error_of(&m, k, twist) < 6 * TURN)) fail_msg("node %zu is %g off", k, error_of(&m, k, twist));
    }
    kit_free(ctx);
}

/* Exact links: exact poses, from a start that is far off. */
KIT_TEST(closes_a_chain) {
    atn_ctx *ctx = kit_ctx();
    static made m;
    double twist[6];
    begin(&m, ctx, 3);
    for (size_t k = 1; k < NODES; ++k) add_link(&m, k, k - 1, 0);
    add_link(&m, NODES - 1, 0, 0);
    start_along_chain(&m);
    for (size_t k = 1; k < NODES; ++k) {
        geom_pose off = any_pose(&m.random, 0.05, 0.05);
        m.pose[k] = geom_pose_compose(&off, &m.pose[k]);
    }
    kit_ok(ctx, graph_optimise(&m.g));
    for (size_t k = 0; k < NODES; ++k) assert_true(error_of(&m, k, twist) < 1e-7);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(averages), cmocka_unit_test(wrong_links_do_not_count),
                                       cmocka_unit_test(closes_a_chain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
