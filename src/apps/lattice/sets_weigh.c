/* How much the places of neighbours count, of neighbourhoods that come alone. Their likelihood takes each neighbour as
 * displaced on its own, but the centre's own displacement is shared by all of them. So what places say of one model
 * against another is more than the product says, or, of models as alike as fcc and hcp at large noise, nothing. Here
 * the logarithms of the likelihoods of places, S_k, count as sum_k W_mk S_k for model m: multinomial logistic
 * regression on neighbourhoods made with what was found (the centre displaced too) and matched with the same tables,
 * W near to the identity unless they say otherwise. The number of neighbours is exact and counts as it is. */
#include "apps/lattice/parts.h"

#include "base/memory.h"
#include "base/random.h"

#include <math.h>

enum { EACH = 1200, TRIES = 64, ROUNDS = 200, MOST = ATN_LATTICE_MOST_MODELS };
static const double FAITH = 0.5; /* nats that a change of an entry of W by 1 costs, twice */

/* Of a made neighbourhood: its model, the logarithms of the chances of its number, and of its places. */
typedef struct example {
    int32_t model;
    double number[MOST], place[MOST];
} example;

static void random_turn(atn_random *random, double m[9]) {
    double q[4], length = 0;
    for (int k = 0; k < 4; ++k) q[k] = atn_random_normal(random), length += q[k] * q[k];
    for (int k = 0; k < 4; ++k) q[k] /= sqrt(length);
    geom_quaternion_matrix(q, m);
}

static void add_point(atn_lattice *l, int32_t *at, const double p[3]) {
    double square = p[0] * p[0] + p[1] * p[1] + p[2] * p[2];
    if (square >= l->info.cutoff * l->info.cutoff || *at - l->near.start[l->near.atoms] == ATN_LATTICE_MOST_NEIGHBOURS)
        return;
    for (int axis = 0; axis < 3; ++axis) l->near.axis[axis][*at] = (float)p[axis];
    ++*at;
}

/* One neighbourhood of a model into the batch. */
static void add_made(atn_lattice *l, const lattice_points *points, double noise, atn_random *random) {
    double m[9], centre[3], p[3], efficiency = l->info.efficiency * (1 + atn_random_normal(random) / sqrt(l->shape));
    int32_t at = l->near.start[l->near.atoms];
    random_turn(random, m);
    for (int axis = 0; axis < 3; ++axis) centre[axis] = noise * atn_random_normal(random);
    for (size_t k = 0; k < points->count; ++k) {
        if (atn_random_unit(random) >= efficiency) continue;
        for (int axis = 0; axis < 3; ++axis) {
            p[axis] = noise * atn_random_normal(random) - centre[axis];
            for (int c = 0; c < 3; ++c) p[axis] += m[3 * axis + c] * points->axis[c][k];
        }
        add_point(l, &at, p);
    }
    double gas = l->background_density * pow(2 * l->info.cutoff, 3); /* background, in the cube around */
    for (int k = 0; k < TRIES; ++k) {
        if (atn_random_unit(random) >= gas / TRIES) continue;
        for (int axis = 0; axis < 3; ++axis) p[axis] = (2 * atn_random_unit(random) - 1) * l->info.cutoff;
        add_point(l, &at, p);
    }
    lattice_near_add(&l->near, at, at);
}

/* Chances of all models. */
static void chances(const atn_lattice *l, const example *x, double out[MOST]) {
    double high = -INFINITY, sum = 0;
    for (int32_t m = 0; m < l->info.models; ++m) {
        out[m] = x->number[m];
        for (int32_t k = 0; k < l->info.models; ++k) out[m] += l->places[m][k] * x->place[k];
        high = fmax(high, out[m]);
    }
    for (int32_t m = 0; m < l->info.models; ++m) sum += out[m] = exp(out[m] - high);
    for (int32_t m = 0; m < l->info.models; ++m) out[m] /= sum;
}

/* The likeliest W: each entry by Newton's method with its own curvature, half a step at a time. */
static void fit(atn_lattice *l, const example *list, size_t count) {
    int32_t models = l->info.models;
    for (int round = 0; round < ROUNDS; ++round) {
        double g[MOST][MOST], h[MOST][MOST];
        for (int32_t m = 0; m < models; ++m)
            for (int32_t k = 0; k < models; ++k) g[m][k] = FAITH * ((m == k) - l->places[m][k]), h[m][k] = FAITH;
        for (size_t i = 0; i < count; ++i) {
            double p[MOST];
            chances(l, &list[i], p);
            for (int32_t m = 0; m < models; ++m)
                for (int32_t k = 0; k < models; ++k) {
                    double x = list[i].place[k];
                    g[m][k] += ((list[i].model == m) - p[m]) * x;
                    h[m][k] += p[m] * (1 - p[m]) * x * x;
                }
        }
        for (int32_t m = 0; m < models; ++m)
            for (int32_t k = 0; k < models; ++k) l->places[m][k] += g[m][k] / (2 * models * h[m][k]);
    }
}

static void note(const atn_lattice *l, size_t i, int32_t model, example *out) {
    int32_t n = l->near.start[i + 1] - l->near.start[i];
    out->model = model;
    lattice_places(l, i, out->place);
    for (int32_t m = 0; m < l->info.models; ++m) out->number[m] = l->slot[m].number[n];
}

atn_status lattice_sets_weigh(atn_lattice *l, double noise) {
    size_t all = (size_t)EACH * (size_t)l->info.models, done = 0;
    example *list = atn_alloc(l->ctx, all * sizeof *list);
    atn_status status = list ? ATN_OK : ATN_ERR_MEMORY;
    atn_random random;
    atn_random_seed(&random, 21);
    l->near.atoms = 0;
    for (size_t k = 0; k < all && status == ATN_OK; ++k) {
        add_made(l, &l->slot[k % (size_t)l->info.models].points, noise, &random);
        if (!lattice_batch_is_full(l) && k + 1 < all) continue;
        status = lattice_engine_run(l);
        for (size_t i = 0; i < l->near.atoms && status == ATN_OK; ++i, ++done)
            note(l, i, (int32_t)(done % (size_t)l->info.models), &list[done]);
        l->near.atoms = 0;
    }
    for (int32_t m = 0; m < MOST; ++m)
        for (int32_t k = 0; k < MOST; ++k) l->places[m][k] = m == k;
    if (status == ATN_OK) fit(l, list, all);
    atn_free(l->ctx, list);
    return status;
}
