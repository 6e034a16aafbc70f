/* Names for unnamed items, and which items can be printed inline. */
#include "graph/print_names.h"

#include <assert.h>
#include <string.h>

const atn_link *atn_print_only_use(const atn_sketch *sketch, int32_t item, int32_t k) {
    const atn_link *found = NULL;
    for (size_t n = 0; n < sketch->n_links; ++n) {
        const atn_end *from = &sketch->links[n].source;
        if (from->item != item || from->port != ATN_PORT_OUT || from->k != k) continue;
        if (found) return NULL;
        found = &sketch->links[n];
    }
    return found;
}

static bool is_taken(const atn_printer *p, const char *name) {
    for (size_t k = 0; k < p->n_taken; ++k)
        if (!strcmp(p->taken[k], name)) return true;
    return false;
}

const char *atn_print_unique(atn_printer *p, const char *base) {
    static const char *const words[] = {"for",  "over",    "carry",  "finite", "tolerance", "with",    "where",
                                        "from", "in",      "sum",    "min",    "max",       "product", "any",
                                        "all",  "T",       "and",    "or",     "rows",      "mod",     "not",
                                        "xor",  "columns", "length", "left",   "right",     "before"};
    const char *name = base;
    bool word = false;
    for (size_t k = 0; k < sizeof words / sizeof *words; ++k) word |= !strcmp(words[k], base);
    for (int n = 2; name && (word || is_taken(p, name)); ++n) {
        name = atn_arena_printf(&p->reader->arena, "%.*s%d", (int)ATN_LIMIT_NAME - 6, base, n);
        word = false;
    }
    if (!name) p->reader->failed = true;
    if (!name || !atn_reader_grow(p->reader, &p->reader->arena, (void **)&p->taken, &p->taken_room, p->n_taken,
                                  sizeof *p->taken))
        return "";
    return p->taken[p->n_taken++] = name;
}

static bool is_plain(const char *text) {
    if (!*text || (*text >= '0' && *text <= '9')) return false;
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(text);
}

bool atn_print_is_linear(const atn_item *item) {
    if (item->is_expression || item->body->kind != ATN_SYNTAX_BLOCK) return false;
    uint64_t assigned = 0;
    for (const atn_syntax *one = item->body->a; one; one = one->next) {
        if (one->kind == ATN_SYNTAX_DECLARE) {
            if (!one->a) return false;
            for (const atn_syntax *other = item->body->a; other != one; other = other->next)
                if (other->kind == ATN_SYNTAX_DECLARE && !strcmp(other->name, one->name)) return false;
            continue;
        }
        if (one->kind != ATN_SYNTAX_ASSIGN || one->a->kind != ATN_SYNTAX_PORT || one->a->a->kind != ATN_SYNTAX_INTEGER)
            return false;
        if (one->a->a->integer > 63 || assigned >> one->a->a->integer & 1) return false;
        assigned |= 1ull << one->a->a->integer;
    }
    return true;
}

static void name_indices(atn_printer *p, int32_t number) {
    static const char *const own[] = {"x", "y", "z"}, *const one[] = {"j", "k", "l", "m", "n"},
                             *const many[] = {"dx", "dy", "dz"};
    const atn_item *item = &p->sketch->items[number];
    int32_t rank = item->rank;
    assert(rank <= (int32_t)(sizeof own / sizeof *own));
    for (int32_t d = 0; d < rank; ++d) {
        const char *base = item->rank > 1 ? (number == 0 ? own[d] : many[d]) : number == 0 ? "i" : one[0];
        for (size_t k = 0; number && item->rank == 1 && k < sizeof one / sizeof *one; ++k)
            if (!is_taken(p, one[k])) {
                base = one[k];
                break;
            }
        p->item[number].index[d] = atn_print_unique(p, base);
    }
}

/* The object that an accumulator's result is written to, through loops that add it up; NULL: it goes elsewhere. */
static const char *destination(const atn_printer *p, int32_t block, int32_t k) {
    for (int32_t depth = 0; depth < 4; ++depth) {
        const atn_link *use = atn_print_only_use(p->sketch, block, k);
        if (!use) return NULL;
        const atn_item *to = &p->sketch->items[use->destination.item];
        if (to->kind == ATN_ITEM_WRITE && use->destination.port == ATN_PORT_IN)
            return p->sketch->items[to->object].name;
        if (use->destination.port != ATN_PORT_FUNC) return NULL;
        block = use->destination.item;
        k = atn_print_term_of(to, use->destination.k);
        if (k < 0) return NULL;
    }
    return NULL;
}

static void name_outputs(atn_printer *p, int32_t number) {
    const atn_item *item = &p->sketch->items[number];
    const char **out = atn_reader_alloc(p->reader, ((size_t)item->n_out + 1) * sizeof *out);
    p->item[number].out = out;
    for (int32_t k = 0; out && k < item->n_out; ++k) {
        const char *base = item->out_names ? item->out_names[k] : is_plain(item->name) ? item->name : "value";
        if (item->kind == ATN_ITEM_READ && item->label && !is_plain(item->name)) base = item->label;
        if (!item->out_names && item->n_out > 1) base = atn_arena_printf(&p->reader->arena, "%s_%d", base, k);
        const char *target = atn_item_is_block(item) && !item->out_names ? destination(p, number, k) : NULL;
        if (target)
            base = atn_arena_printf(&p->reader->arena, "%s_%s", target, item->rank ? p->item[number].index[0] : "");
        if (!base) p->reader->failed = true;
        out[k] = base ? atn_print_unique(p, base) : "";
    }
}

static void find_after(atn_printer *p) {
    for (size_t n = 0; n < p->sketch->n_order; ++n) {
        int32_t number = p->sketch->order[n] / 2;
        for (int32_t at = p->sketch->items[number].links; at >= 0 && number; at = p->sketch->links[at].next) {
            const atn_end *from = &p->sketch->links[at].source;
            p->item[number].after |=
                (from->item == 0 && from->port == ATN_PORT_OUT) || (from->item > 0 && p->item[from->item].after);
            p->item[number].late |= from->port == ATN_PORT_BEFORE || from->port == ATN_PORT_AFTER ||
                                    (from->item > 0 && p->item[from->item].late);
        }
    }
}

/* Reads of an object with different boundaries are separate lines, except those without one. */
static void find_named(atn_printer *p) {
    for (size_t a = 0; a < p->sketch->n_items; ++a)
        for (size_t b = 0; b < p->sketch->n_items; ++b) {
            const atn_item *x = &p->sketch->items[a], *y = &p->sketch->items[b];
            if (x->kind == ATN_ITEM_READ && y->kind == ATN_ITEM_READ && x->object == y->object && x->boundary &&
                x->boundary != y->boundary)
                p->item[a].named = true;
        }
}

bool atn_print_prepare(atn_printer *p) {
    size_t count = p->sketch->n_items;
    p->item = atn_reader_alloc(p->reader, (count + 1) * sizeof *p->item);
    p->edge = atn_reader_alloc(p->reader, (count + 1) * sizeof *p->edge);
    if (!p->item || !p->edge) return false;
    for (size_t k = 0; k < count; ++k)
        if (p->sketch->items[k].scope < 0) atn_print_unique(p, p->sketch->items[k].name);
    for (size_t k = 0; k < count && !p->reader->failed; ++k)
        if (atn_item_is_block(&p->sketch->items[k])) name_indices(p, (int32_t)k);
    find_named(p);
    for (size_t k = 0; k < count && !p->reader->failed; ++k) {
        const atn_item *item = &p->sketch->items[k];
        bool read = item->kind == ATN_ITEM_READ;
        if (item->kind == ATN_ITEM_FUNCTION || atn_item_is_block(item) || (read && p->item[k].named))
            name_outputs(p, (int32_t)k);
        if (item->kind == ATN_ITEM_FUNCTION)
            p->item[k].out_tree = atn_reader_alloc(p->reader, ((size_t)item->n_out + 1) * sizeof(atn_syntax *));
    }
    find_after(p);
    return !p->reader->failed;
}
