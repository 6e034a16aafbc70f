/* Random programs whose numbers stay small and whole, so that every order of computing them gives the same bits. */
#ifndef ATN_TESTS_RANDOM_PROGRAMS_H
#define ATN_TESTS_RANDOM_PROGRAMS_H

#include "testkit.h"

#include "base/text.h"
#include "graph/graph.h"

enum { MOST_HEAD = 16, SIZES = 2 /* sets of sizes of one program */, RANDOM_NAME = 24 };

typedef enum random_use { RANDOM_IN, RANDOM_INOUT, RANDOM_OUT, RANDOM_TEMPORARY } random_use;

/* An array of the program. */
typedef struct random_datum {
    char name[RANDOM_NAME];
    random_use use;
    int rank;
    atn_type type;
    int64_t size[SIZES][2]; /* columns or length, rows */
    int margin;             /* elements at each end that no step gave a value */
    int depth;              /* of the block that made it */
    bool has_value, declared;
    bool is_read; /* its latest value, by some step */
} random_datum;

typedef struct random_program {
    uint64_t seed;
    atn_type type;
    atn_text text;
    int n_head;
    random_datum head[MOST_HEAD];
} random_program;

/* The head's scalars are w, of the program's type, and k, INT32. `few`: kernels of few kinds, mostly of one type, that
 * many programs have in common. */
void random_program_make(const atn_ctx *ctx, uint64_t seed, bool few, random_program *out);
void random_program_free(random_program *program);

/* So many random programs over `days` days, or ATTUNE_TEST_CASES, from seed ATTUNE_TEST_SEED (that of the day), each
 * under a random plan, on the devices of one backend: they agree with the oracle. Skips aloud without a device. */
void random_programs(const char *backend, int programs, int days, bool few);

#endif
