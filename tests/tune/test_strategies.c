/* What every strategy must do on every space: ask for allowed points only, for none twice, for all of a small space;
 * repeat itself from a seed; take what it did not ask for; survive lack of memory; and be better than chance where a
 * search can be. */
#include "spacekit.h"
#include "tune/replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 64, LONG = 150 };

static bool next_of(void *user, const atn_recorded *recorded, const atn_strategy *strategy, void *self, bool *asked,
                    int64_t *index) {
    int32_t point[8] = {0};
    (void)user;
    if (!strategy->ask(self, point)) return false;
    *index = atn_recorded_find(recorded, point);
    if (*index < 0) fail_msg("%s asks for a point that is not allowed", strategy->name);
    if (asked[*index]) fail_msg("%s asks for point %lld twice", strategy->name, (long long)*index);
    asked[*index] = true;
    return true;
}

static void tell(const atn_recorded *recorded, const atn_strategy *strategy, void *self, int64_t index) {
    atn_score score = atn_recorded_score(recorded, index);
    strategy->tell(self, atn_recorded_point(recorded, index), &score);
}

/* How a domain may be known: in full, without ranks, without its size. */
static atn_domain as_known(const atn_recorded *recorded, int how) {
    atn_domain domain = atn_recorded_domain(recorded);
    if (how > 0) domain.at = NULL;
    if (how > 1) domain.size = 0;
    return domain;
}

static void follow(atn_ctx *ctx, const atn_recorded *recorded, const atn_strategy *strategy, int how) {
    int64_t n = atn_recorded_points(recorded), index, count = 0, most = n <= SMALL ? n : LONG;
    atn_domain domain = as_known(recorded, how);
    bool *asked = calloc((size_t)n + 1, sizeof *asked);
    void *self;
    kit_ok(ctx, atn_strategy_begin(strategy, ctx, &domain, 7, how ? 0 : most, &self));
    while (count < most && next_of(NULL, recorded, strategy, self, asked, &index)) {
        tell(recorded, strategy, self, index);
        ++count;
    }
    if (count < most) fail_msg("%s stops after %lld of %lld points", strategy->name, (long long)count, (long long)n);
    int32_t point[8];
    if (n <= SMALL) assert_false(strategy->ask(self, point));
    assert_false(atn_strategy_lost(self));
    atn_strategy_end(strategy, self);
    free(asked);
}

KIT_TEST(every_space) {
    atn_ctx *ctx = kit_ctx();
    for (const kit_space *space = KIT_SPACES; space->name; ++space) {
        atn_recorded *recorded = kit_space_record(ctx, space);
        for (const atn_strategy *const *s = ATN_STRATEGIES; *s; ++s)
            for (int how = 0; how < 3; ++how) follow(ctx, recorded, *s, how);
        atn_recorded_free(recorded);
    }
    kit_free(ctx);
}

/* ---- seeds ---- */

static uint64_t trace(atn_ctx *ctx, const atn_recorded *recorded, const atn_strategy *strategy, uint64_t seed) {
    atn_domain domain = atn_recorded_domain(recorded);
    bool *asked = calloc((size_t)atn_recorded_points(recorded), sizeof *asked);
    int64_t index;
    uint64_t sum = 0;
    void *self;
    kit_ok(ctx, atn_strategy_begin(strategy, ctx, &domain, seed, 100, &self));
    for (int k = 0; k < 100 && next_of(NULL, recorded, strategy, self, asked, &index); ++k) {
        tell(recorded, strategy, self, index);
        sum = sum * 31 + (uint64_t)index;
    }
    atn_strategy_end(strategy, self);
    free(asked);
    return sum;
}

KIT_TEST(seeds) {
    atn_ctx *ctx = kit_ctx();
    atn_recorded *recorded = kit_space_record(ctx, kit_space_find("bumpy"));
    for (const atn_strategy *const *s = ATN_STRATEGIES; *s; ++s) {
        uint64_t one = trace(ctx, recorded, *s, 1);
        if (one != trace(ctx, recorded, *s, 1)) fail_msg("%s does not repeat itself", (*s)->name);
        if (strcmp((*s)->name, "exhaustive") != 0 && one == trace(ctx, recorded, *s, 2))
            fail_msg("%s does the same from every seed", (*s)->name);
    }
    atn_recorded_free(recorded);
    kit_free(ctx);
}

/* ---- tells in any order ---- */

/* What is known from before is not asked for again, and points may be told late, backwards and twice. */
KIT_TEST(told_unasked) {
    atn_ctx *ctx = kit_ctx();
    atn_recorded *recorded = kit_space_record(ctx, kit_space_find("failing"));
    int64_t n = atn_recorded_points(recorded), batch[20];
    for (const atn_strategy *const *s = ATN_STRATEGIES; *s; ++s) {
        atn_domain domain = atn_recorded_domain(recorded);
        bool *asked = calloc((size_t)n, sizeof *asked);
        void *self;
        kit_ok(ctx, atn_strategy_begin(*s, ctx, &domain, 3, 0, &self));
        for (int64_t k = 0; k < n; k += 5) { /* many more than a model holds */
            tell(recorded, *s, self, k);
            asked[k] = true;
        }
        for (int round = 0; round < 8; ++round) {
            for (int k = 0; k < 20; ++k) assert_true(next_of(NULL, recorded, *s, self, asked, &batch[k]));
            for (int k = 20; k-- > 0;) tell(recorded, *s, self, batch[k]);
            atn_score worse = {.outcome = ATN_OUTCOME_HANG, .seconds = INFINITY};
            (*s)->tell(self, atn_recorded_point(recorded, batch[0]), &worse);
            int32_t outside[8] = {-1, 99, 0, 0};
            (*s)->tell(self, outside, &worse);
        }
        assert_false(atn_strategy_lost(self));
        atn_strategy_end(*s, self);
        free(asked);
    }
    atn_recorded_free(recorded);
    kit_free(ctx);
}

/* ---- a space that nobody can list ---- */

static bool wide_allows(void *self, const int32_t *point) {
    int64_t sum = 0;
    for (int32_t k = 0; k < 12; ++k) sum += point[k];
    return (void)self, sum % 7 == 0;
}

static bool wide_draw(void *self, uint64_t (*random)(void *user), void *user, int32_t *point) {
    do
        for (int32_t k = 0; k < 12; ++k) point[k] = (int32_t)(random(user) % 1000);
    while (!wide_allows(self, point));
    return true;
}

KIT_TEST(wide_space) {
    atn_ctx *ctx = kit_ctx();
    double number[1000];
    const double *numbers[12];
    int32_t levels[12], point[12] = {0};
    bool ordered[12];
    for (int k = 0; k < 1000; ++k) number[k] = k;
    for (int k = 0; k < 12; ++k) {
        numbers[k] = number;
        levels[k] = 1000;
        ordered[k] = k != 3;
    }
    atn_domain domain = {.n_parameters = 12,
                         .levels = levels,
                         .number = numbers,
                         .ordered = ordered,
                         .allows = wide_allows,
                         .draw = wide_draw};
    for (const atn_strategy *const *s = ATN_STRATEGIES; *s; ++s) {
        void *self;
        kit_ok(ctx, atn_strategy_begin(*s, ctx, &domain, 1, 0, &self));
        for (int k = 0; k < 120; ++k) {
            assert_true((*s)->ask(self, point));
            assert_true(wide_allows(NULL, point));
            double seconds = 1;
            for (int d = 0; d < 12; ++d) seconds += fabs(point[d] - 300.0);
            atn_score score = {.outcome = ATN_OUTCOME_RIGHT, .seconds = seconds, .usable = true};
            (*s)->tell(self, point, &score);
        }
        atn_strategy_end(*s, self);
    }
    kit_free(ctx);
}

/* ---- how good ---- */

/* Scores on all spaces where searching pays, and on the one where nothing can be learnt. Seeds 1 to 12, 100
 * evaluations; the margins are those of the strategies' worst case here, halved. */
KIT_TEST(better_than_chance) {
    static const struct {
        const char *strategy;
        double above;  /* chance, averaged over the spaces */
        double lowest; /* on any of them */
    } WANTED[] = {{"portfolio", 0.25, 0.1},
                  {"model", 0.25, 0.1},
                  {"local", 0.15, 0},
                  {"evolutionary", 0.15, 0},
                  {"annealing", 0.1, -0.1}};
    atn_ctx *ctx = kit_ctx();
    atn_replay_options options = {.evaluations = 100, .repeats = 12, .seed = 1};
    for (size_t w = 0; w < sizeof WANTED / sizeof *WANTED; ++w) {
        double sum = 0;
        int n = 0;
        for (const kit_space *space = KIT_SPACES; space->name; ++space) {
            bool nothing = strcmp(space->name, "rugged") == 0;
            if (!space->search_pays && !nothing) continue;
            atn_recorded *recorded = kit_space_record(ctx, space);
            atn_replay_result chance, ours;
            kit_ok(ctx, atn_replay(ctx, recorded, atn_strategy_find("random"), &options, &chance));
            kit_ok(ctx, atn_replay(ctx, recorded, atn_strategy_find(WANTED[w].strategy), &options, &ours));
            double above = ours.score - chance.score;
            print_message("    %-12s %-8s %6.3f, chance %6.3f, optimum found %3.0f %%\n", ours.strategy, space->name,
                          ours.score, chance.score, 100 * ours.found);
            if (!nothing && above < WANTED[w].lowest) fail_msg("%s is bad on %s", ours.strategy, space->name);
            if (nothing && above < -0.35) fail_msg("%s is much worse than chance where nothing helps", ours.strategy);
            sum += nothing ? 0 : above;
            n += !nothing;
            atn_recorded_free(recorded);
        }
        if (sum / n < WANTED[w].above) fail_msg("%s is only %.3f above chance", WANTED[w].strategy, sum / n);
    }
    kit_free(ctx);
}

/* ---- lack of memory ---- */

static void search_with(atn_ctx *ctx, const kit_faults *faults, const atn_recorded *recorded,
                        const atn_strategy *strategy) {
    atn_domain domain = atn_recorded_domain(recorded);
    void *self;
    long before = faults->live;
    if (atn_strategy_begin(strategy, ctx, &domain, 5, 60, &self) == ATN_OK) {
        int32_t point[8] = {0};
        int k = 0;
        for (; k < 60 && strategy->ask(self, point); ++k)
            tell(recorded, strategy, self, atn_recorded_find(recorded, point));
        if (faults->fail_at && faults->count >= faults->fail_at)
            assert_true(atn_strategy_lost(self));
        else
            assert_int_equal(k, 60);
        atn_strategy_end(strategy, self);
    } else
        assert_null(self);
    assert_int_equal(faults->live, before);
}

KIT_TEST(no_memory) {
    for (const atn_strategy *const *s = ATN_STRATEGIES; *s; ++s) {
        kit_faults faults = {0};
        atn_ctx_settings options = kit_fault_options(&faults);
        atn_ctx *ctx;
        assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
        atn_recorded *recorded = kit_space_record(ctx, kit_space_find("failing"));
        long start = faults.count, n = 0;
        do {
            faults.count = start;
            faults.fail_at = start + ++n;
            search_with(ctx, &faults, recorded, *s);
        } while (faults.count >= faults.fail_at);
        faults.fail_at = 0;
        atn_recorded_free(recorded);
        atn_ctx_free(ctx);
        assert_int_equal(faults.live, 0);
    }
}

KIT_TEST(names) {
    assert_ptr_equal(atn_strategy_find(NULL), ATN_STRATEGIES[0]);
    assert_ptr_equal(atn_strategy_find("default"), ATN_STRATEGIES[0]);
    assert_string_equal(ATN_STRATEGIES[0]->name, "portfolio");
    assert_null(atn_strategy_find("nonsense"));
    assert_string_equal(atn_outcome_name(ATN_OUTCOME_RIGHT), "right");
    assert_string_equal(atn_outcome_name(ATN_OUTCOME_STARTED), "started");
    assert_string_equal(atn_outcome_name(ATN_OUTCOME_COUNT), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),        cmocka_unit_test(every_space), cmocka_unit_test(seeds),
        cmocka_unit_test(told_unasked), cmocka_unit_test(wide_space),  cmocka_unit_test(better_than_chance),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
