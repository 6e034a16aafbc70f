/* Draws programs: kernels in blocks, loops, branches and other programs. All values are whole and at most 100 (sums of
 * one element aside), exact in every type. */
#include "random_steps.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void step(maker *m);

static void block(maker *m, int steps) {
    int n = m->s->n;
    size_t before = m->s->body.length;
    ++m->s->depth;
    for (int k = 0; k < steps; ++k) step(m);
    if (m->s->body.length == before) { /* a block has a line */
        draw_indent(m);
        atn_text_printf(&m->s->body, "e%d = 1 * w\n", ++m->names);
    }
    --m->s->depth;
    for (; n < m->s->n; ++n) m->s->data[n].has_value = false; /* not behind it */
}

static bool condition(maker *m, char *out, size_t room) {
    random_datum *one = draw_one(m), *x = draw_array(m, 1, 0, NULL);
    if (!one || (x && draw_least(x) > 0 && draw_chance(m, 30))) {
        if (!x || draw_least(x) < 1) return false;
        int number = ++m->kernels;
        atn_text_printf(&m->kernel_text, "kernel norm%d(x: vector %s) -> s: vector %s\n    s[0] = sum(i) x[i] * x[i]\n",
                        number, m->t, m->t);
        snprintf(out, room, "norm%d(%s) > %d * w + 5", number, x->name, draw_below(m, 40));
    } else {
        static const char *const how[] = {"%s > w", "w - %s < 9", "%s <= 40 + w"};
        int which = draw_below(m, 3);
        snprintf(out, room, how[which], one->name);
    }
    return true;
}

static void control_step(maker *m) {
    char test[96];
    int kind = draw_below(m, 4);
    if (kind == 0 || (kind > 1 && !condition(m, test, sizeof test))) {
        static const char *const often[] = {"2", "3", "k", "1", "70"};
        int which = draw_below(m, 5);
        draw_indent(m);
        atn_text_printf(&m->s->body, "repeat %s\n", often[which]);
        block(m, which == 4 ? 1 : 2);
    } else if (kind == 1) {
        static const char *const known[] = {"w > 1", "k == 1", "w < 2 and k > 0"};
        draw_indent(m);
        atn_text_printf(&m->s->body, "if %s\n", known[draw_below(m, 3)]);
        block(m, 2);
        if (draw_chance(m, 50)) {
            draw_indent(m);
            atn_text_add(&m->s->body, "else\n");
            block(m, 1);
        }
    } else if (kind == 2) {
        draw_indent(m);
        atn_text_printf(&m->s->body, "if %s\n", test);
        block(m, 2);
        if (draw_chance(m, 50)) {
            draw_indent(m);
            atn_text_add(&m->s->body, "else\n");
            block(m, 1);
        }
    } else if (m->s->n < MOST_DATA) {
        draw_indent(m);
        int number = ++m->names;
        atn_text_printf(&m->s->body, "while %s, at most %d, counted in n%d\n", test, 1 + draw_below(m, 4), number);
        block(m, 2);
        random_datum *counter = &m->s->data[m->s->n++];
        *counter = (random_datum){.use = RANDOM_TEMPORARY, .rank = 1, .type = ATN_INT32, .depth = m->s->depth};
        snprintf(counter->name, sizeof counter->name, "n%d", number);
        counter->size[0][0] = counter->size[1][0] = counter->size[0][1] = counter->size[1][1] = 1;
        counter->has_value = true;
    }
}

/* ---- other programs ---- */

static void print_head(const random_datum *data, int n, bool results, atn_text *out) {
    bool any = false;
    for (int k = 0; k < n; ++k) {
        if ((data[k].use == RANDOM_OUT) != results || data[k].use == RANDOM_TEMPORARY) continue;
        atn_text_printf(out, "%s%s%s: %s %s", any ? ", " : "", data[k].use == RANDOM_INOUT ? "inout " : "",
                        data[k].name, draw_shape(data[k].rank), atn_type_name(data[k].type));
        any = true;
    }
}

static void print_program(const char *name, const random_datum *data, int n, const char *t, const atn_text *body,
                          atn_text *out) {
    bool results = false;
    for (int k = 0; k < n; ++k) results |= data[k].use == RANDOM_OUT;
    atn_text_printf(out, "program %s(", name);
    print_head(data, n, false, out);
    atn_text_printf(out, ", w: %s, k: INT32)%s", t, results ? " -> " : "");
    if (results) print_head(data, n, true, out);
    atn_text_printf(out, "\n%s", atn_text_str(body));
}

/* A name of the outermost block becomes a result, one that nobody has read before others. */
static random_datum *promote(maker *m) {
    for (int turn = 0, at = draw_below(m, m->s->n); turn < 2 * m->s->n; ++turn, at = (at + 1) % m->s->n) {
        random_datum *d = &m->s->data[at];
        if (d->is_read && turn < m->s->n) continue;
        if (!d->has_value || d->depth || d->declared || d->use != RANDOM_TEMPORARY) continue;
        d->use = RANDOM_OUT;
        return d;
    }
    return NULL;
}

/* A program over arrays that are like those at hand. */
static sub *make_sub(maker *m) {
    if (m->n_subs == MOST_SUBS || m->s->inner) return NULL;
    random_datum *x = draw_array(m, 1, 0, NULL), *u = draw_array(m, 1 + draw_below(m, 2), 0, NULL);
    if (!x || !u) return NULL;
    scope *outer = m->s, *inner = calloc(1, sizeof *inner);
    sub *made = &m->subs[m->n_subs];
    *made = (sub){.n = 2, .head = {*x, *u}};
    for (int k = 0; k < 2; ++k) {
        snprintf(made->head[k].name, RANDOM_NAME, "a%d", ++m->names);
        made->head[k].use = k ? RANDOM_INOUT : RANDOM_IN;
        made->head[k].depth = 0;
        inner->data[inner->n++] = made->head[k];
    }
    inner->inner = true;
    inner->body.ctx = outer->body.ctx;
    m->s = inner;
    for (int k = 0; k < 3; ++k) step(m);
    const random_datum *result = promote(m);
    if (result && result->margin == 0) made->head[made->n++] = *result;
    if (result && result->margin) inner->data[result - inner->data].use = RANDOM_TEMPORARY;
    bool whole = inner->body.length > 0;
    if (whole) {
        snprintf(made->name, sizeof made->name, "sub%d", ++m->n_subs);
        print_program(made->name, inner->data, inner->n, m->t, &inner->body, &m->programs);
    }
    atn_text_free(&inner->body);
    free(inner);
    m->s = outer;
    return whole ? made : NULL;
}

static void call_step(maker *m) {
    const sub *s = m->n_subs && draw_chance(m, 50) ? &m->subs[draw_below(m, m->n_subs)] : make_sub(m);
    if (!s || m->s->inner) return;
    const random_datum *x = draw_array(m, s->head[0].rank, 0, &s->head[0]);
    const random_datum *u = draw_array(m, s->head[1].rank, 0, &s->head[1]);
    if (!x || !u || u->use == RANDOM_IN || !strcmp(x->name, u->name)) return;
    random_datum xs = *x, us = *u, *y = NULL;
    if (s->n == 3) {
        random_datum shape = s->head[2];
        y = draw_target(m, &shape);
        if (!y) return;
        if (!strcmp(y->name, us.name)) return;
    }
    draw_indent(m);
    if (y) atn_text_printf(&m->s->body, "%s = ", y->name);
    atn_text_printf(&m->s->body, "%s(%s, %s, %s, %s)\n", s->name, xs.name, us.name, draw_chance(m, 50) ? "w" : "w - 1",
                    draw_chance(m, 50) ? "k" : "1");
    if (y) y->has_value = true;
}

/* Down to few elements, and back. */
static void recursion_step(maker *m) {
    random_datum *x = draw_array(m, 1, 0, NULL), *u = x ? draw_array(m, 1, 0, x) : NULL;
    if (m->s->inner || !u || u->use == RANDOM_IN || !strcmp(x->name, u->name) || draw_least(x) < 1) return;
    int number = ++m->kernels;
    atn_text_printf(&m->kernel_text,
                    "kernel coarse%d(x: vector %s) -> y: vector %s\n"
                    "    for i in (length(x) + 1) / 2\n"
                    "        y[i] = clamp(x[2 * i - 1] + x[2 * i] - x[2 * i + 1], -100, 100)  with x zero\n"
                    "kernel add%d(u, e: vector %s) -> v: vector %s\n"
                    "    for i in u\n"
                    "        v[i] = clamp(u[i] + e[i / 2], -100, 100)\n"
                    "kernel none%d(x: vector %s) -> y: vector %s\n"
                    "    y[i] = 0 * x[i]\n",
                    number, m->t, m->t, number, m->t, m->t, number, m->t, m->t);
    atn_text_printf(&m->programs,
                    "program down%d(f: vector %s, inout u: vector %s, w: %s)\n"
                    "    if length(f) > 2\n"
                    "        c = coarse%d(f)\n"
                    "        e = none%d(c)\n"
                    "        down%d(c, e, w)\n"
                    "        u = add%d(u, e)\n"
                    "    else\n"
                    "        u = add%d(f, u)\n",
                    number, m->t, m->t, m->t, number, number, number, number, number);
    draw_indent(m);
    atn_text_printf(&m->s->body, "down%d(%s, %s, w)\n", number, x->name, u->name);
}

/* ---- the whole ---- */

static void step(maker *m) {
    if (m->budget-- <= 0) return;
    switch (draw_below(m, 15)) {
    case 0:
        draw_chance(m, 60) ? call_step(m) : recursion_step(m);
        break;
    case 1:
    case 2:
        if (m->s->depth < MOST_DEPTH) control_step(m);
        break;
    default:
        draw_kernel_step(m);
        break;
    }
}

static void begin_head(maker *m) {
    static const int64_t lengths[] = {0, 1, 2, 3, 5, 7, 8, 13, 16, 33, 64, 65},
                         edges[] = {0, 1, 2, 3, 5, 6, 7, 8, 16, 17};
    int64_t n[SIZES], rows[SIZES], columns[SIZES];
    for (int v = 0; v < SIZES; ++v) { /* small ones now and then */
        n[v] = lengths[draw_chance(m, 20) ? draw_below(m, 4) : 3 + draw_below(m, 9)];
        rows[v] = edges[draw_chance(m, 15) ? draw_below(m, 4) : 3 + draw_below(m, 7)];
        columns[v] = edges[draw_chance(m, 15) ? draw_below(m, 4) : 3 + draw_below(m, 7)];
    }
    static const char *const names[] = {"x", "u", "A", "B"};
    for (int k = 0; k < 4; ++k) {
        random_datum *d = &m->s->data[m->s->n++];
        *d = (random_datum){
            .use = k % 2 ? RANDOM_INOUT : RANDOM_IN, .rank = 1 + k / 2, .type = m->type, .has_value = true};
        snprintf(d->name, sizeof d->name, "%s", names[k]);
        for (int v = 0; v < SIZES; ++v) {
            d->size[v][0] = k < 2 ? n[v] : columns[v];
            d->size[v][1] = k < 2 ? 1 : rows[v];
        }
    }
}

/* Each kernel is called after what it is, so that programs have kernels, and what is built of them, in common: all
 * "NAME(" in `text` become "NOW(". */
static void call(atn_text *text, const char *name, const char *now) {
    atn_text done = {.ctx = text->ctx};
    const char *from = atn_text_str(text), *at;
    for (; (at = strstr(from, name)); from = at + strlen(name)) {
        atn_text_add_bytes(&done, from, (size_t)(at - from));
        atn_text_add(&done, now);
    }
    atn_text_add(&done, from);
    atn_text_free(text);
    *text = done;
}

static void name_kernels(maker *m, atn_text *kernels) {
    static const char KERNEL[] = "kernel ";
    const char *next;
    for (const char *at = atn_text_str(&m->kernel_text); *at; at = next) {
        char name[RANDOM_NAME], now[2 * RANDOM_NAME], digits[ATN_HASH_TEXT];
        at += sizeof KERNEL - 1;
        size_t length = strcspn(at, "(") + 1, word = strcspn(at, "0123456789");
        next = strstr(at, KERNEL);
        if (!next) next = at + strlen(at);
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        atn_hash_print(atn_hash_add((atn_hash){0}, at + length, (size_t)(next - at) - length), digits);
        snprintf(now, sizeof now, "%.*s_%.8s(", (int)word, at, digits);
        call(&m->programs, name, now);
        call(&m->s->body, name, now);
        if (strstr(atn_text_str(kernels), now)) continue;
        atn_text_printf(kernels, "%s%s", KERNEL, now);
        atn_text_add_bytes(kernels, at + length, (size_t)(next - at) - length);
    }
}

void random_program_make(const atn_ctx *ctx, uint64_t seed, bool few, random_program *out) {
    static const atn_type types[] = {ATN_SP, ATN_DP, ATN_INT32};
    maker *m = calloc(1, sizeof *m);
    scope *s = calloc(1, sizeof *s);
    *out = (random_program){.seed = seed, .text = {.ctx = ctx}};
    m->random = seed * 0x9E3779B97F4A7C15u + 1;
    m->few = few;
    m->type = out->type = types[few && seed % 16 ? 0 : seed % 3];
    m->t = atn_type_name(m->type);
    m->s = s;
    m->budget = 12;
    m->kernel_text.ctx = m->programs.ctx = s->body.ctx = ctx;
    begin_head(m);
    int steps = 2 + draw_below(m, 5);
    for (int k = 0; k < steps || !s->body.length; ++k) {
        if (m->budget <= 0) m->budget = 1;
        step(m);
    }
    for (int k = draw_below(m, 4); k > 0; --k) promote(m);
    for (int k = 0; k < s->n; ++k)
        if (s->data[k].use != RANDOM_TEMPORARY && out->n_head < MOST_HEAD) out->head[out->n_head++] = s->data[k];
    name_kernels(m, &out->text);
    atn_text_add(&out->text, atn_text_str(&m->programs));
    print_program("random", s->data, s->n, m->t, &s->body, &out->text);
    atn_text_free(&m->kernel_text);
    atn_text_free(&m->programs);
    atn_text_free(&s->body);
    free(s);
    free(m);
}

void random_program_free(random_program *program) { atn_text_free(&program->text); }
