/* Random programs under random plans on host agree with the oracle. */
#include "random_programs.h"

KIT_TEST(agree) { random_programs("host", 300, 4, false); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
