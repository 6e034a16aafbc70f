/* Starts from turns spread evenly: the 60 of the icosahedron, no other turn is farther than 45 degrees from one of
 * them. From each a short EM-ICP with an outlier class, on few points; the E-steps of all run as one (kernel estep). It
 * finds what has no surface to look at, as long as most of it overlaps. */
#include "apps/register/search_parts.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { STEPS = 15, MOST_POINTS = 160 };
static const double SIGMA_FIRST = 0.4, SIGMA_LAST = 0.08; /* of the target's size */
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

/* The points of some of a surface: indices spread evenly over space by taking those not within a growing distance. */
static size_t choose(const search_surface *s, uint32_t *list) {
    for (int round = 0;; ++round) {
        double apart = s->size * 0.1 * pow(1.15, round);
        size_t count = 0;
        for (size_t i = 0; i < s->count && count <= MOST_POINTS; ++i) {
            size_t k = 0;
            for (; k < count; ++k) {
                double d2 = 0;
                for (int a = 0; a < 3; ++a) {
                    double d = (double)s->at[a][i] - s->at[a][list[k]];
                    d2 += d * d;
                }
                if (d2 < apart * apart) break;
            }
            if (k == count) list[count++] = (uint32_t)i;
        }
        if (count <= MOST_POINTS) return count;
    }
}

/* All the starts' points one after the other, their sums, and the target's. */
enum { YX, YY, YZ, XX, XY, XZ, XW, SUM, SUM_X, SUM_Y, SUM_Z, ARRAYS };
typedef struct em {
    const search_tools *tools;
    atn_kernel *estep;
    atn_array *array[ARRAYS];
    float *mapped[ARRAYS];
    uint32_t from[MOST_POINTS + 1], to[MOST_POINTS + 1];
    size_t sources, targets;
} em;

static atn_status prepare(const search_tools *tools, const search_surface *source, const search_surface *target,
                          size_t starts, em *e) {
    static const char *const names[ARRAYS] = {"yx", "yy",  "yz",    "xx",    "xy",   "xz",
                                              "xw", "sum", "sum_x", "sum_y", "sum_z"};
    e->sources = choose(source, e->from);
    e->targets = choose(target, e->to);
    e->tools = tools;
    atn_status status = search_kernel(tools, REG_STARTS, &e->estep);
    for (int a = 0; a < ARRAYS && status == ATN_OK; ++a) {
        size_t length = a >= XX && a <= XW ? e->targets : starts * e->sources;
        status = atn_array_create_vector(tools->device, ATN_SP, (int64_t)length, &e->array[a]);
        if (status == ATN_OK) status = atn_kernel_bind(e->estep, names[a], e->array[a]);
    }
    return status;
}

/* All starts' points where their poses put them, in units in which exp2 needs no factor; and the sums over the target.
 */
static atn_status sums(em *e, const search_surface *source, const search_surface *target, const search_pose *pose,
                       size_t starts, double unit) {
    atn_status status = ATN_OK;
    for (int a = 0; a < SUM && status == ATN_OK; ++a) {
        void *map;
        status = atn_array_map_write(e->array[a], &map);
        e->mapped[a] = map;
    }
    if (status != ATN_OK) return status;
    for (size_t k = 0; k < e->targets; ++k) {
        for (int a = 0; a < 3; ++a) e->mapped[XX + a][k] = (float)(unit * target->at[a][e->to[k]]);
        e->mapped[XW][k] = 0;
    }
    for (size_t s = 0; s < starts; ++s)
        for (size_t k = 0; k < e->sources; ++k) {
            double y[3], x[3];
            for (int a = 0; a < 3; ++a) y[a] = source->at[a][e->from[k]];
            search_pose_move(&pose[s], y, x);
            for (int a = 0; a < 3; ++a) e->mapped[YX + a][s * e->sources + k] = (float)(unit * x[a]);
        }
    status = search_run(e->tools, e->estep);
    for (int a = SUM; a < ARRAYS && status == ATN_OK; ++a) {
        const void *map;
        status = atn_array_map_read(e->array[a], &map);
        e->mapped[a] = (float *)(uintptr_t)map;
    }
    return status;
}

static void fit(const em *e, const search_surface *source, search_pose *pose, size_t starts, double unit) {
    const double outlier = exp(-OUTLIER2);
    for (size_t s = 0; s < starts; ++s) {
        search_moments moments = {0};
        for (size_t k = 0; k < e->sources; ++k) {
            size_t at = s * e->sources + k;
            double sum = e->mapped[SUM][at], y[3], x[3];
            if (!(sum > 1e-20)) continue;
            for (int a = 0; a < 3; ++a) {
                y[a] = source->at[a][e->from[k]];
                x[a] = e->mapped[SUM_X + a][at] / sum / unit;
            }
            search_moments_add(&moments, sum / (sum + outlier), y, x);
        }
        search_moments_fit(&moments, false, &pose[s]);
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

atn_status search_turned(const search_tools *tools, const search_surface *source, const search_surface *target,
                         const search_pose *from, const double about[3], search_pose *out, size_t *count) {
    em e = {0};
    size_t starts = even_turns(out);
    for (size_t s = 0; s < starts; ++s) {
        out[s].scale = 1;
        for (int a = 0; a < 3; ++a) out[s].shift[a] = 0; /* both are about their centroids */
        if (from) turn_about(from, about, &out[s]);
    }
    *count = starts;
    atn_status status = prepare(tools, source, target, starts, &e);
    for (int step = 0; step < STEPS && status == ATN_OK; ++step) {
        double sigma = target->size * SIGMA_FIRST * pow(SIGMA_LAST / SIGMA_FIRST, step / (STEPS - 1.0));
        double unit = sqrt(LOG2_E) / sigma;
        status = atn_check_cancel(source->ctx);
        if (status == ATN_OK) status = sums(&e, source, target, out, starts, unit);
        if (status == ATN_OK) fit(&e, source, out, starts, unit);
    }
    search_kernel_done(tools, e.estep);
    for (int a = 0; a < ARRAYS; ++a) atn_array_free(e.array[a]);
    return status;
}
