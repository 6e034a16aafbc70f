/* A space from the inside: LANAI's values, expressions as nodes linked by index, functions, symbols, and how they are
 * evaluated at a point. */
#ifndef ATN_SPACE_LANAI_H
#define ATN_SPACE_LANAI_H

#include "base/arena.h"
#include "space/space.h"

#include <pthread.h>

/* Limits that keep any input harmless; each is named in the message that refuses more. */
enum {
    ATN_LAN_MOST_BYTES = 4 << 20,        /* of a file */
    ATN_LAN_MOST_HEIGHT = 200,           /* of an expression, derived values included */
    ATN_LAN_MOST_NESTING = 64,           /* of parentheses and of blocks */
    ATN_LAN_MOST_LOCALS = 64,            /* variables of one function */
    ATN_LAN_MOST_PARAMETERS = 1024,      /* of a space */
    ATN_LAN_MOST_VALUES = 4 << 20,       /* of all parameters together */
    ATN_LAN_MOST_COMBINATIONS = 1 << 20, /* of the arguments of one iterator */
    ATN_LAN_MOST_EACH = 8,               /* list comprehensions within each other */
    ATN_LAN_SCRATCH = 16384              /* list items alive in one evaluation */
};

/* ---- values ---- */
typedef enum atn_lan_kind {
    ATN_LAN_NONE, /* a variable that is not set */
    ATN_LAN_WHOLE,
    ATN_LAN_REAL,
    ATN_LAN_BOOL,
    ATN_LAN_TEXT,
    ATN_LAN_LIST,
    ATN_LAN_RANGE
} atn_lan_kind;

typedef struct atn_lan_value {
    atn_lan_kind kind;
    int64_t count; /* items of a list or range */
    union {
        int64_t whole; /* a whole, a boolean, the number of a text, the first value of a range */
        double real;
        const struct atn_lan_value *items; /* of a list */
    };
    int64_t step; /* of a range */
} atn_lan_value;

/* ---- expressions ---- */
typedef enum atn_lan_op {
    ATN_LAN_CONSTANT,
    ATN_LAN_NAME,      /* not yet resolved; `index` is the text's number */
    ATN_LAN_MEMBER,    /* module.name, likewise; `index` and `index2` */
    ATN_LAN_PARAMETER, /* the ones below: `index` */
    ATN_LAN_DERIVED,
    ATN_LAN_LOCAL,
    ATN_LAN_BUILT, /* known only after a build */
    ATN_LAN_ITEMS, /* a list of its kids */
    ATN_LAN_CALL,  /* builtin `index` of its kids */
    ATN_LAN_EACH,  /* [a for x in b if c]: kids a, b and c where there is one; `index` is the name's text, `index2` the
                    */
    ATN_LAN_EACH_VALUE, /* place of x among those that are open, which is this one's `index` */
    ATN_LAN_NEGATE,
    ATN_LAN_PLUS,
    ATN_LAN_INVERT,
    ATN_LAN_NOT,
    ATN_LAN_ADD, /* from here to NOT_IN: two kids */
    ATN_LAN_SUBTRACT,
    ATN_LAN_MULTIPLY,
    ATN_LAN_DIVIDE,
    ATN_LAN_FLOOR_DIVIDE,
    ATN_LAN_MODULO,
    ATN_LAN_POWER,
    ATN_LAN_BIT_AND,
    ATN_LAN_BIT_OR,
    ATN_LAN_BIT_XOR,
    ATN_LAN_SHIFT_LEFT,
    ATN_LAN_SHIFT_RIGHT,
    ATN_LAN_EQUAL, /* from here to NOT_IN: comparisons */
    ATN_LAN_UNEQUAL,
    ATN_LAN_LESS,
    ATN_LAN_LESS_EQUAL,
    ATN_LAN_GREATER,
    ATN_LAN_GREATER_EQUAL,
    ATN_LAN_IN,
    ATN_LAN_NOT_IN,
    ATN_LAN_CHAIN, /* a < b <= c: its kids are comparisons that share operands: a < b, b <= c */
    ATN_LAN_AND,
    ATN_LAN_OR,
    ATN_LAN_CHOOSE /* kids: condition, then, else */
} atn_lan_op;

typedef struct atn_lan_node {
    atn_lan_op op;
    int32_t line, column;
    int32_t index, index2;
    int32_t first, n_kids; /* links[first .. first + n_kids) */
    int32_t height;        /* 1 for a leaf */
    atn_lan_value value;   /* of a constant */
} atn_lan_node;

/* ---- functions ---- */
typedef struct atn_lan_block {
    struct atn_lan_statement *items;
    int32_t count;
} atn_lan_block;

typedef struct atn_lan_branch {
    int32_t condition; /* node; -1: else */
    atn_lan_block block;
} atn_lan_branch;

typedef enum atn_lan_statement_kind { ATN_LAN_ASSIGN, ATN_LAN_IF, ATN_LAN_RETURN, ATN_LAN_PASS } atn_lan_statement_kind;

typedef struct atn_lan_statement {
    atn_lan_statement_kind kind;
    int32_t node;  /* assigned or returned */
    int32_t local; /* assigned to */
    atn_lan_branch *branches;
    int32_t n_branches;
} atn_lan_statement;

typedef enum atn_lan_role { ATN_LAN_ITERATOR, ATN_LAN_CONDITION, ATN_LAN_REQUIRE } atn_lan_role;

typedef struct atn_lan_function {
    const char *name;
    int32_t text; /* the name's number */
    int32_t line, column;
    atn_lan_role role;
    bool built;                            /* stage="build" */
    bool plain;                            /* an iterator written as an assignment: y = range(x) */
    int32_t *arguments, *argument_columns; /* texts; lines are `line` */
    int32_t n_arguments;
    int32_t locals[ATN_LAN_MOST_LOCALS]; /* texts */
    int32_t n_locals;
    atn_lan_block block;
    int32_t *uses; /* parameters, ascending */
    int32_t n_uses;
} atn_lan_function;

/* ---- parameters ---- */
/* One list of levels that an iterator can give. */
typedef struct atn_lan_levels {
    int32_t start, step, count; /* start, start + step, ...; or, where step is 0, count levels at pool[start] */
} atn_lan_levels;

/* What an iterator gives, by the levels of the parameters it uses (mixed radix, the last one fastest). */
typedef struct atn_lan_iterator {
    int32_t *list; /* [combinations] into lists; ATN_LAN_FAILS: evaluating it fails; ATN_LAN_UNREACHED */
    int64_t combinations;
    atn_lan_levels *lists;
    int32_t n_lists;
    int32_t *pool;
    int32_t n_pool;
} atn_lan_iterator;
enum { ATN_LAN_FAILS = -1, ATN_LAN_UNREACHED = -2 };

typedef struct atn_lan_parameter {
    const char *name;
    int32_t function;      /* the iterator, or -1 */
    atn_setting *settings; /* the domain */
    int32_t levels;
    atn_lan_iterator iterator;
} atn_lan_parameter;

/* ---- symbols ---- */
typedef enum atn_lan_symbol_kind {
    ATN_LAN_FREE, /* no such name */
    ATN_LAN_SYMBOL_CONSTANT,
    ATN_LAN_SYMBOL_PARAMETER,
    ATN_LAN_SYMBOL_DERIVED,
    ATN_LAN_SYMBOL_CONSTRAINT,
    ATN_LAN_SYMBOL_MODULE
} atn_lan_symbol_kind;

/* What a text means as a name; there is one per text. */
typedef struct atn_lan_symbol {
    const char *text;
    atn_hash hash;
    atn_lan_symbol_kind kind;
    int32_t index; /* parameter, derived value or function */
    int32_t line;
    atn_lan_value value; /* of a constant */
} atn_lan_symbol;

/* What is tested in place of a constraint: itself, or several functions that keep together what it keeps. */
typedef struct atn_lan_part {
    int32_t constraint, function;
} atn_lan_part;

typedef struct atn_space_plan atn_space_plan; /* how a space is enumerated: plan.h */

struct atn_space {
    const atn_ctx *ctx;
    atn_arena arena;
    const char *name;
    atn_hash hash;

    atn_lan_symbol *symbols; /* every text of the file, by number */
    size_t n_symbols, symbols_capacity;
    int32_t *buckets; /* texts by hash, open addressing; -1: free */
    size_t n_buckets; /* a power of two */

    atn_lan_node *nodes;
    size_t n_nodes, nodes_capacity;
    int32_t *links;
    size_t n_links, links_capacity;

    atn_lan_parameter *parameters;
    size_t n_parameters, parameters_capacity;
    int32_t *derived; /* nodes */
    size_t n_derived, derived_capacity;
    atn_lan_function *functions;
    size_t n_functions, functions_capacity;
    int32_t *constraints; /* functions */
    size_t n_constraints, constraints_capacity;
    atn_lan_part *parts;
    size_t n_parts, parts_capacity;
    int32_t *order; /* iterators' parameters, each behind those it uses */
    size_t n_order;
    int64_t n_values; /* of all parameters so far */

    atn_space_engine engine;
    struct atn_lan_shared { /* what is made on the first question */
        pthread_mutex_t lock;
        atn_space_plan *plan;
    } * shared;
};

/* ---- texts (names.c) ---- */
/* The number of a text; -1: out of memory. */
int32_t atn_lan_intern(atn_space *space, const char *text, size_t length);
const char *atn_lan_text(const atn_space *space, int32_t number);

static inline const atn_lan_node *atn_lan_kid(const atn_space *space, const atn_lan_node *node, int32_t k) {
    return &space->nodes[space->links[node->first + k]];
}

/* ---- values (value.c): NULL, or what is wrong ---- */
const char *atn_lan_unary(atn_lan_op op, const atn_lan_value *a, atn_lan_value *out);
const char *atn_lan_binary(const atn_space *space, atn_lan_op op, const atn_lan_value *a, const atn_lan_value *b,
                           atn_lan_value *out);
bool atn_lan_true(const atn_space *space, const atn_lan_value *value);
bool atn_lan_equal(const atn_lan_value *a, const atn_lan_value *b); /* as Python's == of scalars */
atn_lan_value atn_lan_item(const atn_lan_value *list, int64_t k);   /* of a list or range */
atn_lan_value atn_lan_of_setting(const atn_setting *setting);
atn_setting atn_lan_to_setting(const atn_space *space, const atn_lan_value *value);

/* ---- evaluation (evaluate.c) ---- */
typedef struct atn_lan_env {
    const atn_space *space;
    const int32_t *levels; /* per parameter; the ones that are used must be set */
    const atn_given *built;
    size_t n_built;
    bool undecided; /* something of the build was asked for that is not given */
    bool no_memory;
    atn_lan_value locals[ATN_LAN_MOST_LOCALS];
    atn_lan_value each[ATN_LAN_MOST_EACH]; /* values of list comprehensions that are open */
    atn_lan_value *derived;                /* values of this evaluation, where their stamp is the current one */
    uint32_t *stamps, stamp;
    atn_lan_value *scratch; /* items of lists */
    size_t n_scratch;
    int64_t steps;        /* nodes evaluated so far */
    int32_t line, column; /* where it failed, */
    char why[160];        /* and why */
} atn_lan_env;

atn_status atn_lan_env_begin(atn_lan_env *env, const atn_space *space, const int32_t *levels);
void atn_lan_env_end(atn_lan_env *env);
/* false: `why` says what is wrong. Lists in *out live until the next call. */
bool atn_lan_call(atn_lan_env *env, const atn_lan_function *function, atn_lan_value *out);
bool atn_lan_compute(atn_lan_env *env, int32_t node, atn_lan_value *out);
/* The sentence for a failure of `function` at the point of env. */
atn_status atn_lan_failed(const atn_ctx *ctx, const atn_lan_env *env, const atn_lan_function *function);
/* Does the constraint keep the point? 1 yes, 0 no, -1 failed. */
int atn_lan_keeps(atn_lan_env *env, const atn_lan_function *function);

/* ---- builtins (builtin.c) ---- */
typedef struct atn_lan_builtin {
    const char *name;
    int32_t least, most; /* arguments */
    bool list;           /* gives a list */
    const char *(*call)(atn_lan_env *env, const atn_lan_value *arguments, int32_t count, atn_lan_value *out);
} atn_lan_builtin;
extern const atn_lan_builtin ATN_LAN_BUILTINS[];                 /* ends with name NULL */
atn_lan_value *atn_lan_scratch(atn_lan_env *env, int64_t count); /* NULL: too many */

/* ---- parameters (domain.c) ---- */
/* The domain from a list. */
atn_status atn_lan_set_domain(atn_space *space, atn_lan_parameter *parameter, const atn_lan_value *list);
/* The domains of all iterators, and what each gives where. */
atn_status atn_lan_make_iterators(atn_space *space);
int64_t atn_lan_combination(const atn_space *space, const atn_lan_function *function, const int32_t *levels);
/* The levels that an iterator's parameter may have at this point; NULL: evaluating it fails. */
const atn_lan_levels *atn_lan_allowed(const atn_space *space, const atn_lan_parameter *parameter,
                                      const int32_t *levels);
bool atn_lan_has_level(const atn_lan_iterator *iterator, const atn_lan_levels *list, int32_t level);

#endif
