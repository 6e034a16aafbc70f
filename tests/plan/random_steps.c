/* The kernels of random programs: each kind that plans tell apart. */
#include "random_steps.h"

#include <stdio.h>
#include <string.h>

int draw_below(maker *m, int count) { return (int)(kit_random(&m->random) % (uint64_t)count); }
int draw_kind(maker *m, int count) { return draw_below(m, m->few && count > 2 ? 2 : count); }
bool draw_chance(maker *m, int percent) { return draw_below(m, 100) < percent; }

const char *draw_shape(int rank) { return rank == 2 ? "matrix" : "vector"; }

/* ---- names ---- */

static bool same_shape(const random_datum *a, const random_datum *b) {
    return a->rank == b->rank && a->type == b->type && !memcmp(a->size, b->size, sizeof a->size);
}

static bool is_one(const random_datum *d) { return d->rank == 1 && d->size[0][0] == 1 && d->size[1][0] == 1; }

/* What nobody has read yet before all others: steps that read one another. */
random_datum *draw_array(maker *m, int rank, int most_margin, const random_datum *like) {
    random_datum *found[MOST_DATA], *drawn = NULL;
    int n = 0;
    for (int k = 0; k < m->s->n; ++k) {
        random_datum *d = &m->s->data[k];
        if (!d->has_value || d->rank != rank || d->margin > most_margin || d->type != m->type) continue;
        if (like && !same_shape(d, like)) continue;
        found[n++] = d;
    }
    for (int k = 0; k < n; ++k)
        if (!found[k]->is_read && found[k]->use == RANDOM_TEMPORARY) drawn = found[k];
    if (n && (!drawn || draw_chance(m, 15))) drawn = draw_chance(m, 65) ? found[n - 1] : found[draw_below(m, n)];
    if (drawn) drawn->is_read = true;
    return drawn;
}

random_datum *draw_one(maker *m) {
    random_datum *found[MOST_DATA];
    int n = 0;
    for (int k = 0; k < m->s->n; ++k)
        if (m->s->data[k].has_value && is_one(&m->s->data[k]) && m->s->data[k].type == m->type)
            found[n++] = &m->s->data[k];
    return n ? found[draw_below(m, n)] : NULL;
}

void draw_indent(maker *m) {
    for (int k = 0; k <= m->s->depth; ++k) atn_text_add(&m->s->body, "    ");
}

/* A name that may take what is like `shape`: one that is there, or a new one. NULL: no room. */
random_datum *draw_target(maker *m, const random_datum *shape) {
    scope *s = m->s;
    if (draw_chance(m, 25)) {
        for (int turn = 0, at = draw_below(m, s->n ? s->n : 1); turn < s->n; ++turn, at = (at + 1) % s->n) {
            random_datum *d = &s->data[at];
            bool kept = d->depth < s->depth || (s->inner && d->use != RANDOM_TEMPORARY); /* seen from outside */
            if (!d->has_value || d->use == RANDOM_IN || !same_shape(d, shape)) continue;
            if (kept && shape->margin > d->margin) continue;
            if (!kept) d->margin = shape->margin;
            d->is_read = false;
            return d;
        }
    }
    if (s->n == MOST_DATA) return NULL;
    random_datum *d = &s->data[s->n++];
    *d = *shape;
    snprintf(d->name, sizeof d->name, "t%d", ++m->names);
    d->use = RANDOM_TEMPORARY;
    d->depth = s->depth;
    d->has_value = d->declared = d->is_read = false;
    return d;
}

/* Declares a new name as large as `like`: always where a step leaves elements out, else now and then. */
static void declare(maker *m, random_datum *d, const random_datum *like) {
    if (d->has_value || !(d->margin || draw_chance(m, 20))) return;
    draw_indent(m);
    if (d->rank == 2)
        atn_text_printf(&m->s->body, "%s: matrix %s[rows(%s), columns(%s)]\n", d->name, atn_type_name(d->type),
                        like->name, like->name);
    else
        atn_text_printf(&m->s->body, "%s: vector %s[length(%s)]\n", d->name, atn_type_name(d->type), like->name);
    d->declared = true;
}

int64_t draw_least(const random_datum *d) {
    int64_t n = INT64_MAX;
    for (int v = 0; v < SIZES; ++v)
        for (int axis = 0; axis < d->rank; ++axis)
            if (d->size[v][axis] < n) n = d->size[v][axis];
    return n;
}

static int64_t most(const random_datum *d) {
    int64_t n = 0;
    for (int v = 0; v < SIZES; ++v)
        for (int axis = 0; axis < d->rank; ++axis)
            if (d->size[v][axis] > n) n = d->size[v][axis];
    return n;
}

static random_datum resized(const random_datum *d, int64_t factor, int64_t divisor, int64_t more) {
    random_datum other = *d;
    other.margin = 0;
    for (int v = 0; v < SIZES; ++v)
        for (int axis = 0; axis < d->rank; ++axis) other.size[v][axis] = d->size[v][axis] * factor / divisor + more;
    return other;
}

/* ---- steps ---- */

/* A number known before the run, or one that steps make; in *made whether it is that. */
static void scalar(maker *m, char *out, size_t room) {
    const random_datum *one = draw_one(m);
    int kind = draw_below(m, one ? 6 : 3);
    if (kind == 0) snprintf(out, room, "%d", draw_below(m, 5) - 2);
    if (kind == 1) snprintf(out, room, "w");
    if (kind == 2) snprintf(out, room, "w + %d", draw_below(m, 3));
    if (kind == 3 || kind == 4) snprintf(out, room, "%s", one->name);
    if (kind == 5) snprintf(out, room, "%s - w", one->name);
}

/* y[i] = f(x[i], z[i], s), over all elements that both have. */
static void map_step(maker *m, int rank) {
    static const char *const of[] = {"2 * p - q + 1",  "min(p, q)", "max(p, q) - 2",      "p > q ? p : q - 1",  "p * q",
                                     "abs(p - q) - r", "p + r * q", "p == q ? r : p + q", "q + clamp(r, -9, 9)"};
    random_datum *x = draw_array(m, rank, 9, NULL), *z = x ? draw_array(m, rank, 9, x) : NULL;
    if (!x) return;
    random_datum shape = *x;
    shape.margin = z->margin > x->margin ? z->margin : x->margin;
    if (draw_least(&shape) < 2 * shape.margin) return;
    char s[64];
    scalar(m, s, sizeof s);
    random_datum xs = *x, zs = *z, *y = draw_target(m, &shape);
    if (!y) return;
    declare(m, y, &xs);
    const char *f = of[draw_kind(m, (int)(sizeof of / sizeof *of))];
    int number = ++m->kernels, b = shape.margin;
    atn_text *k = &m->kernel_text;
    atn_text_printf(k, "kernel map%d(x, z: %s %s, s: %s) -> y: %s %s\n", number, draw_shape(rank), m->t, m->t,
                    draw_shape(rank), m->t);
    if (b && rank == 1) atn_text_printf(k, "    for i in length(x) - %d\n    ", 2 * b);
    if (b && rank == 2) atn_text_printf(k, "    for i, j in rows(x) - %d, columns(x) - %d\n    ", 2 * b, 2 * b);
    char at[32];
    if (rank == 1)
        b ? snprintf(at, sizeof at, "i + %d", b) : snprintf(at, sizeof at, "i");
    else
        b ? snprintf(at, sizeof at, "i + %d, j + %d", b, b) : snprintf(at, sizeof at, "i, j");
    const char *in = b ? "    " : "";
    atn_text_printf(k, "    p, q, r = x[%s], z[%s], clamp(s, -100, 100)\n", at, at);
    atn_text_printf(k, "%s    y[%s] = clamp(%s, -100, 100)\n", in[0] ? in : "", at, f);
    draw_indent(m);
    atn_text_printf(&m->s->body, "%s = map%d(%s, %s, %s)\n", y->name, number, xs.name, zs.name, s);
    y->has_value = true;
}

/* Neighbours beyond the edge. */
static void edge_step(maker *m, int rank) {
    static const char *const edges[] = {"clamped", "zero", "wrapped", "mirrored"};
    random_datum *x = draw_array(m, rank, 0, NULL);
    random_datum shape;
    if (!x || (shape = *x, draw_least(x) < 1)) return;
    random_datum *y = draw_target(m, &shape);
    if (!y) return;
    declare(m, y, &shape);
    int number = ++m->kernels;
    const char *edge = edges[draw_kind(m, 4)];
    if (rank == 1)
        atn_text_printf(&m->kernel_text,
                        "kernel edge%d(x: vector %s) -> y: vector %s\n"
                        "    y[i] = clamp(x[i - 1] + x[i + %d] - x[i], -100, 100)  with x %s\n",
                        number, m->t, m->t, 1 + draw_kind(m, 2), edge);
    else
        atn_text_printf(&m->kernel_text,
                        "kernel edge%d(x: matrix %s) -> y: matrix %s\n"
                        "    y[i, j] = clamp(x[i - 1, j] + x[i + 1, j] - x[i, j + %d] + x[i, j], -100, 100)  with x "
                        "%s\n",
                        number, m->t, m->t, 1 + draw_kind(m, 2), edge);
    draw_indent(m);
    atn_text_printf(&m->s->body, "%s = edge%d(%s)\n", y->name, number, shape.name);
    y->has_value = true;
}

/* Neighbours inside alone: a smaller result, or a margin that is left out. */
static void inner_step(maker *m, int rank) {
    random_datum *x = draw_array(m, rank, 2, NULL);
    if (!x) return;
    bool smaller = x->margin == 0 && draw_chance(m, 50);
    random_datum shape = smaller ? resized(x, 1, 1, -2) : *x;
    int b = smaller ? 0 : (shape.margin = x->margin + 1), number = m->kernels + 1;
    if (draw_least(x) < (smaller ? 3 : 2 * b)) return;
    random_datum xs = *x, *y = draw_target(m, &shape);
    if (!y) return;
    if (!smaller) declare(m, y, &xs);
    ++m->kernels;
    int less = smaller ? 2 : 2 * b, low = smaller ? 0 : b - 1;
    atn_text *k = &m->kernel_text;
    atn_text_printf(k, "kernel inner%d(x: %s %s) -> y: %s %s\n", number, draw_shape(rank), m->t, draw_shape(rank),
                    m->t);
    if (rank == 1)
        atn_text_printf(k,
                        "    for i in length(x) - %d\n"
                        "        y[i + %d] = clamp(x[i + %d] - x[i + %d] + x[i + %d], -100, 100)\n",
                        less, b, low, low + 1, low + 2);
    else
        atn_text_printf(k,
                        "    for i, j in rows(x) - %d, columns(x) - %d\n"
                        "        y[i + %d, j + %d] = clamp(x[i + %d, j + %d] - x[i + %d, j + %d] + x[i + %d, j + %d], "
                        "-100, 100)\n",
                        less, less, b, b, low, low + 1, low + 1, low, low + 2, low + 1);
    draw_indent(m);
    atn_text_printf(&m->s->body, "%s = inner%d(%s)\n", y->name, number, xs.name);
    y->has_value = true;
}

/* One element of all. */
static void total_step(maker *m, int rank) {
    static const char *const joins[] = {"sum", "max", "min"};
    random_datum *x = draw_array(m, rank, 2, NULL);
    if (!x || draw_least(x) < 2 * x->margin + 1) return;
    random_datum shape = *x, xs = *x;
    shape.rank = 1;
    shape.margin = 0;
    for (int v = 0; v < SIZES; ++v) shape.size[v][0] = shape.size[v][1] = 1;
    random_datum *y = draw_target(m, &shape);
    if (!y) return;
    int number = ++m->kernels, b = xs.margin;
    const char *join = joins[draw_kind(m, 3)];
    if (rank == 1)
        atn_text_printf(&m->kernel_text,
                        "kernel total%d(x: vector %s) -> s: vector %s\n"
                        "    s[0] = clamp(%s(i in length(x) - %d) x[i + %d], -5000, 5000)\n",
                        number, m->t, m->t, join, 2 * b, b);
    else
        atn_text_printf(&m->kernel_text,
                        "kernel total%d(x: matrix %s) -> s: vector %s\n"
                        "    s[0] = %s(i, j in rows(x) - %d, columns(x) - %d) x[i + %d, j + %d]\n",
                        number, m->t, m->t, join, 2 * b, 2 * b, b, b);
    draw_indent(m);
    atn_text_printf(&m->s->body, "%s = total%d(%s)\n", y->name, number, xs.name);
    y->has_value = true;
}

/* A vector of rows' sums, or the product with another. */
static void rows_step(maker *m) {
    random_datum *x = draw_array(m, 2, 0, NULL);
    if (!x) return;
    random_datum shape = *x, xs = *x;
    shape.rank = 1;
    for (int v = 0; v < SIZES; ++v) shape.size[v][0] = x->size[v][1], shape.size[v][1] = 1;
    random_datum *y = draw_target(m, &shape);
    if (!y) return;
    int number = ++m->kernels;
    atn_text_printf(&m->kernel_text,
                    "kernel rows%d(x: matrix %s) -> y: vector %s\n    y[i] = clamp(sum(j) x[i, j], -100, 100)\n",
                    number, m->t, m->t);
    draw_indent(m);
    atn_text_printf(&m->s->body, "%s = rows%d(%s)\n", y->name, number, xs.name);
    y->has_value = true;
}

/* Some elements changed where they lie. */
static void place_step(maker *m, int rank) {
    random_datum *x = draw_array(m, rank, 0, NULL);
    if (!x || x->use == RANDOM_IN || draw_least(x) < 1) return;
    int number = ++m->kernels;
    bool near = draw_chance(m, 50);
    atn_text *k = &m->kernel_text;
    atn_text_printf(k, "kernel place%d(inout u: %s %s, c: INT32)\n", number, draw_shape(rank), m->t);
    if (rank == 1)
        atn_text_printf(k, "    u[i] = clamp(%s, -100, 100)  %s (i + c) mod 2 == 0\n",
                        near ? "u[i - 1] + u[i + 1] - u[i]" : "3 - u[i]", near ? "with u clamped, where" : "where");
    else
        atn_text_printf(k, "    u[i, j] = clamp(%s, -100, 100)  %s (i + j + c) mod 2 == 0\n",
                        near ? "u[i - 1, j] + u[i + 1, j] - u[i, j - 1] + u[i, j + 1]" : "3 - u[i, j]",
                        near ? "with u clamped, where" : "where");
    draw_indent(m);
    static const char *const colours[] = {"0", "1", "k", "k + 1"};
    atn_text_printf(&m->s->body, "place%d(%s, %s)\n", number, x->name, colours[draw_below(m, 4)]);
}

static void turn_step(maker *m) {
    random_datum *x = draw_array(m, 2, 0, NULL);
    if (!x) return;
    random_datum shape = *x, xs = *x;
    for (int v = 0; v < SIZES; ++v) shape.size[v][0] = x->size[v][1], shape.size[v][1] = x->size[v][0];
    random_datum *y = draw_target(m, &shape);
    if (!y) return;
    int number = ++m->kernels;
    atn_text_printf(&m->kernel_text,
                    "kernel turn%d(x: matrix %s) -> y: matrix %s\n    y[j, i] = clamp(x[i, j] + %d, -100, 100)\n",
                    number, m->t, m->t, draw_kind(m, 3));
    draw_indent(m);
    atn_text_printf(&m->s->body, "%s = turn%d(%s)\n", y->name, number, xs.name);
    y->has_value = true;
}

/* Every point makes 2, or 2 x 2, children; or one of so many. */
static void scale_step(maker *m, int rank) {
    bool up = draw_chance(m, 50);
    random_datum *x = draw_array(m, rank, 0, NULL);
    if (!x || (up && most(x) > LONGEST / 2) || (!up && draw_least(x) < 2)) return;
    random_datum shape = up ? resized(x, 2, 1, 0) : resized(x, 1, 2, 0), xs = *x, *y = draw_target(m, &shape);
    if (!y) return;
    int number = ++m->kernels;
    atn_text *k = &m->kernel_text;
    atn_text_printf(k, "kernel scale%d(x: %s %s) -> y: %s %s\n", number, draw_shape(rank), m->t, draw_shape(rank),
                    m->t);
    if (rank == 1 && up)
        atn_text_add(k, "    for i in x\n        y[2 * i] = x[i]\n        y[2 * i + 1] = clamp(x[i] - 1, -100, 100)\n");
    else if (rank == 1)
        atn_text_add(k, "    for i in length(x) / 2\n        y[i] = clamp(x[2 * i] - x[2 * i + 1], -100, 100)\n");
    else if (up)
        atn_text_add(k, "    for i, j in rows(x), columns(x)\n        y[2 * i, 2 * j] = x[i, j]\n"
                        "        y[2 * i, 2 * j + 1] = clamp(x[i, j] + 1, -100, 100)\n"
                        "        y[2 * i + 1, 2 * j] = clamp(2 - x[i, j], -100, 100)\n"
                        "        y[2 * i + 1, 2 * j + 1] = -x[i, j]\n");
    else
        atn_text_add(k,
                     "    for i, j in rows(x) / 2, columns(x) / 2\n"
                     "        y[i, j] = clamp(x[2 * i, 2 * j] + x[2 * i + 1, 2 * j + 1] - x[2 * i, 2 * j + 1], -100, "
                     "100)\n");
    draw_indent(m);
    atn_text_printf(&m->s->body, "%s = scale%d(%s)\n", y->name, number, xs.name);
    y->has_value = true;
}

/* Two results of one step, one of them of another type in between. */
static void pair_step(maker *m) {
    random_datum *x = draw_array(m, 1, 0, NULL);
    if (!x) return;
    random_datum xs = *x, *y = draw_target(m, &xs);
    if (!y) return;
    int number = ++m->kernels;
    atn_text_printf(&m->kernel_text,
                    "kernel pair%d(x: vector %s) -> y: vector %s, b: vector INT32\n"
                    "    y[i], b[i] = clamp(x[i] + 3, -100, 100), x[i] > %d ? 1 : 0\n"
                    "kernel choose%d(x: vector %s, b: vector INT32) -> y: vector %s\n"
                    "    y[i] = b[i] == 1 ? x[i] : clamp(1 - x[i], -100, 100)\n",
                    number, m->t, m->t, draw_kind(m, 5) - 2, number, m->t, m->t);
    draw_indent(m);
    atn_text_printf(&m->s->body, "%s, b%d = pair%d(%s)\n", y->name, number, number, xs.name);
    y->has_value = true;
    draw_indent(m);
    char from[RANDOM_NAME];
    snprintf(from, sizeof from, "%s", y->name);
    random_datum like = *y, *z = draw_target(m, &like);
    if (!z) z = y;
    atn_text_printf(&m->s->body, "%s = choose%d(%s, b%d)\n", z->name, number, from, number);
    z->has_value = true;
}

/* Arithmetic on one value. */
static void single_step(maker *m) {
    random_datum *one = draw_one(m);
    if (!one) return;
    random_datum from = *one, *y = draw_target(m, &from);
    if (!y) return;
    draw_indent(m);
    atn_text_printf(&m->s->body, "%s = clamp(%s, -100, 100)\n", y->name,
                    draw_chance(m, 50)   ? "w - 7"
                    : draw_chance(m, 50) ? from.name
                                         : "2 * w");
    y->has_value = true;
}

/* Of what waits to be read, mostly. */
static int draw_rank(maker *m) {
    for (int k = m->s->n - 1; k >= 0 && draw_chance(m, 95); --k) {
        const random_datum *d = &m->s->data[k];
        if (d->has_value && !d->is_read && d->use == RANDOM_TEMPORARY && d->type == m->type) return d->rank;
    }
    return 1 + draw_below(m, 2);
}

void draw_kernel_step(maker *m) {
    int rank = draw_rank(m);
    switch (draw_below(m, 12)) {
    case 0:
    case 1:
    case 2:
        map_step(m, rank);
        break;
    case 3:
        edge_step(m, rank);
        break;
    case 4:
    case 5:
        inner_step(m, rank);
        break;
    case 6:
        total_step(m, rank);
        break;
    case 7:
        rows_step(m);
        break;
    case 8:
        place_step(m, rank);
        break;
    case 9:
        turn_step(m);
        break;
    case 10:
        scale_step(m, rank);
        break;
    default:
        draw_chance(m, 50) ? pair_step(m) : single_step(m);
        break;
    }
}
