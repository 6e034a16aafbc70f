/* Limits of a description, a graph, a handle or a worker. Input that exceeds one is refused with a sentence that names
 * it. */
#ifndef ATN_BASE_LIMITS_H
#define ATN_BASE_LIMITS_H

/* Of descriptions, which may be hostile. */
enum {
    ATN_LIMIT_FILE = 4 << 20,       /* bytes of a description */
    ATN_LIMIT_ATTRIBUTES = 1 << 20, /* bytes of all attribute values of a file */
    ATN_LIMIT_ELEMENTS = 10000,
    ATN_LIMIT_DEPTH = 16,      /* elements, or indented blocks, within one another */
    ATN_LIMIT_NAME = 64,       /* characters of a name */
    ATN_LIMIT_PORTS = 64,      /* k of in(k), out(k), v(k), func(k) is below */
    ATN_LIMIT_NESTING = 200,   /* parentheses and branches within one another */
    ATN_LIMIT_CHAIN = 2000,    /* operators within one another, as in a + b + c + ... */
    ATN_LIMIT_CALLS = 16,      /* functions within one another */
    ATN_LIMIT_LOOP = 4096,     /* steps of one loop that is unrolled */
    ATN_LIMIT_LOCALS = 256,    /* variables at once */
    ATN_LIMIT_VALUES = 50000,  /* of a graph */
    ATN_LIMIT_STEPS = 500000,  /* of reading one description */
    ATN_LIMIT_GUESSES = 20000, /* of names that may have been meant */
    ATN_MOST_NAMES = 1024,     /* of a program */
    ATN_MOST_KNOWN = 256,      /* whole numbers of a program that are known while it is read */
    ATN_MOST_DEFINES = 32      /* of one handle */
};

/* Of graphs and launches. ATN_MAX_RANK (attune/type.h): axes of an array, dimensions of a block. */
enum {
    ATN_MAX_DIMS = 16,   /* of a graph */
    ATN_MAX_ACCS = 32,   /* of a block */
    ATN_MAX_ARGS = 128,  /* of an entry point */
    ATN_MAX_QUEUES = 8,  /* of one open device at a time, its own first one included */
    ATN_MOST_BOUND = 32, /* objects and parameters of a kernel's handle */
    ATN_MOST_LANES = 32  /* of a vector; more than 16 are for halves on the host */
};

/* Of tuning. */
enum {
    ATN_MOST_SAMPLES = 64, /* of one candidate */
    ATN_MOST_RACERS = 16,  /* candidates of a final */
    ATN_MOST_SHAPES = 8,   /* that a candidate is verified at */
    ATN_MOST_FACTS = 48    /* that a model predicts from */
};

#endif
