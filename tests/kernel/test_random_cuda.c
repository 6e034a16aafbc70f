/* Random graphs as random variants on cuda agree with the oracle. */
#include "random_cases.h"
#include "testkit.h"

KIT_TEST(agree) { random_cases("cuda", 100); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
