/* The end of a frame that has holes, on the host: parts that hang together over edges that weigh anything, each off the
 * phase by an angle of its own, or by turns that are known, then whole turns, piston and tilt, and how it all fits. */
#include "apps/unwrap/unwrap.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

typedef struct sea {
    const void *psi, *u;
    const double *turns;  /* or NULL: from u */
    const float *quality; /* or NULL */
    const uint8_t *mask;
    void *out;
    atn_type type;
    int64_t width, height;
    int32_t *part;  /* per pixel: its island, -1: not valid */
    int32_t *stack; /* room for all pixels */
    int32_t islands;
    double *cosine, *sine; /* per island: sums, then the angle in cosine */
} sea;

static double number(const void *from, atn_type type, int64_t k) {
    return type == ATN_DP ? ((const double *)from)[k] : (double)((const float *)from)[k];
}

static void store(const sea *s, int64_t k, double value) {
    if (s->type == ATN_DP)
        ((double *)s->out)[k] = value;
    else
        ((float *)s->out)[k] = (float)value;
}

static double wrapped(double d) {
    double turn = 2 * acos(-1.0);
    return d - turn * rint(d / turn);
}

static bool valid(const sea *s, int64_t k) { return s->mask[k] && isfinite(number(s->psi, s->type, k)); }

/* Does the pair weigh anything? */
static bool coupled(const sea *s, int64_t p, int64_t q) {
    return !s->quality || (s->quality[p] > 0 && s->quality[q] > 0);
}

static int64_t reach(sea *s, int64_t top, int64_t from, int64_t k) {
    if (s->part[k] != -2 || !coupled(s, from, k)) return top;
    s->part[k] = s->islands;
    s->stack[top] = (int32_t)k;
    return top + 1;
}

/* part: -2 valid and not seen. */
static void flood(sea *s, int64_t seed) {
    int64_t top = 1, w = s->width, h = s->height;
    s->part[seed] = s->islands;
    s->stack[0] = (int32_t)seed;
    while (top > 0) {
        int64_t k = s->stack[--top], i = k % w, j = k / w;
        if (i + 1 < w) top = reach(s, top, k, k + 1);
        if (j + 1 < h) top = reach(s, top, k, k + w);
        if (i > 0) top = reach(s, top, k, k - 1);
        if (j > 0) top = reach(s, top, k, k - w);
    }
    ++s->islands;
}

static void find_islands(sea *s) {
    int64_t pixels = s->width * s->height;
    for (int64_t k = 0; k < pixels; ++k) s->part[k] = valid(s, k) ? -2 : -1;
    for (int64_t k = 0; k < pixels; ++k)
        if (s->part[k] == -2) flood(s, k);
}

static void find_angles(sea *s) {
    for (int64_t k = 0; k < s->width * s->height; ++k) {
        if (s->part[k] < 0) continue;
        double d = number(s->u, s->type, k) - number(s->psi, s->type, k);
        s->cosine[s->part[k]] += cos(d);
        s->sine[s->part[k]] += sin(d);
    }
    for (int32_t n = 0; n < s->islands; ++n) s->cosine[n] = atan2(s->sine[n], s->cosine[n]);
}

static void write_out(sea *s, bool congruent) {
    double turn = 2 * acos(-1.0);
    for (int64_t k = 0; k < s->width * s->height; ++k) {
        if (s->part[k] < 0) {
            store(s, k, NAN);
            continue;
        }
        double psi = number(s->psi, s->type, k), free = number(s->u, s->type, k) - s->cosine[s->part[k]];
        store(s, k, congruent ? psi + turn * rint((free - psi) / turn) : free);
    }
}

/* The mean of each island's turns is 0, as near as whole turns come. */
static void write_turns(sea *s) {
    double turn = 2 * acos(-1.0);
    for (int64_t k = 0; k < s->width * s->height; ++k) {
        if (s->part[k] < 0) continue;
        s->cosine[s->part[k]] += s->turns[k];
        s->sine[s->part[k]] += 1;
    }
    for (int64_t k = 0; k < s->width * s->height; ++k) {
        int32_t part = s->part[k];
        store(s, k,
              part < 0 ? NAN
                       : number(s->psi, s->type, k) + turn * (s->turns[k] - rint(s->cosine[part] / s->sine[part])));
    }
}

typedef struct fit {
    double squares, pairs, cuts, farthest;
} fit;

static void look_at(const sea *s, int64_t a, int64_t b, fit *f) {
    if (s->part[a] < 0 || s->part[b] < 0) return;
    double d = number(s->out, s->type, b) - number(s->out, s->type, a) -
               wrapped(number(s->psi, s->type, b) - number(s->psi, s->type, a));
    f->squares += d * d;
    f->pairs += 1;
    f->cuts += fabs(d) > acos(-1.0);
}

static void report(const sea *s, bool congruent, atn_unwrap_result *result) {
    fit f = {0};
    for (int64_t j = 0; j < s->height; ++j)
        for (int64_t i = 0; i < s->width; ++i) {
            int64_t k = j * s->width + i;
            if (s->part[k] < 0) continue;
            if (i + 1 < s->width) look_at(s, k, k + 1, &f);
            if (j + 1 < s->height) look_at(s, k, k + s->width, &f);
            double d = wrapped(number(s->out, s->type, k) - number(s->psi, s->type, k));
            f.farthest = fmax(f.farthest, fabs(d));
        }
    result->residual_rms = f.pairs > 0 ? sqrt(f.squares / f.pairs) : 0;
    result->cut_length = (int64_t)f.cuts;
    result->congruence_max = congruent ? 0 : f.farthest;
    result->islands = s->islands;
}

/* The plane of least squares through all valid pixels, about their middle; 0 along a direction they do not span. */
static void take_tilt(sea *s) {
    double n = 0, x = 0, y = 0, v = 0, xx = 0, xy = 0, yy = 0, xv = 0, yv = 0;
    for (int pass = 0; pass < 3; ++pass) {
        double det = xx * yy - xy * xy, tx = 0, ty = 0;
        if (det > 1e-9 * (xx * xx + yy * yy)) {
            tx = (xv * yy - yv * xy) / det;
            ty = (yv * xx - xv * xy) / det;
        } else if (xx + yy > 0) {
            tx = xx > yy ? xv / xx : 0;
            ty = xx > yy ? 0 : yv / yy;
        }
        for (int64_t k = 0; k < s->width * s->height; ++k) {
            if (s->part[k] < 0) continue;
            double i = (double)(k % s->width), j = (double)(k / s->width), value = number(s->out, s->type, k);
            if (pass == 0) {
                n += 1, x += i, y += j, v += value;
            } else if (pass == 1) {
                i -= x, j -= y;
                xx += i * i, xy += i * j, yy += j * j, xv += i * (value - v), yv += j * (value - v);
            } else {
                store(s, k, value - tx * (i - x) - ty * (j - y));
            }
        }
        if (pass == 0 && n > 0) x /= n, y /= n, v /= n;
    }
}

static void take_pistons(sea *s) {
    memset(s->cosine, 0, (size_t)s->islands * sizeof *s->cosine);
    memset(s->sine, 0, (size_t)s->islands * sizeof *s->sine);
    for (int64_t k = 0; k < s->width * s->height; ++k)
        if (s->part[k] >= 0) {
            s->cosine[s->part[k]] += number(s->out, s->type, k);
            s->sine[s->part[k]] += 1;
        }
    for (int64_t k = 0; k < s->width * s->height; ++k)
        if (s->part[k] >= 0) store(s, k, number(s->out, s->type, k) - s->cosine[s->part[k]] / s->sine[s->part[k]]);
}

static atn_status map(atn_unwrap *u, sea *s) {
    const void *mask;
    atn_status status = atn_array_map_read(u->psi, &s->psi);
    if (status == ATN_OK && !s->turns) status = atn_array_map_read(u->u[u->now], &s->u);
    if (status == ATN_OK) status = atn_array_map_read(u->mask, &mask);
    if (status == ATN_OK) status = atn_array_map_write(u->out, &s->out);
    s->mask = status == ATN_OK ? mask : NULL;
    return status;
}

atn_status unwrap_islands(atn_unwrap *u, const atn_unwrap_settings *settings, const double *turns,
                          atn_unwrap_result *result) {
    sea s = {.type = u->type, .width = u->width, .height = u->height, .quality = settings->quality, .turns = turns};
    atn_status status = map(u, &s);
    s.part = atn_alloc(u->ctx, (size_t)u->pixels * sizeof *s.part);
    s.stack = atn_alloc(u->ctx, (size_t)u->pixels * sizeof *s.stack);
    if (status == ATN_OK && (!s.part || !s.stack)) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        find_islands(&s);
        s.cosine = atn_zalloc(u->ctx, ((size_t)s.islands + 1) * sizeof *s.cosine);
        s.sine = atn_zalloc(u->ctx, ((size_t)s.islands + 1) * sizeof *s.sine);
        if (!s.cosine || !s.sine) status = ATN_ERR_MEMORY;
    }
    if (status == ATN_OK) {
        if (turns)
            write_turns(&s);
        else {
            find_angles(&s);
            write_out(&s, settings->congruent);
        }
        report(&s, settings->congruent, result);
        if (settings->remove == ATN_UNWRAP_REMOVE_TILT) take_tilt(&s);
        if (settings->remove != ATN_UNWRAP_REMOVE_NOTHING) take_pistons(&s);
    }
    atn_free(u->ctx, s.part);
    atn_free(u->ctx, s.stack);
    atn_free(u->ctx, s.cosine);
    atn_free(u->ctx, s.sine);
    return status;
}
