/* Random kernels of integers at the ends of their types agree with the oracle on host, and what is out of range is
 * reported. */
#include "random_cases.h"
#include "testkit.h"

#include <stdlib.h>

static void agree_as(const char *compiler, int graphs) {
    if (compiler) setenv("ATTUNE_CC", compiler, 1);
    random_integers("host", graphs);
}

KIT_TEST(agree) { agree_as(NULL, getenv("ATTUNE_TEST_ALL") ? 2000 : 30); }

/* The other compiler, where it is installed and nobody named one. */
KIT_TEST(agree_with_clang) {
#ifdef __SANITIZE_ADDRESS__
    skip(); /* its sanitizer is not that of this program */
#endif
    if (getenv("ATTUNE_CC") || system("clang --version >/dev/null 2>&1") != 0) skip();
    agree_as("clang", getenv("ATTUNE_TEST_ALL") ? 2000 : 15);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agree), cmocka_unit_test(agree_with_clang)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
