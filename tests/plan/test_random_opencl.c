/* Random programs under random plans on opencl agree with the oracle. */
#include "random_programs.h"

#include <stdlib.h>

KIT_TEST(agree) { random_programs("opencl", 300, 6, !getenv("ATTUNE_TEST_ALL")); /* built slowly */ }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
