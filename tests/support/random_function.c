/* Random functions: expressions bounded so that nothing explodes, every operation of the language, now and then as
 * statements with branches and loops. */
#include "support/random_draw.h"

#include "graph/type.h"

#include <math.h>
#include <string.h>

typedef struct piece {
    const char *text;
    double size; /* what its modulus does not exceed */
} piece;

typedef struct writer {
    draw *d;
    atn_type type; /* of the block */
    const source *in[4];
    int32_t n_in;
} writer;

static piece expression(writer *w, int depth);

static piece made(draw *d, double size, const char *text) { return (void)d, (piece){text, size}; }

static piece literal(writer *w) {
    draw *d = w->d;
    if (atn_type_is_integer(w->type)) {
        int whole = (int)draw_below(d, 21) - 10;
        return made(d, 10, draw_text(d, whole < 0 ? "(%d)" : "%d", whole));
    }
    uint32_t whole = draw_below(d, 2),
             tenths = 1 + draw_below(d, 9); /* one draw a statement: arguments have no order */
    return made(d, 2, draw_text(d, "%u.%u", whole, tenths));
}

/* An input, as the block's type. */
static piece input(writer *w) {
    draw *d = w->d;
    if (!w->n_in || draw_chance(d, 12)) return literal(w);
    uint32_t k = draw_below(d, (uint32_t)w->n_in);
    atn_type from = w->in[k]->type;
    const char *type = atn_type_name(w->type);
    bool complex = atn_type_is_complex(from);
    if (from == w->type) return made(d, 100, draw_text(d, "#in(%u)", k));
    if (atn_type_is_complex(w->type)) {
        if (complex) return made(d, 100, draw_text(d, "%s(#in(%u))", type, k));
        return made(d, 100,
                    draw_text(d, "complex(%s(#in(%u)), %s)", w->type == ATN_SP2 ? "SP" : "DP", k, literal(w).text));
    }
    if (complex) {
        static const char *const parts[] = {"abs", "real", "imag"};
        const char *part = draw_text(d, "%s(#in(%u))", parts[draw_below(d, 3)], k);
        if (atn_type_is_integer(w->type)) return made(d, 100, draw_text(d, "%s(clamp(%s, -99.0, 99.0))", type, part));
        return made(d, 100, draw_text(d, "%s(%s)", type, part));
    }
    if (atn_type_is_integer(w->type)) {
        if (atn_type_is_integer(from)) return made(d, 1e9, draw_text(d, "%s(#in(%u))", type, k));
        return made(d, 100, draw_text(d, "%s(clamp(#in(%u) * 8.0, -99.0, 99.0))", type, k));
    }
    if (from == ATN_INDEX || from == ATN_INT32 || from == ATN_U16 || from == ATN_U8) /* brought near 1 */
        return made(d, 30,
                    w->type == ATN_HP ? draw_text(d, "HP(0.01 * SP(#in(%u) %% 1000))", k)
                                      : draw_text(d, "(0.01 * %s(#in(%u) %% 1000))", type, k));
    return made(d, 100, draw_text(d, "%s(#in(%u))", type, k));
}

static const char *comparison(writer *w, int depth) {
    static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
    piece a = expression(w, depth - 1), b = draw_chance(w->d, 50) ? literal(w) : expression(w, depth - 1);
    const char *sign = signs[draw_below(w->d, atn_type_is_complex(w->type) ? 1 : 6)];
    if (atn_type_is_complex(w->type)) return draw_text(w->d, "abs(%s) %s abs(%s)", a.text, sign, b.text);
    const char *one = draw_text(w->d, "%s %s %s", a.text, sign, b.text);
    if (!draw_chance(w->d, 20)) return one;
    const char *join = draw_chance(w->d, 50) ? "&&" : "||", *not = draw_chance(w->d, 30) ? "!" : "";
    return draw_text(w->d, "%s %s %s(%s)", one, join, not, comparison(w, 0));
}

static piece choice(writer *w, int depth) {
    const char *test = comparison(w, depth);
    piece a = expression(w, depth - 1), b = expression(w, depth - 1);
    return made(w->d, fmax(a.size, b.size), draw_text(w->d, "(%s ? %s : %s)", test, a.text, b.text));
}

static piece integer_operation(writer *w, int depth) {
    draw *d = w->d;
    piece a = expression(w, depth - 1), b = expression(w, depth - 1);
    uint32_t bits = draw_below(d, 7);
    static const char *const signs[] = {"+", "-", "*", "/", "%", "&", "|", "^", "mod"};
    switch (draw_below(d, 8)) {
    case 0:
        return made(d, 1e9, draw_text(d, "min(%s, %s)", a.text, b.text));
    case 1:
        return made(d, 1e9, draw_text(d, "max(%s, -%s)", a.text, b.text));
    case 2:
        return made(d, 1e9, draw_text(d, "abs(%s)", a.text));
    case 3:
        return made(d, 1e9, draw_text(d, "(%s %s %u)", a.text, draw_chance(d, 50) ? "<<" : ">>", bits));
    case 4:
        return made(d, 1e9, draw_text(d, "~%s", a.text));
    default:
        return made(d, 1e9, draw_text(d, "(%s %s %s)", a.text, signs[draw_below(d, 9)], b.text));
    }
}

static piece complex_operation(writer *w, int depth) {
    draw *d = w->d;
    piece a = expression(w, depth - 1), b = expression(w, depth - 1);
    switch (draw_below(d, 6)) {
    case 0:
        return made(d, a.size * b.size, draw_text(d, "(%s * %s)", a.text, b.text));
    case 1:
        return made(d, 2 * a.size, draw_text(d, "(%s / (0.5 + abs(%s)))", a.text, b.text));
    case 2:
        return made(d, a.size, draw_text(d, "conj(%s)", a.text));
    case 3:
        return made(d, a.size, draw_text(d, "(%s / complex(1.5, tanh(real(%s))))", a.text, b.text));
    default:
        return made(d, a.size + b.size, draw_text(d, "(%s %c %s)", a.text, draw_chance(d, 50) ? '+' : '-', b.text));
    }
}

/* One argument, kept where the function is tame. */
static piece function(writer *w, int depth) {
    draw *d = w->d;
    static const struct {
        const char *format;
        double size; /* 0: that of the argument */
    } rows[] = {{"sin(%s)", 1},
                {"cos(%s)", 1},
                {"tanh(%s)", 1},
                {"atan(%s)", 2},
                {"exp(fmin(%s, 2.0))", 8},
                {"exp(-fabs(%s))", 1},
                {"exp2(-fabs(%s))", 1},
                {"exp2(fmin(60.0 * %s, 2.0))", 4},
                {"exp(fmin(60.0 * %s, 1.0))", 3},
                {"sqrt(fabs(%s))", 0},
                {"fabs(%s)", 0},
                {"log(fabs(%s) + 0.5)", 9},
                {"rsqrt(fabs(%s) + 0.3)", 2},
                {"floor(%s)", 0},
                {"rint(%s)", 0},
                {"round(%s)", 0},
                {"trunc(%s)", 0},
                {"ceil(%s)", 0},
                {"cbrt(%s)", 0},
                {"expm1(fmin(%s, 1.0))", 2},
                {"log1p(fabs(%s))", 9},
                {"asin(tanh(%s))", 2},
                {"acos(0.9 * sin(%s))", 4},
                {"sinh(clamp(%s, -2.0, 2.0))", 4},
                {"cosh(clamp(%s, -2.0, 2.0))", 4},
                {"log2(fabs(%s) + 0.5)", 9},
                {"tan(0.7 * tanh(%s))", 2},
                {"(-%s)", 0},
                {"log10(fabs(%s) + 0.5)", 9}};
    piece a = expression(w, depth - 1);
    uint32_t row = draw_below(d, sizeof rows / sizeof *rows);
    char text[64];
    const char *hole = strstr(rows[row].format, "%s"); /* formats of a table are not literals to the compiler */
    snprintf(text, sizeof text, "%.*s", (int)(hole - rows[row].format), rows[row].format);
    return made(d, rows[row].size > 0 ? rows[row].size : a.size + 1, draw_text(d, "%s%s%s", text, a.text, hole + 2));
}

static piece real_operation(writer *w, int depth) {
    draw *d = w->d;
    if (draw_chance(d, 40)) return function(w, depth);
    piece a = expression(w, depth - 1), b = expression(w, depth - 1);
    switch (draw_below(d, 15)) {
    case 0:
    case 1:
        return made(d, a.size * b.size, draw_text(d, "(%s * %s)", a.text, b.text));
    case 2:
        return made(d, 2 * a.size, draw_text(d, "(%s / (fabs(%s) + 0.5))", a.text, b.text));
    case 3:
        return made(d, fmax(a.size, b.size), draw_text(d, "fmin(%s, %s)", a.text, b.text));
    case 4:
        return made(d, fmax(a.size, b.size), draw_text(d, "fmax(%s, %s)", a.text, b.text));
    case 5:
        return made(d, 4, draw_text(d, "atan2(%s, fabs(%s) + 0.1)", a.text, b.text));
    case 6:
        return made(d, a.size + b.size, draw_text(d, "hypot(%s, %s)", a.text, b.text));
    case 7:
        return made(d, 16, draw_text(d, "pow(0.5 + fmin(fabs(%s), 3.0), clamp(%s, -2.0, 2.0))", a.text, b.text));
    case 8:
        return made(d, a.size * b.size + 2, draw_text(d, "fma(%s, %s, %s)", a.text, b.text, literal(w).text));
    case 9:
        return made(d, a.size,
                    draw_text(d, "(isnan(%s) || !isfinite(%s) ? %s : %s)", a.text, b.text, literal(w).text, a.text));
    case 10:
        return made(d, a.size, draw_text(d, "copysign(%s, %s)", a.text, b.text));
    case 11:
        return made(d, a.size, draw_text(d, "fmod(%s, %s)", a.text, literal(w).text));
    default:
        return made(d, a.size + b.size, draw_text(d, "(%s %c %s)", a.text, draw_chance(d, 50) ? '+' : '-', b.text));
    }
}

static piece expression(writer *w, int depth) {
    draw *d = w->d;
    if (depth <= 0 || draw_chance(d, 20)) return input(w);
    if (draw_chance(d, 12)) return choice(w, depth);
    if (atn_type_is_integer(w->type)) return integer_operation(w, depth);
    piece p = atn_type_is_complex(w->type) ? complex_operation(w, depth) : real_operation(w, depth);
    if (p.size <= 200) return p;
    if (atn_type_is_complex(w->type))
        return made(d, 20, draw_text(d, "(%s * 0.%s1)", p.text, p.size > 2e3 ? "00" : "0"));
    return draw_chance(d, 50) ? made(d, 4, draw_text(d, "clamp(%s, -4.0, 4.0)", p.text))
                              : made(d, 1, draw_text(d, "tanh(%s)", p.text));
}

const char *draw_text(draw *d, const char *format, ...) {
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *kept = atn_arena_strdup(&d->arena, text);
    return kept ? kept : "";
}

void draw_escaped(atn_text *out, const char *text) {
    for (; *text; ++text) {
        if (*text == '<')
            atn_text_add(out, "&lt;");
        else if (*text == '&')
            atn_text_add(out, "&amp;");
        else
            atn_text_add_bytes(out, text, 1);
    }
}

static bool sees(const draw *d, int32_t from, int32_t block) {
    while (block >= 0 && block != from) block = d->scopes[block].parent;
    return block == from;
}

/* Some of what is seen; the newest more often, so that what is drawn is also used. */
static void choose_inputs(writer *w, int32_t block) {
    draw *d = w->d;
    int32_t seen[MOST_VALUES], count = 0, wanted = 1 + (int32_t)draw_below(d, 3);
    for (int32_t k = 0; k < d->n_sources; ++k)
        if (sees(d, d->sources[k].scope, block)) seen[count++] = k;
    for (int32_t k = 0; k < wanted && count; ++k) {
        uint32_t back = draw_below(d, (uint32_t)count);
        if (draw_chance(d, 60) && back > 2) back = draw_below(d, 3);
        w->in[w->n_in++] = &d->sources[seen[count - 1 - (int32_t)back]];
    }
}

/* The text, or statements around it. */
static const char *body(writer *w, const char *value, int outputs) {
    draw *d = w->d;
    const char *type = atn_type_name(w->type);
    if (outputs == 2) return draw_text(d, "#out(0) = %s; #out(1) = %s;", value, expression(w, 1).text);
    if (atn_type_is_complex(w->type) || draw_chance(d, 75)) return value;
    piece other = expression(w, 1), limit = literal(w), last = literal(w);
    if (draw_chance(d, 50))
        return draw_text(d, "%s t = %s; if (%s) { t = %s; } else if (t > %s) t = %s; #out(0) = t;", type, value,
                         comparison(w, 1), other.text, limit.text, last.text);
    return draw_text(d, "%s t = %s; for (int i = 0; i < %u; ++i) t = t / 2 + %s; #out(0) = t;", type, value,
                     draw_below(d, 4), other.text);
}

static const source *emit(writer *w, int32_t block, const char *text, int outputs) {
    draw *d = w->d;
    char name[16], from[32];
    snprintf(name, sizeof name, "f%d", d->names++ % 1000);
    atn_text *out = &d->scopes[block].body;
    atn_text_printf(out, "<FunctionBlock name='%s' dataType='%s' numInVars='%d' function='", name,
                    atn_type_name(w->type), w->n_in);
    draw_escaped(out, text);
    atn_text_add(out, "'/>\n");
    for (int32_t k = 0; k < w->n_in; ++k) draw_link(d, w->in[k]->port, draw_text(d, "%s.in(%d)", name, k));
    const source *first = NULL;
    for (int k = 0; k < outputs; ++k) {
        snprintf(from, sizeof from, "%s.out(%d)", name, k);
        const source *one = draw_source(d, block, from, w->type);
        if (k == 0) first = one;
    }
    return first;
}

const source *draw_function(draw *d, int32_t block, atn_type type) {
    writer w = {.d = d, .type = type};
    choose_inputs(&w, block);
    int outputs = draw_chance(d, 12) ? 2 : 1;
    const char *value = expression(&w, 1 + (int)draw_below(d, 3)).text;
    return emit(&w, block, body(&w, value, outputs), outputs);
}

const source *draw_condition(draw *d, int32_t block) {
    static const atn_type types[] = {ATN_SP, ATN_DP, ATN_INT32};
    writer w = {.d = d, .type = types[draw_below(d, 3)]};
    choose_inputs(&w, block);
    const char *text = comparison(&w, 1);
    w.type = ATN_B;
    return emit(&w, block, text, 1);
}
