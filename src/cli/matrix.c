/* Transforms in files, their rotation angle, and the distance between two of them. */
#include "cli/matrix.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 1 << 24 }; /* of a file with a transform: results of large batches are JSON too */
static const double DEGREES = 57.29577951308232;

/* ---- files ---- */

/* Down to the numbers: 16 of them, however they are nested. */
static bool take_json(const json_t *value, double *out, size_t *n) {
    size_t k;
    json_t *each;
    if (json_is_number(value)) {
        if (*n < 16) out[*n] = json_number_value(value);
        ++*n;
        return true;
    }
    if (!json_is_array(value)) return false;
    json_array_foreach(value, k, each) if (!take_json(each, out, n)) return false;
    return true;
}

static atn_status read_json(const atn_ctx *ctx, const char *path, const char *text, double *out, size_t *n) {
    json_error_t error;
    json_t *root = json_loads(text, JSON_DECODE_ANY, &error);
    if (!root) return atn_fail(ctx, ATN_ERR_INPUT, "%s:%d: %s", path, error.line, error.text);
    const json_t *value = json_is_object(root) ? json_object_get(root, "transform") : root;
    atn_status status = ATN_OK;
    if (!value)
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: the object has no \"transform\"", path);
    else if (!take_json(value, out, n))
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: a transform is 4 lists of 4 numbers", path);
    json_decref(root);
    return status;
}

static atn_status read_text(const atn_ctx *ctx, const char *path, const char *text, double *out, size_t *n) {
    int line = 1;
    for (const char *at = text; *at;) {
        char *end;
        if (*at == '#' || *at == '%') {
            at += strcspn(at, "\n");
        } else if (strchr(" \t\r\n,;", *at)) {
            line += *at++ == '\n';
        } else {
            double value = atn_number_read(at, &end);
            if (end == at || !strchr(" \t\r\n,;", *end)) /* the end of the text too */
                return atn_fail(ctx, ATN_ERR_INPUT, "%s:%d: '%.*s' is not a number; a transform is 4 rows of 4 numbers",
                                path, line, (int)strcspn(at, " \t\r\n,;"), at);
            if (*n < 16) out[*n] = value;
            ++*n;
            at = end;
        }
    }
    return ATN_OK;
}

static double determinant(const double m[9]) {
    return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
}

/* Of the linear part, relative to its largest element. */
static bool is_singular(const double m[16]) {
    double part[9], largest = 0;
    for (int k = 0; k < 9; ++k) largest = fmax(largest, fabs(part[k] = m[4 * (k / 3) + k % 3]));
    for (int k = 0; k < 9 && largest > 0; ++k) part[k] /= largest;
    return !(fabs(determinant(part)) > 1e-12);
}

static atn_status check(const atn_ctx *ctx, const char *path, const double *m, size_t n) {
    if (n != 16)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: a transform is 4 rows of 4 numbers; here are %zu numbers", path, n);
    for (int k = 0; k < 16; ++k)
        if (!isfinite(m[k])) return atn_fail(ctx, ATN_ERR_INPUT, "%s: a transform has finite numbers", path);
    bool row = fabs(m[12]) + fabs(m[13]) + fabs(m[14]) + fabs(m[15] - 1) < 1e-9;
    bool column = fabs(m[3]) + fabs(m[7]) + fabs(m[11]) + fabs(m[15] - 1) < 1e-9;
    if (row && is_singular(m))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: the transform is singular: it puts all points onto a plane", path);
    if (row) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: the last row must be 0 0 0 1%s", path,
                    column ? "; this matrix is column-major, transpose it" : "");
}

atn_status atn_cli_matrix_read(const atn_ctx *ctx, const char *path, double out[16]) {
    char *text;
    size_t length, n = 0;
    atn_status status = atn_file_read(ctx, path, LONGEST, &text, &length);
    if (status) return status;
    char first = text[strspn(text, " \t\r\n")];
    status = first == '{' || first == '[' ? read_json(ctx, path, text, out, &n) : read_text(ctx, path, text, out, &n);
    if (!status) status = check(ctx, path, out, n);
    atn_free(ctx, text);
    return status;
}

atn_status atn_cli_matrix_write(const atn_ctx *ctx, const char *path, const double matrix[16]) {
    atn_text text = {.ctx = ctx};
    for (int k = 0; k < 16; ++k) {
        char number[ATN_NUMBER_TEXT];
        atn_number_print(matrix[k], number);
        atn_text_printf(&text, "%s%c", number, k % 4 == 3 ? '\n' : ' ');
    }
    atn_status status = atn_text_status(&text);
    if (!status) status = atn_file_write(ctx, path, atn_text_str(&text), text.length);
    atn_text_free(&text);
    return status;
}

/* JSON knows no infinity: null. */
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *atn_cli_json_matrix(const double *values, size_t rows, size_t columns) {
    json_t *matrix = json_array();
    for (size_t i = 0; i < rows; ++i) {
        json_t *row = json_array();
        bool good = true;
        for (size_t j = 0; j < columns && good; ++j)
            good = json_array_append_new(row, number(values[i * columns + j])) == 0;
        if (json_array_append_new(matrix, row) == 0 && good) continue;
        json_decref(matrix);
        return NULL;
    }
    return matrix;
}

/* ---- rotations ---- */

/* Newton's iteration for the polar decomposition, X <- (X + X^-T) / 2; the inverse's transpose is the cofactors over
 * the determinant. False: there is no rotation near. */
static bool nearest_rotation(double x[9]) {
    double size = cbrt(determinant(x));
    if (!(size > 1e-150) || !isfinite(size)) return false;
    for (int k = 0; k < 9; ++k) x[k] /= size;
    for (int step = 0; step < 60; ++step) {
        double old[9], change = 0, d = determinant(x);
        memcpy(old, x, sizeof old);
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) {
                int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, e = (j + 2) % 3;
                double cofactor = old[3 * a + c] * old[3 * b + e] - old[3 * a + e] * old[3 * b + c];
                x[3 * i + j] = 0.5 * (old[3 * i + j] + cofactor / d);
                change += fabs(x[3 * i + j] - old[3 * i + j]);
            }
        if (!isfinite(change)) return false;
        if (change < 1e-15) break;
    }
    return true;
}

/* The angle between rotations: |A - B| = 2 sqrt(2) sin(angle / 2), exact for small ones too. */
static double angle_between(const double a[9], const double b[9]) {
    double sum = 0;
    for (int k = 0; k < 9; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return 2 * asin(fmin(1, sqrt(sum / 8))) * DEGREES;
}

atn_cli_turn atn_cli_turn_of(const double m[16]) {
    static const double STILL[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    atn_cli_turn turn = {.axis = {1, 0, 0}};
    double *r = turn.rotation;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) r[3 * i + j] = m[4 * i + j];
    turn.known = nearest_rotation(r);
    if (!turn.known) return turn;
    turn.degrees = angle_between(r, STILL);
    double twice[3] = {r[7] - r[5], r[2] - r[6], r[3] - r[1]}; /* 2 sin(angle) axis */
    double length = sqrt(twice[0] * twice[0] + twice[1] * twice[1] + twice[2] * twice[2]);
    if (length > 1e-6) {
        for (int d = 0; d < 3; ++d) turn.axis[d] = twice[d] / length;
    } else if (turn.degrees > 90) { /* half a turn: R = 2 a a^T - 1 */
        int most = r[0] >= r[4] && r[0] >= r[8] ? 0 : r[4] >= r[8] ? 1 : 2;
        double root = sqrt(fmax(0, 0.5 * (r[4 * most] + 1)));
        for (int d = 0; d < 3; ++d) turn.axis[d] = d == most ? root : 0.5 * r[3 * most + d] / root;
    }
    return turn;
}

atn_cli_apart atn_cli_matrix_apart(const double m[16], const double truth[16], const atn_cloud *cloud) {
    atn_cli_turn a = atn_cli_turn_of(m), b = atn_cli_turn_of(truth);
    atn_cli_apart apart = {.rotation_deg = a.known && b.known ? angle_between(a.rotation, b.rotation) : NAN};
    double sum = 0;
    size_t n = atn_cloud_info_of(cloud).points;
    for (int i = 0; i < 3; ++i) sum += (m[4 * i + 3] - truth[4 * i + 3]) * (m[4 * i + 3] - truth[4 * i + 3]);
    apart.translation = sqrt(sum);
    sum = 0;
    const double *x[3] = {atn_cloud_positions(cloud, 0), atn_cloud_positions(cloud, 1), atn_cloud_positions(cloud, 2)};
    for (size_t k = 0; k < n; ++k)
        for (int i = 0; i < 3; ++i) {
            double way = m[4 * i + 3] - truth[4 * i + 3];
            for (int j = 0; j < 3; ++j) way += (m[4 * i + j] - truth[4 * i + j]) * x[j][k];
            sum += way * way;
        }
    apart.rms = n ? sqrt(sum / (double)n) : 0;
    return apart;
}
