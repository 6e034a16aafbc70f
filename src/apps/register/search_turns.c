/* Starts from turns spread evenly: the 60 of the icosahedron, no other turn is farther than 45 degrees from one of
 * them. From each a short EM-ICP with an outlier class, on few points: so few that a start stays on one core, and waits
 * for no other. It finds what has no surface to look at, as long as most of it overlaps. */
#include "apps/register/search_parts.h"

#include "base/lanes.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { STEPS = 15, MOST_POINTS = 160, FEWEST_POINTS = 80, LANES = 16 };
static const double SIGMA_FIRST = 0.4, SIGMA_LAST = 0.08; /* of the target's size */
static const double COARSE = 0.2;                         /* likewise: above it half of the points tell as much */
static const double OUTLIER2 = 2.25;                      /* (d0 / sigma)^2 */
static const double LOG2_E = 1.4426950408889634;

static void turn_of(const double q[4], double turn[9]) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double all[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                           2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                           2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    for (int k = 0; k < 9; ++k) turn[k] = all[k];
}

/* Half of the 120 unit icosians: of q and -q, which are one turn, the one whose first number other than 0 is positive.
 */
static size_t even_turns(search_pose *out) {
    static const int even[12][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 0, 3, 2}, {1, 2, 0, 3}, {1, 3, 2, 0},
                                    {2, 0, 1, 3}, {2, 1, 3, 0}, {2, 3, 0, 1}, {3, 0, 2, 1}, {3, 1, 0, 2}, {3, 2, 1, 0}};
    const double golden = (1 + sqrt(5)) / 2;
    size_t count = 0;
    for (int k = 0; k < 4; ++k) {
        double q[4] = {0};
        q[k] = 1;
        turn_of(q, out[count++].turn);
    }
    for (int signs = 0; signs < 8; ++signs) {
        double q[4] = {0.5, signs & 1 ? -0.5 : 0.5, signs & 2 ? -0.5 : 0.5, signs & 4 ? -0.5 : 0.5};
        turn_of(q, out[count++].turn);
    }
    for (int p = 0; p < 12; ++p)
        for (int signs = 0; signs < 8; ++signs) {
            double b[4] = {golden / 2, 0.5, 0.5 / golden, 0}, q[4];
            for (int k = 0; k < 4; ++k) q[even[p][k]] = k < 3 && signs >> k & 1 ? -b[k] : b[k];
            int first = 0;
            while (q[first] == 0) ++first;
            if (q[first] > 0) turn_of(q, out[count++].turn);
        }
    return count;
}

/* Some points of a surface, spread evenly over space. */
typedef struct chosen {
    float at[3][MOST_POINTS + LANES];
    size_t count;
} chosen;

/* Is a place within the root of `apart2` of one that is chosen? The last lanes are filled with points far away. */
ATN_IN_LANES static bool is_near(const chosen *c, const float at[3], float apart2) {
    float least = apart2;
    ATN_LANES(reduction(min : least))
    for (size_t k = 0; k < (c->count + LANES - 1) / LANES * LANES; ++k) {
        float x = c->at[0][k] - at[0], y = c->at[1][k] - at[1], z = c->at[2][k] - at[2];
        float d2 = x * x + y * y + z * z;
        least = d2 < least ? d2 : least;
    }
    return least < apart2;
}

/* Those that are not within a distance of one before; false: there are too many. */
static bool choose_apart(const search_surface *s, double apart, chosen *out) {
    static const float AWAY = 1e9F;
    for (int a = 0; a < 3; ++a)
        for (size_t k = 0; k < MOST_POINTS + LANES; ++k) out->at[a][k] = AWAY;
    out->count = 0;
    for (size_t i = 0; i < s->count; ++i) {
        const float at[3] = {s->at[0][i], s->at[1][i], s->at[2][i]};
        if (is_near(out, at, (float)(apart * apart))) continue;
        if (out->count == MOST_POINTS) return false;
        for (int a = 0; a < 3; ++a) out->at[a][out->count] = at[a];
        ++out->count;
    }
    return true;
}

/* The least of distances 0.1 x 1.15^n of the size that leaves few enough; what is usual is tried first. */
static void choose(const search_surface *s, chosen *out) {
    enum { USUAL = 7 };
    int n = USUAL;
    bool few = choose_apart(s, 0.1 * s->size * pow(1.15, n), out);
    while (!few) few = choose_apart(s, 0.1 * s->size * pow(1.15, ++n), out);
    while (n > 0 && n <= USUAL) { /* a smaller one, as long as that does */
        chosen more;
        if (!choose_apart(s, 0.1 * s->size * pow(1.15, n - 1), &more)) return;
        *out = more;
        --n;
    }
}

/* Both clouds' points, and what all the starts share. */
typedef struct em {
    const search_surface *surface[2]; /* source, target */
    chosen of[2], half[2];            /* for the last steps; for the first, which are coarse */
    search_pose *pose;
} em;

static void choose_some(void *user, int64_t from, int64_t to, int32_t worker) {
    em *e = user;
    (void)worker;
    for (int64_t k = from; k < to; ++k) {
        chosen *all = &e->of[k], *half = &e->half[k];
        choose(e->surface[k], all);
        half->count = all->count < FEWEST_POINTS ? all->count : all->count / 2;
        for (int a = 0; a < 3; ++a)
            for (size_t j = 0; j < half->count; ++j) half->at[a][j] = all->at[a][j * all->count / half->count];
    }
}

/* 2^-x for x >= 0, to five digits: the whole part becomes the exponent, the rest a polynomial. What is less than 2^-90
 * stays that: products of smaller ones have fewer digits, which takes some processors a hundred times as long. */
static inline float half_to(float x) {
    static const float MAGIC = 12582912, MOST = 90; /* 1.5 x 2^23: what is taken from it loses its fraction */
    union {
        float value;
        uint32_t bits;
    } whole, part;
    x = x < MOST ? x : MOST;
    whole.value = MAGIC - x;
    float f = (MAGIC - whole.value) - x;
    part.value = 1 + f * (0.693121045F + f * (0.24022349F + f * (0.0559219758F + f * 0.00966636852F)));
    part.bits += whole.bits << 23;
    return part.value;
}

static inline float weight_of(float x, float y, float z) { return half_to(x * x + y * y + z * z); }

/* The sums over the target of w = 2^-|y - x|^2, and of w x, for two places of the source at once: one alone would wait
 * for its own results. */
enum { TOGETHER = 2 };
typedef struct expected {
    float w[TOGETHER], x[3][TOGETHER];
} expected;

ATN_IN_LANES static void expect(const chosen *target, const float at[3][TOGETHER], expected *out) {
    const float *x = target->at[0], *y = target->at[1], *z = target->at[2];
    const float px = at[0][0], py = at[1][0], pz = at[2][0], qx = at[0][1], qy = at[1][1], qz = at[2][1];
    float pw = 0, pwx = 0, pwy = 0, pwz = 0, qw = 0, qwx = 0, qwy = 0, qwz = 0;
    ATN_LANES(reduction(+ : pw, pwx, pwy, pwz, qw, qwx, qwy, qwz))
    for (size_t j = 0; j < target->count / LANES * LANES; ++j) {
        float p = weight_of(x[j] - px, y[j] - py, z[j] - pz), q = weight_of(x[j] - qx, y[j] - qy, z[j] - qz);
        pw += p, pwx += p * x[j], pwy += p * y[j], pwz += p * z[j];
        qw += q, qwx += q * x[j], qwy += q * y[j], qwz += q * z[j];
    }
    *out = (expected){{pw, qw}, {{pwx, qwx}, {pwy, qwy}, {pwz, qwz}}};
}

/* One step of a start: where its points are expected to belong, and the pose that these ask for. The target is in units
 * in which the exponent needs no factor. */
static void step(const chosen *source, const chosen *target, double unit, search_pose *pose) {
    const double outlier = exp(-OUTLIER2);
    search_moments moments = {0};
    for (size_t first = 0; first < source->count; first += TOGETHER) {
        double y[TOGETHER][3], x[3];
        float at[3][TOGETHER];
        expected to;
        for (size_t k = 0; k < TOGETHER; ++k) {
            size_t from = first + k < source->count ? first + k : source->count - 1;
            for (int a = 0; a < 3; ++a) y[k][a] = source->at[a][from];
            search_pose_move(pose, y[k], x);
            for (int a = 0; a < 3; ++a) at[a][k] = (float)(unit * x[a]);
        }
        expect(target, at, &to);
        for (size_t k = 0; k < TOGETHER && first + k < source->count; ++k) {
            double w = (double)to.w[k];
            if (!(w > 1e-20)) continue;
            for (int a = 0; a < 3; ++a) x[a] = (double)to.x[a][k] / w / unit;
            search_moments_add(&moments, w / (w + outlier), y[k], x);
        }
    }
    search_moments_fit(&moments, false, pose);
}

/* In another unit; the last lanes are filled with points that are far from everything. */
static void prepare(const chosen *from, float unit, chosen *out) {
    static const float AWAY = 1e4F;
    out->count = (from->count + LANES - 1) / LANES * LANES;
    for (int a = 0; a < 3; ++a)
        for (size_t j = 0; j < out->count; ++j) out->at[a][j] = j < from->count ? unit * from->at[a][j] : AWAY;
}

/* Starts are followed by all cores, each by one. */
static void follow(void *user, int64_t from, int64_t to, int32_t worker) {
    const em *e = user;
    (void)worker;
    for (int k = 0; k < STEPS; ++k) {
        double sigma = e->surface[1]->size * SIGMA_FIRST * pow(SIGMA_LAST / SIGMA_FIRST, k / (STEPS - 1.0));
        double unit = sqrt(LOG2_E) / sigma;
        const chosen *of = sigma > COARSE * e->surface[1]->size ? e->half : e->of;
        chosen target;
        prepare(&of[1], (float)unit, &target);
        for (int64_t s = from; s < to; ++s) step(&of[0], &target, unit, &e->pose[s]);
    }
}

/* The place `about` goes where `from` sends it, and the source turns there. */
static void turn_about(const search_pose *from, const double about[3], search_pose *pose) {
    double turn[9], to[3], at[3];
    search_pose_move(from, about, to);
    for (int i = 0; i < 9; ++i) {
        turn[i] = 0;
        for (int k = 0; k < 3; ++k) turn[i] += pose->turn[i / 3 * 3 + k] * from->turn[3 * k + i % 3];
    }
    memcpy(pose->turn, turn, sizeof turn);
    search_pose_move(pose, about, at);
    for (int a = 0; a < 3; ++a) pose->shift[a] = to[a] - at[a];
}

atn_status search_turned(const search_surface *source, const search_surface *target, const search_pose *from,
                         const double about[3], search_pose *out, size_t *count) {
    em e = {.surface = {source, target}, .pose = out};
    size_t starts = even_turns(out);
    for (size_t s = 0; s < starts; ++s) {
        out[s].scale = 1;
        for (int a = 0; a < 3; ++a) out[s].shift[a] = 0; /* both are about their centroids */
        if (from) turn_about(from, about, &out[s]);
    }
    *count = starts;
    atn_parallel_pieces(2, choose_some, &e);
    atn_parallel_pieces((int64_t)starts, follow, &e);
    return atn_check_cancel(source->ctx);
}
