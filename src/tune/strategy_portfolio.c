/* The default: several strategies share the evaluations, all of them informed of every result. Each has a share that
 * follows how often what it asked for was among the best tenth of what is known; none has less than a small one, since
 * what works at the start need not be what works at the end, and no model fits every space. */
#include "base/memory.h"
#include "tune/search.h"

#include <math.h>

/* The first begins, and has most of the credit until the others have shown what they can. */
static const atn_strategy *const MEMBERS[] = {&ATN_STRATEGY_MODEL, &ATN_STRATEGY_EVOLUTIONARY, &ATN_STRATEGY_LOCAL};
enum {
    N_MEMBERS = sizeof MEMBERS / sizeof *MEMBERS,
    LEADS = 16, /* evaluations before the others take part */
    BEST = 16,  /* of the fastest: what counts as a success is to come in among the first tenth of what is known */
};
static const double FLOOR = 0.05, FADES = 0.95, FIRST_CREDIT = 0.5;

typedef struct portfolio {
    atn_search search; /* first */
    void *member[N_MEMBERS];
    double success[N_MEMBERS]; /* fading mean of its successes */
    int32_t *asker;            /* per index: which strategy asked; -1: none */
    size_t asker_room;
    double fastest[BEST]; /* values, ascending */
    int32_t n_fastest;
} portfolio;

static void end(void *self) {
    portfolio *p = self;
    for (int32_t k = 0; k < N_MEMBERS; ++k) atn_strategy_end(MEMBERS[k], p->member[k]);
    atn_free(p->search.ctx, p->asker);
}

static atn_status begin(void *self) {
    portfolio *p = self;
    const atn_search *s = &p->search;
    atn_status status = ATN_OK;
    for (int32_t k = 0; k < N_MEMBERS && !status; ++k) {
        p->success[k] = k ? 0 : FIRST_CREDIT;
        status = atn_strategy_begin(MEMBERS[k], s->ctx, s->domain, atn_random_next(&p->search.random), s->evaluations,
                                    &p->member[k]);
    }
    return status;
}

/* ---- asking ---- */

static int32_t choose(portfolio *p) {
    double share[N_MEMBERS], sum = 0;
    if (p->search.told < LEADS) return 0;
    for (int32_t k = 0; k < N_MEMBERS; ++k) sum += share[k] = fmax(p->success[k] * p->success[k], 1e-9);
    double at = atn_random_unit(&p->search.random), passed = 0;
    for (int32_t k = 0; k < N_MEMBERS; ++k) {
        passed += FLOOR + (1 - N_MEMBERS * FLOOR) * share[k] / sum;
        if (at < passed) return k;
    }
    return 0;
}

/* A point that a member asks for and that is new to all. */
static bool ask_member(portfolio *p, int32_t k, int32_t *point) {
    while (MEMBERS[k]->ask(p->member[k], point))
        if (atn_search_find(&p->search, point) == ATN_NOWHERE) return true;
    p->search.lost |= atn_strategy_lost(p->member[k]);
    return false;
}

static bool note_asker(portfolio *p, int64_t place, int32_t member) {
    if (place == ATN_NOWHERE) return false;
    while (p->asker_room < (size_t)p->search.points.n)
        if (atn_grow(p->search.ctx, (void **)&p->asker, &p->asker_room, p->asker_room, sizeof *p->asker)) {
            p->search.lost = true;
            return false;
        }
    p->asker[place] = member;
    return true;
}

static bool ask(void *self, int32_t *point) {
    portfolio *p = self;
    int32_t first = choose(p);
    for (int32_t k = 0; k < N_MEMBERS && !p->search.lost; ++k) {
        int32_t member = (first + k) % N_MEMBERS;
        if (ask_member(p, member, point))
            return atn_search_claim(&p->search, point) && note_asker(p, p->search.points.n - 1, member);
    }
    return false;
}

/* ---- telling ---- */

/* Enters a value among the fastest; is it among the first tenth of all? */
static bool is_success(portfolio *p, double value) {
    int32_t tenth = (int32_t)(p->search.told / 10) + 1, k = p->n_fastest < BEST ? p->n_fastest++ : BEST;
    if (k == BEST) {
        if (!(value < p->fastest[BEST - 1])) return false;
        k = BEST - 1;
    }
    for (; k > 0 && value < p->fastest[k - 1]; --k) p->fastest[k] = p->fastest[k - 1];
    p->fastest[k] = value;
    return k < tenth;
}

static void tell(void *self, const int32_t *point, const atn_score *score) {
    portfolio *p = self;
    int64_t known = p->search.points.n, told = p->search.told, place = atn_search_tell(&p->search, point, score);
    if (place == ATN_NOWHERE) return;
    for (int32_t k = 0; k < N_MEMBERS; ++k) {
        MEMBERS[k]->tell(p->member[k], point, score);
        p->search.lost |= atn_strategy_lost(p->member[k]);
    }
    if (place == known && !note_asker(p, place, -1)) return;
    if (p->search.told == told) return; /* reported again: its credit was given */
    double value = p->search.value[place];
    bool success = isfinite(value) && is_success(p, value);
    int32_t asker = p->asker[place];
    if (asker >= 0) p->success[asker] = FADES * p->success[asker] + (1 - FADES) * (success ? 1 : 0);
}

const atn_strategy ATN_STRATEGY_PORTFOLIO = {"portfolio",
                                             "a model leads, other strategies take part as far as they succeed",
                                             sizeof(portfolio),
                                             begin,
                                             ask,
                                             tell,
                                             end};
