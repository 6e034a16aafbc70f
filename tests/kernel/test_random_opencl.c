/* Random graphs as random variants on opencl agree with the oracle. */
#include "random_cases.h"
#include "testkit.h"

#include <stdlib.h>

KIT_TEST(agree) { random_cases("opencl", getenv("ATTUNE_TEST_ALL") ? 200 : 30); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
