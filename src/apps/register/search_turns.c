/* Starts from turns spread evenly: the 60 of the icosahedron, no other turn is farther than 45 degrees from one of
 * them. From each a short EM-ICP with an outlier class, on few points: so few that a start stays on one core, and waits
 * for no other. It finds what has no surface to look at, as long as most of it overlaps. */
#include "apps/register/gather.h"
#include "apps/register/search_parts.h"

#include "base/lanes.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { STEPS = 15, MOST_POINTS = REG_TURNS_POINTS, FEWEST_POINTS = 80, LANES = 16 };
enum { HALFWAY = 11, KEPT_FIRST = 24, KEPT_THEN = 16 };   /* of rivals: behind the coarse steps, and behind that step */
static const double SIGMA_FIRST = 0.4, SIGMA_LAST = 0.08; /* of the target's size */
static const double COARSE = 0.2;                         /* likewise: above it some of the points tell as much */
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
    chosen of[2], few[2];             /* for the last steps; for the first, which are coarse */
    size_t part;                      /* of the former that are among the latter: one in so many */
    chosen half[2];                   /* of rivals, for steps in between; the source's for the last ones too */
    bool rivals;                      /* they only have to come near: what is found is looked at by many more points */
    int first, end;                   /* steps that are to be done */
    search_pose *pose;
    reg_client *client; /* through which they go; NULL: the host does them */
    int32_t base;       /* where it keeps these points */
} em;

/* One in so many of them, unless they are few. */
static void take_some(const chosen *all, size_t part, chosen *out) {
    out->count = all->count < FEWEST_POINTS ? all->count : all->count / part;
    for (int a = 0; a < 3; ++a)
        for (size_t j = 0; j < out->count; ++j) out->at[a][j] = all->at[a][j * all->count / out->count];
}

static void choose_some(void *user, int64_t from, int64_t to) {
    em *e = user;
    for (int64_t k = from; k < to; ++k) {
        chosen *all = &e->of[k], *few = &e->few[k];
        choose(e->surface[k], all);
        take_some(all, e->part, few);
        if (e->rivals) take_some(all, 2, &e->half[k]);
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

/* Some places of the source, a lane for each: where they are expected to belong. */
enum { EACH = 8 };
typedef struct expected {
    float w[EACH], x[3][EACH]; /* the sums over the target of w = 2^-|y - x|^2, and of w x */
} expected;

/* On its own: sums stay in registers. */
ATN_IN_LANES_APART static void expect(const chosen *target, const float at[3][EACH], expected *out) {
    float w[EACH] = {0}, x[EACH] = {0}, y[EACH] = {0}, z[EACH] = {0};
    for (size_t j = 0; j < target->count; ++j) {
        const float tx = target->at[0][j], ty = target->at[1][j], tz = target->at[2][j];
        ATN_LANES()
        for (int l = 0; l < EACH; ++l) {
            float p = weight_of(tx - at[0][l], ty - at[1][l], tz - at[2][l]);
            w[l] += p, x[l] += p * tx, y[l] += p * ty, z[l] += p * tz;
        }
    }
    memcpy(out->w, w, sizeof w);
    memcpy(out->x[0], x, sizeof x), memcpy(out->x[1], y, sizeof y), memcpy(out->x[2], z, sizeof z);
}

/* Sums over pairs, by lane: pairs, weight, y, x, x y^T, |y|^2, |x|^2. */
enum { PAIRS, WEIGHT, Y, X = Y + 3, XY = X + 3, YY = XY + 9, XX, SUMS };

ATN_IN_LANES static void add_pairs(const float y[3][EACH], const expected *to, size_t count, float outlier, float per,
                                   float sum[SUMS][EACH]) {
    ATN_LANES()
    for (int l = 0; l < EACH; ++l) {
        float w = to->w[l], there = w > 1e-20F ? 1.0F : 0.0F;
        there = l < (int)count ? there : 0;
        w = there > 0 ? w : 1;
        float k = there * w / (w + outlier), by = there > 0 ? per / w : 0;
        float x0 = to->x[0][l] * by, x1 = to->x[1][l] * by, x2 = to->x[2][l] * by;
        float y0 = there > 0 ? y[0][l] : 0, y1 = there > 0 ? y[1][l] : 0, y2 = there > 0 ? y[2][l] : 0;
        float kx0 = k * x0, kx1 = k * x1, kx2 = k * x2;
        sum[PAIRS][l] += there, sum[WEIGHT][l] += k;
        sum[Y][l] += k * y0, sum[Y + 1][l] += k * y1, sum[Y + 2][l] += k * y2;
        sum[X][l] += kx0, sum[X + 1][l] += kx1, sum[X + 2][l] += kx2;
        sum[XY][l] += kx0 * y0, sum[XY + 1][l] += kx0 * y1, sum[XY + 2][l] += kx0 * y2;
        sum[XY + 3][l] += kx1 * y0, sum[XY + 4][l] += kx1 * y1, sum[XY + 5][l] += kx1 * y2;
        sum[XY + 6][l] += kx2 * y0, sum[XY + 7][l] += kx2 * y1, sum[XY + 8][l] += kx2 * y2;
        sum[YY][l] += k * (y0 * y0 + y1 * y1 + y2 * y2);
        sum[XX][l] += kx0 * x0 + kx1 * x1 + kx2 * x2;
    }
}

static search_moments moments_of(const double all[SUMS]) {
    search_moments m = {.weight = all[WEIGHT], .yy = all[YY], .xx = all[XX], .pairs = (int32_t)all[PAIRS]};
    memcpy(m.y, all + Y, sizeof m.y);
    memcpy(m.x, all + X, sizeof m.x);
    memcpy(m.xy, all + XY, sizeof m.xy);
    return m;
}

static void take_step(const double all[SUMS], size_t points, search_pose *pose) {
    search_moments moments = moments_of(all);
    search_moments_fit(&moments, false, pose);
    pose->score = moments.weight / (double)points;
}

/* One step of a start: where its points are expected to belong, and the pose that these ask for; the score is the share
 * of them that belong to something. The target is in units in which the exponent needs no factor. */
static void step(const chosen *source, const chosen *target, double unit, search_pose *pose) {
    float sum[SUMS][EACH] = {{0}}, turn[9], shift[3], outlier = (float)exp(-OUTLIER2);
    for (int k = 0; k < 9; ++k) turn[k] = (float)(unit * pose->scale * pose->turn[k]);
    for (int a = 0; a < 3; ++a) shift[a] = (float)(unit * pose->shift[a]);
    for (size_t first = 0; first < source->count; first += EACH) {
        float y[3][EACH], at[3][EACH];
        expected to;
        for (int a = 0; a < 3; ++a) memcpy(y[a], source->at[a] + first, sizeof y[a]);
        for (int a = 0; a < 3; ++a)
            for (int l = 0; l < EACH; ++l)
                at[a][l] = turn[3 * a] * y[0][l] + turn[3 * a + 1] * y[1][l] + turn[3 * a + 2] * y[2][l] + shift[a];
        expect(target, (const float(*)[EACH])at, &to);
        add_pairs((const float(*)[EACH])y, &to, source->count - first, outlier, (float)(1 / unit), sum);
    }
    double all[SUMS] = {0};
    for (int k = 0; k < SUMS; ++k)
        for (int l = 0; l < EACH; ++l) all[k] += (double)sum[k][l];
    take_step(all, source->count, pose);
}

/* In another unit. */
static void prepare(const chosen *from, float unit, chosen *out) {
    out->count = from->count;
    for (int a = 0; a < 3; ++a)
        for (size_t j = 0; j < out->count; ++j) out->at[a][j] = unit * from->at[a][j];
}

static double sigma_of(int step) { return SIGMA_FIRST * pow(SIGMA_LAST / SIGMA_FIRST, step / (STEPS - 1.0)); }

/* The points of step `k`. */
static void points_of(const em *e, int k, const chosen **source, const chosen **target) {
    bool coarse = sigma_of(k) > COARSE;
    const chosen *of = coarse ? e->few : e->rivals && k < HALFWAY ? e->half : e->of;
    *source = !coarse && e->rivals ? &e->half[0] : &of[0];
    *target = &of[1];
}

static double unit_of(const em *e, int k) { return sqrt(LOG2_E) / (sigma_of(k) * e->surface[1]->size); }

/* Starts are followed by all cores, each by one. */
static void follow(void *user, int64_t from, int64_t to) {
    const em *e = user;
    for (int k = e->first; k < e->end; ++k) {
        const chosen *source, *target;
        chosen scaled;
        points_of(e, k, &source, &target);
        prepare(target, (float)unit_of(e, k), &scaled);
        for (int64_t s = from; s < to; ++s) step(source, &scaled, unit_of(e, k), &e->pose[s]);
    }
}

/* ---- together with other pairs ---- */

/* Behind each other: few, half, of; of each those of the source and the target. */
static void keep_points(em *e) {
    const chosen *const sets[REG_TURNS_SETS] = {&e->few[0], &e->few[1], &e->half[0], &e->half[1], &e->of[0], &e->of[1]};
    float *room = reg_gather_room(e->client, REG_GATHER_TURNS, (size_t)REG_TURNS_SETS * 3 * MOST_POINTS, &e->base);
    if (!room) e->client = NULL;
    for (int k = 0; k < REG_TURNS_SETS && room; ++k)
        for (int a = 0; a < 3; ++a)
            memcpy(room + (size_t)(3 * k + a) * MOST_POINTS, sets[k]->at[a], sets[k]->count * sizeof *room);
}

static int32_t place_of(const em *e, const chosen *set) {
    int32_t of_kind = set == &e->few[0] || set == &e->few[1]     ? (int32_t)(set - e->few)
                      : set == &e->half[0] || set == &e->half[1] ? 2 + (int32_t)(set - e->half)
                                                                 : 4 + (int32_t)(set - e->of);
    return e->base + of_kind * 3 * MOST_POINTS;
}

/* One step of all starts; false: the device did not do it. */
static bool step_together(const em *e, int k, size_t starts) {
    float item[SEARCH_TURNS][REG_TURNS_ITEM] = {{0}}, sum[SEARCH_TURNS][REG_TURNS_SUMS];
    int32_t place[SEARCH_TURNS][REG_GATHER_PLACE] = {{0}};
    const chosen *source, *target;
    double unit = unit_of(e, k);
    points_of(e, k, &source, &target);
    for (size_t s = 0; s < starts; ++s) {
        const search_pose *pose = &e->pose[s];
        for (int i = 0; i < 9; ++i) item[s][i] = (float)(pose->scale * pose->turn[i]);
        for (int a = 0; a < 3; ++a) item[s][9 + a] = (float)pose->shift[a];
        item[s][12] = (float)(unit * unit);
        item[s][13] = (float)exp(-OUTLIER2);
        place[s][0] = place_of(e, source);
        place[s][1] = place_of(e, target);
        place[s][2] = (int32_t)source->count;
        place[s][3] = (int32_t)target->count;
    }
    if (!reg_gather_run(e->client, REG_GATHER_TURNS, starts, item[0], place[0], REG_TURNS_SUMS, sum[0])) return false;
    for (size_t s = 0; s < starts; ++s) {
        double all[SUMS];
        for (int i = 0; i < SUMS; ++i) all[i] = (double)sum[s][i];
        take_step(all, source->count, &e->pose[s]);
    }
    return true;
}

/* On to step `end`; the `most` that fit best then stay. */
static size_t advance(em *e, size_t starts, int end, size_t most) {
    e->end = end;
    while (e->client && e->first < end && step_together(e, e->first, starts)) ++e->first;
    if (e->first < end) atn_parallel_pieces((int64_t)starts, follow, e);
    e->first = end;
    if (starts <= most) return starts;
    search_sort(e->pose, starts);
    return most;
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
                         const double about[3], bool best, reg_client *client, search_pose *out, size_t *count) {
    em e = {.surface = {source, target}, .part = best ? 3 : 2, .rivals = best, .pose = out, .client = client};
    size_t starts = even_turns(out);
    for (size_t s = 0; s < starts; ++s) {
        out[s].scale = 1;
        for (int a = 0; a < 3; ++a) out[s].shift[a] = 0; /* both are about their centroids */
        if (from) turn_about(from, about, &out[s]);
    }
    atn_parallel_pieces(2, choose_some, &e);
    if (client) keep_points(&e);
    if (best) { /* what fits clearly worse than others while steps are coarse is none of these */
        int coarse = 0;
        while (sigma_of(coarse) > COARSE) ++coarse;
        starts = advance(&e, starts, coarse, KEPT_FIRST);
        starts = advance(&e, starts, HALFWAY, KEPT_THEN);
    }
    *count = advance(&e, starts, STEPS, starts);
    return atn_check_cancel(source->ctx);
}
