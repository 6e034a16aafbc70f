/* A description between its text (XML or the notation) and normal form: named items, the links between their ports, the
 * order they run in; then the values made of them. One sketch per algorithm. */
#ifndef ATN_GRAPH_SKETCH_H
#define ATN_GRAPH_SKETCH_H

#include "graph/syntax.h"

typedef enum atn_item_kind {
    ATN_ITEM_ALGORITHM,
    ATN_ITEM_OBJECT,
    ATN_ITEM_PARAMETER,
    ATN_ITEM_READ,
    ATN_ITEM_WRITE,
    ATN_ITEM_FUNCTION,
    ATN_ITEM_ITERATOR,
    ATN_ITEM_COUNT
} atn_item_kind;

typedef enum atn_port {
    ATN_PORT_NONE,
    /* emitters */
    ATN_PORT_SIZE,
    ATN_PORT_I,
    ATN_PORT_OUT,
    ATN_PORT_BEFORE, /* running values of a block */
    ATN_PORT_AFTER,
    /* acceptors */
    ATN_PORT_RANGE,
    ATN_PORT_BEGIN,
    ATN_PORT_END,
    ATN_PORT_V,
    ATN_PORT_IN,
    ATN_PORT_ENABLE,
    ATN_PORT_FUNC
} atn_port;

typedef struct atn_end {
    int32_t item; /* -1: not found, the complaint was made */
    atn_port port;
    int32_t k;
    const char *text; /* "access_A.v(1)" */
    bool guessed;     /* the name was wrong; this is what it resembles */
} atn_end;

typedef struct atn_link {
    atn_end source, destination;
    atn_place at;
    int32_t next; /* link into the same item, or -1 */
} atn_link;

typedef struct atn_item {
    atn_item_kind kind;
    const char *name; /* in the graph's arena */
    atn_place at;
    atn_element *element; /* NULL: described in the notation */
    int32_t scope;        /* item of the enclosing block; -1: outside of all (the algorithm, objects, parameters) */
    int32_t rank;         /* dimensions of a block, axes of an object */
    atn_type type;        /* of elements, of a parameter, of a function's outputs */
    int32_t object;       /* accesses: the item accessed, or -1 */
    const atn_attribute *text;                   /* function, selector or ICF; NULL: none */
    const atn_syntax *body;                      /* what it says; NULL: none, or wrong */
    bool is_expression;                          /* the body is one expression */
    const atn_attribute *types, *init, *combine; /* of an ICF */
    const atn_type *acc_types;                   /* notation: n_out of them, NONE: that of the input; or NULL */
    const atn_syntax *inits, *combine_body;      /* notation; or NULL */
    const atn_attribute *values, *initial;       /* of a constant table, of a parameter with a default; or NULL */
    const atn_attribute *size;                   /* of an array: "256", or "rows, columns"; or NULL */
    const char *const *acc_written;              /* notation: those types as written in the file */
    const char *written;                         /* the type as written in the file; NULL: its own name */
    const char *label;                           /* what its value is called in generated code; NULL: name */
    const char *const *out_names;                /* notation: of each output; or NULL */
    int32_t n_in, n_out;                         /* ports in(k) or func(k), out(k) */
    uint64_t variables;                          /* bit k: the selector uses vk */
    atn_boundary boundary;
    atn_scatter scatter;
    int32_t links;  /* first link into it, or -1 */
    int32_t index;  /* object, parameter or block in the graph */
    atn_value *out; /* n_out values, once built */
    bool failed;    /* a complaint was made: what depends on it keeps quiet */
} atn_item;

typedef struct atn_rule {
    int32_t first, second; /* items */
} atn_rule;

/* What the builder must know of a value beyond its node. */
typedef struct atn_trait {
    bool data;       /* depends on a read or a reduction */
    bool after;      /* depends on the algorithm's own reduction */
    uint32_t accs;   /* bit k: depends on ACC k of the current ICF */
    int32_t running; /* 1 + the block whose running values it depends on; 0: none */
} atn_trait;

typedef struct atn_sketch {
    atn_reader *reader;
    atn_graph *graph;             /* names and tables go to its arena at once, the rest when all is known */
    const struct atn_fact *facts; /* notation: of the kernel's use; or NULL */
    atn_item *items;              /* item 0 is the algorithm */
    size_t n_items, items_room;
    atn_link *links;
    size_t n_links, links_room;
    atn_rule *rules;
    size_t n_rules, rules_room;
    int32_t *order; /* 2 * item (its begin, or all of it), 2 * item + 1 (a block's end) */
    size_t n_order;
    /* the values so far, in the reader's arena; value 0 always exists */
    atn_node *values;
    atn_trait *traits;
    size_t n_values, values_room, traits_room;
    int32_t *table; /* of equal values: open addressing, -1 is free */
    size_t table_size;
    atn_read *reads;
    size_t n_reads, reads_room;
    atn_write *writes;
    size_t n_writes, writes_room;
    atn_block *blocks;
    size_t n_blocks, blocks_room;
    atn_dim *dims;
    size_t n_dims, dims_room;
} atn_sketch;

/* describe.c: the items of a ParallelAlgorithm element. */
void atn_sketch_describe(atn_sketch *sketch, atn_element *root);
int32_t atn_sketch_find(const atn_sketch *sketch, const char *name); /* an item, or -1 */
const char *atn_item_kind_name(atn_item_kind kind);                  /* "DataAccessRead" */
bool atn_item_is_block(const atn_item *item);

/* attribute.c: attributes read with their complaints. */
atn_attribute *atn_describe_attribute(atn_sketch *sketch, atn_element *element, const char *what, bool required,
                                      const char *const *names);
bool atn_describe_choice(atn_sketch *sketch, atn_element *element, const char *what, const char *name,
                         const char *const *choices, int32_t *choice); /* false: absent or wrong */
bool atn_describe_integer(atn_sketch *sketch, const char *what, const atn_attribute *attribute, int64_t low,
                          int64_t high, int32_t *number);
atn_type atn_describe_type(atn_sketch *sketch, const char *what, const atn_attribute *attribute, bool element);
atn_type atn_describe_type_name(atn_reader *reader, atn_place at, const char *what, const char *name, bool element);
void atn_describe_leftovers(atn_reader *reader, const atn_element *element, const char *what);

/* table.c: the elements of a constant table, into `object`. */
bool atn_describe_table(atn_sketch *sketch, const atn_item *item, const atn_attribute *values, atn_object *object);
/* The size that is given for an array. */
bool atn_describe_size(atn_sketch *sketch, const atn_item *item, const atn_attribute *size, atn_object *object);
bool atn_number_parse(const char *text, size_t length, double number[2]); /* "1.5", "(1, -2)" for a complex */

/* connect.c: Connections and OrderingRules, then what is left unconnected. */
void atn_sketch_connect(atn_sketch *sketch, atn_element *root);
void atn_sketch_link(atn_sketch *sketch, atn_link link); /* checked for sight and for a second source */
const atn_link *atn_item_link(const atn_sketch *sketch, const atn_item *item, atn_port port, int32_t k); /* or NULL */

/* notation_lower.c: a kernel of the notation into items and links. */
struct atn_kernel_text;
struct atn_file_text;
void atn_sketch_lower(atn_sketch *sketch, const struct atn_file_text *file, const struct atn_kernel_text *kernel);

/* order.c: fills `order`; false when there is a cycle. */
bool atn_sketch_order(atn_sketch *sketch);

/* build.c: items in order into values, reads, writes and blocks. */
void atn_sketch_build(atn_sketch *sketch);

/* icf.c: the accumulators of a block from its ICF; false with the complaint made. */
bool atn_icf_build(atn_sketch *sketch, atn_item *item, atn_block *block, const atn_value *inputs);

/* prune.c: what reaches a write, renumbered, into the graph. */
void atn_sketch_prune(atn_sketch *sketch);

/* validate.c: what can only be said of the whole: one-to-one writes, in-place use. */
void atn_graph_validate(atn_reader *reader, const atn_graph *graph);

/* contradict.c: accesses that leave their arrays whatever the sizes are. */
void atn_graph_check_ranges(atn_reader *reader, const atn_graph *graph);

/* canonical.c */
atn_hash atn_graph_hash(atn_reader *reader, const atn_graph *graph);

#endif
