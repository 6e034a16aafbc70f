/* Pieces: each thing is done once, by whoever; a worker that fails in the middle hands its piece to the others; faster
 * ones get more; a failure that is nobody's own ends all. */
#include "base/pieces.h"
#include "testkit.h"

#include <stdatomic.h>
#include <string.h>

enum { MOST = 1000 };

typedef struct job {
    atn_ctx *ctx;
    atomic_int times[MOST]; /* each was done */
    atomic_int calls[8];
    int32_t dies;     /* a worker that is lost in its second piece; -1: none */
    int64_t fails_at; /* a thing that nobody can do; -1: none */
    bool all_are_lost;
} job;

static atn_status work(void *user, int32_t worker, int64_t from, int64_t to) {
    job *j = user;
    int calls = atomic_fetch_add(&j->calls[worker], 1);
    if (j->all_are_lost || (worker == j->dies && calls == 1))
        return atn_fail(j->ctx, ATN_ERR_LOST, "worker %d is lost", (int)worker);
    for (int64_t k = from; k < to; ++k) {
        if (k == j->fails_at) return atn_fail(j->ctx, ATN_ERR_INPUT, "number %d is wrong", (int)k);
        atomic_fetch_add(&j->times[k], 1);
    }
    return ATN_OK;
}

static void once(const job *j, int64_t count) {
    for (int64_t k = 0; k < MOST; ++k) assert_int_equal(j->times[k], k < count);
}

static void test_all(void **state) {
    atn_ctx *ctx = *state;
    static const int64_t COUNTS[] = {0, 1, 2, 7, MOST};
    for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; ++c)
        for (int32_t workers = 1; workers <= 5; workers += 2) {
            job j = {.ctx = ctx, .dies = -1, .fails_at = -1};
            kit_ok(ctx, atn_pieces_run(ctx, "test", COUNTS[c], workers, 0, c == 4 ? 10 : 0, work, &j));
            once(&j, COUNTS[c]);
        }
}

static void test_lost(void **state) {
    atn_ctx *ctx = *state;
    for (int32_t dies = 0; dies < 3; ++dies) {
        job j = {.ctx = ctx, .dies = dies, .fails_at = -1};
        kit_ok(ctx, atn_pieces_run(ctx, "test", MOST, 3, 0, 20, work, &j));
        once(&j, MOST);
        assert_true(j.calls[dies] <= 2);
    }
    job j = {.ctx = ctx, .dies = -1, .fails_at = -1, .all_are_lost = true};
    kit_fails(ctx, ATN_ERR_LOST, "is lost", atn_pieces_run(ctx, "test", MOST, 3, 0, 0, work, &j));
    once(&j, 0);
}

/* The length of a piece that is done in that time. */
static int64_t next_length(atn_pieces *pieces, double seconds) {
    int64_t from, to;
    assert_int_equal(atn_pieces_take(pieces, 0, false, &from, &to), ATN_PIECES_TAKEN);
    atn_pieces_done(pieces, 0, seconds);
    return to - from;
}

/* Whatever is left, and whatever the rate of the first few was. */
static void test_limited_seconds(void **state) {
    atn_ctx *ctx = *state;
    for (int32_t workers = 1; workers < 4; ++workers) {
        atn_pieces *pieces;
        kit_ok(ctx, atn_pieces_make(ctx, 1000000, workers, 0, &pieces));
        atn_pieces_limit_seconds(pieces, 0.5);
        int64_t first = next_length(pieces, 2), slow, fast;
        assert_in_range(first, 1, 10);
        slow = next_length(pieces, 1e-3); /* a piece of 2 s: a quarter as long is wanted */
        assert_true(slow <= first / 4 + 1);
        fast = next_length(pieces, 1e-3);
        assert_true(fast > 50 * slow);
        for (int k = 0; k < 40; ++k) { /* a thousand per second */
            int64_t from, to;
            assert_int_equal(atn_pieces_take(pieces, 0, false, &from, &to), ATN_PIECES_TAKEN);
            fast = to - from;
            atn_pieces_done(pieces, 0, 1e-3 * (double)fast);
        }
        assert_in_range(fast, 490, 510);
        atn_pieces_free(pieces);
    }
}

/* Who is in reserve works only when all others are lost. */
static void test_reserve(void **state) {
    atn_ctx *ctx = *state;
    job quiet = {.ctx = ctx, .dies = -1, .fails_at = -1}, dies = {.ctx = ctx, .dies = 1, .fails_at = -1};
    kit_ok(ctx, atn_pieces_run(ctx, "test", MOST, 2, 1, 20, work, &quiet));
    once(&quiet, MOST);
    assert_int_equal(quiet.calls[0], 0);
    kit_ok(ctx, atn_pieces_run(ctx, "test", MOST, 2, 1, 20, work, &dies));
    once(&dies, MOST);
    assert_true(dies.calls[0] > 0 && dies.calls[1] == 2);
    job only = {.ctx = ctx, .dies = -1, .fails_at = -1};
    kit_ok(ctx, atn_pieces_run(ctx, "test", MOST, 2, 3, 20, work, &only)); /* there is nobody else */
    once(&only, MOST);
}

static void test_failure(void **state) {
    atn_ctx *ctx = *state;
    job j = {.ctx = ctx, .dies = -1, .fails_at = 500};
    kit_fails(ctx, ATN_ERR_INPUT, "number 500 is wrong", atn_pieces_run(ctx, "test", MOST, 4, 0, 7, work, &j));
}

/* One that is ten times as fast takes about ten times as much of what is left. */
static void test_rates(void **state) {
    atn_ctx *ctx = *state;
    atn_pieces *p;
    int64_t from, to, length[2] = {0};
    kit_ok(ctx, atn_pieces_make(ctx, 110000, 2, 0, &p));
    for (int32_t w = 0; w < 2; ++w) {
        assert_int_equal(atn_pieces_take(p, w, false, &from, &to), ATN_PIECES_TAKEN);
        assert_true(to - from < 110000 / 32);
        atn_pieces_done(p, w, (double)(to - from) * (w ? 1 : 10));
    }
    for (int32_t w = 0; w < 2; ++w) {
        assert_int_equal(atn_pieces_take(p, w, false, &from, &to), ATN_PIECES_TAKEN);
        length[w] = to - from;
    }
    assert_true(length[1] > 8 * length[0] && length[0] > 100);
    atn_pieces_free(p);
}

static void test_later(void **state) {
    atn_ctx *ctx = *state;
    atn_pieces *p;
    int64_t from, to;
    kit_ok(ctx, atn_pieces_make(ctx, 1, 2, 0, &p));
    assert_int_equal(atn_pieces_take(p, 0, false, &from, &to), ATN_PIECES_TAKEN);
    assert_int_equal(atn_pieces_take(p, 1, false, &from, &to), ATN_PIECES_LATER);
    assert_true(atn_pieces_give_back(p, 0));
    assert_int_equal(atn_pieces_take(p, 0, false, &from, &to), ATN_PIECES_OVER);
    assert_int_equal(atn_pieces_take(p, 1, true, &from, &to), ATN_PIECES_TAKEN);
    assert_true(from == 0 && to == 1);
    assert_false(atn_pieces_give_back(p, 1));
    atn_pieces_free(p);
}

static int setup(void **state) {
    *state = kit_ctx();
    return 0;
}

static int teardown(void **state) {
    kit_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_all, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_limited_seconds, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_reserve, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_failure, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_rates, setup, teardown),
                                       cmocka_unit_test_setup_teardown(test_later, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
