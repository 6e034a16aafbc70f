/* The tests' common ground for spaces. */
#include "spacekit.h"

#include <string.h>

atn_space *space_of(atn_ctx *ctx, const char *text) {
    atn_space *space;
    kit_ok(ctx, atn_space_parse(ctx, "t.lanai", text, strlen(text), NULL, 0, &space));
    assert_true(atn_space_count_parameters(space) <= SPACE_MOST);
    return space;
}

uint64_t space_count(atn_ctx *ctx, const atn_space *space) {
    atn_count count;
    kit_ok(ctx, atn_space_count(ctx, space, &count));
    assert_true(count.fits);
    return count.whole;
}

bool space_next(const atn_space *space, int32_t *levels) {
    for (int32_t k = atn_space_count_parameters(space); k-- > 0;) {
        if (++levels[k] < atn_space_levels(space, k)) return true;
        levels[k] = 0;
    }
    return false;
}

int64_t space_brute(atn_ctx *ctx, const atn_space *space) {
    int32_t levels[SPACE_MOST] = {0};
    int64_t count = 0;
    for (int32_t k = 0; k < atn_space_count_parameters(space); ++k)
        if (atn_space_levels(space, k) == 0) return 0;
    do {
        bool allowed;
        const char *by;
        if (atn_space_why(ctx, space, levels, &allowed, &by) != ATN_OK) return -1;
        count += allowed;
    } while (space_next(space, levels));
    return count;
}

/* ---- random spaces ---- */

typedef struct draw {
    uint64_t state;
    atn_text *out;
    int names; /* p0 .. are there; p3 and on may be derived */
} draw;

static int below(draw *d, int n) { return (int)(kit_random(&d->state) % (uint64_t)n); }

static const char *pick(draw *d, const char *const *words, int n) { return words[below(d, n)]; }

static void add_number(draw *d, int depth) {
    static const char *const OPERATORS[] = {"+", "-", "*", "//", "%", "/", "**", "&", "|"};
    static const char *const CALLS[] = {"min", "max"};
    int kind = depth <= 0 ? below(d, 2) : below(d, 8);
    if (kind == 0) {
        atn_text_printf(d->out, "%d", below(d, 9) - 1);
    } else if (kind <= 3) {
        atn_text_printf(d->out, "p%d", below(d, d->names));
    } else if (kind == 4) {
        atn_text_printf(d->out, "%s(", pick(d, CALLS, 2));
        add_number(d, depth - 1);
        atn_text_add(d->out, ", ");
        add_number(d, depth - 1);
        atn_text_add(d->out, ")");
    } else if (kind == 5 && below(d, 3) == 0) {
        static const char *const ONE[] = {"abs", "floor", "ceil", "-", "float", "int"};
        atn_text_printf(d->out, "%s(", pick(d, ONE, 6));
        add_number(d, depth - 1);
        atn_text_add(d->out, ")");
    } else {
        const char *op = pick(d, OPERATORS, below(d, 4) ? 5 : 9);
        atn_text_add(d->out, "(");
        add_number(d, strcmp(op, "**") == 0 ? 0 : depth - 1);
        atn_text_printf(d->out, " %s ", op);
        if (strcmp(op, "**") == 0)
            atn_text_printf(d->out, "%d", below(d, 3));
        else
            add_number(d, depth - 1);
        atn_text_add(d->out, ")");
    }
}

static void add_truth(draw *d, int depth) {
    static const char *const COMPARISONS[] = {"<", "<=", ">", ">=", "==", "!="};
    int kind = depth <= 0 ? 0 : below(d, 7);
    if (kind == 3 || kind == 4) {
        atn_text_add(d->out, "(");
        add_truth(d, depth - 1);
        atn_text_add(d->out, kind == 3 ? " and " : " or ");
        add_truth(d, depth - 1);
        atn_text_add(d->out, ")");
    } else if (kind == 5) {
        atn_text_add(d->out, "not ");
        add_truth(d, depth - 1);
    } else if (kind == 6) {
        add_number(d, 1);
        atn_text_printf(d->out, "%s in (1, p%d, 4)", below(d, 2) ? " not" : "", below(d, d->names));
    } else {
        add_number(d, depth);
        for (int k = below(d, 4) ? 1 : 2; k > 0; --k) {
            atn_text_printf(d->out, " %s ", pick(d, COMPARISONS, 6));
            add_number(d, depth - 1);
        }
    }
}

static void add_parameter(draw *d) {
    int n = d->names, kind = n == 0 ? below(d, 3) : below(d, 8);
    if (kind == 0 || kind == 3) {
        atn_text_printf(d->out, "p%d = range(%d, %d, %d)\n", n, below(d, 5) - 1, 2 + below(d, 6), 1 + below(d, 2));
    } else if (kind == 1 || kind == 4) {
        atn_text_printf(d->out, "p%d = (%d, %d, %d)\n", n, 8, below(d, 3), 3 + below(d, 4));
    } else if (kind == 2) {
        atn_text_printf(d->out, "p%d = (0.5, %d.0, 2.25)\n", n, below(d, 5) + 3);
    } else if (kind == 5) {
        atn_text_printf(d->out, "@iterator\ndef p%d(p%d):\n    return range(0, abs(int(p%d)) %% 5)\n", n, below(d, n),
                        below(d, n));
    } else if (kind == 6) {
        atn_text_printf(d->out, "p%d = (p%d, 3, 7)\n", n, below(d, n));
    } else {
        atn_text_printf(d->out, "p%d = ", n);
        add_number(d, 2);
        atn_text_add(d->out, "\n");
    }
    ++d->names;
}

static void add_constraint(draw *d, int number) {
    atn_text_printf(d->out, "@%s\ndef c%d():\n", below(d, 2) ? "require" : "condition", number);
    if (below(d, 4) == 0) {
        atn_text_add(d->out, "    t = ");
        add_number(d, 2);
        atn_text_add(d->out, "\n    if ");
        add_truth(d, 1);
        atn_text_add(d->out, ":\n        return t > 2\n    else:\n        t += 1\n");
        atn_text_add(d->out, "    return t % 3 == 0\n");
        return;
    }
    atn_text_add(d->out, "    return ");
    add_truth(d, 2);
    atn_text_add(d->out, "\n");
}

void space_random(uint64_t seed, atn_text *out) {
    draw d = {.state = seed * 2654435761u + 1, .out = out};
    int parameters = 2 + below(&d, 4), constraints = below(&d, 4);
    while (d.names < parameters) add_parameter(&d);
    for (int k = 0; k < constraints; ++k) add_constraint(&d, k);
}
