/* Equation 1 as it is printed: min over rotations R and partial assignments P of |m - P d R|^2. From the best rotation
 * that is known, the assignment with the least sum of squares (Hungarian algorithm; a neighbour may stay without
 * partner at the price of three deviations) and the rotation that fits it (Horn) take turns until neither changes. */
#include "apps/lattice/lattice.h"

#include "base/memory.h"
#include "geom/fit.h"
#include "geom/pose.h"

#include <math.h>
#include <string.h>

enum { STEPS = 20 };

/* Rows are neighbours, columns the points of the model and, for each row, one more: no partner. Shortest augmenting
 * paths. */
typedef struct assignment {
    int32_t rows, columns;
    double *cost, *u, *v, *least;
    int32_t *of_column, *way;
    bool *seen;
} assignment;

static void augment(assignment *a, int32_t row) {
    int32_t at = 0;
    a->of_column[0] = row;
    for (int32_t k = 0; k <= a->columns; ++k) a->least[k] = INFINITY, a->seen[k] = false;
    do {
        int32_t i = a->of_column[at], next = 0;
        double delta = INFINITY;
        a->seen[at] = true;
        for (int32_t k = 1; k <= a->columns; ++k) {
            if (a->seen[k]) continue;
            double d = a->cost[(size_t)(i - 1) * (size_t)a->columns + (size_t)(k - 1)] - a->u[i] - a->v[k];
            if (d < a->least[k]) a->least[k] = d, a->way[k] = at;
            if (a->least[k] < delta) delta = a->least[k], next = k;
        }
        for (int32_t k = 0; k <= a->columns; ++k)
            if (a->seen[k])
                a->u[a->of_column[k]] += delta, a->v[k] -= delta;
            else
                a->least[k] -= delta;
        at = next;
    } while (a->of_column[at] != 0);
    for (; at; at = a->way[at]) a->of_column[at] = a->of_column[a->way[at]];
}

static void solve(assignment *a) {
    memset(a->u, 0, (size_t)(a->rows + 1) * sizeof *a->u);
    memset(a->v, 0, (size_t)(a->columns + 1) * sizeof *a->v);
    memset(a->of_column, 0, (size_t)(a->columns + 1) * sizeof *a->of_column);
    for (int32_t row = 1; row <= a->rows; ++row) augment(a, row);
}

static void *piece(char **at, size_t bytes) {
    void *out = *at;
    *at += (bytes + 15) / 16 * 16;
    return out;
}

static char *room(const atn_ctx *ctx, int32_t rows, int32_t points, assignment *a) {
    size_t n = (size_t)rows, columns = n + (size_t)points;
    size_t bytes =
        (n * columns + n + 1 + 2 * (columns + 1)) * sizeof(double) + 3 * (columns + 1) * sizeof(int32_t) + 256;
    char *block = atn_alloc(ctx, bytes), *at = block;
    if (!block) return NULL;
    *a = (assignment){.rows = rows, .columns = (int32_t)columns};
    a->cost = piece(&at, n * columns * sizeof(double));
    a->u = piece(&at, (n + 1) * sizeof(double));
    a->v = piece(&at, (columns + 1) * sizeof(double));
    a->least = piece(&at, (columns + 1) * sizeof(double));
    a->of_column = piece(&at, (columns + 1) * sizeof(int32_t));
    a->way = piece(&at, (columns + 1) * sizeof(int32_t));
    a->seen = piece(&at, (columns + 1) * sizeof(bool));
    return block;
}

/* Squares of distances in the crystal's frame, y = Q x. */
static void fill(const atn_lattice *l, const lattice_points *m, size_t i, const geom_pose *q, double price,
                 assignment *a) {
    for (int32_t row = 0; row < a->rows; ++row) {
        double x[3], y[3], *cost = a->cost + (size_t)row * (size_t)a->columns;
        for (int axis = 0; axis < 3; ++axis) x[axis] = (double)l->near.axis[axis][l->near.start[i] + row];
        geom_pose_apply(q, x, y);
        for (int32_t k = 0; k < a->columns; ++k) {
            cost[k] = k - (int32_t)m->count == row ? price : 1e6;
            if ((size_t)k >= m->count) continue;
            cost[k] = 0;
            for (int axis = 0; axis < 3; ++axis) cost[k] += (y[axis] - m->axis[axis][k]) * (y[axis] - m->axis[axis][k]);
        }
    }
}

/* Sums over the pairs that are assigned; the sum of squares comes back. */
static double pairs(const atn_lattice *l, const lattice_points *m, size_t i, const assignment *a, geom_moments *sums,
                    int32_t *assigned) {
    double square = 0;
    *sums = (geom_moments){0};
    *assigned = 0;
    for (int32_t k = 1; k <= (int32_t)m->count; ++k) {
        int32_t row = a->of_column[k] - 1;
        if (row < 0) continue;
        square += a->cost[(size_t)row * (size_t)a->columns + (size_t)(k - 1)];
        ++*assigned;
        sums->weight += 1;
        for (int x = 0; x < 3; ++x)
            for (int y = 0; y < 3; ++y)
                sums->cross[3 * x + y] += m->axis[x][k - 1] * (double)l->near.axis[y][l->near.start[i] + row];
    }
    return square;
}

atn_status lattice_exact(const atn_lattice *l, size_t i, atn_lattice_atom *out) {
    const lattice_points *m = &l->slot[out->phase - 1].points;
    double price = 9 * l->info.shift_noise * l->info.shift_noise, last = INFINITY, turn[9];
    double q[4] = {(double)out->quaternion[0], -(double)out->quaternion[1], -(double)out->quaternion[2],
                   -(double)out->quaternion[3]};
    int32_t n = l->near.start[i + 1] - l->near.start[i], assigned = 0;
    assignment a;
    char *block = room(l->ctx, n, (int32_t)m->count, &a);
    if (!block) return ATN_ERR_MEMORY;
    geom_pose pose = GEOM_IDENTITY;
    geom_quaternion_matrix(q, pose.a);
    memcpy(turn, pose.a, sizeof turn);
    for (int step = 0; step < STEPS; ++step) {
        geom_moments sums;
        fill(l, m, i, &pose, price, &a);
        solve(&a);
        double square = pairs(l, m, i, &a, &sums, &assigned), whole = square + price * (n - assigned);
        if (!(whole < last - 1e-9)) break;
        last = whole;
        memcpy(turn, pose.a, sizeof turn);
        out->value = (float)square;
        out->matched = n ? (float)assigned / (float)n : 0;
        out->rmsd = assigned ? (float)sqrt(square / assigned) : 0;
        if (!geom_fit(&sums, ATN_TRANSFORM_RIGID, &pose)) break;
        memset(pose.b, 0, sizeof pose.b);
    }
    geom_quaternion_of(turn, q);
    for (int k = 0; k < 4; ++k) out->quaternion[k] = (float)(k ? -q[k] : q[k]);
    atn_free(l->ctx, block);
    return ATN_OK;
}
