/* The described parts of the polish against plain loops in double: shapes from sums, pairs and what counts of them, the
 * sums of a step, and what each pair adds. */
#include "regkit.h"

#include "apps/register/covariance.h"
#include "apps/register/polish.h"
#include "geom/eigen.h"
#include "num/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 300, COLUMNS = 260, BLOCK = 32 };
static const int AXES[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

static reg_side side_with(kit_host *host, atn_type type, size_t count, bool species, uint64_t seed) {
    cloud_points points;
    reg_side side;
    const double origin[3] = {0, 0, 0};
    kit_ok(host->ctx, cloud_points_make(host->ctx, count, species, &points));
    for (size_t k = 0; k < count; ++k) {
        for (int a = 0; a < 3; ++a) points.position[a][k] = kit_uniform(&seed) * (a == 2 ? 0.05 : 1);
        if (species) points.species[k] = (int32_t)(3 * k / count);
        if (k == 1) points.position[0][k] = 5; /* so far from all others that their weights are next to nothing */
        points.weight[k] = k % 9 ? (float)(0.5 + kit_uniform(&seed)) : 0;
    }
    kit_ok(host->ctx, reg_side_make(host->device, &points, origin, 1, type, BLOCK, &side));
    cloud_points_free(&points);
    return side;
}

static reg_side side_of(kit_host *host, atn_type type, size_t count, uint64_t seed) {
    return side_with(host, type, count, false, seed);
}

/* Symmetric matrices with eigenvalues of 1 and more, in six rows. */
static atn_array *shapes_of(kit_host *host, const reg_side *side, uint64_t seed, double out[][6]) {
    atn_array *array, *whole;
    double *rows = calloc(6 * side->padded, sizeof *rows);
    for (size_t r = 0; r < side->padded; ++r) {
        double u[3], by = 30 * kit_uniform(&seed);
        for (int a = 0; a < 3; ++a) u[a] = kit_uniform(&seed) - 0.5;
        for (int k = 0; k < 6; ++k) {
            out[r][k] = (double)(float)((k < 3) + by * u[AXES[k][0]] * u[AXES[k][1]]);
            rows[(size_t)k * side->padded + r] = out[r][k];
        }
    }
    kit_ok(host->ctx, atn_array_create_vector(host->device, side->type, 6 * (int64_t)side->padded, &whole));
    kit_ok(host->ctx, reg_array_put(whole, 6 * side->padded, rows));
    kit_ok(host->ctx, atn_array_view_matrix(whole, 6, (int64_t)side->padded, &array));
    atn_array_free(whole);
    free(rows);
    return array;
}

/* 3 x 3 of six. */
static void unpack(const double c[6], double m[9]) {
    for (int k = 0; k < 6; ++k) m[3 * AXES[k][0] + AXES[k][1]] = m[3 * AXES[k][1] + AXES[k][0]] = c[k];
}

typedef struct plain {
    double h[36], g[6], weight, cost, pairs;
} plain;

/* One pair: W, q and the row J of each coordinate. */
static void add_pair(const double c[9], const double y[3], const double d[3], double w, double scale2, plain *to) {
    double m[9], inverse[9], q = 0, f[3];
    memcpy(m, c, sizeof m);
    assert_true(geom_invert_symmetric(3, m, inverse));
    for (int i = 0; i < 3; ++i) {
        f[i] = 0;
        for (int j = 0; j < 3; ++j) f[i] += inverse[3 * i + j] * d[j];
        q += d[i] * f[i];
    }
    double u = q / (4.7 * 4.7 * scale2), k = u < 1 ? w * (1 - u) * (1 - u) : 0;
    const double jac[3][6] = {
        {0, y[2], -y[1], 1, 0, 0}, {-y[2], 0, y[0], 0, 1, 0}, {y[1], -y[0], 0, 0, 0, 1}}; /* of y by a twist */
    for (int a = 0; a < 6; ++a)
        for (int i = 0; i < 3; ++i) {
            to->g[a] += k * jac[i][a] * f[i];
            for (int b = 0; b < 6; ++b)
                for (int j = 0; j < 3; ++j) to->h[6 * a + b] += k * jac[i][a] * inverse[3 * i + j] * jac[j][b];
        }
    to->weight += k;
    to->cost += k * q;
}

static void near(double found, double right, double size, const char *what) {
    if (!(fabs(found - right) <= 2e-4 * size)) fail_msg("%s: %g, %g is right", what, found, right);
}

/* Everything over all pairs in reach, by looking at all of them. */
static void plainly(const reg_side *rows, const reg_side *columns, double source[][6], double target[][6],
                    const geom_pose *pose, double reach, const reg_polish_state *s, bool both, plain *out) {
    *out = (plain){0};
    for (size_t r = 0; r < rows->padded; ++r) {
        double at[3] = {rows->position[0][r], rows->position[1][r], rows->position[2][r]}, y[3], d[3] = {0};
        double best = INFINITY, c[9], other[9];
        size_t with = 0;
        geom_pose_apply(pose, at, y);
        for (size_t k = 0; k < columns->padded; ++k) {
            double d2 = 0;
            for (int i = 0; i < 3; ++i) d2 += pow(columns->position[i][k] - y[i], 2);
            if (d2 >= best) continue;
            best = d2;
            with = k;
        }
        if (!(rows->weight[r] > 0) || best > reach * reach) continue;
        for (int i = 0; i < 3; ++i) d[i] = columns->position[i][with] - y[i];
        unpack(target[with], c);
        unpack(source[r], other);
        for (int i = 0; i < 3 && both; ++i)
            for (int j = 0; j < 3; ++j)
                for (int k = 0; k < 9; ++k) c[3 * i + j] += pose->a[3 * i + k / 3] * other[k] * pose->a[3 * j + k % 3];
        for (int k = 0; k < 9; ++k) c[k] /= both ? 2 : 1;
        add_pair(c, y, d, (double)rows->weight[r], s->scale2, out);
        ++out->pairs;
    }
}

static void compare(const reg_polish_state *s, const plain *right) {
    double largest = 0, pull = 0;
    for (int k = 0; k < 36; ++k) largest = fmax(largest, fabs(right->h[k]));
    for (int k = 0; k < 6; ++k) pull = fmax(pull, fabs(right->g[k]));
    assert_true(right->pairs > 50);
    assert_true(s->pairs == right->pairs);
    for (int k = 0; k < 36; ++k) near(s->h[k], right->h[k], largest, "h");
    for (int k = 0; k < 6; ++k) near(s->g[k], right->g[k], pull, "g");
    near(s->weight, right->weight, right->weight, "weight");
    near(s->cost, right->cost, right->cost, "cost");
}

/* Terms of `per` neighbours, REG_POLISH_TERM numbers for each column; freed by the caller. */
static double *terms_of(kit_host *host, reg_polish_state *s, const geom_pose *pose, size_t per, size_t *columns) {
    atn_array *terms;
    *columns = (s->source->padded + per - 1) / per;
    double *out = calloc(*columns * REG_POLISH_TERM, sizeof *out);
    const void *numbers;
    kit_ok(host->ctx, reg_polish_terms(s, pose, per, &terms));
    assert_int_equal(atn_array_info_of(terms).shape[1], *columns);
    kit_ok(host->ctx, atn_array_map_read(terms, &numbers));
    for (size_t at = 0; at < *columns * REG_POLISH_TERM; ++at)
        out[at % *columns * REG_POLISH_TERM + at / *columns] =
            s->source->type == ATN_DP ? ((const double *)numbers)[at] : (double)((const float *)numbers)[at];
    atn_array_free(terms);
    return out;
}

/* What the pairs add is what the sums are of; neighbours together are what they are alone, at the mean of their places.
 */
static void compare_terms(kit_host *host, reg_polish_state *s, const geom_pose *pose) {
    static const size_t PER[] = {1, 3, 8, 1000};
    size_t rows, columns;
    double *one = terms_of(host, s, pose, 1, &rows), size = 0;
    for (int k = 0; k < 6; ++k) size = fmax(size, fabs(s->g[k]));
    for (size_t p = 0; p < sizeof PER / sizeof *PER; ++p) {
        double *some = terms_of(host, s, pose, PER[p], &columns), all[7] = {0};
        for (size_t c = 0; c < columns; ++c) {
            double sum[REG_POLISH_TERM] = {0}, count = 0;
            for (size_t r = c * PER[p]; r < rows && r < (c + 1) * PER[p]; ++r) {
                const double *term = one + r * REG_POLISH_TERM;
                if (!(term[9] > 0)) continue;
                for (int k = 0; k < REG_POLISH_TERM; ++k) sum[k] += term[k];
                ++count;
            }
            const double *term = some + c * REG_POLISH_TERM;
            for (int k = 0; k < 3 && count > 0; ++k) near(term[k], sum[k] / count, 1, "place of terms");
            for (int k = 3; k < 9; ++k) near(term[k], sum[k], size, "terms of neighbours");
            near(term[9], sum[9], s->weight, "weight of neighbours");
            for (int k = 0; k < 7; ++k) all[k] += term[3 + k];
        }
        for (int k = 0; k < 6; ++k) near(all[k], s->g[k], size, "sum of terms");
        near(all[6], s->weight, s->weight, "weight of terms");
        free(some);
    }
    free(one);
}

static void sums_agree(int32_t precision, atn_type type) {
    kit_host host = host_open();
    atn_register_settings settings = {.precision = precision};
    const double twist[6] = {0.02, -0.03, 0.04, 0.01, -0.02, 0.005}, reach = 0.09;
    static double source[ROWS + BLOCK][6], target[COLUMNS + BLOCK][6];
    reg_problem *p = calloc(1, sizeof *p);
    reg_side rows = side_of(&host, type, ROWS, 1), other = side_of(&host, type, ROWS, 1),
             columns = side_of(&host, type, COLUMNS, 2);
    reg_surface surface = {
        .spacing = 0.1, .source = shapes_of(&host, &rows, 3, source), .target = shapes_of(&host, &columns, 4, target)};
    geom_pose pose = geom_pose_exp(twist);
    kit_ok(host.ctx, reg_engine_open(host.device, &settings, &p->engine));
    for (int both = 0; both < 2; ++both) {
        reg_polish_state s;
        plain right;
        kit_ok(host.ctx, reg_polish_open(p, &surface, &rows, &columns, &s));
        if (!both) s.source = &other; /* the same points; shapes are not known of them */
        kit_ok(host.ctx, reg_polish_step(&s, &pose, reach));
        plainly(&rows, &columns, source, target, &pose, reach, &s, both, &right);
        compare(&s, &right);
        compare_terms(&host, &s, &pose);
        reg_polish_close(&s);
    }
    reg_surface_free(&surface);
    reg_side_free(&rows);
    reg_side_free(&other);
    reg_side_free(&columns);
    reg_engine_close(&p->engine);
    free(p);
    host_close(&host);
}

KIT_TEST(sums_agree_with_plain_loops) {
    sums_agree(32, ATN_SP);
    sums_agree(64, ATN_DP);
}

/* By copies that the host makes, with lists of their blocks, or that are made where the points are, for all pairs. */
static void curvature_agrees(bool species) {
    enum { FEW = 60 }; /* few enough that all pairs of their copies are sooner than lists */
    kit_host host = host_open();
    atn_register_settings settings = {.precision = 32};
    static double shapes[FEW + 3 * BLOCK][6];
    const double twist[6] = {0.02, -0.03, 0.04, 0.01, -0.02, 0.005};
    geom_pose pose = geom_pose_exp(twist);
    double h[2][36], size = 0;
    reg_problem *p = calloc(1, sizeof *p);
    reg_side rows = side_with(&host, ATN_SP, FEW, species, 1), columns = side_with(&host, ATN_SP, FEW, species, 2);
    reg_surface surface = {
        .spacing = 0.1, .source = shapes_of(&host, &rows, 3, shapes), .target = shapes_of(&host, &columns, 4, shapes)};
    reg_polish_state s;
    kit_ok(host.ctx, reg_engine_open(host.device, &settings, &p->engine));
    kit_ok(host.ctx, reg_polish_open(p, &surface, &rows, &columns, &s));
    kit_ok(host.ctx, reg_polish_step(&s, &pose, REG_POLISH_NEAREST * surface.spacing));
    for (int remote = 0; remote < 2; ++remote) {
        p->engine.remote = remote;
        kit_ok(host.ctx, reg_curvature(&s, &pose, h[remote]));
    }
    for (int k = 0; k < 36; ++k) size = fmax(size, fabs(h[0][k]));
    assert_true(size > 0);
    for (int k = 0; k < 36; ++k) near(h[1][k], h[0][k], 10 * size, "curvature");
    p->engine.remote = false;
    reg_polish_close(&s);
    reg_surface_free(&surface);
    reg_side_free(&rows);
    reg_side_free(&columns);
    reg_engine_close(&p->engine);
    free(p);
    host_close(&host);
}

KIT_TEST(the_curvature_is_that_of_the_same_pairs_everywhere) {
    curvature_agrees(false);
    curvature_agrees(true);
}

/* A side's points about one of them: mean and spread, then C = sum (l_k / l0)^2 u_k u_k^T. */
static double plain_shape(const reg_side *side, size_t r, double scale, double reach, double out[6]) {
    double mass = 0, mean[3] = {0}, square[9] = {0}, value[3], vector[9];
    for (size_t k = 0; k < side->padded; ++k) {
        double d[3], d2 = 0;
        for (int i = 0; i < 3; ++i) {
            d[i] = scale * (side->position[i][k] - side->position[i][r]);
            d2 += d[i] * d[i];
        }
        if (d2 > 4 * reach * reach || !(side->weight[k] > 0)) continue;
        double a = (double)side->weight[k] * exp2(-d2);
        mass += a;
        for (int i = 0; i < 9; ++i) square[i] += a * d[i / 3] * d[i % 3];
        for (int i = 0; i < 3; ++i) mean[i] += a * d[i];
    }
    for (int i = 0; i < 9; ++i) square[i] = square[i] / mass - mean[i / 3] / mass * (mean[i % 3] / mass);
    geom_eigen(3, square, value, vector);
    for (int k = 0; k < 6; ++k) out[k] = k < 3;
    if (!(value[2] > 1e-9)) return 1;
    double least = fmax(value[0], 0.03 * value[2]);
    for (int k = 0; k < 6; ++k) {
        out[k] = 0;
        for (int n = 0; n < 3; ++n) {
            double l = fmax(value[n], least) / least;
            out[k] += l * l * vector[3 * AXES[k][0] + n] * vector[3 * AXES[k][1] + n];
        }
    }
    return sqrt(fmax(value[0], 0) / fmax(value[1], least));
}

static double *numbers_of(kit_host *host, atn_array *array, size_t count) {
    double *numbers = calloc(count, sizeof *numbers);
    kit_ok(host->ctx, reg_array_get(array, count, numbers));
    return numbers;
}

static void shapes_agree(int32_t precision, atn_type type) {
    kit_host host = host_open();
    atn_register_settings settings = {.precision = precision};
    reg_engine engine;
    reg_side side = side_of(&host, type, ROWS, 5);
    atn_array *about, *ratio;
    double *shapes, *ratios;
    double scale = 6, reach = 4;
    geom_pose scaled = geom_pose_scaled(&GEOM_IDENTITY, scale);
    kit_ok(host.ctx, reg_engine_open(host.device, &settings, &engine));
    kit_ok(host.ctx, reg_place(&engine, &side, &scaled));
    kit_ok(host.ctx, reg_shapes(&engine, &side, &side, reach, 0.03, &about, &ratio));
    shapes = numbers_of(&host, about, 6 * side.padded);
    ratios = numbers_of(&host, ratio, side.padded);
    for (size_t r = 0; r < side.padded; ++r) {
        double right[6], flat = plain_shape(&side, r, scale, reach, right), size = 1;
        for (int k = 0; k < 3; ++k) size = fmax(size, right[k]);
        for (int k = 0; k < 6; ++k) near(shapes[(size_t)k * side.padded + r] / size, right[k] / size, 10, "shape");
        near(ratios[r], flat, 10, "ratio");
    }
    free(shapes);
    free(ratios);
    atn_array_free(about);
    atn_array_free(ratio);
    reg_side_free(&side);
    reg_engine_close(&engine);
    host_close(&host);
}

KIT_TEST(shapes_agree_with_eigenvectors) {
    shapes_agree(32, ATN_SP);
    shapes_agree(64, ATN_DP);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_agree_with_plain_loops),
        cmocka_unit_test(the_curvature_is_that_of_the_same_pairs_everywhere),
        cmocka_unit_test(shapes_agree_with_eigenvectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
