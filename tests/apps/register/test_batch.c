/* Batches: small pairs side by side come out as they do one after the other, in order, and a bad one stops no other. */
#include "apps/register/problem.h"
#include "regkit.h"

#include <math.h>

enum { PAIRS = 5 };

typedef struct order {
    size_t next;
    bool right;
} order;

static void in_order(void *user, size_t pair) {
    order *o = user;
    o->right = o->right && pair == o->next++;
}

/* Pairs of few points, each another turn; the third has an empty source. */
typedef struct clouds {
    atn_cloud *source[PAIRS], *target;
    double motion[PAIRS][16];
} clouds;

static void make(atn_ctx *ctx, size_t points, clouds *out) {
    static const double AXIS[3] = {0.3, -0.5, 0.8}, SHIFT[3] = {0.02, 0.01, -0.03};
    out->target = shape_make(ctx, &(shape){.points = points, .seed = 3});
    for (int k = 0; k < PAIRS; ++k) {
        double back[16];
        motion_make(1 + k, AXIS, 1, SHIFT, out->motion[k]);
        motion_invert(out->motion[k], back);
        out->source[k] = shape_make(ctx, &(shape){.points = k == 2 ? 0 : points, .seed = 3, .back = back});
    }
}

static void drop(clouds *c) {
    for (int k = 0; k < PAIRS; ++k) atn_cloud_free(c->source[k]);
    atn_cloud_free(c->target);
}

static void ask(const clouds *c, atn_register_pair *pairs) {
    for (int k = 0; k < PAIRS; ++k)
        pairs[k] = (atn_register_pair){.source = c->source[k], .target = c->target, .init = ATN_START_IDENTITY};
}

/* The second time with what the first left; the last time one after the other: a profile is asked for. */
KIT_TEST(each_comes_out_in_its_turn) {
    kit_host host = host_open();
    clouds c;
    atn_register_pair pairs[3][PAIRS];
    make(host.ctx, 400, &c);
    for (int time = 0; time < 3; ++time) {
        order seen = {.right = true};
        atn_register_settings settings = {.done = in_order, .done_user = &seen, .profile = time == 2};
        ask(&c, pairs[time]);
        kit_ok(host.ctx, atn_register_batch(host.device, PAIRS, pairs[time], &settings));
        assert_true(seen.right);
        assert_int_equal(seen.next, PAIRS);
        for (int k = 0; k < PAIRS; ++k) {
            const atn_register_pair *pair = &pairs[time][k];
            assert_int_equal(pair->status, k == 2 ? ATN_ERR_INPUT : ATN_OK);
            assert_string_equal(pair->result.reason, pairs[0][k].result.reason);
            if (k == 2) kit_contains(pair->message, "no points");
            for (int i = 0; i < 16; ++i)
                assert_true(fabs(pair->result.transform[i] - pairs[0][k].result.transform[i]) < 1e-5);
            if (k == 2) continue;
            assert_int_equal(pair->result.verdict, ATN_VERDICT_TRUSTED);
            assert_true(turn_between(pair->result.transform, c.motion[k]) < 0.05);
            assert_true(pair->result.peak_bytes > 100000 && pair->result.peak_bytes < 20000000);
        }
    }
    drop(&c);
    host_close(&host);
}

static bool enough(void *user, const atn_register_step *step) {
    (void)step;
    return --*(int *)user > 0;
}

/* Whoever watches sees pairs of his own thread, and can stop all of them. */
KIT_TEST(it_stops_when_asked) {
    kit_host host = host_open();
    clouds c;
    atn_register_pair pairs[PAIRS];
    order seen = {.right = true};
    int left = 3;
    make(host.ctx, 400, &c);
    ask(&c, pairs);
    atn_register_settings settings = {.watch = enough, .watch_user = &left, .done = in_order, .done_user = &seen};
    assert_int_equal(atn_register_batch(host.device, PAIRS, pairs, &settings), ATN_ERR_CANCELLED);
    assert_true(seen.right && seen.next >= 1 && seen.next < PAIRS);
    assert_int_equal(pairs[seen.next - 1].status, ATN_ERR_CANCELLED);
    drop(&c);
    host_close(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_comes_out_in_its_turn),
        cmocka_unit_test(it_stops_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
