/* The published steps, one pass over the stored matrix each: a = exp(-|x - R y - t|^2 / sigma^2); C = sum of a and
 * exp(-d0^2 / sigma^2); w = sqrt(a / C), or 1 / n where C is nothing; sums of w and w x; then the weighted fit. */
#include "bench/reference_emicp.h"

#include "base/lanes.h"
#include "base/parallel.h"
#include "base/size.h"

#include <math.h>
#include <stdlib.h>

static const double SIGMA2 = 0.01, FACTOR = 0.9;
static const float D02 = 0.01f, NOTHING = 1e-6f;

size_t emicp_bytes(size_t rows, size_t columns) {
    size_t elements, bytes;
    return atn_size_mul(rows, columns, &elements) && atn_size_mul(elements, sizeof(float), &bytes) ? bytes : SIZE_MAX;
}

double emicp_sigma2(int32_t step) { return SIGMA2 * pow(FACTOR, step); }

atn_status emicp_open(const atn_ctx *ctx, const atn_cloud *source, const atn_cloud *target, emicp *out) {
    size_t n = atn_cloud_info_of(source).points, m = atn_cloud_info_of(target).points;
    size_t matrix = emicp_bytes(n, m), vectors = (11 * n + 3 * m) * sizeof(float);
    *out = (emicp){.rows = n, .columns = m, .pose = GEOM_IDENTITY, .sigma2 = SIGMA2};
    out->memory = matrix < SIZE_MAX - vectors ? malloc(matrix + vectors) : NULL;
    if (!out->memory) return atn_fail_memory(ctx, matrix, "the matrix of all pairs");
    out->matrix = out->memory;
    float *next = out->matrix + n * m;
    for (int axis = 0; axis < 3; ++axis, next += n) out->y[axis] = next;
    for (int axis = 0; axis < 3; ++axis, next += n) out->moved[axis] = next;
    for (int axis = 0; axis < 3; ++axis, next += n) out->partner[axis] = next;
    out->whole = next;
    out->lambda = next += n;
    next += n;
    for (int axis = 0; axis < 3; ++axis, next += m) out->x[axis] = next;
    for (int axis = 0; axis < 3; ++axis) {
        const double *y = atn_cloud_positions(source, axis), *x = atn_cloud_positions(target, axis);
        for (size_t i = 0; i < n; ++i) out->y[axis][i] = (float)y[i];
        for (size_t j = 0; j < m; ++j) out->x[axis][j] = (float)x[j];
    }
    return ATN_OK;
}

void emicp_close(emicp *e) {
    free(e->memory);
    *e = (emicp){0};
}

static void move(emicp *e) {
    for (size_t i = 0; i < e->rows; ++i) {
        double y[3] = {(double)e->y[0][i], (double)e->y[1][i], (double)e->y[2][i]}, moved[3];
        geom_pose_apply(&e->pose, y, moved);
        for (int axis = 0; axis < 3; ++axis) e->moved[axis][i] = (float)moved[axis];
    }
}

static void update(void *user, int64_t from, int64_t to) {
    emicp *e = user;
    float scale = (float)(-1 / e->sigma2);
    for (size_t i = (size_t)from; i < (size_t)to; ++i) {
        float *row = e->matrix + i * e->columns, px = e->moved[0][i], py = e->moved[1][i], pz = e->moved[2][i];
        for (size_t j = 0; j < e->columns; ++j) {
            float dx = e->x[0][j] - px, dy = e->x[1][j] - py, dz = e->x[2][j] - pz;
            row[j] = expf(scale * (dx * dx + dy * dy + dz * dz));
        }
    }
}

static void sum_rows(void *user, int64_t from, int64_t to) {
    emicp *e = user;
    float outlier = expf(-D02 / (float)e->sigma2);
    for (size_t i = (size_t)from; i < (size_t)to; ++i) {
        const float *row = e->matrix + i * e->columns;
        float sum = 0;
        ATN_LANES(reduction(+ : sum)) /* as a BLAS would add */
        for (size_t j = 0; j < e->columns; ++j) sum += row[j];
        e->whole[i] = sum + outlier;
    }
}

static void normalise(void *user, int64_t from, int64_t to) {
    emicp *e = user;
    for (size_t i = (size_t)from; i < (size_t)to; ++i) {
        float *row = e->matrix + i * e->columns, whole = e->whole[i], even = 1 / (float)e->columns;
        if (whole > NOTHING)
            for (size_t j = 0; j < e->columns; ++j) row[j] = sqrtf(row[j] / whole);
        else
            for (size_t j = 0; j < e->columns; ++j) row[j] = even;
    }
}

static void multiply(void *user, int64_t from, int64_t to) {
    emicp *e = user;
    for (size_t i = (size_t)from; i < (size_t)to; ++i) {
        const float *row = e->matrix + i * e->columns;
        float sum = 0, x = 0, y = 0, z = 0;
        ATN_LANES(reduction(+ : sum, x, y, z))
        for (size_t j = 0; j < e->columns; ++j) {
            sum += row[j];
            x += row[j] * e->x[0][j];
            y += row[j] * e->x[1][j];
            z += row[j] * e->x[2][j];
        }
        e->lambda[i] = sum;
        e->partner[0][i] = x;
        e->partner[1][i] = y;
        e->partner[2][i] = z;
    }
}

void emicp_estep(emicp *e) {
    move(e);
    atn_parallel((int64_t)e->rows, 1, update, e);
    atn_parallel((int64_t)e->rows, 1, sum_rows, e);
    atn_parallel((int64_t)e->rows, 1, normalise, e);
    atn_parallel((int64_t)e->rows, 1, multiply, e);
}

bool emicp_step(emicp *e) {
    geom_moments m = {0};
    geom_pose by;
    emicp_estep(e);
    for (size_t i = 0; i < e->rows; ++i) {
        double lambda = (double)e->lambda[i];
        m.weight += lambda;
        for (int a = 0; a < 3; ++a) {
            m.x[a] += (double)e->partner[a][i];
            m.y[a] += lambda * (double)e->moved[a][i];
            for (int b = 0; b < 3; ++b) m.cross[3 * a + b] += (double)e->partner[a][i] * (double)e->moved[b][i];
        }
    }
    if (!geom_fit(&m, ATN_TRANSFORM_RIGID, &by)) return false;
    e->pose = geom_pose_compose(&by, &e->pose);
    e->sigma2 *= FACTOR;
    return true;
}
