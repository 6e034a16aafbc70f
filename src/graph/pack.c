/* Graphs as text: the arrays as they lie in memory, behind them the texts and tables that they point to, in the order
 * of the pointers; all as hexadecimal digits, and in front a hash of that and of how this program lays out a graph. */
#include "graph/pack.h"

#include "base/memory.h"
#include "graph/type.h"

#include <string.h>

/* ---- what there is in a graph, once for both ways ---- */

typedef struct pack pack;
struct pack {
    /* A block of that many bytes at *at, which is allocated again on the way back. */
    bool (*block)(pack *p, void **at, size_t bytes);
    bool (*text)(pack *p, const char **at); /* may be NULL */
    atn_graph *graph;
    atn_text *out;          /* one way */
    const char *from, *end; /* the other */
};

static bool tables(pack *p) {
    bool good = true;
    for (int32_t k = 0; k < p->graph->n_objects && good; ++k) {
        atn_object *o = &p->graph->objects[k];
        good = p->text(p, &o->name);
        if (good && o->table)
            good = p->block(p, (void **)(uintptr_t)&o->table, (size_t)atn_table_elements(o) * atn_type_bytes(o->type));
    }
    return good;
}

static bool go(pack *p) {
    atn_graph *g = p->graph;
    const struct {
        void **at;
        int32_t count;
        size_t bytes;
    } BLOCKS[] = {{(void **)&g->values, g->n_values, sizeof *g->values},
                  {(void **)&g->dims, g->n_dims, sizeof *g->dims},
                  {(void **)&g->objects, g->n_objects, sizeof *g->objects},
                  {(void **)&g->parameters, g->n_parameters, sizeof *g->parameters},
                  {(void **)&g->reads, g->n_reads, sizeof *g->reads},
                  {(void **)&g->writes, g->n_writes, sizeof *g->writes},
                  {(void **)&g->blocks, g->n_blocks, sizeof *g->blocks}};
    bool good = p->text(p, &g->name) && p->text(p, &g->file);
    for (size_t k = 0; k < sizeof BLOCKS / sizeof *BLOCKS && good; ++k)
        good = p->block(p, BLOCKS[k].at, (size_t)BLOCKS[k].count * BLOCKS[k].bytes);
    good = good && tables(p);
    for (int32_t k = 0; k < g->n_values && good; ++k) good = p->text(p, &g->values[k].label);
    for (int32_t k = 0; k < g->n_parameters && good; ++k) good = p->text(p, &g->parameters[k].name);
    for (int32_t k = 0; k < g->n_reads && good; ++k) good = p->text(p, &g->reads[k].name);
    for (int32_t k = 0; k < g->n_writes && good; ++k) good = p->text(p, &g->writes[k].name);
    for (int32_t k = 0; k < g->n_blocks && good; ++k) good = p->text(p, &g->blocks[k].name);
    return good;
}

/* How a graph is laid out here, and what its numbers mean. */
static atn_hash seal(const char *digits, size_t length) {
    const size_t layout[] = {sizeof(atn_graph),  sizeof(atn_node),      sizeof(atn_dim),
                             sizeof(atn_object), sizeof(atn_parameter), sizeof(atn_read),
                             sizeof(atn_write),  sizeof(atn_block),     ATN_OP_COUNT};
    return atn_hash_add(atn_hash_add((atn_hash){0}, layout, sizeof layout), digits, length);
}

/* ---- one way ---- */

static bool put(pack *p, void **at, size_t bytes) {
    static const char DIGITS[] = "0123456789abcdef";
    const unsigned char *from = *at;
    for (size_t k = 0; k < bytes; ++k)
        atn_text_add_bytes(p->out, (const char[]){DIGITS[from[k] >> 4], DIGITS[from[k] & 15]}, 2);
    return true;
}

static bool put_text(pack *p, const char **at) {
    uint32_t length = *at ? (uint32_t)strlen(*at) : UINT32_MAX;
    put(p, &(void *){&length}, sizeof length);
    return put(p, (void **)(uintptr_t)at, *at ? length : 0);
}

void atn_graph_pack(const atn_graph *graph, atn_text *out) {
    atn_graph copy = *graph;
    atn_text digits = {.ctx = out->ctx};
    pack p = {.block = put, .text = put_text, .graph = &copy, .out = &digits};
    char hash[ATN_HASH_TEXT];
    put(&p, &(void *){&copy}, sizeof copy);
    go(&p);
    atn_hash_print(seal(atn_text_str(&digits), digits.length), hash);
    atn_text_printf(out, "%s ", hash);
    atn_text_add_bytes(out, atn_text_str(&digits), digits.length);
    out->failed = out->failed || digits.failed;
    atn_text_free(&digits);
}

/* ---- the other ---- */

static int digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

static bool take(pack *p, void *to, size_t bytes) {
    if ((size_t)(p->end - p->from) / 2 < bytes) return false;
    for (size_t k = 0; k < bytes; ++k, p->from += 2) {
        int high = digit(p->from[0]), low = digit(p->from[1]);
        if (high < 0 || low < 0) return false;
        ((unsigned char *)to)[k] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static bool get(pack *p, void **at, size_t bytes) {
    if ((size_t)(p->end - p->from) / 2 < bytes) return false;
    *at = atn_arena_alloc(&p->graph->arena, bytes + 1);
    return *at && take(p, *at, bytes);
}

static bool get_text(pack *p, const char **at) {
    uint32_t length;
    *at = NULL;
    if (!take(p, &length, sizeof length)) return false;
    return length == UINT32_MAX || get(p, (void **)(uintptr_t)at, length);
}

static atn_status unpack(const atn_ctx *ctx, const char *text, atn_graph *graph) {
    pack p = {.block = get, .text = get_text, .graph = graph, .from = text, .end = text + strlen(text)};
    char hash[ATN_HASH_TEXT];
    bool sealed = p.end - text > ATN_HASH_TEXT;
    if (sealed) {
        p.from = text + ATN_HASH_TEXT;
        atn_hash_print(seal(p.from, (size_t)(p.end - p.from)), hash);
        sealed = memcmp(hash, text, ATN_HASH_TEXT - 1) == 0;
    }
    bool good = sealed && take(&p, graph, sizeof *graph);
    graph->arena = (atn_arena){.ctx = ctx};
    if (good && go(&p)) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_INPUT, "a graph that is not of this version of attune, or not whole");
}

atn_status atn_graph_unpack(const atn_ctx *ctx, const char *text, atn_sequence **out) {
    atn_sequence *s = *out = atn_zalloc(ctx, sizeof *s);
    if (!s) return ATN_ERR_MEMORY;
    s->ctx = ctx;
    s->step = atn_zalloc(ctx, sizeof(void *));
    if (s->step) s->step[0] = atn_zalloc(ctx, sizeof **s->step);
    atn_status status = s->step && s->step[0] ? ATN_OK : ATN_ERR_MEMORY;
    if (status == ATN_OK) {
        s->count = 1;
        s->step[0]->arena.ctx = ctx;
        status = unpack(ctx, text, s->step[0]);
    }
    if (status == ATN_OK && !(s->name = atn_strdup(ctx, s->step[0]->name))) status = ATN_ERR_MEMORY;
    if (status == ATN_OK) return ATN_OK;
    atn_sequence_free(s);
    *out = NULL;
    return status;
}
