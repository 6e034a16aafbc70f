/* Spaces for tests: smooth, with valleys across the axes, rugged, with regions that fail, with texts, tiny ones. */
#include "spacekit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double noise(const int32_t *level, int32_t n) {
    uint64_t state = 88172645463325252u;
    for (int32_t k = 0; k < n; ++k) {
        state ^= (uint64_t)level[k] + 1;
        (void)kit_random(&state); /* stirs it */
        state *= 0x9e3779b97f4a7c15u;
        state ^= state >> 31;
    }
    return kit_uniform(&state);
}

static double square(double x) { return x * x; }

static double smooth(const int32_t *l) {
    return 1e-3 *
           (1 + 0.05 * square(l[0] - 11) + 0.3 * square(l[1] - 2) + 0.2 * square(l[2] - 4) + (l[3] == 1 ? 0 : 0.7));
}

/* Only together are two parameters good or bad. */
static double valley(const int32_t *l) {
    return 1e-3 *
           (1 + 0.4 * fabs(l[0] + 2.0 * l[1] - 14) + 0.1 * fabs(l[0] - 2.0 * l[2]) + 0.05 * noise(l, 4) + 0.2 * l[3]);
}

static double rugged(const int32_t *l) { return 1e-3 * (1 + 4 * noise(l, 4)); }

static double bumpy(const int32_t *l) { return smooth(l) * (1 + 0.6 * noise(l, 4)); }

/* A third of the space fails, next to the optimum too. */
static double failing(const int32_t *l) {
    if (l[0] * (l[1] + 1) > 34 || (l[2] == 0 && l[3] == 1)) return INFINITY;
    return 1e-3 * (6 - 0.1 * l[0] * (l[1] + 1) + 0.3 * fabs(l[2] - 3.0) + 0.5 * l[3]);
}

static double words(const int32_t *l) {
    static const double BY_WORD[] = {2, 0.3, 1.4, 0.9, 3, 0.1, 1.1, 2.2};
    return 1e-3 * (1 + BY_WORD[l[3]] + 0.1 * fabs(l[0] - 5.0) * (l[3] % 2 ? 1 : 0.4) + 0.2 * fabs(l[1] - 3.0) +
                   0.1 * noise(l, 4));
}

static bool some(const int32_t *l) { return (l[0] * l[1] + l[2]) % 3 != 1; }
static double all_fail(const int32_t *l) {
    (void)l;
    return INFINITY;
}
static bool none(const int32_t *l) {
    (void)l;
    return false;
}
static double any(const int32_t *l) { return 1e-3 * (1 + l[0]); }

#define LEVELS(...)                                                                                                    \
    .levels = (const int32_t[]) { __VA_ARGS__ }
const kit_space KIT_SPACES[] = {
    {"smooth", 4, LEVELS(16, 8, 9, 3), .seconds = smooth, .search_pays = true},
    {"valley", 4, LEVELS(16, 8, 8, 3), .seconds = valley, .allows = some, .search_pays = true},
    {"bumpy", 4, LEVELS(16, 8, 9, 3), .seconds = bumpy, .allows = some, .search_pays = true},
    {"failing", 4, LEVELS(16, 8, 7, 2), .seconds = failing, .search_pays = true},
    {"words", 4, LEVELS(16, 8, 3, 8), .words = true, .seconds = words, .search_pays = true},
    {"rugged", 4, LEVELS(16, 8, 9, 3), .seconds = rugged},
    {"all fail", 4, LEVELS(3, 4, 1, 3), .seconds = all_fail},
    {"tiny", 4, LEVELS(3, 2, 4, 2), .words = true, .seconds = words, .allows = some},
    {"two", 1, LEVELS(2), .seconds = any},
    {"one", 3, LEVELS(1, 1, 1), .seconds = any},
    {"line", 1, LEVELS(40), .seconds = any},
    {"empty", 2, LEVELS(3, 3), .seconds = any, .allows = none},
    {0},
};

const kit_space *kit_space_find(const char *name) {
    for (const kit_space *space = KIT_SPACES; space->name; ++space)
        if (strcmp(space->name, name) == 0) return space;
    fail_msg("no space %s", name);
    return NULL;
}

atn_recorded *kit_space_record(atn_ctx *ctx, const kit_space *space) {
    atn_recording *recording;
    atn_recorded *recorded;
    kit_ok(ctx, atn_recording_begin(ctx, space->name, &recording));
    int32_t level[8] = {0}, n = space->n_parameters;
    char name[16];
    for (int32_t p = 0; p < n; ++p) {
        snprintf(name, sizeof name, "p%d", p);
        kit_ok(ctx, atn_recording_parameter(recording, name));
    }
    for (int32_t p = 0; p >= 0;) {
        if (!space->allows || space->allows(level)) {
            for (int32_t k = 0; k < n; ++k) {
                bool word = space->words && k == n - 1;
                snprintf(name, sizeof name, "word %d", level[k]);
                atn_scalar value = {.kind = word ? ATN_SCALAR_TEXT : ATN_SCALAR_NUMBER, .number = 8.0 * (level[k] + 1)};
                kit_ok(ctx, atn_recording_set(recording, k, &value, name));
            }
            double seconds = space->seconds(level);
            kit_ok(ctx,
                   atn_recording_add(recording, isfinite(seconds) ? ATN_OUTCOME_RIGHT : ATN_OUTCOME_BUILD, seconds));
        }
        for (p = n - 1; p >= 0 && ++level[p] == space->levels[p]; --p) level[p] = 0;
    }
    kit_ok(ctx, atn_recording_finish(recording, &recorded));
    return recorded;
}
