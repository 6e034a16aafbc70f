/* Random kernels of integers at the ends of their types agree with the oracle on opencl, and what is out of range is
 * reported. */
#include "random_cases.h"
#include "testkit.h"

#include <stdlib.h>

KIT_TEST(agree) { random_integers("opencl", getenv("ATTUNE_TEST_ALL") ? 2000 : 30); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
