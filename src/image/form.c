/* Figures and Zernike fits. Z = N r^|m| P(r^2) cos or sin(m phi), where r^|m| cos(m phi) is the real part of (x +
 * iy)^|m|: no angle is ever taken. N makes the mean square over the unit disc 1. */
#include "image/form.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

static double height_at(const form_surface *s, int64_t k) { return s->doubles ? s->doubles[k] : (double)s->single[k]; }

static void set_height(const form_surface *s, int64_t k, double value) {
    if (s->doubles)
        s->doubles[k] = value;
    else
        s->single[k] = (float)value;
}

/* ---- figures ---- */

/* The plane a + b x + c y of least squares, about the middle of the image: sums of the valid pixels in, three numbers
 * out by Cramer's rule; a plane that is not determined is level. */
static void plane_of(const double m[6], const double v[3], double plane[3]) {
    double det =
        m[0] * (m[3] * m[5] - m[4] * m[4]) - m[1] * (m[1] * m[5] - m[4] * m[2]) + m[2] * (m[1] * m[4] - m[3] * m[2]);
    plane[0] = m[0] > 0 ? v[0] / m[0] : 0;
    plane[1] = plane[2] = 0;
    if (!(fabs(det) > 1e-12 * m[0] * (m[3] + 1) * (m[5] + 1))) return;
    plane[0] =
        (v[0] * (m[3] * m[5] - m[4] * m[4]) - m[1] * (v[1] * m[5] - m[4] * v[2]) + m[2] * (v[1] * m[4] - m[3] * v[2])) /
        det;
    plane[1] =
        (m[0] * (v[1] * m[5] - m[4] * v[2]) - v[0] * (m[1] * m[5] - m[4] * m[2]) + m[2] * (m[1] * v[2] - v[1] * m[2])) /
        det;
    plane[2] =
        (m[0] * (m[3] * v[2] - v[1] * m[4]) - m[1] * (m[1] * v[2] - v[1] * m[2]) + v[0] * (m[1] * m[4] - m[3] * m[2])) /
        det;
}

void form_figures_of(const form_surface *s, form_figures *out) {
    double cx = 0.5 * (double)(s->width - 1), cy = 0.5 * (double)(s->height - 1), sum = 0, square = 0, first = NAN;
    double m[6] = {0}, v[3] = {0}, plane[3];
    *out = (form_figures){.low = INFINITY, .high = -INFINITY};
    for (int64_t j = 0, k = 0; j < s->height; ++j)
        for (int64_t i = 0; i < s->width; ++i, ++k) {
            double h = height_at(s, k), x = (double)i - cx, y = (double)j - cy;
            if (!isfinite(h)) continue;
            if (isnan(first)) first = h; /* sums about it lose nothing to a large piston */
            out->low = fmin(out->low, h);
            out->high = fmax(out->high, h);
            h -= first;
            ++out->valid;
            sum += h;
            square += h * h;
            m[0] += 1, m[1] += x, m[2] += y, m[3] += x * x, m[4] += x * y, m[5] += y * y;
            v[0] += h, v[1] += h * x, v[2] += h * y;
        }
    if (!out->valid) {
        *out = (form_figures){0};
        return;
    }
    double n = (double)out->valid, mean = sum / n, flat = 0, flat2 = 0;
    out->mean = first + mean;
    out->pv = out->high - out->low;
    out->rms = sqrt(fmax(0, square / n - mean * mean));
    plane_of(m, v, plane);
    for (int64_t j = 0, k = 0; j < s->height; ++j)
        for (int64_t i = 0; i < s->width; ++i, ++k) {
            double h = height_at(s, k);
            if (!isfinite(h)) continue;
            h -= first + plane[0] + plane[1] * ((double)i - cx) + plane[2] * ((double)j - cy);
            flat += fabs(h);
            flat2 += h * h;
        }
    out->sa = flat / n;
    out->sq = sqrt(flat2 / n);
}

/* ---- the aperture ---- */

form_aperture form_aperture_find(const form_surface *s) {
    int64_t low[2] = {INT64_MAX, INT64_MAX}, high[2] = {-1, -1};
    form_aperture a = {0};
    for (int64_t j = 0; j < s->height; ++j)
        for (int64_t i = 0; i < s->width; ++i) {
            if (!isfinite(height_at(s, j * s->width + i))) continue;
            if (i < low[0]) low[0] = i;
            if (i > high[0]) high[0] = i;
            if (j < low[1]) low[1] = j;
            if (j > high[1]) high[1] = j;
        }
    if (high[0] < 0) return a;
    a.x = 0.5 * (double)(low[0] + high[0]);
    a.y = 0.5 * (double)(low[1] + high[1]);
    double most = 0;
    for (int64_t j = 0; j < s->height; ++j)
        for (int64_t i = 0; i < s->width; ++i) {
            double x = (double)i - a.x, y = (double)j - a.y;
            if (isfinite(height_at(s, j * s->width + i))) most = fmax(most, x * x + y * y);
        }
    a.radius = sqrt(most) + 0.5; /* to the pixels' edges */
    return a;
}

void form_aperture_cut(const form_surface *s, const form_aperture *a) {
    for (int64_t j = 0; j < s->height; ++j)
        for (int64_t i = 0; i < s->width; ++i) {
            double x = (double)i - a->x, y = (double)j - a->y;
            if (x * x + y * y > a->radius * a->radius) set_height(s, j * s->width + i, NAN);
        }
}

/* ---- Zernike polynomials ---- */

void form_zernike_orders(int32_t j, int32_t *n, int32_t *m) {
    int32_t order = 0;
    while ((order + 1) * (order + 2) / 2 < j) ++order;
    int32_t at = j - order * (order + 1) / 2; /* from 1 within the order */
    int32_t size = order % 2 ? 2 * ((at - 1) / 2) + 1 : 2 * (at / 2);
    *n = order;
    *m = j % 2 ? -size : size; /* even terms are cosines */
}

const char *form_zernike_name(int32_t j) {
    static const char *const NAMES[] = {"",       "piston",          "tilt x",         "tilt y",
                                        "power",  "astigmatism 45°", "astigmatism 0°", "coma y",
                                        "coma x", "trefoil y",       "trefoil x",      "spherical"};
    return j > 0 && j < (int32_t)(sizeof NAMES / sizeof *NAMES) ? NAMES[j] : "";
}

enum { MOST_ORDER = 20 };

/* Terms 1 to `terms`, ready to be evaluated. */
typedef struct basis {
    int32_t terms;
    struct {
        int32_t n, m;
        double radial[MOST_ORDER / 2 + 1]; /* of powers of r^2, from 0, with N */
    } term[FORM_MOST_TERMS];
} basis;

static double factorial(int32_t n) { return n < 2 ? 1 : n * factorial(n - 1); }

static void basis_make(basis *b, int32_t terms) {
    b->terms = terms;
    for (int32_t t = 0; t < terms; ++t) {
        int32_t n, m;
        form_zernike_orders(t + 1, &n, &m);
        int32_t a = m < 0 ? -m : m;
        b->term[t].n = n;
        b->term[t].m = m;
        double norm = sqrt(a ? 2 * (n + 1) : n + 1);
        for (int32_t k = 0; k <= (n - a) / 2; ++k) /* r^(n - 2k) = r^a (r^2)^((n - a) / 2 - k) */
            b->term[t].radial[(n - a) / 2 - k] =
                (k % 2 ? -norm : norm) * factorial(n - k) /
                (factorial(k) * factorial((n + a) / 2 - k) * factorial((n - a) / 2 - k));
    }
}

static void basis_at(const basis *b, double x, double y, double *z) {
    double re[MOST_ORDER + 1] = {1}, im[MOST_ORDER + 1] = {0}, r2 = x * x + y * y;
    for (int k = 1; k <= MOST_ORDER; ++k) {
        re[k] = re[k - 1] * x - im[k - 1] * y;
        im[k] = re[k - 1] * y + im[k - 1] * x;
    }
    for (int32_t t = 0; t < b->terms; ++t) {
        int32_t a = b->term[t].m < 0 ? -b->term[t].m : b->term[t].m;
        double radial = 0;
        for (int32_t k = (b->term[t].n - a) / 2; k >= 0; --k) radial = radial * r2 + b->term[t].radial[k];
        z[t] = radial * (b->term[t].m < 0 ? im[a] : re[a]);
    }
}

/* In place: a (lower, row after row) x = b. False where it is not positive definite. */
static bool solve(int32_t n, double *a, double *b) {
    for (int32_t j = 0; j < n; ++j) {
        double *row = a + (size_t)j * (size_t)n, diagonal = row[j];
        for (int32_t k = 0; k < j; ++k) row[j] -= row[k] * row[k];
        if (!(row[j] > 1e-10 * diagonal)) return false;
        row[j] = sqrt(row[j]);
        for (int32_t i = j + 1; i < n; ++i) {
            double *other = a + (size_t)i * (size_t)n;
            for (int32_t k = 0; k < j; ++k) other[j] -= other[k] * row[k];
            other[j] /= row[j];
        }
    }
    for (int32_t j = 0; j < n; ++j) {
        for (int32_t k = 0; k < j; ++k) b[j] -= a[(size_t)j * (size_t)n + (size_t)k] * b[k];
        b[j] /= a[(size_t)j * (size_t)n + (size_t)j];
    }
    for (int32_t j = n - 1; j >= 0; --j) {
        for (int32_t k = j + 1; k < n; ++k) b[j] -= a[(size_t)k * (size_t)n + (size_t)j] * b[k];
        b[j] /= a[(size_t)j * (size_t)n + (size_t)j];
    }
    return true;
}

/* Many terms of many pixels: every step-th pixel of every step-th row is enough. */
static int64_t step_of(const form_surface *s, int32_t terms) {
    static const double MOST = 3e9; /* multiplications */
    double work = (double)s->width * (double)s->height * terms * terms / 2;
    return work > MOST ? (int64_t)ceil(sqrt(work / MOST)) : 1;
}

atn_status form_zernike_fit(const atn_ctx *ctx, const form_surface *s, const form_aperture *a, int32_t terms,
                            double *coefficients) {
    size_t n = (size_t)terms;
    basis *b = atn_alloc(ctx, sizeof *b);
    double *normal = atn_zalloc(ctx, n * n * sizeof *normal), *z = atn_zalloc(ctx, n * sizeof *z);
    bool solved = false;
    atn_status status = b && normal && z ? ATN_OK : ATN_ERR_MEMORY;
    memset(coefficients, 0, n * sizeof *coefficients);
    if (!status) {
        int64_t step = step_of(s, terms);
        basis_make(b, terms);
        for (int64_t j = 0; j < s->height; j += step)
            for (int64_t i = 0; i < s->width; i += step) {
                double h = height_at(s, j * s->width + i);
                double x = ((double)i - a->x) / a->radius, y = ((double)j - a->y) / a->radius;
                if (!isfinite(h) || !(x * x + y * y <= 1)) continue;
                basis_at(b, x, y, z);
                for (size_t p = 0; p < n; ++p) {
                    double *row = normal + p * n;
                    for (size_t q = 0; q <= p; ++q) row[q] += z[p] * z[q];
                    coefficients[p] += h * z[p];
                }
            }
        solved = solve(terms, normal, coefficients);
    }
    if (!status && !solved)
        status = atn_fail(ctx, ATN_ERR_INPUT,
                          "%d Zernike terms: the valid pixels in the aperture do not determine them", (int)terms);
    atn_free(ctx, z);
    atn_free(ctx, normal);
    atn_free(ctx, b);
    return status;
}

atn_status form_zernike_subtract(const atn_ctx *ctx, const form_surface *s, const form_aperture *a, int32_t terms,
                                 const double *coefficients) {
    basis *b = atn_alloc(ctx, sizeof *b);
    double z[FORM_MOST_TERMS];
    if (!b) return ATN_ERR_MEMORY;
    basis_make(b, terms);
    for (int64_t j = 0; j < s->height; ++j)
        for (int64_t i = 0; i < s->width; ++i) {
            double h = height_at(s, j * s->width + i);
            if (!isfinite(h)) continue;
            basis_at(b, ((double)i - a->x) / a->radius, ((double)j - a->y) / a->radius, z);
            for (int32_t t = 0; t < terms; ++t) h -= coefficients[t] * z[t];
            set_height(s, j * s->width + i, h);
        }
    atn_free(ctx, b);
    return ATN_OK;
}
