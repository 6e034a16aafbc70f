/* The loops of reference_multigrid.c; included once for each REAL. The equation of a cell is
 * sum over its neighbours q of (u(p) - u(q)) = f(p), the same on all grids: f of a cell is the sum over its four. */

static REAL NAME(wrap)(REAL d) {
    const REAL turn = (REAL)6.283185307179586;
    return d - turn * NEAREST(d / turn);
}

static void NAME(load_rows)(void *user, int64_t from, int64_t to) {
    const over *o = user;
    const REAL *psi = o->from;
    REAL *f = o->to;
    int n = o->n;
    for (int j = (int)from; j < (int)to; ++j)
        for (int i = 0; i < n; ++i) {
            const REAL *p = psi + (ptrdiff_t)j * n + i;
            REAL sum = 0;
            if (i > 0) sum += NAME(wrap)(p[0] - p[-1]);
            if (i < n - 1) sum -= NAME(wrap)(p[1] - p[0]);
            if (j > 0) sum += NAME(wrap)(p[0] - p[-n]);
            if (j < n - 1) sum -= NAME(wrap)(p[n] - p[0]);
            f[(ptrdiff_t)j * n + i] = sum;
        }
}

static void NAME(load)(const REAL *psi, int n, REAL *f) {
    rows(n, NAME(load_rows), &(over){.from = psi, .to = f, .n = n});
}

static void NAME(count_rows)(void *user, int64_t from, int64_t to) {
    over *o = user;
    const REAL *psi = o->from;
    int n = o->n;
    int64_t count = 0;
    for (int j = (int)from; j < (int)to; ++j)
        for (int i = 0; i < n - 1; ++i) {
            const REAL *p = psi + (ptrdiff_t)j * n + i;
            REAL around = NAME(wrap)(p[1] - p[0]) + NAME(wrap)(p[n + 1] - p[1]) + NAME(wrap)(p[n] - p[n + 1]) +
                          NAME(wrap)(p[0] - p[n]);
            count += around > 3 || around < -3;
        }
    atomic_fetch_add(&o->count, count);
}

static int64_t NAME(count_residues)(const REAL *psi, int n) {
    over o = {.from = psi, .n = n};
    rows(n - 1, NAME(count_rows), &o);
    return o.count;
}

/* A neighbour outside is the cell itself: that is the Neumann border. */
static REAL NAME(border)(const REAL *u, int n, int i, int j, REAL *count) {
    const REAL *p = u + (ptrdiff_t)j * n + i;
    REAL sum = 0;
    *count = 0;
    if (i > 0) sum += p[-1], *count += 1;
    if (i < n - 1) sum += p[1], *count += 1;
    if (j > 0) sum += p[-n], *count += 1;
    if (j < n - 1) sum += p[n], *count += 1;
    return sum;
}

static void NAME(relax_cell)(REAL *u, const REAL *f, int n, int i, int j) {
    REAL count, sum = NAME(border)(u, n, i, j, &count);
    u[(ptrdiff_t)j * n + i] = (sum + f[(ptrdiff_t)j * n + i]) / count;
}

static void NAME(sweep_rows)(void *user, int64_t from, int64_t to) {
    const over *o = user;
    REAL *u = o->to;
    const REAL *f = o->load;
    int n = o->n;
    for (int j = (int)from; j < (int)to; ++j) {
        int first = (j + o->colour) % 2;
        if (j == 0 || j == n - 1) {
            for (int i = first; i < n; i += 2) NAME(relax_cell)(u, f, n, i, j);
            continue;
        }
        if (first == 0) NAME(relax_cell)(u, f, n, 0, j);
        REAL *row = u + (ptrdiff_t)j * n;
        const REAL *load = f + (ptrdiff_t)j * n;
        for (int i = first == 0 ? 2 : 1; i < n - 1; i += 2)
            row[i] = (REAL)0.25 * (row[i - 1] + row[i + 1] + row[i - n] + row[i + n] + load[i]);
        if ((n - 1) % 2 == first) NAME(relax_cell)(u, f, n, n - 1, j);
    }
}

static void NAME(sweep)(REAL *u, const REAL *f, int n) {
    for (int colour = 0; colour < 2; ++colour)
        rows(n, NAME(sweep_rows), &(over){.to = u, .load = f, .n = n, .colour = colour});
}

static void NAME(residual_rows)(void *user, int64_t from, int64_t end) {
    const over *o = user;
    const REAL *u = o->from, *f = o->load;
    REAL *r = o->to;
    int n = o->n;
    for (int j = (int)from; j < (int)end; ++j) {
        const REAL *row = u + (ptrdiff_t)j * n, *load = f + (ptrdiff_t)j * n;
        REAL *to = r + (ptrdiff_t)j * n;
        bool edge = j == 0 || j == n - 1;
        for (int i = 0; i < n; ++i) {
            if (edge || i == 0 || i == n - 1) {
                REAL count, sum = NAME(border)(u, n, i, j, &count);
                to[i] = load[i] + sum - count * row[i];
            }
        }
        for (int i = 1; i < n - 1 && !edge; ++i)
            to[i] = load[i] + row[i - 1] + row[i + 1] + row[i - n] + row[i + n] - 4 * row[i];
    }
}

static void NAME(residual)(const REAL *u, const REAL *f, int n, REAL *r) {
    rows(n, NAME(residual_rows), &(over){.from = u, .load = f, .to = r, .n = n});
}

static void NAME(add_up_rows)(void *user, int64_t from, int64_t to) {
    const over *o = user;
    const REAL *r = o->from;
    REAL *coarse = o->to;
    int n = o->n, half = n / 2;
    for (int j = (int)from; j < (int)to; ++j)
        for (int i = 0; i < half; ++i) {
            const REAL *p = r + (ptrdiff_t)(2 * j) * n + 2 * i;
            coarse[(ptrdiff_t)j * half + i] = p[0] + p[1] + p[n] + p[n + 1];
        }
}

static void NAME(add_up)(const REAL *r, int n, REAL *coarse) {
    rows(n / 2, NAME(add_up_rows), &(over){.from = r, .to = coarse, .n = n});
}

/* Bilinear: 9, 3, 3 and 1 sixteenths of the four nearest coarse cells; outside is the border's own cell. */
static void NAME(interpolate_rows)(void *user, int64_t from, int64_t end) {
    const over *o = user;
    const REAL *coarse = o->from;
    REAL *u = o->to;
    int n = o->n, half = n / 2;
    bool add = o->add;
    for (int j = (int)from; j < (int)end; ++j) {
        int near = j / 2, far = near + (j % 2 ? 1 : -1);
        if (far < 0 || far == half) far = near;
        const REAL *a = coarse + (ptrdiff_t)near * half, *b = coarse + (ptrdiff_t)far * half;
        REAL *to = u + (ptrdiff_t)j * n;
        for (int i = 0; i < half; ++i) {
            int left = i > 0 ? i - 1 : 0, right = i < half - 1 ? i + 1 : i;
            REAL here = (9 * a[i] + 3 * b[i]) / 16;
            REAL even = here + (3 * a[left] + b[left]) / 16, odd = here + (3 * a[right] + b[right]) / 16;
            to[2 * i] = add ? to[2 * i] + even : even;
            to[2 * i + 1] = add ? to[2 * i + 1] + odd : odd;
        }
    }
}

static void NAME(interpolate)(const REAL *coarse, int n, REAL *u, bool add) {
    rows(n, NAME(interpolate_rows), &(over){.from = coarse, .to = u, .n = n, .add = add});
}

static void NAME(cycle)(multigrid_reference *m, int level, int count) {
    int n = m->side >> level;
    REAL *u = m->u[level], *f = m->f[level], *r = m->r[level];
    if (level == count - 1) {
        for (int k = 0; k < LAST; ++k) NAME(sweep)(u, f, n);
        return;
    }
    for (int k = 0; k < BEFORE; ++k) NAME(sweep)(u, f, n);
    NAME(residual)(u, f, n, r);
    NAME(add_up)(r, n, m->f[level + 1]);
    REAL *e = m->u[level + 1];
    for (ptrdiff_t k = 0; k < (ptrdiff_t)(n / 2) * (ptrdiff_t)(n / 2); ++k) e[k] = 0;
    NAME(cycle)(m, level + 1, count);
    NAME(interpolate)(e, n, u, true);
    for (int k = 0; k < AFTER; ++k) NAME(sweep)(u, f, n);
}

static void NAME(run)(multigrid_reference *m) {
    int count = levels(m->side);
    m->residues = NAME(count_residues)(m->psi, m->side);
    NAME(load)(m->psi, m->side, m->f[0]);
    for (int level = 0; level < count - 1; ++level) NAME(add_up)(m->f[level], m->side >> level, m->f[level + 1]);
    REAL *last = m->u[count - 1];
    int coarsest = m->side >> (count - 1);
    for (int k = 0; k < coarsest * coarsest; ++k) last[k] = 0;
    NAME(cycle)(m, count - 1, count);
    for (int level = count - 2; level >= 0; --level) {
        NAME(interpolate)(m->u[level + 1], m->side >> level, m->u[level], false);

        NAME(cycle)(m, level, count);
    }
    for (int k = 0; k < m->cycles; ++k) NAME(cycle)(m, 0, count);
}
