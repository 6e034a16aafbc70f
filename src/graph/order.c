/* The order items run in: what a link or a rule puts first comes first, else the order of the file. A block counts
 * twice, where it begins (its ranges are known) and where it ends (its results are). */
#include "graph/sketch.h"

#include <string.h>

enum { WHITE, GREY, BLACK };

typedef struct edge {
    int32_t from, to; /* `to` waits for `from` */
} edge;

typedef struct walk {
    atn_sketch *sketch;
    edge *edges;
    size_t n_edges, edges_room;
    int32_t *first, *waits_for; /* per node: where its predecessors begin */
    unsigned char *colour;
    int32_t *stack, *next; /* nodes being visited and how far their predecessors were */
    int32_t height;
    bool cyclic;
} walk;

static void add_edge(walk *w, int32_t from, int32_t to) {
    atn_reader *reader = w->sketch->reader;
    if (atn_reader_grow(reader, &reader->arena, (void **)&w->edges, &w->edges_room, w->n_edges, sizeof *w->edges))
        w->edges[w->n_edges++] = (edge){from, to};
}

static int32_t node_of(const atn_sketch *sketch, int32_t item, bool end) {
    return 2 * item + (end && atn_item_is_block(&sketch->items[item]));
}

static bool is_running(const atn_end *end) { return end->port == ATN_PORT_BEFORE || end->port == ATN_PORT_AFTER; }

/* Items that wait for a running value of the block that contains them: they follow its end, where its accumulators are
 * known. */
static void find_late(const atn_sketch *sketch, bool *late) {
    for (bool more = true; more;) {
        more = false;
        for (size_t k = 0; k < sketch->n_links; ++k) {
            const atn_end *from = &sketch->links[k].source, *to = &sketch->links[k].destination;
            if (from->item < 0 || late[to->item] || !(is_running(from) || late[from->item])) continue;
            if (to->port == ATN_PORT_FUNC) continue;
            late[to->item] = more = true;
        }
    }
}

static void add_edges(walk *w) {
    const atn_sketch *sketch = w->sketch;
    bool *late = atn_reader_alloc(sketch->reader, sketch->n_items + 1);
    if (!late) return;
    find_late(sketch, late);
    for (size_t k = 0; k < sketch->n_links; ++k) {
        const atn_link *link = &sketch->links[k];
        if (link->source.item < 0) continue;
        add_edge(w, node_of(sketch, link->source.item, link->source.port == ATN_PORT_OUT || is_running(&link->source)),
                 node_of(sketch, link->destination.item, link->destination.port == ATN_PORT_FUNC));
    }
    for (size_t k = 0; k < sketch->n_rules; ++k)
        add_edge(w, node_of(sketch, sketch->rules[k].first, true), node_of(sketch, sketch->rules[k].second, false));
    for (size_t k = 0; k < sketch->n_items; ++k) {
        int32_t item = (int32_t)k, scope = sketch->items[k].scope;
        if (atn_item_is_block(&sketch->items[k])) add_edge(w, 2 * item, 2 * item + 1);
        if (scope <= 0) continue; /* values that feed the range of the algorithm itself are among its children */
        add_edge(w, 2 * scope, 2 * item);
        if (!late[item]) add_edge(w, node_of(sketch, item, true), 2 * scope + 1);
    }
}

/* Predecessors of each node, in the order the edges were added. */
static bool index_edges(walk *w, int32_t n_nodes) {
    w->first = atn_reader_alloc(w->sketch->reader, ((size_t)n_nodes + 1) * sizeof *w->first);
    w->waits_for = atn_reader_alloc(w->sketch->reader, (w->n_edges + 1) * sizeof *w->waits_for);
    w->colour = atn_reader_alloc(w->sketch->reader, (size_t)n_nodes + 1);
    w->stack = atn_reader_alloc(w->sketch->reader, ((size_t)n_nodes + 1) * sizeof *w->stack);
    w->next = atn_reader_alloc(w->sketch->reader, ((size_t)n_nodes + 1) * sizeof *w->next);
    w->sketch->order = atn_reader_alloc(w->sketch->reader, ((size_t)n_nodes + 1) * sizeof *w->sketch->order);
    if (w->sketch->reader->failed) return false;
    for (size_t k = 0; k < w->n_edges; ++k) ++w->first[w->edges[k].to + 1];
    for (int32_t k = 0; k < n_nodes; ++k) w->first[k + 1] += w->first[k];
    int32_t *fill = w->next; /* borrowed */
    for (size_t k = 0; k < w->n_edges; ++k) {
        int32_t to = w->edges[k].to;
        w->waits_for[w->first[to] + fill[to]++] = w->edges[k].from;
    }
    memset(fill, 0, (size_t)n_nodes * sizeof *fill);
    return true;
}

static void report_cycle(walk *w, int32_t from) {
    atn_sketch *sketch = w->sketch;
    int32_t base = w->height - 1;
    while (w->stack[base] != from) --base;
    atn_text path = {.ctx = sketch->reader->ctx};
    int32_t start = from / 2, last = start;
    atn_text_add(&path, sketch->items[start].name);
    sketch->items[start].failed = true;
    for (int32_t k = w->height - 1; k > base; --k) { /* each waits for the one above it on the stack */
        int32_t item = w->stack[k] / 2;
        sketch->items[item].failed = true;
        if (item != last) atn_text_printf(&path, " -> %s", sketch->items[item].name);
        last = item;
    }
    atn_text_printf(&path, " -> %s", sketch->items[start].name);
    if (path.failed) sketch->reader->failed = true;
    atn_reader_complain(sketch->reader, sketch->items[start].at, sketch->items[start].name,
                        "these objects wait for each other: %s", atn_text_str(&path));
    atn_text_free(&path);
    w->cyclic = true;
}

static void visit(walk *w, int32_t root) {
    if (w->colour[root] != WHITE) return;
    w->stack[w->height++] = root;
    w->colour[root] = GREY;
    while (w->height) {
        int32_t node = w->stack[w->height - 1];
        if (w->first[node] + w->next[node] < w->first[node + 1]) {
            int32_t before = w->waits_for[w->first[node] + w->next[node]++];
            if (w->colour[before] == GREY) report_cycle(w, before);
            if (w->colour[before] != WHITE) continue;
            w->stack[w->height++] = before;
            w->colour[before] = GREY;
        } else {
            w->colour[node] = BLACK;
            w->sketch->order[w->sketch->n_order++] = node;
            --w->height;
        }
    }
}

bool atn_sketch_order(atn_sketch *sketch) {
    walk w = {.sketch = sketch};
    int32_t n_nodes = 2 * (int32_t)sketch->n_items;
    add_edges(&w);
    if (!index_edges(&w, n_nodes)) return false;
    for (int32_t item = 0; item < (int32_t)sketch->n_items; ++item) {
        visit(&w, 2 * item);
        if (atn_item_is_block(&sketch->items[item]) && item) visit(&w, 2 * item + 1);
    }
    visit(&w, 1); /* the algorithm ends last, except for what its result feeds */
    return !w.cyclic && !sketch->reader->failed;
}
