/* The property test: random graphs × random variants on the devices of one backend agree with the oracle. */
#ifndef ATN_TESTS_RANDOM_CASES_H
#define ATN_TESTS_RANDOM_CASES_H

/* Runs at least `cases` of (graph, variant, device), or ATTUNE_TEST_CASES of them, from seed ATTUNE_TEST_SEED (1).
 * Skips aloud without a device of the backend. */
void random_cases(const char *backend, int cases);

/* The same of integers at the ends of their types, for so many graphs, one variant of each, optimized as always:
 * compilers make most of what is not defined then. */
void random_integers(const char *backend, int graphs);

/* The same of scans: running values of reductions, along everything and at every point. */
void random_scans(const char *backend, int cases);

#endif
