/* Batches: small pairs side by side come out as they do one after the other, in order, and a bad one stops no other. */
#include "apps/register/workplace.h"
#include "regkit.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* Pairs of many kinds: usual ones of several sizes, from a start, from where they lie and from anywhere; with no, one
 * and two points; with all at one place; of things that have nothing to do with each other; and far off a start. */
enum { KINDS = 14 };
typedef struct kinds {
    atn_cloud *source[KINDS], *target[KINDS];
    double start[KINDS][16];
    atn_register_start init[KINDS];
} kinds;

static void make_kinds(atn_ctx *ctx, kinds *out) {
    static const double AXIS[3] = {0.3, -0.5, 0.8}, SHIFT[3] = {0.02, 0.01, -0.03}, AWAY[3] = {30, 0, 0};
    static const size_t POINTS[KINDS] = {400, 800, 37, 0, 1, 2, 500, 400, 900, 300, 500, 4, 600, 150};
    for (int k = 0; k < KINDS; ++k) {
        double motion[16], back[16], off[16];
        bool lost = k == 9;
        motion_make(3 + 2 * k, AXIS, 1, lost ? AWAY : SHIFT, motion);
        motion_make(2, AXIS, 1, SHIFT, off);
        motion_invert(motion, back);
        out->target[k] = shape_make(ctx, &(shape){.points = POINTS[k] + 60, .seed = 3});
        out->source[k] = shape_make(ctx, &(shape){.points = POINTS[k],
                                                  .seed = k == 7 ? 11 : 3,
                                                  .noise = 0.005,
                                                  .noise_seed = 5 + (uint64_t)k,
                                                  .back = back});
        for (int i = 0; i < 16; ++i) {
            out->start[k][i] = 0;
            for (int j = 0; j < 4; ++j) out->start[k][i] += off[i / 4 * 4 + j] * motion[4 * j + i % 4];
        }
        if (lost) memcpy(out->start[k], (double[16]){1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, sizeof off);
        out->init[k] = k % 3 == 0 || lost ? ATN_START_GIVEN : k % 3 == 1 ? ATN_START_IDENTITY : ATN_START_AUTO;
    }
    double none[9] = {0};
    atn_cloud_free(out->source[11]);
    out->source[11] = NULL;
    kit_ok(ctx, atn_cloud_create(ctx, 3, none, NULL, &out->source[11]));
}

static void ask_kinds(const kinds *c, size_t count, atn_register_pair *pairs) {
    for (size_t k = 0; k < count; ++k) {
        size_t of = k % KINDS;
        pairs[k] = (atn_register_pair){.source = c->source[of],
                                       .target = c->target[of],
                                       .start = c->init[of] == ATN_START_GIVEN ? c->start[of] : NULL,
                                       .init = c->init[of]};
    }
}

/* Both calls back, which must not come at the same time. */
typedef struct callbacks {
    order seen;
    atomic_bool inside, together;
    size_t calls;
} callbacks;

static void enter(callbacks *c) {
    if (atomic_exchange(&c->inside, true)) atomic_store(&c->together, true);
    ++c->calls;
}

static bool look_on(void *user, const atn_register_step *step) {
    (void)step;
    enter(user);
    atomic_store(&((callbacks *)user)->inside, false);
    return true;
}

static void take_one(void *user, size_t pair) {
    callbacks *c = user;
    enter(c);
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    in_order(&c->seen, pair);
    atomic_store(&c->inside, false);
}

/* Steps that are made together come out as those of each pair alone, to what another order of sums leaves; the last one
 * had to stop at once. */
KIT_TEST(steps_of_many_pairs_in_one_launch) {
    enum { MANY = KINDS + 3 };
    kit_host host = host_open();
    kinds c = {0};
    atn_register_pair alone[KINDS], *pairs = calloc(MANY, sizeof *pairs);
    callbacks back = {.seen.right = true};
    make_kinds(host.ctx, &c);
    ask_kinds(&c, KINDS, alone);
    atn_register_settings settings = {.profile = true}; /* one after the other */
    kit_ok(host.ctx, atn_register_batch(host.device, KINDS, alone, &settings));
    settings = (atn_register_settings){.watch = look_on, .watch_user = &back, .done = take_one, .done_user = &back};
    ask_kinds(&c, MANY, pairs);
    kit_ok(host.ctx, reg_batch(host.device, MANY, pairs, &settings, true));
    assert_true(back.seen.right && !atomic_load(&back.together));
    assert_int_equal(back.seen.next, MANY);
    assert_true(back.calls > MANY);
    for (int k = 0; k < MANY; ++k) {
        const atn_register_pair *one = &alone[k % KINDS], *own = &pairs[k];
        assert_int_equal(own->status, one->status);
        assert_string_equal(own->message, one->message);
        assert_int_equal(own->result.verdict, one->result.verdict);
        assert_int_equal(own->result.converged, one->result.converged);
        assert_int_equal(own->result.has_covariance, one->result.has_covariance);
        for (int i = 0; i < 6; ++i) {
            double variance = one->result.covariance[7 * i];
            assert_true(fabs(own->result.covariance[7 * i] - variance) <= 0.05 * variance);
        }
        assert_true(fabs(own->result.runner_up - one->result.runner_up) < 0.02);
        assert_true(fabs(own->result.agreement - one->result.agreement) < 0.02);
        for (int i = 0; i < 16 && one->result.verdict == ATN_VERDICT_TRUSTED; ++i)
            assert_true(fabs(own->result.transform[i] - one->result.transform[i]) < 1e-4);
    }
    int left = 9;
    ask_kinds(&c, MANY, pairs);
    settings = (atn_register_settings){.watch = enough, .watch_user = &left};
    kit_fails(host.ctx, ATN_ERR_CANCELLED, "stopped after", reg_batch(host.device, MANY, pairs, &settings, true));
    free(pairs);
    for (int k = 0; k < KINDS; ++k) {
        atn_cloud_free(c.source[k]);
        atn_cloud_free(c.target[k]);
    }
    host_close(&host);
}

/* The same where the device has memory of its own: all that steps read has to be brought there, whichever comes first.
 */
KIT_TEST(steps_on_a_device_with_memory_of_its_own) {
    enum { SOME = 4 };
    static const int OF[SOME] = {0, 1, 8, 0}; /* the first of a batch is registered by itself */
    kit_host host = host_open();
    kinds c = {0};
    atn_register_pair all[KINDS], alone[SOME], pairs[SOME];
    atn_device *device = NULL;
    int32_t index;
    if (atn_devices_pick(host.devices, "opencl", &index) == ATN_OK) {
        kit_ok(host.ctx, atn_device_open(host.devices, index, &device));
        make_kinds(host.ctx, &c);
        ask_kinds(&c, KINDS, all);
        for (int k = 0; k < SOME; ++k) alone[k] = pairs[k] = all[OF[k]];
        kit_ok(host.ctx, atn_register_batch(host.device, SOME, alone, &(atn_register_settings){.profile = true}));
        kit_ok(host.ctx, reg_batch(device, SOME, pairs, NULL, true));
        for (int k = 0; k < SOME; ++k) {
            assert_int_equal(pairs[k].result.verdict, alone[k].result.verdict);
            assert_true(fabs(pairs[k].result.agreement - alone[k].result.agreement) < 0.02);
            for (int i = 0; i < 16; ++i)
                assert_true(fabs(pairs[k].result.transform[i] - alone[k].result.transform[i]) < 1e-4);
        }
        atn_device_close(device);
        for (int k = 0; k < KINDS; ++k) {
            atn_cloud_free(c.source[k]);
            atn_cloud_free(c.target[k]);
        }
    }
    host_close(&host);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_comes_out_in_its_turn),
        cmocka_unit_test(it_stops_when_asked),
        cmocka_unit_test(steps_of_many_pairs_in_one_launch),
        cmocka_unit_test(steps_on_a_device_with_memory_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
