/* How a space is enumerated. Parameters that no constraint and no iterator connects form components of their own, and
 * counts of components are multiplied. Within a component parameters are bound one after the other; a constraint is
 * tested at the depth where the last parameter it uses is bound, for all values of that parameter at once, as a mask of
 * bits. The number of points below a depth depends only on those earlier parameters that later constraints use (the
 * live ones), and is remembered by their levels: the same memory serves counting, ranking and unranking. */
#ifndef ATN_SPACE_PLAN_H
#define ATN_SPACE_PLAN_H

#include "space/big.h"
#include "space/lanai.h"

/* Counts by key; open addressing. */
typedef struct atn_memo {
    bool on;
    size_t count, capacity; /* capacity: a power of two */
    uint64_t *keys;         /* key + 1; 0: free */
    atn_wide *counts;       /* NULL in a memo that only knows who was there */
} atn_memo;

/* One constraint within a component. */
typedef struct atn_relation {
    const atn_lan_function *function;
    int32_t depth; /* where it is tested */
    int32_t *uses; /* depths of the other parameters it uses, ascending */
    int32_t n_uses;
    /* What it says for all values of the last parameter, a row for each combination of the others; made when asked
     * for. NULL: there would be more rows than visits. */
    uint64_t *rows, *failing; /* failing: values at which it cannot be computed; NULL: none so far */
    uint8_t *known;
} atn_relation;

typedef struct atn_depth {
    int32_t parameter, size, words; /* values; 64-bit words of a mask */
    size_t mask;                    /* offset of its mask */
    bool iterator;
    bool live_below; /* something deeper uses it */
    int32_t first_relation, n_relations;
    int32_t *live; /* depths above whose parameters this depth or a deeper one uses */
    int32_t n_live;
    double keys;   /* combinations of those: at most this many different counts below here */
    double visits; /* at most this many times here */
    atn_memo memo;
} atn_depth;

typedef struct atn_component {
    atn_space_plan *plan;
    atn_depth *depths;
    int32_t n_depths;
    atn_relation *relations;
    int32_t n_relations;
    size_t mask_words;   /* of all depths */
    size_t memo_entries; /* of all depths */
    bool plain;          /* one parameter and nothing said about it */
    bool counted;
    bool native; /* it was counted in native code */
    atn_wide count;
    int64_t steps, budget; /* nodes evaluated and masks made so far; INT64_MAX: no limit */
} atn_component;

typedef struct atn_parameter_place {
    int32_t component, depth;
} atn_parameter_place;

struct atn_space_plan {
    const atn_space *space;
    atn_arena arena;
    atn_parameter_place *places; /* per parameter */
    pthread_mutex_t lock;        /* around everything below */
    atn_component *components;
    int32_t n_components;
    const atn_lan_function **fixed; /* constraints that use no parameter with a choice */
    int32_t n_fixed;
    atn_lan_env env;
};

/* One walk through a component, or several: its current position. Each query has its own. */
typedef struct atn_walk {
    const atn_ctx *ctx; /* the caller's */
    int32_t *levels;    /* of all parameters */
    uint64_t *masks;    /* of the current component */
} atn_walk;

/* `active`: by constraint; NULL: all but those of stage="build". */
atn_status atn_space_plan_create(const atn_space *space, const bool *active, atn_space_plan **out);
void atn_space_plan_free(atn_space_plan *plan); /* NULL is fine */
atn_status atn_space_plan_count(const atn_ctx *ctx, atn_space_plan *plan, atn_big *out);
/* The plan of the space itself, made on the first call; the space's. */
atn_status atn_space_plan_of(const atn_ctx *ctx, const atn_space *space, atn_space_plan **out);

atn_status atn_walk_begin(const atn_ctx *ctx, const atn_space_plan *plan, atn_walk *out);
void atn_walk_end(const atn_space_plan *plan, atn_walk *walk);

/* ---- order.c: puts the component's parameters into the order of its depths ---- */
/* parameters[n]; relations' functions are known. Reorders `parameters`. */
atn_status atn_component_order(const atn_space *space, int32_t *parameters, int32_t n,
                               const atn_lan_function *const *functions, int32_t n_functions);

/* ---- component.c; the plan's lock is held ---- */
atn_status atn_component_prepare(atn_component *component, const int32_t *parameters, int32_t n,
                                 const atn_lan_function *const *functions, int32_t n_functions);
void atn_component_free(atn_component *component);
/* The mask of the values that are allowed at a depth, all above being bound. */
atn_status atn_component_mask(atn_component *component, atn_walk *walk, int32_t depth);
/* Points below `depth`. ATN_ERR_TIMEOUT when the budget is used up. */
atn_status atn_component_count_from(atn_component *component, atn_walk *walk, int32_t depth, atn_wide *out);
uint64_t atn_component_key(const atn_component *component, const atn_walk *walk, int32_t depth);
atn_status atn_component_step(atn_component *component, const atn_walk *walk, int64_t steps);

/* ---- count.c; the plan's lock is held ---- */
atn_status atn_component_count(atn_component *component, atn_walk *walk, atn_wide *out);
/* Interpreted for some milliseconds. *known: false: that was not enough, with ATN_OK. */
atn_status atn_component_count_soon(atn_component *component, atn_walk *walk, atn_wide *out, bool *known);

/* ---- memo.c ---- */
bool atn_memo_find(const atn_memo *memo, uint64_t key, atn_wide *out);
atn_status atn_memo_put(const atn_ctx *ctx, atn_memo *memo, uint64_t key, atn_wide count); /* a key that is not there */
void atn_memo_free(const atn_ctx *ctx, atn_memo *memo);

/* ---- native.c ---- */
/* Counts below some depth in native code and fills that depth's memo. *done: false where it is not possible or not
 * worth it, with ATN_OK. */
atn_status atn_component_go_native(atn_component *component, atn_walk *walk, bool always, bool *done);
/* The C source that counts below `depth`. *possible: false: it cannot be expressed. */
atn_status atn_native_source(const atn_component *component, int32_t depth, atn_text *out, bool *possible);

static inline int32_t atn_mask_next(const uint64_t *mask, int32_t size, int32_t from) {
    while (from < size) {
        uint64_t word = mask[from / 64] >> (from % 64);
        if (word) return from + __builtin_ctzll(word);
        from = (from / 64 + 1) * 64;
    }
    return -1;
}

#endif
