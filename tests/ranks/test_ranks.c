/* Ranks: alone, and, where this program is started by mpirun (tests/ranks/mpi.sh), as many as there are: sums are the
 * same on all to the last bit, parcels arrive whole, a failure of one is the failure of all with its words. */
#include "base/memory.h"
#include "ranks/ranks.h"
#include "testkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    atn_ctx *ctx;
    atn_ranks *r;
} fixture;

static fixture here;

KIT_TEST(test_sum) {
    static const size_t COUNTS[] = {0, 1, 7, 5000}; /* gathered at once, and in shares */
    for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; ++c) {
        size_t n = COUNTS[c];
        double *own = malloc((n + 1) * sizeof *own), *low = malloc((n + 1) * sizeof *low);
        for (size_t k = 0; k < n; ++k) own[k] = 0.1 * here.r->rank + (double)k, low[k] = -(double)k * here.r->rank;
        kit_ok(here.ctx, atn_ranks_sum(here.r, ATN_OK, own, n));
        kit_ok(here.ctx, atn_ranks_least(here.r, ATN_OK, low, n));
        for (size_t k = 0; k < n; ++k) {
            double sum = (double)k;
            for (int32_t rank = 1; rank < here.r->count; ++rank) sum += 0.1 * rank + (double)k; /* in that order */
            assert_true(own[k] == sum);
            assert_true(low[k] == -(double)k * (here.r->count - 1));
        }
        free(own);
        free(low);
    }
}

KIT_TEST(test_gather) {
    int32_t own[3] = {here.r->rank, 7, -here.r->rank}, word = here.r->rank ? 0 : 99;
    int32_t(*all)[3] = malloc((size_t)here.r->count * sizeof *all);
    kit_ok(here.ctx, atn_ranks_allgather(here.r, ATN_OK, own, sizeof own, all));
    for (int32_t k = 0; k < here.r->count; ++k) assert_true(all[k][0] == k && all[k][1] == 7 && all[k][2] == -k);
    kit_ok(here.ctx, atn_ranks_broadcast(here.r, ATN_OK, 0, &word, sizeof word));
    assert_int_equal(word, 99);
    free(all);
}

/* Rank a sends b bytes of a to rank b, none to the first. */
KIT_TEST(test_exchange) {
    size_t n = (size_t)here.r->count;
    atn_ranks_parcel *out = calloc(n, sizeof *out), *in = calloc(n, sizeof *in);
    char bytes[64];
    memset(bytes, here.r->rank, sizeof bytes);
    for (size_t k = 0; k < n; ++k) out[k] = (atn_ranks_parcel){bytes, k};
    kit_ok(here.ctx, atn_ranks_exchange(here.r, ATN_OK, out, in));
    for (size_t k = 0; k < n; ++k) {
        assert_int_equal(in[k].bytes, here.r->rank);
        for (size_t b = 0; b < in[k].bytes; ++b) assert_int_equal(((char *)in[k].data)[b], (char)k);
    }
    atn_ranks_free_parcels(here.r, in);
    free(out);
    free(in);
}

/* Rank a has a bytes a. */
KIT_TEST(test_lists) {
    char own[64], *at;
    size_t total, rank = (size_t)here.r->rank, n = (size_t)here.r->count;
    void *all;
    memset(own, here.r->rank, sizeof own);
    kit_ok(here.ctx, atn_ranks_gather(here.r, ATN_OK, own, rank, &all, &total));
    assert_int_equal(total, n * (n - 1) / 2);
    at = all;
    for (size_t k = 0; k < n; ++k)
        for (size_t b = 0; b < k; ++b) assert_int_equal(*at++, (char)k);
    atn_free(here.ctx, all);
}

KIT_TEST(test_compare) {
    int32_t other, own = here.r->rank < 2 ? 7 : here.r->rank;
    kit_ok(here.ctx, atn_ranks_compare(here.r, ATN_OK, &own, sizeof own, &other));
    assert_int_equal(other, here.r->count > 2 ? 2 : 0);
}

/* All others tell the first one their number. */
KIT_TEST(test_messages) {
    int32_t word = here.r->rank, seen = 0, from;
    size_t bytes;
    bool there;
    if (here.r->rank) kit_ok(here.ctx, atn_ranks_send(here.r, 0, &word, sizeof word));
    while (here.r->rank == 0 && seen < here.r->count - 1) {
        kit_ok(here.ctx, atn_ranks_probe(here.r, &from, &bytes, &there));
        if (!there) continue;
        assert_int_equal(bytes, sizeof word);
        kit_ok(here.ctx, atn_ranks_receive(here.r, from, &word, bytes));
        assert_int_equal(word, from);
        ++seen;
    }
    kit_ok(here.ctx, atn_ranks_agree(here.r, ATN_OK));
    if (here.r->count > 1) return;
    kit_ok(here.ctx, atn_ranks_probe(here.r, &from, &bytes, &there));
    assert_false(there);
    kit_fails(here.ctx, ATN_ERR_IO, "no other ranks", atn_ranks_send(here.r, 0, &word, sizeof word));
    here.r->broken = false;
}

/* Each rank writes its number into a place of all others and reads it back from the next; all count together. */
KIT_TEST(test_window) {
    atn_ranks_window w;
    int32_t n = here.r->count, self = here.r->rank, next = (self + 1) % n, word = 100 + self, got = 0;
    size_t numbers = (size_t)n * sizeof word, at = (numbers + 7) / 8 * 8;
    kit_ok(here.ctx, atn_ranks_share(here.r, ATN_OK, at + 8, at + 8, &w));
    for (int32_t k = 0; k < n; ++k)
        kit_ok(here.ctx, atn_ranks_put(here.r, &w, k, (size_t)self * sizeof word, &word, sizeof word));
    kit_ok(here.ctx, atn_ranks_get(here.r, &w, next, (size_t)self * sizeof word, &got, sizeof got));
    assert_int_equal(got, word);
    int32_t list[64] = {0};
    atn_ranks_piece piece[64];
    assert_true(n <= 64);
    for (int32_t k = 0; k < n; ++k) piece[k] = (atn_ranks_piece){k, (size_t)self * sizeof word, sizeof word, &list[k]};
    kit_ok(here.ctx, atn_ranks_move(here.r, &w, piece, (size_t)n, false));
    for (int32_t k = 0; k < n; ++k) assert_int_equal(list[k], word), list[k] = 100 + self;
    kit_ok(here.ctx, atn_ranks_move(here.r, &w, piece, (size_t)n, true));
    int64_t before, last = -1;
    double sum = 0;
    for (int k = 0; k < 50; ++k, last = before, sum += (double)before) {
        kit_ok(here.ctx, atn_ranks_add(here.r, &w, 0, at, 1, &before));
        assert_true(before > last);
    }
    kit_ok(here.ctx, atn_ranks_sum(here.r, ATN_OK, &sum, 1));
    assert_true(sum == 25.0 * n * (50.0 * n - 1)); /* each number once */
    for (int32_t k = 0; k < n; ++k) assert_int_equal(((int32_t *)w.memory)[k], 100 + k);
    atn_ranks_unshare(here.r, &w);
    assert_null(w.memory);
    kit_ok(here.ctx, atn_ranks_share(here.r, ATN_OK, 0, 0, &w)); /* nothing to share */
    atn_ranks_unshare(here.r, &w);
    atn_ranks_unshare(here.r, &w);
}

/* Lists that are shorter than there are ranks, and longer than a piece. */
KIT_TEST(test_fill) {
    static const size_t COUNTS[] = {0, 1, 3, 7, 400000};
    for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; ++c) {
        size_t n = COUNTS[c], from = atn_ranks_cut(here.r, n, here.r->rank);
        uint64_t(*list)[3] = calloc(n + 1, sizeof *list);
        for (size_t k = from; k < atn_ranks_cut(here.r, n, here.r->rank + 1); ++k)
            for (size_t d = 0; d < 3; ++d) list[k][d] = 5 * k + d;
        kit_ok(here.ctx, atn_ranks_fill(here.r, ATN_OK, list, n, sizeof *list));
        bool good = true;
        for (size_t k = 0; k < n; ++k)
            for (size_t d = 0; d < 3; ++d) good = good && list[k][d] == 5 * k + d;
        assert_true(good && list[n][0] == 0);
        free(list);
    }
}

KIT_TEST(test_failure) {
    double number = 1;
    atn_status own = ATN_OK;
    if (here.r->rank == here.r->count - 1) own = atn_fail(here.ctx, ATN_ERR_INPUT, "a planted failure");
    kit_fails(here.ctx, ATN_ERR_INPUT, "a planted failure", atn_ranks_sum(here.r, own, &number, 1));
    if (here.r->count > 1) kit_fails(here.ctx, ATN_ERR_INPUT, "a planted", atn_ranks_agree(here.r, ATN_OK));
}

KIT_TEST(test_cut) {
    atn_ranks r = {.count = 4};
    static const size_t WANTED[][5] = {{0, 0, 0, 0, 0}, {0, 1, 1, 1, 1}, {0, 2, 4, 5, 6}};
    static const size_t TOTALS[] = {0, 1, 6};
    for (size_t k = 0; k < 3; ++k)
        for (int32_t rank = 0; rank <= 4; ++rank) assert_int_equal(atn_ranks_cut(&r, TOTALS[k], rank), WANTED[k][rank]);
}

KIT_TEST(test_wrong_word) {
    atn_ranks *r;
    char *before = kit_getenv("ATTUNE_RANKS");
    setenv("ATTUNE_RANKS", "some", 1);
    kit_fails(here.ctx, ATN_ERR_INPUT, "ATTUNE_RANKS cannot be 'some'", atn_ranks_join(here.ctx, &r));
    assert_null(r);
    kit_setenv("ATTUNE_RANKS", before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),     cmocka_unit_test(test_gather),    cmocka_unit_test(test_lists),
        cmocka_unit_test(test_compare), cmocka_unit_test(test_exchange),  cmocka_unit_test(test_messages),
        cmocka_unit_test(test_window),  cmocka_unit_test(test_fill),      cmocka_unit_test(test_failure),
        cmocka_unit_test(test_cut),     cmocka_unit_test(test_wrong_word)};
    here.ctx = kit_ctx();
    if (atn_ranks_join(here.ctx, &here.r) != ATN_OK) {
        fprintf(stderr, "%s\n", atn_ctx_message(here.ctx));
        return 1;
    }
    const char *wanted = getenv("ATTUNE_TEST_RANKS"); /* how many there must be */
    bool good = here.r->count == (wanted ? atoi(wanted) : 1);
    if (!good) fprintf(stderr, "%d ranks instead of %s\n", (int)here.r->count, wanted ? wanted : "1");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    atn_ranks_leave(here.r);
    kit_free(here.ctx);
    return failed || !good;
}
