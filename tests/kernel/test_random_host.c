/* Random graphs as random variants on host agree with the oracle. */
#include "random_cases.h"
#include "testkit.h"

#include <stdlib.h>

KIT_TEST(agree) { random_cases("host", getenv("ATTUNE_TEST_ALL") ? 800 : 100); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
