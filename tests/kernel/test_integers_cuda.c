/* Random kernels of integers at the ends of their types agree with the oracle on cuda, and what is out of range is
 * reported. */
#include "random_cases.h"
#include "testkit.h"

#include <stdlib.h>

KIT_TEST(agree) { random_integers("cuda", getenv("ATTUNE_TEST_ALL") ? 2000 : 200); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
